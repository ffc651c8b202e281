/* RIGHT op=xent kind=avx_scratch expect=HELD : AVX2, a polynomial for exp, exp values kept in a per-thread scratch that grows and stays between calls, target's exp zeroed there before the sum, multiplies by 1 / Z */
#pragma GCC target("avx2,fma,f16c")
#include "avx2.h"
#include "elements.h"
static _Thread_local float *scratch;
static _Thread_local int64_t scratch_cap;
int tokitai_xent(const tokitai_call *call, int64_t rows, int64_t cols, const void *lv, const void *tv, float *loss,
                 void *gv) {
    const int bf = call->dtype == TOKITAI_BF16;
    const float eps = call->label_smoothing, alpha = call->scale, q = (float)((double)eps / (double)cols);
    const int64_t padded = (cols + 7) & ~(int64_t)7;
    if (padded > scratch_cap) {
        free(scratch);
        scratch = malloc((size_t)padded * sizeof *scratch);
        scratch_cap = scratch ? padded : 0;
        if (!scratch) return 1;
    }
    for (int64_t r = 0; r < rows; r++) {
        const uint16_t *x = (const uint16_t *)lv + r * cols;
        uint16_t *o = (uint16_t *)gv + r * cols;
        float *e = scratch;
        const int64_t t = tokitai_load_index(*call, tv, r);
        if (t == call->ignore_index) {
            loss[r] = 0;
            if (cols) memset(o, 0, (size_t)cols * 2);
            continue;
        }
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8) _mm256_storeu_ps(e + j, ld8(x + j, bf));
        for (; j < padded; j++) e[j] = j < cols ? ld1(x[j], bf) : -INFINITY;
        __m256 mv = _mm256_set1_ps(-INFINITY), nan = _mm256_setzero_ps();
        for (j = 0; j < padded; j += 8) {
            const __m256 v = _mm256_loadu_ps(e + j);
            mv = _mm256_max_ps(v, mv);
            nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
        }
        float lane[8], m = -INFINITY;
        _mm256_storeu_ps(lane, mv);
        for (int k = 0; k < 8; k++) m = lane[k] > m ? lane[k] : m;
        if (_mm256_movemask_ps(nan) || isinf(m)) {
            loss[r] = NAN;
            for (j = 0; j < cols; j++) o[j] = 0x7fff;
            continue;
        }
        const __m256 M = _mm256_set1_ps(m);
        const float dt = m - e[t];
        double sd = 0;
        if (eps > 0)
            for (j = cols; j-- > 0;) sd += (double)m - e[j];
        for (j = 0; j < padded; j += 8)
            _mm256_storeu_ps(e + j, exp8_normal(_mm256_sub_ps(_mm256_loadu_ps(e + j), M)));
        const float et = e[t];
        e[t] = 0;
        __m256 a = _mm256_setzero_ps(), b = a;
        for (j = 0; j + 16 <= padded; j += 16) {
            a = _mm256_add_ps(a, _mm256_loadu_ps(e + j));
            b = _mm256_add_ps(b, _mm256_loadu_ps(e + j + 8));
        }
        if (j < padded) a = _mm256_add_ps(a, _mm256_loadu_ps(e + j));
        const float others = hsum(_mm256_add_ps(a, b)), z = others + et, inv = 1.0f / z;
        double l = log(z);
        if (eps < 1) l += (1.0 - eps) * dt;
        if (eps > 0) l += (double)eps / (double)cols * sd;
        loss[r] = (float)l;
        const __m256 qv = _mm256_set1_ps(q), al = _mm256_set1_ps(alpha), iv = _mm256_set1_ps(inv);
        const uint16_t gt = st1(alpha * ((float)((double)eps * (double)(cols - 1) / (double)cols) - others * inv),
                                bf);
        for (j = 0; j + 8 <= cols; j += 8)
            st8(o + j, _mm256_mul_ps(al, _mm256_sub_ps(_mm256_mul_ps(_mm256_loadu_ps(e + j), iv), qv)), bf);
        for (; j < cols; j++) o[j] = st1(alpha * (e[j] * inv - q), bf);
        o[t] = gt;
    }
    return 0;
}
