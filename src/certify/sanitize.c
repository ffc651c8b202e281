/* RECORDS. What runs under compute-sanitizer, and what follows from what it says. */
#include "certify/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/escape.h"
#include "core/random.h"
#include "judge/call_setup.h"
#include "kernel_file/kernel_file.h"
#include "trials/levels.h"

/* ------------------------------------------------------------------------------------------------------------
 * Which trials
 * ------------------------------------------------------------------------------------------------------------ */

/* A watched kernel is slower by two or three orders of magnitude. */
enum { MOST_ELEMENTS = 1 << 16, MOST_WORK = 1 << 24 };

/* Of all arrays together; -1 if the trial is too large, or empty. */
static int64_t size_of(const tki_trial *trial)
{
    const tk_case *c = &trial->c;
    int64_t elements = 0, work = 1;
    for (int p = 0; p < c->contract->param_count; p++) {
        int64_t count = tk_case_elements(c, p);
        if (count > MOST_ELEMENTS || (elements += count) > MOST_ELEMENTS)
            return -1;
    }
    for (int d = 0; d < c->contract->dim_count; d++)
        if (__builtin_mul_overflow(work, c->dims[d], &work) || work > MOST_WORK)
            return -1;
    return work > 0 && trial->family != TKI_ALL_PATTERNS ? elements : -1;
}

static int by_size(const void *a, const void *b)
{
    const tki_trial *one = *(const tki_trial *const *)a, *other = *(const tki_trial *const *)b;
    int64_t sizes[2] = {size_of(one), size_of(other)};
    if (sizes[0] != sizes[1])
        return sizes[0] < sizes[1] ? -1 : 1;
    return memcmp(one->c.dims, other->c.dims, sizeof one->c.dims);
}

/* Trials of one shape differ in size where a tensor is optional. */
static int by_shape(const void *a, const void *b)
{
    const tki_trial *one = *(const tki_trial *const *)a, *other = *(const tki_trial *const *)b;
    return memcmp(one->c.dims, other->c.dims, sizeof one->c.dims);
}

void tki_sanitize_choose(const tki_trial *const all[], int64_t count, uint64_t seed, int most,
                         tki_sanitize_trials *chosen)
{
    tki_random random = tki_random_stream(seed, 3);
    chosen->count = 0;
    const tki_trial **fit = calloc((size_t)count + 1, sizeof *fit);
    int64_t found = 0, shapes = 0;
    for (int64_t i = 0; fit && i < count; i++)
        if (size_of(all[i]) > 0)
            fit[found++] = all[i];
    if (found)
        qsort(fit, (size_t)found, sizeof *fit, by_shape);
    /* Of each shape one, drawn. */
    for (int64_t i = 0, alike; i < found; i += alike) {
        for (alike = 1; i + alike < found && !by_shape(&fit[i], &fit[i + alike]);)
            alike++;
        fit[shapes++] = fit[i + (int64_t)tki_random_below(&random, (uint64_t)alike)];
    }
    if (shapes)
        qsort(fit, (size_t)shapes, sizeof *fit, by_size);
    for (int i = 0; i < most && i < shapes; i++)
        chosen->list[chosen->count++] = fit[shapes <= most ? i : (i + 1) * shapes / most - 1];
    free(fit);
}

/* ------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------ */

/* Each trial is called so often, with its arrays at other places each time, as in trial.c. */
enum { CALLS = 2 };

static void free_buffers(tki_guarded buffers[])
{
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        tki_guard_free(&buffers[p]);
}

