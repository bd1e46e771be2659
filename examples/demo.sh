#!/bin/sh
# demo.sh [HUDDLE]: clusters the embedded digits with each method and prints a table.
set -eu
huddle=${1:-huddle}

echo "1797 handwritten digits, 8 x 8 pixels, ten clusters:"
echo
printf '  %-8s %6s %6s %6s %8s %9s\n' method ACC NMI ARI seconds gap
for method in kmeans sc ssc; do
    "$huddle" cluster digits -m "$method" -c 10 -q --json |
        awk -v method="$method" '
            function number(line) { gsub(/[^0-9.e+-]/, "", line); return line }
            /"scores": \{/ { inside = "scores" }
            /"seconds": \{/ { inside = "seconds" }
            /"shrink": \{/ { inside = "shrink" }
            /\}/ { inside = "" }
            inside == "scores" && /"acc":/ { sub(/.*"acc":/, ""); acc = number($0) }
            inside == "scores" && /"nmi":/ { sub(/.*"nmi":/, ""); nmi = number($0) }
            inside == "scores" && /"ari":/ { sub(/.*"ari":/, ""); ari = number($0) }
            inside == "seconds" && /"total":/ { sub(/.*"total":/, ""); seconds = number($0) }
            inside == "shrink" && /"gap":/ { sub(/.*"gap":/, ""); gap = number($0) }
            END { printf "  %-8s %6.3f %6.3f %6.3f %8.2f %9s\n", method, acc, nmi, ari, seconds,
                         gap == "" ? "" : sprintf("%.1e", gap) }'
done
echo
echo "ACC: share of points whose cluster matches their class. gap: how far ssc is at most from"
echo "the optimum of its problem, as a proven share. Try: $huddle cluster YOUR.csv -c 5"
