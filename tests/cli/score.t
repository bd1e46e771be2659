Two files of labels with different names for the clusters.

  $ printf 'cat\ncat\ncat\ndog\ndog\nowl\n' > truth.txt
  $ printf '5\n5\n7\n7\n7\n9\n' > labels.csv
  $ huddle score truth.txt labels.csv
  acc     0.8333
  nmi     0.6853
  ari     0.3182
  purity  0.8333
  
         cluster
  class  5  7  9
  cat    2  1  .
  dog    .  2  .
  owl    .  .  1
  $ huddle score truth.txt labels.csv --json
  {
    "n": 6,
    "scores": {
      "acc": 0.8333333333333334,
      "nmi": 0.6853314789615865,
      "ari": 0.3181818181818182,
      "purity": 0.8333333333333334
    },
    "confusion": {
      "classes": ["cat", "dog", "owl"],
      "clusters": ["5", "7", "9"],
      "counts": [
        [2, 1, 0],
        [0, 2, 0],
        [0, 0, 1]
      ],
      "match": [0, 1, 2]
    }
  }

Perfect agreement, with other names, in another format.

  $ /usr/bin/python3 -c '
  > import numpy as np
  > np.save("perfect.npy", np.array([2, 2, 2, 0, 0, 1]))'
  $ huddle score truth.txt perfect.npy
  acc     1.0000
  nmi     1.0000
  ari     1.0000
  purity  1.0000
  
         cluster
  class  2  0  1
  cat    3  .  .
  dog    .  2  .
  owl    .  .  1

More clusters than classes.

  $ printf '0\n1\n2\n3\n4\n5\n' > many.txt
  $ huddle score truth.txt many.txt
  acc     0.5000
  nmi     0.7513
  ari     0.0000
  purity  1.0000
  
         cluster
  class  0  3  5  1  2  4
  cat    1  .  .  1  1  .
  dog    .  1  .  .  .  1
  owl    .  .  1  .  .  .

Names in any script are aligned.

  $ printf 'K\303\244fer\nK\303\244fer\n\347\214\253\nAmeise\n' > names.txt
  $ printf '\303\244\n\303\244\nbb\nc\n' > found.txt
  $ huddle score names.txt found.txt | tail -4
  class    c   \xc3\xa4  bb (esc)
  Ameise   1   .   .
  K\xc3\xa4fer    .   2   . (esc)
  \xe7\x8c\xab       .   .   1 (esc)

The labels of a data set.

  $ huddle cluster digits -m kmeans -o digits.txt -q > /dev/null
  $ huddle convert digits digits.csv -q
  $ huddle score digits.csv digits.txt | head -4
  acc     0.7* (glob)
  nmi     0.7* (glob)
  ari     0.6* (glob)
  purity  0.7* (glob)

  $ huddle score digits digits.txt | head -1
  acc     0.7* (glob)

Labels of a different length, and missing labels.

  $ head -5 truth.txt > five.txt
  $ huddle score truth.txt five.txt
  huddle: five.txt: 5 labels, but truth.txt has 6
  [1]
  $ huddle score truth.txt nowhere.txt
  huddle: nowhere.txt: cannot be opened: No such file or directory
  [1]
  $ : > empty.txt
  $ huddle score truth.txt empty.txt
  huddle: empty.txt: the file is empty
  [1]
