/* RECORDS. Checkpoints: shards are opened, their sections placed and grouped into tensors, and all that can be wrong before any data is read is
 * found. */
#include "glue/checkpoint.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "glue/cover.h"
#include "glue/json.h"
#include "glue/placement.h"

/* -- Which files --------------------------------------------------------------------------------------------- */

typedef struct names {
    char **list;
    size_t count;
} names;

static void free_names(names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
}

/* Takes over the name; false if there is no memory, or no name. */
static bool add_name(names *n, char *name)
{
    char **longer = name ? realloc(n->list, (n->count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free(name);
        return false;
    }
    n->list = longer;
    n->list[n->count++] = name;
    return true;
}

static char *join_path(const char *folder, size_t length, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%.*s%s", (int)length, folder, name) < 0 ? NULL : path;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && !strcmp(text + length - wanted, end);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of a folder with this ending, sorted. */
static tk_status list_folder(tk_ctx *ctx, const char *folder, const char *end, names *found)
{
    char *path = NULL;
    const bool named = asprintf(&path, "%s/", folder) >= 0;
    DIR *list = named ? opendir(folder) : NULL;
    bool good = true;
    for (const struct dirent *entry; list && good && (entry = readdir(list));)
        if (entry->d_name[0] != '.' && ends_in(entry->d_name, end))
            good = add_name(found, join_path(path, strlen(path), entry->d_name));
    if (named)
        free(path);
    if (list)
        closedir(list);
    if (!list || !good)
        return tki_fail(ctx, list ? TK_NO_MEMORY : TK_IO, "cannot list directory %s", folder);
    if (found->count)
        qsort(found->list, found->count, sizeof *found->list, compare_names);
    return TK_OK;
}

static tk_status add_shard(tk_ctx *ctx, tki_checkpoint *c, char *path)
{
    tki_shard *longer = path ? realloc(c->shards, (c->shard_count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free(path);
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the shards");
    }
    c->shards = longer;
    c->shards[c->shard_count++] = (tki_shard){.path = path};
    return TK_OK;
}

/* The shards that an index or a manifest names, each once. */
static tk_status take_index(tk_ctx *ctx, tki_checkpoint *c, const char *path)
{
    tk_status status = tki_index_read(ctx, path, &c->index);
    if (status != TK_OK)
        return status;
    c->index_path = strdup(path);
    if (!c->index_path)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the shards of %s", path);
    json_t *map = json_object_get(c->index, "weight_map"), *value;
    const char *name;
    const size_t folder = (size_t)(tki_name_in(path) - path);
    names files = {0};
    size_t i;
    bool good = true;
    c->placed_by = map ? "index" : "manifest";
    json_object_foreach(map, name, value)
    {
        good = good && add_name(&files, strdup(json_string_value(value)));
    }
    if (files.count)
        qsort(files.list, files.count, sizeof *files.list, compare_names);
    for (i = 0; i < files.count && good && status == TK_OK; i++)
        if (i == 0 || strcmp(files.list[i], files.list[i - 1]))
            status = add_shard(ctx, c, join_path(path, folder, files.list[i]));
    free_names(&files);
    json_array_foreach(json_object_get(c->index, "shards"), i, value)
    {
        if (status != TK_OK)
            break;
        status = add_shard(ctx, c, join_path(path, folder, json_string_value(json_object_get(value, "file"))));
        if (status == TK_OK)
            c->shards[c->shard_count - 1].recorded = value;
    }
    return good ? status : tki_fail(ctx, TK_NO_MEMORY, "no memory for the shards of %s", path);
}

static tk_status take_folder(tk_ctx *ctx, tki_checkpoint *c, const char *folder)
{
    names found = {0}, files = {0};
    tk_status status = list_folder(ctx, folder, ".index.json", &found);
    if (status == TK_OK && found.count > 1)
        status = tki_fail(ctx, TK_BAD_FILE, "%s: more than one index", folder);
    else if (status == TK_OK && found.count == 1)
        status = take_index(ctx, c, found.list[0]);
    else if (status == TK_OK)
        status = list_folder(ctx, folder, ".safetensors", &files);
    for (size_t i = 0; i < files.count && status == TK_OK; i++)
        status = add_shard(ctx, c, strdup(files.list[i]));
    free_names(&found);
    free_names(&files);
    if (status == TK_OK && c->shard_count == 0)
        status = tki_fail(ctx, TK_BAD_FILE, "%s: no safetensors file, and no index that names one", folder);
    return status;
}

static tk_status take_paths(tk_ctx *ctx, tki_checkpoint *c, char *const *paths, size_t count)
{
    struct stat about;
    if (count == 1 && !stat(paths[0], &about) && S_ISDIR(about.st_mode))
        return take_folder(ctx, c, paths[0]);
    if (count == 1 && ends_in(paths[0], ".json"))
        return take_index(ctx, c, paths[0]);
    tk_status status = TK_OK;
    for (size_t i = 0; i < count && status == TK_OK; i++) {
        if (ends_in(paths[i], ".json"))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: an index or a manifest must be the only argument", paths[i]);
        status = add_shard(ctx, c, strdup(paths[i]));
    }
    return status;
}

/* -- Opening ------------------------------------------------------------------------------------------------- */

/* What makes a shard of a set unreadable is an obstruction where it has a kind, and a failure otherwise. */
static tk_status open_shard(tk_ctx *ctx, tki_checkpoint *c, tki_shard *shard)
{
    tki_malformed kind;
    tki_obstruction o = {.shards = {shard->path}};
    if (c->index && access(shard->path, F_OK)) {
        o.kind = TKI_MISSING_SHARD;
        tki_obstruct(&c->obstructions, o, "the %s names it, but it is missing", c->placed_by);
        return TK_OK;
    }
    tk_status status = tki_safetensors_open(ctx, shard->path, &shard->file, &kind);
    if (status == TK_OK) {
        shard->is_open = true;
        (void)madvise((void *)(uintptr_t)shard->file.bytes, (size_t)shard->file.size, MADV_SEQUENTIAL);
        return TK_OK;
    }
    if (status != TK_BAD_FILE)
        return status;
    if (kind == TKI_LENGTH_CUT || kind == TKI_HEADER_CUT || kind == TKI_DATA_CUT)
        o.kind = TKI_TRUNCATED;
    else if (kind == TKI_HEADER_DUPLICATE)
        o.kind = TKI_DUPLICATE_NAME;
    else
        return status;
    const char *message = tk_ctx_message(ctx);
    const char *reason = strstr(message, tki_malformed_name(kind));
    tki_obstruct(&c->obstructions, o, "%s", reason ? reason : message);
    return TK_OK;
}

static const tki_shard *shard_in_file(const tki_checkpoint *c, size_t count, dev_t device, ino_t inode)
{
    for (size_t i = 0; i < count; i++)
        if (c->shards[i].is_open && c->shards[i].file.device == device && c->shards[i].file.inode == inode)
            return &c->shards[i];
    return NULL;
}

/* A replica that is the same file would agree with itself, and vote twice. */
static tk_status refuse_same_file(tk_ctx *ctx, const tki_checkpoint *c, size_t i)
{
    const tki_shard *shard = &c->shards[i];
    const tki_shard *other = shard->is_open ? shard_in_file(c, i, shard->file.device, shard->file.inode) : NULL;
    return other ? tki_fail(ctx, TK_BAD_ARGUMENT, "%s and %s are the same file", other->path, shard->path) : TK_OK;
}

tk_status tki_checkpoint_spares(tk_ctx *ctx, const tki_checkpoint *checkpoint, const char *out, const char *ending)
{
    struct stat about, index;
    char *path = join_path(out, strlen(out), ending);
    if (!path)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a file name");
    tk_status status = TK_OK;
    if (!stat(path, &about)) {
        if (shard_in_file(checkpoint, checkpoint->shard_count, about.st_dev, about.st_ino))
            status = tki_fail(ctx, TK_BAD_ARGUMENT, "cannot write %s: it is one of the shards", path);
        else if (checkpoint->index_path && !stat(checkpoint->index_path, &index) && index.st_dev == about.st_dev &&
                 index.st_ino == about.st_ino)
            status = tki_fail(ctx, TK_BAD_ARGUMENT, "cannot write %s: it is the index of the shards", path);
    }
    free(path);
    return status;
}

tk_status tki_checkpoint_is_unchanged(tk_ctx *ctx, const tki_checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint->shard_count; i++) {
        const tki_shard *shard = &checkpoint->shards[i];
        if (shard->is_open && !tki_safetensors_is_unchanged(&shard->file, shard->path))
            return tki_fail(ctx, TK_IO, "%s changed while it was read", shard->path);
    }
    return TK_OK;
}

static tk_status read_placement(tk_ctx *ctx, tki_shard *shard)
{
    static const char *const keys[] = {"step", "global_step", "iteration"};
    const char *text = tki_safetensors_metadata(&shard->file, TKI_PLACEMENT_KEY);
    tk_status status = TK_OK;
    if (shard->recorded)
        shard->placement = json_incref(shard->recorded);
    else if (text)
        status = tki_placement_parse(ctx, shard->path, text, strlen(text), &shard->placement);
    const char *step = json_string_value(json_object_get(shard->placement, "step"));
    for (size_t k = 0; !step && k < sizeof keys / sizeof *keys; k++)
        step = tki_safetensors_metadata(&shard->file, keys[k]);
    if (step && status == TK_OK) {
        shard->step = strdup(step);
        if (!shard->step)
            status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the shards");
    }
    return status;
}

/* -- Shards as a set ----------------------------------------------------------------------------------------- */

static const char *step_of(const tki_shard *shard)
{
    return shard->step;
}

static const char *checkpoint_of(const tki_shard *shard)
{
    return json_string_value(json_object_get(shard->placement, "checkpoint"));
}

/* Shards that say something else than most others do; those that say nothing are left alone. */
static void find_odd_ones(tki_checkpoint *c, const char *(*say)(const tki_shard *), tki_obstruction_kind kind,
                          const char *what)
{
    size_t most = 0, usual = 0;
    for (size_t i = 0; i < c->shard_count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < c->shard_count && say(&c->shards[i]); k++)
            same += say(&c->shards[k]) && !strcmp(say(&c->shards[i]), say(&c->shards[k]));
        if (same > most) {
            most = same;
            usual = i;
        }
    }
    for (size_t i = 0; i < c->shard_count && most; i++) {
        const tki_shard *shard = &c->shards[i], *other = &c->shards[usual];
        if (!say(shard) || !strcmp(say(shard), say(other)))
            continue;
        const tki_obstruction o = {.kind = kind, .shards = {shard->path, other->path}};
        tki_obstruct(&c->obstructions, o, "%s %s and %s", what, say(shard), say(other));
    }
}

/* Shards that count themselves are there all, and each once. */
static void find_missing_numbers(tki_checkpoint *c)
{
    json_int_t of = 0;
    size_t unread = 0; /* one of these may be the one that is missed */
    const tki_shard *first = NULL;
    for (size_t i = 0; i < c->shard_count; i++) {
        unread += !c->shards[i].is_open;
        const json_int_t said = json_integer_value(json_object_get(c->shards[i].placement, "of"));
        if (said && !first)
            first = &c->shards[i];
        of = said > of ? said : of;
    }
    const tki_shard **seen = of ? calloc((size_t)of + 1, sizeof *seen) : NULL;
    if (of && !seen)
        c->obstructions.no_memory = true;
    for (size_t i = 0; i < c->shard_count && seen; i++) {
        tki_shard *shard = &c->shards[i];
        const json_int_t number = json_integer_value(json_object_get(shard->placement, "shard"));
        if (number && seen[number]) {
            const tki_obstruction o = {.kind = TKI_STALE_SHARD, .shards = {shard->path, seen[number]->path}};
            tki_obstruct(&c->obstructions, o, "both are marked as shard %lld", (long long)number);
        }
        seen[number] = shard;
    }
    for (json_int_t number = 1; number <= of && seen && !unread; number++)
        if (!seen[number]) {
            const tki_obstruction o = {.kind = TKI_MISSING_SHARD, .shards = {first->path}};
            tki_obstruct(&c->obstructions, o, "shard %lld of %lld is missing", (long long)number, (long long)of);
        }
    free(seen);
}

/* -- Sections ------------------------------------------------------------------------------------------------ */

/* The index gives each tensor to one shard: a shard has those tensors and no others. */
static void compare_with_index(tki_checkpoint *c)
{
    json_t *map = json_object_get(c->index, "weight_map"), *value;
    const char *name;
    json_object_foreach(map, name, value)
    {
        for (size_t s = 0; s < c->shard_count; s++) {
            tki_shard *shard = &c->shards[s];
            if (!shard->is_open || strcmp(tki_name_in(shard->path), json_string_value(value)))
                continue;
            const tki_obstruction o = {
                .kind = TKI_STALE_SHARD, .tensor = (char *)(uintptr_t)name, .shards = {shard->path}};
            if (!tki_safetensors_find(&shard->file, name))
                tki_obstruct(&c->obstructions, o, "the index places it in this shard, which does not have it");
        }
    }
    for (size_t s = 0; s < c->shard_count && map; s++)
        for (size_t t = 0; t < c->shards[s].file.count; t++) {
            const tki_tensor *local = &c->shards[s].file.tensors[t];
            const char *file = json_string_value(json_object_get(map, local->name));
            tki_obstruction o = {.tensor = (char *)(uintptr_t)local->name, .shards = {c->shards[s].path}};
            if (!file) {
                o.kind = TKI_STALE_SHARD;
                tki_obstruct(&c->obstructions, o, "the index does not have it");
            } else if (strcmp(file, tki_name_in(c->shards[s].path))) {
                o.kind = TKI_DUPLICATE_NAME;
                tki_obstruct(&c->obstructions, o, "the index places it in %s", file);
            }
        }
}

/* Sections that a manifest describes and the shard does not have. */
static void compare_with_placement(tki_checkpoint *c, const tki_shard *shard)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(shard->placement, "sections"), name, value)
    {
        const tki_obstruction o = {
            .kind = TKI_STALE_SHARD, .tensor = (char *)(uintptr_t)name, .shards = {shard->path}};
        if (!tki_safetensors_find(&shard->file, name))
            tki_obstruct(&c->obstructions, o, "the placement has the section, the shard does not");
    }
}

