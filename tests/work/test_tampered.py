"""``--verify`` finds a factor of 1.001, and all black, in any kind of output, type, mode and scale; right ones pass."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile

from fftfilter import images
from fftfilter import transfer as H
from fftfilter.errors import VerifyError
from fftfilter.output.modes import Auto, Range
from fftfilter.region import region_of
from fftfilter.transfer.reference import filtered
from fftfilter.work import verify
from fftfilter.work.opened import open_input
from fftfilter.work.output_file import make_output
from fftfilter.work.recipe import METHODS, Recipe
from tests.helpers import SAMPLES

FACTOR = 1.001
SIZE = (96, 120)
# By type what white is, or, of values that have none, a size that files in use have.
TYPES = {
    "uint8": 255,
    "uint16": 4000,
    "int16": 30000,
    "float16": 1,
    "float32": 1e-6,
    "float64": 65535,
}


def picture(dtype, largest):
    """Return a part of a photograph with a wave and stripes."""
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    gray = images.read(SAMPLES / "camera.pgm").planes[0, : SIZE[0], : SIZE[1]] / 255
    part = 0.1 + 0.7 * gray + 0.1 * np.cos(2 * np.pi * (0.2 * x + 0.1 * y)) + 0.02 * np.cos(2 * np.pi * 0.31 * y)
    values = part * largest if np.dtype(dtype).kind != "i" else (part - 0.5) * 2 * largest
    return values.astype(dtype) if np.dtype(dtype).kind == "f" else np.rint(values).astype(dtype)


def gains():
    rng = np.random.default_rng(4)
    even = rng.uniform(-1, 2, (7, 9))
    return H.mask((even + np.roll(even[::-1, ::-1], (1, 1), (0, 1))) / 2, any_size=True)


KINDS = {
    "lowpass": H.lowpass("8px"),
    "highpass": H.highpass("8px", shape="butterworth"),
    "notch": H.notch((0.2, 0.1)),
    "stripes": H.stripes(0),
    "stripes of a width": H.stripes(0, width="0.01cyc"),
    "wiener": H.wiener(),
    "mask": gains(),
}


def recipes(given, largest):
    """Return every kind with every output, and scales that are wider and narrower than the picture's own."""
    for name, kind in KINDS.items():
        yield f"{name} keep", Recipe(kind, output="keep")
        yield f"{name} real", Recipe(kind, output="real", options={"edges": "mirror"})
    for name in ("lowpass", "highpass", "mask"):
        middle = np.median(np.abs(filtered(given, KINDS[name].gain(*SIZE))))
        yield f"{name} magnitude", Recipe(KINDS[name])
        yield f"{name} signed", Recipe(KINDS[name], output="signed")
        for part in (0.5, 0.2, 0.05):
            low, high = max(0, middle - part / 2 * largest), middle + part / 2 * largest
            yield f"{name} to {part}", Recipe(KINDS[name], scale=Range(low, high))
            yield f"{name} of {part}", Recipe(KINDS[name], output="signed", scale=Range(-high, high))
        yield f"{name} auto", Recipe(KINDS[name], scale=Auto(5.0))
    yield "region", Recipe(KINDS["lowpass"], output="keep", region=region_of((20, 10, 80, 60), None, 4))
    yield "descreen", Recipe(H.descreen(), "descreen", output="keep")
    for autoscale in (True, False):
        usual = {**METHODS["imagej"].usual, "autoscale": autoscale}
        yield f"imagej {autoscale}", Recipe(H.imagej(40, 3), "imagej", usual, output="keep")


def tampered(pixels, rng):
    """Return samples times a factor: integers as if the values before rounding had it."""
    most = np.inf if pixels.dtype.kind == "f" else np.iinfo(pixels.dtype).max
    wide = pixels * np.float64(FACTOR)
    wide += np.sign(wide) * (pixels.dtype.kind != "f") * rng.random(pixels.shape)
    return np.trunc(wide.clip(-most - 1, most)).astype(pixels.dtype) if pixels.dtype.kind != "f" else wide


@pytest.mark.parametrize(("dtype", "largest"), TYPES.items())
def test_a_factor_of_a_thousandth_is_told_in_every_kind_of_output(tmp_path, dtype, largest, rng):
    given = picture(dtype, largest)
    tifffile.imwrite(tmp_path / "in.tif", given, photometric="minisblack")
    target, wrong = str(tmp_path / "out.tif"), []
    for name, recipe in recipes(given, largest):
        opened = open_input(tmp_path / "in.tif", recipe)
        with recipe.open_filter(opened.transfer) as filter_:
            make_output(opened, target, filter_)
        right = tifffile.imread(target)
        for what, pixels, is_right in (
            ("right", right, True),
            ("a factor", tampered(right, rng).astype(right.dtype), False),
            ("all black", np.zeros_like(right), False),
        ):
            tifffile.imwrite(target, pixels, photometric="minisblack")
            found = verify.of_earlier(open_input(tmp_path / "in.tif", recipe), target)
            try:
                verify.check(found, target)
                is_told = False
            except VerifyError:
                is_told = True
            if is_told == is_right:
                wrong.append(f"{name}, {what}: {found}; {found.right}")
    assert wrong == []
