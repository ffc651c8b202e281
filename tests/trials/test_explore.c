/* Coverage decides what is tried: kernels that are right but for one size, residue, thread count, alignment, option or element, of which
 * no list of trials knows, are refuted at quick, because an instrumented build leads there. What that build says helps nobody. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/certificate_test.h"
#include "tests/work_folder.h"
#include "trials/explore.h"

enum { SEED = 5 };

/* WRONG is a condition. The f16 sum of a product of small sizes is far from the sum and one. */
static const char gemm[] =
    "#include \"tokitai_kernel.h\"\n"
    "int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a,\n"
    "                 const void *b, void *c)\n"
    "{\n"
    "    for (int64_t i = 0; i < m; i++)\n"
    "        for (int64_t j = 0; j < n; j++) {\n"
    "            float sum = 0;\n"
    "            for (int64_t t = 0; t < k; t++)\n"
    "                sum += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);\n"
    "            if (WRONG)\n"
    "                sum = sum * 2 + 1;\n"
    "            tokitai_store(*call, c, i * n + j, sum);\n"
    "        }\n"
    "    return 0;\n"
    "}\n";

static const char lookup[] =
    "#include \"tokitai_kernel.h\"\n"
    "int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim,\n"
    "                          int64_t vocab, const void *index, const void *weight, void *out)\n"
    "{\n"
    "    const uint16_t *w = weight;\n"
    "    (void)vocab;\n"
    "    for (int64_t i = 0; i < queries; i++)\n"
    "        for (int64_t j = 0; j < dim; j++) {\n"
    "            int64_t row = tokitai_load_index(*call, index, i);\n"
    "            uint16_t x = w[row * dim + j];\n"
    "            if (WRONG)\n"
    "                x ^= 1;\n"
    "            ((uint16_t *)out)[i * dim + j] = x;\n"
    "        }\n"
    "    return 0;\n"
    "}\n";

/* With double arithmetic throughout, good enough for f16. */
static const char xent[] =
    "#include \"tokitai_kernel.h\"\n"
    "#include <math.h>\n"
    "int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *logits, const void *target,\n"
    "                 float *loss, void *grad)\n"
    "{\n"
    "    for (int64_t i = 0; i < rows; i++) {\n"
    "        const int64_t t = tokitai_load_index(*call, target, i);\n"
    "        const double s = call->label_smoothing;\n"
    "        double top = -INFINITY, sum = 0, all = 0;\n"
    "        int bad = 0;\n"
    "        for (int64_t j = 0; j < cols; j++) {\n"
    "            double x = tokitai_load(*call, logits, i * cols + j);\n"
    "            bad |= !(x < INFINITY);\n"
    "            top = x > top ? x : top;\n"
    "        }\n"
    "        bad |= top == -INFINITY;\n"
    "        for (int64_t j = 0; j < cols && !bad; j++)\n"
    "            sum += exp(tokitai_load(*call, logits, i * cols + j) - top);\n"
    "        for (int64_t j = 0; j < cols && s > 0; j++)\n"
    "            all += top - tokitai_load(*call, logits, i * cols + j) + log(sum);\n"
    "        double own = t == call->ignore_index ? 0 : top - tokitai_load(*call, logits, i * cols + t) + log(sum);\n"
    "        double value = (s < 1 ? (1 - s) * own : 0) + (s > 0 ? s / cols * all : 0);\n"
    "        loss[i] = t == call->ignore_index ? 0 : bad ? NAN : (float)value;\n"
    "        for (int64_t j = 0; j < cols; j++) {\n"
    "            double p = exp(tokitai_load(*call, logits, i * cols + j) - top) / sum;\n"
    "            double g = (p - (1 - s) * (j == t) - s / cols) * call->scale;\n"
    "            if (WRONG)\n"
    "                g = 7;\n"
    "            tokitai_store(*call, grad, i * cols + j, t == call->ignore_index ? 0 : bad ? NAN : (float)g);\n"
    "        }\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

