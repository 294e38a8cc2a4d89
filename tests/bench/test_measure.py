from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from fftfilter import __version__
from fftfilter.bench import Lines, Stats
from fftfilter.bench import measure as measuring
from fftfilter.bench.measure import Setting, Times, check, gflops, measure, ratio
from fftfilter.device.launcher import Timing
from fftfilter.errors import RefusedError
from fftfilter.transfer import highpass


class FakeLauncher:
    """Returns times of 1, 2, 3 ... seconds; the first belong to the run that warms up."""

    def __init__(self):
        self.count = 0

    def timings(self):
        self.count += 1
        return [Timing("butterfly", 1, float(self.count))]


def test_the_first_run_only_warms_up():
    calls = []
    times = measure(FakeLauncher(), lambda: calls.append(1), runs=4)
    assert [run["butterfly"] for run in times.runs] == [2, 3, 4, 5]
    assert len(calls) == 5


def test_what_is_measured_filters_on_the_device_of_its_setting(monkeypatch):
    setting = Setting("cpu")
    monkeypatch.setenv("FFTFILTER_DEVICE", "no such device")
    with setting.filter(highpass(), engine="book") as book:
        assert book.launcher.device is setting.device


def test_slow_work_is_measured_less_often(monkeypatch):
    monkeypatch.setattr("fftfilter.bench.measure.PATIENCE", 0)
    assert len(measure(FakeLauncher(), lambda: None, runs=100).runs) == 3


def test_times_of_steps():
    times = Times([{"write": 1, "butterfly": 2, "read": 3}, {"write": 1, "butterfly": 4}])
    assert times.steps == ["write", "butterfly", "read"]
    assert times.total("butterfly").median == 3
    assert times.without_transfers().median == 3
    assert times.total(*times.steps) == Stats.from_values([6, 5])


@pytest.mark.parametrize(("precision", "unit"), [("single", 1e-7), ("double", 1e-15)])
def test_a_wrong_transform_is_refused(precision, unit):
    launcher = Setting(precision=precision).launcher()
    x = np.ones(64)
    check("right", launcher, x * (1 + 5 * unit), x)
    for wrong in (x * (1 + 7 * unit), x * np.nan):
        with pytest.raises(RefusedError, match=r"^wrong computes another transform: .* not timed: .* with --device$"):
            check("wrong", launcher, wrong, x)


def test_a_wrong_picture_is_refused():
    launcher = Setting().launcher()
    picture = np.full((10, 10), 100, np.uint8)
    one_pixel = (np.arange(100) == 7).reshape(10, 10)
    check("right", launcher, picture + one_pixel, picture)
    for off in (picture + 1, picture + 2 * one_pixel):
        with pytest.raises(RefusedError, match=r"off by at most [12] of 255 levels"):
            check("wrong", launcher, off, picture)


def test_a_table_says_where_it_was_measured():
    setting = Setting("cpu", "double", runs=3)
    made = setting.table("Title", {"a": "A"}, Lines(("a",), None, (), "", ""), "A note.")
    assert made is setting.made
    assert made.notes == ["\u00b1 is half the distance between the quartiles.", "A note."]
    assert made.about == setting.about()
    assert made.about == {
        "device": f"{setting.device.name} ({setting.device.platform})",
        "driver": setting.device.cl_device.driver_version,
        "precision": "double",
        "date": datetime.now(UTC).date().isoformat(),
        "fftfilter": __version__,
    }


def test_what_is_measured_has_the_precision_of_its_setting_and_keeps_times():
    setting = Setting("cpu", "double")
    launcher = setting.launcher(8)
    assert (launcher.real, launcher.work_group_size) == (np.float64, 8)
    with setting.profiled(highpass(), "book", work_group_size=16) as book:
        assert (book.launcher.real, book.launcher.work_group_size) == (np.float64, 16)
        assert "engine='book'" in repr(book)
    assert launcher.profiles
    assert book.launcher.profiles


def test_what_is_filtered_and_transformed_is_the_same_in_every_run():
    assert np.array_equal(measuring.images(2, 8, 9), measuring.images(2, 8, 9))
    assert (measuring.images(40, 50).shape, measuring.images(40, 50).dtype, measuring.images(40, 50).max()) == (
        (40, 50),
        np.uint8,
        255,
    )
    for dtype in map(np.dtype, (np.complex64, np.complex128)):
        numbers = measuring.complex_numbers((2, 30, 40), dtype)
        assert (numbers.shape, numbers.dtype) == ((2, 30, 40), dtype)
        assert np.array_equal(numbers, measuring.complex_numbers((2, 30, 40), dtype))
        assert (numbers.real.std(), numbers.imag.std()) == pytest.approx((1, 1), abs=0.05)


# Statistics


def test_statistics_are_the_median_and_the_quartiles():
    assert Stats.from_values([3, 1, 2, 5, 4]) == Stats(3, 2, 4, 5)
    assert Stats.from_values([7.0]) == Stats(7.0, 7.0, 7.0, 1)
    assert Stats(4, 3, 5, 9).times(10) == Stats(40, 30, 50, 9)


def test_the_spread_is_half_the_distance_between_the_quartiles():
    assert Stats(4, 3, 5, 9).spread == 0.25
    assert Stats(0, 0, 0, 2).spread == 0


def test_gflops_are_those_of_the_published_times():
    assert gflops(1 << 24, 0.3) == pytest.approx(6.7, abs=0.02)  # the published 300 ms of a GTX 285


def test_ratios():
    assert ratio(3, 2) == 1.5
    assert ratio(3, 0) == float("inf")
