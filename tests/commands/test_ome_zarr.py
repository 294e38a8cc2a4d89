"""OME-Zarr, written by zarr itself: planes as calls on their arrays give them, folders that are whole or missing."""

from __future__ import annotations

import errno
import json
import os
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, ReadError, TooLargeError, WriteError
from fftfilter.folders import processes
from fftfilter.images.formats import unfinished_zarr
from tests.helpers import COMMAND, Imported, needs, needs_links, needs_posix

pytestmark = needs("zarr", "ome_zarr_models")
zarr, ome_zarr_models = Imported("zarr"), Imported("ome_zarr_models")
ome_zarr = Imported("fftfilter.images.ome_zarr")  # which needs zarr
BLUR = H.lowpass("4px", shape="gaussian")
PLANES = np.random.default_rng(3).integers(0, 4096, (2, 3, 12, 10)).astype(np.uint16)
TYPES = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}


def made(folder, array=PLANES, version="0.5", *, unit="micrometer", levels=2, translation=None, **coding):
    """Write an OME-Zarr whose last axes are those of czyx, and whose levels are every second sample."""
    old = version == "0.4"
    names, lead = "czyx"[-array.ndim :], (1,) * (array.ndim - 2)
    group, datasets = zarr.create_group(folder, zarr_format=2 if old else 3), []
    for level in range(levels):
        part = array[..., :: 2**level, :: 2**level]
        own = {"chunk_key_encoding": {"name": "v2", "separator": "/"}} if old else {"dimension_names": list(names)}
        own = {"chunks": (*lead, 8, 8), **own, **coding}
        group.create_array(str(level), shape=part.shape, dtype=part.dtype, **own)[...] = part
        steps = [{"type": "scale", "scale": [*lead, 0.5 * 2**level, 0.5 * 2**level]}]
        if translation:
            steps.append({"type": "translation", "translation": [*[0.0] * len(lead), *translation]})
        datasets.append({"path": str(level), "coordinateTransformations": steps})
    axes = [{"name": name, "type": TYPES[name], **({"unit": unit} if name in "zyx" and unit else {})} for name in names]
    image = {"name": "cells", "axes": axes, "datasets": datasets, "metadata": {"method": "every second"}}
    window = {"min": 0, "max": 4095, "start": 0, "end": 4095}
    channels = [{"label": label, "color": "00FF00", "window": window} for label in ("DNA", "actin")]
    ome = {"omero": {"channels": channels}}
    if old:
        group.attrs.update({"multiscales": [{**image, "version": version}], **ome, "own": 7})
    else:
        group.attrs.update({"ome": {"version": version, "multiscales": [image], **ome}, "own": 7})
    return folder


def attributes(folder):
    """Return the metadata of an OME-Zarr that its validator takes."""
    group = zarr.open_group(folder, mode="r")
    ome_zarr_models.open_ome_zarr(group)
    return group.attrs.get("ome", group.attrs)


def level(folder, number=0):
    return zarr.open_group(folder, mode="r")[str(number)]


def alone(array, **options):
    """Return what becomes of each plane."""
    with fftfilter.Filter(BLUR, **(COMMAND | (COMMAND | options))) as filter_:
        planes = [filter_(plane) for plane in array.reshape(-1, *array.shape[-2:])]
    return np.stack(planes).reshape(array.shape)


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def given(tmp_path):
    return made(tmp_path / "in.zarr")


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_every_plane_is_filtered_as_it_would_be_alone_and_metadata_stay(tmp_path, version):
    given, out = made(tmp_path / "in.zarr", version=version, compressors=None), tmp_path / "out.zarr"
    assert fftfilter.filter_stack(given, out, BLUR, output="keep", edges="wrap") == 6
    np.testing.assert_array_equal(level(out)[...], alone(PLANES, output="keep"))
    was, now = attributes(given), attributes(out)
    (before,), (after,) = was["multiscales"], now["multiscales"]
    assert now["omero"] == was["omero"]
    assert (after["name"], after["axes"], after["type"]) == (before["name"], before["axes"], "mean")
    assert after["datasets"] == before["datasets"]
    assert "metadata" not in after
    assert zarr.open_group(out, mode="r").attrs["own"] == 7
    assert (level(out).chunks, level(out).compressors, level(out).dtype) == ((1, 1, 8, 8), (), np.uint16)
    assert files(out).keys() == files(given).keys()
    if version == "0.5":
        assert level(out).metadata.dimension_names == ("c", "z", "y", "x")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.zarr", "out.zarr"]


