#!/usr/bin/python3
"""The published iteration beside the solvers of Huddle, on F and W of data sets in $HUDDLE_DATA.

    HUDDLE_DATA=... bench/published.py [ORL UMIST ...]

gamma = 1, and F and W twice: to the letter (one delta, rows as they are) and with Huddle's choices
(self-tuned weights of A, unit rows). Counts the steps, of 300 from a random start, in which the objective
rises, over unordered pairs and as the double sum that the paper prints, for `published` and for `printed`;
how far the objective is above the optimum after 10 steps and after all; and the time until it is within
1e-4 and 1e-6 of the optimum, beside `reweighted` (irls without acceleration) and the default. Each step is
a call of its own that starts at the G before it, so that G is known after every step. A time is the
smallest of three runs.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.sparse import csc_matrix, diags, load_npz, triu
from scipy.sparse.linalg import splu

from measure import ROOT

sys.path.insert(0, str(ROOT / "python"))
from huddle import shrink  # noqa: E402

STEPS, GAMMA = 300, 1.0
MANY = 5000  # rows from which one run is timed instead of three, and SciPy's sparse LU stands for `printed`
SHARES = 1e-4, 1e-6
GRAPHS = {"letter": ["--preset", "published"],
          "ours": ["--prepare", "none", "--scale", "selftune", "--rows", "unit"]}
SPARSE_STEPS = 20  # of SciPy's LU, which takes seconds
FILES = {"USPS": ["USPS.h5", "--x", "train/data", "--x", "test/data", "-c", "10"]}
HUDDLE = os.environ.get("HUDDLE", str(ROOT / "build" / "huddle"))


def embed(data, name, words):
    """F and W of a data set."""
    file, *more = FILES.get(name, [f"{name}.mat"])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([HUDDLE, "cluster", str(data / file), *more, "-m", "ssc", *words, "--n-init", "1",
                        "--refine", "none", "--shrink-max-iter", "1", "-q", "--dump", folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return np.load(f"{folder}/F.npy"), load_npz(f"{folder}/W.npz").tocsr()


def objectives(F, W, G):
    """Over unordered pairs, and with the double sum, which has every pair twice."""
    pairs = triu(W).tocoo()
    loss = np.linalg.norm(G - F, axis=1).sum()
    pull = GAMMA * (pairs.data * np.linalg.norm(G[pairs.row] - G[pairs.col], axis=1)).sum()
    return loss + pull, loss + 2 * pull


def printed_by_scipy(F, W, G):
    """Objectives of the printed algorithm, whose matrix is dense in Huddle, until they change by less than 1e-8."""
    pairs, values = triu(W).tocoo(), [np.inf]
    length = np.linalg.norm(G[pairs.row] - G[pairs.col], axis=1)
    half = csc_matrix((GAMMA * pairs.data / (2 * np.maximum(length, 1e-12)), (pairs.row, pairs.col)), W.shape)
    while len(values) <= SPARSE_STEPS:
        s = 1 / (2 * np.maximum(np.linalg.norm(G - F, axis=1), 1e-12))
        G = splu((diags(s) + half + half.T).tocsc(), permc_spec="MMD_AT_PLUS_A").solve(s[:, None] * F)
        values.append(objectives(F, W, G)[0])
        if abs(values[-2] - values[-1]) <= 1e-8 * values[-1]:
            break
    return np.array(values[1:])


def rises(F, W, solver, seed):
    """The number of steps in which either objective rises, and the objective over pairs in every step."""
    G = np.random.default_rng(seed).standard_normal(F.shape)
    if solver == "printed" and len(F) > MANY:
        values = printed_by_scipy(F, W, G)
        return (np.diff(values) > 0).sum(), None, values
    if solver == "printed":  # its W~ belongs to G_0, so that its steps cannot be calls of their own
        result = shrink(F, W, GAMMA, solver=solver, start=G, shrink_max_iter=STEPS, shrink_tol=0)
        values = result.history[:, 0]
        return (np.diff(values) > 0).sum(), None, values
    values = [objectives(F, W, G)]
    for _ in range(STEPS):
        G = shrink(F, W, GAMMA, solver=solver, start=G, shrink_max_iter=1, shrink_tol=0).G
        values.append(objectives(F, W, G))
    rising = (np.diff(np.array(values), axis=0) > 0).sum(axis=0)
    return *rising, np.array(values)[1:, 0]


def seconds_to(F, W, optimum, **options):
    """Steps and seconds until the objective is within each of the shares of the optimum."""
    best = [(0, np.inf) for _ in SHARES]
    for _ in range(3 if len(F) < MANY else 1):
        history = shrink(F, W, GAMMA, **options).history
        for k, share in enumerate(SHARES):
            reached = np.flatnonzero(history[:, 0] <= optimum * (1 + share))
            if len(reached):
                best[k] = min(best[k], (reached[0] + 1, history[reached[0], 2]), key=lambda pair: pair[1])
    return best


def table(title, head, rows):
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def main():
    data = pathlib.Path(os.environ.get("HUDDLE_DATA", "."))
    descent, excess, times = [], [], []
    for name in sys.argv[1:] or ["ORL", "UMIST"]:
        for kind, words in GRAPHS.items():
            F, W = embed(data, name, words)
            optimum = shrink(F, W, GAMMA, gap=1e-9, snap=False).objective
            case = f"{name}, {kind}"
            pairs, double, values = rises(F, W, "published", 0)
            printed, _, wild = rises(F, W, "printed", 0)
            descent.append([case, f"{optimum:.4f}", f"{values[-1]:.4f}", f"{pairs} of {STEPS}",
                            f"{double} of {STEPS}", f"{printed} of {len(wild)}", f"{wild[-1]:.2f}"])
            runs = {"published": {"solver": "published", "shrink_tol": 0, "shrink_max_iter": 3000},
                    "reweighted": {"solver": "reweighted", "gap": 1e-9, "snap": False, "shrink_max_iter": 3000},
                    "default": {"gap": 1e-9, "snap": False}}
            tenth = [100 * (shrink(F, W, GAMMA, **run).history[9, 0] / optimum - 1) for run in runs.values()]
            excess.append([case, *(f"{value:.2f} %" for value in tenth)])
            row, times_of = [case], [seconds_to(F, W, optimum, **run) for run in runs.values()]
            for found in zip(*times_of):
                row += [f"{steps}: {seconds:.3f} s" if np.isfinite(seconds) else "not reached"
                        for steps, seconds in found]
                row.append(f"{found[0][1] / found[2][1]:.1f}")
            times.append(row)
    table("Steps in which the objective rises", ["data", "optimum", "published, at the end", "pairs", "double sum",
                                                 "printed", "printed, at the end"], descent)
    table("Above the optimum after 10 steps", ["data", "published", "reweighted", "default"], excess)
    head = [f"{solver}, {share:.0e}" for share in SHARES for solver in
            ("published", "reweighted", "default", "ratio")]
    table("Steps and seconds to within a share of the optimum", ["data", *head], times)


if __name__ == "__main__":
    main()
