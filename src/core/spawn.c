/* CHOOSES. Starting programs. */
#include "core/spawn.h"

#include <signal.h>

int tki_spawn_begin(tki_spawn *spawn)
{
    int error = posix_spawn_file_actions_init(&spawn->actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&spawn->attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&spawn->actions);
        return error;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    error = posix_spawnattr_setflags(&spawn->attributes,
                                     POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error = posix_spawnattr_setsigmask(&spawn->attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(&spawn->attributes, &all);
    if (error)
        tki_spawn_end(spawn);
    return error;
}

void tki_spawn_end(tki_spawn *spawn)
{
    posix_spawnattr_destroy(&spawn->attributes);
    posix_spawn_file_actions_destroy(&spawn->actions);
}
