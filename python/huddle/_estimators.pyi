"""Made by make_stubs.py from the option tables: change those instead."""
from typing import Any, Callable, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, spmatrix
from sklearn.base import BaseEstimator, ClusterMixin

_Self = TypeVar("_Self", bound="_Clusterer")

def warning_class(text: str) -> type[Warning]: ...

class _Clusterer(ClusterMixin, BaseEstimator):
    def fit(self: _Self, X: ArrayLike | spmatrix, y: object = None) -> _Self: ...
    def predict(self, X: ArrayLike | spmatrix) -> NDArray[np.int32]: ...
    def fit_predict(self, X: ArrayLike | spmatrix, y: object = None) -> NDArray[np.int32]: ...

class SpectralShrunkClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    shrunk_: NDArray[np.float64]
    gap_: float
    objective_: float
    labels_from_: str
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        affinity: Literal["features", "distances", "precomputed", "precomputed_nearest_neighbors"] = 'features',
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
        gamma: float | str = 'auto',
        loss: Literal["l21", "l2"] = 'l21',
        solver: Literal["auto", "irls", "newton", "pdhg", "plain"] = 'auto',
        linear_solver: Literal["auto", "cholmod", "approximate"] = 'auto',
        gap: float = 0.0001,
        snap: bool = True,
        shrink_max_iter: int | str = 'auto',
        guard: bool = True,
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class SpectralClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        affinity: Literal["features", "distances", "precomputed", "precomputed_nearest_neighbors"] = 'features',
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
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class KMeans(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
        n_init: int = 50,
        max_iter: int = 300,
        tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class PCAKMeans(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
        dim: int | str = 'auto',
        n_init: int = 50,
        max_iter: int = 300,
        tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class PCASpectralClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
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
        dim: int | str = 'auto',
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class LDAKMeans(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
        dim: int | str = 'auto',
        n_init: int = 50,
        max_iter: int = 300,
        tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class LDASpectralClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
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
        dim: int | str = 'auto',
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class LocalLearningClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'auto',
        knn_solver: Literal["auto", "brute", "pcabound", "kdtree"] = 'auto',
        n_neighbors: int = 5,
        metric: Literal["euclidean", "cosine"] = 'euclidean',
        scale: Literal["selftune", "mean", "knn", "global", "binary"] = 'selftune',
        connect: Literal["auto", "true", "false", "small"] | bool = 'auto',
        alpha: float = 1,
        embed_solver: Literal["auto", "dense", "chebyshev", "arpack"] = 'auto',
        embed_max_iter: int = 100,
        tol: float = 0.0001,
        rows: Literal["unit", "sym", "rw"] = 'unit',
        verify: Literal["auto", "inertia", "probe", "none"] = 'auto',
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class SPLS(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    embedding_: NDArray[np.float64]
    shrunk_: NDArray[np.float64]
    gap_: float
    objective_: float
    labels_from_: str
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
        knn_solver: Literal["auto", "brute", "pcabound", "kdtree"] = 'auto',
        n_neighbors: int = 5,
        metric: Literal["euclidean", "cosine"] = 'euclidean',
        scale: Literal["selftune", "mean", "knn", "global", "binary"] = 'selftune',
        dim: int | str = 'auto',
        gamma: float | str = 1,
        solver: Literal["auto", "irls", "newton", "pdhg", "plain"] = 'auto',
        linear_solver: Literal["auto", "cholmod", "approximate"] = 'auto',
        gap: float = 0.0001,
        snap: bool = True,
        shrink_max_iter: int | str = 'auto',
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class NormalizedCuts(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        affinity: Literal["features", "distances", "precomputed", "precomputed_nearest_neighbors"] = 'features',
        prepare: str = 'auto',
        knn_solver: Literal["auto", "brute", "pcabound", "kdtree"] = 'auto',
        n_neighbors: int = 5,
        metric: Literal["euclidean", "cosine"] = 'euclidean',
        scale: Literal["selftune", "mean", "knn", "global", "binary"] = 'selftune',
        connect: Literal["auto", "true", "false", "small"] | bool = 'auto',
        embed_solver: Literal["auto", "dense", "chebyshev", "arpack"] = 'auto',
        embed_max_iter: int = 100,
        tol: float = 0.0001,
        verify: Literal["auto", "inertia", "probe", "none"] = 'auto',
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class SelfTuningSpectralClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    affinity_matrix_: csr_matrix
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        affinity: Literal["features", "distances", "precomputed", "precomputed_nearest_neighbors"] = 'features',
        prepare: str = 'auto',
        knn_solver: Literal["auto", "brute", "pcabound", "kdtree"] = 'auto',
        n_neighbors: int = 7,
        metric: Literal["euclidean", "cosine"] = 'euclidean',
        connect: Literal["auto", "true", "false", "small"] | bool = 'auto',
        embed_solver: Literal["auto", "dense", "chebyshev", "arpack"] = 'auto',
        embed_max_iter: int = 100,
        tol: float = 0.0001,
        rows: Literal["unit", "sym", "rw"] = 'unit',
        verify: Literal["auto", "inertia", "probe", "none"] = 'auto',
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class LandmarkSpectralClustering(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    eigenvalues_: NDArray[np.float64]
    embedding_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'auto',
        metric: Literal["euclidean", "cosine"] = 'euclidean',
        landmarks: Literal["k-means", "random"] = 'k-means',
        n_landmarks: int | str = 'auto',
        landmark_neighbors: int = 5,
        rows: Literal["unit", "sym", "rw"] = 'unit',
        n_init: int = 50,
        kmeans_max_iter: int = 300,
        kmeans_tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

class DiscriminativeKMeans(_Clusterer):
    labels_: NDArray[np.int32]
    n_clusters_: int
    warnings_: list[str]
    info_: dict[str, Any]
    cluster_centers_: NDArray[np.float64]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_clusters: int | tuple[int, int] | range | str = 'auto',
        *,
        prepare: str = 'none',
        alpha: float | str = 'auto',
        n_init: int = 50,
        max_iter: int = 300,
        tol: float = 0.0001,
        init: Literal["k-means++", "sample"] = 'k-means++',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = -1,
        engine: str = 'cpu',
        progress: bool | Callable[[str, float, float], object] | None = None,
    ) -> None: ...

ESTIMATORS: tuple[type[_Clusterer], ...]
