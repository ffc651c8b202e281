/* The definitions that are kept, each against a formula of its own at 300 bits, which knows neither their text nor the interpreter: the exact value lies
 * in the enclosure, and of infinities and NaN the interpreter admits what the formula gives. Gradients are difference quotients of the formula of
 * their op, but where they take its rounded outputs, or are about ties. */
#include <stdio.h>

#include "tests/interpret/instance.h"

enum { BITS = 300, ROOM = 1 << 16, STEP_BITS = 80, DRAWS = 12 };

/* -- Numbers that are made and forgotten ------------------------------------------------------------------------------- */

typedef mpfr_ptr number;

static mpfr_t pool[ROOM];
static int used;

static number fresh(void)
{
    assert_true(used < ROOM);
    return pool[used++];
}

#define BINARY(name, by)                   \
    static number name(number a, number b) \
    {                                      \
        number y = fresh();                \
        by(y, a, b, MPFR_RNDN);            \
        return y;                          \
    }
#define UNARY(name, by)          \
    static number name(number a) \
    {                            \
        number y = fresh();      \
        by(y, a, MPFR_RNDN);     \
        return y;                \
    }
BINARY(plus, mpfr_add)
BINARY(minus, mpfr_sub)
BINARY(times, mpfr_mul)
BINARY(over, mpfr_div)
UNARY(negative, mpfr_neg)
UNARY(root, mpfr_sqrt)
UNARY(exponential, mpfr_exp)
UNARY(logarithm, mpfr_log)
UNARY(log_of_more, mpfr_log1p)
UNARY(erfc_of, mpfr_erfc)

static number real(double value)
{
    number y = fresh();
    mpfr_set_d(y, value, MPFR_RNDN);
    return y;
}

static number logistic(number x)
{
    return over(real(1), plus(real(1), exponential(negative(x))));
}

/* -- What a formula sees: inputs, sizes and attributes by their names ------------------------------------------------------------- */

static instance it;
static struct {
    const char *name;
    int64_t element;
    int sign; /* times 2^-STEP_BITS */
} moved;

static int param(const char *name)
{
    for (int p = 0; p < it.d->param_count; p++)
        if (!strcmp(it.d->tensors[it.d->params[p]].name, name))
            return p;
    return -1;
}

/* An input that a gradient does not depend on is 0. */
static number in(const char *name, int64_t i)
{
    number y = real(param(name) < 0 ? 0 : (double)((const float *)it.buffers[param(name)])[i]);
    if (moved.sign && i == moved.element && !strcmp(name, moved.name))
        mpfr_add_d(y, y, ldexp(moved.sign, -STEP_BITS), MPFR_RNDN);
    return y;
}

static int64_t whole(const char *name, int64_t i)
{
    return ((const int32_t *)it.buffers[param(name)])[i];
}

static int64_t size(const char *name)
{
    for (int i = 0; i < it.d->size_count; i++)
        if (!strcmp(it.d->sizes[i].name, name))
            return it.c.dims[i];
    fail_msg("no size %s", name);
    return 0;
}

static tk_value attribute(const char *name)
{
    for (int i = 0; i < it.d->attribute_count; i++)
        if (!strcmp(it.d->attributes[i].name, name))
            return it.c.attributes[i];
    return (tk_value){.integer = 0};
}

/* -- Formulas: an element of an output ------------------------------------------------------------------------------------ */

static number relu(int64_t e)
{
    number x = in("x", e);
    return mpfr_sgn(x) < 0 ? real(0) : x;
}

static number silu(int64_t e)
{
    number x = in("x", e);
    return over(x, plus(real(1), exponential(negative(x))));
}

/* (1 + w)^2 = w (w + 2) + 1 */
static number mish(int64_t e)
{
    number x = in("x", e), w = exponential(x), square = times(w, plus(w, real(2)));
    return mpfr_cmp_ui(x, 1 << 20) > 0 ? x : times(x, over(square, plus(square, real(2))));
}

static number gelu(int64_t e)
{
    number x = in("x", e);
    return times(over(x, real(2)), erfc_of(over(negative(x), root(real(2)))));
}

