/* How trials choose label_smoothing, scale and ignore_index. */
#ifndef TKI_OPS_XENT_TRIALS_H
#define TKI_OPS_XENT_TRIALS_H

#include "model/draw.h"

extern const tki_attribute_trials tki_xent_attribute_trials;

#endif
