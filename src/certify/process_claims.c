/* RECORDS. What a certificate says of the process that its kernel ran in and of what ran there, held against each other and against the run. */
#include "certify/process_claims.h"

#include <stdio.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/claims.h"
#include "certify/subject.h"
#include "core/limits.h"
#include "drivers/backend.h"
#include "isolate/confinement.h"
#include "kernel_file/source_uses.h"

typedef struct finding {
    const tk_certificate *certificate;
    char *what;
    size_t size;
} finding;

#define CONTRADICTS(f, ...) (snprintf((f)->what, (f)->size, __VA_ARGS__), true)

static const json_t *get(const finding *f, const char *path)
{
    return tki_certificate_get(f->certificate, path);
}

/* Its sentences are those of means, and their sum is what the means come to. */
static bool read_confinement(const finding *f, const char *member, tki_confinement *confinement)
{
    const json_t *lines = get(f, member);
    *confinement = (tki_confinement){0};
    if (json_array_size(lines) > TKI_MOST_MEANS)
        return CONTRADICTS(f, "`%s` has too many lines", member);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const char *line = json_string_value(json_array_get(lines, i));
        if (!line || !tki_means_read(line, &confinement->means[confinement->count++]))
            return CONTRADICTS(f, "`%s` has a line that says nothing of a sandbox: '%.200s'", member,
                               line ? line : "");
    }
    if (lines && !tki_confinement_adds_up(confinement))
        return CONTRADICTS(f, "`%s` does not come to the strength that it ends with", member);
    return false;
}

/* Where a limit holds, the process said so. */
static bool limit_differs(const finding *f, const tki_confinement *confinement, tki_by by, const char *member)
{
    const json_t *said = get(f, member);
    const int64_t limit = tki_confinement_limit(confinement, by);
    const int64_t due = json_is_integer(said) ? (int64_t)json_integer_value(said) : -1;
    return limit != due && CONTRADICTS(f, "`%s` is not the limit that its process said", member);
}

static bool worker_differs(const finding *f)
{
    const tk_certificate *c = f->certificate;
    const bool is_kernel_file = tki_certificate_is_of_file(c);
    tki_confinement own, compilers;
    char weakness[TKI_MEANS_TEXT] = "";
    if (read_confinement(f, "worker.confinement", &own) ||
        read_confinement(f, "worker.compiler_confinement", &compilers))
        return true;
    if (is_kernel_file && !own.count && json_array_size(get(f, "run.trials")))
        return CONTRADICTS(f, "it lists trials of a kernel file and no process that ran them");
    if (is_kernel_file && get(f, "worker") && get(f, "built.text_sha256") && !compilers.count)
        return CONTRADICTS(f, "its source was compiled, and in which process is missing");
    if (!get(f, "worker"))
        return false;
    const bool strong = tki_confinement_is_strong(&own);
    if (!strong)
        tki_confinement_weakness(&own, weakness, sizeof weakness);
    if (strcmp(tki_certificate_text(c, "worker.strength"), strong ? "strong" : "weak") != 0 ||
        strcmp(tki_certificate_text(c, "worker.weakness"), weakness) != 0)
        return CONTRADICTS(f, "the strength of its worker does not follow from its confinement");
    return limit_differs(f, &own, TKI_BY_MEMORY, "run.limits.memory_bytes") ||
           limit_differs(f, &own, TKI_BY_TASKS, "run.limits.tasks");
}

/* Why nothing is known of what ran, as far as the run says; NULL: it does not. */
static const char *no_coverage(const finding *f)
{
    const tki_subject_kind *kind = tki_subject_kind_named(tki_certificate_text(f->certificate, "run.kind"));
    const tki_backend *backend = tki_backend_find(tki_certificate_text(f->certificate, "machine.backend"), "");
    const char *of_kind = kind && backend ? tki_no_coverage_of_kind(kind, backend, get(f, "built.source") != NULL)
                                          : NULL;
    if (of_kind)
        return of_kind;
    return get(f, "run.coverage")                        ? TKI_COVERAGE_NOT_REQUESTED
           : get(f, "run.shape") || get(f, "run.family") ? TKI_COVERAGE_OF_RESTRICTED
                                                         : NULL;
}

