/* The interpreter of definitions against an evaluator of its own at 300 bits (evaluator.h), which knows nothing of its rules: definitions of every
 * kind on inputs of many. The exact value lies in the enclosure; and fp32 evaluations of the same lines, with additions in drawn orders, products
 * fused or not, and primitives pushed to the ends of their budgets, stay within e of it and in [l, h]. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interpret/program.h"
#include "tests/interpret/evaluator.h"
#include "tests/unit_test.h"

enum { HONEST = 4, MOST_CHECKED = 24, REFINED_BITS = 200, DRAWN = 1000, MOST_LINES = 3, MOST_REDUCTIONS = 3 };

static tki_random stream;

static uint64_t below(uint64_t n)
{
    return tki_random_below(&stream, n);
}

/* -- A definition, a case and its inputs ------------------------------------------------------------------------------- */

typedef struct instance {
    tki_definitions made;
    const tki_definition *d;
    tk_contract contract;
    tk_param params[TK_MAX_PARAMS];
    tk_case c;
    void *buffers[TK_MAX_PARAMS];
    int64_t constants[TKI_MOST_NODES];
    int dims[TK_MAX_PARAMS][TK_MAX_RANK];
} instance;

static void read_instance(instance *it, const char *text)
{
    tki_definition_error error;
    *it = (instance){.d = NULL};
    if (tki_definitions_read(text, strlen(text), &it->made, &error) != TK_OK)
        fail_msg("%d:%d: %s\n%s", error.position.line, error.position.column, error.text, text);
    it->d = &it->made.list[0];
}

/* What tk_case_elements() and tk_case_param_dtype() look at, and no more. False: the definition refuses the case. */
static bool settle(instance *it, const int64_t dims[])
{
    it->c = (tk_case){.contract = &it->contract, .dtype = TK_F32, .result_dtype = TK_F32, .index_dtype = TK_I32};
    memcpy(it->c.dims, dims, (size_t)it->d->size_count * sizeof *dims);
    for (int i = 0; i < it->d->attribute_count; i++)
        it->c.attributes[i] = it->d->attributes[i].initial;
    if (tki_definition_settle(it->d, &it->c, it->constants))
        return false;
    for (int i = 0; i < it->d->size_count; i++)
        if (it->d->sizes[i].derived != TKI_NONE)
            it->c.dims[i] = it->constants[it->d->sizes[i].derived];
    for (int p = 0; p < it->d->param_count; p++) {
        const tki_def_tensor *t = &it->d->tensors[it->d->params[p]];
        memcpy(it->dims[p], t->size, sizeof it->dims[p]);
        it->params[p] = (tk_param){.name = t->name,
                                   .output = p >= it->d->input_count,
                                   .kind = t->type == TKI_TYPE_CASE  ? TK_KIND_VALUE
                                           : t->type == TKI_TYPE_INT ? TK_KIND_INDEX
                                                                     : TK_KIND_FIXED,
                                   .dtype = t->dtype,
                                   .rank = t->rank,
                                   .dim = it->dims[p]};
    }
    it->contract = (tk_contract){
        .param_count = it->d->param_count, .params = it->params, .dim_count = it->d->size_count};
    return true;
}

/* Ordinary numbers, with zeros, of many sizes, small integers, far from zero for their spread, large. */
enum { FAMILIES = 6 };

static float drawn_number(int family)
{
    const double unit = tki_random_unit(&stream) * 2 - 1;
    switch (family) {
    case 0: return (float)(unit * 4);
    case 1: return below(4) ? 0 : (float)(unit * 4);
    case 2: return (float)ldexp(unit, (int)below(40) - 20);
    case 3: return (float)((double)below(9) - 4);
    case 4: return (float)(100 + unit);
    default: return (float)(unit * 30);
    }
}

static void draw_inputs(instance *it, int family)
{
    for (int p = 0; p < it->d->input_count; p++) {
        const tki_def_tensor *t = &it->d->tensors[it->d->params[p]];
        const int64_t count = tk_case_elements(&it->c, p);
        it->buffers[p] = malloc((size_t)count * sizeof(float) + 1);
        for (int64_t i = 0; i < count; i++)
            if (t->integer)
                ((int32_t *)it->buffers[p])[i] = (int32_t)below((uint64_t)it->c.dims[t->below]);
            else
                ((float *)it->buffers[p])[i] = drawn_number(family);
    }
}

