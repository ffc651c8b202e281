/* A kernel that brings a clock of its own, which stands still, for whoever is linked to this library. */
#include <time.h>
#include <unistd.h>

#include "tests/kernels/trick.h"

int clock_gettime(clockid_t clock, struct timespec *now);

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){1, 0};
    return 0;
}

static void clock_that_stands_still(void)
{
    usleep(2000);
    compute();
}
