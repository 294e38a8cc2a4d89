"""The widget in napari, in a real viewer. CONTRIBUTING names the command that installs napari and runs these."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.filters import Filter
from tests.helpers import COMMAND

pytest.importorskip("napari", reason="napari is not installed")
da = pytest.importorskip("dask.array")
QThreadPool = pytest.importorskip("qtpy.QtCore").QThreadPool
progress = pytest.importorskip("napari.utils").progress

OPTIONS = {"shape": "gaussian", "output": "keep", "edges": "mirror"}


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (10, 12), dtype=np.uint8)


@pytest.fixture
def stack(rng):
    return rng.integers(0, 256, (3, 10, 12), dtype=np.uint8)


@pytest.fixture
def open_widget(make_napari_viewer):
    """Return what opens a viewer with the widget as napari's menu does."""

    def opened():
        viewer = make_napari_viewer()
        _, widget = viewer.window.add_plugin_dock_widget("fftfilter-opencl", "Frequency filter")
        return viewer, widget

    return opened


@pytest.fixture
def finished(qtbot):
    """Return what waits until no thread of a widget is at work."""
    return lambda widget: qtbot.waitUntil(lambda: widget._worker is None, timeout=60_000)


@pytest.fixture
def held(monkeypatch):
    """Hold each image that is filtered until the event is set; returns the event, and one for an image that is held."""
    go_on, is_held, filter_call = threading.Event(), threading.Event(), Filter.__call__

    def wait(self, *given, **options):
        is_held.set()
        assert go_on.wait(60)
        return filter_call(self, *given, **options)

    monkeypatch.setattr(Filter, "__call__", wait)
    yield go_on, is_held
    go_on.set()


def press(widget):
    widget.run.native.click()


def test_a_stack_becomes_a_new_layer_plane_by_plane_with_the_look_of_the_old_one(open_widget, finished, stack):
    viewer, widget = open_widget()
    look = {"scale": (3, 0.5, 0.5), "units": ("um", "um", "um"), "contrast_limits": (20, 90), "colormap": "green"}
    old = viewer.add_image(stack, name="cells", translate=(1, 2, 3), **look)
    press(widget)
    finished(widget)
    _, new = viewer.layers
    np.testing.assert_array_equal(new.data, fftfilter.lowpass(stack, "8px", **(COMMAND | OPTIONS)))
    assert new.name == "cells lowpass"
    assert new.units == old.units
    assert new.colormap.name == "green"
    for name in ("scale", "translate", "contrast_limits"):
        np.testing.assert_array_equal(getattr(new, name), getattr(old, name))
    assert new.metadata["fftfilter"].startswith("(H.lowpass('8px', shape='gaussian')")


@pytest.mark.parametrize(
    ("unit", "text", "radius"), [("px", "4", "4px"), ("µm", "4", "8px"), ("px", "4um", "8px"), ("µm", "50%", "50%")]
)
def test_a_cutoff_is_in_pixels_in_the_unit_of_the_layer_or_in_its_own(open_widget, image, unit, text, radius):
    viewer, widget = open_widget()
    viewer.add_image(image, scale=(0.5, 0.5), units=("um", "um"))
    widget.unit.value, widget.cutoff.value = unit, text
    task = widget._described()
    wanted = H.lowpass(radius, shape="gaussian").gain(10, 12)
    made = task.transfer.with_pixel_size(task.options["pixel_size"])
    np.testing.assert_allclose(made.gain(10, 12), wanted, rtol=1e-12)


