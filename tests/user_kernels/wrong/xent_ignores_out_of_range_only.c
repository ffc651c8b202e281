/* WRONG op=xent kind=only_targets_outside_the_classes_are_ign expect=REFUTED : only targets outside the classes are ignored, ignore_index is never looked at; ignore_index inside the classes */
#define IGNORED t < 0 || t >= cols
#include "xent_fused.h"
