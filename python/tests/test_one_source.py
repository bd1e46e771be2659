"""Methods, options, warning codes and generators are those of the library, and no others."""
import ast
import ctypes
import inspect
import pathlib
import pickle
import re
from ctypes import POINTER, byref, c_char_p, c_void_p

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import huddle
from huddle import _estimators, _library, _options, _path, _warnings, datasets
from huddle._clusterer import Clusterer
from huddle._estimators import ESTIMATORS
from huddle._signature import ESTIMATOR

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGES = {huddle.knn_graph: ("knn", "weight"), huddle.spectral_embedding: ("embed",),
          huddle.shrink: ("shrink",), huddle.cluster_path: ("knn", "weight", "shrink", "path")}
PYTHON_NAMES = {"seed": "random_state"}


def library_methods():
    """Method names, read from the library without the code under test."""
    table, names = _library.lib.huddle_methods(), []
    while table[len(names)]:
        names.append(table[len(names)].contents.name.decode())
    return names


def library_options(method):
    """Option names and defaults of a method, as the library formats them."""
    lib, model, found = _library.lib, c_void_p(), {}
    lib.huddle_model_get_option.argtypes = [c_void_p, c_char_p, c_char_p, ctypes.c_size_t]
    assert lib.huddle_model_new(method.encode(), byref(model)) == 0
    table, index = lib.huddle_model_options(model), 0
    while table[index].type != _library.Option.END:
        text = ctypes.create_string_buffer(100)
        assert lib.huddle_model_get_option(model, table[index].name, text, len(text)) == 0
        found[table[index].name.decode()] = text.value.decode()
        index += 1
    lib.huddle_model_free(model)
    return found


def stub_classes():
    """The classes of the stub, with the arguments of their constructors."""
    tree = ast.parse((ROOT / "python" / "huddle" / "_estimators.pyi").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            arguments = next(f for f in node.body if isinstance(f, ast.FunctionDef)).args
            found[node.name] = [a.arg for a in arguments.args[1:] + arguments.kwonlyargs]
    return found


def test_every_method_has_one_class():
    assert sorted(cls._method for cls in ESTIMATORS) == sorted(library_methods())
    assert set(_estimators._ENTRIES) <= set(library_methods())
    assert [cls.__name__ for cls in ESTIMATORS] == _estimators.__all__
    assert len(set(_estimators.__all__)) == len(ESTIMATORS)


def test_the_package_exports_every_class():
    exported = {name for name in huddle.__all__ if inspect.isclass(getattr(huddle, name))
                and issubclass(getattr(huddle, name), Clusterer)}
    assert exported == set(_estimators.__all__)
    names = {}
    exec("from huddle import *", names)
    assert set(huddle.__all__) <= set(names) and len(set(huddle.__all__)) == len(huddle.__all__)


def test_stubs_have_every_class_and_option():
    stubs = stub_classes()
    assert list(stubs) == _estimators.__all__
    for cls in ESTIMATORS:
        expected = [n for n in library_options(cls._method) if n != "seed"] + list(ESTIMATOR)
        assert stubs[cls.__name__] == expected


def test_the_documentation_lists_every_class():
    text = (ROOT / "docs" / "python.md").read_text()
    table = re.search(r"<!-- estimators.*?-->(.*?)<!-- end -->", text, re.S).group(1)
    rows = re.findall(r"^\| `(\w+)` \| `([\w-]+)` \|", table, re.M)
    assert sorted(method for _, method in rows) == sorted(library_methods())
    assert [name for name, _ in rows] == _estimators.__all__


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_option_is_a_keyword_with_its_default(cls):
    signature = inspect.signature(cls).parameters
    options = library_options(cls._method)
    assert list(signature) == [name for name in options if name != "seed"] + list(ESTIMATOR)
    for name, text in options.items():
        default = signature[PYTHON_NAMES.get(name, name)].default
        if isinstance(default, (bool, str)):
            assert _options.option_text(default) == text
        else:
            assert default == float(text)
        assert f"\n{PYTHON_NAMES.get(name, name)} : " in cls.__doc__


@pytest.mark.parametrize("function", STAGES, ids=lambda function: function.__name__)
def test_functions_have_the_options_of_their_stages(function):
    signature = inspect.signature(function).parameters
    missing = set()
    for stage in STAGES[function]:
        for option in _options.stage_parameters(stage):
            if option.name in signature:
                assert signature[option.name].default == option.default
                assert f"\n{option.name} : " in function.__doc__
            else:
                missing.add(option.name)
    # The path varies gamma itself.
    assert missing - set(PYTHON_NAMES) == ({"gamma"} if function is huddle.cluster_path else set())


def test_options_that_a_path_leaves_out_exist():
    assert _path._UNUSED_OPTIONS <= set(library_options("ssc"))


def test_a_method_without_an_entry_gets_a_class(monkeypatch):
    """As a method that was added to the library only."""
    entries = {name: e for name, e in _estimators._ENTRIES.items() if name != "pca-kmeans"}
    monkeypatch.setattr(_estimators, "_ENTRIES", entries)
    method = next(m for m in _library.methods() if m.name == "pca-kmeans")
    cls = _estimators.make_estimator(method)
    assert cls.__name__ == "PcaKmeans"
    monkeypatch.setattr(_estimators, "PcaKmeans", cls, raising=False)
    X = np.random.default_rng(0).normal(size=(80, 4))
    model = clone(cls(3)).fit(X)
    assert np.array_equal(model.labels_, huddle.PCAKMeans(3).fit(X).labels_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
    assert [m.name for m in _estimators._in_order(_library.methods())][-1] == "pca-kmeans"


def test_warning_classes():
    names = {_library.lib.huddle_warning_name(code).decode() for code in range(100)}
    assert _warnings.CONVERGENCE_CODES < names
    assert _warnings.warning_class("not_verified") is ConvergenceWarning
    assert _warnings.warning_class("components") is UserWarning


def test_every_generator_has_a_function():
    lib = datasets._io_library()
    lib.huddle_data_kinds.restype = POINTER(c_char_p)
    kinds, names = lib.huddle_data_kinds(), []
    while kinds[len(names)]:
        names.append(kinds[len(names)].decode())
    assert names[0] == "digits"
    assert {f"make_{name}" for name in names[1:]} == {n for n in datasets.__all__ if "make_" in n}
