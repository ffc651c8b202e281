/* RECORDS. Placements: read from JSON, or made from rules. */
#include "glue/placement.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/file.h"
#include "glue/json.h"

/* -- JSON ---------------------------------------------------------------------------------------------------- */

static tk_status load(tk_ctx *ctx, const char *what, const char *text, size_t length, json_t **value)
{
    json_error_t error;
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (*value && json_is_object(*value))
        return TK_OK;
    if (*value) {
        json_decref(*value);
        *value = NULL;
        return tki_fail(ctx, TK_BAD_FILE, "%s: not a JSON object", what);
    }
    if (json_error_code(&error) == json_error_out_of_memory)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory to read %s", what);
    return tki_fail(ctx, TK_BAD_FILE, "%s: line %d: %s", what, error.line, error.text);
}

static bool is_text_or_absent(const json_t *value)
{
    return !value || json_is_string(value);
}

static bool is_sha256_or_absent(const json_t *value)
{
    const char *text = json_string_value(value);
    return !value || (text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64);
}

static bool is_count_or_absent(const json_t *value)
{
    return !value ||
           (json_is_integer(value) && json_integer_value(value) > 0 && json_integer_value(value) <= 1 << 24);
}

/* What is wrong with one section of a placement, or NULL. */
static const char *section_problem(const json_t *section)
{
    static const char *const members[] = {"shape", "start", "tensor", "sha256", NULL};
    int64_t sizes[TKI_TENSOR_MAX_RANK];
    int shape_rank, start_rank;
    const json_t *shape = json_object_get(section, "shape"), *start = json_object_get(section, "start");
    const char *name = json_string_value(json_object_get(section, "tensor"));
    if (!json_is_object(section))
        return "a section is not an object";
    if (!tki_json_has_only(section, members))
        return "a section has a member other than \"shape\", \"start\", \"tensor\" and \"sha256\"";
    if (json_object_get(section, "tensor") && (!name || !name[0] || !strcmp(name, TKI_SAFETENSORS_METADATA)))
        return "\"tensor\" is not a name";
    if (!is_sha256_or_absent(json_object_get(section, "sha256")))
        return "\"sha256\" is not 64 hexadecimal digits";
    if (!shape != !start)
        return "\"shape\" and \"start\" go together";
    if (shape && (!tki_json_read_sizes(shape, sizes, &shape_rank) ||
                  !tki_json_read_sizes(start, sizes, &start_rank) || shape_rank != start_rank))
        return "\"shape\" and \"start\" must be lists of the same number of integers, each at least 0";
    return NULL;
}

/* What is wrong with a placement, or NULL. That of a manifest also names the file. */
static const char *placement_problem(const json_t *placement, bool in_manifest)
{
    static const char *const members[] = {"shard", "of", "checkpoint", "step", "sections", NULL};
    static const char *const members_in_manifest[] = {"file",       "sha256", "shard",    "of",
                                                      "checkpoint", "step",   "sections", NULL};
    json_t *sections = json_object_get(placement, "sections");
    if (!tki_json_has_only(placement, in_manifest ? members_in_manifest : members))
        return "a placement has an unknown member";
    if (!is_text_or_absent(json_object_get(placement, "step")))
        return "\"step\" is not a string";
    if (!is_text_or_absent(json_object_get(placement, "checkpoint")))
        return "\"checkpoint\" is not a string";
    if (!is_count_or_absent(json_object_get(placement, "shard")) ||
        !is_count_or_absent(json_object_get(placement, "of")) ||
        json_integer_value(json_object_get(placement, "shard")) >
            json_integer_value(json_object_get(placement, "of")))
        return "\"shard\" must be a number from 1 to \"of\", which is at most 2^24";
    if (sections && !json_is_object(sections))
        return "\"sections\" is not an object";
    const char *name, *problem;
    json_t *section;
    json_object_foreach(sections, name, section)
    {
        problem = section_problem(section);
        if (problem)
            return problem;
    }
    return NULL;
}

/* Where there is a problem, the value is gone. */
static tk_status refuse(tk_ctx *ctx, const char *what, const char *key, const char *problem, json_t **value)
{
    if (!problem)
        return TK_OK;
    json_decref(*value);
    *value = NULL;
    return tki_fail(ctx, TK_BAD_FILE, "%s: %s%s", what, key, problem);
}

tk_status tki_placement_parse(tk_ctx *ctx, const char *what, const char *text, size_t length, json_t **placement)
{
    tk_status status = load(ctx, what, text, length, placement);
    return status == TK_OK
               ? refuse(ctx, what, TKI_PLACEMENT_KEY ": ", placement_problem(*placement, false), placement)
               : status;
}

/* A file beside the index; a path would let an index from elsewhere name any file. */
static bool is_file_name(const json_t *value)
{
    const char *name = json_string_value(value);
    return name && name[0] && name[0] != '.' && !strchr(name, '/');
}

