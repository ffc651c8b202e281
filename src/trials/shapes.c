/* CHOOSES. Shapes: the lists, and the laws. Certificates name what follows from both, so that neither changes. */
#include "trials/shapes.h"

#include <math.h>

#include "model/case.h"
#include "trials/families.h"

#define Q TK_QUICK
#define F TK_FULL

static const tki_shape vector_shapes[] = {
    {0, Q, TKI_MAIN, {0}},
    {1, Q, TKI_SEVERAL, {1}},
    {2, Q, TKI_TWO, {2}},
    {3, Q, TKI_TWO, {3}},
    {4, Q, TKI_TWO, {7}},
    {200, Q, TKI_TWO, {8}},
    {5, Q, TKI_TWO, {15}},
    {6, Q, TKI_TWO, {16}},
    {7, Q, TKI_TWO, {17}},
    {8, Q, TKI_TWO, {31}},
    {201, Q, TKI_TWO, {32}},
    {9, Q, TKI_TWO, {33}},
    {10, Q, TKI_TWO, {64}},
    {202, Q, TKI_TWO, {96}},
    {203, Q, TKI_TWO, {128}},
    {11, Q, TKI_TWO, {255}},
    {12, Q, TKI_TWO, {256}},
    {13, Q, TKI_TWO, {257}},
    {204, Q, TKI_TWO, {512}},
    {205, Q, TKI_TWO, {768}},
    {206, Q, TKI_TWO, {1000}},
    {14, Q, TKI_TWO, {1021}},
    {207, Q, TKI_TWO, {1024}},
    {208, Q, TKI_TWO, {2048}},
    {209, Q, TKI_TWO, {4096}},
    {15, Q, TKI_TWO, {4099}},
    {210, Q, TKI_TWO, {8192}},
    {211, Q, TKI_MAIN, {10007}},
    {16, Q, TKI_TWO, {16384}},
    {212, Q, TKI_MAIN, {32768}},
    {17, Q, TKI_MAIN, {65537}},
    {213, Q, TKI_PATTERN, {65536 + 43}},
    {250, Q, TKI_MAIN, {(1 << 20) + 23}},
    {214, Q, TKI_MAIN, {131072}},
    {18, F, TKI_TWO, {(1 << 18) + 1}},
    {215, F, TKI_TWO, {1 << 20}},
    {19, F, TKI_TWO, {(1 << 22) + 3}},
    {216, F, TKI_MAIN, {(1 << 24) + 21}},
    {217, F, TKI_BEYOND, {(INT64_C(1) << 32) + 37}},
};

static const tki_shape row_shapes[] = {
    {0, Q, TKI_MAIN, {0, 5}},
    {1, Q, TKI_MAIN, {5, 0}},
    {2, Q, TKI_SEVERAL, {1, 1}},
    {3, Q, TKI_TWO, {1, 2}},
    {4, Q, TKI_TWO, {3, 1}},
    {5, Q, TKI_TWO, {2, 3}},
    {200, Q, TKI_TWO, {4, 8}},
    {6, Q, TKI_TWO, {5, 15}},
    {7, Q, TKI_TWO, {5, 16}},
    {8, Q, TKI_TWO, {5, 17}},
    {201, Q, TKI_TWO, {8, 32}},
    {9, Q, TKI_TWO, {13, 33}},
    {202, Q, TKI_TWO, {16, 64}},
    {203, Q, TKI_TWO, {64, 64}},
    {204, Q, TKI_TWO, {32, 128}},
    {10, Q, TKI_TWO, {4, 255}},
    {11, Q, TKI_TWO, {4, 256}},
    {12, Q, TKI_TWO, {24, 257}},
    {205, Q, TKI_TWO, {3, 512}},
    {206, Q, TKI_TWO, {3, 768}},
    {207, Q, TKI_TWO, {3, 1000}},
    {14, Q, TKI_TWO, {7, 1023}},
    {208, Q, TKI_TWO, {4, 1024}},
    {15, Q, TKI_TWO, {6, 1025}},
    {209, Q, TKI_MAIN, {2, 1536}},
    {250, Q, TKI_VALUES, {9, 1101}},
    {210, Q, TKI_TWO, {3, 2048}},
    {211, Q, TKI_MAIN, {3, 2049}},
    {212, Q, TKI_MAIN, {2, 3072}},
    {213, Q, TKI_TWO, {2, 4096}},
    {214, Q, TKI_SPARSE, {3, 4099}},
    {16, Q, TKI_SPARSE, {2, 8191}},
    {215, Q, TKI_MAIN, {2, 8193}},
    {236, Q, TKI_SPARSE, {2, 8192}},
    {216, Q, TKI_SPARSE, {1, 16384}},
    {17, Q, TKI_SPARSE, {1, 32000}},
    {217, Q, TKI_SPARSE, {1, 65536 + 19}},
    {237, Q, TKI_MAIN, {1, 65536 + 35}}, /* dense: an odd number's main family is `normal` */
    {13, Q, TKI_TWO, {1000, 2}},
    {218, Q, TKI_MAIN, {1025, 5}},
    {219, Q, TKI_MAIN, {2049, 3}},
    {220, Q, TKI_MAIN, {4099, 2}},
    {221, Q, TKI_MAIN, {65536 + 37, 1}},
    /* Many rows that are not narrow. */
    {228, Q, TKI_MAIN, {130, 131}},
    {229, Q, TKI_MAIN, {300, 40}},
    {230, Q, TKI_MAIN, {12, 1100}},
    {231, Q, TKI_MAIN, {16, 1024}},
    {232, Q, TKI_MAIN, {70, 1000}},
    {233, Q, TKI_MAIN, {9, 384}},
    {234, Q, TKI_MAIN, {11, 100}},
    {235, Q, TKI_MAIN, {5, 10}},
    {270, Q, TKI_MAIN, {2, 1}},
    {271, Q, TKI_MAIN, {2, 2}},
    {272, Q, TKI_MAIN, {3, 3}},
    {273, Q, TKI_MAIN, {8, 1}},
    {274, Q, TKI_MAIN, {1, 8}},
    {275, Q, TKI_MAIN, {8, 8}},
    {18, F, TKI_TWO, {65, 4097}},
    {222, F, TKI_TWO, {128, 4096}},
    {19, F, TKI_TWO, {70001, 3}},
    {20, F, TKI_TWO, {64, 32000}},
    {21, F, TKI_SPARSE, {3, 128256}},
    {223, F, TKI_MAIN, {2, 1 << 17}},
    {22, F, TKI_SPARSE, {1, 1 << 20}},
    {224, F, TKI_MAIN, {4099, 4097}},
    {225, F, TKI_SPARSE, {1, (1 << 24) + 21}},
    {226, F, TKI_MAIN, {(1 << 24) + 21, 1}},
    {227, F, TKI_BEYOND, {(1 << 16) + 1, (1 << 16) + 3}},
};