def test_the_pyramid_has_the_means_of_2_x_2(given, tmp_path):
    fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, output="keep", edges="wrap")
    fine = level(tmp_path / "out.zarr")[...].astype(np.float64)
    means = fine.reshape(2, 3, 6, 2, 5, 2).mean(axis=(3, 5))
    np.testing.assert_array_equal(level(tmp_path / "out.zarr", 1)[...], np.rint(means))


def test_a_pyramid_ends_with_one_pixel(tmp_path):
    narrow, out = PLANES[0, :1, :, :3], tmp_path / "out.zarr"
    pages = ome_zarr.ZarrPages(made(tmp_path / "in.zarr", narrow, levels=8), "x")
    with ome_zarr.growing(out, pages, "") as sink:
        sink.add(sink.encode(pages.read(0), None))
        sink.finish()
    assert len(attributes(out)["multiscales"][0]["datasets"]) == 5
    shapes = [(12, 3), (6, 2), (3, 1), (2, 1), (1, 1)]
    assert [level(out, number).shape[-2:] for number in range(5)] == shapes
    assert [level(out, number).chunks for number in range(5)] == [(1, 8, 3), *((1, *each) for each in shapes[1:])]


def test_means_leave_missing_samples_out_and_an_odd_border_counts_twice(tmp_path):
    fine = np.arange(15, dtype=np.float32).reshape(5, 3)
    fine[:2, :2], fine[2, 0] = np.nan, np.nan
    wanted = [[np.nan, (2 + 5) / 2], [(7 + 9 + 10) / 3, (8 + 11) / 2], [12.5, 14]]
    pages = ome_zarr.ZarrPages(made(tmp_path / "in.zarr", fine[None]), "x")
    with ome_zarr.growing(tmp_path / "out.zarr", pages, "") as sink:
        sink.add(sink.encode(pages.read(0), None))
        sink.finish()
    np.testing.assert_array_equal(level(tmp_path / "out.zarr", 1)[0], np.array(wanted, np.float32))


@pytest.mark.parametrize(
    ("dtype", "output", "wanted"),
    [(">u2", "keep", ">u2"), ("i4", "keep", "i4"), ("f8", "keep", "f4"), ("u1", "real", "f4")],
)
def test_samples_keep_their_type_where_the_output_has_it(tmp_path, dtype, output, wanted):
    array = (PLANES[0] // 32).astype(dtype)
    fftfilter.filter_stack(
        made(tmp_path / "in.zarr", array, "0.4"), tmp_path / "out.zarr", BLUR, output=output, edges="wrap"
    )
    assert level(tmp_path / "out.zarr").dtype == wanted
    attributes(tmp_path / "out.zarr")


def test_an_array_keeps_its_attributes_its_order_and_what_it_is_filled_with(tmp_path):
    given = made(tmp_path / "in.zarr", version="0.4", fill_value=7, order="F")
    zarr.open_group(given, mode="r+")["0"].attrs["own"] = 8
    fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, output="keep", edges="wrap")
    out = level(tmp_path / "out.zarr")
    assert (out.fill_value, out.order, dict(out.attrs)) == (7, "F", {"own": 8})


def test_a_picture_of_two_axes_is_one_plane(tmp_path):
    made(tmp_path / "in.zarr", PLANES[0, 0])
    assert fftfilter.filter_stack(tmp_path / "in.zarr", tmp_path / "out.zarr", BLUR, output="keep", edges="wrap") == 1
    np.testing.assert_array_equal(level(tmp_path / "out.zarr")[...], alone(PLANES[:1, :1], output="keep")[0, 0])


def test_some_planes_are_pages_and_one_is_a_picture(given):
    pages = fftfilter.images.opened(b"", given, fftfilter.images.Asked(2, 3))
    np.testing.assert_array_equal([pages.read(i).planes[0] for i in range(len(pages))], PLANES[0, 1:])
    picture = fftfilter.images.opened(b"", given, fftfilter.images.Asked(6, 6))
    np.testing.assert_array_equal(picture.planes, PLANES[1, 2:])


def test_labels_are_said_to_be_left_out(given):
    assert ome_zarr.ZarrPages(given, "x").left_out == ()
    (given / "labels").mkdir()
    assert ome_zarr.ZarrPages(given, "x").left_out == ("labels",)


def test_what_filters_counts_for_the_memory_of_a_plane(given):
    with pytest.raises(TooLargeError, match=r"^x, plane 1: 10 x 12 pixels take 1,000,000,000,000 bytes"):
        ome_zarr.ZarrPages(given, "x").read(0, lambda _: 10**12)


