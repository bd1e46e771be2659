#!/usr/bin/python3
"""Writes the archives that test_archive_zip.c reads: zipfile and NumPy wrote them, not Huddle."""
import zipfile

import numpy as np

TIME = (1980, 1, 1, 0, 0, 0)


def add(archive, name, text, method, wide=False):
    info = zipfile.ZipInfo(name, TIME)
    info.compress_type = method
    with archive.open(info, "w", force_zip64=wide) as entry:
        entry.write(text.encode())


with zipfile.ZipFile("archive_python.zip", "w") as archive:
    archive.comment = b"a comment after the directory"
    add(archive, "stored.txt", "stored by Python\n", zipfile.ZIP_STORED)
    add(archive, "folder/d\u00e9flated.txt", "deflated by Python, deflated by Python\n",
        zipfile.ZIP_DEFLATED)
    add(archive, "wide.txt", "with a ZIP64 record", zipfile.ZIP_STORED, wide=True)
np.savez_compressed("archive_numpy.npz", i8=np.arange(-2, 4).reshape(1, 2, 3),
                    b1=np.array([True, False]))
