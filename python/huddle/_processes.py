"""Several processes, as under mpirun with the engine mpi: each has some of the rows.

All processes make the same calls. What one of them finds wrong before it calls the library, the
others must learn, or they would wait for it forever.
"""
from __future__ import annotations

import contextlib
import json
import pickle
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ._library import OK, Context, error_of, lib, status_of


class Processes(NamedTuple):
    """The number of this process, from 0, and how many there are."""
    number: int
    count: int


def processes(engine: Any = "mpi") -> Processes:
    """Return the number of this process and how many there are, as the engine sees them.

    Parameters
    ----------
    engine : str or mpi4py.MPI.Comm, default="mpi"
        An engine; one that does not distribute rows over processes has one process. Under ``"mpi"`` all
        processes must call this function.

    Returns
    -------
    processes : Processes
        The named tuple (number, count).

    Examples
    --------
    >>> from huddle import processes
    >>> processes("cpu")
    Processes(number=0, count=1)
    """
    context = Context(engine=engine)
    try:
        return Processes(context.process, context.processes)
    finally:
        context.close()


def _packed(error):
    """Return an exception as bytes, b"" if that is not possible."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
        return data
    except Exception:
        return b""


def _others_error(context, status, error):
    """Return the exception of the first process that failed; called by all processes."""
    mine = _packed(error) if isinstance(error, Exception) else b""
    failed = context.gather(bytes([error is not None]) + mine)
    first = next((rank for rank, data in enumerate(failed) if data[:1] == b"\1"), 0)
    rank, packed = pickle.loads(context.share(
        pickle.dumps((first, failed[first][1:] if failed else b""))))
    place = f"(process {rank} of {context.processes})"
    if not packed:
        return error_of(status)
    found = pickle.loads(packed)
    if len(found.args) == 1 and isinstance(found.args[0], str):
        found.args = (f"{found.args[0]} {place}",)
    return found


@contextlib.contextmanager
def agreeing(context):
    """Make an exception that one process raises in the body one of all processes.

    A process that raised one of the same class itself keeps its own.
    """
    error = None
    try:
        yield
    except BaseException as raised:
        if not context.distributed:
            raise
        error = raised
    if not context.distributed:
        return
    status = OK
    if error is not None:
        status = lib.huddle_set_error(status_of(error), str(error).encode())
    status = lib.huddle_context_agree(context.handle, status)
    if status == OK:
        return
    other = _others_error(context, status, error)
    if error is not None and (type(error) is type(other) or not isinstance(error, Exception)):
        raise error
    raise other


class Common(NamedTuple):
    """What all processes know of the points of all."""
    n: int
    first: int
    dtype: Any
    seed: int


def _facts(X, options, method):
    is_sparse = scipy.sparse.issparse(X)
    return {"rows": X.shape[0], "features": X.shape[1], "sparse": is_sparse,
            "dtype": str(X.dtype), "options": {name: str(value) for name, value in options.items()
                                               if name != "seed"},
            "method": method, "seed": str(options.get("seed", 0))}


def _compare(facts):
    """Return what is wrong with the facts of all processes, or None."""
    for rank, other in enumerate(facts):
        for name in ("method", "features", "sparse"):
            if other[name] != facts[0][name]:
                what = {"method": "the estimator is {}", "features": "X has {} features",
                        "sparse": "X is {}"}[name]
                values = [{True: "sparse", False: "dense"}.get(value, value)
                          if name == "sparse" else value
                          for value in (other[name], facts[0][name])]
                return (f"process {rank}: {what.format(values[0])}, but {values[1]} on process 0")
        for name, value in other["options"].items():
            if value != facts[0]["options"].get(name):
                return (f"process {rank}: {name} = {value}, but "
                        f"{facts[0]['options'].get(name)} on process 0")
    return None


def common_points(context, X, options, method):
    """Compare the points and options of all processes; return what they have in common.

    Raises ValueError on all processes if they do not fit together.
    """
    parts = [json.loads(data) for data in
             context.gather(json.dumps(_facts(X, options, method)).encode())]
    answer = b""
    if parts:
        rows = [part["rows"] for part in parts]
        # A process without rows has no say in the type.
        types = [part["dtype"] for part in parts if part["rows"] > 0] or ["float32"]
        answer = json.dumps({"wrong": _compare(parts), "rows": rows, "seed": parts[0]["seed"],
                             "dtype": str(np.result_type(*types))}).encode()
    answer = json.loads(context.share(answer))
    if answer["wrong"] is not None:
        raise ValueError(answer["wrong"])
    rows = answer["rows"]
    return Common(sum(rows), sum(rows[:context.process]), np.dtype(answer["dtype"]),
                  int(answer["seed"]))
