"""Marks: where cutoffs lie, in cycles per pixel, and their names in the unit in which they were given."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview import page
from fftfilter.preview.drawing import Canvas
from fftfilter.preview.page import ticks, title_of
from fftfilter.preview.report import FilterReport
from fftfilter.transfer.part import Ridge, Ring

SIZE = (256, 512)


@pytest.mark.parametrize(
    ("transfer", "wanted"),
    [
        (H.lowpass(), [Ring(0.125, "n/8 = 32")]),
        (H.bandstop("8px", "4px"), [Ring(0.25, "4px"), Ring(0.125, "8px")]),
        (H.highpass("75lpi").with_pixel_size("300dpi"), [Ring(0.25, "75lpi")]),
        (H.notch((0.2, -0.1), width="0.01cyc"), [Ring(0.01, "0.2,-0.1", s * 0.2, s * -0.1) for s in (1, -1)]),
        (H.imagej(40, 8), [Ring(1 / 8, "8px"), Ring(1 / 40, "40px")]),
        (H.mask([[1.0]], any_size=True), []),
    ],
    ids=str,
)
def test_cutoffs_lie_where_their_radius_is(transfer, wanted):
    found = list(transfer.marks(*SIZE))
    assert [each.label for each in found] == [each.label for each in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert (one.radius, one.fx, one.fy) == pytest.approx((other.radius, other.fx, other.fy))


def test_stripes_leave_a_line_across_them():
    (ridge,) = H.stripes(0, spare="50px").marks(*SIZE)
    assert isinstance(ridge, Ridge)
    assert (ridge.fx, abs(ridge.fy), ridge.spare) == pytest.approx((0, 1, 0.02))


def test_stripes_that_rise_to_the_right_leave_a_line_that_falls():
    # Wide stripes at 30 degrees: their frequencies go to the right and down, as y is counted.
    (ridge,) = H.stripes(30).marks(*SIZE)
    along = np.cos(np.radians(30)), -np.sin(np.radians(30))
    assert ridge.fx * along[0] + ridge.fy * along[1] == pytest.approx(0)


@pytest.mark.parametrize(
    ("transfer", "title", "wanted"),
    [
        (H.lowpass(40), "cycles across the shorter side", {"10": 10 / 256, "50": 50 / 256}),
        (H.lowpass("8px"), "period in pixels", {"10": 0.1, "5": 0.2}),
        (H.notch((0.1, 0.1)), "cycles per pixel", {"0.05": 0.05, "0.2": 0.2}),
        (H.lowpass("25%"), "% of the Nyquist frequency", {"50": 0.25}),
        (H.lowpass("2um").with_pixel_size("0.5um"), "period in um", {"5": 0.1}),
    ],
    ids=str,
)
def test_axes_have_round_numbers_of_the_unit(transfer, title, wanted):
    unit = transfer.unit
    assert title_of(unit) == title
    found = {label: frequency for frequency, label in ticks(unit, SIZE, 0.03, 0.5)}
    assert {label: found[label] for label in wanted} == pytest.approx(wanted)
    assert all(0.03 <= frequency <= 0.5 for frequency in found.values())


@pytest.mark.parametrize(("gain", "least"), [(0.5, 0), (2, 0), (-1, -1)])
def test_the_axis_of_gains_has_all_of_them(monkeypatch, gain, least):
    drawn = []
    monkeypatch.setattr(page, "_diagram", lambda *given: drawn.append(given[4:6]))
    report = FilterReport(np.zeros((1, 12, 10), np.uint8), 255, H.mask(np.full((12, 10), gain)))
    page._gains(Canvas(9, 9), (0, 0, 9, 9), report)
    most = max(gain, 1)
    (ends, levels), room = drawn[0], 0.06 * (most - least)
    assert ends == pytest.approx((least - room, most + room))
    np.testing.assert_allclose(levels, np.linspace(least, most, 5))
