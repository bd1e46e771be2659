#!/bin/sh
# check.sh [FOLDER]: builds the source package of R into FOLDER (default: build/packages) and runs
# R CMD check --as-cran on it, offline, against the libraries of build/, installed into a temporary
# folder. Errors and warnings fail; the notes that a machine without network cannot avoid are listed
# below.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

package=$(sh "$root/packaging/r/build.sh" "${1:-$root/build/packages}")
case $package in /*) ;; *) package=$PWD/$package ;; esac
cmake --install "$root/build" --prefix "$scratch/usr" >/dev/null
export HUDDLE_PREFIX="$scratch/usr" HUDDLE_TOOL="$scratch/usr/bin/huddle"
export _R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_FORCE_SUGGESTS_=FALSE NOT_CRAN=true
status=0
(cd "$scratch" && R CMD check --as-cran --no-manual "$package") || status=$?
log=$scratch/huddle.Rcheck/00check.log
if [ "$status" -ne 0 ] || grep -Eq '(ERROR|WARNING)$' "$log"; then
    cat "$scratch"/huddle.Rcheck/00install.out >&2
    cat "$scratch"/huddle.Rcheck/tests/*.fail >&2 2>/dev/null || true
    exit 1
fi
# Without network, the time cannot be verified; without pandoc or tidy, README and HTML are not
# checked.
expected='future file timestamps|top-level files|HTML version'
notes=$(grep -E '^\* checking .*NOTE$' "$log" | grep -Ev "$expected" || true)
[ -z "$notes" ] || { echo "unexpected notes: $notes" >&2; exit 1; }
