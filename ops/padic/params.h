/* What a padic_gemm kernel is given. Include <stdint.h> first. */
#ifndef TKI_OPS_PADIC_PARAMS_H
#define TKI_OPS_PADIC_PARAMS_H

typedef struct tki_padic_params {
    const uint64_t *a; /* [m,k], any numbers: they stand for their residues */
    const uint64_t *b; /* [k,n] */
    uint64_t *c;       /* [m,n], residues */
    int64_t m, n, k;
    uint64_t prime;
    uint64_t modulus; /* prime^precision; 0 stands for 2^64 */
    int32_t precision;
} tki_padic_params;

/* On a GPU. */
enum { TKI_PADIC_GPU_TILE = 64, TKI_PADIC_GPU_THREADS = 256 };

typedef struct tki_padic_gpu_params {
    const uint64_t *a, *b;
    uint64_t *c;
    int64_t m, n, k;
    int64_t tiles, tiles_across; /* of c, and in one row of them */
    uint64_t mask;               /* of a power of two: the modulus less one */
    /* Of others: the modulus shifted so that its highest bit is set, and floor((2^128 - 1) / that) - 2^64. */
    uint64_t divisor, reciprocal;
    int32_t shift;
    int32_t power_of_two;
} tki_padic_gpu_params;

#endif
