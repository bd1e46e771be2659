"""Builds the C libraries and the tool with CMake and copies them into the package.

The version is that of include/huddle/version.h. If HUDDLE_BUILD is set to a build folder, the
libraries are taken from there instead; CMAKE_ARGS are further arguments of CMake, such as
-DHUDDLE_GPL=OFF. With HUDDLE_WITHOUT_LIBRARIES=1 the package has neither libraries nor the command,
for systems whose own packages have them. A source distribution has the C sources in source/.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE / "source" if (HERE / "source").is_dir() else HERE.parent
BUNDLED = not os.environ.get("HUDDLE_WITHOUT_LIBRARIES")
LIBRARIES = {"libhuddle", "libhuddle-io", "libhuddle-report"}
# What the libraries and the tool are built from.
SOURCES = ["CMakeLists.txt", "LICENSE", "app", "cli", "cmake", "data", "engines", "experiment",
           "include", "report", "src"]


def version():
    header = (ROOT / "include" / "huddle" / "version.h").read_text()
    return re.search(r'define HUDDLE_VERSION +"(.*)"', header).group(1)


def build_libraries(folder):
    """Configure and build in this folder."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator,
                    "-DCMAKE_BUILD_TYPE=Release", "-DHUDDLE_TESTS=OFF", "-DHUDDLE_BENCH=OFF",
                    "-DCMAKE_INSTALL_LIBDIR=lib", *shlex.split(os.environ.get("CMAKE_ARGS", ""))],
                   check=True)
    subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
                   check=True)


def copy_libraries(build, target):
    """Copy the installed libraries to target, under the names that they are loaded by."""
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", str(build), "--prefix", prefix, "--strip"],
                       check=True, stdout=subprocess.DEVNULL)
        installed = pathlib.Path(prefix)
        # The run-time names, such as libhuddle.so.1, are links to the files with the full version.
        libraries = sorted(p for p in installed.glob("lib/**/libhuddle*.so.*") if p.is_symlink())
        found = {source.name.partition(".")[0] for source in libraries}
        if found != LIBRARIES:
            raise RuntimeError(f"{build} installs {sorted(found)}, not {sorted(LIBRARIES)}")
        # Engines in files of their own, such as mpi; the library finds them beside itself.
        engines = sorted(installed.glob("lib/**/huddle-engines/*.so"))
        # The tool, which finds the libraries relative to itself.
        for source in [*libraries, *engines, installed / "bin" / "huddle"]:
            place = target / source.relative_to(installed)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source.resolve(), place)


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "huddle" / "native"
        # Those of an earlier version would be packed too.
        shutil.rmtree(target, ignore_errors=True)
        if not BUNDLED:
            return
        if os.environ.get("HUDDLE_BUILD"):
            copy_libraries(os.environ["HUDDLE_BUILD"], target)
            return
        with tempfile.TemporaryDirectory() as build:
            build_libraries(build)
            copy_libraries(build, target)


class SourcesWithLibraries(sdist):
    """A source distribution with the sources of the libraries."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in SOURCES:
            place = pathlib.Path(base_dir) / "source" / name
            place.parent.mkdir(exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
            else:
                shutil.copy(ROOT / name, place)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of this platform: the libraries do not use Python's C API."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not BUNDLED

    def get_tag(self):
        return "py3", "none", super().get_tag()[2] if BUNDLED else "any"


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return BUNDLED


setup(version=version(), license="MIT", distclass=PlatformDistribution,
      entry_points={"console_scripts": ["huddle = huddle.__main__:main"] if BUNDLED else []},
      cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel,
                "sdist": SourcesWithLibraries})
