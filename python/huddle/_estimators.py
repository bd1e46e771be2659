"""The estimators: one class for every method of the library.

Names, options and descriptions of the methods come from the library (huddle_methods() and the
option tables). What the library does not know is in _ENTRIES below: the name of the class, the
attributes that a fit sets, and the accuracy that the example in the docstring promises. A method
without an entry gets a class too, with a name derived from that of the method.
"""
from __future__ import annotations

import inspect
import os
import re
import textwrap
from typing import Any, NamedTuple

from ._clusterer import ATTRIBUTES, Clusterer
from ._library import engine_text, methods
from ._model import Model
from ._options import method_parameters
from ._running import running_context
from ._signature import ESTIMATOR, bind_arguments, keyword_parameters, parameters_text

_SPECTRAL = ("embedding_", "eigenvalues_", "affinity_matrix_")
_SHRUNK = ("shrunk_", "gap_", "objective_", "labels_from_")
_REFINED = ("refine_", "unrefined_labels_")
_VIEWS = ("view_weights_",)
_OPTIONAL = {*_SPECTRAL, *_SHRUNK, *_REFINED, *_VIEWS}

_GAP_NOTE = """``gap_`` bounds the distance of the shrink step from its optimum. It does not
measure the quality of the clusters."""


class _Entry(NamedTuple):
    class_name: str
    attributes: tuple = ()  # of _OPTIONAL; _REFINED and _VIEWS come from the options
    accuracy: float = 0  # that the method exceeds on the digits
    note: str = ""
    n_rows: int = 0  # of the digits in the example of a slow method; 0: all of them


_ENTRIES = {
    "ssc": _Entry("SpectralShrunkClustering", _SPECTRAL + _SHRUNK, .85, _GAP_NOTE),
    "sc": _Entry("SpectralClustering", _SPECTRAL, .8),
    "kmeans": _Entry("KMeans", (), .7),
    "pca-kmeans": _Entry("PCAKMeans", (), .7),
    "pca-sc": _Entry("PCASpectralClustering", _SPECTRAL, .8),
    "lda-kmeans": _Entry("LDAKMeans", (), .7),
    "lda-sc": _Entry("LDASpectralClustering", _SPECTRAL, .7),
    "llc": _Entry("LocalLearningClustering", _SPECTRAL, .8),
    "ldmgi": _Entry("LocalDiscriminantModels", _SPECTRAL, .85),
    "sec": _Entry("SpectralEmbeddedClustering", _SPECTRAL, .85),
    "spls": _Entry("SPLS", ("embedding_", *_SHRUNK), .75, _GAP_NOTE),
    "ncut": _Entry("NormalizedCuts", _SPECTRAL, .8),
    "selftune-sc": _Entry("SelfTuningSpectralClustering", _SPECTRAL, .75),
    "lsc": _Entry("LandmarkSpectralClustering", ("embedding_", "eigenvalues_"), .7),
    "l1graph": _Entry("L1Graph", _SPECTRAL, .75),
    "l1sc": _Entry("L1NormSpectralClustering", _SPECTRAL, .8),
    "diskmeans": _Entry("DiscriminativeKMeans", (), .6),
    "bipartite": _Entry("BipartiteSpectralClustering", _SPECTRAL, .8),
    "nsc": _Entry("NonnegativeSpectralClustering", _SPECTRAL, .85),
    "mixture": _Entry("GaussianMixture", (), .7),
    "can": _Entry("AdaptiveNeighborsClustering", (), .7),
    "rmsc": _Entry("RobustMultiviewSpectralClustering", _SPECTRAL, .7, n_rows=300),
    "graphencoder": _Entry("GraphEncoder", ("embedding_", "affinity_matrix_"), .75),
}

_DOCSTRING = """{title}.

{description}

Parameters
----------
{parameters}

Attributes
----------
{attributes}

Examples
--------
>>> from huddle import {name}
>>> from huddle.datasets import load_digits
>>> from huddle.metrics import accuracy
>>> X, y = {digits}
>>> model = {name}(n_clusters=10).fit(X)
>>> accuracy(y, model.labels_) > {accuracy}
True
"""


def derived_class_name(method):
    """Return the name of the class of a method without an entry: KMedoids for k-medoids."""
    return "".join(part[:1].upper() + part[1:] for part in re.split("[^A-Za-z0-9]+", method))


