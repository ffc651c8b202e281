/* DECIDES. Exact integers and orders: nothing is rounded, and nothing is near. */
#include "judge/judge_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/round.h"
#include "model/format.h"

uint64_t tki_pattern_at(tk_dtype dtype, const void *data, int64_t i)
{
    const size_t bytes = tk_dtype_size(dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + (size_t)i * bytes, bytes);
    return bits;
}

uint64_t tki_integer_at(tk_dtype dtype, const void *data, int64_t i)
{
    const tki_format f = tki_format_of(dtype);
    const uint64_t bits = tki_pattern_at(dtype, data, i);
    const int unused = 64 - f.bits;
    return f.number == TKI_SIGNED ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* Integers have no ulps, and their magnitude explains nothing. */
static void accept(tki_judgement *tally)
{
    tally->histogram[0]++;
    tally->magnitudes[TKI_MAGNITUDE_OTHER].elements++;
}

static void refuse(tki_judgement *tally, tki_element element)
{
    tki_refused *refused = &tally->refused[element.clause];
    tally->failed[element.clause]++;
    refused->histogram[TKI_ULP_BINS - 1]++;
    refused->gross++;
    refused->worst = INFINITY;
    tally->histogram[TKI_ULP_BINS - 1]++;
    tally->magnitudes[TKI_MAGNITUDE_OTHER].elements++;
    tally->magnitudes[TKI_MAGNITUDE_OTHER].ulps = INFINITY;
    if (!tally->failure.present || element.index < tally->failure.index)
        tally->failure = element;
    if (!tally->worst.present)
        tally->worst = element;
}

static tki_element element_of(const tki_oracle_job *job, const tki_enclosure *e, int64_t index, uint64_t got)
{
    return (tki_element){.present = true,
                         .output = job->output,
                         .clause = e->clause,
                         .index = index,
                         .got = got,
                         .admits = e->admits,
                         .expected = e->bits,
                         .ulps = INFINITY,
                         .outside = INFINITY};
}

void tki_judge_integers(const tki_oracle_job *job, const tki_box *box, int64_t cols, const void *data,
                        const tki_enclosure *e, tki_judgement *tally)
{
    const tk_dtype dtype = tk_case_param_dtype(job->c, job->output);
    for (int64_t row = box->row_begin; row < box->row_end; row++)
        for (int64_t col = box->col_begin; col < box->col_end; col++, e++) {
            const uint64_t got = tki_integer_at(dtype, data, row * cols + col);
            tally->judged[e->clause]++;
            if (e->admits & TKI_UNDEFINED)
                tki_note_unbounded(tally, job->output, row * cols + col);
            else if (got == e->bits)
                accept(tally);
            else
                refuse(tally, element_of(job, e, row * cols + col, got));
        }
}

/* Is the number of a key one that belongs there? */
static bool key_belongs(const tki_enclosure *e, long double key)
{
    /* long double holds every 64-bit integer. */
    return ((e->admits & TKI_ADMIT_PLUS_INF) && key == (long double)INFINITY) ||
           ((e->admits & TKI_ADMIT_MINUS_INF) && key == -(long double)INFINITY) ||
           ((e->admits & TKI_ADMIT_ZERO) && key == 0) ||
           ((e->admits & TKI_ADMIT_INTERVAL) && key >= (long double)e->lo - (long double)e->bound &&
            key <= (long double)e->hi + (long double)e->bound);
}

/* Is the selected key one that belongs there? */
static bool selects_right(const tki_oracle_job *job, const tki_enclosure *e, int64_t row, int64_t key_cols,
                          uint64_t index)
{
    const int keys = job->c->contract->params[job->output].ordered_by;
    const tk_dtype dtype = tk_case_param_dtype(job->c, keys);
    if (index >= (uint64_t)key_cols)
        return false;
    const int64_t place = (job->c->contract->params[keys].rank > 1 ? row * key_cols : 0) + (int64_t)index;
    const tki_number number = tki_format_of(dtype).number;
    if (number != TKI_FLOATING) {
        const uint64_t key = tki_integer_at(dtype, job->buffers[keys], place);
        return ((e->admits & TKI_ADMIT_BITS) && key == e->bits) ||
               key_belongs(e, number == TKI_SIGNED ? (long double)(int64_t)key : (long double)key);
    }
    const uint32_t bits = tki_element_bits(dtype, job->buffers[keys], place);
    const double key = tki_decode(dtype, bits);
    return (isnan(key) && (e->admits & TKI_ADMIT_NAN)) || ((e->admits & TKI_ADMIT_BITS) && bits == e->bits) ||
           key_belongs(e, (long double)key);
}

/* Which keys of a row are selected already. */
typedef struct selected {
    unsigned char *seen; /* a bit for each key */
    int64_t keys;
} selected;

/* Was it before? */
static bool mark(selected *s, uint64_t index)
{
    if (index >= (uint64_t)s->keys)
        return false;
    const unsigned char bit = (unsigned char)(1u << index % 8);
    const bool before = s->seen[index / 8] & bit;
    s->seen[index / 8] |= bit;
    return before;
}

tk_status tki_judge_order(const tki_oracle_job *job, const tki_box *box, int64_t cols, const void *data,
                          const tki_enclosure *e, tki_judgement *tally)
{
    const tk_dtype dtype = tk_case_param_dtype(job->c, job->output);
    const tk_param *keys = &job->c->contract->params[job->c->contract->params[job->output].ordered_by];
    selected s = {.keys = job->c->dims[keys->dim[keys->rank - 1]]};
    s.seen = malloc((size_t)s.keys / 8 + 1);
    if (!s.seen)
        return TK_NO_MEMORY;
    for (int64_t row = box->row_begin; row < box->row_end; row++) {
        memset(s.seen, 0, (size_t)s.keys / 8 + 1);
        for (int64_t col = 0; col < box->col_begin; col++)
            (void)mark(&s, tki_integer_at(dtype, data, row * cols + col));
        for (int64_t col = box->col_begin; col < box->col_end; col++, e++) {
            const int64_t at = row * cols + col;
            const uint64_t got = tki_integer_at(dtype, data, at);
            const bool repeated = mark(&s, got);
            const bool very = (e->admits & TKI_ADMIT_RAW_BITS) && got == e->bits;
            tally->judged[e->clause]++;
            if (e->admits & TKI_UNDEFINED)
                tki_note_unbounded(tally, job->output, at);
            else if (very || (!repeated && selects_right(job, e, row, s.keys, got)))
                accept(tally);
            else
                refuse(tally, element_of(job, e, at, got));
        }
    }
    free(s.seen);
    return TK_OK;
}
