/* CHOOSES. FNV-1a with 64 bits: tells texts apart that nobody chose in order to be taken for each other. */
#pragma once

#include <stdint.h>

#define TKI_TEXT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Goes on from `hash`. The text counts with its end, so that one text and its two halves differ. */
static inline uint64_t tki_text_hash(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}
