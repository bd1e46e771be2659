"""The ctypes binding of libhuddle: structs, functions, errors and contexts.

This module does not depend on NumPy or scikit-learn.
"""
from __future__ import annotations

import _thread
import ctypes
import numbers
import sys
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float,
                    c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p)
from typing import NamedTuple

from ._loader import companion_library, lib, library_path

OK, INVALID, NO_MEMORY, IO, FORMAT, UNSUPPORTED, NUMERIC, CANCELLED, INTERNAL = range(9)
AUTO = -1


class Points(Structure):
    _fields_ = [("n", c_int64), ("d", c_int64), ("stride", c_int64), ("values", POINTER(c_float)),
                ("offsets", POINTER(c_int64)), ("columns", POINTER(c_int32)),
                ("shift", POINTER(c_double)), ("resident", c_void_p),
                ("mapping", c_void_p)]


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
    END, INT, SEED, REAL, BOOL, CHOICE, RULE, RANGE, NUMBERS = range(9)
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


class GraphScores(Structure):
    _fields_ = [("inside", c_double), ("expected", c_double), ("divergence", c_double),
                ("information", c_double), ("map", c_double), ("entropy", c_double),
                ("modularity", c_double), ("ncut", c_double)]


class KnnOptions(Structure):
    _fields_ = [("knn_solver", c_char_p), ("n_neighbors", c_int32), ("metric", c_char_p),
                ("recall", c_double), ("seed", c_uint64)]


class Neighbors(Structure):
    _fields_ = [("n", c_int64), ("k", c_int32), ("index", POINTER(c_int32)),
                ("distance", POINTER(c_double)), ("resident", c_void_p)]


class WeightOptions(Structure):
    _fields_ = [("scale", c_char_p), ("mean_distance", c_double), ("delta", c_double)]


class Scale(Structure):
    _fields_ = [("rule", c_char_p), ("delta2", c_double), ("smallest", c_double),
                ("local", POINTER(c_double)), ("n", c_int64)]


class ConnectOptions(Structure):
    _fields_ = [("connect", c_char_p), ("n_clusters", c_int32), ("metric", c_char_p),
                ("max_ratio", c_double), ("copies", POINTER(c_int64))]


class EmbedOptions(Structure):
    _fields_ = [("n_components", c_int32), ("embed_solver", c_char_p), ("embed_max_iter", c_int32),
                ("tol", c_double), ("rows", c_char_p), ("verify", c_char_p), ("seed", c_uint64),
                ("n_exact", c_int32), ("n_rows", c_int32)]


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
                ("shrink_max_iter", c_int32), ("shrink_start", c_char_p),
                ("shrink_tol", c_double), ("shrink_epsilon", c_double), ("n_clusters", c_int32),
                ("seed", c_uint64), ("keep_dual", c_bool), ("start", POINTER(Dense)),
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


class RefineOptions(Structure):
    _fields_ = [("n_clusters", c_int32), ("objective", c_char_p), ("merge", c_bool),
                ("max_sweeps", c_int32), ("cut_slack", c_double), ("least_gain", c_double),
                ("seed", c_uint64)]


class RefineStart(Structure):
    _fields_ = [("name", c_char_p), ("labels", POINTER(c_int32))]


class RefineTrial(Structure):
    _fields_ = [("name", c_char * 16), ("scores", GraphScores), ("n_sweeps", c_int32),
                ("allowed", c_bool)]


class RefineInfo(Structure):
    _fields_ = [("n_trials", c_int32), ("trials", RefineTrial * 16), ("reference", c_int32), ("best", c_int32),
                ("n_changed", c_int64), ("seconds", c_double)]


# huddle_log_function (user, level, code, text) and huddle_progress_function.
LogFunction = CFUNCTYPE(None, c_void_p, c_int, c_int, c_char_p)
ProgressFunction = CFUNCTYPE(c_int, c_void_p, c_char_p, c_double, c_double)


def _declare(name, *arguments, result=c_int):
    function = getattr(lib, name)
    function.argtypes = list(arguments)
    function.restype = result
    return function


