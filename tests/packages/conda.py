"""The conda recipe: it renders, its outputs are complete, its dependencies are those of the build.

conda-build is not in Debian; what it evaluates (Jinja, selectors, YAML) is evaluated here. The
scripts of the recipe are run by ./dev package check conda.
"""
import pathlib
import re

import jinja2
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging" / "conda"
VERSION = re.search(r'define HUDDLE_VERSION +"(.*)"',
                    (ROOT / "include" / "huddle" / "version.h").read_text()).group(1)
# conda-forge's packages with the libraries that cmake/ and experiment/ search for.
PACKAGE_OF = {"openblas": "openblas", "lapacke": "openblas", "arpack": "arpack", "zlib": "zlib",
              "jansson": "jansson", "hdf5-serial": "hdf5", "hdf5": "hdf5", "libpng": "libpng",
              "amd": "suitesparse", "cholmod": "suitesparse", "cairo": "cairo",
              "cairo-pdf": "cairo", "cairo-svg": "cairo", "libjpeg": "libjpeg-turbo", "libtiff-4": "libtiff",
              "liblzma": "liblzma-devel", "bzip2": "bzip2", "bz2": "bzip2", "libzstd": "zstd"}


def render():
    """Return the recipe as conda-build sees it on Linux."""
    lines = []
    for line in (RECIPE / "meta.yaml").read_text().splitlines():
        selector = re.search(r"# \[(.+)\]$", line)
        if selector is None or eval(selector.group(1), {"linux": True}):
            lines.append(line)

    def load_file_regex(load_file, regex_pattern, from_recipe_dir):
        assert from_recipe_dir
        return re.search(regex_pattern, (RECIPE / load_file).read_text())

    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string("\n".join(lines))
    text = template.render(
        load_file_regex=load_file_regex, compiler=lambda language: f"{language}_compiler",
        pin_subpackage=lambda name, **pins: f"{name} =={VERSION}")
    return yaml.safe_load(text)


def names(requirements):
    return {text.split()[0] for text in requirements or []}


def searched_libraries():
    """Return the names of pkg-config modules and libraries that the build searches for."""
    found = set()
    for file in (ROOT / "cmake" / "dependencies.cmake", ROOT / "experiment" / "CMakeLists.txt"):
        text = file.read_text()
        for call in re.findall(r"pkg_(?:check|search)_modules?\(\w+ ([^)]*)\)", text):
            found |= {word for word in call.split() if not word.isupper() or word == "hdf5"}
        found |= set(re.findall(r"find_library\((\w+)_library (?:NAMES )?\w+", text))
    return found - {"lapacke"}


def check_outputs(recipe):
    outputs = {output["name"]: output for output in recipe["outputs"]}
    assert list(outputs) == ["libhuddle", "huddle", "huddle-clustering"], list(outputs)
    for name, output in outputs.items():
        script = RECIPE / output["script"]
        assert script.is_file() and script.read_text().startswith("#!/bin/bash\n"), script
        assert "GPL" in output["about"]["license"] and output["about"]["summary"]
        assert (ROOT / output["about"]["license_file"]).is_file()
        assert output["test"]["commands"], name
    libraries = {"openblas"} | {PACKAGE_OF[name] for name in searched_libraries()}
    for name in ("libhuddle", "huddle"):
        host = names(outputs[name]["requirements"]["host"])
        assert libraries <= host, f"{name} lacks {sorted(libraries - host)}"
        assert host - libraries <= {"libhuddle"}, f"{name} needs no {sorted(host - libraries)}"
        assert {"c_compiler", "cmake", "ninja", "pkg-config"} == names(
            outputs[name]["requirements"]["build"])
    assert "libhuddle" in names(outputs["huddle"]["requirements"]["run"])
    return outputs


def check_python(output):
    """Its run-time dependencies are those of pyproject.toml."""
    text = (ROOT / "python" / "pyproject.toml").read_text()
    listed = re.search(r"^dependencies = \[(.*?)\]", text, re.MULTILINE | re.DOTALL).group(1)
    python = re.search(r'^requires-python = "(.*)"', text, re.MULTILINE).group(1)
    expected = {f"python {python}"} | {
        re.sub(r"(>=)", r" \1", name) for name in re.findall(r'"([^"]+)"', listed)}
    run = {text for text in output["requirements"]["run"] if "huddle" not in text}
    assert run == expected, run ^ expected
    assert {"libhuddle", "huddle"} <= names(output["requirements"]["run"])


if __name__ == "__main__":
    recipe = render()
    assert recipe["package"]["version"] == VERSION, recipe["package"]
    assert (RECIPE / recipe["source"]["path"] / "CMakeLists.txt").is_file()
    check_python(check_outputs(recipe)["huddle-clustering"])
