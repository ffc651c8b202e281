/* A linear layer and its gradients: the oracle against other formulas in MPFR, laws between the epilogues and with gemm, special values,
 * tensors that are not there, bad arguments, mutants. Besides the clauses named below, LINEAR_FWD.SHAPE, LINEAR_GRAD_X.SHAPE,
 * LINEAR_GRAD_W.SHAPE, LINEAR_FWD.REPEAT, LINEAR_GRAD_X.REPEAT and LINEAR_GRAD_W.REPEAT are tried by the certificates at the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "exact/gelu_bound.h"
#include "exact/oracle.h"
#include "exact/product_bound.h"
#include "exact/round.h"
#include "model/attributes.h"
#include "ops/product/contract.h"
#include "tests/op_test.h"
#include "tokitai.h"
#include "trials/families.h"
#include "trials/op_registry.h"

/* What the header names is what kernels see. */
_Static_assert((int)TK_LINEAR_FWD_EPILOGUE_BIAS == TKI_LINEAR_BIAS, "bias");
_Static_assert((int)TK_LINEAR_FWD_EPILOGUE_BIAS_GELU == TKI_LINEAR_BIAS_GELU, "bias_gelu");
_Static_assert((int)TK_LINEAR_FWD_EPILOGUE_GELU == TKI_LINEAR_GELU, "gelu");
_Static_assert((int)TK_LINEAR_FWD_EPILOGUE_BIAS_RESIDUAL == TKI_LINEAR_BIAS_RESIDUAL, "bias_residual");
_Static_assert((int)TK_LINEAR_FWD_EPILOGUE_RESIDUAL == TKI_LINEAR_RESIDUAL, "residual");
_Static_assert((int)TK_LINEAR_FWD_EPILOGUE_NONE == TKI_LINEAR_NONE, "none");
_Static_assert((int)TK_LINEAR_GRAD_X_EPILOGUE_GELU == TKI_LINEAR_GRAD_GELU, "gelu");
_Static_assert((int)TK_LINEAR_GRAD_W_ACCUMULATE_YES == TKI_LINEAR_ADD, "yes");

enum { FWD, GRAD_X, GRAD_W, OPS };
enum { SEED = 77, BITS = 2400, MOST_PARAMS = 6 };

static const char *const op_names[OPS] = {"linear_fwd", "linear_grad_x", "linear_grad_w"};

/* Those that our lowerings take first, and those without infinities last. */
enum {
    F16,
    BF16,
    F32,
    F16_F32,
    BF16_F32,
    TYPES,
    E5M2 = TYPES,
    E5M2_F32,
    E4M3,
    WITH_INFINITIES = E4M3,
    E4M3_F32,
    E4M3_E5M2,
    E5M2_E4M3,
    ALL_TYPES
};
static const tk_types types[ALL_TYPES] = {
    {TK_F16, TK_F16},     {TK_BF16, TK_BF16},       {TK_F32, TK_F32},        {TK_F16, TK_F32},
    {TK_BF16, TK_F32},    {TK_F8_E5M2, TK_F8_E5M2}, {TK_F8_E5M2, TK_F32},    {TK_F8_E4M3, TK_F8_E4M3},
    {TK_F8_E4M3, TK_F32}, {TK_F8_E4M3, TK_F8_E5M2}, {TK_F8_E5M2, TK_F8_E4M3}};

/* -- Cases with buffers ---------------------------------------------------------------------------------------- */

typedef struct problem {
    tk_case c;
    int op;
    int64_t rows, cols, places; /* of the output, and of each sum */
    void *b[MOST_PARAMS];       /* NULL where a tensor is not there */
} problem;

static problem new_problem(int op, tk_types of, int choice, int64_t rows, int64_t cols, int64_t places)
{
    problem p = {.op = op, .rows = rows, .cols = cols, .places = places};
    p.c = tk_case_init(tk_contract_find(op_names[op]), of.dtype);
    p.c.result_dtype = of.result_dtype;
    p.c.attributes[TKI_LINEAR_EPILOGUE].integer = choice;
    const int64_t dims[OPS][3] = {{rows, cols, places}, {rows, places, cols}, {places, rows, cols}};
    memcpy(p.c.dims, dims[op], sizeof dims[op]);
    for (int i = 0; i < p.c.contract->param_count; i++)
        if (tk_case_has(&p.c, i)) {
            p.b[i] = calloc((size_t)tk_case_elements(&p.c, i) + 1, tk_dtype_size(tk_case_param_dtype(&p.c, i)));
            assert_non_null(p.b[i]);
        }
    return p;
}

static void free_problem(problem *p)
{
    for (int i = 0; i < MOST_PARAMS; i++)
        free(p->b[i]);
}

static void draw(problem *p, const char *family, uint64_t seed)
{
    assert_true(tki_family_find(family) >= 0);
    tki_family_fill(tki_family_find(family), &p->c, seed, p->b);
}

static void run(tk_ctx *ctx, problem *p)
{
    assert_ok(ctx, tk_run(ctx, &p->c, p->b));
}

static double get(const problem *p, int param, int64_t i)
{
    const tk_dtype dtype = tk_case_param_dtype(&p->c, param);
    return tki_decode(dtype, tki_element_bits(dtype, p->b[param], i));
}

static void set(problem *p, int param, int64_t i, double value)
{
    const tk_dtype dtype = tk_case_param_dtype(&p->c, param);
    tki_put_bits(dtype, p->b[param], i, tki_round_double(dtype, value));
}

