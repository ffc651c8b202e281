/* gelu: one test per clause, the oracle against other ways of computing the same numbers, bad arguments, mutants,
 * and every input of gelu_fwd by every lowering. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "drivers/backend.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "judge/judge.h"
#include "model/lowering.h"
#include "tests/op_test.h"
#include "tokitai.h"

extern const tki_oracle tki_gelu_fwd_oracle;
extern const tki_oracle tki_gelu_bwd_oracle;

enum { DTYPES = 3, PATTERNS_16 = 1 << 16, SPREAD = 1 << 20 };
static const tk_dtype dtypes[DTYPES] = {TK_F16, TK_BF16, TK_F32};

/* Patterns, in the low bits of a word; an element of 16 bits is the half that lies first in memory. */
static uint32_t bits_of(tk_dtype dtype, double value)
{
    return tki_round_double(dtype, value);
}

static void put_bits(tk_dtype dtype, void *data, int64_t i, uint32_t bits)
{
    const size_t bytes = tk_dtype_size(dtype);
    memcpy((char *)data + (size_t)i * bytes, &bits, bytes);
}

static uint32_t fwd_one(tk_dtype dtype, uint32_t x)
{
    tk_ctx *ctx = new_context();
    uint32_t y = 0x55555555;
    assert_ok(ctx, tk_gelu_fwd(ctx, dtype, 1, &x, &y));
    tk_ctx_destroy(ctx);
    return tki_element_bits(dtype, &y, 0);
}

static uint32_t bwd_one(tk_dtype dtype, uint32_t grad_output, uint32_t x)
{
    tk_ctx *ctx = new_context();
    uint32_t grad_input = 0x55555555;
    assert_ok(ctx, tk_gelu_bwd(ctx, dtype, 1, &grad_output, &x, &grad_input));
    tk_ctx_destroy(ctx);
    return tki_element_bits(dtype, &grad_input, 0);
}

/* The i-th of 2^16 patterns that are spread over all of the type. */
static uint32_t spread_pattern(tk_dtype dtype, uint32_t i)
{
    return dtype == TK_F32 ? i << 16 | (i * 40503u & 0xffff) : i;
}

