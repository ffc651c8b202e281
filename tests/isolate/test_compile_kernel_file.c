/* Users' sources are compiled where the compiler can neither read nor write what is not its business. */
#include "core/clock.h"
#include "isolate/worker_process.h"
#include "tests/fake_gpu/begin.h"
#include "tests/op_test.h"
#include "tests/worker_test.h"
#include "worker/sandbox.h"

static char sources[48]; /* a folder for them */

static const char *write_source(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", sources, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fchmod(fileno(file), 0755);
    fclose(file);
    return path;
}

static int begin(void **state)
{
    snprintf(sources, sizeof sources, "/var/tmp/tokitai-sources-XXXXXX");
    assert_non_null(mkdtemp(sources));
    return begin_worker_test(state);
}

static int end(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", sources);
    return system(command) || end_worker_test(state);
}

#define COPY_KERNEL                                                                       \
    "#include \"tokitai_kernel.h\"\n"                                                     \
    "#include <string.h>\n"                                                               \
    "int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)\n" \
    "{ (void)call; memcpy(y, x, n * 2); return 0; }\n"

static void assert_copies(tk_ctx *ctx, const char *artifact, const char *backend)
{
    uint16_t x[7] = {1, 2, 3, 4, 5, 6, 7}, y[7] = {0};
    void *buffers[] = {x, y};
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    c.dims[0] = 7;
    tki_worker *worker;
    tki_overrun overrun;
    assert_ok(ctx, tki_worker_open(ctx, artifact, c.contract,
                                   &(tki_worker_options){.backend = tki_backend_find(backend, "")}, &worker));
    assert_ok(ctx, tki_worker_call(worker, &c, buffers, 1, NULL, &overrun));
    assert_memory_equal(x, y, sizeof x);
    assert_int_equal(overrun.param, -1);
    tki_worker_close(worker);
}

static char include[PATH_MAX], made_include[PATH_MAX];
static const char *const includes[] = {include, made_include, NULL};

static tki_worker_source source_of(const char *file)
{
    snprintf(include, sizeof include, "%s/include", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : "..");
    snprintf(made_include, sizeof made_include, "%s/include", getenv("BUILD_DIR") ? getenv("BUILD_DIR") : ".");
    return (tki_worker_source){.file = file, .includes = includes, .seconds = 60};
}

TEST_WITH_CONTEXT(good_sources)
{
    static const char *const names[] = {"copy.c", "copy.cpp"};
    for (int i = 0; i < 2; i++) {
        tki_worker_build build, taken;
        tki_worker_source source = source_of(write_source(names[i], COPY_KERNEL));
        if (i == 0)
            source.flags = " -O1  -Wall ";
        tk_status status = tki_worker_compile(ctx, &source, &build);
        if (status != TK_OK)
            fail_msg("%s\n%s\n%s", build.command, build.log, tk_ctx_message(ctx));
        assert_non_null(strstr(build.command, i ? "-O2 -fPIC -shared" : "-O1 -Wall -fPIC -shared"));
        assert_non_null(strstr(report_text(&build.confinement), "seccomp: for compilers"));
        assert_string_equal(build.log, "");
        assert_copies(ctx, build.artifact, "cpu");
        /* A library is taken as it is. */
        source.file = build.artifact;
        assert_ok(ctx, tki_worker_compile(ctx, &source, &taken));
        assert_string_equal(taken.artifact, build.artifact);
        tki_worker_build_close(&taken);
        assert_int_equal(access(build.artifact, R_OK), 0);
        tki_worker_build_close(&build);
        assert_nothing_left();
    }
}

/* An exception that leaves the kernel ends the process, not the judge. */
TEST(exceptions)
{
    tk_ctx *ctx = new_context();
    uint16_t x[3] = {0}, y[3] = {0};
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    c.dims[0] = 3;
    tki_worker_build build;
    tki_worker *worker;
    tki_overrun overrun;
    tki_worker_source source = source_of(write_source(
        "throws.cpp", "#include \"tokitai_kernel.h\"\n"
                      "int tokitai_gelu_fwd(const tokitai_call *, int64_t n, const void *, void *) { throw n; }\n"));
    assert_ok(ctx, tki_worker_compile(ctx, &source, &build));
    assert_ok(ctx, tki_worker_open(ctx, build.artifact, c.contract, NULL, &worker));
    assert_refused(ctx, tki_worker_call(worker, &c, (void *[]){x, y}, 1, NULL, &overrun), TK_KERNEL_FAULT,
                   "signal 6");
    tki_worker_close(worker);
    tki_worker_build_close(&build);
    tk_ctx_destroy(ctx);
    assert_nothing_left();
}

