"""HDF5 and MATLAB v7.3 files, read by h5py, as files that the library reads without HDF5.

The arrays keep their names, types and order, so that what the library finds in the copy is what it
finds in the original with HDF5. HDF5 becomes NPZ and MATLAB v7.3 becomes v5: images are stored down
the columns in both of the latter and along the rows in both of the former.
"""
from __future__ import annotations

import os
import zipfile

import h5py
import numpy as np
import scipy.io
import scipy.sparse

_MAT5_BYTES = 2**31  # of a variable

# Classes of MATLAB that are arrays of numbers; data sets of other programs have no class.
_NUMBERS = {"", "double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u")
                                                 for bits in (8, 16, 32, 64))}


def _hard_links(group):
    """Return the names in a group and the groups inside; as the library, without soft links."""
    names = []

    def add(name, link):
        if link.type == h5py.h5l.TYPE_HARD:
            names.append(name.decode())
    group.id.links.visit(add, info=True)
    return names


def _read_texts(data):
    texts = data.asstr(errors="replace")[()]
    if data.id.get_type().get_strpad() == h5py.h5t.STR_SPACEPAD:
        texts = np.vectorize(lambda text: text.rstrip(" "), otypes=[object])(texts)
    return np.asarray(texts, dtype=str)


def _read_array(data):
    """Return an array that NPY files can contain, or None."""
    if data.shape is None:  # without a value
        return None
    if h5py.check_string_dtype(data.dtype):
        return _read_texts(data)
    values = np.asarray(data[()])
    if values.dtype == bool:
        return values.astype(np.int8)
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    return None if values.dtype.hasobject else values


def _convert_hdf5(file, path):
    arrays = {}
    for name in _hard_links(file):
        item = file[name]
        values = _read_array(item) if isinstance(item, h5py.Dataset) else None
        if values is not None:
            arrays[name] = values
    if not arrays:
        raise ValueError("the file contains no data sets")
    # Not by np.savez(), whose own arguments arrays could be named after.
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, values, allow_pickle=False)


def _class_of(item):
    name = item.attrs.get("MATLAB_class", b"")
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def _read_characters(item):
    """Return the texts in the rows of a matrix of characters."""
    if item.attrs.get("MATLAB_empty", 0):
        return np.array([""])
    units = np.atleast_2d(item[()].T)
    return np.array([row.astype(np.uint16).tobytes().decode("utf-16-le", errors="replace")
                     for row in units])


def _read_cells(item):
    if item.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0), dtype=object)
    references = item[()].T
    cells = np.empty(references.shape, dtype=object)
    for place in np.ndindex(references.shape):
        values = _read_matlab(item.file[references[place]])
        is_text = isinstance(values, np.ndarray) and values.dtype.kind == "U" and len(values) == 1
        cells[place] = values[0] if is_text else {} if values is None else values
    return cells


def _complex(values):
    """Return records of two numbers, as MATLAB stores them, as complex numbers."""
    if values.dtype.names == ("real", "imag"):
        return values["real"] + 1j * values["imag"]
    return values


def _read_sparse(group):
    rows, offsets = int(group.attrs["MATLAB_sparse"]), group["jc"][()].ravel()
    if "data" not in group:
        return scipy.sparse.csc_matrix((rows, len(offsets) - 1))
    values = _complex(group["data"][()].ravel())
    if _class_of(group) == "logical":
        values = values.astype(bool)
    return scipy.sparse.csc_matrix((values, group["ir"][()].ravel(), offsets),
                                   shape=(rows, len(offsets) - 1))


def _read_matlab(item):
    """Return a variable as savemat() writes it, or None if it has no value.

    What the library refuses to read, such as objects, becomes a struct, which it refuses too.
    """
    kind = _class_of(item)
    if isinstance(item, h5py.Group):
        if "MATLAB_sparse" in item.attrs:
            return _read_sparse(item)
        fields = {name: _read_matlab(item[name]) for name in item}
        return {name: value for name, value in fields.items() if value is not None}
    if kind == "cell":
        return _read_cells(item)
    if kind == "char":
        return _read_characters(item)
    if kind not in _NUMBERS:
        return {}
    if item.attrs.get("MATLAB_empty", 0):
        return np.zeros(tuple(int(n) for n in item[()]))
    values = _read_array(item)
    if values is None:
        return None
    values = _complex(values).T
    return values.astype(bool) if kind == "logical" else values


def _convert_matlab(file, path):
    variables = {}
    for name in sorted(file):
        if name.startswith("#") or not isinstance(file.get(name, getlink=True), h5py.HardLink):
            continue
        values = _read_matlab(file[name])
        if getattr(values, "nbytes", 0) >= _MAT5_BYTES:
            raise NotImplementedError(f"'{name}' has {values.nbytes} bytes, which are too many for "
                                      "the copy that is read without HDF5; save X as .npy")
        if values is not None:
            variables[name] = values
    if not variables:
        raise ValueError("the file contains no variables")
    scipy.io.savemat(path, variables, oned_as="column", long_field_names=True)


def convert(path, folder):
    """Write a copy of an HDF5 or MATLAB v7.3 file to a folder; return its path and the format."""
    with open(path, "rb") as file:
        is_matlab = file.read(10) == b"MATLAB 7.3"
    copy = os.path.join(folder, "copy.mat" if is_matlab else "copy.npz")
    try:
        with h5py.File(path, "r") as file:
            (_convert_matlab if is_matlab else _convert_hdf5)(file, copy)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if isinstance(error, NotImplementedError):
            raise NotImplementedError(f"{os.fspath(path)}: {error}") from error
        raise ValueError(f"{os.fspath(path)}: {error}") from error
    return copy, "mat" if is_matlab else "hdf5"