static bool coverage_differs(const finding *f)
{
    static const char *const all[] = {"blocks", "edges", "calls", "found", "spent", "unwatched", "lines"};
    static const char *const of_lines[] = {"count", "run", "never_ran"};
    const json_t *coverage = get(f, "coverage"), *lines = get(f, "coverage.lines");
    const char *due = no_coverage(f), *said = tki_certificate_text(f->certificate, "coverage.reason");
    const bool known = json_is_true(get(f, "coverage.known"));
    if ((due && strcmp(said, due) != 0) || known == (said[0] != 0) || (!known && json_object_size(coverage) != 2))
        return CONTRADICTS(f, "its coverage does not fit its run%s%s", due ? ": " : "", due ? due : "");
    if (!due && (!strcmp(said, TKI_COVERAGE_NOT_REQUESTED) || !strcmp(said, TKI_COVERAGE_OF_RESTRICTED) ||
                 (!strcmp(said, TKI_COVERAGE_NOT_REACHED) && tki_certificate_holds(f->certificate))))
        return CONTRADICTS(f, "its coverage does not fit its run, of which it says: %s", said);
    for (size_t i = 0; known && i < sizeof all / sizeof *all; i++)
        if (!json_object_get(coverage, all[i]))
            return CONTRADICTS(f, "coverage.%s is missing", all[i]);
    for (size_t i = 0; lines && i < sizeof of_lines / sizeof *of_lines; i++)
        if (json_is_true(json_object_get(lines, "known")) != (json_object_get(lines, of_lines[i]) != NULL))
            return CONTRADICTS(f, "coverage.lines.%s does not fit coverage.lines.known", of_lines[i]);
    const json_int_t count = tki_certificate_integer(f->certificate, "coverage.lines.count"),
                     run = tki_certificate_integer(f->certificate, "coverage.lines.run");
    if (run > count || (run == count) != !json_array_size(get(f, "coverage.lines.never_ran")))
        return CONTRADICTS(f, "%lld of %lld lines ran, which is not what coverage.lines.never_ran says",
                           (long long)run, (long long)count);
    return false;
}

/* Limits that are in force without a process's word: those asked for, or the defaults. */
static bool asked_differ(const finding *f)
{
    const tk_limits defaults = tki_limits_of(NULL);
    const struct {
        const char *asked, *member;
        int64_t otherwise;
    } limits[] = {{"run.kernel.asked.output_bytes", "run.limits.output_bytes", defaults.output_bytes},
                  {"run.kernel.asked.folder_depth", "run.limits.folder_depth", defaults.folder_depth}};
    for (size_t i = 0; get(f, "run.kernel") && i < sizeof limits / sizeof *limits; i++) {
        const json_t *asked = get(f, limits[i].asked);
        const json_int_t due = asked ? json_integer_value(asked) : limits[i].otherwise;
        if (!get(f, limits[i].member) || json_integer_value(get(f, limits[i].member)) != due)
            return CONTRADICTS(f, "`%s` is not %lld, which was asked for or is the default", limits[i].member,
                               (long long)due);
    }
    return false;
}

/* What was compiled has a source, its hash and its compiler; of several files the source is the one compiled. */
static bool build_differs(const finding *f)
{
    static const char *const of_source[] = {"source", "source_sha256", "compiler", "options"};
    const tk_certificate *c = f->certificate;
    const char *flags = tki_certificate_text(c, "run.kernel.flags"),
               *options = tki_certificate_text(c, "built.options");
    const bool is_cpu = !strcmp(tki_certificate_text(c, "run.kernel.backend"), "cpu");
    const char *asked = flags[0] ? flags : tki_backend_find("cpu", "")->languages->flags;
    if (get(f, "run.kernel") && get(f, "built.source") && !get(f, "run.kernel.files") &&
        !get(f, "run.kernel.file_bytes") &&
        strcmp(tki_certificate_text(c, "built.source"), tki_certificate_text(c, "run.kernel.file")) != 0)
        return CONTRADICTS(f, "its source is not the kernel file");
    const json_t *depends = get(f, "built.depends_on");
    const unsigned telling = get(f, "run.kernel.library_alone") ? TKI_USES_OF_BUILD : TKI_USES_TELLING;
    for (size_t i = 0; tki_certificate_holds(c) && i < json_array_size(depends); i++)
        if (tki_use_is_of(telling, json_string_value(json_array_get(depends, i))))
            return CONTRADICTS(f, "it holds, but its source asks how it is compiled");
    /* For GPUs the architecture is added. */
    if (is_cpu && options[0] && strcmp(asked, options) != 0)
        return CONTRADICTS(f, "it was compiled with '%.80s'; '%.80s' was asked for", options, asked);
    for (size_t i = 0; get(f, "built.text_sha256") && i < sizeof of_source / sizeof *of_source; i++)
        if (!json_object_get(get(f, "built"), of_source[i]))
            return CONTRADICTS(f, "it was compiled from source, and built.%s is missing", of_source[i]);
    return false;
}

bool tki_process_contradicts(const tk_certificate *certificate, char *what, size_t size)
{
    const finding f = {certificate, what, size};
    return worker_differs(&f) || coverage_differs(&f) || asked_differ(&f) || build_differs(&f);
}
