/* RECORDS. Overlaps of sections, and votes. */
#include "glue/overlaps.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "glue/json.h"

static int compare_boxes(const void *a, const void *b)
{
    const tki_section *first = *(tki_section *const *)a, *second = *(tki_section *const *)b;
    for (int d = 0; d < first->rank; d++) {
        if (first->box.start[d] != second->box.start[d])
            return first->box.start[d] < second->box.start[d] ? -1 : 1;
        if (first->box.size[d] != second->box.size[d])
            return first->box.size[d] < second->box.size[d] ? -1 : 1;
    }
    return (first > second) - (first < second);
}

/* The sections with replicas next to each other; free() it. */
static tk_status sort_by_box(tki_join *join, const tki_whole *whole, tki_section ***sorted)
{
    *sorted = malloc((whole->count + 1) * sizeof **sorted);
    if (!*sorted)
        return tki_fail(join->ctx, TK_NO_MEMORY, "no memory for %zu sections", whole->count);
    for (size_t i = 0; i < whole->count; i++)
        (*sorted)[i] = &whole->sections[i];
    qsort(*sorted, whole->count, sizeof **sorted, compare_boxes);
    return TK_OK;
}

static size_t end_of_group(tki_section *const *sorted, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && tki_box_equal(&sorted[end]->box, &sorted[first]->box))
        end++;
    return end;
}

/* -- Overlaps ------------------------------------------------------------------------------------------------ */

static void list_pair(tki_join *join, const tki_section *a, const tki_section *b)
{
    tki_box common;
    if (json_array_size(join->overlaps) >= TKI_OVERLAPS_LISTED || !tki_box_meet(&a->box, &b->box, &common))
        return;
    json_array_append_new(join->overlaps,
                          json_pack("{s:o, s:[i, i], s:o, s:o}", "tensor", tki_json_text(a->tensor), "shards",
                                    (int)a->shard, (int)b->shard, "start", tki_json_sizes(common.start, common.rank),
                                    "size", tki_json_sizes(common.size, common.rank)));
}

typedef struct pairs {
    tki_join *join;
    tki_section **groups; /* the first section of each */
} pairs;

static bool add_pair(size_t a, size_t b, void *data)
{
    pairs *p = data;
    p->join->outcome->overlaps++;
    list_pair(p->join, p->groups[a], p->groups[b]);
    return true;
}

tk_status tki_list_overlaps(tki_join *join, const tki_whole *whole)
{
    tki_section **sorted;
    if (whole->count < 2)
        return TK_OK;
    tk_status status = sort_by_box(join, whole, &sorted);
    tki_box *boxes = status == TK_OK ? malloc(whole->count * sizeof *boxes) : NULL;
    if (status == TK_OK && !boxes)
        status = tki_fail(join->ctx, TK_NO_MEMORY, "no memory for %zu sections", whole->count);
    size_t groups = 0;
    for (size_t i = 0, end; i < whole->count && status == TK_OK; i = end) {
        end = end_of_group(sorted, whole->count, i);
        for (size_t k = i + 1; k < end; k++) {
            join->outcome->replicas++;
            list_pair(join, sorted[i], sorted[k]);
        }
        boxes[groups] = sorted[i]->box;
        sorted[groups++] = sorted[i];
    }
    pairs p = {join, sorted};
    if (status == TK_OK)
        status = tki_box_overlaps(join->ctx, boxes, groups, add_pair, &p);
    free(boxes);
    free(sorted);
    return status;
}

/* -- Votes --------------------------------------------------------------------------------------------------- */

static tk_status hash_section(tki_join *join, tki_section *section)
{
    enum { STEP = 1 << 18 };
    tki_cursor cursor = tki_cursor_of(join->checkpoint, section, 1);
    tki_hash hash;
    tki_hash_begin(&hash);
    while (cursor.at < cursor.size) {
        const int64_t left = cursor.size - cursor.at, step = left < STEP ? left : STEP;
        tki_hash_add(&hash, cursor.bytes + cursor.at, (size_t)step);
        tki_cursor_advance(&cursor, step);
    }
    return tki_hash_finish(&hash, section->sha256) ? TK_OK
                                                   : tki_fail(join->ctx, TK_NO_MEMORY, "no memory to hash sections");
}

static void count_votes(tki_join *join, tki_section **group, size_t count)
{
    const tki_section *winner = NULL;
    for (size_t i = 0; i < count && !winner; i++) {
        size_t same = 0;
        for (size_t k = 0; k < count; k++)
            same += !strcmp(group[i]->sha256, group[k]->sha256);
        winner = 2 * same > count ? group[i] : NULL;
    }
    for (size_t i = 0; i < count && winner; i++) {
        tki_section *s = group[i];
        if (!strcmp(s->sha256, winner->sha256))
            continue;
        s->outvoted = true;
        join->chosen = true;
        json_array_append_new(join->outvoted,
                              json_pack("{s:o, s:i, s:o, s:o, s:s, s:s}", "tensor", tki_json_text(s->tensor), "shard",
                                        (int)s->shard, "start", tki_json_sizes(s->box.start, s->rank), "size",
                                        tki_json_sizes(s->box.size, s->rank), "sha256", s->sha256, "majority_sha256",
                                        winner->sha256));
    }
}

tk_status tki_let_replicas_vote(tki_join *join, tki_whole *whole)
{
    tki_section **sorted;
    tk_status status = sort_by_box(join, whole, &sorted);
    for (size_t i = 0, end; i < whole->count && status == TK_OK; i = end) {
        end = end_of_group(sorted, whole->count, i);
        for (size_t k = i; k < end && end - i >= 3 && status == TK_OK; k++)
            status = hash_section(join, sorted[k]);
        if (status == TK_OK && end - i >= 3)
            count_votes(join, sorted + i, end - i);
    }
    free(sorted);
    return status;
}
