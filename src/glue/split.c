/* RECORDS. Splitting: the tensors of a checkpoint, whole or in shards, into shards of another layout. Nothing is ever whole in memory: what the
 * pass puts together goes at once to the parts that have it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/file.h"
#include "glue/glue_certificate.h"
#include "glue/json.h"
#include "glue/metadata.h"
#include "glue/placement.h"

#define INDEX_ENDING ".safetensors.index.json"

static const char no_hash[] = "0000000000000000000000000000000000000000000000000000000000000000";

/* One shard that is written. */
typedef struct part {
    char *path;
    tki_tensor *tensors; /* [count], as they lie in the file */
    tki_box *boxes;
    const tki_whole **wholes;
    char (*sha256)[TKI_HASH_HEX];
    size_t count;
    int64_t bytes;
} part;

typedef struct splitter {
    tki_join join;
    const tki_layout *layout;
    tki_whole **ordered; /* all tensors, in the order of the files */
    part *parts;
    tki_output *outputs;
    size_t part_count; /* layout->count * layout->replicas */
    json_t *metadata;
} splitter;

/* -- The layout ---------------------------------------------------------------------------------------------- */

/* The i-th of `count` parts of a size, which differ by one at most. */
static int64_t cut_at(int64_t size, int64_t i, int64_t count)
{
    const int64_t each = size / count, longer = size % count;
    return i * each + (i < longer ? i : longer);
}

typedef enum way { CUT, REPLICATED, IN_ONE_PART } way;

static tk_status way_of(splitter *s, const tki_whole *whole, way *w, int *axis)
{
    const tki_rule *rule = tki_rule_for(s->layout->rules, s->layout->rule_count, whole->name);
    const tki_box all = tki_box_whole(whole->shape, whole->rank);
    const int wanted = rule ? rule->axis : s->layout->axis;
    *axis = wanted < 0 ? wanted + whole->rank : wanted;
    if (rule && !rule->replicated && (*axis < 0 || *axis >= whole->rank))
        return tki_fail(s->join.ctx, TK_BAD_ARGUMENT, "tensor \"%.200s\" has no axis %d", whole->name, wanted);
    if (rule)
        *w = rule->replicated ? REPLICATED : CUT;
    else if (s->layout->whole)
        *w = IN_ONE_PART;
    else
        *w = *axis >= 0 && *axis < whole->rank ? CUT : REPLICATED;
    /* Nothing to cut, or nothing that may be cut: elements of 4 and 6 bits share bytes. */
    if (*w == CUT && (tki_box_volume(&all) == 0 || tki_format_of(whole->type).bits % 8))
        *w = IN_ONE_PART;
    return TK_OK;
}

static bool add_to_part(part *p, const tki_whole *whole, const tki_box *box)
{
    const size_t count = p->count + 1;
    tki_tensor *tensors = realloc(p->tensors, count * sizeof *tensors);
    p->tensors = tensors ? tensors : p->tensors;
    tki_box *boxes = realloc(p->boxes, count * sizeof *boxes);
    p->boxes = boxes ? boxes : p->boxes;
    const tki_whole **wholes = realloc(p->wholes, count * sizeof *wholes);
    p->wholes = wholes ? wholes : p->wholes;
    if (!tensors || !boxes || !wholes)
        return false;
    tki_tensor *t = &tensors[p->count];
    int64_t bytes = 0;
    *t = (tki_tensor){.name = whole->name, .type = whole->type, .rank = whole->rank};
    memcpy(t->shape, box->size, sizeof t->shape);
    boxes[p->count] = *box;
    wholes[p->count] = whole;
    p->count = count;
    if (!tki_tensor_bytes(t, &bytes))
        return false;
    p->bytes += bytes;
    return true;
}

static size_t smallest_part(const splitter *s)
{
    size_t smallest = 0;
    for (size_t i = 1; i < (size_t)s->layout->count; i++)
        if (s->parts[i].bytes < s->parts[smallest].bytes)
            smallest = i;
    return smallest;
}

