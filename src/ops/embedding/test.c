/* embedding: one test per clause, the oracle against MPFR, the order of summation, laws, bad arguments, mutants. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <mpfr.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "judge/trial.h"
#include "ops/embedding/contract.h"
#include "runtime/kernel_runner.h"
#include "tests/op_test.h"
#include "tokitai.h"
#include "trials/families.h"
#include "trials/levels.h"

extern const tki_oracle tki_embedding_fwd_oracle;
extern const tki_oracle tki_embedding_bwd_oracle;

enum { SEED = 20261115 };

static const tk_dtype dtypes[] = {TK_F16, TK_BF16};
/* Those of embedding_bwd; the first three are embedding_fwd's. */
enum { TYPES = 5, FWD_TYPES = 3 };
static const tk_types types[TYPES] = {
    {TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32}, {TK_F16, TK_F32}, {TK_BF16, TK_F32}};
static const tk_dtype index_dtypes[] = {TK_I32, TK_I64};

static uint16_t bits_of(tk_dtype dtype, double value)
{
    return (uint16_t)tki_round_double(dtype, value);
}

static void *allocated(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

static tk_case case_of(const char *op, tk_types of, tk_dtype index_dtype, const int64_t *dims)
{
    tk_case c = tk_case_init(tk_contract_find(op), of.dtype);
    c.result_dtype = of.result_dtype;
    c.index_dtype = index_dtype;
    memcpy(c.dims, dims, 3 * sizeof *dims);
    return c;
}

/* index[i] = value in either type. */
static void put_index(tk_dtype index_dtype, void *index, int64_t i, int64_t value)
{
    if (index_dtype == TK_I64)
        ((int64_t *)index)[i] = value;
    else
        ((int32_t *)index)[i] = (int32_t)value;
}

/* The gradient of a table of one row and one column: the sum of the hits. */
static uint16_t sum_of(tk_dtype dtype, const uint16_t *hits, int64_t count)
{
    tk_ctx *ctx = new_context();
    int32_t *index = calloc((size_t)count + 1, sizeof *index);
    assert_non_null(index);
    uint16_t sum = 0x5555;
    assert_ok(ctx, tk_embedding_bwd(ctx, dtype, TK_I32, count, 1, 1, hits, index, &sum));
    free(index);
    tk_ctx_destroy(ctx);
    return sum;
}

#define SUM_OF(dtype, ...) \
    sum_of(dtype, (const uint16_t[]){__VA_ARGS__}, (int64_t)(sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t)))

/* -- Values ------------------------------------------------------------------------------------------------ */

/* EMBEDDING_FWD.EXACT: signalling and quiet NaNs with payloads, both zeros, infinities and subnormals arrive as
 * they are. */
TEST_WITH_CONTEXT(rows_are_copied_bit_for_bit)
{
    const uint16_t weight[4][3] = {
        {0x7c01, 0xfe55, 0x8000}, {0x0001, 0x83ff, 0x7c00}, {0xff81, 0x7fc1, 0xffff}, {0x3c00, 0x0000, 0xfc00}};
    const uint16_t expected[5][3] = {{0xff81, 0x7fc1, 0xffff},
                                     {0x7c01, 0xfe55, 0x8000},
                                     {0x3c00, 0x0000, 0xfc00},
                                     {0x0001, 0x83ff, 0x7c00},
                                     {0xff81, 0x7fc1, 0xffff}};
    const int32_t narrow[5] = {2, 0, 3, 1, 2};
    const int64_t wide[5] = {2, 0, 3, 1, 2};
    for (int d = 0; d < 2; d++)
        for (int w = 0; w < 2; w++) {
            uint16_t out[5][3];
            memset(out, 0xa5, sizeof out);
            assert_ok(ctx, tk_embedding_fwd(ctx, dtypes[d], index_dtypes[w], 5, 3, 4, w ? (const void *)wide : narrow,
                                            weight, out));
            assert_memory_equal(out, expected, sizeof out);
        }
}

/* The same of fp32 patterns. */
TEST_WITH_CONTEXT(fp32_rows_are_copied_bit_for_bit)
{
    const uint32_t weight[3][2] = {{0x7f800001, 0xffc12345}, {0x80000000, 0x00000001}, {0x007fffff, 0xff800000}};
    const int32_t index[4] = {2, 0, 1, 0};
    uint32_t out[4][2];
    assert_ok(ctx, tk_embedding_fwd(ctx, TK_F32, TK_I32, 4, 2, 3, index, weight, out));
    for (int i = 0; i < 4; i++)
        assert_memory_equal(out[i], weight[index[i]], sizeof out[i]);
}

/* The gradient of a table of one row and one column, as fp32. */
static float wide_sum_of(tk_dtype dtype, const double *hits, int64_t count)
{
    tk_case c = case_of("embedding_bwd", (tk_types){dtype, TK_F32}, TK_I32, (const int64_t[]){count, 1, 1});
    uint32_t grad[8];
    int32_t index[8] = {0};
    float sum = -1;
    assert_in_range(count, 0, 8);
    for (int64_t i = 0; i < count; i++)
        tki_put_bits(dtype, grad, i, tki_round_double(dtype, hits[i]));
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tk_run(ctx, &c, (void *[]){grad, index, &sum}));
    tk_ctx_destroy(ctx);
    return sum;
}

/* EMBEDDING_BWD.ERR: what 16 bits would round away, or not hold, is there in fp32. */
TEST(sums_are_kept_in_fp32)
{
    const tk_dtype all[] = {TK_F16, TK_BF16, TK_F32};
    for (int d = 0; d < 3; d++) {
        assert_true(wide_sum_of(all[d], (double[]){1, 0x1p-12, 0x1p-13}, 3) == 1 + 0x1p-12f + 0x1p-13f);
        assert_true(wide_sum_of(all[d], (double[]){0x1p15, 0x1p15, 0x1p15, 1}, 4) == 0x1.8p16f + 1);
        assert_true(wide_sum_of(all[d], (double[]){1, 0x1p-24}, 2) == 1); /* a tie, to even */
        assert_true(isnan(wide_sum_of(all[d], (double[]){INFINITY, 1, -INFINITY}, 3)));
        assert_true(wide_sum_of(all[d], (double[]){1, -INFINITY}, 2) == -INFINITY);
    }
    assert_true(wide_sum_of(TK_F32, (double[]){0x1p-149, 0x1p-149, -0x1p-140}, 3) == -0x1p-140f + 0x1p-148f);
    assert_true(wide_sum_of(TK_F32, (double[]){0x1.fffffep127, 0x1p103}, 2) == INFINITY);
    assert_true(wide_sum_of(TK_BF16, (double[]){0x1.fep127, 0x1p112}, 2) == 0x1.fe02p127f);
}

