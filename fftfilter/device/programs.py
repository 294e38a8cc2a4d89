"""OpenCL programs: finds the ``.cl`` files, joins them behind the prelude, and builds them.

A file names the files that it calls in its head, ``// needs: edges.cl shapes.cl``: they come before it, each once. Each
file stands behind a ``#line`` directive, so that a compiler's message names the real file and line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BuildError
from ..system import shipped

if TYPE_CHECKING:
    import pyopencl as cl

PRELUDE = "complex.cl"

while_building: Callable[[], AbstractContextManager[Any]] = nullcontext
"""Returns a context manager that is entered while a program is built. A terminal's replaces it to show a message."""


@cache
def folder() -> Path:
    """Return the folder of the kernels."""
    return shipped("kernels")


@cache
def source(name: str) -> str:
    """Return the text of one file, by its path under ``kernels/``: ``staged/steps/butterfly.cl``."""
    return (folder() / name).read_text(encoding="utf-8")


@cache
def needs(name: str) -> tuple[str, ...]:
    """Return the files that a file names in its head as those that it needs before it."""
    return tuple(" ".join(re.findall(r"^// needs: (.*)", source(name), re.MULTILINE)).split())


@cache
def declared(name: str, kernel: str) -> tuple[str, ...]:
    """Return the names of a kernel's arguments, in the order in which its file declares them."""
    arguments = source(name).partition(f"void {kernel}(")[2].partition(")")[0]
    return tuple(re.findall(r"(\w+)(?:,|$)", arguments))


NUMBERS = {"uint": np.uint32, "int": np.int32, "ulong": np.uint64, "float": np.float32}


@cache
def record(name: str, struct: str) -> np.dtype[Any]:
    """Return a struct of a file as NumPy has it, so that its fields are written down once.

    The file declares it as ``typedef struct { uint count, taken; stage_t stages[24]; } name;``, a line or more. Fields
    are ``NUMBERS`` and such structs of the same file, one by one or an array; the larger numbers come first, as there
    is no padding.
    """
    code = re.sub(r"//.*", "", source(name)).partition(f"}} {struct};")[0].rpartition("typedef struct {")[2]
    fields: list[Any] = []
    for kind, *names in (re.split(r"[\s,]+", line.strip()) for line in code.split(";")[:-1]):
        number = NUMBERS.get(kind) or record(name, kind)
        for field, _, count in (each.rstrip("]").partition("[") for each in names):
            fields.append((field, number, int(count)) if count else (field, number))
    return np.dtype(fields)


def with_needs(names: Iterable[str]) -> tuple[str, ...]:
    """Return the named files, before each the files that it needs, none twice."""
    found: dict[str, None] = {}
    for name in names:
        if name not in found:
            found |= dict.fromkeys(with_needs(needs(name))) | {name: None}
    return tuple(found)


def join(names: tuple[str, ...]) -> str:
    """Return the prelude, the named files and those that they need as one text."""
    return "".join(f'#line 1 "{name}"\n{source(name)}\n' for name in (PRELUDE, *with_needs(names)))


def build(
    context: cl.Context, names: tuple[str, ...], defines: tuple[str, ...], options: tuple[str, ...] = ()
) -> cl.Program:
    """Build the named files with ``-D`` for each define (``REAL=float``) and the compiler's own options.

    Raises BuildError with the compiler's first error.
    """
    import pyopencl as cl

    # -w: PoCL counts its compiler's warnings on stderr.
    arguments = ["-cl-std=CL1.2", "-w", *(f"-D {define}" for define in defines), *options]
    try:
        program: cl.Program = cl.Program(context, join(names))
        with while_building(), warnings.catch_warnings():
            # Compilers report what they did ("kernel was vectorized ..."); errors are raised.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            program.build(arguments)
    except cl.Error as error:
        raise BuildError(
            f"{context.devices[0].name.strip()} cannot build {', '.join(names)}: {first_error(str(error))}; "
            "see 'fftfilter devices' for what else there is"
        ) from error
    return program


def first_error(log: str) -> str:
    """Return the most useful line of a build log: the first with the word error, else the first."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line.lower()), lines[0] if lines else "no build log")
