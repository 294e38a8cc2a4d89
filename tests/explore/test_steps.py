"""The book's pipeline, step by step."""

from __future__ import annotations

import io
import json

import numpy as np
from PIL import Image

from tests.explore.conftest import request_for
from tests.helpers import SAMPLES


def test_every_step_has_its_kernel_its_time_and_its_picture(visit, run, tmp_path):
    async def learn(page):
        status, told = await page.get("steps", params={"request": json.dumps(request_for("highpass"))})
        assert status == 200
        assert (await page.get(f"{told['steps'][0]['picture']}?run={told['run'] + 1}"))[0] == 404  # another tab's
        return told, [(await page.get(step["picture"]))[1] for step in told["steps"]]

    told, pictures = visit(learn, SAMPLES / "camera.pgm")
    # They are those that --save-stages writes.
    run(["highpass", str(SAMPLES / "camera.pgm"), str(tmp_path / "out.png"), "--save-stages", str(tmp_path / "stages")])
    saved = sorted((tmp_path / "stages").iterdir())
    assert [path.stem.partition("-")[2] for path in saved] == [step["name"] for step in told["steps"]]
    for path, picture in zip(saved, pictures, strict=True):
        assert (np.asarray(Image.open(path)) == np.asarray(Image.open(io.BytesIO(picture)))).all()
    rows = told["steps"][1]
    assert rows["name"] == "rows"
    assert all("kernel void" in each["source"] for each in rows["kernels"])
    assert {(each["kernel"], each["launches"]) for each in rows["kernels"]} == {
        ("staged/steps/bit_reversal.cl", 1),
        ("staged/steps/butterfly.cl", 9),
    }
    assert 0 < sum(step["seconds"] for step in told["steps"]) < 60


def test_a_large_picture_is_reduced_for_its_steps(visit, tmp_path, camera, monkeypatch):
    monkeypatch.setattr("fftfilter.explore.questions.MOST_PIXELS", 128 * 128)
    Image.fromarray(camera[:256, :256]).save(tmp_path / "in.png")

    async def learn(page):
        _, told = await page.get("steps", params={"request": json.dumps(request_for("highpass"))})
        return told["level"], (await page.get(told["steps"][0]["picture"]))[1]

    level, picture = visit(learn, tmp_path / "in.png")
    assert (level, Image.open(io.BytesIO(picture)).size) == (2, (128, 128))