static number gelu_tanh(int64_t e)
{
    number x = in("x", e), pi = fresh();
    mpfr_const_pi(pi, MPFR_RNDN);
    number cubic = times(over(real(44715), real(1e6)), times(x, times(x, x)));
    return times(x, logistic(times(root(over(real(8), pi)), plus(x, cubic))));
}

static number softplus(int64_t e)
{
    number beta = real(attribute("beta").real), z = times(beta, in("x", e));
    return over(mpfr_cmp_ui(z, 1 << 20) > 0 ? z : log_of_more(exponential(z)), beta);
}

/* NaN, +inf, or nothing but -inf. */
static bool row_is_nan(int64_t r)
{
    bool all = true, bad = false;
    for (int64_t c = 0; c < size("cols"); c++) {
        number x = in("x", r * size("cols") + c);
        bad |= mpfr_nan_p(x) || (mpfr_inf_p(x) && mpfr_sgn(x) > 0);
        all &= mpfr_inf_p(x) && mpfr_sgn(x) < 0;
    }
    return bad || all;
}

/* The sum over a row of exp(x_j - x_e): 1 / softmax. */
static number ratio_sum(int64_t r, int64_t e)
{
    number sum = real(0);
    if (row_is_nan(r))
        return real(NAN);
    for (int64_t c = 0; c < size("cols"); c++) {
        number x = in("x", r * size("cols") + c);
        if (!mpfr_inf_p(x))
            sum = plus(sum, exponential(minus(x, in("x", e))));
    }
    return sum;
}

static number softmax(int64_t e)
{
    return over(real(1), ratio_sum(e / size("cols"), e));
}

static number log_softmax(int64_t e)
{
    return negative(logarithm(ratio_sum(e / size("cols"), e)));
}

static number cross_entropy(int64_t r)
{
    return logarithm(ratio_sum(r, r * size("cols") + whole("target", r)));
}

static number cross_entropy_all(int64_t e)
{
    number sum = real((double)e);
    for (int64_t r = 0; r < size("rows"); r++)
        sum = plus(sum, cross_entropy(r));
    return attribute("reduction").integer == 0 ? over(sum, real((double)size("rows"))) : sum;
}

static number cumsum(int64_t e)
{
    number sum = real(0);
    for (int64_t i = e / size("cols") * size("cols"); i <= e; i++)
        sum = plus(sum, in("x", i));
    return sum;
}

static number embedding(int64_t e)
{
    return in("w", whole("index", e / size("d")) * size("d") + e % size("d"));
}

static number row_mean(int64_t r)
{
    number sum = real(0);
    for (int64_t c = 0; c < size("cols"); c++)
        sum = plus(sum, in("x", r * size("cols") + c));
    return over(sum, real((double)size("cols")));
}

/* By all differences of two elements: their squares make 2 n^2 times the variance. */
static number row_rstd(int64_t r)
{
    const int64_t n = size("cols");
    number sum = real(0);
    for (int64_t i = 0; i < n * n; i++) {
        number difference = minus(in("x", r * n + i / n), in("x", r * n + i % n));
        sum = plus(sum, times(difference, difference));
    }
    number variance = over(sum, real(2.0 * (double)(n * n)));
    return over(real(1), root(plus(variance, real(attribute("eps").real))));
}

static number layernorm(int64_t e)
{
    const int64_t r = e / size("cols"), c = e % size("cols");
    return plus(times(times(minus(in("x", e), row_mean(r)), row_rstd(r)), in("w", c)), in("b", c));
}

static number rms_rstd(int64_t r)
{
    number n = real((double)size("cols")), sum = times(n, real(attribute("eps").real));
    for (int64_t c = 0; c < size("cols"); c++)
        sum = plus(sum, times(in("x", r * size("cols") + c), in("x", r * size("cols") + c)));
    return root(over(n, sum));
}

static number rmsnorm(int64_t e)
{
    return times(times(in("x", e), rms_rstd(e / size("cols"))), in("w", e % size("cols")));
}

