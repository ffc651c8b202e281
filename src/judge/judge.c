/* DECIDES. The acceptance rule, element by element: with lo = RN(S - B) and hi = RN(S + B), an output is accepted iff it is
 * not NaN and lo <= out <= hi. The oracle gives S as an interval of doubles, which nearly always decides; where it does
 * not, the oracle refines S until it does. */
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "exact/domain.h"
#include "exact/floats.h"
#include "exact/round.h"
#include "judge/judge_exact.h"

const double tki_ulp_bin_ends[TKI_ULP_BINS - 1] = {0, 1, 2, 4, 8, 16, 64, 256, 1024};

enum { FIRST_PRECISION = 128, LAST_PRECISION = 2048 };
enum { HEADS = 512 }; /* signs and exponents of bf16 and fp32 */

/* Everything one thread needs to judge elements of one output. */
typedef struct bench {
    const tki_oracle *oracle;
    const tki_oracle_job *job;
    tk_dtype dtype;
    bool
        saturates; /* what is too large for the type is its largest number; else infinity, or NaN where there is none */
    const void *input;    /* by whose magnitude elements are counted; NULL: by that of RN(S) */
    tk_dtype counted;     /* the type of these magnitudes */
    int64_t plain[HEADS]; /* elements that were plainly right, by counted_head() */
    tki_judgement *tally;
    tk_status status;
} bench;

int tki_counted_by_input(const tk_case *c)
{
    const tk_contract *contract = c->contract;
    int input = -1;
    for (int p = 0; contract->elementwise && p < contract->param_count; p++)
        if (!contract->params[p].output && !contract->params[p].when_choices &&
            tki_format_of(tk_case_param_dtype(c, p)).number == TKI_FLOATING)
            input = p;
    return input;
}

/* Where a pattern is counted, by what is above its fraction: the sign and the exponent's field. */
static int magnitude_of(tki_format f, bool is_signed, uint32_t head)
{
    const uint32_t fields = f.sign >> (f.precision - 1), field = head & (fields - 1);
    if (field == 0)
        return TKI_MAGNITUDE_SUBNORMAL;
    if (field > f.largest >> (f.precision - 1))
        return TKI_MAGNITUDE_OTHER;
    const bool negative = is_signed && (head & fields);
    return (negative ? TKI_MAGNITUDE_NEGATIVE : TKI_MAGNITUDE_POSITIVE) + f.exponent_min + (int)field - 1 -
           TKI_BINADE_LEAST;
}

/* Of the element at `index`, of which `right` is RN(S) in the output's type. */
static inline uint32_t counted_head(const bench *b, tk_dtype dtype, int64_t index, uint32_t right)
{
    if (!b->input)
        return right >> (tki_format_of(dtype).precision - 1);
    if (b->counted == dtype) /* which is a constant where it matters */
        return tki_element_bits(dtype, b->input, index) >> (tki_format_of(dtype).precision - 1);
    return tki_element_bits(b->counted, b->input, index) >> (tki_format_of(b->counted).precision - 1);
}

/* The elements that were plainly right. */
static void count_plain(bench *b)
{
    const tki_format f = tki_format_of(b->counted);
    for (uint32_t head = 0; f.number == TKI_FLOATING && head < HEADS; head++) {
        b->tally->histogram[0] += b->plain[head];
        b->tally->magnitudes[magnitude_of(f, b->input, head)].elements += b->plain[head];
    }
}

void tki_output_matrix(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    const tk_param *p = &c->contract->params[output];
    if (p->rank > 1) {
        *rows = 1;
        for (int axis = 0; axis < p->rank - 1; axis++)
            *rows *= c->dims[p->dim[axis]];
        *cols = tk_case_has(c, output) ? c->dims[p->dim[p->rank - 1]] : 0;
        return;
    }
    /* One value per row of a row op is a column; the output of an elementwise op, and an order, a row. */
    const bool column = c->contract->dim_count > 1 && p->judged != TK_BY_ORDER;
    *rows = column ? c->dims[p->dim[0]] : 1;
    *cols = !tk_case_has(c, output) ? 0 : column ? 1 : c->dims[p->dim[0]];
}

