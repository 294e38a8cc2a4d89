"""Cutoffs over a spectrum: what part of it they lie in, and where they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview import panels
from fftfilter.preview.panels import Canvas
from fftfilter.preview.report import FilterReport


def report(transfer, size=(64, 64)):
    return FilterReport(np.zeros((1, *size), np.uint8), 255, transfer)


@pytest.mark.parametrize(
    ("transfer", "size", "span"),
    [
        (H.lowpass("0.1cyc"), (1000, 1000), 0.28),
        (H.lowpass(1), (1000, 1000), 0.032),
        (H.lowpass("0.4cyc"), (1000, 1000), 0.25),
        (H.mask([[1.0]], any_size=True), (1000, 1000), 0.25),
        (H.notch((0.06, 0.08), width="0.01cyc"), (1000, 1000), 2.8 * 0.11),
        (H.stripes(33), (1000, 1000), 0.25),
    ],
    ids=str,
)
def test_a_part_is_as_wide_as_the_cutoffs_need(transfer, size, span):
    assert panels.cutoff_span(report(transfer, size)) == pytest.approx(span)


@pytest.mark.parametrize(("span", "radius"), [(1.0, 25), (0.5, 50)])
def test_a_cutoff_is_a_ring_of_its_radius(span, radius):
    canvas = Canvas(101, 101, (0, 0, 0))
    panels.draw_cutoffs(canvas, (0, 0, 100, 100), report(H.lowpass("0.25cyc")), span)
    yellow = np.argwhere(np.asarray(canvas.image)[:, :, 0] > 100) - 50
    on_ring = np.abs(np.hypot(*yellow.T) - radius * 1.01) < 1.5
    is_label = (yellow[:, 0] < 0) & (yellow[:, 1] > 0)
    assert (on_ring | is_label).all()
    assert on_ring.sum() > 100


@pytest.mark.parametrize(("width", "radius"), [("0.05cyc", 6), ("0.01cyc", 5)])
def test_a_notch_and_its_conjugate_have_a_ring_each(width, radius):
    canvas = Canvas(100, 100, (0, 0, 0))
    panels.draw_cutoffs(canvas, (0, 0, 99, 99), report(H.notch((0.2, -0.1), width=width)), 1.0)
    bright = np.asarray(canvas.image)[:, :, 0] > 100
    for x, y in ((70, 40), (30, 60)):
        assert bright[y - 7 : y + 8, x - 7 : x + 8].sum() > 20
        assert not bright[y - 2 : y + 3, x - 2 : x + 3].any()
        down, left = np.nonzero(bright[y - 8 : y + 9, x - 8 : x + 1])  # its label is on the right
        assert np.hypot(down - 8, left - 8).mean() == pytest.approx(radius, abs=0.8)


@pytest.fixture
def texts(monkeypatch):
    """The texts that are written, with x, y and the anchor."""
    written = {}
    monkeypatch.setattr(Canvas, "text", lambda _, x, y, text, *more, **__: written.update({text: (x, y, more[2])}))
    return written


def test_the_name_of_an_outer_cutoff_is_right_above_it_and_of_an_inner_one_left_below(texts):
    panels.draw_cutoffs(Canvas(100, 100), (0, 0, 99, 99), report(H.bandpass("10px", "4px")), 1.0)
    outer, inner = 25 / 2**0.5 + 5, 10 / 2**0.5 + 5
    assert texts["4px"] == (pytest.approx(50.5 + outer, abs=0.1), pytest.approx(50.5 - outer, abs=0.1), "lb")
    assert texts["10px"] == (pytest.approx(50.5 - inner, abs=0.1), pytest.approx(50.5 + inner, abs=0.1), "rt")


def test_the_name_of_a_cutoff_at_the_border_stays_in_the_panel(texts):
    panels.draw_cutoffs(Canvas(200, 200), (0, 0, 199, 199), report(H.lowpass("0.6cyc")), 1.0)
    x, y, _ = texts["0.6cyc"]
    assert (x, y) == pytest.approx((100.5 + 65.8, 100.5 - 65.8), abs=0.1)


def test_the_name_of_a_peak_is_beside_it_where_there_is_room(texts):
    notches = H.notch((0.1, 0.3), width="0.06cyc") * H.notch((0.3, 0.1), width="0.01cyc")
    panels.draw_cutoffs(Canvas(100, 100), (0, 0, 99, 99), report(notches), 1.0)
    assert texts == {
        "0.1,0.3": (pytest.approx(50.5 + 10 + 6 + 6), pytest.approx(80.5), "lm"),
        "0.3,0.1": (pytest.approx(50.5 + 30 - 4 - 6), pytest.approx(60.5), "rm"),
    }


@pytest.mark.parametrize(("count", "named"), [(4, 4), (5, 0)])
def test_many_peaks_have_no_names(texts, count, named):
    many = H.Transfer(tuple(part for i in range(count) for part in H.notch((0.1 * i, 0.3)).parts))
    panels.draw_cutoffs(Canvas(100, 100), (0, 0, 99, 99), report(many), 1.0)
    assert len(texts) == named


def test_peaks_and_cutoffs_beyond_the_part_that_is_shown_are_left_out(texts):
    canvas = Canvas(100, 100, (0, 0, 0))
    beyond = H.notch((0.3, 0.1)) * H.notch((0.1, 0.3)) * H.lowpass("0.5cyc")
    panels.draw_cutoffs(canvas, (0, 0, 99, 99), report(beyond), 0.5)
    assert not np.asarray(canvas.image).any()
    assert texts == {}
    panels.draw_cutoffs(canvas, (0, 0, 99, 99), report(H.notch((0.2, 0.1)) * H.lowpass("0.3cyc")), 0.5)
    assert texts.keys() == {"0.2,0.1", "0.3cyc"}


def test_stripes_are_a_line_each_way_from_what_they_spare_on(texts):
    canvas = Canvas(101, 101, (0, 0, 0))
    panels.draw_cutoffs(canvas, (0, 0, 100, 100), report(H.stripes(0, spare="10px")), 1.0)
    rows, columns = np.nonzero(np.asarray(canvas.image)[..., 0] > 128)
    assert set(columns.tolist()) <= {49, 50, 51}
    assert {*rows.tolist()} - {40, 60} == {*range(40), *range(61, 101)}
    ((label, (x, y, anchor)),) = texts.items()
    assert (x, abs(y - 50.5), anchor) == (pytest.approx(58.5), pytest.approx(40.4), "lm")
    assert "0" in label
