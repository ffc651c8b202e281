/* Gradients that are right and gradients that are wrong: of the definitions that are kept, of each primitive and reduction, and at kinks. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "define/definition.h"
#include "tests/op_test.h"

/* The definitions of a file; free() them. */
static char *kept_text(tk_ctx *ctx, const char *file)
{
    char path[512], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/src/ops/definitions/%s", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".", file);
    assert_ok(ctx, tki_file_read(ctx, path, 1 << 16, &text, &size));
    return text;
}

static tk_gradient_counts counts_of(tk_ctx *ctx, const char *text, const char *name)
{
    const tk_contract *op;
    tk_gradient_counts counts;
    assert_ok(ctx, tk_op_define(ctx, text, strlen(text), name, &op));
    assert_ok(ctx, tk_op_gradient(ctx, op, &counts));
    return counts;
}

/* What lint says of gradients: the first finding, or "". */
static tk_lint lint_of(tk_ctx *ctx, const char *text, const char *name)
{
    const tk_contract *op;
    tk_lint *found, first = {.text = ""};
    int count;
    assert_ok(ctx, tk_op_define(ctx, text, strlen(text), name, &op));
    assert_ok(ctx, tk_op_lint(ctx, op, &found, &count));
    for (int i = count - 1; i >= 0; i--)
        if (found[i].kind == TK_LINT_GRADIENT)
            first = found[i];
    free(found);
    return first;
}

