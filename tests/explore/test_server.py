"""The routes, and who may use them."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.explore.server import PAGE
from tests.explore.conftest import aiohttp, unpacked
from tests.helpers import SAMPLES

CAMERA = SAMPLES / "camera.pgm"


def test_a_picture_is_described(visit, tmp_path, camera):
    path = tmp_path / "scan.tif"
    Image.fromarray(camera).save(path, dpi=(300, 300))
    status, told = visit(
        lambda page: page.get("picture"), path, start="bandstop --inner 30 --outer 34px --notch 0.1,0.2"
    )
    assert status == 200
    assert (told["name"], told["width"], told["height"], told["channels"], told["depth"]) == (
        "scan.tif",
        512,
        512,
        1,
        8,
    )
    assert (told["pages"], told["levels"]) == (1, [1])
    assert (told["out"], told["folder"]) == ("scan-filtered.tif", str(tmp_path))
    assert told["pixel_size"]["text"] == "84.67 um"
    assert told["commands"] == ["lowpass", "highpass", "bandpass", "bandstop", "notch", "stripes"]
    assert told["start"]["command"] == "bandstop"
    assert told["start"]["options"] == {"inner": "30", "outer": "34px", "notch": ["0.1,0.2"]}


@pytest.mark.parametrize("channels", [2, 5])
def test_of_many_channels_the_first_are_shown(visit, tmp_path, camera, channels):
    planes = np.stack([np.roll(camera, i) for i in range(channels)])
    tifffile.imwrite(tmp_path / "x.tif", planes, photometric="minisblack", planarconfig="separate")

    async def look(page):
        return [(await page.get(path))[1] for path in ("picture", "input", "spectrum", "peaks")]

    told, given, *_ = visit(look, tmp_path / "x.tif")
    assert told["channels"] == channels
    _, pixels = unpacked(given)
    assert (pixels == planes[0] if channels < 3 else pixels[..., :3] == np.moveaxis(planes[:3], 0, 2)).all()


def test_a_photograph_with_loss_is_to_become_one_without(visit, tmp_path, camera):
    Image.fromarray(camera).save(tmp_path / "photo.jpg")
    assert visit(lambda page: page.get("picture"), tmp_path / "photo.jpg")[1]["out"] == "photo-filtered.png"


def test_the_picture_its_spectrum_and_its_peaks(visit, tmp_path, camera):
    y, x = np.mgrid[:512, :512]
    waves = camera * 0.7 + 30 + 25 * np.sin(2 * np.pi * (0.2 * x + 0.1 * y))
    Image.fromarray(waves.astype(np.uint8)).save(tmp_path / "waves.png")

    async def look(page):
        return [(await page.get(path))[1] for path in ("input", "spectrum", "peaks", "radial")]

    given, spectrum, peaks, radial = visit(look, tmp_path / "waves.png")
    header, pixels = unpacked(given)
    assert header == (0, 1, 1, 512, 512, 1, 0, 0)
    assert (pixels == waves.astype(np.uint8)).all()
    header, pixels = unpacked(spectrum)
    assert header == (0, 2, 1, 512, 512, 1, 0, 0)
    # The wave is a bright spot where its frequency is, with DC at 256.
    assert pixels[256 + 51, 256 + 102] == pixels[256 - 51, 256 - 102] == 255
    (peak,) = peaks["peaks"]
    assert (peak["fx"], peak["fy"]) == pytest.approx((0.2, 0.1), abs=1e-3)
    assert peak["notch"].split(",")[2] == f"{peak['width_cyc']:.3g}cyc"
    # It is the strongest of all beyond the coarsest structures.
    beyond = [i for i, f in enumerate(radial["frequency"]) if f > 0.05]
    strongest = max(beyond, key=lambda i: radial["power_db"][i])
    assert radial["frequency"][strongest] == pytest.approx(np.hypot(0.2, 0.1), rel=0.03)


def test_pages_of_a_stack(visit, tmp_path, camera):
    pages = [Image.fromarray(camera[i : i + 64, :96]) for i in (0, 100)]
    pages[0].save(tmp_path / "stack.tif", save_all=True, append_images=pages[1:])

    async def look(page):
        assert (await page.get(f"input?page={'9' * 5000}"))[0] == 400
        status, refused = await page.get("input?page=2")
        assert (status, refused) == (400, {"error": "page 2 is not one of 2, counted from 0"})
        assert (await page.get("picture"))[1]["pages"] == 2
        return [unpacked((await page.get(f"input?page={i}"))[1])[1] for i in (0, 1)]

    first, second = visit(look, tmp_path / "stack.tif")
    pages[1].resize((48, 32)).save(tmp_path / "small.tif")
    pages[0].save(tmp_path / "mixed.tif", save_all=True, append_images=[Image.open(tmp_path / "small.tif")])
    line = "page 2 has 48 x 32 pixels, the first one 96 x 64: look at it in a file of its own"
    assert visit(lambda page: page.get("input?page=1"), tmp_path / "mixed.tif") == (400, {"error": line})
    assert (first == camera[:64, :96]).all()
    assert (second == camera[100:164, :96]).all()


FOREIGN = (
    {"Origin": "http://example.org"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1"},  # another port
    {"Host": "example.org"},  # a name that was made to lead here
    {"Host": "127.0.0.1.example.org:80"},
)


def test_foreign_pages_are_refused_without_a_word(visit):
    async def knock(page):
        for headers in FOREIGN:
            assert await page.get("picture", headers=headers) == (403, b""), headers
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await page.live(headers=headers)

    visit(knock, CAMERA)


def test_its_own_page_is_let_in(visit):
    async def knock(page):
        origin = page.url[: page.url.index("/", 8)]
        async with page.live(headers={"Origin": origin}) as socket:
            assert not socket.closed
        return (await page.get("picture", headers={"Origin": origin}))[0]

    assert visit(knock, CAMERA) == 200


def test_nothing_answers_without_the_token(visit):
    async def knock(page):
        root = page.url[: page.url.index("/", 8)]
        for path in (
            "/",
            "/picture",
            "/live",
            f"/{'x' * 22}/",
            "/../etc/passwd",
            page.url[len(root) : -2] + "/picture",
        ):
            async with page.session.get(root + path) as response:
                assert (response.status, await response.read()) == (404, b""), path

    visit(knock, CAMERA)


def test_files_of_the_page_and_no_others(visit):
    async def load(page):
        for name in ("../server.py", "..%2Fserver.py", "%2Fetc%2Fpasswd", "nothing.js", "."):
            assert (await page.get(f"page/{name}"))[0] == 404, name
        return [(path.name, await page.get(f"page/{path.name}")) for path in PAGE.iterdir()]

    for name, (status, body) in visit(load, CAMERA):
        assert (status, body) == (200, (PAGE / name).read_bytes())


def test_browsers_are_told_to_load_nothing_from_elsewhere(visit):
    async def load(page):
        async with page.session.get(page.url + "picture") as response:
            return response.headers

    headers = visit(load, CAMERA)
    assert headers["Content-Security-Policy"].startswith("default-src 'self'; ")
    assert "http" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_only_this_machine_is_listened_to(visit):
    async def knock(page):
        port = page.url.split(":")[2].partition("/")[0]
        with pytest.raises(OSError):  # noqa: PT011  each system has words of its own
            await asyncio.open_connection("127.0.0.2", port)

    visit(knock, CAMERA)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("input?level=3", "level 3 is not one of 1"),
        ("input?page=-1", "page '-1' is not a whole number"),
        ("steps?wish=[]", "a wish is not a JSON object"),
        ("steps/0.png", b""),
    ],
)
def test_what_cannot_be_given_is_one_line(visit, path, line):
    status, told = visit(lambda page: page.get(path), CAMERA)
    assert (status, told) in ((400, {"error": line}), (404, line))
