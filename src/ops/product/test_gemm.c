/* The matrix products: one test per clause, the oracle against integer arithmetic, laws between the three ops, bad arguments,
 * mutants. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gmp.h>
#include <mpfr.h>

#include "core/random.h"
#include "exact/oracle.h"
#include "exact/product.h"
#include "exact/round.h"
#include "judge/judge.h"
#include "model/attributes.h"
#include "ops/product/planted.h"
#include "runtime/planner.h"
#include "tests/op_test.h"
#include "tokitai.h"
#include "trials/families.h"
#include "trials/op_registry.h"

enum { GEMM, GRAD_A, GRAD_B, OPS };

enum { SEED = 101 };

static const char *const op_names[OPS] = {"gemm", "gemm_grad_a", "gemm_grad_b"};
/* Those of 16 bits, fp32, and 16 bits with sums that are kept in fp32. */
enum { F16, BF16, F32, F16_F32, BF16_F32, TYPES, SHORT_TYPES = F32 };
static const tk_types types[TYPES] = {
    {TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32}, {TK_F16, TK_F32}, {TK_BF16, TK_F32}};

static uint32_t bits_of(tk_dtype dtype, double value)
{
    return tki_round_double(dtype, value);
}

static void *new_elements(int64_t count, tk_dtype dtype)
{
    void *elements = calloc((size_t)count + 1, tk_dtype_size(dtype));
    assert_non_null(elements);
    return elements;
}

static tk_case case_of(int op, tk_types of, int64_t m, int64_t n, int64_t k)
{
    tk_case c = tk_case_init(tk_contract_find(op_names[op]), of.dtype);
    c.result_dtype = of.result_dtype;
    c.dims[0] = m;
    c.dims[1] = n;
    c.dims[2] = k;
    return c;
}

/* A case of `op` whose output is [rows, cols] and whose sums have `places` products. */
static tk_case product_case(int op, tk_types of, int64_t rows, int64_t cols, int64_t places)
{
    return op == GEMM     ? case_of(op, of, rows, cols, places)
           : op == GRAD_A ? case_of(op, of, rows, places, cols)
                          : case_of(op, of, places, cols, rows);
}

/* The typed call of the op. */
static tk_status call(tk_ctx *ctx, int op, tk_dtype dtype, const int64_t *dims, const void *first, const void *second,
                      void *out)
{
    switch (op) {
    case GEMM: return tk_gemm(ctx, dtype, dims[0], dims[1], dims[2], first, second, out);
    case GRAD_A: return tk_gemm_grad_a(ctx, dtype, dims[0], dims[1], dims[2], first, second, out);
    default: return tk_gemm_grad_b(ctx, dtype, dims[0], dims[1], dims[2], first, second, out);
    }
}

/* A case with its buffers, first and second input in contract order. */
typedef struct problem {
    tk_case c;
    int op;
    int64_t rows, cols, places;
    void *first, *second, *out;
} problem;

static problem new_problem(int op, tk_types of, int64_t rows, int64_t cols, int64_t places)
{
    problem p = {
        .c = product_case(op, of, rows, cols, places), .op = op, .rows = rows, .cols = cols, .places = places};
    p.first = new_elements(tk_case_elements(&p.c, 0), of.dtype);
    p.second = new_elements(tk_case_elements(&p.c, 1), of.dtype);
    p.out = new_elements(tk_case_elements(&p.c, 2), of.result_dtype);
    return p;
}

static size_t out_bytes(const problem *p)
{
    return (size_t)(p->rows * p->cols) * tk_dtype_size(p->c.result_dtype);
}

static uint32_t out_bits(const problem *p, int64_t i)
{
    return tki_element_bits(p->c.result_dtype, p->out, i);
}

static void free_problem(problem *p)
{
    free(p->first);
    free(p->second);
    free(p->out);
}

static void draw(problem *p, const char *family, uint64_t seed)
{
    assert_true(tki_family_find(family) >= 0);
    tki_family_fill(tki_family_find(family), &p->c, seed, (void *[]){p->first, p->second, NULL});
}

/* The typed calls have one type; other results are asked for by a case. */
static tk_status run_into(tk_ctx *ctx, const problem *p, void *first, void *second, void *out)
{
    if (p->c.dtype == p->c.result_dtype)
        return call(ctx, p->op, p->c.dtype, p->c.dims, first, second, out);
    return tk_run(ctx, &p->c, (void *[]){first, second, out});
}

static void run_problem(tk_ctx *ctx, problem *p)
{
    assert_ok(ctx, run_into(ctx, p, p->first, p->second, p->out));
}

/* Where the factors of out[i,j] at place t lie, spelled out from the formulas of the manual. */
typedef struct place {
    void *data;
    int64_t at;
} place;

static place left_at(const problem *p, int64_t i, int64_t t)
{
    const int64_t *d = p->c.dims;
    return p->op == GEMM     ? (place){p->first, i * d[2] + t}
           : p->op == GRAD_A ? (place){p->first, i * d[1] + t}
                             : (place){p->second, t * d[2] + i};
}

static place right_at(const problem *p, int64_t t, int64_t j)
{
    const int64_t *d = p->c.dims;
    return p->op == GEMM     ? (place){p->second, t * d[1] + j}
           : p->op == GRAD_A ? (place){p->second, j * d[1] + t}
                             : (place){p->first, t * d[1] + j};
}

static uint32_t get_bits(const problem *p, place from)
{
    return tki_element_bits(p->c.dtype, from.data, from.at);
}

static double get(const problem *p, place from)
{
    return tki_decode(p->c.dtype, get_bits(p, from));
}

static void set_bits(const problem *p, place to, uint32_t bits)
{
    tki_put_bits(p->c.dtype, to.data, to.at, bits);
}

static void set_left(const problem *p, int64_t i, int64_t t, double value)
{
    set_bits(p, left_at(p, i, t), bits_of(p->c.dtype, value));
}

static void set_right(const problem *p, int64_t t, int64_t j, double value)
{
    set_bits(p, right_at(p, t, j), bits_of(p->c.dtype, value));
}

/* The oracle's answer for every element of the output, box by box. */
static tki_enclosure *enclose_all(const problem *p, const void *tables, int64_t box)
{
    const tki_oracle *oracle = tki_oracle_of(p->c.contract);
    tki_oracle_job job = {
        .c = &p->c, .buffers = (const void *[]){p->first, p->second, NULL}, .output = 2, .tables = tables};
    tki_enclosure *all = calloc((size_t)(p->rows * p->cols) + 1, sizeof *all);
    tki_enclosure *some = calloc((size_t)(box * box), sizeof *some);
    assert_non_null(all);
    assert_non_null(some);
    for (int64_t i = 0; i < p->rows; i += box)
        for (int64_t j = 0; j < p->cols; j += box) {
            tki_box b = {i, i + box < p->rows ? i + box : p->rows, j, j + box < p->cols ? j + box : p->cols};
            assert_int_equal(oracle->enclose(&job, &b, some), TK_OK);
            for (int64_t r = b.row_begin; r < b.row_end; r++)
                for (int64_t c = b.col_begin; c < b.col_end; c++)
                    all[r * p->cols + c] = some[(r - b.row_begin) * (b.col_end - b.col_begin) + c - b.col_begin];
        }
    free(some);
    return all;
}

/* -- The oracle against integer arithmetic ------------------------------------------------------------------ */

/* x 2^300, an integer for every finite x: taken apart by the definition of the format, with no floating point. */
static void element_to_integer(mpz_t integer, tk_dtype dtype, uint32_t bits)
{
    int fraction_bits = dtype == TK_F16 ? 10 : dtype == TK_BF16 ? 7 : 23;
    int bias = dtype == TK_F16 ? 15 : 127;
    uint32_t sign = dtype == TK_F32 ? 0x80000000u : 0x8000u;
    int field = (int)((bits & (sign - 1)) >> fraction_bits);
    unsigned long significand = bits & ((1u << fraction_bits) - 1);
    if (field > 0)
        significand += 1ul << fraction_bits;
    else
        field = 1;
    mpz_set_ui(integer, significand);
    mpz_mul_2exp(integer, integer, (mp_bitcnt_t)(300 + field - bias - fraction_bits));
    if (bits & sign)
        mpz_neg(integer, integer);
}

