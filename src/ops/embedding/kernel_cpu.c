/* UNTRUSTED. Embedding on the CPU. Backward: query positions are sorted by index, stably, and then every row of the
 * result is made by itself, so that its bits depend neither on the threads nor on the other rows: its hits in
 * ascending order, in runs of 64, each run summed one after another from +0, and the runs in the same way. Both
 * passes are bound by memory: rows are fetched ahead, sums stay in registers, a large result goes past the caches. */
#include "ops/embedding/kernel_cpu.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/cpu_vector_elements.h"

extern const tki_embedding_cpu TKI_ISA_TABLE(tki_embedding_cpu);

enum {
    RUN = 64,
    WIDE = 8 * VEC,        /* columns that are summed at once, in registers */
    BLOCK = 512,           /* columns that one thread takes of a row that is too much for one */
    LINE = 64,             /* bytes that are fetched together */
    ROWS_AHEAD = 4,        /* the row to fetch while one is copied, */
    HITS_AHEAD = 4,        /* and the hit to fetch while one is added */
    STREAM_FROM = 6 << 20, /* from this many bytes on, the output would only push other things out of the caches, */
    STREAM_ROW = 512,      /* unless its rows are so short that most lines are written in two parts */
    PARALLEL_FROM = 1 << 14,
    SLICES_PER_THREAD = 8
};

TKI_INLINE int64_t index_at(const tki_embedding_params *p, int64_t i)
{
    return p->wide_index ? ((const int64_t *)p->index)[i] : ((const int32_t *)p->index)[i];
}

TKI_INLINE int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t first_bad(const tki_embedding_params *p)
{
    for (int64_t i = 0; i < p->queries; i++)
        if ((uint64_t)index_at(p, i) >= (uint64_t)p->vocab)
            return i;
    return -1;
}

static bool streams(int64_t row_bytes, int64_t rows)
{
    return row_bytes >= STREAM_ROW && rows >= STREAM_FROM / row_bytes;
}

/* Bytes or elements before `target` is aligned to a power of two of them. */
TKI_INLINE int64_t head_of(const void *target, int64_t alignment, int64_t size, int64_t count)
{
    return smaller((int64_t)(-(uintptr_t)target % (uintptr_t)alignment) / size, count);
}

/* Copies, past the caches if `stream`, and fetches as many bytes at `ahead`. Line by line: a memcpy() of the whole row
 * becomes a string instruction in some C libraries, which is several times slower for some distances. */
TKI_INLINE void copy_row(char *target, const char *source, const char *ahead, int64_t bytes, bool stream)
{
    enum { STEP = VEC * (int)sizeof(float) };
    int64_t i = stream ? head_of(target, LINE, 1, bytes) : 0;
    if (i > 0)
        memcpy(target, source, (size_t)i);
    for (; i + LINE <= bytes; i += LINE) {
        __builtin_prefetch(ahead + i);
        if (!stream)
            memcpy(target + i, source + i, LINE);
        for (int k = 0; stream && k < LINE; k += STEP)
            vec_stream_copy(target + i + k, source + i + k);
    }
    if (i < bytes)
        memcpy(target + i, source + i, (size_t)(bytes - i));
}

TKI_INLINE void gather_rows(const tki_embedding_params *p, int64_t row_bytes, int64_t begin, int64_t end, bool stream)
{
    const char *weight = p->weight;
    char *out = p->out;
    for (int64_t i = begin; i < end; i++) {
        const char *ahead = weight + index_at(p, smaller(i + ROWS_AHEAD, end - 1)) * row_bytes;
        copy_row(out + i * row_bytes, weight + index_at(p, i) * row_bytes, ahead, row_bytes, stream);
    }
    if (stream)
        vec_stream_end();
}

static void gather(const tki_embedding_params *p, int64_t row_bytes, int64_t begin, int64_t end, bool stream)
{
    if (stream)
        gather_rows(p, row_bytes, begin, end, true);
    else
        gather_rows(p, row_bytes, begin, end, false);
}

static void fwd(const tki_embedding_params *p, tk_dtype dtype, int threads)
{
    if (p->dim == 0)
        return;
    const int64_t row_bytes = p->dim * element_bytes(dtype);
    const bool stream = streams(row_bytes, p->queries);
    if (threads == 1 || p->queries * p->dim < PARALLEL_FROM) {
        gather(p, row_bytes, 0, p->queries, stream);
        return;
    }
    const int64_t slice = p->queries / ((int64_t)threads * SLICES_PER_THREAD) + 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t begin = 0; begin < p->queries; begin += slice)
        gather(p, row_bytes, begin, smaller(begin + slice, p->queries), stream);
}

/* Counting sort: afterwards the hits of row v are positions[offsets[v]] to positions[offsets[v + 1] - 1],
 * ascending. Returns the most hits of any row. */
