"""The tool on several processes: the answers of one process, and faults that end all processes.

    pytest tests/mpi/test_tool.py     with HUDDLE=build/huddle and mpirun on the path

Every test runs the tool as a user would. Processes share the cores, so nothing here is about time
except that faults must end a job, and not hang it.
"""

import json
import os
import pathlib
import signal
import struct
import subprocess
import time

import h5py
import numpy
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

TOOL = os.environ.get("HUDDLE", "build/huddle")
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def run(processes, *words, check=True, engine="mpi"):
    """Run the tool; processes = 0 is a run without MPI."""
    launcher = LAUNCHER + ["-n", str(processes)] if processes else []
    engine = ["--engine", engine] if processes else []
    command = launcher + [TOOL, *map(str, words)] + engine
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if check:
        assert result.returncode == 0, f"{command}: {result.stderr}"
    return result


def cluster(processes, data, folder, *words, engine="mpi"):
    """Return the report and the labels of a run."""
    path = folder / f"labels-{processes}.npy"
    result = run(processes, "cluster", data, *words, "-o", path, "--json", engine=engine)
    return json.loads(result.stdout), numpy.load(path)


def make_sheets(n, d=6, n_sheets=5, seed=3):
    """Points of curved sheets that are far from each other, in random order."""
    rng = numpy.random.default_rng(seed)
    label = rng.integers(n_sheets, size=n)
    u = rng.uniform(size=(n, 2))
    x = numpy.zeros((n, d))
    x[:, 0] = 3 * numpy.cos(2 * u[:, 0]) + 20 * label
    x[:, 1] = 3 * numpy.sin(2 * u[:, 0])
    x[:, 2] = 3 * u[:, 1]
    return (x + .05 * rng.normal(size=(n, d))).astype(numpy.float32), label


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mpi")
    sheets, label = make_sheets(3000)
    numpy.save(place / "sheets.npy", sheets)
    numpy.save(place / "sheets-labels.npy", label.astype(numpy.int32))
    digits = load_digits()
    numpy.save(place / "digits.npy", digits.data.astype(numpy.float32))
    # One component in the graph and in the shrink step.
    rng = numpy.random.default_rng(1)
    numpy.save(place / "cube.npy", rng.uniform(size=(1500, 3)).astype(numpy.float32))
    cloud, _ = make_blobs(1500, 8, centers=6, cluster_std=2.6, random_state=0)
    numpy.save(place / "cloud.npy", cloud.astype(numpy.float32))
    return place


@pytest.fixture(scope="module")
def alone(folder):
    """Runs on one process without MPI, by data set and method."""
    kept = {}

    def get(name, method, clusters):
        if (name, method) not in kept:
            kept[name, method] = cluster(0, folder / f"{name}.npy", folder, "-m", method, "-c",
                                         clusters)
        return kept[name, method]
    return get


CASES = [("sheets", 5), ("digits", 10), ("cloud", 6)]


# ---- the same answer -----------------------------------------------------------------------------

@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("method", ["kmeans", "sc", "ssc"])
@pytest.mark.parametrize("name, clusters", CASES)
def test_labels_are_those_of_one_process(folder, alone, name, clusters, method, processes):
    expected, labels = alone(name, method, clusters)
    report, found = cluster(processes, folder / f"{name}.npy", folder, "-m", method, "-c", clusters)
    assert len(found) == len(labels) == report["n"]
    assert adjusted_rand_score(labels, found) >= .999
    assert sorted(report["sizes"]) == sorted(numpy.bincount(found).tolist())
    if method != "kmeans":
        assert report["graph"]["edges"] == expected["graph"]["edges"]
    for score, value in expected["internal"].items():
        assert report["internal"][score] == pytest.approx(value, rel=1e-3), score
    if method == "ssc":
        one, several = expected["shrink"], report["shrink"]
        assert 0 <= several["gap"] <= 1.0001e-4
        assert several["dual"] <= several["objective"]
        # Each objective is at most a gap above the optimum, each dual at most the optimum.
        assert several["dual"] <= one["objective"] * (1 + 1e-9)
        assert one["dual"] <= several["objective"] * (1 + 1e-9)
        assert several["components"] == one["components"]


