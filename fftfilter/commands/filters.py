"""``highpass``, ``lowpass`` and the other filters: their commands, and the options of all of them."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from ..device_choice import devices_named, wanted
from ..errors import ImageError, ParameterError, WriteError, check_option
from ..files import atomic, messages, urls
from ..files import sources as inputs
from ..files.urls import is_url, without_file_scheme
from ..images.formats import FORMATS, extension_of, is_zarr
from ..output.modes import CHANNELS, EACH, FOLDER, MODES, SCALED, STACK, Output, parse_scale
from ..transfer import Transfer
from ..transfer.product import EDGES, Edges
from ..transfer.radial import PASSES
from . import options as shared
from .folder import files_in, folder_options, handle_folder, inputs_of, is_folder
from .kinds import KINDS, Kind, pixel_size_option
from .one_file import handle_file

if TYPE_CHECKING:
    from ..analysis.search import AutoNotches
    from ..images import Picture
    from ..transfer.shapes import ShapeName
    from ..work.recipe import Recipe

# The heading of the options that leave a part of a picture alone.
PART = "Part of the picture"
VERIFY = "--verify"
# Files of a folder that --verify compares if it is given no number.
VERIFIED = 10

AUTO = "--auto"
automatic_option = partial(shared.filter_option, group="Automatic")
auto_options = [
    automatic_option(
        f"{AUTO} [each|folder]",
        type=click.Choice([EACH, FOLDER]),
        everyday=True,
        help="Find waves and remove them: each picture's own, or those of a folder. They are those that 'fftfilter "
        "peaks' finds, and are removed from the color channels that have them (for --output magnitude and signed from "
        "all channels). Those of a folder are in its mean spectrum.  [default: each]",
    ),
    automatic_option(
        "--strength DB",
        type=float,
        help="How far a wave has to stand out from the frequencies around it for --auto to remove it; 10 or more. A "
        "wave of fewer than 16 periods needs 6 dB more.  [default: 18]",
    ),
    automatic_option(
        "--insist",
        is_flag=True,
        help="With --auto, also remove waves that look like a part of the picture: lines of text, ruled paper, "
        "windows, bricks, fabric.",
    ),
    automatic_option(
        "--keep FX,FY",
        multiple=True,
        help="With --auto, leave this wave and its harmonics in the picture; given as for notch --at. May be repeated.",
    ),
    automatic_option(
        "--longest PX",
        type=float,
        help="With --auto, leave waves of longer periods in the picture, with their harmonics.  [default: no limit]",
    ),
    automatic_option(
        "--largest A",
        type=float,
        help="With --auto, leave waves of larger amplitudes, in the values of IN; likewise.  [default: no limit]",
    ),
]

# Without them a recipe has the notches that were found.
AUTOMATIC = [str(option.name) for option in auto_options]
times_option = shared.filter_option(
    '--times "FILTER OPTIONS"',
    group="Further filters",
    multiple=True,
    help="Also multiply by another filter, with the options of its own, such as 'highpass --radius 2px'. May be "
    "repeated.",
)
depth_option = shared.filter_option(
    "--depth DB",
    group="Further filters",
    type=float,
    help="Attenuate by so many decibels instead of removing: 6 leaves a half, 20 a tenth. It applies to the whole "
    "filter with its notches, stripes and masks.  [default: remove]",
)
ratio_option = shared.filter_option(
    "--ratio",
    group="Further filters",
    is_flag=True,
    help="Filter the logarithm, so that the picture is divided by what is removed, as uneven light, gains, shadows and "
    "flicker need it. --output is keep by default, or real; removed is the factor, as floats. --edges is mirror by "
    "default. Values of 0 or less have no logarithm: they are missing, and stay as they are.",
)
channels_option = shared.filter_option(
    "--channels",
    group=PART,
    type=click.Choice(CHANNELS),
    help="Filter only the luminance (Y) or the chroma (Cb and Cr, as in JPEG) of color pictures, and keep the other; "
    "for --output keep and real.  [default: all]",
)
scale_option = shared.result_option(
    "--scale RANGE",
    default="each",
    help=f"Which values become black and white, for {' and '.join(SCALED)}. each: 0 (signed: minus the largest) and "
    "the picture's largest; folder, stack: likewise, with the largest of the whole folder or of all pages of a file; "
    "auto: as each, without the most extreme 0.35% of the samples, half at each end, or auto:P for P%; LO:HI: two gray "
    "levels of IN, such as 0:40.",
)
REMOVED = "removed"
# The defaults of --ratio, which are those of Python: magnitudes have no levels of IN, and light ends at no border.
OF_RATIO = {"output": "keep", "edges": "mirror"}
pass_option = shared.filter_option(
    "--pass",
    group="Waves alone",
    is_flag=True,
    help="Keep the waves, and drop the rest: keep has their mean level, real and signed the waves alone.",
)
lattice_option = shared.filter_option(
    "--lattice N",
    group="Waves alone",
    type=int,
    help="Of two --at a and b, also the waves m a + n b, for all whole m and n up to N, 20 at most, as of a crystal.",
)
axes_options = [
    shared.filter_option(
        "--axes",
        type=click.Choice(["zyx", "tyx", "t"]),
        help="Filter the pages of a stack together: as a volume (zyx), a movie (tyx), or each pixel along time (t).  "
        "[default: each page by itself]",
    ),
    shared.filter_option("--frame-rate N", type=float, help="Frames a second, for cutoffs such as 2Hz with --axes t."),
]
verify_option = shared.check_option(
    f"{VERIFY} [N]",
    type=click.IntRange(min=1),
    help="Read OUT back, compare it with the filter computed in float64, and print how far it is off; in a folder, do "
    f"so for N files, spread evenly.  [default of N: {VERIFIED}]",
)
preview_option = shared.check_option(
    "--preview FILE",
    everyday=True,
    help="Draw IN, spectrum, OUT and what is removed. FILE is a .png, .jpg or .webp; for a folder it has one row per "
    "file, at most 60, those that stand out among them.",
)
recipe_options = [
    shared.output_option(
        "--save-recipe FILE.json",
        kept=False,
        help="Also write the filter and the options that decide what OUT holds into a file for 'fftfilter apply'.",
    ),
    shared.output_option("--embed-recipe", is_flag=True, help="Write them into OUT, too, a PNG, a TIFF or a FITS."),
]
region_option = partial(shared.filter_option, group=PART)
study_option = partial(shared.filter_option, group=shared.STUDY)
region_options = [
    region_option(
        "--region MASK|X,Y,W,H",
        help="Filter only there, where OUT has the gray levels of IN (keep, real): a rectangle in pixels, or a picture "
        "of the size of IN that is not 0 there.",
    ),
    region_option("--protect MASK|X,Y,W,H", help="Filter everywhere but there."),
    region_option(
        "--feather PX",
        type=float,
        help="How wide the soft border is, inside of what is filtered, 0 to 1000.  [default: 8]",
    ),
]
other_options = [
    *region_options,
    shared.engine_option,
    shared.choice_of_device("; for a folder also all, or several, such as 0,2"),
    shared.precision_option,
    *shared.memory_options,
    shared.of_device(
        "--profile", only=shared.ONE_PICTURE, is_flag=True, help="Print the time of every step on the device."
    ),
    shared.check_option(
        "--save-stages DIR",
        only=shared.ONE_PICTURE,
        type=click.Path(path_type=Path, file_okay=False),
        help="Save every intermediate result as a picture.",
    ),
    shared.pages_option,
    *shared.reading_options,
    *shared.missing_options,
    preview_option,
    *shared.file_options,
    shared.output_option("--strip", is_flag=True, help="Leave out color profile, EXIF, resolution and text."),
    shared.output_option("--preserve-times", is_flag=True, help="Give OUT the times of IN."),
    *recipe_options,
    *folder_options,
    study_option(
        "--engine-options NAME=N,...",
        help="Options of an algorithm, as 'fftfilter engines' lists them, such as radix=8.",
    ),
    study_option("--work-group-size N", type=int, help="Work-items per work-group.  [default: 64]"),
    study_option(
        "--transpose",
        type=click.Choice(["tiled", "plain", "float4"]),
        help="Transpose through tiles in local memory, directly, or by two numbers.  [default: the engine's own]",
    ),
]

HELP = """{what}