/* The index may say how many bytes the tensors have. Numbers of its writers are integers, or reals with the same value. */
static void compare_total_size(tki_checkpoint *c)
{
    const json_t *total = json_object_get(json_object_get(c->index, "metadata"), "total_size");
    int64_t bytes = 0;
    if (!total)
        return;
    for (size_t s = 0; s < c->shard_count; s++) {
        if (!c->shards[s].is_open)
            return; /* an obstruction of its own */
        for (size_t t = 0; t < c->shards[s].file.count; t++)
            bytes += c->shards[s].file.tensors[t].end - c->shards[s].file.tensors[t].begin;
    }
    const tki_obstruction o = {.kind = TKI_STALE_SHARD, .shards = {c->index_path}};
    if (json_is_integer(total) ? json_integer_value(total) != bytes : json_real_value(total) != (double)bytes)
        tki_obstruct(&c->obstructions, o, "total_size is %.17g bytes; the tensors have %lld",
                     json_number_value(total), (long long)bytes);
}

static tk_status place_sections(tk_ctx *ctx, tki_checkpoint *c)
{
    tk_status status = TK_OK;
    for (uint32_t s = 0; s < c->shard_count && status == TK_OK; s++) {
        if (!c->shards[s].is_open)
            continue;
        compare_with_placement(c, &c->shards[s]);
        for (size_t t = 0; t < c->shards[s].file.count && status == TK_OK; t++)
            status = tki_place_section(ctx, c, s, &c->shards[s].file.tensors[t]);
    }
    compare_with_index(c);
    compare_total_size(c);
    return status;
}

