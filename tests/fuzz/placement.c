/* Fuzz target: what says where sections lie. The text is taken as an index or manifest, as the placement in a shard, and as that of a
 * tensor in it. What is refused has a message that can be shown; a section that is placed lies within its tensor and has a name that a file
 * can have; an obstruction can be told. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "glue/placement.h"
#include "tests/fuzz/escape.h"

static void try_sections(tk_ctx *ctx, json_t *placement)
{
    static char path[] = "a file";
    tki_tensor tensors[] = {
        {.name = "w", .type = TK_F16, .rank = 2, .shape = {4, 3}},
        {.name = "v", .type = TKI_F4, .rank = 1, .shape = {8}},
        {.name = "s", .type = TK_I64, .rank = 0},
    };
    tki_shard shard = {.path = path, .is_open = true, .placement = placement};
    tki_checkpoint checkpoint = {.shards = &shard, .shard_count = 1};
    const size_t count = sizeof tensors / sizeof *tensors;
    for (size_t i = 0; i < count; i++)
        assert(tki_place_section(ctx, &checkpoint, 0, &tensors[i]) == TK_OK);
    assert(checkpoint.section_count + checkpoint.obstructions.count == count);
    for (size_t i = 0; i < checkpoint.section_count; i++) {
        const tki_section *s = &checkpoint.sections[i];
        assert(s->rank == s->local->rank && s->box.rank == s->rank && tki_box_within(&s->box, s->shape));
        assert(!memcmp(s->box.size, s->local->shape, (size_t)s->rank * sizeof *s->shape));
        assert(s->tensor[0] && strcmp(s->tensor, TKI_SAFETENSORS_METADATA));
    }
    for (size_t i = 0; i < checkpoint.obstructions.kept; i++) {
        char *text = tki_obstruction_text(&checkpoint.obstructions.list[i]);
        json_t *value = tki_obstruction_json(&checkpoint.obstructions.list[i]);
        assert(text && value);
        free(text);
        json_decref(value);
    }
    tki_obstructions_free(&checkpoint.obstructions);
    free(checkpoint.sections);
}

static void expect_message(tk_ctx *ctx, tk_status status)
{
    assert(status == TK_BAD_FILE && is_visible(tk_ctx_message(ctx), ""));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    json_t *value;
    if (tk_ctx_create(&ctx) != TK_OK)
        abort();
    tk_status status = tki_index_parse(ctx, "a file", (const char *)data, size, &value);
    if (status == TK_OK) {
        json_t *shards = json_object_get(value, "shards");
        for (size_t i = 0; i < json_array_size(shards); i++)
            try_sections(ctx, json_array_get(shards, i));
        json_decref(value);
    } else {
        expect_message(ctx, status);
    }
    status = tki_placement_parse(ctx, "a file", (const char *)data, size, &value);
    if (status == TK_OK) {
        try_sections(ctx, value);
        json_decref(value);
    } else {
        expect_message(ctx, status);
    }
    tk_ctx_destroy(ctx);
    return 0;
}
