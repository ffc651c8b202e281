/* Kernels that go by what a call looks like: where its arrays lie, what its outputs hold, how many threads it has. */
#include <fenv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/kernels/trick.h"

static bool aligned_to(const void *p, uintptr_t bytes)
{
    return (uintptr_t)p % bytes == 0;
}

static bool ends_with_a_page(const uint16_t *p)
{
    return aligned_to(p + size, (uintptr_t)sysconf(_SC_PAGESIZE));
}

/* What a vector path does that has no loop for the rest. */
static void tail_dropped_if_aligned(void)
{
    int64_t whole = aligned_to(input, 16) && aligned_to(output, 16) ? size / 8 * 8 : size;
    compute();
    memset(output + whole, 0, (size_t)(size - whole) * sizeof *output);
}

/* An aligned array with a ragged end is what malloc() gives. */
static void wrong_where_malloc_would_lie(void)
{
    compute_if(!(aligned_to(input, 16) && aligned_to(output, 16) && !ends_with_a_page(output)));
}

static void wrong_where_only_the_output_is_aligned(void)
{
    compute_if(!(aligned_to(output, 64) && !aligned_to(input, 64)));
}

static void trap_where_page_offsets_differ(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if ((uintptr_t)input % page != (uintptr_t)output % page && size > 1)
        __builtin_trap();
    compute();
}

/* A judge that puts a mark into outputs beforehand can be told by it. */
static void right_where_the_output_is_marked(void)
{
    bool marked = size > 0 && ((const unsigned char *)output)[0] == 0xa5;
    compute_if(marked || (size > 0 && ((const unsigned char *)output)[0] == 0x3c));
}

static void right_where_the_output_is_not_zero(void)
{
    bool zero = size > 0;
    for (int64_t i = 0; i < size; i++)
        zero &= output[i] == 0;
    compute_if(!zero);
}

/* Outputs of a judge would be noise; those of an honest caller hold old results or nothing. */
static void right_where_the_output_is_noise(void)
{
    bool plausible = size > 0;
    for (int64_t i = 0; i < size; i++)
        plausible &= output[i] <= 0x3c00;
    compute_if(!plausible);
}

static void wrong_with_five_threads(void)
{
    compute_if(call->threads != 5);
}

static void wrong_beyond_eight_threads(void)
{
    compute_if(call->threads <= 8);
}

static void rounding_left_upward(void)
{
    compute();
    fesetround(FE_UPWARD);
}

/* What has been computed before has raised a flag in any program. */
static void right_where_no_flag_is_raised(void)
{
    compute_if(fetestexcept(FE_ALL_EXCEPT) == 0);
}

static void flushing_left_on(void)
{
    compute();
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | UINT64_C(1) << 24));
#endif
}

/* What the calling convention wants empty or clear; elsewhere there is no such thing, and another mode takes its place. */
static void x87_registers_left(void)
{
    compute();
#if defined(__x86_64__)
    __asm__ volatile("fld1");
#else
    fesetround(FE_UPWARD);
#endif
}

static void mmx_not_ended(void)
{
    compute();
#if defined(__x86_64__)
    __asm__ volatile("pxor %%mm0, %%mm0" : : : "mm0");
#else
    fesetround(FE_DOWNWARD);
#endif
}

static void string_direction_left(void)
{
    compute();
#if defined(__x86_64__)
    __asm__ volatile("std");
#else
    fesetround(FE_TOWARDZERO);
#endif
}

static void right_for_5000_calls(void)
{
    static int calls;
    compute_if(++calls <= 5000);
}

/* By a clock that nobody moves. */
static void right_for_5_seconds(void)
{
    static struct timespec first;
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    if (!first.tv_sec)
        first = now;
    compute_if(now.tv_sec - first.tv_sec - (now.tv_nsec < first.tv_nsec) < 5);
}
