/* How fast ops that are definitions are judged: each of the built-in ones on normal inputs and on right outputs, in fp32 and fp16. Prints elements a
 * second for two cores, by the processor's time, and for products the share of the handwritten gemm oracle's speed at as many products. What is
 * asserted is that every element is judged, and found right. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/domain.h"
#include "exact/round.h"
#include "judge/judge_case.h"
#include "model/case.h"
#include "tests/op_test.h"

enum { CORES = 2, MOST_DIMS = 12 };

typedef struct measured {
    const char *file, *name;
    int64_t dims[MOST_DIMS]; /* those that are given, in the contract's order; 0 where one follows */
    double products;         /* 0: none that gemm has */
} measured;

#define N (INT64_C(1) << 21)
#define ROWS       \
    {              \
        2048, 1024 \
    }
static const measured all[] = {
    {"relu", "relu", {N}, 0},
    {"silu", "silu", {N}, 0},
    {"mish", "mish", {N}, 0},
    {"gelu", "gelu", {N}, 0},
    {"gelu", "gelu_tanh", {N}, 0},
    {"softplus", "softplus", {N}, 0},
    {"softmax", "softmax", ROWS, 0},
    {"softmax", "log_softmax", ROWS, 0},
    {"rmsnorm", "rmsnorm_fwd", ROWS, 0},
    {"rmsnorm", "rmsnorm_bwd", ROWS, 0},
    {"layernorm", "layernorm_fwd", ROWS, 0},
    {"layernorm", "layernorm_bwd", ROWS, 0},
    {"cross_entropy", "cross_entropy", {2048, 1024}, 0},
    {"cross_entropy", "cross_entropy_bwd", {2048, 1024}, 0},
    {"cumsum", "cumsum", ROWS, 0},
    {"dropout", "dropout", {N}, 0},
    {"max_pool2d", "max_pool2d", {16, 64, 64, 64}, 0},
    {"embedding", "embedding", {4096, 1000, 512}, 0},
    {"embedding", "embedding_grad", {4096, 512, 1000}, 0},
    {"topk", "topk", {1024, 1024}, 0},
    {"topk", "argmax", {1024, 1024}, 0},
    {"matmul", "matmul", {1024, 1024, 1024}, 0x1p30},
    {"conv2d", "conv2d", {8, 64, 66, 66, 64, 64, 3, 3}, 8 * 64.0 * 64 * 64 * 576},
    {"attention", "attention_causal", {16, 512, 64, 512, 64}, 16 * 512.0 * 512 * 128},
};

/* -- A case with its inputs and right outputs ------------------------------------------------------------------------ */

typedef struct instance {
    const tki_oracle *oracle;
    void *tables;
    tk_case c;
    void *tensors[TK_MAX_PARAMS];
    int64_t elements; /* of all inputs or all outputs, whichever are more: a loss looks at each element of its rows */
} instance;

static double normal(tki_random *random)
{
    return sqrt(-2 * log(tki_random_unit(random) + 0x1p-60)) * cos(6.283185307179586 * tki_random_unit(random));
}

static void draw(instance *it, int p, tki_random *random)
{
    const tk_dtype dtype = tk_case_param_dtype(&it->c, p);
    const int64_t count = tk_case_elements(&it->c, p);
    for (int64_t i = 0; i < count; i++) {
        if (dtype == TK_I32) {
            ((int32_t *)it->tensors[p])[i] = (int32_t)tki_random_below(random, (uint64_t)tki_index_values(&it->c, p));
            continue;
        }
        const uint32_t bits = tki_round_double(dtype, normal(random));
        tki_put_bits(dtype, it->tensors[p], i,
                     tki_domain_limits(&it->c, p) ? tki_domain_place(&it->c, p, bits) : bits);
    }
}

static tki_oracle_job job_of(const instance *it, const void *inputs[], bool written)
{
    for (int p = 0; p < it->c.contract->param_count; p++)
        inputs[p] = it->c.contract->params[p].output ? NULL : it->tensors[p];
    return (tki_oracle_job){.c = &it->c,
                            .buffers = inputs,
                            .written = written ? (const void *const *)it->tensors : NULL,
                            .tables = it->tables};
}

static void put_right(const instance *it, int p, int64_t first, int64_t count, const tki_enclosure *e)
{
    const tk_dtype dtype = tk_case_param_dtype(&it->c, p);
    for (int64_t i = 0; i < count; i++) {
        assert_false(e[i].admits & TKI_UNDEFINED);
        if (dtype == TK_I64)
            ((int64_t *)it->tensors[p])[first + i] = (int64_t)e[i].bits;
        else if (dtype == TK_I32)
            ((int32_t *)it->tensors[p])[first + i] = (int32_t)e[i].bits;
        else if (e[i].admits & TKI_ADMIT_BITS)
            tki_put_bits(dtype, it->tensors[p], first + i, (uint32_t)e[i].bits);
        else
            tki_put_bits(dtype, it->tensors[p], first + i,
                         tki_round_double(dtype, e[i].lo + (e[i].hi - e[i].lo) / 2));
    }
}

