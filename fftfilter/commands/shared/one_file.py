"""One picture: read, filtered, written; then what was asked for is printed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .options import filter_options, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from ...filters import Filter
    from ...images import Picture
    from ...transfer import Transfer


@dataclass(frozen=True)
class FileOptions:
    """The options of a filter command for one picture."""

    filter: dict[str, Any]
    """Options of :class:`Filter`."""
    scale: str
    format: str | None
    save_stages: Path | None
    in_place: bool
    png_level: int
    strip: bool
    preserve_times: bool
    verbose: int
    folder_only: dict[str, Any]
    """What was given of the options that are for folders."""

    @classmethod
    def of(cls, given: dict[str, Any]) -> FileOptions:
        """Take the options from those of a command."""
        options = filter_options(given) | {"device": given["device"], "profile": given["profile"]}
        names = ("scale", "save_stages", "in_place", "png_level", "strip", "preserve_times", "verbose")
        folder = ("recursive", "pattern", "skip_existing", "fail_fast", "dry_run", "report", "cluster", "processes")
        return cls(
            filter=options,
            format=given["format_"],
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
            raise click.UsageError("--scale folder is for folders, and IN is none: give each or LO:HI.")
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
    from ...filters import Filter
    from ...output.quantize import magnitude, quantize
    from ...output.scale import parse

    given_range = parse(options.scale)
    images.check_output(source, target, in_place=options.in_place, format=options.format)
    times = sources.times(source) if options.preserve_times else None
    remove_leftovers_beside(target)
    picture = images.read(source)
    if options.strip:
        picture.metadata = None
    images.check_fits(picture, target, format=options.format)
    depth = images.output_depth(picture, target, format=options.format)
    for_filter = options.filter
    observe = None
    if options.save_stages is not None:
        from .stage_pictures import StagePictures

        observe = StagePictures(options.save_stages)
        for_filter = for_filter | {"engine": for_filter["engine"] or "book"}  # the fused engine has no stages
    output = "magnitude" if given_range is None else "real"
    with Filter(transfer, output=output, **for_filter) as filter_:
        if given_range is None:
            planes = filter_(picture.planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval, observe=observe)
        else:
            values = filter_(picture.planes, channel_axis=0, observe=observe)
            planes = quantize(magnitude(values, picture.planes), given_range, picture.maxval, depth)
        picture.planes, picture.maxval = planes, depth.maxval
        images.write(picture, target, format=options.format, png_level=options.png_level, times=times)
        if options.verbose:
            click.echo(_summary(filter_, picture), err=True)
        if for_filter["profile"]:
            click.echo(_times(filter_), err=target == "-")


def _summary(filter_: Filter, picture: Picture) -> str:
    _, height, width = picture.planes.shape
    filtered_by = str(filter_.transfer).replace("n/8", f"n/8 = {min(height, width) / 8:g}")
    return f"{width} x {height}: {filtered_by}; {filter_.engine} on {filter_.launcher.device.name}"


def _times(filter_: Filter) -> str:
    """Return the time of every step, as the book's List 6.11."""
    from ...bench.tables import text_table

    timings = filter_.timings()
    rows = [(t.step, str(t.launches), f"{t.seconds * 1e3:.3f}") for t in timings]
    rows.append(("total", str(sum(t.launches for t in timings)), f"{sum(t.seconds for t in timings) * 1e3:.3f}"))
    return text_table(("step", "launches", "ms"), rows, right=".rr")
