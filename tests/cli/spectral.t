The spectral methods, from points to labels.

  $ huddle cluster moons --n 400 --json -q > moons.json
  $ /usr/bin/python3 -c '
  > import json
  > r = json.load(open("moons.json"))
  > print(r["method"], r["n_clusters"], r["scores"]["acc"] >= .99)
  > print(sorted(r["seconds"]))
  > print(sorted(set(r["graph"]) & {"components", "edges", "recall"}))
  > print(sorted(set(r["embed"]) & {"eigenvalues", "residual", "verified", "stop"}))
  > print(sorted(set(r["shrink"]) & {"gamma", "objective", "dual", "gap", "groups", "n_iter", "stop"}))
  > print(0 <= r["shrink"]["gap"] <= 1e-4, "inertia" in r["kmeans"])'
  ssc 2 True
  ['check', 'connect', 'decide', 'distinct', 'embed', 'finish', 'graph', 'guard', 'kmeans', 'medoids', 'other', 'prepare', 'read', 'refine', 'rows', 'score', 'shrink', 'shrink_graph', 'total']
  ['components', 'edges', 'recall']
  ['eigenvalues', 'residual', 'stop', 'verified']
  ['dual', 'gamma', 'gap', 'groups', 'n_iter', 'objective', 'stop']
  True True

Rings and spirals as well, with no option but the built-in number of classes.

  $ for kind in rings spirals; do
  >   huddle cluster $kind --json -q | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["file"], r["scores"]["acc"] >= .99)'
  > done
  rings True
  spirals True

The summary reports the certificate.

  $ huddle cluster moons --n 400 -q | grep -E '^  (method|graph|embedding|shrink|  *the shrink step)'
    method     ssc, 2 clusters
    graph      1232 edges, 2 components
    embedding  converged, residual *, eigengap 0.000392 (glob)
    shrink     gamma 200, 4 groups, objective 0
               the shrink step is certified optimal
  $ huddle cluster moons --n 400 --refine none -q | grep '^  embedding'
    embedding  closed form

Labels are refined on the graph unless that is turned off. The report has the starts, of which the first are
the method's own labels, and the summary says that the certificate is not about the refined labels.

  $ huddle cluster digits -m ncut -q --json > refined.json
  $ huddle cluster digits -m ncut -q --json --refine none > plain.json
  $ /usr/bin/python3 -c '
  > import json
  > r, plain = json.load(open("refined.json")), json.load(open("plain.json"))
  > trials = r["refine"]["trials"]
  > print([t["name"] for t in trials])
  > print(sorted(trials[0]))
  > print(r["refine"]["from"], r["refine"]["n_changed"] > 0, "refine" in plain)
  > best = next(t for t in trials if t["name"] == r["refine"]["start"])
  > print(best["map"] <= trials[0]["map"], best["allowed"])'
  ['rotation', 'commute', 'sum', 'levels1', 'levels2', 'levelsT']
  ['allowed', 'divergence', 'information', 'map', 'modularity', 'n_sweeps', 'name', 'ncut']
  graph True False
  True True
  $ huddle cluster digits -m ssc -q | grep -A1 '^  refined'
    refined    from start * (7 tried); * of 1797 labels changed; the certificate is (glob)
               about the shrink step
  $ huddle cluster digits -m sc -q | grep '^  refined'
    refined    from start * (6 tried); * of 1797 labels changed (glob)

Where the guard discards the shrinking, the certified step is not where the labels come from, and the
summary and the JSON say so.

  $ /usr/bin/python3 -c 'import numpy
  > numpy.save("noise.npy", numpy.random.default_rng(0).normal(size=(400, 8)))'
  $ huddle cluster noise.npy -m ssc -c 5 -q | grep -A2 '^  shrink'
    shrink     gamma 80, 1 group, objective * (glob)
               the shrink step is certified within * % of its optimum (converged) (glob)
               discarded by the guard: the labels before refinement come from the embedding
  $ huddle cluster noise.npy -m ssc -c 5 -q | tr -s ' \n' ' ' | grep -o 'the labels before refinement are those.*step'
  the labels before refinement are those of the embedding, not of the certified shrink step
  $ huddle cluster noise.npy -m ssc -c 5 --refine none -q | tr -s ' \n' ' ' | grep -o 'the labels are those.*step'
  the labels are those of the embedding, not of the certified shrink step
  $ huddle cluster noise.npy -m ssc -c 5 -q --json | grep -E '"(guarded|labels_from)":'
      "guarded": true,
      "labels_from": "embedding"
  $ huddle cluster noise.npy -m ssc -c 5 --guard false -q > kept
  $ grep -c 'certified' kept
  1
  $ grep -c 'discarded' kept
  0
  [1]