/* y = 0.5 x (1 + tanh(c (x + a x^3))), the way it is usually written, at 300 bits. */
static void tanh_form(mpfr_t y, mpfr_srcptr x)
{
    mpfr_t t;
    mpfr_t c;
    mpfr_inits2(300, t, c, (mpfr_ptr)0);
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_ui_div(c, 2, c, MPFR_RNDN);
    mpfr_sqrt(c, c, MPFR_RNDN);
    mpfr_sqr(t, x, MPFR_RNDN);
    mpfr_mul(t, t, x, MPFR_RNDN);
    mpfr_mul_ui(t, t, 44715, MPFR_RNDN);
    mpfr_div_ui(t, t, 1000000, MPFR_RNDN);
    mpfr_add(t, t, x, MPFR_RNDN);
    mpfr_mul(t, t, c, MPFR_RNDN);
    mpfr_tanh(t, t, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_mul(t, t, x, MPFR_RNDN);
    mpfr_div_2ui(y, t, 1, MPFR_RNDN);
    mpfr_clears(t, c, (mpfr_ptr)0);
}

/* GELU_FWD.ERR: the oracle encloses the tanh form for every x at which 300 bits of tanh do not cancel away. */
TEST(oracle_agrees_with_tanh_form)
{
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    mpfr_t x;
    mpfr_t y;
    mpfr_inits2(300, x, y, (mpfr_ptr)0);
    for (int d = 0; d < DTYPES; d++) {
        void *tables;
        assert_int_equal(tki_gelu_fwd_oracle.open(dtypes[d], &tables), TK_OK);
        for (uint32_t i = 0; i < PATTERNS_16; i += 17) {
            uint32_t element = spread_pattern(dtypes[d], i);
            double value = tki_decode(dtypes[d], element);
            if (!(fabs(value) < 7) || value == 0)
                continue;
            tk_case c = tk_case_init(contract, dtypes[d]);
            c.dims[0] = 1;
            tki_oracle_job job = {
                .c = &c, .buffers = (const void *[]){&element, NULL}, .output = 1, .tables = tables};
            tki_enclosure e;
            assert_int_equal(tki_gelu_fwd_oracle.enclose(&job, &(tki_box){0, 1, 0, 1}, &e), TK_OK);
            mpfr_set_d(x, value, MPFR_RNDN);
            tanh_form(y, x);
            /* The enclosure is a few ulps of double wide; 300 bits less the cancellation are far more exact. */
            assert_true(mpfr_cmp_d(y, e.lo) >= 0 && mpfr_cmp_d(y, e.hi) <= 0);
            assert_true(e.hi - e.lo <= (dtypes[d] == TK_F32 ? 0x1p-44 : 0x1p-50) * fabs(e.hi) + 0x1p-1070);
        }
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* GELU_BWD.ERR: the oracle's derivative against a difference quotient of the forward function in 300 bits. */
TEST(oracle_agrees_with_difference_quotient)
{
    const tk_contract *contract = tk_contract_find("gelu_bwd");
    mpfr_t x;
    mpfr_t above;
    mpfr_t below;
    mpfr_inits2(300, x, above, below, (mpfr_ptr)0);
    for (int d = 0; d < DTYPES; d++) {
        void *tables;
        uint32_t one = bits_of(dtypes[d], 1);
        assert_int_equal(tki_gelu_bwd_oracle.open(dtypes[d], &tables), TK_OK);
        for (uint32_t i = 0; i < PATTERNS_16; i += 19) {
            uint32_t element = spread_pattern(dtypes[d], i);
            double value = tki_decode(dtypes[d], element);
            if (!(fabs(value) < 6))
                continue;
            tk_case c = tk_case_init(contract, dtypes[d]);
            c.dims[0] = 1;
            tki_oracle_job job = {
                .c = &c, .buffers = (const void *[]){&one, &element, NULL}, .output = 2, .tables = tables};
            tki_enclosure e;
            assert_int_equal(tki_gelu_bwd_oracle.enclose(&job, &(tki_box){0, 1, 0, 1}, &e), TK_OK);
            mpfr_set_d(x, value, MPFR_RNDN);
            mpfr_add_d(x, x, 0x1p-70, MPFR_RNDN);
            tanh_form(above, x);
            mpfr_sub_d(x, x, 0x1p-69, MPFR_RNDN);
            tanh_form(below, x);
            mpfr_sub(above, above, below, MPFR_RNDN);
            mpfr_mul_2ui(above, above, 69, MPFR_RNDN);
            /* Its own error is of the order 2^-140. */
            double slack = 0x1p-120;
            assert_true(mpfr_cmp_d(above, e.lo - slack) >= 0 && mpfr_cmp_d(above, e.hi + slack) <= 0);
        }
    }
    mpfr_clears(x, above, below, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* An fp32 number by its place in a walk through all exponents, both signs and, far more often, |x| < 16, where something happens. */
static uint32_t drawn_f32(tki_random *random, int i)
{
    if (i % 2)
        return (uint32_t)tki_random_u64(random);
    const double x = (tki_random_unit(random) - 0.5) * 32;
    return tki_round_double(TK_F32, i % 4 ? x : x * 0x1p-3);
}

static void enclose_f32(const tki_oracle *oracle, const tki_oracle_job *job, tki_enclosure *e)
{
    assert_int_equal(oracle->enclose(job, &(tki_box){0, 1, 0, 1}, e), TK_OK);
}

/* GELU_FWD.ERR, GELU_BWD.ERR: in fp32 an enclosure in double contains that by MPFR, and is about as narrow as a double allows. g' may
 * cancel, so that its width is measured by sigma, and by |h| sigma (1 - sigma) <= 1.3. */
TEST(f32_is_enclosed)
{
    enum { DRAWS = 40000, PRECISION = 160 };
    const struct {
        const tki_oracle *oracle;
        const char *op;
    } both[] = {{&tki_gelu_fwd_oracle, "gelu_fwd"}, {&tki_gelu_bwd_oracle, "gelu_bwd"}};
    mpfr_t lo;
    mpfr_t hi;
    mpfr_inits2(PRECISION, lo, hi, (mpfr_ptr)0);
    for (int b = 0; b < 2; b++) {
        tki_random random = tki_random_stream(41, (uint64_t)b);
        tk_case c = tk_case_init(tk_contract_find(both[b].op), TK_F32);
        void *tables;
        c.dims[0] = 1;
        assert_int_equal(both[b].oracle->open(TK_F32, &tables), TK_OK);
        for (int i = 0; i < effort(DRAWS); i++) {
            uint32_t x = drawn_f32(&random, i);
            uint32_t grad = b ? tki_round_double(TK_F32, tki_random_normal(&random)) : 0;
            const void *buffers[] = {b ? &grad : &x, b ? &x : NULL, NULL};
            tki_oracle_job job = {.c = &c, .buffers = buffers, .output = b ? 2 : 1, .tables = tables};
            tki_enclosure e;
            enclose_f32(both[b].oracle, &job, &e);
            if (!tki_is_finite(TK_F32, x))
                continue;
            assert_int_equal(both[b].oracle->refine(&job, 0, 0, PRECISION, lo, hi), TK_OK);
            assert_true(mpfr_cmp_d(lo, e.lo) >= 0 && mpfr_cmp_d(hi, e.hi) <= 0);
            double scale = b ? fabs(tki_decode(TK_F32, grad)) : fmax(fabs(e.lo), fabs(e.hi));
            assert_true(e.hi - e.lo <= (fabs(tki_decode(TK_F32, x)) < 4 ? 0x1p-46 : 0x1p-40) * scale + 0x1p-600);
        }
    }
    mpfr_clears(lo, hi, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* GELU_BWD.INF: the sign of g', which an infinite gradient shows, is decided in fp32 too: around its zero near -0.7518, and where it
 * vanishes. */
TEST(f32_derivative_has_a_sign)
{
    tk_case c = tk_case_init(tk_contract_find("gelu_bwd"), TK_F32);
    uint32_t grad = tki_round_double(TK_F32, 1);
    uint32_t x;
    tki_oracle_job job = {.c = &c, .buffers = (const void *[]){&grad, &x, NULL}, .output = 2};
    tki_enclosure e;
    void *tables;
    int changes = 0;
    bool negative = false;
    assert_int_equal(tki_gelu_bwd_oracle.open(TK_F32, &tables), TK_OK);
    job.tables = tables;
    const uint32_t begin = tki_round_double(TK_F32, -0.75);
    for (x = begin; x < tki_round_double(TK_F32, -0.754); x++) {
        enclose_f32(&tki_gelu_bwd_oracle, &job, &e);
        assert_true(e.lo > 0 || e.hi < 0);
        changes += x > begin && (e.hi < 0) != negative;
        negative = e.hi < 0;
    }
    assert_int_equal(changes, 1);
    grad = tki_round_double(TK_F32, INFINITY);
    x = tki_round_double(TK_F32, -50);
    enclose_f32(&tki_gelu_bwd_oracle, &job, &e);
    assert_int_equal(e.admits, TKI_ADMIT_NAN | TKI_ADMIT_MINUS_INF);
}

/* GELU_FWD.ERR, GELU_BWD.ERR: values known by hand. */
TEST(known_values)
{
    assert_int_equal(fwd_one(TK_F16, 0x3c00), bits_of(TK_F16, 0.84119199060827676)); /* gelu(1) */
    assert_int_equal(fwd_one(TK_F16, 0x0000), 0x0000);
    assert_int_equal(fwd_one(TK_F16, 0x7bff), 0x7bff);      /* 65504 is far in the linear part */
    assert_int_equal(fwd_one(TK_BF16, 0xff7f) & 0x7fff, 0); /* and the largest negative bf16 number in the flat one */
    assert_int_equal(bwd_one(TK_F16, 0x3c00, 0x0000), 0x3800); /* g'(0) = 1/2 */
    assert_int_equal(bwd_one(TK_F16, 0x7bff, 0x7bff), 0x7bff); /* g' = 1 */
    assert_int_equal(fwd_one(TK_F32, bits_of(TK_F32, 1)), bits_of(TK_F32, 0.84119199060827676));
    assert_int_equal(fwd_one(TK_F32, 0x7f7fffff), 0x7f7fffff);
    assert_int_equal(fwd_one(TK_F32, 0x00000006), 0x00000003); /* y = x / 2 */
    assert_int_equal(bwd_one(TK_F32, 0x7f7fffff, bits_of(TK_F32, 7)), 0x7f7fffff);
    /* The tanh form gives 0 here, the exact result is -0.0352. */
    assert_int_equal(bwd_one(TK_F16, 0x7bff, 0xc529), bits_of(TK_F16, -0.035175234770635));
}

/* GELU_FWD.NAN, GELU_FWD.INF, GELU_BWD.NAN, GELU_BWD.INF */
TEST(special_values)
{
    for (int d = 0; d < DTYPES; d++) {
        tk_dtype t = dtypes[d];
        uint32_t infinity = bits_of(t, INFINITY);
        uint32_t minus_infinity = bits_of(t, -INFINITY);
        uint32_t nan = infinity | 1;
        uint32_t one = bits_of(t, 1);
        assert_true(tki_is_nan(t, fwd_one(t, nan)));
        assert_int_equal(fwd_one(t, infinity), infinity);
        uint32_t limit = fwd_one(t, minus_infinity);
        assert_true(tki_is_nan(t, limit) || tki_decode(t, limit) == 0);
        assert_true(tki_is_nan(t, bwd_one(t, nan, one)));
        assert_true(tki_is_nan(t, bwd_one(t, one, nan)));
        assert_int_equal(bwd_one(t, infinity, one), infinity);
        assert_int_equal(bwd_one(t, minus_infinity, one), minus_infinity);
        assert_int_equal(bwd_one(t, infinity, bits_of(t, -1)), minus_infinity); /* g'(-1) < 0 */
        uint32_t at_infinity = bwd_one(t, one, infinity);
        assert_true(tki_is_nan(t, at_infinity) || at_infinity == one);
        for (uint32_t i = 0; i < PATTERNS_16; i += 5)
            if (tki_is_finite(t, spread_pattern(t, i)))
                assert_false(tki_is_nan(t, bwd_one(t, bits_of(t, -3), spread_pattern(t, i))));
    }
}

static int gives_bits(const tk_case *c, void *const buffers[], void *data)
{
    for (int64_t i = 0; i < c->dims[0]; i++)
        memcpy((float *)buffers[2] + i, data, sizeof(float));
    return 0;
}

/* GELU_BWD.ERR, GELU_BWD.INF: in fp32 the product is rounded once, so that no gradient is none, and at +inf a gradient is itself. */
TEST_WITH_CONTEXT(f32_gradient_has_no_room_below_the_smallest_number)
{
    static const struct {
        uint64_t grad, x;
        uint32_t out;
        tk_verdict verdict;
    } rows[] = {{0, 0x3f800000, 0, TK_HELD},    {0, 0x3f800000, 1, TK_REFUTED}, {0, 0x7f800000, 0, TK_HELD},
                {0, 0x7f800000, 1, TK_REFUTED}, {1, 0x7f800000, 1, TK_HELD},    {1, 0x7f800000, 2, TK_REFUTED}};
    const int64_t dims[] = {1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t out = rows[i].out;
        const tk_given_input inputs[] = {{"grad_output", &rows[i].grad, 1}, {"x", &rows[i].x, 1}};
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = gives_bits;
        options.kernel_data = &out;
        options.dims = dims;
        options.inputs = inputs;
        options.input_count = 2;
        tk_certificate *c = certify_one(ctx, tk_contract_find("gelu_bwd"), TK_F32, TK_I32, options);
        if (tk_certificate_verdict(c) != rows[i].verdict)
            fail_msg("%zu: %s %s", i, tk_certificate_headline(c), tk_certificate_reason(c));
        tk_certificate_destroy(c);
    }
}

enum { MOST = 515 + 16 };

/* Element i of `out` is the result for element i - first, or untouched. */
static void assert_written(tk_dtype t, const void *out, int64_t first, int64_t n, const void *grad, const void *x)
{
    for (int64_t i = 0; i < MOST; i++) {
        uint32_t expected = t == TK_F32 ? 0xcdcdcdcd : 0xcdcd;
        if (i >= first && i < first + n) {
            uint32_t element = tki_element_bits(t, x, i - first);
            expected = grad ? bwd_one(t, tki_element_bits(t, grad, i - first), element) : fwd_one(t, element);
        }
        assert_int_equal(tki_element_bits(t, out, i), expected);
    }
}

/* GELU_FWD.SHAPE, GELU_BWD.SHAPE, GELU_FWD.WRITE, GELU_BWD.WRITE: sizes around the kernel's block, every offset of the
 * buffers; neighbours of the output stay. */
TEST_WITH_CONTEXT(any_size_and_alignment)
{
    static const int64_t sizes[] = {0, 1, 2, 255, 256, 257, 515};
    uint32_t x[MOST];
    uint32_t grad[MOST];
    uint32_t out[MOST];
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++)
        for (size_t offset = 0; offset < 4; offset++) {
            const tk_dtype t = k % 2 ? TK_F32 : TK_F16;
            const size_t bytes = tk_dtype_size(t);
            const int64_t n = sizes[k / 2];
            tki_random random = tki_random_stream(7, (uint64_t)n);
            for (int i = 0; i < MOST; i++) {
                put_bits(t, x, i, bits_of(t, tki_random_normal(&random)));
                put_bits(t, grad, i, bits_of(t, tki_random_normal(&random)));
            }
            const char *grad_begin = (char *)grad + offset * bytes;
            const char *x_begin = (char *)x + bytes;
            memset(out, 0xcd, sizeof out);
            assert_ok(ctx, tk_gelu_bwd(ctx, t, n, grad_begin, x_begin, (char *)out + (4 + offset) * bytes));
            assert_written(t, out, 4 + (int64_t)offset, n, grad_begin, x_begin);
            memset(out, 0xcd, sizeof out);
            assert_ok(ctx, tk_gelu_fwd(ctx, t, n, (char *)x + offset * bytes, (char *)out + 8 * bytes));
            assert_written(t, out, 8, n, NULL, (char *)x + offset * bytes);
        }
}

/* GELU_FWD.REPEAT, GELU_BWD.REPEAT */
TEST(same_bits_for_every_thread_count)
{
    enum { N = 70001 };
    static const int threads[] = {1, 2, 3, 7};
    uint32_t *x = malloc(N * sizeof *x);
    uint32_t *first = malloc(2 * N * sizeof *first); /* of each call */
    uint32_t *out = malloc(2 * N * sizeof *out);
    assert_non_null(x);
    assert_non_null(first);
    assert_non_null(out);
    tki_random random = tki_random_stream(11, 0);
    for (int i = 0; i < N; i++)
        x[i] = (uint32_t)tki_random_u64(&random);
    tk_ctx *ctx = new_context();
    for (int d = 0; d < DTYPES; d++) {
        const size_t bytes = N * tk_dtype_size(dtypes[d]);
        for (int t = 0; t < 4; t++) {
            char *to = (char *)(t ? out : first);
            assert_ok(ctx, tk_ctx_set_threads(ctx, threads[t]));
            assert_ok(ctx, tk_gelu_bwd(ctx, dtypes[d], N, x, x, to));
            assert_ok(ctx, tk_gelu_fwd(ctx, dtypes[d], N, x, to + bytes));
            if (t)
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
    uint16_t x[4] = {0x3c00, 0x3c00, 0x3c00, 0x3c00};
    uint16_t y[4] = {1, 2, 3, 4};
    const uint16_t before[4] = {1, 2, 3, 4};
    assert_refused(ctx, tk_gelu_fwd(ctx, TK_F16, -1, x, y), TK_BAD_ARGUMENT, "negative");
    assert_refused(ctx, tk_gelu_fwd(ctx, TK_F16, INT64_MAX, x, y), TK_BAD_ARGUMENT, "63 bits");
    assert_refused(ctx, tk_gelu_fwd(ctx, TK_I32, 4, x, y), TK_BAD_ARGUMENT, "i32");
    assert_refused(ctx, tk_gelu_fwd(ctx, TK_F16, 4, NULL, y), TK_BAD_ARGUMENT, "x is NULL");
    assert_refused(ctx, tk_gelu_fwd(ctx, TK_F16, 1, x, (char *)y + 1), TK_BAD_ARGUMENT, "not aligned");
    assert_refused(ctx, tk_gelu_fwd(ctx, TK_F16, 4, x, x), TK_BAD_ARGUMENT, "overlaps");
    assert_refused(ctx, tk_gelu_bwd(ctx, TK_F16, 3, y, x, x + 1), TK_BAD_ARGUMENT, "overlaps");
    assert_memory_equal(y, before, sizeof y);
    assert_ok(ctx, tk_gelu_fwd(ctx, TK_F16, 0, NULL, NULL));
}

TEST(certified_and_mutants_refuted)
{
    assert_op_certifies("gelu_fwd");
    assert_op_certifies("gelu_bwd");
}

/* False where this machine lacks what the lowering needs: instructions, or a device. */
static bool proves_or_is_refused(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, const char *id)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.level = TK_EXHAUSTIVE;
    options.lowering = id;
    options.skip_mutants = true;
    tk_certificate *c = NULL;
    tk_status status = tk_certify(ctx, contract, dtype, TK_I32, &options, &c);
    if (status == TK_BAD_ARGUMENT && strstr(tk_ctx_message(ctx), "the processor "))
        return false;
    if (status == TK_UNAVAILABLE)
        return false;
    assert_ok(ctx, status);
    if (tk_certificate_verdict(c) != TK_PROVED)
        fail_msg("%s: %s: %s", id, tk_verdict_name(tk_certificate_verdict(c)), tk_certificate_reason(c));
    tk_certificate_destroy(c);
    return true;
}

/* GELU_FWD.ERR, GELU_FWD.NAN, GELU_FWD.INF for each of the 2^16 inputs, by every lowering that runs here; the 2^32 of fp32 take minutes. */
TEST(proved_for_every_input)
{
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_ctx *ctx = new_context();
    tk_lowering_info info;
    int proved = 0;
    for (int i = 0; tk_lowering_at(contract, i, &info); i++)
        for (int d = 0; dtypes[d] != TK_F32; d++) {
            char id[64];
            snprintf(id, sizeof id, "%s.gelu_fwd.%s.%s", info.backend, tk_dtype_name(dtypes[d]), info.variant);
            proved += proves_or_is_refused(ctx, contract, dtypes[d], id);
        }
    assert_true(proved >= 2); /* the portable one runs everywhere */
    tk_ctx_destroy(ctx);
}

/* Of B, on one gradient and 2^20 numbers that are spread over all patterns of fp32. */
static double bound_used(const tki_lowering *row, bool backward, const uint32_t *grad, const uint32_t *x,
                         uint32_t *out)
{
    const tki_oracle *oracle = backward ? &tki_gelu_bwd_oracle : &tki_gelu_fwd_oracle;
    tk_case c = tk_case_init(tk_contract_find(backward ? "gelu_bwd" : "gelu_fwd"), TK_F32);
    c.dims[0] = SPREAD;
    const void *inputs[] = {backward ? grad : x, backward ? x : NULL, NULL};
    void *buffers[] = {tki_input(inputs[0]), backward ? tki_input(x) : out, backward ? out : NULL};
    const tki_call call = {.lowering = row, .c = &c, .buffers = buffers, .threads = 1};
    assert_int_equal(row->launch(&call), TK_OK);
    tki_oracle_job job = {.c = &c, .buffers = inputs, .output = backward ? 2 : 1};
    tki_judgement judged = {0};
    void *tables;
    assert_int_equal(oracle->open(TK_F32, &tables), TK_OK);
    job.tables = tables;
    assert_int_equal(tki_judge(oracle, &job, out, 2, &judged), TK_OK);
    assert_false(judged.failure.present);
    assert_int_equal(judged.undecided, 0);
    return judged.bound_used;
}

/* GELU_FWD.ERR, GELU_BWD.ERR: every CPU kernel keeps to nine tenths of B in fp32. */
TEST(f32_leaves_a_tenth_of_the_bound)
{
    static const double grads[] = {1, 0x1.fffffep0, 0x1p-126};
    uint32_t *x = malloc(SPREAD * sizeof *x);
    uint32_t *grad = malloc(SPREAD * sizeof *grad);
    uint32_t *out = malloc(SPREAD * sizeof *out);
    assert_non_null(x);
    assert_non_null(grad);
    assert_non_null(out);
    int rows = 0;
    for (size_t g = 0; g < sizeof grads / sizeof *grads; g++) {
        for (uint32_t i = 0; i < SPREAD; i++) {
            x[i] = i * 4099;
            grad[i] = bits_of(TK_F32, grads[g]);
        }
        for (int backward = g > 0; backward < 2; backward++) {
            const tk_contract *contract = tk_contract_find(backward ? "gelu_bwd" : "gelu_fwd");
            const tk_case c = tk_case_init(contract, TK_F32);
            for (const tki_lowering *row = tki_lowerings_of(contract); row->backend; row++)
                if (!row->backend->is_gpu && !row->accept(&c, NULL)) {
                    assert_true(bound_used(row, backward, grad, x, out) <= 0.9);
                    rows++;
                }
        }
    }
    assert_true(rows >= 4);
    free(x);
    free(grad);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_tanh_form),
        cmocka_unit_test(oracle_agrees_with_difference_quotient),
        cmocka_unit_test(f32_is_enclosed),
        cmocka_unit_test(f32_derivative_has_a_sign),
        cmocka_unit_test(f32_leaves_a_tenth_of_the_bound),
        cmocka_unit_test(known_values),
        cmocka_unit_test(special_values),
        cmocka_unit_test(f32_gradient_has_no_room_below_the_smallest_number),
        cmocka_unit_test(any_size_and_alignment),
        cmocka_unit_test(same_bits_for_every_thread_count),
        cmocka_unit_test(bad_arguments_write_nothing),
        cmocka_unit_test(certified_and_mutants_refuted),
        cmocka_unit_test(proved_for_every_input),
    };
    return cmocka_run_group_tests_name("gelu", tests, NULL, NULL);
}
