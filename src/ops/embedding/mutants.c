/* CHOOSES. Wrong kernels for embedding, each with one line saying what is wrong. Slow and plain on purpose. */
#include <math.h>

#include "ops/mutant_tools.h"

enum { QUERIES, DIM, VOCAB };
enum { RUN = 64, TILE = 16, MOST_QUERIES = 1024, MOST_COLUMNS = 1024 };

/* What can go wrong with an index. */
typedef struct index_mutation {
    bool off_by_one, clamped;
    int bits; /* that are kept, if not 0 */
} index_mutation;

static int64_t mutated_index(const tk_case *c, const void *index, int64_t i, index_mutation m)
{
    int64_t value = tki_get_index(c, index, i);
    int64_t last = c->dims[VOCAB] - 1;
    if (m.off_by_one)
        value = value < last ? value + 1 : 0;
    if (m.clamped && value > last - 1 && last > 0)
        value = last - 1;
    return m.bits ? value & ((INT64_C(1) << m.bits) - 1) : value;
}

/* Where the written columns end. */
static int64_t end_of_columns(const tk_case *c, int64_t dropped, int64_t multiple, int64_t most)
{
    int64_t end = c->dims[DIM] - dropped - tki_tail(c->dims[DIM], multiple);
    return most && most < end ? most : end;
}

/* Forward. */

typedef struct copy_mutation {
    index_mutation index;
    bool quiet_nan, through_16_bits, canonical_nan, nan_masked, zero_sign_lost, flushing, transposed, padding_row,
        once_each;
    int64_t dropped_queries, dropped_columns;
    int64_t column_multiple; /* columns after the last multiple are not written */
    int64_t most_queries;    /* rows beyond are not written */
    int64_t most_columns;    /* those beyond are not written */
} copy_mutation;

/* The pattern of an element after the copy. */
static uint32_t copied(const tk_case *c, uint32_t bits, const copy_mutation *m)
{
    const tki_format f = tki_format_of(c->dtype);
    const uint32_t magnitude = bits & (f.sign - 1);
    const bool nan = magnitude > f.infinity;
    if (m->quiet_nan && nan)
        bits |= UINT32_C(1) << (f.precision - 2);
    if (m->canonical_nan && nan)
        bits = f.nan;
    if ((m->nan_masked && nan) || (m->zero_sign_lost && magnitude == 0))
        bits = 0;
    if (m->through_16_bits && !nan)
        bits = tki_f32_bits(tki_rounded(c, tki_f32_from_bits(bits)));
    return m->flushing && magnitude >> (f.precision - 1) == 0 ? bits & f.sign : bits;
}

/* Did an earlier query ask for the same row? */
static bool asked_before(const tk_case *c, const void *index, int64_t query)
{
    for (int64_t i = 0; i < query; i++)
        if (tki_get_index(c, index, i) == tki_get_index(c, index, query))
            return true;
    return false;
}

static int fwd(const tk_case *c, void *const b[], void *run)
{
    static const copy_mutation right_way = {0};
    const copy_mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    int64_t dim = c->dims[DIM];
    int64_t queries = c->dims[QUERIES] - m->dropped_queries;
    int64_t columns = end_of_columns(c, m->dropped_columns, m->column_multiple, m->most_columns);
    if (m->most_queries && queries > m->most_queries)
        queries = m->most_queries;
    for (int64_t i = 0; i < queries; i++) {
        int64_t row = mutated_index(c, b[0], i, m->index);
        if (m->once_each && asked_before(c, b[0], i))
            continue;
        for (int64_t j = 0; j < columns; j++) {
            int64_t place = m->transposed ? j * c->dims[VOCAB] + row : row * dim + j;
            tki_put_bits(c->dtype, b[2], i * dim + j,
                         m->padding_row && row == 0 ? 0 : copied(c, tki_element_bits(c->dtype, b[1], place), m));
        }
    }
    return 0;
}

