#!/usr/bin/python3
"""The kernels of other CPUs that this one can run: settings.py HUDDLE

Prints one environment per line: the kernels of OpenBLAS (OPENBLAS_CORETYPE) together with those of Huddle
(HUDDLE_ISA) that such a CPU has. What is used if nothing is set is left out, as all other tests use it.
What else is left out is said on stderr. OpenBLAS does not check whether the CPU has the
instructions of a core type that it is asked for: the program would end in an illegal instruction.
"""
import os
import subprocess
import sys

AVX2 = {"avx2", "fma"}
AVX512 = AVX2 | {"avx512f", "avx512dq", "avx512bw", "avx512vl"}
CORES = {"Prescott": ({"pni"}, "base"), "Haswell": (AVX2, "avx2"), "Zen": (AVX2, "avx2"),
         "SkylakeX": (AVX512, "avx512"), "Cooperlake": (AVX512 | {"avx512_bf16"}, "avx512")}
ISAS = {"base": set(), "avx2": AVX2, "avx512": AVX512}


def cpu_flags():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.split(":")[1].split())
    except OSError:
        pass
    return set()


def uses(tool, core, environment):
    """Whether the BLAS chooses its kernels at run time, and these."""
    made = subprocess.run([tool, "methods"], capture_output=True, text=True, check=False,
                          env={**os.environ, "OPENBLAS_VERBOSE": "2", **environment})
    return made.returncode == 0 and f"Core: {core}" in made.stdout + made.stderr


def other_instructions(flags):
    """The instruction sets of Huddle's kernels but the largest, which is the default."""
    return [name for name, needed in ISAS.items() if needed <= flags][:-1]


def settings(tool):
    """The environments, each a text NAME=VALUE [NAME=VALUE], and a sentence for each that is left out."""
    flags, found, left_out = cpu_flags(), [], []
    for core, (needed, isa) in CORES.items():
        missing = sorted(needed - flags)
        if missing:
            left_out.append(f"{core} is left out: this CPU has no {missing[0]}")
        elif not uses(tool, core, {"OPENBLAS_CORETYPE": core}):
            left_out.append(f"{core} is left out: the BLAS does not use it")
        elif not uses(tool, core, {}):
            found.append(f"OPENBLAS_CORETYPE={core} HUDDLE_ISA={isa}")
    # Where the BLAS has one kind of kernels only, or its default is the only one of a kind.
    for isa in other_instructions(flags):
        if not any(text.endswith(f"HUDDLE_ISA={isa}") for text in found):
            found.append(f"HUDDLE_ISA={isa}")
    return found, left_out


def main():
    found, left_out = settings(sys.argv[1])
    for sentence in left_out:
        print(f"cores: {sentence}", file=sys.stderr)
    print("\n".join(found))


if __name__ == "__main__":
    main()