static int first_output(int op)
{
    return op == FWD ? TKI_LINEAR_Y : op == GRAD_X ? TKI_LINEAR_GRAD_X_OUT : TKI_LINEAR_GRAD_W_OUT;
}

static int choices_of(int op)
{
    return op == FWD ? TKI_LINEAR_EPILOGUES : 2;
}

/* The factors of element (i, j) at place t, spelled out from the formulas. */
static double left_of(const problem *p, int64_t i, int64_t t)
{
    const int64_t *d = p->c.dims;
    return get(p, 0, p->op == FWD ? i * d[2] + t : p->op == GRAD_X ? i * d[1] + t : t * d[1] + i);
}

static double right_of(const problem *p, int64_t t, int64_t j)
{
    const int64_t *d = p->c.dims;
    return get(p, 1, p->op == FWD ? j * d[2] + t : t * d[2] + j);
}

/* What is added: bias, and residual or before. */
static void added_to(const problem *p, int64_t i, int64_t j, double term[2])
{
    const int other = p->op == FWD ? TKI_LINEAR_RESIDUAL_IN : TKI_LINEAR_GRAD_W_BEFORE;
    term[0] = p->op == FWD && p->b[TKI_LINEAR_BIAS_IN] ? get(p, TKI_LINEAR_BIAS_IN, j) : 0;
    term[1] = p->op != GRAD_X && p->b[other] ? get(p, other, i * p->cols + j) : 0;
}

static tki_enclosure enclose_one(const problem *p, int output, int64_t i, int64_t j)
{
    const tki_oracle *oracle = tki_oracle_of(p->c.contract);
    void *tables;
    tki_enclosure e;
    assert_int_equal(oracle->open(p->c.dtype, &tables), TK_OK);
    const void *buffers[MOST_PARAMS];
    memcpy(buffers, p->b, sizeof buffers);
    const tki_oracle_job job = {.c = &p->c, .buffers = buffers, .output = output, .tables = tables};
    assert_int_equal(oracle->enclose(&job, &(tki_box){i, i + 1, j, j + 1}, &e), TK_OK);
    return e;
}

/* -- The oracle against other formulas ------------------------------------------------------------------------- */

/* The sum and what is added, exactly: BITS hold all of 2^-300 .. 2^300. */
typedef struct sum {
    mpfr_t value, magnitude;
    double terms, nonzero; /* nonzero ones: of all, of products */
} sum;

static void set_sum(const problem *p, int64_t i, int64_t j, sum *s)
{
    mpfr_t term;
    mpfr_inits2(BITS, s->value, s->magnitude, term, (mpfr_ptr)0);
    mpfr_set_zero(s->value, 1);
    mpfr_set_zero(s->magnitude, 1);
    s->terms = 0;
    for (int64_t t = 0; t < p->places; t++) {
        mpfr_set_d(term, left_of(p, i, t), MPFR_RNDN);
        mpfr_mul_d(term, term, right_of(p, t, j), MPFR_RNDN);
        s->terms += !mpfr_zero_p(term);
        mpfr_add(s->value, s->value, term, MPFR_RNDN);
        mpfr_abs(term, term, MPFR_RNDN);
        mpfr_add(s->magnitude, s->magnitude, term, MPFR_RNDN);
    }
    s->nonzero = s->terms;
    double added[2];
    added_to(p, i, j, added);
    for (int k = 0; k < 2; k++) {
        s->terms += added[k] != 0;
        mpfr_add_d(s->value, s->value, added[k], MPFR_RNDN);
        mpfr_add_d(s->magnitude, s->magnitude, fabs(added[k]), MPFR_RNDN);
    }
    mpfr_clear(term);
}

static void clear_sum(sum *s)
{
    mpfr_clears(s->value, s->magnitude, (mpfr_ptr)0);
}

/* z = c (x + a x^3) and tanh z; BITS are far more than 1 + tanh cancels at |x| < 12. */
static void set_tanh(mpfr_t z, mpfr_t t, mpfr_t c, mpfr_srcptr x)
{
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_ui_div(c, 2, c, MPFR_RNDN);
    mpfr_sqrt(c, c, MPFR_RNDN);
    mpfr_sqr(z, x, MPFR_RNDN);
    mpfr_mul(z, z, x, MPFR_RNDN);
    mpfr_mul_ui(z, z, 44715, MPFR_RNDN);
    mpfr_div_ui(z, z, 1000000, MPFR_RNDN);
    mpfr_add(z, z, x, MPFR_RNDN);
    mpfr_mul(z, z, c, MPFR_RNDN);
    mpfr_tanh(t, z, MPFR_RNDN);
}

