/* CHOOSES. A root folder of its own: a file system in memory with the folders that foreign code may read, bound read-only, and the scratch folder. What
 * is not in it has no name there. */
#include "worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the root that all processes have hangs while the tree is built. */
#define OLD_ROOT "/.root-of-all"
/* On the CPU /proc has a few files, and behind this name what is the process's own. */
#define OWN_PROC "/proc/.own"

enum { MOST_PATHS = 512 };

typedef struct tree {
    char *paths[MOST_PATHS], *sources[MOST_PATHS]; /* as named, and where that leads */
    int count;
    bool failed;
} tree;

static bool is_proc_self(const char *path)
{
    return !strcmp(path, "/proc/self");
}

/* Links are followed while they still lead somewhere. */
static void note(void *context, const char *path, unsigned access)
{
    tree *t = context;
    char *source = is_proc_self(path) ? NULL : realpath(path, NULL);
    (void)access;
    if (!source)
        return;
    char *copy = t->count < MOST_PATHS ? strdup(path) : NULL;
    if (!copy) {
        t->failed = true;
        free(source);
        return;
    }
    t->paths[t->count] = copy;
    t->sources[t->count++] = source;
}

static void forget(tree *t)
{
    for (int i = 0; i < t->count; i++) {
        free(t->paths[i]);
        free(t->sources[i]);
    }
}

/* Makes the folders above a path, and it itself: a folder, or an empty file. */
static int make(const char *path, bool folder)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return ENAMETOOLONG;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0755) && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    if (folder)
        return mkdir(path, 0755) && errno != EEXIST ? errno : 0;
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
    if (file < 0)
        return errno;
    close(file);
    return 0;
}

/* What a folder that was bound before already shows needs no mount, unless it is to have one of its own. */
static int bind_into(const char *path, const char *source, bool own_mount)
{
    char from[PATH_MAX + sizeof OLD_ROOT];
    struct stat there, here;
    snprintf(from, sizeof from, OLD_ROOT "%s", source);
    if (stat(from, &there))
        return errno;
    const bool exists = stat(path, &here) == 0;
    if (!own_mount && exists && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return 0;
    /* A /proc of its own has files already, which an ordinary user may not open for writing. */
    int error = exists && S_ISDIR(here.st_mode) == S_ISDIR(there.st_mode) ? 0 : make(path, S_ISDIR(there.st_mode));
    return error ? error : mount(from, path, NULL, MS_BIND | MS_REC, NULL) ? errno : 0;
}

static int mount_proc(const char *path, const char *options)
{
    int error = make(path, true);
    return error ? error : mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) ? errno : 0;
}

/* A driver of a GPU looks around in all of it. */
static int add_proc(tki_sandbox *sandbox)
{
    int error = ENOTSUP;
    if (sandbox->own_pids && !sandbox->gpu) {
        error = mount_proc(OWN_PROC, "subset=pid");
        if (!error)
            error = symlink(OWN_PROC "/self", "/proc/self") || symlink(OWN_PROC "/thread-self", "/proc/thread-self")
                        ? errno
                        : 0;
    }
    if (sandbox->own_pids && error)
        error = mount_proc("/proc", NULL);
    if (sandbox->own_pids)
        tki_sandbox_say(sandbox, TKI_BY_PROC, error, 0, 0);
    return error ? bind_into("/proc", "/proc", true) : 0;
}

static int add_scratch(tki_sandbox *sandbox)
{
    /* A kernel leaves nothing there that anybody wants, so that it gets memory, and not the disk, which it could fill; a compiler leaves its
     * result. */
    static const char size[] = "size=256m,nr_inodes=16384,mode=0700";
    const char *place = sandbox->home ? sandbox->home : sandbox->scratch;
    int error = make(place, true);
    if (!error && !sandbox->programs) {
        int no_memory = mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, size) ? errno : 0;
        tki_sandbox_say(sandbox, TKI_BY_SCRATCH, no_memory, 0, 0);
        if (!no_memory) {
            sandbox->scratch = place;
            return 0;
        }
    }
    if (!error)
        error = make(sandbox->scratch, true);
    return error ? error : bind_into(sandbox->scratch, sandbox->scratch, true);
}

/* With the new root entered. */
static int fill(tki_sandbox *sandbox, const tree *t)
{
    int error = add_proc(sandbox);
    for (int i = 0; i < t->count && !error; i++)
        error = bind_into(t->paths[i], t->sources[i], false);
    if (!error && symlink("/proc/self/fd", "/dev/fd") && errno != EEXIST)
        error = errno;
    if (!error)
        error = add_scratch(sandbox);
    if (!error && umount2(OLD_ROOT, MNT_DETACH))
        error = errno;
    if (!error && rmdir(OLD_ROOT))
        error = errno;
    return error;
}

/* The scratch folder is where the tree is mounted first: it is there, and this user's. Afterwards it is found again below the old root. */
int tki_sandbox_build_tree(tki_sandbox *sandbox)
{
    char old[PATH_MAX];
    static tree t;
    tki_sandbox_visit_paths(sandbox, note, &t);
    int error = t.failed                                                                               ? E2BIG
                : mount("tmpfs", sandbox->scratch, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") ? errno
                                                                                                       : 0;
    if (!error) {
        snprintf(old, sizeof old, "%s" OLD_ROOT, sandbox->scratch);
        error = mkdir(old, 0700) || syscall(SYS_pivot_root, sandbox->scratch, old) || chdir("/") ? errno : 0;
        if (error)
            umount2(sandbox->scratch, MNT_DETACH);
        else
            sandbox->own_root = true;
    }
    if (!error)
        error = fill(sandbox, &t);
    forget(&t);
    return error;
}
