"""The rows of the table: for each stage and case the job of Huddle, those of its peers, and the limit.

A limit is the time that the machine needs at least for the arithmetic of a stage (at the rate of the product
of float matrices) or for the numbers that it must move (at the rate of memory). It is a lower bound for a
method that does all of this work; a search that avoids distances can be faster than the limit of all pairs.
"""
import dataclasses
import importlib.util
import json
import pathlib
import re
import shutil
import sys
import zipfile

import cases
from cases import corpus, mnist70k, normal, sheets, usps
from measure import CPUS, HERE, ROOT, run
from peers import Peer, Peers, task_command, version
from store import Job, build_version

TOL = "1e-4"
STARTS = 10
UNLIMITED = 86400  # seconds for a run that is not measured


@dataclasses.dataclass
class Entry:
    """One row, or one row per peer."""
    ours: Job
    peers: list
    limit: object = None  # a function of Huddle's result: name of the limit and its seconds


class Plan:
    """All entries of a table. quick: small cases only, and no peer that is slow on them."""

    def __init__(self, peers: Peers, quick=False, build=ROOT / "build"):
        self.peers, self.quick, self.build = peers, quick, pathlib.Path(build)
        self.version = build_version(self.build)

    # ---- jobs --------------------------------------------------------------------------------------

    def task(self, stage, case, name, **values):
        """Huddle's part of a comparison, through its Python package."""
        return Job(stage, case, "huddle", self.version,
                   lambda: task_command(sys.executable, name, values), read_json, ours=True)

    def jobs(self, like, peers):
        """The jobs of the peers of one of Huddle's."""
        return [Job(like.stage, like.case, peer.name, f"{peer.package} {version(self.peers.python, peer.package)}",
                    lambda peer=peer: task_command(self.peers.python, peer.task, peer.values), read_json)
                for peer in peers]

    def fit(self, case):
        """The tool on the whole case."""
        def command():
            classes = case.classes()
            scored = ["--y", classes] if classes else ["--y", "none"]
            return [self.build / "huddle", "cluster", case.path(), "-c", case.clusters, *scored, "--json", "-q"]
        return Job("whole run", case.name, "huddle", self.version, command, read_fit, ours=True)

    def stage_command(self, case):
        """The tool, which writes A, F, W, labels and the model of the case to its folder. What other builds
        wrote is removed: it can be gigabytes."""
        folder = self.folder(case)
        for other in folder.parent.glob(f"{pathlib.Path(case.file).stem}-*"):
            if other != folder:
                shutil.rmtree(other)
        folder.mkdir(parents=True, exist_ok=True)
        return [self.build / "huddle", "cluster", case.path(), "-c", case.clusters, "--y", "none", "--json", "-q",
                "--save", folder / "model", "--dump", folder]

    def folder(self, case):
        return cases.FOLDER / "stages" / f"{pathlib.Path(case.file).stem}-{self.version.split()[1]}"

    def inputs(self, case, name):
        """A function that returns a file of that folder, and has it written if it does not exist."""
        def made():
            path = self.folder(case) / name
            if not path.exists():
                failure = run(self.stage_command(case), UNLIMITED)["failure"]
                (path.parent / "model").unlink(missing_ok=True)
                if failure:
                    raise OSError(f"{path.name} cannot be made, {failure}")
            return path
        return made

    def neighbours_of_rows(self, case):
        """W as a fit computes it: the seconds are in the model that the tool saves."""
        return Job("neighbours of F", case.name, "huddle", self.version, lambda: self.stage_command(case),
                   lambda _: read_model(self.folder(case) / "model"), ours=True)

    # ---- entries -----------------------------------------------------------------------------------

    def reading(self, kind, megabytes):
        reader = script("io")
        make = {"csv": lambda path: reader.make_csv(path, megabytes, 6),
                "npy": lambda path: reader.make_npy(path, megabytes)}[kind]

        def made():
            return cases.made_once(cases.FOLDER / f"read{megabytes}.{kind}", make)
        ours = Job("reading", f"{kind.upper()} {megabytes} MB", "huddle", self.version,
                   lambda: [self.build / "bench" / "bench_io", made(), "runs=1"], read_numbers, ours=True)
        peer = {"csv": Peer("pandas", "pandas", "read_pandas", {"path": made}),
                "npy": Peer("numpy.load", "numpy", "read_numpy", {"path": made})}[kind]
        return Entry(ours, self.jobs(ours, [peer]), lambda r, m: ("memory", 2e6 * megabytes / m["bandwidth"]))

    def preparation(self, case, r=40):
        values = {"x": case.path, "r": r}
        ours = self.task("preparation", f"PCA to {r}, {case.name}", "pca_huddle", **values)
        peers = [Peer("scikit-learn", "scikit-learn", "pca_sklearn", {**values, "solver": "auto"})]
        return Entry(ours, self.jobs(ours, peers), lambda r, m: ("GEMM", case.n * case.d ** 2 / m["gemm"]))

    def neighbours(self, case, k):
        ours = self.task("neighbours", f"{case.name}, k = {k}", "knn_huddle", x=case.path, k=k)
        return Entry(ours, self.jobs(ours, self.peers.neighbours(case.path, k, case.n, case.d)),
                     lambda r, m: ("GEMM", case.n ** 2 * case.d / m["gemm"]))

    def rows(self, case):
        """Neighbours of F within a fit."""
        ours = self.neighbours_of_rows(case)
        peers = self.peers.neighbours(self.inputs(case, "F.npy"), 5, case.n, case.clusters)
        return Entry(ours, self.jobs(ours, peers),
                     lambda r, m: ("GEMM", case.n ** 2 * case.clusters / m["gemm"]))

    def embedding(self, case):
        a, c = self.inputs(case, "A.npz"), case.clusters
        ours = self.task("embedding", f"{case.name}, {c} vectors", "embed_huddle", a=a, c=c, tol=TOL)
        peers = () if self.quick else self.peers.embedding(a, c, TOL)
        # A product of the filter reads two vectors and writes one, float; the graph is read once per c.
        return Entry(ours, self.jobs(ours, peers), lambda r, m: (
            "memory", r["products"] * (12 * case.n + 8 * r["entries"] / c) / m["bandwidth"]))

    def shrinking(self, case):
        values = {"f": self.inputs(case, "F.npy"), "w": self.inputs(case, "W.npz")}
        ours = self.task("shrink", case.name, "shrink_huddle", **values, solver="auto")
        unaccelerated = self.task("shrink", case.name, "shrink_huddle", **values, solver="reweighted")
        unaccelerated.name, unaccelerated.ours = "without acceleration", False
        # Every iteration reads F, writes G and reads the ends of every edge.
        return Entry(ours, [] if self.quick else [unaccelerated], lambda r, m: (
            "memory", r["iterations"] * 8 * (3 * case.n * case.clusters + r["entries"]) / m["bandwidth"]))

    def kmeans(self, case):
        c = case.clusters
        values = {"x": self.inputs(case, "F.npy"), "c": c, "starts": STARTS}
        ours = self.task("K-means", f"rows of F, {case.name}", "kmeans_huddle", **values)
        peers = [Peer("scikit-learn", "scikit-learn", "kmeans_sklearn", values)]
        return Entry(ours, self.jobs(ours, peers), lambda r, m: (
            "GEMM", 2 * STARTS * r["iterations"] * case.n * c ** 2 / m["gemm"]))

    def refinement(self, case):
        a, labels = self.inputs(case, "A.npz"), self.inputs(case, "labels.npy")
        ours = self.task("refinement", case.name, "refine_huddle", a=a, labels=labels)
        peers = [Peer("scikit-learn Ward", "scikit-learn", "refine_ward", {"a": a, "x": case.path, "c": case.clusters})]
        return Entry(ours, self.jobs(ours, peers),
                     lambda r, m: ("memory", r["sweeps"] * 12 * r["entries"] / m["bandwidth"]))

    def whole(self, case, compare=True):
        ours = self.fit(case)
        peers = self.peers.whole(case.path, case.clusters, lambda: case.classes() or "") if compare else ()
        return Entry(ours, self.jobs(ours, peers), lambda r, m: (f"{CPUS} CPUs", r["cpu"] / CPUS))

    def sizes(self):
        return (1000, 3000, 10_000, 30_000) if self.quick else (
            1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

    def stage_entries(self, case):
        """The stages after the graph, each alone on what a fit of the case wrote."""
        yield self.rows(case)
        yield self.embedding(case)
        yield self.shrinking(case)
        yield self.kmeans(case)
        yield self.refinement(case)

    def entries(self):
        if self.quick:
            yield self.reading("csv", 20)
            yield self.reading("npy", 100)
            yield self.preparation(usps())
            yield self.neighbours(usps(), 5)
            yield self.neighbours(sheets(30_000), 10)
            yield from self.stage_entries(sheets(10_000))
            for n in self.sizes():
                yield self.whole(sheets(n), compare=n == 3000)
            return
        yield self.reading("csv", 200)
        yield self.reading("npy", 1000)
        yield self.preparation(mnist70k())
        yield self.neighbours(usps(), 5)
        yield self.neighbours(mnist70k(), 5)
        for n in (100_000, 1_000_000):
            yield self.neighbours(sheets(n), 10)
        yield from self.stage_entries(sheets(100_000))
        for n in self.sizes():
            yield self.whole(sheets(n), compare=n in (10_000, 100_000, 1_000_000))
        yield self.rows(sheets(1_000_000))
        yield self.shrinking(sheets(1_000_000))
        yield self.embedding(sheets(1_000_000))
        yield self.whole(mnist70k())
        yield self.whole(normal(1_000_000), compare=False)
        yield self.whole(corpus())


# ---- reading what a program printed ------------------------------------------------------------------


def script(name):
    """A script of this folder as a module; io.py has the name of a standard module."""
    spec = importlib.util.spec_from_file_location(f"bench_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_json(result):
    return json.loads(result["output"].splitlines()[-1])


def read_numbers(result):
    """The line of bench_io."""
    found = dict(re.findall(r"(wall|cpu) ([\d.]+)", result["output"]))
    return {"seconds": float(found["wall"]), "work_cpu": float(found["cpu"])}


def read_fit(result):
    """What the tool reports; the seconds are those of the process, with reading and printing."""
    report = json.loads(result["output"])
    stages = {k: v for k, v in report["seconds"].items() if k not in ("total", "other")}
    found = {"seconds": result["wall"], "work_cpu": result["cpu"], "stages": stages,
             "recall": report["graph"].get("recall"), "solver": report["graph"].get("solver")}
    found["stages"]["other"] = max(0., result["wall"] - sum(stages.values()))
    if "shrink" in report:
        found["gap"] = report["shrink"]["gap"]
    if "scores" in report:
        found["ari"] = report["scores"]["ari"]
    return found


def read_model(path):
    """The seconds of the neighbours of F. The file is no longer needed and can be large."""
    with zipfile.ZipFile(path) as archive:
        values = json.loads(archive.read("model.json"))["values"]
    path.unlink()
    return {"seconds": values["shrink_graph_knn_seconds"], "recall": values["shrink_graph_recall"],
            "solver": values["shrink_graph_solver"]}
