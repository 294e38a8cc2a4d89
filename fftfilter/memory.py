"""The bytes that a run takes: one figure for the check before anything begins, for ``--dry-run``, and for every plan.

It is the sum of the arrays that are there at the same time, in the step that has most of them:

    read, find gains, fill missing pixels, gains as a table, transforms, pixels, encode, compare with the reference

The program itself takes ``PROGRAM`` beside it, or ``BY_NUMPY``. Single precision filters again in double where that is
needed and fits into memory, which is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from .device_choice import FUSED, NUMPY, asks_for_staged, choose_engine, name_of
from .system import check_memory, cores, is_bounded

if TYPE_CHECKING:
    from .arrays import Array
    from .images import Size
    from .output.modes import Mode
    from .transfer import Transfer

# What Python, NumPy and OpenCL take before a picture is read, and Python and NumPy alone.
PROGRAM, BY_NUMPY = 115 << 20, 45 << 20
# Bytes of filtered pages that may wait to be encoded.
WAITING_BYTES = 1 << 24
# Smaller arrays that threads are done with stay with them, as glibc's malloc keeps their memory for the next page.
KEPT_BYTES = 1 << 25


class Encoder(NamedTuple):
    """What writing a picture takes beside its samples."""

    pixel: float = 0
    """Bytes a pixel, for all channels together."""
    sample: float = 0
    """Bytes a pixel for each channel."""
    library: int = 0
    """Bytes for the library that writes it."""


class Pixels(NamedTuple):
    """A picture as its header has it, and whether some of its samples are missing."""

    channels: int
    height: int
    width: int
    itemsize: int
    pages: int = 1
    has_holes: bool = False
    decoder: int = 0
    """Bytes a pixel that decoding page after page takes beside the samples."""

    @classmethod
    def of(cls, planes: Array, pages: int = 1, *, has_holes: bool = False, decoder: int = 0) -> Pixels:
        """Return that of planes ``(channels, height, width)``."""
        count, height, width = planes.shape
        return cls(count, height, width, planes.itemsize, pages, has_holes, decoder)

    @classmethod
    def of_size(cls, size: Size, *, has_holes: bool = False, decoder: int = 0) -> Pixels:
        """Return that of a header."""
        return cls(size.channels, size.height, size.width, size.bytes_per_sample, size.pages, has_holes, decoder)


class How(NamedTuple):
    """What is done to it: the fields of a recipe, or of a filter."""

    transfer: Transfer
    mode: Mode
    options: Mapping[str, Any]
    method: str = "plain"
    is_auto: bool = False
    has_region: bool = False
    verifies: bool = False
    finds_range: bool = False
    """Whether a histogram finds the range of the output: that of valid pixels, if some are missing."""
    keeps: bool = False
    """Whether the picture as it was read is kept, too: for a preview."""
    encoder: Encoder = Encoder()
    """That of the output's format."""


def taken(picture: Pixels, how: How, *, is_read: bool = False) -> int:
    """Return the bytes that a run takes at its peak beside the program; if it is read, beside the picture, too."""
    count, height, width, item, pages, _, decoder = picture
    pixels, given = height * width, count * item
    out = count * (4 if how.mode.is_values or item == 4 else item)
    if axes := how.options.get("axes"):  # all pages at once, and five numbers of each sample in NumPy
        number = count * (40 if how.options.get("precision") == "double" else 20)
        return pixels * pages * (2 * given + out + number) + _by_passes(picture, how.options, axes)
    if is_read:
        return round(pixels * max(*_steps(picture, how, out), _searched(picture) * how.is_auto))
    # A gray picture lies as it is in the bytes of its file; colors are taken apart.
    held: float = given * (2 if count == 1 else 1) + (given * (how.verifies or how.keeps))
    encoded = max(out, how.encoder.pixel + how.encoder.sample * count)
    # Notches for a file's own waves are found before anything is filtered.
    steps = [2 * given + (4 if count > 1 else given), 2 * given + _searched(picture) * how.is_auto]
    if pages > 1:  # the first is kept, and the next is read while others wait to be encoded, or are encoded
        held += decoder + 2 * given + 2 * out * min(pages, 1 + WAITING_BYTES / (pixels * out))
        held += (encoded - out) * max(1, min(pages, cores()) / 2)  # seldom do all encoders need their most at once
        held += 3 * given * (pixels * given < KEPT_BYTES)
    steps += [held + step for step in _steps(picture, how, out)]
    steps.append(held + out + encoded)
    if how.keeps:  # what was removed, by transforms; power and gains of each channel, if these differ
        alone = 16 * (count - 1) * (how.is_auto or how.transfer.is_by_channel)
        steps.append(held + out + 8 * count + alone + (90 if how.options.get("edges") == "mirror" else 48))
    size = round(pixels * max(steps)) + how.encoder.library
    if how.verifies:
        return max(size, round(pixels * (held + out + 4 * count)) + of_reference(picture, how))
    return size


