/* SHOWS. What frameworks do where no library has the op: rows gathered with memcpy(), gradients scattered into fp32 and
 * converted, GELU in fp16 through a table of all 65,536 results as ggml does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"
#include "core/dtype.h"

static const char *find(const char **missing)
{
    (void)missing;
    return "built in";
}

static int64_t index_at(const bench_work *work, int param, int64_t i)
{
    const void *data = work->buffers[param];
    return work->c.index_dtype == TK_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

static bool run_gather(bench_arm *arm)
{
    const bench_work *work = arm->work;
    const size_t row = 2 * (size_t)work->c.dims[1];
    const char *weight = work->buffers[1];
    char *out = work->buffers[2];
#pragma omp parallel for schedule(static) num_threads(work->threads) if (work->threads > 1)
    for (int64_t i = 0; i < work->c.dims[0]; i++)
        memcpy(out + (size_t)i * row, weight + (size_t)index_at(work, 0, i) * row, row);
    return true;
}

static bool run_scatter(bench_arm *arm)
{
    const bench_work *work = arm->work;
    const bench_machine *machine = bench_machine_here();
    const int64_t dim = work->c.dims[1];
    const int64_t vocab = work->c.dims[2];
    const uint16_t *grad = work->buffers[0];
    float *sums = arm->state;
    memset(sums, 0, (size_t)(vocab * dim) * sizeof *sums);
    for (int64_t i = 0; i < work->c.dims[0]; i++)
        machine->add[work->c.dtype](grad + i * dim, sums + index_at(work, 1, i) * dim, dim);
    bench_narrow(work, sums, work->buffers[2], vocab * dim);
    return true;
}

static bool run_table(bench_arm *arm)
{
    const bench_work *work = arm->work;
    const uint16_t *table = arm->state;
    const uint16_t *x = work->buffers[0];
    uint16_t *y = work->buffers[1];
#pragma omp parallel for schedule(static) num_threads(work->threads) if (work->threads > 1)
    for (int64_t i = 0; i < work->c.dims[0]; i++)
        y[i] = table[x[i]];
    return true;
}

static uint16_t *make_table(void)
{
    uint16_t *table = bench_alloc(65536 * sizeof *table);
    for (int bits = 0; table && bits < 65536; bits++) {
        float x = tki_f16_to_f32((uint16_t)bits);
        float y = 0.5f * x * (1.0f + tanhf(0.79788456080f * x * (1.0f + 0.044715f * x * x)));
        table[bits] = tki_f32_to_f16(y);
    }
    return table;
}

static void close_arm(bench_arm *arm)
{
    free(arm->state);
}

static bool attach(const bench_work *work, int variant, bench_arm *arm)
{
    if (variant > 0)
        return false;
    arm->close = close_arm;
    if (bench_is(work, "embedding_fwd")) {
        strcat(arm->name, " (memcpy)");
        arm->run = run_gather;
        return true;
    }
    if (bench_is(work, "embedding_bwd")) {
        strcat(arm->name, " (fp32 sums)");
        arm->run = run_scatter;
        arm->state = bench_alloc(work->c.dims[1] * work->c.dims[2] * (int64_t)sizeof(float));
        return arm->state != NULL;
    }
    if (bench_is(work, "gelu_fwd") && work->c.dtype == TK_F16) {
        strcat(arm->name, " (fp16 table)");
        arm->run = run_table;
        arm->state = make_table();
        return arm->state != NULL;
    }
    return false;
}

const bench_peer bench_peer_plain = {"plain", find, attach};
