/* DECIDES. What oracles and judge compute with: rounding to nearest, subnormal numbers as they are, no traps. The caller of the library may have
 * asked for something else, and a kernel that ran in this process may have left something else behind, in its own thread or in
 * one of OpenMP's. So the trusted code asks for it wherever it begins, in every thread, and puts back what it found. */
#pragma once

#include <fenv.h>

typedef struct tki_floats {
    fenv_t found;
} tki_floats;

static inline tki_floats tki_floats_begin(void)
{
    tki_floats floats;
    fegetenv(&floats.found);
    fesetenv(FE_DFL_ENV);
    return floats;
}

static inline void tki_floats_end(const tki_floats *floats)
{
    fesetenv(&floats->found);
}
