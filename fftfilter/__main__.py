"""The program: ``fftfilter`` and ``python -m fftfilter``."""

from __future__ import annotations

import os
import sys

from . import startup, system

INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process."""
    startup.pause_collector()
    try:
        from .cli import cli

        startup.limit_openblas()
        # A picture is to be filtered, by all appearances.
        if len(sys.argv) > 3 and (sys.argv[-2] == "-" or os.path.isfile(sys.argv[-2])):  # noqa: PTH113  pathlib is slow
            system.spare_pyopencl_its_cache()
            startup.import_ahead()
        cli(prog_name=cli.name)
    except SystemExit as end:
        if isinstance(end.code, int):
            startup.leave(end.code)
        raise
    except KeyboardInterrupt:  # before the command line was there to catch it
        sys.stderr.write("\nfftfilter: interrupted\n")
        startup.leave(INTERRUPTED)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
