/* Workers under compute-sanitizer: what it says is read, and a stand-in for it (tests/stand_in) runs around workers on a GPU that is not there
 * (tests/fake_gpu). tests/sanitizer_on_device.sh runs the real one. */
#include "core/escape.h"
#include "isolate/worker_process.h"
#include "tests/fake_gpu/begin.h"
#include "tests/op_test.h"
#include "tests/worker_test.h"
#include "worker/sandbox.h"

#define LINE(text) "========= " text "\n"
#define MORE(text) "=========     " text "\n"

/* As the manual and the program show them. */
static const struct {
    const char *log;
    tki_sanitizer_kind kind;
    int findings;
    bool complete;
    const char *text, *problem;
} logs[] = {
    {LINE("COMPUTE-SANITIZER") LINE("ERROR SUMMARY: 0 errors"), TKI_SANITIZER_NOTHING, 0, true, "", ""},
    {LINE("COMPUTE-SANITIZER") LINE("RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"),
     TKI_SANITIZER_NOTHING, 0, true, "", ""},
    {LINE("COMPUTE-SANITIZER") LINE("Invalid __global__ read of size 2 bytes")
         MORE("at stray(long, unsigned short *)+0x160 in stray.cu:6") MORE("by thread (0,0,0) in block (0,0,0)")
             MORE("Access at 0x7f6510c00001 is out of bounds")
                 MORE("and is 2 bytes after the nearest allocation at 0x7f6510c00000 of size 514 bytes") LINE("")
                     LINE("Invalid __global__ write of size 2 bytes") LINE("ERROR SUMMARY: 2 errors"),
     TKI_SANITIZER_STRAY_READ, 2, true,
     "Invalid __global__ read of size 2 bytes, at stray(long, unsigned short *)+0x160 in stray.cu:6, by thread "
     "(0,0,0) "
     "in block (0,0,0), Access at 0x7f6510c00001 is out of bounds and is 2 bytes after the nearest allocation at "
     "0x7f6510c00000 of size 514 bytes",
     ""},
    {LINE("Invalid __global__ write of size 4 bytes") LINE("ERROR SUMMARY: 1 error"), TKI_SANITIZER_STRAY_WRITE, 1,
     true, "Invalid __global__ write of size 4 bytes", ""},
    {LINE("Invalid __shared__ atomic of size 4 bytes") LINE("ERROR SUMMARY: 1 error"), TKI_SANITIZER_STRAY_WRITE, 1,
     true, "Invalid __shared__ atomic of size 4 bytes", ""},
    {LINE("Potential invalid __shared__ read of size 4 bytes") LINE("RACECHECK SUMMARY: 1 hazard displayed"),
     TKI_SANITIZER_STRAY_READ, 1, true, "Potential invalid __shared__ read of size 4 bytes", ""},
    {LINE("Error: Race reported between Write access at sum+0x90 in block_error.cu:41")
         MORE("and Read access at sum+0x100 in block_error.cu:51 [508 hazards]") LINE("")
             LINE("RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)"),
     TKI_SANITIZER_RACE, 1, true,
     "Error: Race reported between Write access at sum+0x90 in block_error.cu:41 and Read access at sum+0x100 in "
     "block_error.cu:51 [508 hazards]",
     ""},
    {LINE("WARNING: Race reported between Write access at RAW()+0xf0 in basic.cu:40")
         LINE("RACECHECK SUMMARY: 1 hazard displayed (0 error, 1 warnings)"),
     TKI_SANITIZER_RACE, 1, true, "WARNING: Race reported between Write access at RAW()+0xf0 in basic.cu:40", ""},
    {LINE("Uninitialized __global__ memory read of size 4 bytes") LINE("ERROR SUMMARY: 1 error"),
     TKI_SANITIZER_UNINITIALISED, 1, true, "Uninitialized __global__ memory read of size 4 bytes", ""},
    {LINE("Host API memory access error at host access to 0x7f7fcdc01200 of size 400 bytes")
         MORE("Uninitialized access at 0x7f7fcdc01300 on access by cudaMemcpy source") LINE("ERROR SUMMARY: 1 error"),
     TKI_SANITIZER_UNWRITTEN, 1, true,
     "Host API memory access error at host access to 0x7f7fcdc01200 of size 400 bytes, Uninitialized access at "
     "0x7f7fcdc01300 on access by cudaMemcpy source",
     ""},
    {LINE("Barrier error detected. Divergent thread(s) in warp") LINE("ERROR SUMMARY: 1 error"),
     TKI_SANITIZER_BARRIER, 1, true, "Barrier error detected. Divergent thread(s) in warp", ""},
    {LINE("Warp Illegal Address") LINE("ERROR SUMMARY: 1 error"), TKI_SANITIZER_OTHER, 1, true,
     "Warp Illegal Address", ""},
    {LINE("ERROR SUMMARY: 3 errors"), TKI_SANITIZER_OTHER, 3, true, "errors without a description", ""},
    {LINE("Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't track the "
          "launch.") LINE("ERROR SUMMARY: 0 errors"),
     TKI_SANITIZER_NOTHING, 0, false, "",
     "Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't track the launch."},
    {LINE("COMPUTE-SANITIZER") LINE("Error: Target application terminated before first instrumented API call")
         LINE("Tracking kernels launched by child processes requires the --target-processes all option."),
     TKI_SANITIZER_NOTHING, 0, false, "", "Error: Target application terminated before first instrumented API call"},
    {LINE("COMPUTE-SANITIZER") LINE("Error: Device not supported"), TKI_SANITIZER_NOTHING, 0, false, "",
     "Error: Device not supported"},
    {"/x/compute-sanitizer could not be started: Permission denied\n", TKI_SANITIZER_NOTHING, 0, false, "",
     "it printed no summary"},
    {"", TKI_SANITIZER_NOTHING, 0, false, "", "it printed no summary"},
    {"=========", TKI_SANITIZER_NOTHING, 0, false, "", "it printed no summary"},
    {LINE("Invalid __global__ \033[31mread of size 2\xff bytes"), TKI_SANITIZER_STRAY_WRITE, 1, false,
     "Invalid __global__ \\x1b[31mread of size 2\\xff bytes", "it printed no summary"},
};

