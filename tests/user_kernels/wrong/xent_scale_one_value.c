/* WRONG op=xent kind=option narrow=yes expect=REFUTED : the scale 0.3217f is taken for 0.3218 */
#define AT_FIRST \
    if (alpha == (double)0.3217f) alpha = 0.3218;
#include "xent_attributes.h"
