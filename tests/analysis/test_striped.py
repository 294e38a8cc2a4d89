"""Whether a picture has stripes, and along which angles."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis import striped
from fftfilter.analysis.power import spectrum
from fftfilter.analysis.striped import angles_of_stripes, dead_lines, searched
from fftfilter.errors import ParameterError
from fftfilter.transfer.ridges import DeadLines

SIZE = HEIGHT, WIDTH = 192, 256
Y, X = np.mgrid[:HEIGHT, :WIDTH]


def scene(rng, count=12):
    """Return a picture with edges and some noise."""
    places = rng.uniform(0.05, 0.95, (count, 3)) * (WIDTH, HEIGHT, 50)
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


def with_dead_rows(rng, picture, dead=(50, 51, 121), noisy=(20, 90)):
    """Return a picture with rows of one level, and rows with noise of their own."""
    made = picture.copy()
    made[[*dead]] = 150
    made[[*noisy]] += rng.normal(0, 25, (len(noisy), picture.shape[1]))
    return made


@pytest.mark.parametrize("factor", [1.0, 1e-12])
@pytest.mark.parametrize(("angle", "lines_are"), [("auto", "rows"), (0, "rows"), (90, "columns")])
def test_dead_and_noisy_lines_become_what_is_beside_them(rng, angle, lines_are, factor):
    truth = scene(rng, 40)
    faulty = with_dead_rows(rng, truth)
    turn = np.transpose if lines_are == "columns" else np.asarray
    with Filter(H.stripes(angle), output="keep", edges="mirror") as f:
        made = turn(f(turn(faulty) * factor, white=255 * factor)) * 255
        assert f.notes() == [f"5 dead or noisy {lines_are}"]
    repaired = [20, 50, 51, 90, 121]
    assert np.abs(np.delete(made - faulty, repaired, axis=0)).max() < 1e-3
    assert np.sqrt(np.square(made - truth)[repaired].mean()) < 4 < np.sqrt(np.square(faulty - truth)[repaired].mean())


def test_rows_that_are_dead_in_all_colors_are_counted_once(rng):
    color = np.stack([scene(rng, 40) for _ in range(3)], axis=2)
    color[[50, 51, 121]] = 150
    with Filter(H.stripes("auto"), output="keep", edges="mirror") as f:
        f(color, channel_axis=-1, white=255)
        assert f.notes() == ["3 dead or noisy rows"]
        color[[70, 77, 130], :, 1] = 100
        f(color, channel_axis=-1, white=255)
        assert f.notes()[0].startswith("3 dead or noisy rows in channel 0, 6 dead or noisy rows in channel 1, 3 ")


def test_lines_and_dead_lines_are_taken_out_together(rng):
    truth = scene(rng, 40)
    faulty = with_dead_rows(rng, truth + rng.normal(0, 4, (HEIGHT, 1)))
    with Filter(H.stripes("auto"), output="keep", edges="mirror") as f:
        made = f(faulty, white=255) * 255
        assert f.notes()[0].startswith("5 dead or noisy rows, lines at 0 degrees, offsets of ")
    assert np.abs(made - truth).mean() < 2 < np.abs(faulty - truth).mean()


def test_a_part_of_dead_lines_stays_with_depth(rng):
    faulty = with_dead_rows(rng, scene(rng, 40))
    half, whole = (
        Filter(H.stripes("auto").with_depth(depth), output="keep", edges="mirror")(faulty, white=255) * 255
        for depth in (20 * np.log10(2), 300)
    )
    np.testing.assert_allclose(half, (faulty + whole) / 2, atol=1e-3)


def test_pages_have_dead_rows_in_common(rng):
    pages = np.stack([scene(rng, 40) for _ in range(4)])
    faulty = np.stack([with_dead_rows(rng, page, noisy=()) for page in pages])
    with Filter(H.stripes("auto", fixed_pattern="pages"), output="keep", edges="mirror") as f:
        made = f(faulty, white=255) * 255
        assert f.notes()[0] == "3 dead or noisy rows"
    assert np.abs(made - pages)[:, [50, 51, 121]].mean() < 4


@pytest.mark.parametrize("level", [1, 2, 3.5])
def test_a_reduced_picture_has_its_dead_rows_where_they_are_there(level):
    part = DeadLines(0.0, ((50, 52), (120, 121)), HEIGHT)
    small = part.reduced(level, HEIGHT, WIDTH)
    assert small.runs == tuple((start // int(level), (stop - 1) // int(level) + 1) for start, stop in part.runs)
    assert part.reduced(level, HEIGHT + 1, WIDTH) is None
    with pytest.raises(ParameterError, match="are of 192 pixels across, and the picture has 100"):
        part.take_out_of(np.zeros((100, 100)), 0.0)


@pytest.mark.parametrize(
    "content",
    [
        scene,
        lambda rng: 128 + rng.normal(0, 20, SIZE),
        lambda _: np.full(SIZE, 7.0),
        lambda rng: np.concatenate([scene(rng)[:90], np.full((3, WIDTH), 255.0), scene(rng)[:90]]),  # two pictures
        lambda rng: np.where((Y % 24 < 2) | (X % 32 < 2), 20.0, scene(rng)),  # a grid
        lambda rng: scene(rng, 40) * ~((Y == 90) & (abs(X - 128) < 100) & (X % 6 < 2)),  # a dotted line with margins
        lambda rng: scene(rng) + 70.0 * ((Y % 24 < 13) & (X % 20 < 9)),  # windows
        lambda rng: 250 - 200 * ((Y == 90) & (abs(X - 128) < 120) & (X % 6 < 2)) + rng.normal(0, 2, SIZE),  # to fill in
        lambda rng: scene(rng, 40) * (abs(Y - 96) < 80),  # a letterbox
        lambda rng: scene(rng, 40) + 30.0 * (Y == 90),  # a line that follows the picture
        lambda rng: scene(rng, 40) * np.where(Y == 90, 1.3, 1),
        lambda rng: np.where((Y % 40 < 3) | ((X + 20 * (Y // 40 % 2)) % 40 < 3), 90.0, 150) + rng.normal(0, 3, SIZE),
    ],
    ids=[
        "disks",
        "noise",
        "flat",
        "collage",
        "grid",
        "dots",
        "facade",
        "form",
        "letterbox",
        "offset",
        "gain",
        "bricks",
    ],
)
def test_what_belongs_to_a_picture_is_no_dead_line(rng, content):
    picture = content(rng)
    assert dead_lines(picture) == []
    assert dead_lines(np.ascontiguousarray(picture.T)) == []


def test_missing_pixels_are_no_dead_line(rng):
    faulty = with_dead_rows(rng, scene(rng, 40))
    faulty[60:63] = np.nan
    faulty[100, 30:90] = np.nan
    assert dead_lines(faulty) == [(20, 21), (50, 52), (90, 91), (121, 122)]