static const tki_shape product_shapes[] = {
    {0, Q, TKI_MAIN, {0, 3, 4}},
    {1, Q, TKI_MAIN, {3, 0, 4}},
    {2, Q, TKI_TWO, {3, 4, 0}},
    {3, Q, TKI_SEVERAL, {1, 1, 1}},
    {4, Q, TKI_TWO, {1, 1, 2}},
    {5, Q, TKI_TWO, {1, 1, 300}},
    {6, Q, TKI_TWO, {2, 3, 5}},
    {7, Q, TKI_TWO, {7, 5, 3}},
    /* Aligned in all three, and squares of each pair. */
    {200, Q, TKI_TWO, {8, 8, 8}},
    {201, Q, TKI_TWO, {16, 16, 16}},
    {202, Q, TKI_TWO, {16, 8, 32}},
    {203, Q, TKI_TWO, {32, 32, 32}},
    {204, Q, TKI_TWO, {48, 32, 16}},
    {205, Q, TKI_TWO, {16, 64, 128}},
    {206, Q, TKI_MAIN, {64, 64, 64}},
    {207, Q, TKI_MAIN, {96, 96, 96}},
    {208, Q, TKI_MAIN, {64, 32, 256}},
    {209, Q, TKI_MAIN, {128, 64, 32}},
    {210, Q, TKI_MAIN, {128, 128, 64}},
    {211, Q, TKI_MAIN, {32, 128, 128}},
    {212, Q, TKI_MAIN, {128, 32, 128}},
    {213, Q, TKI_MAIN, {128, 128, 128}},
    {214, Q, TKI_MAIN, {256, 128, 32}},
    {215, Q, TKI_MAIN, {128, 256, 32}},
    {216, Q, TKI_MAIN, {192, 64, 48}},
    {217, Q, TKI_MAIN, {16, 48, 512}},
    {218, Q, TKI_MAIN, {16, 16, 1024}},
    {250, Q, TKI_TWO, {8, 64, 512}},
    {251, Q, TKI_TWO, {64, 8, 512}},
    {252, Q, TKI_MAIN, {4, 128, 768}},
    {253, Q, TKI_VALUES, {64, 64, 96}},
    {254, Q, TKI_VALUES, {20, 12, 300}},
    {255, Q, TKI_VALUES, {9, 33, 557}},
    {219, Q, TKI_MAIN, {8, 8, 4096}},
    {220, Q, TKI_TWO, {17, 40, 40}},
    {221, Q, TKI_TWO, {40, 17, 40}},
    {222, Q, TKI_TWO, {40, 40, 17}},
    {223, Q, TKI_TWO, {33, 33, 33}},
    {224, Q, TKI_MAIN, {48, 16, 48}},
    {225, Q, TKI_MAIN, {16, 48, 48}},
    {226, Q, TKI_MAIN, {48, 48, 16}},
    {227, Q, TKI_MAIN, {65, 65, 65}},
    {8, Q, TKI_TWO, {15, 17, 16}},
    {9, Q, TKI_TWO, {16, 16, 17}},
    {10, Q, TKI_TWO, {13, 11, 37}},
    {11, Q, TKI_MAIN, {31, 33, 64}},
    {12, Q, TKI_MAIN, {63, 65, 64}},
    {13, Q, TKI_MAIN, {64, 64, 63}},
    {14, Q, TKI_MAIN, {65, 64, 65}},
    {228, Q, TKI_MAIN, {129, 127, 33}},
    {15, Q, TKI_TWO, {1, 129, 70}},
    {16, Q, TKI_TWO, {130, 1, 64}},
    {229, Q, TKI_MAIN, {1, 256, 128}},
    {230, Q, TKI_MAIN, {256, 1, 128}},
    {231, Q, TKI_MAIN, {64, 128, 1}},
    {17, Q, TKI_TWO, {24, 20, 513}},
    {18, Q, TKI_TWO, {5, 7, 4099}},
    {232, Q, TKI_MAIN, {3, 5, 8192}},
    {233, Q, TKI_MAIN, {2, 3, 65536 + 19}},
    {234, Q, TKI_MAIN, {65536 + 37, 1, 3}},
    {235, Q, TKI_MAIN, {1, 65536 + 23, 2}},
    {236, Q, TKI_MAIN, {1025, 7, 9}},
    {237, Q, TKI_MAIN, {6, 1030, 11}},
    {238, Q, TKI_MAIN, {2051, 3, 5}},
    {239, Q, TKI_MAIN, {4, 2050, 3}},
    {240, Q, TKI_MAIN, {4100, 2, 4}},
    {241, Q, TKI_MAIN, {2, 4099, 6}},
    /* Two sizes large, ragged or as models have them. */
    {250, Q, TKI_MAIN, {150, 140, 50}},
    {251, Q, TKI_MAIN, {70, 66, 270}},
    {252, Q, TKI_MAIN, {260, 72, 40}},
    {253, Q, TKI_MAIN, {72, 260, 40}},
    {254, Q, TKI_MAIN, {2, 520, 530}},
    {255, Q, TKI_MAIN, {520, 2, 530}},
    {256, Q, TKI_MAIN, {260, 250, 2}},
    {257, Q, TKI_MAIN, {1024, 8, 64}},
    {258, Q, TKI_MAIN, {8, 1024, 64}},
    {259, Q, TKI_MAIN, {512, 4, 256}},
    {260, Q, TKI_MAIN, {4, 512, 256}},
    {261, Q, TKI_MAIN, {768, 3, 100}},
    {262, Q, TKI_MAIN, {3, 768, 100}},
    {263, Q, TKI_MAIN, {1000, 3, 10}},
    {264, Q, TKI_MAIN, {3, 1000, 10}},
    {265, Q, TKI_MAIN, {4, 8, 768}},
    {266, Q, TKI_MAIN, {5, 4, 1000}},
    /* Squares of each pair of sizes beside one, and cubes. */
    {270, Q, TKI_MAIN, {1, 2, 2}},
    {271, Q, TKI_MAIN, {2, 1, 2}},
    {272, Q, TKI_MAIN, {2, 2, 1}},
    {273, Q, TKI_MAIN, {2, 2, 2}},
    {274, Q, TKI_MAIN, {1, 3, 3}},
    {275, Q, TKI_MAIN, {3, 1, 3}},
    {276, Q, TKI_MAIN, {3, 3, 1}},
    {277, Q, TKI_MAIN, {3, 3, 3}},
    {278, Q, TKI_MAIN, {1, 8, 8}},
    {279, Q, TKI_MAIN, {8, 1, 8}},
    {280, Q, TKI_MAIN, {8, 8, 1}},
    {281, Q, TKI_MAIN, {1, 64, 64}},
    {282, Q, TKI_MAIN, {64, 1, 64}},
    {283, Q, TKI_MAIN, {64, 64, 1}},
    {440, Q, TKI_MAIN, {190, 190, 3}}, /* see the end of tki_pairings */
    {441, Q, TKI_MAIN, {190, 190, 3}},
    {19, F, TKI_MAIN, {257, 255, 256}},
    {20, F, TKI_TWO, {65, 63, 1025}},
    {21, F, TKI_TWO, {1000, 777, 333}},
    {22, F, TKI_TWO, {257, 255, 4099}},
    {23, F, TKI_TWO, {2304, 2048, 16}},
    {242, F, TKI_TWO, {256, 256, 256}},
    {243, F, TKI_TWO, {512, 384, 768}},
    {100, F, TKI_TWO, {70001, 3, 5}},
    {101, F, TKI_TWO, {3, 70001, 5}},
    {102, F, TKI_SPARSE, {5, 3, 128256}},
    {24, F, TKI_MAIN, {1024, 1024, 1024}},
    {244, F, TKI_MAIN, {4099, 4097, 3}},
    {245, F, TKI_MAIN, {(1 << 24) + 21, 1, 1}},
    {246, F, TKI_MAIN, {1, (1 << 24) + 21, 1}},
    {247, F, TKI_SPARSE, {1, 1, (1 << 24) + 21}},
    {248, F, TKI_BEYOND, {(1 << 16) + 1, 1, (1 << 16) + 3}},
    {249, F, TKI_BEYOND, {(1 << 16) + 1, (1 << 16) + 3, 1}},
    {300, F, TKI_BEYOND, {(1 << 20) + 3, 1, 1 << 10}}, /* more bytes than an int counts */
};

