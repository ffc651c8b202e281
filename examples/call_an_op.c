/* Calling operations: GELU of a few numbers, then the softmax of a row of them.
 *
 * Tensors are plain arrays that belong to you. fp16 elements are passed as their 16-bit patterns; most programs have them in
 * that form already (from a file, a GPU, another library). Here they are written down by hand. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <tokitai.h>

/* The number that an fp16 pattern stands for: 1 sign bit, 5 exponent bits, 10 fraction bits. */
static double f16_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)                   /* zero and subnormal numbers */
                                   : ldexp(1024 + fraction, exponent - 25); /* all others */
    return bits & 0x8000 ? -value : value;
}

int main(void)
{
    enum { N = 6 };
    const uint16_t x[N] = {
        0xc200, /* -3 */
        0xbc00, /* -1 */
        0x0000, /*  0 */
        0x3800, /*  0.5 */
        0x3c00, /*  1 */
        0x4200, /*  3 */
    };
    uint16_t gelu[N];
    uint16_t softmax[N];

    /* A context holds the last error message and the number of threads; use one per thread of your program. */
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;

    /* Every call returns a status. When it is not TK_OK, nothing was written and the message says what was wrong. */
    tk_status status = tk_gelu_fwd(ctx, TK_F16, N, x, gelu);
    if (status == TK_OK)
        status = tk_softmax_fwd(ctx, TK_F16, 1 /* row */, N /* columns */, x, softmax);
    if (status != TK_OK) {
        fprintf(stderr, "%s: %s\n", tk_status_text(status), tk_ctx_message(ctx));
        tk_ctx_destroy(ctx);
        return 1;
    }

    printf("%10s %12s %12s\n", "x", "gelu(x)", "softmax(x)");
    double sum = 0;
    for (int i = 0; i < N; i++) {
        printf("%10.4g %12.6f %12.6f\n", f16_value(x[i]), f16_value(gelu[i]), f16_value(softmax[i]));
        sum += f16_value(softmax[i]);
    }
    printf("%10s %12s %12.6f\n", "sum", "", sum);

    /* What a failure looks like: input and output must not overlap. */
    if (tk_gelu_fwd(ctx, TK_F16, N, gelu, gelu) == TK_BAD_ARGUMENT)
        printf("\nin place: %s\n", tk_ctx_message(ctx));

    tk_ctx_destroy(ctx);
    return 0;
}
