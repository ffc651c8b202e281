/* xent: one test per clause, the oracle against textbook formulas in high precision, laws, bad arguments, mutants. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "judge/judge.h"
#include "ops/xent/contract.h"
#include "tests/op_test.h"
#include "tokitai.h"

extern const tki_oracle tki_xent_oracle;

enum { SEED = 20261115, PRECISION = 1500, MOST_COLS = 600 };

static const tk_dtype dtypes[] = {TK_F16, TK_BF16, TK_F32};

static uint32_t bits_of(tk_dtype dtype, double value)
{
    return tki_round_double(dtype, value);
}

static void put_value(tk_dtype dtype, void *elements, int64_t i, double value)
{
    if (dtype == TK_F32)
        ((uint32_t *)elements)[i] = bits_of(dtype, value);
    else
        ((uint16_t *)elements)[i] = (uint16_t)bits_of(dtype, value);
}

static double value_at(tk_dtype dtype, const void *elements, int64_t i)
{
    return tki_decode(dtype, tki_element_bits(dtype, elements, i));
}

/* One row, with its outputs. */
typedef struct row {
    tk_dtype dtype;
    int64_t cols;
    int64_t target;
    tk_xent_options options;
    uint32_t x[MOST_COLS]; /* room for elements of any type */
    uint32_t grad[MOST_COLS];
    float loss;
} row;

static row make_row(tk_dtype dtype, int64_t target, tk_xent_options options, int64_t cols, const double *x)
{
    row r = {.dtype = dtype, .cols = cols, .target = target, .options = options};
    for (int64_t j = 0; j < cols; j++)
        put_value(dtype, r.x, j, x[j]);
    return r;
}

static void run_row(row *r)
{
    tk_ctx *ctx = new_context();
    memset(r->grad, 0x55, sizeof r->grad);
    r->loss = -7;
    assert_ok(ctx, tk_xent(ctx, r->dtype, TK_I64, 1, r->cols, r->x, &r->target, &r->options, &r->loss, r->grad));
    tk_ctx_destroy(ctx);
}

static row run_values(tk_dtype dtype, int64_t target, tk_xent_options options, int64_t cols, const double *x)
{
    row r = make_row(dtype, target, options, cols, x);
    run_row(&r);
    return r;
}

static double grad_of(const row *r, int64_t j)
{
    return value_at(r->dtype, r->grad, j);
}

static tk_xent_options plain(float eps, float scale)
{
    return (tk_xent_options){.label_smoothing = eps, .scale = scale, .ignore_index = -100};
}

/* -- The oracle against textbook formulas ------------------------------------------------------------------- */

/* loss = log(sum exp(x_k)) - sum q_k x_k, with `step` added to x[moved]; it cancels, but PRECISION bits have room
 * for it. */
static void textbook_loss(mpfr_ptr loss, const row *r, int64_t moved, double step)
{
    mpfr_t x;
    mpfr_t weighted;
    mpfr_t sum;
    mpfr_inits2(PRECISION, x, weighted, sum, (mpfr_ptr)0);
    mpfr_set_zero(loss, 1);
    mpfr_set_zero(sum, 1);
    for (int64_t k = 0; k < r->cols; k++) {
        mpfr_set_d(x, value_at(r->dtype, r->x, k), MPFR_RNDN);
        if (k == moved)
            mpfr_add_d(x, x, step, MPFR_RNDN);
        mpfr_mul_d(weighted, x, (double)r->options.label_smoothing, MPFR_RNDN);
        mpfr_div_si(weighted, weighted, r->cols, MPFR_RNDN);
        mpfr_sub(loss, loss, weighted, MPFR_RNDN);
        if (k == r->target) {
            mpfr_mul_d(weighted, x, (double)r->options.label_smoothing, MPFR_RNDN);
            mpfr_sub(weighted, x, weighted, MPFR_RNDN);
            mpfr_sub(loss, loss, weighted, MPFR_RNDN);
        }
        mpfr_exp(x, x, MPFR_RNDN);
        mpfr_add(sum, sum, x, MPFR_RNDN);
    }
    mpfr_log(sum, sum, MPFR_RNDN);
    mpfr_add(loss, loss, sum, MPFR_RNDN);
    mpfr_clears(x, weighted, sum, (mpfr_ptr)0);
}

