"""``--verify``: an output, read back from its file, is compared with the float64 reference of its input.

The tests and the soak take the reference from here, too. ``output/rounding.py`` compares pixels. The module is
imported on first use: a run without ``--verify`` does without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import images, memory
from ..errors import ParameterError, VerifyError
from ..files.atomic import is_special
from ..files.messages import STANDARD_STREAM, FileName, shown
from ..filters import Filter, ratio
from ..images import Depth
from ..images.formats import FORMATS
from ..missing import complete, fill_by_numpy, less_removed, values_of
from ..output.histogram import BINS, range_of
from ..output.modes import MODES, Auto, Channels, Output, Range, Scale
from ..output.ramp import Gray, on_valid, pixels, ramps
from ..output.rounding import NOISE, OF_65535, Difference, deviation
from ..region import Area, filtered_part
from ..transfer import reference
from ..transfer.product import Edges, grid_with

if TYPE_CHECKING:
    from ..arrays import Array
    from ..images import Pages, Picture
    from ..images.fits import Container
    from ..transfer import Transfer
    from .opened import Frame, Opened
    from .recipe import Recipe

# The smallest float32 that has all its bits: storing smaller values loses some.
TINY = 2.0**-126
# Single precision holds values to this part of them, after some sums.
STORED = 2.0**-19
# Outputs have a palette only where the indices were filtered.
WRITTEN = images.Asked(palette="table")
# In bins of ImageJ's histogram, which has 256: the device's values are no farther than this from the reference's, and
# most are as near as the smaller ones.
NUDGES = (0.0, 1e-4, -1e-4, 1e-3, -1e-3)
# Between the ends of a range that these find, one in this part of it is tried, and no more than so many: a single
# sample of a small picture may change its bin.
FINE, MOST = 2e-5, 16


class Reference(NamedTuple):
    """The correct output of a picture."""

    wanted: Array  # the output's pixels ``(channels, height, width)``
    values: Array  # the filtered values
    unit: float | None = None  # in the output's samples, what tolerances are parts of; None for white, or all black


def references_of(
    planes: Array,
    white: float,
    transfer: Transfer,
    output: Output,
    *,
    scale: Scale | None,
    depth: Depth,
    edges: Edges,
    holes: Array | None = None,
    channels: Channels | None = None,
    ignore: Area | None = None,
) -> Iterator[Reference]:
    """Yield the correct outputs of :class:`Filter` for planes ``(channels, height, width)`` with this white.

    For a scale that a histogram finds there are several: a value on the edge of a bin may be counted on either side.
    ``holes`` are the missing samples, None if all are valid.
    """
    mode = MODES[output]
    holes = np.zeros(planes.shape, np.bool_) if holes is None else holes
    as_read = planes
    if transfer.is_fitted or ignore:
        transfer, planes = _left(planes, white, transfer, holes, ignore, output=output, edges=edges, channels=channels)
    kept = transfer.keeping_mean() if mode.keeps_mean else transfer
    gains = [grid_with(edges, each, *planes.shape[1:]).gain() for each in kept.of_channels(len(planes))]
    gain = np.stack(gains) if len(gains) > 1 else gains[0]
    whole = complete(planes, holes, kept, edges, channels) if holes.any() else planes
    complex_values = filtered_part(whole, channels, partial(reference.filtered, gain=gain, edges=edges))
    if transfer.is_complement:  # what was subtracted before is removed, too
        complex_values = complex_values + (as_read - planes.astype(np.float64))
    is_usual = mode.is_default and scale is None
    values = np.abs(complex_values) if is_usual else complex_values.real
    if len(gains) > 1 and not (mode.is_values or mode.keeps_levels):  # each channel has a noise floor of its own
        floors = NOISE * transfer.largest * deviation(whole).reshape(len(planes), -1).max(axis=1)
        values[np.abs(values).max(axis=(1, 2)) <= floors] = 0
    # Ranges are those of the valid samples.
    valid = values[~holes].reshape(1, 1, -1) if holes.any() else values
    largest_deviation = float(deviation(whole).max()) * transfer.largest
    ranges = [None if isinstance(scale, Auto) else scale]
    if isinstance(scale, Auto) and valid.size:
        moved = [range_of(valid, output, scale, nudge * BINS / 256) for nudge in NUDGES]
        ranges = _possible(moved, is_symmetric=mode.is_symmetric)
    for found in ranges:
        low, high, unit = 0.0, 1.0 if mode.is_values else white, None
        if mode.is_scaled:
            low, high, _ = found.in_levels(white) if found else mode.range_up_to(float(np.abs(valid).max(initial=0)))
        if not is_usual:
            width = high - low if mode.is_scaled or not _is_fine(depth) else None
            unit = max(_unit(valid, largest_deviation, depth, width) / (high - low) * _top(depth), TINY)
        dtype = np.dtype(np.float64) if mode.is_values else depth.dtype
        gray = Gray(white, dtype, depth.maxval)
        own = ramps(output, found, gray=gray)
        if holes.any():
            given, far = None if mode.is_values else own, largest_deviation
            made = on_valid(values.copy(), planes, holes, given, gray=gray, deviation=far).pixels
            if mode.is_values:
                np.copyto(made, planes.astype(depth.dtype), where=holes)
        else:
            made = pixels(values.copy(), own[0], largest_deviation, dtype).pixels
        yield Reference(made, values, unit)


def _left(
    planes: Array,
    white: float,
    transfer: Transfer,
    holes: Array,
    ignore: Area | None,
    *,
    output: Output,
    edges: Edges,
    channels: Channels | None,
) -> tuple[Transfer, Array]:
    """Return the transfer function for planes, and what is left of them when waves and the like are subtracted."""
    unmeasured = holes | ignore.pixels(*planes.shape[1:]) if ignore else holes
    measured = fill_by_numpy(planes, unmeasured) if unmeasured.any() else planes
    asked = Filter.unopened(transfer, {"output": output, "channels": channels})
    transfer, left, _ = asked.fit(measured, white, holes=unmeasured)
    if ignore:
        removing, transfer = transfer.parted()
        removing = removing.keeping_mean() if MODES[output].keeps_mean else removing
        without = partial(values_of, transfer=removing, edges=edges, channels=channels)
        left = less_removed(planes - (measured.astype(np.float64) - left), unmeasured, fill_by_numpy, without)
    return transfer, planes if left is measured else np.where(holes, planes, left)


def _top(depth: Depth) -> float:
    return 1.0 if depth.dtype.kind == "f" else float(depth.maxval)


def _is_fine(depth: Depth) -> bool:
    return depth.dtype.kind == "f" or depth.maxval > 255


def _unit(values: Array, largest_deviation: float, depth: Depth, width: float | None) -> float:
    """Return what tolerances are parts of, in filtered values: the one place that says how exact an output is.

    It is ``width``, how far apart black and white are, None for values as they are in floats or more than 255 levels;
    or half of the values' own range, if there is no width, or they become floats and it is less. In a narrow range
    single precision shows: it is off by a part of the input's largest deviation, and of the values. Weak values are
    computed again in double precision, but for noise.
    """
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    largest, own = max(high, -low), (high - low) / 2
    is_noise = largest <= NOISE * largest_deviation
    is_float = depth.dtype.kind == "f"
    off = (NOISE * largest_deviation + STORED * largest) * 65535 / OF_65535
    if width is not None:
        own = min(width, max(own, STORED * 65535 / OF_65535 * width)) if is_float else width  # beside 0.5, too
    return max(own, off if is_noise else min(largest, off), TINY)


def _possible(moved: Sequence[Range | None], *, is_symmetric: bool) -> list[Range | None]:
    """Return the ranges that nudges find, and those whose ends lie between theirs."""
    found = [each for each in moved if each]
    if len(set(moved)) == 1 or not found:
        return [moved[0]]
    fine, ends = FINE * max(each.high for each in found), []
    for each in ([each.low for each in found], [each.high for each in found]):
        low, high = min(each), max(each)
        between = np.linspace(low, high, min(MOST, int((high - low) / fine)) + 2)[1:-1]
        ends.append([*dict.fromkeys(each), *between.tolist()])
    pairs = ((-high, high) for high in ends[1]) if is_symmetric else product(*ends)
    ranges: list[Range | None] = [Range(low, high) for low, high in pairs if low < high]
    return [*ranges, None] if None in moved else ranges


def _of_plain(frame: Frame, recipe: Recipe) -> Iterator[Reference]:
    """Yield the possible correct outputs of :class:`Filter` for a frame, the most likely first."""
    given, depth, holes = frame.as_read, frame.depth, frame.holes
    of: dict[str, Any] = {name: getattr(recipe, name) for name in ("scale", "edges", "channels", "ignore")}
    of |= {"holes": holes}
    if not recipe.ratio:
        yield from references_of(given.planes, given.maxval, frame.transfer, recipe.output, depth=depth, **of)
        return
    missing = np.zeros(given.planes.shape, np.bool_) if holes is None else holes
    transfer = frame.transfer.keeping_mean() if recipe.mode.keeps_mean else frame.transfer
    logs, largest = ratio.logarithms(given.planes, missing, np.float64)
    (found,) = references_of(logs, 1.0, transfer, "real", depth=Depth(logs.dtype, 1), **of)
    at_dc = ratio.gain_at_dc(transfer, *logs.shape[1:])
    values = ratio.values_of(found.values.astype(np.float64), largest, at_dc)
    own = None if recipe.mode.is_values else ramps(recipe.output, gray=Gray(float(given.maxval), *depth[:2]))
    gray = Gray(float(given.maxval), np.dtype(np.float64) if own is None else depth.dtype, depth.maxval)
    made = on_valid(values.copy(), given.planes, missing, own, gray=gray, deviation=0.0).pixels
    far = float(values.max() * deviation(logs).max())
    unit = _unit(values, far, depth, None if _is_fine(depth) else float(given.maxval))
    yield Reference(made, values, unit if own is None else max(unit / given.maxval * _top(depth), TINY))


def _of_imagej(frame: Frame, recipe: Recipe) -> Iterator[Reference]:
    """Yield the correct outputs of :class:`ImageJFilter`: several with autoscaling, as a bin has two neighbors."""
    from ..imagej_filter import brightness, leveled

    planes, white, depth = frame.as_read.planes, float(frame.as_read.maxval), frame.depth
    dialog = {name: recipe.options[name] for name in ("autoscale", "saturate")}
    values = brightness(planes, lambda padded: reference.filtered(padded, frame.transfer.gain(*padded.shape)).real)
    is_gray_of_floats = len(planes) == 1 and depth.dtype.kind == "f"
    for nudge in NUDGES if dialog["autoscale"] else (0.0,):
        gray = Gray(white, depth.dtype, depth.maxval)
        wanted, _, width = leveled(planes, values, gray, **dialog, nudge=nudge)
        own = None if is_gray_of_floats or (depth.maxval > 255 and not dialog["autoscale"]) else width
        unit = _unit(values, float(deviation(planes).max()), depth, own) / width * _top(depth)
        yield Reference(wanted, np.broadcast_to(values, wanted.shape), unit)


def _of_descreen(frame: Frame, recipe: Recipe) -> Iterator[Reference]:  # noqa: ARG001
    """Yield the correct output of :class:`DescreenFilter`."""
    from ..descreen_filter import DescreenFilter

    def values(transfer: Transfer, plane: Array) -> tuple[Array, int]:
        return reference.filtered(plane, grid_with("mirror", transfer, *plane.shape).gain(), "mirror").real, 0

    given, depth, white = frame.as_read, frame.depth, float(frame.as_read.maxval)
    filter_, gray = DescreenFilter.unopened(frame.transfer, {}), Gray(white, depth.dtype, depth.maxval)
    wanted, *_ = filter_.descreened(given.planes, gray, values, np.zeros(given.planes.shape, np.bool_), np.float64)
    width, far = None if _is_fine(depth) else _top(depth), float(deviation(given.planes).max()) / white
    yield Reference(wanted, wanted, _unit(wanted, far * _top(depth), depth, width))


_METHODS = {"plain": _of_plain, "imagej": _of_imagej, "descreen": _of_descreen}


# An output beside its reference


def refuse(target: FileName, recipe: Recipe) -> None:
    """Raise ParameterError for an output that cannot be read back as it was written."""
    name = shown(target, "standard output")
    if str(target) == STANDARD_STREAM or is_special(Path(target)):
        raise ParameterError(f"{name}: --verify cannot read it back: write a file")
    if images.is_lossy(target, format=recipe.format, coding=recipe.coding):
        raise ParameterError(f"{name}: --verify cannot tell a fault from this format's losses: write .png or .tif")


def of_file(frame: Frame, target: FileName, recipe: Recipe) -> Difference:
    """Return how far a file is from the reference of its frame; raises ReadError, VerifyError for another size."""
    metadata, name = frame.as_read.metadata, shown(target, "standard output")
    found = images.read(target, as_written(metadata.hdus if metadata else None, frame.suffix))
    if not _reads_so_otherwise(found, target):
        raise VerifyError(f"{name}: two libraries read it differently; report this line, and how it was made")
    return _compare(frame, found, recipe, name)


def as_written(hdus: Container | None, suffix: str) -> images.Asked:
    """Return what to ask for of an output with this extension, which may have the HDUs of the input, too."""
    is_fits = hdus and FORMATS[suffix].name == "FITS"
    return WRITTEN._replace(hdu=hdus.written_at(suffix)) if hdus and is_fits else WRITTEN


def _reads_so_otherwise(found: Picture, target: FileName) -> bool:
    """Whether another library, if there is one, reads the same in a file."""
    other = images.read_otherwise(target) if found.table is None else None
    if other is None:
        return True
    bands = found.planes if found.alpha is None else np.concatenate([found.planes, found.alpha[None]])
    return bands.size == other.size and np.array_equal(
        bands.transpose(1, 2, 0).reshape(other.shape), other.astype(bands.dtype), equal_nan=True
    )


def of_pages(opened: Opened, written: Pages, recipe: Recipe, suffix: str) -> Difference:
    """Return how far the pages of an output are from the reference; raises VerifyError for a wrong one."""
    if written.count != len(opened.pages) or written.is_cut:
        raise replaced(written.name)
    found = []
    for index in range(len(opened.pages)):
        frame, got = opened.frame_of(opened.page(index), suffix), written.read(index)
        if len(got.planes) < len(frame.picture.planes):
            got.planes = got.planes.repeat(3, axis=0)  # an animation without color anywhere
        name = f"{written.name}, page {index + 1}"
        page = _compare(frame, got, recipe, name)
        check(page, name)
        found.append(page)
    return Difference.of_all(found)


def of_earlier(opened: Opened, target: str) -> Difference:
    """Return how far an output of an earlier run is from the reference; raises VerifyError."""
    if not isinstance(opened.found, images.Pages):
        return of_file(opened.frame(target, keep=True), target, opened.recipe)
    suffix = images.suffix_of(target)
    asked = as_written(None if opened.recipe.strip else opened.pages.container, suffix)
    with closing(images.pages_of(images.raw(target), shown(target, "-"), asked)) as written:
        return of_pages(opened, written, opened.recipe, suffix)


def _compare(frame: Frame, found: Picture, recipe: Recipe, name: str) -> Difference:
    """Return how far the picture in an output is from a reference of the frame: one that it meets, or the first."""
    given, white = frame.as_read, frame.depth.maxval
    integers = frame.depth.integers
    is_other = integers is not None and found.integers != integers
    if found.planes.shape[1:] != given.planes.shape[1:] or found.maxval != white or is_other:
        raise replaced(name)
    picture = memory.Pixels.of(given.planes)
    memory.check(picture, memory.of_reference(picture, recipe.how_much()), f"{name}: the reference")
    made: list[Difference] = []
    for wanted, values, unit in _references(frame, recipe):
        # Some formats hold gray as equal colors.
        pixels_, values_ = (np.broadcast_to(each, found.planes.shape) for each in (wanted, values))
        if integers is not None:
            limits, missing = np.iinfo(integers), frame.depth.rounded(pixels_, given.nodata)
            pixels_ = np.where(np.isnan(pixels_), missing, pixels_.clip(limits.min, limits.max))
        elif found.planes.dtype.kind == "f":  # beyond its type a finite number becomes the largest one
            limit = np.finfo(found.planes.dtype).max
            pixels_ = np.where(np.isinf(pixels_), pixels_, pixels_.clip(-limit, limit))
        step = 0 if integers is None else 1
        made.append(Difference.of(found.planes, pixels_, white, unit=unit, values=values_, step=step))
        if made[-1].is_right:
            return made[-1]
    return made[0]


def _references(frame: Frame, recipe: Recipe) -> Iterator[Reference]:
    """Yield the possible correct outputs of a frame, blended into the picture if only a region of it is filtered."""
    given = frame.as_read
    for made in _METHODS[recipe.method](frame, recipe):
        if not recipe.region:
            yield made
            continue
        gray = None if recipe.mode.is_values else Gray(given.maxval, *frame.depth[:2])
        wanted, unit = recipe.region.blended(given.planes, made.wanted, frame.holes, gray), made.unit
        if unit is not None and frame.depth.dtype.kind == "f":  # samples that stay may be larger than the filtered ones
            valid = True if frame.holes is None else ~frame.holes
            unit = max(unit, STORED * 65535 / OF_65535 * float(np.abs(wanted).max(where=valid, initial=0)))
        yield made._replace(wanted=wanted, unit=unit)


def replaced(name: str) -> VerifyError:
    """Return the error of an output that another file has replaced."""
    return VerifyError(f"{name}: is not the picture that was written: another one has taken its place")


def check(found: Difference, target: FileName) -> None:
    """Raise VerifyError for an output that differs by more than the contract allows."""
    if not found.is_right:
        name = shown(target, "standard output")
        raise VerifyError(
            f"{name}: {found}; right is {found.right}: report this line with what 'fftfilter devices --check' prints"
        )
