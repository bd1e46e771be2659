#!/bin/sh
# build.sh [FOLDER]: writes the package for Octave, huddle-octave-VERSION.tar.gz, to build/packages
# or FOLDER. "pkg install FILE" compiles it on the user's machine, against libhuddle as pkg-config or
# HUDDLE_PREFIX finds it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/build/packages}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

version=$(sed -n 's/^#define HUDDLE_VERSION *"\(.*\)"/\1/p' "$root/include/huddle/version.h")
name=huddle-octave-$version
folder=$scratch/$name
mkdir -p "$folder/src" "$folder/inst"
cp "$root/LICENSE" "$folder/COPYING"
cp "$root/matlab/huddle_mex.c" "$folder/src/"
# huddle_make.m is for a checkout: pkg install compiles the source itself.
cp -R "$root"/matlab/huddle_[!m]*.m "$root/matlab/private" "$root/matlab/tests" "$folder/inst/"
cat >"$folder/src/Makefile" <<'END'
PKG_CONFIG_PATH := $(if $(HUDDLE_PREFIX),$(dir $(firstword $(shell \
    find $(HUDDLE_PREFIX) -name huddle.pc))):)$(PKG_CONFIG_PATH)
export PKG_CONFIG_PATH
huddle_mex.mex: huddle_mex.c
	pkg-config --print-errors --exists 'huddle >= 0.3'
	mkoctfile --mex `pkg-config --cflags huddle` huddle_mex.c `pkg-config --libs huddle` \
	    -Wl,-rpath,`pkg-config --variable=libdir huddle`
END
cat >"$folder/DESCRIPTION" <<END
Name: huddle
Version: $version
Date: $(date +%Y-%m-%d -r "$root/include/huddle/version.h")
Author: The Huddle authors
Maintainer: The Huddle authors
Title: Spectral shrunk clustering
Description: Clusters points, distances and graphs by spectral shrunk clustering, whose convex
 shrink step comes with a proven bound on its distance from the optimum.
Categories: Clustering
Depends: octave (>= 6.0.0)
SystemRequirements: libhuddle (>= 0.3), pkg-config
License: MIT
END
cat >"$folder/INDEX" <<'END'
huddle >> Huddle
Clustering
 huddle_ssc
 huddle_predict
 huddle_path
 huddle_score
 huddle_options
 huddle_demo
END
mkdir -p "$out"
tar -C "$scratch" --owner=0 --group=0 -czf "$out/$name.tar.gz" "$name"
echo "$out/$name.tar.gz"
