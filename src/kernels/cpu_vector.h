/* UNTRUSTED. The thin layer under the CPU kernels: vectors of fp32, loaded from and stored to 16-bit elements. One kernel
 * body is compiled once per instruction set; the compiler's own macros say which. Lanes are independent except in
 * vec_sum() and vec_greatest(). Without an instruction set the same names are plain loops over four lanes, and vec_fma()
 * rounds twice: kernels must meet their contract either way. */
#ifndef TKI_KERNELS_CPU_VECTOR_H
#define TKI_KERNELS_CPU_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "kernels/cpu_isa.h"
#include "kernels/cpu_polynomials.h"
#include "core/dtype.h"
#include "tokitai_types.h"

#if defined(TKI_ISA_PORTABLE)
#include "kernels/cpu_vector_portable.h"
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include "kernels/cpu_vector_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "kernels/cpu_vector_avx2.h"
#elif defined(__ARM_NEON)
#include "kernels/cpu_vector_neon.h"
#else
#error "this unit is built for an instruction set that has no vector layer; define TKI_ISA_PORTABLE"
#endif

/* 2^(s + 64) for s <= 1, within 3u relative, or 0 where it is below 2^-126; 0 for -infinity; NaN stays NaN. The 2^64
 * is for sums and quotients of such numbers: all that matters keeps its precision, down to 2^-190. */
TKI_INLINE vec vec_exp2_raised(vec s)
{
    vec whole;
    vec f = vec_split(s, &whole);
    vec p = vec_set(EXP2_RAISED[5]);
    p = vec_fma(p, f, vec_set(EXP2_RAISED[4]));
    p = vec_fma(p, f, vec_set(EXP2_RAISED[3]));
    p = vec_fma(p, f, vec_set(EXP2_RAISED[2]));
    p = vec_fma(p, f, vec_set(EXP2_RAISED[1]));
    p = vec_fma(p, f, vec_set(EXP2_RAISED[0]));
    return vec_join(p, whole);
}

#endif
