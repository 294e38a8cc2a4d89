"""NumPy's .npy: what comes back, and what is refused."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest

from fftfilter import images
from fftfilter.errors import ReadError
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
        *(np.arange(6.0)[::2], np.ones((2, 3, 4)), np.ones((2, 3, 1)), np.ones((1, 2, 3, 3))),
        *(np.ones((2, 3), complex), np.ones((2, 3), str), np.ones((0, 3))),
    ],
)
def test_an_array_that_is_no_image_is_refused(tmp_path, array):
    with pytest.raises(
        ReadError,
        match=r"an array of shape .* is not an image; give real numbers, \(height, width\) or \(height, width, 3\)$",
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
