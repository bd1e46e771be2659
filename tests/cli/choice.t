Eight blobs that touch, and seven points far from all of them. The seven are a component of the
graph, which alone must not decide the number of clusters.

  $ cat > make.py <<'END'
  > import numpy as np
  > for seed in range(3):
  >     random = np.random.default_rng(seed)
  >     while True:
  >         centres = random.uniform(-2.5, 2.5, (8, 10))
  >         apart = np.linalg.norm(centres[:, None] - centres, axis=2) + 99 * np.eye(8)
  >         if apart.min() >= 5:
  >             break
  >     X = np.vstack([c + random.standard_normal((100, 10)) for c in centres])
  >     np.savetxt(f"blobs{seed}.csv", X, delimiter=",")
  >     away = random.standard_normal(10)
  >     speck = 60 * away / np.linalg.norm(away) + .1 * random.standard_normal((7, 10))
  >     np.savetxt(f"speck{seed}.csv", np.vstack([X, speck]), delimiter=",")
  > END
  $ /usr/bin/python3 make.py
  $ cat > check.py <<'END'
  > import json, subprocess, sys
  > import numpy as np
  > def cluster(*arguments):
  >     run = subprocess.run(["huddle", "cluster", *arguments, "--json", "-q"], check=True,
  >                          stdout=subprocess.PIPE)
  >     return json.loads(run.stdout)
  > END
  $ cat > speck.py <<'END'
  > from check import *
  > for kind, extra in ("blobs", 0), ("speck", 1):
  >     for seed in range(3):
  >         r = cluster(f"{kind}{seed}.csv", "-m", "sc", "-c", "auto", "-o", "labels.npy")
  >         best, labels = r["choice"][0], np.load("labels.npy")
  >         assert best["n_clusters"] == r["n_clusters"] == 8 + extra
  >         assert best["small_components"] == extra
  >         for k in range(8):
  >             counts = np.bincount(labels[100 * k:100 * k + 100], minlength=9)
  >             assert counts.max() >= 95, counts
  >         assert len(set(labels[800:])) == extra
  > print("as many as there are")
  > END
  $ /usr/bin/python3 speck.py
  as many as there are

The summary shows what the number was chosen by, and the numbers that come next.

  $ huddle cluster speck0.csv -m sc -c auto --prepare none -q | grep -A1 '^  clusters'
    clusters   9, by the relative eigengap (0.86), stability 0.98, including 1 small
               component; next 4 (0.39), 6 (0.36), 8 (0.32), 3 (0.21)
  $ huddle cluster blobs0.csv -m selftune-sc -c auto --prepare none -q | grep -c '^  clusters .*alignment'
  1
  $ huddle cluster blobs0.csv -m sc -c 8 -q | grep -c '^  clusters'
  0
  [1]

The candidates, the gaps in the report and the table of a range are one number each.

  $ cat > gaps.py <<'END'
  > from check import *
  > auto = cluster("speck0.csv", "-m", "sc", "-c", "auto", "--prepare", "none")
  > gaps = auto["embed"]["relative_gaps"]
  > assert len(gaps) == len(auto["embed"]["eigenvalues"]) - 1
  > assert gaps[0] is None and gaps[1] is None # one cluster; one cluster and a speck
  > for c in auto["choice"]:
  >     assert c["relative_gap"] == gaps[c["n_clusters"] - 1]
  > values = np.maximum(auto["embed"]["eigenvalues"], 1e-7)
  > assert abs(gaps[8] - (values[9] - values[8]) / values[9]) < 1e-12
  > tried = cluster("speck0.csv", "-m", "sc", "-c", "2-12", "--prepare", "none")
  > assert tried["n_clusters"] == 9
  > for t in tried["range"]:
  >     assert t["relative_gap"] == tried["embed"]["relative_gaps"][t["n_clusters"] - 1]
  > print("the same")
  > END
  $ /usr/bin/python3 gaps.py
  the same

