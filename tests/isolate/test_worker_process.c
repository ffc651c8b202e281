/* Kernels that misbehave (tests/kernels/misbehave.c): each gets the right status and a clear message within its deadline, nothing is left
 * behind, and the next call is served. */
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/dtype.h"
#include "isolate/worker_process.h"
#include "judge/guard.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"
#include "tests/worker_test.h"
#include "worker/sandbox.h"

/* ------------------------------------------------------------------------------------------------------------
 * One call
 * ------------------------------------------------------------------------------------------------------------ */

enum { SIZE = 1000 };

typedef struct trial {
    tk_ctx *ctx;
    tk_case c;
    tki_guarded x, y;
    void *buffers[2];
    tki_overrun overrun;
    tki_worker *worker;
} trial;

static void prepare(trial *t, tki_edge edge)
{
    *t = (trial){.ctx = new_context(), .c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16)};
    t->c.dims[0] = SIZE;
    assert_true(tki_guard_alloc(&t->x, (tki_placement){.edge = edge, .alignment = 1}, SIZE * 2, 2));
    assert_true(tki_guard_alloc(&t->y, (tki_placement){.edge = edge, .alignment = 1}, SIZE * 2, 2));
    for (int i = 0; i < SIZE; i++)
        ((uint16_t *)(void *)t->x.data)[i] = (uint16_t)(i * 60);
    memset(t->y.data, 0xa5, SIZE * 2);
    t->buffers[0] = t->x.data;
    t->buffers[1] = t->y.data;
}

static void start(trial *t, tki_edge edge, const char *kernel, const tki_worker_options *options)
{
    prepare(t, edge);
    assert_ok(t->ctx, tki_worker_open(t->ctx, kernel_path(kernel), t->c.contract, options, &t->worker));
}

static tk_status call(trial *t)
{
    return tki_worker_call(t->worker, &t->c, t->buffers, 1, NULL, &t->overrun);
}

static void finish(trial *t)
{
    tki_worker_close(t->worker);
    int64_t offset;
    assert_true(tki_guard_intact(&t->x, &offset));
    assert_true(tki_guard_intact(&t->y, &offset));
    tki_guard_free(&t->x);
    tki_guard_free(&t->y);
    tk_ctx_destroy(t->ctx);
}

static void assert_unwritten(const trial *t)
{
    for (int i = 0; i < SIZE * 2; i++)
        assert_int_equal(t->y.data[i], 0xa5);
}

static void assert_computed(const trial *t)
{
    uint16_t one = 0x3c00, minus = 0xbc00, got;
    for (int i = 0; i < SIZE; i++) {
        memcpy(&got, t->y.data + 2 * i, 2);
        if (i * 60 == one) /* gelu(1) = 0.8412 */
            assert_float_equal(tki_f16_to_f32(got), 0.8412f, 0.001f);
        if (i * 60 == minus)
            assert_float_equal(tki_f16_to_f32(got), -0.1588f, 0.001f);
    }
    memcpy(&got, t->y.data + 2 * 256, 2); /* x = 0x3c00: exactly 1 */
    assert_float_equal(tki_f16_to_f32(got), 0.8412f, 0.001f);
}

static void assert_status(trial *t, const char *name, tk_status got, tk_status expected, const char *text)
{
    if (got != expected || (got != TK_OK && !strstr(tk_ctx_message(t->ctx), text)))
        fail_msg("%s: %s: '%s', not %s: '%s'", name, tk_status_text(got), got ? tk_ctx_message(t->ctx) : "",
                 tk_status_text(expected), text);
}

/* A fresh worker of a correct kernel. */
static void assert_next_is_served(void)
{
    trial t;
    start(&t, TKI_EDGE_NONE, "correct", NULL);
    assert_ok(t.ctx, call(&t));
    assert_int_equal(t.overrun.param, -1);
    assert_computed(&t);
    finish(&t);
}

