/* softmax: one test per clause, the oracle against other ways of computing the same numbers, laws, bad arguments,
 * mutants. Random inputs come from the fixed seed below, printed at the start. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "ops/softmax/contract.h"
#include "tests/op_test.h"
#include "tokitai.h"

extern const tki_oracle tki_softmax_fwd_oracle;
extern const tki_oracle tki_softmax_bwd_oracle;

enum { SEED = 20260704, MOST_COLS = 4100, PRECISION = 700 };

static const tk_dtype dtypes[] = {TK_F16, TK_BF16, TK_F32};

/* Rows are patterns here, each in a word of its own; calls get them as the type has them. */

static uint32_t bits_of(tk_dtype dtype, double value)
{
    return tki_round_double(dtype, value);
}

static void put_bits(tk_dtype dtype, void *elements, int64_t i, uint32_t bits)
{
    if (dtype == TK_F32)
        ((uint32_t *)elements)[i] = bits;
    else
        ((uint16_t *)elements)[i] = (uint16_t)bits;
}

static void *packed(tk_dtype dtype, int64_t count, const uint32_t *patterns)
{
    void *elements = malloc((size_t)count * sizeof(uint32_t));
    assert_non_null(elements);
    for (int64_t i = 0; i < count; i++)
        put_bits(dtype, elements, i, patterns[i]);
    return elements;
}

static void unpack(tk_dtype dtype, int64_t count, void *elements, uint32_t *patterns)
{
    for (int64_t i = 0; i < count; i++)
        patterns[i] = tki_element_bits(dtype, elements, i);
    free(elements);
}

static uint32_t any_bits(tk_dtype dtype, tki_random *random)
{
    return (uint32_t)(tki_random_u64(random) & (2 * (uint64_t)tki_format_of(dtype).sign - 1));
}

static double value_of(tk_dtype dtype, uint32_t bits)
{
    return tki_decode(dtype, bits);
}

/* One row through the public calls. */

static void fwd_row(tk_dtype dtype, int64_t cols, const uint32_t *x, uint32_t *y)
{
    tk_ctx *ctx = new_context();
    void *in = packed(dtype, cols, x);
    void *out = malloc((size_t)cols * sizeof *y);
    assert_ok(ctx, tk_softmax_fwd(ctx, dtype, 1, cols, in, out));
    unpack(dtype, cols, out, y);
    free(in);
    tk_ctx_destroy(ctx);
}

static void bwd_row(tk_dtype dtype, int64_t cols, const uint32_t *grad_output, const uint32_t *y,
                    uint32_t *grad_input)
{
    tk_ctx *ctx = new_context();
    void *grad = packed(dtype, cols, grad_output);
    void *result = packed(dtype, cols, y);
    void *out = malloc((size_t)cols * sizeof *y);
    assert_ok(ctx, tk_softmax_bwd(ctx, dtype, 1, cols, grad, result, out));
    unpack(dtype, cols, out, grad_input);
    free(grad);
    free(result);
    tk_ctx_destroy(ctx);
}

/* One row through an oracle. */
typedef struct question {
    const tki_oracle *oracle;
    tk_case c;
    const void *buffers[3];
    void *owned[2];
    tki_oracle_job job;
    void *tables;
    void *prepared;
} question;

static void question_open(question *q, const char *op, const tki_oracle *oracle, tk_dtype dtype)
{
    *q = (question){.oracle = oracle, .c = tk_case_init(tk_contract_find(op), dtype)};
    assert_int_equal(oracle->open(dtype, &q->tables), TK_OK);
}

static void question_forget(question *q)
{
    if (q->prepared)
        q->oracle->release(q->prepared);
    q->prepared = NULL;
    for (int i = 0; i < 2; i++) {
        free(q->owned[i]);
        q->owned[i] = NULL;
    }
}

static void ask(question *q, int64_t cols, const uint32_t *first, const uint32_t *second, bool promised,
                tki_enclosure *answer)
{
    question_forget(q);
    q->c.dims[0] = 1;
    q->c.dims[1] = cols;
    q->buffers[0] = q->owned[0] = packed(q->c.dtype, cols, first);
    q->buffers[1] = q->owned[1] = second ? packed(q->c.dtype, cols, second) : NULL;
    q->job = (tki_oracle_job){.c = &q->c,
                              .buffers = q->buffers,
                              .output = q->c.contract->param_count - 1,
                              .promised = promised,
                              .tables = q->tables};
    assert_int_equal(q->oracle->prepare(&q->job, &q->prepared), TK_OK);
    q->job.prepared = q->prepared;
    assert_int_equal(q->oracle->enclose(&q->job, &(tki_box){0, 1, 0, cols}, answer), TK_OK);
}

static void question_close(question *q)
{
    question_forget(q);
    mpfr_free_cache();
}

/* The acceptance rule, as far as an enclosure in double decides it; what it leaves open is accepted. */
static bool accepts(tk_dtype dtype, const tki_enclosure *e, uint32_t got)
{
    double out = value_of(dtype, got);
    if (isnan(out))
        return e->admits & TKI_ADMIT_NAN;
    if (((e->admits & TKI_ADMIT_PLUS_INF) && out == INFINITY) ||
        ((e->admits & TKI_ADMIT_MINUS_INF) && out == -INFINITY) || ((e->admits & TKI_ADMIT_ZERO) && out == 0))
        return true;
    if (!(e->admits & TKI_ADMIT_INTERVAL))
        return false;
    return out >= tki_decode(dtype, tki_round_double(dtype, tki_down(e->lo - e->bound))) &&
           out <= tki_decode(dtype, tki_round_double(dtype, tki_up(e->hi + e->bound)));
}

/* Rows that are hard in one way or another. */
enum { FWD_KINDS = 10 };

