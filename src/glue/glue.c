/* RECORDS. Gluing: all tensors of a checkpoint, into one file. */
#include "glue/glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "glue/glue_certificate.h"
#include "glue/metadata.h"
#include "glue/output_file.h"

/* The tensors as they lie in the file, and their whole ones in the same order. */
typedef struct table {
    tki_tensor *tensors;
    tki_whole **wholes;
    int64_t bytes;
} table;

static tk_status lay_out(tk_ctx *ctx, const tki_checkpoint *checkpoint, table *t)
{
    const size_t count = checkpoint->tensor_count;
    t->tensors = calloc(count + 1, sizeof *t->tensors);
    t->wholes = tki_checkpoint_ordered(checkpoint);
    if (!t->tensors || !t->wholes)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu tensors", count);
    for (size_t i = 0; i < count; i++) {
        const tki_whole *whole = t->wholes[i];
        t->tensors[i] = (tki_tensor){.name = whole->name, .type = whole->type, .rank = whole->rank};
        memcpy(t->tensors[i].shape, whole->shape, sizeof whole->shape);
    }
    if (!tki_safetensors_lay_out(t->tensors, count, &t->bytes))
        return tki_fail(ctx, TK_UNSUPPORTED, "the tensors exceed 2^63 bytes");
    return TK_OK;
}

static tk_status begin_file(tki_join *join, const table *t, const char *out, tki_output *output)
{
    size_t bytes = 0;
    json_t *metadata = tki_common_metadata(join->checkpoint);
    char *header = metadata ? tki_safetensors_header(t->tensors, join->checkpoint->tensor_count, metadata, &bytes)
                            : NULL;
    json_decref(metadata);
    if (!header)
        return tki_fail(join->ctx, TK_NO_MEMORY, "no memory for the header, or it is too large");
    tk_status status = tki_output_open(join->ctx, out, (int64_t)bytes + t->bytes, output);
    if (status == TK_OK)
        status = tki_writer_start(join->ctx, output, 1, true, &join->writer);
    if (status == TK_OK)
        status = tki_writer_put(join->writer, 0, header, bytes);
    free(header);
    join->outcome->bytes_written = (int64_t)bytes + t->bytes;
    return status;
}

/* Once there is an obstruction nothing is written any more, but the rest is still read, for all obstructions to be named. */
static tk_status read_all(tki_join *join, const table *t, const char *out, tki_output *output, char *sha256)
{
    tki_checkpoint *checkpoint = join->checkpoint;
    tk_status status = checkpoint->obstructions.count ? TK_OK : begin_file(join, t, out, output);
    for (size_t i = 0; i < checkpoint->tensor_count && status == TK_OK; i++) {
        tki_whole *whole = t->wholes[i];
        const tki_sink sink = {tki_box_whole(whole->shape, whole->rank), 0};
        if (!whole->obstructed)
            status = tki_join_tensor(join, whole, &sink, 1);
        if (checkpoint->obstructions.count)
            status = tki_join_end_writer(join, status, sha256);
    }
    return tki_join_end_writer(join, status, sha256);
}

tk_status tki_glue(tk_ctx *ctx, tki_checkpoint *checkpoint, const char *out, const tki_glue_options *options,
                   tki_glue_outcome *outcome)
{
    tki_join join;
    table t = {0};
    tki_output output = {.file = -1};
    char sha256[1][TKI_HASH_HEX] = {""};
    tk_status status = tki_join_begin(&join, ctx, checkpoint, options, outcome);
    if (status == TK_OK)
        status = tki_checkpoint_spares(ctx, checkpoint, out, "");
    if (status == TK_OK)
        status = tki_glue_certificate_spares(&join, out);
    if (status == TK_OK)
        status = lay_out(ctx, checkpoint, &t);
    if (status == TK_OK)
        status = read_all(&join, &t, out, &output, sha256[0]);
    if (status == TK_OK)
        status = tki_checkpoint_is_unchanged(ctx, checkpoint);
    if (status == TK_OK)
        status = tki_join_end(&join);
    if (status == TK_OK && outcome->verdict != TKI_OBSTRUCTED) {
        char *subject = (char *)(uintptr_t)out;
        status = tki_output_sync(ctx, &output);
        /* The certificate comes first: whoever sees OUT finds it. */
        if (status == TK_OK && !options->skip_certificate)
            status = tki_glue_certificate_write(&join, out, &subject, sha256, 1);
        if (status == TK_OK) {
            status = tki_output_publish(ctx, &output);
            if (status != TK_OK)
                tki_glue_certificate_withdraw(&join, out);
        }
    }
    tki_output_discard(&output);
    tki_join_free(&join);
    free(t.tensors);
    free(t.wholes);
    if (status != TK_OK)
        tki_glue_outcome_free(outcome);
    return status;
}
