To stdout as CSV, or to a file.

  $ huddle generate moons --n 4 | sed 's/-*[0-9.]*,-*[0-9.]*,/A,B,/'
  x1,x2,label
  A,B,0
  A,B,1
  A,B,0
  A,B,1
  $ for kind in moons rings spirals blobs swissroll; do
  >   huddle generate $kind --n 60 -o $kind.npz
  >   huddle info $kind.npz --json | tr -d '\n ' | grep -o '"n":[^,]*,"d":[^,]*,"n_classes":[^,]*'
  > done
  huddle: moons.npz: 60 points, 2 features, 2 classes
  "n":60,"d":2,"n_classes":2
  huddle: rings.npz: 60 points, 2 features, 3 classes
  "n":60,"d":2,"n_classes":3
  huddle: spirals.npz: 60 points, 2 features, 3 classes
  "n":60,"d":2,"n_classes":3
  huddle: blobs.npz: 60 points, 2 features, 5 classes
  "n":60,"d":2,"n_classes":5
  huddle: swissroll.npz: 60 points, 3 features, 4 classes
  "n":60,"d":3,"n_classes":4

Points depend on the seed.

  $ huddle generate rings --seed 1 -q > a.csv
  $ huddle generate rings --seed 1 -q > b.csv
  $ huddle generate rings --seed 2 -q > c.csv
  $ cmp a.csv b.csv
  $ cmp -s a.csv c.csv
  [1]
  $ huddle generate rings --seed 1 -o d.csv -q
  $ cmp a.csv d.csv
  $ wc -l < a.csv
  1001
