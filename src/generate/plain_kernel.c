/* UNTRUSTED. tk_op_plain_kernel() */
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "generate/plain.h"

tk_status tk_op_plain_kernel(tk_ctx *ctx, const tk_contract *contract, const char *backend, char **source)
{
    const tki_definition *definition = contract ? tki_definition_of(contract) : NULL;
    const char *gpu = backend && strcmp(backend, "cpu") != 0 ? backend : NULL;
    const char *why = NULL;
    size_t size;
    if (!ctx || !source)
        return TK_BAD_ARGUMENT;
    *source = NULL;
    if (gpu && strcmp(gpu, "cuda") != 0 && strcmp(gpu, "hip") != 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "plain loops are written for cpu, cuda and hip, not for '%.40s'", gpu);
    if (!definition)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "plain loops are made of definitions, and %s has none",
                        contract ? contract->name : "nothing");
    FILE *out = open_memstream(source, &size);
    if (!out)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a kernel of %s", contract->name);
    const bool written = tki_write_plain_loops(out, definition, gpu, &why);
    if (fclose(out) == 0 && written)
        return TK_OK;
    free(*source);
    *source = NULL;
    return tki_fail(ctx, written ? TK_NO_MEMORY : TK_UNSUPPORTED, "no plain loops of %s: %s", contract->name,
                    written ? "no memory" : why);
}