static int64_t sort_positions(const tki_embedding_params *p)
{
    int64_t *cursor = p->offsets + 1; /* [vocab]: counts, then beginnings, and at the end the ends */
    memset(p->offsets, 0, ((size_t)p->vocab + 1) * sizeof *p->offsets);
    for (int64_t i = 0; i < p->queries; i++)
        cursor[index_at(p, i)]++;
    int64_t before = 0;
    int64_t most = 0;
    for (int64_t v = 0; v < p->vocab; v++) {
        int64_t count = cursor[v];
        most = count > most ? count : most;
        cursor[v] = before;
        before += count;
    }
    for (int64_t i = 0; i < p->queries; i++)
        p->positions[cursor[index_at(p, i)]++] = i;
    return most;
}

/* One run: `vectors` full vectors of columns, or one in part, summed from +0 over the hits [begin, end). */
TKI_INLINE void sum_run(vec *run, const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                        int vectors, int part, tk_dtype dtype)
{
    const int64_t bytes = element_bytes(dtype);
    const char *grad = (const char *)p->grad_output + column * bytes;
    const int64_t row_bytes = p->dim * bytes;
    for (int k = 0; k < vectors; k++)
        run[k] = vec_set(0.0f);
    for (int64_t hit = begin; hit < end; hit++) {
        const char *source = grad + p->positions[hit] * row_bytes;
        const char *ahead = grad + p->positions[smaller(hit + HITS_AHEAD, p->queries - 1)] * row_bytes;
        for (int64_t k = 0; k < vectors * VEC * bytes; k += LINE)
            __builtin_prefetch(ahead + k);
        for (int k = 0; k < vectors; k++)
            run[k] = vec_add(run[k], part ? vec_load_elements_part(source, part, dtype)
                                          : vec_load_elements(source + k * VEC * bytes, dtype));
    }
}

/* The total of the runs. It begins with the first: adding that to +0 would change nothing, since a sum that began at
 * +0 is never -0. */
TKI_INLINE void sum_hits(vec *total, const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                         int vectors, int part, tk_dtype dtype)
{
    sum_run(total, p, begin, smaller(begin + RUN, end), column, vectors, part, dtype);
    for (int64_t next = begin + RUN; next < end; next += RUN) {
        vec run[WIDE / VEC];
        sum_run(run, p, next, smaller(next + RUN, end), column, vectors, part, dtype);
        for (int k = 0; k < vectors; k++)
            total[k] = vec_add(total[k], run[k]);
    }
    /* Which NaN a sum of NaNs gives differs between processors; the canonical one is the same everywhere. */
    for (int k = 0; k < vectors; k++)
        total[k] = vec_if_nan(total[k], vec_set(NAN));
}

/* Columns [column, column_end) of a row with the hits [begin, end), a vector at a time. */
TKI_INLINE void write_narrow(const tki_embedding_params *p, int64_t begin, int64_t end, void *out, int64_t column,
                             int64_t column_end, tk_dtype dtype, tk_dtype result)
{
    vec total[1];
    for (; column + VEC <= column_end; column += VEC) {
        sum_hits(total, p, begin, end, column, 1, 0, dtype);
        vec_store_elements(element_to(out, column, result), total[0], result);
    }
    if (column < column_end) {
        const int rest = (int)(column_end - column);
        sum_hits(total, p, begin, end, column, 1, rest, dtype);
        vec_store_elements_part(element_to(out, column, result), total[0], rest, result);
    }
}

/* Columns [column, column_end) of a row with hits. */
TKI_INLINE void write_sums(const tki_embedding_params *p, int64_t row, int64_t column, int64_t column_end,
                           bool stream, tk_dtype dtype, tk_dtype result)
{
    const int64_t begin = p->offsets[row];
    const int64_t end = p->offsets[row + 1];
    void *out = element_to(p->out, row * p->dim, result);
    vec total[WIDE / VEC];
    if (stream) {
        const int64_t head_end = column + head_of(element_to(out, column, result), LINE, element_bytes(result),
                                                  column_end - column);
        write_narrow(p, begin, end, out, column, head_end, dtype, result);
        column = head_end;
    }
    for (; column + WIDE <= column_end; column += WIDE) {
        sum_hits(total, p, begin, end, column, WIDE / VEC, 0, dtype);
        for (int k = 0; k < WIDE / VEC; k += 2)
            if (stream) {
                vec_stream_elements_pair(element_to(out, column + k * VEC, result), total[k], total[k + 1], result);
            } else {
                vec_store_elements(element_to(out, column + k * VEC, result), total[k], result);
                vec_store_elements(element_to(out, column + (k + 1) * VEC, result), total[k + 1], result);
            }
    }
    write_narrow(p, begin, end, out, column, column_end, dtype, result);
}

