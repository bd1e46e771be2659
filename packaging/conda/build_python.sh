#!/bin/bash
# The output huddle-clustering: the Python package, with the libraries and the command of the other two.
set -eu
HUDDLE_WITHOUT_LIBRARIES=1 "$PYTHON" -m pip install --no-deps --no-build-isolation -vv "$SRC_DIR/python"
