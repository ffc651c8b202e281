/* TRUSTED. The trials of each level: shapes that stand in a list, shapes that are drawn by a law, and a tour through all families. All of it
 * follows from seed, level, op and types. */
#include "verify/cases.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/domain.h"
#include "model/case.h"
#include "verify/families.h"
#include "verify/registry.h"
#include "verify/settings.h"

/* How a shape's numbers are to be read. */
typedef enum shape_class {
    VECTOR,  /* n */
    ROWS,    /* rows, cols */
    PRODUCT, /* outer, outer, inner: the inner one is the size that the op sums over */
    LOOKUP   /* queries, dim, vocab */
} shape_class;

enum { CLASS_SIZES = 3 }; /* most sizes of a class */

/* Which families a shape is tried with. */
typedef enum breadth {
    TWO,     /* the main one and one of the others in turn */
    SEVERAL, /* and four of the others: one size, many inputs, for what is kept from one call to the next */
    VALUES, /* the main one and those with values that a blocked path treats apart: for sizes at which there is one */
    HIGH,   /* the main one and indices beyond what a narrow counter holds */
    MAIN,   /* the main one, in which a wrong element shows at any shape */
    SPARSE, /* a main one and `few`: for rows so long that a dense sum has no bound */
    PATTERN, /* each_pattern, where it applies */
    BEYOND,  /* `normal` where the memory allows it: more than 2^32 elements */
    EVERY    /* all */
} breadth;

/* The number goes into the seeds of the shape's trials, so that it stays what it is, wherever the shape stands: certificates name
 * seeds. A new shape takes one from 200 on that its list has not had; from FIRST_TOUR on they belong to drawn ones. */
typedef struct shape {
    int number;
    tk_level level; /* from this level on */
    breadth families;
    int64_t size[CLASS_SIZES];
} shape;

enum { FIRST_TOUR = 1000, FIRST_DRAWN = 2000, FULL_OFFSET = 2000 };

/* Families that take turns at the shapes of a list and have tours of their own. What came later has its shapes in pairings[], so that the
 * trials that certificates name stay what they are. */
enum { FAMILIES_IN_TURN = TKI_FAMILY_ONE_SIGN };

#define Q TK_QUICK
#define F TK_FULL

static const shape vector_shapes[] = {
    {0, Q, MAIN, {0}},
    {1, Q, SEVERAL, {1}},
    {2, Q, TWO, {2}},
    {3, Q, TWO, {3}},
    {4, Q, TWO, {7}},
    {200, Q, TWO, {8}},
    {5, Q, TWO, {15}},
    {6, Q, TWO, {16}},
    {7, Q, TWO, {17}},
    {8, Q, TWO, {31}},
    {201, Q, TWO, {32}},
    {9, Q, TWO, {33}},
    {10, Q, TWO, {64}},
    {202, Q, TWO, {96}},
    {203, Q, TWO, {128}},
    {11, Q, TWO, {255}},
    {12, Q, TWO, {256}},
    {13, Q, TWO, {257}},
    {204, Q, TWO, {512}},
    {205, Q, TWO, {768}},
    {206, Q, TWO, {1000}},
    {14, Q, TWO, {1021}},
    {207, Q, TWO, {1024}},
    {208, Q, TWO, {2048}},
    {209, Q, TWO, {4096}},
    {15, Q, TWO, {4099}},
    {210, Q, TWO, {8192}},
    {211, Q, MAIN, {10007}},
    {16, Q, TWO, {16384}},
    {212, Q, MAIN, {32768}},
    {17, Q, MAIN, {65537}},
    {213, Q, PATTERN, {65536 + 43}},
    {250, Q, MAIN, {(1 << 20) + 23}},
    {214, Q, MAIN, {131072}},
    {18, F, TWO, {(1 << 18) + 1}},
    {215, F, TWO, {1 << 20}},
    {19, F, TWO, {(1 << 22) + 3}},
    {216, F, MAIN, {(1 << 24) + 21}},
    {217, F, BEYOND, {(INT64_C(1) << 32) + 37}},
};

static const shape row_shapes[] = {
    {0, Q, MAIN, {0, 5}},
    {1, Q, MAIN, {5, 0}},
    {2, Q, SEVERAL, {1, 1}},
    {3, Q, TWO, {1, 2}},
    {4, Q, TWO, {3, 1}},
    {5, Q, TWO, {2, 3}},
    {200, Q, TWO, {4, 8}},
    {6, Q, TWO, {5, 15}},
    {7, Q, TWO, {5, 16}},
    {8, Q, TWO, {5, 17}},
    {201, Q, TWO, {8, 32}},
    {9, Q, TWO, {13, 33}},
    {202, Q, TWO, {16, 64}},
    {203, Q, TWO, {64, 64}},
    {204, Q, TWO, {32, 128}},
    {10, Q, TWO, {4, 255}},
    {11, Q, TWO, {4, 256}},
    {12, Q, TWO, {24, 257}},
    {205, Q, TWO, {3, 512}},
    {206, Q, TWO, {3, 768}},
    {207, Q, TWO, {3, 1000}},
    {14, Q, TWO, {7, 1023}},
    {208, Q, TWO, {4, 1024}},
    {15, Q, TWO, {6, 1025}},
    {209, Q, MAIN, {2, 1536}},
    {250, Q, VALUES, {9, 1101}},
    {210, Q, TWO, {3, 2048}},
    {211, Q, MAIN, {3, 2049}},
    {212, Q, MAIN, {2, 3072}},
    {213, Q, TWO, {2, 4096}},
    {214, Q, SPARSE, {3, 4099}},
    {16, Q, SPARSE, {2, 8191}},
    {215, Q, MAIN, {2, 8193}},
    {236, Q, SPARSE, {2, 8192}},
    {216, Q, SPARSE, {1, 16384}},
    {17, Q, SPARSE, {1, 32000}},
    {217, Q, SPARSE, {1, 65536 + 19}},
    {237, Q, MAIN, {1, 65536 + 35}}, /* dense: an odd number's main family is `normal` */
    {13, Q, TWO, {1000, 2}},
    {218, Q, MAIN, {1025, 5}},
    {219, Q, MAIN, {2049, 3}},
    {220, Q, MAIN, {4099, 2}},
    {221, Q, MAIN, {65536 + 37, 1}},
    /* Many rows that are not narrow. */
    {228, Q, MAIN, {130, 131}},
    {229, Q, MAIN, {300, 40}},
    {230, Q, MAIN, {12, 1100}},
    {231, Q, MAIN, {16, 1024}},
    {232, Q, MAIN, {70, 1000}},
    {233, Q, MAIN, {9, 384}},
    {234, Q, MAIN, {11, 100}},
    {235, Q, MAIN, {5, 10}},
    {18, F, TWO, {65, 4097}},
    {222, F, TWO, {128, 4096}},
    {19, F, TWO, {70001, 3}},
    {20, F, TWO, {64, 32000}},
    {21, F, SPARSE, {3, 128256}},
    {223, F, MAIN, {2, 1 << 17}},
    {22, F, SPARSE, {1, 1 << 20}},
    {224, F, MAIN, {4099, 4097}},
    {225, F, SPARSE, {1, (1 << 24) + 21}},
    {226, F, MAIN, {(1 << 24) + 21, 1}},
    {227, F, BEYOND, {(1 << 16) + 1, (1 << 16) + 3}},
};

