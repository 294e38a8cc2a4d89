"""What a kind of filter has by default: a part with a name, a field and its gains alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.transfer import Transfer, highpass
from fftfilter.transfer.part import Part
from fftfilter.transfer.reference import filtered
from fftfilter.transfer.ridges import FittedStripes
from fftfilter.transfer.shapes import SHAPES
from fftfilter.transfer.units import Radius
from tests.helpers import COMMAND


@dataclass(frozen=True, repr=False)
class Faded(Part):
    """Gains that fall along the rows."""

    width: Radius
    order: int = 1
    colors: tuple[int, ...] | None = None

    kind = "faded"

    def gain(self, height, width, rows=slice(None), columns=slice(None)):
        steps = np.abs(np.fft.fftfreq(width)) * min(height, width) / self.width.bins(height, width)
        return np.exp2(-self.order * steps)[columns] * np.ones((height, 1))[rows]

    def __str__(self):
        return f"faded by {self.width}"


def slanted(gains):
    """Gains of a slanted line, which of the highest frequencies of even sides has one sign alone."""
    height, width = gains.shape
    fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
    return 1 - np.exp2(-(((fx + 2 * fy) / 0.1) ** 2))


def changed(row, column, value):
    def change(gains):
        made = gains.copy()
        made[row, column] = value
        return made

    return change


BROKEN = {
    "not even at the highest frequency": (slanted, {}, "not even, H"),
    "not even": (changed(1, 2, 0.5), {}, "not even, H"),
    "not even where rows are odd": (lambda gains: gains if len(gains) % 2 == 0 else changed(1, 2, 0)(gains), {}, "not"),
    "not even along axes": (
        lambda gains: changed(1, 2, 0)(changed(-1, -2, 0)(gains)),
        {"is_even_along_axes": True},
        "not even along each axis",
    ),
    "a shape": (lambda gains: gains[1:], {}, r"of shape \(15, 18\)"),
    "turned": (lambda gains: gains.T, {}, r"of shape \(18, 16\)"),
    "complex": (lambda gains: gains * 1j, {}, ".* and type complex128: return real gains"),
    "whole numbers": (lambda gains: gains.astype(int), {}, ".* and type int64: return real gains"),
    "NaN": (changed(3, 4, np.nan), {}, "from nan to nan: return finite ones"),
    "infinite": (changed(0, 0, np.inf), {}, "from 0.* to inf: return finite ones"),
    "larger": (lambda gains: 2 * gains, {}, "from 0.* to 2: return finite ones, or set largest to a bound"),
    "uneven, and NaN": (changed(3, 4, np.nan), {"is_even": False}, "from nan to nan"),
}


@pytest.mark.parametrize("engine", [None, "book"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_part_that_breaks_its_promise_is_refused_before_anything_is_filtered(name, engine):
    change, promises, said = BROKEN[name]

    class Broken(Faded):
        def gain(self, height, width, rows=slice(None), columns=slice(None)):
            return change(super().gain(height, width))[rows, columns]

    for each, value in promises.items():
        setattr(Broken, each, value)
    part = Broken(Radius.parse("8px", "width"))
    for transfer in (Transfer((part,)), Transfer((part,) + (faded(),) * 20)):
        with pytest.raises(ParameterError, match=f"^faded: on a grid of 1[87] x 1[65] its gains are {said}"):
            Filter(transfer, engine=engine, **COMMAND)
    with Filter(highpass(2), engine=engine, **COMMAND) as f, pytest.raises(ParameterError, match=r"^faded: on a grid"):
        f.retune(Transfer((part,)))


def test_a_part_whose_first_rows_and_columns_are_others_is_refused():
    class Whole(Faded):
        def gain(self, height, width, *_):
            return super().gain(height, width)

    with pytest.raises(ParameterError, match="others where the first rows and columns are asked for"):
        Filter(Transfer((Whole(Radius.parse("8px", "width")),)), **COMMAND)


def test_uneven_gains_that_are_said_to_be_are_filtered(rng):
    class Uneven(Faded):
        is_even = False

        def gain(self, height, width, rows=slice(None), columns=slice(None)):
            return slanted(np.ones((height, width)))[rows, columns]

    image, transfer = rng.random((12, 10)), Transfer((Uneven(Radius.parse("8px", "width")),))
    wanted = filtered(image, transfer.gain(12, 10)).real
    np.testing.assert_allclose(Filter(transfer, output="real", edges="wrap")(image), wanted, atol=1e-6)


@pytest.mark.parametrize(
    "transfer",
    [
        *(H.lowpass(each, shape=shape) for each in ("1px", "8px", "0.5cyc", "150%", 1e-4) for shape in SHAPES),
        *(H.bandstop("20px", "3px", shape=shape) for shape in SHAPES),
        *(H.notch(at, width=width, harmonics=9, mirrored=mirrored, shape=shape)
          for at in ((0.5, 0.5), (0.5, 0.1), (0.3, -0.21), (0, 0.01)) for width in ("0.006cyc", "0.2cyc")
          for mirrored in (False, True) for shape in SHAPES),
        *(H.stripes(angle, width=width) for angle in (0, 90, 45, 33, -170.5) for width in (None, "0.01cyc", "0.3cyc")),
        H.stripes("auto"), H.wiener(), H.descreen(), H.imagej(), H.imagej(5, 4.9),
        *(Transfer((FittedStripes(angle, 40, (0.1, 1.0, 0.5), 3.0),)) for angle in (0, 90, 180, 33, -12.5)),
        H.mask(np.eye(5)), H.mask(np.eye(5), any_size=True), H.mask(np.full((4, 4), 3)),
    ],
    ids=str,
)  # fmt: skip
def test_every_kind_keeps_its_promise(transfer):
    for part in transfer.parts:
        part.check()


def faded(width="8px", **options):
    return Faded(Radius.parse(width, "width"), **options)


def test_a_part_is_even_and_of_no_single_direction():
    part = faded()
    assert (part.largest, part.is_even, part.is_even_along_axes, part.has_direction) == (1.0, True, False, True)
    assert (part.channels, part.radial, part.unit) == (None, None, None)
    assert part.caution(12, 10) is None
    assert list(part.marks(12, 10)) == []
    assert part.for_size(12, 10) is part


def test_what_it_was_made_of_is_its_fields():
    assert faded("2.50um", order=3, colors=(0, 2)).given() == {
        "kind": "faded",
        "width": "2.5um",
        "order": 3,
        "colors": [0, 2],
    }
    assert faded(order=0).given() == {"kind": "faded", "width": "8px", "order": 0}
    assert repr(faded()) == "H.faded('8px')"
    assert repr(faded(3, order=2)) == "H.faded(3, order=2)"


def test_it_multiplies_with_others_on_part_of_the_grid_too():
    product = highpass(2) * Transfer((faded(),))
    np.testing.assert_array_equal(product.gain(9, 8), highpass(2).gain(9, 8) * faded().gain(9, 8))
    np.testing.assert_array_equal(product.gain(9, 8, 3, 5), product.gain(9, 8)[:3, :5])


def test_its_radii_know_the_size_of_a_pixel():
    lacking = Transfer((faded("2um"),))
    with pytest.raises(ParameterError, match="2um needs the size of a pixel"):
        lacking.gain(6, 8)
    np.testing.assert_allclose(lacking.with_pixel_size("0.5um").gain(6, 8), faded("4px").gain(6, 8))


def test_reduced_it_has_the_same_gains_at_the_same_frequencies():
    whole, half = Transfer((faded(5),)), Transfer((faded(5),)).in_cycles(32, 48, 2)
    np.testing.assert_allclose(half.gain(16, 24)[:, :12], whole.gain(32, 48)[:16, :12])
