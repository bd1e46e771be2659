"""The shared library: finding it, its structs, its functions, its errors.

Nothing here knows of NumPy or scikit-learn. The library is looked for in $HUDDLE_LIBRARY, beside
this file (a wheel), in the source tree's build/, and where the system keeps libraries.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_float, c_int,
                    c_int32, c_int64, c_size_t, c_uint64, c_void_p)

OK, INVALID, NO_MEMORY, IO, FORMAT, UNSUPPORTED, NUMERIC, CANCELLED, INTERNAL = range(9)
AUTO = -1


def _candidates():
    here = pathlib.Path(__file__).resolve().parent
    if os.environ.get("HUDDLE_LIBRARY"):
        yield os.environ["HUDDLE_LIBRARY"]
        return
    yield from sorted(str(p) for p in here.glob("libhuddle.so*"))
    yield str(here.parent.parent / "build" / "libhuddle.so")
    found = ctypes.util.find_library("huddle")
    if found:
        yield found


def _load():
    tried = []
    for path in _candidates():
        if os.path.sep in path and not os.path.exists(path):
            tried.append(path)
            continue
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            tried.append(f"{path} ({error})")
    raise ImportError("libhuddle.so was not found; tried " + ", ".join(tried) +
                      ". Build it with ./dev build, or name it in HUDDLE_LIBRARY.")


lib, library_path = _load()


class Points(Structure):
    _fields_ = [("n", c_int64), ("d", c_int64), ("stride", c_int64), ("values", POINTER(c_float)),
                ("offsets", POINTER(c_int64)), ("columns", POINTER(c_int32)),
                ("shift", POINTER(c_double))]


class Dense(Structure):
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("stride", c_int64),
                ("values", POINTER(c_double))]


class Csr(Structure):
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("offsets", POINTER(c_int64)),
                ("columns", POINTER(c_int32)), ("values", POINTER(c_double))]


class Array(Structure):
    NONE, F32, F64, I32, CSR = range(5)
    _fields_ = [("type", c_int), ("rows", c_int64), ("cols", c_int64), ("stride", c_int64),
                ("values", c_void_p), ("offsets", POINTER(c_int64)), ("columns", POINTER(c_int32))]


class Option(Structure):
    END, INT, SEED, REAL, BOOL, CHOICE, RULE, RANGE = range(8)
    _fields_ = [("name", c_char_p), ("type", c_int), ("offset", c_size_t), ("fallback", c_char_p),
                ("min", c_double), ("max", c_double), ("allows_auto", c_bool),
                ("choices", POINTER(c_char_p)), ("help", c_char_p)]


class MethodText(Structure):
    _fields_ = [("name", c_char_p), ("title", c_char_p), ("summary", c_char_p)]


class Scores(Structure):
    _fields_ = [("acc", c_double), ("nmi", c_double), ("ari", c_double), ("purity", c_double)]


ProgressFunction = CFUNCTYPE(c_int, c_void_p, c_char_p, c_double, c_double)


def _declare(name, *arguments, result=c_int):
    function = getattr(lib, name)
    function.argtypes = list(arguments)
    function.restype = result
    return function


_declare("huddle_version", result=c_char_p)
_declare("huddle_last_error", result=c_char_p)
_declare("huddle_free", c_void_p, result=None)
_declare("huddle_context_new", POINTER(c_void_p))
_declare("huddle_context_free", c_void_p, result=None)
_declare("huddle_context_set_threads", c_void_p, c_int32)
_declare("huddle_context_set_progress", c_void_p, ProgressFunction, c_void_p, result=None)
_declare("huddle_context_cancel", c_void_p, result=None)
_declare("huddle_option_allowed", POINTER(Option), ctypes.c_char_p, c_size_t, result=None)
_declare("huddle_methods", result=POINTER(POINTER(MethodText)))
_declare("huddle_points_from_double", c_void_p, c_int64, c_int64, POINTER(c_double), c_int64,
         c_int64, POINTER(Points))
_declare("huddle_points_free", POINTER(Points), result=None)
_declare("huddle_model_new", c_char_p, POINTER(c_void_p))
_declare("huddle_model_free", c_void_p, result=None)
_declare("huddle_model_options", c_void_p, result=POINTER(Option))
_declare("huddle_model_set", c_void_p, c_char_p, c_char_p)
_declare("huddle_model_fit", c_void_p, c_void_p, POINTER(Points))
_declare("huddle_model_labels", c_void_p, POINTER(c_int64), result=POINTER(c_int32))
_declare("huddle_model_get", c_void_p, c_char_p, POINTER(Array))
_declare("huddle_model_info_json", c_void_p, POINTER(c_void_p))
_declare("huddle_model_predict", c_void_p, c_void_p, POINTER(Points), POINTER(c_int32))
_declare("huddle_model_save", c_void_p, c_char_p)
_declare("huddle_model_load", c_char_p, POINTER(c_void_p))
_declare("huddle_metrics_scores", c_int64, POINTER(c_int32), POINTER(c_int32), POINTER(Scores))


class HuddleError(RuntimeError):
    """A failure that fits none of Python's own classes."""


_CLASSES = {INVALID: ValueError, NO_MEMORY: MemoryError, IO: OSError, FORMAT: ValueError,
            UNSUPPORTED: NotImplementedError, NUMERIC: ArithmeticError,
            CANCELLED: KeyboardInterrupt}


def error_of(status):
    """The exception for a status, with the sentence of the thread that failed."""
    text = lib.huddle_last_error().decode(errors="replace")
    return _CLASSES.get(status, HuddleError)(text)


def check(status):
    """Raises unless the status is OK."""
    if status != OK:
        raise error_of(status)


def call(context, function, *arguments):
    """Calls a long-running function so that Ctrl-C ends it.

    ctypes lets go of the interpreter lock during the call, but Python delivers signals to the main
    thread only, and not while that is inside C. So there the call is made by another thread, and
    the main one waits where it can be interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        check(function(*arguments))
        return
    failure = []

    def work():
        status = function(*arguments)
        if status != OK:
            failure.append((status, error_of(status)))

    thread = threading.Thread(target=work, name="huddle", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        context.cancel()
        thread.join()
        raise
    if failure:
        status, error = failure[0]
        if status == CANCELLED and context.interruption is not None:
            raise context.interruption
        raise error


class Context:
    """Threads and progress of one computation."""

    def __init__(self, n_jobs=-1, progress=None):
        self.handle = c_void_p()
        self.interruption = None
        check(lib.huddle_context_new(ctypes.byref(self.handle)))
        if n_jobs is not None and n_jobs > 0:
            check(lib.huddle_context_set_threads(self.handle, n_jobs))
        if progress is not None:
            self._callback = ProgressFunction(self._report(progress))
            lib.huddle_context_set_progress(self.handle, self._callback, None)

    def _report(self, progress):
        def report(_, stage, done, total):
            try:
                return 1 if progress(stage.decode(), done, total) else 0
            except BaseException as error:  # must not cross C
                self.interruption = error
                return 1
        return report

    def cancel(self):
        lib.huddle_context_cancel(self.handle)

    def __del__(self):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            lib.huddle_context_free(handle)


def version():
    return lib.huddle_version().decode()


def methods():
    """Names, titles and summaries of all methods."""
    table, found = lib.huddle_methods(), []
    index = 0
    while table[index]:
        text = table[index].contents
        found.append((text.name.decode(), text.title.decode(), text.summary.decode()))
        index += 1
    return found
