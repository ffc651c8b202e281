/* RECORDS. Covers: each axis is cut where a box begins or ends; between two cuts the same boxes go on. */
#include "glue/cover.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"

enum { MOST_ENTRIES = 1 << 26 }; /* numbers of boxes in one tree, against covers that overlap beyond measure */

typedef struct cut cut;

typedef struct interval {
    int64_t low, high;
    uint32_t *boxes; /* [box_count] */
    size_t box_count;
    cut *below; /* how the next axis is cut over this interval; NULL: all boxes are whole on all axes that follow */
} interval;

struct cut {
    interval *intervals;
    size_t count;
};

typedef struct walker {
    tk_ctx *ctx;
    const int64_t *shape;
    int64_t stride[TKI_TENSOR_MAX_RANK]; /* elements */
    int rank;
    const tki_box *boxes;
    tki_run_taker take;
    void *data;
    size_t entries;
    int64_t missing; /* of tki_cover_gaps() */
    tki_box at, first;
} walker;

static void free_cut(cut *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        free(c->intervals[i].boxes);
        free_cut(c->intervals[i].below);
    }
    free(c->intervals);
    free(c);
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

/* Where boxes begin or end on an axis, with both ends of the axis; ascending, each once. */
static size_t find_edges(const walker *w, const uint32_t *boxes, size_t count, int axis, int64_t *edges)
{
    size_t used = 0, kept = 0;
    edges[used++] = 0;
    edges[used++] = w->shape[axis];
    for (size_t i = 0; i < count; i++) {
        edges[used++] = w->boxes[boxes[i]].start[axis];
        edges[used++] = w->boxes[boxes[i]].start[axis] + w->boxes[boxes[i]].size[axis];
    }
    qsort(edges, used, sizeof *edges, compare_numbers);
    for (size_t i = 0; i < used; i++)
        if (kept == 0 || edges[i] != edges[kept - 1])
            edges[kept++] = edges[i];
    return kept;
}

static bool is_whole_below(const walker *w, const interval *part, int axis)
{
    for (int d = axis + 1; d < w->rank; d++)
        for (size_t i = 0; i < part->box_count; i++)
            if (w->boxes[part->boxes[i]].size[d] != w->shape[d])
                return false;
    return true;
}

typedef struct order {
    const walker *w;
    int axis;
} order;

static int compare_starts(const void *a, const void *b, void *data)
{
    const order *o = data;
    const int64_t first = o->w->boxes[*(const uint32_t *)a].start[o->axis];
    const int64_t second = o->w->boxes[*(const uint32_t *)b].start[o->axis];
    return (first > second) - (first < second);
}

/* Sweeps along the axis: boxes that begin at an edge come in, those that end there go. */
static bool fill_intervals(walker *w, cut *c, uint32_t *waiting, size_t count, uint32_t *present, int axis)
{
    size_t next = 0, here = 0;
    for (size_t i = 0; i < c->count; i++) {
        interval *part = &c->intervals[i];
        size_t kept = 0;
        for (size_t k = 0; k < here; k++) {
            const tki_box *box = &w->boxes[present[k]];
            if (box->start[axis] + box->size[axis] > part->low)
                present[kept++] = present[k];
        }
        here = kept;
        for (; next < count && w->boxes[waiting[next]].start[axis] <= part->low; next++)
            if (w->boxes[waiting[next]].size[axis] > 0)
                present[here++] = waiting[next];
        w->entries += here;
        part->boxes = malloc((here + 1) * sizeof *part->boxes);
        if (!part->boxes || w->entries > MOST_ENTRIES)
            return false;
        memcpy(part->boxes, present, here * sizeof *present);
        part->box_count = here;
        qsort(part->boxes, here, sizeof *part->boxes, tki_compare_u32);
    }
    return true;
}

/* How these boxes cut the axis. NULL: no memory, or too much. */
static cut *cut_axis(walker *w, const uint32_t *boxes, size_t count, int axis)
{
    cut *c = calloc(1, sizeof *c);
    int64_t *edges = malloc((2 * count + 2) * sizeof *edges);
    uint32_t *waiting = malloc((count + 1) * sizeof *waiting), *present = malloc((count + 1) * sizeof *present);
    bool good = c && edges && waiting && present;
    if (good) {
        const size_t edge_count = find_edges(w, boxes, count, axis, edges);
        c->intervals = calloc(edge_count, sizeof *c->intervals);
        good = c->intervals != NULL;
        if (good)
            c->count = edge_count - 1;
        for (size_t i = 0; good && i < c->count; i++)
            c->intervals[i] = (interval){.low = edges[i], .high = edges[i + 1]};
        if (count)
            memcpy(waiting, boxes, count * sizeof *waiting);
        order o = {w, axis};
        qsort_r(waiting, count, sizeof *waiting, compare_starts, &o);
        good = good && fill_intervals(w, c, waiting, count, present, axis);
    }
    free(edges);
    free(waiting);
    free(present);
    if (good)
        return c;
    free_cut(c);
    return NULL;
}

