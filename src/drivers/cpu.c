/* RECORDS. What this processor can do. The compiler's run-time asks the operating system too: registers that it does not save do not
 * count. */
#include "drivers/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Not every compiler knows "f16c" as a name. Its registers are those of AVX, so the system's support is AVX's. */
bool tki_cpu_has_f16c(void)
{
#if defined(__x86_64__)
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) != 0;
#else
    return false;
#endif
}

const char *tki_cpu_accept_avx512(const tk_case *c, const tki_gpu_info *device)
{
    (void)c;
    (void)device;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return NULL;
#endif
    return "the processor has no AVX-512 F, BW, VL and DQ";
}

const char *tki_cpu_accept_avx512bf16(const tk_case *c, const tki_gpu_info *device)
{
    if (c->dtype != TK_BF16)
        return "takes bf16 only";
#if defined(__x86_64__)
    if (!tki_cpu_accept_avx512(c, device) && __builtin_cpu_supports("avx512bf16"))
        return NULL;
#else
    (void)device;
#endif
    return "the processor has no AVX-512 BF16";
}

const char *tki_cpu_accept_avx512ifma(const tk_case *c, const tki_gpu_info *device)
{
#if defined(__x86_64__)
    if (!tki_cpu_accept_avx512(c, device) && __builtin_cpu_supports("avx512ifma"))
        return NULL;
#else
    (void)c;
    (void)device;
#endif
    return "the processor has no AVX-512 IFMA";
}

const char *tki_cpu_accept_avx2(const tk_case *c, const tki_gpu_info *device)
{
    (void)c;
    (void)device;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && tki_cpu_has_f16c())
        return NULL;
#endif
    return "the processor has no AVX2, FMA and F16C";
}

const char *tki_cpu_accept_neon(const tk_case *c, const tki_gpu_info *device)
{
    (void)c;
    (void)device;
#if defined(__aarch64__)
    return NULL; /* every AArch64 processor has it */
#else
    return "the processor is not AArch64";
#endif
}

const char *tki_cpu_accept_any(const tk_case *c, const tki_gpu_info *device)
{
    (void)c;
    (void)device;
    return NULL;
}
