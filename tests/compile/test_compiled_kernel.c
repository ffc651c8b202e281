/* Compiling, keeping and finding kernels (compile/compiled_kernel.c), with compilers that do as they are told: a shell script in the
 * place of nvcc, hipcc or clang, and a library in the place of NVRTC (tests/fake_gpu/). */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile/compiled_kernel.h"
#include "compile/compilers.h"
#include "core/clock.h"
#include "core/file.h"
#include "tests/op_test.h"

static char work[] = "/tmp/tokitai_artifact_XXXXXX";
static tk_ctx *ctx;
static const char *source;

/* Behaves as the file `behaviour` says; counts compilations in `count`. */
static const char fake_program[] =
    "#!/bin/sh\n"
    "case $* in *--version*)\n"
    "    grep -q mute \"$0.behaviour\" && exit 5\n"
    "    grep -q slow_to_start \"$0.behaviour\" && kill -KILL $$\n"
    "    echo \"fake compiler version 99.7\"; exit 0 ;;\n"
    "*--list-gpu-arch*) echo compute_80; echo compute_90; exit 0 ;;\n"
    "esac\n"
    "printf x >>\"$0.count\"\n"
    "echo leftover >\"$TMPDIR/leftover\"\n"
    "read -r behaviour <\"$0.behaviour\"\n"
    "echo \"arguments $*\"\n"
    "for argument in \"$@\"; do case $argument in ops/*) head -c 100 \"$argument\" >/dev/null || exit 9 ;; esac; "
    "done\n"
    "while [ \"$1\" != -o ]; do shift; done\n"
    "case $behaviour in\n"
    "fails) echo 'kernel.cu(7): error: expected a \";\"'; exit 1 ;;\n"
    "hangs) sleep 300 ;;\n"
    "crashes) kill -SEGV $$ ;;\n"
    "garbage) echo 'not an image' >\"$2\"; exit 0 ;;\n"
    "empty) : >\"$2\"; exit 0 ;;\n"
    "nothing) exit 0 ;;\n"
    "pipe) mkfifo \"$2\"; exit 0 ;;\n"
    "noisy) head -c 3000000 /dev/zero | tr '\\0' y; exit 1 ;;\n"
    "slow) sleep 1 ;;\n"
    "ptx) printf '.version 8.8\\n.target sm_90\\n' >\"$2\"; exit 0 ;;\n"
    "esac\n"
    "{ printf '\\177ELF'; head -c 2000 /dev/zero; } >\"$2\"\n"
    "echo \"ptxas info    : Compiling entry function 'fake' for 'sm_90'\"\n"
    "echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'\n"
    "echo 'ptxas info    : Used 33 registers, 64 bytes smem'\n"
    "echo 'k.cu:1:1: remark: Function Name: fake [-Rpass-analysis=kernel-resource-usage]' >&2\n"
    "echo 'k.cu:1:1: remark:     VGPRs: 44 [-Rpass-analysis=kernel-resource-usage]' >&2\n";

static void write_text(const char *name, const char *text)
{
    assert_ok(ctx, tki_file_write(ctx, name, text, strlen(text)));
}

static const char *in_work(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", work, name);
    return path;
}

static void set(const char *variable, const char *value)
{
    assert_int_equal(setenv(variable, value, 1), 0);
}

/* The script becomes the one compiler of its backend. */
static void use_program(const char *name, const char *behaviour)
{
    char file[64];
    bool cuda = !strcmp(name, "nvcc");
    write_text(name, fake_program);
    assert_int_equal(chmod(name, 0755), 0);
    snprintf(file, sizeof file, "%s.behaviour", name);
    write_text(file, behaviour);
    set(cuda ? "TOKITAI_CUDA_COMPILER" : "TOKITAI_HIP_COMPILER", in_work(name));
}

static int compilations(const char *count_file)
{
    struct stat about;
    return stat(count_file, &about) ? 0 : (int)about.st_size;
}