/* The body in a function of the template's kind. */
static const char device[] =
    "#include \"tokitai_kernel.h\"\n"
    "#include <math.h>\n"
    "TOKITAI_DEVICE void item(tokitai_call call, int64_t n, const void *x, void *y, int64_t i)\n"
    "{\n"
    "    const double v = tokitai_load(call, x, i);\n"
    "    const double two_z = 2 * 0.79788456080286535588 * (v + 0.044715 * v * v * v);\n"
    "    (void)n;\n"
    "    if (WRONG)\n"
    "        tokitai_store(call, y, i, 1);\n"
    "    else\n"
    "        tokitai_store(call, y, i, (float)(v / (1 + exp(-two_z))));\n"
    "}\n"
    "int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)\n"
    "{\n"
    "    for (int64_t i = 0; i < n; i++)\n"
    "        item(*call, n, x, y, i);\n"
    "    return 0;\n"
    "}\n";

static const char softmax[] =
    "#include \"tokitai_kernel.h\"\n"
    "#include <math.h>\n"
    "int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)\n"
    "{\n"
    "#define X(j) ((double)tokitai_load(*call, x, r * cols + (j)))\n"
    "    for (int64_t r = 0; r < rows; r++) {\n"
    "        double top = -INFINITY, sum = 0;\n"
    "        for (int64_t j = 0; j < cols; j++)\n"
    "            top = fmax(top, X(j));\n"
    "        for (int64_t j = 0; j < cols; j++)\n"
    "            sum += exp(X(j) - top);\n"
    "        for (int64_t j = 0; j < cols; j++) {\n"
    "            double p = exp(X(j) - top) / sum;\n"
    "            if (WRONG)\n"
    "                p = 2;\n"
    "            tokitai_store(*call, y, r * cols + j, (float)p);\n"
    "        }\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

/* The kernel with that condition in its place, written to NAME.c in the folder of the test. */
static void write_kernel(const char *name, const char *kernel, const char *before, const char *wrong)
{
    char path[PATH_MAX];
    const char *place = strstr(kernel, "WRONG");
    snprintf(path, sizeof path, "%s.c", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_non_null(place);
    fprintf(file, "%s%.*s%s%s", before, (int)(place - kernel), kernel, wrong, place + strlen("WRONG"));
    assert_int_equal(fclose(file), 0);
}

static tk_certificate *judge(tk_ctx *ctx, const char *name, const char *op, const char *compiler,
                             tk_certify_options options)
{
    char path[PATH_MAX];
    tk_kernel_file *kernel;
    tk_certificate *certificate;
    tk_kernel_file_options how = {.size = sizeof how, .compiler = compiler};
    snprintf(path, sizeof path, "%s.c", name);
    assert_ok(ctx, tk_kernel_file_open(ctx, path, &how, &kernel));
    assert_string_equal(tk_kernel_file_problem(kernel), "");
    options.size = sizeof options;
    options.kernel_file = kernel;
    options.seed = SEED;
    options.skip_mutants = true;
    assert_ok(ctx, tk_certify(ctx, tk_contract_find(op), TK_F16, TK_I32, &options, &certificate));
    tk_kernel_file_close(kernel);
    return certificate;
}

static tk_ctx *open_context(void)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    return ctx;
}

/* Names of a kernel and of what is wrong with it. */
typedef struct wrong_kernel {
    const char *name, *op, *kernel, *condition;
    enum {
        BY_COVERAGE,
        BY_LIST,
        BY_CONSTANTS
    } by; /* what alone may find it: the level's own trials, calls with its constants */
    const char *before;
} wrong_kernel;

