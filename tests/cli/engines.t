Compute engines.

  $ huddle engines | head -n 1
  cpu         the CPU cores of this machine
  $ huddle engines --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["default"], r["engines"][0]["name"])'
  cpu cpu

Commands that compute accept an engine; labels do not depend on it.

  $ huddle cluster moons -m kmeans -c 2 --engine cpu -q -o a.txt --save moons.model > /dev/null
  $ huddle cluster moons -m kmeans -c 2 -q -o b.txt > /dev/null
  $ cmp a.txt b.txt
  $ huddle predict moons.model moons --engine cpu -q -o c.txt
  $ cmp a.txt c.txt
  $ huddle path blobs --n 60 -c 3 --engine cpu -q > /dev/null

Unknown names are refused with a list of engines, and so are options that an engine does not accept.

  $ huddle cluster moons --engine abacus
  huddle: --engine = abacus: expected one of cpu* (glob)
  [2]
  $ huddle predict moons.model moons --engine cpus
  huddle: --engine = cpus: expected one of cpu* (glob)
  [2]
  $ huddle cluster moons --engine cpu:device=1
  huddle: engine 'cpu' takes no options, but 'device=1' was given
  [2]
  $ huddle cluster moons --engine :
  huddle: --engine = :: expected one of cpu* (glob)
  [2]
  $ huddle cluster --help | grep -A 1 -e --engine
        --engine NAME         compute engine, one of those listed by huddle engines;
                              NAME:OPTIONS if it takes options [cpu]
