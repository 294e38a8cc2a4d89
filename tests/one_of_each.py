"""Uses of a mode ``negative`` and of a kind ``checker``, for the copy of the package that has them.

``tests/test_one_of_each.py`` makes that copy, and runs :func:`main` in its folder.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from PIL import Image

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.transfer import reference

IMAGE = np.random.default_rng(7).integers(0, 256, (8, 64), dtype=np.uint8)


def run(*words):
    """Run a command line; return what it says."""
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, (words, result.output)
    return result.output


def pixels(name):
    return np.asarray(Image.open(name))


def negative(transfer):
    """Return what the formula gives: white less the magnitude, truncated."""
    values = np.abs(reference.filtered(IMAGE, transfer.gain(*IMAGE.shape)).real)
    return np.floor(255 - 255 * values / values.max() + 1 / 2048)


def assert_alike(got, wanted):
    assert np.abs(got.astype(int) - wanted).max() <= 1
    assert (got != wanted).sum() <= 1


def files():
    """Single files by their commands."""
    assert "negative (0 white)" in run("checker", "-h")
    run("checker", "--side", "5px", "--output", "negative", "--verify", "--preview", "page.png", "in.png", "a.png")
    assert_alike(pixels("a.png"), negative(H.checker("5px")))
    assert pixels("page.png").ndim == 3
    run(
        "lowpass",
        "--radius",
        "3",
        "--checker",
        "5px",
        "--checker",
        "4px",
        "--output",
        "keep",
        "--verify",
        "in.png",
        "b.png",
    )
    both = H.lowpass(3) * H.checker("5px") * H.checker("4px")
    with Filter(both, output="keep", edges="wrap") as filter_:
        np.testing.assert_array_equal(pixels("b.png"), filter_(IMAGE))
    for scale in ("auto", "0:40"):
        run("highpass", "--output", "negative", "--scale", scale, "--edges", "mirror", "--verify", "in.png", "c.png")


def folders():
    """A folder, with one range for all files."""
    given = ("--checker", "5px", "--output", "negative", "--scale", "folder", "--verify", "2", "--processes", "1")
    run("highpass", *given, "pictures", "out")
    with Filter(H.highpass() * H.checker("5px"), output="negative", edges="wrap") as filter_:
        np.testing.assert_array_equal(pixels("out/one.png"), filter_(IMAGE))


def python():
    """Filters of the public interface, by all engines."""
    transfer = H.highpass(2) * H.checker("5px")
    assert repr(transfer) == "H.highpass(2) * H.checker('5px')"
    assert transfer.given()["parts"][1] == {"kind": "checker", "side": "5px"}
    for engine in ("fused", "book", "numpy"):
        with Filter(transfer, output="negative", engine=engine, edges="wrap") as filter_:
            assert_alike(filter_(IMAGE), negative(transfer))
        with Filter(transfer, output="negative", scale=(0, 255), engine=engine, edges="wrap") as filter_:
            assert filter_(np.full_like(IMAGE, 9)).min() == 255


def page():
    """The page's server answers a request, and saves it."""
    from tests.explore.conftest import request_for, visiting

    wanted = request_for("checker", side="5px", output="negative")

    async def visit():
        async with visiting("in.png", "saved.png", "checker --side 4px") as visitor:
            _, about = await visitor.get("picture")
            assert "checker" in about["commands"]
            assert "negative" in about["outputs"]
            words, result, gains = await visitor.answer(wanted)
            assert words["command"] == "fftfilter checker --side 5px --output negative in.png saved.png"
            assert set(np.unique(gains)) == {0, 255}
            np.testing.assert_array_equal(result, pixels("a.png"))
            status, _ = await visitor.save(wanted, "saved.png")
            assert status == 200
            np.testing.assert_array_equal(pixels("saved.png"), result)

    asyncio.run(visit())


def main():
    """Do all, and say what was done."""
    Image.fromarray(IMAGE).save("in.png")
    Path("pictures").mkdir()
    for name in ("one", "two"):
        Image.fromarray(IMAGE).save(f"pictures/{name}.png")
    for use in (files, folders, python, page):
        use()
        sys.stdout.write(f"{use.__name__}\n")