static const tki_shape lookup_shapes[] = {
    {0, Q, TKI_MAIN, {0, 4, 5}},
    {1, Q, TKI_MAIN, {3, 0, 5}},
    {2, Q, TKI_SEVERAL, {1, 1, 1}},
    {3, Q, TKI_TWO, {2, 3, 1}},
    {4, Q, TKI_TWO, {5, 3, 2}},
    {5, Q, TKI_TWO, {63, 7, 1}},
    {6, Q, TKI_TWO, {64, 7, 1}},
    {7, Q, TKI_TWO, {65, 7, 1}},
    {8, Q, TKI_TWO, {129, 5, 1}},
    {200, Q, TKI_TWO, {32, 8, 16}},
    {201, Q, TKI_TWO, {128, 16, 128}},
    {9, Q, TKI_TWO, {300, 5, 7}},
    {10, Q, TKI_TWO, {5, 129, 1000}},
    {11, Q, TKI_TWO, {129, 17, 64}},
    {12, Q, TKI_TWO, {1000, 3, 2}},
    {202, Q, TKI_TWO, {64, 32, 256}},
    {104, Q, TKI_TWO, {64, 64, 50}},
    {105, Q, TKI_TWO, {37, 66, 300}},
    {203, Q, TKI_TWO, {64, 64, 64}},
    {204, Q, TKI_TWO, {40, 40, 17}},
    {205, Q, TKI_TWO, {17, 40, 40}},
    {206, Q, TKI_TWO, {40, 17, 40}},
    {207, Q, TKI_TWO, {24, 128, 32}},
    {227, Q, TKI_MAIN, {128, 128, 128}},
    {208, Q, TKI_MAIN, {16, 256, 30}},
    {209, Q, TKI_MAIN, {9, 512, 20}},
    {210, Q, TKI_MAIN, {7, 768, 16}},
    {211, Q, TKI_MAIN, {8, 1024, 8}},
    {212, Q, TKI_MAIN, {3, 4096, 4}},
    {213, Q, TKI_MAIN, {4, 2049, 3}},
    {214, Q, TKI_MAIN, {2, 8197, 2}},
    {14, Q, TKI_TWO, {4097, 2, 3}},
    {215, Q, TKI_MAIN, {2048, 4, 1024}},
    {216, Q, TKI_MAIN, {1025, 3, 2050}},
    {217, Q, TKI_MAIN, {8200, 2, 500}},
    {218, Q, TKI_HIGH, {100, 2, 32768 + 300}},
    {13, Q, TKI_HIGH, {200, 1, 66001}},
    {250, Q, TKI_HIGH, {300, 1, (1 << 20) + 300}},
    {251, Q, TKI_SEVERAL, {3000, 1, 2500}},
    {219, Q, TKI_MAIN, {65536 + 41, 1, 1}},
    {220, Q, TKI_MAIN, {65536 + 57, 1, 20}},
    {221, Q, TKI_MAIN, {1, 65536 + 19, 2}},
    {228, Q, TKI_MAIN, {300, 72, 50}},
    {229, Q, TKI_MAIN, {270, 400, 12}},
    {230, Q, TKI_MAIN, {2100, 4, 100}},
    {231, Q, TKI_MAIN, {512, 100, 64}},
    {232, Q, TKI_MAIN, {24, 384, 40}},
    {233, Q, TKI_MAIN, {30, 300, 25}},
    {270, Q, TKI_MAIN, {1, 2, 2}},
    {271, Q, TKI_MAIN, {2, 1, 2}},
    {272, Q, TKI_MAIN, {2, 2, 1}},
    {273, Q, TKI_MAIN, {2, 2, 2}},
    {274, Q, TKI_MAIN, {3, 3, 3}},
    {275, Q, TKI_MAIN, {1, 8, 8}},
    {276, Q, TKI_MAIN, {8, 1, 8}},
    {277, Q, TKI_MAIN, {8, 8, 1}},
    {106, F, TKI_TWO, {5, 2048, 4096}},
    {107, F, TKI_TWO, {60, 16, 4096}},
    {15, F, TKI_TWO, {2049, 64, 257}},
    {100, F, TKI_TWO, {70001, 3, 5}},
    {222, F, TKI_MAIN, {200003, 2, 1}},
    {101, F, TKI_TWO, {7, 8193, 11}},
    {102, F, TKI_TWO, {3, 70001, 5}},
    {103, F, TKI_HIGH, {5000, 3, 262147}},
    {16, F, TKI_TWO, {8192, 256, 8000}},
    {17, F, TKI_TWO, {32768, 64, 50304}},
    {223, F, TKI_HIGH, {5000, 1, (1 << 24) + 4099}},
    {224, F, TKI_MAIN, {(1 << 24) + 21, 1, 3}},
    {225, F, TKI_MAIN, {3, (1 << 24) + 21, 2}},
    {226, F, TKI_BEYOND, {300, (1 << 10) + 1, 1 << 22}},
    {300, F, TKI_BEYOND, {300, 1 << 10, (1 << 20) + 5}}, /* more bytes than an int counts */
};

