"""The program: ``fftfilter`` and ``python -m fftfilter``."""

from __future__ import annotations

import os
import sys

# Pictures are in the current directory, and whatever came with them: it is no place to import from. Python looks there
# first with -m, and with -c, which is how multiprocessing and Dask start processes.
os.environ["PYTHONSAFEPATH"] = "1"
if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH120  pathlib is slow
    del sys.path[0]

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until the command line can catch it, Ctrl-C is no error of whatever is being imported.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from . import signals, system


def main() -> None:
    """Run the command line and end the process."""
    system.pause_collector()
    system.limit_openblas()
    from .files.messages import last_line

    with signals.ending_at_once(line=last_line):
        from .cli import cli

    signals.end_by_exception()
    try:
        cli(prog_name=cli.name)
    except SystemExit as end:
        signals.end_quietly()
        if isinstance(end.code, int):
            system.leave(end.code)
        raise


if __name__ == "__main__":
    main()
