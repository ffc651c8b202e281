/* Certification as a program asks for it: of a function of its own, from wherever it lies, and with options that are refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certify/certificate.h"
#include "certify/certify.h"
#include "core/clock.h"
#include "core/context.h"
#include "tests/certificate_test.h"
#include "tests/op_test.h"
#include "tests/work_folder.h"

/* -- A program's own function ------------------------------------------------------------------------------------------ */

static int good_function(const tk_case *c, void *const b[], void *data)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    tk_status status = tk_run(ctx, c, b);
    tk_ctx_destroy(ctx);
    ++*(int *)data;
    return status != TK_OK;
}

static int bad_function(const tk_case *c, void *const b[], void *data)
{
    int result = good_function(c, b, data);
    if (c->dims[0] > 10)
        ((uint16_t *)b[2])[10] ^= 1;
    return result;
}

static int unwilling_function(const tk_case *c, void *const b[], void *data)
{
    (void)b;
    (void)data;
    return c->dims[0] > 2 ? 42 : 0;
}

static const char *why_unwilling(void *data)
{
    (void)data;
    return "no more than 2\nqueries";
}

static tk_certificate *certify_function(tk_ctx *ctx, tk_kernel kernel, int *calls, const char *name)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = kernel;
    options.kernel_data = calls;
    options.kernel_name = name;
    options.kernel_problem = name && strcmp(name, "explaining") == 0 ? why_unwilling : NULL;
    options.kernel_device = name && strcmp(name, "elsewhere") == 0 ? "cuda:0: NVIDIA H200" : NULL;
    options.dims = (int64_t[]){33, 1, 3};
    return certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
}

TEST_WITH_CONTEXT(functions_that_a_program_brings)
{
    int calls = 0;
    bool same = true;
    tk_certificate *certificate = certify_function(ctx, good_function, &calls, "mine");
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_string_equal(tk_certificate_subject(certificate), "mine");
    assert_true(calls > 4);
    assert_non_null(strstr(tk_certificate_json(certificate), "could have tampered"));
    assert_null(strstr(tk_certificate_json(certificate), "claimed_device"));
    assert_refused(ctx, tk_certificate_replay(ctx, certificate, NULL, &same, NULL, NULL), TK_UNAVAILABLE, "function");
    assert_false(same);
    tk_certificate_destroy(certificate);

    certificate = certify_function(ctx, good_function, &calls, "elsewhere");
    assert_non_null(strstr(tk_certificate_json(certificate), "\"claimed_device\": \"cuda:0: NVIDIA H200\""));
    assert_non_null(strstr(tk_certificate_markdown(certificate), "| device, as claimed | cuda:0: NVIDIA H200 |"));
    assert_non_null(strstr(tk_certificate_json(certificate),
                           "what that device is: cuda:0: NVIDIA H200. The judge saw host memory"));
    tk_certificate_destroy(certificate);
    tk_certify_options garbled = TK_CERTIFY_DEFAULTS;
    garbled.kernel = good_function;
    garbled.kernel_device = "\xff";
    assert_refused(ctx, tk_certify(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, &garbled, &certificate),
                   TK_BAD_ARGUMENT, "not UTF-8");

    certificate = certify_function(ctx, bad_function, &calls, NULL);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_string_equal(tk_certificate_subject(certificate), "function");
    assert_non_null(strstr(tk_certificate_reason(certificate), ": out[10]"));
    assert_non_null(strstr(tk_certificate_reproduce(certificate), "--shape queries=11,dim=1,vocab="));
    assert_non_null(strstr(tk_certificate_markdown(certificate), "REFUTED"));
    assert_non_null(strstr(tk_certificate_markdown(certificate), tk_certificate_reproduce(certificate)));
    tk_certificate_destroy(certificate);

    certificate = certify_function(ctx, unwilling_function, NULL, "unwilling");
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    assert_non_null(strstr(tk_certificate_reason(certificate), "failure 42"));
    tk_certificate_destroy(certificate);

    certificate = certify_function(ctx, unwilling_function, NULL, "explaining");
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    assert_string_equal(tk_certificate_reason(certificate),
                        "the kernel could not be run: 'no more than 2\\x0aqueries'");
    tk_certificate_destroy(certificate);
}

/* -- How wrong ----------------------------------------------------------------------------------------------------------- */

