"""The fitted attributes of the estimators: their descriptions, and those computed on access."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._running import running_context


class Attribute(NamedTuple):
    """The description of a fitted attribute: in docstrings, and as a type in stubs."""
    values: str
    annotation: str
    help: str


# All fitted attributes in the order of the documentation. Docstrings and stubs are made from this.
ATTRIBUTES = {
    "labels_": Attribute("ndarray of shape (n_samples,)", "NDArray[np.int32]",
                         "Cluster of each point, 0 .. ``n_clusters_`` - 1, numbered by first member: "
                         "cluster 0 contains the first point."),
    "n_clusters_": Attribute("int", "int", "Number of clusters, as given or as chosen."),
    "confidence_": Attribute("ndarray of shape (n_samples,)", "NDArray[np.float64]",
                             "How certain each label is, from 0 (as near to another cluster) to 1 "
                             "(at the mean of its own). With a the distance of a point to the mean "
                             "of its cluster and b that to the nearest other mean it is 1 - a / b, "
                             "or 0 if a > b, in the coordinates that the labels come from. Computed "
                             "when it is first accessed."),
    "silhouette_samples_": Attribute("ndarray of shape (n_samples,)", "NDArray[np.float64]",
                                     "Silhouette of each prepared point, from -1 to 1. Computed "
                                     "when it is first accessed, in time proportional to the "
                                     "square of the number of points."),
    "range_labels_": Attribute("dict of int to ndarray of shape (n_samples,)",
                               "dict[int, NDArray[np.int32]]",
                               "Labels for each number of clusters, if ``n_clusters`` is a range; "
                               "absent otherwise. Those of ``n_clusters_`` are ``labels_``."),
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
                              "labels are not those of the step that ``gap_`` and ``objective_`` "
                              "describe, and a warning is issued. If the labels were refined: the "
                              "start that they come from, or what was preferred to them, as in "
                              "``refine_``."),
    "refine_": Attribute("dict or None", "dict[str, Any] | None",
                         "How the labels were refined on the graph: ``start``, the labelling from "
                         'which the best were found; ``from``, "graph", or if other labels were '
                         'preferred to these, "kmeans" (K-means on the points) or "commute" '
                         "(K-means on commute rows); ``n_changed``, the number of labels that "
                         "differ from those of the method itself; ``trials``, the scores of every "
                         "start. None if the labels were not refined."),
    "view_weights_": Attribute("ndarray of shape (n_views,) or None", "NDArray[np.float64] | None",
                               "Weights of the views in the mean of their graphs, which add up to "
                               "1; None if there is one view."),
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
                       "All results and options of the fit, the JSON object that ``huddle cluster "
                       "--json`` prints. Its scores, ``internal`` and ``confidence``, are computed "
                       "when ``info_`` is first accessed; rows on several processes have none."),
    "n_features_in_": Attribute("int", "int", "Number of features seen during fit."),
    "feature_names_in_": Attribute("ndarray of shape (n_features,)", "NDArray[np.object_]",
                                   "Names of the features, if X has names that are all strings."),
}


class FittedAttribute:
    """An attribute that is computed from the fitted model when it is first accessed.

    The value is then an ordinary attribute of the estimator, until the next fit.
    """

    def __init__(self, compute):
        self._compute = compute

    def __set_name__(self, owner, attribute):
        self._attribute = attribute

    def __get__(self, estimator, owner):
        if estimator is None:
            return self
        if "_model" not in vars(estimator):
            raise AttributeError(f"{owner.__name__} has no {self._attribute} before fit()")
        value = self._compute(estimator)
        if value is None:
            raise AttributeError(f"{owner.__name__} has no {self._attribute}")
        vars(estimator)[self._attribute] = value
        return value


def fitted_array(name, is_column=False):
    """Return an attribute that is a copy of an array of the model."""
    def copy(estimator):
        found = estimator._model.array(name)
        return found[:, 0] if found is not None and is_column else found
    return FittedAttribute(copy)


def fitted_values(attribute, name):
    """Return an attribute that a function of the model computes for every point."""
    def compute(estimator):
        points = fitted_points(estimator)
        with running_context(estimator.n_jobs, None, estimator.engine, distributed=True) as context:
            try:
                return getattr(estimator._model, name)(context, points)
            except ValueError as error:  # there are no points
                reason = ("it needs points, and X was not" if estimator._is_pairwise() else
                          "it needs the points of the fit, which this method does not keep in a "
                          "pickle or a model file; access it before, or fit again")
                raise AttributeError(
                    f"{type(estimator).__name__} has no {attribute}: {reason}") from error
    return FittedAttribute(compute)


def fitted_points(estimator):
    """Return the points of the fit, None if they are not known any more or were a graph."""
    return None if estimator._is_pairwise() else vars(estimator).get("_fit_X")


def fitted_range(estimator):
    """Return the labels of each number of clusters of a range; None without a range."""
    labels = estimator._model.array("range_labels")
    if labels is None:
        return None
    numbers = [trial["n_clusters"] for trial in estimator._model.info()["range"]]
    # K-means may have been preferred to the graph once the number was known.
    return {**dict(zip(numbers, labels.T)), estimator.n_clusters_: estimator.labels_}


def _mean_confidence(estimator):
    """Return the mean confidence of all points and of each cluster, as the tool reports it."""
    values, count = estimator.confidence_, estimator.n_clusters_
    sizes = np.bincount(estimator.labels_, minlength=count)
    sums = np.bincount(estimator.labels_, weights=values, minlength=count)
    return {"mean": float(values.mean()),
            "clusters": [total / size if size > 0 else None
                         for total, size in zip(sums.tolist(), sizes.tolist())]}


def fitted_info(estimator):
    """Return the info with the scores that need no classes."""
    if estimator._places is not None:
        return {**estimator._model.info(), "processes": estimator._places}
    with running_context(estimator.n_jobs, None, estimator.engine) as context:
        estimator._model.score(context, fitted_points(estimator))
    info = estimator._model.info()
    if hasattr(estimator, "confidence_"):
        info["confidence"] = _mean_confidence(estimator)
    return info
