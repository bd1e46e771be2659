#!/bin/sh
# needs.sh LIBRARY NAME...: fails if LIBRARY depends, directly or indirectly, on a library whose name
# contains one of the NAMEs.
set -eu
library=$1
shift
loaded=$(ldd "$library")
found=
for name in "$@"; do
    if printf '%s\n' "$loaded" | grep -q "${name}[^ /]*\.so"; then
        found="$found $name"
    fi
done
[ -z "$found" ] || { echo "$library needs:$found" >&2; printf '%s\n' "$loaded" >&2; exit 1; }
printf '%s\n' "$loaded" | grep -q libz.so || { echo "ldd printed no libz: $loaded" >&2; exit 1; }