static number matmul(int64_t e)
{
    number sum = real(0);
    for (int64_t k = 0; k < size("k"); k++)
        sum = plus(sum, times(in("a", e / size("n") * size("k") + k), in("b", k * size("n") + e % size("n"))));
    return sum;
}

static number conv2d(int64_t e)
{
    const int64_t q = e % size("q"), p = e / size("q") % size("p"), o = e / (size("q") * size("p")) % size("o");
    const int64_t n = e / (size("q") * size("p") * size("o")), group = o / (size("o") / attribute("groups").integer);
    const int64_t stride = attribute("stride").integer, pad = attribute("pad").integer,
                  dilation = attribute("dilation").integer;
    number sum = attribute("bias").integer ? in("b", o) : real(0);
    for (int64_t d = 0; d < size("d"); d++)
        for (int64_t r = 0; r < size("r"); r++)
            for (int64_t s = 0; s < size("s"); s++) {
                const int64_t i = p * stride + r * dilation - pad, j = q * stride + s * dilation - pad;
                const bool inside = i >= 0 && i < size("h") && j >= 0 && j < size("w");
                const int64_t place = ((n * size("c") + group * size("d") + d) * size("h") + i) * size("w") + j;
                sum = plus(sum, times(inside ? in("x", place) : real(0),
                                      in("k", ((o * size("d") + d) * size("r") + r) * size("s") + s)));
            }
    return sum;
}

static number score_of(int64_t row, int64_t u)
{
    const int64_t depth = size("d");
    number score = real(0);
    for (int64_t d = 0; d < depth; d++)
        score = plus(score, times(in("q", row * depth + d), in("k", u * depth + d)));
    return times(score, real(attribute("scale").real));
}

/* Less the largest score: exponentials of what is far from 0 have no number. */
static number attention(int64_t e)
{
    const int64_t width = size("e"), row = e / width, t = row % size("t"), first = row / size("t") * size("u");
    const int64_t end = first + (t + 1 < size("u") ? t + 1 : size("u"));
    number weights = real(0), sum = real(0), most = score_of(row, first);
    for (int64_t u = first + 1; u < end; u++)
        if (mpfr_greater_p(score_of(row, u), most))
            most = score_of(row, u);
    for (int64_t u = first; u < end; u++) {
        number weight = exponential(minus(score_of(row, u), most));
        weights = plus(weights, weight);
        sum = plus(sum, times(weight, in("v", u * width + e % width)));
    }
    return over(sum, weights);
}

/* The place of the first largest element of a window, -1 for none; NaN is the largest. */
static int64_t pooled_place(int64_t e)
{
    const int64_t window = attribute("window").integer, stride = attribute("stride").integer,
                  pad = attribute("pad").integer;
    const int64_t q = size("q"), p = size("p"), plane = e / (p * q) * size("h") * size("w");
    int64_t best = -1;
    for (int64_t t = 0; t < window * window; t++) {
        const int64_t i = e / q % p * stride + t / window - pad, j = e % q * stride + t % window - pad,
                      place = plane + i * size("w") + j;
        if (i < 0 || i >= size("h") || j < 0 || j >= size("w"))
            continue;
        if (best < 0 || mpfr_greater_p(in("x", place), in("x", best)) || mpfr_nan_p(in("x", place)))
            best = place;
    }
    return best;
}

static number max_pool2d(int64_t e)
{
    return in("x", pooled_place(e));
}

static number max_pool2d_grad(int64_t e)
{
    const int64_t all = size("n") * size("c") * size("p") * size("q");
    number sum = real(0);
    for (int64_t i = 0; i < all; i++)
        if (pooled_place(i) == e)
            sum = plus(sum, in("grad_y", i));
    return sum;
}

static uint32_t philox(uint64_t key, uint64_t word)
{
    uint32_t c0 = (uint32_t)(word / 4), c1 = (uint32_t)(word / 4 >> 32), c2 = 0, c3 = 0, k0 = (uint32_t)key,
             k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t low = UINT64_C(0xD2511F53) * c0, high = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(high >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(low >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)high;
        c3 = (uint32_t)low;
    }
    return (uint32_t[]){c0, c1, c2, c3}[word % 4];
}

