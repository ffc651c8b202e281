/* CHOOSES. Copies a kernel's files. */
#include "kernel_file/kernel_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "core/file.h"
#include "isolate/worker_process.h"

enum {
    MOST_SOURCE_BYTES = 1 << 24,
    MOST_LIBRARY_BYTES = 1 << 29,
    MOST_ALL_BYTES = 1 << 28,
    MOST_FILES = 20000,
    LARGE_BYTES = 1 << 26, /* from here on a file that is all but empty is not read */
    LEAST_SHARE = 16
};

/* What has been copied: lines of sha256sum. */
typedef struct copier {
    tk_ctx *ctx;
    int target; /* the copy's folder */
    int depth;  /* the most */
    char **lines;
    int count;
    size_t bytes;
    char (*hash)[TKI_HASH_HEX]; /* of the file copied last */
} copier;

/* ------------------------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------------------------ */

/* Opens a name without following a link, and without waiting for a pipe's other end: a regular file or a folder. */
static tk_status open_at(tk_ctx *ctx, int parent, const char *name, const char *shown, int *file, struct stat *about)
{
    *file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*file < 0 && errno == ELOOP)
        return tki_fail(ctx, TK_BAD_FILE, "'%.200s' is a symbolic link; name the file itself", shown);
    /* A socket cannot be opened at all. */
    if (*file < 0 && errno == ENXIO)
        return tki_fail(ctx, TK_BAD_FILE, "'%.200s' is not a regular file", shown);
    if (*file < 0)
        return tki_fail(ctx, TK_IO, "cannot read '%.200s': %s", shown, strerror(errno));
    tk_status status = fstat(*file, about) ? tki_fail(ctx, TK_IO, "cannot read '%.200s': %s", shown, strerror(errno))
                       : S_ISREG(about->st_mode) || S_ISDIR(about->st_mode)
                           ? TK_OK
                           : tki_fail(ctx, TK_BAD_FILE, "'%.200s' is not a regular file", shown);
    if (status != TK_OK) {
        close(*file);
        *file = -1;
    }
    return status;
}

