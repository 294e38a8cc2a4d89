"""Damage files of every format and read them: each has to give a picture or one line, in little memory and time.

    python -m tests.images.mutate --count 5000 --seed 1
    python -m tests.images.mutate --case 1:4711 --keep x.bin      one case again, its file kept

A case is a seed and a number. Files are read in processes of their own, some hundred by each, so that a crash is seen
as such; a process may take 1.5 GB. Printed are the cases that crash, end in another error, take more than 2 s, or write
to standard error; and how many were read or refused.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

MEMORY, SECONDS, SHARE = 1_500_000_000, 2.0, 250


def originals():
    """Return whole files by name: every format that is read, and its kinds."""
    gray = np.add.outer(np.arange(37), 3 * np.arange(53)).astype(np.uint8)
    color = np.dstack([gray, 255 - gray, gray // 2])
    images = {"gray": gray, "color": color, "alpha": np.dstack([color, gray])}
    found = {
        "p2.pgm": b"P2\n# c\n3 2\n100\n" + b"1 20 100 0 7 9\n",
        "p5.pgm": b"P5 53 37 255\n" + gray.tobytes(),
        "p6.ppm": b"P6 53 37 65535\n" + (color.astype(">u2") * 257).tobytes(),
    }

    def add(name, image, format_, **options):
        file = io.BytesIO()
        try:
            Image.fromarray(images.get(image, image) if isinstance(image, str) else image).save(
                file, format_, **options
            )
        except (OSError, ValueError, KeyError):
            return
        found[name] = file.getvalue()

    for kind in images:
        for format_ in (
            "PNG",
            "TIFF",
            "JPEG",
            "GIF",
            "BMP",
            "TGA",
            "SGI",
            "PCX",
            "WEBP",
            "JPEG2000",
            "AVIF",
            "ICO",
            "ICNS",
            "QOI",
            "DDS",
            "SPIDER",
        ):
            add(f"{kind}.{format_}", kind, format_)
        for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "zstd"):
            add(f"{kind}.{compression}.TIFF", kind, "TIFF", compression=compression)
        add(f"{kind}.progressive.JPEG", kind, "JPEG", progressive=True)
        add(f"{kind}.lossless.WEBP", kind, "WEBP", lossless=True)
        add(f"{kind}.rle.TGA", kind, "TGA", compression="tga_rle")
    add("bits.TIFF", gray > 99, "TIFF", compression="group4")
    add("bits.PBM", gray > 99, "PPM")
    add("float.PFM", gray.astype(np.float32), "PPM")
    add("16.PNG", gray.astype(np.uint16) * 257, "PNG")
    add("palette.PNG", np.asarray(Image.fromarray(color).quantize(40)), "PNG")
    for name, samples, options in (
        ("big", gray, {"bigtiff": True}),
        ("float64", gray.astype(float), {}),
        ("planar", np.moveaxis(color, 2, 0).astype(np.uint16), {"photometric": "rgb", "planarconfig": "separate"}),
        ("tiles", color, {"tile": (16, 16), "compression": "zlib", "predictor": True}),
        ("strips", color.astype(np.uint16), {"rowsperstrip": 5, "compression": "zlib"}),
    ):
        file = io.BytesIO()
        tifffile.imwrite(file, samples, **options)
        found[f"{name}.TIFF"] = file.getvalue()
    for bits, samples in ((8, gray), (16, gray.astype(">i2")), (-32, gray.astype(">f4"))):
        cards = ("SIMPLE  = T", f"BITPIX  = {bits}", "NAXIS   = 2", "NAXIS1  = 53", "NAXIS2  = 37", "END")
        head = "".join(f"{card:80}" for card in cards).ljust(2880)
        found[f"{bits}.FITS"] = head.encode() + samples.tobytes().ljust(8640)
    found["gray.SUN"] = struct.pack(">8I", 0x59A66A95, 52, 37, 8, 52 * 37, 1, 0, 0) + gray[:, :52].tobytes()
    found["color.PSD"] = (
        struct.pack(">4sH6sHIIHH", b"8BPS", 1, b"", 3, 37, 53, 8, 3) + bytes(14) + np.moveaxis(color, 2, 0).tobytes()
    )
    file = io.BytesIO()
    np.save(file, color)
    found["color.NPY"] = file.getvalue()
    return found


def mutated(data, rng):
    """Return a file with one to three faults."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = _with_fault(bytearray(data), rng) if data else data
    return bytes(data)


