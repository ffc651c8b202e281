/* CHOOSES. Trials of what goes together: structures, bytes that stay while sizes and options change, sizes with each other. */
#pragma once

#include "trials/shapes.h"

/* What its calls are beside drawn. */
typedef struct tki_together_how {
    bool sampled;  /* of its outputs some boxes are judged */
    bool brief;    /* there are two calls */
    int alignment; /* of all arrays; 0: drawn */
} tki_together_how;

typedef struct tki_together {
    tki_shape_class class;
    tk_level level;
    uint64_t seed;
    int first_number; /* of the trials, from which their seeds follow */
    void (*draw)(void *context, tk_case *c,
                 tki_random *random); /* other attributes; NULL: there are none, or they are given */
    void (*take)(void *context, const tk_case *c, int family, int number, const tki_together_how *how);
    void *context;
} tki_together;

void tki_together_give(const tki_together *what, const tk_case *like);
