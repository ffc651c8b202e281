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
enum { TKI_PADIC_GPU_TILE = 64, TKI_PADIC_GPU_THREADS = 256, TKI_PADIC_GPU_PLACES = 64 };

/* What is counted there: two words each, a number of 64 bits. */
enum { TKI_PADIC_SLICES, TKI_PADIC_ALL_SLICES, TKI_PADIC_PARTS, TKI_PADIC_ALL_PARTS };

typedef struct tki_padic_gpu_params {
    const uint64_t *a, *b;
    uint64_t *c;
    int64_t m, n, k;
    int64_t tiles, tiles_across; /* of c, and in one row of them */
    uint64_t prime;
    uint64_t mask; /* of a power of two: the modulus less one */
    /* Of others: the modulus shifted so that its highest bit is set, and floor((2^128 - 1) / that) - 2^64. */
    uint64_t divisor, reciprocal;
    int32_t shift;
    int32_t precision;
    /* The smallest valuation of each tile's lines at each place of the inner size. */
    uint8_t *least_left;  /* [tiles / tiles_across][k], of rows of a */
    uint8_t *least_right; /* [tiles_across][k], of columns of b */
    uint32_t *slices;     /* [2], one count: places where all terms vanish */
    uint32_t (*counts)[2];
} tki_padic_gpu_params;

#endif