/* y = 0.5 x (1 + tanh z), and g' = 0.5 (1 + t) + 0.5 x (1 - t^2) c (1 + 3 a x^2). */
static void usual_forms(mpfr_t y, mpfr_t derivative, mpfr_srcptr x)
{
    mpfr_t z, t, c, w;
    mpfr_inits2(BITS, z, t, c, w, (mpfr_ptr)0);
    set_tanh(z, t, c, x);
    mpfr_add_ui(w, t, 1, MPFR_RNDN);
    mpfr_mul(y, w, x, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    mpfr_sqr(derivative, x, MPFR_RNDN);
    mpfr_mul_ui(derivative, derivative, 3 * 44715, MPFR_RNDN);
    mpfr_div_ui(derivative, derivative, 1000000, MPFR_RNDN);
    mpfr_add_ui(derivative, derivative, 1, MPFR_RNDN);
    mpfr_mul(derivative, derivative, c, MPFR_RNDN);
    mpfr_mul(derivative, derivative, x, MPFR_RNDN);
    mpfr_sqr(z, t, MPFR_RNDN);
    mpfr_ui_sub(z, 1, z, MPFR_RNDN);
    mpfr_mul(derivative, derivative, z, MPFR_RNDN);
    mpfr_add(derivative, derivative, w, MPFR_RNDN);
    mpfr_div_2ui(derivative, derivative, 1, MPFR_RNDN);
    mpfr_clears(z, t, c, w, (mpfr_ptr)0);
}

/* (n - 1) u magnitude, n u of fp32 products, and the underflow of products, by the contract. */
static double ieee_bound(const problem *p, const sum *s)
{
    const double magnitude = mpfr_get_d(s->magnitude, MPFR_RNDN);
    const double count = p->c.dtype == TK_F32 && s->nonzero > 0 ? s->terms : fmax(s->terms - 1, 0);
    const double places = (double)p->places;
    const double passed = places + s->terms - s->nonzero;
    const bool underflows = p->c.dtype == TK_BF16 || p->c.dtype == TK_F32;
    return count * 0x1p-24 * magnitude + (underflows ? (1 + passed * 0x1p-24) * places * 0x1p-150 : 0);
}

/* The usual bound of gelu at x, in double. */
static double gelu_bound(double x)
{
    const double two_z = fabs(2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    const double sigma = 1 / (1 + exp(x > 0 ? -two_z : two_z));
    return 0x1p-24 * fabs(x * sigma) * (8 + 4 * two_z * (1 - sigma)) + 0x1p-126 * fmin(fabs(x), 4096);
}

static void check_enclosed(const problem *p, int output, int64_t i, int64_t j, const tki_enclosure *e,
                           mpfr_srcptr value)
{
    const tki_oracle *oracle = tki_oracle_of(p->c.contract);
    void *tables;
    assert_int_equal(oracle->open(p->c.dtype, &tables), TK_OK);
    const void *buffers[MOST_PARAMS];
    memcpy(buffers, p->b, sizeof buffers);
    const tki_oracle_job job = {.c = &p->c, .buffers = buffers, .output = output, .tables = tables};
    mpfr_t lo, hi;
    mpfr_inits2(64, lo, hi, (mpfr_ptr)0);
    assert_true(mpfr_cmp_d(value, e->lo) >= 0 && mpfr_cmp_d(value, e->hi) <= 0);
    assert_int_equal(oracle->refine(&job, i, j, 200, lo, hi), TK_OK);
    assert_true(mpfr_cmp(value, lo) >= 0 && mpfr_cmp(value, hi) <= 0);
    mpfr_sub(hi, hi, lo, MPFR_RNDU);
    mpfr_mul_d(lo, lo, 0x1p-150, MPFR_RNDN);
    if (!mpfr_zero_p(hi))
        assert_true(mpfr_cmpabs(hi, lo) <= 0);
    mpfr_clears(lo, hi, (mpfr_ptr)0);
}

/* One element of one output: enclosed, and its bound is what the contract says, up to a hair. Without the clause of exact sums, which would
 * make the bound 0. */
static void check_element(const problem *p, int output, int64_t i, int64_t j)
{
    const tki_enclosure e = enclose_one(p, output, i, j);
    const bool gelu = p->op == FWD && output == TKI_LINEAR_Y && p->b[TKI_LINEAR_PRE];
    const bool derivative = p->op == GRAD_X && p->b[TKI_LINEAR_GRAD_X_PRE];
    if (e.clause != TKI_SUM_ERR)
        return;
    assert_int_equal(e.admits, TKI_ADMIT_INTERVAL);
    sum s;
    set_sum(p, i, j, &s);
    mpfr_t y, slope, at;
    mpfr_inits2(BITS, y, slope, at, (mpfr_ptr)0);
    const double sum_bound = ieee_bound(p, &s);
    const double pre = derivative ? get(p, TKI_LINEAR_GRAD_X_PRE, i * p->cols + j) : 0;
    mpfr_set(at, s.value, MPFR_RNDN);
    if (derivative)
        mpfr_set_d(at, pre, MPFR_RNDN);
    if ((gelu || derivative) && mpfr_cmpabs_ui(at, 12) < 0) {
        usual_forms(y, slope, at);
        if (derivative)
            mpfr_mul(y, s.value, slope, MPFR_RNDN);
        check_enclosed(p, output, i, j, &e, y);
        const double steep = fabs(mpfr_get_d(slope, MPFR_RNDN));
        const double own = gelu ? gelu_bound(mpfr_get_d(at, MPFR_RNDN)) : 0;
        /* With e = 0 for an exact sum, gelu's own bound remains. */
        assert_true(e.bound >= own);
        const double most = fmax(fabs(mpfr_get_d(s.value, MPFR_RNDN)), 0);
        if (gelu && sum_bound < 0x1p-14) /* where gelu's own bound hardly changes within it */
            assert_true(e.bound <= (sum_bound * fmin(steep + sum_bound, 1.13) + own) * 1.01 + 0x1p-36 * sum_bound +
                                       0x1p-24 * 16 * sum_bound);
        if (derivative)
            assert_true(e.bound <= sum_bound * steep * (1 + 0x1p-40) + (most + sum_bound) * 0x1p-24 * 200 + 0x1p-120);
    } else if (!gelu && !derivative) {
        check_enclosed(p, output, i, j, &e, s.value);
        assert_true(e.bound == 0 || (e.bound >= sum_bound && e.bound <= sum_bound * (1 + 0x1p-30)));
    }
    mpfr_clears(y, slope, at, (mpfr_ptr)0);
    clear_sum(&s);
}

/* LINEAR_FWD.ERR, LINEAR_GRAD_X.ERR, LINEAR_GRAD_W.ERR: sums of 2400 bits, and gelu by tanh. */
TEST(oracle_agrees_with_other_formulas)
{
    static const char *const families[] = {"normal", "finite_bits", "subnormal", "huge", "cancel",
                                           "few",    "midpoint",    "exact",     "mixed"};
    static const int64_t shapes[][3] = {{1, 1, 1}, {2, 3, 0}, {3, 2, 5}, {2, 2, 300}};
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < ALL_TYPES; d++)
            for (int choice = 0; choice < choices_of(op); choice++)
                for (size_t f = 0; f < sizeof families / sizeof *families; f++)
                    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                        problem p = new_problem(op, types[d], choice, shapes[s][0], shapes[s][1], shapes[s][2]);
                        draw(&p, families[f], SEED + s);
                        for (int64_t i = 0; i < p.rows * p.cols; i++) {
                            check_element(&p, first_output(op), i / p.cols, i % p.cols);
                            if (op == FWD && p.b[TKI_LINEAR_PRE])
                                check_element(&p, TKI_LINEAR_PRE, i / p.cols, i % p.cols);
                        }
                        free_problem(&p);
                    }
    mpfr_free_cache();
}

