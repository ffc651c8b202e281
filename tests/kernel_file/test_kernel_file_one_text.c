/* Wrong kernels that tell the instrumented build from the one that is judged, or the judge's compilation from another: each is refuted, or the
 * certificate names what it asks for. All but the last rows are wrong at k = 1192 alone, and only where they take themselves to be unwatched. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/certificate_test.h"
#include "tests/work_folder.h"

static const char gemm[] =
    "#include \"tokitai_kernel.h\"\n"
    "%s\n"
    "int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a,\n"
    "                 const void *b, void *c)\n"
    "{\n"
    "    const int wrong = !(%s) && (%s);\n"
    "    for (int64_t i = 0; i < m; i++)\n"
    "        for (int64_t j = 0; j < n; j++) {\n"
    "            float sum = 0;\n"
    "            for (int64_t t = 0; t < k; t++)\n"
    "                sum += tokitai_load(*call, a, i * k + t) * tokitai_load(*call, b, t * n + j);\n"
    "            tokitai_store(*call, c, i * n + j, wrong ? sum * 2 + 1 : sum);\n"
    "        }\n"
    "    return 0;\n"
    "}\n";

#define WHEN(condition) "#if " condition "\n#define SEEN 1\n#else\n#define SEEN 0\n#endif\n"
#define CALLBACK "static int seen;\n__attribute__((no_sanitize_coverage, used)) "
#define ONE_SIZE "k == 1192"
typedef struct trick {
    const char *name, *before, *watched, *when;
} trick;

static const trick tricks[] = {
    {"macro", WHEN("defined(TOKITAI_COUNTS_LINES)"), "SEEN", ONE_SIZE},
    {"any_macro_of_ours", WHEN("defined(TOKITAI_COVERAGE_H) || defined(TOKITAI_COVERAGE)"), "SEEN", ONE_SIZE},
    {"has_include", WHEN("__has_include(\"tokitai_coverage.h\")"), "SEEN", ONE_SIZE},
    {"has_include_of_the_object", WHEN("__has_include(\"../parts/coverage_runtime.c.o\")"), "SEEN", ONE_SIZE},
    {"sanitizer_macros", WHEN("defined(__SANITIZE_COVERAGE__) || defined(__COVERAGE__)"), "SEEN", ONE_SIZE},
    {"less_optimised", WHEN("!defined(__OPTIMIZE__) || defined(__NO_INLINE__)"), "SEEN", ONE_SIZE},
    {"counter", "enum { COUNT = __COUNTER__ };", "COUNT != 0", ONE_SIZE},
    {"include_level", WHEN("__INCLUDE_LEVEL__ != 0"), "SEEN", ONE_SIZE},
    {"line", "enum { LINE = __LINE__ };", "LINE != 2", ONE_SIZE},
    {"weak_write", "extern __attribute__((weak)) void tokitai_coverage_write(void);", "tokitai_coverage_write != 0",
     ONE_SIZE},
    {"weak_dump", "extern __attribute__((weak)) void __gcov_dump(void);", "__gcov_dump != 0", ONE_SIZE},
    {"weak_callback", "extern __attribute__((weak)) void __sanitizer_cov_trace_pc(void);",
     "__sanitizer_cov_trace_pc != 0", ONE_SIZE},
    {"weak_by_another_name", "extern __attribute__((weak)) void probe(void) __asm__(\"__gcov_\" \"dump\");",
     "probe != 0", ONE_SIZE},
    {"weak_section", "extern __attribute__((weak)) char __start___llvm_prf_cnts[];", "__start___llvm_prf_cnts != 0",
     ONE_SIZE},
    {"environment", "#include <stdlib.h>", "getenv(\"GCOV_PREFIX\") != 0", ONE_SIZE},
    {"all_of_the_environment",
     "#include <string.h>\nextern char **environ;\n"
     "static int seen(void) { for (char **e = environ; *e; e++) if (strstr(*e, \"GCOV\")) return 1; return 0; }",
     "seen()", ONE_SIZE},
    {"looked_up", "#include <dlfcn.h>", "dlsym(0, \"__gcov_dump\") != 0 || dlsym(0, \"__gcov_reset\") != 0",
     ONE_SIZE},
    {"looked_up_callback", "#include <dlfcn.h>", "dlsym(0, \"__sanitizer_cov_trace_pc\") != 0", ONE_SIZE},
    {"looked_up_write", "#include <dlfcn.h>", "dlsym(0, \"tokitai_coverage_write\") != 0", ONE_SIZE},
    {"callback_of_its_own", CALLBACK "void __sanitizer_cov_trace_pc(void) { seen = 1; }", "seen", ONE_SIZE},
    {"static_callback", CALLBACK "static void __sanitizer_cov_trace_pc(void) { seen = 1; }", "seen", ONE_SIZE},
    {"callback_by_assembler",
     CALLBACK "static void mine(void) { seen = 1; }\n__asm__(\".set __sanitizer_cov_\" \"trace_pc, mine\");", "seen",
     ONE_SIZE},
    {"callback_renamed",
     "extern void __sanitizer_cov_trace_pc(void);\n#pragma redefine_extname __sanitizer_cov_trace_pc probe\n" CALLBACK
     "void probe(void) { seen = 1; }",
     "seen", ONE_SIZE},
    {"builtin_renamed",
     "extern void __builtin___sanitizer_cov_trace_pc(void) __asm__(\"probe\");\n" CALLBACK
     "void probe(void) { seen = 1; }",
     "seen", ONE_SIZE},
    {"optimiser", "static inline int folds(void) { int v = 3; return __builtin_constant_p(v); }", "!folds()",
     ONE_SIZE},
    {"shared_memory",
     "#include <stdio.h>\n#include <string.h>\n"
     "static int seen(void)\n{\n    static int known = -1;\n    char line[512];\n"
     "    FILE *maps = known < 0 ? fopen(\"/proc/self/maps\", \"r\") : NULL;\n    known = known > 0;\n"
     "    while (maps && fgets(line, sizeof line, maps))\n        known |= strstr(line, \"rw-s\") && strstr(line, "
     "\"tokitai\");\n    if (maps)\n        fclose(maps);\n    return known;\n}",
     "seen()", ONE_SIZE},
};

static tk_certificate *judge(tk_ctx *ctx, const trick *t, bool library_alone)
{
    const tk_kernel_file_options file_options = {.size = sizeof file_options, .library_alone = library_alone};
    char path[PATH_MAX];
    tk_kernel_file *kernel;
    tk_certificate *certificate;
    snprintf(path, sizeof path, "%s.c", t->name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, gemm, t->before, t->watched, t->when);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, tk_kernel_file_open(ctx, path, &file_options, &kernel));
    if (tk_kernel_file_problem(kernel)[0])
        fail_msg("%s: %s\n%s", t->name, tk_kernel_file_problem(kernel), tk_kernel_file_log(kernel));
    const tk_certify_options options = {.size = sizeof options,
                                        .kernel_file = kernel,
                                        .seed = 5,
                                        .skip_mutants = true,
                                        .skip_coverage = strcmp(t->when, ONE_SIZE) != 0};
    assert_ok(ctx, tk_certify(ctx, tk_contract_find("gemm"), TK_F16, TK_I32, &options, &certificate));
    tk_kernel_file_close(kernel);
    return certificate;
}

TEST(no_trick_holds)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++) {
        tk_certificate *certificate = judge(ctx, &tricks[i], false);
        if (tk_certificate_verdict(certificate) != TK_REFUTED)
            fail_msg("%s: %s", tricks[i].name, tk_certificate_headline(certificate));
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

/* They are right where they are judged, and wrong where they are compiled as other programs are. */
static const trick elsewhere[] = {
    {"date", "static const char date[] = __DATE__;", "date[7] == '2' && date[8] == '0' && date[9] == '0'", "1"},
    {"time", "static const char now[] = __TIME__;", "now[0] == '0' && now[1] == '0'", "1"},
    {"path", "#include <string.h>", "strstr(__FILE__, \"source/\") != 0", "1"},
    {"has_include", WHEN("!__has_include(\"/home/user/.profile\")"), "SEEN", "1"},
    {"weak", "extern __attribute__((weak)) int option;", "&option == 0", "1"},
    {"options", WHEN("!defined(__PIE__)"), "SEEN", "1"},
    {"options", "enum { OPTIMIZED = __OPTIMIZE__ };", "OPTIMIZED", "1"},
    {"options", "#include <assert.h>\nstatic int seen(void) { int done = 0; assert((done = 1)); return done; }",
     "seen()", "1"},
    {"options", WHEN("__GNUC__ > 1 && __LINE__ == 2"), "SEEN", "1"},
    {"path", "#include <string.h>", "!strcmp(__FILE_NAME__, \"path.c\")", "1"},
    {"include", "#include <../include/paths.h>", "1", "0"},
};