static number dropout(int64_t e)
{
    const double p = attribute("p").real;
    const bool kept = philox((uint64_t)attribute("seed").integer, (uint64_t)(e + attribute("offset").integer)) >=
                      floor(ldexp(p, 32));
    return kept ? over(in("x", e), minus(real(1), real(p))) : real(0);
}

/* The place of the j-th largest: so many are larger, or equal and before it. */
static int64_t ranked(int64_t r, int64_t rank)
{
    const int64_t n = size("cols");
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) {
            const int order = mpfr_cmp(in("x", r * n + j), in("x", r * n + i));
            before += order > 0 || (order == 0 && j < i);
        }
        if (before == rank)
            return i;
    }
    return -1;
}

static number topk_index(int64_t e)
{
    return real((double)ranked(e / size("k"), e % size("k")));
}

static number topk_value(int64_t e)
{
    const int64_t r = e / size("k");
    return in("x", r * size("cols") + ranked(r, e % size("k")));
}

static number argmax(int64_t r)
{
    return real((double)ranked(r, 0));
}

static number relu_grad(int64_t e)
{
    return mpfr_cmp_ui(in("x", e), 0) > 0 ? in("grad_y", e) : real(0);
}

/* sum of a_j b_j over a row */
static number row_dot(int64_t r, const char *a, const char *b)
{
    const int64_t n = size("cols");
    number sum = real(0);
    for (int64_t i = r * n; i < (r + 1) * n; i++)
        sum = plus(sum, b ? times(in(a, i), in(b, i)) : in(a, i));
    return sum;
}

static number softmax_grad(int64_t e)
{
    return times(in("y", e), minus(in("grad_y", e), row_dot(e / size("cols"), "grad_y", "y")));
}

static number log_softmax_grad(int64_t e)
{
    return minus(in("grad_y", e), times(exponential(in("y", e)), row_dot(e / size("cols"), "grad_y", NULL)));
}

/* x, centred if there is a mean, times rstd */
static number normalised(int64_t e)
{
    const int64_t r = e / size("cols");
    return times(param("mean_x") < 0 ? in("x", e) : minus(in("x", e), in("mean_x", r)), in("rstd", r));
}

/* rstd (g - (sum of g if centred + n sum of g n) / count) */
static number norm_grad_x(int64_t e)
{
    const int64_t count = size("cols"), r = e / count;
    number sum = real(0), dot = real(0);
    for (int64_t i = r * count; i < (r + 1) * count; i++) {
        number g = times(in("grad_y", i), in("w", i % count));
        sum = plus(sum, g);
        dot = plus(dot, times(g, normalised(i)));
    }
    number all = times(normalised(e), dot);
    number g = times(in("grad_y", e), in("w", e % count));
    return times(in("rstd", r), minus(g, over(param("mean_x") < 0 ? all : plus(sum, all), real((double)count))));
}

static number norm_grad_w(int64_t c)
{
    number sum = real(0);
    for (int64_t e = c; e < size("rows") * size("cols"); e += size("cols"))
        sum = plus(sum, times(in("grad_y", e), normalised(e)));
    return sum;
}

static number conv2d_grad_b(int64_t o)
{
    const int64_t plane = size("p") * size("q");
    number sum = real(0);
    for (int64_t e = 0; e < size("n") * size("o") * plane; e++)
        sum = e / plane % size("o") == o ? plus(sum, in("grad_y", e)) : sum;
    return sum;
}

static number norm_grad_b(int64_t c)
{
    number sum = real(0);
    for (int64_t e = c; e < size("rows") * size("cols"); e += size("cols"))
        sum = plus(sum, in("grad_y", e));
    return sum;
}

/* -- The table ---------------------------------------------------------------------------------------------------------- */

typedef number formula(int64_t element);

/* Which inputs there are beside ordinary ones: infinities and NaN, huge numbers; what is pooled as the gradient of pooling takes it. */
enum { SPECIAL = 1, HUGE_INPUTS = 2, TIES = 4 };

