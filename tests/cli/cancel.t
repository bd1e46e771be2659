Ctrl-C: one message, exit status 1, and no incomplete file.

  $ cat > interrupt.py <<'END'
  > import signal, subprocess, sys, time
  > # Much more work than the time until the signal.
  > words = ["huddle", "cluster", "blobs", "--n", "300000", "-m", "kmeans", "-c", "40", "--noise", "9",
  >          "--n-init", "100000", "-q", "-o", "labels.npy", "--save", "model"]
  > for number in signal.SIGINT, signal.SIGTERM:
  >     process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
  >                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
  >     time.sleep(1.5)
  >     process.send_signal(number)
  >     out, err = process.communicate(timeout=60)
  >     print(process.returncode, repr(out), repr(err))
  > END
  $ /usr/bin/python3 interrupt.py
  1 '' 'huddle: cancelled\n'
  1 '' 'huddle: cancelled\n'
  $ ls -A
  interrupt.py
