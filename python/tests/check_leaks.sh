#!/bin/sh
# check_leaks.sh BUILD: creates, uses and deletes every estimator and calls every function with the
# library of BUILD, which is built with the address sanitizer, and looks for leaks. The interpreter
# and other modules leak at exit, so only allocations of the library count. A deliberate leak first
# shows that the check works.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

runtime=$(ldd "$build/libhuddle.so" | awk '/libasan/ { print $3 }')
[ -n "$runtime" ] || { echo "$build/libhuddle.so is not built with the address sanitizer" >&2; exit 1; }

# leaks MODE: prints the leaks whose stack includes the library. Leaks do not set the exit code; other
# findings of the sanitizers do.
leaks() {
    LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=exitcode=0 PYTHONMALLOC=malloc \
        PYTHONPATH="$source/python" HUDDLE_LIBRARY="$build/libhuddle.so" \
        /usr/bin/python3 "$source/python/tests/cycle.py" "$1" >"$log" 2>&1 &&
        grep -q '^cycle done' "$log" || { cat "$log" >&2; exit 1; }
    awk -v RS= '/leak of/ && / in (hd|huddle)_|libhuddle/' "$log"
}

seen=$(leaks leak)
[ -n "$seen" ] || { echo "the deliberate leak was not found" >&2; exit 1; }
found=$(leaks cycle)
[ -z "$found" ] || { printf '%s\n' "$found" >&2; echo "the library leaks" >&2; exit 1; }
echo "no leak"
