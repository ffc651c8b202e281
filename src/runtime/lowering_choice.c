/* RECORDS. A table with one place for each hash: a case that comes again and again finds its own, and nothing is ever searched. */
#include "runtime/lowering_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/tuning_file.h"
#include "core/context.h"

enum { PLACES = 256 };

typedef struct place {
    const tki_lowering *lowering; /* NULL: nothing is here */
    int64_t dims[TK_MAX_DIMS];
    tk_value attributes[TK_MAX_ATTRIBUTES];
    tk_types types;
    tki_choice choice;
} place;

/* The tuning of a lowering for some types, as it was when it was first asked for. */
typedef struct loaded {
    const tki_lowering *lowering;
    tk_types types;
    tki_tuning tuning;
} loaded;

typedef struct tki_chosen {
    place places[PLACES];
    loaded *tunings; /* [tuning_count] */
    int tuning_count;
} chosen;

static void free_chosen(tk_ctx *ctx)
{
    for (int i = 0; i < ctx->chosen->tuning_count; i++)
        tki_tuning_free(&ctx->chosen->tunings[i].tuning);
    free(ctx->chosen->tunings);
    free(ctx->chosen);
    ctx->chosen = NULL;
    ctx->free_chosen = NULL;
}

static place *place_of(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c)
{
    if (!ctx->chosen) {
        ctx->chosen = calloc(1, sizeof *ctx->chosen);
        ctx->free_chosen = ctx->chosen ? free_chosen : NULL;
    }
    uint64_t hash = (uint64_t)(uintptr_t)lowering ^ (uint64_t)c->dtype << 8 ^ (uint64_t)c->result_dtype;
    for (int i = 0; i < c->contract->dim_count; i++)
        hash = (hash ^ (uint64_t)c->dims[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return ctx->chosen ? &ctx->chosen->places[hash >> 56] : NULL;
}

/* Of a choice and of an integer the same member counts. */
static bool has_attributes(const place *p, const tk_case *c)
{
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        const bool same = attribute->type == TK_ATTRIBUTE_REAL ? p->attributes[i].real == c->attributes[i].real
                                                               : p->attributes[i].integer == c->attributes[i].integer;
        if (attribute->seen_by_kernel && !same)
            return false;
    }
    return true;
}

static bool is_of(const place *p, const tki_lowering *lowering, const tk_case *c)
{
    return p->lowering == lowering && p->types.dtype == c->dtype && p->types.result_dtype == c->result_dtype &&
           !memcmp(p->dims, c->dims, (size_t)c->contract->dim_count * sizeof *c->dims) && has_attributes(p, c);
}

static void fill_place(place *p, const tki_lowering *lowering, const tk_case *c, tki_choice choice)
{
    *p = (place){.lowering = lowering, .types = {c->dtype, c->result_dtype}, .choice = choice};
    memcpy(p->dims, c->dims, (size_t)c->contract->dim_count * sizeof *c->dims);
    memcpy(p->attributes, c->attributes, sizeof p->attributes);
}

/* ------------------------------------------------------------------------------------------------------------
 * Tunings
 * ------------------------------------------------------------------------------------------------------------ */

static bool uses_tunings(const tk_ctx *ctx, const tki_lowering *lowering)
{
    const char *setting = getenv("TOKITAI_TUNING");
    return lowering->candidates && ctx->gpu && lowering->backend == ctx->backend && !ctx->ignores_tunings &&
           !(setting && !strcmp(setting, "off"));
}

static const tki_tuning *tuning_of(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c)
{
    chosen *all = ctx->chosen;
    for (int i = 0; i < all->tuning_count; i++) {
        const loaded *l = &all->tunings[i];
        if (l->lowering == lowering && l->types.dtype == c->dtype && l->types.result_dtype == c->result_dtype)
            return &l->tuning;
    }
    loaded *more = realloc(all->tunings, (size_t)(all->tuning_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    all->tunings = more;
    loaded *added = &more[all->tuning_count++];
    *added = (loaded){.lowering = lowering, .types = {c->dtype, c->result_dtype}};
    tki_tuning_load(ctx, lowering, c, &added->tuning);
    return &added->tuning;
}

static bool is_candidate(const tki_lowering *lowering, const tk_case *c, const tki_choice *choice)
{
    tki_choice list[TKI_MOST_CANDIDATES];
    const int count = lowering->candidates(lowering, c, list, TKI_MOST_CANDIDATES);
    for (int i = 0; i < count; i++)
        if (!memcmp(&list[i], choice, sizeof *choice))
            return true;
    return false;
}

static bool find_tuned(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, tki_choice *choice)
{
    char text[TKI_TUNED_TEXT], note[TKI_TUNED_TEXT + TKI_ID_SIZE + 128];
    const tki_tuning *tuning = tuning_of(ctx, lowering, c);
    if (!tuning || tuning->case_count == 0)
        return false;
    tki_tuning_case_text(c, text);
    const tki_tuned_case *found = tki_tuning_find(tuning, text);
    if (!found)
        return false;
    if (is_candidate(lowering, c, &found->choice)) {
        *choice = found->choice;
        return true;
    }
    snprintf(note, sizeof note, "tuning %s of %s has a choice that this version lacks; ignored", tuning->lowering,
             text);
    tki_note(ctx, note);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------
 * Choosing
 * ------------------------------------------------------------------------------------------------------------ */

tki_choice tki_chosen_for(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c)
{
    if (!lowering->choose)
        return (tki_choice){{0}};
    place *p = place_of(ctx, lowering, c);
    if (!p)
        return lowering->choose(lowering, c);
    if (!is_of(p, lowering, c)) {
        tki_choice choice;
        if (!uses_tunings(ctx, lowering) || !find_tuned(ctx, lowering, c, &choice))
            choice = lowering->choose(lowering, c);
        fill_place(p, lowering, c, choice);
    }
    return p->choice;
}

void tki_chosen_set(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, tki_choice choice)
{
    place *p = place_of(ctx, lowering, c);
    if (p)
        fill_place(p, lowering, c, choice);
}

tk_status tki_chosen_keep(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c, tki_choice choice,
                          double model_seconds, double best_seconds)
{
    tki_tuned_case tuned = {
        .choice = choice, .model_ns = (uint64_t)(1e9 * model_seconds), .best_ns = (uint64_t)(1e9 * best_seconds)};
    if (!ctx->gpu || !lowering->candidates || !is_candidate(lowering, c, &choice))
        return tki_fail(ctx, TK_INTERNAL, "%s: the measured choice is not one of the lowering", c->contract->name);
    tki_tuning_case_text(c, tuned.text);
    return tki_tuning_keep(ctx, lowering, c, &tuned);
}

void tki_chosen_describe(const tk_ctx *ctx, const tki_lowering *lowering, tk_types types, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; ctx->chosen && i < ctx->chosen->tuning_count; i++) {
        const loaded *l = &ctx->chosen->tunings[i];
        if (l->lowering == lowering && l->types.dtype == types.dtype && l->types.result_dtype == types.result_dtype &&
            l->tuning.case_count > 0)
            snprintf(text, size, "choices for %d case%s are those that were measured on this device, tuning %.12s...",
                     l->tuning.case_count, l->tuning.case_count == 1 ? "" : "s", l->tuning.key);
    }
}

tk_status tk_ctx_use_tuning(tk_ctx *ctx, bool use)
{
    if (!ctx)
        return TK_BAD_ARGUMENT;
    ctx->ignores_tunings = !use;
    if (ctx->free_chosen)
        ctx->free_chosen(ctx);
    return TK_OK;
}
