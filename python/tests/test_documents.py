"""The examples of the documentation run; generated files and the version are up to date."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import huddle
from huddle import _options

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(path):
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(), re.DOTALL)


@pytest.mark.parametrize("document", ["README.md", "docs/python.md", "python/README.md"])
@pytest.mark.filterwarnings("ignore")
def test_documents_run_when_pasted(document, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    assert blocks(document)
    for block in blocks(document):
        exec(compile(block, document, "exec"), names)


def test_example_runs(tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "digits.py"), str(tmp_path)],
                          capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "relative gap" in done.stdout and "scikit-learn spectral" in done.stdout
    assert {p.name for p in tmp_path.iterdir()} == {"shrinking.png", "path.png"}


def test_stubs_and_list_of_estimators_are_up_to_date():
    solvers = next(p for p in _options.stage_parameters("shrink") if p.name == "linear_solver")
    if "cholmod" not in solvers.choices:
        pytest.skip("the stubs list the solvers of a complete build")
    done = subprocess.run([sys.executable, str(ROOT / "python" / "make_stubs.py"), "--check"],
                          capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr


def test_version_is_the_headers():
    header = (ROOT / "include" / "huddle" / "version.h").read_text()
    assert f'"{huddle.__version__}"' in header
