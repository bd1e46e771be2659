Points that occur more often than a point has neighbours.

  $ /usr/bin/python3 -c '
  > import numpy as np
  > draw = np.random.default_rng(0)
  > y = np.arange(1500) % 3
  > x = np.array([[0, 0], [6, 0], [3, 5.5]])[y] + draw.normal(size=(1500, 2))
  > x = np.round(4 * x) / 4
  > np.savetxt("rounded.csv", np.c_[x, y], "%.2f,%.2f,%d", header="a,b,class", comments="")'
  $ huddle cluster rounded.csv --y class -q --dump parts --save model.h5 -o labels.npy | grep -E "distinct|component|acc"
    scores     acc 1.0000  nmi 1.0000  ari 1.0000  purity 1.0000
    distinct   655 of 1500 points; duplicates have the same label
    graph      2350 edges, 1 component

Outputs have one row per point.

  $ /usr/bin/python3 -c '
  > import numpy as np, scipy.sparse as sp
  > x = np.loadtxt("rounded.csv", delimiter=",", skiprows=1)[:, :2]
  > labels = np.load("labels.npy")
  > rows = {}
  > for row, label in zip(map(tuple, x), labels):
  >     rows.setdefault(row, set()).add(label)
  > print(len(rows), max(len(found) for found in rows.values()))
  > for name in ("X.npy", "F.npy", "G.npy", "labels.npy"):
  >     print(name, np.load("parts/" + name).shape[0])
  > for name in ("A.npz", "W.npz"):
  >     m = sp.load_npz("parts/" + name)
  >     print(name, m.shape, abs(m - m.T).max() == 0, m.diagonal().sum() == 0)'
  655 1
  X.npy 1500
  F.npy 1500
  G.npy 1500
  labels.npy 1500
  A.npz (1500, 1500) True True
  W.npz (1500, 1500) True True
  $ huddle predict model.h5 rounded.csv --y class -q -o again.npy > /dev/null && cmp labels.npy again.npy && echo the same
  the same

The path has all points as well.

  $ huddle path rounded.csv --y class -q --json --n-gamma 8 -o tree.npy --labels path.npy > path.json
  $ /usr/bin/python3 -c '
  > import json, numpy as np
  > r = json.load(open("path.json")); tree = np.load("tree.npy"); labels = np.load("path.npy")
  > print(r["n"], tree.shape, len(labels), all(l["gap"] <= 1e-3 for l in r["levels"]))
  > print(r["levels"][0]["groups"], r["scores"]["acc"] > .95)'
  1500 (1499, 4) 1500 True
  655 True
