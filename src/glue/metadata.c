/* RECORDS. Metadata of what is written. */
#include "glue/metadata.h"

#include <string.h>

#include "glue/json.h"
#include "glue/placement.h"

json_t *tki_common_metadata(const tki_checkpoint *checkpoint)
{
    json_t *common = json_object(), *disputed = json_object();
    bool good = common && disputed;
    for (size_t i = 0; i < checkpoint->shard_count && good; i++) {
        const char *key;
        json_t *value, *metadata = json_object_get(checkpoint->shards[i].file.header, TKI_SAFETENSORS_METADATA);
        json_object_foreach(metadata, key, value)
        {
            const json_t *there = json_object_get(common, key);
            if (!strcmp(key, TKI_PLACEMENT_KEY))
                continue;
            good = good && !json_object_set(there && !json_equal(there, value) ? disputed : common, key, value);
        }
        if (checkpoint->shards[i].step && !json_object_get(common, "step"))
            good = good && !json_object_set_new(common, "step", json_string(checkpoint->shards[i].step));
    }
    const char *key;
    json_t *value;
    json_object_foreach(disputed, key, value)
    {
        json_object_del(common, key);
    }
    json_decref(disputed);
    if (good)
        return common;
    json_decref(common);
    return NULL;
}
