"""Chooses the engine that filters and transforms, for filters, transforms and commands alike.

fused   the default, and the fast one. It has one flow: real results in single precision.
staged  the book's pipeline, one kernel for each step, with any algorithm of the papers. It also has double precision, a
        work-group size, a transpose, options of an algorithm, complex results and intermediate results.
numpy   filters and transforms without OpenCL, several times slower. It has double precision and complex results.

An engine's name is "fused", "numpy", or the name of an algorithm for the staged pipeline. Without a name, the fused
engine is taken. The algorithm "book", the plainest, takes its place for options that only the staged pipeline has, and
for sizes that are too long for the fused engine of a GPU. NumPy's takes the place of both, and says so, where no OpenCL
device works and neither a device nor an engine is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .device_choice import NUMPY, VARIABLE, is_numpy, wanted
from .errors import ParameterError, check_option

if TYPE_CHECKING:
    from .staged.algorithms import Algorithm, Option

FUSED, BOOK = "fused", "book"


class Engine(NamedTuple):
    """An engine that was chosen."""

    name: str
    algorithm: Algorithm | None
    """That of the staged pipeline, None for the fused engine and NumPy's."""
    is_required: bool
    """Whether the fused engine was asked for by name, so that book does not take its place."""

    def is_fused(self, *, serves: bool) -> bool:
        """Tell whether the fused engine takes a size; ``serves`` says whether it can."""
        return self.algorithm is None and (self.is_required or serves)

    @property
    def staged(self) -> Algorithm:
        """The algorithm of the staged pipeline, book where the fused engine does not serve."""
        return self.algorithm or algorithm(BOOK)


def lacking(options: Mapping[str, Any], *, is_even: bool = True, name: str = FUSED) -> list[str]:
    """Return, in words, which of a filter's options the fused engine lacks, or NumPy's, by its ``name``.

    ``is_even`` tells whether H(-k) is H(k).
    """
    own = None, "auto", "cpu", NUMPY, os.environ.get(VARIABLE)
    asked = {
        "double precision": name == FUSED and options.get("precision") == "double",
        "work-group size": options.get("work_group_size") is not None,
        "choice of transpose": options.get("transpose") is not None,
        "gains with H(-k) other than H(k)": name == FUSED and not is_even,
        "options": bool(options.get("engine_options")),
        f"device {options.get('device')!r}": name == NUMPY and options.get("device") not in own,
    }
    return [what for what, is_asked in asked.items() if is_asked]


def name_of(options: Mapping[str, Any], *, is_even: bool = True) -> str:
    """Return the name of the engine that :func:`choose` returns, unchecked; NumPy and OpenCL are not imported."""
    return options.get("engine") or (BOOK if lacking(options, is_even=is_even) else FUSED)


def choose(options: Mapping[str, Any], *, is_even: bool = True, word: str = "engine") -> Engine:
    """Return the engine for a filter's options; ``word`` names an engine in errors.

    Raises ParameterError for an unknown name or option, and for what the fused engine lacks if it was asked for.
    """
    name = options.get("engine") or NUMPY * is_numpy(wanted(options))
    is_required = name in (FUSED, NUMPY)
    if is_required and (missing := lacking(options, is_even=is_even, name=name)):
        raise ParameterError(
            f"the {name} engine has no {' and no '.join(missing)}: leave the {word} out, or choose {BOOK}"
        )
    name = name or name_of(options, is_even=is_even)
    found = None if name in (FUSED, NUMPY) else algorithm(name, options.get("engine_options"), word)
    return Engine(name, found, is_required)


def algorithm(name: str, options: Mapping[str, Option] | None = None, word: str = "engine") -> Algorithm:
    """Return the staged pipeline's algorithm of a name; raises ParameterError."""
    from .staged import algorithms  # the fused engine does without

    check_option(word, name, [FUSED, NUMPY, *algorithms.names()])
    return algorithms.load(name, **(options or {}))