IN and OUT are image files, folders, URLs (s3://bucket/in/), or - for standard input and output. With several
IN, OUT is a folder; folders among them are left out.

\b
Example: {examples}
"""


class FilterCommand(shared.GroupedCommand):
    """A command whose --verify needs no number and whose --auto needs no word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the missing values, as click would take the IN that follows for them."""
        for i, (arg, following) in enumerate(zip(args, [*args, ""][1:], strict=True)):
            if arg == "--":
                break
            if arg == VERIFY and not following.isdecimal():
                args[i] = f"{VERIFY}={VERIFIED}"
            if arg == "--skip-existing":
                args[i] = f"{arg}=digest"
            if arg == AUTO and following not in (EACH, FOLDER):
                args[i] = f"{AUTO}={EACH}"
        return super().parse_args(ctx, args)


def output_options(default: Output, edges: Edges) -> list[shared.GroupedOption]:
    """Return the options that say what filtered values become, with their defaults."""
    brief = ", ".join(f"{name} ({mode.brief})" for name, mode in MODES.items())
    output_option = shared.result_option(
        "--output",
        type=click.Choice([*MODES, REMOVED]),
        default=default,
        everyday=True,
        help=f"{brief} or {REMOVED} (what keep takes away). The largest value of magnitude is white; signed has both "
        f"signs; keep has the mean of IN. real is for .tif, .npy, .pfm and .fits; {REMOVED} is real there, and "
        "signed elsewhere. In Python the default is keep, and mirror for --edges.",
    )
    edges_option = shared.result_option(
        "--edges",
        type=click.Choice(EDGES),
        default=edges,
        everyday=True,
        help="What lies beyond the borders. wrap: the picture again; mirror: its mirror image, so that no border shows "
        "on the other side.",
    )
    return [output_option, edges_option, channels_option, scale_option]


def filter_command(name: str, kind: Kind) -> click.Command:
    """Return the command of a kind of filter."""
    factors = [each.factor for each in KINDS.values() if each.factor and each is not kind]

    @click.pass_context
    def command(context: click.Context, /, **_: Any) -> int:
        return dispatch(options_of(context), context.params["sources"], context.params["target"])

    params = [
        click.Argument(["sources"], metavar="IN...", nargs=-1, shell_complete=shared.file_names),
        click.Argument(["target"], metavar="OUT", shell_complete=shared.file_names),
        *kind.options,
        *([*auto_options, shared.ignore_option] if kind.method == "plain" else []),
        *(axes_options if name in PASSES else []),
        pixel_size_option,
        depth_option,
        *([ratio_option] if kind.method == "plain" else []),
        *([*factors, times_option] if kind.takes_others else []),
        *([pass_option, lattice_option] if name == "notch" else []),
        *(output_options(kind.output, kind.edges) if kind.outputs is None else kind.outputs),
        *other_options,
        verify_option,
    ]
    examples = "\n         ".join(f"fftfilter {name} {each}" for each in kind.examples)
    text = HELP.format(what=" ".join((kind.make.__doc__ or "").split()), examples=examples)
    return FilterCommand(name, params=params, callback=command, help=text)


COMMANDS = {name: filter_command(name, kind) for name, kind in KINDS.items()}


class CommandOptions(SimpleNamespace):
    """The values of a filter command's options by their names, and what follows from them."""

    recipe: Recipe
    device: str | None
    masks: tuple[str, ...]  # files of gains and of regions, which are also inputs
    only: Mapping[str, str]  # the first of the given options that are for folders alone, and so on

    def check_for_file(self, source: str, target: str) -> None:
        """Refuse what means nothing for one picture; raises UsageError."""
        has_processes = self.processes and not (self.cluster or is_zarr(source, target))
        if name := self.only.get(shared.FOLDERS) or (has_processes and "--processes"):
            raise click.UsageError(f"{name} is for folders, and IN is a file.")
        if self.recipe.format and target != "-":
            raise click.UsageError("--format is for folders and standard output: the extension of OUT says its format.")
        if self.recipe.span == FOLDER:
            raise click.UsageError("--scale folder is for folders, and IN is a file: give each, stack, auto or LO:HI.")
        if self.device and (self.device == "all" or "," in self.device):
            raise click.UsageError(f"--device {self.device} is for folders: one picture takes one device.")
        if self.recipe.preserve_times and any(name == "-" or is_url(name) for name in (source, target)):
            raise click.UsageError("--preserve-times needs two files: standard streams and URLs have no times.")

    def check_for_folder(self, target: str) -> None:
        """Refuse what means nothing for a folder; raises UsageError."""
        if name := self.only.get(shared.ONE_PICTURE) or self.only.get(shared.ONE_FILE):
            raise click.UsageError(f"{name} is for one picture, and this is a folder.")
        if target == "-":
            raise click.UsageError("IN is a folder, so OUT must be one, not standard output.")
        if self.in_place and self.skip_existing:
            raise click.UsageError("--skip-existing compares the inputs, which --in-place overwrites: leave one out.")
        if self.in_place and self.state:
            raise click.UsageError(
                "--state is for --skip-existing, and --in-place overwrites the inputs: leave it out."
            )
        if self.verify and self.dry_run:
            raise click.UsageError("--verify compares what was written, and --dry-run writes nothing.")
        if self.processes and self.cluster not in (None, "local"):
            raise click.UsageError("--processes is for this machine: a cluster has workers of its own.")


def options_of(context: click.Context, *files: str) -> CommandOptions:
    """Return what a filter's command describes, as click parsed it; raises FftfilterError and UsageError.

    ``files`` are inputs beside those that the options name.
    """
    from ..region import area_of, region_of
    from ..work.recipe import METHODS, Missing, Recipe

    name, given, params = str(context.command.name), dict(context.params), context.command.params
    kind = KINDS[name]
    words = _changed(context)
    is_removed = _take_output(given, context)
    mode, auto = _take_automatic(given, name)
    is_of_folder = given.get("fixed_pattern") == FOLDER
    voxel = _take_axes(given, kind, auto)
    made = kind.made(given)
    if given.get("lattice") is not None:
        from ..transfer.peaks import with_lattice

        made = [with_lattice(_product(made), given["lattice"])]
    for other, each in KINDS.items():
        made += map(each.make, given.pop(other, None) or ())
    size = None if voxel else given["pixel_size"]
    made = [_product(made, size), *(factor_of(text, size) for text in given.get("times", ()))]
    if auto and mode == FOLDER:
        shared.refuse(given, ("ratio",), "is for each picture by itself: leave folder out of --auto.")
        from ..work.saved import words_of_part

        found = _notches_of_folder(auto, given)
        made.append(found)
        given["ignore"] = given["ignore"] if _product(made).is_measured else None
        words = {name: each for name, each in words.items() if name not in AUTOMATIC}
        words |= {option: given[option] for option in _usual(context)}  # which the recipe no longer follows from
        words["times"] = [*given["times"], *(shlex.join(words_of_part(each)) for each in found.parts)] or [""]
        auto = None
    transfer = _passed(_product(made), is_removed, passes=given.get("pass", False))
    options = {name: given.get(name) for name in METHODS[kind.method].usual}  # radial filters alone have axes
    if (ignored := options.get("ignore")) is not None:
        options["ignore"] = area_of(ignored, "ignore")
    if voxel:
        options["pixel_size"] = voxel
    if given["engine_options"] is not None:
        options["engine_options"] = engine_options_of(given["engine_options"])
    if given["save_stages"]:
        options["engine"] = options["engine"] or "book"  # the fused engine has no results between
    scale = given.get("scale", EACH)  # some commands have no such option
    recipe = Recipe(
        transfer,
        kind.method,
        options,
        given.get("output", "keep"),
        parse_scale(scale),
        scale if scale in (FOLDER, STACK) else EACH,
        shared.pages_of(given),
        auto,
        shared.coding_of(given),
        given["format_"],
        Missing.of(given["nodata"], given["missing"]),
        region=region_of(*(given[str(each.name)] for each in region_options)),
        arguments=(name, *kept_words_of(context, words)),
        **{each: given[each] for each in ("strip", "preserve_times", "embed_recipe")},
    )
    if is_of_folder:
        recipe = _with_fixed_pattern(recipe, given)
    named = [each for each in reversed(params) if isinstance(each, shared.GroupedOption) and given.get(str(each.name))]
    follows = {
        "device": wanted({**recipe.options, "device": given["device"]}),
        "only": {each.only: each.opts[-1] for each in named if each.only},
    }
    return CommandOptions(recipe=recipe, masks=(*files, *recipe.masks), **{**given, **follows})


def _take_automatic(given: dict[str, Any], name: str) -> tuple[str | None, AutoNotches | None]:
    """Take --auto and what is for it from the options of a command, and check them with --at; raises FftfilterError."""
    if "auto" not in given:
        return None, None
    asked = {option: given.pop(option) for option in AUTOMATIC}
    mode = asked.pop("auto")
    if name == "stripes" and not given["angle"]:
        if mode is None:
            raise click.UsageError(f"no stripes are given: give --angle, or {AUTO} to have them found.")
        if mode == FOLDER:
            raise click.UsageError(f"{AUTO} {FOLDER} is for waves: leave {FOLDER} out, or give --angle.")
        given["angle"], mode = ("auto",), None
    if mode is None:
        if others := [option for option, value in asked.items() if value or type(value) is float]:
            raise click.UsageError(f"--{others[0]} is for the waves that {AUTO} finds: give {AUTO} as well.")
        if not (given.get("at", True) or given["times"]):
            raise click.UsageError(f"no peak is given: give --at, or {AUTO} to have them found.")
        return None, None
    from ..analysis.search import AutoNotches
    from ..transfer.fitted import USUAL_STRENGTH

    strength, insists = asked.pop("strength"), asked.pop("insist")
    shape: ShapeName = given["shape"] if name == "notch" else "gaussian"
    wanted = AutoNotches(USUAL_STRENGTH if strength is None else strength, shape, insists=insists, **asked)
    return mode, AutoNotches.of(wanted, given["output"], given.get("channels"))


def _notches_of_folder(auto: AutoNotches, given: dict[str, Any]) -> Transfer:
    """Return the notches for all pictures of a folder, and say which; raises FftfilterError."""
    from ..analysis.search import notches
    from .one_file import say_waves
    from .peaks import spectrum_of_sources

    sources = given["sources"]
    if len(sources) == 1 and not is_folder(sources[0]):
        raise click.UsageError(f"{AUTO} {FOLDER} is for folders, and IN is a file: leave {FOLDER} out.")
    mean, *_ = spectrum_of_sources(sources, given, devices_named(given["device"])[0], failures=False)
    found, left = auto.peaks(mean)
    if not given["quiet"]:
        say_waves(found, left, auto, f"{mean.pictures} pictures", verbose=given["verbose"])
    return notches(found, auto.shape, given["edges"], given["depth"], given["channels"])


def _with_fixed_pattern(recipe: Recipe, given: dict[str, Any]) -> Recipe:
    """Return a recipe with the lines that the pictures of a folder have in common, and say which.

    Of a file with pages, the first is looked at. Raises FftfilterError.
    """
    from ..folders.mean_spectrum import opened
    from ..work.opened import first_of, fixed_pattern_of

    sources = [without_file_scheme(each) for each in given["sources"]]
    if len(sources) == 1 and not is_folder(sources[0]):
        raise click.UsageError(f"--fixed-pattern {FOLDER} is for folders, and IN is a file: take pages.")
    tree = inputs_of(sources, recursive=given["recursive"], pattern=given["pattern"], says_so=False)

    def read(file: str) -> Picture | None:
        with suppress(ImageError):  # the run says why it cannot be read
            return first_of(opened(file, recipe.pages))
        return None

    pictures = {file: partial(read, file) for file in files_in(tree, sources[0])}
    transfer, said = fixed_pattern_of(pictures, recipe, recipe.transfer)
    shared.remark(*[f"{len(pictures)} pictures: {said}"] * bool(said), quiet=given["quiet"])
    return replace(recipe, transfer=transfer)


def _usual(context: click.Context) -> dict[str, str]:
    """Return defaults that follow from other options."""
    if context.params.get("ratio"):
        return OF_RATIO
    return {"edges": "mirror"} if context.command.name == "notch" and context.params.get("auto") else {}


def _take_output(given: dict[str, Any], context: click.Context) -> bool:
    """Return whether what is removed is written, and say as what; raises UsageError."""
    is_removed = given.get("output") == REMOVED
    typed = shared.typed(context)
    given |= {option: usual for option, usual in _usual(context).items() if option not in typed}
    if is_removed:
        given["output"] = "real" if holds_floats(given["target"], given["format_"]) else "signed"
        if given.get("channels") not in (None, "all"):
            raise click.UsageError(f"--output {REMOVED} is what all channels lose: leave --channels out.")
        of_floats = [option for option in ("ratio", "region", "protect") if given.get(option)]
        if of_floats and given["output"] != "real":
            raise click.UsageError(
                f"--output {REMOVED} with --{of_floats[0]} takes floats: write .tif, .npy, .pfm or .fits."
            )
    return is_removed


def _passed(transfer: Transfer, is_removed: bool, *, passes: bool) -> Transfer:
    """Return what a filter's product passes, or for --output removed and --pass what it removes; raises UsageError."""
    if passes and (is_removed or any(part.kind != "notch" for part in transfer.parts)):
        raise click.UsageError(
            f"--pass keeps the waves of notches alone: leave --output {REMOVED} and other filters out."
        )
    return transfer.complement() if passes or is_removed else transfer


def holds_floats(target: str, format_: str | None) -> bool:
    """Whether the format of an output has floats; that of a folder's is only known by --format."""
    kind = FORMATS.get((format_ or extension_of(target)).lower())
    return is_zarr(target) or bool(kind and kind.gray == 32)


def _take_axes(given: dict[str, Any], kind: Kind, auto: object) -> tuple[str, ...] | None:
    """Refuse what does not go with --axes, write cutoffs in Hz as those of frames; return the size on each axis."""
    axes, rate, size = given.get("axes"), given.pop("frame_rate", None), given["pixel_size"]
    if rate is not None and (axes != "t" or not 0 < rate < math.inf):
        raise click.UsageError("--frame-rate, above 0, is for cutoffs along time: give --axes t.")
    if axes is None:
        return None
    of_pictures = ("auto", "ignore", "verify", "preview", "save_stages", "profile", "channels", "region", "protect")
    shared.refuse({**given, "auto": auto}, of_pictures, "is for pictures by themselves: leave --axes out.")
    one_of = [name for name, axis in (("time", "t"), ("z", "z")) if axis in axes]
    shared.refuse(given, one_of, f"is a single one, and --axes {axes} filters along all: leave it out.")
    for name in [str(option.name) for option in kind.options]:
        found = re.fullmatch(r"\s*([\d.]+(?:e[-+]?\d+)?)\s*(hz|s)\s*", str(given[name]), re.IGNORECASE)
        if found and axes == "t":
            if rate is None:
                raise click.UsageError(f"--{name} {given[name]} is for time: give --frame-rate, in frames a second.")
            value, is_period = float(found[1]), found[2].lower() == "s"
            given[name] = f"{value * rate!r}px" if is_period else f"{value / rate!r}cyc"
    return tuple(size.split(",")) if size and "," in size else None


def kept_of(params: Iterable[click.Parameter]) -> list[click.Parameter]:
    """Return the options that recipes may have."""
    return [each for each in params if isinstance(each, shared.GroupedOption) and each.kept]


def kept_words(words: Sequence[str]) -> list[str]:
    """Return a filter's command with its options, each as one word; raises UsageError for those no recipe may have."""
    name, *given = words or [""]
    check_option("filter", name, COMMANDS)
    command = copy(COMMANDS[name])
    command.params, command.add_help_option = kept_of(command.params), False
    context = command.make_context(name, given)
    for text in filter(None, context.params.get("times", ())):
        words_in(text, "--times")
    return [name, *kept_words_of(context, _changed(context))]


def kept_words_of(context: click.Context, values: Mapping[str, Any]) -> list[str]:
    """Return the options of a command that recipes may have as words, in the order of its help."""
    from ..work.recipe import words_of

    kept = [str(option.name) for option in kept_of(context.command.params)]
    return words_of({name: values[name] for name in kept if name in values})


def _changed(context: click.Context) -> dict[str, Any]:
    """Return the values of the options that are given, but for defaults."""
    usual, typed = {option.name: option.default for option in context.command.params}, shared.typed(context)
    usual |= _usual(context)
    return {name: each for name, each in typed.items() if each != usual.get(name)}


def words_in(text: str, option: str) -> list[str]:
    """Return the words of an option's value, a filter with options; raises UsageError."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words or words[0] not in COMMANDS:
        name = words[0] if words else text
        raise click.UsageError(f"{option}: {name!r} is not a filter: give one such as 'lowpass --radius 8px'.")
    return words


def factor_of(text: str, pixel_size: str | None) -> Transfer:
    """Return the transfer function of a --times, which may say another size of a pixel; raises FftfilterError.

    An empty one passes everything: so says a recipe of --auto folder that has found nothing.
    """
    if not text:
        return Transfer(())
    name, *words = words_in(text, "--times")
    command = click.Command(name, params=[*KINDS[name].options, pixel_size_option], add_help_option=False)
    try:
        given = command.make_context(name, words).params
    except click.ClickException as error:
        raise click.UsageError(f"--times {text!r}: {error.format_message()}") from error
    return _product(KINDS[name].made(given), given["pixel_size"] or pixel_size)


def _product(factors: Iterable[Transfer], pixel_size: str | None = None) -> Transfer:
    made = Transfer(()) * Transfer(tuple(part for each in factors for part in each.parts))
    return made.with_pixel_size(pixel_size) if pixel_size else made


def engine_options_of(text: str) -> dict[str, int | str]:
    """Return the options of an algorithm; raises UsageError."""
    pairs = [each.partition("=")[::2] for each in text.split(",")]
    if not all(name and value for name, value in pairs):
        raise click.UsageError(f"--engine-options {text!r} are no options: give NAME=VALUE, such as radix=8.")
    return {name: int(value) if re.fullmatch("[0-9]{1,9}", value) else value for name, value in pairs}


def dispatch(options: CommandOptions, sources: Sequence[str], target: str) -> int:
    """Filter a picture, a folder, or files into a folder, by the rules of ``cp``; return the exit code."""
    if not sources:
        raise click.UsageError("Missing argument 'OUT'.")
    if not all(sources) or not target:
        raise click.UsageError(f"{'IN' if target else 'OUT'} is an empty name: give a dot for the current folder.")
    sources, target = [without_file_scheme(each) for each in sources], without_file_scheme(target)
    with _saved_recipe(sources, options):
        if len(sources) == 1 and is_zarr(sources[0]):
            handle_file(sources[0].rstrip("/"), target.rstrip("/"), options)
            return 0
        has_folder = len(sources) == 1 and is_folder(sources[0])
        if has_folder or target.endswith("/") or (target != "-" and is_folder(target)):
            return handle_folder(
                inputs_of(sources, recursive=options.recursive, pattern=options.pattern), target, options
            )
        if len(sources) > 1:
            raise click.UsageError(f"with several IN, OUT must be a folder, and {target!r} is not one.")
        handle_file(sources[0], target, options)
        return 0


@contextmanager
def _saved_recipe(sources: Sequence[str], options: CommandOptions) -> Iterator[None]:
    """Save the recipe when all is filtered, if it is asked for; a file that cannot be written is refused before."""
    file = options.save_recipe
    if file is None or options.dry_run:
        yield
        return
    from ..work import saved

    own = Path(os.path.realpath(urls.of_this_machine(file)))  # behind any link
    if own.suffix.lower() != ".json":
        raise click.UsageError(f"--save-recipe {file}: give a name that ends in .json, and no link to another.")
    if any(own.is_relative_to(os.path.realpath(each)) for each in sources if is_zarr(each)):
        raise click.UsageError(f"--save-recipe {file} lies in IN: choose another folder.")
    spare = [*map(inputs.identity, (*sources, *options.masks))]
    atomic.refuse_inputs(file, spare)
    if not urls.is_url(file):
        with messages.as_error(WriteError, f"{messages.shown(file, '-')}: cannot be written"):
            atomic.refuse_unwritable(str(Path(file).parent))
    yield
    saved.saved_of(options.recipe).write(file, spare)


@contextmanager
def as_parameter_errors(name: str = "") -> Iterator[None]:
    """Turn click's errors into ParameterError: behind the name of a recipe, or for a page, which has fields."""
    try:
        yield
    except click.ClickException as error:
        line = error.format_message()
        if not name and type(error) is click.BadParameter and error.param:
            line = f"{error.param.name}: {error.message.replace('a valid float', 'a number')}"
        raise ParameterError(f"{name}: {line}" if name else line) from error
    except ParameterError as error:
        if not name:
            raise
        raise ParameterError(f"{name}: {error}") from error


def context_of(context: click.Context, words: Sequence[str], source: str, target: str) -> click.Context:
    """Return a filter's command with its options as click parses them, with IN and OUT behind; raises UsageError."""
    name, *options = words
    return COMMANDS[name].make_context(name, [*options, "--", source, target], parent=context.find_root())


def parsed(context: click.Context, text: str, source: str, target: str) -> click.Context:
    """Return what :func:`context_of` does for the text of --with; raises UsageError, also for an IN or OUT in it."""
    made = context_of(context, words_in(text, "--with"), source, target)
    if (made.params["sources"], made.params["target"]) != ((source,), target):
        raise click.UsageError(f"--with {text!r}: give options only, as IN and OUT stand at the end.")
    if made.params.get("axes"):
        raise click.UsageError(f"--with {text!r}: --axes filters several pages, and this shows one: leave it out.")
    return made
