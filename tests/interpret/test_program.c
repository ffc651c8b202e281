/* The interpreter of definitions against an evaluator of its own at 300 bits (evaluator.h), which knows nothing of its rules: definitions of every
 * kind on inputs of many. The exact value lies in the enclosure; and fp32 evaluations of the same lines, with additions in drawn orders, products
 * fused or not, and primitives pushed to the ends of their budgets, stay within e of it and in [l, h]. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/interpret/drawing.h"
#include "tests/interpret/evaluator.h"
#include "tests/interpret/instance.h"

enum { MOST_CHECKED = 24, REFINED_BITS = 200, DRAWN = 1000 };

/* -- Interpreter and evaluator, side by side --------------------------------------------------------------------------- */

static struct {
    int64_t elements, honest, unknown, infinite;
    double worst; /* of e */
    char what[64];
} seen;

typedef struct place {
    const instance *it;
    int output;
    int64_t element;
    const tki_value *y;
    mpfr_srcptr exact;
    int way; /* of an honest evaluation */
    bool met_infinity;
} place;

static void complain(const place *at, const char *what, double got)
{
    const tki_value *y = at->y;
    fprintf(
        stderr,
        "%s, way %d: %s: output %d, element %lld: exact %.17g, got %.17g; v %.17g, d %.3g, e %.3g, [%.17g, %.17g], "
        "state %u\n%s",
        seen.what, at->way, what, at->output, (long long)at->element, mpfr_get_d(at->exact, MPFR_RNDN), got, y->v,
        y->d, y->e, y->l, y->h, y->state, at->it->d->text);
    fail();
}

static double distance(mpfr_srcptr exact, double from)
{
    mpfr_t t;
    mpfr_init2(t, EVALUATOR_BITS);
    mpfr_sub_d(t, exact, from, MPFR_RNDN);
    const double d = fabs(mpfr_get_d(t, MPFR_RNDN));
    mpfr_clear(t);
    return d;
}

/* Behind an overflow what an evaluation finds instead of an infinity is all that is known: the exact value may be another. */
static bool has_overflowed(const place *at)
{
    return at->y->state != TKI_IS_FINITE;
}

static void check_exact(const place *at)
{
    if (has_overflowed(at))
        return;
    if ((at->y->state & TKI_IS_FINITE) && !(distance(at->exact, at->y->v) <= at->y->d))
        complain(at, "the exact value is not enclosed", at->y->v);
}

static void check_honest(const place *at, double got)
{
    const unsigned state = isfinite(got) ? TKI_IS_FINITE
                           : isnan(got)  ? TKI_IS_NAN
                           : got > 0     ? TKI_IS_PLUS_INF
                                         : TKI_IS_MINUS_INF;
    seen.honest++;
    if (!(at->y->state & state))
        complain(at, "an honest evaluation is of another kind", got);
    if (state != TKI_IS_FINITE)
        return;
    const double off = distance(at->exact, got);
    if (!((off <= at->y->e || has_overflowed(at)) && got >= at->y->l && got <= at->y->h))
        complain(at, "an honest evaluation is outside", got);
    if (off > 0 && off <= at->y->e && off / at->y->e > seen.worst)
        seen.worst = off / at->y->e;
}

/* MPFR's interval is narrow, and the evaluator's number is as near to it as its own errors are. */
static void check_refined(const place *at, const tki_interpreter *in, int tensor)
{
    mpfr_t lo, hi, width;
    mpfr_inits2(REFINED_BITS, lo, hi, width, (mpfr_ptr)0);
    assert_int_equal(tki_interpreter_exactly(in, tensor, at->element, REFINED_BITS, lo, hi), TK_OK);
    mpfr_sub(width, hi, lo, MPFR_RNDU);
    /* Numbers that are equal, and computed differently, no precision tells apart: then both branches of a select stay open. An infinity times what
     * may be zero is anything. */
    const bool open = at->met_infinity || at->y->d > 0x1p-20 * (fabs(at->y->v) + at->y->e);
    if (!open && !(mpfr_get_d(width, MPFR_RNDU) <= 0x1p-100 * (1 + fabs(at->y->v) + at->y->e * 0x1p24)))
        complain(at, "refining is wide", mpfr_get_d(width, MPFR_RNDU));
    mpfr_mul_2si(width, width, -60, MPFR_RNDU);
    mpfr_add_d(width, width, 0x1p-200, MPFR_RNDU); /* where all cancels, the evaluator has its roundings left */
    mpfr_sub(lo, lo, width, MPFR_RNDD);
    mpfr_add(hi, hi, width, MPFR_RNDU);
    if (mpfr_cmp(at->exact, lo) < 0 || mpfr_cmp(at->exact, hi) > 0)
        complain(at, "refining loses the exact value", mpfr_get_d(lo, MPFR_RNDD));
    mpfr_clears(lo, hi, width, (mpfr_ptr)0);
}