/* What the bound of gelu of an inexact argument rests on: |g'| <= 1.13 and |g''| <= 1. Beyond |x| = 8 both differ from 0 or 1 and from 0
 * by less than 2^-40. Between neighbours 2^-13 apart neither changes by more than 2^-12, as |g'''| < 2. */
TEST(gelu_is_not_steeper)
{
    const double c = sqrt(2 / M_PI), a = 0.044715;
    double steepest = 0, most_curved = 0;
    for (int i = -(8 << 13); i <= 8 << 13; i++) {
        const double x = ldexp(i, -13);
        const double z1 = 2 * c * (1 + 3 * a * x * x), z2 = 12 * c * a * x; /* of 2z */
        const double sigma = 1 / (1 + exp(-2 * c * (x + a * x * x * x)));
        const double s1 = sigma * (1 - sigma), s2 = s1 * (1 - 2 * sigma);
        steepest = fmax(steepest, fabs(sigma + x * s1 * z1));
        most_curved = fmax(most_curved, fabs(2 * s1 * z1 + x * (s2 * z1 * z1 + s1 * z2)));
    }
    assert_true(steepest + 0x1p-12 < TKI_GELU_STEEPEST && steepest > 1.12);
    assert_true(most_curved + 0x1p-12 < 1 && most_curved > 0.7);
}

/* Sums whose terms, what is added included, are few multiples of one unit have no slack; one ulp of fp32 is refused. */
TEST(exact_sums_have_no_slack)
{
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < ALL_TYPES; d++)
            for (int choice = 0; choice < choices_of(op); choice++) {
                problem p = new_problem(op, types[d], choice, 4, 5, 1200);
                draw(&p, "exact", SEED);
                const bool gelu = op == FWD ? p.b[TKI_LINEAR_PRE] != NULL : op == GRAD_X && choice == 1;
                for (int64_t i = 0; i < p.rows * p.cols && !gelu; i++) {
                    const tki_enclosure e = enclose_one(&p, first_output(op), i / p.cols, i % p.cols);
                    assert_true(e.bound == 0 && e.lo == e.hi);
                }
                if (op == FWD && gelu)
                    assert_true(enclose_one(&p, TKI_LINEAR_PRE, 3, 4).bound == 0);
                free_problem(&p);
            }
}

/* Matrix units: the further terms may be where the accumulator begins, or be added afterwards. */
TEST(bound_of_matrix_units)
{
    static const struct {
        int unit;
        double block, truncation;
    } rows[] = {{TKI_UNIT_UNKNOWN, 4, 0x1p-23}, {TKI_UNIT_SM_80, 8, 0x1p-24}, {TKI_UNIT_SM_90, 8, 0x1p-25}};
    for (int r = 0; r < 3; r++)
        for (int nonzero = 0; nonzero <= 37; nonzero++)
            for (int extras = 0; extras <= 2; extras++) {
                tki_product_sum s = {.dtype = TK_F16,
                                     .numerics = TKI_NUMERICS_TENSOR_CORE,
                                     .matrix_unit = rows[r].unit,
                                     .products = 37,
                                     .nonzero = nonzero,
                                     .magnitude = nonzero * 0.75};
                for (int i = 0; i < extras; i++)
                    tki_product_sum_add(&s, i ? -0.5 : 3);
                const double all = nonzero * 0.75 + (extras > 0 ? 3 : 0) + (extras > 1 ? 0.5 : 0);
                const double blocks = fmin(ceil(37 / rows[r].block), nonzero);
                double expected = (nonzero * rows[r].truncation + blocks * (rows[r].truncation + 0x1p-23)) * all;
                expected = nonzero == 0 || nonzero + extras <= 1 ? 0 : expected;
                const int additions = nonzero ? extras : extras > 0 ? extras - 1 : 0;
                expected += additions * 0x1p-24 * (all + expected);
                const double bound = tki_product_bound(s);
                assert_true(bound >= expected && bound <= expected * (1 + 0x1p-18));
            }
}

