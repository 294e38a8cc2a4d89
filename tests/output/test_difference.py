"""What counts as a difference from the reference, and how much of it is right."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.output.rounding import Difference, transform_bound


def ramp(dtype="uint8", size=2000):
    """Return samples from black to white, white first, and their white."""
    white = 1 if dtype == "float32" else int(np.iinfo(dtype).max)
    return np.linspace(white, 0, size).astype(dtype), white


@pytest.mark.parametrize(
    ("dtype", "off", "samples", "is_right", "said"),
    [
        ("uint8", 0, 9, True, "off by at most 0 of 255 levels, in 0 of 2000 samples"),
        ("uint8", 1, 4, True, "off by at most 1 of 255 levels, in 4 of 2000 samples"),
        ("uint8", 1, 5, False, "off by at most 1 of 255 levels, in 5 of 2000 samples"),
        ("uint8", 2, 1, False, "off by at most 2 of 255 levels, in 1 of 2000 samples"),
        ("uint16", 8, 1990, True, "off by at most 8 of 65535 levels, in 1990 of 2000 samples"),
        ("uint16", 9, 1, False, "off by at most 9 of 65535 levels, in 1 of 2000 samples"),
        ("float32", 1e-4, 1000, True, "off by at most 1.0e-04 of the range; 0 of 2000 samples by too much"),
        ("float32", 2e-4, 10, False, "off by at most 2.0e-04 of the range; 10 of 2000 samples by too much"),
    ],
)
def test_some_samples_may_be_off_by_a_little(dtype, off, samples, is_right, said):
    wanted, white = ramp(dtype)
    got = wanted.copy()
    got[:samples] -= np.dtype(dtype).type(off)
    found = Difference.of(got, wanted, white)
    assert (found.is_right, str(found).partition("; the worst is")[0]) == (is_right, said)


def test_levels_are_those_of_the_picture():
    wanted = np.arange(1000, dtype=np.uint16)
    assert Difference.of(wanted + np.uint16(1), wanted, 999).right == "at most 1 of 999 levels"
    assert Difference.of(wanted, wanted, 65535).right == "at most 8 of 65535 levels"
    assert not Difference.of(wanted + np.uint16(2), wanted, 999).is_right
    assert Difference.of(wanted, wanted, 16383).right == "at most 2 of 16383 levels"  # 8 of 65535 are 1.9999


def test_one_sample_may_differ_in_a_picture_of_few():
    assert Difference.of(np.uint8([4, 9]), np.uint8([4, 8]), 255).is_right
    assert not Difference.of(np.uint8([5, 9]), np.uint8([4, 8]), 255).is_right


@pytest.mark.parametrize(("dtype", "least"), [("uint8", 1), ("uint16", 1), ("float32", 1e-6)])
def test_where_the_reference_is_black_nothing_may_differ(dtype, least):
    black, got = np.zeros((2, 2000), dtype)
    white = ramp(dtype)[1]
    assert Difference.of(got, black, white).is_right
    got[7] = least
    found = Difference.of(got, black, white)
    assert (found.is_right, found.right) == (False, "all black")


@pytest.mark.filterwarnings("error")
def test_infinite_samples_that_stay_are_right():
    wanted = np.array([np.inf, -np.inf, np.nan, 0.5], np.float32)
    assert Difference.of(wanted.copy(), wanted, 1).largest == 0
    assert not Difference.of(-wanted, wanted, 1).is_right


def test_not_a_number_is_never_right():
    wanted, white = ramp("float32")
    assert not Difference.of(np.where(wanted > 0.5, np.nan, wanted), wanted, white).is_right


def test_what_tolerances_are_parts_of_may_be_more_than_white():
    """As where a narrow range stretches a picture, and with it each error."""
    wanted, white = ramp("uint16")
    off = np.maximum(wanted, 16) - np.uint16(16)
    found = Difference.of(off, wanted, white, unit=2 * white)
    assert (found.is_right, found.right) == (True, "at most 16 of 65535 levels")
    assert not Difference.of(off, wanted, white, unit=1.9 * white).is_right
    wanted, white = ramp("float32")
    found = Difference.of(wanted + np.float32(2e-4), wanted, white, unit=2)
    assert (found.is_right, found.samples, found.right) == (True, 0, "at most 1.2e-04 of the range")
    assert not Difference.of(wanted + np.float32(2e-4), wanted, white, unit=1.5).is_right


def test_of_a_range_that_is_nothing_every_level_is_right():
    wanted, white = ramp("uint16")
    assert Difference.of(wanted[::-1], wanted, white, unit=np.inf).right == "at most 65535 of 65535 levels"
    few = np.array([3, 2, 2, 0], np.uint8)
    assert Difference.of(few, few, 255, unit=np.inf).right == "at most 255 of 255 levels"


def test_integers_that_were_floats_may_be_either_neighbor():
    wanted = np.array([2.4999, 2.5, 2.5001, -7.4])
    assert Difference.of(np.array([3, 2, 2, -7]), wanted, 1, unit=4, step=1).is_right
    found = Difference.of(np.array([3, 2, 2, -8]), wanted, 1, unit=4, step=1)
    assert (found.is_right, str(found)) == (
        False,
        "off by at most 2.5e-02 of the range; 1 of 4 samples by too much; the worst is -8 for -7.4 at x 3, y 0",
    )


def test_the_worst_sample_is_named():
    wanted = np.zeros((3, 4, 5), np.uint8) + np.uint8(9)
    got = wanted.copy()
    got[1, 2, 4], got[0, 0, 0] = 7, 8
    found = Difference.of(got, wanted, 255)
    assert str(found).endswith("; the worst is 7 for 9 at x 4, y 2, channel 1")
    assert str(Difference.of(got[0], wanted[0], 255)).endswith("; the worst is 8 for 9 at x 0, y 0")
    assert str(Difference.of_all([Difference.of(wanted, wanted, 255), found])).endswith(", channel 1, page 2")
    assert "worst" not in str(Difference.of(wanted, wanted, 255))
    floats = np.float32([[0.5, 0.25], [np.nan, 1]])
    found = Difference.of(floats, np.zeros_like(floats), 1)
    assert str(found).endswith("; the worst is nan for 0 at x 0, y 1")
    found = Difference.of(np.float32([[0.123456789]]), np.float32([[-1e-9]]), 1)
    assert str(found).endswith("; the worst is 0.123456791 for -9.99999972e-10 at x 0, y 0")


def test_ties_count_once():
    """Samples of one filtered value fall on one side of a level's edge together."""
    values = np.repeat([0.25, 0.5, 1], 1000) + np.linspace(0, 1e-9, 3000)
    wanted = (255 * values).astype(np.uint8)
    got = np.where(values < 0.3, wanted + 1, wanted)
    found = Difference.of(got, wanted, 255, values=values)
    assert (found.is_right, "levels, in 1000 of 3000 samples, ties that count as 1;" in str(found)) == (True, True)
    assert not Difference.of(got, wanted, 255).is_right
    assert not Difference.of(got + np.uint8(1), wanted, 255, values=values).is_right
    assert not Difference.of(got, wanted, 255, values=np.linspace(0, 1, 3000)).is_right
    near = np.repeat([0.25, 0.5, 1], 1000) + np.linspace(0, 3e-5, 3000)  # of which 10 at least are apart
    assert not Difference.of(got, wanted, 255, values=near).is_right


