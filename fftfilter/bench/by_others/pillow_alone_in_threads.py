"""Decode and encode alone, with Pillow in threads."""

from __future__ import annotations

from .pillow_alone import work
from .pool import do_all

if __name__ == "__main__":
    do_all(work, threads=True)
