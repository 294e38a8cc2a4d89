"""Recipes on the command line: saved beside a filter, applied to files, folders and stacks, embedded in outputs."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import fftfilter
import fftfilter.imagej_filter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from tests.folders.helpers import pgm, same
from tests.helpers import COMMAND

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
    words = ["lowpass", "--radius=4px", "--stripes=33", "--output=keep", "--edges=mirror"]
    assert json.loads(recipe.read_text()) == {"fftfilter_recipe": 2, "arguments": words}
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


def write(path, *arguments, **others):
    """Write the file of a recipe; return its path."""
    path.write_text(json.dumps({"fftfilter_recipe": 2, "arguments": arguments, **others}))
    return path


def test_a_recipe_is_shown_as_a_command_line_and_in_python(run, recipe):
    code, out, err = run("apply", "--show", recipe)
    assert (code, err) == (0, "")
    assert out.decode().splitlines() == [
        "fftfilter lowpass --radius=4px --stripes=33 --output=keep --edges=mirror IN OUT",
        "Filter(H.lowpass('4px') * H.stripes(33.0))",
    ]
    fftfilter.save_filter(H.lowpass(4) * H.highpass(2), recipe)
    assert run("apply", "--show", recipe)[1].decode().splitlines() == [
        "fftfilter lowpass --radius=4 '--times=highpass --radius=2' --output=keep --edges=mirror IN OUT",
        "Filter(H.lowpass(4) * H.highpass(2))",
    ]
    write(recipe, "stripes", "--angle", "33", "--output", "magnitude", "--edges=wrap", "--depth", "6")
    assert run("apply", "--show", "--png-level=2", recipe)[1].decode().splitlines()[0] == (
        "fftfilter stripes --angle=33 --depth=6.0 --output=magnitude --edges=wrap --png-level=2 IN OUT"
    )


def test_a_filter_of_python_is_saved_and_loaded(run, tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (12, 10), dtype=np.uint8)
    file = tmp_path / "recipe.json"
    with fftfilter.Filter(H.lowpass("4px"), output="signed", scale=("auto", 2), edges="mirror") as filter_:
        fftfilter.save_filter(filter_, file)
        wanted = filter_(image)
    with fftfilter.load_filter(file) as loaded:
        assert repr(loaded) == repr(filter_).replace("2)", "2.0)")
        np.testing.assert_array_equal(loaded(image), wanted)
    with fftfilter.Filter(H.lowpass(4), engine="stockham", engine_options={"radix": 4}, **COMMAND) as made:
        fftfilter.save_filter(made, file)
    assert run("apply", "--show", file)[1].decode().splitlines() == [
        "fftfilter lowpass --radius=4 --engine=stockham --engine-options=radix=4 IN OUT",
        "Filter(H.lowpass(4), engine='stockham', engine_options={'radix': 4}, output='magnitude', edges='wrap')",
    ]


NM = {"width": "2um"}
AS_COMMAND = "output='magnitude', edges='wrap'"


@pytest.mark.parametrize(
    "made",
    [
        H.Transfer(()),
        H.highpass(),
        (H.highpass(3) * H.stripes(0)).with_depth(6.5),
        H.lowpass("8px", shape="butterworth", order=3) * H.highpass(1 / 3),
        H.bandpass("20px", "4px") * H.bandstop(30, 34.5),
        H.notch((0.123, -0.047), harmonics=3, shape="ideal") * H.notch((0.1, 0.2), channels=(0, 2)),
        H.notch((0.1, 0.2), mirrored=True)
        * H.notch((0.3, 0.2), is_wave=True, width=2)
        * H.wiener()
        * H.descreen(20, 5),
        H.stripes(33.5, spare="20px") * H.stripes(0, width="1um").with_pixel_size("300dpi"),
        H.imagej(40, 0, suppress="vertical", tolerance=7.5),
        H.lowpass("1um").with_pixel_size("65nm") * H.stripes(0, **NM).with_pixel_size("80nm"),
        H.lowpass("1arcmin", shape="cosine", width="20arcmin").with_pixel_size("2arcsec"),
        H.wiener(8) * H.lowpass(),
    ],
    ids=str,
)
def test_a_transfer_function_comes_back_from_its_file_and_from_its_text(tmp_path, made):
    fftfilter.save_filter(made, tmp_path / "recipe.json")
    assert fftfilter.load_filter(tmp_path / "recipe.json").transfer == made
    assert eval(repr(made)) == made  # noqa: S307  our own


def test_physical_radii_get_the_size_of_a_pixel_when_they_are_loaded(tmp_path):
    fftfilter.save_filter(H.lowpass("2.6um"), tmp_path / "recipe.json")
    with pytest.raises(fftfilter.FftfilterError, match="pixel"):
        fftfilter.load_filter(tmp_path / "recipe.json")
    made = fftfilter.load_filter(tmp_path / "recipe.json", pixel_size="65nm")
    assert made.transfer == H.lowpass("2.6um").with_pixel_size("65nm")


def test_masks_are_kept_by_the_names_of_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("gains.npy", np.linspace(0, 1, 12).reshape(3, 4))
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save("gains.png")
    (tmp_path / "kept").mkdir()
    made = H.mask_file("gains.npy") * H.mask_file("gains.png")
    fftfilter.save_filter(made, "kept/recipe.json")
    assert json.loads((tmp_path / "kept/recipe.json").read_text())["arguments"][:2] == ["mask", "--mask=../gains.npy"]
    assert fftfilter.load_filter("kept/recipe.json").transfer == made == eval(repr(made))  # noqa: S307  our own
    monkeypatch.chdir(tmp_path / "kept")
    assert fftfilter.load_filter("recipe.json").transfer == made  # names are relative to the recipe
    np.save("../gains.npy", np.ones((4, 4)))
    with pytest.raises(ParameterError, match="has changed since the recipe was saved"):
        fftfilter.load_filter("recipe.json")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (H.mask(np.eye(4)), "the mask of 4 x 4 is in no file, which a recipe names: save its gains with numpy.save"),
        (fftfilter.imagej_filter.ImageJFilter.unopened(H.lowpass(), {}), "give it a part of that kind first"),
    ],
)
def test_what_no_command_makes_cannot_be_saved(tmp_path, made, said):
    with pytest.raises(ParameterError, match=said):
        fftfilter.save_filter(made, tmp_path / "recipe.json")
    assert not (tmp_path / "recipe.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "filter '' is invalid: choose lowpass, highpass"),
        (["bench"], "filter 'bench' is invalid: choose lowpass, highpass"),
        (["lowpass", "--radus=3"], "No such option '--radus'"),
        (["lowpass", "IN"], "Got unexpected extra argument (IN)"),
        (["lowpass", "--", "IN"], "Got unexpected extra argument (IN)"),
        (["lowpass", "-h"], "No such option"),
        (["lowpass", "--help"], "No such option"),
        (["lowpass", "--in-place"], "No such option"),
        (["lowpass", "-q"], "No such option"),
        (["lowpass", "--verify"], "No such option"),
        (["lowpass", "--report=x.jsonl"], "No such option"),
        (["lowpass", "--device=gpu"], "No such option"),
        (["lowpass", "--save-recipe=x.json"], "No such option"),
        (["lowpass", "--save-stages", "x"], "No such option"),
        (["lowpass", "--times=lowpass --in-place"], "--times 'lowpass --in-place': No such option"),
        (["lowpass", "--times=mask --mask 'x"], '--times: "mask --mask \'x" is not a filter'),
        (["lowpass", "--radius"], "requires an argument"),
        (["lowpass", "--radius=-1"], "must be finite and greater than zero"),
        (["lowpass", "--shape=butterworth", "--order=1.5"], "is not a valid integer"),
        (["lowpass", "--output=x"], "'x' is not one of 'magnitude', 'keep', 'signed', 'real'"),
        (["lowpass", "--scale=3:1"], "is not a range"),
        (["lowpass", "--output=keep", "--scale=auto:1"], "has no scale"),
        (["lowpass", "--quality=500"], "500 is not in the range"),
        (["lowpass", "--pages=3-1"], "are an empty range"),
        (["lowpass", "--hdu=-1"], "HDU '-1' is unknown: give a number"),
        (["lowpass", "--depth=nan"], "depth nan is invalid"),
        (["lowpass", "--auto=each", "--strength=3"], "strength 3 is invalid"),
        (["lowpass", "--strength=30"], "--strength is for the waves that --auto finds"),
        (["notch", "--auto=folder"], "--auto folder is for command lines: a recipe has the notches that were found"),
        (["lowpass", "--auto", "--keep=1"], "keep '1' is not a wave"),
        (["lowpass", "--output=keep", "--region=1,2"], "is not a rectangle"),
        (["lowpass", "--output=keep", "--region=x\0"], "is no name: give that of a mask"),
        (["mask", "--mask=-"], "is no name: give that of a mask"),
        (["lowpass", "--feather=3"], "give region or protect"),
        (["lowpass", "--region=1,2,3,4"], "need an output with the gray levels"),
        (["imagej", "--edges=wrap"], "No such option"),
        (["descreen", "--times=lowpass"], "No such option"),
        (["notch", "--at=0.1,0.2", "--in-channels=x"], "--in-channels 'x' are no channels"),
        (["lowpass", "--engine-options=radix"], "--engine-options 'radix' are no options: give NAME=VALUE"),
    ],
)
def test_a_recipe_with_a_fault_is_refused_in_a_line(run, tmp_path, words, said):
    pgm(tmp_path / "in.pgm")
    file = write(tmp_path / "r.json", *words)
    for arguments in (file, tmp_path / "in.pgm", tmp_path / "out.pgm"), ("--show", file):
        code, out, err = run("apply", *arguments)
        assert (code, out, err.count("\n")) == (2, b"", 1), err
        assert said in err
        assert err.startswith(f"fftfilter: {file}: ")
    assert {path.name for path in tmp_path.iterdir()} == {"in.pgm", "r.json"}


def test_a_fault_is_one_short_line_without_anything_that_a_terminal_obeys(run, tmp_path):
    for angle in ",".join(["0.1,0.2"] * 5000), "\x1b[2J":
        code, _, err = run("apply", write(tmp_path / "recipe.json", "stripes", f"--angle={angle}"), "in.png", "out.png")
        assert (code, err.count("\n")) == (2, 1)
        assert len(err) < 2100
        assert err[:-1].isprintable()
        assert err.endswith("or auto\n")
    recipe = write(tmp_path / "recipe.json", "lowpass", "--notch=0.1,0.2,\x9b2J", "--mask=https://example.org/\x1b[2J")
    code, out, _ = run("apply", "--show", recipe)
    assert (code, out.count(b"\n"), out.decode()[:-1].isprintable()) == (0, 1, True)


@pytest.mark.parametrize("radius", ["5arcsec", "2.6um", "150lpi"])
def test_a_pixel_size_that_is_each_pictures_own_is_left_open_in_python(run, tmp_path, radius):
    code, out, _ = run("apply", "--show", write(tmp_path / "recipe.json", "lowpass", "--radius", radius))
    made = f"Filter((H.lowpass('{radius}')).with_pixel_size(...), {AS_COMMAND})"
    assert (code, out.decode().splitlines()) == (
        0,
        [
            f"fftfilter lowpass --radius={radius} IN OUT",
            made,
        ],
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
    wanted = json.loads(recipe.read_text())
    assert json.loads(text) == wanted | {"arguments": [*wanted["arguments"], "--embed-recipe"]}
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


def test_the_notches_of_a_folder_are_in_its_recipe_also_if_there_are_none(run, tmp_path):
    y, x = np.mgrid[:96, :128]
    for name, wave in ("plain", 0), ("waved", 30):
        for i in range(2):
            noise = np.random.default_rng(i).normal(0, 5, y.shape)
            levels = 120 + noise + wave * np.cos(2 * np.pi * (0.2 * x + 0.13 * y))
            (tmp_path / name).mkdir(exist_ok=True)
            Image.fromarray(np.rint(levels).clip(0, 255).astype(np.uint8)).save(tmp_path / name / f"{i}.png")
        file = tmp_path / f"{name}.json"
        given, out = str(tmp_path / name), str(tmp_path / f"{name}-out")
        assert run("notch", "--auto", "folder", "-q", "--save-recipe", file, given, out)[0] == 0
        words = json.loads(file.read_text())["arguments"]
        assert "--auto" not in str(words)
        assert (words == ["notch", "--times=", "--edges=mirror"]) == (wave == 0)
        assert run("apply", "-q", file, given, str(tmp_path / f"{name}-again"))[0] == 0
        same(tmp_path / f"{name}-out", tmp_path / f"{name}-again")


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
    file = write(tmp_path / "x.json", "lowpass", "--nodata=-9999", "--scale=stack", "--pages=1")
    last = run("apply", "--show", file)[1].decode().splitlines()[-1]
    assert last == f"Filter(H.lowpass(), {AS_COMMAND})  # without scale, nodata: for files alone"
    with pytest.raises(ParameterError, match="has 'scale', which is for files: use fftfilter apply"):
        fftfilter.load_filter(file)


@pytest.mark.usefixtures("recipe")
def test_a_region_that_has_changed_since_the_recipe_was_saved_is_refused(run, tmp_path):
    mask = tmp_path / "mask.png"
    Image.new("L", Image.open(tmp_path / "in.pgm").size, 255).save(mask)
    options = ("--output", "keep", "--region", mask, "--save-recipe", "part.json")
    assert run("lowpass", *options, "in.pgm", "out.png")[0] == 0
    mask.write_bytes(mask.read_bytes() + b"x")
    code, _, err = run("apply", "part.json", "in.pgm", "out.png")
    assert (code, "has changed since the recipe was saved" in err) == (2, True), err


def test_a_recipe_from_standard_input_is_named_so():
    program = [sys.executable, "-m", "fftfilter", "apply", "-", "in.png", "out.png"]
    recipe = b'{"fftfilter_recipe": 2, "arguments": ["x"]}'
    done = subprocess.run(program, input=recipe, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"fftfilter: standard input: filter 'x' is invalid: choose lowpass, ")


def test_a_filter_is_loaded_for_the_device_that_is_asked_for(recipe, monkeypatch):
    monkeypatch.setenv("FFTFILTER_DEVICE", "no such device")
    assert "device='cpu'" in repr(fftfilter.load_filter(recipe, device="cpu"))
    with pytest.raises(fftfilter.FftfilterError, match="no OpenCL device 'no such device'"):
        fftfilter.load_filter(recipe)
