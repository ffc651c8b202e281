/* What lint finds in definitions, and that it finds nothing in those that are as good as they can be. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "define/definition.h"
#include "tests/op_test.h"

typedef struct expectation {
    tk_lint_kind kind;
    int line, column;
    const char *says;
} expectation;

static void check(tk_ctx *ctx, const char *text, const char *name, int count, const expectation expected[])
{
    const tk_contract *op;
    tk_lint *found;
    int found_count;
    assert_ok(ctx, tk_op_define(ctx, text, strlen(text), name, &op));
    assert_ok(ctx, tk_op_lint(ctx, op, &found, &found_count));
    for (int i = 0; i < found_count && i < count; i++)
        if (found[i].kind != expected[i].kind || found[i].line != expected[i].line ||
            found[i].column != expected[i].column || !strstr(found[i].text, expected[i].says))
            fail_msg("%s: %d:%d: kind %d: %s", name, found[i].line, found[i].column, (int)found[i].kind,
                     found[i].text);
    if (found_count != count)
        fail_msg("%s: %d findings, %d expected; the last: %s", name, found_count, count,
                 found_count > 0 ? found[found_count - 1].text : "");
    free(found);
}

/* As they are written in books. Each with a form beside it that does not lose. */
TEST_WITH_CONTEXT(forms_that_cancel)
{
    check(ctx,
          "op spelled(x[n]) -> y[n]\n"
          "    y = 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))\n",
          "spelled", 1, (expectation[]){{TK_LINT_CANCELS, 2, 22, "+: its value is off by"}});
    check(ctx, "op stable(x[n]) -> y[n]\n    y = gelu_tanh(x)\n", "stable", 0, NULL);
    check(ctx,
          "op one_pass(x[r, c]) -> v[r]\n"
          "    m = mean[c](x)\n"
          "    v = mean[c](square(x)) - square(m)\n",
          "one_pass", 3,
          (expectation[]){{TK_LINT_RANGE, 2, 9, "mean gives nothing that is known, or no number, where c is 0"},
                          {TK_LINT_RANGE, 3, 9, "mean gives nothing that is known, or no number, where c is 0"},
                          {TK_LINT_CANCELS, 3, 28, "-: "}});
    check(ctx,
          "op two_passes(x[r, c]) -> v[r]\n"
          "    where c > 0\n"
          "    m = mean[c](x)\n"
          "    v = mean[c](square(x - m))\n",
          "two_passes", 0, NULL);
    check(ctx, "op minus(x[n]) -> y[n]\n    y = 1 - sigmoid(x)\n", "minus", 1,
          (expectation[]){{TK_LINT_CANCELS, 2, 11, "-: "}});
    check(ctx, "op plus(x[n]) -> y[n]\n    y = one_minus_sigmoid(x)\n", "plus", 0, NULL);
}

TEST_WITH_CONTEXT(what_is_undefined_blind_or_unused)
{
    check(ctx, "op logit(x[n]) -> y[n]\n    y = log(x / (1 - x))\n", "logit", 1,
          (expectation[]){{TK_LINT_RANGE, 2, 9, "log gives nothing that is known, or no number, at "}});
    check(ctx, "op ranged(x[n] in (0, 1)) -> y[n]\n    y = log(x / (1 - x))\n", "ranged", 0, NULL);
    check(ctx, "op noise(x[n]) -> y[n]\n    y = (x + 1e9) - 1e9\n", "noise", 2,
          (expectation[]){{TK_LINT_BLIND, 1, 19, "the bound of y admits what is a quarter off at"},
                          {TK_LINT_CANCELS, 2, 19, "-: "}});
    check(ctx,
          "op lost(x[n], y[n, m], z[n], q[n]; scale: real = 1, mode: choice(a, b) = a) -> o[n]\n"
          "    t = z * 2\n"
          "    o = x + sum[j < 3](y[n, 0])\n",
          "lost", 6,
          (expectation[]){{TK_LINT_UNUSED, 1, 15, "y is read at one place of its axis m alone"},
                          {TK_LINT_UNUSED, 1, 30, "nothing reads q"},
                          {TK_LINT_UNUSED, 1, 36, "nothing depends on scale"},
                          {TK_LINT_UNUSED, 1, 53, "nothing depends on mode"},
                          {TK_LINT_UNUSED, 2, 5, "nothing reads t"},
                          {TK_LINT_UNUSED, 3, 13, "what sum takes over j does not depend on it"}});
}

