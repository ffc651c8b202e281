/* How lowerings that have a choice do a case: it is chosen once. And Hopper's products: whatever the sizes,
 * a way to cut them is one that the kernels can do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "executor/chosen.h"
#include "ops/gemm/launch_hopper.h"

static int times_chosen;

static tki_choice by_sum(const tki_lowering *row, const tk_case *c)
{
    (void)row;
    times_chosen++;
    return (tki_choice){{(int)(c->dims[0] + c->dims[1] + c->dims[2]), (int)c->dtype}};
}

static const tki_lowering with_choice = {.choose = by_sum}, other_with_choice = {.choose = by_sum}, without;

static tk_case case_of(tk_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    tk_case c = tk_case_init(tk_contract_find("gemm"), dtype);
    c.dims[0] = m;
    c.dims[1] = n;
    c.dims[2] = k;
    return c;
}

static void a_case_is_chosen_once(void **state)
{
    (void)state;
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    const tk_case a = case_of(TK_F16, 1, 2, 3), b = case_of(TK_BF16, 1, 2, 3), c = case_of(TK_F16, 3, 2, 2);
    times_chosen = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tki_chosen_for(ctx, &with_choice, &a).number[0], 6);
        assert_int_equal(tki_chosen_for(ctx, &with_choice, &b).number[1], TK_BF16);
        assert_int_equal(tki_chosen_for(ctx, &with_choice, &c).number[0], 7);
    }
    assert_int_equal(times_chosen, 3);
    assert_int_equal(tki_chosen_for(ctx, &other_with_choice, &a).number[0], 6);
    assert_int_equal(tki_chosen_for(ctx, &without, &a).number[0], 0);
    /* Far more cases than there are places: every one gets its own. */
    for (int64_t m = 0; m < 5000; m++) {
        const tk_case d = case_of(TK_F16, m, 7, 0);
        assert_int_equal(tki_chosen_for(ctx, &with_choice, &d).number[0], m + 7);
    }
    tk_ctx_destroy(ctx);
}

static int64_t drawn_size(void)
{
    return 1 + rand() % (1 << rand() % 17);
}

/* The words that a launch has, and no more scratch memory than copies of both factors and 96 MiB of parts. */
static void cuts_fit(void **state)
{
    (void)state;
    enum { DRAWS = 3000, SEED = 20261116, PARTS_BYTES = 96 << 20 };
    printf("seed %d\n", SEED);
    srand(SEED);
    for (int i = 0; i < DRAWS; i++) {
        const int64_t rows = drawn_size(), cols = drawn_size(), inner = drawn_size();
        const bool left_across = i % 3 == 2, right_across = i % 3 != 1, stores_fp32 = i % 2;
        tki_gemm_hopper_product p = {.params = {.left = {NULL, left_across ? 1 : inner, left_across ? rows : 1},
                                                .right = {NULL, right_across ? 1 : inner, right_across ? cols : 1},
                                                .rows = rows,
                                                .cols = cols,
                                                .inner = inner},
                                     .left_across = left_across,
                                     .right_across = right_across};
        const tk_case c = case_of(TK_F16, rows, cols, inner);
        const tki_call call = {.c = &c, .choice = tki_gemm_choose_hopper(&p, stores_fp32)};
        const tki_choice again = tki_gemm_choose_hopper(&p, stores_fp32);
        assert_memory_equal(&call.choice, &again, sizeof again);
        assert_true(call.choice.number[3] >= 1);
        const size_t factors = (size_t)((rows + cols) * (inner + 8) + 8 * inner + 8 * (rows + cols)) * 2 + 1024;
        assert_true(tki_gemm_scratch_hopper(&call, &p) <= factors + PARTS_BYTES);
        p.params.inner = 0;
        assert_true(tki_gemm_scratch_hopper(&call, &p) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_case_is_chosen_once), cmocka_unit_test(cuts_fit)};
    return cmocka_run_group_tests_name("chosen", tests, NULL, NULL);
}
