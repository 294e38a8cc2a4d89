"""One picture: read, filtered, written; then what was asked for is printed."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...lengths import length_text
from ...output.modes import MODES
from . import preview
from .options import device_that_is_done_first, needs_staged, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ...files.sources import Identity
    from ...filters import Filter
    from ...images import Depth, Pages, Picture, PixelSize, Size
    from ...output.modes import Output
    from ...transfer import Transfer
    from .command_options import CommandOptions
    from .step_pictures import SavedSteps


# Of a stack on two cores, decoding and encoding included: enough to say that it takes minutes.
PIXELS_A_SECOND = 3e7


class Input(NamedTuple):
    """A file that was read, or opened, and what filters it."""

    found: Picture | Pages
    name: str
    transfer: Transfer
    """With the size of the file's pixels, and with notches for the peaks that were found."""
    pixel_size: PixelSize | None
    """What the file says, if the filter needs it."""
    files: Sequence[Identity | None]
    """The file that was opened, and then those of masks: nothing that is written may replace them."""

    def spared(self, options: CommandOptions) -> Sequence[Identity | None]:
        """Return the files that OUT may not replace."""
        return self.files[1:] if options.in_place else self.files


def run_file(transfer: Transfer, source: str, target: str, options: CommandOptions) -> None:
    """Read, filter, write; then print what was asked for."""
    _load_ahead(source, options)  # while the rest is imported
    from ... import images
    from ...files import sources
    from ...files.leftovers import remove_leftovers_beside
    from .compiling import tell_of_compiling

    options.check_for_file(source, target)
    tell_of_compiling(quiet=options.quiet)
    _check(source, target, options)
    times = sources.times(source) if options.preserve_times else None
    remove_leftovers_beside(target)
    given = _read(transfer, source, options)
    if isinstance(given.found, images.Pages):
        _filter_pages(given, given.found, target, options, times=times)
    else:
        _filter_picture(given, given.found, target, options, times=times)


def _load_ahead(source: str, options: CommandOptions) -> None:
    """Choose the CPU if it is done first, and load OpenCL while a file is read; raises ReadError for a missing one."""
    from ...files.urls import is_url

    if os.path.isfile(source):  # noqa: PTH113  Path's may raise
        from ...device.embedded_pocl import load_ahead

        if not (options.profile or options.save_stages):
            size, verbose = os.stat(source).st_size, options.verbose  # noqa: PTH116
            options.device = device_that_is_done_first(options.device, options.filter, size, verbose=verbose)
        load_ahead(options.device)  # not while standard input is waited for: PoCL's compiler takes Ctrl-C
    elif source != "-" and not is_url(source):
        from ...files import sources

        sources.times(source)  # a missing folder is missing: it is not refused as being no folder


def _filter_picture(
    given: Input, picture: Picture, target: str, options: CommandOptions, *, times: tuple[int, int] | None
) -> None:
    """Filter a picture, write it, and print what was asked for."""
    from ... import images
    from ...imagej_filter import open_filter

    images.check_fits(picture, target, format=options.format)
    depth = images.output_depth(picture, target, format=options.format, is_real=MODES[options.output].is_values)
    if not options.quiet:
        _caution(given.transfer, picture, options, is_of_floats=depth.dtype.kind == "f")
    observe = None
    if options.save_stages is not None:
        from .step_pictures import SavedSteps

        observe = SavedSteps(options.save_stages, given.files)
        options.filter["engine"] = options.filter["engine"] or "book"  # the fused engine has no results between
    with open_filter(given.transfer, options.output, options.given_range, options.of_filter) as filter_:
        planes, clipped = _filtered(filter_, picture, depth, options.output, observe)
        before = replace(picture) if options.verify or options.preview else picture
        picture.planes, picture.maxval = planes, depth.maxval
        filter_.close()  # the device's memory, which is this machine's if it is a CPU, is needed for writing
        spare = given.spared(options)
        left_out = images.write(picture, target, format=options.format, coding=options.coding, times=times, spare=spare)
        if options.verbose:
            click.echo(_summary(filter_, picture.planes.shape, given.pixel_size, clipped, left_out), err=True)
        if options.profile:
            click.echo(_times(filter_), err=target == "-")
    if options.preview:
        files, name = given.files, given.name
        preview.write_page(options.preview, before, picture, given.transfer, options.of_filter, name=name, spare=files)
    if options.verify:
        _verify(before, given.transfer, target, depth, options)


