/* RECORDS. Reading, hashing, comparing and putting together, in one pass. */
#include "glue/join.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/context.h"
#include "glue/cover.h"
#include "glue/json.h"
#include "glue/overlaps.h"

enum {
    CHUNK =
        3
        << 16, /* bytes that are compared, hashed and copied while they are in a cache; whole elements of every type */
    MOST_KEPT = 96 << 20,     /* bytes of mapped pages, about */
    LARGEST_STEP = 4 << 20,   /* of one section */
    SMALLEST_STEP = 256 << 10 /* giving pages back costs a call */
};

/* -- Cursors ------------------------------------------------------------------------------------------------- */

tki_cursor tki_cursor_of(const tki_checkpoint *checkpoint, const tki_section *section, size_t open_at_once)
{
    const int64_t step = MOST_KEPT / (int64_t)(open_at_once + 1);
    return (tki_cursor){.bytes = tki_section_bytes(checkpoint, section),
                        .size = section->local->end - section->local->begin,
                        .step = step > LARGEST_STEP    ? LARGEST_STEP
                                : step < SMALLEST_STEP ? SMALLEST_STEP
                                                       : step};
}

void tki_cursor_advance(tki_cursor *cursor, int64_t bytes)
{
    cursor->at += bytes;
    if (cursor->at - cursor->kept_from < cursor->step && cursor->at < cursor->size)
        return;
    /* Whole pages, also those that are shared with a neighbour: they are read again if they are needed. */
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)(cursor->bytes + cursor->kept_from) & ~(page - 1);
    const uintptr_t end = (uintptr_t)(cursor->bytes + cursor->at) & ~(page - 1);
    if (end > first)
        (void)madvise((void *)first, end - first, MADV_DONTNEED);
    cursor->kept_from = cursor->at;
}

/* -- One tensor ---------------------------------------------------------------------------------------------- */

typedef struct source {
    tki_section *section;
    tki_cursor cursor;
    int64_t hashed; /* bytes */
    tki_hash hash;
} source;

/* Two sources that differ. */
typedef struct disagreement {
    uint32_t reference, other;
    int64_t count, first; /* elements; place of the first in the tensor */
    uint64_t bits[2], worst_ulps;
} disagreement;

typedef struct tensor {
    tki_join *join;
    tki_whole *whole;
    source *sources; /* [source_count]; boxes with these numbers are theirs */
    uint32_t source_count;
    const tki_sink *sinks; /* boxes with the numbers that follow */
    disagreement *disagreements;
    size_t disagreement_count;
    int bits; /* of an element */
} tensor;

static disagreement *find_disagreement(tensor *t, uint32_t reference, uint32_t other)
{
    for (size_t i = 0; i < t->disagreement_count; i++)
        if (t->disagreements[i].reference == reference && t->disagreements[i].other == other)
            return &t->disagreements[i];
    disagreement *longer = realloc(t->disagreements, (t->disagreement_count + 1) * sizeof *longer);
    if (!longer)
        return NULL;
    t->disagreements = longer;
    longer[t->disagreement_count] = (disagreement){.reference = reference, .other = other};
    return &longer[t->disagreement_count++];
}

/* Element by element; `first` is the place of the chunk in the tensor. */
static tk_status note_differences(tensor *t, uint32_t reference, uint32_t other, const unsigned char *a,
                                  const unsigned char *b, int64_t bytes, int64_t first)
{
    const tk_dtype type = t->whole->type;
    disagreement *d = find_disagreement(t, reference, other);
    if (!d)
        return tki_fail(t->join->ctx, TK_NO_MEMORY, "no memory for a disagreement");
    for (int64_t i = 0; i < bytes * 8 / t->bits; i++) {
        const uint64_t x = tki_element_at(type, a, i), y = tki_element_at(type, b, i);
        if (x == y)
            continue;
        if (d->count == 0) {
            d->first = first + i;
            d->bits[0] = x;
            d->bits[1] = y;
        }
        d->count++;
        const uint64_t ulps = tki_element_ulps(type, x, y);
        d->worst_ulps = ulps > d->worst_ulps ? ulps : d->worst_ulps;
    }
    return TK_OK;
}

