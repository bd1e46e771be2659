#!/usr/bin/python3
"""The effect of equal rows on the labels. A study, not a benchmark of speed.

Accuracy of K-means, sc and ssc, mean over several draws, c known, on blobs rounded to increasingly
coarse grids and on two latent classes in eight binary columns. --against runs another build on the
same data.

    bench/duplicates.py [--tool build/huddle] [--against OTHER_TOOL] [--draws 3]
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).parent.parent
CENTRES = np.array([[0, 0], [6, 0], [3, 5.2]])


def rounded_blobs(rng, grid, n=3000):
    y = np.arange(n) % 3
    X = CENTRES[y] + rng.standard_normal((n, 2))
    return (np.round(X / grid) * grid if grid > 0 else X), y


def binary_table(rng, n=1000, columns=8):
    """Each column agrees with the class of its row in nine rows of ten."""
    y = np.arange(n) % 2
    return (y[:, None] ^ (rng.random((n, columns)) < .1)).astype(float), y


CASES = {"blobs, not rounded": lambda rng: rounded_blobs(rng, 0),
         "blobs, grid .25": lambda rng: rounded_blobs(rng, .25),
         "blobs, grid .5": lambda rng: rounded_blobs(rng, .5),
         "blobs, grid 1": lambda rng: rounded_blobs(rng, 1),
         "eight binary columns": binary_table}


def accuracy(tool, method, path):
    command = [tool, "cluster", path, "-m", method, "--prepare", "none", "-q", "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return report["scores"]["acc"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=str(ROOT / "build" / "huddle"))
    parser.add_argument("--against")
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    tools = [tool for tool in (arguments.against, arguments.tool) if tool]
    methods = ("kmeans", "sc", "ssc")
    print("| data | distinct rows | " + " | ".join(methods) + " |\n|---|---:|" + "---:|" * 3)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in CASES.items():
            scores = np.zeros((arguments.draws, len(methods), len(tools)))
            for draw in range(arguments.draws):
                X, y = make(np.random.default_rng(draw))
                path = f"{folder}/{draw}.npz"
                np.savez(path, X=X, y=y)
                for m, method in enumerate(methods):
                    scores[draw, m] = [accuracy(tool, method, path) for tool in tools]
            cells = [", ".join(f"{score:.3f}" for score in row) for row in scores.mean(0)]
            print(f"| {name} | {len(np.unique(X, axis=0))} of {len(X)} | " + " | ".join(cells) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