/* EMBEDDING_BWD.ERR: sums known by hand, one rounding at the end. */
TEST(known_sums)
{
    /* rows: 0 hit by queries 1 and 3, 1 by none, 2 by 0, 2 and 4 */
    const uint16_t grad[5][2] = {
        {0x3c00, 0x4000}, {0x3800, 0xc200}, {0x3400, 0x4000}, {0x3c00, 0x4200}, {0xbc00, 0x3000}};
    const int32_t index[5] = {2, 0, 2, 0, 2};
    /* 0.5 + 1, -3 + 3; nothing; 1 + 0.25 - 1, 2 + 2 + 0.125 */
    const uint16_t expected[3][2] = {{0x3e00, 0x0000}, {0x0000, 0x0000}, {0x3400, 0x4420}};
    uint16_t out[3][2];
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 5, 2, 3, grad, index, out));
    assert_memory_equal(out, expected, sizeof out);
    tk_ctx_destroy(ctx);

    assert_int_equal(SUM_OF(TK_F16, 0x3c00, 0x1000), 0x3c00); /* 1 + 2^-11: a tie, to even */
    assert_int_equal(SUM_OF(TK_F16, 0x3c01, 0x1000), 0x3c02); /* 1 + 2^-10 + 2^-11: a tie, to even */
    assert_int_equal(SUM_OF(TK_F16, 0x3c00, 0x1000, 0x0002),
                     0x3c01); /* 2^-23 beyond the tie, which fp32 still sees */
    assert_int_equal(SUM_OF(TK_F16, 0x3c00, 0x1000, 0x0001),
                     0x3c00); /* 2^-24 beyond, which it does not; B allows it */
    assert_int_equal(SUM_OF(TK_F16, 0x0001, 0x0001, 0x03ff), 0x0401); /* subnormals */
    assert_int_equal(SUM_OF(TK_BF16, 0x0001, 0x0001, 0x007f), 0x0081);
    assert_int_equal(SUM_OF(TK_F16, 0x7bff, 0x4b80), 0x7bff); /* 65504 + 15 rounds down */
    assert_int_equal(SUM_OF(TK_F16, 0x7bff, 0x4c00), 0x7c00); /* 65504 + 16 rounds to infinity: never saturated */
    assert_int_equal(SUM_OF(TK_F16, 0x7bff, 0x7bff, 0xfbff), 0x7bff); /* fp32 has room on the way */
    /* In bf16 it has not: 2 max overflows, although the sum of all three is max. The contract admits this. */
    assert_int_equal(SUM_OF(TK_BF16, 0x7f7f, 0x7f7f, 0xff7f), 0x7f80);
    assert_int_equal(SUM_OF(TK_BF16, 0x7f7f, 0x7b00), 0x7f80); /* max + 2^119, still a number of fp32 */
}

/* EMBEDDING_BWD.EMPTY: rows without hits become +0 bit for bit, whatever the output held. A sum of -0 is +0 as
 * well: it starts there. */
TEST_WITH_CONTEXT(rows_without_hits_are_plus_zero)
{
    for (int d = 0; d < 2; d++) {
        uint16_t out[6];
        memset(out, 0xff, sizeof out);
        const uint16_t grad[2] = {0x8000, 0x8000};
        assert_ok(ctx, tk_embedding_bwd(ctx, dtypes[d], TK_I64, 1, 2, 3, grad, (const int64_t[]){1}, out));
        for (int i = 0; i < 6; i++)
            assert_int_equal(out[i], 0x0000);
        memset(out, 0xff, sizeof out);
        assert_ok(ctx, tk_embedding_bwd(ctx, dtypes[d], TK_I32, 0, 2, 3, NULL, NULL, out));
        for (int i = 0; i < 6; i++)
            assert_int_equal(out[i], 0x0000);
    }
}

/* EMBEDDING_BWD.NAN, and the canonical NaN of EMBEDDING_BWD.BITS */
TEST(special_values)
{
    for (int d = 0; d < 2; d++) {
        tk_dtype t = dtypes[d];
        uint16_t infinity = bits_of(t, INFINITY);
        uint16_t minus_infinity = bits_of(t, -INFINITY);
        uint16_t canonical = t == TK_F16 ? 0x7e00 : 0x7fc0;
        uint16_t one = bits_of(t, 1);
        uint16_t nans[] = {(uint16_t)(infinity | 1), (uint16_t)(infinity | 0x8001), 0xffff, canonical};
        for (int i = 0; i < 4; i++) {
            assert_int_equal(SUM_OF(t, nans[i]), canonical);
            assert_int_equal(SUM_OF(t, one, nans[i], one), canonical);
            assert_int_equal(SUM_OF(t, infinity, nans[i]), canonical);
        }
        assert_int_equal(SUM_OF(t, one, infinity, one), infinity);
        assert_int_equal(SUM_OF(t, minus_infinity, one, minus_infinity), minus_infinity);
        assert_int_equal(SUM_OF(t, infinity, one, minus_infinity), canonical);
    }
    /* Finite hits that overflow to -inf before they meet +inf: NaN, which the clause admits. */
    assert_int_equal(SUM_OF(TK_BF16, 0xff7f, 0xff7f, 0x7f80), 0x7fc0);
    assert_int_equal(SUM_OF(TK_F16, 0xfbff, 0xfbff, 0x7c00), 0x7c00);
}

/* -- The order of summation -------------------------------------------------------------------------------- */

typedef enum order { RUNS, SEQUENTIAL, REVERSED, PAIRWISE } order;

static float pairwise(const float *hit, int64_t count)
{
    if (count <= 1)
        return count ? hit[0] : 0;
    return pairwise(hit, count / 2) + pairwise(hit + count / 2, count - count / 2);
}

static float ordered_sum(const float *hit, int64_t count, order how)
{
    float total = 0;
    if (how == PAIRWISE)
        return pairwise(hit, count);
    for (int64_t i = 0; i < count && how != RUNS; i++)
        total += hit[how == REVERSED ? count - 1 - i : i];
    for (int64_t begin = 0; begin < count && how == RUNS; begin += 64) {
        float run = 0;
        for (int64_t i = begin; i < count && i < begin + 64; i++)
            run += hit[i];
        total += run;
    }
    return total;
}

/* A kernel that adds the hits of each row in some order. */
static void scatter_in_order(const tk_case *c, void *const b[], order how)
{
    float *hit = allocated((size_t)c->dims[0] * sizeof *hit);
    for (int64_t v = 0; v < c->dims[2]; v++)
        for (int64_t col = 0; col < c->dims[1]; col++) {
            int64_t count = 0;
            for (int64_t i = 0; i < c->dims[0]; i++)
                if ((c->index_dtype == TK_I64 ? ((int64_t *)b[1])[i] : ((int32_t *)b[1])[i]) == v)
                    hit[count++] = (float)tki_decode(c->dtype,
                                                     tki_element_bits(c->dtype, b[0], i * c->dims[1] + col));
            float sum = ordered_sum(hit, count, how);
            tki_put_bits(c->result_dtype, b[2], v * c->dims[1] + col, tki_round_double(c->result_dtype, (double)sum));
        }
    free(hit);
}

