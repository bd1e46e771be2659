The summary; apart from times it is the same for every run.

  $ huddle cluster digits -m kmeans -q | sed 's/seconds.*/seconds/'
  digits: 1797 points, 64 features, 10 classes
  
    labels     10 classes (sets -c 10)
    method     kmeans, 10 clusters
    scores     acc 0.7*  nmi 0.7*  ari 0.6*  purity 0.7* (glob)
    sizes      * (glob)
    seconds

Values may follow a flag in any of the usual ways.

  $ huddle cluster digits -m kmeans -c 10 -q | sed 's/seconds.*/seconds/' > first
  $ huddle cluster -mkmeans -c10 -q digits | sed 's/seconds.*/seconds/' | cmp - first
  $ huddle cluster --method=kmeans --n-clusters=10 -q digits | sed 's/seconds.*/seconds/' | cmp - first

One JSON object, and nothing else, on stdout.

  $ huddle cluster digits -m kmeans -c 10 --json -q > report.json
  $ /usr/bin/python3 -c '
  > import json
  > r = json.load(open("report.json"))
  > print(r["file"], r["n"], r["d"], r["n_clusters"], r["method"], r["n_classes"])
  > print(sorted(r["seconds"]))
  > print(sorted(r["scores"]))
  > print(abs(r["scores"]["acc"] - .79) < .02, sum(r["sizes"]), len(r["medoids"]))
  > print(sorted(r["internal"]), r["warnings"], r["peak_bytes"] > 0)
  > print(r["options"]["n_clusters"], r["options"]["n_init"], r["options"]["prepare"])'
  digits 1797 64 10 kmeans 10
  ['check', 'distinct', 'finish', 'kmeans', 'medoids', 'other', 'prepare', 'read', 'score', 'total']
  ['acc', 'ari', 'nmi', 'purity']
  True 1797 10
  ['ncut', 'silhouette', 'stability'] [] True
  10 50 none

Labels, one per row, in every format.

  $ huddle cluster digits -m kmeans -o labels.npy -q > /dev/null
  $ huddle cluster digits -m kmeans -o labels.csv -q > /dev/null
  $ huddle cluster digits -m kmeans -o labels.txt -q > /dev/null
  $ /usr/bin/python3 -c '
  > import numpy as np
  > a = np.load("labels.npy")
  > b = np.loadtxt("labels.txt", dtype=int)
  > c = np.array([int(line) for line in open("labels.csv") if line.strip().isdigit()])
  > print(a.dtype, a.shape, a.min(), a.max(), (a == b).all(), (a == c).all())'
  int32 (1797,) 0 9 True True

The number of threads changes nothing.

  $ for threads in 1 2 3 7; do
  >   huddle cluster digits -m kmeans --n-threads $threads -o threads-$threads.npy -q > /dev/null
  >   cmp labels.npy threads-$threads.npy
  > done

Another seed does, where the same points have several local optima; the same seed does not.

  $ huddle generate blobs --n 300 --noise 3 -o points.npz -q
  $ for run in "4 a" "4 b" "5 c"; do
  >   huddle cluster points.npz -m kmeans -c 9 --n-init 1 --seed ${run% *} -o ${run#* }.txt -q > /dev/null
  > done
  $ cmp a.txt b.txt
  $ cmp -s a.txt c.txt
  [1]

How many restarts reached the best result: all where it is clear, few where five blobs are nine clusters.

  $ for c in 5 9; do
  >   huddle cluster blobs --n 300 --noise 1 -m kmeans -c $c --n-init 20 --prepare none --json -q |
  >     /usr/bin/python3 -c 'import json, sys; k = json.load(sys.stdin)["kmeans"]; print(k["restarts"], k["reached"])'
  > done
  20 20
  20 [1-5] (re)

The number of classes is the default number of clusters; --y none ignores the labels.

  $ huddle cluster digits -m kmeans --classes 3-5 --per-class 20 --json -q | grep -E '"n(_clusters|_classes)?":'
    "n": 60,
    "n_clusters": 3,
      "n_clusters": 3,
    "n_classes": 3,
  $ huddle cluster digits -m kmeans --y none -c 4 --json -q | grep -cE '"scores"|"n_classes"'
  0
  [1]

A range of clusters: all of them, and the best.

  $ huddle cluster blobs -m kmeans --n 200 -c 2-5 --json -q | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print([t["n_clusters"] for t in r["range"]], r["n_clusters"] in range(2, 6))
  > print(sorted(r["range"][0]))'
  [2, 3, 4, 5] True
  ['inertia', 'n_clusters', 'ncut', 'relative_gap', 'silhouette']
  $ huddle cluster blobs --n 200 -c 2-5 -q | grep inertia
     clusters      inertia   silhouette         ncut relative gap   modularity   divergence    stability

Nothing on stderr with -q.

  $ huddle cluster digits -m kmeans -q 2>&1 >/dev/null

Fewer different points than clusters.

  $ for i in 1 2 3 4; do echo 1,2; done > same.csv
  $ huddle cluster same.csv -m kmeans -c 3 -q | grep warning
    warning    only 1 distinct row for 3 clusters

The examples take a path relative to where they are called.

  $ ln -s "$(command -v huddle)" tool
  $ sh "$HUDDLE_SOURCE/examples/predict.sh" ./tool > /dev/null
  $ sh "$HUDDLE_SOURCE/examples/stages.sh" ./tool > /dev/null
