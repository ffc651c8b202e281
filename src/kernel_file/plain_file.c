/* CHOOSES. The first kernel of an op that was made from a definition: its plain loops, as a file that is compiled, judged and run like a user's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/file.h"
#include "core/scratch.h"
#include "kernel_file/kernel_file.h"

/* "relu.c": of the first language of the backend. */
static void name_file(const tki_backend *backend, const tk_contract *contract, char *name, size_t size)
{
    snprintf(name, size, "%s%s", contract->name, backend->languages[0].ending);
}

static tk_status check_hash(tk_ctx *ctx, const tk_contract *contract, const char *source, const char *sha256)
{
    char hash[TKI_HASH_HEX];
    if (!sha256)
        return TK_OK;
    if (!tki_hash_bytes(source, strlen(source), hash))
        return tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    return strcmp(hash, sha256) == 0 ? TK_OK
                                     : tki_fail(ctx, TK_UNAVAILABLE,
                                                "the plain loops that this version writes of %s are not those of the "
                                                "certificate: their SHA-256 differs",
                                                contract->name);
}

/* It is written to a folder of its own, from which the copy is made that is compiled. */
static tk_status open_source(tk_ctx *ctx, const char *name, const char *source, const tk_kernel_file_options *options,
                             tk_kernel_file **kernel)
{
    tki_scratch folder = {0};
    char *path = NULL;
    tk_status status = tki_scratch_make(ctx, &folder);
    if (status == TK_OK)
        status = tki_file_add(ctx, folder.folder, name, source, strlen(source));
    if (status == TK_OK && asprintf(&path, "%s/%s", folder.path, name) < 0)
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for a path");
    if (status == TK_OK)
        status = tk_kernel_file_open(ctx, path, options, kernel);
    free(path);
    tki_scratch_remove(&folder);
    return status;
}

tk_status tk_kernel_file_plain(tk_ctx *ctx, const tk_contract *contract, const tk_kernel_file_options *options,
                               tk_kernel_file **kernel)
{
    char name[96], *source = NULL;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!contract || !kernel)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no contract, or nowhere to put the kernel");
    *kernel = NULL;
    const tki_backend *backend = tki_backend_find(options && options->backend ? options->backend : "cpu", ":");
    if (!backend)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "unknown backend '%.40s'", options->backend);
    name_file(backend, contract, name, sizeof name);
    tk_status status = tk_op_plain_kernel(ctx, contract, backend->name, &source);
    if (status == TK_OK)
        status = check_hash(ctx, contract, source, options ? options->sha256 : NULL);
    if (status == TK_OK)
        status = open_source(ctx, name, source, options, kernel);
    free(source);
    if (status != TK_OK)
        return status;
    (*kernel)->plain = true;
    free((*kernel)->path);
    (*kernel)->path = strdup(name);
    if ((*kernel)->path)
        return TK_OK;
    tk_kernel_file_close(*kernel);
    *kernel = NULL;
    return tki_fail(ctx, TK_NO_MEMORY, "no memory for a kernel file");
}