static void compare(instance *it, int p)
{
    const int tensor = it->d->params[p];
    const int64_t count = tk_case_elements(&it->c, p), step = count > MOST_CHECKED ? count / MOST_CHECKED : 1;
    tki_interpreter *in;
    const tk_status status = tki_interpreter_make(it->d, &it->c, (const void *const *)it->buffers, &in);
    if (status != TK_OK)
        fail_msg("%s\n%s", tk_status_text(status), it->d->text);
    tki_value *values = malloc((size_t)count * sizeof *values + 1);
    assert_int_equal(tki_interpreter_values(in, tensor, 0, count, values), TK_OK);
    mpfr_t exact, honest;
    mpfr_inits2(EVALUATOR_BITS, exact, honest, (mpfr_ptr)0);
    for (int64_t e = (int64_t)below((uint64_t)step); e < count; e += step) {
        place at = {.it = it, .output = p, .element = e, .y = &values[e], .exact = exact};
        evaluator ev = {.d = it->d, .c = &it->c, .buffers = it->buffers, .constants = it->constants};
        if (values[e].state & TKI_IS_UNKNOWN) {
            seen.unknown++;
            continue;
        }
        seen.elements++;
        seen.infinite += values[e].state != TKI_IS_FINITE;
        evaluate(&ev, tensor, e, exact);
        at.met_infinity = ev.met_infinity;
        check_exact(&at);
        ev.random = &stream;
        for (ev.way = 0; ev.way < EVALUATOR_WAYS; ev.way++) {
            evaluate(&ev, tensor, e, honest);
            at.way = ev.way;
            check_honest(&at, (double)mpfr_get_flt(honest, MPFR_RNDN));
        }
        if (values[e].state == TKI_IS_FINITE && below(4) == 0)
            check_refined(&at, in, tensor);
    }
    mpfr_clears(exact, honest, (mpfr_ptr)0);
    free(values);
    tki_interpreter_free(in);
}

static bool try_definition(const char *text, const int64_t dims[], int family)
{
    instance it;
    read_instance(&it, text);
    const bool settled = settle(&it, dims);
    if (settled) {
        draw_inputs(&it, family);
        for (int p = it.d->input_count; p < it.d->param_count; p++)
            compare(&it, p);
    }
    free_instance(&it);
    return settled;
}

static void say(void)
{
    printf("%lld elements, %lld evaluations, worst %.4f of e, %lld unknown, %lld not only finite\n",
           (long long)seen.elements, (long long)seen.honest, seen.worst, (long long)seen.unknown,
           (long long)seen.infinite);
}

/* -- Given definitions ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int64_t dims[TK_MAX_DIMS];
} given[] = {
    {"op a(x[n]) -> y[n]\n y = silu(x)", {200}},
    {"op a(x[n]) -> y[n]\n y = gelu(x) + gelu_tanh(x) * mish(x)", {200}},
    {"op a(x[n]) -> y[n]\n y = softplus(x) - log_sigmoid(x) / (1 + sigmoid(x))", {200}},
    {"op a(x[n]) -> y[n]\n y = erf(x) + normal_cdf(x) + one_minus_sigmoid(x) + tanh(x) + expm1(x)", {200}},
    {"op a(x[n]) -> y[n]\n y = log1p(exp(x)) + sqrt(square(x) + 1) + rsqrt(abs(x) + 0.1) + exp2(x)", {200}},
    {"op a(x[n]) -> y[n]\n y = 0.5 * x * (1 + erf(x * sqrt(0.5)))", {200}},
    {"op a(x[n]) -> y[n]\n y = pow(x, 3) + pow(abs(x) + 1, 0.3)", {200}},
    {"op a(x[n], z[n]) -> y[n]\n y = select(x < z, min(x, z), max(x * z, fma(x, z, x)))", {200}},
    {"op a(x[n]) -> y[n]\n y = cast(f16, x) - cast(bf16, x * 0.1)", {200}},
    {"op a(x[rows, cols]) -> y[rows]\n y = sum[cols](x)", {5, 300}},
    {"op a(x[rows, cols]) -> y[cols]\n y = mean[rows](x * x)", {30, 20}},
    {"op a(x[rows, cols]) -> y[rows], z[rows]\n y = max[cols](x) + min[cols](x)\n z = prod[cols](x)", {8, 7}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = softmax[cols](x)", {5, 70}},
    {"op a(x[rows, cols]) -> y[rows, cols], z[rows]\n y = log_softmax[cols](x)\n z = log_sum_exp[cols](x * 2)",
     {5, 70}},
    {"op a(x[rows, cols], w[cols], b[cols]; eps: real = 1e-5) -> y[rows, cols]\n"
     " y = standardize[cols](x, eps) * w + b",
     {4, 60}},
    {"op a(x[rows, cols]) -> v[rows]\n v = var[cols](x)", {4, 60}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = cumsum[cols](x)", {4, 30}},
    {"op a(x[rows, cols], w[cols]; eps: real = 1e-6) -> y[rows, cols], rstd[rows]: f32\n"
     " rstd = rsqrt(mean[cols](square(x)) + eps)\n y = x * rstd * w",
     {6, 50}},
    {"op a(q[b, t, d], k[b, u, d], v[b, u, e]; scale: real = 0.125) -> o[b, t, e]\n"
     " p[b, t, u] = softmax[u | u <= t](scale * sum[d](q[b, t, d] * k[b, u, d]))\n"
     " o[b, t, e] = sum[u](p[b, t, u] * v[b, u, e])",
     {2, 5, 4, 5, 3}},
    {"op a(a[m, k], b[k, n], c[n]) -> y[m, n]\n y = c + sum[k](a * b)", {7, 40, 5}},
    {"op a(a[m, k], b[k, n], c[n]) -> y[m, n]\n y = c + sum[k](a * b)", {16, 40, 12}},
    {"op a(a[h, m, k], b[n, h, k]) -> y[m, h, n]\n y[m, h, n] = relu(sum[k](a[h, m, k] * b[n, h, k]))",
     {2, 9, 40, 7}},
    {"op a(x[n, c, h], k[o, c, r]; stride: int = 2, pad: int = 1) -> y[n, o, p]\n"
     " where p = (h + 2*pad - r) // stride + 1\n"
     " y[n, o, p] = sum[c, r](x[n, c, p*stride + r - pad else 0] * k[o, c, r])",
     {2, 3, 9, 4, 3}},
    {"op a(grad[q, d], index[q]: int in [0, v)) -> y[v, d]\n y[v, d] = sum[q | index[q] == v](grad[q, d])",
     {9, 4, 5}},
    {"op a(x[n, c, i], k[c, o, r]; stride: int = 2) -> y[n, o, p]\n where p = (i - 1) * stride + r\n"
     " y[n, o, p] = sum[c, i, r | i*stride + r == p](x[n, c, i] * k[c, o, r])",
     {2, 3, 5, 2, 3}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = cumprod[cols](x * 0.5)", {3, 12}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = cummax[cols](x * 3) - cummin[cols](x)", {4, 140}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = cumsum[rows](x * x)", {140, 3}},
    {"op a(g[b, q], index[b, q]: int in [0, v)) -> y[b, v], z[b, v]\n"
     " y[b, v] = max[q | index[b, q] == v](g[b, q] * 3)\n z[b, v] = mean[q | v == index[b, q] and q > 2](g[b, q])",
     {3, 40, 5}},
    {"op a(g[q]) -> y[q]\n y[k] = log_sum_exp[q | 2 * q - 3 == k](g[q])", {9}},
    {"op a(x[t, d]) -> y[t, d]\n y = rotate_half[d](x) * x", {5, 8}},
    {"op a(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], b[i - size(a)])", {5, 8}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = x - mean[cols](x)", {5, 8}},
    {"op a(v[r]; n: int = 3) -> y[r]\n y = sum[c < 7 | r <= c and c < r + n](v[(r + 1) % size(r)] * v[r])", {2}},
    {"op a(v[r]) -> y[r]\n y = mean[r < size(r), c < 1 | r + c != 2](v)", {3}},
};

/* With NaN and infinities, too; in another order of terms, so that what is known differs by roundings in double; with terms that
 * a predicate leaves out, so that there may be NaN beside. */
