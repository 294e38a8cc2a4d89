"""``fftfilter devices --check``: a report of a device, and the exit code."""

from __future__ import annotations

from functools import partial

import pytest

from fftfilter import device_check
from fftfilter.commands.devices import _bytes
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline


class Wrong(FusedCpuPipeline):
    """A pipeline whose results are half of what they should be."""

    def run(self, images, ramps=None):
        return super().run(images, ramps) // 2


def form_of(make, **given):
    return device_check.Form("a form", ((12, 10),), partial(device_check._filtered, make), **given)


def test_the_report_has_all_that_is_known_and_a_row_for_each_form(run, monkeypatch):
    tried = [form_of(FusedCpuPipeline), form_of(Wrong, is_used=False)]
    monkeypatch.setattr(device_check, "forms", lambda _: iter(tried))
    code, out, said = run("devices", "--check")
    assert (code, said) == (0, "")
    text = out.decode()
    for fact in ("fftfilter ", "pyopencl ", "driver ", "self-test ", "noise floor is 1e-05"):
        assert fact in text
    assert text.count("\na form ") == 2


def test_a_wrong_form_is_exit_code_1(run, monkeypatch):
    monkeypatch.setattr(device_check, "forms", lambda _: iter([form_of(Wrong)]))
    code, out, said = run("devices", "--check", "cpu")
    assert code == 1
    assert b" WRONG " in out
    assert ": wrong are a form: update its driver, and report what is above" in said


def test_a_report_is_no_json(run):
    assert run("devices", "--check", "--json")[0] == 2


def test_a_device_that_is_not_there_is_exit_code_3(run):
    assert run("devices", "--check", "no such thing")[0] == 3


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (3 << 29, "1.5 GiB"), (1 << 53, "8192 TiB")],
)
def test_sizes_are_said_in_units_of_1024(number, said):
    assert _bytes(number) == said