def test_chunks_and_shards_of_several_planes_become_those_of_one(tmp_path):
    coding = {"chunks": (1, 2, 4, 4), "shards": (2, 4, 8, 8)}
    fftfilter.filter_stack(
        made(tmp_path / "in.zarr", **coding), tmp_path / "out.zarr", BLUR, output="keep", edges="wrap"
    )
    made_, out = level(tmp_path / "in.zarr"), level(tmp_path / "out.zarr")
    assert (out.chunks, out.shards, out.compressors) == ((1, 1, 4, 4), (1, 1, 8, 8), made_.compressors)
    np.testing.assert_array_equal(out[...], alone(PLANES, output="keep"))
    coding = {"chunks": (2, 4, 4), "shards": (2, 8, 8)}
    fftfilter.filter_stack(
        made(tmp_path / "3.zarr", PLANES[0], **coding), tmp_path / "3out.zarr", BLUR, output="keep", edges="wrap"
    )
    assert (level(tmp_path / "3out.zarr").chunks, level(tmp_path / "3out.zarr").shards) == ((1, 4, 4), (1, 8, 8))


def test_the_sides_of_a_pixel_are_those_of_x_and_y_by_the_scales_of_the_level_and_the_image(given):
    def scaled(content):
        dataset(content)["coordinateTransformations"][0].update(scale=[1, 1, 0.25, 0.5])
        ome_of(content)["multiscales"][0]["coordinateTransformations"] = [{"type": "scale", "scale": [1, 1, 2, 3]}]
        ome_of(content)["multiscales"][0]["axes"][-2]["unit"] = "nanometer"  # that of x counts

    changed(given, "zarr.json", scaled)
    metadata = ome_zarr.ZarrPages(given, "x").read(0).metadata
    assert (metadata.pixel_size.across, metadata.pixel_size.down) == pytest.approx((1.5e-6, 0.5e-6))
    assert metadata.dpi == pytest.approx((0.0254 / 1.5e-6, 0.0254 / 0.5e-6))


def test_the_unit_of_the_axes_is_a_pixel_size(given, tmp_path, run):
    for name, radius in ("a", "2um"), ("b", "4px"):
        code, _, said = run("lowpass", "-v", "--radius", radius, given, tmp_path / f"{name}.zarr")
        assert code == 0, said
        assert ("pixel size 0.5 um from the file's axes" in said) == (name == "a")
    np.testing.assert_array_equal(level(tmp_path / "a.zarr")[...], level(tmp_path / "b.zarr")[...])
    unitless = made(tmp_path / "no.zarr", unit=None)
    assert "says no pixel size" in run("lowpass", "--radius", "2um", unitless, tmp_path / "c.zarr")[2]


def test_a_coarser_level_is_filtered_with_its_own_pixel_size_and_place(tmp_path, run):
    given = made(tmp_path / "in.zarr", levels=3, translation=[3.0, 4.0])
    code, _, said = run("lowpass", "-v", "--level", "1", "--radius", "4um", given, tmp_path / "out.zarr")
    assert (code, "pixel size 1 um" in said) == (0, True)
    assert level(tmp_path / "out.zarr").shape == (2, 3, 6, 5)
    datasets = attributes(tmp_path / "out.zarr")["multiscales"][0]["datasets"]
    fftfilter.filter_stack(given, tmp_path / "python.zarr", BLUR, level=1, **COMMAND)
    assert level(tmp_path / "python.zarr").shape == (2, 3, 6, 5)
    steps = [[step[step["type"]][-2:] for step in each["coordinateTransformations"]] for each in datasets]
    assert steps == [[[1, 1], [3, 4]], [[2, 2], [3.5, 4.5]]]
    assert (
        "has 3 levels, counted from 0, and no level 3" in run("lowpass", "--level", "3", given, tmp_path / "x.zarr")[2]
    )


def test_one_scale_for_all_planes_and_what_viewers_show_of_it(given, tmp_path, run):
    assert run("highpass", "--scale", "stack", "--verify", given, tmp_path / "out.zarr")[0] == 0
    planes = level(tmp_path / "out.zarr")[...]
    assert (planes.max(axis=(2, 3)) == 65535).sum() == 1
    channels = attributes(tmp_path / "out.zarr")["omero"]["channels"]
    middle = planes.reshape(-1, 12, 10)[3]
    window = {"min": middle.min(), "start": middle.min(), "max": middle.max(), "end": middle.max()}
    assert [(each["label"], each["window"]) for each in channels] == [("DNA", window), ("actin", window)]


