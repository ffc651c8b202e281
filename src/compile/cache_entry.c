/* RECORDS. Writing and reading entries of the cache. The reader trusts nothing. */
#include "compile/cache_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/field_reader.h"

static const char first_line[] = "tokitai artifact 1";

bool tki_entry_key(tki_digest *digest, const tki_compiled_kernel *a, char key[TKI_DIGEST_HEX])
{
    char types[TKI_TYPES_TEXT];
    tk_types_name(a->types, types, sizeof types);
    const char *const parts[] = {first_line, a->backend,      a->source,  a->source_hash,
                                 types,      a->architecture, a->options, a->identity};
    tki_digest_begin(digest);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tki_digest_add_text(digest, parts[i]);
    return tki_digest_finish(digest, key);
}

char *tki_entry_encode(tki_digest *digest, const tki_compiled_kernel *a, size_t *bytes)
{
    char *data = NULL, header[TKI_DIGEST_HEX], types[TKI_TYPES_TEXT];
    tk_types_name(a->types, types, sizeof types);
    FILE *stream = open_memstream(&data, bytes);
    if (!stream)
        return NULL;
    fprintf(stream, "%s\nkey %s\nimage %s\nbytes %zu\nbackend %s\nsource %s\nsource_hash %s\ndtype %s\n", first_line,
            a->key, a->hash, a->image_bytes, a->backend, a->source, a->source_hash, types);
    fprintf(stream, "architecture %s\noptions %s\ncompiler %s\nidentity %s\nwarnings %s\nnote %s\nkernels %d\n",
            a->architecture, a->options, a->compiler, a->identity, a->warnings, a->note, a->kernel_count);
    for (int i = 0; i < a->kernel_count; i++) {
        const tki_kernel_resources *k = &a->kernels[i];
        fprintf(stream, "kernel %s %d %d %d %d %d\n", k->name, k->registers, k->shared_bytes, k->stack_bytes,
                k->spill_store_bytes, k->spill_load_bytes);
    }
    bool good = !fflush(stream) && tki_digest_bytes(digest, data, *bytes, header);
    good = good && fprintf(stream, "header %s\n\n", header) > 0 &&
           fwrite(a->image, 1, a->image_bytes, stream) == a->image_bytes;
    good = !fclose(stream) && good;
    if (!good) {
        free(data);
        data = NULL;
    }
    return data;
}

/* ------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------ */

static void take_kernel(tki_reader *r, tki_kernel_resources *kernel)
{
    char text[256];
    int *const numbers[] = {&kernel->registers, &kernel->shared_bytes, &kernel->stack_bytes,
                            &kernel->spill_store_bytes, &kernel->spill_load_bytes};
    tki_take_field(r, "kernel", text, sizeof text);
    const char *p = text;
    bool good = tki_take_word(&p, kernel->name, sizeof kernel->name);
    for (size_t i = 0; good && i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t value = 0;
        good = *p++ == ' ' && tki_read_number(&p, INT32_MAX, &value);
        *numbers[i] = (int)value;
    }
    if (!r->wrong && (!good || *p))
        r->wrong = "kernel";
}

/* Written as tk_types_name() writes them, and not otherwise. */
static void take_types(tki_reader *r, tk_types *types)
{
    char text[TKI_TYPES_TEXT], again[TKI_TYPES_TEXT];
    tki_take_field(r, "dtype", text, sizeof text);
    if (r->wrong)
        return;
    bool good = tk_types_parse(text, types) && tki_is_compiled_type(types->dtype) &&
                tki_is_compiled_type(types->result_dtype);
    if (good)
        tk_types_name(*types, again, sizeof again);
    if (!good || strcmp(text, again) != 0)
        r->wrong = "dtype";
}

static void take_header(tki_reader *r, tki_compiled_kernel *a)
{
    tki_take_first_line(r, first_line);
    tki_take_hash(r, "key", a->key);
    tki_take_hash(r, "image", a->hash);
    a->image_bytes = (size_t)tki_take_number(r, "bytes", SIZE_MAX / 2);
    tki_take_field(r, "backend", a->backend, sizeof a->backend);
    tki_take_field(r, "source", a->source, sizeof a->source);
    tki_take_hash(r, "source_hash", a->source_hash);
    take_types(r, &a->types);
    tki_take_field(r, "architecture", a->architecture, sizeof a->architecture);
    tki_take_field(r, "options", a->options, sizeof a->options);
    tki_take_field(r, "compiler", a->compiler, sizeof a->compiler);
    tki_take_field(r, "identity", a->identity, sizeof a->identity);
    tki_take_field(r, "warnings", a->warnings, sizeof a->warnings);
    tki_take_field(r, "note", a->note, sizeof a->note);
    a->kernel_count = (int)tki_take_number(r, "kernels", TKI_COMPILED_KERNELS);
    for (int i = 0; i < a->kernel_count && !r->wrong; i++)
        take_kernel(r, &a->kernels[i]);
}

bool tki_entry_decode(tki_digest *digest, const char *data, size_t bytes, const char *key, bool whole,
                      tki_compiled_kernel *a, char *problem, size_t problem_size)
{
    tki_reader r = {.place = data, .end = data + bytes};
    char header[TKI_DIGEST_HEX], computed[TKI_DIGEST_HEX];
    const char *line;
    size_t length;
    *a = (tki_compiled_kernel){0};
    problem[0] = 0;
    take_header(&r, a);
    size_t covered = (size_t)(r.place - data);
    tki_take_hash(&r, "header", header);
    if (r.wrong)
        return tki_complain(problem, problem_size, "its `%s` is malformed", r.wrong);
    if (!tki_digest_bytes(digest, data, covered, computed) || strcmp(computed, header) != 0)
        return tki_complain(problem, problem_size, "the checksum of its header is wrong");
    if (!tki_entry_key(digest, a, computed) || strcmp(computed, a->key) != 0)
        return tki_complain(problem, problem_size, "its key does not match its content");
    if (key && strcmp(key, a->key) != 0)
        return tki_complain(problem, problem_size, "its key is another, %.12s...", a->key);
    if (!tki_take_line(&r, &line, &length) || length != 0)
        return tki_complain(problem, problem_size, "the end of its header is malformed");
    size_t rest = (size_t)(r.end - r.place);
    if (rest != a->image_bytes || rest == 0)
        return tki_complain(problem, problem_size, "its image has %zu bytes, not %zu", rest, a->image_bytes);
    if (!whole)
        return true;
    if (!tki_digest_bytes(digest, r.place, rest, computed) || strcmp(computed, a->hash) != 0)
        return tki_complain(problem, problem_size, "the checksum of its image is wrong");
    a->image = malloc(rest + 1);
    if (!a->image)
        return tki_complain(problem, problem_size, "out of memory");
    memcpy(a->image, r.place, rest);
    ((char *)a->image)[rest] = 0;
    return true;
}
