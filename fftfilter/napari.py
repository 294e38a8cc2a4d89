"""The widget in napari: filters an image layer, plane by plane or as volumes, with a live preview of what is visible.

napari finds it by the manifest ``napari.yaml``. Planes lie along the last two axes of a layer, volumes along the last
three. The controls describe a :class:`Task`, which a thread computes; only the thread of the window changes layers.
A viewer in a dock has the spectrum of the visible plane, in cycles per pixel, where a click sets a notch.
"""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from magicgui.widgets import CheckBox, ComboBox, Container, Label, LineEdit, PushButton, Slider
from napari.components import ViewerModel
from napari.layers import Image, Labels, Shapes
from napari.layers.base import ActionType
from napari.qt import QtViewer
from napari.qt.threading import create_worker
from qtpy.QtCore import QTimer

from . import transfer
from .analysis.power import middle, spectrum
from .analysis.search import peaks_text
from .analysis.surroundings import at
from .descreen_filter import DescreenFilter
from .errors import FftfilterError, ParameterError
from .filters import Filter
from .output.modes import MODES
from .preview.panels import square
from .region import Area
from .transfer.product import EDGES
from .transfer.radial import PASSES
from .transfer.shapes import SHAPES
from .transfer.units import Radius, number, one_if_square

NO_FILTER, PIXELS, STRIPES, DESCREEN = "none", "px", "stripes", "descreen"
# What a mask is for, by the option of a filter.
MASKS = {"filter inside": "region", "filter outside": "protect", "ignore in searches": "ignore"}
# Most pixels of a side of what a spectrum is of, pixels of its own side, and how far from a click, in cycles per pixel,
# the strongest wave is meant.
MOST, SIDE, NEAR = 2048, 1024, 0.008
# The cutoffs, each with a slider, whose steps go from the shortest period to the longer side of a picture.
CUTOFFS, STEPS, BUSY = ("cutoff", "other"), 200, "filtering ..."


class Task(NamedTuple):
    """A filter for an array of planes or volumes, with channels last if it is RGB; ``look`` is of the new layer."""

    data: Any
    is_rgb: bool
    visible: tuple[int, ...]
    maker: type[Filter]
    transfer: transfer.Transfer
    options: dict[str, Any]
    look: dict[str, Any]


def filtered(images: Any, filter_: Filter, is_rgb: bool) -> Any:
    """Return planes, volumes, or planes with channels behind, each filtered by itself; alpha stays."""
    each = images.reshape(-1, *images.shape[-3 if is_rgb else -(filter_.volume.number if filter_.volume else 2) :])
    made = np.stack([filter_(one[..., :3], channel_axis=-1) if is_rgb else filter_(one) for one in each])
    return (np.concatenate([made, each[..., 3:].astype(made.dtype)], -1) if is_rgb else made).reshape(images.shape)


def computed(task: Task, planes: tuple[int, ...]) -> Any:
    """Filter all ``planes``, or the visible one; yield their count, return the task, the data or None, and a line."""
    image, line = np.asarray(task.data[task.visible]), ""
    try:
        filter_ = task.maker(task.transfer, **task.options)
        result = filtered(image, filter_, task.is_rgb)
        line = "; ".join(filter_.notes())
        for peaks in filter_.peaks():  # which all planes lose
            line = f"removed {peaks_text(peaks, most=2)}" if peaks else line
            filter_ = filter_.with_options(filter_.without(peaks), auto=None)
        if task.is_rgb and result.dtype.kind == "f" != image.dtype.kind:
            raise ParameterError(f"RGB of {image.dtype} has no such output: choose another, or convert it to uint8")
        if not planes:
            result = result[(None,) * len(task.visible)]
        elif hasattr(task.data, "rechunk"):  # Dask
            blocks = task.data.rechunk(dict.fromkeys(range(-result.ndim, 0), -1))
            result = blocks.map_blocks(filtered, filter_, task.is_rgb, meta=np.empty((0,) * blocks.ndim, result.dtype))
        else:
            result = np.empty(task.data.shape, result.dtype)
            for count, index in enumerate(np.ndindex(planes), 1):
                result[index] = filtered(np.asarray(task.data[index]), filter_, task.is_rgb)
                yield count
    except FftfilterError as error:
        return task, None, str(error)
    return task, result, line


def has_volumes(layer: Image | None) -> bool:
    """Whether a layer has three axes that can be filtered together."""
    return layer is not None and layer.ndim > 2 and not layer.rgb


