"""The shared library: finding it, its structs, its functions, its errors.

Nothing here knows of NumPy or scikit-learn. The library is looked for in $HUDDLE_LIBRARY, in the
folder native/ beside this file (a wheel), in the source tree's build/, and where the system keeps
libraries.
"""
from __future__ import annotations

import _thread
import ctypes
import ctypes.util
import functools
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
    yield from sorted(str(p) for p in here.glob("native/lib/**/libhuddle.so*"))
    yield str(here.parent.parent / "build" / "libhuddle.so")
    # /usr/local/lib/python3.11/dist-packages/huddle and /usr/local/lib/libhuddle.so
    for pattern in ("libhuddle.so", "*-linux-gnu/libhuddle.so"):
        yield from sorted(str(p) for p in here.parents[2].glob(pattern))
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


@functools.lru_cache(maxsize=None)
def io_library():
    """libhuddle-io, the readers of data files: it is installed beside libhuddle."""
    folder, name = os.path.split(library_path)
    return ctypes.CDLL(os.path.join(folder, name.replace("libhuddle", "libhuddle-io", 1)))


class Points(Structure):
    _fields_ = [("n", c_int64), ("d", c_int64), ("stride", c_int64), ("values", POINTER(c_float)),
                ("offsets", POINTER(c_int64)), ("columns", POINTER(c_int32)),
                ("shift", POINTER(c_double)), ("resident", c_void_p)]


class Dense(Structure):
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("stride", c_int64),
                ("values", POINTER(c_double)), ("resident", c_void_p)]


class Csr(Structure):
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("offsets", POINTER(c_int64)),
                ("columns", POINTER(c_int32)), ("values", POINTER(c_double)),
                ("resident", c_void_p)]


class Array(Structure):
    NONE, F32, F64, I32, CSR = range(5)
    _fields_ = [("type", c_int), ("rows", c_int64), ("cols", c_int64), ("stride", c_int64),
                ("values", c_void_p), ("offsets", POINTER(c_int64)), ("columns", POINTER(c_int32))]


class Option(Structure):
    END, INT, SEED, REAL, BOOL, CHOICE, RULE, RANGE = range(8)
    _fields_ = [("name", c_char_p), ("type", c_int), ("offset", c_size_t), ("default_text", c_char_p),
                ("min", c_double), ("max", c_double), ("allows_auto", c_bool),
                ("choices", POINTER(c_char_p)), ("help", c_char_p)]


class MethodText(Structure):
    _fields_ = [("name", c_char_p), ("title", c_char_p), ("summary", c_char_p),
                ("reconstruction", c_bool)]


class EngineText(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p)]


class Scores(Structure):
    _fields_ = [("acc", c_double), ("nmi", c_double), ("ari", c_double), ("purity", c_double)]


class KnnOptions(Structure):
    _fields_ = [("knn_solver", c_char_p), ("n_neighbors", c_int32), ("metric", c_char_p),
                ("seed", c_uint64)]


class Neighbors(Structure):
    _fields_ = [("n", c_int64), ("k", c_int32), ("index", POINTER(c_int32)),
                ("distance", POINTER(c_double)), ("resident", c_void_p)]


class WeightOptions(Structure):
    _fields_ = [("scale", c_char_p), ("mean_distance", c_double)]


class Scale(Structure):
    _fields_ = [("rule", c_char_p), ("delta2", c_double), ("smallest", c_double),
                ("local", POINTER(c_double)), ("n", c_int64)]


class ConnectOptions(Structure):
    _fields_ = [("connect", c_char_p), ("n_clusters", c_int32), ("metric", c_char_p),
                ("copies", POINTER(c_int64))]


class EmbedOptions(Structure):
    _fields_ = [("n_components", c_int32), ("embed_solver", c_char_p), ("embed_max_iter", c_int32),
                ("tol", c_double), ("rows", c_char_p), ("verify", c_char_p), ("seed", c_uint64)]


class Embedding(Structure):
    _fields_ = [("vectors", Dense), ("rows", Dense), ("degrees", POINTER(c_double)),
                ("eigenvalues", POINTER(c_double)), ("n_eigenvalues", c_int32)]


class EmbedInfo(Structure):
    _fields_ = [("stop", c_int), ("n_iter", c_int32), ("n_products", c_int64),
                ("residual", c_double), ("unit", c_double), ("gap", c_double),
                ("cuts_cluster", c_bool), ("components", c_int32), ("verified", c_char_p),
                ("proven_pairs", c_int32), ("solver", c_char_p), ("seconds", c_double)]


class ShrinkOptions(Structure):
    _fields_ = [("gamma", c_double), ("loss", c_char_p), ("solver", c_char_p),
                ("linear_solver", c_char_p), ("gap", c_double), ("snap", c_bool),
                ("shrink_max_iter", c_int32), ("n_clusters", c_int32), ("seed", c_uint64),
                ("keep_dual", c_bool), ("start", POINTER(Dense)),
                ("weights", POINTER(c_double))]


