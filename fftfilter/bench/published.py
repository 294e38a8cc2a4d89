"""How the published figures of a source are written down. The figures are beside the tables in ``papers/``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Published:
    """The figures of one source on one piece of hardware.

    ``label`` names the hardware in a table, ``hardware`` in full. ``rows`` maps the name of a row to its figures by
    column.
    """

    source: str
    label: str
    hardware: str
    rows: Mapping[str, Mapping[str, float]]


def by_column(names: tuple[str, ...], rows: Mapping[str, tuple[float, ...]]) -> dict[str, dict[str, float]]:
    """Return rows of figures as :class:`Published` has them, the columns named once."""
    return {key: dict(zip(names, values, strict=True)) for key, values in rows.items()}