/* What becomes of every element from `first` on. */
typedef struct spoiler {
    uint16_t flip; /* these bits */
    uint16_t put;  /* or this pattern instead, if not 0 */
    int64_t first;
    bool unwritten;        /* leaves them alone */
    bool refuses_infinity; /* does not take a case with an infinite weight */
} spoiler;

static int spoiling_function(const tk_case *c, void *const b[], void *data)
{
    const spoiler *s = data;
    const int64_t dim = c->dims[1];
    const uint16_t *weight = b[1];
    uint16_t *out = b[2];
    for (int64_t i = 0; i < c->dims[2] * dim && s->refuses_infinity; i++)
        if ((weight[i] & 0x7fff) == 0x7c00)
            return 42;
    for (int64_t i = 0; i < c->dims[0] * dim; i++) {
        const uint16_t right = weight[((const int32_t *)b[0])[i / dim] * dim + i % dim];
        if (i < s->first)
            out[i] = right;
        else if (!s->unwritten)
            out[i] = s->put ? s->put : right ^ s->flip;
    }
    return 0;
}

/* Of embedding_fwd, whose results are given bit by bit; `family` NULL stands for all. */
static tk_certificate *certify_spoiled(tk_ctx *ctx, spoiler *s, const char *family, bool keep_going)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = spoiling_function;
    options.kernel_data = s;
    options.kernel_name = "spoiled";
    options.dims = (int64_t[]){40, 5, 7};
    options.family = family;
    options.keep_going = keep_going;
    return certify_one(ctx, tk_contract_find("embedding_fwd"), TK_F16, TK_I32, options);
}

/* Its time is over in the call of that number. */
typedef struct late {
    tk_ctx *ctx;
    int calls, last;
    bool wrong;
} late;

static int late_function(const tk_case *c, void *const b[], void *data)
{
    late *l = data;
    int calls = 0;
    if (++l->calls == l->last)
        l->ctx->deadline = tki_now();
    return l->wrong ? bad_function(c, b, &calls) : good_function(c, b, &calls);
}

static tk_certificate *certify_late(tk_ctx *ctx, late *l)
{
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    l->ctx = ctx;
    options.kernel = late_function;
    options.kernel_data = l;
    options.total_seconds = 5000;
    options.keep_going = true;
    tk_certificate *certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
    assert_true(ctx->deadline == 0);
    assert_int_equal(tki_certificate_integer(certificate, "run.limits.total_seconds"), 0); /* it is a real number */
    assert_true(tki_certificate_real(certificate, "run.limits.total_seconds") == 5000);
    return certificate;
}

TEST_WITH_CONTEXT(time_of_the_whole_judgement)
{
    late l = {.last = 1};
    tk_certificate *certificate = certify_late(ctx, &l);
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    assert_non_null(
        strstr(tk_certificate_reason(certificate), "total time limit of 5000 seconds reached after 0 of "));
    assert_int_equal(l.calls, 1);
    assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
    tk_certificate_destroy(certificate);

    l = (late){.last = 200};
    certificate = certify_late(ctx, &l);
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    const size_t judged = json_array_size(tki_certificate_get(certificate, "run.trials"));
    char expected[64];
    snprintf(expected, sizeof expected, "reached after %zu of ", judged);
    assert_true(judged > 0);
    assert_non_null(strstr(tk_certificate_reason(certificate), expected));
    assert_int_equal(l.calls, 200);
    tk_certificate_destroy(certificate);

    /* What is refuted stays so. */
    l = (late){.last = 200, .wrong = true};
    certificate = certify_late(ctx, &l);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_true(l.calls <= 200);
    assert_non_null(strstr(tk_certificate_reason(certificate), ": out[10]"));
    tk_certificate_destroy(certificate);

    tk_certificate *none;
    tk_certify_options options = {.size = sizeof options, .total_seconds = -1};
    assert_refused(ctx, tk_certify(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, &options, &none), TK_BAD_ARGUMENT,
                   "must be 0 or more");
}

