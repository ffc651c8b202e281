/* The judge, with an oracle made by hand: what it accepts, what it refuses, what it counts, for every output type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/random.h"
#include "exact/round.h"
#include "judge/trial.h"
#include "model/attributes.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

/* y is of the case's dtype, z is fp32. Rank 2, so that boxes have rows and columns. */
static const tk_contract fake = {
    .name = "fake",
    TKI_TYPES_16_BITS,
    .dim_count = 2,
    .dim_names = (const char *const[]){"r", "c"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "y", .output = true, .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "z",
             .output = true,
             .kind = TK_KIND_FIXED,
             .dtype = TK_F32,
             .rank = 2,
             .dim = (const int[]){0, 1},
             APART},
            {.name = "p",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 1},
             APART,
             .sums_to = 1},
        },
    .clause_count = 3,
    .clauses = (const tk_clause[]){{TK_CLAUSE_ERROR, "FAKE.ERR", ""},
                                   {TK_CLAUSE_VALUE, "FAKE.SPECIAL", "special values keep their meaning"},
                                   {TK_CLAUSE_VALUE, "FAKE.OTHER", ""}},
};

/* What the fake oracle says: one enclosure per element and what refine() adds to it. */
typedef struct script {
    const tki_enclosure *elements; /* [rows, cols] */
    int64_t cols;
    int64_t box_rows, box_cols;
    double refined_lo, refined_hi; /* returned by refine() if `refinable` */
    double refined_tail;           /* added to both in MPFR, far below the precision of double */
    bool refinable;
    tk_status enclose_status, refine_status;
    int refine_calls;
    int last_precision;
} script;

static void fake_box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)output;
    /* The case has room for the box in its unused sizes. */
    *rows = c->dims[8];
    *cols = c->dims[9];
}

static tk_status fake_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    const script *s = job->tables;
    for (int64_t r = box->row_begin; r < box->row_end; r++)
        for (int64_t c = box->col_begin; c < box->col_end; c++)
            *out++ = s->elements[r * s->cols + c];
    return s->enclose_status;
}

static tk_status fake_refine(const tki_oracle_job *job, int64_t row, int64_t col, int precision, mpfr_ptr lo,
                             mpfr_ptr hi)
{
    script *s = (script *)(uintptr_t)job->tables;
#pragma omp critical
    {
        s->refine_calls++;
        s->last_precision = precision;
    }
    const tki_enclosure *e = &s->elements[row * s->cols + col];
    mpfr_set_prec(lo, precision);
    mpfr_set_prec(hi, precision);
    mpfr_set_d(lo, s->refinable ? s->refined_lo : e->lo, MPFR_RNDD);
    mpfr_set_d(hi, s->refinable ? s->refined_hi : e->hi, MPFR_RNDU);
    mpfr_add_d(lo, lo, s->refined_tail, MPFR_RNDD);
    mpfr_add_d(hi, hi, s->refined_tail, MPFR_RNDU);
    return s->refine_status;
}

static const tki_oracle oracle = {.box_size = fake_box_size, .enclose = fake_enclose, .refine = fake_refine};

static tk_status judge(script *s, tk_dtype dtype, int64_t rows, int64_t cols, int output, const void *data,
                       int threads, tki_judgement *total)
{
    tk_case c = tk_case_init(&fake, dtype);
    c.dims[0] = rows;
    c.dims[1] = cols;
    c.dims[8] = s->box_rows ? s->box_rows : 1;
    c.dims[9] = s->box_cols ? s->box_cols : 1;
    s->cols = cols;
    tki_oracle_job job = {.c = &c, .output = output, .tables = s};
    return tki_judge(&oracle, &job, data, threads, total);
}

/* Judges one element of that type against one enclosure. */
static tki_judgement judge_one(script *s, tk_dtype dtype, tki_enclosure e, uint32_t got)
{
    tki_judgement total = {0};
    uint16_t half = (uint16_t)got;
    s->elements = &e;
    const void *data = dtype == TK_F32 ? (const void *)&got : (const void *)&half;
    assert_int_equal(judge(s, dtype == TK_F32 ? TK_F16 : dtype, 1, 1, dtype == TK_F32 ? 1 : 0, data, 1, &total),
                     TK_OK);
    s->elements = NULL;
    assert_int_equal(total.elements, 1);
    assert_int_equal(total.judged[e.clause], 1);
    return total;
}

static bool accepts(tk_dtype dtype, tki_enclosure e, uint32_t got)
{
    script s = {0};
    tki_judgement total = judge_one(&s, dtype, e, got);
    assert_int_equal(total.failed[e.clause], !!total.failure.present);
    assert_int_equal(total.undecided, 0);
    return total.failed[e.clause] == 0;
}

static tki_enclosure point(double s, double bound)
{
    return (tki_enclosure){.lo = s, .hi = s, .bound = bound, .admits = TKI_ADMIT_INTERVAL};
}

static const tk_dtype dtypes[] = {TK_F16, TK_BF16, TK_F32};

static uint32_t bits_of(tk_dtype dtype, double value)
{
    return tki_round_double(dtype, value);
}

static uint32_t sign_bit(tk_dtype dtype)
{
    return dtype == TK_F32 ? 0x80000000u : 0x8000u;
}

/* The pattern `steps` places further up the number line; positive numbers only. */
static uint32_t step(uint32_t bits, int steps)
{
    return (uint32_t)((int)bits + steps);
}

