/* Kernels that remember: what they give for other inputs, or later, is not what it should be, and the further runs of a trial see it.
 * A kernel that is merely wrong for the changed element is told from one that remembers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/outcome.h"
#include "core/dtype.h"
#include "core/random.h"
#include "judge/trial.h"
#include "runtime/kernel_runner.h"
#include "tests/op_test.h"
#include "trials/op_registry.h"
#include "trials/unjudged_call.h"

enum { SIZE = 301, KEPT = 1 << 12 };

typedef enum manner {
    FORGETFUL, /* a good kernel */
    BY_SIZE,   /* gives its last result for any inputs of the same size */
    BY_HEAD,   /* for any that begin with the same eight elements */
    BY_SUM,    /* for any with the same sum of bits */
    BY_OUTPUT, /* does nothing where the output begins with its last result */
    TIRED,     /* gives zeros from the fifth call on */
    WRONG      /* where x is above 2, and remembers nothing */
} manner;

typedef struct memory {
    manner manner;
    int calls;
    int64_t size;
    uint32_t sum;
    uint16_t head[8];
    uint16_t result[KEPT];
} memory;

static float gelu(float x)
{
    double v = (double)x;
    return (float)(v / (1 + exp(-2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v))));
}

static uint32_t sum_of(int64_t n, const uint16_t *x)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static bool recalls(const memory *m, int64_t n, const uint16_t *x, const uint16_t *y)
{
    if (m->calls == 1 || m->size != n)
        return false;
    if (m->manner == BY_SUM)
        return m->sum == sum_of(n, x);
    if (m->manner == BY_OUTPUT)
        return !memcmp(y, m->result, 16);
    return m->manner == BY_SIZE || (m->manner == BY_HEAD && n >= 8 && !memcmp(m->head, x, sizeof m->head));
}

static int remembering_kernel(const tk_case *c, void *const b[], void *data)
{
    memory *m = data;
    const uint16_t *x = b[0];
    uint16_t *y = b[1];
    const int64_t n = c->dims[0];
    assert_true(n <= KEPT);
    m->calls++;
    if (recalls(m, n, x, y)) {
        memcpy(y, m->result, (size_t)n * 2);
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        float v = tki_f16_to_f32(x[i]);
        bool spoilt = (m->manner == TIRED && m->calls >= 5) || (m->manner == WRONG && v > 2);
        y[i] = spoilt ? 0 : tki_f32_to_f16(gelu(v));
    }
    m->size = n;
    m->sum = sum_of(n, x);
    memcpy(m->head, x, n >= 8 ? sizeof m->head : 0);
    memcpy(m->result, y, (size_t)n * 2);
    return 0;
}

typedef struct bench {
    tk_ctx *ctx;
    tki_subject subject;
    tki_runner runner;
    tki_trial trial;
    tki_inputs inputs;
    memory memory;
} bench;

/* Of the oracle; they take a while to make. */
static void *tables;

static int make_tables(void **state)
{
    (void)state;
    const tki_oracle *oracle = tki_oracle_of(tk_contract_find("gelu_fwd"));
    return oracle->open ? oracle->open(TK_F16, &tables) != TK_OK : 0;
}

/* Inputs in [-1, 1], so that only a changed element can be above 2. */
static void open_bench(bench *b, manner how, int suspicion, uint64_t seed)
{
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    *b = (bench){.ctx = new_context(), .memory = {.manner = how}};
    b->subject = (tki_subject){.ctx = b->ctx,
                               .contract = contract,
                               .oracle = tki_oracle_of(contract),
                               .tables = tables,
                               .caller = &b->runner.caller,
                               .hash = tki_outputs_hash,
                               .suspicion = suspicion,
                               .visit = tki_trial_visit};
    assert_ok(b->ctx, tk_ctx_set_threads(b->ctx, 1));
    b->trial = (tki_trial){.c = tk_case_init(contract, TK_F16), .family = TKI_GIVEN_INPUTS, .seed = seed};
    b->trial.c.dims[0] = SIZE;
    assert_ok(b->ctx,
              tki_runner_open(b->ctx, &(tki_runnable){.kernel = remembering_kernel, .kernel_data = &b->memory},
                              &b->runner));
    assert_ok(b->ctx, tki_inputs_alloc(b->ctx, &b->trial.c, &b->inputs));
    tki_random random = tki_random_stream(seed, 9);
    for (int i = 0; i < SIZE; i++)
        ((uint16_t *)b->inputs.data[0])[i] = tki_f32_to_f16((float)(2 * tki_random_unit(&random) - 1));
}

static void close_bench(bench *b)
{
    tki_runner_close(&b->runner);
    tki_inputs_free(&b->inputs);
    tk_ctx_destroy(b->ctx);
}

static tki_trial_result run_bench(manner how, int suspicion, uint64_t seed)
{
    bench b;
    tki_trial_result result;
    open_bench(&b, how, suspicion, seed);
    assert_ok(b.ctx, tki_trial_run(&b.subject, &b.trial, &b.inputs, &result));
    close_bench(&b);
    return result;
}

