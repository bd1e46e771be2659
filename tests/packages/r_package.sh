#!/bin/sh
# r_package.sh BUILD: installs the R package into a temporary library, against the libraries of
# BUILD installed into a temporary folder, and runs its tests, which also compare it with the tool.
# Exits with 77, skipped, if R or a package that the tests need is not installed.
set -eu
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v Rscript >/dev/null || { echo "skipped: R is not installed"; exit 77; }
Rscript -e 'for (package in c("jsonlite", "Matrix", "testthat"))
    if (!requireNamespace(package, quietly = TRUE)) quit(status = 1)' ||
    { echo "skipped: jsonlite, Matrix or testthat is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

version=$(sed -n 's/^#define HUDDLE_VERSION *"\(.*\)"/\1/p' "$root/include/huddle/version.h")
grep -qx "Version: $version" "$root/r/DESCRIPTION" ||
    { echo "the version in r/DESCRIPTION is not $version, that of version.h" >&2; exit 1; }

# Without the library, configure says what is missing.
cp -R "$root/r" "$scratch/huddle"
mkdir "$scratch/empty" "$scratch/library"
if (cd "$scratch/huddle" && HUDDLE_PREFIX="$scratch/empty" ./configure) >"$scratch/log" 2>&1 ||
    ! grep -q 'there is no huddle.pc under HUDDLE_PREFIX=' "$scratch/log"; then
    echo "configure did not report a missing library" >&2
    cat "$scratch/log" >&2
    exit 1
fi

cmake --install "$build" --prefix "$scratch/usr" >/dev/null
export HUDDLE_PREFIX="$scratch/usr"
R CMD INSTALL --no-help --no-byte-compile --library="$scratch/library" "$scratch/huddle" \
    >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
if grep -E 'warning:' "$scratch/log"; then
    exit 1
fi
cd "$scratch/huddle/tests"
HUDDLE_TOOL="$scratch/usr/bin/huddle" NOT_CRAN=true R_LIBS="$scratch/library" Rscript -e '
    library(testthat)
    library(huddle)
    test_dir("testthat", package = "huddle", reporter = "summary")'

# The code of docs/r.md.
awk '/^```r$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/docs/r.md" >"$scratch/page.R"
[ -s "$scratch/page.R" ]
(cd "$scratch" && R_LIBS="$scratch/library" Rscript page.R >log 2>&1) ||
    { cat "$scratch/log" >&2; exit 1; }
echo "ok docs/r.md"
