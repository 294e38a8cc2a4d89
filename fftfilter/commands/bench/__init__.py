"""``bench``: what is measured on this device.

papers.py       the papers' tables: stages, radix, sizes, speedup, engines
in_memory.py    the fused engine: peers, stream, tune
programs.py     whole programs: start, folder, cluster, png-levels
group.py        the group of these commands, and how each goes through its measurements
options.py      what several of them are asked for
"""

from . import in_memory, papers, programs
from .group import bench

__all__ = ["bench", "in_memory", "papers", "programs"]