void tki_box_of_elements(const tk_case *c, int output, int64_t most, int64_t *rows, int64_t *cols)
{
    int64_t all_rows, all_cols;
    tki_output_matrix(c, output, &all_rows, &all_cols);
    *cols = all_cols < most ? all_cols : most;
    *rows = *cols > 0 && most / *cols > 1 ? most / *cols : 1;
}

tk_status tki_enclose_by_stretches(const tki_oracle_job *job, const tki_box *box, tki_enclose_stretch *stretch,
                                   tki_enclosure *out)
{
    int64_t rows, cols;
    const int64_t count = box->col_end - box->col_begin;
    tk_status status = TK_OK;
    tki_output_matrix(job->c, job->output, &rows, &cols);
    if (count == cols) /* whole rows are one stretch */
        return stretch(job, box->row_begin * cols, (box->row_end - box->row_begin) * cols, out);
    for (int64_t row = box->row_begin; row < box->row_end && status == TK_OK; row++, out += count)
        status = stretch(job, row * cols + box->col_begin, count, out);
    return status;
}

static int histogram_bin(double ulps)
{
    int bin = 0;
    while (bin < TKI_ULP_BINS - 1 && ulps > tki_ulp_bin_ends[bin])
        bin++;
    return bin;
}

/* The patterns RN(S - B), RN(S) and RN(S + B) as far as an enclosure of S decides them. */
typedef struct rounded {
    uint32_t lo[2], nearest[2], hi[2]; /* for the lower and the upper end of the enclosure */
    double exact;
} rounded;

static rounded round_doubles(tk_dtype dtype, double lo, double hi, double bound)
{
    return (rounded){
        .lo = {tki_round_double(dtype, tki_down(lo - bound)), tki_round_double(dtype, tki_up(hi - bound))},
        .nearest = {tki_round_double(dtype, lo), tki_round_double(dtype, hi)},
        .hi = {tki_round_double(dtype, tki_down(lo + bound)), tki_round_double(dtype, tki_up(hi + bound))},
        .exact = lo + (hi - lo) / 2,
    };
}

static rounded round_mpfrs(tk_dtype dtype, mpfr_srcptr lo, mpfr_srcptr hi, double bound)
{
    rounded r;
    mpfr_t t;
    /* Wide enough that adding B to an exact S rounds nothing that matters: directed rounding covers the rest. */
    mpfr_init2(t, mpfr_get_prec(lo) + mpfr_get_prec(hi) + 256);
    mpfr_sub_d(t, lo, bound, MPFR_RNDD);
    r.lo[0] = tki_round_mpfr(dtype, t);
    mpfr_sub_d(t, hi, bound, MPFR_RNDU);
    r.lo[1] = tki_round_mpfr(dtype, t);
    mpfr_add_d(t, lo, bound, MPFR_RNDD);
    r.hi[0] = tki_round_mpfr(dtype, t);
    mpfr_add_d(t, hi, bound, MPFR_RNDU);
    r.hi[1] = tki_round_mpfr(dtype, t);
    mpfr_clear(t);
    r.nearest[0] = tki_round_mpfr(dtype, lo);
    r.nearest[1] = tki_round_mpfr(dtype, hi);
    r.exact = mpfr_get_d(lo, MPFR_RNDN) / 2 + mpfr_get_d(hi, MPFR_RNDN) / 2;
    return r;
}

typedef enum decision { ACCEPTED, REFUSED, OPEN } decision;

/* What a rounded value is in the output: ends are formed as if the exponent had no limit, and what is too large then becomes what the
 * case says. */
static inline uint32_t limited(const bench *b, uint32_t bits)
{
    const tki_format f = tki_format_of(b->dtype);
    return b->saturates && tki_magnitude_of(f, bits) > f.largest ? (bits & f.sign) | f.largest : bits;
}

static double end_of(const bench *b, uint32_t bits)
{
    return tki_decode_end(b->dtype, limited(b, bits));
}