static bool has_kinks(const char *name)
{
    static const char *const with[] = {"relu_bwd", "max_pool2d_bwd", "leaky_relu_bwd", "elu_bwd",
                                       "selu_bwd", "softsign_bwd",   "hardtanh_bwd",   "huber_bwd"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (!strcmp(name, with[i]))
            return true;
    return false;
}

TEST_WITH_CONTEXT(definitions_that_are_kept)
{
    int count = 0;
    char place[256];
    snprintf(place, sizeof place, "%s/src/ops/definitions", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    DIR *folder = opendir(place);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        tki_definitions all;
        tki_definition_error error;
        if (!strstr(entry->d_name, ".op"))
            continue;
        char *text = kept_text(ctx, entry->d_name);
        assert_int_equal(tki_definitions_read(text, strlen(text), &all, &error), TK_OK);
        for (int i = 0; i < all.count; i++) {
            const char *name = all.list[i].name;
            const tk_gradient_counts found = counts_of(ctx, text, name);
            assert_int_equal(found.differ, 0);
            if (!all.list[i].gradient.op) {
                assert_int_equal(found.agree, 0);
                continue;
            }
            printf("%-22s %3lld directions agree, %3lld kinks, %3lld undefined\n", name, (long long)found.agree,
                   (long long)found.kinks, (long long)found.undefined);
            assert_true(found.agree >= 20);
            assert_true((found.kinks > 0) == has_kinks(name));
            assert_int_equal(found.undefined, 0);
            count++;
        }
        tki_definitions_free(&all);
        free(text);
    }
    closedir(folder);
    assert_true(count >= 17);
}

/* One mistake each: in the file, `wrong` for `right`. It is found at the output that it is in, and nowhere else. */
static const struct {
    const char *file, *op, *right, *wrong, *output;
} planted[] = {
    {"rmsnorm.op", "rmsnorm_bwd", "(g - n * mean[cols](g * n))", "g", "grad_x"},
    {"rmsnorm.op", "rmsnorm_bwd", "(g - n *", "(g + n *", "grad_x"},
    {"rmsnorm.op", "rmsnorm_bwd", "mean[cols](g * n)", "sum[cols](g * n)", "grad_x"},
    {"rmsnorm.op", "rmsnorm_bwd", "sum[rows](grad_y * n)", "sum[rows](grad_y * x)", "grad_w"},
    {"rmsnorm.op", "rmsnorm_bwd", "sum[rows](grad_y * n)", "mean[rows](grad_y * n)", "grad_w"},
    {"layernorm.op", "layernorm_bwd", "- mean[cols](g)", "", "grad_x"},
    {"layernorm.op", "layernorm_bwd", "- mean[cols](g)", "- mean[rows](g)", "grad_x"},
    {"layernorm.op", "layernorm_bwd", "- n * mean", "- 1.0001 * n * mean", "grad_x"},
    {"layernorm.op", "layernorm_bwd", "- n * mean", "- 1.0000000000000000000000000000000000000000001 * n * mean",
     "grad_x"},
    {"layernorm.op", "layernorm_bwd", "sum[rows](grad_y)", "sum[rows](g)", "grad_b"},
    {"softmax.op", "softmax_grad", "sum[cols](grad_y * y)", "sum[rows](grad_y * y)", "grad_x"},
    {"softmax.op", "log_softmax_grad", "grad_y - exp(y)", "grad_y - y", "grad_x"},
    {"relu.op", "relu_bwd", "x > 0", "x > -0.25", "grad_x"},
    {"silu.op", "silu_bwd", "one_minus_sigmoid(x)", "sigmoid(x)", "grad_x"},
    {"mish.op", "mish_bwd", "+ x * slope", "- x * slope", "grad_x"},
    {"gelu.op", "gelu_grad", "0.3989422804014326", "0.3989422804014327", "grad_x"},
    {"gelu.op", "gelu_tanh_grad", "0.134145", "0.044715", "grad_x"},
    {"matmul.op", "matmul_bwd", "sum[m](a * grad_c)", "0.5 * sum[m](a * grad_c)", "grad_b"},
    {"conv2d.op", "conv2d_bwd", "(h + pad - r * dilation) % stride == 0 and ", "", "grad_x"},
    {"conv2d.op", "conv2d_bwd", "p * stride + r * dilation - pad, q * stride + s * dilation - pad else 0])\n    if",
     "p * stride + r * dilation, q * stride + s * dilation else 0])\n    if", "grad_k"},
    {"max_pool2d.op", "max_pool2d_bwd", "== y, window * r + s, inf", "== y, window * s + r, inf", "grad_x"},
    {"cumsum.op", "cumsum_bwd", "backward[rows, size(cols) - 1 - cols]\n    grad", "backward[rows, cols]\n    grad",
     "grad_x"},
    {"attention.op", "attention_causal_bwd", "grad_s[b, t, u] = scale * p", "grad_s[b, t, u] = p", "grad_q"},
    {"attention.op", "attention_causal_bwd", "sum[t](grad_s[b, t, u] * q", "sum[t](p[b, t, u] * q", "grad_k"},
    {"embedding.op", "embedding_grad", "index[q] == v", "index[q] <= v", "grad_w"},
    {"cross_entropy.op", "cross_entropy_bwd", "target[rows] == cols, 1, 0", "target[rows] == cols, 0.999, 0",
     "grad_x"},
};

static char *replaced(const char *text, const char *right, const char *wrong)
{
    const char *at = strstr(text, right);
    if (!at)
        fail_msg("there is no %s", right);
    char *made = malloc(strlen(text) + strlen(wrong) + 1);
    sprintf(made, "%.*s%s%s", (int)(at - text), text, wrong, at + strlen(right));
    return made;
}

/* Where the head of `op` has its output. */
static void assert_is_at(const tk_lint *found, const char *text, const char *op, const char *output)
{
    char head[64];
    snprintf(head, sizeof head, "op %s(", op);
    const char *begin = strstr(text, head), *at = strstr(strstr(begin, "->"), output);
    int line = 1;
    for (const char *p = text; p < begin; p++)
        line += *p == '\n';
    if (found->line != line || found->column != (int)(at - begin) + 1)
        fail_msg("%s: %s is at %d:%d, and found is %d:%d: %s", op, output, line, (int)(at - begin) + 1, found->line,
                 found->column, found->text);
}

TEST_WITH_CONTEXT(planted_mistakes)
{
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        tk_ctx *other = new_context(); /* ops of the same name */
        char *text = kept_text(ctx, planted[i].file), *op_begins = strstr(text, planted[i].op);
        assert_non_null(op_begins);
        char *wrong_op = replaced(op_begins, planted[i].right, planted[i].wrong);
        char *wrong = replaced(text, op_begins, wrong_op);
        const tk_lint found = lint_of(other, wrong, planted[i].op);
        if (!found.text[0])
            fail_msg("%s: %s instead of %s is not found", planted[i].op, planted[i].wrong, planted[i].right);
        assert_is_at(&found, wrong, planted[i].op, planted[i].output);
        free(text);
        free(wrong_op);
        free(wrong);
        tk_ctx_destroy(other);
    }
}