enum { SPECIAL = 1, SUMMED = 2, PREDICATED = 4 };

/* The same values in two forms, of which the first takes a shorter way: bit for bit the same is known of them. */
static const struct {
    const char *quick, *plain;
    int64_t dims[8];
    unsigned how;
} pairs[] = {
    {"op a(g[q, d], i[q]: int in [0, v)) -> y[v, d]\n y[v, d] = sum[q | i[q] == v](g[q, d])",
     "op a(g[q, d], i[q]: int in [0, v)) -> y[v, d]\n y[v, d] = sum[q | i[q] <= v and i[q] >= v](g[q, d])",
     {150, 3, 7},
     SPECIAL},
    {"op a(g[b, q], i[b, q]: int in [0, v)) -> y[b, v]\n y[b, v] = mean[q | v == i[b, q]](g[b, q] * 3)",
     "op a(g[b, q], i[b, q]: int in [0, v)) -> y[b, v]\n y[b, v] = mean[q | v <= i[b, q] and v >= i[b, q]](g[b, q] * "
     "3)",
     {5, 30, 4},
     SPECIAL},
    {"op a(x[n, c, i], k[c, o, r]) -> y[n, o, p]\n where p = (i - 1) * 2 + r\n"
     " y[n, o, p] = sum[c, i, r | i * 2 + r == p](x[n, c, i] * k[c, o, r])",
     "op a(x[n, c, i], k[c, o, r]) -> y[n, o, p]\n where p = (i - 1) * 2 + r\n"
     " y[n, o, p] = sum[c, i, r | i * 2 + r <= p and i * 2 + r >= p](x[n, c, i] * k[c, o, r])",
     {2, 3, 5, 2},
     SPECIAL},
    {"op a(x[r, c]) -> y[r]\n y[k] = log_sum_exp[r, c | r + c == k](x)",
     "op a(x[r, c]) -> y[r]\n y[k] = log_sum_exp[r, c | r + c <= k and r + c >= k](x)",
     {12, 6},
     SPECIAL},
    {"op a(x[r, c]) -> y[r, c]\n y = cumsum[c](x)",
     "op a(x[r, c]) -> y[r, c]\n y[r, t] = sum[c | c <= t](x[r, c])",
     {3, 300},
     SUMMED},
    {"op a(x[r, c]) -> y[r, c]\n y = cumprod[c](x)",
     "op a(x[r, c]) -> y[r, c]\n y[r, t] = prod[c | c <= t](x[r, c])",
     {3, 30},
     SPECIAL},
    {"op a(x[r, c]) -> y[r, c]\n y = cummax[c](x * 3)",
     "op a(x[r, c]) -> y[r, c]\n y[r, t] = max[c | c <= t](x[r, c] * 3)",
     {300, 140},
     SPECIAL | PREDICATED},
    {"op a(x[n, c, h, w], k[o, d, r, s]; st: int = 2, pad: int = 1, dil: int = 2, groups: int = 1) -> y[n, o, p, q]\n"
     " where p = (h + 2 * pad - dil * (r - 1) - 1) // st + 1, q = (w + 2 * pad - dil * (s - 1) - 1) // st + 1\n"
     " where d = c // groups, c % groups == 0, o % groups == 0\n"
     " y[n, o, p, q] = sum[d, r, s](x[n, o // (size(o) // groups) * size(d) + d, p * st + r * dil - pad, "
     "q * st + s * dil - pad else 0] * k[o, d, r, s])",
     "op a(x[n, c, h, w], k[o, d, r, s]; st: int = 2, pad: int = 1, dil: int = 2, groups: int = 1) -> y[n, o, p, q]\n"
     " where p = (h + 2 * pad - dil * (r - 1) - 1) // st + 1, q = (w + 2 * pad - dil * (s - 1) - 1) // st + 1\n"
     " where d = c // groups, c % groups == 0, o % groups == 0\n"
     " y[n, o, p, q] = sum[d, r, s | d >= 0](x[n, o // (size(o) // groups) * size(d) + d, p * st + r * dil - pad, "
     "q * st + s * dil - pad else 0] * k[o, d, r, s])",
     {4, 6, 11, 9, 8, 3, 3},
     SPECIAL | SUMMED},
    {"op a(x[n, c, h, w], k[o, d, r, s]; st: int = 2, pad: int = 1, dil: int = 2, groups: int = 2) -> y[n, o, p, q]\n"
     " where p = (h + 2 * pad - dil * (r - 1) - 1) // st + 1, q = (w + 2 * pad - dil * (s - 1) - 1) // st + 1\n"
     " where d = c // groups, c % groups == 0, o % groups == 0\n"
     " y[n, o, p, q] = sum[d, r, s](x[n, o // (size(o) // groups) * size(d) + d, p * st + r * dil - pad, "
     "q * st + s * dil - pad else 0] * k[o, d, r, s])",
     "op a(x[n, c, h, w], k[o, d, r, s]; st: int = 2, pad: int = 1, dil: int = 2, groups: int = 2) -> y[n, o, p, q]\n"
     " where p = (h + 2 * pad - dil * (r - 1) - 1) // st + 1, q = (w + 2 * pad - dil * (s - 1) - 1) // st + 1\n"
     " where d = c // groups, c % groups == 0, o % groups == 0\n"
     " y[n, o, p, q] = sum[d, r, s | d >= 0](x[n, o // (size(o) // groups) * size(d) + d, p * st + r * dil - pad, "
     "q * st + s * dil - pad else 0] * k[o, d, r, s])",
     {2, 6, 21, 19, 8, 3, 3},
     SPECIAL | SUMMED},
    {"op a(x[n, c, h, w], k[o, d, r, s]; st: int = 2, pad: int = 1, dil: int = 2, groups: int = 6) -> y[n, o, p, q]\n"
     " where p = (h + 2 * pad - dil * (r - 1) - 1) // st + 1, q = (w + 2 * pad - dil * (s - 1) - 1) // st + 1\n"
     " where d = c // groups, c % groups == 0, o % groups == 0\n"
     " y[n, o, p, q] = sum[d, r, s](x[n, o // (size(o) // groups) * size(d) + d, p * st + r * dil - pad, "
     "q * st + s * dil - pad else 0] * k[o, d, r, s])",
     "op a(x[n, c, h, w], k[o, d, r, s]; st: int = 2, pad: int = 1, dil: int = 2, groups: int = 6) -> y[n, o, p, q]\n"
     " where p = (h + 2 * pad - dil * (r - 1) - 1) // st + 1, q = (w + 2 * pad - dil * (s - 1) - 1) // st + 1\n"
     " where d = c // groups, c % groups == 0, o % groups == 0\n"
     " y[n, o, p, q] = sum[d, r, s | d >= 0](x[n, o // (size(o) // groups) * size(d) + d, p * st + r * dil - pad, "
     "q * st + s * dil - pad else 0] * k[o, d, r, s])",
     {3, 6, 21, 19, 6, 3, 3},
     SPECIAL | SUMMED},
    {"op a(g[n, o, p], x[n, c, h]; k: int = 3, pad: int = 1) -> y[o, c, r]\n where r = k\n"
     " y[o, c, r] = sum[n, p](g[n, o, p] * x[n, c, p + r - pad else 0])",
     "op a(g[n, o, p], x[n, c, h]; k: int = 3, pad: int = 1) -> y[o, c, r]\n where r = k\n"
     " y[o, c, r] = sum[n, p | p >= 0](g[n, o, p] * x[n, c, p + r - pad else 0])",
     {6, 5, 40, 4, 40},
     SPECIAL | SUMMED},
    {"op a(g[n, o, p], x[n, c, h], k[o, c, r]) -> y[n, c, h]\n y[n, c, h] = sum[o, r | (h + 1 - r) % 2 == 0 and h + "
     "1 >= r "
     "and (h + 1 - r) // 2 < size(p)](g[n, o, (h + 1 - r) // 2 else 0] * k[o, c, r])",
     "op a(g[n, o, p], x[n, c, h], k[o, c, r]) -> y[n, c, h]\n y[n, c, h] = sum[o, r | (h + 1 - r) % 2 == 0 and h + "
     "1 >= r "
     "and (h + 1 - r) // 2 < size(p) and h + c >= 0](g[n, o, (h + 1 - r) // 2 else 0] * k[o, c, r])",
     {2, 9, 10, 8, 19, 3},
     SPECIAL | SUMMED},
    {"op a(x[n, c, h], g[n, o, p], k[o, c, r]) -> y[o, c, r]\n y[o, c, r] = sum[n, p | p * 2 + r >= 1 and p * 2 + r "
     "- 1 < "
     "size(h)](g[n, o, p] * x[n, c, p * 2 + r - 1 else 0])",
     "op a(x[n, c, h], g[n, o, p], k[o, c, r]) -> y[o, c, r]\n y[o, c, r] = sum[n, p | p * 2 + r >= 1 and p * 2 + r "
     "- 1 < "
     "size(h) and o + c >= 0](g[n, o, p] * x[n, c, p * 2 + r - 1 else 0])",
     {2, 8, 19, 9, 11, 3},
     SPECIAL | SUMMED},
    {"op a(a[m, k], b[k, n]) -> y[m, n]\n y[m, n] = sum[k | k <= m and k != 3](a[m, k] * b[k, n])",
     "op a(a[m, k], b[k, n]) -> y[m, n]\n y[m, n] = sum[k | k <= m and k != 3 and m + n >= 0](a[m, k] * b[k, n])",
     {40, 30, 20},
     SPECIAL | SUMMED},
    {"op a(a[z, m, i, j], b[n, j, z, i]) -> y[m, z, n]\n y[m, z, n] = sum[i, j](a[z, m, i, j] * b[n, j, z, i])",
     "op a(a[z, m, i, j], b[n, j, z, i]) -> y[m, z, n]\n y[m, z, n] = sum[i, j | i >= 0](a[z, m, i, j] * b[n, j, z, "
     "i])",
     {3, 19, 5, 8, 17},
     SPECIAL | SUMMED},
    {"op a(q[b, t, d], v[b, u, d]) -> o[b, t, d]\n p[b, t, u] = softmax[u | u <= t](sum[d](q[b, t, d] * v[b, u, "
     "d]))\n"
     " o[b, t, d] = sum[u](p[b, t, u] * v[b, u, d])",
     "op a(q[b, t, d], v[b, u, d]) -> o[b, t, d]\n p[b, t, u] = softmax[u | u <= t](sum[d](q[b, t, d] * v[b, u, "
     "d]))\n"
     " o[b, t, d] = sum[u | u >= 0](p[b, t, u] * v[b, u, d])",
     {2, 20, 9, 20},
     SPECIAL | SUMMED},
    {"op a(x[r, c], w[c]) -> y[c]\n y[c] = sum[r](x[r, c] * (w[c] * 3))",
     "op a(x[r, c], w[c]) -> y[c]\n y[c] = sum[r | r >= 0](x[r, c] * (w[c] * 3))",
     {37, 150},
     SPECIAL | SUMMED},
    {"op a(x[r, s, c], w[s]) -> y[c]\n z[r, s, c] = x - w\n y[c] = mean[r, s](z[r, s, c] + gelu(x[r, s, c]))",
     "op a(x[r, s, c], w[s]) -> y[c]\n z[r, s, c] = x - w\n y[c] = mean[r, s | s >= 0](z[r, s, c] + gelu(x[r, s, "
     "c]))",
     {5, 7, 131},
     SPECIAL | SUMMED},
    {"op a(x[n, k], y[m, k], b[m]) -> z[n, m]\n z[n, m] = b[m] + sum[k](gelu(x[n, k]) * (y[m, k] * 3))",
     "op a(x[n, k], y[m, k], b[m]) -> z[n, m]\n z[n, m] = b[m] + sum[k | k >= 0](gelu(x[n, k]) * (y[m, k] * 3))",
     {30, 20, 25},
     SPECIAL | SUMMED},
    {"op a(x[n, k], y[m, k]) -> z[n, m]\n z[n, m] = sum[k](square(x[n, k] * 2) * max(y[m, k], 0))",
     "op a(x[n, k], y[m, k]) -> z[n, m]\n z[n, m] = sum[k | k >= 0](square(x[n, k] * 2) * max(y[m, k], 0))",
     {30, 20, 25},
     SPECIAL | SUMMED},
};

