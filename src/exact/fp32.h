/* DECIDES. The numbers of fp32 arithmetic with which bounds are written. */
#pragma once

/* u, the unit roundoff of fp32: every bound is written with it. */
#define TKI_U 0x1p-24
/* The smallest normal number; that of bf16 too. */
#define TKI_FP32_SMALLEST_NORMAL 0x1p-126
/* The smallest number, which truncation can lose, and half of it, which rounding can. */
#define TKI_FP32_SMALLEST 0x1p-149
#define TKI_FP32_UNDERFLOW 0x1p-150
/* Half way between the largest number and the next power of two: from here on rounding gives infinity. */
#define TKI_FP32_OVERFLOW (0x1p128 * (1 - 0x1p-25))
