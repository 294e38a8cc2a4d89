"""The routes, and who may use them."""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.commands.explore import explore
from fftfilter.explore import server
from fftfilter.explore.answers import LARGEST
from fftfilter.explore.server import IDLE, MOST, PAGE
from fftfilter.explore.session import Folder, Session
from fftfilter.transfer.units import Radius
from tests.explore.conftest import aiohttp, answer_on, request_for, unpacked
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
    assert [*told["commands"]] == [
        "lowpass",
        "highpass",
        "bandpass",
        "bandstop",
        "notch",
        "stripes",
        "wiener",
        "descreen",
    ]
    assert (told["maxval"], told["pixel_size"]["across_m"]) == (255, pytest.approx(0.0254 / 300))
    assert told["outputs"] == ["magnitude", "keep", "signed", "real"]
    assert told["scaled"] == ["magnitude", "signed"]
    assert told["edges"] == ["wrap", "mirror"]
    takes = {"ideal": None, "gaussian": None, "butterworth": "order", "cosine": "width"}
    assert told["shapes"].items() >= takes.items()
    lengths = {"um", "nm", "mm", "in", "px", "km", "m", "a", "pm"}
    assert {unit for unit, each in told["units"].items() if each["isPeriod"]} == lengths
    assert {"bins", "cyc", "%", "lpi", "lp/mm"} < told["units"].keys()
    assert (told["units"]["um"]["label"], told["units"]["%"]["cyc"]) == ("\u00b5m", 0.005)
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
    assert pixels.shape == ((512, 512) if channels < 3 else (512, 512, 3))
    assert (pixels == planes[0] if channels < 3 else pixels[..., :3] == np.moveaxis(planes[:3], 0, 2)).all()


def test_a_photograph_with_loss_is_to_become_one_without(visit, tmp_path, camera):
    Image.fromarray(camera).save(tmp_path / "photo.jpg")
    assert visit(lambda page: page.get("picture"), tmp_path / "photo.jpg")[1]["out"] == "photo-filtered.png"


def test_an_animation_is_to_stay_one(visit, tmp_path, camera):
    frames = [Image.fromarray(camera[i : i + 10, :12]) for i in (0, 100)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / "still.gif")
    assert visit(lambda page: page.get("picture"), tmp_path / "moving.gif")[1]["out"] == "moving-filtered.gif"
    assert visit(lambda page: page.get("picture"), tmp_path / "still.gif")[1]["out"] == "still-filtered.png"


