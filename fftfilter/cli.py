"""The click group: finds the commands, turns every error into one line and an exit code.

0  all well
1  a file could not be read or written
2  usage: an unknown option, an invalid value
3  no usable OpenCL device
130  interrupted
143  terminated
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any, NoReturn, TextIO, cast

import click

from . import __distribution__, __version__, device_choice, signals
from .errors import FftfilterError, TooLargeError, code_of, install_opencl, pip_install, without_secrets
from .files.messages import Events, guarded, tell, wants_events

# The commands beside the filters, each with its module.
OTHERS = {name: name for name in ("apply", "bench", "devices", "explore", "peaks", "spectrum")} | {"engines": "devices"}
# Values that messages shorten: a long number, and a quoted value that is not a path.
_LONG = r"\d{61,}|(?<=')[^\s'/\\]{61,}(?=')"

# The most characters of a message, of which a longer one keeps its beginning and its end.
_LONGEST = 2000


class Cli(click.Group):
    """A group whose commands are imported when they are asked for: the filters, and those in modules of their own."""

    verbosity = 0

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Import all commands, and return their names."""
        from .commands.filters import COMMANDS

        self.commands = {**COMMANDS, **{name: _command(name) for name in OTHERS}}
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, None if there is none."""
        if cmd_name in OTHERS:
            return _command(cmd_name)
        from .commands.filters import COMMANDS

        if cmd_name not in COMMANDS:
            self.list_commands(ctx)  # so that click can propose one
        return COMMANDS.get(cmd_name)

    @guarded()
    def main(self, *arguments: Any, **extra: Any) -> NoReturn:
        """Run a command line; always ends by SystemExit."""
        self.verbosity = 0
        device_choice.tell = _tell
        words = [*(extra.get("args") or sys.argv[1:])]
        try:
            if wants_events(words):
                sys.stderr = cast("TextIO", Events(sys.stderr))  # until the command has ended; for usage errors, too
            result = super().main(*arguments, **{**extra, "standalone_mode": False})
            sys.stdout.flush()
        except (KeyboardInterrupt, click.Abort) as interrupt:
            signals.arrived()
            signal = interrupt.__cause__ or interrupt  # click's Abort has it as its cause
            self._fail(*signals.ending_by(signal), signal)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "fftfilter"
            message = error.format_message()
            stop = "" if message.endswith((".", "?")) else "."
            self._fail(f"{message}{stop} See '{path} --help'.", error.exit_code)
        except (click.ClickException, FftfilterError) as error:
            self._fail(str(error), error.exit_code)
        except ImportError as error:
            package = (error.name or "").partition(".")[0]
            install = install_opencl() if package == "pyopencl" else pip_install(package)
            what = "missing" if isinstance(error, ModuleNotFoundError) else f"broken ({error})"
            self._fail(f"the package {package} is {what}: {install}", 3 if package == "pyopencl" else 1)
        except MemoryError:
            self._fail("out of memory: take a smaller image", TooLargeError.exit_code)
        except BrokenPipeError:
            sys.exit(1)  # the reader of our output has gone; nothing is left to say
        except Exception as error:  # noqa: BLE001  -v -v prints the traceback
            what = " ".join(str(error).split())
            no_thread = "no more threads can be started: raise the limit on processes (ulimit -u)"
            unknown = f"internal error: {type(error).__name__}: {what}; -v -v shows where"
            self._fail(no_thread if "start new thread" in what else unknown, 1)
        sys.exit(result if isinstance(result, int) else 0)

    def _fail(self, message: str, code: int, error: BaseException | None = None) -> NoReturn:
        if self.verbosity >= 2:  # -v -v
            import traceback

            click.echo(without_secrets(traceback.format_exc()), err=True)
        message = re.sub(_LONG, lambda value: f"{value[0][:30]}...{value[0][-9:]}", message)
        if len(message) > _LONGEST:
            message = f"{message[: _LONGEST - 300]} ... {message[-300:]}"
        # What files and recipes say may hold what a terminal obeys.
        message = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in message)
        message, error = without_secrets(message), error or sys.exc_info()[1]
        if not tell("error", message=message, code=code_of(error) if error else "", exit_code=code):
            click.echo(f"fftfilter: {message}", err=True)
        sys.exit(code)


def _command(name: str) -> click.Command:
    command: click.Command = getattr(import_module(f".commands.{OTHERS[name]}", __package__), name)
    return command


def _tell(line: str) -> None:
    context = click.get_current_context(silent=True)
    if not (context and context.params.get("quiet")):
        click.echo(f"fftfilter: {line}", err=True)


@click.group("fftfilter", cls=Cli, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message=f"%(prog)s %(version)s ({__distribution__})")
def cli() -> None:
    """Filter images in the frequency domain, on any OpenCL device.

    \b
    Example: fftfilter highpass in.pgm out.pgm
    """
