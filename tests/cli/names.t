Names of options that people try first.

  $ huddle generate moons --n 200 > moons.csv
  $ huddle cluster moons.csv -m kmeans --seed 3 --n-threads 1 -q -o first.txt > /dev/null
  $ huddle cluster moons.csv -m kmeans --random-state 3 -j 1 -q -o second.txt > /dev/null
  $ huddle cluster moons.csv -m kmeans --random_state=3 -j1 -q -o third.txt > /dev/null
  $ huddle cluster moons.csv -m kmeans --n_clusters 2 --seed 3 --n_jobs 1 -q -o fourth.txt > /dev/null
  $ cmp first.txt second.txt && cmp first.txt third.txt && cmp first.txt fourth.txt
  $ huddle -V | sed 's/[0-9.]*$/VERSION/'
  huddle VERSION
  $ huddle --version > version
  $ huddle cluster -V | cmp - version
  $ huddle help -V | cmp - version

Where a letter or name is not accepted, what it would be here is suggested.

  $ huddle cluster moons.csv -k 3
  huddle: cluster has no option -k; did you mean -c, --n-clusters?
  [2]
  $ huddle cluster moons.csv -n 3
  huddle: cluster has no option -n; did you mean -c, --n-clusters?
  [2]
  $ huddle generate moons -n 3
  huddle: generate has no option -n; did you mean --n?
  [2]
  $ huddle cluster moons.csv -t 2
  huddle: cluster has no option -t; did you mean -j, --n-threads?
  [2]
  $ huddle cluster moons.csv --k 3
  huddle: cluster has no option --k; did you mean --n-clusters?
  [2]
  $ huddle cluster moons.csv --num_clusters 3
  huddle: cluster has no option --num_clusters; did you mean --n-clusters?
  [2]
  $ huddle cluster moons.csv --neighbors 3
  huddle: cluster has no option --neighbors; did you mean --n-neighbors?
  [2]
  $ huddle cluster moons.csv --threads 3
  huddle: cluster has no option --threads; did you mean --n-threads?
  [2]
  $ huddle cluster moons.csv --out labels.csv
  huddle: cluster has no option --out; did you mean --output?
  [2]
  $ huddle info moons.csv --trans
  huddle: info has no option --trans; did you mean --transpose?
  [2]
  $ huddle info moons.csv --k 3
  huddle: info has no option --k; see huddle help info
  [2]

Several columns in one option; names that contain commas in quotes or one by one.

  $ printf 'a,"b,c",d\n1,2,3\n4,5,7\n6,1,2\n' > table.csv
  $ for x in a,d 1,3 '"b,c",d' '"b,c"' 1-2; do huddle info table.csv --x "$x" | sed -n 4p; done
  features  2
  features  2
  features  2
  features  1
  features  2
  $ huddle info table.csv --x b,c --x d | sed -n 4p
  features  2
  $ huddle info table.csv --x a,e
  huddle: table.csv: no column 'e'; it has a, b,c, d
  [1]
  $ /usr/bin/python3 -c 'import numpy as n; n.savez("parts.npz", p=n.ones((3, 2)), q=n.zeros((4, 2)))'
  $ huddle info parts.npz --x p,q | sed -n 3p
  points    7
  $ printf '0\n1\n1\n' > 'la,bels.txt'
  $ huddle info table.csv --x a --y la,bels.txt | sed -n 5p
  classes   2: 0 1

-v prints more, -q only errors. Short runs print no progress where stderr is not a terminal.

  $ huddle cluster moons.csv -m kmeans -o labels.txt > /dev/null
  $ huddle cluster moons.csv -m kmeans -o labels.txt -v 2>&1 > /dev/null | sed 's/[0-9][0-9.]*/N/g' | uniq
  huddle: huddle N, engine cpu, N thread* (glob)
  huddle: read, after N s
  huddle: kmeans, after N s
  huddle: labels.txt: labels written
  $ script -qec 'huddle cluster digits -m kmeans --n-init 2000' /dev/null < /dev/null | tr '\r' '\n' | grep -c 'kmeans .*\[#*-*\].*/s .* left'
  [1-9][0-9]* (re)
