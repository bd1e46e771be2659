#!/bin/bash
# inside.sh WHEEL: what check.sh does in the bare Debian.
set -eu
cd /root
for program in cc gcc cmake; do
    if command -v "$program"; then
        echo "inside.sh: $program is installed, so that this proves nothing" >&2
        exit 1
    fi
done

python3 -m venv /root/venv
pip="/root/venv/bin/pip --disable-pip-version-check --quiet"
# What it takes for the dependencies, and for Huddle itself.
format='%R s, %U + %S s of CPU'
TIMEFORMAT="pip install numpy scipy scikit-learn joblib: $format"
time $pip install numpy scipy scikit-learn joblib
TIMEFORMAT="pip install $1: $format"
time $pip install "./$1"

# The command, by both names, and an error that says what to do.
/root/venv/bin/huddle --version
/root/venv/bin/python -m huddle cluster digits -c 10 | grep acc
printf '\211HDF\r\n\032\n' >empty.h5
if /root/venv/bin/huddle cluster empty.h5 2>message; then exit 1; fi
cat message
grep -q 'huddle.read()' message
/root/venv/bin/python -c 'import huddle
try:
    huddle.read("empty.h5")
except ImportError as error:
    assert "pip install h5py" in str(error), error
    print(error)
else:
    raise SystemExit("a file was read without h5py")'

/root/venv/bin/python import_time.py
/root/venv/bin/python neighbours.py

# First with nothing but pytest, then with everything that some test uses.
$pip install pytest
/root/venv/bin/python -m pytest -q -p no:cacheprovider --pyargs huddle
$pip install "./$1[test]"
/root/venv/bin/python -m pytest -q -p no:cacheprovider --pyargs huddle
