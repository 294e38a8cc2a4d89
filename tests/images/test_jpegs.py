"""Coded depth is depth read: JPEG, AVIF, JPEG XL, JPEG 2000 and TIFF; tiles that are left out."""

from __future__ import annotations

import io
import struct

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.errors import ReadError, TooLargeError
from fftfilter.images import Size, decode, measure, read, read_otherwise, write
from tests.files.helpers import python
from tests.images.helpers import interleaved, noise

GEOJP2 = bytes.fromhex("b14bf8bd083d4b43a5ae8cd7d5a6ce03")


def deep(channels, bits=16):
    """Return noise of some bits, (height, width) or (height, width, channels)."""
    return (noise(channels) >> (16 - bits)).squeeze()


def boxed(data, kind, content):
    """Return a JP2 with another box before its pixels."""
    at = data.index(b"jp2c") - 4
    return data[:at] + struct.pack(">I4s", 8 + len(content), kind) + content + data[at:]


# JPEG 2000


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("bits", [9, 10, 12, 14, 15, 16])
def test_samples_of_a_jpeg_2000_are_the_numbers_that_are_stored(channels, bits):
    given = deep(channels, bits)
    for kind in "jp2", "j2k":
        got = decode(imagecodecs.jpeg2k_encode(given, level=0, codecformat=kind, bitspersample=bits), "x")
        assert (got.planes.dtype, got.maxval, got.integers) == (np.uint16, 65535, None)
        np.testing.assert_array_equal(interleaved(got).squeeze(), given)


@pytest.mark.parametrize(("dtype", "less"), [(np.int8, 100), (np.int16, 30000)])
def test_signed_samples_of_a_jpeg_2000_stay_signed(tmp_path, dtype, less):
    given = (deep(1, 16).astype(np.int64) % (2 * less) - less).astype(dtype)
    got = decode(imagecodecs.jpeg2k_encode(given, level=0, codecformat="jp2"), "x")
    assert (got.planes.dtype, got.integers) == (np.float32, dtype)
    write(got, tmp_path / "x.tif")
    written = tifffile.imread(tmp_path / "x.tif")
    assert written.dtype == dtype
    np.testing.assert_array_equal(written, given)


def test_channels_of_a_jpeg_2000_that_are_not_said_to_be_alpha_are_none():
    got = decode(imagecodecs.jpeg2k_encode(deep(4), level=0, codecformat="jp2"), "x")
    assert (len(got.planes), got.extra, got.alpha) == (4, 1, None)
    five = decode(imagecodecs.jpeg2k_encode(deep(5), level=0, codecformat="jp2"), "x")
    assert (len(five.planes), five.extra) == (5, 4 if five.extra == 4 else 2)
    np.testing.assert_array_equal(np.moveaxis(five.planes, 0, 2), deep(5))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_jpeg_2000_is_written_with_16_bits_and_its_alpha(tmp_path, channels):
    given = noise(channels)
    write(decode(imagecodecs.png_encode(given.squeeze()), "x.png"), tmp_path / "x.jp2")
    again = read(tmp_path / "x.jp2")
    np.testing.assert_array_equal(interleaved(again), given)
    assert (again.alpha is not None) == (channels in (2, 4))
    np.testing.assert_array_equal(imagecodecs.jpeg2k_decode((tmp_path / "x.jp2").read_bytes()), given.squeeze())


@pytest.mark.parametrize(("kind", "content"), [(b"uuid", GEOJP2 + b"II*\0"), (b"asoc", b"lbl gml.root-instance")])
@pytest.mark.parametrize("bits", [8, 16])
def test_a_place_on_earth_is_said_to_be_lost(kind, content, bits):
    data = imagecodecs.jpeg2k_encode(deep(1, bits).astype(f"u{bits // 8}"), level=0, codecformat="jp2")
    assert decode(data, "x").metadata.left_out == ()
    assert decode(boxed(data, kind, content), "x").metadata.left_out == ("the place on Earth",)


def test_a_jpeg_2000_that_promises_more_than_memory_holds_is_refused(tmp_path):
    data = bytearray(imagecodecs.jpeg2k_encode(deep(1), level=0, codecformat="j2k"))
    struct.pack_into(">2I", data, 8, 1 << 20, 1 << 20)
    (tmp_path / "x.j2k").write_bytes(data)
    with pytest.raises(TooLargeError, match=r"x\.j2k: 1048576 x 1048576 pixels take"):
        read(tmp_path / "x.j2k")


