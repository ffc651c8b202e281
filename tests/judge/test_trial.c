/* Trials: hostile kernels and the clause that each breaks, guarded buffers, slices of inputs, shrinking. Most of it with an op
 * made up here: y = x, bit for bit, in place if wanted. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certify/outcome.h"
#include "core/context.h"
#include "core/random.h"
#include "exact/round.h"
#include "judge/call_setup.h"
#include "judge/guard.h"
#include "judge/trial.h"
#include "model/attributes.h"
#include "runtime/kernel_runner.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "trials/op_registry.h"
#include "trials/shrink.h"

enum { ERR, WRITE, SHAPE, REPEAT, INPLACE, BITS };

static const tk_contract copy = {
    .name = "copy",
    TKI_TYPES_16_BITS,
    .dim_count = 2,
    .dim_names = (const char *const[]){"r", "c"},
    .param_count = 3,
    .params =
        (const tk_param[]){
            {.name = "x", .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "other", .kind = TK_KIND_VALUE, .rank = 1, .dim = (const int[]){1}, APART},
            {.name = "y",
             .output = true,
             .kind = TK_KIND_VALUE,
             .rank = 2,
             .dim = (const int[]){0, 1},
             .inner_axis = -1,
             .may_alias = 0},
        },
    .clause_count = 6,
    .clauses = (const tk_clause[]){{TK_CLAUSE_ERROR, "COPY.ERR", ""},
                                   {TK_CLAUSE_WRITE, "COPY.WRITE", ""},
                                   {TK_CLAUSE_SHAPE, "COPY.SHAPE", ""},
                                   {TK_CLAUSE_REPEAT, "COPY.REPEAT", ""},
                                   {TK_CLAUSE_IN_PLACE, "COPY.INPLACE", ""},
                                   {TK_CLAUSE_BITS, "COPY.BITS", ""}},
};

static void copy_box_size(const tk_case *c, int output, int64_t *rows, int64_t *cols)
{
    (void)c;
    (void)output;
    *rows = 3;
    *cols = 100;
}

/* The promise is the exact copy; the contract also takes other NaNs and the other zero. */
static tk_status copy_enclose(const tki_oracle_job *job, const tki_box *box, tki_enclosure *out)
{
    for (int64_t r = box->row_begin; r < box->row_end; r++)
        for (int64_t c = box->col_begin; c < box->col_end; c++) {
            uint32_t bits = tki_element_bits(job->c->dtype, job->buffers[0], r * job->c->dims[1] + c);
            double value = tki_decode(job->c->dtype, bits);
            *out++ = (tki_enclosure){.bits = bits,
                                     .admits = job->promised ? TKI_ADMIT_RAW_BITS
                                               : value == 0  ? TKI_ADMIT_ZERO
                                                             : TKI_ADMIT_BITS,
                                     .clause = job->promised ? BITS : ERR};
        }
    return TK_OK;
}

static const tki_oracle copy_oracle = {.box_size = copy_box_size, .enclose = copy_enclose};

/* What a kernel does besides copying. */
typedef enum deed {
    GOOD,
    FIRST_UNWRITTEN,
    LAST_UNWRITTEN,
    NOTHING_WRITTEN,
    HALF_UNWRITTEN, /* one byte of an element */
    SECOND_CALL_DIFFERS,
    REPORTS_FAILURE,
    SECOND_CALL_FAILS,
    NAN_EVERYWHERE,
    STALE, /* adds what was in the output to it */
    MINUS_ZERO,
    OTHER_NAN,
    NOT_IN_PLACE, /* clears the output first, which loses x when both are one */
    ROWS_MATTER,  /* the last bit tells how many rows there are */
    COLUMN_THREE,
    MANY_COLUMNS /* wrong in the first column if there are 500 or more */
} deed;

typedef struct hostile {
    deed deed;
    int calls;
    int poke_param; /* changes a byte of this parameter ... */
    int64_t poke;   /* ... at this place, relative to its begin, or to its end if `from_end` */
    bool poke_set, from_end;
    int poke_call; /* only then; 0: always */
    uint64_t seed; /* of the trial */
    bool ends;     /* its second call takes all the time that there was */
    tk_ctx *ctx;
} hostile;

static void poke(const hostile *h, const tk_case *c, void *const b[])
{
    int64_t bytes = tk_case_elements(c, h->poke_param) *
                    (int64_t)tk_dtype_size(tk_case_param_dtype(c, h->poke_param));
    unsigned char *at = (unsigned char *)b[h->poke_param] + h->poke + (h->from_end ? bytes : 0);
    *(volatile unsigned char *)at = (unsigned char)(*at ^ 1);
}

