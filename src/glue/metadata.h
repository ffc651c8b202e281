/* RECORDS. The __metadata__ of files that are written. */
#pragma once

#include "glue/checkpoint.h"

/* What all shards that have a key agree on, without placements, and the step. NULL: no memory. */
json_t *tki_common_metadata(const tki_checkpoint *checkpoint);