/* With a number of calls: the kernel leaves a thread running, which a busy machine may catch within an earlier call already. */
enum { OR_EARLIER = 1 << 8 };

typedef struct expectation {
    const char *name;
    tk_status status;
    const char *text;
    int calls;         /* the last comes to that status, those before it to TK_OK; 0: one */
    const char *needs; /* a means that this system may not offer; NULL: none */
} expectation;

static void try(const expectation *e, tki_edge edge, unsigned without)
{
    trial t;
    /* The machine may be busy: short where it must run out, long elsewhere. */
    tki_worker_options options = {
        .call_seconds = e->status == TK_TIMEOUT ? 0.5 : 60, .terms.allow_weak = true, .without = without};
    const double begin = tki_now();
    start(&t, edge, e->name, &options);
    tk_status status = TK_OK;
    int last = (e->calls & ~OR_EARLIER) - 1;
    for (int i = 0; i == 0 || (i <= last && status == TK_OK); i++) {
        memset(t.y.data, 0xa5, SIZE * 2);
        if (i > 0)
            usleep(300000); /* for what an earlier call left running */
        status = call(&t);
        if (i < last && !(e->calls & OR_EARLIER))
            assert_status(&t, e->name, status, TK_OK, "");
    }
    assert_status(&t, e->name, status, e->status, e->text);
    assert_true(tki_now() - begin < 60);
    if (status != TK_OK)
        assert_unwritten(&t);
    assert_int_equal(tki_worker_broken(t.worker), status == TK_KERNEL_FAULT || status == TK_TIMEOUT);
    finish(&t);
    assert_nothing_left();
    assert_next_is_served();
    assert_nothing_left();
}

static void try_all(const expectation list[], size_t count, tki_edge edge, unsigned without)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i].needs || offered(list[i].needs, without))
            try(&list[i], edge, without);
}

#define TRY_ALL(list, edge, without) try_all(list, sizeof(list) / sizeof *(list), edge, without)

/* ------------------------------------------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------------------------------------------ */

TEST(correct_kernels)
{
    assert_next_is_served();
    assert_nothing_left();
    trial t;
    for (int edge = TKI_EDGE_NONE; edge <= TKI_EDGE_PAGE_START; edge++) {
        start(&t, (tki_edge)edge, "correct", NULL);
        for (int i = 0; i < 20; i++) {
            double seconds = -1;
            memset(t.y.data, i, SIZE * 2);
            assert_ok(t.ctx, tki_worker_call(t.worker, &t.c, t.buffers, 1, &seconds, &t.overrun));
            assert_computed(&t);
            assert_true(seconds > 0 && seconds < 10);
        }
        /* Nothing at all, at any address. */
        t.c.dims[0] = 0;
        assert_ok(t.ctx, call(&t));
        t.buffers[0] = t.buffers[1] = NULL;
        assert_ok(t.ctx, call(&t));
        finish(&t);
    }
    assert_nothing_left();
}

/* Options, several outputs, and an output in the very buffer of an input. */
TEST(in_place)
{
    tk_ctx *ctx = new_context();
    tk_case c = tk_case_init(tk_contract_find("xent"), TK_F16);
    c.index_dtype = TK_I32;
    c.dims[0] = 3;
    c.dims[1] = 5;
    set_real(&c, "label_smoothing", 0.5);
    set_real(&c, "scale", 6);
    set_integer(&c, "ignore_index", 9);
    uint16_t logits[15], gradient[15] = {0};
    int32_t target[3] = {4, 2, 0};
    float loss[3] = {0};
    tki_worker *worker;
    tki_overrun overrun;
    assert_ok(ctx, tki_worker_open(ctx, kernel_path("correct"), c.contract, NULL, &worker));
    for (int i = 0; i < 15; i++)
        logits[i] = (uint16_t)i;
    assert_ok(ctx, tki_worker_call(worker, &c, (void *[]){logits, target, loss, gradient}, 1, NULL, &overrun));
    for (int i = 0; i < 15; i++)
        assert_int_equal(gradient[i], i + 9);
    for (int i = 0; i < 3; i++)
        assert_float_equal(loss[i], 0.5f + (float)target[i], 0);
    assert_ok(ctx, tki_worker_call(worker, &c, (void *[]){logits, target, loss, logits}, 1, NULL, &overrun));
    for (int i = 0; i < 15; i++)
        assert_int_equal(logits[i], i + 9);
    for (int i = 0; i < 3; i++)
        assert_float_equal(loss[i], 7, 0);
    assert_int_equal(overrun.param, -1);
    tki_worker_close(worker);
    tk_ctx_destroy(ctx);
    assert_nothing_left();
}

