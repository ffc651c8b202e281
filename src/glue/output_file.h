/* RECORDS. A large file that appears under its name when it is complete, and not before: written without a name (or under a temporary one, where
 * the file system knows no other way), synced, renamed, and the directory synced. */
#pragma once

#include "tokitai.h"

typedef struct tki_output {
    int file; /* -1: not open */
    char *path;
    char *temporary;       /* NULL: it has no name yet */
    int64_t written, sent; /* bytes; and those that the disk was asked to take */
} tki_output;

/* Reserves `bytes` on the disk, so that a full one is noticed now. */
TK_MUST_USE tk_status tki_output_open(tk_ctx *ctx, const char *path, int64_t bytes, tki_output *output);

/* At the end. errno says why it fails. */
bool tki_output_write(tki_output *output, const void *data, size_t bytes);

/* In the place of what was written first. */
TK_MUST_USE tk_status tki_output_rewrite(tk_ctx *ctx, const tki_output *output, const void *data, size_t bytes);

/* All of it is on the disk. */
TK_MUST_USE tk_status tki_output_sync(tk_ctx *ctx, const tki_output *output);

/* Gives it its name, in the place of a file that has it. In any case it is closed. */
TK_MUST_USE tk_status tki_output_publish(tk_ctx *ctx, tki_output *output);
void tki_output_discard(tki_output *output); /* nothing is left; one that is not open is allowed */
