Round trip: every format preserves points and labels.

  $ for ending in csv tsv npz mat h5 libsvm; do
  >   huddle convert digits digits.$ending
  >   huddle info digits.$ending --json | tr -d '\n ' | grep -o '"n":[^,]*,"d":[^,]*,"n_classes":[^,]*'
  >   huddle cluster digits.$ending -m kmeans --n-init 3 -o $ending.txt -q > /dev/null
  >   cmp csv.txt $ending.txt
  > done
  huddle: digits.csv: 1797 points, 64 features, 10 classes
  huddle: rows are taken for images of 8 x 8 pixels, row by row; --image SIZE or --image none corrects this
  "n":1797,"d":64,"n_classes":10
  huddle: digits.tsv: 1797 points, 64 features, 10 classes
  huddle: rows are taken for images of 8 x 8 pixels, row by row; --image SIZE or --image none corrects this
  "n":1797,"d":64,"n_classes":10
  huddle: digits.npz: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.mat: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.h5: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.libsvm: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  $ huddle convert digits digits.npy -q
  $ huddle info digits.npy --json | grep -E '"(n|d|n_classes)"'
  huddle: rows are taken for images of 8 x 8 pixels, row by row; --image SIZE or --image none corrects this
    "n": 1797,
    "d": 64,
    "n_classes": null,

Only some classes, only a few of each.

  $ huddle convert digits few.csv --classes 1,3-4 --per-class 5
  huddle: few.csv: 15 points, 64 features, 3 classes
  $ huddle info few.csv | grep ^classes
  huddle: rows are taken for images of 8 x 8 pixels, row by row; --image SIZE or --image none corrects this
  classes   3: 1 3 4

Other programs can read the files.

  $ huddle convert digits digits.npz -q
  $ huddle convert digits digits.mat -q
  $ /usr/bin/python3 -c '
  > import numpy as np, scipy.io
  > z = np.load("digits.npz"); m = scipy.io.loadmat("digits.mat")
  > print(sorted(z.files), sorted(k for k in m if k[0] != "_"))'
  ['X', 'im_height', 'im_order', 'im_width', 'y'] ['X', 'im_height', 'im_order', 'im_width', 'y']

SciPy reads every kind of variable in a MAT file as it was: floats and doubles, sparse matrices,
labels that are numbers, large numbers or texts in any script.

  $ cat > mat.py <<'END'
  > import subprocess, numpy as np, scipy.io, scipy.sparse
  > rng = np.random.default_rng(0)
  > floats = rng.normal(size=(7, 3)).astype("f4")
  > words = np.array(["cat", "café", "日本語", "a b", "Ω"])[rng.integers(0, 5, 7)]
  > sparse = scipy.sparse.csc_matrix(floats * (floats > 0), dtype="f8")
  > for name, x, y in [("float", floats, np.arange(7) % 3), ("double", floats.astype("f8") + 1e9, words),
  >                    ("large", floats, 2**60 + np.arange(7) % 3), ("sparse", sparse, words),
  >                    ("zeros", scipy.sparse.csc_matrix((7, 3)), np.arange(7) % 2)]:
  >     if scipy.sparse.issparse(x):
  >         labels = np.array([[w] for w in y], object) if y.dtype.kind == "U" else y
  >         scipy.io.savemat("in.mat", {"X": x, "y": labels})
  >     else:
  >         np.savez("in.npz", X=x, y=y)
  >     source = "in.mat" if scipy.sparse.issparse(x) else "in.npz"
  >     subprocess.run(["huddle", "convert", source, "out.mat", "-q"], check=True)
  >     m = scipy.io.loadmat("out.mat")
  >     labels = [c[0] for c in m["y"][:, 0]] if y.dtype.kind == "U" else m["y"][:, 0]
  >     error = abs(m["X"] - x).max()
  >     print(name, m["X"].dtype, m["X"].shape, error < 1e-6, list(labels) == list(y), m["y"].shape)
  > END
  $ /usr/bin/python3 mat.py
  float float32 (7, 3) True True (7, 1)
  double float64 (7, 3) True True (7, 1)
  large float32 (7, 3) True True (7, 1)
  sparse float64 (7, 3) True True (7, 1)
  zeros float64 (7, 3) True True (7, 1)
