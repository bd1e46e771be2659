The first lines of tables, and the names of their rows.

Numbers as names, as pandas writes them for columns without names.

  $ /usr/bin/python3 -c '
  > import random
  > random.seed(1)
  > def write(name, header, row, n=60):
  >     with open(name, "w") as f:
  >         f.write(header + "\n" + "".join(row(i) + "\n" for i in range(n)))
  > def reals(d): return ",".join("%.3f" % random.gauss(0, 1) for k in range(d))
  > write("numbered.csv", "0,1,2,3", lambda i: reals(4))
  > write("indexed.csv", ",0,1,2", lambda i: "%d,%s" % (i, reals(3)))
  > write("years.csv", "country,region,2000,2001,2002",
  >       lambda i: "c%d,%s,%s" % (i, ("AF", "AS", "EU")[i % 3], reals(3)))
  > write("year.csv", "country,region,2000", lambda i: "c%d,%s,%s" % (i, ("AF", "AS", "EU")[i % 3], reals(1)))
  > write("class.csv", "class,gdp", lambda i: "c%d,%s" % (i, reals(1)), 10)
  > write("codes.csv", "0,1", lambda i: "%d,%d" % (random.randrange(90), random.randrange(2, 90)), 10)
  > write("few.csv", "country,gdp,life", lambda i: "c%d,%s" % (i, reals(2)), 20)'
  $ huddle info numbered.csv
  huddle: line 1 (0, 1, 2, 3) is taken for the header; --header no makes it a row
  file      numbered.csv
  format    csv
  points    60
  features  4
  classes   none
  names     0, 1, 2, 3
  $ huddle info numbered.csv --header no | grep points
  points    61
  $ huddle info indexed.csv
  huddle: column 1 is ignored: row numbers 0 .. 59; choose it by its position (--x 1) to use it
  file      indexed.csv
  format    csv
  points    60
  features  3
  classes   none
  ignored   column 1: row numbers 0 .. 59
  names     , 0, 1, 2
  $ huddle info years.csv
  huddle: line 1 (country, region, 2000, 2001, ...) is taken for the header; --header no makes it a row
  huddle: column 1 (country) names the rows: 60 distinct values in 60 rows
  file      years.csv
  format    csv
  points    60
  features  3
  classes   3: AF AS EU
  labels    region, the only text column whose values repeat; 3 classes (cluster sets -c 3)
  row names country: 60 distinct values in 60 rows
  rows      c0, c1, c2, c3, c4, c5, ...
  names     country, region, 2000, 2001, 2002
  $ huddle info year.csv 2>&1 | grep -E 'header|points|^classes'
  huddle: line 1 (country, region, 2000) is taken for the header; --header no makes it a row
  points    60
  classes   3: AF AS EU

What may be a row is a row, unless it is said otherwise.

  $ huddle info codes.csv | head -3
  huddle: line 1 (0, 1) is taken for a row; --header yes makes it the header
  file      codes.csv
  format    csv
  points    11
  $ huddle info codes.csv --header yes | sed -n 3p
  points    10
  $ huddle info codes.csv --header maybe
  huddle: --header = maybe: expected one of auto|yes|no
  [2]
  $ huddle info digits --header yes
  huddle: digits: header = yes is for tables (CSV, TSV) only
  [1]
  $ huddle cluster codes.csv --header yes -m kmeans -c 2 -q --append | head -2 | sed 's/,[01]$/,K/'
  0,1,cluster
  *,*,K (glob)
  $ huddle cluster codes.csv --header no -m kmeans -c 2 -q --append | sed -n 1p | sed 's/,[01]$/,K/'
  0,1,K

New rows for a model have the header that its rows had, even if there is only one of them.

  $ huddle cluster numbered.csv -m kmeans -c 2 -q --save model > /dev/null
  $ head -2 numbered.csv > one.csv
  $ huddle predict model one.csv --append 2> /dev/null | sed 's/,[01]$/,K/'
  0,1,2,3,cluster
  *,K (glob)

