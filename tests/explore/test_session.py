"""The open file and the folder around it: which of them are kept, which are anew, and what is measured of them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import transfer as H
from fftfilter.analysis.search import AutoNotches
from fftfilter.errors import ParameterError, ReadError
from fftfilter.explore import session as sessions
from fftfilter.explore.session import Folder, Session
from fftfilter.work.recipe import Recipe


@pytest.fixture
def folder(tmp_path):
    """Four pictures."""
    for i, name in enumerate("abcd"):
        Image.new("L", (8, 6), i).save(tmp_path / f"{name}.png")
    return tmp_path


def opened(folder):
    return Folder(Session(str(folder / "a.png"), str(folder / "out.png")))


def test_of_the_files_of_a_folder_three_are_kept_open(folder):
    files = opened(folder)
    first, *_, last = [files.session(name) for name in ("a.png", "b.png", "c.png", "d.png")]
    assert files.session("d.png") is last
    assert files.session(None).source == str(folder / "a.png")
    assert files.session("a.png") is not first
    assert files.session("a.png") is files.session("")


def test_a_file_that_is_only_looked_at_is_not_kept(folder):
    files = opened(folder)
    first = files.session("a.png")
    for name in ("b.png", "c.png", "d.png"):
        assert files.session(name, keep=False) is not files.session(name, keep=False)
    assert files.session("a.png") is first


def test_a_file_that_changed_is_opened_anew_if_that_is_asked_for_alone(folder):
    files = opened(folder)
    before = files.session("a.png")
    assert files.session("a.png", anew=True) is before
    Image.new("L", (8, 6), 9).save(folder / "a.png")
    os.utime(folder / "a.png", ns=(1, 1))
    assert files.session("a.png") is before
    after = files.session("a.png", anew=True)
    assert (after.page(0).picture.planes[0, 0, 0], after.target, after.has_changed) == (9, before.target, False)
    (folder / "a.png").unlink()
    assert after.has_changed


def test_the_output_of_another_file_has_a_name_of_its_own_in_the_folder_of_out(folder, tmp_path):
    (tmp_path / "made").mkdir()
    files = Folder(Session(str(folder / "a.png"), str(tmp_path / "made" / "out.tif")))
    assert files.session("a.png").target == str(tmp_path / "made" / "out.tif")
    assert files.session("b.png").target == str(tmp_path / "made" / "b-filtered.png")
    assert files.session("b.png").folder == os.path.realpath(tmp_path / "made")


@pytest.mark.parametrize(
    ("name", "levels", "depth", "out"),
    [
        ("a.PNG", np.zeros((6, 8), np.uint16), 16, "a-filtered.PNG"),
        ("b.c.tif", np.zeros((6, 8, 3), np.uint8), 8, "b.c-filtered.tif"),
        ("d.npy", np.zeros((6, 8), np.float32), "float", "d-filtered.npy"),
    ],
)
def test_a_file_is_described(tmp_path, name, levels, depth, out):
    if name.endswith("npy"):
        np.save(tmp_path / name, levels)
    elif name.endswith("tif"):
        tifffile.imwrite(tmp_path / name, levels, photometric="rgb")
    else:
        Image.fromarray(levels).save(tmp_path / name)
    told = Session(str(tmp_path / name)).described({"command": "lowpass"}, {"lowpass": {}})
    assert (told["depth"], told["out"], told["name"]) == (depth, out, name)
    assert (told["width"], told["height"], told["channels"]) == (8, 6, levels.size // 48)
    assert told["maxval"] == {16: 65535, 8: 255, "float": 1}[depth]
    assert (told["start"], told["commands"], told["pixel_size"]) == ({"command": "lowpass"}, {"lowpass": {}}, None)


def test_names_are_those_of_pictures_in_their_order_without_drawn_masks(folder, monkeypatch):
    (folder / "notes.txt").write_text("none")
    (folder / "sub.png").mkdir()
    (folder / "E.PNG").write_bytes((folder / "a.png").read_bytes())
    (folder / "a-region-0123abcd.png").write_bytes(b"")
    files = opened(folder)
    assert files.names() == ["E.PNG", "a.png", "b.png", "c.png", "d.png"]
    monkeypatch.setattr(sessions, "MOST", 2)
    assert files.names() == ["E.PNG", "a.png"]
    for name in ("notes.txt", "none.png", "../a.png"):
        with pytest.raises(ParameterError, match="not a picture of the folder"):
            files.session(name)


def test_what_is_dropped_is_kept_for_this_user_alone_until_the_end(folder):
    files, data = opened(folder), (folder / "b.png").read_bytes()
    names = [files.add(name, data) for name in ("b.png", "b.png", "/x/new.png")]
    assert names == ["b2.png", "b3.png", "new.png"]
    assert files.names()[:4] == [*names, "a.png"]
    path = Path(files.session("b2.png").source)
    assert path.read_bytes() == data
    assert path.parent.stat().st_mode & 0o777 == 0o700 or os.name == "nt"
    assert files.session("b2.png").folder == os.path.realpath(folder)
    with pytest.raises(ReadError):
        files.add("broken.png", b"none")
    assert "broken.png" not in files.names()
    assert sorted(each.name for each in path.parent.iterdir()) == names
    files.end()
    assert not path.parent.exists()


def test_waves_of_a_stack_are_those_of_all_its_pages(tmp_path):
    y, x = np.mgrid[:96, :96]
    pages = np.random.default_rng(5).normal(128, 8, (3, 96, 96))
    pages[1] += 60 * np.cos(2 * np.pi * (0.2 * x + 0.1 * y))
    tifffile.imwrite(tmp_path / "in.tif", pages.clip(0, 255).astype(np.uint8), photometric="minisblack")
    session = Session(str(tmp_path / "in.tif"))
    (found,) = session.waves(AutoNotches(strength=20))
    assert (found.fx, found.fy) == pytest.approx((0.2, 0.1), abs=1e-3)
    assert session.waves(AutoNotches(strength=20))[0] is found
    assert session.waves(AutoNotches(strength=100)) == []


def test_what_is_measured_is_measured_anew_for_another_page_for_other_edges_and_for_another_output(tmp_path):
    noise = np.random.default_rng(5).normal(0, 1, (2, 3, 48, 64)) * np.array([4, 12])[:, None, None, None] + 128
    noise[:, 0] = (noise[:, 0] - 128) / 3 + 128
    levels = np.moveaxis(noise.clip(0, 255).astype(np.uint8), 1, -1)
    tifffile.imwrite(tmp_path / "in.tif", levels, photometric="rgb")
    session, recipe = Session(str(tmp_path / "in.tif")), Recipe(H.wiener(), output="keep")
    assert not session.is_measured(recipe, 0)
    first = session.measured(recipe, 0)
    assert session.is_measured(recipe, 0)
    assert session.measured(recipe, 0) is first
    assert not session.is_measured(recipe, 1)
    assert session.measured(recipe, 1).note != first.note
    # Outputs with a range of their own have one filter for all channels.
    signed = session.measured(Recipe(H.wiener(), output="signed"), 0)
    assert (first.transfer.is_by_channel, signed.transfer.is_by_channel) == (True, False)
    waves = [
        Recipe(H.Transfer(()), output="keep", auto=AutoNotches(), options={"edges": edges})
        for edges in ("wrap", "mirror")
    ]
    assert session.measured(waves[0], 0) is not session.measured(waves[1], 0)
    assert session.is_measured(Recipe(H.lowpass("8px")), 0)
    assert session.measured(recipe, 0) is first
