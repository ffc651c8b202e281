/* CHOOSES. Files and directories. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"

bool tki_is_one_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

static tk_status write_all(int file, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(file, data, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return TK_IO;
        data += written;
        bytes -= (size_t)written;
    }
    return TK_OK;
}

tk_status tki_file_add(tk_ctx *ctx, int folder, const char *name, const void *data, size_t bytes)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    tk_status status = file < 0 ? TK_IO : write_all(file, data, bytes);
    int error = errno;
    if (file >= 0 && close(file) && status == TK_OK) {
        status = TK_IO;
        error = errno;
    }
    return status == TK_OK ? TK_OK : tki_fail(ctx, TK_IO, "cannot write %s: %s", name, strerror(error));
}

void tki_file_sync_directory(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return;
    char *slash = strrchr(copy, '/');
    if (slash)
        slash[slash == copy] = 0;
    int directory = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        (void)fsync(directory);
        close(directory);
    }
    free(copy);
}

/* Gives the complete file its name. A link, unlike a rename, fails where that name is taken. */
static int publish(const char *temporary, const char *path, bool replace)
{
    if (replace)
        return rename(temporary, path);
    if (link(temporary, path))
        return -1;
    return unlink(temporary);
}

tk_status tki_file_create(tk_ctx *ctx, const char *path, const void *data, size_t bytes, mode_t mode, bool replace)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        tk_status status = tki_fail(ctx, TK_IO, "cannot write %s: %s", path, strerror(errno));
        free(temporary);
        return status;
    }
    /* Only one who looks whether this file is abandoned can have it locked, for a few system calls: the wait is short. A failure does no
     * harm: where there are no locks, nobody can take it for abandoned either. */
    while (flock(file, LOCK_SH) && errno == EINTR)
        ;
    tk_status status = write_all(file, data, bytes);
    if (status == TK_OK && fsync(file))
        status = TK_IO;
    if (status == TK_OK && fchmod(file, mode))
        status = TK_IO;
    if (status == TK_OK && publish(temporary, path, replace))
        status = TK_IO;
    int error = errno;
    close(file); /* after it has its name, for the lock's sake; fsync() has reported what could not be written */
    if (status == TK_OK) {
        tki_file_sync_directory(path);
    } else {
        unlink(temporary);
        (void)tki_fail(ctx, status, "cannot write %s: %s", path, strerror(error));
    }
    free(temporary);
    return status;
}

tk_status tki_file_write(tk_ctx *ctx, const char *path, const void *data, size_t bytes)
{
    return tki_file_create(ctx, path, data, bytes, 0644, true);
}

tk_status tki_file_read_open(tk_ctx *ctx, int file, const char *path, size_t most, char **data, size_t *bytes)
{
    struct stat about;
    *data = NULL;
    if (fstat(file, &about))
        return tki_fail(ctx, TK_IO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return tki_fail(ctx, TK_IO, "cannot read %s: not a regular file", path);
    if (about.st_size < 0 || (uint64_t)about.st_size > most)
        return tki_fail(ctx, TK_BAD_FILE, "%s has %lld bytes, more than the %zu that such a file can have", path,
                        (long long)about.st_size, most);
    size_t size = (size_t)about.st_size;
    char *text = malloc(size + 1);
    if (!text)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to read %s", path);
    size_t got = 0;
    while (got < size) {
        ssize_t step = read(file, text + got, size - got);
        if (step < 0 && errno == EINTR)
            continue;
        if (step < 0) {
            free(text);
            return tki_fail(ctx, TK_IO, "cannot read %s: %s", path, strerror(errno));
        }
        if (step == 0)
            break;
        got += (size_t)step;
    }
    text[got] = 0;
    *data = text;
    *bytes = got;
    return TK_OK;
}

tk_status tki_file_read(tk_ctx *ctx, const char *path, size_t most, char **data, size_t *bytes)
{
    *data = NULL;
    /* Without O_NONBLOCK, a pipe that nobody writes to would hold us up before we see that it is one. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return tki_fail(ctx, TK_IO, "cannot read %s: %s", path, strerror(errno));
    tk_status status = tki_file_read_open(ctx, file, path, most, data, bytes);
    close(file);
    return status;
}

tk_status tki_directory_make(tk_ctx *ctx, const char *path, mode_t mode)
{
    if (!path[0])
        return tki_fail(ctx, TK_IO, "cannot make a directory: empty name: %s", strerror(ENOENT));
    char *copy = strdup(path);
    if (!copy)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a directory name");
    tk_status status = TK_OK;
    for (char *p = copy + 1; status == TK_OK && p[-1]; p++) {
        if (*p && *p != '/')
            continue;
        char end = *p;
        *p = 0;
        struct stat about;
        if (mkdir(copy, mode) && (errno != EEXIST || stat(copy, &about) || !S_ISDIR(about.st_mode)))
            status = tki_fail(ctx, TK_IO, "cannot make the directory %s: %s", copy,
                              strerror(errno == EEXIST ? ENOTDIR : errno));
        *p = end;
        if (!end)
            break;
    }
    free(copy);
    return status;
}

tk_status tki_state_directory(tk_ctx *ctx, char **path)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if ((!state || state[0] != '/') && (!home || home[0] != '/')) {
        const struct passwd *user = getpwuid(getuid());
        home = user ? user->pw_dir : NULL;
    }
    int length;
    if (state && state[0] == '/')
        length = asprintf(path, "%s/tokitai", state);
    else if (home)
        length = asprintf(path, "%s/.local/state/tokitai", home);
    else
        return tki_fail(ctx, TK_IO, "no state directory: neither XDG_STATE_HOME nor HOME is set");
    return length < 0 ? tki_fail(ctx, TK_NO_MEMORY, "no memory for a directory name") : TK_OK;
}
