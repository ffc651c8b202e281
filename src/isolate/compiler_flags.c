/* CHOOSES. The flags that a user's source is compiled with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "drivers/gpu_info.h"
#include "isolate/worker_process.h"

enum { PROBE_SECONDS = 20 };

tk_status tki_language_ask(tk_ctx *ctx, const char *compiler, const char *const options[],
                           const tki_worker_terms *terms, char **said)
{
    enum { MOST_OPTIONS = 8 };
    char path[4096];
    const char *command[MOST_OPTIONS + 2] = {path};
    tki_scratch folder = {0};
    *said = NULL;
    for (int i = 0; i < MOST_OPTIONS && options[i]; i++)
        command[i + 1] = options[i];
    if (!tki_language_compiler(compiler, path, sizeof path))
        return tki_fail(ctx, TK_UNAVAILABLE, "compiler %.200s not found", compiler);
    tk_status status = tki_scratch_make(ctx, &folder);
    if (status == TK_OK)
        status = tki_worker_tool(ctx, &folder, command, (const char *const[]){NULL}, PROBE_SECONDS, terms, said);
    tki_scratch_remove(&folder);
    return status;
}

/* True if the flags say themselves for which device. */
static bool names_architecture(const char *flags, const char *const *options)
{
    for (flags += strspn(flags, " \t\n"); *flags; flags += strspn(flags, " \t\n")) {
        for (int i = 0; options[i]; i++) {
            size_t length = strlen(options[i]);
            if (!strncmp(flags, options[i], length) && strchr("= \t\n", flags[length]))
                return true;
        }
        flags += strcspn(flags, " \t\n");
    }
    return false;
}

/* Whether nvcc takes the architecture; nothing is compiled. */
static bool takes(tk_ctx *ctx, const char *compiler, const char *architecture, const tki_worker_terms *terms)
{
    char option[48], *said;
    snprintf(option, sizeof option, "-arch=%.40s", architecture);
    const char *const options[] = {option, "--dryrun", "-x", "cu", "-c", "-o", "/dev/null", "/dev/null", NULL};
    bool good = tki_language_ask(ctx, compiler, options, terms, &said) == TK_OK;
    free(said);
    return good;
}

char *tki_language_flags(tk_ctx *ctx, const tki_language *language, const char *compiler, const char *asked,
                         int device, const tki_worker_terms *terms)
{
    tki_gpu_info gpu = {0};
    char reason[256], candidates[3][40] = {"sm_80"}, *flags = NULL;
    const char *given = asked ? asked : language->flags;
    const char *const *options = language->backend->architecture_options;
    if (!options || names_architecture(given, options))
        return strdup(given);
    /* Instructions of one architecture alone (wgmma) need its name with an `a`. Without a device nothing will run; nvcc's own default
     * may be too old for the tensor cores' types. */
    if (tki_gpu_at(language->backend, device, &gpu, reason, sizeof reason) && gpu.architecture[0]) {
        snprintf(candidates[0], sizeof *candidates, "%s%s", gpu.architecture, gpu.major >= 9 ? "a" : "");
        snprintf(candidates[1], sizeof *candidates, "%s", gpu.major >= 9 ? gpu.architecture : "");
    }
    for (int i = 0; candidates[i][0]; i++)
        if (takes(ctx, compiler ? compiler : language->compiler, candidates[i], terms))
            return asprintf(&flags, "%s%s-arch=%s", given, *given ? " " : "", candidates[i]) < 0 ? NULL : flags;
    return strdup(given);
}
