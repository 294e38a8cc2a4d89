"""The environment of the processes that are timed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CLONE = Path(__file__).parent.parent
"""The root of the repository, the working directory of processes that are timed."""
# Variables that this program sets for itself, and one that slows down every start of Python.
_NOT_THEIRS = {"OPENBLAS_NUM_THREADS", "POCL_AFFINITY", "PYTHONDONTWRITEBYTECODE"}


def users_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a user's environment, without the variables that this program sets, and with ``more``."""
    return {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS} | dict(more or {})
