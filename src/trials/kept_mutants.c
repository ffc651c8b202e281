/* CHOOSES. Writing, reading and keeping the verdicts on mutants. The reader trusts nothing but that nobody else can write to the
 * folder. */
#include "trials/kept_mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compile/cache_folder.h"
#include "compile/field_reader.h"
#include "core/context.h"
#include "core/file.h"
#include "trials/judge_build.h"

static const char first_line[] = "tokitai mutants 1";

/* ------------------------------------------------------------------------------------------------------------
 * Dates, the seed, the key
 * ------------------------------------------------------------------------------------------------------------ */

void tki_date_now(char date[TKI_DATE_TEXT])
{
    const time_t now = time(NULL);
    struct tm utc;
    date[0] = 0;
    if (gmtime_r(&now, &utc))
        strftime(date, TKI_DATE_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

bool tki_is_date(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    size_t i = 0;
    while (form[i] && (form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i]))
        i++;
    return !form[i] && !text[i];
}

static const char *level_name(void)
{
    return tk_level_name(TK_QUICK);
}

bool tki_mutants_seed(const char *build, const char *op, const char *types, const char *index, uint64_t *seed)
{
    enum { DIGITS = 12 };
    char hex[TKI_HASH_HEX];
    tki_hash hash;
    tki_hash_begin(&hash);
    const char *const parts[] = {"the seed of tokitai's mutants", build, op, types, index, level_name()};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tki_hash_add_text(&hash, parts[i]);
    if (!tki_hash_finish(&hash, hex))
        return false;
    hex[DIGITS] = 0;
    *seed = strtoull(hex, NULL, 16);
    return true;
}

bool tki_kept_key(const tki_kept_mutants *kept, char key[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    const char *const parts[] = {first_line,  kept->build, kept->machine, kept->op,
                                 kept->types, kept->index, level_name()};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tki_hash_add_text(&hash, parts[i]);
    return tki_hash_finish(&hash, key);
}

void tki_kept_free(tki_kept_mutants *kept)
{
    free(kept->list);
    kept->list = NULL;
    kept->count = 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------ */

char *tki_kept_encode(const tki_kept_mutants *kept, size_t *bytes)
{
    char *data = NULL, hash[TKI_HASH_HEX];
    FILE *stream = open_memstream(&data, bytes);
    bool good = true;
    if (!stream)
        return NULL;
    fprintf(stream, "%s\nkey %s\nbuild %s\nmachine %s\nop %s\ntypes %s\nindex %s\nlevel %s\n", first_line, kept->key,
            kept->build, kept->machine, kept->op, kept->types, kept->index, level_name());
    fprintf(stream, "seed %llu\ndate %s\nmutants %d\n", (unsigned long long)kept->seed, kept->date, kept->count);
    for (int i = 0; i < kept->count; i++) {
        const tki_kept_mutant *m = &kept->list[i];
        good = good && tki_is_one_line(m->reason);
        fprintf(stream, m->rejected ? "mutant %s rejected %s %s\n" : "mutant %s survived\n", m->name, m->clause,
                m->reason);
    }
    good = good && !fflush(stream) && tki_hash_bytes(data, *bytes, hash);
    good = good && fprintf(stream, "hash %s\n", hash) > 0;
    good = !fclose(stream) && good && *bytes <= TKI_KEPT_MOST_BYTES;
    if (!good) {
        free(data);
        data = NULL;
    }
    return data;
}

/* ------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------ */

static void take_mutant(tki_reader *r, tki_kept_mutant *m)
{
    char text[sizeof *m + 16], verdict[16];
    const char *at = text;
    tki_take_field(r, "mutant", text, sizeof text);
    bool good = tki_take_word(&at, m->name, sizeof m->name) && *at++ == ' ' &&
                tki_take_word(&at, verdict, sizeof verdict);
    m->rejected = good && !strcmp(verdict, "rejected");
    if (m->rejected) {
        good = *at++ == ' ' && tki_take_word(&at, m->clause, sizeof m->clause) && *at++ == ' ' &&
               strlen(at) < sizeof m->reason;
        if (good)
            strcpy(m->reason, at);
    } else {
        good = good && !strcmp(verdict, "survived") && !*at;
    }
    if (!r->wrong && !good)
        r->wrong = "mutant";
}

static bool take_mutants(tki_reader *r, tki_kept_mutants *kept, int count)
{
    kept->list = r->wrong || count == 0 ? NULL : calloc((size_t)count, sizeof *kept->list);
    if (!r->wrong && count && !kept->list)
        return false;
    for (; kept->count < count && !r->wrong; kept->count++)
        take_mutant(r, &kept->list[kept->count]);
    return true;
}

/* What follows from the other fields. */
static bool follows(const tki_kept_mutants *kept, char *problem, size_t problem_size)
{
    char key[TKI_HASH_HEX];
    uint64_t seed;
    if (!tki_kept_key(kept, key) || strcmp(key, kept->key) != 0)
        return tki_complain(problem, problem_size, "its key does not match its content");
    if (!tki_mutants_seed(kept->build, kept->op, kept->types, kept->index, &seed) || seed != kept->seed)
        return tki_complain(problem, problem_size, "its seed does not match its content");
    return true;
}

bool tki_kept_decode(const char *data, size_t bytes, const char *key, tki_kept_mutants *kept, char *problem,
                     size_t problem_size)
{
    enum { SHORTEST_MUTANT = sizeof "mutant a survived", MOST_SEED_BITS = 48 };
    tki_reader r = {.place = data, .end = data + bytes};
    char hash[TKI_HASH_HEX], computed[TKI_HASH_HEX], level[16];
    *kept = (tki_kept_mutants){0};
    problem[0] = 0;
    tki_take_first_line(&r, first_line);
    tki_take_hash(&r, "key", kept->key);
    tki_take_hash(&r, "build", kept->build);
    tki_take_hash(&r, "machine", kept->machine);
    tki_take_field(&r, "op", kept->op, sizeof kept->op);
    tki_take_field(&r, "types", kept->types, sizeof kept->types);
    tki_take_field(&r, "index", kept->index, sizeof kept->index);
    tki_take_field(&r, "level", level, sizeof level);
    if (!r.wrong && strcmp(level, level_name()) != 0)
        r.wrong = "level";
    kept->seed = tki_take_number(&r, "seed", (UINT64_C(1) << MOST_SEED_BITS) - 1);
    tki_take_field(&r, "date", kept->date, sizeof kept->date);
    if (!r.wrong && !tki_is_date(kept->date))
        r.wrong = "date";
    /* A file that says more than it has must not take memory for it. */
    const uint64_t possible = bytes / SHORTEST_MUTANT < TKI_KEPT_MOST ? bytes / SHORTEST_MUTANT : TKI_KEPT_MOST;
    const bool has_memory = take_mutants(&r, kept, (int)tki_take_number(&r, "mutants", possible));
    const size_t covered = (size_t)(r.place - data);
    tki_take_hash(&r, "hash", hash);
    bool good = has_memory || tki_complain(problem, problem_size, "out of memory");
    good = good && tki_reader_ended(&r, problem, problem_size);
    if (good && (!tki_hash_bytes(data, covered, computed) || strcmp(computed, hash) != 0))
        good = tki_complain(problem, problem_size, "its checksum is wrong");
    good = good && follows(kept, problem, problem_size);
    if (good && key && strcmp(key, kept->key) != 0)
        good = tki_complain(problem, problem_size, "its key is another, %.12s...", kept->key);
    if (!good)
        tki_kept_free(kept);
    return good;
}

/* ------------------------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------------------------ */

static bool from_the_future(const char *date)
{
    char now[TKI_DATE_TEXT];
    tki_date_now(now);
    return strcmp(date, now) > 0;
}

/* Takes over `data`. */
static bool take(tki_kept_mutants *kept, char *data, size_t bytes, char *problem, size_t problem_size)
{
    tki_kept_mutants found;
    bool good = tki_kept_decode(data, bytes, kept->key, &found, problem, problem_size);
    free(data);
    if (good && from_the_future(found.date)) {
        tki_kept_free(&found);
        good = tki_complain(problem, problem_size, "its date is in the future");
    }
    if (good)
        *kept = found;
    return good;
}

bool tki_kept_load(tk_ctx *ctx, tki_kept_mutants *kept)
{
    tki_store store;
    char message[sizeof ctx->message], problem[256], note[400];
    char *data;
    size_t bytes;
    bool good = false;
    memcpy(message, ctx->message, sizeof message); /* nothing has failed for the caller */
    tki_store_open(ctx, &store, false);
    const tki_store_result result = tki_store_get(ctx, &store, kept->key, TKI_STORE_MUTANTS, TKI_KEPT_MOST_BYTES,
                                                  true, &data, &bytes, problem, sizeof problem);
    if (result == TKI_STORE_FOUND)
        good = take(kept, data, bytes, problem, sizeof problem);
    if (!good && result != TKI_STORE_ABSENT) {
        snprintf(note, sizeof note, "kept verdicts %.12s... on the mutants of %s ignored: %s", kept->key, kept->op,
                 problem);
        tki_note(ctx, note);
    }
    memcpy(ctx->message, message, sizeof message);
    return good;
}

void tki_kept_save(tk_ctx *ctx, const tki_kept_mutants *kept)
{
    tki_store store;
    char message[sizeof ctx->message], note[sizeof store.problem + 64];
    size_t bytes = 0;
    memcpy(message, ctx->message, sizeof message);
    tki_store_open(ctx, &store, true);
    char *data = tki_kept_encode(kept, &bytes);
    if (data)
        tki_store_put(ctx, &store, kept->key, TKI_STORE_MUTANTS, data, bytes, TKI_KEPT_MOST_IN_ALL);
    else if (!store.problem[0])
        snprintf(store.problem, sizeof store.problem, "those of %s cannot be written as a file", kept->op);
    if (store.problem[0]) {
        snprintf(note, sizeof note, "the verdicts on mutants are not kept: %s", store.problem);
        tki_note(ctx, note);
    }
    free(data);
    memcpy(ctx->message, message, sizeof message);
}

/* ------------------------------------------------------------------------------------------------------------
 * All that there is
 * ------------------------------------------------------------------------------------------------------------ */

static bool is_current(const tki_kept_mutants *kept)
{
    char build[TKI_HASH_HEX], machine[TKI_HASH_HEX];
    return tki_judge_build(build) && tki_judge_machine(machine) && !strcmp(build, kept->build) &&
           !strcmp(machine, kept->machine);
}

static void look(tk_ctx *ctx, const tki_store *store, const tki_store_file *file, tk_kept_mutants *shown)
{
    tki_kept_mutants kept;
    char *data;
    size_t bytes;
    *shown = (tk_kept_mutants){.bytes = file->bytes, .last_used = (int64_t)file->used.tv_sec};
    (void)tki_store_key_of(file->name, TKI_STORE_MUTANTS, shown->key);
    snprintf(shown->path, sizeof shown->path, "%s/%s", store->folder, file->name);
    if (store->distrusted)
        snprintf(shown->damage, sizeof shown->damage, "others can write to its folder");
    else if (tki_store_get(ctx, store, shown->key, TKI_STORE_MUTANTS, TKI_KEPT_MOST_BYTES, false, &data, &bytes,
                           shown->damage, sizeof shown->damage) == TKI_STORE_FOUND) {
        if (tki_kept_decode(data, bytes, shown->key, &kept, shown->damage, sizeof shown->damage)) {
            snprintf(shown->op, sizeof shown->op, "%s", kept.op);
            snprintf(shown->types, sizeof shown->types, "%s", kept.types);
            snprintf(shown->index_type, sizeof shown->index_type, "%s", kept.index);
            snprintf(shown->date, sizeof shown->date, "%s", kept.date);
            shown->seed = kept.seed;
            shown->count = kept.count;
            for (int i = 0; i < kept.count; i++)
                shown->rejected += kept.list[i].rejected;
            shown->is_current = is_current(&kept);
            tki_kept_free(&kept);
        }
        free(data);
    }
}

tk_status tk_kept_mutants_each(tk_ctx *ctx, tk_kept_mutants_visitor visitor, void *user_data)
{
    tki_store store;
    tki_store_file *files = NULL;
    int count = 0;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!visitor)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "no function to pass the verdicts to");
    tki_store_open(ctx, &store, false);
    if (!store.folder[0])
        return tki_fail(ctx, TK_IO, "no cache: %s", store.problem);
    tk_status status = tki_store_list(ctx, &store, TKI_STORE_MUTANTS, &files, &count);
    for (int i = 0; status == TK_OK && i < count; i++) {
        tk_kept_mutants shown;
        look(ctx, &store, &files[i], &shown);
        if (!visitor(&shown, user_data))
            break;
    }
    free(files);
    return status;
}