def _description(method, entry):
    parts = [method.summary, entry.note]
    return "\n\n".join(textwrap.fill(" ".join(part.split()), 96) for part in parts if part)


def _attributes_text(names):
    lines = []
    for name in names:
        lines.append(f"{name} : {ATTRIBUTES[name].values}")
        lines += textwrap.wrap(ATTRIBUTES[name].help, 92, initial_indent="    ",
                               subsequent_indent="    ")
    return "\n".join(lines)


def _make_constructor(parameters):
    """Return an __init__ with one argument per option; n_clusters may be positional."""
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for keyword in keyword_parameters(parameters, ESTIMATOR):
        if keyword.name == "n_clusters":
            keyword = keyword.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own.append(keyword)
    signature = inspect.Signature(own)

    def __init__(self, *args, **kwargs):
        values = bind_arguments(signature, type(self).__name__, (self, *args), kwargs)
        # A communicator can neither be copied nor pickled, which scikit-learn's clone() does.
        values.arguments["engine"] = engine_text(values.arguments["engine"])
        for name, value in list(values.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature
    return __init__


def make_estimator(method):
    """Return the class of a method."""
    entry = _ENTRIES.get(method.name) or _Entry(derived_class_name(method.name))
    # The library has the seed in its tables; Python has random_state instead.
    parameters = tuple(p for p in method_parameters(method.name) if p.name != "seed")
    names = {p.name for p in parameters}
    wanted = (entry.attributes + (_REFINED if "refine" in names else ()) +
              (_VIEWS if "view_weights" in names else ()))
    attributes = tuple(name for name in ATTRIBUTES if name not in _OPTIONAL or name in wanted)
    doc = _DOCSTRING.format(
        title=method.title[0].upper() + method.title[1:], name=entry.class_name,
        description=_description(method, entry), parameters=parameters_text(parameters, ESTIMATOR),
        attributes=_attributes_text(attributes), accuracy=entry.accuracy,
        digits=f"(a[:{entry.n_rows}] for a in load_digits())" if entry.n_rows else "load_digits()")
    return type(entry.class_name, (Clusterer,), {
        "__module__": __name__, "__qualname__": entry.class_name, "__doc__": doc,
        "__init__": _make_constructor(parameters), "_method": method.name,
        "_parameters": parameters, "_attributes": attributes})


def _in_order(found):
    """Return the methods in the order of _ENTRIES; those without an entry come last."""
    names = list(_ENTRIES)
    return sorted(found, key=lambda method: names.index(method.name)
                  if method.name in _ENTRIES else len(names))


# Instances are pickled by the name of their class in this module, so the classes are its globals.
ESTIMATORS = tuple(make_estimator(method) for method in _in_order(methods()))
globals().update({cls.__name__: cls for cls in ESTIMATORS})
__all__ = [cls.__name__ for cls in ESTIMATORS]


def load(path: str | os.PathLike, *, n_jobs: int | None = -1, engine: Any = "cpu") -> Clusterer:
    """Load a fitted model from a file that ``save`` or ``huddle cluster --save`` wrote.

    Parameters
    ----------
    path : str or path-like
        A model file.
    n_jobs, engine
        Parameters of the returned estimator. With engine 'mpi' all processes load the file, and
        each has a part of the rows.

    Returns
    -------
    model : estimator
        Of the class of the file's method, fitted. Attributes that need the points of the fit are
        absent if the method does not keep them.

    Examples
    --------
    >>> import os, tempfile
    >>> from huddle import KMeans, load
    >>> from huddle.datasets import load_digits
    >>> X, y = load_digits()
    >>> path = os.path.join(tempfile.mkdtemp(), "digits.huddle")
    >>> KMeans(n_clusters=10).fit(X).save(path)
    >>> load(path).predict(X).shape
    (1797,)
    """
    places = None
    with running_context(n_jobs, None, engine, distributed=True) as context:
        model = Model.load(path, context if context.distributed else None)
        if context.distributed:
            places = {"number": context.process, "count": context.processes}
    cls = next(cls for cls in ESTIMATORS if cls._method == model.method)
    try:
        return cls._from_model(model, places, {"n_jobs": n_jobs, "engine": engine})
    except (AttributeError, KeyError, TypeError) as error:
        # The library has compared with the arrays what it uses of the info itself.
        raise ValueError(f"{os.fspath(path)}: the model file is damaged: a member of its report is "
                         f"missing or has the wrong type ({error})") from error