/* `asked`: as for tki_interpreter_make_for(). */
static void values_by(const char *text, const int64_t dims[], uint64_t seed, bool special, double asked,
                      tki_value **values, int64_t *count)
{
    instance it;
    tki_interpreter *in;
    read_instance(&it, text);
    assert_true(settle(&it, dims));
    stream = tki_random_stream(75, seed);
    draw_inputs(&it, (int)(seed % FAMILIES));
    float *x = it.buffers[0];
    for (int i = 0; special && i < 3; i++)
        x[below((uint64_t)tk_case_elements(&it.c, 0))] = (const float[]){NAN, INFINITY, -INFINITY}[below(3)];
    assert_int_equal(tki_interpreter_make_for(it.d, &it.c, (const void *const *)it.buffers, asked, &in), TK_OK);
    const int output = it.d->param_count - 1;
    *count = tk_case_elements(&it.c, output);
    *values = calloc((size_t)*count + 1, sizeof **values);
    assert_int_equal(tki_interpreter_values(in, it.d->params[output], 0, *count, *values), TK_OK);
    tki_interpreter_free(in);
    free_instance(&it);
}

static void check_same(const char *text, uint64_t seed, bool summed, const tki_value quick[], const tki_value plain[],
                       int64_t count)
{
    for (int64_t e = 0; e < count; e++) {
        const tki_value *a = &quick[e], *b = &plain[e];
        const bool same = a->v == b->v && a->d == b->d && a->e == b->e && a->l == b->l && a->h == b->h;
        const bool near = fabs(a->v - b->v) <= a->d + b->d && fabs(a->e - b->e) <= 0x1p-30 * b->e &&
                          fabs(a->d - b->d) <= 0x1p-20 * b->e;
        if (a->state != b->state || ((a->state & TKI_IS_FINITE) && !(summed ? near : same)))
            fail_msg("%s: element %lld, seed %llu: %.17g +- %g, e %g, state %u; %.17g +- %g, e %g, state %u", text,
                     (long long)e, (unsigned long long)seed, a->v, a->d, a->e, a->state, b->v, b->d, b->e, b->state);
    }
}