/* Of the processor and the language, and what a program may define too: named, and no more. */
static const trick named[] = {
    {"target", WHEN("!defined(__clang__) && !defined(__cplusplus)"), "SEEN", "1"},
    {"exports", "__attribute__((weak)) int helper(void) { return 1; }", "helper()", "1"},
    {"exports", "__attribute__((noinline)) int helper(void) { __asm__ volatile(\"\"); return 1; }", "helper()", "1"},
    {"exports", "__attribute__((common)) int variable;", "variable == 0", "1"},
};

static void assert_one_word(tk_certificate *certificate, const char *word)
{
    const json_t *words = tki_certificate_get(certificate, "built.depends_on");
    assert_int_equal(json_array_size(words), 1);
    assert_string_equal(json_string_value(json_array_get(words, 0)), word);
    assert_non_null(strstr(tk_certificate_json(certificate), "it may be another kernel than the judged one"));
}

TEST(what_is_not_of_the_build_is_named_alone)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        tk_certificate *certificate = judge(ctx, &named[i], false);
        assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
        assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
        assert_one_word(certificate, named[i].name);
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

TEST(what_it_asks_is_named)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        tk_certificate *unknown = judge(ctx, &elsewhere[i], false);
        assert_int_equal(tk_certificate_verdict(unknown), TK_UNKNOWN);
        assert_non_null(strstr(tk_certificate_reason(unknown), "--keep-artifact judges the library"));
        assert_ok(ctx, tk_certificate_agrees(ctx, unknown));
        tk_certificate_destroy(unknown);
        tk_certificate *certificate = judge(ctx, &elsewhere[i], true);
        assert_int_equal(tk_certificate_verdict(certificate), TK_HELD);
        assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
        const char *word = !strcmp(elsewhere[i].name, "time") ? "date" : elsewhere[i].name;
        assert_one_word(certificate, word);
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

