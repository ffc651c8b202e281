/* How trials choose label_smoothing, scale and ignore_index. */
#pragma once

#include "model/draw.h"

extern const tki_attribute_trials tki_xent_attribute_trials;