#define FWD(...) TKI_PLANTED(fwd, copy_mutation, __VA_ARGS__)

const tki_mutant tki_embedding_fwd_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale_output", "leaves the output as it was", .kernel = tki_stale},
    {"last_query_dropped", "does not write the last row", FWD(.dropped_queries = 1)},
    {"last_column_dropped", "does not write the last column", FWD(.dropped_columns = 1)},
    {"last_tile_dropped", "does not write the columns after the last multiple of 16", FWD(.column_multiple = TILE)},
    {"off_by_one", "reads the next row", FWD(.index = {.off_by_one = true})},
    {"index_clamped", "clamps indices to one row too few", FWD(.index = {.clamped = true})},
    {"narrow_index", "keeps 16 bits of the index", FWD(.index = {.bits = 16})},
    {"transposed", "reads the weight as [dim, vocab]", FWD(.transposed = true)},
    {"through_fp32", "copies by arithmetic in fp32, which makes signalling NaNs quiet", FWD(.quiet_nan = true)},
    {"canonical_nan", "loses the payload of NaN", FWD(.canonical_nan = true)},
    {"nan_masked", "turns NaN into zero", FWD(.nan_masked = true)},
    {"zero_sign_lost", "turns -0 into +0", FWD(.zero_sign_lost = true)},
    {"flushing", "flushes subnormals to zero", FWD(.flushing = true)},
    {"padding_row", "takes row 0 for padding and gives zeros", FWD(.padding_row = true)},
    {"once_each", "writes the first of several queries with the same index only", FWD(.once_each = true)},
    {"tail_dropped", "does not write the columns after the last multiple of 4", FWD(.column_multiple = 4)},
    {"queries_beyond_1024_dropped", "does not write rows beyond the first 1024", FWD(.most_queries = MOST_QUERIES)},
    TKI_CALL_MUTANTS(fwd),
    {"before_the_start", "writes one element before its output", TKI_CALL(.right = fwd, .before_the_start = true)},
    {"queries_beyond_65535_dropped",
     "does not write rows beyond the first 65535, the most blocks of a grid's second size",
     FWD(.most_queries = 65535)},
    {"columns_beyond_1024_dropped", "does not write columns beyond the first 1024, the most threads of a block",
     FWD(.most_columns = MOST_COLUMNS)},
    {"through_16_bits", "rounds fp32 numbers to 16 bits on the way", FWD(.through_16_bits = true),
     .only_f32_results = true},
    {"index_of_17_bits", "keeps 17 bits of the index", FWD(.index = {.bits = 17}), .level = TK_FULL},
    {"index_of_24_bits", "keeps 24 bits of the index", FWD(.index = {.bits = 24}), .level = TK_FULL},
    {0},
};

/* Backward: each hit goes to a sum in fp32 as its query comes by, in the order of the queries. */

typedef struct scatter_mutation {
    index_mutation index;
    tki_store store;
    bool short_sums, through_16_bits, rounded_runs, lost_update, last_hit_wins, first_hit_wins, sorted_only,
        first_run_only;
    bool last_tile_dropped, transposed, onto_output, stale_rows, minus_zero_rows, infinities_cancel, mean,
        padding_row;
    int64_t dropped_queries, dropped_columns;
    int64_t column_multiple; /* columns after the last multiple are not written */
    int64_t most_queries;    /* those beyond are not added */
    int64_t most_columns;    /* those beyond are not written */
} scatter_mutation;

/* One row of sums on its way. */
typedef struct row_state {
    int64_t hits;
    int64_t last_query;
} row_state;

static float hit_of(const tk_case *c, const void *grad, int64_t query, int64_t column, const scatter_mutation *m)
{
    return tki_get(c, grad, m->transposed ? column * c->dims[QUERIES] + query : query * c->dims[DIM] + column);
}

