"""Every kernel on the Oclgrind simulator: no access outside a buffer, no race, no missing barrier."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from fftfilter import algorithms
from fftfilter.device import all_devices

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    not any("Oclgrind" in device.platform.name for device in all_devices()), reason="Oclgrind is not installed"
)


@cache
def on_oclgrind(name):
    """Run one algorithm there, in a process of its own: the simulator reads its settings when it is loaded."""
    return subprocess.run(
        [sys.executable, HERE / "oclgrind_run.py", name],
        env={**os.environ, "OCLGRIND_DATA_RACES": "1", "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", algorithms.names())
def test_no_report(name):
    done = on_oclgrind(name)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_kernel_is_left_out():
    launched = {kernel for name in algorithms.names() for kernel in on_oclgrind(name).stdout.split()}
    files = [path for path in (HERE.parent / "kernels").rglob("*.cl") if path.parent.name != "fused"]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert set(re.findall(r"^kernel void (\w+)\(global", text, re.MULTILINE)) <= launched
