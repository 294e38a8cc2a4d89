"""The transforms against numpy.fft in float64, for the fused engine and every algorithm there is.

NumPy's own tests of these functions run by ``python -m benchmarks.numpy_tests``. Every length and option of every
algorithm is tried in ``staged/test_algorithms.py``.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fftfilter
from fftfilter import transforms
from fftfilter.errors import DeviceError, ParameterError
from fftfilter.staged import algorithms
from tests.helpers import assert_transform

# No stage, one, several; then lengths that go through Bluestein: the smallest, odd, composite, an image's, a prime.
LENGTHS = (1, 2, 64, 3, 6, 15, 37, 100, 451, 1021)


def numbers(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_rows_of_any_length_there_and_back(precision, rng):
    for n in LENGTHS:
        x = numbers(rng, (3, n))
        assert_transform(fftfilter.fft(x, precision=precision), np.fft.fft(x), n)
        assert_transform(fftfilter.ifft(x, precision=precision), np.fft.ifft(x), n)


# Square, wide and tall, one side Bluestein's, both, a single row and column, a stack.
SHAPES = [(8, 8), (4, 32), (32, 4), (16, 9), (11, 6), (1, 20), (20, 1), (1, 1), (3, 8, 4)]


ENGINES = ("fused", "numpy", *algorithms.names())


@pytest.mark.parametrize("algorithm", ENGINES)
def test_two_dimensions(algorithm, rng):
    for shape in SHAPES:
        x = numbers(rng, shape)
        n = max(shape[-2:]) if all(s & (s - 1) == 0 for s in shape[-2:]) else 37
        assert_transform(fftfilter.fft2(x, algorithm=algorithm), np.fft.fft2(x), n)
        assert_transform(fftfilter.ifft2(x, algorithm=algorithm), np.fft.ifft2(x), n)


def test_a_long_signal(rng):
    x = numbers(rng, 1 << 18)
    assert_transform(fftfilter.fft(x), np.fft.fft(x), 1 << 18)


def test_types_and_shapes_follow_numpy():
    assert fftfilter.fft([1, 2, 3, 4]).tolist() == pytest.approx([10, -2 + 2j, -2, -2 - 2j])
    assert fftfilter.fft(np.ones(4)).dtype == np.complex64
    assert fftfilter.fft(np.ones(4), precision="double").dtype == np.complex128
    assert fftfilter.fft2(np.ones((2, 3, 4), bool)).shape == (2, 3, 4)


TYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "G")
FEW = ("?", "u1", "i8", "G")


@pytest.mark.parametrize("algorithm", ENGINES)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_every_function_takes_numbers_of_every_type(algorithm, precision, rng):
    """The largest integers, too, and a spectrum that is no real array's: of both halves irfft2 takes the mean.

    What becomes of a type is decided before the algorithm: the staged ones take a few.
    """
    if (algorithm, precision) == ("fused", "double"):
        pytest.skip("which the fused engine lacks")
    takes_all = algorithm in ("fused", "numpy")
    for shape in ((4, 4), (5, 3), (2, 3, 6)) if takes_all else ((5, 3),):
        for dtype in map(np.dtype, TYPES if takes_all else FEW):
            if dtype.kind in "iu":
                x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
            else:
                x = (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.kind == "c" else 0)) * 2
                x = (x > 0 if dtype.kind == "b" else x).astype(dtype)
            for name in ("fft", "ifft", "fft2", "ifft2", "rfft2", "irfft2"):
                if name == "rfft2" and dtype.kind == "c":
                    continue
                how = {"s": (shape[-2], 2 * shape[-1] - 1)} if name == "irfft2" and shape[-1] == 3 else {}
                got = getattr(fftfilter, name)(x, algorithm=algorithm, precision=precision, **how)
                wide = x.astype(np.complex128 if dtype.kind == "c" else np.float64)
                wanted = getattr(np.fft, name)(wide, **how)
                assert got.dtype.itemsize == wanted.dtype.itemsize // (1 if precision == "double" else 2)
                assert_transform(got, wanted, max(wanted.shape[-2:]))


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2", "ifft2"])
def test_arrays_may_lie_in_memory_in_any_order(name, rng):
    x = numbers(rng, (6, 8))
    for other in (x.T, x[::-1, ::-2], x.astype(">c16"), np.asfortranarray(x.real)):
        assert_transform(getattr(fftfilter, name)(other), getattr(np.fft, name)(other), 6)


@pytest.mark.parametrize("size", [1e-300, 1e-42, 1e30, 1e37])
def test_huge_and_tiny_numbers_come_through(size, rng):
    x = size * numbers(rng, 64)
    got = fftfilter.fft(x / 8, precision="double" if size < 1e-40 else "single")
    assert_transform(got.astype(complex) / size, np.fft.fft(x / 8) / size, 64, got.dtype)


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (5, r"an array of shape \(\) and type int64 has no transform: give numbers, along an axis"),
        ([], r"Invalid number of FFT data points \(0\) specified: no transform has less than one"),
        (np.ones((0, 4)), r"an array of shape \(0, 4\) has no transform: give at least one number along each axis"),
        (["a"], r"an array of shape \(1,\) and type <U1 has no transform"),
    ],
    ids=repr,
)
def test_no_numbers_no_transform(x, said):
    with pytest.raises(ParameterError, match=f"^{said}"):
        fftfilter.fft(x)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"s": (16, 9)},  # cut
        {"s": (20, 18), "norm": "ortho"},  # filled up
        {"axes": (0, 1), "norm": "forward"},
        {"axes": (2, 0)},
        {"axes": (1,)},
        {"axes": (0, 1, 2)},
        {"axes": (1, 1), "s": (7, 8)},
        {"s": (-1, 9)},
        {"s": (16, -1)},
    ],
    ids=str,
)
def test_lengths_axes_and_norms_are_numpys(name, how, precision, rng):
    x = numbers(rng, (16, 18, 15))
    x = x.real if name.startswith("r") else x
    how = {"axes": (-2, -1)} | how if "s" in how else how  # without axes, fftn warns as NumPy's does
    got, wanted = getattr(fftfilter, name)(x, **how, precision=precision), getattr(np.fft, name)(x, **how)
    assert got.shape == wanted.shape
    assert_transform(got, wanted, 60)


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("how", [{"axis": 0}, {"axis": 1, "n": 40}, {"n": 9, "norm": "ortho"}], ids=str)
def test_rows_along_any_axis(name, how, rng):
    for x in (numbers(rng, (16, 18, 15)), rng.standard_normal((16, 18, 16))):
        assert_transform(getattr(fftfilter, name)(x, **how), getattr(np.fft, name)(x, **how), 60)


@pytest.mark.parametrize(
    ("engine", "precision"),
    [("fused", "single"), ("numpy", "single"), ("numpy", "double"), ("book", "single"), ("book", "double")],
)
def test_all_axes_of_one_to_five(engine, precision, rng):
    """Of any number of axes, even and odd, there and back; a half spectrum keeps the odd length by ``s``."""
    how = {"algorithm": engine, "precision": precision}
    for shape in ((15,), (8, 9), (6, 1, 7), (4, 5, 8, 3), (3, 2, 5, 4, 7)):
        n, x = 60, rng.standard_normal(shape).astype("f4" if precision == "single" else "f8")
        z = x + 1j * x[::-1]
        assert_transform(fftfilter.fftn(z, **how), np.fft.fftn(z), n)
        spectrum = fftfilter.rfftn(x, **how)
        assert spectrum.dtype == (np.complex64 if precision == "single" else np.complex128)
        assert_transform(spectrum, np.fft.rfftn(x), n)
        back = fftfilter.irfftn(spectrum, s=shape, axes=range(len(shape)), **how)
        assert back.dtype == x.dtype
        assert_transform(back, x, n)
        assert_transform(fftfilter.ifftn(x, **how), np.fft.ifftn(x), n)
        last = {"axes": (-1, 0), "norm": "ortho"} if len(shape) > 1 else {"axes": (0,)}
        assert_transform(fftfilter.rfftn(x, **last, **how), np.fft.rfftn(x, **last), n)


def test_half_a_spectrum_of_an_odd_width_says_its_length(rng):
    x = rng.standard_normal((8, 9)).astype("f4")
    back = fftfilter.irfft2(fftfilter.rfft2(x), s=x.shape)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, x, atol=1e-6)
    assert fftfilter.irfft2(fftfilter.rfft2(x)).shape == (8, 8)


def test_out_is_filled_and_returned(rng):
    x = numbers(rng, (8, 8)).astype("c8")
    out = np.zeros((8, 8), complex)
    assert fftfilter.fft2(x, out=out) is out
    np.testing.assert_array_equal(out, fftfilter.fft2(x))
    # An array may be its own output.
    expected = fftfilter.fft2(x)
    np.testing.assert_array_equal(fftfilter.fft2(x, out=x), expected)


EVERY = [
    before + "fft" + after for after in ("", "2", "n") for before in ("", "i", "r", "ir") if before[-1:] != "r" or after
]


@pytest.mark.parametrize("name", EVERY)
def test_each_function_takes_an_output_a_precision_a_device_and_an_algorithm_with_options(name, rng):
    call, x = getattr(fftfilter, name), rng.standard_normal((4, 8))
    wanted = getattr(np.fft, name)(x)
    got = call(x, precision="double", algorithm="stockham", radix=2)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, atol=1e-13)
    out = np.zeros_like(wanted)
    assert call(x, out=out) is out
    np.testing.assert_allclose(out, wanted, atol=1e-5)
    with pytest.raises(DeviceError, match="no such device"):
        call(x, device="no such device")
    for options, said in (({"radix": 5}, "radix 5 is invalid"), ({"color": 1}, "stockham has no option 'color'")):
        with pytest.raises(ParameterError, match=said):
            call(x, algorithm="stockham", **options)


@pytest.mark.parametrize("name", ["fft2", "irfft2"])
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"s": (None, 9)}, "`None` values"),
        ({"s": (5, None)}, "`None` values"),
        ({"s": (9,), "axes": None}, "`axes` should not be `None`"),
    ],
    ids=str,
)
def test_what_numpy_deprecates_is_warned_of_where_it_was_called(name, how, said, rng):
    x = numbers(rng, (3, 6, 8))
    with pytest.warns(DeprecationWarning, match=said) as warned:
        got = getattr(fftfilter, name)(x, **how)
    assert [each.filename for each in warned] == [__file__]
    with warnings.catch_warnings(action="ignore"):
        wanted = getattr(np.fft, name)(x, **how)
    assert got.shape == wanted.shape
    assert_transform(got, wanted, 9)


def test_nothing_else_is_warned_of(rng):
    x = numbers(rng, (3, 6, 8))
    with warnings.catch_warnings(action="error"):
        for how in ({"axes": None}, {"s": (7, 9)}, {"s": (-1, 9), "axes": (0, 1)}):
            assert_transform(fftfilter.fft2(x, **how), np.fft.fft2(x, **how), 9)


@pytest.mark.parametrize("algorithm", ["fused", "book", "numpy"])
def test_what_is_beyond_single_precision_is_infinite_or_0_and_no_reason_to_warn(algorithm):
    with warnings.catch_warnings(action="error"):
        for number in (1e300, 1e300 + 0j):
            got = fftfilter.fft(np.full(8, number), algorithm=algorithm)
            assert (got.real.tolist(), got.imag.tolist()) == ([np.inf, *[0] * 7], [0] * 8)
        np.testing.assert_allclose(fftfilter.ifft([1e39, 0, 0, 0], algorithm=algorithm), [2.5e38] * 4, rtol=1e-6)
        assert not fftfilter.fft(np.full(8, 1e-320), algorithm=algorithm).any()
        assert np.isnan(fftfilter.fft([0, np.nan, 0, 0], algorithm=algorithm)).all()


def test_a_length_that_the_fused_engine_does_not_serve_takes_the_book_and_is_told(monkeypatch, rng):
    x = numbers(rng, (3, 8))
    monkeypatch.setattr(transforms, "serves_plain", lambda *_: False)  # as of a GPU for long ones
    np.testing.assert_array_equal(fftfilter.fft(x), fftfilter.fft(x, algorithm="book"))
    with pytest.raises(ParameterError, match=r"is too long for the fused engine of .*: take another"):
        fftfilter.fft(x, algorithm="fused")


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda: fftfilter.fft([1, 2], n=0), "number of FFT data points"),
        (lambda: fftfilter.ifft([1, 2], n=-1), "number of FFT data points"),
        (lambda: fftfilter.fft([1, 2], norm="wrong"), "Invalid norm value wrong"),
        (lambda: fftfilter.fft([1, 2], axis=1), "axis 1 is out of bounds"),
        (lambda: fftfilter.fft2(np.ones((2, 2)), s=(2,)), "different lengths: 1 and 2, give one for each"),
        (lambda: fftfilter.fft2(np.ones((2, 2)), axes=()), "no axis"),
        (lambda: fftfilter.rfft2(np.ones((2, 2), complex)), "no half spectrum"),
        (lambda: fftfilter.irfft2(np.ones((2, 1))), "number of FFT data points"),
        (
            lambda: fftfilter.fft([1, 2], out=np.zeros(3, complex)),
            r"output array has wrong shape: \(3,\), the result has \(2,\)",
        ),
        (lambda: fftfilter.fft([1, 2], algorithm="fused", precision="double"), "no double precision"),
        (lambda: fftfilter.fft([1, 2], algorithm="fused", radix=4), "no options"),
        (lambda: fftfilter.fft([1, 2], precision="half"), "precision 'half' is invalid"),
    ],
)
def test_what_is_wrong_is_said(call, cause):
    with pytest.raises(ValueError, match=cause):
        call()


def test_an_output_that_is_no_array_or_of_real_numbers_is_refused_as_by_numpy():
    for out, said in (([0, 0], "return arrays must be of ArrayType"), (np.zeros(2), "Cannot cast")):
        with pytest.raises(TypeError, match=said):
            fftfilter.fft([1, 2], out=out)


def test_each_type_of_numbers_has_a_transform_of_its_own(rng):
    x = rng.integers(0, 256, (6, 8))
    for factor, dtype in ((1, "u1"), (257, "u2"), (-0.5, "f4"), (1, "u1")):
        given = (factor * x).astype(dtype)
        assert_transform(fftfilter.fft2(given), np.fft.fft2(given), 6)
    assert {pixel.name for *_, pixel in list(transforms._kept)[-3:]} == {"uint8", "uint16", "float32"}


def test_a_sum_of_numbers_below_single_precision_is_within_it():
    assert float(fftfilter.fft(np.full(4096, 1e-45))[0].real) == pytest.approx(4096e-45, rel=1e-3, abs=0)


def test_transforms_are_kept_and_let_go(monkeypatch):
    transforms._kept.clear()
    for n in range(1, 2 * transforms.MOST_KEPT):
        fftfilter.fft(np.ones(n))
    assert len(transforms._kept) == transforms.MOST_KEPT
    fftfilter.fft(np.ones(n))
    assert len(transforms._kept) == transforms.MOST_KEPT
    # The one that was asked for longest ago goes first, and any but the last if they are large.
    monkeypatch.setattr(transforms, "MOST_KEPT", 2)
    for n in (3, 4, 3, 5):
        fftfilter.fft(np.ones(n))
    assert [shape.width for _, shape, _ in transforms._kept] == [3, 5]
    monkeypatch.setattr(transforms, "MOST_BYTES", 1)
    fftfilter.fft(np.ones(3))
    assert [shape.width for _, shape, _ in transforms._kept] == [3]


def test_masked_values_are_refused():
    with pytest.raises(ParameterError, match="1 values of the array are masked"):
        fftfilter.fft(np.ma.masked_equal([1, 2, 3], 2))


def test_an_unknown_algorithm_is_told_the_known_ones():
    with pytest.raises(ParameterError, match=r"choose .*book"):
        fftfilter.fft([1, 2], algorithm="magic")


rows_of_complex = st.integers(1, 40).flatmap(
    lambda n: st.lists(st.complex_numbers(max_magnitude=1e6, allow_nan=False), min_size=n, max_size=n)
)
properties = settings(max_examples=8)  # of each, for each algorithm


def close(got, wanted, size):
    np.testing.assert_allclose(got, wanted, atol=2e-6 * max(size, 1e-30))


# Every algorithm is compared with NumPy; these properties hold without it.
@pytest.mark.parametrize("algorithm", ["fused", "book"])
class TestProperties:
    @properties
    @given(x=rows_of_complex)
    def test_round_trip(self, algorithm, x):
        there = fftfilter.fft(x, algorithm=algorithm)
        close(fftfilter.ifft(there, algorithm=algorithm), x, np.linalg.norm(x))

    @properties
    @given(x=rows_of_complex, a=st.floats(-100, 100), b=st.floats(-100, 100))
    def test_linearity(self, algorithm, x, a, b):
        x = np.array(x)
        y = np.roll(x.conj(), 1)
        both = fftfilter.fft(a * x + b * y, algorithm=algorithm)
        apart = a * fftfilter.fft(x, algorithm=algorithm) + b * fftfilter.fft(y, algorithm=algorithm)
        close(both, apart, (abs(a) + abs(b)) * np.linalg.norm(x) * np.sqrt(len(x)))

    @properties
    @given(x=rows_of_complex, by=st.integers(0, 50))
    def test_a_shift_turns_the_spectrum(self, algorithm, x, by):
        n = len(x)
        turn = np.exp(-2j * np.pi * by * np.arange(n) / n)
        shifted = fftfilter.fft(np.roll(x, by), algorithm=algorithm)
        close(shifted, turn * fftfilter.fft(x, algorithm=algorithm), np.linalg.norm(x) * np.sqrt(n))

    @properties
    @given(x=rows_of_complex)
    def test_parseval(self, algorithm, x):
        spectrum = fftfilter.fft(x, algorithm=algorithm).astype(complex)
        assert np.linalg.norm(spectrum) == pytest.approx(np.sqrt(len(x)) * np.linalg.norm(x), rel=1e-5, abs=1e-30)

    @properties
    @given(n=st.integers(1, 70), at=st.integers(0, 69))
    def test_an_impulse_holds_every_frequency(self, algorithm, n, at):
        impulse = np.zeros(n)
        impulse[at % n] = 1
        wanted = np.exp(-2j * np.pi * (at % n) * np.arange(n) / n)
        close(fftfilter.fft(impulse, algorithm=algorithm), wanted, 1)
