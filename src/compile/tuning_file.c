/* UNTRUSTED. Writing, reading and keeping what was measured of choices. The reader trusts nothing. */
#include "compile/tuning_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/cache_folder.h"
#include "compile/compilers.h"
#include "compile/field_reader.h"
#include "compile/kernel_sources.h"
#include "core/context.h"
#include "core/file.h"
#include "drivers/gpu_info.h"

static const char first_line[] = "tokitai tuning 1";
enum { PATH = 4096, MOST_BYTES = 1 << 25, LOCK_SECONDS = 10 };

/* ------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------ */

static bool make_key(tki_digest *digest, const tki_tuning *t, char key[TKI_DIGEST_HEX])
{
    char units[16];
    snprintf(units, sizeof units, "%d", t->units);
    const char *const parts[] = {first_line, t->backend,  t->device, t->architecture,
                                 units,      t->lowering, t->source, t->source_hash};
    tki_digest_begin(digest);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tki_digest_add_text(digest, parts[i]);
    return tki_digest_finish(digest, key);
}

char *tki_tuning_encode(tki_digest *digest, const tki_tuning *t, size_t *bytes)
{
    char *data = NULL, hash[TKI_DIGEST_HEX];
    FILE *stream = open_memstream(&data, bytes);
    if (!stream)
        return NULL;
    fprintf(stream, "%s\nkey %s\nbackend %s\ndevice %s\narchitecture %s\nunits %d\nlowering %s\nsource %s\n",
            first_line, t->key, t->backend, t->device, t->architecture, t->units, t->lowering, t->source);
    fprintf(stream, "source_hash %s\ncases %d\n", t->source_hash, t->case_count);
    for (int i = 0; i < t->case_count; i++) {
        const tki_tuned_case *c = &t->cases[i];
        fprintf(stream, "case %s", c->text);
        for (int n = 0; n < TKI_CHOICE_NUMBERS; n++)
            fprintf(stream, " %d", c->choice.number[n]);
        fprintf(stream, " %llu %llu\n", (unsigned long long)c->model_ns, (unsigned long long)c->best_ns);
    }
    bool good = !fflush(stream) && tki_digest_bytes(digest, data, *bytes, hash);
    good = good && fprintf(stream, "hash %s\n", hash) > 0;
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

static void take_case(tki_reader *r, tki_tuned_case *c)
{
    char text[2 * TKI_TUNED_TEXT];
    const char *at = text;
    tki_take_field(r, "case", text, sizeof text);
    bool good = tki_take_word(&at, c->text, sizeof c->text);
    for (int n = 0; n < TKI_CHOICE_NUMBERS && good; n++) {
        uint64_t value = 0;
        good = *at++ == ' ' && tki_read_number(&at, INT32_MAX, &value);
        c->choice.number[n] = (int)value;
    }
    good = good && *at++ == ' ' && tki_read_number(&at, INT64_MAX, &c->model_ns);
    good = good && *at++ == ' ' && tki_read_number(&at, INT64_MAX, &c->best_ns) && !*at;
    if (!r->wrong && !good)
        r->wrong = "case";
}

/* The cases, in ascending order of their texts, so that none comes twice and all are found quickly. */
static bool take_cases(tki_reader *r, tki_tuning *t, int count)
{
    t->cases = r->wrong || count == 0 ? NULL : calloc((size_t)count, sizeof *t->cases);
    if (!r->wrong && count && !t->cases)
        return false;
    for (; t->case_count < count && !r->wrong; t->case_count++) {
        take_case(r, &t->cases[t->case_count]);
        if (t->case_count && strcmp(t->cases[t->case_count - 1].text, t->cases[t->case_count].text) >= 0)
            r->wrong = r->wrong ? r->wrong : "case";
    }
    return true;
}

bool tki_tuning_decode(tki_digest *digest, const char *data, size_t bytes, const char *key, tki_tuning *t,
                       char *problem, size_t problem_size)
{
    enum { SHORTEST_CASE = sizeof "case 1 0 0 0 0 0 0" };
    tki_reader r = {.place = data, .end = data + bytes};
    char hash[TKI_DIGEST_HEX], computed[TKI_DIGEST_HEX];
    *t = (tki_tuning){0};
    problem[0] = 0;
    tki_take_first_line(&r, first_line);
    tki_take_hash(&r, "key", t->key);
    tki_take_field(&r, "backend", t->backend, sizeof t->backend);
    tki_take_field(&r, "device", t->device, sizeof t->device);
    tki_take_field(&r, "architecture", t->architecture, sizeof t->architecture);
    t->units = (int)tki_take_number(&r, "units", INT32_MAX);
    tki_take_field(&r, "lowering", t->lowering, sizeof t->lowering);
    tki_take_field(&r, "source", t->source, sizeof t->source);
    tki_take_hash(&r, "source_hash", t->source_hash);
    /* A file that says more than it has must not take memory for it. */
    const uint64_t possible = bytes / SHORTEST_CASE < TKI_TUNED_CASES ? bytes / SHORTEST_CASE : TKI_TUNED_CASES;
    const bool has_memory = take_cases(&r, t, (int)tki_take_number(&r, "cases", possible));
    const size_t covered = (size_t)(r.place - data);
    tki_take_hash(&r, "hash", hash);
    bool good = has_memory || tki_complain(problem, problem_size, "out of memory");
    good = good && tki_reader_ended(&r, problem, problem_size);
    if (good && (!tki_digest_bytes(digest, data, covered, computed) || strcmp(computed, hash) != 0))
        good = tki_complain(problem, problem_size, "its checksum is wrong");
    if (good && (!make_key(digest, t, computed) || strcmp(computed, t->key) != 0))
        good = tki_complain(problem, problem_size, "its key does not match its content");
    if (good && key && strcmp(key, t->key) != 0)
        good = tki_complain(problem, problem_size, "its key is another, %.12s...", t->key);
    if (!good)
        tki_tuning_free(t);
    return good;
}

void tki_tuning_free(tki_tuning *t)
{
    free(t->cases);
    *t = (tki_tuning){0};
}

/* ------------------------------------------------------------------------------------------------------------
 * Cases
 * ------------------------------------------------------------------------------------------------------------ */

void tki_tuning_case_text(const tk_case *c, char text[TKI_TUNED_TEXT])
{
    size_t used = 0;
    for (int d = 0; d < c->contract->dim_count && used < TKI_TUNED_TEXT; d++)
        used += (size_t)snprintf(text + used, TKI_TUNED_TEXT - used, "%s%lld", d ? "x" : "", (long long)c->dims[d]);
    for (int i = 0; i < c->contract->attribute_count && used < TKI_TUNED_TEXT; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        char value[64];
        if (!attribute->seen_by_kernel)
            continue;
        tk_attribute_print(attribute, c->attributes[i], value, sizeof value);
        used += (size_t)snprintf(text + used, TKI_TUNED_TEXT - used, ",%s=%s", attribute->name, value);
    }
}

static int by_text(const void *text, const void *tuned)
{
    return strcmp(text, ((const tki_tuned_case *)tuned)->text);
}

const tki_tuned_case *tki_tuning_find(const tki_tuning *t, const char *text)
{
    return t->case_count ? bsearch(text, t->cases, (size_t)t->case_count, sizeof *t->cases, by_text) : NULL;
}

static bool put_case(tki_tuning *t, const tki_tuned_case *tuned)
{
    int at = 0;
    while (at < t->case_count && strcmp(t->cases[at].text, tuned->text) < 0)
        at++;
    if (at == t->case_count || strcmp(t->cases[at].text, tuned->text) != 0) {
        tki_tuned_case *more = t->case_count < TKI_TUNED_CASES
                                   ? realloc(t->cases, (size_t)(t->case_count + 1) * sizeof *more)
                                   : NULL;
        if (!more)
            return false;
        t->cases = more;
        memmove(more + at + 1, more + at, (size_t)(t->case_count++ - at) * sizeof *more);
    }
    t->cases[at] = *tuned;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------------------------ */

/* What a tuning is of, and its key. */
static tk_status describe(tk_ctx *ctx, tki_digest *digest, const tki_lowering *lowering, const tk_case *c,
                          tki_tuning *t)
{
    const tki_gpu_info *device = ctx->device;
    tki_source_set *sources = calloc(1, sizeof *sources);
    *t = (tki_tuning){.units = device->units};
    if (!sources)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to read a tuning");
    snprintf(t->backend, sizeof t->backend, "%s", lowering->backend->name);
    snprintf(t->device, sizeof t->device, "%s", device->name);
    tki_text_flatten(t->device, sizeof t->device);
    snprintf(t->architecture, sizeof t->architecture, "%s", device->architecture);
    tki_lowering_id(lowering, c, t->lowering, sizeof t->lowering);
    snprintf(t->source, sizeof t->source, "%s", lowering->source);
    tk_status status = tki_digest_open(ctx, digest);
    if (status == TK_OK)
        status = tki_source_gather(ctx, tki_source_files, lowering->source, sources);
    if (status == TK_OK && (!tki_source_hash(digest, sources, t->source_hash) || !make_key(digest, t, t->key)))
        status = tki_fail(ctx, TK_INTERNAL, "SHA-256 of %s failed", lowering->source);
    free(sources);
    return status;
}

/* Takes over the cases of the file, if there is one. */
static void read_cases(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const char *path, tki_tuning *t)
{
    char problem[256], note[512];
    char *data;
    size_t bytes;
    tki_tuning found;
    if (store->distrusted || store->closed || !store->folder[0])
        return;
    int file = tki_store_read(ctx, path, &data, &bytes, problem, sizeof problem);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return;
    bool good = file >= 0;
    if (good) {
        close(file);
        good = bytes <= MOST_BYTES ? tki_tuning_decode(digest, data, bytes, t->key, &found, problem, sizeof problem)
                                   : tki_complain(problem, sizeof problem, "it is too long");
        free(data);
    }
    if (good) {
        t->cases = found.cases;
        t->case_count = found.case_count;
        return;
    }
    snprintf(note, sizeof note, "tuning %.12s... of %s is damaged (%s); ignored", t->key, t->lowering, problem);
    tki_note(ctx, note);
}

static bool path_of(const tki_store *store, const tki_tuning *t, char path[PATH])
{
    return snprintf(path, PATH, "%s/%s%s", store->folder, t->key, tki_store_tuning) < PATH;
}

void tki_tuning_load(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, tki_tuning *t)
{
    tki_store store;
    tki_digest digest;
    char path[PATH], message[sizeof ctx->message];
    memcpy(message, ctx->message, sizeof message); /* nothing has failed for the caller */
    tki_store_open(ctx, &store, false);
    if (describe(ctx, &digest, lowering, c, t) == TK_OK && path_of(&store, t, path))
        read_cases(ctx, &store, &digest, path, t);
    memcpy(ctx->message, message, sizeof message);
}

tk_status tki_tuning_keep(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, const tki_tuned_case *tuned)
{
    tki_store store;
    tki_digest digest;
    tki_tuning t;
    char path[PATH];
    tki_store_open(ctx, &store, true);
    if (store.problem[0])
        return tki_fail(ctx, TK_IO, "the tuning is not kept: %s", store.problem);
    tk_status status = describe(ctx, &digest, lowering, c, &t);
    if (status != TK_OK)
        return status;
    const int lock = tki_store_lock(&store, t.key, LOCK_SECONDS);
    if (lock < 0 || !path_of(&store, &t, path)) {
        tki_store_unlock(&store, t.key, lock);
        return tki_fail(ctx, TK_IO, "the tuning is not kept: no lock in %s", store.folder);
    }
    read_cases(ctx, &store, &digest, path, &t);
    size_t bytes = 0;
    char *data = put_case(&t, tuned) ? tki_tuning_encode(&digest, &t, &bytes) : NULL;
    status = data ? tki_file_write(ctx, path, data, bytes)
                  : tki_fail(ctx, TK_NO_MEMORY, "no memory to keep a tuning, or it has too many cases");
    tki_store_unlock(&store, t.key, lock);
    free(data);
    tki_tuning_free(&t);
    return status;
}
