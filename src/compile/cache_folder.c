/* CHOOSES. Files of the artifact cache: found, locked, written whole, removed. */
#include "compile/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/file.h"

enum { PATH = 4096, ABANDONED_SECONDS = 600 };
const char tki_store_artifact[] = ".artifact", tki_store_tuning[] = ".tuning";
static const char lock_ending[] = ".lock";

/* ------------------------------------------------------------------------------------------------------------
 * The folder
 * ------------------------------------------------------------------------------------------------------------ */

static void choose_folder(tki_store *store)
{
    const char *own = getenv("TOKITAI_CACHE");
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (!home || home[0] != '/') {
        const struct passwd *user = getpwuid(getuid());
        home = user ? user->pw_dir : NULL;
    }
    if (own && *own)
        length = snprintf(store->folder, sizeof store->folder, "%s", own);
    else if (cache && cache[0] == '/')
        length = snprintf(store->folder, sizeof store->folder, "%s/tokitai/artifacts", cache);
    else if (home)
        length = snprintf(store->folder, sizeof store->folder, "%s/.cache/tokitai/artifacts", home);
    if (length < 0) {
        snprintf(store->problem, sizeof store->problem, "neither XDG_CACHE_HOME nor HOME is set");
    } else if ((size_t)length >= sizeof store->folder) {
        snprintf(store->problem, sizeof store->problem, "its path has %d bytes; the limit is %zu", length,
                 sizeof store->folder - 1);
        store->folder[0] = 0; /* rather none than another */
    }
}

/* "1G", "500M", "4096"; the largest there is if it is larger; -1 if it is something else. */
static int64_t parse_limit(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    long long value = strtoll(text, &end, 10); /* LLONG_MAX if it is larger */
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    end += shift > 0;
    if (*end)
        return -1;
    return value > (INT64_MAX >> shift) ? INT64_MAX : (int64_t)value << shift;
}

static void check_owner(tki_store *store)
{
    struct stat about;
    if (stat(store->folder, &about) != 0)
        return;
    const bool own = about.st_uid == geteuid();
    if (!own && about.st_uid != 0)
        snprintf(store->problem, sizeof store->problem,
                 "%.256s belongs to user %u, not to user %u or root; set TOKITAI_CACHE to a folder of your own",
                 store->folder, (unsigned)about.st_uid, (unsigned)geteuid());
    else if (about.st_mode & (S_IWOTH | S_IWGRP)) /* a sticky one, such as /tmp, is meant to be shared */
        snprintf(store->problem, sizeof store->problem, "%.256s has mode %04o: %s can write to it; %s", store->folder,
                 (unsigned)(about.st_mode & 07777), about.st_mode & S_IWOTH ? "everybody" : "its group",
                 own && !(about.st_mode & S_ISVTX) ? "'tokitai cache clear' and chmod it to 0700"
                                                   : "set TOKITAI_CACHE to a folder of your own");
    else
        return;
    store->distrusted = true;
}

static bool path_of(const tki_store *store, const char *name, const char *suffix, char path[PATH])
{
    return snprintf(path, PATH, "%s/%s%s", store->folder, name, suffix) < PATH;
}

static void make_folder(tk_ctx *ctx, tki_store *store)
{
    char inside[PATH];
    struct stat about;
    if (!store->problem[0] && tki_directory_make(ctx, store->folder, 0700) != TK_OK)
        snprintf(store->problem, sizeof store->problem, "%.400s", tk_ctx_message(ctx));
    /* Its "." is found only by those who may enter it, which a umask can deny to the one who has just made it. */
    store->closed = path_of(store, ".", "", inside) && stat(inside, &about) != 0;
    if (store->closed && !store->problem[0])
        snprintf(store->problem, sizeof store->problem, "cannot enter the folder %.256s: %s", store->folder,
                 strerror(errno));
}