/* An op and its derivative, as far as each element has one of its own. */
enum { NO_KINKS, KINKS, UNDEFINED };
static const struct {
    const char *y, *slope;
    int expected;
} elementwise[] = {
    {"x + 2 * x - 7", "3", NO_KINKS},
    {"3 / (square(x) + 1)", "-6 * x / square(square(x) + 1)", NO_KINKS},
    {"fma(x, x, -x)", "2 * x - 1", NO_KINKS},
    {"sqrt(x)", "0.5 * rsqrt(x)", UNDEFINED},
    {"rsqrt(1 + square(x))", "-x * rsqrt(1 + square(x)) / (1 + square(x))", NO_KINKS},
    {"exp(x)", "exp(x)", NO_KINKS},
    {"exp2(x)", "log(2) * exp2(x)", NO_KINKS},
    {"log(x)", "1 / x", UNDEFINED},
    {"log1p(square(x))", "2 * x / (1 + square(x))", NO_KINKS},
    {"expm1(-x)", "-exp(-x)", NO_KINKS},
    {"tanh(x)", "1 - square(tanh(x))", NO_KINKS},
    {"erf(x)", "1.12837916709551257389615890312154517168810125865799771368817 * exp(-square(x))", NO_KINKS},
    {"sigmoid(x)", "sigmoid(x) - square(sigmoid(x))", NO_KINKS},
    {"one_minus_sigmoid(x)", "-sigmoid(x) * one_minus_sigmoid(x)", NO_KINKS},
    {"log_sigmoid(x)", "sigmoid(-x)", NO_KINKS},
    {"softplus(-x)", "-sigmoid(-x)", NO_KINKS},
    {"silu(x)", "sigmoid(x) + x * exp(-x) / square(1 + exp(-x))", NO_KINKS},
    {"normal_cdf(2 * x)", "0.797884560802865355879892119868763736951717262329869315331852 * exp(-2 * square(x))",
     NO_KINKS},
    {"pow(x, 3)", "3 * square(x)", NO_KINKS},
    {"pow(2 + square(x), 0.5 * x)",
     "pow(2 + square(x), 0.5 * x) * (0.5 * log(2 + square(x)) + square(x) / (2 + square(x)))", NO_KINKS},
    {"pow(x, 1)", "1", NO_KINKS},
    {"abs(x)", "select(x > 0, 1, -1)", KINKS},
    {"max(x, 1)", "select(x > 1, 1, 0)", KINKS},
    {"min(x, 2 * x)", "select(x > 0, 1, 2)", KINKS},
    {"clamp(x, -1, 2)", "select(x > -1 and x < 2, 1, 0)", KINKS},
    {"max(x, x)", "1", NO_KINKS},
    {"select(x > 1 and x < 3, square(x), 2 * x)", "select(x > 1 and x < 3, 2 * x, 2)", KINKS},
    {"min(square(x), 5)", "select(square(x) < 5, 2 * x, 0)", NO_KINKS}, /* 5 is no square */
    {"cast(f16, x)", "1", NO_KINKS},
};