@pytest.mark.filterwarnings("error")
def test_values_that_are_all_zero_are_one_tie():
    zero = np.zeros(3000)
    assert Difference.of(zero + 129, zero + 128, 255, values=zero).values == 1


def test_values_as_they_are_may_be_zero_but_for_rounding():
    zero = np.zeros(100, np.float32)
    assert Difference.of(zero + 1e-6, zero, 1, unit=1.0).is_right
    assert not Difference.of(zero + 1e-6, zero, 1, unit=1e-3).is_right


def test_of_a_stretched_range_more_samples_may_be_off():
    wanted, white = ramp()
    assert Difference.of(wanted, wanted, white, unit=3 * white).allowed_samples == 12


def test_the_worst_of_pages_is_that_of_the_largest_part_of_its_white():
    (dark, dark_white), (deep, deep_white) = ramp(), ramp("uint16")
    off = deep - (deep > 9) * np.uint16(9), dark - (dark > 0)
    found = [Difference.of(off[0], deep, deep_white), Difference.of(off[1], dark, dark_white)]
    worst = Difference.of_all(found).worst
    assert worst
    assert worst.page == 2


def test_of_pages_all_samples_count():
    wanted = np.repeat(np.uint8([1, 2, 3]), 1000)
    pages = [wanted, wanted + (wanted == 1), wanted + (wanted > 1)]
    found = Difference.of_all([Difference.of(page, wanted, 255, values=wanted) for page in pages])
    assert (found.size, found.samples, found.values) == (9000, 3000, 3)


@pytest.mark.parametrize(("dtype", "unit"), [(np.complex64, 1e-7), (np.float32, 1e-7), (np.complex128, 1e-15)])
def test_a_transform_may_be_off_by_the_logarithm_of_its_length(dtype, unit):
    for n, wanted in ((1, 4), (8, 4), (1024, 10), (1 << 17, 17), (8191, 4 * np.log2(8191)), (3, 16)):
        assert transform_bound(n, dtype) == pytest.approx(unit * wanted)
