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
    "left_out": 0,
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

Rows with missing values have no cluster in the tool's own files, and are not scored.

  $ printf '0 0 a\n0 1 a\n1 NA a\nNA 0 b\n9 9 b\n9 8 b\n8 9 b\n1 1 a\n' > gaps.txt
  $ huddle cluster gaps.txt -m kmeans -c 2 --missing drop -q -o left.txt > /dev/null
  $ tr '\n' ' ' < left.txt
  0 0 -1 -1 1 1 1 0  (no-eol)
  $ huddle score gaps.txt left.txt | head -7
  acc     1.0000
  nmi     1.0000
  ari     1.0000
  purity  1.0000
  
  left out: 2 of 8 rows, which have the label -1
  
  $ huddle score gaps.txt left.txt --json | head -4
  {
    "n": 6,
    "left_out": 2,
    "scores": {

On the graph of all rows, or of those that have a cluster: the edges of the others do not count.

  $ /usr/bin/python3 -c '
  > import numpy as np, scipy.sparse as sp
  > truth = np.array([0, 0, 0, 1, 1, 1, 1, 0]); A = 1.0 * (truth[:, None] == truth); A[2] = A[:, 2] = 5
  > sp.save_npz("all.npz", sp.csr_matrix(A))
  > kept = [0, 1, 4, 5, 6, 7]; sp.save_npz("some.npz", sp.csr_matrix(A[np.ix_(kept, kept)]))'
  $ huddle score gaps.txt left.txt --graph all.npz > all.out
  $ huddle score gaps.txt left.txt --graph some.npz | diff all.out -
  $ grep modularity all.out
  modularity       0.5000     0.5000

Labels of -1 and 1 are two clusters, and a class may be -1.

  $ printf -- '-1\n-1\n1\n1\n' > signs.txt
  $ printf '1\n1\n-1\n-1\n' > minus.txt
  $ huddle score signs.txt minus.txt | head -1
  acc     1.0000
  $ printf '0\n0\n1\n-1\n' > three.txt
  $ huddle score signs.txt three.txt
  acc     1.0000
  nmi     1.0000
  ari     1.0000
  purity  1.0000
  
  left out: 1 of 4 rows, which have the label -1
  
         cluster
  class   0   1
  -1      2   .
  1       .   1

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

Where no row has a cluster there is nothing to score.

  $ printf -- '-1\n-1\n-1\n-1\n' > none.txt
  $ huddle score three.txt none.txt
  huddle: none.txt: no row has a cluster: every label is -1
  [1]
  $ huddle score none.txt three.txt | head -1
  acc     0.6667

The table that --append has written: its clusters are the labels, its classes the truth.

  $ printf 'a,b,species\n0,0,u\n0,1,u\n9,9,v\n9,8,u\n' > flowers.csv
  $ huddle cluster flowers.csv -m kmeans -c 2 -q --append -o appended.csv > /dev/null
  $ cat appended.csv
  a,b,species,cluster
  0,0,u,0
  0,1,u,0
  9,9,v,1
  9,8,u,1
  $ huddle score flowers.csv appended.csv
  huddle: appended.csv: the labels are those in column 4 (cluster)
  acc     0.7500
  nmi     0.3456
  ari     0.0000
  purity  0.7500
  
         cluster
  class  0  1
  u      2  1
  v      .  1
  $ huddle score appended.csv appended.csv | head -1
  huddle: appended.csv: the labels are those in column 3 (species)
  huddle: appended.csv: the labels are those in column 4 (cluster)
  acc     0.7500
  $ huddle cluster appended.csv --y species -m kmeans -c 3 -q --append -o twice.csv > /dev/null
  $ head -1 twice.csv
  a,b,species,cluster,cluster.1
  $ huddle score flowers.csv twice.csv | tail -2
  huddle: twice.csv: the labels are those in column 5 (cluster.1)
  u      1  1  1
  v      .  1  .

The column of labels is the one that info names.

  $ printf 'country,region,a\nfr,eu,1\nit,eu,2\njp,as,3\ncn,as,4\n' > regions.csv
  $ huddle info regions.csv -q | grep ^labels
  labels    region, the only text column whose values repeat; 2 classes (cluster sets -c 2)
  $ printf '0\n0\n1\n1\n' > found.txt
  $ huddle score regions.csv found.txt | head -1
  huddle: regions.csv: the labels are those in column 2 (region)
  acc     1.0000
  $ seq 30 | awk 'BEGIN { print "class,region,a" } { print "c" $1 "," ($1 > 15) "x," $1 }' > classes.csv
  $ huddle info classes.csv -q | grep ^labels
  labels    region, the only text column whose values repeat; 2 classes (cluster sets -c 2)
  $ seq 30 | awk '{ print ($1 > 15) }' > found.txt
  $ huddle score classes.csv found.txt -q | head -1
  acc     1.0000
  $ printf 'class,region,a\n' > few.csv
  $ seq 10 | awk '{ print "c" $1 "," ($1 > 5) "x," $1 }' >> few.csv
  $ huddle info few.csv -q | grep ^labels
  labels    region, the only text column whose values repeat; 2 classes (cluster sets -c 2)
  $ seq 10 | awk '{ print ($1 > 5) }' > halves.txt
  $ huddle score few.csv halves.txt -q | head -1
  acc     1.0000
  $ printf 'country,a\nfr,1\nit,2\n' > names.csv
  $ huddle score names.csv found.txt
  huddle: names.csv: column 1 (country) names the rows, and no other column is known to hold labels
  [1]
  $ printf 'country,region,kind,a\nfr,eu,u,1\nit,eu,u,2\njp,as,v,3\n' > kinds.csv
  $ huddle score kinds.csv found.txt
  huddle: kinds.csv: it has 4 columns, and none is known to hold labels
  [1]
  $ printf 'kind,a\nu,1\n' > one.csv
  $ printf '0\n' > zero.txt
  $ huddle score one.csv zero.txt | head -1
  acc     1.0000

What is guessed about the first line of a file of labels is reported.

  $ printf 'a,b,class\nm,m/s,\n1.5,2,1\n3,7,2\n' > units.csv
  $ printf '3\n2\n' > two.txt
  $ huddle score units.csv two.txt | head -1
  huddle: warning: units.csv: line 2 (m, m/s, ) is read as the units of the columns, not as a row
  acc     1.0000
