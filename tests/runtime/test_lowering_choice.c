/* How lowerings that have a choice do a case: it is chosen once. And Hopper's products: whatever the sizes,
 * a way to cut them is one that the kernels can do. */
#include <stdio.h>
#include <stdlib.h>

#include "ops/product/launch_hopper.h"
#include "runtime/lowering_choice.h"
#include "tests/unit_test.h"

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

TEST(a_case_is_chosen_once)
{
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

/* The model's own choice is the first candidate, all of them differ, and their scratch memory is no more than that of any cut. */
static void check_candidates(const tki_gemm_hopper_product *p, const tk_case *c, tki_choice own, bool stores_fp32)
{
    tki_choice list[TKI_MOST_CANDIDATES];
    const int count = tki_gemm_candidates_hopper(p, stores_fp32, list, TKI_MOST_CANDIDATES);
    assert_true(count >= 1 && count <= TKI_MOST_CANDIDATES);
    assert_memory_equal(&list[0], &own, sizeof own);
    for (int i = 0; i < count; i++) {
        const tki_call call = {.c = c, .choice = list[i]};
        assert_true(tki_gemm_scratch_hopper(&call, p) <=
                    tki_gemm_scratch_hopper(&(tki_call){.c = c, .choice = own}, p) + ((size_t)96 << 20));
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(&list[i], &list[k], sizeof own);
    }
    assert_int_equal(tki_gemm_candidates_hopper(p, stores_fp32, list, 1), 1);
}

/* Numbers that nobody has chosen are refused before anything is computed with them: there is no device here. */
TEST(wild_choices_are_refused)
{
    static const int wild[] = {-1, INT32_MIN, INT32_MAX, 1 << 20, 7};
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    const tk_case c = case_of(TK_F16, 4096, 4096, 1024);
    tki_gemm_hopper_product p = {
        .params = {.left = {NULL, 1024, 1}, .right = {NULL, 1, 4096}, .rows = 4096, .cols = 4096, .inner = 1024},
        .right_across = true};
    for (int n = 0; n < TKI_CHOICE_NUMBERS; n++)
        for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
            tki_call call = {.ctx = ctx, .c = &c, .choice = tki_gemm_choose_hopper(&p, false)};
            if (n > 0 && wild[i] == 7)
                continue; /* a possible number of lines, tiles or parts */
            call.choice.number[n] = wild[i];
            assert_int_equal(tki_gemm_scratch_hopper(&call, &p), 0);
            assert_int_equal(tki_gemm_launch_hopper(&call, &p), TK_INTERNAL);
        }
    tk_ctx_destroy(ctx);
}

/* A band is `raster` lines of tiles, and a kernel counts its tiles in an int: as many as there is room for are taken, one line more is refused.
 * The left factor is one that has to be copied, so that what is taken has scratch memory. */
TEST(bands_that_wrap_are_refused)
{
    enum { FORM = 3 /* tiles of 128 x 128 */, ACROSS = 1 << 22, DOWN = 16, MOST = INT32_MAX / ACROSS };
    const int64_t rows = DOWN * 128, cols = (int64_t)ACROSS * 128, inner = 65;
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    const tk_case c = case_of(TK_F16, rows, cols, inner);
    const tki_gemm_hopper_product p = {
        .params = {.left = {NULL, inner, 1}, .right = {NULL, 1, cols}, .rows = rows, .cols = cols, .inner = inner},
        .right_across = true};
    tki_call call = {.ctx = ctx, .c = &c, .choice = {{FORM, MOST, DOWN * ACROSS, 1}}};
    assert_true(tki_gemm_scratch_hopper(&call, &p) > 0);
    for (int raster = MOST + 1; raster <= 1 << 16; raster *= 2) {
        call.choice.number[1] = raster;
        assert_int_equal(tki_gemm_scratch_hopper(&call, &p), 0);
        assert_int_equal(tki_gemm_launch_hopper(&call, &p), TK_INTERNAL);
    }
    tk_ctx_destroy(ctx);
}

/* Whatever choice is taken keeps to what the proofs of the kernels' index maps assume: launch_allows in proofs/tiles_hopper.v. The left factor has
 * to be copied, so that what is taken has scratch memory. */
