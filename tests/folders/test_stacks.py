"""Files of several pages in folders: a stack is a job, in this process, others and with every option."""

from __future__ import annotations

import gc
import json
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import transfer as H
from fftfilter.files import sources
from fftfilter.folders import batch
from fftfilter.folders.batch import Stacks
from fftfilter.folders.jobs import Settings
from fftfilter.folders.pool import do_chunk, pack
from fftfilter.images import Asked
from fftfilter.work.recipe import Recipe
from tests.commands.conftest import run  # noqa: F401
from tests.folders.helpers import names, pgm, same

OPTIONS = ["--radius", "8px", "--shape", "gaussian"]
STACK = np.random.default_rng(7).integers(0, 4096, (4, 24, 32)).astype(np.uint16)


@pytest.fixture
def folder(tmp_path):
    """Two stacks, one of a quarter of the other's brightness, and a picture."""
    (tmp_path / "in").mkdir()
    tifffile.imwrite(tmp_path / "in" / "a.tif", STACK, imagej=True)
    tifffile.imwrite(tmp_path / "in" / "b.tif", STACK[:3] // 4, photometric="minisblack")
    Image.fromarray(STACK[0]).save(tmp_path / "in" / "c.png")
    return tmp_path


def outcomes(folder):
    return [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("large", [1 << 24, 0], ids=["in memory", "read in parts"])
def test_a_stack_gets_the_bytes_that_it_would_get_alone(run, folder, monkeypatch, large):  # noqa: F811
    monkeypatch.setattr(sources, "LARGE", large)
    report = ["--report", folder / "report.jsonl", "--verify", "9", "-v"]
    code, out, said = run("lowpass", *OPTIONS, *report, folder / "in", folder / "out")
    assert code == 0
    assert out.count(b"off by at most") == 3
    assert "out/a.tif: done, 4 pages\n" in said
    assert "3 of 3 files filtered" in said
    assert {line["pages"] for line in outcomes(folder)} == {4, 3, 1}
    run("lowpass", *OPTIONS, folder / "in" / "a.tif", folder / "alone.tif")
    assert (folder / "alone.tif").read_bytes() == (folder / "out" / "a.tif").read_bytes()
    again = run("lowpass", *OPTIONS, "--skip-existing", "--verify", "9", folder / "in", folder / "out")
    assert again[0] == 0
    assert again[1].count(b"off by at most") == 3
    assert "3 skipped, done before" in again[2]


def test_stacks_are_overwritten_in_their_place_if_that_is_asked_for(run, folder):  # noqa: F811
    assert run("lowpass", "-q", *OPTIONS, folder / "in", folder / "out")[0] == 0
    assert run("lowpass", "-q", *OPTIONS, "--in-place", folder / "in", folder / "in")[::2] == (0, "")
    same(folder / "in", folder / "out")


def test_a_stack_that_is_skipped_or_fails_is_closed(run, folder, monkeypatch, recwarn):  # noqa: F811
    monkeypatch.setattr(sources, "LARGE", 0)
    given = "lowpass", "-q", *OPTIONS, "--skip-existing", folder / "in"
    assert [run(*given, folder / "out")[0] for _ in range(2)] == [0, 0]
    assert run(*given, "--pages", "4", folder / "four")[0] == 1  # of which b.tif has three
    gc.collect()
    assert [str(each.message) for each in recwarn if each.category is ResourceWarning] == []


def test_scales_of_a_stack_and_of_a_folder(run, folder):  # noqa: F811
    largest = {}
    for scale in ("each", "stack", "folder"):
        assert run("lowpass", "-q", *OPTIONS, "--scale", scale, folder / "in", folder / scale)[0] == 0
        largest[scale] = {name: tifffile.imread(folder / scale / name).max(axis=(1, 2)) for name in ("a.tif", "b.tif")}
    assert (largest["each"]["b.tif"] == 65535).all()
    assert sorted(largest["stack"]["b.tif"] == 65535) == [False, False, True]
    assert largest["folder"]["a.tif"].max() == 65535
    assert largest["folder"]["b.tif"].max() < 20000


def test_each_stack_has_pixels_of_its_own_size(run, folder):  # noqa: F811
    for name, resolution in (("a.tif", 4), ("b.tif", 2)):
        said = {"axes": "ZYX", "unit": "um"}
        tifffile.imwrite(folder / "in" / name, STACK, imagej=True, resolution=(resolution,) * 2, metadata=said)
    (folder / "in" / "c.png").unlink()
    options = ["--radius", "2um", *OPTIONS[2:], "-v"]
    code, _, said = run("lowpass", *options, folder / "in", folder / "out")
    assert code == 0
    assert "a.tif: done, 4 pages, pixel size 0.25 um from the file's ImageJ description" in said
    for name in ("a.tif", "b.tif"):
        assert run("lowpass", *options, folder / "in" / name, folder / "alone.tif")[0] == 0
        assert (folder / "alone.tif").read_bytes() == (folder / "out" / name).read_bytes()


def test_some_pages_of_each_file(run, folder):  # noqa: F811
    code, _, said = run("lowpass", *OPTIONS, "--pages", "2-3", folder / "in", folder / "out")
    assert code == 1
    assert "in/c.png: has 1 page, and no page 3" in said
    assert names(folder / "out") == ["a.tif", "b.tif"]
    assert tifffile.imread(folder / "out" / "a.tif").shape == (2, 24, 32)


def test_a_stack_that_fails_is_one_line(run, folder):  # noqa: F811
    data = (folder / "in" / "b.tif").read_bytes()
    (folder / "in" / "b.tif").write_bytes(data[:-40])
    code, _, said = run("lowpass", *OPTIONS, "--format", "png", folder / "in", folder / "out")
    assert code == 1
    assert "in/b.tif: page 3 is missing" in said
    assert names(folder / "out") == ["a.png", "c.png"]
    code, _, said = run("lowpass", *OPTIONS, "--format", "pgm", folder / "in", folder / "gray")
    assert "gray/a.pgm: .pgm holds one page, and there are 4; give --pages 1" in said
    assert names(folder / "gray") == ["c.pgm"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["stripes", "--angle", "auto"], "no stripes are found"),
        (["descreen"], "no screen is found: the picture stays as it is"),
    ],
)
def test_of_stacks_as_of_pictures_it_is_said_in_how_many_nothing_is_found(run, folder, words, line):  # noqa: F811
    code, _, said = run(*words, folder / "in", folder / "out")
    assert (code, said.splitlines()[0]) == (0, f"fftfilter: 3 files: {line}")


