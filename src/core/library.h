/* CHOOSES. Libraries of other people that are loaded when they are first needed. Once loaded they stay: some have threads and exit functions. */
#pragma once

#include "core/export.h"

/* NULL if it cannot be loaded; dlerror() has the reason. */
TKI_EXPORT void *tki_library_load(const char *path);

/* The newest of that name, as far as names tell, in the folders below `root` in which a toolkit or a Python environment has its libraries.
 * `root` may have wildcards. NULL if there is none. */
TKI_EXPORT void *tki_library_search(const char *root, const char *name);

/* Where a loaded library lies; "" if that is not known. Valid as long as it is loaded. */
TKI_EXPORT const char *tki_library_path(void *library);