static tk_status launch_runs(const tki_call *call)
{
    scatter_in_order(call->c, call->buffers, RUNS);
    return TK_OK;
}

static tk_status launch_sequential(const tki_call *call)
{
    scatter_in_order(call->c, call->buffers, SEQUENTIAL);
    return TK_OK;
}

static tk_status launch_reversed(const tki_call *call)
{
    scatter_in_order(call->c, call->buffers, REVERSED);
    return TK_OK;
}

static tk_status launch_pairwise(const tki_call *call)
{
    scatter_in_order(call->c, call->buffers, PAIRWISE);
    return TK_OK;
}

/* EMBEDDING_BWD.BITS, by hand: run 0 is 4096 and 63 times 2^-12, each half a unit of 4096 in fp32 and a tie to
 * even, so it is 4096; run 1 is 64 times 2^-12 = 2^-6; run 2 is -4096. Their total is 2^-6; one after another, it
 * would be 0. */
TEST(runs_of_64_hits)
{
    for (int d = 0; d < 2; d++) {
        uint16_t hits[129];
        float values[129];
        for (int i = 0; i < 129; i++) {
            double value = i == 0 ? 4096 : i == 128 ? -4096 : 0x1p-12;
            hits[i] = bits_of(dtypes[d], value);
            values[i] = (float)value;
        }
        assert_int_equal(sum_of(dtypes[d], hits, 129), dtypes[d] == TK_F16 ? 0x2400 : 0x3c80);
        assert_true(ordered_sum(values, 129, RUNS) == 0x1p-6f);
        assert_true(ordered_sum(values, 129, SEQUENTIAL) == 0);
    }
}

/* How one launch function does on the quick trials of one family: the first clause that it fails, or NULL. */
static const char *failed_clause(tk_status (*launch)(const tki_call *call), tk_types of, bool promises_bits,
                                 const char *family)
{
    const tki_lowering lowering = {.backend = &tki_backends[TKI_CPU],
                                   .variant = "ordered",
                                   .launch = launch,
                                   .determinism = TK_CROSS_DEVICE,
                                   .promises_bits = promises_bits};
    tk_ctx *ctx = new_context();
    tki_runner runner;
    tki_subject subject = {.ctx = ctx,
                           .caller = &runner.caller,
                           .contract = tk_contract_find("embedding_bwd"),
                           .oracle = &tki_embedding_bwd_oracle,
                           .lowering = &lowering};
    tki_trials trials;
    tk_certify_options options = {
        .level = TK_QUICK, .seed = SEED, .family = family, .result_dtype = &of.result_dtype};
    assert_int_equal(subject.oracle->open(of.dtype, &subject.tables), TK_OK);
    assert_ok(ctx, tki_runner_open(ctx, &(tki_runnable){.lowering = &lowering}, &runner));
    assert_ok(ctx, tki_trials_make(ctx, subject.contract, of.dtype, TK_I32, &options, &trials));
    const char *clause = NULL;
    for (int64_t i = 0; i < trials.count && !clause; i++) {
        tki_inputs inputs;
        tki_trial_result result;
        if (trials.list[i].c.dims[2] > 1000)
            continue; /* scatter_in_order() is slow */
        assert_ok(ctx, tki_inputs_alloc(ctx, &trials.list[i].c, &inputs));
        tki_trial_fill(&trials.list[i], inputs.data);
        assert_ok(ctx, tki_trial_run(&subject, &trials.list[i], &inputs, &result));
        assert_false(result.could_not_run);
        if (result.failed_clause >= 0)
            clause = subject.contract->clauses[result.failed_clause].id;
        tki_inputs_free(&inputs);
    }
    free(trials.list);
    tki_runner_close(&runner);
    tk_ctx_destroy(ctx);
    return clause;
}

/* EMBEDDING_BWD.BITS: every order is right by EMBEDDING_BWD.ERR, and `mixed` tells the promised one from the
 * others. */
TEST(other_orders_have_other_bits)
{
    tk_status (*const others[])(const tki_call *call) = {launch_sequential, launch_reversed, launch_pairwise};
    for (int d = 0; d < TYPES; d++) {
        assert_null(failed_clause(launch_runs, types[d], true, "mixed"));
        assert_null(failed_clause(launch_runs, types[d], true, "normal"));
        for (int i = 0; i < 3; i++) {
            assert_null(failed_clause(others[i], types[d], false, "mixed"));
            const char *clause = failed_clause(others[i], types[d], true, "mixed");
            assert_non_null(clause);
            assert_string_equal(clause, "EMBEDDING_BWD.BITS");
        }
    }
}

/* -- The oracle -------------------------------------------------------------------------------------------- */

/* One case with inputs from a family, and the oracle's answer for all of its elements. */
typedef struct examined {
    tk_case c;
    void *data[3];
    void *tables;
    void *prepared;
    tki_oracle_job job;
    tki_enclosure *enclosures; /* [vocab, dim] */
} examined;

static int64_t index_of(const examined *x, int64_t i)
{
    return x->c.index_dtype == TK_I64 ? ((int64_t *)x->data[1])[i] : ((int32_t *)x->data[1])[i];
}

static double hit_at(const examined *x, int64_t query, int64_t col)
{
    return tki_decode(x->c.dtype, tki_element_bits(x->c.dtype, x->data[0], query * x->c.dims[1] + col));
}

static void examine(examined *x, tk_types of, tk_dtype index_dtype, int family, const int64_t *dims, bool promised)
{
    const tki_oracle *oracle = &tki_embedding_bwd_oracle;
    *x = (examined){.c = case_of("embedding_bwd", of, index_dtype, dims)};
    x->data[0] = allocated((size_t)(dims[0] * dims[1]) * tk_dtype_size(of.dtype));
    x->data[1] = allocated((size_t)dims[0] * tk_dtype_size(index_dtype));
    tki_family_fill(family, &x->c, SEED, x->data);
    assert_int_equal(oracle->open(of.dtype, &x->tables), TK_OK);
    x->job = (tki_oracle_job){
        .c = &x->c, .buffers = (const void *const *)x->data, .output = 2, .promised = promised, .tables = x->tables};
    assert_int_equal(oracle->prepare(&x->job, &x->prepared), TK_OK);
    x->job.prepared = x->prepared;
    x->enclosures = allocated((size_t)(dims[1] * dims[2]) * sizeof *x->enclosures);
    assert_int_equal(oracle->enclose(&x->job, &(tki_box){0, dims[2], 0, dims[1]}, x->enclosures), TK_OK);
}

