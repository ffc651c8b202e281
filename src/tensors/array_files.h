/* RECORDS. Tensors in files that somebody wrote: all of a safetensors file, by name, or the one of NumPy's .npy, without a name. */
#pragma once

#include "core/export.h"
#include "tensors/element.h"
#include "tokitai.h"

enum { TKI_ARRAY_MAX_RANK = 8 };

typedef struct tki_array {
    const char *name; /* "" in .npy */
    tk_dtype type;
    int rank;
    int64_t shape[TKI_ARRAY_MAX_RANK];
    const void *data; /* row-major, little-endian, aligned to its elements */
} tki_array;

typedef struct tki_arrays tki_arrays;

/* TK_BAD_FILE: it is neither, or malformed. Fortran order, other byte orders and types that safetensors does not have are refused; bytes
 * without a type (as NumPy has bf16) are taken for U16. */
TKI_EXPORT TK_MUST_USE tk_status tki_arrays_open(tk_ctx *ctx, const char *path, tki_arrays **arrays);
TKI_EXPORT void tki_arrays_close(tki_arrays *arrays); /* NULL is allowed */

TKI_EXPORT const tki_array *tki_arrays_at(const tki_arrays *arrays, size_t i); /* NULL past the end */
TKI_EXPORT const char *tki_array_type_name(const tki_array *array);            /* "BF16" */
