Refinement on a graph: two squares with diagonals, joined by an edge. One vertex of the first square has
the label of the second.

  $ cat > graph.mtx <<'END'
  > %%MatrixMarket matrix coordinate real symmetric
  > 8 8 13
  > 2 1 1
  > 3 1 1
  > 4 1 1
  > 3 2 1
  > 4 2 1
  > 4 3 1
  > 6 5 1
  > 7 5 1
  > 8 5 1
  > 7 6 1
  > 8 6 1
  > 8 7 1
  > 5 4 0.5
  > END
  $ printf 'left\nleft\nleft\nright\nright\nright\nright\nright\n' > sides.txt
  $ huddle refine graph.mtx sides.txt -o refined.csv
  graph.mtx: 8 vertices, 13 edges, 2 clusters
  
    start            L        J       MI        Q     ncut  sweeps  allowed
    as given    0.1143   0.1043   0.1154   0.2208   0.5208
  * sides.txt  -0.4959   0.5252   0.5252   0.4600   0.0800       3  yes
    sum        -0.4959   0.5252   0.5252   0.4600   0.0800       1  no
    levels1    -0.4959   0.5252   0.5252   0.4600   0.0800       1  no
    levels2    -0.4959   0.5252   0.5252   0.4600   0.0800       1  no
    levelsT    -0.4959   0.5252   0.5252   0.4600   0.0800       1  no
  
    L map equation, J divergence, MI information between the ends of an edge, Q modularity
  
    changed    1 of 8 labels; labels from sides.txt
    sizes      4 4

The labels keep the words of the file. In a file of numbers they are numbered in the order of the words.

  $ paste -s refined.csv
  cluster\tleft\tleft\tleft\tleft\tright\tright\tright\tright (esc)
  $ huddle refine graph.mtx sides.txt -o refined.npy > /dev/null
  $ /usr/bin/python3 -c 'import numpy as np; print(np.load("refined.npy"))'
  [0 0 0 0 1 1 1 1]

Integers are kept as they are, in any format.

  $ printf '7\n7\n7\n-2\n-2\n-2\n-2\n-2\n' > numbers.txt
  $ huddle refine graph.mtx numbers.txt -o refined.npy > /dev/null
  $ /usr/bin/python3 -c 'import numpy as np; print(np.load("refined.npy"))'
  [ 7  7  7  7 -2 -2 -2 -2]

More labels than clusters are merged; the clusters are then numbered.

  $ printf 'a\na\nb\nb\nc\nc\nd\nd\n' > four.txt
  $ huddle refine graph.mtx four.txt -c 2 -o two.csv | grep -E 'vertices|merged|changed|sizes'
  graph.mtx: 8 vertices, 13 edges, 2 clusters
    merged     4 labels into 2 clusters; labels from four.txt
    sizes      4 4
  $ paste -s two.csv
  cluster\t0\t0\t0\t0\t1\t1\t1\t1 (esc)

Options of the stage. Without sweeps and merging the labels stay as they are.

  $ huddle refine graph.mtx sides.txt --max-sweeps 0 --merge false | tail -n +3
    start            L        J       MI        Q     ncut  sweeps  allowed
    as given    0.1143   0.1043   0.1154   0.2208   0.5208
  * sides.txt   0.1143   0.1043   0.1154   0.2208   0.5208       0  yes
  
    L map equation, J divergence, MI information between the ends of an edge, Q modularity
  
    changed    0 of 8 labels; labels from sides.txt
    sizes      3 5
  $ huddle refine graph.mtx sides.txt --objective ncut --merge=false --json | grep -E '"(objective|best|n_changed)"'
    "objective": "ncut",
    "best": "sides.txt",
    "n_changed": 1,

Several starts: the first wins unless another is clearly better.

  $ printf '0\n0\n0\n0\n1\n1\n1\n1\n' > right.txt
  $ printf '0\n1\n0\n1\n0\n1\n0\n1\n' > mixed.txt
  $ huddle refine graph.mtx mixed.txt right.txt --merge false --max-sweeps 0 | tail -n +3
    start            L        J       MI        Q     ncut  sweeps  allowed
    as given    0.9120   0.0663   0.0663  -0.1800   1.3600
    mixed.txt   0.9120   0.0663   0.0663  -0.1800   1.3600       0  no
  * right.txt  -0.4959   0.5252   0.5252   0.4600   0.0800       0  yes
  
    L map equation, J divergence, MI information between the ends of an edge, Q modularity
  
    changed    4 of 8 labels; labels from right.txt
    sizes      4 4

