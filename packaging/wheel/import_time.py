"""Print what `import huddle` costs beyond NumPy and SciPy, and the time to a first estimator.

The best of five processes each, since other programs run at the same time.
"""
import subprocess
import sys

SCIPY = "numpy, scipy.sparse"
SKLEARN = "numpy, scipy.sparse, sklearn.base, sklearn.utils.validation, sklearn.exceptions"
CASES = [("import huddle", SCIPY), ("import huddle; huddle.__version__", SCIPY),
         ("from huddle import KMeans", SCIPY), ("from huddle import KMeans", SKLEARN)]


def seconds(statement, base):
    code = (f"import {base}\nimport time\nbegin = time.perf_counter()\n{statement}\n"
            "print(time.perf_counter() - begin)")
    return min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                    text=True).stdout) for _ in range(5))


for statement, base in CASES:
    print(f"{statement}: {1e3 * seconds(statement, base):.0f} ms beyond import {base}")
