Limits of the process. A small stack:

  $ (ulimit -s 64; huddle cluster digits -c 10 -q -j 4 --n-init 2 -o small.txt) > /dev/null
  $ huddle cluster digits -c 10 -q -j 4 --n-init 2 -o usual.txt > /dev/null
  $ cmp small.txt usual.txt
  $ printf '{"data": ["moons"], "methods": ["ssc", "lsc"], "n_init": 2}' > plan.json
  $ (ulimit -s 64; huddle experiment plan.json -j 2 -q) | grep -c '^moons'
  1

A small address space, in which OpenBLAS would wait for memory forever: what does not need it runs, the rest is
refused.

  $ (ulimit -v 200000; timeout -s KILL 60 huddle --version) > /dev/null
  $ (ulimit -v 200000; timeout -s KILL 60 huddle cluster digits -m kmeans -c 10 -q -j 2 --n-init 1) > /dev/null
  $ (ulimit -v 200000; timeout -s KILL 60 huddle cluster digits -m sc -c 10 -q -j 2 -o never.txt)
  huddle: digits: BLAS needs 128 MB of address space for each of 2 threads, which the limit of the process (ulimit -v or -d) does not leave; allow more, or use fewer threads
  [1]
  $ (ulimit -d 100000; timeout -s KILL 60 huddle cluster digits -m sc -c 10 -q -j 1 -o never.txt)
  huddle: digits: BLAS needs 128 MB of address space for 1 thread, which the limit of the process (ulimit -v or -d) does not leave; allow more
  [1]
  $ test -e never.txt
  [1]

A pipe that does not end.

  $ (ulimit -v 1000000; yes 1,2 | huddle info /dev/fd/3 3<&0) 2>&1 | cut -d ' ' -f 2-9
  /dev/fd/3: is too long for the memory that