/* scale (exp(x_j) / sum exp(x_k) - q_j) */
static void textbook_gradient(mpfr_ptr grad, const row *r, int64_t j)
{
    mpfr_t e;
    mpfr_t sum;
    mpfr_inits2(PRECISION, e, sum, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    for (int64_t k = 0; k < r->cols; k++) {
        mpfr_set_d(e, value_at(r->dtype, r->x, k), MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_add(sum, sum, e, MPFR_RNDN);
    }
    mpfr_set_d(e, value_at(r->dtype, r->x, j), MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_div(grad, e, sum, MPFR_RNDN);
    mpfr_set_d(e, (double)r->options.label_smoothing, MPFR_RNDN);
    mpfr_div_si(e, e, r->cols, MPFR_RNDN);
    mpfr_sub(grad, grad, e, MPFR_RNDN);
    if (j == r->target) {
        mpfr_sub_d(grad, grad, 1, MPFR_RNDN);
        mpfr_add_d(grad, grad, (double)r->options.label_smoothing, MPFR_RNDN);
    }
    mpfr_mul_d(grad, grad, (double)r->options.scale, MPFR_RNDN);
    mpfr_clears(e, sum, (mpfr_ptr)0);
}

/* The oracle opened on one row. */
typedef struct opened {
    tk_case c;
    const void *buffers[4];
    void *tables, *prepared;
    tki_oracle_job job;
} opened;

static void set_options(tk_case *c, const tk_xent_options *options)
{
    c->attributes[TKI_XENT_LABEL_SMOOTHING].real = (double)options->label_smoothing;
    c->attributes[TKI_XENT_SCALE].real = (double)options->scale;
    c->attributes[TKI_XENT_IGNORE_INDEX].integer = options->ignore_index;
}

static void open_oracle(opened *o, const row *r, void *tables, bool promised)
{
    o->c = tk_case_init(tk_contract_find("xent"), r->dtype);
    o->c.index_dtype = TK_I64;
    o->c.dims[0] = 1;
    o->c.dims[1] = r->cols;
    set_options(&o->c, &r->options);
    o->buffers[TKI_XENT_LOGITS] = r->x;
    o->buffers[TKI_XENT_TARGETS] = &r->target;
    o->buffers[TKI_XENT_LOSSES] = NULL;
    o->buffers[TKI_XENT_GRADIENTS] = NULL;
    o->job = (tki_oracle_job){.c = &o->c, .buffers = o->buffers, .promised = promised, .tables = tables};
    assert_int_equal(tki_xent_oracle.prepare(&o->job, &o->prepared), TK_OK);
    o->job.prepared = o->prepared;
}

static tki_enclosure enclosed(opened *o, int output, int64_t col)
{
    tki_enclosure e;
    o->job.output = output;
    assert_int_equal(tki_xent_oracle.enclose(&o->job, &(tki_box){0, 1, col, col + 1}, &e), TK_OK);
    return e;
}

/* What the reference itself may be off by. */
static const double SLACK = 0x1p-1000;

static void assert_enclosed(opened *o, int output, int64_t col, mpfr_srcptr exact)
{
    tki_enclosure e = enclosed(o, output, col);
    mpfr_t lo;
    mpfr_t hi;
    mpfr_inits2(128, lo, hi, (mpfr_ptr)0);
    unsigned beside = output == TKI_XENT_LOSSES && o->job.promised ? TKI_NOT_NEGATIVE : 0u;
    assert_int_equal(e.admits, TKI_ADMIT_INTERVAL | beside);
    assert_true(isfinite(e.lo) && isfinite(e.hi) && e.bound > 0);
    assert_true(mpfr_cmp_d(exact, e.lo - SLACK) >= 0 && mpfr_cmp_d(exact, e.hi + SLACK) <= 0);
    for (int precision = 128; precision <= 512; precision *= 2) {
        assert_int_equal(tki_xent_oracle.refine(&o->job, 0, col, precision, lo, hi), TK_OK);
        mpfr_sub_d(lo, lo, SLACK, MPFR_RNDD);
        mpfr_add_d(hi, hi, SLACK, MPFR_RNDU);
        assert_true(mpfr_cmp(lo, exact) <= 0 && mpfr_cmp(exact, hi) <= 0);
        /* P and Q are below 1 and lose little more than the guard bits. */
        mpfr_sub(hi, hi, lo, MPFR_RNDU);
        double size = output == TKI_XENT_LOSSES ? fmax(fabs(e.hi), 1) : fabs(o->c.attributes[TKI_XENT_SCALE].real);
        assert_true(mpfr_cmp_d(hi, ldexp(size, 16 - precision) + 4 * SLACK) <= 0);
    }
    mpfr_clears(lo, hi, (mpfr_ptr)0);
}

static double drawn_logit(tki_random *random, int kind)
{
    switch (kind) {
    case 0: return 3 * tki_random_normal(random);
    case 1: return 65504 * (2 * tki_random_unit(random) - 1);
    case 2: return 0.5;
    case 3: return tki_random_u64(random) % 8 ? -60 * tki_random_unit(random) : 40;
    case 4: return 0x1p-14 * tki_random_normal(random);
    default: return tki_random_u64(random) % 3 ? -65504 : 2 * tki_random_normal(random);
    }
}

/* XENT.ERR, XENT.LOSS: enclosures contain the textbook values, and so do refined ones. */
TEST(oracle_agrees_with_textbook)
{
    static const tk_xent_options options[] = {
        {0, 1, -100}, {0.1f, -0.25f, -100}, {1, 65536, -100}, {0x1p-149f, 0x1p-140f, -100}};
    printf("seed %d\n", SEED);
    mpfr_t exact;
    mpfr_init2(exact, PRECISION);
    for (int d = 0; d < 3; d++) {
        void *tables;
        assert_int_equal(tki_xent_oracle.open(dtypes[d], &tables), TK_OK);
        for (int i = 0; i < effort(48); i++) {
            static const int64_t sizes[] = {1, 2, 3, 17};
            tki_random random = tki_random_stream(SEED, (uint64_t)i);
            double x[MOST_COLS];
            int64_t cols = sizes[i / 6 % 4];
            for (int64_t j = 0; j < cols; j++)
                x[j] = drawn_logit(&random, i % 6);
            row r = make_row(dtypes[d], (int64_t)tki_random_below(&random, (uint64_t)cols), options[i % 4], cols, x);
            opened o;
            open_oracle(&o, &r, tables, i & 1);
            textbook_loss(exact, &r, -1, 0);
            assert_enclosed(&o, TKI_XENT_LOSSES, 0, exact);
            for (int64_t j = 0; j < cols; j++) {
                textbook_gradient(exact, &r, j);
                assert_enclosed(&o, TKI_XENT_GRADIENTS, j, exact);
            }
            tki_xent_oracle.release(o.prepared);
        }
    }
    mpfr_clear(exact);
    mpfr_free_cache();
}

/* Law: the difference quotient of the loss is the gradient. */
TEST(gradient_is_the_derivative_of_the_loss)
{
    mpfr_t above;
    mpfr_t below;
    mpfr_inits2(PRECISION, above, below, (mpfr_ptr)0);
    for (int d = 0; d < 3; d++) {
        void *tables;
        assert_int_equal(tki_xent_oracle.open(dtypes[d], &tables), TK_OK);
        for (int i = 0; i < effort(12); i++) {
            tki_random random = tki_random_stream(SEED, 100 + (uint64_t)i);
            double x[7];
            for (int j = 0; j < 7; j++)
                x[j] = drawn_logit(&random, i % 2 ? 0 : 3);
            row r = make_row(dtypes[d], i % 7, plain(i % 3 ? 0.25f : 0, 1), 7, x);
            opened o;
            open_oracle(&o, &r, tables, false);
            for (int64_t j = 0; j < 7; j++) {
                textbook_loss(above, &r, j, 0x1p-300);
                textbook_loss(below, &r, j, -0x1p-300);
                mpfr_sub(above, above, below, MPFR_RNDN);
                mpfr_mul_2ui(above, above, 299, MPFR_RNDN);
                tki_enclosure e = enclosed(&o, TKI_XENT_GRADIENTS, j);
                /* The quotient's own error is of the order 2^-600. */
                assert_true(mpfr_cmp_d(above, e.lo - 0x1p-500) >= 0 && mpfr_cmp_d(above, e.hi + 0x1p-500) <= 0);
                assert_true(e.hi - e.lo <= 0x1p-45);
            }
            tki_xent_oracle.release(o.prepared);
        }
    }
    mpfr_clears(above, below, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* XENT.PROMISE: the promised bounds are no larger where sums are long, and a two-class loss log1p(exp(-d)) keeps
 * its relative accuracy for every d, without the contract's allowance for rescaling. */
TEST(loss_keeps_relative_accuracy)
{
    mpfr_t exact;
    mpfr_init2(exact, 200);
    double worst = 0;
    for (uint32_t pattern = 0; tki_decode(TK_F16, pattern) < 86; pattern += 5) {
        double d = tki_decode(TK_F16, pattern);
        row r = run_values(TK_F16, 0, plain(0, 1), 2, (double[]){d, 0});
        mpfr_set_d(exact, -d, MPFR_RNDN);
        mpfr_exp(exact, exact, MPFR_RNDN);
        mpfr_log1p(exact, exact, MPFR_RNDN);
        double relative = fabs((double)r.loss / mpfr_get_d(exact, MPFR_RNDN) - 1) / 0x1p-24;
        assert_true(relative <= 2.25 * d + 10);
        worst = fmax(worst, relative - 2.25 * d);
    }
    printf("two-class loss: at most %.2f u beyond 2.25 d u\n", worst);
    mpfr_clear(exact);
    tki_xent_row wide = {.rescalings = 32,
                         .cols = 4096,
                         .ln_cols = 8.4,
                         .scale = 1,
                         .ln_z = 8.4,
                         .depth = tki_softmax_depth(4096, 4096, false)};
    tki_xent_row promised = wide;
    promised.promised = true;
    promised.depth = tki_softmax_depth(4096, 4096, true);
    assert_true(wide.depth == 4095 && promised.depth == 32 && tki_softmax_depth(0, 0, true) == 0);
    assert_true(tki_xent_grad_bound(&promised, 1, 0.5, 0, 0.5) < tki_xent_grad_bound(&wide, 1, 0.5, 0, 0.5));
    assert_true(tki_xent_target_grad_bound(&promised, 0.5, 0, 0.5) < tki_xent_target_grad_bound(&wide, 0.5, 0, 0.5));
    promised.ln_z = 1e-6;
    assert_true(tki_xent_loss_bound(&promised) < tki_xent_loss_bound(&wide) / 1000);
}

/* XENT.ERR: where W reaches 1/2 there is no bound, except that nothing can go wrong with P = 0. */
TEST(no_bound_for_endless_sums)
{
    tki_xent_row facts = {
        .cols = 0x1p24, .ln_cols = 17, .scale = 1, .depth = tki_softmax_depth(1 << 24, 1 << 24, false)};
    assert_true(isinf(tki_xent_grad_bound(&facts, 1, 0.5, 0, 0.5)));
    assert_true(isinf(tki_xent_target_grad_bound(&facts, 0.5, 0, 0.5)));
    assert_true(tki_xent_grad_bound(&facts, 1, 0, 0, 0) < 0x1p-125);
    assert_true(tki_xent_grad_bound(&facts, 105, 0x1p-151, 0, 0x1p-151) < 0x1p-125);
    facts.depth = tki_softmax_depth(1 << 24, 1 << 24, true);
    assert_true(isfinite(tki_xent_grad_bound(&facts, 1, 0.5, 0, 0.5)));
}

/* -- Values --------------------------------------------------------------------------------------------------- */

/* XENT.ERR, XENT.LOSS: values known by hand. */
TEST(known_values)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        row r = run_values(t, 1, plain(0, 1), 4, (double[]){5, 5, 5, 5});
        assert_float_equal(r.loss, 1.38629436f, 1e-6f); /* ln 4 */
        assert_true(grad_of(&r, 0) == 0.25 && grad_of(&r, 1) == -0.75);
        r = run_values(t, 1, plain(1, 8), 4, (double[]){5, 5, 5, 5});
        assert_float_equal(r.loss, 1.38629436f, 1e-6f);
        assert_true(grad_of(&r, 0) == 0 && grad_of(&r, 1) == 0);
        /* p = 3/4, 1/4 would need ln 3; 104 below the maximum is as good as absent. */
        r = run_values(t, 0, plain(0, -2), 3, (double[]){1, 1, -200});
        assert_float_equal(r.loss, 0.693147181f, 1e-6f);
        assert_true(grad_of(&r, 0) == 1 && grad_of(&r, 1) == -1 && grad_of(&r, 2) == 0);
        /* A confident row: p - 1 in fp32 is 0, the exact value is -e^-20 / (1 + e^-20). */
        r = run_values(t, 0, plain(0, 65536), 2, (double[]){20, 0});
        for (int j = 0; j < 2; j++) {
            double expected = (j ? 65536 : -65536) * 2.0611536e-9;
            assert_true(fabs(grad_of(&r, j) - expected) <= fmax(tki_ulp(t, expected) / 2, 1e-7 * fabs(expected)));
        }
        assert_float_equal(r.loss * 1e9f, 2.0611536f, 1e-6f);
        /* One class: nothing to learn. */
        r = run_values(t, 0, plain(0.5f, 3), 1, (double[]){-7});
        assert_true(r.loss == 0 && grad_of(&r, 0) == 0);
    }
}

/* XENT.LOSS, XENT.PROMISE: differences beyond fp32's range. */
static void assert_differences_beyond_fp32(tk_dtype t)
{
    const double ends[] = {0x1p127, -0x1p127};
    assert_true(run_values(t, 0, plain(0, 1), 2, ends).loss == 0);
    assert_true(isinf(run_values(t, 1, plain(0, 1), 2, ends).loss));
    assert_true(run_values(t, 1, plain(0.5f, 1), 2, ends).loss == 0x1.8p127f);
    assert_true(run_values(t, 0, plain(0x1p-149f, 1), 2, ends).loss == 0x1p-22f);
    /* The sum of the differences is 2^137, its share finite. */
    double x[513];
    for (int j = 0; j < 513; j++)
        x[j] = j ? -0x1p127 : 0x1p127;
    row r = run_values(t, 0, plain(0.25f, 1), 513, x);
    assert_float_equal(r.loss / 0x1p126f, 512.0f / 513, 1e-6f);
    r = run_values(t, 0, plain(1, 1), 513, x);
    assert_float_equal(r.loss / 0x1p127f, 2 * 512.0f / 513, 1e-6f);
}

TEST(differences_beyond_fp32)
{
    assert_differences_beyond_fp32(TK_BF16);
    assert_differences_beyond_fp32(TK_F32);
    row r = run_values(TK_F16, 1, plain(1, 1), 2, (double[]){65504, -65504});
    assert_true(r.loss == 65504);
}

static bool loss_accepted(opened *o, double loss)
{
    tki_judgement judgement = {0};
    float out = (float)loss;
    o->job.output = TKI_XENT_LOSSES;
    assert_int_equal(tki_judge(&tki_xent_oracle, &o->job, &out, 1, &judgement), TK_OK);
    return !judgement.failure.present;
}

/* XENT.LOSS: a kernel that forms the distances in fp32 meets infinity where the smoothing would bring it back; that is admitted, NaN and
 * -inf are not. XENT.PROMISE: our lowerings give the finite value. Without smoothing a distance overflows with the loss only. */
TEST(overflow_that_smoothing_brings_back)
{
    static const struct {
        double x[3];
        float eps;
        bool overflows;
        double loss;
    } rows[] = {
        {{0x1p127, -0x1p127, -0x1p127}, 0.5f, true, 0x1p128 / 3}, /* a distance */
        {{0x1p127, 0, 0}, 0.5f, true, 0x1p127 / 3},               /* their sum */
        {{0x1p126, 0, 0}, 0.5f, false, 0x1p126 / 3},              /* neither */
        {{0x1p127, -0x1p127, -0x1p127}, 0, false, 0},             /* the target's is zero, the others do not count */
        {{0x1p127, -0x1p127, -0x1p127}, 0x1p-149f, true, 0x1p-20 / 3}, /* hardly any weight */
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++)
        for (int promised = 0; promised < 2; promised++) {
            const size_t which = i % (sizeof rows / sizeof *rows);
            const tk_dtype t = i < sizeof rows / sizeof *rows ? TK_BF16 : TK_F32;
            void *tables;
            assert_int_equal(tki_xent_oracle.open(t, &tables), TK_OK);
            row r = make_row(t, 0, plain(rows[which].eps, 1), 3, rows[which].x);
            opened o;
            open_oracle(&o, &r, tables, promised);
            assert_true(loss_accepted(&o, rows[which].loss));
            assert_int_equal(loss_accepted(&o, INFINITY), rows[which].overflows && !promised);
            assert_false(loss_accepted(&o, -INFINITY));
            assert_false(loss_accepted(&o, NAN));
            tki_xent_oracle.release(o.prepared);
        }
    /* fp16 never gets there. */
    tki_xent_row halves = {.cols = 0x1p40, .label_smoothing = 1, .sum_d = 0x1p40 * 0x1p17, .depth_d = 0x1p40};
    assert_false(tki_xent_loss_may_overflow(&halves));
}

/* XENT.PROMISE: the loss is never below zero; XENT.LOSS: -log(p) with p rounded above 1 may be, a little. */
TEST(losses_below_zero)
{
    for (int d = 0; d < 3; d++)
        for (int promised = 0; promised < 2; promised++) {
            void *tables;
            assert_int_equal(tki_xent_oracle.open(dtypes[d], &tables), TK_OK);
            for (double far = 50; far <= 200; far += 50) {
                row r = make_row(dtypes[d], 0, plain(0, 1), 2, (double[]){0, -far});
                opened o;
                open_oracle(&o, &r, tables, promised);
                assert_int_equal(loss_accepted(&o, -0x1p-24), !promised);
                assert_int_equal(loss_accepted(&o, -0x1p-130), !promised);
                assert_true(loss_accepted(&o, far > 104 ? 0.0 : exp(-far)));
                assert_int_equal(loss_accepted(&o, -0.0), far > 90 || !promised);
                assert_false(loss_accepted(&o, -0x1p-10));
                tki_xent_oracle.release(o.prepared);
            }
        }
}

/* XENT.LOSS, XENT.PROMISE: of a plateau of 128256 classes no 700 can be left out of the sum, of 3000 not even one. */
TEST(plateaus_have_little_slack)
{
    static const struct {
        int64_t cols, dropped;
    } counts[] = {{128256, 700}, {128256, 8}, {3000, 1}, {100, 1}};
    static uint32_t x[128256];
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 4; k++)
            for (int promised = 0; promised < 2; promised++)
                for (int far = 0; far < 2; far++) {
                    void *tables;
                    assert_int_equal(tki_xent_oracle.open(dtypes[d], &tables), TK_OK);
                    double top = 0;
                    for (int64_t j = 0; j < counts[k].cols; j++) {
                        bool is_far = far && j % 4 == 3;
                        put_value(dtypes[d], x, j, is_far ? -150 : 1);
                        top += !is_far;
                    }
                    int64_t target = 0;
                    opened o = {.c = tk_case_init(tk_contract_find("xent"), dtypes[d])};
                    o.c.index_dtype = TK_I64;
                    o.c.dims[0] = 1;
                    o.c.dims[1] = counts[k].cols;
                    o.buffers[TKI_XENT_LOGITS] = x;
                    o.buffers[TKI_XENT_TARGETS] = &target;
                    o.job = (tki_oracle_job){.c = &o.c, .buffers = o.buffers, .promised = promised, .tables = tables};
                    assert_int_equal(tki_xent_oracle.prepare(&o.job, &o.prepared), TK_OK);
                    o.job.prepared = o.prepared;
                    assert_true(loss_accepted(&o, log(top)));
                    assert_false(loss_accepted(&o, log(top - (double)counts[k].dropped)));
                    assert_false(loss_accepted(&o, log(top + (double)counts[k].dropped)));
                    tki_xent_oracle.release(o.prepared);
                }
}

/* XENT.ERR: every kind of scale; overflow goes to infinity and is not cut off. */
TEST(scales)
{
    const double x[] = {0, 0};
    for (int d = 0; d < 3; d++) {
        row r = run_values(dtypes[d], 0, plain(0, 0), 2, x);
        assert_true(grad_of(&r, 0) == 0 && grad_of(&r, 1) == 0);
        r = run_values(dtypes[d], 0, plain(0, 0x1p-149f), 2, x);
        assert_true(grad_of(&r, 0) == 0 && grad_of(&r, 1) == 0);
    }
    row r = run_values(TK_F16, 0, plain(0, FLT_MAX), 2, x);
    assert_true(grad_of(&r, 0) == -INFINITY && grad_of(&r, 1) == INFINITY);
    r = run_values(TK_F16, 0, plain(0, -131008), 2, x); /* 65504 is the largest */
    assert_true(grad_of(&r, 0) == 65504 && grad_of(&r, 1) == -65504);
    r = run_values(TK_F16, 0, plain(0, 131040), 2, x); /* 65520 rounds to infinity */
    assert_true(grad_of(&r, 0) == -INFINITY && grad_of(&r, 1) == INFINITY);
    r = run_values(TK_BF16, 1, plain(0, FLT_MAX), 2, (double[]){0, -300});
    assert_true(grad_of(&r, 0) == INFINITY && grad_of(&r, 1) == -INFINITY);
}

/* XENT.NAN */
TEST(nan_rows)
{
    const double rows[][3] = {{NAN, 1, 2},
                              {1, NAN, 2},
                              {1, 2, NAN},
                              {INFINITY, 1, 2},
                              {1, 2, INFINITY},
                              {-INFINITY, -INFINITY, -INFINITY},
                              {-INFINITY, NAN, 0.5},
                              {-INFINITY, INFINITY, 1},
                              {INFINITY, INFINITY, INFINITY}};
    for (int d = 0; d < 3; d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int64_t target = 0; target < 3; target++)
                for (int smooth = 0; smooth < 3; smooth++) {
                    row r = run_values(dtypes[d], target, plain((float)smooth / 2, 0), 3, rows[i]);
                    assert_true(isnan(r.loss));
                    for (int64_t j = 0; j < 3; j++)
                        assert_true(isnan(grad_of(&r, j)));
                }
    /* One NaN far away in a long row. */
    double x[MOST_COLS] = {0};
    for (int64_t place = 0; place < MOST_COLS; place += 37) {
        x[place] = NAN;
        row r = run_values(TK_F16, 300, plain(0, 1), MOST_COLS, x);
        assert_true(isnan(r.loss) && isnan(grad_of(&r, 0)) && isnan(grad_of(&r, MOST_COLS - 1)));
        x[place] = 0;
    }
}

/* XENT.INF */
TEST(minus_infinity)
{
    const double x[] = {0, -INFINITY, 0, -INFINITY};
    for (int d = 0; d < 3; d++) {
        row r = run_values(dtypes[d], 0, plain(0, 2), 4, x);
        assert_float_equal(r.loss, 0.693147181f, 1e-6f); /* the infinite ones have no weight */
        assert_true(grad_of(&r, 0) == -1 && grad_of(&r, 1) == 0 && grad_of(&r, 2) == 1 && grad_of(&r, 3) == 0);
        r = run_values(dtypes[d], 1, plain(0, 2), 4, x);
        assert_true(r.loss == INFINITY);
        assert_true(grad_of(&r, 0) == 1 && grad_of(&r, 1) == -2 && grad_of(&r, 3) == 0);
        r = run_values(dtypes[d], 0, plain(0.5f, 2), 4, x);
        assert_true(r.loss == INFINITY);
        assert_true(grad_of(&r, 0) == -0.25 && grad_of(&r, 1) == -0.25 && grad_of(&r, 2) == 0.75);
        r = run_values(dtypes[d], 1, plain(1, 4), 4, x);
        assert_true(r.loss == INFINITY);
        assert_true(grad_of(&r, 0) == 1 && grad_of(&r, 1) == -1);
        r = run_values(dtypes[d], 0, plain(0, 1), 2, (double[]){3, -INFINITY});
        assert_true(r.loss == 0 && grad_of(&r, 0) == 0 && grad_of(&r, 1) == 0);
        r = run_values(dtypes[d], 0, plain(0x1p-149f, 1), 2, (double[]){3, -INFINITY});
        assert_true(r.loss == INFINITY);
    }
}

/* XENT.IGNORE */
TEST(ignored_rows)
{
    static const int64_t ignored[] = {-100, INT64_MIN, 2, 7};
    for (size_t i = 0; i < 4; i++) {
        tk_xent_options options = {.label_smoothing = 0.5f, .scale = -1, .ignore_index = ignored[i]};
        row r = run_values(TK_F16, ignored[i], options, 3, (double[]){NAN, INFINITY, 1});
        assert_int_equal(tki_element_bits(TK_F32, &r.loss, 0), 0);
        for (int64_t j = 0; j < 3; j++)
            assert_int_equal(tki_element_bits(TK_F16, r.grad, j), 0);
    }
    /* Without columns an ignored row still has a loss. */
    tk_ctx *ctx = new_context();
    const int32_t target[2] = {-100, -100};
    float loss[2] = {5, 5};
    assert_ok(ctx, tk_xent(ctx, TK_BF16, TK_I32, 2, 0, NULL, target, NULL, loss, NULL));
    assert_true(loss[0] == 0 && loss[1] == 0 && !signbit(loss[0]));
    tk_ctx_destroy(ctx);
}

/* XENT.INDEX */
TEST_WITH_CONTEXT(bad_targets)
{
    uint16_t x[12] = {0};
    uint16_t grad[12];
    uint16_t grad_before[12];
    float loss[4] = {1, 2, 3, 4};
    const float loss_before[4] = {1, 2, 3, 4};
    const int32_t narrow[4] = {0, -100, 3, -1};
    const int64_t wide[4] = {0, 1, 2, INT64_C(1) << 32};
    memset(grad, 0x5a, sizeof grad);
    memcpy(grad_before, grad, sizeof grad);
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 4, 3, x, narrow, NULL, loss, grad), TK_BAD_INDEX,
                   "target[2] = 3 is outside [0, 3)");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I64, 4, 3, x, wide, NULL, loss, grad), TK_BAD_INDEX,
                   "target[3] = 4294967296 is outside [0, 3)");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 0, NULL, narrow, NULL, loss, NULL), TK_BAD_INDEX,
                   "target[0] = 0 is outside [0, 0)");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 4, 3, x, narrow, NULL, loss, x), TK_BAD_INDEX, "target[2]");
    assert_memory_equal(grad, grad_before, sizeof grad);
    assert_memory_equal(loss, loss_before, sizeof loss);
    for (int i = 0; i < 12; i++)
        assert_int_equal(x[i], 0);
}

