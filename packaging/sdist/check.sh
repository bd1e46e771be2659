#!/bin/sh
# check.sh FOLDER: builds and installs the source distribution of FOLDER with pip into a virtual
# environment, as a user with the development packages does, and fits a model there.
# ./dev package check sdist; needs PyPI and some minutes.
set -eu
packages=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset HUDDLE_BUILD HUDDLE_LIBRARY PYTHONPATH
cd "$scratch"
/usr/bin/python3 -m venv venv
venv/bin/pip --disable-pip-version-check --quiet install "$packages"/huddle_clustering-*.tar.gz
venv/bin/huddle --version
venv/bin/python -c 'import huddle
from huddle._library import library_path
from huddle.datasets import load_digits
from huddle.metrics import accuracy
X, y = load_digits()
acc = accuracy(y, huddle.SpectralShrunkClustering(n_clusters=10).fit_predict(X))
assert acc > .85, acc
print(f"{library_path}: accuracy {acc:.3f} on the digits")'
