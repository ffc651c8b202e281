/* Faults as data: the clause that each kind breaks, its name, and its words. */
#include <string.h>

#include "core/context.h"
#include "core/fault.h"
#include "model/case.h"
#include "tests/unit_test.h"

TEST(every_kind_has_a_name_and_words)
{
    for (int a = 0; a < TKI_FAULT_KINDS; a++) {
        char text[300];
        tki_fault_text(&(tki_fault){.kind = (tki_fault_kind)a, .tensor = -1, .rule = "a rule"}, NULL, NULL, text,
                       sizeof text);
        assert_true(strlen(text) > 0);
        for (int b = 0; b < a; b++)
            assert_string_not_equal(tki_fault_name((tki_fault_kind)a), tki_fault_name((tki_fault_kind)b));
    }
}

TEST(clauses)
{
    const struct {
        tki_fault fault;
        tk_clause_kind clause;
    } list[] = {{{.kind = TKI_FAULT_SIGNAL, .tensor = 1, .wrote = true}, TK_CLAUSE_WRITE},
                {{.kind = TKI_FAULT_SIGNAL, .tensor = 1}, TK_CLAUSE_SHAPE},
                {{.kind = TKI_FAULT_SIGNAL, .tensor = -1, .wrote = true}, TK_CLAUSE_SHAPE},
                {{.kind = TKI_FAULT_KEPT, .tensor = 1}, TK_CLAUSE_WRITE},
                {{.kind = TKI_FAULT_OVERRUN, .tensor = 1}, TK_CLAUSE_WRITE},
                {{.kind = TKI_FAULT_FLOAT_MODE, .tensor = -1}, TK_CLAUSE_WRITE},
                {{.kind = TKI_FAULT_INDEX, .tensor = 0}, TK_CLAUSE_INDEX},
                {{.kind = TKI_FAULT_FORGED, .tensor = -1}, TK_CLAUSE_SHAPE},
                {{.kind = TKI_FAULT_EXIT, .tensor = -1}, TK_CLAUSE_SHAPE}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        assert_int_equal(tki_fault_clause(&list[i].fault), list[i].clause);
}

/* The words of a signal say "wrote" or not; what is decided follows from the data alone. */
TEST(kept_until_the_next_failure)
{
    tk_ctx *ctx;
    const tk_contract *gelu = tk_contract_find("gelu_fwd"), *xent = tk_contract_find("xent");
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    tki_fault fault = {.kind = TKI_FAULT_SIGNAL, .tensor = 1, .number = 11, .offset = 12, .bytes = 10, .wrote = true};
    assert_int_equal(tki_fail_fault(ctx, &fault, gelu, NULL), TK_KERNEL_FAULT);
    assert_non_null(strstr(tk_ctx_message(ctx), "signal 11"));
    assert_non_null(strstr(tk_ctx_message(ctx), "wrote outside y, at byte 12 of its 10"));
    assert_int_equal(ctx->fault.offset, 12);
    assert_int_equal(tki_fail_index(ctx, xent, tki_index_param(xent), 7, -3, 5), TK_BAD_INDEX);
    assert_string_equal(tk_ctx_message(ctx), "xent: target[7] = -3 is outside [0, 5)");
    assert_int_equal(ctx->fault.kind, TKI_FAULT_INDEX);
    assert_string_equal(xent->params[ctx->fault.tensor].name, "target");
    assert_int_equal(ctx->fault.offset, 7);
    assert_int_equal(tki_fail(ctx, TK_IO, "something else"), TK_IO);
    assert_int_equal(ctx->fault.kind, TKI_FAULT_NONE);
    assert_int_equal(
        tki_fail_fault(ctx, &(tki_fault){.kind = TKI_FAULT_REFUSED, .tensor = -1, .number = 7}, gelu, NULL),
        TK_UNSUPPORTED);
    assert_int_equal(
        tki_fail_fault(ctx, &(tki_fault){.kind = TKI_FAULT_TIMEOUT, .tensor = -1, .seconds = 2}, gelu, NULL),
        TK_TIMEOUT);
    assert_string_equal(tk_ctx_message(ctx), "the kernel did not return within 2 seconds and was killed");
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_name_and_words),
        cmocka_unit_test(clauses),
        cmocka_unit_test(kept_until_the_next_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
