/* DECIDES. The exact value of embedding. Forward it is the input's own bits. Backward, hits are summed in double
 * with an error bound, for one row and a block of columns at a time; what that leaves open is summed exactly.
 * Clause BITS is the order that it names, carried out step by step in fp32. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/accumulator.h"
#include "exact/exact_sum.h"
#include "exact/kept_table.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/embedding/contract.h"

#if FLT_EVAL_METHOD != 0
#error "clause BITS needs float arithmetic that is carried out in fp32"
#endif

enum { BOX_ROWS = 16, BLOCK = 256 };
enum { QUERIES, DIM, VOCAB };

/* 2^53 units of fp16, whose smallest subnormal is 2^-24. */
static const double F16_EXACT_BELOW = 0x1p29;

static int64_t index_at(const tk_case *c, const void *index, int64_t i)
{
    return c->index_dtype == TK_I64 ? ((const int64_t *)index)[i] : ((const int32_t *)index)[i];
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = BOX_ROWS;
    *cols = BLOCK;
}

/* -- Forward ----------------------------------------------------------------------------------------------- */

static tk_status fwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const tk_case *c = job->c;
    for (int64_t query = box->row_begin; query < box->row_end; query++) {
        int64_t first = index_at(c, job->buffers[0], query) * c->dims[DIM];
        for (int64_t col = box->col_begin; col < box->col_end; col++, out++)
            *out = (tki_enclosure){.bits = tki_element_bits(c->dtype, job->buffers[1], first + col),
                                   .admits = TKI_ADMIT_RAW_BITS,
                                   .clause = TKI_EMBEDDING_FWD_EXACT};
    }
    return TK_OK;
}

/* -- Backward ---------------------------------------------------------------------------------------------- */

/* The queries that hit each row, ascending: those of row v are query[begin[v]] to query[begin[v + 1] - 1]. */
typedef struct inverse {
    int64_t *begin; /* [vocab + 1] */
    int64_t *query; /* [queries] */
} inverse;

static void bwd_release(void *prepared)
{
    inverse *hits = prepared;
    if (!hits)
        return;
    free(hits->begin);
    free(hits->query);
    free(hits);
}

static tk_status bwd_prepare(const tki_oracle_job *job, void **prepared)
{
    const tk_case *c = job->c;
    int64_t queries = c->dims[QUERIES];
    int64_t vocab = c->dims[VOCAB];
    inverse *hits = calloc(1, sizeof *hits);
    int64_t *filled = calloc((size_t)vocab + 1, sizeof *filled);
    *prepared = hits;
    if (hits) {
        hits->begin = calloc((size_t)vocab + 1, sizeof *hits->begin);
        hits->query = calloc((size_t)queries + 1, sizeof *hits->query);
    }
    if (!hits || !hits->begin || !hits->query || !filled) {
        free(filled);
        return TK_NO_MEMORY; /* the judge releases what is there */
    }
    for (int64_t i = 0; i < queries; i++)
        hits->begin[index_at(c, job->buffers[1], i) + 1]++;
    for (int64_t v = 0; v < vocab; v++)
        hits->begin[v + 1] += hits->begin[v];
    for (int64_t i = 0; i < queries; i++) {
        int64_t row = index_at(c, job->buffers[1], i);
        hits->query[hits->begin[row] + filled[row]++] = i;
    }
    free(filled);
    return TK_OK;
}

/* Up to BLOCK neighbouring elements of one row, and its hits. */
typedef struct strip {
    const tki_oracle_job *job;
    const int64_t *query; /* [hits] */
    int64_t hits;
    int64_t col;
    int count;
} strip;

static int64_t place_of(const strip *s, int64_t hit, int i)
{
    return s->query[hit] * s->job->c->dims[DIM] + s->col + i;
}

static double hit_value(const strip *s, int64_t hit, int i)
{
    return tki_value_at(s->job->tables, s->job->buffers[0], place_of(s, hit, i));
}

/* Of one element: the sum of |g| over its finite hits, rounded up. With v = 2^-53, a sum of n numbers, none negative,
 * comes out as at least 1 - (n-1) v times itself, and 1 / (1 - x) <= 1 + 2x for x <= 1/2. */
static double round_up_magnitudes(double computed, int64_t hits)
{
    return tki_up(computed * (1 + (double)(hits > 0 ? hits - 1 : 0) * 0x1p-52));
}

static double finite_magnitudes(const strip *s, int i)
{
    double sum = 0;
    for (int64_t hit = 0; hit < s->hits; hit++) {
        double value = hit_value(s, hit, i);
        sum += isfinite(value) ? fabs(value) : 0;
    }
    return sum;
}

/* Double holds every sum of finite hits, so `sum` is infinite or NaN only where a hit is. It is within (n-1) 2^-53
 * sum|g| of the exact one, for any n; and it is exact for fp16 below 2^53 units: the first magnitude to be rounded
 * would have been above that, and they only grow from there. */
