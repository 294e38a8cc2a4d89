"""The FFT algorithms: one file each, found by looking into this folder.

An algorithm is a module with a docstring, its entry in the catalogue (see :func:`catalogue`), and ``plan(n)``, which
says how it transforms rows of length n. Its name is the file's, with hyphens. Keyword parameters of ``plan`` are the
algorithm's options, which ``plan`` checks. A module may also have

- ``supports(n)``, which tells the lengths n >= 2 that it transforms without padding, by default the powers of two; all
  others go through Bluestein's chirp-z on top of it;
- ``TRANSPOSE``, the kind of transpose that its 2-D transform was published with.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import NamedTuple

from ...errors import ParameterError
from ..steps import RowPlan

Option = int | str

# A length that every algorithm supports: planned once, so that its options are checked.
SMALL = 8


class Algorithm(NamedTuple):
    """An algorithm with its options, ready to plan."""

    name: str
    plan: Callable[[int], RowPlan]
    """Returns the transform of rows of a length that is supported."""
    supports: Callable[[int], bool]
    transpose: str


class Entry(NamedTuple):
    """An algorithm as the catalogue shows it; ``options`` maps names to their defaults."""

    name: str
    title: str
    idea: str
    radix: str
    trips: str
    limits: str
    source: str
    options: Mapping[str, Option | None]


LABELS = ("Idea", "Radix", "Trips", "Limits", "Source")


def names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def load(name: str, **options: Option) -> Algorithm:
    """Return the algorithm of that name with its options.

    Raises ParameterError for an unknown name, which lists the algorithms, an unknown option or an invalid value.
    """
    module = _module(name)
    known = tuple(_defaults(module))
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"{name} has no option {option!r}: {has}")
    module.plan(SMALL, **options)
    supports = getattr(module, "supports", lambda n: n & (n - 1) == 0)
    return Algorithm(name, partial(module.plan, **options), supports, getattr(module, "TRANSPOSE", "tiled"))


def catalogue() -> list[Entry]:
    """Return every algorithm's docstring as an entry: a title, then a paragraph for each of LABELS."""
    entries = []
    for name in names():
        module = _module(name)
        title, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n")
        paragraphs = re.findall(rf"^({'|'.join(LABELS)}) +(.*(?:\n .*)*)", rest, re.MULTILINE)
        fields = {label.lower(): " ".join(paragraph.split()) for label, paragraph in paragraphs}
        entries.append(Entry(name, title.rstrip("."), **fields, options=_defaults(module)))
    return entries


def _module(name: str) -> ModuleType:
    if name not in names():
        raise ParameterError(f"{name!r} is not an algorithm: choose {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def _defaults(module: ModuleType) -> dict[str, Option | None]:
    """Return the keyword parameters of the module's plan with their defaults."""
    parameters = inspect.signature(module.plan).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
