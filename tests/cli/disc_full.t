A disc that is really full; needs the right to mount a small one.

  $ mkdir disc
  $ mount -t tmpfs -o size=64k none disc 2> /dev/null || exit 80
  $ huddle convert digits disc/digits.csv -q
  huddle: disc/digits.csv: cannot be written: No space left on device
  [1]
  $ huddle convert digits disc/digits.npy -q
  huddle: disc/digits.npy: cannot be written: No space left on device
  [1]
  $ huddle convert digits disc/digits.mat -q
  huddle: disc/digits.mat: cannot be written: No space left on device
  [1]
  $ huddle convert digits disc/digits.h5 -q
  huddle: disc/digits.h5: cannot be written: * (glob)
  [1]
  $ huddle generate moons --n 100000 -o disc/moons.npz -q
  huddle: disc/moons.npz: cannot be written: * (glob)
  [1]
  $ huddle cluster blobs --n 100000 -m kmeans -c 3 --n-init 1 -o disc/labels.npy -q
  huddle: disc/labels.npy: cannot be written: No space left on device
  [1]
  $ huddle cluster digits -m kmeans --n-init 1 --dump disc/dump -q
  huddle: disc/dump/X.npy: cannot be written: No space left on device
  [1]
  $ huddle cluster digits -m sc --prepare none --n-init 1 --save disc/model -q
  huddle: disc/model: cannot be written: No space left on device
  [1]
  $ ls -A disc disc/dump
  disc:
  dump
  
  disc/dump:
  $ umount disc
