/* UNTRUSTED. What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output, or its i-th element where that has one axis. */

/* One row of out: patterns are copied, so that a NaN keeps its payload. */
ITEM(embedding_fwd, row)
{
    const int64_t halves = dim * (call.dtype == TOKITAI_F32 ? 2 : 1); /* of 16 bits */
    const uint16_t *from = (const uint16_t *)weight + tokitai_load_index(call, index, row) * halves;
    uint16_t *to = (uint16_t *)out + row * halves;
    (void)queries;
    (void)vocab;
    for (int64_t j = 0; j < halves; j++)
        to[j] = from[j];
}

/* One row of grad_weight: its hits are added in ascending order, which no other row can disturb. */
ITEM(embedding_bwd, row)
{
    (void)vocab;
    for (int64_t j = 0; j < dim; j++) {
        double sum = 0;
        for (int64_t i = 0; i < queries; i++)
            if (tokitai_load_index(call, index, i) == row)
                sum += (double)tokitai_load(call, grad_output, i * dim + j);
        tokitai_store_result(call, grad_weight, row * dim + j, (float)sum);
    }
}