static void release(examined *x)
{
    tki_embedding_bwd_oracle.release(x->prepared);
    free(x->data[0]);
    free(x->data[1]);
    free(x->enclosures);
}

/* What there is to know about one element, found by going through all queries. */
typedef struct known {
    mpfr_t sum, magnitudes; /* of the finite hits, exact */
    int64_t hits;
    int unit; /* the exponent of the last bit of any of them */
    bool nan, plus_infinity, minus_infinity;
} known;

static void find_out(known *k, const examined *x, int64_t row, int64_t col)
{
    mpfr_set_zero(k->sum, 1);
    mpfr_set_zero(k->magnitudes, 1);
    k->hits = 0;
    k->unit = INT_MAX;
    k->nan = k->plus_infinity = k->minus_infinity = false;
    for (int64_t i = 0; i < x->c.dims[0]; i++) {
        if (index_of(x, i) != row)
            continue;
        double hit = hit_at(x, i, col);
        k->hits++;
        k->nan |= isnan(hit);
        k->plus_infinity |= hit == INFINITY;
        k->minus_infinity |= hit == -INFINITY;
        if (!isfinite(hit))
            continue;
        int exponent;
        int64_t digits = (int64_t)ldexp(frexp(hit, &exponent), 53);
        int last = hit != 0 ? exponent - 53 + __builtin_ctzll((unsigned long long)digits) : INT_MAX;
        k->unit = last < k->unit ? last : k->unit;
        assert_int_equal(mpfr_add_d(k->sum, k->sum, hit, MPFR_RNDN), 0);
        assert_int_equal(mpfr_add_d(k->magnitudes, k->magnitudes, fabs(hit), MPFR_RNDN), 0);
    }
}

/* The clause of exact sums. */
static bool is_exact(const known *k)
{
    return mpfr_zero_p(k->magnitudes) ||
           (k->unit >= -126 && k->unit <= 103 && mpfr_cmp_ui_2exp(k->magnitudes, 1, 24 + k->unit) <= 0);
}

/* value = (hits - 1) u sum|g|, exactly; 0 for exact sums */
static void exact_bound(mpfr_t value, const known *k)
{
    if (is_exact(k)) {
        mpfr_set_zero(value, 1);
        return;
    }
    mpfr_mul_ui(value, k->magnitudes, (unsigned long)(k->hits - 1), MPFR_RNDU);
    mpfr_div_2ui(value, value, 24, MPFR_RNDU);
}

/* (1 + hits u) sum|g| >= 2^128 (1 - 2^-25), in 700 bits. The contract rounds up by 2^-48, so it may say so a little
 * earlier; no family comes that near. */