TEST(crashes_and_exits)
{
    static const expectation list[] = {
        {"segfault", TK_KERNEL_FAULT, "ended by signal 11 (Segmentation fault) at address 0x10", 0, NULL},
        {"divide_by_zero", TK_KERNEL_FAULT, "signal 8", 0, NULL},
        {"abort_it", TK_KERNEL_FAULT, "signal 6", 0, NULL},
        {"exit_0", TK_KERNEL_FAULT, "ended its process with exit status 0", 0, NULL},
        {"exit_in_a_thread", TK_KERNEL_FAULT, "ended its process with exit status 0", 0, NULL},
        {"overflow_stack", TK_KERNEL_FAULT, "signal 11", 0, NULL},
        {"jump_into_nowhere", TK_KERNEL_FAULT, "signal", 0, NULL},
        {"end_its_thread", TK_KERNEL_FAULT, "ended its process with exit status 0", 0, NULL},
        {"replace_handlers", TK_OK, "", 2, NULL},
        {"replace_handlers_and_crash", TK_KERNEL_FAULT, "signal 11", 0, NULL},
        {"endless", TK_TIMEOUT, "did not return within 0.5 seconds", 0, NULL},
        {"deaf_and_endless", TK_TIMEOUT, "did not return within 0.5 seconds", 0, NULL},
        {"stop_itself", TK_TIMEOUT, "did not return within 0.5 seconds", 0, NULL},
        {"refuse_odd_sizes", TK_OK, "", 2, NULL},
    };
    TRY_ALL(list, TKI_EDGE_NONE, 0);
}

TEST(memory)
{
    static const expectation both[] = {
        {"write_to_input", TK_KERNEL_FAULT, "it wrote to its input x, at byte 0", 0, NULL},
        {"thread_that_writes_late", TK_KERNEL_FAULT, "after it had returned: it reached into y", 2 | OR_EARLIER,
         NULL},
        {"map_output_again", TK_UNSUPPORTED, "returned 101", 0, "seccomp"},
        {"resize_output", TK_OK, "", 3, NULL},
        {"allocate_100_gib", TK_UNSUPPORTED, "returned 104", 0, NULL},
    };
    TRY_ALL(both, TKI_EDGE_NONE, 0);
    TRY_ALL(both, TKI_EDGE_PAGE_END, 0);
    static const expectation at_the_end[] = {
        {"write_behind", TK_KERNEL_FAULT, "outside y, at byte 2000 of its 2000", 0, NULL},
        {"read_behind", TK_KERNEL_FAULT, "it reached outside x, at byte 2000 of its 2000", 0, NULL},
    };
    TRY_ALL(at_the_end, TKI_EDGE_PAGE_END, 0);
    /* A second mapping, where nothing forbids it, is still found. */
    static const expectation unfiltered[] = {
        {"map_output_again", TK_KERNEL_FAULT, "could still write to y after it had returned", 0, NULL}};
    TRY_ALL(unfiltered, TKI_EDGE_NONE, TKI_CONFINE_SECCOMP);
}