static decision decide(const bench *b, const rounded *r, double out)
{
    if (isnan(out))
        return REFUSED;
    bool above_lo = out >= end_of(b, r->lo[1]);
    bool below_hi = out <= end_of(b, r->hi[0]);
    if (above_lo && below_hi)
        return ACCEPTED;
    if (out < end_of(b, r->lo[0]) || out > end_of(b, r->hi[1]))
        return REFUSED;
    return OPEN;
}

/* Ulps between the output and RN(S); infinite if one of them is infinite and the other is not. Where the enclosure leaves
 * two neighbours possible for RN(S), the farther one counts: S is then so near a midpoint that finding out would cost
 * an exhaustive run hours and change nothing but this figure. */
static double ulp_distance(const bench *b, const rounded *r, double out)
{
    double farthest = 0;
    for (int i = 0; i < 2; i++) {
        double nearest = end_of(b, r->nearest[i]);
        if (out != nearest)
            farthest = fmax(farthest, fabs(out - nearest) / tki_ulp(b->dtype, r->exact));
    }
    return farthest;
}

/* False where terms cancelled so far that the enclosure spans many numbers of the format: there ulps mean nothing yet. */
static bool nearest_are_neighbours(const bench *b, const rounded *r)
{
    double gap = fabs(end_of(b, r->nearest[1]) - end_of(b, r->nearest[0]));
    return r->nearest[0] == r->nearest[1] || gap <= tki_ulp(b->dtype, r->exact);
}

static void note_worst(tki_judgement *tally, const tki_element *element)
{
    bool worse = element->ulps > tally->worst.ulps ||
                 (element->ulps == tally->worst.ulps && element->index < tally->worst.index);
    if (!tally->worst.present || worse)
        tally->worst = *element;
}

tki_place tki_place_of(const tki_element *element)
{
    if (!element->interval)
        return TKI_ORDINARY;
    /* A NaN is infinitely far off, too; it is refused, wherever it is. */
    if (isinf(element->ulps))
        return TKI_AT_OVERFLOW;
    return fabs(element->exact) <= element->bound ? TKI_NEAR_ZERO : TKI_ORDINARY;
}

static void note_accepted(tki_judgement *tally, const tki_element *element)
{
    tally->bound_used = fmax(tally->bound_used, element->bound_used);
    if (element->ulps == 0)
        return;
    switch (tki_place_of(element)) {
    case TKI_ORDINARY: tally->accepted_ulps = fmax(tally->accepted_ulps, element->ulps); return;
    case TKI_NEAR_ZERO: tally->near_zero++; return;
    case TKI_AT_OVERFLOW: tally->at_overflow++; return;
    }
}

/* The nearest admissible value. Infinity counts as the number that would follow the largest finite one, or as far beyond as everything
 * admissible is: an overflow a hair too early or too late is then a small distance, and a saturated 1e30 a large one. NaN: there is
 * no such value. */
static double nearest_admissible(const bench *b, const tki_element *e, double out, double overflow)
{
    double end;
    if (e->interval)
        end = end_of(b, out > end_of(b, e->hi_bits) ? e->hi_bits : e->lo_bits);
    else if (e->admits & (TKI_ADMIT_BITS | TKI_ADMIT_RAW_BITS))
        end = tki_decode(b->dtype, (uint32_t)e->expected);
    else
        return e->admits & TKI_ADMIT_ZERO ? 0 : NAN;
    if (!isinf(end))
        return end;
    double beyond = e->interval ? fabs(e->exact) - e->bound : 0;
    return copysign(beyond > overflow ? beyond : overflow, end);
}

static void note_refused(const bench *b, tki_element *element)
{
    const tk_dtype dtype = b->dtype;
    tki_refused *refused = &b->tally->refused[element->clause];
    const double out = tki_decode(dtype, (uint32_t)element->got);
    const double largest = tki_decode(dtype, tki_format_of(dtype).largest);
    const double overflow = largest + tki_ulp(dtype, largest);
    const double end = nearest_admissible(b, element, out, overflow);
    const double distance = fabs((isinf(out) ? copysign(overflow, out) : out) - end);
    element->outside = isnan(distance) ? INFINITY : distance / tki_ulp(dtype, fmin(fabs(end), largest));
    refused->histogram[histogram_bin(element->outside)]++;
    refused->worst = fmax(refused->worst, element->outside);
    /* Within two ulps, which is much of a subnormal number, nothing is gross. */
    refused->gross += element->outside > 2 && !(distance <= fabs(end) / 16);
    refused->nan += isnan(out);
    refused->special += isnan(end) && !isnan(out);
}

