#!/bin/sh
# install.sh: builds in $SRC_DIR and installs into $PREFIX, without the Python package.
# shellcheck disable=SC2086 # CMAKE_ARGS, which conda's compilers set, are several
set -eu
cmake -S "$SRC_DIR" -B "$SRC_DIR/build-conda" -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
    -DHUDDLE_PYTHON=OFF -DHUDDLE_TESTS=OFF -DHUDDLE_BENCH=OFF
cmake --build "$SRC_DIR/build-conda" --parallel "${CPU_COUNT:-2}"
cmake --install "$SRC_DIR/build-conda"