TEST(shorter_ways)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (uint64_t seed = 0; seed < (uint64_t)effort(2 * FAMILIES); seed++) {
            tki_value *quick, *plain, *few;
            int64_t count, other;
            const bool special = (pairs[i].how & SPECIAL) && seed / FAMILIES % 2;
            values_by(pairs[i].quick, pairs[i].dims, seed, special, INFINITY, &quick, &count);
            values_by(pairs[i].plain, pairs[i].dims, seed, special, INFINITY, &plain, &other);
            assert_int_equal(count, other);
            for (int64_t e = 0; (pairs[i].how & PREDICATED) && e < count; e++) {
                assert_int_equal(quick[e].state & TKI_IS_NAN & ~plain[e].state, 0);
                plain[e].state = (plain[e].state & ~(unsigned)TKI_IS_NAN) | (quick[e].state & TKI_IS_NAN);
            }
            check_same(pairs[i].quick, seed, pairs[i].how & SUMMED, quick, plain, count);
            /* Where few elements are asked for, fewer tables are filled. */
            values_by(pairs[i].quick, pairs[i].dims, seed, special, 2, &few, &other);
            check_same(pairs[i].quick, seed, true, few, plain, count);
            free(quick);
            free(plain);
            free(few);
        }
}

/* What all tables of a case take. */
static double bytes_of_tables(const char *text, const int64_t dims[], double asked)
{
    instance it;
    tki_interpreter *in;
    double bytes = 0;
    read_instance(&it, text);
    assert_true(settle(&it, dims));
    assert_int_equal(tki_interpreter_make_for(it.d, &it.c, NULL, asked, &in), TK_OK);
    for (int i = 0; i < in->filling_count; i++)
        bytes += (double)tki_table_of(in, &in->fillings[i])->count *
                 (double)tki_table_of(in, &in->fillings[i])->bytes;
    tki_interpreter_free(in);
    free_instance(&it);
    return bytes;
}

