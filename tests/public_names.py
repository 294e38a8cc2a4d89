"""Uses every public name, as a program of somebody else would; type checkers in strict mode find nothing wrong.

``test_typed.py`` checks that with mypy, and runs :func:`main`; pyright's way is ``pyright tests/public_names.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import fftfilter
from fftfilter import transfer as H

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from fftfilter.filters import Options

    Image = npt.NDArray[np.uint8]


def transfer_functions(folder: Path) -> H.Transfer:
    gains = np.ones((12, 10))
    np.save(folder / "gains.npy", gains)
    made: H.Transfer = (
        H.lowpass("5px", shape="butterworth", order=3) * H.highpass(1) * H.bandpass(1, "25%", shape="cosine")
    )
    made *= H.bandstop(2, 3, shape="fermi", width=1) * H.notch((0.2, 0.1), harmonics=2) * H.stripes(30, spare="5px")
    made *= H.mask(gains, any_size=True)
    fftfilter.save_filter(H.lowpass(3), folder / "made.json")
    others = [
        H.imagej(),
        H.descreen(),
        H.wiener(),
        H.peaks_only((0.1, 0.2), (0.2, -0.1), lattice=2),
        H.function(lambda fx, fy: np.exp(-np.hypot(fx, fy))) * H.function(lambda fx, fy: np.exp(2j * (fx + fy))),
        H.stripes(0).complement(),
        H.mask_file(str(folder / "gains.npy")),
        fftfilter.load_filter(folder / "made.json", pixel_size="65nm").transfer,
    ]
    assert all(isinstance(each, H.Transfer) for each in others)
    return made.with_pixel_size("65nm").keeping_mean()


def calls(image: Image) -> list[npt.NDArray[np.generic]]:
    options: Options = {"output": "keep", "edges": "mirror", "engine": "book", "dtype": np.uint16, "levels": 1000}
    made = [
        fftfilter.lowpass(image, 3, shape="gaussian", **options),
        fftfilter.highpass(image, "5px", device="cpu", precision="single", engine="book"),
        fftfilter.bandpass(image, "2px", "5px", output="magnitude", scale=("auto", 0.5), engine="book"),
        fftfilter.bandstop(image, 2, 4, output="signed", scale=(0, 100), depth=6, engine="book"),
        fftfilter.lowpass(np.stack([image] * 3), "5px", axes="zyx", pixel_size=("2um", "1um", 1e-6)),
        fftfilter.notch(image, (0.2, 0.1), missing=image > 250, engine="book", protect=(0, 0, 3, 3), feather=2),
        fftfilter.notch(np.tile(image, (4, 4)), auto=fftfilter.AutoNotches(20), engine="book")[:12, :10],
        fftfilter.stripes(image, 0, engine="book"),
        fftfilter.wiener(image, 8, engine="book"),
        fftfilter.imagej(image, 8, 2, suppress="vertical", engine="book"),
        fftfilter.descreen(image, strength=20, engine="book"),
        fftfilter.apply_mask(image, image > 3, engine="book", engine_options={}),
    ]
    spectrum: npt.NDArray[np.complexfloating] = fftfilter.fft2(image, norm="ortho", algorithm="book")
    rows = fftfilter.ifft(fftfilter.fft(image, axis=0, algorithm="book"), axis=0, algorithm="book")
    values: npt.NDArray[np.floating] = fftfilter.irfft2(
        fftfilter.rfft2(image, algorithm="book"), s=image.shape, algorithm="book"
    )
    half: npt.NDArray[np.complexfloating] = fftfilter.rfftn(image, algorithm="book")
    values += fftfilter.irfftn(half, s=image.shape, axes=(0, 1), algorithm="book")
    rows += fftfilter.ifftn(fftfilter.fftn(image, axes=(1,), algorithm="book"), axes=(1,), algorithm="book")
    return [*made, fftfilter.ifft2(spectrum, norm="ortho", algorithm="book"), rows, values]


def filters(image: Image, transfer: H.Transfer, folder: Path) -> list[npt.NDArray[np.generic]]:
    def seen(name: str, planes: npt.NDArray[np.generic]) -> None:
        assert name
        assert planes.ndim == 3

    with fftfilter.Filter(H.lowpass(3), output="keep", profile=True, engine="book") as filter_:
        made = [filter_(image), *filter_.stream([image, image], dtype="float32")]
        low, high = filter_.extremes()[0]
        said = (
            f"{low:g} {high:g} {sum(filter_.clipped()):g} {filter_.weak()} {filter_.engine} {filter_.options['engine']}"
        )
        said += "".join(filter_.notes()) + "".join(f"{each.step} {each.seconds:g}" for each in filter_.timings())
        filter_.retune(H.highpass(3))
        filter_.empty((2, *image.shape))[:] = filter_.device_bytes((1, *image.shape)) % 7
        other: fftfilter.Filter = filter_.with_options(transfer, output="real", precision="double")
        made.append(other(np.stack([image] * 3), channel_axis=0, observe=seen))
        fftfilter.save_filter(filter_, folder / "filter.json")
    made.append(fftfilter.load_filter(folder / "filter.json", device="auto")(image))
    fftfilter.show(image, filter_, white=200).save(folder / f"{len(said) % 10}.png")
    return made


def files(folder: Path) -> int:
    large = np.ones((12, 10), np.float32)
    fftfilter.filter_large(large, large.copy(), H.lowpass(3), output="real", scale=None, memory="1GB", scratch=folder)
    return fftfilter.filter_stack(folder / "in.png", folder / "out.tif", H.lowpass(3), output="keep", engine="book")


def peaks(image: Image) -> list[tuple[float, float, H.Transfer]]:
    wide = np.tile(image, (4, 4))
    assert fftfilter.power_spectrum(wide, by="angle", window="hann").power.size == 90
    return [(peak.period_px, peak.angle_deg, peak.notch()) for peak in fftfilter.find_peaks(wide, strength=20)]


def refused() -> int:
    try:
        fftfilter.lowpass(np.zeros((2, 2)), "wide")
    except fftfilter.ParameterError as error:
        return error.exit_code
    except (fftfilter.MissingError, fftfilter.DeviceError, fftfilter.BuildError, fftfilter.RefusedError):
        raise
    except (fftfilter.ReadError, fftfilter.WriteError, fftfilter.SeveralPagesError, fftfilter.TooLargeError):
        raise
    except (fftfilter.ImageError, fftfilter.VerifyError, fftfilter.ProcessError, fftfilter.FftfilterError):
        raise
    return 0


def main(folder: Path) -> None:
    from PIL import Image as Pillow

    image = np.arange(120, dtype=np.uint8).reshape(12, 10) * np.uint8(2)
    Pillow.fromarray(image).save(folder / "in.png")
    for each in calls(image) + filters(image, transfer_functions(folder), folder):
        assert each.shape[-2:] == image.shape
    assert files(folder) == 1
    assert refused() == 2
    assert isinstance(peaks(image), list)
    assert fftfilter.__version__
