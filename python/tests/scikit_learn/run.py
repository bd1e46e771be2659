#!/usr/bin/python3
"""Runs scikit-learn's own tests of KMeans and SpectralClustering with those of huddle.drop_in.

    python/tests/scikit_learn/run.py [--newest FOLDER] [ARGUMENTS OF PYTEST]

The test files are those of the installed scikit-learn, unchanged. With --newest, the newest
scikit-learn of PyPI is installed in a virtual environment in that folder first; without a network
the exit status is 77, which means skipped.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MODULES = ("sklearn.cluster.tests.test_k_means", "sklearn.cluster.tests.test_spectral")
SKIPPED = 77


def newest_python(folder):
    """Return a Python with the newest scikit-learn, or None if it cannot be downloaded."""
    python = pathlib.Path(folder) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--upgrade",
                          "scikit-learn", "pytest", "pandas"], capture_output=True, text=True)
    if pip.returncode == 0:
        return str(python)
    print(f"skipped: pip could not install scikit-learn: {pip.stderr.strip().splitlines()[-1:]}")
    return None


def main(arguments):
    python = sys.executable
    if arguments[:1] == ["--newest"]:
        python, arguments = newest_python(os.path.abspath(arguments[1])), arguments[2:]
        if python is None:
            return SKIPPED
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.pathsep.join(
        [str(ROOT / "python"), str(HERE)]))
    environment.setdefault("HUDDLE_LIBRARY", str(ROOT / "build" / "libhuddle.so"))
    environment.setdefault("SKLEARN_RUN_FLOAT32_TESTS", "1")
    # For scikit-learn's MiniBatchKMeans, whose threads wait in busy loops for batches of 10 rows.
    environment.setdefault("OMP_NUM_THREADS", "1")
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "drop_in_plugin",
               "-c", os.devnull, "-W", "ignore::UserWarning", "--pyargs", *MODULES, *arguments]
    return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
