"""What importing the package loads, its names, and the errors of a library that is missing."""
import ast
import os
import pathlib
import subprocess
import sys

import pytest

import huddle
from huddle import __main__ as tool
from huddle import _estimators, _loader

PACKAGE = pathlib.Path(huddle.__file__).parent


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                          env={**os.environ, **environment})


def test_importing_does_not_load_scikit_learn_or_the_library():
    done = run("import sys, huddle; print([name for name in ('numpy', 'scipy', 'sklearn', "
               "'huddle._library') if name in sys.modules])")
    assert done.stdout == "[]\n", done.stderr


def test_names_are_found_when_they_are_used():
    done = run("from huddle import *\nimport huddle\n"
               "assert KMeans is huddle.KMeans and shrink is huddle.shrink\n"
               "assert read is huddle._read.read and metrics.nmi is huddle.metrics.nmi\n"
               "print(set(huddle.__all__) <= set(dir(huddle)), huddle.__version__)")
    assert done.stdout == f"True {huddle.__version__}\n", done.stderr


def test_names_that_do_not_exist():
    assert not hasattr(huddle, "nothing")
    with pytest.raises(AttributeError, match="module 'huddle' has no attribute 'Kmeans'"):
        huddle.Kmeans
    with pytest.raises(ImportError, match="nothing"):
        from huddle import nothing  # noqa: F401


def test_the_stub_has_the_same_names():
    names, modules = set(), set()
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            (modules if node.module is None else names).update(a.name for a in node.names)
    assert "*" in names  # the estimators, which have a stub of their own
    assert names - {"*"} | modules == set(huddle.__all__) - set(_estimators.__all__)


def test_a_library_that_is_missing():
    done = run("import huddle; huddle.KMeans", HUDDLE_LIBRARY="/nowhere/libhuddle.so")
    assert "libhuddle.so cannot be loaded; tried /nowhere/libhuddle.so. " in done.stderr
    assert "The wheel of huddle-clustering" in done.stderr


@pytest.mark.parametrize("missing, advice", [
    ("libopenblas.so.0", "; Debian: apt-get install libopenblas0"),
    ("libhdf5_serial.so.103", "; Debian: apt-get install libhdf5-103-1"),
    ("libstrange.so.3", "")])
def test_a_library_that_another_needs_is_named(missing, advice):
    error = OSError(f"{missing}: cannot open shared object file: No such file or directory")
    assert (_loader._failure("/x/libhuddle.so", error)
            == f"/x/libhuddle.so, which needs {missing}, which is not installed{advice}")


def test_other_failures_are_reported_as_they_are():
    error = OSError("/x/libhuddle.so: invalid ELF header")
    assert _loader._failure("/x/libhuddle.so", error) == f"/x/libhuddle.so ({error})"


def test_the_tool_runs():
    try:
        tool.find_tool()
    except FileNotFoundError:
        pytest.skip("the tool is not installed beside the package")
    done = subprocess.run([sys.executable, "-m", "huddle", "--version"], text=True,
                          capture_output=True)
    assert (done.returncode, done.stdout) == (0, f"huddle {huddle.__version__}\n")
    done = subprocess.run([sys.executable, "-m", "huddle", "cluster", "nowhere.csv"], text=True,
                          capture_output=True)
    assert done.returncode != 0 and "nowhere.csv" in done.stderr


def test_a_tool_that_is_missing():
    done = subprocess.run([sys.executable, "-m", "huddle", "--version"], text=True,
                          capture_output=True,
                          env={**os.environ, "HUDDLE_LIBRARY": "/nowhere/lib/libhuddle.so"})
    assert done.returncode == 1
    assert "huddle: the huddle tool was not found; tried /nowhere/lib/huddle" in done.stderr