/* `of`: the output is grad_x, and the formula is of that output, of which grad_x is the gradient. Sizes and attributes are by their names. */
static const struct row {
    const char *op, *output;
    formula *by;
    const char *of;
    int how;
    const char *sizes;
} rows[] = {
    {"relu", "y", relu, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"silu", "y", silu, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"mish", "y", mish, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"gelu", "y", gelu, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"gelu_tanh", "y", gelu_tanh, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"softplus", "y", softplus, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"relu_bwd", "grad_x", relu_grad, NULL, SPECIAL | HUGE_INPUTS, "n=9"},
    {"silu_bwd", "grad_x", silu, "y", 0, "n=9"},
    {"mish_bwd", "grad_x", mish, "y", 0, "n=9"},
    {"gelu_grad", "grad_x", gelu, "y", 0, "n=9"},
    {"gelu_tanh_grad", "grad_x", gelu_tanh, "y", 0, "n=9"},
    {"softplus_bwd", "grad_x", softplus, "y", 0, "n=9"},
    {"softmax", "y", softmax, NULL, SPECIAL, "rows=3 cols=5"},
    {"log_softmax", "y", log_softmax, NULL, SPECIAL, "rows=3 cols=5"},
    {"softmax_grad", "grad_x", softmax_grad, NULL, SPECIAL | HUGE_INPUTS, "rows=3 cols=5"},
    {"log_softmax_grad", "grad_x", log_softmax_grad, NULL, SPECIAL, "rows=3 cols=5"},
    {"cross_entropy", "loss", cross_entropy, NULL, SPECIAL, "rows=3 cols=5"},
    {"cross_entropy_bwd", "grad_x", cross_entropy, "loss", 0, "rows=3 cols=5"},
    {"cross_entropy_all", "loss", cross_entropy_all, NULL, SPECIAL, "rows=3 cols=5"},
    {"cross_entropy_all", "loss", cross_entropy_all, NULL, SPECIAL, "rows=3 cols=5 reduction=1"},
    {"cumsum", "y", cumsum, NULL, SPECIAL | HUGE_INPUTS, "rows=3 cols=5"},
    {"cumsum_bwd", "grad_x", cumsum, "y", 0, "rows=3 cols=5"},
    {"embedding", "y", embedding, NULL, SPECIAL | HUGE_INPUTS, "q=6 v=4 d=3"},
    {"embedding_grad", "grad_w", embedding, "y", 0, "q=6 v=4 d=3"},
    {"layernorm_fwd", "y", layernorm, NULL, SPECIAL, "rows=3 cols=5"},
    {"layernorm_fwd", "mean_x", row_mean, NULL, SPECIAL | HUGE_INPUTS, "rows=3 cols=5"},
    {"layernorm_fwd", "rstd", row_rstd, NULL, SPECIAL, "rows=3 cols=5"},
    {"layernorm_bwd", "grad_x", norm_grad_x, NULL, 0, "rows=3 cols=5"},
    {"layernorm_bwd", "grad_w", norm_grad_w, NULL, SPECIAL, "rows=3 cols=5"},
    {"layernorm_bwd", "grad_b", norm_grad_b, NULL, SPECIAL, "rows=3 cols=5"},
    {"rmsnorm_fwd", "y", rmsnorm, NULL, SPECIAL, "rows=3 cols=5"},
    {"rmsnorm_fwd", "rstd", rms_rstd, NULL, SPECIAL, "rows=3 cols=5"},
    {"rmsnorm_bwd", "grad_x", norm_grad_x, NULL, 0, "rows=3 cols=5"},
    {"rmsnorm_bwd", "grad_w", norm_grad_w, NULL, SPECIAL, "rows=3 cols=5"},
    {"matmul", "c", matmul, NULL, SPECIAL | HUGE_INPUTS, "m=3 n=2 k=4"},
    {"matmul_bwd", "grad_a", matmul, "c", 0, "m=3 n=2 k=4"},
    {"matmul_bwd", "grad_b", matmul, "c", 0, "m=3 n=2 k=4"},
    {"conv2d", "y", conv2d, NULL, SPECIAL | HUGE_INPUTS,
     "n=2 c=4 h=5 w=6 o=2 r=3 s=2 stride=2 pad=1 groups=2 bias=1"},
    {"conv2d", "y", conv2d, NULL, SPECIAL, "n=1 c=2 h=7 w=5 o=3 r=3 s=2 dilation=2 bias=0"},
    {"conv2d_bwd", "grad_x", conv2d, "y", 0, "n=2 c=4 h=5 w=6 o=2 r=3 s=2 stride=2 pad=1 groups=2 bias=1"},
    {"conv2d_bwd", "grad_k", conv2d, "y", 0, "n=2 c=4 h=5 w=6 o=2 r=3 s=2 stride=2 pad=1 groups=2 bias=1"},
    {"conv2d_bwd", "grad_b", conv2d_grad_b, NULL, SPECIAL,
     "n=2 c=4 h=5 w=6 o=2 r=3 s=2 stride=2 pad=1 groups=2 bias=1"},
    {"conv2d_bwd", "grad_x", conv2d, "y", 0, "n=1 c=2 h=7 w=5 o=3 r=3 s=2 dilation=2 bias=0"},
    {"conv2d_bwd", "grad_k", conv2d, "y", 0, "n=1 c=2 h=7 w=5 o=3 r=3 s=2 dilation=2 bias=0"},
    {"attention_causal", "o", attention, NULL, 0, "b=2 t=4 d=3 u=5 e=2"},
    {"attention_causal", "o", attention, NULL, 0, "b=2 t=5 d=3 u=2 e=1"},
    {"attention_causal_bwd", "grad_q", attention, "o", 0, "b=2 t=4 d=3 u=5 e=2"},
    {"attention_causal_bwd", "grad_k", attention, "o", 0, "b=2 t=5 d=3 u=2 e=1"},
    {"attention_causal_bwd", "grad_v", attention, "o", 0, "b=2 t=4 d=3 u=5 e=2"},
    {"max_pool2d", "y", max_pool2d, NULL, SPECIAL | HUGE_INPUTS, "n=1 c=2 h=6 w=5 window=3 pad=1"},
    {"max_pool2d_bwd", "grad_x", max_pool2d_grad, NULL, TIES, "n=1 c=2 h=6 w=5 window=3 pad=1"},
    {"max_pool2d_bwd", "grad_x", max_pool2d_grad, NULL, TIES, "n=2 c=1 h=7 w=5 window=2"},
    {"dropout", "y", dropout, NULL, SPECIAL | HUGE_INPUTS, "n=50 seed=7 offset=1000003"},
    {"topk", "value", topk_value, NULL, HUGE_INPUTS, "rows=3 cols=7 count=3"},
    {"topk", "index", topk_index, NULL, HUGE_INPUTS, "rows=3 cols=7 count=3"},
    {"argmax", "index", argmax, NULL, HUGE_INPUTS, "rows=3 cols=7"},
};

