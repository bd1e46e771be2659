#!/usr/bin/python3
"""The quality of labels, and what it costs: Huddle's default beside other builds and other software.

    bench/quality.py [--only images,tables,shapes,imbalance,synthetic,auto,time] [--seeds 5] [--peers]
                     [--library [LABEL=]PATH]... [--out FILE.json] [--markdown FILE.md]

Prints Markdown tables. The first --library (a build folder or libhuddle.so; default build/ of this
tree) is the one under test, the last one is the reference it is compared with. No method sees classes;
all but `auto` and HDBSCAN are given the number of clusters. Without $HUDDLE_DATA only the digits,
scikit-learn's sets and generated points are used.

Scores are means over seeds, or over draws of the data for `imbalance` and `synthetic`, where the seed
is the number of the draw. ACC matches clusters to classes one to one. --peers adds scikit-learn's
SpectralClustering (10 neighbours), UMAP (10 dimensions, min_dist 0, 15 neighbours) with K-means, and
HDBSCAN (min_cluster_size 5, its default, and n/(10c), which knows the number of clusters; noise counts
as one more cluster), one seed each. They run in a virtual environment, build/bench-venv, made with pip
on first use, or the one --venv names. A fit that fails or exceeds --timeout is reported as such.

Every result is appended to results.jsonl in --cache (default build/quality) as soon as it is known,
under the contents of the library and of the data: a second run computes only what is missing, and one
that was interrupted continues. --retry repeats fits that failed.
"""
import argparse
import hashlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]  # the helpers beside this file

import quality_data  # noqa: E402
import quality_fit  # noqa: E402
import quality_tables  # noqa: E402

SECTIONS = ["images", "tables", "shapes", "imbalance", "synthetic", "auto", "time"]
GROUPS = {"images": ["images"], "tables": ["tables", "bundled"], "shapes": ["shapes"],
          "imbalance": ["imbalance"], "synthetic": ["synthetic"]}
SIMPLE = ["K-means", "K-means standardised", "sc raw", "ssc raw"]  # the oracle is the best of these
METHODS = {"images": ["ssc", "ssc, refine none", "sc"], "tables": ["ssc", "ssc, refine none"] + SIMPLE,
           "shapes": ["ssc", "ssc, refine none"] + SIMPLE, "imbalance": ["ssc"], "synthetic": ["ssc", "ssc raw"],
           "auto": ["ssc"], "time": ["ssc", "ssc raw"]}
AUTO_CASES = {"auto/8 blobs with a small group", "synthetic/moons", "synthetic/rings", "bundled/iris"}
TIME_REPEATS = 3        # the smallest is taken
TIME_ENOUGH = 60.0      # seconds of a fit that is not repeated
PEER_SEEDS = 1
POLL = 2.0              # seconds between looks at the time of a fit


