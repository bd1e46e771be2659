"""The shrink problem for a range of gamma, from no shrinking to collapse."""
from __future__ import annotations

import dataclasses
from ctypes import POINTER, byref, c_double, c_int32
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix
from sklearn.utils import check_array

from ._functions import points_array
from ._library import Path, PathChoice, call, lib
from ._model import Model
from ._options import method_parameters, stage_options
from ._points import copy_dense, copy_values, csr_view, dense_view, graph_array
from ._running import random_seed, running_context
from ._signature import with_options

__all__ = ["cluster_path", "ClusterPath"]

# Options of the method that do not apply to a path.
_UNUSED_OPTIONS = {"seed", "gamma", "guard", "affinity", "n_init", "init", "full_restarts",
                  "kmeans_max_iter", "kmeans_tol"}
_PARAMETERS = [p for p in method_parameters("ssc") if p.name not in _UNUSED_OPTIONS]

_MAX_ROWS = 500  # rows that plot() draws


@dataclasses.dataclass
class ClusterPath:
    """The levels of a path in ascending order of gamma, and the tree of their fusions."""

    gammas: NDArray[np.float64]
    n_groups: NDArray[np.int32]
    """Number of groups of fused rows at each level."""
    groups: NDArray[np.int32]
    """Group of each point, one row per level."""
    objective: NDArray[np.float64]
    dual: NDArray[np.float64]
    gap: NDArray[np.float64]
    linkage: NDArray[np.float64]
    """One row per fusion, in the format of SciPy's linkage matrices: the two clusters that fuse,
    gamma, and the number of points. Trees that are still separate at the last level are joined at
    ten times its gamma, so that there are n - 1 rows, as :mod:`scipy.cluster.hierarchy` expects."""
    gamma_fit: float
    """The largest gamma at which G = F is known to be optimal."""
    gamma_up: float
    """From this gamma on every component of W is a single point."""
    labels: NDArray[np.int32]
    """Clusters that were read from the path, without K-means."""
    gamma: float
    """The level that the labels come from; 0 if no level has enough groups."""
    embedding: NDArray[np.float64]
    """The embedding that was shrunk, F."""
    shrunk: list[NDArray[np.float64]] | None
    """G of every level, if ``keep_shrunk`` was set."""

    def plot(self, ax: Any = None, kind: Literal["auto", "groups", "rows"] = "auto") -> Any:
        """Plot the path with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
        kind : {"auto", "groups", "rows"}
            "groups" plots the number of groups against gamma, "rows" the first principal component
            of the rows of G, which requires ``keep_shrunk=True``. "auto" plots the rows if they are
            available.

        Returns
        -------
        ax : matplotlib axes
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() requires matplotlib") from error
        if kind not in ("auto", "groups", "rows"):
            raise ValueError(f"kind = {kind!r}: expected one of 'auto', 'groups', 'rows'")
        if kind == "rows" and self.shrunk is None:
            raise ValueError("kind = 'rows' requires a path made with keep_shrunk=True")
        if ax is None:
            ax = pyplot.subplots()[1]
        if kind == "groups" or self.shrunk is None:
            ax.plot(self.gammas, self.n_groups, marker=".")
            ax.set_yscale("log")
            ax.set_ylabel("groups")
        else:
            self._plot_rows(ax)
        if self.gamma > 0:
            ax.axvline(self.gamma, color="0.6", linestyle=":")
        ax.set_xscale("log")
        ax.set_xlabel("gamma")
        return ax

    def _plot_rows(self, ax):
        from matplotlib import cm
        n = len(self.labels)
        sample = np.unique(np.linspace(0, n - 1, min(n, _MAX_ROWS)).astype(int))
        centred = self.embedding - self.embedding.mean(axis=0)
        direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        heights = np.stack([g[sample] @ direction for g in self.shrunk])
        colours = cm.tab10(self.labels[sample] % 10)
        for row, colour in zip(heights.T, colours):
            ax.plot(self.gammas, row, color=colour, linewidth=.5, alpha=.6)
        ax.set_ylabel("rows of G, first principal component")


def _embed(context, x, n_clusters, options):
    """Return F and W as the estimator computes them. With gamma = 0 the shrink step is trivial."""
    settings = {p.name: options[p.name] for p in _PARAMETERS if p.name in options}
    model = Model("ssc", {**settings, "n_clusters": n_clusters, "gamma": 0, "n_init": 1,
                          "seed": options["seed"]})
    model.fit(context, x)
    return model.array("embedding"), model.array("shrink_graph")


def _level_values(path, name, dtype=np.float64):
    return np.array([getattr(path.levels[k], name) for k in range(path.n_levels)], dtype)


def _linkage(path):
    rows = [(f.a, f.b, f.gamma, f.size) for f in path.fusions[:path.n_fusions]]
    sizes = [1] * path.n + [size for *_, size in rows]
    inside = {part for a, b, *_ in rows for part in (a, b)}
    roots = [node for node in range(len(sizes)) if node not in inside]
    top = path.levels[path.n_levels - 1].gamma
    root, size = roots[0], sizes[roots[0]]
    for other in roots[1:]:
        size += sizes[other]
        rows.append((root, other, 10 * top, size))
        root = path.n + len(rows) - 1
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _copy_path(context, path, f, embedding, n_clusters):
    """Return a path of the library as a ClusterPath, with labels for n_clusters clusters."""
    labels, choice = np.empty(path.n, np.int32), PathChoice()
    call(context, lib.huddle_path_labels, context.handle, byref(path), byref(f), n_clusters,
         labels.ctypes.data_as(POINTER(c_int32)), byref(choice))
    groups = copy_values(path.groups, path.n_levels * path.n, np.int32)
    shrunk = [copy_dense(path.shrunk[k]) for k in range(path.n_levels)] if path.shrunk else None
    return ClusterPath(
        gammas=_level_values(path, "gamma"), n_groups=_level_values(path, "n_groups", np.int32),
        groups=groups.reshape(path.n_levels, path.n), objective=_level_values(path, "objective"),
        dual=_level_values(path, "dual"), gap=_level_values(path, "gap"), linkage=_linkage(path),
        gamma_fit=path.gamma_fit, gamma_up=path.gamma_up, labels=labels, gamma=choice.gamma,
        embedding=embedding, shrunk=shrunk)


def _solve_path(context, embedding, graph, n_clusters, options):
    """Solve the shrink problem for every level."""
    f, _keep_f = dense_view(embedding)
    w, _keep_w = csr_view(graph)
    settings, path = stage_options("path", options), Path()
    settings.shrink = stage_options("shrink", options)
    settings.shrink.n_clusters, settings.shrink.seed = n_clusters, options["seed"]
    if options["gammas"] is not None:
        grid = np.ascontiguousarray(options["gammas"], np.float64).ravel()
        settings.n_gamma, settings.gammas = len(grid), grid.ctypes.data_as(POINTER(c_double))
    try:
        call(context, lib.huddle_shrink_path, context.handle, byref(f), byref(w), byref(settings),
             byref(path))
        return _copy_path(context, path, f, embedding, n_clusters)
    finally:
        lib.huddle_path_free(byref(path))


@with_options(_PARAMETERS)
def cluster_path(X: ArrayLike | spmatrix | None = None, n_clusters: int | str = "auto", *,
                 F: ArrayLike | None = None, W: ArrayLike | spmatrix | None = None,
                 n_gamma: int = 30, gammas: ArrayLike | None = None, keep_shrunk: bool = False,
                 **options) -> ClusterPath:
    """Solve the shrink problem for a range of gamma, from no shrinking to collapse.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Points, which are embedded as by :class:`SpectralShrunkClustering`.
    n_clusters : int or "auto", default="auto"
        Number of clusters to read from the path. With X it is also the number of columns of the
        embedding, and "auto" chooses it by the eigengap; with F, "auto" is its number of columns.
    F, W : array of shape (n_samples, n_components), matrix of shape (n_samples, n_samples)
        Rows to shrink and the graph, instead of X; see :func:`shrink`.
    n_gamma : int, default=30
        Number of levels, evenly spaced in log gamma.
    gammas : array-like, optional
        Values of gamma, in ascending order, instead of ``n_gamma`` levels.
    keep_shrunk : bool, default=False
        Whether to keep G of every level.
    {parameters}

    Returns
    -------
    path : ClusterPath
        ``gammas``, ``n_groups``, ``groups``, ``linkage``, ``labels``, ``plot()`` and other fields.

    Examples
    --------
    >>> from huddle import cluster_path
    >>> from huddle.datasets import make_blobs
    >>> X, y = make_blobs(150)
    >>> path = cluster_path(X, 4, n_gamma=12)
    >>> len(path.gammas), path.groups.shape
    (12, (12, 150))
    """
    if (X is None) == (F is None) or (F is None) != (W is None):
        raise ValueError("cluster_path requires either X, or both F and W")
    options.update(seed=random_seed(options["random_state"]), n_gamma=n_gamma, gammas=gammas,
                   keep_shrunk=keep_shrunk)
    with running_context(options["n_jobs"], options["progress"], options["engine"]) as context:
        if X is not None:
            F, W = _embed(context, points_array(X), n_clusters, options)
            n_clusters = F.shape[1]
        else:
            F = check_array(F, dtype=np.float64)
            W = graph_array(W, F.shape[0], "W")
            n_clusters = F.shape[1] if n_clusters == "auto" else int(n_clusters)
        return _solve_path(context, F, W, n_clusters, options)