static const wrong_kernel wrong_kernels[] = {
    {"one_size", "gemm", gemm, "k == 1192", BY_CONSTANTS, ""},
    {"one_size_far_out", "gemm", gemm, "m == 20011", BY_CONSTANTS, ""},
    {"residue", "gemm", gemm, "n % 197 == 55", BY_LIST, ""},
    {"quotient", "gemm", gemm, "k / 64 == 23", BY_LIST, ""},
    {"product_of_sizes", "gemm", gemm, "m * n == 3 * 1237", BY_LIST, ""},
    {"range", "gemm", gemm, "k > 3000 && k < 3010", BY_LIST, ""},
    {"three_sizes", "gemm", gemm, "m % 48 == 0 && n % 48 == 0 && k == 33", BY_LIST, ""},
    {"divisor_in_the_code_alone", "gemm", gemm, "n % PANEL == 0 && n > 0", BY_CONSTANTS,
     "enum { LANES = 31, ROWS = LANES + LANES, PANEL = ROWS * LANES + LANES + 2 };\n"},
    {"threads", "gemm", gemm, "call->threads == 7", BY_LIST, ""},
    {"pattern", "embedding_fwd", lookup, "x == 0x4242", BY_LIST, ""},
    {"index", "embedding_fwd", lookup, "row == 4321", BY_LIST, ""},
    {"place_in_row", "embedding_fwd", lookup, "j == 2741", BY_LIST, ""},
    {"ignore_index", "xent", xent, "call->ignore_index == 1234567", BY_LIST, ""},
    {"smoothing", "xent", xent, "call->label_smoothing == 0.375f", BY_LIST, ""},
    {"scale", "xent", xent, "call->scale > 700.5f && call->scale < 701.0f", BY_LIST, ""},
    {"one_scale", "xent", xent, "call->scale == 0.3217f", BY_CONSTANTS, ""},
    {"two_options", "xent", xent, "call->label_smoothing == 0.35f && call->scale == 3.5f", BY_COVERAGE, ""},
    {"three_given_sizes", "gemm", gemm, "m == 37 && n == 53 && k == 71", BY_COVERAGE, ""},
    {"row_of_given_width", "softmax_fwd", softmax, "r == 300 && cols == 17", BY_LIST, ""},
    {"two_elements", "softmax_fwd", softmax, "j == 0 && cols > 1 && X(0) == 7.25 && X(1) == -1.5", BY_COVERAGE, ""},
    {"size_in_a_device_function", "gelu_fwd", device, "n == 7919 && i == n - 1", BY_COVERAGE, ""},
};

TEST(every_condition_is_found)
{
    tk_ctx *ctx = open_context();
    int by_coverage = 0;
    for (size_t i = 0; i < sizeof wrong_kernels / sizeof *wrong_kernels; i++) {
        const wrong_kernel *w = &wrong_kernels[i];
        write_kernel(w->name, w->kernel, w->before, w->condition);
        tk_certificate *certificate = judge(ctx, w->name, w->op, NULL, TK_CERTIFY_DEFAULTS);
        if (tk_certificate_verdict(certificate) != TK_REFUTED)
            fail_msg("seed %d: `if (%s)` in %s was not found: %s", SEED, w->condition, w->op,
                     tk_certificate_headline(certificate));
        assert_true(tk_certificate_reproduce(certificate)[0]);
        tk_certificate_destroy(certificate);
        if (w->by == BY_LIST)
            continue;
        certificate = judge(ctx, w->name, w->op, NULL, (tk_certify_options){.skip_coverage = true});
        if (w->by == BY_CONSTANTS && tk_certificate_verdict(certificate) != TK_REFUTED)
            fail_msg("seed %d: `if (%s)` in %s was not found by its constants", SEED, w->condition, w->op);
        by_coverage += tk_certificate_verdict(certificate) == TK_HELD;
        assert_string_equal(tki_certificate_text(certificate, "coverage.reason"), "coverage was not requested");
        tk_certificate_destroy(certificate);
    }
    assert_true(by_coverage > 0);
    tk_ctx_destroy(ctx);
}

