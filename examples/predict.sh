#!/bin/sh
# predict.sh [HUDDLE]: fits a model, saves it, and labels new points with it.
set -eu
huddle=${1:-huddle}
case $huddle in /* | "${huddle##*/}") ;; *) huddle=$PWD/$huddle ;; esac # a relative path
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$huddle" generate moons --n 1000 --seed 1 -o old.npz -q
"$huddle" generate moons --n 500 --seed 2 -o new.npz -q
"$huddle" cluster old.npz -c 2 --save moons.model -q
"$huddle" predict moons.model new.npz -o new.txt -q
echo
echo "The new points:"
"$huddle" score new.npz new.txt
