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
  > print(tree.shape[1], len(tree) == r["fusions"], len(labels), r["scores"]["acc"] > .95)'
  moons 300 2 True
  ['dual', 'gamma', 'gap', 'groups', 'n_iter', 'objective', 'stop']
  True True
  True
  4 True 300 True
  $ huddle path moons --n 300 -c 2 -q -o tree.csv | head -4 | cut -c 1-40 | head -3
  moons: 300 points; exact fit up to gamma
  
           gamma      objective        gap
  $ head -1 tree.csv
  a,b,gamma,size

What path cannot take.

  $ huddle path moons --gamma 3
  huddle: path goes through every gamma: it takes no --gamma
  [2]
  $ huddle path moons -o tree.json
  huddle: tree.json: the tree can be written as .csv or .npy
  [2]
  $ huddle path
  huddle: path needs DATA; see huddle help path
  [2]
  $ huddle path moons --n-gamma 0
  huddle: --n-gamma = 0 is not a whole number from 1
  [2]
