/* WRONG op=linear_fwd kind=index_overflow narrow=yes expect=REFUTED : bias_gelu counts columns in 16 bits: beyond 65535 it takes the bias of another column */
#define BIAS_AT has_gelu ? (uint16_t)j : j
#include "linear_fwd.h"