/* The folder that a path lies in may be reached by links, as the user has named it; its last name may not be one. */
static tk_status open_path(tk_ctx *ctx, const char *path, int *file, struct stat *about)
{
    char *copy = strdup(path);
    *file = -1;
    if (!copy)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a path");
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = 0;
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    int parent = AT_FDCWD;
    if (slash) {
        *slash = 0;
        parent = open(slash == copy ? "/" : copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    tk_status status = parent < 0 && parent != AT_FDCWD
                           ? tki_fail(ctx, TK_IO, "cannot read '%.200s': %s", path, strerror(errno))
                           : open_at(ctx, parent, *name ? name : ".", path, file, about);
    if (parent >= 0)
        close(parent);
    free(copy);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Copying
 * ------------------------------------------------------------------------------------------------------------ */

static bool keep_line(copier *c, const char *hash, const char *name)
{
    char **more = realloc(c->lines, ((size_t)c->count + 1) * sizeof *more);
    if (more)
        c->lines = more;
    if (!more || asprintf(&c->lines[c->count], "%s  %s\n", hash, name) < 0)
        return false;
    c->count++;
    return true;
}

/* An open file becomes NAME in the folder `into`; `relative` stands in the list of hashes, `shown` in messages. */
static tk_status copy_file(copier *c, int file, const struct stat *about, int into, const char *name,
                           const char *relative, const char *shown)
{
    char *data;
    size_t bytes;
    const char *dot = strrchr(name, '.');
    const size_t most = dot && !strcmp(dot, ".so") ? MOST_LIBRARY_BYTES : MOST_SOURCE_BYTES;
    if (about->st_size > LARGE_BYTES && about->st_blocks < about->st_size / 512 / LEAST_SHARE)
        return tki_fail(c->ctx, TK_BAD_FILE, "'%.200s' is a sparse file", shown);
    tk_status status = tki_file_read_open(c->ctx, file, shown, most, &data, &bytes);
    if (status != TK_OK)
        return status;
    c->bytes += bytes;
    if (c->count == MOST_FILES || (c->count > 0 && c->bytes > MOST_ALL_BYTES))
        status = tki_fail(c->ctx, TK_BAD_FILE, "'%.200s': a kernel may have at most %d files and %d MiB in total",
                          shown, MOST_FILES, MOST_ALL_BYTES >> 20);
    else if (!tki_hash_bytes(data, bytes, *c->hash) || !keep_line(c, *c->hash, relative))
        status = tki_fail(c->ctx, TK_NO_MEMORY, "no memory for '%.200s'", shown);
    else
        status = tki_file_add(c->ctx, into, name, data, bytes);
    free(data);
    return status;
}

static int make_folder(int parent, const char *name)
{
    return mkdirat(parent, name, 0700) ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* All of an open folder into another. `prefix` is what names in the list begin with. */
static tk_status copy_folder(copier *c, int from, int into, const char *prefix, const char *shown, int depth)
{
    struct dirent **entries = NULL;
    if (depth > c->depth)
        return tki_fail(c->ctx, TK_BAD_FILE,
                        "'%.200s': folders are nested more than %d deep; --folder-depth raises the limit", shown,
                        c->depth);
    int count = scandirat(from, ".", &entries, is_not_hidden, by_name);
    tk_status status = count < 0 ? tki_fail(c->ctx, TK_IO, "cannot read '%.200s': %s", shown, strerror(errno))
                                 : TK_OK;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char *relative = NULL, *path = NULL;
        struct stat about;
        int file = -1;
        if (status == TK_OK && !tki_is_one_line(name))
            status = tki_fail(c->ctx, TK_BAD_FILE, "'%.200s' has a file name with control characters", shown);
        if (status == TK_OK &&
            (asprintf(&relative, "%s%s", prefix, name) < 0 || asprintf(&path, "%s/%s", shown, name) < 0))
            status = tki_fail(c->ctx, TK_NO_MEMORY, "no memory for a path");
        if (status == TK_OK)
            status = open_at(c->ctx, from, name, path, &file, &about);
        if (status == TK_OK && S_ISDIR(about.st_mode)) {
            int inner = make_folder(into, name);
            char *longer = NULL;
            if (inner < 0 || asprintf(&longer, "%s/", relative) < 0)
                status = tki_fail(c->ctx, TK_IO, "cannot write a copy of '%.200s'", path);
            else
                status = copy_folder(c, file, inner, longer, path, depth + 1);
            free(longer);
            if (inner >= 0)
                close(inner);
        } else if (status == TK_OK) {
            status = copy_file(c, file, &about, into, name, relative, path);
        }
        if (file >= 0)
            close(file);
        free(relative);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* The file in a copied folder that is compiled: kernel.EXT, or the only one with such an ending. */
static tk_status choose_file(tk_ctx *ctx, const char *shown, int folder, char *name, size_t size)
{
    struct dirent **entries = NULL;
    int count = scandirat(folder, ".", &entries, is_not_hidden, by_name), candidates = 0;
    bool named = false;
    for (int i = 0; i < count; i++) {
        const char *entry = entries[i]->d_name, *dot = strrchr(entry, '.');
        const tki_language *language = dot ? tki_language_of(NULL, entry) : NULL;
        bool kernel = language && language->compiler && dot - entry == 6 && !strncmp(entry, "kernel", 6);
        if (language && language->compiler && (kernel || !named)) {
            candidates = kernel && !named ? 1 : candidates + 1;
            named |= kernel;
            snprintf(name, size, "%s", entry);
        }
        free(entries[i]);
    }
    free(entries);
    if (candidates == 1)
        return TK_OK;
    return tki_fail(ctx, TK_BAD_FILE,
                    candidates
                        ? "'%.200s': several files could be the kernel; name one kernel.c, kernel.cpp, kernel.cu "
                          "or kernel.hip"
                        : "'%.200s': no file in it ends in .c, .cpp, .cc, .cu or .hip",
                    shown);
}

static tk_status copy_kernel(copier *c, const char *path, tki_kernel_copy *copy)
{
    struct stat about;
    int file;
    char name[NAME_MAX + 1] = "";
    tk_status status = open_path(c->ctx, path, &file, &about);
    if (status != TK_OK)
        return status;
    int into = make_folder(c->target, "kernel");
    if (into < 0) {
        status = tki_fail(c->ctx, TK_IO, "cannot write a copy of '%.200s': %s", path, strerror(errno));
    } else if (S_ISDIR(about.st_mode)) {
        status = copy_folder(c, file, into, "", path, 1);
        if (status == TK_OK)
            status = choose_file(c->ctx, path, into, name, sizeof name);
        for (int i = 0; i < c->count && status == TK_OK; i++)
            if (!strncmp(c->lines[i] + TKI_HASH_HEX + 1, name, strlen(name)) &&
                c->lines[i][TKI_HASH_HEX + 1 + strlen(name)] == '\n')
                snprintf(copy->file_hash, sizeof copy->file_hash, "%.64s", c->lines[i]);
    } else {
        const char *slash = strrchr(path, '/');
        snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
        if (!tki_language_of(c->ctx, name))
            status = TK_BAD_ARGUMENT;
        if (status == TK_OK)
            status = copy_file(c, file, &about, into, name, name, path);
        memcpy(copy->file_hash, *c->hash, sizeof copy->file_hash);
    }
    close(file);
    if (into >= 0)
        close(into);
    if (status == TK_OK && asprintf(&copy->file, "%s/kernel/%s", copy->folder.path, name) < 0) {
        copy->file = NULL;
        status = tki_fail(c->ctx, TK_NO_MEMORY, "no memory for a path");
    }
    return status;
}

static tk_status copy_include(copier *c, const char *path, int number)
{
    char name[32], prefix[40];
    struct stat about;
    int file;
    snprintf(name, sizeof name, "include%d", number);
    snprintf(prefix, sizeof prefix, "%s/", name);
    tk_status status = open_path(c->ctx, path, &file, &about);
    if (status != TK_OK)
        return status;
    int into = S_ISDIR(about.st_mode) ? make_folder(c->target, name) : -1;
    status = !S_ISDIR(about.st_mode) ? tki_fail(c->ctx, TK_BAD_FILE, "'%.200s' is not a folder", path)
             : into < 0              ? tki_fail(c->ctx, TK_IO, "cannot write a copy of '%.200s'", path)
                                     : copy_folder(c, file, into, prefix, path, 1);
    close(file);
    if (into >= 0)
        close(into);
    return status;
}

static int by_name_in_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a + TKI_HASH_HEX + 1, *(char *const *)b + TKI_HASH_HEX + 1);
}

static bool hash_tree(const copier *c, char hash[TKI_HASH_HEX])
{
    tki_hash all;
    qsort(c->lines, (size_t)c->count, sizeof *c->lines, by_name_in_line);
    tki_hash_begin(&all);
    for (int i = 0; i < c->count; i++)
        tki_hash_add(&all, c->lines[i], strlen(c->lines[i]));
    return tki_hash_finish(&all, hash);
}

tk_status tki_kernel_copy_make(tk_ctx *ctx, const char *path, const char *include, int depth, tki_kernel_copy *copy)
{
    char hash[TKI_HASH_HEX];
    *copy = (tki_kernel_copy){0};
    tk_status status = tki_scratch_make(ctx, &copy->folder);
    if (status != TK_OK)
        return status;
    copier c = {.ctx = ctx, .target = copy->folder.folder, .depth = depth, .hash = &hash};
    status = copy_kernel(&c, path, copy);
    while (status == TK_OK && include && *include) {
        size_t length = strcspn(include, ":");
        char *folder = strndup(include, length);
        status = folder ? copy_include(&c, folder, copy->includes++)
                        : tki_fail(ctx, TK_NO_MEMORY, "no memory for a path");
        free(folder);
        include += length + (include[length] == ':');
    }
    if (status == TK_OK && (mkdirat(c.target, "headers", 0700) || mkdirat(c.target, "parts", 0700)))
        status = tki_fail(ctx, TK_IO, "cannot write to '%.200s': %s", copy->folder.path, strerror(errno));
    copy->files = c.count;
    if (status == TK_OK && c.count > 1 && !hash_tree(&c, copy->tree_hash))
        status = tki_fail(ctx, TK_INTERNAL, "SHA-256 failed");
    for (int i = 0; i < c.count; i++)
        free(c.lines[i]);
    free(c.lines);
    return status;
}

void tki_kernel_copy_close(tki_kernel_copy *copy)
{
    tki_scratch_remove(&copy->folder);
    free(copy->file);
    *copy = (tki_kernel_copy){0};
}

tk_status tki_kernel_copy_add(tk_ctx *ctx, const tki_kernel_copy *copy, const char *name, const void *data,
                              size_t bytes)
{
    return tki_file_add(ctx, copy->folder.folder, name, data, bytes);
}

void tki_kernel_copy_neutral(const tki_kernel_copy *copy, char *text, size_t *bytes)
{
    static const char name[] = TKI_SOURCE_LINK;
    const size_t length = strlen(copy->folder.path), shorter = sizeof name - 1;
    const char *from = text, *end = text + *bytes, *at;
    char *to = text;
    if (length < shorter)
        return;
    while ((at = memmem(from, (size_t)(end - from), copy->folder.path, length))) {
        memmove(to, from, (size_t)(at - from));
        to += at - from;
        memcpy(to, name, shorter);
        to += shorter;
        from = at + length;
    }
    memmove(to, from, (size_t)(end - from));
    *bytes = (size_t)(to - text) + (size_t)(end - from);
}

static void take_out(const char *folder, const char *part, char *text)
{
    char prefix[PATH_MAX + 16];
    snprintf(prefix, sizeof prefix, "%s%s", folder, part);
    const size_t length = strlen(prefix);
    for (char *at = text; (at = strstr(at, prefix));)
        memmove(at, at + length, strlen(at + length) + 1);
}

void tki_kernel_copy_unname(const tki_kernel_copy *copy, char *text)
{
    static const char *const parts[] = {"/kernel/", "/"};
    for (size_t i = 0; copy->folder.path[0] && i < sizeof parts / sizeof *parts; i++)
        take_out(copy->folder.path, parts[i], text);
    take_out(TKI_SOURCE_LINK, parts[0], text);
}
