/* The flags that a user's source is compiled with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/process.h"
#include "backend/gpu.h"
#include "executor/worker.h"

static const double probe_seconds = 20;

/* True if the flags say themselves for which device. */
static bool names_architecture(const char *flags)
{
    static const char *const options[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                          "-code", "--gpu-code"};
    for (flags += strspn(flags, " \t\n"); *flags; flags += strspn(flags, " \t\n")) {
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            size_t length = strlen(options[i]);
            if (!strncmp(flags, options[i], length) && strchr("= \t\n", flags[length]))
                return true;
        }
        flags += strcspn(flags, " \t\n");
    }
    return false;
}

/* Whether nvcc takes the architecture; nothing is compiled. */
static bool takes(const char *compiler, const char *architecture)
{
    char path[4096], option[48], dry[] = "--dryrun", language[] = "-x", cuda[] = "cu", only[] = "-c", to[] = "-o",
                                 nowhere[] = "/dev/null", nothing[] = "/dev/null";
    if (!tki_language_compiler(compiler, path, sizeof path))
        return false;
    snprintf(option, sizeof option, "-arch=%.40s", architecture);
    tki_process process;
    tki_process_run((char *[]){path, option, dry, language, cuda, only, to, nowhere, nothing, NULL}, NULL,
                    probe_seconds, &process);
    free(process.output);
    return !process.problem[0] && process.exit_code == 0;
}

char *tki_language_flags(const tki_language *language, const char *compiler, const char *asked, int device)
{
    tki_gpu_info gpu = {0};
    char reason[256], candidates[3][40] = {"sm_80"}, *flags = NULL;
    const char *given = asked ? asked : language->flags;
    if (strcmp(language->backend, "cuda") != 0 || names_architecture(given))
        return strdup(given);
    /* Instructions of one architecture alone (wgmma) need its name with an `a`. Without a device nothing will run; nvcc's own default
     * may be too old for the tensor cores' types. */
    if (tki_gpu_at("cuda", device, &gpu, reason, sizeof reason) && gpu.architecture[0]) {
        snprintf(candidates[0], sizeof *candidates, "%s%s", gpu.architecture, gpu.major >= 9 ? "a" : "");
        snprintf(candidates[1], sizeof *candidates, "%s", gpu.major >= 9 ? gpu.architecture : "");
    }
    for (int i = 0; candidates[i][0]; i++)
        if (takes(compiler ? compiler : language->compiler, candidates[i]))
            return asprintf(&flags, "%s%s-arch=%s", given, *given ? " " : "", candidates[i]) < 0 ? NULL : flags;
    return strdup(given);
}
