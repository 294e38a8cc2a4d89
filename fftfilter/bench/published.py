"""The published figures of each source, with the hardware they were taken on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Figures = Mapping[str, float]


@dataclass(frozen=True)
class Published:
    """Figures of one source on one piece of hardware; ``rows`` maps a row's key to its columns.

    ``label`` is the hardware in few words, for a table.
    """

    source: str
    label: str
    hardware: str
    rows: Mapping[str, Figures]


def _columns(names: tuple[str, ...], rows: Mapping[str, tuple[float, ...]]) -> dict[str, dict[str, float]]:
    return {key: dict(zip(names, values, strict=True)) for key, values in rows.items()}


_WORK_GROUPS = ("1", "16", "32", "64", "128", "256", "512")

# Milliseconds for a 512 x 512 image against the work-group size. Keys are this program's names of the steps; the
# book calls them membuf write, spinFactor, bitReverse, butterfly, normalize, transpose, highPassFilter, membuf read.
BOOK = Published(
    "The OpenCL Programming Book (Fixstars), Table 6.1",
    "GT200, 2009",
    "a GT200-class GPU of NVIDIA with 30 compute units, December 2009",
    _columns(
        _WORK_GROUPS,
        {
            "write": (0.54, 0.53, 0.36, 0.52, 0.53, 0.54, 0.53),
            "spin_factors": (0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01),
            "bit_reversal": (6.54, 0.60, 0.47, 0.47, 0.49, 0.50, 0.51),
            "butterfly": (37.75, 3.12, 2.87, 3.02, 3.41, 3.60, 3.88),
            "normalize": (2.86, 0.20, 0.12, 0.09, 0.09, 0.10, 0.10),
            "transpose": (2.83, 1.53, 1.49, 1.42, 1.07, 0.95, 0.96),
            "mask": (1.51, 0.10, 0.07, 0.06, 0.06, 0.06, 0.07),
            "read": (0.62, 0.57, 0.57, 0.61, 0.58, 0.56, 0.58),
        },
    ),
)

_BAINVILLE = "E. Bainville, OpenCL Fast Fourier Transform (2010, updated 2011), n = 2^24, single precision"

# One work-group per DFT: milliseconds and Gflop/s against r. Keys are algorithm and r.
RADIX = (
    Published(
        _BAINVILLE,
        "GTX 285, 2010",
        "GeForce GTX 285",
        _columns(
            ("ms", "gflops"),
            {
                "workgroup r=1": (3500, 0.57),
                "workgroup r=2": (1300, 1.5),
                "workgroup r=4": (560, 3.6),
                "workgroup r=8": (300, 6.7),
                "workgroup r=32": (420, 4.8),
                "workgroup r=128": (685, 2.9),
            },
        ),
    ),
    Published(
        _BAINVILLE,
        "HD 5870, 2010",
        "Radeon HD 5870",
        _columns(
            ("ms", "gflops"),
            {
                "workgroup r=1": (8100, 0.25),
                "workgroup r=2": (3700, 0.54),
                "workgroup r=4": (2000, 1.0),
                "workgroup r=8": (1200, 1.7),
                "workgroup r=32": (810, 2.5),
                "workgroup r=128": (920, 2.2),
            },
        ),
    ),
)

# Milliseconds for real sequences: transfers, N 1-D transforms of N, one 1-D of N^2, one 2-D of N x N.
STREAM = Published(
    "Marichal-Hernandez, Rosa, Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed GPU "
    "(2005), Table 1",
    "FX 5900 XT, 2005",
    "GeForce FX 5900 XT (nv35), BrookGPU, AGP 8x",
    _columns(
        ("write", "read", "rows", "long", "image"),
        {
            "64": (0.02, 0.16, 0.96, 1.71, 1.85),
            "128": (0.07, 0.58, 1.2, 2.0, 2.9),
            "256": (0.37, 1.6, 2.8, 4.5, 6.5),
            "512": (1.7, 5.8, 9.2, 17.9, 22.6),
            "1024": (7.2, 23.2, 39, 99, 121),
        },
    ),
)