static void note_failure(const bench *b, tki_element *element)
{
    tki_judgement *tally = b->tally;
    tally->failed[element->clause]++;
    note_refused(b, element);
    if (!tally->failure.present || element->index < tally->failure.index)
        tally->failure = *element;
}

/* What refining has found, and what doubles had found. False: they have nothing in common, as behind an overflow, where the exact value is not what
 * is looked for. */
static bool narrow(mpfr_ptr lo, mpfr_ptr hi, const tki_enclosure *e)
{
    if (mpfr_nan_p(lo) || mpfr_cmp_d(lo, e->lo) < 0)
        mpfr_set_d(lo, e->lo, MPFR_RNDD);
    if (mpfr_nan_p(hi) || mpfr_cmp_d(hi, e->hi) > 0)
        mpfr_set_d(hi, e->hi, MPFR_RNDU);
    return mpfr_lessequal_p(lo, hi);
}

/* The element is not plainly RN(S): decide it, refining S as far as needed, and keep the figures. What doubles have decided stays. OPEN: what stays
 * open at the last precision is accepted, but where that precision knows nothing. */
static decision judge_interval_slowly(bench *b, const tki_enclosure *e, int64_t row, int64_t col,
                                      tki_element *element)
{
    if (isnan(e->bound)) {
        b->status = TK_INTERNAL; /* every comparison with it would come out undecided, and so be accepted */
        return REFUSED;
    }
    const tki_format f = tki_format_of(b->dtype);
    uint32_t got = (uint32_t)element->got;
    double out = tki_decode(b->dtype, got);
    /* The NaN of a format without infinity stands for what is too large, of either sign. */
    if (isnan(out) && !f.infinity && !b->saturates) {
        got = (e->lo + (e->hi - e->lo) / 2 < 0 ? f.sign : 0) | (f.largest + 1);
        out = end_of(b, got);
    }
    rounded r = round_doubles(b->dtype, e->lo, e->hi, e->bound);
    const decision by_doubles = decide(b, &r, out);
    decision d = by_doubles;
    bool known = true;
    if (d == OPEN || !nearest_are_neighbours(b, &r)) {
        b->tally->refined++;
        mpfr_t lo;
        mpfr_t hi;
        mpfr_inits2(FIRST_PRECISION, lo, hi, (mpfr_ptr)0);
        for (int precision = FIRST_PRECISION; precision <= LAST_PRECISION; precision *= 2) {
            tk_status status = b->oracle->refine(b->job, row, col, precision, lo, hi);
            if (status != TK_OK) {
                b->status = status;
                break;
            }
            known = !mpfr_inf_p(lo) && !mpfr_inf_p(hi);
            if (!narrow(lo, hi, e))
                break;
            r = round_mpfrs(b->dtype, lo, hi, e->bound);
            d = by_doubles == OPEN ? decide(b, &r, out) : by_doubles;
            if (d != OPEN && nearest_are_neighbours(b, &r))
                break;
        }
        mpfr_clears(lo, hi, (mpfr_ptr)0);
    }
    if (d == OPEN && !known)
        return OPEN;
    if (d == OPEN) {
        b->tally->undecided++;
        d = ACCEPTED;
    }
    element->interval = true;
    element->lo_bits = limited(b, r.lo[0]);
    element->hi_bits = limited(b, r.hi[1]);
    if ((e->admits & TKI_NOT_NEGATIVE) && tki_decode(b->dtype, element->lo_bits) < 0) {
        element->lo_bits = 0;
        d = out < 0 ? REFUSED : d;
    }
    element->exact = r.exact;
    element->bound = e->bound;
    if (isnan(out)) {
        element->ulps = INFINITY;
        return REFUSED;
    }
    element->ulps = ulp_distance(b, &r, out);
    double below;
    double above;
    tki_rounding_interval(b->dtype, got, &below, &above);
    const bool limit = b->saturates && tki_magnitude_of(f, got) == f.largest && fabs(r.exact) > fabs(out);
    double outside = limit ? 0 : fmax(0, fmax(below - r.exact, r.exact - above));
    element->bound_used = outside == 0 ? 0 : e->bound > 0 ? outside / e->bound : INFINITY;
    if (isfinite(out) && !limit)
        b->tally->absolute_error = fmax(b->tally->absolute_error, fabs(out - r.exact));
    return d;
}

