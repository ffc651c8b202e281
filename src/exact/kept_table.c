/* DECIDES. Tables that are kept. */
#include "exact/kept_table.h"

#include <pthread.h>
#include <sys/mman.h>

#include "exact/floats.h"
#include "exact/round.h"

_Static_assert(sizeof((tki_kept_table *)0)->of / sizeof(void *) == TKI_DTYPE_COUNT, "a table for each format");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *map_bytes(size_t bytes)
{
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

/* NULL: the system does not let it be. */
static void *read_only(void *table, size_t bytes)
{
    if (mprotect(table, bytes, PROT_READ) == 0)
        return table;
    munmap(table, bytes);
    return NULL;
}

static void *make(const tki_kept_table *kept, tk_dtype dtype)
{
    size_t bytes = TKI_PATTERNS * kept->entry_bytes;
    void *entries = map_bytes(bytes);
    if (!entries)
        return NULL;
    const tki_floats floats = tki_floats_begin();
    kept->fill(dtype, entries);
    tki_floats_end(&floats);
    return read_only(entries, bytes);
}

tk_status tki_kept_table_open(tki_kept_table *kept, tk_dtype dtype, void **table)
{
    if (!tki_is_dtype(dtype) || !tki_is_tabled(dtype) || (!kept->any_width && tki_format_of(dtype).bits != 16))
        return TK_INTERNAL;
    void **place = &kept->of[dtype];
    pthread_mutex_lock(&mutex);
    if (!*place)
        *place = make(kept, dtype);
    *table = *place;
    pthread_mutex_unlock(&mutex);
    return *table ? TK_OK : TK_NO_MEMORY;
}

static void *make_single(const tki_kept_single *kept)
{
    void *table = map_bytes(kept->bytes);
    if (!table)
        return NULL;
    const tki_floats floats = tki_floats_begin();
    kept->fill(table);
    tki_floats_end(&floats);
    return read_only(table, kept->bytes);
}

tk_status tki_kept_single_open(tki_kept_single *kept, void **table)
{
    pthread_mutex_lock(&mutex);
    if (!kept->table)
        kept->table = make_single(kept);
    *table = kept->table;
    pthread_mutex_unlock(&mutex);
    return *table ? TK_OK : TK_NO_MEMORY;
}

static void fill_values(tk_dtype dtype, void *entries)
{
    float *values = entries;
    for (uint32_t bits = 0; bits < TKI_PATTERNS; bits++)
        values[bits] = (float)tki_decode(dtype, bits);
}

tk_status tki_values_open(tk_dtype dtype, void **table)
{
    static tki_kept_table kept = {.entry_bytes = sizeof(float), .fill = fill_values};
    if (!tki_is_tabled(dtype)) {
        *table = NULL;
        return TK_OK;
    }
    return tki_kept_table_open(&kept, dtype, table);
}