/* -- Buffers, sizes, threads ------------------------------------------------------------------------------------ */

typedef struct batch {
    int64_t rows, cols;
    size_t element; /* bytes of one */
    char *x, *grad;
    int64_t *target;
    float *loss;
} batch;

static batch make_batch(tk_dtype dtype, int64_t rows, int64_t cols, uint64_t stream)
{
    size_t elements = (size_t)(rows * cols) + 8;
    batch b = {.rows = rows,
               .cols = cols,
               .element = tk_dtype_size(dtype),
               .x = malloc(elements * tk_dtype_size(dtype)),
               .grad = calloc(elements, tk_dtype_size(dtype)),
               .target = malloc((size_t)(rows + 1) * sizeof *b.target),
               .loss = calloc((size_t)rows + 1, sizeof *b.loss)};
    assert_true(b.x && b.grad && b.target && b.loss);
    tki_random random = tki_random_stream(SEED, stream);
    for (size_t i = 0; i < elements; i++)
        put_value(dtype, b.x, (int64_t)i, 3 * tki_random_normal(&random));
    for (int64_t i = 0; i < rows; i++)
        b.target[i] = tki_random_below(&random, 8) ? (int64_t)tki_random_below(&random, (uint64_t)cols) : -100;
    return b;
}

static void free_batch(batch *b)
{
    free(b->x);
    free(b->grad);
    free(b->target);
    free(b->loss);
}

