/* Ops that have a handwritten contract, written as definitions: the error of a careful evaluation that the interpreter derives, beside the bound that
 * the contract states, on the same inputs. A bias of zero is a term for the one, and none for the other. The table says by how much: derived / handwritten, smallest, mean and largest, by family. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/judge.h"
#include "judge/trial_inputs.h"
#include "model/case.h"
#include "model/op.h"
#include "tests/unit_test.h"
#include "trials/families.h"
#include "trials/levels.h"
#include "trials/op_registry.h"

enum { MOST_ELEMENTS = 4096 };

/* Sizes and tensors have the names that they have in the contract. */
typedef struct pair {
    const char *op, *output, *text;
    int64_t dims[3];
    double most[2]; /* of fp32 and fp16: the ratio is at most that; 0: it is only finite */
    bool no_less;   /* and at least 0.999: both follow from the same rule */
    const char *attribute, *choice;
} pair;

static const pair pairs[] = {
    {"gelu_fwd",
     "y",
     "op derived_gelu_fwd(x[n]) -> y[n]\n y = gelu_tanh(x)\n",
     {1500},
     {1.01, 1.01},
     false,
     NULL,
     NULL},
    {"gelu_bwd",
     "grad_input",
     "op derived_gelu_bwd(grad_output[n], x[n]) -> grad_input[n]\n"
     " z = 1.5957691216057308 * (x + 0.044715 * x * square(x))\n"
     " h = 1.5957691216057308 * x * (1 + 0.134145 * square(x))\n"
     " grad_input = grad_output * (sigmoid(z) * (1 + one_minus_sigmoid(z) * h))\n",
     {1500},
     {0},
     false,
     NULL,
     NULL},
    {"softmax_fwd",
     "y",
     "op derived_softmax_fwd(x[rows, cols]) -> y[rows, cols]\n y = softmax[cols](x)\n",
     {12, 100},
     {1.001, 1.001},
     true,
     NULL,
     NULL},
    {"softmax_bwd",
     "grad_input",
     "op derived_softmax_bwd(grad_output[rows, cols], y[rows, cols]) -> grad_input[rows, cols]\n"
     " grad_input = y * (grad_output - sum[cols](y * grad_output))\n",
     {12, 100},
     {0},
     false,
     NULL,
     NULL},
    {"gemm",
     "c",
     "op derived_gemm(a[m, k], b[k, n]) -> c[m, n]\n c[m, n] = sum[k](a * b)\n",
     {16, 12, 70},
     {1.001, 1.001},
     true,
     NULL,
     NULL},
    {"linear_fwd",
     "y",
     "op derived_linear_fwd(x[m, k], w[n, k], bias[n]) -> y[m, n]\n y[m, n] = bias + sum[k](x * w)\n",
     {16, 12, 70},
     {2.001, 2.001},
     false,
     "epilogue",
     "bias"},
    {"xent",
     "loss",
     "op derived_xent(logits[rows, cols], target[rows]: int in [0, cols)) -> loss[rows]: f32\n"
     " loss[rows] = log_sum_exp[cols](logits) - logits[rows, target[rows]]\n",
     {40, 50},
     {0},
     false,
     NULL,
     NULL},
};

/* Below this, bounds are of what underflows, and say how far that may be. */
#define SMALL 0x1p-100

typedef struct figures {
    int64_t elements, exact, small; /* of exact ones one of the bounds is 0, and the other is not */
    double least, sum, most;
} figures;

static tk_ctx *ctx;

static int param_named(const tk_contract *contract, const char *name)
{
    for (int p = 0; p < contract->param_count; p++)
        if (!strcmp(contract->params[p].name, name))
            return p;
    fail_msg("%s has no %s", contract->name, name);
    return -1;
}

static int64_t dim_named(const tk_case *of, const char *name)
{
    for (int d = 0; d < of->contract->dim_count; d++)
        if (!strcmp(of->contract->dim_names[d], name))
            return of->dims[d];
    fail_msg("there is no %s", name);
    return 0;
}

/* What the oracle says of every element of an output. */
static void enclose(const tk_case *c, void *const data[], int output, tki_enclosure out[])
{
    const tki_oracle *oracle;
    void *tables, *prepared = NULL;
    int64_t rows, cols;
    assert_int_equal(tki_oracle_open(ctx, c->contract, c->dtype, &oracle, &tables), TK_OK);
    tki_oracle_job job = {.c = c, .buffers = (const void *const *)data, .output = output, .tables = tables};
    if (oracle->prepare)
        assert_int_equal(oracle->prepare(&job, &prepared), TK_OK);
    job.prepared = prepared;
    tki_output_matrix(c, output, &rows, &cols);
    assert_true(rows * cols <= MOST_ELEMENTS);
    assert_int_equal(oracle->enclose(&job, &(tki_box){0, rows, 0, cols}, out), TK_OK);
    if (oracle->release)
        oracle->release(prepared);
}

