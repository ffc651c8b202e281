/* DECIDES. The exact value of gelu and of its derivative. Both are functions of one x (the gradient is that times grad_output). For
 * 16-bit types a table over all patterns of x, enclosed with MPFR, serves every element; for fp32 an element is enclosed in double. What
 * that does not decide is refined from scratch. */
#include <math.h>

#include "exact/floats.h"
#include "exact/gelu.h"
#include "exact/kept_table.h"
#include "exact/oracle.h"
#include "exact/round.h"

enum { TABLE_PRECISION = 96, BOX = 2048 };

static void fill(tk_dtype dtype, tki_gelu_function f, tki_gelu_entry *table)
{
    const uint32_t sign = tki_format_of(dtype).sign;
#pragma omp parallel
    {
        const tki_floats floats = tki_floats_begin();
        tki_gelu_scratch s;
        tki_gelu_scratch_init(&s, TABLE_PRECISION);
#pragma omp for schedule(dynamic, 128)
        for (uint32_t bits = 0; bits < sign; bits++) {
            double x = tki_decode(dtype, bits);
            if (isfinite(x)) {
                tki_interval_set_d(&s.x, x);
                tki_gelu_evaluate(&s, f);
            }
            table[bits] = isfinite(x) ? tki_gelu_entry_of(&s, f, x, false) : tki_gelu_limit(x);
            table[bits | sign] = isfinite(x) ? tki_gelu_entry_of(&s, f, x, true) : tki_gelu_limit(-x);
        }
        tki_gelu_scratch_clear(&s);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
        tki_floats_end(&floats);
    }
}

/* The entry of an element: that of the table, or made in `room`. */
static inline const tki_gelu_entry *entry_of(const tki_oracle_job *job, tki_gelu_function f, int input, int64_t i,
                                             tki_gelu_entry *room)
{
    const uint32_t bits = tki_element_bits(job->c->dtype, job->buffers[input], i);
    if (tki_is_tabled(job->c->dtype))
        return (const tki_gelu_entry *)job->tables + bits;
    const double x = tki_decode(TK_F32, bits);
    if (!isfinite(x))
        *room = tki_gelu_limit(x);
    else
        *room = tki_gelu_in_double(job->tables, f, x);
    return room;
}

static tk_status open_pieces(void **tables)
{
    const tki_exp_pieces *pieces;
    tk_status status = tki_exp_pieces_open(&pieces);
    *tables = (void *)(uintptr_t)pieces;
    return status;
}

/* -- The oracles ------------------------------------------------------------------------------------------------ */

static void fill_values(tk_dtype dtype, void *table)
{
    fill(dtype, TKI_GELU_VALUE, table);
}

static void fill_derivatives(tk_dtype dtype, void *table)
{
    fill(dtype, TKI_GELU_DERIVATIVE, table);
}

static tk_status fwd_open(tk_dtype dtype, void **tables)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(tki_gelu_entry), .fill = fill_values, .any_width = true};
    return tki_is_tabled(dtype) ? tki_kept_table_open(&kept, dtype, tables) : open_pieces(tables);
}

static tk_status bwd_open(tk_dtype dtype, void **tables)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(tki_gelu_entry), .fill = fill_derivatives, .any_width = true};
    return tki_is_tabled(dtype) ? tki_kept_table_open(&kept, dtype, tables) : open_pieces(tables);
}

static void box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = 1;
    *cols = BOX;
}

static tk_status fwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    tki_gelu_entry room;
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        const tki_gelu_entry *e = entry_of(job, TKI_GELU_VALUE, 0, i, &room);
        int clause = TKI_GELU_ERR;
        unsigned special = isfinite(e->x) ? 0 : tki_gelu_fwd_special(e->x, &clause);
        *out = (tki_enclosure){.lo = e->lo,
                               .hi = e->hi,
                               .bound = e->bound,
                               .admits = (uint8_t)(special ? special : TKI_ADMIT_INTERVAL),
                               .clause = (uint8_t)clause};
    }
    return TK_OK;
}

static tk_status bwd_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    tki_gelu_entry room;
    /* In fp32 the rounding of the product is the last one, and needs no allowance. */
    const double underflow = tki_holds_fp32(job->c->dtype) ? 0 : TKI_GELU_BWD_UNDERFLOW;
    for (int64_t i = box->col_begin; i < box->col_end; i++, out++) {
        double grad = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], i));
        const tki_gelu_entry *e = entry_of(job, TKI_GELU_DERIVATIVE, 1, i, &room);
        int clause = TKI_GELU_ERR;
        unsigned special = isfinite(e->x) && isfinite(grad) ? 0 : tki_gelu_bwd_special(grad, e->x, e->lo, &clause);
        double a = grad * e->lo;
        double b = grad * e->hi;
        *out = (tki_enclosure){.lo = tki_down(a < b ? a : b),
                               .hi = tki_up(a < b ? b : a),
                               .bound = (fabs(grad) * e->bound + underflow) * (1 + 0x1p-50),
                               .admits = (uint8_t)(special ? special : TKI_ADMIT_INTERVAL),
                               .clause = (uint8_t)clause};
    }
    return TK_OK;
}

static tk_status refine(const tki_oracle_job *job, tki_gelu_function f, double x, double factor, int precision,
                        mpfr_ptr lo, mpfr_ptr hi)
{
    (void)job;
    mpfr_set_prec(lo, precision);
    mpfr_set_prec(hi, precision);
    if (!isfinite(x)) {
        /* Only the gradient at +inf is judged by an interval: its limit is grad_output itself. */
        mpfr_set_d(lo, factor, MPFR_RNDD);
        mpfr_set_d(hi, factor, MPFR_RNDU);
        return TK_OK;
    }
    tki_gelu_scratch s;
    tki_gelu_scratch_init(&s, precision);
    tki_interval_set_d(&s.x, fabs(x));
    tki_gelu_evaluate(&s, f);
    tki_gelu_set_value(&s, f, x < 0);
    tki_interval_mul_d(&s.t, &s.t, factor);
    mpfr_set(lo, s.t.lo, MPFR_RNDD);
    mpfr_set(hi, s.t.hi, MPFR_RNDU);
    tki_gelu_scratch_clear(&s);
    return TK_OK;
}

static tk_status fwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)row;
    double x = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], col));
    return refine(job, TKI_GELU_VALUE, x, 1, precision, lo, hi);
}

static tk_status bwd_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                            mpfr_ptr hi)
{
    (void)row;
    double grad = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[0], col));
    double x = tki_decode(job->c->dtype, tki_element_bits(job->c->dtype, job->buffers[1], col));
    return refine(job, TKI_GELU_DERIVATIVE, x, grad, precision, lo, hi);
}

const tki_oracle tki_gelu_fwd_oracle = {
    .open = fwd_open, .box_size = box_size, .enclose = fwd_enclose, .refine = fwd_refine};

const tki_oracle tki_gelu_bwd_oracle = {
    .open = bwd_open, .box_size = box_size, .enclose = bwd_enclose, .refine = bwd_refine};
