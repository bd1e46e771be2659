#!/usr/bin/python3
"""seeds.py FOLDER: small images of every kind, by Pillow, as seeds of the fuzz targets."""
import os
import sys

import numpy
from PIL import Image

gray = numpy.arange(20, dtype="uint8").reshape(4, 5) * 12
colour = numpy.stack([gray, 255 - gray, gray // 2], axis=2)
for name, image in (("gray", Image.fromarray(gray)), ("colour", Image.fromarray(colour)),
                    ("palette", Image.fromarray(colour).quantize(4)),
                    ("bits", Image.fromarray(gray).convert("1"))):
    for ending in ("bmp", "tif", "jpg", "ppm"):
        if ending in ("jpg", "ppm") and image.mode in "1P":
            continue
        image.save(os.path.join(sys.argv[1], f"{name}.{ending}"))
