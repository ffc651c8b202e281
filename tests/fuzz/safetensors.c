/* Fuzz target: a safetensors file. What is refused has a kind and a message that can be shown; what is taken is contiguous up to its end,
 * is found by name, and gives the same table when it is laid out, written and read again. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/safetensors.h"
#include "tests/fuzz/escape.h"

static void write_again(tk_ctx *ctx, const tki_safetensors *file)
{
    int64_t data;
    size_t head;
    tki_malformed kind;
    tki_safetensors again;
    tki_tensor *tensors = malloc((file->count + 1) * sizeof *tensors);
    if (!tensors)
        abort();
    if (file->count)
        memcpy(tensors, file->tensors, file->count * sizeof *tensors);
    assert(tki_safetensors_lay_out(tensors, file->count, &data) && data == file->size - file->data_at);
    char *header = tki_safetensors_header(tensors, file->count,
                                          json_object_get(file->header, TKI_SAFETENSORS_METADATA), &head);
    if (!header)
        abort();
    assert(head % TKI_SAFETENSORS_ALIGNMENT == 0);
    char *whole = calloc(head + (size_t)data, 1);
    if (!whole)
        abort();
    memcpy(whole, header, head);
    assert(tki_safetensors_parse(ctx, "a file", whole, head + (size_t)data, &again, &kind) == TK_OK);
    assert(again.count == file->count);
    for (size_t i = 0; i < file->count; i++) {
        const tki_tensor *old = &file->tensors[i], *new = tki_safetensors_find(&again, old->name);
        assert(new &&new->type == old->type &&new->rank == old->rank &&new->end - new->begin ==
               old->end - old->begin);
        assert(!memcmp(new->shape, old->shape, sizeof old->shape));
    }
    tki_safetensors_close(&again);
    free(whole);
    free(header);
    free(tensors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tk_ctx *ctx;
    tki_safetensors file;
    tki_malformed kind;
    if (tk_ctx_create(&ctx) != TK_OK)
        abort();
    tk_status status = tki_safetensors_parse(ctx, "a file", data, size, &file, &kind);
    if (status != TK_OK) {
        assert(status == TK_BAD_FILE && kind != TKI_WELL_FORMED && is_visible(tk_ctx_message(ctx), ""));
    } else {
        int64_t at = 0;
        for (size_t i = 0; i < file.count; i++) {
            assert(file.tensors[i].begin == at);
            at = file.tensors[i].end;
            assert(tki_safetensors_find(&file, file.tensors[i].name) == &file.tensors[i]);
        }
        assert(file.data_at + at == (int64_t)size);
        write_again(ctx, &file);
        tki_safetensors_close(&file);
    }
    tk_ctx_destroy(ctx);
    return 0;
}
