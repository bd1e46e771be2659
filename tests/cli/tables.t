Tables as they occur in practice: how each column is used, and what is reported.

A table of three kinds with a shuffled number in every row, as in many copies of iris.

  $ /usr/bin/python3 -c '
  > import csv, random
  > random.seed(1)
  > rows = []
  > for i in range(150):
  >     k = i // 50
  >     rows.append([i + 1] + ["%.2f" % random.gauss(m[k], .3) for m in
  >                  ((5, 6, 6.6), (3.4, 2.8, 3), (1.5, 4.3, 5.6), (.2, 1.3, 2))]
  >                 + [k, "setosa versicolor virginica".split()[k]])
  > names = ["Id", "sepal_length", "sepal_width", "petal_length", "petal_width", "target", "species"]
  > def write(name, rows, columns, header=True, **options):
  >     with open(name, "w") as f:
  >         w = csv.writer(f, lineterminator="\n", **options)
  >         if header: w.writerow([names[c] for c in columns])
  >         w.writerows([[row[c] for c in columns] for row in rows])
  > write("plain.csv", rows, [1, 2, 3, 4, 6])
  > write("id.csv", rows, [0, 1, 2, 3, 4, 6])
  > write("bare.csv", rows, [0, 1, 2, 3, 4, 6], header=False)
  > write("two.csv", rows, [1, 2, 3, 4, 5, 6])
  > random.shuffle(rows)
  > write("shuffled.csv", rows, [0, 1, 2, 3, 4, 6])
  > names[0] = "Unnamed: 0"
  > write("unnamed.csv", rows, [0, 1, 2, 3, 4, 6])
  > names[0] = ""
  > write("empty.csv", rows, [0, 1, 2, 3, 4, 6])
  > rows = [[v.replace(".", ",") if isinstance(v, str) else v for v in row] for row in rows]
  > write("comma.csv", rows, [1, 2, 3, 4, 6], delimiter=";")'

Row numbers are ignored, with a note, and --x brings them back.

  $ huddle info id.csv
  huddle: column 1 (Id) is ignored: row numbers 1 .. 150; name it in --x to use it
  file      id.csv
  format    csv
  points    150
  features  4
  classes   3: setosa versicolor virginica
  labels    species, a conventional name for labels; 3 classes (cluster sets -c 3)
  ignored   Id: row numbers 1 .. 150
  names     Id, sepal_length, sepal_width, petal_length, petal_width, species
  $ huddle cluster plain.csv -q | grep -E 'scores' > expected
  $ for table in id shuffled unnamed empty bare; do
  >   huddle info $table.csv -q | grep -E 'features|ignored'
  >   huddle cluster $table.csv -q | grep scores | cmp - expected
  > done
  features  4
  ignored   Id: row numbers 1 .. 150
  features  4
  ignored   Id: row numbers, a different one in every row
  features  4
  ignored   Unnamed: 0: row numbers, a different one in every row
  features  4
  ignored   column 1: row numbers, a different one in every row
  features  4
  ignored   column 1: row numbers 1 .. 150
  $ huddle info id.csv --x 1-5 | grep -E 'features|ignored'
  features  5
  $ huddle info id.csv --json -q | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["label_column"])
  > for c in r["columns"][:2] + r["columns"][5:]: print(c)'
  species
  {'name': 'Id', 'role': 'ignored', 'reason': 'row numbers 1 .. 150'}
  {'name': 'sepal_length', 'role': 'feature'}
  {'name': 'species', 'role': 'label', 'reason': 'a conventional name for labels'}