static float added(const tk_case *c, float sum, float hit, const row_state *row, int64_t query,
                   const scatter_mutation *m)
{
    bool race = m->lost_update && row->hits > 0 && row->last_query == query - 1;
    if (race || (m->first_run_only && row->hits >= RUN))
        return sum;
    if (m->first_hit_wins && row->hits > 0)
        return sum;
    if (m->last_hit_wins || (m->sorted_only && row->last_query != query - 1))
        return hit;
    if (m->infinities_cancel && isinf(sum) && isinf(hit) && sum != hit)
        return 0;
    if (m->short_sums || (m->rounded_runs && row->hits % RUN == RUN - 1))
        return tki_rounded(c, sum + hit);
    return sum + hit;
}

/* The hits of each row that are left after its last full tile are not added. */
static bool in_last_tile(const row_state *row, int64_t hits_in_all)
{
    return row->hits >= hits_in_all / TILE * TILE;
}

static void add_hits(const tk_case *c, void *const b[], float *sums, row_state *rows, const int64_t *hits_in_all,
                     const scatter_mutation *m)
{
    int64_t dim = c->dims[DIM];
    int64_t queries = c->dims[QUERIES] - m->dropped_queries;
    if (m->most_queries && queries > m->most_queries)
        queries = m->most_queries;
    for (int64_t i = 0; i < queries; i++) {
        int64_t v = mutated_index(c, b[1], i, m->index);
        for (int64_t j = 0; j < dim; j++)
            if (!m->last_tile_dropped || !in_last_tile(&rows[v], hits_in_all[v]))
                sums[v * dim + j] = added(c, sums[v * dim + j], hit_of(c, b[0], i, j, m), &rows[v], i, m);
        rows[v].hits++;
        rows[v].last_query = i;
    }
}

static void store_rows(const tk_case *c, void *target, const float *sums, const int64_t *hits_in_all,
                       const scatter_mutation *m)
{
    int64_t dim = c->dims[DIM];
    int64_t columns = end_of_columns(c, m->dropped_columns, m->column_multiple, m->most_columns);
    for (int64_t v = 0; v < c->dims[VOCAB]; v++) {
        if (m->stale_rows && hits_in_all[v] == 0)
            continue;
        for (int64_t j = 0; j < columns; j++) {
            int64_t place = v * dim + j;
            float sum = m->minus_zero_rows && hits_in_all[v] == 0 ? -0.0f : sums[place];
            if (m->mean && hits_in_all[v] > 0)
                sum /= (float)hits_in_all[v];
            if (m->padding_row && v == 0)
                sum = 0;
            if (m->onto_output)
                sum += tki_get_result(c, target, place);
            tki_put_as(c, target, place, m->through_16_bits ? tki_rounded(c, sum) : sum, m->store);
        }
    }
}

static int bwd(const tk_case *c, void *const b[], void *run)
{
    static const scatter_mutation right_way = {0};
    const scatter_mutation *m = tki_how(run) ? tki_how(run) : &right_way;
    size_t vocab = (size_t)c->dims[VOCAB];
    float *sums = calloc(vocab * (size_t)c->dims[DIM] + 1, sizeof *sums);
    row_state *rows = calloc(vocab + 1, sizeof *rows);
    int64_t *hits_in_all = calloc(vocab + 1, sizeof *hits_in_all);
    bool good = sums && rows && hits_in_all;
    for (int64_t i = 0; good && i < c->dims[QUERIES]; i++)
        hits_in_all[mutated_index(c, b[1], i, m->index)]++;
    if (good) {
        add_hits(c, b, sums, rows, hits_in_all, m);
        store_rows(c, b[2], sums, hits_in_all, m);
    }
    free(sums);
    free(rows);
    free(hits_in_all);
    return good ? 0 : 1;
}

#define BWD(...) TKI_PLANTED(bwd, scatter_mutation, __VA_ARGS__)

