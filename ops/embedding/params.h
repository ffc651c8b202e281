/* What an embedding kernel is given, on the host and on a device alike. Include <stdint.h> or device.h first. */
#ifndef TKI_OPS_EMBEDDING_PARAMS_H
#define TKI_OPS_EMBEDDING_PARAMS_H

typedef struct tki_embedding_params {
    const void *index;       /* [queries], 8 bytes each if wide_index, else 4 */
    const void *weight;      /* [vocab, dim]; NULL in the backward pass */
    const void *grad_output; /* [queries, dim]; NULL in the forward pass */
    void *out;               /* [queries, dim] forward, [vocab, dim] backward */
    int64_t *offsets;        /* [vocab + 1] scratch; backward pass only */
    int64_t *positions;      /* [queries] scratch; backward pass only */
    int64_t queries, dim, vocab;
    int32_t wide_index;
} tki_embedding_params;

#endif
