#!/usr/bin/python3
"""check.py HUDDLE: reads files that other programs write, and compares every value.

Images by Pillow, ARFF and MAT by SciPy and by hand, arrays by NumPy and h5py, compressed files by
Python's own modules. The tool converts each to NPZ. What a build lacks the library for is left out.
"""
import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import h5py
import numpy
import scipy.io
from PIL import Image

HUDDLE = os.path.abspath(sys.argv.pop(1))
RNG = numpy.random.default_rng(7)


def run(*arguments):
    return subprocess.run([HUDDLE, *arguments], capture_output=True, text=True, check=False)


FORMATS = json.loads(run("info", "--formats", "--json").stdout)
LIBRARIES = {f["library"] for f in FORMATS if f["present"]}
PACKINGS = run("info", "--formats").stdout


def needs(library):
    there = library in LIBRARIES or f"uses {library}" in PACKINGS
    return unittest.skipUnless(there, f"this build has no {library}")


def smooth(n, height, width, channels=1):
    """Images whose neighbouring pixels are alike, as uint8."""
    noise = RNG.standard_normal((n, height + 4, width + 4, channels))
    for axis in (1, 2):
        for _ in range(3):
            noise = noise + numpy.roll(noise, 1, axis)
    noise = noise[:, 4:, 4:] - noise.min()
    return (noise * (255 / noise.max())).astype("uint8")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def read(self, path, *flags):
        out = self.path("out.npz")
        done = run("convert", path, out, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.notes = done.stderr
        with numpy.load(out) as read:
            return {name: read[name] for name in read}

    def refused(self, path, text, *flags):
        done = run("info", path, *flags)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(text, done.stderr)

    def info(self, path, *flags):
        done = run("info", path, "--json", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Images(Files):
    def folder_of(self, images, ending, **options):
        for k, image in enumerate(images):
            made = image if isinstance(image, Image.Image) else Image.fromarray(image)
            made.save(self.path(f"{ending}/{k:03}.{ending}"), **options)
        return self.path(ending)

    def exact(self, ending, images, expected=None):
        expected = images if expected is None else expected
        read = self.read(self.folder_of(images, ending))
        numpy.testing.assert_allclose(read["X"], numpy.reshape(expected, (len(expected), -1)),
                                      atol=1e-4)
        self.assertEqual((read["im_height"], read["im_width"]), expected[0].shape[:2])

    def each_kind(self, ending):
        gray, colour = smooth(5, 7, 6)[..., 0], smooth(5, 7, 6, 3)
        self.exact(ending, gray)
        self.exact(ending, colour)
        self.assertEqual(self.info(self.path(ending))["image"]["channels"], 3)
        luminance = [numpy.asarray(Image.fromarray(c).convert("F")) for c in colour]
        read = self.read(self.path(ending), "--gray")
        numpy.testing.assert_allclose(read["X"], numpy.reshape(luminance, (5, -1)), atol=0.01)

    @needs("libpng")
    def test_png(self):
        self.each_kind("png")

    @needs("libpng")
    def test_png_transparency_and_palettes(self):
        colour = smooth(3, 7, 6, 3)
        alpha = [numpy.dstack([c, c[..., 0]]) for c in colour]
        self.exact("png", alpha, colour)
        palettes = [Image.fromarray(c).quantize(8) for c in colour]
        self.exact("png", palettes, [numpy.asarray(p.convert("RGB")) for p in palettes])

    def test_bmp(self):
        self.each_kind("bmp")

    def test_bmp_palettes_and_single_bits(self):
        palettes = [Image.fromarray(c).quantize(8) for c in smooth(3, 7, 6, 3)]
        self.exact("bmp", palettes, [numpy.asarray(p.convert("RGB")) for p in palettes])
        bits = [Image.fromarray(g).convert("1") for g in smooth(3, 7, 11)[..., 0]]
        self.exact("bmp", bits, [255 * numpy.asarray(b).astype(int) for b in bits])

    def test_bmp_of_32_bits(self):
        colour = smooth(3, 7, 6, 3)
        self.exact("bmp", [Image.fromarray(c).convert("RGBA") for c in colour], colour)

    def test_bmp_of_16_bits(self):
        pixels = RNG.integers(0, 1 << 15, (3, 4)).astype("<u2")
        rows = b"".join(row.tobytes() for row in pixels[::-1])
        header = numpy.array([40, 4, 3], "<i4").tobytes() + numpy.array([1, 16], "<i2").tobytes()
        header += numpy.array([0, len(rows), 0, 0, 0, 0], "<i4").tobytes()
        start = numpy.array([54 + len(rows), 0, 54], "<i4").tobytes()
        self.write("sixteen/a.bmp", b"BM" + start + header + rows)
        expected = numpy.stack([pixels >> 10 & 31, pixels >> 5 & 31, pixels & 31], 2) * (255 / 31)
        numpy.testing.assert_allclose(self.read(self.path("sixteen"))["X"][0], expected.ravel(),
                                      atol=1e-4)

    def test_two_equal_channels_are_a_colour(self):
        yellow = smooth(3, 7, 6, 3)
        yellow[..., 1] = yellow[..., 0]
        self.exact("bmp", yellow)
        same = numpy.repeat(yellow[..., :1], 3, axis=3)
        self.exact("bmp", same, same[..., 0])

    def test_bmp_that_is_damaged(self):
        whole = io.BytesIO()
        Image.fromarray(smooth(1, 7, 6, 3)[0]).save(whole, "bmp")
        bad = self.write("bad/a.bmp", whole.getvalue()[:-1])
        self.refused(self.path("bad"), f"{bad}: the BMP header claims 7 x 6 pixels, more than")
        self.write("bad/a.bmp", whole.getvalue()[:28] + b"\3" + whole.getvalue()[29:])
        self.refused(self.path("bad"), "3 bits per pixel")
        self.write("bad/a.bmp", whole.getvalue()[:30] + b"\1" + whole.getvalue()[31:])
        self.refused(self.path("bad"), "the BMP is compressed (method 1)")

    def test_netpbm(self):
        self.each_kind("ppm")

    @needs("libtiff")
    def test_tiff(self):
        self.each_kind("tif")

    @needs("libtiff")
    def test_tiff_of_16_bits_packed_and_of_single_bits(self):
        deep = smooth(3, 7, 6)[..., 0].astype("uint16") * 257 + 1
        self.exact("tif", deep, deep / 257)
        colour = smooth(3, 20, 30, 3)
        for compression in ("tiff_lzw", "tiff_deflate", "packbits"):
            read = self.read(self.folder_of(colour, "tif", compression=compression))
            numpy.testing.assert_array_equal(read["X"], colour.reshape(3, -1))
        bits = [Image.fromarray(g).convert("1") for g in smooth(3, 20, 30)[..., 0]]
        self.exact("tif", bits, [255 * numpy.asarray(b).astype(int) for b in bits])

    @needs("libtiff")
    def test_tiff_pages(self):
        pages = smooth(6, 7, 6)[..., 0]
        first, *others = [Image.fromarray(p) for p in pages]
        first.save(self.path("stack.tif"), save_all=True, append_images=others)
        read = self.read(self.path("stack.tif"))
        numpy.testing.assert_array_equal(read["X"], pages.reshape(6, -1))
        with open(self.path("stack.tif"), "rb") as file:
            packed = self.write("stack.tif.gz", gzip.compress(file.read()))
        numpy.testing.assert_array_equal(self.read(packed)["X"], pages.reshape(6, -1))
        first.save(self.path("single.tif"))
        self.refused(self.path("single.tif"), "a single image is not a data set")
        Image.fromarray(pages[0].astype("float32")).save(self.path("real/a.tif"))
        self.refused(self.path("real"), "a TIFF of 32-bit floating-point numbers is not read")

    @needs("libjpeg")
    def test_jpeg(self):
        for images in (smooth(4, 24, 16)[..., 0], smooth(4, 24, 16, 3)):
            files = self.folder_of(images, "jpg", quality=95)
            expected = [numpy.asarray(Image.open(f"{files}/{k:03}.jpg")) for k in range(4)]
            read = self.read(files)
            numpy.testing.assert_allclose(read["X"], numpy.reshape(expected, (4, -1)), atol=1)

    @needs("libjpeg")
    def test_jpeg_orientation(self):
        upright = smooth(1, 24, 16, 3)[0]
        turn = {1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1],
                4: lambda a: a[::-1], 5: lambda a: a.transpose(1, 0, 2),
                6: lambda a: numpy.rot90(a, 1), 7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
                8: lambda a: numpy.rot90(a, -1)}
        for orientation, stored in turn.items():
            exif = Image.Exif()
            exif[0x0112] = orientation
            exif.endian = "<" if orientation % 2 == 0 else ">"
            Image.fromarray(numpy.ascontiguousarray(stored(upright))).save(
                self.path("turned/a.jpg"), quality=100, subsampling=0, exif=exif)
            read = self.read(self.path("turned"))
            self.assertEqual((read["im_height"], read["im_width"]), (24, 16))
            self.assertLess(numpy.abs(read["X"][0] - upright.ravel()).max(), 8, orientation)

    @needs("libjpeg")
    def test_jpeg_that_is_damaged(self):
        whole = io.BytesIO()
        Image.fromarray(smooth(1, 64, 64, 3)[0]).save(whole, "jpeg")
        self.write("bad/a.jpg", whole.getvalue()[:-200])
        self.refused(self.path("bad"), "a.jpg: the JPEG is damaged")
        Image.fromarray(smooth(1, 8, 8, 3)[0]).convert("CMYK").save(self.path("ink/a.jpg"))
        self.refused(self.path("ink"), "a JPEG of 4 inks (CMYK) is not read")

    @needs("libjpeg")
    @needs("libpng")
    def test_mixed_kinds_and_classes(self):
        gray, colour = smooth(2, 7, 6)[..., 0], smooth(2, 7, 6, 3)
        Image.fromarray(gray[0]).save(self.path("mixed/a/0.pgm"))
        Image.fromarray(gray[1]).save(self.path("mixed/a/1.bmp"))
        Image.fromarray(colour[0]).save(self.path("mixed/b/0.png"))
        Image.fromarray(colour[1]).save(self.path("mixed/b/1.ppm"))
        read = self.read(self.path("mixed"))
        expected = [numpy.dstack([g] * 3) for g in gray] + list(colour)
        numpy.testing.assert_array_equal(read["X"], numpy.reshape(expected, (4, -1)))
        self.assertEqual(list(read["y"]), ["a", "a", "b", "b"])


class Arrays(Files):
    def test_colour_images_of_four_dimensions(self):
        images = smooth(6, 5, 4, 3)
        flat = images.reshape(6, -1)
        numpy.save(self.path("last.npy"), images)
        numpy.save(self.path("fortran.npy"), numpy.asfortranarray(images.astype("f8")))
        numpy.save(self.path("first.npy"), images.transpose(0, 3, 1, 2))
        scipy.io.savemat(self.path("stacked.mat"), {"X": images.transpose(1, 2, 3, 0)})
        numpy.savez(self.path("labelled.npz"), X=images, y=[1, 2, 1, 2, 1, 2])
        names = ["last.npy", "fortran.npy", "first.npy", "stacked.mat", "labelled.npz"]
        if "HDF5" in LIBRARIES:
            with h5py.File(self.path("five.h5"), "w") as file:
                file["X"] = images
            names.append("five.h5")
        for name in names:
            read = self.read(self.path(name))
            numpy.testing.assert_array_equal(read["X"], flat, name)
            self.assertEqual(self.info(self.path(name))["image"],
                             {"height": 5, "width": 4, "channels": 3, "column_major": False})

    def test_other_images_of_four_dimensions(self):
        images = RNG.random((6, 5, 4, 7)).astype("f4")
        for shown, array in (((5, 4), images[..., :1]), ((5, 4), images[:, None, :, :, 0]),
                             (None, images), (None, images[..., :4])):
            numpy.save(self.path("a.npy"), array)
            numpy.testing.assert_array_equal(self.read(self.path("a.npy"))["X"],
                                             array.reshape(6, -1))
            image = self.info(self.path("a.npy")).get("image")
            self.assertEqual(image and (image["height"], image["width"]), shown)
            self.assertEqual(image and image["channels"], shown and 1)

    def shape(self, rows, *flags):
        numpy.save(self.path("rows.npy"), rows)
        image = self.info(self.path("rows.npy"), *flags).get("image")
        return image and (image["height"], image["width"], image["channels"], image["column_major"])

    def test_sizes_are_inferred(self):
        gray = smooth(60, 16, 16)[..., 0]
        gray[:, :, 3:6] //= 2  # upright things are symmetric from left to right, and not upside down
        gray[:, :, 10:13] //= 2
        gray[:, :4] //= 3
        self.assertEqual(self.shape(gray.reshape(60, -1)), (16, 16, 1, False))
        self.assertEqual(self.shape(gray.transpose(0, 2, 1).reshape(60, -1)), (16, 16, 1, True))
        self.assertEqual(self.shape(gray.reshape(60, -1) / 255), (16, 16, 1, False))
        self.assertEqual(self.shape(smooth(60, 20, 12)[..., 0].reshape(60, -1))[:3], (20, 12, 1))
        self.assertEqual(self.shape(smooth(60, 16, 16, 3).reshape(60, -1))[:3], (16, 16, 3))
        self.read(self.path("rows.npy"))
        self.assertIn("rows are taken for colour images of 16 x 16 pixels", self.notes)

    def test_other_rows_are_no_images(self):
        steps = RNG.standard_normal((60, 256)).cumsum(axis=1)
        for rows in (RNG.integers(0, 256, (60, 256)), RNG.random((60, 256)), steps,
                     (steps - steps.min()) / (steps.max() - steps.min()),
                     numpy.zeros((60, 256)), smooth(60, 16, 16).reshape(60, -1) * 7.3,
                     smooth(60, 7, 7).reshape(60, -1)):
            self.assertIsNone(self.shape(rows))

    def test_sizes_are_given(self):
        rows = RNG.random((20, 60))
        self.assertEqual(self.shape(rows, "--image", "10x6:rows"), (10, 6, 1, False))
        self.assertEqual(self.shape(rows, "--image", "10x6:columns"), (10, 6, 1, True))
        self.assertEqual(self.shape(rows, "--image", "5x4x3:rows"), (5, 4, 3, False))
        self.assertIsNone(self.shape(smooth(60, 16, 16).reshape(60, -1), "--image", "none"))
        self.refused(self.path("rows.npy"), "--image 9x9 does not fit rows of 256 features",
                     "--image", "9x9")
        for text in ("9", "x", "16x16x", "16x16:down", "16x16x1x1", "0x256", "-16x-16"):
            self.refused(self.path("rows.npy"), "is not HEIGHTxWIDTH", "--image", text)
        self.refused(self.path("rows.npy"), "images have 1 or 3 channels, not 4", "--image", "8x8x4")

    def test_planes_stay_in_their_order(self):
        rows = smooth(6, 5, 4, 3).transpose(0, 3, 1, 2).reshape(6, -1)
        numpy.save(self.path("planes.npy"), rows)
        read = self.read(self.path("planes.npy"), "--image", "3x5x4")
        numpy.testing.assert_array_equal(read["X"], rows)
        self.assertFalse([name for name in read if name.startswith("im_")])

    def structs(self, name):
        read = self.read(self.path(name))
        numpy.testing.assert_array_equal(read["X"], numpy.arange(12).reshape(4, 3))
        self.assertEqual(list(read["y"]), [1, 2, 1, 2])
        read = self.read(self.path(name), "--x", "deep.inner.table")
        numpy.testing.assert_array_equal(read["X"], numpy.eye(3))
        self.assertEqual(sorted(self.info(self.path(name))["names"]),
                         ["data.X", "data.gnd", "deep.inner.table", "deep.words"])
        self.refused(self.path(name), "no variable named 'data'; the file contains", "--x", "data")

    def test_structs_of_version_5(self):
        content = {"data": {"X": numpy.arange(12.).reshape(4, 3), "gnd": [[1], [2], [1], [2]]},
                   "deep": {"inner": {"table": numpy.eye(3)}, "words": ["a", "b"]}}
        for packed in (False, True):
            scipy.io.savemat(self.path("structs.mat"), content, do_compression=packed)
            self.structs("structs.mat")

    @needs("HDF5")
    def test_structs_of_version_73(self):
        path = self.path("structs73.mat")
        with h5py.File(path, "w", userblock_size=512) as file:
            def add(group, name, values):
                group[name] = numpy.asarray(values, "f8").T
                group[name].attrs["MATLAB_class"] = numpy.bytes_("double")
            for name in ("data", "deep", "deep/inner"):
                file.create_group(name).attrs["MATLAB_class"] = numpy.bytes_("struct")
            add(file["data"], "X", numpy.arange(12).reshape(4, 3))
            add(file["data"], "gnd", [[1], [2], [1], [2]])
            add(file["deep/inner"], "table", numpy.eye(3))
            add(file["deep"], "words", [[1.5]])
        with open(path, "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")
        self.structs("structs73.mat")


ARFF = """% A comment
@RELATION 'a relation'

@attribute 'sepal length' numeric
@ATTRIBUTE width REAL
@attribute colour {red,'light blue', "dark \\"red\\""}
@attribute flag {0,1}
@attribute day DATE "yyyy-MM-dd"
@attribute kind {A,B}
@data
% another comment
5.1, 3.5, red, 0, "2001-04-03", A
4.9, 2.5, 'light blue', 1, "2001-04-04", B

4.7,-3.2e1,"dark \\"red\\"",1,"2001-04-05",A
"""


class Tables(Files):
    def test_arff(self):
        path = self.write("a.arff", ARFF)
        self.refused(path, "column 3 (colour): text, not numbers")
        read = self.read(path, "--encode")
        half = numpy.sqrt(0.5)  # colour: dark "red", light blue, red
        expected = [[5.1, 3.5, 0, 0, half, 0], [4.9, 2.5, 0, half, 0, 1], [4.7, -32, half, 0, 0, 1]]
        named = self.info(path, "--encode")
        self.assertEqual([named["format"], named["label_column"]], ["arff", "kind"])
        numpy.testing.assert_allclose(read["X"], expected, rtol=1e-6)
        self.assertEqual(list(read["y"]), ["A", "B", "A"])
        read = self.read(path, "--x", "sepal length", "--x", "flag")
        numpy.testing.assert_allclose(read["X"], [[5.1, 0], [4.9, 1], [4.7, 1]], rtol=1e-6)

    def test_arff_quotes(self):
        path = self.write("q.arff", "@relation r\n@attribute a real\n@attribute k {'it\\'s',\"b, c\"}\n"
                                    "@data\n1,'it\\'s'\n2,\"b, c\"\n3,\"it's\"\n")
        self.assertEqual(list(self.read(path)["y"]), ["it's", "b, c", "it's"])

    def test_arff_tabs(self):
        path = self.write("t.arff", "@relation r\n@attribute a real\n@attribute b real\n"
                                    "@attribute k {x,'y z'}\n@data\n1\t2\tx\n3,\t4\t, 'y z'\t\n")
        read = self.read(path)
        numpy.testing.assert_array_equal(read["X"], [[1, 2], [3, 4]])
        self.assertEqual(list(read["y"]), ["x", "y z"])

    def test_arff_agrees_with_scipy(self):
        rows = RNG.standard_normal((50, 3))
        text = "@relation r\n" + "".join(f"@attribute a{k} real\n" for k in range(3))
        text += "@attribute class {x,y}\n@data\n"
        text += "".join(f"{a!r},{b!r},{c!r},{'xy'[k % 2]}\n" for k, (a, b, c) in enumerate(rows))
        known, _ = scipy.io.arff.loadarff(io.StringIO(text))
        read = self.read(self.write("r.arff", text))
        numpy.testing.assert_array_equal(
            read["X"], numpy.array([[r[k] for k in range(3)] for r in known]))
        self.assertEqual(list(read["y"]), [r[3].decode() for r in known])

    def test_arff_missing_values(self):
        path = self.write("m.arff", "@relation r\n@attribute a real\n@attribute b real\n@data\n"
                                    "1,2\n?,4\n3,6\n")
        self.refused(path, "line 6, column 1 (a): the value is missing")
        numpy.testing.assert_allclose(self.read(path, "--missing", "mean")["X"],
                                      [[1, 2], [2, 4], [3, 6]])

    def test_arff_faults(self):
        head = "@relation r\n@attribute a real\n@attribute k {x,y}\n"
        for text, message in ((head, "there is no @data in it"),
                              (head + "@data\n", "attributes but no rows"),
                              (head + "@data\n% 1,x\n\n", "attributes but no rows"),
                              (head + "@data\n1,x\n2\n", "line 6 has 1 value for 2 attributes"),
                              (head + "@data\n1,x\n2,'y\n", "line 6: a quote is not closed"),
                              (head + "@data\n1,x\nb,y\n", "line 6, column 1 (a): 'b'"),
                              (head + "@data\n1,x {2}\n", "line 5: '{2}' is not expected"),
                              (head + "@attribute r relational\n@data\n", "line 4: attribute 'r' is"),
                              (head + "nonsense\n@data\n", "line 4: 'nonsense' is neither"),
                              ("@relation r\n@attribute a {x,y\n@data\n", "not closed by }"),
                              ("@relation r\n@data\n1\n", "line 2: @data comes before any")):
            self.refused(self.write("f.arff", text), message)

    def test_sparse_arff(self):
        head = ("@relation r\n@attribute a numeric\n@attribute b {0,1}\n@attribute c integer\n"
                "@attribute class {no,'y es'}\n@data\n")
        path = self.write("s.arff", head + "{0 1.5, 3 'y es'}\n% comment\n{1 1, 2 -3e1}\n{}\n{ 2 4 , 3 no }\n")
        read = self.read(path)
        dense = scipy.sparse.csr_matrix((read["data"], read["indices"], read["indptr"]),
                                        shape=read["shape"]).toarray()
        numpy.testing.assert_array_equal(dense, [[1.5, 0, 0], [0, 1, -30], [0, 0, 0], [0, 0, 4]])
        self.assertEqual(list(read["y"]), ["y es", "no", "no", "no"])
        for row, message in (("{9 1}", "line 7: '9' is not the index of an attribute (0 to 3"),
                             ("{2 1, 0 1}", "line 7: '0' is not the index"),
                             ("{0 z}", "line 7, attribute 0 (a): 'z' is not a number"),
                             ("{0 ?}", "line 7, attribute 0 (a): '?' is not a number"),
                             ("{0 1", "line 7: the row is not closed"),
                             ("1,2", "line 8: the row does not begin with {")):
            first = "{}\n" if row[0] == "1" else ""
            self.refused(self.write("f.arff", head + first + row + "\n"), message)

    def test_encodings(self):
        text = "größe;b;label\n1;2;ä\n3;4;€\n5;6;ä\n"
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"):
            read = self.read(self.write("t.csv", text.encode(encoding)))
            numpy.testing.assert_array_equal(read["X"], [[1, 2], [3, 4], [5, 6]])
            self.assertEqual(list(read["y"]), ["ä", "€", "ä"], encoding)
            self.assertEqual("line 1: byte 0xF6 is not UTF-8" in self.notes, encoding == "cp1252")
        self.refused(self.write("odd.csv", "a,b\n1,2\n".encode("utf-16") + b"3"), "cut short")
        self.write("pair.csv", "a,b,label\n1,2,\U0001F600\n3,4,x\n5,6,x\n".encode("utf-16"))
        self.assertEqual(list(self.read(self.path("pair.csv"))["y"]), ["\U0001F600", "x", "x"])


class Packed(Files):
    def each_format(self, ending, compress):
        rows, classes = RNG.integers(0, 99, (40, 3)), RNG.integers(0, 2, 40)
        table = "a,b,c,label\n" + "".join(f"{a},{b},{c},{k}\n" for (a, b, c), k in zip(rows, classes))
        pairs = "".join(f"{k} 1:{a + 1} 2:{b + 1} 3:{c + 1}\n" for (a, b, c), k in zip(rows, classes))
        array, archive, matlab = io.BytesIO(), io.BytesIO(), io.BytesIO()
        numpy.save(array, rows)
        numpy.savez(archive, X=rows, y=classes)
        scipy.io.savemat(matlab, {"X": rows, "y": classes})
        digits = b"\0\0\x08\3" + numpy.array([40, 1, 3], ">i4").tobytes() + rows.astype("u1").tobytes()
        labels = b"\0\0\x08\1" + numpy.array([40], ">i4").tobytes() + classes.astype("u1").tobytes()
        self.write(f"t-labels-idx1-ubyte.{ending}", compress(labels))
        for name, content in (("t.csv", table.encode()), ("t.npy", array.getvalue()),
                              ("t.svm", pairs.encode()), ("t.npz", archive.getvalue()),
                              ("t.mat", matlab.getvalue()), ("t-images-idx3-ubyte", digits)):
            read = self.read(self.write(f"{name}.{ending}", compress(content)))
            if name == "t.svm":
                numpy.testing.assert_array_equal(read["data"].reshape(40, 3), rows + 1)
            else:
                numpy.testing.assert_array_equal(read["X"], rows, name)
            if name != "t.npy":
                numpy.testing.assert_array_equal(read["y"], classes, name)
        half = len(table) // 2
        double = compress(table[:half].encode()) + compress(table[half:].encode())
        numpy.testing.assert_array_equal(self.read(self.write("two", double))["X"], rows)
        whole = compress(table.encode() * 50)
        self.refused(self.write("cut", whole[:len(whole) // 2]), "cut: what ")
        self.refused(self.write("bad", whole[:60] + b"\xff\xff\xff\xff" + whole[64:]), "bad: what ")

    def test_gzip(self):
        self.each_format("gz", gzip.compress)

    @needs("libbz2")
    def test_bzip2(self):
        self.each_format("bz2", bz2.compress)

    @needs("liblzma")
    def test_xz(self):
        self.each_format("xz", lzma.compress)

    @needs("libzstd")
    @unittest.skipIf(subprocess.run(["sh", "-c", "command -v zstd"], check=False,
                                    stdout=subprocess.DEVNULL).returncode, "no zstd to compress by")
    def test_zstd(self):
        self.each_format("zst", lambda content: subprocess.run(
            ["zstd", "-c", "--check"], input=content, stdout=subprocess.PIPE, check=True).stdout)


class Foreign(Files):
    def test_what_to_do_is_said(self):
        book, archive = io.BytesIO(), io.BytesIO()
        with zipfile.ZipFile(book, "w") as file:
            file.writestr("[Content_Types].xml", "")
            file.writestr("xl/workbook.xml", "")
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("data.csv", "1,2\n")
        for content, name, advice in (
                (b"PAR1\0\0\0\0PAR1", "Parquet", "read_parquet"),
                (b"ARROW1\0\0", "Arrow (Feather)", "read_feather"),
                (book.getvalue(), "an Excel workbook (.xlsx)", "read_excel"),
                (archive.getvalue(), "a ZIP archive", "unpack it"),
                (b"$FL2@(#) SPSS\0", "SPSS", "read_spss"),
                (gzip.compress(b"X\n\0\0\0\3\0\4\1\2"), "an R object (RDS)", "readRDS"),
                (b"\x80\4\x95\0\0\0.", "a Python pickle", "numpy.save"),
                (b"SQLite format 3\0" + bytes(84), "an SQLite database", "sqlite3 -header -csv"),
                (b'[{"a": 1}, {"a": 2}]', "JSON", "read_json"),
                (b'{"a": 1}\n{"a": 2}\n', "JSON", "lines=True"),
                (b"RIFF\0\0\0\0WEBPVP8 ", "a WebP image", "PNG")):
            self.refused(self.write("file", content), f"file: the file is {name}, which Huddle")
            self.refused(self.path("file"), advice)

    def test_tables_that_look_like_them(self):
        for text in ("PAR1,b\n1,2\n3,4\n", "ORC,b\n1,2\n3,4\n", "BZh,b\n1,2\n3,4\n", "[a],b\n1,2\n3,4\n"):
            self.assertEqual(self.read(self.write("t.csv", text))["X"].shape, (2, 2), text)


if __name__ == "__main__":
    unittest.main()
