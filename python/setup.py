"""Builds the C libraries with CMake and copies them into the package.

The version is that of include/huddle/version.h. If HUDDLE_BUILD is set to a build folder, the
libraries are taken from there instead.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LIBRARIES = {"libhuddle", "libhuddle-io", "libhuddle-report"}


def version():
    header = (ROOT / "include" / "huddle" / "version.h").read_text()
    return re.search(r'define HUDDLE_VERSION +"(.*)"', header).group(1)


def build_libraries(folder):
    """Configure and build in this folder."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator,
                    "-DCMAKE_BUILD_TYPE=Release", "-DHUDDLE_TESTS=OFF", "-DHUDDLE_BENCH=OFF",
                    "-DCMAKE_INSTALL_LIBDIR=lib"], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
                   check=True)


def copy_libraries(build, target):
    """Copy the installed libraries to target, under the names that they are loaded by."""
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", str(build), "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        installed = pathlib.Path(prefix)
        # The run-time names, such as libhuddle.so.0.2, are links to the files with the full version.
        libraries = sorted(p for p in installed.glob("lib/**/libhuddle*.so.*") if p.is_symlink())
        found = {source.name.partition(".")[0] for source in libraries}
        if found != LIBRARIES:
            raise RuntimeError(f"{build} installs {sorted(found)}, not {sorted(LIBRARIES)}")
        # Engines in files of their own, such as mpi; the library finds them beside itself.
        engines = sorted(installed.glob("lib/**/huddle-engines/*.so"))
        for source in libraries + engines:
            place = target / source.relative_to(installed)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source.resolve(), place)


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "huddle" / "native"
        if os.environ.get("HUDDLE_BUILD"):
            copy_libraries(os.environ["HUDDLE_BUILD"], target)
            return
        with tempfile.TemporaryDirectory() as build:
            build_libraries(build)
            copy_libraries(build, target)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of this platform: the libraries do not use Python's C API."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel})