static const tki_shape grouped_shapes[] = {
    {0, Q, TKI_MAIN, {0, 3, 4, 2}},
    {1, Q, TKI_MAIN, {3, 0, 4, 2}},
    {2, Q, TKI_TWO, {3, 4, 0, 2}},
    {3, Q, TKI_MAIN, {3, 4, 5, 0}},
    {4, Q, TKI_SEVERAL, {1, 1, 1, 1}},
    {5, Q, TKI_SEVERAL, {2, 3, 5, 1}},
    {6, Q, TKI_SEVERAL, {7, 5, 3, 4}},
    {7, Q, TKI_TWO, {5, 1, 300, 3}},
    {8, Q, TKI_TWO, {16, 8, 8, 2}},
    {9, Q, TKI_TWO, {64, 16, 16, 4}},
    {10, Q, TKI_TWO, {128, 32, 16, 8}},
    {11, Q, TKI_TWO, {48, 64, 32, 3}},
    {12, Q, TKI_TWO, {256, 16, 32, 16}},
    {13, Q, TKI_MAIN, {64, 64, 64, 4}},
    {14, Q, TKI_MAIN, {256, 128, 64, 2}},
    {15, Q, TKI_MAIN, {128, 256, 128, 3}},
    {16, Q, TKI_MAIN, {64, 128, 256, 4}},
    {17, Q, TKI_MAIN, {384, 64, 72, 5}},
    {18, Q, TKI_MAIN, {32, 40, 512, 8}},
    {19, Q, TKI_VALUES, {64, 64, 96, 3}},
    {20, Q, TKI_VALUES, {20, 12, 300, 5}},
    {21, Q, TKI_VALUES, {9, 33, 557, 4}},
    {22, Q, TKI_MAIN, {129, 127, 33, 6}},
    {23, Q, TKI_TWO, {65, 33, 65, 2}},
    {24, Q, TKI_MAIN, {300, 72, 40, 7}},
    {25, Q, TKI_MAIN, {40, 72, 300, 7}},
    {26, Q, TKI_TWO, {31, 17, 63, 31}},
    {27, Q, TKI_MAIN, {17, 15, 16, 64}},
    {28, Q, TKI_MAIN, {12, 9, 10, 300}},
    {29, Q, TKI_MAIN, {3, 2, 5, 4099}},
    {30, Q, TKI_MAIN, {2, 3, 1030, 9}},
    {31, Q, TKI_MAIN, {1025, 7, 9, 11}},
    {32, Q, TKI_MAIN, {6, 1030, 11, 3}},
    {33, Q, TKI_MAIN, {2, 3, 65536 + 19, 3}},
    {34, Q, TKI_MAIN, {65536 + 37, 1, 3, 20}},
    {35, Q, TKI_MAIN, {1, 65536 + 23, 2, 1}},
    {36, Q, TKI_MAIN, {1, 2, 2, 65536 + 41}},
    {37, Q, TKI_MAIN, {5, 7, 4099, 6}},
    {38, Q, TKI_MAIN, {4100, 2, 4, 70}},
    {39, Q, TKI_MAIN, {33, 33, 33, 33}},
    {270, Q, TKI_MAIN, {1, 2, 2, 2}},
    {271, Q, TKI_MAIN, {2, 1, 2, 2}},
    {272, Q, TKI_MAIN, {2, 2, 1, 2}},
    {273, Q, TKI_MAIN, {2, 2, 2, 1}},
    {274, Q, TKI_MAIN, {2, 2, 2, 2}},
    {275, Q, TKI_MAIN, {3, 3, 3, 3}},
    {40, F, TKI_TWO, {1000, 264, 333, 9}},
    {41, F, TKI_TWO, {333, 264, 1000, 9}},
    {42, F, TKI_MAIN, {2048, 256, 128, 64}},
    {43, F, TKI_MAIN, {257, 255, 2049, 17}},
    {44, F, TKI_TWO, {512, 384, 768, 8}},
    {45, F, TKI_MAIN, {70001, 3, 5, 129}},
    {46, F, TKI_SPARSE, {5, 3, 128256, 2}},
    {47, F, TKI_MAIN, {(1 << 24) + 21, 1, 1, 3}},
    {48, F, TKI_MAIN, {1, (1 << 24) + 21, 1, 1}},
    {49, F, TKI_SPARSE, {1, 1, (1 << 24) + 21, 1}},
    {50, F, TKI_MAIN, {1, 1, 1, (1 << 24) + 21}},
    {51, F, TKI_BEYOND, {(1 << 16) + 1, (1 << 16) + 3, 1, 1}},
    {52, F, TKI_BEYOND, {(1 << 16) + 1, 1, (1 << 16) + 3, 1}},
};

