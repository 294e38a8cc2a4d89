"""``explore``: a page in the browser, where the user drags a filter over the spectrum."""

from __future__ import annotations

import math
import os
import shlex
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import device_choice, signals, system
from ..errors import ParameterError, check_option, pip_install
from ..files.atomic import remove_leftovers
from ..files.urls import is_url, without_file_scheme
from .filters import COMMANDS, as_parameter_errors, context_of, kept_words, options_of, parsed
from .kinds import KINDS
from .one_file import ADVANCE
from .options import GroupedCommand, GroupedOption, device_option, file_names, remark, trace_option, typed

if TYPE_CHECKING:
    from ..work.recipe import Recipe

# OUT of a command whose result is only shown.
NOWHERE = "OUT"
# What is opened without IN.
FIRST_SAMPLE = "print.jpg"
# Most words of a recipe for a page.
MOST_WORDS = 500

page_option = partial(GroupedOption, group="Page")


@click.command(cls=GroupedCommand)
@click.argument("source", metavar="[IN]", required=False, shell_complete=file_names)
@click.argument("target", metavar="[OUT]", required=False, shell_complete=file_names)
@page_option(
    '--with "FILTER OPTIONS"',
    "filter_",
    everyday=True,
    help="The filter to start with, as on a command line.  [default: none]",
)
@page_option("--no-browser", is_flag=True, everyday=True, help="Print the address instead of opening a browser.")
@page_option(
    "--port N",
    type=click.IntRange(0, 65535),
    help="The port of the address.  [default: 17326; if it is taken, a free one]",
)
@device_option
@trace_option
@click.pass_context
def explore(
    context: click.Context,
    *,
    source: str | None,
    target: str | None,
    filter_: str | None,
    no_browser: bool,
    port: int | None,
    device: str | None,
) -> None:
    """Choose a filter by eye: drag it over a spectrum in the browser.

    This program serves the page, to this machine's browser alone, until Ctrl-C. The page shows the command line for the
    picture on the screen, and saves the output of that command: to OUT, or beside IN. It asks before it overwrites.
    Without IN it opens samples, and saves into the current folder. Drop a picture on the page to open it.

    \b
    Example: fftfilter explore
             fftfilter explore scan.png
             fftfilter explore --with "lowpass --radius 40" scan.png clean.png
    """
    try:
        import aiohttp  # noqa: F401
    except ModuleNotFoundError:
        raise ParameterError(f"explore needs aiohttp: {pip_install(extra='explore')}") from None
    import asyncio

    from ..explore.server import Server
    from ..explore.session import Session

    out_folder = None if source else "."
    source = without_file_scheme(source) if source else str(system.shipped("samples") / FIRST_SAMPLE)
    for name in filter(None, (source, target)):
        if name == "-" or is_url(name) or os.path.isdir(name):  # noqa: PTH112  Path's may raise
            raise click.UsageError(f"explore takes a picture among this machine's files, and {name!r} is not one.")
    redirect = Redirect()
    servers: list[Server] = []

    def clean() -> None:
        redirect.remove()
        for server in servers:
            server.end()
            remove_leftovers(server.folder, own=True)

    def opened(url: str) -> None:
        what, hint = ("samples are", "drop a picture there; ") if out_folder else (f"{source} is", "")
        line = f"fftfilter: {what} open in the browser at {url} ({hint}Ctrl-C ends)"
        click.echo(url if no_browser else line, err=not no_browser)
        if "SSH_CONNECTION" in os.environ:
            remark(f"on your own machine: {forwarding(url)}")
        if out_folder and no_browser:
            remark("no picture is given: the page has samples; drop a picture on it to open that")
        if not no_browser:
            redirect.open(url)

    # The work of the threads cannot be interrupted: the program does not wait for them at its end.
    with signals.ending_at_once(clean):
        device_choice.for_small_work(device, math.inf)
        always = ("--device", device) if device and "device" in typed(context) else ()
        commands = Commands(context, always)
        start = commands.start(filter_, source) if filter_ else {}
        server = Server(Session(source, target, device, out_folder), commands, start, redirect.remove)
        servers.append(server)
        try:
            asyncio.run(server.run(port, opened))
        finally:
            redirect.remove()


