/* What a gelu kernel is given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_GELU_PARAMS_H
#define TKI_OPS_GELU_PARAMS_H

typedef struct tki_gelu_params {
    const void *grad_output; /* [n]; NULL in the forward pass */
    const void *x;           /* [n] */
    void *out;               /* [n] */
    int64_t n;
} tki_gelu_params;

#endif
