"""Made by make_stubs.py from the option tables: change those instead."""
from typing import Any, Callable, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, spmatrix

class ShrinkResult:
    G: NDArray[np.float64]
    groups: NDArray[np.int32]
    n_groups: int
    objective: float
    dual: float
    gap: float
    gamma: float
    n_iter: int
    stop: str
    solver: str
    seconds: float
    history: NDArray[np.float64]

def knn_graph(
    X: ArrayLike | spmatrix,
    n_neighbors: int = 5,
    *,
    mode: Literal["weights", "distance"] = 'weights',
    connect: bool = False,
    knn_solver: Literal["auto", "brute", "pcabound", "kdtree"] = 'auto',
    metric: Literal["euclidean", "cosine"] = 'euclidean',
    scale: Literal["selftune", "mean", "knn", "global", "binary"] = 'selftune',
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = -1,
    engine: str = 'cpu',
    progress: bool | Callable[[str, float, float], object] | None = None,
) -> csr_matrix: ...

def spectral_embedding(
    A: ArrayLike | spmatrix,
    n_components: int = 8,
    *,
    return_eigenvalues: bool = False,
    embed_solver: Literal["auto", "dense", "chebyshev", "arpack"] = 'auto',
    embed_max_iter: int = 100,
    tol: float = 0.0001,
    rows: Literal["unit", "sym", "rw"] = 'unit',
    verify: Literal["auto", "inertia", "probe", "none"] = 'auto',
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = -1,
    engine: str = 'cpu',
    progress: bool | Callable[[str, float, float], object] | None = None,
) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def shrink(
    F: ArrayLike,
    W: ArrayLike | spmatrix,
    gamma: float | str = 'auto',
    *,
    start: ArrayLike | None = None,
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
) -> ShrinkResult: ...

def points_array(x: Any) -> Any: ...
def graph_array(matrix: Any, n: int | None, name: str) -> Any: ...
