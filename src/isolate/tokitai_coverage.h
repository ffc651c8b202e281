/* CHOOSES. Included before an instrumented kernel by its compiler (-include), by nobody else. */
#ifndef TOKITAI_COVERAGE_H
#define TOKITAI_COVERAGE_H

#if !defined(__CUDACC__) && !defined(__HIPCC__)

/* What tokitai_kernel.h does is of no interest, and it does it for every element. */
#if defined(__clang__)
#define TOKITAI_PROVIDED \
    static __attribute__((unused, noinline, no_sanitize("coverage"), no_profile_instrument_function))
#else
#define TOKITAI_PROVIDED \
    static __attribute__((unused, noinline, no_sanitize_coverage, no_profile_instrument_function))
#endif
#define TOKITAI_PROVIDED_HOST TOKITAI_PROVIDED

#endif

/* gcov's counters belong to the library that they are linked into, and only code of that library can have them written. */
#if defined(TOKITAI_COUNTS_LINES) && !defined(__CUDA_ARCH__)
#ifdef __cplusplus
extern "C" {
#endif

void __gcov_dump(void);
__attribute__((visibility("default"))) void tokitai_coverage_write(void);
void tokitai_coverage_write(void)
{
    __gcov_dump();
}

#ifdef __cplusplus
}
#endif
#endif

#endif
