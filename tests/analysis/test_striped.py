"""Whether a picture has stripes, and along which angles."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis import striped
from fftfilter.analysis.power import spectrum
from fftfilter.analysis.striped import angles_of_stripes, searched

SIZE = HEIGHT, WIDTH = 192, 256
Y, X = np.mgrid[:HEIGHT, :WIDTH]


def scene(rng):
    """Return a picture with edges and some noise."""
    places = rng.uniform(0.05, 0.95, (12, 3)) * (WIDTH, HEIGHT, 50)
    disks = [np.hypot(X - x, Y - y) < r for x, y, r in places]
    return 60 + 11 * np.sum(disks, axis=0) + rng.normal(0, 2, SIZE)


def lines(rng, angle, strength=6.0):
    turn = np.radians(angle)
    across = X * np.sin(turn) + Y * np.cos(turn)
    return np.interp(across, np.arange(-300, 500), rng.normal(0, strength, 800))


def found(picture):
    return angles_of_stripes(*searched(np.asarray(picture)[None], 255), 1.0)[0]


@pytest.mark.parametrize("angle", [0, 90, 30, 97.5, 161])
def test_stripes_of_any_angle_are_found(rng, angle):
    (one,) = found(scene(rng) + lines(rng, angle))
    assert abs((one - angle + 90) % 180 - 90) < 0.5
    assert angle % 90 or one == angle


def test_stripes_of_two_angles_are_found(rng):
    assert sorted(found(scene(rng) + lines(rng, 0) + lines(rng, 90))) == [0, 90]


@pytest.mark.parametrize(
    "content",
    [
        scene,
        lambda rng: 128 + rng.normal(0, 20, SIZE),
        lambda _: np.full(SIZE, 7.0),
        lambda rng: scene(rng) - 90.0 * (Y % 16 < 2),
        lambda rng: scene(rng) + 70.0 * ((Y % 24 < 13) & (X % 20 < 9)),
        lambda rng: 100 + 40 * np.sin(X / 3) + rng.normal(0, 2, SIZE),
        lambda rng: scene(rng) + 90.0 * (X + 0.1 * Y > 140),
        lambda rng: (scene(rng) + lines(rng, 0))[:50],
    ],
    ids=["disks", "noise", "flat", "ruled paper", "facade", "wave", "edge", "too small"],
)
def test_what_is_not_striped_has_no_angle(rng, content):
    assert found(content(rng)) == []


@pytest.mark.parametrize("factor", [1e-30, 1.0, 1e30])
def test_stripes_are_found_in_floats_of_any_range(rng, factor):
    striped = (scene(rng) + lines(rng, 90)) * factor
    with Filter(H.stripes("auto"), output="keep", edges="mirror") as f:
        made = f(striped.astype(np.float32), white=255 * factor)
        assert f.notes()[0].startswith("lines at 90 degrees, offsets of ")
    assert np.ptp(np.diff(made.mean(axis=0))) < np.ptp(np.diff(striped.mean(axis=0))) / (255 * factor) / 2


def test_floats_without_stripes_stay_as_they_are(rng):
    clean = scene(rng).astype(np.float32)
    with Filter(H.stripes("auto"), output="keep", edges="mirror") as f:
        assert (f(clean) == clean).all()
        assert f.notes()[0].startswith("no stripes are found: if there are faint ones, try --angle 0")
        f((clean + 90 * (X > 140)).astype(np.float32))
        (note,) = f.notes()
    assert note.startswith("no stripes are found: lines at 90 degrees look like a part of the picture")


def test_stripes_that_may_come_from_rounding_are_none(rng):
    profile = lines(rng, 90, 1.0)
    assert found(128 + profile) == [90]
    assert found(128 + profile / 30) == []
    assert angles_of_stripes(*searched((128 + profile[None] / 30) / 255, 1), 1 / 255) == ([], [90])
    assert angles_of_stripes(*searched((128 + profile[None] / 30) / 255, 1), 0.0) == ([90], [])  # without gray levels


def test_the_middle_of_a_large_picture_is_searched(rng, monkeypatch):
    sizes = []
    monkeypatch.setattr(striped, "MOST", 128)
    monkeypatch.setattr(
        striped, "spectrum", lambda planes, white: sizes.append(planes.shape) or spectrum(planes, white)
    )
    inside = abs(X - WIDTH / 2) < 64
    assert found(scene(rng) + lines(rng, 0) * ~inside) == []
    assert found(scene(rng) + lines(rng, 0) * inside) == [0]
    assert sizes == [(1, 128, 128)] * 2


@pytest.mark.parametrize(("angle", "beside"), [(90, 95), (90, 85), (30, 35), (30, 25)])
def test_a_ridge_that_is_wide_on_one_side_is_that_of_bent_edges(rng, angle, beside):
    picture = scene(rng) + lines(rng, angle) + 0.9 * lines(rng, beside)
    faults, content = angles_of_stripes(*searched(picture[None], 255), 1.0)
    assert (faults, len(content)) == ([], 1)
    assert abs(content[0] - angle) < 1