TEST(a_good_kernel_holds)
{
    int swapped = 0;
    for (uint64_t seed = 0; seed < (uint64_t)effort_from(20); seed++) {
        tki_trial_result r = run_bench(FORGETFUL, 3, seed);
        assert_int_equal(r.failed_clause, -1);
        /* The changed ones are judged too, and in some trials swapped ones. */
        assert_true(r.judgement.elements == 2 * SIZE || r.judgement.elements == 3 * SIZE);
        swapped += r.judgement.elements == 3 * SIZE;
    }
    assert_true(swapped > 0);
}

TEST(remembered_results_are_seen)
{
    static const manner manners[] = {BY_SIZE, BY_HEAD};
    for (int i = 0; i < 2; i++) {
        int blind = 0;
        for (uint64_t seed = 0; seed < (uint64_t)effort_from(20); seed++) {
            assert_int_equal(run_bench(manners[i], 0, seed).failed_clause, -1); /* the plain trial is deceived */
            tki_trial_result r = run_bench(manners[i], 1, seed);
            blind += r.failed_clause < 0;
            if (r.failed_clause >= 0) {
                assert_true(r.only_changed);
                const tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
                char reason[512];
                tki_trial_reason(&r, &c, reason, sizeof reason);
                assert_non_null(strstr(reason, "called again with x["));
            }
        }
        /* Eight elements in 301 are what it looks at itself. */
        assert_true(blind * 10 <= effort_from(20));
    }
}

/* Swapped elements, and old results in outputs, come in some of the trials. */
TEST(weak_keys_are_seen)
{
    static const manner manners[] = {BY_SUM, BY_OUTPUT};
    for (int i = 0; i < 2; i++) {
        int seen = 0;
        for (uint64_t seed = 0; seed < (uint64_t)effort_from(20); seed++) {
            assert_int_equal(run_bench(manners[i], 0, seed).failed_clause, -1);
            seen += run_bench(manners[i], 1, seed).only_changed;
        }
        assert_in_range(seen * 20, (i ? 6 : 2) * effort_from(20), 20 * effort_from(20));
    }
}

TEST(tired_kernels_are_seen)
{
    tki_trial_result r = run_bench(TIRED, 3, 1);
    assert_true(r.failed_clause >= 0);
    assert_false(r.only_changed && r.determinism == TK_DETERMINISM_NONE);
}

/* The change that shows an ordinary mistake becomes the trial's own inputs; that of a kernel that remembers does not. */
TEST(changes_are_adopted_only_if_they_fail_alone)
{
    int adopted = 0;
    for (uint64_t seed = 0; seed < (uint64_t)effort_from(20); seed++) {
        bench b;
        tki_trial_result r;
        open_bench(&b, WRONG, 1, seed);
        assert_ok(b.ctx, tki_trial_run(&b.subject, &b.trial, &b.inputs, &r));
        assert_true(r.failed_clause < 0 || r.only_changed);
        if (r.only_changed) {
            assert_ok(b.ctx, tki_trial_adopt_change(&b.subject, &b.trial, &b.inputs, &r));
            assert_false(r.only_changed);
            assert_true(r.failed_clause >= 0 && r.judgement.failure.present);
            float v = tki_f16_to_f32(((const uint16_t *)b.inputs.data[0])[r.judgement.failure.index]);
            assert_true(v > 2);
            assert_int_equal(b.subject.suspicion, 1);
            adopted++;
        }
        close_bench(&b);
    }
    assert_true(adopted > 0);

    bench b;
    tki_trial_result r;
    open_bench(&b, BY_HEAD, 1, 4);
    assert_ok(b.ctx, tki_trial_run(&b.subject, &b.trial, &b.inputs, &r));
    assert_true(r.only_changed);
    b.memory = (memory){.manner = FORGETFUL};
    assert_ok(b.ctx, tki_trial_adopt_change(&b.subject, &b.trial, &b.inputs, &r));
    assert_true(r.only_changed);
    close_bench(&b);
}

TEST(coming_again)
{
    bench b;
    tki_trial_result first;
    tki_trial_result again;
    open_bench(&b, FORGETFUL, 0, 8);
    assert_ok(b.ctx, tki_trial_run(&b.subject, &b.trial, &b.inputs, &first));
    assert_ok(b.ctx, tki_trial_run_again(&b.subject, &b.trial, &b.inputs, first.output_hash, &again));
    assert_int_equal(again.failed_clause, -1);
    b.memory = (memory){.manner = TIRED, .calls = 7};
    assert_ok(b.ctx, tki_trial_run_again(&b.subject, &b.trial, &b.inputs, first.output_hash, &again));
    assert_int_equal(again.failed_clause, tki_clause_find(b.subject.contract, TK_CLAUSE_REPEAT));
    assert_int_equal(again.determinism, TK_DETERMINISM_NONE);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_kernel_holds),
        cmocka_unit_test(remembered_results_are_seen),
        cmocka_unit_test(weak_keys_are_seen),
        cmocka_unit_test(tired_kernels_are_seen),
        cmocka_unit_test(changes_are_adopted_only_if_they_fail_alone),
        cmocka_unit_test(coming_again),
    };
    return cmocka_run_group_tests_name("remembering", tests, make_tables, NULL);
}