Label leak: a column that maps one to one onto the labels is ignored with a warning.

  $ huddle info two.csv --y species
  huddle: warning: column 5 (target) is ignored: it maps one to one onto the labels; name it in --x to use it
  file      two.csv
  format    csv
  points    150
  features  4
  classes   3: setosa versicolor virginica
  labels    species, chosen by --y; 3 classes (cluster sets -c 3)
  ignored   target: it maps one to one onto the labels
  names     sepal_length, sepal_width, petal_length, petal_width, target, species
  $ huddle cluster two.csv --y species -q | grep scores | cmp - expected
  $ huddle cluster two.csv --y species -q | grep -A1 warning
    warning    column 5 (target) is ignored: it maps one to one onto the labels; name it in
               --x to use it
  $ huddle cluster two.csv --y target -q | grep scores | cmp - expected
  $ huddle info two.csv --y species --x 1-5 | grep features
  features  5

Which column contains the labels and why, and what determines -c.

  $ (echo day,city,sun,rain; for i in $(seq 60); do
  >   echo 2024-$((i % 12 + 1))-$((i % 28 + 1)),c$((i % 28)),$((i % 7)).5,$((i % 11)); done) > city.csv
  $ huddle cluster city.csv -m kmeans -q | sed -n '3,5p'
    labels     city, the only text column; 28 classes (sets -c 28)
    ignored    day: dates
    method     kmeans, 28 clusters
  $ huddle cluster city.csv -m kmeans -c 2 -q | grep labels
    labels     city, the only text column
  $ huddle cluster city.csv -m kmeans --json -q | grep -E '"(n_clusters_from|label_column)"'
    "label_column": "city",
    "n_clusters_from": "classes",

Dates never become classes.

  $ huddle info city.csv -q --x 3-4 --y none | grep ^classes
  classes   none
  $ cut -d, -f1,3- city.csv > days.csv
  $ huddle info days.csv
  huddle: column 1 (day) is ignored: dates
  file      days.csv
  format    csv
  points    60
  features  2
  classes   none
  ignored   day: dates
  names     day, sun, rain
  $ huddle info days.csv --x day
  huddle: days.csv: line 2, column 1 (day): '2024-2-2' is a date, and dates are not read as numbers
  [1]

Semicolons with decimal commas; currencies, per cent and thousands.

  $ head -2 comma.csv | tail -1 | grep -c ';.*,.*;'
  1
  $ huddle cluster comma.csv -q | grep scores | cmp - expected
  $ printf 'price;share;count\n$3.10;5 %%;1,000\n$1,250.00;7.5 %%;12\n' > shop.csv
  $ huddle convert shop.csv shop2.csv -q && cat shop2.csv
  price,share,count
  3.1,0.05,1000
  1250,0.075,12
  $ printf 'a;b\n1.234,5;1\n2,25;2\n' > both.csv
  $ huddle convert both.csv both2.csv -q && cat both2.csv
  a,b
  1234.5,1
  2.25,2

Commas that could mean both are read by a rule that is reported.

  $ printf 'a;b\n1,234;7\n2,345;9\n' > open.csv
  $ huddle convert open.csv open2.csv && cat open2.csv
  huddle: warning: column 1 (a): 2,345 is read as 2.345, the comma being the decimal sign
  huddle: open2.csv: 2 points, 2 features
  a,b
  1.234,7
  2.345,9

Missing values: the place, and what to do about it.

  $ printf 'a,b,kind\n1,2,u\n3,NA,v\n9,?,u\n8,8,v\n1,1,u\n' > gaps.csv
  $ huddle cluster gaps.csv -m kmeans
  huddle: gaps.csv: line 3, column 2 (b): the value is missing; --missing drop|mean|median leaves such rows out or fills them
  [1]
  $ huddle convert gaps.csv full.csv --missing mean && cat full.csv
  huddle: warning: 2 missing values were filled in by the mean of the column
  huddle: full.csv: 5 points, 2 features, 2 classes
  a,b,label
  1,2,u
  3,3.6666666666666665,v
  9,3.6666666666666665,u
  8,8,v
  1,1,u
  $ huddle convert gaps.csv full.csv --missing median -q && cut -d, -f2 full.csv | tr '\n' ' '
  b 2 2 2 8 1  (no-eol)

