#!/usr/bin/python3
"""Is the l2,1 loss of the shrinking robust to outliers, and is the squared loss not?

    bench/robustness.py [digits ORL UMIST ...]     data sets other than digits from $HUDDLE_DATA

A growing share of the data is spoilt, with a seed for each draw, in two ways:

    points   points are replaced by uniform ones in the box of the data, before anything is computed
    rows     rows of F are replaced by normal ones of ten times their length, after the graph W is known;
             this is the term that the loss measures, and nothing else

Graphs and rows are to the letter (5 neighbours, one delta, F as it is). For each loss the shrinking is
solved to a certified gap of 1e-4 for every gamma of a grid in powers of ten, which covers both losses
(their gammas have different units), and followed by K-means. Scored are the classes of the points that
were not spoilt, and the best gamma counts, chosen for each loss, share and draw by the labels: each loss
at its best. A second table has the gamma that was best without outliers.

The verdict is on the shares at which either loss loses at least one point of ACC, in the mean over draws:
"confirmed" if at all of them the squared loss loses more than the l2,1 loss, by at least one point and two
standard errors of the paired difference; "contradicted" if it loses less by as much at all; otherwise "not
reproduced", and "not tested" if there are none.
"""
import os
import pathlib
import sys

import numpy as np

from measure import ROOT

sys.path.insert(0, str(ROOT / "python"))
import quality_data  # noqa: E402
from huddle import KMeans, datasets, knn_graph, shrink, spectral_embedding  # noqa: E402
from huddle.metrics import accuracy  # noqa: E402

SHARES = 0, .05, .1, .2, .3
DRAWS = int(os.environ.get("HUDDLE_DRAWS", "5"))
GAMMAS = 10.0 ** np.arange(-5, 5)
LOSSES = "l21", "l2"
POINT = .01  # of ACC: less is no difference
LENGTH = 10  # of a spoilt row of F, in lengths of a row


def read(name):
    """Points and classes, the latter numbered from 0."""
    if name == "digits":
        X, y = datasets.load_digits()
    else:
        how = quality_data.READ.get(name, {})
        file = pathlib.Path(os.environ["HUDDLE_DATA"]) / quality_data.IMAGES[name]
        X, y = datasets.load_file(str(file), **how)
    return np.asarray(X, np.float32), np.unique(y, return_inverse=True)[1]


def spoil(X, c, kind, share, seed):
    """F and W of spoilt data, and which of the points are as they were."""
    random = np.random.default_rng([seed, int(1000 * share)])
    bad = random.permutation(len(X))[:round(share * len(X))]
    good = np.ones(len(X), bool)
    good[bad] = False
    if kind == "points":
        X = X.copy()
        X[bad] = random.uniform(X.min(axis=0), X.max(axis=0), (len(bad), X.shape[1]))
    F = spectral_embedding(knn_graph(X, 5, scale="mean"), c, rows="sym")
    W = knn_graph(F, 5, scale="mean")
    if kind == "rows":
        F = F.copy()
        length = LENGTH * np.sqrt((F * F).sum(axis=1).mean() / c)
        F[bad] = length * random.standard_normal((len(bad), c))
    return F, W, good


def score(X, y, kind, share, seed):
    """ACC of the points that are not spoilt, for both losses and every gamma."""
    c = y.max() + 1
    F, W, good = spoil(X, c, kind, share, seed)
    table = np.empty((len(LOSSES), len(GAMMAS)))
    for i, loss in enumerate(LOSSES):
        for j, gamma in enumerate(GAMMAS):
            G = shrink(F, W, gamma, loss=loss).G
            labels = KMeans(n_clusters=c, n_init=10, random_state=seed).fit_predict(G)
            table[i, j] = accuracy(y[good], labels[good])
    return table


def judge(lost):
    """The verdict on ACC lost: shares x draws x losses."""
    lost = lost[(lost.mean(axis=1) >= POINT).any(axis=1)]
    if len(lost) == 0:
        return "not tested"
    difference = lost[:, :, 1] - lost[:, :, 0]
    mean, error = difference.mean(axis=1), difference.std(axis=1, ddof=1) / np.sqrt(difference.shape[1])
    least = np.maximum(2 * error, POINT)
    if (mean >= least).all():
        return "confirmed"
    return "contradicted" if (mean <= -least).all() else "not reproduced"


def print_table(title, acc):
    """One line per share: ACC of both losses, and what each has lost since share 0. acc: shares x draws x 2."""
    lost = acc[:1] - acc
    print(f"\n{title}\n\n| outliers | l2,1 | squared | l2,1 loses | squared loses | difference |")
    print("|---|---|---|---|---|---|")
    for k, share in enumerate(SHARES):
        pairs = lost[k, :, 1] - lost[k, :, 0]
        error = pairs.std(ddof=1) / np.sqrt(DRAWS)
        print(f"| {share:.0%} | " + " | ".join(f"{value:.3f}" for value in acc[k].mean(axis=0)) + " | "
              + " | ".join(f"{value:+.3f}" for value in lost[k].mean(axis=0))
              + f" | {pairs.mean():+.3f} ± {error:.3f} |")
    print(f"\nVerdict: {judge(lost[1:])}", flush=True)


def main():
    for name in sys.argv[1:] or ["digits"]:
        X, y = read(name)
        for kind in "points", "rows":
            table = np.array([[score(X, y, kind, share, seed) for seed in range(DRAWS)] for share in SHARES])
            best = table[0].mean(axis=0).argmax(axis=1)  # for each loss, without outliers
            fixed = np.stack([table[:, :, i, best[i]] for i in range(len(LOSSES))], axis=2)
            print_table(f"{name}, spoilt {kind}: the best gamma for each loss, share and draw", table.max(axis=3))
            chosen = " and ".join(f"{GAMMAS[b]:g}" for b in best)
            print_table(f"{name}, spoilt {kind}: gamma as without outliers, {chosen}", fixed)


if __name__ == "__main__":
    main()