void tki_store_open(tk_ctx *ctx, tki_store *store, bool make)
{
    *store = (tki_store){.limit = (int64_t)1 << 30};
    choose_folder(store);
    const char *limit = getenv("TOKITAI_CACHE_LIMIT");
    if (limit && *limit) {
        int64_t bytes = parse_limit(limit);
        if (bytes >= 0)
            store->limit = bytes;
        else if (!store->problem[0])
            snprintf(store->problem, sizeof store->problem,
                     "TOKITAI_CACHE_LIMIT is '%.40s'; it must be a size such as 500M or 1G", limit);
    }
    if (!store->folder[0])
        return;
    if (make)
        make_folder(ctx, store);
    check_owner(store);
}

/* ------------------------------------------------------------------------------------------------------------
 * Locks
 * ------------------------------------------------------------------------------------------------------------ */

/* Whoever removes the name of a lock holds it, and a lock on a file without a name protects nothing. */
static bool still_has_name(int file, const char *path)
{
    struct stat held, named;
    return fstat(file, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

int tki_store_lock(const tki_store *store, const char *key, double seconds)
{
    char path[PATH];
    double deadline = tki_now() + seconds;
    if (store->problem[0] || !path_of(store, key, lock_ending, path))
        return -1;
    for (;;) {
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
            return -1;
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
            if (still_has_name(lock, path))
                return lock;
        } else {
            if (errno != EWOULDBLOCK || tki_now() > deadline) {
                close(lock);
                return -1;
            }
            pause_briefly();
        }
        close(lock);
    }
}

void tki_store_unlock(const tki_store *store, const char *key, int lock)
{
    char path[PATH];
    if (lock < 0)
        return;
    if (path_of(store, key, lock_ending, path))
        unlink(path);
    close(lock);
}

/* ------------------------------------------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------------------------------------------ */

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* For an exclusive lock, which NFS gives only to those who may write. */
static int open_to_lock(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return file >= 0 ? file : open_file(path);
}

/* Keeps others from removing the entry as long as it is open. */
static void hold(int file)
{
    if (file >= 0)
        (void)flock(file, LOCK_SH | LOCK_NB); /* without it the entry may be removed, which its reader survives */
}

/* -1 with errno, and what is wrong. */
static int open_entry(const char *path, char *problem, size_t problem_size)
{
    const int file = open_file(path), error = errno;
    if (file < 0)
        snprintf(problem, problem_size, "cannot open it: %s",
                 error == ELOOP ? "it is a symbolic link" : strerror(error));
    errno = error;
    return file;
}

int tki_store_read(tk_ctx *ctx, const char *path, char **data, size_t *bytes, char *problem, size_t problem_size)
{
    int file = open_entry(path, problem, problem_size);
    if (file < 0)
        return -1;
    if (tki_file_read_open(ctx, file, path, TKI_MOST_ENTRY, data, bytes) != TK_OK) {
        snprintf(problem, problem_size, "%.250s", tk_ctx_message(ctx));
        close(file);
        errno = EIO;
        return -1;
    }
    return file;
}

tki_store_result tki_store_load(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const char *key,
                                tki_compiled_kernel *artifact, char *problem, size_t problem_size)
{
    char path[PATH];
    char *data;
    size_t bytes;
    problem[0] = 0;
    *artifact = (tki_compiled_kernel){0};
    if (store->distrusted || store->closed || !store->folder[0] || !path_of(store, key, tki_store_artifact, path))
        return TKI_STORE_ABSENT;
    int file = tki_store_read(ctx, path, &data, &bytes, problem, problem_size);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        problem[0] = 0;
        return TKI_STORE_ABSENT;
    }
    if (file < 0)
        return TKI_STORE_DAMAGED;
    hold(file);
    bool good = tki_entry_decode(digest, data, bytes, key, true, artifact, problem, problem_size);
    free(data);
    if (!good) {
        close(file);
        return TKI_STORE_DAMAGED;
    }
    (void)futimens(file, NULL); /* last used now; a cache that only others may write to stays as it is */
    snprintf(artifact->path, sizeof artifact->path, "%s", path);
    artifact->hold = file + 1;
    artifact->was_cached = true;
    return TKI_STORE_FOUND;
}