# AVIF, JPEG XL, JPEG


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("bits", [10, 12])
def test_an_avif_of_10_and_12_bits_keeps_them_in_16(channels, bits):
    given = deep(channels, bits)
    data = imagecodecs.avif_encode(given, level=imagecodecs.AVIF.QUALITY.LOSSLESS, bitspersample=bits)
    got = decode(data, "x.avif")
    assert (got.planes.dtype, got.maxval, got.alpha is None) == (np.uint16, 65535, channels == 3)
    stored = imagecodecs.avif_decode(data)
    np.testing.assert_array_equal(interleaved(got), np.rint(stored * (65535 / (2**bits - 1))))
    assert len(np.unique(got.planes)) > 256


def test_an_avif_of_8_bits_is_as_before(tmp_path):
    Image.fromarray((noise(3) >> 8).astype(np.uint8)).save(tmp_path / "x.avif")
    got = read(tmp_path / "x.avif")
    np.testing.assert_array_equal(interleaved(got), np.asarray(Image.open(tmp_path / "x.avif")))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("bits", [8, 10, 12, 14, 16])
def test_a_jpeg_xl_keeps_its_depth(tmp_path, channels, bits):
    given = deep(channels, bits).astype(np.uint8 if bits == 8 else np.uint16)
    data = imagecodecs.jpegxl_encode(given, lossless=True, bitspersample=bits)
    (tmp_path / "x.jxl").write_bytes(data)
    got, size = read(tmp_path / "x.jxl"), measure(tmp_path / "x.jxl")
    assert got.metadata.left_out == ("the color space of the JPEG XL, if it is not sRGB",)
    assert (size.width, size.height, size.bytes_per_sample) == (11, 9, 1 if bits == 8 else 2)
    wanted = given if bits in (8, 16) else np.rint(given * (65535 / (2**bits - 1)))
    np.testing.assert_array_equal(interleaved(got).squeeze(), wanted)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_floats_of_a_jpeg_xl_stay_floats(dtype):
    given = (noise(3) / 3000 - 5).astype(dtype)
    got = decode(imagecodecs.jpegxl_encode(given, lossless=True), "x")
    np.testing.assert_array_equal(interleaved(got), given.astype(np.float32))


@pytest.mark.parametrize("shape", [(8, 16), (256, 256), (300, 500), (1, 1), (7, 20_000), (90, 160)])
def test_the_size_of_a_jpeg_xl_is_in_its_header(tmp_path, shape):
    data = imagecodecs.jpegxl_encode(np.zeros(shape, np.uint8), lossless=True)
    (tmp_path / "x.jxl").write_bytes(data[:64])
    assert measure(tmp_path / "x.jxl") == Size(shape[1], shape[0], 3, 1)


@pytest.mark.parametrize("shape", [(2, 9, 11, 3)])
def test_an_animation_of_jpeg_xl_is_refused(shape):
    with pytest.raises(
        ReadError, match=r"^x: an animation or preview in JPEG XL is not supported; convert it to a PNG, by djxl$"
    ):
        decode(imagecodecs.jpegxl_encode(np.zeros(shape, np.uint8), lossless=True), "x")


@pytest.mark.parametrize("channels", [1, 3])
def test_a_jpeg_of_12_bits_is_read_with_its_metadata(tmp_path, channels):
    given = deep(channels, 12)
    data = imagecodecs.jpeg8_encode(given, level=100, bitspersample=12)
    exif = Image.Exif()
    exif[271] = "Camera & Sons"
    segment = exif.tobytes()
    (tmp_path / "x.jpg").write_bytes(data[:2] + struct.pack(">2H", 0xFFE1, 2 + len(segment)) + segment + data[2:])
    got = read(tmp_path / "x.jpg")
    np.testing.assert_array_equal(interleaved(got).squeeze(), imagecodecs.jpeg8_decode(data))
    assert measure(tmp_path / "x.jpg") == Size(11, 9, channels, 2)
    write(got, tmp_path / "x.tif")
    with Image.open(tmp_path / "x.tif") as image:
        assert image.getexif()[271] == "Camera & Sons"


def test_a_lossless_jpeg_is_read():
    given = deep(1, 14)
    np.testing.assert_array_equal(decode(imagecodecs.ljpeg_encode(given, bitspersample=14), "x.jpg").planes[0], given)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("kind", ["jp2", "avif", "jxl", "jpg"])
