"""The engine mpi: several processes, each with its own rows, started by mpirun."""
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import huddle

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _missing():
    if shutil.which("mpirun") is None:
        return "mpirun is not installed"
    if "mpi" not in dict(huddle.engines()):
        return "this build has no engine mpi (-DHUDDLE_MPI=ON)"
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return "mpi4py is not installed"
    return None


pytestmark = pytest.mark.skipif(_missing() is not None, reason=str(_missing()))

BEGIN = """
import os, sys
import numpy as np
import huddle
from huddle.datasets import load_digits, make_blobs
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0))
size = int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))

def part(array):
    return array[len(array) * rank // size:len(array) * (rank + 1) // size]

def say(*words):
    # One write for each line: the lines of several processes must not be mixed.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def raised(function):
    try:
        function()
    except Exception as error:
        say(rank, type(error).__name__, str(error).replace("\\n", " "))
    else:
        say(rank, "no exception")

X, y = make_blobs(203)
"""


def run(script, n, *words, check=True, begin=BEGIN, timeout=200, sort=True):
    """Return the lines that n processes print, and the result; n = 0: without mpirun."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none")
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(n)] if n > 0 else []
    program = ["-c", begin + textwrap.dedent(script)] if "\n" in script else [script]
    done = subprocess.run([*launcher, sys.executable, *words, *program], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout)
    if check:
        assert done.returncode == 0, done.stderr
        assert "MPI" not in done.stderr and "PETSC" not in done.stderr, done.stderr
    lines = done.stdout.splitlines()
    return sorted(lines) if sort else lines, done


# ---- results ---------------------------------------------------------------------------------

@pytest.mark.parametrize("n", [1, 2, 4])
def test_labels_are_those_of_one_process(n):
    lines, _ = run("""
        X, y = load_digits()
        expected = huddle.KMeans(10, prepare="none").fit(X)
        for kind in (np.float64, np.float32):
            model = huddle.KMeans(10, prepare="none", engine="mpi").fit(part(X).astype(kind))
            same = (model.labels_ == part(expected.labels_)).all()
            same &= np.isclose(model.inertia_, expected.inertia_)
            same &= (model.predict(part(X)) == part(expected.predict(X))).all()
            same &= np.allclose(model.cluster_centers_, expected.cluster_centers_)
            scores = huddle.metrics.scores(part(y), model.labels_, engine="mpi")
            same &= scores == huddle.metrics.scores(y, expected.labels_)
            place = model.info_["processes"]
            same &= place == {"number": rank, "count": size, "n": 1797,
                              "first_row": 1797 * rank // size}
            say(same)
    """, n)
    assert lines == ["True"] * (2 * n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["SpectralClustering", "SpectralShrunkClustering"])
def test_spectral_labels_are_those_of_one_process(name):
    lines, _ = run(f"""
        import warnings
        from mpi4py import MPI
        warnings.simplefilter("ignore")
        X, y = load_digits()
        expected = huddle.{name}(10, prepare="none").fit(X)
        model = huddle.{name}(10, prepare="none", engine="mpi").fit(part(X))
        # Not the refined labels: on two processes these are another local optimum (ARI .903), one
        # that random_state=1 gives on one process too.
        labels = np.concatenate(MPI.COMM_WORLD.allgather(model.unrefined_labels_))
        again = huddle.{name}(10, prepare="none", engine="mpi").fit(part(X))
        new = np.concatenate(MPI.COMM_WORLD.allgather(model.predict(part(X))))
        say(huddle.metrics.ari(expected.unrefined_labels_, labels) >= .999, new.shape,
            model.embedding_.shape == (len(part(X)), 10),
            (again.labels_ == model.labels_).all(), (again.embedding_ == model.embedding_).all())
    """, 2)
    assert lines == ["True (1797,) True True True"] * 2


@pytest.mark.parametrize("name", ["KMeans", "SpectralShrunkClustering"])
def test_results_of_each_point(name):
    lines, _ = run(f"""
        import warnings
        warnings.simplefilter("ignore")
        X, y = load_digits()
        X = X[:600]
        expected = huddle.{name}(10, prepare="none", n_init=5).fit(X)
        model = huddle.{name}(10, prepare="none", n_init=5, engine="mpi").fit(part(X))
        confidence, silhouettes = model.confidence_, model.silhouette_samples_
        same = (model.labels_ == part(expected.labels_)).all()
        say(same, not same or np.allclose(confidence, part(expected.confidence_), atol=1e-3),
            not same or np.allclose(silhouettes, part(expected.silhouette_samples_)),
            confidence.shape == silhouettes.shape == (len(part(X)),), "internal" in model.info_)
        raised(lambda: model.transform(part(X)))
    """, 2)
    assert lines[2:] == ["True True True True False"] * 2
    assert all("NotImplementedError" in line for line in lines[:2])


def test_models_are_saved_and_loaded(tmp_path):
    lines, _ = run(f"""
        import warnings
        warnings.simplefilter("ignore")
        X, y = load_digits()
        path = {str(tmp_path / "model.huddle")!r}
        model = huddle.SpectralClustering(10, prepare="none", engine="mpi").fit(part(X))
        model.save(path)
        twin = huddle.load(path, engine="mpi")
        say((twin.labels_ == model.labels_).all(), twin.info_["processes"] == model.info_["processes"],
            (twin.predict(part(X)) == model.predict(part(X))).all(),
            np.allclose(twin.confidence_, model.confidence_))
        say("whole", len(huddle.load(path).labels_))
    """, 2)
    assert lines == ["True True True True"] * 2 + ["whole 1797"] * 2


def test_a_process_may_have_no_rows():
    lines, _ = run("""
        expected = huddle.KMeans(4, prepare="none").fit(X)
        own = [X[:0], X[:3], X[:0], X[3:]][rank]
        if rank == 0:
            own = own.astype(np.float32)  # has no say
        model = huddle.KMeans(4, prepare="none", engine="mpi").fit(own)
        labels = model.fit_predict(own)
        first = [0, 0, 3, 3][rank]
        say(labels.shape == (len(own),), (labels == expected.labels_[first:][:len(own)]).all(),
            model.predict(own).shape == (len(own),), model.labels_.dtype)
    """, 4)
    assert lines == ["True True True int32"] * 4


def test_seed_is_that_of_the_first_process():
    lines, _ = run("""
        np.random.seed(rank)
        model = huddle.KMeans(9, prepare="none", n_init=1, random_state=None, engine="mpi")
        say(model.fit(part(X)).inertia_)
    """, 2)
    assert len(lines) == 2 and lines[0] == lines[1]


def test_processes_are_numbered():
    lines, _ = run("""
        number, count = huddle.processes()
        say(number, count, huddle.processes("mpi").count, huddle.processes("cpu").count)
    """, 3)
    assert lines == ["0 3 3 1", "1 3 3 1", "2 3 3 1"]


# ---- communicators ---------------------------------------------------------------------------

def test_a_communicator_is_an_engine():
    lines, _ = run("""
        import copy, pickle
        from mpi4py import MPI
        from sklearn.base import clone
        world = MPI.COMM_WORLD
        comm = world.Split(world.rank % 2)
        if world.rank % 2 == 0:  # the others do not take part
            model = huddle.KMeans(4, prepare="none", engine=comm)
            for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
                          huddle.KMeans(4, prepare="none").set_params(engine=comm)):
                assert other.get_params()["engine"] == f"mpi:comm={comm.py2f()}"
            rank, size = comm.rank, comm.size
            labels = clone(model).fit(part(X)).labels_
            expected = huddle.KMeans(4, prepare="none").fit(X).labels_
            say(huddle.processes(comm), (labels == part(expected)).all())
        world.Barrier()
    """, 3)
    assert lines == ["Processes(number=0, count=2) True", "Processes(number=1, count=2) True"]


# ---- failures --------------------------------------------------------------------------------

FAILURES = {
    "nan": ('own[5, 0] = np.nan if rank == 1 else 0', "ValueError", "(process 1 of 3)"),
    "features": ("own = own[:, :1] if rank == 2 else own", "ValueError",
                 "process 2: X has 1 features, but 2 on process 0"),
    "sparse": ("import scipy.sparse; own = scipy.sparse.csr_matrix(own) if rank == 1 else own",
               "ValueError", "process 1: X is sparse, but dense on process 0"),
    "dimension": ("own = own[0] if rank == 0 else own", "ValueError", "(process 0 of 3)"),
    "type": ("own = object() if rank == 1 else own", "TypeError", "(process 1 of 3)"),
    "parameter": ("clusters = 5 if rank == 2 else 4", "ValueError",
                  "process 2: n_clusters = 5, but 4 on process 0"),
    "rows": ("clusters = 1000", "ValueError", "n_samples=203 should be >= n_clusters=1000."),
    "option": ("more = dict(n_init=-1)", "ValueError", "n_init = -1"),
    "no rows": ("own = own[:0]", "ValueError", ""),
}


def test_a_failure_of_one_is_one_of_all():
    cases = "".join(f"""