static int files_in(const char *folder, const char *ending)
{
    int count = 0;
    DIR *list = opendir(folder);
    for (const struct dirent *e; list && (e = readdir(list));)
        count += e->d_name[0] != '.' && strstr(e->d_name, ending) != NULL;
    if (list)
        closedir(list);
    return count;
}

static int enter(void **state)
{
    (void)state;
    strcpy(work + strlen(work) - 6, "XXXXXX");
    if (!mkdtemp(work) || chdir(work) || mkdir("tmp", 0700))
        return -1;
    ctx = new_context();
    source = tki_compiled_source_at(0);
    set("TOKITAI_CACHE", in_work("cache"));
    set("TMPDIR", in_work("tmp"));
    set("TOKITAI_COMPILE_SECONDS", "60");
    unsetenv("TOKITAI_CACHE_LIMIT");
    unsetenv("FAKE_GPU_COMPILE");
    unsetenv("FAKE_GPU_COMPILE_COUNT");
    return source ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    tk_ctx_destroy(ctx);
    bool tidy = files_in("tmp", "") == 0; /* no compiler leaves anything behind */
    snprintf(command, sizeof command, "rm -rf '%s'", work);
    return chdir("/") || system(command) || !tidy ? -1 : 0;
}

static tk_status get(const char *backend, const char *architecture, tk_dtype dtype, tki_compiled_kernel *artifact)
{
    tki_compile_request request = {tki_backend_find(backend, ""), source, architecture, {dtype, dtype}};
    return tki_compiled_kernel_get(ctx, &request, artifact);
}

TEST(built_then_found)
{
    tki_compiled_kernel a, b, c;
    use_program("nvcc", "works");
    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
    assert_false(a.was_cached);
    assert_string_equal(a.note, "");
    assert_string_equal(a.source, source);
    assert_string_equal(a.architecture, "sm_90");
    assert_string_equal(a.compiler, "nvcc: fake compiler version 99.7");
    assert_non_null(strstr(a.options, "-DTKI_DTYPE=0"));
    assert_non_null(strstr(a.options, "--fmad=false"));
    assert_int_equal(a.kernel_count, 1);
    assert_string_equal(a.kernels[0].name, "fake");
    assert_int_equal(a.kernels[0].registers, 33);
    assert_int_equal(a.kernels[0].shared_bytes, 64);
    assert_int_equal(a.image_bytes, 2004);
    assert_int_equal(access(a.path, R_OK), 0);

    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &b));
    assert_true(b.was_cached);
    assert_int_equal(compilations("nvcc.count"), 1);
    assert_string_equal(b.key, a.key);
    assert_string_equal(b.hash, a.hash);
    assert_int_equal(b.image_bytes, a.image_bytes);
    assert_memory_equal(b.image, a.image, a.image_bytes);
    assert_memory_equal(b.kernels, a.kernels, sizeof a.kernels);

    assert_ok(ctx, get("cuda", "sm_90", TK_BF16, &c));
    assert_false(c.was_cached);
    assert_string_not_equal(c.key, a.key);
    assert_string_equal(c.source_hash, a.source_hash);
    tki_compiled_kernel_free(&a);
    tki_compiled_kernel_free(&b);
    tki_compiled_kernel_free(&c);

    /* Another compiler, by so much as the time of its file, makes another key. */
    write_text("nvcc", fake_program);
    assert_int_equal(chmod("nvcc", 0755), 0);
    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
    assert_false(a.was_cached);
    tki_compiled_kernel_free(&a);
}

TEST(hip_programs)
{
    static const char *const names[] = {"hipcc", "clang++-77"};
    for (size_t i = 0; i < 2; i++) {
        tki_compiled_kernel a;
        use_program(names[i], "works");
        assert_ok(ctx, get("hip", "gfx942", TK_BF16, &a));
        assert_non_null(strstr(a.options, "--offload-arch=gfx942"));
        assert_non_null(strstr(a.options, "-DTKI_DTYPE=1"));
        assert_non_null(strstr(a.options, "-ffp-contract=off"));
        assert_int_equal(a.kernel_count, 1);
        assert_int_equal(a.kernels[0].registers, 44);
        tki_compiled_kernel_free(&a);
    }
}

