/* DECIDES. Tables, most with an entry for each pattern of a 16-bit type, made when first asked for and kept until the process ends: every
 * certificate of an op looks things up in the same one. They are mapped read-only, so that a stray write by a kernel that runs in this
 * process faults instead of changing what the next one is judged by. That is no defence against intent: such a kernel could call
 * mprotect() or change the pointers below. Kernel files run in a worker, which has none of this. */
#pragma once

#include "model/format.h"

enum { TKI_PATTERNS = 1 << 16 };

/* A static one of these, zeroed, is where a kind of table is kept. */
typedef struct tki_kept_table {
    void *of[TKI_DTYPE_COUNT]; /* NULL until it is made */
    size_t entry_bytes;
    void (*fill)(tk_dtype dtype, void *entries); /* [TKI_PATTERNS] */
    bool
        any_width; /* who looks up takes elements by tki_element_bits(); else there are tables of 16-bit formats only */
} tki_kept_table;

/* Safe to call from several threads at once. TK_INTERNAL: such elements have no table. */
TK_MUST_USE tk_status tki_kept_table_open(tki_kept_table *kept, tk_dtype dtype, void **table);

/* The same for one table that does not depend on a type. */
typedef struct tki_kept_single {
    void *table;
    size_t bytes;
    void (*fill)(void *table);
} tki_kept_single;

TK_MUST_USE tk_status tki_kept_single_open(tki_kept_single *kept, void **table);

/* float [TKI_PATTERNS]: the number that each pattern stands for, which fp32 holds exactly; NULL for fp32, whose elements are these numbers
 * themselves. Of the shape of an oracle's open(). */
TK_MUST_USE tk_status tki_values_open(tk_dtype dtype, void **table);

/* The number that an element stands for. */
static inline double tki_value_at(const float *values, const void *elements, int64_t i)
{
    return values ? (double)values[((const uint16_t *)elements)[i]] : (double)((const float *)elements)[i];
}
