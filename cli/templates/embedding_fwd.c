/* One row of out: patterns are copied, so that a NaN keeps its payload. */
TOKITAI_DEVICE void embedding_fwd_item(tokitai_call call, int64_t queries, int64_t dim, int64_t vocab,
                                       const void *index, const void *weight, void *out, int64_t row)
{
    const uint16_t *from = (const uint16_t *)weight + tokitai_load_index(call, index, row) * dim;
    uint16_t *to = (uint16_t *)out + row * dim;
    (void)queries;
    (void)vocab;
    for (int64_t j = 0; j < dim; j++)
        to[j] = from[j];
}