TEST(accepts_exactly_from_lo_to_hi)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t one = bits_of(t, 1.5);
        double ulp = tki_ulp(t, 1.5);
        for (int quarters = 0; quarters <= 12; quarters++) {
            /* S = 1.5 and B = 0, 1/4, ... 3 ulp: admissible are the patterns within RN(S +- B), ties going to even. The
             * pattern of 1.5 is even, so a half takes a neighbour in only where that neighbour is even. */
            double bound = quarters * 0.25 * ulp;
            int reach = (int)rint(quarters * 0.25); /* nearest, ties to even */
            for (int steps = -5; steps <= 5; steps++) {
                bool expected = abs(steps) <= reach;
                assert_int_equal(accepts(t, point(1.5, bound), step(one, steps)), expected);
                /* And mirrored. */
                assert_int_equal(accepts(t, point(-1.5, bound), step(one, steps) | sign_bit(t)), expected);
            }
        }
    }
}

/* S - B or S + B exactly at a midpoint: the even neighbour is in, and a hair to either side decides otherwise. */
TEST(ties_go_to_even)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t even = bits_of(t, 1);
        uint32_t odd = step(even, 1);
        double ulp = tki_ulp(t, 1);
        assert_true(accepts(t, point(1 + ulp / 2, 0), even));
        assert_false(accepts(t, point(1 + ulp / 2, 0), odd));
        assert_true(accepts(t, point(1 + 1.5 * ulp, 0), step(odd, 1)));
        assert_false(accepts(t, point(1 + 1.5 * ulp, 0), odd));
        /* Reached from below by the bound, S = 1 + 2 ulp: lo = RN(1 + ulp/2). */
        assert_true(accepts(t, point(1 + 2 * ulp, 1.5 * ulp), even));
        assert_false(accepts(t, point(1 + 2 * ulp, nextafter(1.5 * ulp, 0)), even));
        assert_true(accepts(t, point(1 + 2 * ulp, nextafter(1.5 * ulp, 0)), odd));
        /* A tail that no double holds moves S off the midpoint. */
        script up = {
            .refinable = true, .refined_lo = 1 + ulp / 2, .refined_hi = 1 + ulp / 2, .refined_tail = 0x1p-90};
        tki_enclosure e = {.lo = tki_down(1 + ulp / 2), .hi = tki_up(1 + ulp / 2), .admits = TKI_ADMIT_INTERVAL};
        assert_int_equal(judge_one(&up, t, e, even).failed[0], 1);
        assert_int_equal(judge_one(&up, t, e, odd).failed[0], 0);
        script down = up;
        down.refined_tail = -0x1p-90;
        assert_int_equal(judge_one(&down, t, e, even).failed[0], 0);
        assert_int_equal(judge_one(&down, t, e, odd).failed[0], 1);
    }
}

TEST(zeros_and_subnormals)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        double tiny = tki_decode(t, 1);
        uint32_t minus_zero = sign_bit(t);
        /* -0 equals +0 wherever zero is admissible. */
        for (int sign = -1; sign <= 1; sign++) {
            assert_true(accepts(t, point(sign * tiny / 4, 0), 0));
            assert_true(accepts(t, point(sign * tiny / 4, 0), minus_zero));
        }
        /* Half of the smallest subnormal is a tie, and zero is even. */
        assert_true(accepts(t, point(tiny / 2, 0), 0));
        assert_true(accepts(t, point(tiny / 2, 0), minus_zero));
        assert_false(accepts(t, point(tiny / 2, 0), 1));
        /* Flushing a subnormal is refused. */
        assert_false(accepts(t, point(tiny, 0), 0));
        assert_false(accepts(t, point(tki_decode(t, 3), tiny), 0));
        assert_true(accepts(t, point(tki_decode(t, 3), tiny), 2));
        /* An interval around zero takes both signs. */
        assert_true(accepts(t, point(0, tiny), 1));
        assert_true(accepts(t, point(0, tiny), minus_zero | 1));
        assert_false(accepts(t, point(0, tiny), 2));
        assert_false(accepts(t, point(0, tiny), minus_zero | 2));
    }
}

TEST(infinities_are_ordered)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        uint32_t largest = infinity - 1;
        double max = tki_decode(t, largest);
        double half_ulp = tki_ulp(t, max) /
                          2; /* infinity begins at max + half_ulp, a tie that goes away from the odd max */
        assert_true(accepts(t, point(max, 0), largest));
        assert_false(accepts(t, point(max, 0), infinity));
        assert_true(accepts(t, point(max + half_ulp, 0), infinity));
        assert_false(accepts(t, point(max + half_ulp, 0), largest)); /* saturating is refused */
        assert_true(accepts(t, point(max + half_ulp * (1 - 0x1p-20), 0), largest));
        assert_false(accepts(t, point(max + half_ulp * (1 - 0x1p-20), 0), infinity));
        /* A bound that reaches over the edge admits both, on its own side only. */
        assert_true(accepts(t, point(max, half_ulp), infinity));
        assert_true(accepts(t, point(max, half_ulp), largest));
        assert_false(accepts(t, point(max, half_ulp), infinity | sign_bit(t)));
        assert_true(accepts(t, point(-max, half_ulp), infinity | sign_bit(t)));
        assert_true(accepts(t, point(max * 4, 0), infinity));
        assert_false(accepts(t, point(max * 4, 0), largest));
        assert_false(accepts(t, point(max * 4, 0), infinity | sign_bit(t)));
        /* An unbounded bound admits every number. */
        assert_true(accepts(t, point(1, INFINITY), infinity | sign_bit(t)));
        assert_true(accepts(t, point(1, INFINITY), 0));
        assert_false(accepts(t, point(1, INFINITY), infinity | 1));
    }
}

