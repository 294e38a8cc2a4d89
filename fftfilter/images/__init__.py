"""Formats in and out: bytes to pictures and back, every depth kept where the format can. Knows no filter.

    read -> Picture -> (its planes are filtered elsewhere) -> check_fits, depth_as -> write

    picture.py         a picture between its file and the filter, the memory that it takes, and palettes
    formats.py         the table of formats, with the pictures that each can hold
    reading.py         bytes to a picture, or to pages, one in memory: by plain_formats.py, tiff_reader.py, fits.py,
                       pillow_reader.py for all others, and animation.py, which also writes
    fits.py            FITS, in and out, by astropy
    ome_zarr.py        OME-Zarr, in and out, by zarr
    pages.py           pages of all formats, and those that a user asks for
    writing.py         a picture to bytes, as deep as its format can: by plain_formats.py, png_writer.py, tiff_writer.py
                       or Pillow
    metadata.py        color profile, EXIF, resolution and text, from file to file; pictures turned upright
    pixel_size.py      the size of a pixel, where the file says it
    quiet.py           libraries that print nothing and raise one kind of error

Where bytes come from and go to is the business of `files`. Netpbm's formats never import Pillow.
"""

from .. import imported_on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .animation import sink as sink
    from .formats import COMPRESSIONS as COMPRESSIONS
    from .formats import Coding as Coding
    from .formats import check_fits as check_fits
    from .formats import extensions as extensions
    from .formats import is_lossy as is_lossy
    from .formats import is_zarr as is_zarr
    from .formats import refuse_coding as refuse_coding
    from .formats import suffix_of as suffix_of
    from .pages import Asked as Asked
    from .pages import Pages as Pages
    from .picture import Depth as Depth
    from .picture import Picture as Picture
    from .picture import Size as Size
    from .pixel_size import PixelSize as PixelSize
    from .pixel_size import pixel_size_of as pixel_size_of
    from .reading import decode as decode
    from .reading import measure as measure
    from .reading import opened as opened
    from .reading import pages_of as pages_of
    from .reading import raw as raw
    from .reading import read as read
    from .reading import read_mask as read_mask
    from .writing import check_output as check_output
    from .writing import check_page as check_page
    from .writing import depth_as as depth_as
    from .writing import encoded as encoded
    from .writing import suffix_of_pages as suffix_of_pages
    from .writing import write as write
else:
    # `extensions` alone must not wait for NumPy.
    __getattr__ = imported_on_first_use(__name__, __file__)
