"""Other software: where it is installed, and which tasks measure it.

Without --peers only Debian's scikit-learn is used. With it, build/bench/venv is made from PyPI on first use
and every peer runs in it. A package that cannot be installed is a failed row, like any other failure.
"""
import functools
import subprocess
import sys
from typing import NamedTuple

from measure import HERE, ROOT

VENV = ROOT / "build" / "bench" / "venv"
PACKAGES = ("scikit-learn", "pandas", "pyamg", "faiss-cpu", "pynndescent", "umap-learn", "hdbscan")
OPERATIONS = 1e12  # of brute force on a part of the queries
SOLVERS = ("arpack", "lobpcg", "amg")


def make_environment(folder=VENV, packages=PACKAGES):
    """Makes the virtual environment, or completes it; returns the packages that cannot be installed."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    missing = []
    for package in packages:  # one at a time: one that fails does not take the others with it
        marker = folder / f".{package}"
        if marker.exists():
            continue
        print(f"installing {package}", flush=True)
        done = subprocess.run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check",
                               package], stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            marker.touch()
        else:
            missing.append(package)
            print(f"  {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}")
    return missing


@functools.lru_cache(maxsize=None)
def version(python, package="scikit-learn"):
    """The version of a package of an interpreter, or "none"."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "none"


class Peer(NamedTuple):
    """One program of a comparison: what it is called, what provides it, and its task (tasks.py)."""
    name: str
    package: str
    task: str
    values: dict


def task_command(python, task, values):
    """The words that run a task. A value may be a function: an input that is made when it is needed."""
    words = (f"{key}={value() if callable(value) else value}" for key, value in values.items())
    return [python, str(HERE / "tasks.py"), task, *words]


class Peers:
    """The peers of a run: all of them, or Debian's scikit-learn."""

    def __init__(self, everything=False):
        self.everything = everything
        self.python = str(VENV / "bin" / "python") if everything else sys.executable

    def neighbours(self, x, k, n, d):
        """Brute force answers only a part of the queries of large data (OPERATIONS): it would take hours."""
        some = {"x": x, "k": k, "queries": int(min(n, max(1000, OPERATIONS / (2. * n * d))))}
        yield Peer("scikit-learn brute", "scikit-learn", "knn_brute", some)
        if self.everything:
            yield Peer("faiss flat", "faiss-cpu", "knn_faiss", some)
            yield Peer("faiss cells", "faiss-cpu", "knn_faiss_cells", {"x": x, "k": k})
            yield Peer("pynndescent", "pynndescent", "knn_descent", {"x": x, "k": k})

    def solvers(self):
        """scikit-learn's eigen_solvers; amg needs pyamg, which Debian's Python may not have."""
        return SOLVERS if self.everything else SOLVERS[:2]

    def embedding(self, a, c, tol):
        for solver in self.solvers():
            yield Peer(f"scikit-learn {solver}", "scikit-learn", "embed_sklearn",
                       {"a": a, "c": c, "tol": tol, "solver": solver})

    def whole(self, x, c, classes):
        values = {"x": x, "c": c, "classes": classes}
        for solver in self.solvers():
            yield Peer(f"scikit-learn {solver}", "scikit-learn", "whole_sklearn", {**values, "solver": solver})
        if self.everything:
            yield Peer("UMAP + K-means", "umap-learn", "whole_umap", values)
            yield Peer("HDBSCAN", "hdbscan", "whole_hdbscan", values)
