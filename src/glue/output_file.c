/* RECORDS. Files that appear when they are complete. */
#include "glue/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "core/file.h"

enum { SEND = 16 << 20 }; /* bytes */

static int open_unnamed(const char *path)
{
    char *folder = strdup(path);
    if (!folder)
        return -1;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    int file = open(slash ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
    return file;
}

tk_status tki_output_open(tk_ctx *ctx, const char *path, int64_t bytes, tki_output *output)
{
    struct stat about;
    *output = (tki_output){.file = -1, .path = strdup(path)};
    if (!output->path)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
    if (!stat(path, &about) && !S_ISREG(about.st_mode)) {
        tki_output_discard(output);
        return tki_fail(ctx, TK_IO, "cannot write %s: not a regular file", path);
    }
    output->file = open_unnamed(path);
    if (output->file < 0) {
        if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0)
            output->temporary = NULL;
        output->file = output->temporary ? mkostemp(output->temporary, O_CLOEXEC) : -1;
        if (output->file < 0) {
            free(output->temporary);
            output->temporary = NULL;
        } else {
            (void)fchmod(output->file, 0644);
        }
    }
    int error = output->file < 0 ? errno : 0;
    if (!error && bytes && fallocate(output->file, FALLOC_FL_KEEP_SIZE, 0, bytes) && errno == ENOSPC)
        error = ENOSPC;
    if (!error)
        return TK_OK;
    tki_output_discard(output);
    return tki_fail(ctx, TK_IO, "cannot write %s: %s", path, strerror(error));
}

static bool write_at(int file, const char *data, size_t bytes, off_t place)
{
    while (bytes) {
        ssize_t written = pwrite(file, data, bytes, place);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        place += written;
        bytes -= (size_t)written;
    }
    return true;
}

bool tki_output_write(tki_output *output, const void *data, size_t bytes)
{
    if (!write_at(output->file, data, bytes, output->written))
        return false;
    output->written += (int64_t)bytes;
    /* The disk is to be busy from the beginning on, not only when all is there: the file has to be on it in the end. */
    if (output->written - output->sent >= SEND) {
        (void)sync_file_range(output->file, output->sent, output->written - output->sent, SYNC_FILE_RANGE_WRITE);
        output->sent = output->written;
    }
    return true;
}

tk_status tki_output_rewrite(tk_ctx *ctx, const tki_output *output, const void *data, size_t bytes)
{
    return write_at(output->file, data, bytes, 0)
               ? TK_OK
               : tki_fail(ctx, TK_IO, "cannot write %s: %s", output->path, strerror(errno));
}

/* Gives a file without a name a temporary one, so that it can replace another by a rename. */
static bool name_temporarily(tki_output *output)
{
    char opened[64];
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", output->file);
    for (int attempt = 0; attempt < 100; attempt++) {
        char *name = NULL;
        if (asprintf(&name, "%s.%ld.%d", output->path, (long)getpid(), attempt) < 0)
            return false;
        if (!linkat(AT_FDCWD, opened, AT_FDCWD, name, AT_SYMLINK_FOLLOW)) {
            output->temporary = name;
            return true;
        }
        free(name);
        if (errno != EEXIST)
            return false;
    }
    return false;
}

tk_status tki_output_sync(tk_ctx *ctx, const tki_output *output)
{
    return fsync(output->file) ? tki_fail(ctx, TK_IO, "cannot write %s: %s", output->path, strerror(errno)) : TK_OK;
}

tk_status tki_output_publish(tk_ctx *ctx, tki_output *output)
{
    const bool good = !fsync(output->file) && (output->temporary || name_temporarily(output)) &&
                      !rename(output->temporary, output->path);
    const int error = errno;
    if (!good) {
        tk_status status = tki_fail(ctx, TK_IO, "cannot write %s: %s", output->path, strerror(error));
        tki_output_discard(output);
        return status;
    }
    tki_file_sync_directory(output->path);
    free(output->temporary);
    output->temporary = NULL;
    tki_output_discard(output);
    return TK_OK;
}

void tki_output_discard(tki_output *output)
{
    if (output->file >= 0)
        close(output->file);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    *output = (tki_output){.file = -1};
}
