#!/bin/sh
# certificate.sh HUDDLE: the gaps that the tool reports are proven from outside, for both losses and
# for weak, default and strong shrinking.
set -eu
huddle=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() {
    rm -rf "$scratch/dump"
    mkdir "$scratch/dump"
    "$huddle" cluster "$@" -m ssc -q --n-init 2 --dump "$scratch/dump" --json >"$scratch/result.json"
    echo "$*"
    /usr/bin/python3 "$here/certificate.py" "$scratch/dump" "$scratch/result.json"
}

check digits --prepare unit
check digits --prepare unit --gamma 1
check digits --prepare unit --gamma 5000 --gap 1e-5
check digits --prepare none --loss l2 --gamma 0.1
check blobs --n 600 --noise 3 -c 4