def test_of_stacks_as_of_pictures_it_is_said_that_they_are_too_small_to_be_searched(run, folder):  # noqa: F811
    code, _, said = run("notch", "--auto", folder / "in", folder / "out")
    told = "32 x 24 pixels are too few to look for periodic structures: no wave is removed"
    assert (code, said.splitlines()[:-1]) == (
        0,
        [f"fftfilter: 1 file: {folder}/in/{name}: {told}" for name in ("a.tif", "b.tif", "c.png")],
    )


def test_a_dry_run_says_how_many_pages_there_are(run, folder):  # noqa: F811
    _, out, _ = run("lowpass", *OPTIONS, "-n", folder / "in", folder / "out")
    assert b"a.tif: 4 pages, 32 x 24 gray, 16 bits" in out


def test_a_worker_of_a_cluster_does_a_stack(folder):
    from fftfilter import transfer as H
    from fftfilter.folders.jobs import Job

    settings = Settings(Recipe(H.lowpass("8px", shape="gaussian"), pages=Asked(2, None), span="stack"))
    (folder / "out").mkdir()
    job = Job(0, str(folder / "in" / "a.tif"), str(folder / "out" / "a.tif"))
    found = do_chunk(pack([job]), settings, None, 2)
    assert [(each.status, each.pages, each.shape) for each in found.outcomes] == [("done", 3, (1, 24, 32))]
    assert tifffile.imread(folder / "out" / "a.tif").max() == 65535


def test_a_picture_beside_stacks_is_as_ever(run, tmp_path):  # noqa: F811
    pgm(tmp_path / "in" / "a.pgm")
    assert run("lowpass", "-q", *OPTIONS, "--scale", "stack", tmp_path / "in", tmp_path / "out")[0] == 0
    assert run("lowpass", "-q", *OPTIONS, tmp_path / "in" / "a.pgm", tmp_path / "b.pgm")[0] == 0
    assert (tmp_path / "out" / "a.pgm").read_bytes() == (tmp_path / "b.pgm").read_bytes()


def loaded(shape=(1, 12, 10), **own):
    """Return a picture that waits to be filtered."""
    picture = SimpleNamespace(planes=np.zeros(shape, own.get("dtype", np.uint8)), maxval=own.get("maxval", 255))
    transfer = own.get("transfer", H.lowpass(3))
    return SimpleNamespace(frame=SimpleNamespace(picture=picture, depth=own.get("depth"), transfer=transfer))


@pytest.mark.parametrize(
    "own", [{"transfer": H.lowpass(4)}, {"dtype": np.uint16}, {"maxval": 100}, {"depth": 8}, {"shape": (1, 10, 12)}]
)
def test_pictures_of_different_kinds_are_no_stack(own):
    stacks, first, second = Stacks(), loaded(), loaded()
    assert [stacks.add(each, 240) for each in (first, loaded(**own), second)] == [[], [], [first, second]]


def test_a_stack_that_looks_like_a_picture_with_channels_is_none():
    for shape, is_alone in (((1, 12, 4), True), ((3, 12, 10), True), ((1, 12, 5), False)):
        picture = loaded(shape)
        assert Stacks().add(picture, 1000) == ([picture] if is_alone else [])


def test_a_stack_is_due_when_it_has_its_pixels_or_32_pictures_or_when_too_many_wait(monkeypatch):
    stacks = Stacks()
    assert [len(stacks.add(loaded(), 10**9)) for _ in range(33)] == [0] * 31 + [32, 0]
    assert len(Stacks().add(loaded(), 100)) == 1  # a large one
    monkeypatch.setattr(batch, "WAITING_BYTES", 120 + 144)
    stacks, (first, second, third) = Stacks(), (loaded(shape) for shape in ((1, 12, 10), (1, 12, 12), (1, 1, 5)))
    assert [stacks.add(each, 10**9) for each in (first, second, third)] == [[], [], [first]]
    assert (stacks.nbytes, bool(stacks)) == (149, True)
    assert [stacks.pop(), stacks.pop(), stacks.nbytes, bool(stacks)] == [[second], [third], 0, False]
