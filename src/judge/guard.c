/* DECIDES. Guarded buffers by mmap(). */
#include "judge/guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/random.h"

enum { RED_ZONE = 4096, PERIOD = 256 };

/* Every buffer has zones of its own, so that a kernel that copies too much does not copy what was there. Byte i of a zone, counted
 * from zone_begin, is byte i % PERIOD of the pattern. */
typedef struct pattern {
    unsigned char byte[PERIOD];
} pattern;

static pattern pattern_of(const tki_guarded *buffer)
{
    tki_random random = tki_random_stream((uintptr_t)buffer->mapping, 0);
    pattern zones;
    for (size_t i = 0; i < PERIOD; i += 8) {
        uint64_t bits = tki_random_u64(&random);
        memcpy(zones.byte + i, &bits, 8);
    }
    return zones;
}

/* How many of the bytes from `at` up to `end` lie in one period of the pattern. */
static size_t stretch(const tki_guarded *buffer, const unsigned char *at, const unsigned char *end)
{
    size_t left = PERIOD - (size_t)(at - buffer->zone_begin) % PERIOD;
    return left < (size_t)(end - at) ? left : (size_t)(end - at);
}

static void paint(const tki_guarded *buffer, const pattern *zones, unsigned char *at, const unsigned char *end)
{
    for (size_t part; at < end; at += part) {
        part = stretch(buffer, at, end);
        memcpy(at, zones->byte + (size_t)(at - buffer->zone_begin) % PERIOD, part);
    }
}

/* The first byte that is not as it was painted; NULL if all are. */
static const unsigned char *first_changed(const tki_guarded *buffer, const pattern *zones, const unsigned char *at,
                                          const unsigned char *end)
{
    for (size_t part; at < end; at += part) {
        const unsigned char *painted = zones->byte + (size_t)(at - buffer->zone_begin) % PERIOD;
        part = stretch(buffer, at, end);
        if (!memcmp(at, painted, part))
            continue;
        while (*at == *painted) {
            at++;
            painted++;
        }
        return at;
    }
    return NULL;
}

/* The place in a page, at TKI_EDGE_NONE. */
static size_t place_in_page(tki_placement placement, size_t element, size_t page)
{
    size_t alignment = placement.alignment > element ? placement.alignment : element;
    if (alignment >= TKI_MOST_ALIGNMENT)
        return placement.offset % (page / TKI_MOST_ALIGNMENT) * TKI_MOST_ALIGNMENT;
    return alignment + placement.offset % (page / (2 * alignment)) * 2 * alignment;
}

/* How far from the start of the first page that it touches. */
static size_t first_byte(tki_placement placement, size_t bytes, size_t element, size_t page)
{
    switch (placement.edge) {
    case TKI_EDGE_PAGE_END: return (page - bytes % page) % page;
    case TKI_EDGE_PAGE_START: return 0;
    default: return place_in_page(placement, element, page);
    }
}

bool tki_guard_alloc(tki_guarded *buffer, tki_placement placement, size_t bytes, size_t element)
{
    *buffer = (tki_guarded){0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX / 2)
        return false;
    /* [inaccessible page][front zone][buffer][back zone][inaccessible page]. The front zone is always there: a kernel that shares this
     * process and steps before the start, as planted ones do, shall be judged and not end it. */
    size_t front = (RED_ZONE + page - 1) / page * page;
    size_t back = placement.edge == TKI_EDGE_PAGE_END ? 0 : RED_ZONE;
    size_t place = first_byte(placement, bytes, element, page);
    size_t usable = (front + place + bytes + back + page - 1) / page * page;
    void *mapping = mmap(NULL, usable + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    buffer->mapping = mapping;
    buffer->mapped = usable + 2 * page;
    buffer->bytes = bytes;
    buffer->zone_begin = buffer->mapping + page;
    buffer->zone_end = buffer->zone_begin + usable;
    buffer->data = buffer->zone_begin + front + place;
    if (mmap(buffer->zone_begin, usable, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0) == MAP_FAILED) {
        tki_guard_free(buffer);
        return false;
    }
    pattern zones = pattern_of(buffer);
    paint(buffer, &zones, buffer->zone_begin, buffer->data);
    paint(buffer, &zones, buffer->data + bytes, buffer->zone_end);
    return true;
}

bool tki_guard_alloc_plain(tki_guarded *buffer, tki_placement placement, size_t bytes, size_t element)
{
    *buffer = (tki_guarded){0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX / 2 || !(buffer->mapping = malloc(bytes + 2 * page)))
        return false;
    uintptr_t first_page = ((uintptr_t)buffer->mapping + page - 1) / page * page;
    buffer->data = (unsigned char *)first_page + first_byte(placement, bytes, element, page);
    buffer->bytes = bytes;
    buffer->zone_begin = buffer->data;
    buffer->zone_end = buffer->data + bytes;
    return true;
}

void tki_guard_free(tki_guarded *buffer)
{
    if (buffer->mapped)
        munmap(buffer->mapping, buffer->mapped);
    else
        free(buffer->mapping);
    *buffer = (tki_guarded){0};
}

bool tki_guard_intact(const tki_guarded *buffer, int64_t *offset)
{
    pattern zones = pattern_of(buffer);
    const unsigned char *changed = first_changed(buffer, &zones, buffer->zone_begin, buffer->data);
    if (!changed)
        changed = first_changed(buffer, &zones, buffer->data + buffer->bytes, buffer->zone_end);
    if (changed)
        *offset = changed - buffer->data;
    return !changed;
}