typedef struct exact_element {
    mpz_t sum, magnitude; /* in units of 2^-600 */
    int64_t nonzero;
} exact_element;

static void exact_init(exact_element *e)
{
    mpz_inits(e->sum, e->magnitude, NULL);
}

static void exact_clear(exact_element *e)
{
    mpz_clears(e->sum, e->magnitude, NULL);
}

static void exact_dot(exact_element *e, const problem *p, int64_t i, int64_t j)
{
    mpz_t x;
    mpz_t y;
    mpz_inits(x, y, NULL);
    mpz_set_ui(e->sum, 0);
    mpz_set_ui(e->magnitude, 0);
    e->nonzero = 0;
    for (int64_t t = 0; t < p->places; t++) {
        element_to_integer(x, p->c.dtype, get_bits(p, left_at(p, i, t)));
        element_to_integer(y, p->c.dtype, get_bits(p, right_at(p, t, j)));
        mpz_addmul(e->sum, x, y);
        mpz_mul(x, x, y);
        e->nonzero += mpz_sgn(x) != 0;
        mpz_abs(x, x);
        mpz_add(e->magnitude, e->magnitude, x);
    }
    mpz_clears(x, y, NULL);
}

/* integer 2^-600, exactly */
static void integer_to_mpfr(mpfr_t value, const mpz_t integer)
{
    mpfr_set_prec(value, 1300);
    mpfr_set_z_2exp(value, integer, -600, MPFR_RNDN);
}

/* The exponent of the last bit of a number other than 0. */
static int last_bit(double value)
{
    int exponent;
    int64_t digits = (int64_t)ldexp(frexp(value, &exponent), 53);
    return exponent - 53 + __builtin_ctzll((unsigned long long)digits);
}

/* The clause of exact sums, in integers: the lines' units, and the sum of the absolute products in these. */
static bool is_exact(const problem *p, const exact_element *exact, int64_t i, int64_t j)
{
    int left = INT_MAX;
    int right = INT_MAX;
    for (int64_t t = 0; t < p->places; t++) {
        double x = get(p, left_at(p, i, t));
        double y = get(p, right_at(p, t, j));
        left = x != 0 && last_bit(x) < left ? last_bit(x) : left;
        right = y != 0 && last_bit(y) < right ? last_bit(y) : right;
    }
    if (mpz_sgn(exact->magnitude) == 0)
        return true;
    int unit = left + right;
    mpz_t most;
    mpz_init_set_ui(most, 1);
    mpz_mul_2exp(most, most, (mp_bitcnt_t)(600 + unit + 24));
    bool few = mpz_cmp(exact->magnitude, most) <= 0;
    mpz_clear(most);
    return few && unit >= -126 && unit <= 103;
}

static void check_element(const problem *p, const void *tables, const tki_enclosure *e, int64_t i, int64_t j)
{
    const tki_oracle *oracle = tki_oracle_of(p->c.contract);
    tki_oracle_job job = {
        .c = &p->c, .buffers = (const void *[]){p->first, p->second, NULL}, .output = 2, .tables = tables};
    exact_element exact;
    mpfr_t sum;
    mpfr_t lo;
    mpfr_t hi;
    exact_init(&exact);
    mpfr_inits2(128, sum, lo, hi, (mpfr_ptr)0);
    exact_dot(&exact, p, i, j);
    integer_to_mpfr(sum, exact.sum);
    assert_true(isfinite(e->lo) && isfinite(e->hi));
    assert_true(mpfr_cmp_d(sum, e->lo) >= 0 && mpfr_cmp_d(sum, e->hi) <= 0);
    assert_int_equal(oracle->refine(&job, i, j, 128, lo, hi), TK_OK);
    assert_true(mpfr_cmp(sum, lo) == 0 && mpfr_cmp(sum, hi) == 0);
    if (exact.nonzero <= 1)
        assert_true(e->lo == e->hi);

    /* (K' - 1) u sum|ab| + (1 + K u) K 2^-150, of fp32 with K' u, in 1300 bits: B is that, rounded up by a hair. */
    integer_to_mpfr(hi, exact.magnitude);
    double additions = exact.nonzero > 1 ? (double)(exact.nonzero - 1) : 0;
    mpfr_mul_d(hi, hi, (p->c.dtype == TK_F32 ? (double)exact.nonzero : additions) * 0x1p-24, MPFR_RNDN);
    double places = (double)p->places;
    if (p->c.dtype != TK_F16)
        mpfr_add_d(hi, hi, places * (1 + places * 0x1p-24) * 0x1p-150, MPFR_RNDN);
    if (is_exact(p, &exact, i, j))
        mpfr_set_zero(hi, 1);
    assert_true(mpfr_cmp_d(hi, e->bound) <= 0);
    mpfr_mul_d(hi, hi, 1 + 0x1p-36, MPFR_RNDN);
    assert_true(mpfr_cmp_d(hi, e->bound) >= 0);
    mpfr_clears(sum, lo, hi, (mpfr_ptr)0);
    exact_clear(&exact);
}

/* GEMM.ERR, GEMM_GRAD_A.ERR, GEMM_GRAD_B.ERR */
TEST(oracle_agrees_with_integers)
{
    static const char *const families[] = {"normal", "finite_bits", "subnormal", "huge",    "cancel",       "swamp",
                                           "few",    "midpoint",    "mixed",     "one_hot", "constant_rows"};
    /* Longer than the oracle's blocks, and boxes smaller than the output. */
    static const int64_t shapes[][3] = {{1, 1, 1}, {6, 6, 2}, {5, 7, 3}, {6, 5, 37}, {3, 4, 1100}};
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            void *tables;
            const tki_oracle *oracle = tki_oracle_of(tk_contract_find(op_names[op]));
            assert_int_equal(oracle->open(types[d].dtype, &tables), TK_OK);
            for (size_t f = 0; f < sizeof families / sizeof *families; f++)
                for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                    problem p = new_problem(op, types[d], shapes[s][0], shapes[s][1], shapes[s][2]);
                    draw(&p, families[f], SEED + s);
                    tki_enclosure *e = enclose_all(&p, tables, 4);
                    for (int64_t i = 0; i < p.rows; i++)
                        for (int64_t j = 0; j < p.cols; j++)
                            check_element(&p, tables, &e[i * p.cols + j], i, j);
                    free(e);
                    free_problem(&p);
                }
        }
    mpfr_free_cache();
}

/* Where every sum is small enough to be exact in double, the oracle says so; and dgemm's threads do not disturb each
 * other: a judged box is the same whether one thread or several work. */
TEST(oracle_is_exact_on_small_integers)
{
    void *tables;
    const tki_oracle *oracle = tki_oracle_of(tk_contract_find("gemm"));
    assert_int_equal(oracle->open(TK_F16, &tables), TK_OK);
    problem p = new_problem(GEMM, types[F16], 300, 280, 530);
    tki_random random = tki_random_stream(SEED, 0);
    for (int64_t i = 0; i < p.rows * p.places; i++)
        set_bits(&p, (place){p.first, i}, bits_of(TK_F16, (double)tki_random_below(&random, 64) - 32));
    for (int64_t i = 0; i < p.cols * p.places; i++)
        set_bits(&p, (place){p.second, i}, bits_of(TK_F16, (double)tki_random_below(&random, 64) - 32));
    tki_enclosure *e = enclose_all(&p, tables, 256);
    for (int64_t i = 0; i < p.rows; i += 7)
        for (int64_t j = 0; j < p.cols; j++) {
            long sum = 0;
            for (int64_t t = 0; t < p.places; t++)
                sum += (long)get(&p, left_at(&p, i, t)) * (long)get(&p, right_at(&p, t, j));
            assert_true(e[i * p.cols + j].lo == (double)sum && e[i * p.cols + j].hi == (double)sum);
        }
    free(e);
    tk_ctx *ctx = new_context();
    run_problem(ctx, &p);
    tki_oracle_job job = {
        .c = &p.c, .buffers = (const void *[]){p.first, p.second, NULL}, .output = 2, .tables = tables};
    tki_judgement one = {0};
    tki_judgement several = {0};
    assert_int_equal(tki_judge(oracle, &job, p.out, 1, &one), TK_OK);
    assert_int_equal(tki_judge(oracle, &job, p.out, 5, &several), TK_OK);
    assert_memory_equal(one.histogram, several.histogram, sizeof one.histogram);
    assert_int_equal(one.failed[TKI_SUM_ERR] + several.failed[TKI_SUM_ERR], 0);
    assert_true(one.bound_used == several.bound_used && one.absolute_error == several.absolute_error);
    tk_ctx_destroy(ctx);
    free_problem(&p);
}

