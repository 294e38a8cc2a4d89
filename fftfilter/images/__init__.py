"""Formats in and out: bytes to pictures and back, every depth kept where the format can. Knows no filter.

    read -> Picture -> (its planes are filtered elsewhere) -> check_fits, depth_as -> write

    picture.py         a picture between its file and the filter, the memory that it takes, and palettes
    formats.py         the table of formats, with the pictures that each can hold, and of what is not read
    reading.py         bytes to a picture, or to pages, one in memory: by plain_formats.py, tiff_reader.py, fits.py,
                       pillow_reader.py for all others, and animation.py, which also writes
    jpegs.py           JPEG 2000 as deep as it is coded, in and out; JPEG XL, in
    fits.py            FITS, in and out, by astropy
    library_formats.py MRC, EMD, netCDF in and out, DM and Surfer in, by the libraries of their fields
    ome_zarr.py        OME-Zarr, in and out, by zarr; chunks are decoded to no more than their metadata say
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
    from .formats import COMPRESSIONS, Coding, check_fits, extensions, is_lossy, is_zarr, refuse_coding, suffix_of
    from .pages import Asked, Pages
    from .picture import Depth, Picture, Size
    from .pixel_size import PixelSize, pixel_size_of
    from .reading import decode, in_parts, measure, opened, pages_of, raw, read, read_mask, read_otherwise
    from .writing import check_output, check_page, depth_as, encoded, sink, strip_rows, suffix_of_pages, write
else:
    # `extensions` alone must not wait for NumPy.
    __getattr__ = imported_on_first_use(
        __name__,
        {
            ".formats": "COMPRESSIONS Coding check_fits extensions is_lossy is_zarr refuse_coding suffix_of",
            ".pages": "Asked Pages",
            ".picture": "Depth Picture Size",
            ".pixel_size": "PixelSize pixel_size_of",
            ".reading": "decode in_parts measure opened pages_of raw read read_mask read_otherwise",
            ".writing": "check_output check_page depth_as encoded sink strip_rows suffix_of_pages write",
        },
    )