Texts that do not repeat name the rows and are no classes, in tables of a few rows too. The page finds points by them.

  $ huddle cluster few.csv -m kmeans -c 2 -q --report page.html -o labels.csv | sed -n 1,4p
  few.csv: 20 points, 2 features
  
    row names  country: 20 distinct values in 20 rows
    method     kmeans, 2 clusters
  $ grep -o '"c1[0-9]"' page.html | sort -u | wc -l
  10
  $ huddle cluster few.csv -m kmeans -c 2 -q --json | grep -E 'names_column|row names'
    "names_column": "country",
        "role": "row names",
  $ huddle info few.csv --y country -q | grep ^classes
  classes   20: c0 c1 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 ...
  $ huddle info class.csv | grep -E 'classes|row names'
  huddle: warning: column 1 (class) names the rows: 10 distinct values in 10 rows; --y class makes it the labels
  classes   none
  row names class: 10 distinct values in 10 rows
  $ huddle convert few.csv same.csv -q && huddle info same.csv -q | grep '^row names'
  row names country: 20 distinct values in 20 rows
  $ huddle convert few.csv few.npz
  huddle: column 1 (country) names the rows: 20 distinct values in 20 rows; --y country makes it the labels
  huddle: warning: few.npz: the names of the rows are not written; .csv contains them
  huddle: few.npz: 20 points, 2 features

A separator that the first line gives, bars, lines that end with CR, units below the names.

  $ printf 'sep=;\na;b\n1,5;2\n3;7\n' > given.csv
  $ printf 'a|b\n1.5|2\n3|7\n' > bars.csv
  $ printf 'a,b\r1.5,2\r3,7\r' > returns.csv
  $ printf 'a,b\nm,m/s\n1.5,2\n3,7\n' > units.csv
  $ printf 'a,b\n1.5,2,\n3,7,\n' > open.csv
  $ for table in given bars returns units open; do huddle convert $table.csv out.csv -q 2> /dev/null && tail -n +2 out.csv; done | sort | uniq -c
        5 1.5,2
        5 3,7
  $ huddle info units.csv | grep points
  huddle: warning: line 2 (m, m/s) is read as the units of the columns, not as a row; --header yes makes it a row
  points    2
  $ huddle cluster units.csv -m kmeans -c 2 -q | grep '^  warning'
    warning    line 2 (m, m/s) is read as the units of the columns, not as a row; --header
  $ huddle info units.csv --header yes
  huddle: units.csv: line 2, column 1 (a): 'm' is not a number
  [1]
  $ printf 'a,b\r1.5,2\r3,x\r4,4\r' > wrong.csv
  $ huddle info wrong.csv
  huddle: wrong.csv: line 3, column 2 (b): 'x' is not a number
  [1]
  $ printf 'sep=10\na;b\n1;2\n' > wrong.csv
  $ huddle info wrong.csv
  huddle: wrong.csv: line 1: 'sep=10': expected one of , ; | : ^ ~, a blank or a tab after sep=
  [1]
  $ printf 'sep=;\na,b\n1,2\n3,4\n' > wrong.csv
  $ huddle info wrong.csv
  huddle: wrong.csv: line 1: sep=;, but the lines are separated by ,
  [1]
  $ printf 'a,b\n1,2\r3\n4,5\n' > wrong.csv
  $ huddle info wrong.csv
  huddle: wrong.csv: line 2, column 2 (b): '2\r3' is not a number
  [1]

--append writes in the encoding of the table.

  $ cat > encodings.py << END
  > import subprocess
  > text = "n\u00f6,b\U0001F600\r\n1.5,2\r\n1.25,2\r\n9,8\r\n9,9\r\n"
  > for codec in "utf-16-le", "utf-16-be":
  >     for mark in "\ufeff", "":
  >         open("wide.csv", "wb").write((mark + text).encode(codec))
  >         subprocess.run("huddle cluster wide.csv -m kmeans -c 2 -q --append -o out.csv".split(),
  >                        check=True, stdout=subprocess.DEVNULL)
  >         new = open("out.csv", "rb").read().decode(codec)
  >         lines = new.split("\r\n")
  >         print(lines[0] == mark + "n\u00f6,b\U0001F600,cluster", len(lines), lines[1][:-1] == "1.5,2,")
  > open("returns.csv", "wb").write(b"a,b\r1.5,2\r9,8\r")
  > subprocess.run("huddle cluster returns.csv -m kmeans -c 2 -q --append -o out.csv".split(),
  >                check=True, stdout=subprocess.DEVNULL)
  > print(open("out.csv", "rb").read().replace(b",1\r", b",0\r"))
  > END
  $ /usr/bin/python3 encodings.py
  True 6 True
  True 6 True
  True 6 True
  True 6 True
  b'a,b,cluster\r1.5,2,0\r9,8,0\r'