static bool may_overflow(mpfr_t t, const known *k)
{
    mpfr_set_ui(t, (unsigned long)k->hits, MPFR_RNDN);
    mpfr_div_2ui(t, t, 24, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_mul(t, t, k->magnitudes, MPFR_RNDN);
    return mpfr_cmp_d(t, 0x1p128 - 0x1p103) >= 0;
}

static unsigned expected_admits(mpfr_t t, const known *k)
{
    bool overflow = may_overflow(t, k);
    if (k->nan || (k->plus_infinity && k->minus_infinity))
        return TKI_ADMIT_NAN;
    if (k->plus_infinity || k->minus_infinity)
        return (k->plus_infinity ? TKI_ADMIT_PLUS_INF : TKI_ADMIT_MINUS_INF) | (overflow ? TKI_ADMIT_NAN : 0u);
    return TKI_ADMIT_INTERVAL | (overflow ? TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF : 0u);
}

static void check_enclosure(const examined *x, int64_t row, int64_t col, known *k, mpfr_t t, mpfr_t lo, mpfr_t hi)
{
    const tki_enclosure *e = &x->enclosures[row * x->c.dims[1] + col];
    find_out(k, x, row, col);
    if (k->hits == 0) {
        assert_int_equal(e->clause, TKI_EMBEDDING_BWD_EMPTY);
        assert_int_equal(e->admits, TKI_ADMIT_RAW_BITS);
        assert_int_equal(e->bits, 0);
        return;
    }
    assert_int_equal(e->admits, expected_admits(t, k));
    bool special = k->nan || k->plus_infinity || k->minus_infinity;
    assert_int_equal(e->clause, special ? TKI_EMBEDDING_BWD_NAN : TKI_EMBEDDING_BWD_ERR);
    if (special)
        return;
    assert_true(isfinite(e->lo) && isfinite(e->hi));
    assert_true(mpfr_cmp_d(k->sum, e->lo) >= 0 && mpfr_cmp_d(k->sum, e->hi) <= 0);
    /* Narrow: within n 2^-51 of the magnitudes. */
    mpfr_mul_d(t, k->magnitudes, (double)k->hits * 0x1p-51, MPFR_RNDU);
    assert_true(mpfr_cmp_d(t, e->hi - e->lo) >= 0 || e->hi - e->lo < 0x1p-1000);
    exact_bound(t, k);
    assert_true(mpfr_cmp_d(t, e->bound) <= 0);
    mpfr_mul_d(t, t, 1 + 0x1p-38, MPFR_RNDU);
    assert_true(mpfr_cmp_d(t, e->bound) >= 0);
    assert_int_equal(tki_embedding_bwd_oracle.refine(&x->job, row, col, 128, lo, hi), TK_OK);
    assert_true(mpfr_equal_p(lo, k->sum) && mpfr_equal_p(hi, k->sum));
}

static const int64_t oracle_shapes[][3] = {{1, 1, 1}, {40, 3, 9}, {300, 4, 2}, {20, 260, 19}};

/* EMBEDDING_BWD.ERR, EMBEDDING_BWD.EMPTY, EMBEDDING_BWD.NAN: sums in 700 bits, where nothing is rounded, query by
 * query, on every family. */
TEST(oracle_agrees_with_exact_sums)
{
    print_message("seed %d\n", SEED);
    known k;
    mpfr_t t;
    mpfr_t lo;
    mpfr_t hi;
    mpfr_inits2(700, k.sum, k.magnitudes, t, lo, hi, (mpfr_ptr)0);
    for (int d = 0; d < TYPES; d++)
        for (int family = 0; tk_family_at(family, NULL); family++)
            for (size_t s = 0; s < sizeof oracle_shapes / sizeof *oracle_shapes; s++) {
                examined x;
                examine(&x, types[d], index_dtypes[s % 2], family, oracle_shapes[s], false);
                for (int64_t row = 0; row < x.c.dims[2]; row++)
                    for (int64_t col = 0; col < x.c.dims[1]; col++)
                        check_enclosure(&x, row, col, &k, t, lo, hi);
                release(&x);
            }
    mpfr_clears(k.sum, k.magnitudes, t, lo, hi, (mpfr_ptr)0);
}

/* to = to + hit in IEEE fp32, by MPFR: 24 bits, the exponents of fp32, subnormals rounded as such. */
static void add_fp32(mpfr_t to, mpfr_srcptr hit)
{
    mpfr_subnormalize(to, mpfr_add(to, to, hit, MPFR_RNDN), MPFR_RNDN);
}

/* The pattern that clause BITS gives for one element. */
static uint32_t promised_bits(const examined *x, int64_t row, int64_t col, mpfr_t total, mpfr_t run, mpfr_t hit)
{
    int64_t hits = 0;
    mpfr_set_zero(total, 1);
    mpfr_set_zero(run, 1);
    for (int64_t i = 0; i < x->c.dims[0]; i++) {
        if (index_of(x, i) != row)
            continue;
        mpfr_set_d(hit, hit_at(x, i, col), MPFR_RNDN);
        add_fp32(run, hit);
        if (++hits % 64)
            continue;
        add_fp32(total, run);
        mpfr_set_zero(run, 1);
    }
    /* A run without hits adds +0. */
    add_fp32(total, run);
    return tki_round_mpfr(x->c.result_dtype, total);
}

/* EMBEDDING_BWD.BITS: the oracle and the kernel against fp32 arithmetic as MPFR does it. */
TEST_WITH_CONTEXT(promised_bits_agree_with_mpfr)
{
    mpfr_exp_t emin = mpfr_get_emin();
    mpfr_exp_t emax = mpfr_get_emax();
    mpfr_t total;
    mpfr_t run;
    mpfr_t hit;
    mpfr_inits2(24, total, run, hit, (mpfr_ptr)0);
    for (int d = 0; d < TYPES; d++)
        for (int family = 0; tk_family_at(family, NULL); family++)
            for (size_t s = 0; s < sizeof oracle_shapes / sizeof *oracle_shapes; s++) {
                examined x;
                const int64_t *dims = oracle_shapes[s];
                examine(&x, types[d], index_dtypes[s % 2], family, dims, true);
                void *out = allocated((size_t)(dims[1] * dims[2]) * tk_dtype_size(types[d].result_dtype));
                assert_ok(ctx, tk_run(ctx, &x.c, (void *[]){x.data[0], x.data[1], out}));
                mpfr_set_emin(-148); /* 2^-149 is 0.5 2^-148 */
                mpfr_set_emax(128);
                for (int64_t i = 0; i < dims[1] * dims[2]; i++) {
                    uint32_t expected = promised_bits(&x, i / dims[1], i % dims[1], total, run, hit);
                    assert_int_equal(x.enclosures[i].clause, TKI_EMBEDDING_BWD_BITS);
                    assert_int_equal(x.enclosures[i].admits, TKI_ADMIT_RAW_BITS);
                    assert_int_equal(x.enclosures[i].bits, expected);
                    assert_int_equal(tki_element_bits(types[d].result_dtype, out, i), expected);
                }
                mpfr_set_emin(emin);
                mpfr_set_emax(emax);
                free(out);
                release(&x);
            }
    mpfr_clears(total, run, hit, (mpfr_ptr)0);
}

/* EMBEDDING_FWD.EXACT: the oracle reads the row that the index names. */
TEST(fwd_oracle_names_the_row)
{
    uint16_t weight[12];
    for (int i = 0; i < 12; i++)
        weight[i] = (uint16_t)(0x7bf8 + i); /* around infinity, so that NaN payloads count */
    const int64_t index[3] = {3, 0, 2};
    tk_case c = tk_case_init(tk_contract_find("embedding_fwd"), TK_F16);
    c.index_dtype = TK_I64;
    memcpy(c.dims, (const int64_t[]){3, 3, 4}, 3 * sizeof(int64_t));
    tki_oracle_job job = {.c = &c, .buffers = (const void *[]){index, weight, NULL}, .output = 2};
    tki_enclosure e[6];
    assert_int_equal(tki_embedding_fwd_oracle.enclose(&job, &(tki_box){0, 3, 1, 3}, e), TK_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(e[i].bits, weight[index[i / 2] * 3 + 1 + i % 2]);
        assert_int_equal(e[i].admits, TKI_ADMIT_RAW_BITS);
        assert_int_equal(e[i].clause, TKI_EMBEDDING_FWD_EXACT);
    }
}

/* -- Laws -------------------------------------------------------------------------------------------------- */

enum { LAW_QUERIES = 150, LAW_DIM = 9, LAW_VOCAB = 13 };

static void fill_integers(tk_dtype dtype, uint16_t *target, int count, tki_random *random)
{
    for (int i = 0; i < count; i++)
        target[i] = bits_of(dtype, (double)((int64_t)tki_random_below(random, 3) - 1));
}

static int64_t dot(tk_dtype dtype, const uint16_t *a, const uint16_t *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += tki_decode(dtype, a[i]) * tki_decode(dtype, b[i]);
    return (int64_t)sum;
}

/* <fwd(W), G> = <W, bwd(G)> on integers so small that every sum is exact: each is the adjoint of the other. */
TEST_WITH_CONTEXT(bwd_is_the_adjoint_of_fwd)
{
    uint16_t weight[LAW_VOCAB * LAW_DIM];
    uint16_t grad_weight[LAW_VOCAB * LAW_DIM];
    uint16_t out[LAW_QUERIES * LAW_DIM];
    uint16_t grad[LAW_QUERIES * LAW_DIM];
    int64_t index[LAW_QUERIES]; /* room for either type */
    for (int round = 0; round < effort(200); round++) {
        tk_dtype t = dtypes[round % 2];
        tk_dtype ti = index_dtypes[round / 2 % 2];
        tki_random random = tki_random_stream(SEED, (uint64_t)round);
        fill_integers(t, weight, LAW_VOCAB * LAW_DIM, &random);
        fill_integers(t, grad, LAW_QUERIES * LAW_DIM, &random);
        for (int i = 0; i < LAW_QUERIES; i++)
            put_index(ti, index, i, (int64_t)tki_random_below(&random, LAW_VOCAB));
        assert_ok(ctx, tk_embedding_fwd(ctx, t, ti, LAW_QUERIES, LAW_DIM, LAW_VOCAB, index, weight, out));
        assert_ok(ctx, tk_embedding_bwd(ctx, t, ti, LAW_QUERIES, LAW_DIM, LAW_VOCAB, grad, index, grad_weight));
        assert_int_equal(dot(t, out, grad, LAW_QUERIES * LAW_DIM), dot(t, weight, grad_weight, LAW_VOCAB * LAW_DIM));
    }
}

/* With every row hit exactly once, bwd is a copy in the order of the permutation, and fwd takes it back. All
 * patterns take part; -0 becomes +0 and a NaN the canonical one. */
TEST(permutation_moves_rows)
{
    enum { N = 1024, WIDTH = 64 };
    uint16_t *grad = allocated(N * WIDTH * sizeof *grad);
    uint16_t *moved = allocated(N * WIDTH * sizeof *moved);
    uint16_t *back = allocated(N * WIDTH * sizeof *back);
    int32_t *index = allocated(N * sizeof *index);
    tk_ctx *ctx = new_context();
    for (int i = 0; i < N; i++)
        index[i] = (i * 389 + 17) % N; /* 389 is odd: a permutation */
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < N * WIDTH; i++)
            grad[i] = (uint16_t)i;
        assert_ok(ctx, tk_embedding_bwd(ctx, dtypes[d], TK_I32, N, WIDTH, N, grad, index, moved));
        assert_ok(ctx, tk_embedding_fwd(ctx, dtypes[d], TK_I32, N, WIDTH, N, index, moved, back));
        for (int i = 0; i < N * WIDTH; i++) {
            uint32_t canonical = tki_canonical_nan(dtypes[d]);
            uint32_t expected = tki_is_nan(dtypes[d], grad[i]) ? canonical : grad[i] == 0x8000 ? 0 : grad[i];
            assert_int_equal(back[i], expected);
        }
    }
    tk_ctx_destroy(ctx);
    free(grad);
    free(moved);
    free(back);
    free(index);
}