The object of --json has the scores before, and of every start.

  $ huddle refine graph.mtx sides.txt --json > result.json
  $ /usr/bin/python3 -c '
  > import json
  > r = json.load(open("result.json"))
  > print(list(r))
  > print(r["file"], r["n"], r["edges"], r["n_clusters"], r["best"], r["n_changed"], r["sizes"])
  > print(list(r["before"]))
  > print([(t["start"], t["given"], t["allowed"]) for t in r["trials"]])
  > print(r["trials"][0]["map"] < r["before"]["map"])'
  ['file', 'n', 'edges', 'n_clusters', 'objective', 'reference', 'best', 'n_changed', 'sizes', 'before', 'trials', 'seconds']
  graph.mtx 8 13 2 sides.txt 1 [4, 4]
  ['inside', 'expected', 'divergence', 'information', 'map', 'entropy', 'modularity', 'ncut']
  [('sides.txt', True, True), ('sum', False, False), ('levels1', False, False), ('levels2', False, False), ('levelsT', False, False)]
  True

Labels of a generator, refined on the graph of the method.

  $ huddle cluster blobs --n 300 -m sc -c 5 --dump parts -o labels.csv -q > /dev/null
  $ huddle refine parts/A.npz labels.csv -o better.csv -q | head -1
  parts/A.npz: 300 vertices, 970 edges, 5 clusters
  $ wc -l < better.csv
  301
  $ huddle refine parts/A.npz labels.csv --seed 3 --json -q | grep -c '"start"'
  5

The scores of labels on a graph, beside those of the known classes.

  $ huddle score right.txt sides.txt --graph graph.mtx
  acc     0.8750
  nmi     0.5617
  ari     0.4948
  purity  0.8750
  
  on the graph      truth     labels
  map equation    -0.4959     0.1143
  divergence       0.5252     0.1043
  information      0.5252     0.1154
  modularity       0.4600     0.2208
  ncut             0.0800     0.5208
  
         cluster
  class   left  right
  0          3      1
  1          .      4
  $ huddle score right.txt sides.txt --graph graph.mtx --json | /usr/bin/python3 -c '
  > import json, sys
  > g = json.load(sys.stdin)["graph"]
  > print(list(g), g["truth"]["modularity"] > g["labels"]["modularity"])'
  ['truth', 'labels'] True

