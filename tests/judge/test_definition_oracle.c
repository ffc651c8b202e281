/* Ops made of definitions before the judge: right outputs are accepted, wrong ones refuted, in the cases that an oracle tells apart. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "define/definition.h"
#include "exact/round.h"
#include "judge/definition_oracle.h"
#include "judge/judge.h"
#include "model/op.h"
#include "tests/unit_test.h"

enum { ROWS = 3, COLS = 40 };

static tki_definitions made;
static tki_op op;
static tk_contract contract;
static tk_param params[4];
static const int dims[] = {0, 1};
static const tk_clause clauses[] = {{TK_CLAUSE_ERROR, "A.ERR", "within the bound"},
                                    {TK_CLAUSE_VALUE, "A.VALUE", "NaN and infinities"}};
static tk_case c;

/* One input x[rows, cols] and one output, of rows and cols or of rows alone. */
static void define(const char *text, tk_judged_by judged)
{
    tki_definition_error error;
    if (tki_definitions_read(text, strlen(text), &made, &error) != TK_OK)
        fail_msg("%d:%d: %s", error.position.line, error.position.column, error.text);
    const tki_definition *d = &made.list[0];
    const int rank = d->tensors[d->params[1]].rank;
    op = (tki_op){.contract = &contract, .definition = d};
    params[0] = (tk_param){
        .name = "x", .kind = TK_KIND_VALUE, .rank = 2, .dim = dims, .inner_axis = 1, .may_alias = -1};
    params[1] = (tk_param){.name = "y",
                           .output = true,
                           .kind = judged == TK_BY_INTEGER ? TK_KIND_FIXED : TK_KIND_VALUE,
                           .dtype = TK_I64,
                           .judged = judged,
                           .rank = rank,
                           .dim = dims,
                           .inner_axis = -1,
                           .may_alias = -1};
    contract = (tk_contract){.name = "a",
                             .dim_count = 2,
                             .param_count = 2,
                             .params = params,
                             .clause_count = 2,
                             .clauses = clauses,
                             .op = &op};
    c = tk_case_init(&contract, TK_F32);
    c.dims[0] = ROWS;
    c.dims[1] = COLS;
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
    tki_definitions_free(&made);
    return found;
}

static int64_t failures(const tki_judgement *found)
{
    return found->failed[0] + found->failed[1];
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

static const char softmax_text[] = "op a(x[rows, cols]) -> y[rows, cols]\n y = softmax[cols](x)";

TEST(a_right_kernel_and_wrong_ones)
{
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    define(softmax_text, TK_BY_INTERVAL);
    softmax(x, y, false);
    tki_judgement found = judge(x, y);
    assert_int_equal(found.elements, ROWS * COLS);
    assert_int_equal(failures(&found), 0);
    assert_int_equal(found.undefined + found.undecided, 0);
    assert_true(found.bound_used > 0 && found.bound_used < 0.5);
    define(softmax_text, TK_BY_INTERVAL);
    softmax(x, y, true);
    found = judge(x, y);
    assert_true(failures(&found) > ROWS * COLS / 2);
    define(softmax_text, TK_BY_INTERVAL);
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
    define(softmax_text, TK_BY_INTERVAL);
    softmax(x, y, false);
    for (int i = 0; i < COLS; i++)
        y[i] = 1.0F / COLS;
    tki_judgement found = judge(x, y);
    assert_int_equal(found.failed[1], COLS);
    for (int i = 0; i < COLS; i++)
        y[i] = NAN;
    define(softmax_text, TK_BY_INTERVAL);
    found = judge(x, y);
    assert_int_equal(failures(&found), 0);
    y[COLS + 5] = 0x1p-100F;
    define(softmax_text, TK_BY_INTERVAL);
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
}

TEST(special_lines)
{
    static const char text[] = "op a(x[rows, cols]) -> y[rows, cols]\n y = silu(x)\n special x = -inf: y = 0";
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    x[7] = -INFINITY;
    for (int i = 0; i < ROWS * COLS; i++)
        y[i] = x[i] / (1 + expf(-x[i]));
    define(text, TK_BY_INTERVAL);
    y[7] = 0;
    tki_judgement found = judge(x, y);
    assert_int_equal(failures(&found), 0);
    define(text, TK_BY_INTERVAL);
    y[7] = NAN;
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
}

TEST(stated_bounds)
{
    float x[ROWS * COLS], y[ROWS * COLS];
    draw(x);
    for (int twice = 0; twice < 2; twice++) {
        define("op a(x[rows, cols]) -> y[rows, cols]\n y = x * 2\n bound ERR = 0.5", TK_BY_INTERVAL);
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
    define("op a(x[rows, cols]) -> y[rows]: int\n y = argmax[cols ties lower](x)", TK_BY_INTEGER);
    tki_judgement found = judge(x, y);
    assert_int_equal(failures(&found), 0);
    assert_int_equal(found.undefined, 0);
    y[2] = (y[2] + 1) % COLS;
    define("op a(x[rows, cols]) -> y[rows]: int\n y = argmax[cols ties lower](x)", TK_BY_INTEGER);
    found = judge(x, y);
    assert_int_equal(failures(&found), 1);
    define("op a(x[rows, cols]) -> y[rows]: int\n y = argmax[cols](x)", TK_BY_INTEGER);
    found = judge(x, y);
    assert_int_equal(found.undefined, 1); /* any of equal keys */
}

/* What an overflowing sum may be: the interval, NaN, infinities; nothing else. */
TEST(overflow)
{
    static const char text[] = "op a(x[rows, cols]) -> y[rows]\n y = sum[cols](x)";
    const float results[] = {0, INFINITY, -INFINITY, NAN, 1e30F};
    float x[ROWS * COLS] = {0x1p127F, 0x1p127F, -0x1p127F, -0x1p127F}, y[ROWS] = {0};
    for (int i = 0; i < 5; i++) {
        y[0] = results[i];
        define(text, TK_BY_INTERVAL);
        const tki_judgement found = judge(x, y);
        assert_int_equal(failures(&found), 0);
    }
    y[0] = 0;
    y[1] = 1;
    define(text, TK_BY_INTERVAL);
    const tki_judgement found = judge(x, y);
    assert_int_equal(failures(&found), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_right_kernel_and_wrong_ones),
                                       cmocka_unit_test(infinities_and_nan),
                                       cmocka_unit_test(special_lines),
                                       cmocka_unit_test(stated_bounds),
                                       cmocka_unit_test(integers),
                                       cmocka_unit_test(overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