# Small problems are solved by process 0 unless few_rows = 0: then as large ones are, with a partition, MUMPS or
# BoomerAMG. Refined labels are not compared: a last bit of the embedding may lead to another optimum.
ALL = "mpi:few_rows=0"


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("solver, name", [("cholmod", "mumps"), ("approximate", "boomeramg")])
def test_large_problems(folder, solver, name, processes):
    # F accurate enough that W, and with it the objective, is the same.
    words = ("-c", 4, "--prepare", "none", "--refine", "none", "--tol", "1e-9")
    expected, labels = cluster(0, folder / "cube.npy", folder, *words)
    report, found = cluster(processes, folder / "cube.npy", folder, *words, "--linear-solver", solver,
                            engine=ALL)
    assert report["embed"]["solver"] == "chebyshev"
    assert numpy.allclose(report["embed"]["eigenvalues"][:4],
                          expected["embed"]["eigenvalues"][:4], atol=1e-9)
    one, several = expected["shrink"], report["shrink"]
    assert several["linear_solver"] == name
    assert several["gap"] <= 1.0001e-4
    assert abs(several["objective"] - one["objective"]) <= 2e-4 * one["objective"]
    assert adjusted_rand_score(labels, found) >= .999


@pytest.mark.parametrize("prepare", ["none", "standard", "unit", "pca:5", "whiten:5"])
def test_preparations(folder, prepare):
    words = ("-m", "sc", "-c", 10, "--prepare", prepare)
    _, labels = cluster(0, folder / "digits.npy", folder, *words)
    _, found = cluster(3, folder / "digits.npy", folder, *words)
    assert adjusted_rand_score(labels, found) >= .999


def test_runs_repeat(folder):
    """The order of messages must not matter."""
    words = ("-c", 6, "--prepare", "none", "--tol", "1e-6")
    first, labels = cluster(3, folder / "cloud.npy", folder, *words, engine=ALL)
    second, again = cluster(3, folder / "cloud.npy", folder, *words, engine=ALL)
    assert (labels == again).all()
    for stage, names in (("embed", ("eigenvalues", "residual")), ("shrink", ("objective", "dual"))):
        for name in names:
            assert first[stage][name] == second[stage][name]


# ---- files ---------------------------------------------------------------------------------------

def write_idx(path, x):
    with open(path, "wb") as file:
        file.write(struct.pack(">HBB", 0, 13, 2) + struct.pack(">2i", *x.shape))
        file.write(x.astype(">f4").tobytes())


@pytest.fixture(scope="module")
def formats(folder):
    x = numpy.load(folder / "sheets.npy")
    numpy.save(folder / "double.npy", x.astype(float) + 1e5)
    with h5py.File(folder / "sheets.h5", "w") as file:
        file["X"] = x
        file["labels"] = numpy.load(folder / "sheets-labels.npy")
    write_idx(folder / "sheets.idx", x)
    numpy.savetxt(folder / "sheets.csv", x, delimiter=",", fmt="%.9g")
    return folder


@pytest.mark.parametrize("name", ["double.npy", "sheets.h5", "sheets.idx", "sheets.csv"])
def test_formats(formats, name):
    truth = numpy.load(formats / "sheets-labels.npy")
    report, found = cluster(3, formats / name, formats, "-c", 5, "--prepare", "none")
    assert report["n"] == len(truth)
    assert adjusted_rand_score(truth, found) == 1
    if name == "sheets.h5":
        assert report["scores"]["ari"] == 1


def test_other_formats_are_read_by_process_0(formats):
    parallel = run(2, "cluster", formats / "sheets.npy", "-c", 5, "-m", "kmeans")
    other = run(2, "cluster", formats / "sheets.csv", "-c", 5, "-m", "kmeans")
    assert "read by process 0" not in parallel.stderr
    assert other.stderr.count("read by process 0") == 1


def test_dropped_rows(folder):
    """They get -1 in the file, whichever process would have had them."""
    lines = ["a,b,c"] + [f"{i % 4},{.1 * i},{'' if i % 7 == 3 else i}" for i in range(200)]
    (folder / "gaps.csv").write_text("\n".join(lines) + "\n")
    words = ("cluster", folder / "gaps.csv", "-c", 4, "-m", "kmeans", "--missing", "drop", "-o")
    run(0, *words, folder / "gaps-one.txt")
    run(3, *words, folder / "gaps-three.txt")
    one, three = ((folder / name).read_text().split() for name in ("gaps-one.txt", "gaps-three.txt"))
    assert one == three
    assert [k for k, label in enumerate(three) if label == "-1"] == list(range(3, 200, 7))


def test_labels_in_other_files(folder):
    words = ("cluster", folder / "sheets.npy", "-c", 5, "-m", "kmeans", "-o")
    run(0, *words, folder / "one.csv")
    run(3, *words, folder / "three.csv")
    assert (folder / "one.csv").read_text() == (folder / "three.csv").read_text()