/* -- Special values -------------------------------------------------------------------------------------------- */

/* x w^T + bias, or + residual, in one element; the admitted values and the clause. */
static tki_enclosure special_of(int choice, tk_types of, double x, double w, double added)
{
    problem p = new_problem(FWD, of, choice, 1, 1, 1);
    set(&p, TKI_LINEAR_X, 0, x);
    set(&p, TKI_LINEAR_W, 0, w);
    if (p.b[TKI_LINEAR_BIAS_IN])
        set(&p, TKI_LINEAR_BIAS_IN, 0, added);
    else if (p.b[TKI_LINEAR_RESIDUAL_IN])
        set(&p, TKI_LINEAR_RESIDUAL_IN, 0, added);
    const tki_enclosure e = enclose_one(&p, TKI_LINEAR_Y, 0, 0);
    free_problem(&p);
    return e;
}

static void assert_admits(tki_enclosure e, unsigned admits, int clause)
{
    assert_int_equal(e.admits, admits);
    assert_int_equal(e.clause, clause);
}

/* LINEAR_FWD.NAN, LINEAR_FWD.INF, LINEAR_FWD.OVERFLOW */
TEST(special_values_forward)
{
    for (int d = 0; d < WITH_INFINITIES; d++) {
        const tk_types of = types[d];
        assert_admits(special_of(TKI_LINEAR_BIAS, of, NAN, 1, 1), TKI_ADMIT_NAN, TKI_SUM_NAN);
        assert_admits(special_of(TKI_LINEAR_BIAS, of, 1, 1, NAN), TKI_ADMIT_NAN, TKI_SUM_NAN);
        assert_admits(special_of(TKI_LINEAR_BIAS, of, INFINITY, 0, 1), TKI_ADMIT_NAN, TKI_SUM_NAN);
        assert_admits(special_of(TKI_LINEAR_BIAS, of, INFINITY, 1, -INFINITY), TKI_ADMIT_NAN, TKI_SUM_NAN);
        assert_admits(special_of(TKI_LINEAR_RESIDUAL, of, 1, 1, -INFINITY), TKI_ADMIT_MINUS_INF, TKI_SUM_INF);
        assert_admits(special_of(TKI_LINEAR_BIAS, of, 1, -INFINITY, 1), TKI_ADMIT_MINUS_INF, TKI_SUM_INF);
        assert_admits(special_of(TKI_LINEAR_BIAS_GELU, of, 1, 1, INFINITY), TKI_ADMIT_PLUS_INF, TKI_SUM_INF);
        assert_admits(special_of(TKI_LINEAR_BIAS_GELU, of, 1, 1, -INFINITY), TKI_ADMIT_NAN | TKI_ADMIT_ZERO,
                      TKI_SUM_INF);
        assert_admits(special_of(TKI_LINEAR_BIAS_GELU, of, NAN, 1, -INFINITY), TKI_ADMIT_NAN, TKI_SUM_NAN);
    }
    const unsigned any = TKI_ADMIT_INTERVAL | TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF;
    assert_admits(special_of(TKI_LINEAR_BIAS, types[BF16], 0x1p127, 1, 0x1p127), any | TKI_ADMIT_MINUS_INF,
                  TKI_SUM_OVERFLOW);
    assert_admits(special_of(TKI_LINEAR_BIAS_GELU, types[BF16], 0x1p127, 1, -0x1p127), any | TKI_ADMIT_ZERO,
                  TKI_SUM_OVERFLOW);
    /* fp16 products cannot overflow, what is added to them in fp32 can. */
    assert_admits(special_of(TKI_LINEAR_RESIDUAL, types[F16_F32], 1024, 1024, 0x1p127), TKI_ADMIT_INTERVAL,
                  TKI_SUM_ERR);
    assert_admits(special_of(TKI_LINEAR_RESIDUAL, types[F16_F32], 1024, 1024, 0x1.fffffep127),
                  any | TKI_ADMIT_MINUS_INF, TKI_SUM_OVERFLOW);
    assert_admits(special_of(TKI_LINEAR_BIAS, types[F16], 60000, 60000, 60000), TKI_ADMIT_INTERVAL, TKI_SUM_ERR);
}

