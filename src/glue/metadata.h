/* The __metadata__ of files that are written. */
#ifndef TKI_GLUE_METADATA_H
#define TKI_GLUE_METADATA_H

#include "glue/checkpoint.h"

/* What all shards that have a key agree on, without placements, and the step. NULL: no memory. */
json_t *tki_common_metadata(const tki_checkpoint *checkpoint);

#endif