/* What the output has for an infinity of that sign: itself, NaN where the format has none, or the largest number. */
static bool is_infinity_of(const bench *b, uint32_t got, uint32_t sign)
{
    const tki_format f = tki_format_of(b->dtype);
    const uint32_t bits = limited(b, (sign & f.sign) | (f.largest + 1));
    return got == bits || (tki_is_nan(b->dtype, got) && tki_is_nan(b->dtype, bits));
}

static bool admitted_by_flag(const bench *b, unsigned admits, uint64_t expected, uint32_t got)
{
    double out = tki_decode(b->dtype, got);
    return ((admits & TKI_ADMIT_NAN) && isnan(out)) || ((admits & TKI_ADMIT_PLUS_INF) && is_infinity_of(b, got, 0)) ||
           ((admits & TKI_ADMIT_MINUS_INF) && is_infinity_of(b, got, UINT32_MAX)) ||
           ((admits & TKI_ADMIT_ZERO) && out == 0) ||
           ((admits & TKI_ADMIT_BITS) &&
            (got == expected || (isnan(out) && tki_is_nan(b->dtype, (uint32_t)expected)))) ||
           ((admits & TKI_ADMIT_RAW_BITS) && got == expected);
}

/* The whole enclosure rounds to this output, so it is RN(S); or these very bits are admitted. */
static inline bool plainly_right(tk_dtype dtype, const bench *b, const tki_enclosure *e, uint32_t got)
{
    tki_judgement *tally = b->tally;
    if ((e->admits & (TKI_ADMIT_BITS | TKI_ADMIT_RAW_BITS)) && !(e->admits & TKI_UNDEFINED) && got == e->bits)
        return true;
    if (e->admits != TKI_ADMIT_INTERVAL || tki_is_nan(dtype, got) ||
        (tki_may_saturate(dtype) && b->saturates && !tki_is_finite(dtype, got)))
        return false;
    double below;
    double above;
    tki_rounding_interval(dtype, got, &below, &above);
    if (!(below < e->lo && e->hi < above))
        return false;
    const double out = tki_decode(dtype, got);
    const double error = fmax(out - e->lo, e->hi - out);
    if (error > tally->absolute_error && isfinite(error))
        tally->absolute_error = error;
    return true;
}

static tki_magnitude *counted_at(const bench *b, int64_t index, uint32_t right)
{
    const uint32_t head = counted_head(b, b->dtype, index, right);
    return &b->tally->magnitudes[magnitude_of(tki_format_of(b->counted), b->input, head)];
}

static void note_magnitude(const bench *b, const tki_element *element)
{
    uint32_t right = element->admits & TKI_ADMIT_ZERO ? 0 : tki_canonical_nan(b->dtype);
    if (element->interval)
        right = tki_round_double(b->dtype, element->exact);
    else if (element->admits & (TKI_ADMIT_BITS | TKI_ADMIT_RAW_BITS))
        right = (uint32_t)element->expected;
    tki_magnitude *at = counted_at(b, element->index, right);
    at->elements++;
    at->ulps = fmax(at->ulps, element->ulps);
    at->bound_used = fmax(at->bound_used, element->bound_used);
}