static int hostile_kernel(const tk_case *c, void *const b[], void *data)
{
    hostile *h = data;
    const uint16_t *x = b[0];
    uint16_t *y = b[2];
    int64_t n = tk_case_elements(c, 2);
    uint16_t nan = (uint16_t)tki_canonical_nan(c->dtype);
    h->calls++;
    if (h->ends && h->calls == 2)
        h->ctx->deadline = 1e-9;
    if (h->deed == REPORTS_FAILURE || (h->deed == SECOND_CALL_FAILS && h->calls == 2))
        return 7;
    if (h->deed == NOTHING_WRITTEN)
        return 0;
    if (h->deed == NOT_IN_PLACE)
        memset(y, 0, (size_t)n * 2);
    uint16_t first = n ? y[0] : 0;
    uint16_t last = n ? y[n - 1] : 0;
    for (int64_t i = 0; i < n; i++) {
        uint16_t stale = y[i];
        y[i] = x[i];
        if (h->deed == NAN_EVERYWHERE)
            y[i] = nan;
        if (h->deed == STALE)
            y[i] = (uint16_t)(y[i] + stale);
        if (h->deed == MINUS_ZERO && y[i] == 0)
            y[i] = 0x8000;
        if (h->deed == OTHER_NAN && tki_is_nan(c->dtype, y[i]))
            y[i] = nan | 0x8000;
        if (h->deed == ROWS_MATTER)
            y[i] = tki_is_nan(c->dtype, y[i]) ? (uint16_t)(nan + c->dims[0])
                   : y[i] & 0x7fff            ? y[i]
                   : c->dims[0] % 2           ? 0
                                              : 0x8000;
        if (h->deed == COLUMN_THREE && i % c->dims[1] == 3 && y[i] != 0)
            y[i] = 0;
        if (h->deed == MANY_COLUMNS && c->dims[1] >= 500 && i % c->dims[1] == 0)
            y[i] = 0;
    }
    if (n && h->deed == FIRST_UNWRITTEN)
        y[0] = first;
    if (n && h->deed == LAST_UNWRITTEN)
        y[n - 1] = last;
    if (n && h->deed == HALF_UNWRITTEN)
        memcpy((char *)y + 1, (const char *)&first + 1, 1);
    if (n && h->deed == SECOND_CALL_DIFFERS && h->calls == 2)
        y[n / 2] ^= 1;
    if (h->poke_set && (h->poke_call == 0 || h->poke_call == h->calls))
        poke(h, c, b);
    return 0;
}

static tk_status lowering_launch(const tki_call *call);

/* The kernel of the lowering under test; the runner hands no data to a lowering. */
static hostile lowering_hostile;

static const tki_lowering promising = {.backend = &tki_backends[TKI_CPU],
                                       .variant = "fake",
                                       .launch = lowering_launch,
                                       .determinism = TK_BATCH_INVARIANT,
                                       .promise = "exact bits",
                                       .promises_bits = true};

static tk_status lowering_launch(const tki_call *call)
{
    return hostile_kernel(call->c, call->buffers, &lowering_hostile) ? TK_UNSUPPORTED : TK_OK;
}

static tki_trial copy_trial(int64_t rows, int64_t cols)
{
    tki_trial trial = {.c = tk_case_init(&copy, TK_F16), .family = TKI_GIVEN_INPUTS};
    trial.c.dims[0] = rows;
    trial.c.dims[1] = cols;
    return trial;
}

/* Finite numbers other than zero, unless a special one is asked for. */
static void draw_inputs(tk_ctx *ctx, const tk_case *c, tki_inputs *inputs, uint16_t special)
{
    tki_random random = tki_random_stream(5, 0);
    assert_ok(ctx, tki_inputs_alloc(ctx, c, inputs));
    for (int p = 0; p < 2; p++)
        for (int64_t i = 0; i < tk_case_elements(c, p); i++)
            ((uint16_t *)inputs->data[p])[i] = special && tki_random_below(&random, 3) == 0
                                                   ? special
                                                   : (uint16_t)(0x3c00 + tki_random_below(&random, 500));
}

static tki_trial_result run_copy(hostile *h, const tki_lowering *lowering, int64_t rows, int64_t cols,
                                 uint16_t special)
{
    tk_ctx *ctx = new_context();
    tki_trial trial = copy_trial(rows, cols);
    trial.seed = h ? h->seed : 0;
    if (h)
        h->ctx = ctx;
    tki_inputs inputs;
    tki_trial_result result;
    tki_runner runner;
    tki_subject subject = {.ctx = ctx,
                           .contract = &copy,
                           .oracle = &copy_oracle,
                           .caller = &runner.caller,
                           .lowering = lowering,
                           .hash = tki_outputs_hash};
    draw_inputs(ctx, &trial.c, &inputs, special);
    tki_runnable executable = {.lowering = lowering, .kernel = hostile_kernel, .kernel_data = h};
    assert_ok(ctx, tki_runner_open(ctx, &executable, &runner));
    assert_ok(ctx, tk_ctx_set_threads(ctx, 2));
    assert_ok(ctx, tki_trial_run(&subject, &trial, &inputs, &result));
    assert_int_equal(ctx->threads, 2); /* calls have numbers of their own */
    tki_runner_close(&runner);
    tki_inputs_free(&inputs);
    tk_ctx_destroy(ctx);
    return result;
}

static const char *reason_of(const tki_trial_result *r)
{
    static char text[512];
    const tki_trial trial = copy_trial(1, 1);
    tki_trial_reason(r, &trial.c, text, sizeof text);
    return text;
}

static void assert_breaks(hostile h, int clause, const char *reason)
{
    static const int64_t shapes[][2] = {{1, 1}, {5, 17}, {2, 3000}};
    for (int i = 0; i < 3; i++) {
        hostile fresh = h;
        tki_trial_result r = run_copy(&fresh, NULL, shapes[i][0], shapes[i][1], 0);
        assert_false(r.could_not_run);
        if (r.failed_clause != clause)
            fail_msg("clause %d instead of %d failed: %s", r.failed_clause, clause, reason_of(&r));
        if (!strstr(reason_of(&r), reason))
            fail_msg("'%s' does not mention '%s'", reason_of(&r), reason);
    }
}

TEST(a_good_kernel_passes)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {3, 7}, {40, 1000}};
    for (int i = 0; i < 6; i++)
        for (int special = 0; special < 3; special++) {
            hostile h = {.deed = GOOD};
            static const uint16_t specials[] = {0, 0x7c00, 0xfe01};
            int64_t n = shapes[i][0] * shapes[i][1];
            tki_trial_result r = run_copy(&h, NULL, shapes[i][0], shapes[i][1], specials[special]);
            if (r.failed_clause >= 0)
                fail_msg("%s", reason_of(&r));
            assert_int_equal(r.failed_clause, -1);
            assert_false(r.could_not_run);
            assert_int_equal(r.judgement.elements, n);
            assert_int_equal(r.structural[WRITE], 1);
            assert_int_equal(r.structural[SHAPE], 1);
            assert_int_equal(r.structural[REPEAT], 1);
            assert_int_equal(r.structural[INPLACE], n <= 1 << 15);
            assert_int_equal(r.batch_checked, shapes[i][0] >= 2 && n <= 1 << 15);
            assert_int_equal(r.determinism, TK_BATCH_INVARIANT);
            assert_int_equal(strlen(r.output_hash), 64);
        }
}

