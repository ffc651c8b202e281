/* Files of the artifact cache: found, locked, written whole, removed. */
#include "artifact/store.h"

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

enum { PATH = 4096, STALE_SECONDS = 3600 };
static const char ending[] = ".artifact";

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
    if (length < 0)
        snprintf(store->problem, sizeof store->problem, "neither XDG_CACHE_HOME nor HOME is set");
    else if ((size_t)length >= sizeof store->folder)
        snprintf(store->problem, sizeof store->problem, "its path is too long");
}

/* "1G", "500M", "4096"; -1 if it is something else. */
static int64_t parse_limit(const char *text)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return -1;
    long long value = strtoll(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    end += shift > 0;
    return errno || *end || value > (INT64_MAX >> shift) ? -1 : (int64_t)value << shift;
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
        else
            snprintf(store->problem, sizeof store->problem, "TOKITAI_CACHE_LIMIT is '%.40s', which is not a size",
                     limit);
    }
    if (store->problem[0])
        return;
    struct stat about;
    if (make && tki_directory_make(ctx, store->folder) != TK_OK)
        snprintf(store->problem, sizeof store->problem, "%.250s", tk_ctx_message(ctx));
    else if (stat(store->folder, &about) == 0 &&
             ((about.st_uid != geteuid() && about.st_uid != 0) || (about.st_mode & S_IWOTH)))
        /* What lies there is run on the device, and its hashes can be made by anyone. */
        snprintf(store->problem, sizeof store->problem, "others than its user can write to it");
}

static bool path_of(const tki_store *store, const char *name, const char *suffix, char path[PATH])
{
    return snprintf(path, PATH, "%s/%s%s", store->folder, name, suffix) < PATH;
}

/* ------------------------------------------------------------------------------------------------------------
 * Locks
 * ------------------------------------------------------------------------------------------------------------ */

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

int tki_store_lock(const tki_store *store, const char *key, double seconds)
{
    char path[PATH];
    double deadline = tki_now() + seconds;
    if (store->problem[0] || !path_of(store, key, ".lock", path))
        return -1;
    for (;;) {
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
            return -1;
        struct stat held, named;
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
            /* The one who had it before has removed its name; a lock on a file without a name protects nothing. */
            if (fstat(lock, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
                held.st_dev == named.st_dev)
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
    if (path_of(store, key, ".lock", path))
        unlink(path);
    close(lock);
}

/* ------------------------------------------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------------------------------------------ */

/* Opens the entry and keeps others from removing it as long as it is open. */
static int open_entry(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0)
        (void)flock(file, LOCK_SH | LOCK_NB); /* without it the entry may be removed, which its reader survives */
    return file;
}

tki_store_result tki_store_load(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const char *key,
                                tki_artifact *artifact, char *problem, size_t problem_size)
{
    char path[PATH];
    char *data;
    size_t bytes;
    problem[0] = 0;
    *artifact = (tki_artifact){0};
    if (store->problem[0] || !path_of(store, key, ending, path))
        return TKI_STORE_ABSENT;
    int file = open_entry(path);
    if (file < 0 && errno == ENOENT)
        return TKI_STORE_ABSENT;
    if (file < 0) {
        snprintf(problem, problem_size, "it cannot be opened: %s", strerror(errno));
        return TKI_STORE_DAMAGED;
    }
    if (tki_file_read_open(ctx, file, path, TKI_MOST_ENTRY, &data, &bytes) != TK_OK) {
        snprintf(problem, problem_size, "%.200s", tk_ctx_message(ctx));
        close(file);
        return TKI_STORE_DAMAGED;
    }
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

static void make_room(tk_ctx *ctx, const tki_store *store, const char *spared)
{
    tki_store_file *files;
    int count;
    if (tki_store_list(ctx, store, &files, &count) != TK_OK)
        return;
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += files[i].bytes;
    for (int i = count - 1; i >= 0 && total > store->limit; i--) {
        if (!strncmp(files[i].name, spared, strlen(spared)))
            continue;
        int64_t freed = tki_store_remove(store, files[i].name, false);
        total -= freed > 0 ? freed : 0;
    }
    free(files);
}

/* Temporary files of processes that were ended while they wrote. */
static void remove_stale(const tki_store *store)
{
    DIR *folder = opendir(store->folder);
    time_t now = time(NULL);
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        const char *dot = strstr(e->d_name, ".artifact.");
        struct stat about;
        if (dot && strlen(dot) == strlen(".artifact.XXXXXX") &&
            fstatat(dirfd(folder), e->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
            about.st_mtime < now - STALE_SECONDS)
            unlinkat(dirfd(folder), e->d_name, 0);
    }
    if (folder)
        closedir(folder);
}

void tki_store_save(tk_ctx *ctx, tki_store *store, tki_digest *digest, tki_artifact *artifact)
{
    char path[PATH];
    size_t bytes;
    if (store->problem[0] || !path_of(store, artifact->key, ending, path))
        return;
    char *data = tki_entry_encode(digest, artifact, &bytes);
    if (!data) {
        snprintf(store->problem, sizeof store->problem, "no memory to write an entry");
    } else if (tki_file_write(ctx, path, data, bytes) != TK_OK) {
        snprintf(store->problem, sizeof store->problem, "%.250s", tk_ctx_message(ctx));
    } else {
        int file = open_entry(path);
        artifact->hold = file + 1;
        snprintf(artifact->path, sizeof artifact->path, "%s", path);
        remove_stale(store);
        make_room(ctx, store, artifact->key);
    }
    free(data);
}

bool tki_store_key_of(const char *name, char key[TKI_ARTIFACT_HEX])
{
    size_t length = strspn(name, "0123456789abcdef");
    if (length != TKI_ARTIFACT_HEX - 1 || strcmp(name + length, ending) != 0)
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

tk_status tki_store_list(tk_ctx *ctx, const tki_store *store, tki_store_file **files, int *count)
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
        char key[TKI_ARTIFACT_HEX];
        struct stat about;
        if (!tki_store_key_of(e->d_name, key) || fstatat(dirfd(folder), e->d_name, &about, AT_SYMLINK_NOFOLLOW))
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
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool free_to_go = force || file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0;
    bool gone = free_to_go && unlink(path) == 0;
    if (file >= 0)
        close(file);
    return gone ? (int64_t)about.st_size : -1;
}
