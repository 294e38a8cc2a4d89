"""Requests and their answers: the pixels are the command's, and the newest request is answered."""

from __future__ import annotations

import json
import math
import shlex
from urllib.parse import quote

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import Filter, filter_stack, images, transfer
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.explore.answers import line_of
from fftfilter.explore.shown import GRAYS
from fftfilter.missing import filled
from tests.explore.conftest import PATIENCE, answer_on, request_for, result_on, unpacked
from tests.helpers import COMMAND, SAMPLES

CAMERA = SAMPLES / "camera.pgm"
# Ideal, so that the program is one that other tests have compiled.
SOFT = {"radius": "8px", "output": "keep"}


def planes_of(path):
    return images.read(path).planes


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("camera.pgm", request_for("highpass")),
        ("camera.pgm", request_for("notch", at=["0.2,0.1", "-0.1,0.25,0.01cyc"], harmonics=2)),
        ("chelsea.png", request_for("highpass")),
    ],
    ids=["gray", "notches", "color"],
)
def test_an_answer_is_what_its_command_writes_and_its_python_gives(visit, run, tmp_path, name, asked):
    target = tmp_path / "out.png"

    async def ask(page):
        return await page.answer(asked)

    words, pixels, gains = visit(ask, SAMPLES / name, None)
    program, *command = shlex.split(words["command"])
    assert (program, command[0]) == ("fftfilter", asked["command"])
    run([*command[:-1], str(target)])
    written = planes_of(target)
    shown = pixels[None] if len(written) == 1 else pixels[..., :3].transpose(2, 0, 1)
    assert (shown == written).all()

    made = {"image": np.asarray(Image.open(SAMPLES / name))}
    exec(words["python"], made)  # noqa: S102  it is shown to be run
    assert (np.moveaxis(np.atleast_3d(made["result"]), -1, 0) == written).all()

    assert gains.shape == (256, 256)
    assert sum(words["histogram"]) > 10_000
    assert (words["id"], words["gain_map"], words["note"]) == (1, "changed", None)
    assert words["ms"] > 0.2


@pytest.fixture
def printed(tmp_path):
    """A gradient of RGB, printed by a screen for each color, with a little noise."""
    y, x = np.mgrid[:96, :112]
    planes = []
    for angle in np.radians([15, 75, 45]):
        u, v = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        screen = (np.cos(2 * np.pi / 5.3 * u) + np.cos(2 * np.pi / 5.3 * v)) / 4 + 0.5
        planes.append(1 / (1 + np.exp(8 * (screen - 0.2 - x / 200))))
    noise = np.random.default_rng(4).normal(0, 3, (96, 112, 3))
    levels = np.clip(255 * np.stack(planes, axis=-1) + noise, 0, 255).astype(np.uint8)
    Image.fromarray(levels).save(tmp_path / "print.png")
    return tmp_path / "print.png"


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        (request_for("descreen", strength=20, keep_detail=30), "screen of 5.3"),
        (request_for("wiener"), "noise of"),
        (request_for("wiener", noise=["8"], edges="wrap"), "noise of 8.0 levels"),
        (request_for("notch", auto=True, edges="mirror"), None),
        (request_for("stripes", angle=90), "at 90 degrees, offsets of "),
    ],
    ids=["descreen", "wiener", "noise", "auto", "stripes"],
)
def test_what_follows_from_the_picture_is_what_the_command_and_python_find(visit, run, printed, asked, note):
    target = printed.with_name("out.png")

    async def ask(page):
        words, pixels, _ = await page.answer(asked)
        removed, _, _ = await page.answer(asked | {"show": "removed"})
        return words, pixels, removed

    words, pixels, removed = visit(ask, printed, target)
    assert "error" not in words | removed
    assert note is None or note in words["note"]
    periods = [1 / math.hypot(wave["fx"], wave["fy"]) for wave in words["waves"]]
    assert asked["command"] != "descreen" or any(abs(period - 5.3) < 0.1 for period in periods)
    run(shlex.split(words["command"])[1:])
    written = np.asarray(Image.open(target))
    assert (pixels == written).all()
    assert np.ptp(written - np.asarray(Image.open(printed)).astype(int)) > 1
    made = {"image": np.asarray(Image.open(printed))}
    exec(words["python"], made)  # noqa: S102  likewise
    assert (made["result"] == written).all()


