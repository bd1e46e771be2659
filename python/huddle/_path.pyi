"""Made by make_stubs.py from the option tables: change those instead."""
from typing import Any, Callable, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, spmatrix

class ClusterPath:
    gammas: NDArray[np.float64]
    n_groups: NDArray[np.int32]
    groups: NDArray[np.int32]
    objective: NDArray[np.float64]
    dual: NDArray[np.float64]
    gap: NDArray[np.float64]
    linkage: NDArray[np.float64]
    gamma_fit: float
    gamma_up: float
    labels: NDArray[np.int32]
    gamma: float
    embedding: NDArray[np.float64]
    shrunk: list[NDArray[np.float64]] | None
    def plot(self, ax: Any = None, kind: Literal["auto", "groups", "rows"] = "auto") -> Any: ...

def cluster_path(
    X: ArrayLike | spmatrix | None = None,
    n_clusters: int | str = 'auto',
    *,
    F: ArrayLike | None = None,
    W: ArrayLike | spmatrix | None = None,
    n_gamma: int = 30,
    gammas: ArrayLike | None = None,
    keep_shrunk: bool = False,
    prepare: str = 'auto',
    knn_solver: Literal["auto", "brute", "pcabound", "kdtree"] = 'auto',
    n_neighbors: int = 5,
    metric: Literal["euclidean", "cosine"] = 'euclidean',
    scale: Literal["selftune", "mean", "knn", "global", "binary"] = 'selftune',
    connect: Literal["auto", "true", "false", "small"] | bool = 'auto',
    embed_solver: Literal["auto", "dense", "chebyshev", "arpack"] = 'auto',
    embed_max_iter: int = 100,
    tol: float = 0.0001,
    rows: Literal["unit", "sym", "rw"] = 'unit',
    verify: Literal["auto", "inertia", "probe", "none"] = 'auto',
    shrink_neighbors: int = 5,
    shrink_scale: Literal["selftune", "mean", "knn", "global", "binary"] = 'mean',
    loss: Literal["l21", "l2"] = 'l21',
    solver: Literal["auto", "irls", "newton", "pdhg", "plain"] = 'auto',
    linear_solver: Literal["auto", "cholmod", "approximate"] = 'auto',
    gap: float = 0.0001,
    snap: bool = True,
    shrink_max_iter: int | str = 'auto',
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = -1,
    engine: str = 'cpu',
    progress: bool | Callable[[str, float, float], object] | None = None,
) -> ClusterPath: ...
