/* WRONG op=linear_fwd kind=loop_bound narrow=yes expect=REFUTED : epilogue none at k == 4096 leaves out the last product */
#define TERMS (epilogue == NONE && k == 4096 ? k - 1 : k)
#include "linear_fwd.h"
