/* RECORDS. Small parts of JSON that this folder writes and reads. */
#pragma once

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/escape.h"
#include "tensors/safetensors.h"

/* A string, whatever the bytes are. */
static inline json_t *tki_json_text(const char *text)
{
    char *good = tki_utf8(text);
    json_t *value = good ? json_string(good) : NULL;
    free(good);
    return value;
}

static inline json_t *tki_json_sizes(const int64_t *sizes, int rank)
{
    json_t *list = json_array();
    for (int d = 0; d < rank; d++)
        json_array_append_new(list, json_integer(sizes[d]));
    return list;
}

/* A list of at most TKI_TENSOR_MAX_RANK numbers from 0 on; false if it is anything else. */
static inline bool tki_json_read_sizes(const json_t *list, int64_t *sizes, int *rank)
{
    if (!json_is_array(list) || json_array_size(list) > TKI_TENSOR_MAX_RANK)
        return false;
    *rank = (int)json_array_size(list);
    for (int d = 0; d < *rank; d++) {
        const json_t *size = json_array_get(list, (size_t)d);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return false;
        sizes[d] = json_integer_value(size);
    }
    return true;
}

/* Whether an object has no members but these (NULL ends them): a misspelt name, "sha265", would pass for an absent one. */
static inline bool tki_json_has_only(const json_t *object, const char *const *names)
{
    size_t known = 0;
    for (const char *const *name = names; *name; name++)
        known += json_object_get(object, *name) != NULL;
    return json_object_size(object) == known;
}

/* The last part of a path. */
static inline const char *tki_name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
