"""A file of gains, as ``--mask`` takes it: a picture or an array, DC in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...transfer import Transfer


def mask_of(name: str) -> Transfer:
    """Return a file's gains as a function of frequency, for images of any size; white is 1, an array as it is.

    Gains are made even, the mean of those of f and -f, so that filtered images are real. Raises ParameterError for what
    is no mask, ReadError for a file that cannot be read.
    """
    import numpy as np

    from ... import images, transfer
    from ...errors import ParameterError, ReadError
    from ...files import sources

    if name.lower().endswith(".npy"):
        from io import BytesIO

        file = BytesIO(sources.content(name))
        try:
            array = np.lib.format.read_array(file, allow_pickle=False)
        except Exception as error:  # of damaged headers NumPy raises almost anything
            raise ReadError(f"{name}: is no array: save one with numpy.save") from error
    else:
        picture = images.read(name)
        if (picture.planes != picture.planes[:1]).any():
            raise ParameterError(f"{name}: has colors, and a mask has one gain for each frequency: make it gray")
        array = picture.planes[0].astype(np.float64) / picture.maxval
    # Checked as it is in the file, before it is moved: what is wrong has its place there.
    gains = np.fft.ifftshift(transfer.mask(array).gain(*array.shape))
    mirrored = np.roll(gains[::-1, ::-1], (1, 1), (0, 1))
    return transfer.mask(gains / 2 + mirrored / 2, any_size=True)
