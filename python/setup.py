"""Builds the C libraries with cmake and puts them, with the tool, into the package.

The version is that of include/huddle/version.h. HUDDLE_BUILD names a build folder to take the
libraries from, instead of building them.
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


def version():
    header = (ROOT / "include" / "huddle" / "version.h").read_text()
    return re.search(r'define HUDDLE_VERSION +"(.*)"', header).group(1)


def build_library(folder):
    """Configures and builds the library and the tool there."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator,
                    "-DCMAKE_BUILD_TYPE=Release", "-DHUDDLE_TESTS=OFF", "-DHUDDLE_BENCH=OFF",
                    "-DCMAKE_INSTALL_LIBDIR=lib"], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
                   check=True)


def install_library(build, target):
    """Puts the libraries under their run-time names, and the tool, into target."""
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", str(build), "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        installed = pathlib.Path(prefix)
        # The run-time names, such as libhuddle.so.0.2, are links to the files with the full version.
        libraries = sorted(p for p in installed.glob("lib/**/libhuddle*.so.*") if p.is_symlink())
        for source in (*libraries, installed / "bin" / "huddle"):
            place = target / source.relative_to(installed)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source.resolve(), place)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "huddle" / "native"
        if os.environ.get("HUDDLE_BUILD"):
            install_library(os.environ["HUDDLE_BUILD"], target)
            return
        with tempfile.TemporaryDirectory() as build:
            build_library(build)
            install_library(build, target)


class PlatformWheel(bdist_wheel):
    """For any Python 3 of this platform: the library knows nothing of Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=WithLibrary,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
