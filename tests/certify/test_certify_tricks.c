/* Kernels that try to pass without being right, or to get out (tests/kernels/trick_*.c): each is certified like any user kernel, and gets
 * the verdict that docs/tricks.md promises, with the clause and the fault that go with it. Nothing is left behind, in this process
 * or outside, and a good kernel is certified right afterwards. A program rather than a script, since descriptors that stay open are
 * those of the process that judges. */
#include <jansson.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clock.h"
#include "judge/trial.h"
#include "tests/kernels/trick_known.h"
#include "tests/op_test.h"
#include "tests/worker_test.h"
#include "trials/levels.h"

/* ------------------------------------------------------------------------------------------------------------
 * One certification
 * ------------------------------------------------------------------------------------------------------------ */

static uint64_t drawn_seed(void)
{
    uint64_t seed;
    assert_int_equal(getrandom(&seed, sizeof seed, 0), sizeof seed);
    return seed >> 24;
}

/* Deadlines of a call: of one that never ends, and of one that does, on a busy machine. */
enum { SHORT_SECONDS = 1, LONG_SECONDS = 30, MOST_SECONDS = 120 };

typedef struct trick {
    const char *name;
    tk_verdict verdict;
    const char *clauses; /* one of these, separated by blanks; NULL: none */
    const char *faults;  /* one of these kinds, separated by blanks, "none" among them; NULL: none */
    const char *tensor;  /* the one that the fault concerns; NULL: whatever */
    int64_t number;      /* its signal, exit status or returned number; 0: whatever */
    int64_t offset;      /* of the fault in the tensor, or of the first wrong element; 0: whatever */
    bool gives_zero;     /* where an element is wrong, it is 0 */
    const char *needs;   /* a means that this system may not offer; NULL: none */
    const char *op;      /* NULL: softmax_fwd */
    const int64_t *dims; /* NULL: those of the level */
    tk_level level;
    bool normal; /* on the domain normal */
} trick;

#define REFUTED(n, c, ...)                                              \
    {                                                                   \
        .name = (n), .verdict = TK_REFUTED, .clauses = (c), __VA_ARGS__ \
    }
#define UNKNOWN(n, f, ...)                                             \
    {                                                                  \
        .name = (n), .verdict = TK_UNKNOWN, .faults = (f), __VA_ARGS__ \
    }
#define HELD(n, ...)                                   \
    {                                                  \
        .name = (n), .verdict = TK_HELD, ##__VA_ARGS__ \
    }

static tk_certificate *certify_kernel(const trick *t, uint64_t seed)
{
    tk_ctx *ctx = new_context();
    tk_kernel_file *kernel;
    tk_kernel_file_options file_options = {.size = sizeof file_options,
                                           .call_seconds = t->verdict == TK_UNKNOWN ? SHORT_SECONDS : LONG_SECONDS};
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    assert_ok(ctx, tk_kernel_file_open(ctx, kernel_path(t->name), &file_options, &kernel));
    options.kernel_file = kernel;
    options.level = t->level;
    options.dims = t->dims;
    options.seed = seed;
    options.skip_mutants = true;
    options.settings = &(tk_setting){"domain", "normal"};
    options.setting_count = t->normal;
    const tk_contract *contract = tk_contract_find(t->op ? t->op : "softmax_fwd");
    tk_certificate *certificate = certify_one(ctx, contract, TK_F16, TK_I32, options);
    tk_kernel_file_close(kernel);
    tk_ctx_destroy(ctx);
    return certificate;
}

/* Enough for a kernel whose values are right. */
static const int64_t small[] = {5, 17};
static const trick good_kernel = HELD("correct_rows", .dims = small);

static void assert_good_kernel_holds(void)
{
    tk_certificate *certificate = certify_kernel(&good_kernel, drawn_seed());
    if (tk_certificate_verdict(certificate) != TK_HELD)
        fail_msg("the kernel after it: %s", tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
}

/* The predicate of a certificate; json_decref() what is put in *root. */
static json_t *predicate_of(tk_certificate *certificate, json_t **root)
{
    *root = json_loads(tk_certificate_json(certificate), 0, NULL);
    json_t *predicate = json_object_get(*root, "predicate");
    assert_non_null(predicate);
    return predicate;
}

/* ------------------------------------------------------------------------------------------------------------
 * What each comes to
 * ------------------------------------------------------------------------------------------------------------ */

static bool one_of(const char *list, const char *separators, const char *text, const char *mark)
{
    char copy[512], wanted[160];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *rest = copy, *part; (part = strtok_r(rest, separators, &rest));) {
        snprintf(wanted, sizeof wanted, "%s%s", part, mark);
        if (strstr(text, wanted))
            return true;
    }
    return false;
}