TEST(red_zones)
{
    static const struct {
        const char *name;
        int64_t offset;
    } list[] = {{"write_before", -2}, {"write_behind", 2 * SIZE}};
    for (int i = 0; i < 2; i++) {
        trial t;
        start(&t, TKI_EDGE_NONE, list[i].name, NULL);
        for (int k = 0; k < 3; k++) {
            assert_ok(t.ctx, call(&t));
            assert_int_equal(t.overrun.param, 1);
            assert_int_equal(t.overrun.offset, list[i].offset);
        }
        finish(&t);
    }
    /* What was there stays there. */
    trial t;
    start(&t, TKI_EDGE_NONE, "leave_unwritten", NULL);
    assert_ok(t.ctx, call(&t));
    assert_unwritten(&t);
    finish(&t);
    assert_nothing_left();
}

TEST(connections)
{
    static const expectation list[] = {
        {"forge_reply", TK_KERNEL_FAULT, "sent a forged or malformed reply: a reply to another call", 0, NULL},
        {"send_garbage", TK_KERNEL_FAULT, "sent a forged or malformed reply: not the header of a frame", 0, NULL},
        {"send_descriptor", TK_KERNEL_FAULT, "sent a forged or malformed reply: too long, or with descriptors", 0,
         NULL},
        {"send_many", TK_KERNEL_FAULT, "sent a forged or malformed reply: a short frame", 0, NULL},
        {"close_everything", TK_KERNEL_FAULT, "", 0, NULL},
    };
    TRY_ALL(list, TKI_EDGE_NONE, 0);
}

TEST(liberties)
{
    static const expectation list[] = {
        {"child_that_lives_on", TK_UNSUPPORTED, "returned 105", 0, "seccomp"},
        {"fork_bomb", TK_TIMEOUT, "did not return", 0, NULL},
        {"kill_parent", TK_UNSUPPORTED, "returned 106", 0, "seccomp"},
        {"open_passwd", TK_UNSUPPORTED, "returned 111", 0, "Landlock"},
        {"open_outside", TK_UNSUPPORTED, "returned 112", 0, "Landlock"},
        {"share_memory", TK_UNSUPPORTED, "returned 113", 0, "Landlock"},
        {"open_socket", TK_UNSUPPORTED, "returned 114", 0, "seccomp"},
        {"trace_parent", TK_UNSUPPORTED, "returned 115", 0, NULL},
        {"set_clock", TK_UNSUPPORTED, "returned 116", 0, NULL},
        {"start_program", TK_UNSUPPORTED, "returned 117", 0, "seccomp"},
        {"fill_scratch", TK_OK, "", 0, NULL},
        {"look_around", TK_OK, "", 2, NULL},
    };
    TRY_ALL(list, TKI_EDGE_NONE, 0);
}

/* By the filter alone, with and without all else. */
TEST(calls)
{
    static const expectation list[] = {
        {"datagram_to_a_path", TK_UNSUPPORTED, "returned 121", 0, "seccomp"},
        {"change_a_mode", TK_UNSUPPORTED, "returned 122", 0, "seccomp"},
        {"file_with_set_user_id", TK_UNSUPPORTED, "returned 123", 0, "seccomp"},
        {"empty_without_writing", TK_UNSUPPORTED, "returned 124", 0, "seccomp"},
        {"schedule_others", TK_UNSUPPORTED, "returned 125", 0, "seccomp"},
        {"watch_a_folder", TK_UNSUPPORTED, "returned 126", 0, "seccomp"},
        {"signal_by_a_file", TK_UNSUPPORTED, "returned 127", 0, "seccomp"},
        {"time_of_others", TK_UNSUPPORTED, "returned 128", 0, "seccomp"},
        {"every_other_call", TK_UNSUPPORTED, "returned 129", 0, "seccomp"},
    };
    static const unsigned less[] = {0, TKI_CONFINE_USER | TKI_CONFINE_PIDS | TKI_CONFINE_NETWORK | TKI_CONFINE_MOUNTS,
                                    TKI_CONFINE_ALL & ~(unsigned)TKI_CONFINE_SECCOMP};
    for (size_t i = 0; i < sizeof less / sizeof *less; i++)
        TRY_ALL(list, TKI_EDGE_NONE, less[i]);
}