def test_the_picture_its_spectrum_and_its_peaks(visit, tmp_path, camera):
    y, x = np.mgrid[:512, :512]
    waves = camera * 0.7 + 30 + 25 * np.sin(2 * np.pi * (0.2 * x + 0.1 * y))
    Image.fromarray(waves.astype(np.uint8)).save(tmp_path / "waves.png")

    async def look(page):
        return [(await page.get(path))[1] for path in ("input", "spectrum", "peaks", "about")]

    given, spectrum, peaks, about = visit(look, tmp_path / "waves.png")
    header, pixels = unpacked(given)
    assert header == (0, 1, 1, 512, 512, 1, 0, 0)
    assert (pixels == waves.astype(np.uint8)).all()
    header, pixels = unpacked(spectrum)
    assert header == (0, 2, 1, 512, 512, 1, 0, 0)
    # The wave is a bright spot where its frequency is, with DC at 256.
    assert pixels[256 + 51, 256 + 102] == pixels[256 - 51, 256 - 102] > 240
    (peak,) = peaks["peaks"]
    assert (peak["fx"], peak["fy"]) == pytest.approx((0.2, 0.1), abs=1e-3)
    assert peak["notch"].split(",")[2] == f"{peak['width_cyc']:.3g}cyc"
    assert (sum(about["histogram"]), about["range"], about["shown"]) == (512 * 512 // 4, [0, 255], [0, 255, 1])


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
        own = origin.replace("127.0.0.1", "localhost")
        for headers in ({"Origin": origin}, {"Host": own[7:]}, {"Host": own[7:], "Origin": own}):
            assert (await page.get("picture", headers=headers))[0] == 200, headers
        return (await page.get("picture", headers={"Host": own[7:], "Origin": origin}))[0]

    assert visit(knock, CAMERA) == 403


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
            assert (await page.get(f"page/{name}"))[0] in (403, 404), name
        found = {}
        for name in ("", *(f"page/{path.name}" for path in PAGE.iterdir())):
            async with page.session.get(page.url + name) as response:
                found[name] = response.status, response.headers["Content-Type"], await response.read()
        return found

    kinds = {"": "html", "html": "html", "css": "css", "js": "javascript", "svg": "svg+xml"}
    for name, (status, kind, body) in visit(load, CAMERA).items():
        assert (status, body) == (200, (PAGE / (name.removeprefix("page/") or "index.html")).read_bytes())
        assert kind.endswith(f"/{kinds[name.rpartition('.')[2]]}")


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
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    rules = headers["Content-Security-Policy"].split("; ")
    assert {"img-src 'self' blob: data:", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} < {*rules}


def test_only_this_machine_is_listened_to(visit):
    async def knock(page):
        port = page.url.split(":")[2].partition("/")[0]
        with pytest.raises(OSError):  # noqa: PT011  each system has words of its own
            await asyncio.open_connection("127.0.0.2", port)

    visit(knock, CAMERA)


def test_the_port_is_always_the_same_unless_it_is_taken(visit, monkeypatch):
    async def port_of(page):
        return int(page.url.split(":")[2].partition("/")[0])

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (option,) = [each for each in explore.params if each.name == "port"]
    assert f"[default: {server.USUAL_PORT}; " in option.help
    assert visit(port_of, CAMERA, port=port) == port
    monkeypatch.setattr("fftfilter.explore.server.USUAL_PORT", port)
    assert visit(port_of, CAMERA, port=None) == port
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        assert visit(port_of, CAMERA, port=None) not in (port, 0)
        with pytest.raises(AssertionError, match=f"port {port} is taken"):
            visit(port_of, CAMERA, port=port)


DEEP = "[" * 100_000 + "]" * 100_000
SAVE = '{"request": {"command": "lowpass"%s}, "out": %s}'
BODIES = [
    *("", "[]", "null", "{", "NaN", "9" * 5000, DEEP, '{"a":' * 20_000 + "1" + "}" * 20_000, "\xff"),
    *('{"out": "a.png"}', '{"request": [], "out": "a.png"}', '{"request": {}, "out": "a.png"}', '{"\\ud800": 1}'),
    *(
        SAVE % ("", out)
        for out in ('"\\ud800.png"', '"\\udcff.png"', '"a\\u0000.png"', "1e999", "{}", "[" * 900 + "]" * 900)
    ),
    *(
        SAVE % (f', "page": {page}', '"a.png"')
        for page in ("-1", "1e999", "NaN", '"0"', "[]", "{}", "true", "0.5", "9" * 4000)
    ),
    *(SAVE % (f', "options": {options}', '"a.png"') for options in ("3", "[1]", '{"radius": {}}', '{"radius": [[]]}')),
    SAVE % (', "options": {"radius": ' + "[" * 900 + "]" * 900 + "}", '"a.png"'),
    SAVE % (', "options": {"radius": "%s"}' % ("9" * 300), '"a.png"'),
    SAVE % (f', "options": {{"radius": [{"1," * 2000}1]}}', '"a.png"'),
    SAVE % (', "command": "%s"' % ("x" * 100_000), '"a.png"'),
    SAVE % (', "show": "%s"' % ("x" * 100_000), '"a.png"'),
    SAVE % (', "view": [0, 0, 1e999, 5]', '"a.png"'),
]
# What each is answered by, where {0} is the path with the token and {1} the host.
REQUESTS = {
    "GET {0}%zz HTTP/1.1\r\nHost: {1}\r\n\r\n": 404,
    "GET {0}% HTTP/1.1\r\nHost: {1}\r\n\r\n": 404,
    "GET {0}%00 HTTP/1.1\r\nHost: {1}\r\n\r\n": 404,
    "GET //{1}{0}picture HTTP/1.1\r\nHost: {1}\r\n\r\n": 404,
    "GET http://[::1 HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET http://example.org{0}picture HTTP/1.1\r\nHost: example.org\r\n\r\n": 403,
    "GET /" + "a" * 70_000 + " HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}picture HTTP/1.1\r\nHost: {1}\r\nX: " + "a" * 70_000 + "\r\n\r\n": 400,
    "GET {0}picture HTTP/1.1\r\nHost: {1}\r\nBad header\r\n\r\n": 400,
    "GET {0}input?page=%ff HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}input?page=%C2%B2 HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}input?level=0 HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}input?level=999999999999999999 HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}steps?request=%ED%A0%80 HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}live HTTP/1.1\r\nHost: {1}\r\n\r\n": 400,
    "GET {0}save HTTP/1.1\r\nHost: {1}\r\n\r\n": 405,
    "DELETE {0}picture HTTP/1.1\r\nHost: {1}\r\n\r\n": 405,
    "GET {0}picture HTTP/1.0\r\n\r\n": 403,
    "\0\1\2\3\r\n\r\n": 400,
    "POST {0}save HTTP/1.1\r\nHost: {1}\r\nContent-Length: -1\r\n\r\n": 400,
    "POST {0}save HTTP/1.1\r\nHost: {1}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n": 400,
    "POST {0}save HTTP/1.1\r\nHost: {1}\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx": 400,
    "POST {0}save HTTP/1.1\r\nHost: {1}\r\nContent-Length: 1100000\r\n\r\n" + "x" * 1_100_000: 413,
}


async def sent(page, request):
    """Return the status and the body that bytes on a connection of their own are answered by."""
    host, _, path = page.url.removeprefix("http://").partition("/")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    try:
        writer.write(request.replace("{0}", f"/{path}").replace("{1}", host).encode("latin-1"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.splitlines() if line.lower().startswith("content-length"))
        return int(head.split()[1]), await reader.readexactly(int(length.split()[1]))
    finally:
        writer.close()


def test_whatever_is_sent_is_answered_by_a_status_and_a_line(visit, tmp_path, capfd, camera):
    Image.fromarray(camera[:10, :12]).save(tmp_path / "in.png")

    async def knock(page):
        for request, wanted in REQUESTS.items():
            status, body = await sent(page, request)
            assert status == wanted, (request[:200], status, body)
            assert b"Traceback" not in body
        for body in BODIES:
            async with page.session.post(page.url + "save", data=body.encode("latin-1")) as response:
                told = (await response.json())["error"]
                assert (response.status, "\n" in told, len(told) < 400) == (400, False, True), (body[:200], told)
                assert "internal error" not in told, body[:200]
        return (await page.get("picture"))[0]

    assert visit(knock, tmp_path / "in.png") == 200
    assert [path.name for path in tmp_path.iterdir()] == ["in.png"]
    assert capfd.readouterr() == ("", "")


def test_what_a_socket_cannot_mean_ends_it_alone(visit, tmp_path, capfd, camera):
    Image.fromarray(camera[:10, :12]).save(tmp_path / "in.png")

    async def ask(page):
        for text in BODIES:
            if len(text) > LARGEST:
                continue
            async with page.live() as socket:
                await socket.send_str(text.encode("latin-1").decode("utf-8", "replace"))
                refused, *_ = await answer_on(socket)
                assert (refused["id"] or 0, "internal error" in refused["error"]) == (0, False)
        async with page.live() as socket:
            await socket.send_bytes(b"x" * 10)  # which nobody hears
            await socket.send_str(json.dumps(request_for(number=5)))
            assert (await answer_on(socket))[0]["id"] == 5
        async with page.live() as socket:
            await socket.send_bytes(b"x" * (1 << 20))
        async with page.live() as socket:
            await socket.send_str("x" * LARGEST + "x")
            assert (await socket.receive()).data == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
        return await page.answer(request_for())

    words, pixels, _ = visit(ask, tmp_path / "in.png")
    assert (words["id"], pixels.shape) == (1, (10, 12))
    assert capfd.readouterr() == ("", "")


def test_of_many_connections_the_oldest_of_strangers_end(visit, tmp_path, camera):
    Image.fromarray(camera[:10, :12]).save(tmp_path / "in.png")

    async def crowd(page):
        address = page.url.split("/")[2].split(":")
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for()))
            await answer_on(socket)
            strangers = await asyncio.gather(*(asyncio.open_connection(*address) for _ in range(3 * MOST)))
            strangers[-1][1].write(b"GET / HT")
            async with asyncio.timeout(IDLE / 2):  # all end when they are idle
                assert {await reader.read() for reader, _ in strangers[:MOST]} == {b""}
            status, _ = await page.get("picture")
            await socket.send_str(json.dumps(request_for(number=2)))
            return status, (await answer_on(socket))[0]["id"]

    assert visit(crowd, tmp_path / "in.png") == (200, 2)


