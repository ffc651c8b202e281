/* An op of your own: its contract, its exact value, an implementation; then a kernel is judged by them.
 *
 * The op is y = scale x + shift over fp32. The contract is data: sizes, tensors, attributes, types, clauses. The exact value is a
 * function that encloses each element and says how far off a kernel may be. The program then certifies two kernels: one computes in
 * fp32, the other rounds through 16 bits on the way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tokitai_verify.h>

enum { X, SHIFT, Y };
enum { SCALE };

static const tk_contract contract = {
    .name = "scale_shift",
    .summary = "each row scaled and shifted",
    .formula = "y[r, c] = scale x[r, c] + shift[c]",
    .bound = "B = 2 u (|scale x| + |shift|) + 2^-149, u = 2^-24",
    .dim_count = 2,
    .dim_names = (const char *const[]){"rows", "cols"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            [X] = {.name = "x", .rank = 2, .dim = (const int[]){0, 1}, .inner_axis = -1, .may_alias = -1},
            [SHIFT] = {.name = "shift", .rank = 1, .dim = (const int[]){1}, .inner_axis = -1, .may_alias = -1},
            [Y] = {.name = "y",
                   .output = true,
                   .rank = 2,
                   .dim = (const int[]){0, 1},
                   .inner_axis = -1,
                   .may_alias = -1},
        },
    .type_count = 1,
    .types = (const tk_types[]){{TK_F32, TK_F32}},
    .attribute_count = 1,
    .attributes =
        (const tk_attribute[]){[SCALE] = {.name = "scale",
                                          .text = "the factor",
                                          .type = TK_ATTRIBUTE_REAL,
                                          .initial = {.real = 1},
                                          .least = {.real = -1024},
                                          .most = {.real = 1024},
                                          .tried_count = 3,
                                          .tried = (const tk_value[]){{.real = 0}, {.real = -3}, {.real = 0.1f}},
                                          .seen_by_kernel = true}},
    /* Those about writing, shape and repetition follow, and registration adds them. */
    .clause_count = 2,
    .clauses =
        (const tk_clause[]){
            {TK_CLAUSE_ERROR, "SCALE_SHIFT.ERR", "every y is the rounding of some value within B of the exact one"},
            {TK_CLAUSE_VALUE, "SCALE_SHIFT.SPECIAL",
             "an infinity, a NaN, or terms from 2^127 on may give infinities and NaN"},
        },
};

/* A product of two fp32 numbers is exact in double; the sum is rounded once, which the enclosure allows for. What overflows on the way is
 * left to the kernel. */
static tk_enclosure exact_value(double x, double shift, double scale)
{
    const double product = scale * x;
    const double size = fabs(product) + fabs(shift);
    const unsigned special = TK_ADMIT_NAN | TK_ADMIT_PLUS_INF | TK_ADMIT_MINUS_INF;
    if (!isfinite(size))
        return (tk_enclosure){.admits = special, .clause = 1};
    const double sum = product + shift;
    return (tk_enclosure){.lo = sum - size * 0x1p-52,
                          .hi = sum + size * 0x1p-52,
                          .bound = 2 * 0x1p-24 * size * (1 + 0x1p-40) + 0x1p-149,
                          .admits = TK_ADMIT_INTERVAL | (size < 0x1p127 ? 0 : special)};
}

static tk_status enclose(const tk_case *c, const void *const buffers[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    const float *x = buffers[X], *shift = buffers[SHIFT];
    (void)output; /* there is one */
    (void)data;
    for (int64_t i = first; i < first + count; i++)
        out[i - first] = exact_value((double)x[i], (double)shift[i % c->dims[1]], c->attributes[SCALE].real);
    return TK_OK;
}

static int in_fp32(const tk_case *c, void *const buffers[], void *data)
{
    const float *x = buffers[X], *shift = buffers[SHIFT];
    float *y = buffers[Y];
    (void)data;
    for (int64_t i = 0; i < c->dims[0] * c->dims[1]; i++)
        y[i] = (float)c->attributes[SCALE].real * x[i] + shift[i % c->dims[1]];
    return 0;
}

static int through_bf16(const tk_case *c, void *const buffers[], void *data)
{
    float *y = buffers[Y];
    in_fp32(c, buffers, data);
    for (int64_t i = 0; i < c->dims[0] * c->dims[1]; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        bits &= 0xffff0000u;
        memcpy(&y[i], &bits, sizeof bits);
    }
    return 0;
}

static int certify(tk_ctx *ctx, const tk_contract *op, const char *name, tk_kernel kernel, tk_verdict expected)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    tk_certificate *certificate;
    options.kernel = kernel;
    options.kernel_name = name;
    if (tk_certify(ctx, op, TK_F32, TK_I32 /* no indices here */, &options, &certificate) != TK_OK) {
        fprintf(stderr, "%s\n", tk_ctx_message(ctx));
        return 1;
    }
    printf("%-12s  %s\n", name, tk_certificate_headline(certificate));
    if (tk_certificate_verdict(certificate) == TK_REFUTED)
        printf("              %s\n", tk_certificate_reason(certificate));
    const int wrong = tk_certificate_verdict(certificate) != expected;
    tk_certificate_destroy(certificate);
    return wrong;
}

int main(void)
{
    tk_ctx *ctx;
    const tk_contract *op;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    const tk_implementation implementation = {.name = "plain", .run = in_fp32};
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose;
    int failed = tk_contract_register(ctx, &contract, 1, &implementation, &op) != TK_OK ||
                 tk_contract_judge_by(ctx, op, &reference) != TK_OK;
    if (failed)
        fprintf(stderr, "%s\n", tk_ctx_message(ctx));
    else
        failed = certify(ctx, op, "in_fp32", in_fp32, TK_HELD) +
                 certify(ctx, op, "through_bf16", through_bf16, TK_REFUTED);
    tk_ctx_destroy(ctx);
    return failed != 0;
}
