/* One row of grad_weight: its hits are added in ascending order, which no other row can disturb. */
TOKITAI_DEVICE void embedding_bwd_item(tokitai_call call, int64_t queries, int64_t dim, int64_t vocab,
                                       const void *grad_output, const void *index, void *grad_weight, int64_t row)
{
    (void)vocab;
    for (int64_t j = 0; j < dim; j++) {
        double sum = 0;
        for (int64_t i = 0; i < queries; i++)
            if (tokitai_load_index(call, index, i) == row)
                sum += (double)tokitai_load(call, grad_output, i * dim + j);
        tokitai_store(call, grad_weight, row * dim + j, (float)sum);
    }
}