/* That of the results is an option of its own where it is another one, so that the kernels of one type stay what they were. */
TEST(types_become_options)
{
    static const struct {
        tk_types types;
        const char *element, *result;
    } wanted[] = {{{TK_F32, TK_F32}, "-DTKI_DTYPE=2", NULL},
                  {{TK_F16, TK_F32}, "-DTKI_DTYPE=0", "-DTKI_RESULT_DTYPE=2"},
                  {{TK_BF16, TK_F32}, "-DTKI_DTYPE=1", "-DTKI_RESULT_DTYPE=2"}};
    static const char *const backends[][2] = {{"cuda", "sm_90"}, {"hip", "gfx942"}};
    for (size_t i = 0; i < 3; i++)
        for (size_t b = 0; b < 2; b++) {
            tki_compiled_kernel a;
            use_program(b ? "hipcc" : "nvcc", "works");
            tki_compile_request request = {tki_backend_find(backends[b][0], ""), source, backends[b][1],
                                           wanted[i].types};
            assert_ok(ctx, tki_compiled_kernel_get(ctx, &request, &a));
            assert_non_null(strstr(a.options, wanted[i].element));
            const char *result = strstr(a.options, "-DTKI_RESULT_DTYPE=");
            if (wanted[i].result)
                assert_non_null(strstr(a.options, wanted[i].result));
            else
                assert_null(result);
            assert_memory_equal(&a.types, &wanted[i].types, sizeof a.types);
            tki_compiled_kernel_free(&a);
        }
}

/* The types that a source is compiled for are those of its ops. */
TEST(types_of_sources)
{
    tk_types types;
    assert_true(tk_cache_types_at("ops/gelu/kernel.cu", 0, &types));
    assert_true(types.dtype == TK_F16 && types.result_dtype == TK_F16);
    assert_true(tk_cache_types_at("ops/gelu/kernel.cu", 1, &types));
    assert_true(types.dtype == TK_BF16 && types.result_dtype == TK_BF16);
    assert_true(tk_cache_types_at("ops/gelu/kernel.cu", 2, &types));
    assert_true(types.dtype == TK_F32 && types.result_dtype == TK_F32);
    assert_false(tk_cache_types_at("ops/gelu/kernel.cu", 3, &types));
    assert_false(tk_cache_types_at("ops/none/kernel.cu", 0, &types));
}

/* Whatever is wrong with the entry, it is reported and built again, and the next one finds it whole. */
TEST(damaged_entries_are_built_again)
{
    tki_compiled_kernel a, b;
    use_program("nvcc", "works");
    for (int damage = 0; damage < 4; damage++) {
        assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
        assert_ok(ctx, get("cuda", "sm_90", TK_BF16, &b));
        char *data;
        size_t bytes;
        assert_ok(ctx, tki_file_read(ctx, a.path, 1 << 20, &data, &bytes));
        if (damage == 0)
            assert_int_equal(truncate(a.path, (off_t)bytes / 2), 0);
        else if (damage == 1)
            assert_int_equal(rename(b.path, a.path), 0);
        else if (damage == 2)
            write_text(a.path, "garbage");
        else {
            data[bytes - 1] ^= 1;
            assert_ok(ctx, tki_file_write(ctx, a.path, data, bytes));
        }
        free(data);
        tki_compiled_kernel_free(&a);
        tki_compiled_kernel_free(&b);
        int before = compilations("nvcc.count");
        assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
        assert_false(a.was_cached);
        assert_true(strstr(a.note, source) && strstr(a.note, " (f16) was damaged ("));
        assert_int_equal(compilations("nvcc.count"), before + 1);
        tki_compiled_kernel_free(&a);
        assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
        assert_true(a.was_cached);
        assert_string_equal(a.note, "");
        tki_compiled_kernel_free(&a);
    }
}