static void judge_element(bench *b, const tki_enclosure *e, int64_t row, int64_t col, int64_t index, uint32_t got)
{
    tki_judgement *tally = b->tally;
    tki_element element = {.present = true,
                           .output = b->job->output,
                           .clause = e->clause,
                           .index = index,
                           .got = got,
                           .admits = e->admits,
                           .expected = e->admits & (TKI_ADMIT_BITS | TKI_ADMIT_RAW_BITS) ? e->bits : 0};
    if (e->admits & TKI_UNDEFINED) {
        tki_note_unbounded(tally, b->job->output, index);
        return;
    }
    if (admitted_by_flag(b, e->admits, e->bits, got)) {
        tally->histogram[0]++;
        counted_at(b, index, got)->elements++;
        return;
    }
    decision found = REFUSED;
    if (e->admits & TKI_ADMIT_INTERVAL)
        found = judge_interval_slowly(b, e, row, col, &element);
    else
        element.ulps = INFINITY;
    if (found == OPEN) {
        tki_note_unbounded(tally, b->job->output, index);
        return;
    }
    tally->histogram[histogram_bin(element.ulps)]++;
    note_magnitude(b, &element);
    if (found == ACCEPTED)
        note_accepted(tally, &element);
    else
        note_failure(b, &element);
    note_worst(tally, &element);
}

/* `dtype` and `by_input` are constants at each call that is for much data, so that decoding and counting an element are a few
 * instructions. */
static inline __attribute__((always_inline)) void judge_lines(bench *b, tk_dtype dtype, bool by_input,
                                                              const tki_box *box, int64_t cols, const void *data,
                                                              const tki_enclosure *e)
{
    for (int64_t row = box->row_begin; row < box->row_end; row++)
        for (int64_t col = box->col_begin; col < box->col_end; col++, e++) {
            int64_t index = row * cols + col;
            uint32_t got = tki_element_bits(dtype, data, index);
            b->tally->judged[e->clause]++;
            if (plainly_right(dtype, b, e, got))
                b->plain[by_input ? counted_head(b, dtype, index, got)
                                  : got >> (tki_format_of(dtype).precision - 1)]++;
            else
                judge_element(b, e, row, col, index, got);
        }
}

static inline __attribute__((always_inline)) void judge_type(bench *b, tk_dtype dtype, const tki_box *box,
                                                             int64_t cols, const void *data, const tki_enclosure *e)
{
    if (b->input)
        judge_lines(b, dtype, true, box, cols, data, e);
    else
        judge_lines(b, dtype, false, box, cols, data, e);
}

static void judge_box(bench *b, const tki_box *box, int64_t cols, const void *data, tki_enclosure *enclosures)
{
    tk_status status = b->oracle->enclose(b->job, box, enclosures);
    if (status != TK_OK) {
        b->status = status;
        return;
    }
    if (tki_domain_is_normal(b->job->c))
        tki_domain_admit(enclosures, (box->row_end - box->row_begin) * (box->col_end - box->col_begin));
    switch (b->job->c->contract->params[b->job->output].judged) {
    case TK_BY_INTERVAL:
    case TK_BY_BITS: break;
    case TK_BY_INTEGER: tki_judge_integers(b->job, box, cols, data, enclosures, b->tally); return;
    case TK_BY_ORDER: b->status = tki_judge_order(b->job, box, cols, data, enclosures, b->tally); return;
    }
    switch (b->dtype) { /* those that most are of, as constants */
    case TK_F16: judge_type(b, TK_F16, box, cols, data, enclosures); return;
    case TK_BF16: judge_type(b, TK_BF16, box, cols, data, enclosures); return;
    case TK_F32: judge_type(b, TK_F32, box, cols, data, enclosures); return;
    default: break;
    }
    if (tki_format_of(b->dtype).number == TKI_FLOATING)
        judge_type(b, b->dtype, box, cols, data, enclosures);
    else
        b->status = TK_INTERNAL; /* registering a contract rules it out */
}

static void note_row_sum(bench *b, int64_t row, int64_t cols, const void *data)
{
    double sum = 0;
    for (int64_t col = 0; col < cols; col++)
        sum += tki_decode(b->dtype, tki_element_bits(b->dtype, data, row * cols + col));
    if (!isnan(sum))
        b->tally->row_sum_error = fmax(b->tally->row_sum_error, fabs(sum - 1));
}