/* -- Values ---------------------------------------------------------------------------------------------------- */

/* GEMM.ERR, GEMM_GRAD_A.ERR, GEMM_GRAD_B.ERR: [1 2 3; 4 5 6] [7 8; 9 10; 11 12] = [58 64; 139 154] and its gradients by
 * hand. */
TEST_WITH_CONTEXT(known_values)
{
    static const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12}, g[] = {1, -2, 3, 0.5};
    /* grad_a[i,t] = sum_j g[i,j] b[t,j], grad_b[t,j] = sum_i a[i,t] g[i,j] */
    static const struct {
        const double *first, *second;
        int rows, cols, places;
        double expected[6];
    } known[OPS] = {[GEMM] = {a, b, 2, 2, 3, {58, 64, 139, 154}},
                    [GRAD_A] = {g, b, 2, 3, 2, {-9, -11, -13, 25, 32, 39}},
                    [GRAD_B] = {g, a, 3, 2, 2, {13, 0, 17, -1.5, 21, -3}}};
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            problem p = new_problem(op, types[d], known[op].rows, known[op].cols, known[op].places);
            for (int64_t i = 0; i < tk_case_elements(&p.c, 0); i++)
                set_bits(&p, (place){p.first, i}, bits_of(p.c.dtype, known[op].first[i]));
            for (int64_t i = 0; i < tk_case_elements(&p.c, 1); i++)
                set_bits(&p, (place){p.second, i}, bits_of(p.c.dtype, known[op].second[i]));
            run_problem(ctx, &p);
            for (int64_t i = 0; i < p.rows * p.cols; i++)
                assert_int_equal(out_bits(&p, i), bits_of(p.c.result_dtype, known[op].expected[i]));
            free_problem(&p);
        }
}

/* One sum of products through each of the three ops; the first output element, and what the oracle admits there. */
typedef struct answer {
    uint32_t got;
    tki_enclosure enclosure;
} answer;

static answer sum_of(int op, tk_types of, int places, const double *left, const double *right)
{
    problem p = new_problem(op, of, 1, 1, places);
    for (int t = 0; t < places; t++) {
        set_left(&p, 0, t, left[t]);
        set_right(&p, t, 0, right[t]);
    }
    tk_ctx *ctx = new_context();
    run_problem(ctx, &p);
    tk_ctx_destroy(ctx);
    const tki_oracle *oracle = tki_oracle_of(p.c.contract);
    void *tables;
    assert_int_equal(oracle->open(of.dtype, &tables), TK_OK);
    tki_enclosure *e = enclose_all(&p, tables, 1);
    answer result = {.got = out_bits(&p, 0), .enclosure = e[0]};
    free(e);
    free_problem(&p);
    return result;
}

static void assert_admitted_only(answer a, unsigned admits, int clause)
{
    assert_int_equal(a.enclosure.admits, admits);
    assert_int_equal(a.enclosure.clause, clause);
}

/* GEMM.NAN, GEMM.INF, GEMM_GRAD_A.NAN, GEMM_GRAD_A.INF, GEMM_GRAD_B.NAN, GEMM_GRAD_B.INF */
TEST(special_values)
{
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            tk_dtype t = types[d].result_dtype;
            answer a = sum_of(op, types[d], 3, (double[]){1, NAN, 2}, (double[]){1, 0, 2});
            assert_true(tki_is_nan(t, a.got));
            assert_admitted_only(a, TKI_ADMIT_NAN, TKI_SUM_NAN);
            a = sum_of(op, types[d], 3, (double[]){1, 0, 2}, (double[]){1, INFINITY, 2});
            assert_true(tki_is_nan(t, a.got));
            assert_admitted_only(a, TKI_ADMIT_NAN, TKI_SUM_NAN);
            a = sum_of(op, types[d], 2, (double[]){-INFINITY, 1}, (double[]){-0.0, 1});
            assert_true(tki_is_nan(t, a.got));
            assert_admitted_only(a, TKI_ADMIT_NAN, TKI_SUM_NAN);
            a = sum_of(op, types[d], 3, (double[]){INFINITY, 1, 3}, (double[]){2, 5, -INFINITY});
            assert_true(tki_is_nan(t, a.got));
            assert_admitted_only(a, TKI_ADMIT_NAN, TKI_SUM_NAN);
            a = sum_of(op, types[d], 3, (double[]){INFINITY, -7, -3}, (double[]){2, 5, -INFINITY});
            assert_int_equal(a.got, bits_of(t, INFINITY));
            assert_admitted_only(a, TKI_ADMIT_PLUS_INF, TKI_SUM_INF);
            a = sum_of(op, types[d], 2, (double[]){-INFINITY, 100}, (double[]){INFINITY, 100});
            assert_int_equal(a.got, bits_of(t, -INFINITY));
            assert_admitted_only(a, TKI_ADMIT_MINUS_INF, TKI_SUM_INF);
            a = sum_of(op, types[d], 2, (double[]){0, -0.0}, (double[]){-1, 1});
            assert_true(tki_decode(t, a.got) == 0);
            assert_admitted_only(a, TKI_ADMIT_INTERVAL, TKI_SUM_ERR);
        }
}

/* The flags of a sum by plain IEEE multiplication of every pair: what the oracle finds from the special ones alone. */
static unsigned flags_of(const problem *p, int64_t i, int64_t j, double *magnitude)
{
    unsigned flags = 0;
    *magnitude = 0;
    for (int64_t t = 0; t < p->places; t++) {
        double z = get(p, left_at(p, i, t)) * get(p, right_at(p, t, j));
        flags |= isnan(z)         ? TKI_SUM_HAS_NAN
                 : z == INFINITY  ? TKI_SUM_HAS_PLUS_INF
                 : z == -INFINITY ? TKI_SUM_HAS_MINUS_INF
                                  : 0u;
        *magnitude += isfinite(z) ? fabs(z) : 0;
    }
    return flags;
}

/* GEMM.NAN, GEMM.INF, GEMM.OVERFLOW and those of the gradients: whole matrices with special values here and there. */
TEST(oracle_finds_every_special_value)
{
    static const char *const families[] = {"bits", "special", "minus_inf", "zero_inf"};
    static const int64_t shapes[][3] = {{9, 8, 1}, {9, 8, 5}, {20, 18, 61}, {6, 5, 1100}};
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            void *tables;
            const tki_oracle *oracle = tki_oracle_of(tk_contract_find(op_names[op]));
            assert_int_equal(oracle->open(types[d].dtype, &tables), TK_OK);
            int64_t infinite = 0;
            for (int f = 0; f < 4; f++)
                for (int s = 0; s < 4; s++) {
                    problem p = new_problem(op, types[d], shapes[s][0], shapes[s][1], shapes[s][2]);
                    draw(&p, families[f], SEED + (uint64_t)s);
                    tki_enclosure *e = enclose_all(&p, tables, 7);
                    for (int64_t i = 0; i < p.rows * p.cols; i++) {
                        double magnitude;
                        int clause;
                        unsigned flags = flags_of(&p, i / p.cols, i % p.cols, &magnitude);
                        tki_product_sum sum = {
                            .dtype = types[d].dtype, .products = (double)p.places, .magnitude = magnitude};
                        assert_int_equal(e[i].admits, tki_product_admits(sum, flags, &clause));
                        assert_int_equal(e[i].clause, clause);
                        infinite += clause == TKI_SUM_INF;
                    }
                    free(e);
                    free_problem(&p);
                }
            assert_true(infinite > 100);
        }
}

