"""The data of the table: files in build/bench-data, generated or read from $HUDDLE_DATA on first use.

A case is a name such as "sheets 100,000 x 32"; `points(name)` returns its file and the classes, if it has
any. Real data are used where $HUDDLE_DATA has them, otherwise points of the same shape.
"""
import dataclasses
import os
import pathlib

import numpy as np
from scipy import sparse

import graph
import make_mnist70k
import make_sheets
from measure import ROOT

FOLDER = ROOT / "build" / "bench-data"


def made_once(path, make):
    """Returns the path; unless it exists, make(PATH) writes it and perhaps PATH-labels.npy. The files appear
    under their names when they are complete."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        print(f"making {path}", flush=True)
        make(path.with_name(f"part-{path.name}"))
        for written in sorted(path.parent.glob(f"part-{path.stem}*")):  # the labels first
            if written.stem in (f"part-{path.stem}", f"part-{path.stem}-labels"):
                os.replace(written, path.parent / written.name.removeprefix("part-"))
    return path


@dataclasses.dataclass(frozen=True)
class Case:
    """A data set, its number of clusters, and how its file is made."""
    name: str
    file: str
    clusters: int
    make: object  # a function of the path, which writes the points and perhaps the classes
    n: int
    d: int

    def path(self):
        """The file of the points, made on first use."""
        return made_once(FOLDER / self.file, self.make)

    def classes(self):
        """The file of the classes, or None."""
        path = make_sheets.labels_path(self.path())
        return path if path.exists() else None


def _save(path, x, y=None):
    if sparse.issparse(x):
        sparse.save_npz(path, x)
    else:
        np.save(path, np.ascontiguousarray(x, np.float32))
    if y is not None:
        np.save(make_sheets.labels_path(path), np.asarray(y, np.int32))


def sheets(n):
    return Case(f"sheets {n:,} x 32", f"sheets{n}.npy", 40, lambda path: _save(path, *make_sheets.make(n)), n, 32)


def usps():
    """The digits, or points of their shape."""
    folder = os.environ.get("HUDDLE_DATA", "")
    real = os.path.exists(os.path.join(folder, "USPS.h5")) if folder else False
    return Case("USPS 9,298 x 256" if real else "like USPS 9,298 x 256", f"usps{'' if real else '-like'}.npy", 10,
                lambda path: _save(path, graph.usps(folder)), 9298, 256)


def mnist70k():
    """Digits and altered copies of them, or points of their shape."""
    file = pathlib.Path(os.environ.get("HUDDLE_DATA", "")) / "MNIST10k.mat"
    real = bool(os.environ.get("HUDDLE_DATA")) and file.exists()
    make = (lambda: make_mnist70k.from_mnist(str(file), None)) if real else make_mnist70k.synthetic
    return Case("MNIST and copies 70,000 x 784" if real else "like MNIST 70,000 x 784",
                f"mnist70k{'' if real else '-like'}.npy", 10, lambda path: _save(path, *make()), 70_000, 784)


def normal(n, d=8):
    """One normal distribution: no clusters at all."""
    return Case(f"normal {n:,} x {d}", f"normal{n}x{d}.npy", 10,
                lambda path: _save(path, np.random.default_rng(0).standard_normal((n, d), np.float32)), n, d)


def corpus(n=11_314, d=100_000):
    """Documents as TF-IDF, of the shape of 20 newsgroups; sparse."""
    def make(path):
        import make_corpus
        _save(path, *make_corpus.make(n, d))
    return Case(f"documents {n:,} x {d:,}", f"corpus{n}x{d}.npz", 20, make, n, d)
