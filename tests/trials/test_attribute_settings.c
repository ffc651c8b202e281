/* Numerics and domain as settings of a certification: what is refused, what the certificate says, its replay, and what they let pass. */
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "model/attributes.h"
#include "tests/op_test.h"
#include "trials/attribute_settings.h"

static tk_certify_options with(const tk_setting *setting)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.settings = setting;
    options.setting_count = setting ? 1 : 0;
    options.skip_mutants = true;
    return options;
}

static const tk_setting normal = {"domain", "normal"};
static const tk_setting tensor_core = {"numerics", "tensor_core"};

TEST_WITH_CONTEXT(bad_settings)
{
    static const struct {
        const char *op;
        tk_setting setting;
        const char *message;
    } bad[] = {
        {"gelu_fwd", {"numerics", "tensor_core"}, "gelu_fwd does not take numerics"},
        {"gemm", {"matrix_unit", "sm_90"}, "gemm does not take matrix_unit"},
        {"gemm", {"numerics", "fp8"}, "unknown numerics 'fp8'"},
        {"gemm", {"numerics", NULL}, "no value"},
        {"xent", {"domain", ""}, "unknown domain ''"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tk_certify_options options = with(&bad[i].setting);
        tk_certificate *made = NULL;
        assert_refused(ctx, tk_certify(ctx, tk_contract_find(bad[i].op), TK_F16, TK_I32, &options, &made),
                       TK_BAD_ARGUMENT, bad[i].message);
        assert_null(made);
    }
}

TEST_WITH_CONTEXT(given_inputs_outside_of_the_domain)
{
    static const uint64_t bits[][2] = {{0x3f80, 0x7f80}, {0x0001, 0x3f80}, {0x3f80, 0x4981}};
    static const char *const messages[] = {"x[1] = 0x7f80 = inf", "x[0] = 0x0001", "x[1] = 0x4981"};
    for (int i = 0; i < 3; i++) {
        tk_certify_options options = with(&normal);
        options.dims = (int64_t[]){2};
        options.inputs = &(tk_given_input){"x", bits[i], 2};
        options.input_count = 1;
        tk_certificate *made = NULL;
        assert_refused(ctx, tk_certify(ctx, tk_contract_find("gelu_fwd"), TK_BF16, TK_I32, &options, &made),
                       TK_BAD_ARGUMENT, messages[i]);
        assert_non_null(strstr(tk_ctx_message(ctx), "domain normal"));
        options.settings = NULL;
        options.setting_count = 0;
        assert_ok(ctx, tk_certify(ctx, tk_contract_find("gelu_fwd"), TK_BF16, TK_I32, &options, &made));
        assert_int_equal(tk_certificate_verdict(made), TK_HELD);
        tk_certificate_destroy(made);
    }
}

TEST_WITH_CONTEXT(the_certificate_says_so)
{
    const tk_setting both[] = {tensor_core, normal};
    tk_certify_options options = with(both);
    options.setting_count = 2;
    options.dims = (int64_t[]){3, 5, 7};
    tk_certificate *c = certify_one(ctx, tk_contract_find("gemm"), TK_BF16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(c), TK_HELD);
    assert_string_equal(tk_certificate_headline(c),
                        "HELD under tensor_core numerics on the domain normal for one case: m=3 n=5 k=7");
    assert_string_equal(tki_certificate_text(c, "run.attributes.numerics"), "tensor_core");
    assert_string_equal(tki_certificate_text(c, "run.attributes.domain"), "normal");
    assert_string_equal(tki_certificate_text(c, "run.attributes.matrix_unit"), "");
    bool same = false;
    assert_ok(ctx, tk_certificate_replay(ctx, c, NULL, &same, NULL, NULL));
    assert_true(same);
    options.setting_count = 0;
    tk_certificate *plain = certify_one(ctx, tk_contract_find("gemm"), TK_BF16, TK_I32, options);
    assert_string_equal(tki_certificate_text(plain, "run.attributes.numerics"), "ieee");
    assert_int_equal(json_object_size(tki_certificate_get(plain, "run.attributes")), 1);
    assert_string_equal(tk_certificate_headline(plain), "HELD for one case: m=3 n=5 k=7");
    assert_string_not_equal(tki_certificate_text(plain, "key"), tki_certificate_text(c, "key"));
    tk_certificate_destroy(plain);
    tk_certificate_destroy(c);
}

/* Flushing to zero is wrong in the whole domain and right in domain normal, in bf16, whose smallest normal number is that of fp32. In fp16
 * no unit flushes what fp32 does not, and it stays wrong. What is wrong otherwise is wrong there, too. */
TEST_WITH_CONTEXT(what_flushes_holds_in_domain_normal)
{
    static const struct {
        const char *op, *mutant;
    } flushing[] = {{"gelu_fwd", "flushing"},
                    {"gelu_bwd", "flushing"},
                    {"softmax_bwd", "flushing"},
                    {"embedding_bwd", "flushing"},
                    {"embedding_fwd", "flushing"}};
    for (size_t i = 0; i < sizeof flushing / sizeof *flushing; i++)
        for (int in_domain = 0; in_domain < 2; in_domain++) {
            tk_certify_options options = with(in_domain ? &normal : NULL);
            options.mutant = flushing[i].mutant;
            tk_certificate *c = certify_one(ctx, tk_contract_find(flushing[i].op), TK_BF16, TK_I32, options);
            if (tk_certificate_verdict(c) != (in_domain ? TK_HELD : TK_REFUTED))
                fail_msg("%s: %s: %s", tk_certificate_subject(c), tk_certificate_headline(c),
                         tk_certificate_reason(c));
            if (!in_domain)
                assert_null(strstr(tk_certificate_reproduce(c), "--domain"));
            tk_certificate_destroy(c);
        }
    tk_certify_options options = with(&normal);
    options.mutant = "truncating_store";
    tk_certificate *c = certify_one(ctx, tk_contract_find("gelu_bwd"), TK_BF16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(c), TK_REFUTED);
    assert_non_null(strstr(tk_certificate_reproduce(c), " --domain normal"));
    tk_certificate_destroy(c);
}

TEST_WITH_CONTEXT(units_of_devices)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    assert_int_equal(tki_settings_matrix_unit(ctx, NULL, &options), TKI_UNIT_UNKNOWN);
    static const struct {
        const char *architecture;
        int unit;
    } rows[] = {{"sm_70", TKI_UNIT_UNKNOWN}, {"sm_80", TKI_UNIT_SM_80},  {"sm_89", TKI_UNIT_SM_80},
                {"sm_90", TKI_UNIT_SM_90},   {"sm_120", TKI_UNIT_SM_90}, {"gfx942", TKI_UNIT_UNKNOWN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tki_settings_unit_of(rows[i].architecture), rows[i].unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_settings),
        cmocka_unit_test(given_inputs_outside_of_the_domain),
        cmocka_unit_test(the_certificate_says_so),
        cmocka_unit_test(what_flushes_holds_in_domain_normal),
        cmocka_unit_test(units_of_devices),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