static const shape product_shapes[] = {
    {0, Q, MAIN, {0, 3, 4}},
    {1, Q, MAIN, {3, 0, 4}},
    {2, Q, TWO, {3, 4, 0}},
    {3, Q, SEVERAL, {1, 1, 1}},
    {4, Q, TWO, {1, 1, 2}},
    {5, Q, TWO, {1, 1, 300}},
    {6, Q, TWO, {2, 3, 5}},
    {7, Q, TWO, {7, 5, 3}},
    /* Aligned in all three, and squares of each pair. */
    {200, Q, TWO, {8, 8, 8}},
    {201, Q, TWO, {16, 16, 16}},
    {202, Q, TWO, {16, 8, 32}},
    {203, Q, TWO, {32, 32, 32}},
    {204, Q, TWO, {48, 32, 16}},
    {205, Q, TWO, {16, 64, 128}},
    {206, Q, MAIN, {64, 64, 64}},
    {207, Q, MAIN, {96, 96, 96}},
    {208, Q, MAIN, {64, 32, 256}},
    {209, Q, MAIN, {128, 64, 32}},
    {210, Q, MAIN, {128, 128, 64}},
    {211, Q, MAIN, {32, 128, 128}},
    {212, Q, MAIN, {128, 32, 128}},
    {213, Q, MAIN, {128, 128, 128}},
    {214, Q, MAIN, {256, 128, 32}},
    {215, Q, MAIN, {128, 256, 32}},
    {216, Q, MAIN, {192, 64, 48}},
    {217, Q, MAIN, {16, 48, 512}},
    {218, Q, MAIN, {16, 16, 1024}},
    {250, Q, TWO, {8, 64, 512}},
    {251, Q, TWO, {64, 8, 512}},
    {252, Q, MAIN, {4, 128, 768}},
    {253, Q, VALUES, {64, 64, 96}},
    {254, Q, VALUES, {20, 12, 300}},
    {255, Q, VALUES, {9, 33, 557}},
    {219, Q, MAIN, {8, 8, 4096}},
    {220, Q, TWO, {17, 40, 40}},
    {221, Q, TWO, {40, 17, 40}},
    {222, Q, TWO, {40, 40, 17}},
    {223, Q, TWO, {33, 33, 33}},
    {224, Q, MAIN, {48, 16, 48}},
    {225, Q, MAIN, {16, 48, 48}},
    {226, Q, MAIN, {48, 48, 16}},
    {227, Q, MAIN, {65, 65, 65}},
    {8, Q, TWO, {15, 17, 16}},
    {9, Q, TWO, {16, 16, 17}},
    {10, Q, TWO, {13, 11, 37}},
    {11, Q, MAIN, {31, 33, 64}},
    {12, Q, MAIN, {63, 65, 64}},
    {13, Q, MAIN, {64, 64, 63}},
    {14, Q, MAIN, {65, 64, 65}},
    {228, Q, MAIN, {129, 127, 33}},
    {15, Q, TWO, {1, 129, 70}},
    {16, Q, TWO, {130, 1, 64}},
    {229, Q, MAIN, {1, 256, 128}},
    {230, Q, MAIN, {256, 1, 128}},
    {231, Q, MAIN, {64, 128, 1}},
    {17, Q, TWO, {24, 20, 513}},
    {18, Q, TWO, {5, 7, 4099}},
    {232, Q, MAIN, {3, 5, 8192}},
    {233, Q, MAIN, {2, 3, 65536 + 19}},
    {234, Q, MAIN, {65536 + 37, 1, 3}},
    {235, Q, MAIN, {1, 65536 + 23, 2}},
    {236, Q, MAIN, {1025, 7, 9}},
    {237, Q, MAIN, {6, 1030, 11}},
    {238, Q, MAIN, {2051, 3, 5}},
    {239, Q, MAIN, {4, 2050, 3}},
    {240, Q, MAIN, {4100, 2, 4}},
    {241, Q, MAIN, {2, 4099, 6}},
    /* Two sizes large, ragged or as models have them. */
    {250, Q, MAIN, {150, 140, 50}},
    {251, Q, MAIN, {70, 66, 270}},
    {252, Q, MAIN, {260, 72, 40}},
    {253, Q, MAIN, {72, 260, 40}},
    {254, Q, MAIN, {2, 520, 530}},
    {255, Q, MAIN, {520, 2, 530}},
    {256, Q, MAIN, {260, 250, 2}},
    {257, Q, MAIN, {1024, 8, 64}},
    {258, Q, MAIN, {8, 1024, 64}},
    {259, Q, MAIN, {512, 4, 256}},
    {260, Q, MAIN, {4, 512, 256}},
    {261, Q, MAIN, {768, 3, 100}},
    {262, Q, MAIN, {3, 768, 100}},
    {263, Q, MAIN, {1000, 3, 10}},
    {264, Q, MAIN, {3, 1000, 10}},
    {265, Q, MAIN, {4, 8, 768}},
    {266, Q, MAIN, {5, 4, 1000}},
    {19, F, MAIN, {257, 255, 256}},
    {20, F, TWO, {65, 63, 1025}},
    {21, F, TWO, {1000, 777, 333}},
    {22, F, TWO, {257, 255, 4099}},
    {23, F, TWO, {2304, 2048, 16}},
    {242, F, TWO, {256, 256, 256}},
    {243, F, TWO, {512, 384, 768}},
    {100, F, TWO, {70001, 3, 5}},
    {101, F, TWO, {3, 70001, 5}},
    {102, F, SPARSE, {5, 3, 128256}},
    {24, F, MAIN, {1024, 1024, 1024}},
    {244, F, MAIN, {4099, 4097, 3}},
    {245, F, MAIN, {(1 << 24) + 21, 1, 1}},
    {246, F, MAIN, {1, (1 << 24) + 21, 1}},
    {247, F, SPARSE, {1, 1, (1 << 24) + 21}},
    {248, F, BEYOND, {(1 << 16) + 1, 1, (1 << 16) + 3}},
    {249, F, BEYOND, {(1 << 16) + 1, (1 << 16) + 3, 1}},
    {300, F, BEYOND, {(1 << 20) + 3, 1, 1 << 10}}, /* more bytes than an int counts */
};

