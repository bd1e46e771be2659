"""The base class of all estimators: fit, predict and the fitted attributes."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ._library import engine_text
from ._model import Model
from ._processes import agreeing, common_points
from ._running import random_seed, running_context
from ._warnings import issue_warnings

if TYPE_CHECKING:
    from typing_extensions import Self

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator, X, **options):
        return estimator._validate_data(X, **options)


class Attribute(NamedTuple):
    """The description of a fitted attribute: in docstrings, and as a type in stubs."""
    values: str
    annotation: str
    help: str


# All fitted attributes in the order of the documentation. Docstrings and stubs are made from this.
ATTRIBUTES = {
    "labels_": Attribute("ndarray of shape (n_samples,)", "NDArray[np.int32]",
                         "Cluster of each point, 0 .. n_clusters_ - 1."),
    "n_clusters_": Attribute("int", "int", "Number of clusters, as given or as chosen."),
    "embedding_": Attribute("ndarray of shape (n_samples, n_components)", "NDArray[np.float64]",
                            "The embedding, F."),
    "eigenvalues_": Attribute("ndarray", "NDArray[np.float64]",
                              "Eigenvalues that belong to the embedding, in ascending order; at "
                              "least one per column."),
    "affinity_matrix_": Attribute("sparse matrix of shape (n_samples, n_samples)", "csr_matrix",
                                  "The neighbour graph."),
    "shrunk_": Attribute("ndarray of shape (n_samples, n_components)", "NDArray[np.float64]",
                         "The embedding after the shrink step, G."),
    "gap_": Attribute("float", "float",
                      "Relative duality gap of the shrink step: its objective is proven to be "
                      "within this of the optimum."),
    "objective_": Attribute("float", "float", "Objective of the shrink step."),
    "labels_from_": Attribute("str", "str",
                              '"shrunk" if the labels come from the rows of the shrink step, '
                              '"embedding" if the option guard discarded it. In that case the '
                              "labels are not those of the step that gap_ and objective_ describe, "
                              "and a warning is issued. If the labels were refined: the start that "
                              "they come from, or what was preferred to them, as in refine_."),
    "refine_": Attribute("dict or None", "dict[str, Any] | None",
                         "How the labels were refined on the graph: ``start``, the labelling from "
                         'which the best were found; ``from``, "graph", or if other labels were '
                         'preferred to these, "kmeans" (K-means on the points) or "commute" '
                         "(K-means on commute rows); ``n_changed``, the number of labels that "
                         "differ from those of the method itself; ``trials``, the scores of every "
                         "start. None if the labels were not refined."),
    "unrefined_labels_": Attribute("ndarray of shape (n_samples,)", "NDArray[np.int32]",
                                   "The labels of the method itself, before the refinement; "
                                   "absent if there was none."),
    "cluster_centers_": Attribute("ndarray of shape (n_clusters, n_components)",
                                  "NDArray[np.float64]",
                                  "Cluster centres, in the coordinates that the last step of the "
                                  "method clustered, before any refinement: prepared points, "
                                  "projected points, embedding or shrunk embedding."),
    "inertia_": Attribute("float", "float",
                          "Sum of squared distances to the nearest cluster centre, in the same "
                          "coordinates."),
    "n_iter_": Attribute("int", "int",
                         "Number of iterations: of the shrink step if the method has one, "
                         "otherwise of the last step."),
    "warnings_": Attribute("list of str", "list[str]", "Texts of the warnings of the fit."),
    "warning_codes_": Attribute("list of str", "list[str]",
                                'Codes of these warnings, such as "not_converged".'),
    "info_": Attribute("dict", "dict[str, Any]",
                       "All results and options of the fit, as in the output of "
                       "``huddle cluster --json``."),
    "n_features_in_": Attribute("int", "int", "Number of features seen during fit."),
    "feature_names_in_": Attribute("ndarray of shape (n_features_in_,)", "NDArray[np.object_]",
                                   "Names of the features, if X has names that are all strings."),
}


class _FittedArray:
    """An attribute that copies an array of the fitted model when it is first accessed."""

    def __init__(self, name, is_column=False):
        self._name, self._is_column = name, is_column

    def __set_name__(self, owner, attribute):
        self._attribute = attribute

    def __get__(self, estimator, owner):
        if estimator is None:
            return self
        model = vars(estimator).get("_model")
        found = model.array(self._name) if model is not None else None
        if found is None:
            raise AttributeError(f"{owner.__name__} has no {self._attribute}"
                                 + (" before fit()" if model is None else ""))
        found = found[:, 0] if self._is_column else found
        vars(estimator)[self._attribute] = found
        return found


class Clusterer(ClusterMixin, BaseEstimator):
    """Base class of the estimators. A subclass has a method and the method's options."""

    cluster_centers_ = _FittedArray("centres")
    eigenvalues_ = _FittedArray("eigenvalues", is_column=True)
    affinity_matrix_ = _FittedArray("graph")
    embedding_ = _FittedArray("embedding")
    shrunk_ = _FittedArray("shrunk")
    unrefined_labels_ = _FittedArray("unrefined_labels", is_column=True)

    _pairwise_affinities = ("precomputed", "precomputed_nearest_neighbors", "distances")

    def _is_pairwise(self):
        return getattr(self, "affinity", "features") in self._pairwise_affinities

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _more_tags(self):  # before scikit-learn 1.6
        return {"pairwise": self._is_pairwise(), "preserves_dtype": []}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, as in scikit-learn."""
        if "engine" in params:
            params["engine"] = engine_text(params["engine"])
        return super().set_params(**params)

    def _options(self):
        options = {p.name: getattr(self, p.name) for p in self._parameters}
        options["seed"] = random_seed(self.random_state)
        return options

    def _check_clusters(self, n):
        # scikit-learn's checks expect this message; the library's would come after the conversion.
        clusters = self.n_clusters
        if isinstance(clusters, numbers.Integral) and clusters > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={clusters}.")

    def _validate(self, X, reset, spreads=False):
        # A process may have no rows, as long as others have some.
        return validate_data(self, X, reset=reset, accept_sparse="csr",
                             dtype=[np.float64, np.float32],
                             ensure_min_samples=0 if spreads else 1)

    def _prepare(self, context, X):
        """Return the points, the options and what the processes have in common."""
        with agreeing(context):
            X = self._validate(X, reset=True, spreads=context.spreads)
            options, common = self._options(), None
            if context.spreads and self._is_pairwise():
                raise NotImplementedError(f"affinity = {self.affinity!r} needs all rows on one "
                                          f"process; the engine {self.engine} spreads them")
        if context.spreads:
            common = common_points(context, X, options, self._method)
            options["seed"] = common.seed
            X = X.astype(common.dtype, copy=False)
        self._check_clusters(X.shape[0] if common is None else common.n)
        return X, options, common

    def fit(self, X: ArrayLike | spmatrix, y: object = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples)
            for a precomputed ``affinity``. A float32 array in C order is not copied.
        y : ignored

        Returns
        -------
        self
        """
        with running_context(self.n_jobs, self.progress, self.engine, self.memory,
                             spread=True) as context:
            X, options, common = self._prepare(context, X)
            with agreeing(context):
                model = Model(self._method, options)
                if hasattr(self, "feature_names_in_"):
                    model.set_feature_names(self.feature_names_in_)
                if self._is_pairwise():
                    # Passed as a graph, distances and similarities keep double precision.
                    model.set_graph(_check_square(X))
            model.fit(context, None if self._is_pairwise() else X)
            place = context.process
            count = context.processes
        self._model = model
        self._fit_X = X  # not a copy; for report()
        self._set_results()
        if common is not None:
            self.info_["processes"] = {"number": place, "count": count, "n": common.n,
                                       "first_row": common.first}
        if place == 0:  # the others have the same
            issue_warnings(zip(self.warning_codes_, self.warnings_), stacklevel=2)
        return self

    def __getstate__(self):
        # The model contains what predict() needs of the points.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fit_X"}

    def _set_results(self):
        """Set the attributes that are not arrays, and discard the arrays of an earlier fit."""
        for name, value in vars(Clusterer).items():
            if isinstance(value, _FittedArray):
                vars(self).pop(name, None)
        info = self._model.info()
        self.info_ = info
        self.labels_ = self._model.array("labels")[:, 0]
        self.n_clusters_ = info["n_clusters"]
        self.warnings_ = info["warnings"]
        self.warning_codes_ = info["warning_codes"]
        self.inertia_ = info["kmeans"]["inertia"]
        self.n_iter_ = info["kmeans"]["n_iter"]
        if "shrink" in info:
            self.gap_ = info["shrink"]["gap"]
            self.objective_ = info["shrink"]["objective"]
            self.labels_from_ = "embedding" if info["shrink"]["guarded"] else "shrunk"
            self.n_iter_ = info["shrink"]["n_iter"]
        if "refine_" in self._attributes:
            refined = info.get("refine", {})
            self.refine_ = refined if "from" in refined else None
            if "labels_from_" in self._attributes and self.refine_ is not None:
                start, source = refined.get("start", self.labels_from_), refined["from"]
                self.labels_from_ = start if source == "graph" else source

    def predict(self, X: ArrayLike | spmatrix) -> NDArray[np.int32]:
        """Assign new points to the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        with running_context(self.n_jobs, self.progress, self.engine, spread=True) as context:
            with agreeing(context):
                check_is_fitted(self)
                X = self._validate(X, reset=False, spreads=context.spreads)
            if context.spreads:
                common = common_points(context, X, {}, self._method)
                X = X.astype(common.dtype, copy=False)
            return self._model.predict(context, X)

    def fit_predict(self, X: ArrayLike | spmatrix, y: object = None) -> NDArray[np.int32]:
        """Cluster X and return ``labels_``."""
        return self.fit(X).labels_


def _check_square(X):
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed matrix must be square, not {X.shape[0]} x {X.shape[1]}")
    return X
