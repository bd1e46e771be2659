The paper to the letter, under one name.

  $ huddle options ssc | grep -A 5 -e "^--preset published"
  --preset published: the paper to the letter, without what was added to it since
    --prepare none --duplicates keep --n-neighbors 5 --scale mean --connect false --rows sym
    --shrink-neighbors 5 --shrink-scale mean --gamma 1 --loss l21 --solver published --snap
    false --guard false --n-init 50 --init sample --full-restarts true --refine none
  $ huddle cluster digits -m ssc --preset published --json -q > published.json
  $ /usr/bin/python3 -c '
  > import json
  > r = json.load(open("published.json"))
  > o, s = r["options"], r["shrink"]
  > print({name: o[name] for name in ("prepare", "duplicates", "scale", "delta", "connect", "rows", "gamma")})
  > print({name: o[name] for name in ("shrink_scale", "solver", "snap", "guard", "init", "n_init", "refine")})
  > print(s["solver"], s["stop"], s["snapped"], s["gap"] < .01, r["graph"]["bridges"], "refine" in r)'
  {'prepare': 'none', 'duplicates': 'keep', 'scale': 'mean', 'delta': 'auto', 'connect': 'false', 'rows': 'sym', 'gamma': 1.0}
  {'shrink_scale': 'mean', 'solver': 'published', 'snap': False, 'guard': False, 'init': 'sample', 'n_init': 50, 'refine': 'none'}
  published stalled False True 0 False

Options that are given beside it keep their values, wherever they stand.

  $ huddle cluster digits -m ssc --gamma 2 --preset published --delta 20 --snap true --n-init 3 --json -q > other.json
  $ /usr/bin/python3 -c '
  > import json
  > o = json.load(open("other.json"))["options"]
  > print({name: o[name] for name in ("gamma", "delta", "snap", "n_init", "solver", "init")})'
  {'gamma': 2.0, 'delta': 20.0, 'snap': True, 'n_init': 3, 'solver': 'published', 'init': 'sample'}
  $ huddle cluster digits -m sc --preset published
  huddle: method sc has no option --preset; see huddle options sc
  [2]
  $ huddle cluster digits -m ssc --preset letter
  huddle: preset = letter: expected one of none|published
  [2]

The printed algorithm, and the objective of every step as it is.

  $ huddle cluster digits -m ssc --preset published --rows unit --n-init 1 -q --dump derived --save derived.model > /dev/null
  $ huddle cluster digits -m ssc --preset published --rows unit --n-init 1 --solver printed --shrink-max-iter 20 -q --save printed.model --json | grep -E '"(solver|stop)": "(printed|max_iter)' | sort | uniq
      "solver": "printed",
      "stop": "max_iter",
  $ /usr/bin/python3 -c '
  > import numpy as np
  > from scipy.sparse import load_npz
  > F, W, G = np.load("derived/F.npy"), load_npz("derived/W.npz").tocoo(), np.load("derived/G.npy")
  > derived, printed = np.load("derived.model")["objective"], np.load("printed.model")["objective"]
  > print((np.diff(derived) > 0).sum(), (np.diff(printed) > 0).sum() > 3)
  > i, j, w = W.row, W.col, W.data
  > value = np.linalg.norm(G - F, axis=1).sum() + (w * np.linalg.norm(G[i] - G[j], axis=1)).sum() / 2
  > print(np.isclose(derived[-1], value, rtol=1e-9), printed.min() / value > 2)'
  0 True
  True True

Its objective stops changing, or the number of steps is warned of.

  $ huddle cluster digits -m ssc --preset published --n-init 1 --shrink-max-iter 3 | grep -A 1 warning
    warning    solver = published: after 3 steps the objective still changes by more than
               1e-06 of itself (gap 0.3)
  $ huddle cluster digits -m ssc --preset published --n-init 1 --shrink-epsilon 0
  huddle: shrink_epsilon = 0: expected number in [1e-30, 1]
  [2]

The path by the same solver, and delta of the weights in a plan.

  $ huddle path moons --n 60 -c 2 --preset published --n-gamma 3 --json -q | /usr/bin/python3 -c '
  > import json, sys
  > print([level["stop"] for level in json.load(sys.stdin)["levels"]])'
  ['converged', 'stalled', 'stalled']
  $ cat > plan.json <<'PLAN'
  > {"data": ["moons"], "seeds": [1], "n_init": 2, "methods": [
  >   {"method": "ssc", "options": {"preset": "published", "gamma": 0.5}, "grid": {"delta": [0.1, "auto"]}}]}
  > PLAN
  $ huddle experiment plan.json -o out -q > /dev/null
  $ /usr/bin/python3 -c '
  > import json
  > for line in open("out/results.jsonl"):
  >     o = json.loads(line)["options"]
  >     print(o["preset"], o["solver"], o["gamma"], o["delta"], o["n_init"])' | sort
  published published 0.5 0.1 2
  published published 0.5 auto 2