def test_planes_are_compared_drawn_and_written_into_other_files(given, tmp_path, run):
    code, out, _ = run("lowpass", "--verify", "--preview", tmp_path / "p.png", given, tmp_path / "out.zarr")
    assert (code, "off by at most 0 of 65535 levels, in 0 of 720 samples" in out.decode()) == (0, True)
    assert (
        run("lowpass", given, tmp_path / "out.tif")[0]
        == run("lowpass", "--pages", "2", given, tmp_path / "o.png")[0]
        == 0
    )
    np.testing.assert_array_equal(
        fftfilter.images.read(tmp_path / "o.png").planes[0], level(tmp_path / "out.zarr")[0, 1]
    )
    pages = fftfilter.images.opened(fftfilter.images.raw(tmp_path / "out.tif"), "out.tif")
    assert (len(pages), pages.read(0).metadata.pixel_size.across) == (6, pytest.approx(0.5e-6))


def test_a_recipe_knows_the_level(given, tmp_path, run):
    assert run("lowpass", "--level", "1", "--save-recipe", tmp_path / "r.json", given, tmp_path / "a.zarr")[0] == 0
    assert "--level=1" in json.loads((tmp_path / "r.json").read_text())["arguments"]
    assert run("apply", tmp_path / "r.json", f"{given}/", f"{tmp_path}/b.zarr/")[0] == 0
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")


@pytest.mark.parametrize("words", [["highpass", "--scale", "stack"], ["notch", "--auto", "--insist"]])
def test_processes_write_what_one_does(tmp_path, run, words):
    planes = np.random.default_rng(1).integers(0, 900, (5, 96, 96)).astype(np.uint16)
    planes[3] += np.rint(1000 + 900 * np.cos(np.arange(96) * np.pi / 4)).astype(np.uint16)  # a wave in one of all
    given, outs = made(tmp_path / "in.zarr", planes), (tmp_path / "one.zarr", tmp_path / "two.zarr")
    for count, out in enumerate(outs, start=1):
        code, _, said = run(*words, "--verify", f"--processes={count}", given, out)
        assert code == 0, said
    assert files(outs[0]) == files(outs[1])
    assert (level(outs[0])[3] != planes[3]).any()


def test_a_process_that_died_is_told_and_its_planes_are_done_by_another(given, tmp_path, run, monkeypatch):
    ended = iter([True])

    def give(executor, *arguments):
        gave(executor, *arguments)
        if next(ended, False):
            executor.submit(os._exit, 9)

    gave = processes.Processes.give
    monkeypatch.setattr(processes.Processes, "give", give)
    code, _, said = run("lowpass", "--processes", "2", given, tmp_path / "out.zarr")
    assert (code, "died (exit code 9); another one does its files" in said) == (0, True)
    assert run("lowpass", "--processes", "1", given, tmp_path / "whole.zarr")[0] == 0
    assert files(tmp_path / "out.zarr") == files(tmp_path / "whole.zarr")


def test_a_plane_that_a_process_cannot_read_is_named_and_the_others_are_resumed(given, tmp_path, run):
    chunk, out = given / "0" / "c" / "1" / "2" / "0" / "0", tmp_path / "out.zarr"
    whole = chunk.read_bytes()
    chunk.write_bytes(b"x" * len(whole))
    os.utime(chunk, ns=(0, 0))
    code, _, said = run("lowpass", "--processes", "2", given, out)
    assert (code, "plane 6: cannot be decoded" in said, "the same command goes on" in said) == (1, True, True)
    chunk.write_bytes(whole)
    os.utime(chunk, ns=(0, 0))
    assert run("lowpass", "--processes", "2", given, out)[0] == run("lowpass", given, tmp_path / "whole.zarr")[0] == 0
    assert files(out) == files(tmp_path / "whole.zarr")


# Runs that end early


def ending_after(monkeypatch, count, error=KeyboardInterrupt):
    """Let a run end once some planes are written."""
    add, left = ome_zarr.ZarrSink.add, iter([None] * count)

    def limited(sink, encoded):
        if next(left, 0) == 0:
            raise error
        add(sink, encoded)

    monkeypatch.setattr(ome_zarr.ZarrSink, "add", limited)


def test_a_killed_run_looks_unfinished_and_the_next_one_filters_the_missing_planes_alone(
    given, tmp_path, monkeypatch, run
):
    assert run("lowpass", given, tmp_path / "whole.zarr")[0] == 0
    out, partial, written = tmp_path / "out.zarr", tmp_path / "out.zarr.partial", []
    with monkeypatch.context() as patched:
        ending_after(patched, 2)
        code, _, said = run("lowpass", given, out)
    assert (code, out.exists(), "out.zarr.partial has the planes that are done" in said) == (130, False, True)
    assert "ome" not in zarr.open_group(partial, mode="r").attrs
    assert run("lowpass", "--radius", "3", given, out)[0] == 2  # other settings
    with (partial / ".fftfilter-done").open("a") as journal:
        journal.write(f"{'x' * 18}\n00004")  # damage, and of a line that a killed run did not finish
    next(partial.glob("0/c/*")).joinpath("0.0f1e.partial").write_bytes(b"half a chunk")  # as zarr calls it
    write = ome_zarr.ZarrSink._write
    monkeypatch.setattr(ome_zarr.ZarrSink, "_write", lambda *each: written.append(each[1]) or write(*each))
    assert run("lowpass", given, out)[0] == 0
    assert sorted(written) == [(0, 2), (1, 0), (1, 1), (1, 2)]
    assert files(out) == files(tmp_path / "whole.zarr")
    assert not partial.exists()