static tki_enclosure enclose_sum(const strip *s, int i, double sum, double computed_magnitudes, double unit)
{
    bool finite = isfinite(sum);
    double computed = finite ? computed_magnitudes : finite_magnitudes(s, i);
    double magnitudes = round_up_magnitudes(computed, s->hits);
    bool exact = s->job->c->dtype == TK_F16 && computed < F16_EXACT_BELOW;
    double error = exact || s->hits <= 1 ? 0 : tki_up((double)(s->hits - 1) * 0x1p-53 * magnitudes);
    int clause;
    unsigned admits = tki_embedding_bwd_admits(sum, tki_embedding_bwd_may_overflow(s->hits, magnitudes), &clause);
    return (tki_enclosure){.lo = error > 0 ? tki_down(sum - error) : sum,
                           .hi = error > 0 ? tki_up(sum + error) : sum,
                           .bound = tki_embedding_bwd_bound(s->hits, magnitudes, tki_sum_is_exact(computed, unit)),
                           .admits = (uint8_t)admits,
                           .clause = (uint8_t)clause};
}

static void enclose_error(const strip *s, tki_enclosure *out)
{
    double sum[BLOCK] = {0};
    double magnitudes[BLOCK] = {0};
    double unit[BLOCK];
    for (int i = 0; i < s->count; i++)
        unit[i] = INFINITY;
    for (int64_t hit = 0; hit < s->hits; hit++)
        for (int i = 0; i < s->count; i++) {
            double value = hit_value(s, hit, i);
            sum[i] += value;
            magnitudes[i] += fabs(value);
            /* Of what is infinite or NaN anything, for no bound is asked for then. */
            double last = value != 0 ? tki_last_bit(value) : INFINITY;
            unit[i] = last < unit[i] ? last : unit[i];
        }
    for (int i = 0; i < s->count; i++)
        out[i] = enclose_sum(s, i, sum[i], magnitudes[i], unit[i]);
}

static void enclose_empty(const strip *s, tki_enclosure *out)
{
    for (int i = 0; i < s->count; i++)
        out[i] = (tki_enclosure){.bits = 0, .admits = TKI_ADMIT_RAW_BITS, .clause = TKI_EMBEDDING_BWD_EMPTY};
}

/* Hit by hit, as the clause reads. Every hit is a number of fp32. */
static void enclose_bits(const strip *s, tki_enclosure *out)
{
    for (int i = 0; i < s->count; i++) {
        float total = 0.0f;
        for (int64_t run_begin = 0; run_begin < s->hits; run_begin += TKI_EMBEDDING_RUN) {
            float run = 0.0f;
            for (int64_t hit = run_begin; hit < s->hits && hit < run_begin + TKI_EMBEDDING_RUN; hit++)
                run = run + (float)hit_value(s, hit, i);
            total = total + run;
        }
        out[i] = (tki_enclosure){.bits = tki_round_double(s->job->c->result_dtype, (double)total),
                                 .admits = TKI_ADMIT_RAW_BITS,
                                 .clause = TKI_EMBEDDING_BWD_BITS};
    }
}

static strip strip_of(const tki_oracle_job *job, int64_t row, int64_t col, int64_t col_end)
{
    const inverse *hits = job->prepared;
    return (strip){.job = job,
                   .query = hits->query + hits->begin[row],
                   .hits = hits->begin[row + 1] - hits->begin[row],
                   .col = col,
                   .count = col_end - col < BLOCK ? (int)(col_end - col) : BLOCK};
}

static tk_status bwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    for (int64_t row = box->row_begin; row < box->row_end; row++)
        for (int64_t col = box->col_begin; col < box->col_end; col += BLOCK) {
            strip s = strip_of(job, row, col, box->col_end);
            if (job->promised)
                enclose_bits(&s, out);
            else if (s.hits == 0)
                enclose_empty(&s, out);
            else
                enclose_error(&s, out);
            out += s.count;
        }
    return TK_OK;
}

static tk_status bwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)precision;
    strip s = strip_of(job, row, col, col + 1);
    tki_accumulator sum;
    tki_accumulator_clear(&sum);
    for (int64_t hit = 0; hit < s.hits; hit++)
        tki_accumulator_add(&sum, job->c->dtype,
                            tki_element_bits(job->c->dtype, job->buffers[0], place_of(&s, hit, 0)));
    mpfr_set_prec(lo, TKI_ACCUMULATOR_BITS);
    mpfr_set_prec(hi, TKI_ACCUMULATOR_BITS);
    tki_accumulator_get(&sum, lo);
    tki_accumulator_get(&sum, hi);
    return TK_OK;
}

const tki_oracle tki_embedding_fwd_oracle = {.box_size = box_size, .enclose = fwd_enclose};

const tki_oracle tki_embedding_bwd_oracle = {.open = tki_values_open,
                                             .prepare = bwd_prepare,
                                             .release = bwd_release,
                                             .box_size = box_size,
                                             .enclose = bwd_enclose,
                                             .refine = bwd_refine};