const tki_pairing tki_pairings[] = {
    {TKI_VECTOR, 300, Q, TKI_FAMILY_SPECIAL_PARTNERS, {65536 + 29}},
    /* Short: every element is near an end, where another code may have it. */
    {TKI_VECTOR, 303, Q, TKI_FAMILY_NEAREST_TIES, {13}},
    {TKI_VECTOR, 304, Q, TKI_FAMILY_NEAREST_TIES, {24}},
    {TKI_VECTOR, 305, Q, TKI_FAMILY_NEAREST_TIES, {31}},
    {TKI_VECTOR, 306, Q, TKI_FAMILY_NEAREST_TIES, {45}},
    {TKI_VECTOR, 307, Q, TKI_FAMILY_NEAREST_TIES, {70}},
    {TKI_VECTOR, 308, Q, TKI_FAMILY_ZERO_INPUT, {96}},
    {TKI_VECTOR, 309, Q, TKI_FAMILY_ZERO_INPUT, {151}},
    {TKI_VECTOR, 301, F, TKI_FAMILY_SPECIAL_PARTNERS, {(1 << 19) + 7}},
    /* Exactly what 16 bits cannot count, and rows so long that what is small counts by its number. */
    {TKI_ROWS, 302, Q, TKI_FAMILY_NORMAL, {1, 65536}},
    {TKI_ROWS, 319, Q, TKI_FAMILY_NORMAL, {(1 << 17) + 11, 1}},
    {TKI_ROWS, 303, Q, TKI_FAMILY_PLATEAU, {3, 65536}},
    {TKI_ROWS, 304, Q, TKI_FAMILY_CROWD, {3, 4111}},
    {TKI_ROWS, 305, Q, TKI_FAMILY_CROWD, {3, 65536 + 51}},
    {TKI_ROWS, 306, Q, TKI_FAMILY_TAIL, {9, 1031}},
    {TKI_ROWS, 307, Q, TKI_FAMILY_TAIL, {4, 33013}},
    {TKI_ROWS, 308, Q, TKI_FAMILY_TAIL, {2, 70001}},
    {TKI_ROWS, 309, Q, TKI_FAMILY_ZERO_NAN, {40, 70}},
    /* Wherever in a long line something is left out. */
    {TKI_ROWS, 450, Q, TKI_FAMILY_SPREAD, {1, 70013}},
    {TKI_ROWS, 451, F, TKI_FAMILY_SPREAD, {8, (1 << 17) + 37}},
    {TKI_PRODUCT, 452, Q, TKI_FAMILY_SPREAD, {3, 1, 70013}},
    {TKI_PRODUCT, 453, Q, TKI_FAMILY_SPREAD, {24, 20, 2100}},
    {TKI_GROUPED, 454, Q, TKI_FAMILY_SPREAD, {3, 2, 20011, 2}},
    {TKI_LOOKUP, 456, Q, TKI_FAMILY_SPREAD, {2100, 3, 2}},
    {TKI_ROWS, 310, F, TKI_FAMILY_CROWD, {4, 1 << 19}},
    {TKI_ROWS, 311, F, TKI_FAMILY_TAIL, {24, 131071}},
    {TKI_ROWS, 312, F, TKI_FAMILY_ORDER, {4, 1 << 20}},
    {TKI_ROWS, 313, Q, TKI_FAMILY_ORDER, {5, 8200}},
    {TKI_ROWS, 314, Q, TKI_FAMILY_ORDER, {2, 70003}},
    {TKI_ROWS, 315, Q, TKI_FAMILY_SCALED_LINES, {40, 67}},
    {TKI_ROWS, 316, Q, TKI_FAMILY_ONE_SIGN, {6, 2100}},
    {TKI_ROWS, 317, Q, TKI_FAMILY_FAR_APART, {30, 65}},
    {TKI_ROWS, 318, Q, TKI_FAMILY_SMALL_TIES, {30, 40}},
    {TKI_PRODUCT, 320, Q, TKI_FAMILY_ONE_SIGN, {4, 5, 2048}},
    {TKI_PRODUCT, 321, Q, TKI_FAMILY_ONE_SIGN, {3, 4, 16400}},
    {TKI_PRODUCT, 322, Q, TKI_FAMILY_FAR_APART, {32, 16, 64}},
    {TKI_PRODUCT, 323, Q, TKI_FAMILY_FAR_APART, {19, 37, 53}},
    {TKI_PRODUCT, 324, Q, TKI_FAMILY_ZERO_NAN, {64, 32, 64}},
    {TKI_PRODUCT, 325, Q, TKI_FAMILY_ZERO_NAN, {13, 41, 29}},
    {TKI_PRODUCT, 326, Q, TKI_FAMILY_SMALL_TIES, {32, 16, 32}},
    {TKI_PRODUCT, 327, Q, TKI_FAMILY_SMALL_TIES, {21, 9, 35}},
    {TKI_PRODUCT, 328, Q, TKI_FAMILY_TAIL, {4, 6, 2051}},
    {TKI_PRODUCT, 329, Q, TKI_FAMILY_TAIL, {3, 5, 40009}},
    /* Few outputs, long sums: which bits come out depends on how they are cut into parts. */
    {TKI_PRODUCT, 330, Q, TKI_FAMILY_ORDER, {8, 8, 2048}},
    {TKI_PRODUCT, 331, Q, TKI_FAMILY_ORDER, {3, 40, 4100}},
    {TKI_PRODUCT, 338, Q, TKI_FAMILY_ORDER, {33, 20, 300}},
    {TKI_PRODUCT, 332, Q, TKI_FAMILY_SCALED_LINES, {256, 256, 256}},
    {TKI_PRODUCT, 339, Q, TKI_FAMILY_SCALED_LINES, {50, 30, 70}},
    {TKI_PRODUCT, 333, Q, TKI_FAMILY_EXACT, {520, 524, 2}},
    {TKI_PRODUCT, 334, Q, TKI_FAMILY_EXACT, {512, 512, 3}},
    {TKI_PRODUCT, 335, F, TKI_FAMILY_SCALED_LINES, {512, 512, 512}},
    {TKI_PRODUCT, 336, F, TKI_FAMILY_ONE_SIGN, {5, 3, 1 << 18}},
    {TKI_PRODUCT, 337, F, TKI_FAMILY_ORDER, {4, 4, 65536}},
    {TKI_PRODUCT, 360, Q, TKI_FAMILY_EXACT, {24, 20, 192}},
    {TKI_PRODUCT, 361, Q, TKI_FAMILY_EXACT, {20, 24, 384}},
    {TKI_PRODUCT, 362, Q, TKI_FAMILY_EXACT, {24, 192, 20}},
    /* What models have: three times a power of two, five times. */
    {TKI_ROWS, 370, Q, TKI_FAMILY_NORMAL, {5, 48}},
    {TKI_ROWS, 371, Q, TKI_FAMILY_NORMAL, {5, 96}},
    {TKI_ROWS, 372, Q, TKI_FAMILY_NORMAL, {5, 160}},
    {TKI_ROWS, 373, Q, TKI_FAMILY_NORMAL, {5, 192}},
    {TKI_ROWS, 374, Q, TKI_FAMILY_NORMAL, {4, 320}},
    {TKI_ROWS, 375, Q, TKI_FAMILY_NORMAL, {4, 640}},
    {TKI_LOOKUP, 380, Q, TKI_FAMILY_NORMAL, {30, 48, 20}},
    {TKI_LOOKUP, 381, Q, TKI_FAMILY_NORMAL, {30, 80, 20}},
    {TKI_LOOKUP, 382, Q, TKI_FAMILY_NORMAL, {30, 96, 20}},
    {TKI_LOOKUP, 383, Q, TKI_FAMILY_NORMAL, {30, 160, 20}},
    {TKI_LOOKUP, 384, Q, TKI_FAMILY_NORMAL, {30, 192, 20}},
    {TKI_LOOKUP, 385, Q, TKI_FAMILY_NORMAL, {20, 320, 12}},
    {TKI_LOOKUP, 386, Q, TKI_FAMILY_NORMAL, {20, 640, 12}},
    {TKI_LOOKUP, 340, Q, TKI_FAMILY_NORMAL, {(1 << 20) + 77, 1, 5}},
    {TKI_LOOKUP, 341, Q, TKI_FAMILY_ONE_SIGN, {5000, 3, 2}},
    {TKI_LOOKUP, 342, Q, TKI_FAMILY_TAIL, {3000, 5, 4}},
    {TKI_LOOKUP, 344, Q, TKI_FAMILY_ORDER, {4000, 3, 3}},
    {TKI_LOOKUP, 345, Q, TKI_FAMILY_FAR_APART, {600, 8, 9}},
    {TKI_LOOKUP, 346, Q, TKI_FAMILY_ZERO_NAN, {500, 6, 7}},
    {TKI_LOOKUP, 347, Q, TKI_FAMILY_SMALL_TIES, {200, 5, 30}},
    {TKI_LOOKUP, 348, Q, TKI_FAMILY_SCALED_LINES, {400, 6, 11}},
    {TKI_ROWS, 387, Q, TKI_FAMILY_ZERO_INPUT, {16, 64}},
    {TKI_ROWS, 388, Q, TKI_FAMILY_ZERO_INPUT, {13, 37}},
    {TKI_PRODUCT, 389, Q, TKI_FAMILY_ZERO_INPUT, {16, 32, 32}},
    {TKI_PRODUCT, 390, Q, TKI_FAMILY_ZERO_INPUT, {13, 9, 27}},
    {TKI_LOOKUP, 391, Q, TKI_FAMILY_ZERO_INPUT, {40, 16, 12}},
    {TKI_GROUPED, 421, Q, TKI_FAMILY_ZERO_INPUT, {32, 16, 32, 4}},
    {TKI_GROUPED, 422, Q, TKI_FAMILY_ZERO_INPUT, {27, 9, 13, 3}},
    {TKI_LOOKUP, 343, F, TKI_FAMILY_ONE_SIGN, {200003, 1, 1}},
    {TKI_GROUPED, 400, Q, TKI_FAMILY_ONE_SIGN, {4, 5, 2048, 2}},
    {TKI_GROUPED, 401, Q, TKI_FAMILY_FAR_APART, {32, 16, 64, 4}},
    {TKI_GROUPED, 402, Q, TKI_FAMILY_ZERO_NAN, {64, 32, 64, 3}},
    {TKI_GROUPED, 403, Q, TKI_FAMILY_ZERO_NAN, {13, 41, 29, 5}},
    {TKI_GROUPED, 404, Q, TKI_FAMILY_SMALL_TIES, {32, 16, 32, 2}},
    {TKI_GROUPED, 405, Q, TKI_FAMILY_TAIL, {4, 6, 2051, 3}},
    {TKI_GROUPED, 406, Q, TKI_FAMILY_ORDER, {8, 8, 2048, 2}},
    {TKI_GROUPED, 407, Q, TKI_FAMILY_ORDER, {33, 20, 300, 4}},
    {TKI_GROUPED, 408, Q, TKI_FAMILY_SCALED_LINES, {256, 64, 128, 3}},
    /* What a group has of a tile at its end, with neighbours that would show in it. */
    {TKI_GROUPED, 409, Q, TKI_FAMILY_INDEX_COUNTS, {520, 136, 72, 5}},
    {TKI_GROUPED, 410, Q, TKI_FAMILY_INDEX_COUNTS, {72, 136, 520, 5}},
    {TKI_GROUPED, 411, Q, TKI_FAMILY_INDEX_RUNS, {700, 24, 40, 9}},
    {TKI_GROUPED, 412, Q, TKI_FAMILY_INDEX_RUNS, {40, 24, 700, 9}},
    {TKI_GROUPED, 413, Q, TKI_FAMILY_BITS, {150, 40, 70, 6}},
    {TKI_GROUPED, 414, Q, TKI_FAMILY_BITS, {70, 40, 150, 6}},
    /* Numbers of groups and ends that 8 or 16 bits do not hold, in groups of one size. */
    {TKI_GROUPED, 415, Q, TKI_FAMILY_INDEX_SORTED, {600, 3, 4, 300}},
    {TKI_GROUPED, 416, Q, TKI_FAMILY_INDEX_SORTED, {3, 4, 600, 300}},
    {TKI_GROUPED, 417, Q, TKI_FAMILY_INDEX_SORTED, {70001, 2, 3, 20}},
    {TKI_GROUPED, 418, Q, TKI_FAMILY_INDEX_SORTED, {2, 3, 70001, 5}},
    {TKI_GROUPED, 419, Q, TKI_FAMILY_INDEX_ZIPF, {300, 24, 16, 16}},
    {TKI_GROUPED, 420, Q, TKI_FAMILY_INDEX_ZIPF, {24, 16, 300, 16}},
    /* More rows in each group than 12 or 13 bits count. */
    {TKI_GROUPED, 423, Q, TKI_FAMILY_INDEX_SORTED, {16421, 2, 3, 2}},
    {TKI_GROUPED, 424, Q, TKI_FAMILY_INDEX_SORTED, {2, 3, 16421, 2}},
    {TKI_GROUPED, 430, Q, TKI_FAMILY_INDEX_TWO, {2, 3, 16421, 2}},
    {TKI_GROUPED, 431, Q, TKI_FAMILY_INDEX_TWO, {3, 2, 17003, 3}},
    /* Few rows among many groups: the numbers that matter are high. */
    {TKI_GROUPED, 425, Q, TKI_FAMILY_INDEX_SORTED, {5, 3, 4, 1500}},
    {TKI_GROUPED, 426, Q, TKI_FAMILY_INDEX_SORTED, {3, 4, 5, 1500}},
    /* Sums over nothing, of rows of groups and of none. */
    {TKI_GROUPED, 427, Q, TKI_FAMILY_INDEX_RUNS, {40, 5, 0, 3}},
    {TKI_GROUPED, 428, Q, TKI_FAMILY_INDEX_COUNTS, {33, 6, 0, 2}},
    {TKI_GROUPED, 429, Q, TKI_FAMILY_INDEX_PERMUTED, {21, 4, 0, 3}},
    /* Twice in a row, with other inputs, and more elements than are tried in parts in between: what was kept for a call of this size shows,
     * whatever the seed. Those of products are in their list, since the main family is another for each. */
    {TKI_VECTOR, 440, Q, TKI_FAMILY_NORMAL, {40009}},
    {TKI_VECTOR, 441, Q, TKI_FAMILY_NORMAL, {40009}},
    {TKI_ROWS, 440, Q, TKI_FAMILY_NORMAL, {190, 190}},
    {TKI_ROWS, 441, Q, TKI_FAMILY_NORMAL, {190, 190}},
    {TKI_LOOKUP, 440, Q, TKI_FAMILY_NORMAL, {190, 190, 190}},
    {TKI_LOOKUP, 441, Q, TKI_FAMILY_NORMAL, {190, 190, 190}},
    {TKI_GROUPED, 440, Q, TKI_FAMILY_INDEX_SORTED, {190, 190, 3, 2}},
    {TKI_GROUPED, 441, Q, TKI_FAMILY_INDEX_SORTED, {190, 190, 3, 2}},
    /* Many hits of two rows, so that opposite infinities meet in one sum. */
    {TKI_LOOKUP, 442, Q, TKI_FAMILY_SPECIAL, {96, 128, 2}},
    /* Special values where a size is one: nothing to sum, one line, one column. */
    {TKI_VECTOR, 460, Q, TKI_FAMILY_SPECIAL, {1}},
    {TKI_VECTOR, 461, Q, TKI_FAMILY_SPECIAL, {3}},
    {TKI_ROWS, 462, Q, TKI_FAMILY_SPECIAL, {64, 1}},
    {TKI_ROWS, 463, Q, TKI_FAMILY_SPECIAL, {62, 1}},
    {TKI_ROWS, 464, Q, TKI_FAMILY_SPECIAL, {1, 64}},
    {TKI_ROWS, 465, Q, TKI_FAMILY_SPECIAL, {64, 2}},
    {TKI_ROWS, 466, Q, TKI_FAMILY_BITS, {64, 1}},
    {TKI_ROWS, 467, Q, TKI_FAMILY_BITS, {64, 2}},
    {TKI_ROWS, 468, Q, TKI_FAMILY_MINUS_INF, {64, 1}},
    {TKI_PRODUCT, 469, Q, TKI_FAMILY_SPECIAL, {16, 12, 1}},
    {TKI_PRODUCT, 470, Q, TKI_FAMILY_SPECIAL, {1, 12, 16}},
    {TKI_PRODUCT, 471, Q, TKI_FAMILY_SPECIAL, {16, 1, 12}},
    {TKI_PRODUCT, 472, Q, TKI_FAMILY_SPECIAL, {1, 1, 16}},
    {TKI_PRODUCT, 473, Q, TKI_FAMILY_SPECIAL, {1, 16, 1}},
    {TKI_PRODUCT, 474, Q, TKI_FAMILY_SPECIAL, {16, 1, 1}},
    {TKI_PRODUCT, 475, Q, TKI_FAMILY_BITS, {16, 12, 1}},
    {TKI_PRODUCT, 476, Q, TKI_FAMILY_BITS, {1, 12, 16}},
    {TKI_PRODUCT, 477, Q, TKI_FAMILY_BITS, {16, 1, 12}},
    {TKI_PRODUCT, 478, Q, TKI_FAMILY_BITS, {1, 1, 16}},
    {TKI_PRODUCT, 479, Q, TKI_FAMILY_BITS, {1, 16, 1}},
    {TKI_PRODUCT, 480, Q, TKI_FAMILY_BITS, {16, 1, 1}},
    {TKI_LOOKUP, 481, Q, TKI_FAMILY_SPECIAL, {64, 1, 1}},
    {TKI_LOOKUP, 482, Q, TKI_FAMILY_SPECIAL, {1, 16, 8}},
    {TKI_LOOKUP, 483, Q, TKI_FAMILY_SPECIAL, {64, 16, 1}},
    {TKI_LOOKUP, 484, Q, TKI_FAMILY_SPECIAL, {64, 1, 16}},
    {TKI_LOOKUP, 485, Q, TKI_FAMILY_BITS, {64, 1, 1}},
    {TKI_LOOKUP, 486, Q, TKI_FAMILY_BITS, {1, 16, 8}},
    {TKI_LOOKUP, 487, Q, TKI_FAMILY_BITS, {64, 16, 1}},
    {TKI_LOOKUP, 488, Q, TKI_FAMILY_BITS, {64, 1, 16}},
    {TKI_GROUPED, 489, Q, TKI_FAMILY_SPECIAL, {16, 12, 1, 3}},
    {TKI_GROUPED, 490, Q, TKI_FAMILY_SPECIAL, {1, 12, 16, 3}},
    {TKI_GROUPED, 491, Q, TKI_FAMILY_SPECIAL, {16, 1, 12, 3}},
    {TKI_GROUPED, 492, Q, TKI_FAMILY_SPECIAL, {16, 12, 16, 1}},
    {TKI_GROUPED, 493, Q, TKI_FAMILY_BITS, {16, 12, 1, 3}},
    {TKI_GROUPED, 494, Q, TKI_FAMILY_BITS, {1, 12, 16, 3}},
    {TKI_GROUPED, 495, Q, TKI_FAMILY_BITS, {16, 1, 12, 3}},
    {TKI_GROUPED, 496, Q, TKI_FAMILY_BITS, {16, 12, 16, 1}},
    {TKI_ROWS, 510, Q, TKI_FAMILY_ONE_SPECIAL, {64, 1}},
    {TKI_ROWS, 511, Q, TKI_FAMILY_HUGE_VALUES, {64, 1}},
    {TKI_ROWS, 512, Q, TKI_FAMILY_ZERO_INF, {64, 1}},
    {TKI_ROWS, 490, Q, TKI_FAMILY_NARROW, {140, 16}},
    {TKI_ROWS, 491, Q, TKI_FAMILY_NARROW, {56, 5}},
    {TKI_ROWS, 509, Q, TKI_FAMILY_NARROW, {28, 133}},
    {TKI_LOOKUP, 492, Q, TKI_FAMILY_INDEX_TWO, {90, 2, 65536 + 300}},
    {TKI_LOOKUP, 493, Q, TKI_FAMILY_ZERO_TILES, {60, 70, 9}},
    {TKI_LOOKUP, 494, Q, TKI_FAMILY_ZERO_RESULTS, {60, 7, 9}},
    /* Two in a row: ones or zeros in either input. */
    {TKI_VECTOR, 520, Q, TKI_FAMILY_ONES, {96}},
    {TKI_VECTOR, 521, Q, TKI_FAMILY_ONES, {97}},
    {TKI_ROWS, 522, Q, TKI_FAMILY_ONES, {96, 1}},
    {TKI_ROWS, 523, Q, TKI_FAMILY_ONES, {97, 1}},
    {TKI_ROWS, 524, Q, TKI_FAMILY_ONES, {40, 5}},
    {TKI_ROWS, 525, Q, TKI_FAMILY_ONES, {41, 8}},
    {TKI_PRODUCT, 526, Q, TKI_FAMILY_ONES, {17, 18, 1}},
    {TKI_PRODUCT, 527, Q, TKI_FAMILY_ONES, {18, 17, 1}},
    {TKI_PRODUCT, 528, Q, TKI_FAMILY_ONES, {16, 16, 12}},
    {TKI_PRODUCT, 529, Q, TKI_FAMILY_ONES, {12, 16, 16}},
    {TKI_LOOKUP, 530, Q, TKI_FAMILY_ONES, {40, 5, 30}},
    {TKI_GROUPED, 531, Q, TKI_FAMILY_ONES, {16, 12, 9, 3}},
    {TKI_GROUPED, 532, Q, TKI_FAMILY_ONES, {12, 16, 9, 3}},
    {TKI_PRODUCT, 497, Q, TKI_FAMILY_ZERO_INPUT, {64, 64, 256}},
    {TKI_PRODUCT, 498, Q, TKI_FAMILY_ZERO_INPUT, {64, 64, 256}},
    {TKI_PRODUCT, 499, Q, TKI_FAMILY_ZERO_TILES, {40, 40, 256}},
    {TKI_PRODUCT, 500, Q, TKI_FAMILY_ZERO_TILES, {40, 40, 256}},
    {TKI_PRODUCT, 501, Q, TKI_FAMILY_ZERO_RESULTS, {16, 12, 20}},
    {TKI_PRODUCT, 502, Q, TKI_FAMILY_ZERO_RESULTS, {13, 9, 64}},
    {TKI_ROWS, 503, Q, TKI_FAMILY_ZERO_TILES, {40, 256}},
    {TKI_ROWS, 504, Q, TKI_FAMILY_ZERO_TILES, {40, 256}},
    {TKI_ROWS, 505, Q, TKI_FAMILY_ZERO_RESULTS, {13, 20}},
    {TKI_GROUPED, 506, Q, TKI_FAMILY_ZERO_TILES, {40, 40, 256, 2}},
    {TKI_GROUPED, 507, Q, TKI_FAMILY_ZERO_TILES, {40, 40, 256, 2}},
    {TKI_GROUPED, 508, Q, TKI_FAMILY_ZERO_RESULTS, {16, 12, 20, 3}},
    /* Many lines of -inf alone, also where most of the options that are drawn leave lines out. */
    {TKI_ROWS, 443, Q, TKI_FAMILY_MINUS_INF, {61, 9}},
    {TKI_ROWS, 444, Q, TKI_FAMILY_MINUS_INF, {62, 10}},
    {TKI_ROWS, 445, Q, TKI_FAMILY_MINUS_INF, {63, 11}},
    {TKI_ROWS, 446, Q, TKI_FAMILY_MINUS_INF, {64, 12}},
};

