#!/bin/sh
# build.sh FOLDER: puts the source distribution for PyPI into FOLDER. Called by ./dev package sdist.
set -eu
mkdir -p "$1"
target=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
venv=$(sh "$source/packaging/venv.sh")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# From files that git knows only: whatever else is in the folders stays out.
(cd "$source" && git ls-files -z | xargs -0 tar -cf -) | tar -C "$scratch" -xf -
rm "$scratch/python/LICENSE" # a link
cp "$source/LICENSE" "$scratch/python/LICENSE"
cd "$scratch/python"
"$venv/bin/python" -c 'import sys
from setuptools import build_meta
build_meta.build_sdist(sys.argv[1])' "$scratch/out" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
name=$(cd "$scratch/out" && ls huddle_clustering-*.tar.gz)
mv "$scratch/out/$name" "$target"
echo "$target/$name"