/* Nobody has said whether it is right, and there is no time for further calls. */
TEST(no_time_to_judge)
{
    static const deed deeds[] = {GOOD, NAN_EVERYWHERE};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        for (int64_t cols = 1; cols <= 900; cols *= 30) {
            hostile h = {.deed = deeds[i], .ends = true};
            tki_trial_result r = run_copy(&h, NULL, 2, cols, 0);
            assert_true(r.could_not_run && r.timed_out);
            assert_int_equal(r.failed_clause, -1);
            assert_int_equal(r.judgement.elements, 0);
            assert_string_equal(r.words, "total time limit reached");
            assert_int_equal(h.calls, 2);
        }
}

TEST(writing_beside_a_buffer)
{
    static const char *const before[] = {"outside x, at byte -1 ", "outside other, at byte -1 ",
                                         "outside y, at byte -1 "};
    static const char *const names[] = {"outside x", "outside other", "outside y"};
    for (int p = 0; p < 3; p++) {
        assert_breaks((hostile){.poke_set = true, .poke_param = p, .poke = -1}, WRITE, before[p]);
        for (int call = 1; call <= 2; call++) {
            assert_breaks((hostile){.poke_set = true, .poke_param = p, .poke = -1, .poke_call = call}, WRITE,
                          before[p]);
            assert_breaks((hostile){.poke_set = true, .poke_param = p, .poke = -4000, .poke_call = call}, WRITE,
                          names[p]);
        }
        /* Behind the buffer of the first call lies the inaccessible page; the second has a zone there. */
        assert_breaks((hostile){.poke_set = true, .poke_param = p, .poke = 0, .from_end = true, .poke_call = 2},
                      WRITE, names[p]);
        assert_breaks((hostile){.poke_set = true, .poke_param = p, .poke = 4000, .from_end = true, .poke_call = 2},
                      WRITE, names[p]);
        /* In place too. */
        tki_trial_result r = run_copy(&(hostile){.poke_set = true, .poke_param = p, .poke = -1, .poke_call = 3}, NULL,
                                      3, 5, 0);
        if (p != 2) /* y is x there */
            assert_int_equal(r.failed_clause, WRITE);
    }
    hostile h = {.poke_set = true, .poke_param = 2, .poke = 0, .from_end = true, .poke_call = 2};
    tki_trial_result r = run_copy(&h, NULL, 3, 5, 0);
    assert_non_null(strstr(reason_of(&r), "at byte 30 of its 30"));
}

/* Without a clause that it breaks, a failure is a defect of the contract, never a success. */
TEST(a_failure_without_a_clause)
{
    const tk_clause lone[] = {{TK_CLAUSE_ERROR, "COPY.ERR", ""}};
    tk_contract bare = copy;
    bare.clause_count = 1;
    bare.clauses = lone;
    hostile kinds[] = {{.poke_set = true, .poke_param = 0}, {.deed = LAST_UNWRITTEN}, {.deed = SECOND_CALL_DIFFERS}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tk_ctx *ctx = new_context();
        tki_trial trial = copy_trial(3, 5);
        tki_inputs inputs;
        tki_trial_result result;
        trial.c.contract = &bare;
        tki_runner runner;
        tki_subject subject = {.ctx = ctx, .contract = &bare, .oracle = &copy_oracle, .caller = &runner.caller};
        draw_inputs(ctx, &trial.c, &inputs, 0);
        tki_runnable executable = {.kernel = hostile_kernel, .kernel_data = &kinds[i]};
        assert_ok(ctx, tki_runner_open(ctx, &executable, &runner));
        assert_refused(ctx, tki_trial_run(&subject, &trial, &inputs, &result), TK_INTERNAL, "no clause of copy");
        assert_refused(ctx, tki_trial_run_again(&subject, &trial, &inputs, "another hash", &result), TK_INTERNAL,
                       "no clause of copy");
        tki_runner_close(&runner);
        tki_inputs_free(&inputs);
        tk_ctx_destroy(ctx);
    }
}

TEST(changing_an_input)
{
    for (int call = 0; call <= 2; call++) {
        assert_breaks((hostile){.poke_set = true, .poke_param = 0, .poke_call = call}, WRITE, "changed its input x");
        assert_breaks((hostile){.poke_set = true, .poke_param = 1, .poke_call = call}, WRITE,
                      "changed its input other");
        assert_breaks((hostile){.poke_set = true, .poke_param = 1, .poke = -1, .from_end = true, .poke_call = call},
                      WRITE, "changed its input other");
    }
    /* Working in place, it may overwrite what it works on and nothing else. */
    tki_trial_result r = run_copy(&(hostile){.poke_set = true, .poke_param = 1, .poke_call = 3}, NULL, 3, 5, 0);
    assert_int_equal(r.failed_clause, WRITE);
    assert_non_null(strstr(reason_of(&r), "other"));
}

TEST(leaving_output_unwritten)
{
    assert_breaks((hostile){.deed = FIRST_UNWRITTEN}, WRITE, "left y[0] unwritten");
    assert_breaks((hostile){.deed = LAST_UNWRITTEN}, WRITE, "unwritten");
    assert_breaks((hostile){.deed = NOTHING_WRITTEN}, WRITE, "left y[0] unwritten");
    assert_breaks((hostile){.deed = HALF_UNWRITTEN}, REPEAT, "y[0] was 0x");
    /* Also where a NaN is due and the poison could pass for one. */
    for (int64_t n = 1; n < 4000; n += 137) {
        tki_trial_result r = run_copy(&(hostile){.deed = NOTHING_WRITTEN}, NULL, 1, n, 0x7e00);
        assert_int_equal(r.failed_clause, WRITE);
    }
}

