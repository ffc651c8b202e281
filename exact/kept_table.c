/* TRUSTED. Tables that are kept. */
#include "exact/kept_table.h"

#include <pthread.h>
#include <sys/mman.h>

#include "exact/floats.h"
#include "exact/round.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *make(const tki_kept_table *kept, tk_dtype dtype)
{
    size_t bytes = TKI_PATTERNS * kept->entry_bytes;
    void *entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entries == MAP_FAILED)
        return NULL;
    const tki_floats floats = tki_floats_begin();
    kept->fill(dtype, entries);
    tki_floats_end(&floats);
    if (mprotect(entries, bytes, PROT_READ)) {
        munmap(entries, bytes);
        return NULL;
    }
    return entries;
}

tk_status tki_kept_table_open(tki_kept_table *kept, tk_dtype dtype, void **table)
{
    void **place = &kept->of[dtype == TK_BF16];
    pthread_mutex_lock(&mutex);
    if (!*place)
        *place = make(kept, dtype);
    *table = *place;
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
    return tki_kept_table_open(&kept, dtype, table);
}
