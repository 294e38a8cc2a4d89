"""The papers' tables on this device, with the published figures.

    stages.py     The OpenCL Programming Book: each step against the work-group size
    radix.py      Bainville: one long transform against the radix
    sizes.py      Marichal-Hernandez et al.: transfers and transforms against the size
    speedup.py    McCarthy: the parallel against the sequential transform
    engines.py    every engine of this program on the same images

Times are those of OpenCL's events.
"""