Rows that are dropped keep their place among the labels.

  $ huddle cluster gaps.csv --missing drop -m kmeans -q -o labels.txt | grep -A1 -E 'points|warning'
  gaps.csv: 3 points, 2 features, 2 classes
  
  --
    warning    2 of 5 rows dropped because a value is missing: rows 2, 3
  $ tr '\n' ' ' < labels.txt | tr 01 ab
  a -b -b b a  (no-eol)
  $ huddle cluster gaps.csv --missing drop -m kmeans -q --json | tr -d ' \n' | grep -o '"dropped_rows":[^]]*]'
  "dropped_rows":[1,2]
  $ huddle cluster full.csv -m kmeans -q --save model.h5 > /dev/null
  $ huddle predict model.h5 gaps.csv --missing drop -q | sed 's/[01]$/k/' | tr '\n' ' '
  k -k -k k k  (no-eol)
  $ huddle info digits --missing mean
  huddle: digits: missing = mean is for tables (CSV, TSV) only
  [1]
  $ huddle info moons --missing mean
  huddle: moons: --missing applies only to files
  [2]
  $ huddle info gaps.csv --missing guess
  huddle: --missing = guess: expected one of error|drop|mean|median
  [2]

Text columns: the message contains an --x that works.

  $ printf 'size,city,"max temp",kind\n1,P,4,u\n6,R,8,v\n3,P,5,u\n2,R,1,u\n' > texts.csv
  $ huddle info texts.csv
  huddle: texts.csv: column 2 (city), column 4 (kind): text, not numbers; select the numeric columns with --x size --x 'max temp', or use --encode for one-hot features
  [1]
  $ eval huddle info texts.csv $(huddle info texts.csv 2>&1 | sed 's/.* with \(--x.*\), or.*/\1/') | grep features
  features  2
  $ huddle convert texts.csv encoded.csv --encode -q && cat encoded.csv
  size,city=P,city=R,max temp,kind=u,kind=v
  1,0.7071067811865476,0,4,0.7071067811865476,0
  6,0,0.7071067811865476,8,0,0.7071067811865476
  3,0.7071067811865476,0,5,0.7071067811865476,0
  2,0,0.7071067811865476,1,0.7071067811865476,0

A model finds its columns by their names, and encoded texts in their order.

  $ huddle cluster id.csv -c 3 --save iris.h5 -q -o labels.csv > /dev/null
  $ /usr/bin/python3 -c '
  > import csv
  > rows = list(csv.reader(open("id.csv")))
  > csv.writer(open("turned.csv", "w")).writerows([row[::-1] + ["7"] for row in rows[:1] + rows[60:80]])'
  $ huddle predict iris.h5 turned.csv -q > some.csv
  $ sed -n '60,79p' labels.csv | cmp - some.csv
  $ cut -d, -f1-3 turned.csv | huddle predict iris.h5 /dev/stdin
  huddle: /dev/stdin: no column 'sepal_length'; it has species, petal_width, petal_length
  [1]
  $ tail -n +62 id.csv | head -20 | cut -d, -f2-5 | huddle predict iris.h5 /dev/stdin -q | cmp - some.csv
  $ huddle cluster texts.csv --encode -c 2 -m kmeans --prepare none --save texts.h5 -q -o first.txt > /dev/null
  $ (head -1 texts.csv; tail -1 texts.csv) > last.csv
  $ tail -1 first.txt > last.txt
  $ huddle predict texts.h5 last.csv --encode -q | cmp - last.txt

A feature with nearly all the variance is reported, for every preparation.

  $ (echo width,height,depth,income; for i in $(seq 90); do
  >   echo $((i % 3 * 9)).$((i * 7 % 10)),$((i % 3 * 9)).$((i * 3 % 10)),$((i * 11 % 9)),$((i * 7919 % 1009 * 40)); done) > scale.csv
  $ for method in kmeans sc ssc; do
  >   huddle cluster scale.csv -c 3 -m $method --prepare none -q | grep -A1 variance
  > done
    warning    feature 4 (income) holds 99.9 % of the variance, so that the others hardly
               count; prepare = standard gives all features the same weight
    warning    feature 4 (income) holds 99.9 % of the variance, so that the others hardly
               count; prepare = standard gives all features the same weight
    warning    feature 4 (income) holds 99.9 % of the variance, so that the others hardly
               count; prepare = standard gives all features the same weight
  $ huddle cluster scale.csv -c 3 -m kmeans --prepare standard -q | grep variance
  [1]