/* The cuts of all axes below over an interval. */
static bool cut_below(walker *w, interval *part, int axis)
{
    if (axis + 1 >= w->rank || is_whole_below(w, part, axis))
        return true;
    part->below = cut_axis(w, part->boxes, part->box_count, axis + 1);
    if (!part->below)
        return false;
    for (size_t i = 0; i < part->below->count; i++)
        if (!cut_below(w, &part->below->intervals[i], axis + 1))
            return false;
    return true;
}

static tk_status walk_interval(const walker *w, const interval *part, int64_t base, int axis)
{
    const int64_t stride = w->stride[axis];
    if (!part->below) {
        const tki_run run = {base + part->low * stride, (part->high - part->low) * stride, part->boxes,
                             part->box_count};
        return run.count ? w->take(&run, w->data) : TK_OK;
    }
    tk_status status = TK_OK;
    for (int64_t i = part->low; i < part->high && status == TK_OK; i++)
        for (size_t k = 0; k < part->below->count && status == TK_OK; k++)
            status = walk_interval(w, &part->below->intervals[k], base + i * stride, axis + 1);
    return status;
}

static void count_gaps(walker *w, const interval *part, int axis)
{
    w->at.start[axis] = part->low;
    w->at.size[axis] = part->high - part->low;
    if (part->below) {
        for (size_t k = 0; k < part->below->count; k++)
            count_gaps(w, &part->below->intervals[k], axis + 1);
    } else if (part->box_count == 0) {
        for (int d = axis + 1; d < w->rank; d++) {
            w->at.start[d] = 0;
            w->at.size[d] = w->shape[d];
        }
        if (w->missing == 0)
            w->first = w->at;
        w->missing += tki_box_volume(&w->at);
    }
}

/* The tree below one interval of the first axis at a time, so that it stays small. */
static tk_status go(walker *w, size_t count)
{
    uint32_t *all = malloc((count + 1) * sizeof *all);
    if (!all)
        return tki_fail(w->ctx, TK_NO_MEMORY, "no memory for a cover of %zu boxes", count);
    for (size_t i = 0; i < count; i++)
        all[i] = (uint32_t)i;
    tk_status status = TK_OK;
    if (w->rank == 0) {
        const tki_run run = {0, 1, all, count};
        if (w->take)
            status = w->take(&run, w->data);
        w->missing = count == 0;
        free(all);
        return status;
    }
    cut *top = cut_axis(w, all, count, 0);
    const size_t entries = w->entries;
    bool good = top != NULL;
    for (size_t i = 0; good && i < top->count && status == TK_OK; i++) {
        interval *part = &top->intervals[i];
        w->entries = entries;
        good = cut_below(w, part, 0);
        if (good && w->take)
            status = walk_interval(w, part, 0, 0);
        else if (good)
            count_gaps(w, part, 0);
        free_cut(part->below);
        part->below = NULL;
    }
    free_cut(top);
    free(all);
    return good ? status
                : tki_fail(w->ctx, TK_NO_MEMORY, "no memory for a cover of %zu boxes, or too many overlaps", count);
}

static walker begin(tk_ctx *ctx, const int64_t *shape, int rank, const tki_box *boxes)
{
    walker w = {.ctx = ctx, .shape = shape, .rank = rank, .boxes = boxes};
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        w.stride[d] = stride;
        stride *= shape[d];
    }
    w.at.rank = w.first.rank = rank;
    return w;
}

static bool is_empty(const int64_t *shape, int rank)
{
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            return true;
    return false;
}

tk_status tki_cover_walk(tk_ctx *ctx, const int64_t *shape, int rank, const tki_box *boxes, size_t count,
                         tki_run_taker take, void *data)
{
    if (is_empty(shape, rank))
        return TK_OK;
    walker w = begin(ctx, shape, rank, boxes);
    w.take = take;
    w.data = data;
    return go(&w, count);
}

tk_status tki_cover_gaps(tk_ctx *ctx, const int64_t *shape, int rank, const tki_box *boxes, size_t count,
                         int64_t *missing, tki_box *first)
{
    *missing = 0;
    *first = (tki_box){.rank = rank};
    if (is_empty(shape, rank))
        return TK_OK;
    walker w = begin(ctx, shape, rank, boxes);
    tk_status status = go(&w, count);
    *missing = w.missing;
    *first = w.first;
    return status;
}
