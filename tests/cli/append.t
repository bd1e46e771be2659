--append writes the table with a column of labels; the rest remains byte for byte.

  $ cat > points.csv << END
  > # measured by hand
  > name;"width, cm";height
  > "a ""quoted"" name";1,50;1
  > b;1,60;1,0
  > c;9,50;8
  > 
  > d;9,60;7,9
  > END
  $ huddle cluster points.csv -m kmeans -c 2 -q --append -o out.csv | head -1
  points.csv: 4 points, 2 features
  $ cat out.csv
  # measured by hand
  name;"width, cm";height;cluster
  "a ""quoted"" name";1,50;1;0
  b;1,60;1,0;0
  c;9,50;8;1
  
  d;9,60;7,9;1

Without -o it is written to stdout. Both ends may be pipes.

  $ huddle cluster points.csv -m kmeans -c 2 -q --append | cmp - out.csv
  $ cat points.csv | huddle cluster - -m kmeans -c 2 -q --append | cmp - out.csv
  $ cut -d';' -f1-3 out.csv | cmp - points.csv

The result is a table with a column of labels, which keeps its name if it is labelled again.

  $ huddle score out.csv out.csv | head -1
  huddle: out.csv: the labels are those in column 4 (cluster)
  huddle: out.csv: the labels are those in column 4 (cluster)
  acc     1.0000
  $ huddle cluster out.csv -m kmeans --x 2,3 -c 2 -q --append | sed -n 2,3p
  name;"width, cm";height;cluster;cluster.1
  "a ""quoted"" name";1,50;1;0;0

Rows that were dropped have -1. predict adds a column as well; a table without names gets none.

  $ printf '1 1\n2 NA\n9 9\n9 8\n' > blanks.txt
  $ huddle cluster blanks.txt -m kmeans -c 2 --missing drop -q --append --save model 2> /dev/null
  1 1 0
  2 NA -1
  9 9 1
  9 8 1
  $ printf '8,8\r\n0,1' | huddle predict model - --append | od -An -c
     8   ,   8   ,   1  \r  \n   0   ,   1   ,   0

--confidence adds how certain each label is; a row without a label has none. --json has means, --dump an array.

  $ huddle cluster blanks.txt -m kmeans -c 2 --missing drop -q --append --confidence 2> /dev/null
  1 1 0 1
  2 NA -1 NA
  9 9 1 0.95* (glob)
  9 8 1 0.95* (glob)
  $ huddle cluster points.csv -m kmeans -c 2 -q --confidence --dump parts -o sure.csv | head -1
  points.csv: 4 points, 2 features
  $ cat sure.csv
  cluster,confidence
  0,0.9* (glob)
  0,0.9* (glob)
  1,0.9* (glob)
  1,0.9* (glob)
  $ huddle cluster points.csv -m kmeans -c 2 -q --json > report.json
  $ /usr/bin/python3 << END
  > import json, numpy as np
  > rows = np.genfromtxt("sure.csv", delimiter=",", names=True)
  > own = json.load(open("report.json"))["confidence"]
  > print(np.allclose(np.load("parts/confidence.npy"), rows["confidence"], rtol=0, atol=1e-15),
  >       np.isclose(own["mean"], rows["confidence"].mean()),
  >       np.allclose(own["clusters"], [rows["confidence"][rows["cluster"] == k].mean() for k in (0, 1)]))
  > END
  True True True

