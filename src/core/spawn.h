/* CHOOSES. What every program that this library starts has in common: a process group of its own, signals as in a fresh program whatever the caller
 * blocks or ignores. */
#pragma once

#include <spawn.h>

#include "core/export.h"

typedef struct tki_spawn {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
} tki_spawn;

/* Returns an errno; tki_spawn_end() is due unless it failed. */
TKI_EXPORT int tki_spawn_begin(tki_spawn *spawn);
TKI_EXPORT void tki_spawn_end(tki_spawn *spawn);