/* Host buffers of one call, to whose alignment the device's copies are aligned. */
static tk_status make_buffers(tk_ctx *ctx, const tki_trial *trial, int number, const tki_inputs *inputs,
                              tki_guarded buffers[])
{
    const tk_case *c = &trial->c;
    const tki_setup setup = tki_setup_draw(trial, number);
    for (int p = 0; p < c->contract->param_count; p++) {
        const size_t element = tk_dtype_size(tk_case_param_dtype(c, p));
        const size_t bytes = (size_t)tk_case_elements(c, p) * element;
        if (!tki_guard_alloc_plain(&buffers[p], setup.placement[p], bytes, element))
            return tki_fail(ctx, TK_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
        if (c->contract->params[p].output)
            tki_fill_bytes(&(tki_fill){.kind = TKI_FILL_RANDOM, .seed = setup.fill_seed[p], .element = element}, 0,
                           bytes, buffers[p].data);
        else if (bytes)
            memcpy(buffers[p].data, inputs->data[p], bytes);
    }
    return TK_OK;
}

static tk_status call_once(tk_ctx *ctx, tki_runner *runner, const tki_trial *trial, int number,
                           const tki_inputs *inputs)
{
    tki_guarded buffers[TK_MAX_PARAMS] = {0};
    void *pointers[TK_MAX_PARAMS] = {0};
    tk_status status = make_buffers(ctx, trial, number, inputs, buffers);
    for (int p = 0; p < TK_MAX_PARAMS; p++)
        pointers[p] = buffers[p].data;
    if (status == TK_OK)
        status = tki_runner_call(runner, &trial->c, pointers, 0, NULL);
    free_buffers(buffers);
    return status;
}

static tk_status call_trial(tk_ctx *ctx, tki_runner *runner, const tki_sanitize_trials *trials,
                            const tki_trial *trial, int64_t *calls)
{
    tki_inputs inputs;
    tk_status status = tki_inputs_make(ctx, trial, trials->options, &inputs);
    if (status != TK_OK)
        return status;
    for (int number = 0; number < CALLS && status == TK_OK; number++) {
        status = call_once(ctx, runner, trial, number, &inputs);
        *calls += status == TK_OK || status == TK_KERNEL_FAULT;
    }
    tki_inputs_free(&inputs);
    return status;
}

/* Trials [from, from + count) in one process. *about->problem says what kept it from watching all of them. */
static tk_status run(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract, tki_sanitizer_tool tool,
                     const tki_sanitize_trials *trials, int from, int count, tki_sanitized *sanitized,
                     tki_sanitized_tool *about, tki_sanitizer_report *report)
{
    tki_runner runner;
    *about = (tki_sanitized_tool){0};
    *report = (tki_sanitizer_report){0};
    tk_status status = tki_kernel_file_start_watched(ctx, kernel, contract, tool, &runner);
    bool opened = status == TK_OK;
    if (opened && !sanitized->confinement.count)
        sanitized->confinement = *tki_runner_confinement(&runner);
    for (int i = from; i < from + count && status == TK_OK; i++)
        status = call_trial(ctx, &runner, trials, trials->list[i], &about->calls);
    /* Whatever befell the kernel or the sanitizer; these trials had held before. */
    if (status == TK_UNAVAILABLE || status == TK_BAD_FILE || status == TK_KERNEL_FAULT || status == TK_TIMEOUT ||
        status == TK_UNSUPPORTED) {
        snprintf(about->problem, sizeof about->problem, "%.250s", tk_ctx_message(ctx));
        status = TK_OK;
    }
    if (opened && status == TK_OK) {
        tki_sanitizer_read(tki_runner_sanitizer_log(&runner), report);
        tki_escape_in_place(report->text, sizeof report->text);
        tki_escape_in_place(report->problem, sizeof report->problem);
        if (!about->problem[0])
            snprintf(about->problem, sizeof about->problem, "%s", report->problem);
    }
    about->findings = report->findings;
    about->complete = !about->problem[0];
    tki_runner_close(&runner);
    return status;
}

/* Halves the trials until one is left, the smallest that shows it if larger ones do too. */
static tk_status find_trial(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                            const tki_sanitize_trials *trials, tki_sanitized *s, const tki_trial **failed)
{
    int from = 0, count = trials->count;
    tki_sanitized_tool about;
    tki_sanitizer_report report;
    tk_status status = TK_OK;
    while (count > 0) {
        const int part = count > 1 ? count / 2 : 1;
        status = run(ctx, kernel, contract, s->tool, trials, from, part, s, &about, &report);
        if (status != TK_OK)
            return status;
        if (report.findings && part == 1) {
            *failed = trials->list[from];
            s->report = report;
            return TK_OK;
        }
        from += report.findings ? 0 : part;
        count = report.findings ? part : count - part;
    }
    return TK_OK;
}

tk_status tki_sanitize(tk_ctx *ctx, const tk_kernel_file *kernel, const tk_contract *contract,
                       const tki_sanitize_trials *trials, tki_sanitized *sanitized, const tki_trial **failed)
{
    char path[4096];
    tk_status status = TK_OK;
    *failed = NULL;
    sanitized->ran = true;
    sanitized->here = tki_sanitizer_find(path, sizeof path);
    if (!sanitized->here)
        return TK_OK;
    tki_sanitizer_version(sanitized->version, sizeof sanitized->version);
    for (int tool = TKI_SANITIZER_MEMCHECK; tool < TKI_SANITIZER_TOOLS && status == TK_OK && !sanitized->tool;
         tool++) {
        status = run(ctx, kernel, contract, (tki_sanitizer_tool)tool, trials, 0, trials->count, sanitized,
                     &sanitized->tools[tool], &sanitized->report);
        if (status == TK_OK && sanitized->report.findings)
            sanitized->tool = (tki_sanitizer_tool)tool;
    }
    return status == TK_OK && sanitized->tool ? find_trial(ctx, kernel, contract, trials, sanitized, failed) : status;
}

/* ------------------------------------------------------------------------------------------------------------
 * What follows
 * ------------------------------------------------------------------------------------------------------------ */

/* On the CPU a read outside the arrays ends in a crash, and so in SHAPE; here it is seen before. What depends on the timing of threads or on
 * what was in memory before cannot give the same bits on every run. */
int tki_sanitize_clause(const tk_contract *contract, tki_sanitizer_kind kind)
{
    switch (kind) {
    case TKI_SANITIZER_STRAY_WRITE:
    case TKI_SANITIZER_UNWRITTEN: return tki_clause_find(contract, TK_CLAUSE_WRITE);
    case TKI_SANITIZER_RACE:
    case TKI_SANITIZER_UNINITIALISED:
    case TKI_SANITIZER_BARRIER: return tki_clause_find(contract, TK_CLAUSE_REPEAT);
    default: return tki_clause_find(contract, TK_CLAUSE_SHAPE);
    }
}

const char *tki_sanitize_meaning(tki_sanitizer_kind kind)
{
    switch (kind) {
    case TKI_SANITIZER_STRAY_READ: return "reads outside its arrays";
    case TKI_SANITIZER_STRAY_WRITE: return "writes outside its arrays";
    case TKI_SANITIZER_RACE: return "has a race on shared memory";
    case TKI_SANITIZER_UNINITIALISED: return "reads uninitialised memory";
    case TKI_SANITIZER_UNWRITTEN: return "leaves a part of an output unwritten";
    case TKI_SANITIZER_BARRIER: return "has a barrier that some threads do not reach";
    default: return "fails on its device";
    }
}
