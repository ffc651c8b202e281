/* tokitai-generate FILE...: writes each of them; the name says what is in it. */
#include <errno.h>
#include <string.h>

#include "generate/generate.h"

static const struct {
    const char *name;
    void (*write)(FILE *out);
} files[] = {
    {"tokitai_ops.h", generate_public_calls},
    {"tokitai_kernel_ops.h", generate_kernel_header},
    {"tokitai.1", generate_manual},
    {"typed_calls.c", generate_typed_calls},
    {"kernel_calls.c", generate_kernel_calls},
};

static int fail(const char *path, const char *reason)
{
    fprintf(stderr, "tokitai-generate: %s: %s\n", path, reason);
    return 1;
}

static int write_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) != 0)
            continue;
        FILE *out = fopen(path, "w");
        if (!out)
            return fail(path, strerror(errno));
        files[i].write(out);
        bool failed = ferror(out) != 0;
        failed |= fclose(out) != 0;
        return failed ? fail(path, "cannot be written") : 0;
    }
    return fail(path, "no such file is made here");
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc && !status; i++)
        status = write_file(argv[i]);
    return status;
}