def test_descreen_takes_transparent_pixels_as_they_are_as_the_command_does(visit, run, printed):
    part = np.array(Image.open(printed).convert("RGBA"))
    part[10:30, 20:40, 3] = 0
    Image.fromarray(part).save(printed)
    target = printed.with_name("out.png")
    words, pixels, _ = visit(lambda page: page.answer(request_for("descreen")), printed, target)
    run(shlex.split(words["command"])[1:])
    written = np.asarray(Image.open(target))[..., :3]
    assert "screen of 5.3" in words["note"]
    assert (pixels == written)[part[..., 3] > 0].all()
    made = {"image": part}
    exec(words["python"], made)  # noqa: S102  likewise
    assert (made["result"] == written).all()


def test_descreen_of_several_pages_has_no_python_in_one_call(visit, tmp_path):
    pages = [Image.new("L", (12, 10), level) for level in (9, 99)]
    pages[0].save(tmp_path / "in.tif", save_all=True, append_images=pages[1:])
    words, pixels, _ = visit(lambda page: page.answer(request_for("descreen", page=1)), tmp_path / "in.tif")
    assert (pixels == 99).all()
    assert words["note"].startswith("no screen is found: the picture stays as it is; ")
    assert words["python"].startswith("# DescreenFilter takes one picture after the other")


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_python_leaves_alpha_out(visit, tmp_path, mode):
    with Image.open(SAMPLES / "chelsea.png") as picture:
        picture.crop((0, 0, 64, 64)).convert(mode).save(tmp_path / "alpha.png")
    words, pixels, _ = visit(lambda page: page.answer(request_for("highpass")), tmp_path / "alpha.png")
    made = {"image": np.asarray(Image.open(tmp_path / "alpha.png"))}
    exec(words["python"], made)  # noqa: S102  likewise
    assert (made["result"] == (pixels if mode == "LA" else pixels[..., :3])).all()


def test_transparent_pixels_come_back_as_they_were_as_from_the_command(visit, run, tmp_path):
    with Image.open(SAMPLES / "chelsea.png") as picture:
        part = np.array(picture.crop((0, 0, 64, 64)).convert("RGBA"))
    part[10:50, 4:, 3] = 0
    Image.fromarray(part).save(tmp_path / "holes.png")
    asked = request_for(radius="8px", output="keep")
    words, pixels, _ = visit(lambda page: page.answer(asked), tmp_path / "holes.png", tmp_path / "out.png")
    assert "59% of the picture is missing" in words["note"]
    run(shlex.split(words["command"])[1:])
    written = np.asarray(Image.open(tmp_path / "out.png"))[..., :3]
    assert (written[10:20, 30:50] == part[10:20, 30:50, :3]).all()
    made = {"image": part}
    exec(words["python"], made)  # noqa: S102  likewise
    assert (made["result"] == written).all()
    # The page shows squares of two grays there.
    assert {*np.unique(pixels[10:20, 30:50])} == {*GRAYS}
    assert (pixels == written)[part[..., 3] > 0].all()


