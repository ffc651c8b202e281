/* Sums of products by other numerics: what a matrix unit makes of them, with factors cut to TF32 or of 16 bits, stays within what the rules allow;
 * and by the rules of fp32 it does not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "exact/product_bound.h"
#include "exact/round.h"
#include "interpret/program.h"
#include "model/attributes.h"
#include "tests/unit_test.h"

/* Few terms, and as many as make products of matrices worth it. */
static const struct {
    int rows, cols, r, s;
} shapes[] = {{4, 5, 3, 7}, {8, 8, 8, 8}};
enum { MOST = 8 * 64, MOST_PLACES = 64 };

static tki_random draws;

static double unit_draw(void)
{
    return tki_random_unit(&draws);
}

static uint64_t below(uint64_t n)
{
    return tki_random_below(&draws, n);
}

/* -- A matrix unit --------------------------------------------------------------------------------------------------- */

typedef struct unit {
    int choice;
    int block, fraction;
} unit;

static const unit units[] = {{TKI_UNIT_UNKNOWN, 4, 23}, {TKI_UNIT_SM_80, 8, 24}, {TKI_UNIT_SM_90, 8, 25}};

/* What cutting off the last 13 bits leaves. */
static float cut(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT32_C(0xffffe000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int exponent_of(double x, int least)
{
    return x == 0 ? INT32_MIN / 2 : ilogb(x) < least ? least : ilogb(x);
}

/* One block: products and accumulator aligned to the largest of them, truncated at F fraction bits, and the sum to fp32. */
static float add_block(const unit *u, int count, const float *a, const float *b, int least, float accumulator)
{
    int largest = accumulator == 0 ? INT32_MIN / 2 : ilogb((double)accumulator);
    for (int i = 0; i < count; i++) {
        const int exponent = exponent_of((double)a[i], least) + exponent_of((double)b[i], least);
        largest = a[i] != 0 && b[i] != 0 && exponent > largest ? exponent : largest;
    }
    if (largest <= INT32_MIN / 4)
        return accumulator;
    double sum = trunc(ldexp((double)accumulator, u->fraction - largest));
    for (int i = 0; i < count; i++)
        sum += trunc(ldexp((double)a[i] * (double)b[i], u->fraction - largest));
    sum = ldexp(sum, largest - u->fraction);
    const float nearest = (float)sum;
    return fabs((double)nearest) > fabs(sum) ? nextafterf(nearest, 0) : nearest;
}

/* A sum of products on a unit: blocks as they lie, or with as many zeros between the products as one may find in a tile. */
static float on_unit(const unit *u, int count, const float *a, const float *b, bool tf32, bool padded, int least,
                     float begin)
{
    float sum = begin, left[8], right[8];
    int filled = 0;
    for (int i = 0; i < count; i++) {
        left[filled] = tf32 ? cut(a[i]) : a[i];
        right[filled++] = tf32 ? cut(b[i]) : b[i];
        if (filled == u->block || (padded && below(3) == 0)) {
            sum = add_block(u, filled, left, right, least, sum);
            filled = 0;
        }
    }
    return add_block(u, filled, left, right, least, sum);
}

/* -- Inputs ---------------------------------------------------------------------------------------------------------- */

typedef enum kind { DENSE, SPARSE, MIXED, SUBNORMAL, ALIGNED, KINDS } kind;

static double draw_number(kind how, int least)
{
    const double x = 2 * unit_draw() - 1;
    switch (how) {
    case SPARSE: return below(7) == 0 ? x : 0;
    case MIXED: return ldexp(x, (int)below(13) - 6);
    case SUBNORMAL: return below(2) ? ldexp(x, least - (int)below(6)) : ldexp(x, (int)below(8) - 2);
    default: return x;
    }
}

/* In the type, and as the number that was stored. */
static void put(tk_dtype dtype, int i, double x, void *data, float numbers[])
{
    const uint32_t bits = tki_round_double(dtype, x);
    tki_put_bits(dtype, data, i, bits);
    numbers[i] = (float)tki_decode(dtype, bits);
}

static void fill(tk_dtype dtype, kind how, int count, void *data, float numbers[])
{
    for (int i = 0; i < count; i++)
        put(dtype, i, draw_number(how, tki_format_of(dtype).exponent_min), data, numbers);
}

typedef struct problem {
    tk_case c;
    int rows, cols, places;
    float a[MOST], b[MOST], bias[8]; /* a[m, k], b[n, k] */
    uint32_t stored[3][MOST];
    tki_value values[64];
} problem;

/* Three products in a block, one of them of a number below the smallest normal one, which is aligned as if it were that: what the others have
 * behind it is lost, though they are as large. */
static void fill_aligned(tk_dtype dtype, problem *p)
{
    const int least = tki_format_of(dtype).exponent_min, lowest = tki_format_exponent_lowest(tki_format_of(dtype));
    for (int i = 0; i < p->rows * p->places; i++) {
        const int k = i % p->places;
        put(dtype, i, k > 2 ? 0 : k == 0 ? ldexp(1, lowest) : ldexp(1 + unit_draw(), -8), p->stored[0], p->a);
    }
    for (int i = 0; i < p->cols * p->places; i++)
        put(dtype, i, i % p->places == 0 ? ldexp(1, -least) : ldexp(1 + unit_draw(), -8), p->stored[1], p->b);
}

static void evaluate(problem *p, int numerics, int matrix_unit)
{
    const void *buffers[] = {p->stored[0], p->stored[1], p->stored[2], NULL};
    tki_interpreter *in;
    const tki_definition *d = tki_definition_of(p->c.contract);
    tki_set_role(p->c.contract, p->c.attributes, TK_ROLE_NUMERICS, numerics);
    tki_set_role(p->c.contract, p->c.attributes, TK_ROLE_MATRIX_UNIT, matrix_unit);
    assert_null(p->c.contract->refusal(&p->c));
    assert_int_equal(tki_interpreter_make(d, &p->c, buffers, &in), TK_OK);
    assert_int_equal(tki_interpreter_values(in, d->params[3], 0, p->rows * p->cols, p->values), TK_OK);
    tki_interpreter_free(in);
}

static void draw_problem(const tk_contract *op, tk_dtype dtype, kind how, problem *p)
{
    const int which = (int)below(sizeof shapes / sizeof *shapes);
    p->rows = shapes[which].rows;
    p->cols = shapes[which].cols;
    p->places = shapes[which].r * shapes[which].s;
    p->c = tk_case_init(op, dtype);
    for (int d = 0; d < op->dim_count; d++)
        p->c.dims[d] = !strcmp(op->dim_names[d], "m")   ? p->rows
                       : !strcmp(op->dim_names[d], "n") ? p->cols
                       : !strcmp(op->dim_names[d], "r") ? shapes[which].r
                       : !strcmp(op->dim_names[d], "s") ? shapes[which].s
                                                        : p->places;
    if (how == ALIGNED) {
        fill_aligned(dtype, p);
        fill(dtype, SUBNORMAL, p->cols, p->stored[2], p->bias);
        return;
    }
    fill(dtype, how, p->rows * p->places, p->stored[0], p->a);
    fill(dtype, how == SPARSE ? DENSE : how, p->cols * p->places, p->stored[1], p->b);
    fill(dtype, how, p->cols, p->stored[2], p->bias);
}

/* -- Inside, and outside -------------------------------------------------------------------------------------------- */

static const char *const texts[] = {
    "op mm(a[m, k], b[n, k], c[n]) -> y[m, n]\n    y[m, n] = sum[k](a[m, k] * b[n, k])\n",
    "op mm_bias(a[m, k], b[n, k], c[n]) -> y[m, n]\n    y[m, n] = c[n] + sum[k](a[m, k] * b[n, k])\n",
    "op mm_two(a[m, r, s], b[n, r, s], c[n]) -> y[m, n]\n    y[m, n] = c[n] + sum[r, s](a[m, r, s] * b[n, r, s])\n",
    "op mm_made(a[m, k], b[n, k], c[n]) -> y[m, n]\n    y[m, n] = c[n] + sum[k](tanh(a[m, k]) * b[n, k])\n"};
enum { PLAIN, BIASED, TWO_AXES, MADE, TEXTS };

static float evaluated(const problem *p, int form, const unit *u, bool tf32, int row, int col)
{
    float a[MOST_PLACES];
    const float *b = p->b + col * p->places, bias = form == PLAIN ? 0 : p->bias[col];
    for (int k = 0; k < p->places; k++)
        a[k] = form == MADE ? (float)tanh((double)p->a[row * p->places + k]) : p->a[row * p->places + k];
    const int least = tki_format_of(p->c.dtype).exponent_min;
    const bool first = below(2);
    const float sum = on_unit(u, p->places, a, b, tf32, form == TWO_AXES, least, first ? bias : 0);
    return first ? sum : sum + bias;
}

typedef struct found {
    int64_t elements, refuted; /* by the rules of fp32, with A = 2 */
    double worst;              /* of what the numerics allow */
} found;

static found try_all(const tk_contract *op, int form, tk_dtype dtype, int numerics, kind how, const unit *u,
                     int problems)
{
    static problem p, ieee;
    found all = {0, 0, 0};
    for (int i = 0; i < problems; i++) {
        draw_problem(op, dtype, how, &p);
        ieee = p;
        evaluate(&p, numerics, u->choice);
        evaluate(&ieee, TKI_NUMERICS_IEEE, TKI_UNIT_UNKNOWN);
        for (int e = 0; e < p.rows * p.cols; e++) {
            const tki_value *y = &p.values[e], *strict = &ieee.values[e];
            if (form == MADE && numerics == TKI_NUMERICS_TENSOR_CORE)
                continue;
            const double got = (double)evaluated(&p, form, u, numerics == TKI_NUMERICS_TF32, e / p.cols, e % p.cols);
            assert_int_equal(y->state, TKI_IS_FINITE);
            const double off = fmax(0, fabs(got - y->v) - y->d);
            if (off > y->e)
                fail_msg("%s, %s, kind %d, F = %d: %.17g is %.3g off, and %.3g is allowed", op->name,
                         tk_dtype_name(dtype), (int)how, u->fraction, got, off, y->e);
            all.elements++;
            all.worst = fmax(all.worst, y->e > 0 ? off / y->e : 0);
            all.refuted += fabs(got - strict->v) - strict->d > 2 * strict->e;
        }
    }
    return all;
}

TEST(what_units_make_is_inside)
{
    const tk_dtype types[] = {TK_F32, TK_F16, TK_BF16};
    tk_ctx *ctx;
    draws = tki_random_stream(31, 0);
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    for (int t = 0; t < TEXTS; t++) {
        const tk_contract *op;
        if (tk_op_define(ctx, texts[t], strlen(texts[t]), NULL, &op) != TK_OK)
            fail_msg("%s", tk_ctx_message(ctx));
        for (int type = 0; type < 3; type++)
            for (int how = 0; how < KINDS; how++)
                for (int u = 0; u < 3; u++) {
                    const bool tf32 = types[type] == TK_F32;
                    if (t == MADE && !tf32)
                        continue;
                    const found all = try_all(op, t, types[type], tf32 ? TKI_NUMERICS_TF32 : TKI_NUMERICS_TENSOR_CORE,
                                              (kind)how, &units[u], effort(10));
                    printf("%-8s %-4s kind %d F %d: %lld elements, at most %.3f of e, %lld refuted by fp32's rules\n",
                           op->name, tk_dtype_name(types[type]), how, units[u].fraction, (long long)all.elements,
                           all.worst, (long long)all.refuted);
                    /* Cut factors show in every kind of rows, most where these are sparse. */
                    if (tf32 && how != ALIGNED)
                        assert_true(all.refuted > all.elements / 2);
                    /* A unit is seldom twice as far off as fp32 may be, but where it aligns with more than there is. */
                    if (!tf32 && how == ALIGNED && t == PLAIN)
                        assert_true(all.refuted > all.elements / 2);
                }
    }
    tk_ctx_destroy(ctx);
}

/* Of 16-bit numbers without subnormal ones it is the handwritten bound of matrix products. */
TEST(tensor_core_is_the_rule_of_products)
{
    static problem p;
    tk_ctx *ctx;
    const tk_contract *op;
    draws = tki_random_stream(32, 0);
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_int_equal(tk_op_define(ctx, texts[PLAIN], strlen(texts[PLAIN]), NULL, &op), TK_OK);
    for (int u = 0; u < 3; u++) {
        draw_problem(op, TK_F16, SPARSE, &p);
        for (int i = 0; i < p.rows * p.places; i++) /* none below the smallest normal number */
            assert_true(p.a[i] == 0 || fabsf(p.a[i]) >= 0x1p-14f);
        evaluate(&p, TKI_NUMERICS_TENSOR_CORE, units[u].choice);
        for (int e = 0; e < p.rows * p.cols; e++) {
            tki_product_sum sum = {.dtype = TK_F16,
                                   .numerics = TKI_NUMERICS_TENSOR_CORE,
                                   .matrix_unit = units[u].choice,
                                   .products = p.places};
            for (int k = 0; k < p.places; k++) {
                const double product = (double)p.a[e / p.cols * p.places + k] *
                                       (double)p.b[e % p.cols * p.places + k];
                sum.nonzero += product != 0;
                sum.magnitude += fabs(product);
            }
            const double bound = tki_product_bound(sum);
            assert_true(p.values[e].e >= bound * (1 - 0x1p-40) && p.values[e].e <= bound * (1 + 0x1p-15));
        }
    }
    tk_ctx_destroy(ctx);
}

TEST(numerics_are_for_their_types)
{
    tk_ctx *ctx;
    const tk_contract *op, *sum;
    static const char plain[] = "op all(x[r, c]) -> y[r]\n    y = sum[c](x)\n";
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_int_equal(tk_op_define(ctx, texts[PLAIN], strlen(texts[PLAIN]), NULL, &op), TK_OK);
    assert_int_equal(tk_op_define(ctx, plain, strlen(plain), NULL, &sum), TK_OK);
    assert_int_equal(tk_attribute_find(sum, "numerics"), -1);
    assert_true(tki_attribute_of_role(op, TK_ROLE_NUMERICS) >= 0);
    tk_case c = tk_case_init(op, TK_F16);
    tki_set_role(op, c.attributes, TK_ROLE_NUMERICS, TKI_NUMERICS_TF32);
    assert_non_null(strstr(op->refusal(&c), "tf32 is for f32"));
    c = tk_case_init(op, TK_F32);
    assert_null(op->refusal(&c));
    tki_set_role(op, c.attributes, TK_ROLE_NUMERICS, TKI_NUMERICS_TENSOR_CORE);
    assert_non_null(strstr(op->refusal(&c), "tensor_core is for products of 16-bit numbers"));
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_units_make_is_inside),
        cmocka_unit_test(tensor_core_is_the_rule_of_products),
        cmocka_unit_test(numerics_are_for_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
