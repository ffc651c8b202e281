/* The place of the largest of each row: right, or wrong in one way.
 *     topk.op:argmax: LAST_OF_EQUAL BY_MAGNITUDE LEAST WITHOUT_LAST
 */
#include <math.h>
#include <stdint.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum { RIGHT, LAST_OF_EQUAL, BY_MAGNITUDE, LEAST, WITHOUT_LAST };

static double at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static int more(double a, double b)
{
    if (WRONG == BY_MAGNITUDE)
        return fabs(a) > fabs(b);
    return WRONG == LEAST ? a < b : WRONG == LAST_OF_EQUAL ? a >= b : a > b;
}

TOKITAI_KERNEL3(argmax)
{
    const tokitai_tensor3 *x = &call->tensors[0], *index = &call->tensors[1];
    const int64_t rows = x->shape[0], cols = x->shape[1];
    for (int64_t r = 0; r < rows; r++) {
        int64_t best = 0;
        for (int64_t c = 1; c < cols - (WRONG == WITHOUT_LAST); c++)
            if (more(at(x, r * cols + c), at(x, r * cols + best)))
                best = c;
        ((int64_t *)index->data)[r] = best;
    }
    return 0;
}