static const shape lookup_shapes[] = {
    {0, Q, MAIN, {0, 4, 5}},
    {1, Q, MAIN, {3, 0, 5}},
    {2, Q, SEVERAL, {1, 1, 1}},
    {3, Q, TWO, {2, 3, 1}},
    {4, Q, TWO, {5, 3, 2}},
    {5, Q, TWO, {63, 7, 1}},
    {6, Q, TWO, {64, 7, 1}},
    {7, Q, TWO, {65, 7, 1}},
    {8, Q, TWO, {129, 5, 1}},
    {200, Q, TWO, {32, 8, 16}},
    {201, Q, TWO, {128, 16, 128}},
    {9, Q, TWO, {300, 5, 7}},
    {10, Q, TWO, {5, 129, 1000}},
    {11, Q, TWO, {129, 17, 64}},
    {12, Q, TWO, {1000, 3, 2}},
    {202, Q, TWO, {64, 32, 256}},
    {104, Q, TWO, {64, 64, 50}},
    {105, Q, TWO, {37, 66, 300}},
    {203, Q, TWO, {64, 64, 64}},
    {204, Q, TWO, {40, 40, 17}},
    {205, Q, TWO, {17, 40, 40}},
    {206, Q, TWO, {40, 17, 40}},
    {207, Q, TWO, {24, 128, 32}},
    {227, Q, MAIN, {128, 128, 128}},
    {208, Q, MAIN, {16, 256, 30}},
    {209, Q, MAIN, {9, 512, 20}},
    {210, Q, MAIN, {7, 768, 16}},
    {211, Q, MAIN, {8, 1024, 8}},
    {212, Q, MAIN, {3, 4096, 4}},
    {213, Q, MAIN, {4, 2049, 3}},
    {214, Q, MAIN, {2, 8197, 2}},
    {14, Q, TWO, {4097, 2, 3}},
    {215, Q, MAIN, {2048, 4, 1024}},
    {216, Q, MAIN, {1025, 3, 2050}},
    {217, Q, MAIN, {8200, 2, 500}},
    {218, Q, HIGH, {100, 2, 32768 + 300}},
    {13, Q, HIGH, {200, 1, 66001}},
    {250, Q, HIGH, {300, 1, (1 << 20) + 300}},
    {251, Q, SEVERAL, {3000, 1, 2500}},
    {219, Q, MAIN, {65536 + 41, 1, 1}},
    {220, Q, MAIN, {65536 + 57, 1, 20}},
    {221, Q, MAIN, {1, 65536 + 19, 2}},
    {228, Q, MAIN, {300, 72, 50}},
    {229, Q, MAIN, {270, 400, 12}},
    {230, Q, MAIN, {2100, 4, 100}},
    {231, Q, MAIN, {512, 100, 64}},
    {232, Q, MAIN, {24, 384, 40}},
    {233, Q, MAIN, {30, 300, 25}},
    {106, F, TWO, {5, 2048, 4096}},
    {107, F, TWO, {60, 16, 4096}},
    {15, F, TWO, {2049, 64, 257}},
    {100, F, TWO, {70001, 3, 5}},
    {222, F, MAIN, {200003, 2, 1}},
    {101, F, TWO, {7, 8193, 11}},
    {102, F, TWO, {3, 70001, 5}},
    {103, F, HIGH, {5000, 3, 262147}},
    {16, F, TWO, {8192, 256, 8000}},
    {17, F, TWO, {32768, 64, 50304}},
    {223, F, HIGH, {5000, 1, (1 << 24) + 4099}},
    {224, F, MAIN, {(1 << 24) + 21, 1, 3}},
    {225, F, MAIN, {3, (1 << 24) + 21, 2}},
    {226, F, BEYOND, {300, (1 << 10) + 1, 1 << 22}},
    {300, F, BEYOND, {300, 1 << 10, (1 << 20) + 5}}, /* more bytes than an int counts */
};

/* Shapes with the families that are for them: where a mistake needs both. */
typedef struct pairing {
    shape_class class;
    int number; /* as that of a shape */
    tk_level level;
    int family;
    int64_t size[CLASS_SIZES];
} pairing;