own, clusters, more = part(X).copy(), 4, {{}}
{line}
raised(lambda: huddle.KMeans(clusters, prepare="none", engine="mpi", **more).fit(own))
huddle.KMeans(4, prepare="none", engine="mpi").fit(part(X))  # nothing is left over
say(rank, "again")
""" for line, _, _ in FAILURES.values())
    lines, _ = run(cases, 3, sort=False)
    for rank in "012":
        own = [line for line in lines if line[0] == rank]
        assert own[1::2] == [f"{rank} again"] * len(FAILURES)
        for found, (_, name, text) in zip(own[::2], FAILURES.values()):
            assert found.split()[1] == name and (text in found or f"(process {rank} " in text), found


def test_exceptions_that_the_library_does_not_know():
    lines, _ = run("""
        class Own(Exception):
            pass

        class Wrong:
            def __array__(self, *args, **kwargs):
                raise Own("no array")

        raised(lambda: huddle.KMeans(4, engine="mpi").fit(Wrong() if rank == 1 else part(X)))
        fitted = huddle.KMeans(4, prepare="none", engine="mpi").fit(part(X))
        raised(lambda: (fitted if rank == 0 else huddle.KMeans(4, engine="mpi")).predict(part(X)))
    """, 2)
    assert lines == ["0 NotFittedError This KMeans instance is not fitted yet. Call 'fit' with "
                     "appropriate arguments before using this estimator. (process 1 of 2)",
                     "0 Own no array (process 1 of 2)",
                     "1 NotFittedError This KMeans instance is not fitted yet. Call 'fit' with "
                     "appropriate arguments before using this estimator.",
                     "1 Own no array"]


def test_what_needs_all_rows_is_refused():
    lines, _ = run("""
        raised(lambda: huddle.PCAKMeans(4, engine="mpi").fit(part(X)))
        raised(lambda: huddle.knn_graph(part(X), 5, engine="mpi"))
        raised(lambda: huddle.cluster_path(part(X), 4, engine="mpi"))
        raised(lambda: huddle.SpectralClustering(4, affinity="precomputed",
                                                 engine="mpi").fit(X @ X.T))
        raised(lambda: huddle.metrics.scores(["a"], ["b"], engine="mpi"))
    """, 2)
    names = sorted(line.split()[1] for line in lines)
    assert names == ["NotImplementedError"] * 8 + ["ValueError"] * 2


def test_cancelling_one_cancels_all():
    lines, _ = run("""
        calls = []
        def progress(stage, done, total):
            calls.append(stage)
            return True
        X = np.random.RandomState(rank).rand(40000, 20)
        raised(lambda: huddle.KMeans(50, prepare="none", n_init=100, progress=progress,
                                     engine="mpi").fit(X))
        say(rank, "called", len(calls) > 0)
    """, 2)
    assert [line.split()[1:3] for line in lines] == [
        ["Cancelled", lines[0].split()[2]], ["called", "True"],
        ["Cancelled", lines[2].split()[2]], ["called", "False"]]


def test_warnings_are_issued_once():
    lines, done = run("""
        import warnings
        warnings.simplefilter("always")
        same = np.zeros((30, 2))
        model = huddle.KMeans(4, prepare="none", engine="mpi").fit(same)
        say(model.warning_codes_)
    """, 2)
    assert lines == ["['few_distinct']"] * 2
    assert done.stderr.count("Warning: ") == 1


# ---- the end of the program ------------------------------------------------------------------

@pytest.mark.parametrize("first", ["from mpi4py import MPI", "pass"])
@pytest.mark.parametrize("n, last", [(0, "pass"), (2, "pass"), (2, "from mpi4py import MPI"),
                                     (2, "sys.exit(0)")])
def test_programs_end_silently(n, first, last):
    _, done = run(f"""
        {first}
        model = huddle.KMeans(4, prepare="none", engine="mpi").fit(part(X))
        {last}
    """, n)
    assert done.stderr == "" and done.stdout == ""


@pytest.mark.parametrize("first", ["from mpi4py import MPI", "pass"])
def test_an_exception_on_all_processes_ends_the_program(first):
    _, done = run(f"""
        {first}
        huddle.KMeans(400, prepare="none", engine="mpi").fit(part(X))
    """, 2, check=False)
    assert done.returncode == 1
    assert "should be >= n_clusters=400" in done.stderr and "MPI_ABORT" not in done.stderr


def test_an_exception_on_one_process_ends_all():
    _, done = run("""
        if rank == 1:
            raise RuntimeError("my own mistake")
        huddle.KMeans(4, prepare="none", engine="mpi").fit(part(X))
    """, 2, "-m", "mpi4py", check=False)
    assert done.returncode != 0 and "my own mistake" in done.stderr


def test_single_threaded_mpi_is_respected():
    lines, _ = run("""
        import mpi4py
        mpi4py.rc.thread_level = "funneled"
        from mpi4py import MPI
        huddle.KMeans(4, prepare="none", engine="mpi").fit(part(X))
        say(MPI.Query_thread() == MPI.THREAD_FUNNELED)
    """, 2)
    assert lines == ["True"] * 2


# ---- documents -------------------------------------------------------------------------------

def test_the_example_runs():
    lines, _ = run(str(ROOT / "examples" / "mpi_digits.py"), 4, "-m", "mpi4py")
    assert "1797 rows on 4 processes" in lines
    assert len(lines) == 2


def test_the_guide_shows_the_example():
    example = (ROOT / "examples" / "mpi_digits.py").read_text()
    code = example[example.index("import numpy"):]
    assert code in (ROOT / "docs" / "python.md").read_text()