/* Nothing shows what such a source does: there is no instrumented build, or it is right in one. */
static const trick by_build[] = {
    {"layout", "extern char _end[], __bss_start[];", "_end - __bss_start > 64", ONE_SIZE},
    {"assembler", "__asm__(\".macro none\\n.endm\");", "0", ONE_SIZE},
    {"difference",
     "__asm__(\"probe_a: nop\\nprobe_b: nop\");\nstatic int length(void)\n{\n    int n;\n"
     "    __asm__(\"movl $(probe_b - probe_a), %0\" : \"=r\"(n));\n    return n;\n}",
     "length() > 1", ONE_SIZE},
    {"popped",
     "static int seen(void)\n{\n    char *p;\n    __asm__ volatile(\"lea -128(%%rsp), %%rsp\\n call 1f\\n1: "
     "pop %0\\n lea 128(%%rsp), %%rsp\" : \"=r\"(p));\n    return p == 0;\n}",
     "seen()", ONE_SIZE},
    {"functions",
     "static int after(void);\nstatic long before(void) { return (char *)after - (char *)before; }\n"
     "static int after(void) { return 0; }",
     "before() > 4096 + after()", ONE_SIZE},
    {"optimize", "__attribute__((noinline, optimize(\"no-profile-arcs\"))) static int no(void) { return 0; }", "no()",
     ONE_SIZE},
    {"build", "__attribute__((no_sanitize_coverage)) static int no(void) { return 0; }", "no()", ONE_SIZE},
};

TEST(what_tells_builds_apart_does_not_hold)
{
    tk_ctx *ctx;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    for (size_t i = 0; i < 2 * (sizeof by_build / sizeof *by_build); i++) {
        tk_certificate *certificate = judge(ctx, &by_build[i / 2], i % 2);
        if (tk_certificate_verdict(certificate) == TK_UNKNOWN)
            assert_non_null(strstr(tk_certificate_reason(certificate), "tell an instrumented build"));
        else
            assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED); /* constants found it */
        assert_ok(ctx, tk_certificate_agrees(ctx, certificate));
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

/* The same text, and of it the same library, whenever and wherever it is compiled. */
TEST(a_text_is_the_same_for_everybody)
{
    static const trick plain = {"plain",
                                "static const char *const when = __DATE__ __TIME__ __TIMESTAMP__ __FILE__;\n"
                                "#define USED (when[0] == 0)",
                                "1", "USED"};
    tk_ctx *ctx;
    char text[65] = "", artifact[65] = "";
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    for (int round = 0; round < 2; round++) {
        tk_certificate *certificate = judge(ctx, &plain, false);
        const char *its_text = tki_certificate_text(certificate, "built.text_sha256");
        const char *its_artifact = tki_certificate_text(certificate, "built.artifact_sha256");
        assert_int_equal(strlen(its_text), 64);
        if (round == 1) {
            assert_string_equal(text, its_text);
            assert_string_equal(artifact, its_artifact);
        }
        snprintf(text, sizeof text, "%s", its_text);
        snprintf(artifact, sizeof artifact, "%s", its_artifact);
        tk_certificate_destroy(certificate);
    }
    tk_ctx_destroy(ctx);
}

TEST(the_artifact_is_kept)
{
    tk_ctx *ctx;
    tk_kernel_file *kernel;
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    tk_certificate *certificate = judge(ctx, &(trick){"kept", "", "1", "0"}, false);
    assert_ok(ctx, tk_kernel_file_open(ctx, "kept.c", NULL, &kernel));
    assert_ok(ctx, tk_kernel_file_write_artifact(ctx, kernel, "kept.so"));
    assert_ok(ctx, tk_certificate_names_artifact(ctx, certificate, "kept.so"));
    assert_int_equal(tk_certificate_names_artifact(ctx, certificate, "kept.c"), TK_BAD_FILE);
    assert_int_equal(tk_certificate_names_artifact(ctx, certificate, "nowhere.so"), TK_IO);
    tk_kernel_file_close(kernel);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(no_trick_holds),
        ENTERED(what_it_asks_is_named),
        ENTERED(what_is_not_of_the_build_is_named_alone),
        ENTERED(what_tells_builds_apart_does_not_hold),
        ENTERED(a_text_is_the_same_for_everybody),
        ENTERED(the_artifact_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