/* -- Indices ----------------------------------------------------------------------------------------------- */

enum { INDEX_QUERIES = 6, INDEX_DIM = 2, INDEX_VOCAB = 5 };

/* Both ops with index[position] = value and a later bad one: both must name that position and write nothing. */
static void assert_bad_index(tk_ctx *ctx, tk_dtype index_dtype, int64_t position, int64_t value)
{
    uint16_t values[INDEX_QUERIES * INDEX_DIM];
    uint16_t out[INDEX_QUERIES * INDEX_DIM];
    uint16_t before[INDEX_QUERIES * INDEX_DIM];
    int64_t index[INDEX_QUERIES];
    char text[128];
    memset(values, 0x3c, sizeof values);
    memset(out, 0xa7, sizeof out);
    memset(before, 0xa7, sizeof before);
    for (int i = 0; i < INDEX_QUERIES; i++)
        put_index(index_dtype, index, i, i % INDEX_VOCAB);
    put_index(index_dtype, index, INDEX_QUERIES - 1, -7);
    put_index(index_dtype, index, position, value);
    snprintf(text, sizeof text, ": index[%lld] = %lld is outside [0, %d)", (long long)position, (long long)value,
             INDEX_VOCAB);
    tk_status status = tk_embedding_fwd(ctx, TK_F16, index_dtype, INDEX_QUERIES, INDEX_DIM, INDEX_VOCAB, index,
                                        values, out);
    assert_refused(ctx, status, TK_BAD_INDEX, text);
    assert_refused(ctx, status, TK_BAD_INDEX, "embedding_fwd: index[");
    status = tk_embedding_bwd(ctx, TK_BF16, index_dtype, INDEX_QUERIES, INDEX_DIM, INDEX_VOCAB, values, index, out);
    assert_refused(ctx, status, TK_BAD_INDEX, text);
    assert_refused(ctx, status, TK_BAD_INDEX, "embedding_bwd: index[");
    assert_memory_equal(out, before, sizeof out);
}

/* EMBEDDING_FWD.INDEX, EMBEDDING_BWD.INDEX. An index of 64 bits that is cut to 32 is caught here: 2^32 + 1 would
 * pass for 1. */
TEST_WITH_CONTEXT(bad_indices_are_named)
{
    for (int64_t position = 0; position < INDEX_QUERIES; position++) {
        for (int w = 0; w < 2; w++) {
            assert_bad_index(ctx, index_dtypes[w], position, -1);
            assert_bad_index(ctx, index_dtypes[w], position, INDEX_VOCAB);
            assert_bad_index(ctx, index_dtypes[w], position, INT32_MAX);
            assert_bad_index(ctx, index_dtypes[w], position, INT32_MIN);
        }
        assert_bad_index(ctx, TK_I64, position, INT64_MAX);
        assert_bad_index(ctx, TK_I64, position, INT64_MIN);
        assert_bad_index(ctx, TK_I64, position, INT64_C(1) << 32);
        assert_bad_index(ctx, TK_I64, position, (INT64_C(1) << 32) + 1);
        assert_bad_index(ctx, TK_I64, position, -(INT64_C(1) << 32) + 1);
    }
    /* With no rows, no index is good; with no columns, a bad one is still an error. */
    const int32_t zero = 0;
    const int32_t five = 5;
    uint16_t value = 0x3c00;
    uint16_t out = 0x1234;
    tk_status status = tk_embedding_fwd(ctx, TK_F16, TK_I32, 1, 1, 0, &zero, NULL, &out);
    assert_refused(ctx, status, TK_BAD_INDEX, "embedding_fwd: index[0] = 0 is outside [0, 0)");
    status = tk_embedding_bwd(ctx, TK_F16, TK_I32, 1, 1, 0, &value, &zero, NULL);
    assert_refused(ctx, status, TK_BAD_INDEX, "embedding_bwd: index[0] = 0 is outside [0, 0)");
    status = tk_embedding_fwd(ctx, TK_F16, TK_I32, 1, 0, 5, &five, NULL, NULL);
    assert_refused(ctx, status, TK_BAD_INDEX, "index[0] = 5");
    status = tk_embedding_bwd(ctx, TK_F16, TK_I32, 1, 0, 5, NULL, &five, NULL);
    assert_refused(ctx, status, TK_BAD_INDEX, "index[0] = 5");
    assert_int_equal(out, 0x1234);
}

/* EMBEDDING_FWD.EXACT beyond 2^32 rows: the pages of the table that are not touched cost nothing. An index cut to
 * 32 bits would read row 3. */
TEST(rows_beyond_2_to_the_32)
{
    const int64_t vocab = (INT64_C(1) << 32) + 8;
    const size_t bytes = (size_t)vocab * sizeof(uint16_t);
    uint16_t *weight = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (weight == MAP_FAILED)
        skip();
    weight[3] = 0x1111;
    weight[vocab - 5] = 0x2222;
    const int64_t index[3] = {vocab - 5, 3, vocab - 1};
    uint16_t out[3];
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tk_embedding_fwd(ctx, TK_F16, TK_I64, 3, 1, vocab, index, weight, out));
    assert_int_equal(out[0], 0x2222);
    assert_int_equal(out[1], 0x1111);
    assert_int_equal(out[2], 0);
    tk_ctx_destroy(ctx);
    munmap(weight, bytes);
}