/* What tests/worker_on_device.sh runs on a GPU compiles everywhere, inside the sandbox. */
TEST(cuda_sources)
{
    tk_ctx *ctx = new_context();
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/tests/kernels/gelu_on_cuda.cu",
             getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : "..");
    tki_worker_build build;
    tki_worker_source source = source_of(file);
    source.flags = "-O2 -DMISBEHAVE=3 -Werror all-warnings";
    source.seconds = 300;
    tk_status status = tki_worker_compile(ctx, &source, &build);
    bool missing = status == TK_UNAVAILABLE;
    if (!missing && status != TK_OK)
        fail_msg("%s\n%s", tk_ctx_message(ctx), build.log);
    tki_worker_build_close(&build);
    tk_ctx_destroy(ctx);
    assert_nothing_left();
    if (missing)
        skip();
}

/* nvcc is told which device there is, unless the flags say it: by its name with an `a` from Hopper on, if it knows that, else without; by
 * none that it does not know. */
TEST_WITH_CONTEXT(architectures)
{
    static const char *const compilers[][2] = {
        {"new", "#!/bin/sh\nexit 0\n"},
        {"old", "#!/bin/sh\ncase \"$*\" in *sm_90a*) exit 1 ;; esac\n"},
        {"older", "#!/bin/sh\ncase \"$*\" in *sm_9*) exit 1 ;; esac\n"},
        {"oldest", "#!/bin/sh\nexit 1\n"},
    };
    static const struct {
        const char *compiler, *capability, *asked, *flags;
    } list[] = {
        {"new", "90", NULL, "-O2 -lineinfo -arch=sm_90a"},
        {"new", "120", NULL, "-O2 -lineinfo -arch=sm_120a"},
        {"new", "86", NULL, "-O2 -lineinfo -arch=sm_86"},
        {"old", "90", NULL, "-O2 -lineinfo -arch=sm_90"},
        {"older", "90", NULL, "-O2 -lineinfo"},
        {"oldest", "90", NULL, "-O2 -lineinfo"},
        {"missing", "90", NULL, "-O2 -lineinfo"},
        {"new", NULL, NULL, "-O2 -lineinfo -arch=sm_80"},
        {"oldest", NULL, NULL, "-O2 -lineinfo"},
        {"new", "90", "-O3", "-O3 -arch=sm_90a"},
        {"new", "90", "", "-arch=sm_90a"},
        {"new", "90", "-march", "-march -arch=sm_90a"},
        {"new", "90", "-O3 -arch=sm_80", "-O3 -arch=sm_80"},
        {"new", "90", " -arch sm_80 -O3", " -arch sm_80 -O3"},
        {"new", "90", "-gencode arch=compute_80,code=sm_80", "-gencode arch=compute_80,code=sm_80"},
        {"new", "90", "--generate-code=arch=compute_80", "--generate-code=arch=compute_80"},
        {"new", "90", "--gpu-architecture=sm_75", "--gpu-architecture=sm_75"},
    };
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        write_source(compilers[i][0], compilers[i][1]);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char compiler[128];
        snprintf(compiler, sizeof compiler, "%s/%s", sources, list[i].compiler);
        if (list[i].capability) {
            fake_gpu_use("TOKITAI_CUDA_LIBRARY", "libcuda.so.1");
            setenv("FAKE_GPU_CAPABILITY", list[i].capability, 1);
        } else {
            setenv("TOKITAI_CUDA_LIBRARY", "/nowhere.so", 1);
        }
        char *flags = tki_language_flags(ctx, tki_language_of(ctx, "kernel.cu"), compiler, list[i].asked, 0,
                                         &(tki_worker_terms){0});
        assert_string_equal(flags, list[i].flags);
        free(flags);
    }
    char *flags = tki_language_flags(ctx, tki_language_of(ctx, "kernel.c"), NULL, NULL, 0, &(tki_worker_terms){0});
    assert_string_equal(flags, "-O2");
    free(flags);
    fake_gpu_forget_settings();
    unsetenv("TOKITAI_CUDA_LIBRARY");
}

/* Compiles, expects failure, and gives back the log. */
static void refuse(const char *name, const char *text, const char *compiler, double seconds, tk_status expected,
                   const char *message, const char *in_log)
{
    tk_ctx *ctx = new_context();
    tki_worker_build build;
    tki_worker_source source = source_of(write_source(name, text));
    source.compiler = compiler;
    source.seconds = seconds;
    tk_status status = tki_worker_compile(ctx, &source, &build);
    if (status != expected || !strstr(tk_ctx_message(ctx), message) || (build.log && !strstr(build.log, in_log)))
        fail_msg("%s: %s: %s\n%s", name, tk_status_text(status), tk_ctx_message(ctx), build.log);
    assert_true(!build.log || !strstr(build.log, "root:"));
    tki_worker_build_close(&build);
    assert_nothing_left();
    tk_ctx_destroy(ctx);
}