static void make_room(tk_ctx *ctx, const tki_store *store, const char *ending, int64_t limit, const char *spared)
{
    tki_store_file *files;
    int count;
    if (tki_store_list(ctx, store, ending, &files, &count) != TK_OK)
        return;
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += files[i].bytes;
    for (int i = count - 1; i >= 0 && total > limit; i--) {
        if (!strncmp(files[i].name, spared, strlen(spared)))
            continue;
        int64_t freed = tki_store_remove(store, files[i].name, false);
        total -= freed > 0 ? freed : 0;
    }
    free(files);
}

static void remove_abandoned(const char *path, bool is_lock)
{
    struct stat about;
    int file = open_to_lock(path);
    /* A young temporary file may be one that is not locked yet, or is locked on another machine where each sees its own locks only. A
     * lock file that goes there has kept no other machine from building, so its age does not matter. */
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
        (is_lock || about.st_mtime < time(NULL) - ABANDONED_SECONDS) && still_has_name(file, path))
        unlink(path);
    if (file >= 0)
        close(file);
}

/* What tki_file_write() calls a file while it writes it. */
static bool is_temporary(const char *rest, const char *ending)
{
    const size_t length = strlen(ending);
    return !strncmp(rest, ending, length) && rest[length] == '.' && strlen(rest) == length + strlen(".XXXXXX");
}

void tki_store_sweep(const tki_store *store, const char *key)
{
    char path[PATH];
    DIR *folder = opendir(store->folder);
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        const char *name = e->d_name, *rest = name + strspn(name, "0123456789abcdef");
        if (rest - name != TKI_DIGEST_HEX - 1 || strncmp(name, key, strlen(key)) != 0 ||
            !path_of(store, name, "", path))
            continue;
        bool is_lock = !strcmp(rest, lock_ending);
        if (is_lock || is_temporary(rest, tki_store_artifact) || is_temporary(rest, tki_store_tuning) ||
            is_temporary(rest, TKI_STORE_MUTANTS))
            remove_abandoned(path, is_lock);
    }
    if (folder)
        closedir(folder);
}

void tki_store_save(tk_ctx *ctx, tki_store *store, tki_digest *digest, tki_compiled_kernel *artifact)
{
    char path[PATH];
    size_t bytes;
    if (store->problem[0] || !path_of(store, artifact->key, tki_store_artifact, path))
        return;
    char *data = tki_entry_encode(digest, artifact, &bytes);
    if (!data) {
        snprintf(store->problem, sizeof store->problem, "no memory to write an entry");
    } else if (tki_file_write(ctx, path, data, bytes) != TK_OK) {
        snprintf(store->problem, sizeof store->problem, "%.400s", tk_ctx_message(ctx));
    } else {
        int file = open_file(path);
        hold(file);
        artifact->hold = file + 1;
        snprintf(artifact->path, sizeof artifact->path, "%s", path);
        tki_store_sweep(store, "");
        make_room(ctx, store, tki_store_artifact, store->limit, artifact->key);
    }
    free(data);
}

