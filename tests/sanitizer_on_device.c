/* Workers under the real compute-sanitizer, on a real GPU: every kernel of tests/device_kernels/ that no output gives away, under every tool.
 * Where a tool does not work in a worker, says which means of confinement it works without. For tests/sanitizer_on_device.sh, which gives it
 * the folder of the kernels and those of their headers; needs libtokitai alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "worker/sandbox.h"
#include "runtime/kernel_runner.h"

enum { SIZE = 3000 };

static const struct {
    const char *file;
    tki_sanitizer_kind kinds[TKI_SANITIZER_TOOLS]; /* that each tool must find */
} kernels[] = {
    {"gelu_right.cu", {0}},
    {"gelu_warp_shared.cu", {0}},
    {"gelu_early_return.cu", {0}},
    {"gelu_stray_read.cu", {[TKI_SANITIZER_MEMCHECK] = TKI_SANITIZER_STRAY_READ}},
    {"gelu_unwritten_scratch.cu", {[TKI_SANITIZER_INITCHECK] = TKI_SANITIZER_UNINITIALISED}},
    {"gelu_reads_output.cu", {[TKI_SANITIZER_INITCHECK] = TKI_SANITIZER_UNINITIALISED}},
    {"gelu_divergent_barrier.cu", {[TKI_SANITIZER_SYNCCHECK] = TKI_SANITIZER_BARRIER}},
};

static uint16_t x[SIZE + 1], y[SIZE + 1];

/* Three calls of other sizes and alignments. */
static tk_status watch(tk_ctx *ctx, const char *artifact, tki_sanitizer_tool tool, unsigned without,
                       tki_sanitizer_report *report, bool talkative)
{
    tki_runner runner;
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    tki_runnable executable = {.artifact = artifact,
                               .contract = c.contract,
                               .worker_options = {.backend = tki_backend_find("cuda", ""),
                                                  .start_seconds = 60,
                                                  .call_seconds = 60,
                                                  .sanitizer = tool,
                                                  .terms.allow_weak = true,
                                                  .without = without}};
    *report = (tki_sanitizer_report){0};
    double begin = tki_now();
    tk_status status = tki_runner_open(ctx, &executable, &runner);
    const bool open = status == TK_OK;
    double opened = tki_now();
    for (int i = 0; i < 3 && status == TK_OK; i++) {
        c.dims[0] = SIZE >> (5 * i);
        status = tki_runner_call(&runner, &c, (void *[]){x + i % 2, y + i / 2}, 1, NULL);
    }
    double called = tki_now();
    if (open) {
        const char *log = tki_runner_sanitizer_log(&runner);
        tki_sanitizer_read(log, report);
        const tki_confinement *confinement = tki_runner_confinement(&runner);
        for (int i = 0; talkative && i < confinement->count; i++) {
            char line[TKI_MEANS_TEXT];
            tki_means_text(&confinement->means[i], line, sizeof line);
            puts(line);
        }
        if (talkative)
            printf("%s\n", log);
    }
    printf("    %-9s opened in %.2f s, called in %.2f s, ended in %.2f s", tki_sanitizer_name(tool), opened - begin,
           called - opened, tki_now() - called);
    if (without)
        printf(", without %u", without);
    printf("\n");
    tki_runner_close(&runner);
    return status;
}

static void look_for_the_cause(tk_ctx *ctx, const char *artifact, tki_sanitizer_tool tool)
{
    static const struct {
        unsigned without;
        const char *name;
    } means[] = {
        {TKI_CONFINE_SECCOMP, "seccomp"},      {TKI_CONFINE_LANDLOCK, "Landlock"},
        {TKI_CONFINE_MOUNTS, "mounts"},        {TKI_CONFINE_NETWORK, "network"},
        {TKI_CONFINE_PIDS, "processes"},       {TKI_CONFINE_PIDS | TKI_CONFINE_USER, "processes and user"},
        {TKI_CONFINE_LIMITS, "limits"},        {TKI_CONFINE_CGROUP, "control group"},
        {TKI_CONFINE_ALL, "any of the means"},
    };
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        tki_sanitizer_report report;
        tk_status status = watch(ctx, artifact, tool, means[i].without, &report, false);
        printf("        without %s: %s%s%s\n", means[i].name, report.complete ? "works" : "does not work: ",
               report.complete   ? ""
               : status == TK_OK ? report.problem
                                 : tk_ctx_message(ctx),
               report.complete && status != TK_OK ? ", but the call failed" : "");
    }
}

static bool try_kernel(tk_ctx *ctx, int k, const char *folder, const char *const *includes, bool *explained)
{
    char path[4096];
    tki_worker_build build;
    bool good = true;
    snprintf(path, sizeof path, "%s/%s", folder, kernels[k].file);
    char *flags = tki_language_flags(ctx, tki_language_of(ctx, path), NULL, NULL, 0, &(tki_worker_terms){0});
    tki_worker_source source = {.file = path, .flags = flags, .includes = includes};
    printf("%s\n", kernels[k].file);
    if (tki_worker_compile(ctx, &source, &build) != TK_OK) {
        printf("    not compiled: %s\n%s\n", tk_ctx_message(ctx), build.log ? build.log : "");
        good = false;
    }
    for (int tool = TKI_SANITIZER_MEMCHECK; tool < TKI_SANITIZER_TOOLS && build.artifact[0] && good; tool++) {
        tki_sanitizer_report report;
        tk_status status = watch(ctx, build.artifact, (tki_sanitizer_tool)tool, 0, &report, k == 0);
        const bool as_expected = report.complete && report.kind == kernels[k].kinds[tool];
        printf("        %s: %d findings%s%s%s%s\n", as_expected ? "as expected" : "NOT AS EXPECTED", report.findings,
               report.kind ? ": " : "", report.text, report.problem[0] ? "; problem: " : "", report.problem);
        if (status != TK_OK)
            printf("        the call: %s\n", tk_ctx_message(ctx));
        if (!report.complete && !*explained) {
            look_for_the_cause(ctx, build.artifact, (tki_sanitizer_tool)tool);
            *explained = true;
        }
        good &= as_expected;
    }
    tki_worker_build_close(&build);
    free(flags);
    return good;
}

int main(int count, char **arguments)
{
    tk_ctx *ctx;
    bool good = true, explained = false;
    char path[4096], version[32];
    if (count < 4 || tk_ctx_create(&ctx) != TK_OK)
        return 2;
    if (!tki_sanitizer_find(path, sizeof path)) {
        printf("skipped: no compute-sanitizer\n");
        return 77;
    }
    tki_sanitizer_version(version, sizeof version);
    printf("%s, %s\n", path, version);
    for (int i = 0; i <= SIZE; i++)
        x[i] = (uint16_t)(i * 5 + 1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        good &= try_kernel(ctx, (int)k, arguments[1], (const char *const *)arguments + 2, &explained);
    tk_ctx_destroy(ctx);
    printf("%s\n", good ? "all as expected" : "NOT ALL AS EXPECTED");
    return good ? 0 : 1;
}