@needs_posix
def test_a_run_beside_another_one_is_refused_and_disturbs_nothing(given, tmp_path, monkeypatch, run):
    out, said, add = tmp_path / "out.zarr", [], ome_zarr.ZarrSink.add

    def beside(sink, encoded):
        add(sink, encoded)
        said.append(run("lowpass", given, out)[::2])

    monkeypatch.setattr(ome_zarr.ZarrSink, "add", beside)
    assert run("lowpass", given, out)[0] == 0
    assert len(said) == 6
    assert all(
        code == 2 and "is being written by another run: wait for it, or choose another name\n" in line
        for code, line in said
    )
    monkeypatch.undo()
    run("lowpass", given, tmp_path / "whole.zarr")
    assert files(out) == files(tmp_path / "whole.zarr")


def test_an_input_that_has_changed_meanwhile_is_refused(given, tmp_path, monkeypatch, run):
    with monkeypatch.context() as patched:
        ending_after(patched, 2)
        run("lowpass", given, tmp_path / "out.zarr")
    zarr.open_group(given, mode="r+")["0"][0, 0] = 5
    code, _, said = run("lowpass", given, tmp_path / "out.zarr")
    assert (code, "is unfinished, but of another input or other settings: remove it\n" in said) == (2, True)


def test_a_plane_is_entered_into_the_journal_when_it_is_written(given, tmp_path):
    """Or a run that is killed would begin anew."""
    out, pages = tmp_path / "out.zarr", ome_zarr.ZarrPages(given, "x")
    with ome_zarr.growing(out, pages, "") as sink:
        for index in range(6):
            sink.add(sink.encode(pages.read(index), None))
            noted = (unfinished_zarr(out) / ".fftfilter-done").read_text().splitlines()
            assert [*map(int, noted[1:])] == [*range(index + 1)]
        sink.finish()


def test_who_writes_a_part_leaves_the_metadata_to_who_began(given, tmp_path):
    out, pages, others = tmp_path / "out.zarr", *(ome_zarr.ZarrPages(given, "x") for _ in range(2))
    with ome_zarr.growing(out, pages, "") as sink:
        sink.add(sink.encode(pages.read(0), None))
        others.chosen = [1, 2, 3, 4, 5]
        with ome_zarr.part(out, others) as more:
            for index in range(5):
                more.add(more.encode(others.read(index), None))
            more.finish()
        assert "ome" not in zarr.open_group(unfinished_zarr(out), mode="r").attrs
        sink.finish()
    np.testing.assert_array_equal(level(out)[...], PLANES)
    assert attributes(out)["multiscales"][0]["name"] == "cells"


@pytest.mark.parametrize("change", ["time", "size", "name"])
def test_a_zarr_is_another_one_by_the_time_the_size_and_the_name_of_each_file(given, change):
    before, chunk = ome_zarr.ZarrPages(given, "x").digest, given / "0" / "c" / "1" / "2" / "0" / "0"
    assert ome_zarr.ZarrPages(given, "x").digest == before
    status = chunk.stat()
    if change == "size":
        chunk.write_bytes(chunk.read_bytes() + b"x")
    elif change == "name":
        chunk = chunk.rename(chunk.with_name("00"))  # in the same order
    os.utime(chunk, ns=(status.st_atime_ns, status.st_mtime_ns + (change == "time")))
    assert ome_zarr.ZarrPages(given, "x").digest != before


def test_a_full_disk_is_named_and_the_planes_before_it_stay(given, tmp_path, monkeypatch, run):
    ending_after(monkeypatch, 1, OSError(errno.ENOSPC, "x"))
    code, _, said = run("lowpass", given, tmp_path / "out.zarr")
    assert (code, "out.zarr: cannot be written: no space left on device; free some space" in said) == (1, True)
    assert "the same command goes on" in said


def test_a_run_that_writes_no_plane_leaves_nothing(given, tmp_path, monkeypatch, run):
    ending_after(monkeypatch, 0)
    assert run("lowpass", given, tmp_path / "out.zarr")[0] == 130
    assert [each.name for each in tmp_path.iterdir()] == ["in.zarr"]


