/* RECORDS. The header of NumPy's .npy files: what the elements are, their order, the shape, and where they begin. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/export.h"

enum { TKI_NPY_MAX_RANK = 8 };

typedef struct tki_npy {
    char order;      /* of the bytes: '<' little-endian, '>', or '|' where there is none */
    char kind;       /* 'f', 'i', 'u', 'b', 'c', 'V' (bytes without a type), ... */
    int size;        /* bytes of an element */
    bool by_columns; /* the first index runs fastest */
    int rank;
    int64_t shape[TKI_NPY_MAX_RANK];
    int64_t elements;
    size_t data_at; /* the elements fill the rest of the file */
} tki_npy;

/* Does a file begin as one? */
TKI_EXPORT bool tki_npy_begins(const void *data, size_t bytes);

/* NULL, or why it is none. Structured types are not read. */
TKI_EXPORT const char *tki_npy_parse(const void *data, size_t bytes, tki_npy *npy);