def _verify(before: Picture, transfer: Transfer, target: str, depth: Depth, options: CommandOptions) -> None:
    """Compare an output with the reference, and print how it differs; raises VerifyError."""
    from ... import verify
    from ...files.messages import shown

    output, given_range = options.output, options.given_range
    found = verify.difference(before, transfer, output, given_range, target=target, depth=depth, options=options.filter)
    verify.check(found, target)
    if not options.quiet:
        click.echo(f"{shown(target, '-')}: {found}")


def _filter_pages(
    given: Input, pages: Pages, target: str, options: CommandOptions, *, times: tuple[int, int] | None
) -> None:
    """Filter the pages of a file, one by one."""
    from contextlib import closing

    from ...files.messages import shown
    from ...folders.progress import Progress
    from ...imagej_filter import open_filter
    from ...output.scale import STACK
    from ...stacks import Way, filter_pages

    with closing(pages):
        only = options.chosen("save_stages", "preview", "profile")
        refuse(only, f"is for one picture, and IN has {len(pages)}: choose one with --pages.")
        given_range, is_of_stack = options.given_range, options.scale == STACK
        way = Way(options.format, options.coding, options.strip, options.output, given_range, options.of_filter)
        progress = Progress(len(pages) * (1 + is_of_stack), quiet=options.quiet)
        progress.foretell(f"{len(pages)} pages", pages.pixels * (1 + is_of_stack) / PIXELS_A_SECOND)
        with open_filter(given.transfer, options.output, given_range, options.of_filter) as filter_:
            try:
                done = filter_pages(
                    filter_,
                    pages,
                    target,
                    way,
                    one_scale=is_of_stack,
                    times=times,
                    spare=given.spared(options),
                    compare=options.verify is not None,
                    working=_working_bytes(options),
                    advance=progress.advance,
                )
            finally:
                progress.clear()
            cautions = done.cautions
            if MODES[options.output].is_absolute and given_range:
                cautions = [*cautions, *given_range.cautions()]
            for line in () if options.quiet else cautions:
                click.echo(f"fftfilter: {line}", err=True)
            if options.verbose:
                summary = _summary(filter_, done.shape, given.pixel_size, done.clipped, done.left_out)
                click.echo(f"{done.pages} pages, {summary}", err=True)
    if done.difference and not options.quiet:
        click.echo(f"{shown(target, '-')}: {done.difference}")


def only(found: Picture | Pages, name: str) -> Picture:
    """Return a file's picture; raises UsageError for several pages."""
    from ... import images

    if isinstance(found, images.Pages):
        raise click.UsageError(f"{name}: {len(found)} pages, and this is for one picture: choose one with --pages.")
    return found


def look(transfer: Transfer, source: str, target: str, options: CommandOptions) -> None:
    """Write a page on what a filter makes of a picture, and not what it makes."""
    from ... import images
    from ...files.leftovers import remove_leftovers_beside
    from ...imagej_filter import open_filter
    from ...output import modes

    modes.check_scale(options.output, options.given_range)
    preview.check(target, source, "-")
    remove_leftovers_beside(target)
    given = _read(transfer, source, options)
    picture = only(given.found, given.name)
    depth = images.output_depth(picture, "-", format=".tif", is_real=MODES[options.output].is_values)
    with open_filter(given.transfer, options.output, options.given_range, options.of_filter) as filter_:
        planes, _ = _filtered(filter_, picture, depth, options.output, None)
    made = replace(picture, planes=planes, maxval=depth.maxval)
    preview.write_page(target, picture, made, given.transfer, options.of_filter, name=given.name, spare=given.files)


def _check(source: str, target: str, options: CommandOptions) -> None:
    """Refuse, before any work, what could not be written; raises FftfilterError."""
    from ... import images
    from ...files.atomic import refuse_inputs
    from ...files.sources import identity
    from ...output import modes
    from ...output.scale import STACK

    modes.check_scale(options.output, STACK if options.scale == STACK else options.given_range)
    images.check_output(source, target, in_place=options.in_place, format=options.format)
    for written in filter(None, (target, options.preview)):
        refuse_inputs(written, [*map(identity, options.masks)])
    images.refuse_coding(target, options.coding, format=options.format)
    if MODES[options.output].is_values:
        images.refuse_whole_numbers(target, format=options.format)
    if options.verify:
        from ... import verify

        verify.refuse(target, options.format, options.coding)
    if options.preview:
        preview.check(options.preview, source, target)


