/* What an xent kernel is given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_XENT_PARAMS_H
#define TKI_OPS_XENT_PARAMS_H

typedef struct tki_xent_params {
    const void *logits; /* [rows, cols] */
    const void *target; /* [rows], int32_t or int64_t */
    float *loss;        /* [rows] */
    void *grad_logits;  /* [rows, cols]; may be logits */
    int64_t rows, cols;
    int64_t ignore_index;
    int32_t wide_target;   /* the targets are int64_t */
    float scale;           /* alpha */
    float keep;            /* 1 - eps */
    float share;           /* eps / cols */
    float share_raised;    /* 2^64 eps / cols */
    float share_of_others; /* eps (cols - 1) / cols */
    int32_t lanes;         /* GPU, narrow rows: how many threads hold one, a power of two up to 32 */
    uint64_t *fault_word;  /* GPU: takes the first row with a bad target; NULL on the host */
} tki_xent_params;

#endif