static void note(const pair *p, double most, const tki_enclosure *ours, const tki_enclosure *derived, figures *f)
{
    if (ours->admits != TKI_ADMIT_INTERVAL || derived->admits != TKI_ADMIT_INTERVAL) /* infinities, overflow */
        return;
    const double e = derived->bound / 2; /* the contract of a definition admits twice that */
    assert_true(isfinite(e) && e >= 0);
    if (ours->bound == 0) { /* sums that are exact, whatever their order is */
        f->exact += e > 0;
        return;
    }
    if (ours->bound < SMALL) {
        f->small++;
        return;
    }
    if (e == 0 && !p->no_less) { /* sums of one term, which the contract does not tell from others */
        assert_true(derived->lo == derived->hi);
        f->exact++;
        return;
    }
    const double ratio = e / ours->bound;
    f->elements++;
    f->sum += ratio;
    f->least = fmin(f->least, ratio);
    f->most = fmax(f->most, ratio);
    if ((most > 0 && ratio > most) || (p->no_less && ratio < 0.999))
        fail_msg("%s: the derived bound is %.9g, the contract's %.9g, of %.9g", p->op, e, ours->bound, ours->lo);
}

static void compare(const pair *p, const tk_contract *defined, tk_dtype dtype, int family, figures *f)
{
    static tki_enclosure ours[MOST_ELEMENTS], derived[MOST_ELEMENTS];
    const tk_contract *contract = tk_contract_find(p->op);
    tki_trial trial = {.c = tk_case_init(contract, dtype), .family = family, .seed = 90};
    tki_inputs inputs;
    void *data[TK_MAX_PARAMS] = {NULL};
    memcpy(trial.c.dims, p->dims, sizeof p->dims);
    if (p->attribute) {
        const int attribute = tk_attribute_find(contract, p->attribute);
        trial.c.attributes[attribute].integer = tk_choice_find(&contract->attributes[attribute], p->choice);
    }
    assert_int_equal(tki_inputs_make(ctx, &trial, &TK_CERTIFY_DEFAULTS, &inputs), TK_OK);
    tk_case c = tk_case_init(defined, dtype);
    c.index_dtype = trial.c.index_dtype;
    for (int d = 0; d < defined->dim_count; d++)
        c.dims[d] = dim_named(&trial.c, defined->dim_names[d]);
    for (int i = 0; i < defined->param_count; i++)
        if (!defined->params[i].output)
            data[i] = inputs.data[param_named(contract, defined->params[i].name)];
    enclose(&trial.c, inputs.data, param_named(contract, p->output), ours);
    const int output = param_named(defined, p->output);
    enclose(&c, data, output, derived);
    for (int64_t i = 0; i < tk_case_elements(&c, output); i++)
        note(p, p->most[dtype == TK_F16], &ours[i], &derived[i], f);
    tki_inputs_free(&inputs);
}

static void print_figures(const char *op, tk_dtype dtype, const char *family, const figures *f)
{
    if (f->elements == 0)
        return;
    printf("| %s | %s | %s | %lld | %.4f | %.4f | %.4f | %lld | %lld |\n", op, tk_dtype_name(dtype), family,
           (long long)f->elements, f->least, f->sum / (double)f->elements, f->most, (long long)f->exact,
           (long long)f->small);
}

TEST(derived_and_handwritten)
{
    static const tk_dtype dtypes[] = {TK_F32, TK_F16};
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    printf("| op | type | family | elements | smallest | mean | largest | exact sums | small |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const tk_contract *defined;
        if (tk_op_define(ctx, pairs[i].text, strlen(pairs[i].text), NULL, &defined) != TK_OK)
            fail_msg("%s: %s", pairs[i].op, tk_ctx_message(ctx));
        for (int type = 0; type < 2; type++) {
            figures all = {.least = INFINITY};
            for (int family = 0; tk_family_at(family, NULL); family++) {
                figures f = {.least = INFINITY};
                if (!tk_family_applies(family, tk_contract_find(pairs[i].op)))
                    continue;
                compare(&pairs[i], defined, dtypes[type], family, &f);
                print_figures(pairs[i].op, dtypes[type], tk_family_at(family, NULL), &f);
                all.elements += f.elements;
                all.exact += f.exact;
                all.small += f.small;
                all.sum += f.sum;
                all.least = fmin(all.least, f.least);
                all.most = fmax(all.most, f.most);
            }
            print_figures(pairs[i].op, dtypes[type], "all", &all);
            assert_true(all.elements > 1000 && isfinite(all.most) && all.least > 0);
        }
    }
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(derived_and_handwritten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