void tki_refused_add(tki_refused *sum, const tki_refused *part)
{
    for (int i = 0; i < TKI_ULP_BINS; i++)
        sum->histogram[i] += part->histogram[i];
    sum->gross += part->gross;
    sum->nan += part->nan;
    sum->special += part->special;
    sum->worst = fmax(sum->worst, part->worst);
}

void tki_judgement_add(tki_judgement *sum, const tki_judgement *part)
{
    sum->elements += part->elements;
    sum->refined += part->refined;
    sum->undecided += part->undecided;
    sum->undefined += part->undefined;
    sum->near_zero += part->near_zero;
    sum->at_overflow += part->at_overflow;
    for (int i = 0; i < TK_MAX_CLAUSES; i++) {
        sum->judged[i] += part->judged[i];
        sum->failed[i] += part->failed[i];
        tki_refused_add(&sum->refused[i], &part->refused[i]);
    }
    for (int i = 0; i < TKI_ULP_BINS; i++)
        sum->histogram[i] += part->histogram[i];
    for (int i = 0; i < TKI_MAGNITUDES; i++) {
        tki_magnitude *at = &sum->magnitudes[i];
        at->elements += part->magnitudes[i].elements;
        at->ulps = fmax(at->ulps, part->magnitudes[i].ulps);
        at->bound_used = fmax(at->bound_used, part->magnitudes[i].bound_used);
    }
    sum->accepted_ulps = fmax(sum->accepted_ulps, part->accepted_ulps);
    sum->bound_used = fmax(sum->bound_used, part->bound_used);
    sum->absolute_error = fmax(sum->absolute_error, part->absolute_error);
    sum->row_sum_error = fmax(sum->row_sum_error, part->row_sum_error);
}

