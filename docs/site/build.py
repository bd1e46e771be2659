#!/usr/bin/python3
"""Builds the documentation site: build.py BUILD TARGET, with BUILD a build folder of the libraries.

The pages are those of docs/; the references are made from the docstrings of the Python package and from the comments of
the headers, and the programs of docs/gallery/ are run. Every warning is an error, and links between pages are checked.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import theme

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Pages outside docs/ that the site has too; other files that pages link to are copied for download.
PAGES = ["CHANGELOG.md", "CONTRIBUTING.md", "python/README.md"]
OUTSIDE_THE_MENU = {"python/README.md"}
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
HEADERS = ["huddle.h", "base.h", "matrix.h", "io.h", "prepare.h", "graph.h", "embed.h", "shrink.h", "kmeans.h",
           "refine.h", "path.h", "methods.h", "model.h", "fit.h", "metrics.h", "report.h", "version.h"]


def heading_of(header):
    """shrink.h: pulls the rows ..., from the first sentence of its comment."""
    text = (ROOT / "include/huddle" / header).read_text()
    sentence = re.match(r"/\* (?:Huddle, )?(?:[a-z]+: )?(.*?)[.:](?:\s|$)", text, re.S).group(1)
    return f"{header}: {' '.join(sentence.replace(chr(10) + ' *', ' ').split())}"


def copy_page(name, source):
    """Copy a page, and the files of the project that it links to."""
    page = ROOT / name
    target = source / name
    target.parent.mkdir(parents=True, exist_ok=True)
    text = page.read_text()
    target.write_text("---\norphan: true\n---\n\n" + text if name in OUTSIDE_THE_MENU else text)
    for link, _ in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        linked = (page.parent / link).resolve()
        if not linked.exists():
            sys.exit(f"{name}: there is no file {link}")
        inside = linked.relative_to(ROOT)
        if linked.is_file() and linked.suffix != ".md":
            (source / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(linked, source / inside)


def write_c_reference(folder):
    folder.mkdir(parents=True, exist_ok=True)
    missing = {p.name for p in (ROOT / "include/huddle").glob("*.h")} ^ set(HEADERS)
    if missing:
        sys.exit(f"docs/site/build.py: the list of headers is wrong about {', '.join(sorted(missing))}")
    for header in HEADERS:
        (folder / f"{header[:-2]}.rst").write_text(
            f"{header}\n{'=' * len(header)}\n\n.. doxygenfile:: {header}\n   :project: huddle\n")
    names = "\n".join(f"   {heading_of(header)} <{header[:-2]}>" for header in HEADERS)
    (folder / "index.rst").write_text(
        "C reference\n===========\n\n``#include <huddle/huddle.h>`` includes all headers but ``report.h``, which belongs to a library of its "
        "own. One\npage for each header:\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{names}\n")


def run_doxygen(work):
    (work / "doxygen").mkdir(parents=True, exist_ok=True)
    settings = (HERE / "Doxyfile").read_text()
    settings += (f"\nINPUT = {ROOT / 'include/huddle'}\nOUTPUT_DIRECTORY = {work / 'doxygen'}\n"
                 f"FILTER_PATTERNS = \"*.h=/usr/bin/python3 {HERE / 'comments.py'}\"\n")
    subprocess.run(["doxygen", "-"], input=settings.encode(), check=True, stdout=subprocess.DEVNULL)


def main():
    build, target = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    work = target.with_name(target.name + "-work")
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    for page in [*PAGES, *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]:
        copy_page(page, source)
    for file in HERE.glob("*.rst"):
        shutil.copy(file, source)
    shutil.copy(ROOT / "docs/digits.png", source / "docs")
    write_c_reference(source / "c")
    run_doxygen(work)
    environment = dict(os.environ, HUDDLE_ROOT=str(ROOT), HUDDLE_SITE_WORK=str(work), MPLBACKEND="agg",
                       HUDDLE_LIBRARY=str(build / "libhuddle.so"))
    subprocess.run(["/usr/bin/python3", "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE),
                    "-d", str(work / "doctrees"), str(source), str(target)], check=True, env=environment)
    theme.mend(target)
    subprocess.run(["/usr/bin/python3", str(HERE / "check_links.py"), str(target)], check=True)


if __name__ == "__main__":
    main()