@pytest.mark.parametrize("suffix", [".tif", ".fits", ".png"])
def test_a_picture_with_missing_pixels_opens_and_is_filled_while_something_is_dragged(visit, tmp_path, camera, suffix):
    if suffix == ".fits":
        pytest.importorskip("astropy")
    levels, holes = np.tile(camera, (2, 2)), np.zeros((1024, 1024), bool)
    holes[104:144, 208:264] = holes[776, 512:] = True
    source = tmp_path / f"holes{suffix}"
    if suffix == ".png":
        Image.fromarray(np.dstack([levels, np.where(holes, 0, 255).astype(np.uint8)]), "LA").save(source)
    else:
        floats = np.where(holes, np.nan, levels / np.float32(255))
        images.write(images.Picture(floats[None], None, 1, "TIFF"), source)

    white = {"levels": [0, 255 if suffix == ".png" else 1, 1]}

    async def ask(page):
        before, *shown = [unpacked((await page.get(f"input?level={level}"))[1])[1] for level in (1, 2)]
        async with page.live() as socket:
            for level in (1, 2):
                await socket.send_str(json.dumps(request_for(level=level, rest=False, **SOFT) | white))
                shown.append((await answer_on(socket))[1])
            await socket.send_str(json.dumps(request_for(**SOFT) | white))
            words, rest, _ = await answer_on(socket)
            assert sum(words["histogram"]) > 10_000
            await socket.send_str('{"values": [[0, 0], [230, 120]], "tag": "a", "file": "", "page": 0}')
            values = json.loads((await socket.receive()).data)["values"]
        return before, shown, rest, values, [await page.get(path) for path in ("about", "peaks", "spectrum")]

    before, shown, rest, values, others = visit(ask, source)
    assert [status for status, _ in others] == [200] * 3
    # Squares of two grays stand for what is missing, and keep their places.
    for each in (before, *shown, rest):
        level = 1024 // len(each)
        assert {*np.unique(each[104 // level : 144 // level, 208 // level : 264 // level])} == {*GRAYS}
    assert (before == rest)[holes].all()
    # The filter has the program's values there, while something is dragged, too.
    whole = filled(levels[None], holes[None])[0]
    wanted = Filter(transfer.lowpass("8px"), output="keep", edges="wrap")(whole)
    for each in (shown[1], rest):
        assert abs(each.astype(int) - wanted)[~holes].max() <= 1
    assert (values["before"][0][1], values["after"][0][1]) == (None, None)
    assert values["before"][0][0] == pytest.approx(float(levels[0, 0] / (1 if suffix == ".png" else 255)))


@pytest.mark.parametrize("command", ["lowpass", "descreen", "wiener", "notch"])
def test_a_picture_that_does_not_fit_into_memory_is_shown_reduced_and_saved_whole(
    visit, run, tmp_path, camera, monkeypatch, command
):
    def refuse(*size):
        if size[2] > 50_000_000:
            raise TooLargeError(size[3])

    monkeypatch.setattr("fftfilter.images.picture.check_memory", refuse)
    Image.fromarray(np.tile(camera, (2, 2))).save(tmp_path / "large.png")
    more = {"lowpass": SOFT, "notch": {"auto": True}}.get(command, {})
    asked = request_for(command, level=2, **more)

    async def ask(page):
        _, facts = await page.get("picture")
        (words, pixels, _), (finer, *_) = await page.answer(asked), await page.answer(asked | {"level": 1})
        saved = await page.save(asked, "out.png")
        paths = "input?level=2", "spectrum", "about", "peaks", "wave?fx=0.1&fy=0.2", "small"
        return facts, words, pixels, finer, saved, [(await page.get(path))[0] for path in paths]

    facts, words, pixels, finer, (status, told), others = visit(ask, tmp_path / "large.png", start=command_of(asked))
    assert (facts["levels"], status, others) == ([2], 200, [200] * 6), told
    assert finer["error"] == "level 1 is not one of 2"
    assert pixels.shape == (512, 512)
    run([*shlex.split(words["command"])[1:-1], str(tmp_path / "wanted.png")])
    written, wanted = (np.asarray(Image.open(tmp_path / name)).astype(int) for name in ("out.png", "wanted.png"))
    off = np.abs(written - wanted)  # two runs of many threads may round a sample differently
    assert (off.max() <= 1, off.mean() <= 1 / 500) == (True, True)
    whole = wanted.reshape(512, 2, 512, 2).mean(axis=(1, 3))
    assert np.abs(pixels - whole).mean() < 3


def command_of(asked):
    """Return the command line of a request without its values."""
    return "notch --auto" if asked["command"] == "notch" else asked["command"]


def test_python_knows_a_white_of_the_file_s_own(visit, run, tmp_path, camera):
    levels = (camera.astype(np.uint16) * 4).astype(">u2")
    (tmp_path / "deep.pgm").write_bytes(b"P5 512 512 1020\n" + levels.tobytes())
    words, _, _ = visit(lambda page: page.answer(request_for("highpass")), tmp_path / "deep.pgm", tmp_path / "out.pgm")
    run(shlex.split(words["command"])[1:])
    made = {"image": levels.astype(np.uint16)}
    exec(words["python"], made)  # noqa: S102  likewise
    (written,) = planes_of(tmp_path / "out.pgm")
    assert written.max() == 1020
    assert (made["result"] == written).all()


def test_a_stack_s_python_writes_what_its_command_writes(visit, run, tmp_path, camera):
    pages = [Image.fromarray(camera[i : i + 64, :64]) for i in (0, 100)]
    pages[0].save(tmp_path / "stack.tif", save_all=True, append_images=pages[1:])
    asked = request_for("highpass", page=1, output="signed", scale="stack")
    words, pixels, _ = visit(lambda page: page.answer(asked), tmp_path / "stack.tif", tmp_path / "out.tif")
    run(shlex.split(words["command"])[1:])
    by_command = (tmp_path / "out.tif").read_bytes()
    exec(words["python"], {"filter_stack": filter_stack})  # noqa: S102  it is shown to be run
    assert (tmp_path / "out.tif").read_bytes() == by_command
    # What is shown has its own scale, as the other pages are not looked at for it.
    assert (pixels == Filter(transfer.highpass(), output="signed", edges="wrap")(camera[100:164, :64])).all()


def test_what_fails_as_the_file_has_changed_is_told_so(visit, tmp_path, camera):
    Image.fromarray(camera[:96, :128]).save(tmp_path / "in.png")

    async def ask(page):
        await page.answer(request_for())
        Image.fromarray(camera[:90, :128]).save(tmp_path / "in.png")
        return (await page.answer(request_for(page=2)))[0]  # as of a stack that has fewer pages now

    told = visit(ask, tmp_path / "in.png")
    assert told["changed"]
    assert told["error"].endswith("in.png is not the file that was opened: open it again")


def test_cutoffs_of_a_stack_have_the_size_of_its_pixels(visit, tmp_path, camera):
    pages = [Image.fromarray(camera[i : i + 64, :64]) for i in (0, 100)]
    pages[0].save(tmp_path / "stack.tif", save_all=True, append_images=pages[1:], dpi=(254, 254))
    _, pixels, _ = visit(lambda page: page.answer(request_for(page=1, radius="0.8mm")), tmp_path / "stack.tif")
    assert (pixels == Filter(transfer.lowpass("8px"), **COMMAND)(camera[100:164, :64])).all()


def test_the_curve_and_the_map_of_gains_are_those_of_the_filter(visit):
    asked = request_for(radius="8px", shape="gaussian", notch=["0.2,0.1,0.02cyc"])
    words, _, gains = visit(lambda page: page.answer(asked), CAMERA)
    at = dict(zip(words["curve"]["frequency"], words["curve"]["gain"], strict=True))
    assert (at[0], at[0.125]) == (1, 0.5)  # the notch is no function of the distance
    assert max(at) > 0.7
    assert gains[128, 128] == 255
    assert {gains[128, 128 + 32], gains[128 + 32, 128]} <= {127, 128}  # 127.5
    assert gains[128 + 26, 128 + 51] == gains[128 - 26, 128 - 51] <= 1


def test_a_map_of_gains_is_sent_when_it_changes(visit):
    async def ask(page):
        async with page.live() as socket:
            found = []
            for number, radius in enumerate(("8px", "8px", "9px"), 1):
                await socket.send_str(json.dumps(request_for(number=number, radius=radius, output="keep")))
                words, _, gains = await answer_on(socket)
                found.append((words["id"], words["gain_map"], gains is not None))
            return found

    assert visit(ask, CAMERA) == [(1, "changed", True), (2, None, False), (3, "changed", True)]


def test_what_is_removed_has_0_in_the_middle(visit, camera):
    words, pixels, _ = visit(lambda page: page.answer(request_for(show="removed", **SOFT)), CAMERA)
    lost = Filter(transfer.highpass("8px"), output="real", edges="wrap")(camera)
    lost *= 127 / np.abs(lost).max()
    assert np.abs(pixels - 128.0 - lost).max() < 1
    assert words["histogram"] is None


def test_a_view_is_reduced_and_cut_out(visit, tmp_path, camera, monkeypatch):
    monkeypatch.setattr("fftfilter.explore.shown.SMALLEST", 32)
    Image.fromarray(camera[:301, 100:]).save(tmp_path / "odd.png")

    async def ask(page):
        async with page.live() as socket:
            found = []
            for options in ({}, {"level": 2}, {"level": 2, "view": [200, 100, 412, 301]}):
                await socket.send_str(json.dumps(request_for(**SOFT, **options)))
                found.append(await result_on(socket))
            return found

    (_, whole), (header, half), (cut_header, cut) = visit(ask, tmp_path / "odd.png")
    assert header[3:] == (206, 151, 2, 0, 0)
    assert np.abs(half[:150] - whole[:300].reshape(150, 2, 206, 2).mean((1, 3))).max() <= 0.5
    assert cut_header[3:] == (106, 101, 2, 200, 100)
    assert (cut == half[50:, 100:]).all()


def test_a_filter_that_is_ready_serves_no_other_scale(visit, camera):
    async def ask(page):
        found = [await page.answer(request_for("highpass", scale=scale)) for scale in ("0:40", "0:200", "0:40")]
        removed = [await page.answer(request_for("highpass", scale=each, show="removed")) for each in ("0:40", "")]
        return found, removed

    found, (scaled, plain) = visit(ask, CAMERA)
    for (_, pixels, _), white in zip(found, (40, 200, 40), strict=True):
        assert (pixels == Filter(transfer.highpass(), scale=(0, white), **COMMAND)(camera)).all()
    # What is removed has no scale.
    assert (scaled[1] == plain[1]).all()


def test_options_that_are_defaults_are_not_shown(visit):
    asked = request_for("highpass", shape="ideal", output="magnitude", radius="9", edges="", scale="each")
    words, *_ = visit(lambda page: page.answer(asked), CAMERA)
    assert shlex.split(words["command"])[1:-2] == ["highpass", "--radius", "9"]


def test_of_a_view_beyond_the_borders_there_are_the_last_pixels(visit):
    async def ask(page):
        async with page.live() as socket:
            found = []
            for view in ([500, 0, 2**31 - 1, 2], [2**31 - 2, 2**31 - 2, 2**31 - 1, 2**31 - 1]):
                await socket.send_str(json.dumps(request_for(**SOFT, view=view)))
                found.append((await result_on(socket))[0][3:])
            return found

    wanted = [(12, 2, 1, 500, 0), (1, 1, 1, 2**31 - 2, 2**31 - 2)]
    assert visit(ask, CAMERA) == wanted


def test_a_large_picture_is_reduced_first_while_something_is_dragged(visit, tmp_path, camera):
    big = np.tile(camera, (2, 2))
    Image.fromarray(big).save(tmp_path / "big.png")
    asked = request_for(level=2, rest=False, output="keep", radius="20px")
    _, dragged, _ = visit(lambda page: page.answer(asked), tmp_path / "big.png")
    reduced = np.asarray(Image.fromarray(big).reduce(2))
    assert (dragged == Filter(transfer.lowpass("10px"), output="keep", edges="wrap")(reduced)).all()
    _, rested, _ = visit(lambda page: page.answer(asked | {"rest": True}), tmp_path / "big.png")
    exact = Filter(transfer.lowpass("20px"), output="keep", edges="wrap")(big)
    assert (rested == np.asarray(Image.fromarray(exact).reduce(2))).all()
    # The same frequencies pass: what differs is what a reduced picture cannot have.
    assert np.abs(dragged - rested.astype(float)).mean() < 1
    small = f"small?size=300&request={quote(json.dumps(asked))}"
    (_, _, _, width, _, level, *_), _ = unpacked(visit(lambda page: page.get(small), tmp_path / "big.png")[1])
    assert (width, level) == (512, 2)

    async def look(page):
        paths = ("small?size=128", "small?size=0", "input?level=2")
        return [unpacked((await page.get(path))[1])[0][3:6] for path in paths]

    assert visit(look, tmp_path / "big.png") == [(128, 128, 8), (1, 1, 1024), (512, 512, 2)]


def test_deep_pictures_are_shown_up_to_their_own_white(visit, tmp_path, camera):
    deep = (camera * np.uint16(16)).clip(0, 4000)  # 12 bits in 16
    Image.fromarray(deep).save(tmp_path / "deep.png")

    async def ask(page):
        return (await page.get("input"))[1], (await page.answer(request_for(**SOFT)))[:2]

    given, (words, pixels) = visit(ask, tmp_path / "deep.png")
    assert unpacked(given)[1].max() == 255
    assert pixels.max() > 200
    assert 0 < words["clipped"] < 0.01  # of the file's levels
    black, white = np.quantile(deep, (5e-4, 1 - 5e-4))
    wanted = 255 * (Filter(transfer.lowpass("8px"), output="keep", edges="wrap")(deep) - black) / (white - black)
    assert np.abs(pixels - wanted.clip(0, 255)).max() < 1


def test_the_newest_of_many_wishes_is_answered_last(visit):
    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for(number=1)))
            await answer_on(socket)  # kernels are there
            for number in range(2, 100):
                await socket.send_str(json.dumps(request_for(number=number, radius=str(number))))
            answered, said = [], []
            while not said or said[-1] != 99:
                message = (await socket.receive(timeout=PATIENCE)).data
                if isinstance(message, str):
                    said.append(json.loads(message)["id"])
                elif unpacked(message)[0][1] == 0:
                    answered.append(unpacked(message)[0][0])
            return answered, said

    answered, said = visit(ask, CAMERA)
    assert answered[-1] == 99
    assert answered == sorted(answered)
    assert len(answered) < 98
    assert len(said) <= len(answered)  # people read no faster


@pytest.mark.parametrize(
    ("asked", "line", "field"),
    [
        (request_for(radius="8qx"), "radius '8qx' has an unknown unit", "radius"),
        (request_for(radius="2um"), "says no pixel size", "pixel_size"),
        (request_for("bandpass", inner="8px", outer="8px"), "the same", None),
        (request_for(order="3"), "order 3 has no meaning for the ideal shape", "order"),
        (request_for(shape="round"), "shape: 'round' is not one of", "shape"),
        (request_for(output="keep", scale="0:9"), "keeps the input's gray levels and has no scale", "output"),
        (request_for(scale="folder"), "--scale folder is for folders", "scale"),
        (request_for(pixel_size="0um"), "pixel size '0um' must be finite", "pixel_size"),
        (request_for(stripes="5,5"), "angle '5,5' is not a number of degrees", "stripes"),
        (request_for() | {"area": {"shapes": [], "feather": "a"}}, "feather 'a' is not a width", "feather"),
        (request_for("notch"), "no peak is given", "at"),
        (request_for("descreen", keep_detail="12,5"), "keep_detail: '12,5' is not a number", "keep_detail"),
        (request_for("mask", mask="/etc/passwd"), "command 'mask' is invalid", None),
        (request_for("bench"), "command 'bench' is invalid", None),
        (request_for(radius="--in-place"), 'radius "--in-place" is not a value', "radius"),
        (request_for(level=2), "level 2 is not one of 1", None),
        (request_for(level=float("nan")), "level NaN is not a whole number from 1 up", None),
        (request_for(view=[9, 9, 9, 20]), "view (9, 9, 9, 20) is empty", None),
        (request_for(show="all"), 'show "all" is unknown', None),
        (request_for() | {"version": "1-2"}, "is not the file that was opened: open it again", None),
        (request_for(page=10**9), "page 1000000000 is not one of 1", None),
        (request_for(page=1 << 31), "page 2147483648 is not a whole number from 0 up", None),
        (request_for(page=-1), "page -1 is not a whole number from 0 up", None),
        (request_for(page=None), "page null is not a whole number from 0 up", None),
        (request_for(level=1 << 30), "level 1073741824 is not one of 1", None),
        (request_for(level=0), "level 0 is not a whole number from 1 up", None),
        (request_for(view=[0, 0, 1e300, 9]), "view 1e+300 is not a whole number from 0 up", None),
        (request_for(view=[0, 0, 9]), "a view has four numbers", None),
        (request_for("notch", at="0.00000000001,0", harmonics=10**11), "harmonics", "harmonics"),
        (request_for(radius=[[1]]), "radius a list is not a value", "radius"),
        (request_for("notch", at=["0.1,0.2"] * 600), "at has too many values: give at most 500", "at"),
        (request_for(radius="1" * 201), 'radius "11111111111111111111', "radius"),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_the_next_one_is(visit, tmp_path, asked, line, field):
    path = tmp_path / "radius.pgm"  # the name of a field, too
    path.write_bytes(CAMERA.read_bytes())

    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(asked))
            refused = (await answer_on(socket))[0]
            await socket.send_str(json.dumps(request_for("highpass", number=2)))
            return refused, await answer_on(socket)

    refused, (words, pixels, _) = visit(ask, path)
    assert line in refused["error"]
    assert "\n" not in refused["error"]
    assert (refused["id"], refused["field"]) == (1, field)
    assert words["id"] == 2
    assert pixels.shape == (512, 512)


def test_surprises_of_magnitudes_are_noted_with_magnitudes_alone(visit, tmp_path, camera):
    floats = camera[None, 100:164, :64].astype(np.float32) / 255 - np.float32(0.75)
    images.write(images.Picture(floats, None, 1, "TIFF"), tmp_path / "in.tif")

    async def ask(page):
        asked = ({}, {"scale": "-3:40"}, {"output": "keep"})
        return [(await page.answer(request_for("highpass", **each)))[0]["note"] for each in asked]

    plain, scaled, kept = visit(ask, tmp_path / "in.tif")
    below = "samples below 0: the output is the magnitude of the filtered values, which has no sign"
    assert (plain, kept) == (below, None)
    assert scaled == f"{below}; scale -3:40 begins below 0, where no magnitude is: nothing becomes black"


def test_a_value_beyond_the_white_that_is_shown_is_told_as_it_is(visit, tmp_path, camera):
    floats = camera[None, 100:164, :64].astype(np.float32) / 255
    floats[0, 5, 7] = 3
    images.write(images.Picture(floats, None, 1, "TIFF"), tmp_path / "in.tif")

    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for(radius="0.8cyc", output="keep")))  # all passes
            await answer_on(socket)
            await socket.send_str('{"values": [[7, 5]], "tag": "", "page": 0}')
            return json.loads((await socket.receive()).data)["values"]["after"]

    assert visit(ask, tmp_path / "in.tif") == [[pytest.approx(3, abs=1e-3)]]