TEST_WITH_CONTEXT(primitives)
{
    char text[1024];
    for (size_t i = 0; i < sizeof elementwise / sizeof *elementwise; i++)
        for (int wrong = 0; wrong < 2; wrong++) {
            tk_ctx *other = new_context();
            snprintf(text, sizeof text,
                     "op f(x[n]) -> y[n]\n    y = %s\n"
                     "op g(grad_y[n], x[n]) -> grad_x[n]\n    grad_x = %s * grad_y * (%s) + 0 * x\n    gradient of "
                     "f(y by x)\n",
                     elementwise[i].y, wrong ? "1.0001" : "1", elementwise[i].slope);
            const tk_gradient_counts found = counts_of(other, text, "g");
            const int expected = found.undefined > 0 ? UNDEFINED : found.kinks > 0 ? KINKS : NO_KINKS;
            if ((wrong ? found.agree : found.differ) > 0 || (wrong ? found.differ : found.agree) < 10 ||
                expected != elementwise[i].expected)
                fail_msg("%s: %lld agree, %lld differ, %lld kinks, %lld undefined", text, (long long)found.agree,
                         (long long)found.differ, (long long)found.kinks, (long long)found.undefined);
            tk_ctx_destroy(other);
        }
    (void)ctx;
}

/* Of x[r, c]; y in its own shape. */
static const struct {
    const char *axes, *y, *grad;
    bool kinks;
} reductions[] = {
    {"r", "sum[c](x)", "grad_y[r] + 0 * x", false},
    {"r", "mean[c | c > 0](x)", "select(c > 0, grad_y[r], 0) / (size(c) - 1) + 0 * x", false},
    {"r", "prod[c](x)", "grad_y[r] * prod[j < size(c) | j != c](x[r, j])", false},
    {"r", "var[c](x)", "grad_y[r] * 2 / size(c) * (x - mean[c](x))", false},
    {"r", "var[c](x, 0.5)", "grad_y[r] * 2 / (size(c) - 0.5) * (x - mean[c](x))", false},
    {"r", "log_sum_exp[c](x)", "grad_y[r] * softmax[c](x)", false},
    {"r", "max[c](x)", "select(x == max[c](x), grad_y[r], 0)", true},
    {"r", "min[c](x)", "select(x == min[c](x), grad_y[r], 0)", true},
    {"r, c", "softmax[c | c > 0](x)", "y * (grad_y - sum[j < size(c)](grad_y[r, j] * y[r, j])) + 0 * x", false},
    {"r, c", "cumsum[c](x)", "sum[j < size(c) | j >= c](grad_y[r, j]) + 0 * x", false},
    {"r, c", "cumprod[c](x)",
     "sum[j < size(c) | j >= c](grad_y[r, j] * prod[i < size(c) | i <= j and i != c](x[r, i]))", false},
    {"r, c", "cummax[r](x)",
     "sum[j < size(r) | j >= r](grad_y[j, c] * select(x == max[i < size(r) | i <= j](x[i, c]), 1, 0))", true},
    {"r, c", "rotate_half[c](x)", "-rotate_half[c](grad_y) + 0 * x", false},
    {"r, c", "x[r, size(c) - 1 - c]", "grad_y[r, size(c) - 1 - c] + 0 * x", false},
    {"r, c", "x[r, c - 1 else 3]", "grad_y[r, c + 1 else 0] + 0 * x", false},
};

TEST_WITH_CONTEXT(reductions_and_subscripts)
{
    char text[1024];
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        for (int wrong = 0; wrong < 2; wrong++) {
            tk_ctx *other = new_context();
            const bool halves = strstr(reductions[i].y, "rotate_half");
            snprintf(text, sizeof text,
                     "op f(x[r, c]) -> y[%s]\n%s    y[%s] = %s\n"
                     "op g(grad_y[%s], y[%s], x[r, c]) -> grad_x[r, c]\n%s    grad_x[r, c] = %s%s\n    gradient of "
                     "f(y by x)\n",
                     reductions[i].axes, halves ? "    where c % 2 == 0\n" : "", reductions[i].axes, reductions[i].y,
                     reductions[i].axes, reductions[i].axes, halves ? "    where c % 2 == 0\n" : "",
                     reductions[i].grad, wrong ? " + 0.0001 * x" : "");
            const tk_gradient_counts found = counts_of(other, text, "g");
            if ((wrong ? found.differ : found.agree) < 10 || (!wrong && found.differ > 0) ||
                (found.kinks > 0) != reductions[i].kinks)
                fail_msg("%s: %lld agree, %lld differ, %lld kinks, %lld undefined", text, (long long)found.agree,
                         (long long)found.differ, (long long)found.kinks, (long long)found.undefined);
            tk_ctx_destroy(other);
        }
    (void)ctx;
}

