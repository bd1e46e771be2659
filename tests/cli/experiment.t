A tiny plan: two data sets, three grids, two seeds.

  $ cat > plan.json <<'END'
  > {
  >   "data": ["moons", {"name": "figures", "source": "digits", "classes": "0-3", "per_class": 30}],
  >   "methods": [
  >     "kmeans",
  >     {"method": "ssc", "options": {"prepare": "none"}, "grid": {"gamma": [1e-6, "n/c", 1e6]}},
  >     {"method": "pca-sc", "label": "reduced", "grid": {"dim": ["c", 2]}}
  >   ],
  >   "seeds": [0, 7],
  >   "n_init": 5
  > }
  > END
  $ huddle experiment plan.json -o out -q > first
  $ grep -vE 'cells|shared' first
  moons: 1000 points, 2 features, 2 classes
               ACC  single starts    NMI  single starts
    kmeans *+-* (glob)
    ssc *+-* gamma * (glob)
    reduced *+-* dim 2 (glob)
  
  figures: 120 points, 64 features, 4 classes
               ACC  single starts    NMI  single starts
    kmeans *+-* (glob)
    ssc *+-* gamma * (glob)
    reduced *+-* dim * (glob)
  
  $ grep cells first
  24 cells: 24 computed in * s, 0 found in out (glob)
  $ ls out
  index.html
  results.csv
  results.jsonl

Where "c" is 2 the two points of the last grid are one cell, computed once.

  $ wc -l < out/results.jsonl
  22
  $ /usr/bin/python3 - <<'END'
  > import csv, json, os
  > records = [json.loads(line) for line in open("out/results.jsonl")]
  > print(sorted(records[0])[:8])
  > ssc = [r for r in records if r["method"] == "ssc"]
  > print(len(ssc), all(r["gap"] <= 1e-4 for r in ssc), sorted({r["settings"]["gamma"] for r in ssc}))
  > print({r["starts"] for r in records}, {r["restarts"] for r in records})
  > for r in records:
  >     assert r["acc_std"] >= 0 and abs(r["acc"] - r["acc_mean"]) <= 1
  >     assert r["options"]["seed"] in (0, 7) and r["options"]["n_init"] == 5
  > rows = list(csv.DictReader(open("out/results.csv")))
  > print(len(rows), rows[0]["data"], rows[0]["method"], rows[0]["seed"], rows[0]["version"] != "")
  > END
  ['acc', 'acc_mean', 'acc_std', 'ari', 'ari_mean', 'ari_std', 'cpu_seconds', 'd']
  12 True ['1e+06', '1e-06', '30', '500']
  {5} {5}
  24 moons kmeans 0 True

A finished run costs nothing and prints the same.

  $ cp out/results.jsonl before.jsonl
  $ huddle experiment plan.json -o out -q > second
  $ tail -1 second
  24 cells: 0 computed in 0.0 s, 24 found in out
  $ cmp out/results.jsonl before.jsonl
  $ grep -vE 'cells|shared' first > a; grep -vE 'cells|shared' second | cmp - a

Neither the number of threads nor shared work changes a number.

  $ cat > same.py <<'END'
  > import json, sys
  > def load(path):
  >     times = ("seconds", "cpu_seconds", "stages")
  >     records = [json.loads(line) for line in open(path)]
  >     return {r["key"]: {k: v for k, v in r.items() if k not in times} for r in records}
  > a, b = load(sys.argv[1]), load(sys.argv[2])
  > print("same" if a == b else "different")
  > END
  $ huddle experiment plan.json -o one -q --n-threads 1 > /dev/null
  $ huddle experiment plan.json -o three -q --n-threads 3 --alone > /dev/null
  $ /usr/bin/python3 same.py out/results.jsonl one/results.jsonl
  same
  $ /usr/bin/python3 same.py out/results.jsonl three/results.jsonl
  same

