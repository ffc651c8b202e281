/* Means over cases, what counts as a cliff, and the series of sizes. */
#include <math.h>

#include "tests/unit_test.h"

/* The bench engine belongs to the program, not to a library. */
#include "bench/bench_shapes.c" /* NOLINT(bugprone-suspicious-include) */
#include "bench/summary.c"      /* NOLINT(bugprone-suspicious-include) */

static bench_result make_result(double elements, double ours, double limit, double peer)
{
    return (bench_result){
        .threads = 2,
        .elements = elements,
        .limit = limit,
        .best_peer = peer,
        .arm_count = 3,
        .arms = {{.name = "ours", .threads = 2, .kind = BENCH_LOWERING, .best = ours, .median = 2 * ours},
                 {.name = "peer", .threads = 2, .kind = BENCH_PEER, .best = peer, .median = peer},
                 {.name = "ours", .threads = 1, .kind = BENCH_LOWERING, .best = 1.5 * ours, .median = 2 * ours}}};
}

static void assert_close(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

TEST(test_means)
{
    bench_result results[] = {make_result(8, 1, 0.25, 2), make_result(8, 1, 1, 8), make_result(8, 1, 1, 0)};
    results[2].arm_count = 1; /* without a peer, and with one number of threads */
    bench_mean mean = bench_mean_of(results, 3, "ours", BENCH_TO_PEER, NULL);
    assert_int_equal(mean.cases, 2);
    assert_close(mean.mean, 4);
    assert_close(mean.least, 2);
    assert_ptr_equal(mean.worst, &results[0]);
    mean = bench_mean_of(results, 3, "ours", BENCH_OF_LIMIT, NULL);
    assert_int_equal(mean.cases, 3);
    assert_close(mean.mean, cbrt(0.25));
    mean = bench_mean_of(results, 3, "ours", BENCH_SPEEDUP, NULL);
    assert_int_equal(mean.cases, 2);
    assert_close(mean.mean, 1.5);
    assert_close(bench_mean_of(results, 3, "ours", BENCH_SPEEDUP_MEDIAN, NULL).mean, 1);
    assert_int_equal(bench_mean_of(results, 3, "theirs", BENCH_TO_PEER, NULL).cases, 0);
    results[0].arms[1].differs = true; /* does other work: no ratio to it */
    mean = bench_mean_of(results, 3, "ours", BENCH_TO_PEER, "peer");
    assert_int_equal(mean.cases, 1);
    assert_close(mean.mean, 8);
}

static bool is_cliff(double ours, double limit)
{
    const bench_result from = make_result(8, 1, 1, 1);
    const bench_result to = make_result(16, 2 * ours, 2 * limit, 1);
    bench_step step;
    assert_true(bench_step_of(&from, &to, "ours", &step));
    assert_close(step.growth, ours);
    assert_close(step.limit_growth, limit);
    return step.is_cliff;
}

TEST(test_cliffs)
{
    assert_false(is_cliff(1, 1));
    assert_false(is_cliff(1.49, 1));
    assert_true(is_cliff(1.51, 1));
    assert_false(is_cliff(1.51, 1.1)); /* the limit grows too */
    assert_false(is_cliff(1.49, 0.5)); /* and where it falls, that is no reproach */
    assert_true(is_cliff(1.51, 0.5));
}

TEST(test_steps)
{
    const bench_result large = make_result(16, 1, 1, 1);
    bench_result small = make_result(8, 1, 1, 1);
    bench_step step;
    assert_true(bench_step_of(&small, &large, "ours", &step));
    assert_false(bench_step_of(&large, &small, "ours", &step)); /* the next series begins */
    assert_false(bench_step_of(&small, &large, "theirs", &step));
    small.indices = BENCH_ZIPF;
    assert_false(bench_step_of(&small, &large, "ours", &step));
}

TEST(test_growth)
{
    for (int op = 0; tk_contract_at(op); op++) {
        const tk_contract *contract = tk_contract_at(op);
        const bool product = !strncmp(contract->name, "gemm", 4) || !strncmp(contract->name, "linear", 6);
        int64_t dims[TK_MAX_DIMS] = {0};
        int64_t before = 0;
        int64_t last = 0;
        int count = 0;
        for (; bench_shape_at(contract, true, count, dims); count++) {
            last = product || contract->dim_count == 1 ? dims[0] : dims[0] * dims[1];
            if (count == 0)
                assert_int_equal(last, product ? 16 : 1 << 10);
            else
                assert_true(last > before && last <= 2 * before);
            before = last;
        }
        assert_int_equal(last, product ? 4096 : 1 << 28);
        assert_true(count > 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_cliffs),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