def test_what_is_no_request_is_told_without_the_number_of_the_last_one(visit):
    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for(number=7)))
            await answer_on(socket)
            await socket.send_str("[")
            return (await answer_on(socket))[0]

    told = visit(ask, CAMERA)
    assert told == {"id": None, "error": "a request is not a JSON object", "field": None, "changed": False}


def test_any_error_is_a_line():
    assert line_of(ParameterError("give a number")) == "give a number"
    assert line_of(MemoryError()) == "out of memory: take a smaller picture"
    assert line_of(KeyError("a\n  b")) == "internal error: KeyError: 'a\\n b'"
    assert line_of(OSError("a\n  b")) == "internal error: OSError: a b"


def test_what_users_may_not_expect_is_noted(visit):
    words, _, _ = visit(lambda page: page.answer(request_for(radius="2000")), CAMERA)
    assert "lies beyond the highest frequency" in words["note"]


def test_as_many_values_are_taken_as_are_said_to_be(visit):
    async def ask(page):
        return [(await page.save(request_for("notch", at=["0.1,0.2"] * count), None))[1] for count in (500, 501)]

    taken, refused = visit(ask, CAMERA)
    assert "OUT 'None' is not a name" in taken["error"]
    assert refused["error"] == "at has too many values: give at most 500"


