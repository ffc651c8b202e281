/* TRUSTED. Exact integers and orders: nothing is rounded, and nothing is near. */
#include "verify/judge_exact.h"

#include <math.h>
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
    const int unused = 64 - 8 * f.bytes;
    return f.number == TKI_SIGNED ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static void refuse(tki_judgement *tally, tki_element element)
{
    tki_refused *refused = &tally->refused[element.clause];
    tally->failed[element.clause]++;
    refused->histogram[TKI_ULP_BINS - 1]++;
    refused->gross++;
    refused->worst = INFINITY;
    tally->histogram[TKI_ULP_BINS - 1]++;
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
                tally->undefined++;
            else if (got == e->bits)
                tally->histogram[0]++;
            else
                refuse(tally, element_of(job, e, row * cols + col, got));
        }
}

/* Does the row select it before this place? */
static bool is_repeated(tk_dtype dtype, const void *data, int64_t row_begin, int64_t at)
{
    const uint64_t got = tki_integer_at(dtype, data, at);
    for (int64_t i = row_begin; i < at; i++)
        if (tki_integer_at(dtype, data, i) == got)
            return true;
    return false;
}

/* Is the selected element one that belongs there? */
static bool selects_right(const tki_oracle_job *job, const tki_enclosure *e, int64_t row, uint64_t index)
{
    if (e->admits & TKI_ADMIT_RAW_BITS)
        return index == e->bits;
    const int keys = job->c->contract->params[job->output].ordered_by;
    const tk_dtype dtype = tk_case_param_dtype(job->c, keys);
    int64_t key_rows, key_cols;
    tki_output_matrix(job->c, keys, &key_rows, &key_cols);
    if (index >= (uint64_t)key_cols)
        return false;
    const int64_t place = (key_rows > 1 ? row : 0) * key_cols + (int64_t)index;
    double key;
    if (tki_format_of(dtype).number == TKI_FLOATING)
        key = tki_decode(dtype, tki_element_bits(dtype, job->buffers[keys], place));
    else if (e->admits & TKI_ADMIT_BITS)
        return tki_integer_at(dtype, job->buffers[keys], place) == e->bits;
    else
        key = (double)(int64_t)tki_integer_at(dtype, job->buffers[keys], place);
    if (isnan(key))
        return e->admits & TKI_ADMIT_NAN;
    return (e->admits & TKI_ADMIT_INTERVAL) && key >= e->lo - e->bound && key <= e->hi + e->bound;
}

void tki_judge_order(const tki_oracle_job *job, const tki_box *box, int64_t cols, const void *data,
                     const tki_enclosure *e, tki_judgement *tally)
{
    const tk_dtype dtype = tk_case_param_dtype(job->c, job->output);
    for (int64_t row = box->row_begin; row < box->row_end; row++)
        for (int64_t col = box->col_begin; col < box->col_end; col++, e++) {
            const int64_t at = row * cols + col;
            const uint64_t got = tki_integer_at(dtype, data, at);
            tally->judged[e->clause]++;
            if (e->admits & TKI_UNDEFINED)
                tally->undefined++;
            else if (selects_right(job, e, row, got) &&
                     ((e->admits & TKI_ADMIT_RAW_BITS) || !is_repeated(dtype, data, row * cols, at)))
                tally->histogram[0]++;
            else
                refuse(tally, element_of(job, e, at, got));
        }
}