class Shrunk(Structure):
    _fields_ = [("g", Dense), ("group", POINTER(c_int32)), ("n_groups", c_int32), ("z", Dense)]


class ShrinkInfo(Structure):
    _fields_ = [("stop", c_int), ("gamma", c_double), ("objective", c_double),
                ("dual", c_double), ("gap", c_double), ("n_groups", c_int32),
                ("n_components", c_int32), ("n_fixed", c_int64), ("n_iter", c_int32),
                ("n_solves", c_int64), ("snapped", c_bool), ("loss", c_char_p), ("solver", c_char_p),
                ("linear_solver", c_char_p), ("n_history", c_int32),
                ("history_objective", POINTER(c_double)), ("history_dual", POINTER(c_double)),
                ("history_seconds", POINTER(c_double)), ("seconds", c_double)]


class PathOptions(Structure):
    _fields_ = [("n_gamma", c_int32), ("shrink", ShrinkOptions), ("gammas", POINTER(c_double)),
                ("keep_shrunk", c_bool)]


class PathLevel(Structure):
    _fields_ = [("gamma", c_double), ("objective", c_double), ("dual", c_double),
                ("gap", c_double), ("n_groups", c_int32), ("n_iter", c_int32), ("stop", c_int)]


class PathFusion(Structure):
    _fields_ = [("a", c_int32), ("b", c_int32), ("gamma", c_double), ("size", c_int64)]


class Path(Structure):
    _fields_ = [("n", c_int64), ("n_levels", c_int32), ("gamma_fit", c_double),
                ("gamma_up", c_double), ("levels", POINTER(PathLevel)),
                ("groups", POINTER(c_int32)), ("shrunk", POINTER(Dense)),
                ("fusions", POINTER(PathFusion)), ("n_fusions", c_int64)]


class PathChoice(Structure):
    _fields_ = [("level", c_int32), ("gamma", c_double), ("n_found", c_int32)]


LogFunction = CFUNCTYPE(None, c_void_p, c_int, c_int, c_char_p)
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
_declare("huddle_context_set_engine", c_void_p, c_char_p)
_declare("huddle_engines", result=POINTER(POINTER(EngineText)))
_declare("huddle_context_set_log", c_void_p, LogFunction, c_void_p, result=None)
_declare("huddle_context_set_progress", c_void_p, ProgressFunction, c_void_p, result=None)
_declare("huddle_context_cancel", c_void_p, result=None)
_declare("huddle_option_allowed", POINTER(Option), ctypes.c_char_p, c_size_t, result=None)
_declare("huddle_options_set", POINTER(Option), c_void_p, c_char_p, c_char_p)
_declare("huddle_stop_name", c_int, result=c_char_p)
_declare("huddle_methods", result=POINTER(POINTER(MethodText)))
_declare("huddle_points_from_double", c_void_p, c_int64, c_int64, POINTER(c_double), c_int64,
         c_int64, POINTER(Points))
_declare("huddle_points_from_double_shifted", c_void_p, c_int64, c_int64, POINTER(c_double),
         c_int64, c_int64, POINTER(c_double), POINTER(Points))
_declare("huddle_points_free", POINTER(Points), result=None)
_declare("huddle_model_new", c_char_p, POINTER(c_void_p))
_declare("huddle_model_free", c_void_p, result=None)
_declare("huddle_model_options", c_void_p, result=POINTER(Option))
_declare("huddle_model_set_option", c_void_p, c_char_p, c_char_p)
_declare("huddle_model_set_feature_names", c_void_p, c_int64, POINTER(c_char_p))
_declare("huddle_model_set_graph", c_void_p, POINTER(Csr))
_declare("huddle_model_fit", c_void_p, c_void_p, POINTER(Points))
_declare("huddle_model_labels", c_void_p, POINTER(c_int64), result=POINTER(c_int32))
_declare("huddle_model_array", c_void_p, c_char_p, POINTER(Array))
_declare("huddle_model_info_json", c_void_p, POINTER(c_void_p))
_declare("huddle_model_shift", c_void_p, POINTER(c_int64), result=POINTER(c_double))
_declare("huddle_model_predict", c_void_p, c_void_p, POINTER(Points), POINTER(c_int32))
_declare("huddle_model_save", c_void_p, c_char_p)
_declare("huddle_model_load", c_char_p, POINTER(c_void_p))
_declare("huddle_metrics_scores", c_void_p, c_int64, POINTER(c_int32), POINTER(c_int32),
         POINTER(Scores))
for _stage, _struct in (("knn", KnnOptions), ("weight", WeightOptions),
                        ("connect", ConnectOptions), ("embed", EmbedOptions),
                        ("shrink", ShrinkOptions), ("path", PathOptions)):
    _declare(f"huddle_{_stage}_options_table", result=POINTER(Option))
    _declare(f"huddle_{_stage}_defaults", result=_struct)
_declare("huddle_graph_knn", c_void_p, POINTER(Points), POINTER(KnnOptions), POINTER(Neighbors),
         c_void_p)
_declare("huddle_graph_mean_distance", c_void_p, POINTER(Points), c_char_p, c_uint64,
         POINTER(c_double))