@pytest.mark.parametrize(("command", "shown_as"), [("lowpass", "keep"), ("highpass", "signed")])
def test_values_without_black_and_white_are_shown_as_another_output(visit, camera, tmp_path, command, shown_as):
    Image.fromarray(camera[100:164, :64]).save(tmp_path / "in.png")
    asked = request_for(command, radius="8px", output="real")
    words, pixels, _ = visit(lambda page: page.answer(asked), tmp_path / "in.png", tmp_path / "out.tif")
    assert (words["clipped"], "--output real" in words["command"]) == (None, True)
    filter_ = Filter(getattr(transfer, command)("8px"), output=shown_as, edges="wrap")
    assert (pixels == filter_(camera[100:164, :64])).all()


def test_a_loupe_shows_before_and_after_as_they_are(visit, run, tmp_path):
    """Also where the page shows a reduced picture; a part that is none, or too large, is left out."""
    source, target = tmp_path / "in.png", tmp_path / "out.png"
    Image.open(CAMERA).resize((2048, 2048)).save(source)
    box = [1500, 900, 1600, 980]
    bad = [[0, 0, 1 << 14, 1 << 14], [5, 5, 5, 5], [1], "x", [0, 0, 1e400, 5]]

    async def ask(page):
        async with page.live() as socket:

            async def part(view):
                await socket.send_str(json.dumps({"values": [[1550, 940]], "tag": "", "page": 0, "view": view}))
                return json.loads((await socket.receive()).data)["values"]

            told = [await part(box), unpacked((await socket.receive()).data)]
            await socket.send_str(json.dumps(request_for(level=4, number=7, **SOFT)))
            words, *_ = await answer_on(socket)
            told += [await part(box), unpacked((await socket.receive()).data), words["command"]]
            return told, [await part(each) for each in bad]

    (_, (head, before), values, (both_head, both), line), others = visit(ask, source, target)
    run(shlex.split(line)[1:])
    whole, made = (planes_of(path)[0, 900:980, 1500:1600] for path in (source, target))
    assert (head[0], head[1], head[5:]) == (0, 5, (1, 1500, 900))
    assert (before == whole).all()
    assert (both_head[0], values["id"]) == (7, 7)
    assert (both == np.hstack([whole, made])).all()
    assert [each.get("after") for each in others] == [values["after"]] * 5


