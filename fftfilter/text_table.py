"""A table as lines of text, for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> str:
    """Return rows as aligned lines under a header.

    A column is aligned to the right where the character of ``right`` at its place is ``r``.
    """
    columns = [[str(cell) for cell in column] for column in zip(header, *rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    sides = [right[i : i + 1] == "r" for i in range(len(columns))]
    lines = zip(*columns, strict=True)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if side else cell.ljust(width)
            for cell, width, side in zip(line, widths, sides, strict=True)
        ).rstrip()
        for line in lines
    )
