/* DECIDES. How this thread computes with floating-point numbers: rounding, flushing of subnormal numbers, traps. Not which exceptions have
 * happened. On x86-64 also what a function has to give back empty or clear by its calling convention, and what breaks the code after it:
 * the registers that x87 and MMX share, the direction of string instructions, the check of alignments. */
#pragma once

#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* In what a mode differs from the one in which programs begin, by any processor's names: a bit each, and certificates have them as a number. */
typedef enum tki_float_deviation {
    TKI_FLUSHES_RESULTS = 1 << 0,
    TKI_FLUSHES_INPUTS = 1 << 1,
    TKI_FLUSHES_BOTH = 1 << 2,
    TKI_FLUSHES_FP16 = 1 << 3,
    TKI_FLUSHES = TKI_FLUSHES_RESULTS | TKI_FLUSHES_INPUTS | TKI_FLUSHES_BOTH | TKI_FLUSHES_FP16,
    TKI_ROUNDS = 1 << 4,
    TKI_TRAPS = 1 << 5,
    TKI_X87 = 1 << 6,
    TKI_X87_REGISTERS = 1 << 7,
    TKI_FLAGS = 1 << 8,
    TKI_OTHER_MODE = 1 << 9,
    TKI_DEVIATIONS = 10
} tki_float_deviation;

/* The bits of this processor's mode. */
typedef struct tki_float_mode_part {
    uint64_t bits;
    tki_float_deviation is;
} tki_float_mode_part;

#if defined(__x86_64__)
enum { TKI_FLAGS_TO_CLEAR = 1 << 10 | 1 << 18 }; /* direction, alignment */
#define TKI_FLOAT_MODE_START (UINT64_C(0x037f) << 32 | 0x1f80)
static const tki_float_mode_part tki_float_mode_parts[] = {
    {1 << 15, TKI_FLUSHES_RESULTS},
    {1 << 6, TKI_FLUSHES_INPUTS},
    {3 << 13, TKI_ROUNDS},
    {0x1f80, TKI_TRAPS},
    {UINT64_C(0xffff) << 32, TKI_X87},
    {UINT64_C(0xff) << 48, TKI_X87_REGISTERS},
    {UINT64_C(3) << 56, TKI_FLAGS},
};
#elif defined(__aarch64__)
#define TKI_FLOAT_MODE_START UINT64_C(0)
static const tki_float_mode_part tki_float_mode_parts[] = {
    {1 << 24, TKI_FLUSHES_BOTH},
    {1 << 19, TKI_FLUSHES_FP16},
    {3 << 22, TKI_ROUNDS},
    {0x9f00, TKI_TRAPS},
};
#else
#define TKI_FLOAT_MODE_START ((uint64_t)FE_TONEAREST)
static const tki_float_mode_part tki_float_mode_parts[] = {{~UINT64_C(0), TKI_ROUNDS}};
#endif

/* tki_float_deviation of `mode`; 0: it is the one in which programs begin. */
static inline unsigned tki_float_deviations(uint64_t mode)
{
    const uint64_t differs = mode ^ TKI_FLOAT_MODE_START;
    uint64_t known = 0;
    unsigned deviations = 0;
    for (size_t i = 0; i < sizeof tki_float_mode_parts / sizeof *tki_float_mode_parts; i++) {
        known |= tki_float_mode_parts[i].bits;
        deviations |= differs & tki_float_mode_parts[i].bits ? tki_float_mode_parts[i].is : 0;
    }
    return deviations | (differs & ~known ? TKI_OTHER_MODE : 0);
}

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

/* All exceptions have happened, as after other code's computations; the mode is what it was. */
static inline void tki_float_flags_raise(void)
{
#if defined(__x86_64__)
    enum { FLAGS = 0x3f };
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLAGS);
#elif defined(__aarch64__)
    enum { FLAGS = 0x9f };
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    __asm__ volatile("msr fpsr, %0" : : "r"(status | FLAGS));
#endif
}