def test_a_layer_with_a_scale_but_no_unit_has_cutoffs_in_the_scale_and_one_of_long_pixels_has_not(open_widget, image):
    viewer, widget = open_widget()
    viewer.add_image(image, scale=(0.5, 0.5))
    widget.unit.value, widget.cutoff.value = "scale", "2"
    assert str(widget._described().transfer) == "lowpass, gaussian, radius 4px"
    widget.layer.choices = [viewer.add_image(image, scale=(0.5, 0.25))]
    assert str(widget._described().transfer) == "lowpass, gaussian, radius 2px"
    assert widget.unit.choices == ("px",)
    widget.layer.choices = [viewer.add_image(image, scale=(0.5, -0.5), units=("um", "um"))]  # it is flipped
    assert widget._described().options["pixel_size"] == pytest.approx(0.5e-6)
    widget.layer.choices = [viewer.add_image(image, scale=(0.25, 0.5), units=("um", "um"))]
    assert widget._described().options["pixel_size"] == pytest.approx((0.5e-6, 0.25e-6))  # its width, its height


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("cutoff", "soft", "cutoff 'soft' is not a number"),
        ("cutoff", "", "cutoff '' is not a number"),
        ("cutoff", "-3", "cutoff '-3' must be finite and greater than zero"),
        ("cutoff", "3 apples", "cutoff '3 apples' has an unknown unit 'apples'"),
        ("other", "8", "cutoffs 8px and 8px are the same"),
    ],
)
def test_a_wrong_cutoff_is_a_line_in_the_widget(open_widget, image, name, value, line):
    viewer, widget = open_widget()
    viewer.add_image(image)
    widget.kind.value = "bandpass"
    widget[name].value = value
    assert widget.line.value.startswith(line)
    press(widget)
    assert widget._worker is None
    widget.cutoff.value, widget.other.value = "3", "6"
    assert widget.line.value == ""


def test_what_only_the_filter_can_tell_is_a_line_too(open_widget, finished, image):
    viewer, widget = open_widget()
    viewer.add_image(image)
    widget.cutoff.value = "4um"
    press(widget)
    finished(widget)
    assert widget.line.value.startswith("4um needs the size of a pixel")
    widget.cutoff.value, widget.waves.value = "4", True
    press(widget)
    finished(widget)
    assert widget.line.value.startswith("12 x 10 pixels are too few to look for periodic structures")
    assert len(viewer.layers) == 1


def test_an_empty_viewer_and_layers_that_are_no_images_are_a_line(open_widget, stack):
    viewer, widget = open_widget()
    viewer.add_labels(stack.astype(int))
    widget.live.value = True
    press(widget)
    assert widget.layer.choices == ()
    assert widget.line.value == "there is no image layer: open an image"


def test_the_preview_follows_the_controls_and_the_visible_plane_and_goes_away(open_widget, finished, stack):
    viewer, widget = open_widget()
    viewer.add_image(stack, scale=(2, 1, 1))
    widget.live.value = True
    viewer.dims.set_current_step(0, 2)
    finished(widget)
    _, preview = viewer.layers
    np.testing.assert_array_equal(preview.data, fftfilter.lowpass(stack[2:], "8px", **(COMMAND | OPTIONS)))
    np.testing.assert_array_equal(preview.translate, (4, 0, 0))
    widget.cutoff.value = "3"
    finished(widget)
    assert viewer.layers[1] is preview
    np.testing.assert_array_equal(preview.data, fftfilter.lowpass(stack[2:], "3px", **(COMMAND | OPTIONS)))
    assert len(widget.layer.choices) == 1
    for _ in range(2):
        widget.live.value = False
        assert preview not in viewer.layers
        widget.live.value = True
        finished(widget)
        preview = viewer.layers[1]


def test_the_preview_changes_over_to_a_layer_of_another_kind(open_widget, finished, stack, rng):
    viewer, widget = open_widget()
    viewer.add_image(stack)
    colors = viewer.add_image(rng.integers(0, 256, (10, 12, 3), dtype=np.uint8), rgb=True)
    widget.live.value = True
    finished(widget)
    widget.layer.value = colors
    finished(widget)
    assert [layer.rgb for layer in viewer.layers] == [False, True, True]
    viewer.layers.remove(colors)
    finished(widget)
    assert [layer.rgb for layer in viewer.layers] == [False, False]