/* Every NaN, with every combination of flags: accepted iff NaN is admitted, or BITS expects one, or RAW_BITS this one. */
TEST(nan_is_accepted_only_if_admitted)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        const uint32_t nans[] = {infinity | 1, tki_canonical_nan(t), infinity | 1 | sign_bit(t)};
        for (int n = 0; n < 3; n++)
            for (unsigned flags = 0; flags < 128; flags++)
                for (int expected_nan = 0; expected_nan < 2; expected_nan++) {
                    tki_enclosure e = {.lo = 1, .hi = 1, .bound = INFINITY, .admits = (uint8_t)flags, .clause = 1};
                    e.bits = expected_nan ? nans[1] : bits_of(t, 1);
                    bool expected = (flags & TKI_ADMIT_NAN) || ((flags & TKI_ADMIT_BITS) && expected_nan) ||
                                    ((flags & TKI_ADMIT_RAW_BITS) && nans[n] == e.bits);
                    assert_int_equal(accepts(t, e, nans[n]), expected);
                }
    }
}

TEST(each_flag_admits_its_own)
{
    static const unsigned flags[] = {TKI_ADMIT_NAN, TKI_ADMIT_PLUS_INF, TKI_ADMIT_MINUS_INF, TKI_ADMIT_ZERO};
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        const uint32_t outputs[] = {infinity | 5,  infinity,    infinity | sign_bit(t), 0, sign_bit(t),
                                    bits_of(t, 1), infinity - 1};
        static const unsigned admitted_by[] = {
            TKI_ADMIT_NAN, TKI_ADMIT_PLUS_INF, TKI_ADMIT_MINUS_INF, TKI_ADMIT_ZERO, TKI_ADMIT_ZERO, 0, 0};
        for (int o = 0; o < 7; o++) {
            for (int f = 0; f < 4; f++)
                assert_int_equal(accepts(t, (tki_enclosure){.admits = (uint8_t)flags[f], .clause = 2}, outputs[o]),
                                 flags[f] == admitted_by[o]);
            /* No flag admits nothing; all of them together what any of them does. */
            assert_false(accepts(t, (tki_enclosure){.clause = 2}, outputs[o]));
            assert_int_equal(accepts(t, (tki_enclosure){.admits = 2 | 4 | 8 | 16, .clause = 2}, outputs[o]),
                             admitted_by[o] != 0);
            /* Beside an interval, the flag still works and so does the interval. */
            tki_enclosure both = point(1, 0);
            both.admits |= TKI_ADMIT_NAN | TKI_ADMIT_MINUS_INF;
            bool expected = outputs[o] == bits_of(t, 1) || admitted_by[o] == TKI_ADMIT_NAN ||
                            admitted_by[o] == TKI_ADMIT_MINUS_INF;
            assert_int_equal(accepts(t, both, outputs[o]), expected);
        }
    }
}

TEST(bits_and_raw_bits)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        tki_enclosure e = {.admits = TKI_ADMIT_BITS, .bits = 0, .clause = 1};
        assert_true(accepts(t, e, 0));
        assert_false(accepts(t, e, sign_bit(t))); /* -0 is another pattern */
        e.bits = infinity | 1;
        assert_true(accepts(t, e, infinity | 1));
        assert_true(accepts(t, e, tki_canonical_nan(t))); /* all NaNs are equal */
        assert_false(accepts(t, e, infinity));
        e.admits = TKI_ADMIT_RAW_BITS;
        assert_true(accepts(t, e, infinity | 1));
        assert_false(accepts(t, e, tki_canonical_nan(t)));
        assert_false(accepts(t, e, infinity | 1 | sign_bit(t)));
        e.bits = bits_of(t, 1);
        assert_true(accepts(t, e, bits_of(t, 1)));
        assert_false(accepts(t, e, step(bits_of(t, 1), 1)));
    }
}

TEST(refines_only_where_it_must)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t one = bits_of(t, 1);
        double ulp = tki_ulp(t, 1);
        /* Decided by doubles: the rounding of S, plainly inside the bound, plainly outside of it, NaN. */
        script s = {0};
        assert_int_equal(judge_one(&s, t, point(1 + ulp / 8, 0), one).refined, 0);
        assert_int_equal(judge_one(&s, t, point(1 + ulp / 8, 2 * ulp), step(one, 1)).refined, 0);
        assert_int_equal(judge_one(&s, t, point(1 + ulp / 8, 2 * ulp), step(one, 7)).refined, 0);
        assert_int_equal(judge_one(&s, t, point(1 + ulp / 2, 0), bits_of(t, INFINITY) | 1).refined, 0);
        assert_int_equal(s.refine_calls, 0);
        /* An enclosure that leaves it open: one call at the first precision, if that decides. */
        tki_enclosure wide = {.lo = 1, .hi = 1 + ulp, .admits = TKI_ADMIT_INTERVAL};
        script decided = {.refinable = true, .refined_lo = 1 + 0.75 * ulp, .refined_hi = 1 + 0.75 * ulp};
        tki_judgement total = judge_one(&decided, t, wide, one);
        assert_int_equal(decided.refine_calls, 1);
        assert_int_equal(decided.last_precision, 128);
        assert_int_equal(total.refined, 1);
        assert_int_equal(total.undecided, 0);
        assert_int_equal(total.failed[0], 1);
        assert_true(total.failure.exact == 1 + 0.75 * ulp);
        total = judge_one(&decided, t, wide, step(one, 1));
        assert_int_equal(total.failed[0], 0);
        assert_int_equal(total.refined, 1);
    }
}

