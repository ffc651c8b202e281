/* SHOWS. Matrices of numbers in files: text, a row in each line, or NumPy's .npy. */
#pragma once

#include <stdio.h>

#include "padic/padic.h"

/* Row-major. Either residues of a ring, or integers, as what read it was asked for. */
typedef struct padic_matrix {
    int64_t rows, cols;
    uint64_t *values; /* integers are two's complement: (int64_t)values[i] */
} padic_matrix;

void padic_matrix_free(padic_matrix *matrix);

/* Of `bytes` of a file: `ring` NULL for integers of 64 bits with a sign. NULL, or the reason, which may name the place, in
 * `reason`. */
const char *padic_matrix_parse(const char *data, size_t bytes, const padic_ring *ring, padic_matrix *matrix,
                               char *reason, size_t size);

/* The same of a file; "-" is standard input. */
const char *padic_matrix_read(const char *path, const padic_ring *ring, padic_matrix *matrix, char *reason,
                              size_t size);

/* As text, or as .npy of uint64. False if it could not be written. */
bool padic_matrix_write_text(FILE *out, const padic_matrix *matrix);
bool padic_matrix_write_npy(FILE *out, const padic_matrix *matrix);
