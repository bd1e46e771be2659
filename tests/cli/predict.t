A model fitted, kept, and asked about new points.

  $ huddle cluster digits -m kmeans --save kmeans.model -o fitted.txt -q > /dev/null
  $ huddle predict kmeans.model digits > predicted.txt
  $ cmp fitted.txt predicted.txt
  $ huddle predict kmeans.model digits -o predicted.npy
  $ huddle predict kmeans.model digits --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["file"], r["model"], r["method"], r["n"], r["d"], len(r["labels"]), sorted(r["scores"]))'
  digits kmeans.model kmeans 1797 64 1797 ['acc', 'ari', 'nmi', 'purity']

The spectral methods can do that too.

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

h5py opens a model.

  $ /usr/bin/python3 -c 'import h5py; print(len(h5py.File("ssc.model")) > 0)'
  True

Points of another width, a damaged model, a foreign file.

  $ huddle predict kmeans.model moons
  huddle: moons: the points have 2 features, the model was fitted to 64
  [1]
  $ head -c 2000 kmeans.model > short.model
  $ huddle predict short.model digits
  huddle: short.model: this is not a Huddle model, or its end is missing
  [1]
  $ /usr/bin/python3 -c '
  > data = bytearray(open("kmeans.model", "rb").read())
  > data[len(data) // 2] ^= 255
  > open("bent.model", "wb").write(data)'
  $ huddle predict bent.model digits
  huddle: bent.model: * (glob)
  [1]
  $ printf 'no model\n' > foreign.model
  $ huddle predict foreign.model digits
  huddle: foreign.model: this is not a Huddle model, or its end is missing
  [1]