/* What stays open at the oracle's limit is accepted and counted. */
TEST(undecided_is_accepted_and_counted)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t one = bits_of(t, 1);
        double ulp = tki_ulp(t, 1);
        tki_enclosure wide = {.lo = 1 + 0.4 * ulp, .hi = 1 + 0.6 * ulp, .admits = TKI_ADMIT_INTERVAL};
        for (int steps = 0; steps <= 1; steps++) {
            script s = {0};
            tki_judgement total = judge_one(&s, t, wide, step(one, steps));
            assert_int_equal(total.undecided, 1);
            assert_int_equal(total.refined, 1);
            assert_int_equal(total.failed[0], 0);
            assert_false(total.failure.present);
            assert_true(total.worst.present);
            assert_int_equal(s.refine_calls, 5);
            assert_int_equal(s.last_precision, 2048);
        }
        /* Outside of what the enclosure leaves open nothing is. */
        script s = {0};
        assert_int_equal(judge_one(&s, t, wide, step(one, 2)).failed[0], 1);
        assert_int_equal(s.refine_calls, 0);
    }
}

TEST(undefined_is_counted)
{
    script s = {0};
    tki_enclosure e = {.admits = TKI_UNDEFINED | TKI_ADMIT_INTERVAL, .lo = 1, .hi = 1};
    for (int d = 0; d < 3; d++) {
        tki_judgement total = judge_one(&s, dtypes[d], e, bits_of(dtypes[d], 5));
        assert_int_equal(total.undefined, 1);
        assert_int_equal(total.failed[0], 0);
        assert_false(total.worst.present);
    }
    assert_int_equal(s.refine_calls, 0);
}

/* A bound that is not a number is a defect of the oracle and must not let anything pass. */
TEST(a_bound_that_is_no_number_is_an_error)
{
    uint16_t got = 0x4000;
    tki_enclosure e = point(1, NAN);
    script s = {.elements = &e};
    tki_judgement total = {0};
    assert_int_equal(judge(&s, TK_F16, 1, 1, 0, &got, 1, &total), TK_INTERNAL);
}

TEST(failures_of_the_oracle_come_out)
{
    uint16_t got = 0x3c00;
    tki_enclosure e = {.lo = 1, .hi = 1.01, .admits = TKI_ADMIT_INTERVAL};
    tki_judgement total = {0};
    script s = {.elements = &e, .enclose_status = TK_NO_MEMORY};
    assert_int_equal(judge(&s, TK_F16, 1, 1, 0, &got, 1, &total), TK_NO_MEMORY);
    s = (script){.elements = &e, .refine_status = TK_INTERNAL};
    assert_int_equal(judge(&s, TK_F16, 1, 1, 0, &got, 1, &total), TK_INTERNAL);
    assert_int_equal(total.elements, 0);
    /* No elements: the oracle is not asked. */
    s = (script){.enclose_status = TK_INTERNAL};
    assert_int_equal(judge(&s, TK_F16, 0, 5, 0, &got, 1, &total), TK_OK);
    assert_int_equal(judge(&s, TK_F16, 5, 0, 0, &got, 1, &total), TK_OK);
}

/* The figures of one element. */
TEST(figures)
{
    script s = {0};
    tki_judgement total = judge_one(&s, TK_F16, point(1, 4 * 0x1p-10), 0x3c03);
    assert_true(total.worst.present && !total.failure.present);
    assert_true(total.worst.ulps == 3);
    assert_int_equal(total.histogram[3], 1); /* up to 4 ulp */
    assert_true(total.absolute_error == 3 * 0x1p-10);
    assert_true(total.bound_used == 2.5 / 4); /* the nearest number that rounds to it is 2.5 ulp away */
    assert_int_equal(total.worst.got, 0x3c03);
    assert_int_equal(total.worst.hi_bits, 0x3c04);
    assert_true(tki_decode(TK_F16, total.worst.lo_bits) == 1 - 4 * 0x1p-10);
    total = judge_one(&s, TK_F16, point(1, 0), 0x7c00);
    assert_true(isinf(total.failure.ulps));
    assert_int_equal(total.histogram[TKI_ULP_BINS - 1], 1);
    total = judge_one(&s, TK_F16, point(1, 0), 0x3c01);
    assert_true(total.failure.present && isinf(total.failure.bound_used));
    assert_true(total.bound_used == 0); /* a refused element uses nothing */
    total = judge_one(&s, TK_F16, point(1 + 0x1p-12, 0), 0x3c00);
    assert_true(total.absolute_error == 0x1p-12 && !total.worst.present);
}

static void assert_counted(const tki_judgement *total, int magnitude, int64_t elements, double ulps,
                           double bound_used)
{
    const tki_magnitude *at = &total->magnitudes[magnitude];
    if (at->elements != elements || at->ulps != ulps || at->bound_used != bound_used)
        fail_msg("magnitude %d: %lld elements, %g ulp, %g of the bound", magnitude, (long long)at->elements, at->ulps,
                 at->bound_used);
}