/* XENT.REPEAT, XENT.INPLACE: other thread counts, other rows around, and the gradient over the logits: the same
 * bits. */
TEST(same_bits_everywhere)
{
    static const int threads[] = {1, 2, 3, 7};
    tk_xent_options options = plain(0.1f, 64);
    tk_ctx *ctx = new_context();
    for (int d = 0; d < 3; d++) {
        batch b = make_batch(dtypes[d], 61, 515, 200);
        batch again = make_batch(dtypes[d], 61, 515, 200);
        const size_t row_bytes = 515 * b.element;
        size_t bytes = 61 * row_bytes;
        assert_ok(ctx, tk_ctx_set_threads(ctx, 1));
        assert_ok(ctx, tk_xent(ctx, dtypes[d], TK_I64, b.rows, b.cols, b.x, b.target, &options, b.loss, b.grad));
        for (int t = 0; t < 4; t++) {
            assert_ok(ctx, tk_ctx_set_threads(ctx, threads[t]));
            assert_ok(ctx, tk_xent(ctx, dtypes[d], TK_I64, b.rows, b.cols, b.x, b.target, &options, again.loss,
                                   again.grad));
            assert_memory_equal(again.grad, b.grad, bytes);
            assert_memory_equal(again.loss, b.loss, 61 * sizeof *b.loss);
            memcpy(again.x, b.x, bytes);
            memset(again.loss, 0, 61 * sizeof *b.loss);
            assert_ok(ctx, tk_xent(ctx, dtypes[d], TK_I64, b.rows, b.cols, again.x, b.target, &options, again.loss,
                                   again.x));
            assert_memory_equal(again.x, b.grad, bytes);
            assert_memory_equal(again.loss, b.loss, 61 * sizeof *b.loss);
        }
        float loss;
        assert_ok(ctx, tk_xent(ctx, dtypes[d], TK_I64, 1, b.cols, b.x + 40 * row_bytes, b.target + 40, &options,
                               &loss, again.grad));
        assert_memory_equal(again.grad, b.grad + 40 * row_bytes, row_bytes);
        assert_memory_equal(&loss, b.loss + 40, sizeof loss);
        free_batch(&b);
        free_batch(&again);
    }
    tk_ctx_destroy(ctx);
}

