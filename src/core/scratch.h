/* CHOOSES. Folders under TMPDIR for files that nobody keeps. The owner of one holds a lock on it, which the system takes back however the process
 * ends: a folder that nobody has locked was left by a process that was killed, and the next process to make one on the same machine removes
 * it. */
#pragma once

#include <limits.h>

#include "core/export.h"
#include "tokitai.h"

typedef struct tki_scratch {
    char path[PATH_MAX]; /* without links; "": none */
    int folder;          /* open and locked, if there is a path; not for programs that are started */
} tki_scratch;

/* A new folder that only this user can enter. The first of a process removes what others left. */
TKI_EXPORT TK_MUST_USE tk_status tki_scratch_make(tk_ctx *ctx, tki_scratch *scratch);
TKI_EXPORT void tki_scratch_remove(
    tki_scratch *scratch); /* with all that is in it; links are not followed. None is fine */

/* Removes those folders in `under` that this user made on this machine (by its name) and that are in use by nobody; whatever else is
 * there stays. Reads all names in `under`; of the stale folders and the names in them it deals with TKI_SCRATCH_MOST_ENTRIES at the most,
 * and leaves the rest to the next time. */
enum { TKI_SCRATCH_MOST_ENTRIES = 1 << 14 };
void tki_scratch_remove_stale(const char *under);