TEST(other_bits_on_another_run)
{
    assert_breaks((hostile){.deed = SECOND_CALL_DIFFERS}, REPEAT, "on one run and");
    assert_breaks((hostile){.deed = STALE}, REPEAT, "on one run and");
    tki_trial_result r = run_copy(&(hostile){.deed = SECOND_CALL_DIFFERS}, NULL, 3, 5, 0);
    assert_int_equal(r.determinism, TK_DETERMINISM_NONE);
}

TEST(wrong_values)
{
    assert_breaks((hostile){.deed = NAN_EVERYWHERE}, ERR, "y[0] is 0x7e00");
    tki_trial_result r = run_copy(&(hostile){.deed = NAN_EVERYWHERE}, NULL, 3, 5, 0);
    assert_int_equal(r.judgement.failed[ERR], 15);
    assert_int_equal(r.judgement.failure.index, 0);
}

TEST(reporting_failure)
{
    tki_trial_result r = run_copy(&(hostile){.deed = REPORTS_FAILURE}, NULL, 3, 5, 0);
    assert_true(r.could_not_run);
    assert_int_equal(r.failed_clause, -1);
    assert_non_null(strstr(reason_of(&r), "failure 7"));
    r = run_copy(&(hostile){.deed = SECOND_CALL_FAILS}, NULL, 3, 5, 0);
    assert_true(r.could_not_run);
}

TEST(in_place_must_give_the_same)
{
    assert_breaks((hostile){.deed = NOT_IN_PLACE}, INPLACE, "y[0] has other bits when the op works in place");
}

/* What only a lowering's own promise forbids. */
TEST(promises)
{
    hostile minus_zero = {.deed = MINUS_ZERO};
    tki_trial_result r = run_copy(&minus_zero, NULL, 2, 9, 0x7e55);
    assert_int_equal(r.failed_clause, -1);
    hostile other_nan = {.deed = OTHER_NAN};
    r = run_copy(&other_nan, NULL, 2, 9, 0x7e55); /* all NaNs are equal to a contract that says so */
    assert_int_equal(r.failed_clause, -1);
    lowering_hostile = (hostile){.deed = GOOD};
    r = run_copy(NULL, &promising, 2, 9, 0x7e55);
    assert_int_equal(r.failed_clause, -1);
    assert_int_equal(r.judgement.judged[BITS], 18);
    assert_int_equal(r.judgement.elements, 18);
    lowering_hostile = (hostile){.deed = OTHER_NAN};
    r = run_copy(NULL, &promising, 2, 9, 0x7e55);
    assert_int_equal(r.failed_clause, BITS);
    assert_non_null(strstr(reason_of(&r), "; only 0x"));
}

TEST(rows_that_depend_on_others)
{
    /* A lowering that promises nothing about batches may do it, and the level says so. */
    hostile h = {.deed = ROWS_MATTER};
    tki_trial_result r = run_copy(&h, NULL, 3, 9, 0x8000);
    assert_int_equal(r.failed_clause, -1);
    assert_true(r.batch_checked);
    assert_int_equal(r.determinism, TK_RUN_TO_RUN);
    static const tki_lowering invariant = {.backend = &tki_backends[TKI_CPU],
                                           .variant = "fake",
                                           .launch = lowering_launch,
                                           .determinism = TK_BATCH_INVARIANT};
    lowering_hostile = (hostile){.deed = ROWS_MATTER};
    r = run_copy(NULL, &invariant, 3, 9, 0x8000);
    assert_int_equal(r.failed_clause, REPEAT);
    assert_non_null(strstr(reason_of(&r), "without the rows before them"));
}

/* All NaNs hash as one pattern; anything else does not. */
TEST(hashes)
{
    tki_trial_result a = run_copy(&(hostile){.deed = GOOD}, NULL, 3, 50, 0x7e55);
    tki_trial_result b = run_copy(&(hostile){.deed = OTHER_NAN}, NULL, 3, 50, 0x7e55);
    tki_trial_result c = run_copy(&(hostile){.deed = NAN_EVERYWHERE}, NULL, 3, 50, 0x7e55);
    assert_string_equal(a.output_hash, b.output_hash);
    assert_string_not_equal(a.output_hash, c.output_hash);
}

/* -- Guarded buffers ----------------------------------------------------------------------------------------- */

static const tki_placement page_end = {.edge = TKI_EDGE_PAGE_END};
static const tki_placement loose = {.edge = TKI_EDGE_NONE, .alignment = 1, .offset = 77};