/* XENT.SHAPE, XENT.WRITE: sizes around the kernel's block, buffers off by one element, neighbours untouched, both
 * index types alike. */
TEST_WITH_CONTEXT(any_size_and_alignment)
{
    static const int64_t sizes[][2] = {{0, 0},   {0, 5},   {1, 1},   {3, 1},  {2, 2},
                                       {3, 255}, {3, 256}, {3, 257}, {2, 513}};
    for (size_t s = 0; s < 2 * sizeof sizes / sizeof *sizes; s++) {
        const tk_dtype t = s % 2 ? TK_F32 : TK_BF16;
        int64_t rows = sizes[s / 2][0];
        int64_t cols = sizes[s / 2][1];
        batch b = make_batch(t, rows, cols ? cols : 1, 300 + s);
        size_t bytes = (size_t)(rows * cols) * b.element;
        char out[4 * 2048] __attribute__((aligned(4)));
        char shifted[4 * 2048] __attribute__((aligned(4)));
        float loss[8];
        int32_t narrow[4];
        memset(out, 0xcd, sizeof out);
        memset(loss, 0xcd, sizeof loss);
        for (int64_t i = 0; i < rows; i++)
            narrow[i] = (int32_t)b.target[i];
        memcpy(shifted + b.element, b.x, bytes);
        assert_ok(ctx, tk_xent(ctx, t, TK_I64, rows, cols, b.x, b.target, NULL, b.loss, b.grad));
        assert_ok(ctx, tk_xent(ctx, t, TK_I32, rows, cols, shifted + b.element, narrow, NULL, loss + 1,
                               out + 3 * b.element));
        assert_memory_equal(out + 3 * b.element, b.grad, bytes);
        assert_memory_equal(loss + 1, b.loss, (size_t)rows * sizeof *loss);
        assert_memory_equal(shifted + b.element, b.x, bytes);
        for (size_t i = 0; i < sizeof out; i++)
            assert_true((i >= 3 * b.element && i < 3 * b.element + bytes) || out[i] == (char)0xcd);
        for (size_t i = 0; i < 8; i++)
            assert_true((i >= 1 && i < 1 + (size_t)rows) || tki_element_bits(TK_F32, loss, (int64_t)i) == 0xcdcdcdcd);
        free_batch(&b);
    }
}

