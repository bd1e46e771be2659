The memory of a fit is predicted before it begins, and close to what it uses. Builds with a sanitizer, which uses
several times as much, leave this file out.

  $ huddle generate blobs --n 30000 --noise 3 -o points.npy -q
  $ huddle cluster points.npy -m sc -c 20 --prepare none --n-init 2 -q --json > report.json
  $ /usr/bin/python3 -c '
  > import json
  > r = json.load(open("report.json")); m = r["memory"]
  > print(m["stage"], m["leaner"], m["predicted"] < m["limit"])
  > print(0.7 < (m["predicted"] - m["base"]) / m["arrays"] < 1.5)
  > print(0.6 < m["predicted"] / r["peak_bytes"] < 1.6)
  > s = r["seconds"]
  > named = sum(v for k, v in s.items() if k not in ("other", "total"))
  > print(named >= 0.95 * s["total"], abs(named + s["other"] - s["total"]) < 0.01 * s["total"])'
  * [] True (glob)
  True
  True
  True True

In between: a leaner algorithm, which the log and the summary name.

  $ huddle generate blobs --n 4000 --noise 3 -o few.npy -q
  $ huddle cluster few.npy -c 20 --prepare none --gap 1e-2 -q --json > report.json
  $ /usr/bin/python3 -c '
  > import json
  > m = json.load(open("report.json"))["memory"]
  > print(m["stage"])
  > open("limit", "w").write(str(m["base"] + int(0.8 * (m["predicted"] - m["base"]))))'
  shrink
  $ huddle cluster few.npy -c 20 --prepare none --gap 1e-2 --memory $(cat limit) > out 2> log
  $ grep -c 'to save memory, the shrink step is solved by pdhg' log
  1
  $ grep -A 2 '^  memory' out | tr -s ' \n' ' ' | grep -o 'the shrink step is solved by pdhg'
  the shrink step is solved by pdhg

A limit of the process, not of the tool.

  $ (ulimit -v 450000; huddle cluster points.npy -c 400 --prepare none -q) 2>&1 | grep -o 'the fit would need about .* of memory'
  the fit would need about * of memory (glob)
