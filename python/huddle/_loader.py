"""Loading libhuddle, and explaining why it cannot be loaded.

It is searched for in $HUDDLE_LIBRARY, in the folder native/ beside this file (a wheel), in build/
of the source tree, and in the system's library folders. libhuddle-io and libhuddle-report are
loaded from the same folder when they are first needed.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import pathlib
import re


def _candidates():
    here = pathlib.Path(__file__).resolve().parent
    if os.environ.get("HUDDLE_LIBRARY"):
        given = os.environ["HUDDLE_LIBRARY"]
        # The other libraries are loaded from the same folder later, perhaps after a chdir(). A name
        # without a folder is searched for by the system.
        yield os.path.abspath(given) if os.path.sep in given else given
        return
    yield from sorted(str(p) for p in here.glob("native/lib/**/libhuddle.so*"))
    yield str(here.parent.parent / "build" / "libhuddle.so")
    # /usr/local/lib/python3.11/dist-packages/huddle and /usr/local/lib/libhuddle.so
    for pattern in ("libhuddle.so", "*-linux-gnu/libhuddle.so"):
        yield from sorted(str(p) for p in here.parents[2].glob(pattern))
    found = ctypes.util.find_library("huddle")
    if found:
        yield found


# Debian packages of the libraries that the libraries of Huddle need.
_DEBIAN_PACKAGES = {
    "libopenblas": "libopenblas0", "libblas": "libopenblas0", "liblapack": "libopenblas0",
    "liblapacke": "liblapacke", "libtmglib": "libtmglib3", "libarpack": "libarpack2",
    "libamd": "libamd2", "libcholmod": "libcholmod3", "libgfortran": "libgfortran5",
    "libhdf5_serial": "libhdf5-103-1", "libpng16": "libpng16-16", "libjansson": "libjansson4",
    "libjpeg": "libjpeg62-turbo", "libtiff": "libtiff6", "liblzma": "liblzma5",
    "libbz2": "libbz2-1.0", "libzstd": "libzstd1", "libz": "zlib1g"}


def _failure(path, error):
    """Return what is wrong with a library that cannot be loaded, and what to do."""
    missing = re.match(r"(\S+?)(\.so\S*): cannot open shared object file", str(error))
    if not missing or missing[1] == os.path.basename(path).partition(".so")[0]:
        return f"{path} ({error})"
    package = _DEBIAN_PACKAGES.get(missing[1])
    advice = f"; Debian: apt-get install {package}" if package else ""
    return f"{path}, which needs {missing[1]}{missing[2]}, which is not installed{advice}"


def _load():
    tried = []
    for path in _candidates():
        if os.path.sep in path and not os.path.exists(path):
            tried.append(path)
            continue
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            tried.append(_failure(path, error))
    raise ImportError("libhuddle.so cannot be loaded; tried " + ", ".join(tried) +
                      ". The wheel of huddle-clustering has it with all that it needs; ./dev "
                      "build builds it in a checkout; HUDDLE_LIBRARY is the path of another.")


lib, library_path = _load()


@functools.lru_cache(maxsize=None)
def companion_library(name):
    """Load libhuddle-io or libhuddle-report from the folder of libhuddle, with the same suffix."""
    folder, file = os.path.split(library_path)
    _, _, suffix = file.partition(".so")
    tried = []
    for candidate in dict.fromkeys((f"{name}.so{suffix}", f"{name}.so")):
        path = os.path.join(folder, candidate)
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(_failure(path, error))
    raise ImportError(f"{name}.so cannot be loaded; tried " + ", ".join(tried))