TEST(a_cache_that_cannot_be_used)
{
    tki_compiled_kernel a;
    use_program("nvcc", "works");
    write_text("file", "");
    set("TOKITAI_CACHE", in_work("file/cache"));
    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
    assert_string_equal(a.path, "");
    assert_non_null(strstr(a.note, "not kept in the cache: cannot make the directory"));
    assert_int_equal(a.image_bytes, 2004);
    tki_compiled_kernel_free(&a);
}

TEST(compilers_that_fail)
{
    static const struct {
        const char *behaviour, *message;
    } cases[] = {
        {"fails", "error: expected a \";\""},
        {"crashes", "was ended by signal 11"},
        {"garbage", "are not a kernel image"},
        {"empty", "are not a kernel image"},
        {"nothing", "wrote no image"},
        {"pipe", "wrote no image"},
        {"noisy", "could not compile it (exit status 1)"},
    };
    static const char *const programs[] = {"nvcc", "hipcc", "clang++-77"};
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            tki_compiled_kernel a;
            use_program(programs[p], cases[i].behaviour);
            tk_status status = p ? get("hip", "gfx1100", TK_F16, &a) : get("cuda", "sm_90", TK_F16, &a);
            assert_refused(ctx, status, TK_INTERNAL, cases[i].message);
            assert_non_null(strstr(tk_ctx_message(ctx), source));
            assert_null(a.image);
            assert_int_equal(files_in("cache", ""), 0);
        }
}

TEST(a_compiler_that_hangs)
{
    tki_compiled_kernel a;
    set("TOKITAI_COMPILE_SECONDS", "0.5");
    use_program("nvcc", "hangs");
    double start = tki_now();
    assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), TK_INTERNAL, "did not end within 0.5 seconds");
    assert_true(tki_now() - start < 60);
}

TEST(compilers_that_are_none)
{
    tki_compiled_kernel a;
    use_program("nvcc", "mute");
    assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), TK_UNAVAILABLE,
                   "does not report its version (exit status 5)");
    assert_non_null(strstr(tk_ctx_message(ctx), "NVRTC: not used"));
    use_program("nvcc", "slow_to_start");
    assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), TK_UNAVAILABLE, "was ended by signal 9");
    set("TOKITAI_CUDA_COMPILER", "/nowhere/nvcc");
    assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), TK_UNAVAILABLE, "could not be started: No such file");
    set("TOKITAI_CUDA_COMPILER", "/nowhere/libnvrtc.so");
    assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), TK_UNAVAILABLE, "cannot open shared object file");
    /* A library, but no compiler. */
    set("TOKITAI_CUDA_COMPILER", "/lib/x86_64-linux-gnu/libm.so.6");
    if (access("/lib/x86_64-linux-gnu/libm.so.6", R_OK) == 0)
        assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), TK_UNAVAILABLE, "lacks required functions");
    set("TOKITAI_HIP_COMPILER", "clang");
    set("PATH", "/nowhere");
    assert_refused(ctx, get("hip", "gfx942", TK_F16, &a), TK_UNAVAILABLE, "clang: not found on the PATH");
    set("PATH", "/usr/local/bin:/usr/bin:/bin");
    char text[TKI_COMPILERS_TEXT];
    set("TOKITAI_CUDA_COMPILER", "/nowhere/nvcc");
    assert_false(tki_compilers_describe(&tki_backends[TKI_CUDA], NULL, text, sizeof text));
    assert_non_null(strstr(text, "NVRTC: not used"));
    assert_non_null(strstr(text, "; nvcc: /nowhere/nvcc could not be started"));
    assert_false(tki_compilers_describe(&tki_backends[TKI_CUDA], NULL, text, 10));
    assert_int_equal(strlen(text), 9);
}

TEST(old_clang_is_refused)
{
    tki_compiled_kernel a;
    write_text("clang++", "#!/bin/sh\necho 'Debian clang version 14.0.6'\n");
    assert_int_equal(chmod("clang++", 0755), 0);
    set("TOKITAI_HIP_COMPILER", in_work("clang++"));
    assert_refused(ctx, get("hip", "gfx942", TK_F16, &a), TK_UNAVAILABLE, "has version 14");
}