def test_a_connection_that_asks_for_nothing_ends(visit, tmp_path, camera, monkeypatch):
    monkeypatch.setattr("fftfilter.explore.server.IDLE", 0.1)
    Image.fromarray(camera[:10, :12]).save(tmp_path / "in.png")

    async def wait(page):
        reader, writer = await asyncio.open_connection(*page.url.split("/")[2].split(":"))
        writer.write(b"GET / HTTP/1.1\r\nHo")
        assert await reader.read() == b""
        return await sent(page, "POST {0}save HTTP/1.1\r\nHost: {1}\r\nContent-Length: 20\r\n\r\nxx")

    status, body = visit(wait, tmp_path / "in.png")
    assert (status, json.loads(body)) == (400, {"error": "the request's body is damaged, or does not come"})


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("input?level=3", "level 3 is not one of 1"),
        ("input?levels=[", "a request is not a JSON object"),
        ("input?levels=[9,1,1]", "levels are black, white and gamma, such as [0, 255, 1]: give black below white"),
        (
            f"input?levels=[0,1{400 * '0'},1]",
            "levels are black, white and gamma, such as [0, 255, 1]: give black below white",
        ),
        ("input?file=../camera.pgm", "this is not a picture of the folder"),
        ("input?file=README.md", "this is not a picture of the folder"),
        ("spectrum?channel=1", "channel 1 is not one of 1, counted from 0"),
        ("peaks?strength=nan", 'strength "nan" is not a number'),
        ("peaks?strength=3", "strength 3 is invalid: give 10 to 300 dB; noise rarely has 10"),
        (
            "number?text=8&unit=um",
            "8um needs the size of a pixel: give a pixel size, such as 65nm, or a number with px, cyc or %",
        ),
        ("small?request=[]", "a request is not a JSON object"),
        ("input?page=-1", 'page "-1" is not a whole number from 0 up'),
        ("steps?request=[]", "a request is not a JSON object"),
    ],
)
def test_what_cannot_be_given_is_one_line(visit, path, line):
    status, told = visit(lambda page: page.get(path), CAMERA)
    assert (status, told) in ((400, {"error": line}), (404, line))


