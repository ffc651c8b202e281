/* Right and wrong kernels of ABI 2 in one library: make.sh builds it with the header of ABI 2. gelu_fwd has the typed form, the others the
 * general one. */
#include "../abi1/gelu_fwd.c"
#include "../abi2/xent.c"

/* Wrong: without the maximum of the row, exponentials overflow. */
TOKITAI_KERNEL(softmax_fwd)
{
    const tokitai_tensor *x = &tensors[0];
    const int64_t cols = x->shape[1];
    for (int64_t row = 0; row < x->shape[0]; row++) {
        double sum = 0;
        for (int64_t j = row * cols; j < (row + 1) * cols; j++)
            sum += (double)expf(tokitai_load_as(x->dtype, x->data, j));
        for (int64_t j = row * cols; j < (row + 1) * cols; j++)
            tokitai_store_as(x->dtype, tensors[1].data, j,
                             (float)((double)expf(tokitai_load_as(x->dtype, x->data, j)) / sum));
    }
    return 0;
}

/* y = factor x, of any shape: an op that tests/kernel_file/test_kernel_abi.c registers. */
TOKITAI_KERNEL(scaled)
{
    const float factor = tokitai_real(call, "factor");
    int64_t elements = 1;
    for (int axis = 0; axis < tensors[0].rank; axis++)
        elements *= tensors[0].shape[axis];
    for (int64_t i = 0; i < elements; i++)
        tokitai_store_as(call->dtype, tensors[count - 1].data, i,
                         factor * tokitai_load_as(call->dtype, tensors[0].data, i));
    return 0;
}
