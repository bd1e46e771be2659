"""HTML pages of fitted models, written by libhuddle-report."""
from __future__ import annotations

import ctypes
import functools
import inspect
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int32, c_void_p

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from . import _library
from ._points import PointsView
from ._read import has_planes
from ._running import running_context
from ._views import first_view

__all__ = ["report"]


class _Command(Structure):
    _fields_ = [("label", c_char_p), ("text", c_char_p)]


class _ReportOptions(Structure):
    _fields_ = [("title", c_char_p), ("source", c_char_p), ("classes", POINTER(c_int32)),
                ("n_classes", c_int32), ("class_names", POINTER(c_char_p)),
                ("image_height", c_int32), ("image_width", c_int32),
                ("image_column_major", c_bool), ("image_planes", c_bool), ("follow_path", c_bool),
                ("commands", POINTER(_Command)), ("n_commands", c_int32), ("details", c_char_p),
                ("feature_names", POINTER(c_char_p)), ("row_names", POINTER(c_char_p))]


@functools.lru_cache(maxsize=None)
def _report_library():
    """Load libhuddle-report and declare its functions."""
    lib = _library.companion_library("libhuddle-report")
    lib.huddle_report_defaults.argtypes = []
    lib.huddle_report_defaults.restype = _ReportOptions
    lib.huddle_report_write.argtypes = [c_void_p, c_void_p, POINTER(_library.Points),
                                        POINTER(_ReportOptions), c_char_p]
    lib.huddle_report_write.restype = ctypes.c_int
    return lib


def _encode(text):
    return None if text is None else str(text).encode()


def _set_classes(options, y, n):
    """Set the known classes, as numbers and names."""
    y = np.asarray(y).ravel()
    if y.shape[0] != n:
        raise ValueError(f"y has {y.shape[0]} values, but the model was fitted to {n} points")
    names, codes = np.unique(y, return_inverse=True)
    codes = np.ascontiguousarray(codes.ravel(), np.int32)
    texts = (c_char_p * len(names))(*(str(name).encode() for name in names))
    options.classes = codes.ctypes.data_as(POINTER(c_int32))
    options.n_classes = len(names)
    options.class_names = texts
    options.keep_classes = codes, texts  # the options refer to them


def _text_index(X):
    """Return the index of a data frame, if it is text."""
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    # As an array, since NumPy does not know the types of pandas, such as its strings.
    return None if np.issubdtype(np.asarray(index).dtype, np.number) else index


def _set_names(options, model, X, names):
    """Set the names of the features, and those of the rows: names, or a text index of X."""
    features = getattr(model, "feature_names_in_", None)
    if features is not None:
        options.feature_names = (c_char_p * len(features))(*map(_encode, features))
    names = _text_index(X) if names is None else list(names)
    if names is None:
        return
    if len(names) != model.labels_.shape[0]:
        raise ValueError(f"names has {len(names)} values, but the model was fitted to "
                         f"{model.labels_.shape[0]} points")
    options.row_names = (c_char_p * len(names))(*map(_encode, names))


def _set_images(options, shape, order):
    """Set the size of images and the order of their pixels."""
    planes = np.ndim(shape) == 1 and has_planes(shape)
    if np.ndim(shape) != 1 or len(shape) not in (2, 3) or \
            (len(shape) == 3 and not planes and shape[2] != 3):
        raise ValueError(f"image_shape = {shape!r}: expected (height, width), (height, width, 3) or "
                         "(3, height, width)")
    if order not in ("C", "F"):
        raise ValueError(f"image_order = {order!r}: expected 'C' or 'F'")
    options.image_height, options.image_width = shape[1:] if planes else shape[:2]
    options.image_planes, options.image_column_major = planes, order == "F"


def _statement(model, values):
    return f"{type(model).__name__}({', '.join(f'{k}={v!r}' for k, v in values.items())})"


