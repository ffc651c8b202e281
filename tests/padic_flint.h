/* FLINT, loaded at run time: what tests of padic/ compare with. Include <gmp.h> first. */
#ifndef TESTS_PADIC_FLINT_H
#define TESTS_PADIC_FLINT_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* FLINT's structs, with room for those of later releases. Numbers of theirs, fmpz, are one word. */
typedef struct matrix {
    int64_t words[16];
} matrix;

static struct flint {
    void (*nmod_mat_init)(matrix *, int64_t, int64_t, uint64_t);
    void (*nmod_mat_clear)(matrix *);
    void (*nmod_mat_set_entry)(matrix *, int64_t, int64_t, uint64_t);
    uint64_t (*nmod_mat_get_entry)(const matrix *, int64_t, int64_t);
    void (*nmod_mat_mul)(matrix *, const matrix *, const matrix *);
    void (*fmpz_mod_mat_init)(matrix *, int64_t, int64_t, const int64_t *);
    void (*fmpz_mod_mat_clear)(matrix *);
    int64_t *(*fmpz_mod_mat_entry)(const matrix *, int64_t, int64_t);
    void (*fmpz_mod_mat_mul)(matrix *, const matrix *, const matrix *);
    void (*padic_ctx_init)(matrix *, const int64_t *, int64_t, int64_t, int);
    void (*padic_ctx_clear)(matrix *);
    void (*padic_mat_init2)(matrix *, int64_t, int64_t, int64_t);
    void (*padic_mat_clear)(matrix *);
    int64_t *(*padic_mat_entry)(const matrix *, int64_t, int64_t);
    void (*padic_mat_reduce)(matrix *, const matrix *);
    void (*padic_mat_mul)(matrix *, const matrix *, const matrix *, const matrix *);
    void (*fmpz_mat_init)(matrix *, int64_t, int64_t);
    void (*fmpz_mat_clear)(matrix *);
    int64_t *(*fmpz_mat_entry)(const matrix *, int64_t, int64_t);
    void (*fmpz_mat_det)(int64_t *, const matrix *);
    void (*fmpz_set_si)(int64_t *, int64_t);
    void (*fmpz_set_ui)(int64_t *, uint64_t);
    uint64_t (*fmpz_get_ui)(const int64_t *);
    void (*fmpz_init)(int64_t *);
    void (*fmpz_clear)(int64_t *);
    void (*fmpz_get_mpz)(mpz_t, const int64_t *);
    void (*fmpq_mat_init)(matrix *, int64_t, int64_t);
    void (*fmpq_mat_clear)(matrix *);
    int64_t *(*fmpq_mat_entry)(const matrix *, int64_t, int64_t);
    int (*fmpq_mat_solve_fmpz_mat_dixon)(matrix *, const matrix *, const matrix *);
    void (*fmpq_get_mpz_frac)(mpz_t, mpz_t, const int64_t *);
} f;

static inline bool load_flint(void)
{
    /* Of later releases fmpz_mod_mat_init() takes other arguments. */
    void *library = dlopen("libflint.so.17", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
#define TAKE(name)                                              \
    do {                                                        \
        void *address = library ? dlsym(library, #name) : NULL; \
        memcpy(&f.name, &address, sizeof address);              \
        all &= address != NULL;                                 \
    } while (0)
    TAKE(nmod_mat_init);
    TAKE(nmod_mat_clear);
    TAKE(nmod_mat_set_entry);
    TAKE(nmod_mat_get_entry);
    TAKE(nmod_mat_mul);
    TAKE(fmpz_mod_mat_init);
    TAKE(fmpz_mod_mat_clear);
    TAKE(fmpz_mod_mat_entry);
    TAKE(fmpz_mod_mat_mul);
    TAKE(padic_ctx_init);
    TAKE(padic_ctx_clear);
    TAKE(padic_mat_init2);
    TAKE(padic_mat_clear);
    TAKE(padic_mat_entry);
    TAKE(padic_mat_reduce);
    TAKE(padic_mat_mul);
    TAKE(fmpz_mat_init);
    TAKE(fmpz_mat_clear);
    TAKE(fmpz_mat_entry);
    TAKE(fmpz_mat_det);
    TAKE(fmpz_set_si);
    TAKE(fmpz_set_ui);
    TAKE(fmpz_get_ui);
    TAKE(fmpz_init);
    TAKE(fmpz_clear);
    TAKE(fmpz_get_mpz);
    TAKE(fmpq_mat_init);
    TAKE(fmpq_mat_clear);
    TAKE(fmpq_mat_entry);
    TAKE(fmpq_mat_solve_fmpz_mat_dixon);
    TAKE(fmpq_get_mpz_frac);
#undef TAKE
    return all;
}

#endif
