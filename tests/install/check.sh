#!/bin/sh
# check.sh BUILD: installs BUILD into a temporary folder, builds and runs consumer.c against it twice,
# with CMake's find_package and with pkg-config, and checks which symbols the libraries export.
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
export PKG_CONFIG_PATH="$pc"
library=$(pkg-config --variable=libdir huddle)
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror "$here/consumer.c" -o "$scratch/consumer" \
    $(pkg-config --cflags --libs huddle-io) -Wl,-rpath,"$library"
"$scratch/consumer"
# shellcheck disable=SC2046
c++ -Wall -Wextra -Werror "$here/consumer.cpp" -o "$scratch/consumer_cxx" \
    $(pkg-config --cflags --libs huddle) -Wl,-rpath,"$library"
"$scratch/consumer_cxx"

flags=$(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs huddle-report)
# shellcheck disable=SC2086
cc -std=c11 -Wall -Wextra -Werror "$here/consumer_report.c" -o "$scratch/consumer_report" $flags \
    -Wl,-rpath,"$library"
"$scratch/consumer_report" "$scratch/pc.html"
for page in "$scratch/cmake.html" "$scratch/pc.html"; do
    grep -q 'id="data"' "$page"
done

# Public functions begin with huddle_. Internal functions that libhuddle-io uses have their own symbol
# version, which is visible in every program that uses one.
"$scratch/usr/bin/huddle" --version
for name in libhuddle libhuddle-io libhuddle-report; do
    foreign=$(nm -D --defined-only "$library/$name.so" |
        awk '$2 != "A" && $3 !~ /^huddle_/ && $3 !~ /@@HUDDLE_PRIVATE$/ { print $3 }')
    [ -z "$foreign" ] || { echo "$name exports without the prefix huddle_: $foreign" >&2; exit 1; }
done
soname=libhuddle.so.1 # cmake/modules.cmake
ldd "$scratch/usr/bin/huddle" | grep -q "^[[:space:]]*$soname =>" ||
    { echo "the tool does not load $soname" >&2; exit 1; }
for file in include/huddle/huddle.h share/man/man1/huddle.1; do
    [ -s "$scratch/usr/$file" ] || { echo "not installed: $file" >&2; exit 1; }
done

package=$(dirname "$(find "$scratch/usr" -path '*/huddle/__init__.py')")
(cd "$scratch" && PYTHONPATH=$(dirname "$package") /usr/bin/python3 -c '
import sys, huddle
from huddle import _library
assert _library.library_path.startswith(sys.argv[1]), _library.library_path
for name in ("libhuddle-io", "libhuddle-report"):
    assert _library.companion_library(name)._name.startswith(sys.argv[1]), name
print("python", huddle.__version__, huddle.KMeans(2).fit_predict([[0.0], [1.0]]))' "$scratch/usr")
