"""``bench``: the papers' tables on this device, and the peers.

papers.py    stages, radix, sizes, speedup, engines
peers.py     peers, transforms
group.py     the group of these commands
command.py   what makes a function a benchmark's command, and runs it
options.py   options of several commands
"""

from .group import bench

__all__ = ["bench"]
