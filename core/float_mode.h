/* How this thread computes with floating-point numbers: rounding, flushing of subnormal numbers, traps. Not which exceptions have
 * happened. */
#ifndef TKI_CORE_FLOAT_MODE_H
#define TKI_CORE_FLOAT_MODE_H

#include <fenv.h>
#include <stdint.h>

static inline uint64_t tki_float_mode(void)
{
#if defined(__x86_64__)
    enum { SSE_FLAGS = 0x3f };
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~(unsigned)SSE_FLAGS);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround();
#endif
}

#endif
