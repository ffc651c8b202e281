/* RECORDS. Boxes, and all pairs of them that overlap. */
#include "glue/box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"

tki_box tki_box_whole(const int64_t *shape, int rank)
{
    tki_box box = {.rank = rank};
    for (int d = 0; d < rank; d++)
        box.size[d] = shape[d];
    return box;
}

int64_t tki_box_volume(const tki_box *box)
{
    int64_t volume = 1;
    for (int d = 0; d < box->rank; d++)
        volume *= box->size[d];
    return volume;
}

bool tki_box_equal(const tki_box *a, const tki_box *b)
{
    const size_t bytes = (size_t)a->rank * sizeof *a->start;
    return a->rank == b->rank && !memcmp(a->start, b->start, bytes) && !memcmp(a->size, b->size, bytes);
}

bool tki_box_within(const tki_box *box, const int64_t *shape)
{
    for (int d = 0; d < box->rank; d++)
        if (box->start[d] < 0 || box->size[d] < 0 || box->start[d] > shape[d] ||
            box->size[d] > shape[d] - box->start[d])
            return false;
    return true;
}

void tki_index_of(const int64_t *shape, int rank, int64_t place, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = place % shape[d];
        place /= shape[d];
    }
}

int tki_compare_u32(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

bool tki_box_meet(const tki_box *a, const tki_box *b, tki_box *common)
{
    *common = (tki_box){.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        const int64_t start = a->start[d] > b->start[d] ? a->start[d] : b->start[d];
        const int64_t end_a = a->start[d] + a->size[d], end_b = b->start[d] + b->size[d];
        const int64_t end = end_a < end_b ? end_a : end_b;
        if (end <= start)
            return false;
        common->start[d] = start;
        common->size[d] = end - start;
    }
    return true;
}

void tki_box_text(const tki_box *box, char text[TKI_BOX_TEXT])
{
    size_t at = (size_t)snprintf(text, TKI_BOX_TEXT, "[");
    /* Unsigned: a box that is refused may end beyond 2^63. */
    for (int d = 0; d < box->rank; d++)
        at += (size_t)snprintf(text + at, TKI_BOX_TEXT - at, "%s%lld:%llu", d ? ", " : "", (long long)box->start[d],
                               (unsigned long long)box->start[d] + (unsigned long long)box->size[d]);
    snprintf(text + at, TKI_BOX_TEXT - at, "]");
}

/* -- Overlaps ------------------------------------------------------------------------------------------------ */

/* The hybrid of a segment tree that is not kept and of a scan (Zomorodian, Edelsbrunner: Fast software for box intersections). Boxes are
 * used twice, as intervals and as points, their lower ends. On an axis, a box that spans the whole of the present segment contains all
 * points in it, so that this axis is settled; the others go down into the halves of the segment.
 *
 * Coordinates are replaced by the order of the lower ends, in which no two are equal: of two boxes that meet on an axis, exactly one
 * contains the other's lower end, and each pair is found once. */
typedef struct span {
    uint32_t low, high; /* places in that order; `high` is the first lower end that is not below the upper end */
} span;

typedef struct finder {
    const span *spans; /* [box * rank + axis] */
    int rank;
    tki_overlap_found found;
    void *data;
    bool stopped, no_memory;
} finder;

typedef struct list {
    const uint32_t *boxes; /* [count], in order of their lower ends on axis 0 */
    size_t count;
} list;

enum { FEW = 16 }; /* boxes for which it is faster to try all pairs than to divide */

static span on(const finder *f, uint32_t box, int axis)
{
    return f->spans[(size_t)box * (size_t)f->rank + (size_t)axis];
}

static bool contains_low(const finder *f, uint32_t interval, uint32_t point, int axis)
{
    const span of_interval = on(f, interval, axis);
    const uint32_t at = on(f, point, axis).low;
    return of_interval.low <= at && at < of_interval.high;
}

static void report(finder *f, uint32_t a, uint32_t b)
{
    if (!f->stopped && !f->found(a < b ? a : b, a < b ? b : a, f->data))
        f->stopped = true;
}

/* All axes but the first are settled. */
static void scan(finder *f, list intervals, list points)
{
    size_t first = 0;
    for (size_t i = 0; i < intervals.count && !f->stopped; i++) {
        const uint32_t interval = intervals.boxes[i];
        while (first < points.count && on(f, points.boxes[first], 0).low < on(f, interval, 0).low)
            first++;
        for (size_t p = first; p < points.count && contains_low(f, interval, points.boxes[p], 0); p++)
            if (points.boxes[p] != interval)
                report(f, interval, points.boxes[p]);
    }
}

static void try_all(finder *f, list intervals, list points, int axis)
{
    for (size_t i = 0; i < intervals.count && !f->stopped; i++)
        for (size_t p = 0; p < points.count; p++) {
            const uint32_t a = intervals.boxes[i], b = points.boxes[p];
            bool meets = a != b && contains_low(f, a, b, axis);
            for (int d = 0; meets && d < axis; d++)
                meets = contains_low(f, a, b, d) || contains_low(f, b, a, d);
            if (meets)
                report(f, a, b);
        }
}

/* About the middle of the points on an axis; above the lowest of them, if there are several. */
static uint32_t median_of(const finder *f, list points, int axis)
{
    enum { MOST = 101 };
    uint32_t sample[MOST];
    const size_t taken = points.count < MOST ? points.count : MOST;
    for (size_t i = 0; i < taken; i++)
        sample[i] = on(f, points.boxes[i * points.count / taken], axis).low;
    qsort(sample, taken, sizeof *sample, tki_compare_u32);
    return sample[taken / 2];
}

static void divide(finder *f, list intervals, list points, span segment, int axis);

/* The part of both lists that lies in a half of the segment; `place` holds both. */
static void divide_half(finder *f, list intervals, list points, span half, int axis, uint32_t *place)
{
    size_t count = 0, interval_count;
    for (size_t i = 0; i < intervals.count; i++) {
        const span s = on(f, intervals.boxes[i], axis);
        if (s.low < half.high && s.high > half.low)
            place[count++] = intervals.boxes[i];
    }
    interval_count = count;
    for (size_t p = 0; p < points.count; p++) {
        const uint32_t at = on(f, points.boxes[p], axis).low;
        if (half.low <= at && at < half.high)
            place[count++] = points.boxes[p];
    }
    divide(f, (list){place, interval_count}, (list){place + interval_count, count - interval_count}, half, axis);
}

/* Pairs of an interval and a point in it on `axis`, within the segment, that meet on all axes below. */
static void divide(finder *f, list intervals, list points, span segment, int axis)
{
    if (intervals.count == 0 || points.count == 0 || f->stopped)
        return;
    if (axis == 0) {
        scan(f, intervals, points);
        return;
    }
    if (intervals.count < FEW || points.count < FEW) {
        try_all(f, intervals, points, axis);
        return;
    }
    uint32_t *place = malloc((2 * intervals.count + points.count) * sizeof *place);
    if (!place) {
        f->no_memory = f->stopped = true;
        return;
    }
    size_t spanning = 0, others;
    for (size_t i = 0; i < intervals.count; i++) {
        const span s = on(f, intervals.boxes[i], axis);
        if (s.low <= segment.low && s.high >= segment.high)
            place[spanning++] = intervals.boxes[i];
    }
    others = spanning;
    for (size_t i = 0; i < intervals.count; i++) {
        const span s = on(f, intervals.boxes[i], axis);
        if (s.low > segment.low || s.high < segment.high)
            place[others++] = intervals.boxes[i];
    }
    const list through = {place, spanning}, rest = {place + spanning, others - spanning};
    const span all = {0, UINT32_MAX};
    divide(f, through, points, all, axis - 1);
    divide(f, points, through, all, axis - 1);
    const uint32_t middle = median_of(f, points, axis);
    divide_half(f, rest, points, (span){segment.low, middle}, axis, place + intervals.count);
    divide_half(f, rest, points, (span){middle, segment.high}, axis, place + intervals.count);
    free(place);
}

typedef struct order {
    const tki_box *boxes;
    int axis;
} order;

static int compare_low(const void *a, const void *b, void *data)
{
    const order *o = data;
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    const int64_t low_a = o->boxes[first].start[o->axis], low_b = o->boxes[second].start[o->axis];
    return low_a != low_b ? (low_a < low_b ? -1 : 1) : (first > second) - (first < second);
}

/* Sorts the boxes by their lower ends on an axis and enters the places. */
static void rank_boxes(const tki_box *boxes, uint32_t *sorted, size_t count, span *spans, int rank, int axis)
{
    order o = {boxes, axis};
    qsort_r(sorted, count, sizeof *sorted, compare_low, &o);
    for (size_t i = 0; i < count; i++) {
        const int64_t end = boxes[sorted[i]].start[axis] + boxes[sorted[i]].size[axis];
        size_t below = i, above = count; /* of the first lower end that is not below `end` */
        while (below < above) {
            const size_t middle = below + (above - below) / 2;
            if (boxes[sorted[middle]].start[axis] < end)
                below = middle + 1;
            else
                above = middle;
        }
        spans[(size_t)sorted[i] * (size_t)rank + (size_t)axis] = (span){(uint32_t)i, (uint32_t)below};
    }
}

tk_status tki_box_overlaps(tk_ctx *ctx, const tki_box *boxes, size_t count, tki_overlap_found found, void *data)
{
    if (count < 2)
        return TK_OK;
    if (count >= UINT32_MAX)
        return tki_fail(ctx, TK_UNSUPPORTED, "too many boxes");
    const int rank = boxes[0].rank ? boxes[0].rank : 1;
    span *spans = calloc(count * (size_t)rank, sizeof *spans);
    uint32_t *sorted = malloc(count * sizeof *sorted);
    finder f = {spans, rank, found, data, false, !spans || !sorted};
    size_t used = 0; /* an empty box meets nothing */
    for (size_t i = 0; i < count && !f.no_memory; i++)
        if (tki_box_volume(&boxes[i]) > 0)
            sorted[used++] = (uint32_t)i;
    if (!f.no_memory && boxes[0].rank == 0) {
        for (size_t i = 0; i < used; i++)
            spans[i] = (span){(uint32_t)i, (uint32_t)used};
    } else if (!f.no_memory) {
        for (int axis = rank - 1; axis >= 0; axis--)
            rank_boxes(boxes, sorted, used, spans, rank, axis);
    }
    if (!f.no_memory)
        divide(&f, (list){sorted, used}, (list){sorted, used}, (span){0, UINT32_MAX}, rank - 1);
    free(spans);
    free(sorted);
    return f.no_memory ? tki_fail(ctx, TK_NO_MEMORY, "no memory to find the overlaps of %zu boxes", count) : TK_OK;
}