/* Of what would need more than the budget, some is kept, or nothing; of few elements nothing that costs more than they do. */
TEST(tables_within_the_budget)
{
    static const char sums[] = "op a(x[r, c]) -> y[r, c], z[r, c]\n y = cumsum[c](x)\n z = cumsum[c](x * 2)";
    const double of_row = 1024 * (double)sizeof(tki_value);
    assert_true(bytes_of_tables(sums, (int64_t[]){1000, 1024}, INFINITY) == 2000 * of_row);
    assert_true(bytes_of_tables(sums, (int64_t[]){30000, 1024}, INFINITY) == 30000 * of_row);
    assert_true(2 * 30000 * of_row > (double)TKI_MOST_KEPT_BYTES && 30000 * of_row < (double)TKI_MOST_KEPT_BYTES);
    assert_true(bytes_of_tables(sums, (int64_t[]){60000, 1024}, INFINITY) == 0);
    assert_true(bytes_of_tables(sums, (int64_t[]){1000, 1024}, 128) == 0);
}

TEST(given_definitions)
{
    stream = tki_random_stream(71, 0);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (int draw = 0; draw < effort_from(FAMILIES); draw++)
            assert_true(try_definition(given[i].text, given[i].dims, draw % FAMILIES));
    say();
    assert_true(seen.unknown < seen.elements / 5);
}

/* What is known of the first element of y. */
static tki_value known_of(const char *text, const float x[4], const float z[4])
{
    instance it;
    tki_interpreter *in;
    tki_value y;
    const int64_t dims[TK_MAX_DIMS] = {4};
    const void *buffers[TK_MAX_PARAMS] = {x, z};
    read_instance(&it, text);
    assert_true(settle(&it, dims));
    assert_int_equal(tki_interpreter_make(it.d, &it.c, buffers, &in), TK_OK);
    assert_int_equal(tki_interpreter_values(in, it.d->params[2], 0, 1, &y), TK_OK);
    tki_interpreter_free(in);
    tki_definitions_free(&it.made);
    return y;
}

