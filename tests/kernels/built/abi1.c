/* Right and wrong kernels of ABI 1 in one library: make.sh builds it with the header of ABI 1. */
#include "../abi1/gelu_fwd.c"
#include "../abi1/xent.c"

/* Wrong: without the maximum of the row, exponentials overflow. */
int tokitai_softmax_fwd(const tokitai_call *call, int64_t rows, int64_t cols, const void *x, void *y)
{
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0;
        for (int64_t j = row * cols; j < (row + 1) * cols; j++)
            sum += (double)expf(tokitai_load(*call, x, j));
        for (int64_t j = row * cols; j < (row + 1) * cols; j++)
            tokitai_store(*call, y, j, (float)((double)expf(tokitai_load(*call, x, j)) / sum));
    }
    return 0;
}
