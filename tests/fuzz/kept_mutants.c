/* Fuzz target: a file of verdicts on mutants. As it is, nearly every one is refused for its hash; so each is also tried with its hash put
 * right, and with the key and the seed that follow from its fields. What is taken must be, byte for byte, what would be written. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trials/kept_mutants.h"

static void try_file(const char *data, size_t bytes)
{
    tki_kept_mutants kept;
    char problem[256];
    size_t written;
    if (!tki_kept_decode(data, bytes, NULL, &kept, problem, sizeof problem)) {
        assert(problem[0] && !kept.list);
        return;
    }
    assert(!problem[0] && kept.count >= 0 && kept.count <= TKI_KEPT_MOST && tki_is_date(kept.date));
    char *again = tki_kept_encode(&kept, &written);
    assert(again ? written == bytes && !memcmp(again, data, bytes) : bytes > TKI_KEPT_MOST_BYTES);
    free(again);
    tki_kept_free(&kept);
}

/* Writes over what a line "NAME ..." has behind its name, if it is as long. */
static void put(char *data, size_t bytes, const char *name, const char *value)
{
    char *place = memmem(data, bytes, name, strlen(name));
    if (place && (size_t)(data + bytes - place) >= strlen(name) + strlen(value))
        memcpy(place + strlen(name), value, strlen(value));
}

static void seal(char *data, size_t bytes)
{
    char hash[TKI_HASH_HEX];
    const char *place = memmem(data, bytes, "\nhash ", 6);
    if (place && tki_hash_bytes(data, (size_t)(place - data) + 1, hash))
        put(data, bytes, "\nhash ", hash);
}

/* The text of a line "NAME VALUE", cut to `size`. */
static void get(const char *data, size_t bytes, const char *name, char *value, size_t size)
{
    const char *place = memmem(data, bytes, name, strlen(name));
    value[0] = 0;
    if (!place)
        return;
    place += strlen(name);
    size_t length = 0;
    while (length < size - 1 && place + length < data + bytes && place[length] != '\n')
        length++;
    memcpy(value, place, length);
    value[length] = 0;
}

static void try_sealed(const char *data, size_t bytes)
{
    tki_kept_mutants like = {0};
    char *copy = malloc(bytes + 1), seed[32];
    if (!copy)
        return;
    memcpy(copy, data, bytes);
    seal(copy, bytes);
    try_file(copy, bytes);
    get(data, bytes, "\nbuild ", like.build, sizeof like.build);
    get(data, bytes, "\nmachine ", like.machine, sizeof like.machine);
    get(data, bytes, "\nop ", like.op, sizeof like.op);
    get(data, bytes, "\ntypes ", like.types, sizeof like.types);
    get(data, bytes, "\nindex ", like.index, sizeof like.index);
    if (tki_kept_key(&like, like.key) && tki_mutants_seed(like.build, like.op, like.types, like.index, &like.seed)) {
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)like.seed);
        put(copy, bytes, "\nkey ", like.key);
        put(copy, bytes, "\nseed ", seed);
        seal(copy, bytes);
        try_file(copy, bytes);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_file((const char *)data, size);
    try_sealed((const char *)data, size);
    return 0;
}