/* GEMM.OVERFLOW, GEMM_GRAD_A.OVERFLOW, GEMM_GRAD_B.OVERFLOW */
TEST(overflow_on_the_way)
{
    const unsigned anything = TKI_ADMIT_INTERVAL | TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF | TKI_ADMIT_MINUS_INF;
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            const tk_types t = types[d];
            answer a;
            if (t.dtype != TK_F16) {
                /* 2^128 - 2^128 + 1: each product alone is infinite in fp32. */
                a = sum_of(op, t, 3, (double[]){0x1p64, 0x1p64, 1}, (double[]){0x1p64, -0x1p64, 1});
                assert_admitted_only(a, anything, TKI_SUM_OVERFLOW);
                assert_true(a.enclosure.lo <= 1 && a.enclosure.hi >= 1);
                /* Half of that cannot overflow, in any order. */
                a = sum_of(op, t, 2, (double[]){0x1p63, 0x1p62}, (double[]){0x1p64, -0x1p64});
                assert_admitted_only(a, TKI_ADMIT_INTERVAL, TKI_SUM_ERR);
                assert_int_equal(a.got, bits_of(t.result_dtype, 0x1p126));
                /* +inf beside a finite product that is -inf in fp32. */
                a = sum_of(op, t, 2, (double[]){INFINITY, 0x1p100}, (double[]){1, -0x1p100});
                assert_admitted_only(a, TKI_ADMIT_NAN | TKI_ADMIT_PLUS_INF, TKI_SUM_OVERFLOW);
                continue;
            }
            /* fp16 goes to infinity in the final rounding only, and in fp32 not at all. */
            a = sum_of(op, t, 4, (double[]){65504, 65504, 65504, 1}, (double[]){65504, 65504, -65504, 1});
            assert_admitted_only(a, TKI_ADMIT_INTERVAL, TKI_SUM_ERR);
            assert_int_equal(a.got, bits_of(t.result_dtype, 65504.0 * 65504.0 + 1));
            a = sum_of(op, t, 3, (double[]){65504, 65504, 1}, (double[]){65504, -65504, 1});
            assert_int_equal(a.got, bits_of(t.result_dtype, 1));
        }
    for (int d = BF16; d <= F32; d++) {
        tki_product_sum sum = {.dtype = types[d].dtype, .products = 1, .magnitude = 0x1p128 * (1 - 0x1p-23)};
        assert_false(tki_product_may_overflow(sum));
        sum.magnitude = 0x1p128 * (1 - 0x1p-25);
        assert_true(tki_product_may_overflow(sum));
    }
    tki_product_sum sum = {.dtype = TK_F16};
    sum.products = 0x1p57; /* the most elements that a 57-bit address space could hold, each product the largest */
    sum.magnitude = 0x1p57 * 65504.0 * 65504.0;
    assert_true((1 + sum.products * 0x1p-24) * sum.magnitude < 0x1p127);
    assert_false(tki_product_may_overflow(sum));
}

/* Is every output of `data` admitted by the contract of problem p? */
static bool is_judged_good(const problem *p, const void *data)
{
    const tki_oracle *oracle = tki_oracle_of(p->c.contract);
    tki_oracle_job job = {.c = &p->c, .buffers = (const void *[]){p->first, p->second, NULL}, .output = 2};
    void *tables;
    tki_judgement judgement = {0};
    assert_int_equal(oracle->open(p->c.dtype, &tables), TK_OK);
    job.tables = tables;
    assert_int_equal(tki_judge(oracle, &job, data, 2, &judgement), TK_OK);
    assert_int_equal(judgement.elements, p->rows * p->cols);
    return !judgement.failure.present;
}

static void assert_judged_good(const problem *p, const void *data)
{
    assert_true(is_judged_good(p, data));
}

/* -- Exact sums, matrix units ---------------------------------------------------------------------------------- */

/* B of the one output element that sums these products, under these numerics. */
static double bound_of(tk_dtype dtype, int numerics, int unit, int64_t places, const double *left,
                       const double *right)
{
    problem p = new_problem(GEMM, (tk_types){dtype, dtype}, 1, 1, places);
    tki_set_role(p.c.contract, p.c.attributes, TK_ROLE_NUMERICS, numerics);
    tki_set_role(p.c.contract, p.c.attributes, TK_ROLE_MATRIX_UNIT, unit);
    for (int64_t t = 0; t < places; t++) {
        set_left(&p, 0, t, left[t]);
        set_right(&p, t, 0, right[t]);
    }
    void *tables;
    assert_int_equal(tki_oracle_of(p.c.contract)->open(dtype, &tables), TK_OK);
    tki_enclosure *e = enclose_all(&p, tables, 7);
    double bound = e->bound;
    free(e);
    free_problem(&p);
    return bound;
}

/* Up to 2^24 units B is zero, one unit more brings it back; so do units outside of [2^-126, 2^103]. */
TEST(exact_sums_have_no_slack)
{
    enum { PLACES = 1 << 13 };
    static double left[PLACES], right[PLACES];
    for (int d = 0; d <= F32; d++)
        for (int numerics = 0; numerics < (d == F32 ? 1 : 2); numerics++) {
            for (int t = 0; t < PLACES; t++) {
                left[t] = t % 2 ? -64 : 64;
                right[t] = 32;
            }
            /* 2^13 products of 2^11: 2^24 if the units are 1. */
            left[7] = 63;
            right[9] = 31;
            left[3] = -64;
            assert_true(bound_of(types[d].dtype, numerics, 0, PLACES, left, right) == 0);
            right[9] = 33 + 2; /* 95 units too many, less the 32 of left[7] */
            assert_true(bound_of(types[d].dtype, numerics, 0, PLACES, left, right) > 0);
            /* Without odd numbers the units are 32, and the sum 2^14 of their products. */
            left[7] = 64;
            right[9] = 32;
            assert_true(bound_of(types[d].dtype, numerics, 0, PLACES, left, right) == 0);
        }
    /* Products of 2^-126 and 2^-127, and 2^103 and 2^104, whose sums are both exact in a fp32 without limits. */
    for (int d = BF16; d <= F32; d++) {
        static const struct {
            double left, right;
            bool exact;
        } edges[] = {
            {0x1p-63, 0x1p-63, true}, {0x1p-64, 0x1p-63, false}, {0x1p50, 0x1p53, true}, {0x1p51, 0x1p53, false}};
        for (int i = 0; i < 4; i++) {
            for (int t = 0; t < 4; t++) {
                left[t] = edges[i].left;
                right[t] = edges[i].right;
            }
            assert_int_equal(bound_of(types[d].dtype, 0, 0, 4, left, right) == 0, edges[i].exact);
        }
    }
    /* Nothing but zeros. */
    for (int t = 0; t < 4; t++)
        left[t] = 0;
    assert_true(bound_of(TK_BF16, 0, 0, 4, left, right) == 0);
    /* A subnormal factor counts as the smallest normal number where it is aligned as one. */
    for (int t = 0; t < 4; t++) {
        left[t] = 0x1p-24;
        right[t] = t ? 0x1p13 : 1;
    }
    assert_true(bound_of(TK_F16, TKI_NUMERICS_IEEE, 0, 4, left, right) == 0);
    assert_true(bound_of(TK_F16, TKI_NUMERICS_TENSOR_CORE, 0, 4, left, right) > 0);
}

/* The product at place t of the first output. */
static double product_at(const problem *p, int64_t t)
{
    return get(p, left_at(p, 0, t)) * get(p, right_at(p, t, 0));
}

