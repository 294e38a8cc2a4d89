"""A small filter on every OpenCL device that this machine has, those of the system's drivers included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fftfilter
from tests.helpers import HAS_POCL_WHEEL

# Prints each device's name before it is used: a driver that ends the process is the last one named.
SCRIPT = """
import numpy as np
from fftfilter import Filter, transfer as H
from fftfilter.device_choice import devices
from tests.helpers import assert_gray_levels, by_reference

image = np.random.default_rng(20261121).integers(0, 256, (8, 64), dtype=np.uint8)
for device in devices():
    if device.is_simulator:
        continue
    print(device.index, device.platform, device.name, flush=True)
    made = Filter(H.highpass(), device=device.index, output="magnitude", edges="wrap")
    assert_gray_levels(made(image), by_reference(image, H.highpass()))
"""


def test_the_reference_is_met_on_every_device():
    environment = {**os.environ, "PYTHONPATH": str(Path(fftfilter.__file__).parents[1])}
    if HAS_POCL_WHEEL:
        environment.pop("OCL_ICD_VENDORS")  # which conftest sets for the tests' own process
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, f"on the last of these devices:\n{result.stdout}\n{result.stderr[-2000:]}"
    assert result.stdout.strip(), "no device but simulators"
