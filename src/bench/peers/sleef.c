/* SHOWS. SLEEF: its vector exponential in hand-written loops that convert on the way; bench/isa/machine.c has the loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"

static void *exponential(const char **name)
{
    static const char *const names[] = {"libsleef.so.3", "libsleef.so", NULL};
    const bench_machine *machine = bench_machine_here();
    void *library = machine->exp_name ? bench_load(names, name) : NULL;
    void *function = NULL;
    if (library)
        bench_symbol(library, machine->exp_name, &function);
    return function;
}

static const char *find(const char **missing)
{
    const char *name = NULL;
    *missing = "libsleef.so.3 with an exponential for this processor's vectors not found";
    return exponential(&name) ? name : NULL;
}

typedef struct state {
    void *exp;
    float *scratch;                                                        /* [threads, cols] */
    void (*row)(const bench_work *work, const struct state *s, int64_t r); /* NULL: the op has no rows */
} state;

enum { CHUNK = 1 << 15 };

static bool run_gelu(bench_arm *arm)
{
    const bench_work *work = arm->work;
    const bench_machine *machine = bench_machine_here();
    const state *s = arm->state;
    const int64_t n = work->c.dims[0];
    const tk_dtype dtype = work->c.dtype;
    const bool backward = bench_is(work, "gelu_bwd");
    const uint16_t *first = work->buffers[0];
    const uint16_t *second = work->buffers[1];
    uint16_t *out = work->buffers[backward ? 2 : 1];
#pragma omp parallel for schedule(static) num_threads(work->threads) if (work->threads > 1)
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = n - i < CHUNK ? n - i : CHUNK;
        if (backward)
            machine->gelu_grad[dtype](s->exp, first + i, second + i, out + i, count);
        else
            machine->gelu[dtype](s->exp, first + i, out + i, count);
    }
    return true;
}

static float *scratch_of(const bench_work *work, const state *s, int64_t row)
{
    int64_t rows_each = (work->c.dims[0] + work->threads - 1) / work->threads;
    return s->scratch + row / rows_each * (work->c.dims[1] + 64);
}

static void softmax_row(const bench_work *work, const state *s, int64_t r)
{
    const int64_t cols = work->c.dims[1];
    float greatest;
    bench_machine_here()->softmax[work->c.dtype](s->exp, (const uint16_t *)work->buffers[0] + r * cols,
                                                 (uint16_t *)work->buffers[1] + r * cols, scratch_of(work, s, r),
                                                 cols, &greatest);
}

static float value_at(const bench_work *work, const uint16_t *at)
{
    float value;
    bench_machine_here()->widen[work->c.dtype](at, &value, 1);
    return value;
}

/* Softmax into the gradient, then one taken away at the target. */
static void xent_row(const bench_work *work, const state *s, int64_t r)
{
    const bench_machine *machine = bench_machine_here();
    const int64_t cols = work->c.dims[1];
    const uint16_t *x = (const uint16_t *)work->buffers[0] + r * cols;
    uint16_t *grad = (uint16_t *)work->buffers[3] + r * cols;
    const int64_t target = work->c.index_dtype == TK_I64 ? ((const int64_t *)work->buffers[1])[r]
                                                         : ((const int32_t *)work->buffers[1])[r];
    float greatest;
    float sum = machine->softmax[work->c.dtype](s->exp, x, grad, scratch_of(work, s, r), cols, &greatest);
    float at_target = value_at(work, x + target);
    float difference = expf(at_target - greatest) / sum - 1.0f;
    ((float *)work->buffers[2])[r] = logf(sum) + greatest - at_target;
    machine->narrow[work->c.dtype](&difference, grad + target, 1);
}

static bool run_rows(bench_arm *arm)
{
    const bench_work *work = arm->work;
    const state *s = arm->state;
    const int64_t rows = work->c.dims[0];
    const int64_t each = (rows + work->threads - 1) / work->threads;
#pragma omp parallel for schedule(static) num_threads(work->threads) if (work->threads > 1)
    for (int64_t part = 0; part < rows; part += each)
        for (int64_t r = part; r < rows && r < part + each; r++)
            s->row(work, s, r);
    return true;
}

static void close_arm(bench_arm *arm)
{
    state *s = arm->state;
    if (s)
        free(s->scratch);
    free(s);
}

static bool attach(const bench_work *work, int variant, bench_arm *arm)
{
    const char *name;
    const bool gelu = bench_is(work, "gelu_fwd") || bench_is(work, "gelu_bwd"), xent = bench_is(work, "xent");
    if (variant > 0 || !(gelu || xent || bench_is(work, "softmax_fwd")))
        return false;
    state *s = calloc(1, sizeof *s);
    arm->run = gelu ? run_gelu : run_rows;
    arm->state = s;
    arm->close = close_arm;
    if (!s)
        return false;
    s->row = gelu ? NULL : xent ? xent_row : softmax_row;
    s->exp = exponential(&name);
    s->scratch = bench_alloc((work->c.dims[1] + 64) * work->threads * (int64_t)sizeof(float));
    return s->exp && s->scratch;
}

const bench_peer bench_peer_sleef = {"sleef", find, attach};
