/* Planted wrong kernels are judged once for a build, an op and its types: in a process, whoever asks gets the same records, whenever and from
 * whichever thread; other processes read what the first has kept. */
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/context.h"
#include "core/file.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"
#include "trials/mutants.h"

enum { SEED = 20261116 };

typedef struct asked {
    tk_status status;
    tki_mutants made;
    int told; /* times that progress was reported: nothing is judged without */
} asked;

static int begin(void **state)
{
    return enter(state) || mkdir("cache", 0700) || setenv("TOKITAI_CACHE", "cache", 1) ? -1 : 0;
}

static void count(double done, const char *what, void *data)
{
    assert_true(done >= 0 && done <= 1);
    assert_non_null(what);
    ++*(int *)data;
}

static asked ask_in(tk_ctx *ctx, tki_mutants_asked how)
{
    asked a = {0};
    a.status = tki_mutants_judge(ctx, tk_contract_find("gelu_fwd"), (tk_types){TK_F16, TK_F16}, TK_I32, how, count,
                                 &a.told, &a.made);
    return a;
}

static asked ask_by_seed(tk_ctx *ctx, uint64_t seed)
{
    return ask_in(ctx, (tki_mutants_asked){.seed = &seed});
}

static void *ask(void *data)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) == TK_OK) {
        *(asked *)data = ask_in(ctx, (tki_mutants_asked){0});
        tk_ctx_destroy(ctx);
    }
    return NULL;
}

static void assert_same(const asked *a, const asked *b)
{
    assert_int_equal(b->status, TK_OK);
    assert_int_equal(a->made.count, b->made.count);
    assert_ptr_not_equal(a->made.list, b->made.list);
    for (int i = 0; i < a->made.count; i++) {
        assert_ptr_equal(a->made.list[i].mutant, b->made.list[i].mutant);
        assert_int_equal(a->made.list[i].rejected, b->made.list[i].rejected);
        assert_int_equal(a->made.list[i].clause, b->made.list[i].clause);
        /* A mutant that reads outside of its arrays meets red zones, which are drawn by their addresses: of bits that differ from run to run
         * it is only told where. */
        const char *bits = strstr(a->made.list[i].reason, " on one run and ")
                               ? strstr(a->made.list[i].reason, " was 0x")
                               : NULL;
        if (bits)
            assert_memory_equal(a->made.list[i].reason, b->made.list[i].reason,
                                (size_t)(bits - a->made.list[i].reason));
        else
            assert_string_equal(a->made.list[i].reason, b->made.list[i].reason);
    }
}

/* The first of this process; no other test asks for these without a process of its own. */
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
    assert_true(all[0].made.count > 0);
    for (int i = 0; i < all[0].made.count; i++)
        assert_true(all[0].made.list[i].rejected);
    for (int i = 1; i < 4; i++)
        assert_same(&all[0], &all[i]);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(all[i].made.kept, "");
        free(all[i].made.list);
    }
}

/* A process of its own, which has judged nothing yet: runs the function, which ends it by failing or by returning. */
static void in_a_process(void (*function)(tk_ctx *ctx))
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tk_ctx *ctx = new_context();
        function(ctx);
        tk_ctx_destroy(ctx);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* In a child a failed assertion must not go on with the other tests. */
static void must(bool good, int line)
{
    if (good)
        return;
    fprintf(stderr, "line %d: not so in the other process\n", line);
    _exit(1);
}

static const tki_mutants_asked usually = {0}, anew = {.fresh = true};

static void judges_and_keeps(tk_ctx *ctx)
{
    asked a = ask_in(ctx, usually);
    must(a.status == TK_OK && a.told > 0 && !a.made.kept[0] && a.made.build[0], __LINE__);
    free(a.made.list);
}

static void finds_what_is_kept(tk_ctx *ctx)
{
    uint64_t seed;
    asked kept = ask_in(ctx, usually), again = ask_in(ctx, usually), fresh = ask_in(ctx, anew);
    must(kept.status == TK_OK && !kept.told && tki_is_date(kept.made.kept), __LINE__);
    must(!again.told && !strcmp(again.made.kept, kept.made.kept), __LINE__);
    must(fresh.told > 0 && !fresh.made.kept[0], __LINE__);
    must(kept.made.seed == fresh.made.seed && kept.made.count == fresh.made.count, __LINE__);
    must(tki_mutants_seed(kept.made.build, "gelu_fwd", "f16", "", &seed) && seed == kept.made.seed, __LINE__);
    must(tki_mutants_seed("", "gelu_fwd", "f16", "", &seed) && seed != kept.made.seed, __LINE__);
    for (int i = 0; i < kept.made.count; i++) {
        const tki_mutant_record *a = &kept.made.list[i], *b = &fresh.made.list[i];
        must(a->mutant == b->mutant && a->rejected == b->rejected, __LINE__);
    }
    /* What this process has judged itself it has not from a file. */
    asked last = ask_in(ctx, usually);
    must(!last.told && !last.made.kept[0], __LINE__);
    free(kept.made.list);
    free(again.made.list);
    free(fresh.made.list);
    free(last.made.list);
}

