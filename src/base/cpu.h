/* Kernels for the CPU of this machine, chosen at run time.
 *
 * A file NAME.simd.c is compiled once for each instruction set with HD_ISA set to base, avx2 or
 * avx512. It writes its kernels in plain C or GCC vector extensions, sized by HD_LANES (floats in
 * one register), and names them HD_SIMD(kernel); elsewhere
 *
 *     static kernel_function *const kernels[] = HD_SIMD_TABLE(kernel);
 *     kernels[hd_cpu_isa()](...);
 *
 * calls the best one. Off x86-64 there is only `base`. */
#ifndef HUDDLE_SRC_CPU_H
#define HUDDLE_SRC_CPU_H

typedef enum hd_isa { HD_ISA_BASE, HD_ISA_AVX2, HD_ISA_AVX512 } hd_isa;

/* The best instruction set of this CPU. HUDDLE_ISA=base|avx2|avx512 in the environment lowers it,
 * which is how the tests reach all three. */
hd_isa hd_cpu_isa(void);

#define HD_PASTE_(name, isa) name##_##isa
#define HD_PASTE(name, isa)  HD_PASTE_(name, isa)
#define HD_SIMD(name)        HD_PASTE(name, HD_ISA)

/* Declares a kernel in all versions, and NAME_function, the type that they have. */
#if defined(__x86_64__)
#define HD_SIMD_DECLARE(result, name, ...)                                                         \
    typedef result name##_function(__VA_ARGS__);                                                   \
    name##_function name##_base, name##_avx2, name##_avx512
#define HD_SIMD_TABLE(name)                                                                        \
    { name##_base, name##_avx2, name##_avx512 }
#else
#define HD_SIMD_DECLARE(result, name, ...)                                                         \
    typedef result name##_function(__VA_ARGS__);                                                   \
    name##_function name##_base
#define HD_SIMD_TABLE(name)                                                                        \
    { name##_base, name##_base, name##_base }
#endif

#if defined(__AVX512F__)
#define HD_LANES 16
#elif defined(__AVX__)
#define HD_LANES 8
#else
#define HD_LANES 4
#endif

#endif