def test_files_of_the_folder_are_listed_and_opened(visit, tmp_path, camera, monkeypatch):
    asked_for, really = [], Folder.session

    def session(folder, name, **how):
        asked_for.append((name, how))
        return really(folder, name, **how)

    monkeypatch.setattr(Folder, "session", session)
    Image.fromarray(camera[:40, :50]).save(tmp_path / "one.png")
    Image.fromarray(camera[40:80, :60]).save(tmp_path / "two.png")
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / "sub").mkdir()
    asked = request_for(radius="8px", output="keep") | {"file": "two.png"}

    async def look(page):
        _, told = await page.get("picture?file=two.png")
        small = unpacked((await page.get("small?file=two.png"))[1])[1]
        # Small pictures close no file that is filtered.
        assert asked_for[-1] == ("two.png", {"keep": False})
        await page.get("input?file=two.png")
        assert asked_for[-1] == ("two.png", {"keep": True})
        words, pixels, _ = await page.answer(asked)
        return (await page.get("files"))[1], told, small, words, pixels, (await page.save(asked, "out.png"))[0]

    files, told, small, words, pixels, status = visit(look, tmp_path / "one.png")
    assert files == {"files": ["one.png", "two.png"], "inputs": 2}
    assert (told["name"], told["width"], told["out"]) == ("two.png", 60, "two-filtered.png")
    assert (small == camera[40:80, :60]).all()
    assert words["command"].endswith(f"two.png {tmp_path / 'two-filtered.png'}")
    assert status == 200
    assert (np.asarray(Image.open(tmp_path / "out.png")) == pixels).all()


