/* An op whose tensors have types of their own in each assignment of types: the factor, and the two inputs of indices. */
#include <jansson.h>
#include <unistd.h>

#include "core/dtype.h"
#include "exact/round.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

/* y[i] = x[a[i]] w[b[i]] */
enum { N, U, V };
enum { X, A, B, W, Y, TENSORS };
enum { BY_BOUND, BY_VALUE };

static const tk_dtype tensor_types[2][TENSORS] = {{TK_F16, TK_I32, TK_I64, TK_F32, TK_F32},
                                                  {TK_F16, TK_I64, TK_I32, TK_BF16, TK_F32}};

static const tk_contract contract = {
    .name = "picked",
    .summary = "products of picked elements",
    .formula = "y = x[a] w[b]",
    .bound = "B = 0",
    .dim_count = 3,
    .dim_names = (const char *const[]){"n", "u", "v"},
    .param_count = TENSORS,
    .params =
        (const tk_param[]){
            [X] = {.name = "x", .rank = 1, .dim = (const int[]){U}, APART},
            [A] = {.name = "a", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){N}, .indexed_dim = U, APART},
            [B] = {.name = "b", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){N}, .indexed_dim = V, APART},
            [W] = {.name = "w", .rank = 1, .dim = (const int[]){V}, APART},
            [Y] = {.name = "y", .output = true, .kind = TK_KIND_RESULT, .rank = 1, .dim = (const int[]){N}, APART}},
    .type_count = 2,
    .types = (const tk_types[]){{TK_F16, TK_F32}, {TK_F16, TK_BF16}},
    .tensor_types = tensor_types[0],
    .clause_count = 2,
    .clauses = (const tk_clause[]){[BY_BOUND] = {TK_CLAUSE_ERROR, "PICKED.ERR", "every y is the rounded product"},
                                   [BY_VALUE] = {TK_CLAUSE_VALUE, "PICKED.SPECIAL", "of NaN and infinity: anything"}},
};

typedef enum way { RIGHT, IN_F16, FIRST_FACTOR, BY_NAME } way;

static double product(const tk_case *c, const void *const buffers[], int64_t i)
{
    const tk_dtype w = tk_case_param_dtype(c, W);
    const int64_t a = tki_index_at(tk_case_param_dtype(c, A), buffers[A], i);
    const int64_t b = tki_index_at(tk_case_param_dtype(c, B), buffers[B], i);
    return tki_decode(TK_F16, tki_element_bits(TK_F16, buffers[X], a)) *
           tki_decode(w, tki_element_bits(w, buffers[W], b));
}

/* A product of 11 bits and 24 is exact in double. */
static tk_status enclose(const tk_case *c, const void *const buffers[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        const double y = product(c, buffers, first + i);
        out[i] = isfinite(y) ? (tk_enclosure){.lo = y, .hi = y, .admits = TK_ADMIT_INTERVAL, .clause = BY_BOUND}
                             : (tk_enclosure){.admits = TK_ADMIT_ANY & ~TK_ADMIT_UNDEFINED, .clause = BY_VALUE};
    }
    return TK_OK;
}

static int run(const tk_case *c, void *const buffers[], void *data)
{
    const way how = (way)(intptr_t)data;
    const tk_dtype dtype = how == BY_NAME ? c->result_dtype : tk_case_param_dtype(c, Y);
    for (int64_t i = 0; i < c->dims[N]; i++) {
        double y = product(c, (const void *const *)buffers, how == FIRST_FACTOR ? i / 2 : i);
        y = how == IN_F16 ? tki_decode(TK_F16, tki_round_double(TK_F16, y)) : y;
        tki_put_bits(dtype, buffers[Y], i, tki_round_double(dtype, y));
    }
    return 0;
}

#define WAY(how) ((void *)(intptr_t)(how))

static const tk_implementation implementations[] = {{.name = "plain", .run = run, .user_data = WAY(RIGHT)}};