/* What a long dense sum hides and an exact one shows: zeros, a slice left out, one product left out. */
TEST(mistakes_in_long_sums)
{
    enum { PLACES = 200000 };
    for (int d = 0; d < TYPES; d++)
        for (int exact = 0; exact < 2; exact++) {
            problem p = new_problem(GEMM, types[d], 1, 1, PLACES);
            tki_random random = tki_random_stream(SEED, 9);
            double sum = 0;
            for (int64_t t = 0; t < PLACES; t++) {
                double x = exact ? (double)tki_random_below(&random, 2) * 2 - 1 : tki_random_normal(&random);
                double y = exact ? (double)tki_random_below(&random, 3) - 1 : tki_random_normal(&random);
                /* Turned back before it grows beyond what 8 bits hold. */
                if (exact && fabs(sum + x * y) > 100)
                    x = -x;
                set_left(&p, 0, t, x);
                set_right(&p, t, 0, y);
                sum += product_at(&p, t);
            }
            double slice = 0;
            for (int64_t t = PLACES - 700; t < PLACES; t++)
                slice += product_at(&p, t);
            int64_t last = PLACES - 1;
            while (exact && product_at(&p, last) == 0)
                last--;
            double product = product_at(&p, last);
            assert_true(!exact || (sum != 0 && slice != 0));
            const double outputs[] = {sum, 0, sum - slice, sum - product};
            for (int i = 0; i < 4; i++) {
                tki_put_bits(p.c.result_dtype, p.out, 0, bits_of(p.c.result_dtype, outputs[i]));
                assert_int_equal(is_judged_good(&p, p.out), i == 0 || !exact);
            }
            free_problem(&p);
        }
}

/* (K' 2^-F + b (2^-F + 2^-23)) sum, up to the rounding of its evaluation. */
TEST(bound_of_matrix_units)
{
    enum { PLACES = 37 };
    static const struct {
        int unit;
        double block, truncation;
    } rows[] = {{TKI_UNIT_UNKNOWN, 4, 0x1p-23}, {TKI_UNIT_SM_80, 8, 0x1p-24}, {TKI_UNIT_SM_90, 8, 0x1p-25}};
    for (int r = 0; r < 3; r++)
        for (int d = 0; d < 2; d++)
            for (int nonzero = 0; nonzero <= PLACES; nonzero++) {
                double left[PLACES], right[PLACES];
                double magnitude = 0;
                for (int t = 0; t < PLACES; t++) {
                    /* Mixed in size, so that the clause of exact sums does not apply. */
                    left[t] = t < nonzero ? (t % 3 ? 0x1p-15 : -1.25) : 0;
                    right[t] = t % 2 ? 1 : 0x1.4p14;
                    double least = d ? 0x1p-126 : 0x1p-14;
                    magnitude += t < nonzero ? fmax(fabs(left[t]), least) * right[t] : 0;
                }
                double blocks = fmin(ceil(PLACES / rows[r].block), nonzero);
                double expected = (nonzero * rows[r].truncation + blocks * (rows[r].truncation + 0x1p-23)) *
                                      (nonzero > 1 ? magnitude : 0) +
                                  (d ? blocks * 0x1p-149 : 0);
                double bound = bound_of(types[d].dtype, TKI_NUMERICS_TENSOR_CORE, rows[r].unit, PLACES, left, right);
                if (bound == 0) /* one product, or two of a size */
                    assert_true(nonzero < 4);
                else
                    assert_true(bound >= expected && bound <= expected * (1 + 0x1p-40));
            }
}

/* What the bound of numerics tensor_core is derived for, with L = 4 and F = 23. */
static float matrix_unit_block(const double *products, const int *exponents, int count, float accumulator)
{
    int largest = accumulator != 0 ? ilogbf(accumulator) : INT_MIN;
    for (int i = 0; i < count; i++)
        if (products[i] != 0 && exponents[i] > largest)
            largest = exponents[i];
    if (largest == INT_MIN)
        return accumulator;
    const double unit = ldexp(1, largest - 23);
    const double units = 1 / unit; /* exact, as are the products with it */
    double sum = trunc((double)accumulator * units);
    for (int i = 0; i < count; i++)
        sum += trunc(products[i] * units);
    sum *= unit;
    float nearest = (float)sum;
    return isfinite(nearest) && fabs((double)nearest) > fabs(sum) ? nextafterf(nearest, 0) : nearest;
}

/* The exponents of elements, of subnormal ones that of the smallest normal number. */
static int *exponents_of(const float *elements, int64_t count, float least)
{
    int *exponents = calloc((size_t)count + 1, sizeof *exponents);
    assert_non_null(exponents);
    for (int64_t i = 0; i < count; i++)
        exponents[i] = isfinite(elements[i]) ? ilogbf(fmaxf(fabsf(elements[i]), least)) : 0;
    return exponents;
}

static int matrix_unit_product(const tk_case *c, void *const b[], void *data)
{
    ++*(int *)data;
    tki_planted_product p = tki_planted_product_of(c, b);
    float *left = tki_planted_decoded(&p.left, p.rows, p.places);
    float *right = tki_planted_decoded(&p.right, p.cols, p.places);
    float least = c->dtype == TK_F16 ? 0x1p-14f : 0x1p-126f;
    int *left_exponents = exponents_of(left, p.rows * p.places, least);
    int *right_exponents = exponents_of(right, p.cols * p.places, least);
    for (int64_t i = 0; i < p.rows * p.cols; i++) {
        const float *x = left + i / p.cols * p.places;
        const float *y = right + i % p.cols * p.places;
        const int *x_exponents = left_exponents + i / p.cols * p.places;
        const int *y_exponents = right_exponents + i % p.cols * p.places;
        float sum = 0;
        bool finite = true;
        for (int64_t t = 0; t < p.places; t++)
            finite &= isfinite(x[t]) && isfinite(y[t]);
        for (int64_t t = 0; t < p.places; t += 4) {
            double products[4];
            int exponents[4];
            int count = p.places - t < 4 ? (int)(p.places - t) : 4;
            for (int k = 0; k < count; k++) {
                products[k] = (double)x[t + k] * y[t + k];
                if (!finite)
                    sum += (float)products[k];
                exponents[k] = x_exponents[t + k] + y_exponents[t + k];
            }
            if (finite && isfinite(sum))
                sum = matrix_unit_block(products, exponents, count, sum);
        }
        tki_put(c, p.out, i, sum);
    }
    free(left_exponents);
    free(right_exponents);
    free(left);
    free(right);
    return 0;
}

/* A matrix unit's product is REFUTED by the bound of IEEE arithmetic, is told of the other one, and HELD there. An ordinary product that is
 * wrong is not told so. */
TEST_WITH_CONTEXT(a_matrix_unit_is_told_its_numerics)
{
    const tk_setting setting = {"numerics", "tensor_core"};
    const int64_t two_products[] = {1, 1, 2};
    for (int d = 0; d < (is_sanitized ? 1 : 2); d++)
        for (int with = 0; with < 2; with++) {
            int calls = 0;
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.kernel = matrix_unit_product;
            options.kernel_data = &calls;
            options.kernel_name = "matrix_unit";
            options.settings = &setting;
            options.setting_count = with;
            options.skip_mutants = true;
            /* A product half way between two numbers, the upper one even, less what one unit of its last place has not: a matrix unit drops
             * it and rounds up. */
            uint64_t left[] = {bits_of(types[d].dtype, d ? 17 * 0x1p-4 : 33 * 0x1p-5),
                               bits_of(types[d].dtype, d ? -255 * 0x1p-18 : -2047 * 0x1p-21)};
            uint64_t right[] = {bits_of(types[d].dtype, d ? 19 * 0x1p-4 : 67 * 0x1p-6),
                                bits_of(types[d].dtype, 0x1p-13)};
            const tk_given_input inputs[] = {{"a", left, 2}, {"b", right, 2}};
            if (!with) {
                options.dims = two_products;
                options.inputs = inputs;
                options.input_count = 2;
            }
            tk_certificate *c = certify_one(ctx, tk_contract_find("gemm"), types[d].dtype, TK_I32, options);
            if (tk_certificate_verdict(c) != (with ? TK_HELD : TK_REFUTED))
                fail_msg("%s: %s", tk_verdict_name(tk_certificate_verdict(c)), tk_certificate_reason(c));
            const char *hint = "certify with --numerics tensor_core";
            assert_true(!!strstr(tk_certificate_reason(c), hint) == !with);
            assert_true(calls > 0);
            tk_certificate_destroy(c);
        }
}