TEST(what_is_taken_is_what_proofs_assume)
{
    enum { DRAWS = 300000, SEED = 20261117, MOST_SIZE = INT32_MAX - 1024, MOST_PARTS = 16, MOST_RASTER = 1 << 16 };
    static const struct {
        int64_t rows, cols;
        bool few;
    } forms[] = {{128, 256, false}, {256, 256, false}, {128, 160, false}, {128, 128, false},
                 {128, 128, false}, {64, 128, true},   {128, 128, true}}; /* of launch_hopper.c, clusters' tiles */
    enum { FORMS = sizeof forms / sizeof *forms };
    printf("seed %d\n", SEED);
    srand(SEED);
    int taken = 0, many_tiles = 0;
    for (int i = 0; i < effort(DRAWS); i++) {
        const int f = rand() % FORMS;
        const int64_t rows = 1 + rand() % (rand() % 4 ? 1 << rand() % 24 : MOST_SIZE);
        const int64_t cols = 8 * (1 + rand() % (rand() % 4 ? 1 << rand() % 21 : MOST_SIZE / 8));
        const int64_t inner = 1 + 2 * (rand() % (1 << rand() % 16));
        const int64_t down = (rows + forms[f].rows - 1) / forms[f].rows,
                      across = (cols + forms[f].cols - 1) / forms[f].cols;
        const int64_t tiles = down * across, blocks = (inner + 63) / 64;
        const int parts = rand() % 2 ? 1 : rand() % 20;
        const int64_t whole = forms[f].few ? 1 + rand() % 4 : parts == 1 ? tiles : tiles - rand() % 300;
        const int raster = 1 + rand() % (1 << rand() % 18);
        if (whole < INT32_MIN || whole > INT32_MAX)
            continue;
        const tk_case c = case_of(TK_F16, rows, cols, inner);
        const tki_gemm_hopper_product p = {.params = {.left = {NULL, inner, 1},
                                                      .right = {NULL, 1, cols},
                                                      .rows = rows,
                                                      .cols = cols,
                                                      .inner = inner},
                                           .right_across = true};
        const tki_call call = {.c = &c, .choice = {{f, raster, (int)whole, parts}}};
        if (tki_gemm_scratch_hopper(&call, &p) == 0)
            continue;
        taken++;
        many_tiles += tiles > 1 << 20;
        assert_true(raster <= MOST_RASTER && raster * across <= INT32_MAX);
        assert_true(tiles <= INT32_MAX / MOST_PARTS && parts >= 1 && parts <= MOST_PARTS && parts <= blocks);
        if (forms[f].few)
            assert_true(whole * parts <= 8);
        else
            assert_true(whole >= 0 && whole <= tiles && whole + (tiles - whole) * parts <= INT32_MAX - (1 << 20));
    }
    assert_true(taken > DRAWS / 10 && many_tiles > DRAWS / 1000);
}

/* The words that a launch has, and no more scratch memory than copies of both factors and 96 MiB of parts. */
TEST(cuts_fit)
{
    enum { DRAWS = 3000, SEED = 20261116, PARTS_BYTES = 96 << 20 };
    printf("seed %d\n", SEED);
    srand(SEED);
    for (int i = 0; i < effort(DRAWS); i++) {
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
        check_candidates(&p, &c, call.choice, stores_fp32);
        const size_t factors = (size_t)((rows + cols) * (inner + inner / 8 + 8) + 16 * inner) * 2 + 1024;
        assert_true(tki_gemm_scratch_hopper(&call, &p) <= factors + PARTS_BYTES);
        p.params.inner = 0;
        assert_true(tki_gemm_scratch_hopper(&call, &p) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_case_is_chosen_once), cmocka_unit_test(cuts_fit),
                                       cmocka_unit_test(wild_choices_are_refused),
                                       cmocka_unit_test(bands_that_wrap_are_refused),
                                       cmocka_unit_test(what_is_taken_is_what_proofs_assume)};
    return cmocka_run_group_tests_name("chosen", tests, NULL, NULL);
}
