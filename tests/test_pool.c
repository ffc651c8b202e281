/* Warm workers: reused for the same file, op and options; never after they broke; never more than asked for. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "executor/worker.h"
#include "tests/op_test.h"
#include "tests/worker_test.h"

static tk_status call(tki_worker *worker)
{
    uint16_t x[5] = {0x3c00, 0, 0, 0, 0x3c00}, y[5] = {0};
    void *buffers[] = {x, y};
    tki_overrun overrun;
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    c.dims[0] = 5;
    tk_status status = tki_worker_call(worker, &c, buffers, NULL, &overrun);
    if (status == TK_OK)
        assert_int_equal(y[4], 0x3abb); /* gelu(1) = 0.8412 */
    return status;
}

static void reused(void **state)
{
    (void)state;
    const tk_contract *gelu = tk_contract_find("gelu_fwd");
    tk_ctx *ctx = new_context(), *other = new_context();
    tki_worker_pool *pool;
    tki_worker *first, *second, *third;
    assert_refused(ctx, tki_worker_pool_open(ctx, 0, &pool), TK_BAD_ARGUMENT, "at least one");
    assert_ok(ctx, tki_worker_pool_open(ctx, 2, &pool));
    assert_ok(ctx, tki_worker_pool_take(pool, ctx, kernel_path("correct"), gelu, NULL, &first));
    assert_ok(ctx, call(first));
    /* While it is in use another one is started. */
    assert_ok(ctx, tki_worker_pool_take(pool, ctx, kernel_path("correct"), gelu, NULL, &second));
    assert_ptr_not_equal(first, second);
    tki_worker_pool_give(pool, first);
    assert_ok(other, tki_worker_pool_take(pool, other, kernel_path("correct"), gelu, NULL, &third));
    assert_ptr_equal(first, third);
    assert_ok(other, call(third));
    /* Another kernel, other options. */
    tki_worker_pool_give(pool, third);
    assert_ok(ctx, tki_worker_pool_take(pool, ctx, kernel_path("correct"), gelu,
                                        &(tki_worker_options){.call_seconds = 7}, &third));
    assert_ptr_not_equal(first, third);
    tki_worker_pool_give(pool, third);
    assert_ok(ctx, tki_worker_pool_take(pool, ctx, kernel_path("refuse_odd_sizes"), gelu, NULL, &third));
    assert_refused(ctx, call(third), TK_UNSUPPORTED, "returned 7");
    /* Two idle ones are kept: of first, third and the one with options the oldest went. */
    tki_worker_pool_give(pool, third);
    tki_worker_pool_give(pool, second);
    assert_int_equal(processes_left(), 2 * 3);
    assert_refused(ctx, tki_worker_pool_take(pool, ctx, "/nowhere.so", gelu, NULL, &third), TK_IO, "/nowhere.so");
    tki_worker_pool_close(pool);
    tki_worker_pool_close(NULL);
    tk_ctx_destroy(ctx);
    tk_ctx_destroy(other);
    assert_nothing_left();
}

/* A worker that may read what another list names is another one, even if the names run together alike. */
static void what_may_be_read_decides(void **state)
{
    (void)state;
    static const char *const one[] = {"/usr/share", NULL}, *const two[] = {"/usr", "/share", NULL};
    static const char *const *const lists[] = {NULL, one, two};
    enum { LISTS = sizeof lists / sizeof *lists };
    tk_ctx *ctx = new_context();
    tki_worker_pool *pool;
    tki_worker *workers[LISTS], *again;
    assert_ok(ctx, tki_worker_pool_open(ctx, LISTS, &pool));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < LISTS; i++) {
            tki_worker_options options = {.readable = lists[i]};
            assert_ok(ctx, tki_worker_pool_take(pool, ctx, kernel_path("correct"), tk_contract_find("gelu_fwd"),
                                                &options, round == 0 ? &workers[i] : &again));
            if (round == 1)
                assert_ptr_equal(again, workers[i]);
            tki_worker_pool_give(pool, workers[i]);
        }
    assert_ptr_not_equal(workers[0], workers[1]);
    assert_ptr_not_equal(workers[0], workers[2]);
    assert_ptr_not_equal(workers[1], workers[2]);
    tki_worker_pool_close(pool);
    tk_ctx_destroy(ctx);
    assert_nothing_left();
}

static void broken_ones_are_not_kept(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tki_worker_pool *pool;
    tki_worker *worker;
    assert_ok(ctx, tki_worker_pool_open(ctx, 2, &pool));
    for (int i = 0; i < 3; i++) {
        assert_ok(
            ctx, tki_worker_pool_take(pool, ctx, kernel_path("exit_0"), tk_contract_find("gelu_fwd"), NULL, &worker));
        assert_refused(ctx, call(worker), TK_KERNEL_FAULT, "exit status 0");
        tki_worker_pool_give(pool, worker);
        assert_nothing_left();
    }
    tki_worker_pool_close(pool);
    tk_ctx_destroy(ctx);
}

/* A file that was built anew is another kernel. */
static void changed_files_are_loaded_again(void **state)
{
    (void)state;
    char command[2 * PATH_MAX + 64], path[128];
    snprintf(path, sizeof path, "%s/kernel.so", own_folder);
    tk_ctx *ctx = new_context();
    tki_worker_pool *pool;
    tki_worker *worker;
    assert_ok(ctx, tki_worker_pool_open(ctx, 2, &pool));
    static const char *const kernels_in_turn[] = {"correct", "refuse_odd_sizes"};
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "rm -f '%s'; cp '%s' '%s'", path, kernel_path(kernels_in_turn[i]), path);
        assert_int_equal(system(command), 0);
        assert_ok(ctx, tki_worker_pool_take(pool, ctx, path, tk_contract_find("gelu_fwd"), NULL, &worker));
        assert_int_equal(call(worker), i == 0 ? TK_OK : TK_UNSUPPORTED);
        tki_worker_pool_give(pool, worker);
    }
    tki_worker_pool_close(pool);
    tk_ctx_destroy(ctx);
    assert_int_equal(unlink(path), 0);
    assert_nothing_left();
}

enum { THREADS = 4, ROUNDS = 20 };

static void *work(void *argument)
{
    tki_worker_pool *pool = argument;
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return argument;
    bool fine = true;
    for (int i = 0; i < ROUNDS && fine; i++) {
        tki_worker *worker;
        bool breaks = i % 5 == 4;
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s.so", kernels, breaks ? "abort_it" : "correct");
        fine = tki_worker_pool_take(pool, ctx, path, tk_contract_find("gelu_fwd"), NULL, &worker) == TK_OK;
        if (!fine)
            break;
        fine = call(worker) == (breaks ? TK_KERNEL_FAULT : TK_OK);
        tki_worker_pool_give(pool, worker);
    }
    tk_ctx_destroy(ctx);
    return fine ? NULL : argument;
}

static void several_threads(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    tki_worker_pool *pool;
    pthread_t threads[THREADS];
    assert_ok(ctx, tki_worker_pool_open(ctx, 2, &pool));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, pool), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    tki_worker_pool_close(pool);
    tk_ctx_destroy(ctx);
    assert_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reused),
        cmocka_unit_test(what_may_be_read_decides),
        cmocka_unit_test(broken_ones_are_not_kept),
        cmocka_unit_test(changed_files_are_loaded_again),
        cmocka_unit_test(several_threads),
    };
    return cmocka_run_group_tests(tests, begin_worker_test, end_worker_test);
}
