"""Recipes that somebody else wrote: what they name is fetched when the user says so alone, and they have bounds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from tests.files.helpers import web
from tests.folders.helpers import pgm

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


@pytest.fixture
def masks(tmp_path, monkeypatch):
    """A server of a mask and the paths that it was asked for; in.pgm in the current folder."""
    monkeypatch.chdir(tmp_path)
    pgm(tmp_path / "in.pgm")
    Image.linear_gradient("L").resize((12, 8)).point(lambda level: 255 * (level > 99)).save("mask.png")
    asked, data = [], (tmp_path / "mask.png").read_bytes()

    def answer(path):
        asked.append(path)
        return {}, [data]

    with web(answer) as (url, _):
        yield f"{url}/mask.png", asked


def recipes(url):
    """Return recipes that name a URL, in each way."""
    yield ["mask", f"--mask={url}"]
    yield ["lowpass", "--mask", url]
    yield ["lowpass", f"--times=mask --mask={url}"]
    yield ["lowpass", "--times", f"mask --mask {url}"]
    for name in "region", "protect", "missing":
        yield ["lowpass", "--output=keep", f"--{name}={url}"]


@pytest.mark.parametrize("number", range(7))
def test_a_recipe_fetches_nothing_until_the_user_says_so(run, masks, tmp_path, number):
    url, asked = masks
    words = [*recipes(url)][number]
    made = json.dumps({"fftfilter_recipe": 2, "arguments": words}).replace("/", "\\/")
    (tmp_path / "r.json").write_text(made)
    for arguments in ("r.json", "in.pgm", "out.pgm"), ("r.json", ".", "out/"):
        code, out, said = run("apply", *arguments)
        assert (code, out, said.count("\n"), "--fetch-masks" in said) == (2, b"", 1, True), said
    code, out, said = run("apply", "--show", "r.json")
    assert (code, out.count(b"\n"), said) == (0, 1, "")
    assert out.decode().startswith(f"fftfilter {words[0]} ")
    assert url in out.decode()
    assert run("apply", "--fetch-masks", "--show", "r.json")[0] == 2
    with pytest.raises(ParameterError, match="fetch_masks=True"):
        fftfilter.load_filter("r.json")
    assert asked == []
    assert run("apply", "--fetch-masks", "r.json", "in.pgm", "out.pgm")[0] == 0
    assert set(asked) == {"/mask.png"}


def test_nor_does_a_recipe_in_a_picture(run, masks):
    url, asked = masks
    assert run("lowpass", "--output", "keep", "--region", url, "--embed-recipe", "in.pgm", "shared.png")[0] == 0
    asked.clear()
    code, _, said = run("apply", "shared.png", "in.pgm", "out.pgm")
    assert (code, said.count("\n"), "--fetch-masks" in said) == (2, 1, True), said
    shown = f"fftfilter lowpass --output=keep --region={url} --embed-recipe IN OUT\n"
    assert run("apply", "--show", "shared.png") == (0, shown.encode(), "")
    assert asked == []
    assert run("apply", "--fetch-masks", "shared.png", "in.pgm", "out.png")[0] == 0
    assert np.array_equal(np.asarray(Image.open("out.png")), np.asarray(Image.open("shared.png")))


def test_in_python_the_one_who_calls_says_so(masks):
    url, asked = masks
    fftfilter.save_filter(H.mask_file(url), "r.json")
    with fftfilter.load_filter("r.json", fetch_masks=True) as made:
        assert made.transfer == H.mask_file("mask.png")
    assert len(asked) == 2


@pytest.mark.usefixtures("masks")
@pytest.mark.parametrize("file", ["//host/share/mask.png", "\\\\host\\share\\mask.png", "s3://bucket/mask.png", "-"])
def test_a_share_of_windows_and_standard_input_are_no_masks(run, tmp_path, file):
    (tmp_path / "r.json").write_text(json.dumps({"fftfilter_recipe": 2, "arguments": ["mask", "--mask", file]}))
    code, _, said = run("apply", "r.json", "in.pgm", "out.pgm", stdin=b"P5 1 1 255\n1")
    assert (code, said.count("\n")) == (2, 1), said
    assert ("is no name" if file == "-" else "--fetch-masks") in said


def test_secrets_of_a_mask_are_put_into_no_picture(run, masks, tmp_path):
    url = masks[0].replace("//", "//me:geheim@")
    for own in url, f"{masks[0]}?sig=geheim":
        mask = "--output", "keep", "--region", own
        code, _, said = run("lowpass", *mask, "--embed-recipe", "in.pgm", "out.png")
        assert (code, said.count("\n"), "would show the secrets of http" in said) == (2, 1, True), said
        assert "geheim" not in said
        assert run("lowpass", *mask, "--save-recipe", "r.json", "in.pgm", "out.png")[0] == 0
        assert b"geheim" not in (tmp_path / "out.png").read_bytes()
        assert run("apply", "--fetch-masks", "r.json", "in.pgm", "again.png")[0] == 0  # which needs them
        assert "geheim" not in run("apply", "r.json", "in.pgm", "out.png")[2]
        code, shown, said = run("apply", "--show", "r.json")
        assert (code, b"geheim" in shown, said) == (0, False, "")


NOTCH = "notch --at=0.0005,0.0001 --harmonics=1000"


def of(*arguments):
    return json.dumps({"fftfilter_recipe": 2, "arguments": arguments})


BOMBS = {
    "a million notches": of("lowpass", *[f"--times={NOTCH}"] * 1000),
    "mirrored": of("lowpass", *[f"--times={NOTCH} --mirrored"] * 1000),
    "in one": of("notch", *["--at=0.0005,0.0001"] * 1000, "--harmonics=1000"),
    "parts": of("lowpass", *["--stripes=3"] * 15_000),
    "arguments": of("lowpass", *["--stripes=3"] * 40_000),
    "nested": of("lowpass", f"--times=stripes{' --angle=3' * 40_000}"),
    "brackets": "[" * 500_000,
    "braces": '{"a":' * 200_000,
    "closed": "[" * 200_000 + "]" * 200_000,
    "within": '{"fftfilter_recipe": 2, "arguments": ' + "[" * 900 + "]" * 900 + "}",
    "a value": '{"fftfilter_recipe": 2, "arguments": [], "region": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.mark.usefixtures("masks")
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_recipe_that_would_take_for_ever_is_refused_in_a_line(run, tmp_path, bomb):
    (tmp_path / "r.json").write_text(BOMBS[bomb])
    for arguments in ("r.json", "in.pgm", "out.pgm"), ("--show", "r.json"):
        code, out, said = run("apply", *arguments)
        assert (code, out, said.count("\n"), "internal" in said) == (2, b"", 1, False), said[:300]
    assert not (tmp_path / "out.pgm").exists()


@pytest.mark.usefixtures("masks")
def test_as_many_notches_as_a_print_has_are_taken(run, tmp_path):
    """Harmonics beyond the highest frequency do not count."""
    many = [f"--times=notch --at=0.1,{0.001 * (i % 400)} --harmonics=1000" for i in range(1000)]
    (tmp_path / "r.json").write_text(of("lowpass", *many))
    assert run("apply", "r.json", "in.pgm", "out.pgm")[0] == 0
