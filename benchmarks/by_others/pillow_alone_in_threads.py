"""Decoding and encoding alone, with Pillow in threads."""

from __future__ import annotations

from .pillow_alone import work
from .pool import filter_all

if __name__ == "__main__":
    filter_all(work, threads=True)