static void draw_logits(tk_dtype dtype, int kind, int64_t cols, uint32_t *x, tki_random *random)
{
    double base = tki_random_normal(random);
    for (int64_t i = 0; i < cols; i++) {
        double normal = tki_random_normal(random);
        double unit = tki_random_unit(random);
        switch (kind) {
        case 0: x[i] = bits_of(dtype, 3 * normal); break;
        case 1: x[i] = bits_of(dtype, 60 * normal); break;
        case 2: x[i] = bits_of(dtype, base); break;
        case 3: x[i] = bits_of(dtype, i == cols / 2 ? 0 : -104 + 0.5 * normal); break;
        case 4: x[i] = bits_of(dtype, i == cols / 2 ? 60 : -68 + unit); break;
        case 5: x[i] = bits_of(dtype, 32768 + 300 * normal); break;
        case 6: x[i] = bits_of(dtype, -32768 + 300 * normal); break;
        case 7: x[i] = bits_of(dtype, unit < 0.3 ? -INFINITY : 5 * normal); break;
        case 8: x[i] = bits_of(dtype, unit < 0.4 ? 8 * base - 105 - 100 * unit : 8 * base); break;
        default:
            do
                x[i] = any_bits(dtype, random);
            while (!tki_is_finite(dtype, x[i]));
        }
    }
    if (kind == 7)
        x[cols - 1] = bits_of(dtype, 1);
}

/* S = 1 / sum_j exp(x_j - x_i): no maximum, no intervals. False where exp leaves MPFR's range. */
static bool reciprocal_form(mpfr_ptr s, tk_dtype dtype, int64_t cols, const uint32_t *x, int64_t i)
{
    mpfr_t t;
    mpfr_init2(t, PRECISION);
    mpfr_set_zero(s, 1);
    for (int64_t j = 0; j < cols; j++) {
        mpfr_set_d(t, value_of(dtype, x[j]), MPFR_RNDN);
        mpfr_sub_d(t, t, value_of(dtype, x[i]), MPFR_RNDN);
        mpfr_exp(t, t, MPFR_RNDN);
        mpfr_add(s, s, t, MPFR_RNDN);
    }
    mpfr_clear(t);
    mpfr_ui_div(s, 1, s, MPFR_RNDN);
    return !mpfr_zero_p(s);
}

/* B by its formula, in long double. */
static long double plain_fwd_bound(tk_dtype dtype, int64_t cols, const uint32_t *x, int64_t i, long double y,
                                   bool promised)
{
    const long double u = 0x1p-24L;
    long double max = -INFINITY;
    for (int64_t j = 0; j < cols; j++)
        max = fmaxl(max, value_of(dtype, x[j]));
    long double near = 0;
    long double top = 0;
    for (int64_t j = 0; j < cols; j++) {
        near += max - value_of(dtype, x[j]) <= 104;
        top += max == value_of(dtype, x[j]);
    }
    long double n = (long double)cols;
    long double d = max - value_of(dtype, x[i]);
    long double additions = promised ? fminl(near - 1, ceill(n / 256) + 16) : near - 1;
    long double rescalings = fminl(near - 1, 32);
    if (near == top) { /* a plateau */
        additions = fminl(additions, 64 + 2 * fabsl(max));
        rescalings = 0;
    }
    long double w = 1.0001L * (u * (2.25L * (d + logl(n)) + 19 + additions + 9 * rescalings) + n * 0x1p-126L);
    return d > 104 ? 0x1p-126L : y * w / (1 - w) + 0x1p-126L;
}

static void assert_close_above(long double got, long double expected)
{
    if (!(got >= expected * (1 - 0x1p-60L) && got <= expected * (1 + 0x1p-40L)))
        fail_msg("%.20Lg is not %.20Lg rounded up", got, expected);
}

static void check_fwd_answer(question *q, int64_t cols, const uint32_t *x, int64_t i, const tki_enclosure *e,
                             bool promised)
{
    mpfr_t s;
    mpfr_t lo;
    mpfr_t hi;
    mpfr_inits2(PRECISION, s, lo, hi, (mpfr_ptr)0);
    bool known = reciprocal_form(s, q->c.dtype, cols, x, i);
    assert_true(known ? mpfr_cmp_d(s, e->lo) >= 0 && mpfr_cmp_d(s, e->hi) <= 0 : e->lo == 0);
    assert_int_equal(e->admits, TKI_ADMIT_INTERVAL);
    assert_int_equal(e->clause, promised ? TKI_SOFTMAX_FWD_PROMISE : TKI_SOFTMAX_ERR);
    assert_close_above(e->bound, plain_fwd_bound(q->c.dtype, cols, x, i, mpfr_get_ld(s, MPFR_RNDN), promised));
    for (int precision = 128; precision <= 256 && known; precision *= 2) {
        assert_int_equal(q->oracle->refine(&q->job, 0, i, precision, lo, hi), TK_OK);
        assert_true(mpfr_cmp(lo, s) <= 0 && mpfr_cmp(s, hi) <= 0);
        mpfr_sub(hi, hi, lo, MPFR_RNDU);
        mpfr_mul_2si(hi, hi, precision - 20, MPFR_RNDU);
        assert_true(mpfr_cmp(hi, s) <= 0);
    }
    mpfr_clears(s, lo, hi, (mpfr_ptr)0);
}

/* SOFTMAX_FWD.ERR, SOFTMAX_FWD.PROMISE: the enclosure, the refined one and B against plain evaluations. */
TEST(fwd_oracle_agrees_with_reciprocal_form)
{
    static const int64_t sizes[] = {1, 2, 5, 33, 300};
    tki_enclosure answer[300];
    uint32_t x[300];
    for (int d = 0; d < 3; d++) {
        question q;
        question_open(&q, "softmax_fwd", &tki_softmax_fwd_oracle, dtypes[d]);
        for (int kind = 0; kind < FWD_KINDS; kind++)
            for (int s = 0; s < 5; s++) {
                tki_random random = tki_random_stream(SEED, (uint64_t)(kind * 8 + s));
                bool promised = (kind + s) % 2;
                draw_logits(dtypes[d], kind, sizes[s], x, &random);
                ask(&q, sizes[s], x, NULL, promised, answer);
                for (int64_t i = 0; i < sizes[s]; i += 1 + sizes[s] / 8)
                    if (value_of(dtypes[d], x[i]) != -INFINITY)
                        check_fwd_answer(&q, sizes[s], x, i, &answer[i], promised);
            }
        question_close(&q);
    }
}

/* A finite element times 2^149, which is an integer in every format. */
static void set_scaled(mpz_ptr z, tk_dtype dtype, uint32_t bits)
{
    mpfr_t t;
    mpfr_init2(t, 64);
    mpfr_set_d(t, value_of(dtype, bits), MPFR_RNDN);
    mpfr_mul_2ui(t, t, 149, MPFR_RNDN);
    assert_int_equal(mpfr_get_z(z, t, MPFR_RNDN), 0);
    mpfr_clear(t);
}