/* Whatever the system refuses to set up, processes end and buffers are guarded; and the report says what is missing. */
TEST(with_less)
{
    static const expectation always[] = {
        {"correct", TK_OK, "", 2, NULL},
        {"segfault", TK_KERNEL_FAULT, "signal 11", 0, NULL},
        {"exit_0", TK_KERNEL_FAULT, "exit status 0", 0, NULL},
        {"endless", TK_TIMEOUT, "", 0, NULL},
        {"write_to_input", TK_KERNEL_FAULT, "wrote to its input x", 0, NULL},
        {"forge_reply", TK_KERNEL_FAULT, "forged", 0, NULL},
    };
    static const expectation forks[] = {
        {"child_that_lives_on", TK_KERNEL_FAULT, "could still write to y after it had returned", 0, NULL},
        {"fork_bomb", TK_TIMEOUT, "", 0, NULL},
    };
    static const unsigned less[] = {
        TKI_CONFINE_ALL,
        TKI_CONFINE_USER | TKI_CONFINE_PIDS | TKI_CONFINE_NETWORK | TKI_CONFINE_MOUNTS,
        TKI_CONFINE_SECCOMP,
        TKI_CONFINE_PIDS | TKI_CONFINE_SECCOMP,
        TKI_CONFINE_LANDLOCK | TKI_CONFINE_CGROUP,
    };
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        TRY_ALL(always, TKI_EDGE_NONE, less[i]);
        if (less[i] & TKI_CONFINE_SECCOMP)
            TRY_ALL(forks, TKI_EDGE_NONE, less[i]);
    }
    /* One means alone refuses these too. */
    static const expectation by_landlock[] = {{"open_passwd", TK_UNSUPPORTED, "returned 111", 0, "Landlock"},
                                              {"share_memory", TK_UNSUPPORTED, "returned 113", 0, "Landlock"}};
    static const expectation by_mounts[] = {{"open_outside", TK_UNSUPPORTED, "returned 112", 0, "mount namespace"},
                                            {"share_memory", TK_UNSUPPORTED, "returned 113", 0, "mount namespace"}};
    TRY_ALL(by_landlock, TKI_EDGE_NONE, TKI_CONFINE_ALL & ~TKI_CONFINE_LANDLOCK);
    TRY_ALL(by_mounts, TKI_EDGE_NONE, TKI_CONFINE_LANDLOCK | TKI_CONFINE_SECCOMP);
}

TEST_WITH_CONTEXT(report)
{
    static const char *const lines[] = {
        "no new privileges", "user namespace", "network namespace", "IPC namespace", "process namespace",
        "mount namespace",   "limits",         "capabilities",      "Landlock",      "seccomp",
        "control group"};
    tki_worker *worker;
    assert_ok(ctx, tki_worker_open(ctx, kernel_path("correct"), tk_contract_find("gelu_fwd"), NULL, &worker));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(strstr(report_text(tki_worker_confinement(worker)), lines[i]));
    print_message("%s", report_text(tki_worker_confinement(worker)));
    tki_worker_close(worker);
    tki_worker_options options = {.without = TKI_CONFINE_LANDLOCK};
    assert_ok(ctx, tki_worker_open(ctx, kernel_path("correct"), tk_contract_find("gelu_fwd"), &options, &worker));
    assert_non_null(strstr(report_text(tki_worker_confinement(worker)), "Landlock: left out"));
    tki_worker_close(worker);
}

/* One call under limits; how it was confined. */
static tki_confinement call_under(const char *kernel, tk_limits limits, unsigned without, tk_status expected,
                                  const char *text)
{
    trial t;
    tki_worker_options options = {.terms = {.limits = limits, .allow_weak = true}, .without = without};
    start(&t, TKI_EDGE_NONE, kernel, &options);
    const tki_confinement report = *tki_worker_confinement(t.worker);
    assert_status(&t, kernel, call(&t), expected, text);
    finish(&t);
    assert_nothing_left();
    return report;
}