_declare("huddle_version", result=c_char_p)
_declare("huddle_last_error", result=c_char_p)
_declare("huddle_set_error", c_int, c_char_p)
_declare("huddle_free", c_void_p, result=None)
_declare("huddle_context_new", POINTER(c_void_p))
_declare("huddle_context_free", c_void_p, result=None)
_declare("huddle_context_set_threads", c_void_p, c_int32)
_declare("huddle_context_set_engine", c_void_p, c_char_p)
_declare("huddle_context_process", c_void_p, result=c_int32)
_declare("huddle_context_processes", c_void_p, result=c_int32)
_declare("huddle_context_set_alone", c_void_p, c_bool, result=c_bool)
_declare("huddle_context_agree", c_void_p, c_int)
_declare("huddle_context_share", c_void_p, c_int32, c_int64, c_void_p)
_declare("huddle_context_gather", c_void_p, c_int64, c_void_p, POINTER(c_int64), POINTER(c_void_p))
_declare("huddle_context_set_memory", c_void_p, c_int64)
_declare("huddle_parse_bytes", c_char_p, POINTER(c_int64))
_declare("huddle_engines", result=POINTER(POINTER(EngineText)))
_declare("huddle_context_set_log", c_void_p, LogFunction, c_void_p, result=None)
_declare("huddle_context_set_progress", c_void_p, ProgressFunction, c_void_p, result=None)
_declare("huddle_context_cancel", c_void_p, result=None)
_declare("huddle_suggest_name", c_char_p, c_char_p, POINTER(c_int), POINTER(c_char_p),
         result=None)
_declare("huddle_option_allowed", POINTER(Option), ctypes.c_char_p, c_size_t, result=None)
_declare("huddle_options_set", POINTER(Option), c_void_p, c_char_p, c_char_p)
_declare("huddle_stop_name", c_int, result=c_char_p)
_declare("huddle_warning_name", c_int, result=c_char_p)
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
_declare("huddle_model_fit_views", c_void_p, c_void_p, c_int32, POINTER(Points))
_declare("huddle_model_view_shift", c_void_p, c_int32, POINTER(c_int64), result=POINTER(c_double))
_declare("huddle_model_predict_views", c_void_p, c_void_p, c_int32, POINTER(Points),
         POINTER(c_int32))
_declare("huddle_model_transform_views", c_void_p, c_void_p, c_int32, POINTER(Points),
         POINTER(Dense))
_declare("huddle_model_score", c_void_p, c_void_p, POINTER(Points))
_declare("huddle_model_confidence", c_void_p, c_void_p, POINTER(Points), POINTER(c_double))
_declare("huddle_model_silhouettes", c_void_p, c_void_p, POINTER(Points), POINTER(c_double))
_declare("huddle_model_method", c_void_p, result=c_char_p)
_declare("huddle_model_save", c_void_p, c_char_p)
_declare("huddle_model_load", c_char_p, POINTER(c_void_p))
_declare("huddle_model_save_distributed", c_void_p, c_void_p, c_char_p)
_declare("huddle_model_load_distributed", c_void_p, c_char_p, POINTER(c_void_p))
_declare("huddle_csr_symmetric_part", c_void_p, POINTER(Csr), POINTER(Csr))
_declare("huddle_metrics_scores", c_void_p, c_int64, POINTER(c_int32), POINTER(c_int32),
         POINTER(Scores))
_declare("huddle_metrics_silhouette_samples", c_void_p, POINTER(Points), POINTER(c_int32),
         POINTER(c_double))
_declare("huddle_metrics_graph_scores", c_void_p, POINTER(Csr), POINTER(c_int32),
         POINTER(GraphScores))
for _stage, _struct in (("knn", KnnOptions), ("weight", WeightOptions),
                        ("connect", ConnectOptions), ("embed", EmbedOptions),
                        ("shrink", ShrinkOptions), ("path", PathOptions),
                        ("refine", RefineOptions)):
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
_declare("huddle_refine", c_void_p, POINTER(Csr), c_int32, POINTER(RefineStart),
         POINTER(RefineOptions), POINTER(c_int32), POINTER(RefineInfo))