/* S = y_i (g_i - sum y g) in integers, in units of 2^-447. */
static void integer_form(mpfr_ptr s, tk_dtype dtype, int64_t cols, const uint32_t *grad, const uint32_t *y, int64_t i)
{
    mpz_t a;
    mpz_t b;
    mpz_t total;
    mpz_inits(a, b, total, (mpz_ptr)0);
    for (int64_t j = 0; j < cols; j++) {
        set_scaled(a, dtype, grad[j]);
        set_scaled(b, dtype, y[j]);
        mpz_submul(total, a, b);
    }
    set_scaled(a, dtype, grad[i]);
    mpz_mul_2exp(a, a, 149);
    mpz_add(total, total, a);
    set_scaled(b, dtype, y[i]);
    mpz_mul(total, total, b);
    assert_int_equal(mpfr_set_z(s, total, MPFR_RNDN), 0);
    mpfr_div_2ui(s, s, 447, MPFR_RNDN);
    mpz_clears(a, b, total, (mpz_ptr)0);
}

/* The power of two of the last bit of a product of two elements. */
static int last_bit(long double product)
{
    int e = ilogbl(product) - 47;
    while (fmodl(product, ldexpl(1, e + 1)) == 0)
        e++;
    return e;
}

/* 113 bits. */
#if defined(__SIZEOF_FLOAT128__)
typedef __float128 wide;
#else
typedef long double wide;
#endif

/* Sums of products of fp32 numbers cancel further than long double sees. */
static long double plain_bwd_bound(tk_dtype dtype, int64_t cols, const uint32_t *grad, const uint32_t *y, int64_t i)
{
    const long double u = 0x1p-24L;
    wide s = 0;
    wide magnitude = 0;
    long double nonzero = 0;
    long double n = (long double)cols;
    int unit = INT_MAX;
    for (int64_t j = 0; j < cols; j++) {
        long double product = (long double)value_of(dtype, y[j]) * value_of(dtype, grad[j]);
        s += product;
        magnitude += fabsl(product);
        nonzero += product != 0;
        if (product != 0 && last_bit(product) < unit)
            unit = last_bit(product);
    }
    bool exact = magnitude == 0 || (unit >= -126 && unit <= 103 && magnitude <= ldexpl(1, 24 + unit));
    long double roundings = dtype == TK_F32 ? nonzero : fmaxl(nonzero - 1, 0);
    long double underflow = dtype == TK_F16 ? 0 : n * 0x1p-150L * (dtype == TK_F32 ? 1 + n * u : 1);
    long double sum_bound = exact ? 0 : roundings * u * (long double)magnitude + underflow;
    long double difference = fabsl((long double)(value_of(dtype, grad[i]) - s));
    long double of_sum = (dtype == TK_F32 ? 2 : 1) * u * fabsl((long double)s);
    return fabsl(value_of(dtype, y[i])) * (2.0001L * u * difference + 1.0001L * (sum_bound + of_sum)) + 0x1p-149L;
}

enum { BWD_KINDS = 9 };

static void draw_gradients(tk_dtype dtype, int kind, int64_t cols, uint32_t *grad, uint32_t *y, tki_random *random)
{
    for (int64_t i = 0; i < cols; i++) {
        double a = tki_random_normal(random);
        double b = tki_random_unit(random);
        switch (kind) {
        case 0: grad[i] = bits_of(dtype, a), y[i] = bits_of(dtype, b / (double)cols); break;
        case 1: grad[i] = bits_of(dtype, 1), y[i] = bits_of(dtype, 1 / (double)cols); break;
        case 2:
            grad[i] = bits_of(dtype, ldexp(a, (int)(i % 12))), y[i] = bits_of(dtype, ldexp(b, -(int)(i % 9)));
            break;
        case 3: grad[i] = bits_of(dtype, i % 2 ? -50 : 50), y[i] = bits_of(dtype, 0.25 + 0.25 * (b < 0.1)); break;
        case 7: grad[i] = bits_of(dtype, rint(8 * a)), y[i] = bits_of(dtype, rint(15 * b) * 0x1p-7); break;
        case 4: grad[i] = bits_of(dtype, i % 16 ? 0 : a), y[i] = bits_of(dtype, b); break;
        case 5: grad[i] = bits_of(dtype, i == cols - 1 ? 1024 : 0x1p-6 * a), y[i] = bits_of(dtype, b); break;
        case 6: /* small terms between large ones that cancel: double loses them */
            grad[i] = bits_of(dtype, i % 3 == 1 ? 0x1p-12 * a : i % 3 ? -0x1p15 : 0x1p15);
            y[i] = bits_of(dtype, i % 3 == 1 ? 0x1p-14 * b : 0x1p15);
            break;
        default:
            do
                grad[i] = any_bits(dtype, random), y[i] = any_bits(dtype, random);
            while (!tki_is_finite(dtype, grad[i]) || !tki_is_finite(dtype, y[i]));
        }
    }
}

/* SOFTMAX_BWD.ERR: the enclosure, the exact value and B against integer arithmetic. */
TEST(bwd_oracle_agrees_with_integers)
{
    static const int64_t sizes[] = {1, 2, 3, 37, 300};
    tki_enclosure answer[300];
    uint32_t grad[300];
    uint32_t y[300];
    mpfr_t s;
    mpfr_t lo;
    mpfr_t hi;
    mpfr_inits2(1600, s, lo, hi, (mpfr_ptr)0);
    for (int d = 0; d < 3; d++) {
        question q;
        question_open(&q, "softmax_bwd", &tki_softmax_bwd_oracle, dtypes[d]);
        for (int kind = 0; kind < BWD_KINDS; kind++)
            for (int k = 0; k < 5; k++) {
                tki_random random = tki_random_stream(SEED, (uint64_t)(100 + kind * 8 + k));
                draw_gradients(dtypes[d], kind, sizes[k], grad, y, &random);
                ask(&q, sizes[k], grad, y, false, answer);
                for (int64_t i = 0; i < sizes[k]; i += 1 + sizes[k] / 8) {
                    integer_form(s, dtypes[d], sizes[k], grad, y, i);
                    assert_true(answer[i].admits & TKI_ADMIT_INTERVAL);
                    assert_true(mpfr_cmp_d(s, answer[i].lo) >= 0 && mpfr_cmp_d(s, answer[i].hi) <= 0);
                    assert_close_above(answer[i].bound, plain_bwd_bound(dtypes[d], sizes[k], grad, y, i));
                    assert_int_equal(q.oracle->refine(&q.job, 0, i, 128, lo, hi), TK_OK);
                    assert_true(mpfr_equal_p(lo, s) && mpfr_equal_p(hi, s));
                }
            }
        question_close(&q);
    }
    mpfr_clears(s, lo, hi, (mpfr_ptr)0);
}

