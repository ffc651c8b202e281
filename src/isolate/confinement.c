/* CHOOSES. What shuts foreign code in: the terms of running it, and how a worker keeps to them. */
#include "isolate/confinement.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/limits.h"
#include "isolate/worker_start.h"

void tki_terms_add(const tki_worker_terms *terms, tki_strings *arguments)
{
    const tk_limits limits = tki_limits_of(&terms->limits);
    tki_strings_add(arguments, "memory=%lld", (long long)limits.memory_bytes);
    tki_strings_add(arguments, "tasks=%d", limits.tasks);
    tki_strings_add(arguments, "output=%lld", (long long)limits.output_bytes);
    tki_strings_add(arguments, "weak=%d", terms->allow_weak);
}

/* What follows on the last line that begins so, or NULL: under compute-sanitizer there are those of its process before. */
static const char *last_line(const char *report, const char *begin)
{
    const char *line = NULL;
    for (const char *next = report; (next = strstr(next, begin)); next++)
        line = next;
    return line ? line + strlen(begin) : NULL;
}

const char *tki_confinement_weakness(const char *report)
{
    static const char weak[] = "weak: ";
    const char *line = last_line(report, TKI_CONFINEMENT_LINE);
    if (!line)
        return "the worker did not say how it is confined";
    return strncmp(line, weak, sizeof weak - 1) != 0 ? NULL : line + sizeof weak - 1;
}

tk_status tki_terms_accept(tk_ctx *ctx, const tki_worker_terms *terms, const char *report)
{
    const char *weakness = tki_confinement_weakness(report);
    if (!weakness || terms->allow_weak)
        return TK_OK;
    return tki_fail(ctx, TK_UNAVAILABLE,
                    "this system cannot shut foreign code in, so that it is not run: %.*s; --allow-weak-sandbox runs "
                    "it all the same",
                    (int)strcspn(weakness, "\n"), weakness);
}

int64_t tki_confinement_limit(const char *report, tki_limit limit)
{
    static const char *const begins[] = {TKI_MEMORY_LINE, TKI_TASKS_LINE};
    const char *line = last_line(report, begins[limit]);
    char *end = NULL;
    long long number = line ? strtoll(line, &end, 10) : 0;
    return line && end > line && number > 0 ? number : -1;
}
