/* RECORDS. Obstructions: kept, and written for terminals and as JSON. */
#include "glue/obstruction.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/escape.h"
#include "glue/json.h"

static const char *const names[TKI_OBSTRUCTION_KINDS] = {
    [TKI_GAP] = "GAP",
    [TKI_OVERLAP_DISAGREES] = "OVERLAP_DISAGREES",
    [TKI_REPLICA_DISAGREES] = "REPLICA_DISAGREES",
    [TKI_DTYPE] = "DTYPE",
    [TKI_SHAPE] = "SHAPE",
    [TKI_STEP_SKEW] = "STEP_SKEW",
    [TKI_DUPLICATE_NAME] = "DUPLICATE_NAME",
    [TKI_MISSING_SHARD] = "MISSING_SHARD",
    [TKI_STALE_SHARD] = "STALE_SHARD",
    [TKI_TRUNCATED] = "TRUNCATED",
    [TKI_HASH] = "HASH",
};

const char *tki_obstruction_name(tki_obstruction_kind kind)
{
    return names[kind];
}

static void free_texts(tki_obstruction *one)
{
    free(one->tensor);
    free(one->shards[0]);
    free(one->shards[1]);
    free(one->detail);
}

static char *copy_of(const char *text, bool *good)
{
    char *copy = text ? strdup(text) : NULL;
    *good = *good && (copy || !text);
    return copy;
}

void tki_obstruct(tki_obstructions *all, tki_obstruction obstruction, const char *detail, ...)
{
    all->count++;
    if (all->kept == TKI_OBSTRUCTIONS_KEPT)
        return;
    bool good = true;
    tki_obstruction one = obstruction;
    one.tensor = copy_of(obstruction.tensor, &good);
    one.shards[0] = copy_of(obstruction.shards[0], &good);
    one.shards[1] = copy_of(obstruction.shards[1], &good);
    one.detail = NULL;
    if (detail) {
        va_list arguments;
        va_start(arguments, detail);
        if (vasprintf(&one.detail, detail, arguments) < 0) {
            one.detail = NULL;
            good = false;
        }
        va_end(arguments);
    }
    tki_obstruction *longer = good ? realloc(all->list, (all->kept + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free_texts(&one);
        all->no_memory = true;
        return;
    }
    all->list = longer;
    all->list[all->kept++] = one;
}

void tki_obstructions_free(tki_obstructions *all)
{
    for (size_t i = 0; i < all->kept; i++)
        free_texts(&all->list[i]);
    free(all->list);
    *all = (tki_obstructions){0};
}

static void put_index(FILE *out, const int64_t *index, int rank)
{
    fputc('[', out);
    for (int d = 0; d < rank; d++)
        fprintf(out, "%s%lld", d ? ", " : "", (long long)index[d]);
    fputc(']', out);
}

static void put_element(FILE *out, const tki_obstruction *o)
{
    char first[TKI_ELEMENT_TEXT], second[TKI_ELEMENT_TEXT];
    tki_element_text(o->type, o->bits[0], first);
    tki_element_text(o->type, o->bits[1], second);
    fputs(" at ", out);
    put_index(out, o->element, o->box.rank);
    fprintf(out, ": %s in %s, %s in %s", first, o->shards[0], second, o->shards[1]);
    fprintf(out, "; %lld of %lld elements differ", (long long)o->differing, (long long)o->of);
}

char *tki_obstruction_text(const tki_obstruction *o)
{
    char *text = NULL, box[TKI_BOX_TEXT];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (o->tensor)
        fprintf(out, "tensor \"%s\"", o->tensor);
    if (o->has_box) {
        tki_box_text(&o->box, box);
        fprintf(out, " %s", box);
    }
    if (o->has_element)
        put_element(out, o);
    else if (o->shards[0])
        fprintf(out, "%s%s%s%s", o->tensor ? " in " : "", o->shards[0], o->shards[1] ? " and " : "",
                o->shards[1] ? o->shards[1] : "");
    if (o->detail)
        fprintf(out, "%s%s", o->has_element ? "; " : o->tensor || o->shards[0] ? ": " : "", o->detail);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

json_t *tki_obstruction_json(const tki_obstruction *o)
{
    char pattern[32];
    json_t *value = json_pack("{s:s}", "kind", names[o->kind]);
    if (o->tensor)
        json_object_set_new(value, "tensor", tki_json_text(o->tensor));
    if (o->shards[0])
        json_object_set_new(value, "shards", json_array());
    for (int i = 0; i < 2 && o->shards[i]; i++)
        json_array_append_new(json_object_get(value, "shards"), tki_json_text(o->shards[i]));
    if (o->has_box) {
        json_object_set_new(value, "start", tki_json_sizes(o->box.start, o->box.rank));
        json_object_set_new(value, "size", tki_json_sizes(o->box.size, o->box.rank));
    }
    if (o->has_element) {
        json_object_set_new(value, "dtype", json_string(tki_format_of(o->type).file_name));
        json_object_set_new(value, "element", tki_json_sizes(o->element, o->box.rank));
        json_object_set_new(value, "bits", json_array());
        for (int i = 0; i < 2; i++) {
            snprintf(pattern, sizeof pattern, "0x%llx", (unsigned long long)o->bits[i]);
            json_array_append_new(json_object_get(value, "bits"), json_string(pattern));
        }
    }
    if (o->of) {
        json_object_set_new(value, "elements", json_integer(o->differing));
        json_object_set_new(value, "of", json_integer(o->of));
    }
    if (o->detail)
        json_object_set_new(value, "detail", tki_json_text(o->detail));
    return value;
}
