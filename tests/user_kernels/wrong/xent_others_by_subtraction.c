/* WRONG op=xent kind=others_by_subtraction narrow=yes expect=REFUTED : rows of 128 classes and more, summed in vectors, take the sum of the other classes as Z - exp(-d_t): cancels where the target has nearly all the probability */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const float eps = call->label_smoothing, alpha = call->scale;
    const float q = (float)((double)eps / (double)cols),
                at = (float)((double)eps * (double)(cols - 1) / (double)cols);
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            memset(o, 0, (size_t)cols * 2);
            continue;
        }
        float m = -INFINITY;
        double sd = 0;
        int bad = 0;
        for (int64_t j = 0; j < cols; j++) {
            const float v = ld1(x[j], bf);
            bad |= v != v || v == INFINITY;
            m = v > m ? v : m;
        }
        if (bad || m == -INFINITY) {
            loss[r] = NAN;
            for (int64_t j = 0; j < cols; j++) o[j] = 0x7fff;
            continue;
        }
        const float dt = m - ld1(x[t], bf), et = expf(-dt);
        float others = 0, z;
        int64_t j = 0;
        if (cols >= 128) {
            __m256 a = _mm256_setzero_ps(), b = a;
            for (; j + 16 <= cols; j += 16) {
                a = _mm256_add_ps(a, exp8_normal(_mm256_sub_ps(ld8(x + j, bf), _mm256_set1_ps(m))));
                b = _mm256_add_ps(b, exp8_normal(_mm256_sub_ps(ld8(x + j + 8, bf), _mm256_set1_ps(m))));
            }
            z = hsum(_mm256_add_ps(a, b));
            for (; j < cols; j++) z += expf(ld1(x[j], bf) - m);
            others = z - et;
        } else {
            for (; j < cols; j++)
                if (j != t) others += expf(ld1(x[j], bf) - m);
            z = others + et;
        }
        if (eps > 0)
            for (j = 0; j < cols; j++) sd += (double)m - ld1(x[j], bf);
        double l = logf(z);
        if (eps < 1) l += (1.0 - eps) * dt;
        if (eps > 0) l += (double)eps / (double)cols * sd;
        loss[r] = (float)l;
        const float inv = 1.0f / z, gt = alpha * (at - others * inv);
        for (j = 0; j < cols; j++) o[j] = st1(j == t ? gt : alpha * (expf(ld1(x[j], bf) - m) * inv - q), bf);
    }
    return 0;
}