TEST_WITH_CONTEXT(bad_arguments_write_nothing)
{
    uint16_t x[8] = {0};
    uint16_t y[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint16_t y_before[8];
    const int32_t target[2] = {0, 1};
    float loss[2] = {7, 7};
    memcpy(y_before, y, sizeof y);
    tk_xent_options bad = plain(1.5f, 1);
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, -1, 4, x, target, NULL, loss, y), TK_BAD_ARGUMENT, "negative");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, -4, x, target, NULL, loss, y), TK_BAD_ARGUMENT, "negative");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, INT64_C(1) << 33, INT64_C(1) << 33, x, target, NULL, loss, y),
                   TK_BAD_ARGUMENT, "63 bits");
    assert_refused(ctx, tk_xent(ctx, TK_U64, TK_I32, 2, 4, x, target, NULL, loss, y), TK_BAD_ARGUMENT, "u64");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_F16, 2, 4, x, target, NULL, loss, y), TK_BAD_ARGUMENT, "index type");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 4, NULL, target, NULL, loss, y), TK_BAD_ARGUMENT,
                   "logits is NULL");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 4, x, target, NULL, NULL, y), TK_BAD_ARGUMENT,
                   "loss is NULL");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 1, 3, x, target, NULL, loss, (char *)y + 1), TK_BAD_ARGUMENT,
                   "not aligned");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 1, 4, x, target, NULL, loss, x + 1), TK_BAD_ARGUMENT,
                   "overlaps");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 4, x, target, NULL, (float *)(void *)y, y), TK_BAD_ARGUMENT,
                   "overlaps");
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 4, x, target, &bad, loss, y), TK_BAD_ARGUMENT,
                   "label_smoothing");
    bad = plain(NAN, 1);
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 4, x, target, &bad, loss, y), TK_BAD_ARGUMENT,
                   "label_smoothing");
    bad = plain(0, INFINITY);
    assert_refused(ctx, tk_xent(ctx, TK_F16, TK_I32, 2, 4, x, target, &bad, loss, y), TK_BAD_ARGUMENT, "scale");
    assert_memory_equal(y, y_before, sizeof y);
    assert_true(loss[0] == 7 && loss[1] == 7);
}

