"""The shrink problem for every gamma, from exact fit to collapse."""
from __future__ import annotations

import dataclasses
from ctypes import POINTER, byref, c_double, c_int32

import numpy as np
from sklearn.utils import check_array

from . import _options
from ._functions import graph_array, points_array
from ._library import Path, PathChoice, call, lib
from ._model import Model
from ._options import stage_options
from ._points import copy_dense, copy_values, csr_view, dense_view
from ._running import running, seed_of
from ._signature import with_options

__all__ = ["cluster_path", "ClusterPath"]

# Of the method's options those that a path has no use for.
_NOT_OF_A_PATH = {"seed", "gamma", "guard", "affinity", "n_init", "init",
                  "kmeans_max_iter", "kmeans_tol"}
_PARAMETERS = [p for p in _options.parameters("ssc") if p.name not in _NOT_OF_A_PATH]

_MOST_ROWS = 500  # that plot() draws


@dataclasses.dataclass
class ClusterPath:
    """The levels of a path, by ascending gamma, and the tree that they make."""

    gammas: np.ndarray
    n_groups: np.ndarray
    """Groups of fused rows at each level."""
    groups: np.ndarray
    """A row a level: the group of each point."""
    objective: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    linkage: np.ndarray
    """A row a fusion, as in SciPy's linkages: what fuses (two), at which gamma, how many points.
    Trees that remain apart at the top never fuse; they are joined at ten times the last gamma,
    which makes n - 1 rows that :mod:`scipy.cluster.hierarchy` takes and draws."""
    gamma_fit: float
    """Up to here nothing moves."""
    gamma_up: float
    """From here on every component of W is one point."""
    labels: np.ndarray
    """Clusters read off the path, without K-means."""
    gamma: float
    """Where they were read; 0 if no level has as many groups."""
    embedding: np.ndarray
    """F: what was shrunk."""
    shrunk: list | None
    """G of every level, if ``keep_shrunk``."""

    def plot(self, ax=None, kind="auto"):
        """Draws the path with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
        kind : {"auto", "groups", "rows"}
            The number of groups over gamma; or the rows of G along their main direction, which
            needs ``keep_shrunk=True``. "auto" draws the rows if they were kept.

        Returns
        -------
        ax : matplotlib axes
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib") from error
        if kind not in ("auto", "groups", "rows"):
            raise ValueError(f"kind = {kind!r} is none of 'auto', 'groups', 'rows'")
        if kind == "rows" and self.shrunk is None:
            raise ValueError("kind = 'rows' needs a path made with keep_shrunk=True")
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
        some = np.unique(np.linspace(0, n - 1, min(n, _MOST_ROWS)).astype(int))
        centred = self.embedding - self.embedding.mean(axis=0)
        direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        heights = np.stack([g[some] @ direction for g in self.shrunk])
        colours = cm.tab10(self.labels[some] % 10)
        for row, colour in zip(heights.T, colours):
            ax.plot(self.gammas, row, color=colour, linewidth=.5, alpha=.6)
        ax.set_ylabel("rows of G, main direction")


def _embed(context, x, n_clusters, options):
    """F and W as the estimator would make them; it need not shrink."""
    settings = {p.name: options[p.name] for p in _PARAMETERS if p.name in options}
    model = Model("ssc", {**settings, "n_clusters": n_clusters, "gamma": 0, "n_init": 1,
                          "seed": options["seed"]})
    model.fit(context, x)
    return model.get("embedding"), model.get("shrink_graph")


def _levels(path, name, dtype=np.float64):
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


def _result(context, path, f, embedding, n_clusters):
    labels, choice = np.empty(path.n, np.int32), PathChoice()
    call(context, lib.huddle_path_labels, context.handle, byref(path), byref(f), n_clusters,
         labels.ctypes.data_as(POINTER(c_int32)), byref(choice))
    groups = copy_values(path.groups, path.n_levels * path.n, np.int32)
    shrunk = [copy_dense(path.shrunk[k]) for k in range(path.n_levels)] if path.shrunk else None
    return ClusterPath(
        gammas=_levels(path, "gamma"), n_groups=_levels(path, "n_groups", np.int32),
        groups=groups.reshape(path.n_levels, path.n), objective=_levels(path, "objective"),
        dual=_levels(path, "dual"), gap=_levels(path, "gap"), linkage=_linkage(path),
        gamma_fit=path.gamma_fit, gamma_up=path.gamma_up, labels=labels, gamma=choice.gamma,
        embedding=embedding, shrunk=shrunk)


def _follow(context, embedding, graph, n_clusters, options):
    f, _keep_f = dense_view(embedding)
    w, _keep_w = csr_view(graph)
    walk, path = stage_options("path", options), Path()
    walk.shrink = stage_options("shrink", options)
    walk.shrink.n_clusters, walk.shrink.seed = n_clusters, options["seed"]
    if options["gammas"] is not None:
        grid = np.ascontiguousarray(options["gammas"], np.float64).ravel()
        walk.n_gamma, walk.gammas = len(grid), grid.ctypes.data_as(POINTER(c_double))
    try:
        call(context, lib.huddle_shrink_path, context.handle, byref(f), byref(w), byref(walk),
             byref(path))
        return _result(context, path, f, embedding, n_clusters)
    finally:
        lib.huddle_path_free(byref(path))


@with_options(_PARAMETERS)
def cluster_path(X=None, n_clusters="auto", *, F=None, W=None, n_gamma=30, gammas=None,
                 keep_shrunk=False, **options):
    """Solves the shrink problem for every gamma between no shrinking and collapse.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Points; they are embedded as :class:`SpectralShrunkClustering` would.
    n_clusters : int or "auto", default="auto"
        Clusters to read off, and with X the columns of the embedding; "auto" is the eigengap's
        choice, with F its columns.
    F, W : array of shape (n_samples, n_components), matrix of shape (n_samples, n_samples)
        What to shrink and along which graph, instead of X; see :func:`shrink`.
    n_gamma : int, default=30
        Levels, evenly spaced in log gamma.
    gammas : array-like, optional
        The levels themselves, ascending.
    keep_shrunk : bool, default=False
        Keep G of every level.
    {parameters}

    Returns
    -------
    path : ClusterPath
        With ``gammas``, ``n_groups``, ``groups``, ``linkage``, ``labels`` and ``plot()``.

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
        raise ValueError("cluster_path needs either X, or F and W")
    options.update(seed=seed_of(options["random_state"]), n_gamma=n_gamma, gammas=gammas,
                   keep_shrunk=keep_shrunk)
    with running(options["n_jobs"], options["progress"], options["engine"]) as context:
        if X is not None:
            F, W = _embed(context, points_array(X), n_clusters, options)
            n_clusters = F.shape[1]
        else:
            F = check_array(F, dtype=np.float64)
            W = graph_array(W, F.shape[0], "W")
            n_clusters = F.shape[1] if n_clusters == "auto" else int(n_clusters)
        return _follow(context, F, W, n_clusters, options)
