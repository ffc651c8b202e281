/* RECORDS. Two checkpoints, tensor by tensor, in ulps. Each may be whole or in shards of any layout. */
#include <string.h>
#include <stdlib.h>

#include "core/context.h"
#include "glue/cover.h"
#include "glue/join.h"

enum { CHUNK = 3 << 16 };

typedef struct pass {
    tk_ctx *ctx;
    tki_difference *difference;
    const tki_whole *whole[2];
    tki_cursor *cursors; /* of the sections of the first, then of the second */
    size_t first_count;
    const tki_checkpoint *checkpoints[2];
    int64_t worst_at, first_at;
    uint64_t worst_bits[2];
    int64_t *bytes_done, bytes_all;
    tk_progress progress;
    void *progress_data;
} pass;

static void compare_elements(pass *p, const unsigned char *a, const unsigned char *b, int64_t bytes, int64_t first)
{
    const tk_dtype type = p->whole[0]->type;
    tki_difference *d = p->difference;
    for (int64_t i = 0; i < bytes * 8 / tki_format_of(type).bits; i++) {
        const uint64_t x = tki_element_at(type, a, i), y = tki_element_at(type, b, i);
        if (x == y)
            continue;
        const uint64_t ulps = tki_element_ulps(type, x, y);
        const bool is_nan = ulps == UINT64_MAX && tki_element_is_nan(type, x) != tki_element_is_nan(type, y);
        if (d->differing++ == 0)
            p->first_at = first + i;
        d->nans += is_nan;
        if (d->differing == 1 || (!is_nan && ulps > d->worst_ulps)) {
            d->worst_ulps = is_nan ? 0 : ulps;
            p->worst_at = first + i;
            p->worst_bits[0] = x;
            p->worst_bits[1] = y;
        }
    }
}

/* All sections of one checkpoint that have the run have equal bits there. */
static tk_status check_agreement(pass *p, const tki_run *run, size_t from, size_t to, int64_t bytes)
{
    const tki_cursor *first = &p->cursors[run->boxes[from]];
    for (size_t i = from + 1; i < to; i++) {
        const tki_cursor *other = &p->cursors[run->boxes[i]];
        if (memcmp(first->bytes + first->at, other->bytes + other->at, (size_t)bytes))
            return tki_fail(p->ctx, TK_BAD_FILE,
                            "tensor \"%.200s\": shards of one checkpoint disagree; 'tokitai glue' shows where",
                            p->whole[0]->name);
    }
    return TK_OK;
}

static tk_status take_run(const tki_run *run, void *data)
{
    pass *p = data;
    const int bits = tki_format_of(p->whole[0]->type).bits;
    size_t split = 0;
    while (split < run->box_count && run->boxes[split] < p->first_count)
        split++;
    if (split == 0 || split == run->box_count)
        return tki_fail(p->ctx, TK_INTERNAL, "a gap in the cover that the check had not found");
    const int64_t bytes = run->count * bits / 8;
    for (int64_t at = 0, step; at < bytes; at += step) {
        step = bytes - at < CHUNK ? bytes - at : CHUNK;
        tk_status status = check_agreement(p, run, 0, split, step);
        if (status == TK_OK)
            status = check_agreement(p, run, split, run->box_count, step);
        if (status != TK_OK)
            return status;
        const tki_cursor *a = &p->cursors[run->boxes[0]], *b = &p->cursors[run->boxes[split]];
        if (memcmp(a->bytes + a->at, b->bytes + b->at, (size_t)step))
            compare_elements(p, a->bytes + a->at, b->bytes + b->at, step, run->first + at * 8 / bits);
        for (size_t i = 0; i < run->box_count; i++)
            tki_cursor_advance(&p->cursors[run->boxes[i]], step);
        *p->bytes_done += step * (int64_t)run->box_count;
        if (step == CHUNK && p->progress)
            p->progress((double)*p->bytes_done / (double)p->bytes_all, p->whole[0]->name, p->progress_data);
    }
    return TK_OK;
}