/* -- Laws of the outputs --------------------------------------------------------------------------------------- */

/* Gradient rows sum to zero up to their bounds and roundings; without smoothing no loss is negative. */
TEST(gradients_sum_to_zero)
{
    for (int d = 0; d < 3; d++) {
        void *tables;
        assert_int_equal(tki_xent_oracle.open(dtypes[d], &tables), TK_OK);
        for (int i = 0; i < effort(60); i++) {
            tki_random random = tki_random_stream(SEED, 400 + (uint64_t)i);
            int64_t cols = 1 + (int64_t)tki_random_below(&random, MOST_COLS);
            double x[MOST_COLS];
            for (int64_t j = 0; j < cols; j++)
                x[j] = drawn_logit(&random, i % 6);
            row r = run_values(dtypes[d], i % cols, plain(i % 3 ? 0 : 0.3f, 1), cols, x);
            assert_true(r.loss >= 0);
            opened o;
            open_oracle(&o, &r, tables, true);
            double sum = 0;
            double allowed = 0;
            for (int64_t j = 0; j < cols; j++) {
                sum += grad_of(&r, j);
                allowed += enclosed(&o, TKI_XENT_GRADIENTS, j).bound + tki_ulp(dtypes[d], grad_of(&r, j));
            }
            assert_true(fabs(sum) <= allowed * (1 + 0x1p-30));
            tki_xent_oracle.release(o.prepared);
        }
    }
}