TEST_WITH_CONTEXT(grades)
{
    static const struct {
        spoiler how;
        const char *grade;
        const char *says;
        int64_t elements, nan;
        double median, worst;
    } cases[] = {
        {{.flip = 1, .first = 199}, "slight", "slight: 1 of 200 elements (0.5 %) wrong, by 1 ulp", 1, 0, 1, 1},
        {{.flip = 1, .first = 197},
         "slight",
         "slight: 3 of 200 elements (1.5 %) wrong, by at most 1 ulp",
         3,
         0,
         1,
         1},
        {{.flip = 4},
         "inexact",
         "inexact: all 200 elements wrong, half of them by at most 4 ulp, the worst by 4 ulp",
         200,
         0,
         4,
         4},
        {{.flip = 0x20, .first = 190}, "inexact", "the worst by 32 ulp", 10, 0, 64, 32},
        {{.flip = 0x8000, .first = 100}, "gross", "gross: 100 of 200 elements (50 %) wrong", 100, 0, INFINITY, 0},
        {{.put = 0x7e00, .first = 198},
         "gross",
         "gross: 2 of 200 elements (1 %) wrong, 2 NaN",
         2,
         2,
         INFINITY,
         INFINITY},
        {{.unwritten = true, .first = 199}, "structural", "structural (EMBEDDING_FWD.WRITE): ", 1, -1, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spoiler how = cases[i].how;
        tk_refutation r;
        tk_certificate *certificate = certify_spoiled(ctx, &how, "normal", false);
        assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
        assert_true(tk_certificate_refutation(certificate, &r));
        assert_string_equal(r.grade, cases[i].grade);
        if (!strstr(tk_certificate_headline(certificate), cases[i].says))
            fail_msg("%s: %s", cases[i].says, tk_certificate_headline(certificate));
        assert_int_equal(r.elements, cases[i].elements);
        assert_int_equal(r.judged, 200);
        if (cases[i].nan >= 0)
            assert_int_equal(r.nan, cases[i].nan);
        if (cases[i].worst > 0)
            assert_true(r.worst_ulp == cases[i].worst);
        if (cases[i].median > 0)
            assert_true(r.median_ulp == cases[i].median);
        assert_non_null(strstr(tk_certificate_markdown(certificate), "## Refutation\n"));
        tk_certificate_destroy(certificate);
    }
    spoiler right = {.first = INT64_MAX};
    tk_refutation none;
    tk_certificate *certificate = certify_spoiled(ctx, &right, NULL, true);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_false(tk_certificate_refutation(certificate, &none));
    assert_null(strstr(tk_certificate_markdown(certificate), "## Refutation"));
    tk_certificate_destroy(certificate);
}

/* Every trial is run and counted; without it, the first that fails ends the run. */
TEST_WITH_CONTEXT(keeps_going)
{
    size_t trials = 0;
    for (int keep_going = 0; keep_going <= 1; keep_going++) {
        spoiler how = {.flip = 1, .first = 199};
        tk_certificate *certificate = certify_spoiled(ctx, &how, NULL, keep_going);
        json_t *statement = statement_of(certificate);
        const json_t *predicate = predicate_of(statement);
        const json_t *run = json_object_get(predicate, "run");
        const json_t *refutation = json_object_get(json_object_get(predicate, "result"), "refutation");
        const json_t *clauses = json_object_get(refutation, "clauses");
        trials = json_array_size(json_object_get(run, "trials"));
        assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
        assert_int_equal(json_is_true(json_object_get(run, "keep_going")), keep_going);
        assert_int_equal(json_is_true(json_object_get(refutation, "complete")), keep_going);
        assert_true(keep_going ? trials > 5 : trials == 1);
        assert_int_equal(json_integer_value(json_object_get(refutation, "trials")), trials);
        assert_int_equal(json_integer_value(json_object_get(refutation, "of_trials")), trials);
        assert_int_equal(json_integer_value(json_object_get(refutation, "elements")), trials);
        assert_int_equal(json_integer_value(json_object_get(refutation, "of_elements")), 200 * trials);
        assert_int_equal(tk_certificate_elements(certificate), 200 * trials);
        assert_int_equal(json_array_size(clauses), 1);
        assert_int_equal(json_integer_value(json_object_get(json_array_get(clauses, 0), "elements")), trials);
        assert_int_equal(!strstr(tk_certificate_headline(certificate), " so far: "), keep_going);
        assert_non_null(strstr(tk_certificate_reproduce(certificate), "--shape queries=40,dim=5"));
        json_decref(statement);
        tk_certificate_destroy(certificate);
    }
    /* One that cannot go on stays refuted; one that only cannot be run stays unknown. */
    for (int wrong = 0; wrong <= 1; wrong++) {
        spoiler how = {.flip = 1, .first = wrong ? 199 : INT64_MAX, .refuses_infinity = true};
        tk_certificate *certificate = certify_spoiled(ctx, &how, NULL, true);
        assert_int_equal(tk_certificate_verdict(certificate), wrong ? TK_REFUTED : TK_UNKNOWN);
        assert_int_equal(!!strstr(tk_certificate_headline(certificate), " so far: "), wrong);
        assert_int_equal(!!strstr(tk_certificate_reason(certificate), "failure 42"), !wrong);
        tk_certificate_destroy(certificate);
    }
}

/* A verdict on nothing is none. */
TEST_WITH_CONTEXT(nothing_judged_is_unknown)
{
    static const int64_t empty[][3] = {{0, 3, 4}, {3, 0, 4}, {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        tk_certify_options options = TK_CERTIFY_DEFAULTS;
        options.dims = empty[i];
        tk_certificate *certificate = certify_one(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, options);
        assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
        assert_non_null(strstr(tk_certificate_reason(certificate), "nothing was judged"));
        /* What was checked all the same is listed. */
        json_t *statement = statement_of(certificate);
        const json_t *clauses = json_object_get(predicate_of(statement), "clauses");
        int held = 0;
        for (size_t k = 0; k < json_array_size(clauses); k++)
            held += !strcmp(json_string_value(json_object_get(json_array_get(clauses, k), "verdict")), "HELD");
        assert_int_equal(held, 3); /* WRITE, SHAPE, REPEAT */
        json_decref(statement);
        tk_certificate_destroy(certificate);
    }
}

/* A name is whatever the program chose; JSON is UTF-8, and a file name is a file name. */
TEST_WITH_CONTEXT(names_of_functions)
{
    int calls = 0;
    char many[401] = "";
    for (int i = 0; i < 200; i++)
        strcat(many, "\xc3\xa9"); /* longer than the place for it, which ends within a character */
    const char *const names[] = {"caf\xc3\xa9", "with \"quotes\" and \\", many, many + 2};
    for (int i = 0; i < 4; i++) {
        tk_certificate *certificate = certify_function(ctx, good_function, &calls, names[i]);
        assert_memory_equal(tk_certificate_subject(certificate), names[i], 5);
        const char *text = tk_certificate_json(certificate);
        tk_certificate *read;
        assert_ok(ctx, tk_certificate_parse(ctx, text, strlen(text), &read));
        tk_certificate_destroy(read);
        tk_certificate_destroy(certificate);
    }
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = good_function;
    options.kernel_data = &calls;
    options.kernel_name = "\xff\xfe not UTF-8";
    options.dims = (int64_t[]){3, 1, 2};
    tk_certificate *certificate = NULL;
    assert_refused(ctx, tk_certify(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, &options, &certificate),
                   TK_BAD_ARGUMENT, "UTF-8");
    assert_null(certificate);
    static const char *const bad[] = {"a/b", "../x", ".hidden", "."};
    for (int i = 0; i < 4; i++) {
        certificate = certify_function(ctx, good_function, &calls, bad[i]);
        assert_refused(ctx, tk_certificate_write(ctx, certificate, "out", NULL), TK_BAD_ARGUMENT,
                       "cannot be a file name");
        assert_int_equal(entries("out"), 0);
        tk_certificate_destroy(certificate);
    }
}

/* -- Trials that are not for every machine ------------------------------------------------------------------------------ */

/* One that needs more memory than any machine has is left out, and said to be. */
TEST_WITH_CONTEXT(what_memory_does_not_allow)
{
    const tk_contract *contract = tk_contract_find(quick_op);
    const tk_certify_options options = {.size = sizeof options, .level = TK_FULL, .seed = 5, .skip_mutants = true};
    tki_trial list[] = {{.c = tk_case_init(contract, TK_F16), .seed = 1, .where_memory_allows = true},
                        {.c = tk_case_init(contract, TK_F16), .seed = 2}};
    memcpy(list[0].c.dims, (int64_t[]){3, 5, INT64_C(1) << 50}, 3 * sizeof(int64_t));
    memcpy(list[1].c.dims, (int64_t[]){3, 5, 7}, 3 * sizeof(int64_t));
    for (int first = 0; first < 2; first++) {
        tki_trials trials = {.list = list + first, .count = 2 - first};
        tk_certificate *certificate = NULL;
        int64_t held = 0;
        assert_ok(ctx,
                  tki_certify_trials(ctx, contract, TK_F16, TK_I32, &options, NULL, &trials, &held, &certificate));
        assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
        assert_int_equal(held, trials.count);
        assert_true(tk_certificate_elements(certificate) >= 15);
        bool said = strstr(tk_certificate_json(certificate), "more than 2^32 elements were not tried") != NULL;
        assert_int_equal(said, first == 0);
        tk_certificate_destroy(certificate);
    }
}

/* -- Floating-point environments ---------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static uint64_t get_environment(void)
{
    return __builtin_ia32_stmxcsr() & 0xffc0; /* without what has happened so far */
}
static void set_environment(uint64_t bits)
{
    __builtin_ia32_ldmxcsr((unsigned)bits);
}
enum { ODD = 0x9fc0 | 0x4000 }; /* subnormal numbers are flushed, in and out; rounding upwards */
#else
static uint64_t get_environment(void)
{
    return __builtin_aarch64_get_fpcr();
}
static void set_environment(uint64_t bits)
{
    __builtin_aarch64_set_fpcr((unsigned)bits);
}
enum { ODD = 1 << 24 | 1 << 22 };
#endif

/* What -ffast-math does at a program's start, and torch.set_flush_denormal() at any time. */
TEST_WITH_CONTEXT(the_callers_environment)
{
    static const char *const ops[] = {"embedding_bwd", "softmax_bwd", "softmax_fwd", "gelu_bwd", "xent", "gemm"};
    static const char *const families[] = {"subnormal", "normal"};
    const uint64_t usual = get_environment();
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++) {
            tk_certify_options options = TK_CERTIFY_DEFAULTS;
            options.family = families[k];
            options.dims = (int64_t[]){33, 40, 17};
            set_environment(ODD);
            tk_certificate *certificate = NULL;
            tk_status status = tk_certify(ctx, tk_contract_find(ops[i]), TK_BF16, TK_I32, &options, &certificate);
            const uint64_t after = get_environment();
            set_environment(usual);
            assert_ok(ctx, status);
            assert_int_equal(after, ODD);
            if (tk_certificate_verdict(certificate) != TK_HELD)
                fail_msg("%s %s: %s", ops[i], families[k], tk_certificate_reason(certificate));
            tk_certificate_destroy(certificate);
        }
}

