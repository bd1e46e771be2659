"""Reading data files, also those of formats that the library of this build does not read."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from ctypes import POINTER, Structure, c_bool, c_char_p
from typing import Any, Iterator

import numpy as np

from . import datasets
from ._library import Context
from ._points import copy_values
from ._warnings import issue_warnings

__all__ = ["read", "Data"]


@dataclasses.dataclass(frozen=True)
class Data:
    """What :func:`read` found in a file. ``X, y = huddle.read(path)`` takes the first two.

    Attributes
    ----------
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or None if the file has no labels
        The labels with the values that they have in the file, as integers or texts.
    feature_names : list of str, or None
        The columns of X, if the file names them.
    names : list of str
        The variables in a container, or the columns of a table: everything that ``x`` and ``y`` of
        :func:`read` can select.
    image_shape : tuple of two or three int, or None
        Height and width, and 3 for colours, if the rows of X are images: the file says so, or they
        look like it. (3, height, width) if all red values come first.
    image_order : {"C", "F"}
        Whether the pixels of an image run along its rows, "C", or down its columns, "F".
    row_names : list of str, or None
        The names of the rows, from a column of a table whose texts do not repeat.
    dropped : ndarray of int
        The rows of a table that ``missing="drop"`` left out.
    format : str
        Such as "csv", "npz", "mat", "hdf5".
    """

    X: Any
    y: np.ndarray | None
    feature_names: list[str] | None
    names: list[str]
    image_shape: tuple[int, ...] | None
    image_order: str
    row_names: list[str] | None
    dropped: np.ndarray
    format: str

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    @property
    def images(self) -> np.ndarray | None:
        """X as an array of images, of shape ``(n_samples, *image_shape)``; None if it has none."""
        if self.image_shape is None:
            return None
        dense = self.X if isinstance(self.X, np.ndarray) else self.X.toarray()
        shape = list(self.image_shape)
        down = 1 if has_planes(shape) else 0
        if self.image_order == "C":
            return dense.reshape(len(dense), *shape)
        shape[down], shape[down + 1] = shape[down + 1], shape[down]
        return dense.reshape(len(dense), *shape).swapaxes(down + 1, down + 2)


def has_planes(shape):
    """Return whether the shape of an image is that of three planes, (3, height, width)."""
    return len(shape) == 3 and shape[0] == 3 and shape[2] != 3


class _Format(Structure):
    _fields_ = [("name", c_char_p), ("title", c_char_p), ("endings", c_char_p),
                ("write_endings", c_char_p), ("dense", c_bool), ("sparse", c_bool),
                ("library", c_char_p), ("present", c_bool)]


def _lacks(library):
    """Return whether the library was built without an outside library that some formats need."""
    lib = datasets._io_library()
    lib.huddle_formats.restype, lib.huddle_formats.argtypes = POINTER(_Format), []
    table, i = lib.huddle_formats(), 0
    while table[i].name:
        if table[i].library == library.encode() and not table[i].present:
            return True
        i += 1
    return False


def _is_hdf5(path):
    """Return whether a file has the signature of HDF5, at 0 or after a block of 512, 1024, ..."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        at = 0
        while at + 8 <= size:
            file.seek(at)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return True
            at = 2 * at or 512
    return False


@contextlib.contextmanager
def _readable(path):
    """Give the path of a file that the library reads, and the format if it is a converted one."""
    if not (os.path.isfile(path) and _is_hdf5(path) and _lacks("HDF5")):
        yield path, None
        return
    try:
        from . import _hdf5
    except ImportError as error:
        raise ImportError(f"{os.fspath(path)}: HDF5 and MATLAB v7.3 files are read by h5py, which "
                          f"cannot be imported ({error}): pip install h5py") from error
    with tempfile.TemporaryDirectory(prefix="huddle-") as folder:
        yield _hdf5.convert(path, folder)


def _texts(pointers, count):
    return [pointers[k].decode(errors="replace") for k in range(count)] if pointers else None


