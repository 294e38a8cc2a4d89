"""``fftfilter devices --check``: every engine and form beside the reference, and what is said of one that is wrong."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from fftfilter import device_check
from fftfilter.device.choice import choose
from fftfilter.device.launcher import Launcher
from fftfilter.device_check import Form, Found, Row
from fftfilter.errors import BuildError
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.rounding import NOISE
from fftfilter.staged import algorithms

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


def rows_of(*forms):
    return [told for told in device_check.check(choose(), iter(forms)) if isinstance(told, Row)]


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


def test_missing_pixels_are_held_to_numpy(monkeypatch):
    form = Form("missing pixels", SIZES, device_check._completed)
    (row,) = rows_of(form)
    assert row.found.is_right
    assert 0 < row.found.error < 1e-6
    monkeypatch.setattr(device_check, "fill", lambda _, planes, __: planes)
    (row,) = rows_of(form)
    assert not row.found.is_right


def test_all_algorithms_and_both_forms_are_tried_what_the_device_is_given_first():
    forms = list(device_check.forms(choose("cpu")))
    names = [form.name for form in forms]
    assert {f"staged, {name}" for name in algorithms.names()} <= set(names)
    assert [form.is_used for form in forms] == sorted((form.is_used for form in forms), reverse=True)
    assert {name for name in names if "GPU form" in name} == {form.name for form in forms if not form.is_used}
    as_gpu = SimpleNamespace(is_gpu=True, fp64=False, platform="another one")
    forms = list(device_check.forms(as_gpu))
    assert {form.precision for form in forms} == {"single"}
    assert {form.name for form in forms if not form.is_used} == {"fused, CPU form", "fused, CPU form, mirrored"}


def test_the_pixels_and_outputs_of_the_form_that_a_device_is_given_are_tried():
    def kinds(platform, *, is_gpu):
        forms = device_check.forms(SimpleNamespace(is_gpu=is_gpu, fp64=False, platform=platform))
        names = {form.name.partition(", scale auto") for form in forms if form.name.startswith("fused, ")}
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
