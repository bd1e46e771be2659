"""A page about a model, written by the tool."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from ._library import HuddleError, library_path

__all__ = ["report"]


def find_tool():
    """The tool: $HUDDLE_TOOL, beside the library, in bin/ beside its folder, or on the PATH."""
    if os.environ.get("HUDDLE_TOOL"):
        return os.environ["HUDDLE_TOOL"]
    if os.path.sep in library_path:
        folder = pathlib.Path(library_path).absolute().parent
        for place in (folder / "huddle", folder.parent / "bin" / "huddle"):
            if place.is_file() and os.access(place, os.X_OK):
                return str(place)
    found = shutil.which("huddle")
    if found is None:
        raise FileNotFoundError("report() needs the tool huddle; name it in HUDDLE_TOOL")
    return found


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flags(options):
    return [word for name, value in options.items()
            for word in (f"--{name.replace('_', '-')}", _text(value))]


def _write_points(x, folder):
    if scipy.sparse.issparse(x):
        path = os.path.join(folder, "points.npz")
        scipy.sparse.save_npz(path, x.tocsr())
        return path
    path = os.path.join(folder, "points.npy")
    np.save(path, x)
    return path


def _data(model, x, folder):
    if not model._is_pairwise():
        return [_write_points(x, folder)]
    graph = os.path.join(folder, "graph.npz")
    scipy.sparse.save_npz(graph, scipy.sparse.csr_matrix(x))
    return ["--graph", graph]


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise HuddleError(done.stderr.strip() or f"the tool ended with {done.returncode}")


def report(model, path: str | os.PathLike, X=None, y=None) -> None:
    """Writes a page (HTML, one file) that shows a model's clusters and how they came about.

    The page is the tool's: it repeats the fit with the model's options and seed, and the labels are
    compared.

    Parameters
    ----------
    model : a fitted estimator
    path : str or path-like
        The file to write.
    X : what the model was fitted to, optional
        Needed only for a model that was pickled and loaded since: one fitted here remembers it.
    y : array-like of shape (n_samples,), optional
        Known classes, to score the labels with.
    """
    check_is_fitted(model)
    if X is None:
        X = getattr(model, "_fit_X", None)
    if X is None:
        raise ValueError("this model does not remember its points: pass X, what it was fitted to")
    x = model._validate(X, reset=False)
    with tempfile.TemporaryDirectory() as folder:
        labels = os.path.join(folder, "labels.npy")
        command = [find_tool(), "cluster", "--method", model._method,
                   *_flags(model.info_["options"]), *_data(model, x, folder), "--quiet",
                   "--report", os.path.abspath(path), "--output", labels]
        classes = "none"
        if y is not None:
            classes = os.path.join(folder, "classes.csv")
            np.savetxt(classes, np.unique(np.asarray(y).ravel(), return_inverse=True)[1], fmt="%d")
        _run([*command, "--y", classes])
        if not np.array_equal(np.load(labels), model.labels_):
            raise HuddleError("the tool's labels are not the model's: was X what it was fitted to?")
