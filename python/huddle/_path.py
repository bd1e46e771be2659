"""The shrink problem for a range of gamma, from no shrinking to collapse."""
from __future__ import annotations

import dataclasses
import heapq
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
from ._running import options_context, random_seed
from ._signature import with_options

__all__ = ["cluster_path", "ClusterPath"]

# Options of the method that do not apply to a path.
_UNUSED_OPTIONS = {"seed", "preset", "gamma", "guard", "affinity", "view_weights", "n_init",
                   "init", "full_restarts", "kmeans_max_iter", "kmeans_tol"}
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
    ten times its gamma, so that there are n - 1 rows, as :mod:`scipy.cluster.hierarchy` expects.
    Every function there that takes a linkage matrix takes this one."""
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
        if kind not in ("auto", "groups", "rows"):
            raise ValueError(f"kind = {kind!r}: expected one of 'auto', 'groups', 'rows'")
        if kind == "rows" and self.shrunk is None:
            raise ValueError("kind = 'rows' requires a path made with keep_shrunk=True")
        ax = _axes(ax, "plot()")
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

    def cut(self, n_clusters: int | None = None, *,
            gamma: float | None = None) -> NDArray[np.int32]:
        """Return the clusters that the tree of fusions has at some height.

        Parameters
        ----------
        n_clusters : int, optional
            Number of clusters, from 1 to the number of points: the last n_clusters - 1 fusions are
            undone. Unlike ``labels``, small groups count as clusters.
        gamma : float, optional
            Instead: all fusions up to this gamma are made.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Clusters, numbered from 0 in the order of their first points.
        """
        n = len(self.labels)
        if (n_clusters is None) == (gamma is None):
            raise ValueError("cut() requires either n_clusters or gamma")
        if n_clusters is not None and not 1 <= n_clusters <= n:
            raise ValueError(f"n_clusters = {n_clusters} is outside [1, {n}]")
        if n_clusters is not None:
            count = n - int(n_clusters)
        else:  # heights ascend
            count = int(np.searchsorted(self.linkage[:, 2], gamma, side="right"))
        # Every fusion points to its parent; from the last one down, parents are known before.
        parent = np.arange(n + count)
        for row in range(count - 1, -1, -1):
            parent[self.linkage[row, :2].astype(int)] = parent[n + row]
        _, first, of = np.unique(parent[:n], return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[of.ravel()].astype(np.int32)

    def dendrogram(self, ax: Any = None, *, max_leaves: int = 60, **options) -> Any:
        """Plot the tree of fusions with matplotlib, on a logarithmic axis of gamma.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_leaves : int, default=60
            With more points than this, the largest trees are drawn, down to this many groups of
            points; the number of points of each is in parentheses.
        **options
            Passed to :func:`scipy.cluster.hierarchy.dendrogram`.

        Returns
        -------
        ax : matplotlib axes
        """
        from scipy.cluster import hierarchy
        ax, n = _axes(ax, "dendrogram()"), len(self.labels)
        if max_leaves < 2:
            raise ValueError(f"max_leaves = {max_leaves} is less than 2")
        tree, names, shown = self.linkage, list(range(n)), n
        if n > max_leaves:
            tree, names, shown = _largest_groups(self.linkage, n, self.gammas[-1], max_leaves)
        if len(tree) > 0:
            hierarchy.dendrogram(tree, ax=ax, **{
                "color_threshold": self.gamma, "above_threshold_color": "0.5", "labels": names,
                "leaf_rotation": 90, "leaf_font_size": 7, **options})
        drawn = tree[tree[:, 2] > 0, 2]
        if len(drawn) > 0:
            # A leaf begins at 0, which has no logarithm.
            ax.set_yscale("log", nonpositive="clip")
            ax.set_ylim(drawn.min() / 2, 2 * drawn.max())
        if self.gamma > 0:
            ax.axhline(self.gamma, color="0.6", linestyle=":")
        ax.set_ylabel("gamma")
        if shown < n:
            ax.set_xlabel(f"{n - shown} points in smaller trees are not shown")
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


def _axes(ax, caller):
    """Return the given axes, or new ones."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{caller} requires matplotlib") from error
    return ax if ax is not None else pyplot.subplots()[1]


def _largest_groups(linkage, n, top, max_leaves):
    """Return a smaller tree, the names of its leaves and how many points they have.

    Trees of less than half a percent of the points are left out, and at most half of the leaves are
    whole trees; then the largest group is divided until there are enough. Fusions above `top` only
    join the trees.
    """
    count = int(np.searchsorted(linkage[:, 2], top, side="right"))
    sizes = np.concatenate([np.ones(n), linkage[:count, 3]]).astype(int)
    is_root = np.ones(n + count, bool)
    is_root[linkage[:count, :2].astype(int).ravel()] = False
    roots = sorted(np.flatnonzero(is_root), key=lambda node: -sizes[node])
    n_roots = min(max(max_leaves // 2, 1), sum(200 * sizes[node] >= n for node in roots))
    roots = roots[:max(n_roots, 1)]
    waiting, single, kept = [(-sizes[node], node) for node in roots], [], []
    heapq.heapify(waiting)
    while waiting and len(waiting) + len(single) < max_leaves:
        _, node = heapq.heappop(waiting)
        if node < n:
            single.append(node)
            continue
        kept.append(node)
        for part in linkage[node - n, :2].astype(int):
            heapq.heappush(waiting, (-sizes[part], part))
    leaves = single + [node for _, node in waiting]
    number = {node: k for k, node in enumerate(leaves)}
    rows, points = [], [1] * len(leaves)

    def fuse(a, b, height):
        points.append(points[a] + points[b])
        rows.append((a, b, height, points[-1]))
        return len(points) - 1

    for node in sorted(kept):  # in the order of their heights
        a, b = (number[part] for part in linkage[node - n, :2].astype(int))
        number[node] = fuse(a, b, linkage[node - n, 2])
    joined = number[roots[0]]
    for root in roots[1:]:
        joined = fuse(joined, number[root], linkage[-1, 2])
    names = [str(node) if node < n else f"({sizes[node]})" for node in leaves]
    return (np.array(rows, dtype=np.float64).reshape(-1, 4), names,
            int(sum(sizes[node] for node in leaves)))


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
        ``gammas``, ``n_groups``, ``groups``, ``linkage``, ``labels``, ``cut()``,
        ``dendrogram()``, ``plot()`` and other fields.

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
    with options_context(options) as context:
        if X is not None:
            F, W = _embed(context, points_array(X), n_clusters, options)
            n_clusters = F.shape[1]
        else:
            F = check_array(F, dtype=np.float64)
            W = graph_array(W, F.shape[0], "W")
            n_clusters = F.shape[1] if n_clusters == "auto" else int(n_clusters)
        return _solve_path(context, F, W, n_clusters, options)