/* LINEAR_GRAD_X.NAN, LINEAR_GRAD_X.INF, LINEAR_GRAD_X.OVERFLOW */
TEST(special_values_of_grad_x)
{
    const unsigned any = TKI_ADMIT_INTERVAL | TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF;
    static const struct {
        double grad, w, pre;
        unsigned admits;
        int clause;
    } rows[] = {
        {1, 1, NAN, TKI_ADMIT_NAN, TKI_SUM_NAN},
        {NAN, 1, -INFINITY, TKI_ADMIT_NAN, TKI_SUM_NAN},
        {INFINITY, 0, 1, TKI_ADMIT_NAN, TKI_SUM_NAN},
        {INFINITY, 1, 1, TKI_ADMIT_PLUS_INF, TKI_SUM_INF},
        {INFINITY, 1, -2, TKI_ADMIT_MINUS_INF, TKI_SUM_INF},
        {INFINITY, -1, -2, TKI_ADMIT_PLUS_INF, TKI_SUM_INF},
        {INFINITY, 1, -20, TKI_ADMIT_MINUS_INF | TKI_ADMIT_NAN, TKI_SUM_INF},
        {1, 1, INFINITY, TKI_ADMIT_INTERVAL | TKI_ADMIT_NAN, TKI_SUM_INF},
        {INFINITY, 1, INFINITY, TKI_ADMIT_PLUS_INF | TKI_ADMIT_NAN, TKI_SUM_INF},
        {1, 1, -INFINITY, TKI_ADMIT_ZERO | TKI_ADMIT_NAN, TKI_SUM_INF},
        {INFINITY, 1, -INFINITY, TKI_ADMIT_NAN, TKI_SUM_INF},
        {1, 1, 1, TKI_ADMIT_INTERVAL, TKI_SUM_ERR},
    };
    for (int d = 0; d < WITH_INFINITIES; d++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            problem p = new_problem(GRAD_X, types[d], TKI_LINEAR_GRAD_GELU, 1, 1, 1);
            set(&p, TKI_LINEAR_GRAD_X_GRAD_Y, 0, rows[r].grad);
            set(&p, TKI_LINEAR_GRAD_X_W, 0, rows[r].w);
            set(&p, TKI_LINEAR_GRAD_X_PRE, 0, rows[r].pre);
            assert_admits(enclose_one(&p, TKI_LINEAR_GRAD_X_OUT, 0, 0), rows[r].admits, rows[r].clause);
            free_problem(&p);
        }
    problem p = new_problem(GRAD_X, types[BF16], TKI_LINEAR_GRAD_GELU, 1, 1, 2);
    for (int i = 0; i < 2; i++) {
        set(&p, TKI_LINEAR_GRAD_X_GRAD_Y, i, 0x1p127);
        set(&p, TKI_LINEAR_GRAD_X_W, i, i ? -1 : 1);
    }
    assert_admits(enclose_one(&p, TKI_LINEAR_GRAD_X_OUT, 0, 0), any, TKI_SUM_OVERFLOW);
    free_problem(&p);
}

/* LINEAR_GRAD_W.NAN, LINEAR_GRAD_W.INF, LINEAR_GRAD_W.OVERFLOW */
TEST(special_values_of_grad_w)
{
    const double nan_or[] = {NAN, INFINITY, 0x1.fffffep127};
    for (int k = 0; k < 3; k++) {
        problem p = new_problem(GRAD_W, types[BF16_F32], TKI_LINEAR_ADD, 1, 1, 1);
        set(&p, TKI_LINEAR_GRAD_W_GRAD_Y, 0, 0x1p100);
        set(&p, TKI_LINEAR_GRAD_W_X, 0, 0x1p20);
        set(&p, TKI_LINEAR_GRAD_W_BEFORE, 0, nan_or[k]);
        const tki_enclosure e = enclose_one(&p, TKI_LINEAR_GRAD_W_OUT, 0, 0);
        assert_int_equal(e.clause, k == 0 ? TKI_SUM_NAN : k == 1 ? TKI_SUM_INF : TKI_SUM_OVERFLOW);
        assert_int_equal(e.admits & TKI_ADMIT_INTERVAL, k == 2);
        free_problem(&p);
    }
}

/* -- Laws ------------------------------------------------------------------------------------------------------ */

/* With fp32 results nothing hides between the operations: y = product + bias (+ residual) by single fp32 additions, pre is y of bias, and
 * the product is the one that gemm's kernel gives. */
