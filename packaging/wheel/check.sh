#!/bin/sh
# check.sh FOLDER: installs the wheel of FOLDER with pip into a bare Debian that has Python and nothing
# else, no compiler and no libraries, and runs the tests of the package there. Called by
# ./dev package check wheel; needs root, debootstrap and PyPI.
set -eu
packages=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
wheel=$(ls "$packages"/huddle_clustering-*manylinux*.whl) ||
    { echo "check.sh: no wheel in $packages; ./dev package wheel builds it" >&2; exit 1; }

sh "$here/../root.sh" "$root" python3 python3-venv ca-certificates
cp "$wheel" "$here/inside.sh" "$here/neighbours.py" "$here/import_time.py" "$root/root"
# Programs find their libraries relative to /proc/self/exe. The mount ends with the command.
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/env -i HOME=/root \
    PATH=/usr/bin:/bin LANG=C.UTF-8 SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    bash /root/inside.sh "$2"' sh "$root" "$(basename "$wheel")"
