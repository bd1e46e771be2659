#!/bin/sh
# check.sh TARGET: installs the packages of TARGET in fresh Debian roots, each with what its test needs and no more, and
# runs the tests of debian/tests there, as autopkgtest does.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each stanza of tests/control names a test and the packages that it needs.
awk 'BEGIN { RS = "" } { sub(/^Tests: /, ""); sub(/\nDepends: /, " "); gsub(/,/, ""); print }' \
    "$here/debian/tests/control" >"$work/tests"
passed=0 failed=0
while read -r name packages; do
    root="$work/$name"
    sh "$here/../root.sh" "$root"
    mkdir "$root/packages"
    cp "$target"/*.deb "$here/debian/tests/$name" "$root/packages/"
    # apt resolves names of the project's packages to the files, and the rest from the archive.
    arguments=""
    for package in $packages; do
        file=$(cd "$target" && ls "${package}"_*.deb 2>/dev/null || true)
        arguments="$arguments ${file:+/packages/}${file:-$package}"
        case $package in libhuddle1) ;; *huddle*) arguments="$arguments $(cd "$target" && ls libhuddle1_*.deb |
            sed 's|^|/packages/|')" ;; esac
    done
    if chroot "$root" sh -euc "export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq && apt-get install -y -qq --no-install-recommends $arguments
        /packages/$name" >"$work/$name.log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "not ok $name"
        tail -n 30 "$work/$name.log"
    fi
    rm -rf "$root"
done <"$work/tests"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