_declare("huddle_graph_weigh", c_void_p, POINTER(Neighbors), POINTER(WeightOptions), POINTER(Csr),
         POINTER(Scale))
_declare("huddle_graph_connect", c_void_p, POINTER(Points), POINTER(ConnectOptions),
         POINTER(Scale), POINTER(Csr), c_void_p)
_declare("huddle_embed", c_void_p, POINTER(Csr), POINTER(EmbedOptions), POINTER(Embedding),
         POINTER(EmbedInfo))
_declare("huddle_shrink", c_void_p, POINTER(Dense), POINTER(Csr), POINTER(ShrinkOptions),
         POINTER(Shrunk), POINTER(ShrinkInfo))
_declare("huddle_shrink_path", c_void_p, POINTER(Dense), POINTER(Csr), POINTER(PathOptions),
         POINTER(Path))
_declare("huddle_path_labels", c_void_p, POINTER(Path), POINTER(Dense), c_int32, POINTER(c_int32),
         POINTER(PathChoice))
for _name, _made in (("dense", Dense), ("csr", Csr), ("neighbors", Neighbors)):
    _declare(f"huddle_{_name}_fetch", POINTER(_made))
for _name, _made in (("neighbors", Neighbors), ("csr", Csr), ("scale", Scale),
                       ("embedding", Embedding), ("shrunk", Shrunk), ("shrink_info", ShrinkInfo),
                       ("path", Path)):
    _declare(f"huddle_{_name}_free", POINTER(_made), result=None)


class HuddleError(RuntimeError):
    """A failure that fits none of Python's own classes."""


class Cancelled(HuddleError):
    """A progress callback asked to stop."""


_CLASSES = {INVALID: ValueError, NO_MEMORY: MemoryError, IO: OSError, FORMAT: ValueError,
            UNSUPPORTED: NotImplementedError, NUMERIC: ArithmeticError, CANCELLED: Cancelled}


def error_of(status):
    """The exception for a status, with the sentence of the thread that failed."""
    text = lib.huddle_last_error().decode(errors="replace")
    return _CLASSES.get(status, HuddleError)(text)


def check(status):
    """Raises unless the status is OK."""
    if status != OK:
        raise error_of(status)


class _Call:
    """One call made by a thread of its own, for the main thread to wait for."""

    def __init__(self, function, arguments):
        self._function, self._arguments = function, arguments
        self._claim = threading.Lock()  # held by whoever decided whether the call is made
        self._done = threading.Event()
        self.error = None

    def run(self):
        if not self._claim.acquire(blocking=False):
            return
        try:
            status = self._function(*self._arguments)
            if status != OK:
                self.error = error_of(status)
        except BaseException as error:
            self.error = error
        finally:
            self._done.set()

    def wait(self):
        # Woken now and then, in case a signal was delivered to another thread than this one.
        while not self._done.wait(.1):
            pass

    def abandon(self):
        """Makes sure that the call is over, or never begins."""
        if self._claim.acquire(blocking=False):
            return
        while not self._done.is_set():
            try:
                self._done.wait(.1)
            except BaseException:  # a second Ctrl-C: the call still looks at our arrays
                pass


def call(context, function, *arguments):
    """Calls a long-running function so that Ctrl-C ends it.

    ctypes lets go of the interpreter lock during the call, but Python delivers signals to the main
    thread only, and not while that is inside C. So there the call is made by another thread, and
    the main one waits where it can be interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        status = function(*arguments)
        error = error_of(status) if status != OK else None
    else:
        job = _Call(function, arguments)
        try:
            _thread.start_new_thread(job.run, ())
            job.wait()
        except BaseException:
            context.cancel()
            job.abandon()
            raise
        error = job.error
    if isinstance(error, Cancelled) and context.interruption is not None:
        raise context.interruption
    if error is not None:
        raise error


class Context:
    """Threads, engine and progress of one computation; n_threads AUTO is all there are."""

    def __init__(self, n_threads=AUTO, progress=None, engine="cpu"):
        self.handle = c_void_p()
        self.interruption = None
        names = [name for name, _ in engines()]
        if not isinstance(engine, str) or engine.partition(":")[0] not in names:
            raise ValueError(f"engine = {engine!r} is not one of {', '.join(names)}")
        check(lib.huddle_context_new(ctypes.byref(self.handle)))
        check(lib.huddle_context_set_threads(self.handle, n_threads))
        check(lib.huddle_context_set_engine(self.handle, engine.encode()))
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


def engines():
    """Names and summaries of the places to compute; the first is the default."""
    table, found = lib.huddle_engines(), []
    while table[len(found)]:
        text = table[len(found)].contents
        found.append((text.name.decode(), text.summary.decode()))
    return found


def methods():
    """Names, titles and summaries of all methods."""
    table, found = lib.huddle_methods(), []
    index = 0
    while table[index]:
        text = table[index].contents
        found.append((text.name.decode(), text.title.decode(), text.summary.decode()))
        index += 1
    return found
