"""Which engine filters and transforms, for filters, transforms and commands alike.

fused   the default and the fast one. It is written for one flow: real results in single precision, with launches of its
        own choice.
staged  the book's pipeline, one kernel a step, with any algorithm of the papers. It has all the rest: double precision,
        a work-group size, a transpose, options of an algorithm, complex results, intermediate results.

An engine's name is "fused", or that of an algorithm for the staged pipeline. Without a name the fused engine is taken;
the algorithm "book", the plainest, where something is asked for that only the staged pipeline has, and where a size is
too long for the fused engine of a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import ParameterError, check_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .staged.algorithms import Algorithm, Option

FUSED, BOOK = "fused", "book"


class Engine(NamedTuple):
    """An engine that was chosen."""

    name: str
    algorithm: Algorithm | None
    """That of the staged pipeline, None for the fused engine."""
    is_required: bool
    """Whether the fused engine was asked for by name, so that book does not take its place."""

    def is_fused(self, *, serves: bool) -> bool:
        """Tell whether the fused engine takes a size; ``serves`` says whether it can."""
        return self.algorithm is None and (self.is_required or serves)

    @property
    def staged(self) -> Algorithm:
        """The algorithm of the staged pipeline, book where the fused engine does not serve."""
        return self.algorithm or algorithm(BOOK)


def lacking(
    *,
    precision: str | None = None,
    work_group_size: int | None = None,
    transpose: str | None = None,
    is_even: bool = True,
    options: Mapping[str, Option] | None = None,
) -> list[str]:
    """Return in words which of these the fused engine lacks; ``is_even`` tells whether H(-k) is H(k)."""
    asked = {
        "double precision": precision == "double",
        "work-group size": work_group_size is not None,
        "choice of transpose": transpose is not None,
        "mask with H(-k) other than H(k)": not is_even,
        "options": bool(options),
    }
    return [what for what, is_asked in asked.items() if is_asked]


def choose(name: str | None, *, word: str = "engine", **asked: Any) -> Engine:
    """Return the engine of a name, or the one that has all that :func:`lacking` is ``asked`` for.

    Raises ParameterError for an unknown name or option, and for what the fused engine lacks if it was asked for.
    ``word`` is what the caller's users call an engine.
    """
    if name == FUSED and (missing := " and no ".join(lacking(**asked))):
        raise ParameterError(f"the fused engine has no {missing}: leave the {word} out, or choose {BOOK}")
    chosen = name_of(name, **asked)
    found = None if chosen == FUSED else algorithm(chosen, asked.get("options"), word)
    return Engine(chosen, found, is_required=name == FUSED)


def name_of(name: str | None, **asked: Any) -> str:
    """Return the name of the engine that :func:`choose` returns, unchecked; without NumPy and OpenCL."""
    return name or (BOOK if lacking(**asked) else FUSED)


def algorithm(name: str, options: Mapping[str, Option] | None = None, word: str = "engine") -> Algorithm:
    """Return the staged pipeline's algorithm of a name; raises ParameterError."""
    from .staged import algorithms  # the fused engine does without

    check_option(word, name, [FUSED, *algorithms.names()])
    return algorithms.load(name, **(options or {}))
