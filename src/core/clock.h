/* Seconds on a clock that only goes forward. */
#ifndef TKI_CORE_CLOCK_H
#define TKI_CORE_CLOCK_H

#include <time.h>

static inline double tki_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
