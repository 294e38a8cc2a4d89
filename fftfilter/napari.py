"""The widget in napari: filters the planes of an image layer, with a live preview of the visible plane.

napari finds it by the manifest beside it, ``napari.yaml``. Planes lie along the last two axes of a layer. The controls
describe a :class:`Task`, which a thread computes; only the thread of the window changes layers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array
import numpy as np
from magicgui.widgets import CheckBox, ComboBox, Container, Label, LineEdit, PushButton
from napari.layers import Image
from napari.qt.threading import create_worker

from . import transfer
from .analysis.power import spectrum
from .analysis.search import AutoNotches, notches, peaks_text
from .arrays import largest_of, pixel_type, split, white_of_input
from .errors import FftfilterError, ParameterError
from .filters import Filter
from .output.modes import MODES
from .transfer.edges import EDGES
from .transfer.fitted import USUAL_STRENGTH
from .transfer.radial import PASSES
from .transfer.shapes import SHAPES
from .transfer.units import Radius, number

if TYPE_CHECKING:
    from collections.abc import Generator

    from .arrays import Array

NO_FILTER, PIXELS = "none", "px"
# The properties that a new layer takes from the filtered one.
OF_LAYER = ("affine", "axis_labels", "blending", "colormap", "contrast_limits", "gamma", "opacity", "rotate", "scale")
OF_LAYER += ("shear", "translate", "units")


class Task(NamedTuple):
    """A filter for an array ``(..., height, width)``, or ``(..., height, width, channels)`` if it is RGB."""

    data: Any
    is_rgb: bool
    plane: tuple[int, ...]
    """The index of the visible plane."""
    transfer: transfer.Transfer
    finds_waves: bool
    """Whether the waves of the visible plane are removed from all planes."""
    options: dict[str, Any]
    look: dict[str, Any]
    """The properties of the new layer."""

    def begun(self) -> tuple[Filter, Array, str]:
        """Return an open filter, the filtered visible plane, and which waves are removed; raises FftfilterError."""
        image, made, line = np.asarray(self.data[self.plane]), self.transfer, ""
        if self.finds_waves:
            planes, _ = split(image[..., :3] if self.is_rgb else image, None, -1 if self.is_rgb else None)
            found = spectrum(np.nan_to_num(planes), white_of_input(None, planes.dtype))
            auto = AutoNotches(USUAL_STRENGTH, by_channel=not MODES[self.options["output"]].is_scaled)
            peaks, _ = auto.peaks(found)
            made *= notches(peaks, auto.shape, self.options["edges"])
            line = f"removed {peaks_text(peaks, most=2)}" if peaks else auto.nothing
        filter_ = Filter(made, **self.options)
        result = filtered(image, filter_, self.is_rgb)
        if self.is_rgb and result.dtype.kind == "f" != image.dtype.kind:
            raise ParameterError(f"RGB of {image.dtype} has no such output: choose another, or convert it to uint8")
        return filter_, result, line


def filtered(images: Array, filter_: Filter, is_rgb: bool) -> Array:
    """Return images ``(..., height, width)``, or with channels behind, each filtered by itself; alpha stays."""
    each = images.reshape(-1, *images.shape[-3 if is_rgb else -2 :])
    made = np.stack([filter_(one[..., :3], channel_axis=-1) if is_rgb else filter_(one) for one in each])
    return (np.concatenate([made, each[..., 3:]], axis=-1) if is_rgb else made).reshape(images.shape)


def computed(task: Task, planes: tuple[int, ...] = ()) -> Generator[str, None, tuple[Task, Any, str]]:
    """Yield the progress; return the task, data for its layer, and a line: on the error, and the data are None.

    The data are all ``planes``, the shape of the axes in front of them, or by default the visible plane alone.
    """
    try:
        filter_, result, line = task.begun()
        if not planes:
            result = result[(None,) * len(task.plane)]
        elif isinstance(task.data, dask.array.Array):
            blocks = task.data.rechunk(dict.fromkeys(range(-result.ndim, 0), -1))
            empty = np.empty((0,) * blocks.ndim, result.dtype)
            result = blocks.map_blocks(filtered, filter_, task.is_rgb, dtype=empty.dtype, meta=empty)
        else:
            result = np.empty(task.data.shape, result.dtype)
            for count, index in enumerate(np.ndindex(planes), 1):
                result[index] = filtered(np.asarray(task.data[index]), filter_, task.is_rgb)
                yield f"{count} of {math.prod(planes)} planes filtered"
    except FftfilterError as error:
        return task, None, str(error)
    return task, result, line


class FilterWidget(Container):  # type: ignore[misc]  # magicgui need not be there
    """The controls of a filter, its live preview, and the button that applies it to a whole layer."""

    def __init__(self, napari_viewer: Any) -> None:
        self._viewer, self._preview = napari_viewer, Image(np.zeros((1, 1)))
        self._shown: object = None  # what the preview was made of
        self._worker: Any = None  # the thread at work
        self._is_asked = self._is_whole = False  # whether a new layer is asked for, and is what the thread makes
        self._layer = ComboBox(name="layer", choices=self._layers)
        controls = [
            self._layer,
            ComboBox(name="kind", label="filter", choices=[*PASSES, NO_FILTER]),
            LineEdit(name="cutoff", value="8"),
            LineEdit(name="other", label="other cutoff", value="40"),
            ComboBox(name="unit", label="cutoffs in", choices=self._units),
            ComboBox(name="shape", choices=[*SHAPES], value="gaussian"),
            ComboBox(name="output", choices=[*MODES], value="keep"),
            ComboBox(name="edges", choices=EDGES, value="mirror"),
            CheckBox(name="waves", text="automatic notch"),
            CheckBox(name="live", text="live preview"),
        ]
        super().__init__(widgets=[*controls, PushButton(name="run", text="Apply"), Label(name="line", label=" ")])
        self.line.native.setWordWrap(True)
        for each in controls:
            each.changed.connect(self._refresh)
        self.run.changed.connect(self._apply)
        napari_viewer.dims.events.current_step.connect(self._refresh)
        self._refresh()

    def _layers(self, _: object) -> list[Image]:
        return [each for each in self._viewer.layers if isinstance(each, Image) and each is not self._preview]

    def _units(self, _: object) -> list[str]:
        """Return the units of cutoffs: pixels, and if these are square and have a size, its unit."""
        if (layer := self._layer.value) is None or layer.scale[-1] != layer.scale[-2]:
            return [PIXELS]
        *_, across, down = layer.units
        unit = "scale" if across == "pixel" else f"{across:~P}"
        return [PIXELS] if across != down or (unit == "scale" and layer.scale[-1] == 1) else [PIXELS, unit]

    def _described(self) -> Task:
        """Return the task that the controls describe; raises ParameterError."""
        if (layer := self._layer.value) is None:
            raise ParameterError("there is no image layer: open an image")
        kind, made, side, unit = self.kind.value, transfer.Transfer(()), float(layer.scale[-1]), layer.units[-1]
        options = {"output": self.output.value, "edges": self.edges.value}
        if len(self.unit.choices) > 1 and unit.is_compatible_with("m"):
            options["pixel_size"] = (side * unit).m_as("m")
        if kind != NO_FILTER:
            texts = [each.value for each in (self.cutoff, self.other)[: 1 + kind.startswith("band")]]
            if self.unit.value != PIXELS:
                texts = [f"{number(text) / side}px" if number(text) > 0 else text for text in texts]
            cutoffs = [Radius.parse(text, "cutoff", PIXELS) for text in texts]
            made = getattr(transfer, kind)(*cutoffs, shape=self.shape.value)
        elif not self.waves.value:
            raise ParameterError("nothing to filter: choose a filter, or the automatic notch")
        data = layer.data[0] if layer.multiscale else layer.data
        place = zip(layer.world_to_data(self._viewer.dims.point)[:-2], data.shape, strict=False)
        plane = tuple(int(np.clip(round(at), 0, n - 1)) for at, n in place)
        mode, look = MODES[self.output.value], {name: getattr(layer, name) for name in OF_LAYER}
        look |= {"name": f"{layer.name} {kind}", "metadata": {**layer.metadata, "fftfilter": f"{made!r}, {options}"}}
        if not mode.keeps_levels:
            look["contrast_limits"] = (0, largest_of(pixel_type(layer.dtype))) if mode.is_scaled else None
        return Task(data, layer.rgb, plane, made, self.waves.value, options, look)

    def _refresh(self, *event: object) -> None:
        """Describe the task anew, and begin a new layer or a preview if it is asked for and no thread is at work."""
        self.unit.reset_choices()
        self.other.visible = self.kind.value.startswith("band")
        if event:
            self.line.value = ""
        if not self.live.value and self._preview in self._viewer.layers:
            self._viewer.layers.remove(self._preview)
        try:
            task = self._described()
        except FftfilterError as error:
            self.line.value, self._is_asked = str(error), False
            return
        key = self.live.value and (id(task.data), task.plane, str(task[3:]))
        if self._worker or not (self._is_asked or (key and key != self._shown)):
            return
        self._is_whole, self._is_asked, self._shown = self._is_asked, False, key
        planes = task.data.shape[: len(task.plane)] if self._is_whole else ()
        self.run.text = "Cancel" if self._is_whole else "Apply"
        slots = {"yielded": self._say, "aborted": self._say, "returned": self._show, "finished": self._finish}
        total = {"total": math.prod(planes)} if self._is_whole else None
        self._worker = create_worker(computed, task, planes, _connect=slots, _progress=total)

    def _apply(self) -> None:
        """Ask for a new layer, or stop the thread that makes it."""
        if self._worker and self._is_whole:
            self._worker.quit()
        else:
            self._is_asked = True
            self._refresh()

    def _say(self, line: str = "canceled: there is no new layer") -> None:
        self.line.value = line

    def _finish(self) -> None:
        self._worker, self.run.text = None, "Apply"
        self._refresh()

    def _show(self, done: tuple[Task, Any, str]) -> None:
        """Put what a thread has made into a new layer, or into the preview."""
        task, data, self.line.value = done
        if data is None:
            return
        new = Image(data, rgb=task.is_rgb, **task.look)
        if not self._is_whole:
            new.name, new.blending, old = "preview", "translucent", self._preview
            new.translate = new.translate + new.scale * (*task.plane, 0, 0)
            if old in self._viewer.layers and (old.ndim, old.rgb) == (new.ndim, new.rgb):
                for name in {"data", *OF_LAYER}:
                    setattr(old, name, getattr(new, name))
                return
            if old in self._viewer.layers:
                self._viewer.layers.remove(old)
            self._preview = new
        self._viewer.add_layer(new)