/* A given seed is judged by this process, also where it is that of what is kept. */
static void given_seed_is_judged(tk_ctx *ctx)
{
    asked kept = ask_in(ctx, usually), given = ask_by_seed(ctx, kept.made.seed);
    must(kept.made.kept[0] && !kept.told, __LINE__);
    must(given.told > 0 && !given.made.kept[0] && given.made.seed == kept.made.seed, __LINE__);
    free(kept.made.list);
    free(given.made.list);
}

static void finds_a_survivor(tk_ctx *ctx)
{
    asked a = ask_in(ctx, usually);
    must(!a.told && a.made.kept[0] && a.made.count > 1, __LINE__);
    must(!a.made.list[0].rejected && a.made.list[1].rejected, __LINE__);
    free(a.made.list);
}

static void edit_kept(void (*edit)(tki_kept_mutants *kept))
{
    char problem[256], *data;
    size_t bytes;
    glob_t found;
    tki_kept_mutants kept;
    tk_ctx *ctx = new_context();
    assert_int_equal(glob("cache/*.mutants", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_ok(ctx, tki_file_read(ctx, found.gl_pathv[0], TKI_KEPT_MOST_BYTES, &data, &bytes));
    assert_true(tki_kept_decode(data, bytes, NULL, &kept, problem, sizeof problem));
    free(data);
    edit(&kept);
    data = tki_kept_encode(&kept, &bytes);
    assert_non_null(data);
    assert_ok(ctx, tki_file_create(ctx, found.gl_pathv[0], data, bytes, 0600, true));
    free(data);
    tki_kept_free(&kept);
    globfree(&found);
    tk_ctx_destroy(ctx);
}

static void let_one_survive(tki_kept_mutants *kept)
{
    kept->list[0].rejected = false;
}

static void leave_one_out(tki_kept_mutants *kept)
{
    kept->count--;
}

static void kept_for_other_processes(void **state)
{
    (void)state;
    in_a_process(judges_and_keeps);
    in_a_process(finds_what_is_kept);
    in_a_process(given_seed_is_judged);
    edit_kept(let_one_survive);
    in_a_process(finds_a_survivor);
    edit_kept(leave_one_out); /* then they are not those that there are, and all are judged */
    in_a_process(judges_and_keeps);
    in_a_process(finds_what_is_kept);
}

/* A certificate that has no time left does not judge them, and leaves none of them for others; what has been judged takes no time. */
static void whatever_time_is_left(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    ctx->deadline = 1e-9;
    asked none = ask_by_seed(ctx, SEED + 1);
    assert_int_equal(none.status, TK_TIMEOUT);
    assert_true(!none.made.list && !none.made.count);
    assert_true(ctx->deadline == 1e-9);
    ctx->deadline = 0;
    asked a = ask_by_seed(ctx, SEED + 1);
    assert_int_equal(a.status, TK_OK);
    assert_true(a.told > 0 && a.made.count > 0);
    for (int i = 0; i < a.made.count; i++)
        assert_true(a.made.list[i].rejected);
    ctx->deadline = 1e-9;
    asked again = ask_by_seed(ctx, SEED + 1);
    assert_true(!again.told);
    assert_same(&a, &again);
    free(a.made.list);
    free(again.made.list);
    tk_ctx_destroy(ctx);
}

/* More seeds than a process keeps: each is judged, and those beyond are judged anew each time. None goes to the folder. */
static void more_than_are_kept(void **state)
{
    (void)state;
    tk_ctx *ctx = new_context();
    asked last = {0};
    for (uint64_t i = 0; i < 70; i++) {
        free(last.made.list);
        last = ask_by_seed(ctx, SEED + 100 + i);
        assert_int_equal(last.status, TK_OK);
        assert_true(last.told > 0 && last.made.count > 0);
    }
    asked again = ask_by_seed(ctx, SEED + 100 + 69);
    assert_true(again.told > 0);
    assert_same(&last, &again);
    free(last.made.list);
    free(again.made.list);
    tk_ctx_destroy(ctx);
    assert_int_not_equal(rmdir("cache"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(kept_for_other_processes, begin, leave),
                                       cmocka_unit_test_setup_teardown(once, begin, leave),
                                       cmocka_unit_test_setup_teardown(whatever_time_is_left, begin, leave),
                                       cmocka_unit_test_setup_teardown(more_than_are_kept, begin, leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