def _set_commands(options, model):
    """Set the Python expressions that construct the estimator: as given, and with all options."""
    parameters = inspect.signature(type(model)).parameters
    given = {name: value for name, value in model.get_params(deep=False).items()
             if name not in ("n_jobs", "progress") and value is not parameters[name].default
             and value != parameters[name].default}
    full = {"random_state" if name == "seed" else name: value
            for name, value in model.info_["options"].items()}
    lines = (_Command * 2)(
        (b"As given", _statement(model, given).encode()),
        (b"With all options", _statement(model, full).encode()))
    options.commands = lines
    options.n_commands = len(lines)
    options.keep_commands = lines


def _equal(a, b):
    if a.shape != b.shape or scipy.sparse.issparse(a) != scipy.sparse.issparse(b):
        return False
    return (a != b).nnz == 0 if scipy.sparse.issparse(a) else np.array_equal(a, b)


def _points_of(model, X):
    """Return the validated points: X, or by default what the model was fitted to, or None."""
    fitted = getattr(model, "_fit_X", None)
    if X is None:
        return fitted
    X = first_view(model._validate(X, reset=False))
    if fitted is not None and not _equal(X, fitted):
        raise ValueError("X is not what the model was fitted to")
    return X


def report(model, path: str | os.PathLike, X=None, y=None, title: str | None = None, *,
           source: str | None = None, image_shape: tuple[int, ...] | None = None,
           image_order: str = "C", follow_path: bool = True, names=None) -> None:
    """Write an HTML page about a fitted model: its clusters, plots, convergence and options.

    The page is one file that loads nothing from the network. The model is not fitted again, and the
    command-line tool is not needed.

    Parameters
    ----------
    model : a fitted estimator
    path : str or path-like
        The file to write.
    X : array-like or sparse matrix, optional
        What the model was fitted to. By default the points that ``fit`` was called with, which a
        pickled and loaded model no longer has; then the page omits what needs the points
        themselves: images, and for some methods the scatter plot of the points.
    y : array-like of shape (n_samples,), optional
        Known classes of the points, as numbers or strings, to score the labels against.
    title : str, optional
        The heading of the page. By default the source, or the name of the method.
    source : str, optional
        The name of the data.
    image_shape : tuple of two or three int, optional
        Height and width in pixels, if each row of X is an image: grey, or red, green and blue side
        by side. The number of colours, 3, may follow, or come first if all red values
        do, as in ``image_shape`` of :func:`read`.
    image_order : {"C", "F"}
        Whether the pixels of an image run along its rows, "C", or down its columns, "F".
    follow_path : bool
        Whether to animate the shrinking for a range of gamma, if the method shrinks. The shrink
        problem is then solved for each of these values, which takes longer than the shrink step
        itself.
    names : sequence of str, optional
        The names of the points, to find them on the page: ``row_names`` of :func:`read`. By default
        the index of X, if it is a data frame with an index of text.

    Examples
    --------
    >>> import os, tempfile
    >>> from huddle import SpectralClustering, report
    >>> from huddle.datasets import load_digits
    >>> X, y = load_digits()
    >>> model = SpectralClustering(n_clusters=10).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "digits.html")
    >>> report(model, path, y=y, title="Handwritten digits", image_shape=(8, 8))
    """
    check_is_fitted(model)
    points, lib = _points_of(model, X), _report_library()
    options = lib.huddle_report_defaults()
    options.title, options.source = _encode(title), _encode(source)
    options.follow_path = follow_path
    if image_shape is not None:
        _set_images(options, image_shape, image_order)
    if y is not None:
        _set_classes(options, y, model.labels_.shape[0])
    _set_commands(options, model)
    _set_names(options, model, X, names)
    with running_context(model.n_jobs, model.progress, model.engine) as context:
        view = None
        if points is not None and not model._is_pairwise():
            view = PointsView(context, points, model=model._model)
        _library.call(context, lib.huddle_report_write, context.handle, model._model.handle,
                      byref(view.struct) if view is not None else None, byref(options),
                      os.fsencode(path))
