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
} tki_xent_params;

#endif
