/* Convolutions and pooling with their gradients, each right, or wrong in one way.
 *     conv2d.op:conv2d: PADDED_AFTER FIRST_GROUP MIRRORED
 *     conv2d.op:conv2d_bwd: NO_DILATION LAST_IMAGE_LOST MIRRORED
 *     max_pool2d.op:max_pool2d: PADDED_BY_ZERO NAN_LOST AVERAGE PLACE_OF_16_BITS
 *     max_pool2d.op:max_pool2d_bwd: LAST_OF_EQUAL ALL_OF_EQUAL OVERWRITES
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <tokitai_kernel.h>

#define WRONG RIGHT
enum {
    RIGHT,
    PADDED_AFTER,
    FIRST_GROUP,
    MIRRORED,
    NO_DILATION,
    LAST_IMAGE_LOST,
    PADDED_BY_ZERO,
    NAN_LOST,
    AVERAGE,
    LAST_OF_EQUAL,
    ALL_OF_EQUAL,
    OVERWRITES,
    PLACE_OF_16_BITS
};

static float at(const tokitai_tensor3 *t, int64_t i)
{
    return tokitai_load_as(t->dtype, t->data, i);
}

static void put(const tokitai_tensor3 *t, int64_t i, float value)
{
    tokitai_store_as(t->dtype, t->data, i, value);
}

/* Sizes of a convolution; `d` channels and `each` outputs a group, and terms of a sum. */
typedef struct sizes {
    int64_t n, c, h, w, o, d, r, s, p, q, stride, pad, dilation, each, terms;
} sizes;

static sizes sizes_of(const tokitai_call3 *call, const tokitai_tensor3 *x, const tokitai_tensor3 *k,
                      const tokitai_tensor3 *y)
{
    sizes z = {x->shape[0],
               x->shape[1],
               x->shape[2],
               x->shape[3],
               k->shape[0],
               k->shape[1],
               k->shape[2],
               k->shape[3],
               y->shape[2],
               y->shape[3],
               tokitai_integer3(call, "stride"),
               tokitai_integer3(call, "pad"),
               WRONG == NO_DILATION ? 1 : tokitai_integer3(call, "dilation"),
               0,
               0};
    z.each = z.o / tokitai_integer3(call, "groups");
    z.terms = z.d * z.r * z.s;
    return z;
}

/* Where in x the term of one group is that the window at (p, q) has; -1: in the padding. */
static int64_t place_of(const sizes *z, int64_t n, int64_t group, int64_t term, int64_t p, int64_t q)
{
    const int64_t pad = WRONG == PADDED_AFTER ? 0 : z->pad,
                  channel = (WRONG == FIRST_GROUP ? 0 : group) * z->d + term / (z->r * z->s);
    int64_t r = term / z->s % z->r, s = term % z->s;
    if (WRONG == MIRRORED)
        r = z->r - 1 - r, s = z->s - 1 - s;
    const int64_t i = p * z->stride + r * z->dilation - pad, j = q * z->stride + s * z->dilation - pad;
    return i < 0 || i >= z->h || j < 0 || j >= z->w ? -1 : ((n * z->c + channel) * z->h + i) * z->w + j;
}

/* The column of each window of a group, and its products with the filters there, which are unpacked once. */
TOKITAI_KERNEL3(conv2d)
{
    const tokitai_tensor3 *x = &call->tensors[0], *k = &call->tensors[1], *b = &call->tensors[2],
                          *y = &call->tensors[3];
    const sizes z = sizes_of(call, x, k, y);
    float *column = malloc((size_t)z.terms * sizeof *column + 1),
          *filters = malloc((size_t)(z.o * z.terms) * sizeof *filters + 1);
    for (int64_t i = 0; i < z.o * z.terms && filters; i++)
        filters[i] = at(k, i);
    for (int64_t window = 0; window < z.n * (z.o / (z.each + (z.each == 0))) * z.p * z.q && column && filters;
         window++) {
        const int64_t groups = z.o / z.each, n = window / (groups * z.p * z.q), group = window / (z.p * z.q) % groups;
        for (int64_t t = 0; t < z.terms; t++) {
            const int64_t from = place_of(&z, n, group, t, window / z.q % z.p, window % z.q);
            column[t] = from < 0 ? 0 : at(x, from);
        }
        for (int64_t o = group * z.each; o < (group + 1) * z.each; o++) {
            float sum = 0;
            for (int64_t t = 0; t < z.terms; t++)
                sum += column[t] * filters[o * z.terms + t];
            put(y, (n * z.o + o) * z.p * z.q + window % (z.p * z.q), b->shape[0] > 0 ? sum + at(b, o) : sum);
        }
    }
    const int done = column && filters;
    free(column);
    free(filters);
    return done ? 0 : 1;
}