TEST(what_may_be_no_number)
{
    const float x[4] = {0, 0x1p127f, 0x1p127f, -INFINITY}, z[4] = {0, 1, 2, 3};
    static const struct {
        const char *value;
        unsigned state;
    } all[] = {
        /* A format that has no infinities. */
        {"cast(e4m3, x[3])", TKI_IS_NAN},
        {"cast(e5m2, x[3])", TKI_IS_MINUS_INF},
        /* The other factors may be multiplied first. */
        {"prod[n | n < 2](x)", TKI_IS_FINITE},
        {"prod[n | n < 3](x)", TKI_IS_FINITE | TKI_IS_NAN},
        {"prod[n | n > 0 and n < 3](-x)", TKI_IS_FINITE | TKI_IS_PLUS_INF},
        {"prod[n | n > 0](x)", TKI_IS_MINUS_INF},
        {"max[k < 1](cumprod[k < 1](x[k]))", TKI_IS_FINITE},
        /* A zero that stands for what is out of range may be multiplied or left out; another number there, or a zero that is read, may not. */
        {"sum[k < 3](z[k - 1 else 0] * x[3 - k])", TKI_IS_FINITE | TKI_IS_NAN},
        {"sum[k < 3](z[k - 1 else 1e-30] * x[3 - k])", TKI_IS_MINUS_INF},
        {"sum[k < 3](z[k] * x[3 - k])", TKI_IS_NAN},
        {"sum[k < 3](z[k - 1 else 0] * x[k])", TKI_IS_FINITE},
        {"sum[k < 3](z[k + 2 else 0] * 0.25 * x[3 - k])", TKI_IS_MINUS_INF},
        {"fma(z[n - 1 else 0], x[3], 2)", TKI_IS_FINITE | TKI_IS_NAN},
        {"(-z[n - 1 else 0]) * x[3] + 2", TKI_IS_FINITE | TKI_IS_NAN},
        {"z[n - 1 else 0] + x[3]", TKI_IS_MINUS_INF},
        {"pow(2, z[n - 1 else 0]) * x[1] * x[3]", TKI_IS_MINUS_INF},
        {"select(z[0] * x[1] < exp(z[3] - 1000), z[n - 1 else 0], 2) * x[3]", TKI_IS_NAN | TKI_IS_MINUS_INF},
        /* A predicate may be -inf, or +inf in min, that is added: NaN where the term is NaN or the other infinity. */
        {"max[k < 4 | k < 3](-x[k])", TKI_IS_FINITE | TKI_IS_NAN},
        {"max[k < 4 | k < 3](x[k])", TKI_IS_FINITE},
        {"max[k < 4 | k < 3](x[k] + x[3] - x[3])", TKI_IS_NAN},
        {"max[k < 4 | k < 3](z[k] + x[k] - x[k])", TKI_IS_FINITE | TKI_IS_NAN},
        {"min[k < 4 | k < 3](x[k])", TKI_IS_FINITE | TKI_IS_NAN},
        {"min[k < 4 | k < 3](-x[k])", TKI_IS_FINITE},
        {"max[k < 4 | k == n](-x[k])", TKI_IS_FINITE | TKI_IS_NAN},
        {"max[k < 4 | k == n](x[k])", TKI_IS_FINITE},
        {"softmax[n | n < 3](-x)", TKI_IS_FINITE | TKI_IS_NAN},
        {"softmax[n | n < 3](x)", TKI_IS_FINITE},
        {"softmax[n | n > 0](-x)", TKI_IS_FINITE | TKI_IS_NAN},
        {"log_softmax[n | n > 0](-x)", TKI_IS_MINUS_INF | TKI_IS_NAN},
        {"log_softmax[n | n > 0](x)", TKI_IS_MINUS_INF},
        {"log_sum_exp[k < 4 | k < 3](-x[k])", TKI_IS_FINITE | TKI_IS_NAN},
        /* Its logarithm is infinite as a number is, and NaN by the differences. */
        {"log_sum_exp[k < 2](-x[k + 2])", TKI_IS_PLUS_INF | TKI_IS_NAN},
        {"log_sum_exp[k < 2](x[3] - z[k])", TKI_IS_MINUS_INF | TKI_IS_NAN},
        {"log_sum_exp[k < 2](x[k + 2])", TKI_IS_FINITE},
        {"log_sum_exp[k < 3](select(k < 2, -x[3], x[3] - x[3]))", TKI_IS_NAN},
        /* Terms that are absent, of which some overflow, or are divided by zero. */
        {"sum[n | n < 1](x)", TKI_IS_FINITE | TKI_IS_NAN},
        {"sum[k < 3 | k < 1](x[k])", TKI_IS_FINITE},
        {"sum[k < 3 | k < 1](z[k])", TKI_IS_FINITE},
        {"sum[k < 3 | k < 1](x[k] * x[k])", TKI_IS_FINITE | TKI_IS_NAN},
        {"sum[k < 3 | k > 0](x[k] / z[k] * 0)", TKI_IS_FINITE | TKI_IS_NAN},
        /* What is far beyond fp32 is known as long as it is a double; where infinities of doubles cancel, nothing is. */
        {"x[1] * x[1] * x[1] * x[1]", TKI_IS_FINITE | TKI_IS_NAN | TKI_IS_PLUS_INF},
        {"z[1] / (x[1] * x[1] * x[1] * x[1] * x[1])", TKI_IS_FINITE | TKI_IS_NAN},
        {"x[1] * x[1] * x[1] * x[1] * x[1] * x[1] * x[1] * x[1]", TKI_IS_UNKNOWN},
        {"sum[k < 2]((x[1] * x[1] * x[1] * x[1] * x[1]) * (x[1] * x[1] * x[1] * x[1] * x[1] * (z[k] - 0.5)))",
         TKI_IS_UNKNOWN},
        {"var[k < 2](x[1] * x[1] * x[1] * x[1] * x[1] * (z[k] - 0.5))", TKI_IS_UNKNOWN},
        {"sum[k < 3](softmax[k < 3 | k > 0](z[k]) * (1 / z[k]))", TKI_IS_FINITE | TKI_IS_NAN | TKI_IS_ABSENT},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[256];
        snprintf(text, sizeof text, "op a(x[n], z[n]) -> y[n]\n y[n] = %s", all[i].value);
        const tki_value y = known_of(text, x, z);
        const unsigned kept = all[i].state == TKI_IS_UNKNOWN ? TKI_IS_UNKNOWN : ~(unsigned)TKI_IS_ABSENT;
        if ((y.state & kept) != (all[i].state & kept))
            fail_msg("%s: state %u, expected %u", all[i].value, y.state, all[i].state);
    }
}

