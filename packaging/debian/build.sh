#!/bin/sh
# build.sh TARGET: builds the Debian packages of the checked-out commit into TARGET and checks them with lintian.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
target=$(cd "$1" && pwd)

version=$(sed -n 's/.*define HUDDLE_VERSION  *"\(.*\)".*/\1/p' "$root/include/huddle/version.h")
packaged=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$here/debian/changelog")
[ "$version" = "$packaged" ] || {
    echo "packaging/debian/debian/changelog is of version $packaged, huddle of $version" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$root" archive --prefix="huddle-$version/" HEAD | tar -C "$work" -xf -
tar -C "$work" -czf "$work/huddle_$version.orig.tar.gz" "huddle-$version"
cp -r "$here/debian" "$work/huddle-$version/debian"
cd "$work/huddle-$version"
if ! dpkg-buildpackage -us -uc >"$target/debian.log" 2>&1; then
    tail -n 40 "$target/debian.log" >&2
    exit 1
fi
rm -f "$target"/*.deb
mv "$work"/*.deb "$work"/*.dsc "$work"/*.changes "$work"/*.buildinfo "$work"/*.tar.* "$target/"
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$target"/huddle_*.changes