/* Every element counts once, at the binade of RN(S), whichever way it was decided and whatever the output is. */
TEST(counted_by_magnitude)
{
    const tki_enclosure bits = {.admits = TKI_ADMIT_BITS, .bits = 0xd000}; /* -32 */
    const tki_enclosure nan = {.admits = TKI_ADMIT_NAN, .clause = 1}, zero = {.admits = TKI_ADMIT_ZERO};
    const tki_enclosure expected[] = {
        point(1, 0), point(1.5, 0), point(-1, 0), point(0x1p-20, 0),    point(0, 0),   nan,          nan,
        bits,        bits,          zero,         point(4, 8 * 0x1p-8), point(4, 0.5), point(1e9, 0)};
    const uint16_t got[] = {0x3c00, 0x3e00, 0xbc00, 0x0010, 0x8000, 0x7e01, 0x3c00,
                            0xd000, 0x5000, 0x3c00, 0x4402, 0x7c00, 0x7c00};
    enum { COUNT = sizeof got / sizeof *got };
    script s = {.elements = expected, .box_cols = 5, .box_rows = 1};
    const int one = TKI_MAGNITUDE_POSITIVE - TKI_BINADE_LEAST;
    for (int threads = 1; threads <= 2; threads++) {
        tki_judgement total = {0};
        int64_t elements = 0;
        assert_int_equal(judge(&s, TK_F16, 1, COUNT, 0, got, threads, &total), TK_OK);
        assert_counted(&total, one, 3, 0, 0);
        assert_counted(&total, one + 2, 2, INFINITY, (65520 - 4) / 0.5); /* 2 ulp off, and infinite, from 65520 on */
        assert_counted(&total, one + 5, 2, INFINITY, 0);
        assert_counted(&total, TKI_MAGNITUDE_SUBNORMAL, 3, INFINITY, 0);
        assert_counted(&total, TKI_MAGNITUDE_OTHER, 3, INFINITY, 0); /* beyond the largest is infinity */
        for (int i = 0; i < TKI_MAGNITUDES; i++)
            elements += total.magnitudes[i].elements;
        for (int i = 0; i < TKI_ULP_BINS; i++)
            elements -= total.histogram[i];
        assert_int_equal(elements, 0);
        assert_int_equal(total.histogram[0], 8);
    }
    /* A wider output has its own binades. */
    script wide = {0};
    tki_judgement total = judge_one(&wide, TK_F32, point(0x1p-100, 0), (uint32_t)(127 - 100) << 23);
    assert_counted(&total, one - 100, 1, 0, 0);
}

/* What is accepted but is not RN(S): the distance counts where an ulp says something, and is counted by its place elsewhere. */
TEST(accepted_by_place)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        script s = {0};
        double ulp = tki_ulp(t, 1);
        double max = tki_decode(t, bits_of(t, INFINITY) - 1);
        tki_judgement total = judge_one(&s, t, point(1, 4 * ulp), step(bits_of(t, 1), 3));
        assert_true(total.accepted_ulps == 3);
        assert_true(total.near_zero == 0 && total.at_overflow == 0);
        assert_int_equal(tki_place_of(&total.worst), TKI_ORDINARY);
        /* |S| = B belongs to zero, a hair less of B does not. */
        const double bounds[] = {1, nextafter(1, 0)};
        for (int k = 0; k < 2; k++) {
            total = judge_one(&s, t, point(1, bounds[k]), bits_of(t, 0.5));
            assert_int_equal(total.near_zero, k == 0);
            assert_true(total.accepted_ulps == (k == 0 ? 0 : 0.5 / ulp));
            assert_true(total.worst.ulps == 0.5 / ulp);
            assert_int_equal(tki_place_of(&total.worst), k == 0 ? TKI_NEAR_ZERO : TKI_ORDINARY);
        }
        total = judge_one(&s, t, point(tki_decode(t, 1), 0.25), bits_of(t, 0.25));
        assert_true(total.near_zero == 1 && total.accepted_ulps == 0 && total.worst.ulps > 1e6);
        /* Infinite against finite, both ways. */
        total = judge_one(&s, t, point(max, tki_ulp(t, max)), bits_of(t, INFINITY));
        assert_true(total.at_overflow == 1 && total.accepted_ulps == 0 && isinf(total.worst.ulps));
        total = judge_one(&s, t, point(max + tki_ulp(t, max), tki_ulp(t, max)), bits_of(t, max));
        assert_true(total.at_overflow == 1 && total.near_zero == 0 && isinf(total.worst.ulps));
        assert_int_equal(tki_place_of(&total.worst), TKI_AT_OVERFLOW);
        /* RN(S) itself, refused ones and what a flag admits are of no place. */
        total = judge_one(&s, t, point(1, 1), bits_of(t, 1));
        assert_true(total.near_zero == 0 && total.accepted_ulps == 0);
        total = judge_one(&s, t, point(0, ulp), bits_of(t, 1));
        assert_true(total.near_zero == 0 && total.accepted_ulps == 0 && total.failure.present);
        total = judge_one(&s, t, (tki_enclosure){.admits = TKI_ADMIT_PLUS_INF}, bits_of(t, INFINITY));
        assert_true(total.at_overflow == 0 && total.accepted_ulps == 0);
    }
}

/* One refused element: how far outside, is it gross? */
static void assert_outside(tk_dtype t, tki_enclosure e, uint32_t got, double outside, bool gross)
{
    script s = {0};
    tki_judgement total = judge_one(&s, t, e, got);
    const tki_refused *refused = &total.refused[e.clause];
    assert_int_equal(total.failed[e.clause], 1);
    assert_true(total.failure.outside == outside);
    assert_true(refused->worst == outside);
    assert_int_equal(refused->gross, gross);
    int64_t in_histogram = 0;
    for (int i = 0; i < TKI_ULP_BINS; i++)
        in_histogram += refused->histogram[i];
    assert_int_equal(in_histogram, 1);
}

