A mistake in a plan is reported with its place.

  $ try() { echo "$1" > bad.json; huddle experiment bad.json -o nowhere -q; }
  $ try '{"data": ['
  huddle: bad.json: line 2, column 0: ']' expected near end of file
  [1]
  $ try '[]'
  huddle: bad.json: must be an object
  [1]
  $ try '{"data": ["digits"]}'
  huddle: bad.json: methods: must be a list of methods
  [1]
  $ try '{"methods": ["sc"]}'
  huddle: bad.json: data: must be a list of data sets
  [1]
  $ try '{"dat": ["digits"], "methods": ["sc"]}'
  huddle: bad.json: unknown member 'dat'; did you mean 'data'?
  [1]
  $ try '{"data": ["digits"], "methods": ["scc"]}'
  huddle: bad.json: methods[0]: no method named 'scc'; did you mean '*'? (glob)
  [1]
  $ try '{"data": ["digits"], "methods": ["sc", {"grid": {}}]}'
  huddle: bad.json: methods[1]: the member 'method' is missing
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "ssc", "grid": {"gamma": [1, -2]}}]}'
  huddle: bad.json: methods[0].grid.gamma[1]: gamma = -2: expected auto or number in [0, 1e+15]
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "ssc", "grid": {"gamma": []}}]}'
  huddle: bad.json: methods[0].grid.gamma: must be a list of values
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "ssc", "grid": {"gamma": [[1]]}}]}'
  huddle: bad.json: methods[0].grid.gamma[0]: must be a number, a string, true or false
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "kmeans", "options": {"gamma": 1}}]}'
  huddle: bad.json: methods[0].options.gamma: method kmeans has no option 'gamma'; see huddle options kmeans
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "kmeans", "options": {"seed": 1}}]}'
  huddle: bad.json: methods[0].options.seed: cannot be set here; use the plan's member 'seeds'
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "ssc", "options": {"gamma": 1}, "grid": {"gamma": [1]}}]}'
  huddle: bad.json: methods[0].grid.gamma: gamma is also set in options
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "ssc", "keep": ["all"]}]}'
  huddle: bad.json: methods[0].keep: can contain only 'trace' and 'ends'
  [1]
  $ try '{"data": ["digits"], "methods": ["sc"], "seeds": [-1]}'
  huddle: bad.json: seeds: must be a list of non-negative integers
  [1]
  $ try '{"data": ["digits"], "methods": ["sc"], "n_init": 0}'
  huddle: bad.json: n_init: must be an integer from 1 to 2147483647
  [1]
  $ try '{"data": ["digits"], "methods": ["sc"], "n_init": 1000000000000}'
  huddle: bad.json: n_init: must be an integer from 1 to 2147483647
  [1]
  $ try '{"data": ["digits"], "methods": [{"method": "sc", "options": {"n_init": 1e12}}]}'
  huddle: bad.json: methods[0].options.n_init: n_init = 1e+12: expected integer in [1, 2147483647]
  [1]
  $ try '{"data": ["/dev/zero"], "methods": ["sc"]}'
  huddle: /dev/zero: is a device, not a file
  [1]
  $ huddle experiment /dev/zero -o nowhere -q 2>&1 | cut -c 1-28
  huddle: /dev/zero: is longer
  $ mkdir folder
  $ huddle experiment folder -o nowhere -q
  huddle: folder: the plan cannot be read: Is a directory
  [1]
  $ rmdir folder
  $ try '{"data": [{"name": "a"}], "methods": ["sc"]}'
  huddle: bad.json: data[0]: the member 'source' is missing
  [1]
  $ try '{"data": [{"source": "digits", "per_class": 0}], "methods": ["sc"]}'
  huddle: bad.json: data[0]: per_class must be an integer of at least 1
  [1]
  $ try '{"data": [{"source": "digits", "x": 3}], "methods": ["sc"]}'
  huddle: bad.json: data[0]: x must be a name or a list of names
  [1]
  $ try '{"data": [{"source": "digits", "header": true}], "methods": ["sc"]}'
  huddle: bad.json: data[0]: header must be a string
  [1]
  $ try '{"data": [{"source": "digits", "header": "yes"}], "methods": ["sc"]}'
  huddle: *digits: header = yes is for tables (CSV, TSV) only (glob)
  [1]
  $ try '{"data": ["digits", "digits"], "methods": ["sc"]}'
  huddle: bad.json: data[1]: the name 'digits' is already used by data[0]
  [1]
  $ try '{"data": ["missing.csv"], "methods": ["sc"]}'
  huddle: missing.csv: cannot be opened: No such file or directory
  [1]
  $ huddle experiment none.json
  huddle: *none.json* (glob)
  [1]
  $ ls
  bad.json

Sources are relative to the plan.

  $ mkdir -p there && printf '0,0,a\n0,1,a\n9,9,b\n9,8,b\n' > there/points.csv
  $ echo '{"data": ["points.csv"], "methods": ["kmeans"]}' > there/plan.json
  $ huddle experiment there/plan.json -o out -q | head -1
  points: 4 points, 2 features, 2 classes

A cell that cannot be computed does not stop the others, and is tried again the next time.

  $ echo '{"data": ["points.csv"], "methods": [{"method": "kmeans", "grid": {"n_clusters": [2, 9]}}]}' > there/plan.json
  $ huddle experiment there/plan.json -o some -q
  huddle: 1 of 2 cells failed; the first was points, kmeans: n_clusters = 9 is outside [1, 4]
  [1]
  $ huddle experiment there/plan.json -o some -q
  huddle: 1 of 2 cells failed; the first was points, kmeans: n_clusters = 9 is outside [1, 4]
  [1]
  $ grep -c '"error"' some/results.jsonl
  2

Two runs cannot write to one folder.

  $ echo "{\"data\": [\"digits\"], \"methods\": [\"ssc\"], \"seeds\": [$(seq -s, 0 99)]}" > long.json
  $ cat > both.py <<'END'
  > import os, subprocess, time
  > command = ["huddle", "experiment", "long.json", "-o", "both", "-q"]
  > first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
  > while first.poll() is None and not (os.path.exists("both/results.jsonl") and os.path.getsize("both/results.jsonl")):
  >     time.sleep(.05)
  > second = subprocess.run(command, stderr=subprocess.PIPE, text=True)
  > first.terminate()
  > first.wait()
  > print(second.returncode, second.stderr, end="")
  > END
  $ /usr/bin/python3 both.py
  1 huddle: both: another process is writing to this folder

A plan that does not exist is named once.

  $ huddle experiment nowhere.json -o results
  huddle: nowhere.json: the plan cannot be opened: No such file or directory
  [1]

A plan is a small file.

  $ head -c 70000000 /dev/zero > large.json
  $ huddle experiment large.json
  huddle: large.json: is longer than 64 MB, so it is not a plan
  [1]
