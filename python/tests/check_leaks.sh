#!/bin/sh
# check_leaks.sh BUILD: one life of every estimator and function, from fit to deletion, with the
# library of BUILD, which is built with the address sanitizer. The interpreter and its other modules
# leak at exit; only what the library allocated counts. That a leak would be seen is tried first.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

runtime=$(ldd "$build/libhuddle.so" | awk '/libasan/ { print $3 }')
[ -n "$runtime" ] || { echo "$build/libhuddle.so has no address sanitizer in it" >&2; exit 1; }

# leaks MODE: prints the reports that pass through the library. Leaks do not decide the exit code,
# any other finding of the sanitizers does.
leaks() {
    LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=exitcode=0 PYTHONMALLOC=malloc \
        PYTHONPATH="$source/python" HUDDLE_LIBRARY="$build/libhuddle.so" \
        /usr/bin/python3 "$source/python/tests/cycle.py" "$1" >"$log" 2>&1 &&
        grep -q '^cycle done' "$log" || { cat "$log" >&2; exit 1; }
    awk -v RS= '/leak of/ && / in (hd|huddle)_|libhuddle/' "$log"
}

seen=$(leaks leak)
[ -n "$seen" ] || { echo "a leak made on purpose was not seen" >&2; exit 1; }
found=$(leaks cycle)
[ -z "$found" ] || { printf '%s\n' "$found" >&2; echo "the library leaks" >&2; exit 1; }
echo "no leak"