/* What the report claims holds, and no more than holds is claimed. */
static void check_limits(unsigned without)
{
    tki_confinement report = call_under("many_threads", (tk_limits){.tasks = 20}, without, TK_UNSUPPORTED,
                                        "returned 2");
    const int64_t tasks = tki_confinement_limit(&report, TKI_BY_TASKS);
    assert_true(tasks == 20 || tasks == -1);
    /* It is one of them itself. */
    (void)call_under("many_threads", (tk_limits){.tasks = 20}, without, TK_UNSUPPORTED,
                     tasks == 20 ? "returned 2019" : "returned 2100");
    if (tasks < 0)
        print_message("tasks are not limited here\n");
    const tk_limits little = {.memory_bytes = INT64_C(1) << 29, .output_bytes = 1 << 19};
    report = call_under("much_memory", little, without, TK_UNSUPPORTED, "returned 2");
    assert_true(tki_confinement_limit(&report, TKI_BY_MEMORY) == little.memory_bytes);
    assert_null(strstr(report_text(&report), "files of 1073741824 bytes"));
    assert_non_null(strstr(report_text(&report), "files of 524288 bytes"));
    (void)call_under("large_file", little, without, TK_KERNEL_FAULT, "signal 25");
    (void)call_under("large_file", (tk_limits){.output_bytes = 1 << 21}, without, TK_UNSUPPORTED, "returned 3024");
}

TEST(limits)
{
    check_limits(0);
    check_limits(TKI_CONFINE_CGROUP);
    check_limits(TKI_CONFINE_USER);
    /* Addresses of 512 MiB do not hold 512 times a MiB beside a program. */
    trial t;
    tki_worker_options options = {.terms.limits.memory_bytes = INT64_C(1) << 29};
    start(&t, TKI_EDGE_NONE, "much_memory", &options);
    assert_int_equal(call(&t), TK_UNSUPPORTED);
    const char *number = strstr(tk_ctx_message(t.ctx), "returned ");
    assert_non_null(number);
    const long returned = strtol(number + strlen("returned "), NULL, 10);
    assert_true(returned > 2000 && returned < 2000 + 512);
    finish(&t);
    assert_nothing_left();
}

/* RLIMIT_NPROC does not bind root: without a control group nothing is claimed. */
TEST(tasks_of_root)
{
    if (geteuid() != 0)
        skip();
    tki_confinement report = call_under("correct", (tk_limits){.tasks = 20}, TKI_CONFINE_CGROUP, TK_OK, "");
    assert_true(tki_confinement_limit(&report, TKI_BY_TASKS) == -1);
    assert_non_null(strstr(report_text(&report), "task limit: none\n"));
}

/* A maker that is killed leaves its group behind; the next one removes it. */
TEST(groups_left_behind)
{
    char line[256], group[400] = "";
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        const char *own = strstr(line, ":pids:");
        if (own)
            snprintf(group, sizeof group, "/sys/fs/cgroup/pids%s", own + strlen(":pids:"));
    }
    if (file)
        fclose(file);
    pid_t dead = fork();
    assert_true(dead >= 0);
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    const size_t used = strlen(group);
    snprintf(group + used, sizeof group - used, "/tokitai-worker-%d", (int)dead);
    if (!used || mkdir(group, 0700))
        skip();
    (void)call_under("correct", (tk_limits){0}, 0, TK_OK, "");
    assert_int_equal(access(group, F_OK), -1);
}

/* The deadline of all is the context's: what a call has left of it is all that it has. */
TEST(the_last_deadline)
{
    trial t;
    tki_worker_options options = {.call_seconds = 3600};
    start(&t, TKI_EDGE_NONE, "endless", &options);
    t.ctx->deadline = tki_now() + 0.2;
    assert_refused(t.ctx, call(&t), TK_TIMEOUT, "total time limit reached");
    assert_refused(t.ctx, call(&t), TK_TIMEOUT, "total time limit reached");
    t.ctx->deadline = 0;
    finish(&t);
    assert_nothing_left();
}