static const struct row *row;
static struct {
    int64_t elements, special, unknown;
} seen;

/* `name=value`, by the attribute or the size of that name. */
static void read_sizes(const char *text, int64_t dims[], tk_value attributes[])
{
    for (int i = 0; i < it.d->attribute_count; i++)
        attributes[i] = it.d->attributes[i].initial;
    while (*text) {
        char name[32];
        long long value;
        int length, found = 0;
        assert_int_equal(sscanf(text, " %31[a-z]=%lld%n", name, &value, &length), 2);
        for (int i = 0; i < it.d->size_count; i++)
            if (!strcmp(it.d->sizes[i].name, name))
                dims[i] = value, found++;
        for (int i = 0; i < it.d->attribute_count; i++)
            if (!strcmp(it.d->attributes[i].name, name))
                attributes[i].integer = value, found++;
        assert_int_equal(found, 1);
        text += length;
    }
}

static void open_instance(void)
{
    const char *text = tk_definition_find(row->op);
    int64_t dims[TK_MAX_DIMS] = {0};
    tk_value attributes[TK_MAX_ATTRIBUTES];
    assert_non_null(text);
    read_instance(&it, text);
    it.d = NULL;
    for (int i = 0; i < it.made.count; i++)
        if (!strcmp(it.made.list[i].name, row->op))
            it.d = &it.made.list[i];
    assert_non_null(it.d);
    read_sizes(row->sizes, dims, attributes);
    assert_true(settle_as(&it, dims, TK_F32, TK_I32, attributes));
}

