/* RECORDS. Tensors in files: a safetensors file is mapped, an .npy file read. */
#include "tensors/array_files.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/file.h"
#include "tensors/element.h"
#include "tensors/npy.h"
#include "tensors/safetensors.h"

struct tki_arrays {
    tki_safetensors file; /* mapped; all zero for .npy */
    char *bytes;          /* of an .npy file */
    void **copies;        /* [count], of tensors that do not lie at a multiple of their size */
    tki_array *list;
    size_t count;
};

static const size_t most_bytes = (size_t)1 << 40;

/* '<f2' is F16, ...: by the name in safetensors; false: it has no such type. Bytes without a type (V) are unsigned. */
static bool type_of(const tki_npy *npy, tk_dtype *type)
{
    char name[16];
    if (npy->kind == 'b')
        return npy->size == 1 && tki_element_find("BOOL", type);
    if (!strchr("fiuV", npy->kind) || (npy->kind == 'V' && npy->size > 2))
        return false;
    snprintf(name, sizeof name, "%c%d", npy->kind == 'V' ? 'U' : toupper((unsigned char)npy->kind), 8 * npy->size);
    return tki_element_find(name, type);
}

static tk_status make_list(tk_ctx *ctx, const char *path, size_t count, tki_arrays *arrays)
{
    arrays->list = calloc(count + 1, sizeof *arrays->list);
    arrays->copies = calloc(count + 1, sizeof *arrays->copies);
    arrays->count = count;
    return arrays->list && arrays->copies ? TK_OK
                                          : tki_fail(ctx, TK_NO_MEMORY, "no memory for the table of '%s'", path);
}

/* Elements begin behind a header of any length. */
static tk_status align(tk_ctx *ctx, const char *path, tki_arrays *arrays, size_t i, size_t bytes)
{
    tki_array *array = &arrays->list[i];
    const size_t size = (size_t)(tki_format_of(array->type).bits + 7) / 8;
    if (!bytes || (uintptr_t)array->data % size == 0)
        return TK_OK;
    arrays->copies[i] = malloc(bytes);
    if (!arrays->copies[i])
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the elements of '%s'", path);
    array->data = memcpy(arrays->copies[i], array->data, bytes);
    return TK_OK;
}

static tk_status take_npy(tk_ctx *ctx, const char *path, size_t bytes, tki_arrays *arrays)
{
    tki_npy npy;
    tk_dtype type;
    const char *reason = tki_npy_parse(arrays->bytes, bytes, &npy);
    if (!reason && npy.order == '>' && npy.size > 1)
        reason = "the elements are big-endian; little-endian ones are needed";
    if (!reason && npy.by_columns && npy.rank > 1)
        reason = "the array is in Fortran order; write a row-major copy (numpy.ascontiguousarray)";
    if (reason)
        return tki_fail(ctx, TK_BAD_FILE, "'%s': %s", path, reason);
    if (!type_of(&npy, &type))
        return tki_fail(ctx, TK_BAD_FILE, "'%s': unknown element type '%c%d'", path, npy.kind, npy.size);
    tk_status status = make_list(ctx, path, 1, arrays);
    if (status != TK_OK)
        return status;
    *arrays->list = (tki_array){.name = "", .type = type, .rank = npy.rank, .data = arrays->bytes + npy.data_at};
    memcpy(arrays->list->shape, npy.shape, sizeof npy.shape);
    return align(ctx, path, arrays, 0, bytes - npy.data_at);
}

static tk_status take_safetensors(tk_ctx *ctx, const char *path, tki_arrays *arrays)
{
    tki_malformed kind;
    tk_status status = tki_safetensors_open(ctx, path, &arrays->file, &kind);
    if (status == TK_OK)
        status = make_list(ctx, path, arrays->file.count, arrays);
    for (size_t i = 0; i < arrays->file.count && status == TK_OK; i++) {
        const tki_tensor *t = &arrays->file.tensors[i];
        arrays->list[i] = (tki_array){.name = t->name,
                                      .type = t->type,
                                      .rank = t->rank,
                                      .data = arrays->file.bytes + arrays->file.data_at + t->begin};
        memcpy(arrays->list[i].shape, t->shape, sizeof t->shape);
        status = align(ctx, path, arrays, i, (size_t)(t->end - t->begin));
    }
    return status;
}

/* By its name. */
static tk_status take_file(tk_ctx *ctx, const char *path, tki_arrays *arrays)
{
    size_t bytes;
    const size_t length = strlen(path);
    if (length < 4 || strcmp(path + length - 4, ".npy") != 0)
        return take_safetensors(ctx, path, arrays);
    tk_status status = tki_file_read(ctx, path, most_bytes, &arrays->bytes, &bytes);
    return status == TK_OK ? take_npy(ctx, path, bytes, arrays) : status;
}

tk_status tki_arrays_open(tk_ctx *ctx, const char *path, tki_arrays **arrays)
{
    *arrays = calloc(1, sizeof **arrays);
    if (!*arrays)
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for '%s'", path);
    tk_status status = take_file(ctx, path, *arrays);
    if (status != TK_OK) {
        tki_arrays_close(*arrays);
        *arrays = NULL;
    }
    return status;
}

void tki_arrays_close(tki_arrays *arrays)
{
    if (!arrays)
        return;
    tki_safetensors_close(&arrays->file);
    free(arrays->bytes);
    for (size_t i = 0; arrays->copies && i < arrays->count; i++)
        free(arrays->copies[i]);
    free(arrays->copies);
    free(arrays->list);
    free(arrays);
}

const tki_array *tki_arrays_at(const tki_arrays *arrays, size_t i)
{
    return i < arrays->count ? &arrays->list[i] : NULL;
}

const char *tki_array_type_name(const tki_array *array)
{
    return tki_format_of(array->type).file_name;
}