/* Of fp32 the last bits are the kernel's own. */
static void assert_known(tk_dtype dtype, uint32_t got, double expected)
{
    const int64_t apart = (int64_t)got - bits_of(dtype, expected);
    assert_true(apart == 0 || (dtype == TK_F32 && llabs(apart) <= 4));
}

/* SOFTMAX_FWD.ERR, SOFTMAX_BWD.ERR: values known by hand. */
TEST(known_values)
{
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        const uint32_t sign = tki_format_of(t).sign;
        uint32_t out[4];
        fwd_row(t, 1, (uint32_t[]){bits_of(t, -3)}, out);
        assert_known(t, out[0], 1);
        fwd_row(t, 2, (uint32_t[]){0, sign}, out);
        assert_known(t, out[0], 0.5);
        assert_known(t, out[1], 0.5);
        fwd_row(t, 3, (uint32_t[]){bits_of(t, 1), bits_of(t, 2), bits_of(t, 3)}, out);
        assert_known(t, out[0], 0.090030573170380458);
        assert_known(t, out[1], 0.244728471054797653);
        assert_known(t, out[2], 0.665240955774821889);
        /* The largest finite numbers of either sign: nothing overflows. */
        uint32_t largest = bits_of(t, INFINITY) - 1;
        fwd_row(t, 4, (uint32_t[]){largest, largest, largest | sign, 0}, out);
        assert_known(t, out[0], 0.5);
        assert_known(t, out[1], 0.5);
        assert_int_equal(out[2], 0);
        assert_int_equal(out[3], 0);
        /* s = 0.25 * 4 + 0.75 * 8 = 7 */
        bwd_row(t, 2, (uint32_t[]){bits_of(t, 4), bits_of(t, 8)}, (uint32_t[]){bits_of(t, 0.25), bits_of(t, 0.75)},
                out);
        assert_known(t, out[0], -0.75);
        assert_known(t, out[1], 0.75);
    }
}

/* SOFTMAX_FWD.NAN, SOFTMAX_FWD.ZERO */
TEST(fwd_special_values)
{
    enum { COLS = 301 };
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        const uint32_t sign = tki_format_of(t).sign;
        const uint32_t minus_infinity = infinity | sign;
        const uint32_t spoilers[] = {infinity, infinity | 1, minus_infinity | 1, tki_canonical_nan(t),
                                     sign | (sign - 1)};
        uint32_t x[COLS];
        uint32_t y[COLS];
        tki_enclosure answer[COLS];
        question q;
        question_open(&q, "softmax_fwd", &tki_softmax_fwd_oracle, t);
        for (int s = 0; s < 6; s++)
            for (int place = 0; place < COLS; place += 100) {
                for (int i = 0; i < COLS; i++)
                    x[i] = s == 5 || i % 3 == 0 ? minus_infinity : bits_of(t, i % 7);
                if (s < 5)
                    x[place] = spoilers[s];
                fwd_row(t, COLS, x, y);
                ask(&q, COLS, x, NULL, false, answer);
                for (int i = 0; i < COLS; i++) {
                    assert_int_equal(y[i], tki_canonical_nan(t));
                    assert_int_equal(answer[i].admits, TKI_ADMIT_NAN);
                    assert_int_equal(answer[i].clause, TKI_SOFTMAX_NAN);
                }
            }
        for (int i = 0; i < COLS; i++)
            x[i] = i == 150 ? bits_of(t, -1000) : minus_infinity;
        fwd_row(t, COLS, x, y);
        ask(&q, COLS, x, NULL, true, answer);
        for (int i = 0; i < COLS; i++) {
            assert_int_equal(y[i], i == 150 ? bits_of(t, 1) : 0);
            assert_int_equal(answer[i].clause, i == 150 ? TKI_SOFTMAX_FWD_PROMISE : TKI_SOFTMAX_FWD_ZERO);
            assert_int_equal(answer[i].admits, i == 150 ? TKI_ADMIT_INTERVAL : TKI_ADMIT_ZERO);
        }
        question_close(&q);
    }
}

static unsigned class_of(double value)
{
    return isnan(value) ? TKI_ADMIT_NAN : value == INFINITY ? TKI_ADMIT_PLUS_INF : TKI_ADMIT_MINUS_INF;
}

/* SOFTMAX_BWD.NAN: small rows over a set of special values, against IEEE evaluation in double, in both usual forms. */
TEST(bwd_special_values)
{
    const double specials[] = {0.0, -0.0, 1, -1, 2.5, INFINITY, -INFINITY, NAN};
    tki_random random = tki_random_stream(SEED, 200);
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        question q;
        question_open(&q, "softmax_bwd", &tki_softmax_bwd_oracle, t);
        int met[8] = {0};
        for (int trial = 0; trial < effort(4000); trial++) {
            uint32_t grad[3];
            uint32_t y[3];
            uint32_t out[3];
            tki_enclosure answer[3];
            double sum = 0;
            uint64_t kinds = trial % 2 ? 8 : 7; /* half of the rows without NaN */
            for (int i = 0; i < 3; i++) {
                grad[i] = bits_of(t, specials[tki_random_below(&random, kinds)]);
                y[i] = bits_of(t, specials[tki_random_below(&random, kinds)]);
                sum += value_of(t, y[i]) * value_of(t, grad[i]);
            }
            ask(&q, 3, grad, y, false, answer);
            bwd_row(t, 3, grad, y, out);
            for (int i = 0; i < 3; i++) {
                double expected = value_of(t, y[i]) * (value_of(t, grad[i]) - sum);
                double apart = value_of(t, y[i]) * value_of(t, grad[i]) - value_of(t, y[i]) * sum;
                assert_true(accepts(t, &answer[i], out[i]));
                assert_int_equal(answer[i].clause, isfinite(sum) ? TKI_SOFTMAX_ERR : TKI_SOFTMAX_NAN);
                assert_int_equal(answer[i].admits,
                                 isfinite(sum) ? TKI_ADMIT_INTERVAL : class_of(expected) | class_of(apart));
                met[isfinite(sum) ? 0 : class_of(expected) & 7]++;
            }
        }
        assert_true(met[0] > 50 && met[TKI_ADMIT_NAN] > 50 && met[TKI_ADMIT_PLUS_INF] > 50 &&
                    met[TKI_ADMIT_MINUS_INF & 7] > 50);
        question_close(&q);
    }
}

