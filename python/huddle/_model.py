"""A huddle_model of the library as a Python object that can be pickled and copied."""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_void_p

import numpy as np

from . import _library
from ._library import Array, Dense, lib
from ._options import option_text
from ._points import PointsView, ViewsArray, copy_array, copy_dense, csr_view


class Model:
    """A method with its options and, after fit(), its results. Owns a huddle_model.

    The pickled state is the content of a model file: a zip archive of NPY arrays and model.json, as
    ``huddle cluster --save`` writes it.
    """

    def __init__(self, method, options):
        self.handle = c_void_p()
        _library.check(lib.huddle_model_new(method.encode(), byref(self.handle)))
        for name, value in options.items():
            _library.check(lib.huddle_model_set_option(self.handle, name.encode(),
                                                       option_text(value).encode()))

    def set_graph(self, graph):
        """Set a graph, similarities or distances to use instead of points; copied."""
        view, _keep = csr_view(graph)
        _library.check(lib.huddle_model_set_graph(self.handle, byref(view)))

    def set_feature_names(self, names):
        """Set the feature names that warnings, the info and pages use."""
        texts = (c_char_p * len(names))(*(str(name).encode() for name in names))
        _library.check(lib.huddle_model_set_feature_names(self.handle, len(names), texts))

    def fit(self, context, x):
        """Fit to points, to a list of views of them, or to the graph if x is None."""
        if x is None:
            _library.call(context, lib.huddle_model_fit, context.handle, self.handle, None)
            return
        views = ViewsArray(context, x)
        _library.call(context, lib.huddle_model_fit_views, context.handle, self.handle,
                      views.count, views.structs)

    def predict(self, context, x):
        """Return the labels of new points, or of a list of views of them."""
        views = ViewsArray(context, x, model=self)
        labels = np.empty(views.n, np.int32)
        _library.call(context, lib.huddle_model_predict_views, context.handle, self.handle,
                      views.count, views.structs, labels.ctypes.data_as(POINTER(c_int32)))
        return labels

    def transform(self, context, x):
        """Return the coordinates of new points, or of a list of views of them."""
        views, rows = ViewsArray(context, x, model=self), Dense()
        try:
            _library.call(context, lib.huddle_model_transform_views, context.handle, self.handle,
                          views.count, views.structs, byref(rows))
            return copy_dense(rows)
        finally:
            lib.huddle_dense_free(byref(rows))

    def _call_with_points(self, context, function, x, *arguments):
        """Call a function for the points of the fit, which may be None."""
        points = PointsView(context, x, model=self) if x is not None else None
        _library.call(context, function, context.handle, self.handle,
                      byref(points.struct) if points is not None else None, *arguments)

    def _point_values(self, context, function, x):
        values = np.empty(self.n_rows, np.float64)
        self._call_with_points(context, function, x, values.ctypes.data_as(POINTER(c_double)))
        return values

    def confidence(self, context, x):
        """Return how certain each label is; x are the points of the fit, or None."""
        return self._point_values(context, lib.huddle_model_confidence, x)

    def silhouettes(self, context, x):
        """Return the silhouette of each point; x as above."""
        return self._point_values(context, lib.huddle_model_silhouettes, x)

    def score(self, context, x):
        """Compute the scores that need no classes; info() has them from then on."""
        self._call_with_points(context, lib.huddle_model_score, x)

    @property
    def n_rows(self):
        """The number of labels."""
        n = c_int64(0)
        lib.huddle_model_labels(self.handle, byref(n))
        return n.value

    @property
    def method(self):
        """The name of the method."""
        return lib.huddle_model_method(self.handle).decode()

    def _view(self, name):
        view = Array()
        found = lib.huddle_model_array(self.handle, name.encode(), byref(view)) == _library.OK
        return view if found else None

    def array(self, name):
        """Return a copy of an array of the fit, or None if the method has no such array."""
        view = self._view(name)
        return copy_array(view) if view is not None else None

    def shape(self, name):
        """Return the shape of an array that the method has."""
        view = self._view(name)
        return view.rows, view.cols

    def info(self):
        """Return all results that are not arrays, with the options, as a dict."""
        text = c_void_p()
        _library.check(lib.huddle_model_info_json(self.handle, byref(text)))
        try:
            return json.loads(ctypes.cast(text, c_char_p).value)
        finally:
            lib.huddle_free(text)

    def save(self, path, context=None):
        """Write a model file; with a context, that of all processes of its engine."""
        if context is None:
            _library.check(lib.huddle_model_save(self.handle, os.fsencode(path)))
        else:
            _library.call(context, lib.huddle_model_save_distributed, context.handle, self.handle,
                          os.fsencode(path))

    @classmethod
    def load(cls, path, context=None):
        """Return the model of a file that save() or the tool wrote."""
        model = cls.__new__(cls)
        model.handle = c_void_p()
        if context is None:
            _library.check(lib.huddle_model_load(os.fsencode(path), byref(model.handle)))
        else:
            _library.call(context, lib.huddle_model_load_distributed, context.handle,
                          os.fsencode(path), byref(model.handle))
        return model

    def __getstate__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            self.save(path)
            with open(path, "rb") as file:
                return {"file": file.read()}

    def __setstate__(self, state):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            with open(path, "wb") as file:
                file.write(state["file"])
            loaded = type(self).load(path)
        self.handle, loaded.handle = loaded.handle, None

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            lib.huddle_model_free(handle)
