Cells on several processes: the tables and files are those of one process, apart from times.

  $ cat > plan.json <<'END'
  > {
  >   "data": ["moons", {"name": "figures", "source": "digits", "classes": "0-3", "per_class": 30}],
  >   "methods": [
  >     "kmeans",
  >     {"method": "ssc", "options": {"prepare": "none"}, "grid": {"gamma": [1e-6, "n/c", 1e6]}},
  >     {"method": "pca-sc", "label": "reduced", "grid": {"dim": ["c", 2]}}
  >   ],
  >   "seeds": [0, 7],
  >   "n_init": 5
  > }
  > END
  $ export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  $ several() { n=$1; shift; mpirun --oversubscribe --bind-to none -n $n huddle "$@" --engine mpi < /dev/null; }
  $ huddle experiment plan.json -o alone -q > alone.txt
  $ grep -vE 'cells|shared' alone.txt > expected.txt
  $ for n in 1 2 3; do
  >   several $n experiment plan.json -o out$n -q > table$n.txt || echo failed
  >   grep -vE 'cells|shared' table$n.txt | diff - expected.txt
  >   grep cells table$n.txt
  > done
  24 cells: 24 computed in * s, 0 found in out1 (glob)
  24 cells: 24 computed in * s, 0 found in out2 (glob)
  24 cells: 24 computed in * s, 0 found in out3 (glob)
  $ cat > compare.py <<'END'
  > import csv, json, os, sys
  > def read(folder):
  >     records = [json.loads(line) for line in open(folder + "/results.jsonl")]
  >     for record in records:
  >         for name in ("seconds", "cpu_seconds", "stages"):
  >             record.pop(name)
  >     rows = [{k: v for k, v in row.items() if "seconds" not in k}
  >             for row in csv.DictReader(open(folder + "/results.csv"))]
  >     return sorted(records, key=lambda r: r["key"]), rows
  > alone = read("alone")
  > print([read(name) == alone for name in sys.argv[1:]], sorted(os.listdir(sys.argv[1])))
  > END
  $ /usr/bin/python3 compare.py out1 out2 out3
  [True, True, True] ['index.html', 'results.csv', 'results.jsonl']

A run continues where another stopped, with any number of processes.

  $ mkdir part; head -5 alone/results.jsonl > part/results.jsonl
  $ several 2 experiment plan.json -o part -q | grep cells
  24 cells: * computed in * s, * found in part (glob)
  $ wc -l < part/results.jsonl
  22
  $ /usr/bin/python3 compare.py part
  [True] ['index.html', 'results.csv', 'results.jsonl']

A cell that fails, a mistake in the plan and a file that is not there are reported as on one process.

  $ cat > failing.json <<'END'
  > {"data": ["blobs"], "methods": [{"method": "kmeans", "grid": {"n_clusters": [2, 100000]}}]}
  > END
  $ several 2 experiment failing.json -q 2> errors
  [1]
  $ grep 'huddle:' errors | sort -u
  huddle: 1 of 2 cells failed; the first was blobs, kmeans: n_clusters = 100000 * (glob)
  $ wc -l < failing/results.jsonl
  2
  $ echo '{"data": ["nowhere.npy"], "methods": ["kmeans"]}' > missing.json
  $ several 2 experiment missing.json -q 2> errors
  [1]
  $ grep 'huddle:' errors | sort -u
  huddle: nowhere.npy: cannot be opened: No such file or directory
  $ several 2 experiment nothing.json -q 2> errors
  [1]
  $ grep 'huddle:' errors | sort -u
  huddle: nothing.json: the plan cannot be opened: No such file or directory

A signal to one process stops all, and what was finished is kept.

  $ cat > long.json <<'END'
  > {"data": ["blobs", {"source": "moons", "n": 200000}],
  >  "methods": [{"method": "ssc", "grid": {"gamma": [0.1, 1, 10, 100]}}], "seeds": [0, 1, 2, 3]}
  > END
  $ cat > stop.sh <<'END'
  > [ "$OMPI_COMM_WORLD_RANK" = 1 ] && { process=$$; (
  >     for i in $(seq 300); do [ -s long/results.jsonl ] && break; sleep .2; done # as soon as a cell is done
  >     kill -INT $process) & }
  > exec huddle experiment long.json -q --engine mpi
  > END
  $ mpirun --oversubscribe --bind-to none -n 2 sh stop.sh < /dev/null 2> errors
  [1]
  $ grep 'huddle:' errors | sort -u
  huddle: cancelled; * of 32 cells are done, run the same command again to continue (glob)