@pytest.mark.parametrize("channels", [3, 4])
def test_the_channels_of_rgb_have_one_scale_and_alpha_stays(open_widget, finished, rng, channels):
    viewer, widget = open_widget()
    image = rng.integers(0, 256, (2, 10, 12, channels), dtype=np.uint8)
    viewer.add_image(image, rgb=True)
    widget.kind.value, widget.output.value = "highpass", "magnitude"
    press(widget)
    finished(widget)
    new = viewer.layers[-1]
    assert new.rgb
    for got, given in zip(new.data, image, strict=True):
        wanted = fftfilter.highpass(
            given[..., :3], "8px", shape="gaussian", edges="mirror", channel_axis=-1, output="magnitude"
        )
        np.testing.assert_array_equal(got[..., :3], wanted)
        np.testing.assert_array_equal(got[..., 3:], given[..., 3:])
    widget.output.value = "real"
    press(widget)
    finished(widget)
    assert widget.line.value.startswith("RGB of uint8 has no such output")
    assert len(viewer.layers) == 2


def test_alpha_gets_the_type_of_the_colors(open_widget, finished, rng):
    viewer, widget = open_widget()
    image = rng.random((10, 12, 4))
    viewer.add_image(image, rgb=True)
    press(widget)
    finished(widget)
    new = viewer.layers[-1].data
    assert new.dtype == np.float64
    np.testing.assert_array_equal(new[..., 3], image[..., 3])