/* SOFTMAX_BWD.ERR: what is admitted where fp32 overflows: never for fp16. */
static void assert_overflow(tk_dtype t)
{
    const uint32_t largest = bits_of(t, 0x1.fep127); /* of bf16; fp32's own is so near to overflow that the sum may */
    const uint32_t minus_largest = bits_of(t, -0x1.fep127);
    tki_enclosure answer[3];
    uint32_t out[3];
    question q;
    question_open(&q, "softmax_bwd", &tki_softmax_bwd_oracle, t);

    /* s = -largest, so that largest - s overflows: to +inf, and to NaN against y = 0. The sum itself does not. */
    const uint32_t grad[] = {minus_largest, largest, largest};
    const uint32_t y[] = {bits_of(t, 1), bits_of(t, 0x1p-30), 0};
    ask(&q, 3, grad, y, false, answer);
    bwd_row(t, 3, grad, y, out);
    assert_int_equal(answer[0].admits, TKI_ADMIT_INTERVAL);
    assert_int_equal(answer[1].admits, TKI_ADMIT_INTERVAL | TKI_ADMIT_PLUS_INF);
    assert_int_equal(answer[2].admits, TKI_ADMIT_INTERVAL | TKI_ADMIT_NAN);
    for (int i = 0; i < 3; i++)
        assert_true(accepts(t, &answer[i], out[i]));
    assert_true(accepts(t, &answer[1], bits_of(t, value_of(t, largest) * 0x1p-29)));
    assert_false(accepts(t, &answer[1], bits_of(t, -INFINITY)));

    /* The products' magnitudes add up to more than fp32 holds: anything. */
    const uint32_t ones[] = {bits_of(t, 1), bits_of(t, 1), bits_of(t, 1)};
    ask(&q, 3, grad, ones, false, answer);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answer[i].admits,
                         TKI_ADMIT_INTERVAL | TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF);

    /* SOFTMAX_BWD.NAN: an infinite product beside finite ones that may overflow. */
    const uint32_t mixed[] = {bits_of(t, INFINITY), minus_largest, minus_largest};
    ask(&q, 3, mixed, ones, false, answer);
    assert_int_equal(answer[0].admits, TKI_ADMIT_NAN);
    assert_int_equal(answer[1].admits, TKI_ADMIT_NAN | TKI_ADMIT_MINUS_INF);
    assert_int_equal(answer[1].clause, TKI_SOFTMAX_NAN);
    question_close(&q);
}

TEST(bwd_overflow)
{
    assert_overflow(TK_BF16);
    assert_overflow(TK_F32);
}

/* SOFTMAX_FWD.ERR: where W reaches 1/2 there is no bound; the promise still has one. */
TEST(no_bound_for_endless_rows)
{
    const int64_t n = INT64_C(1) << 24;
    tki_softmax_terms row = {.cols = n, .near = n, .top = 1};
    assert_true(isinf(tki_softmax_fwd_bound(tki_softmax_fwd_w(&row, false), 0, 0x1p-24)));
    assert_true(tki_softmax_fwd_bound(tki_softmax_fwd_w(&row, true), 0, 0x1p-24) < 0x1p-30);
    row.near = 16;
    assert_true(tki_softmax_fwd_bound(tki_softmax_fwd_w(&row, false), 0, 0x1p-4) < 0x1p-15);
    /* A plateau has one, up to 2^24 elements. */
    row.near = row.top = n;
    assert_true(tki_softmax_fwd_bound(tki_softmax_fwd_w(&row, false), 0, 0x1p-24) < 0x1p-40);
    row.cols = row.near = row.top = n + 1;
    assert_true(isinf(tki_softmax_fwd_bound(tki_softmax_fwd_w(&row, false), 0, 0x1p-24)));
}

/* SOFTMAX_FWD.ERR: a row of two elements has one rescaling and one addition, a single one none. */
TEST(short_rows_have_little_slack)
{
    const tki_softmax_terms one = {.cols = 1, .near = 1, .top = 1};
    const tki_softmax_terms two = {.cols = 2, .near = 2, .top = 1};
    const tki_softmax_terms many = {.cols = 33, .near = 33, .top = 1};
    assert_true(tki_softmax_fwd_bound(tki_softmax_fwd_w(&one, false), 0, 1) < 19.01 * 0x1p-24);
    assert_true(tki_softmax_fwd_bound(tki_softmax_fwd_w(&two, false), 0, 1) < 30.6 * 0x1p-24);
    assert_true(tki_softmax_fwd_bound(tki_softmax_fwd_w(&many, false), 0, 1) > (19 + 32 + 9 * 32) * 0x1p-24);
}

/* -- Plateaus ------------------------------------------------------------------------------------------------- */

typedef enum tree { RUN, LANES, PAIRS, RUNS_OF_RUNS, RUN_OF_PAIRS, TREES } tree;

static float sum_in_pairs(float term, int64_t count)
{
    if (count <= 1)
        return count ? term : 0;
    return sum_in_pairs(term, count / 2) + sum_in_pairs(term, count - count / 2);
}

/* `count` terms of one size. */
static float sum_equal(float term, int64_t count, tree t)
{
    float lanes[32] = {0};
    float sum = 0;
    switch (t) {
    case RUN:
        for (int64_t i = 0; i < count; i++)
            sum += term;
        return sum;
    case LANES:
        for (int64_t i = 0; i < count; i++)
            lanes[i % 32] += term;
        for (int half = 16; half > 0; half /= 2)
            for (int i = 0; i < half; i++)
                lanes[i] += lanes[i + half];
        return lanes[0];
    case PAIRS: return sum_in_pairs(term, count);
    default:
        for (int64_t i = 0; i < count; i += 256)
            sum += sum_equal(term, count - i < 256 ? count - i : 256, t == RUNS_OF_RUNS ? RUN : PAIRS);
        return sum;
    }
}

