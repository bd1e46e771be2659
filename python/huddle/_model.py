"""A fitted model of the library as a Python object that can be pickled and copied."""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
from ctypes import POINTER, byref, c_char_p, c_int32, c_void_p

import numpy as np

from . import _library
from ._library import Array, lib
from ._options import as_text
from ._points import PointsView, copy_array, csr_view


class Model:
    """One method with its options; owns a huddle_model."""

    def __init__(self, method, options):
        self.handle = c_void_p()
        _library.check(lib.huddle_model_new(method.encode(), byref(self.handle)))
        for name, value in options.items():
            _library.check(lib.huddle_model_set_option(self.handle, name.encode(),
                                                as_text(value).encode()))

    def give_graph(self, graph):
        view, _keep = csr_view(graph)
        _library.check(lib.huddle_model_set_graph(self.handle, byref(view)))

    def name_features(self, names):
        """Names for warnings and the report."""
        texts = (c_char_p * len(names))(*(str(name).encode() for name in names))
        _library.check(lib.huddle_model_set_feature_names(self.handle, len(names), texts))

    def fit(self, context, x):
        points = PointsView(context, x) if x is not None else None
        _library.call(context, lib.huddle_model_fit, context.handle, self.handle,
                      byref(points.struct) if points is not None else None)

    def predict(self, context, x):
        points = PointsView(context, x, model=self)
        labels = np.empty(points.struct.n, np.int32)
        _library.call(context, lib.huddle_model_predict, context.handle, self.handle,
                      byref(points.struct), labels.ctypes.data_as(POINTER(c_int32)))
        return labels

    def get(self, name):
        """A copy of an array of the fit, or None if the method made no such thing."""
        view = Array()
        if lib.huddle_model_array(self.handle, name.encode(), byref(view)) != _library.OK:
            return None
        return copy_array(view)

    def info(self):
        text = c_void_p()
        _library.check(lib.huddle_model_info_json(self.handle, byref(text)))
        try:
            return json.loads(ctypes.cast(text, c_char_p).value)
        finally:
            lib.huddle_free(text)

    def save(self, path):
        _library.check(lib.huddle_model_save(self.handle, os.fsencode(path)))

    @classmethod
    def load(cls, path):
        model = cls.__new__(cls)
        model.handle = c_void_p()
        _library.check(lib.huddle_model_load(os.fsencode(path), byref(model.handle)))
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
            self.handle = type(self).load(path)._release()

    def _release(self):
        handle, self.handle = self.handle, None
        return handle

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            lib.huddle_model_free(handle)