static const pairing pairings[] = {
    {VECTOR, 300, Q, TKI_FAMILY_SPECIAL_PARTNERS, {65536 + 29}},
    /* Short: every element is near an end, where another code may have it. */
    {VECTOR, 303, Q, TKI_FAMILY_NEAREST_TIES, {13}},
    {VECTOR, 304, Q, TKI_FAMILY_NEAREST_TIES, {24}},
    {VECTOR, 305, Q, TKI_FAMILY_NEAREST_TIES, {31}},
    {VECTOR, 306, Q, TKI_FAMILY_NEAREST_TIES, {45}},
    {VECTOR, 307, Q, TKI_FAMILY_NEAREST_TIES, {70}},
    {VECTOR, 301, F, TKI_FAMILY_SPECIAL_PARTNERS, {(1 << 19) + 7}},
    /* Exactly what 16 bits cannot count, and rows so long that what is small counts by its number. */
    {ROWS, 302, Q, TKI_FAMILY_NORMAL, {1, 65536}},
    {ROWS, 319, Q, TKI_FAMILY_NORMAL, {(1 << 17) + 11, 1}},
    {ROWS, 303, Q, TKI_FAMILY_PLATEAU, {3, 65536}},
    {ROWS, 304, Q, TKI_FAMILY_CROWD, {3, 4111}},
    {ROWS, 305, Q, TKI_FAMILY_CROWD, {3, 65536 + 51}},
    {ROWS, 306, Q, TKI_FAMILY_TAIL, {9, 1031}},
    {ROWS, 307, Q, TKI_FAMILY_TAIL, {4, 33013}},
    {ROWS, 308, Q, TKI_FAMILY_TAIL, {2, 70001}},
    {ROWS, 309, Q, TKI_FAMILY_ZERO_NAN, {40, 70}},
    {ROWS, 310, F, TKI_FAMILY_CROWD, {4, 1 << 19}},
    {ROWS, 311, F, TKI_FAMILY_TAIL, {24, 131071}},
    {ROWS, 312, F, TKI_FAMILY_ORDER, {4, 1 << 20}},
    {ROWS, 313, Q, TKI_FAMILY_ORDER, {5, 8200}},
    {ROWS, 314, Q, TKI_FAMILY_ORDER, {2, 70003}},
    {ROWS, 315, Q, TKI_FAMILY_SCALED_LINES, {40, 67}},
    {ROWS, 316, Q, TKI_FAMILY_ONE_SIGN, {6, 2100}},
    {ROWS, 317, Q, TKI_FAMILY_FAR_APART, {30, 65}},
    {ROWS, 318, Q, TKI_FAMILY_SMALL_TIES, {30, 40}},
    {PRODUCT, 320, Q, TKI_FAMILY_ONE_SIGN, {4, 5, 2048}},
    {PRODUCT, 321, Q, TKI_FAMILY_ONE_SIGN, {3, 4, 16400}},
    {PRODUCT, 322, Q, TKI_FAMILY_FAR_APART, {32, 16, 64}},
    {PRODUCT, 323, Q, TKI_FAMILY_FAR_APART, {19, 37, 53}},
    {PRODUCT, 324, Q, TKI_FAMILY_ZERO_NAN, {64, 32, 64}},
    {PRODUCT, 325, Q, TKI_FAMILY_ZERO_NAN, {13, 41, 29}},
    {PRODUCT, 326, Q, TKI_FAMILY_SMALL_TIES, {32, 16, 32}},
    {PRODUCT, 327, Q, TKI_FAMILY_SMALL_TIES, {21, 9, 35}},
    {PRODUCT, 328, Q, TKI_FAMILY_TAIL, {4, 6, 2051}},
    {PRODUCT, 329, Q, TKI_FAMILY_TAIL, {3, 5, 40009}},
    /* Few outputs, long sums: which bits come out depends on how they are cut into parts. */
    {PRODUCT, 330, Q, TKI_FAMILY_ORDER, {8, 8, 2048}},
    {PRODUCT, 331, Q, TKI_FAMILY_ORDER, {3, 40, 4100}},
    {PRODUCT, 338, Q, TKI_FAMILY_ORDER, {33, 20, 300}},
    {PRODUCT, 332, Q, TKI_FAMILY_SCALED_LINES, {256, 256, 256}},
    {PRODUCT, 339, Q, TKI_FAMILY_SCALED_LINES, {50, 30, 70}},
    {PRODUCT, 333, Q, TKI_FAMILY_EXACT, {520, 524, 2}},
    {PRODUCT, 334, Q, TKI_FAMILY_EXACT, {512, 512, 3}},
    {PRODUCT, 335, F, TKI_FAMILY_SCALED_LINES, {512, 512, 512}},
    {PRODUCT, 336, F, TKI_FAMILY_ONE_SIGN, {5, 3, 1 << 18}},
    {PRODUCT, 337, F, TKI_FAMILY_ORDER, {4, 4, 65536}},
    {PRODUCT, 360, Q, TKI_FAMILY_EXACT, {24, 20, 192}},
    {PRODUCT, 361, Q, TKI_FAMILY_EXACT, {20, 24, 384}},
    {PRODUCT, 362, Q, TKI_FAMILY_EXACT, {24, 192, 20}},
    /* What models have: three times a power of two, five times. */
    {ROWS, 370, Q, TKI_FAMILY_NORMAL, {5, 48}},
    {ROWS, 371, Q, TKI_FAMILY_NORMAL, {5, 96}},
    {ROWS, 372, Q, TKI_FAMILY_NORMAL, {5, 160}},
    {ROWS, 373, Q, TKI_FAMILY_NORMAL, {5, 192}},
    {ROWS, 374, Q, TKI_FAMILY_NORMAL, {4, 320}},
    {ROWS, 375, Q, TKI_FAMILY_NORMAL, {4, 640}},
    {LOOKUP, 380, Q, TKI_FAMILY_NORMAL, {30, 48, 20}},
    {LOOKUP, 381, Q, TKI_FAMILY_NORMAL, {30, 80, 20}},
    {LOOKUP, 382, Q, TKI_FAMILY_NORMAL, {30, 96, 20}},
    {LOOKUP, 383, Q, TKI_FAMILY_NORMAL, {30, 160, 20}},
    {LOOKUP, 384, Q, TKI_FAMILY_NORMAL, {30, 192, 20}},
    {LOOKUP, 385, Q, TKI_FAMILY_NORMAL, {20, 320, 12}},
    {LOOKUP, 386, Q, TKI_FAMILY_NORMAL, {20, 640, 12}},
    {LOOKUP, 340, Q, TKI_FAMILY_NORMAL, {(1 << 20) + 77, 1, 5}},
    {LOOKUP, 341, Q, TKI_FAMILY_ONE_SIGN, {5000, 3, 2}},
    {LOOKUP, 342, Q, TKI_FAMILY_TAIL, {3000, 5, 4}},
    {LOOKUP, 344, Q, TKI_FAMILY_ORDER, {4000, 3, 3}},
    {LOOKUP, 345, Q, TKI_FAMILY_FAR_APART, {600, 8, 9}},
    {LOOKUP, 346, Q, TKI_FAMILY_ZERO_NAN, {500, 6, 7}},
    {LOOKUP, 347, Q, TKI_FAMILY_SMALL_TIES, {200, 5, 30}},
    {LOOKUP, 348, Q, TKI_FAMILY_SCALED_LINES, {400, 6, 11}},
    {LOOKUP, 343, F, TKI_FAMILY_ONE_SIGN, {200003, 1, 1}},
};

#undef Q
#undef F

