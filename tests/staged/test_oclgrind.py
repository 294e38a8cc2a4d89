"""Every kernel on Oclgrind, a simulator that watches each access to memory: no race, none out of bounds, results right.

It is slow, so images have 8 to 24 pixels a side. Each job is a process of its own (oclgrind_run.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fftfilter.device import opencl
from tests.helpers import needs_oclgrind

pytestmark = needs_oclgrind

HERE = Path(__file__).parent
KERNELS = opencl.folder()

WATCHFUL = {
    "OCLGRIND_DATA_RACES": "1",
    # Two work-items that write the same value to the same place race, too.
    "OCLGRIND_UNIFORM_WRITES": "1",
    # The code as it stands: optimized, clang makes an intrinsic of bit_reversal.cl that Oclgrind lacks.
    "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
    # A cached binary would be one of other build options.
    "PYOPENCL_NO_CACHE": "1",
    # Not OCLGRIND_UNINITIALIZED: it reports vectors made of their parts, as (float2)(r, 0). New buffers hold NaN
    # instead. Not OCLGRIND_CHECK_API: pyopencl asks for what Oclgrind has not, and raises all other errors itself.
}

JOBS = ["pictures", "engines"]
# The fused engine's kernels are watched in tests/fused.
FILES = sorted(file.relative_to(KERNELS).as_posix() for file in KERNELS.glob("staged/**/*.cl"))


def run(job):
    """Return the finished process of a job."""
    return subprocess.run(
        [sys.executable, HERE / "oclgrind_run.py", job],
        env={**os.environ, **WATCHFUL, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def job_of(file):
    """Return the job that has to launch every kernel of a file."""
    return "engines" if file.startswith("staged/algorithms/") else "pictures"


def kernels(job):
    """Return every kernel function that a job has to launch, with its file."""
    return {
        (file, name)
        for file in FILES
        for name in re.findall(r"kernel\s+void\s+(\w+)", (KERNELS / file).read_text())
        if job_of(file) == job
    }


@pytest.mark.parametrize("job", JOBS)
def test_every_kernel_runs_without_reports_and_with_right_results(job):
    result = run(job)
    # Whatever Oclgrind has to say is on stderr, and nothing else may be.
    assert result.stderr[:3000] == ""
    assert result.returncode == 0
    launched = {tuple(kernel) for kernel in json.loads(result.stdout)}
    assert sorted(kernels(job) - launched) == [], "never launched"


def test_every_kernel_belongs_to_a_job():
    assert len(kernels("pictures")) + len(kernels("engines")) > 20
    assert ("staged/algorithms/dft.cl", "dft_spin_factors") in kernels("engines")
    assert ("staged/steps/load.cl", "load") in kernels("pictures")
    assert ("staged/bluestein.cl", "convolve") in kernels("pictures")


# That there are no reports means something only if there would be some.
def test_kernels_broken_on_purpose_are_reported():
    said = run("damages").stderr
    reports = {
        "no barriers": ["Read-write data race at local memory"],
        "barriers for some": ["Work-group divergence detected (barrier)"],
        "no bounds": ["Invalid read of size", "Invalid write of size", "Write-write data race at global memory"],
    }
    of_damage = dict(part.split("\n", 1) for part in said.split("damage: ")[1:])
    missing = [(damage, each) for damage, wanted in reports.items() for each in wanted if each not in of_damage[damage]]
    assert missing == []