/* Integers that a kernel may choose first: other outputs may go by them. */
static void make_right(instance *it, bool integers)
{
    const void *inputs[TK_MAX_PARAMS];
    tki_oracle_job job = job_of(it, inputs, !integers);
    void *prepared = NULL;
    if (it->oracle->prepare)
        assert_int_equal(it->oracle->prepare(&job, &prepared), TK_OK);
    job.prepared = prepared;
    for (int p = 0; p < it->c.contract->param_count; p++) {
        if (!it->c.contract->params[p].output || (it->c.contract->params[p].judged == TK_BY_INTEGER) != integers ||
            !tk_case_elements(&it->c, p))
            continue;
        int64_t rows, cols;
        tki_output_matrix(&it->c, p, &rows, &cols);
        job.output = p;
        tki_enclosure *e = malloc((size_t)cols * sizeof *e);
        for (int64_t row = 0; row < rows; row++) {
            const tki_box box = {row, row + 1, 0, cols};
            assert_int_equal(it->oracle->enclose(&job, &box, e), TK_OK);
            put_right(it, p, row * cols, cols, e);
        }
        free(e);
    }
    if (it->oracle->release)
        it->oracle->release(prepared);
}

static void make_instance(tk_ctx *ctx, instance *it, const tk_contract *contract, tk_dtype dtype, const int64_t *dims)
{
    *it = (instance){.c = tk_case_init(contract, dtype)};
    for (int d = 0; d < contract->dim_count; d++)
        it->c.dims[d] = dims[d];
    assert_true(tki_case_settle(&it->c));
    assert_ok(ctx, tki_oracle_open(ctx, contract, dtype, &it->oracle, &it->tables));
    tki_random random = tki_random_stream(91, (uint64_t)dtype);
    int64_t of_inputs = 0, of_outputs = 0;
    for (int p = 0; p < contract->param_count; p++) {
        const int64_t count = tk_case_elements(&it->c, p);
        it->tensors[p] = calloc((size_t)count + 1, tk_dtype_size(tk_case_param_dtype(&it->c, p)));
        assert_non_null(it->tensors[p]);
        *(contract->params[p].output ? &of_outputs : &of_inputs) += count;
        if (!contract->params[p].output)
            draw(it, p, &random);
    }
    it->elements = of_inputs > of_outputs ? of_inputs : of_outputs;
    if (!strcmp(contract->name, "rmsnorm_bwd") || !strcmp(contract->name, "layernorm_bwd"))
        it->elements /= 2; /* x and its gradient are one element */
}

static void free_instance(instance *it)
{
    for (int p = 0; p < it->c.contract->param_count; p++)
        free(it->tensors[p]);
}

/* -- Time ------------------------------------------------------------------------------------------------------------- */

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of a few, on two cores. */
static double seconds_of(tk_ctx *ctx, const instance *it)
{
    enum { TIMES = 3 };
    double least = INFINITY;
    int64_t each = 0;
    for (int p = 0; p < it->c.contract->param_count; p++)
        each += it->c.contract->params[p].output ? tk_case_elements(&it->c, p) : 0;
    for (int i = 0; i < TIMES; i++) {
        tki_judgement *found = calloc(1, sizeof *found);
        const double begin = processor_seconds();
        assert_ok(ctx, tki_judge_case(ctx, it->oracle, it->tables, &it->c, (const void *const *)it->tensors,
                                      (tki_judged_how){0}, found));
        least = fmin(least, (processor_seconds() - begin) / CORES);
        assert_int_equal(found->elements, each);
        assert_int_equal(found->undefined + found->undecided, 0);
        for (int k = 0; k < TK_MAX_CLAUSES; k++)
            assert_int_equal(found->failed[k], 0);
        free(found);
    }
    return least;
}

static double seconds_of_gemm(tk_ctx *ctx, tk_dtype dtype, double products)
{
    const int64_t side = (int64_t)cbrt(products);
    const int64_t dims[MOST_DIMS] = {side, side, side};
    instance it;
    make_instance(ctx, &it, tk_contract_find("gemm"), dtype, dims);
    make_right(&it, false);
    const double seconds = seconds_of(ctx, &it) * products / pow((double)side, 3);
    free_instance(&it);
    return seconds;
}

static const tk_contract *definition_of(tk_ctx *ctx, const measured *m)
{
    char path[4096], text[8192];
    const tk_contract *contract = NULL;
    snprintf(path, sizeof path, "%s/src/ops/definitions/%s.op", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".",
             m->file);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t size = fread(text, 1, sizeof text, in);
    fclose(in);
    assert_ok(ctx, tk_op_define(ctx, text, size, m->name, &contract));
    return contract;
}

static void measure(tk_ctx *ctx, const measured *m, tk_dtype dtype)
{
    const tk_contract *contract = definition_of(ctx, m);
    int64_t dims[MOST_DIMS] = {0};
    for (int d = 0, given = 0; d < contract->dim_count; d++)
        dims[d] = tki_is_derived(contract, d) ? 0 : m->dims[given++];
    instance it;
    make_instance(ctx, &it, contract, dtype, dims);
    make_right(&it, true);
    make_right(&it, false);
    const double seconds = seconds_of(ctx, &it);
    printf("%-20s %-4s %9lld elements %7.1f million a second", m->name, tk_dtype_name(dtype), (long long)it.elements,
           (double)it.elements / seconds * 1e-6);
    if (m->products > 0)
        printf(", %.2f of gemm", seconds_of_gemm(ctx, dtype, m->products) / seconds);
    printf("\n");
    fflush(stdout);
    free_instance(&it);
}

TEST_WITH_CONTEXT(elements_a_second)
{
    const char *only = getenv("TOKITAI_ONLY");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int k = 0; k < 2; k++)
            /* In fp16 many are the largest, and right indices would have to be chosen. */
            if ((!only || !strcmp(only, all[i].name)) && !(k && !strcmp(all[i].name, "topk")))
                measure(ctx, &all[i], k ? TK_F16 : TK_F32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_a_second)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
