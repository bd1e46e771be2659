#!/usr/bin/python3
"""Writes the type stubs of what is generated from the option tables.

    PYTHONPATH=python python/make_stubs.py [--check]

--check writes nothing and fails if a stub is not current.
"""
import inspect
import pathlib
import sys
import warnings

import numpy as np

from huddle import _estimators, _functions, _path
from huddle._library import Option

PACKAGE = pathlib.Path(_estimators.__file__).parent
HEAD = '''"""Made by make_stubs.py from the option tables: change those instead."""
'''
TYPES = {Option.INT: "int", Option.SEED: "int", Option.REAL: "float", Option.BOOL: "bool",
         Option.RULE: "str", Option.RANGE: "int | tuple[int, int] | range | str"}
COMMON = {"random_state": "int | np.random.RandomState | None", "n_jobs": "int | None",
          "engine": "str",
          "progress": "bool | Callable[[str, float, float], object] | None"}
OWN = {"X": "ArrayLike | spmatrix", "A": "ArrayLike | spmatrix", "F": "ArrayLike",
       "W": "ArrayLike | spmatrix", "n_neighbors": "int", "n_components": "int",
       "n_clusters": "int | str", "mode": 'Literal["weights", "distance"]', "connect": "bool",
       "return_eigenvalues": "bool", "gamma": "float | str", "start": "ArrayLike | None",
       "n_gamma": "int", "gammas": "ArrayLike | None", "keep_shrunk": "bool"}
RETURNS = {"knn_graph": "csr_matrix", "shrink": "ShrinkResult", "cluster_path": "ClusterPath",
           "spectral_embedding": "NDArray[np.float64] | tuple[NDArray[np.float64], "
                                 "NDArray[np.float64]]"}
ATTRIBUTES = {"labels_": "NDArray[np.int32]", "n_clusters_": "int", "warnings_": "list[str]",
              "info_": "dict[str, Any]", "cluster_centers_": "NDArray[np.float64]",
              "inertia_": "float", "n_iter_": "int", "eigenvalues_": "NDArray[np.float64]",
              "affinity_matrix_": "csr_matrix", "embedding_": "NDArray[np.float64]",
              "shrunk_": "NDArray[np.float64]", "gap_": "float", "objective_": "float",
              "labels_from_": "str",
              "n_features_in_": "int", "feature_names_in_": "NDArray[np.object_]"}


def option_type(option):
    """The type of one option's values."""
    if option.kind != Option.CHOICE:
        word = option.auto and option.kind != Option.RANGE
        return TYPES[option.kind] + (" | str" if word else "")
    words = ", ".join(f'"{choice}"' for choice in option.choices)
    return f"Literal[{words}]" + (" | bool" if "true" in option.choices else "")


def argument(parameter, options):
    """One argument as a stub has it."""
    name = parameter.name
    kind = option_type(options[name]) if name in options else COMMON.get(name) or OWN[name]
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{name}: {kind}"
    if default is None and "None" not in kind:
        kind += " | None"
    return f"{name}: {kind} = {default!r}"


def arguments(signature, options, indent):
    """All of them, one a line."""
    lines, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            lines.append("self")
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        lines.append(argument(parameter, options))
    return "".join(f"{indent}{line},\n" for line in lines)


def fitted_attributes(estimator):
    """What a fit sets, in the order of ATTRIBUTES."""
    points = np.random.default_rng(0).standard_normal((60, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(3).fit(points)
    unknown = [name for name in vars(model) if name.endswith("_") and name not in ATTRIBUTES]
    if unknown:
        sys.exit(f"make_stubs.py: what type has {unknown[0]}?")
    return [name for name in ATTRIBUTES if hasattr(model, name) or name == "feature_names_in_"]


def estimators_stub():
    text = [HEAD, '''from typing import Any, Callable, Literal, TypeVar

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
''']
    for cls in _estimators.ESTIMATORS:
        text.append(f"\nclass {cls.__name__}(_Clusterer):\n")
        text += [f"    {name}: {ATTRIBUTES[name]}\n" for name in fitted_attributes(cls)]
        options = {p.name: p for p in cls._parameters}
        text.append("    def __init__(\n" + arguments(inspect.signature(cls.__init__), options,
                                                      8 * " ") + "    ) -> None: ...\n")
    text.append("\nESTIMATORS: tuple[type[_Clusterer], ...]\n")
    return "".join(text)


def function_text(function):
    options = {p.name: p for p in function.parameters}
    lines = arguments(inspect.signature(function), options, "    ")
    return f"\ndef {function.__name__}(\n{lines}) -> {RETURNS[function.__name__]}: ...\n"


def result_text(cls, methods=""):
    fields = "".join(f"    {name}: {kind}\n" for name, kind in FIELDS[cls.__name__].items())
    return f"\nclass {cls.__name__}:\n{fields}{methods}"


FIELDS = {
    "ShrinkResult": {"G": "NDArray[np.float64]", "groups": "NDArray[np.int32]", "n_groups": "int",
                     "objective": "float", "dual": "float", "gap": "float", "gamma": "float",
                     "n_iter": "int", "stop": "str", "solver": "str", "seconds": "float",
                     "history": "NDArray[np.float64]"},
    "ClusterPath": {"gammas": "NDArray[np.float64]", "n_groups": "NDArray[np.int32]",
                    "groups": "NDArray[np.int32]", "objective": "NDArray[np.float64]",
                    "dual": "NDArray[np.float64]", "gap": "NDArray[np.float64]",
                    "linkage": "NDArray[np.float64]", "gamma_fit": "float", "gamma_up": "float",
                    "labels": "NDArray[np.int32]", "gamma": "float",
                    "embedding": "NDArray[np.float64]",
                    "shrunk": "list[NDArray[np.float64]] | None"}}

IMPORTS = '''from typing import Any, Callable, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, spmatrix
'''


def functions_stub():
    return (HEAD + IMPORTS + result_text(_functions.ShrinkResult)
            + "".join(function_text(f) for f in (_functions.knn_graph,
                                                 _functions.spectral_embedding, _functions.shrink))
            + "\ndef points_array(x: Any) -> Any: ...\n"
            + "def graph_array(matrix: Any, n: int | None, name: str) -> Any: ...\n")


def path_stub():
    plot = '    def plot(self, ax: Any = None, kind: Literal["auto", "groups", "rows"] = "auto") ' \
           "-> Any: ...\n"
    return HEAD + IMPORTS + result_text(_path.ClusterPath, plot) + function_text(_path.cluster_path)


STUBS = {"_estimators.pyi": estimators_stub, "_functions.pyi": functions_stub,
         "_path.pyi": path_stub}


def main(check):
    for name, make in STUBS.items():
        path, text = PACKAGE / name, make()
        if check and (not path.exists() or path.read_text() != text):
            sys.exit(f"{name} is not current: run python/make_stubs.py")
        if not check:
            path.write_text(text)


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
