"""Every kernel on Oclgrind, a simulator that watches each access to memory: no race, none out of bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fftfilter.device import opencl
from tests.helpers import needs_oclgrind

WATCHFUL = {
    "OCLGRIND_DATA_RACES": "1",
    "OCLGRIND_UNIFORM_WRITES": "1",
    "PYOPENCL_NO_CACHE": "1",
    "PYTHONWARNINGS": "ignore",
    "PYTHONPATH": str(Path(opencl.__file__).parents[2]),
}


@needs_oclgrind
@pytest.mark.parametrize(
    ("job", "more"),
    [
        ("cpu", {}),
        ("gpu", {"OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable"}),
        # It takes groups that wait for each other for a race.
        ("cpu-workers", {"OCLGRIND_DATA_RACES": ""}),
        ("one-launch", {"OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable", "OCLGRIND_DATA_RACES": ""}),
    ],
)
def test_oclgrind_has_nothing_to_report(job, more):
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("oclgrind_run.py"), job],
        env={**os.environ, **WATCHFUL, **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr[:3000] == ""
    assert done.stdout == "all done\n"