/* Lines of zeros, ends of what attributes may be, sizes of 0. */
TEST_WITH_CONTEXT(what_is_undefined_at_an_end)
{
    static const char unit[] = "op %s(x[r, c]; eps: real in [%s, 1] = 1e-6) -> y[r, c]\n"
                               "    y = x / (sqrt(sum[c](square(x))) + eps)\n";
    char text[256];
    snprintf(text, sizeof text, unit, "unit", "0");
    check(ctx, text, "unit", 1,
          (expectation[]){{TK_LINT_RANGE, 2, 11,
                           "/ gives nothing that is known, or no number, where x has lines of zeros and eps is 0, an "
                           "end of its range"}});
    snprintf(text, sizeof text, unit, "unit_above", "1e-9");
    check(ctx, text, "unit_above", 0, NULL);
    check(ctx, "op sloped(x[n]; slope: real in [0, 2] = 1) -> y[n]\n    y = x / slope\n", "sloped", 1,
          (expectation[]){
              {TK_LINT_RANGE, 2, 11, "/ gives nothing that is known, or no number, where slope is 0, an end"}});
    check(ctx, "op normed(x[r, c]) -> y[r, c]\n    y = x * rsqrt(sum[c](square(x)))\n", "normed", 1,
          (expectation[]){
              {TK_LINT_RANGE, 2, 13, "rsqrt gives nothing that is known, or no number, where x has lines of zeros"}});
    check(ctx, "op centre(x[r, c]) -> y[r]\n    y = sum[c](x) / size(c)\n", "centre", 1,
          (expectation[]){{TK_LINT_RANGE, 2, 19, "where c is 0: `where c > 0` refuses such cases"}});
    check(ctx, "op most(x[r, c]) -> y[r]\n    y = max[c](x)\n", "most", 0, NULL);
}

TEST_WITH_CONTEXT(an_index_under_the_name_of_a_size)
{
    check(
        ctx, "op ramp(x[n]) -> y[n]\n    y[n] = x * n\n", "ramp", 1,
        (expectation[]){{TK_LINT_INDEX, 2, 16, "n is the index here, 0 at the first element; the size is size(n)"}});
    check(ctx, "op ramp_of(x[n]) -> y[n]\n    y[i] = x[i] * i\n", "ramp_of", 0, NULL);
    check(ctx, "op scaled(x[n]) -> y[n]\n    y = x * size(n)\n", "scaled", 0, NULL);
}

/* Of those that are kept here, some state a difference that is lost where a row has one large logit, as their reference does; a stable form
 * of the sum over rows is another. Means of no elements are NaN, as in their references. */
TEST_WITH_CONTEXT(definitions_that_are_kept)
{
    static const struct {
        const char *op;
        int findings;
    } known[] = {{"cross_entropy", 1},
                 {"cross_entropy_bwd", 1},
                 {"cross_entropy_all", 1},
                 {"log_softmax_grad", 1},
                 {"instance_norm", 1},
                 {"batch_norm", 3},
                 {"triplet", 2},
                 {"cosine_loss", 3},
                 {"mse_bwd", 1},
                 {"huber_bwd", 1},
                 {"kl_div", 1},
                 {"hinge", 1},
                 {"layernorm_fwd", 2},
                 {"mse", 1},
                 {"huber", 1},
                 {"reduce_mean", 1},
                 {"reduce_var", 1},
                 {"rmsnorm_fwd", 1}};
    int count = 0;
    struct dirent *entry;
    char place[256];
    snprintf(place, sizeof place, "%s/src/ops/definitions", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    DIR *folder = opendir(place);
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[512], *text;
        size_t size;
        tki_definitions all;
        tki_definition_error error;
        if (!strstr(entry->d_name, ".op"))
            continue;
        snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
        assert_ok(ctx, tki_file_read(ctx, path, 1 << 16, &text, &size));
        assert_int_equal(tki_definitions_read(text, size, &all, &error), TK_OK);
        for (int i = 0; i < all.count; i++, count++) {
            tk_lint *found;
            const tk_contract *op;
            int found_count, expected = 0;
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                expected += strcmp(all.list[i].name, known[k].op) ? 0 : known[k].findings;
            assert_ok(ctx, tk_op_define(ctx, text, size, all.list[i].name, &op));
            assert_ok(ctx, tk_op_lint(ctx, op, &found, &found_count));
            if (found_count != expected)
                fail_msg("%s: %d findings: %s", all.list[i].name, found_count, found_count ? found[0].text : "");
            free(found);
        }
        tki_definitions_free(&all);
        free(text);
    }
    closedir(folder);
    assert_true(count >= 25);
}

TEST_WITH_CONTEXT(the_graph)
{
    static const char text[] = "op rms(x[r, c]; eps: real = 1e-6) -> y[r, c]\n"
                               "    s = rsqrt(mean[c](square(x)) + eps)\n"
                               "    y = x * s\n";
    const tk_contract *op;
    char *svg;
    assert_ok(ctx, tk_op_define(ctx, text, sizeof text - 1, NULL, &op));
    assert_ok(ctx, tk_op_graph(ctx, op, &svg));
    assert_non_null(strstr(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_non_null(strstr(svg, "prefers-color-scheme:dark"));
    assert_non_null(strstr(svg, "rsqrt \xe2\x86\x92 s</text>"));
    assert_non_null(strstr(svg, "* \xe2\x86\x92 y</text>"));
    assert_non_null(strstr(svg, "3:11  own ")); /* the product */
    assert_non_null(strstr(svg, "through 100.0 %"));
    free(svg);
    assert_int_equal(tk_op_graph(ctx, tk_contract_find("gelu_fwd"), &svg), TK_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_that_cancel),           cmocka_unit_test(what_is_undefined_blind_or_unused),
        cmocka_unit_test(what_is_undefined_at_an_end), cmocka_unit_test(an_index_under_the_name_of_a_size),
        cmocka_unit_test(definitions_that_are_kept),   cmocka_unit_test(the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
