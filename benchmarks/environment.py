"""The environment of the processes that are timed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CLONE = Path(__file__).parent.parent
"""The root of the repository, the working directory of processes that are timed."""
# What this program sets for itself, and what makes every start of Python slower.
_NOT_THEIRS = {"OPENBLAS_NUM_THREADS", "POCL_AFFINITY", "PYTHONDONTWRITEBYTECODE"}


def users_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment as a user has it, without what this program has set in it, with ``more``."""
    return {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS} | dict(more or {})
