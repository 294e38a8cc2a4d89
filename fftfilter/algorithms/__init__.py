"""The FFT algorithms: one file each, found by looking into this folder.

An algorithm is a module with a docstring that tells its idea, trips through global memory, limits and
source; ``supports(n)``, whether it transforms rows of length n by itself; and ``plan(n)``, how. Its name is
the file's, with hyphens. Every other length goes through Bluestein's chirp-z on top of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol, cast

from ..errors import ParameterError

if TYPE_CHECKING:
    from ..plan import RowPlan


class Algorithm(Protocol):
    """What a module of this folder offers."""

    __doc__: str | None

    def supports(self, n: int) -> bool:
        """Tell whether rows of length n >= 2 are transformed without padding."""

    def plan(self, n: int) -> RowPlan:
        """Return the transform of rows of such a length."""


def names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Algorithm:
    """Return the algorithm of that name; raises ParameterError that lists them."""
    if name not in names():
        raise ParameterError(f"{name!r} is no algorithm: choose {', '.join(names())}")
    return cast("Algorithm", importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
