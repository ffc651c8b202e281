/* RECORDS. Writes the data of output files in a thread of its own, and hashes it there, while the caller reads and compares what comes next. */
#pragma once

#include "core/hash.h"
#include "glue/output_file.h"

typedef struct tki_writer tki_writer;

/* One file each. `whole` hashes all that is put there; otherwise each section is hashed on its own. */
TK_MUST_USE tk_status tki_writer_start(tk_ctx *ctx, tki_output *outputs, size_t count, bool whole,
                                       tki_writer **writer);

/* Copies the data to the end of a file. TK_IO: an earlier part could not be written; the message says which. */
TK_MUST_USE tk_status tki_writer_put(tki_writer *writer, size_t output, const void *data, size_t bytes);

/* What was put since the last end is a section; its SHA-256 is there when the writer has finished. Not with `whole`. */
TK_MUST_USE tk_status tki_writer_end_section(tki_writer *writer, size_t output, char sha256[TKI_HASH_HEX]);

/* Waits for the end, frees the writer, and gives the SHA-256 of the only file, if `whole`. */
TK_MUST_USE tk_status tki_writer_finish(tki_writer *writer, char sha256[TKI_HASH_HEX]);