static const char *index_problem(json_t *index)
{
    static const char *const members[] = {TKI_MANIFEST_KEY, "shards", NULL};
    const char *name, *problem;
    json_t *value, *map = json_object_get(index, "weight_map"), *shards = json_object_get(index, "shards");
    size_t i;
    if (map) {
        if (!json_is_object(map))
            return "\"weight_map\" is not an object";
        if (json_object_size(map) == 0)
            return "\"weight_map\" names no tensor";
        json_object_foreach(map, name, value)
        {
            if (!is_file_name(value))
                return "\"weight_map\" must name files in the directory of the index";
        }
        const json_t *total = json_object_get(json_object_get(index, "metadata"), "total_size");
        return total && !json_is_number(total) ? "\"total_size\" is not a number" : NULL;
    }
    if (json_integer_value(json_object_get(index, TKI_MANIFEST_KEY)) != 1)
        return "neither an index, with \"weight_map\", nor a manifest, with \"" TKI_MANIFEST_KEY "\": 1";
    if (!tki_json_has_only(index, members))
        return "a manifest has a member other than \"" TKI_MANIFEST_KEY "\" and \"shards\"";
    if (json_array_size(shards) == 0)
        return "\"shards\" must be a list that is not empty";
    json_array_foreach(shards, i, value)
    {
        if (!is_file_name(json_object_get(value, "file")))
            return "\"file\" of a shard must be a file in the directory of the manifest";
        if (!is_sha256_or_absent(json_object_get(value, "sha256")))
            return "\"sha256\" of a shard is not 64 hexadecimal digits";
        problem = placement_problem(value, true);
        if (problem)
            return problem;
    }
    return NULL;
}

tk_status tki_index_parse(tk_ctx *ctx, const char *what, const char *text, size_t length, json_t **index)
{
    tk_status status = load(ctx, what, text, length, index);
    return status == TK_OK ? refuse(ctx, what, "", index_problem(*index), index) : status;
}

tk_status tki_index_read(tk_ctx *ctx, const char *path, json_t **index)
{
    char *text;
    size_t length;
    *index = NULL;
    tk_status status = tki_file_read(ctx, path, TKI_INDEX_MOST_BYTES, &text, &length);
    if (status == TK_OK)
        status = tki_index_parse(ctx, path, text, length, index);
    free(text);
    return status;
}

/* -- Sections ------------------------------------------------------------------------------------------------ */

/* Elements of 4 or 6 bits are cut between bytes only. */
static bool cuts_a_byte(const tki_section *section)
{
    const int bits = tki_format_of(section->local->type).bits, last = section->rank - 1;
    const tki_box whole = tki_box_whole(section->shape, section->rank);
    if (bits % 8 == 0 || tki_box_equal(&section->box, &whole))
        return false;
    return last < 0 || section->box.start[last] * bits % 8 || section->box.size[last] * bits % 8 ||
           section->shape[last] * bits % 8;
}

/* The whole tensor has to be one that a file can have. */
static bool has_a_size(const tki_section *section)
{
    tki_tensor whole = {.type = section->local->type, .rank = section->rank};
    int64_t bytes;
    memcpy(whole.shape, section->shape, sizeof whole.shape);
    return tki_tensor_bytes(&whole, &bytes);
}

static tk_status add_section(tk_ctx *ctx, tki_checkpoint *checkpoint, const tki_section *section)
{
    const char *problem = NULL;
    if (section->rank != section->local->rank)
        problem = "the rank of the section is not that of its tensor";
    else if (!tki_box_within(&section->box, section->shape))
        problem = "the section exceeds its tensor";
    else if (!has_a_size(section))
        problem = "the tensor is too large, or does not fill whole bytes";
    else if (cuts_a_byte(section))
        problem = "the section begins or ends within a byte";
    if (problem) {
        const tki_obstruction o = {.kind = TKI_SHAPE,
                                   .tensor = (char *)(uintptr_t)section->tensor,
                                   .shards = {checkpoint->shards[section->shard].path},
                                   .has_box = section->rank == section->local->rank,
                                   .box = section->box};
        tki_obstruct(&checkpoint->obstructions, o, "%s", problem);
        return TK_OK;
    }
    if (checkpoint->section_count == checkpoint->section_room) {
        const size_t room = checkpoint->section_room ? 2 * checkpoint->section_room : 64;
        tki_section *longer = realloc(checkpoint->sections, room * sizeof *longer);
        if (!longer)
            return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu sections", room);
        checkpoint->sections = longer;
        checkpoint->section_room = room;
    }
    checkpoint->sections[checkpoint->section_count++] = *section;
    return TK_OK;
}

/* As a whole tensor of its own name. */
static tki_section whole_section(uint32_t shard, const tki_tensor *local)
{
    tki_section section = {.tensor = local->name, .shard = shard, .local = local, .rank = local->rank};
    memcpy(section.shape, local->shape, sizeof section.shape);
    section.box = tki_box_whole(local->shape, local->rank);
    return section;
}

