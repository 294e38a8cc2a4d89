"""One picture: read, filtered, written; then what was asked for is printed."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import click

from .options import filter_options, refuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...filters import Filter
    from ...images import Picture, Size
    from ...output.modes import Output
    from ...transfer import Transfer


@dataclass(frozen=True)
class FileOptions:
    """The options of a filter command for one picture."""

    filter: dict[str, Any]
    """Options of :class:`Filter`."""
    output: Output
    scale: str
    format: str | None
    save_stages: Path | None
    in_place: bool
    input_limit: int | None
    png_level: int
    strip: bool
    preserve_times: bool
    verify: bool
    quiet: bool
    verbose: int
    folder_only: dict[str, Any]
    """What was given of the options that are for folders."""

    @classmethod
    def of(cls, given: dict[str, Any]) -> FileOptions:
        """Take the options from those of a command."""
        options = filter_options(given) | {"device": given["device"], "profile": given["profile"]}
        names = {each.name for each in fields(cls)} - {"filter", "format", "verify", "folder_only"}
        folder = ("recursive", "pattern", "skip_existing", "fail_fast", "dry_run", "report", "cluster", "processes")
        return cls(
            filter=options,
            format=given["format_"],
            verify=given["verify"] is not None,
            folder_only={name: given[name] for name in folder},
            **{name: given[name] for name in names},
        )

    def check(self, source: str, target: str) -> None:
        """Refuse combinations that mean nothing; raises UsageError."""
        from ...files.urls import is_url

        refuse(self.folder_only, "is for folders, and IN is none.")
        if self.format and target != "-":
            raise click.UsageError("--format is for folders and standard output: the extension of OUT says its format.")
        if self.scale == "folder":
            raise click.UsageError("--scale folder is for folders, and IN is none: give each, auto or LO:HI.")
        device = self.filter["device"]
        if device and (device == "all" or "," in device):
            raise click.UsageError(f"--device {device} is for folders: one picture takes one device.")
        if self.preserve_times and "-" in (source, target):
            raise click.UsageError("--preserve-times needs two files: standard input and output have no times.")
        if self.preserve_times and (is_url(source) or is_url(target)):
            raise click.UsageError("--preserve-times needs two files of a file system: a URL has no times.")


def run_file(transfer: Transfer, source: str, target: str, options: FileOptions) -> None:
    """Read, filter, write; then print what was asked for."""
    from ...files.urls import is_url

    if os.path.isfile(source):  # noqa: PTH113  Path's may raise
        from ...device.embedded_pocl import load_ahead

        load_ahead()  # not while standard input is waited for: PoCL's compiler takes Ctrl-C
    elif source != "-" and not is_url(source):
        from ...files import sources

        sources.times(source)  # a missing folder is missing: it is not refused as being no folder
    options.check(source, target)
    _filter(transfer, source, target, options)


def _filter(transfer: Transfer, source: str, target: str, options: FileOptions) -> None:
    from ... import images
    from ...files import sources
    from ...files.leftovers import remove_leftovers_beside
    from ...files.messages import shown
    from ...filters import Filter
    from ...output import modes
    from ...output.scale import parse

    given_range = parse(options.scale)
    modes.check_scale(options.output, given_range)
    images.check_output(source, target, in_place=options.in_place, format=options.format)
    if options.output == "real":
        images.refuse_whole_numbers(target, format=options.format)
    if options.verify:
        from ... import verify

        verify.refuse(target, options.format)
    times = sources.times(source) if options.preserve_times else None
    remove_leftovers_beside(target)
    picture = _read(source, options)
    images.check_fits(picture, target, format=options.format)
    depth = images.output_depth(picture, target, format=options.format, is_real=options.output == "real")
    if not options.quiet:
        _caution(transfer, picture, options)
    for_filter = options.filter
    observe = None
    if options.save_stages is not None:
        from .stage_pictures import StagePictures

        observe = StagePictures(options.save_stages)
        for_filter = for_filter | {"engine": for_filter["engine"] or "book"}  # the fused engine has no stages
    with Filter(transfer, output=options.output, scale=given_range, **for_filter) as filter_:
        planes = filter_(
            picture.planes,
            channel_axis=0,
            dtype=depth.dtype,
            levels=depth.maxval,
            white=picture.maxval,
            observe=observe,
        )
        clipped = filter_.clipped()[0]
        given = replace(picture) if options.verify else None
        picture.planes, picture.maxval = planes, depth.maxval
        filter_.close()  # the device's memory, which is this machine's if it is a CPU, is needed for writing
        left_out = images.write(picture, target, format=options.format, png_level=options.png_level, times=times)
        if options.verbose:
            click.echo(_summary(filter_, picture, clipped, left_out), err=True)
        if for_filter["profile"]:
            click.echo(_times(filter_), err=target == "-")
    if given is not None:
        found = verify.difference(
            given, transfer, options.output, given_range, target=target, depth=depth, edges=for_filter["edges"]
        )
        verify.check(found, target)
        if not options.quiet:
            click.echo(f"{shown(target, '-')}: {found}")


def _caution(transfer: Transfer, picture: Picture, options: FileOptions) -> None:
    """Say what users may not expect."""
    from ...output.scale import parse

    cautions = transfer.cautions(*picture.planes.shape[1:])
    if options.output == "magnitude":  # which alone has no sign
        given_range = parse(options.scale)
        cautions = [*cautions, *picture.cautions(), *(given_range.cautions() if given_range else ())]
    for line in cautions:
        click.echo(f"fftfilter: {line}", err=True)


def _read(source: str, options: FileOptions) -> Picture:
    from ... import images

    picture = images.read(source, working=_working_bytes(options), limit=options.input_limit)
    return replace(images.without_orientation(picture), metadata=None) if options.strip else picture


def _working_bytes(options: FileOptions) -> Callable[[Size], int] | None:
    """Return what tells the memory of the staged pipeline from a picture's size; None for the fused one."""
    given = options.filter
    is_double = given["precision"] == "double"
    needs_staged = is_double or given["work_group_size"] or given["transpose"] or options.save_stages
    name = given["engine"] or ("book" if needs_staged else "fused")
    if name == "fused":
        return None
    import numpy as np

    from ...errors import ParameterError
    from ...staged.algorithms import load
    from ...staged.pipeline import buffer_bytes

    try:
        algorithm, number = load(name), np.dtype(np.complex128 if is_double else np.complex64)
    except ParameterError:
        return None  # an unknown engine is refused with the filter
    times = 2 if given["edges"] == "mirror" else 1
    return lambda size: buffer_bytes(algorithm, (size.channels, times * size.height, times * size.width), number)


def _summary(filter_: Filter, picture: Picture, clipped: float, left_out: list[str]) -> str:
    _, height, width = picture.planes.shape
    filtered_by = str(filter_.transfer).replace("n/8", f"n/8 = {min(height, width) / 8:g}")
    without = f"\nwithout {' and '.join(left_out)}, which OUT cannot hold" if left_out else ""
    cut = f"; {clipped:.2%} clipped" if clipped else ""
    return f"{width} x {height}: {filtered_by}; {filter_.engine} on {filter_.launcher.device.name}{cut}{without}"


def _times(filter_: Filter) -> str:
    """Return the time of every step, as the book's List 6.11."""
    from ...bench.tables import text_table

    timings = filter_.timings()
    rows = [(t.step, str(t.launches), f"{t.seconds * 1e3:.3f}") for t in timings]
    rows.append(("total", str(sum(t.launches for t in timings)), f"{sum(t.seconds for t in timings) * 1e3:.3f}"))
    return text_table(("step", "launches", "ms"), rows, right=".rr")
