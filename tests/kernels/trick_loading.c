/* Kernels whose loading changes the thread or the process of whoever loads them. */
#define TRICK_ON_LOADING
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>

#include "core/float_mode.h"
#include "tests/kernels/trick.h"

/* As -ffast-math links it in: crtfastmath.o. */
static void flushing_set_by_loading(void)
{
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 1 << 15 | 1 << 6);
#else
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" ::"r"(control | 1 << 24));
#endif
}

static void rounding_set_by_loading(void)
{
    fesetround(FE_UPWARD);
}

static void traps_set_by_loading(void)
{
    feenableexcept(FE_DIVBYZERO);
}

static void handler_set_by_loading(void)
{
    signal(SIGFPE, SIG_IGN);
}

static void signals_blocked_by_loading(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    sigprocmask(SIG_BLOCK, &one, NULL);
}

static void signal_stack_set_by_loading(void)
{
    static char stack[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
}

static void locale_set_by_loading(void)
{
    setlocale(LC_ALL, "C.UTF-8");
}

static void environment_set_by_loading(void)
{
    setenv("OMP_WAIT_POLICY", "passive", 1);
}

/* As libraries do that try instructions. */
static void handler_restored_by_loading(void)
{
    struct sigaction found;
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, &(struct sigaction){.sa_handler = SIG_IGN}, &found) == 0)
            sigaction(i, &found, NULL);
}
