#!/usr/bin/python3
"""Which rule chooses the preparation best without labels? A study, not a benchmark of speed.

Every preparation is tried on every data set of $HUDDLE_DATA and on the embedded digits. A rule uses
only what is known without labels; its regret is the accuracy lost against the best preparation. Rules
with a parameter are evaluated by leaving one data set out: the parameter is chosen on the others. The
effects of `connect=small` and of an entropy guard on gamma are measured too.
"""
import os
import pathlib
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import huddle  # noqa: E402
from huddle.datasets import load_digits, load_file  # noqa: E402
from huddle.metrics import accuracy  # noqa: E402

warnings.simplefilter("ignore")
RULES = ["none", "unit", "center-rows", "center-columns", "pca:20", "pca:40", "whiten:20",
         "whiten:40", "whiten:80", "whiten:150"]
SETS = {"ORL": {}, "UMIST": {}, "YaleB": {}, "MNIST10k": {}, "PenDigits": {},
        "BinAlpha36": dict(classes="11-36", per_class=30),
        "USPS": dict(x=["train/data", "test/data"], y=["train/target", "test/target"])}


def data_sets():
    yield "digits", *load_digits()
    folder = os.environ.get("HUDDLE_DATA")
    for name, options in SETS.items() if folder else ():
        for path in sorted(pathlib.Path(folder).glob(name + ".*")):
            yield name, *load_file(path, **options)


def modularity(graph, labels):
    strength = np.asarray(graph.sum(1)).ravel()
    total = strength.sum()
    inside = sum(graph[labels == k][:, labels == k].sum() for k in np.unique(labels))
    return inside / total - sum((strength[labels == k].sum() / total) ** 2
                                for k in np.unique(labels))


def ncut(graph, labels):
    strength = np.asarray(graph.sum(1)).ravel()
    return sum(1 - graph[labels == k][:, labels == k].sum() / max(strength[labels == k].sum(), 1e-300)
               for k in np.unique(labels))


def divergence(graph, labels):
    """J, by which refined labels choose the preparation (docs/method.md, section 7)."""
    strength = np.asarray(graph.sum(1)).ravel()
    total = strength.sum()
    f = sum(graph[labels == k][:, labels == k].sum() for k in np.unique(labels)) / total
    s = sum((strength[labels == k].sum() / total) ** 2 for k in np.unique(labels))
    return f * np.log(f / s) + ((1 - f) * np.log((1 - f) / (1 - s)) if f < 1 else 0)


def entropy(labels, c):
    share = np.bincount(labels, minlength=c) / len(labels)
    share = share[share > 0]
    return -(share * np.log(share)).sum() / np.log(c)


def measure(X, y):
    """One row per preparation: what is known without labels, and the accuracies."""
    c, rows = len(np.unique(y)), {}
    for rule in RULES:
        if ":" in rule and int(rule.split(":")[1]) > min(X.shape):
            continue
        row = {}
        for connect in ("auto", "small"):
            sc = huddle.SpectralClustering(c, prepare=rule, n_init=20, connect=connect).fit(X)
            ssc = huddle.SpectralShrunkClustering(c, prepare=rule, n_init=20, connect=connect).fit(X)
            kept = entropy(ssc.labels_, c) >= entropy(sc.labels_, c) - .1
            suffix = "" if connect == "auto" else "/small"
            row["sc" + suffix] = accuracy(y, sc.labels_)
            row["ssc" + suffix] = accuracy(y, ssc.labels_)
            row["guard" + suffix] = row["ssc" + suffix] if kept else row["sc" + suffix]
            if connect == "auto":
                row["Q"] = modularity(sc.affinity_matrix_, sc.labels_)
                row["J"] = divergence(sc.affinity_matrix_, sc.labels_)
                row["J of ssc"] = divergence(ssc.affinity_matrix_, ssc.labels_)
                row["Q of ssc"] = modularity(ssc.affinity_matrix_, ssc.labels_)
                row["ncut"] = -ncut(sc.affinity_matrix_, sc.labels_)
                row["inertia"] = -sc.inertia_ / len(X)
                row["eigengap"] = sc.info_["embed"]["gap"] or 0
                row["entropy"] = entropy(sc.labels_, c)
        rows[rule] = row
    return rows


def regret(table, score, target):
    """Accuracy lost on each data set by the rule that chooses the largest score."""
    lost = {}
    for name, rows in table.items():
        best = max(rows.values(), key=lambda row: row[target])[target]
        lost[name] = best - max(rows.values(), key=score)[target]
    return lost


def mixed_regret(table, parts, weights, target):
    """The same for Q + weight * part, the weight chosen on the other data sets."""
    lost = {}
    for name in table:
        others = {other: rows for other, rows in table.items() if other != name}

        def loss(weight):
            return sum(regret(others, lambda r: r["Q"] + weight * r[parts], target).values())

        weight = min(weights, key=loss)
        lost[name] = regret({name: table[name]}, lambda r: r["Q"] + weight * r[parts],
                            target)[name]
    return lost


def show(title, lost):
    print(f"  {title:34s} {np.mean(list(lost.values())):.4f}  " +
          " ".join(f"{name} {value:.3f}" for name, value in lost.items()))


def main():
    table = {}
    for name, X, y in data_sets():
        table[name] = measure(X, y) if X.shape[1] >= 10 else {}
        print(name)
        for rule, row in table[name].items():
            print(f"  {rule:15s} " + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    for target in ("sc", "ssc"):
        print(f"regret of {target}, mean and by data set")
        for score in ("J", "J of ssc", "Q", "Q of ssc", "ncut", "inertia", "eigengap", "entropy"):
            show(f"largest {score}", regret(table, lambda row: row[score], target))
        for part in ("entropy", "eigengap", "ncut"):
            show(f"largest Q + w {part} (left out)",
                 mixed_regret(table, part, [0, .03, .1, .3, 1], target))
        show("always none", {n: regret({n: {"none": t["none"], **t}}, lambda r: r is t["none"],
                                       target)[n] for n, t in table.items()})
    for score in ("J", "Q"):
        print(f"with the preparation of largest {score}")
        for key in ("sc", "ssc", "guard", "sc/small", "ssc/small", "guard/small"):
            found = {n: max(rows.values(), key=lambda r: r[score])[key] for n, rows in table.items()}
            print(f"  {key:14s} {np.mean(list(found.values())):.4f}  " +
                  " ".join(f"{n} {v:.3f}" for n, v in found.items()))


if __name__ == "__main__":
    main()
