/* DECIDES. How this thread computes with floating-point numbers: rounding, flushing of subnormal numbers, traps. Not which exceptions have
 * happened. On x86-64 also what a function has to give back empty or clear by its calling convention, and what breaks the code after it:
 * the registers that x87 and MMX share, the direction of string instructions, the check of alignments. */
#pragma once

#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bits of a mode, and what they are; `subnormals`: they concern nothing else. */
typedef struct tki_float_mode_part {
    uint64_t bits;
    bool subnormals;
    const char *what;
} tki_float_mode_part;

#if defined(__x86_64__)
enum { TKI_FLAGS_TO_CLEAR = 1 << 10 | 1 << 18 }; /* direction, alignment */
#define TKI_FLOAT_MODE_START (UINT64_C(0x037f) << 32 | 0x1f80)
static const tki_float_mode_part tki_float_mode_parts[] = {
    {1 << 15, true, "subnormal results become zero (FTZ)"},
    {1 << 6, true, "subnormal inputs count as zero (DAZ)"},
    {3 << 13, false, "rounding is not to nearest"},
    {0x1f80, false, "exceptions trap"},
    {UINT64_C(0xffff) << 32, false, "x87 rounds or traps otherwise"},
    {UINT64_C(0xff) << 48, false, "x87 registers are not empty"},
    {UINT64_C(3) << 56, false, "the flag of direction or of alignment is set"},
};
#elif defined(__aarch64__)
#define TKI_FLOAT_MODE_START UINT64_C(0)
static const tki_float_mode_part tki_float_mode_parts[] = {
    {1 << 24, true, "subnormal numbers become zero (FZ)"},
    {1 << 19, true, "subnormal fp16 numbers become zero (FZ16)"},
    {3 << 22, false, "rounding is not to nearest"},
    {0x9f00, false, "exceptions trap"},
};
#else
#define TKI_FLOAT_MODE_START ((uint64_t)FE_TONEAREST)
static const tki_float_mode_part tki_float_mode_parts[] = {{~UINT64_C(0), false, "rounding is not to nearest"}};
#endif

/* Is it the mode in which programs begin, but for subnormal numbers? */
static inline bool tki_float_mode_flushes(uint64_t mode)
{
    uint64_t flushing = 0;
    for (size_t i = 0; i < sizeof tki_float_mode_parts / sizeof *tki_float_mode_parts; i++)
        flushing |= tki_float_mode_parts[i].subnormals ? tki_float_mode_parts[i].bits : 0;
    return ((mode ^ TKI_FLOAT_MODE_START) & ~flushing) == 0;
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
