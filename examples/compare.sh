#!/bin/sh
# Three methods on the same data, side by side: compare.sh [HUDDLE [DATA]]
set -eu
huddle=${1:-huddle}
data=${2:-digits}

printf '%-8s %8s %8s %8s\n' method acc nmi seconds
for method in kmeans sc ssc; do
    "$huddle" cluster "$data" -m "$method" --json -q | awk -v method="$method" '
        /"acc":/   { acc = $2 + 0 }
        /"nmi":/   { nmi = $2 + 0 }
        /"total":/ { seconds = $2 + 0 }
        END        { printf "%-8s %8.4f %8.4f %8.2f\n", method, acc, nmi, seconds }'
done
