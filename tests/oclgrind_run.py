"""Run every kernel of one algorithm on the Oclgrind simulator; its output names the kernels launched.

python oclgrind_run.py stockham
"""

from __future__ import annotations

import sys

import numpy as np

import fftfilter
from fftfilter import algorithms
from fftfilter.launch import Launcher

launched = set()
run = Launcher.run


def noted(self, stages, names):
    stages = tuple(stages)
    launched.update(stage.kernel for stage in stages if not stage.host)
    run(self, stages, names)


Launcher.run = noted
name = sys.argv[1]
rng = np.random.default_rng(61)
for options in algorithms.variants(name):
    for n in (2, 8, 32, 3):
        x = rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))
        there = fftfilter.fft(x, algorithm=name, device="oclgrind", **options)
        np.testing.assert_allclose(there, np.fft.fft(x), atol=1e-4)
        back = fftfilter.ifft(there, algorithm=name, device="oclgrind", **options)
        np.testing.assert_allclose(back, x, atol=1e-4)
image = rng.integers(0, 256, (8, 12), dtype=np.uint8)
for transpose in ("tiled", "plain", "float4"):
    fftfilter.highpass(image, 2, engine=name, transpose=transpose, device="oclgrind")
sys.stdout.write(" ".join(sorted(launched)))
