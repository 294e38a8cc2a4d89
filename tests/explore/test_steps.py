"""The book's pipeline, step by step."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
from PIL import Image

from tests.explore.conftest import request_for
from tests.helpers import SAMPLES


def picture_of(step):
    kind, data = step["picture"].split(",")
    assert kind == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_every_step_has_its_kernel_its_time_and_its_picture(visit, run, tmp_path):
    async def learn(page):
        status, told = await page.get("steps", params={"request": json.dumps(request_for("highpass"))})
        assert status == 200
        return told

    told = visit(learn, SAMPLES / "camera.pgm")
    # They are those that --save-stages writes.
    run(["highpass", str(SAMPLES / "camera.pgm"), str(tmp_path / "out.png"), "--save-stages", str(tmp_path / "stages")])
    saved = sorted((tmp_path / "stages").iterdir())
    assert [path.stem.partition("-")[2] for path in saved] == [step["name"] for step in told["steps"]]
    for path, step in zip(saved, told["steps"], strict=True):
        assert (np.asarray(Image.open(path)) == np.asarray(picture_of(step))).all()
    rows = told["steps"][1]
    assert rows["name"] == "rows"
    assert all("kernel void" in each["source"] for each in rows["kernels"])
    assert {(each["kernel"], each["launches"]) for each in rows["kernels"]} == {
        ("staged/steps/bit_reversal.cl", 1),
        ("staged/steps/butterfly.cl", 9),
    }
    assert told["level"] == 1
    (load,) = told["steps"][0]["kernels"]  # of this run alone
    assert (load["kernel"], load["launches"]) == ("staged/steps/load.cl", 1)
    assert all(each["source"] for step in told["steps"] for each in step["kernels"])
    assert 0 < sum(step["seconds"] for step in told["steps"]) < 60


def test_a_large_picture_is_reduced_for_its_steps(visit, tmp_path, camera, monkeypatch):
    monkeypatch.setattr("fftfilter.explore.request.MOST_PIXELS", 128 * 128)
    monkeypatch.setattr("fftfilter.explore.request.SIDE", 100)
    Image.fromarray(camera[:256, :256]).save(tmp_path / "in.png")

    async def learn(page):
        _, told = await page.get("steps", params={"request": json.dumps(request_for("highpass"))})
        return told["level"], picture_of(told["steps"][0]).size

    assert visit(learn, tmp_path / "in.png") == (2, (100, 100))