static int compare_sections(const void *a, const void *b)
{
    const tki_section *first = a, *second = b;
    const int order = strcmp(first->tensor, second->tensor);
    if (order)
        return order;
    if (first->shard != second->shard)
        return first->shard < second->shard ? -1 : 1;
    return (first->local->begin > second->local->begin) - (first->local->begin < second->local->begin);
}

static void put_shape(const tki_section *section, char text[TKI_BOX_TEXT])
{
    size_t at = (size_t)snprintf(text, TKI_BOX_TEXT, "[");
    for (int d = 0; d < section->rank; d++)
        at += (size_t)snprintf(text + at, TKI_BOX_TEXT - at, "%s%lld", d ? ", " : "", (long long)section->shape[d]);
    snprintf(text + at, TKI_BOX_TEXT - at, "]");
}

/* Type and shape are those of the first section. */
static void compare_types(tki_checkpoint *c, tki_whole *whole)
{
    const tki_section *first = &whole->sections[0];
    for (size_t i = 1; i < whole->count; i++) {
        const tki_section *s = &whole->sections[i];
        tki_obstruction o = {.tensor = (char *)(uintptr_t)whole->name,
                             .shards = {c->shards[first->shard].path, c->shards[s->shard].path}};
        char shape[TKI_BOX_TEXT], other[TKI_BOX_TEXT];
        if (s->local->type != whole->type) {
            o.kind = TKI_DTYPE;
            tki_obstruct(&c->obstructions, o, "%s and %s", tki_format_of(whole->type).file_name,
                         tki_format_of(s->local->type).file_name);
            whole->obstructed = true;
        }
        if (s->rank != whole->rank || memcmp(s->shape, whole->shape, (size_t)s->rank * sizeof *s->shape)) {
            o.kind = TKI_SHAPE;
            put_shape(first, shape);
            put_shape(s, other);
            tki_obstruct(&c->obstructions, o, "%s and %s", shape, other);
            whole->obstructed = true;
        }
    }
}