@pytest.mark.parametrize(
    ("asked", "is_same"),
    [
        (request_for("descreen"), True),
        (request_for("notch", auto=True), True),
        (request_for("stripes", angle="auto"), True),
        (request_for("stripes", angle="auto", show="removed"), True),
        (request_for("notch", at=["0.2,0.1"]), False),
        (request_for("notch", at=["0.2,0.1"], show="removed"), False),
        (request_for("lowpass", **SOFT), False),
        (request_for("highpass"), False),
    ],
    ids=lambda each: each["command"] if isinstance(each, dict) else None,
)
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_a_result_that_is_the_picture_as_it_was_is_said_to_be(visit, tmp_path, asked, is_same, kind):
    made = np.asarray(Image.open(CAMERA)).astype(kind) / kind(1)
    tifffile.imwrite(tmp_path / "in.tif", made.astype(kind), photometric="minisblack")
    words, *_ = visit(lambda page: page.answer(asked), tmp_path / "in.tif", None)
    assert words["same"] is is_same


def test_what_a_search_finds_is_said_without_a_picture(visit, printed):
    async def ask(page):
        asked = [request_for("descreen"), request_for("stripes", angle="auto"), request_for("lowpas")]
        return [await page.get(f"found?request={quote(json.dumps(each))}") for each in asked] + [
            await page.get("found")
        ]

    screen, stripes, *wrong = visit(ask, printed)
    assert screen[1]["any"]
    assert screen[1]["note"].startswith("screen of 5.3")
    assert not stripes[1]["any"]
    assert [status for status, _ in wrong] == [400, 400]


