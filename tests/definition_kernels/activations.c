/* Elementwise functions and their gradients, each right, or wrong in one way.
 *     relu.op:relu: LEAKY SIX NAN_IS_ZERO
 *     relu.op:relu_bwd: ALSO_AT_ZERO BY_GRADIENT FLIPPED
 *     silu.op:silu: HARD STEEPER FLIPPED
 *     silu.op:silu_bwd: SIGMOID_ALONE OF_Y SUBTRACTED
 *     mish.op:mish: NO_TANH PLAIN_LOG SIX
 *     mish.op:mish_bwd: TANH_ALONE NO_SIGMOID OF_Y
 *     gelu.op:gelu: TANH_FORM PLAIN_ERF STEEPER
 *     gelu.op:gelu_grad: CDF_ALONE PLAIN_ERF TANH_FORM
 *     gelu.op:gelu_tanh: ERF_FORM PLAIN_TANH ROUNDED_CONSTANT
 *     gelu.op:gelu_tanh_grad: ERF_FORM PLAIN_TANH INNER_FORGOTTEN
 *     softplus.op:softplus: PLAIN_LOG NOT_DIVIDED THRESHOLD
 *     softplus.op:softplus_bwd: TIMES_BETA WITHOUT_BETA FLIPPED
 *     dropout.op:dropout: NOT_SCALED OFFSET_IGNORED NINE_ROUNDS
 */
#include <math.h>
#include <stdint.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum {
    RIGHT,
    LEAKY,
    SIX,
    NAN_IS_ZERO,
    ALSO_AT_ZERO,
    BY_GRADIENT,
    FLIPPED,
    HARD,
    STEEPER,
    SIGMOID_ALONE,
    OF_Y,
    SUBTRACTED,
    NO_TANH,
    PLAIN_LOG,
    TANH_ALONE,
    NO_SIGMOID,
    TANH_FORM,
    PLAIN_ERF,
    CDF_ALONE,
    ERF_FORM,
    PLAIN_TANH,
    ROUNDED_CONSTANT,
    INNER_FORGOTTEN,
    NOT_DIVIDED,
    THRESHOLD,
    TIMES_BETA,
    WITHOUT_BETA,
    NOT_SCALED,
    OFFSET_IGNORED,
    NINE_ROUNDS
};

static float at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static void put(const tokitai_tensor3 *t, int64_t i, float value)
{
    tokitai_store_as(t->dtype, t->data, i, value);
}

