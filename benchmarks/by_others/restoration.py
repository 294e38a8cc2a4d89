"""Other ways to repair pictures, in small forms after what was published about them; planes are those of one channel.

The best blur knows the truth, which nobody else has.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Plane = NDArray[np.float64]
    Planes = NDArray[np.float64]
    Method = Callable[[Plane], Plane]


def smoothed(plane: Plane, deviation: float) -> Plane:
    """Return a plane under a Gaussian blur, mirrored at its borders."""
    height, width = plane.shape
    whole = np.pad(plane, ((0, height), (0, width)), "symmetric")
    f = np.hypot(np.fft.fftfreq(2 * height)[:, None], np.fft.rfftfreq(2 * width))
    gain = np.exp(-2 * (np.pi * deviation * f) ** 2)
    return np.asarray(np.fft.irfft2(np.fft.rfft2(whole) * gain, s=whole.shape)[:height, :width])


def best_blur(faulty: Planes, truth: Planes) -> Planes:
    """Return a picture under the Gaussian blur that brings it nearest to the truth."""
    tried = [np.stack([smoothed(plane, deviation) for plane in faulty]) for deviation in np.geomspace(0.4, 6, 24)]
    return min([faulty, *tried], key=lambda each: float(np.mean((each - truth) ** 2)))


def munch(plane: Plane) -> Plane:
    """Return a plane without vertical stripes: wavelet-FFT with db5, 4 levels, sigma 1.

    Source: B. Münch, P. Trtik, F. Marone, M. Stampanoni, Stripe and ring artifact removal with combined wavelet-Fourier
    filtering (Optics Express 17, 2009).
    """
    import pywt

    low, details = plane, []
    for _ in range(4):
        low, (across, along, diagonal) = pywt.dwt2(low, "db5")
        spectrum = np.fft.fft(along, axis=0)
        distance = np.fft.fftfreq(len(along), 1 / len(along))
        spectrum *= (1 - np.exp(-(distance**2) / 2))[:, None]
        details.append((across, np.fft.ifft(spectrum, axis=0).real, diagonal))
    for across, along, diagonal in reversed(details):
        low = pywt.idwt2((low[: len(across), : across.shape[1]], (across, along, diagonal)), "db5")
    return np.asarray(low[: plane.shape[0], : plane.shape[1]])


def fft_descreen(plane: Plane) -> Plane:
    """Return a plane without what exceeds a threshold in its weighted spectrum; a GIMP and Krita plug-in's way.

    Source: the description of fft-descreen (I. Fokin): threshold 92, radius 6, middle 4.
    """
    height, width = plane.shape
    ky, kx = (np.abs(np.fft.fftfreq(n, 1 / n)) for n in (height, width))
    weight = (np.sqrt(ky)[:, None] + np.sqrt(kx)) ** 2
    spectrum = np.fft.fft2(plane)
    level = 20 * np.log(np.abs(spectrum) / plane.size * weight + 1e-12)
    ellipse = (ky[:, None] / (height / 8)) ** 2 + (kx / (width / 8)) ** 2 < 1
    found = (level > 92) & ~ellipse
    disk = ky[:, None] ** 2 + kx**2 <= 6**2
    grown = np.fft.ifft2(np.fft.fft2(found) * np.fft.fft2(disk)).real > 0.5
    soft = np.exp(-(ky[:, None] ** 2 + kx**2) / (2 * 2**2))
    mask = np.fft.ifft2(np.fft.fft2(grown) * np.fft.fft2(soft / soft.sum())).real
    return np.asarray(np.abs(np.fft.ifft2(spectrum * (1 - np.clip(mask, 0, 1)))))


PATCH = 128


def arpenos(plane: Plane) -> Plane:
    """Return a plane without quasi-periodic noise: outliers of the mean spectrum of patches from a power law.

    Source: F. Sur, M. Grédiac, Automated removal of quasiperiodic noise using frequency domain statistics (Journal of
    Electronic Imaging 24, 2015).
    """
    if min(plane.shape) < PATCH:
        return plane
    n, hann = PATCH, np.hanning(PATCH)
    places = [range(0, side - n + 1, n // 2) for side in plane.shape]
    patches = [plane[y : y + n, x : x + n] * np.outer(hann, hann) for y in places[0] for x in places[1]]
    power = np.log(np.mean([np.abs(np.fft.fft2(each - each.mean())) ** 2 for each in patches], axis=0) + 1e-12)
    f = np.hypot(np.fft.fftfreq(n)[:, None], np.fft.fftfreq(n))
    inside = f > 4 / n
    x, y = np.log(f[inside]), power[inside]
    kept = np.ones(len(x), bool)
    for _ in range(10):  # a fit without the outliers that it shows
        slope, level = np.polyfit(x[kept], y[kept], 1)
        away = y - slope * x - level
        kept = away < 3 * away[kept].std()
    found = np.zeros_like(f)
    found[inside] = ~kept
    whole = tuple(np.rint(np.fft.fftfreq(side) * n).astype(int) % n for side in plane.shape)
    mask = found[np.ix_(*whole)]
    ky, kx = (np.fft.fftfreq(side, 1 / side) for side in plane.shape)
    sigma = [side / n for side in plane.shape]
    soft = np.exp(-((ky[:, None] / sigma[0]) ** 2 + (kx / sigma[1]) ** 2) / 2)
    mask = np.fft.ifft2(np.fft.fft2(mask) * np.fft.fft2(soft / soft.sum())).real
    return np.asarray(np.fft.ifft2(np.fft.fft2(plane) * (1 - np.clip(mask, 0, 1))).real)


def of_stripes() -> dict[str, Method]:
    """Return the installed ways to take vertical stripes out, by their names."""
    found: dict[str, Method] = {}
    with suppress(ImportError):
        import pywt  # noqa: F401

        found["Münch"] = munch
    with suppress(ImportError):
        from algotom.prep import removal

        found["algotom fft"] = lambda plane: np.asarray(removal.remove_stripe_based_fft(plane), np.float64)
        found["algotom sorting"] = lambda plane: np.asarray(removal.remove_stripe_based_sorting(plane), np.float64)
        found["algotom normalization"] = lambda plane: _normalized(removal, plane)
        found["algotom all"] = lambda plane: np.asarray(removal.remove_all_stripe(plane), np.float64)
    with suppress(ImportError):
        from pyvsnr.vsnr2d import vsnr2d_py

        # Of the noise levels 1, 5, 20 and 60, the first is best on the pictures of this benchmark.
        stripe = {"name": "Gabor", "noise_level": 1, "sigma": (1, 1000), "theta": 0}
        found["VSNR"] = lambda plane: np.asarray(
            vsnr2d_py(plane.astype(np.float32), [stripe], maxit=60, norm=False), np.float64
        )
    return found


def _normalized(removal: Any, plane: Plane) -> Plane:
    return np.asarray(removal.remove_stripe_based_normalization(plane + 1, 15), np.float64) - 1


def of_waves() -> dict[str, Method]:
    """Return the ways to take waves out, by their names."""
    return {"fft-descreen": fft_descreen, "ARPENOS": arpenos}
