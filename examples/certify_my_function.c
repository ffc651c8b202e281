/* Certifying a function of your own: the gradient of GELU, written twice.
 *
 * The first is the way in which it is usually written, with tanh; on random inputs it looks fine. The second avoids the place
 * where 1 + tanh and 1 - tanh^2 lose all their digits. tk_certify() runs both on inputs chosen to find mistakes and judges
 * every element against the exact result. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tokitai_verify.h>

static const float c = 0.79788456f; /* sqrt(2 / pi) */
static const float a = 0.044715f;

/* Beyond this the function is 0 or x in fp32; without it x^3 would overflow. NaN stays NaN. */
static float bounded(float x)
{
    return x > 15 ? 15 : x < -15 ? -15 : x;
}

/* The derivative of 0.5 x (1 + tanh(c (x + a x^3))), straight from the textbook. */
static float derivative_with_tanh(float x)
{
    x = bounded(x);
    float t = tanhf(c * (x + a * x * x * x));
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * c * (1 + 3 * a * x * x);
}

/* The same with sigma = 1 / (1 + exp(-2z)), z = c (x + a x^3): sigma (1 + (1 - sigma) h), h = 2 c x (1 + 3 a x^2). The
 * exponential only ever gets -|2z|, so that neither sigma nor 1 - sigma overflows or cancels. */
static float derivative_with_sigma(float x)
{
    x = bounded(x);
    float two_z = 2 * c * x * (1 + a * x * x);
    float e = expf(-fabsf(two_z));
    float large = 1 / (1 + e);
    float small = e / (1 + e);
    float sigma = two_z > 0 ? large : small;
    float one_minus_sigma = two_z > 0 ? small : large;
    float h = 2 * c * x * (1 + 3 * a * x * x);
    return sigma * (1 + one_minus_sigma * h);
}

/* bf16 is the upper half of fp32, so that reading it is a shift and writing it is a rounding to nearest even. */
static float read_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t write_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The kernel: buffers are the op's parameters in order, here grad_output, x and grad_input, of n elements each. `data` is what
 * was passed as kernel_data. The case is always one that was asked for below: gelu_bwd in bf16. */
typedef float (*derivative_function)(float);

static int my_gelu_bwd(const tk_case *kase, void *const buffers[], void *data)
{
    const derivative_function *derivative = data;
    const uint16_t *grad_output = buffers[0]; /* [n] */
    const uint16_t *x = buffers[1];           /* [n] */
    uint16_t *grad_input = buffers[2];        /* [n] */
    for (int64_t i = 0; i < kase->dims[0]; i++)
        grad_input[i] = write_bf16(read_bf16(grad_output[i]) * (*derivative)(read_bf16(x[i])));
    return 0;
}

static tk_verdict certify(tk_ctx *ctx, const char *name, derivative_function derivative)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = my_gelu_bwd;
    options.kernel_data = &derivative;
    options.kernel_name = name;
    tk_certificate *certificate;
    tk_status status = tk_certify(ctx, tk_contract_find("gelu_bwd"), TK_BF16, TK_I32 /* no indices here */, &options,
                                  &certificate);
    if (status != TK_OK) {
        fprintf(stderr, "%s: %s: %s\n", name, tk_status_text(status), tk_ctx_message(ctx));
        return TK_UNKNOWN;
    }
    tk_verdict verdict = tk_certificate_verdict(certificate);
    printf("%s: %s, %lld elements judged\n", name, tk_verdict_name(verdict),
           (long long)tk_certificate_elements(certificate));
    if (verdict == TK_REFUTED) {
        printf("    why        %s\n", tk_certificate_reason(certificate));
        printf("    reproduce  %s\n", tk_certificate_reproduce(certificate));
    } else {
        int rejected;
        int planted = tk_certificate_mutants(certificate, &rejected);
        printf("    %.0f %% of the error bound used; the same judge rejected %d of %d mutants\n",
               100 * tk_certificate_bound_used(certificate), rejected, planted);
        /* tk_certificate_write() would keep it; tk_certificate_markdown() is the report for people. */
    }
    tk_certificate_destroy(certificate);
    return verdict;
}

int main(void)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    tk_verdict bad = certify(ctx, "gelu_bwd with tanh", derivative_with_tanh);
    tk_verdict good = certify(ctx, "gelu_bwd with sigma", derivative_with_sigma);
    tk_ctx_destroy(ctx);
    return good == TK_HELD && bad == TK_REFUTED ? 0 : 1;
}
