/* RECORDS. The public side of the kernel cache. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/compiled_kernel.h"
#include "compile/kernel_sources.h"
#include "compile/cache_folder.h"
#include "compile/tuning_file.h"
#include "core/context.h"
#include "model/lowering.h"

static tk_status open_store(tk_ctx *ctx, tki_store *store)
{
    char note[sizeof store->problem + 64];
    tki_store_open(ctx, store, false);
    if (!store->folder[0])
        return tki_fail(ctx, TK_IO, "no kernel cache: %s", store->problem);
    if (store->problem[0]) {
        snprintf(note, sizeof note, "nothing %s in the kernel cache: %s",
                 store->distrusted ? "is used" : "new is kept", store->problem);
        tki_note(ctx, note);
    }
    return TK_OK;
}

static tk_status list(tk_ctx *ctx, const char *ending, tki_store *store, tki_digest *digest, tki_store_file **files,
                      int *count)
{
    tk_status status = open_store(ctx, store);
    if (status == TK_OK)
        status = tki_digest_open(ctx, digest);
    return status == TK_OK ? tki_store_list(ctx, store, ending, files, count) : status;
}

tk_status tk_cache_folder(tk_ctx *ctx, char *path, size_t size)
{
    tki_store store;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    tk_status status = open_store(ctx, &store);
    if (status != TK_OK)
        return status;
    if (!path || strlen(store.folder) >= size)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the buffer is too small for the path %s", store.folder);
    strcpy(path, store.folder);
    return TK_OK;
}

static void fill(tk_cache_entry *entry, const tki_compiled_kernel *a)
{
    snprintf(entry->backend, sizeof entry->backend, "%s", a->backend);
    snprintf(entry->source, sizeof entry->source, "%s", a->source);
    entry->types = a->types;
    snprintf(entry->architecture, sizeof entry->architecture, "%s", a->architecture);
    snprintf(entry->compiler, sizeof entry->compiler, "%s", a->compiler);
    snprintf(entry->options, sizeof entry->options, "%s", a->options);
    snprintf(entry->warnings, sizeof entry->warnings, "%s", a->warnings);
    snprintf(entry->note, sizeof entry->note, "%s", a->note);
    entry->kernel_count = a->kernel_count;
    memcpy(entry->kernels, a->kernels, sizeof entry->kernels);
}

/* Without holding or touching it: looking is not using. NULL, and the damage, if it is not to be used, whatever it holds. */
static char *read_trusted(tk_ctx *ctx, const tki_store *store, const char *path, size_t *bytes, char *damage,
                          size_t damage_size)
{
    char *data = NULL;
    if (store->distrusted) {
        snprintf(damage, damage_size, "others can write to its folder");
        return NULL;
    }
    const int opened = tki_store_read(ctx, path, &data, bytes, damage, damage_size);
    if (opened < 0)
        return NULL;
    close(opened);
    return data;
}

static void look(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const tki_store_file *file, bool whole,
                 tk_cache_entry *entry, tki_compiled_kernel *artifact)
{
    size_t bytes;
    *entry = (tk_cache_entry){.bytes = file->bytes, .last_used = (int64_t)file->used.tv_sec};
    (void)tki_store_key_of(file->name, tki_store_artifact, entry->key);
    snprintf(entry->path, sizeof entry->path, "%s/%s", store->folder, file->name);
    char *data = read_trusted(ctx, store, entry->path, &bytes, entry->damage, sizeof entry->damage);
    if (data &&
        tki_entry_decode(digest, data, bytes, entry->key, whole, artifact, entry->damage, sizeof entry->damage)) {
        fill(entry, artifact);
        tki_compiled_kernel_free(artifact);
    }
    free(data);
}

tk_status tk_cache_each(tk_ctx *ctx, bool whole, tk_cache_visitor visitor, void *user_data)
{
    tki_store store;
    tki_digest digest;
    tki_store_file *files = NULL;
    int count = 0;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    tk_status status = list(ctx, tki_store_artifact, &store, &digest, &files, &count);
    tk_cache_entry *entry = malloc(sizeof *entry);
    tki_compiled_kernel *artifact = malloc(sizeof *artifact);
    if (status == TK_OK && (!entry || !artifact))
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory to read the kernel cache");
    for (int i = 0; status == TK_OK && i < count; i++) {
        look(ctx, &store, &digest, &files[i], whole, entry, artifact);
        if (!visitor(entry, user_data))
            break;
    }
    free(artifact);
    free(entry);
    free(files);
    return status;
}

static bool is_current(tk_ctx *ctx, tki_digest *digest, const tki_tuning *tuning)
{
    char hash[TKI_DIGEST_HEX];
    tki_source_set *sources = calloc(1, sizeof *sources);
    const bool same = sources && tki_source_gather(ctx, tki_source_files, tuning->source, sources) == TK_OK &&
                      tki_source_hash(digest, sources, hash) && !strcmp(hash, tuning->source_hash);
    free(sources);
    return same;
}

static void look_at_tuning(tk_ctx *ctx, const tki_store *store, tki_digest *digest, const tki_store_file *file,
                           tk_tuning *shown)
{
    tki_tuning tuning;
    size_t bytes;
    *shown = (tk_tuning){.bytes = file->bytes, .written = (int64_t)file->used.tv_sec};
    (void)tki_store_key_of(file->name, tki_store_tuning, shown->key);
    snprintf(shown->path, sizeof shown->path, "%s/%s", store->folder, file->name);
    char *data = read_trusted(ctx, store, shown->path, &bytes, shown->damage, sizeof shown->damage);
    if (data && tki_tuning_decode(digest, data, bytes, shown->key, &tuning, shown->damage, sizeof shown->damage)) {
        snprintf(shown->lowering, sizeof shown->lowering, "%s", tuning.lowering);
        snprintf(shown->device, sizeof shown->device, "%s", tuning.device);
        snprintf(shown->architecture, sizeof shown->architecture, "%s", tuning.architecture);
        snprintf(shown->source, sizeof shown->source, "%s", tuning.source);
        shown->is_current = is_current(ctx, digest, &tuning);
        shown->case_count = tuning.case_count;
        tki_tuning_free(&tuning);
    }
    free(data);
}

