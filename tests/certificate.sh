#!/bin/sh
# certificate.sh HUDDLE: verifies the gaps that the tool reports with an independent script, for both
# losses and for weak, default and strong shrinking.
set -eu
huddle=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check_gap() {
    rm -rf "$scratch/dump"
    mkdir "$scratch/dump"
    "$huddle" cluster "$@" -m ssc -q --n-init 2 --dump "$scratch/dump" --json >"$scratch/result.json"
    echo "$*"
    /usr/bin/python3 "$here/certificate.py" "$scratch/dump" "$scratch/result.json"
}

check_gap digits --prepare unit
check_gap digits --prepare unit --gamma 1
check_gap digits --prepare unit --gamma 5000 --gap 1e-5
check_gap digits --prepare none --loss l2 --gamma 0.1
check_gap blobs --n 600 --noise 3 -c 4

# Data with many equal rows, which share one row of G: the gap must hold for all rows.
/usr/bin/python3 - "$scratch/rounded.npy" <<'END'
import sys
import numpy as np
draw = np.random.default_rng(3)
centres = np.array([[0, 0], [6, 0], [3, 5]])
np.save(sys.argv[1], np.round(2 * (centres[np.arange(900) % 3] + draw.normal(size=(900, 2)))) / 2)
END
check_gap "$scratch/rounded.npy" -c 3
check_gap "$scratch/rounded.npy" -c 3 --gamma 0.3
check_gap "$scratch/rounded.npy" -c 3 --loss l2 --gamma 0.5