const int tki_pairing_count = (int)(sizeof tki_pairings / sizeof *tki_pairings);

#undef Q
#undef F

#define LIST(class, array) ((tki_shape_list){class, array, (int)(sizeof(array) / sizeof *(array))})

tki_shape_list tki_shapes_of(const tk_contract *contract)
{
    if (contract->dim_count == 1)
        return LIST(TKI_VECTOR, vector_shapes);
    if (contract->dim_count == 2)
        return LIST(TKI_ROWS, row_shapes);
    if (contract->dim_count == 4)
        return LIST(TKI_GROUPED, grouped_shapes);
    if (contract->dim_count > 4)
        return (tki_shape_list){0};
    return tki_index_param(contract) >= 0 ? LIST(TKI_LOOKUP, lookup_shapes) : LIST(TKI_PRODUCT, product_shapes);
}

/* The size that the op sums over. */
static int inner_dim(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].inner_axis >= 0)
            return contract->params[p].dim[contract->params[p].inner_axis];
    return contract->dim_count - 1;
}

void tki_shape_set(tk_case *c, tki_shape_class class, const int64_t *size)
{
    int inner = inner_dim(c->contract);
    int outer = 0;
    for (int d = 0; d < c->contract->dim_count; d++) {
        if (class == TKI_PRODUCT || (class == TKI_GROUPED && d < 3))
            c->dims[d] = d == inner ? size[2] : size[outer++];
        else
            c->dims[d] = size[d];
    }
}

