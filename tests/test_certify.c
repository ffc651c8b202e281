/* Certification as a program asks for it: of a function of its own, from wherever it lies, and with options that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/certificate_test.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"

/* -- A program's own function ------------------------------------------------------------------------------------------ */

static int good_function(const tk_case *c, void *const b[], void *data)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    tk_status status = tk_run(ctx, c, b);
    tk_ctx_destroy(ctx);
    ++*(int *)data;
    return status != TK_OK;
}

static int bad_function(const tk_case *c, void *const b[], void *data)
{
    int result = good_function(c, b, data);
    if (c->dims[0] > 10)
        ((uint16_t *)b[2])[10] ^= 1;
    return result;
}

static int unwilling_function(const tk_case *c, void *const b[], void *data)
{
    (void)b;
    (void)data;
    return c->dims[0] > 2 ? 42 : 0;
}

static tk_certificate *certify_function(tk_ctx *ctx, tk_kernel kernel, int *calls, const char *name)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = kernel;
    options.kernel_data = calls;
    options.kernel_name = name;
    options.dims = (int64_t[]){33, 1, 3};
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

static void functions_that_a_program_brings(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    int calls = 0;
    bool same = true;
    tk_certificate *certificate = certify_function(ctx, good_function, &calls, "mine");
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_string_equal(tk_certificate_subject(certificate), "mine");
    assert_true(calls > 4);
    assert_non_null(strstr(tk_certificate_json(certificate), "could have tampered"));
    assert_refused(ctx, tk_certificate_replay(ctx, certificate, NULL, NULL, &same, NULL, NULL), TK_UNAVAILABLE,
                   "function");
    assert_false(same);
    tk_certificate_destroy(certificate);

    certificate = certify_function(ctx, bad_function, &calls, NULL);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_string_equal(tk_certificate_subject(certificate), "function");
    assert_non_null(strstr(tk_certificate_reason(certificate), ": out[10]"));
    assert_non_null(strstr(tk_certificate_reproduce(certificate), "--shape queries=11,dim=1,vocab="));
    assert_non_null(strstr(tk_certificate_markdown(certificate), "REFUTED"));
    assert_non_null(strstr(tk_certificate_markdown(certificate), tk_certificate_reproduce(certificate)));
    tk_certificate_destroy(certificate);

    certificate = certify_function(ctx, unwilling_function, NULL, "unwilling");
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    assert_non_null(strstr(tk_certificate_reason(certificate), "failure 42"));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* A name is whatever the program chose; JSON is UTF-8, and a file name is a file name. */
static void names_of_functions(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    int calls = 0;
    char many[401] = "";
    for (int i = 0; i < 200; i++)
        strcat(many, "\xc3\xa9"); /* longer than the place for it, which ends within a character */
    const char *const names[] = {"caf\xc3\xa9", "with \"quotes\" and \\", many, many + 2};
    for (int i = 0; i < 4; i++) {
        tk_certificate *certificate = certify_function(ctx, good_function, &calls, names[i]);
        assert_memory_equal(tk_certificate_subject(certificate), names[i], 5);
        const char *text = tk_certificate_json(certificate);
        tk_certificate *read;
        assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
        tk_certificate_destroy(read);
        tk_certificate_destroy(certificate);
    }
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = good_function;
    options.kernel_data = &calls;
    options.kernel_name = "\xff\xfe not UTF-8";
    options.dims = (int64_t[]){3, 1, 2};
    tk_certificate *certificate = NULL;
    assert_refused(ctx, tk_certify(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, &options, &certificate),
                   TK_BAD_ARGUMENT, "UTF-8");
    assert_null(certificate);
    static const char *const bad[] = {"a/b", "../x", ".hidden", "."};
    for (int i = 0; i < 4; i++) {
        certificate = certify_function(ctx, good_function, &calls, bad[i]);
        assert_refused(ctx, tk_certificate_write(ctx, certificate, "out", NULL), TK_BAD_ARGUMENT,
                       "cannot be a file name");
        assert_int_equal(entries("out"), 0);
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

/* -- Floating-point environments ---------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static uint64_t get_environment(void)
{
    return __builtin_ia32_stmxcsr() & 0xffc0; /* without what has happened so far */
}
static void set_environment(uint64_t bits)
{
    __builtin_ia32_ldmxcsr((unsigned)bits);
}
enum { ODD = 0x9fc0 | 0x4000 }; /* subnormal numbers are flushed, in and out; rounding upwards */
#else
static uint64_t get_environment(void)
{
    return __builtin_aarch64_get_fpcr();
}
static void set_environment(uint64_t bits)
{
    __builtin_aarch64_set_fpcr((unsigned)bits);
}
enum { ODD = 1 << 24 | 1 << 22 };
#endif

/* What -ffast-math does at a program's start, and torch.set_flush_denormal() at any time. */
static void the_callers_environment(void **state)
{
    (void)state;
    static const char *const ops[] = {"embedding_bwd", "softmax_bwd", "softmax_fwd", "gelu_bwd", "xent", "gemm"};
    static const char *const families[] = {"subnormal", "normal"};
    tk_ctx *ctx = new_context();
    const uint64_t usual = get_environment();
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++) {
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.family = families[k];
            options.dims = (int64_t[]){33, 40, 17};
            set_environment(ODD);
            tk_certificate *certificate = NULL;
            tk_status status = tk_certify(ctx, tk_contract_find(ops[i]), TK_BF16, TK_I32, &options, &certificate);
            const uint64_t after = get_environment();
            set_environment(usual);
            assert_ok(ctx, status);
            assert_int_equal(after, ODD);
            if (tk_certificate_verdict(certificate) != TK_HELD)
                fail_msg("%s %s: %s", ops[i], families[k], tk_certificate_reason(certificate));
            tk_certificate_destroy(certificate);
        }
    tk_ctx_destroy(ctx);
}

/* Flushes one element, and leaves its thread as such code does. */
static int flushing_function(const tk_case *c, void *const b[], void *data)
{
    int result = good_function(c, b, data);
    uint16_t *out = b[2];
    if (tk_case_elements(c, 2) > 0 && !(out[0] & 0x7f80))
        out[0] = 0;
    set_environment(ODD);
    return result;
}

static void a_function_that_changes_the_environment(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    assert_ok(ctx, tk_ctx_set_threads(ctx, 1));
    int calls = 0;
    const uint64_t usual = get_environment();
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = flushing_function;
    options.kernel_data = &calls;
    options.family = "subnormal";
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("embedding_bwd"), TK_BF16, TK_I32, options);
    assert_int_equal(get_environment(), usual);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_non_null(strstr(tk_certificate_reason(certificate), "grad_weight[0] is 0x0"));
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* -- Paths that are not UTF-8: main() below, started again from such a place -------------------------------------------- */

static int certify_here(void)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    int calls = 0;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = good_function;
    options.kernel_data = &calls;
    options.dims = (int64_t[]){3, 1, 2};
    tk_certificate *certificate = NULL;
    tk_status status = tk_certify(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, &options, &certificate);
    if (status != TK_OK)
        fprintf(stderr, "%s\n", tk_ctx_message(ctx));
    bool good = status == TK_OK && strstr(tk_certificate_json(certificate), "/caf?/program\"");
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
    return good ? 0 : 1;
}

