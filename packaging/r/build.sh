#!/bin/sh
# build.sh [FOLDER]: writes the source package of R, huddle_VERSION.tar.gz, to build/packages or
# FOLDER. R installs the package on the way, because its manual pages list the options of the
# library: that needs r-base-dev, r-cran-jsonlite, and the library under HUDDLE_PREFIX or in build/.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/build/packages}
command -v R >/dev/null ||
    { echo "R was not found; on Debian: apt-get install r-base-dev" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ -z "${HUDDLE_PREFIX:-}" ]; then
    [ -f "$root/build/libhuddle.so" ] || "$root/dev" build >&2
    cmake --install "$root/build" --prefix "$scratch/usr" >/dev/null
    export HUDDLE_PREFIX="$scratch/usr"
fi
cp -R "$root/r" "$scratch/huddle"
rm -f "$scratch"/huddle/src/*.o "$scratch"/huddle/src/*.so # of R CMD INSTALL r
# The version of the library is that of the package.
version=$(sed -n 's/^#define HUDDLE_VERSION *"\(.*\)"/\1/p' "$root/include/huddle/version.h")
sed -i "s/^Version: .*/Version: $version/" "$scratch/huddle/DESCRIPTION"
(cd "$scratch" && R CMD build --no-manual huddle >build.log 2>&1) ||
    { cat "$scratch/build.log" >&2; exit 1; }
mkdir -p "$out"
mv "$scratch/huddle_$version.tar.gz" "$out/"
echo "$out/huddle_$version.tar.gz"
