"""The base class of all estimators: fit, predict and the fitted attributes."""
from __future__ import annotations

import numbers
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix
from sklearn.base import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin,
                          TransformerMixin)
from sklearn.utils.validation import check_is_fitted

from ._attributes import (ATTRIBUTES, FittedAttribute, fitted_array, fitted_info, fitted_range,
                          fitted_values)
from ._library import engine_text
from ._model import Model
from ._options import python_value
from ._points import kept_points
from ._processes import agreeing, common_points
from ._running import print_lines, random_seed, running_context
from ._signature import suggestion
from ._views import first_view, is_views, validate_views, view_weights
from ._warnings import issue_warnings

if TYPE_CHECKING:
    from typing_extensions import Self


class Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators. A subclass has a method and the method's options."""

    cluster_centers_ = fitted_array("centres")
    eigenvalues_ = fitted_array("eigenvalues", is_column=True)
    affinity_matrix_ = fitted_array("graph")
    embedding_ = fitted_array("embedding")
    shrunk_ = fitted_array("shrunk")
    unrefined_labels_ = fitted_array("unrefined_labels", is_column=True)
    range_labels_ = FittedAttribute(fitted_range)
    confidence_ = fitted_values("confidence_", "confidence")
    silhouette_samples_ = fitted_values("silhouette_samples_", "silhouettes")
    info_ = FittedAttribute(fitted_info)
    _places = None  # the processes of the fit; None if all rows are on this one
    _view_features = None  # of each view; None if there is one

    _pairwise_affinities = ("precomputed", "precomputed_nearest_neighbors", "distances")

    def _is_pairwise(self):
        return getattr(self, "affinity", "features") in self._pairwise_affinities

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _more_tags(self):  # before scikit-learn 1.6
        return {"pairwise": self._is_pairwise(), "preserves_dtype": []}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, as in scikit-learn."""
        names = list(self.get_params(deep=False))
        for name in params:
            if name.partition("__")[0] not in names:
                raise ValueError(f"Invalid parameter {name!r} for estimator "
                                 f"{type(self).__name__}{suggestion(name, names) or '.'} "
                                 f"Valid parameters are: {names!r}.")
        if "engine" in params:
            params["engine"] = engine_text(params["engine"])
        return super().set_params(**params)

    def _options(self):
        options = {p.name: getattr(self, p.name) for p in self._parameters}
        for name in ("view_weights", "layers"):
            if isinstance(options.get(name), (tuple, np.ndarray)):
                options[name] = list(options[name])
        if options.get("preset", "none") != "none":  # a parameter at its default is not given
            defaults = {p.name: p.default for p in self._parameters}
            options = {name: value for name, value in options.items() if value != defaults[name]}
        options["seed"] = random_seed(self.random_state)
        return options

    def _check_clusters(self, n):
        # scikit-learn's checks expect this message; the library's would come after the conversion.
        clusters = self.n_clusters
        if isinstance(clusters, numbers.Integral) and clusters > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={clusters}.")

    def _validate(self, X, reset, distributed=False):
        # A process may have no rows, as long as others have some.
        if distributed and is_views(X):
            raise NotImplementedError("several views need all rows on one process; the engine "
                                      f"{self.engine} distributes them")
        if is_views(X) and self._is_pairwise():
            raise ValueError(f"affinity = {self.affinity!r} takes one matrix, not several views")
        return validate_views(self, X, reset, accept_sparse="csr", dtype=[np.float64, np.float32],
                              ensure_min_samples=0 if distributed else 1)

    def _prepare(self, context, X):
        """Return the points, the options and what the processes have in common."""
        with agreeing(context):
            X = self._validate(X, reset=True, distributed=context.distributed)
            options, common = self._options(), None
            if context.distributed and self._is_pairwise():
                raise NotImplementedError(f"affinity = {self.affinity!r} needs all rows on one "
                                          f"process; the engine {self.engine} distributes them")
        if context.distributed:
            common = common_points(context, X, options, self._method)
            options["seed"] = common.seed
            X = X.astype(common.dtype, copy=False)
        self._check_clusters(first_view(X).shape[0] if common is None else common.n)
        return X, options, common

    def fit(self, X: ArrayLike | spmatrix, y: object = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or list of these
            Points, or a matrix of shape (n_samples, n_samples) for a precomputed ``affinity``. A
            list or tuple of two-dimensional arrays is several views of the same points, with
            features of their own, which some methods combine (``view_weights``). The
            estimator keeps a copy of points for attributes that are computed when they are accessed.
            A memory map that was opened for reading, ``np.load(..., mmap_mode="r")``, is not copied.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        with running_context(self.n_jobs, self.progress, self.engine, self.memory, distributed=True,
                             verbose=self.verbose) as context:
            given = X
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
        # For report() and attributes that are computed later; the model has a copy of a graph.
        self._fit_X = None
        if not self._is_pairwise():
            self._fit_X = kept_points(first_view(X), given[0] if is_views(given) else given)
        self._places = None
        if common is not None:
            self._places = {"number": place, "count": count, "n": common.n,
                            "first_row": common.first}
        info = self._set_results()
        if place == 0:  # the others have the same
            print_lines(self.verbose, _decisions(info))
            issue_warnings(zip(self.warning_codes_, self.warnings_), stacklevel=2)
        return self

    def _get_fitted_attr_html(self, *args, **options):
        # To show an estimator in a notebook, scikit-learn reads all attributes that dir() lists. It
        # is to show those that have been computed, not to compute the others.
        self._hides_attributes = True
        try:
            return super()._get_fitted_attr_html(*args, **options)
        finally:
            del self._hides_attributes

    def __dir__(self):
        # scikit-learn's own tries to read everything, which would compute it.
        known, hides = vars(self), "_hides_attributes" in vars(self)
        expected = self._attributes if "_model" in known and not hides else ()

        def is_listed(name):
            if isinstance(vars(Clusterer).get(name), FittedAttribute):
                return name in known or name in expected
            return not hides if name.startswith("_") else hasattr(self, name)

        return [name for name in object.__dir__(self) if is_listed(name)]

    def __getstate__(self):
        # The model contains what predict() needs of the points.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fit_X"}

    def _set_results(self):
        """Set the attributes that cost nothing, discard the others of an earlier fit."""
        for name, value in vars(Clusterer).items():
            if isinstance(value, FittedAttribute):
                vars(self).pop(name, None)
        info = self._model.info()
        self.labels_ = self._model.array("labels")[:, 0]
        self.n_clusters_ = info["n_clusters"]
        self.warnings_ = info["warnings"]
        self.warning_codes_ = info["warning_codes"]
        self.inertia_ = info["kmeans"]["inertia"]
        self.n_iter_ = info["kmeans"]["n_iter"]
        if "view_weights_" in self._attributes:
            self.view_weights_ = view_weights(info)
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
        return info

    def predict(self, X: ArrayLike | spmatrix) -> NDArray[np.int32]:
        """Assign new points to the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or list of these
            New points, in as many views as the fit had.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each point.
        """
        with running_context(self.n_jobs, self.progress, self.engine, distributed=True,
                             verbose=self.verbose) as context:
            with agreeing(context):
                check_is_fitted(self)
                X = self._validate(X, reset=False, distributed=context.distributed)
            if context.distributed:
                common = common_points(context, X, {}, self._method)
                X = X.astype(common.dtype, copy=False)
            return self._model.predict(context, X)

    def fit_predict(self, X: ArrayLike | spmatrix, y: object = None) -> NDArray[np.int32]:
        """Cluster X and return ``labels_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for :meth:`fit`.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each point.
        """
        return self.fit(X).labels_

    def transform(self, X: ArrayLike | spmatrix) -> NDArray[np.float64]:
        """Return the coordinates of new points.

        These are rows of the embedding if the method has one, where a point that equals a training
        point has its row of ``embedding_``; otherwise the distances to ``cluster_centers_``, as of
        scikit-learn's KMeans.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or list of these
            New points, in as many views as the fit had.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            A data frame after ``set_output(transform="pandas")``.
        """
        check_is_fitted(self)
        with running_context(self.n_jobs, self.progress, self.engine,
                             verbose=self.verbose) as context:
            X = self._validate(X, reset=False)
            return self._model.transform(context, X)

    def fit_transform(self, X: ArrayLike | spmatrix, y: object = None) -> NDArray[np.float64]:
        """Cluster X and return its coordinates: ``embedding_``, or distances to the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for :meth:`fit`.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            A data frame after ``set_output(transform="pandas")``.
        """
        self.fit(X)
        if "embedding_" in self._attributes:
            return self.embedding_
        with running_context(self.n_jobs, self.progress, self.engine,
                             verbose=self.verbose) as context:
            return self._model.transform(context, self._fit_X)

    @property
    def _n_features_out(self):
        if "embedding_" in self._attributes:
            return self._model.shape("embedding")[1]
        return self._model.shape("centres")[0]

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to a file.

        The file is the one that ``huddle cluster --save`` writes. It contains the options and the
        results of the fit, and what ``predict`` needs; not ``n_jobs``, ``progress``, ``verbose``,
        ``memory`` and ``engine``.

        Parameters
        ----------
        path : str or path-like
            File to write. It is replaced only when the new one is complete.
        """
        check_is_fitted(self)
        with running_context(self.n_jobs, None, self.engine, distributed=True) as context:
            self._model.save(path, context if context.distributed else None)

    @classmethod
    def load(cls, path: str | os.PathLike, *, n_jobs: int | None = -1,
             engine: Any = "cpu") -> Self:
        """Load a fitted model of this class from a file; see :func:`huddle.load`."""
        from ._estimators import load  # which imports this module
        estimator = load(path, n_jobs=n_jobs, engine=engine)
        if not isinstance(estimator, cls):
            name = type(estimator).__name__
            raise ValueError(f"{os.fspath(path)} contains a model of {name}, not {cls.__name__}; "
                             f"use {name}.load() or huddle.load()")
        return estimator

    @classmethod
    def _from_model(cls, model, places, context_options):
        """Return the estimator of a loaded model; places as in a fit, without the rows."""
        info = model.info()
        names = {p.name for p in cls._parameters}
        options = {name: python_value(value) for name, value in info["options"].items()
                   if name in names}
        if options.get("solver") == "plain":  # its name in files of Huddle 0.3
            options["solver"] = "reweighted"
        if "preset" in options:
            # All values are explicit, and one that equals the default would be the preset's.
            options["preset"] = "none"
        estimator = cls(random_state=info["options"]["seed"], **options, **context_options)
        estimator._model = model
        if places is not None:
            # All rows, or those that this process would have of a data file.
            first = info["n"] * places["number"] // places["count"]
            estimator._places = {**places, "n": info["n"],
                                 "first_row": first if model.n_rows < info["n"] else 0}
        estimator._set_results()
        if "views" in info:
            estimator._view_features = [view["d"] for view in info["views"]]
        # A graph has as many features as vertices.
        estimator.n_features_in_ = info["n"] if estimator._is_pairwise() else info["d"]
        if info.get("feature_names"):
            estimator.feature_names_in_ = np.array(info["feature_names"], dtype=object)
        return estimator


def _decisions(info):
    """Return what a fit decided, as sentences."""
    options, seconds = info["options"], info["seconds"]
    longest = sorted(((value, name) for name, value in seconds.items() if name != "total"),
                     reverse=True)[:3]
    lines = [f"method {info['method']}: {info['n']} points, {info['n_clusters']} clusters, "
             f"{seconds['total']:.2f} s "
             f"({', '.join(f'{name} {value:.2f} s' for value, name in longest)})"]
    if options.get("prepare") == "auto":
        lines.append(f"prepare: {info['prepare']['rule']}")
    if options["n_clusters"] != info["n_clusters"]:
        lines.append(f"n_clusters: {info['n_clusters']}, chosen by "
                     f"{info.get('chosen_by', 'the eigengap')}")
    if "decision" in info:
        lines.append(info["decision"])
    if "from" in info.get("refine", {}):
        lines.append(f"refine: {info['refine']['n_changed']} labels changed")
    return lines + [f"to save memory, {text}" for text in info.get("memory", {}).get("leaner", [])]


def _check_square(X):
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed matrix must be square, not {X.shape[0]} x {X.shape[1]}")
    return X
