"""``devices``: list the OpenCL devices, the one that is chosen and why, and problems with their repair."""

from __future__ import annotations

from typing import Any

import click

from ..errors import DeviceError
from .shared.options import device_option, verbose_option

BYTES = ("local memory", "global memory", "largest allocation")


@click.command()
@device_option
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@verbose_option
def devices(*, device: str | None, as_json: bool, verbose: int) -> None:  # noqa: ARG001  -v acts by itself
    """List the OpenCL devices and their limits, and which one is taken.

    Tries a small filter on each device. Prints each problem with the command that repairs it. The exit code is 3 if no
    device can be used.

    \b
    Example: fftfilter devices
             fftfilter devices --json
    """
    from ..device import diagnosis
    from ..fused import fused

    found = [diagnosis.describe(each) for each in diagnosis.devices()]
    index, why = diagnosis.chosen(device)
    wrong = diagnosis.problems(fused)
    if as_json:
        import json

        result = {
            "devices": found,
            "chosen": index,
            "why": why,
            "problems": [problem._asdict() for problem in wrong],
        }
        click.echo(json.dumps(result, indent=2))
    else:
        for each in found:
            click.echo(_text(each, why if each["index"] == index else None))
        for problem in wrong:
            click.echo(f"problem: {problem.what}\n   repair: {problem.repair}")
    if index is None:
        raise DeviceError(why)


def _text(described: dict[str, Any], why: str | None) -> str:
    """Return a device as lines: its name, then its properties."""
    lines = [f"{described['index']}  {described['name']}" + (f"   <- taken ({why})" if why else "")]
    for key, value in described.items():
        if key in ("index", "name") or value is None:
            continue
        shown = value
        if key in BYTES:
            shown = _bytes(value)
        elif isinstance(value, bool):
            shown = "yes" if value else "no"
        elif isinstance(value, list):
            shown = " ".join(str(v) for v in value)
        lines.append(f"   {key:<20} {shown}")
    return "\n".join(lines) + "\n"


def _bytes(number: int) -> str:
    """Return bytes in the largest unit that leaves at least 1."""
    size, units = float(number), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.4g} {units[0]}"