# ---- new points ----------------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["kmeans", "sc", "ssc"])
def test_predict(folder, method):
    new, _ = make_sheets(700, seed=8)
    numpy.save(folder / "new.npy", new)
    run(2, "cluster", folder / "sheets.npy", "-c", 5, "-m", method, "--save", folder / "m.model")
    one, three = folder / "p1.npy", folder / "p3.npy"
    run(0, "predict", folder / "m.model", folder / "new.npy", "-o", one)
    run(3, "predict", folder / "m.model", folder / "new.npy", "-o", three)
    assert (numpy.load(one) == numpy.load(three)).all()
    assert len(set(numpy.load(one))) == 5
    printed = run(3, "predict", folder / "m.model", folder / "new.npy").stdout.split()
    assert [int(word) for word in printed] == numpy.load(one).tolist()


def test_views_are_refused(folder):
    sheets, model = folder / "sheets.npy", folder / "views.model"
    run(0, "cluster", sheets, "--view", sheets, "-c", 5, "-m", "sc", "--save", model)
    for words in (("cluster", sheets, "-c", 5, "-m", "sc"), ("predict", model, sheets)):
        result = run(2, *words, "--view", sheets, check=False)
        assert result.returncode == 2
        assert ("--view needs all rows on one process and is not available with --engine mpi"
                in result.stderr)


# ---- sizes ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("n, clusters", [(2, 2), (3, 2), (7, 3), (25, 3)])
@pytest.mark.parametrize("method", ["kmeans", "sc", "ssc"])
def test_more_processes_than_points_and_small_slabs(folder, n, clusters, method):
    rng = numpy.random.default_rng(0)
    x = rng.normal(size=(n, 3)).astype(numpy.float32) + 50 * (numpy.arange(n) % clusters)[:, None]
    numpy.save(folder / "few.npy", x)
    words = ("-c", clusters, "-m", method, "--prepare", "none")
    _, labels = cluster(0, folder / "few.npy", folder, *words)
    _, found = cluster(4, folder / "few.npy", folder, *words)
    assert adjusted_rand_score(labels, found) == 1


# ---- faults --------------------------------------------------------------------------------------

def messages(result):
    """The lines of the tool; mpirun adds its own. Notes about progress and memory are no errors."""
    return [line for line in result.stderr.splitlines() if line.startswith("huddle: ") and
            " left" not in line and "to save memory" not in line]


def check_fault(result, *parts, code=1):
    assert result.returncode == code, result.stderr
    lines = messages(result)
    assert len(lines) == 1, result.stderr
    for part in parts:
        assert part in lines[0]


def test_usage_errors_are_printed_once(folder):
    check_fault(run(3, "cluster", folder / "sheets.npy", "--nonsense", check=False), "--nonsense",
                code=2)
    check_fault(run(3, "cluster", folder / "sheets.npy", "-c", 5, "--report", folder / "a.html",
                    check=False), "--report", code=2)


def test_missing_file(folder):
    check_fault(run(3, "cluster", folder / "none.npy", check=False), "none.npy")


def test_missing_folder_of_the_output(folder):
    check_fault(run(3, "cluster", folder / "sheets.npy", "-o", folder / "none" / "l.csv",
                    check=False), "does not exist")


@pytest.mark.parametrize("row", [0, 1700, 2999])
def test_a_bad_value_on_one_process(folder, row):
    x = numpy.load(folder / "sheets.npy")
    x[row, 2] = numpy.nan
    numpy.save(folder / "nan.npy", x)
    output = folder / "nan-labels.npy"
    result = run(3, "cluster", folder / "nan.npy", "-c", 5, "-o", output, check=False)
    check_fault(result, "nan.npy", str(row + 1))
    assert not output.exists()


def test_a_short_file(folder):
    whole = (folder / "sheets.npy").read_bytes()
    (folder / "short.npy").write_bytes(whole[:-1000])
    check_fault(run(3, "cluster", folder / "short.npy", "-c", 5, check=False), "short.npy")


def test_methods_that_need_all_rows(folder):
    result = run(0, "methods", "--json")
    names = [method["name"] for method in json.loads(result.stdout)["methods"]]
    assert len(names) >= 13
    for name in names:
        if name not in ("kmeans", "sc", "ssc"):
            result = run(2, "cluster", folder / "sheets.npy", "-c", 5, "-m", name, check=False)
            check_fault(result, name, "kmeans, sc and ssc")


def test_memory_is_checked_on_every_process(folder):
    result = run(2, "cluster", folder / "sheets.npy", "-c", 5, "--memory", "3M", check=False)
    check_fault(result, "memory")


def start(folder, output, *words, engine="mpi"):
    """Start a long run and wait until it computes."""
    x, _ = make_sheets(60000, d=24, n_sheets=9)
    if words:  # one component, whose linear systems all processes solve together
        x = numpy.random.default_rng(0).uniform(size=(30000, 3)).astype(numpy.float32)
    numpy.save(folder / "long.npy", x)
    command = LAUNCHER + ["-n", "2", TOOL, "cluster", str(folder / "long.npy"), "-c", "9",
                          "--engine", engine, "-o", str(output), *words]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while len(workers(folder)) < 2 and time.time() < deadline:
        time.sleep(.05)
    time.sleep(1.5)
    return job


