"""OpenCL's devices: what each says of itself, and how much memory it has."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pyopencl as cl
import pytest

from fftfilter.device import opencl
from fftfilter.device.opencl import Device
from fftfilter.errors import ParameterError, TooLargeError
from tests.helpers import needs_pocl_wheel

GPU = cl.device_type.GPU


def fake(platform, kind):
    return SimpleNamespace(platform=SimpleNamespace(name=platform), type=kind)


def test_what_a_device_says_of_itself():
    raw = fake("  A platform ", GPU)
    raw.name, raw.double_fp_config, raw.max_work_group_size, raw.max_work_item_sizes = " A card\n", 0, 256, [128, 64, 1]
    card = Device(3, raw)
    assert (card.name, card.platform, card.is_gpu, card.fp64) == ("A card", "A platform", True, False)
    assert card.work_group_limit == 128
    card.check_work_group_size(128)
    said = r"work-group size 129 is not possible on A card: give 1 to 128 \(work-group size 256, work-item sizes 128 64"
    with pytest.raises(ParameterError, match=said):
        card.check_work_group_size(129)
    raw.max_work_group_size, raw.double_fp_config = 32, 63
    card = Device(3, raw)
    assert (card.work_group_limit, card.fp64) == (32, True)


def test_buffers_may_fill_a_device_and_take_no_byte_more(monkeypatch):
    raw = fake("A platform", GPU)
    raw.name, raw.max_mem_alloc_size, raw.global_mem_size = "A card", 1000, 1500
    # A card's memory is its own: that of the machine does not count.
    monkeypatch.setattr(opencl, "lacking", lambda _: 1)
    card = Device(0, raw)
    card.check_memory("it", [500, 1000])
    with pytest.raises(TooLargeError, match=r"^it needs 1,501 bytes in all and A card has 1,500: take a smaller image"):
        card.check_memory("it", [501, 1000])
    with pytest.raises(TooLargeError, match=r"^it needs 1,001 bytes in one buffer and A card has 1,000: "):
        card.check_memory("it", [1001, 1])


def test_a_platform_that_has_no_devices_leaves_those_of_the_others(monkeypatch):
    """As a driver does whose card was taken out: asked for its devices, it fails."""

    def failing():
        raise cl.RuntimeError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")

    empty = SimpleNamespace(get_devices=failing)
    one, two, more = (type("Stand-in", (), {"name": name})() for name in ("a device", "two", "more"))
    own, other = (SimpleNamespace(get_devices=lambda found=found: found) for found in ([one], [two, more]))
    monkeypatch.setattr(opencl.embedded_pocl, "repair", {two: "repaired"}.get)
    monkeypatch.setattr(cl, "get_platforms", lambda: [empty, own, empty, other])
    found = [(each.index, each.cl_device.name, each.repaired) for each in opencl.devices.__wrapped__()]
    assert found == [(0, "a device", None), (1, "two", "repaired"), (2, "more", None)]


SMALL_IMAGES = """
import hashlib, numpy as np, fftfilter
from fftfilter.device.opencl import devices
found, rng = hashlib.sha256(), np.random.default_rng(5)
for shape in ((64, 64), (1, 7), (128, 128), (2, 60, 90), (129, 131)):
    image = (rng.random(shape) * 250).astype("u1")
    for options in ({}, {"edges": "wrap", "output": "magnitude"}):
        found.update(fftfilter.highpass(image, 5, shape="gaussian", **options).tobytes())
found.update(fftfilter.highpass(image.astype("f4"), 5, output="signed", scale="auto").tobytes())
print(found.hexdigest(), *((each.name[:6], each.in_caller and each.in_caller.name[:6]) for each in devices()))
"""


@needs_pocl_wheel
def test_small_images_are_filtered_in_the_thread_that_calls_to_the_same_bytes(tmp_path):
    def run(**asked):
        environment = {name: value for name, value in os.environ.items() if name != "POCL_DEVICES"} | asked
        done = subprocess.run([sys.executable, "-c", SMALL_IMAGES], env=environment, capture_output=True, check=True)
        return done.stdout.decode().split(maxsplit=1)

    by_default, threaded, alone = run(), run(POCL_DEVICES="pthread"), run(POCL_DEVICES="basic")
    assert by_default[0] == threaded[0] == alone[0]
    assert "('pthrea', 'basic-')" in by_default[1]
    assert "('pthrea', None)" in threaded[1]
    assert "('basic-', None)" in alone[1]
    (tmp_path / "pocl.icd").touch()  # another PoCL, whose devices are left as they are
    assert "('pthrea', None)" in run(OCL_ICD_VENDORS=str(tmp_path))[1]