Whole numbers that are nearly all different are no labels, whatever their column is called.

  $ (echo a,b,label; for i in $(seq 60); do echo $((i % 7)).5,$((i % 11)),$((i * 37 % 61)); done) > many.csv
  $ huddle info many.csv
  huddle: warning: column 3 (label) is ignored: 60 different numbers in 60 rows are too many for labels; --y label makes it the labels
  file      many.csv
  format    csv
  points    60
  features  2
  classes   none
  ignored   label: 60 different numbers in 60 rows are too many for labels
  names     a, b, label
  $ huddle cluster many.csv -m kmeans -c 2 -q | grep -E 'scores|classes'
  [1]
  $ huddle info many.csv -q --y label | grep ^classes
  classes   60: 1 2 3 4 5 6 7 8 9 10 11 12 ...
  $ huddle info many.csv -q --x a --x b | grep ^classes
  classes   none
  $ sed 's/label/label,kind/; 2,$s/$/,u/; 3~2s/u$/v/' many.csv > many2.csv
  $ huddle info many2.csv -q | grep -E 'classes|labels|ignored'
  classes   2: u v
  labels    kind, the only text column; 2 classes (cluster sets -c 2)
  ignored   label: 60 different numbers in 60 rows are too many for labels

A model's features are found by name only: '2' and '1-3' are no positions.

  $ (echo 2,1-3,a=1; for i in $(seq 40); do echo $((i % 2 * 50 + i % 5)),$((i % 3)),$((i % 7)); done) > names.csv
  $ huddle cluster names.csv -m kmeans -c 2 --save names.h5 -q -o names.txt > /dev/null
  $ /usr/bin/python3 -c '
  > import csv
  > rows = list(csv.reader(open("names.csv")))
  > csv.writer(open("back.csv", "w")).writerows([row[::-1] for row in rows])'
  $ huddle predict names.h5 back.csv -q | cmp - names.txt
  $ sed '1s/2,1-3/p,q/' names.csv > others.csv
  $ huddle predict names.h5 others.csv -q
  huddle: others.csv: no column '2'; it has p, q, a=1
  [1]
  $ sed '1s/1-3/q/' names.csv > others.csv
  $ huddle predict names.h5 others.csv -q
  huddle: others.csv: no column '1-3'; it has 2, q, a=1
  [1]
  $ sed '1s/a=1/a/' names.csv > others.csv
  $ huddle predict names.h5 others.csv -q
  huddle: others.csv: no column 'a' or 'a=1'; it has 2, 1-3, a
  [1]