/* -- Shapes, buffers, threads ------------------------------------------------------------------------------ */

enum { MOST = 70 * 260 + 64 };

/* EMBEDDING_FWD.SHAPE, EMBEDDING_BWD.SHAPE, EMBEDDING_FWD.WRITE, EMBEDDING_BWD.WRITE: sizes around the kernel's
 * block and run, buffers one element off; neighbours of the output stay, and so do the inputs. */
TEST(any_size_and_alignment)
{
    static const int64_t shapes[][3] = {{0, 0, 0},   {0, 3, 4},   {3, 0, 4},  {0, 0, 4},  {1, 1, 1},  {2, 255, 3},
                                        {5, 256, 2}, {5, 257, 4}, {63, 3, 1}, {64, 3, 1}, {65, 3, 1}, {70, 260, 70}};
    uint16_t *values = allocated(MOST * sizeof *values);
    uint16_t *kept = allocated(MOST * sizeof *kept);
    uint16_t *out = allocated(MOST * sizeof *out);
    int64_t index[72];
    tk_ctx *ctx = new_context();
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int w = 0; w < 2; w++) {
            const int64_t *d = shapes[s];
            tki_random random = tki_random_stream(SEED, s);
            for (int i = 0; i < MOST; i++)
                kept[i] = values[i] = bits_of(TK_F16, tki_random_normal(&random));
            char *first = (char *)index + tk_dtype_size(index_dtypes[w]);
            for (int64_t i = 0; i < d[0]; i++)
                put_index(index_dtypes[w], first, i, d[2] > 0 ? (i * 7 + 3) % d[2] : 0);

            memset(out, 0xcd, MOST * sizeof *out);
            assert_ok(ctx,
                      tk_embedding_fwd(ctx, TK_F16, index_dtypes[w], d[0], d[1], d[2], first, values + 1, out + 3));
            for (int64_t i = 0; i < MOST; i++) {
                bool inside = i >= 3 && i < 3 + d[0] * d[1];
                int64_t row = inside ? ((i - 3) / d[1] * 7 + 3) % d[2] : 0;
                assert_int_equal(out[i], inside ? values[1 + row * d[1] + (i - 3) % d[1]] : 0xcdcd);
            }
            memset(out, 0xcd, MOST * sizeof *out);
            assert_ok(ctx,
                      tk_embedding_bwd(ctx, TK_F16, index_dtypes[w], d[0], d[1], d[2], values + 1, first, out + 3));
            for (int64_t i = 0; i < MOST; i++)
                if (i < 3 || i >= 3 + d[2] * d[1])
                    assert_int_equal(out[i], 0xcdcd);
            tk_case c = tk_case_init(tk_contract_find("embedding_bwd"), TK_F16);
            c.index_dtype = index_dtypes[w];
            memcpy(c.dims, d, 3 * sizeof(int64_t));
            uint16_t *expected = allocated((size_t)(d[1] * d[2]) * sizeof *expected);
            scatter_in_order(&c, (void *[]){values + 1, first, expected}, RUNS);
            assert_memory_equal(out + 3, expected, (size_t)(d[1] * d[2]) * sizeof *out);
            free(expected);
            assert_memory_equal(values, kept, MOST * sizeof *values);
        }
    tk_ctx_destroy(ctx);
    free(values);
    free(kept);
    free(out);
}

/* EMBEDDING_FWD.REPEAT, EMBEDDING_BWD.REPEAT: many hits on few rows beside rows with none, so that threads meet. */
TEST(same_bits_for_every_thread_count)
{
    enum { QUERIES = 3000, DIM = 300, VOCAB = 501 };
    uint32_t *grad = allocated(QUERIES * DIM * sizeof *grad); /* room for either size of elements */
    uint32_t *first[2] = {allocated(QUERIES * DIM * sizeof **first), allocated(VOCAB * DIM * sizeof **first)};
    uint32_t *out = allocated(QUERIES * DIM * sizeof *out);
    int32_t *index = allocated(QUERIES * sizeof *index);
    tki_random random = tki_random_stream(SEED, 0);
    for (int i = 0; i < QUERIES * DIM; i++)
        grad[i] = (uint32_t)tki_random_u64(&random);
    for (int i = 0; i < QUERIES; i++)
        index[i] = (int32_t)tki_random_below(&random, i % 3 ? 2 : VOCAB);
    static const int threads[] = {1, 2, 3, 7};
    const int64_t dims[] = {QUERIES, DIM, VOCAB};
    tk_ctx *ctx = new_context();
    for (int d = 0; d < TYPES; d++)
        for (int t = 0; t < 4; t++) {
            const tk_case bwd = case_of("embedding_bwd", types[d], TK_I32, dims);
            assert_ok(ctx, tk_ctx_set_threads(ctx, threads[t]));
            if (d < FWD_TYPES)
                assert_ok(ctx, tk_embedding_fwd(ctx, types[d].dtype, TK_I32, QUERIES, DIM, VOCAB, index, grad,
                                                t ? out : first[0]));
            if (t && d < FWD_TYPES)
                assert_memory_equal(out, first[0], QUERIES * DIM * tk_dtype_size(types[d].dtype));
            assert_ok(ctx, tk_run(ctx, &bwd, (void *[]){grad, index, t ? out : first[1]}));
            if (t)
                assert_memory_equal(out, first[1], VOCAB * DIM * tk_dtype_size(types[d].result_dtype));
        }
    tk_ctx_destroy(ctx);
    free(grad);
    free(first[0]);
    free(first[1]);
    free(out);
    free(index);
}