/* TF32 is none of the contract's numerics: a case that asks for it is refused, and says why. */
TEST_WITH_CONTEXT(matrix_units_do_not_take_fp32)
{
    const tk_setting setting = {"numerics", "tensor_core"};
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.settings = &setting;
    options.setting_count = 1;
    for (int op = 0; op < OPS; op++) {
        problem p = new_problem(op, types[F32], 2, 2, 2);
        tki_set_role(p.c.contract, p.c.attributes, TK_ROLE_NUMERICS, TKI_NUMERICS_TENSOR_CORE);
        assert_refused(ctx, tk_run(ctx, &p.c, (void *[]){p.first, p.second, p.out}), TK_BAD_ARGUMENT, "TF32");
        tk_certificate *c = NULL;
        assert_refused(ctx, tk_certify(ctx, p.c.contract, TK_F32, TK_I32, &options, &c), TK_BAD_ARGUMENT, "TF32");
        assert_null(c);
        free_problem(&p);
    }
}

/* -- Shapes, writing, repetition ------------------------------------------------------------------------------- */

/* Is it the lowering that multiplies bf16 numbers in pairs? */
static bool works_in_pairs(const tk_ctx *ctx, const problem *p)
{
    tki_plan plan;
    tki_plan_case(ctx, &p->c, NULL, NULL, &plan);
    assert_non_null(plan.lowering);
    return !strcmp(plan.lowering->variant, "avx512bf16");
}

/* The sum in the order that kernel_cpu.c documents, one element at a time: runs of 1024 cells, and in a cell of two the
 * later place first. */
static uint32_t in_kernel_order(const tk_ctx *ctx, const problem *p, int64_t i, int64_t j)
{
    const int64_t cell = works_in_pairs(ctx, p) ? 2 : 1;
    const int64_t length = 1024 * cell;
    float total = 0;
    for (int64_t begin = 0; begin < p->places; begin += length) {
        int64_t end = begin + length < p->places ? begin + length : p->places;
        float run = 0;
        for (int64_t first = begin; first < end; first += cell)
            for (int64_t t = first + cell - 1; t >= first; t--)
                if (t < end)
                    run = fmaf((float)get(p, left_at(p, i, t)), (float)get(p, right_at(p, t, j)), run);
        total += run;
    }
    return bits_of(p->c.result_dtype, (double)total);
}

/* GEMM.SHAPE, GEMM.WRITE and those of the gradients (GEMM_GRAD_A.SHAPE, GEMM_GRAD_A.WRITE, GEMM_GRAD_B.SHAPE,
 * GEMM_GRAD_B.WRITE): sizes around strips, tiles and runs, buffers one element off any alignment; neighbours of the output
 * and the inputs stay. */
TEST_WITH_CONTEXT(any_size_and_alignment)
{
    static const int64_t shapes[][3] = {{1, 1, 1},      {3, 7, 2},    {4, 8, 1023}, {5, 9, 1024},   {1, 17, 1025},
                                        {3, 50, 4097},  {33, 1, 40},  {127, 5, 3},  {128, 128, 2},  {129, 130, 5},
                                        {2, 257, 2051}, {64, 64, 64}, {65, 63, 64}, {62, 65, 63},   {64, 49, 65},
                                        {8, 3, 64},     {9, 3, 64},   {270, 97, 9}, {13, 47, 2048}, {0, 3, 4},
                                        {3, 0, 4},      {3, 4, 0},    {131, 133, 0}};
    for (int op = 0; op < OPS; op++)
        for (size_t s = 0; s < TYPES * sizeof shapes / sizeof *shapes; s++) {
            const int64_t *shape = shapes[s / TYPES];
            problem p = new_problem(op, types[s % TYPES], shape[0], shape[1], shape[2]);
            const size_t size = tk_dtype_size(p.c.dtype), out_size = tk_dtype_size(p.c.result_dtype);
            const uint32_t untouched = out_size == 2 ? 0xcdcd : 0xcdcdcdcd;
            draw(&p, "mixed", SEED);
            int64_t outputs = p.rows * p.cols;
            size_t first = (size_t)tk_case_elements(&p.c, 0) * size;
            size_t second = (size_t)tk_case_elements(&p.c, 1) * size;
            char *shifted_first = (char *)new_elements(tk_case_elements(&p.c, 0) + 1, p.c.dtype) + size;
            char *shifted_second = (char *)new_elements(tk_case_elements(&p.c, 1) + 3, p.c.dtype) + 3 * size;
            char *out = new_elements(outputs + 16, p.c.result_dtype);
            memcpy(shifted_first, p.first, first);
            memcpy(shifted_second, p.second, second);
            memset(out, 0xcd, (size_t)(outputs + 16) * out_size);
            assert_ok(ctx, run_into(ctx, &p, shifted_first, shifted_second, out + 5 * out_size));
            for (int64_t i = 0; i < outputs + 16; i++) {
                bool inside = i >= 5 && i < 5 + outputs;
                assert_int_equal(tki_element_bits(p.c.result_dtype, out, i),
                                 inside ? in_kernel_order(ctx, &p, (i - 5) / p.cols, (i - 5) % p.cols) : untouched);
            }
            assert_memory_equal(shifted_first, p.first, first);
            assert_memory_equal(shifted_second, p.second, second);
            free(shifted_first - size);
            free(shifted_second - 3 * size);
            free(out);
            free_problem(&p);
        }
}

/* GEMM.SHAPE: a sum over nothing is +0, and it is written even where the inputs are NULL. */
TEST_WITH_CONTEXT(empty_sums_are_zero)
{
    for (int i = 0; i < OPS * TYPES; i++) {
        problem p = new_problem(i / TYPES, types[i % TYPES], 2, 3, 0);
        memset(p.out, 0xff, out_bytes(&p));
        assert_ok(ctx, run_into(ctx, &p, NULL, NULL, p.out));
        for (int e = 0; e < 6; e++)
            assert_int_equal(out_bits(&p, e), 0);
        free_problem(&p);
        problem nothing = new_problem(i / TYPES, types[i % TYPES], 0, 0, 0);
        assert_ok(ctx, run_into(ctx, &nothing, NULL, NULL, NULL));
        free_problem(&nothing);
    }
}

/* GEMM.REPEAT, GEMM_GRAD_A.REPEAT, GEMM_GRAD_B.REPEAT: the same bits for every number of threads, and, as the lowering says of
 * itself, for a row without the others. */
TEST_WITH_CONTEXT(same_bits_for_every_thread_count)
{
    static const int threads[] = {1, 2, 3, 7};
    static const int64_t shapes[][3] = {{300, 270, 70}, {230, 60, 64}, {260, 100, 2100}};
    enum { ROW = 217 };
    for (int i = 0; i < OPS * 3 * TYPES; i++) {
        const int64_t *shape = shapes[i / TYPES % 3];
        problem p = new_problem(i / (3 * TYPES), types[i % TYPES], shape[0], shape[1], shape[2]);
        void *once = malloc(out_bytes(&p));
        assert_non_null(once);
        draw(&p, "mixed", SEED);
        for (int t = 0; t < 4; t++) {
            assert_ok(ctx, tk_ctx_set_threads(ctx, threads[t]));
            run_problem(ctx, &p);
            if (t == 0)
                memcpy(once, p.out, out_bytes(&p));
            assert_memory_equal(p.out, once, out_bytes(&p));
        }
        problem row = new_problem(p.op, types[i % TYPES], 1, p.cols, p.places);
        for (int64_t t = 0; t < p.places; t++) {
            set_bits(&row, left_at(&row, 0, t), get_bits(&p, left_at(&p, ROW, t)));
            for (int64_t j = 0; j < p.cols; j++)
                set_bits(&row, right_at(&row, t, j), get_bits(&p, right_at(&p, t, j)));
        }
        run_problem(ctx, &row);
        assert_memory_equal(row.out, (char *)p.out + ROW * out_bytes(&row), out_bytes(&row));
        free_problem(&row);
        free_problem(&p);
        free(once);
    }
}

