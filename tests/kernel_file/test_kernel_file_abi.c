/* A library that was built with the header of ABI 2 (tests/kernels/built/) is judged by an op of a program where that header can say what the
 * op is, and is not called where it cannot: more than four axes, later formats, numbers that are no fp32 numbers. */
#include <math.h>
#include <unistd.h>

#include "model/format.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

enum { X, MASK, Y };

static int run(const tk_case *c, void *const buffers[], void *data)
{
    (void)data;
    for (int64_t i = 0; i < tk_case_elements(c, X); i++)
        ((float *)buffers[Y])[i] = (float)c->attributes[0].real * ((const float *)buffers[X])[i];
    return 0;
}

static tk_status enclose(const tk_case *c, const void *const buffers[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        const float y = (float)c->attributes[0].real * ((const float *)buffers[X])[first + i];
        uint32_t bits;
        memcpy(&bits, &y, sizeof bits);
        out[i] = (tk_enclosure){.bits = bits, .admits = isnan(y) ? TK_ADMIT_NAN : TK_ADMIT_BITS};
    }
    return TK_OK;
}

/* y = factor x; `mask` is not read. */
static const tk_contract *register_scaled(tk_ctx *ctx, int rank, tk_dtype mask, double factor)
{
    const tk_param params[] = {
        [X] = {.name = "x", .rank = rank, .dim = (const int[]){0, 1, 2, 3, 4}, APART},
        [MASK] = {.name = "mask", .kind = TK_KIND_FIXED, .dtype = mask, .rank = 1, .dim = (const int[]){0}, APART},
        [Y] = {.name = "y", .output = true, .rank = rank, .dim = (const int[]){0, 1, 2, 3, 4}, APART}};
    const tk_contract scaled = {
        .name = "scaled",
        .summary = "a multiple",
        .formula = "y = factor x",
        .bound = "B = 0",
        .dim_count = 5,
        .dim_names = (const char *const[]){"a", "b", "c", "d", "e"},
        .param_count = 3,
        .params = params,
        .type_count = 1,
        .types = (const tk_types[]){{TK_F32, TK_F32}},
        .attribute_count = 1,
        .attributes = (const tk_attribute[]){{.name = "factor",
                                              .text = "of x",
                                              .type = TK_ATTRIBUTE_REAL,
                                              .initial = {.real = factor},
                                              .least = {.real = -2},
                                              .most = {.real = 2},
                                              .seen_by_kernel = true}},
        .clause_count = 4,
        .clauses = (const tk_clause[]){{TK_CLAUSE_VALUE, "SCALED.VALUE", "every y is the rounding of the exact one"},
                                       {TK_CLAUSE_WRITE, "SCALED.WRITE", "every y is written, and nothing else"},
                                       {TK_CLAUSE_SHAPE, "SCALED.SHAPE", "any sizes"},
                                       {TK_CLAUSE_REPEAT, "SCALED.REPEAT", "the same inputs, the same bits"}},
    };
    const tk_implementation plain = {.name = "plain", .run = run};
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose;
    assert_ok(ctx, tk_contract_register(ctx, &scaled, 1, &plain, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    return op;
}

static char library[64];

/* UNKNOWN for that reason; HELD if it is NULL. */
static void assert_judged(int rank, tk_dtype mask, double factor, const char *reason)
{
    tk_ctx *ctx = new_context();
    tk_kernel_file *kernel = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const tk_contract *op = register_scaled(ctx, rank, mask, factor);
    assert_ok(ctx, tk_kernel_file_open(ctx, library, NULL, &kernel));
    assert_true(tk_kernel_file_defines(kernel, op));
    options.kernel_file = kernel;
    options.seed = 5;
    tk_certificate *certificate = certify_one(ctx, op, TK_F32, TK_I32, options);
    if (!reason)
        assert_held(certificate);
    else if (tk_certificate_verdict(certificate) != TK_UNKNOWN || !strstr(tk_certificate_reason(certificate), reason))
        fail_msg("rank %d, %s, %g: %s: %s", rank, tk_dtype_name(mask), factor, tk_certificate_headline(certificate),
                 tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    tk_kernel_file_close(kernel);
    tk_ctx_destroy(ctx);
}

TEST(what_abi_2_can_say_is_judged)
{
    assert_judged(4, TK_U64, 0.5, NULL);
    assert_judged(1, TK_F32, -1, NULL);
}

TEST(what_it_cannot_say_is_unknown)
{
    assert_judged(5, TK_F32, 0.5, "x has rank 5; ABI 2 allows at most 4");
    assert_judged(4, TK_F32, 0.1, "factor is not an fp32 number");
    assert_judged(4, TK_F32, 0x1.00000008p0, "factor is not an fp32 number");
    for (tk_dtype later = TK_U64 + 1; tki_is_dtype(later); later++)
        assert_judged(1, later, 0.5, "mask has an element type that ABI 2 lacks");
}

static int unpack(void **state)
{
    char folder[] = "/tmp/tokitai_abi_XXXXXX", command[4096];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(library, sizeof library, "%s/abi2.so", folder);
    snprintf(command, sizeof command, "base64 -d '%s/tests/kernels/built/abi2.b64' | gzip -d >'%s'",
             getenv("SOURCE_DIR"), library);
    return system(command);
}

static int clean_up(void **state)
{
    (void)state;
    unlink(library);
    *strrchr(library, '/') = 0;
    return rmdir(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_abi_2_can_say_is_judged),
        cmocka_unit_test(what_it_cannot_say_is_unknown),
    };
#if !defined(__x86_64__)
    return 77; /* the bytes are of another processor */
#endif
    return cmocka_run_group_tests_name("kernel_abi", tests, unpack, clean_up);
}
