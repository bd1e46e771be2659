#!/usr/bin/python3
"""check.py WRITE_SAMPLE: Python's zipfile and NumPy open the archives that src/archive writes."""
import glob
import json
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

EXPECTED = {
    "f4": np.arange(6, dtype="f4").reshape(2, 3),
    "f8": np.array([0.5, -1]),
    "i4": np.array([7, -8, 9], dtype="i4"),
    "i8": np.array(2**63 - 1),
    "b1": np.array([False, True]),
    "none": np.array([]),
    "gr\u00fc\u00dfe": np.array([2, 3], dtype="u1"),
}


def check(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, path
        assert json.loads(archive.read("model.json")) == {"n": 1}
        assert all(info.date_time == (1980, 1, 1, 0, 0, 0) for info in archive.infolist())
        assert [info.filename for info in archive.infolist()] == \
            ["model.json"] + [name + ".npy" for name in EXPECTED]
    with np.load(path) as arrays:
        for name, expected in EXPECTED.items():
            found = arrays[name]
            assert found.dtype == expected.dtype and found.shape == expected.shape, name
            assert (found == expected).all(), name


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder], check=True)
    paths = glob.glob(folder + "/*.npz")
    for path in paths:
        check(path)
    print(f"{len(paths)} archives")
    assert len(paths) == 19