def beside(options: Mapping[str, Any]) -> int:
    """Return the bytes that OpenCL takes once it is loaded, if the user allows so many bytes to the whole program."""
    return (PROGRAM - BY_NUMPY) * (is_bounded() and name_of(options) != NUMPY)


def of_spectrum(picture: Pixels, options: Mapping[str, Any] | None = None) -> int:
    """Return the bytes that a picture takes until its waves are found; with ``options`` those of its transform."""
    count, height, width, item, *_ = picture
    pixels, held = height * width, 2 * count * item
    if options is None:
        return round(pixels * (held + _searched(picture)))
    number = 16 if options.get("precision") == "double" else 8
    made = 2.5 * number * count
    if name_of(options) not in (FUSED, NUMPY):
        made = max(made, _staged(options, picture[:3]) + number * count)
    return round(pixels * (held + made + (4 * count if number == 8 else 0)))


def of_page(picture: Pixels, how: How) -> int:
    """Return the bytes that the page of ``explore`` takes: a picture's spectrum, and two filters that are ready."""
    size, count = (picture.height, picture.width), picture.channels
    ready = _pipeline(how, size, count, count, given=4, out=4, is_mirrored=False, is_table=True)
    return round(picture.height * picture.width * (2 * count * picture.itemsize + _searched(picture) + 2 * ready))


def _searched(picture: Pixels) -> float:
    """Return the bytes a pixel that the search for waves takes: a plane as floats, its spectrum, all powers."""
    return (4 * picture.channels if picture.itemsize == 4 else 0) + 3 * picture.channels + 14


def _steps(picture: Pixels, how: How, out: float) -> list[float]:
    """Return what :func:`_filtering` does; with ``ratio`` the logarithms and the samples without one, too."""
    if not how.options.get("ratio"):
        return _filtering(picture, how, out)
    logs = picture._replace(itemsize=4)
    return [5 * logs.channels + step for step in _filtering(logs, how, 4 * logs.channels)]


def _filtering(picture: Pixels, how: How, out: float) -> list[float]:
    """Return the bytes a pixel that the steps of a filter take beside the picture, its pixels included."""
    count, height, width, item, *_ = picture
    transfer, options, mode = how.transfer, how.options, how.mode
    size = (height, width)
    is_float, is_mirrored = item == 4, options.get("edges") == "mirror"
    if how.method == "imagej":
        side = padded_side(height, width)
        padded = side * side / (height * width)
        plane = _pipeline(how, (side, side), 1, 1, given=item, out=4, is_mirrored=False, is_table=True)
        return [padded * (item + plane + 0.75) + item * count, padded * (item + 4) + 4 + 1 + out]
    if how.method == "descreen":
        searched = 4 * count + 2 * count + 4 * 5
        fitted = 4 * count + 1 + 2 * count + 4 * 6
        faded = 4 * count + 4 * 5 + _pipeline(how, size, 1, 1, given=4, out=4, is_mirrored=True, is_table=False)
        return [searched, fitted, faded, 8 * count + out]
    is_table = transfer.radial is None or how.is_auto
    part_of_color = None if options.get("channels") == "all" else options.get("channels")
    is_alone = transfer.is_by_channel or (transfer.is_fitted and not (mode.is_scaled or part_of_color))
    at_once = 1 if is_alone else count
    steps: list[float] = []
    if transfer.is_fitted or how.is_auto:
        floats = 8 * count if is_float else 0
        kinds = {part.kind for part in transfer.parts} | ({"stripes"} if how.is_auto else set())
        # The power of slanted stripes is that of all frequencies, of others that of some rows.
        angles = [getattr(part, "angle", 0) for part in transfer.parts]
        slanted = any(angle == "auto" or angle % 90 for angle in angles)
        powers = 4 * (1 if is_alone or count == 1 else count + 1)
        searched = 1 + powers + 12 if "wiener" in kinds else 4 * count + 20 * slanted
        if "stripes" in kinds:  # float64 without the lines, and what all channels have in common
            searched += 8 * count + 8 * (count > 1)
        steps.append(floats + searched)
    is_taken_out = how.is_auto or any(p.is_fitted and p.kind == "stripes" for p in transfer.parts)
    waves = 8 * count + 4 + 4 * picture.has_holes if is_taken_out else 0  # the picture without waves or lines
    waves += 32 * count * (options.get("ignore") is not None)  # it is filled and filtered in float64
    pipeline = partial(_pipeline, how, size, is_mirrored=is_mirrored, is_table=is_table)
    if picture.has_holes:
        whole = 8 * count + pipeline(count, at_once, given=4, out=4)
        # What goes on through holes has a pipeline of its own.
        if how.is_auto or any(part.carried_on for part in transfer.parts):
            whole += pipeline(count, at_once, given=4, out=4)
        return [*steps, waves + whole, waves + count * (18 + 10 * how.finds_range) + out]
    if part_of_color and count > 1:
        part = 1 if part_of_color == "luminance" else 2
        inner = 8 * part + pipeline(part, part, given=8, out=4)
        return [*steps, inner, 8 * part + 16 * count + out]
    step = waves + pipeline(count, at_once, given=8 if waves else item, out=out / count)
    if how.has_region:
        step = max(step, 4 + 4 + out + 1 + out) + count  # its weight, and which samples are missing
    elif how.is_auto or transfer.is_fitted:
        step += count
    return [*steps, step]


