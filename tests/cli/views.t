Two views of the digits: pixels, and magnitudes of Fourier coefficients, which shifts preserve.

  $ /usr/bin/python3 -c '
  > import numpy as np
  > from sklearn.datasets import load_digits
  > X, y = load_digits(return_X_y=True)
  > S = np.abs(np.fft.fft2(X.reshape(-1, 8, 8)))
  > low = [(a, b) for a in range(5) for b in range(8) if a not in (0, 4) or b <= 4]
  > F = np.stack([S[:, a, b] for a, b in low], axis=1).astype("f4")
  > np.save("pixels.npy", X.astype("f4"))
  > np.save("spectra.npy", F)
  > np.save("short.npy", F[:-1])
  > np.savez("both.npz", pixels=X.astype("f4"), spectra=F, labels=y)
  > np.savetxt("spectra.csv", F, "%.9g", ",")'

  $ huddle cluster digits --view spectra.npy -m sc -q --save sc.model -o labels.txt | grep -E 'method|views'
    method     sc, 10 clusters
    views      64 features, weight *; 34 features, center-rows, weight * (glob)

An array of another file, or of DATA itself: the same labels.

  $ huddle cluster both.npz --x pixels --y labels --view :spectra -m sc -q -o a.txt > /dev/null
  $ huddle cluster pixels.npy --image none --view both.npz:spectra -m sc -c 10 -q -o b.txt > /dev/null
  $ huddle cluster both.npz --x pixels --y labels --view spectra.csv -m sc -q -o c.txt > /dev/null
  $ cmp labels.txt a.txt && cmp labels.txt b.txt && cmp labels.txt c.txt

Both together are better than each.

  $ score() {
  >   huddle cluster "$@" -m sc -q --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["scores"]["acc"], r["scores"]["nmi"])'; }
  $ score both.npz --x pixels --y labels > pixels
  $ score both.npz --x spectra --y labels > spectra
  $ score both.npz --x pixels --y labels --view :spectra > together
  $ /usr/bin/python3 -c '
  > read = lambda name: [float(t) for t in open(name).read().split()]
  > print(all(b > max(p, s) for p, s, b in zip(*map(read, ("pixels", "spectra", "together")))))'
  True

The weights are in the JSON; they can be given.

  $ huddle cluster digits --view spectra.npy -m ssc -q --json --view-weights 3,1 | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["options"]["view_weights"], [(v["d"], v["weight"], v["prepare"]["rule"]) for v in r["views"]])'
  3,1 [(64, 0.75, 'none'), (34, 0.25, 'center-rows')]

New points need the same views.

  $ huddle predict sc.model digits --view spectra.npy | cmp - labels.txt
  $ huddle predict sc.model pixels.npy --image none --view both.npz:spectra | cmp - labels.txt
  $ huddle predict sc.model digits
  huddle: digits: the model was fitted to 2 views of its points, but there is 1
  [1]
  $ huddle predict sc.model digits --view pixels.npy
  huddle: digits: view 2: there are 64 features, the model was fitted to 34
  [1]

What does not fit is named.

  $ huddle cluster digits --view short.npy -m sc -q
  huddle: --view short.npy: 1796 rows, but digits has 1797
  [1]
  $ huddle cluster digits --view missing.npy -m sc -q
  huddle: missing.npy: cannot be opened: No such file or directory
  [1]
  $ huddle cluster digits --view both.npz:colours -m sc -q 2>&1 | head -1
  huddle: both.npz: * (glob)
  $ huddle cluster digits --view spectra.npy -m kmeans -q
  huddle: method kmeans takes one view of the points, not 2; rmsc, sc and ssc take several
  [2]
  $ huddle cluster digits --view spectra.npy -m sc --view-weights 1,2,3 -q
  huddle: digits: view_weights has 3 numbers for 2 views
  [1]
  $ huddle cluster digits --view spectra.npy -m sc --view-weights 1,x -q
  huddle: view_weights = 1,x: expected one of auto|equal|numbers
  [2]
  $ huddle cluster digits --view spectra.npy --per-class 3 -q
  huddle: --view and --per-class cannot be combined
  [2]
  $ huddle cluster digits --view spectra.npy --missing drop -q
  huddle: --missing drop would leave out rows of one view only; --missing mean and median keep all
  [2]