static tk_status compare_tensor(pass *p)
{
    const size_t count = p->whole[0]->count + p->whole[1]->count;
    tki_box *boxes = calloc(count, sizeof *boxes);
    p->cursors = calloc(count, sizeof *p->cursors);
    p->first_count = p->whole[0]->count;
    tk_status status = boxes && p->cursors ? TK_OK
                                           : tki_fail(p->ctx, TK_NO_MEMORY, "no memory for %zu sections", count);
    for (size_t i = 0; i < count && status == TK_OK; i++) {
        const bool second = i >= p->first_count;
        const tki_section *section = &p->whole[second]->sections[second ? i - p->first_count : i];
        boxes[i] = section->box;
        p->cursors[i] = tki_cursor_of(p->checkpoints[second], section, count);
    }
    if (status == TK_OK)
        status = tki_cover_walk(p->ctx, p->whole[0]->shape, p->whole[0]->rank, boxes, count, take_run, p);
    free(boxes);
    free(p->cursors);
    if (status != TK_OK || p->difference->differing == 0)
        return status;
    tki_index_of(p->whole[0]->shape, p->whole[0]->rank, p->first_at, p->difference->first);
    tki_index_of(p->whole[0]->shape, p->whole[0]->rank, p->worst_at, p->difference->worst);
    for (int i = 0; i < 2; i++)
        tki_element_text(p->whole[0]->type, p->worst_bits[i], p->difference->texts[i]);
    return TK_OK;
}

/* What makes two tensors of a name incomparable, or NULL. */
static const char *problem_of(const tki_whole *a, const tki_whole *b)
{
    if (!a || !b)
        return a ? "only in A" : "only in B";
    if (a->type != b->type)
        return "dtype";
    if (a->rank != b->rank || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape))
        return "shape";
    return NULL;
}

static tk_status refuse_obstructed(tk_ctx *ctx, const tki_checkpoint *checkpoint)
{
    const tki_obstructions *all = &checkpoint->obstructions;
    if (all->count == 0)
        return TK_OK;
    char *text = all->kept ? tki_obstruction_text(&all->list[0]) : NULL;
    tk_status status = tki_fail(ctx, TK_BAD_FILE, "%s: %s", all->kept ? tki_obstruction_name(all->list[0].kind) : "",
                                text ? text : "");
    free(text);
    return status;
}

tk_status tki_checkpoint_diff(tk_ctx *ctx, tki_checkpoint *a, tki_checkpoint *b, tki_difference_found found,
                              void *found_data, tk_progress progress, void *progress_data)
{
    int64_t done = 0;
    tk_status status = refuse_obstructed(ctx, a);
    if (status == TK_OK)
        status = refuse_obstructed(ctx, b);
    for (size_t i = 0, k = 0; status == TK_OK && (i < a->tensor_count || k < b->tensor_count);) {
        const tki_whole *first = i < a->tensor_count ? &a->tensors[i] : NULL;
        const tki_whole *second = k < b->tensor_count ? &b->tensors[k] : NULL;
        const int order = !first ? 1 : !second ? -1 : strcmp(first->name, second->name);
        first = order <= 0 ? first : NULL;
        second = order >= 0 ? second : NULL;
        i += first != NULL;
        k += second != NULL;
        const tki_whole *one = first ? first : second;
        const tki_box all = tki_box_whole(one->shape, one->rank);
        tki_difference d = {.tensor = one->name,
                            .problem = problem_of(first, second),
                            .dtype = tki_format_of(one->type).file_name,
                            .rank = one->rank,
                            .elements = tki_box_volume(&all)};
        pass p = {.ctx = ctx,
                  .difference = &d,
                  .whole = {first, second},
                  .checkpoints = {a, b},
                  .bytes_done = &done,
                  .bytes_all = a->bytes + b->bytes,
                  .progress = progress,
                  .progress_data = progress_data};
        if (!d.problem)
            status = compare_tensor(&p);
        if (status == TK_OK)
            found(&d, found_data);
    }
    if (status == TK_OK)
        status = tki_checkpoint_is_unchanged(ctx, a);
    if (status == TK_OK)
        status = tki_checkpoint_is_unchanged(ctx, b);
    return status;
}
