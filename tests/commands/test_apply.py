"""Recipes on the command line: saved beside a filter, applied to files, folders and stacks, embedded in outputs."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from tests.folders.helpers import pgm, same

FILTER = ("lowpass", "--radius", "4px", "--output", "keep", "--edges", "mirror", "--stripes", "33")


@pytest.fixture
def recipe(run, tmp_path, monkeypatch):
    """Save a recipe beside a filter of in.pgm into out.png, in the current folder."""
    monkeypatch.chdir(tmp_path)
    pgm(tmp_path / "in.pgm")
    assert run(*FILTER, "--save-recipe", "recipe.json", "in.pgm", "out.png") == (0, b"", "")
    return tmp_path / "recipe.json"


@pytest.fixture
def stack(tmp_path):
    """Write a stack of three pages."""
    pages = [Image.fromarray(np.random.default_rng(i).integers(0, 256, (8, 12), np.uint8)) for i in range(3)]
    pages[0].save(tmp_path / "in.tif", save_all=True, append_images=pages[1:])
    return tmp_path / "in.tif"


def test_a_recipe_makes_the_same_file(run, recipe, tmp_path):
    assert json.loads(recipe.read_text()) == {
        "fftfilter_recipe": 1,
        "transfer": [
            {"kind": "lowpass", "radius": "4px"},
            {"kind": "stripes", "angle": 33.0},
        ],
        "output": "keep",
        "edges": "mirror",
    }
    assert run("apply", recipe, "in.pgm", "again.png") == (0, b"", "")
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "out.png").read_bytes()
    code, out, _ = run("apply", "--verify", recipe, "in.pgm", "again.png")
    assert (code, out.startswith(b"again.png: ")) == (0, True)


def test_a_recipe_filters_folders_stacks_and_streams(run, recipe, stack, tmp_path):
    for i in range(3):
        pgm(tmp_path / f"in/{i}.pgm", seed=i)
    assert run(*FILTER, "-q", "in", "out")[0] == 0
    assert run("apply", "-q", recipe, "in", "again")[0] == 0
    same(tmp_path / "out", tmp_path / "again")
    assert run("apply", "--skip-existing", recipe, "in", "again")[2].endswith("3 skipped, done before\n")
    assert run(*FILTER, stack, "out.tif")[0] == run("apply", recipe, stack, "again.tif")[0] == 0
    assert (tmp_path / "out.tif").read_bytes() == (tmp_path / "again.tif").read_bytes()
    program = [sys.executable, "-m", "fftfilter", "apply"]
    piped = subprocess.run(
        [*program, recipe, "-", "-"], input=(tmp_path / "in.pgm").read_bytes(), stdout=-1, check=True
    )
    assert piped.stdout[:2] == b"P5"
    subprocess.run([*program, "-", "in.pgm", "again.png"], input=recipe.read_bytes(), check=True)
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "out.png").read_bytes()


def test_given_options_go_before_the_recipes(run, recipe, stack, tmp_path):
    assert run("apply", "--pages", "2", "--png-level", "9", "--engine", "book", recipe, stack, "one.png")[0] == 0
    assert run(*FILTER, "--pages", "2", "--png-level", "9", "--engine", "book", stack, "other.png")[0] == 0
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_a_given_option_sets_a_value_back_to_its_default(run, recipe, tmp_path):
    assert run(*FILTER, "--png-level", "9", "--save-recipe", recipe, "in.pgm", "other.png")[0] == 0
    assert run("apply", "--png-level", "1", recipe, "in.pgm", "again.png")[0] == 0
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "out.png").read_bytes()
    assert (tmp_path / "again.png").read_bytes() != (tmp_path / "other.png").read_bytes()
    assert b"--png-level" not in run("apply", "--show", "--png-level", "1", recipe)[1]


@pytest.mark.parametrize(("noise", "words"), [(None, "--noise=auto"), (8, "--noise=8")])
def test_noise_is_shown_as_the_command_takes_it(run, tmp_path, noise, words):
    recipe = {"fftfilter_recipe": 1, "transfer": [{"kind": "wiener", "noise": noise}]}
    (tmp_path / "noise.json").write_text(json.dumps(recipe | {"output": "keep", "edges": "mirror"}))
    assert run("apply", "--show", tmp_path / "noise.json")[1].decode().startswith(f"fftfilter wiener {words}")


def test_a_recipe_is_shown_as_a_command_line_and_in_python(run, recipe):
    code, out, err = run("apply", "--show", recipe)
    assert (code, err) == (0, "")
    assert out.decode().splitlines() == [
        "fftfilter lowpass --radius=4px --output=keep --edges=mirror --stripes=33.0 IN OUT",
        "Filter(H.lowpass('4px') * H.stripes(33.0), output='keep', edges='mirror')",
    ]
    H.save(H.lowpass(4) * H.highpass(2), recipe)
    assert run("apply", "--show", recipe)[1].decode().splitlines() == [
        "no command line says the same",
        "Filter(H.lowpass(4) * H.highpass(2))",
    ]


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ({}, " --output=magnitude --edges=wrap"),
        ({"output": "keep"}, " --edges=wrap"),
        ({"edges": "mirror"}, " --output=magnitude"),
        ({"output": "keep", "edges": "mirror", "depth": 6, "pages": "2-3"}, " --depth=6.0 --pages=2-3"),
    ],
)
def test_what_a_command_does_otherwise_is_shown(run, tmp_path, own, shown):
    recipe = {"fftfilter_recipe": 1, "transfer": [{"kind": "stripes", "angle": 33}], **own}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    line = run("apply", "--show", tmp_path / "recipe.json")[1].decode().splitlines()[0]
    assert line == f"fftfilter stripes --angle=33.0{shown} IN OUT"


def test_options_of_an_engine_are_in_no_command_line(run, tmp_path):
    with fftfilter.Filter(H.lowpass(4), engine="stockham", engine_options={"radix": 4}) as made:
        fftfilter.save_filter(made, tmp_path / "recipe.json")
    code, out, err = run("apply", "--show", tmp_path / "recipe.json")
    assert (code, err) == (0, "")
    assert out.decode().splitlines() == [
        "no command line says the same",
        "Filter(H.lowpass(4), engine='stockham', engine_options={'radix': 4})",
    ]


def test_a_fault_is_one_short_line_without_anything_that_a_terminal_obeys(run, tmp_path):
    recipe = tmp_path / "recipe.json"
    for angle in (["0.1,0.2"] * 5000, "\x1b[2J"):
        recipe.write_text(json.dumps({"fftfilter_recipe": 1, "transfer": [{"kind": "stripes", "angle": angle}]}))
        code, _, err = run("apply", recipe, "in.png", "out.png")
        assert (code, err.count("\n")) == (2, 1)
        assert len(err) < 2100
        assert err[:-1].isprintable()
        assert err.endswith("or auto\n")
    recipe.write_text(
        json.dumps({"fftfilter_recipe": 1, "transfer": [{"kind": "notch", "at": [0.1, 0.2], "\x9b2J": 1}]})
    )
    assert "\x9b" not in run("apply", recipe, "in.png", "out.png")[2]


@pytest.mark.parametrize("radius", ["5arcsec", "2.6um", "150lpi"])
def test_a_pixel_size_that_is_each_pictures_own_is_left_open_in_python(run, tmp_path, radius):
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"fftfilter_recipe": 1, "transfer": [{"kind": "lowpass", "radius": radius}]}))
    code, out, _ = run("apply", "--show", recipe)
    assert (code, out.decode().splitlines()) == (
        0,
        [f"fftfilter lowpass --radius={radius} IN OUT", f"Filter((H.lowpass('{radius}')).with_pixel_size(...))"],
    )


def of_history(path):
    cards = pytest.importorskip("astropy.io.fits").getheader(path, ext=1 if path.suffix == ".fz" else 0)["HISTORY"]
    mark = "fftfilter_recipe "
    return "".join(f"{card:72}".removeprefix(mark) for card in cards if card.startswith(mark))


TEXTS = {
    "out.png": lambda path: Image.open(path).text["fftfilter"],
    "out.tif": lambda path: Image.open(path).tag_v2[270],
    "out.fits": of_history,
    "out.fz": of_history,
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_output_says_how_it_was_made(run, recipe, tmp_path, name):
    assert run(*FILTER, "--embed-recipe", "in.pgm", name) == (0, b"", "")
    text = TEXTS[name](tmp_path / name)
    assert json.loads(text) == json.loads(recipe.read_text()) | {"embed-recipe": True}
    assert run("apply", "--embed-recipe", name, "in.pgm", f"again-{name}")[0] == 0
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()
    assert run("highpass", name, f"further-{name}")[0] == 0
    code, _, err = run("apply", f"further-{name}", "in.pgm", "again.png")
    assert (code, err) == (
        2,
        f"fftfilter: further-{name}: has no recipe: one is put into a picture by --embed-recipe\n",
    )


@pytest.mark.usefixtures("recipe")
def test_pages_and_the_files_of_a_folder_say_so_too(run, stack, tmp_path):
    pgm(tmp_path / "pages/1.pgm")
    assert run(*FILTER, "--embed-recipe", stack, "out.tif")[0] == 0
    assert run(*FILTER, "--embed-recipe", stack, "out.png")[0] == 0
    assert run(*FILTER, "--embed-recipe", "-q", "--format", "png", "pages", "out")[0] == 0
    shown = {run("apply", "--show", name)[1] for name in ("out.tif", "out.png", "out/1.png")}
    assert len(shown) == 1
    assert b"--embed-recipe" in shown.pop()


@pytest.mark.usefixtures("recipe")
def test_a_description_that_a_tiff_has_stays_its_own(run, tmp_path):
    Image.fromarray(np.eye(8, dtype=np.uint8)).save(tmp_path / "own.tif", tiffinfo={270: "taken at noon"})
    code, _, err = run(*FILTER, "-v", "--embed-recipe", "own.tif", "out.tif")
    assert (code, err.splitlines()[-1]) == (0, "left out: recipe")
    assert Image.open(tmp_path / "out.tif").tag_v2[270] == "taken at noon"


@pytest.mark.usefixtures("recipe")
def test_the_mask_of_a_recipe_is_an_input_that_stays(run, tmp_path):
    mask = tmp_path / "gains.png"
    Image.fromarray(np.full((8, 8), 255, np.uint8)).save(mask)
    assert run("mask", "--mask", mask, "--save-recipe", "mask.json", "in.pgm", "out.png")[0] == 0
    code, _, err = run("apply", "mask.json", "in.pgm", "gains.png")
    assert (code, len(err.splitlines())) == (2, 1)
    mask.write_bytes(mask.read_bytes() + b"x")
    code, _, err = run("apply", "mask.json", "in.pgm", "out.png")
    assert (code, "has changed since the recipe was saved" in err) == (2, True)


@pytest.mark.usefixtures("recipe")
def test_a_dry_run_saves_nothing(run, tmp_path):
    pgm(tmp_path / "in/0.pgm")
    assert run(*FILTER, "--dry-run", "--save-recipe", "other.json", "in", "out")[0] == 0
    assert not (tmp_path / "other.json").exists()


@pytest.mark.usefixtures("recipe")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("apply",), 2, "Missing argument 'RECIPE'"),
        (("apply", "recipe.json"), 2, "Missing argument 'IN... OUT'. See"),
        (("apply", "recipe.json", "in.pgm"), 2, "Missing argument 'OUT'"),
        (
            ("apply", "--show", "recipe.json", "in.pgm"),
            2,
            "--show takes a recipe alone, and fetches nothing: leave the others out. See",
        ),
        (("apply", "no.json", "in.pgm", "x.png"), 1, "no.json: cannot be read: no such file"),
        (("apply", "in.pgm", "in.pgm", "x.png"), 2, "in.pgm: is not a recipe in JSON"),
        (("apply", "recipe.json", "in.pgm", "recipe.json"), 2, "cannot write .json files"),
        (("apply", "out.png", "in.pgm", "x.png"), 2, "out.png: has no recipe"),
        (("apply", "--quality", "50", "recipe.json", "in.pgm", "x.png"), 2, "has no quality"),
        (("apply", "--save-recipe", "recipe.json", "recipe.json", "in.pgm", "x.png"), 2, "json: is the input itself"),
        (("lowpass", "--save-recipe", "x.txt", "in.pgm", "x.png"), 2, "--save-recipe x.txt: give a name that ends in"),
        (("lowpass", "--save-recipe", "no/x.json", "in.pgm", "x.png"), 1, "no/x.json: cannot be written: no such"),
        (("lowpass", "--save-recipe", "x.json", "recipe.json", "x.png"), 1, "recipe.json: not an image"),
        (("lowpass", "--save-recipe", "in.json", "in.json", "x.png"), 1, "in.json: cannot be read"),
        (("lowpass", "--embed-recipe", "in.pgm", "x.jpg"), 2, "x.jpg: .jpg holds no recipe: write .png, .tif or .fits"),
        (("lowpass", "--embed-recipe", "in.pgm", "-"), 2, "standard output: .pnm holds no recipe"),
    ],
)
def test_a_mistake_is_a_line_and_writes_nothing(run, tmp_path, arguments, code, said):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    found, _, err = run(*arguments)
    assert (found, said in err, len(err.splitlines())) == (code, True, 1), err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_is_for_files_is_named_beside_the_filter(run, tmp_path):
    (tmp_path / "x.json").write_text('{"fftfilter_recipe": 1, "transfer": [], "nodata": -9999, "scale": "stack"}')
    last = run("apply", "--show", tmp_path / "x.json")[1].decode().splitlines()[-1]
    assert last == "Filter(H.Transfer(()))  # without scale, nodata: for files alone"


@pytest.mark.parametrize("given", ['"output": null', '"feather": ["8"]', '"strip": "yes"', '"scale": true'])
def test_an_option_of_a_recipe_has_its_type(run, tmp_path, given):
    (tmp_path / "x.json").write_text(f'{{"fftfilter_recipe": 1, "transfer": [], {given}}}')
    code, _, err = run("apply", "--show", tmp_path / "x.json")
    wanted = "true or false" if "strip" in given else "a text or a number"
    assert (code, err.endswith(f" is not {wanted}\n"), len(err.splitlines())) == (2, True, 1), err


@pytest.mark.usefixtures("recipe")
def test_a_region_that_has_changed_since_the_recipe_was_saved_is_refused(run, tmp_path):
    mask = tmp_path / "mask.png"
    Image.new("L", Image.open(tmp_path / "in.pgm").size, 255).save(mask)
    options = ("--output", "keep", "--region", mask, "--save-recipe", "part.json")
    assert run("lowpass", *options, "in.pgm", "out.png")[0] == 0
    mask.write_bytes(mask.read_bytes() + b"x")
    code, _, err = run("apply", "part.json", "in.pgm", "out.png")
    assert (code, "has changed since the recipe was saved" in err) == (2, True), err


def test_a_recipe_without_parts_from_standard_input_is_told(run, monkeypatch):
    monkeypatch.setattr(
        "fftfilter.transfer.saved.read", lambda file, **_: {"fftfilter_recipe": 1} if file == "-" else None
    )
    line = "fftfilter: standard input: a recipe needs 'transfer', the list of its parts: give it\n"
    assert run("apply", "-", "in.png", "out.png") == (2, b"", line)


def test_a_filter_is_loaded_for_the_device_that_is_asked_for(recipe, monkeypatch):
    monkeypatch.setenv("FFTFILTER_DEVICE", "no such device")
    assert "device='cpu'" in repr(fftfilter.load_filter(recipe, device="cpu"))
    with pytest.raises(fftfilter.FftfilterError, match="no OpenCL device 'no such device'"):
        fftfilter.load_filter(recipe)
