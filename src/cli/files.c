/* SHOWS. Files and folders that options name, looked at before any work is done. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* As mkdir -p does. */
static bool make_folders(const char *path)
{
    char *copy = strdup(path);
    bool good = copy != NULL;
    for (char *c = copy; good && *c; c++) {
        if (*c != '/' || c == copy)
            continue;
        *c = '\0';
        good = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *c = '/';
    }
    good = good && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    int error = errno;
    free(copy);
    errno = error;
    return good;
}

static bool can_be_written_into(const char *folder)
{
    struct stat info;
    if (!make_folders(folder) || stat(folder, &info) != 0)
        return false;
    if (!S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    return access(folder, W_OK | X_OK) == 0;
}

bool cli_make_out(const char *who, const char *folder)
{
    if (can_be_written_into(folder))
        return true;
    cli_complain(who, "cannot write to --out '%.200s': %s", folder, strerror(errno));
    return false;
}

/* Names in /dev and /proc, such as /dev/stdout, are links of the system's to what this process has open. */
static int open_output(const char *path, int flags)
{
    const bool of_system = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
    return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (of_system ? 0 : O_NOFOLLOW) | flags, 0666);
}

FILE *cli_create(const char *path)
{
    int file = open_output(path, O_TRUNC);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    if (!out && file >= 0)
        close(file);
    return out;
}

bool cli_can_write(const char *who, const char *option, const char *path)
{
    struct stat info;
    /* A pipe or a device is not opened twice: that it can be written shows when it is. */
    if (!path || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return true;
    /* What is there already is not ours to remove. */
    int file = open_output(path, O_EXCL);
    const bool made = file >= 0;
    if (!made)
        file = open_output(path, 0);
    if (file < 0) {
        cli_complain(who, "cannot write to %s '%.200s': %s", option, path, strerror(errno));
        return false;
    }
    close(file);
    if (made)
        unlink(path);
    return true;
}

bool cli_read_signer(const char *who, tk_ctx *ctx, const char *file, tk_key **key)
{
    *key = NULL;
    if (!file)
        return true;
    if (tk_key_read(ctx, file, key) != TK_OK) {
        cli_complain(who, "--sign: %s", tk_ctx_message(ctx));
        return false;
    }
    if (!tk_key_can_sign(*key))
        cli_complain(who, "--sign must be a private key; '%.200s' is a public key", file);
    return tk_key_can_sign(*key);
}