static void check_guarded(tki_placement placement, size_t bytes, size_t element)
{
    tki_guarded g, plain;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_true(tki_guard_alloc(&g, placement, bytes, element));
    int64_t offset = 77;
    assert_true(tki_guard_intact(&g, &offset));
    assert_int_equal((uintptr_t)g.data % element, 0);
    size_t alignment = placement.alignment > element ? placement.alignment : element;
    if (placement.edge == TKI_EDGE_NONE && alignment < TKI_MOST_ALIGNMENT) /* aligned so, and not better */
        assert_int_equal((uintptr_t)g.data % (2 * alignment), alignment);
    if (placement.edge == TKI_EDGE_NONE && alignment == TKI_MOST_ALIGNMENT)
        assert_int_equal((uintptr_t)g.data % alignment, 0);
    if (placement.edge == TKI_EDGE_PAGE_START)
        assert_int_equal((uintptr_t)g.data % page, 0);
    if (placement.edge == TKI_EDGE_PAGE_END)
        assert_int_equal((uintptr_t)(g.data + bytes) % page, 0);
    const bool back = placement.edge != TKI_EDGE_PAGE_END;
    assert_true(g.data - g.zone_begin >= 4000);
    assert_true(back ? g.zone_end - (g.data + bytes) >= 4000 : g.data + bytes == g.zone_end);
    memset(g.data, 0, bytes);
    assert_true(tki_guard_intact(&g, &offset));
    /* Each byte of the zones is watched: the nearest, the farthest, some between. */
    unsigned char *const watched[] = {g.data - 1,     g.zone_begin,   g.data - 2000,
                                      g.data + bytes, g.zone_end - 1, g.data + bytes + 2000};
    for (int i = 0; i < (back ? 6 : 3); i++) {
        *watched[i] ^= 0x10;
        assert_false(tki_guard_intact(&g, &offset));
        assert_int_equal(offset, watched[i] - g.data);
        *watched[i] ^= 0x10;
    }
    assert_true(tki_guard_intact(&g, &offset));
    assert_true(tki_guard_alloc_plain(&plain, placement, bytes, element));
    assert_int_equal((uintptr_t)plain.data % page, (uintptr_t)g.data % page);
    memset(plain.data, 0, bytes);
    assert_true(tki_guard_intact(&plain, &offset));
    tki_guard_free(&plain);
    tki_guard_free(&g);
    tki_guard_free(&g); /* twice is fine */
}

TEST(guarded_buffers)
{
    static const size_t sizes[] = {0, 1, 2, 3, 100, 4095, 4096, 4097, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t element = 2; element <= 8; element *= 2) {
            check_guarded((tki_placement){.edge = TKI_EDGE_PAGE_END}, sizes[s] * element, element);
            check_guarded((tki_placement){.edge = TKI_EDGE_PAGE_START}, sizes[s] * element, element);
            for (uint32_t alignment = 1; alignment <= TKI_MOST_ALIGNMENT; alignment *= 2)
                for (uint32_t offset = 0; offset < 5000; offset += 999)
                    check_guarded((tki_placement){TKI_EDGE_NONE, alignment, offset}, sizes[s] * element, element);
        }
    tki_guarded g;
    assert_false(tki_guard_alloc(&g, loose, SIZE_MAX, 2));
    assert_false(tki_guard_alloc(&g, page_end, SIZE_MAX / 4, 2));
    assert_false(tki_guard_alloc_plain(&g, page_end, SIZE_MAX, 2));
    tki_guard_free(&g);
}

/* -- How calls are set up ------------------------------------------------------------------------------------ */

/* Every number of threads, and every kind of place for one array and for all of them at once. */
TEST(setups_cover_what_callers_do)
{
    int threads[65] = {0}, alignments[257] = {0}, edges[3] = {0}, fills[TKI_FILL_KINDS] = {0};
    int all_wide = 0, all_pages = 0, unlike = 0;
    for (uint64_t seed = 0; seed < (uint64_t)effort_from(400); seed++) {
        tki_trial trial = {.c = {.contract = tk_contract_find("gemm")}, .family = 3, .seed = seed};
        for (int number = 0; number < 6; number++) {
            tki_setup setup = tki_setup_draw(&trial, number), same = tki_setup_draw(&trial, number);
            assert_memory_equal(setup.placement, same.placement, sizeof setup.placement);
            threads[setup.threads]++;
            bool wide = true, pages = true;
            for (int p = 0; p < 3; p++) {
                const tki_placement *placement = &setup.placement[p];
                edges[placement->edge]++;
                fills[setup.fill[p]]++;
                if (placement->edge == TKI_EDGE_NONE)
                    alignments[placement->alignment]++;
                wide &= placement->edge == TKI_EDGE_NONE && placement->alignment >= 16;
                pages &= placement->edge != TKI_EDGE_NONE;
                unlike += placement->edge != setup.placement[0].edge ||
                          placement->alignment != setup.placement[0].alignment;
            }
            all_wide += wide;
            all_pages += pages;
            if (number > 0)
                assert_int_not_equal(setup.threads, tki_setup_draw(&trial, number - 1).threads);
        }
    }
    static const int counts[] = {1, 2, 3, 4, 5, 8, 16};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_true(threads[counts[i]] > 200);
    int beyond = 0;
    for (int count = 1; count <= 64; count++) {
        assert_true(count > 24 || threads[count] > 0);
        beyond += count > 32 && threads[count] > 0;
    }
    assert_true(beyond > 10);
    for (int alignment = 1; alignment <= 256; alignment *= 2)
        assert_true(alignment == 2 || alignment == 128 || alignments[alignment] > 200);
    for (int edge = 0; edge < 3; edge++)
        assert_true(edges[edge] > 400);
    for (int kind = 0; kind < TKI_FILL_KINDS; kind++)
        assert_true(fills[kind] > 400);
    assert_true(all_wide > 500 && all_pages > 500 && unlike > 1000);
}

/* An element that is left unwritten must show, whatever the outputs held. */
TEST(fills_of_two_calls_differ_everywhere)
{
    unsigned char source[1000], first[8192], second[8192], part[8192];
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i / 100);
    for (int a = 0; a < TKI_FILL_KINDS; a++)
        for (int b = 0; b < TKI_FILL_KINDS; b++)
            for (size_t element = 2; element <= 8; element *= 2) {
                tki_fill one = {.kind = (tki_fill_kind)a, .seed = 5, .element = element, .source = source};
                tki_fill two = {.kind = (tki_fill_kind)b, .seed = 5, .element = element, .source = source};
                one.source_bytes = two.source_bytes = sizeof source;
                two.unlike = &one;
                tki_fill_bytes(&one, 0, sizeof first, first);
                tki_fill_bytes(&two, 0, sizeof second, second);
                for (size_t i = 0; i < sizeof first; i += element)
                    assert_memory_not_equal(first + i, second + i, element);
                for (size_t begin = 0; begin < sizeof first; begin += 777) {
                    tki_fill_bytes(&two, begin, sizeof first - begin, part);
                    assert_memory_equal(part, second + begin, sizeof first - begin);
                    assert_true(tki_fill_intact(&two, begin, sizeof first - begin, part));
                    part[sizeof first - begin - 1] ^= 1;
                    assert_false(tki_fill_intact(&two, begin, sizeof first - begin, part));
                }
            }
}

