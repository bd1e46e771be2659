From exact fit to collapse.

  $ huddle path moons --n 300 -c 2 --json -o tree.npy --labels labels.npy -q > path.json
  $ /usr/bin/python3 -c '
  > import json, numpy as np
  > r = json.load(open("path.json"))
  > levels = r["levels"]; tree = np.load("tree.npy"); labels = np.load("labels.npy")
  > print(r["file"], r["n"], r["n_clusters"], r["gamma_fit"] < r["gamma_up"])
  > print(sorted(levels[0]))
  > gammas = [l["gamma"] for l in levels]
  > print(gammas == sorted(gammas), all(l["gap"] <= 1e-3 for l in levels))
  > print(levels[0]["groups"] >= levels[-1]["groups"])
  > print(tree.shape, r["fusions"] <= 299, len(labels), r["scores"]["acc"] > .95)'
  moons 300 2 True
  ['dual', 'gamma', 'gap', 'groups', 'n_iter', 'objective', 'stop']
  True True
  True
  (299, 4) True 300 True
  $ huddle path moons --n 300 -c 2 -q -o tree.csv | head -4 | cut -c 1-40 | head -3
  moons: 300 points; exact fit up to gamma
  
           gamma      objective        gap
  $ head -1 tree.csv
  a,b,gamma,size

SciPy accepts the tree, also if several trees remain at the end of the path.

  $ /usr/bin/python3 -c '
  > import numpy as np
  > rng = np.random.default_rng(0)
  > x = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(1000, 1, (40, 2))])
  > np.save("apart.npy", x)'
  $ huddle path apart.npy -c 4 --connect false -q --json -o tree.npy > path.json
  $ /usr/bin/python3 -c '
  > import json, numpy as np
  > from scipy.cluster.hierarchy import is_valid_linkage, is_monotonic, fcluster, dendrogram
  > r = json.load(open("path.json")); tree = np.load("tree.npy")
  > print(tree.shape, r["fusions"] < 79, is_valid_linkage(tree), is_monotonic(tree))
  > print(tree[-1, 2] / r["levels"][-1]["gamma"], tree[-1, 3])
  > print(fcluster(tree, 2 * r["levels"][-1]["gamma"], "distance").max() == 80 - r["fusions"])
  > print(len(dendrogram(tree, no_plot=True)["leaves"]))'
  (79, 4) True True True
  10.0 80.0
  True
  80

If each component is one point from the beginning, path reports that there is nothing to shrink.

  $ /usr/bin/python3 -c '
  > import numpy as np
  > np.save("pairs.npy", np.concatenate([np.zeros((40, 2)), np.ones((40, 2))]) * 1000
  >         + np.random.default_rng(0).normal(0, 1, (80, 2)))'
  $ huddle path pairs.npy -c 2 --connect false -q | head -1
  pairs.npy: 80 points; exact fit at every gamma: rows connected by the graph coincide already

Arguments that path does not accept.

  $ huddle path moons --gamma 3
  huddle: path covers all values of gamma and does not accept --gamma
  [2]
  $ huddle path moons --view-weights 1,2
  huddle: path takes one view of the points and does not accept --view-weights
  [2]
  $ huddle path --help | grep -c -e --gamma -e --view-weights
  0
  [1]
  $ huddle path moons -o tree.json
  huddle: tree.json: the tree can be written as .csv or .npy
  [2]
  $ huddle path
  huddle: path: missing DATA; see huddle help path
  [2]
  $ huddle path moons --n-gamma 0
  huddle: --n-gamma = 0: expected integer >= 1
  [2]
