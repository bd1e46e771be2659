#!/bin/sh
# check.sh [FOLDER]: builds the package for Octave into FOLDER (default: build/packages), installs it
# with pkg install into a temporary folder, against the libraries of build/, and runs its tests.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

[ -f "$root/build/libhuddle.so" ] || "$root/dev" build >&2
package=$(sh "$root/packaging/octave/build.sh" "${1:-$root/build/packages}")
case $package in /*) ;; *) package=$PWD/$package ;; esac
cmake --install "$root/build" --prefix "$scratch/usr" >/dev/null
cat >"$scratch/check.m" <<'END'
[package, folder] = argv(){1:2};
pkg('prefix', fullfile(folder, 'pkg'), fullfile(folder, 'arch'));
pkg('local_list', fullfile(folder, 'list'));
pkg('install', '-local', package);
pkg('load', 'huddle');
addpath(fullfile(fileparts(which('huddle_ssc')), 'tests'));
huddle_test(fullfile(folder, 'usr', 'bin', 'huddle'));
END
cd "$scratch"
export HUDDLE_PREFIX="$scratch/usr"
octave-cli --no-history --no-init-file --quiet check.m "$package" "$scratch"
