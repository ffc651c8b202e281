/* A table with one place for each hash: a case that comes again and again finds its own, and nothing is ever searched. */
#include "executor/chosen.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"

enum { PLACES = 256 };

typedef struct tki_chosen {
    const tki_lowering *lowering; /* NULL: nothing is here */
    int64_t dims[TK_MAX_DIMS];
    tk_types types;
    tki_choice choice;
} chosen;

static chosen *place_of(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c)
{
    if (!ctx->chosen)
        ctx->chosen = calloc(PLACES, sizeof *ctx->chosen);
    uint64_t hash = (uint64_t)(uintptr_t)lowering ^ (uint64_t)c->dtype << 8 ^ (uint64_t)c->result_dtype;
    for (int i = 0; i < c->contract->dim_count; i++)
        hash = (hash ^ (uint64_t)c->dims[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return ctx->chosen ? &ctx->chosen[hash >> 56] : NULL;
}

static bool is_of(const chosen *place, const tki_lowering *lowering, const tk_case *c)
{
    return place->lowering == lowering && place->types.dtype == c->dtype &&
           place->types.result_dtype == c->result_dtype &&
           !memcmp(place->dims, c->dims, (size_t)c->contract->dim_count * sizeof *c->dims);
}

tki_choice tki_chosen_for(tk_ctx *ctx, const tki_lowering *lowering, const tk_case *c)
{
    if (!lowering->choose)
        return (tki_choice){{0}};
    chosen *place = place_of(ctx, lowering, c);
    if (!place)
        return lowering->choose(lowering, c);
    if (!is_of(place, lowering, c)) {
        *place = (chosen){
            .lowering = lowering, .types = {c->dtype, c->result_dtype}, .choice = lowering->choose(lowering, c)};
        memcpy(place->dims, c->dims, (size_t)c->contract->dim_count * sizeof *c->dims);
    }
    return place->choice;
}