def test_what_is_cut_off_is_refused(kind, part):
    given = np.kron(noise(3)[..., :3] >> 4, np.ones((4, 4, 1), np.uint16))
    data = {
        "jp2": lambda: imagecodecs.jpeg2k_encode(given, level=0, codecformat="jp2"),
        "avif": lambda: imagecodecs.avif_encode(given, level=100, bitspersample=12),
        "jxl": lambda: imagecodecs.jpegxl_encode(given, lossless=True),
        "jpg": lambda: imagecodecs.jpeg8_encode(given, level=95, bitspersample=12),
    }[kind]()
    decode(data, "x")
    with pytest.raises(ReadError, match=r"^x: "):
        decode(data[: int(part * len(data))], "x")


# TIFF


def packed(given, bits):
    """Return a TIFF of unsigned integers of any bits, each row of which begins at a byte."""
    rows = b"".join(
        int("".join(f"{each:0{bits}b}" for each in row.ravel()).ljust(-(-row.size * bits // 8) * 8, "0"), 2).to_bytes(
            -(-row.size * bits // 8)
        )
        for row in given
    )
    file = io.BytesIO()
    tifffile.imwrite(
        file, given.astype(np.uint16), photometric="rgb" if given.ndim == 3 else "minisblack", metadata=None
    )
    data = bytearray(file.getvalue())
    with tifffile.TiffFile(io.BytesIO(bytes(data))) as found:
        tags = found.pages.first.tags
        at, start = tags["BitsPerSample"].valueoffset, found.pages.first.dataoffsets[0]
        counts = tags["StripByteCounts"].valueoffset
    struct.pack_into(f"<{given.shape[2] if given.ndim == 3 else 1}H", data, at, *[bits] * (given.shape[2:] or (1,))[0])
    struct.pack_into("<I", data, counts, len(rows))
    return bytes(data[:start]) + rows


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("bits", [9, 10, 12, 14])
def test_integers_of_other_bits_are_the_numbers_that_are_stored(tmp_path, channels, bits):
    given = deep(channels, bits)
    got = decode(packed(given, bits), "x.tif")
    assert (got.planes.dtype, got.maxval) == (np.uint16, 65535)
    np.testing.assert_array_equal(interleaved(got).squeeze(), given)
    write(got, tmp_path / "x.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "x.tif"), given)


def test_a_jpeg_of_12_bits_in_a_tiff():
    given = np.kron(deep(1, 12), np.ones((4, 4), np.uint16))
    strips = [imagecodecs.jpeg8_encode(given[top : top + 16], level=100, bitspersample=12) for top in range(0, 36, 16)]
    file = io.BytesIO()
    tifffile.imwrite(
        file,
        iter(strips),
        shape=given.shape,
        dtype=np.uint16,
        compression="jpeg",
        rowsperstrip=16,
        bitspersample=12,
        metadata=None,
    )
    got = decode(file.getvalue(), "x.tif")
    np.testing.assert_array_equal(got.planes[0], np.concatenate([imagecodecs.jpeg8_decode(each) for each in strips]))
    data = file.getvalue().replace(strips[1], strips[1][:-2] + b"\0\0")
    with pytest.raises(
        ReadError, match=r"^x.tif: cannot be decoded \(JPEG 2 ends early\); it may be damaged or cut off$"
    ):
        decode(data, "x.tif")


def without(data, tag, numbers, kind="<I"):
    """Return a TIFF whose values of a tag are replaced where they are not None."""
    with tifffile.TiffFile(io.BytesIO(data)) as found:
        at = found.pages.first.tags[tag].valueoffset
    made = bytearray(data)
    for index, number in enumerate(numbers):
        if number is not None:
            struct.pack_into(kind, made, at + index * struct.calcsize(kind), number)
    return bytes(made)


@pytest.mark.parametrize("options", [{}, {"compression": "zlib", "predictor": True}], ids=["plain", "predictor"])
@pytest.mark.parametrize(("nodata", "wanted"), [(None, 0), ("7", 7), ("-9999", 0)])
def test_tiles_that_are_left_out_are_missing_samples(options, nodata, wanted):
    given = deep(1, 16)[:8, :8].repeat(6, 0).repeat(6, 1)
    file, tags = io.BytesIO(), [(42113, "s", 0, nodata, True)] if nodata else []
    tifffile.imwrite(file, given, tile=(16, 16), extratags=tags, metadata=None, **options)
    sparse = without(file.getvalue(), "TileOffsets", [None, 0, None, None, None, None, None, None, 0])
    with tifffile.TiffFile(io.BytesIO(sparse)) as found:
        kind = "<I" if found.pages.first.tags["TileByteCounts"].dtype == 4 else "<H"
    sparse = without(sparse, "TileByteCounts", [None, 0, None, None, None, None, None, None, 0], kind)
    expected = given.copy()
    expected[:16, 16:32] = expected[32:, 32:] = wanted
    np.testing.assert_array_equal(decode(sparse, "x.tif").planes[0], expected)
    with pytest.raises(
        ReadError, match=r"x\.tif: 1 of its 9 tiles are missing, the first is number 2; get a whole copy"
    ):
        decode(without(file.getvalue(), "TileOffsets", [None, 0]), "x.tif")


def test_lengths_of_0_of_strips_that_are_not_compressed_are_computed():
    file = io.BytesIO()
    tifffile.imwrite(file, noise(3), photometric="rgb", rowsperstrip=4, metadata=None)
    with tifffile.TiffFile(io.BytesIO(file.getvalue())) as found:
        kind = "<I" if found.pages.first.tags["StripByteCounts"].dtype == 4 else "<H"
    data = without(file.getvalue(), "StripByteCounts", [0, 0, 0], kind)
    np.testing.assert_array_equal(interleaved(decode(data, "x.tif")), noise(3))
    with pytest.raises(ReadError, match=r"x\.tif: 1 of its 3 strips are missing, the first is number 3"):
        decode(data[:-1], "x.tif")


@pytest.mark.parametrize("name", ["jpeg2k", "jpegxl", "png", "webp"])
def test_a_picture_in_a_strip_that_is_larger_than_its_place_takes_no_memory(tmp_path, name):
    large = np.zeros((9000, 9000) if name != "webp" else (9000, 9000, 3), np.uint8)
    options = {"jpegxl": {"lossless": True, "effort": 1}, "webp": {"lossless": True}}.get(name, {})
    strip = getattr(imagecodecs, f"{name}_encode")(large, **options)
    number = {"jpeg2k": 34712, "jpegxl": 50002, "png": 34933, "webp": 50001}[name]
    shape = (16, 16) if large.ndim == 2 else (16, 16, 3)
    file = io.BytesIO()
    kind = {"photometric": "rgb" if large.ndim == 3 else "minisblack", "metadata": None}
    tifffile.imwrite(file, iter([strip]), shape=shape, dtype=np.uint8, compression=number, rowsperstrip=16, **kind)
    (tmp_path / "x.tif").write_bytes(file.getvalue())
    code = """if True:
        import imagecodecs, resource
        from fftfilter import errors, images
        images.decode(b'P5 1 1 255 a', 'x')
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try: images.read('x.tif')
        except errors.ReadError as error: print(error)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000)"""
    done = python(code, cwd=tmp_path)
    assert done.stdout.startswith(b"x.tif: cannot be decoded ("), done.stderr
    assert done.stdout.endswith(b"True\n")


# What is not read


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            r"HEIF \(HEIC\) is not supported; convert it to a PNG, for example by heif-dec",
        ),
        (b"\0\0\0\x18ftypcrx ", "a camera's raw data is not supported; develop it into a TIFF"),
        (b"\0\0\0\x1cftypavif", "an AVIF that is damaged, or of an unknown kind, is not supported; get"),
        (b"\0\0\0\x20ftypisom", "a video is not supported; save its frames as pictures, for example by ffmpeg"),
        (b"RIFF\0\0\0\0AVI LIST", "a video is not supported"),
        (b"#?RADIANCE\n", "Radiance HDR or OpenEXR is not supported; convert it to a TIFF of floats"),
        (b"v/1\x01\2\0\0\0", "Radiance HDR or OpenEXR is not supported; convert it to a TIFF of floats"),
        (b"ZISRAWFILE", "a microscope's file is not supported; convert it to an OME-TIFF"),
        (bytes(128) + b"DICM", "DICOM is not supported"),
        (b"%PDF-1.7", "PDF or PostScript is not supported; draw its pages"),
        (b'<?xml version="1.0"?>\n<svg width="9">', "SVG is not supported; draw it"),
        (b"8BPS\0\1" + bytes(6) + b"\0\3\0\0\0\7\0\0\0\7\0\x10\0\3", "a Photoshop file other than of 8 bits a sample"),
        (b"\xff\xd8\xff\xe0", "a JPEG that is damaged, or of a kind that is not supported"),
        (b"PK\3\4", "an archive that is no .npz, or damaged; unpack it, or get a whole copy"),
    ],
)
def test_what_is_not_supported_is_named_with_a_way_out(tmp_path, data, words):
    (tmp_path / "x").write_bytes(data + bytes(2000))
    for ask in read, measure:
        with pytest.raises(ReadError, match=f"/x: {words}"):
            ask(tmp_path / "x")


def raw_data(photometric, below, **options):
    """Return a TIFF as cameras have it: a thumbnail, and the main picture below it."""
    file = io.BytesIO()
    with tifffile.TiffWriter(file) as made:
        tags = [(271, "s", 0, "Camera & Sons", True), (274, "H", 1, 3, True), (50706, "B", 4, (1, 4, 0, 0), True)]
        made.write(
            np.zeros((8, 8, 3), np.uint8), photometric="rgb", subfiletype=1, subifds=1, extratags=tags, metadata=None
        )
        planar = {"planarconfig": "contig"} if below.ndim == 3 else {}
        made.write(below, photometric=photometric, subfiletype=0, metadata=None, **planar, **options)
    return file.getvalue()


@pytest.mark.parametrize("options", [{}, {"compression": "zlib", "tile": (16, 16)}])
def test_the_main_picture_of_a_dng_is_read(tmp_path, options):
    given = noise(3, 30, 40)
    data = raw_data("linear_raw", given, **options)
    got = decode(data, "x.dng")
    np.testing.assert_array_equal(interleaved(got), given[::-1, ::-1])  # as the thumbnail's tag says
    assert "the thumbnail" in got.metadata.left_out
    write(got, tmp_path / "x.tif")
    with tifffile.TiffFile(tmp_path / "x.tif") as file:
        assert (file.pages.first.tags.valueof(271), file.pages.first.tags.valueof(50706)) == ("Camera & Sons", None)


def test_raw_data_of_one_color_a_pixel_is_refused():
    data = raw_data(
        "cfa", noise(1)[..., 0], extratags=[(33421, "H", 2, (2, 2), True), (33422, "B", 4, (0, 1, 1, 2), True)]
    )
    words = "^x.dng: a camera's raw data is not supported; develop it into a TIFF"
    with pytest.raises(ReadError, match=words):
        decode(data, "x.dng")


@pytest.mark.parametrize(("photometric", "words"), [(8, "CIELAB"), (32845, "LOGLUV")])
def test_a_tiff_of_other_colors_is_named(photometric, words):
    file = io.BytesIO()
    tifffile.imwrite(file, noise(3), photometric="rgb", metadata=None)
    data = without(file.getvalue(), "PhotometricInterpretation", [photometric], "<H")
    with pytest.raises(
        ReadError, match=f"^x.tif: a TIFF of {words}, 16 bits a sample, .* is not supported; convert it to"
    ):
        decode(data, "x.tif")


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jp2"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_another_library_reads_the_same_in_what_is_written(tmp_path, suffix, channels, dtype):
    given = noise(channels) if dtype == np.uint16 else (noise(channels) >> 8).astype(np.uint8)
    write(decode(imagecodecs.png_encode(given.squeeze()), "x.png"), tmp_path / f"x{suffix}")
    np.testing.assert_array_equal(read_otherwise(tmp_path / f"x{suffix}").reshape(given.shape), given)


def test_there_is_no_other_library_for_what_is_read_by_this_program(tmp_path):
    (tmp_path / "x.pgm").write_bytes(b"P5 1 1 255 a")
    assert read_otherwise(tmp_path / "x.pgm") is None


def test_a_wrong_checksum_in_the_text_of_a_png_is_damage_that_has_a_place():
    data = imagecodecs.png_encode(noise(3))
    text = struct.pack(">I", 5) + b"tEXtKey\0v" + b"\0\1\2\3"
    with pytest.raises(ReadError, match=r"\(the checksum of its chunk 'tEXt' at byte 33 is wrong\); it may be damaged"):
        decode(data[:33] + text + data[33:], "x.png")


def test_a_tiff_whose_channels_have_different_bits_is_named():
    file = io.BytesIO()
    tifffile.imwrite(file, (noise(3) >> 8).astype(np.uint8), photometric="rgb", metadata=None)
    data = without(file.getvalue(), "BitsPerSample", [5, 6, 5], "<H")
    with pytest.raises(ReadError, match=r"^x.tif: a TIFF of RGB, 5, 6, 5 bits a sample, .* is not supported; convert"):
        decode(data, "x.tif")
