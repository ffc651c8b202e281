/* What a gelu kernel is given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_GELU_PARAMS_H
#define TKI_OPS_GELU_PARAMS_H

typedef struct tki_gelu_params {
    const void *grad_output; /* [n]; NULL in the forward pass */
    const void *x;           /* [n] */
    void *out;               /* [n] */
    int64_t n;
} tki_gelu_params;

/* On a GPU: threads of a block, and what each has in flight of every input: 16-byte vectors, or single elements where the pointers do
 * not lie alike within 16 bytes. */
#ifndef TKI_GELU_THREADS
#define TKI_GELU_THREADS 128
#endif
#ifndef TKI_GELU_FWD_VECTORS
#define TKI_GELU_FWD_VECTORS 2
#endif
#ifndef TKI_GELU_BWD_VECTORS
#define TKI_GELU_BWD_VECTORS 2
#endif
#define TKI_GELU_ELEMENTS 8

#endif
