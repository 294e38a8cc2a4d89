"""The options of a filter command as they were given, and which of them mean nothing together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from .options import coding_of, filter_options, pages_of, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from ...analysis.search import AutoNotches
    from ...images import Asked, Coding
    from ...output.modes import Output
    from ...output.scale import Scale

OF_FOLDERS = ("recursive", "pattern", "skip_existing", "fail_fast", "dry_run", "report", "cluster", "processes")
OF_ONE_PICTURE = ("profile", "save_stages", "input_limit")


@dataclass(eq=False, repr=False)  # what it writes code for takes time
class CommandOptions:
    """The options of a filter command, for one picture or for a folder."""

    filter: dict[str, Any]
    """Options of :class:`Filter`, but for device and profile."""
    device: str | None
    profile: bool
    output: Output
    scale: str
    format: str | None
    save_stages: Path | None
    preview: str | None
    in_place: bool
    input_limit: int | None
    coding: Coding
    pages: Asked | None
    strip: bool
    preserve_times: bool
    verify: int | None
    quiet: bool
    verbose: int
    auto: AutoNotches | None
    """How peaks are found and removed, if they are."""
    masks: tuple[str, ...]
    """Files of gains, which are inputs, too."""
    recursive: bool
    pattern: tuple[str, ...]
    skip_existing: bool
    fail_fast: bool
    dry_run: bool
    report: Path | None
    cluster: str | None
    processes: int | None

    @classmethod
    def of(cls, given: dict[str, Any]) -> CommandOptions:
        """Take the options from those of a command."""
        made = {
            "filter": filter_options(given),
            "format": given["format_"],
            "coding": coding_of(given),
            "pages": pages_of(given),
        }
        return cls(**made, **{each.name: given[each.name] for each in fields(cls) if each.name not in made})

    @property
    def of_filter(self) -> dict[str, Any]:
        """All options of :class:`Filter`."""
        return {**self.filter, "device": self.device, "profile": self.profile}

    @property
    def given_range(self) -> Scale | None:
        """The scale as a range; None for the words each, folder and stack. Raises ParameterError."""
        from ...output.scale import parse

        return parse(self.scale)

    def chosen(self, *names: str) -> dict[str, Any]:
        """Return some of the options by their names."""
        return {name: getattr(self, name) for name in names}

    def check_for_file(self, source: str, target: str) -> None:
        """Refuse what means nothing for one picture; raises UsageError."""
        from ...files.urls import is_url

        refuse(self.chosen(*OF_FOLDERS), "is for folders, and IN is a file.")
        if self.format and target != "-":
            raise click.UsageError("--format is for folders and standard output: the extension of OUT says its format.")
        if self.scale == "folder":
            raise click.UsageError("--scale folder is for folders, and IN is a file: give each, stack, auto or LO:HI.")
        if self.device and (self.device == "all" or "," in self.device):
            raise click.UsageError(f"--device {self.device} is for folders: one picture takes one device.")
        if self.preserve_times and "-" in (source, target):
            raise click.UsageError("--preserve-times needs two files: standard input and output have no times.")
        if self.preserve_times and (is_url(source) or is_url(target)):
            raise click.UsageError("--preserve-times needs two files of a file system: a URL has no times.")

    def check_for_folder(self, target: str) -> None:
        """Refuse what means nothing for a folder; raises UsageError."""
        refuse(self.chosen(*OF_ONE_PICTURE), "is for one picture, and this is a folder.")
        if target == "-":
            raise click.UsageError("IN is a folder, so OUT must be one, not standard output.")
        if self.in_place and self.skip_existing:
            raise click.UsageError("--skip-existing needs the inputs as they were, which --in-place overwrites.")
        if self.verify and self.dry_run:
            raise click.UsageError("--verify compares what was written, and --dry-run writes nothing.")
        if self.processes and self.cluster not in (None, "local"):
            raise click.UsageError(
                "--processes is for this machine: a cluster has the workers that were started for it."
            )
