/* CHOOSES. Folders for files that nobody keeps. */
#include "core/scratch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/context.h"
#include "core/text_hash.h"

enum {
    NAME_BEGIN_BYTES = sizeof "tokitai-scratch-01234567-",
    NAME_RANDOM = 6, /* letters and digits by mkdtemp() */
    OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

/* Names begin alike on one machine and differently on another: where machines share a file system, a lock may be seen by the one that
 * took it alone, and the others must not take its folder for a stale one. */
static void name_begin(char text[NAME_BEGIN_BYTES])
{
    struct utsname machine = {0};
    uname(&machine);
    uint64_t hash = tki_text_hash(TKI_TEXT_HASH_BEGIN, machine.nodename);
    snprintf(text, NAME_BEGIN_BYTES, "tokitai-scratch-%08" PRIx32 "-", (uint32_t)(hash ^ hash >> 32));
}

/* ------------------------------------------------------------------------------------------------------------
 * Removing
 * ------------------------------------------------------------------------------------------------------------ */

/* Moves a folder that is not empty up to `top`, under a name of its own; one that is taken is tried again with the next number. */
static bool move_up(int from, const char *name, int top)
{
    static atomic_ulong number;
    char moved[48];
    snprintf(moved, sizeof moved, ".tokitai-moved-%lu", atomic_fetch_add(&number, 1));
    return renameat(from, name, top, moved) == 0 || errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
}

/* Empties the open folder, which it closes, but for folders that are moved to `top`: foreign code may have made it as deep as it liked, and
 * neither this process's stack nor its descriptors shall follow. It may also have taken away its own permissions. `entries` is how many
 * names in stale folders may still be looked at. True if there may be more in `top` than before. */
static bool empty_and_close(int folder, int top, long *entries)
{
    bool moved = false;
    DIR *list = fdopendir(folder);
    if (!list) {
        close(folder);
        return false;
    }
    for (struct dirent *entry; *entries > 0 && (entry = readdir(list));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        --*entries;
        if (unlinkat(folder, entry->d_name, 0) == 0 || unlinkat(folder, entry->d_name, AT_REMOVEDIR) == 0)
            continue;
        fchmodat(folder, entry->d_name, 0700, AT_SYMLINK_NOFOLLOW);
        if (folder != top) {
            moved |= move_up(folder, entry->d_name, top);
            continue;
        }
        int inner = openat(folder, entry->d_name, OPEN_FOLDER);
        if (inner >= 0)
            moved |= empty_and_close(inner, top, entries);
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(list);
    return moved;
}

/* Leaves the folder open, and with it the lock. */
static void empty(int folder, long *entries)
{
    fchmod(folder, 0700);
    for (bool more = true; more && *entries > 0;) {
        int again = openat(folder, ".", OPEN_FOLDER);
        more = again >= 0 && empty_and_close(again, again, entries);
    }
}

void tki_scratch_remove(tki_scratch *scratch)
{
    long entries = LONG_MAX;
    if (!scratch->path[0])
        return;
    empty(scratch->folder, &entries);
    rmdir(scratch->path);
    close(scratch->folder);
    *scratch = (tki_scratch){0};
}

static bool is_scratch_name(const char *name, const char *begin)
{
    size_t length = strlen(begin);
    if (strncmp(name, begin, length) != 0 || strlen(name) != length + NAME_RANDOM)
        return false;
    for (name += length; *name; name++)
        if (!isalnum((unsigned char)*name))
            return false;
    return true;
}

/* Is the open folder still the one of that name? Who has the lock may ask; others could see it removed at once. */
static bool is_named(int folder, int under, const char *name)
{
    struct stat by_number, by_name;
    return fstat(folder, &by_number) == 0 && fstatat(under, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
           by_number.st_dev == by_name.st_dev && by_number.st_ino == by_name.st_ino;
}

static void remove_if_stale(int under, const char *name, long *entries)
{
    struct stat about;
    int folder = openat(under, name, OPEN_FOLDER);
    if (folder < 0 && errno == EACCES && fchmodat(under, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        folder = openat(under, name, OPEN_FOLDER);
    if (folder < 0)
        return;
    if (fstat(folder, &about) == 0 && about.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0 &&
        is_named(folder, under, name)) {
        --*entries;
        empty(folder, entries);
        unlinkat(under, name, AT_REMOVEDIR);
    }
    close(folder);
}

void tki_scratch_remove_stale(const char *under)
{
    long entries = TKI_SCRATCH_MOST_ENTRIES;
    char begin[NAME_BEGIN_BYTES];
    DIR *list = opendir(under);
    if (!list)
        return;
    name_begin(begin);
    for (struct dirent *entry; entries > 0 && (entry = readdir(list));)
        if (is_scratch_name(entry->d_name, begin))
            remove_if_stale(dirfd(list), entry->d_name, &entries);
    closedir(list);
}

/* ------------------------------------------------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------------------------------------------------ */

/* Makes, opens and locks; `path` is a template before. An errno, EAGAIN if another process took the folder for a stale one before it was
 * locked: that process removes it. */
static int make_locked(char *path, int *folder)
{
    if (!mkdtemp(path))
        return errno;
    *folder = open(path, OPEN_FOLDER);
    if (*folder < 0) {
        int error = errno;
        rmdir(path);
        return error == ENOENT ? EAGAIN : error;
    }
    /* Where the file system has no locks, nobody can lock it, and so nobody takes it for a stale one. */
    bool taken = flock(*folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(*folder, AT_FDCWD, path))
        return 0;
    close(*folder);
    return EAGAIN;
}

tk_status tki_scratch_make(tk_ctx *ctx, tki_scratch *scratch)
{
    enum { MOST_ATTEMPTS = 100 };
    static atomic_flag cleaned = ATOMIC_FLAG_INIT;
    const char *asked = secure_getenv("TMPDIR");
    char under[PATH_MAX]; /* rules about files go by real paths */
    char begin[NAME_BEGIN_BYTES];
    scratch->path[0] = 0;
    asked = asked && asked[0] == '/' ? asked : "/tmp";
    if (!realpath(asked, under))
        return tki_fail(ctx, TK_IO, "cannot make a scratch folder in %s: %s", asked, strerror(errno));
    if (!atomic_flag_test_and_set(&cleaned))
        tki_scratch_remove_stale(under);
    name_begin(begin);
    int error = EAGAIN;
    for (int i = 0; i < MOST_ATTEMPTS && error == EAGAIN; i++) {
        int length = snprintf(scratch->path, sizeof scratch->path, "%s/%sXXXXXX", under, begin);
        error = length < (int)sizeof scratch->path ? make_locked(scratch->path, &scratch->folder) : ENAMETOOLONG;
    }
    if (!error)
        return TK_OK;
    scratch->path[0] = 0;
    return tki_fail(ctx, TK_IO, "cannot make a scratch folder in %s: %s", under, strerror(error));
}