/* What a reproducing command names must give the calls that failed. */
TEST(given_inputs_keep_the_calls)
{
    tki_trial trial = {.c = {.contract = tk_contract_find("gemm")}, .family = 7, .seed = 99, .chunk = 3};
    tki_setup before = tki_setup_draw(&trial, 1);
    for (int i = 0; i < 2; i++) {
        tki_trial_give_inputs(&trial);
        tki_setup after = tki_setup_draw(&trial, 1);
        assert_int_equal(trial.family, TKI_GIVEN_INPUTS);
        assert_int_equal(after.threads, before.threads);
        assert_memory_equal(after.placement, before.placement, sizeof after.placement);
    }
    trial.threads = 7;
    trial.alignment = 32;
    tki_setup fixed = tki_setup_draw(&trial, 1);
    assert_int_equal(fixed.threads, 7);
    assert_int_equal(fixed.placement[1].edge, TKI_EDGE_NONE);
    assert_int_equal(fixed.placement[1].alignment, 32);
}

/* Runs it in a child; true if the child died of a segmentation fault. */
static bool faults(void (*act)(void *), void *data)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        act(data);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

__attribute__((no_sanitize("address", "undefined"))) static void read_byte(void *at)
{
    (void)*(volatile unsigned char *)at;
}

__attribute__((no_sanitize("address", "undefined"))) static void write_byte(void *at)
{
    *(volatile unsigned char *)at = 1;
}

/* A kernel that copies more of one buffer to another than it should must not leave the same bytes there. */
TEST(zones_of_two_buffers_differ)
{
    tki_guarded a;
    tki_guarded b;
    assert_true(tki_guard_alloc(&a, loose, 100, 2));
    assert_true(tki_guard_alloc(&b, loose, 100, 2));
    int64_t offset;
    memcpy(b.data + 100, a.data + 100, 2);
    assert_false(tki_guard_intact(&b, &offset));
    assert_in_range(offset, 100, 101);
    tki_guard_free(&a);
    tki_guard_free(&b);
}

TEST(end_page_is_inaccessible)
{
    for (size_t bytes = 0; bytes <= 8194; bytes += 4097) {
        tki_guarded g;
        assert_true(tki_guard_alloc(&g, page_end, bytes / 2 * 2, 2));
        unsigned char *end = g.data + bytes / 2 * 2;
        assert_true(faults(read_byte, end));
        assert_true(faults(write_byte, end));
        assert_true(faults(read_byte, end + sysconf(_SC_PAGESIZE) - 1));
        assert_false(faults(read_byte, end - 1));
        assert_false(faults(write_byte, end - 1));
        tki_guard_free(&g);
    }
}

static void run_outside(void *data)
{
    hostile *h = data;
    tki_trial_result r = run_copy(h, NULL, 3, 5, 0);
    if (r.failed_clause != WRITE)
        _exit(1); /* which is not how a fault ends */
}

/* In every trial it is seen, in some by such a page: there reads would be seen as well. */
TEST(going_outside_is_seen_wherever_arrays_lie)
{
    for (int p = 0; p < 3; p++)
        for (int from_end = 0; from_end < 2; from_end++) {
            int faulted = 0;
            const int seeds = effort_from(40);
            for (uint64_t seed = 0; seed < (uint64_t)seeds; seed++) {
                hostile h = {.poke_set = true, .poke_param = p, .poke = from_end ? 0 : -1, .from_end = from_end};
                h.seed = seed;
                faulted += faults(run_outside, &h);
            }
            assert_in_range(faulted * 40, from_end ? 3 * seeds : 0, from_end ? 37 * seeds : 0);
        }
}

/* -- Slices of inputs ---------------------------------------------------------------------------------------- */

static const tk_contract lookup = {
    .name = "lookup",
    TKI_TYPES_16_BITS,
    .dim_count = 3,
    .dim_names = (const char *const[]){"q", "d", "v"},
    .param_count = 4,
    .params =
        (const tk_param[]){
            {.name = "a", .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
            {.name = "w", .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){2, 1}, APART},
            {.name = "index", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){0}, .indexed_dim = 2, APART},
            {.name = "out", .output = true, .kind = TK_KIND_VALUE, .rank = 2, .dim = (const int[]){0, 1}, APART},
        },
};