/* Beside the family: special values, ranges; and of pooling what it gives. */
static void finish_inputs(bool special)
{
    for (int p = 0; p < it.d->input_count; p++) {
        const tki_def_tensor *t = &it.d->tensors[it.d->params[p]];
        float *data = it.buffers[p];
        for (int64_t i = 0; i < tk_case_elements(&it.c, p) && !t->integer; i++) {
            if (special && !t->ranged && below(6) == 0)
                data[i] = ((float[]){NAN, INFINITY, -INFINITY, 0})[below(4)];
            if (t->ranged)
                data[i] = 0.25f + fabsf(data[i]);
        }
    }
    if (row->how & TIES)
        for (int64_t i = 0; i < tk_case_elements(&it.c, param("y")); i++)
            ((float *)it.buffers[param("y")])[i] = ((float *)it.buffers[param("x")])[pooled_place(i)];
}

/* The difference quotient of <grad_y, y> by an element of x. */
static number quotient(int64_t element)
{
    char grad[64];
    snprintf(grad, sizeof grad, "grad_%s", row->of);
    const int64_t count = tk_case_elements(&it.c, param(grad));
    number sums[2];
    for (int side = 0; side < 2; side++) {
        moved.name = row->output + strlen("grad_");
        moved.element = element;
        moved.sign = side ? 1 : -1;
        sums[side] = real(0);
        for (int64_t i = 0; i < count; i++)
            sums[side] = plus(sums[side], times(in(grad, i), row->by(i)));
        moved.sign = 0;
    }
    number y = minus(sums[1], sums[0]);
    mpfr_mul_2si(y, y, STEP_BITS - 1, MPFR_RNDN);
    return y;
}

/* What the formula itself may lose: a quotient as much as its step leaves, sums what cancels, others the last bits. */
static double slack(const tki_value *y)
{
    const bool elementwise = !strncmp(row->sizes, "n=9", 3);
    return row->of ? 0x1p-130 * (1 + fabs(y->v)) : elementwise ? 0x1p-290 * fabs(y->v) : 0x1p-200 * (1 + fabs(y->v));
}

static void complain(int64_t element, number exact, const tki_value *y, int draw)
{
    fail_msg("%s, %s, element %lld, draw %d: the formula has %.17g; v %.17g, d %.3g, state %u", row->op, row->output,
             (long long)element, draw, mpfr_get_d(exact, MPFR_RNDN), y->v, y->d, y->state);
}

static void compare_real(const tki_value *y, int64_t element, int draw)
{
    number exact = row->of ? quotient(element) : row->by(element);
    const bool finite = mpfr_number_p(exact);
    const unsigned kind = mpfr_nan_p(exact) ? TKI_IS_NAN : mpfr_sgn(exact) > 0 ? TKI_IS_PLUS_INF : TKI_IS_MINUS_INF;
    seen.unknown += (y->state & TKI_IS_UNKNOWN) != 0;
    if (y->state & TKI_IS_UNKNOWN)
        return;
    seen.elements++;
    seen.special += !finite;
    if (!(y->state & (finite ? TKI_IS_FINITE | TKI_IS_INFINITE : kind))) /* huge ones may be infinite in fp32 alone */
        complain(element, exact, y, draw);
    if (!finite || y->state != TKI_IS_FINITE)
        return;
    number off = minus(exact, real(y->v));
    if (!(fabs(mpfr_get_d(off, MPFR_RNDA)) <= y->d + slack(y)))
        complain(element, exact, y, draw);
}

/* Where several are right, nothing is said. */
static void compare_choices(const tki_interpreter *interpreter, int tensor, int64_t count, int draw)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t chosen;
        assert_int_equal(tki_interpreter_choices(interpreter, tensor, 1, i, 1, &chosen), TK_OK);
        used = 0;
        const tki_value y = {.v = (double)chosen};
        number exact = row->by(i);
        seen.elements++;
        seen.unknown += chosen == TKI_NO_INTEGER;
        if (chosen != TKI_NO_INTEGER && mpfr_cmp_si(exact, chosen) != 0)
            complain(i, exact, &y, draw);
    }
}

