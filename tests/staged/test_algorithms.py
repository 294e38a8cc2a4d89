"""The algorithms: every variant against numpy.fft, their options, plans and entries in the catalogue.

Parametrized by what is found in the folder: a new algorithm is tested without a line here.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.device import opencl
from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import choose
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.staged import algorithms
from fftfilter.staged.pipeline import Transform, Workspace
from fftfilter.staged.steps import FORWARD, INVERSE, SPIN, X, plan_rows
from tests.helpers import COMMAND, assert_gray_levels, assert_transform, by_reference
from tests.variants import variants

VARIANTS = [
    pytest.param(name, options, id=" ".join([name, *(f"{k}={v}" for k, v in options.items())]))
    for name in algorithms.names()
    for options in variants(name)
]
OPTIONED = [entry for entry in algorithms.catalogue() if entry.options]

# No stage, one, then every remainder of log2 n by log2 of radix 4, 8, 16; one launch and several of a work-group's
# transform; the largest of everyday images; 24 and 451 go through Bluestein on top of the variant.
LENGTHS = (1, 2, 4, 8, 16, 512, 4096, 24, 451)
# Back go the same kernels, with a direction: no stage, those of few lengths, and Bluestein's.
INVERSE_LENGTHS = (1, 8, 512, 24)


def numbers(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def check(rng, n, *, back=True, **options):
    x = numbers(rng, (3, n))
    assert_transform(fftfilter.fft(x, **options), np.fft.fft(x), n)
    if back:
        assert_transform(fftfilter.ifft(x, **options), np.fft.ifft(x), n)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_every_variant_against_numpy(name, options, rng):
    for n in LENGTHS:
        check(rng, n, back=n in INVERSE_LENGTHS, algorithm=name, **options)


# The other variants' kernels are tried in double precision on Oclgrind.
@pytest.mark.parametrize("name", algorithms.names())
def test_every_algorithm_in_double_precision(name, rng):
    for n in (24, 128):
        check(rng, n, algorithm=name, precision="double")


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_batches_of_every_variant(name, options, rng):
    for rows in (1, 7, 129):
        x = numbers(rng, (rows, 32))
        assert_transform(fftfilter.fft(x, algorithm=name, **options), np.fft.fft(x), 32)


# The shortest row that has a stage, more than one launch; then one side Bluestein's.
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_every_variant_filters_images(name, options, rng):
    for size in ((2, 16), (16, 64), (8, 9)):
        image = rng.integers(0, 256, size, dtype=np.uint8)
        with fftfilter.Filter(H.highpass(2), engine=name, engine_options=options, **COMMAND) as high:
            assert_gray_levels(high(image), by_reference(image, H.highpass(2)))
            assert high.engine == name


@pytest.mark.parametrize("name", ["stockham", "workgroup", "workgroup-coalesced", "pease", "dif"])
def test_long_rows_of_several_launches(name, rng):
    x = numbers(rng, (1, 1 << 18))
    assert_transform(fftfilter.fft(x, algorithm=name), np.fft.fft(x), 1 << 18)


@pytest.mark.parametrize("name", algorithms.names())
def test_a_plan_is_data_the_same_every_time(name):
    method = algorithms.load(name)
    for n in (2, 3, 64):
        plan = plan_rows(n, method)
        assert plan == plan_rows(n, method)
        assert str(n) in repr(plan)
        assert plan.width >= n


@pytest.mark.parametrize("entry", algorithms.catalogue(), ids=lambda entry: entry.name)
def test_the_catalogue_tells_all_about_each(entry):
    for label in algorithms.LABELS:
        assert getattr(entry, label.lower()), f"{entry.name}: no {label} in its docstring"
    assert entry.title
    tried = {option for options in variants(entry.name) for option in options}
    assert tried == set(entry.options), f"{entry.name}: tests/variants.py must try every option"


def test_the_catalogue_reads_as_it_is_written():
    entry = next(entry for entry in algorithms.catalogue() if entry.name == "workgroup-coalesced")
    assert (entry.title.endswith("."), "  " in entry.idea, "\n" in entry.source) == (False, False, False)
    book = next(entry for entry in algorithms.catalogue() if entry.name == "book")
    assert book.title == "The book's transform: Cooley-Tukey, radix 2, decimation in time"
    assert book.trips == "log2 n + 1 through global memory; bit reversal out of place, butterflies in place"
    assert (book.radix, book.limits, book.options) == ("2", "n a power of two", {})
    assert {entry.name: entry.options for entry in OPTIONED} == {
        "binary-exchange": {"p": None},
        "pease": {"layout": "line"},
        "stockham": {"radix": 4, "arithmetic": "plain"},
        "workgroup": {"r": 32},
        "workgroup-coalesced": {"r": 32},
    }


@pytest.mark.parametrize("entry", OPTIONED, ids=lambda entry: entry.name)
def test_wrong_values_of_options_are_refused(entry):
    for option in entry.options:
        for value in (0, -3, "much", 1.5):
            with pytest.raises(ParameterError, match=f"{option} .* is invalid: choose"):
                algorithms.load(entry.name, **{option: value})


def test_a_work_group_has_any_power_of_two_of_work_items():
    powers = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    for name, most in (("workgroup", "1, 2, 4 ..."), ("workgroup-coalesced", ", ".join(map(str, powers)))):
        for r in powers:
            assert len(algorithms.load(name, r=r).plan(2 * r).launches) == 1
        with pytest.raises(ParameterError, match=f"r 3 is invalid: choose .*{re.escape(most)}$"):
            algorithms.load(name, r=3)
    with pytest.raises(ParameterError, match="r 512 is invalid"):
        algorithms.load("workgroup-coalesced", r=512)


@pytest.mark.parametrize("name", algorithms.names())
def test_unknown_options_are_told_the_known_ones(name):
    with pytest.raises(ParameterError, match=f"{name} has no option 'color': it has"):
        fftfilter.fft([1, 2], algorithm=name, color=1)


def test_a_name_that_is_no_algorithm_is_told_the_known_ones():
    with pytest.raises(
        ParameterError, match=r"^'magic' is not an algorithm: choose binary-exchange, book, .*, workgroup-"
    ):
        algorithms.load("magic")


def test_a_work_group_beyond_the_device_is_refused():
    limit = choose().work_group_limit
    with pytest.raises(ParameterError, match="work-group size"):
        fftfilter.fft(np.ones(8 * limit), algorithm="workgroup", r=2 * limit)


def test_functions_and_macros_have_one_definition():
    # Files of a plan are joined into one program.
    named = Counter()
    for path in (opencl.folder() / "staged").rglob("*.cl"):
        text = path.read_text(encoding="utf-8")
        named.update(set(re.findall(r"^(?:inline|kernel) \w+ (\w+)\((?:global|const|uint)", text, re.MULTILINE)))
        named.update(set(re.findall(r"^#define (\w+)", text, re.MULTILINE)))
        named.update(set(re.findall(r"^(?:typedef .* |} )(\w+);", text, re.MULTILINE)))
    assert named["butterfly"] == named["LITERAL"] == named["cutoff_t"] == 1
    assert [name for name, files in named.items() if files > 1] == []


def kernels(stages):
    return [stage.kernel for stage in stages]


@pytest.mark.parametrize(
    ("radix", "n", "radices"),
    [(2, 8, [2, 2, 2]), (4, 32, [4, 4, 2]), (8, 32, [8, 4]), (16, 1024, [16, 16, 4]), (16, 8, [8])],
)
def test_stockham_takes_the_radix_that_is_left_last(radix, n, radices):
    stages = algorithms.load("stockham", radix=radix).plan(n).launches
    assert [stage.defines[0] for stage in stages] == [f"STOCKHAM_RADIX={r}" for r in radices]
    assert [stage.items for stage in stages] == [(n // r,) for r in radices]
    assert [stage.arguments["p"] for stage in stages] == [int(np.prod(radices[:i])) for i in range(len(radices))]
    assert all(stage.swap for stage in stages)


@pytest.mark.parametrize(("r", "n", "groups"), [(1, 8, [1, 1, 1]), (4, 64, [4, 4]), (4, 128, [4, 4, 1]), (64, 8, [4])])
def test_workgroup_launches_make_up_the_length(r, n, groups):
    stages = algorithms.load("workgroup", r=r).plan(n).launches
    assert [stage.group for stage in stages] == [(size, 1) for size in groups]
    assert {stage.items for stage in stages} == {(n // 2,)}


def test_coalesced_work_groups_have_256_work_items_wherever_a_row_has_them():
    for r in (1, 8, 64, 256):
        stages = algorithms.load("workgroup-coalesced", r=r).plan(4096).launches
        assert {stage.group for stage in stages} == {(256, 1)}


def test_peases_spin_factors_halve_and_geometry_stays():
    first, *stages = algorithms.load("pease").plan(16).launches
    assert first.kernel == "pease_bit_reversal"
    assert [stage.arguments["distinct"] for stage in stages] == [8, 4, 2, 1]
    assert {(stage.kernel, stage.items, stage.arguments["n"]) for stage in stages} == {("pease_line", (4,), 16)}


@pytest.mark.parametrize(("n", "items", "sides"), [(64, (2, 8), (8, 8)), (128, (4, 8), (16, 8)), (8, (1, 2), (4, 2))])
def test_peases_square_is_launched_over_both_sides(n, items, sides):
    plan = algorithms.load("pease", layout="square").plan(n)
    assert {
        (stage.kernel, stage.items, stage.arguments["width"], stage.arguments["height"]) for stage in plan.launches[1:]
    } == {("pease_square", items, *sides)}
    assert plan.run(3, FORWARD)[1].items == (items[0], 3 * items[1])


@pytest.mark.parametrize(("p", "items"), [(None, 16), (1, 1), (3, 3), (16, 16), (99, 16)])
def test_binary_exchange_launches_p_work_items_a_row(p, items):
    options = {} if p is None else {"p": p}
    *stages, last = algorithms.load("binary-exchange", **options).plan(16).launches
    assert [stage.items for stage in stages] == [(items,)] * 4
    assert last.kernel == "bit_reversal"


def test_decimation_in_frequency_forward_and_in_time_back_need_no_bit_reversal():
    plan = algorithms.load("dif").plan(8)
    assert kernels(plan.run(1, FORWARD)) == [*["dif_butterfly"] * 3, "bit_reversal"]
    assert kernels(plan.run(1, FORWARD, ordered=False)) == ["dif_butterfly"] * 3
    assert kernels(plan.run(1, INVERSE, ordered=False)) == ["butterfly"] * 3
    assert plan.reversed_bits == 3


def run_stages(x, plan, stages):
    launcher = Launcher(choose())
    space = Workspace(launcher, (plan,), x.size, "test")
    space.write(X, x.astype(np.complex64))
    space.run(stage.bind({SPIN: plan.spin}) for stage in stages)
    return space.read(X, np.empty(x.shape, np.complex64))


@pytest.mark.parametrize("name", ["binary-exchange", "iterative", "dif"])
def test_what_is_published_unordered_is_bit_reversed(name, rng):
    x = numbers(rng, (2, 8))
    plan = algorithms.load(name).plan(8)
    got = run_stages(x, plan, plan.run(2, FORWARD)[:-1])
    np.testing.assert_allclose(got, np.fft.fft(x)[:, [0, 4, 2, 6, 1, 5, 3, 7]], atol=1e-5)


def test_peases_bit_reversal_merges_the_halves():
    plan = algorithms.load("pease").plan(8)
    got = run_stages(np.arange(8), plan, plan.run(1, FORWARD)[:1])
    assert got.real.tolist() == [0, 4, 2, 6, 1, 5, 3, 7]


def test_one_stage_of_pease_recombines_pairs():
    plan = algorithms.load("pease").plan(8)
    got = run_stages(np.array([1, 2, 3, 4, 5, 6, 7, 8]), plan, plan.run(1, FORWARD)[-1:])
    assert got.real.tolist() == [3, 7, 11, 15, -1, -1, -1, -1]


def test_chirps_of_long_rows_are_exact():
    """The square of the last place has more than 32 bits."""
    n = 70001
    plan = plan_rows(n, algorithms.load("stockham"))
    launcher = Launcher(choose())
    table = Workspace(launcher, (plan,), plan.width, "test").read(plan.spin, np.empty(plan.spin_length, np.complex64))
    chirps = table[-plan.width - n : -plan.width]
    squares = np.arange(n, dtype=np.int64) ** 2 % (2 * n)
    np.testing.assert_allclose(chirps, np.exp(-1j * np.pi * squares / n), atol=1e-6)


def test_a_transform_that_the_device_cannot_hold_is_named_by_its_shape():
    with pytest.raises(TooLargeError, match="a transform of 2 x 1048576 x 2097152 needs"):
        Transform(Launcher(choose()), algorithms.load("book"), (2, 1 << 20, 1 << 21), 2)


def test_the_time_of_a_stage_on_the_host_is_kept():
    launcher = Launcher(choose(), profile=True)
    Transform(launcher, algorithms.load("recursive"), (1, 3, 8), 1).run(np.zeros((1, 3, 8), np.complex64))
    assert [timing.step for timing in launcher.timings()] == ["write", "read", "recursive"]