static tk_status lay_out_tensor(splitter *s, const tki_whole *whole)
{
    way w = CUT;
    int axis = 0;
    const int64_t count = s->layout->count;
    tk_status status = way_of(s, whole, &w, &axis);
    if (status != TK_OK)
        return status;
    const size_t only = w == IN_ONE_PART ? smallest_part(s) : 0;
    for (size_t i = 0; i < s->part_count; i++) {
        tki_box box = tki_box_whole(whole->shape, whole->rank);
        const int64_t place = (int64_t)i % count; /* replicas come behind all parts */
        if (w == IN_ONE_PART && (size_t)place != only)
            continue;
        if (w == CUT) {
            const int64_t size = whole->shape[axis], halo = s->layout->halo;
            const int64_t low = cut_at(size, place, count), high = cut_at(size, place + 1, count);
            if (low == high)
                continue;
            box.start[axis] = low > halo ? low - halo : 0;
            box.size[axis] = (size - high > halo ? high + halo : size) - box.start[axis];
        }
        if (!add_to_part(&s->parts[i], whole, &box))
            return tki_fail(s->join.ctx, TK_NO_MEMORY, "no memory for the parts");
    }
    return TK_OK;
}

static tk_status lay_out(splitter *s, const char *prefix)
{
    tk_ctx *ctx = s->join.ctx;
    tki_checkpoint *checkpoint = s->join.checkpoint;
    s->ordered = tki_checkpoint_ordered(checkpoint);
    s->parts = calloc(s->part_count, sizeof *s->parts);
    s->outputs = calloc(s->part_count, sizeof *s->outputs);
    bool good = s->ordered && s->parts && s->outputs;
    for (size_t i = 0; i < s->part_count && good; i++) {
        s->outputs[i].file = -1;
        if (asprintf(&s->parts[i].path, "%s-%05zu-of-%05zu.safetensors", prefix, i + 1, s->part_count) < 0) {
            s->parts[i].path = NULL;
            good = false;
        }
    }
    if (!good)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the parts");
    tk_status status = tki_rules_fit(ctx, checkpoint, s->layout->rules, s->layout->rule_count);
    for (size_t i = 0; i < checkpoint->tensor_count && status == TK_OK; i++)
        status = lay_out_tensor(s, s->ordered[i]);
    for (size_t i = 0; i < s->part_count && status == TK_OK; i++) {
        part *p = &s->parts[i];
        p->sha256 = calloc(p->count + 1, sizeof *p->sha256);
        if (!p->sha256 || !tki_safetensors_lay_out(p->tensors, p->count, &p->bytes))
            status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the parts");
    }
    return status;
}

/* -- Headers ------------------------------------------------------------------------------------------------- */

static char *placement_text(const splitter *s, size_t number, const char *id)
{
    const part *p = &s->parts[number];
    const char *step = json_string_value(json_object_get(s->metadata, "step"));
    json_t *sections = json_object();
    for (size_t i = 0; i < p->count; i++)
        json_object_set_new(sections, p->tensors[i].name,
                            json_pack("{s:o, s:o, s:s}", "shape",
                                      tki_json_sizes(p->wholes[i]->shape, p->wholes[i]->rank), "start",
                                      tki_json_sizes(p->boxes[i].start, p->boxes[i].rank), "sha256",
                                      p->sha256[i][0] ? p->sha256[i] : no_hash));
    json_t *placement = json_pack("{s:i, s:i, s:s, s:o}", "shard", (int)number + 1, "of", (int)s->part_count,
                                  "checkpoint", id, "sections", sections);
    if (step)
        json_object_set_new(placement, "step", json_string(step));
    char *text = placement ? json_dumps(placement, JSON_COMPACT) : NULL;
    json_decref(placement);
    return text;
}

/* Its length does not depend on the hashes, so that it can be written again when they are known. */
static char *header_of(const splitter *s, size_t number, const char *id, size_t *bytes)
{
    char *text = placement_text(s, number, id);
    json_t *metadata = text ? json_copy(s->metadata) : NULL;
    char *header = NULL;
    if (metadata && !json_object_set_new(metadata, TKI_PLACEMENT_KEY, json_string(text)))
        header = tki_safetensors_header(s->parts[number].tensors, s->parts[number].count, metadata, bytes);
    json_decref(metadata);
    free(text);
    return header;
}

