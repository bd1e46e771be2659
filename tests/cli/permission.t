Files that may not be read or written. Root may do anything, so it steps down for this.

  $ as_nobody() {
  >   if [ "$(id -u)" = 0 ]; then
  >     setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  >   else
  >     "$@"
  >   fi
  > }
  $ as_nobody huddle --version > /dev/null 2>&1 || exit 80
  $ folder=$(mktemp -d /tmp/huddle-cli-XXXXXX)
  $ chmod 755 $folder
  $ cd $folder
  $ printf '1,2\n3,4\n' > secret.csv
  $ chmod 000 secret.csv
  $ as_nobody huddle info secret.csv
  huddle: secret.csv: cannot be opened: Permission denied
  [1]
  $ printf '1,2\n3,4\n' > open.csv
  $ chmod 644 open.csv
  $ chmod 555 .

The computation is not started: with 2 points it would fail with another message.

  $ as_nobody huddle cluster open.csv -m kmeans -c 3 -o labels.csv
  huddle: labels.csv: cannot be written: Permission denied
  [1]
  $ as_nobody huddle convert open.csv out.npy
  huddle: out.npy: cannot be written: Permission denied
  [1]
  $ as_nobody huddle cluster open.csv -m kmeans -c 3 --save model
  huddle: model: cannot be written: Permission denied
  [1]
  $ as_nobody huddle cluster open.csv -m kmeans -c 3 --report page.html
  huddle: page.html: cannot be written: Permission denied
  [1]
  $ as_nobody huddle cluster open.csv -m kmeans -c 3 --dump out
  huddle: out: cannot be written: Permission denied
  [1]
  $ as_nobody huddle cluster open.csv -m kmeans -c 3 --dump .
  huddle: .: cannot be written: Permission denied
  [1]
  $ as_nobody huddle path open.csv --labels labels.csv
  huddle: labels.csv: cannot be written: Permission denied
  [1]
  $ ls
  open.csv
  secret.csv
  $ cd /
  $ chmod 755 $folder
  $ rm -r $folder