TEST_WITH_CONTEXT(slices)
{
    enum { Q = 4, D = 3, V = 5 };
    static const int64_t indices[Q] = {1, 3, 2, 3};
    for (int wide = 0; wide < 2; wide++)
        for (int dim = 0; dim < 3; dim++)
            for (int64_t begin = 0; begin <= 5; begin++)
                for (int64_t end = begin; end <= 5; end++) {
                    tk_case c = tk_case_init(&lookup, TK_F16);
                    c.index_dtype = wide ? TK_I64 : TK_I32;
                    memcpy(c.dims, (int64_t[]){Q, D, V}, 3 * sizeof(int64_t));
                    if (end > c.dims[dim])
                        continue;
                    tki_inputs inputs;
                    tki_inputs part_inputs;
                    tk_case part;
                    tk_status status = TK_INTERNAL;
                    assert_ok(ctx, tki_inputs_alloc(ctx, &c, &inputs));
                    assert_null(inputs.data[3]);
                    for (int i = 0; i < Q * D; i++)
                        ((uint16_t *)inputs.data[0])[i] = (uint16_t)(100 + i);
                    for (int i = 0; i < V * D; i++)
                        ((uint16_t *)inputs.data[1])[i] = (uint16_t)(200 + i);
                    for (int i = 0; i < Q; i++)
                        if (wide)
                            ((int64_t *)inputs.data[2])[i] = indices[i];
                        else
                            ((int32_t *)inputs.data[2])[i] = (int32_t)indices[i];
                    bool good = dim != 2 || (begin <= 1 && end >= 4);
                    assert_int_equal(
                        tki_inputs_slice(ctx, &c, &inputs, dim, begin, end, &part, &part_inputs, &status), good);
                    assert_int_equal(status, TK_OK);
                    tki_inputs_free(&inputs);
                    if (!good)
                        continue;
                    int64_t from[3] = {0};
                    from[dim] = begin;
                    assert_int_equal(part.dims[dim], end - begin);
                    for (int64_t q = 0; q < part.dims[0]; q++)
                        for (int64_t d = 0; d < part.dims[1]; d++)
                            assert_int_equal(((uint16_t *)part_inputs.data[0])[q * part.dims[1] + d],
                                             100 + (q + from[0]) * D + d + from[1]);
                    for (int64_t v = 0; v < part.dims[2]; v++)
                        for (int64_t d = 0; d < part.dims[1]; d++)
                            assert_int_equal(((uint16_t *)part_inputs.data[1])[v * part.dims[1] + d],
                                             200 + (v + from[2]) * D + d + from[1]);
                    for (int64_t q = 0; q < part.dims[0]; q++) {
                        int64_t index = wide ? ((int64_t *)part_inputs.data[2])[q]
                                             : ((int32_t *)part_inputs.data[2])[q];
                        assert_int_equal(index, indices[q + from[0]] - from[2]);
                    }
                    tki_inputs_free(&part_inputs);
                }
}

/* An ignored target stays as it is and may point outside. */
/* Every axis of a size is cut, wherever it stands. */
TEST_WITH_CONTEXT(slices_of_any_rank)
{
    const tk_contract deep = {
        .name = "deep",
        .dim_count = 3,
        .param_count = 2,
        .params = (const tk_param[]){{.name = "x", .rank = 4, .dim = (const int[]){2, 0, 1, 0}},
                                     {.name = "y", .output = true, .rank = 3, .dim = (const int[]){0, 1, 2}}},
    };
    tk_case c = {.contract = &deep, .dtype = TK_F16, .dims = {4, 3, 2}}, part;
    tki_inputs inputs, part_inputs;
    tk_status status;
    assert_ok(ctx, tki_inputs_alloc(ctx, &c, &inputs));
    for (int i = 0; i < 2 * 4 * 3 * 4; i++)
        ((uint16_t *)inputs.data[0])[i] = (uint16_t)i;
    for (int dim = 0; dim < 3; dim++)
        for (int64_t begin = 0; begin < c.dims[dim]; begin++)
            for (int64_t end = begin; end <= c.dims[dim]; end++) {
                assert_true(tki_inputs_slice(ctx, &c, &inputs, dim, begin, end, &part, &part_inputs, &status));
                const uint16_t *x = part_inputs.data[0];
                int64_t from[3] = {0};
                from[dim] = begin;
                for (int64_t i = 0; i < part.dims[2]; i++)
                    for (int64_t k = 0; k < part.dims[0]; k++)
                        for (int64_t m = 0; m < part.dims[1]; m++)
                            for (int64_t n = 0; n < part.dims[0]; n++)
                                assert_int_equal(*x++, (((i + from[2]) * 4 + k + from[0]) * 3 + m + from[1]) * 4 + n +
                                                           from[0]);
                tki_inputs_free(&part_inputs);
            }
    tki_inputs_free(&inputs);
}

TEST_WITH_CONTEXT(slices_keep_ignored_targets)
{
    tk_contract with_options = lookup;
    with_options.attribute_count = sizeof test_options / sizeof *test_options;
    with_options.attributes = test_options;
    tk_param params[4];
    memcpy(params, lookup.params, (size_t)lookup.param_count * sizeof *params);
    params[2].also = "ignore_index";
    with_options.params = params;
    tk_case c = tk_case_init(&with_options, TK_F16);
    memcpy(c.dims, (int64_t[]){3, 1, 5}, 3 * sizeof(int64_t));
    tki_inputs inputs;
    tki_inputs part_inputs;
    tk_case part;
    tk_status status;
    assert_ok(ctx, tki_inputs_alloc(ctx, &c, &inputs));
    memset(inputs.data[0], 0, 6);
    memset(inputs.data[1], 0, 10);
    memcpy(inputs.data[2], (int32_t[]){-100, 3, -100}, 12);
    assert_true(tki_inputs_slice(ctx, &c, &inputs, 2, 3, 4, &part, &part_inputs, &status));
    assert_memory_equal(part_inputs.data[2], ((int32_t[]){-100, 0, -100}), 12);
    tki_inputs_free(&part_inputs);
    assert_false(tki_inputs_slice(ctx, &c, &inputs, 2, 4, 5, &part, &part_inputs, &status));
    assert_int_equal(status, TK_OK);
    tki_inputs_free(&inputs);
}

TEST(clauses_by_kind)
{
    assert_int_equal(tki_clause_find(&copy, TK_CLAUSE_WRITE), WRITE);
    assert_int_equal(tki_clause_find(&copy, TK_CLAUSE_BITS), BITS);
    assert_int_equal(tki_clause_find(&copy, TK_CLAUSE_INDEX), -1);
}

/* -- Shrinking ----------------------------------------------------------------------------------------------- */

