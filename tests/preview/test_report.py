"""What a filter does with a picture, beside NumPy's transforms."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview.report import FilterReport, about_filter

SIZES = [(1, 1), (1, 7), (9, 1), (32, 45), (48, 32)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("transfer", [H.lowpass(5), H.notch((0.2, 0.1)), H.Transfer(())], ids=str)
def test_what_is_removed_is_what_does_not_pass(rng, size, transfer):
    planes = rng.integers(0, 256, (2, *size)).astype(np.uint8)
    report = FilterReport(planes, 255, transfer)
    spectra = np.fft.fft2(planes) * (1 - transfer.gain(*size))
    spectra[:, 0, 0] = 0
    np.testing.assert_allclose(report.removed, np.fft.ifft2(spectra).real, atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_floats_of_any_size_are_looked_at(rng):
    planes = rng.normal(size=(1, 32, 45)).astype(np.float32)
    small, large = (FilterReport(planes * np.float32(unit), unit, H.lowpass(5)) for unit in (1, 1e37))
    np.testing.assert_allclose(large.removed / large.white, small.removed, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(large.power, small.power, rtol=1e-4, atol=1e-9)
    assert large.share == pytest.approx(small.share)


@pytest.mark.parametrize("size", [(32, 45), (33, 48)], ids=str)
def test_the_share_counts_conjugates_once_each(rng, size):
    report = FilterReport(rng.random((1, *size)), 1, H.mask(np.full((1, 1), 0.5), any_size=True))
    assert report.share == pytest.approx(0.25)
    assert FilterReport(rng.random((1, *size)), 1, H.Transfer(())).share == 0
    assert FilterReport(np.full((1, *size), 7, np.uint8), 255, H.lowpass(3)).share == 0


def test_the_highest_and_the_lowest_columns_of_the_half_spectrum_are_their_own_conjugates():
    y, x = np.mgrid[:32, :48]
    kept = np.cos(2 * np.pi * 0.125 * x)
    for lost, share in ((np.cos(np.pi * x), 2 / 3), (np.cos(2 * np.pi * 0.375 * y), 1 / 2)):
        report = FilterReport((kept + lost)[None], 1, H.lowpass("0.25cyc"))
        assert report.share == pytest.approx(share, abs=1e-3)


def test_rings_have_the_gains_and_the_power_of_their_frequencies(rng):
    report = FilterReport(rng.normal(size=(1, 128, 128)), 1, H.lowpass(16, shape="gaussian"))
    rings = report.rings
    wanted = np.exp2(-((rings.frequency * 128 / 16) ** 2))
    np.testing.assert_allclose(rings.mean, wanted, atol=0.01)
    assert (rings.least <= rings.mean + 1e-9).all()
    assert (rings.mean <= rings.most + 1e-9).all()
    high = rings.frequency > 0.2
    assert np.median(rings.before[high]) == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(rings.after, rings.before * wanted**2, atol=0.2)


def test_of_a_mask_with_other_gains_for_conjugates_the_mean_is_looked_at(rng):
    gains = rng.random((6, 8))
    report = FilterReport(rng.random((1, 6, 8)), 1, H.mask(gains))
    mirrored = np.roll(gains[::-1, ::-1], (1, 1), (0, 1))
    np.testing.assert_allclose(report.gain, ((gains + mirrored) / 2)[:, :5])


@pytest.mark.parametrize("size", [(32, 45), (9, 1)], ids=str)
def test_mirrored_edges_are_those_of_the_picture_with_its_mirror_images(rng, size):
    planes = rng.random((1, *size))
    height, width = size
    whole = np.pad(planes[0], ((0, height), (0, width)), "symmetric")
    spectrum = np.fft.fft2(whole) * (1 - H.lowpass("4px").gain(2 * height, 2 * width))
    wanted = np.fft.ifft2(spectrum).real[:height, :width]
    np.testing.assert_allclose(FilterReport(planes, 1, H.lowpass("4px"), "mirror").removed[0], wanted, atol=1e-5)


def test_channels_that_are_filtered_differently_count_each_by_itself(rng):
    planes = rng.normal(size=(3, 32, 48))
    red, others = H.mask(np.full((1, 1), 0.5), any_size=True), H.notch((0.25, 0.125), channels=(1, 2))
    report, alone = FilterReport(planes, 1, red * others), [red, red * others, red * others]
    by_itself = [FilterReport(plane[None], 1, each) for plane, each in zip(planes, alone, strict=True)]
    np.testing.assert_allclose(report.removed, np.concatenate([each.removed for each in by_itself]), atol=1e-6)
    powers = [each.power.sum() for each in by_itself]
    assert report.share == pytest.approx(np.average([each.share for each in by_itself], weights=powers), rel=1e-2)
    np.testing.assert_allclose(report.rings.after, np.mean([each.rings.after for each in by_itself], axis=0), rtol=1e-5)
    assert (report.rings.least == np.min([each.rings.least for each in by_itself], axis=0)).all()
    np.testing.assert_allclose(report.gain, np.mean([each.gain for each in by_itself], axis=0))


def test_of_a_part_of_the_colors_that_alone_is_looked_at(rng):
    planes = rng.random((3, 12, 10))
    luma = np.tensordot((0.299, 0.587, 0.114), planes, 1)
    for channels, part in (("luminance", np.stack([luma] * 3)), ("chroma", planes - luma)):
        report = FilterReport(planes, 1, H.lowpass(3), channels=channels)
        wanted = np.fft.ifft2(np.fft.fft2(part) * (1 - H.lowpass(3).gain(12, 10))).real
        np.testing.assert_allclose(report.removed, wanted, atol=1e-5)
        assert 0 < report.share < 1
    gray = FilterReport(planes[:1], 1, H.lowpass(3), channels="chroma")
    assert not gray.removed.any()
    assert gray.share == 0


@pytest.mark.parametrize(
    ("transfer", "more", "line"),
    [
        (H.lowpass("8px"), (None, None), "{lowpass}"),
        (H.lowpass("8px"), (12.0, None), "{lowpass}, depth 12 dB"),
        (H.lowpass("8px"), (0.5, "chroma"), "{lowpass}, depth 0.5 dB, chroma alone"),
        (H.Transfer(()), (None, None), "everything passes"),
        (H.Transfer(()), (None, "luminance", "the peaks of each"), "the peaks of each, luminance alone"),
    ],
    ids=str,
)
def test_a_filter_is_told_in_a_line(transfer, more, line):
    assert about_filter(transfer, *more) == line.format(lowpass=H.lowpass("8px"))


@pytest.mark.parametrize(("count", "told"), [(3, 3), (4, 1)])
def test_of_many_notches_their_number_is_told(count, told):
    many = H.Transfer(tuple(part for i in range(count) for part in H.notch((0.1 * i, 0.3)).parts))
    line = about_filter(many * H.lowpass("8px"), None, None)
    parts = line.split(" * ")
    assert len(parts) == told + 1
    assert str(H.lowpass("8px")) in parts
    assert ("4 notches" in parts) == (count == 4)


def test_what_is_removed_of_a_region_is_as_strong_as_its_weight(rng):
    planes, weight = rng.random((1, 12, 10)), rng.random((12, 10))
    whole, part = (FilterReport(planes, 1, H.lowpass(3), weight=each).removed for each in (None, weight))
    np.testing.assert_allclose(part, whole * weight, rtol=1e-6)
