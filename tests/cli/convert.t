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

Numbers arrive as they were, bit by bit: doubles and long integers as float64, what float32 contains
as float32, of sparse matrices too. Text has the fewest digits that are read back the same.

  $ cat > exact.py <<'END'
  > import subprocess, h5py, numpy as np, scipy.io, scipy.sparse
  > def convert(source, target, *flags):
  >     subprocess.run(["huddle", "convert", source, target, "-q", *flags], check=True)
  > def load(name):
  >     if name.endswith(".npy"): return np.load(name)
  >     if name.endswith(".npz"): return np.load(name)["X"]
  >     if name.endswith(".h5"): return h5py.File(name)["X"][:]
  >     return scipy.io.loadmat(name)["X"]
  > rng = np.random.default_rng(0)
  > doubles = rng.normal(size=(9, 3)) * [1, 1e-9, 1e12]
  > doubles[0] = [0.1, 1 / 3, 1600003600]
  > inputs = {"doubles": doubles, "times": 1.6e9 + doubles, "whole": np.round(rng.normal(size=(9, 3)) * 9),
  >           "int32": np.array([[2**31 - 1, -2**24 - 1], [5, 2]], "i4"),
  >           "floats": doubles.astype("f4"), "bytes": np.array([[255, 3], [7, 8]], "u1")}
  > for name, x in inputs.items():
  >     np.save("in.npy", x)
  >     types = set()
  >     for ending in "npy", "npz", "mat", "h5":
  >         convert("in.npy", "out." + ending)
  >         convert("out." + ending, "out.csv")
  >         y = load("out." + ending)
  >         types.add(str(y.dtype))
  >         assert (y == x).all(), (name, ending)
  >         text = np.loadtxt("out.csv", delimiter=",", skiprows=1, dtype=x.dtype.type)
  >         assert (text == x).all(), (name, ending)
  >         if name == "doubles":
  >             rows = [line.split(",") for line in open("out.csv").read().split()[1:]]
  >             assert max(len(t) - len(repr(float(t))) for r in rows for t in r) <= 0
  >     print(name, x.dtype, "->", *types)
  > for dtype, x in ("f8", doubles), ("f4", doubles), ("f8", inputs["whole"]):
  >     s = scipy.sparse.csr_matrix(np.where(x > 0, x, 0).astype(dtype))
  >     scipy.sparse.save_npz("s.npz", s)
  >     for ending in "npz", "mat", "svm":
  >         convert("s.npz", "t." + ending)
  >         convert("t." + ending, "back.npz")
  >         back = scipy.sparse.load_npz("back.npz")
  >         assert (back.astype(dtype) != s).nnz == 0, (dtype, ending)
  >     convert("s.npz", "back.npz")
  >     print("sparse", dtype, "->", scipy.sparse.load_npz("back.npz").dtype)
  > END
  $ /usr/bin/python3 exact.py
  doubles float64 -> float64
  times float64 -> float64
  whole float64 -> float64
  int32 int32 -> float64
  floats float32 -> float32
  bytes uint8 -> float32
  sparse f8 -> float64
  sparse f4 -> float32
  sparse f8 -> float64

  $ printf 'when,much,label\n1600003600,0.1,a\n1600003601,12345678.125,b\n5,1e-7,a\n' > when.csv
  $ huddle convert when.csv - -q
  when,much,label
  1600003600,0.1,a
  1600003601,12345678.125,b
  5,1e-07,a
  $ huddle convert when.csv - -q --classes a
  when,much,label
  1600003600,0.1,a
  5,1e-07,a
  $ /usr/bin/python3 -c 'import numpy as np; np.save("long.npy", [[2**60 + 1, 2], [3, 4]])'
  $ huddle convert long.npy - -q
  x1,x2
  1.152921504606847e+18,2
  3,4
  $ huddle convert long.npy long.csv
  huddle: warning: integers beyond 2^53, such as 1152921504606846976, are rounded to double precision
  huddle: long.csv: 2 points, 2 features

Integers of a table are rounded too, from 2^53 + 1 on; those that a double contains are not.

  $ printf 'a,b\n5,-9007199254740993\n7,2\n' > long.csv
  $ huddle convert long.csv -
  huddle: warning: integers beyond 2^53, such as -9007199254740993, are rounded to double precision
  huddle: standard output: 2 points, 2 features
  a,b
  5,-9007199254740992
  7,2
  $ printf 'a,b\n5,9007199254740993\n7,\n1,9007199254740996\n' > gap.csv
  $ huddle convert gap.csv - --missing drop 2>&1 | grep rounded
  huddle: warning: integers beyond 2^53, such as 9007199254740993, are rounded to double precision
  $ printf 'a,b\n5,-9007199254740992\n1e30,2305843009213693952\n7,9007199254740991\n' > fits.csv
  $ huddle convert fits.csv -
  huddle: standard output: 3 points, 2 features
  a,b
  5,-9007199254740992
  1e+30,2.305843009213694e+18
  7,9007199254740991
  $ /usr/bin/python3 -c 'import numpy as np; np.save("next.npy", [[2**53 + 1, 2], [3, 4]]); np.save("last.npy", [[2**53 - 1, 2], [3, 4]])'
  $ huddle convert next.npy next.csv
  huddle: warning: integers beyond 2^53, such as 9007199254740992, are rounded to double precision
  huddle: next.csv: 2 points, 2 features
  $ huddle convert last.npy last.csv
  huddle: last.csv: 2 points, 2 features

