/* SHOWS. What bench does with the processor itself, compiled once per instruction set: conversions for peers that compute in
 * fp32, the loops that measure the machine's limits, and the loops around SLEEF's exponential. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A part of an op's traffic: bytes to read from up to four inputs and to write to up to two outputs. */
enum { BENCH_STREAMS = 4 };

typedef struct bench_traffic {
    const char *reads[BENCH_STREAMS];
    int64_t read_bytes[BENCH_STREAMS];
    char *writes[BENCH_STREAMS];
    int64_t write_bytes[BENCH_STREAMS];
    int read_count, write_count;
} bench_traffic;

typedef struct bench_machine {
    int lanes; /* fp32 in one vector */
    /* Indexed by TK_F16 and TK_BF16. */
    void (*widen[2])(const uint16_t *from, float *to, int64_t count);
    void (*narrow[2])(const float *from, uint16_t *to, int64_t count);
    void (*add[2])(const uint16_t *from, float *to, int64_t count); /* to += from */

    /* Reads and writes the bytes and nothing else; `past_caches` writes with non-temporal stores. */
    float (*move)(const bench_traffic *traffic, bool past_caches);
    /* Independent fused multiply-adds on registers; returns how many operations (two per lane) they were. */
    double (*multiply_add)(int64_t rounds, float *sink);

    /* SLEEF's function for this vector width, or NULL, and loops around it. `exp` is its address. */
    const char *exp_name;
    void (*gelu[2])(void *exp, const uint16_t *x, uint16_t *y, int64_t count);
    void (*gelu_grad[2])(void *exp, const uint16_t *grad, const uint16_t *x, uint16_t *out, int64_t count);
    /* One row; `scratch` holds `count` floats. Returns the sum of exponentials, the maximum in *greatest. */
    float (*softmax[2])(void *exp, const uint16_t *x, uint16_t *y, float *scratch, int64_t count, float *greatest);
} bench_machine;

/* For the best instruction set that this processor has. */
const bench_machine *bench_machine_here(void);