def _with_fault(data, rng):
    if data.startswith(b"\x89PNG") and rng.randrange(4) == 0:
        return _png_chunks_changed(bytes(data), rng)
    at, head = rng.randrange(len(data)), rng.randrange(min(len(data), 200))
    size, other = rng.choice((1, 2, 4)), rng.randrange(len(data))
    value = rng.choice((0, 1, 255, 65535, 2**31 - 1, 2**32 - 1, rng.randrange(2**32))) % 256**size
    place, piece = rng.choice(
        (
            (slice(at, at + 1), bytes((data[at] ^ 1 << rng.randrange(8),))),  # a bit, anywhere
            (slice(head, head + 1), bytes((data[head] ^ 1 << rng.randrange(8),))),  # or in the header
            (slice(at, None), b""),  # cut off
            (slice(at, at + rng.randrange(1, 64)), b""),  # a piece cut out
            (slice(at, at), data[at : at + rng.randrange(1, 64)]),  # or doubled
            (slice(head, head + size), value.to_bytes(size, rng.choice(("big", "little")))),  # another number
            (slice(at, at + 16), rng.randbytes(16)),
            (slice(len(data), None), rng.randbytes(50)),
            (slice(at, at + 8), data[other : other + 8]),  # of another place
        )
    )
    data[place] = piece
    return data


def _png_chunks_changed(data, rng):
    """Return a PNG with a chunk dropped, doubled or changed, its checksums right."""
    chunks, position = [], 8
    while position + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, position)
        chunks.append([data[position + 4 : position + 8], bytearray(data[position + 8 : position + 8 + size])])
        position += 12 + size
    which = rng.randrange(len(chunks)) if chunks else 0
    match rng.randrange(3):
        case 0:
            del chunks[which : which + 1]
        case 1:
            chunks[which:which] = chunks[which : which + 1]
        case 2 if chunks and chunks[which][1]:
            content = chunks[which][1]
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    body = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in chunks)
    return data[:8] + b"".join(map(bytes, body))


def case(seed, number):
    """Return the name and the bytes of a case."""
    rng = random.Random(f"{seed}:{number}")
    files = originals_once()
    name = rng.choice(sorted(files))
    return name, mutated(files[name], rng)


_once = []


def originals_once():
    """Return the whole files, made once."""
    if not _once:
        _once.append(originals())
    return _once[0]


def read_all(seed, first, last):
    """Read some cases and print a line about each: its number, what became of it, seconds."""
    from fftfilter import images
    from fftfilter.errors import FftfilterError

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in range(first, last):
        _, data = case(seed, number)
        sys.stdout.write(f"{number} ")
        sys.stdout.flush()
        began = time.perf_counter()
        try:
            picture = images.decode(data, "x")
            became = "read" if np.isfinite(picture.planes).all() else "NOT FINITE"
        except FftfilterError as error:
            line = str(error)
            became = "refused" if line.isprintable() and line.startswith("x: ") and len(line) < 300 else f"ODD {line!r}"
        except BaseException as error:  # noqa: BLE001  any other error is what is looked for
            became = f"ERROR {type(error).__name__} {error}".replace("\n", " ")
        sys.stdout.write(f"{time.perf_counter() - began:.3f} {became}\n")


def main():
    """Read all cases in processes; return how many are wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--case", help="SEED:NUMBER")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    seed, first, last = given.seed, 0, given.count
    if given.case:
        seed, first = map(int, given.case.split(":"))
        last = first + 1
        if given.keep:
            given.keep.write_bytes(case(seed, first)[1])
    counts, wrong = Counter(), []
    while first < last:
        end = min(first + SHARE, last)
        with tempfile.TemporaryFile() as said:
            code = f"from tests.images.mutate import read_all; read_all({seed}, {first}, {end})"
            done = subprocess.run(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=said, env=os.environ, check=False
            )
            said.seek(0)
            stderr = said.read().decode(errors="replace")
        lines = done.stdout.decode().splitlines()
        for line in lines:
            number, seconds, became = (*line.split(" ", 2), "", "")[:3]
            first = int(number) + 1
            counts[became.split(" ")[0]] += 1
            if became not in ("read", "refused") or float(seconds) > SECONDS:
                wrong.append(f"{seed}:{number} {case(seed, int(number))[0]} {seconds} s {became or 'CRASH'}")
        if done.returncode and not lines:
            wrong.append(f"{seed}:{first} {done.returncode} {stderr[-300:]}")
            break
        if stderr:
            wrong.append(f"up to {seed}:{first - 1}: stderr {stderr[-300:]!r}")
    sys.stdout.write("\n".join([*wrong, f"seed {seed}: {dict(counts)}, {len(wrong)} wrong", ""]))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
