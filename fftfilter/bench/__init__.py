"""Tables of measurements and published figures, as text, Markdown, CSV, JSON or a diagram, for ``fftfilter bench``.

    measure.py   a benchmark and its setting; checks results, and times work

Every result is compared with the float64 reference before it is timed. The papers' tables are made by the command.
Comparisons with other libraries, and benchmarks for developers, are in the folder ``benchmarks/`` of the repository.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ParameterError, WriteError, pip_install
from ..text import text_table

HERE = "here"  # this device, beside the hardware of published figures


@dataclass(frozen=True)
class Stats:
    """The median and the quartiles of ``runs`` measurements, all in one unit."""

    median: float
    low: float
    high: float
    runs: int

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Stats:
        """Return the statistics of measurements, at least one."""
        import numpy as np

        low, middle, high = np.percentile(values, (25, 50, 75)).tolist()
        return cls(middle, low, high, len(values))

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, relative to the median."""
        return (self.high - self.low) / 2 / self.median if self.median > 0 else 0.0

    def times(self, factor: float) -> Stats:
        """Return the same measurements in another unit."""
        return Stats(self.median * factor, self.low * factor, self.high * factor, self.runs)


Cell = Stats | float | int | str
Row = dict[str, Cell]


@dataclass(frozen=True)
class Published:
    """The figures of one source on one piece of hardware.

    ``label`` names the hardware in a table, ``hardware`` in full. ``rows`` maps the name of a row to its figures in the
    order of ``columns``.
    """

    source: str
    label: str
    hardware: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]

    def figures(self, name: str) -> dict[str, float]:
        """Return the figures of a row by column."""
        return dict(zip(self.columns, self.rows[name], strict=True))


@dataclass(frozen=True)
class Lines:
    """How a table is drawn: one line for the rows that have the same values in the columns ``by``.

    ``x`` is the column of the x values, ``y`` are the columns of the y values. Where ``x`` is None, the names of the
    columns ``y`` are the x values. ``linear`` adds the line y = x.
    """

    by: tuple[str, ...]
    x: str | None
    y: tuple[str, ...]
    x_label: str
    y_label: str
    linear: bool = False


@dataclass
class Table:
    """Rows that map a column's name to a cell.

    ``columns`` maps each name to its heading, in order; cells of other names are not shown. The first columns are the
    key of a row. ``about`` says where and when the table was made, ``notes`` how to read it.
    """

    title: str
    columns: dict[str, str]
    lines: Lines
    about: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def put(self, key: tuple[Cell, ...], **cells: Cell) -> None:
        """Set cells of the row that begins with that key; it is added if it is new."""
        given = dict(zip(self.columns, key, strict=False))
        for row in self.rows:
            if given.items() <= row.items():
                row.update(cells)
                return
        self.rows.append({**given, **cells})

    def beside(self, published: Published) -> None:
        """Insert each published row after the last row of the same name, if there is one.

        A row's name is its first column; the second one is the hardware.
        """
        first = next(iter(self.columns))
        last = {str(row[first]): i for i, row in enumerate(self.rows)}
        for name, i in sorted(last.items(), key=lambda pair: -pair[1]):
            if name in published.rows:
                row = {first: self.rows[i][first], "hardware": published.label, **published.figures(name)}
                self.rows.insert(i + 1, row)
        self.notes.append(f"{published.label}: {published.hardware}; {published.source}.")


def text(table: Table) -> str:
    """Return a table for the terminal."""
    lines = [table.title, *(f"{name}: {value}" for name, value in table.about.items()), ""]
    lines.append(text_table(list(table.columns.values()), _cells(table), right=_sides(table)))
    return "\n".join([*lines, *([""] if table.notes else []), *table.notes])


def markdown(table: Table) -> str:
    """Return a table for a document."""
    lines = [f"**{table.title}**", "", ", ".join(f"{name} {value}" for name, value in table.about.items()), ""]
    sides = ["--:" if side == "r" else "---" for side in _sides(table)]
    lines += (f"| {' | '.join(cells)} |" for cells in (table.columns.values(), sides, *_cells(table)))
    return "\n".join([*lines, *(part for note in table.notes for part in ("", note))])


def comma_separated(table: Table) -> str:
    """Return a table as CSV; each column of medians is followed by its quartiles and the number of runs."""
    columns: list[list[Any]] = []
    for key in table.columns:
        cells = [row.get(key, "") for row in table.rows]
        columns.append([key, *(cell.median if isinstance(cell, Stats) else cell for cell in cells)])
        if any(isinstance(cell, Stats) for cell in cells):
            columns += (
                [f"{key}_{name}", *(getattr(cell, name, "") for cell in cells)] for name in ("low", "high", "runs")
            )
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(zip(*columns, strict=True))
    return out.getvalue().rstrip("\n")


def as_json(table: Table) -> str:
    """Return a table as JSON; a measured cell is an object of median, quartiles and number of runs."""
    whole = asdict(table)
    return json.dumps({name: whole[name] for name in ("title", "about", "columns", "rows", "notes")}, indent=2)


FORMATS = {"text": text, "markdown": markdown, "csv": comma_separated, "json": as_json}


def number(value: float) -> str:
    """Return a number with three significant digits, and never fewer than those before the point."""
    if value == 0:
        return "0"
    digits = 2 - int(f"{value:.2e}".partition("e")[2])  # the exponent after rounding: 9.996 becomes 10.0
    return f"{value:.{max(0, digits)}f}"


def _cells(table: Table) -> list[list[str]]:
    return [[_cell(row.get(key, "")) for key in table.columns] for row in table.rows]


def _cell(cell: Cell) -> str:
    if isinstance(cell, Stats):
        return f"{number(cell.median)} \u00b1{cell.spread:.0%}"
    return number(cell) if isinstance(cell, float) else str(cell)


def _sides(table: Table) -> str:
    """Return r for each column of numbers, else a dot."""
    numbers = {key for key in table.columns if not any(isinstance(row.get(key), str) for row in table.rows)}
    return "".join("r" if key in numbers else "." for key in table.columns)


# As a diagram


def check_plot(path: Path) -> None:
    """Raise ParameterError if no diagram can be drawn to a file; call this before anything is measured."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise ParameterError(f"--plot needs matplotlib: {pip_install(extra='plot')}") from error
    known = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise ParameterError(f"cannot draw {str(path)!r}: choose one of the extensions {', '.join(sorted(known))}")


def series(table: Table) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each line by its label; the labels of published figures name their hardware."""
    found: dict[str, list[tuple[float, float]]] = {}
    lines = table.lines
    several = lines.x is not None and len(lines.y) > 1
    for row in table.rows:
        by = [str(row[key]) for key in lines.by if row.get(key, HERE) != HERE]
        for column in lines.y:
            x, y = _value(row.get(lines.x, "")) if lines.x else float(column), _value(row.get(column, ""))
            if x is not None and y is not None:
                label = ", ".join([table.columns[column], *by] if several else by)
                found.setdefault(label or HERE, []).append((x, y))
    return found


def draw(table: Table, path: Path) -> None:
    """Write a table to a picture, as a diagram with logarithmic axes; raises WriteError."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot()
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