@pytest.mark.parametrize(
    ("dtype", "becomes"), [("uint16", "uint16"), ("int16", "int16"), ("float64", "float64"), ("bool", "uint8")]
)
@pytest.mark.parametrize("output", ["keep", "signed", "real"])
def test_layers_of_all_types_are_filtered(open_widget, finished, stack, dtype, becomes, output):
    viewer, widget = open_widget()
    data = (stack // 99).astype(dtype)
    viewer.add_image(data)
    widget.output.value = output
    press(widget)
    finished(widget)
    assert dtype != "bool" or viewer.layers[-1].contrast_limits != [0, 1]  # which 255 would exceed
    new = viewer.layers[-1].data
    assert new.dtype == ("float32" if output == "real" and dtype != "float64" else becomes)
    np.testing.assert_array_equal(new, fftfilter.lowpass(data, "8px", **(COMMAND | ({**OPTIONS, "output": output}))))


@pytest.mark.parametrize("colors", [(), (3,)])
def test_dask_is_filtered_lazily(open_widget, finished, rng, held, colors):
    viewer, widget = open_widget()
    data = rng.integers(0, 256, (5, 2, 10, 12, *colors), dtype=np.uint8)
    viewer.add_image(da.from_array(data, chunks=(2, 1, 5, 12, *colors)), rgb=bool(colors))
    held[0].set()
    press(widget)
    finished(widget)
    new = viewer.layers[-1].data
    assert isinstance(new, da.Array)
    assert new.chunks[:4] == ((2, 2, 1), (1, 1), (10,), (12,))
    wanted = [
        fftfilter.lowpass(each, "8px", channel_axis=-1 if colors else None, **(COMMAND | OPTIONS))
        for each in data.reshape(-1, *data.shape[2:])
    ]
    np.testing.assert_array_equal(new.compute().reshape(np.shape(wanted)), wanted)


def test_the_waves_of_the_visible_plane_are_removed_from_all_planes(open_widget, finished, rng):
    viewer, widget = open_widget()
    wave = 30 * np.sin(2 * np.pi * (0.125 * np.arange(64) + 0.25 * np.arange(64)[:, None]))
    clean = rng.normal(128, 4, (2, 64, 64))
    viewer.add_image(np.rint(clean + wave).astype(np.uint8))
    widget.kind.value, widget.waves.value = "none", True
    press(widget)
    finished(widget)
    assert widget.line.value.startswith("removed 3.58 px at 26.")
    assert np.abs(viewer.layers[-1].data - clean).mean() < 3 < np.abs(wave).mean()


def test_a_finer_level_of_a_pyramid_is_filtered(open_widget, finished, image):
    viewer, widget = open_widget()
    viewer.add_image([image, image[::2, ::2]], multiscale=True)
    press(widget)
    finished(widget)
    np.testing.assert_array_equal(viewer.layers[-1].data, fftfilter.lowpass(image, "8px", **(COMMAND | OPTIONS)))


def test_cancel_leaves_no_layer(open_widget, finished, held, stack):
    viewer, widget = open_widget()
    viewer.add_image(stack)
    press(widget)
    assert held[1].wait(60)
    assert widget.run.text == "Cancel"
    press(widget)
    held[0].set()
    finished(widget)
    assert (len(viewer.layers), widget.line.value, widget.run.text) == (1, "canceled", "Apply")


def test_a_layer_that_is_removed_while_it_is_filtered_is_no_error(open_widget, finished, held, stack):
    viewer, widget = open_widget()
    layer = viewer.add_image(stack)
    widget.live.value = True
    press(widget)
    assert held[1].wait(60)
    viewer.layers.remove(layer)
    held[0].set()
    finished(widget)
    assert widget.line.value == "there is no image layer: open an image"
    assert viewer.layers == []


def test_the_preview_goes_with_the_last_layer(open_widget, finished, stack):
    viewer, widget = open_widget()
    layer = viewer.add_image(stack)
    widget.live.value = True
    finished(widget)
    viewer.layers.remove(layer)
    assert viewer.layers == []
    assert widget.line.value == "there is no image layer: open an image"


def test_the_progress_is_not_told_for_each_of_very_many_planes(open_widget, finished, rng, monkeypatch):
    viewer, widget = open_widget()
    viewer.add_image(rng.integers(0, 256, (500, 4, 4), dtype=np.uint8))
    told, update = [], progress.update
    monkeypatch.setattr(progress, "update", lambda bar, n: told.append(n) or update(bar, n))
    press(widget)
    assert QThreadPool.globalInstance().waitForDone(60_000)  # while the window is busy: each would wait within the last
    finished(widget)
    assert 1 <= len(told) < 50
    assert [layer.data.shape for layer in viewer.layers] == [(500, 4, 4)] * 2


def test_a_viewer_that_is_closed_while_a_layer_is_filtered_is_no_error(open_widget, qtbot, held, stack):
    viewer, widget = open_widget()
    viewer.add_image(stack)
    press(widget)
    assert held[1].wait(60)
    worker = widget._worker
    viewer.close()
    with qtbot.waitSignal(worker.finished, timeout=60_000):
        held[0].set()
    qtbot.wait(50)


def test_a_preview_that_is_removed_by_hand_comes_back_with_the_next_change(open_widget, finished, stack):
    viewer, widget = open_widget()
    viewer.add_image(stack)
    widget.live.value = True
    finished(widget)
    viewer.layers.pop()
    finished(widget)
    assert len(viewer.layers) == 1
    widget.cutoff.value = "3"
    finished(widget)
    assert len(viewer.layers) == 2


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("stripes", lambda image: fftfilter.stripes(image, "0")),
        ("wiener", fftfilter.wiener),
        ("descreen", fftfilter.descreen),
    ],
)
def test_filters_that_find_their_gains_filter_each_plane(open_widget, finished, rng, kind, made):
    viewer, widget = open_widget()
    rows = 20 * rng.standard_normal((2, 64, 1))
    stack = np.clip(128 + rows + 5 * rng.standard_normal((2, 64, 96)), 0, 255).astype(np.uint8)
    viewer.add_image(stack)
    widget.kind.value, widget.angle.value = kind, "0"
    press(widget)
    finished(widget)
    np.testing.assert_array_equal(viewer.layers[-1].data, [made(plane) for plane in stack])


