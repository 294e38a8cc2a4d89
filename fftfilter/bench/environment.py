"""The environment of programs that are timed: as their users have it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# What this program sets as is good for itself, and PYTHONDONTWRITEBYTECODE, which makes every start slower.
OWN = {"OPENBLAS_NUM_THREADS", "POCL_AFFINITY", "PYTHONDONTWRITEBYTECODE"}


def users_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment as it was before this program changed it, bytecode allowed, with ``more``."""
    return {name: value for name, value in os.environ.items() if name not in OWN} | dict(more or {})