def test_nothing_that_exists_is_overwritten(given, tmp_path):
    before = files(given)
    (tmp_path / "old.zarr").mkdir()
    (tmp_path / "out.zarr.partial").mkdir()
    (tmp_path / "out.zarr.partial" / "mine.txt").write_text("mine")
    other = "remove it, or choose another name$"
    for out, error, said in (
        ("in.zarr", WriteError, f"in.zarr: exists, and is not overwritten: {other}"),
        ("old.zarr", WriteError, f"old.zarr: exists, and is not overwritten: {other}"),
        ("in.zarr/x.zarr", ParameterError, "x.zarr: lies in IN: choose another folder$"),
        ("out.zarr", ParameterError, f"out.zarr.partial: is no unfinished output: {other}"),
    ):
        with pytest.raises(error, match=said):
            fftfilter.filter_stack(given, tmp_path / out, BLUR, **COMMAND)
    assert (files(given), files(tmp_path / "out.zarr.partial")) == (before, {"mine.txt": b"mine"})


@needs_links
@pytest.mark.parametrize("link", ["out.zarr.partial", "out.zarr.partial/.fftfilter-done", "out.zarr.partial/0/c"])
def test_nothing_is_written_through_a_link_in_place_of_an_unfinished_output(given, tmp_path, link):
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    if link.endswith("/c"):
        (tmp_path / "out.zarr.partial/.fftfilter-done").touch()
    if link.endswith("done"):
        elsewhere.write_bytes(b"")
    else:
        elsewhere.mkdir()
    (tmp_path / link).symlink_to(elsewhere)
    with pytest.raises(ParameterError, match="is no unfinished output: remove it"):
        fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, **COMMAND)
    assert not (any(elsewhere.iterdir()) if elsewhere.is_dir() else elsewhere.read_bytes())


# Faults


def changed(folder, file, change):
    """Change the JSON of a file of a Zarr."""
    content = json.loads((folder / file).read_text())
    change(content)
    (folder / file).write_text(json.dumps(content))


def ome_of(content):
    return content["attributes"]["ome"]


def dataset(content):
    return ome_of(content)["multiscales"][0]["datasets"][0]


FAULTS = {
    "is OME-Zarr 0.6; save it as 0.4 or 0.5": ("zarr.json", lambda its: ome_of(its).update(version="0.6")),
    "a Zarr without multiscales; give the folder of one": ("zarr.json", lambda its: its["attributes"].pop("ome")),
    "is no image but a well; give the folder of one, such as ": (
        "zarr.json",
        lambda its: its["attributes"].update(ome={"well": {}}),
    ),
    "is no image but a plate": ("zarr.json", lambda its: its["attributes"].update(ome={"plate": {}})),
    "has labels, which number objects and are no picture; give the image": (
        "zarr.json",
        lambda its: ome_of(its).update({"image-label": {}}),
    ),
    "level 0 lies outside of it, at '../../x'": ("zarr.json", lambda its: dataset(its).update(path="../../x")),
    "level 0 lies outside of it, at '..": ("zarr.json", lambda its: dataset(its).update(path="..\\..\\x")),
    "level 0 lies outside of it, at '0/%2e": ("zarr.json", lambda its: dataset(its).update(path="0/%2e%2e/%252e/x")),
    "level 0 is no array with the axes c, z, y, x, which have to end in y, x": (
        "zarr.json",
        lambda its: dataset(its).update(path="/9"),
    ),
    "cannot be decoded (coordinateTransformations of": (
        "zarr.json",
        lambda its: dataset(its)["coordinateTransformations"][0].update(scale=[0] * 4),
    ),
    "cannot be decoded (list index out of range)": ("zarr.json", lambda its: ome_of(its).update(multiscales=[])),
    "samples of complex64 in chunks of": (
        "0/zarr.json",
        lambda its: its.update(data_type="complex64", fill_value=[0, 0]),
    ),
    "in chunks of (1, 0, 12, 10) are no picture; save it again": (
        "0/zarr.json",
        lambda its: its["chunk_grid"]["configuration"].update(chunk_shape=[1, 0, 12, 10]),
    ),
    "pixels to decode, too many for": ("0/zarr.json", lambda its: its.update(shape=[10**9, 3, 12, 10])),
    "its chunks take": (
        "0/zarr.json",
        lambda its: its["chunk_grid"]["configuration"].update(chunk_shape=[1, 1, 10**7, 10**7]),
    ),
}


