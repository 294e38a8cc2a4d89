"""Cutoffs over a spectrum: what part of it they lie in, and where they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview import panels
from fftfilter.preview.drawing import Canvas
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


def test_a_notch_and_its_conjugate_have_a_ring_each():
    canvas = Canvas(100, 100, (0, 0, 0))
    panels.draw_cutoffs(canvas, (0, 0, 99, 99), report(H.notch((0.2, -0.1), width="0.05cyc")), 1.0)
    bright = np.asarray(canvas.image)[:, :, 0] > 100
    for x, y in ((70, 40), (30, 60)):
        assert bright[y - 7 : y + 8, x - 7 : x + 8].sum() > 20
        assert not bright[y - 2 : y + 3, x - 2 : x + 3].any()