static void free_instance(instance *it)
{
    for (int p = 0; p < it->d->input_count; p++)
        free(it->buffers[p]);
    tki_definitions_free(&it->made);
}

/* -- Interpreter and evaluator, side by side --------------------------------------------------------------------------- */

static struct {
    int64_t elements, honest, unknown, infinite;
    double worst; /* of e */
} seen;

typedef struct place {
    const instance *it;
    int output;
    int64_t element;
    const tki_value *y;
    mpfr_srcptr exact;
} place;

static void complain(const place *at, const char *what, double got)
{
    const tki_value *y = at->y;
    fail_msg(
        "%s: output %d, element %lld: exact %.17g, got %.17g; v %.17g, d %.3g, e %.3g, [%.17g, %.17g], state %u\n%s",
        what, at->output, (long long)at->element, mpfr_get_d(at->exact, MPFR_RNDN), got, y->v, y->d, y->e, y->l, y->h,
        y->state, at->it->d->text);
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
    /* Numbers that are equal, and computed differently, no precision tells apart: then both branches of a select stay open. */
    const bool open = at->y->d > 0x1p-20 * (fabs(at->y->v) + at->y->e);
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
    const char *refusal;
    const tk_status status = tki_interpreter_make(it->d, &it->c, (const void *const *)it->buffers, &in, &refusal);
    if (status != TK_OK)
        fail_msg("%s: %s\n%s", tk_status_text(status), refusal ? refusal : "", it->d->text);
    tki_value *values = malloc((size_t)count * sizeof *values + 1);
    assert_int_equal(tki_interpreter_values(in, tensor, 0, count, values), TK_OK);
    mpfr_t exact, honest;
    mpfr_inits2(EVALUATOR_BITS, exact, honest, (mpfr_ptr)0);
    for (int64_t e = (int64_t)below((uint64_t)step); e < count; e += step) {
        const place at = {.it = it, .output = p, .element = e, .y = &values[e], .exact = exact};
        evaluator ev = {.d = it->d, .c = &it->c, .buffers = it->buffers, .constants = it->constants};
        if (values[e].state & TKI_IS_UNKNOWN) {
            seen.unknown++;
            continue;
        }
        seen.elements++;
        seen.infinite += values[e].state != TKI_IS_FINITE;
        evaluate(&ev, tensor, e, exact);
        check_exact(&at);
        ev.random = &stream;
        for (ev.way = 0; ev.way < HONEST; ev.way++) {
            evaluate(&ev, tensor, e, honest);
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
    {"op a(x[t, d]) -> y[t, d]\n y = rotate_half[d](x) * x", {5, 8}},
    {"op a(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], b[i - size(a)])", {5, 8}},
    {"op a(x[rows, cols]) -> y[rows, cols]\n y = x - mean[cols](x)", {5, 8}},
};

TEST(given_definitions)
{
    stream = tki_random_stream(71, 0);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (int family = 0; family < FAMILIES; family++)
            assert_true(try_definition(given[i].text, given[i].dims, family));
    say();
    assert_true(seen.unknown < seen.elements / 5);
}

/* -- Drawn definitions ------------------------------------------------------------------------------------------------- */

/* A text that grows. Lines a0 to a2 are over r and c, b0 to b2 over r. */
typedef struct drawing {
    char text[1 << 14];
    size_t length;
    int lines, reductions;
    bool wide[MOST_LINES]; /* over r and c */
} drawing;

static void add(drawing *to, const char *text)
{
    const size_t length = strlen(text);
    assert_true(to->length + length < sizeof to->text);
    memcpy(to->text + to->length, text, length + 1);
    to->length += length;
}

/* `%` stands for an expression. */
static const char *const unary[] = {"(exp(0.1 * %))",
                                    "tanh(%)",
                                    "sigmoid(%)",
                                    "silu(%)",
                                    "gelu(%)",
                                    "gelu_tanh(%)",
                                    "softplus(%)",
                                    "mish(%)",
                                    "erf(%)",
                                    "normal_cdf(%)",
                                    "log_sigmoid(%)",
                                    "one_minus_sigmoid(%)",
                                    "abs(%)",
                                    "square(%)",
                                    "sqrt(abs(%))",
                                    "rsqrt(square(%) + 0.5)",
                                    "log(square(%) + 1)",
                                    "log1p(square(%))",
                                    "expm1(0.1 * %)",
                                    "pow(%, 2)",
                                    "pow(%, 3)",
                                    "pow(abs(%) + 0.25, 0.7)",
                                    "relu(%)",
                                    "exp2(0.1 * %)",
                                    "cast(f16, tanh(%))",
                                    "cast(bf16, %)",
                                    "(-%)"};
static const char *const binary[] = {"(% + %)",
                                     "(% - %)",
                                     "(% * %)",
                                     "(% * %)",
                                     "(% / (abs(%) + 1))",
                                     "min(%, %)",
                                     "max(%, %)",
                                     "fma(%, %, %)",
                                     "select(% < %, %, %)",
                                     "(0.5 * % + %)"};
static const char *const collapsing[] = {
    "sum[c < size(c)](%)",         "sum[c < size(c)](% * %)", "mean[c < size(c)](%)", "max[c < size(c)](%)",
    "min[c < size(c)](%)",         "prod[c < size(c)](%)",    "var[c < size(c)](%)",  "log_sum_exp[c < size(c)](%)",
    "sum[c < size(c) | c > r](%)", "mean[c < size(c)](% * %)"};
static const char *const keeping[] = {"softmax[c < size(c)](%)", "log_softmax[c < size(c)](%)",
                                      "standardize[c < size(c)](%, 1e-3)", "cumsum[c < size(c)](%)",
                                      "softmax[c < size(c) | c >= r](%)"};

static void draw_atom(drawing *to, bool wide)
{
    static const char *const all[] = {"v", "0.1", "2", "0.5", "x", "z", "w", "x"};
    const int line = (int)below(MOST_LINES);
    if (line < to->lines && (wide || !to->wide[line])) {
        add(to, to->wide[line] ? "a" : "b");
        add(to, (const char *const[]){"0", "1", "2"}[line]);
    } else {
        add(to, all[below(wide ? 8 : 4)]);
    }
}

static void draw_expression(drawing *to, bool wide, int depth)
{
    const uint64_t kind = below(10);
    const char *form;
    bool inner = wide;
    if (depth == 0 || kind < 2) {
        draw_atom(to, wide);
        return;
    }
    if (kind < 4 && to->reductions < MOST_REDUCTIONS) {
        to->reductions++;
        form = wide && below(2) ? keeping[below(sizeof keeping / sizeof *keeping)]
                                : collapsing[below(sizeof collapsing / sizeof *collapsing)];
        inner = true;
    } else {
        form = kind < 7 ? unary[below(sizeof unary / sizeof *unary)] : binary[below(sizeof binary / sizeof *binary)];
    }
    for (; *form; form++) {
        if (*form == '%')
            draw_expression(to, inner, depth - 1);
        else
            add(to, (const char[]){*form, 0});
    }
}

static void draw_definition(drawing *to)
{
    *to = (drawing){.length = 0};
    add(to, "op a(x[r, c], z[r, c], w[c], v[r]) -> y[r, c]\n");
    const int lines = (int)below(MOST_LINES + 1);
    for (int i = 0; i < lines; i++) {
        to->wide[i] = below(3) > 0;
        add(to, to->wide[i] ? "    a" : "    b");
        add(to, (const char *const[]){"0", "1", "2"}[i]);
        add(to, to->wide[i] ? "[r, c] = x * 0 + " : "[r] = v * 0 + ");
        draw_expression(to, to->wide[i], 3);
        add(to, "\n");
        to->lines++;
    }
    add(to, "    y[r, c] = x * 0 + ");
    draw_expression(to, true, 3);
    add(to, "\n");
}

TEST(drawn_definitions)
{
    static drawing d;
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < effort(DRAWN); i++) {
        stream = tki_random_stream(72, (uint64_t)i);
        const int64_t dims[TK_MAX_DIMS] = {1 + (int64_t)below(3), 1 + (int64_t)below(7)};
        draw_definition(&d);
        assert_true(try_definition(d.text, dims, (int)below(FAMILIES)));
    }
    say();
    assert_true(seen.unknown < seen.elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_definitions), cmocka_unit_test(drawn_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