for _name, _struct in (("dense", Dense), ("csr", Csr), ("neighbors", Neighbors)):
    _declare(f"huddle_{_name}_fetch", POINTER(_struct))
for _name, _struct in (("neighbors", Neighbors), ("dense", Dense), ("csr", Csr), ("scale", Scale),
                       ("embedding", Embedding), ("shrunk", Shrunk), ("shrink_info", ShrinkInfo),
                       ("path", Path)):
    _declare(f"huddle_{_name}_free", POINTER(_struct), result=None)


class HuddleError(RuntimeError):
    """An error for which Python has no exception class of its own."""


class Cancelled(HuddleError):
    """The computation was cancelled by its progress function."""


_CLASSES = {INVALID: ValueError, NO_MEMORY: MemoryError, IO: OSError, FORMAT: ValueError,
            UNSUPPORTED: NotImplementedError, NUMERIC: ArithmeticError, CANCELLED: Cancelled}


def error_of(status):
    """Return the exception for a status, with the message of this thread's last failure."""
    text = lib.huddle_last_error().decode(errors="replace")
    return _CLASSES.get(status, HuddleError)(text)


def status_of(error):
    """Return the status whose exception class this exception belongs to."""
    found = (status for status, cls in _CLASSES.items()
             if isinstance(error, cls) and status != FORMAT)
    return next(found, INTERNAL if isinstance(error, Exception) else CANCELLED)


def check(status):
    """Raise the exception for a status other than OK."""
    if status != OK:
        raise error_of(status)


class _Call:
    """A call that is made by a thread of its own while the main thread waits."""

    def __init__(self, function, arguments):
        self._function, self._arguments = function, arguments
        self._claim = threading.Lock()  # acquired by the first of run() and abandon()
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
        # The timeout is for signals that the system delivers to another thread: Python handles
        # them in the main thread only, once it runs again.
        while not self._done.wait(.1):
            pass

    def abandon(self):
        """Wait until the call has returned, or prevent it if it has not begun."""
        if self._claim.acquire(blocking=False):
            return
        while not self._done.is_set():
            try:
                self._done.wait(.1)
            except BaseException:  # a second Ctrl-C: the call still reads our arrays
                pass


def _threads_may_communicate():
    """Return whether MPI allows calls from a thread other than the main thread.

    The engine starts MPI in that way, and so does mpi4py unless mpi4py.rc is changed.
    """
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi is None or mpi.Query_thread() >= mpi.THREAD_SERIALIZED


def call(context, function, *arguments):
    """Call a long-running function so that Ctrl-C cancels it.

    ctypes releases the interpreter lock during the call, but Python handles signals in the main
    thread only, and not while that is inside a C function. So if this is the main thread, another
    thread makes the call, and this one waits where it can be interrupted.
    """
    if (threading.current_thread() is not threading.main_thread()
            or (context.distributed and not _threads_may_communicate())):
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
    if isinstance(error, Cancelled) and context.callback_error is not None:
        raise context.callback_error
    if error is not None:
        raise error


def byte_count(memory):
    """Return an amount of memory, a number or a text such as "4G", in bytes."""
    is_number = isinstance(memory, numbers.Integral) and not isinstance(memory, bool)
    if is_number and memory > 0:
        return int(memory)
    if not isinstance(memory, str):
        raise ValueError(f"memory = {memory!r}: expected a number of bytes or a text such as '4G'")
    count = c_int64(0)
    check(lib.huddle_parse_bytes(memory.encode(), ctypes.byref(count)))
    return count.value