def _pipeline(
    how: How,
    size: tuple[int, int],
    count: int,
    at_once: int,
    *,
    given: float,
    out: float,
    is_mirrored: bool,
    is_table: bool,
) -> float:
    """Return the bytes a pixel that a pipeline takes for planes, ``at_once`` of them, with its result."""
    is_double = how.options.get("precision") == "double"
    engine = name_of(how.options, is_even=how.transfer.is_even)
    copies: float = 4 * at_once if given >= 4 else 0
    if engine == NUMPY:  # a plane at a time, in a half spectrum of twice the sides with mirrored edges
        number = 8 if is_double else 4
        return number * (at_once + (9 if is_mirrored else 5)) + 4 * is_table + count * out
    if engine != FUSED:
        number, times = (16 if is_double else 8), (4 if is_mirrored else 1)
        side = 2 if is_mirrored else 1
        buffers = _staged(how.options, (at_once, side * size[0], side * size[1]), is_even=how.transfer.is_even) * times
        copies = given * times * at_once if is_mirrored else copies
        table = 2 * number / 2 * times if is_table else 0
        values = number * times * at_once if is_mirrored else 0
        return buffers + times * at_once * max(given, out) + copies + table + values + count * out
    # Single strips of floats; mirrored edges take two for what is not even along each axis, and all gains.
    is_twice = is_mirrored and not (how.transfer.is_even_along_axes and not how.is_auto)
    strips = 4 * at_once * (2 if is_twice else 1)
    build, run = (16, 8) if is_twice else (8, 4) if is_mirrored else (6, 2)
    build, run = (build, run) if is_table else (0, 0)
    return max(build, strips + run + copies + at_once * out) + count * out * (at_once < count)


def _staged(options: Mapping[str, Any], shape: tuple[int, int, int], *, is_even: bool = True) -> float:
    """Return the bytes a pixel of the buffers of the staged pipeline for a stack ``(count, height, width)``."""
    from .staged.pipeline import buffer_bytes

    algorithm = choose_engine(options, is_even=is_even).staged
    return 1.15 * buffer_bytes(algorithm, shape, options.get("precision")) / math.prod(shape[1:])


def _by_passes(picture: Pixels, options: Mapping[str, Any], axes: str) -> int:
    """Return the bytes that the staged pipeline takes for a volume beside what NumPy takes; 0 without it."""
    if not asks_for_staged(options):
        return 0
    from .staged.pipeline import buffer_bytes

    depth, height, width = (
        side * (2 if options.get("edges") == "mirror" and (axes != "t" or not i) else 1)
        for i, side in enumerate((picture.pages, picture.height, picture.width))
    )
    algorithm, precision = choose_engine(options).staged, options.get("precision")
    buffers = [buffer_bytes(algorithm, shape, precision) for shape in ((depth, height, width), (height, depth, width))]
    # Values of twice the sides, complex ones as they are written or read, and gains.
    return max(buffers) + depth * height * width * (40 if precision == "double" else 20)


def of_reference(picture: Pixels, how: How) -> int:
    """Return the bytes that the reference of ``--verify`` takes, and its comparison, without both pictures."""
    count, height, width, *_ = picture
    pixels = height * width
    if how.method == "imagej":
        return padded_side(height, width) ** 2 * (8 + 8 + 8 + picture.itemsize) + 8 * pixels
    is_mirrored = how.method == "descreen" or how.options.get("edges") == "mirror"
    grid = 4 if is_mirrored else 1
    transforms = grid * (8 + 8)
    if how.method == "descreen":
        return pixels * (transforms + 8 * count + 8 * 5)
    gains = count if how.transfer.is_by_channel else 1
    compared = 7 if how.mode.is_values or picture.itemsize == 4 else 4
    return pixels * max(grid * (8 + 8 * gains) + 8 * count, grid * 8 * gains + count * 8 * compared)


def padded_side(height: int, width: int) -> int:
    """Return the side of the square that ImageJ pads a picture to."""
    return 1 << ((3 * max(height, width) + 1) // 2 - 1).bit_length()


def described(picture: Pixels, how: How) -> str:
    """Return a picture's size and the memory that a run takes, in words."""
    count, height, width, item, pages, *_ = picture
    color, number = "gray" if count == 1 else "color", f"{pages} pages, " if pages > 1 else ""
    size = f"{number}{width} x {height} {color}, {8 * item} bits"
    program = BY_NUMPY if name_of(how.options, is_even=how.transfer.is_even) == NUMPY else PROGRAM
    return f"{size}; {(program + taken(picture, how)) / 1e6:,.1f} MB of memory"


def check(picture: Pixels, size: int, name: str = "") -> None:
    """Raise TooLargeError, which names the file, if a picture's ``size`` bytes are more than are free."""
    check_memory(picture.height, picture.width, size, name)
