#!/bin/sh
# root.sh FOLDER [PACKAGE...]: a bare Debian in FOLDER, as debootstrap makes it, with these packages and without compiler
# and development packages. It is kept in build/packages/root*.tar, so that the next one takes seconds. Needs root.
set -eu
folder=$1
shift
cache=$(cd "$(dirname "$0")/.." && pwd)/build/packages/$(echo root "$@" | tr ' ' -).tar
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

[ "$(id -u)" -eq 0 ] || { echo "root.sh: a Debian root can only be made by root" >&2; exit 1; }
mkdir -p "$folder" "$(dirname "$cache")"
if [ ! -f "$cache" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    mkdir "$scratch/root"
    echo "root.sh: making a bare Debian with debootstrap (some minutes)" >&2
    debootstrap --variant=minbase ${1:+--include="$(echo "$@" | tr ' ' ,)"} "$release" "$scratch/root" \
        >"$scratch/log" 2>&1 || { tail "$scratch/log" >&2; exit 1; }
    tar -C "$scratch/root" -cf "$cache.part" .
    mv "$cache.part" "$cache"
fi
tar -C "$folder" -xf "$cache"
# What this machine needs to reach its mirrors: sources, name servers and certificates.
cp -a /etc/apt/sources.list* /etc/apt/apt.conf.d "$folder/etc/apt/" 2>/dev/null || true
cp -L /etc/resolv.conf "$folder/etc/resolv.conf" 2>/dev/null || true
mkdir -p "$folder/etc/ssl/certs"
cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/" 2>/dev/null || true