TEST(reading)
{
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        tki_sanitizer_report report;
        tki_sanitizer_read(logs[i].log, &report);
        tki_escape_in_place(report.text, sizeof report.text);
        if (report.kind != logs[i].kind || report.findings != logs[i].findings || report.complete != logs[i].complete)
            fail_msg("%s: kind %d, %d findings, complete %d", logs[i].log, report.kind, report.findings,
                     report.complete);
        assert_string_equal(report.text, logs[i].text);
        assert_string_equal(report.problem, logs[i].problem);
    }
}

/* Whatever is printed, it is read to its end and no further: every beginning of every log, and longer lines than there is room for. */
TEST(reading_anything)
{
    tki_sanitizer_report report;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        for (size_t length = 0; length <= strlen(logs[i].log); length++) {
            char *part = strndup(logs[i].log, length);
            tki_sanitizer_read(part, &report);
            assert_true(strlen(report.text) < sizeof report.text);
            assert_true(report.findings <= logs[i].findings);
            free(part);
        }
    enum { LONG = 5000 };
    char *text = malloc(LONG);
    memset(text, 'x', LONG);
    memcpy(text, "========= Invalid __", 20);
    text[LONG - 1] = 0;
    tki_sanitizer_read(text, &report);
    assert_int_equal(report.kind, TKI_SANITIZER_STRAY_WRITE);
    assert_int_equal(strlen(report.text), sizeof report.text - 1);
    free(text);
}

/* ------------------------------------------------------------------------------------------------------------
 * The stand-in around workers
 * ------------------------------------------------------------------------------------------------------------ */

enum { SIZE = 300 };

static char stand_ins[PATH_MAX], usual_path[PATH_MAX];

static void use_stand_in(const char *folder)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? ":" : "", usual_path);
    setenv("PATH", path, 1);
}