Preparations are compared at the same numbers of clusters: one if it is known or clear, otherwise over
the range. The modularity is computed anew here. Without refinement it decides.

  $ cat > modularity.py <<'END'
  > from check import *
  > import scipy.sparse as sp
  > def modularity(source, rule, c):
  >     cluster(source, "-m", "sc", "-c", str(c), "--prepare", rule, "--dump", "dump",
  >             "--refine", "none")
  >     A, labels = sp.load_npz("dump/A.npz").tocsr(), np.load("dump/labels.npy")
  >     degree = np.asarray(A.sum(1)).ravel()
  >     inside = sum(A[labels == k][:, labels == k].sum() for k in set(labels))
  >     chance = sum((degree[labels == k].sum() / degree.sum()) ** 2 for k in set(labels))
  >     return inside / degree.sum() - chance
  > for source, clusters, expected in (("blobs0.csv", "8", [8]), ("blobs0.csv", "auto", [8]),
  >                                    ("blobs0.csv", "3-14", [3, 5, 8, 11, 14])):
  >     prepare = cluster(source, "-m", "sc", "-c", clusters, "--refine", "none")["prepare"]
  >     assert prepare["score"] == "modularity" and "divergence" not in prepare["tried"][0]
  >     assert prepare["tried_clusters"] == expected, prepare["tried_clusters"]
  >     scores = [t["modularity"] for t in prepare["tried"]]
  >     assert scores == sorted(scores, reverse=True) and len(scores) == 4
  >     assert prepare["rule"] == prepare["tried"][0]["rule"]
  >     for t in prepare["tried"]:
  >         mean = np.mean([modularity(source, t["rule"], c) for c in expected])
  >         assert abs(mean - t["modularity"]) < .005, (clusters, t, mean)
  > random = np.random.default_rng(0) # nothing clear: over all numbers the rule chooses from
  > np.savetxt("noise.csv", random.uniform(size=(120, 12)), delimiter=",")
  > print(cluster("noise.csv", "-m", "sc", "-c", "auto", "--refine", "none")["prepare"]["tried_clusters"])
  > END
  $ /usr/bin/python3 modularity.py
  [2, 7, 13, 18, 24]

With refinement the divergence of the refined labels decides, on the graph of the method's own options.

  $ cat > divergence.py <<'END'
  > from check import *
  > import scipy.sparse as sp
  > def divergence(source, rule, c, *options):
  >     cluster(source, "-m", "sc", "-c", str(c), "--prepare", rule, "--n-init", "10", "--dump", "dump", *options)
  >     A, labels = sp.load_npz("dump/A.npz").tocsr(), np.load("dump/labels.npy")
  >     degree, total = np.asarray(A.sum(1)).ravel(), A.sum()
  >     f = sum(A[labels == k][:, labels == k].sum() for k in set(labels)) / total
  >     s = sum((degree[labels == k].sum() / total) ** 2 for k in set(labels))
  >     return f * np.log(f / s) + ((1 - f) * np.log((1 - f) / (1 - s)) if f < 1 else 0)
  > for clusters, numbers, options in (("7", [7], ()), ("7", [7], ("--metric", "cosine")), ("7", [7], ("--n-neighbors", "9")),
  >                                    ("3-14", [3, 5, 8, 11, 14], ())):
  >     prepare = cluster("blobs0.csv", "-m", "sc", "-c", clusters, *options)["prepare"]
  >     assert prepare["score"] == "divergence" and prepare["tried_clusters"] == numbers
  >     scores = [t["divergence"] for t in prepare["tried"]]
  >     assert scores == sorted(scores, reverse=True) and len(scores) == 4 and scores[0] > scores[-1]
  >     assert prepare["rule"] == prepare["tried"][0]["rule"]
  >     for t in prepare["tried"]:
  >         mean = np.mean([divergence("blobs0.csv", t["rule"], c, *options) for c in numbers])
  >         assert abs(mean - t["divergence"]) < .005, (clusters, options, t, mean)
  > for clusters in "10", "8-12": # where modularity would rank them differently
  >     scores = [t["divergence"] for t in cluster("digits", "-m", "sc", "-c", clusters)["prepare"]["tried"]]
  >     assert scores == sorted(scores, reverse=True), scores
  > print("the largest")
  > END
  $ /usr/bin/python3 divergence.py
  the largest

