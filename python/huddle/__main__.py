"""``python -m huddle`` and the command ``huddle`` of the wheel: run the tool.

This module must not import NumPy or the library, which would take longer than the tool itself.
"""
from __future__ import annotations

import os
import pathlib
import sys


def _candidates():
    """Where the tool may be, in the order in which _library searches for libhuddle."""
    here = pathlib.Path(__file__).resolve().parent
    given = os.environ.get("HUDDLE_LIBRARY", "")
    if os.path.sep in given:
        folder = pathlib.Path(given).absolute().parent
        yield folder / "huddle"  # build/
        yield from (above / "bin" / "huddle" for above in folder.parents[:2])  # lib/ARCH, lib
        return
    yield here / "native" / "bin" / "huddle"
    yield here.parent.parent / "build" / "huddle"
    # /usr/local/lib/python3.11/dist-packages/huddle and /usr/local/bin/huddle
    yield here.parents[3] / "bin" / "huddle"


def find_tool() -> str:
    """Return the path of the tool that belongs to this package.

    It is not searched for on the PATH, where the command of the wheel, which calls this, is found.
    """
    tried = []
    for path in _candidates():
        if os.access(path, os.X_OK) and path.is_file() and not _is_script(path):
            return str(path)
        tried.append(str(path))
    raise FileNotFoundError("the huddle tool was not found; tried " + ", ".join(tried))


def _is_script(path):
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def main() -> None:
    try:
        tool = find_tool()
    except FileNotFoundError as error:
        sys.exit(f"huddle: {error}")
    os.execv(tool, ["huddle", *sys.argv[1:]])


if __name__ == "__main__":
    main()