def engine_text(engine):
    """Return the text that selects an engine; a communicator of mpi4py selects the engine mpi."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and isinstance(engine, mpi.Comm):
        return f"mpi:comm={engine.py2f()}"
    return engine


class Context:
    """Threads, engine, progress and warnings of one computation.

    n_threads = AUTO uses all threads that are available. `messages` lists what the library has
    logged, as pairs of the name of the warning code ("none" if it is no warning) and the text.
    `distributed` is whether rows are distributed over processes, `process` the number of this one.
    """

    def __init__(self, n_threads=AUTO, progress=None, engine="cpu", memory=None):
        self.handle = c_void_p()
        self.messages = []
        self.callback_error = None
        names = [name for name, _ in engines()]
        engine = engine_text(engine)
        if not isinstance(engine, str) or engine.partition(":")[0] not in names:
            raise ValueError(f"engine = {engine!r}: expected one of {', '.join(names)}")
        memory = byte_count(memory) if memory is not None else None
        check(lib.huddle_context_new(ctypes.byref(self.handle)))
        check(lib.huddle_context_set_engine(self.handle, engine.encode()))
        # After the engine, which shares the CPUs of a machine among its processes.
        if n_threads != AUTO:
            check(lib.huddle_context_set_threads(self.handle, n_threads))
        if memory is not None:
            check(lib.huddle_context_set_memory(self.handle, memory))
        self.distributed = lib.huddle_context_set_alone(self.handle, False)
        self.process = lib.huddle_context_process(self.handle)
        self.processes = lib.huddle_context_processes(self.handle)
        # ctypes does not keep callbacks alive: they are freed with this object, after the handle.
        self._log_callback = LogFunction(_log_function(self.messages))
        lib.huddle_context_set_log(self.handle, self._log_callback, None)
        if progress is not None and self.process == 0:
            self._progress_callback = ProgressFunction(self._progress_function(progress))
            lib.huddle_context_set_progress(self.handle, self._progress_callback, None)

    def _progress_function(self, progress):
        def report_progress(_, stage, done, total):
            try:
                return 1 if progress(stage.decode(), done, total) else 0
            except BaseException as error:  # an exception cannot pass through C; call() raises it
                self.callback_error = error
                return 1
        return report_progress

    @property
    def warnings(self):
        return [(code, text) for code, text in self.messages if code != "none"]

    def cancel(self):
        lib.huddle_context_cancel(self.handle)

    def share(self, data):
        """Return the bytes of process 0."""
        size = c_int64(len(data))
        check(lib.huddle_context_share(self.handle, 0, ctypes.sizeof(size), ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(data, max(size.value, len(data)) or 1)
        check(lib.huddle_context_share(self.handle, 0, size.value, buffer))
        return buffer.raw[:size.value]

    def gather(self, data):
        """Return the bytes of each process, on process 0; an empty list on the others."""
        sizes, joined = (c_int64 * self.processes)(), c_void_p()
        check(lib.huddle_context_gather(self.handle, len(data), data, sizes,
                                        ctypes.byref(joined)))
        if self.process != 0:
            return []
        try:
            text, parts, begin = ctypes.string_at(joined, sum(sizes)), [], 0
        finally:
            lib.huddle_free(joined)
        for size in sizes:
            parts.append(text[begin:begin + size])
            begin += size
        return parts

    def close(self):
        """Free the context. All processes of an engine do this at the same time."""
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            lib.huddle_context_free(handle)

    __del__ = close


def _log_function(found):
    """Return a callback that appends messages to a list.

    It must not refer to the Context: the cycle would keep that alive until the next collection.
    """
    def log(_, level, code, text):
        found.append((lib.huddle_warning_name(code).decode(), text.decode(errors="replace")))
    return log


class Method(NamedTuple):
    """A method of the library."""
    name: str
    title: str
    summary: str


def version() -> str:
    """Return the version of the library."""
    return lib.huddle_version().decode()


def _read_table(table):
    """Return the entries of an array of pointers that ends with NULL."""
    found = []
    while table[len(found)]:
        found.append(table[len(found)].contents)
    return found


def engines() -> list[tuple[str, str]]:
    """Return the names and descriptions of the engines of this build; the first is the default.

    >>> engines()[0][0]
    'cpu'
    """
    return [(text.name.decode(), text.summary.decode())
            for text in _read_table(lib.huddle_engines())]


def methods():
    """Return all methods of the library."""
    return [Method(text.name.decode(), text.title.decode(), text.summary.decode())
            for text in _read_table(lib.huddle_methods())]
