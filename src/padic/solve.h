/* SHOWS. Exact answers about integer matrices by p-adic lifting: solutions of systems (Dixon 1982) and determinants. */
#pragma once

#include "padic/matrix.h"
#include "tokitai.h"

typedef enum padic_outcome {
    PADIC_SOLVED,
    PADIC_SINGULAR, /* shown by a vector that the matrix takes to zero */
    PADIC_FAILED    /* the reason says why */
} padic_outcome;

/* x = numerators / denominator, in lowest terms column by column. */
typedef struct padic_solution {
    int64_t rows, cols;
    mpz_t *numerators;   /* [rows, cols] */
    mpz_t *denominators; /* [cols], positive */
} padic_solution;

void padic_solution_free(padic_solution *solution);

/* A x = b over the rationals. What it gives has been put into the system: it is right, whatever happened on the way. */
padic_outcome padic_solve(tk_ctx *ctx, const padic_matrix *a, const padic_matrix *b, padic_solution *solution,
                          char *reason, size_t size);

padic_outcome padic_determinant(tk_ctx *ctx, const padic_matrix *a, mpz_t determinant, char *reason, size_t size);
