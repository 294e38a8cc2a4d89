"""Numbers of FFTs that both forms share: twiddle factors, Bluestein's chirp and its filter, lengths of convolutions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Complex = NDArray[np.complex128]


def twiddles(k: ArrayLike, n: int) -> Complex:
    """Return W(k, n) = exp(-2 pi i k / n), in double precision."""
    turns: Complex = np.exp(-2j * np.pi * np.asarray(k) / n)
    return turns


def chirp(n: int) -> Complex:
    """Return Bluestein's chirp, exp(-pi i k^2 / n) for k below n, in double precision."""
    # k^2 is reduced as a whole number: the angle stays small and exact. 64 bits, or it overflows on some systems.
    k = np.arange(n, dtype=np.int64)
    own: Complex = np.exp(-1j * np.pi * (k * k % (2 * n)) / n)
    return own


def chirp_filter(own: Complex, length: int) -> Complex:
    """Return Bluestein's filter for a length: the spectrum of the conjugate chirp around 0, divided by the length."""
    n = len(own)
    around = np.zeros(length, np.complex128)
    around[:n] = own.conj()
    around[length - n + 1 :] = around[n - 1 : 0 : -1]
    spectrum: Complex = np.fft.fft(around) / length
    return spectrum


def convolution_lengths(n: int, most: int, primes: tuple[int, ...]) -> list[int]:
    """Return, ascending, the products of these primes from 2n - 1 (the least for a convolution of n) up to ``most``."""
    lengths = [1]
    for p in primes:
        # `lengths` grows while it is read, so powers are included.
        lengths += (length * p for length in lengths if length * p <= most)
    return sorted(length for length in lengths if length >= 2 * n - 1)


def places_of(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each number of a permutation is."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places
