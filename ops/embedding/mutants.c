/* Wrong kernels for embedding, each with one line saying what is wrong. Slow and plain on purpose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mutant.h"
#include "ops/mutant_tools.h"

enum { QUERIES, DIM, VOCAB };
enum { RUN = 64, TILE = 16 };

/* What can go wrong with an index. */
typedef struct index_mutation {
    bool off_by_one, clamped, narrow;
} index_mutation;

static int64_t mutated_index(const tk_case *c, const void *index, int64_t i, index_mutation m)
{
    int64_t value = tki_get_index(c, index, i);
    int64_t last = c->dims[VOCAB] - 1;
    if (m.off_by_one)
        value = value < last ? value + 1 : 0;
    if (m.clamped && value > last - 1 && last > 0)
        value = last - 1;
    return m.narrow ? (uint16_t)value : value;
}

static uint16_t flushed(const tk_case *c, uint16_t bits)
{
    uint16_t smallest_normal = c->dtype == TK_F16 ? 0x0400 : 0x0080;
    return (bits & 0x7fff) < smallest_normal ? bits & 0x8000 : bits;
}

/* Forward. */

typedef struct copy_mutation {
    index_mutation index;
    bool through_fp32, canonical_nan, nan_masked, zero_sign_lost, flushing, transposed;
    int64_t dropped_queries, dropped_columns;
} copy_mutation;

static uint16_t copied(const tk_case *c, const uint16_t *source, copy_mutation m)
{
    float value = tki_get(c, source, 0);
    uint16_t bits = *source;
    if (m.through_fp32)
        tki_put(c, &bits, 0, value);
    if (m.canonical_nan && isnan(value))
        bits = c->dtype == TK_F16 ? 0x7e00 : 0x7fc0;
    if ((m.nan_masked && isnan(value)) || (m.zero_sign_lost && value == 0))
        bits = 0;
    return m.flushing ? flushed(c, bits) : bits;
}

static int fwd(const tk_case *c, void *const b[], copy_mutation m)
{
    const uint16_t *weight = b[1];
    uint16_t *out = b[2];
    int64_t dim = c->dims[DIM];
    for (int64_t i = 0; i < c->dims[QUERIES] - m.dropped_queries; i++) {
        int64_t row = mutated_index(c, b[0], i, m.index);
        for (int64_t j = 0; j < dim - m.dropped_columns; j++) {
            int64_t place = m.transposed ? j * c->dims[VOCAB] + row : row * dim + j;
            out[i * dim + j] = copied(c, &weight[place], m);
        }
    }
    return 0;
}

static int fwd_all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    if (c->dims[QUERIES] && c->dims[DIM])
        memset(b[2], 0, (size_t)(c->dims[QUERIES] * c->dims[DIM]) * 2);
    return 0;
}

static int stale_output(const tk_case *c, void *const b[], void *data)
{
    (void)c;
    (void)b;
    (void)data;
    return 0;
}

static int fwd_last_query_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.dropped_queries = 1});
}

static int fwd_last_column_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.dropped_columns = 1});
}

static int fwd_last_tile_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.dropped_columns = c->dims[DIM] % TILE});
}

static int fwd_off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.index = {.off_by_one = true}});
}

static int fwd_index_clamped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.index = {.clamped = true}});
}

static int fwd_narrow_index(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.index = {.narrow = true}});
}

static int fwd_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.transposed = true});
}

static int fwd_through_fp32(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.through_fp32 = true});
}

static int fwd_canonical_nan(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.canonical_nan = true});
}

static int fwd_nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.nan_masked = true});
}

static int fwd_zero_sign_lost(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.zero_sign_lost = true});
}

static int fwd_flushing(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return fwd(c, b, (copy_mutation){.flushing = true});
}

