#!/bin/sh
# check.sh BUILD: installs BUILD into a scratch tree, then builds and runs consumer.c and
# consumer_report.c against it twice, by CMake's find_package and by pkg-config; checks that only
# huddle_* is exported.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/usr" >/dev/null
cmake -G Ninja -S "$here" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$scratch/usr" >/dev/null
cmake --build "$scratch/cmake" >/dev/null
"$scratch/cmake/consumer"
"$scratch/cmake/consumer_cxx"
"$scratch/cmake/consumer_report" "$scratch/cmake.html"

pc=$(dirname "$(find "$scratch/usr" -name huddle.pc)")
flags=$(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs huddle)
library=$(PKG_CONFIG_PATH="$pc" pkg-config --variable=libdir huddle)
# shellcheck disable=SC2086
cc -std=c11 -Wall -Wextra -Werror "$here/consumer.c" -o "$scratch/consumer" $flags -Wl,-rpath,"$library"
"$scratch/consumer"

flags=$(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs huddle-report)
# shellcheck disable=SC2086
cc -std=c11 -Wall -Wextra -Werror "$here/consumer_report.c" -o "$scratch/consumer_report" $flags \
    -Wl,-rpath,"$library"
"$scratch/consumer_report" "$scratch/pc.html"
for page in "$scratch/cmake.html" "$scratch/pc.html"; do
    grep -q 'id="data"' "$page"
done

"$scratch/usr/bin/huddle" --version
foreign=$(nm -D --defined-only "$library/libhuddle.so" "$library/libhuddle-report.so" | awk 'NF == 3 && $2 != "A" && $3 !~ /^huddle_/ { print $3 }')
[ -z "$foreign" ] || { echo "exported without the prefix huddle_: $foreign" >&2; exit 1; }
for file in include/huddle/huddle.h share/man/man1/huddle.1; do
    [ -s "$scratch/usr/$file" ] || { echo "not installed: $file" >&2; exit 1; }
done

package=$(dirname "$(find "$scratch/usr" -path '*/huddle/__init__.py')")
(cd "$scratch" && PYTHONPATH=$(dirname "$package") /usr/bin/python3 -c '
import sys, huddle
from huddle import _library
assert _library.library_path.startswith(sys.argv[1]), _library.library_path
print("python", huddle.__version__, huddle.KMeans(2).fit_predict([[0.0], [1.0]]))' "$scratch/usr")