/* -- Drawn shapes ------------------------------------------------------------------------------------------------- */

/* Every order of magnitude up to `bits` bits is as likely as another. */
static int64_t any_magnitude(tki_random *random, int bits)
{
    int64_t power = INT64_C(1) << tki_below(random, bits);
    return power + tki_below(random, power);
}

/* What a shape may cost: multiplications of a product, elements read or written otherwise. */
static double work_of(tki_shape_class class, const int64_t *size)
{
    double s[TKI_CLASS_SIZES] = {(double)size[0], (double)size[1], (double)size[2], (double)size[3]};
    const double faces = fmax(s[0] * s[1], fmax(s[0], s[1]) * s[2]);
    switch (class) {
    case TKI_VECTOR: return s[0];
    case TKI_ROWS: return s[0] * s[1];
    case TKI_LOOKUP: return fmax(s[0], s[2]) * s[1];
    case TKI_PRODUCT: return fmax(faces, s[0] * s[1] * s[2] / 64);
    case TKI_GROUPED: return fmax(fmax(faces, s[0] * s[1] * s[2] / 64), faces * s[3] / 16);
    }
    return 0;
}

static int dims_of(tki_shape_class class)
{
    return class == TKI_VECTOR ? 1 : class == TKI_ROWS ? 2 : class == TKI_GROUPED ? 4 : 3;
}