const tki_mutant tki_embedding_bwd_mutants[] = {
    {"all_zeros", "writes zeros", .kernel = tki_all_zeros},
    {"stale_output", "leaves the output as it was", .kernel = tki_stale},
    {"last_query_dropped", "does not add the last query", BWD(.dropped_queries = 1)},
    {"last_column_dropped", "does not write the last column", BWD(.dropped_columns = 1)},
    {"last_tile_dropped", "does not add a row's hits after the last multiple of 16", BWD(.last_tile_dropped = true)},
    {"off_by_one", "adds to the next row", BWD(.index = {.off_by_one = true})},
    {"index_clamped", "clamps indices to one row too few", BWD(.index = {.clamped = true})},
    {"narrow_index", "keeps 16 bits of the index", BWD(.index = {.bits = 16})},
    {"transposed", "reads grad_output as [dim, queries]", BWD(.transposed = true)},
    {"short_sums", "keeps the sums in 16 bits, as an atomic addition to the output would", BWD(.short_sums = true)},
    {"rounded_runs", "rounds the sum to 16 bits after every run of 64 hits", BWD(.rounded_runs = true)},
    {"lost_update", "loses a hit when the query before it hits the same row, as a race does",
     BWD(.lost_update = true)},
    {"last_hit_wins", "keeps the last hit instead of the sum", BWD(.last_hit_wins = true)},
    {"first_run_only", "adds the first 64 hits of a row only", BWD(.first_run_only = true)},
    {"onto_output", "adds to what the output held before", BWD(.onto_output = true)},
    {"stale_rows", "leaves rows without hits as they were", BWD(.stale_rows = true)},
    {"minus_zero_rows", "writes -0 to rows without hits", BWD(.minus_zero_rows = true)},
    {"nan_masked", "turns NaN into zero", BWD(.store = TKI_STORE_NAN_MASKED)},
    {"infinities_cancel", "takes the sum of opposite infinities for zero", BWD(.infinities_cancel = true)},
    {"truncating_store", "rounds the result toward zero when storing", BWD(.store = TKI_STORE_TRUNCATED)},
    {"flushing", "flushes subnormal results to zero", BWD(.store = TKI_STORE_FLUSHED)},
    {"saturating", "returns the largest finite number instead of infinity", BWD(.store = TKI_STORE_SATURATED)},
    {"outward_store", "rounds the result away from zero when storing", BWD(.store = TKI_STORE_OUTWARD)},
    {"first_hit_wins", "keeps the first hit instead of the sum", BWD(.first_hit_wins = true)},
    {"sorted_only", "sums hits that follow each other and forgets earlier ones: right for sorted indices",
     BWD(.sorted_only = true)},
    {"mean", "divides each row by the number of its hits", BWD(.mean = true)},
    {"padding_row", "takes row 0 for padding and gives it no gradient", BWD(.padding_row = true)},
    {"tail_dropped", "does not write the columns after the last multiple of 4", BWD(.column_multiple = 4)},
    {"queries_beyond_1024_dropped", "does not add queries beyond the first 1024", BWD(.most_queries = MOST_QUERIES)},
    TKI_CALL_MUTANTS(bwd),
    {"before_the_start", "writes one element before its output", TKI_CALL(.right = bwd, .before_the_start = true)},
    {"queries_beyond_65535_dropped",
     "does not add queries beyond the first 65535, the most blocks of a grid's second size",
     BWD(.most_queries = 65535)},
    {"columns_beyond_1024_dropped", "does not write columns beyond the first 1024, the most threads of a block",
     BWD(.most_columns = MOST_COLUMNS)},
    {"through_16_bits", "rounds the result to 16 bits before it stores fp32", BWD(.through_16_bits = true),
     .only_f32_results = true},
    {"index_of_17_bits", "keeps 17 bits of the index", BWD(.index = {.bits = 17}), .level = TK_FULL},
    {"index_of_24_bits", "keeps 24 bits of the index", BWD(.index = {.bits = 24}), .level = TK_FULL},
    {0},
};