TEST(refused_by_distance)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        double max = tki_decode(t, infinity - 1);
        double ulp = tki_ulp(t, 1);
        double bits = 1 / ulp; /* ulps that 1 has */
        /* From the nearer end of the interval, not from S. */
        for (int steps = 1; steps <= 3; steps++) {
            assert_outside(t, point(1.5, 2 * ulp), step(bits_of(t, 1.5), 2 + steps), steps, false);
            assert_outside(t, point(-1.5, 2 * ulp), step(bits_of(t, 1.5), 2 + steps) | sign_bit(t), steps, false);
            assert_outside(t, point(1.5, 2 * ulp), step(bits_of(t, 1.5), -2 - steps), steps, false);
        }
        /* Gross begins where more than a sixteenth is wrong. */
        assert_outside(t, point(1, 0), bits_of(t, 1.0625), bits / 16, false);
        assert_outside(t, point(1, 0), step(bits_of(t, 1.0625), 1), bits / 16 + 1, true);
        assert_outside(t, point(1, 0), bits_of(t, 0), bits, true);
        assert_outside(t, point(1, 0), bits_of(t, 1) | sign_bit(t), 2 * bits, true);
        /* Among subnormal numbers two steps are most of the value, and slight all the same. */
        assert_outside(t, point(tki_decode(t, 1), 0), 3, 2, false);
        assert_outside(t, point(0, 0), 2, 2, false);
        assert_outside(t, point(0, 0), 3, 3, true);
        /* Infinity counts as the next number, from either side; beyond it the exact value tells. */
        assert_outside(t, point(max, 0), infinity, 1, false);
        assert_outside(t, point(max + tki_ulp(t, max), 0), infinity - 1, 1, false);
        assert_outside(t, point(-max, 0), infinity | sign_bit(t), 1, false);
        assert_outside(t, point(4 * max, 0), infinity - 1, 3 * max / tki_ulp(t, max), true);
        assert_outside(t, point(1, 0), infinity, (max + tki_ulp(t, max) - 1) / ulp, true);
        /* NaN, and places where no number is right, have no distance. */
        assert_outside(t, point(1, 0), infinity | 1, INFINITY, true);
        tki_enclosure special = {.admits = TKI_ADMIT_NAN, .clause = 1};
        assert_outside(t, special, bits_of(t, 1), INFINITY, true);
        special.admits = TKI_ADMIT_PLUS_INF;
        assert_outside(t, special, infinity - 1, INFINITY, true);
        script s = {0};
        assert_int_equal(judge_one(&s, t, special, infinity - 1).refused[1].special, 1);
        assert_int_equal(judge_one(&s, t, special, infinity | 1).refused[1].special, 0);
        assert_int_equal(judge_one(&s, t, special, infinity | 1).refused[1].nan, 1);
        assert_int_equal(judge_one(&s, t, point(1, 0), infinity | 1).refused[0].nan, 1);
        /* Zero and given bits are numbers. */
        special.admits = TKI_ADMIT_ZERO | TKI_ADMIT_NAN;
        assert_outside(t, special, 3, 3, true);
        tki_enclosure exact = {.admits = TKI_ADMIT_RAW_BITS, .bits = bits_of(t, 1), .clause = 2};
        assert_outside(t, exact, step(bits_of(t, 1), 1), 1, false);
        exact.bits = 0;
        assert_outside(t, exact, sign_bit(t), 0, false); /* another pattern of the same value */
        exact.bits = infinity | 1;
        assert_outside(t, exact, bits_of(t, 1), INFINITY, true);
    }
}

static void assert_described(tki_enclosure e, uint16_t got, const char *expected)
{
    script s = {0};
    char text[512];
    tki_judgement total = judge_one(&s, TK_F16, e, got);
    assert_true(total.failure.present);
    tk_case c = tk_case_init(&fake, TK_F16);
    tki_element_describe(&c, &total.failure, text, sizeof text);
    assert_string_equal(text, expected);
}

TEST(refused_in_words)
{
    assert_described(point(1, 0), 0x3c02,
                     "y[0] is 0x3c02 = 1.00195312; the exact value is 1 and [1, 1] is admissible; "
                     "2 ulp outside");
    assert_described(point(1, 0), 0x7e00, "y[0] is 0x7e00 = nan; the exact value is 1 and [1, 1] is admissible");
    tki_enclosure e = {.admits = TKI_ADMIT_NAN, .clause = 1};
    assert_described(e, 0x3c00, "y[0] is 0x3c00 = 1; only NaN is admissible: special values keep their meaning");
    e.admits = TKI_ADMIT_NAN | TKI_ADMIT_ZERO;
    assert_described(e, 0x7c00,
                     "y[0] is 0x7c00 = inf; only NaN or 0 is admissible: special values keep their meaning; "
                     "1.1e+12 ulp outside");
    e = (tki_enclosure){.admits = TKI_ADMIT_BITS, .bits = 0x3c01, .clause = 1};
    assert_described(e, 0x3c00,
                     "y[0] is 0x3c00 = 1; only 0x3c01 is admissible: special values keep their meaning; "
                     "1 ulp outside");
}

