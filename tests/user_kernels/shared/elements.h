/* One element: fp16 and bf16 to fp32 and back, and to integers. */
#ifndef STRANGERS_ELEMENTS_H
#define STRANGERS_ELEMENTS_H
#include "kernel.h"
static inline float ld1(uint16_t h, int bf) { return bf ? tokitai_from_bf16(h) : tokitai_from_f16(h); }
static inline uint16_t st1(float f, int bf) { return bf ? tokitai_to_bf16(f) : tokitai_to_f16(f); }
static inline float up(uint16_t h, int dtype) {
    return dtype == TOKITAI_F16 ? tokitai_from_f16(h) : tokitai_from_bf16(h);
}
static inline uint16_t down(float f, int dtype) {
    return dtype == TOKITAI_F16 ? tokitai_to_f16(f) : tokitai_to_bf16(f);
}
static float as_float(int f16, uint16_t v) { return f16 ? tokitai_from_f16(v) : tokitai_from_bf16(v); }
static inline int64_t fixed_f16(uint16_t h) {
    const int e = h >> 10 & 31;
    const int64_t f = h & 1023, v = e ? (f | 1024) << (e - 1) : f;
    return h & 0x8000 ? -v : v;
}
/* To fp32, rounded to odd_float in the discarded part, so that the second rounding is as good as one. */
static float odd_float(__int128 s) {
    const int minus = s < 0;
    unsigned __int128 x = minus ? -(unsigned __int128)s : (unsigned __int128)s;
    int shift = 0, sticky = 0;
    while (x >> 24) {
        sticky |= (int)(x & 1);
        x >>= 1;
        shift++;
    }
    float f = (float)(uint32_t)(x | (unsigned)sticky);
    for (; shift > 48; shift--) f *= 2;
    for (; shift < 48; shift++) f *= 0.5f;
    return minus ? -f : f;
}
static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
#endif