@pytest.mark.parametrize("said", FAULTS)
def test_metadata_that_are_damaged_or_hostile_have_one_clear_line(given, tmp_path, said):
    changed(given, *FAULTS[said])
    with pytest.raises((ReadError, TooLargeError)) as caught:
        fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, **COMMAND)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{given}: ")
    assert [each.name for each in tmp_path.iterdir()] == ["in.zarr"]


def test_a_codec_by_which_nothing_can_be_written_is_one_line(tmp_path, run):
    import numcodecs

    given = made(tmp_path / "in.zarr", version="0.4", compressors=numcodecs.Blosc())
    changed(given, "0/.zarray", lambda its: its["compressor"].update(shuffle="10px"))
    code, _, said = run("lowpass", given, tmp_path / "out.zarr")
    assert (code, said.count("\n")) == (1, 1)
    assert "in.zarr: OUT cannot be compressed as IN is (an integer is required); save IN anew" in said
    assert [each.name for each in tmp_path.iterdir()] == ["in.zarr"]


# Chunks


CODECS = ["blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"]


def codec(name):
    import numcodecs

    return numcodecs.get_codec({"id": name})


def v3_codecs(name):
    return {"name": name if name in ("blosc", "gzip", "zstd") else f"numcodecs.{name}", "configuration": {}}


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("name", CODECS)
def test_a_chunk_has_no_more_bytes_than_its_samples_take(tmp_path, name, version):
    compressors = codec(name) if version == "0.4" else v3_codecs(name)
    given = made(tmp_path / "in.zarr", PLANES[0, 0], version, levels=1, compressors=compressors)
    assert fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, output="keep", edges="wrap") == 1
    assert level(tmp_path / "out.zarr").compressors == level(given).compressors
    before = Path(given, "0", *(("0", "0") if version == "0.4" else ("c", "0", "0")))
    before.write_bytes(bytes(codec(name).encode(bytes(10**8))))
    tracemalloc.start()
    with pytest.raises(ReadError, match=r"in\.zarr, plane 1: cannot be decoded"):
        fftfilter.filter_stack(given, tmp_path / "o.zarr", BLUR, **COMMAND)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7


def test_a_stream_of_zstd_that_does_not_say_its_length_ends(tmp_path):
    given = made(tmp_path / "in.zarr", PLANES[0, 0], levels=1, compressors=v3_codecs("zstd"))
    blocks = [((1 << 17) << 3 | 2 | (i == 999)).to_bytes(3, "little") + b"\0" for i in range(1000)]
    (given / "0/c/0/0").write_bytes(b"\x28\xb5\x2f\xfd\x00\x88" + b"".join(blocks))
    with pytest.raises(ReadError, match=r"plane 1: cannot be decoded"):
        fftfilter.filter_stack(given, tmp_path / "o.zarr", BLUR, **COMMAND)


def test_inner_chunks_of_a_shard_have_no_more_bytes_than_their_samples_take(tmp_path):
    given = made(tmp_path / "in.zarr", PLANES[0, 0], levels=1, chunks=(4, 4), shards=(16, 16))
    array = level(given)
    assert fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, output="keep", edges="wrap") == 1
    inner = bytes(codec("zstd").encode(bytes(10**8)))
    index = np.full((16, 2), 2**64 - 1, "<u8")
    index[0] = 0, len(inner)
    import google_crc32c

    packed = index.tobytes()
    (given / "0/c/0/0").write_bytes(inner + packed + google_crc32c.value(packed).to_bytes(4, "little"))
    assert array.shards == (16, 16)
    with pytest.raises(ReadError, match=r"plane 1: cannot be decoded \(ZSTD_decompress returned 'Dest"):
        fftfilter.filter_stack(given, tmp_path / "o.zarr", BLUR, **COMMAND)


@pytest.mark.parametrize(("name", "options"), [("delta", {"dtype": "<u2"}), ("shuffle", {})])
def test_filters_of_zarr_2_are_refused(tmp_path, name, options):
    given = made(tmp_path / "in.zarr", PLANES[0, 0], "0.4", levels=1)
    changed(given, "0/.zarray", lambda its: its.update(filters=[{"id": name, **options}]))
    with pytest.raises(ReadError, match=rf"cannot be decoded \(its codecs {name}"):
        fftfilter.filter_stack(given, tmp_path / "o.zarr", BLUR, **COMMAND)


