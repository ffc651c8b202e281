/* UNTRUSTED. The numbers of the CPU kernels' polynomials, apart from the vectors, so that proofs/polynomials.v is about the very same. */
#ifndef TKI_KERNELS_CPU_POLYNOMIALS_H
#define TKI_KERNELS_CPU_POLYNOMIALS_H

/* 2^(f + 64) for f in [0, 1], the coefficient of f^0 first. They give 2 for f = 1, so that numbers on both sides of an integer agree. */
static const float EXP2_RAISED[] = {0x1p+64f,        0x1.62e4c8p+63f, 0x1.ebd8a0p+61f,
                                    0x1.c94440p+59f, 0x1.269deep+57f, 0x1.eca6f0p+54f};

static const float LOG2_E = 0x1.715476p+0f;

/* log2(e) 2z = x (GELU_A + GELU_B x^2). With x in fp16 or bf16, x^2 is exact in fp32; with x in fp32 it is one rounding more. */
static const float GELU_A = 0x1.26aec2p+1f; /* log2(e) 2 sqrt(2/pi) */
static const float GELU_B = 0x1.a5a7d0p-4f; /* that times 0.044715 */

/* h = 3 (2z) - k x with k = 4 sqrt(2/pi) */
static const double GELU_BY_K = 0x1.40d931ff62706p-2; /* 1 / k */
static const float GELU_THREE_BY_K = 0x1.4d97c0p-1f;  /* 3 / (k log2(e)) */

/* 2^f for |f| <= 1/2; the kernel multiplies each by a factor and rounds. */
static const double GELU_EXP2[] = {1.0, 0x1.62e42ap-1, 0x1.ebf9c2p-3, 0x1.c6b6dap-5, 0x1.3ce8b2p-7, 0x1.5bd972p-10};

#endif
