"""Marks: where cutoffs lie, in cycles per pixel, and their names in the unit in which they were given."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview import page
from fftfilter.preview.page import ticks, title_of
from fftfilter.preview.panels import AFTER, BEFORE, QUIET, Canvas, length
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
        (H.lowpass("50lpi").with_pixel_size("300dpi"), "lines per inch", {"10": 1 / 30, "100": 1 / 3}),
        (H.lowpass("50lp/mm").with_pixel_size("5um"), "line pairs per mm", {"10": 0.05, "100": 0.5}),
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


# A diagram of 600 x 166 pixels: 44 and 40 for the labels on its left and below it, 26 for the title above it.
CORNERS = (0, 0, 643, 231)
LEFT, TOP, RIGHT, BOTTOM = 44, 26, 643, 191


class Noted(Canvas):
    """A canvas that notes where texts are, and their anchors."""

    def __init__(self):
        super().__init__(660, 240)
        self.texts = {}

    def text(self, x, y, text, size=13, color=QUIET, anchor="ls", **more):
        self.texts[text] = x, y, anchor
        super().text(x, y, text, size, color, anchor, **more)

    def is_of(self, color):
        """Return which pixels have about a color."""
        return np.abs(np.asarray(self.image).astype(int) - color).max(axis=2) < 40

    def height_of(self, color, frequency, size=64):
        """Return how high the curve of a color is in the column of a frequency: 0 at the bottom, 1 at the top."""
        lowest, highest = 0.7 / size, 0.5**0.5
        x = LEFT + (RIGHT - LEFT) * np.log(frequency / lowest) / np.log(highest / lowest)
        rows = np.flatnonzero(self.is_of(color)[TOP:BOTTOM, round(x)])
        assert rows.size, "no curve"
        return 1 - rows.mean() / (BOTTOM - TOP)


@pytest.fixture
def impulse():
    """A pixel of light, with the same power at every frequency."""
    planes = np.zeros((1, 64, 64))
    planes[0, 32, 32] = 30
    return planes


def test_gains_are_a_curve_over_the_frequency(impulse):
    canvas = Noted()
    page._gains(canvas, CORNERS, FilterReport(impulse, 1, H.lowpass("8px", shape="gaussian")))
    for frequency, gain in ((0.03, 2**-0.0576), (0.1, 2**-0.64), (0.2, 2**-2.56)):
        assert canvas.height_of(BEFORE, frequency) == pytest.approx((gain + 0.06) / 1.12, abs=0.02)
    heights = {level: (BOTTOM - canvas.texts[level][1]) / (BOTTOM - TOP) for level in ("0", "0.25", "1")}
    assert heights == pytest.approx({"0": 0.06 / 1.12, "0.25": 0.31 / 1.12, "1": 1.06 / 1.12})
    assert {"gain H(f)", "period in pixels"} < canvas.texts.keys()
    assert "least to largest" not in canvas.texts


@pytest.mark.parametrize(("width", "labels"), [(200, ["50", "20", "10", "5", "2"]), (120, ["50", "10", "2"])])
def test_labels_of_frequencies_are_apart(impulse, width, labels):
    canvas = Noted()
    page._gains(canvas, (0, 0, width, 231), FilterReport(impulse, 1, H.lowpass("8px")))
    assert [text for text in canvas.texts if text in ("50", "20", "10", "5", "2")] == labels


def test_gains_that_depend_on_the_direction_are_an_area_around_their_mean(impulse):
    canvas = Noted()
    down, along = np.abs(np.fft.fftfreq(64))[:, None], np.abs(np.fft.fftfreq(64))
    page._gains(canvas, CORNERS, FilterReport(impulse, 1, H.mask(np.where(down > along, 0.25, 0.75))))
    area = np.flatnonzero((np.abs(np.asarray(canvas.image)[TOP:BOTTOM, 500].astype(int) - (209, 222, 238)) < 8).all(1))
    ends = [(BOTTOM - TOP) * (1 - (gain + 0.06) / 1.12) for gain in (0.75, 0.25)]
    assert (area.min(), area.max()) == pytest.approx(ends, abs=2)
    assert canvas.height_of(BEFORE, 0.2) == pytest.approx(0.56 / 1.12, abs=0.05)
    assert "least to largest" in canvas.texts


def test_power_is_a_curve_before_and_one_after_in_decibels(impulse):
    canvas = Noted()
    report = FilterReport(impulse, 1, H.lowpass("8px", shape="gaussian"))
    page._power(canvas, CORNERS, report)
    power = 10 * np.log10(report.rings.before[-1])
    assert -3 < power < 17
    # Of the 100 dB at most that are shown, 20 is the highest. The gains are 2**-0.64 and 2**-2.56.
    for frequency, decibels in ((0.1, -3.85), (0.2, -15.41)):
        assert canvas.height_of(BEFORE, frequency) == pytest.approx((power + 80) / 100, abs=0.02)
        assert canvas.height_of(AFTER, frequency) == pytest.approx((power + decibels + 80) / 100, abs=0.02)
    heights = {level: (BOTTOM - canvas.texts[level][1]) / (BOTTOM - TOP) for level in ("-80", "-20", "20")}
    assert heights == pytest.approx({"-80": 0, "-20": 0.6, "20": 1})


def test_an_axis_of_power_ends_below_the_least(impulse):
    canvas = Noted()
    page._power(canvas, CORNERS, FilterReport(impulse, 1, H.mask([[0.1]], any_size=True)))
    assert [level for level in ("-60", "-40", "-20", "0", "20", "40") if level in canvas.texts] == [
        "-40",
        "-20",
        "0",
        "20",
    ]


def test_a_legend_names_the_curves_from_the_right_end_on_with_a_box_each(impulse):
    canvas = Noted()
    page._power(canvas, CORNERS, FilterReport(impulse, 1, H.lowpass("8px")))
    (before, y, _), (after, *_) = canvas.texts["before"], canvas.texts["after"]
    assert after + length("after", 12) == pytest.approx(643, abs=1)
    assert pytest.approx(after - before - length("before", 12), abs=1) == 40
    for x, color in ((before, BEFORE), (after, AFTER)):
        is_box = canvas.is_of(color)[y - 10 : y + 4]
        assert is_box[4:8, x - 24 : x - 5].all()
        assert not is_box[:, [*range(x - 30, x - 24), *range(x - 4, x)]].any()
        assert not is_box[:4, x - 24 : x - 5].any()


def test_cutoffs_are_dashed_lines_with_their_names_outside_of_a_band(impulse):
    canvas = Noted()
    page._gains(canvas, CORNERS, FilterReport(impulse, 1, H.bandpass("16px", "4px", shape="gaussian")))
    lowest, highest = 0.7 / 64, 0.5**0.5
    outer, inner = (LEFT + 599 * np.log(f / lowest) / np.log(highest / lowest) for f in (1 / 4, 1 / 16))
    assert canvas.texts["4px"] == (pytest.approx(outer + 5), BOTTOM - 6, "ls")
    assert canvas.texts["16px"] == (pytest.approx(inner - 5), BOTTOM - 6, "rs")
    for x in (outer, inner):
        dark = np.asarray(canvas.image)[TOP + 60 : BOTTOM - 40, round(x) - 1 : round(x) + 2, 1].min(axis=1) < 180
        assert 0.3 < dark.mean() < 0.7


def test_the_name_of_a_cutoff_at_the_right_end_is_on_its_left(impulse):
    canvas = Noted()
    page._gains(canvas, CORNERS, FilterReport(impulse, 1, H.lowpass("0.65cyc")))
    assert canvas.texts["0.65cyc"][2] == "rs"
