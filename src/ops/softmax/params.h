/* What a softmax kernel is given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_SOFTMAX_PARAMS_H
#define TKI_OPS_SOFTMAX_PARAMS_H

typedef struct tki_softmax_params {
    const void *grad_output; /* [rows, cols]; NULL in the forward pass */
    const void *in;          /* [rows, cols]; x in the forward pass, y in the backward pass */
    void *out;               /* [rows, cols]; y or grad_input */
    int64_t rows, cols;
    int32_t lanes; /* GPU, narrow rows: how many threads hold one, a power of two up to 32 */
} tki_softmax_params;

#endif
