/* RECORDS. tokitai-generate FILE... [-- INPUT...]: writes each file; the name says what is in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headers/headers.h"

static const struct {
    const char *name;
    void (*write)(FILE *out);
} files[] = {
    {"tokitai_ops.h", generate_public_calls},
    {"tokitai_kernel_ops.h", generate_kernel_header},
    {"certificate.schema.json", generate_schema},
    {"certificate_members.md", generate_member_page},
    {"typed_calls.c", generate_typed_calls},
    {"kernel_calls.c", generate_kernel_calls},
    {"proofs.c", generate_proofs},
    {"_headers.py", generate_python},
};

char **generate_inputs;

static int fail(const char *path, const char *reason)
{
    fprintf(stderr, "tokitai-generate: %s: %s\n", path, reason);
    return 1;
}

/* What is there already stays as it is, so that nothing is built again for a contract that changed in something else. */
static bool is_there(const char *path, const char *text, size_t bytes)
{
    bool same = true;
    FILE *file = fopen(path, "r");
    for (size_t i = 0; file && same && i < bytes; i++)
        same = fgetc(file) == (unsigned char)text[i];
    same = file && same && fgetc(file) == EOF;
    if (file)
        fclose(file);
    return same;
}

static int write_text(const char *path, const char *text, size_t bytes)
{
    if (is_there(path, text, bytes))
        return 0;
    FILE *out = fopen(path, "w");
    if (!out)
        return fail(path, strerror(errno));
    bool failed = fwrite(text, 1, bytes, out) != bytes;
    failed |= fclose(out) != 0;
    return failed ? fail(path, "cannot be written") : 0;
}

static int write_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) != 0)
            continue;
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        if (!out)
            return fail(path, strerror(errno));
        files[i].write(out);
        int status = fclose(out) != 0 ? fail(path, "no memory") : write_text(path, text, bytes);
        free(text);
        return status;
    }
    return fail(path, "no such file is made here");
}

int main(int argc, char **argv)
{
    int status = 0, count = 1;
    while (count < argc && strcmp(argv[count], "--") != 0)
        count++;
    generate_inputs = argv + (count < argc ? count + 1 : argc);
    for (int i = 1; i < count && !status; i++)
        status = write_file(argv[i]);
    return status;
}