TEST(clang_instruments_too)
{
    if (system("clang --version >/dev/null 2>&1"))
        skip();
    tk_ctx *ctx = open_context();
    write_kernel("by_clang", gemm, "", "k == 1192");
    tk_certificate *certificate = judge(ctx, "by_clang", "gemm", "clang", TK_CERTIFY_DEFAULTS);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

TEST(lines_that_never_ran_are_named)
{
    tk_ctx *ctx = open_context();
    int64_t run;
    write_kernel("unreachable", gemm, "", "call->threads < 0");
    tk_certificate *certificate = judge(ctx, "unreachable", "gemm", NULL, TK_CERTIFY_DEFAULTS);
    assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
    assert_string_equal(tk_certificate_headline(certificate), "HELD, 1 line never ran: 11");
    int64_t count = tk_certificate_lines(certificate, &run);
    assert_int_equal(run, count - 1);
    assert_true(tki_certificate_integer(certificate, "coverage.edges") >
                tki_certificate_integer(certificate, "coverage.blocks"));
    assert_non_null(strstr(tk_certificate_markdown(certificate), "| lines that no judged call ran | 11 |"));
    char *difference = NULL;
    bool same = false;
    int64_t not_listed;
    assert_ok(ctx, tk_certificate_replay(ctx, certificate, NULL, &same, &not_listed, &difference));
    if (!same)
        fail_msg("replay: %s", difference ? difference : "");
    free(difference);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

/* A branch that a compiler could do without is one, and its line has not run. */
static const char selecting[] =
    "#include \"tokitai_kernel.h\"\n"
    "int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim,\n"
    "                          int64_t vocab, const void *index, const void *w, void *out)\n"
    "{\n"
    "    int bad = 0;\n"
    "    (void)vocab;\n"
    "    if (WRONG)\n"
    "        if (dim >= 0)\n"
    "            bad = 1;\n"
    "    for (int64_t i = 0; i < queries * dim; i++) {\n"
    "        int64_t row = tokitai_load_index(*call, index, i / dim);\n"
    "        ((uint16_t *)out)[i] = ((const uint16_t *)w)[row * dim + i % dim] ^ bad;\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

TEST(a_select_is_a_branch)
{
    tk_ctx *ctx = open_context();
    write_kernel("selecting", selecting, "", "call->abi == 77");
    tk_certificate *certificate = judge(ctx, "selecting", "embedding_fwd", NULL, TK_CERTIFY_DEFAULTS);
    assert_string_equal(tk_certificate_headline(certificate), "HELD, 2 lines never ran: 8-9");
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

static tk_status find_no_memory(void *data, const tki_trial *trial, bool *stop)
{
    (void)data;
    (void)trial;
    *stop = true;
    return TK_NO_MEMORY;
}

/* Neither a trial of the list that is for other machines, nor one that this machine turns out to have no memory for, nor
 * one that was found, ends it. */
TEST(trials_without_memory_are_passed_over)
{
    tk_ctx *ctx = open_context();
    const tk_contract *contract = tk_contract_find("gelu_fwd");
    tk_kernel_file *kernel;
    tki_trials trials;
    tki_exploration found;
    write_kernel("device", device, "", "n == 7919");
    assert_ok(ctx, tk_kernel_file_open(ctx, "device.c", NULL, &kernel));
    tk_certify_options options = {.size = sizeof options, .seed = SEED, .kernel_file = kernel};
    assert_ok(ctx, tki_trials_make(ctx, contract, TK_F16, TK_I32, &options, &trials));
    for (int64_t i = 0; i < 2; i++) {
        trials.list[i].c.dims[0] = INT64_C(1) << 60;
        trials.list[i].where_memory_allows = i == 0;
    }
    assert_ok(ctx, tki_explore(ctx, contract, &options, &trials, 1, find_no_memory, NULL, &found));
    assert_true(found.known);
    assert_true(found.unwatched > 2);
    assert_int_equal(found.found, 0);
    tki_exploration_free(&found);
    free(trials.list);
    tk_kernel_file_close(kernel);
    tk_ctx_destroy(ctx);
}

/* A kernel that knows the instrumented build when it runs: its own library refers to gcov's part. What it does then is up to it. */
#define IS_INSTRUMENTED                                                                                              \
    "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"                                                 \
    "static int instrumented(void)\n"                                                                                \
    "{\n"                                                                                                            \
    "    static int known = -1;\n"                                                                                   \
    "    char line[512];\n"                                                                                          \
    "    FILE *maps = known < 0 ? fopen(\"/proc/self/maps\", \"r\") : NULL;\n"                                       \
    "    unsigned long begin, end;\n"                                                                                \
    "    known = known > 0;\n"                                                                                       \
    "    while (maps && fgets(line, sizeof line, maps))\n"                                                           \
    "        if (strstr(line, \"rw-s\") && sscanf(line, \"%lx-%lx\", &begin, &end) == 2 && end - begin > 600000 && " \
    "end - begin < 2000000)\n"                                                                                       \
    "            known = 1;\n"                                                                                       \
    "    if (maps)\n"                                                                                                \
    "        fclose(maps);\n"                                                                                        \
    "    return known;\n"                                                                                            \
    "}\n"

static void assert_not_covered(tk_ctx *ctx, const char *name, tk_verdict verdict, const char *reason)
{
    int64_t run;
    tk_certificate *certificate = judge(ctx, name, "gemm", NULL, TK_CERTIFY_DEFAULTS);
    assert_int_equal(tk_certificate_verdict(certificate), verdict);
    assert_false(json_is_true(tki_certificate_get(certificate, "coverage.known")));
    if (!strstr(tki_certificate_text(certificate, "coverage.reason"), reason))
        fail_msg("%s: %s", name, tki_certificate_text(certificate, "coverage.reason"));
    assert_int_equal(tk_certificate_lines(certificate, &run), -1);
    tk_certificate_destroy(certificate);
}

TEST(a_bad_instrumented_build_costs_coverage_alone)
{
    tk_ctx *ctx = open_context();
    write_kernel("does_not_link", gemm,
                 "void __sanitizer_cov_trace_pc(void);\nvoid __sanitizer_cov_trace_pc(void) {}\n", "0");
    assert_not_covered(ctx, "does_not_link", TK_UNKNOWN, "tell an instrumented build from the judged one");
    write_kernel("crashes", gemm, IS_INSTRUMENTED, "(instrumented() ? abort() : (void)0, 0)");
    assert_not_covered(ctx, "crashes", TK_HELD, "signal 6");
    write_kernel("refuses", gemm, IS_INSTRUMENTED, "({ if (instrumented()) return 9; 0; })");
    assert_not_covered(ctx, "refuses", TK_HELD, "9");
    tk_ctx_destroy(ctx);
}

/* Writes over all memory that it shares with anybody, or just fills the tables. */
static const char forger[] =
    "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
    "static int forge(void)\n"
    "{\n"
    "    static int calls;\n"
    "    int forged = 0;\n"
    "    if (calls++ % 997)\n"
    "        return 0;\n"
    "    FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n"
    "    unsigned long begin, end;\n"
    "    char line[512];\n"
    "    while (maps && fgets(line, sizeof line, maps))\n"
    "        if (strstr(line, \"rw-s\") && sscanf(line, \"%lx-%lx\", &begin, &end) == 2 && end - begin > 600000 && "
    "end - begin < 2000000 && *(uint32_t *)begin == 0x31434b54) {\n"
    "            memset((void *)(begin + BYTES_KEPT), 0xff, end - begin - BYTES_KEPT);\n"
    "            forged = 1;\n"
    "        }\n"
    "    if (maps)\n"
    "        fclose(maps);\n"
    "    return forged;\n"
    "}\n";

TEST(forged_reports_do_not_help)
{
    static const char *const kept[] = {"#define BYTES_KEPT 0\n", "#define BYTES_KEPT 4\n"};
    tk_ctx *ctx = open_context();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char before[4096];
        snprintf(before, sizeof before, "%s%s", kept[i], forger);
        /* The right one stays HELD, whatever is said of it. */
        write_kernel("forger", gemm, before, "0 * forge()");
        tk_certificate *certificate = judge(ctx, "forger", "gemm", NULL, TK_CERTIFY_DEFAULTS);
        assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
        tk_certificate_destroy(certificate);
        /* The wrong one is found by the level's own trials. */
        if (i > 0)
            continue;
        write_kernel("wrong_forger", gemm, before, "!forge() && m == 2");
        certificate = judge(ctx, "wrong_forger", "gemm", NULL, TK_CERTIFY_DEFAULTS);
        assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

/* Blocks taken by threads as they come: what is tried must not depend on who was first. */
static const char racing[] =
    "#include \"tokitai_kernel.h\"\n"
    "int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a,\n"
    "                 const void *b, void *c)\n"
    "{\n"
    "#pragma omp parallel for schedule(dynamic, 1) num_threads(call->threads)\n"
    "    for (int64_t e = 0; e < m * n; e++) {\n"
    "        float sum = 0;\n"
    "        for (int64_t t = 0; t < k; t++)\n"
    "            sum += tokitai_load(*call, a, e / n * k + t) * tokitai_load(*call, b, t * n + e % n);\n"
    "        if (m == 37 && n == 53 && k == 71)\n"
    "            sum += 0;\n"
    "        if (WRONG)\n"
    "            sum = 0;\n"
    "        tokitai_store(*call, c, e, sum);\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

TEST(same_seed_same_trials)
{
    json_t *first = NULL;
    for (int round = 0; round < 2; round++) {
        tk_ctx *ctx = open_context();
        assert_ok(ctx, tk_ctx_set_threads(ctx, 1 + 3 * round));
        write_kernel("racing", racing, "", "k == 777777777");
        tk_kernel_file *kernel;
        tk_certificate *certificate;
        tk_kernel_file_options how = {.size = sizeof how, .flags = "-O2 -fopenmp"};
        assert_ok(ctx, tk_kernel_file_open(ctx, "racing.c", &how, &kernel));
        tk_certify_options options = {
            .size = sizeof options, .seed = SEED, .skip_mutants = true, .kernel_file = kernel};
        assert_ok(ctx, tk_certify(ctx, tk_contract_find("gemm"), TK_F16, TK_I32, &options, &certificate));
        assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
        json_t *statement = statement_of(certificate);
        json_t *predicate = predicate_of(statement);
        json_t *seen = json_pack("[O, O]", json_object_get(json_object_get(predicate, "run"), "trials"),
                                 json_object_get(predicate, "coverage"));
        if (first && !json_equal(first, seen))
            fail_msg("seed %d, %d threads: other trials or coverage than with one\n%s\n%s", SEED, 1 + 3 * round,
                     json_dumps(json_array_get(first, 1), 0), json_dumps(json_array_get(seen, 1), 0));
        if (!first)
            first = json_incref(seen);
        json_decref(seen);
        json_decref(statement);
        tk_certificate_destroy(certificate);
        tk_kernel_file_close(kernel);
        tk_ctx_destroy(ctx);
    }
    assert_true(json_integer_value(json_object_get(json_array_get(first, 1), "found")) > 0);
    json_decref(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(every_condition_is_found),
        ENTERED(clang_instruments_too),
        ENTERED(lines_that_never_ran_are_named),
        ENTERED(a_select_is_a_branch),
        ENTERED(trials_without_memory_are_passed_over),
        ENTERED(a_bad_instrumented_build_costs_coverage_alone),
        ENTERED(forged_reports_do_not_help),
        ENTERED(same_seed_same_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