const tki_mutant tki_embedding_fwd_mutants[] = {
    {"all_zeros", "writes zeros", fwd_all_zeros},
    {"stale_output", "leaves the output as it was", stale_output},
    {"last_query_dropped", "does not write the last row", fwd_last_query_dropped},
    {"last_column_dropped", "does not write the last column", fwd_last_column_dropped},
    {"last_tile_dropped", "does not write the columns after the last multiple of 16", fwd_last_tile_dropped},
    {"off_by_one", "reads the next row", fwd_off_by_one},
    {"index_clamped", "clamps indices to one row too few", fwd_index_clamped},
    {"narrow_index", "keeps 16 bits of the index", fwd_narrow_index},
    {"transposed", "reads the weight as [dim, vocab]", fwd_transposed},
    {"through_fp32", "copies through fp32, which makes signalling NaNs quiet", fwd_through_fp32},
    {"canonical_nan", "loses the payload of NaN", fwd_canonical_nan},
    {"nan_masked", "turns NaN into zero", fwd_nan_masked},
    {"zero_sign_lost", "turns -0 into +0", fwd_zero_sign_lost},
    {"flushing", "flushes subnormals to zero", fwd_flushing},
    {0},
};

/* Backward: each hit goes to a sum in fp32 as its query comes by, in the order of the queries. */

typedef struct scatter_mutation {
    index_mutation index;
    bool short_sums, rounded_runs, lost_update, last_hit_wins, first_run_only, last_tile_dropped, transposed;
    bool onto_output, stale_rows, minus_zero_rows, nan_masked, infinities_cancel, truncated, flushing, saturating;
    int64_t dropped_queries, dropped_columns;
} scatter_mutation;

/* One row of sums on its way. */
typedef struct row_state {
    int64_t hits;
    int64_t last_query;
} row_state;

static float hit_of(const tk_case *c, const void *grad, int64_t query, int64_t column, scatter_mutation m)
{
    return tki_get(c, grad, m.transposed ? column * c->dims[QUERIES] + query : query * c->dims[DIM] + column);
}

static float added(const tk_case *c, float sum, float hit, const row_state *row, int64_t query, scatter_mutation m)
{
    bool race = m.lost_update && row->hits > 0 && row->last_query == query - 1;
    if (race || (m.first_run_only && row->hits >= RUN))
        return sum;
    if (m.last_hit_wins)
        return hit;
    if (m.infinities_cancel && isinf(sum) && isinf(hit) && sum != hit)
        return 0;
    if (m.short_sums || (m.rounded_runs && row->hits % RUN == RUN - 1))
        return tki_rounded(c, sum + hit);
    return sum + hit;
}

/* The hits of each row that are left after its last full tile are not added. */
static bool in_last_tile(const row_state *row, int64_t hits_in_all)
{
    return row->hits >= hits_in_all / TILE * TILE;
}

static void add_hits(const tk_case *c, void *const b[], float *sums, row_state *rows, const int64_t *hits_in_all,
                     scatter_mutation m)
{
    int64_t dim = c->dims[DIM];
    for (int64_t i = 0; i < c->dims[QUERIES] - m.dropped_queries; i++) {
        int64_t v = mutated_index(c, b[1], i, m.index);
        for (int64_t j = 0; j < dim; j++)
            if (!m.last_tile_dropped || !in_last_tile(&rows[v], hits_in_all[v]))
                sums[v * dim + j] = added(c, sums[v * dim + j], hit_of(c, b[0], i, j, m), &rows[v], i, m);
        rows[v].hits++;
        rows[v].last_query = i;
    }
}

static void store_sum(const tk_case *c, void *target, int64_t place, float sum, scatter_mutation m)
{
    float largest = c->dtype == TK_F16 ? 65504.0f : 0x1.fep127f;
    uint16_t *out = target;
    if (m.onto_output)
        sum += tki_get(c, target, place);
    if (m.nan_masked && isnan(sum))
        sum = 0;
    if (m.saturating && fabsf(sum) > largest && !isinf(sum))
        sum = copysignf(largest, sum);
    if (m.truncated)
        tki_put_truncated(c, target, place, sum);
    else
        tki_put(c, target, place, sum);
    if (m.flushing)
        out[place] = flushed(c, out[place]);
}

static void store_rows(const tk_case *c, void *target, const float *sums, const int64_t *hits_in_all,
                       scatter_mutation m)
{
    int64_t dim = c->dims[DIM];
    for (int64_t v = 0; v < c->dims[VOCAB]; v++) {
        if (m.stale_rows && hits_in_all[v] == 0)
            continue;
        for (int64_t j = 0; j < dim - m.dropped_columns; j++) {
            bool minus_zero = m.minus_zero_rows && hits_in_all[v] == 0;
            store_sum(c, target, v * dim + j, minus_zero ? -0.0f : sums[v * dim + j], m);
        }
    }
}

