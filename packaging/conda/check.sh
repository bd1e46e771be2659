#!/bin/sh
# check.sh: runs the scripts of the recipe as conda-build does, with Debian's libraries and two empty
# prefixes, and checks which output gets which files. conda itself is not needed. The recipe's fields
# are checked by tests/packages/conda.py. ./dev package check conda
set -eu
RECIPE_DIR=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SRC_DIR=$scratch/source
export RECIPE_DIR SRC_DIR
mkdir "$SRC_DIR"
(cd "$RECIPE_DIR/../.." && git ls-files -z | xargs -0 tar -cf -) | tar -C "$SRC_DIR" -xf -

# As conda's OpenBLAS, which has no lapacke.pc.
mkdir "$scratch/pc"
for folder in $(pkg-config --variable pc_path pkg-config | tr ':' ' '); do
    [ ! -d "$folder" ] || find "$folder/" -name '*.pc' ! -name lapacke.pc -exec ln -sf {} "$scratch/pc" \;
done
export PKG_CONFIG_LIBDIR="$scratch/pc"

# run SCRIPT: prints nothing unless it fails.
run() {
    bash "$RECIPE_DIR/$1" >"$scratch/log" 2>&1 || { tail -n 30 "$scratch/log" >&2; exit 1; }
}

PREFIX=$scratch/library
export PREFIX
run build_library.sh
PREFIX=$scratch/tool
run build_tool.sh
(cd "$scratch/library" && find . -type f -o -type l | sort) >"$scratch/library.txt"
(cd "$scratch/tool" && find . -type f -o -type l | sort) >"$scratch/tool.txt"
for file in lib/libhuddle.so lib/libhuddle-io.so lib/libhuddle-report.so include/huddle/huddle.h \
    lib/pkgconfig/huddle.pc lib/cmake/huddle/huddle-config.cmake; do
    grep -qx "./$file" "$scratch/library.txt" || { echo "libhuddle lacks $file" >&2; exit 1; }
done
comm -13 "$scratch/library.txt" "$scratch/tool.txt" >"$scratch/own.txt"
cat "$scratch/own.txt"
printf '%s\n' ./bin/huddle ./share/bash-completion/completions/huddle \
    ./share/fish/vendor_completions.d/huddle.fish ./share/man/man1/huddle.1 \
    ./share/zsh/site-functions/_huddle | cmp - "$scratch/own.txt"
"$scratch/tool/bin/huddle" --version

# The Python package finds the libraries and the tool in its environment.
/usr/bin/python3 -m venv --system-site-packages "$scratch/tool"
PYTHON=$scratch/tool/bin/python
export PYTHON
run build_python.sh
cd "$scratch"
"$scratch/tool/bin/python" -c 'import sys, huddle
from huddle.__main__ import find_tool
from huddle._library import library_path
assert library_path == sys.argv[1] + "/lib/libhuddle.so", library_path
assert find_tool() == sys.argv[1] + "/bin/huddle", find_tool()
print(huddle.KMeans(2).fit_predict([[0.0], [1.0]]))' "$scratch/tool"
"$scratch/tool/bin/huddle" --version
