/* CHOOSES. Files: read whole, write whole or not at all. */
#pragma once

#include <sys/types.h>

#include "core/export.h"
#include "tokitai.h"

/* Has the text, a name or a field of a file, no control character of ASCII? */
TKI_EXPORT bool tki_is_one_line(const char *text);

/* Writes to a temporary file in the same directory, PATH.XXXXXX, syncs it and renames it, so that a reader sees the old file or the new one
 * and never a part. It has a shared lock (flock) from its first byte on; one that is not locked is of a process that was ended. */
TKI_EXPORT TK_MUST_USE tk_status tki_file_write(tk_ctx *ctx, const char *path, const void *data, size_t bytes);

/* The same with these permissions; unless `replace`, a file that is there already stays, and the call fails with TK_IO. */
TKI_EXPORT TK_MUST_USE tk_status tki_file_create(tk_ctx *ctx, const char *path, const void *data, size_t bytes,
                                                 mode_t mode, bool replace);

/* Makes a rename to this path durable; a directory that cannot be opened for that is no failure. */
TKI_EXPORT void tki_file_sync_directory(const char *path);

/* A new file in an open folder, readable by its owner alone and not synced, for what nobody keeps. One that is there already stays, and the
 * call fails with TK_IO. */
TKI_EXPORT TK_MUST_USE tk_status tki_file_add(tk_ctx *ctx, int folder, const char *name, const void *data,
                                              size_t bytes);

/* The whole file with a zero behind it; free() it. Refuses more than `most` bytes. */
TKI_EXPORT TK_MUST_USE tk_status tki_file_read(tk_ctx *ctx, const char *path, size_t most, char **data,
                                               size_t *bytes);

/* The same of a file that is open for reading; `path` is for messages. Leaves it open. */
TKI_EXPORT TK_MUST_USE tk_status tki_file_read_open(tk_ctx *ctx, int file, const char *path, size_t most, char **data,
                                                    size_t *bytes);

/* Makes the directory and its parents where they are missing, with these permissions less the umask's. */
TKI_EXPORT TK_MUST_USE tk_status tki_directory_make(tk_ctx *ctx, const char *path, mode_t mode);

/* $XDG_STATE_HOME/tokitai, or ~/.local/state/tokitai; free() it. */
TKI_EXPORT TK_MUST_USE tk_status tki_state_directory(tk_ctx *ctx, char **path);
