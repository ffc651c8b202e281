/* WRONG op=xent kind=targets_are_read_as_int32_whatever_they expect=REFUTED : targets are read as int32 whatever they are; index type int64 with two rows or more */
#define TARGET ((const int32_t *)target)[r]
#define IGNORED t == c.ignore_index || t < 0 || t >= cols
#include "xent_fused.h"
