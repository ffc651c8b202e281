/* Finding a lowering's certificate again, and asking a lowering whether it takes a case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit_test.h"
#include "tokitai_verify.h"

static const char id[] = "cpu.gelu_fwd.f16.scalar";

static int setup(void **state)
{
    static char folder[] = "/tmp/tokitai-find-XXXXXX";
    tk_ctx *ctx;
    if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) || tk_ctx_create(&ctx) != TK_OK)
        return -1;
    *state = ctx;
    return 0;
}

static int teardown(void **state)
{
    char command[512];
    tk_ctx_destroy(*state);
    snprintf(command, sizeof command, "rm -rf '%s'", getenv("XDG_STATE_HOME"));
    return system(command);
}

static tk_status find(tk_ctx *ctx, const char *lowering, tk_certificate **certificate)
{
    return tk_certificate_find(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, lowering, certificate);
}

static void test_arguments(void **state)
{
    tk_certificate *certificate = NULL;
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    assert_int_equal(tk_certificate_find(NULL, contract, TK_F16, TK_I32, id, &certificate), TK_BAD_ARGUMENT);
    assert_int_equal(tk_certificate_find(*state, NULL, TK_F16, TK_I32, id, &certificate), TK_BAD_ARGUMENT);
    assert_int_equal(tk_certificate_find(*state, contract, TK_F16, TK_I32, NULL, &certificate), TK_BAD_ARGUMENT);
    assert_int_equal(tk_certificate_find(*state, contract, TK_F16, TK_I32, id, NULL), TK_BAD_ARGUMENT);
    assert_int_equal(find(*state, "cpu.gelu_fwd.f16.nothing", &certificate), TK_BAD_ARGUMENT);
    assert_int_equal(find(*state, "cpu.gelu_fwd.bf16.scalar", &certificate), TK_BAD_ARGUMENT);
    assert_null(certificate);
}

static tk_certificate *certify(tk_ctx *ctx, tk_certify_options options)
{
    tk_certificate *certificate = NULL;
    options.lowering = id;
    options.skip_mutants = true;
    assert_int_equal(tk_certify(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, &options, &certificate), TK_OK);
    return certificate;
}

static void test_found(void **state)
{
    tk_certificate *found = NULL;
    assert_int_equal(find(*state, id, &found), TK_UNAVAILABLE);
    assert_null(found);
    assert_non_null(strstr(tk_ctx_message(*state), id));

    tk_certificate *made = certify(*state, TK_CERTIFY_DEFAULTS);
    assert_int_equal(tk_certificate_write(*state, made, NULL, NULL), TK_OK);
    assert_int_equal(find(*state, id, &found), TK_OK);
    assert_string_equal(tk_certificate_subject(found), id);
    assert_string_equal(tk_certificate_json(found), tk_certificate_json(made));
    tk_certificate_destroy(found);
    tk_certificate_destroy(made);
}

/* Others could have put it there. */
static void test_open_folder(void **state)
{
    char folder[512];
    tk_certificate *found = NULL;
    snprintf(folder, sizeof folder, "%s/tokitai/certificates", getenv("XDG_STATE_HOME"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chmod(folder, i ? 0757 : 0775), 0);
        assert_int_equal(find(*state, id, &found), TK_UNAVAILABLE);
        assert_null(found);
        assert_non_null(strstr(tk_ctx_message(*state), "chmod go-w"));
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(find(*state, id, &found), TK_OK);
    tk_certificate_destroy(found);
}

/* The certificate of one case has the same key, shows much less and does not count. */
static void test_single_case(void **state)
{
    const int64_t dims[TK_MAX_DIMS] = {7};
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.dims = dims;
    tk_certificate *made = certify(*state, options);
    tk_certificate *found = NULL;
    char *path = NULL;
    assert_int_equal(tk_certificate_write(*state, made, NULL, &path), TK_OK);
    assert_int_equal(find(*state, id, &found), TK_UNAVAILABLE);
    assert_null(found);
    unlink(path);
    free(path);
    tk_certificate_destroy(made);
}

TEST(test_refusal)
{
    int rows = 0;
    tk_lowering_info info;
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    while (tk_lowering_at(c.contract, rows, &info))
        rows++;
    assert_true(rows > 0);
    assert_null(tk_lowering_refusal(NULL, &c, rows - 1)); /* the portable one */
    assert_non_null(tk_lowering_refusal(NULL, &c, rows));
    assert_non_null(tk_lowering_refusal(NULL, &c, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),   cmocka_unit_test(test_found),   cmocka_unit_test(test_open_folder),
        cmocka_unit_test(test_single_case), cmocka_unit_test(test_refusal),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
