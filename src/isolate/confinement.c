/* CHOOSES. What shuts foreign code in: the terms of running it, and how a worker keeps to them. */
#include "isolate/confinement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/limits.h"

void tki_terms_add(const tki_worker_terms *terms, tki_strings *arguments)
{
    const tk_limits limits = tki_limits_of(&terms->limits);
    tki_strings_add(arguments, "memory=%lld", (long long)limits.memory_bytes);
    tki_strings_add(arguments, "tasks=%d", limits.tasks);
    tki_strings_add(arguments, "output=%lld", (long long)limits.output_bytes);
    tki_strings_add(arguments, "weak=%d", terms->allow_weak);
}

/* In the words of certificates. Details stand where there is a number or a bit. */
static const struct words {
    const char *name, *before, *after; /* the number */
    const char *with[3];
} words[TKI_BY_END] = {
    [TKI_BY_NO_NEW_PRIVILEGES] = {.name = "no new privileges"},
    [TKI_BY_FIRST_TO_END] = {.name = "first to be killed when the machine runs out of memory"},
    [TKI_BY_GROUP] = {"control group", ":", "", {" tasks", " memory"}},
    [TKI_BY_USER] = {.name = "user namespace"},
    [TKI_BY_NETWORK] = {.name = "network namespace"},
    [TKI_BY_IPC] = {.name = "IPC namespace"},
    [TKI_BY_PIDS] = {.name = "process namespace"},
    [TKI_BY_MOUNTS] = {"mount namespace", ": ", "", {"private file tree, ", "read-only except the scratch folder"}},
    [TKI_BY_TREE] = {.name = "private file tree"},
    [TKI_BY_PROC] = {.name = "private /proc"},
    [TKI_BY_SCRATCH] = {.name = "scratch folder: 256 MiB of memory, 16384 files"},
    [TKI_BY_CAPABILITIES] = {.name = "capabilities: none"},
    [TKI_BY_LIMITS] = {"limits",
                       ": no core files, files of ",
                       " bytes, 4096 descriptors",
                       {", addresses of each process", ", processor time"}},
    [TKI_BY_MEMORY] = {"memory limit in bytes", ": ", "", {"none"}},
    [TKI_BY_TASKS] = {"task limit", ": ", "", {"none"}},
    [TKI_BY_LANDLOCK] = {"Landlock", ", version ", ": files", {", TCP", ", signals, abstract sockets"}},
    [TKI_BY_SECCOMP] = {"seccomp", ": for ", "", {"kernels", "compilers", "compute-sanitizer"}},
    [TKI_BY_STRENGTH] = {"confinement", .with = {"files are not protected: neither Landlock nor a private file tree",
                                                 "no system call filter", "privileges could not be dropped"}},
    [TKI_BY_OUTER] = {.name = "compute-sanitizer",
                      .before = " ",
                      .after = ": may start programs and connect to them; what follows is the kernel's own"},
};

_Static_assert(TKI_WORKER_DESCRIPTORS == 4096, "as the words say");

static bool is_known(const tki_means *m)
{
    const struct words *w = &words[m->by < TKI_BY_END ? m->by : 0];
    int bits = 0;
    while (bits < 3 && w->with[bits])
        bits++;
    return w->name && m->with >> bits == 0 && m->error >= TKI_LEFT_OUT && (w->before || !m->number);
}

void tki_confinement_read(const tki_wire_reply *reply, tki_sanitizer_tool tool, tki_confinement *confinement)
{
    const size_t bytes = reply->text_bytes;
    bool known = bytes && bytes % sizeof(tki_means) == 0 && bytes <= sizeof confinement->means;
    *confinement = (tki_confinement){.count = known ? (int)(bytes / sizeof(tki_means)) : 0};
    memcpy(confinement->means, tki_wire_reply_text(reply), known ? bytes : 0);
    for (int i = 0; i < confinement->count; i++) {
        tki_means *m = &confinement->means[i];
        known &= is_known(m) && (m->by != TKI_BY_OUTER || tool);
        m->number = m->by == TKI_BY_OUTER ? (int64_t)tool : m->number;
    }
    if (!known)
        *confinement = (tki_confinement){1, {{.by = TKI_BY_STRENGTH, .error = TKI_LEFT_OUT}}};
}

/* The last one: under compute-sanitizer there are those of its process before. NULL: there is none that was set up. */
static const tki_means *last_of(const tki_confinement *confinement, tki_by by)
{
    const tki_means *last = NULL;
    for (int i = 0; i < confinement->count; i++)
        if (confinement->means[i].by == by)
            last = &confinement->means[i];
    return last && !last->error ? last : NULL;
}

bool tki_confinement_is_strong(const tki_confinement *confinement)
{
    const tki_means *strength = last_of(confinement, TKI_BY_STRENGTH);
    return strength && strength->with == TKI_STRONG;
}

int64_t tki_confinement_limit(const tki_confinement *confinement, tki_by by)
{
    const tki_means *limit = last_of(confinement, by);
    return limit && limit->number > 0 ? limit->number : -1;
}

