#!/usr/bin/python3
"""seeds.py FOLDER images|structs: seeds of the fuzz targets, by Pillow and SciPy.

Small images of every kind, or MATLAB structs, with the byte of options before them.
"""
import io
import os
import sys

import numpy
import scipy.io
from PIL import Image


def write(name, content):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(content)


def images():
    gray = numpy.arange(20, dtype="uint8").reshape(4, 5) * 12
    colour = numpy.stack([gray, 255 - gray, gray // 2], axis=2)
    for name, image in (("gray", Image.fromarray(gray)), ("colour", Image.fromarray(colour)),
                        ("palette", Image.fromarray(colour).quantize(4)),
                        ("bits", Image.fromarray(gray).convert("1"))):
        for ending in ("bmp", "tiff", "jpeg", "ppm"):
            if ending in ("jpeg", "ppm") and image.mode in "1P":
                continue
            content = io.BytesIO()
            image.save(content, ending)
            write(f"{name}.{ending}", content.getvalue())


def structs():
    variables = {"a": {"X": numpy.eye(2), "y": [1, 2], "b": {"c": ["u", "v"], "d": numpy.ones(3)}}}
    for packed in (False, True):
        content = io.BytesIO()
        scipy.io.savemat(content, variables, do_compression=packed)
        write(f"struct{packed}", b"\0" + content.getvalue())


{"images": images, "structs": structs}[sys.argv[2]]()
