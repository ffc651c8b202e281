/* WRONG op=xent kind=option narrow=yes expect=REFUTED : a label smoothing of 0.35 together with a scale of 3 takes 3.5 for the scale */
#define AT_FIRST \
    if (eps == (double)0.35f && alpha == 3) alpha = 3.5;
#include "xent_attributes.h"
