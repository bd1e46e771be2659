#!/bin/sh
# stages.sh [HUDDLE]: writes the intermediate results of a run and continues from them.
set -eu
huddle=${1:-huddle}
case $huddle in /* | "${huddle##*/}") ;; *) huddle=$PWD/$huddle ;; esac # a relative path
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Write all intermediate results, as files for NumPy and SciPy.
"$huddle" cluster rings --n 600 --dump stages -o whole.txt -q > summary.txt
ls stages

# Start from the graph, with stronger shrinking; the points are no longer needed.
"$huddle" cluster --graph stages/A.npz -c 3 --gamma 500 -o graph.txt -q > /dev/null
"$huddle" score whole.txt graph.txt | head -n 1

# Start from the embedding.
"$huddle" cluster --embedding stages/F.npy -c 3 -o embedding.txt -q > /dev/null
"$huddle" score whole.txt embedding.txt | head -n 1