TEST_WITH_CONTEXT(bad_arguments_write_nothing)
{
    uint16_t x[8] = {0};
    uint16_t y[8];
    uint16_t before[8];
    const int32_t index[4] = {0};
    memset(y, 0x77, sizeof y);
    memcpy(before, y, sizeof y);
    const int64_t big = INT64_C(1) << 31;
    tk_status status = tk_embedding_fwd(ctx, TK_F16, TK_I32, -1, 2, 4, index, x, y);
    assert_refused(ctx, status, TK_BAD_ARGUMENT, "queries is -1");
    assert_refused(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 4, -2, 4, x, index, y), TK_BAD_ARGUMENT, "dim is -2");
    assert_refused(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 4, 2, -4, x, index, y), TK_BAD_ARGUMENT, "vocab is -4");
    status = tk_embedding_fwd(ctx, TK_F16, TK_I32, 1, big, 2 * big, index, x, y);
    assert_refused(ctx, status, TK_BAD_ARGUMENT, "weight in bytes");
    status = tk_embedding_bwd(ctx, TK_F16, TK_I32, 2 * big, big, 1, x, index, y);
    assert_refused(ctx, status, TK_BAD_ARGUMENT, "grad_output in bytes");
    status = tk_embedding_bwd(ctx, TK_F16, TK_I64, INT64_MAX, 0, 1, x, index, y);
    assert_refused(ctx, status, TK_BAD_ARGUMENT, "index in bytes");
    assert_refused(ctx, tk_embedding_fwd(ctx, TK_I32, TK_I32, 4, 2, 4, index, x, y), TK_BAD_ARGUMENT, "i32");
    assert_refused(ctx, tk_embedding_bwd(ctx, TK_F16, TK_F16, 4, 2, 4, x, index, y), TK_BAD_ARGUMENT,
                   "index type is f16");
    assert_refused(ctx, tk_embedding_fwd(ctx, TK_F16, TK_I32, 4, 2, 4, NULL, x, y), TK_BAD_ARGUMENT, "index is NULL");
    status = tk_embedding_fwd(ctx, TK_F16, TK_I32, 1, 2, 4, (const char *)index + 2, x, y);
    assert_refused(ctx, status, TK_BAD_ARGUMENT, "not aligned");
    assert_refused(ctx, tk_embedding_fwd(ctx, TK_F16, TK_I32, 4, 2, 4, index, y, y), TK_BAD_ARGUMENT, "overlaps");
    assert_refused(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 3, 2, 3, y, index, y + 2), TK_BAD_ARGUMENT, "overlaps");
    status = tk_embedding_bwd(ctx, TK_F16, TK_I32, 4, 1, 4, x, y, y + 4);
    assert_refused(ctx, status, TK_BAD_ARGUMENT, "overlaps");
    assert_memory_equal(y, before, sizeof y);
    assert_ok(ctx, tk_embedding_fwd(ctx, TK_F16, TK_I32, 0, 0, 0, NULL, NULL, NULL));
    assert_ok(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 0, 0, 0, NULL, NULL, NULL));
    assert_ok(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 0, 0, INT64_MAX, NULL, NULL, NULL));
}

/* The scratch that is reported is enough, less is refused, and a size that cannot be is said to be too large. */
TEST(scratch_is_reported)
{
    tk_ctx *ctx = new_context();
    tk_case c = tk_case_init(tk_contract_find("embedding_bwd"), TK_F16);
    memcpy(c.dims, (const int64_t[]){3, 2, 6}, 3 * sizeof(int64_t));
    size_t bytes;
    assert_ok(ctx, tk_scratch_size(ctx, &c, &bytes));
    assert_int_equal(bytes, (6 + 1 + 3) * sizeof(int64_t));
    unsigned char *memory = aligned_alloc(64, 128);
    assert_non_null(memory);
    memset(memory, 0xee, 128);
    const uint16_t grad[6] = {0x3c00, 0x4000, 0x3c00, 0x4000, 0x3c00, 0x4000};
    const int32_t index[3] = {5, 0, 5};
    uint16_t out[12];
    memset(out, 0x99, sizeof out);
    assert_ok(ctx, tk_ctx_set_scratch(ctx, memory, bytes - 1));
    tk_status status = tk_embedding_bwd(ctx, TK_F16, TK_I32, 3, 2, 6, grad, index, out);
    assert_refused(ctx, status, TK_NO_MEMORY, "80 bytes of scratch");
    for (int i = 0; i < 12; i++)
        assert_int_equal(out[i], 0x9999);
    assert_ok(ctx, tk_ctx_set_scratch(ctx, memory, bytes));
    assert_ok(ctx, tk_embedding_bwd(ctx, TK_F16, TK_I32, 3, 2, 6, grad, index, out));
    const uint16_t expected[12] = {0x3c00, 0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0x4000, 0x4400};
    assert_memory_equal(out, expected, sizeof out);
    for (size_t i = bytes; i < 128; i++)
        assert_int_equal(memory[i], 0xee);
    memcpy(c.dims, (const int64_t[]){1, 1, INT64_C(1) << 61}, 3 * sizeof(int64_t));
    assert_ok(ctx, tk_scratch_size(ctx, &c, &bytes));
    assert_true(bytes == SIZE_MAX);
    tk_ctx_destroy(ctx);
    free(memory);
}

TEST(certified_and_mutants_refuted)
{
    assert_op_certifies("embedding_fwd");
    assert_op_certifies("embedding_bwd");
}

/* EMBEDDING_FWD.INDEX, EMBEDDING_BWD.INDEX: without a table no index is valid, and there is no case to judge. */
TEST_WITH_CONTEXT(an_empty_table_is_no_case)
{
    static const char *const ops[] = {"embedding_fwd", "embedding_bwd"};
    const int64_t dims[] = {2, 3, 0}, none[] = {0, 3, 0};
    for (int i = 0; i < 2; i++) {
        tk_certificate *certificate = NULL;
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.dims = dims;
        assert_refused(ctx, tk_certify(ctx, tk_contract_find(ops[i]), TK_F16, TK_I32, &options, &certificate),
                       TK_BAD_ARGUMENT, "vocab is 0");
        options.dims = none;
        tk_certificate_destroy(certify_one(ctx, tk_contract_find(ops[i]), TK_F16, TK_I32, options));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_is_no_case),
        cmocka_unit_test(rows_are_copied_bit_for_bit),
        cmocka_unit_test(fp32_rows_are_copied_bit_for_bit),
        cmocka_unit_test(sums_are_kept_in_fp32),
        cmocka_unit_test(known_sums),
        cmocka_unit_test(rows_without_hits_are_plus_zero),
        cmocka_unit_test(special_values),
        cmocka_unit_test(runs_of_64_hits),
        cmocka_unit_test(other_orders_have_other_bits),
        cmocka_unit_test(oracle_agrees_with_exact_sums),
        cmocka_unit_test(promised_bits_agree_with_mpfr),
        cmocka_unit_test(fwd_oracle_names_the_row),
        cmocka_unit_test(bwd_is_the_adjoint_of_fwd),
        cmocka_unit_test(permutation_moves_rows),
        cmocka_unit_test(bad_indices_are_named),
        cmocka_unit_test(rows_beyond_2_to_the_32),
        cmocka_unit_test(any_size_and_alignment),
        cmocka_unit_test(same_bits_for_every_thread_count),
        cmocka_unit_test(bad_arguments_write_nothing),
        cmocka_unit_test(scratch_is_reported),
        cmocka_unit_test(certified_and_mutants_refuted),
    };
    return cmocka_run_group_tests_name("embedding", tests, NULL, NULL);
}
