/* TRUSTED. Provenance of a kernel that is built into this process. */
#include "verify/provenance.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"
#include "tokitai_build.h"

static const struct {
    const char *path, *hash;
} sources[] = {TKI_BUILD_SOURCES};

static const struct {
    const char *isa, *options;
} isas[] = {TKI_BUILD_ISA_OPTIONS};

/* The loader knows a shared library by its path, and the program itself only by the name it was started with. */
static bool object_path(uintptr_t code, char path[PATH_MAX])
{
    Dl_info info;
    if (dladdr((void *)code, &info) && info.dli_fname && strchr(info.dli_fname, '/') &&
        strstr(info.dli_fname, ".so") && realpath(info.dli_fname, path))
        return true;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return false;
    path[length] = 0;
    return true;
}

tk_status tki_provenance_find(tk_ctx *ctx, const char *source, const char *variant, uintptr_t code,
                              tki_provenance *provenance)
{
    *provenance = (tki_provenance){.source = source};
    char path[PATH_MAX];
    if (!object_path(code, path) || !tki_hash_file(path, provenance->artifact_hash))
        return tki_fail(ctx, TK_IO, "cannot read the object file that holds the kernel");
    snprintf(provenance->artifact_path, sizeof provenance->artifact_path, "%s", path);
    for (size_t i = 0; source && i < sizeof sources / sizeof *sources; i++)
        if (!strcmp(sources[i].path, source))
            provenance->source_hash = sources[i].hash;
    if (source && !provenance->source_hash)
        return tki_fail(ctx, TK_INTERNAL, "the hash of %s is not known to this build", source);
    if (source) {
        provenance->compiler = TKI_BUILD_COMPILER;
        const char *isa_options = "";
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
            if (!strcmp(isas[i].isa, variant))
                isa_options = isas[i].options;
        snprintf(provenance->options, sizeof provenance->options, "%s %s", TKI_BUILD_KERNEL_OPTIONS, isa_options);
    }
    if (!tk_device_at(0, &provenance->device))
        return tki_fail(ctx, TK_INTERNAL, "this machine's processor could not be described");
    return TK_OK;
}

bool tki_provenance_key(const tki_provenance *provenance, const tk_contract *contract, const char *subject,
                        char key[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    tki_hash_add_text(&hash, contract->name);
    tki_hash_add_text(&hash, contract->bound);
    for (int i = 0; i < contract->clause_count; i++) {
        tki_hash_add_text(&hash, contract->clauses[i].id);
        tki_hash_add_text(&hash, contract->clauses[i].text);
    }
    tki_hash_add_text(&hash, subject);
    tki_hash_add_text(&hash, provenance->artifact_hash);
    tki_hash_add_text(&hash, provenance->options);
    tki_hash_add_text(&hash, provenance->device.name);
    tki_hash_add_text(&hash, provenance->device.detail);
    return tki_hash_finish(&hash, key);
}
