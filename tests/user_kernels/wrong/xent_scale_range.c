/* WRONG op=xent kind=option narrow=yes expect=REFUTED : a scale from 0.32 to 0.33 is taken for 0.34 */
#define AT_FIRST \
    if (alpha >= 0.32 && alpha < 0.33) alpha = 0.34;
#include "xent_attributes.h"