static tk_status find_gap(tk_ctx *ctx, tki_checkpoint *c, tki_whole *whole)
{
    tki_box *boxes = malloc(whole->count * sizeof *boxes);
    tki_obstruction o = {.kind = TKI_GAP, .tensor = (char *)(uintptr_t)whole->name, .has_box = true};
    if (!boxes)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu sections", whole->count);
    for (size_t i = 0; i < whole->count; i++)
        boxes[i] = whole->sections[i].box;
    const tki_box all = tki_box_whole(whole->shape, whole->rank);
    tk_status status = tki_cover_gaps(ctx, whole->shape, whole->rank, boxes, whole->count, &o.differing, &o.box);
    free(boxes);
    o.of = tki_box_volume(&all);
    if (status == TK_OK && o.differing) {
        tki_obstruct(&c->obstructions, o, "no shard has this box; %lld of %lld elements are missing",
                     (long long)o.differing, (long long)o.of);
        whole->has_gap = true;
    }
    return status;
}

static tk_status group_sections(tk_ctx *ctx, tki_checkpoint *c)
{
    c->tensors = calloc(c->section_count + 1, sizeof *c->tensors);
    if (!c->tensors)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu tensors", c->section_count);
    if (c->section_count)
        qsort(c->sections, c->section_count, sizeof *c->sections, compare_sections);
    tk_status status = TK_OK;
    for (size_t i = 0, end; i < c->section_count && status == TK_OK; i = end) {
        tki_section *first = &c->sections[i];
        for (end = i + 1; end < c->section_count && !strcmp(c->sections[end].tensor, first->tensor);)
            end++;
        tki_whole *whole = &c->tensors[c->tensor_count++];
        *whole = (tki_whole){first->tensor, first->local->type, first->rank, {0}, first, end - i, false, false};
        memcpy(whole->shape, first->shape, sizeof whole->shape);
        for (size_t k = i; k < end; k++)
            c->bytes += c->sections[k].local->end - c->sections[k].local->begin;
        compare_types(c, whole);
        if (!whole->obstructed)
            status = find_gap(ctx, c, whole);
    }
    return status;
}