static void programs_in_any_directory(void **state)
{
    (void)state;
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = 0;
    assert_int_equal(mkdir("caf\xe9", 0777), 0); /* Latin-1 */
    char *command = NULL;
    assert_true(asprintf(&command, "cp '%s' 'caf\xe9/program'", self) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    *strrchr(self, '/') = 0;
    *strrchr(self, '/') = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("LD_LIBRARY_PATH", self, 1); /* its own search path was relative to where it lay */
        execl("caf\xe9/program", "program", "--certify-here", (char *)NULL);
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void bad_options(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_certificate *made = NULL;
    uint64_t bits[3] = {0x3c00, 0, 0x10000};
    int64_t three[] = {3};
    const tk_certify_options defaults = TK_CERTIFY_DEFAULTS;
    assert_int_equal(tk_certify(NULL, contract, TK_F16, TK_I32, &defaults, &made), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certify(ctx, NULL, TK_F16, TK_I32, &defaults, &made), TK_BAD_ARGUMENT, "no contract");
    assert_refused(ctx, tk_certify(ctx, contract, TK_F16, TK_I32, &defaults, NULL), TK_BAD_ARGUMENT, "nowhere");
    assert_refused(ctx, tk_certify(ctx, contract, TK_F32, TK_I32, &defaults, &made), TK_BAD_ARGUMENT, "f32");

    struct {
        tk_certify_options options;
        const char *message;
    } bad[16] = {{.message = "level"},          {.message = "family"},          {.message = "wrong kernel"},
                 {.message = "not two"},        {.message = "no lowering"},     {.message = "backend"},
                 {.message = "negative"},       {.message = "without a shape"}, {.message = "no input 'q'"},
                 {.message = "has 2 elements"}, {.message = "16-bit"},          {.message = "level"},
                 {.message = "no name"},        {.message = "not given"}};
    for (int i = 0; i < 14; i++)
        bad[i].options = defaults;
    bad[0].options.level = (tk_level)7;
    bad[1].options.family = "nothing";
    bad[2].options.mutant = "nothing";
    bad[3].options.mutant = "all_zeros";
    bad[3].options.kernel = good_function;
    bad[4].options.lowering = "cpu.gelu_fwd.f16.nothing";
    bad[5].options.backend = "abacus";
    bad[6].options.dims = (int64_t[]){-1};
    bad[7].options.inputs = &(tk_given_input){"x", bits, 3};
    bad[7].options.input_count = 1;
    bad[8].options.inputs = &(tk_given_input){"q", bits, 3};
    bad[8].options.input_count = 1;
    bad[8].options.dims = three;
    bad[9].options.inputs = &(tk_given_input){"x", bits, 2};
    bad[9].options.input_count = 1;
    bad[9].options.dims = three;
    bad[10].options.inputs = &(tk_given_input){"x", bits, 3};
    bad[10].options.input_count = 1;
    bad[10].options.dims = three;
    bad[11].options.level = (tk_level)-1;
    bad[12].options.inputs = &(tk_given_input){NULL, bits, 3};
    bad[12].options.input_count = 1;
    bad[12].options.dims = three;
    bad[13].options.inputs = &(tk_given_input){"x", bits, 2};
    bad[13].options.input_count = 1;
    bad[13].options.dims = (int64_t[]){2};
    for (int i = 0; i < 14; i++) {
        const tk_contract *op = i == 13 ? tk_contract_find("gelu_bwd") : contract;
        tk_status status = tk_certify(ctx, op, TK_F16, TK_I32, &bad[i].options, &made);
        assert_int_equal(status, i == 5 ? TK_UNSUPPORTED : TK_BAD_ARGUMENT);
        if (!strstr(tk_ctx_message(ctx), bad[i].message))
            fail_msg("'%s' does not mention '%s'", tk_ctx_message(ctx), bad[i].message);
        assert_null(made);
    }
    tk_ctx_destroy(ctx);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--certify-here"))
        return certify_here();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_a_program_brings),
        cmocka_unit_test_setup_teardown(names_of_functions, enter, leave),
        cmocka_unit_test(the_callers_environment),
        cmocka_unit_test(a_function_that_changes_the_environment),
        cmocka_unit_test_setup_teardown(programs_in_any_directory, enter, leave),
        cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests_name("certify", tests, NULL, NULL);
}
