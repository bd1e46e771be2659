#!/bin/sh
# root.sh FOLDER: a bare Debian in FOLDER, as debootstrap makes it, without compiler and development packages. The
# packages are kept in build/packages/root.tar, so that the next one takes seconds. Needs root.
set -eu
folder=$1
cache=$(cd "$(dirname "$0")/.." && pwd)/build/packages/root.tar
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

[ "$(id -u)" -eq 0 ] || { echo "root.sh: a Debian root can only be made by root" >&2; exit 1; }
mkdir -p "$folder" "$(dirname "$cache")"
if [ ! -f "$cache" ]; then
    log=$(mktemp)
    fresh=$(mktemp -d)
    debootstrap --variant=minbase "$release" "$fresh" >"$log" 2>&1 || { tail "$log" >&2; exit 1; }
    tar -C "$fresh" -cf "$cache.part" .
    mv "$cache.part" "$cache"
    rm -rf "$fresh" "$log"
fi
tar -C "$folder" -xf "$cache"
# What this machine needs to reach its mirrors, certificates and name servers.
cp -a /etc/apt/sources.list* /etc/apt/apt.conf.d "$folder/etc/apt/" 2>/dev/null || true
cp -L /etc/resolv.conf "$folder/etc/resolv.conf" 2>/dev/null || true
