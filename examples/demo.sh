#!/bin/sh
# demo.sh [HUDDLE [PAGE]]: clusters the embedded digits with ssc and eight other methods, prints a
# table and writes an HTML page that shows the clusters of ssc.
set -eu
huddle=${1:-huddle}
page=${2:-$(mktemp -d)/digits.html}

# Reads the JSON report of a run and prints one line of the table.
row() {
    awk -v method="$1" '
        function number(line) { sub(/^[^:]*:/, "", line); gsub(/[^0-9.e+-]/, "", line); return line }
        /"scores": \{/ { inside = "scores" }
        /"seconds": \{/ { inside = "seconds" }
        /"shrink": \{/ { inside = "shrink" }
        /\}/ { inside = "" }
        inside == "scores" && /"acc":/ { acc = number($0) }
        inside == "scores" && /"nmi":/ { nmi = number($0) }
        inside == "scores" && /"ari":/ { ari = number($0) }
        inside == "seconds" && /"total":/ { seconds = number($0) }
        inside == "shrink" && /"gap":/ { gap = number($0) }
        END { printf "  %-10s %6.3f %6.3f %6.3f %8.2f %9s\n", method, acc, nmi, ari, seconds,
                     gap == "" ? "" : sprintf("%.1e", gap) }'
}

echo "1797 handwritten digits, 8 x 8 pixels, ten clusters, every option at its default:"
echo
printf '  %-10s %6s %6s %6s %8s %9s\n' method ACC NMI ARI seconds gap
for method in kmeans sc pca-kmeans pca-sc lda-kmeans lda-sc llc spls; do
    "$huddle" cluster digits -m "$method" -c 10 -q --json | row "$method"
done
"$huddle" cluster digits -m ssc -c 10 -q --json --report "$page" | row ssc
echo
echo "ACC: share of points whose cluster matches their class. gap: relative duality gap, a proven bound"
echo "on the distance of the shrink step from its optimum."
echo
echo "A page with the clusters of ssc: $page"
echo "Your own data: $huddle cluster YOUR.csv -c 5"