TEST(loading)
{
    tk_ctx *ctx = new_context();
    const tk_contract *gelu = tk_contract_find("gelu_fwd");
    tki_worker *worker;
    tki_worker_options options = {.start_seconds = 1};
    assert_refused(ctx, tki_worker_open(ctx, "/nowhere.so", gelu, NULL, &worker), TK_IO, "/nowhere.so");
    assert_refused(ctx, tki_worker_open(ctx, kernel_path("correct"), tk_contract_find("gemm"), NULL, &worker),
                   TK_BAD_FILE, "has no function tokitai_gemm or tokitai_gemm_v3; it has tokitai_gelu_fwd");
    assert_refused(ctx, tki_worker_open(ctx, "/proc/self/exe", gelu, NULL, &worker), TK_BAD_FILE, "cannot be loaded");
    assert_refused(ctx, tki_worker_open(ctx, kernel_path("loading_segfault"), gelu, NULL, &worker), TK_KERNEL_FAULT,
                   "signal 11");
    assert_refused(ctx, tki_worker_open(ctx, kernel_path("loading_exit_0"), gelu, NULL, &worker), TK_KERNEL_FAULT,
                   "exit status 0");
    assert_refused(ctx, tki_worker_open(ctx, kernel_path("loading_deaf_and_endless"), gelu, &options, &worker),
                   TK_TIMEOUT, "did not load within 1 seconds");
    assert_null(worker);
    setenv("TOKITAI_WORKER", "/bin/true", 1);
    assert_refused(ctx, tki_worker_open(ctx, kernel_path("correct"), gelu, NULL, &worker), TK_UNAVAILABLE,
                   "version differs");
    setenv("TOKITAI_WORKER", "/nowhere", 1);
    assert_refused(ctx, tki_worker_open(ctx, kernel_path("correct"), gelu, NULL, &worker), TK_UNAVAILABLE,
                   "TOKITAI_WORKER=/nowhere");
    unsetenv("TOKITAI_WORKER");
    tk_ctx_destroy(ctx);
    assert_nothing_left();
}

/* A worker that broke starts again with the next call. */
TEST(the_same_worker_goes_on)
{
    trial t;
    start(&t, TKI_EDGE_NONE, "refuse_odd_sizes", NULL);
    for (int i = 0; i < 4; i++) {
        t.c.dims[0] = SIZE - i % 2;
        tk_status status = call(&t);
        if (i % 2)
            assert_refused(t.ctx, status, TK_UNSUPPORTED, "refused this case: it returned 7");
        else
            assert_ok(t.ctx, status);
    }
    tki_worker_close(t.worker);
    t.c.dims[0] = SIZE;
    assert_ok(t.ctx, tki_worker_open(t.ctx, kernel_path("segfault"), t.c.contract, NULL, &t.worker));
    for (int i = 0; i < 3; i++)
        assert_refused(t.ctx, call(&t), TK_KERNEL_FAULT, "signal 11");
    finish(&t);
    assert_nothing_left();
}

/* A fresh process, prepared or not, has forgotten; what was prepared and not used does not stay. */
TEST(a_fresh_process)
{
    trial t;
    start(&t, TKI_EDGE_NONE, "count_its_calls", NULL);
    for (int i = 0; i < 4; i++) {
        if (i % 2)
            tki_worker_prepare(t.worker, i == 1);
        assert_ok(t.ctx, call(&t));
        assert_refused(t.ctx, call(&t), TK_UNSUPPORTED, "returned 102");
        assert_ok(t.ctx, tki_worker_renew(t.worker, i > 1));
        assert_false(tki_worker_broken(t.worker));
    }
    tki_worker_prepare(t.worker, false);
    tki_worker_prepare(t.worker, false);
    tki_worker_close(t.worker);
    assert_ok(t.ctx, tki_worker_open(t.ctx, kernel_path("segfault"), t.c.contract, NULL, &t.worker));
    tki_worker_prepare(t.worker, false);
    for (int i = 0; i < 3; i++)
        assert_refused(t.ctx, call(&t), TK_KERNEL_FAULT, "signal 11");
    finish(&t);
    assert_nothing_left();
}