class Worker:
    """A process that fits: one library, or the other software. Restarted after a time-out or a crash."""

    def __init__(self, python, environment, folder):
        self.python, self.folder, self.process = python, folder, None
        self.environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
                                NUMBA_NUM_THREADS="1", **environment)

    def ask(self, job, timeout):
        if self.process is None:
            self.process = subprocess.Popen([self.python, str(HERE / "quality_fit.py")], text=True,
                                            env=self.environment, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        began = self.cpu_seconds()
        while not select.select([self.process.stdout], [], [], POLL)[0]:
            if self.cpu_seconds() - began > timeout:
                self.stop()
                return dict(error=f"no result after {timeout:g} CPU seconds")
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.process = None
            return dict(error=f"the process ended with code {code}")
        return json.loads(line)

    def cpu_seconds(self):
        """CPU time of the process: unlike wall time it does not depend on what else the machine does."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def fit(self, points, c, seed, threads, method, timeout):
        labels = self.folder / f"labels-{os.getpid()}.npy"
        answer = self.ask(dict(points=str(points), c=c, seed=seed, threads=threads, method=method,
                               labels=str(labels)), timeout)
        return answer, None if "error" in answer else np.load(labels)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Library:
    """A build of Huddle with the Python package beside it, copied so that a rebuild cannot mix in."""

    def __init__(self, text, cache):
        label, found, path = text.rpartition("=")
        path = pathlib.Path(path).resolve()
        file = path / "libhuddle.so" if path.is_dir() else path
        package = file.parent.parent / "python"
        if not (package / "huddle").is_dir():
            package = HERE.parent / "python"
        content = hashlib.sha256(file.read_bytes())
        for source in sorted((package / "huddle").glob("*.py")):
            content.update(source.read_bytes())
        self.id, self.label = content.hexdigest()[:12], label if found else "this build"
        self.package, self.file = cache / "libraries" / self.id, cache / "libraries" / self.id / file.name
        if not self.file.exists():
            part = self.package.with_suffix(f".{os.getpid()}")
            shutil.copytree(package / "huddle", part / "huddle", ignore=shutil.ignore_patterns("__pycache__"))
            for library in file.parent.glob("libhuddle*.so*"):
                shutil.copy(library, part / library.name)
            part.rename(self.package)
        self.worker = Worker(sys.executable, dict(HUDDLE_LIBRARY=str(self.file),
                                                  PYTHONPATH=str(self.package)), cache)
        answer = self.worker.ask(dict(ask="refines"), 60)
        if "error" in answer:
            sys.exit(f"{file}: {answer['error']}")
        self.refines = answer["refines"]


class Peers:
    """Other software in its own virtual environment."""

    def __init__(self, venv, cache):
        python = pathlib.Path(venv) / "bin" / "python"
        if not python.exists():
            print(f"making {venv} with umap-learn ...", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=False)
            subprocess.run([str(python), "-m", "pip", "install", "-q", "umap-learn"], check=False)
        version = subprocess.run([str(python), "-c", "import umap, sklearn; from sklearn.cluster import HDBSCAN;"
                                  "print(f'umap {umap.__version__}, scikit-learn {sklearn.__version__}')"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if version.returncode:
            sys.exit(f"{venv}: umap-learn and scikit-learn 1.3 or newer are needed\n{version.stderr}")
        self.id = self.label = version.stdout.strip()
        self.worker = Worker(str(python), {}, cache)


class Results:
    """Every result so far, appended to a file at once; keys name library, data, method and seed."""

    def __init__(self, cache, retry):
        self.path = cache / "results.jsonl"
        self.known = {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                record = json.loads(line)
            except ValueError:  # a line cut off by a crash
                continue
            if not (retry and "error" in record):
                self.known[self.key(record)] = record

    @staticmethod
    def key(record):
        return tuple(record[k] for k in ("library", "section", "case", "draw", "data", "method", "seed"))

    def add(self, record):
        self.known[self.key(record)] = record
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def scores(y, labels):
    """ACC (each cluster is matched to at most one class), NMI (arithmetic mean) and ARI."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix
    counts = contingency_matrix(y, labels)
    rows, columns = linear_sum_assignment(-counts)
    return dict(acc=counts[rows, columns].sum() / len(y), nmi=normalized_mutual_info_score(y, labels),
                ari=adjusted_rand_score(y, labels))


class Data:
    """One draw of a case, written where the workers read it."""

    def __init__(self, case, draw, cache):
        X, y = case.load(draw)
        self.X = np.ascontiguousarray(X, np.float32)
        self.y = None if y is None else np.unique(y, return_inverse=True)[1].ravel()
        self.c = quality_data.NOISE_CLUSTERS if y is None else int(self.y.max()) + 1
        self.id = f"{zlib.crc32(self.X):08x}"
        self.path = cache / "points" / f"{self.id}.npy"
        if not self.path.exists():
            self.path.parent.mkdir(exist_ok=True)
            part = self.path.with_suffix(f".{os.getpid()}.npy")
            np.save(part, self.X)
            part.rename(self.path)


def sections_of(case, only):
    """The sections that a case belongs to."""
    for section, groups in GROUPS.items():
        if section in only and case.group in groups:
            yield section
    if "auto" in only and (case.group == "images" or str(case) in AUTO_CASES):
        yield "auto"
    if "time" in only and case.group in ("images", "time"):
        yield "time"


def jobs(case, section, libraries, peers, given):
    """(who, method, seeds) of a case in a section."""
    one_each = case.draws > 1  # the seed is the draw's number
    seeds = None if one_each else given.seeds
    for library in libraries:
        for method in METHODS[section]:
            if section in ("tables", "shapes", "synthetic") and method in SIMPLE and library is not libraries[-1]:
                continue  # the same in every build
            if library.refines or "refine none" not in method:
                yield library, method, 1 if section == "time" else seeds
    if peers and section not in ("imbalance", "auto", "time"):
        for method in quality_fit.PEERS:
            yield peers, method, None if one_each else PEER_SEEDS


def measure(record, who, data, given):
    """Fits and adds to the record what came out."""
    section, c = record["section"], "auto" if record["section"] == "auto" else data.c
    for repeat in range(TIME_REPEATS if section == "time" else 1):
        answer, labels = who.worker.fit(data.path, c, record["seed"], given.threads, record["method"],
                                        given.timeout)
        if "error" in answer:
            return dict(record, error=answer["error"])
        if answer["cpu"] < record.get("cpu", np.inf):
            record.update(answer)
        if answer["wall"] > TIME_ENOUGH:
            break
    sizes = np.unique(labels, return_counts=True)[1]
    record.update(found=len(sizes), sizes=sorted(sizes.tolist(), reverse=True)[:50])
    if data.y is not None:
        record.update(scores(data.y, labels))
    return record


def run_case(case, libraries, peers, results, given):
    """Computes what is missing of one case; returns all of its records."""
    wanted = [(section, job) for section in sections_of(case, given.only)
              for job in jobs(case, section, libraries, peers, given)]
    records = []
    for draw in range(case.draws) if wanted else ():
        data = Data(case, draw, given.cache)
        for section, (who, method, seeds) in wanted:
            for seed in [draw] if seeds is None else range(seeds):
                record = dict(library=who.id, section=section, case=str(case), draw=draw, data=data.id,
                              method=method, seed=seed, n=len(data.X), d=data.X.shape[1],
                              c=None if data.y is None else data.c)
                key = results.key(record)
                if key not in results.known:
                    results.add(measure(record, who, data, given))
                    done = results.known[key]
                    print(f"{who.label}: {section} {case.name} {draw} {method} {seed}: " + done.get(
                        "error", "ACC {acc:.3f} ARI {ari:.3f}".format(**done) if "acc" in done else "done"),
                        file=sys.stderr, flush=True)
                records.append(dict(results.known[key], label=who.label))
    return records


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--cases", help="only cases whose name contains one of these, separated by commas")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="other software too")
    parser.add_argument("--library", action="append", metavar="[LABEL=]PATH")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1800, help="CPU seconds allowed to one fit")
    parser.add_argument("--venv", default=HERE.parent / "build" / "bench-venv")
    parser.add_argument("--cache", type=pathlib.Path, default=HERE.parent / "build" / "quality")
    parser.add_argument("--retry", action="store_true", help="repeat fits that failed before")
    parser.add_argument("--out", type=pathlib.Path, help="write the records as JSON")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables to a file too")
    given = parser.parse_args()
    given.only = given.only.split(",")
    unknown = set(given.only) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {sorted(unknown)[0]}; there are {', '.join(SECTIONS)}")
    given.cache.mkdir(parents=True, exist_ok=True)
    return given


def main():
    given = arguments()
    libraries = [Library(text, given.cache) for text in given.library or [str(HERE.parent / "build")]]
    peers = Peers(given.venv, given.cache) if given.peers else None
    # The digits and the files are read by the first library, in this process.
    os.environ["HUDDLE_LIBRARY"] = str(libraries[0].file)
    sys.path[:0] = [str(libraries[0].package)]
    results, records = Results(given.cache, given.retry), []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for case in quality_data.cases(os.environ.get("HUDDLE_DATA"), str(given.cache)):
            if not given.cases or any(part in str(case) for part in given.cases.split(",")):
                records += run_case(case, libraries, peers, results, given)
    except KeyboardInterrupt:
        print("interrupted: the tables show what is known so far", file=sys.stderr)
    finally:
        for who in libraries + [peers] * bool(peers):
            who.worker.stop()
    text = quality_tables.markdown(records, [library.label for library in libraries],
                                   peers.label if peers else None, SIMPLE)
    print(text)
    if given.markdown:
        given.markdown.write_text(text + "\n", encoding="utf-8")
    if given.out:
        held = dict(libraries={library.label: library.id for library in libraries},
                    peers=peers.label if peers else None, records=records)
        given.out.write_text(json.dumps(held, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
