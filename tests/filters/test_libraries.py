"""Arrays of other libraries become arrays of the same library, and those that NumPy cannot read get one line."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.imagej_filter import ImageJFilter

WAVE, BOOK = (0.2, 0.1), {"engine": "book"}


@pytest.fixture(scope="module")
def notch():
    """Return a filter to which the order of the axes matters."""
    return fftfilter.Filter(H.notch(WAVE), output="keep", **BOOK)


@pytest.fixture
def stack(rng):
    return rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)


def assert_all(got, wanted):
    np.testing.assert_array_equal(np.asarray(got), wanted)
    assert got.dtype == wanted.dtype


class Exported:
    """An array of a library that knows DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Wrapped(Exported):
    """An array of a library that has NumPy's protocols, as PyTorch's."""

    def __array__(self, dtype=None, copy=None):
        return self._array

    def __array_wrap__(self, array):
        return Wrapped(array)


class OnGpu(Exported):
    def __dlpack__(self, **options):
        raise BufferError("cannot export from the device cuda:0.\nA long story.")


def test_an_array_that_knows_dlpack_alone_is_read(notch, stack):
    assert_all(notch(Exported(stack)), notch(stack))


def test_an_array_that_wraps_results_gets_its_own_kind(notch, stack):
    got = notch(Wrapped(stack))
    assert type(got) is Wrapped
    assert_all(got.__array__(), notch(stack))


def test_a_namespace_makes_an_array_of_its_own(notch, stack):
    class Spaced(Exported):
        device = "host"

        def __array_namespace__(self):
            return self

        def asarray(self, array, device):
            return device, array

    device, got = notch(Spaced(stack))
    assert device == "host"
    assert_all(got, notch(stack))


@pytest.mark.parametrize("call", [lambda a: fftfilter.notch(a, WAVE, **BOOK), fftfilter.fft2, fftfilter.find_peaks])
def test_an_array_on_a_gpu_is_refused_in_one_line(call, stack):
    words = r"^OnGpu cannot become a NumPy array: cannot export from the device cuda:0: give what numpy"
    with pytest.raises(ParameterError, match=words):
        call(OnGpu(stack))


def test_a_list_whose_rows_differ_is_refused_in_one_line(notch):
    with pytest.raises(ParameterError, match=r"^list cannot become a NumPy array: .*inhomogeneous"):
        notch([[1, 2], [3]])


def test_a_stream_gives_each_image_its_own_kind(notch, stack):
    first, second = notch.stream([Wrapped(stack), stack])
    assert (type(first), type(second)) == (Wrapped, np.ndarray)


@pytest.mark.parametrize(("library", "kind"), [("torch", "tensor"), ("jax.numpy", "asarray")])
def test_an_array_of_the_host_stays_one_of_its_library(library, kind, notch, stack):
    module = pytest.importorskip(library, exc_type=ImportError)
    image = getattr(module, kind)(stack)
    got = notch(image)
    assert type(got) is type(image)
    assert_all(np.asarray(got), notch(stack))


# xarray


@pytest.fixture
def xr():
    return pytest.importorskip("xarray")


@pytest.fixture
def series(xr, stack):
    own = {"time": [1, 2, 4], "y": np.linspace(50, 40, 12), "height": (("y", "x"), stack[0] * 2.0)}
    return xr.DataArray(stack, own, ("time", "y", "x"), "counts", {"units": "1"})


def test_xarray_keeps_names_coordinates_and_attributes(xr, series, notch, stack):
    xr.testing.assert_identical(notch(series), series.copy(data=notch(stack)))


@pytest.mark.parametrize("order", [("x", "time", "y"), ("y", "x", "time")])
def test_xarray_filters_y_and_x_wherever_they_stand(order, xr, series, notch, stack):
    missing = stack > 240
    given, holes = series.transpose(*order), series.copy(data=missing)
    wanted = series.copy(data=notch(stack, missing=missing)).transpose(*order)
    for each in (holes, holes.transpose(*order), holes.transpose(*order).values):
        xr.testing.assert_identical(notch(given, missing=each), wanted)
    wanted = series.copy(data=notch(stack, missing=missing[0])).transpose(*order)
    for each in (holes[0], holes[0].T, missing[0]):
        xr.testing.assert_identical(notch(given, missing=each), wanted)
    wanted = series.copy(data=notch(stack, channel_axis=0)).transpose(*order)
    axis = order.index("time")
    xr.testing.assert_identical(notch(given, channel_axis=axis), wanted)
    xr.testing.assert_identical(notch(given, channel_axis=axis - 3), wanted)
    with pytest.raises(ParameterError, match="channel_axis 3 is none of an array"):
        notch(given, channel_axis=3)


