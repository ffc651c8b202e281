/* What the tests of the ops share. Include after cmocka.h. */
#ifndef TKI_TESTS_OP_TEST_H
#define TKI_TESTS_OP_TEST_H

#include <stdio.h>
#include <string.h>

#include "tokitai_verify.h"

static inline tk_ctx *new_context(void)
{
    tk_ctx *ctx = NULL;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    return ctx;
}

static inline void assert_ok(tk_ctx *ctx, tk_status status)
{
    if (status != TK_OK)
        fail_msg("%s: %s", tk_status_text(status), tk_ctx_message(ctx));
}

/* The call failed with that status and its message mentions the text. */
static inline void assert_refused(tk_ctx *ctx, tk_status got, tk_status expected, const char *text)
{
    assert_int_equal(got, expected);
    if (!strstr(tk_ctx_message(ctx), text))
        fail_msg("'%s' does not mention '%s'", tk_ctx_message(ctx), text);
}

static inline tk_certificate *certify_one(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                          tk_dtype index_dtype, tk_certify_options options)
{
    tk_certificate *certificate = NULL;
    assert_ok(ctx, tk_certify(ctx, contract, dtype, index_dtype, &options, &certificate));
    return certificate;
}

/* Every planted correct kernel of the op is HELD at `quick`. */
static inline void assert_variants_hold(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                        tk_dtype index_dtype)
{
    const char *name;
    const char *what;
    int count = 0;
    for (; tk_variant_at(contract, count, &name, &what); count++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.variant = name;
        tk_certificate *c = certify_one(ctx, contract, dtype, index_dtype, options);
        if (tk_certificate_verdict(c) != TK_HELD)
            fail_msg("%s: %s: %s", tk_certificate_subject(c), tk_verdict_name(tk_certificate_verdict(c)),
                     tk_certificate_reason(c));
        tk_certificate_destroy(c);
    }
    assert_true(count >= 4);
}

/* Builds without sanitizers take every pair of dtype and index type; with them each type is in one pair. */
static inline bool takes_pair(const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype)
{
    if (!tk_contract_takes_index(contract))
        return index_dtype == TK_I32;
#if defined(__SANITIZE_ADDRESS__)
    return (dtype == TK_BF16) == (index_dtype == TK_I64);
#else
    (void)dtype;
    return true;
#endif
}

/* The first lowering is HELD at `quick`, and so is every planted correct kernel, and every planted wrong kernel is REFUTED
 * with a command that shows it, for both dtypes and every index type. */
static inline void assert_op_certifies(const char *op)
{
    const tk_contract *contract = tk_contract_find(op);
    assert_non_null(contract);
    tk_ctx *ctx = new_context();
    for (int dtype = TK_F16; dtype <= TK_BF16; dtype++)
        for (int index = TK_I32; index <= TK_I64; index++) {
            if (!takes_pair(contract, (tk_dtype)dtype, (tk_dtype)index))
                continue;
            tk_certificate *c = certify_one(ctx, contract, (tk_dtype)dtype, (tk_dtype)index, TK_CERTIFY_DEFAULTS);
            if (tk_certificate_verdict(c) != TK_HELD)
                fail_msg("%s: %s: %s", tk_certificate_subject(c), tk_verdict_name(tk_certificate_verdict(c)),
                         tk_certificate_reason(c));
            int rejected;
            int planted = tk_certificate_mutants(c, &rejected);
            assert_true(planted >= 4);
            assert_int_equal(rejected, planted);
            tk_certificate_destroy(c);
            assert_variants_hold(ctx, contract, (tk_dtype)dtype, (tk_dtype)index);
            /* The certificate above has shown that the others are rejected too; one type is enough for the commands. */
            if (dtype != TK_F16 || index != TK_I32)
                continue;
            const char *name;
            const char *what;
            for (int m = 0; tk_mutant_at(contract, m, &name, &what); m++) {
                tk_certify_options options = TK_CERTIFY_DEFAULTS;
                options.mutant = name;
                if (tk_mutant_level(contract, name) > TK_QUICK)
                    continue;
                c = certify_one(ctx, contract, (tk_dtype)dtype, (tk_dtype)index, options);
                if (tk_certificate_verdict(c) != TK_REFUTED)
                    fail_msg("%s was not refuted", tk_certificate_subject(c));
                assert_non_null(strstr(tk_certificate_reproduce(c), name));
                tk_certificate_destroy(c);
            }
        }
    tk_ctx_destroy(ctx);
}

#endif