A run that was killed, even in the middle of a line, continues where it stopped.

  $ cat > kill.py <<'END'
  > import os, signal, subprocess, time
  > process = subprocess.Popen(["huddle", "experiment", "long.json", "-o", "killed", "-q"],
  >                            stdout=subprocess.DEVNULL)
  > path = "killed/results.jsonl"
  > while not os.path.exists(path) or open(path).read().count("\n") < 3:
  >     time.sleep(0.01)
  > process.send_signal(signal.SIGKILL)
  > process.wait()
  > lines = open(path).read().count("\n")
  > with open(path, "a") as file:
  >     file.write('{"key": "half a li')
  > print(3 <= lines < 60)
  > open("finished", "w").write(str(lines))
  > END
  $ cat > long.json <<'END'
  > {"data": ["digits"], "n_init": 20,
  >  "methods": [{"method": "kmeans", "grid": {"tol": [0, 1e-4], "max_iter": [40, 50, 60, 70, 80, 90]}}],
  >  "seeds": [0, 1, 2, 3, 4]}
  > END
  $ /usr/bin/python3 kill.py
  True
  $ cp killed/results.jsonl half.jsonl
  $ huddle experiment long.json -o killed -q | tail -1 > resumed
  $ huddle experiment long.json -o whole -q > /dev/null
  $ /usr/bin/python3 same.py killed/results.jsonl whole/results.jsonl
  same
  $ /usr/bin/python3 - <<'END'
  > import re
  > computed, found = map(int, re.match(r"60 cells: (\d+) computed in .* s, (\d+) found", open("resumed").read()).groups())
  > print(found == int(open("finished").read()), computed + found)
  > half = open("half.jsonl").read()
  > print(open("killed/results.jsonl").read().startswith(half[:half.rindex("\n") + 1]))
  > END
  True 60
  True

Ctrl-C reports how many cells are done.

  $ cat > interrupt.py <<'END'
  > import os, signal, subprocess, time
  > process = subprocess.Popen(["huddle", "experiment", "long.json", "-o", "stopped", "-q"], stdout=subprocess.DEVNULL,
  >                            stderr=subprocess.PIPE, text=True,
  >                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
  > path = "stopped/results.jsonl"
  > while not os.path.exists(path) or open(path).read().count("\n") < 2:
  >     time.sleep(0.01)
  > process.send_signal(signal.SIGINT)
  > _, said = process.communicate()
  > lines = open(path).read().count("\n")
  > print(process.returncode, said == f"huddle: cancelled; {lines} of 60 cells are done, run the same command again to continue\n")
  > END
  $ /usr/bin/python3 interrupt.py
  1 True

One JSON object for programs.

  $ huddle experiment plan.json -o out -q --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["cells"], r["computed"], r["found"], r["failed"], len(r["oracle"]), sorted(r["oracle"][0]["acc"]))'
  24 0 24 0 6 ['at', 'best', 'mean', 'seeds', 'spread', 'std']

Without labels there are no scores, but n_clusters can be given.

  $ echo '{"data": [{"source": "blobs", "y": "none", "n": 60}],
  >        "methods": [{"method": "kmeans", "options": {"n_clusters": 3}}]}' > blind.json
  $ huddle experiment blind.json -q | head -1
  blobs: 60 points, 2 features; no labels to score against, see results.csv
  $ ls blind
  index.html
  results.csv
  results.jsonl

The ends of gamma depend on the loss: with squares every gamma moves some points.

  $ cat > ends.json <<'END'
  > {"data": [{"source": "digits", "per_class": 20}],
  >  "methods": [{"method": "ssc", "options": {"gamma": 1, "prepare": "none"},
  >   "grid": {"loss": ["l21", "l2"]}, "keep": ["ends"]},
  >  {"method": "spls", "keep": ["ends"]}], "n_init": 1}
  > END
  $ huddle experiment ends.json -o ends -q > /dev/null
  $ /usr/bin/python3 - <<'END'
  > import json
  > records = map(json.loads, open("ends/results.jsonl"))
  > for r in sorted(records, key=lambda r: (r["method"], r["loss"])):
  >     print(r["method"], r["loss"], r["gamma_fit"] > 0, r["gamma_fit"] == 0)
  > END
  spls l2 False True
  ssc l2 False True
  ssc l21 True False