static const tk_planted mutants[] = {{"in_f16", "rounds to fp16 first", run, WAY(IN_F16), TK_QUICK},
                                     {"other_place", "takes each place twice", run, WAY(FIRST_FACTOR), TK_QUICK}};

static const tk_contract *register_picked(tk_ctx *ctx, const tk_contract *made)
{
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose;
    reference.mutant_count = 2;
    reference.mutants = mutants;
    assert_ok(ctx, tk_contract_register(ctx, made, 1, implementations, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    return op;
}

TEST_WITH_CONTEXT(each_tensor_has_its_type)
{
    const tk_contract *op = register_picked(ctx, &contract);
    assert_false(tk_contract_takes_index(op));
    for (int i = 0; i < 2; i++) {
        tk_case c = tk_case_init(op, op->types[i].dtype);
        c.result_dtype = op->types[i].result_dtype;
        c.index_dtype = TK_BF16; /* is not read */
        c.dims[N] = c.dims[U] = 2, c.dims[V] = 1;
        for (int p = 0; p < TENSORS; p++)
            assert_int_equal(tk_case_param_dtype(&c, p), tensor_types[i][p]);
        uint16_t x[] = {0x3c00, 0x4000}; /* 1, 2 */
        int64_t wide[] = {1, 0}, zeros[] = {0, 0};
        int32_t narrow[] = {1, 0};
        float three = 3;
        uint16_t half = 0x3f00;
        float y[2] = {0, 0};
        int32_t first[2] = {0, 0};
        void *const buffers[] = {x, i ? (void *)wide : (void *)narrow, i ? (void *)first : (void *)zeros,
                                 i ? (void *)&half : (void *)&three, y};
        assert_ok(ctx, tk_run(ctx, &c, buffers));
        assert_true((double)y[0] == (i ? 1 : 6) && (double)y[1] == (i ? 0.5 : 3));
        first[1] = 7;
        assert_refused(ctx, i ? tk_run(ctx, &c, buffers) : TK_BAD_INDEX, TK_BAD_INDEX, i ? "b[1] = 7" : "");
    }
    tk_case c = tk_case_init(op, TK_F16);
    assert_refused(ctx, tk_case_check(ctx, &c, (void *[TENSORS]){NULL}), TK_BAD_ARGUMENT,
                   "it takes f16-f32, f16-bf16");
}

static tk_certificate *certify(tk_ctx *ctx, const tk_contract *op, int assignment, tk_certify_options options)
{
    options.result_dtype = &op->types[assignment].result_dtype;
    return certify_one(ctx, op, TK_F16, TK_I32, options);
}

TEST_WITH_CONTEXT(the_certificate_says_each_type)
{
    static const char *const types[2][TENSORS] = {{"f16", "i32", "i64", "f32", "f32"},
                                                  {"f16", "i64", "i32", "bf16", "f32"}};
    static const char *const ids[] = {"cpu.picked.f16-f32.plain", "cpu.picked.f16-bf16.plain"};
    const tk_contract *op = register_picked(ctx, &contract);
    for (int i = 0; i < 2; i++) {
        int rejected = 0;
        tk_certificate *certificate = certify(ctx, op, i, TK_CERTIFY_DEFAULTS);
        assert_held(certificate);
        assert_string_equal(tk_certificate_subject(certificate), ids[i]);
        assert_int_equal(tk_certificate_mutants(certificate, &rejected), 2);
        assert_int_equal(rejected, 2);
        json_t *statement = json_loads(tk_certificate_json(certificate), 0, NULL);
        const json_t *run = json_object_get(json_object_get(statement, "predicate"), "run");
        const json_t *said = json_object_get(run, "tensor_types");
        assert_int_equal(json_object_size(said), TENSORS);
        for (int p = 0; p < TENSORS; p++)
            assert_string_equal(json_string_value(json_object_get(said, contract.params[p].name)), types[i][p]);
        assert_null(json_object_get(run, "index_dtype"));
        json_decref(statement);
        tk_certificate_destroy(certificate);
    }
}

/* The name of the second assignment says bf16 for the result, which is fp32. */
TEST_WITH_CONTEXT(a_kernel_that_goes_by_the_name_is_refuted)
{
    const tk_contract *op = register_picked(ctx, &contract);
    for (int i = 0; i < 2; i++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel = run;
        options.kernel_data = WAY(BY_NAME);
        options.skip_coverage = true;
        tk_certificate *certificate = certify(ctx, op, i, options);
        assert_int_equal(tk_certificate_verdict(certificate), i ? TK_REFUTED : TK_HELD);
        tk_certificate_destroy(certificate);
    }
}

/* Where the op is registered with other types of its tensors, under the same names, it is another op. */
TEST_WITH_CONTEXT(replayed_with_the_same_types_alone)
{
    static const tk_dtype others[2][TENSORS] = {{TK_F16, TK_I32, TK_I32, TK_F32, TK_F32},
                                                {TK_F16, TK_I64, TK_I64, TK_BF16, TK_F32}};
    tk_contract changed = contract;
    changed.tensor_types = others[0];
    tk_ctx *other = new_context();
    tk_certificate *certificate = certify(ctx, register_picked(ctx, &contract), 1, TK_CERTIFY_DEFAULTS);
    (void)register_picked(other, &changed);
    for (int i = 0; i < 2; i++) {
        bool same = i;
        int64_t not_listed = -1;
        char *difference = NULL;
        assert_ok(i ? other : ctx,
                  tk_certificate_replay(i ? other : ctx, certificate, NULL, &same, &not_listed, &difference));
        if (same == i)
            fail_msg("%d: %s", i, difference ? difference : "no difference was told");
        assert_true(!i || strstr(difference, "run.tensor_types.b is now \"i64\""));
        free(difference);
    }
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(other);
}

static const char abi_3[] =
    "#include <tokitai_kernel.h>\n"
    "static int64_t at(const tokitai_tensor3 *t, int64_t i)\n"
    "{\n"
    "    return t->dtype == TOKITAI_I64 ? ((const int64_t *)t->data)[i] : ((const int32_t *)t->data)[i];\n"
    "}\n"
    "TOKITAI_KERNEL3(picked)\n"
    "{\n"
    "    const tokitai_tensor3 *t = call->tensors;\n"
    "    for (int64_t i = 0; i < t[4].shape[0]; i++)\n"
    "        tokitai_store_as(t[4].dtype, t[4].data, i, tokitai_load_as(t[0].dtype, t[0].data, at(&t[1], i)) *\n"
    "                                                       tokitai_load_as(t[3].dtype, t[3].data, at(&t[2], i)));\n"
    "    return 0;\n"
    "}\n";

TEST_WITH_CONTEXT(a_kernel_file_gets_each_type)
{
    const tk_contract *op = register_picked(ctx, &contract);
    char folder[] = "/tmp/tokitai_types_XXXXXX", path[128];
    tk_kernel_file *kernel = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/picked.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(abi_3, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, tk_kernel_file_open(ctx, path, NULL, &kernel));
    for (int i = 0; i < 2; i++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.kernel_file = kernel;
        options.skip_coverage = true;
        tk_certificate *certificate = certify(ctx, op, i, options);
        assert_held(certificate);
        tk_certificate_destroy(certificate);
    }
    tk_kernel_file_close(kernel);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tensor_has_its_type),
        cmocka_unit_test(the_certificate_says_each_type),
        cmocka_unit_test(a_kernel_that_goes_by_the_name_is_refuted),
        cmocka_unit_test(replayed_with_the_same_types_alone),
        cmocka_unit_test(a_kernel_file_gets_each_type),
    };
    return cmocka_run_group_tests_name("tensor_types", tests, NULL, NULL);
}