static tk_status begin_files(splitter *s)
{
    tk_ctx *ctx = s->join.ctx;
    tk_status status = TK_OK;
    for (size_t i = 0; i < s->part_count && status == TK_OK; i++) {
        size_t bytes = 0;
        char *header = header_of(s, i, no_hash, &bytes);
        if (!header)
            return tki_fail(ctx, TK_NO_MEMORY, "no memory for a header, or it is too large");
        status = tki_checkpoint_spares(ctx, s->join.checkpoint, s->parts[i].path, "");
        if (status == TK_OK)
            status = tki_output_open(ctx, s->parts[i].path, (int64_t)bytes + s->parts[i].bytes, &s->outputs[i]);
        /* Not through the writer: it is in no section. */
        if (status == TK_OK && !tki_output_write(&s->outputs[i], header, bytes))
            status = tki_fail(ctx, TK_IO, "cannot write %s", s->parts[i].path);
        s->join.outcome->bytes_written += (int64_t)bytes + s->parts[i].bytes;
        free(header);
    }
    return status == TK_OK ? tki_writer_start(ctx, s->outputs, s->part_count, false, &s->join.writer) : status;
}

/* Of the hashes of all sections that were read, so that it is the same for the same shards and no other. */
static bool identify(const tki_checkpoint *checkpoint, char id[TKI_HASH_HEX])
{
    tki_hash hash;
    tki_hash_begin(&hash);
    for (size_t i = 0; i < checkpoint->section_count; i++) {
        tki_hash_add_text(&hash, checkpoint->sections[i].tensor);
        tki_hash_add_text(&hash, checkpoint->sections[i].sha256);
        if (checkpoint->shards[checkpoint->sections[i].shard].step)
            tki_hash_add_text(&hash, checkpoint->shards[checkpoint->sections[i].shard].step);
    }
    return tki_hash_finish(&hash, id);
}

static tk_status finish_headers(splitter *s)
{
    char id[TKI_HASH_HEX];
    if (!identify(s->join.checkpoint, id))
        return tki_fail(s->join.ctx, TK_NO_MEMORY, "no memory to hash the sections");
    tk_status status = TK_OK;
    for (size_t i = 0; i < s->part_count && status == TK_OK; i++) {
        size_t bytes = 0;
        char *header = header_of(s, i, id, &bytes);
        status = header ? tki_output_rewrite(s->join.ctx, &s->outputs[i], header, bytes)
                        : tki_fail(s->join.ctx, TK_NO_MEMORY, "no memory for a header");
        free(header);
    }
    return status;
}

/* -- The pass ------------------------------------------------------------------------------------------------ */

/* The sinks of a tensor are the next sections of those parts that have it: `next` counts them. */
static tk_status split_tensor(splitter *s, tki_whole *whole, tki_sink *sinks, size_t *next)
{
    size_t count = 0;
    for (size_t i = 0; i < s->part_count; i++)
        if (next[i] < s->parts[i].count && s->parts[i].wholes[next[i]] == whole)
            sinks[count++] = (tki_sink){s->parts[i].boxes[next[i]], i};
    tk_status status = tki_join_tensor(&s->join, whole, sinks, count);
    for (size_t k = 0; k < count && status == TK_OK; k++) {
        const size_t i = sinks[k].output;
        if (s->join.writer)
            status = tki_writer_end_section(s->join.writer, i, s->parts[i].sha256[next[i]]);
        next[i]++;
    }
    return status;
}

static tk_status read_all(splitter *s)
{
    tki_checkpoint *checkpoint = s->join.checkpoint;
    tki_sink *sinks = calloc(s->part_count, sizeof *sinks);
    size_t *next = calloc(s->part_count, sizeof *next);
    tk_status status = sinks && next ? TK_OK : tki_fail(s->join.ctx, TK_NO_MEMORY, "no memory for the parts");
    if (status == TK_OK && !checkpoint->obstructions.count)
        status = begin_files(s);
    for (size_t i = 0; i < checkpoint->tensor_count && status == TK_OK; i++) {
        if (!s->ordered[i]->obstructed)
            status = split_tensor(s, s->ordered[i], sinks, next);
        if (checkpoint->obstructions.count)
            status = tki_join_end_writer(&s->join, status, NULL);
    }
    status = tki_join_end_writer(&s->join, status, NULL);
    free(sinks);
    free(next);
    return status;
}

/* Who reads whole tensors from several files finds them by an index. */
static bool has_index(const tki_layout *layout)
{
    return layout->whole && !layout->rule_count && layout->replicas == 1;
}

