/* A GPU that this processor plays: what kernels/device.h and device_mma.h ask of HIP's compiler, for the host's. A kernel compiled after this
 * header (by ./hipcc) is an ordinary function, which emulated_launch() calls once per thread. The threads of a block take turns
 * on stacks of their own, and change only where they wait for each other, in an order that a seed chooses; blocks run one
 * after the other, in an order likewise chosen. So what is shown is what the source means, in orders that a device might take, not what a
 * device's instructions do.
 *
 * It is stricter than a device: a warp does not run in step, all lanes of it must come to a shuffle, a vote or a product together, and no
 * thread may have left where others wait. 2^x and 1/x are as inexact as device.h says that they may be. */
#ifndef EMULATED_GPU_DEVICE_HPP
#define EMULATED_GPU_DEVICE_HPP

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace emulated
{

#if defined(__GFX9__)
enum { LANES = 64 };
#else
enum { LANES = 32 };
#endif
enum { MOST_THREADS = 1024, MOST_WARPS = MOST_THREADS / LANES, STACK_BYTES = 1 << 18, GUARD_BYTES = 4096 };
enum { DYNAMIC_BYTES = 65536, FILLER = 0xa5 };

typedef void kernel_function(const void *params);
enum thread_state { READY, IN_BLOCK_BARRIER, IN_WARP, LEFT };
enum meeting { BARRIER, SHUFFLE, VOTE, PRODUCT };

struct thread {
    jmp_buf place;
    char *stack;
    thread_state state;
    unsigned meetings; /* of its warp, that it has come to */
};

/* What the lanes of a warp bring to a meeting. A lane may be at the next meeting while others still read what was brought to this one. */
struct warp {
    meeting kind;
    unsigned arrived;
    uint32_t word[2][LANES];
    double left[2][LANES / 16][16][16],
        right[2][LANES / 16][16][16]; /* lines of a fragment, and places along the sum */
};

struct launch {
    kernel_function *kernel;
    const void *params;
    unsigned blocks[3], block[3];
    unsigned threads;
    unsigned seed;
    uint64_t random;
    const char *problem;
};

static thread team[MOST_THREADS];
static unsigned team_size; /* threads that have a stack and stand at their place */
static warp warps[MOST_WARPS];
static launch now;
static unsigned current;
static jmp_buf scheduler;

static uint64_t draw()
{
    now.random ^= now.random << 13;
    now.random ^= now.random >> 7;
    return now.random ^= now.random << 17;
}

/* Until the scheduler lets this thread go on. */
__attribute__((noinline)) static void give_way(thread_state state)
{
    thread *self = &team[current];
    self->state = state;
    if (!_setjmp(self->place))
        _longjmp(scheduler, 1);
}

__attribute__((noinline)) static void block_barrier()
{
    give_way(IN_BLOCK_BARRIER);
}

static unsigned lanes_of(unsigned w)
{
    const unsigned first = w * LANES;
    return now.threads - first < LANES ? now.threads - first : LANES;
}

/* Until all lanes of the warp are here. */
__attribute__((noinline)) static void meet(meeting kind)
{
    const unsigned w = current / LANES;
    if (warps[w].arrived && warps[w].kind != kind)
        now.problem = "lanes of a warp wait for different things";
    warps[w].kind = kind;
    if (++warps[w].arrived == lanes_of(w)) {
        warps[w].arrived = 0;
        for (unsigned i = 0; i < lanes_of(w); i++)
            team[w * LANES + i].state = READY;
        give_way(READY);
    } else {
        give_way(IN_WARP);
    }
}

static unsigned next_side()
{
    return team[current].meetings++ % 2;
}

static uint32_t shuffle(uint32_t value, unsigned lane)
{
    const unsigned w = current / LANES, side = next_side();
    warps[w].word[side][current % LANES] = value;
    meet(SHUFFLE);
    return warps[w].word[side][lane % LANES];
}

static uint64_t vote(bool condition)
{
    const unsigned w = current / LANES, side = next_side();
    uint64_t votes = 0;
    warps[w].word[side][current % LANES] = condition;
    meet(VOTE);
    for (unsigned i = 0; i < lanes_of(w); i++)
        votes |= (uint64_t)warps[w].word[side][i] << i;
    return votes;
}

/* ------------------------------------------------------------------------------------------------------------
 * Matrix units, after AMD's descriptions of the instructions: D = A B + C, 16 x 16 x 16
 * ------------------------------------------------------------------------------------------------------------ */

/* The units of gfx90a flush subnormal numbers. */
static double from_unit(double value, double least_normal)
{
#if defined(__gfx90a__)
    return fabs(value) < least_normal ? 0 : value;
#else
    return value;
#endif
}

static double number(_Float16 half)
{
    return from_unit((double)half, 0x1p-14);
}

static double number(short bits) /* bf16 */
{
    const uint32_t word = (uint32_t)(uint16_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return from_unit((double)value, 0x1p-126);
}

/* A lane of MFMA has 4 places along the sum, each sixteen lanes others; one of WMMA has all 16, and both halves of a warp the same. */
template <int RUN, int SUMS, class vector, class sums> static sums product(vector a, vector b, sums c)
{
    const unsigned w = current / LANES, lane = current % LANES, side = next_side();
    const unsigned line = lane % 16, part = lane / 16, copy = RUN == 16 ? part : 0;
    double(*left)[16][16] = warps[w].left[side], (*right)[16][16] = warps[w].right[side];
    for (int i = 0; i < RUN; i++) {
        const unsigned place = RUN == 16 ? (unsigned)i : part * RUN + (unsigned)i;
        left[copy][line][place] = number(a[i]);
        right[copy][line][place] = number(b[i]);
    }
    meet(PRODUCT);
    if (memcmp(left[copy][line], left[0][line], sizeof left[0][line]) ||
        memcmp(right[copy][line], right[0][line], sizeof right[0][line]))
        now.problem = "the halves of a warp give different fragments to a product";
    for (int i = 0; i < SUMS; i++) {
        const unsigned row = RUN == 16 ? 2 * (unsigned)i + part : part * SUMS + (unsigned)i;
        double sum = 0;
        for (int k = 0; k < 16; k++) {
#pragma clang fp reassociate(on) /* no order of a unit's sum is promised */
            sum += left[0][row][k] * right[0][line][k];
        }
        c[i] = (float)(sum + (double)c[i]);
    }
    return c;
}

/* ------------------------------------------------------------------------------------------------------------
 * Arithmetic that devices do inexactly
 * ------------------------------------------------------------------------------------------------------------ */

/* One unit in the last place more, or less, or neither, as the bits of the argument will have it. Results that are powers of two
 * are exact: gelu's gradient at infinity rests on 1/1 being 1. */
static float disturbed(float exact, float argument)
{
    uint32_t bits, mixed;
    memcpy(&bits, &exact, sizeof bits);
    memcpy(&mixed, &argument, sizeof mixed);
    mixed = (mixed ^ mixed >> 15) * 0x9e3779b1u;
    bits += mixed >> 16 & 1u;
    bits -= mixed >> 17 & 1u;
    memcpy(&exact, &bits, sizeof bits);
    return exact;
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

static float exp2_flush(float x)
{
    const float y = (float)exp2((double)x);
    return !(y >= 0x1p-125f && y < 0x1p127f) || x == rintf(x) ? flushed(y) : disturbed(y, x);
}

static float reciprocal_flush(float x)
{
    const float y = 1 / flushed(x);
    int exponent;
    const bool is_power = fabsf(frexpf(x, &exponent)) == 0.5f;
    return !(fabsf(y) >= 0x1p-125f && fabsf(y) < 0x1p127f) || is_power ? flushed(y) : disturbed(y, x);
}

/* ------------------------------------------------------------------------------------------------------------
 * A launch
 * ------------------------------------------------------------------------------------------------------------ */

static void live()
{
    thread *self = &team[current];
    if (!_setjmp(self->place))
        _longjmp(scheduler, 1);
    for (;;) {
        now.kernel(now.params);
        give_way(LEFT);
    }
}

static bool gather(unsigned count)
{
    for (; team_size < count; team_size++) {
        thread *t = &team[team_size];
        if (!t->stack) {
            void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                               -1, 0);
            if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0)
                return false;
            t->stack = (char *)stack;
        }
        ucontext_t begin;
        getcontext(&begin);
        begin.uc_stack.ss_sp = t->stack;
        begin.uc_stack.ss_size = STACK_BYTES;
        begin.uc_link = NULL;
        makecontext(&begin, live, 0);
        current = team_size;
        if (!_setjmp(scheduler))
            setcontext(&begin);
    }
    return true;
}

/* 0, 1, 2, ...; or downwards; or any order. */
static void put_in_order(unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = now.seed == 1 ? count - 1 - i : i;
    for (unsigned i = count; now.seed > 1 && i > 1; i--) {
        const unsigned other = (unsigned)(draw() % i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static void run_block()
{
    unsigned order[MOST_THREADS];
    memset(warps, 0, sizeof warps);
    for (unsigned i = 0; i < now.threads; i++) {
        team[i].state = READY;
        team[i].meetings = 0;
    }
    while (!now.problem) {
        unsigned ran = 0, left = 0, waiting = 0;
        put_in_order(order, now.threads);
        for (volatile unsigned i = 0; i < now.threads; i++) {
            current = order[i];
            if (team[current].state != READY)
                continue;
            ran++;
            if (!_setjmp(scheduler))
                _longjmp(team[current].place, 1);
        }
        if (ran || now.problem)
            continue;
        for (unsigned i = 0; i < now.threads; i++) {
            left += team[i].state == LEFT;
            waiting += team[i].state == IN_BLOCK_BARRIER;
        }
        if (left == now.threads)
            return;
        if (waiting < now.threads) {
            now.problem = left == 0                      ? "threads wait for different things"
                          : left + waiting < now.threads ? "lanes wait for others of their warp that have left"
                                                         : "threads wait at a barrier for others that have left";
            return;
        }
        for (unsigned i = 0; i < now.threads; i++)
            team[i].state = READY;
    }
}

} // namespace emulated

/* ------------------------------------------------------------------------------------------------------------
 * The names that device.h uses
 * ------------------------------------------------------------------------------------------------------------ */

#define __builtin_amdgcn_workitem_id_x() (emulated::current)
#define __builtin_amdgcn_workgroup_size_x() (emulated::now.threads)
#define __builtin_amdgcn_workgroup_id_x() (emulated::now.block[0])
#define __builtin_amdgcn_workgroup_id_y() (emulated::now.block[1])
#define __builtin_amdgcn_grid_size_x() (emulated::now.blocks[0] * emulated::now.threads)
#define __builtin_amdgcn_fence(order, scope) ((void)0)
#define __builtin_amdgcn_s_barrier() emulated::block_barrier()
#define __builtin_amdgcn_wave_barrier() emulated::meet(emulated::BARRIER)
#define __builtin_amdgcn_alignbit(high, low, bits) \
    ((uint32_t)(((uint64_t)(high) << 32 | (uint32_t)(low)) >> ((bits)&31)))
#define __builtin_amdgcn_ds_bpermute(byte, value) ((int)emulated::shuffle((uint32_t)(value), (unsigned)(byte) / 4))
#define __builtin_amdgcn_ballot_w64(condition) emulated::vote(condition)
#define __builtin_amdgcn_ballot_w32(condition) ((uint32_t)emulated::vote(condition))
#define __builtin_amdgcn_exp2f(x) emulated::exp2_flush(x)
#define __builtin_amdgcn_rcpf(x) emulated::reciprocal_flush(x)
#define __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, x, y, z) emulated::product<4, 4>(a, b, c)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, x, y, z) emulated::product<4, 4>(a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c) emulated::product<16, 8>(a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c) emulated::product<16, 8>(a, b, c)
#define __HIP_MEMORY_SCOPE_AGENT 0
#define __hip_atomic_fetch_add(place, value, order, scope) __atomic_fetch_add(place, value, __ATOMIC_RELAXED)
#define __hip_atomic_fetch_min(place, value, order, scope) ((void)(*(place) > (value) ? *(place) = (value) : 0))

#include "kernels/device.h"

/* A local variable so declared is one for all threads, and keeps what the last block left there. */
#undef SHARED
#define SHARED thread_local

/* The names that kernels have for the memory that a launch asks for. */
alignas(128) thread_local vector16 row_memory[emulated::DYNAMIC_BYTES / sizeof(vector16)];
alignas(128) thread_local vector16 memory[emulated::DYNAMIC_BYTES / sizeof(vector16)];

#undef KERNEL
#define KERNEL(most_threads, least_blocks, name, params)         \
    static void name##_body(const params &p);                    \
    extern "C" const size_t name##_param_bytes;                  \
    extern "C" const size_t name##_param_bytes = sizeof(params); \
    extern "C" void name(const void *given)                      \
    {                                                            \
        name##_body(*(const params *)given);                     \
    }                                                            \
    static void name##_body(const params &p)

/* Runs a kernel to its end. Returns NULL, or what it did wrong. One launch at a time. */
extern "C" const char *emulated_launch(emulated::kernel_function *kernel, const void *params,
                                       const unsigned blocks[3], unsigned threads, unsigned shared_bytes,
                                       unsigned seed)
{
    using namespace emulated;
    const uint64_t count = (uint64_t)blocks[0] * blocks[1] * blocks[2];
    unsigned *order = (unsigned *)malloc(count * sizeof *order);
    if (!order || threads > MOST_THREADS || shared_bytes > DYNAMIC_BYTES || count > UINT32_MAX) {
        free(order);
        return "the launch is larger than what is emulated";
    }
    now = {kernel,  params, {blocks[0], blocks[1], blocks[2]}, {0, 0, 0},
           threads, seed,   seed * 0x9e3779b97f4a7c15u + 1,    NULL};
    if (!gather(threads))
        now.problem = "there is no memory for its threads";
    put_in_order(order, (unsigned)count);
    for (volatile uint64_t i = 0; i < count && !now.problem; i++) {
        now.block[0] = order[i] % blocks[0];
        now.block[1] = order[i] / blocks[0] % blocks[1];
        now.block[2] = order[i] / blocks[0] / blocks[1];
        if (shared_bytes) {
            memset(row_memory, FILLER, sizeof row_memory);
            memset(memory, FILLER, sizeof memory);
        }
        run_block();
        for (unsigned at = shared_bytes; shared_bytes && at < DYNAMIC_BYTES; at++)
            if (((unsigned char *)row_memory)[at] != FILLER || ((unsigned char *)memory)[at] != FILLER)
                now.problem = "a block wrote beyond the shared memory that it was given";
    }
    if (now.problem)
        team_size = 0; /* threads that stand in the middle of it begin anew */
    free(order);
    return now.problem;
}

#endif
