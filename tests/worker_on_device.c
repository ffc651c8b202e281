/* The worker on a real GPU: tests/kernels/gelu_on_cuda.cu, correct and in each of its wrong ways. Says what it saw. For
 * tests/worker_on_device.sh, which gives it the source and the folders of tokitai_kernel.h; needs libtokitai alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "runtime/kernel_runner.h"

enum { SIZE = 1000003 };

static const struct {
    const char *what, *flags;
    tk_status status;
    const char *text;
} ways[] = {
    {"correct", "-O2", TK_OK, ""},
    {"illegal address", "-O2 -DMISBEHAVE=1", TK_KERNEL_FAULT, "(700"},
    {"endless", "-O2 -DMISBEHAVE=2", TK_TIMEOUT, "did not return"},
    {"late, on another stream", "-O2 -DMISBEHAVE=3", TK_KERNEL_FAULT, "after its stream had finished"},
    {"writes behind", "-O2 -DMISBEHAVE=4", TK_OK, ""},
    {"changes its input", "-O2 -DMISBEHAVE=5", TK_OK, ""},
    {"device memory as host memory", "-O2 -DMISBEHAVE=6", TK_KERNEL_FAULT, "signal 11"},
    {"correct, once more", "-O2", TK_OK, ""},
};

static uint16_t x[SIZE], before[SIZE], y[SIZE], expected[SIZE];

/* Elements that are further than two steps of fp16 from the library's own result. */
static int far_off(void)
{
    int count = 0;
    for (int i = 0; i < SIZE; i++) {
        int difference = (int)y[i] - (int)expected[i];
        bool nan = (expected[i] & 0x7fff) > 0x7c00;
        bool tiny = (y[i] & 0x7fff) <= 2 && (expected[i] & 0x7fff) <= 2;
        count += nan ? (y[i] & 0x7fff) <= 0x7c00 : !tiny && (difference < -2 || difference > 2);
    }
    return count;
}

static bool run(tk_ctx *ctx, int way, const char *file, const char *const *includes)
{
    tki_worker_build build;
    tki_runner runner;
    double start = tki_now(), seconds = 0, best = 1e9;
    tk_case c = tk_case_init(tk_contract_find("gelu_fwd"), TK_F16);
    void *buffers[] = {x, y};
    c.dims[0] = SIZE;
    tki_worker_source source = {.file = file, .flags = ways[way].flags, .includes = includes};
    tk_status status = tki_worker_compile(ctx, &source, &build);
    if (status != TK_OK) {
        printf("%s: not compiled: %s\n%s\n", ways[way].what, tk_ctx_message(ctx), build.log ? build.log : "");
        tki_worker_build_close(&build);
        return false;
    }
    double compiled = tki_now();
    tki_runnable executable = {.artifact = build.artifact,
                               .contract = c.contract,
                               .worker_options = {.backend = tki_backend_find("cuda", ""), .call_seconds = 10}};
    status = tki_runner_open(ctx, &executable, &runner);
    double opened = tki_now();
    const tki_confinement *confinement = status == TK_OK && way == 0 ? tki_runner_confinement(&runner) : NULL;
    for (int i = 0; confinement && i < confinement->count; i++) {
        char line[TKI_MEANS_TEXT];
        tki_means_text(&confinement->means[i], line, sizeof line);
        puts(line);
    }
    for (int i = 0; i < (ways[way].status == TK_OK ? 10 : 1) && status == TK_OK; i++) {
        memcpy(x, before, sizeof x);
        memset(y, 0xa5, sizeof y);
        status = tki_runner_call(&runner, &c, buffers, 1, &seconds);
        best = seconds < best ? seconds : best;
    }
    const char *message = status == TK_OK ? "" : tk_ctx_message(ctx);
    bool good = status == ways[way].status && strstr(message, ways[way].text) != NULL;
    printf("%s: %s%s%s; compiled in %.2f s, opened in %.2f s, all in %.2f s\n", ways[way].what,
           tk_status_text(status), *message ? ": " : "", message, compiled - start, opened - compiled,
           tki_now() - start);
    if (status == TK_OK) {
        bool changed = memcmp(x, before, sizeof x) != 0;
        int wrong = far_off();
        printf("    %d of %d elements far off; %.1f us; input %s; overrun of parameter %d at byte %lld\n", wrong,
               SIZE, 1e6 * best, changed ? "changed" : "as it was", runner.caller.overrun.param,
               (long long)runner.caller.overrun.offset);
        good &= wrong == 0 && changed == (way == 5) && (runner.caller.overrun.param == 1) == (way == 4) &&
                (way != 4 || runner.caller.overrun.offset == 2 * SIZE);
    }
    printf("    %s\n", good ? "as expected" : "NOT AS EXPECTED");
    tki_runner_close(&runner);
    tki_worker_build_close(&build);
    return good;
}

int main(int count, char **arguments)
{
    tk_ctx *ctx;
    if (count != 4 || tk_ctx_create(&ctx) != TK_OK)
        return 2;
    for (int i = 0; i < SIZE; i++)
        before[i] = (uint16_t)(i * 5 + 1);
    if (tk_gelu_fwd(ctx, TK_F16, SIZE, before, expected) != TK_OK)
        return 2;
    bool good = true;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        good &= run(ctx, (int)i, arguments[1], (const char *const *)arguments + 2);
    tk_ctx_destroy(ctx);
    return good ? 0 : 1;
}