/* What is chosen is handed on: an index that the op gives is the gradient's input. */
TEST_WITH_CONTEXT(indices_of_the_op)
{
    static const char right[] =
        "op f(x[r, c]; count: int in [1, 4] = 2) -> value[r, k], index[r, k]: int\n    where k = count\n"
        "    index[r, k] = topk[c](x, k)\n    value[r, k] = x[r, index[r, k]]\n"
        "op g(grad_value[r, k], index[r, k]: int in [0, c); count: int in [1, 4] = 2) -> grad_x[r, c]\n"
        "    where k = count\n    grad_x[r, c] = sum[k | index[r, k] == c](grad_value[r, k])\n"
        "    gradient of f(value by x)\n";
    const tk_gradient_counts found = counts_of(ctx, right, "g");
    assert_true(found.agree >= 10);
    assert_int_equal(found.differ, 0);
    assert_true(found.undefined > 0); /* which of equal ones is open */
    char *wrong = replaced(right, "index[r, k] == c", "index[r, k] >= c");
    tk_ctx *other = new_context();
    assert_true(counts_of(other, wrong, "g").differ > 0);
    tk_ctx_destroy(other);
    free(wrong);
}

TEST_WITH_CONTEXT(ops_that_do_not_fit)
{
    static const struct {
        const char *text, *says;
    } all[] = {
        {"op g(grad_y[n], x[n]) -> grad_x[n]\n    grad_x = grad_y + x\n    gradient of absent(y by x)\n",
         "no definition of absent is in the same text"},
        {"op f(x[n]) -> z[n]\n    z = x\n"
         "op g(grad_y[n], x[n]) -> grad_x[n]\n    grad_x = grad_y + x\n    gradient of f(y by x)\n",
         "f has no output y of real numbers"},
        {"op f(z[n]) -> y[n]\n    y = z\n"
         "op g(grad_y[n], z[n]) -> grad_x[n]\n    grad_x = grad_y + z\n    gradient of f(y by x)\n",
         "f has no input x of real numbers"},
        {"op f(x[n]) -> y[n]\n    y = x\n"
         "op g(grad_y[n], saved[n]) -> grad_x[n]\n    grad_x = grad_y * saved\n    gradient of f(y by x)\n",
         "saved is no input of f, and no output"},
        {"op f(x[n], z[m]) -> y[n]\n    y = x * sum[m](z)\n"
         "op g(grad_y[n], x[n], z[n]) -> grad_x[n]\n    grad_x = grad_y * sum[n](z) + x\n    gradient of f(y by x)\n",
         ""},
        {"op f(x[n, m]) -> y[n]\n    y = sum[m](x)\n"
         "op g(grad_y[n], x[n]) -> grad_x[n]\n    grad_x = grad_y + x\n    gradient of f(y by x)\n",
         "x and x of f are not alike"},
        {"op f(x[n]) -> y[n]\n    y = log(-1 - square(x))\n"
         "op g(grad_y[n], x[n]) -> grad_x[n]\n    grad_x = grad_y * x\n    gradient of f(y by x)\n",
         "grad_x was compared nowhere"},
        {"op f(x[n]) -> y[n]\n    y = square(x)\n"
         "op g(grad_y[n], x[n]) -> grad_x[n]\n    grad_x = grad_y * log(-1 - square(x))\n    gradient of f(y by x)\n",
         "grad_x is no number where there are derivatives"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tk_ctx *other = new_context();
        const tk_lint found = lint_of(other, all[i].text, "g");
        if (!found.text[0] || !strstr(found.text, all[i].says))
            fail_msg("%s: '%s'", all[i].text, found.text);
        tk_ctx_destroy(other);
    }
    (void)ctx;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_that_are_kept),
        cmocka_unit_test(planted_mistakes),
        cmocka_unit_test(primitives),
        cmocka_unit_test(reductions_and_subscripts),
        cmocka_unit_test(indices_of_the_op),
        cmocka_unit_test(ops_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