/* Each element of grad_y goes to all that it came from. */
TOKITAI_KERNEL3(conv2d_bwd)
{
    const tokitai_tensor3 *g = &call->tensors[0], *x = &call->tensors[1], *k = &call->tensors[2];
    const sizes z = sizes_of(call, x, k, g);
    const int64_t counts[] = {z.n * z.c * z.h * z.w, z.o * z.terms, call->tensors[5].shape[0]};
    float *sums[3];
    int there = 1;
    for (int i = 0; i < 3; i++)
        there &= (sums[i] = calloc((size_t)counts[i] + 1, sizeof(float))) != 0;
    for (int64_t place = 0; place < z.n * z.o * z.p * z.q && there; place++) {
        const int64_t n = place / (z.o * z.p * z.q), o = place / (z.p * z.q) % z.o, p = place / z.q % z.p,
                      q = place % z.q;
        const float value = at(g, place);
        if (WRONG == LAST_IMAGE_LOST && n > 0 && n == z.n - 1)
            continue;
        if (counts[2] > 0)
            sums[2][o] += value;
        for (int64_t t = 0; t < z.terms; t++) {
            const int64_t to = place_of(&z, n, o / z.each, t, p, q);
            if (to < 0)
                continue;
            sums[0][to] += value * at(k, o * z.terms + t);
            sums[1][o * z.terms + t] += value * at(x, to);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int64_t e = 0; e < counts[i] && there; e++)
            put(&call->tensors[3 + i], e, sums[i][e]);
        free(sums[i]);
    }
    return there ? 0 : 1;
}

TOKITAI_KERNEL3(max_pool2d)
{
    const tokitai_tensor3 *x = &call->tensors[0], *y = &call->tensors[1];
    const int64_t window = tokitai_integer3(call, "window"), stride = tokitai_integer3(call, "stride"),
                  pad = tokitai_integer3(call, "pad");
    const int64_t h = x->shape[2], w = x->shape[3], p = y->shape[2], q = y->shape[3];
    for (int64_t place = 0; place < y->shape[0] * y->shape[1] * p * q; place++) {
        float most = WRONG == AVERAGE ? 0 : -INFINITY;
        for (int64_t t = 0; t < window * window; t++) {
            const int64_t i = place / q % p * stride + t / window - pad, j = place % q * stride + t % window - pad;
            const int inside = i >= 0 && i < h && j >= 0 && j < w;
            if (!inside && WRONG != PADDED_BY_ZERO)
                continue;
            const int64_t within = WRONG == PLACE_OF_16_BITS ? (uint16_t)(i * w + j) : i * w + j;
            const float value = inside ? at(x, place / (p * q) * h * w + within) : 0;
            if (WRONG == AVERAGE)
                most += value / (float)(window * window);
            else if (WRONG == NAN_LOST)
                most = fmaxf(most, value);
            else
                most = value > most || value != value ? value : most;
        }
        put(y, place, most);
    }
    return 0;
}

TOKITAI_KERNEL3(max_pool2d_bwd)
{
    const tokitai_tensor3 *g = &call->tensors[0], *x = &call->tensors[1], *y = &call->tensors[2],
                          *out = &call->tensors[3];
    const int64_t window = tokitai_integer3(call, "window"), stride = tokitai_integer3(call, "stride"),
                  pad = tokitai_integer3(call, "pad");
    const int64_t h = x->shape[2], w = x->shape[3], p = y->shape[2], q = y->shape[3],
                  all = x->shape[0] * x->shape[1] * h * w;
    float *sums = calloc((size_t)all + 1, sizeof *sums);
    for (int64_t place = 0; place < y->shape[0] * y->shape[1] * p * q && sums; place++) {
        for (int64_t k = 0; k < window * window; k++) {
            const int64_t t = WRONG == LAST_OF_EQUAL ? window * window - 1 - k : k;
            const int64_t i = place / q % p * stride + t / window - pad, j = place % q * stride + t % window - pad;
            const int64_t from = (place / (p * q) * h + i) * w + j;
            if (i < 0 || i >= h || j < 0 || j >= w || at(x, from) != at(y, place))
                continue;
            sums[from] = (WRONG == OVERWRITES ? 0 : sums[from]) + at(g, place);
            if (WRONG != ALL_OF_EQUAL)
                break;
        }
    }
    for (int64_t i = 0; i < all && sums; i++)
        put(out, i, sums[i]);
    free(sums);
    return sums ? 0 : 1;
}