/* What the clause on plateaus rests on: where each term is 1 within T u, T = |M| + 8, sums of up to 2^24 equal terms are within
 * 64 + 2 |M| = 48 + 2 T units of their size, for runs, for what joins runs, and for runs of runs; and exact for T = 0. */
TEST(sums_of_equal_terms)
{
    static const int64_t counts[] = {2, 3, 5, 17, 100, 129, 255, 700, 1023, 4097, 32000, 70001, 128256};
    double worst[TREES] = {0};
    for (int t = 0; t < TREES; t++)
        for (int below = 0; below < 2; below++)
            for (int64_t units = 0; units < 100000; units += units < 40 ? 1 : units / 5) {
                float term = below ? 1 - (float)units * 0x1p-24f : 1 + (float)units * 0x1p-23f;
                double distance = fabs((double)term - 1) / 0x1p-24;
                for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                    double exact = (double)term * (double)counts[i];
                    double error = fabs((double)sum_equal(term, counts[i], (tree)t) - exact) / exact / 0x1p-24;
                    assert_true(error <= 48 + 2 * distance);
                    assert_true(units || error == 0);
                    worst[t] = fmax(worst[t], error / (48 + 2 * distance));
                }
            }
    for (int t = 0; t < TREES; t++)
        print_message("tree %d: at most %.3f of 64 + 2 |M|\n", t, worst[t]);
}

/* SOFTMAX_FWD.ERR: of a plateau of 128256 columns no 700 can be left out of the sum, nor one of 300, and what is right is held. */
TEST(plateaus_have_little_slack)
{
    static const int64_t counts[][2] = {{128256, 700}, {300, 1}, {2000, 3}};
    static uint32_t x[128256], y[128256];
    static tki_enclosure answer[128256];
    for (int d = 0; d < 3; d++) {
        question q;
        question_open(&q, "softmax_fwd", &tki_softmax_fwd_oracle, dtypes[d]);
        for (int k = 0; k < 3; k++)
            for (int far = 0; far < 2; far++)
                for (double max = 0; max < 30; max += 9) {
                    int64_t cols = counts[k][0];
                    int64_t top = 0;
                    for (int64_t i = 0; i < cols; i++) {
                        bool is_far = far && i % 3 == 1;
                        x[i] = bits_of(dtypes[d], is_far ? -120 : max);
                        top += !is_far;
                    }
                    ask(&q, cols, x, NULL, false, answer);
                    fwd_row(dtypes[d], cols, x, y);
                    double right = 1 / (double)top;
                    /* bf16 has 8 bits, and cannot tell one in 300. */
                    double dropped = 1 / (double)(top - counts[k][1]);
                    bool shows = bits_of(dtypes[d], right) != bits_of(dtypes[d], dropped);
                    assert_true(accepts(dtypes[d], &answer[0], y[0]));
                    assert_true(accepts(dtypes[d], &answer[0], bits_of(dtypes[d], right)));
                    assert_true(!shows || !accepts(dtypes[d], &answer[0], bits_of(dtypes[d], dropped)));
                    assert_true(answer[0].bound < right * 0x1p-16);
                }
        question_close(&q);
    }
}

/* SOFTMAX_FWD.PROMISE: long rows, near uniform ones included, stay within the promise. */
TEST(promise_holds_on_long_rows)
{
    uint32_t *x = malloc(MOST_COLS * sizeof *x);
    uint32_t *y = malloc(MOST_COLS * sizeof *y);
    tki_enclosure *answer = malloc(2 * MOST_COLS * sizeof *answer);
    assert_true(x && y && answer);
    for (int d = 0; d < 3; d++) {
        question q;
        question_open(&q, "softmax_fwd", &tki_softmax_fwd_oracle, dtypes[d]);
        for (int trial = 0; trial < 12; trial++) {
            tki_random random = tki_random_stream(SEED, 300 + (uint64_t)trial);
            int64_t cols = MOST_COLS - trial;
            for (int64_t i = 0; i < cols; i++)
                x[i] = bits_of(dtypes[d], tki_random_normal(&random) * trial / 4);
            fwd_row(dtypes[d], cols, x, y);
            ask(&q, cols, x, NULL, true, answer);
            ask(&q, cols, x, NULL, false, answer + MOST_COLS);
            for (int64_t i = 0; i < cols; i++) {
                assert_true(accepts(dtypes[d], &answer[i], y[i]));
                assert_true(answer[i].bound < answer[i + MOST_COLS].bound);
            }
        }
        question_close(&q);
    }
    free(x);
    free(y);
    free(answer);
}

/* Laws. */

/* SOFTMAX_FWD.ERR: a row sums to one within half an ulp of each element and the row's W. */
TEST(rows_sum_to_one)
{
    uint32_t x[1000];
    uint32_t y[1000];
    for (int d = 0; d < 3; d++)
        for (int kind = 0; kind < FWD_KINDS; kind++)
            for (int64_t cols = 1; cols <= 1000; cols += 111) {
                tki_random random = tki_random_stream(SEED, (uint64_t)(400 + kind));
                draw_logits(dtypes[d], kind, cols, x, &random);
                fwd_row(dtypes[d], cols, x, y);
                double sum = 0;
                double half_ulps = 0;
                const tki_softmax_terms terms = {.cols = cols, .near = cols, .top = 1};
                for (int64_t i = 0; i < cols; i++) {
                    sum += value_of(dtypes[d], y[i]);
                    half_ulps += tki_ulp(dtypes[d], value_of(dtypes[d], y[i])) / 2;
                }
                double w = tki_softmax_fwd_bound(tki_softmax_fwd_w(&terms, true), 104, 1);
                assert_true(fabs(sum - 1) <= half_ulps + 2 * w);
            }
}

/* SOFTMAX_FWD.ERR: adding the same number to a row, where every sum is exact, changes no bit of 16. fp32
 * shows what the exponentials are rounded by. */