tk_status tk_tuning_each(tk_ctx *ctx, tk_tuning_visitor visitor, void *user_data)
{
    tki_store store;
    tki_digest digest;
    tki_store_file *files = NULL;
    int count = 0;
    if (!ctx)
        return TK_BAD_ARGUMENT;
    tk_status status = list(ctx, tki_store_tuning, &store, &digest, &files, &count);
    for (int i = 0; status == TK_OK && i < count; i++) {
        tk_tuning shown;
        look_at_tuning(ctx, &store, &digest, &files[i], &shown);
        if (!visitor(&shown, user_data))
            break;
    }
    free(files);
    return status;
}

/* What came of clearing. */
typedef struct cleared {
    int gone, left;
    int64_t freed;
    char first[sizeof((tki_store *)0)->folder + 256]; /* why the first that stays does */
} cleared;

static tk_status clear_files(tk_ctx *ctx, const tki_store *store, const char *ending, const char *key, cleared *all)
{
    tki_store_file *files = NULL;
    int count = 0;
    char reason[sizeof all->first];
    tk_status status = tki_store_list(ctx, store, ending, &files, &count);
    for (int i = 0; status == TK_OK && i < count; i++) {
        if (key && strncmp(files[i].name, key, strlen(key)) != 0)
            continue;
        int64_t size = tki_store_remove(store, files[i].name, true);
        if (size >= 0) {
            all->gone++;
            all->freed += size;
        } else if (errno != ENOENT) { /* else another process was faster */
            snprintf(reason, sizeof reason, "cannot remove %s/%s: %s", store->folder, files[i].name, strerror(errno));
            if (all->left++ == 0)
                snprintf(all->first, sizeof all->first, "%s", reason);
            tki_note(ctx, reason);
        }
    }
    free(files);
    return status;
}

tk_status tk_cache_clear(tk_ctx *ctx, const char *key, int *removed, int64_t *bytes)
{
    tki_store store;
    cleared all = {0};
    if (!ctx)
        return TK_BAD_ARGUMENT;
    const char *const endings[] = {tki_store_artifact, tki_store_tuning, TKI_STORE_MUTANTS};
    tk_status status = open_store(ctx, &store);
    for (size_t i = 0; i < sizeof endings / sizeof *endings && status == TK_OK; i++)
        status = clear_files(ctx, &store, endings[i], key, &all);
    if (status == TK_OK)
        tki_store_sweep(&store, key ? key : "");
    if (all.left)
        status = tki_fail(ctx, TK_IO, "%d of %d entries were not removed; %s", all.left, all.left + all.gone,
                          all.first);
    if (removed)
        *removed = all.gone;
    if (bytes)
        *bytes = all.freed;
    return status;
}

const char *tk_cache_source_at(int i)
{
    return tki_compiled_source_at(i);
}

static bool is_compiled_for(const char *source, tk_types types)
{
    for (int i = 0; tk_contract_at(i); i++) {
        const tk_contract *contract = tk_contract_at(i);
        bool takes = false;
        for (int t = 0; t < contract->type_count; t++)
            takes |= contract->types[t].dtype == types.dtype && contract->types[t].result_dtype == types.result_dtype;
        for (const tki_lowering *l = tki_lowerings_of(contract); takes && l->backend; l++)
            if (!strcmp(l->source, source) && !(l->only_16_bits && tki_format_of(types.dtype).bits > 16))
                return true;
    }
    return false;
}

bool tk_cache_types_at(const char *source, int i, tk_types *types)
{
    for (tk_dtype result = 0; tki_is_dtype(result); result++)
        for (tk_dtype dtype = 0; tki_is_dtype(dtype); dtype++) {
            *types = (tk_types){dtype, result};
            if (tki_is_compiled_type(dtype) && tki_is_compiled_type(result) && is_compiled_for(source, *types) &&
                i-- == 0)
                return true;
        }
    return false;
}

tk_status tk_cache_build(tk_ctx *ctx, const char *backend, const char *source, const char *architecture,
                         tk_types types, tk_cache_entry *entry)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    if (!backend || !source || !architecture || !entry)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "an argument is NULL");
    *entry = (tk_cache_entry){0};
    const tki_backend *found = tki_backend_find(backend, "");
    if (!found || !found->is_gpu)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "backend is '%s'; it must be cuda or hip", backend);
    tki_compiled_kernel *artifact = calloc(1, sizeof *artifact);
    if (!artifact)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to compile %s", source);
    tki_compile_request request = {found, source, architecture, types};
    tk_status status = tki_compiled_kernel_get(ctx, &request, artifact);
    if (status == TK_OK) {
        fill(entry, artifact);
        memcpy(entry->key, artifact->key, sizeof entry->key);
        snprintf(entry->path, sizeof entry->path, "%s", artifact->path);
        entry->bytes = (int64_t)artifact->image_bytes;
        entry->was_cached = artifact->was_cached;
        entry->seconds = artifact->seconds;
        tki_compiled_kernel_free(artifact);
    }
    free(artifact);
    return status;
}