TEST(bad_sources)
{
    refuse("error.c", "int broken(\n", NULL, 60, TK_BAD_FILE, "does not compile", "error.c:1");
    refuse("nothing.c", "#include <nowhere.h>\n", NULL, 60, TK_BAD_FILE, "does not compile", "nowhere.h");
    refuse("file.txt", "", NULL, 60, TK_BAD_ARGUMENT, "does not end in .c", "");
    refuse("copy.c", COPY_KERNEL, "no-such-compiler", 60, TK_UNAVAILABLE, "no-such-compiler", "");
}

TEST(what_is_not_its_business)
{
    if (!offered("Landlock", 0))
        skip();
    refuse("reads.c", "#include \"/etc/passwd\"\n", NULL, 60, TK_BAD_FILE, "does not compile", "/etc/passwd");
    refuse("embeds.c", "__asm__(\".section .rodata\\n.incbin \\\"/etc/passwd\\\"\");\n", NULL, 60, TK_BAD_FILE,
           "does not compile", "/etc/passwd");
    /* The source itself can be read, and what lies beside it cannot. */
    write_source("secret.h", "root: secret\n");
    refuse("beside.c", "#include \"secret.h\"\n", NULL, 60, TK_BAD_FILE, "does not compile", "secret.h");
}

/* Stands for a compiler that a source has taken over. */
TEST(hostile_compilers)
{
    char compiler[128];
    snprintf(compiler, sizeof compiler, "%s/hostile", sources);
    write_source("hostile", "#!/bin/sh\necho said; sleep 300 & sleep 300\n");
    double start = tki_now();
    refuse("copy.c", COPY_KERNEL, compiler, 1, TK_TIMEOUT, "did not end within 1 seconds", "said");
    assert_true(tki_now() - start < 60);
    write_source("hostile", "#!/bin/sh\nsetsid sleep 300 >/dev/null 2>&1 &\nexit 0\n");
    refuse("copy.c", COPY_KERNEL, compiler, 30, TK_BAD_FILE, "made no library", "");
    write_source("hostile", "#!/bin/sh\nfor last; do :; done\nln -s /etc/passwd kernel.so\n");
    refuse("copy.c", COPY_KERNEL, compiler, 30, TK_BAD_FILE, "made no library", "");
    write_source("hostile", "#!/bin/sh\nkill -SEGV $$\n");
    refuse("copy.c", COPY_KERNEL, compiler, 30, TK_BAD_FILE, "ended by signal 11", "");
    write_source("hostile", "#!/bin/sh\nwhile :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n");
    refuse("copy.c", COPY_KERNEL, compiler, 1, TK_TIMEOUT, "did not end", "aaaa");
    if (!offered("Landlock", 0))
        skip();
    write_source("hostile", "#!/bin/sh\necho > /tmp/tokitai-worker-outside\necho > /dev/shm/tokitai-worker-outside\n"
                            "cat /etc/passwd\nkill -KILL $PPID\nexit 9\n");
    refuse("copy.c", COPY_KERNEL, compiler, 30, TK_BAD_FILE, "ended with status 9", "");
}

/* ------------------------------------------------------------------------------------------------------------
 * What a compiler is shown of the folders around it
 * ------------------------------------------------------------------------------------------------------------ */

static void make_file(const char *folder, const char *name, const char *text)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s/%s')\"", folder, name);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/%s", folder, name);
    FILE *file = fopen(command, "we");
    assert_non_null(file);
    fputs(text, file);
    fchmod(fileno(file), 0755);
    fclose(file);
}

/* A compiler that prints what it can read of the home that it lies in, and of its own folder. */
static void write_spy(const char *home, const char *place)
{
    char script[1024];
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "for f in '%s'/secret '%s'/.ssh/id '%s'/.local/share/ring '%s'/.config/token '%s'/.cache/session; do\n"
             "  cat \"$f\"\ndone 2>/dev/null\n"
             "echo; ls -a '%s' 2>/dev/null\n"
             "cat \"$(dirname \"$0\")/../lib/own\" 2>/dev/null\n"
             "exit 9\n",
             home, home, home, home, home, home);
    make_file(home, place, script);
}

/* `compiler` as it is named, HOME as it is set (NULL: it is not); `reads`: it finds lib/own beside its bin. */
static void spy(const char *compiler, const char *home, bool reads)
{
    tk_ctx *ctx = new_context();
    tki_worker_build build;
    tki_worker_source source = source_of(write_source("copy.c", COPY_KERNEL));
    source.compiler = compiler;
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    assert_int_equal(tki_worker_compile(ctx, &source, &build), TK_BAD_FILE);
    if (!strstr(tk_ctx_message(ctx), "ended with status 9") || strstr(build.log, "private") ||
        !strstr(build.log, "own to it") != !reads)
        fail_msg("%s, HOME=%s: %s\n%s", compiler, home ? home : "(none)", tk_ctx_message(ctx), build.log);
    tki_worker_build_close(&build);
    tk_ctx_destroy(ctx);
    assert_nothing_left();
}

