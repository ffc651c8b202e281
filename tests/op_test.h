/* What the tests of the ops share. */
#ifndef TKI_TESTS_OP_TEST_H
#define TKI_TESTS_OP_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/mutant.h"
#include "tests/unit_test.h"
#include "tokitai_verify.h"
#include "trials/op_registry.h"

static inline tk_ctx *new_context(void)
{
    tk_ctx *ctx = NULL;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    return ctx;
}

/* The head of a test with a fresh context, which is destroyed behind it. */
#define TEST_WITH_CONTEXT(name)                 \
    static void in_context_##name(tk_ctx *ctx); \
    TEST(name)                                  \
    {                                           \
        tk_ctx *ctx = new_context();            \
        in_context_##name(ctx);                 \
        tk_ctx_destroy(ctx);                    \
    }                                           \
    static void in_context_##name(tk_ctx *ctx)

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

static inline void assert_held(const tk_certificate *c)
{
    if (tk_certificate_verdict(c) != TK_HELD)
        fail_msg("%s: %s: %s", tk_certificate_subject(c), tk_certificate_headline(c), tk_certificate_reason(c));
}

/* Every planted correct kernel of the op, or each third one from `first` on, is HELD at `quick`. */
static inline void assert_some_variants_hold(tk_ctx *ctx, const tk_contract *contract, tk_types types,
                                             tk_dtype index_dtype, int first, int steps)
{
    const char *name;
    const char *what;
    int count = 0;
    for (; tk_variant_at(contract, count, &name, &what); count++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        if (count % steps != first)
            continue;
        options.variant = name;
        options.result_dtype = &types.result_dtype;
        tk_certificate *c = certify_one(ctx, contract, types.dtype, index_dtype, options);
        assert_held(c);
        tk_certificate_destroy(c);
    }
    assert_true(count >= 4);
}

static inline void assert_variants_hold(tk_ctx *ctx, const tk_contract *contract, tk_types types,
                                        tk_dtype index_dtype)
{
    assert_some_variants_hold(ctx, contract, types, index_dtype, 0, 1);
}

/* Sanitizers look at how code handles memory, and slow the judge down. The kernels differ by type, so they take each; planted kernels and
 * what judges them do not, and one type shows that. */
#if defined(__SANITIZE_ADDRESS__)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

/* `ctest -L whole` runs NAME.whole, which takes planted kernels in all types of an op. */
static inline bool is_whole(void)
{
    return getenv("TOKITAI_WHOLE") != NULL;
}

/* `quickstart test` hands on the number by which tests take turns (tests/share.bash): three commits in a row then judge each planted correct
 * kernel in each of the types. Without a number one run does, and so it does with sanitizers, where the op has a turn itself. */
static inline void assert_variants_hold_in_turn(tk_ctx *ctx, const tk_contract *contract, tk_types types,
                                                tk_dtype index_dtype, int pair)
{
    enum { TURNS = 3 };
    const char *turn = getenv("TOKITAI_SHARE");
    if (!turn || is_whole() || is_sanitized)
        assert_variants_hold(ctx, contract, types, index_dtype);
    else
        assert_some_variants_hold(ctx, contract, types, index_dtype,
                                  (int)((strtoul(turn, NULL, 10) + (unsigned)pair) % TURNS), TURNS);
}

/* Builds without sanitizers take every pair of dtype and index type; with them each type is in one pair. */
static inline bool takes_pair(const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype)
{
    if (!tk_contract_takes_index(contract))
        return index_dtype == TK_I32;
    return !is_sanitized || (dtype == TK_BF16) == (index_dtype == TK_I64);
}

/* Every planted wrong kernel is REFUTED in types that it is wrong in, with a command that shows it. */
static inline void assert_mutants_are_shown(tk_ctx *ctx, const tk_contract *contract, tk_types types, bool only_f32)
{
    for (const tki_mutant *m = tki_mutants_of(contract); m->name; m++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.mutant = m->name;
        options.result_dtype = &types.result_dtype;
        if (!tki_mutant_is_wrong(m, TK_QUICK, types) || m->only_f32_results != only_f32)
            continue;
        tk_certificate *c = certify_one(ctx, contract, types.dtype, TK_I32, options);
        if (tk_certificate_verdict(c) != TK_REFUTED)
            fail_msg("%s was not refuted", tk_certificate_subject(c));
        assert_non_null(strstr(tk_certificate_reproduce(c), m->name));
        tk_certificate_destroy(c);
    }
}

static inline bool some_lowering_takes(tk_ctx *ctx, const tk_contract *contract, tk_types types)
{
    tk_case c = tk_case_init(contract, types.dtype);
    c.result_dtype = types.result_dtype;
    tk_lowering_info info;
    for (int i = 0; tk_lowering_at(contract, i, &info); i++)
        if (!tk_lowering_refusal(ctx, &c, i))
            return true;
    return false;
}

/* The first lowering is HELD at `quick`, for all types that one takes and every index type. So is every planted correct kernel, by turns, and
 * every planted wrong kernel is rejected: in the first types and in the last ones that a lowering takes, with sanitizers in the first alone, and in
 * all of them for NAME.whole. Types that no lowering takes are judged by the planted kernels alone, the first of them here. */
static inline void assert_op_certifies(const char *op)
{
    const tk_contract *contract = tk_contract_find(op);
    assert_non_null(contract);
    tk_ctx *ctx = new_context();
    int last = contract->type_count - 1, pairs = 0;
    while (last > 0 && !some_lowering_takes(ctx, contract, contract->types[last]))
        last--;
    for (int t = 0; t < contract->type_count; t++)
        for (int index = TK_I32; index <= TK_I64; index++) {
            const tk_types types = contract->types[t];
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            const bool is_ours = some_lowering_takes(ctx, contract, types);
            const bool is_first_other = !is_ours &&
                                        (t == 0 || some_lowering_takes(ctx, contract, contract->types[t - 1]));
            const bool is_last = (t == last || is_first_other) && index == TK_I32;
            const bool takes_planted = t == 0 || (!is_sanitized && (is_last || is_whole()));
            options.result_dtype = &types.result_dtype;
            options.skip_mutants = !takes_planted;
            options.fresh_mutants = true;
            if (!takes_pair(contract, types.dtype, (tk_dtype)index))
                continue;
            if (is_ours) {
                tk_certificate *c = certify_one(ctx, contract, types.dtype, (tk_dtype)index, options);
                assert_held(c);
                int rejected;
                int planted = tk_certificate_mutants(c, &rejected);
                assert_true(planted >= 4 || !takes_planted);
                assert_int_equal(rejected, planted);
                tk_certificate_destroy(c);
            }
            if (takes_planted)
                assert_variants_hold_in_turn(ctx, contract, types, (tk_dtype)index, pairs++);
            if (takes_planted && !is_ours)
                assert_mutants_are_shown(ctx, contract, types, false);
        }
    /* The certificates above have shown that they are rejected; one pair of types is enough for the commands. */
    if (!is_sanitized)
        assert_mutants_are_shown(ctx, contract, contract->types[0], false);
    assert_mutants_are_shown(ctx, contract, contract->types[last], true);
    tk_ctx_destroy(ctx);
}

#endif