def test_values_of_another_page_are_those_before_alone(visit, tmp_path, camera):
    pages = [Image.fromarray(camera[i : i + 64, :64]) for i in (0, 100)]
    pages[0].save(tmp_path / "stack.tif", save_all=True, append_images=pages[1:])

    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for(page=1, number=3)))
            await answer_on(socket)
            found = []
            for number in (0, 1):
                await socket.send_str(json.dumps({"values": [[5, 7]], "tag": "", "page": number}))
                found.append(json.loads((await socket.receive()).data)["values"])
            return found

    first, second = visit(ask, tmp_path / "stack.tif")
    assert first == {"tag": "", "before": [[int(camera[7, 5])]]}
    assert (second["before"], second["id"], "after" in second) == ([[int(camera[107, 5])]], 3, True)


def test_a_view_from_below_is_refused(visit):
    async def ask(page):
        return [(await page.answer(request_for(view=view)))[0] for view in ([0, 9, 9, 9], [0, 9, 9, 8], [9, 0, 8, 9])]

    for words in visit(ask, CAMERA):
        assert "is empty: give the corner on the left and above first" in words["error"]


def test_the_input_and_the_result_are_shown_by_the_levels_of_the_page(visit, camera):
    async def ask(page):
        given = await page.get("input", params={"level": "1", "levels": "[20, 120, 2]"})
        return given[1], (await page.answer(request_for(radius="8px", output="keep") | {"levels": [20, 120, 2]}))[1]

    given, after = visit(ask, CAMERA)
    plain = Filter(transfer.lowpass("8px"), output="keep", edges="wrap")(camera)
    for shown, levels in ((unpacked(given)[1], camera), (after, plain)):
        wanted = 255 * np.sqrt(np.clip((levels - 20.0) / 100, 0, 1))
        assert np.abs(shown - wanted).max() <= 0.51
