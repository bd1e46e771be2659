#!/usr/bin/python3
"""The kernels that this CPU can run: settings.py [--others] HUDDLE

Prints one setting of the environment per line: the kernels of OpenBLAS (OPENBLAS_CORETYPE) and those of
Huddle (HUDDLE_ISA); with --others without those that are used if nothing is set, as all other tests do.
What is left out is said on stderr. OpenBLAS does not check whether the CPU has the
instructions of a core type that it is asked for: the program would end in an illegal instruction.
"""
import os
import subprocess
import sys

AVX2 = {"avx2", "fma"}
AVX512 = AVX2 | {"avx512f", "avx512dq", "avx512bw", "avx512vl"}
CORES = {"Prescott": {"pni"}, "Haswell": AVX2, "Zen": AVX2, "SkylakeX": AVX512,
         "Cooperlake": AVX512 | {"avx512_bf16"}}
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


def settings(tool):
    """The settings, and a sentence for each that is left out."""
    flags, found, left_out = cpu_flags(), [], []
    for variable, kinds in (("OPENBLAS_CORETYPE", CORES), ("HUDDLE_ISA", ISAS)):
        for name, needed in kinds.items():
            missing = sorted(needed - flags)
            if missing:
                left_out.append(f"{variable}={name} is left out: this CPU has no {missing[0]}")
            elif variable == "OPENBLAS_CORETYPE" and not uses(tool, name, {variable: name}):
                left_out.append(f"{variable}={name} is left out: the BLAS does not use it")
            else:
                found.append(f"{variable}={name}")
    return found, left_out


def is_default(tool, setting, found):
    """Whether this is what is used without a setting; of the instruction sets it is the largest."""
    variable, name = setting.split("=")
    if variable == "OPENBLAS_CORETYPE":
        return uses(tool, name, {})
    return setting == found[-1]


def main():
    tool = sys.argv[-1]
    found, left_out = settings(tool)
    if sys.argv[1] == "--others":
        found = [setting for setting in found if not is_default(tool, setting, found)]
    for sentence in left_out:
        print(f"cores: {sentence}", file=sys.stderr)
    print("\n".join(found))


if __name__ == "__main__":
    main()