TEST_WITH_CONTEXT(epilogues_are_what_they_say)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 5, 7}, {17, 33, 65}, {70, 100, 130}, {9, 4, 0}, {65, 3, 2100}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int d = F32; d < TYPES; d++) {
            problem p[TKI_LINEAR_EPILOGUES];
            for (int choice = 0; choice < TKI_LINEAR_EPILOGUES; choice++) {
                p[choice] = new_problem(FWD, types[d], choice, shapes[s][0], shapes[s][1], shapes[s][2]);
                draw(&p[choice], "normal", SEED);
                run(ctx, &p[choice]);
            }
            tk_case gemm = tk_case_init(tk_contract_find("gemm_grad_a"), types[d].dtype);
            gemm.result_dtype = TK_F32;
            memcpy(gemm.dims, (int64_t[]){shapes[s][0], shapes[s][2], shapes[s][1]}, 3 * sizeof *gemm.dims);
            float *product = calloc((size_t)(shapes[s][0] * shapes[s][1]), sizeof *product);
            assert_ok(ctx, tk_run(ctx, &gemm, (void *[]){p[0].b[TKI_LINEAR_X], p[0].b[TKI_LINEAR_W], product}));
            for (int64_t i = 0; i < shapes[s][0] * shapes[s][1]; i++) {
                const float plain = product[i];
                const float bias = (float)get(&p[TKI_LINEAR_BIAS], TKI_LINEAR_BIAS_IN, i % shapes[s][1]);
                const float residual = (float)get(&p[TKI_LINEAR_RESIDUAL], TKI_LINEAR_RESIDUAL_IN, i);
                const float y = (float)get(&p[TKI_LINEAR_BIAS_GELU], TKI_LINEAR_Y, i);
                assert_true((float)get(&p[TKI_LINEAR_NONE], TKI_LINEAR_Y, i) == plain);
                assert_true((float)get(&p[TKI_LINEAR_BIAS], TKI_LINEAR_Y, i) == plain + bias);
                assert_true((float)get(&p[TKI_LINEAR_BIAS_GELU], TKI_LINEAR_PRE, i) == plain + bias);
                assert_true((float)get(&p[TKI_LINEAR_GELU], TKI_LINEAR_PRE, i) == plain);
                assert_true((float)get(&p[TKI_LINEAR_RESIDUAL], TKI_LINEAR_Y, i) == plain + residual);
                assert_true((float)get(&p[TKI_LINEAR_BIAS_RESIDUAL], TKI_LINEAR_Y, i) == plain + bias + residual);
                const double v = (double)(plain + bias);
                const double gelu = v / (1 + exp(-2 * sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
                assert_true(fabs((double)y - gelu) <= gelu_bound(v) * (1 + 0x1p-20) + 0x1p-24 * fabs(gelu));
            }
            free(product);
            for (int choice = 0; choice < TKI_LINEAR_EPILOGUES; choice++)
                free_problem(&p[choice]);
        }
}

/* Bits depend neither on the threads nor on the instruction set's tail handling: a part of the rows or columns gives the same. */
TEST_WITH_CONTEXT(same_bits_for_every_thread_count)
{
    for (int op = 0; op < OPS; op++)
        for (int choice = 0; choice < choices_of(op); choice++) {
            problem p = new_problem(op, types[BF16], choice, 130, 190, 300);
            draw(&p, "normal", SEED);
            const size_t bytes = (size_t)(p.rows * p.cols) * 2;
            void *first = malloc(bytes);
            for (int threads = 1; threads <= 5; threads += 2) {
                assert_ok(ctx, tk_ctx_set_threads(ctx, threads));
                run(ctx, &p);
                if (threads == 1)
                    memcpy(first, p.b[first_output(op)], bytes);
                assert_memory_equal(first, p.b[first_output(op)], bytes);
            }
            free(first);
            free_problem(&p);
        }
}

/* LINEAR_GRAD_W.INPLACE: added up in place, over several calls, in fp32. */
TEST_WITH_CONTEXT(gradients_add_up_in_place)
{
    problem p = new_problem(GRAD_W, types[BF16_F32], TKI_LINEAR_ADD, 19, 35, 8);
    draw(&p, "exact", SEED);
    void *in_place[] = {p.b[0], p.b[1], p.b[TKI_LINEAR_GRAD_W_BEFORE], p.b[TKI_LINEAR_GRAD_W_BEFORE]};
    run(ctx, &p);
    assert_ok(ctx, tk_run(ctx, &p.c, in_place));
    assert_memory_equal(p.b[TKI_LINEAR_GRAD_W_BEFORE], p.b[TKI_LINEAR_GRAD_W_OUT], 19 * 35 * sizeof(float));
    problem alone = new_problem(GRAD_W, types[BF16_F32], TKI_LINEAR_OVERWRITE, 19, 35, 8);
    memcpy(alone.b[0], p.b[0], 19 * 8 * 2);
    memcpy(alone.b[1], p.b[1], 35 * 8 * 2);
    run(ctx, &alone);
    assert_ok(ctx, tk_run(ctx, &p.c, in_place)); /* exact, so that twice the gradient is what was added */
    for (int64_t i = 0; i < 19 * 35; i++)
        assert_true(get(&p, TKI_LINEAR_GRAD_W_BEFORE, i) ==
                    get(&p, TKI_LINEAR_GRAD_W_OUT, i) + get(&alone, TKI_LINEAR_GRAD_W_OUT, i));
    free_problem(&alone);
    free_problem(&p);
}

/* -- Calls ----------------------------------------------------------------------------------------------------- */

/* LINEAR_FWD.WRITE, LINEAR_GRAD_X.WRITE, LINEAR_GRAD_W.WRITE: what is not there may be NULL or anything, what is there may not be NULL. */
TEST_WITH_CONTEXT(tensors_that_are_not_there)
{
    float x[2] = {1, 2}, w[2] = {3, 4}, bias[1] = {5}, residual[1] = {7}, y[1] = {0}, pre[1] = {0}, guard[1] = {9};
    tk_linear_fwd_options options = TK_LINEAR_FWD_DEFAULTS;
    assert_ok(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, NULL, NULL, y, NULL));
    assert_true(y[0] == 16);
    assert_ok(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, y, &options, y, guard));
    assert_true(y[0] == 16 && guard[0] == 9);
    options.epilogue = TKI_LINEAR_BIAS_RESIDUAL;
    assert_ok(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, residual, &options, y, NULL));
    assert_true(y[0] == 23);
    assert_refused(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, NULL, &options, y, NULL), TK_BAD_ARGUMENT,
                   "residual is NULL");
    options.epilogue = TKI_LINEAR_BIAS_GELU;
    assert_refused(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, NULL, &options, y, NULL), TK_BAD_ARGUMENT,
                   "pre is NULL");
    assert_refused(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, NULL, &options, y, y), TK_BAD_ARGUMENT,
                   "overlaps");
    assert_ok(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, bias, NULL, &options, y, pre));
    assert_true(pre[0] == 16 && y[0] == 16);
    options.epilogue = TKI_LINEAR_NONE;
    assert_ok(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, NULL, NULL, &options, y, NULL));
    assert_true(y[0] == 11);
    options.epilogue = TKI_LINEAR_EPILOGUES;
    assert_refused(ctx, tk_linear_fwd(ctx, TK_F32, 1, 1, 2, x, w, NULL, NULL, &options, y, NULL), TK_BAD_ARGUMENT,
                   "epilogue");
    tk_linear_grad_x_options gelu = {.epilogue = TKI_LINEAR_GRAD_GELU};
    float grad_x[2];
    assert_ok(ctx, tk_linear_grad_x(ctx, TK_F32, 1, 1, 2, bias, w, NULL, NULL, grad_x));
    assert_true(grad_x[0] == 15 && grad_x[1] == 20);
    assert_refused(ctx, tk_linear_grad_x(ctx, TK_F32, 1, 1, 2, bias, w, NULL, &gelu, grad_x), TK_BAD_ARGUMENT,
                   "pre is NULL");
    assert_ok(ctx, tk_linear_grad_x(ctx, TK_F32, 1, 1, 2, bias, w, (float[]){0, 30}, &gelu, grad_x));
    assert_true(grad_x[0] == 7.5f && grad_x[1] == 20);
    tk_linear_grad_w_options add = {.accumulate = TKI_LINEAR_ADD};
    float grad_w[2] = {100, 200};
    assert_ok(ctx, tk_linear_grad_w(ctx, TK_F32, 1, 1, 2, bias, x, grad_w, &add, grad_w));
    assert_true(grad_w[0] == 105 && grad_w[1] == 210);
    assert_ok(ctx, tk_linear_grad_w(ctx, TK_F32, 1, 1, 2, bias, x, NULL, NULL, grad_w));
    assert_true(grad_w[0] == 5 && grad_w[1] == 10);
}

