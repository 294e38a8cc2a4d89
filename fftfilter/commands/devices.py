"""``devices``: list the OpenCL devices, the one that is chosen and why, and problems; or check all of a device."""

from __future__ import annotations

from typing import Any

import click

from ..errors import DeviceError, FftfilterError, RefusedError, VerifyError
from .options import GroupedOption, device_option, trace_option

BYTES = ("local memory", "global memory", "largest allocation")


@click.command()
@device_option
@GroupedOption(
    "--check [DEVICE]",
    "checked",
    is_flag=False,
    flag_value="",
    help="Compare every engine and form with the reference, on a device or the one taken. Takes minutes.",
)
@GroupedOption("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@trace_option
def devices(*, device: str | None, checked: str | None, as_json: bool) -> None:
    """List the OpenCL devices, their limits, and which one is taken.

    Tries a small filter on each device, and prints each problem with the command that repairs it. --check prints a
    report to send to the developers. The exit code is 3 if the device that is taken cannot be used, and 1 if a result
    of --check is wrong.

    \b
    Example: fftfilter devices
             fftfilter devices --check gpu
    """
    if checked is not None:
        if as_json:
            raise click.UsageError("--check prints text: leave --json out")
        _check(checked or device)
        return
    from .. import device_choice
    from ..fused import fused
    from ..work import diagnosis

    found = [diagnosis.describe(each) for each in device_choice.devices()]
    index = None
    try:
        taken = device_choice.choose(device)
        index, why = taken.index, device_choice.why_chosen(device, taken)
    except FftfilterError as error:
        why = str(error)
    wrong = diagnosis.problems(fused)
    if as_json:
        import json

        problems = [problem._asdict() for problem in wrong]
        click.echo(json.dumps({"devices": found, "chosen": index, "why": why, "problems": problems}, indent=2))
    else:
        for each in found:
            click.echo(_text(each, why if each["index"] == index else None))
        for problem in wrong:
            click.echo(f"problem: {problem.what}\n   repair: {problem.repair}")
    if index is None:
        raise DeviceError(why)
    if any(problem.device == index for problem in wrong):
        raise DeviceError(f"{taken.name}: it is taken, and cannot be used: see its problem above")


def _check(wanted: str | None) -> None:
    """Print the facts of a device, then a row for each form; raises VerifyError if one is wrong."""
    from ..device_choice import choose, open_opencl
    from ..output.rounding import NOISE
    from ..work import device_check

    try:
        device = open_opencl(wanted)
    except RefusedError:  # a wrong device is what the report is for
        device = choose(wanted)
    click.echo(f"{device_check.facts(device)}\n\n{device_check.HEADER}")
    rows = []
    for told in device_check.check(device):
        if isinstance(told, device_check.Row):
            rows.append(told)
        # A form's name comes first: if the driver ends the process, it is the last one printed.
        click.echo(told, nl=isinstance(told, device_check.Row))
    left = max((row.found.left for row in rows if row.form.precision == "single"), default=0.0)
    click.echo(
        "\nerror  of filtered noise, as a part of its largest deviation; of a transform, in norm"
        "\nleft   of a wave that the filter removes, as a part of its deviation: "
        f"in single precision at most {left:.1e}, and the noise floor is {NOISE:.0e}"
    )
    wrong = [row.form.name for row in rows if row.form.is_used and not row.found.is_right]
    if wrong:
        raise VerifyError(
            f"{device.name}: wrong results of {', '.join(wrong)}: update its driver, and report this table"
        )


def _text(described: dict[str, Any], why: str | None) -> str:
    """Return a device as lines: its name, then its properties."""
    lines = [f"{described['index']}  {described['name']}" + (f"   <- taken ({why})" if why else "")]
    for key, value in described.items():
        shown = value
        if key in ("index", "name") or value is None:
            continue
        if key in BYTES:
            shown = _bytes(value)
        elif isinstance(value, bool):
            shown = "yes" if value else "no"
        elif isinstance(value, list):
            shown = " ".join(map(str, value))
        lines.append(f"   {key:<20} {shown}")
    return "\n".join(lines) + "\n"


def _bytes(number: int) -> str:
    """Return bytes in the largest unit that leaves at least 1."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    power = min(max(number.bit_length() - 1, 0) // 10, len(units) - 1)
    return f"{number / 1024**power:.4g} {units[power]}"