class Redirect:
    """A file that leads the browser to the page, so that the token is not in a process's arguments, which all see."""

    _file: Path | None = None

    def open(self, url: str) -> None:
        """Open a page in the browser, without waiting for its start."""
        import tempfile
        import threading
        import webbrowser

        with suppress(OSError):  # without it there is the address on the terminal
            number, name = tempfile.mkstemp(".html", "fftfilter-")  # for this user alone
            self._file = Path(name)
            os.close(number)
            head = f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={url}">'
            self._file.write_text(f'{head}<a href="{url}">{url}</a>', encoding="ascii")
            threading.Thread(target=webbrowser.open, args=(self._file.as_uri(),), daemon=True).start()

    def remove(self) -> None:
        """Remove the file, once the browser has read it or the program ends."""
        if self._file:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)


def forwarding(url: str) -> str:
    """Return the ssh command that forwards an address of this machine to the user's own machine."""
    port = url.split(":")[2].partition("/")[0]
    given = os.environ.get("SSH_CONNECTION", "").split()
    return f"ssh -L {port}:127.0.0.1:{port} {given[2] if len(given) > 2 else socket.gethostname()}"


@dataclass(frozen=True)
class Commands:
    """The commands of :class:`fftfilter.explore.request.Commands`."""

    context: click.Context
    always: tuple[str, ...]

    @cached_property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        kinds = {name: kind for name, kind in KINDS.items() if kind.is_on_page}
        of_all = (*(name for name, kind in kinds.items() if kind.factor), "pixel_size", "output", "edges", "scale")
        options = {}
        for command, kind in kinds.items():
            # The default of an option without one is an object of click's.
            params = {str(each.name): each.default for each in COMMANDS[command].params}
            usual = {name: each if isinstance(each, str | int | float) else None for name, each in params.items()}
            own = (*(str(each.name) for each in kind.options), *kind.searches, *of_all)
            off = (command, *kind.off_page)
            options[command] = {name: usual[name] for name in own if name in usual and name not in off}
        return options

    def describe(self, words: Sequence[str], source: str) -> Recipe:
        with as_parameter_errors():
            return _described(context_of(self.context, words, source, NOWHERE))

    def arguments(self, words: Sequence[str]) -> tuple[str, ...]:
        with as_parameter_errors():
            return tuple(kept_words(words))

    def run(self, words: Sequence[str], source: str, target: str, advance: Callable[[int], None]) -> None:
        with as_parameter_errors():
            made = context_of(self.context, words, source, target)
            made.meta[ADVANCE] = advance
            made.command.invoke(made)

    def of_recipe(self, data: bytes, name: str, source: str) -> dict[str, Any]:
        from ..work import saved

        given = saved.parse(data, name)
        with as_parameter_errors(name):
            words = kept_words(given.arguments)
            if len(words) > MOST_WORDS:
                raise ParameterError(f"a page takes at most {MOST_WORDS} options and waves: use fftfilter apply")
            if words[0] not in self.options:
                raise ParameterError(f"the page has no {words[0]}: use fftfilter apply")
            return self.start(shlex.join(words), source, "a recipe")

    def start(self, text: str, source: str, name: str = "--with") -> dict[str, Any]:
        """Return the first request, from the value of ``--with``; raises UsageError and FftfilterError."""
        from ..explore.request import taken_area

        made = parsed(self.context, text, source, NOWHERE)
        command = str(made.info_name)
        check_option(name, command, list(self.options))
        given = typed(made)
        area = taken_area(given)
        others = [name for name in given if name not in (*self.options[command], "sources", "target")]
        if others:
            raise click.UsageError(f"{name}: --{others[0].rstrip('_').replace('_', '-')} is not for a page to set.")
        _described(made)
        for angle in {"angle", "stripes"} & given.keys():
            if len(given[angle]) > 1:
                raise click.UsageError(f"{name}: a page has one angle of stripes: give --{angle} once.")
            given[angle] = given[angle][0]
        if "auto" in given:
            given["auto"] = True
        options = {
            each: list(value) if isinstance(value, tuple) else True if value is True else str(value)
            for each, value in given.items()
            if each in self.options[command]
        }
        return {"id": 0, "page": 0, "level": 1, "show": "result", "command": command, "options": options, "area": area}


def _described(made: click.Context) -> Recipe:
    options = options_of(made)
    options.check_for_file(made.params["sources"][0], NOWHERE)
    return options.recipe