typedef struct shape_list {
    shape_class class;
    const shape *shapes;
    int count;
} shape_list;

#define LIST(class, array) ((shape_list){class, array, (int)(sizeof(array) / sizeof *(array))})

static shape_list shapes_of(const tk_contract *contract)
{
    if (contract->dim_count == 1)
        return LIST(VECTOR, vector_shapes);
    if (contract->dim_count == 2)
        return LIST(ROWS, row_shapes);
    return tk_contract_takes_index(contract) ? LIST(LOOKUP, lookup_shapes) : LIST(PRODUCT, product_shapes);
}

/* The size that the op sums over. */
static int inner_dim(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].inner_axis >= 0)
            return contract->params[p].dim[contract->params[p].inner_axis];
    return contract->dim_count - 1;
}

static void set_dims(tk_case *c, shape_class class, const int64_t *size)
{
    int inner = inner_dim(c->contract);
    int outer = 0;
    for (int d = 0; d < c->contract->dim_count; d++) {
        if (class == PRODUCT)
            c->dims[d] = d == inner ? size[2] : size[outer++];
        else
            c->dims[d] = size[d];
    }
}

/* -- Drawn shapes ------------------------------------------------------------------------------------------------------- */

static int64_t below(tki_random *random, int64_t bound)
{
    return (int64_t)tki_random_below(random, (uint64_t)bound);
}

/* Every order of magnitude up to `bits` bits is as likely as another. */
static int64_t any_magnitude(tki_random *random, int bits)
{
    int64_t power = INT64_C(1) << below(random, bits);
    return power + below(random, power);
}

/* What a shape may cost: multiplications of a product, elements read or written otherwise. */
static double work_of(shape_class class, const int64_t *size)
{
    double s[3] = {(double)size[0], (double)size[1], (double)size[2]};
    switch (class) {
    case VECTOR: return s[0];
    case ROWS: return s[0] * s[1];
    case LOOKUP: return fmax(s[0], s[2]) * s[1];
    case PRODUCT: return fmax(fmax(s[0] * s[1], fmax(s[0], s[1]) * s[2]), s[0] * s[1] * s[2] / 64);
    }
    return 0;
}

static int dims_of(shape_class class)
{
    return class == VECTOR ? 1 : class == ROWS ? 2 : 3;
}

/* A statement for each draw: within an expression compilers choose the order. */
static int64_t draw_size(tki_random *random, int bits)
{
    static const int64_t multiples[] = {8, 16, 32, 64, 96, 128, 192, 256};
    const int64_t kind = below(random, 8);
    const int64_t multiple = multiples[below(random, 8)];
    const int64_t power = INT64_C(1) << below(random, bits);
    const int64_t beside = below(random, 2) ? 1 : -1;
    const int64_t times = 1 + below(random, 6);
    switch (kind) {
    case 0:
    case 1: return multiple * times;
    case 2: return power;
    case 3: return power + beside;
    case 4: return 1 + below(random, 4);
    default: return any_magnitude(random, bits);
    }
}

/* A mixture of what kernels treat apart: sizes that are drawn one by one, multiples of one tile, equal sizes, one large size among tiny
 * ones. */
static void draw_by_law(tki_random *random, shape_class class, int bits, int64_t *size)
{
    static const int64_t tiles[] = {8, 16, 32, 64, 128};
    const int dims = dims_of(class);
    int64_t kind = dims == 1 ? 0 : below(random, 6);
    int64_t tile = tiles[below(random, 5)];
    for (int d = 0; d < dims; d++)
        size[d] = kind == 0   ? tile * (1 + below(random, 8))
                  : kind == 1 ? 1 + below(random, 4)
                              : draw_size(random, bits);
    if (dims == 1 && below(random, 4))
        size[0] = draw_size(random, bits);
    int64_t one = below(random, dims);
    const int64_t power = INT64_C(1) << below(random, 17);
    const int64_t beside = below(random, 3) - 1;
    if (kind == 1)
        size[one] = below(random, 2) ? any_magnitude(random, 16) : power + beside;
    if (kind == 2)
        size[one] = size[(one + 1) % dims];
    for (int d = 0; d < dims; d++)
        size[d] = size[d] < 1 ? 1 : size[d];
}

static void draw_within(tki_random *random, shape_class class, int bits, double most_work, int64_t *size)
{
    do
        draw_by_law(random, class, bits, size);
    while (work_of(class, size) > most_work);
}

/* The i-th of a run of 32 shapes in which each size has each residue modulo 32 once. */
static void draw_residues(tki_random *random, shape_class class, const int64_t *step, const int64_t *first, int i,
                          int bits, double most_work, int64_t *size)
{
    do
        for (int d = 0; d < dims_of(class); d++) {
            int64_t residue = (first[d] + step[d] * i) % 32;
            int64_t whole = below(random, 3) ? any_magnitude(random, bits) : 0;
            size[d] = residue + 32 * whole;
            if (size[d] == 0)
                size[d] = 32;
        }
    while (work_of(class, size) > most_work);
}

/* Of moderate size, for a family: aligned or ragged, since the two are often different code. */
static void draw_for_family(tki_random *random, shape_class class, bool aligned, int64_t larger, int64_t *size)
{
    static const int64_t widths[] = {32, 64, 96, 128, 192, 256, 512, 768, 1024};
    switch (class) {
    case VECTOR: size[0] = larger * (aligned ? 256 * (1 + below(random, 12)) : 33 + below(random, 3000)); return;
    case ROWS:
        size[0] = 2 + below(random, 7 * larger);
        size[1] = aligned ? widths[below(random, 9)] : 3 + below(random, below(random, 2) ? 1100 : 90);
        return;
    case PRODUCT:
        size[0] = aligned ? 16 * (1 + below(random, 3 * larger)) : 3 + below(random, 30 * larger);
        size[1] = aligned ? 16 * (1 + below(random, 3 * larger)) : 3 + below(random, 30 * larger);
        size[2] = aligned ? 32 * (1 + below(random, 5 * larger)) : 3 + below(random, 300 * larger);
        return;
    case LOOKUP:
        size[0] = aligned ? 64 * (1 + below(random, 7 * larger)) : 2 + below(random, 600 * larger);
        size[1] = aligned ? 8 * (1 + below(random, 4)) : 1 + below(random, 30);
        size[2] = aligned ? 16 * (1 + below(random, 20)) : 1 + below(random, below(random, 2) ? 5 : 300);
        return;
    }
}