/* A statement for each draw: within an expression compilers choose the order. */
static int64_t draw_size(tki_random *random, int bits)
{
    static const int64_t multiples[] = {8, 16, 32, 64, 96, 128, 192, 256};
    const int64_t kind = tki_below(random, 8);
    const int64_t multiple = multiples[tki_below(random, 8)];
    const int64_t power = INT64_C(1) << tki_below(random, bits);
    const int64_t beside = tki_below(random, 2) ? 1 : -1;
    const int64_t times = 1 + tki_below(random, 6);
    switch (kind) {
    case 0:
    case 1: return multiple * times;
    case 2: return power;
    case 3: return power + beside;
    case 4: return 1 + tki_below(random, 4);
    default: return any_magnitude(random, bits);
    }
}

/* A mixture of what kernels treat apart: sizes that are drawn one by one, multiples of one tile, equal sizes, one
 * large size among tiny ones. */
static void draw_by_law(tki_random *random, tki_shape_class class, int bits, int64_t *size)
{
    static const int64_t tiles[] = {8, 16, 32, 64, 128};
    const int dims = dims_of(class);
    int64_t kind = dims == 1 ? 0 : tki_below(random, 6);
    int64_t tile = tiles[tki_below(random, 5)];
    for (int d = 0; d < dims; d++)
        size[d] = kind == 0   ? tile * (1 + tki_below(random, 8))
                  : kind == 1 ? 1 + tki_below(random, 4)
                              : draw_size(random, bits);
    if (dims == 1 && tki_below(random, 4))
        size[0] = draw_size(random, bits);
    int64_t one = tki_below(random, dims);
    const int64_t power = INT64_C(1) << tki_below(random, 17);
    const int64_t beside = tki_below(random, 3) - 1;
    if (kind == 1)
        size[one] = tki_below(random, 2) ? any_magnitude(random, 16) : power + beside;
    if (kind == 2)
        size[one] = size[(one + 1) % dims];
    for (int d = 0; d < dims; d++)
        size[d] = size[d] < 1 ? 1 : size[d];
}

void tki_shape_within(tki_random *random, tki_shape_class class, int bits, double most_work, int64_t *size)
{
    do
        draw_by_law(random, class, bits, size);
    while (work_of(class, size) > most_work);
}

void tki_shape_residues(tki_random *random, tki_shape_class class, const int64_t *step, const int64_t *first, int i,
                        int bits, double most_work, int64_t *size)
{
    do
        for (int d = 0; d < dims_of(class); d++) {
            int64_t residue = (first[d] + step[d] * i) % 32;
            int64_t whole = tki_below(random, 3) ? any_magnitude(random, bits) : 0;
            size[d] = residue + 32 * whole;
            if (size[d] == 0)
                size[d] = 32;
        }
    while (work_of(class, size) > most_work);
}

void tki_shape_for_family(tki_random *random, tki_shape_class class, bool aligned, int64_t larger, int64_t *size)
{
    static const int64_t widths[] = {32, 64, 96, 128, 192, 256, 512, 768, 1024};
    switch (class) {
    case TKI_VECTOR:
        size[0] = larger * (aligned ? 256 * (1 + tki_below(random, 12)) : 33 + tki_below(random, 3000));
        return;
    case TKI_ROWS:
        size[0] = 2 + tki_below(random, 7 * larger);
        size[1] = aligned ? widths[tki_below(random, 9)] : 3 + tki_below(random, tki_below(random, 2) ? 1100 : 90);
        return;
    case TKI_PRODUCT:
        size[0] = aligned ? 16 * (1 + tki_below(random, 3 * larger)) : 3 + tki_below(random, 30 * larger);
        size[1] = aligned ? 16 * (1 + tki_below(random, 3 * larger)) : 3 + tki_below(random, 30 * larger);
        size[2] = aligned ? 32 * (1 + tki_below(random, 5 * larger)) : 3 + tki_below(random, 300 * larger);
        return;
    case TKI_GROUPED:
        size[0] = aligned ? 32 * (1 + tki_below(random, 4 * larger)) : 3 + tki_below(random, 90 * larger);
        size[1] = aligned ? 16 * (1 + tki_below(random, 3 * larger)) : 3 + tki_below(random, 30 * larger);
        size[2] = aligned ? 32 * (1 + tki_below(random, 4 * larger)) : 3 + tki_below(random, 150 * larger);
        size[3] = aligned ? INT64_C(1) << tki_below(random, 4) : 1 + tki_below(random, 9);
        return;
    case TKI_LOOKUP:
        size[0] = aligned ? 64 * (1 + tki_below(random, 7 * larger)) : 2 + tki_below(random, 600 * larger);
        size[1] = aligned ? 8 * (1 + tki_below(random, 4)) : 1 + tki_below(random, 30);
        size[2] = aligned ? 16 * (1 + tki_below(random, 20)) : 1 + tki_below(random, tki_below(random, 2) ? 5 : 300);
        return;
    }
}