A gap that double precision cannot prove is not claimed: the word in brackets is not "converged", and
the gap is the one that was proven.

  $ /usr/bin/python3 -c 'import numpy
  > numpy.save("far.npy", numpy.random.default_rng(0).normal(size=(400, 2)) + 1e6)'
  $ for gap in 1e-4 1e-12; do
  >   huddle cluster noise.npy --embedding far.npy -m ssc -c 2 --loss l2 --gamma 1 --gap $gap -q --json |
  >   /usr/bin/python3 -c '
  > import json, sys
  > s = json.load(sys.stdin)["shrink"]
  > print(s["stop"] in ("converged", "rounding"), 0 < s["gap"] < 1e-4, s["groups"] > 1)'
  > done
  True True True
  True True True

Every intermediate in a folder, as NumPy and SciPy read it.

  $ huddle cluster moons --n 400 --prepare standard --dump out -o labels.npy -q > /dev/null
  $ ls out
  A.npz
  F.npy
  G.npy
  W.npz
  X.npy
  centres.npy
  confidence.npy
  eigenvalues.npy
  labels.npy
  $ /usr/bin/python3 -c '
  > import numpy as np, scipy.sparse as sp
  > for name in "X", "F", "eigenvalues", "G", "centres", "labels":
  >     a = np.load(f"out/{name}.npy")
  >     print(name, a.dtype, a.ndim, a.shape[0] >= 2)
  > for name in "A", "W":
  >     a = sp.load_npz(f"out/{name}.npz")
  >     print(name, a.format, a.shape, abs(a - a.T).max() == 0, a.diagonal().max() == 0)
  > print((np.load("out/labels.npy") == np.load("labels.npy")).all())'
  X float32 2 True
  F float64 2 True
  eigenvalues float64 1 True
  G float64 2 True
  centres float64 2 True
  labels int32 1 True
  A csr (400, 400) True True
  W csr (400, 400) True True
  True

Intermediate results can be used as input.

  $ huddle cluster moons --n 400 --graph out/A.npz -o graph.npy -q > /dev/null
  $ huddle cluster --graph out/A.npz -c 2 -o alone.npy -q > /dev/null
  $ huddle cluster --embedding out/F.npy -c 2 -o embedding.npy -q > /dev/null
  $ cmp labels.npy graph.npy
  $ cmp labels.npy alone.npy
  $ cmp labels.npy embedding.npy

Labels do not depend on the number of threads.

  $ huddle cluster moons --n 400 --prepare standard -o one.npy --n-threads 1 -q > /dev/null
  $ huddle cluster moons --n 400 --prepare standard -o three.npy --n-threads 3 -q > /dev/null
  $ cmp labels.npy one.npy
  $ cmp labels.npy three.npy

kmeans does not accept a graph.

  $ huddle cluster moons --n 400 -m kmeans --graph out/A.npz
  huddle: out/A.npz: method kmeans does not accept a graph
  [2]

A graph of another size.

  $ huddle cluster moons --n 300 --graph out/A.npz
  huddle: moons: the graph joins 400 points, but there are 300
  [1]
  $ huddle cluster moons --n 300 --embedding out/F.npy
  huddle: moons: the embedding has 400 rows, but there are 300 points
  [1]

The summary and the JSON show how many of the true neighbours an approximate search found.

  $ huddle cluster noise.npy -m sc -c 5 --knn-solver approximate -q | grep '^  graph'
    graph      * edges, 1 component, approximate neighbours: recall * (0.9* to *) (glob)
  $ huddle cluster noise.npy -m sc -c 5 --knn-solver approximate -q --json |
  >   /usr/bin/python3 -c 'import json, sys
  > g = json.load(sys.stdin)["graph"]
  > print(g["solver"], .9 < g["recall_low"] < g["recall"] <= g["recall_high"] <= 1)'
  approximate True
  $ huddle cluster noise.npy -m sc -c 5 --knn-solver approximate --recall 1 -q | grep '^  graph'
    graph      * edges, 1 component (glob)
