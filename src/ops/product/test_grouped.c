/* Products of groups: one test per clause, against gemm group by group, the oracle against gemm's, bad ends, mutants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "core/random.h"
#include "exact/oracle.h"
#include "exact/round.h"
#include "tests/op_test.h"
#include "tokitai.h"

extern const tki_oracle tki_grouped_gemm_oracle;
extern const tki_oracle tki_grouped_gemm_grad_a_oracle;
extern const tki_oracle tki_grouped_gemm_grad_b_oracle;

enum { SEED = 20261116, MOST_GROUPS = 9 };
enum { M, N, K, G };

static const char *const ops[] = {"grouped_gemm", "grouped_gemm_grad_a", "grouped_gemm_grad_b"};
static const tki_oracle *const oracles[] = {&tki_grouped_gemm_oracle, &tki_grouped_gemm_grad_a_oracle,
                                            &tki_grouped_gemm_grad_b_oracle};
static const tk_types types[] = {
    {TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32}, {TK_F16, TK_F32}, {TK_BF16, TK_F32}};

/* One call, with its tensors; ends in either width. */
typedef struct problem {
    tk_case c;
    void *data[4];
    size_t bytes[4];
} problem;

static void set_end(problem *p, int64_t i, int64_t value)
{
    if (p->c.index_dtype == TK_I64)
        ((int64_t *)p->data[2])[i] = value;
    else
        ((int32_t *)p->data[2])[i] = (int32_t)value;
}

/* Normal numbers, an output full of ones bits, and the ends. */
static problem make_problem(int op, tk_types of, tk_dtype index_dtype, const int64_t dims[4], const int64_t *ends)
{
    problem p = {.c = tk_case_init(tk_contract_find(ops[op]), of.dtype)};
    tki_random random = tki_random_stream(SEED, (uint64_t)op);
    p.c.result_dtype = of.result_dtype;
    p.c.index_dtype = index_dtype;
    memcpy(p.c.dims, dims, 4 * sizeof *dims);
    for (int t = 0; t < 4; t++) {
        const tk_dtype dtype = tk_case_param_dtype(&p.c, t);
        p.bytes[t] = (size_t)tk_case_elements(&p.c, t) * tk_dtype_size(dtype);
        p.data[t] = malloc(p.bytes[t] + 1);
        assert_non_null(p.data[t]);
        memset(p.data[t], 0xff, p.bytes[t] + 1);
        for (int64_t i = 0; t < 2 && i < tk_case_elements(&p.c, t); i++)
            tki_put_bits(dtype, p.data[t], i, tki_round_double(dtype, tki_random_normal(&random)));
    }
    for (int64_t i = 0; i < dims[G]; i++)
        set_end(&p, i, ends[i]);
    return p;
}

static void free_problem(problem *p)
{
    for (int t = 0; t < 4; t++)
        free(p->data[t]);
}

static char *element(const problem *p, int t, int64_t i)
{
    return (char *)p->data[t] + (size_t)i * tk_dtype_size(tk_case_param_dtype(&p->c, t));
}

/* gemm, or its gradient, on rows `begin` up to `end` with one matrix, into `out`. */
static void run_alone(tk_ctx *ctx, const problem *p, int op, int64_t group, int64_t begin, int64_t end, void *out)
{
    static const char *const plain[] = {"gemm", "gemm_grad_a", "gemm_grad_b"};
    tk_case c = tk_case_init(tk_contract_find(plain[op]), p->c.dtype);
    const int64_t n = p->c.dims[N], k = p->c.dims[K];
    c.result_dtype = p->c.result_dtype;
    c.dims[M] = end - begin;
    c.dims[N] = n;
    c.dims[K] = k;
    void *buffers[3] = {element(p, 0, begin * (op == 0 ? k : n)), element(p, 1, op == 2 ? begin * k : group * k * n),
                        out};
    assert_ok(ctx, tk_run(ctx, &c, buffers));
}