/* In a process with a guarded heap; in a plain one none of these need be seen. */
TEST(a_guarded_heap)
{
    static const struct {
        const char *name;
        tk_status status;
        const char *says;
        bool wrote;
    } list[] = {
        {"heap_by_all_means", TK_OK, "", false},
        {"heap_written_a_byte_behind", TK_KERNEL_FAULT, "wrote outside its own allocations", true},
        {"heap_written_behind_and_freed", TK_KERNEL_FAULT, "wrote outside its own allocations", true},
        {"heap_written_where_alignment_left_room", TK_KERNEL_FAULT, "wrote outside its own allocations", true},
        {"heap_freed_from_within", TK_KERNEL_FAULT, "wrote outside its own allocations", true},
        {"heap_read_behind", TK_KERNEL_FAULT, "signal 11", false},
        {"heap_used_after_free", TK_KERNEL_FAULT, "signal 11", true},
        {"heap_freed_twice", TK_KERNEL_FAULT, "freed one twice", true},
        {"heap_taken_for_zeros", TK_UNSUPPORTED, "returned 9", false}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        trial t;
        start(&t, TKI_EDGE_NONE, list[i].name, NULL);
        assert_ok(t.ctx, tki_worker_renew(t.worker, true));
        tk_status status = call(&t);
        if (list[i].status == TK_OK)
            assert_ok(t.ctx, status);
        else
            assert_refused(t.ctx, status, list[i].status, list[i].says);
        if (list[i].status == TK_KERNEL_FAULT)
            assert_int_equal(t.ctx->fault.kind, TKI_FAULT_HEAP);
#ifdef __x86_64__
        if (list[i].status == TK_KERNEL_FAULT)
            assert_int_equal(t.ctx->fault.wrote, list[i].wrote);
#endif
        finish(&t);
    }
    assert_nothing_left();
}

/* The tests run as root in some places; there an ordinary user is tried as well. */
TEST(an_ordinary_user)
{
    enum { NOBODY = 65534, NO_ACCESS = 77 };
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
            access(kernel_path("correct"), R_OK))
            _exit(NO_ACCESS);
        descriptors_before = entries("/proc/self/fd"); /* valgrind closes one of its own */
        static const expectation list[] = {{"segfault", TK_KERNEL_FAULT, "signal 11", 0, NULL},
                                           {"endless", TK_TIMEOUT, "", 0, NULL},
                                           {"open_passwd", TK_UNSUPPORTED, "returned 111", 0, "Landlock"},
                                           {"open_outside", TK_UNSUPPORTED, "returned 112", 0, "Landlock"}};
        TRY_ALL(list, TKI_EDGE_NONE, 0);
        check_limits(0);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_ACCESS)
        skip();
    assert_int_equal(status, 0);
    assert_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_kernels),
        cmocka_unit_test(report),
        cmocka_unit_test(in_place),
        cmocka_unit_test(crashes_and_exits),
        cmocka_unit_test(memory),
        cmocka_unit_test(red_zones),
        cmocka_unit_test(connections),
        cmocka_unit_test(liberties),
        cmocka_unit_test(calls),
        cmocka_unit_test(with_less),
        cmocka_unit_test(loading),
        cmocka_unit_test(the_same_worker_goes_on),
        cmocka_unit_test(a_fresh_process),
        cmocka_unit_test(a_guarded_heap),
        cmocka_unit_test(an_ordinary_user),
        cmocka_unit_test(limits),
        cmocka_unit_test(tasks_of_root),
        cmocka_unit_test(the_last_deadline),
        cmocka_unit_test(groups_left_behind),
    };
    return cmocka_run_group_tests(tests, begin_worker_test, end_worker_test);
}