What cannot be refined is refused, with the place.

  $ huddle refine graph.mtx
  huddle: refine: missing LABELS; see huddle help refine
  [2]
  $ huddle refine graph.mtx absent.txt
  huddle: absent.txt: cannot be opened: No such file or directory
  [1]
  $ huddle refine absent.mtx sides.txt
  huddle: absent.mtx: cannot be opened: No such file or directory
  [1]
  $ head -7 sides.txt > short.txt
  $ huddle refine graph.mtx short.txt
  huddle: short.txt: 7 labels, but graph.mtx has 8 rows
  [1]
  $ huddle refine graph.mtx sides.txt short.txt
  huddle: short.txt: 7 labels, but graph.mtx has 8 rows
  [1]
  $ huddle score right.txt sides.txt --graph parts/A.npz
  huddle: parts/A.npz: 300 rows, but there are 8 labels
  [1]
  $ huddle refine graph.mtx sides.txt -c 3
  huddle: sides.txt: 2 different labels, fewer than 3 clusters
  [1]
  $ huddle refine graph.mtx sides.txt -c 0
  huddle: --n-clusters = 0: expected integer >= 1
  [2]
  $ huddle refine graph.mtx sides.txt --objective cuts
  huddle: objective = cuts: expected one of map|modularity|ncut
  [2]
  $ huddle refine graph.mtx sides.txt --max-swepes 3
  huddle: refine has no option --max-swepes; did you mean --max-sweeps?
  [2]
  $ huddle refine graph.mtx sides.txt --least-gain -1
  huddle: least_gain = -1: expected number >= 0
  [2]
  $ huddle refine graph.mtx sides.txt -o labels.mat
  huddle: labels.mat: labels can be written as .npy, .csv or .txt
  [2]
  $ huddle refine graph.mtx sides.txt -o sides.txt
  huddle: sides.txt: is also an input and would be overwritten; choose another file
  [2]
  $ huddle refine graph.mtx sides.txt -o absent/labels.csv
  huddle: absent/labels.csv: folder 'absent' does not exist
  [1]
  $ printf '%%%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 1\n2 3 1\n' > wide.mtx
  $ huddle refine wide.mtx short.txt
  huddle: wide.mtx: a matrix of 2 x 3 is not square
  [1]
  $ printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 1 1\n3 1 2\n' > directed.mtx
  $ printf '0\n0\n1\n' > three.txt
  $ printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 1 1\n' > averaged.mtx
  $ huddle refine averaged.mtx three.txt | tail -n +2 > averaged.out
  $ huddle refine directed.mtx three.txt | tail -n +2 | diff averaged.out -
  huddle: warning: the graph is not symmetric (row 3, column 1 is 2, row 1, column 3 is 0): the average of both directions, (A + A')/2, is used
  $ huddle score three.txt three.txt --graph averaged.mtx > averaged.out
  $ huddle score three.txt three.txt --graph directed.mtx | diff averaged.out -
  huddle: warning: the graph is not symmetric (row 3, column 1 is 2, row 1, column 3 is 0): the average of both directions, (A + A')/2, is used
  $ printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n2 3 1\n3 2 1\n3 1 2\n' > before.mtx
  $ huddle refine before.mtx three.txt > /dev/null
  huddle: warning: the graph is not symmetric (row 3, column 1 is 2, row 1, column 3 is 0): the average of both directions, (A + A')/2, is used
  $ huddle cluster --graph directed.mtx -m sc -c 2 --dump parts --json -q | grep -o "not symmetric"
  not symmetric
  $ /usr/bin/python3 -c 'import scipy.sparse as sp; print(sp.load_npz("parts/A.npz").toarray().tolist())'
  [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]

So are matrices of distances, of which nearest neighbours in one direction would be others.

  $ cat > distances.py <<'END'
  > import numpy as np
  > x = np.arange(8) + 20. * (np.arange(8) > 3)
  > D = abs(x[:, None] - x) * (1 + np.triu(np.ones((8, 8))) * np.arange(8) % 3)
  > np.save("directed.npy", D); np.save("both.npy", (D + D.T) / 2)
  > END
  $ /usr/bin/python3 distances.py
  $ for name in directed both; do
  >   huddle cluster $name.npy --affinity distances -m sc -c 2 --n-neighbors 2 --dump $name -q > $name.out
  >   grep -o 'the distances are not symmetric.*' $name.out
  > done
  the distances are not symmetric (row 1, column 2 is 2, row 2, column 1 is 1):
  [1]
  $ cmp directed/A.npz both/A.npz
  $ printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 -0.5\n' > negative.mtx
  $ huddle refine negative.mtx three.txt
  huddle: negative.mtx: row 2, column 3: the weight -0.5 is negative
  [1]
  $ huddle refine graph.mtx sides.txt --help | head -1
  Usage: huddle refine [OPTIONS] GRAPH LABELS ...

Loops count as weight, not as edges.

  $ printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 2\n2 1 1\n3 2 1\n' > loops.mtx
  $ huddle refine loops.mtx three.txt | head -1
  loops.mtx: 3 vertices, 2 edges, 2 clusters

A graph without edges has nothing to move.

  $ printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 0\n' > empty.mtx
  $ huddle refine empty.mtx three.txt
  empty.mtx: 3 vertices, 0 edges, 2 clusters
  
    start            L        J       MI        Q     ncut  sweeps  allowed
    as given    0.0000   0.0000   0.0000   0.0000   0.0000
  * three.txt   0.0000   0.0000   0.0000   0.0000   0.0000       1  yes
    sum         0.0000   0.0000   0.0000   0.0000   0.0000       1  no
    levels1     0.0000   0.0000   0.0000   0.0000   0.0000       1  no
    levels2     0.0000   0.0000   0.0000   0.0000   0.0000       1  no
    levelsT     0.0000   0.0000   0.0000   0.0000   0.0000       1  no
  
    L map equation, J divergence, MI information between the ends of an edge, Q modularity
  
    changed    0 of 3 labels; labels from three.txt
    sizes      2 1
