/* CHOOSES. What a kernel finds around its calls and did not make: bytes below them on the stack, and what clocks say. In an ordinary program both
 * are whatever they are; here they change from call to call, so that a kernel that goes by them gives other results. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>

#include "worker/worker_program.h"

/* ------------------------------------------------------------------------------------------------------------
 * Stacks
 * ------------------------------------------------------------------------------------------------------------ */

/* Zeros, what is NaN in every format, noise, ones of each format, a small and a large integer. */
__attribute__((noinline)) static void dirty(unsigned turn, size_t bytes)
{
    static const uint32_t patterns[] = {0, 0xffffffff, 0, 0x3f800000, 1, 0x3c003c00, 0x7f7f7f7f};
    enum { PATTERNS = sizeof patterns / sizeof *patterns, NOISE = 2 };
    const uint32_t pattern = patterns[turn % PATTERNS];
    uint32_t noise = turn, *words = __builtin_alloca(bytes);
    for (size_t i = 0; i < bytes / sizeof *words && turn % PATTERNS != NOISE; i++)
        words[i] = pattern;
    for (size_t i = 0; i < bytes / sizeof *words && turn % PATTERNS == NOISE; i++)
        words[i] = noise = noise * 1664525u + 1013904223u;
    __asm__ volatile("" ::"r"(words) : "memory");
}

static void *dirty_thread(void *turn)
{
    enum { KEPT = 12 << 10 }; /* of a thread that ended; the rest is given back */
    dirty(*(const unsigned *)turn, KEPT);
    return NULL;
}

/* The next threads get the stacks of those that ended. */
static void dirty_next_threads(unsigned turn)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    unsigned turns[THREADS];
    int count = 0;
    for (; count < THREADS; count++) {
        turns[count] = turn + (unsigned)count;
        if (pthread_create(&threads[count], NULL, dirty_thread, &turns[count]) != 0)
            break;
    }
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

/* A frame of its own, which lies where the kernel's will. */
__attribute__((noinline)) void tki_worker_dirty_stacks(bool threads)
{
    static const unsigned char kib[] = {8, 16, 8, 64, 4, 16, 8, 160};
    enum { THREADS_EACH = 32 };
    static unsigned turn;
    if (threads && turn % THREADS_EACH == 0)
        dirty_next_threads(turn / THREADS_EACH);
    dirty(turn, (size_t)kib[turn / 2 % sizeof kib] << 10);
    turn++;
}

/* ------------------------------------------------------------------------------------------------------------
 * Clocks: the program's functions stand before libc's in every library that is loaded
 * ------------------------------------------------------------------------------------------------------------ */

static _Atomic int64_t ahead; /* seconds */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool jumps(clockid_t clock)
{
    return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static __typeof__(&clock_gettime) real;
    if (!real)
        real = REAL(clock_gettime);
    const int failed = real(clock, now);
    if (!failed && jumps(clock))
        now->tv_sec += ahead;
    return failed;
}

time_t time(time_t *also)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (also)
        *also = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise = {0};
    const int failed = clock_gettime(CLOCK_REALTIME, &precise);
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return failed;
}

int timespec_get(struct timespec *now, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

/* Who waits until a time has it from these clocks. */
static struct timespec without_jumps(const struct timespec *until)
{
    return (struct timespec){until->tv_sec - ahead, until->tv_nsec};
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock,
                           const struct timespec *restrict until)
{
    const struct timespec really = without_jumps(until);
    return REAL(pthread_cond_timedwait)(condition, lock, &really);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, clockid_t clock,
                           const struct timespec *restrict until)
{
    const struct timespec really = without_jumps(until);
    return REAL(pthread_cond_clockwait)(condition, lock, clock, &really);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict lock, const struct timespec *restrict until)
{
    const struct timespec really = without_jumps(until);
    return REAL(pthread_mutex_timedlock)(lock, &really);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    const struct timespec really = without_jumps(until);
    return REAL(sem_timedwait)(semaphore, &really);
}

void tki_worker_move_clocks(void)
{
    static const int64_t steps[] = {70, 3700, 400 * 86400, 7};
    enum { STEPS = sizeof steps / sizeof *steps };
    static unsigned calls;
    if (calls) /* the first call says what the kernel counts from */
        ahead += steps[calls < STEPS ? calls - 1 : STEPS - 1];
    calls++;
}

/* ------------------------------------------------------------------------------------------------------------
 * The processor's counter
 * ------------------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)

#include <ucontext.h>

static bool trapped;

void tki_worker_trap_counter(void)
{
    trapped = prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
}

bool tki_worker_answers_counter(const siginfo_t *about, void *context)
{
    static const unsigned char read[] = {0x0f, 0x31}, read_with_processor[] = {0x0f, 0x01, 0xf9};
    static const uint64_t per_second = UINT64_C(3) << 30;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *at = (const unsigned char *)registers[REG_RIP];
    size_t length = 0;
    if (!trapped || about->si_code != SI_KERNEL) /* else the instruction is one that can be read */
        return false;
    if (!memcmp(at, read, sizeof read))
        length = sizeof read;
    else if (!memcmp(at, read_with_processor, sizeof read_with_processor))
        length = sizeof read_with_processor;
    if (!length || prctl(PR_SET_TSC, PR_TSC_ENABLE) != 0)
        return false;
    const uint64_t now = __builtin_ia32_rdtsc() + (uint64_t)ahead * per_second;
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    registers[REG_RAX] = (greg_t)(uint32_t)now;
    registers[REG_RDX] = (greg_t)(now >> 32);
    if (length == sizeof read_with_processor)
        registers[REG_RCX] = 0;
    registers[REG_RIP] += (greg_t)length;
    return true;
}

#else

void tki_worker_trap_counter(void)
{
}

bool tki_worker_answers_counter(const siginfo_t *about, void *context)
{
    (void)about;
    (void)context;
    return false;
}

#endif
