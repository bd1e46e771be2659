A limit of memory that no fit can keep: refused at once, with what is needed, and nothing is written.

  $ huddle generate blobs --n 30000 --noise 3 -o points.npy -q
  $ huddle cluster points.npy -m sc -c 20 --memory 20M -o labels.npy --save model --dump dump -q
  huddle: points.npy: the fit would need about * of memory (in stage *), but it may use 20 MB; allow more, or: fewer points, clusters or neighbours need less (glob)
  [1]
  $ ls -A
  points.npy

  $ huddle cluster points.npy --memory lots
  huddle: memory = lots: expected a number and a unit (K, M, G, T), such as 500M or 4G
  [2]