tk_status tki_terms_accept(tk_ctx *ctx, const tki_worker_terms *terms, const tki_confinement *confinement)
{
    char weakness[TKI_MEANS_TEXT];
    if (tki_confinement_is_strong(confinement) || terms->allow_weak)
        return TK_OK;
    tki_confinement_weakness(confinement, weakness, sizeof weakness);
    return tki_fail(ctx, TK_UNAVAILABLE,
                    "sandbox incomplete (%s); kernel not run. --allow-weak-sandbox runs it anyway", weakness);
}

static void say_weakness(const tki_means *strength, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "the worker did not report its confinement");
    for (int i = 0; strength && i < 3; i++)
        if (!(strength->with >> i & 1))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "",
                                     words[TKI_BY_STRENGTH].with[i]);
}

void tki_confinement_weakness(const tki_confinement *confinement, char *text, size_t size)
{
    say_weakness(last_of(confinement, TKI_BY_STRENGTH), text, size);
}

void tki_means_text(const tki_means *m, char *text, size_t size)
{
    const struct words *w = &words[m->by];
    const bool details = m->error != TKI_LEFT_OUT && (m->number || m->with);
    char number[24] = "", with[3][48] = {"", "", ""}, weakness[TKI_MEANS_TEXT - 32];
    if (m->by == TKI_BY_STRENGTH) {
        say_weakness(m->error ? NULL : m, weakness, sizeof weakness);
        const bool strong = !m->error && m->with == TKI_STRONG;
        snprintf(text, size, "confinement: %s%s", strong ? "strong" : "weak: ", strong ? "" : weakness);
        return;
    }
    if (m->by == TKI_BY_OUTER)
        snprintf(number, sizeof number, "%s", tki_sanitizer_name((tki_sanitizer_tool)m->number));
    else if (m->number)
        snprintf(number, sizeof number, "%lld", (long long)m->number);
    for (int i = 0; i < 3; i++)
        if (m->with >> i & 1)
            snprintf(with[i], sizeof with[i], "%s", w->with[i]);
    snprintf(text, size, "%s%s%s%s%s%s%s%s%s", w->name, details ? w->before : "", details ? number : "",
             details ? w->after : "", with[0], with[1], with[2],
             m->error == TKI_LEFT_OUT ? ": left out"
             : m->error               ? ": failed: "
                                      : "",
             m->error > 0 ? strerror(m->error) : "");
}

/* `line` is that of the means, but for the system's words about an error. */
static bool is_line_of(const tki_means *m, const char *line)
{
    char text[TKI_MEANS_TEXT];
    tki_means_text(m, text, sizeof text);
    const char *failed = m->error > 0 ? strstr(text, ": failed: ") : NULL;
    const size_t same = failed ? (size_t)(failed - text) + strlen(": failed: ") : strlen(text) + 1;
    return !strncmp(line, text, same) && (!failed || line[same]);
}

bool tki_means_read(const char *line, tki_means *means)
{
    static const int errors[] = {0, TKI_LEFT_OUT, 1};
    for (unsigned by = 1; by < TKI_BY_END; by++) {
        const struct words *w = &words[by];
        const size_t before = strlen(w->name) + (w->before ? strlen(w->before) : 0);
        if (strncmp(line, w->name, strlen(w->name)) != 0)
            continue;
        const int64_t said = w->before && strlen(line) > before ? strtoll(line + before, NULL, 10) : 0;
        /* compute-sanitizer's tools are told by name. */
        const int64_t least = by == TKI_BY_OUTER ? TKI_SANITIZER_MEMCHECK : said;
        const int64_t most = by == TKI_BY_OUTER ? TKI_SANITIZER_TOOLS - 1 : said;
        for (int64_t number = least; number <= most; number++)
            for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
                for (unsigned with = 0; with < 8; with++) {
                    *means = (tki_means){(uint16_t)by, (uint16_t)with, errors[e], number};
                    if (is_known(means) && is_line_of(means, line))
                        return true;
                }
    }
    return false;
}

bool tki_confinement_adds_up(const tki_confinement *confinement)
{
    const tki_means *strength = last_of(confinement, TKI_BY_STRENGTH), *tree = last_of(confinement, TKI_BY_MOUNTS);
    if (!strength || strength != &confinement->means[confinement->count - 1])
        return !strength;
    const bool keeps_files = last_of(confinement, TKI_BY_LANDLOCK) || (tree && tree->with & TKI_OWN_TREE);
    const bool gives_up = last_of(confinement, TKI_BY_CAPABILITIES) && last_of(confinement, TKI_BY_NO_NEW_PRIVILEGES);
    return !(strength->with & TKI_KEEPS_FILES && !keeps_files) &&
           !(strength->with & TKI_FILTERS_CALLS && !last_of(confinement, TKI_BY_SECCOMP)) &&
           !(strength->with & TKI_GIVES_UP_PRIVILEGES && !gives_up);
}