class FilterWidget(Container):  # type: ignore[misc]  # magicgui need not be there
    """The controls of a filter, its live preview, and the button that applies it to a whole layer."""

    def __init__(self, napari_viewer: Any) -> None:
        self._viewer, self._preview, self._units = napari_viewer, Image(np.zeros((1, 1))), [PIXELS]
        self._shown: Any = None  # what the preview was made of
        self._worker: Any = None  # the thread at work
        self._told = 0.0  # when the progress was
        self._is_asked = self._is_whole = False  # whether a new layer is asked for, and is what the thread makes
        self._ends: tuple[float, ...] = (2.0, 3.0)  # those of the sliders, in the unit of the cutoffs
        self._notches: Any = None  # the points in the dock of the spectrum, once that was opened
        self._drawn: Any = None  # what the spectrum is of
        sliders = [Slider(name=f"{name}_slider", label=" ", max=STEPS, readout=False) for name in CUTOFFS]
        controls = [
            ComboBox(name="layer", choices=self._layers),
            ComboBox(name="kind", label="filter", choices=[*PASSES, STRIPES, DESCREEN, "wiener", NO_FILTER]),
            LineEdit(name="cutoff", value="8"),
            sliders[0],
            LineEdit(name="other", label="cutoff 2", value="40"),
            sliders[1],
            LineEdit(name="angle", value="auto"),
            ComboBox(name="unit", choices=lambda _: self._units),
            ComboBox(name="shape", choices=[*SHAPES], value="gaussian"),
            ComboBox(name="output", choices=[*MODES], value="keep"),
            ComboBox(name="edges", choices=EDGES, value="mirror"),
            CheckBox(name="waves", text="automatic notch"),
            ComboBox(name="mask", choices=self._masks, nullable=True),
            ComboBox(name="mask_use", label="mask", choices=[*MASKS]),
            CheckBox(name="volume", text="3-D (z, y, x)"),
            CheckBox(name="live", text="live preview"),
        ]
        super().__init__()
        buttons = PushButton(name="spectrum", text="Spectrum: click to notch"), PushButton(name="run", text="Apply")
        self.extend([*controls, *buttons, Label(name="line", label=16 * " ")])
        self.line.native.setWordWrap(True)
        for each in controls:
            each.changed.connect(partial(self._slide, each) if each in sliders else self._refresh)
        self.run.changed.connect(self._apply)
        self.spectrum.changed.connect(self._open_spectrum)
        napari_viewer.dims.events.current_step.connect(self._refresh)
        self.native.destroyed.connect(self._close)
        if (active := napari_viewer.layers.selection.active) in self.layer.choices:
            self.layer.value = active
        self._refresh()

    def _layers(self, _: object) -> list[Image]:
        return [each for each in self._viewer.layers if isinstance(each, Image) and each is not self._preview]

    def _masks(self, _: object) -> list[Labels | Shapes]:
        return [each for each in self._viewer.layers if isinstance(each, Labels | Shapes)]

    def reset_choices(self, *event: object) -> None:
        """Take the layers that there are; the last one goes without a change of ``layer``."""
        super().reset_choices(*event)
        self._refresh()

    def _index(self, layer: Any, shape: tuple[int, ...], number: int) -> tuple[int, ...]:
        """Return the index of what is visible of a layer, along all but its last ``number`` axes."""
        place = zip(layer.world_to_data(self._viewer.dims.point)[:-number], shape, strict=False)
        return tuple(int(np.clip(round(at), 0, n - 1)) for at, n in place)

    def _masked(self, layer: Image, size: tuple[int, int]) -> dict[str, Area]:
        """Return the option that the mask is for: the visible plane of labels, or all shapes."""
        if (mask := self.mask.value) is None:
            return {}
        mask.events.set_data.connect(self._refresh)
        if isinstance(mask, Labels):
            pixels = np.asarray(mask.data[self._index(mask, mask.data.shape, 2)]) != 0
        else:
            corners = [[layer.world_to_data(mask.data_to_world(at))[-2:] for at in each] for each in mask.data]
            pixels = Shapes(corners, shape_type=mask.shape_type).to_masks(size).any(axis=0)
        if not pixels.any():
            raise ParameterError(f"the mask {mask.name} is empty: paint labels, or draw shapes")
        what = MASKS[self.mask_use.value]
        return {what: Area.of_mask(pixels, what, mask.name)}

    def _described(self) -> Task:
        """Return the task that the controls describe; raises ParameterError."""
        if (layer := self.layer.value) is None:
            raise ParameterError("there is no image layer: open an image")
        kind, made, n = self.kind.value, transfer.Transfer(()), 3 if self.volume.value and has_volumes(layer) else 2
        sides, units = np.abs(layer.scale[-n:]).tolist(), layer.units[-n:]
        side, unit, has_lengths = sides[-1], units[-1], all(each.is_compatible_with("m") for each in units)
        has_unit = len({*zip(sides, units, strict=True)}) == 1 or has_lengths
        self._units = [PIXELS, "scale" if unit == "pixel" else f"{unit:~P}"][: 1 + has_unit]
        self.unit.reset_choices()
        options: dict[str, Any] = {} if kind == DESCREEN else {"output": self.output.value, "edges": self.edges.value}
        options |= {"auto": True} if self.waves.value and kind != DESCREEN else {}
        options |= {"axes": n} if n == 3 else {}
        if has_unit and has_lengths:
            meters = [(size * each).m_as("m") for size, each in zip(sides, units, strict=True)]
            options["pixel_size"] = meters if n == 3 else one_if_square((meters[1], meters[0]))
        in_pixels = self.unit.value == PIXELS
        if kind in PASSES:
            is_length = has_lengths and not in_pixels
            factor, suffix = ((1 * unit).m_as("um"), "um") if is_length else (1 if in_pixels else 1 / side, PIXELS)
            texts = [each.value for each in (self.cutoff, self.other)[: 1 + kind.startswith("band")]]
            texts = [f"{number(text) * factor}{suffix}" if number(text) > 0 else text for text in texts]
            cutoffs = [Radius.parse(text, "cutoff", PIXELS) for text in texts]
            made = getattr(transfer, kind)(*cutoffs, shape=self.shape.value)
        elif kind != NO_FILTER:
            made = transfer.stripes(self.angle.value) if kind == STRIPES else getattr(transfer, kind)()
        for fy, fx in () if self._notches is None else self._notches.data:
            made *= transfer.notch((fx, fy))
        data = layer.data[0] if layer.multiscale else layer.data
        size = data.shape[-3:-1] if layer.rgb else data.shape[-2:]
        self._ends = tuple(periods * (1 if in_pixels else side) for periods in (2, max(3, *size)))
        masked = self._masked(layer, size)
        look = layer.as_layer_data_tuple()[1]
        said = str((made, options | {what: area.text for what, area in masked.items()}))
        look |= {"name": f"{layer.name} {kind}", "multiscale": False, "metadata": {"fftfilter": said}}
        keeps_limits = MODES[self.output.value].keeps_levels and data.dtype != bool
        look |= {} if keeps_limits or kind == DESCREEN else {"contrast_limits": None}
        maker = DescreenFilter if kind == DESCREEN else Filter
        return Task(data, layer.rgb, self._index(layer, data.shape, n), maker, made, options | masked, look)

    def _refresh(self, *event: object) -> None:
        """Begin a new layer, or a preview, if it is asked for and no thread is at work; or say what is invalid."""
        kind, layer = self.kind.value, self.layer.value
        shown = dict.fromkeys(("cutoff", "cutoff_slider", "unit", "shape"), kind in PASSES)
        shown |= dict.fromkeys(("other", "other_slider"), kind.startswith("band"))
        shown |= dict.fromkeys(("output", "edges", "waves"), kind != DESCREEN)
        shown |= {"angle": kind == STRIPES, "mask_use": self.mask.value is not None, "volume": has_volumes(layer)}
        for name, is_shown in shown.items():
            self[name].visible = is_shown
        self._shown = self.live.value and self._shown
        if self._preview in self._viewer.layers and not (self._shown and self._shown[0] is layer):
            self._viewer.layers.remove(self._preview)
        try:
            task = self._described()
        except FftfilterError as error:
            self.line.value, self._is_asked = str(error), False
            return
        for name in CUTOFFS:
            (low, high), slider = self._ends, self[f"{name}_slider"]
            part = np.log(max(low, number(self[name].value)) / low) / np.log(high / low)
            with slider.changed.blocked():
                slider.value = int(STEPS * min(1, part))
        self._draw_spectrum(task)
        self.line.value = BUSY if self._worker else "" if event else self.line.value
        key = self.live.value and (layer, id(task.data), task.visible, str(task[3:]))
        if not self._worker and (self._is_asked or (key and key != self._shown)):
            self._is_whole, self._is_asked, self._shown = self._is_asked, False, self._shown if self._is_asked else key
            planes = task.data.shape[: len(task.visible)] if self._is_whole else ()
            self.run.text, self.line.value = "Cancel" if self._is_whole else "Apply", BUSY
            canceled = partial(setattr, self.line, "value", "canceled")
            slots = {"yielded": self._tell, "aborted": canceled, "returned": self._show, "finished": self._end}
            self._worker = create_worker(computed, task, planes, _connect=slots, _progress=True)
            self._worker.pbar.total = int(np.prod(planes)) if self._is_whole else 0

    def _slide(self, slider: Slider, place: int) -> None:
        low, high = self._ends
        self[slider.name.removesuffix("_slider")].value = f"{low * (high / low) ** (place / STEPS):.3g}"

    def _open_spectrum(self) -> None:
        """Open a dock with the spectrum; a click in it sets a notch, or takes one away."""
        if self._notches is not None:
            return
        viewer = ViewerModel(title="Spectrum")
        viewer.add_image(np.zeros((SIDE, SIDE)), name="spectrum", scale=[1 / SIDE] * 2, translate=[-0.5] * 2)
        ring = {"face_color": "transparent", "border_color": "yellow", "border_width": 0.2, "size": 0.05}
        self._notches = viewer.add_points(np.zeros((0, 2)), name="notches", **ring)
        self._notches.mode = "add"
        self._notches.events.data.connect(self._snap)
        self._spectrum = viewer.layers["spectrum"]
        view = QtViewer(viewer)
        view.setMinimumSize(300, 300)
        self._viewer.window.add_dock_widget(view, name="Spectrum: a click sets a notch")
        QTimer.singleShot(0, viewer.reset_view)  # when the dock has its size
        self._refresh()

    def _draw_spectrum(self, task: Task) -> None:
        """Show the spectrum of the visible plane, if it is another one."""
        index = self._index(self.layer.value, task.data.shape, 2)
        if self._notches is None or self._drawn == (id(task.data), index):
            return
        self._drawn, plane = (id(task.data), index), np.asarray(task.data[index], np.float32)
        planes = plane[..., :3].transpose(2, 0, 1) if task.is_rgb else plane[None]
        planes = middle(planes, *(min(MOST, side) for side in planes.shape[1:]))
        self._power = spectrum(np.nan_to_num(planes), float(np.nanmax(np.abs(planes))) or 1.0)
        power = square(self._power.power.mean(axis=0), self._power.width, (SIDE, 1.0), np.maximum)
        self._spectrum.data = np.log10(np.maximum(power, 1e-30))
        low, high = np.quantile(self._spectrum.data, (0.3, 0.9998))
        self._spectrum.contrast_limits = low, max(high, low + 1)

    def _snap(self, event: Any) -> None:
        """Move a new notch to the strongest wave beside it; if that has one already, it loses both."""
        notches, found = self._notches.data, self._power
        if event.action == ActionType.ADDED and len(notches):
            ky, kx = (
                np.arange(np.floor((at - NEAR) * n), np.ceil((at + NEAR) * n) + 1, dtype=int)
                for at, n in zip(notches[-1], (found.height, found.width), strict=True)
            )
            near = at(found.power.mean(axis=0), found.width, ky[:, None], kx)
            y, x = np.unravel_index(near.argmax(), near.shape)
            new = np.array([ky[y] / found.height, kx[x] / found.width])
            is_other = np.minimum(*(np.abs(notches[:-1] - way * new).max(axis=1) for way in (1, -1))) > 1e-9
            kept = notches[:-1][is_other]
            self._notches.data = np.concatenate([kept, new[None]]) if is_other.all() else kept
        self._refresh()

    def _tell(self, count: int) -> None:
        """Say the progress, a few times a second: napari's bar handles waiting events in between, also further ones."""
        if monotonic() > self._told + 0.2:
            self._told, bar = monotonic(), self._worker.pbar
            self.line.value = f"{count} of {bar.total} planes filtered"
            bar.update(count - bar.n)

    def _apply(self) -> None:
        """Ask for a new layer, or stop the thread that makes it."""
        self._is_asked = not (self._worker and self._is_whole)
        if not self._is_asked:
            self._worker.quit()
        self._refresh()

    def _end(self) -> None:
        self._worker, self.run.text = None, "Apply"
        self._refresh()

    def _show(self, done: tuple[Task, Any, str]) -> None:
        """Put what a thread has made into a new layer, or into the preview."""
        task, data, line = done
        if data is not None and (self._is_whole or (self._shown and self._shown[0] is self.layer.value)):
            self._add(task, data)
        self.line.value = line  # after what a further layer has changed

    def _add(self, task: Task, data: Any) -> None:
        new = Image(data, **task.look)
        if not self._is_whole:
            new.name, new.blending = "preview", "opaque"
            new.translate = new.translate + new.scale * (*task.visible, *[0] * (new.ndim - len(task.visible)))
            if self._preview in self._viewer.layers:
                for name in ("data", "scale", "translate", "units", "contrast_limits", "colormap", "gamma"):
                    setattr(self._preview, name, getattr(new, name))
                return
            self._preview = new
        self._viewer.add_layer(new)

    def _close(self) -> None:
        self._viewer.dims.events.current_step.disconnect(self._refresh)
        if self._worker:
            self._worker.quit()
            self._worker.signals.disconnect()
