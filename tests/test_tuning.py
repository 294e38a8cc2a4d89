"""Choices that a device remembers: the same result by each, and what is measured, kept and read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter import fused_gpu_transform, tuning
from fftfilter.bench import tune
from fftfilter.bench.compare import Stats
from fftfilter.bench.experiments import Setting
from fftfilter.cli import cli
from fftfilter.device import Device, choose
from fftfilter.errors import RefusedError
from fftfilter.filters import Filter
from fftfilter.fused import fused
from fftfilter.launch import Launcher
from fftfilter.transfer import transfer

BYTE = np.dtype(np.uint8)
SHAPE = (2, 20, 300)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tuning._remembered.cache_clear()
    yield tmp_path / "cache"
    tuning._remembered.cache_clear()


@pytest.mark.parametrize(
    ("is_gpu", "choices"),
    [
        (False, [{}, {"together": 1}]),
        (True, [{}, {"rows": -1, "columns": 1}, {"rows": 1, "columns": -1}]),
    ],
)
@pytest.mark.parametrize("size", [(16, 300), (17, 20)], ids=str)
def test_no_choice_changes_a_bit(is_gpu, choices, size, monkeypatch, rng):
    monkeypatch.setattr(Device, "is_gpu", is_gpu)
    stack = rng.integers(0, 256, (3, *size), dtype=np.uint8)
    launcher, high = Launcher(choose()), transfer("highpass")
    first, *others = [
        fused(launcher, stack.shape, BYTE, high, out=BYTE, levels=255, tuning=chosen).run(stack) for chosen in choices
    ]
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 127, 512, 1021, 1531, 2048, 4096, 5003, 8192, 16384])
@pytest.mark.parametrize("columns", [False, True])
def test_twice_or_half_as_many_transforms_fit_a_group(n, columns):
    usual = fused_gpu_transform.plan_transform(n, columns=columns, others=n)
    for doubled in (-1, 1):
        plan = fused_gpu_transform.plan_transform(n, columns=columns, others=n, doubled=doubled)
        assert plan.radices == usual.radices
        assert plan.group <= fused_gpu_transform.GROUP_LIMIT
        assert plan.local_bytes <= fused_gpu_transform.LOCAL_BYTES - fused_gpu_transform.RESERVED_BYTES
        assert plan.ffts in (usual.ffts, usual.ffts * 2 if doubled > 0 else usual.ffts // 2)
    assert fused_gpu_transform.plan_transform(512, columns=columns, others=512, doubled=-1).ffts == 4


def chosen_by(filter_, monkeypatch):
    """Return what a filter makes its pipeline with for a stack of SHAPE."""
    seen = []
    from fftfilter import filters

    monkeypatch.setattr(filters, "fused", lambda *a, tuning, **k: seen.append(tuning) or fused(*a, tuning=tuning, **k))
    filter_(np.ones(SHAPE, np.uint8))
    return seen


def test_filters_take_what_is_remembered_for_their_shape_unless_told_not_to(monkeypatch):
    tuning.remember(choose(), SHAPE, BYTE, {"together": 1})
    tuning.remember(choose(), (1, 20, 300), BYTE, {"together": 0})
    assert chosen_by(Filter("highpass"), monkeypatch) == [{"together": 1}]
    assert chosen_by(Filter("highpass", tune=False), monkeypatch) == [{}]
    assert tuning.remembered(choose(), SHAPE, np.dtype(np.uint16)) == {}


def test_no_tune_is_an_option_of_filters(tmp_path, monkeypatch):
    given = tmp_path / "in.pgm"
    given.write_bytes(b"P5 3 2 255 abcdef")
    asked = []
    monkeypatch.setattr("fftfilter.filters.remembered", lambda *_: asked.append(1) or {})
    for options in (["--no-tune"], []):
        assert CliRunner().invoke(cli, ["highpass", *options, str(given), str(tmp_path / "out.pgm")]).exit_code == 0
    assert len(asked) == 1


def test_later_processes_read_it_and_a_broken_file_is_none(own_cache):
    tuning.remember(choose(), SHAPE, BYTE, {"together": 1})
    tuning._remembered.cache_clear()
    assert tuning.remembered(choose(), SHAPE, BYTE) == {"together": 1}
    (file,) = own_cache.rglob("tuned-*.json")
    for content in ("{", "[1]", json.dumps({"2x20x300 uint8": 3})):
        file.write_text(content)
        tuning._remembered.cache_clear()
        assert tuning.remembered(choose(), SHAPE, BYTE) == {}
    file.write_text(json.dumps({"2x20x300 uint8": {"together": 7, "color": 1}}))  # of another version
    tuning._remembered.cache_clear()
    assert tuning.remembered(choose(), SHAPE, BYTE) == {}


@pytest.mark.parametrize(("seconds", "chosen"), [(0.9, {"together": 1}), (0.98, {}), (1.5, {})])
def test_what_is_faster_by_enough_is_remembered(seconds, chosen, monkeypatch):
    def measured(_setting, _shape, tried):
        return [Stats.of([seconds if choice.get("together") else 1.0]) for choice in tried]

    monkeypatch.setattr(tune, "_measured", measured)
    tuning.remember(choose(), SHAPE, BYTE, {"together": 1})
    made = tune.tune(Setting(runs=1), shapes=[SHAPE])
    assert list(made.steps) == ["2 of 300 x 20: together"]
    assert tuning.remembered(choose(), SHAPE, BYTE) == chosen
    (row,) = made.table.rows
    assert row["chosen"] == ("together +1" if chosen else "default")
    assert row["ratio"] == pytest.approx(1 / seconds if chosen else 1)


@pytest.mark.parametrize("is_gpu", [False, True])
def test_each_choice_is_measured(is_gpu, monkeypatch):
    monkeypatch.setattr(Device, "is_gpu", is_gpu)
    monkeypatch.setattr(tune, "SECONDS", 0.0)
    made = tune.tune(Setting(runs=3), shapes=[(1, 16, 20)])
    assert len(list(made.steps)) == len(tuning.knobs(choose()))
    assert made.table.columns.keys() <= made.table.rows[0].keys()


def test_a_choice_with_another_result_is_refused(monkeypatch):
    def other_filter(*given, tuning, **named):
        return fused(*given, **named | {"levels": 200 if tuning.get("together") else 255})

    monkeypatch.setattr(tune, "fused", other_filter)
    with pytest.raises(RefusedError, match="differ in their results"):
        list(tune.tune(Setting(runs=1), shapes=[SHAPE]).steps)
    assert tuning.remembered(choose(), SHAPE, BYTE) == {}