/* NaN does not equal itself, and no number between the branches is a result then. */
TEST(comparing_with_itself)
{
    const float x[4] = {NAN, 1, INFINITY, 2}, z[4] = {0};
    static const struct {
        const char *value;
        double v;
        unsigned beside;
    } all[] = {
        {"select(x[0] != x[0], 1, 0)", 1, TKI_IS_NAN}, {"select(x[0] == x[0], 1, 0)", 0, TKI_IS_NAN},
        {"select(x[0] < x[0], 1, 0)", 0, TKI_IS_NAN},  {"select(x[0] >= x[0], 1, 0)", 0, TKI_IS_NAN},
        {"select(x[1] != x[1], 1, 0)", 0, 0},          {"select(x[2] == x[2], 1, 0)", 1, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[256];
        snprintf(text, sizeof text, "op a(x[n], z[n]) -> y[n]\n y[n] = %s", all[i].value);
        const tki_value y = known_of(text, x, z);
        if (y.state != (TKI_IS_FINITE | all[i].beside) || y.v != all[i].v || y.l != all[i].v || y.h != all[i].v ||
            y.e != 0)
            fail_msg("%s: %g, [%g, %g], e %g, state %u", all[i].value, y.v, y.l, y.h, y.e, y.state);
    }
}

/* Integers that no double has: the exact value is enclosed, and refining finds it. */
TEST(large_integers)
{
    static const char text[] = "op a(i[n]: int) -> y[n]\n y = i * 0.5 - 4611686018427387904";
    enum { COUNT = 64 };
    instance it;
    tki_interpreter *in;
    int64_t i[COUNT];
    tki_value y[COUNT];
    mpfr_t exact, lo, hi;
    mpfr_inits2(EVALUATOR_BITS, exact, lo, hi, (mpfr_ptr)0);
    stream = tki_random_stream(118, 0);
    for (int k = 0; k < COUNT; k++)
        i[k] = (int64_t)((UINT64_C(1) << (40 + k % 24)) + below(UINT64_C(1) << (39 + k % 24))) * (k % 2 ? 1 : -1) + k;
    read_instance(&it, text);
    assert_true(settle_as(&it, (int64_t[TK_MAX_DIMS]){COUNT}, TK_F32, TK_I64, NULL));
    assert_int_equal(tki_interpreter_make(it.d, &it.c, (const void *[]){i, NULL}, &in), TK_OK);
    assert_int_equal(tki_interpreter_values(in, it.d->params[1], 0, COUNT, y), TK_OK);
    for (int k = 0; k < COUNT; k++) {
        mpfr_set_si(exact, i[k], MPFR_RNDN);
        mpfr_div_ui(exact, exact, 2, MPFR_RNDN);
        mpfr_sub_d(exact, exact, 0x1p62, MPFR_RNDN);
        if (!(distance(exact, y[k].v) <= y[k].d))
            fail_msg("%lld: %.17g +- %g", (long long)i[k], y[k].v, y[k].d);
        assert_int_equal(tki_interpreter_exactly(in, it.d->params[1], k, REFINED_BITS, lo, hi), TK_OK);
        assert_true(mpfr_equal_p(lo, exact) && mpfr_equal_p(hi, exact));
    }
    mpfr_clears(exact, lo, hi, (mpfr_ptr)0);
    tki_interpreter_free(in);
    tki_definitions_free(&it.made);
}

/* b - sum may begin with b as b + sum may. */
TEST(differences_with_sums)
{
    const float x[4] = {0x1p20f, 1, 1, 1}, z[4] = {0x1p-3f, 0x1p-4f, -0x1p-3f, -0x1p-4f};
    const double sum = known_of("op a(x[n], z[n]) -> y[n]\n y[n] = x + sum[k < 4](z[k] * 3)", x, z).e;
    const double difference = known_of("op a(x[n], z[n]) -> y[n]\n y[n] = x - sum[k < 4](z[k] * 3)", x, z).e;
    const double negated = known_of("op a(x[n], z[n]) -> y[n]\n y[n] = -sum[k < 4](z[k] * 3) + x", x, z).e;
    assert_true(sum > 4 * 0x1p-24 * 0x1p20);
    assert_true(sum == difference && sum == negated);
}

/* -- Drawn definitions ------------------------------------------------------------------------------------------------- */

/* Some elements of the first inputs become NaN and infinities. */
static void put_specials(instance *it)
{
    for (int i = 0; i < 2; i++) {
        const int p = (int)below(4);
        put_element(it->buffers[p], tk_case_param_dtype(&it->c, p),
                    (int64_t)below((uint64_t)tk_case_elements(&it->c, p)),
                    (const double[]){NAN, INFINITY, -INFINITY}[below(3)]);
    }
}

/* False where the definition refuses the case: rotate_half needs even sizes. */
static bool try_drawn(const char *text)
{
    static const tk_dtype dtypes[] = {TK_F32, TK_F32, TK_F16, TK_BF16};
    const int64_t dims[TK_MAX_DIMS] = {1 + (int64_t)below(3), 1 + (int64_t)below(7)};
    const tk_value attributes[] = {{.real = tki_random_unit(&stream) * 8 - 4},
                                   {.integer = 1 + (int64_t)below(3)},
                                   {.integer = (int64_t)below(2)},
                                   {.integer = (int64_t)below(2)}};
    instance it;
    read_instance(&it, text);
    const bool settled = settle_as(&it, dims, dtypes[below(4)], below(2) ? TK_I32 : TK_I64, attributes);
    if (settled) {
        draw_inputs(&it, (int)below(FAMILIES));
        if (below(10) == 0)
            put_specials(&it);
        for (int p = it.d->input_count; p < it.d->param_count; p++)
            if (tki_condition_holds(&it.d->tensors[it.d->params[p]].present, &it.c))
                compare(&it, p);
    }
    free_instance(&it);
    return settled;
}

/* In parts: TOKITAI_DRAWN_FROM is the first one. */
TEST(drawn_definitions)
{
    static drawing d;
    const char *from = getenv("TOKITAI_DRAWN_FROM");
    const int first = from ? atoi(from) : 0, count = effort(DRAWN);
    memset(&seen, 0, sizeof seen);
    for (int i = first; i < first + count; i++) {
        stream = tki_random_stream(72, (uint64_t)i);
        draw_definition(&d);
        snprintf(seen.what, sizeof seen.what, "the definition %d", i);
        int tries = 0;
        while (!try_drawn(d.text) && tries < 100)
            tries++;
        assert_true(tries < 100);
    }
    say();
    check_drawn(count);
    assert_true(seen.unknown < seen.elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_ways),          cmocka_unit_test(tables_within_the_budget),
        cmocka_unit_test(given_definitions),     cmocka_unit_test(what_may_be_no_number),
        cmocka_unit_test(comparing_with_itself), cmocka_unit_test(large_integers),
        cmocka_unit_test(differences_with_sums), cmocka_unit_test(drawn_definitions)};
    cmocka_set_test_filter(getenv("TOKITAI_TEST")); /* NULL: all */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