def test_xarray_holds_one_image_and_nan(xr, rng, notch):
    image = rng.random((12, 10), np.float32)
    image[3, 4] = np.nan
    got = notch(xr.DataArray(image.T, dims=("x", "y")))
    assert got.dims == ("x", "y")
    assert_all(got.T, notch(image))


def test_a_data_set_is_refused_in_one_line(series, notch):
    with pytest.raises(ParameterError, match=r"^Dataset cannot become a NumPy array"):
        notch(series.to_dataset())


# Dask; more in tests/test_dask.py


@pytest.fixture
def da():
    return pytest.importorskip("dask.array")


def test_dask_arrays_are_filtered_later(da, notch, stack):
    given = da.from_array(stack, chunks=(2, 6, 10))
    for got in (notch(given), fftfilter.notch(given, WAVE, **BOOK)):
        assert (type(got), got.chunks) == (da.Array, ((2, 1), (12,), (10,)))
        assert_all(got.compute(scheduler="synchronous"), notch(stack))
    picture = notch(given.transpose(1, 2, 0), channel_axis=-1).compute(scheduler="synchronous")
    assert_all(picture.transpose(2, 0, 1), notch(stack, channel_axis=0))


def test_missing_pixels_of_a_dask_array_are_those_of_its_images(da, notch, stack):
    given, missing = da.from_array(stack, chunks=(2, 6, 10)), stack > 240
    for holes in (missing, given > 240, missing[0], given[0] > 240):
        wanted = notch(stack, missing=np.asarray(holes))
        assert_all(notch(given, missing=holes).compute(scheduler="synchronous"), wanted)
    picture = notch(given, missing=given[0] > 240, channel_axis=0).compute(scheduler="synchronous")
    assert_all(picture, notch(stack, missing=missing[0], channel_axis=0))
    with pytest.raises(ParameterError, match=r"missing is an array of shape \(2, 12, 10\): give one of shape \(3"):
        notch(given, missing=missing[:2])


def test_a_filter_that_is_retuned_leaves_earlier_dask_arrays_alone(da, stack):
    filter_ = fftfilter.Filter(H.notch(WAVE), output="keep", **BOOK)
    later, wanted = filter_(da.from_array(stack, chunks=(1, -1, -1))), filter_(stack)
    filter_.retune(H.lowpass(2))
    assert_all(later.compute(scheduler="synchronous"), wanted)


def test_values_of_double_precision_are_said_to_be_so_before_they_are_made(da, stack):
    given = da.from_array(stack, chunks=(1, -1, -1))
    for precision, dtype in (("single", np.float32), ("double", np.float64)):
        got = fftfilter.notch(given, WAVE, output="real", precision=precision, **BOOK)
        assert got.dtype == got.compute(scheduler="synchronous").dtype == dtype


def test_a_filter_of_another_kind_is_another_one(da, stack):
    """Of the same transfer function and options, in the same process."""
    given = da.from_array(stack[:1], chunks=-1)
    for kind in (fftfilter.Filter, ImageJFilter):
        with kind(H.imagej(), **BOOK) as filter_:
            assert_all(filter_(given).compute(scheduler="synchronous"), filter_(stack[:1]))


def test_imagej_and_descreen_take_dask_arrays(da, stack):
    given = da.from_array(stack, chunks=(1, -1, -1))
    for call in (fftfilter.imagej, fftfilter.descreen):
        assert_all(call(given, **BOOK).compute(scheduler="synchronous"), call(stack, **BOOK))


def test_xarray_over_dask_stays_lazy(da, series, notch, stack):
    got = notch(series.copy(data=da.from_array(stack, chunks=(1, -1, -1))).transpose("y", "x", "time"))
    assert (type(got.data), got.dims, got.attrs) == (da.Array, ("y", "x", "time"), {"units": "1"})
    assert_all(got.transpose("time", "y", "x").compute(scheduler="synchronous"), notch(stack))
