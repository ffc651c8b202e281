/* RIGHT op=xent kind=two_passes expect=HELD : two passes, the target's gradient from the sum of the others; the row is read before it is written over */
#include "xent_fused.h"
