/* Ops made of definitions before the judge: right outputs are accepted, wrong ones refuted, in the cases that an oracle tells apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "define/definition.h"
#include "exact/round.h"
#include "judge/definition_oracle.h"
#include "judge/judge.h"
#include "trials/op_registry.h"
#include "tests/unit_test.h"

enum { ROWS = 3, COLS = 40 };

static tk_ctx *ctx;
static tk_case c;

static int begin(void **state)
{
    (void)state;
    return tk_ctx_create(&ctx) == TK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    tk_ctx_destroy(ctx);
    return 0;
}

/* One input x[rows, cols] and one output. */
static void define(const char *text)
{
    const tk_contract *contract;
    if (tk_op_define(ctx, text, strlen(text), NULL, &contract) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    c = tk_case_init(contract, TK_F32);
    c.dims[0] = ROWS;
    c.dims[1] = COLS;
    assert_ptr_equal(tki_oracle_of(contract), &tki_definition_oracle);
}

static int64_t failed(const tki_judgement *found, tki_defined_clause which)
{
    return found->failed[tki_definition_clause(tki_definition_of(c.contract), which)];
}

static tki_judgement judge(const float *x, const void *y)
{
    const void *buffers[] = {x, NULL};
    tki_oracle_job job = {.c = &c, .buffers = buffers, .output = 1};
    void *prepared;
    tki_judgement found = {0};
    assert_int_equal(tki_definition_oracle.prepare(&job, &prepared), TK_OK);
    job.prepared = prepared;
    assert_int_equal(tki_judge(&tki_definition_oracle, &job, y, 2, &found), TK_OK);
    tki_definition_oracle.release(prepared);
    return found;
}

static int64_t failures(const tki_judgement *found)
{
    int64_t sum = 0;
    for (int i = 0; i < TK_MAX_CLAUSES; i++)
        sum += found->failed[i];
    return sum;
}

static void draw(float x[ROWS * COLS])
{
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(i * 37 % 101 - 50) / 16;
}

static void softmax(const float *x, float *y, bool to_f16)
{
    for (int row = 0; row < ROWS; row++) {
        float top = -INFINITY, sum = 0;
        for (int i = 0; i < COLS; i++)
            top = fmaxf(top, x[row * COLS + i]);
        for (int i = 0; i < COLS; i++)
            sum += expf(x[row * COLS + i] - top);
        for (int i = 0; i < COLS; i++) {
            const float e = expf(x[row * COLS + i] - top);
            y[row * COLS + i] = (to_f16 ? (float)tki_decode(TK_F16, tki_round_double(TK_F16, (double)e)) : e) / sum;
        }
    }
}

static const char softmax_text[] = "op a1(x[rows, cols]) -> y[rows, cols]\n y = softmax[cols](x)";

TEST(a_right_kernel_and_wrong_ones)
{
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    define(softmax_text);
    softmax(x, y, false);
    tki_judgement found = judge(x, y);
    assert_int_equal(found.elements, ROWS * COLS);
    assert_int_equal(failures(&found), 0);
    assert_int_equal(found.undefined + found.undecided, 0);
    assert_true(found.bound_used > 0 && found.bound_used < 0.5);
    define(softmax_text);
    softmax(x, y, true);
    found = judge(x, y);
    assert_true(failures(&found) > ROWS * COLS / 2);
    define(softmax_text);
    softmax(x, y, false);
    y[COLS + 3] *= 1 + 0x1p-12F;
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
    assert_int_equal(found.failure.index, COLS + 3);
}

TEST(infinities_and_nan)
{
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    x[3] = NAN;
    x[COLS + 5] = -INFINITY;
    define(softmax_text);
    softmax(x, y, false);
    for (int i = 0; i < COLS; i++)
        y[i] = 1.0F / COLS;
    tki_judgement found = judge(x, y);
    assert_int_equal(failed(&found, TKI_DEFINED_NAN), COLS);
    for (int i = 0; i < COLS; i++)
        y[i] = NAN;
    define(softmax_text);
    found = judge(x, y);
    assert_int_equal(failures(&found), 0);
    y[COLS + 5] = 0x1p-100F;
    define(softmax_text);
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
}

TEST(special_lines)
{
    static const char text[] = "op a2(x[rows, cols]) -> y[rows, cols]\n y = silu(x)\n special x = -inf: y = 0";
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    x[7] = -INFINITY;
    for (int i = 0; i < ROWS * COLS; i++)
        y[i] = x[i] / (1 + expf(-x[i]));
    define(text);
    y[7] = 0;
    tki_judgement found = judge(x, y);
    assert_int_equal(failures(&found), 0);
    define(text);
    y[7] = NAN;
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
}

TEST(stated_bounds)
{
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    for (int twice = 0; twice < 2; twice++) {
        define("op a3(x[rows, cols]) -> y[rows, cols]\n y = x * 2\n bound ERR = 0.5");
        for (int i = 0; i < ROWS * COLS; i++)
            y[i] = x[i] * 2 + (twice ? 0.625F : 0.375F);
        const tki_judgement found = judge(x, y);
        assert_int_equal(failures(&found), twice ? ROWS * COLS : 0);
    }
}

TEST(integers)
{
    float x[ROWS * COLS];
    int64_t y[ROWS];
    draw(x);
    x[COLS] = x[COLS + 1] = 99; /* equal keys */
    for (int row = 0; row < ROWS; row++) {
        y[row] = 0;
        for (int i = 0; i < COLS; i++)
            y[row] = x[row * COLS + i] > x[row * COLS + y[row]] ? i : y[row];
    }
    define("op a4(x[rows, cols]) -> y[rows]: int\n y = argmax[cols ties lower](x)");
    tki_judgement found = judge(x, y);
    assert_int_equal(failures(&found), 0);
    assert_int_equal(found.undefined, 0);
    y[2] = (y[2] + 1) % COLS;
    define("op a5(x[rows, cols]) -> y[rows]: int\n y = argmax[cols ties lower](x)");
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
    define("op a6(x[rows, cols]) -> y[rows]: int\n y = argmax[cols](x)");
    found = judge(x, y);
    assert_int_equal(found.undefined, 1); /* any of equal keys */
}

/* What an overflowing sum may be: the interval, NaN, infinities; nothing else. */
TEST(overflow)
{
    static const char text[] = "op a7(x[rows, cols]) -> y[rows]\n y = sum[cols](x)";
    const float results[] = {0, INFINITY, -INFINITY, NAN, 1e30F};
    float x[ROWS * COLS] = {0x1p127F, 0x1p127F, -0x1p127F, -0x1p127F}, y[ROWS] = {0};
    for (int i = 0; i < 5; i++) {
        y[0] = results[i];
        define(text);
        const tki_judgement found = judge(x, y);
        assert_int_equal(failures(&found), 0);
    }
    y[0] = 0;
    y[1] = 1;
    define(text);
    const tki_judgement found = judge(x, y);
    assert_int_equal(failures(&found), 1);
}

/* What elements of an op's last output are found to be: one float input after the other, `dims` as the sizes that are given. */
static tki_judgement judge_inputs(const char *text, const int64_t dims[], const float *const inputs[], const float *y)
{
    static int64_t number;
    char named[1024];
    const void *buffers[TK_MAX_PARAMS] = {NULL};
    const tk_contract *contract;
    void *prepared;
    tki_judgement found = {0};
    snprintf(named, sizeof named, "op b%lld%s", (long long)number++, text);
    if (tk_op_define(ctx, named, strlen(named), NULL, &contract) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    c = tk_case_init(contract, TK_F32);
    int output = 0;
    for (int i = 0; i < contract->dim_count; i++)
        c.dims[i] = dims[i];
    for (; !contract->params[output].output; output++)
        buffers[output] = inputs[output];
    tki_oracle_job job = {.c = &c, .buffers = buffers, .output = output};
    assert_int_equal(tki_definition_oracle.prepare(&job, &prepared), TK_OK);
    job.prepared = prepared;
    assert_int_equal(tki_judge(&tki_definition_oracle, &job, y, 2, &found), TK_OK);
    tki_definition_oracle.release(prepared);
    return found;
}

/* Where ulps mean nothing in double the exact value is asked for; whatever it is, what doubles refuse stays refused, and of terms that are absent, and
 * comparisons with NaN, it knows as much. */
TEST(refining_takes_nothing_back)
{
    static const float s[] = {0.25F, 0.5F, 1, 2}, v[] = {1.5F, INFINITY}, x[] = {NAN}, w[] = {1.1F}, none[] = {0};
    static const struct {
        const char *text;
        int64_t dims[2];
        const float *inputs[3];
        float right, wrong;
    } all[] = {
        {"(s[t, u]) -> y[t]\n p[t, u] = softmax[u | u <= t](s[t, u])\n l[t, u] = log_softmax[u | u <= t](s[t, u])\n"
         " y[t] = sum[u](p[t, u] * l[t, u])",
         {1, 2},
         {s},
         0,
         1e30F},
        {"(s[t, u], v[u]) -> y[t]\n p[t, u] = softmax[u | u <= t](s[t, u])\n"
         " y[t] = sum[u](p[t, u] * v[u]) - v[0]",
         {1, 2},
         {s, v},
         0,
         1e30F},
        {"(x[n], w[n], v[n]) -> y[n]\n y = select(x < 0, 1e30, w / 3 * 3 - w + v)", {1}, {x, w, none}, 0, 12345},
        {"(x[n], w[n], v[n]) -> y[n]\n y = select(x != x, w / 3 * 3 - w + v, 1e30)", {1}, {x, w, none}, 0, 12345},
        {"(x[n], w[n], v[n]) -> y[n]\n y = select(x - x == 0, 1e30, w / 3 * 3 - w + v)",
         {1},
         {v + 1, w, none},
         0,
         12345},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tki_judgement found = judge_inputs(all[i].text, all[i].dims, all[i].inputs, &all[i].right);
        if (failures(&found) + found.undefined + found.undecided > 0)
            fail_msg("%s: %g is not accepted", all[i].text, (double)all[i].right);
        found = judge_inputs(all[i].text, all[i].dims, all[i].inputs, &all[i].wrong);
        if (failures(&found) != 1)
            fail_msg("%s: %g is accepted", all[i].text, (double)all[i].wrong);
    }
}

/* Of a large output a sample is judged, and each corner is in it. */
TEST(samples_have_corners)
{
    static const char text[] = "op a9(x[a, b, c]) -> y[a, b, c]\n y = x * 2 + sum[b](x)";
    enum { A = 16, B = 64, C = 1031 };
    const tk_contract *contract;
    if (tk_op_define(ctx, text, strlen(text), NULL, &contract) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    c = tk_case_init(contract, TK_F32);
    c.dims[0] = A;
    c.dims[1] = B;
    c.dims[2] = C;
    float *x = calloc(A * B * C, sizeof *x), *y = calloc(A * B * C, sizeof *y);
    for (int i = 0; i < A * B * C; i++)
        x[i] = y[i] = 0;
    const void *buffers[] = {x, NULL};
    tki_oracle_job job = {.c = &c, .buffers = buffers, .output = 1, .sampled = true};
    void *prepared;
    assert_int_equal(tki_definition_oracle.prepare(&job, &prepared), TK_OK);
    job.prepared = prepared;
    for (int corner = -1; corner < 8; corner++) {
        tki_judgement found = {0};
        const int at = ((corner & 1 ? A - 1 : 0) * B + (corner & 2 ? B - 1 : 0)) * C + (corner & 4 ? C - 1 : 0);
        y[at] = corner >= 0;
        assert_int_equal(tki_judge(&tki_definition_oracle, &job, y, 2, &found), TK_OK);
        assert_true(found.elements > 0 && found.elements < A * B * C);
        assert_int_equal(failures(&found), corner >= 0);
        y[at] = 0;
    }
    tki_definition_oracle.release(prepared);
    free(x);
    free(y);
    /* What costs little is judged whole. */
    assert_false(tki_definition_samples(&c));
    c.dims[0] = 1 << 20;
    assert_true(tki_definition_samples(&c));
}

static void enclose_all(int64_t count, const uint16_t *x, tki_enclosure *out)
{
    const void *buffers[] = {x, NULL};
    tki_oracle_job job = {.c = &c, .buffers = buffers, .output = 1};
    void *prepared;
    c.dims[0] = 1;
    c.dims[1] = count;
    assert_int_equal(tki_definition_oracle.prepare(&job, &prepared), TK_OK);
    job.prepared = prepared;
    const tki_box box = {0, 1, 0, count < 8000 ? count : 8000};
    assert_int_equal(tki_definition_oracle.enclose(&job, &box, out), TK_OK);
    tki_definition_oracle.release(prepared);
}

/* Many elements of 16 bits are looked up by their pattern, and come out as few do, which are computed. */
TEST(patterns_are_looked_up)
{
    static const char *const texts[] = {
        "op p0(x[r, c]) -> y[r, c]\n    y = gelu(x)\n",
        "op p1(x[r, c]; s: real = 0.3) -> y[r, c]\n    y = log(x) * s + exp(x)\n    special x = nan: y = 0 or nan\n",
        "op p2(x[r, c]) -> y[r, c]\n    y = x * sigmoid(x)\n    bound ERR y = abs(y) * 1e-4 + 1e-30\n",
        "op p3(x[r, c]) -> y[r, c]: f32\n    where c % 2 == 0\n    y = rsqrt(square(x) + 1)\n"};
    enum { MANY = 1 << 18, FEW = 8000 };
    uint16_t *x = malloc(MANY * sizeof *x);
    tki_enclosure *looked_up = malloc(FEW * sizeof *looked_up), *computed = malloc(FEW * sizeof *computed);
    for (int t = 0; t < 4; t++)
        for (int type = 0; type < 2; type++) {
            define(texts[t]);
            c.dtype = c.result_dtype = type ? TK_BF16 : TK_F16;
            for (int i = 0; i < MANY; i++)
                x[i] = (uint16_t)(i * 40503);
            memset(looked_up, 0, FEW * sizeof *looked_up);
            memset(computed, 0, FEW * sizeof *computed);
            enclose_all(MANY, x, looked_up);
            enclose_all(FEW, x, computed);
            for (int i = 0; i < FEW; i++) {
                const tki_enclosure *a = &looked_up[i], *b = &computed[i];
                const bool same = a->admits == b->admits && a->clause == b->clause &&
                                  (!(a->admits & TKI_ADMIT_INTERVAL) ||
                                   (a->lo == b->lo && a->hi == b->hi && a->bound == b->bound));
                if (!same)
                    fail_msg("%s: 0x%04x: [%g, %g] %g %x, computed [%g, %g] %g %x", texts[t], x[i], a->lo, a->hi,
                             a->bound, a->admits, b->lo, b->hi, b->bound, b->admits);
            }
            tk_ctx_destroy(ctx); /* where a name is free again */
            assert_int_equal(tk_ctx_create(&ctx), TK_OK);
        }
    free(x);
    free(looked_up);
    free(computed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_right_kernel_and_wrong_ones),
                                       cmocka_unit_test(infinities_and_nan),
                                       cmocka_unit_test(special_lines),
                                       cmocka_unit_test(stated_bounds),
                                       cmocka_unit_test(integers),
                                       cmocka_unit_test(overflow),
                                       cmocka_unit_test(refining_takes_nothing_back),
                                       cmocka_unit_test(samples_have_corners),
                                       cmocka_unit_test(patterns_are_looked_up)};
    return cmocka_run_group_tests(tests, begin, end);
}
