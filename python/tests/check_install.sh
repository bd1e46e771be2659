#!/bin/sh
# check_install.sh [REQUIREMENT...]: installs the package with pip into a virtual environment, which
# builds the libraries, and runs the tests there with the newest scikit-learn, or with the versions that
# are required: check_install.sh scikit-learn==1.2.0. Not part of ./dev test: it needs PyPI and several
# minutes. Without access to PyPI it prints a message and succeeds.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH HUDDLE_LIBRARY

/usr/bin/python3 -m venv "$scratch/venv"
pip="$scratch/venv/bin/pip --disable-pip-version-check --quiet"
if ! $pip download --no-deps --dest "$scratch/wheels" scikit-learn >"$scratch/log" 2>&1; then
    echo "skipped: PyPI cannot be reached ($(tail -n 1 "$scratch/log"))"
    exit 0
fi
$pip wheel --no-deps --wheel-dir "$scratch/wheels" "$source/python"
ls "$scratch/wheels"
[ $# -gt 0 ] || set -- scikit-learn
$pip install "$(ls "$scratch"/wheels/huddle_clustering-*.whl)[test]" --upgrade "$@"

cd "$scratch"
"$scratch/venv/bin/python" - <<'END'
import sklearn, huddle
from huddle._library import library_path
assert "site-packages/huddle/native" in library_path, library_path
print(f"huddle {huddle.__version__} with scikit-learn {sklearn.__version__}: {library_path}")
END
# The tests read documents and headers of the source tree, so they run there; they import the
# installed package, since the source tree is not on the path.
SCIPY_ARRAY_API=1 "$scratch/venv/bin/python" -m pytest -q -p no:cacheprovider --import-mode=importlib \
    --rootdir "$source/python/tests" "$source/python/tests" --pyargs huddle