/* Flushes one element, and leaves its thread as such code does. */
static int flushing_function(const tk_case *c, void *const b[], void *data)
{
    int result = good_function(c, b, data);
    set_environment(ODD);
    return result;
}

TEST_WITH_CONTEXT(a_function_that_changes_the_environment)
{
    assert_ok(ctx, tk_ctx_set_threads(ctx, 1));
    int calls = 0;
    const uint64_t usual = get_environment();
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = flushing_function;
    options.kernel_data = &calls;
    options.family = "subnormal";
    tk_certificate *certificate = certify_one(ctx, tk_contract_find("embedding_bwd"), TK_BF16, TK_I32, options);
    assert_int_equal(get_environment(), usual);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    assert_non_null(strstr(tk_certificate_reason(certificate), ".WRITE: changed the floating-point mode"));
    tk_certificate_destroy(certificate);
}

/* -- Paths that are not UTF-8: main() below, started again from such a place -------------------------------------------- */

static int certify_here(void)
{
    tk_ctx *ctx;
    if (tk_ctx_create(&ctx) != TK_OK)
        return 1;
    int calls = 0;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = good_function;
    options.kernel_data = &calls;
    options.dims = (int64_t[]){3, 1, 2};
    tk_certificate *certificate = NULL;
    tk_status status = tk_certify(ctx, tk_contract_find(quick_op), TK_F16, TK_I32, &options, &certificate);
    if (status != TK_OK)
        fprintf(stderr, "%s\n", tk_ctx_message(ctx));
    bool good = status == TK_OK && strstr(tk_certificate_json(certificate), "/caf?/program\"");
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
    return good ? 0 : 1;
}

