"""Each benchmark is one command from a clone."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from click.testing import CliRunner

from benchmarks.environment import CLONE

NAMES = ["peers", "transforms", "start", "folder", "cluster", "stream", "explore", "png_levels", "volumes"]


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_a_command(name):
    done = CliRunner().invoke(import_module(f"benchmarks.{name}").command, ["--help"])
    assert f"Example: python -m benchmarks.{name}" in done.stdout
    assert "--runs N" in done.stdout


def test_a_benchmark_measures_in_a_process_of_its_own():
    command = [sys.executable, "-m", "benchmarks.stream", "--size", "8x8", "--runs", "1", "--csv"]
    done = subprocess.run(command, cwd=CLONE, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("size,"), done.stderr
    assert "\n8 x 8," in done.stdout


def test_an_error_is_one_line():
    command = [sys.executable, "-m", "benchmarks.stream", "--device", "none such"]
    done = subprocess.run(command, cwd=CLONE, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("stream: no OpenCL device 'none such'")
    assert done.stderr.count("\n") == 1
    assert done.returncode == 3