/* A call for nothing may still be a masked store, which brings back the line that was just streamed. */
TKI_INLINE void zero_some(char *out, int64_t bytes)
{
    if (bytes > 0)
        memset(out, 0, (size_t)bytes);
}

static void write_zeros(char *out, int64_t bytes, bool stream)
{
    static const float zeros[VEC];
    int64_t i = 0;
    if (stream) {
        i = head_of(out, LINE, 1, bytes);
        zero_some(out, i);
        for (; i + (int64_t)sizeof zeros <= bytes; i += (int64_t)sizeof zeros)
            vec_stream_copy(out + i, zeros);
    }
    zero_some(out + i, bytes - i);
}

/* Of the rows [begin, end), the columns [column, column_end). Neighbours without hits are written together where they
 * touch. */
TKI_INLINE void write_rows(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                           int64_t column_end, bool stream, tk_dtype dtype, tk_dtype result)
{
    const bool touch = column_end - column == p->dim;
    int64_t next;
    for (int64_t row = begin; row < end; row = next) {
        next = row + 1;
        if (p->offsets[row] != p->offsets[next]) {
            write_sums(p, row, column, column_end, stream, dtype, result);
            continue;
        }
        while (touch && next < end && p->offsets[row] == p->offsets[next + 1])
            next++;
        write_zeros(element_to(p->out, row * p->dim + column, result),
                    ((next - row - 1) * p->dim + column_end - column) * element_bytes(result), stream);
    }
    if (stream)
        vec_stream_end();
}

/* Each pair of types has a function of its own, in which they are constants: a parallel region is compiled apart, where constants are
 * constants no more, so it calls through a pointer. */
typedef void (*rows_function)(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                              int64_t column_end, bool stream);

TKI_INLINE void write_either(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                             int64_t column_end, bool stream, tk_dtype dtype, tk_dtype result)
{
    if (stream)
        write_rows(p, begin, end, column, column_end, true, dtype, result);
    else
        write_rows(p, begin, end, column, column_end, false, dtype, result);
}

static void rows_f16(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column, int64_t column_end,
                     bool stream)
{
    write_either(p, begin, end, column, column_end, stream, TK_F16, TK_F16);
}

static void rows_bf16(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column, int64_t column_end,
                      bool stream)
{
    write_either(p, begin, end, column, column_end, stream, TK_BF16, TK_BF16);
}

static void rows_f32(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column, int64_t column_end,
                     bool stream)
{
    write_either(p, begin, end, column, column_end, stream, TK_F32, TK_F32);
}

static void rows_f16_f32(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                         int64_t column_end, bool stream)
{
    write_either(p, begin, end, column, column_end, stream, TK_F16, TK_F32);
}

static void rows_bf16_f32(const tki_embedding_params *p, int64_t begin, int64_t end, int64_t column,
                          int64_t column_end, bool stream)
{
    write_either(p, begin, end, column, column_end, stream, TK_BF16, TK_F32);
}

static rows_function rows_of(tk_dtype dtype, tk_dtype result)
{
    const bool wide = result == TK_F32;
    if (dtype == TK_F32)
        return rows_f32;
    if (dtype == TK_BF16)
        return wide ? rows_bf16_f32 : rows_bf16;
    return wide ? rows_f16_f32 : rows_f16;
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

/* Work is shared out in slices of about as many hits and rows: frequent rows stand together in practice. Where a
 * single row is more than a slice, the slices are cut into blocks of columns, so that it still keeps several threads
 * busy. */
static void bwd(const tki_embedding_params *p, tk_dtype dtype, tk_dtype result, int threads)
{
    const int64_t most = sort_positions(p);
    const bool stream = streams(p->dim * element_bytes(result), p->vocab);
    const rows_function rows = rows_of(dtype, result);
    const int64_t work = p->queries + p->vocab;
    if (threads == 1 || work * p->dim < PARALLEL_FROM) {
        rows(p, 0, p->vocab, 0, p->dim, stream);
        return;
    }
    const int64_t slices = (int64_t)threads * SLICES_PER_THREAD;
    const int64_t slice_work = work / slices + 1;
    const int64_t width = most > slice_work ? BLOCK : p->dim;
    const int64_t blocks = (p->dim + width - 1) / width;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t item = 0; item < slices * blocks; item++) {
        const int64_t slice = item / blocks;
        const int64_t column = item % blocks * width;
        rows(p, row_after(p, slice * slice_work), row_after(p, (slice + 1) * slice_work), column,
             smaller(column + width, p->dim), stream);
    }
}

const tki_embedding_cpu TKI_ISA_TABLE(tki_embedding_cpu) = {.first_bad = first_bad, .fwd = fwd, .bwd = bwd};