/* A shard that the manifest has the SHA-256 of. */
static tk_status compare_file_hash(tk_ctx *ctx, tki_checkpoint *c, const tki_shard *shard)
{
    char hash[TKI_HASH_HEX];
    const char *expected = json_string_value(json_object_get(shard->recorded, "sha256"));
    const tki_obstruction o = {.kind = TKI_HASH, .shards = {shard->path}};
    if (!expected || !shard->is_open)
        return TK_OK;
    if (!tki_hash_file(shard->path, hash))
        return tki_fail(ctx, TK_IO, "cannot read %s", shard->path);
    if (strcmp(hash, expected))
        tki_obstruct(&c->obstructions, o, "the file has SHA-256 %s, the manifest %s", hash, expected);
    return TK_OK;
}

/* Rules beside something else that places sections: one of both is wrong, and what was recorded of sections would not be checked. */
static tk_status refuse_other_placements(tk_ctx *ctx, const tki_checkpoint *c)
{
    if (c->index_path)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s places the sections; rules are not allowed", c->index_path);
    for (size_t i = 0; i < c->shard_count; i++)
        if (json_object_get(c->shards[i].placement, "sections"))
            return tki_fail(ctx, TK_BAD_ARGUMENT, "%s has its own placement; rules are not allowed",
                            c->shards[i].path);
    return TK_OK;
}

tk_status tki_checkpoint_fits(tk_ctx *ctx, const tki_checkpoint *checkpoint, const char *what, const char *pattern)
{
    for (size_t i = 0; i < checkpoint->shard_count; i++)
        if (!checkpoint->shards[i].is_open)
            return TK_OK;
    for (size_t i = 0; i < checkpoint->tensor_count; i++)
        if (!fnmatch(pattern, checkpoint->tensors[i].name, 0))
            return TK_OK;
    return tki_fail(ctx, TK_BAD_ARGUMENT, "%s '%.200s' matches none of the %zu tensors", what, pattern,
                    checkpoint->tensor_count);
}

