"""``fftfilter devices --check``: a report of a device, and the exit code."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace

import pytest

from fftfilter import device_choice
from fftfilter.commands import devices
from fftfilter.commands.devices import _bytes
from fftfilter.errors import DeviceError
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.work import device_check


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
    assert ": wrong results of a form: update its driver, and report this table" in said


def test_a_report_is_no_json(run):
    code, out, said = run("devices", "--check", "--json")
    assert (code, out, said.startswith("fftfilter: --check prints text: leave --json out. See")) == (2, b"", True)


def test_a_device_that_is_not_there_is_exit_code_3(run):
    assert run("devices", "--check", "no such thing")[0] == 3
    assert run("devices", "--device", "no such thing", "--check")[0] == 3
    assert run("devices", "--device", "no such thing")[0] == 3


def test_only_forms_of_single_precision_say_how_much_of_a_wave_is_left(run, monkeypatch):
    rows = [
        device_check.Row(form_of(None, precision=precision), (12, 10), device_check.Found(True, "fine", left=left))
        for precision, left in (("single", 2e-6), ("double", 3e-5))
    ]
    monkeypatch.setattr(device_check, "check", lambda _: iter(["a form ", *rows]))
    code, out, _ = run("devices", "--check")
    assert (code, f"\na form {rows[0]}\n{rows[1]}\n".encode() in out) == (0, True)
    assert out.decode().endswith(
        "\nerror  of filtered noise, as a part of its largest deviation; of a transform, in norm"
        "\nleft   of a wave that the filter removes, as a part of its deviation: "
        "in single precision at most 2.0e-06, and the noise floor is 1e-05\n"
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_problems_are_told_with_their_repair_and_no_device_is_exit_code_3(run, monkeypatch, as_json):
    def none(wanted):
        raise DeviceError(f"no OpenCL device {wanted}: install one")

    monkeypatch.setattr(device_choice, "devices", tuple)
    monkeypatch.setattr(device_choice, "choose", none)
    monkeypatch.setattr(devices, "problems", lambda _: [devices.Problem("no driver", "apt install one")])
    code, out, err = run("devices", "--device", "gpu", *(["--json"] if as_json else []))
    assert (code, err) == (3, "fftfilter: no OpenCL device gpu: install one\n")
    if as_json:
        problems = [{"what": "no driver", "repair": "apt install one", "device": None}]
        wanted = {"devices": [], "chosen": None, "why": "no OpenCL device gpu: install one", "problems": problems}
        assert json.loads(out) == wanted
    else:
        assert out.decode() == "problem: no driver\n   repair: apt install one\n"


def test_a_device_that_is_taken_and_cannot_be_used_is_exit_code_3(run, monkeypatch):
    taken = device_choice.choose(None)
    monkeypatch.setattr(devices, "problems", lambda _: [devices.Problem("it fails", "update it", taken.index)])
    code, out, err = run("devices")
    assert (code, err) == (3, f"fftfilter: {taken.name}: it is taken, and cannot be used: see its problem above\n")
    assert out.decode().endswith("problem: it fails\n   repair: update it\n")


def test_a_device_is_told_line_by_line(run, monkeypatch):
    found = {"index": 2, "name": "abacus", "fp64": False, "half": True, "sizes": [3, 4], "local memory": 2048}
    monkeypatch.setattr(device_choice, "devices", lambda: [found | {"missing": None}, found | {"index": 3}])
    monkeypatch.setattr(devices, "describe", dict)
    monkeypatch.setattr(device_choice, "choose", lambda _: SimpleNamespace(index=2))
    monkeypatch.setattr(device_choice, "why_chosen", lambda *_: "the only one")
    monkeypatch.setattr(devices, "problems", lambda _: [])
    text = run("devices")[1].decode()
    first, second = text.split("\n\n", 1)
    assert first.splitlines() == [
        "2  abacus   <- taken (the only one)",
        "   fp64                 no",
        "   half                 yes",
        "   sizes                3 4",
        "   local memory         2 KiB",
    ]
    assert second.startswith("3  abacus\n")


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (3 << 29, "1.5 GiB"), (1 << 53, "8192 TiB")],
)
def test_sizes_are_said_in_units_of_1024(number, said):
    assert _bytes(number) == said