/* The first lowering is HELD at `quick` in all types. Planted kernels are judged in one type of each op, a different one each: they differ in
 * nothing that depends on it. linear.whole takes the wrong ones in all types. */
TEST_WITH_CONTEXT(certified_and_mutants_refuted)
{
    static const int varied[OPS] = {F16, BF16, BF16_F32};
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.result_dtype = &types[d].result_dtype;
            options.skip_mutants = !is_whole() && d != varied[op];
            options.fresh_mutants = true;
            tk_certificate *c = certify_one(ctx, tk_contract_find(op_names[op]), types[d].dtype, TK_I32, options);
            int rejected;
            const int planted = tk_certificate_mutants(c, &rejected);
            assert_held(c);
            assert_true(rejected == planted && (planted >= 40 || options.skip_mutants));
            tk_certificate_destroy(c);
            if (d == varied[op])
                assert_variants_hold_in_turn(ctx, tk_contract_find(op_names[op]), types[d], TK_I32, op);
        }
}

/* No lowering takes 8 bits, so planted kernels alone are judged: of each op in one type of these; linear.whole takes all. */
TEST_WITH_CONTEXT(mutants_are_refuted_in_8_bits)
{
    static const int varied[OPS] = {E5M2, E4M3_F32, E4M3};
    for (int op = 0; op < OPS; op++)
        for (int d = TYPES; d < ALL_TYPES; d++) {
            const tk_contract *contract = tk_contract_find(op_names[op]);
            if (is_sanitized || (d != varied[op] && !is_whole()))
                continue;
            for (int only_f32 = 0; only_f32 < 2; only_f32++)
                assert_mutants_are_shown(ctx, contract, types[d], only_f32);
            if (op == GRAD_W || is_whole())
                assert_variants_hold(ctx, contract, types[d], TK_I32);
        }
}

/* Of all sums of e4m3 products, multiples of 2^-18, two alone show that 1 + tanh cancels: this one, by digits of four bits. */
TEST(gelu_that_cancels_is_refuted_in_e4m3)
{
    static const double x[] = {1, 0x1p-3, 0x1p-4, 0x1p-6, 0x1p-9},
                        w[] = {-11 * 0x1p-2, -9 * 0x1p-3, -15 * 0x1p-6, -5 * 0x1p-8, -0x1p-9};
    problem p = new_problem(FWD, types[E4M3], TKI_LINEAR_GELU, 1, 1, 5);
    const tki_mutant *m = tki_mutants_of(p.c.contract);
    double v = 0;
    for (int t = 0; t < 5; t++) {
        set(&p, TKI_LINEAR_X, t, x[t]);
        set(&p, TKI_LINEAR_W, t, w[t]);
        v += get(&p, TKI_LINEAR_X, t) * get(&p, TKI_LINEAR_W, t);
    }
    assert_true(v == -761681 * 0x1p-18);
    const tki_enclosure e = enclose_one(&p, TKI_LINEAR_Y, 0, 0);
    const uint32_t right = tki_round_double(TK_F8_E4M3, e.lo - e.bound);
    assert_int_equal(right, tki_round_double(TK_F8_E4M3, e.hi + e.bound));
    while (strcmp(m->name, "gelu_cancelling") != 0)
        m++;
    assert_true(m->right_in >> TK_F8_E4M3 & 1);
    assert_int_equal(m->kernel(&p.c, p.b, &(tki_mutant_run){.how = m->how}), 0);
    assert_true(tki_element_bits(TK_F8_E4M3, p.b[TKI_LINEAR_Y], 0) != right);
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutants_are_refuted_in_8_bits),
        cmocka_unit_test(gelu_that_cancels_is_refuted_in_e4m3),
        cmocka_unit_test(oracle_agrees_with_other_formulas),
        cmocka_unit_test(gelu_is_not_steeper),
        cmocka_unit_test(exact_sums_have_no_slack),
        cmocka_unit_test(bound_of_matrix_units),
        cmocka_unit_test(special_values_forward),
        cmocka_unit_test(special_values_of_grad_x),
        cmocka_unit_test(special_values_of_grad_w),
        cmocka_unit_test(epilogues_are_what_they_say),
        cmocka_unit_test(same_bits_for_every_thread_count),
        cmocka_unit_test(gradients_add_up_in_place),
        cmocka_unit_test(tensors_that_are_not_there),
        cmocka_unit_test(certified_and_mutants_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