TEST(shifts_change_nothing)
{
    enum { COLS = 77 };
    uint32_t x[COLS];
    uint32_t shifted[COLS];
    uint32_t y[COLS];
    uint32_t y_shifted[COLS];
    tki_random random = tki_random_stream(SEED, 500);
    for (int d = 0; d < 2; d++)
        for (int shift = -96; shift <= 96; shift += 32) {
            for (int i = 0; i < COLS; i++) {
                double value = (double)tki_random_below(&random, 32) / 2 - 8; /* multiples of 1/2 below 128 */
                x[i] = bits_of(dtypes[d], value);
                shifted[i] = bits_of(dtypes[d], value + shift);
            }
            fwd_row(dtypes[d], COLS, x, y);
            fwd_row(dtypes[d], COLS, shifted, y_shifted);
            assert_memory_equal(y, y_shifted, sizeof y);
        }
}

/* SOFTMAX_FWD.ERR, SOFTMAX_BWD.ERR: permuted columns give results within the intervals of the row as it was. */
TEST(permutations_stay_within_intervals)
{
    enum { COLS = 500 };
    uint32_t x[COLS];
    uint32_t grad[COLS];
    uint32_t permuted[COLS];
    uint32_t permuted_grad[COLS];
    uint32_t out[COLS];
    tki_enclosure answer[COLS];
    for (int d = 0; d < 3; d++)
        for (int trial = 0; trial < 12; trial++) {
            tk_dtype t = dtypes[d];
            tki_random random = tki_random_stream(SEED, (uint64_t)(600 + trial));
            bool backward = trial % 2;
            if (backward)
                draw_gradients(t, trial / 2, COLS, grad, x, &random);
            else
                draw_logits(t, trial / 2, COLS, x, &random);
            for (int i = 0; i < COLS; i++) {
                permuted[i * 7 % COLS] = x[i];
                permuted_grad[i * 7 % COLS] = backward ? grad[i] : 0;
            }
            question q;
            question_open(&q, backward ? "softmax_bwd" : "softmax_fwd",
                          backward ? &tki_softmax_bwd_oracle : &tki_softmax_fwd_oracle, t);
            ask(&q, COLS, backward ? grad : x, x, false, answer);
            if (backward)
                bwd_row(t, COLS, permuted_grad, permuted, out);
            else
                fwd_row(t, COLS, permuted, out);
            for (int i = 0; i < COLS; i++)
                assert_true(accepts(t, &answer[i], out[i * 7 % COLS]));
            question_close(&q);
        }
}

/* SOFTMAX_BWD.ERR: with y summing to exactly one, a constant gradient goes to zero, and every result sums to zero. */
TEST(gradients_sum_to_zero)
{
    enum { COLS = 24 };
    uint32_t y[COLS];
    uint32_t grad[COLS];
    uint32_t out[COLS];
    tki_enclosure answer[COLS];
    tki_random random = tki_random_stream(SEED, 700);
    for (int d = 0; d < 3; d++) {
        tk_dtype t = dtypes[d];
        question q;
        question_open(&q, "softmax_bwd", &tki_softmax_bwd_oracle, t);
        for (int trial = 0; trial < 40; trial++) {
            double constant = tki_random_normal(&random) * 100;
            for (int i = 0; i < COLS; i++) { /* 1/2, 1/4, ..., 1/128, and sixteen and one parts of what is left */
                y[i] = bits_of(t, i < 7 ? ldexp(1, -i - 1) : i < 23 ? 0x1p-12 : 0x1p-8);
                grad[i] = bits_of(t, trial % 2 ? constant : tki_random_normal(&random));
            }
            bwd_row(t, COLS, grad, y, out);
            ask(&q, COLS, grad, y, false, answer);
            double sum_of_y = 0;
            double sum = 0;
            double slack = 0;
            for (int i = 0; i < COLS; i++) {
                sum_of_y += value_of(t, y[i]);
                sum += value_of(t, out[i]);
                slack += tki_ulp(t, value_of(t, out[i])) / 2 + answer[i].bound;
                if (trial % 2)
                    assert_true(fabs(value_of(t, out[i])) <=
                                tki_decode(t, tki_round_double(t, answer[i].bound * (1 + 0x1p-20))));
            }
            assert_true(sum_of_y == 1);
            assert_true(fabs(sum) <= slack * (1 + 0x1p-20));
        }
        question_close(&q);
    }
}

/* SOFTMAX_FWD.SHAPE, SOFTMAX_BWD.SHAPE, SOFTMAX_FWD.WRITE, SOFTMAX_BWD.WRITE: sizes around the kernel's block and
 * what it keeps, buffers at every offset; a row in a batch has the bits of the row alone; neighbours and inputs
 * stay. */
TEST(any_size_and_alignment)
{
    static const int64_t sizes[][2] = {{0, 5},   {5, 0},   {1, 1},   {7, 1},    {3, 2},
                                       {2, 255}, {2, 256}, {3, 257}, {2, 4096}, {2, 4097}};
    enum { MOST = 2 * 4097 + 16 };
    uint32_t *in = malloc(2 * MOST * sizeof *in);
    uint32_t *out = malloc(2 * MOST * sizeof *out);
    uint32_t *row_in = malloc(2 * MOST * sizeof *row_in);
    uint32_t *alone = malloc(MOST * sizeof *alone);
    assert_true(in && out && row_in && alone);
    tk_ctx *ctx = new_context();
    for (size_t k = 0; k < 12 * sizeof sizes / sizeof *sizes; k++) {
        tk_dtype t = dtypes[k / 4 % 3];
        int64_t rows = sizes[k / 12][0];
        int64_t cols = sizes[k / 12][1];
        int offset = (int)(k % 4);
        tki_random random = tki_random_stream(SEED, 800 + k);
        for (int i = 0; i < 2 * MOST; i++) {
            put_bits(t, in, i, bits_of(t, tki_random_normal(&random)));
            put_bits(t, out, i, 0xabcd);
        }
        const size_t bytes = tk_dtype_size(t);
        const char *grad = (const char *)in + (size_t)offset * bytes;
        const char *x = (const char *)in + (MOST + 1) * bytes;
        char *forward = (char *)out + (size_t)(5 + offset) * bytes;
        char *backward = (char *)out + (MOST + 3) * bytes;
        assert_ok(ctx, tk_softmax_fwd(ctx, t, rows, cols, x, forward));
        assert_ok(ctx, tk_softmax_bwd(ctx, t, rows, cols, grad, x, backward));
        for (int i = 0; i < 2 * MOST; i++) {
            bool in_forward = i >= 5 + offset && i < 5 + offset + rows * cols;
            bool in_backward = i >= MOST + 3 && i < MOST + 3 + rows * cols;
            assert_true(in_forward || in_backward || tki_element_bits(t, out, i) == 0xabcd);
        }
        for (int64_t row = 0; row < rows && cols > 0; row++) {
            for (int64_t j = 0; j < cols; j++) {
                row_in[j] = tki_element_bits(t, x, row * cols + j);
                row_in[MOST + j] = tki_element_bits(t, grad, row * cols + j);
            }
            fwd_row(t, cols, row_in, alone);
            for (int64_t j = 0; j < cols; j++)
                assert_int_equal(alone[j], tki_element_bits(t, forward, row * cols + j));
            bwd_row(t, cols, row_in + MOST, row_in, alone);
            for (int64_t j = 0; j < cols; j++)
                assert_int_equal(alone[j], tki_element_bits(t, backward, row * cols + j));
        }
        random = tki_random_stream(SEED, 800 + k);
        for (int i = 0; i < 2 * MOST; i++)
            assert_int_equal(tki_element_bits(t, in, i), bits_of(t, tki_random_normal(&random)));
    }
    tk_ctx_destroy(ctx);
    free(in);
    free(out);
    free(row_in);
    free(alone);
}

