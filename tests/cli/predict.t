A model is fitted, saved and applied to new points.

  $ huddle cluster digits -m kmeans --save kmeans.model -o fitted.txt -q > /dev/null
  $ huddle predict kmeans.model digits > predicted.txt
  $ cmp fitted.txt predicted.txt
  $ huddle predict kmeans.model digits -o predicted.npy
  $ huddle predict kmeans.model digits --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["file"], r["model"], r["method"], r["n"], r["d"], len(r["labels"]), sorted(r["scores"]))'
  digits kmeans.model kmeans 1797 64 1797 ['acc', 'ari', 'nmi', 'purity']

Spectral methods predict as well.

  $ for method in sc ssc; do
  >   huddle cluster moons --n 300 -m $method --save $method.model -q > /dev/null
  >   huddle predict $method.model moons --n 200 --seed 7 --json | /usr/bin/python3 -c '
  > import json, sys
  > print(json.load(sys.stdin)["scores"]["acc"] > .98)'
  > done
  True
  True

The number of threads changes nothing.

  $ huddle predict ssc.model moons --n 200 --n-threads 1 > one.txt
  $ huddle predict ssc.model moons --n 200 --n-threads 3 > three.txt
  $ cmp one.txt three.txt

Time stamps are labelled alike in the training file, in part of it and one row at a time, from a
table and from an array of doubles.

  $ /usr/bin/python3 -c '
  > import numpy as np
  > from sklearn.datasets import make_blobs
  > X, _ = make_blobs(150, centers=[[-5, 0], [5, 0], [0, 8]], random_state=0)
  > X = X + [1.7e9, 0]
  > np.savetxt("stamps.csv", X, "%.17g", ",", header="stamp,value", comments="")
  > np.savetxt("part.csv", X[::7], "%.17g", ",", header="stamp,value", comments="")
  > for i in range(0, 150, 15):
  >     np.savetxt("one%d.csv" % i, X[i:i + 1], "%.17g", ",", header="stamp,value", comments="")
  >     np.save("one%d.npy" % i, X[i:i + 1])'
  $ for method in kmeans sc ssc; do
  >   huddle cluster stamps.csv -c 3 -m $method --save stamps.model -o stamps.txt -q > /dev/null
  >   huddle predict stamps.model stamps.csv | cmp - stamps.txt
  >   awk 'NR % 7 == 1' stamps.txt > expected.txt
  >   huddle predict stamps.model part.csv | cmp - expected.txt
  >   for i in 0 15 30 45 60 75 90 105 120 135; do
  >     sed -n "$((i + 1))p" stamps.txt > expected.txt
  >     huddle predict stamps.model one$i.csv | cmp - expected.txt
  >     huddle predict stamps.model one$i.npy | cmp - expected.txt
  >   done
  > done

NumPy reads the arrays of a model.

  $ huddle predict ssc.model moons --n 300 > labels.txt
  $ /usr/bin/python3 -c '
  > import numpy as np
  > model = np.load("ssc.model")
  > print(model["labels"].shape, (model["labels"] == np.loadtxt("labels.txt")).all(),
  >       model["embedding"].shape, "model.json" in model)'
  (300,) True (300, 2) True

Points with another number of features, a damaged model, a file of another kind.

  $ huddle predict kmeans.model moons
  huddle: moons: the points have 2 features, the model was fitted to 64
  [1]
  $ head -c 2000 kmeans.model > short.model
  $ huddle predict short.model digits
  huddle: short.model: the archive is damaged: * (glob)
  [1]
  $ /usr/bin/python3 -c '
  > data = bytearray(open("kmeans.model", "rb").read())
  > data[len(data) // 2] ^= 255
  > open("bent.model", "wb").write(data)'
  $ huddle predict bent.model digits
  huddle: bent.model: * (glob)
  [1]
  $ /usr/bin/python3 -c '
  > import json, zipfile
  > with zipfile.ZipFile("kmeans.model") as old, zipfile.ZipFile("crafted.model", "w") as new:
  >     for name in old.namelist():
  >         content = old.read(name)
  >         if name == "model.json":
  >             model = json.loads(content)
  >             model["report"]["n_clusters"] = 2
  >             content = json.dumps(model)
  >         new.writestr(name, content)'
  $ huddle predict crafted.model digits
  huddle: crafted.model: the model file is damaged: "n_clusters" of its report is 2, but its arrays have 10
  [1]
  $ printf 'no model\n' > foreign.model
  $ huddle predict foreign.model digits
  huddle: foreign.model: this is not a Huddle model
  [1]
  $ printf '\211HDF\r\n\032\n and so on, huddle model v2\n01234567' > old.model
  $ huddle predict old.model digits
  huddle: old.model: a model of Huddle 0.1 (HDF5); fit it again with this version
  [1]
