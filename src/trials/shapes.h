/* CHOOSES. The shapes that ops are tried with: listed ones, and laws by which others are drawn. */
#pragma once

#include "core/random.h"
#include "tokitai_verify.h"

/* How a shape's numbers are to be read. */
typedef enum tki_shape_class {
    TKI_VECTOR,  /* n */
    TKI_ROWS,    /* rows, cols */
    TKI_PRODUCT, /* outer, outer, inner: the inner one is the size that the op sums over */
    TKI_LOOKUP,  /* queries, dim, vocab */
    TKI_GROUPED  /* outer, outer, inner, groups: as a product, of which one size is cut into groups */
} tki_shape_class;

enum { TKI_CLASS_SIZES = 4 }; /* most sizes of a class */

/* Which families a shape is tried with. */
typedef enum tki_breadth {
    TKI_TWO,     /* the main one and one of the others in turn */
    TKI_SEVERAL, /* and four of the others: one size, many inputs, for what is kept from one call to the next */
    TKI_VALUES,  /* the main one and those with values that a blocked path treats apart */
    TKI_HIGH,    /* the main one and indices beyond what a narrow counter holds */
    TKI_MAIN,    /* the main one, in which a wrong element shows at any shape */
    TKI_SPARSE,  /* a main one and `few`: for rows so long that a dense sum has no bound */
    TKI_PATTERN, /* each_pattern, where it applies */
    TKI_BEYOND,  /* `normal` where the memory allows it: more than 2^32 elements */
    TKI_EVERY    /* all */
} tki_breadth;

/* The number goes into the seeds of the shape's trials, so that it stays what it is, wherever the shape stands:
 * certificates name seeds. A new shape takes one from 200 on that its list has not had; from FIRST_TOUR on they
 * belong to drawn ones. */
typedef struct tki_shape {
    int number;
    tk_level level; /* from this level on */
    tki_breadth families;
    int64_t size[TKI_CLASS_SIZES];
} tki_shape;

/* Shapes with the families that are for them: where a mistake needs both. */
typedef struct tki_pairing {
    tki_shape_class class;
    int number; /* as that of a shape */
    tk_level level;
    int family;
    int64_t size[TKI_CLASS_SIZES];
} tki_pairing;

extern const tki_pairing tki_pairings[]; /* [tki_pairing_count] */
extern const int tki_pairing_count;

typedef struct tki_shape_list {
    tki_shape_class class;
    const tki_shape *shapes;
    int count;
} tki_shape_list;

/* Those that are listed for the op; none for one with more sizes than a class has. */
tki_shape_list tki_shapes_of(const tk_contract *contract);

/* Gives the sizes of a class to a case. */
void tki_shape_set(tk_case *c, tki_shape_class class, const int64_t *size);

static inline int64_t tki_below(tki_random *random, int64_t bound)
{
    return (int64_t)tki_random_below(random, (uint64_t)bound);
}

/* By a law that mixes what kernels treat apart. */
void tki_shape_within(tki_random *random, tki_shape_class class, int bits, double most_work, int64_t *size);

/* The i-th of a run of 32 shapes in which each size has each residue modulo 32 once. */
void tki_shape_residues(tki_random *random, tki_shape_class class, const int64_t *step, const int64_t *first, int i,
                        int bits, double most_work, int64_t *size);

/* Of moderate size, for a family: aligned or ragged, since the two are often different code. */
void tki_shape_for_family(tki_random *random, tki_shape_class class, bool aligned, int64_t larger, int64_t *size);