TEST(programs_in_any_directory)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = 0;
    assert_int_equal(mkdir("caf\xe9", 0777), 0); /* Latin-1 */
    char *command = NULL;
    assert_true(asprintf(&command, "cp '%s' 'caf\xe9/program'", self) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    *strrchr(self, '/') = 0;
    *strrchr(self, '/') = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("LD_LIBRARY_PATH", self, 1); /* its own search path was relative to where it lay */
        execl("caf\xe9/program", "program", "--certify-here", (char *)NULL);
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST_WITH_CONTEXT(bad_options)
{
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_certificate *made = NULL;
    uint64_t bits[3] = {0x3c00, 0, 0x10000};
    int64_t three[] = {3};
    const tk_certify_options defaults = TK_CERTIFY_DEFAULTS;
    assert_int_equal(tk_certify(NULL, contract, TK_F16, TK_I32, &defaults, &made), TK_BAD_ARGUMENT);
    assert_refused(ctx, tk_certify(ctx, NULL, TK_F16, TK_I32, &defaults, &made), TK_BAD_ARGUMENT, "no contract");
    assert_refused(ctx, tk_certify(ctx, contract, TK_F16, TK_I32, &defaults, NULL), TK_BAD_ARGUMENT, "no pointer");
    assert_refused(ctx, tk_certify(ctx, contract, TK_I64, TK_I32, &defaults, &made), TK_BAD_ARGUMENT, "i64");
    tk_certify_options mixed = TK_CERTIFY_DEFAULTS;
    mixed.result_dtype = &(const tk_dtype){TK_F32};
    assert_refused(ctx, tk_certify(ctx, contract, TK_F16, TK_I32, &mixed, &made), TK_BAD_ARGUMENT, "f16 and f32");

    struct {
        tk_certify_options options;
        const char *message;
    } bad[16] = {{.message = "level"},          {.message = "family"},        {.message = "no mutant"},
                 {.message = "give one of"},    {.message = "no lowering"},   {.message = "backend"},
                 {.message = "negative"},       {.message = "needs `shape`"}, {.message = "no input 'q'"},
                 {.message = "has 2 elements"}, {.message = "16-bit"},        {.message = "level"},
                 {.message = "no name"},        {.message = "is missing"}};
    for (int i = 0; i < 14; i++)
        bad[i].options = defaults;
    bad[0].options.level = (tk_level)7;
    bad[1].options.family = "nothing";
    bad[2].options.mutant = "nothing";
    bad[3].options.mutant = "all_zeros";
    bad[3].options.kernel = good_function;
    bad[4].options.lowering = "cpu.gelu_fwd.f16.nothing";
    bad[5].options.backend = "abacus";
    bad[6].options.dims = (int64_t[]){-1};
    bad[7].options.inputs = &(tk_given_input){"x", bits, 3};
    bad[7].options.input_count = 1;
    bad[8].options.inputs = &(tk_given_input){"q", bits, 3};
    bad[8].options.input_count = 1;
    bad[8].options.dims = three;
    bad[9].options.inputs = &(tk_given_input){"x", bits, 2};
    bad[9].options.input_count = 1;
    bad[9].options.dims = three;
    bad[10].options.inputs = &(tk_given_input){"x", bits, 3};
    bad[10].options.input_count = 1;
    bad[10].options.dims = three;
    bad[11].options.level = (tk_level)-1;
    bad[12].options.inputs = &(tk_given_input){NULL, bits, 3};
    bad[12].options.input_count = 1;
    bad[12].options.dims = three;
    bad[13].options.inputs = &(tk_given_input){"x", bits, 2};
    bad[13].options.input_count = 1;
    bad[13].options.dims = (int64_t[]){2};
    for (int i = 0; i < 14; i++) {
        const tk_contract *op = i == 13 ? tk_contract_find("gelu_bwd") : contract;
        tk_status status = tk_certify(ctx, op, TK_F16, TK_I32, &bad[i].options, &made);
        assert_int_equal(status, i == 5 ? TK_UNSUPPORTED : TK_BAD_ARGUMENT);
        if (!strstr(tk_ctx_message(ctx), bad[i].message))
            fail_msg("'%s' does not mention '%s'", tk_ctx_message(ctx), bad[i].message);
        assert_null(made);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--certify-here"))
        return certify_here();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_a_program_brings),
        cmocka_unit_test(time_of_the_whole_judgement),
        cmocka_unit_test(grades),
        cmocka_unit_test(keeps_going),
        cmocka_unit_test(nothing_judged_is_unknown),
        ENTERED(names_of_functions),
        cmocka_unit_test(what_memory_does_not_allow),
        cmocka_unit_test(the_callers_environment),
        cmocka_unit_test(a_function_that_changes_the_environment),
        ENTERED(programs_in_any_directory),
        cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests_name("certify", tests, NULL, NULL);
}