/* -- Drawn attributes --------------------------------------------------------------------------------------------------- */

/* Any of the contract's values, or the default. */
static void draw_attributes(tk_case *c, tki_random *random)
{
    for (int i = 0; i < c->contract->attribute_count; i++) {
        const tk_attribute *attribute = &c->contract->attributes[i];
        if (!attribute->seen_by_kernel)
            continue;
        const bool choice = attribute->type == TK_ATTRIBUTE_CHOICE;
        const int64_t drawn = below(random, choice ? attribute->choice_count : attribute->tried_count + 1);
        if (choice)
            c->attributes[i].integer = drawn;
        else
            c->attributes[i] = drawn < attribute->tried_count ? attribute->tried[drawn] : attribute->initial;
    }
}

/* -- The list ----------------------------------------------------------------------------------------------------------- */

enum { CHUNK = 1 << 18, OPTION_STREAM = 64 };

/* What is being made, and from what. */
typedef struct making {
    const tk_contract *contract;
    const tk_certify_options *options;
    tki_trial trial; /* with the types set */
    shape_class class;
    tki_trials *trials;
    int64_t capacity;
    bool good;
    bool draws;                      /* the attributes that kernels see; else they are given, or there are none */
    const tki_attribute_trials *own; /* how the op draws them; NULL: from the contract's values */
    bool sharp;                      /* attributes that let a mistake show, rather than any */
    int turn;                        /* of the families beside the main ones */
} making;

static bool add(making *m, const tki_trial *trial)
{
    tki_trials *trials = m->trials;
    if (trials->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 256;
        tki_trial *larger = realloc(trials->list, (size_t)m->capacity * sizeof *larger);
        if (!larger) {
            m->good = false;
            return false;
        }
        trials->list = larger;
    }
    trials->list[trials->count++] = *trial;
    return true;
}

/* How many sets of options each family is tried with at a shape that was asked for. */
enum { ASKED_FOR_OPTIONS = 4 };

static void add_family(making *m, int number, int family)
{
    /* The loss of a plateau is sharpest without smoothing, and so is the gradient of what is confident. */
    const bool sharp = m->sharp || (family == TKI_FAMILY_PLATEAU && number % 4 == 0) ||
                       (family == TKI_FAMILY_CONFIDENT && number % 3);
    const tk_certify_options *options = m->options;
    if (options->family && strcmp(options->family, tk_family_at(family, NULL)) != 0)
        return;
    tki_trial trial = m->trial;
    trial.family = family;
    trial.seed = options->dims ? options->seed : options->seed + (uint64_t)number * 1000;
    const bool drawn = m->draws;
    const int sets = drawn && options->dims ? ASKED_FOR_OPTIONS : 1;
    /* Nothing times an infinite distance. */
    const tki_draw how = {sharp, family == TKI_FAMILY_MINUS_INF && !sharp && number / FAMILIES_IN_TURN % 2};
    tki_random random = tki_random_stream(trial.seed, OPTION_STREAM + (uint64_t)family);
    for (int i = 0; i < sets; i++) {
        if (drawn && m->own)
            m->own->draw(&trial.c, &how, &random);
        else if (drawn)
            draw_attributes(&trial.c, &random);
        if (drawn && options->dims && i == 0)
            memcpy(trial.c.attributes, m->trial.c.attributes, sizeof trial.c.attributes);
        if (!add(m, &trial))
            return;
    }
}

/* The next of the families in turn that is not `other`. */
static int family_in_turn(making *m, int other)
{
    int family = other;
    while (family == other || !tk_family_applies(family, m->contract))
        family = m->turn++ % FAMILIES_IN_TURN;
    return family;
}

static void add_shape(making *m, int number, breadth families)
{
    const bool restricted = m->options->family != NULL;
    /* Not the one that comes beside it. */
    int first = tki_family_main(m->contract, families == HIGH ? 0 : number);
    if (restricted || families == EVERY) {
        for (int family = 0; family < TKI_FAMILY_COUNT; family++)
            if (tk_family_applies(family, m->contract))
                add_family(m, number, family);
        return;
    }
    if (families == PATTERN && tk_family_applies(TKI_FAMILY_EACH_PATTERN, m->contract))
        first = TKI_FAMILY_EACH_PATTERN;
    if (families == SPARSE)
        first = tki_family_main(m->contract, 0);
    if (families == BEYOND)
        first = TKI_FAMILY_NORMAL;
    add_family(m, number, first);
    for (int i = 0; i < (families == TWO ? 1 : families == SEVERAL ? 4 : 0); i++)
        add_family(m, number, family_in_turn(m, first));
    static const int values[] = {TKI_FAMILY_SPECIAL,     TKI_FAMILY_ONE_SPECIAL,     TKI_FAMILY_ZERO_INF,
                                 TKI_FAMILY_LOG_UNIFORM, TKI_FAMILY_MIXED_EXPONENTS, TKI_FAMILY_HUGE_VALUES};
    for (size_t i = 0; families == VALUES && i < sizeof values / sizeof *values; i++)
        if (tk_family_applies(values[i], m->contract))
            add_family(m, number, values[i]);
    if (families == SPARSE)
        add_family(m, number, TKI_FAMILY_FEW);
    if (families == HIGH)
        add_family(m, number, TKI_FAMILY_INDEX_HIGH);
}

static void add_listed(making *m, tk_level level, const shape_list *list)
{
    for (int i = 0; i < list->count; i++) {
        if (list->shapes[i].level != level)
            continue;
        /* A restriction to one family is no reason to draw billions of it. */
        m->trial.where_memory_allows = list->shapes[i].families == BEYOND;
        if (m->trial.where_memory_allows && m->options->family)
            continue;
        set_dims(&m->trial.c, list->class, list->shapes[i].size);
        add_shape(m, list->shapes[i].number, list->shapes[i].families);
    }
    m->trial.where_memory_allows = false;
}

static void add_pairings(making *m, tk_level level)
{
    for (size_t i = 0; i < sizeof pairings / sizeof *pairings; i++) {
        if (pairings[i].class != m->class || pairings[i].level != level ||
            !tk_family_applies(pairings[i].family, m->contract))
            continue;
        set_dims(&m->trial.c, m->class, pairings[i].size);
        add_family(m, pairings[i].number, pairings[i].family);
    }
}