#define FUNCTION(op)                                                            \
    TOKITAI_KERNEL3(op)                                                         \
    {                                                                           \
        for (int64_t i = 0; i < call->tensors[0].shape[0]; i++)                 \
            put(&call->tensors[1], i, of_##op(call, at(&call->tensors[0], i))); \
        return 0;                                                               \
    }
#define GRADIENT(name, op)                                                                                           \
    TOKITAI_KERNEL3(name)                                                                                            \
    {                                                                                                                \
        for (int64_t i = 0; i < call->tensors[0].shape[0]; i++)                                                      \
            put(&call->tensors[2], i,                                                                                \
                at(&call->tensors[0], i) * slope_of_##op(call, at(&call->tensors[1], i), at(&call->tensors[0], i))); \
        return 0;                                                                                                    \
    }
#define ARGUMENTS TOKITAI_UNUSED const tokitai_call3 *call, float x
#define GRADIENT_ARGUMENTS ARGUMENTS, TOKITAI_UNUSED float g

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static float of_relu(ARGUMENTS)
{
    if (WRONG == NAN_IS_ZERO)
        return fmaxf(x, 0);
    if (WRONG == LEAKY && x < 0)
        return 0.01f * x;
    if (WRONG == SIX && x > 6)
        return 6;
    return x < 0 ? 0 : x;
}

TOKITAI_KERNEL3(relu_bwd)
{
    for (int64_t i = 0; i < call->tensors[0].shape[0]; i++) {
        const float g = at(&call->tensors[0], i), x = at(&call->tensors[1], i);
        const int passes = WRONG == ALSO_AT_ZERO  ? x >= 0
                           : WRONG == BY_GRADIENT ? g > 0
                           : WRONG == FLIPPED     ? x < 0
                                                  : x > 0;
        put(&call->tensors[2], i, passes ? g : 0);
    }
    return 0;
}

static float of_silu(ARGUMENTS)
{
    if (WRONG == HARD)
        return x * fminf(fmaxf(x + 3, 0), 6) / 6;
    return x * sigmoid(WRONG == STEEPER ? 1.0001f * x : WRONG == FLIPPED ? -x : x);
}

static float slope_of_silu(GRADIENT_ARGUMENTS)
{
    const float s = sigmoid(x), rest = WRONG == SUBTRACTED ? (float)(_Float16)(1 - s) : sigmoid(-x);
    return WRONG == SIGMOID_ALONE ? s : s * (1 + (WRONG == OF_Y ? x * s : x) * rest);
}

/* tanh(log(1 + w)) = (w^2 + 2w) / (w^2 + 2w + 2) */
static float of_mish(ARGUMENTS)
{
    const float w = expf(x), n = w * (w + 2);
    if (WRONG == NO_TANH)
        return x * log1pf(w);
    if (WRONG == PLAIN_LOG)
        return x * tanhf(logf(1 + w));
    return x > 20 || (WRONG == SIX && x > 6) ? x : x * (n / (n + 2));
}

static float slope_of_mish(GRADIENT_ARGUMENTS)
{
    const float w = expf(x), n = w * (w + 2), t = n / (n + 2), bell = 4 * w * (1 + w) / ((n + 2) * (n + 2));
    if (WRONG == TANH_ALONE)
        return t;
    if (x > 20)
        return x < INFINITY ? 1 : NAN;
    return t + (WRONG == OF_Y ? x * t : x) * (WRONG == NO_SIGMOID ? bell * (1 + w) / (w + (w == 0)) : bell);
}

static float tanh_form(float x, float cubic)
{
    return 0.5f * x * (1 + tanhf(0.79788456f * (x + cubic * x * x * x)));
}

static float of_gelu(ARGUMENTS)
{
    if (WRONG == TANH_FORM)
        return tanh_form(x, 0.044715f);
    if (WRONG == PLAIN_ERF)
        return 0.5f * x * (1 + erff(x * 0.70710678f));
    if (WRONG == STEEPER)
        return x * sigmoid(1.702f * x);
    return 0.5f * x * erfcf(-0.70710678f * x);
}

static float slope_of_gelu(GRADIENT_ARGUMENTS)
{
    const float bell = 0.39894228f * expf(-0.5f * x * x);
    if (WRONG == TANH_FORM) {
        const float t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
        return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.79788456f * (1 + 0.134145f * x * x);
    }
    const float cdf = WRONG == PLAIN_ERF ? 0.5f * (1 + erff(x * 0.70710678f)) : 0.5f * erfcf(-0.70710678f * x);
    return WRONG == CDF_ALONE ? cdf : cdf + x * bell;
}

static float of_gelu_tanh(ARGUMENTS)
{
    if (WRONG == ERF_FORM)
        return 0.5f * x * erfcf(-0.70710678f * x);
    if (WRONG == PLAIN_TANH)
        return tanh_form(x, 0.044715f);
    return x * sigmoid(1.5957691f * x * (1 + (WRONG == ROUNDED_CONSTANT ? 0.045f : 0.044715f) * x * x));
}

static float slope_of_gelu_tanh(GRADIENT_ARGUMENTS)
{
    const float z = 1.5957691f * x * (1 + 0.044715f * x * x), t = tanhf(0.5f * z);
    const float dz = WRONG == INNER_FORGOTTEN ? 1.5957691f : 1.5957691f * (1 + 0.134145f * x * x);
    if (WRONG == ERF_FORM)
        return 0.5f * erfcf(-0.70710678f * x) + x * 0.39894228f * expf(-0.5f * x * x);
    if (WRONG == PLAIN_TANH)
        return 0.5f * (1 + t) + 0.25f * x * (1 - t * t) * dz;
    return sigmoid(z) * (1 + x * dz * sigmoid(-z));
}

static float of_softplus(ARGUMENTS)
{
    const float beta = (float)tokitai_real3(call, "beta"), z = beta * x;
    if (WRONG == PLAIN_LOG)
        return logf(1 + expf(z)) / beta;
    if (WRONG == THRESHOLD && z > 5)
        return x;
    const float y = (z > 0 ? z : 0) + log1pf(expf(-fabsf(z)));
    return WRONG == NOT_DIVIDED ? y : y / beta;
}

static float slope_of_softplus(GRADIENT_ARGUMENTS)
{
    const float beta = (float)tokitai_real3(call, "beta");
    const float s = sigmoid(WRONG == WITHOUT_BETA ? x : WRONG == FLIPPED ? -beta * x : beta * x);
    return WRONG == TIMES_BETA ? beta * s : s;
}

FUNCTION(relu)
FUNCTION(silu)
FUNCTION(mish)
FUNCTION(gelu)
FUNCTION(gelu_tanh)
FUNCTION(softplus)
GRADIENT(silu_bwd, silu)
GRADIENT(mish_bwd, mish)
GRADIENT(gelu_grad, gelu)
GRADIENT(gelu_tanh_grad, gelu_tanh)
GRADIENT(softplus_bwd, softplus)

static uint32_t philox(uint64_t key, uint64_t word)
{
    uint32_t c[4] = {(uint32_t)(word / 4), (uint32_t)(word / 4 >> 32), 0, 0}, k0 = (uint32_t)key,
             k1 = (uint32_t)(key >> 32);
    for (int round = WRONG == NINE_ROUNDS; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)a;
    }
    return c[word % 4];
}

TOKITAI_KERNEL3(dropout)
{
    const double p = tokitai_real3(call, "p");
    const uint64_t key = (uint64_t)tokitai_integer3(call, "seed"),
                   offset = (uint64_t)tokitai_integer3(call, "offset");
    for (int64_t i = 0; i < call->tensors[0].shape[0]; i++) {
        const int kept = philox(key, (uint64_t)i + (WRONG == OFFSET_IGNORED ? 0 : offset)) >= floor(p * 4294967296.0);
        const float x = at(&call->tensors[0], i);
        put(&call->tensors[1], i, !kept ? 0 : WRONG == NOT_SCALED ? x : x / (float)(1 - p));
    }
    return 0;
}
