#!/bin/sh
# demo.sh [HUDDLE [PAGE]]: clusters the embedded digits and four generated data sets with all methods,
# prints a table of their accuracies and writes an HTML page that shows the digits as ssc clusters them.
set -eu
huddle=${1:-huddle}
page=${2:-$(mktemp -d)/digits.html}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# Shapes that straight distances do not separate: circles in each other, arms, discs of different sizes,
# and half circles with noise that nearly joins them.
"$huddle" generate rings --n 2000 > "$data/rings.csv"
"$huddle" generate spirals --n 2000 > "$data/spirals.csv"
"$huddle" generate unequal --n 2000 > "$data/unequal.csv"
"$huddle" generate moons --n 2000 --noise 0.1 > "$data/moons.csv"

# cluster DATA METHOD [OPTION ...]: the JSON report. The number of clusters is that of the classes.
cluster() {
    source=$1
    method=$2
    shift 2
    "$huddle" cluster "$source" -m "$method" -q --json "$@"
}

# Reads reports, digits first, and prints one line of the table: ACC of each; seconds and gap of the first.
row() {
    awk -v method="$1" '
        function number(line) { sub(/^[^:]*:/, "", line); gsub(/[^0-9.e+-]/, "", line); return line }
        /"scores": \{/ { inside = "scores" }
        /"seconds": \{/ { inside = "seconds" }
        /"shrink": \{/ { inside = "shrink" }
        /\}/ { inside = "" }
        inside == "scores" && /"acc":/ { accs = accs sprintf(" %7.3f", number($0)) }
        inside == "seconds" && /"total":/ && seconds == "" { seconds = number($0) }
        inside == "shrink" && /"gap":/ && gap == "" { gap = number($0) }
        END { printf "  %-11s%s %8.2f %8s\n", method, accs, seconds, gap == "" ? "" : sprintf("%.1e", gap) }'
}

echo "ACC (share of points whose cluster matches their class), default options:"
echo
printf '  %-11s %7s %7s %7s %7s %7s %8s %8s\n' method digits rings spirals unequal moons seconds gap
for method in kmeans pca-kmeans lda-kmeans diskmeans spls lsc pca-sc lda-sc ncut selftune-sc llc sc ssc; do
    {
        if [ "$method" = ssc ]; then
            cluster digits ssc --report "$page"
        else
            cluster digits "$method"
        fi
        for set in rings spirals unequal moons; do
            cluster "$data/$set.csv" "$method"
        done
    } | row "$method"
done
cat <<END

digits: 1797 handwritten digits, 8 x 8 pixels, ten classes. The others: 2000
points in the plane, two or three classes; see huddle help generate.
seconds, gap: for digits. gap: relative duality gap, a proven bound on the
distance of the shrink step from its optimum.

Your own data: $huddle cluster YOUR.csv -c 5
The digits as ssc clusters them, a page for a browser: $page
END
