The path of gamma on the page of a clustering.

  $ cat > levels.py <<'END'
  > import json, re, sys
  > page = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[1]).read(), re.S).group(1))
  > sections = {s["id"]: s for s in page["sections"]}
  > if "path" not in sections:
  >     sys.exit("no path")
  > path = next(b for b in sections["path"]["blocks"] if b["kind"] == "path")
  > levels, used = path["levels"], [l for l in path["levels"] if l["gamma"] == path["used"]]
  > print(len(levels) >= 5, max(l["gap"] for l in levels) <= .05, len(used), used[0]["gap"] <= 1e-4)
  > print("groups of neighbouring rows" in sections["path"]["lead"])
  > print(all(a["gamma"] < b["gamma"] and a["objective"] <= b["objective"] * (1 + l["gap"])
  >           for a, b, l in zip(levels, levels[1:], levels)))
  > END
  $ huddle cluster digits --report digits.html -q > /dev/null
  $ /usr/bin/python3 levels.py digits.html
  True True 1 True
  False
  True
  $ huddle cluster digits --report without.html --report-path false -q > /dev/null
  $ /usr/bin/python3 levels.py without.html
  no path
  [1]
  $ huddle cluster digits --report without.html --report-path no -q
  huddle: --report-path = no: expected one of true|false
  [2]

Many points: levels are solved on groups of neighbouring rows, with gaps that are proven for all rows.

  $ huddle generate blobs --n 12000 --noise 6 --seed 1 -q -o many.npz
  $ huddle cluster many.npz --x X -c 5 -m ssc --prepare none --report many.html -q > /dev/null
  $ /usr/bin/python3 levels.py many.html
  True True 1 True
  True
  True

Progress is that of the levels. A fast machine may be done before the first line is due: more points then.

  $ cat > watch.py <<'END'
  > import os, pty, re, subprocess
  > for n in 12000, 48000, 192000:
  >     subprocess.run(f"huddle generate blobs --n {n} --noise 6 --seed 1 -q -o watched.npz".split(), check=True)
  >     ours, theirs = pty.openpty()
  >     run = subprocess.Popen("huddle cluster watched.npz --x X -c 5 -m ssc --prepare none --report x.html".split(),
  >                            stdout=subprocess.DEVNULL, stderr=theirs)
  >     os.close(theirs)
  >     text = b""
  >     try:
  >         while chunk := os.read(ours, 65536):
  >             text += chunk
  >     except OSError:
  >         pass
  >     os.close(ours)
  >     seen = bool(re.search(rb"page: level \d+ of 1[12] \[#*-*\]", text))
  >     if seen or run.wait() != 0:
  >         break
  > print(run.wait(), seen)
  > END
  $ /usr/bin/python3 watch.py
  0 True
