"""NumPy's .npy: what comes back, and what is refused."""

from __future__ import annotations

import io
import warnings
import zipfile
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter import images
from fftfilter.cli import cli
from fftfilter.errors import ReadError, TooLargeError
from tests.images.helpers import picture


def saved(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_what_is_written_is_what_numpy_loads_and_what_is_read(tmp_path, dtype, channels):
    given, path = picture(dtype=dtype, channels=channels), tmp_path / "x.npy"
    images.write(given, path)
    loaded, found = np.load(path), images.read(path)
    assert loaded.dtype == dtype
    assert (np.atleast_3d(loaded).transpose(2, 0, 1) == given.planes).all()
    assert (found.planes == given.planes).all()
    assert (found.maxval, images.measure(path)[:4]) == (
        given.maxval,
        (*given.planes.shape[:0:-1], channels, dtype(0).nbytes),
    )


@pytest.mark.parametrize(
    "array",
    [
        *(np.arange(6.0)[::2], np.ones((2, 0, 4))),
        *(np.ones((2, 3), complex), np.ones((2, 3), str), np.ones((0, 3))),
    ],
)
def test_an_array_that_is_no_image_is_refused(tmp_path, array):
    with pytest.raises(
        ReadError,
        match=r"an array of shape .* is not an image; give real numbers, \(height, width\) or \(height, width, 3\)",
    ):
        images.read(saved(tmp_path / "x.npy", array))


def test_other_layouts_and_types_become_floats(tmp_path):
    array = np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3) - 2)
    found = images.read(saved(tmp_path / "x.npy", array)).planes
    assert (found.dtype, found.tolist()) == (np.float32, [array.tolist()])


def test_a_header_of_the_second_version_is_read():
    array, file = np.arange(6, dtype=np.uint16).reshape(2, 3), io.BytesIO()
    np.lib.format.write_array(file, array, version=(2, 0))
    np.testing.assert_array_equal(images.decode(file.getvalue(), "x").planes, [array])


def test_bools_are_a_mask(tmp_path):
    assert images.read(saved(tmp_path / "x.npy", np.eye(3, 4) > 0)).planes.tolist() == [np.eye(3, 4).tolist()]


def test_numbers_beyond_single_precision_are_infinite_without_a_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = images.read(saved(tmp_path / "x.npy", np.array([[0, -1e300]])))
    assert found.planes.tolist() == [[[0, -np.inf]]]


def test_damage_is_told(tmp_path):
    file = io.BytesIO()
    np.save(file, np.ones((2, 3), np.uint8))
    path, whole = tmp_path / "x.npy", file.getvalue()
    for cut, why in (
        (-1, "1 bytes are missing of the 6 for the 3 x 2 pixels of its header"),
        (20, "x.npy: the header of this .npy is damaged; get a whole copy of it$"),
    ):
        path.write_bytes(whole[:cut])
        with pytest.raises(ReadError, match=why):
            images.read(path)


def pages_of(file):
    """Return the pages of a file, each (channels, height, width)."""
    found = images.opened(images.raw(file), file)
    return np.stack([found.read(i).planes for i in range(len(found))])


@pytest.mark.parametrize("shape", [(5, 6, 7), (2, 3, 6, 7), (4, 6, 7, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.int16])
def test_further_axes_are_pages_also_of_an_archive(tmp_path, rng, shape, dtype):
    array = rng.integers(0, 200, shape).astype(dtype)
    wanted = array.reshape(-1, *shape[-3:]).transpose(0, 3, 1, 2) if shape[-1] == 3 else array.reshape(-1, 1, 6, 7)
    np.savez_compressed(tmp_path / "x.npz", array)
    np.save(tmp_path / "x.npy", array)
    for name in ("x.npy", "x.npz"):
        assert np.array_equal(pages_of(tmp_path / name), wanted)
        assert images.measure(tmp_path / name).pages == len(wanted)


@pytest.mark.parametrize("shape", [(3, 20, 24), (3, 20, 24, 3)])
def test_pages_are_filtered_one_by_one_into_an_array(tmp_path, rng, shape):
    array = rng.integers(0, 256, shape, dtype=np.uint8)
    np.save(tmp_path / "x.npy", array)
    words = ["lowpass", "--radius", "4", "--output", "keep", "--verify", "-q"]
    done = CliRunner().invoke(cli, [*words, str(tmp_path / "x.npy"), str(tmp_path / "y.npy")])
    assert (done.exit_code, done.output) == (0, "")
    made = np.load(tmp_path / "y.npy")
    assert (made.shape, made.dtype) == (shape, np.uint8)
    alone = CliRunner().invoke(cli, [*words, "--pages", "2", str(tmp_path / "x.npy"), str(tmp_path / "z.npy")])
    assert alone.exit_code == 0
    assert np.array_equal(np.load(tmp_path / "z.npy"), made[1])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: whole[:-40], "an archive that is no .npz, or damaged"),
        (lambda whole: whole[:200] + bytes([whole[200] ^ 255]) + whole[201:], "an archive that is no .npz, or damaged"),
        (lambda _: zipped(a=np.ones((4, 4)), b=np.ones((4, 4))), "an archive of 2 files; give an .npz of one array"),
        (lambda _: zipped(a=np.asfortranarray(np.ones((2, 4, 4)))), "has its columns first"),
        (lambda _: zipped(a=np.ones((2, 4, 4)))[:4], "an archive that is no .npz, or damaged"),
    ],
)
def test_an_archive_that_is_no_array_is_refused(tmp_path, damage, message):
    (tmp_path / "x.npz").write_bytes(damage(zipped(a=np.ones((2, 8, 8)))))
    with pytest.raises(ReadError, match=message):
        pages_of(tmp_path / "x.npz")


def test_an_archive_that_becomes_too_large_is_not_unpacked(tmp_path):
    header, file = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (10**6, 10**4, 10**4)}
    )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header.getvalue() + bytes(10**6))
    (tmp_path / "x.npz").write_bytes(file.getvalue())
    with pytest.raises(TooLargeError, match=r"x\.npz"):
        pages_of(tmp_path / "x.npz")


def zipped(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_of_a_large_stack_only_the_pages_that_are_asked_for_are_read(rng, tmp_path):
    given = rng.integers(0, 9000, (9, 1000, 1000), np.uint16)
    np.save(tmp_path / "stack.npy", given)
    np.save(tmp_path / "picture.npy", given.reshape(9000, 1000))
    data = images.raw(tmp_path / "stack.npy")
    with closing(images.opened(data, "stack.npy")) as pages:
        assert not isinstance(data, bytes)
        assert np.array_equal(pages.read(4).planes[0], given[4])
    assert isinstance(images.raw(tmp_path / "picture.npy"), bytes)
