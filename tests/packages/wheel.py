"""wheel.py BUILD: the wheel and the source distribution, built from an existing build folder.

Name, tag, contents, entry points, version and metadata are checked, and the command and a fit in
the unpacked wheel. That it works on other machines is what ./dev package check wheel shows.
"""
import configparser
import contextlib
import email
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r'define HUDDLE_VERSION +"(.*)"',
                    (ROOT / "include" / "huddle" / "version.h").read_text()).group(1)
HOOKS = """import sys
from setuptools import build_meta
getattr(build_meta, "build_" + sys.argv[1])(sys.argv[2])"""


def known_files(*folders):
    """Return the files that git has in these folders, or those that exist in a tree without git."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", *folders], capture_output=True)
    if done.returncode == 0 and done.stdout:
        return [name.decode() for name in done.stdout.split(b"\0") if name]
    return [str(path.relative_to(ROOT)) for folder in folders
            for path in [ROOT / folder, *(ROOT / folder).rglob("*")]
            if path.is_file() and "__pycache__" not in path.parts]


def build(kind, scratch, **environment):
    """Build a wheel or a source distribution in a copy of python/, and return its path."""
    (scratch / "python").mkdir()
    os.symlink(ROOT / "include", scratch / "include")
    for name in known_files("python"):
        place = scratch / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place)
    if kind == "sdist":  # which copies the sources
        for name in os.listdir(ROOT):
            if not name.startswith((".", "build")) and not (scratch / name).exists():
                os.symlink(ROOT / name, scratch / name)
    done = subprocess.run([sys.executable, "-c", HOOKS, kind, str(scratch / "out")], text=True,
                          cwd=scratch / "python", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout
    [path] = (scratch / "out").glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return path


@contextlib.contextmanager
def built(kind, **environment):
    with tempfile.TemporaryDirectory() as folder:
        yield build(kind, pathlib.Path(folder), **environment)


def check_metadata(archive):
    place = f"huddle_clustering-{VERSION}.dist-info"
    metadata = email.message_from_bytes(archive.read(f"{place}/METADATA"))
    assert metadata["Name"] == "huddle-clustering", metadata["Name"]
    assert metadata["Version"] == VERSION
    assert any("scikit-learn" in text for text in metadata.get_all("Requires-Dist"))
    scripts = configparser.ConfigParser()
    scripts.read_string(archive.read(f"{place}/entry_points.txt").decode())
    assert dict(scripts["console_scripts"]) == {"huddle": "huddle.__main__:main"}
    assert any(name.endswith("LICENSE") for name in archive.namelist())


def check_contents(archive):
    names = set(archive.namelist())
    expected = {name[len("python/"):] for name in known_files("python/huddle")}
    assert expected <= names, f"the wheel lacks {sorted(expected - names)}"
    native = {re.sub(r"\.so\..*", ".so", name) for name in names if "/native/" in name}
    for file in ("lib/libhuddle.so", "lib/libhuddle-io.so", "lib/libhuddle-report.so",
                 "bin/huddle"):
        assert f"huddle/native/{file}" in native, native
    mode = archive.getinfo("huddle/native/bin/huddle").external_attr >> 16
    assert mode & 0o111 == 0o111, oct(mode)


def check_unpacked(path, folder):
    """Use the wheel without installing it, from a folder of its own."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("HUDDLE_")}
    environment["PYTHONPATH"] = str(folder)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    os.chmod(folder / "huddle" / "native" / "bin" / "huddle", 0o755)  # as pip does
    done = subprocess.run([sys.executable, "-m", "huddle", "--version"], capture_output=True,
                          text=True, env=environment, cwd=folder)
    assert done.stdout == f"huddle {VERSION}\n", done.stderr
    code = ("import huddle; from huddle._library import library_path; print(library_path);"
            "print(huddle.KMeans(2).fit_predict([[0.0], [1.0]]).tolist())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=environment, cwd=folder)
    library, labels = done.stdout.splitlines() or ["", done.stderr]
    assert library.startswith(f"{folder}/huddle/native/lib/libhuddle.so"), library
    assert sorted(labels) == sorted("[0, 1]"), labels


def check_wheel(build_folder):
    with built("wheel", HUDDLE_BUILD=build_folder) as path:
        assert re.fullmatch(rf"huddle_clustering-{re.escape(VERSION)}-py3-none-linux_\w+\.whl",
                            path.name), path.name
        with zipfile.ZipFile(path) as archive:
            check_metadata(archive)
            check_contents(archive)
        check_unpacked(path, path.parent / "unpacked")


def check_pure_wheel():
    """The package for systems that have the libraries."""
    with built("wheel", HUDDLE_WITHOUT_LIBRARIES="1") as path:
        assert path.name == f"huddle_clustering-{VERSION}-py3-none-any.whl", path.name
        names = zipfile.ZipFile(path).namelist()
        assert not any("native" in name or "entry_points" in name for name in names), names


def check_sources():
    """Everything that CMake reads is in the source distribution; a check that takes no compiler."""
    with built("sdist") as path, tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        needed = {f"source/{name}" for name in known_files(
            "CMakeLists.txt", "app", "cli", "cmake", "data", "engines", "experiment", "include",
            "report", "src")}
        assert needed <= names, f"the source distribution lacks {sorted(needed - names)}"
        listed = re.findall(r"add_subdirectory\((\w+)\)", (ROOT / "CMakeLists.txt").read_text())
        for folder in set(listed) - {"tests", "bench"}:
            assert f"source/{folder}/CMakeLists.txt" in names, folder
        assert {"LICENSE", "setup.py", "pyproject.toml", "huddle/__init__.py"} <= names


def check_name_in_documents():
    """`pip install huddle` installs another project."""
    wrong = re.compile(r"pip3? install(?: -\S+)* ['\"]?huddle(?!-clustering)(?!_clustering)\b")
    assert wrong.search("pip install huddle") and wrong.search("pip install -U huddle[plot]")
    assert not wrong.search("pip install huddle-clustering")
    for name in known_files("README.md", "CONTRIBUTING.md", "docs", "python", "examples"):
        if name.endswith((".md", ".py", ".pyi", ".toml", ".sh")):
            found = wrong.search((ROOT / name).read_text())
            assert not found, f"{name}: {found.group()}"


if __name__ == "__main__":
    check_name_in_documents()
    check_sources()
    check_pure_wheel()
    check_wheel(str(pathlib.Path(sys.argv[1]).resolve()))