/* GEMM.ERR, GEMM_GRAD_A.ERR and GEMM_GRAD_B.ERR leave no room to flush: around the exponents from which on a product, a sum
 * or an input is subnormal, every partial sum counts. */
TEST_WITH_CONTEXT(underflow_is_gradual)
{
    static const int64_t shapes[][3] = {{9, 17, 6}, {20, 70, 90}, {1, 3, 7}};
    for (int i = 0; i < effort(OPS * 3 * 24); i++) {
        const int64_t *shape = shapes[i % 3];
        tki_random random = tki_random_stream(SEED, (uint64_t)i);
        problem p = new_problem(i / 72 % OPS, types[BF16], shape[0], shape[1], shape[2]);
        if (!works_in_pairs(ctx, &p)) {
            free_problem(&p);
            continue; /* portable products are rounded before they are added */
        }
        /* Factors are multiples of 2^(left - 7) and so on, subnormal ones among them; products are up to 2^(smallest + 2). */
        int smallest = -134 + i / 3 % 24;
        int left = i & 1 ? -128 + (int)tki_random_below(&random, 5) : smallest / 2;
        for (int64_t t = 0; t < p.places; t++) {
            for (int64_t r = 0; r < p.rows; r++)
                set_left(&p, r, t, ldexp((double)tki_random_below(&random, 511) - 255, left - 7));
            for (int64_t c = 0; c < p.cols; c++)
                set_right(&p, t, c, ldexp((double)tki_random_below(&random, 511) - 255, smallest - left - 7));
        }
        run_problem(ctx, &p);
        for (int64_t r = 0; r < p.rows; r++)
            for (int64_t c = 0; c < p.cols; c++)
                assert_int_equal(out_bits(&p, r * p.cols + c), in_kernel_order(ctx, &p, r, c));
        assert_judged_good(&p, p.out);
        free_problem(&p);
    }
}

/* Normal factors whose products are normal too, and leave a subnormal sum: 129 129 - 130 128 = 1, in every pair of places. The
 * exponents go from where that is 2^-133, the least bf16 number, to where it is normal. */
TEST_WITH_CONTEXT(cancellation_to_a_subnormal_number)
{
    enum { PLACES = 9 };
    for (int op = 0; op < OPS; op++)
        for (int rest = -133; rest <= -120; rest++)
            for (int left = -119; left + 119 <= rest + 133; left += 7) {
                problem p = new_problem(op, types[BF16], PLACES, PLACES, PLACES);
                for (int64_t i = 0; i + 1 < PLACES; i++) {
                    set_left(&p, i, i, 129 * ldexp(1, left));
                    set_left(&p, i, i + 1, -130 * ldexp(1, left));
                    set_right(&p, i, i, 129 * ldexp(1, rest - left));
                    set_right(&p, i + 1, i, 128 * ldexp(1, rest - left));
                }
                run_problem(ctx, &p);
                for (int64_t i = 0; i + 1 < PLACES; i++)
                    assert_int_equal(out_bits(&p, i * PLACES + i), bits_of(TK_BF16, ldexp(1, rest)));
                assert_judged_good(&p, p.out);
                free_problem(&p);
            }
}

/* A subnormal number in one row and one column changes no other row or column: where the lowering has two
 * ways to sum, they give the same bits, NaN included. */
TEST_WITH_CONTEXT(tiny_neighbours_change_nothing)
{
    static const int64_t shapes[][3] = {{30, 40, 20}, {150, 100, 70}, {40, 200, 2100}};
    static const char *const kinds[] = {"normal", "mixed", "special"};
    for (int i = 0; i < OPS * 9; i++) {
        const int64_t *shape = shapes[i % 3];
        problem p = new_problem(i / 9, types[BF16], shape[0], shape[1], shape[2]);
        uint16_t *before = new_elements(p.rows * p.cols, TK_BF16);
        draw(&p, kinds[i / 3 % 3], SEED);
        run_problem(ctx, &p);
        memcpy(before, p.out, out_bytes(&p));
        set_left(&p, 5, 3, 0x1p-130);
        set_right(&p, 3, 7, -0x1p-127);
        run_problem(ctx, &p);
        for (int64_t r = 0; r < p.rows; r++)
            for (int64_t c = 0; c < p.cols; c++)
                if (r != 5 && c != 7)
                    assert_int_equal(out_bits(&p, r * p.cols + c), before[r * p.cols + c]);
        free(before);
        free_problem(&p);
    }
}

/* A caller's scratch of the size asked for is enough; one byte less is refused and nothing is written. */
TEST(callers_scratch)
{
    tk_ctx *ctx = new_context();
    problem p = new_problem(GEMM, types[BF16], 200, 150, 90);
    draw(&p, "normal", SEED);
    assert_ok(ctx, tk_ctx_set_threads(ctx, 3));
    size_t bytes;
    assert_ok(ctx, tk_scratch_size(ctx, &p.c, &bytes));
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(scratch);
    void *expected = new_elements(p.rows * p.cols, TK_BF16);
    assert_ok(ctx, call(ctx, GEMM, TK_BF16, p.c.dims, p.first, p.second, expected));
    assert_ok(ctx, tk_ctx_set_scratch(ctx, scratch, bytes));
    run_problem(ctx, &p);
    assert_memory_equal(p.out, expected, out_bytes(&p));
    memset(p.out, 0x5a, out_bytes(&p));
    assert_ok(ctx, tk_ctx_set_scratch(ctx, scratch, bytes - 1));
    assert_int_equal(call(ctx, GEMM, TK_BF16, p.c.dims, p.first, p.second, p.out), TK_NO_MEMORY);
    for (int64_t i = 0; i < p.rows * p.cols; i++)
        assert_int_equal(out_bits(&p, i), 0x5a5a);
    tk_ctx_destroy(ctx);
    free(scratch);
    free(expected);
    free_problem(&p);
}

TEST_WITH_CONTEXT(bad_arguments_write_nothing)
{
    const uint16_t before[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint16_t x[8] = {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00};
    uint16_t y[8];
    memcpy(y, before, sizeof y);
    for (int op = 0; op < OPS; op++) {
        for (int d = 0; d < 3; d++) {
            int64_t dims[3] = {2, 2, 2};
            dims[d] = -1;
            assert_refused(ctx, call(ctx, op, TK_F16, dims, x, x, y), TK_BAD_ARGUMENT, "negative");
            /* 2^31 squared times 2 bytes just overflows 63 bits; the size alone does not. */
            int64_t large[3] = {INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 31};
            large[d] = 1;
            assert_refused(ctx, call(ctx, op, TK_F16, large, x, x, y), TK_BAD_ARGUMENT, "63 bits");
        }
        const int64_t two[3] = {2, 2, 2};
        assert_refused(ctx, call(ctx, op, TK_I32, two, x, x, y), TK_BAD_ARGUMENT, "i32");
        assert_refused(ctx, call(ctx, op, TK_I64, two, x, x, y), TK_BAD_ARGUMENT, "i64");
        assert_refused(ctx, call(ctx, op, TK_F16, two, NULL, x, y), TK_BAD_ARGUMENT, "NULL");
        assert_refused(ctx, call(ctx, op, TK_F16, two, x, NULL, y), TK_BAD_ARGUMENT, "NULL");
        assert_refused(ctx, call(ctx, op, TK_F16, two, x, x, NULL), TK_BAD_ARGUMENT, "NULL");
        assert_refused(ctx, call(ctx, op, TK_F16, two, (char *)x + 1, x, y), TK_BAD_ARGUMENT, "not aligned");
        assert_refused(ctx, call(ctx, op, TK_F16, two, y, x, y), TK_BAD_ARGUMENT, "overlaps");
        assert_refused(ctx, call(ctx, op, TK_F16, two, x, y + 3, y), TK_BAD_ARGUMENT, "overlaps");
        assert_memory_equal(y, before, sizeof y);
        /* Inputs may be the same buffer, and an output may begin where an input ends. */
        assert_ok(ctx, call(ctx, op, TK_F16, two, x, x, x + 4));
        for (int i = 4; i < 8; i++) {
            assert_int_equal(x[i], 0x4000);
            x[i] = 0x3c00;
        }
    }
}

/* -- Laws ------------------------------------------------------------------------------------------------------ */

static void transpose(void *target, const void *source, int64_t rows, int64_t cols, tk_dtype dtype)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            tki_put_bits(dtype, target, j * rows + i, tki_element_bits(dtype, source, i * cols + j));
}

