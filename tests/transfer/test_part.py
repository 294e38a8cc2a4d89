"""What a kind of filter has by default: a part with a name, a field and its gains alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from fftfilter.errors import ParameterError
from fftfilter.transfer import Transfer, highpass
from fftfilter.transfer.part import Part
from fftfilter.transfer.units import Radius


@dataclass(frozen=True, repr=False)
class Faded(Part):
    """Gains that fall along the rows."""

    width: Radius
    order: int = 1
    colors: tuple[int, ...] | None = None

    kind = "faded"

    def gain(self, height, width, rows=None, columns=None):
        steps = np.abs(np.fft.fftfreq(width)) * min(height, width) / self.width.bins(height, width)
        return np.exp2(-self.order * steps)[:columns] * np.ones((height, 1))[:rows]

    def __str__(self):
        return f"faded by {self.width}"


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
