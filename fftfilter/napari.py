"""The widget in napari: filters the planes of an image layer, with a live preview of the visible plane.

napari finds it by the manifest ``napari.yaml``. Planes lie along the last two axes of a layer. The controls describe a
:class:`Task`, which a thread computes; only the thread of the window changes layers.
"""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from magicgui.widgets import CheckBox, ComboBox, Container, Label, LineEdit, PushButton
from napari.layers import Image
from napari.qt.threading import create_worker

from . import transfer
from .analysis.search import peaks_text
from .errors import FftfilterError, ParameterError
from .filters import Filter
from .output.modes import MODES
from .transfer.edges import EDGES
from .transfer.radial import PASSES
from .transfer.shapes import SHAPES
from .transfer.units import Radius, number

NO_FILTER, PIXELS = "none", "px"


class Task(NamedTuple):
    """A filter for an array ``(..., height, width)``, with channels last if it is RGB; ``look`` is of the new layer."""

    data: Any
    is_rgb: bool
    visible: tuple[int, ...]
    transfer: transfer.Transfer
    finds_waves: bool
    options: dict[str, Any]
    look: dict[str, Any]


def filtered(images: Any, filter_: Filter, is_rgb: bool) -> Any:
    """Return images ``(..., height, width)``, or with channels behind, each filtered by itself; alpha stays."""
    each = images.reshape(-1, *images.shape[-3 if is_rgb else -2 :])
    made = np.stack([filter_(one[..., :3], channel_axis=-1) if is_rgb else filter_(one) for one in each])
    return (np.concatenate([made, each[..., 3:].astype(made.dtype)], -1) if is_rgb else made).reshape(images.shape)


def computed(task: Task, planes: tuple[int, ...]) -> Any:
    """Filter all ``planes``, or the visible one; yield their count, return the task, the data or None, and a line."""
    image, line = np.asarray(task.data[task.visible]), ""
    try:
        filter_ = Filter(task.transfer, auto=task.finds_waves, **task.options)
        result = filtered(image, filter_, task.is_rgb)
        for peaks in filter_.peaks():  # which all planes lose
            line = f"removed {peaks_text(peaks, most=2)}" if peaks else filter_.notes()[0]
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


class FilterWidget(Container):  # type: ignore[misc]  # magicgui need not be there
    """The controls of a filter, its live preview, and the button that applies it to a whole layer."""

    def __init__(self, napari_viewer: Any) -> None:
        self._viewer, self._preview, self._units = napari_viewer, Image(np.zeros((1, 1))), [PIXELS]
        self._shown: Any = None  # what the preview was made of
        self._worker: Any = None  # the thread at work
        self._told = 0.0  # when the progress was
        self._is_asked = self._is_whole = False  # whether a new layer is asked for, and is what the thread makes
        controls = [
            ComboBox(name="layer", choices=self._layers),
            ComboBox(name="kind", label="filter", choices=[*PASSES, NO_FILTER]),
            LineEdit(name="cutoff", value="8"),
            LineEdit(name="other", label="cutoff 2", value="40"),
            ComboBox(name="unit", choices=lambda _: self._units),
            ComboBox(name="shape", choices=[*SHAPES], value="gaussian"),
            ComboBox(name="output", choices=[*MODES], value="keep"),
            ComboBox(name="edges", choices=EDGES, value="mirror"),
            CheckBox(name="waves", text="automatic notch"),
            CheckBox(name="live", text="live preview"),
        ]
        super().__init__()
        self.extend([*controls, PushButton(name="run", text="Apply"), Label(name="line", label=16 * " ")])
        self.line.native.setWordWrap(True)
        for each in controls:
            each.changed.connect(self._refresh)
        self.run.changed.connect(self._apply)
        napari_viewer.dims.events.current_step.connect(self._refresh)
        self.native.destroyed.connect(self._close)
        self._refresh()

    def _layers(self, _: object) -> list[Image]:
        return [each for each in self._viewer.layers if isinstance(each, Image) and each is not self._preview]

    def reset_choices(self, *event: object) -> None:
        """Take the layers that there are; the last one goes without a change of ``layer``."""
        super().reset_choices(*event)
        self._refresh()

    def _described(self) -> Task:
        """Return the task that the controls describe; raises ParameterError."""
        if (layer := self.layer.value) is None:
            raise ParameterError("there is no image layer: open an image")
        kind, made, side, unit = self.kind.value, transfer.Transfer(()), abs(float(layer.scale[-1])), layer.units[-1]
        options = {"output": self.output.value, "edges": self.edges.value}
        is_square = (abs(layer.scale[-2]), layer.units[-2]) == (side, unit)
        self._units = [PIXELS, "scale" if unit == "pixel" else f"{unit:~P}"][: 1 + is_square]
        self.unit.reset_choices()
        options |= {"pixel_size": (side * unit).m_as("m")} if is_square and unit.is_compatible_with("m") else {}
        if kind != NO_FILTER:
            side = 1.0 if self.unit.value == PIXELS else side
            texts = [each.value for each in (self.cutoff, self.other)[: 1 + kind.startswith("band")]]
            texts = [f"{number(text) / side}px" if number(text) > 0 else text for text in texts]
            cutoffs = [Radius.parse(text, "cutoff", PIXELS) for text in texts]
            made = getattr(transfer, kind)(*cutoffs, shape=self.shape.value)
        data = layer.data[0] if layer.multiscale else layer.data
        place = zip(layer.world_to_data(self._viewer.dims.point)[:-2], data.shape, strict=False)
        visible = tuple(int(np.clip(round(at), 0, n - 1)) for at, n in place)
        look = layer.as_layer_data_tuple()[1]
        look |= {"name": f"{layer.name} {kind}", "multiscale": False, "metadata": {"fftfilter": str((made, options))}}
        keeps_limits = MODES[self.output.value].keeps_levels and data.dtype != bool
        look |= {} if keeps_limits else {"contrast_limits": None}
        return Task(data, layer.rgb, visible, made, self.waves.value, options, look)

    def _refresh(self, *event: object) -> None:
        """Begin a new layer, or a preview, if it is asked for and no thread is at work; or say what is invalid."""
        self.other.visible = self.kind.value.startswith("band")
        self._shown = self.live.value and self._shown
        if self._preview in self._viewer.layers and not (self._shown and self._shown[0] is self.layer.value):
            self._viewer.layers.remove(self._preview)
        try:
            task = self._described()
        except FftfilterError as error:
            self.line.value, self._is_asked = str(error), False
            return
        self.line.value = "" if event else self.line.value
        key = self.live.value and (self.layer.value, id(task.data), task.visible, str(task[3:]))
        if not self._worker and (self._is_asked or (key and key != self._shown)):
            self._is_whole, self._is_asked, self._shown = self._is_asked, False, self._shown if self._is_asked else key
            planes = task.data.shape[: len(task.visible)] if self._is_whole else ()
            self.run.text = "Cancel" if self._is_whole else "Apply"
            canceled = partial(setattr, self.line, "value", "canceled")
            slots = {"yielded": self._tell, "aborted": canceled, "returned": self._show, "finished": self._end}
            self._worker = create_worker(computed, task, planes, _connect=slots, _progress=self._is_whole)
            if self._is_whole:
                self._worker.pbar.total = int(np.prod(planes))

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
        task, data, self.line.value = done
        if data is None or not (self._is_whole or (self._shown and self._shown[0] is self.layer.value)):
            return
        new = Image(data, **task.look)
        if not self._is_whole:
            new.name, new.blending = "preview", "translucent"
            new.translate = new.translate + new.scale * (*task.visible, 0, 0)
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