TEST(requests_that_make_no_sense)
{
    tki_compiled_kernel a;
    use_program("nvcc", "works");
    tk_cache_entry entry;
    assert_refused(ctx, tk_cache_build(ctx, "cpu", source, "sm_90", (tk_types){TK_F16, TK_F16}, &entry),
                   TK_BAD_ARGUMENT, "backend is 'cpu'");
    assert_refused(ctx, tk_cache_build(ctx, "tpu", source, "sm_90", (tk_types){TK_F16, TK_F16}, &entry),
                   TK_BAD_ARGUMENT, "backend is 'tpu'");
    assert_refused(ctx, get("cuda", "sm_90", TK_I32, &a), TK_BAD_ARGUMENT, "f16, bf16, f32 and u64");
    static const char *const bad[] = {"", "sm_", "sm_90ab", "sm_9999", "gfx942", "sm_90; rm -rf /", "sm_90 -x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(ctx, get("cuda", bad[i], TK_F16, &a), TK_BAD_ARGUMENT, "is not an architecture of cuda");
    assert_refused(ctx, get("hip", "sm_90", TK_F16, &a), TK_BAD_ARGUMENT, "is not an architecture of hip");
    assert_refused(ctx, get("cuda", "sm_70", TK_F16, &a), TK_UNAVAILABLE, "it supports sm_80 to sm_90");
    tki_compile_request hopper = {&tki_backends[TKI_CUDA], "ops/x/kernel_hopper.cu", "sm_80", {TK_F16, TK_F16}};
    char problem[256];
    assert_int_equal(tki_architecture_check(&hopper, problem, sizeof problem), TK_UNSUPPORTED);
    hopper.architecture = "sm_90";
    assert_int_equal(tki_architecture_check(&hopper, problem, sizeof problem), TK_OK);
    hopper.backend = &tki_backends[TKI_HIP];
    hopper.architecture = "gfx942";
    assert_int_equal(tki_architecture_check(&hopper, problem, sizeof problem), TK_UNSUPPORTED);
    tki_compile_request tensor = {&tki_backends[TKI_HIP], "ops/x/kernel_tensor.cu", "gfx942", {TK_F16, TK_F16}};
    assert_int_equal(tki_architecture_check(&tensor, problem, sizeof problem), TK_OK);
    tensor.architecture = "gfx1030";
    assert_int_equal(tki_architecture_check(&tensor, problem, sizeof problem), TK_UNSUPPORTED);
}

TEST(hopper_sources_are_compiled_for_sm_90a)
{
    static const tki_source_file file = {"ops/x/kernel_hopper.cu", "", 0};
    tki_compile_request request = {&tki_backends[TKI_CUDA], file.path, "sm_90", {TK_F16, TK_F16}};
    tki_source_set sources = {.source = &file};
    tki_compiler compiler;
    tki_compile_job job;
    use_program("nvcc", "works");
    assert_true(tki_compiler_at(&tki_backends[TKI_CUDA], 1, &compiler));
    assert_true(tki_compile_plan(&compiler, &request, &sources, &job));
    assert_string_equal(job.architecture, "sm_90a");
    assert_false(tki_compiler_at(&tki_backends[TKI_CUDA], 2, &compiler));
    assert_false(tki_compiler_at(&tki_backends[TKI_CPU], 0, &compiler));
}

TEST(a_device_newer_than_the_compiler)
{
    tki_compiled_kernel a;
    use_program("nvcc", "ptx");
    assert_ok(ctx, get("cuda", "sm_121", TK_F16, &a));
    assert_string_equal(a.architecture, "compute_90");
    assert_non_null(strstr(a.options, "-ptx"));
    assert_non_null(strstr(a.note, "sm_121 is newer than nvcc: fake compiler version 99.7 supports"));
    assert_int_equal(((char *)a.image)[a.image_bytes], 0);
    tki_compiled_kernel_free(&a);
    assert_ok(ctx, get("cuda", "sm_121", TK_F16, &a));
    assert_true(a.was_cached);
    assert_non_null(strstr(a.note, "sm_121 is newer"));
    assert_int_equal(((char *)a.image)[a.image_bytes], 0);
    tki_compiled_kernel_free(&a);
}

/* Several processes ask for the same kernel at once: one compiles, the others wait and find it. */
TEST(one_process_compiles_for_all)
{
    enum { PROCESSES = 5 };
    use_program("nvcc", "slow");
    for (int p = 0; p < PROCESSES; p++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            tki_compiled_kernel a;
            bool good = get("cuda", "sm_90", TK_F16, &a) == TK_OK && a.image_bytes == 2004 && !a.note[0];
            _exit(good ? a.was_cached : 9);
        }
    }
    int found = 0;
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        found += WEXITSTATUS(status);
    }
    assert_int_equal(found, PROCESSES - 1);
    assert_int_equal(compilations("nvcc.count"), 1);
    assert_int_equal(files_in("cache", ".artifact"), 1);
    assert_int_equal(files_in("cache", ".lock"), 0);
}

