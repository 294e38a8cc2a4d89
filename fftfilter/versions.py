"""The versions of packages that ask for their own while they load, at once.

pyopencl and pytools do, through importlib.metadata. That loads what reads mail and archives, and then two files: a
tenth of the time that a small image takes, for numbers that nobody here reads. The folder of metadata beside an
installed package has the same number in its name.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

METADATA = "importlib.metadata"
SUFFIX = ".dist-info"


class Metadata(ModuleType):
    """Stands in for importlib.metadata: its ``version``; what it does not know or have is left to the real one."""

    def version(self, distribution_name: str) -> str:
        """Return the version of a package; raises what the real function does."""
        place: str | None = getattr(sys.modules.get(distribution_name), "__file__", None)
        if place:
            for entry in os.listdir(os.path.dirname(os.path.dirname(place))):  # noqa: PTH120, PTH208  pathlib takes its time
                name, _, version = entry.removesuffix(SUFFIX).rpartition("-")
                if name == distribution_name and entry.endswith(SUFFIX):
                    return version
        found: str = self.__getattr__("version")(distribution_name)
        return found

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(METADATA) is self:
            del sys.modules[METADATA]
        return getattr(import_module(METADATA), name)


@contextmanager
def quick_versions() -> Iterator[None]:
    """Let packages that are imported meanwhile find their versions that way."""
    quick = Metadata(METADATA)
    sys.modules.setdefault(METADATA, quick)
    try:
        yield
    finally:
        if sys.modules.get(METADATA) is quick:
            del sys.modules[METADATA]


def load_quickly() -> None:
    """Load what a filter needs, if it can be."""
    with suppress(ImportError), quick_versions():
        import numpy  # noqa: F401, ICN001
        import pyopencl  # noqa: F401
