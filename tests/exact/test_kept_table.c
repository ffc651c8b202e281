/* Tables that are kept (exact/kept_table.h): one serves all who ask, from whatever thread; nobody in this process can write to it; and
 * every oracle's tables are such. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "exact/kept_table.h"
#include "exact/round.h"
#include "tests/unit_test.h"
#include "trials/op_registry.h"

enum { THREADS = 8 };

static const tk_dtype dtypes[] = {TK_F16, TK_BF16};

/* The system refuses to write there. */
static void assert_read_only(void *place)
{
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    assert_true(zeros >= 0);
    assert_int_equal(read(zeros, place, 1), -1);
    assert_int_equal(errno, EFAULT);
    close(zeros);
}

static atomic_int fills;

static void fill(tk_dtype dtype, void *entries)
{
    double *values = entries;
    atomic_fetch_add(&fills, 1);
    for (uint32_t bits = 0; bits < TKI_PATTERNS; bits++)
        values[bits] = (double)bits + (dtype == TK_BF16 ? 0.5 : 0);
}

static tki_kept_table kept = {.entry_bytes = sizeof(double), .fill = fill};
static pthread_barrier_t together;

typedef struct asked {
    tk_status status[2];
    void *tables[2];
} asked;

static void *ask(void *data)
{
    asked *a = data;
    pthread_barrier_wait(&together);
    for (int d = 0; d < 2; d++)
        a->status[d] = tki_kept_table_open(&kept, dtypes[d], &a->tables[d]);
    return NULL;
}

TEST(made_once_for_all_threads)
{
    pthread_t threads[THREADS];
    asked all[THREADS];
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &all[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&together);
    assert_int_equal(atomic_load(&fills), 2);
    for (int d = 0; d < 2; d++) {
        double *values = all[0].tables[d];
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(all[i].status[d], TK_OK);
            assert_ptr_equal(all[i].tables[d], values);
        }
        for (uint32_t bits = 0; bits < TKI_PATTERNS; bits++)
            assert_true(values[bits] == (double)bits + 0.5 * d);
        assert_read_only(&values[0]);
        assert_read_only((char *)&values[TKI_PATTERNS] - 1);
    }
}

static void fill_single(void *table)
{
    *(double *)table = 0.25;
    atomic_fetch_add(&fills, 1);
}

TEST(one_for_all_types)
{
    tki_kept_single single = {.bytes = sizeof(double), .fill = fill_single};
    tki_kept_single huge = {.bytes = SIZE_MAX / 2, .fill = fill_single};
    int before = atomic_load(&fills);
    void *table;
    void *again;
    assert_int_equal(tki_kept_single_open(&single, &table), TK_OK);
    assert_int_equal(tki_kept_single_open(&single, &again), TK_OK);
    assert_int_equal(tki_kept_single_open(&huge, &again), TK_NO_MEMORY);
    assert_null(again);
    assert_int_equal(atomic_load(&fills), before + 1);
    assert_true(*(double *)table == 0.25);
    assert_read_only(table);
}

TEST(too_large)
{
    tki_kept_table huge = {.entry_bytes = SIZE_MAX / 2 / TKI_PATTERNS, .fill = fill};
    void *table;
    int before = atomic_load(&fills);
    assert_int_equal(tki_kept_table_open(&huge, TK_F16, &table), TK_NO_MEMORY);
    assert_null(table);
    assert_int_equal(atomic_load(&fills), before);
}

TEST(of_every_oracle)
{
    int with_tables = 0;
    for (int i = 0; i < tk_contract_count(); i++) {
        const tki_oracle *oracle = tki_oracle_of(tk_contract_at(i));
        void *tables[2];
        if (!oracle->open)
            continue;
        with_tables++;
        for (int d = 0; d < 2; d++) {
            void *again;
            assert_int_equal(oracle->open(dtypes[d], &tables[d]), TK_OK);
            assert_int_equal(oracle->open(dtypes[d], &again), TK_OK);
            assert_ptr_equal(again, tables[d]);
            assert_read_only(tables[d]);
        }
        assert_ptr_not_equal(tables[0], tables[1]);
    }
    assert_int_equal(with_tables, tk_contract_count() - 2); /* embedding_fwd moves bits, padic_gemm has integers */
}

/* Each is the number itself, not a rounded one. */
TEST(values)
{
    for (int d = 0; d < 2; d++) {
        void *table;
        assert_int_equal(tki_values_open(dtypes[d], &table), TK_OK);
        const float *value = table;
        for (uint32_t bits = 0; bits < TKI_PATTERNS; bits++) {
            double exact = tki_decode(dtypes[d], bits);
            assert_int_equal(isnan(value[bits]), isnan(exact));
            assert_true(isnan(exact) || (double)value[bits] == exact);
            assert_int_equal(signbit(value[bits]) != 0, signbit(exact) != 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_once_for_all_threads), cmocka_unit_test(too_large), cmocka_unit_test(one_for_all_types),
        cmocka_unit_test(of_every_oracle),           cmocka_unit_test(values),
    };
    return cmocka_run_group_tests_name("kept_table", tests, NULL, NULL);
}