With n_clusters = auto the preparation has the largest modularity of all numbers. Without a clear gap the number is the
smallest whose modularity is within .005 of the largest, for a range as well. A few numbers have a stability.

  $ cat > how_many.py <<'END'
  > from check import *
  > def smallest(trials):
  >     largest = max(t["modularity"] for t in trials)
  >     return min(t["n_clusters"] for t in trials if t["modularity"] >= largest - .005)
  > auto = cluster("digits", "-m", "sc", "-c", "auto")
  > assert auto["chosen_by"] == "modularity" and auto["prepare"]["score"] == "largest modularity"
  > assert auto["prepare"]["tried_clusters"] == [2, 30]
  > trials = auto["range"]
  > assert [t["n_clusters"] for t in trials] == list(range(2, 31))
  > assert auto["n_clusters"] == auto["choice"][0]["n_clusters"] == smallest(trials) < 20
  > assert smallest(trials) < max(trials, key=lambda t: t["modularity"])["n_clusters"] # else any would do
  > others = [c["modularity"] for c in auto["choice"][1:]]
  > assert others == sorted(others, reverse=True) and others[0] == max(t["modularity"] for t in trials)
  > stable = [t["stability"] for t in trials if t["stability"] is not None]
  > assert len(stable) == 5 and all(.5 < s <= 1 for s in stable), stable
  > assert {c["n_clusters"]: c["stability"] for c in auto["choice"]} == {t["n_clusters"]: t["stability"] for t in trials if t["stability"] is not None}
  > tried = cluster("digits", "-m", "sc", "-c", "8-16", "--prepare", "none", "-o", "labels.npy")
  > assert tried["chosen_by"] == "modularity" and tried["n_clusters"] == smallest(tried["range"])
  > assert len(set(np.load("labels.npy"))) == tried["n_clusters"]
  > assert sum(t["stability"] is not None for t in tried["range"]) == 5
  > plain = cluster("digits", "-m", "sc", "-c", "auto", "--refine", "none")
  > assert plain["chosen_by"] == "eigengap" and "range" not in plain and "modularity" not in plain["choice"][0]
  > plane = cluster("blobs", "-m", "sc", "-c", "auto") # two features: the eigengap alone decides
  > assert plane["chosen_by"] == "eigengap" and "modularity" in plane["range"][0]
  > print("the smallest")
  > END
  $ /usr/bin/python3 how_many.py
  the smallest
  $ huddle cluster digits -m sc -c auto -q | grep -c '^  clusters   [0-9]*, the smallest with nearly the largest modularity'
  1

The medoid of points that shrinking has fused is the one nearest their mean in the prepared points, not
the first of them.

  $ cat > medoids.py <<'END'
  > from check import *
  > r = cluster("digits", "-m", "ssc", "--dump", "ssc")
  > G, X, labels = (np.load(f"ssc/{name}.npy") for name in ("G", "X", "labels"))
  > truth = np.load("truth.npy")
  > moved = fused = 0
  > for k, m in enumerate(r["medoids"]):
  >     rows = np.flatnonzero((labels == k) & (G == G[m]).all(1))
  >     distance = np.linalg.norm(X[rows].astype(float) - X[rows].astype(float).mean(0), axis=1)
  >     assert distance[list(rows).index(m)] <= distance.min() * (1 + 1e-12)
  >     assert truth[m] == np.bincount(truth[labels == k]).argmax() # no five among the nines
  >     fused, moved = fused + (len(rows) > 1), moved + (m != rows[0])
  > print(fused, moved)
  > END
  $ huddle convert digits digits.npz -q
  $ /usr/bin/python3 -c '
  > import numpy as np
  > data = np.load("digits.npz")
  > np.save("truth.npy", data["y"].ravel().astype(int))'
  $ /usr/bin/python3 medoids.py
  9 8