/* Whoever else may write to it can have put anything there. */
static bool is_of_others(int file, char *problem, size_t problem_size)
{
    struct stat about;
    if (fstat(file, &about))
        snprintf(problem, problem_size, "%s", strerror(errno));
    else if (about.st_uid != geteuid() && about.st_uid != 0)
        snprintf(problem, problem_size, "it belongs to user %u", (unsigned)about.st_uid);
    else if (about.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(problem, problem_size, "others can write to it (mode %04o)", (unsigned)(about.st_mode & 07777));
    else
        return false;
    return true;
}

tki_store_result tki_store_get(tk_ctx *ctx, const tki_store *store, const char *key, const char *ending, size_t most,
                               bool use, char **data, size_t *bytes, char *problem, size_t problem_size)
{
    char path[PATH];
    *data = NULL;
    problem[0] = 0;
    if (store->distrusted || store->closed || !store->folder[0] || !path_of(store, key, ending, path))
        return TKI_STORE_ABSENT;
    const int file = open_entry(path, problem, problem_size);
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR ? TKI_STORE_ABSENT : TKI_STORE_DAMAGED;
    bool good = !is_of_others(file, problem, problem_size);
    if (good && tki_file_read_open(ctx, file, path, most, data, bytes) != TK_OK) {
        snprintf(problem, problem_size, "%.250s", tk_ctx_message(ctx));
        good = false;
    }
    if (good && use)
        (void)futimens(file, NULL); /* as in tki_store_load() */
    close(file);
    return good ? TKI_STORE_FOUND : TKI_STORE_DAMAGED;
}

void tki_store_put(tk_ctx *ctx, tki_store *store, const char *key, const char *ending, const char *data, size_t bytes,
                   int64_t limit)
{
    char path[PATH];
    if (store->problem[0] || !path_of(store, key, ending, path))
        return;
    if (tki_file_create(ctx, path, data, bytes, 0600, true) != TK_OK) {
        snprintf(store->problem, sizeof store->problem, "%.400s", tk_ctx_message(ctx));
        return;
    }
    tki_store_sweep(store, "");
    make_room(ctx, store, ending, limit < store->limit ? limit : store->limit, key);
}

bool tki_store_key_of(const char *name, const char *ending, char key[TKI_DIGEST_HEX])
{
    size_t length = strspn(name, "0123456789abcdef");
    if (length != TKI_DIGEST_HEX - 1 || strcmp(name + length, ending) != 0)
        return false;
    memcpy(key, name, length);
    key[length] = 0;
    return true;
}

static int used_last_first(const void *a, const void *b)
{
    const tki_store_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

tk_status tki_store_list(tk_ctx *ctx, const tki_store *store, const char *ending, tki_store_file **files, int *count)
{
    *files = NULL;
    *count = 0;
    DIR *folder = opendir(store->folder);
    if (!folder && errno == ENOENT)
        return TK_OK;
    if (!folder)
        return tki_fail(ctx, TK_IO, "cannot read the folder %s: %s", store->folder, strerror(errno));
    int room = 0;
    for (const struct dirent *e; (e = readdir(folder));) {
        char key[TKI_DIGEST_HEX];
        struct stat about;
        if (!tki_store_key_of(e->d_name, ending, key) ||
            fstatat(dirfd(folder), e->d_name, &about, AT_SYMLINK_NOFOLLOW))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 32;
            tki_store_file *more = realloc(*files, (size_t)room * sizeof *more);
            if (!more) {
                free(*files);
                *files = NULL;
                closedir(folder);
                return tki_fail(ctx, TK_NO_MEMORY, "no memory to list %s", store->folder);
            }
            *files = more;
        }
        tki_store_file *file = &(*files)[(*count)++];
        *file = (tki_store_file){.bytes = (int64_t)about.st_size, .used = about.st_mtim};
        snprintf(file->name, sizeof file->name, "%s%s", key, ending);
    }
    closedir(folder);
    if (*count)
        qsort(*files, (size_t)*count, sizeof **files, used_last_first);
    return TK_OK;
}

int64_t tki_store_remove(const tki_store *store, const char *name, bool force)
{
    char path[PATH];
    struct stat about;
    if (!path_of(store, name, "", path) || lstat(path, &about))
        return -1;
    int file = open_to_lock(path);
    bool free_to_go = force || file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0;
    bool gone = free_to_go && unlink(path) == 0;
    int error = errno;
    if (file >= 0)
        close(file);
    errno = error;
    return gone ? (int64_t)about.st_size : -1;
}