def workers(folder):
    """Process numbers of the tool that cluster this folder's long file."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.path.basename(words[0]) == b"huddle" and str(folder / "long.npy").encode() in words:
            found.append(int(entry.name))
    return found


def end_of(job, output, folder):
    """Wait for the end; nothing may be left behind."""
    began = time.time()
    stdout, stderr = job.communicate(timeout=60)
    assert time.time() - began < 20
    assert job.returncode != 0
    deadline = time.time() + 10
    while workers(folder) and time.time() < deadline:
        time.sleep(.1)
    assert not workers(folder)
    assert not output.exists()
    assert not list(output.parent.glob(output.name + "*"))
    return stderr


def test_a_killed_process_ends_the_job(folder):
    output = folder / "killed.npy"
    job = start(folder, output)
    os.kill(max(workers(folder)), signal.SIGKILL)
    end_of(job, output, folder)


def test_an_interrupt_ends_the_job(folder):
    output = folder / "interrupted.npy"
    job = start(folder, output)
    job.send_signal(signal.SIGINT)
    end_of(job, output, folder)


@pytest.mark.parametrize("solver", ["cholmod", "approximate"])
def test_a_process_that_is_asked_to_stop_stops_all(folder, solver):
    """SIGTERM to one process only, at several moments of systems that all solve together."""
    for k, wait in enumerate((.3, 1.2, 2.1)):
        output = folder / f"stopped-{k}.npy"
        job = start(folder, output, "--linear-solver", solver, "--prepare", "none", "--gap", "1e-9",
                    "--shrink-max-iter", "100000", engine=ALL)
        time.sleep(wait)
        os.kill(max(workers(folder)), signal.SIGTERM)
        stderr = end_of(job, output, folder)
        assert stderr.count("huddle: cancelled") == 1


def run_different(first, second, seconds=None):
    """Two processes with command lines of their own."""
    environment = dict(os.environ)
    if seconds is not None:
        environment["HUDDLE_MPI_START_SECONDS"] = str(seconds)
    command = LAUNCHER + ["-n", "1", TOOL, *map(str, first), ":", "-n", "1", TOOL, *map(str, second)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_process_without_mpi_is_noticed(folder, swapped):
    words = ["cluster", folder / "digits.npy", "-m", "kmeans", "-c", "3", "-q", "--engine", "mpi",
             "-o", folder / "never.npy"]
    commands = [words, ["info", folder / "digits.npy"]]
    result = run_different(*(commands[::-1] if swapped else commands), seconds=4)
    assert result.returncode == 1
    assert "huddle: waited too long for the other processes to start MPI" in result.stderr
    assert not (folder / "never.npy").exists()


@pytest.mark.parametrize("other, shown", [
    (["cluster", "-m", "kmeans", "-c", "4"], "huddle cluster -m kmeans n_clusters=4"),
    (["cluster", "-m", "sc", "-c", "3"], "huddle cluster -m sc n_clusters=3"),
    (["cluster", "-m", "kmeans", "-c", "3", "--save", "never"],
     "huddle cluster -m kmeans n_clusters=3 --save"),
    (["experiment"], "huddle experiment")])
def test_processes_with_different_commands_end(folder, other, shown):
    words = ["-q", "--engine", "mpi"]
    result = run_different(["cluster", folder / "digits.npy", "-m", "kmeans", "-c", "3", *words],
                           [*other[:1], folder / "digits.npy", *other[1:], *words])
    assert result.returncode == 1
    assert (f"processes run different commands: '{shown}', but process 0 "
            "'huddle cluster -m kmeans n_clusters=3' (process 1 of 2)") in result.stderr


def test_files_and_threads_may_differ(folder):
    words = ["-m", "kmeans", "-c", "3", "-q", "--engine", "mpi", "-o", folder / "same.npy"]
    (folder / "copy.npy").write_bytes((folder / "digits.npy").read_bytes())
    result = run_different(["cluster", folder / "digits.npy", *words],
                           ["cluster", folder / "copy.npy", *words, "--n-threads", "1"])
    assert result.returncode == 0, result.stderr
    assert len(numpy.load(folder / "same.npy")) == 1797


def test_a_mistake_in_one_of_two_command_lines_is_reported(folder):
    words = ["cluster", folder / "digits.npy", "-m", "kmeans", "-q", "--engine", "mpi"]
    result = run_different([*words, "-c", "3"], [*words, "-c", "0"])
    assert result.returncode == 2
    assert "huddle: n_clusters = 0: expected" in result.stderr
