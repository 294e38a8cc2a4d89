"""Numbers that are too large, too small or none end in a line with a way out, and exit code 2, before any work."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.images.helpers import GRAY

DIGITS = "9" * 5000
FILES = ("in.png", "out.png")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["notch", "--at", "0.00000000001,0", "--harmonics", 10**11], "whole number from 1 to 1000"),
        (["lowpass", "--input-limit", DIGITS], "is not a size"),
        (["lowpass", "--processes", 2**63], "is not in the range 1<=x<=1024"),
        (["bench", "stages", "--runs", 2**31], "is not in the range 1<=x<=10000"),
        (["bench", "stages", "--side", 2**63], "of free memory"),
        (["bench", "sizes", "--largest", "2^30"], "of free memory"),
        (["bench", "engines", "--size", "99999999x99999999"], "of free memory"),
    ],
    ids=lambda value: " ".join(map(str, value))[:60] if isinstance(value, list) else "",
)
def test_a_number_out_of_bounds_ends_before_the_work(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(GRAY).save("in.png")
    code, stdout, stderr = run(*arguments, *(FILES if arguments[0] != "bench" else ()))
    assert (code, stdout) == (2, b"")
    assert words in stderr
    assert len(stderr.splitlines()) == 1
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("value", [DIGITS, "x" * 5000, f"8{'x' * 5000}"], ids=["digits", "letters", "unit"])
@pytest.mark.parametrize("option", ["--radius", "--order", "--scale", "--pixel-size", "--device", "--shape"])
def test_a_long_value_is_said_in_short(run, tmp_path, option, value):
    Image.fromarray(GRAY).save(tmp_path / "in.png")
    code, _, stderr = run("lowpass", option, value, tmp_path / "in.png", tmp_path / "out.png")
    assert (code, len(stderr.splitlines())) == (3 if option == "--device" else 2, 1)
    assert f"{value[:30]}...{value[-9:]}" in stderr
    assert len(stderr) < 600


def test_a_device_of_thousands_of_digits_is_none(run, tmp_path):
    Image.fromarray(GRAY).save(tmp_path / "in.png")
    code, _, stderr = run("lowpass", "--device", DIGITS, tmp_path / "in.png", tmp_path / "out.png")
    assert (code, len(stderr.splitlines())) == (3, 1)
    assert "no OpenCL device '999" in stderr


@pytest.mark.parametrize(
    ("command", "option", "beyond", "said"),
    [
        ("lowpass --shape butterworth", "--order", 101, "1 to 100"),
        ("lowpass --output keep --region 0,0,4,4", "--feather", 1001, "0 to 1000"),
        ("notch --at 0.1,0.2", "--harmonics", 1001, "at most 1000"),
        ("notch --at 0.1,0.2 --at 0.2,0.1", "--lattice", 21, "20 at most"),
        ("imagej", "--tolerance", 101, "0 to 100"),
        ("descreen", "--keep-detail", 101, "-50 to 100"),
    ],
)
def test_the_help_of_an_option_has_its_bounds(run, tmp_path, command, option, beyond, said):
    Image.fromarray(GRAY).save(tmp_path / "in.png")
    name, *words = command.split()
    of_option = run(name, "--help")[1].decode().partition(f"\n  {option} ")[2].partition("\n  --")[0]
    assert said in " ".join(of_option.split())
    code, _, stderr = run(name, *words, option, beyond, tmp_path / "in.png", tmp_path / "out.png")
    assert (code, len(stderr.splitlines())) == (2, 1), stderr
