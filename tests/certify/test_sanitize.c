/* Which trials compute-sanitizer watches, and which clause a finding of it refutes. tests/isolate/test_sanitizer.c has the program itself. */
#include "certify/sanitize.h"
#include "tests/op_test.h"
#include "trials/levels.h"

enum { MOST = 24 };

static int64_t work_of(const tki_trial *trial)
{
    int64_t work = 1;
    for (int d = 0; d < trial->c.contract->dim_count; d++)
        work *= trial->c.dims[d];
    return work;
}

static int64_t elements_of(const tki_trial *trial)
{
    int64_t elements = 0;
    for (int p = 0; p < trial->c.contract->param_count; p++)
        elements += tk_case_elements(&trial->c, p);
    return elements;
}

/* Of every op and level: another shape each, small, in order of size, and the same ones for the same seed. */
TEST_WITH_CONTEXT(chosen_trials)
{
    for (int op = 0; tk_contract_at(op); op++)
        for (tk_level level = TK_QUICK; level <= TK_FULL; level++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                tk_certify_options options = {.level = level, .seed = seed};
                tki_trials trials;
                assert_ok(ctx, tki_trials_make(ctx, tk_contract_at(op), TK_F16, TK_I32, &options, &trials));
                const tki_trial **all = calloc((size_t)trials.count, sizeof *all);
                for (int64_t i = 0; i < trials.count; i++)
                    all[i] = &trials.list[i];
                const tki_trial *list[MOST], *again[MOST];
                tki_sanitize_trials chosen = {.list = list}, repeated = {.list = again};
                const int most = level == TK_QUICK ? 8 : MOST;
                tki_sanitize_choose(all, trials.count, seed, most, &chosen);
                tki_sanitize_choose(all, trials.count, seed, most, &repeated);
                assert_true(chosen.count > 3 && chosen.count <= most);
                assert_int_equal(chosen.count, repeated.count);
                for (int i = 0; i < chosen.count; i++) {
                    assert_ptr_equal(list[i], again[i]);
                    assert_in_range(elements_of(list[i]), 1, 1 << 16);
                    assert_in_range(work_of(list[i]), 1, 1 << 24);
                    assert_true(i == 0 || elements_of(list[i - 1]) <= elements_of(list[i]));
                    assert_true(i == 0 || memcmp(list[i - 1]->c.dims, list[i]->c.dims, sizeof list[i]->c.dims) != 0);
                }
                /* More than one warp has something to do. */
                assert_true(elements_of(list[chosen.count - 1]) >= 1024);
                free(all);
                free(trials.list);
            }
}

TEST(nothing_to_choose_from)
{
    const tki_trial *list[1];
    tki_sanitize_trials chosen = {.list = list};
    tki_trial large = {.c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16)}, none = large;
    large.c.dims[0] = 1 << 20;
    tki_sanitize_choose((const tki_trial *const[]){&large, &none}, 2, 1, 1, &chosen);
    assert_int_equal(chosen.count, 0);
    tki_sanitize_choose(NULL, 0, 1, 1, &chosen);
    assert_int_equal(chosen.count, 0);
}

/* Every kind has a clause in every contract, and words. */
TEST(clauses)
{
    for (int op = 0; tk_contract_at(op); op++)
        for (int kind = TKI_SANITIZER_STRAY_READ; kind <= TKI_SANITIZER_OTHER; kind++) {
            int clause = tki_sanitize_clause(tk_contract_at(op), (tki_sanitizer_kind)kind);
            assert_in_range(clause, 0, tk_contract_at(op)->clause_count - 1);
            assert_true(tki_sanitize_meaning((tki_sanitizer_kind)kind)[0]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_trials),
        cmocka_unit_test(nothing_to_choose_from),
        cmocka_unit_test(clauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