/* The result of a call is what gemm gives for each group alone, bit for bit, and zero elsewhere. */
static void assert_as_gemm(tk_ctx *ctx, const problem *p, int op, const int64_t *ends)
{
    const int64_t cols = op == 1 ? p->c.dims[K] : p->c.dims[N], matrix = p->c.dims[K] * p->c.dims[N];
    char *expected = calloc(p->bytes[3] + 1, 1);
    assert_non_null(expected);
    const size_t size = tk_dtype_size(p->c.result_dtype);
    for (int64_t i = 0, begin = 0; i < p->c.dims[G]; begin = ends[i++])
        run_alone(ctx, p, op, i, begin, ends[i], expected + (size_t)(op == 2 ? i * matrix : begin * cols) * size);
    assert_memory_equal(p->data[3], expected, p->bytes[3]);
    assert_int_equal(((unsigned char *)p->data[3])[p->bytes[3]], 0xff);
    free(expected);
}

/* GROUPED_GEMM.ERR, GROUPED_GEMM_GRAD_A.ERR, GROUPED_GEMM_GRAD_B.ERR; GROUPED_GEMM.WRITE, GROUPED_GEMM_GRAD_A.WRITE,
 * GROUPED_GEMM_GRAD_B.WRITE; GROUPED_GEMM.SHAPE, GROUPED_GEMM_GRAD_A.SHAPE, GROUPED_GEMM_GRAD_B.SHAPE; and on every number of threads
 * GROUPED_GEMM.REPEAT, GROUPED_GEMM_GRAD_A.REPEAT, GROUPED_GEMM_GRAD_B.REPEAT: groups of any sizes, none, rows of no group, no sizes. */
