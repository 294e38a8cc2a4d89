"""``show``: the page of an array, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np
from PIL import Image

from ..arrays import Grey, check_image, pixel_type, split
from ..filters import Filter, Options, split_options
from ..filters.libraries import as_upright
from ..missing.fill import filled
from ..output.modes import ALL, MODES
from .page import page
from .report import FilterReport, about

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..transfer import Transfer


def show(
    image: ArrayLike, transfer: Transfer | Filter, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> Image.Image:
    """Return the page that ``--preview`` draws, a picture of Pillow, which a notebook displays.

    It has the image, its spectrum with the filter over it, the result, the removed part, and the gain and the power by
    frequency. Of a stack it shows the middle image. ``transfer`` may also be a :class:`Filter`; ``options`` are those
    of :class:`fftfilter.filters.Options`, and go before a filter's own. Raises what filters raise.

        fftfilter.show(image, H.lowpass("8px"))
    """
    of_filter, of_pixels = split_options(options)
    if isinstance(transfer, Filter):
        filter_ = transfer.with_options(**of_filter) if of_filter else transfer
    else:
        filter_ = Filter.unopened(transfer, of_filter)
    given, channel_axis, missing = as_upright(image, channel_axis, of_pixels.pop("missing", None))
    if channel_axis is None and np.ndim(given) == 3 and len(given):
        check_image(np.shape(given), np.dtype(np.uint8), None)
        middle = (len(given) - 1) // 2
        given, missing = given[middle], missing[middle] if np.ndim(missing) == 3 else missing
    planes, holes = split(given, missing, channel_axis)
    pixel = pixel_type(planes.dtype)
    grey = Grey.of(of_pixels, pixel)
    of_pixels["missing"] = holes if holes.any() else None
    made = filter_(planes, channel_axis=0, **of_pixels)
    own = filter_.options
    device, channels = own.get("device"), None if own.get("channels") == ALL else own.get("channels")
    white = 1 if MODES[own.get("output", "magnitude")].is_values else grey.levels
    whole = (filled(planes, holes, device) if holes.any() else planes).astype(np.result_type(planes, pixel), copy=False)
    report = FilterReport(whole, grey.white, filter_.transfer, own.get("edges", "wrap"), device, None, channels)
    title, said = f"{planes.shape[2]} x {planes.shape[1]}", about(filter_.transfer, None, channels)
    return Image.fromarray(page(report, np.where(holes, 0, made).astype(made.dtype), white, title, said))
