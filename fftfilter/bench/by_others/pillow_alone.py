"""Decode and encode alone, with Pillow in processes: what a folder costs before anybody filters it."""

from __future__ import annotations

from PIL import Image

from .pool import Task, do_all


def work(task: Task) -> None:
    """Decode files, and encode what filtering made of them."""
    for name in task.names:
        with Image.open(task.pictures / name) as picture:
            picture.load()
            size = picture.size
        filtered = (task.help / name).with_suffix(".raw").read_bytes()
        Image.frombuffer("L", size, filtered, "raw", "L", 0, 1).save(task.target / name, compress_level=task.level)


if __name__ == "__main__":
    do_all(work)