/* What the op itself asks for beside its families. */
static void add_further(making *m)
{
    enum { NUMBER = 350 };
    if (!m->draws || !m->own ||
        (m->options->family && strcmp(m->options->family, tk_family_at(TKI_FAMILY_CONFIDENT, NULL)) != 0))
        return;
    for (int i = 0; i < m->own->further_count; i++) {
        tki_trial trial = m->trial;
        tki_random random = tki_random_stream(m->options->seed, NUMBER + (uint64_t)i);
        trial.family = TKI_FAMILY_CONFIDENT;
        trial.seed = m->options->seed + (uint64_t)(NUMBER + i) * 1000;
        m->own->further(&trial.c, i, &random);
        if (!add(m, &trial))
            return;
    }
}

/* How much of each kind a level draws. */
typedef struct amounts {
    int number; /* added to those of its shapes */
    int tours;  /* shapes for each family */
    int64_t larger;
    int residue_runs, by_law;
    int bits;
    double most_work;
} amounts;

static const amounts drawn_at[] = {
    [TK_QUICK] = {0, 2, 1, 1, 28, 11, 0x1p13},
    [TK_FULL] = {FULL_OFFSET, 4, 3, 3, 96, 14, 0x1p19},
};

/* Every family on shapes of its own, and with both kinds of options where there are any. */
static void add_tour(making *m, const amounts *a, tki_random *random)
{
    const int tours = tki_seen_attributes(m->contract) ? 2 * a->tours : a->tours;
    for (int i = 0; i < tours; i++)
        for (int family = 0; family < FAMILIES_IN_TURN; family++) {
            int64_t size[CLASS_SIZES] = {0};
            draw_for_family(random, m->class, i % 2 == 0, a->larger, size);
            /* Many short rows, since each has but one. */
            if (family == TKI_FAMILY_ONE_SPECIAL && m->class == ROWS) {
                size[0] = 48;
                size[1] = 1 + size[1] % 130;
            }
            set_dims(&m->trial.c, m->class, size);
            m->sharp = i < a->tours;
            if (tk_family_applies(family, m->contract))
                add_family(m, FIRST_TOUR + a->number + i * FAMILIES_IN_TURN + family, family);
        }
    m->sharp = false;
}

static void add_drawn(making *m, const amounts *a, tki_random *random)
{
    int number = FIRST_DRAWN + a->number;
    const int vector_bits = m->class == VECTOR ? 5 : 0;
    for (int run = 0; run < a->residue_runs; run++) {
        int64_t step[CLASS_SIZES];
        int64_t first[CLASS_SIZES];
        for (int d = 0; d < CLASS_SIZES; d++) {
            step[d] = 2 * below(random, 16) + 1;
            first[d] = below(random, 32);
        }
        for (int i = 0; i < 32; i++) {
            int64_t size[CLASS_SIZES] = {0};
            draw_residues(random, m->class, step, first, i, a->bits - 6 + vector_bits, a->most_work, size);
            set_dims(&m->trial.c, m->class, size);
            add_shape(m, number++, MAIN);
        }
    }
    for (int i = 0; i < a->by_law; i++) {
        int64_t size[CLASS_SIZES] = {0};
        draw_within(random, m->class, a->bits + vector_bits, a->most_work, size);
        set_dims(&m->trial.c, m->class, size);
        add_shape(m, number++, MAIN);
    }
}

/* Another sequence for each op and type: what one misses, another may meet. */
static uint64_t drawn_stream(const tki_trial *trial, tk_level level)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *name = trial->c.contract->name; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    const uint64_t mixed = trial->c.result_dtype != trial->c.dtype ? 256 * (1 + (uint64_t)trial->c.result_dtype) : 0;
    return hash + mixed + 16 * (uint64_t)trial->c.dtype + 4 * (uint64_t)trial->c.index_dtype + (uint64_t)level;
}

/* All that a level has beyond the one below. */
static void add_level(making *m, tk_level level, const shape_list *list)
{
    tki_random random = tki_random_stream(m->options->seed, drawn_stream(&m->trial, level));
    m->turn = (int)below(&random, FAMILIES_IN_TURN);
    add_listed(m, level, list);
    add_tour(m, &drawn_at[level], &random);
    add_drawn(m, &drawn_at[level], &random);
    add_pairings(m, level);
    if (level == TK_QUICK)
        add_further(m);
}

/* What may be too large, or points at nothing, is made fit. */
static void make_fit(tk_case *c, int64_t most)
{
    for (;;) {
        int64_t elements = 0;
        int largest = 0;
        for (int p = 0; p < c->contract->param_count; p++)
            elements = tk_case_elements(c, p) > elements ? tk_case_elements(c, p) : elements;
        for (int d = 1; d < c->contract->dim_count; d++)
            largest = c->dims[d] > c->dims[largest] ? d : largest;
        if (elements <= most || c->dims[largest] <= 1)
            return;
        c->dims[largest] = (c->dims[largest] + 1) / 2;
    }
}

static bool indices_point_somewhere(const tk_case *c)
{
    const int p = tki_index_param(c->contract);
    return p < 0 || c->dims[c->contract->params[p].indexed_dim] > 0 || tk_case_elements(c, p) == 0;
}

/* Of an op of which no more is known than its contract: sizes at which vectors, tiles and blocks begin and end, and each size once zero. */
static void add_general(making *m, tk_level level)
{
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  31,
                                    32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const int dims = m->contract->dim_count;
    const int drawn = level == TK_QUICK ? 64 : 256;
    const int64_t most = level == TK_QUICK ? 1 << 14 : 1 << 19;
    tki_random random = tki_random_stream(m->options->seed, drawn_stream(&m->trial, level));
    int number = FIRST_DRAWN + drawn_at[level].number;
    for (int i = 0; i < dims + drawn; i++) {
        for (int d = 0; d < dims; d++)
            m->trial.c.dims[d] = i == d ? 0 : i < dims ? 3 : sizes[below(&random, SIZES)];
        make_fit(&m->trial.c, most);
        if (indices_point_somewhere(&m->trial.c))
            add_shape(m, number++, i % 4 ? MAIN : SEVERAL);
    }
}