static int bwd(const tk_case *c, void *const b[], scatter_mutation m)
{
    size_t vocab = (size_t)c->dims[VOCAB];
    float *sums = calloc(vocab * (size_t)c->dims[DIM] + 1, sizeof *sums);
    row_state *rows = calloc(vocab + 1, sizeof *rows);
    int64_t *hits_in_all = calloc(vocab + 1, sizeof *hits_in_all);
    bool good = sums && rows && hits_in_all;
    for (int64_t i = 0; good && i < c->dims[QUERIES]; i++)
        hits_in_all[mutated_index(c, b[1], i, m.index)]++;
    if (good) {
        add_hits(c, b, sums, rows, hits_in_all, m);
        store_rows(c, b[2], sums, hits_in_all, m);
    }
    free(sums);
    free(rows);
    free(hits_in_all);
    return good ? 0 : 1;
}

static int bwd_all_zeros(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    if (c->dims[VOCAB] && c->dims[DIM])
        memset(b[2], 0, (size_t)(c->dims[VOCAB] * c->dims[DIM]) * 2);
    return 0;
}

static int bwd_last_query_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.dropped_queries = 1});
}

static int bwd_last_column_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.dropped_columns = 1});
}

static int bwd_last_tile_dropped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.last_tile_dropped = true});
}

static int bwd_off_by_one(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.index = {.off_by_one = true}});
}

static int bwd_index_clamped(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.index = {.clamped = true}});
}

static int bwd_narrow_index(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.index = {.narrow = true}});
}

static int bwd_transposed(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.transposed = true});
}

static int bwd_short_sums(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.short_sums = true});
}

static int bwd_rounded_runs(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.rounded_runs = true});
}

static int bwd_lost_update(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.lost_update = true});
}

static int bwd_last_hit_wins(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.last_hit_wins = true});
}

static int bwd_first_run_only(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.first_run_only = true});
}

static int bwd_onto_output(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.onto_output = true});
}

static int bwd_stale_rows(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.stale_rows = true});
}

static int bwd_minus_zero_rows(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.minus_zero_rows = true});
}

static int bwd_nan_masked(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.nan_masked = true});
}

static int bwd_infinities_cancel(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.infinities_cancel = true});
}

static int bwd_truncating_store(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.truncated = true});
}

static int bwd_flushing(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.flushing = true});
}

static int bwd_saturating(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    return bwd(c, b, (scatter_mutation){.saturating = true});
}

const tki_mutant tki_embedding_bwd_mutants[] = {
    {"all_zeros", "writes zeros", bwd_all_zeros},
    {"stale_output", "leaves the output as it was", stale_output},
    {"last_query_dropped", "does not add the last query", bwd_last_query_dropped},
    {"last_column_dropped", "does not write the last column", bwd_last_column_dropped},
    {"last_tile_dropped", "does not add a row's hits after the last multiple of 16", bwd_last_tile_dropped},
    {"off_by_one", "adds to the next row", bwd_off_by_one},
    {"index_clamped", "clamps indices to one row too few", bwd_index_clamped},
    {"narrow_index", "keeps 16 bits of the index", bwd_narrow_index},
    {"transposed", "reads grad_output as [dim, queries]", bwd_transposed},
    {"short_sums", "keeps the sums in 16 bits, as an atomic addition to the output would", bwd_short_sums},
    {"rounded_runs", "rounds the sum to 16 bits after every run of 64 hits", bwd_rounded_runs},
    {"lost_update", "loses a hit when the query before it hits the same row, as a race does", bwd_lost_update},
    {"last_hit_wins", "keeps the last hit instead of the sum", bwd_last_hit_wins},
    {"first_run_only", "adds the first 64 hits of a row only", bwd_first_run_only},
    {"onto_output", "adds to what the output held before", bwd_onto_output},
    {"stale_rows", "leaves rows without hits as they were", bwd_stale_rows},
    {"minus_zero_rows", "writes -0 to rows without hits", bwd_minus_zero_rows},
    {"nan_masked", "turns NaN into zero", bwd_nan_masked},
    {"infinities_cancel", "takes the sum of opposite infinities for zero", bwd_infinities_cancel},
    {"truncating_store", "rounds the result toward zero when storing", bwd_truncating_store},
    {"flushing", "flushes subnormal results to zero", bwd_flushing},
    {"saturating", "returns the largest finite number instead of infinity", bwd_saturating},
    {0},
};
