/* Planted wrong kernels are judged once in a process: whoever asks gets the same records, whenever and from whichever thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/context.h"
#include "trials/mutants.h"

enum { SEED = 20261116 };

typedef struct asked {
    tk_status status;
    tki_mutant_record *list;
    int count;
    int told; /* times that progress was reported: nothing is judged without */
} asked;

static void count(double done, const char *what, void *data)
{
    assert_true(done >= 0 && done <= 1);
    assert_non_null(what);
    ++*(int *)data;
}

static asked ask_in(tk_ctx *ctx, uint64_t seed)
{
    asked a = {0};
    a.status = tki_mutants_judge(ctx, tk_contract_find("gelu_fwd"), (tk_types){TK_F16, TK_F16}, TK_I32, seed, count,
                                 &a.told, &a.list, &a.count);
    return a;
}

static void *ask(void *data)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) == TK_OK) {
        *(asked *)data = ask_in(ctx, SEED);
        tk_ctx_destroy(ctx);
    }
    return NULL;
}

static void assert_same(const asked *a, const asked *b)
{
    assert_int_equal(b->status, TK_OK);
    assert_int_equal(a->count, b->count);
    assert_ptr_not_equal(a->list, b->list);
    for (int i = 0; i < a->count; i++) {
        assert_ptr_equal(a->list[i].mutant, b->list[i].mutant);
        assert_int_equal(a->list[i].rejected, b->list[i].rejected);
        assert_int_equal(a->list[i].clause, b->list[i].clause);
        /* A mutant that reads outside of its arrays meets red zones, which are drawn by their addresses: of bits that differ from run to run
         * it is only told where. */
        const char *bits = strstr(a->list[i].reason, " on one run and ") ? strstr(a->list[i].reason, " was 0x")
                                                                         : NULL;
        if (bits)
            assert_memory_equal(a->list[i].reason, b->list[i].reason, (size_t)(bits - a->list[i].reason));
        else
            assert_string_equal(a->list[i].reason, b->list[i].reason);
    }
}

static void once(void **state)
{
    (void)state;
    asked all[4] = {0};
    pthread_t threads[4];
    int judged = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &all[i]), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        judged += all[i].told > 0;
    }
    assert_int_equal(judged, 1);
    assert_true(all[0].count > 0);
    for (int i = 0; i < all[0].count; i++)
        assert_true(all[0].list[i].rejected);
    for (int i = 1; i < 4; i++)
        assert_same(&all[0], &all[i]);
    for (int i = 0; i < 4; i++)
        free(all[i].list);
}

/* A certificate that has no time left neither cuts them short nor leaves half of them for others. */
static void whatever_time_is_left(void **state)
{
    (void)state;
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    ctx->deadline = 1e-9;
    asked a = ask_in(ctx, SEED + 1);
    assert_int_equal(a.status, TK_OK);
    assert_true(a.told > 0 && a.count > 0);
    for (int i = 0; i < a.count; i++)
        assert_true(a.list[i].rejected);
    assert_true(ctx->deadline == 1e-9);
    free(a.list);
    tk_ctx_destroy(ctx);
}

/* More seeds than are kept: each is judged, and those beyond are judged anew each time. */
static void more_than_are_kept(void **state)
{
    (void)state;
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    asked last = {0};
    for (uint64_t i = 0; i < 70; i++) {
        free(last.list);
        last = ask_in(ctx, SEED + 100 + i);
        assert_int_equal(last.status, TK_OK);
        assert_true(last.told > 0 && last.count > 0);
    }
    asked again = ask_in(ctx, SEED + 100 + 69);
    assert_true(again.told > 0);
    assert_same(&last, &again);
    free(last.list);
    free(again.list);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once), cmocka_unit_test(whatever_time_is_left),
                                       cmocka_unit_test(more_than_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
