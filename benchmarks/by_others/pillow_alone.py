"""Decoding and encoding alone, with Pillow in processes: the time of a folder without a filter."""

from __future__ import annotations

from PIL import Image

from .pool import Chunk, filter_all


def work(chunk: Chunk) -> None:
    """Decode files, and encode the filtered pictures."""
    for name in chunk.names:
        with Image.open(chunk.inputs / name) as picture:
            picture.load()
            size = picture.size
        filtered = (chunk.aids / name).with_suffix(".raw").read_bytes()
        Image.frombuffer("L", size, filtered, "raw", "L", 0, 1).save(chunk.target / name, compress_level=chunk.level)


if __name__ == "__main__":
    filter_all(work)