/* Rows that should sum to one. */
TEST(row_sums)
{
    tki_enclosure e[6];
    for (int i = 0; i < 6; i++)
        e[i] = (tki_enclosure){.admits = TKI_ADMIT_NAN, .lo = 0, .hi = 0};
    const uint16_t data[6] = {0x3800, 0x3800, 0x0000, 0x3800, 0x3400, 0x3a00}; /* 1/2 1/2 0, 1/2 1/4 3/4 */
    for (int box = 1; box <= 3; box++) {
        script s = {.elements = e, .box_rows = box, .box_cols = box};
        tki_judgement total = {0};
        assert_int_equal(judge(&s, TK_F16, 2, 3, 2, data, 2, &total), TK_OK);
        assert_true(total.row_sum_error == 0.5);
        total = (tki_judgement){0};
        assert_int_equal(judge(&s, TK_F16, 2, 3, 0, data, 2, &total), TK_OK);
        assert_true(total.row_sum_error == 0);
    }
}

/* A random scene of good, bad, special, undefined and undecided elements. */
enum { ROWS = 61, COLS = 83 };

static void draw_scene(tk_dtype t, int number, tki_enclosure *e, uint32_t *got)
{
    tki_random random = tki_random_stream(99, (uint64_t)t + 100 * (uint64_t)number);
    uint32_t infinity = bits_of(t, INFINITY);
    for (int i = 0; i < ROWS * COLS; i++) {
        double value = tki_random_normal(&random);
        double ulp = tki_ulp(t, value);
        e[i] = point(value, 3 * ulp * tki_random_unit(&random));
        got[i] = bits_of(t, value + ulp * 4 * (tki_random_unit(&random) - 0.5));
        e[i].clause = (uint8_t)(i % 3);
        switch (tki_random_below(&random, 40)) {
        case 0: e[i].admits = TKI_UNDEFINED; break;
        case 1: e[i].admits = TKI_ADMIT_NAN; break;
        case 2: got[i] = infinity | 1; break;
        case 3: got[i] = infinity; break;
        case 4:
            e[i].lo -= ulp;
            e[i].hi += ulp;
            break;
        case 5: /* the same worst error at many places: the first one counts */
            e[i] = point(1, 0);
            got[i] = bits_of(t, 1) + 5000;
            break;
        default: break;
        }
        /* The first failure is far right in the first row, so that boxes meet others before it. */
        if (i < 60) {
            e[i] = point(value, 0);
            got[i] = bits_of(t, value);
        }
    }
}

static void assert_same_element(const tki_element *a, const tki_element *b)
{
    assert_int_equal(a->present, b->present);
    assert_int_equal(a->output, b->output);
    assert_int_equal(a->clause, b->clause);
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->got, b->got);
    assert_int_equal(a->lo_bits, b->lo_bits);
    assert_int_equal(a->hi_bits, b->hi_bits);
    assert_int_equal(a->interval, b->interval);
    assert_int_equal(a->admits, b->admits);
    assert_true(a->exact == b->exact && a->ulps == b->ulps && a->bound == b->bound && a->bound_used == b->bound_used);
}

static void assert_same_judgement(const tki_judgement *a, const tki_judgement *b)
{
    assert_int_equal(a->elements, b->elements);
    assert_memory_equal(a->judged, b->judged, sizeof a->judged);
    assert_memory_equal(a->failed, b->failed, sizeof a->failed);
    assert_memory_equal(a->refused, b->refused, sizeof a->refused);
    assert_int_equal(a->near_zero, b->near_zero);
    assert_int_equal(a->at_overflow, b->at_overflow);
    assert_true(a->accepted_ulps == b->accepted_ulps);
    assert_memory_equal(a->histogram, b->histogram, sizeof a->histogram);
    assert_int_equal(a->refined, b->refined);
    assert_int_equal(a->undecided, b->undecided);
    assert_int_equal(a->undefined, b->undefined);
    assert_true(a->bound_used == b->bound_used && a->absolute_error == b->absolute_error &&
                a->row_sum_error == b->row_sum_error);
    assert_same_element(&a->worst, &b->worst);
    assert_same_element(&a->failure, &b->failure);
}

TEST(same_for_every_number_of_threads_and_box)
{
    static tki_enclosure e[ROWS * COLS];
    static uint32_t got[ROWS * COLS];
    static uint16_t halves[ROWS * COLS];
    static const int64_t boxes[][2] = {{1, 1}, {1, COLS}, {7, 5}, {ROWS, COLS}, {100, 100}, {2, 40}};
    for (int drawn = 0; drawn < effort_from(3); drawn++) {
        const int d = drawn % 3;
        draw_scene(dtypes[d], drawn / 3, e, got);
        for (int i = 0; i < ROWS * COLS; i++)
            halves[i] = (uint16_t)got[i];
        const void *data = dtypes[d] == TK_F32 ? (const void *)got : (const void *)halves;
        tki_judgement first = {0};
        for (int threads = 1; threads <= 5; threads++)
            for (int b = 0; b < 6; b++) {
                script s = {.elements = e, .box_rows = boxes[b][0], .box_cols = boxes[b][1]};
                tki_judgement total = {0};
                tk_dtype dtype = dtypes[d] == TK_F32 ? TK_F16 : dtypes[d];
                assert_int_equal(judge(&s, dtype, ROWS, COLS, dtypes[d] == TK_F32, data, threads, &total), TK_OK);
                int64_t in_histogram = total.undefined;
                int64_t judged = 0;
                for (int i = 0; i < TK_MAX_CLAUSES; i++) {
                    int64_t refused = 0;
                    for (int k = 0; k < TKI_ULP_BINS; k++)
                        refused += total.refused[i].histogram[k];
                    assert_int_equal(refused, total.failed[i]);
                }
                for (int i = 0; i < TKI_ULP_BINS; i++)
                    in_histogram += total.histogram[i];
                for (int i = 0; i < TK_MAX_CLAUSES; i++)
                    judged += total.judged[i];
                assert_int_equal(total.elements, ROWS * COLS);
                assert_int_equal(in_histogram, total.elements);
                assert_int_equal(judged, total.elements);
                assert_true(total.undefined > 0 && total.undecided > 0 && total.failure.present &&
                            total.worst.present);
                if (threads == 1 && b == 0)
                    first = total;
                assert_same_judgement(&total, &first);
            }
        /* The first failure is the first. */
        for (int64_t i = 0; i < first.failure.index; i++) {
            script s = {0};
            tki_judgement alone = judge_one(&s, dtypes[d], e[i], got[i]);
            assert_int_equal(alone.failed[0] + alone.failed[1] + alone.failed[2], 0);
        }
    }
}

