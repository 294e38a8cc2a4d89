"""A table as a diagram with logarithmic axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError, WriteError
from .compare import Stats
from .tables import HERE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .tables import Cell, Table

    Series = dict[str, list[tuple[float, float]]]


def check(path: Path) -> None:
    """Raise ParameterError if no diagram can be drawn there; to be called before anything is measured."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise ParameterError("--plot needs matplotlib: pip install matplotlib") from error
    known = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise ParameterError(f"cannot draw {str(path)!r}: choose one of the extensions {', '.join(sorted(known))}")


def series(table: Table) -> Series:
    """Return the points of each line by its label; that of published figures has the name of their hardware."""
    found: Series = {}
    lines = table.lines
    for row in table.rows:
        by = [str(row[key]) for key in lines.by if row.get(key, HERE) != HERE]
        for column in lines.y:
            y = _value(row.get(column, ""))
            x = _value(row.get(lines.x, "")) if lines.x else float(column)
            if x is None or y is None:
                continue
            several = lines.x is not None and len(lines.y) > 1
            label = ", ".join([*([table.columns[column]] if several else []), *by])
            found.setdefault(label or HERE, []).append((x, y))
    return found


def draw(tables: Sequence[Table], path: Path) -> None:
    """Write one picture with a diagram of each table; raises WriteError."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6 * len(tables)), layout="constrained")
    for i, table in enumerate(tables):
        axes = figure.add_subplot(len(tables), 1, i + 1)
        drawn = series(table)
        for label, points in drawn.items():
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, marker="o", markersize=4, label=label)
        if table.lines.linear and drawn:
            p = sorted({x for points in drawn.values() for x, _ in points})
            axes.plot(p, p, linestyle="--", color="gray", label="linear speedup")
        axes.set(xscale="log", yscale="log", xlabel=table.lines.x_label, ylabel=table.lines.y_label)
        axes.set_title("\n".join([table.title, ", ".join(table.about.values())]), fontsize=10)
        axes.grid(visible=True, which="major", alpha=0.3)
        if drawn:
            axes.legend(fontsize=8)
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror or error}; choose another folder") from error


def _value(cell: Cell) -> float | None:
    if isinstance(cell, Stats):
        return cell.median
    return None if isinstance(cell, str) else float(cell)