def test_a_click_in_the_spectrum_sets_a_notch_at_the_strongest_wave_and_a_second_one_takes_it_away(
    open_widget, finished, rng
):
    viewer, widget = open_widget()
    wave = 30 * np.sin(2 * np.pi * (0.125 * np.arange(96) + 0.25 * np.arange(64)[:, None]))
    image = np.rint(rng.normal(128, 4, (64, 96)) + wave).astype(np.uint8)
    viewer.add_image(image)
    widget.kind.value = "none"
    widget.spectrum.native.click()
    assert widget._spectrum.world_to_data((0, 0)) == pytest.approx((512, 512))  # DC is in the middle
    widget._notches.add([(0.253, 0.128)])
    np.testing.assert_allclose(widget._notches.data, [(0.25, 0.125)])
    press(widget)
    finished(widget)
    np.testing.assert_array_equal(viewer.layers[-1].data, fftfilter.notch(image, (0.125, 0.25)))
    widget._notches.add([(-0.252, -0.127)])  # that of its conjugate
    assert len(widget._notches.data) == 0


def test_a_mask_is_the_visible_plane_of_labels_or_all_shapes(open_widget, finished, stack):
    viewer, widget = open_widget()
    viewer.add_image(stack, scale=(1, 0.5, 0.5))
    masks = np.zeros((3, 10, 12), int)
    masks[2, 2:6, 3:9] = 1
    labels = viewer.add_labels(masks, scale=(1, 0.5, 0.5))
    # In another scale: rows 2 to 6, columns 3 to 9.
    box = viewer.add_shapes([np.array([(1, 1.5), (1, 4.5), (3, 4.5), (3, 1.5)])], shape_type="rectangle")
    viewer.dims.set_current_step(0, 2)
    for mask, use, option in ((labels, "filter inside", "region"), (labels, "filter outside", "protect")):
        widget.mask.value, widget.mask_use.value = mask, use
        press(widget)
        finished(widget)
        wanted = fftfilter.lowpass(stack, "8px", **(COMMAND | OPTIONS), **{option: masks[2]})
        np.testing.assert_array_equal(viewer.layers[-1].data, wanted)
    widget.mask.value = box
    made = widget._described().options["protect"].pixels(10, 12)
    assert made[3:5, 4:8].all()
    assert not made[[0, 9]].any()
    labels.data[2] = 0
    widget.mask.value = labels
    press(widget)
    finished(widget)
    assert widget.line.value == "the mask masks is empty: paint labels, or draw shapes"


def test_a_volume_is_filtered_as_one_with_the_sizes_of_its_voxels(open_widget, finished, rng):
    viewer, widget = open_widget()
    volume = rng.normal(100, 20, (2, 8, 16, 20)).astype(np.float32)
    viewer.add_image(volume, scale=(1, 0.3, 0.1, 0.1), units=("um",) * 4)
    widget.volume.value, widget.cutoff.value = True, "1"
    widget.unit.value = "\N{MICRO SIGN}m"
    press(widget)
    finished(widget)
    sizes = ("0.3um", "0.1um", "0.1um")
    wanted = [fftfilter.lowpass(each, "1um", shape="gaussian", axes=3, pixel_size=sizes) for each in volume]
    np.testing.assert_array_equal(viewer.layers[-1].data, wanted)
    widget.live.value = True
    finished(widget)
    np.testing.assert_array_equal(viewer.layers[-1].data, [wanted[0]])


def test_the_active_layer_is_chosen_and_a_slider_sets_its_cutoff(image, stack, make_napari_viewer):
    viewer = make_napari_viewer()
    viewer.add_image(image, name="first")
    active = viewer.add_image(stack, name="active")
    viewer.add_image(stack, name="last")
    viewer.layers.selection.active = active
    _, widget = viewer.window.add_plugin_dock_widget("fftfilter-opencl", "Frequency filter")
    assert widget.layer.value is active
    for place, period in ((0, "2"), (200, "12")):
        widget.cutoff_slider.value = place
        assert widget.cutoff.value == period
    widget.cutoff.value = "4.9"
    assert widget.cutoff_slider.value == pytest.approx(100, abs=1)


def test_a_preview_says_at_once_that_it_is_filtered(open_widget, finished, held, image):
    viewer, widget = open_widget()
    viewer.add_image(image)
    widget.live.value = True
    assert widget.line.value == "filtering ..."
    held[0].set()
    finished(widget)
    assert widget.line.value == ""
    assert viewer.layers[-1].blending == "opaque"