/* ------------------------------------------------------------------------------------------------------------
 * Run-time compilers
 * ------------------------------------------------------------------------------------------------------------ */

static void use_library(bool cuda, const char *behaviour)
{
    const char *build = getenv("BUILD_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/fake_gpu/lib%s.so", build ? build : ".", cuda ? "nvrtc" : "hiprtc");
    set(cuda ? "TOKITAI_CUDA_COMPILER" : "TOKITAI_HIP_COMPILER", path);
    set("FAKE_GPU_COMPILE", behaviour);
    set("FAKE_GPU_COMPILE_COUNT", in_work("library.count"));
}

TEST(nvrtc_builds)
{
    tki_compiled_kernel a;
    use_library(true, "well");
    assert_ok(ctx, get("cuda", "sm_80", TK_BF16, &a));
    assert_string_equal(a.compiler, "NVRTC 12.4");
    assert_string_equal(a.architecture, "sm_80");
    assert_non_null(strstr(a.options, "--gpu-architecture=sm_80"));
    assert_non_null(strstr(a.options, "-DTKI_DTYPE=1"));
    assert_int_equal(a.image_bytes, 64);
    assert_int_equal(a.kernel_count, 1);
    assert_int_equal(a.kernels[0].registers, 40);
    tki_compiled_kernel_free(&a);
    assert_ok(ctx, get("cuda", "sm_80", TK_BF16, &a));
    assert_true(a.was_cached);
    assert_int_equal(compilations("library.count"), 1);
    tki_compiled_kernel_free(&a);
    assert_ok(ctx, get("cuda", "sm_100", TK_BF16, &a));
    assert_string_equal(a.architecture, "compute_90");
    assert_non_null(strstr(a.image, ".version"));
    tki_compiled_kernel_free(&a);
}

/* What NVRTC finds in its own cache comes without a log, and so without the resources. */
TEST(nvrtc_is_told_to_compile)
{
    tki_compiled_kernel a;
    use_library(true, "caching");
    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
    assert_string_equal(a.compiler, "NVRTC 12.9");
    assert_non_null(strstr(a.options, " --no-cache "));
    assert_int_equal(a.kernel_count, 1);
    assert_string_equal(a.note, "");
    tki_compiled_kernel_free(&a);
    use_library(true, "well"); /* 12.4 does not know the option */
    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
    assert_null(strstr(a.options, "--no-cache"));
    tki_compiled_kernel_free(&a);
}

TEST(a_log_without_resources_is_noted)
{
    tki_compiled_kernel a;
    use_library(true, "silent");
    for (int found = 0; found < 2; found++) {
        assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
        assert_int_equal(a.was_cached, found);
        assert_int_equal(a.kernel_count, 0);
        assert_string_equal(a.note, "the compiler did not report the kernels' resources");
        tki_compiled_kernel_free(&a);
    }
}

static void remember(const char *note, void *heard)
{
    char *text = heard;
    snprintf(text + strlen(text), 1024 - strlen(text), "%s\n", note);
}

