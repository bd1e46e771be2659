An input that becomes shorter while it is read from its mapping: a message with its name, exit
status 1, and no output.

  $ cat > shrink.py <<'END'
  > import os, subprocess
  > words = ["huddle", "cluster", "points.npy", "-c", "9", "-m", "kmeans", "--n-init", "100000",
  >          "-o", "labels.npy"]
  > process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
  > line = process.stderr.readline()  # the run is in its main loop
  > assert line.startswith("huddle: kmeans"), line
  > os.truncate("points.npy", 4096)
  > out, err = process.communicate(timeout=120)
  > print(process.returncode, repr(out), err.splitlines()[-1])
  > END
  $ huddle generate blobs --n 400000 --noise 9 -o points.npy -q
  $ /usr/bin/python3 shrink.py
  1 '' huddle: points.npy: the file became shorter while it was read
  $ ls -A
  points.npy
  shrink.py