static void advance(source *s, int64_t bytes)
{
    const int64_t at = s->cursor.at + bytes;
    if (at - s->hashed >= CHUNK || at == s->cursor.size) {
        tki_hash_add(&s->hash, s->cursor.bytes + s->hashed, (size_t)(at - s->hashed));
        s->hashed = at;
    }
    /* Pages go only behind what is hashed; less than a chunk lies between. */
    tki_cursor_advance(&s->cursor, bytes);
}

/* Of those that have a run, the primary's, else the first. */
static uint32_t reference_of(const tensor *t, const uint32_t *sources, size_t count)
{
    for (size_t i = 0; i < count && t->join->primary >= 0; i++)
        if (t->sources[sources[i]].section->shard == t->join->primary)
            return sources[i];
    return sources[0];
}

static tk_status take_chunk(tensor *t, const tki_run *run, size_t source_count, int64_t bytes, int64_t first)
{
    const uint32_t reference = reference_of(t, run->boxes, source_count);
    const unsigned char *data = t->sources[reference].cursor.bytes + t->sources[reference].cursor.at;
    tk_status status = TK_OK;
    for (size_t i = 0; i < source_count && status == TK_OK; i++) {
        const source *other = &t->sources[run->boxes[i]];
        const unsigned char *theirs = other->cursor.bytes + other->cursor.at;
        if (run->boxes[i] != reference && memcmp(data, theirs, (size_t)bytes))
            status = note_differences(t, reference, run->boxes[i], data, theirs, bytes, first);
    }
    for (size_t i = source_count; i < run->box_count && status == TK_OK && t->join->writer; i++)
        status = tki_writer_put(t->join->writer, t->sinks[run->boxes[i] - t->source_count].output, data,
                                (size_t)bytes);
    for (size_t i = 0; i < source_count; i++)
        advance(&t->sources[run->boxes[i]], bytes);
    return status;
}

static tk_status take_run(const tki_run *run, void *data)
{
    tensor *t = data;
    size_t sources = 0;
    while (sources < run->box_count && run->boxes[sources] < t->source_count)
        sources++;
    if (sources == 0)
        return t->whole->has_gap
                   ? TK_OK
                   : tki_fail(t->join->ctx, TK_INTERNAL, "a gap in the cover that the check had not found");
    t->join->outcome->elements_compared += (int64_t)(sources - 1) * run->count;
    const int64_t bytes = run->count * t->bits / 8;
    tk_status status = TK_OK;
    for (int64_t at = 0, step; at < bytes && status == TK_OK; at += step) {
        step = bytes - at < CHUNK ? bytes - at : CHUNK;
        status = take_chunk(t, run, sources, step, run->first + at * 8 / t->bits);
        t->join->bytes_done += step * (int64_t)sources;
        if (status == TK_OK && step == CHUNK && t->join->options->progress)
            t->join->options->progress((double)t->join->bytes_done / (double)t->join->checkpoint->bytes,
                                       t->whole->name, t->join->options->progress_data);
    }
    return status;
}

/* -- What the differences come to ---------------------------------------------------------------------------- */

static const tki_tolerance *tolerance_for(const tki_glue_options *options, const char *name)
{
    for (size_t i = 0; i < options->tolerance_count; i++)
        if (!fnmatch(options->tolerances[i].pattern, name, 0))
            return &options->tolerances[i];
    return NULL;
}

static json_t *ulps_json(uint64_t ulps)
{
    return ulps > INT64_MAX ? json_null() : json_integer((json_int_t)ulps);
}