TEST(homes)
{
    static const char *const secrets[] = {"secret", ".ssh/id", ".local/share/ring", ".config/token",
                                          ".cache/session"};
    static const struct {
        const char *place; /* below the home */
        bool reads;
    } places[] = {{"cc", false},
                  {"bin/cc", false}, /* its prefix is the home */
                  {".local/bin/cc", false},
                  {".config/bin/cc", false},
                  {".ssh/cc", false},
                  {"tools/gcc-1/bin/cc", true},
                  {".local/share/gcc-1/bin/cc", true},
                  {"tools/gcc-2/cc", false}};
    char user[80], link[80], second[80], compiler[512], homes[3][128];
    const char *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    if (!offered("Landlock", 0))
        skip();
    snprintf(user, sizeof user, "%s/home/user", sources);
    snprintf(link, sizeof link, "%s/link", sources);
    snprintf(second, sizeof second, "%s/home/second", sources);
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        make_file(user, secrets[i], "private\n");
    make_file(user, "lib/own", "private\n");
    make_file(user, ".local/lib/own", "private\n");
    make_file(user, ".config/lib/own", "private\n");
    make_file(user, "tools/gcc-1/lib/own", "own to it\n");
    make_file(user, ".local/share/gcc-1/lib/own", "own to it\n");
    make_file(user, "tools/lib/own", "own to it\n");
    assert_int_equal(symlink("home", link), 0);   /* LINK/user */
    assert_int_equal(symlink("user", second), 0); /* LINK/second is a link behind a link */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        write_spy(user, places[i].place);
        snprintf(homes[0], sizeof *homes, "%s", user);
        snprintf(homes[1], sizeof *homes, "%s/user", link);
        snprintf(homes[2], sizeof *homes, "%s/second", link);
        for (int named = 0; named < 3; named++)
            for (int set = 0; set < 4; set++) { /* a home that is not set is known by where it lies */
                snprintf(compiler, sizeof compiler, "%s/%s", homes[named], places[i].place);
                spy(compiler, set < 3 ? homes[set] : NULL, places[i].reads);
            }
    }
    /* By a link out of the home, and by one into it. */
    /* A home in a folder of the system, which is otherwise shown; one that is such a folder cannot be hidden. */
    static const char *const in_system[] = {"/usr/include/linux", "/usr/include/linux/", "/usr/lib/../include/linux"};
    for (size_t i = 0; i < sizeof in_system / sizeof *in_system; i++) {
        setenv("HOME", in_system[i], 1);
        refuse("system.c", "__asm__(\".incbin \\\"/usr/include/linux/types.h\\\"\");\n", NULL, 60, TK_BAD_FILE,
               "does not compile", "types.h");
    }
    setenv("HOME", "/usr", 1);
    tki_worker_build build;
    tk_ctx *ctx = new_context();
    tki_worker_source source = source_of(write_source("copy.c", COPY_KERNEL));
    assert_ok(ctx, tki_worker_compile(ctx, &source, &build));
    tki_worker_build_close(&build);
    tk_ctx_destroy(ctx);
    snprintf(compiler, sizeof compiler, "%s/cc", sources);
    assert_int_equal(symlink("home/user/.local/bin/cc", compiler), 0);
    spy(compiler, user, false);
    if (before)
        setenv("HOME", before, 1);
    free((void *)(uintptr_t)before);
}

TEST_WITH_CONTEXT(with_less)
{
    static const unsigned less[] = {TKI_CONFINE_ALL, TKI_CONFINE_PIDS | TKI_CONFINE_USER, TKI_CONFINE_SECCOMP};
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        tki_worker_build build;
        tki_worker_source source = source_of(write_source("copy.c", COPY_KERNEL));
        source.without = less[i];
        source.terms.allow_weak = true;
        assert_ok(ctx, tki_worker_compile(ctx, &source, &build));
        assert_copies(ctx, build.artifact, "cpu");
        tki_worker_build_close(&build);
        assert_nothing_left();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_sources),      cmocka_unit_test(exceptions),
        cmocka_unit_test(cuda_sources),      cmocka_unit_test(architectures),
        cmocka_unit_test(bad_sources),       cmocka_unit_test(what_is_not_its_business),
        cmocka_unit_test(hostile_compilers), cmocka_unit_test(homes),
        cmocka_unit_test(with_less),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
