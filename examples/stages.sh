#!/bin/sh
# Stops between the stages, looks at what is there, and goes on from it: stages.sh [HUDDLE]
set -eu
huddle=${1:-huddle}
case $huddle in /* | "${huddle##*/}") ;; *) huddle=$PWD/$huddle ;; esac # a relative path
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Everything between the data and the labels, as files for NumPy and SciPy.
"$huddle" cluster rings --n 600 --dump stages -o whole.txt -q > summary.txt
ls stages

# From the graph on, with a stronger pull: no points are needed any more.
"$huddle" cluster --graph stages/A.npz -c 3 --gamma 500 -o graph.txt -q > /dev/null
"$huddle" score whole.txt graph.txt | head -n 1

# From the embedding on.
"$huddle" cluster --embedding stages/F.npy -c 3 -o embedding.txt -q > /dev/null
"$huddle" score whole.txt embedding.txt | head -n 1