Sparse points have the same medoids; a graph without points gives the row of the largest degree.

  $ cat > others.py <<'END'
  > from check import *
  > import scipy.sparse as sp
  > dense = cluster("digits", "-m", "ssc", "--prepare", "none", "--dump", "raw")
  > sparse = cluster("digits.svm", "-m", "ssc", "--prepare", "none")
  > assert sparse["medoids"] == dense["medoids"]
  > r = cluster("--graph", "raw/A.npz", "-c", "10", "-m", "ssc", "--dump", "graph")
  > degree = np.asarray(sp.load_npz("raw/A.npz").sum(1)).ravel()
  > G, labels = np.load("graph/G.npy"), np.load("graph/labels.npy")
  > for k, m in enumerate(r["medoids"]):
  >     rows = np.flatnonzero((labels == k) & (G == G[m]).all(1))
  >     assert degree[m] >= degree[rows].max() * (1 - 1e-12)
  > print("as they should be")
  > END
  $ huddle convert digits digits.svm -q
  $ /usr/bin/python3 others.py
  as they should be

A ring or an arm of a spiral falls into several components where its points leave a gap. They are joined before the
eigengaps are compared, and the labels belong to the joined graph. Without refinement nothing is joined.

  $ cat > pieces.py <<'END'
  > from check import *
  > for kind, n, true in ("moons", 500, 2), ("rings", 1000, 3), ("spirals", 2000, 3), ("blobs", 500, 5):
  >     pieces = 0
  >     for seed in "4", "5":
  >         subprocess.run(["huddle", "generate", "-q", kind, "--n", str(n), "--seed", seed, "-o", "pieces.npz"], check=True)
  >         for method in ("sc", "ssc", "llc")[:3 if kind == "rings" else 1]:
  >             r = cluster("pieces.npz", "-m", method, "-c", "auto")
  >             assert r["n_clusters"] == true and r["scores"]["ari"] > .99, (kind, seed, method, r["n_clusters"])
  >             if method == "sc":
  >                 graph = r["graph"]
  >                 assert graph["bridges"] == graph["components_before"] - graph["components"]
  >                 assert r["choice"][0]["stability"] is not None and r["warnings"] == []
  >                 pieces += graph["bridges"]
  >     assert (pieces > 0) == (kind != "blobs"), (kind, pieces)
  > subprocess.run(["huddle", "generate", "-q", "rings", "-o", "rings.npz"], check=True)
  > plain = cluster("rings.npz", "-m", "sc", "-c", "auto", "--refine", "none")
  > assert plain["graph"]["bridges"] == 0 and plain["n_clusters"] == plain["graph"]["components"] == 5
  > print("whole")
  > END
  $ /usr/bin/python3 pieces.py
  whole

Twenty points beside one large cluster in many dimensions: no eigengap is clear, and the clusters of largest modularity
are arbitrary divisions of the large one. Samples do not reproduce them, and the largest eigengap decides.

  $ cat > unstable.py <<'END'
  > from check import *
  > random = np.random.default_rng(0)
  > X = random.standard_normal((620, 20))
  > X[600:, 0] += 5
  > np.savetxt("unstable.csv", X, delimiter=",")
  > r = cluster("unstable.csv", "-m", "sc", "-c", "auto", "--prepare", "none")
  > assert r["n_clusters"] == 2 and r["chosen_by"] == "eigengap", (r["n_clusters"], r["chosen_by"])
  > best = max(r["range"], key=lambda t: t["modularity"])
  > chosen = next(t for t in r["range"] if t["n_clusters"] == 2)
  > assert best["n_clusters"] > 5 and best["stability"] < .5 and chosen["stability"] is not None
  > print(r["choice"][0]["relative_gap"] < .8)
  > END
  $ /usr/bin/python3 unstable.py
  True