static void try_draw(int draw)
{
    static const int families[] = {0, 3, 1, 5, 2, 6};
    const bool special = (row->how & SPECIAL) && draw % 2;
    int family = special ? families[draw / 2 % 3] : families[draw / 2 % 6];
    if ((family == 6 && !(row->how & HUGE_INPUTS)) || (family == 2 && row->of))
        family = 0;
    tki_interpreter *interpreter;
    const int p = param(row->output), tensor = it.d->params[p];
    const int64_t count = tk_case_elements(&it.c, p);
    draw_inputs(&it, family);
    used = 0;
    finish_inputs(special);
    assert_int_equal(tki_interpreter_make(it.d, &it.c, (const void *const *)it.buffers, &interpreter), TK_OK);
    if (tki_chooses(interpreter, tensor)) {
        compare_choices(interpreter, tensor, count, draw);
    } else {
        tki_value *values = malloc((size_t)count * sizeof *values);
        assert_int_equal(tki_interpreter_values(interpreter, tensor, 0, count, values), TK_OK);
        for (int64_t i = 0; i < count; i++) {
            used = 0;
            compare_real(&values[i], i, draw);
        }
        free(values);
    }
    tki_interpreter_free(interpreter);
    for (int i = 0; i < it.d->input_count; i++)
        free(it.buffers[i]);
    memset(it.buffers, 0, sizeof it.buffers);
}

TEST(each_definition)
{
    stream = tki_random_stream(91, 0);
    for (row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        open_instance();
        memset(&seen, 0, sizeof seen);
        for (int draw = 0; draw < effort(DRAWS); draw++)
            try_draw(draw);
        printf("%-20s %-7s %5lld elements, %4lld special, %4lld unknown\n", row->op, row->output,
               (long long)seen.elements, (long long)seen.special, (long long)seen.unknown);
        assert_true(seen.elements > 2 * seen.unknown);
        assert_true(!(row->how & SPECIAL) || seen.special > 0);
        tki_definitions_free(&it.made);
    }
}

/* Does PyTorch have it there: a function of that name, or the op whose gradient it is? */
static bool is_in_python(const char *source, const tki_definition *d)
{
    char key[80];
    snprintf(key, sizeof key, "\n    \"%s\": ", d->gradient.op ? d->gradient.op : d->name);
    return strstr(source, key) != NULL;
}

/* Each output of each definition has a formula, here or in another language. */
TEST(none_is_left_out)
{
    const char *text, *name, *root = getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".";
    char path[4096], source[1 << 16];
    snprintf(path, sizeof path, "%s/python/tests/test_definitions.py", root);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    source[fread(source, 1, sizeof source - 1, in)] = 0;
    fclose(in);
    for (int i = 0; (name = tk_definition_at(i, &text)); i++) {
        tki_definitions made;
        tki_definition_error error;
        assert_int_equal(tki_definitions_read(text, strlen(text), &made, &error), TK_OK);
        for (int k = 0; k < made.count; k++)
            for (int p = made.list[k].input_count; p < made.list[k].param_count; p++) {
                const char *output = made.list[k].tensors[made.list[k].params[p]].name;
                bool found = is_in_python(source, &made.list[k]);
                for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
                    found |= !strcmp(rows[j].op, made.list[k].name) && !strcmp(rows[j].output, output);
                if (!found)
                    fail_msg("%s of %s has no formula", output, made.list[k].name);
            }
        tki_definitions_free(&made);
    }
}

int main(void)
{
    mpfr_set_emax(mpfr_get_emax_max()); /* of exponentials */
    for (int i = 0; i < ROOM; i++)
        mpfr_init2(pool[i], BITS);
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_definition), cmocka_unit_test(none_is_left_out)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < ROOM; i++)
        mpfr_clear(pool[i]);
    return failed;
}
