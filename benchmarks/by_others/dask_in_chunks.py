"""Low-pass a raw PGM by Dask, in chunks: ``python dask_in_chunks.py IN OUT.npy PERIOD``, a Gaussian of this cutoff."""

import sys
from pathlib import Path

import dask.array as da
import numpy as np

source, target, period = sys.argv[1], sys.argv[2], float(sys.argv[3])
with Path(source).open("rb") as file:
    file.readline()
    width, height = map(int, file.readline().split())
    file.readline()
    given = np.memmap(source, np.uint8, "r", file.tell(), (height, width))
rows, columns = (1024, -1), (-1, 256)
down, across = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)
f2 = da.from_array(down**2, chunks=(-1, 1)) + da.from_array(across**2, chunks=256)
spectrum = da.fft.rfft(da.from_array(given, chunks=rows).astype(np.float32), axis=1).rechunk(columns)
spectrum = da.fft.fft(spectrum, axis=0) * da.exp2(-(period**2) * f2).astype(np.float32)
values = da.fft.irfft(da.fft.ifft(spectrum, axis=0).rechunk(rows), n=width, axis=1)
made = np.lib.format.open_memmap(target, "w+", np.uint8, (height, width))
da.store(da.rint(values).clip(0, 255).astype(np.uint8), made)
