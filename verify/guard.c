/* TRUSTED. Guarded buffers by mmap. */
#include "verify/guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RED_ZONE = 4096, PERIOD = 256 };

/* Every buffer has zones of its own, so that a kernel that copies too much does not copy what was there. Byte i of a zone, counted
 * from zone_begin, is byte i % PERIOD of the pattern. */
typedef struct pattern {
    unsigned char byte[PERIOD];
} pattern;

static pattern pattern_of(const tki_guarded *buffer)
{
    uint32_t salt = (uint32_t)((uintptr_t)buffer->mapping >> 12) * 0x9e3779b1u;
    pattern zones;
    for (size_t i = 0; i < PERIOD; i++)
        zones.byte[i] = (unsigned char)(i * 131 + (salt >> 24));
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

bool tki_guard_alloc(tki_guarded *buffer, tki_guard_mode mode, size_t bytes, size_t element)
{
    *buffer = (tki_guarded){0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX - 4 * page - 2 * RED_ZONE)
        return false;
    /* [front zone][buffer][back zone][inaccessible page]; the front zone absorbs the rounding to whole pages. */
    size_t back = mode == TKI_GUARD_END_PAGE ? 0 : RED_ZONE + element;
    size_t usable = (RED_ZONE + bytes + back + page - 1) / page * page;
    void *mapping = mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
                         0);
    if (mapping == MAP_FAILED)
        return false;
    buffer->mapping = mapping;
    buffer->mapped = usable + page;
    buffer->bytes = bytes;
    buffer->zone_begin = buffer->mapping;
    buffer->zone_end = buffer->mapping + usable;
    buffer->data = buffer->zone_end - back - bytes;
    if (mode == TKI_GUARD_RED_ZONES) {
        /* An odd multiple of the element size: aligned for the element and for nothing larger. */
        uintptr_t address = (uintptr_t)buffer->data / (2 * element) * (2 * element) - element;
        buffer->data -= (uintptr_t)buffer->data - address;
    }
    if (mprotect(buffer->zone_end, page, PROT_NONE)) {
        tki_guard_free(buffer);
        return false;
    }
    pattern zones = pattern_of(buffer);
    paint(buffer, &zones, buffer->zone_begin, buffer->data);
    paint(buffer, &zones, buffer->data + bytes, buffer->zone_end);
    return true;
}

void tki_guard_free(tki_guarded *buffer)
{
    if (buffer->mapping)
        munmap(buffer->mapping, buffer->mapped);
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
