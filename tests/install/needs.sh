#!/bin/sh
# needs.sh LIBRARY NAME...: fails if the loader would load a library whose name contains one of
# those, directly or through another: each is one more thing to install and to trust.
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