/* Every pattern of every value input, in chunks. */
static void add_all_patterns(making *m)
{
    tki_trial trial = {.c = tk_case_init(m->contract, m->trial.c.dtype), .seed = m->options->seed};
    trial.c.result_dtype = m->trial.c.result_dtype;
    int64_t domain = 1;
    for (int p = 0; p < m->contract->param_count; p++)
        domain <<= m->contract->params[p].output ? 0 : tki_format_bits(tk_case_param_dtype(&trial.c, p));
    int64_t chunk = domain < CHUNK ? domain : CHUNK;
    trial.family = TKI_ALL_PATTERNS;
    trial.c.dims[0] = chunk;
    for (trial.chunk = 0; trial.chunk < domain / chunk; trial.chunk++)
        if (!add(m, &trial))
            return;
}

/* The shape that the options ask for, or the one trial whose inputs they give. */
static void add_asked_for(making *m)
{
    const tk_certify_options *options = m->options;
    memcpy(m->trial.c.dims, options->dims, (size_t)m->contract->dim_count * sizeof *options->dims);
    if (!options->input_count) {
        add_shape(m, 0, EVERY);
        return;
    }
    m->trial.family = TKI_GIVEN_INPUTS;
    m->trial.seed = options->seed;
    add(m, &m->trial);
}

tk_status tki_trials_make(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                          const tk_certify_options *options, tki_trials *trials)
{
    *trials = (tki_trials){0};
    shape_list list = shapes_of(contract);
    making m = {.contract = contract,
                .options = options,
                .trial = {.c = tk_case_init(contract, dtype)},
                .class = list.class,
                .trials = trials,
                .good = true};
    m.trial.c.index_dtype = index_dtype;
    m.trial.c.result_dtype = tki_result_dtype(dtype, options);
    const tki_oracle *oracle = tki_oracle_of(contract);
    m.own = oracle ? oracle->attributes : NULL;
    m.draws = tki_seen_attributes(contract) && !tki_settings_give_seen(contract, options);
    tk_status settings = tki_settings_read(ctx, contract, options, m.trial.c.attributes);
    if (settings != TK_OK)
        return settings;
    if (options->dims) {
        add_asked_for(&m);
    } else if (contract->registered) {
        add_general(&m, TK_QUICK);
        if (options->level >= TK_FULL)
            add_general(&m, TK_FULL);
    } else {
        add_level(&m, TK_QUICK, &list);
        if (options->level >= TK_FULL)
            add_level(&m, TK_FULL, &list);
        if (options->level == TK_EXHAUSTIVE && tk_case_is_finite(&m.trial.c) && !options->family)
            add_all_patterns(&m);
    }
    if (!m.good) {
        free(trials->list);
        *trials = (tki_trials){0};
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the list of trials");
    }
    for (int64_t i = 0; i < trials->count; i++) {
        trials->list[i].threads = options->call_threads;
        trials->list[i].alignment = options->alignment;
        trials->list[i].planted_count = options->planted_count;
        if (options->planted_count)
            memcpy(trials->list[i].planted, options->planted, (size_t)options->planted_count * sizeof(int64_t));
    }
    if (trials->count == 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: the family '%s' does not apply to this op", contract->name,
                        options->family ? options->family : "");
    return TK_OK;
}

const char *tki_trial_family_name(const tki_trial *trial)
{
    if (trial->family == TKI_GIVEN_INPUTS)
        return "given";
    return trial->family == TKI_ALL_PATTERNS ? "all_patterns" : tk_family_at(trial->family, NULL);
}

bool tki_trial_same(const tki_trial *a, const tki_trial *b)
{
    return a->family == b->family && a->seed == b->seed && a->chunk == b->chunk && a->found == b->found &&
           a->threads == b->threads && a->alignment == b->alignment && a->planted_count == b->planted_count &&
           !memcmp(a->planted, b->planted, (size_t)a->planted_count * sizeof *a->planted) &&
           !memcmp(a->c.dims, b->c.dims, sizeof a->c.dims) &&
           !memcmp(a->c.attributes, b->c.attributes, sizeof a->c.attributes);
}

/* About a quarter of the elements, the first and the last among them, and some stretches of 16 in full. */
static void plant(const tki_trial *trial, int param, void *data)
{
    const tk_case *c = &trial->c;
    const tk_param *p = &c->contract->params[param];
    const tk_dtype dtype = tk_case_param_dtype(c, param);
    const int64_t count = tk_case_elements(c, param);
    tki_random random = tki_random_stream(trial->seed, 4096 + (uint64_t)param);
    for (int64_t i = 0; i < count; i++) {
        uint64_t draw = tki_random_u64(&random);
        bool stretch = (uint64_t)(i / 16) % 8 == trial->seed % 8;
        if (draw % 4 && !stretch && i != 0 && i != count - 1)
            continue;
        int64_t value = trial->planted[i == 0 || stretch ? (i / 16) % trial->planted_count
                                                         : (int64_t)(draw >> 8) % trial->planted_count];
        bool index = p->kind == TK_KIND_INDEX;
        if (value < 0 || value > (index ? c->dims[p->indexed_dim] - 1 : tki_last_pattern(dtype)))
            continue;
        if (!index)
            tki_put_bits(dtype, data, i, (uint32_t)value);
        else if (c->index_dtype == TK_I64)
            ((int64_t *)data)[i] = value;
        else
            ((int32_t *)data)[i] = (int32_t)value;
    }
}

void tki_trial_fill(const tki_trial *trial, void *const data[])
{
    if (trial->family != TKI_ALL_PATTERNS) {
        tki_family_fill(trial->family, &trial->c, trial->seed, data);
        for (int p = 0; p < trial->c.contract->param_count && trial->planted_count; p++)
            if (!trial->c.contract->params[p].output)
                plant(trial, p, data[p]);
        tki_domain_apply(&trial->c, data);
        return;
    }
    /* The last value input runs fastest. */
    const tk_contract *contract = trial->c.contract;
    int shift = 0;
    for (int p = contract->param_count - 1; p >= 0; p--) {
        if (contract->params[p].output)
            continue;
        const tk_dtype dtype = tk_case_param_dtype(&trial->c, p);
        for (int64_t i = 0; i < trial->c.dims[0]; i++)
            tki_put_bits(dtype, data[p], i, (uint32_t)((trial->chunk * trial->c.dims[0] + i) >> shift));
        shift += tki_format_bits(dtype);
    }
    tki_domain_apply(&trial->c, data);
}