tk_status tki_place_section(tk_ctx *ctx, tki_checkpoint *checkpoint, uint32_t shard, const tki_tensor *local)
{
    tki_section section = whole_section(shard, local);
    const json_t *entry = json_object_get(json_object_get(checkpoint->shards[shard].placement, "sections"),
                                          local->name);
    const char *name = json_string_value(json_object_get(entry, "tensor"));
    int start_rank;
    if (name)
        section.tensor = name;
    section.expected = json_string_value(json_object_get(entry, "sha256"));
    if (json_object_get(entry, "shape")) {
        memset(section.shape, 0, sizeof section.shape);
        if (!tki_json_read_sizes(json_object_get(entry, "shape"), section.shape, &section.rank) ||
            !tki_json_read_sizes(json_object_get(entry, "start"), section.box.start, &start_rank))
            return tki_fail(ctx, TK_INTERNAL, "a placement changed after it was checked");
    }
    return add_section(ctx, checkpoint, &section);
}

/* -- Rules --------------------------------------------------------------------------------------------------- */

const tki_rule *tki_rule_for(const tki_rule *rules, size_t rule_count, const char *name)
{
    for (size_t i = 0; i < rule_count; i++)
        if (!fnmatch(rules[i].pattern, name, 0))
            return &rules[i];
    return NULL;
}

static int compare_by_name(const void *a, const void *b)
{
    const tki_section *first = a, *second = b;
    const int order = strcmp(first->tensor, second->tensor);
    return order ? order : (first->shard > second->shard) - (first->shard < second->shard);
}

/* Lays the sections of one tensor behind each other along the axis, in the order of the shards. */
static void concatenate(tki_checkpoint *checkpoint, tki_section *sections, size_t count, int axis)
{
    const tki_section first = sections[0];
    const int along = axis < 0 ? axis + first.rank : axis;
    tki_obstruction o = {.kind = TKI_SHAPE, .tensor = (char *)(uintptr_t)first.tensor};
    int64_t total = 0;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        const tki_section *s = &sections[i];
        good = along >= 0 && along < s->rank && s->rank == first.rank;
        for (int d = 0; good && d < s->rank; d++)
            good = d == along || s->shape[d] == first.shape[d];
        good = good && !__builtin_add_overflow(total, s->shape[along], &total);
        if (!good) {
            o.shards[0] = checkpoint->shards[first.shard].path;
            o.shards[1] = i ? checkpoint->shards[s->shard].path : NULL;
            tki_obstruct(&checkpoint->obstructions, o, "cannot be concatenated along axis %d", axis);
        }
    }
    int64_t at = 0;
    for (size_t i = 0; i < count && good; i++) {
        const int64_t size = sections[i].shape[along];
        sections[i].box.start[along] = at;
        sections[i].shape[along] = total;
        at += size;
    }
    /* A shard without a part of it would be passed over in silence. */
    for (uint32_t shard = 0, i = 0; shard < checkpoint->shard_count && good; shard++) {
        while (i < count && sections[i].shard < shard)
            i++;
        if ((i < count && sections[i].shard == shard) || !checkpoint->shards[shard].is_open)
            continue;
        o.kind = TKI_GAP;
        o.shards[0] = checkpoint->shards[shard].path;
        tki_obstruct(&checkpoint->obstructions, o, "the shard lacks a part of it; it is cut along axis %d", axis);
    }
}

tk_status tki_place_by_rules(tk_ctx *ctx, tki_checkpoint *checkpoint, const tki_rule *rules, size_t rule_count)
{
    size_t count = 0;
    for (size_t s = 0; s < checkpoint->shard_count; s++)
        count += checkpoint->shards[s].file.count;
    tki_section *sections = malloc((count + 1) * sizeof *sections);
    if (!sections)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for %zu sections", count);
    count = 0;
    for (uint32_t s = 0; s < checkpoint->shard_count; s++)
        for (size_t t = 0; t < checkpoint->shards[s].file.count; t++)
            sections[count++] = whole_section(s, &checkpoint->shards[s].file.tensors[t]);
    qsort(sections, count, sizeof *sections, compare_by_name);
    tk_status status = TK_OK;
    for (size_t i = 0, end; i < count && status == TK_OK; i = end) {
        for (end = i + 1; end < count && !strcmp(sections[end].tensor, sections[i].tensor);)
            end++;
        const tki_rule *rule = tki_rule_for(rules, rule_count, sections[i].tensor);
        const int rank = sections[i].rank;
        const bool has_axis = rule && (rule->axis < 0 ? -rule->axis <= rank : rule->axis < rank);
        if (rule && !rule->replicated && (has_axis || !rule->if_it_can))
            concatenate(checkpoint, &sections[i], end - i, rule->axis);
        for (size_t k = i; k < end && status == TK_OK; k++)
            status = add_section(ctx, checkpoint, &sections[k]);
    }
    free(sections);
    return status;
}
