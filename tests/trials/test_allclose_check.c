/* The usual check: what it passes and rejects is what torch.allclose() does with the same numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "exact/round.h"
#include "tests/op_test.h"
#include "trials/allclose_check.h"
#include "trials/op_registry.h"

/* Our own kernel, after which every element but the first is right. */
typedef struct flaw {
    tk_ctx *ctx;
    double relative, absolute; /* added to the first element of the last output */
    bool nan, unwritten, failing;
    int only_in; /* the input, counted from 1, that shows it; 0: all */
    int calls;
} flaw;

static int flawed(const tk_case *c, void *const buffers[], void *data)
{
    flaw *f = data;
    int last = c->contract->param_count - 1;
    uint16_t *out = buffers[last];
    uint16_t before = out[0];
    if (tk_run(f->ctx, c, buffers) != TK_OK)
        return 1;
    f->calls++;
    if (f->only_in && f->calls != f->only_in)
        return 0;
    double exact = tki_decode(c->dtype, out[0]);
    if (f->nan)
        out[0] = 0x7fff;
    else if (f->unwritten)
        out[0] = before;
    else if (f->relative != 0 || f->absolute != 0)
        out[0] = (uint16_t)tki_round_double(c->dtype, exact + f->absolute + f->relative * fabs(exact));
    return f->failing;
}

/* Bit 0: passes with 1e-2; bit 1: with 1e-3. */
static int passes_with(const char *op, flaw f)
{
    const tk_contract *contract = tk_contract_find(op);
    const tki_oracle *oracle = tki_oracle_of(contract);
    tk_ctx *ctx = new_context();
    void *tables = NULL;
    tki_usual *usual = NULL;
    if (oracle->open)
        assert_int_equal(oracle->open(TK_F16, &tables), TK_OK);
    assert_ok(ctx, tki_usual_make(ctx, oracle, tables, tk_usual_case(contract, TK_F16), TK_SEED_DEFAULT, &usual));
    bool passes[TK_USUAL_TOLERANCES];
    f.ctx = ctx;
    assert_int_equal(tki_usual_run(usual, flawed, &f, passes), TK_OK);
    tki_usual_free(usual);
    tk_ctx_destroy(ctx);
    return passes[0] | passes[1] << 1;
}

TEST(tolerances)
{
    static const char *const ops[] = {"gelu_fwd", "embedding_fwd", "embedding_bwd", "xent"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(passes_with(ops[i], (flaw){0}), 3);
        assert_int_equal(passes_with(ops[i], (flaw){.relative = 0.005, .absolute = 0.005}), 1);
        assert_int_equal(passes_with(ops[i], (flaw){.relative = 0.0004, .absolute = 0.0004}), 3);
        assert_int_equal(passes_with(ops[i], (flaw){.relative = 0.03, .absolute = 0.03}), 0);
    }
}

TEST(no_wildcards)
{
    assert_int_equal(passes_with("gelu_fwd", (flaw){.nan = true}), 0);
    assert_int_equal(passes_with("gelu_fwd", (flaw){.unwritten = true}), 0);
    assert_int_equal(passes_with("gelu_fwd", (flaw){.failing = true}), 0);
    assert_int_equal(passes_with("gelu_fwd", (flaw){.absolute = INFINITY}), 0);
}

TEST(every_input_counts)
{
    for (int i = 1; i <= TK_USUAL_INPUTS; i++)
        assert_int_equal(passes_with("embedding_fwd", (flaw){.nan = true, .only_in = i}), 0);
    assert_int_equal(passes_with("embedding_fwd", (flaw){.nan = true, .only_in = TK_USUAL_INPUTS + 1}), 3);
}

/* Two runs of the corpus, on one thread and on three, say the same, and say what the lists promise. */
TEST(corpus_is_as_planted)
{
    const tk_contract *contract = tk_contract_find("embedding_fwd");
    tk_ctx *ctx = new_context();
    tk_corpus_entry *entries[2];
    int count[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(ctx, tk_ctx_set_threads(ctx, 1 + 2 * i));
        assert_ok(ctx, tk_corpus_run(ctx, contract, TK_BF16, NULL, &entries[i], &count[i]));
    }
    assert_int_equal(count[0], count[1]);
    int wrong = 0;
    for (int i = 0; i < count[0]; i++) {
        const tk_corpus_entry *e = &entries[0][i];
        assert_string_equal(e->name, entries[1][i].name);
        assert_int_equal(e->verdict, entries[1][i].verdict);
        assert_memory_equal(e->usual, entries[1][i].usual, sizeof e->usual);
        assert_int_equal(e->wrong, tki_mutant_find(contract, e->name) != NULL);
        assert_int_equal(e->verdict, e->wrong ? TK_REFUTED : TK_HELD);
        assert_int_equal(e->reason[0] != 0, e->wrong);
        wrong += e->wrong;
        if (!e->wrong)
            assert_true(e->usual[0] && e->usual[1] && e->elements > 100000);
        if (!strcmp(e->name, "all_zeros"))
            assert_false(e->usual[0]);
        if (!strcmp(e->name, "flushing"))
            assert_true(e->usual[1]);
    }
    assert_true(wrong >= 20 && count[0] - wrong >= 5);
    free(entries[0]);
    free(entries[1]);
    assert_int_equal(tk_corpus_run(ctx, contract, TK_I32, NULL, &entries[0], &count[0]), TK_BAD_ARGUMENT);
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.level = TK_EXHAUSTIVE;
    assert_int_equal(tk_corpus_run(ctx, contract, TK_F16, &options, &entries[0], &count[0]), TK_BAD_ARGUMENT);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerances),
        cmocka_unit_test(no_wildcards),
        cmocka_unit_test(every_input_counts),
        cmocka_unit_test(corpus_is_as_planted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
