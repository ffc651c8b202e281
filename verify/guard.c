/* TRUSTED. Guarded buffers by mmap. */
#include "verify/guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RED_ZONE = 4096 };

/* Every buffer has zones of its own, so that a kernel that copies too much does not copy what was there. */
static unsigned char zone_byte(const tki_guarded *buffer, size_t i)
{
    uint32_t salt = (uint32_t)((uintptr_t)buffer->mapping >> 12) * 0x9e3779b1u;
    return (unsigned char)(i * 131 + (salt >> 24));
}

static void paint(tki_guarded *buffer)
{
    for (unsigned char *p = buffer->zone_begin; p < buffer->data; p++)
        *p = zone_byte(buffer, (size_t)(p - buffer->zone_begin));
    for (unsigned char *p = buffer->data + buffer->bytes; p < buffer->zone_end; p++)
        *p = zone_byte(buffer, (size_t)(p - buffer->zone_begin));
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
    paint(buffer);
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
    for (const unsigned char *p = buffer->zone_begin; p < buffer->zone_end; p++) {
        if (p == buffer->data)
            p += buffer->bytes;
        if (p < buffer->zone_end && *p != zone_byte(buffer, (size_t)(p - buffer->zone_begin))) {
            *offset = p - buffer->data;
            return false;
        }
    }
    return true;
}