/* SOFTMAX_FWD.REPEAT, SOFTMAX_BWD.REPEAT */
TEST(same_bits_for_every_thread_count)
{
    enum { ROWS = 37, COLS = 1001, N = ROWS * COLS };
    static const int threads[] = {1, 2, 3, 7};
    uint32_t *x = malloc(2 * N * sizeof *x);
    uint32_t *first = malloc(2 * N * sizeof *first);
    uint32_t *out = malloc(2 * N * sizeof *out);
    assert_true(x && first && out);
    tk_ctx *ctx = new_context();
    for (int d = 0; d < 3; d++) {
        tki_random random = tki_random_stream(SEED, 900);
        for (int i = 0; i < 2 * N; i++)
            put_bits(dtypes[d], x, i, bits_of(dtypes[d], 3 * tki_random_normal(&random)));
        const size_t bytes = N * tk_dtype_size(dtypes[d]);
        const char *second = (const char *)x + bytes;
        for (int k = 0; k < 4; k++) {
            uint32_t *target = k ? out : first;
            assert_ok(ctx, tk_ctx_set_threads(ctx, threads[k]));
            assert_ok(ctx, tk_softmax_fwd(ctx, dtypes[d], ROWS, COLS, x, target));
            assert_ok(ctx, tk_softmax_bwd(ctx, dtypes[d], ROWS, COLS, x, second, (char *)target + bytes));
            if (k)
                assert_memory_equal(out, first, 2 * bytes);
        }
    }
    tk_ctx_destroy(ctx);
    free(x);
    free(first);
    free(out);
}

TEST_WITH_CONTEXT(bad_arguments_write_nothing)
{
    uint16_t x[8] = {0};
    uint16_t y[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint16_t before[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint16_t zeros[8] = {0};
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_F16, -1, 2, x, y), TK_BAD_ARGUMENT, "negative");
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_F16, 2, -1, x, y), TK_BAD_ARGUMENT, "negative");
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_BF16, INT64_MAX / 4, 8, x, y), TK_BAD_ARGUMENT, "63 bits");
    assert_refused(ctx, tk_softmax_bwd(ctx, TK_BF16, INT64_C(1) << 32, INT64_C(1) << 32, x, x, y), TK_BAD_ARGUMENT,
                   "63 bits");
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_I32, 2, 4, x, y), TK_BAD_ARGUMENT, "i32");
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_F16, 2, 4, NULL, y), TK_BAD_ARGUMENT, "x is NULL");
    assert_refused(ctx, tk_softmax_bwd(ctx, TK_F16, 2, 4, x, NULL, y), TK_BAD_ARGUMENT, "y is NULL");
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_F16, 1, 2, x, (char *)y + 1), TK_BAD_ARGUMENT, "not aligned");
    assert_refused(ctx, tk_softmax_fwd(ctx, TK_F16, 2, 4, x, x), TK_BAD_ARGUMENT, "overlaps");
    assert_refused(ctx, tk_softmax_bwd(ctx, TK_F16, 2, 2, y, x, x + 3), TK_BAD_ARGUMENT, "overlaps");
    assert_refused(ctx, tk_softmax_bwd(ctx, TK_F16, 2, 4, x, y, x), TK_BAD_ARGUMENT, "overlaps");
    assert_memory_equal(y, before, sizeof y);
    assert_memory_equal(x, zeros, sizeof x);
    assert_ok(ctx, tk_softmax_fwd(ctx, TK_F16, 0, 4, NULL, NULL));
    assert_ok(ctx, tk_softmax_bwd(ctx, TK_F16, INT64_MAX, 0, NULL, NULL, NULL));
}

TEST(certified_and_mutants_refuted)
{
    assert_op_certifies("softmax_fwd");
    assert_op_certifies("softmax_bwd");
}

int main(void)
{
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fwd_oracle_agrees_with_reciprocal_form),
        cmocka_unit_test(bwd_oracle_agrees_with_integers),
        cmocka_unit_test(known_values),
        cmocka_unit_test(fwd_special_values),
        cmocka_unit_test(bwd_special_values),
        cmocka_unit_test(bwd_overflow),
        cmocka_unit_test(no_bound_for_endless_rows),
        cmocka_unit_test(short_rows_have_little_slack),
        cmocka_unit_test(sums_of_equal_terms),
        cmocka_unit_test(plateaus_have_little_slack),
        cmocka_unit_test(promise_holds_on_long_rows),
        cmocka_unit_test(rows_sum_to_one),
        cmocka_unit_test(shifts_change_nothing),
        cmocka_unit_test(permutations_stay_within_intervals),
        cmocka_unit_test(gradients_sum_to_zero),
        cmocka_unit_test(any_size_and_alignment),
        cmocka_unit_test(same_bits_for_every_thread_count),
        cmocka_unit_test(bad_arguments_write_nothing),
        cmocka_unit_test(certified_and_mutants_refuted),
    };
    return cmocka_run_group_tests_name("softmax", tests, NULL, NULL);
}
