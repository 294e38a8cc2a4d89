"""The program: ``fftfilter`` and ``python -m fftfilter``."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading

from .cli import cli


def main() -> None:
    """Run the command line and end the process."""
    # What modules make while they load is no garbage. Commands that work for long switch this on again.
    gc.disable()
    # NumPy's linear algebra, which is never called, would keep every core busy waiting for that.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        cli(prog_name=cli.name)
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise


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
