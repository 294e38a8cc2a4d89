"""``engines``: print the catalogue of FFT algorithms."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from ..errors import check_option
from .options import GroupedOption, trace_option

if TYPE_CHECKING:
    from ..staged.algorithms import Entry

WIDTH = 100
FUSED: dict[str, Any] = {
    "name": "fused",
    "title": "The default: the whole filter in four steps, a plain FFT in two",
    "idea": "each step does several of the book's and keeps between them what fits on the chip; real images are "
    "transformed as real, and frequencies that the filter removes are not computed",
    "radix": "mixed, by the factors of the length; other lengths by Bluestein's chirp-z",
    "trips": "four steps; small images, and all on a CPU, in one launch",
    "limits": "single precision; no intermediate results",
    "source": "docs/fused.md, fftfilter/fused/cpu/pipeline.py and fftfilter/fused/gpu/pipeline.py",
    "options": {},
}
NUMPY: dict[str, Any] = {
    "name": "numpy",
    "title": "The whole filter, or a plain FFT, without OpenCL",
    "idea": "scipy.fft, where it is installed and the image is large, or numpy.fft transforms real rows, then the "
    "columns that the filter changes; it takes the place of the others where no OpenCL device works",
    "radix": "mixed, by the factors of the length; other lengths by Bluestein's chirp-z",
    "trips": "none: arrays in the memory of this machine",
    "limits": "several times slower than fused; no intermediate results",
    "source": "fftfilter/plain.py",
    "options": {},
}


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@GroupedOption("--json", "as_json", is_flag=True, help="Print the catalogue as JSON.")
@trace_option
def engines(names: tuple[str, ...], as_json: bool) -> None:
    """List the FFT algorithms: idea, radix, trips, limits and source.

    Trips are those through global memory. Filters take each as --engine, and fftfilter.fft in Python as algorithm=,
    with its options.

    \b
    Example: fftfilter engines
             fftfilter engines stockham pease
    """
    from ..staged import algorithms

    catalogue = [algorithms.Entry(**FUSED), algorithms.Entry(**NUMPY), *algorithms.catalogue()]
    for name in names:
        check_option("engine", name, [entry.name for entry in catalogue])
    entries = [entry for entry in catalogue if not names or entry.name in names]
    if as_json:
        import json

        click.echo(json.dumps([entry._asdict() for entry in entries], indent=2))
    else:
        click.echo("\n\n".join(map(_text, entries)))


def _text(entry: Entry) -> str:
    """Return an algorithm as a title and labeled paragraphs."""
    paragraphs = {label: getattr(entry, label.lower()) for label in ("Idea", "Radix", "Trips", "Limits")}
    if entry.options:
        # Without a default that is a value, an option is its name alone.
        options = (name if usual is None else f"{name}={usual}" for name, usual in entry.options.items())
        paragraphs["Options"] = ", ".join(options)
    paragraphs["Source"] = entry.source
    lines = [f"{entry.name}: {entry.title}"]
    for label, text in paragraphs.items():
        lines += textwrap.wrap(text, WIDTH, initial_indent=f"   {label:<9}", subsequent_indent=" " * 12)
    return "\n".join(lines)