/* A second output adds to the figures and replaces neither an earlier failure nor an equally bad worst element. */
TEST(outputs_add_up)
{
    tki_enclosure e[2] = {point(1, 0), point(1, 0)};
    uint16_t data[2] = {0x3c00, 0x3c02};
    script s = {.elements = e};
    tki_judgement total = {0};
    assert_int_equal(judge(&s, TK_F16, 1, 2, 0, data, 1, &total), TK_OK);
    assert_int_equal(total.failure.index, 1);
    uint16_t other[2] = {0x3c02, 0x3c01};
    assert_int_equal(judge(&s, TK_F16, 1, 2, 2, other, 1, &total), TK_OK);
    assert_int_equal(total.elements, 4);
    assert_int_equal(total.failed[0], 3);
    assert_int_equal(total.failure.output, 0);
    assert_int_equal(total.failure.index, 1);
    assert_int_equal(total.worst.output, 0);
    other[1] = 0x3c09;
    assert_int_equal(judge(&s, TK_F16, 1, 2, 2, other, 1, &total), TK_OK);
    assert_int_equal(total.worst.output, 2);
    assert_true(total.worst.ulps == 9);
    assert_int_equal(total.failure.output, 0);
}

/* What is not judged in time adds nothing, whichever element it is. */
TEST(no_later_than_the_deadline)
{
    tki_enclosure e[2] = {point(1, 0), point(1, 0)};
    const uint16_t data[2] = {0x3c00, 0x3c02};
    script s = {.elements = e, .cols = 2};
    tk_case c = tk_case_init(&fake, TK_F16);
    c.dims[0] = c.dims[8] = c.dims[9] = 1;
    c.dims[1] = 2;
    tki_oracle_job job = {.c = &c, .tables = &s, .deadline = 1e-9};
    tki_judgement total = {.elements = 7}, before = total;
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(tki_judge(&oracle, &job, data, threads, &total), TK_TIMEOUT);
        assert_memory_equal(&total, &before, sizeof total);
    }
    job.deadline = tki_now() + 3600;
    assert_int_equal(tki_judge(&oracle, &job, data, 2, &total), TK_OK);
    assert_int_equal(total.elements, 9);
    assert_int_equal(total.failure.index, 1);
}

TEST(outputs_seen_as_matrices)
{
    int64_t rows;
    int64_t cols;
    tk_case c = tk_case_init(&fake, TK_F16);
    c.dims[0] = 3;
    c.dims[1] = 5;
    tki_output_matrix(&c, 0, &rows, &cols);
    assert_true(rows == 3 && cols == 5);
    const tk_contract vector = {.dim_count = 1, .params = (const tk_param[]){{.rank = 1, .dim = (const int[]){0}}}};
    const tk_contract column = {.dim_count = 2, .params = (const tk_param[]){{.rank = 1, .dim = (const int[]){0}}}};
    c.contract = &vector;
    tki_output_matrix(&c, 0, &rows, &cols);
    assert_true(rows == 1 && cols == 3);
    c.contract = &column;
    tki_output_matrix(&c, 0, &rows, &cols);
    assert_true(rows == 3 && cols == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_exactly_from_lo_to_hi),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(zeros_and_subnormals),
        cmocka_unit_test(infinities_are_ordered),
        cmocka_unit_test(nan_is_accepted_only_if_admitted),
        cmocka_unit_test(each_flag_admits_its_own),
        cmocka_unit_test(bits_and_raw_bits),
        cmocka_unit_test(refines_only_where_it_must),
        cmocka_unit_test(undecided_is_accepted_and_counted),
        cmocka_unit_test(undefined_is_counted),
        cmocka_unit_test(a_bound_that_is_no_number_is_an_error),
        cmocka_unit_test(failures_of_the_oracle_come_out),
        cmocka_unit_test(figures),
        cmocka_unit_test(counted_by_magnitude),
        cmocka_unit_test(accepted_by_place),
        cmocka_unit_test(refused_by_distance),
        cmocka_unit_test(refused_in_words),
        cmocka_unit_test(row_sums),
        cmocka_unit_test(same_for_every_number_of_threads_and_box),
        cmocka_unit_test(outputs_add_up),
        cmocka_unit_test(no_later_than_the_deadline),
        cmocka_unit_test(outputs_seen_as_matrices),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
