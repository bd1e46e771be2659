"""Huddle: clustering by spectral shrinking, with a certified shrink step.

>>> from huddle import SpectralShrunkClustering
>>> from huddle.datasets import make_moons
>>> X, y = make_moons(500)
>>> SpectralShrunkClustering(n_clusters=2).fit_predict(X).shape
(500,)
"""
import importlib
import os

# The library is loaded later, when the working folder may be another one.
if os.path.sep in os.environ.get("HUDDLE_LIBRARY", ""):
    os.environ["HUDDLE_LIBRARY"] = os.path.abspath(os.environ["HUDDLE_LIBRARY"])

# What each module exports here. A module is imported when one of its names is first used:
# importing scikit-learn takes longer than the commands of the tool, which this package starts too.
# __init__.pyi has the same names for type checkers.
_NAMES = {
    "_estimators": ("load",),
    "_functions": ("knn_graph", "spectral_embedding", "shrink", "ShrinkResult"),
    "_path": ("cluster_path", "ClusterPath"),
    "_refine": ("refine",),
    "_report": ("report",),
    "_read": ("read", "Data"),
    "_library": ("engines", "HuddleError", "Cancelled"),
    "_processes": ("processes", "Processes"),
    "_patch": ("patch_sklearn", "unpatch_sklearn"),
}
_SUBMODULES = ("datasets", "drop_in", "metrics")
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def _module(name):
    return importlib.import_module(f".{name}", __name__)


def _find(name):
    """Return the value of a name that has not been used yet."""
    if name in _MODULE_OF:
        return getattr(_module(_MODULE_OF[name]), name)
    if name in _SUBMODULES:
        return _module(name)
    if name == "__version__":
        return _module("_library").version()
    if name == "__all__":
        return [*_MODULE_OF, *_SUBMODULES, *_module("_estimators").__all__]
    # The library decides which estimators there are.
    if not name.startswith("_") and name in _module("_estimators").__all__:
        return getattr(_module("_estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __getattr__(name):
    value = globals()[name] = _find(name)
    return value


def __dir__():
    return sorted({*globals(), *__getattr__("__all__"), "__version__"})
