/* RIGHT op=gemm kind=simd_tile expect=HELD : register tiles of 6 by 16 with AVX2 and FMA over packed panels, rows dealt out to threads; each sum runs over t in order, whatever the tile or the thread */
#include <immintrin.h>
#include <pthread.h>
#include "kernel.h"
#define MR 6
#define NR 16
typedef struct {
    int32_t dtype;
    int simd;
    int64_t m, n, k, first, last; /* groups of MR rows */
    const uint16_t *a;
    const float *panels; /* [n / NR, k, NR], columns past the end are zero */
    float *strip;        /* [k, MR] */
    uint16_t *c;
} job;
static float get(int32_t dtype, uint16_t v) {
    return dtype == TOKITAI_F16 ? tokitai_from_f16(v) : tokitai_from_bf16(v);
}
static uint16_t put(int32_t dtype, float v) {
    if (v != v) return dtype == TOKITAI_F16 ? 0x7e00 : 0x7fc0;
    return dtype == TOKITAI_F16 ? tokitai_to_f16(v) : tokitai_to_bf16(v);
}
__attribute__((target("avx2,fma"))) static void tile_simd(const float *strip, const float *panel, int64_t k,
                                                          float out[MR][NR]) {
    __m256 lo[MR], hi[MR];
    for (int r = 0; r < MR; r++) lo[r] = hi[r] = _mm256_setzero_ps();
    for (int64_t t = 0; t < k; t++) {
        const __m256 x = _mm256_loadu_ps(panel + NR * t), y = _mm256_loadu_ps(panel + NR * t + 8);
#pragma GCC unroll 6
        for (int r = 0; r < MR; r++) {
            const __m256 s = _mm256_broadcast_ss(strip + MR * t + r);
            lo[r] = _mm256_fmadd_ps(s, x, lo[r]);
            hi[r] = _mm256_fmadd_ps(s, y, hi[r]);
        }
    }
    for (int r = 0; r < MR; r++) {
        _mm256_storeu_ps(out[r], lo[r]);
        _mm256_storeu_ps(out[r] + 8, hi[r]);
    }
}
static void tile_plain(const float *strip, const float *panel, int64_t k, float out[MR][NR]) {
    for (int r = 0; r < MR; r++)
        for (int l = 0; l < NR; l++) {
            float sum = 0;
            for (int64_t t = 0; t < k; t++) sum += strip[MR * t + r] * panel[NR * t + l];
            out[r][l] = sum;
        }
}
static void *work(void *argument) {
    const job *p = argument;
    for (int64_t g = p->first; g < p->last; g++) {
        const int64_t rows = p->m - g * MR < MR ? p->m - g * MR : MR;
        for (int64_t t = 0; t < p->k; t++)
            for (int64_t r = 0; r < MR; r++)
                p->strip[MR * t + r] = r < rows ? get(p->dtype, p->a[(g * MR + r) * p->k + t]) : 0;
        for (int64_t j = 0; j < p->n; j += NR) {
            float out[MR][NR];
            (p->simd ? tile_simd : tile_plain)(p->strip, p->panels + j * p->k, p->k, out);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t l = 0; l < NR && j + l < p->n; l++)
                    p->c[(g * MR + r) * p->n + j + l] = put(p->dtype, out[r][l]);
        }
    }
    return NULL;
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    enum { MOST = 16 };
    const int64_t groups = (m + MR - 1) / MR, padded = (n + NR - 1) / NR * NR;
    const int threads = call->threads < MOST ? call->threads : MOST;
    float *panels = malloc((size_t)(padded * k + threads * MR * k + 1) * sizeof *panels);
    if (!panels) return 1;
    for (int64_t j = 0; j < padded; j++)
        for (int64_t t = 0; t < k; t++)
            panels[j / NR * NR * k + t * NR + j % NR] = j < n ? get(call->dtype, ((const uint16_t *)b)[t * n + j])
                                                              : 0;
    const int simd = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    job jobs[MOST];
    pthread_t id[MOST];
    int started[MOST] = {0};
    for (int x = 0; x < threads; x++) {
        jobs[x] = (job){call->dtype,
                        simd,
                        m,
                        n,
                        k,
                        groups * x / threads,
                        groups * (x + 1) / threads,
                        a,
                        panels,
                        panels + padded * k + x * MR * k,
                        c};
        if (x + 1 < threads) started[x] = pthread_create(&id[x], NULL, work, &jobs[x]) == 0;
        if (!started[x]) work(&jobs[x]);
    }
    for (int x = 0; x < threads; x++)
        if (started[x]) pthread_join(id[x], NULL);
    free(panels);
    return 0;
}