Encoded columns: labels do not depend on the other rows, and --encode need not be repeated.

  $ /usr/bin/python3 -c '
  > import random
  > random.seed(3)
  > out = open("stamps.csv", "w")
  > out.write("stamp,place\n")
  > for i in range(200):
  >     out.write("%.3f,%s\n" % (1.6e9 + random.random() * 4, random.choice("PQR")))
  > out.close()
  > lines = open("stamps.csv").read()
  > open("far.csv", "w").write(lines + "9,P\n")'
  $ huddle cluster stamps.csv --encode -m kmeans -c 4 --prepare none --save stamps.h5 -q -o stamps.txt | grep feature
  stamps.csv: 200 points, 4 features
    feature    place: encoded, 3 categories
  $ huddle info stamps.csv --encode -q | grep feature
  features  4
  feature   place: encoded, 3 categories
  $ huddle predict stamps.h5 stamps.csv -q | cmp - stamps.txt
  $ huddle predict stamps.h5 far.csv -q | head -200 | cmp - stamps.txt
  $ huddle predict stamps.h5 far.csv -q --encode | head -200 | cmp - stamps.txt
  $ (head -1 stamps.csv; grep Q stamps.csv) > only.csv
  $ huddle predict stamps.h5 only.csv > only.txt
  $ tail -n +2 stamps.csv | paste -d, - stamps.txt | grep Q | cut -d, -f3 | cmp - only.txt
  $ printf 'place,stamp\nX,1600000001\nP,1600000001\nY,1600000002\nX,1600000003\n' > new.csv
  $ huddle predict stamps.h5 new.csv -o new.txt
  huddle: warning: column 1 (place): unseen categories 'X', 'Y' (3 rows) are encoded as 0 in all features of that column
  $ huddle predict stamps.h5 stamps.csv --x 1 --encode
  huddle: predict finds encoded features by their names: --encode cannot be combined with --x
  [2]
  $ tail -n +2 stamps.csv > bare2.csv
  $ huddle predict stamps.h5 bare2.csv --encode
  huddle: bare2.csv: the table has no header, so its text cannot be matched with the features that were encoded
  [1]
  $ huddle cluster bare2.csv --encode -m kmeans -c 4 --prepare none --save bare2.h5 -q -o bare2.txt > /dev/null
  $ grep Q bare2.csv | huddle predict bare2.h5 /dev/stdin -q > only2.txt
  $ paste -d, bare2.csv bare2.txt | grep Q | cut -d, -f3 | cmp - only2.txt

Missing values cannot be replaced by means of the new rows.

  $ huddle predict model.h5 gaps.csv --missing mean
  huddle: --missing mean would use the mean of the new rows, so that a label would depend on the other rows; predict accepts --missing drop
  [2]
  $ huddle predict model.h5 gaps.csv --missing median
  huddle: --missing median would use the median of the new rows, so that a label would depend on the other rows; predict accepts --missing drop
  [2]
  $ huddle predict model.h5 gaps.csv
  huddle: gaps.csv: line 3, column 2 (b): the value is missing; --missing drop leaves such rows out
  [1]

Months, quarters, times and dates in eight digits.

  $ for day in 2020-01 Jan-20 20-Jan 2020Q1 12:30:00; do
  >   (echo when,a,b; for i in $(seq 9); do echo $day,$i.5,$((i % 3)); done) | huddle info /dev/stdin -q | grep ignored
  > done
  ignored   when: dates
  ignored   when: dates
  ignored   when: dates
  ignored   when: dates
  ignored   when: times
  $ (echo Date,code,b; for i in $(seq 12); do echo 202001$((i + 10)),202001$((i + 10)),$((i % 3)); done) > compact.csv
  $ huddle info compact.csv -q | grep -E 'features|ignored'
  features  2
  ignored   Date: dates
  $ (echo country,2020-01,2020-02; for i in $(seq 9); do echo c$((i % 3)),$i.5,$((i % 3)); done) | huddle info /dev/stdin -q | grep names
  names     country, 2020-01, 2020-02

The header of a table of texts.

  $ (echo colour,shape; for i in $(seq 20); do echo c$((i % 3)),s$((i % 2)); done) > words.csv
  $ huddle info words.csv --encode -q | grep -E 'points|feature|names'
  points    20
  features  5
  feature   colour: encoded, 3 categories
  feature   shape: encoded, 2 categories
  names     colour, shape
  $ tail -n +2 words.csv | huddle info /dev/stdin --encode -q | grep -E 'points|names'
  points    20

With --y none nothing is reported about labels that are not read.

  $ huddle info two.csv --y none
  huddle: column 6 (species) is ignored: it maps one to one onto column 5 (target), which looks like labels
  file      two.csv
  format    csv
  points    150
  features  4
  classes   none
  ignored   target: it looks like labels, which are not wanted
  ignored   species: it maps one to one onto column 5 (target), which looks like labels
  names     sepal_length, sepal_width, petal_length, petal_width, target, species
