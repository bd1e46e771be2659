A table whose first column, in another unit, says nothing: the columns are scaled, and the report
says so.

  $ cat > make.py <<'END'
  > import numpy as np
  > random = np.random.default_rng(1)
  > y = np.arange(300) % 3
  > X = random.standard_normal((300, 7)) + 3 * (np.arange(7) % 3 == y[:, None])
  > X[:, 0] = 1000 * random.standard_normal(300)
  > np.savetxt("table.csv", np.c_[X, y], delimiter=",", header="a,b,c,d,e,f,g,class", comments="")
  > angle, ring = 2 * np.pi * random.random(600), np.arange(600) % 2
  > np.savetxt("rings.csv", np.c_[np.cos(angle), np.sin(angle)] * (1 + 2 * ring[:, None])
  >            + .05 * random.standard_normal((600, 2)), delimiter=",")
  > np.savetxt("clouds.csv", random.standard_normal((600, 2))
  >            + 3 * np.c_[ring, np.arange(600) // 2 % 2], delimiter=",")
  > np.savetxt("wide.csv", random.standard_normal((100, 12)), delimiter=",")
  > END
  $ /usr/bin/python3 make.py
  $ decision() { # the line of the summary, without line breaks and with N for numbers
  >     huddle cluster "$@" -q | sed -n '/^  decision/,/^  seconds/p' | grep -v '^  seconds' |
  >         tr -s ' \n' ' ' | sed 's/[01]\.[0-9]*/N/g'; echo
  > }
  $ decision table.csv
   decision 7 columns of different units: standardised and limited to 2 standard deviations; K-means is more stable than the graph (N, N): its labels are used 
  $ huddle cluster table.csv -q | grep -c 'warning'
  0
  [1]
  $ huddle cluster table.csv -q --json > table.json
  $ cat > check.py <<'END'
  > import json
  > r = json.load(open("table.json"))
  > assert r["scores"]["ari"] > .9 and r["prepare"]["rule"] == "clip"
  > assert r["prepare"]["table"]["kind"] == "units" and r["prepare"]["table"]["n_columns"] == 7
  > assert 1 <= r["prepare"]["table"]["n_effective"] < 1.01
  > decision = r["refine"]["decision"]
  > assert all(-1 <= decision[k]["stability"] <= 1 for k in ("kmeans", "graph", "commute"))
  > assert all(decision[k][s] >= 0 for k in ("kmeans", "graph") for s in ("divergence", "ncut"))
  > assert (r["refine"]["from"] == "kmeans") == (decision["kmeans"]["stability"] >
  >                                              decision["graph"]["stability"])
  > END
  $ /usr/bin/python3 check.py

Every decision can be made by the user instead.

  $ decision table.csv --refine graph
   decision 7 columns of different units: standardised and limited to 2 standard deviations 
  $ decision table.csv --prepare none
   decision 7 columns of different units; K-means is more stable than the graph (N, N): its labels are used 
  $ huddle cluster table.csv -q --refine none | grep -c '^  decision\|warning .*feature 1 (a) holds'
  1

Rings have the labels of the graph, overlapping clouds those of K-means; points of many columns in
one unit are not asked about.

  $ decision rings.csv -c 2
   decision the labels of the graph are clearly better than those of K-means (normalised cut N, N) 
  $ decision clouds.csv -m sc -c 4
   decision K-means is more stable than the graph (N, N): its labels are used 
  $ huddle cluster clouds.csv -m sc -c 4 -q | grep '^  refined'
    refined    replaced by K-means on the points; 30 of 600 labels changed
  $ huddle cluster wide.csv -q -m sc -c 4 | grep -c '^  decision'
  0
  [1]
