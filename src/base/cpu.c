#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

/* The AVX-512 kernels use the subsets of Skylake-X and later; FMA is not implied by AVX2 in
 * CPUID. */
static hd_isa detect_isa(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return HD_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return HD_ISA_AVX2;
#endif
    return HD_ISA_BASE;
}

/* HUDDLE_ISA can only lower the choice: tests compare the kernels on one machine, and a higher
 * instruction set than the processor has would end in an illegal instruction. */
hd_isa hd_cpu_isa(void) {
    hd_isa best = detect_isa();
    const char *requested = getenv("HUDDLE_ISA");
    if (requested == NULL)
        return best;
    if (strcmp(requested, "base") == 0)
        return HD_ISA_BASE;
    if (strcmp(requested, "avx2") == 0 && best > HD_ISA_AVX2)
        return HD_ISA_AVX2;
    return best;
}