def _copy_data(data, file_format):
    points = data.points
    shape = (data.height, data.width) if data.height > 0 and data.width > 0 else None
    if shape is not None and data.channels > 1:
        shape = (data.channels, *shape) if data.planes else (*shape, data.channels)
    return Data(X=datasets._copy_points(points), y=datasets._copy_labels(data),
                feature_names=_texts(data.features, points.d),
                names=_texts(data.names, data.n_names) or [], image_shape=shape,
                image_order="F" if data.column_major else "C",
                row_names=_texts(data.row_names, points.n),
                dropped=copy_values(data.dropped, data.n_dropped, np.int64),
                format=file_format or data.format.decode())


def read_with(path, stacklevel, **options):
    """Read a file; stacklevel is that of warnings, as for the caller's warnings.warn()."""
    given, context = os.fspath(path), Context()
    options = datasets.read_options(**options)
    with _readable(path) as (file, file_format):
        def own_name(text):
            return text.replace(os.fspath(file), given)
        try:
            with datasets.reading(context, file, options) as data:
                found = _copy_data(data, file_format)
        except Exception as error:
            if file_format is not None and len(error.args) == 1:
                error.args = (own_name(error.args[0]),)
            raise
        # Messages about columns that are left out are no warnings in the library, but a program
        # that reads a file without looking at it should know of them.
        issue_warnings([(code, f"{given}: {own_name(text)}") for code, text in context.messages],
                       stacklevel=stacklevel + 1)
        return found


def read(path: str | os.PathLike, *, x: str | list[str] | None = None,
         y: str | list[str] | None = None, transpose: bool = False, classes: str | None = None,
         per_class: int = 0, missing: str = "error", encode: bool = False,
         header: str = "auto", gray: bool = False, image: str | None = None) -> Data:
    """Read points and labels from a file, as ``huddle cluster`` does.

    CSV, ARFF, NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket and IDX files and folders of images are
    recognised by their content. HDF5 and MATLAB v7.3 files are read by h5py if the library was
    built without HDF5, as in the wheel; the result is the same. They are copied to a temporary file
    then.

    A warning is issued for everything that is left out of a table (row numbers, dates, columns that
    determine the labels, rows with missing values), and for what is guessed: a header of numbers, and
    a column that names the rows.

    Parameters
    ----------
    path : str or path-like
        The file, or a folder of images.
    x, y : str or list of str, optional
        Names of variables in a container, which are stacked in this order, or columns of a table.
        By default, variables and columns with conventional names are used. ``y="none"`` ignores
        labels.
    transpose : bool
        Whether the samples are the columns of the array.
    classes : str, optional
        Keep only these classes, such as ``"11-36,40"``.
    per_class : int
        Keep only the first points of each class, at most this many; 0 keeps all.
    missing : {"error", "drop", "mean", "median"}
        Missing values of a table: raise an error, drop their rows, or replace them by the mean or
        the median of the column.
    encode : bool
        Whether to encode text columns of a table, as one feature per distinct text.
    header : {"auto", "yes", "no"}
        Whether the first row of a table has the names of the columns; "auto" finds out.
    gray : bool
        Whether to read colour images as gray ones.
    image : str, optional
        What the rows are: "32x32" (height and width), "32x32x3", "3x32x32" (all red values
        first), with ":rows" or ":columns" after it if pixels run that way, or "none". By default,
        the file says so or the values tell.

    Returns
    -------
    data : Data
        ``data.X``, ``data.y``, ``data.feature_names``, ...; it unpacks as ``X, y``.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "points.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("age,height,class\\n30,1.5,a\\n40,1.75,b\\n50,1.25,a\\n")
    >>> data = read(path)
    >>> data.feature_names
    ['age', 'height']
    >>> X, y = data
    >>> X.tolist(), y.tolist()
    ([[30.0, 1.5], [40.0, 1.75], [50.0, 1.25]], ['a', 'b', 'a'])
    """
    return read_with(path, 2, x=x, y=y, transpose=transpose, classes=classes, per_class=per_class,
                     missing=missing, encode=encode, header=header, gray=gray, image=image)