static void merge(tki_judgement *total, const tki_judgement *part)
{
    tki_judgement_add(total, part);
    if (part->worst.present)
        note_worst(total, &part->worst);
    if (part->failure.present && (!total->failure.present || part->failure.index < total->failure.index))
        total->failure = part->failure;
    if (part->unbounded.present && (!total->unbounded.present || part->unbounded.index < total->unbounded.index))
        total->unbounded = part->unbounded;
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

/* Where each index is at one of its ends. */
typedef struct corners {
    int count;
    int64_t at[1 << TK_MAX_RANK];
} corners;

static corners corners_of(const tk_case *c, int output)
{
    const tk_param *p = &c->contract->params[output];
    corners all = {.count = 1 << p->rank};
    for (int which = 0; which < all.count; which++) {
        all.at[which] = 0;
        for (int axis = 0; axis < p->rank; axis++)
            all.at[which] = all.at[which] * c->dims[p->dim[axis]] +
                            (which >> axis & 1 ? c->dims[p->dim[axis]] - 1 : 0);
    }
    return all;
}

static bool has_corner(const tki_box *box, int64_t cols, const corners *all)
{
    for (int i = 0; i < all->count; i++) {
        const int64_t row = all->at[i] / cols, col = all->at[i] % cols;
        if (row >= box->row_begin && row < box->row_end && col >= box->col_begin && col < box->col_end)
            return true;
    }
    return false;
}

/* Is the i-th of so many boxes of a large output judged? The first and last ones, those with elements at powers of two or at corners, and some in
 * every part. */
static bool is_in_sample(int64_t i, int64_t boxes, const tki_box *box, int64_t cols, const corners *all)
{
    enum { EVERYWHERE = 64 };
    const int64_t first = box->row_begin * cols + box->col_begin, behind = (box->row_end - 1) * cols + box->col_end;
    bool at_power = false;
    for (int bit = 12; bit < 62; bit++)
        at_power |= (INT64_C(1) << bit) >= first && (INT64_C(1) << bit) < behind;
    return boxes <= EVERYWHERE || i == 0 || i == boxes - 1 || at_power ||
           i % (boxes / EVERYWHERE) == boxes / EVERYWHERE / 2 || has_corner(box, cols, all);
}

/* To wake a thread takes as long as a small case. */
static int threads_for(const tk_case *c, int64_t boxes, int threads)
{
    enum { PARALLEL_FROM = 1 << 15 };
    double steps = 1;
    for (int d = 0; d < c->contract->dim_count; d++)
        steps *= (double)c->dims[d];
    return steps < PARALLEL_FROM ? 1 : boxes < threads ? (int)boxes : threads;
}

tk_status tki_judge(const tki_oracle *oracle, const tki_oracle_job *job, const void *data, int threads,
                    tki_judgement *total)
{
    const tk_param *param = &job->c->contract->params[job->output];
    int64_t rows;
    int64_t cols;
    int64_t box_rows;
    int64_t box_cols;
    tki_output_matrix(job->c, job->output, &rows, &cols);
    if (rows == 0 || cols == 0)
        return TK_OK;
    oracle->box_size(job->c, job->output, &box_rows, &box_cols);
    box_rows = at_most(box_rows, rows);
    box_cols = at_most(box_cols, cols);
    int64_t boxes_down = (rows + box_rows - 1) / box_rows;
    int64_t boxes_across = (cols + box_cols - 1) / box_cols;
    tk_status status = TK_OK;
    tki_judgement found = {0};
    const tk_dtype dtype = tk_case_param_dtype(job->c, job->output);
    const bool saturates = tki_may_saturate(dtype) && tki_choice_of_role(job->c->contract, job->c->attributes,
                                                                         TK_ROLE_OVERFLOW) == TKI_OVERFLOW_SATURATE;
    int64_t boxes = boxes_down * boxes_across;
    const corners ends = corners_of(job->c, job->output);
#pragma omp parallel num_threads(threads_for(job->c, boxes, threads))
    {
        const tki_floats floats = tki_floats_begin();
        tki_judgement tally = {0};
        const int input = tki_counted_by_input(job->c);
        bench b = {.oracle = oracle,
                   .job = job,
                   .dtype = dtype,
                   .saturates = saturates,
                   .input = input < 0 ? NULL : job->buffers[input],
                   .counted = tk_case_param_dtype(job->c, input < 0 ? job->output : input),
                   .tally = &tally};
        tki_enclosure *enclosures = malloc((size_t)(box_rows * box_cols) * sizeof *enclosures);
        if (!enclosures)
            b.status = TK_NO_MEMORY;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < boxes; i++) {
            if (b.status != TK_OK)
                continue;
            int64_t row = i / boxes_across * box_rows;
            int64_t col = i % boxes_across * box_cols;
            tki_box box = {row, at_most(row + box_rows, rows), col, at_most(col + box_cols, cols)};
            if (job->deadline > 0 && tki_now() >= job->deadline) {
                b.status = TK_TIMEOUT;
                continue;
            }
            if (job->sampled && !is_in_sample(i, boxes, &box, cols, &ends))
                continue;
            tally.elements += (box.row_end - box.row_begin) * (box.col_end - box.col_begin);
            judge_box(&b, &box, cols, data, enclosures);
            for (int64_t r = box.row_begin; param->sums_to != 0 && col == 0 && r < box.row_end; r++)
                note_row_sum(&b, r, cols, data);
        }
        count_plain(&b);
        free(enclosures);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
#pragma omp critical(tki_judge_merge)
        {
            merge(&found, &tally);
            if (b.status != TK_OK)
                status = b.status;
        }
        tki_floats_end(&floats);
    }
    if (status != TK_OK)
        return status;
    /* Failures and worst elements of earlier outputs stay: indices are not comparable between them. */
    tki_element first_failure = total->failure;
    tki_element worst = total->worst;
    const tki_unbounded unbounded = total->unbounded;
    merge(total, &found);
    if (first_failure.present)
        total->failure = first_failure;
    if (worst.present && !(found.worst.present && found.worst.ulps > worst.ulps))
        total->worst = worst;
    if (unbounded.present)
        total->unbounded = unbounded;
    else if (total->unbounded.present && oracle->origin)
        total->unbounded.node = oracle->origin(job, total->unbounded.index);
    return TK_OK;
}