static void judge(tensor *t, const disagreement *d)
{
    tki_join *join = t->join;
    tki_section *a = t->sources[d->reference].section, *b = t->sources[d->other].section;
    const tki_tolerance *tolerance = tolerance_for(join->options, t->whole->name);
    const bool within = tolerance && d->worst_ulps <= tolerance->ulps;
    const bool is_primary = join->primary >= 0 && a->shard == join->primary;
    tki_obstruction o = {
        .kind = tki_box_equal(&a->box, &b->box) ? TKI_REPLICA_DISAGREES : TKI_OVERLAP_DISAGREES,
        .tensor = (char *)(uintptr_t)t->whole->name,
        .shards = {join->checkpoint->shards[a->shard].path, join->checkpoint->shards[b->shard].path},
        .has_box = true,
        .has_element = true,
        .type = t->whole->type,
        .bits = {d->bits[0], d->bits[1]},
        .differing = d->count,
        .worst_ulps = d->worst_ulps,
    };
    tki_box_meet(&a->box, &b->box, &o.box);
    o.of = tki_box_volume(&o.box);
    tki_index_of(t->whole->shape, t->whole->rank, d->first, o.element);
    if (tolerance)
        json_array_append_new(join->comparisons,
                              json_pack("{s:o, s:[i, i], s:I, s:I, s:o, s:I, s:b, s:b}", "tensor",
                                        tki_json_text(t->whole->name), "shards", (int)a->shard, (int)b->shard,
                                        "differing", (json_int_t)d->count, "of", (json_int_t)o.of, "worst_ulps",
                                        ulps_json(d->worst_ulps), "allowed_ulps", (json_int_t)tolerance->ulps,
                                        "within", within, "primary_taken", within && is_primary));
    if (within && is_primary)
        join->chosen = true;
    else if (within)
        tki_obstruct(&join->checkpoint->obstructions, o,
                     "within the declared %llu ulp; --primary chooses one of them",
                     (unsigned long long)tolerance->ulps);
    else if (d->worst_ulps == UINT64_MAX)
        tki_obstruct(&join->checkpoint->obstructions, o, "NaN in one, a number in the other");
    else
        tki_obstruct(&join->checkpoint->obstructions, o, "by up to %llu ulp", (unsigned long long)d->worst_ulps);
}

static tk_status finish_source(tensor *t, source *s)
{
    const tki_section *section = s->section;
    tki_checkpoint *checkpoint = t->join->checkpoint;
    if (!tki_hash_finish(&s->hash, s->section->sha256))
        return tki_fail(t->join->ctx, TK_NO_MEMORY, "no memory to hash a section");
    if (s->cursor.at != s->cursor.size)
        return tki_fail(t->join->ctx, TK_INTERNAL, "a section was not read to its end");
    t->join->outcome->bytes_read += s->cursor.size;
    if (section->expected && strcmp(section->expected, section->sha256)) {
        const tki_obstruction o = {.kind = TKI_HASH,
                                   .tensor = (char *)(uintptr_t)t->whole->name,
                                   .shards = {checkpoint->shards[section->shard].path},
                                   .has_box = true,
                                   .box = section->box};
        tki_obstruct(&checkpoint->obstructions, o, "its bytes have SHA-256 %s, recorded is %s", section->sha256,
                     section->expected);
    }
    return TK_OK;
}

/* Sources that were not outvoted, and the boxes of all. */
static tki_box *open_sources(tensor *t, size_t sink_count)
{
    tki_box *boxes = calloc(t->whole->count + sink_count + 1, sizeof *boxes);
    t->sources = calloc(t->whole->count + 1, sizeof *t->sources);
    if (!boxes || !t->sources) {
        free(boxes);
        return NULL;
    }
    for (size_t i = 0; i < t->whole->count; i++) {
        tki_section *section = &t->whole->sections[i];
        if (section->outvoted)
            continue;
        source *s = &t->sources[t->source_count];
        s->section = section;
        s->cursor = tki_cursor_of(t->join->checkpoint, section, t->whole->count);
        tki_hash_begin(&s->hash);
        boxes[t->source_count++] = section->box;
    }
    for (size_t i = 0; i < sink_count; i++)
        boxes[t->source_count + i] = t->sinks[i].box;
    return boxes;
}