tk_status tki_rules_fit(tk_ctx *ctx, const tki_checkpoint *checkpoint, const tki_rule *rules, size_t count)
{
    tk_status status = TK_OK;
    for (size_t i = 0; i < count && status == TK_OK; i++)
        if (!rules[i].if_it_can)
            status = tki_checkpoint_fits(ctx, checkpoint, "rule", rules[i].pattern);
    return status;
}

static int compare_order(const void *a, const void *b)
{
    const tki_whole *first = *(tki_whole *const *)a, *second = *(tki_whole *const *)b;
    const int difference = tki_format_of(second->type).bits - tki_format_of(first->type).bits;
    return difference ? difference : strcmp(first->name, second->name);
}

tki_whole **tki_checkpoint_ordered(const tki_checkpoint *checkpoint)
{
    tki_whole **ordered = calloc(checkpoint->tensor_count + 1, sizeof *ordered);
    for (size_t i = 0; ordered && i < checkpoint->tensor_count; i++)
        ordered[i] = &checkpoint->tensors[i];
    if (ordered)
        qsort(ordered, checkpoint->tensor_count, sizeof *ordered, compare_order);
    return ordered;
}

static tk_status open_all(tk_ctx *ctx, tki_checkpoint *c, const tki_rule *rules, size_t rule_count)
{
    tk_status status = TK_OK;
    for (size_t i = 0; i < c->shard_count && status == TK_OK; i++) {
        status = open_shard(ctx, c, &c->shards[i]);
        if (status == TK_OK)
            status = refuse_same_file(ctx, c, i);
        if (status == TK_OK && (c->shards[i].is_open || c->shards[i].recorded))
            status = read_placement(ctx, &c->shards[i]);
        if (status == TK_OK)
            status = compare_file_hash(ctx, c, &c->shards[i]);
    }
    if (status != TK_OK)
        return status;
    status = rule_count ? refuse_other_placements(ctx, c) : TK_OK;
    if (status != TK_OK)
        return status;
    find_odd_ones(c, step_of, TKI_STEP_SKEW, "steps");
    if (rule_count) {
        c->placed_by = "options";
        status = tki_place_by_rules(ctx, c, rules, rule_count);
    } else {
        find_odd_ones(c, checkpoint_of, TKI_STALE_SHARD, "checkpoints");
        find_missing_numbers(c);
        status = place_sections(ctx, c);
    }
    if (status == TK_OK)
        status = group_sections(ctx, c);
    return status == TK_OK ? tki_rules_fit(ctx, c, rules, rule_count) : status;
}

tk_status tki_checkpoint_open(tk_ctx *ctx, char *const *paths, size_t count, const tki_rule *rules, size_t rule_count,
                              tki_checkpoint **checkpoint)
{
    *checkpoint = NULL;
    tki_checkpoint *c = calloc(1, sizeof *c);
    if (!c)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for a checkpoint");
    c->placed_by = "metadata";
    tk_status status = take_paths(ctx, c, paths, count);
    if (status == TK_OK)
        status = open_all(ctx, c, rules, rule_count);
    if (status == TK_OK && c->obstructions.no_memory)
        status = tki_fail(ctx, TK_NO_MEMORY, "no memory for an obstruction");
    if (status == TK_OK)
        *checkpoint = c;
    else
        tki_checkpoint_close(c);
    return status;
}

void tki_checkpoint_close(tki_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    for (size_t i = 0; i < checkpoint->shard_count; i++) {
        tki_safetensors_close(&checkpoint->shards[i].file);
        json_decref(checkpoint->shards[i].placement);
        free(checkpoint->shards[i].path);
        free(checkpoint->shards[i].step);
    }
    free(checkpoint->shards);
    free(checkpoint->sections);
    free(checkpoint->tensors);
    tki_obstructions_free(&checkpoint->obstructions);
    json_decref(checkpoint->index);
    free(checkpoint->index_path);
    free(checkpoint);
}

const tki_obstructions *tki_checkpoint_obstructions(const tki_checkpoint *checkpoint)
{
    return &checkpoint->obstructions;
}