def test_a_small_picture_is_of_the_file_as_it_is_now(visit, tmp_path):
    for name, level in (("one.png", 10), ("two.png", 20)):
        Image.new("L", (40, 40), level).save(tmp_path / name)

    async def look(page):
        await page.get("input?file=two.png")
        Image.new("L", (40, 40), 200).save(tmp_path / "two.png")
        return [unpacked((await page.get(f"{kind}?file=two.png"))[1])[1] for kind in ("small", "input")]

    small, kept = visit(look, tmp_path / "one.png")
    assert (small == 200).all()
    assert (kept == 20).all()


@pytest.mark.parametrize(
    ("name", "real"), [("a.png", "a.tif"), ("a.TIF", "a.TIF"), ("a.npy", "a.npy"), ("a.odd", "a.tif")]
)
def test_a_name_for_floats_is_of_a_format_that_has_them(visit, tmp_path, name, real):
    Image.new("L", (40, 40)).save(tmp_path / "one.png")
    _, told = visit(lambda page: page.get("picture"), tmp_path / "one.png", tmp_path / name)
    assert (told["out"], told["out_real"]) == (name, real)


def test_units_of_pixels_of_two_sides_are_ellipses(visit, tmp_path):
    Image.fromarray(np.zeros((64, 96), np.uint8)).save(tmp_path / "in.tif", dpi=(300, 150))

    async def ask(page):
        own = (await page.get("picture"))[1]
        return own, (await page.get("units", params={"pixel_size": "7um,10um"}))[1]

    own, given = visit(ask, tmp_path / "in.tif")
    assert [own["units"][unit]["stretch"] for unit in ("mm", "px", "%")] == [pytest.approx(2), 1, 1]
    assert (given["um"]["stretch"], given["um"]["cyc"]) == (pytest.approx(10 / 7), pytest.approx(7))
    assert own["pixel_size"]["text"] == "84.67 um x 0.1693 mm"
    assert own["pixel_size"]["down_m"] == pytest.approx(2 * own["pixel_size"]["across_m"])


@pytest.mark.parametrize("pixel", [None, 65e-9, 0.0254 / 300])
def test_a_page_s_table_of_units_is_the_parser_of_the_program(visit, tmp_path, pixel):
    dpi = {"dpi": (0.0254 / pixel, 0.0254 / pixel)} if pixel else {}
    Image.fromarray(np.zeros((64, 96), np.uint8)).save(tmp_path / "in.tif", **dpi)
    texts = {"40": "bins", "8px": "px", ".125cyc": "cyc", "25%": "%", "2.6um": "um", "1 mm": "mm", "150lpi": "lpi"}
    texts |= {"12lp/mm": "lp/mm", "1e3nm": "nm", "0.5\u00b5m": "um"}

    async def ask(page):
        units = (await page.get("picture"))[1]["units"]
        given = ({"text": text, "unit": "bins"} for text in texts)
        return units, [await page.get("number", params=each) for each in given]

    units, found = visit(ask, tmp_path / "in.tif")
    for (text, unit), (status, told) in zip(texts.items(), found, strict=True):
        if unit not in units:
            assert (status, pixel) == (400, None), text
            continue
        wanted = Radius.parse(text).with_pixel((pixel or 1,) * 2).bins(64, 96) / 64
        one = units[unit]
        by_table = one["cyc"] / told["value"] if one["isPeriod"] else one["cyc"] * told["value"]
        assert (status, told["unit"]) == (200, unit)
        assert told["cyc"] == pytest.approx(wanted, rel=1e-6), text
        assert by_table == pytest.approx(wanted, rel=1e-6), text


