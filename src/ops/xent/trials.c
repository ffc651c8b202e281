/* CHOOSES. Which values trials take of xent's attributes: those that users take, and those at which a kernel errs. */
#include "model/trial_hints.h"

#include <math.h>

#include "ops/xent/contract.h"

static int64_t below(tki_random *random, int64_t bound)
{
    return (int64_t)tki_random_below(random, (uint64_t)bound);
}

static float draw_smoothing(tki_random *random)
{
    int64_t kind = below(random, 8);
    double unit = tki_random_unit(random);
    switch (kind) {
    case 0: return 0.1f;
    case 1: return 1;
    case 2: return ldexpf(1, -4 - (int)below(random, 20));
    case 3: return (float)(unit / 2);
    case 4: return (float)(0.5 + unit / 2);
    default: return 0;
    }
}

/* The powers are what loss scaling takes: there fp16 shows what p - 1 in fp32 has lost, and overflows for p near 1. */
static float draw_scale(tki_random *random)
{
    int64_t kind = below(random, 12);
    double unit = tki_random_unit(random);
    switch (kind) {
    case 0:
    case 8: return 0;
    case 1: return (float)(-4 * unit);
    case 2: return ldexpf(1, -10 - (int)below(random, 30));
    case 3: return ldexpf(1, 10 + (int)below(random, 8));
    case 7: return ldexpf(unit < 0.5 ? 1 : -1, -100 - (int)below(random, 25)); /* subnormal gradients of bf16 */
    case 4: return (float)(1 / (double)(2 + below(random, 4096)));
    case 5: return (float)(unit < 0.5 ? 1000 * unit : -1000 * unit);
    case 6: return 0x1p16f;
    default: return 1;
    }
}

static int64_t draw_ignored(const tk_case *c, tki_random *random)
{
    const int64_t cols = c->dims[1];
    int64_t kind = below(random, 16);
    int64_t inside = cols > 0 ? below(random, cols) : 0;
    int64_t any = below(random, 1 << 16);
    /* Without columns every target is ignored. */
    if (cols == 0)
        return -100;
    switch (kind) {
    case 0: return -1;
    case 1: return -2 - any;
    case 2:
    case 3: return inside;
    case 4: return 0;
    case 5: return cols - 1;
    case 6: return cols;
    case 7: return 256 + any % 512;
    case 8: return (1 << 16) + any;
    case 9: return (INT64_C(1) << 32) + inside;
    case 10: return (INT64_C(1) << 32) - 100;
    case 11: return inside - (INT64_C(1) << 32);
    case 12: return INT64_MIN + any;
    default: return -100;
    }
}

static void draw(tk_case *c, const tk_draw *how, tki_random *random)
{
    static const float sharp_scales[] = {1, 0x1p16f, 0x1p16f, 0x1p-10f};
    float smoothing = draw_smoothing(random);
    float scale = draw_scale(random);
    c->attributes[TKI_XENT_IGNORE_INDEX].integer = draw_ignored(c, random);
    /* Without smoothing, and with a scale at which a gradient that has lost its bits shows. */
    if (how->sharp) {
        smoothing = 0;
        scale = sharp_scales[below(random, 4)];
    }
    /* Nothing times an infinite distance. */
    if (how->infinite)
        smoothing = 1;
    c->attributes[TKI_XENT_LABEL_SMOOTHING].real = (double)smoothing;
    c->attributes[TKI_XENT_SCALE].real = (double)scale;
}

enum { CONFIDENT = 4, FURTHER = 8 };

/* Smoothing so small that one minus it is rounded, where the target is all but certain: the gradient is what that rounding leaves. Then what
 * is left of it in double: without smoothing, with a scale that brings what is lost at distances beyond 37 into each format; smoothing below
 * 2^-48, with a scale that brings a share of it near one. */
static void faint_smoothing(tk_case *c, int i, tki_random *random)
{
    static const int64_t sizes[FURTHER][2] = {{20, 1},   {12, 33}, {7, 257}, {5, 1024},
                                              {4096, 2}, {320, 2}, {160, 3}, {320, 2}};
    static const double smoothings[FURTHER - CONFIDENT] = {0, 0x1p-50, 0, 0},
                                             scales[FURTHER - CONFIDENT] = {0x1p58, 0x1p52, -0x1p64, 1};
    const double unit = tki_random_unit(random);
    c->dims[0] = sizes[i][0];
    c->dims[1] = sizes[i][1];
    c->attributes[TKI_XENT_LABEL_SMOOTHING].real = (double)(float)ldexp(1 + unit, -12 - 2 * (int)below(random, 5));
    c->attributes[TKI_XENT_SCALE].real = i % 2 ? 0x1p16 : 1;
    if (i < CONFIDENT)
        return;
    const int faint = 24 + (int)below(random, 44), larger = (int)below(random, 10) - 4;
    c->attributes[TKI_XENT_LABEL_SMOOTHING].real = i == FURTHER - 1 ? (double)(float)ldexp(1 + unit, -faint)
                                                                    : smoothings[i - CONFIDENT];
    c->attributes[TKI_XENT_SCALE].real = i == FURTHER - 1 ? ldexp(1, faint + larger) : scales[i - CONFIDENT];
}

/* No smoothing, some, and nothing else; a scale of one, of less, and of nothing; rows of the first class left out. */
static const struct {
    double smoothing, scale;
    int64_t ignored;
} sets[] = {{0, 1, -100}, {1, 0x1p-10, -100}, {0.125, 0, 0}};

static void set(tk_case *c, int i)
{
    c->attributes[TKI_XENT_LABEL_SMOOTHING].real = sets[i].smoothing;
    c->attributes[TKI_XENT_SCALE].real = sets[i].scale;
    c->attributes[TKI_XENT_IGNORE_INDEX].integer = sets[i].ignored;
}

const tki_trial_hints tki_xent_hints = {.draw = draw,
                                        .further_count = FURTHER,
                                        .further = faint_smoothing,
                                        .swept = CONFIDENT,
                                        .set_count = sizeof sets / sizeof *sets,
                                        .set = set};
