"""``ratio``: the filter of logarithms, beside the same in float64 by NumPy, and what it refuses."""

import numpy as np
import pytest

import fftfilter
from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.descreen_filter import DescreenFilter
from fftfilter.imagej_filter import ImageJFilter
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with

SOFT = H.highpass("40px", shape="gaussian")


@pytest.fixture
def lit():
    """Return waves under uneven light, (height, width), from 20 to 180."""
    y, x = np.mgrid[:60, :81]
    return (100 + 50 * np.sin(x / 2) * np.sin(y / 3)) * np.exp(-((x - 20) ** 2 + y**2) / 8000)


def by_numpy(image, transfer, *, keeps_mean=True):
    transfer = transfer.keeping_mean() if keeps_mean else transfer
    gain = grid_with("mirror", transfer, *image.shape).gain()
    return np.exp(reference.filtered(np.log(image), gain, "mirror").real)


@pytest.mark.parametrize("engine", ["fused", "numpy", "book"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32, np.float64])
def test_it_is_the_filter_of_the_logarithm_in_the_levels_of_the_image(lit, engine, dtype):
    image = lit.astype(dtype)
    with Filter(SOFT, ratio=True, engine=engine) as f:
        out = f(image)
    wanted = by_numpy(image.astype(np.float64), SOFT)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=0.51 if image.dtype.kind in "iu" else 0)


@pytest.mark.parametrize("transfer", [SOFT, H.lowpass("8px"), H.lowpass("8px").with_depth(6), SOFT.complement()])
def test_values_as_they_are_have_the_gain_of_constants(lit, transfer):
    out = Filter(transfer, ratio=True, output="real")(lit)
    np.testing.assert_allclose(out, by_numpy(lit, transfer, keeps_mean=False), rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_the_unit_of_the_values_does_not_matter(lit, factor):
    out = fftfilter.highpass(lit * factor, "40px", shape="gaussian", ratio=True)
    np.testing.assert_allclose(out, by_numpy(lit, SOFT) * factor, rtol=1e-6)


def test_values_without_logarithm_are_missing_and_come_back(lit):
    image = lit.astype(np.float32)
    image[10:14, 20:30], image[40], image[5, 5] = 0, -3, np.nan
    holes = ~(image > 0)
    out = Filter(SOFT, ratio=True)(image)
    np.testing.assert_array_equal(out[holes], image[holes])
    whole = Filter(SOFT, ratio=True)(lit)
    assert np.abs(out - whole)[~holes].max() < 0.1 * np.ptp(whole)


def test_more_than_half_without_logarithm_is_refused(lit):
    with pytest.raises(fftfilter.ParameterError, match=r"100% of the values are 0 or less, .*: leave ratio out"):
        fftfilter.highpass(lit - 1e6, ratio=True)


def test_luminance_takes_one_factor_for_all_colors(lit):
    rgb = lit[..., None] * [1.0, 0.5, 0.25]
    out = fftfilter.highpass(rgb, "40px", ratio=True, channels="luminance", channel_axis=-1)
    np.testing.assert_allclose(out / out[..., :1], rgb / rgb[..., :1], rtol=1e-5)


def test_outside_of_a_region_samples_stay(lit):
    image = lit.astype(np.uint16)
    out = fftfilter.highpass(image, "40px", ratio=True, region=(10, 10, 30, 30))
    inside = np.zeros(image.shape, np.bool_)
    inside[10:40, 10:40] = True
    np.testing.assert_array_equal(out[~inside], image[~inside])
    assert (out != image)[15:35, 15:35].any()


def test_bleaching_is_taken_out_along_time(lit):
    fades = np.exp(-np.arange(40) / 30)[:, None, None] * lit
    out = fftfilter.highpass(fades, "10px", axes="t", ratio=True, shape="gaussian")
    assert np.ptp(out.mean((1, 2))) / out.mean() < 0.1 < np.ptp(fades.mean((1, 2))) / fades.mean()


def test_stacks_streams_and_masked_arrays_are_as_pictures_alone(lit):
    stack = np.stack([lit, 3 * lit[::-1]])
    with Filter(SOFT, ratio=True) as f:
        alone = np.stack([f(each) for each in stack])
        np.testing.assert_array_equal(f(stack), alone)
        np.testing.assert_array_equal(np.stack(list(f.stream(stack))), alone)
        masked = f(np.ma.MaskedArray(lit, lit < 60))
    np.testing.assert_array_equal(masked.mask, lit < 60)


@pytest.mark.parametrize(
    ("transfer", "options", "message"),
    [
        (SOFT, {"output": "magnitude"}, "output magnitude is stretched, .*: take keep or real"),
        (SOFT, {"output": "signed"}, "output signed is stretched"),
        (H.wiener(5), {}, "a noise in gray levels is none of a logarithm: leave it out"),
    ],
)
def test_what_logarithms_have_not_is_refused(transfer, options, message):
    with pytest.raises(fftfilter.ParameterError, match=message):
        Filter(transfer, ratio=True, **options)


@pytest.mark.parametrize("kind", [ImageJFilter, DescreenFilter])
def test_filters_with_steps_of_their_own_refuse_it(kind):
    transfer = H.imagej(40, 3) if kind is ImageJFilter else H.descreen()
    with pytest.raises(fftfilter.ParameterError, match="ratio True is not for"):
        kind(transfer, ratio=True)


@pytest.mark.parametrize("axes", [(2, 3), (0, 3), (0, 2, 3), (1,)])
def test_along_axes_each_picture_or_volume_is_divided_by_itself(axes, rng):
    whole = rng.integers(1, 255, (4, 5, 12, 16)).astype(np.uint8)
    made = fftfilter.highpass(whole, 2, axes=axes, ratio=True)
    moved, of_made = (np.moveaxis(each, axes, range(-len(axes), 0)) for each in (whole, made))
    if len(axes) == 2:
        np.testing.assert_array_equal(of_made[1, 2], fftfilter.highpass(moved[1, 2], 2, ratio=True))
    logs = np.log(moved.astype(float)).reshape(-1, *moved.shape[-len(axes) :])
    low = fftfilter.lowpass(logs, 2, axes=len(axes))
    wanted = np.exp(logs - low + logs.mean(axis=tuple(range(1, logs.ndim)), keepdims=True)).clip(0, 255)
    assert np.abs(of_made.reshape(wanted.shape) - wanted).max() <= 1