def test_a_bare_number_takes_the_unit_beside_it_and_one_in_it_goes_first(visit):
    given = (
        {"text": "8", "unit": "px"},
        {"text": "8 px", "unit": "cyc"},
        {"text": "2um", "unit": "px", "pixel_size": "1um"},
    )

    async def ask(page):
        return [(await page.get("number", params=each))[1] for each in given]

    found = visit(ask, CAMERA)
    assert [(each["value"], each["unit"], each["cyc"]) for each in found] == [(8, "px", 0.125)] * 2 + [(2, "um", 0.5)]


def test_values_are_those_of_the_picture_and_of_the_last_result(visit, camera):
    async def ask(page):
        asked = {"values": [[3, 5], [511, 0]], "tag": "line", "page": 0}
        async with page.live() as socket:

            async def values(text):
                await socket.send_str(text)
                return json.loads((await socket.receive()).data)["values"]

            alone = await values(json.dumps(asked))
            await socket.send_str(json.dumps(request_for(number=7, radius="8px", output="keep")))
            pixels = (await answer_on(socket))[1]
            told = await values(json.dumps(asked))
            for odd in ('{"values": 3}', '{"values": [[1e400, 0]], "page": 0}', '{"values": [[0, 0]], "page": "x"}'):
                assert await values(odd) == {}, odd
            return alone, told, pixels

    alone, told, pixels = visit(ask, CAMERA)
    before = [[int(camera[5, 3]), int(camera[0, 511])]]
    assert alone == {"tag": "line", "before": before}
    assert told == {"tag": "line", "before": before, "id": 7, "after": [[int(pixels[5, 3]), int(pixels[0, 511])]]}


def test_the_amplitude_of_a_wave_is_told(visit, tmp_path):
    levels = np.broadcast_to(100 + 30 * np.cos(2 * np.pi * 0.125 * np.arange(128)), (64, 128))
    Image.fromarray(np.rint(levels).astype(np.uint8)).save(tmp_path / "in.png")
    _, told = visit(lambda page: page.get("wave?fx=0.125&fy=0"), tmp_path / "in.png")
    assert (told["amplitude"], told["phase"]) == (pytest.approx(30, abs=0.3), pytest.approx(0, abs=0.01))


def test_a_download_has_the_bytes_of_the_command_and_writes_nothing(visit, run, tmp_path, camera):
    Image.fromarray(camera[:40, :50]).save(tmp_path / "in.png")

    async def ask(page):
        body = {"request": request_for(radius="8px", output="keep"), "out": "out.png", "download": True}
        async with page.session.post(page.url + "save", json=body) as response:
            return response.status, await response.read()

    status, found = visit(ask, tmp_path / "in.png")
    assert [path.name for path in tmp_path.iterdir()] == ["in.png"]
    run(["lowpass", "--radius", "8px", "--output", "keep", str(tmp_path / "in.png"), str(tmp_path / "out.png")])
    assert (status, found) == (200, (tmp_path / "out.png").read_bytes())