/* The listener hears each note once, whichever call meets it. */
TEST(notes_are_told)
{
    tki_compiled_kernel a;
    char heard[1024] = "";
    assert_int_equal(tk_ctx_set_note_listener(NULL, remember, heard), TK_BAD_ARGUMENT);
    assert_ok(ctx, tk_ctx_set_note_listener(ctx, remember, heard));
    use_library(true, "silent");
    for (int i = 0; i < 2; i++) {
        assert_ok(ctx, get("cuda", "sm_90", i ? TK_BF16 : TK_F16, &a));
        assert_int_equal(truncate(a.path, 300), 0);
        tki_compiled_kernel_free(&a);
    }
    assert_string_equal(heard, "the compiler did not report the kernels' resources\n");
    heard[0] = 0;
    assert_ok(ctx, get("cuda", "sm_90", TK_F16, &a));
    tki_compiled_kernel_free(&a);
    assert_true(!strncmp(heard, "cache entry ", 12) && strstr(heard, source) &&
                strstr(heard, " (f16) was damaged (") && strchr(heard, '\n') == heard + strlen(heard) - 1);
    heard[0] = 0;
    assert_ok(ctx, tk_ctx_set_note_listener(ctx, NULL, NULL));
    assert_ok(ctx, get("cuda", "sm_90", TK_BF16, &a));
    assert_non_null(strstr(a.note, "was damaged"));
    assert_string_equal(heard, "");
    tki_compiled_kernel_free(&a);
}

/* HIPRTC does not tell what a kernel uses; that is said, not made up. */
TEST(hiprtc_builds)
{
    tki_compiled_kernel a;
    use_library(false, "well");
    assert_ok(ctx, get("hip", "gfx90a", TK_F16, &a));
    assert_string_equal(a.compiler, "HIPRTC 6.2");
    assert_non_null(strstr(a.options, "--offload-arch=gfx90a"));
    assert_int_equal(a.kernel_count, 0);
    assert_non_null(strstr(a.note, "did not report the kernels' resources"));
    tki_compiled_kernel_free(&a);
    use_library(false, "error");
    assert_refused(ctx, get("hip", "gfx90a", TK_BF16, &a), TK_INTERNAL, "told to find an error");
}

TEST(nvrtc_fails)
{
    static const struct {
        const char *behaviour, *message;
        tk_status status;
    } cases[] = {
        {"error", "told to find an error", TK_INTERNAL},
        {"error", "header kernels/device.h", TK_INTERNAL}, /* it was given what the source includes */
        {"internal", "failed: a fake error", TK_INTERNAL},
        {"garbage", "are not a kernel image", TK_INTERNAL},
        {"nothing", "gave no image", TK_INTERNAL},
        {"huge", "gave no image", TK_INTERNAL},
        {"mute", "does not report its version", TK_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tki_compiled_kernel a;
        use_library(true, cases[i].behaviour);
        assert_refused(ctx, get("cuda", "sm_90", TK_F16, &a), cases[i].status, cases[i].message);
        assert_null(a.image);
        assert_int_equal(files_in("cache", ""), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(built_then_found),
        ENTERED(hip_programs),
        ENTERED(types_become_options),
        ENTERED(types_of_sources),
        ENTERED(damaged_entries_are_built_again),
        ENTERED(notes_are_told),
        ENTERED(a_cache_that_cannot_be_used),
        ENTERED(compilers_that_fail),
        ENTERED(a_compiler_that_hangs),
        ENTERED(compilers_that_are_none),
        ENTERED(old_clang_is_refused),
        ENTERED(requests_that_make_no_sense),
        ENTERED(hopper_sources_are_compiled_for_sm_90a),
        ENTERED(a_device_newer_than_the_compiler),
        ENTERED(one_process_compiles_for_all),
        ENTERED(nvrtc_builds),
        ENTERED(nvrtc_is_told_to_compile),
        ENTERED(a_log_without_resources_is_noted),
        ENTERED(hiprtc_builds),
        ENTERED(nvrtc_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