/* Shrinks a failing trial of that many rows and columns to one of `least` columns and a single row. */
static void assert_shrinks(deed what, int64_t rows, int64_t cols, int64_t least, int64_t failing)
{
    tk_ctx *ctx = new_context();
    tki_trial trial = copy_trial(rows, cols);
    hostile h = {.deed = what};
    tki_runner runner;
    tki_subject subject = {.ctx = ctx, .contract = &copy, .oracle = &copy_oracle, .caller = &runner.caller};
    tki_inputs inputs;
    tki_trial_result result;
    draw_inputs(ctx, &trial.c, &inputs, 0);
    assert_ok(ctx, tki_runner_open(ctx, &(tki_runnable){.kernel = hostile_kernel, .kernel_data = &h}, &runner));
    assert_ok(ctx, tki_trial_run(&subject, &trial, &inputs, &result));
    assert_int_equal(result.failed_clause, ERR);
    assert_ok(ctx, tki_shrink(&subject, &trial, &inputs, &result));
    assert_int_equal(trial.c.dims[0], 1);
    assert_int_equal(trial.c.dims[1], least);
    assert_int_equal(trial.family, TKI_GIVEN_INPUTS);
    assert_int_equal(result.failed_clause, ERR);
    assert_int_equal(result.judgement.failure.index, failing);
    tki_trial_result again;
    assert_ok(ctx, tki_trial_run(&subject, &trial, &inputs, &again));
    assert_int_equal(again.failed_clause, ERR);
    tki_inputs_free(&inputs);
    tk_ctx_destroy(ctx);
}

TEST(shrinks_to_a_minimal_shape)
{
    static const int64_t many[] = {501, 777, 4099, 30000};
    /* It is wrong in column three only, so four columns are needed and one row is. */
    assert_shrinks(COLUMN_THREE, 9, 40, 4, 3);
    assert_shrinks(COLUMN_THREE, 3, 5000, 4, 3);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        assert_shrinks(MANY_COLUMNS, 3, many[i], 500, 0);
}

/* A kernel for gelu_bwd that is right, but for one x. */
enum { BAD_X = 0x4200 };

static int wrong_at_one_x(const tk_case *c, void *const b[], void *data)
{
    (void)data;
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    tk_status status = tk_run(ctx, c, b);
    tk_ctx_destroy(ctx);
    for (int64_t i = 0; i < c->dims[0]; i++)
        if (((const uint16_t *)b[1])[i] == BAD_X)
            ((uint16_t *)b[2])[i] ^= 0x0100;
    return status != TK_OK;
}

/* "... --input NAME=0x1234,0x5678 ...": the numbers. */
static int64_t read_input(const char *command, const char *name, uint64_t bits[], int64_t most)
{
    char key[64];
    snprintf(key, sizeof key, " --input %s=", name);
    const char *at = strstr(command, key);
    assert_non_null(at);
    at += strlen(key);
    int64_t count = 0;
    for (char *end; count < most; at = end + 1) {
        bits[count++] = strtoull(at, &end, 0);
        assert_ptr_not_equal(at, end);
        if (*end != ',')
            break;
    }
    return count;
}

TEST(the_reproducing_inputs_fail_again)
{
    const tk_contract *contract = tk_contract_find("gelu_bwd");
    tk_ctx *ctx = new_context();
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = wrong_at_one_x;
    options.kernel_name = "wrong_at_one_x";
    options.family = "finite_bits";
    options.dims = (int64_t[]){150000};
    tk_certificate *certificate = certify_one(ctx, contract, TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_non_null(strstr(tk_certificate_reason(certificate), "GELU_BWD.ERR"));
    const char *command = tk_certificate_reproduce(certificate);
    assert_non_null(strstr(command, "wrong_at_one_x"));
    assert_non_null(strstr(command, " --shape n=1 "));
    uint64_t grad[4];
    uint64_t x[4];
    assert_int_equal(read_input(command, "grad_output", grad, 4), 1);
    assert_int_equal(read_input(command, "x", x, 4), 1);
    assert_int_equal(x[0], BAD_X);

    options.dims = (int64_t[]){1};
    options.family = NULL;
    options.inputs = (tk_given_input[]){{"grad_output", grad, 1}, {"x", x, 1}};
    options.input_count = 2;
    tk_certificate *again = certify_one(ctx, contract, TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(again), TK_REFUTED);
    assert_int_equal(tk_certificate_elements(again), 1);
    tk_certificate_destroy(again);
    x[0]--; /* and the neighbour is right */
    again = certify_one(ctx, contract, TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(again), TK_HELD);
    tk_certificate_destroy(again);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_kernel_passes),
        cmocka_unit_test(no_time_to_judge),
        cmocka_unit_test(writing_beside_a_buffer),
        cmocka_unit_test(changing_an_input),
        cmocka_unit_test(a_failure_without_a_clause),
        cmocka_unit_test(leaving_output_unwritten),
        cmocka_unit_test(other_bits_on_another_run),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(reporting_failure),
        cmocka_unit_test(in_place_must_give_the_same),
        cmocka_unit_test(promises),
        cmocka_unit_test(rows_that_depend_on_others),
        cmocka_unit_test(hashes),
        cmocka_unit_test(guarded_buffers),
        cmocka_unit_test(setups_cover_what_callers_do),
        cmocka_unit_test(fills_of_two_calls_differ_everywhere),
        cmocka_unit_test(given_inputs_keep_the_calls),
        cmocka_unit_test(zones_of_two_buffers_differ),
        cmocka_unit_test(end_page_is_inaccessible),
        cmocka_unit_test(going_outside_is_seen_wherever_arrays_lie),
        cmocka_unit_test(slices),
        cmocka_unit_test(slices_of_any_rank),
        cmocka_unit_test(slices_keep_ignored_targets),
        cmocka_unit_test(clauses_by_kind),
        cmocka_unit_test(shrinks_to_a_minimal_shape),
        cmocka_unit_test(the_reproducing_inputs_fail_again),
    };
    return cmocka_run_group_tests_name("trial", tests, NULL, NULL);
}