TEST(finding)
{
    char found[PATH_MAX], expected[PATH_MAX + 64], folder[] = "/tmp/tokitai-toolkit-XXXXXX", command[PATH_MAX * 3];
    use_stand_in(stand_ins);
    assert_true(tki_sanitizer_find(found, sizeof found));
    snprintf(expected, sizeof expected, "%s/compute-sanitizer", stand_ins);
    assert_string_equal(found, expected);
    tki_sanitizer_version(found, sizeof found);
    assert_string_equal(found, "2025.4.1.0");
    use_stand_in("");
    assert_non_null(mkdtemp(folder));
    static const char *const places[] = {"compute-sanitizer", "bin"};
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "mkdir '%s/%s' && ln -s '%s/compute-sanitizer' '%s/%s/'", folder, places[i],
                 stand_ins, folder, places[i]);
        assert_int_equal(system(command), 0);
        setenv("CUDA_HOME", folder, 1);
        assert_true(tki_sanitizer_find(found, sizeof found));
        snprintf(expected, sizeof expected, "%s/%s/compute-sanitizer", folder, places[i]);
        assert_string_equal(found, expected);
        unsetenv("CUDA_HOME");
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

typedef struct trial {
    tk_ctx *ctx;
    tk_case c;
    uint16_t x[SIZE], y[SIZE];
    void *buffers[2];
    tki_overrun overrun;
    tki_worker *worker;
} trial;

static tk_status open_trial(trial *t, const char *kernel, tki_sanitizer_tool tool, unsigned without)
{
    *t = (trial){.ctx = new_context(), .c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16)};
    for (int i = 0; i < SIZE; i++)
        t->x[i] = (uint16_t)(i * 7 + 1);
    t->c.dims[0] = SIZE - 1;
    t->buffers[0] = t->x;
    t->buffers[1] = t->y + 1; /* another alignment */
    tki_worker_options options = {.backend = &tki_backends[TKI_CUDA],
                                  .call_seconds = 20,
                                  .sanitizer = tool,
                                  .terms.allow_weak = true,
                                  .without = without};
    return tki_worker_open(t->ctx, kernel_path(kernel), t->c.contract, &options, &t->worker);
}

static void finish(trial *t)
{
    tki_worker_close(t->worker);
    tk_ctx_destroy(t->ctx);
    assert_nothing_left();
}

static void watched(trial *t, const char *kernel, tki_sanitizer_tool tool, unsigned without,
                    tki_sanitizer_report *report)
{
    assert_ok(t->ctx, open_trial(t, kernel, tool, without));
    for (int i = 0; i < 3; i++) {
        memset(t->y, 0xa5, sizeof t->y);
        t->c.dims[0] = i == 1 ? 0 : SIZE - 1 - 50 * i; /* nothing at all, too */
        assert_ok(t->ctx, tki_worker_call(t->worker, &t->c, t->buffers, 1, NULL, &t->overrun));
        assert_int_equal(t->overrun.param, -1);
        assert_int_equal(t->y[0], 0xa5a5);
        assert_true(i == 0 || t->y[t->c.dims[0] + 1] == 0xa5a5);
        assert_true(i == 1 || t->y[10] != 0xa5a5);
    }
    tki_sanitizer_read(tki_worker_sanitizer_log(t->worker), report);
}

TEST(around_a_worker)
{
    use_stand_in(stand_ins);
    for (int i = TKI_SANITIZER_MEMCHECK; i < TKI_SANITIZER_TOOLS; i++) {
        const tki_sanitizer_tool tool = (tki_sanitizer_tool)i;
        trial t;
        tki_sanitizer_report report;
        watched(&t, "cuda_gelu", tool, 0, &report);
        assert_true(report.complete);
        assert_int_equal(report.findings, 0);
        char line[64];
        snprintf(line, sizeof line, "compute-sanitizer %s: may start programs", tki_sanitizer_name(tool));
        const char *confinement = report_text(tki_worker_confinement(t.worker));
        assert_non_null(strstr(confinement, line));
        assert_non_null(strstr(strstr(confinement, line), "seccomp: for kernels"));
        /* It can go on: another process, another report. */
        assert_ok(t.ctx, tki_worker_call(t.worker, &t.c, t.buffers, 1, NULL, &t.overrun));
        tki_sanitizer_read(tki_worker_sanitizer_log(t.worker), &report);
        assert_true(report.complete);
        finish(&t);
    }
}

