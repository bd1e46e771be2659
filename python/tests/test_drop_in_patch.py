"""patch_sklearn(), unpatch_sklearn() and python -m huddle.drop_in, in processes of their own."""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import huddle

PACKAGES = str(pathlib.Path(huddle.__file__).resolve().parents[1])


def run(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": PACKAGES}, **options)


def run_code(code):
    result = run("-c", textwrap.dedent(code))
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_of_huddle_does_not_patch():
    run_code("""
        import sys, huddle
        assert "huddle.drop_in" not in sys.modules and "huddle._patch" not in sys.modules
        from sklearn.cluster import KMeans
        assert KMeans.__module__ == "sklearn.cluster._kmeans"
    """)


def test_modules_imported_before_are_patched(tmp_path):
    run_code("""
        import pickle, types, sys
        import sklearn.cluster
        from sklearn.cluster import KMeans as Before, k_means
        early = types.ModuleType("early")
        early.Model = Before
        sys.modules["early"] = early
        import sklearn.cluster._bicluster as bicluster
        before = Before(2)
        import huddle
        from huddle import drop_in
        own = types.ModuleType("own")
        own.Model = drop_in.KMeans
        sys.modules["own"] = own
        huddle.patch_sklearn()
        huddle.patch_sklearn()  # twice changes nothing
        from sklearn.cluster import KMeans, SpectralClustering
        assert KMeans is drop_in.KMeans and SpectralClustering is drop_in.SpectralClustering
        assert early.Model is drop_in.KMeans and Before is drop_in.KMeans
        assert k_means is drop_in.k_means
        assert bicluster.KMeans is drop_in.KMeans
        assert type(before).__module__ == "sklearn.cluster._kmeans"
        pickle.loads(pickle.dumps(before))
        pickle.loads(pickle.dumps(KMeans(2)))
        assert isinstance(KMeans(2), type(before))
        assert own.Model is drop_in.KMeans
        late = types.ModuleType("late")
        late.Model = KMeans
        sys.modules["late"] = late
        huddle.unpatch_sklearn()
        for module, name in ((sklearn.cluster, "KMeans"), (early, "Model"), (late, "Model"),
                             (bicluster, "KMeans")):
            assert getattr(module, name) is type(before), (module, name)
        assert Before is type(before)
        assert own.Model is drop_in.KMeans is not type(before)
        assert drop_in.KMeans is not type(before)
        huddle.unpatch_sklearn()
        huddle.patch_sklearn()
        assert sklearn.cluster.KMeans is drop_in.KMeans
    """)


def test_estimators_of_scikit_learn_use_the_classes():
    run_code("""
        import huddle
        huddle.patch_sklearn()
        from huddle import drop_in
        calls = []
        fit = drop_in.KMeans.fit
        drop_in.KMeans.fit = lambda self, *a, **k: calls.append(1) or fit(self, *a, **k)
        import numpy as np
        from sklearn.preprocessing import KBinsDiscretizer
        KBinsDiscretizer(3, strategy="kmeans").fit(np.arange(40.0)[:, None] ** 2)
        assert calls
    """)


def test_document():
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "drop-in.md"
    found = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(found) == 2
    run_code(found[0] + found[1].replace("huddle.unpatch", """
assert KMeans.__module__ == "huddle.drop_in"
huddle.unpatch""") + """
import sklearn.cluster
assert sklearn.cluster.KMeans.__module__ == "sklearn.cluster._kmeans"
""")


SCRIPT = """
import sys
from sklearn.cluster import KMeans, SpectralClustering
import beside
assert __name__ == "__main__"
print(KMeans.__module__, SpectralClustering.__module__, sys.argv[1:])
"""
EXPECTED = "huddle.drop_in huddle.drop_in ['--some', 'option']\n"


def test_program(tmp_path):
    (tmp_path / "program.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("")  # found as Python finds modules beside a program
    result = run("-m", "huddle.drop_in", str(tmp_path / "program.py"), "--some", "option")
    assert (result.returncode, result.stdout) == (0, EXPECTED), result.stderr
    result = run("-m", "huddle.drop_in", "-m", "program", "--some", "option", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, EXPECTED), result.stderr


def test_program_is_missing(tmp_path):
    result = run("-m", "huddle.drop_in")
    assert result.returncode == 2 and "usage" in result.stdout + result.stderr
    result = run("-m", "huddle.drop_in", str(tmp_path / "absent.py"))
    assert result.returncode != 0
    assert result.stderr == f"huddle.drop_in: there is no file {tmp_path / 'absent.py'}\n"
