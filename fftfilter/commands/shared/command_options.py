"""The options of a filter command: the recipe that they describe, the others, and which mean nothing together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ...output.scale import EACH, FOLDER, STACK, parse
from ...work.recipe import Recipe
from .options import coding_of, pages_of, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from ...transfer import Transfer

OF_FOLDERS = ("recursive", "pattern", "skip_existing", "fail_fast", "dry_run", "report", "cluster", "processes")
OF_ONE_PICTURE = ("profile", "save_stages", "input_limit")
# Those of a recipe's filter.
OF_FILTERS = ("engine", "precision", "work_group_size", "transpose", "edges", "autoscale", "saturate")


@dataclass(eq=False, repr=False)  # what it writes code for takes time
class CommandOptions:
    """The options of a filter command, for one picture or for a folder."""

    recipe: Recipe
    device: str | None
    profile: bool
    save_stages: Path | None
    preview: str | None
    in_place: bool
    input_limit: int | None
    verify: int | None
    quiet: bool
    verbose: int
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
    def of(cls, transfer: Transfer, given: dict[str, Any]) -> CommandOptions:
        """Take the options from those of a command, whose filter is ``transfer``; raises ParameterError."""
        others = [name for name in cls.__dataclass_fields__ if name != "recipe"]
        return cls(recipe_of(transfer, given), **{name: given[name] for name in others})

    def chosen(self, *names: str) -> dict[str, Any]:
        """Return some of the options by their names."""
        return {name: getattr(self, name) for name in names}

    def check_for_file(self, source: str, target: str) -> None:
        """Refuse what means nothing for one picture; raises UsageError."""
        from ...files.urls import is_url

        refuse(self.chosen(*OF_FOLDERS), "is for folders, and IN is a file.")
        if self.recipe.format and target != "-":
            raise click.UsageError("--format is for folders and standard output: the extension of OUT says its format.")
        if self.recipe.span == FOLDER:
            raise click.UsageError("--scale folder is for folders, and IN is a file: give each, stack, auto or LO:HI.")
        if self.device and (self.device == "all" or "," in self.device):
            raise click.UsageError(f"--device {self.device} is for folders: one picture takes one device.")
        if self.recipe.preserve_times and "-" in (source, target):
            raise click.UsageError("--preserve-times needs two files: standard input and output have no times.")
        if self.recipe.preserve_times and (is_url(source) or is_url(target)):
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


def recipe_of(transfer: Transfer, given: dict[str, Any]) -> Recipe:
    """Return the recipe that the options of a filter command describe; raises ParameterError."""
    options = {name: given[name] for name in OF_FILTERS if name in given}
    if given["save_stages"]:
        options["engine"] = options["engine"] or "book"  # the fused engine has no results between
    scale = given["scale"]
    return Recipe(
        transfer,
        method=given["method"],
        options=options,
        output=given["output"],
        scale=parse(scale),
        span=scale if scale in (FOLDER, STACK) else EACH,
        pages=pages_of(given),
        auto=given["auto"],
        coding=coding_of(given),
        format=given["format_"],
        strip=given["strip"],
        preserve_times=given["preserve_times"],
    )
