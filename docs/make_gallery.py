"""Make the pictures of README.md, gallery.md and first-steps.md: ``python docs/make_gallery.py`` runs their commands.

It writes into gallery.md how near the results come to the true pictures. With ``--samples`` it makes the samples that
have a fault, from those that have none.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import numpy as np
import tifffile
from PIL import Image, ImageDraw, ImageFilter, ImageFont

DOCS = Path(__file__).parent
SAMPLES, README = DOCS.parent / "samples", DOCS.parent / "README.md"
PAGE, LESSON = DOCS / "gallery.md", DOCS / "first-steps.md"
RANDOM = np.random.default_rng(7)
Y, X = np.mgrid[:512, :512].astype(float)
QUALITY = 60  # of JPEGs: at most 60 KB each
PRINT = 902, 600  # width and height of the printed cat
UNIT = 100  # levels of a TIFF, which has 16 bits, for one of 8 bits

# Picture: the panels with their labels, the first one the input, and the box of them that is shown (left, top, side).
STRIPS = {
    "cells": ([("cells.tif", "before"), ("flat.tif", "bandpass"), ("imagej.tif", "imagej")], (0, 0, 512)),
    "light": ([("lit.tif", "before"), ("less.tif", "subtracted"), ("divided.tif", "divided")], (0, 0, 512)),
    "shadows": ([("shaded.tif", "before"), ("weaker.tif", "subtracted"), ("freed.tif", "divided")], (60, 60, 300)),
    "screen": ([("samples/print.jpg", "before"), ("clean.png", "after"), ("clean.png", "removed")], (230, 90, 140)),
    "stripes": ([("scan.png", "before"), ("even.png", "after"), ("even.png", "removed")], (0, 0, 512)),
    "sky": ([("sky.png", "before"), ("wrap.png", "--edges wrap"), ("dark.png", "--edges mirror")], (0, 0, 512)),
    "noise": ([("noisy.png", "before"), ("soft.png", "after"), ("soft.png", "removed")], (80, 30, 200)),
    "ringing": (
        [("samples/astronaut.png", "before"), ("ideal.png", "ideal"), ("gaussian.png", "gaussian")],
        (320, 0, 190),
    ),
}
CAMERA = ("samples/camera.pgm", "before")
# Column of the picture at the top of README.md: its label, the file before and after, and the box that is shown.
TOP = (
    ("dots of a print", "samples/print.jpg", "clean.png", (220, 80, 240)),
    ("stripes", "samples/stripes.png", "even.png", (0, 0, 380)),
    ("hum", "samples/hum.png", "quiet.png", (60, 0, 380)),
    ("edges", "samples/camera.pgm", "edges.png", (100, 30, 380)),
)
PIPELINE = (
    ("samples/camera.pgm", "picture"),
    ("spectrum.png", "its spectrum"),
    ("masked.png", "spectrum after the mask"),
    ("edges.png", "result of highpass"),
)
LESSONS = {
    "wave": ([("samples/hum.png", "before"), ("quiet.png", "after"), ("quiet.png", "removed")], (0, 0, 512)),
    "spectrum": ([CAMERA, ("spectrum.png", "spectrum")], (0, 0, 512)),
    "mean": ([CAMERA, ("mean.png", "DC alone")], (0, 0, 512)),
    "lowpass": ([CAMERA, ("coarse.png", "lowpass")], (0, 0, 512)),
    "highpass": ([CAMERA, ("fine.png", "highpass")], (0, 0, 512)),
    "rings": ([CAMERA, ("rings.png", "ideal"), ("coarse.png", "gaussian")], (110, 20, 280)),
    "edges": ([CAMERA, ("mirror.png", "--edges mirror"), ("wrap.png", "--edges wrap")], (0, 0, 512)),
    "output": ([("magnitude.png", "magnitude"), ("fine.png", "signed"), ("keep.png", "keep")], (0, 0, 512)),
}


def read(path):
    """Return the pixels of a picture, 0 to 255."""
    return tifffile.imread(path) / UNIT if path.suffix == ".tif" else np.asarray(Image.open(path), float)


def save(path, values, **options):
    """Save pixels as a picture of 8 bits."""
    Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8)).save(path, optimize=True, **options)


def spots(count, radius, height):
    """Return round spots of one radius at random places; heights are between half of the given one and all of it."""
    picture = np.zeros_like(X)
    for x, y, part in RANDOM.uniform((0, 0, 0.5), (512, 512, 1), (count, 3)):
        picture = np.maximum(picture, height * part * (1 - np.tanh(4 * (np.hypot(X - x, Y - y) / radius - 1))) / 2)
    return picture


def write_samples():
    """Write the samples that have a fault."""
    cat = Image.open(SAMPLES / "chelsea.png").resize(PRINT, Image.Resampling.LANCZOS)
    save(SAMPLES / "print.jpg", screened(cat), quality=85)
    random = np.random.default_rng(3)
    save(SAMPLES / "stripes.png", 12 + 0.9 * read(SAMPLES / "camera.pgm") + random.normal(0, 9, (512, 1)))
    gray = np.asarray(Image.open(SAMPLES / "astronaut.png").convert("L"), float)
    save(SAMPLES / "hum.png", 18 + 0.85 * gray + 13 * np.cos(2 * np.pi * (0.01 * X + 0.083 * Y)))


def screened(picture, period=5.2, angles=(15, 75, 0, 45)):
    """Return the scan of a print in dots of cyan, magenta, yellow and black, which are drawn four times as large."""
    large = picture.resize((picture.width * 4, picture.height * 4), Image.Resampling.BICUBIC)
    y, x = np.mgrid[: large.height, : large.width] / 4
    dark = 1 - np.moveaxis(np.asarray(large, float), -1, 0) / 255
    black = 0.7 * dark.min(axis=0)
    inks = [*((dark - black) / (1 - black)), black]
    wave = np.cos(2 * np.pi * np.arange(64) / 64)
    levels = np.sort(np.add.outer(wave, wave), axis=None)  # so that dots cover as much as there is ink
    dots = []
    for ink, angle in zip(inks, angles, strict=True):
        u, v = np.cos(np.radians(angle)) / period, np.sin(np.radians(angle)) / period
        spots = np.cos(2 * np.pi * (u * x + v * y)) + np.cos(2 * np.pi * (u * y - v * x))
        dots.append(np.interp(spots, levels, np.linspace(0, 1, levels.size)) < ink)
    paper = [Image.fromarray(np.where(ink | dots[3], 0, 255).astype(np.uint8)) for ink in dots[:3]]
    scan = [each.filter(ImageFilter.GaussianBlur(2)).resize(picture.size, Image.Resampling.BOX) for each in paper]
    noise = np.random.default_rng(8).normal(0, 2, (picture.height, picture.width, 3))
    return np.asarray(Image.merge("RGB", scan), float) + noise


def write_inputs(folder):
    """Write the faulty pictures into a folder; return the true ones by the names of the strips."""
    shutil.copytree(SAMPLES, folder / "samples")
    camera, cat = read(SAMPLES / "camera.pgm"), Image.open(SAMPLES / "chelsea.png")
    truth = {
        "cells": 85 + spots(60, 13, 75) + spots(220, 3, 60),
        "screen": np.asarray(cat.resize(PRINT, Image.Resampling.LANCZOS), float),
        "stripes": 30 + 0.75 * camera,
        "noise": np.asarray(cat, float),
    }
    light = 55 * np.cos(np.hypot(X - 100, Y - 130) / 130)
    cells = truth["cells"] + light - light.mean() + RANDOM.normal(0, 8, X.shape)
    half_um = {"imagej": True, "resolution": (2, 2), "metadata": {"unit": "um"}}
    tifffile.imwrite(folder / "cells.tif", np.clip(cells * UNIT, 0, 65535).astype(np.uint16), **half_um)
    across = np.sin(np.radians(12)) * X + np.cos(np.radians(12)) * Y  # stripes that rise by 12 degrees
    save(folder / "scan.png", truth["stripes"] + np.interp(across, np.arange(640), RANDOM.normal(0, 20, 640)))
    galaxy = 60 * np.exp(-np.hypot((X - 300) + (Y - 220) * 0.6, (Y - 220) * 1.4 - (X - 300) * 0.6) / 18)
    stars = sum((spots(n, r, 190) for n, r in ((150, 0.9), (30, 1.6), (6, 2.6))), np.zeros_like(X))
    gradient = 0.12 * (X - 255.5) - 0.18 * (Y - 255.5)
    truth["sky"] = 96 + galaxy + stars + RANDOM.normal(0, 3, X.shape)
    save(folder / "sky.png", truth["sky"] + gradient)
    save(folder / "noisy.png", truth["noise"] + RANDOM.normal(0, 30, truth["noise"].shape))
    (folder / "shots").mkdir()
    for i, name in enumerate(("brick.png", "camera.pgm", "chelsea.png")):
        picture = 20 + 0.8 * np.asarray(Image.open(SAMPLES / name).convert("L"), float)
        hum = 24 * np.cos(2 * np.pi * (0.065 * X + 0.03 * Y))[: picture.shape[0], : picture.shape[1]]
        save(folder / "shots" / f"{i}.png", picture if i == 1 else picture + hum)
    truth["light"] = truth["cells"]
    light = 0.1 + 0.9 * np.exp(-(((X - 150) ** 2 + (Y - 180) ** 2) / 2 / 230**2))
    lit = truth["light"] * light / np.exp(np.log(light).mean()) + np.random.default_rng(11).normal(0, 3, X.shape)
    tifffile.imwrite(folder / "lit.tif", np.clip(lit * UNIT, 1, 65535).astype(np.uint16))
    truth["shadows"] = 20 + spots(60, 13, 150) + spots(220, 3, 90)
    shade, random = np.zeros_like(X), np.random.default_rng(21)
    for x, y, wide, deep in random.uniform((0, -900, 1, 0.1), (512, 0, 4, 0.6), (80, 4)):
        fades = np.exp((y - Y) / 900)  # and widens
        shade += np.log(1 - deep * fades * np.exp(-(((X - x) * fades / wide) ** 2) / 2))
    shaded = truth["shadows"] * np.exp(shade - shade.mean()) + random.normal(0, 1.5, X.shape)
    tifffile.imwrite(folder / "shaded.tif", np.clip(shaded * UNIT, 1, 65535).astype(np.uint16))
    return truth


def strip(folder, panels, box, side=280):
    """Return panels side by side, each with its label."""
    left, top, size = box
    page = Image.new("RGB", (side * len(panels) + 6 * (len(panels) - 1), side + 20), "white")
    font, draw = ImageFont.load_default(14), ImageDraw.Draw(page)
    before = read(folder / panels[0][0])
    for i, (name, label) in enumerate(panels):
        values = read(folder / name)
        values = 128 + before - values if label == "removed" else values
        panel = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)).convert("RGB")
        panel = panel.crop((left, top, left + size, top + size)).resize((side, side), Image.Resampling.LANCZOS)
        page.paste(panel, (i * (side + 6), 0))
        draw.text((i * (side + 6) + 2, side + 2), label, "black", font)
    return page


def square(name, left, top, size, side=300):
    """Return a square of a picture."""
    panel = Image.open(name).convert("RGB").crop((left, top, left + size, top + size))
    return panel.resize((side, side), Image.Resampling.LANCZOS)


def put(page, at, panel, label=""):
    """Put a square into a page, with its label below."""
    page.paste(panel, at)
    ImageDraw.Draw(page).text((at[0] + 2, at[1] + panel.height + 2), label, "black", ImageFont.load_default(16))


def make_top(folder, side=300, gap=8):
    """Run the commands of README.md on the samples, and draw the two pictures there."""
    shutil.copytree(SAMPLES, folder / "samples")
    run_commands("\n".join(re.findall(r"^ {4}fftfilter .*samples/.*$", README.read_text(), re.MULTILINE)), folder)
    fftfilter(folder, "highpass samples/camera.pgm edges.png")
    page = Image.new("RGB", (len(TOP) * (side + gap) - gap, 2 * side + gap + 24), "white")
    for i, (label, before, after, box) in enumerate(TOP):
        put(page, (i * (side + gap), 0), square(folder / before, *box))
        put(page, (i * (side + gap), side + gap), square(folder / after, *box), label)
    page.save(DOCS / "before-after.jpg", quality=75)
    fftfilter(folder, "spectrum samples/camera.pgm spectrum.png")
    spectrum = read(folder / "spectrum.png")
    # The mask of the book: what is nearer to DC than an eighth of the shorter side is 0.
    save(folder / "masked.png", np.where(np.hypot(X - 256, Y - 256) < 64, 0, spectrum))
    page = Image.new("RGB", (len(PIPELINE) * (side + gap) - gap, side + 24), "white")
    for i, (name, label) in enumerate(PIPELINE):
        put(page, (i * (side + gap), 0), square(folder / name, 0, 0, 512), label)
    page.save(DOCS / "highpass.png", optimize=True)


def psnr(picture, truth):
    """Return how near a picture is to the true one, in dB."""
    return 10 * np.log10(255**2 / np.mean((picture - truth) ** 2))


def fftfilter(folder, words):
    """Run a command in a folder."""
    click.echo(f"$ fftfilter {words}")
    subprocess.run([sys.executable, "-m", "fftfilter", *shlex.split(words, comments=True)], cwd=folder, check=True)


def run_commands(page, folder):
    """Run the commands of a page in a folder."""
    for words in re.findall(r"^ {4}fftfilter (.*)$", page, re.MULTILINE):
        fftfilter(folder, words)


def make_gallery(folder):
    """Write the faulty pictures, run the commands of the gallery on them, and put strips and figures into it."""
    page = PAGE.read_text()
    truth = write_inputs(folder)
    run_commands(page, folder)
    Image.open(folder / "sheet.png").convert("RGB").save(DOCS / "gallery" / "sheet.jpg", quality=QUALITY)
    for name, (panels, box) in STRIPS.items():
        strip(folder, panels, box).save(DOCS / "gallery" / f"{name}.jpg", quality=QUALITY)
        if name in truth:
            results = [(file, label) for file, label in panels if label != "removed"]
            found = ", ".join(f"{psnr(read(folder / file), truth[name]):.1f} dB {label}" for file, label in results)
            click.echo(f"{name}: {found}")
            page = re.sub(rf"(?<=\(gallery/{name}\.jpg\)\n\nPSNR: ).*", found, page)
    PAGE.write_text(page)


def make_lesson(folder):
    """Run the commands of the first steps on the samples, and draw their strips."""
    shutil.copytree(SAMPLES, folder / "samples")
    run_commands(LESSON.read_text(), folder)
    look = Image.open(folder / "look.jpg")
    look.thumbnail((1200, 1200))
    look.save(DOCS / "first-steps" / "look.jpg", quality=QUALITY)
    for name, (panels, box) in LESSONS.items():
        strip(folder, panels, box).save(DOCS / "first-steps" / f"{name}.jpg", quality=QUALITY)


@click.command()
@click.option("--samples", is_flag=True, help="Make the samples that have a fault, and nothing else.")
def main(*, samples):
    """Make the pictures of the pages."""
    if samples:
        write_samples()
        return
    for make in make_top, make_gallery, make_lesson:
        with tempfile.TemporaryDirectory() as temporary:
            make(Path(temporary))


if __name__ == "__main__":
    main()