def test_a_file_that_has_changed_is_neither_saved_nor_downloaded(visit, tmp_path, camera):
    async def ask(page):
        Image.fromarray(camera[:30, :50]).save(tmp_path / "in.png")
        return [await page.save(request_for(radius="8px"), "out.png", download=each) for each in (False, True)]

    Image.fromarray(camera[:40, :50]).save(tmp_path / "in.png")
    for status, told in visit(ask, tmp_path / "in.png"):
        assert (status, told["changed"]) == (409, True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.png"]


def test_a_file_that_is_dropped_is_opened_and_its_result_saved(visit, tmp_path, camera, monkeypatch, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    monkeypatch.setattr(tempfile, "tempdir", str(kept))
    Image.fromarray(camera[:40, :50]).save(tmp_path / "in.png")
    Image.fromarray(camera[:30, :40]).save(tmp_path / "other.png")
    data = (tmp_path / "other.png").read_bytes()
    (tmp_path / "other.png").unlink()

    names = (("a.txt", data), ("a.png", b"none"), ("../x\n.png", data), (f"{300 * 'a'}.png", data))

    async def drop(page, name, body):
        async with page.session.post(page.url + "drop", params={"name": name}, data=body) as response:
            return response.status, await response.json()

    async def ask(page):
        refused = [await drop(page, *each) for each in names]
        name = (await drop(page, "../../in.png", data))[1]["name"]
        asked = request_for(radius="8px", output="keep") | {"file": name}
        saved = await page.save(asked, "out.png")
        monkeypatch.setattr(server, "MOST_BYTES", len(data) - 1)
        refused.append(await drop(page, "large.png", data))
        assert len([*kept.iterdir()]) == 1
        return refused, name, (await page.get("files"))[1]["files"], saved[0], (await page.answer(asked))[1]

    refused, name, files, status, pixels = visit(ask, tmp_path / "in.png")
    assert [*kept.iterdir()] == []
    assert [each[0] for each in refused] == [400] * 5
    assert "a file that is dropped has at most 2 GB" in refused[4][1]["error"]
    assert refused[1][1]["error"].startswith("a.png: not an image")
    assert refused[3][1]["error"] == f"{60 * 'a'}: cannot be kept: file name too long; choose a shorter name"
    assert (name, files, status) == ("in2.png", ["in2.png", "in.png", "out.png"], 200)
    assert (np.asarray(Image.open(tmp_path / "out.png")) == pixels).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.png", "out.png"]


def test_what_filters_a_folder_ends_with_the_program(tmp_path, camera):
    Image.fromarray(camera[:40, :50]).save(tmp_path / "in.png")
    ended, served = [], server.Server(Session(str(tmp_path / "in.png")), None, {})
    served.end()
    served._progress.process = SimpleNamespace(terminate=lambda: ended.append(1))
    served.end()
    assert ended == [1]


def test_the_folder_is_that_of_the_page_whatever_file_is_shown(visit, tmp_path, camera):
    here = tmp_path / "here"
    here.mkdir()
    for name in ("real.png", "private.png", "here/other.png"):
        Image.fromarray(camera[:24, :32]).save(tmp_path / name)
    (here / "in.png").symlink_to("../real.png")

    async def ask(page):
        data = (tmp_path / "real.png").read_bytes()
        async with page.session.post(page.url + "drop", params={"name": "new.png"}, data=data) as response:
            assert response.status == 200
        asked = request_for(radius="8px", output="keep")
        return [(await page.save(asked | {"file": f"{out}.png"}, out, folder=True))[0] for out in ("in", "new")]

    assert visit(ask, here / "in.png") == [200, 200]
    for out in ("in", "new"):
        assert sorted(path.name for path in (here / out).glob("*.png")) == ["in.png", "other.png"]


def test_a_filter_is_applied_to_the_folder_with_a_report(visit, run, tmp_path, camera):
    for name in ("a.png", "b.png"):
        Image.fromarray(camera[:24, :32]).save(tmp_path / name)
    (tmp_path / "broken.png").write_bytes(b"none")

    async def ask(page):
        body = {"request": request_for(radius="8px", output="keep"), "out": "filtered", "folder": True}
        found = []
        for out in ("filtered", "filtered", "../filtered"):
            async with page.session.post(page.url + "save", json=body | {"out": out}) as response:
                found.append((response.status, await response.json()))
        return found

    (status, told), again, elsewhere = visit(ask, tmp_path / "a.png")
    assert (status, again[0], elsewhere[0]) == (200, 400, 403)
    assert told["written"] == str(tmp_path / "filtered")
    assert told["report"].startswith("2 of 3 files filtered")
    assert "broken.png" in told["failed"][0]
    run(["lowpass", "--radius", "8px", "--output", "keep", str(tmp_path / "b.png"), str(tmp_path / "wanted.png")])
    assert (tmp_path / "filtered" / "b.png").read_bytes() == (tmp_path / "wanted.png").read_bytes()
