"-" is stdin or stdout wherever a file is meant. The same data give the same bytes.

  $ export TMPDIR=$PWD/tmp && mkdir tmp
  $ huddle generate moons --n 300 > moons.csv
  $ huddle cluster moons.csv -m sc -q -o file.csv > /dev/null
  $ cat moons.csv | huddle cluster - -m sc -q -o pipe.csv > /dev/null
  $ huddle cluster - -m sc -q -o redirected.csv < moons.csv > /dev/null
  $ huddle cluster moons.csv -m sc -q -o - > stdout.txt
  $ cmp file.csv pipe.csv && cmp file.csv redirected.csv
  $ tail -n +2 file.csv | cmp - stdout.txt
  $ huddle cluster moons.csv -m sc -q -o plain.txt > /dev/null
  $ cmp plain.txt stdout.txt

Every format is recognised by its content, also where it cannot be read from the beginning to the end.

  $ for format in csv tsv npy npz mat h5 svm; do
  >     huddle convert moons.csv - --format $format -q > stream
  >     cat stream | huddle info - > pipe && huddle info - < stream | cmp - pipe
  >     sed -n 2,4p pipe | tr '\n' ' '; echo
  > done
  format    csv points    300 features  2 
  format    tsv points    300 features  2 
  format    npy points    300 features  2 
  format    npz points    300 features  2 
  format    mat points    300 features  2 
  format    hdf5 points    300 features  2 
  format    libsvm points    300 features  2 
  $ huddle convert moons.csv - -q | cmp - moons.csv
  $ gzip -c moons.csv | huddle cluster - -m sc -q -o - | cmp - stdout.txt

A file that was read in part is continued, as by any other program.

  $ (read -r header; huddle info - | sed -n 3p) < moons.csv
  points    300

Commands in a row; messages name stdin.

  $ cat moons.csv | huddle cluster - -m sc -q -o - | huddle score moons.csv - | head -1
  acc     1.0000
  $ huddle cluster moons.csv -m sc -q --save - > model
  $ cat moons.csv | huddle predict model - | cmp - stdout.txt
  $ cat model | huddle predict - moons.csv -o - | cmp - stdout.txt
  $ huddle cluster moons.csv -m sc -q --report - | head -c 15; echo
  <!DOCTYPE html>
  $ huddle cluster - -m sc -q --report - < moons.csv | grep -o 'huddle cluster[^"]*' | head -1
  huddle cluster - --method sc --quiet --report -
  $ huddle path moons.csv -c 2 --n-gamma 3 -q -o - | head -1
  a,b,gamma,size
  $ huddle path moons.csv -c 2 --n-gamma 3 -q --labels - | wc -l
  300
  $ huddle cluster moons.csv -m sc --refine none -q --dump parts > /dev/null
  $ cat stdout.txt | huddle refine parts/A.npz - -q -o - | cmp - stdout.txt
  $ cat parts/A.npz | huddle cluster --graph - -m sc -q -o - | wc -l
  300
  $ cut -d, -f3 moons.csv | huddle cluster moons.csv --y - -m sc -q | grep scores
    scores     acc 1.0000  nmi 1.0000  ari 1.0000  purity 1.0000
  $ printf 'a,b\n1,x\n2,\n3,y\n' | huddle cluster - --y none --x a,b
  huddle: /dev/stdin: line 2, column 2 (b): 'x' is text, not a number; use --encode for one-hot features
  [1]
  $ huddle info - < /dev/null
  huddle: /dev/stdin: the file is empty
  [1]
  $ huddle info - <&-
  huddle: standard input: cannot be read: Bad file descriptor
  [1]

The summary goes to stderr if stdout has something else, and with -q nowhere.

  $ huddle cluster moons.csv -m sc -o - 2> summary | cmp - stdout.txt
  $ head -1 summary
  moons.csv: 300 points, 2 features, 2 classes
  $ huddle cluster moons.csv -m sc -q -o - > /dev/null

A stream serves one purpose.

  $ huddle score - - < stdout.txt
  huddle: argument 2: standard input can be read only once
  [2]
  $ huddle cluster - --y - < moons.csv
  huddle: --y: standard input can be read only once
  [2]
  $ huddle cluster moons.csv -o - --save -
  huddle: --save: standard output can be written only once
  [2]
  $ huddle cluster moons.csv -o - --json
  huddle: --json needs standard output for itself; write the other output to a file
  [2]
  $ huddle cluster moons.csv --dump -
  huddle: --dump cannot be standard output; give it a name
  [2]
  $ huddle convert moons.csv out.csv --format npz
  huddle: out.csv: --format is for stdout; the extension determines the format of a file
  [2]
  $ huddle cluster - --engine mpi < moons.csv
  huddle: * (glob)
  [2]

A reader that stops early ends the tool without a message, or is an error where the signal is ignored.

  $ huddle generate moons --n 200000 -q | head -1
  x1,x2,label
  $ huddle cluster moons --n 50000 -m kmeans --n-init 1 -q -o - | head -1
  [01] (re)
  $ (trap '' PIPE; huddle generate moons --n 200000 -q 2> early.txt) | head -1
  x1,x2,label
  $ cat early.txt
  huddle: standard output: Broken pipe

A full disk and a closed stdout are failures, whatever is written there.

  $ huddle cluster moons.csv -m sc -q -o - > /dev/full
  huddle: standard output: No space left on device
  [1]
  $ huddle convert moons.csv - -q > /dev/full
  huddle: standard output: No space left on device
  [1]
  $ huddle cluster moons.csv -m sc -q -o - >&-
  huddle: standard output: Bad file descriptor
  [1]
  $ huddle cluster moons.csv -m sc -q -o late.txt >&-
  huddle: standard output: Bad file descriptor
  [1]
  $ cmp late.txt stdout.txt
  $ TMPDIR=$PWD/absent huddle cluster moons.csv -o -
  huddle: */absent/huddle-*: cannot create a temporary folder: No such file or directory (glob)
  [1]

A terminal is read too, after a sentence.

  $ printf 'a,b\n1,2\n3,4\n\004' | script -qec 'huddle info -' /dev/null | tr -d '\r' | tail -7
  huddle: standard input is this terminal: type or paste the data, then press Ctrl-D
  file      /dev/stdin
  format    csv
  points    2
  features  2
  classes   none
  names     a, b

Nothing is left behind, nor after a failure.

  $ cat moons.csv | huddle cluster - -m sc --gamma 3 -o -
  huddle: method sc has no option --gamma; see huddle options sc
  [2]
  $ ls -A tmp

A process that is killed leaves the copy of its input, which the next one removes. Devices may have no end.

  $ cat > killed.py <<END
  > import os, signal, subprocess, time
  > process = subprocess.Popen(["huddle", "info", "-"], stdin=subprocess.PIPE)
  > process.stdin.write(b"1,2\\n3,4\\n")
  > process.stdin.flush()
  > def names():  # the thread sanitizer begins with a file of its own
  >     return [name for name in os.listdir("tmp") if not name.startswith("tsan.")]
  > while not names():
  >     time.sleep(.01)
  > name = names()[0]
  > process.send_signal(signal.SIGKILL)
  > process.wait()
  > print(os.path.isdir(os.path.join("tmp", name)), oct(os.stat(os.path.join("tmp", name)).st_mode & 0o777))
  > END
  $ /usr/bin/python3 killed.py
  True 0o700
  $ cat moons.csv | huddle info - | sed -n 3p
  points    300
  $ ls -A tmp
  $ huddle info - < /dev/zero
  huddle: standard input: is a device, not a file
  [1]
