"""Volumes and time: filters along one to three axes of arrays, against numpy.fft in float64."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.filters import volumes
from tests.helpers import assert_gray_levels

SHAPE = (12, 15, 20)
# As the command filters.
Filter = partial(fftfilter.Filter, output="magnitude", edges="wrap")


def reference(array, gain, axes=(0, 1, 2), edges="wrap", sizes=(1, 1, 1)):
    """Return an array filtered along axes in float64: ``gain`` is a function of cycles in a unit of length."""
    whole = array.astype(float)
    for axis in axes if edges == "mirror" else ():
        whole = np.concatenate([whole, np.flip(whole, axis)], axis)
    grids = np.meshgrid(
        *(np.fft.fftfreq(whole.shape[a], size) for a, size in zip(axes, sizes, strict=False)), indexing="ij"
    )
    gains = gain(np.sqrt(sum(f * f for f in grids)))
    order = np.argsort(axes)
    gains = gains.transpose(order)
    gains = np.expand_dims(gains, [a for a in range(array.ndim) if a not in axes])
    filtered = np.fft.ifftn(np.fft.fftn(whole, axes=axes) * gains, axes=axes).real
    return filtered[tuple(slice(n) for n in array.shape)]


FILTERS = {
    "ideal low-pass": (H.lowpass("5px"), lambda f: 1.0 * (f < 0.2)),
    "Gaussian low-pass": (H.lowpass("6px", shape="gaussian"), lambda f: np.exp2(-((6 * f) ** 2))),
    "Butterworth high-pass": (H.highpass("7px", shape="butterworth"), lambda f: 1 - 1 / (1 + (7 * f) ** 4)),
    "band-pass": (
        H.bandpass("9px", "4px", shape="gaussian"),
        lambda f: np.exp2(-((4 * f) ** 2)) * (1 - np.exp2(-((9 * f) ** 2))),
    ),
    "band-stop": (H.bandstop("9px", "4px"), lambda f: 1 - (f < 1 / 4) * (f >= 1 / 9)),
    "product": (
        H.lowpass("4px", shape="gaussian") * H.highpass("9px"),
        lambda f: np.exp2(-((4 * f) ** 2)) * (f >= 1 / 9),
    ),
    "depth": (H.lowpass("5px").with_depth(6.0), lambda f: 10**-0.3 + (1 - 10**-0.3) * (f < 0.2)),
}
AXES = [3, (0,), (1,), (-1,), "t", (2, 0), (0, 1), (2, 0, 1)]


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i2", ">f4", "f8"])
def test_values_are_those_of_numpy(axes, edges, dtype, rng):
    array = (rng.random(SHAPE) * 200).astype(dtype)
    along = {3: (0, 1, 2), "t": (0,)}.get(axes, axes if isinstance(axes, tuple) else ())
    along = tuple(a % 3 for a in along)
    for name, (transfer, gain) in FILTERS.items():
        got = Filter(transfer, axes=axes, edges=edges, output="real")(array)
        wanted = reference(array, gain, along, edges)
        assert got.dtype.kind == "f"
        np.testing.assert_allclose(got, wanted, atol=2e-4, err_msg=name)


def test_double_precision_is_exact_to_its_digits(rng):
    array = rng.standard_normal(SHAPE)
    transfer, gain = FILTERS["band-pass"]
    for engine in ("book", "numpy"):
        got = Filter(transfer, axes=3, edges="mirror", output="real", precision="double", engine=engine)(array)
        np.testing.assert_allclose(got, reference(array, gain, edges="mirror"), atol=1e-13)


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize(("engine", "precision"), [(None, "single"), ("numpy", "single"), (None, "double")])
def test_long_axes_are_transformed_by_ffts(edges, engine, precision, rng):
    """More frequencies than a product of matrices takes: even, odd, and an odd number of neighbors."""
    for shape in ((1100, 3, 1), (1, 3, 1201)):
        array = rng.standard_normal(shape)
        axes = (int(np.argmax(shape)),)
        for name in ("Butterworth high-pass", "Gaussian low-pass"):
            transfer, gain = FILTERS[name]
            filter_ = Filter(transfer, axes=axes, edges=edges, output="real", engine=engine, precision=precision)
            wanted = reference(array, gain, axes, edges)
            np.testing.assert_allclose(filter_(array), wanted, atol=5e-6 if precision == "single" else 1e-12)


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("shape", [(90, 100, 101), (87, 3, 200), (300, 4, 5)], ids=str)
def test_most_frequencies_are_filtered_by_their_spectrum(shape, edges, rng):
    array = rng.random(shape, np.float32) * 200
    axes = 3 if min(shape[1:]) > 3 else "t"
    for name in ("Butterworth high-pass", "Gaussian low-pass", "depth", "product"):
        transfer, gain = FILTERS[name]
        got = Filter(transfer, axes=axes, output="real", edges=edges)(array)
        wanted = reference(array, gain, (0, 1, 2) if axes == 3 else (0,), edges)
        np.testing.assert_allclose(got, wanted, atol=2e-4, err_msg=name)


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("axes", [3, "t", (2,)], ids=str)
@pytest.mark.parametrize("engine", ["book", "stockham"])
def test_engines_of_the_papers_filter_volumes_by_their_passes(engine, axes, edges, rng):
    along = {3: (0, 1, 2), "t": (0,)}.get(axes, axes)
    how = {"axes": axes, "edges": edges, "output": "real", "engine": engine, "transpose": "plain"}
    for shape in (SHAPE, (8, 16, 4), (1, 6, 1)):
        array = rng.random(shape) * 200
        for name, (transfer, gain) in FILTERS.items():
            filter_ = Filter(transfer, **how, profile=True)
            np.testing.assert_allclose(filter_(array), reference(array, gain, along, edges), atol=2e-4, err_msg=name)
            assert filter_.engine == engine
            launches = {each.step: each.launches for each in filter_.timings()}
            assert launches["transpose"] == (4 if axes == 3 else 2)


@pytest.mark.parametrize("output", ["magnitude", "signed", "keep"])
@pytest.mark.parametrize("name", FILTERS)
def test_levels_are_within_the_contract(output, name, rng):
    smooth = np.add.outer(np.add.outer(np.arange(24.0) ** 2, 3 * np.arange(22.0)), np.arange(26.0) * 2)
    array = (smooth / 4 + rng.random(smooth.shape) * 20).astype(np.uint8)
    transfer, gain = FILTERS[name]
    got = Filter(transfer, axes="zyx", output=output)(array)
    if output == "keep":
        values = reference(array, lambda f: np.where(f == 0, 1, gain(f)))
        wanted = np.floor(values + 0.5 + 1 / 2048).clip(0, 255)
    else:
        values = reference(array, gain)
        largest = np.abs(values).max()
        is_signed = output == "signed"
        levels = (values / largest + 1) * 127.5 + 0.5 if is_signed else np.abs(values) / largest * 255
        wanted = np.floor(levels + 1 / 2048).clip(0, 255)
    assert got.dtype == np.uint8
    assert_gray_levels(got, wanted.astype(np.uint8))


def test_each_volume_has_its_own_scale_and_one_axis_one_for_all(rng):
    array = rng.random((2, 5, 6, 7)).astype(np.float32) * np.float32([1, 9]).reshape(2, 1, 1, 1)
    filter_ = Filter(H.highpass("4px"), axes=3)
    got = filter_(array)
    for one, alone, (_, most) in zip(got, array, filter_.extremes(), strict=True):
        np.testing.assert_array_equal(one, filter_(alone))
        assert one.max() == 1
        np.testing.assert_allclose(most, np.abs(reference(alone, lambda f: 1.0 * (f >= 0.25))).max(), rtol=1e-5)
    whole = Filter(H.highpass("4px"), axes="t")(array)
    assert whole[:, 0].max() < whole.max() == 1


def test_a_radius_is_in_cycles_across_the_shortest_axis(rng):
    array = rng.random(SHAPE)
    got = fftfilter.lowpass(array, axes=3, output="real", edges="wrap")
    np.testing.assert_allclose(got, reference(array, lambda f: f < 1 / 8), atol=1e-6)
    got = fftfilter.lowpass(array, 2, axes=(1, 2), output="real", edges="wrap")
    np.testing.assert_allclose(got, [fftfilter.lowpass(each, 2, output="real", edges="wrap") for each in array])


@pytest.mark.parametrize("axes", ["zyx", (0, 2)], ids=str)
def test_lengths_have_the_size_of_a_voxel_on_each_axis(axes, rng):
    array = rng.random((20, 22, 24))
    sizes = (0.3, 0.1, 0.1) if axes == "zyx" else (0.3, 0.1)
    along = (0, 1, 2) if axes == "zyx" else axes
    given = [f"{size}um" for size in sizes]
    how = {"shape": "gaussian", "axes": axes, "pixel_size": given, "output": "real", "edges": "mirror"}
    got = fftfilter.lowpass(array, "0.8um", **how)
    wanted = reference(array, lambda f: np.exp2(-((0.8 * f) ** 2)), along, "mirror", sizes)
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    # What has no length is a number of pixels, whatever their size.
    got = fftfilter.lowpass(array, "8px", **how)
    np.testing.assert_allclose(got, reference(array, lambda f: np.exp2(-((8 * f) ** 2)), along, "mirror"), atol=1e-6)


def test_slow_drift_goes_from_each_pixels_series():
    """A bleaching movie: along time the fast part stays, whatever the picture is."""
    t = np.arange(200)[:, None, None]
    picture = np.linspace(100, 40_000, 12).reshape(3, 4)
    fast = 50 * np.cos(2 * np.pi * t / 5)
    movie = (picture * np.exp(-t / 400) + fast).astype(np.float32)
    got = fftfilter.highpass(movie, "40px", shape="gaussian", axes="t", edges="mirror", output="real")
    middle = slice(50, 150)
    np.testing.assert_allclose(got[middle], np.broadcast_to(fast, movie.shape)[middle], atol=picture.max() * 2e-3)


def test_a_weak_result_is_filtered_again_in_double_precision(rng):
    array = (1000 * np.cos(2 * np.pi * np.arange(32) / 32)).reshape(32, 1, 1) + rng.random((32, 32, 32)) / 2
    array, transfer = array.astype(np.float32), H.highpass("3px", shape="butterworth", order=8)
    filter_ = Filter(transfer, axes=3)
    got = filter_(array, dtype=np.uint8)
    assert filter_.weak() == 1
    values = np.abs(reference(array, lambda f: 1 - 1 / (1 + (3 * f) ** 16)))
    assert_gray_levels(got, np.floor(values / values.max() * 255 + 1 / 2048).astype(np.uint8))


def test_a_constant_volume_is_black_and_stays_as_it_is_with_keep():
    array = np.full((9, 10, 11), 77, np.uint8)
    assert not Filter(H.highpass("4px"), axes=3)(array).any()
    np.testing.assert_array_equal(Filter(H.highpass("4px"), axes=3, output="keep")(array), array)


def test_missing_samples_come_back_and_change_nothing_far_from_them(rng):
    array = rng.random((16, 18, 20)).astype(np.float32)
    holes = np.zeros(array.shape, bool)
    holes[3:5, 4:7, 5:9] = True
    filter_ = Filter(H.lowpass("4px", shape="gaussian"), axes=3, output="keep", edges="mirror")
    whole = filter_(array)
    broken = np.where(holes, np.nan, array)
    for got in (filter_(broken), filter_(array, missing=holes), filter_(np.ma.MaskedArray(array, holes))):
        np.testing.assert_allclose(np.ma.getdata(got)[10:], whole[10:], atol=0.02)
        assert np.isfinite(np.ma.getdata(got)[~holes]).all()
    np.testing.assert_array_equal(np.isnan(filter_(broken)), holes)
    np.testing.assert_array_equal(filter_(np.where(holes, 1e30, array), missing=holes)[~holes], filter_(broken)[~holes])
    assert np.isnan(filter_(np.full_like(array, np.nan))).all()
    with pytest.raises(ParameterError, match=r"^output magnitude of a volume takes no missing samples: take keep"):
        Filter(H.lowpass("4px"), axes=3)(broken)


def test_axes_of_xarray_have_names(rng):
    xarray = pytest.importorskip("xarray")
    data = rng.random((4, 5, 6, 7)).astype(np.float32)
    array = xarray.DataArray(data, dims=("time", "y", "z", "x"), attrs={"unit": "um"})
    filter_ = Filter(H.lowpass("4px", shape="gaussian"), axes=("z", "y", "x"), output="real")
    made = filter_(array)
    assert made.dims == array.dims
    assert made.attrs == array.attrs
    wanted = [reference(each, lambda f: np.exp2(-((4 * f) ** 2))) for each in data]
    np.testing.assert_allclose(made.data, wanted, atol=1e-5)
    with pytest.raises(ParameterError, match=r"^axes \('depth',\) are not those of an array of shape"):
        filter_.with_options(axes=("depth",))(array)


def test_dask_filters_later_with_whole_axes(rng):
    dask = pytest.importorskip("dask.array")
    data = rng.random((3, 8, 9, 10)).astype(np.float32)
    filter_ = Filter(H.lowpass("4px", shape="gaussian"), axes=3, output="real")
    later = filter_(dask.from_array(data, chunks=(1, 4, 5, 5)))
    assert later.shape == data.shape
    np.testing.assert_array_equal(later.compute(scheduler="synchronous"), filter_(data))


def test_a_filter_of_volumes_is_copied_shown_retuned_and_streamed(rng):
    volume = rng.random((6, 7, 8))
    filter_ = Filter(H.lowpass("4px"), axes="zyx", pixel_size=("2um", "1um", "1um"), output="real")
    copied = eval(repr(filter_), {"H": H, "Filter": Filter})  # noqa: S307
    wanted = filter_(volume)
    for each in (copied, copy.copy(filter_), filter_.with_options(edges="wrap")):
        np.testing.assert_array_equal(each(volume), wanted)
    np.testing.assert_array_equal(next(filter_.stream([volume])), wanted)
    filter_.retune(H.lowpass("3px"))
    np.testing.assert_array_equal(filter_(volume), Filter(H.lowpass("3px"), axes=3, output="real")(volume))


@pytest.mark.parametrize(
    ("transfer", "options", "said"),
    [
        (H.lowpass(2), {"axes": 4}, r"^axes 4 are unknown: give how many of the last ones"),
        (H.lowpass(2), {"axes": 0}, "^axes 0 are unknown"),
        (H.lowpass(2), {"axes": ""}, "^axes '' are unknown"),
        (H.lowpass(2), {"axes": True}, "^axes True are unknown"),
        (H.lowpass(2), {"axes": 2.5}, "^axes 2.5 are unknown"),
        (H.lowpass(2), {"axes": (0, 0)}, r"^axes \(0, 0\) are unknown"),
        (H.lowpass(2), {"axes": "xyz"}, r"^axes \('x', 'y', 'z'\) are not those of an array of shape \(4, 5, 6\)"),
        (H.lowpass(2), {"axes": (0, 3)}, r"^axes \(0, 3\) are not those of an array of shape \(4, 5, 6\)"),
        (H.lowpass(2), {"axes": (0, -3)}, r"^axes \(0, -3\) are not those of an array of shape \(4, 5, 6\)"),
        (H.notch((0.1, 0.2)), {"axes": 3}, "^notch is for pictures, two axes: leave axes out, or take a radial filter"),
        (H.lowpass(2), {"axes": 3, "region": (0, 0, 2, 2), "output": "keep"}, "^region is for pictures, two axes"),
        (H.lowpass(2), {"axes": 3, "auto": True}, "^auto is for pictures, two axes"),
        (H.lowpass(2), {"axes": 3, "ignore": np.ones((5, 6), bool)}, "^ignore is for pictures, two axes"),
        (H.lowpass(2).complement(), {"axes": 3}, "^what is removed is for pictures, two axes"),
        (H.lowpass("2um"), {"axes": 3, "pixel_size": ("1um", "2um")}, "has 2 sizes: give one, or one for each axis"),
        (H.lowpass("2um"), {"axes": 3}, "^2um needs the size of a pixel"),
        (H.lowpass("2um"), {"axes": 2, "pixel_size": ("1um", "1arcsec")}, "lengths and angles: give one kind"),
        (
            H.bandpass("2um", "3px"),
            {"axes": 3, "pixel_size": ("1um", "2um", "2um")},
            "has pixels and lengths, and sizes that differ by the axis: give lengths",
        ),
    ],
    ids=str,
)
def test_what_volumes_lack_is_said(transfer, options, said):
    with pytest.raises(ParameterError, match=said):
        Filter(transfer, **options)(np.ones((4, 5, 6)))


def test_channels_and_values_that_are_not_finite_are_refused():
    filter_ = Filter(H.lowpass(2), axes=3)
    with pytest.raises(ParameterError, match=r"^axes say what is filtered"):
        filter_(np.ones((4, 5, 6)), channel_axis=0)
    with pytest.raises(ParameterError, match="NaN or infinite"):
        filter_(np.full((4, 5, 6), np.inf))
    with pytest.raises(ParameterError, match="is not an image"):
        filter_(np.ones((4, 0, 6)))
    with pytest.raises(ParameterError, match="are not those of an array of shape"):
        filter_(np.ones((5, 6)))


def test_a_volume_beyond_memory_is_refused_before_it_is_taken():
    huge = np.broadcast_to(np.uint8(3), (1 << 13, 1 << 13, 1 << 13))
    with pytest.raises(TooLargeError, match="more than the"):
        Filter(H.lowpass("8px"), axes=3)(huge)


def test_matrices_are_for_few_frequencies_alone():
    axis = volumes.Axis(0, 4096, is_mirrored=False, kept=4096 // 2 + 1)
    assert axis.is_long
    assert not axis._replace(kept=40).is_long


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize(
    ("length", "kept"), [(1, 1), (2, 2), (5, 2), (6, 4), (97, 11), (150, 76), (211, 106), (300, 99)]
)
def test_lines_are_sums_of_waves_and_come_back_from_them(length, kept, is_mirrored, rng):
    """By products and by the FFTs of both libraries, of values in any layout."""
    from scipy import fft

    axis = volumes.Axis(0, length, is_mirrored=is_mirrored, kept=kept)
    given = rng.random((7, length)).T
    numbers = axis.matrix() @ given
    for library in (np.fft, fft):
        lines = volumes.Lines(axis, np.dtype(np.float64), library)
        scale = 2 if axis.is_long and is_mirrored else 1
        assert np.allclose(lines.forward(given.copy()), scale * numbers, atol=1e-11)
        assert np.allclose(lines.back(scale * numbers), axis.matrix(back=True) @ numbers, atol=1e-11)
    if kept == (length if is_mirrored else length // 2 + 1):  # all that there are
        assert np.allclose(axis.matrix(back=True) @ axis.matrix(), np.eye(length))
