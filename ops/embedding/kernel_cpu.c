/* UNTRUSTED. Embedding on the CPU. Backward: query positions are sorted by index, stably, and then every row of the
 * result is made by itself, so that its bits depend neither on the threads nor on the other rows: its hits in
 * ascending order, in runs of 64, each run summed one after another from +0, and the runs in the same way. */
#include "ops/embedding/kernel_cpu.h"

#include <stdbool.h>

#include "backend/cpu_math.h"

extern const tki_embedding_cpu TKI_ISA_TABLE(tki_embedding_cpu);

enum { BLOCK = 256, RUN = 64, PARALLEL_FROM = 1 << 14, SLICES_PER_THREAD = 8 };

TKI_INLINE int64_t index_at(const void *index, int64_t i, bool wide)
{
    return wide ? ((const int64_t *)index)[i] : ((const int32_t *)index)[i];
}

TKI_INLINE int64_t first_outside(const tki_embedding_params *p, bool wide)
{
    for (int64_t i = 0; i < p->queries; i++)
        if ((uint64_t)index_at(p->index, i, wide) >= (uint64_t)p->vocab)
            return i;
    return -1;
}

static int64_t first_bad(const tki_embedding_params *p)
{
    return p->wide_index ? first_outside(p, true) : first_outside(p, false);
}

TKI_INLINE void gather(const tki_embedding_params *p, int threads, bool wide)
{
    const int64_t row_bytes = p->dim * (int64_t)sizeof(uint16_t);
#pragma omp parallel for schedule(static) num_threads(threads) if (p->queries * p->dim >= PARALLEL_FROM)
    for (int64_t i = 0; i < p->queries; i++)
        memcpy((char *)p->out + i * row_bytes, (const char *)p->weight + index_at(p->index, i, wide) * row_bytes,
               (size_t)row_bytes);
}

static void fwd(const tki_embedding_params *p, int threads)
{
    if (p->dim == 0)
        return;
    if (p->wide_index)
        gather(p, threads, true);
    else
        gather(p, threads, false);
}

/* Counting sort: afterwards the hits of row v are positions[offsets[v]] to positions[offsets[v + 1] - 1],
 * ascending. */
TKI_INLINE void sort_positions(const tki_embedding_params *p, bool wide)
{
    int64_t *cursor = p->offsets + 1; /* [vocab]: counts, then beginnings, and at the end the ends */
    memset(p->offsets, 0, ((size_t)p->vocab + 1) * sizeof *p->offsets);
    for (int64_t i = 0; i < p->queries; i++)
        cursor[index_at(p->index, i, wide)]++;
    int64_t before = 0;
    for (int64_t v = 0; v < p->vocab; v++) {
        int64_t count = cursor[v];
        cursor[v] = before;
        before += count;
    }
    for (int64_t i = 0; i < p->queries; i++)
        p->positions[cursor[index_at(p->index, i, wide)]++] = i;
}

/* total[0..count) = the sum of those columns of the row's hits, in the fixed order */
TKI_INLINE void sum_hits(float *restrict total, const tki_embedding_params *p, int64_t row, int64_t column, int count,
                         tk_dtype dtype)
{
    const int64_t end = p->offsets[row + 1];
    memset(total, 0, (size_t)count * sizeof *total);
    for (int64_t begin = p->offsets[row]; begin < end; begin += RUN) {
        const int64_t run_end = end - begin < RUN ? end : begin + RUN;
        float run[BLOCK];
        memset(run, 0, (size_t)count * sizeof *run);
        for (int64_t hit = begin; hit < run_end; hit++) {
            const int64_t first = p->positions[hit] * p->dim + column;
            for (int i = 0; i < count; i++)
                run[i] += tki_load_element(p->grad_output, first + i, dtype);
        }
        for (int i = 0; i < count; i++)
            total[i] += run[i];
    }
}

TKI_INLINE void write_block(const tki_embedding_params *p, int64_t row, int64_t column, tk_dtype dtype)
{
    const int count = p->dim - column < BLOCK ? (int)(p->dim - column) : BLOCK;
    const int64_t first = row * p->dim + column;
    if (p->offsets[row] == p->offsets[row + 1]) {
        memset((uint16_t *)p->out + first, 0, (size_t)count * sizeof(uint16_t));
        return;
    }
    float total[BLOCK];
    sum_hits(total, p, row, column, count, dtype);
    /* Which NaN a sum of NaNs gives differs between processors; the canonical one is the same everywhere. */
    const float canonical_nan = tki_f32_from_bits(0x7fc00000);
    for (int i = 0; i < count; i++)
        total[i] = total[i] != total[i] ? canonical_nan : total[i];
    tki_store_block(p->out, first, count, total, dtype);
}

/* The first row with at least that many hits and rows before it. */
static int64_t row_after(const tki_embedding_params *p, int64_t work)
{
    int64_t low = 0;
    int64_t high = p->vocab;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (p->offsets[middle] + middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Work is shared out in slices of about as many hits and rows, each in blocks of columns: frequent rows stand
 * together in practice, and a single row with all the hits should still keep several threads busy. */
TKI_INLINE void scatter(const tki_embedding_params *p, int threads, tk_dtype dtype)
{
    if (p->wide_index)
        sort_positions(p, true);
    else
        sort_positions(p, false);
    const int64_t work = p->queries + p->vocab;
    const int64_t blocks = (p->dim + BLOCK - 1) / BLOCK;
    const int64_t slices = (int64_t)threads * SLICES_PER_THREAD;
    const int64_t slice_work = work / slices + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (work * p->dim >= PARALLEL_FROM)
    for (int64_t item = 0; item < slices * blocks; item++) {
        const int64_t end = row_after(p, (item / blocks + 1) * slice_work);
        for (int64_t row = row_after(p, item / blocks * slice_work); row < end; row++)
            write_block(p, row, item % blocks * BLOCK, dtype);
    }
}

static void bwd_f16(const tki_embedding_params *p, int threads)
{
    scatter(p, threads, TK_F16);
}

static void bwd_bf16(const tki_embedding_params *p, int threads)
{
    scatter(p, threads, TK_BF16);
}

const tki_embedding_cpu TKI_ISA_TABLE(tki_embedding_cpu) = {
    .first_bad = first_bad, .fwd = fwd, .bwd = {bwd_f16, bwd_bf16}};