static tk_status write_index(splitter *s, const char *prefix)
{
    json_t *map = json_object();
    char *path = NULL;
    int64_t bytes = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        bytes += s->parts[i].bytes;
        for (size_t k = 0; k < s->parts[i].count; k++)
            json_object_set_new(map, s->parts[i].tensors[k].name, tki_json_text(tki_name_in(s->parts[i].path)));
    }
    json_t *index = json_pack("{s:{s:I}, s:o}", "metadata", "total_size", (json_int_t)bytes, "weight_map", map);
    char *text = index ? json_dumps(index, JSON_INDENT(2) | JSON_SORT_KEYS) : NULL;
    json_decref(index);
    const bool named = text && asprintf(&path, "%s" INDEX_ENDING, prefix) >= 0;
    tk_status status = named ? tki_file_write(s->join.ctx, path, text, strlen(text))
                             : tki_fail(s->join.ctx, TK_NO_MEMORY, "no memory for the index");
    if (named)
        free(path);
    free(text);
    return status;
}

static tk_status certify(splitter *s, const char *prefix)
{
    char **paths = calloc(s->part_count, sizeof *paths);
    char(*sha256)[TKI_HASH_HEX] = calloc(s->part_count, sizeof *sha256);
    tk_status status = paths && sha256 ? TK_OK : tki_fail(s->join.ctx, TK_NO_MEMORY, "no memory for the certificate");
    for (size_t i = 0; i < s->part_count && status == TK_OK; i++) {
        char opened[64]; /* it has no name yet */
        snprintf(opened, sizeof opened, "/proc/self/fd/%d", s->outputs[i].file);
        paths[i] = s->parts[i].path;
        if (!tki_hash_file(opened, sha256[i]))
            status = tki_fail(s->join.ctx, TK_IO, "cannot read %s", paths[i]);
    }
    if (status == TK_OK)
        status = tki_glue_certificate_write(&s->join, prefix, paths, sha256, s->part_count);
    free(paths);
    free(sha256);
    return status;
}

/* The certificate comes first: whoever sees a part finds it. */
static tk_status publish(splitter *s, const char *prefix)
{
    tk_status status = finish_headers(s);
    for (size_t i = 0; i < s->part_count && status == TK_OK; i++)
        status = tki_output_sync(s->join.ctx, &s->outputs[i]);
    if (status != TK_OK)
        return status;
    if (!s->join.options->skip_certificate)
        status = certify(s, prefix);
    size_t published = 0;
    while (published < s->part_count && status == TK_OK) {
        status = tki_output_publish(s->join.ctx, &s->outputs[published]);
        published += status == TK_OK;
    }
    if (status == TK_OK && has_index(s->layout))
        status = write_index(s, prefix);
    if (status != TK_OK && !published)
        tki_glue_certificate_withdraw(&s->join, prefix);
    return status;
}

static void free_splitter(splitter *s)
{
    for (size_t i = 0; i < s->part_count && s->outputs; i++)
        tki_output_discard(&s->outputs[i]);
    for (size_t i = 0; i < s->part_count && s->parts; i++) {
        free(s->parts[i].path);
        free(s->parts[i].tensors);
        free(s->parts[i].boxes);
        free(s->parts[i].wholes);
        free(s->parts[i].sha256);
    }
    free(s->parts);
    free(s->outputs);
    free(s->ordered);
    json_decref(s->metadata);
    tki_join_free(&s->join);
}

tk_status tki_split(tk_ctx *ctx, tki_checkpoint *checkpoint, const char *prefix, const tki_layout *layout,
                    const tki_glue_options *options, tki_glue_outcome *outcome)
{
    splitter s = {.layout = layout, .part_count = (size_t)layout->count * (size_t)layout->replicas};
    tk_status status = tki_join_begin(&s.join, ctx, checkpoint, options, outcome);
    if (status == TK_OK) {
        s.metadata = tki_common_metadata(checkpoint);
        if (!s.metadata || (layout->step && json_object_set_new(s.metadata, "step", json_string(layout->step))))
            status = tki_fail(ctx, TK_NO_MEMORY, "no memory for the metadata");
    }
    if (status == TK_OK)
        status = tki_glue_certificate_spares(&s.join, prefix);
    if (status == TK_OK && has_index(layout))
        status = tki_checkpoint_spares(ctx, checkpoint, prefix, INDEX_ENDING);
    if (status == TK_OK)
        status = lay_out(&s, prefix);
    if (status == TK_OK)
        status = read_all(&s);
    if (status == TK_OK)
        status = tki_checkpoint_is_unchanged(ctx, checkpoint);
    if (status == TK_OK)
        status = tki_join_end(&s.join);
    if (status == TK_OK && outcome->verdict != TKI_OBSTRUCTED)
        status = publish(&s, prefix);
    free_splitter(&s);
    if (status != TK_OK)
        tki_glue_outcome_free(outcome);
    return status;
}
