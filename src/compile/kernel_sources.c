/* RECORDS. From the name of a kernel to all the text that it is made of. */
#include "compile/kernel_sources.h"

#include <stdio.h>
#include <string.h>

#include "core/context.h"

static bool is_kernel(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && !strcmp(path + length - 3, ".cu");
}

const char *tki_compiled_source_at(int i)
{
    for (const tki_source_file *file = tki_source_files; file->path; file++)
        if (is_kernel(file->path) && i-- == 0)
            return file->path;
    return NULL;
}

static const tki_source_file *find(const tki_source_file *table, const char *path)
{
    for (; table->path; table++)
        if (!strcmp(table->path, path))
            return table;
    return NULL;
}

/* Beside the file that includes it, else from the root. */
static const tki_source_file *resolve(const tki_source_file *table, const tki_source_file *from, const char *name)
{
    char beside[2 * TKI_SOURCE_NAME];
    const char *slash = strrchr(from->path, '/');
    int folder = slash ? (int)(slash - from->path) + 1 : 0;
    snprintf(beside, sizeof beside, "%.*s%s", folder, from->path, name);
    const tki_source_file *file = find(table, beside);
    return file ? file : find(table, name);
}

/* The name in quotes if the line is an #include of that form. */
static bool included_name(const char *line, char *name, size_t size)
{
    line += strspn(line, " \t");
    if (*line++ != '#')
        return false;
    line += strspn(line, " \t");
    if (strncmp(line, "include", 7) != 0)
        return false;
    line += 7;
    line += strspn(line, " \t");
    if (*line++ != '"')
        return false;
    size_t length = strcspn(line, "\"\n");
    if (line[length] != '"' || length >= size)
        return false;
    memcpy(name, line, length);
    name[length] = 0;
    return true;
}

static tk_status add_includes(tk_ctx *ctx, const tki_source_file *table, const tki_source_file *from,
                              tki_source_set *set)
{
    char name[TKI_SOURCE_NAME];
    for (const char *line = from->text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!included_name(line, name, sizeof name))
            continue;
        const tki_source_file *file = resolve(table, from, name);
        if (!file)
            return tki_fail(ctx, TK_INTERNAL, "%s includes \"%s\", which is not in the library", from->path, name);
        int i = 0;
        while (i < set->header_count && set->headers[i].file != file && strcmp(set->headers[i].name, name) != 0)
            i++;
        if (i < set->header_count && set->headers[i].file == file && !strcmp(set->headers[i].name, name))
            continue;
        /* A run-time compiler knows a header by one name only. */
        if (i < set->header_count)
            return tki_fail(ctx, TK_INTERNAL, "%s includes \"%s\", known before as \"%s\" of %s", from->path, name,
                            set->headers[i].name, set->headers[i].file->path);
        if (set->header_count == TKI_SOURCE_HEADERS)
            return tki_fail(ctx, TK_INTERNAL, "%s includes more than %d headers", set->source->path,
                            TKI_SOURCE_HEADERS);
        set->headers[set->header_count].file = file;
        memcpy(set->headers[set->header_count++].name, name, sizeof name);
        tk_status status = add_includes(ctx, table, file, set);
        if (status != TK_OK)
            return status;
    }
    return TK_OK;
}

tk_status tki_source_gather(tk_ctx *ctx, const tki_source_file *table, const char *path, tki_source_set *set)
{
    *set = (tki_source_set){.source = find(table, path)};
    if (!set->source || !is_kernel(path))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the library has no kernel source '%s'", path);
    return add_includes(ctx, table, set->source, set);
}

bool tki_source_hash(tki_digest *digest, const tki_source_set *set, char hex[TKI_DIGEST_HEX])
{
    tki_digest_begin(digest);
    tki_digest_add(digest, set->source->text, set->source->bytes);
    for (int i = 0; i < set->header_count; i++)
        tki_digest_add(digest, set->headers[i].file->text, set->headers[i].file->bytes);
    return tki_digest_finish(digest, hex);
}