tk_status tki_join_tensor(tki_join *join, tki_whole *whole, const tki_sink *sinks, size_t sink_count)
{
    tensor t = {.join = join, .whole = whole, .sinks = sinks, .bits = tki_format_of(whole->type).bits};
    tki_box *boxes = open_sources(&t, sink_count);
    tk_status status = boxes ? tki_cover_walk(join->ctx, whole->shape, whole->rank, boxes,
                                              t.source_count + sink_count, take_run, &t)
                             : tki_fail(join->ctx, TK_NO_MEMORY, "no memory for %zu sections", whole->count);
    for (uint32_t i = 0; i < t.source_count; i++) {
        tk_status one = status;
        if (status == TK_OK)
            one = finish_source(&t, &t.sources[i]);
        else
            (void)tki_hash_finish(&t.sources[i].hash, (char[TKI_HASH_HEX]){0});
        status = one;
    }
    for (size_t i = 0; i < t.disagreement_count && status == TK_OK; i++)
        judge(&t, &t.disagreements[i]);
    if (status == TK_OK && join->checkpoint->obstructions.no_memory)
        status = tki_fail(join->ctx, TK_NO_MEMORY, "no memory for an obstruction");
    free(t.disagreements);
    free(t.sources);
    free(boxes);
    return status;
}

/* -- The whole ----------------------------------------------------------------------------------------------- */

static tk_status find_primary(tki_join *join)
{
    const char *wanted = join->options->primary;
    size_t namesakes = 0;
    join->primary = -1;
    for (size_t i = 0; i < join->checkpoint->shard_count && wanted; i++) {
        const char *path = join->checkpoint->shards[i].path;
        const bool is_path = !strcmp(path, wanted);
        if (!is_path && strcmp(tki_name_in(path), wanted))
            continue;
        join->primary = (int64_t)i;
        namesakes = is_path ? 1 : namesakes + 1;
        if (is_path)
            break;
    }
    if (wanted && namesakes == 0)
        return tki_fail(join->ctx, TK_BAD_ARGUMENT, "--primary must be one of the shards, not '%s'", wanted);
    if (namesakes > 1)
        return tki_fail(join->ctx, TK_BAD_ARGUMENT, "--primary: several shards are named %s; give the path", wanted);
    return TK_OK;
}

tk_status tki_join_end_writer(tki_join *join, tk_status status, char sha256[TKI_HASH_HEX])
{
    tk_status ended = join->writer ? tki_writer_finish(join->writer, sha256) : TK_OK;
    join->writer = NULL;
    return status == TK_OK ? ended : status;
}

tk_status tki_join_begin(tki_join *join, tk_ctx *ctx, tki_checkpoint *checkpoint, const tki_glue_options *options,
                         tki_glue_outcome *outcome)
{
    *outcome = (tki_glue_outcome){.tensors = checkpoint->tensor_count, .sections = checkpoint->section_count};
    *join = (tki_join){.ctx = ctx, .checkpoint = checkpoint, .options = options, .outcome = outcome};
    join->comparisons = json_array();
    join->overlaps = json_array();
    join->outvoted = json_array();
    if (!join->comparisons || !join->overlaps || !join->outvoted)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the report");
    tk_status status = find_primary(join);
    /* A misspelt pattern would leave its tensors to be compared bit for bit. */
    for (size_t i = 0; i < options->tolerance_count && status == TK_OK; i++)
        status = tki_checkpoint_fits(ctx, checkpoint, "--contract:", options->tolerances[i].pattern);
    for (size_t i = 0; i < checkpoint->tensor_count && status == TK_OK; i++) {
        if (checkpoint->tensors[i].obstructed)
            continue;
        status = tki_list_overlaps(join, &checkpoint->tensors[i]);
        if (status == TK_OK && options->accept_majority)
            status = tki_let_replicas_vote(join, &checkpoint->tensors[i]);
    }
    return status;
}

void tki_join_free(tki_join *join)
{
    json_decref(join->comparisons);
    json_decref(join->overlaps);
    json_decref(join->outvoted);
}
