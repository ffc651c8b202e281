/* DECIDES. How this thread computes with floating-point numbers: rounding, flushing of subnormal numbers, traps. Not which exceptions have
 * happened. On x86-64 also what a function has to give back empty or clear by its calling convention, and what breaks the code after it:
 * the registers that x87 and MMX share, the direction of string instructions, the check of alignments. */
#pragma once

#include <fenv.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
enum { TKI_FLAGS_TO_CLEAR = 1 << 10 | 1 << 18 }; /* direction, alignment */
#endif

static inline uint64_t tki_float_mode(void)
{
#if defined(__x86_64__)
    enum { SSE_FLAGS = 0x3f, TAGS = 4, SSE_MODE = 24 }; /* where they lie in what fxsave writes */
    _Alignas(16) unsigned char state[512];
    uint16_t x87;
    uint32_t sse;
    const uint64_t flags = __builtin_ia32_readeflags_u64() & TKI_FLAGS_TO_CLEAR;
    __asm__ volatile("fxsave %0" : "=m"(state));
    memcpy(&x87, state, sizeof x87);
    memcpy(&sse, state + SSE_MODE, sizeof sse);
    return ((flags >> 10 | flags >> 17) & 3) << 56 | (uint64_t)state[TAGS] << 48 | (uint64_t)x87 << 32 |
           (sse & ~(uint32_t)SSE_FLAGS);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround();
#endif
}

/* As a program begins. */
static inline void tki_float_mode_reset(void)
{
#if defined(__x86_64__)
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TKI_FLAGS_TO_CLEAR);
    __asm__ volatile("fninit"); /* fesetenv() leaves the registers as they are */
#endif
    fesetenv(FE_DFL_ENV);
}
