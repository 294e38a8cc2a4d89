"""``devices``: list the OpenCL devices, which one is taken and why, and problems with the line that repairs each.

Or check all of a device. And ``engines``: print the catalogue of FFT algorithms.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .. import device_choice
from ..errors import DeviceError, FftfilterError, RefusedError, VerifyError, check_option, install_opencl
from .options import GroupedOption, device_option, trace_option

if TYPE_CHECKING:
    from ..device.launcher import MakePipeline
    from ..device.opencl import Device
    from ..staged.algorithms import Entry

BYTES = ("local memory", "global memory", "largest allocation")


@click.command()
@device_option
@GroupedOption(
    "--check [DEVICE]",
    "checked",
    is_flag=False,
    flag_value="",
    help="Compare every engine and form with the reference, on DEVICE or the one that is taken. Takes minutes.",
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
    from ..fused import fused

    found = [describe(each) for each in device_choice.devices()]
    index = None
    try:
        taken = device_choice.choose(device)
        index, why = taken.index, device_choice.why_chosen(device, taken)
    except FftfilterError as error:
        why = str(error)
    wrong = problems(fused)
    if as_json:
        import json

        listed = [problem._asdict() for problem in wrong]
        click.echo(json.dumps({"devices": found, "chosen": index, "why": why, "problems": listed}, indent=2))
    else:
        for each in found:
            click.echo(_text_of_device(each, why if each["index"] == index else None))
        for problem in wrong:
            click.echo(f"problem: {problem.what}\n   repair: {problem.repair}")
    if index is None:
        raise DeviceError(why)
    if any(problem.device == index for problem in wrong):
        raise DeviceError(f"{taken.name}: it is taken, and cannot be used: see its problem above")


def _check(wanted: str | None) -> None:
    """Print the facts of a device, then a row for each form; raises VerifyError if one is wrong."""
    from ..output.rounding import NOISE
    from ..work import device_check

    try:
        device = device_choice.open_opencl(wanted)
    except RefusedError:  # a wrong device is what the report is for
        device = device_choice.choose(wanted)
    click.echo(f"{device_check.facts(device, describe(device))}\n\n{device_check.HEADER}")
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


def _text_of_device(described: dict[str, Any], why: str | None) -> str:
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


# OpenCL's bits of a device's type
TYPES = {"GPU": 4, "CPU": 2, "ACCELERATOR": 8}


class Driver(NamedTuple):
    """A driver: its library, the file that announces it to OpenCL, and a part of its platform's name."""

    file_name: str
    icd: str
    vendor: str


DRIVERS = (
    Driver("libnvidia-opencl.so.1", "nvidia.icd", "NVIDIA"),
    Driver("libamdocl64.so", "amdocl64.icd", "AMD"),
    Driver("libigdrcl.so", "intel.icd", "Intel"),
)


class Problem(NamedTuple):
    """Something that keeps a device from being used, and the line that repairs it."""

    what: str
    repair: str
    device: int | None = None  # the index of a device that cannot be used


def describe(device: Device) -> dict[str, Any]:
    """Return a device's name, driver and limits; bytes as numbers."""
    raw = device.cl_device
    return {
        "index": device.index,
        "name": device.name,
        "platform": device.platform,
        "platform version": raw.platform.version.strip(),
        "driver": raw.driver_version.strip(),
        "type": ", ".join(name for name, bit in TYPES.items() if raw.type & bit),
        "OpenCL": raw.version.strip(),
        "compute units": raw.max_compute_units,
        "work-item dimensions": raw.max_work_item_dimensions,
        "work-item sizes": list(raw.max_work_item_sizes),
        "work-group size": raw.max_work_group_size,
        "local memory": raw.local_mem_size,
        "global memory": raw.global_mem_size,
        "largest allocation": raw.max_mem_alloc_size,
        "fp64": device.fp64,
        "repaired": device.repaired,
    }


def ways_out() -> str:
    """Return what gives a machine an OpenCL device that builds programs."""
    install = install_opencl()
    ways = (
        "install the OpenCL driver of the GPU's vendor, or for the CPU a system package (Debian, Ubuntu: "
        "apt install pocl-opencl-icd)"
    )
    if "[pocl]" not in install:  # nor has pip Intel's
        return ways
    return (
        f"{install}; or {ways}, or pip install intel-opencl-rt intel-cmplr-lib-rt and set OCL_ICD_VENDORS to a folder "
        "with a file intel.icd that holds the path of their lib/libintelocl.so"
    )


def problems(make_pipeline: MakePipeline, drivers: Iterable[Driver] = DRIVERS) -> list[Problem]:
    """Return what is wrong, most serious first; checks every device but simulators with a small filter.

    ``drivers`` are those that are looked for.
    """
    found = []
    if not device_choice.devices():
        # A folder that is not there hides the drivers of pip, too.
        given = os.environ.get("OCL_ICD_VENDORS")
        unset = f"unset OCL_ICD_VENDORS, which is {given}; or " if given else ""
        found.append(Problem("no OpenCL platform has a device", unset + ways_out()))
    for device in device_choice.devices():
        if device.is_simulator:
            continue
        try:
            device_choice.open_opencl(device.index, make_pipeline)
        except FftfilterError as error:
            what, repair = str(error), "update its driver"
            if "cannot be used: PoCL " in what:  # it lacks something, and the error ends with what helps
                what, _, repair = what.rpartition(": ")
            elif "PoCL" in device.cl_device.platform.version:
                repair = ways_out()
            found.append(Problem(what, repair, device.index))
    return found + _unannounced_drivers(drivers)


def _unannounced_drivers(drivers: Iterable[Driver]) -> list[Problem]:
    """Return drivers that are installed while OpenCL has no platform of theirs."""
    platforms = {device.platform for device in device_choice.devices()}
    found = []
    for library, icd, vendor in drivers:
        if any(vendor in platform for platform in platforms) or not device_choice.loads(library):
            continue
        folder = Path(device_choice.vendors())
        repair = f"mkdir -p {folder} && echo {library} > {folder / icd}"
        if (folder / icd).exists():
            repair = f"check that {folder / icd} holds {library}, and that the driver sees its device"
        found.append(Problem(f"the driver {library} is installed, but its platform does not appear", repair))
    return found


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
        click.echo("\n\n".join(map(_text_of_engine, entries)))


def _text_of_engine(entry: Entry) -> str:
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