static FILE *open_table(void)
{
    char path[PATH_MAX];
    assert_non_null(getenv("SOURCE_DIR"));
    snprintf(path, sizeof path, "%s/docs/tricks.md", getenv("SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* The table's line that begins with the trick, which ends in its verdict. */
static bool documented(const char *name, tk_verdict verdict, const char *clauses)
{
    char line[1024], start[128];
    bool found = false;
    FILE *file = open_table();
    snprintf(start, sizeof start, "| `%s` |", name);
    while (!found && fgets(line, sizeof line, file)) {
        const char *last = strrchr(line, '|');
        while (last && last > line && *--last != '|')
            ;
        found = !strncmp(line, start, strlen(start)) && strstr(last, tk_verdict_name(verdict)) &&
                (!clauses || one_of(clauses, " ", last, ""));
    }
    fclose(file);
    return found;
}

/* A value that is not admissible breaks one of these, by what its row is. */
#define VALUE "ERR NAN ZERO"
#define STRAY_WRITE "WRITE SHAPE" /* not every processor says that it was one */
/* What a thread writes to where a tensor was may fall into the next call, whose tensors lie otherwise. What it hits there is a matter of
 * microseconds; that the kernel is refuted is not. */
#define LATE_CLAUSES VALUE " SHAPE REPEAT WRITE"
/* A frame that nobody asked for is found when the call ends, before the next one begins, or in the place of that one's answer. */
#define ONE_FRAME_TOO_MANY "spoke_late forged"

/* What the certificate says of a fault, and of the element that failed, against what is expected of the trick. */
static bool as_expected(const trick *t, tk_certificate *certificate)
{
    json_t *root;
    const json_t *result = json_object_get(predicate_of(certificate, &root), "result");
    const json_t *fault = json_object_get(result, "fault"), *failure = json_object_get(result, "failure");
    const char *kind = fault ? json_string_value(json_object_get(fault, "kind")) : "none";
    const char *tensor = json_string_value(json_object_get(fault, "tensor"));
    static const char *const numbers[] = {"signal", "exit_status", "returned"};
    bool number = !t->number;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        number |= t->number && json_integer_value(json_object_get(fault, numbers[i])) == t->number;
    const json_t *place = fault ? json_object_get(fault, "offset") : json_object_get(failure, "index");
    bool good = one_of(t->faults ? t->faults : "none", " ", kind, "") && number &&
                (!t->tensor || !fault || (tensor && !strcmp(tensor, t->tensor))) &&
                (!t->offset || json_integer_value(place) == t->offset) &&
                (!t->gives_zero || !failure || json_number_value(json_object_get(failure, "got")) == 0);
    json_decref(root);
    return good;
}

static int failures, tried;

static void try(const trick *t)
{
    if (t->needs && !offered(t->needs, 0))
        return;
    double begin = tki_now();
    uint64_t seed = drawn_seed();
    tk_certificate *certificate = certify_kernel(t, seed);
    double seconds = tki_now() - begin;
    const char *reason = tk_certificate_reason(certificate);
    bool good = tk_certificate_verdict(certificate) == t->verdict && seconds < MOST_SECONDS &&
                (!t->clauses || one_of(t->clauses, " ", reason, ":")) && as_expected(t, certificate) &&
                !*reason == (t->verdict == TK_HELD);
    print_message("%-9s %-36s %5.2f s  %-8s %s\n", good ? "" : "NOT SEEN", t->name, seconds,
                  tk_verdict_name(tk_certificate_verdict(certificate)), reason);
    if (!good)
        print_message("    seed %llu\n", (unsigned long long)seed);
    if (!documented(t->name, t->verdict, t->clauses)) {
        print_message("    docs/tricks.md does not have it, or another verdict\n");
        good = false;
    }
    failures += !good;
    tk_certificate_destroy(certificate);
    assert_nothing_left();
}

/* `each`: a good kernel follows each of them, not only the last. */
static void try_all(const trick list[], size_t count, bool each)
{
    failures = 0;
    tried += (int)count;
    for (size_t i = 0; i < count; i++) {
        try(&list[i]);
        if (each || i == count - 1)
            assert_good_kernel_holds();
    }
    assert_nothing_left();
    assert_int_equal(failures, 0);
}

#define TRY_ALL(list, each) try_all(list, sizeof(list) / sizeof *(list), each)

TEST(values)
{
    static const trick list[] = {
        REFUTED("nothing_written", "WRITE"),
        REFUTED("last_element_unwritten", "WRITE"),
        REFUTED("nan_everywhere", VALUE),
        REFUTED("nan_in_one_element", VALUE),
        REFUTED("zeros", VALUE, .gives_zero = true),
        REFUTED("an_even_distribution", VALUE),
        REFUTED("right_for_multiples_of_8", VALUE, .gives_zero = true),
        REFUTED("right_for_small_shapes", VALUE, .gives_zero = true),
        REFUTED("right_if_aligned_to_4", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_if_aligned_to_32", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_if_aligned_to_64", VALUE " REPEAT", .gives_zero = true),
    };
    TRY_ALL(list, false);
}

/* The largest shape of the level is asked for where the others come to nothing: they would take most of the time. */
TEST(large)
{
    static const int64_t largest[] = {(1 << 22) + 3};
    static const trick list[] = {
        REFUTED("wrong_at_one_index_in_a_million", "ERR", .offset = 777777, .op = "gelu_fwd", .dims = largest,
                .level = TK_FULL),
        REFUTED("wrong_at_one_value_in_a_million", "ERR", .op = "gelu_fwd", .level = TK_FULL),
        REFUTED("right_up_to_2_20_elements", "ERR", .offset = 1 << 20, .gives_zero = true, .op = "gelu_fwd",
                .dims = largest, .level = TK_FULL),
    };
    TRY_ALL(list, false);
}

TEST(calls)
{
    static const trick list[] = {
        REFUTED("right_the_first_time", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_ten_times", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_after_ten_calls", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_until_the_inputs_come_again", "REPEAT"),
        REFUTED("right_when_the_inputs_come_again", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_for_known_inputs", VALUE, .gives_zero = true),
        HELD("right_where_it_is_judged", .dims = small),
    };
    TRY_ALL(list, false);
    /* Of one shape there are hundreds of calls, which take less than a second. */
    static const trick bombs[] = {
        REFUTED("right_for_5000_calls", "REPEAT", .dims = small, .level = TK_FULL),
        REFUTED("right_for_5_seconds", "REPEAT", .dims = small, .level = TK_FULL),
    };
    TRY_ALL(bombs, false);
}

TEST(setups)
{
    static const trick list[] = {
        REFUTED("tail_dropped_if_aligned", VALUE " REPEAT WRITE", .gives_zero = true),
        REFUTED("wrong_where_malloc_would_lie", VALUE " REPEAT WRITE", .gives_zero = true),
        REFUTED("wrong_where_only_the_output_is_aligned", VALUE " REPEAT WRITE", .gives_zero = true),
        REFUTED("trap_where_page_offsets_differ", "SHAPE", .faults = "signal", .number = 4),
        REFUTED("right_where_the_output_is_marked", VALUE " REPEAT WRITE", .gives_zero = true),
        REFUTED("right_where_the_output_is_not_zero", VALUE " REPEAT WRITE", .gives_zero = true),
        REFUTED("right_where_the_output_is_noise", VALUE " REPEAT WRITE", .gives_zero = true),
        REFUTED("wrong_with_five_threads", VALUE " REPEAT", .gives_zero = true),
        REFUTED("wrong_beyond_eight_threads", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_where_no_flag_is_raised", VALUE " REPEAT", .gives_zero = true),
        REFUTED("rounding_left_upward", "WRITE", .faults = "float_mode"),
        REFUTED("flushing_left_on", "WRITE", .faults = "float_mode"),
        REFUTED("x87_registers_left", "WRITE", .faults = "float_mode", .dims = small),
        REFUTED("mmx_not_ended", "WRITE", .faults = "float_mode", .dims = small),
        REFUTED("string_direction_left", "WRITE", .faults = "float_mode", .dims = small),
    };
    TRY_ALL(list, false);
}

TEST(loading)
{
    static const trick list[] = {
        REFUTED("flushing_set_by_loading", "WRITE", .faults = "float_mode", .dims = small),
        REFUTED("rounding_set_by_loading", "WRITE", .faults = "float_mode", .dims = small),
        REFUTED("traps_set_by_loading", "WRITE", .faults = "float_mode", .dims = small),
        REFUTED("handler_set_by_loading", "WRITE", .faults = "process", .dims = small),
        REFUTED("signals_blocked_by_loading", "WRITE", .faults = "process", .dims = small),
        REFUTED("signal_stack_set_by_loading", "WRITE", .faults = "process", .dims = small),
        REFUTED("locale_set_by_loading", "WRITE", .faults = "process", .dims = small),
        HELD("environment_set_by_loading", .dims = small),
        HELD("handler_restored_by_loading", .dims = small),
        REFUTED("handler_set_by_a_call", "WRITE", .faults = "process", .dims = small),
        REFUTED("signals_blocked_by_a_call", "WRITE", .faults = "process", .dims = small),
        REFUTED("locale_set_by_a_call", "WRITE", .faults = "process", .dims = small),
        REFUTED("mode_before_replaced", "WRITE", .faults = "float_mode", .dims = small),
    };
    TRY_ALL(list, false);
    static const trick recognising[] = {
        REFUTED("right_in_the_thread_that_loaded", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_where_crashes_are_told", VALUE " REPEAT", .gives_zero = true),
        REFUTED("right_where_the_process_is_named_so", VALUE " REPEAT", .gives_zero = true,
                .needs = "scratch folder: "),
    };
    TRY_ALL(recognising, false);
    /* Where the system cannot seal memory the worker says what the kernel wants. */
    enum { MSEAL = 462 };
    const bool seals = syscall(MSEAL, 0, 0, 0) == 0;
    static const trick sealed[] = {REFUTED("replies_replaced", "WRITE", .faults = "float_mode", .dims = small)};
    static const trick open[] = {HELD("replies_replaced", .dims = small)};
    if (seals)
        TRY_ALL(sealed, false);
    else
        TRY_ALL(open, false);
}

/* A process that has nothing of ours is started for every seed, and is called. */
TEST(recognised_by_every_seed)
{
    static const trick told = REFUTED("right_where_crashes_are_told", VALUE " REPEAT", .gives_zero = true);
    failures = 0;
    for (int i = 0; i < 8; i++)
        try(&told);
    assert_int_equal(failures, 0);
}

TEST(sums)
{
    static const trick list[] = {
        REFUTED("order_by_address", "REPEAT", .op = "gemm"),
        REFUTED("order_by_threads", "REPEAT", .op = "gemm"),
        REFUTED("race_to_one_sum", "REPEAT ERR", .op = "gemm"),
    };
    TRY_ALL(list, false);
}

TEST(memory)
{
    static const trick list[] = {
        REFUTED("result_of_the_call_before", VALUE " REPEAT"),
        REFUTED("kept_by_pointers", VALUE " REPEAT"),
        REFUTED("kept_by_shape", VALUE " REPEAT"),
        REFUTED("kept_by_64_elements", VALUE " REPEAT"),
        REFUTED("kept_by_all_but_the_last", VALUE " REPEAT"),
        REFUTED("input_changed_and_restored", "WRITE", .faults = "signal", .tensor = "x"),
        HELD("input_made_writable", .dims = small),
        REFUTED("write_1_element_before", STRAY_WRITE, .faults = "signal overrun", .tensor = "y", .offset = -2),
        REFUTED("write_1_element_behind", STRAY_WRITE, .faults = "signal overrun", .tensor = "y"),
        REFUTED("write_1_kib_before", STRAY_WRITE, .faults = "signal overrun", .tensor = "y", .offset = -1024),
        REFUTED("write_1_kib_behind", STRAY_WRITE, .faults = "signal overrun", .tensor = "y"),
        REFUTED("write_pages_before", STRAY_WRITE, .faults = "signal overrun", .tensor = "y", .offset = -12288),
        REFUTED("write_pages_behind", STRAY_WRITE, .faults = "signal overrun", .tensor = "y"),
        REFUTED("write_the_last_vector_whole", STRAY_WRITE, .faults = "signal overrun", .tensor = "y"),
        REFUTED("read_the_last_vector_whole", "SHAPE", .faults = "signal", .tensor = "x", .number = 11),
        REFUTED("finished_1_ms_later", LATE_CLAUSES, .faults = "none signal overrun kept spoke_late exit gone"),
        REFUTED("finished_50_ms_later", LATE_CLAUSES, .faults = "none signal overrun kept spoke_late exit gone"),
        REFUTED("thread_parked_until_the_next_call", LATE_CLAUSES, .faults = "none signal overrun"),
        REFUTED("output_mapped_over", "WRITE"),
        HELD("output_mapped_twice", .needs = "seccomp", .dims = small),
        HELD("faults_caught", .dims = small),
        HELD("memory_mapped_behind", .dims = small),
    };
    TRY_ALL(list, true);
}

TEST(replies)
{
    static const trick list[] = {
        REFUTED("answer_with_a_guess", "SHAPE", .faults = "forged"),
        REFUTED("answer_before_computing", "WRITE", .faults = "kept", .tensor = "y"),
        REFUTED("answer_twice", "SHAPE", .faults = ONE_FRAME_TOO_MANY),
        REFUTED("answer_for_the_next_call", "SHAPE", .faults = ONE_FRAME_TOO_MANY),
        REFUTED("garbage_without_end", "SHAPE", .faults = ONE_FRAME_TOO_MANY),
        UNKNOWN("calls_intercepted", "timeout", .dims = small),
        HELD("clock_set_back", .dims = small),
        HELD("clock_that_stands_still", .dims = small),
        REFUTED("descriptors_sent", "SHAPE", .faults = ONE_FRAME_TOO_MANY, .dims = small),
        REFUTED("no_more_descriptors", "SHAPE", .faults = "exit", .number = 1, .dims = small),
        REFUTED("connection_lost", "SHAPE", .faults = "exit", .number = 1, .dims = small),
    };
    TRY_ALL(list, true);
}

TEST(escapes)
{
    static const trick list[] = {
        HELD("memory_of_the_judge_read", .needs = "seccomp", .dims = small),
        HELD("judge_traced", .needs = "seccomp", .dims = small),
        HELD("other_processes_listed", .needs = "Landlock", .dims = small),
        HELD("files_read", .needs = "Landlock", .dims = small),
        HELD("files_left_outside", .needs = "Landlock", .dims = small),
        HELD("daemon_left", .needs = "seccomp", .dims = small),
        HELD("program_started", .needs = "seccomp", .dims = small),
        HELD("signals_to_everybody", .needs = "seccomp", .dims = small),
        UNKNOWN("endless_and_detached", "timeout", .dims = small),
        REFUTED("crash_with_a_core", "SHAPE", .faults = "signal", .number = 11, .dims = small),
        HELD("disk_filled", .needs = "scratch folder: ", .dims = small),
        HELD("files_without_end", .needs = "scratch folder: ", .dims = small),
        HELD("memory_filled", .needs = "seccomp", .dims = small),
        HELD("descriptors_without_end", .needs = "limits", .dims = small),
        HELD("memory_behind_pages", .needs = "seccomp", .dims = small),
        HELD("files_linked_in", .needs = "Landlock", .dims = small),
        HELD("left_for_the_next_process", .dims = small),
        HELD("objects_made", .needs = "seccomp", .dims = small),
        UNKNOWN("first_thread_ended", "timeout", .dims = small),
        HELD("endless_at_the_end", .dims = small),
    };
    TRY_ALL(list, true);
}

/* Kernels of misbehave.c, which test_worker.c calls one by one. */
TEST(misbehaviour)
{
    static const int64_t few[] = {33};
    static const trick list[] = {
        REFUTED("segfault", "SHAPE", .faults = "signal", .number = 11, .op = "gelu_fwd", .dims = few),
        REFUTED("exit_0", "SHAPE", .faults = "exit", .op = "gelu_fwd", .dims = few),
        REFUTED("forge_reply", "SHAPE", .faults = "forged", .op = "gelu_fwd", .dims = few),
        UNKNOWN("endless", "timeout", .op = "gelu_fwd", .dims = few),
        UNKNOWN("fork_bomb", "timeout", .op = "gelu_fwd", .dims = few),
        UNKNOWN("child_that_lives_on", "refused", .number = 105, .needs = "seccomp", .op = "gelu_fwd", .dims = few),
    };
    TRY_ALL(list, true);
}

/* ------------------------------------------------------------------------------------------------------------
 * What the verdict alone does not show
 * ------------------------------------------------------------------------------------------------------------ */

/* Each call takes 2 ms, whatever the clocks of the worker say. */
TEST(times_are_the_judges)
{
    static const trick list[] = {HELD("clock_set_back", .dims = small),
                                 HELD("clock_that_stands_still", .dims = small)};
    for (int i = 0; i < 2; i++) {
        json_t *root;
        tk_certificate *certificate = certify_kernel(&list[i], drawn_seed());
        const json_t *predicate = predicate_of(certificate, &root);
        const json_t *result = json_object_get(predicate, "result");
        const json_t *clock = json_object_get(json_object_get(predicate, "worker"), "clock");
        assert_true(json_number_value(json_object_get(result, "kernel_seconds")) >= 0.01);
        assert_non_null(strstr(json_string_value(clock), "CLOCK_MONOTONIC of the judging process"));
        json_decref(root);
        tk_certificate_destroy(certificate);
    }
}

/* Subnormal numbers may be flushed on the domain normal, which is said; there is no domain where more may be changed. */
TEST(flushing_where_it_is_admitted)
{
    json_t *root;
    tk_certificate *certificate = certify_kernel(
        &(trick){.name = "flushing_set_by_loading", .dims = small, .normal = true}, drawn_seed());
    const json_t *predicate = predicate_of(certificate, &root);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_true(json_is_true(json_object_get(json_object_get(predicate, "worker"), "flushes_subnormals")));
    assert_non_null(strstr(json_string_value(json_object_get(predicate, "headline")), "flush subnormal numbers"));
    json_decref(root);
    tk_certificate_destroy(certificate);
    certificate = certify_kernel(&(trick){.name = "rounding_set_by_loading", .dims = small, .normal = true},
                                 drawn_seed());
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    tk_certificate_destroy(certificate);
}

/* The tables have no trick that is not tried, of those that are libraries here; tests/user_kernels has the others. Behind all that try one. */
TEST(the_table_is_complete)
{
    char line[1024];
    int rows = 0;
    FILE *file = open_table();
    while (fgets(line, sizeof line, file)) {
        char name[64];
        rows += sscanf(line, "| `%63[a-z0-9_]` |", name) == 1 && access(kernel_path(name), R_OK) == 0;
    }
    fclose(file);
    assert_int_equal(rows, tried);
}

/* What cannot be seen is said. */
TEST(being_judged_can_be_told)
{
    json_t *root;
    tk_certificate *certificate = certify_kernel(&(trick){.name = "right_where_it_is_judged", .dims = small},
                                                 drawn_seed());
    const json_t *non_claims = json_object_get(predicate_of(certificate, &root), "non_claims");
    bool said = false;
    for (size_t i = 0; i < json_array_size(non_claims); i++)
        said |= strstr(json_string_value(json_array_get(non_claims, i)), "can detect that it is being judged") !=
                NULL;
    assert_true(said);
    json_decref(root);
    tk_certificate_destroy(certificate);
}

/* The inputs that right_for_known_inputs knows are still those of the default seed; else it would be refuted for nothing. */
TEST_WITH_CONTEXT(known_inputs_are_known)
{
    tki_trials trials;
    tki_inputs inputs;
    const tk_certify_options options = TK_CERTIFY_DEFAULTS;
    assert_ok(ctx, tki_trials_make(ctx, tk_contract_find("softmax_fwd"), TK_F16, TK_I32, &options, &trials));
    const tki_trial *known = trials.list;
    while (known->c.dims[0] != TRICK_KNOWN_ROWS || known->c.dims[1] != TRICK_KNOWN_COLS)
        assert_true(++known < trials.list + trials.count);
    assert_ok(ctx, tki_inputs_alloc(ctx, &known->c, &inputs));
    tki_trial_fill(known, inputs.data);
    uint64_t hash = trick_hash(inputs.data[0], TRICK_KNOWN_ROWS * TRICK_KNOWN_COLS);
    if (hash != TRICK_KNOWN_HASH)
        fail_msg("TRICK_KNOWN_HASH is now 0x%llx", (unsigned long long)hash);
    tki_inputs_free(&inputs);
    free(trials.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(large),
        cmocka_unit_test(calls),
        cmocka_unit_test(setups),
        cmocka_unit_test(loading),
        cmocka_unit_test(recognised_by_every_seed),
        cmocka_unit_test(sums),
        cmocka_unit_test(memory),
        cmocka_unit_test(replies),
        cmocka_unit_test(escapes),
        cmocka_unit_test(misbehaviour),
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(flushing_where_it_is_admitted),
        cmocka_unit_test(times_are_the_judges),
        cmocka_unit_test(being_judged_can_be_told),
        cmocka_unit_test(known_inputs_are_known),
    };
    return cmocka_run_group_tests(tests, begin_worker_test, end_worker_test);
}
