"""What is not read, by its name, and what would help: other than damage, it has a way out.

A file is known by its first bytes, or by some further on. Sources: the formats' own specifications.
"""

from __future__ import annotations

from PIL import UnidentifiedImageError

_ANY = "convert it to a TIFF, for example by ImageMagick"
_FLOATS = "convert it to a TIFF of floats, for example by oiiotool"
_HEIF = "convert it to a PNG, for example by heif-dec"
_RAW = "develop it into a TIFF, for example by darktable, RawTherapee or dcraw -T"
_VIDEO = "save its frames as pictures, for example by ffmpeg -i FILE %04d.png"
_PAGES = "draw its pages, for example by pdftoppm -r 300 -png"
_MICROSCOPE = "convert it to an OME-TIFF, for example by Bio-Formats' bfconvert"
_ARRAY = "save its array as .npy or .tif"
_UNPACK = "unpack it"
# The place of some bytes in a file, these, and the name of what has them.
_STARTS: tuple[tuple[int, bytes, str, str], ...] = (
    *((4, b"ftyp" + brand, "HEIF (HEIC)", _HEIF) for brand in (b"hei", b"hev", b"mif1", b"msf1")),
    (4, b"ftypcrx", "a camera's raw data (CR3)", _RAW),
    (4, b"ftypavi", "an AVIF that is damaged, or of an unknown kind,", "get a whole copy of it"),
    (0, b"FUJIFILMCCD-RAW", "a camera's raw data (RAF)", _RAW),
    (0, b"IIU\0", "a camera's raw data (RW2)", _RAW),
    *((0, start, "a camera's raw data (ORF)", _RAW) for start in (b"IIRO", b"IIRS", b"MMOR")),
    *((at, start, "a video", _VIDEO) for at, start in ((4, b"ftyp"), (4, b"moov"), (8, b"AVI "), (0, b"OggS"))),
    *((0, start, "a video", _VIDEO) for start in (b"\x1aE\xdf\xa3", b"\0\0\1\xba", b"\0\0\1\xb3")),
    (0, b"#?RADIANCE", "Radiance HDR", _FLOATS),
    (0, b"#?RGBE", "Radiance HDR", _FLOATS),
    (0, b"v/1\x01", "OpenEXR", _FLOATS),
    (0, b"P7\n", "PAM", "convert it to a PNG, for example by pamtopng"),
    (128, b"DICM", "DICOM", "convert it to a TIFF, for example by dcm2img or pydicom"),
    (0, b"%PDF", "PDF", _PAGES),
    (0, b"%!PS", "PostScript", _PAGES),
    (0, b"8BPS", "a Photoshop file other than of 8 bits a sample", "save it as a TIFF"),
    (0, b"gimp xcf", "GIMP's XCF", "export it as a TIFF"),
    (0, b"II\xbc", "JPEG XR", "convert it to a TIFF, for example by JxrDecApp"),
    *((0, b"\xff\xd8\xff" + marker, "JPEG-LS", _ANY) for marker in (b"\xf7", b"\xe8")),
    (0, b"\x8aMNG", "MNG", _ANY),
    (0, b"AT&TFORM", "DjVu", "draw its pages, for example by ddjvu -format=tiff"),
    (0, b"farbfeld", "farbfeld", _ANY),
    (0, b"\x89HDF", "HDF5", _ARRAY),
    (0, b"CDF", "NetCDF", _ARRAY),
    (344, b"n+1\0", "NIfTI", _ARRAY),
    (208, b"MAP ", "MRC", "convert it to a TIFF, for example by mrc2tif"),
    *((0, start, "a microscope's file", _MICROSCOPE) for start in (b"ZISRAWFILE", b"\xda\xce\xbe\x0a", b"\x70\0\0\0")),
    *((0, start, "Digital Micrograph", _MICROSCOPE) for start in (b"\0\0\0\3\0\0", b"\0\0\0\4\0\0")),
    *((0, start, "an archive", _UNPACK) for start in (b"PK\3\4", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"\xfd7zXZ")),
)
# Formats that are read, of which some kinds are not, or the headers of which may be damaged.
_READ = {b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF", b"BM": "BMP", b"RIFF": "WebP"}
_SVG, _TEXT = b"<svg", 1024
HEAD = 4096
"""As many bytes of a file tell what it is."""


class UnsupportedError(UnidentifiedImageError):
    """What is not read although nothing is damaged: its message names it, and what would help."""


def told(head: bytes) -> str:
    """Return what a file is that no reader knows, and what would help, by its first bytes."""
    for at, start, what, way_out in _STARTS:
        if head.startswith(start, at):
            return f"{what} is not supported; {way_out}"
    if _SVG in head[:_TEXT].lower():
        return "SVG is not supported; draw it, for example by rsvg-convert"
    for start, name in _READ.items():
        if head.startswith(start):
            return f"a {name} whose header is damaged, or of a kind that is not supported; get a whole copy of it"
    return "not an image, or damaged at its start; give a PNG, TIFF, JPEG, PGM or PPM"
