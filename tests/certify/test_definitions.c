/* Kernels of an op that is a definition are certified as those of any other: right ones are held, wrong ones refuted. */
#include <math.h>
#include <string.h>

#include "tests/unit_test.h"
#include "tokitai_verify.h"

static const char layernorm[] =
    "op norm(x[rows, cols], w[cols], b[cols]; eps: real in [1e-12, 1] = 1e-5) -> y[rows, cols]\n"
    "    y = standardize[cols](x, eps) * w + b\n";

typedef enum way { WELFORD, TWO_PASSES, ONE_PASS, ONE_LESS, EPS_OUTSIDE } way;

static float variance(const float *x, int64_t n, way how, float *mean)
{
    float m = 0, s = 0;
    if (how == WELFORD) {
        for (int64_t i = 0; i < n; i++) {
            const float d = x[i] - m;
            m += d / (float)(i + 1);
            s += d * (x[i] - m);
        }
    } else if (how == ONE_PASS) {
        for (int64_t i = 0; i < n; i++) {
            m += x[i];
            s += x[i] * x[i];
        }
        m /= (float)n;
        s -= (float)n * m * m;
    } else {
        for (int64_t i = 0; i < n; i++)
            m += x[i];
        m /= (float)n;
        for (int64_t i = 0; i < n; i++)
            s += (x[i] - m) * (x[i] - m);
    }
    *mean = m;
    return s / (float)(how == ONE_LESS && n > 1 ? n - 1 : n);
}

static int run(const tk_case *c, void *const buffers[], void *user_data)
{
    const way how = *(const way *)user_data;
    const int64_t cols = c->dims[1];
    const float *w = buffers[1], *b = buffers[2], eps = (float)c->attributes[0].real;
    for (int64_t row = 0; row < c->dims[0]; row++) {
        const float *x = (const float *)buffers[0] + row * cols;
        float *y = (float *)buffers[3] + row * cols, mean;
        const float v = variance(x, cols, how, &mean);
        const float scale = how == EPS_OUTSIDE ? 1 / (sqrtf(v) + eps) : 1 / sqrtf(v + eps);
        for (int64_t i = 0; i < cols; i++)
            y[i] = (x[i] - mean) * scale * w[i] + b[i];
    }
    return 0;
}

static void certify(way how, tk_verdict expected)
{
    tk_ctx *ctx;
    const tk_contract *op;
    tk_certificate *certificate;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    if (tk_op_define(ctx, layernorm, sizeof layernorm - 1, NULL, &op) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run;
    options.kernel_data = &how;
    options.kernel_name = "norm";
    if (tk_certify(ctx, op, TK_F32, TK_I32, &options, &certificate) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    if (tk_certificate_verdict(certificate) != expected)
        fail_msg("way %d: %s: %s", (int)how, tk_certificate_headline(certificate),
                 tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

TEST(right_kernels)
{
    certify(TWO_PASSES, TK_HELD);
    certify(WELFORD, TK_HELD);
}

TEST(wrong_kernels)
{
    certify(ONE_PASS, TK_REFUTED);
    certify(ONE_LESS, TK_REFUTED);
    certify(EPS_OUTSIDE, TK_REFUTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_kernels), cmocka_unit_test(wrong_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
