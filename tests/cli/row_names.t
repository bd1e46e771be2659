Names of rows in the reports: those of the rows that are read, in their order.

  $ printf 'country,gdp,life\nfr,1,2\nit,,3\n"a, ""b""",9,8\njp,9,9\nus,1,4\nes,2,3\n' > c.csv
  $ huddle info c.csv --missing drop -q | grep -A1 '^row names'
  row names country: 6 distinct values in 6 rows
  rows      fr, a, "b", jp, us, es
  $ huddle info c.csv --missing mean -q | grep '^rows'
  rows      fr, it, a, "b", jp, us, es
  $ huddle info c.csv --missing drop -q --json | grep row_names
    "row_names": ["fr", "a, \"b\"", "jp", "us", "es"],
  $ huddle cluster c.csv -m kmeans -c 2 --missing drop -q --json --save model | grep medoid_names
    "medoid_names": ["es", "a, \"b\""],
  $ huddle cluster c.csv -m kmeans -c 2 --missing drop -q --json | /usr/bin/python3 -c '
  > import json, sys
  > report = json.load(sys.stdin)
  > names = ["fr", "a, \"b\"", "jp", "us", "es"]
  > print(report["medoid_names"] == [names[i] for i in report["medoids"]], len(report["medoids"]))'
  True 2
  $ huddle predict model c.csv --missing drop -q --json | grep -E 'labels|row_names'
    "labels": [0, 1, 1, 0, 0],
    "row_names": ["fr", "a, \"b\"", "jp", "us", "es"],
  $ seq 9 | awk 'BEGIN { print "id,a" } { print "r" $1 "," $1 }' > many.csv
  $ huddle info many.csv -q | grep '^rows'
  rows      r1, r2, r3, r4, r5, r6, ...

Without names there are none.

  $ printf 'a,b\n1,2\n3,4\n' > plain.csv
  $ (huddle info plain.csv -q --json; huddle cluster plain.csv -m kmeans -c 2 -q --json) | grep -E 'row_names|medoid_names'
  [1]
