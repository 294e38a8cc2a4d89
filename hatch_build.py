"""Build hooks: the man pages and the completions that the wheel brings under share/, and whether it asks for PoCL.

``python hatch_build.py FOLDER`` writes the former into a folder, to look at. They are made from the commands, which
need nothing but click until they do something.

The wheels of PoCL, imagecodecs and of what pyopencl needs (siphash24) for Linux are for glibc, and no marker of a
dependency tells glibc from musl. So what is built on Alpine asks for none of them, and a wheel that is built on Linux
says by its tag which library it is for: pip takes the sdist elsewhere, and builds what fits.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
from inspect import cleandoc
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

ROOT = Path(__file__).parent
EXIT_STATUS = (
    ("0", "Success."),
    ("1", "A file failed."),
    ("2", "Usage."),
    ("3", "No usable OpenCL device."),
    ("130", "Interrupted."),
    ("143", "Terminated."),
)


def escaped(text: str) -> str:
    """Return text as roff that shows it as it is: a dash is one to be typed, no line is a macro."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs of a help as roff; one after a \\b keeps its lines."""
    for paragraph in cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield f".PP\n.nf\n{escaped(paragraph[1:].strip(chr(10)))}\n.fi"
        else:
            yield f".PP\n{escaped(' '.join(paragraph.split()))}"


def page(context: click.Context, version: str) -> str:
    """Return the man page of a command."""
    import click

    command, name = context.command, context.command_path.replace(" ", "-")
    what = " ".join(command.get_short_help_str(1000).rstrip(".").split())
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f'.TH "{name.upper()}" 1 "" "fftfilter {version}" "fftfilter"', ".SH NAME", f"{name} \\- {escaped(what)}"]
    lines += [".SH SYNOPSIS", f".B {escaped(context.command_path)}", escaped(usage)]
    lines += [".SH DESCRIPTION", *paragraphs(command.help or "")]
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
    for last in ("Options", "Study"):
        if last in groups:
            groups[last] = groups.pop(last)
    others = [f"{name}(1)" for name in ("fftfilter",) if name != context.command_path]
    if isinstance(command, click.Group):
        subcommands = [(sub, command.get_command(context, sub)) for sub in command.list_commands(context)]
        groups["Commands"] = [(sub, found.get_short_help_str(1000)) for sub, found in subcommands if found]
        others += [f"{name}-{sub}(1)" for sub, _ in subcommands]
    groups["Exit status"] = list(EXIT_STATUS)
    for group, records in groups.items():
        lines.append(f".SH {group.upper()}")
        for term, text in records:
            lines += [".TP", f".B {escaped(term)}", escaped(" ".join(text.split()))]
    return "\n".join([*lines, ".SH SEE ALSO", ".nh", escaped(", ".join(others))]) + "\n"


def pages(context: click.Context, version: str) -> Iterator[tuple[str, str]]:
    """Return the name and the text of the man page of a command, and of its subcommands."""
    import click

    yield context.command_path.replace(" ", "-"), page(context, version)
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            if command := context.command.get_command(context, name):
                inner = click.Context(command, info_name=name, parent=context, **command.context_settings)
                yield from pages(inner, version)


def write_share(folder: Path, version: str) -> None:
    """Write man pages and completions into a folder, each where it belongs below share/."""
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = True  # into the sources
    import click
    from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

    from fftfilter.cli import cli

    sys.path.remove(str(ROOT))
    root = click.Context(cli, info_name="fftfilter", **cli.context_settings)
    files = {f"man/man1/{name}.1": text for name, text in pages(root, version)}
    completions = {
        "bash-completion/completions/fftfilter": BashComplete,
        "zsh/site-functions/_fftfilter": ZshComplete,
        "fish/vendor_completions.d/fftfilter.fish": FishComplete,
    }
    for name, shell in completions.items():
        # Bash's own ``source`` first asks for the version of the bash that is installed here.
        files[name] = ShellComplete.source(shell(cli, {}, "fftfilter", "_FFTFILTER_COMPLETE"))
    # Click's ending calls the function the first time only: the second Tab would complete nothing.
    zsh = "zsh/site-functions/_fftfilter"
    files[zsh] = files[zsh].partition("\nif [[ $zsh_eval_context")[0] + '\n_fftfilter_completion "$@"\n'
    # Click's fish splits at every comma, and cuts descriptions and files' names at their first one.
    fish = "fish/vendor_completions.d/fftfilter.fish"
    files[fish] = files[fish].replace("string split ", "string split --max 1 ")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def libc() -> str:
    """Return the C library of a Linux that this runs on, by its name in tags of wheels; empty on other systems."""
    is_linux = sys.platform == "linux"
    return ("manylinux_2_17" if platform.libc_ver()[0] == "glibc" else "musllinux_1_1") if is_linux else ""


class DependenciesHook(MetadataHookInterface):
    """Leaves those dependencies out that have no wheel here."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Change the metadata of pyproject.toml."""
        if libc().startswith("musl"):
            left_out = "imagecodecs", "pyopencl"
            metadata["dependencies"] = [line for line in metadata["dependencies"] if not line.startswith(left_out)]


class ShareHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds share/ and its tag to a wheel."""

    folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files, and name them to the builder; an editable install goes without."""
        if version == "editable":
            return
        self.folder = Path(mkdtemp())
        write_share(self.folder, self.metadata.version)
        build_data["shared_data"][str(self.folder)] = "share"
        if libc():
            build_data["tag"] = f"py3-none-{libc()}_{platform.machine()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the files, which are in the wheel now."""
        if self.folder:
            shutil.rmtree(self.folder)


if __name__ == "__main__":
    from importlib.metadata import version

    write_share(Path(sys.argv[1]), version("fftfilter-opencl"))
