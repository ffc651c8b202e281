/* Failures of those who decide are data; contexts that programs make have the sentences, others have none. */
#include <string.h>

#include "core/context.h"
#include "tests/unit_test.h"

static void check_said(tk_ctx *ctx, tki_failure failure, const char *message)
{
    assert_int_equal(tki_fail_by(ctx, &failure), failure.status);
    assert_string_equal(tk_ctx_message(ctx), message);
}

TEST(every_failure_has_a_sentence)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    const tki_failure at = {.status = TK_BAD_ARGUMENT,
                            .op = "f",
                            .tensor = "x",
                            .words = "was ended by signal 9",
                            .at = INT64_C(1) << 40,
                            .integer = -7,
                            .bits = 0x7c0,
                            .value = 2.5,
                            .least = -1,
                            .most = 0.5,
                            .bytes = 64};
    const struct {
        tki_failure_kind kind;
        const char *message;
    } list[] = {
        {TKI_FAILED_INPUT_MEMORY, "no memory for 64 bytes of inputs"},
        {TKI_FAILED_BUFFER_MEMORY, "no memory for a buffer of 64 bytes"},
        {TKI_FAILED_PART_MEMORY, "no memory for a part of an output"},
        {TKI_FAILED_DOMAIN, "f: x[1099511627776] = 0x07c0 = 2.5 lies outside of domain normal (0, or 2^-40 to 2^20)"},
        {TKI_FAILED_RANGE, "f: x[1099511627776] = 0x07c0 = 2.5 lies outside of [-1, 0.5]"},
        {TKI_FAILED_INTEGER_RANGE, "f: x[1099511627776] = -7 lies outside of [-1, 0.5]"},
        {TKI_FAILED_CLAUSE, "no clause of f is about what failed"},
        {TKI_FAILED_ORACLE, "the oracle of f: bad argument"},
        {TKI_FAILED_ENCLOSURE, "the exact values of f: an enclosure is invalid"},
        {TKI_FAILED_KILLED,
         "was ended by signal 9, by the system (out of memory) or by another process; not called again: "
         "too little memory is free"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assert_int_equal(list[i].kind, i);
        tki_failure failure = at;
        failure.kind = list[i].kind;
        check_said(ctx, failure, list[i].message);
    }
    assert_int_equal(sizeof list / sizeof *list, TKI_FAILED_KILLED + 1);
    tki_failure again = at;
    again.kind = TKI_FAILED_KILLED;
    again.again = true;
    check_said(ctx, again,
               "was ended by signal 9, by the system (out of memory) or by another process; a second call in a fresh "
               "process was not killed");
    tk_ctx_destroy(ctx);
}

TEST(a_failure_of_a_kernel_does_not_outlive_the_next)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    (void)tki_fail_fault(ctx, &(tki_fault){.kind = TKI_FAULT_EXIT, .tensor = -1, .number = 3}, NULL, NULL);
    assert_int_equal(ctx->fault.kind, TKI_FAULT_EXIT);
    check_said(ctx, (tki_failure){.kind = TKI_FAILED_PART_MEMORY, .status = TK_NO_MEMORY},
               "no memory for a part of an output");
    assert_int_equal(ctx->fault.kind, TKI_FAULT_NONE);
    tk_ctx_destroy(ctx);
}

TEST(without_sentences_the_status_is_the_same)
{
    tk_ctx *ctx;
    assert_int_equal(tki_ctx_create(&ctx), TK_OK);
    check_said(ctx, (tki_failure){.kind = TKI_FAILED_CLAUSE, .status = TK_INTERNAL, .op = "f"}, "");
    tk_ctx_destroy(ctx);
    assert_int_equal(tk_ctx_create(NULL), TK_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failure_has_a_sentence),
        cmocka_unit_test(a_failure_of_a_kernel_does_not_outlive_the_next),
        cmocka_unit_test(without_sentences_the_status_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
