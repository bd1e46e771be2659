#!/bin/sh
# check_leaks.sh BUILD: one fit, predict, pickle, delete cycle of every estimator and function with
# the library of BUILD, which is built with the address sanitizer. The interpreter and its other
# modules leak at exit; only what was allocated below libhuddle counts.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

runtime=$(ldd "$build/libhuddle.so" | awk '/libasan/ { print $3 }')
[ -n "$runtime" ] || { echo "$build/libhuddle.so has no address sanitizer in it" >&2; exit 1; }
# Leaks are judged below, so they do not decide the exit code; any other finding does.
LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=1:exitcode=0:halt_on_error=1:abort_on_error=0 \
    LSAN_OPTIONS=exitcode=0:max_leaks=0 PYTHONMALLOC=malloc PYTHONPATH="$source/python" \
    HUDDLE_LIBRARY="$build/libhuddle.so" /usr/bin/python3 "$source/python/tests/cycle.py" "$@" \
    >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
grep -q '^cycle done' "$log" || { cat "$log" >&2; exit 1; }
if grep -q 'ERROR: AddressSanitizer\|runtime error' "$log"; then
    cat "$log" >&2
    exit 1
fi
# A report is a paragraph: which of them pass through the library?
leaks=$(awk -v RS= '/^(Direct|Indirect) leak/ && /libhuddle/' "$log")
[ -z "$leaks" ] || { printf '%s\n' "$leaks" >&2; echo "the library leaks" >&2; exit 1; }
echo "no leak through libhuddle"