/* Without smoothing the gradient away from the target is softmax, to within one ulp of 16 bits: both round the same number.
 * fp32 shows how each of them got there. */
TEST(agrees_with_softmax)
{
    const tk_contract *softmax = tk_contract_find("softmax_fwd");
    if (!softmax)
        skip();
    tk_ctx *ctx = new_context();
    for (int d = 0; d < 2; d++) {
        batch b = make_batch(dtypes[d], 40, 300, 500);
        uint16_t *y = calloc(40 * 300, sizeof *y);
        assert_non_null(y);
        tk_case c = tk_case_init(softmax, dtypes[d]);
        c.dims[0] = 40;
        c.dims[1] = 300;
        assert_ok(ctx, tk_run(ctx, &c, (void *[]){b.x, y}));
        assert_ok(ctx, tk_xent(ctx, dtypes[d], TK_I64, 40, 300, b.x, b.target, NULL, b.loss, b.grad));
        for (int i = 0; i < 40 * 300; i++) {
            int64_t target = b.target[i / 300];
            double p = tki_decode(dtypes[d], y[i]);
            if (target == -100)
                assert_int_equal(tki_element_bits(dtypes[d], b.grad, i), 0);
            else if (i % 300 != target)
                assert_true(fabs(p - value_at(dtypes[d], b.grad, i)) <= tki_ulp(dtypes[d], p));
            else
                assert_true(fabs(p - 1 - value_at(dtypes[d], b.grad, i)) <= tki_ulp(dtypes[d], 1));
        }
        free(y);
        free_batch(&b);
    }
    tk_ctx_destroy(ctx);
}

/* -- Certificates ---------------------------------------------------------------------------------------------- */

/* Options that the level's own list does not have. */
TEST_WITH_CONTEXT(certified_with_extreme_options)
{
    static const tk_xent_options options[] = {
        {0.5f, FLT_MAX, 3},      {0x1p-149f, -0x1p-149f, 0}, {0, 0, -100},
        {0x1.fffffep-1f, 1, -1}, {1, -FLT_MAX, INT32_MAX},   {0.25f, 0x1p120f, -100}};
    static const char *const families[] = {"finite_bits", "huge", "minus_inf", "confident", "equal", "few"};
    static const int64_t dims[] = {12, 33};
    for (int d = 0; d < 3; d++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            tk_certify_options o = TK_CERTIFY_DEFAULTS;
            o.dims = dims;
            char smoothing[32], scale[32], ignored[32];
            snprintf(smoothing, sizeof smoothing, "%.9g", (double)options[i].label_smoothing);
            snprintf(scale, sizeof scale, "%.9g", (double)options[i].scale);
            snprintf(ignored, sizeof ignored, "%lld", (long long)options[i].ignore_index);
            const tk_setting settings[] = {
                {"label_smoothing", smoothing}, {"scale", scale}, {"ignore_index", ignored}};
            o.settings = settings;
            o.setting_count = 3;
            o.family = families[(i + (size_t)d) % 6];
            tk_certificate *c = certify_one(ctx, tk_contract_find("xent"), dtypes[d], TK_I32, o);
            if (tk_certificate_verdict(c) != TK_HELD)
                fail_msg("%s: %s", tk_certificate_reason(c), tk_certificate_reproduce(c));
            tk_certificate_destroy(c);
        }
}

TEST(certified_and_mutants_refuted)
{
    assert_op_certifies("xent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_textbook),
        cmocka_unit_test(gradient_is_the_derivative_of_the_loss),
        cmocka_unit_test(loss_keeps_relative_accuracy),
        cmocka_unit_test(no_bound_for_endless_sums),
        cmocka_unit_test(known_values),
        cmocka_unit_test(differences_beyond_fp32),
        cmocka_unit_test(overflow_that_smoothing_brings_back),
        cmocka_unit_test(losses_below_zero),
        cmocka_unit_test(plateaus_have_little_slack),
        cmocka_unit_test(scales),
        cmocka_unit_test(nan_rows),
        cmocka_unit_test(minus_infinity),
        cmocka_unit_test(ignored_rows),
        cmocka_unit_test(bad_targets),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(any_size_and_alignment),
        cmocka_unit_test(bad_arguments_write_nothing),
        cmocka_unit_test(gradients_sum_to_zero),
        cmocka_unit_test(agrees_with_softmax),
        cmocka_unit_test(certified_with_extreme_options),
        cmocka_unit_test(certified_and_mutants_refuted),
    };
    return cmocka_run_group_tests_name("xent", tests, NULL, NULL);
}