TEST_WITH_CONTEXT(groups_are_products_of_gemm)
{
    static const struct {
        int64_t dims[4], ends[MOST_GROUPS];
    } cases[] = {
        {{70, 40, 33, 4}, {10, 10, 64, 70}},
        {{70, 40, 33, 5}, {0, 0, 17, 17, 50}},
        {{9, 3, 5, 3}, {0, 0, 0}},
        {{300, 24, 150, 2}, {299, 300}},
        {{5, 4, 3, 1}, {5}},
        {{8, 8, 8, 1}, {0}},
        {{6, 5, 4, 0}, {0}},
        {{0, 5, 4, 3}, {0, 0, 0}},
        {{6, 0, 4, 2}, {3, 6}},
        {{6, 5, 0, 2}, {3, 5}},
        {{64, 130, 70, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
        {{200, 5, 2100, 2}, {100, 200}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int op = 0; op < 3; op++)
            for (int t = 0; t < 5; t++)
                for (int threads = 1; threads <= 5; threads += 2) {
                    problem p = make_problem(op, types[t], threads == 3 ? TK_I64 : TK_I32, cases[i].dims,
                                             cases[i].ends);
                    assert_ok(ctx, tk_ctx_set_threads(ctx, threads));
                    assert_ok(ctx, tk_run(ctx, &p.c, p.data));
                    assert_as_gemm(ctx, &p, op, cases[i].ends);
                    free_problem(&p);
                }
}

/* A batched product of g products of m rows is one of g * m rows, whose groups end at multiples of m. */
TEST(a_batch_is_groups_of_one_size)
{
    enum { BATCH = 3, ROWS = 4, COLS = 5, INNER = 6 };
    float a[BATCH][ROWS][INNER], b[BATCH][INNER][COLS], c[BATCH][ROWS][COLS];
    const int32_t ends[BATCH] = {ROWS, 2 * ROWS, 3 * ROWS};
    for (int i = 0; i < BATCH * ROWS * INNER; i++)
        a[i / (ROWS * INNER)][i / INNER % ROWS][i % INNER] = (float)(i % 7 - 3);
    for (int i = 0; i < BATCH * INNER * COLS; i++)
        b[i / (INNER * COLS)][i / COLS % INNER][i % COLS] = (float)(i % 9 - 4);
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tk_grouped_gemm(ctx, TK_F32, TK_I32, BATCH * ROWS, COLS, INNER, BATCH, a, b, ends, c));
    for (int batch = 0; batch < BATCH; batch++)
        for (int row = 0; row < ROWS; row++)
            for (int col = 0; col < COLS; col++) {
                float sum = 0;
                for (int t = 0; t < INNER; t++)
                    sum += a[batch][row][t] * b[batch][t][col];
                assert_true(c[batch][row][col] == sum);
            }
    tk_ctx_destroy(ctx);
}

/* GROUPED_GEMM.NAN, GROUPED_GEMM_GRAD_A.NAN, GROUPED_GEMM_GRAD_B.NAN, GROUPED_GEMM.INF, GROUPED_GEMM_GRAD_A.INF and
 * GROUPED_GEMM_GRAD_B.INF: what is not finite stays in its group, and 0 times it is NaN there. */
TEST_WITH_CONTEXT(special_values_stay_in_their_group)
{
    const int64_t dims[4] = {6, 3, 2, 3}, ends[] = {2, 4, 6};
    for (int op = 0; op < 3; op++)
        for (int zero = 0; zero < 2; zero++) {
            problem p = make_problem(op, types[2], TK_I32, dims, ends);
            float *first = p.data[0], *second = p.data[1], *out = p.data[3];
            const int64_t rows = tk_case_elements(&p.c, 0) / 6, group = op == 2 ? 2 * dims[K] : dims[K] * dims[N];
            for (int64_t i = 0; i < tk_case_elements(&p.c, 0); i++)
                first[i] = 1;
            for (int64_t i = 0; i < tk_case_elements(&p.c, 1); i++)
                second[i] = zero && i >= group && i < 2 * group ? 0 : 2;
            for (int64_t i = 2 * rows; i < 4 * rows; i++)
                first[i] = INFINITY;
            assert_ok(ctx, tk_run(ctx, &p.c, p.data));
            const int64_t part = tk_case_elements(&p.c, 3) / 3;
            for (int64_t i = 0; i < 3 * part; i++)
                if (i / part == 1)
                    assert_true(zero ? isnan(out[i]) : out[i] == INFINITY);
                else
                    assert_true(isfinite(out[i]));
            free_problem(&p);
        }
}

/* GROUPED_GEMM.OVERFLOW, GROUPED_GEMM_GRAD_A.OVERFLOW and GROUPED_GEMM_GRAD_B.OVERFLOW: what is admitted is decided by the products of
 * the element's own group. */
TEST(overflow_is_that_of_a_group)
{
    const int64_t dims[4] = {4, 2, 2, 2}, ends[] = {2, 4};
    for (int op = 0; op < 3; op++) {
        problem p = make_problem(op, types[2], TK_I32, dims, ends);
        void *tables = NULL;
        float *first = p.data[0], *second = p.data[1];
        for (int i = 0; i < 8; i++) {
            first[i] = i < 4 ? 0x1p100f : 1;
            second[i] = i < 4 && i % 2 ? -0x1p27f : i < 4 ? 0x1p27f : 1;
        }
        assert_int_equal(oracles[op]->open(TK_F32, &tables), TK_OK);
        const tki_oracle_job job = {.c = &p.c, .buffers = (const void *const *)p.data, .output = 3, .tables = tables};
        tki_enclosure e[8];
        assert_int_equal(oracles[op]->enclose(&job, &(tki_box){0, 4, 0, 2}, e), TK_OK);
        for (int i = 0; i < 8; i++) {
            assert_int_equal((e[i].admits & TKI_ADMIT_NAN) != 0, i < 4);
            assert_non_null(strstr(p.c.contract->clauses[e[i].clause].id, i < 4 ? ".OVERFLOW" : ".ERR"));
        }
        free_problem(&p);
    }
}

/* A box that several groups have rows in, and each element by itself, against the sum of its products. */
TEST(oracle_cuts_boxes_at_groups)
{
    const int64_t dims[4] = {11, 5, 4, 5}, ends[] = {2, 2, 3, 7, 9};
    mpfr_t lo, hi;
    mpfr_inits2(64, lo, hi, (mpfr_ptr)0);
    for (int op = 0; op < 3; op++) {
        problem p = make_problem(op, types[2], op ? TK_I64 : TK_I32, dims, ends);
        void *tables = NULL;
        tki_random random = tki_random_stream(SEED, 7);
        for (int t = 0; t < 2; t++)
            for (int64_t i = 0; i < tk_case_elements(&p.c, t); i++)
                ((float *)p.data[t])[i] = (float)((int64_t)tki_random_below(&random, 15) - 7);
        assert_int_equal(oracles[op]->open(TK_F32, &tables), TK_OK);
        const tki_oracle_job job = {.c = &p.c, .buffers = (const void *const *)p.data, .output = 3, .tables = tables};
        const int64_t cols = op == 1 ? 4 : 5, rows = op == 2 ? 5 * 4 : 11;
        tki_enclosure e[20 * 5];
        assert_int_equal(oracles[op]->enclose(&job, &(tki_box){0, rows, 0, cols}, e), TK_OK);
        const float *first = p.data[0], *second = p.data[1];
        for (int64_t row = 0; row < rows; row++)
            for (int64_t col = 0; col < cols; col++) {
                int64_t group = op == 2 ? row / 4 : 0;
                double sum = 0;
                while (op != 2 && group < 5 && ends[group] <= row)
                    group++;
                const int64_t begin = group ? ends[group - 1] : 0;
                for (int64_t t = 0; op == 0 && group < 5 && t < 4; t++)
                    sum += (double)first[row * 4 + t] * (double)second[(group * 4 + t) * 5 + col];
                for (int64_t t = 0; op == 1 && group < 5 && t < 5; t++)
                    sum += (double)first[row * 5 + t] * (double)second[(group * 4 + col) * 5 + t];
                for (int64_t i = begin; op == 2 && i < ends[group]; i++)
                    sum += (double)second[i * 4 + row % 4] * (double)first[i * 5 + col];
                const tki_enclosure *at = &e[row * cols + col];
                assert_true(at->lo == sum && at->hi == sum && at->bound == 0);
                tki_enclosure one;
                assert_int_equal(oracles[op]->enclose(&job, &(tki_box){row, row + 1, col, col + 1}, &one), TK_OK);
                assert_true(one.lo == sum && one.hi == sum);
                assert_int_equal(oracles[op]->refine(&job, row, col, 64, lo, hi), TK_OK);
                assert_true(mpfr_cmp_d(lo, sum) == 0 && mpfr_cmp_d(hi, sum) == 0);
            }
        free_problem(&p);
    }
    mpfr_clears(lo, hi, (mpfr_ptr)0);
}

/* GROUPED_GEMM.INDEX, GROUPED_GEMM_GRAD_A.INDEX and GROUPED_GEMM_GRAD_B.INDEX: the first bad end is named, and nothing is written. */
TEST_WITH_CONTEXT(bad_ends_are_named)
{
    const int64_t dims[4] = {20, 3, 2, 5}, ends[] = {4, 8, 8, 12, 20};
    for (int op = 0; op < 3; op++)
        for (int wide = 0; wide < 2; wide++)
            for (int64_t position = 0; position < 5; position++) {
                const int64_t values[] = {
                    -1, 21, INT32_MAX, INT32_MIN, position ? ends[position - 1] - 1 : -7, (INT64_C(1) << 32) + 9};
                for (int v = 0; v < 5 + wide; v++) {
                    problem p = make_problem(op, types[1], wide ? TK_I64 : TK_I32, dims, ends);
                    char text[96];
                    set_end(&p, position, values[v]);
                    snprintf(text, sizeof text, "%s: ends[%lld] = %lld is outside [0, 20], or less", ops[op],
                             (long long)position, (long long)values[v]);
                    assert_refused(ctx, tk_run(ctx, &p.c, p.data), TK_BAD_INDEX, text);
                    for (size_t i = 0; i <= p.bytes[3]; i++)
                        assert_int_equal(((unsigned char *)p.data[3])[i], 0xff);
                    free_problem(&p);
                }
            }
}

/* What tk_scratch_size() says is enough, whatever the ends are. */
TEST_WITH_CONTEXT(callers_scratch)
{
    static const int64_t shapes[][4] = {
        {700, 70, 60, 3}, {1100, 3, 1500, 2}, {600, 530, 5, 4}, {2100, 7, 7, 2}, {150, 600, 20, 6}};
    tki_random random = tki_random_stream(SEED, 3);
    for (int drawn = 0; drawn < effort(5); drawn++)
        for (int op = 0; op < 3; op++)
            for (int threads = 1; threads <= 4; threads += 3) {
                const int s = drawn % 5;
                int64_t ends[6] = {0};
                for (int i = 0; i < 6; i++) {
                    const int64_t before = i ? ends[i - 1] : 0;
                    ends[i] = before + (int64_t)tki_random_below(&random, (uint64_t)(shapes[s][M] - before + 1));
                }
                problem p = make_problem(op, types[s % 5], TK_I32, shapes[s], ends);
                size_t bytes;
                assert_ok(ctx, tk_ctx_set_threads(ctx, threads));
                assert_ok(ctx, tk_scratch_size(ctx, &p.c, &bytes));
                unsigned char *scratch = aligned_alloc(64, (bytes + 127) / 64 * 64);
                assert_non_null(scratch);
                memset(scratch, 0x5a, (bytes + 127) / 64 * 64);
                assert_ok(ctx, tk_ctx_set_scratch(ctx, scratch, bytes));
                assert_ok(ctx, tk_run(ctx, &p.c, p.data));
                for (size_t i = bytes; i < (bytes + 127) / 64 * 64; i++)
                    assert_int_equal(scratch[i], 0x5a);
                assert_ok(ctx, tk_ctx_set_scratch(ctx, NULL, 0));
                assert_as_gemm(ctx, &p, op, ends);
                free(scratch);
                free_problem(&p);
            }
}

/* Every type, each index type with some of them. The kernels are gemm's, whose tests take every pair; so one type will do for planted
 * kernels, and another one for those that are wrong in fp32 results alone. */
TEST_WITH_CONTEXT(certified_and_mutants_refuted)
{
    enum { PLANTED_IN = 1, WIDE = 4 }; /* types */
    for (int op = 0; op < 3; op++) {
        const tk_contract *contract = tk_contract_find(ops[op]);
        for (int t = 0; t < 5; t++) {
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.result_dtype = &types[t].result_dtype;
            options.skip_mutants = t != PLANTED_IN && (t != WIDE || op != 0);
            options.fresh_mutants = true;
            tk_certificate *c = certify_one(ctx, contract, types[t].dtype, (t + op) % 2 ? TK_I64 : TK_I32, options);
            assert_held(c);
            int rejected;
            const int planted = tk_certificate_mutants(c, &rejected);
            assert_true(planted >= 30 || options.skip_mutants);
            assert_int_equal(rejected, planted);
            tk_certificate_destroy(c);
        }
    }
}

/* Of one op without and of one with sums over rows. */
TEST_WITH_CONTEXT(variants_hold)
{
    assert_variants_hold(ctx, tk_contract_find(ops[0]), types[0], TK_I32);
    if (!is_sanitized)
        assert_variants_hold(ctx, tk_contract_find(ops[2]), types[1], TK_I64);
}

/* A failure is cut down to a case that still has groups. */
TEST_WITH_CONTEXT(mutants_are_shown)
{
    if (!is_sanitized)
        assert_mutants_are_shown(ctx, tk_contract_find(ops[2]), types[0], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_products_of_gemm),
        cmocka_unit_test(a_batch_is_groups_of_one_size),
        cmocka_unit_test(special_values_stay_in_their_group),
        cmocka_unit_test(overflow_is_that_of_a_group),
        cmocka_unit_test(oracle_cuts_boxes_at_groups),
        cmocka_unit_test(bad_ends_are_named),
        cmocka_unit_test(callers_scratch),
        cmocka_unit_test(certified_and_mutants_refuted),
        cmocka_unit_test(variants_hold),
        cmocka_unit_test(mutants_are_shown),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests_name("grouped", tests, NULL, NULL);
}