Numbers beyond float32 are kept, in every format, beside columns that float32 would spoil; only clustering, which
computes with float32, refuses them. Parts of different types keep their digits too.

  $ cat > range.py <<'END'
  > import subprocess, h5py, numpy as np, scipy.io, scipy.sparse
  > def convert(*arguments):
  >     subprocess.run(["huddle", "convert", *arguments, "-q"], check=True)
  > x = np.array([[1e300, 1600003600, 5], [-1e39, 1600003601, 2.5], [3.1, 1600003602, 1], [1, 1600003602, 2]])
  > np.save("x.npy", x); np.savez("x.npz", X=x); scipy.io.savemat("x.mat", {"X": x})
  > scipy.sparse.save_npz("s.npz", scipy.sparse.csr_matrix(x))
  > with h5py.File("x.h5", "w") as file: file["X"] = x
  > np.savetxt("x.csv", x, "%r", ",")
  > np.savetxt("gap.csv", np.vstack([x, [[np.nan, 1, 2]]]), "%r", ",")
  > for ending in "npy", "npz", "mat", "h5", "csv":
  >     convert("x." + ending, "out.npy")
  >     print(ending, (np.load("out.npy") == x).all())
  > convert("gap.csv", "out.npy", "--missing", "drop")
  > print("missing", (np.load("out.npy") == x).all())
  > convert("s.npz", "out.npz")
  > print("sparse", (scipy.sparse.load_npz("out.npz") != x).sum())
  > with h5py.File("two.h5", "w") as file:
  >     file["a"] = np.array([[.5, 1], [2, 3]], "f4"); file["b"] = np.array([[.1, 4], [1e39, 5]])
  > convert("two.h5", "out.npy", "--x", "a", "--x", "b")
  > print(np.load("out.npy").tolist())
  > END
  $ /usr/bin/python3 range.py 2> /dev/null
  npy True
  npz True
  mat True
  h5 True
  csv True
  missing True
  sparse 0
  [[0.5, 1.0], [2.0, 3.0], [0.1, 4.0], [1e+39, 5.0]]
  $ huddle cluster x.csv -m kmeans -c 2
  huddle: x.csv: line 1, column 1: 1e+300 is beyond single precision
  [1]
  $ huddle cluster x.h5 -m kmeans -c 2
  huddle: x.h5: row 1, column 1: 1e+300 is beyond single precision
  [1]
  $ huddle convert x.csv out.npy --float32
  huddle: x.csv: line 1, column 1: 1e+300 is beyond single precision
  [1]
  $ printf '1,1e300\n3,1e999\n' > endless.csv
  $ huddle convert endless.csv -
  huddle: endless.csv: line 2, column 2: inf is beyond double precision
  [1]

A column that the reader leaves out, and filled values, do not move the others.

  $ printf 'a,code,b,label\n0.1,1,0.7,u\n0.2,1,0.9,u\n0.3,2,1.1,v\n0.4,2,1.3,v\n0.6,1,1.7,u\n1.9,2,2.3,v\n' > code.csv
  $ huddle convert code.csv - -q 2> /dev/null
  a,b,label
  0.1,0.7,u
  0.2,0.9,u
  0.3,1.1,v
  0.4,1.3,v
  0.6,1.7,u
  1.9,2.3,v
  $ printf 'a,b\n0.1,0.7\n,0.9\n0.3,1.1\n' > gap.csv
  $ huddle convert gap.csv - -q --missing mean 2> /dev/null
  a,b
  0.1,0.7
  0.2,0.9
  0.3,1.1

Rounded on request, except columns that would lose what distinguishes their rows.

  $ huddle convert --float32 when.csv round.npz -q
  $ printf 'a,b\n1600003600,0.1\n1600003601,0.2\n1600003602,0.25\n' > seconds.csv
  $ huddle convert --float32 seconds.csv seconds.npz -q
  $ /usr/bin/python3 -c '
  > import numpy as np
  > print(np.load("round.npz")["X"].dtype, np.load("seconds.npz")["X"].dtype, np.load("seconds.npz")["X"][:, 0] - 1600003600)'
  float32 float64 [0. 1. 2.]
