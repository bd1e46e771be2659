#!/bin/sh
# octave_mex.sh BUILD: compiles the MEX function with Octave against the libraries of BUILD,
# installed into a temporary folder, runs its tests, which also compare it with the tool, and
# interrupts a fit.
# Exits with 77, skipped, if Octave or mkoctfile is not installed.
set -eu
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v octave-cli >/dev/null || { echo "skipped: Octave is not installed"; exit 77; }
command -v mkoctfile >/dev/null || { echo "skipped: octave-dev is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/usr" >/dev/null
cp -R "$root/matlab" "$scratch/matlab"
octave="octave-cli --no-history --no-init-file --quiet"

# Without the MEX function or the library, it says what to do.
cat >"$scratch/missing.m" <<'END'
addpath(fullfile(argv(){1}, 'matlab'));
try
    huddle_ssc(1, 1);
catch problem
    assert(problem.identifier, 'huddle:not_built');
end
try
    huddle_make(argv(){1});
    error('a missing library was not reported');
catch problem
    assert(problem.identifier, 'huddle:make');
end
END
mkdir "$scratch/empty" && mv "$scratch/matlab" "$scratch/empty/"
$octave "$scratch/missing.m" "$scratch/empty"
mv "$scratch/empty/matlab" "$scratch/matlab"

export HUDDLE_PREFIX="$scratch/usr"
(cd "$scratch/matlab" && $octave --eval huddle_make) >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
if grep 'warning:' "$scratch/log"; then
    exit 1
fi
cd "$scratch/matlab/tests"
$octave --eval "huddle_test('$scratch/usr/bin/huddle')"

# The code of docs/matlab.md; what is drawn there needs a display, or a package.
awk '/^```matlab$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/docs/matlab.md" \
    >"$scratch/page.m"
[ -s "$scratch/page.m" ]
mkdir "$scratch/undrawn"
for name in scatter dendrogram; do
    printf 'function %s(varargin)\nend\n' $name >"$scratch/undrawn/$name.m"
done
$octave --path "$scratch/matlab" --path "$scratch/undrawn" "$scratch/page.m" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
echo "ok docs/matlab.md"

# Ctrl-C ends a long fit.
cat >"$scratch/long.m" <<'END'
addpath(fullfile(argv(){1}, 'matlab'));
X = rand(8000, 50);
file = fopen(fullfile(argv(){1}, 'ready'), 'w');
fclose(file);
huddle_ssc(X, 20, 'n_init', 1000);
file = fopen(fullfile(argv(){1}, 'finished'), 'w');
fclose(file);
END
# A script's background jobs ignore SIGINT; setsid's child would too, so Python starts it.
/usr/bin/python3 - "$scratch" <<'END'
import os, signal, subprocess, sys, time
folder = sys.argv[1]
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen(["octave-cli", "--no-history", "--no-init-file", "--quiet",
                          f"{folder}/long.m", folder])
while not os.path.exists(f"{folder}/ready"):
    time.sleep(.05)
    if child.poll() is not None:
        sys.exit("octave ended early")
time.sleep(.7)
began = time.monotonic()
child.send_signal(signal.SIGINT)
child.wait(timeout=60)
waited = time.monotonic() - began
if waited > 5 or os.path.exists(f"{folder}/finished"):
    sys.exit(f"Ctrl-C did not end the fit in time ({waited:.1f} s)")
print(f"ok interrupted after {waited:.2f} s")
END