/* grad_a(g, b) and gemm(g, b^T) are the same sums: each is admitted where the other is, and this lowering, which sums both in
 * the same order, gives the same bits. */
TEST_WITH_CONTEXT(grad_a_is_gemm_with_the_transpose)
{
    for (int d = 0; d < TYPES; d++) {
        problem grad = new_problem(GRAD_A, types[d], 37, 29, 300);
        problem plain = new_problem(GEMM, types[d], 37, 29, 300);
        draw(&grad, "mixed", SEED);
        memcpy(plain.first, grad.first, (size_t)(grad.rows * grad.places) * tk_dtype_size(types[d].dtype));
        transpose(plain.second, grad.second, grad.cols, grad.places, types[d].dtype);
        run_problem(ctx, &grad);
        run_problem(ctx, &plain);
        assert_judged_good(&grad, plain.out);
        assert_judged_good(&plain, grad.out);
        assert_memory_equal(grad.out, plain.out, out_bytes(&grad));
        free_problem(&grad);
        free_problem(&plain);
    }
}

/* grad_b(g, a) = (grad_a(g^T, a^T))^T: here too the same sums of the same products, hence the same bits. */
TEST_WITH_CONTEXT(gradients_are_transposes_of_each_other)
{
    for (int d = 0; d < TYPES; d++) {
        /* grad_b [k, n] from g [m, n] and a [m, k]; the other is [n, k] from g^T [n, m] and a^T [k, m]. */
        problem b = new_problem(GRAD_B, types[d], 23, 41, 270);
        problem a = new_problem(GRAD_A, types[d], 41, 23, 270);
        void *turned = new_elements(b.rows * b.cols, types[d].result_dtype);
        draw(&b, "mixed", SEED);
        transpose(a.first, b.first, b.places, b.cols, types[d].dtype);
        transpose(a.second, b.second, b.places, b.rows, types[d].dtype);
        run_problem(ctx, &b);
        run_problem(ctx, &a);
        transpose(turned, a.out, a.rows, a.cols, types[d].result_dtype);
        assert_judged_good(&b, turned);
        assert_memory_equal(b.out, turned, out_bytes(&b));
        transpose(turned, b.out, b.rows, b.cols, types[d].result_dtype);
        assert_judged_good(&a, turned);
        free(turned);
        free_problem(&a);
        free_problem(&b);
    }
}

/* A one in each sum copies: every finite pattern, of fp32 some with every exponent, comes through as it was, except that a zero may change its
 * sign. */
TEST_WITH_CONTEXT(identity_copies)
{
    enum { N = 64 };
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            problem p = new_problem(op, types[d], 1024, N, N);
            for (int64_t i = 0; i < p.rows; i++)
                for (int64_t t = 0; t < N; t++) {
                    uint32_t pattern = (uint32_t)(i * N + t) * (d == F32 ? 65537 : 1);
                    set_bits(&p, left_at(&p, i, t), tki_is_finite(types[d].dtype, pattern) ? pattern : 0);
                }
            for (int64_t t = 0; t < N; t++)
                set_right(&p, t, t, 1);
            run_problem(ctx, &p);
            for (int64_t i = 0; i < p.rows; i++)
                for (int64_t j = 0; j < N; j++) {
                    double value = get(&p, left_at(&p, i, j));
                    assert_int_equal(out_bits(&p, i * N + j), bits_of(types[d].result_dtype, value == 0 ? 0 : value));
                }
            free_problem(&p);
        }
}

/* On integers so small that nothing is rounded, x (y + z) = x y + x z, bit for bit. */
TEST_WITH_CONTEXT(distributive_where_exact)
{
    for (int op = 0; op < OPS; op++)
        for (int d = 0; d < TYPES; d++) {
            tki_random random = tki_random_stream(SEED, (uint64_t)op);
            problem y = new_problem(op, types[d], 19, 21, 31);
            problem z = new_problem(op, types[d], 19, 21, 31);
            problem both = new_problem(op, types[d], 19, 21, 31);
            for (int64_t t = 0; t < y.places; t++) {
                for (int64_t i = 0; i < y.rows; i++) {
                    /* At most 31 products of at most 1 times 4: below 256, exact in bf16 too. */
                    double x = (double)tki_random_below(&random, 3) - 1;
                    set_left(&y, i, t, x);
                    set_left(&z, i, t, x);
                    set_left(&both, i, t, x);
                }
                for (int64_t j = 0; j < y.cols; j++) {
                    double v = (double)tki_random_below(&random, 5) - 2;
                    double w = (double)tki_random_below(&random, 5) - 2;
                    set_right(&y, t, j, v);
                    set_right(&z, t, j, w);
                    set_right(&both, t, j, v + w);
                }
            }
            run_problem(ctx, &y);
            run_problem(ctx, &z);
            run_problem(ctx, &both);
            for (int64_t i = 0; i < y.rows * y.cols; i++) {
                tk_dtype t = types[d].result_dtype;
                double sum = tki_decode(t, out_bits(&y, i)) + tki_decode(t, out_bits(&z, i));
                assert_int_equal(out_bits(&both, i), bits_of(t, sum));
            }
            free_problem(&y);
            free_problem(&z);
            free_problem(&both);
        }
}

/* -- Certificates ---------------------------------------------------------------------------------------------- */

TEST(gemm_certified_and_mutants_refuted)
{
    assert_op_certifies("gemm");
}

TEST(grad_a_certified_and_mutants_refuted)
{
    assert_op_certifies("gemm_grad_a");
}

TEST(grad_b_certified_and_mutants_refuted)
{
    assert_op_certifies("gemm_grad_b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_integers),
        cmocka_unit_test(oracle_is_exact_on_small_integers),
        cmocka_unit_test(known_values),
        cmocka_unit_test(special_values),
        cmocka_unit_test(oracle_finds_every_special_value),
        cmocka_unit_test(overflow_on_the_way),
        cmocka_unit_test(exact_sums_have_no_slack),
        cmocka_unit_test(mistakes_in_long_sums),
        cmocka_unit_test(bound_of_matrix_units),
        cmocka_unit_test(a_matrix_unit_is_told_its_numerics),
        cmocka_unit_test(matrix_units_do_not_take_fp32),
        cmocka_unit_test(any_size_and_alignment),
        cmocka_unit_test(empty_sums_are_zero),
        cmocka_unit_test(same_bits_for_every_thread_count),
        cmocka_unit_test(underflow_is_gradual),
        cmocka_unit_test(cancellation_to_a_subnormal_number),
        cmocka_unit_test(tiny_neighbours_change_nothing),
        cmocka_unit_test(callers_scratch),
        cmocka_unit_test(bad_arguments_write_nothing),
        cmocka_unit_test(grad_a_is_gemm_with_the_transpose),
        cmocka_unit_test(gradients_are_transposes_of_each_other),
        cmocka_unit_test(identity_copies),
        cmocka_unit_test(distributive_where_exact),
        cmocka_unit_test(gemm_certified_and_mutants_refuted),
        cmocka_unit_test(grad_a_certified_and_mutants_refuted),
        cmocka_unit_test(grad_b_certified_and_mutants_refuted),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
