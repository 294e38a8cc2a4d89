"""The program: ``fftfilter`` and ``python -m fftfilter``."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading

from .versions import load_quickly

INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process."""
    # What modules make while they load is no garbage. Commands that work for long switch this on again.
    gc.disable()
    try:
        from .cli import cli

        # NumPy's linear algebra, which is never called, would keep every core busy waiting for that.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if len(sys.argv) > 3 and (sys.argv[-2] == "-" or os.path.isfile(sys.argv[-2])):  # noqa: PTH113  pathlib is slow
            # From the depth of click's calls it takes a twentieth of the whole longer: Python 3.11 gives its stack
            # back to the system piece by piece, and takes it again.
            load_quickly()
        cli(prog_name=cli.name)
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise
    except KeyboardInterrupt:  # before the command line was there to catch it
        sys.stderr.write("\nfftfilter: interrupted\n")
        _leave(INTERRUPTED)
        sys.exit(INTERRUPTED)


def _leave(code: int) -> None:
    """End the process at once, unless something is left that needs the interpreter's own end.

    That takes NumPy, OpenCL and PoCL's compiler down piece by piece: a tenth of the time that a small image takes.
    """
    # PoCL without a cache removes what it compiled when its objects go.
    if threading.active_count() > 1 or "POCL_KERNEL_CACHE" in os.environ:
        return
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


if __name__ == "__main__":
    main()
