"""``fftfilter devices --check``: every engine and form beside the reference, and what is said of one that is wrong."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import fftfilter
from fftfilter.commands.devices import describe
from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import choose
from fftfilter.errors import BuildError
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.rounding import NOISE
from fftfilter.staged import algorithms
from fftfilter.work import device_check
from fftfilter.work.device_check import Form, Found, Row

SIZES = ((1, 1), (12, 10))


class Wrong(FusedCpuPipeline):
    """A pipeline whose pictures are half as bright."""

    def run(self, images, ramps=None):
        made = super().run(images, ramps)
        return made if self.stack.white is None else made // 2


def refused(*_):
    raise BuildError("it cannot build: no compiler")


def form_of(make, **given):
    return Form("a form", SIZES, partial(device_check._filtered, make), **given)


def rows_of(*tried):
    return [told for told in device_check.check(choose(), iter(tried)) if isinstance(told, Row)]


class NoHistogram(FusedCpuPipeline):
    """A pipeline that leaves no extreme values out."""

    def run(self, images, ramps=None):
        return super().run(images, None if isinstance(ramps, ByHistogram) else ramps)


def test_a_right_form_is_told_with_its_errors():
    (row,) = rows_of(form_of(FusedCpuPipeline))
    assert row.found.is_right
    assert 0 < row.found.error < 2e-6
    assert 0 < row.found.left < NOISE
    assert "right   10 x 12: off by at most " in str(row)


@pytest.mark.parametrize(("is_used", "verdict"), [(True, "WRONG  "), (False, "wrong, but not used here")])
def test_a_wrong_form_is_told_with_its_worst_picture(is_used, verdict):
    (row,) = rows_of(form_of(Wrong, is_used=is_used))
    assert not row.found.is_right
    assert f" {verdict} 10 x 12: off by at most 128 of 255 levels" in str(row)


class WrongValues(FusedCpuPipeline):
    """A pipeline whose values are half of what they should be, and whose pictures are right."""

    def run(self, images, ramps=None):
        made = super().run(images, ramps)
        return made if self.stack.white is not None else made / 2


def test_values_have_to_be_right_as_well_as_pictures():
    (row,) = rows_of(form_of(WrongValues))
    assert not row.found.is_right
    assert 0.1 < row.found.error < 1
    assert "levels" not in row.found.said


def test_an_error_takes_the_place_of_the_result():
    (row,) = rows_of(form_of(refused))
    assert str(row).endswith("it cannot build: no compiler")
    assert not row.found.is_right


def test_plain_transforms_are_held_to_numpy():
    fused, book = rows_of(
        Form("fused", SIZES, device_check._transformed), Form("book", SIZES, device_check._transformed_by_the_book)
    )
    assert fused.found.is_right
    assert book.found.is_right
    assert 0 < fused.found.error < 1e-6


@pytest.mark.parametrize("kind", device_check.KINDS)
@pytest.mark.parametrize("make", [FusedCpuPipeline, partial(FusedGpuPipeline, one_launch=False)], ids=["CPU", "GPU"])
def test_all_pixels_and_outputs_are_held_to_the_reference(make, kind):
    # Of the form for GPUs each size is programs of its own: this one is compiled for other tests, too.
    sizes = ((12, 10), (67, 61))[: 2 if make is FusedCpuPipeline else 1]
    (row,) = rows_of(Form("a form", sizes, partial(device_check._to_pixels, make, kind=kind)))
    assert row.found.is_right, row
    assert 0 < row.found.error < 2e-6


def test_a_range_that_is_not_that_of_the_histogram_is_wrong():
    assert not device_check._to_pixels(NoHistogram, Launcher(choose()), (67, 61), kind="scale auto").is_right


def test_of_plain_transforms_the_worst_wrong_one_is_told_of_those_that_the_device_does(monkeypatch):
    errors = {"complex, both": 3e-7, "complex, rows": 1e-7, "complex, columns": 2e-7, "values, both": 4e-7}
    monkeypatch.setattr(
        device_check, "_error", lambda *given: Found(given[-1] not in list(errors)[1:3], given[-1], errors[given[-1]])
    )
    monkeypatch.setattr(device_check, "serves_plain", lambda _, shape: shape.data != "real")
    assert device_check._transformed(Launcher(choose()), (12, 10)).said == "complex, columns"
    monkeypatch.setattr(device_check, "serves_plain", lambda _, shape: shape.data == "values")
    assert device_check._transformed(Launcher(choose()), (12, 10)).said == "values, both"


@pytest.mark.parametrize(("edges", "is_right"), [("mirror", True), ("wrap", False)])
def test_mirrored_edges_are_held_to_the_reference(edges, is_right):
    make = partial(FusedCpuPipeline, edges=edges)
    assert device_check._to_pixels(make, Launcher(choose()), (67, 61), edges="mirror").is_right == is_right


def test_missing_pixels_are_held_to_numpy(monkeypatch):
    form = Form("missing pixels", SIZES, device_check._completed)
    (row,) = rows_of(form)
    assert row.found.is_right
    assert 0 < row.found.error < 1e-6
    monkeypatch.setattr(device_check, "fill", lambda _, planes, __: planes)
    (row,) = rows_of(form)
    assert not row.found.is_right


def test_all_algorithms_and_both_forms_are_tried_what_the_device_is_given_first():
    found = list(device_check.forms(choose("cpu")))
    names = [form.name for form in found]
    assert {f"staged, {name}" for name in algorithms.names()} <= set(names)
    assert [form.is_used for form in found] == sorted((form.is_used for form in found), reverse=True)
    assert {name for name in names if "GPU form" in name} == {form.name for form in found if not form.is_used}
    as_gpu = SimpleNamespace(is_gpu=True, fp64=False, platform="another one")
    found = list(device_check.forms(as_gpu))
    assert {form.precision for form in found} == {"single"}
    assert {form.name for form in found if not form.is_used} == {"fused, CPU form", "fused, CPU form, mirrored"}


def test_the_pixels_and_outputs_of_the_form_that_a_device_is_given_are_tried():
    def kinds(platform, *, is_gpu):
        found = device_check.forms(SimpleNamespace(is_gpu=is_gpu, fp64=False, platform=platform))
        names = {form.name.partition(", scale auto") for form in found if form.name.startswith("fused, ")}
        return sorted(name for name, auto, _ in names if auto)

    assert kinds("PoCL", is_gpu=False) == ["fused, CPU form"]
    assert kinds("Apple", is_gpu=True) == ["fused, GPU form, generic", "fused, GPU form, specialized"]
    # Where launches wait for each other, they do not as well.
    assert kinds("NVIDIA CUDA", is_gpu=True) == [
        "fused, GPU form, four launches", "fused, GPU form, generic", "fused, GPU form, specialized",
    ]  # fmt: skip


def test_a_form_is_told_with_the_largest_of_each_error():
    found = {(1, 1): Found(True, "small", 1e-7, 3e-7), (12, 10): Found(True, "large", 2e-7, 1e-7)}
    (row,) = rows_of(Form("a form", SIZES, lambda _, size: found[size]))
    assert row.found == Found(True, "large", 2e-7, 3e-7)


def test_a_row_has_its_numbers_under_the_heads_of_the_columns():
    form = Form("a form", SIZES, None, "double")
    line = f"{form} {Row(form, (5, 3), Found(True, 'off by 0', 1.26e-7, 3.14e-6))}"
    heads = ("form", "precision", "error", "left", "verdict", "worst picture")
    at = [*(device_check.HEADER.index(head) for head in heads), None]
    cells = [line[here:end].strip() for here, end in pairwise(at)]
    assert cells == ["a form", "double", "1.3e-07", "3.1e-06", "right", "3 x 5: off by 0"]
    assert str(Row(form, (5, 3), Found(False, "off by 9", 1.0))) == "1.0e+00   -         WRONG   3 x 5: off by 9"


def test_a_report_has_the_error_of_the_self_test_or_why_there_is_none(monkeypatch):
    monkeypatch.setattr(device_check.selftest, "measure", lambda *_: 0.00126)
    device = choose()
    lines = dict(line.split(maxsplit=1) for line in device_check.facts(device, describe(device)).splitlines())
    assert lines["self-test"] == "relative error 1.3e-03, at most 1e-02 is right"
    assert lines["device"] == f"{device.index} {device.name}"
    assert lines["fp64"] == "True"
    assert lines["fftfilter"].startswith(f"{fftfilter.__version__}, Python 3.")
    assert ("repaired" in lines) == (device.repaired is not None)
    monkeypatch.setattr(device_check.selftest, "measure", refused)
    assert f"{'self-test':<20} it cannot build: no compiler" in device_check.facts(device, {}).splitlines()


def test_what_a_device_is_given_is_tried_on_large_and_long_sizes_and_the_rest_on_five_small_ones():
    sizes = {form.name: form.sizes for form in device_check.forms(SimpleNamespace(is_gpu=False, fp64=True))}
    small, large = device_check.SMALL, device_check.LARGE
    assert sizes["fused, CPU form"] == sizes["fused, plain FFT"] == (*small, *large, *device_check.LONG)
    assert sizes["fused, CPU form, mirrored"] == sizes["missing pixels"] == (*small, *large)
    assert sizes["staged, book"] == sizes["staged, stockham"] == (*small, *large)
    assert sizes["staged, pease"] == device_check.SOME
    assert sizes["fused, GPU form, generic"] == small[1:]
    assert sizes["fused, GPU form, in two steps"] == device_check.LONG[1:]
    sizes = {form.name: form.sizes for form in device_check.forms(SimpleNamespace(is_gpu=True, fp64=True, platform=""))}
    assert sizes["fused, GPU form, specialized"] == sizes["fused, GPU form, generic"] == (*small, *large)
    assert sizes["fused, GPU form, in two steps"] == device_check.LONG
    assert sizes["fused, CPU form"] == small[1:]


def test_forms_of_the_staged_engine_are_tried_in_double_precision_where_the_device_has_it():
    found = list(device_check.forms(SimpleNamespace(is_gpu=False, fp64=True)))
    both = {form.name for form in found if form.precision == "double"}
    assert both == {form.name for form in found if form.name.startswith(("numpy", "staged, ", "missing"))}


def test_a_form_is_tried_in_its_own_precision():
    for precision, real in (("single", "float"), ("double", "double")):
        (row,) = rows_of(Form("a form", SIZES, lambda by, _: Found(True, by.real_name), precision))
        assert row.found.said == real


def test_of_wrong_and_right_sizes_the_worst_wrong_one_is_told():
    found = {(1, 1): Found(False, "wrong", 1e-3), (2, 2): Found(False, "worst", 2e-3), (3, 3): Found(True, "", 0.5)}
    (row,) = rows_of(Form("a form", tuple(found), lambda _, size: found[size]))
    assert (row.size, row.found.said, row.found.error) == ((2, 2), "worst", 0.5)


class Leaky(FusedCpuPipeline):
    """A pipeline that leaves a thousandth of what it should remove."""

    def run(self, images, ramps=None):
        made = super().run(images, ramps)
        return made + images / 1000 if self.stack.white is None else made


def test_what_is_left_of_a_wave_is_a_part_of_its_deviation():
    left = device_check._left_of_a_wave(Leaky, Launcher(choose()), (12, 10))
    assert left == pytest.approx(1e-3 / 1.95, rel=0.01)  # its offset is a pixel of -0.95


def test_a_plain_transform_that_is_off_by_more_than_rounding_is_wrong():
    launcher, given = Launcher(choose()), np.ones(100, np.complex64)
    right = device_check._error(given, given, 60, launcher, "complex, both")
    assert right == Found(True, right.said, 0.0)
    wrong = device_check._error(given * 1.001, given, 60, launcher, "complex, both")
    assert not wrong.is_right
    assert wrong.said.startswith("complex, both: relative error 1.0e-03, at most ")
    assert wrong.error == pytest.approx(1e-3, rel=1e-3)