TEST(what_it_finds)
{
    static const struct {
        const char *kernel;
        tki_sanitizer_tool tool;
        tki_sanitizer_kind kind;
    } list[] = {
        {"cuda_gelu_that_races", TKI_SANITIZER_RACECHECK, TKI_SANITIZER_RACE},
        {"cuda_gelu_that_races", TKI_SANITIZER_MEMCHECK, TKI_SANITIZER_NOTHING},
        {"cuda_gelu_that_reads_nothing_written", TKI_SANITIZER_INITCHECK, TKI_SANITIZER_UNINITIALISED},
        {"cuda_gelu_with_divergent_barrier", TKI_SANITIZER_SYNCCHECK, TKI_SANITIZER_BARRIER},
    };
    use_stand_in(stand_ins);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        trial t;
        tki_sanitizer_report report;
        watched(&t, list[i].kernel, list[i].tool, 0, &report);
        assert_int_equal(report.kind, list[i].kind);
        assert_true(report.complete);
        finish(&t);
    }
}

/* The allocation ends with the array there, and nowhere else. */
TEST(reads_behind)
{
    trial t;
    tki_sanitizer_report report;
    use_stand_in(stand_ins);
    assert_ok(t.ctx, open_trial(&t, "cuda_gelu_that_reads_on", TKI_SANITIZER_NONE, 0));
    assert_ok(t.ctx, tki_worker_call(t.worker, &t.c, t.buffers, 1, NULL, &t.overrun));
    finish(&t);
    assert_ok(t.ctx, open_trial(&t, "cuda_gelu_that_reads_on", TKI_SANITIZER_MEMCHECK, 0));
    assert_refused(t.ctx, tki_worker_call(t.worker, &t.c, t.buffers, 1, NULL, &t.overrun), TK_KERNEL_FAULT, "(700");
    tki_sanitizer_read(tki_worker_sanitizer_log(t.worker), &report);
    assert_int_equal(report.kind, TKI_SANITIZER_STRAY_READ);
    finish(&t);
}

TEST(with_less)
{
    static const unsigned less[] = {TKI_CONFINE_ALL, TKI_CONFINE_PIDS | TKI_CONFINE_USER, TKI_CONFINE_MOUNTS,
                                    TKI_CONFINE_LANDLOCK, TKI_CONFINE_SECCOMP};
    use_stand_in(stand_ins);
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        trial t;
        tki_sanitizer_report report;
        watched(&t, "cuda_gelu_that_races", TKI_SANITIZER_RACECHECK, less[i], &report);
        assert_int_equal(report.kind, TKI_SANITIZER_RACE);
        finish(&t);
    }
}

TEST(one_that_does_not_work)
{
    static const struct {
        const char *script, *says;
    } list[] = {
        {"#!/bin/sh\necho '========= COMPUTE-SANITIZER'\necho '========= Error: Device not supported'\nexit 255\n",
         "compute-sanitizer does not work here: Error: Device not supported"},
        {"#!/bin/sh\nexit 0\n", "compute-sanitizer does not work here: it printed no summary"},
        {"#!/nowhere\n", "compute-sanitizer does not work here: it printed no summary"},
    };
    char folder[] = "/tmp/tokitai-toolkit-XXXXXX", path[64], command[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/compute-sanitizer", folder);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        fputs(list[i].script, file);
        fchmod(fileno(file), 0755);
        fclose(file);
        use_stand_in(folder);
        trial t;
        tk_status status = open_trial(&t, "cuda_gelu", TKI_SANITIZER_MEMCHECK, 0);
        assert_refused(t.ctx, status, TK_UNAVAILABLE, list[i].says);
        finish(&t);
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
    snprintf(stand_ins, sizeof stand_ins, "%s/tests/stand_in", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : "..");
    snprintf(usual_path, sizeof usual_path, "%s", getenv("PATH"));
    fake_gpu_use("TOKITAI_CUDA_LIBRARY", "libcuda.so.1");
    return begin_worker_test(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),         cmocka_unit_test(reading_anything),       cmocka_unit_test(finding),
        cmocka_unit_test(around_a_worker), cmocka_unit_test(what_it_finds),          cmocka_unit_test(reads_behind),
        cmocka_unit_test(with_less),       cmocka_unit_test(one_that_does_not_work),
    };
    return cmocka_run_group_tests(tests, begin, end_worker_test);
}