@pytest.mark.parametrize(
    ("shape", "chunks", "said"),
    [((8, 8), (20000, 20000), "too large"), ((400, 400), (1, 1), "too small"), ((300, 400), (20, 30), None)],
)
def test_chunks_fit_their_array(tmp_path, shape, chunks, said):
    given = made(tmp_path / "in.zarr", np.zeros((2, 2), np.uint16), levels=1)
    zarr.open_group(given).create_array("0", shape=shape, dtype=np.uint16, chunks=chunks, overwrite=True)
    if said is None:
        assert fftfilter.filter_stack(given, tmp_path / "o.zarr", BLUR, **COMMAND) == 1
        return
    with pytest.raises(ReadError, match=f"in.zarr: .* samples in chunks of .*, which are {said}; save it anew$"):
        fftfilter.filter_stack(given, tmp_path / "o.zarr", BLUR, **COMMAND)


def test_the_images_of_a_well_are_named_as_the_folder_is(given):
    changed(given, "zarr.json", lambda its: its["attributes"].update(ome={"well": {}}))
    for name in "x.zarr", "x.zarr/":
        with pytest.raises(ReadError, match=r"give the folder of one, such as x.zarr/0$"):
            ome_zarr.ZarrPages(given, name)


def test_deep_json_is_refused(given, tmp_path):
    text = (given / "zarr.json").read_text()
    (given / "zarr.json").write_text(text.replace('"cells"', "[" * 100_000 + "]" * 100_000))
    with pytest.raises(ReadError, match="recursion"):
        fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, **COMMAND)


def test_links_are_refused_and_a_damaged_chunk_has_its_plane(given, tmp_path):
    (chunk := given / "0" / "c" / "1" / "2" / "0" / "0").write_bytes(b"x")
    with pytest.raises(ReadError, match=r"in\.zarr, plane 6: cannot be decoded"):
        fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, **COMMAND)
    chunk.unlink()
    chunk.symlink_to("/dev/zero")
    with pytest.raises(ReadError, match=r"in.zarr: 0/c/1/2/0/0 is a link or no file; get a copy without links$"):
        fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, **COMMAND)


def test_what_an_ome_zarr_has_not_is_refused(given, tmp_path, run):
    for words in ["--pages=1"], ["--strip"], ["--compression=lzw"], ["--embed-recipe"], ["--preserve-times"]:
        code, _, said = run("lowpass", *words, given, tmp_path / "out.zarr")
        assert (code, f"is an OME-Zarr: leave {words[0].partition('=')[0]} out" in said) == (2, True)
    (tmp_path / "x.zarr").mkdir()
    assert (
        "x.zarr: is no group of a Zarr; give the folder of an OME-Zarr image\n"
        in run("lowpass", tmp_path / "x.zarr", tmp_path / "out.zarr")[2]
    )
    assert "0: is no group of a Zarr; give the folder of an" in run("lowpass", given / "0", tmp_path / "out.zarr")[2]
    fftfilter.images.write(fftfilter.images.Picture(PLANES[0, :1], None, 65535, "PNG"), tmp_path / "x.png")
    assert "cannot write .zarr files" in run("lowpass", tmp_path / "x.png", tmp_path / "out.zarr")[2]
    assert (
        "is no OME-Zarr, and has no level 0: leave --level out\n"
        in run("lowpass", "--level", "0", tmp_path / "x.png", tmp_path / "y.png")[2]
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.zarr", "x.png", "x.zarr"]


def test_peaks_and_spectrum_take_its_planes(tmp_path, run):
    wave = 1000 * np.sin(2 * np.pi * 0.125 * np.arange(128)) + np.zeros((128, 1))
    noise = np.random.default_rng(4).normal(5000, 20, (2, 128, 128))
    stack = made(tmp_path / "in.zarr", np.uint16(noise + wave))
    assert b"\n8.00 px    4 um   90.0  0.12500 " in run("peaks", stack)[1]
    out = tmp_path / "out.png"
    assert "2 pages, and this is for one picture: choose one with --pages" in run("spectrum", stack, out)[2]
    image = made(tmp_path / "one.zarr", np.uint16(noise[0]))
    for words in [image], ["--pages=2", "--level=1", stack], ["--with=lowpass", image]:
        assert run("spectrum", *words, out)[::2] == (0, "")


def test_a_missing_zarr_is_named_with_its_extra(given, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr.storage", None)
    monkeypatch.delitem(sys.modules, "fftfilter.images.ome_zarr", raising=False)  # as in a new process
    with pytest.raises(ReadError, match=r"in.zarr: OME-Zarr needs zarr 3: .* 'fftfilter-opencl\[zarr\]'"):
        fftfilter.filter_stack(given, tmp_path / "out.zarr", BLUR, **COMMAND)


def test_a_single_plane_has_nothing_to_be_compared_with(tmp_path, run):
    made(tmp_path / "in.zarr", PLANES[0, :1])
    for name in ("out.zarr", "out.png"):
        assert run("highpass", tmp_path / "in.zarr", tmp_path / name)[::2] == (0, "")