It has the decimal sign of the table, which the first rows need not show.

  $ printf 'a;b\n1;2\n1;3\n9;8,5\n9,5;8\n' > commas.csv
  $ huddle cluster commas.csv -m kmeans -c 2 -q --append --confidence | sed 's/[0-9]*$/DIGITS/'
  a;b;cluster;confidenceDIGITS
  1;2;0;0,DIGITS
  1;3;0;0,DIGITS
  9;8,5;1;0,DIGITS
  9,5;8;1;0,DIGITS
  $ printf 'a,b\n1,"2,5"\n1,3\n9,8\n' > quoted.csv
  $ huddle cluster quoted.csv -m kmeans -c 2 -q --append --confidence | sed 's/[0-9]*"$/DIGITS/' | head -2
  a,b,cluster,confidence
  1,"2,5",0,"0,DIGITS
  $ printf 'a;b\n1;1,234\n1;2,345\n9;8,125\n' > three.csv
  $ huddle cluster three.csv -m kmeans -c 2 -q --append --confidence | sed 's/[0-9]*$/DIGITS/' | sed -n 2p
  1;1,234;0;0,DIGITS
  $ printf 'a,b\n1,2.5\n1,3\n9,8\n' > points.tsv
  $ huddle cluster points.tsv -m kmeans -c 2 -q --append --confidence | sed 's/[0-9]*$/DIGITS/' | sed -n 2p
  1,2.5,0,0.DIGITS

  $ huddle cluster points.csv --confidence
  huddle: --confidence needs -o FILE
  [2]
  $ huddle cluster points.csv --confidence -o sure.npy
  huddle: sure.npy: labels can be written as .csv or .txt
  [2]
  $ huddle cluster points.csv -c 2-3 --confidence --labels all -o sure.csv
  huddle: --confidence is that of one number of clusters and cannot be combined with --labels all
  [2]

One column for each number of clusters of a range.

  $ huddle cluster points.csv -m kmeans -c 1-3 --labels all -q -o all.csv > /dev/null
  $ cat all.csv
  cluster_1,cluster_2,cluster_3
  0,0,0
  0,0,0
  0,1,1
  0,1,2
  $ huddle cluster points.csv -m kmeans -c 1-3 --labels all -q --append | sed -n 2,3p
  name;"width, cm";height;cluster_1;cluster_2;cluster_3
  "a ""quoted"" name";1,50;1;0;0;0
  $ huddle cluster points.csv -m kmeans -c 1-3 --labels all -q -o - | cmp - all.csv

Only tables have columns, which is checked before the fit, and rows must be those of the table.

  $ huddle convert points.csv points.npy -q
  $ huddle cluster points.npy -m kmeans -c 9999 -q --append -o out.csv
  huddle: points.npy: a column can be added to a table (CSV, TSV) only
  [1]
  $ huddle cluster digits --append
  huddle: digits: --append adds a column to a file; huddle generate digits writes one
  [2]
  $ huddle cluster points.csv --append --per-class 2
  huddle: --append needs all rows of the table and cannot be combined with --per-class
  [2]
  $ huddle cluster points.csv --append -o points.csv
  huddle: points.csv: is also an input and would be overwritten; choose another file
  [2]
  $ huddle cluster - --append -o points.csv < points.csv
  huddle: points.csv: is also an input and would be overwritten; choose another file
  [2]
  $ huddle cluster points.csv --append -o out.npy
  huddle: out.npy: labels can be written as .csv, .tsv or .txt
  [2]
  $ huddle cluster points.csv -c 3 --labels all -o all.csv
  huddle: --labels all needs a range of numbers of clusters, such as -c 2-20
  [2]
  $ huddle cluster points.csv -c 2-3 --labels all
  huddle: --labels all needs -o FILE
  [2]
  $ huddle cluster points.csv -c 2-3 --labels all -o all.npy
  huddle: all.npy: labels can be written as .csv or .txt
  [2]
  $ huddle cluster points.csv -c 2-3 --labels al -o all.csv
  huddle: --labels: unknown value 'al'; did you mean 'all'?
  [2]

Labels in CSV files have a header, in others none; labels are read with and without.

  $ huddle cluster points.csv -m kmeans -c 2 -q -o labels.csv > /dev/null; cat labels.csv
  cluster
  0
  0
  1
  1
  $ huddle cluster points.csv -m kmeans -c 2 -q -o labels.txt > /dev/null; cat labels.txt
  0
  0
  1
  1
  $ huddle score labels.csv labels.txt | head -1
  acc     1.0000
  $ huddle predict model labels.csv 2>&1 | head -1
  huddle: * (glob)
  $ printf 'cluster\nfox\nfox\nowl\nowl\n' > words.csv
  $ huddle score words.csv labels.csv | head -1
  acc     1.0000