def _automatic(picture: Picture | Pages, name: str, options: CommandOptions) -> Transfer:
    """Return what takes out the peaks that are found in a picture, if that is asked for."""
    from ...transfer import Transfer

    if not options.auto:
        return Transfer(())
    from .automatic import of_picture

    return of_picture(options.auto, picture, name, options.device, quiet=options.quiet, verbose=options.verbose)


def _filtered(
    filter_: Filter, picture: Picture, depth: Depth, output: Output, observe: SavedSteps | None
) -> tuple[NDArray[Any], float]:
    """Return the pixels of the output, and which part of them was clipped."""
    from ...stacks import stays

    if stays(picture, filter_.transfer, output, depth):
        return picture.planes, 0.0
    planes = filter_(
        picture.planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval, white=picture.maxval, observe=observe
    )
    return planes, filter_.clipped()[0]


def _caution(transfer: Transfer, picture: Picture, options: CommandOptions, *, is_of_floats: bool) -> None:
    """Say what users may not expect."""
    cautions = [*transfer.cautions(*picture.planes.shape[1:])]
    cautions += picture.cautions(MODES[options.output], is_of_floats=is_of_floats)
    if MODES[options.output].is_absolute and (given_range := options.given_range):  # which alone has no sign
        cautions += given_range.cautions()
    for line in cautions:
        click.echo(f"fftfilter: {line}", err=True)


def _read(transfer: Transfer, source: str, options: CommandOptions) -> Input:
    """Read a picture, or open a file of several pages; say which peaks are found, if they are looked for."""
    from ... import images
    from ...files.messages import shown
    from ...files.sources import identity
    from ...stacks import for_pixels_of, open_input

    files = [*map(identity, (source, *options.masks))]
    found = open_input(
        source,
        options.pages,
        output=options.output,
        options=options.filter,
        working=_working_bytes(options),
        limit=options.input_limit,
    )
    if options.strip and not isinstance(found, images.Pages):
        found = found.stripped()
    name = shown(source, "standard input")
    transfer, pixel_size = for_pixels_of(found, transfer, name)
    return Input(found, name, transfer * _automatic(found, name, options), pixel_size, files)


def _working_bytes(options: CommandOptions) -> Callable[[Size], int] | None:
    """Return what tells the memory of the staged pipeline from a picture's size; None for the fused one."""
    given = options.filter
    if not needs_staged(given) and (given["engine"] or not options.save_stages):
        return None
    name, is_double = given["engine"] or "book", given["precision"] == "double"
    import numpy as np

    from ...errors import ParameterError
    from ...staged.algorithms import load
    from ...staged.pipeline import buffer_bytes

    try:
        algorithm, number = load(name), np.dtype(np.complex128 if is_double else np.complex64)
    except ParameterError:
        return None  # an unknown engine is refused with the filter
    times = 2 if given.get("edges") == "mirror" else 1
    return lambda size: buffer_bytes(algorithm, (size.channels, times * size.height, times * size.width), number)


def _summary(
    filter_: Filter, shape: tuple[int, ...], pixel_size: PixelSize | None, clipped: float, left_out: list[str]
) -> str:
    _, height, width = shape
    filtered_by = str(filter_.transfer).replace("n/8", f"n/8 = {min(height, width) / 8:g}")
    without = f"\nleft out: {', '.join(left_out)}" if left_out else ""
    cut = f"; {clipped:.2%} clipped" if clipped else ""
    given = filter_.transfer.pixel_size
    pixels = f", {pixel_size or f'pixel size {length_text(given)}'}" if given else ""
    device = filter_.launcher.device.name
    again = ", and again in double precision, as little passes" if filter_.weak() else ""
    return f"{width} x {height}: {filtered_by}{pixels}; {filter_.engine} on {device}{again}{cut}{without}"


def _times(filter_: Filter) -> str:
    """Return the time of every step, as the book's List 6.11."""
    from ...text_table import text_table

    timings = filter_.timings()
    rows = [(t.step, str(t.launches), f"{t.seconds * 1e3:.3f}") for t in timings]
    rows.append(("total", str(sum(t.launches for t in timings)), f"{sum(t.seconds for t in timings) * 1e3:.3f}"))
    return text_table(("step", "launches", "ms"), rows, right=".rr")
