/* CHOOSES. A heap that shows what a kernel does beside its own allocations. The program's malloc stands before libc's in every library that is
 * loaded. Until the guard is raised it hands on to libc. Then each block ends with a page, behind which nothing is accessible, holds noise at
 * first, and is never used again once freed. What does not fit, or comes after too many, is libc's as before. Foreign code shares this memory and
 * may damage the books; that shows, or it does not, and nobody relies on them. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "worker/worker_program.h"

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

enum { PAGE = 1 << 12, ALIGNMENT = 16, MOST_PAGES = 1 << 20, MOST_BLOCKS = 1 << 14, MARK = 0xa5 };

/* Of a block, at the place of its first page. It begins there and ends with its last page, but for what the alignment leaves. */
typedef struct about {
    unsigned char *start, *end; /* of the block; of its last page */
    size_t bytes;
    bool freed;
} about;

static unsigned char *region; /* NULL: no guard */
static size_t region_pages;
static atomic_size_t used_pages;
static atomic_uint block_count;
static about *_Atomic blocks[MOST_BLOCKS]; /* NULL: not given yet */
static about abouts[MOST_PAGES];
static pthread_mutex_t freeing = PTHREAD_MUTEX_INITIALIZER; /* a block must not go while it is looked at */
static bool damaged;

bool tki_worker_heap_guard(size_t most_bytes)
{
    region_pages = most_bytes / PAGE < MOST_PAGES ? most_bytes / PAGE : MOST_PAGES;
    void *memory = mmap(NULL, region_pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    region = memory == MAP_FAILED ? NULL : memory;
    return region != NULL;
}

bool tki_worker_heap_owns(const void *address)
{
    const unsigned char *place = address;
    return region && place >= region && place < region + region_pages * PAGE;
}

/* Of an address that the region has. */
static about *about_of(const void *address)
{
    return &abouts[(size_t)((const unsigned char *)address - region) / PAGE];
}

/* NULL: not here. */
static unsigned char *take(size_t bytes, size_t alignment)
{
    if (!region || alignment > PAGE || bytes > (region_pages / 4) * PAGE)
        return NULL;
    const size_t taken = ((bytes ? bytes : 1) + alignment - 1) / alignment * alignment;
    const size_t pages = (taken + PAGE - 1) / PAGE;
    const unsigned number = atomic_fetch_add(&block_count, 1);
    const size_t first = number < MOST_BLOCKS ? atomic_fetch_add(&used_pages, pages + 1) : region_pages;
    unsigned char *page = region + first * PAGE;
    if (first + pages + 1 > region_pages || mprotect(page, pages * PAGE, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    about *block = &abouts[first];
    block->bytes = bytes;
    block->end = page + pages * PAGE;
    block->start = block->end - taken;
    memset(block->start + bytes, MARK, taken - bytes);
    blocks[number] = block;
    return block->start;
}

/* The bytes between the block's end and its page's, which are there for the alignment. */
static bool is_intact(const about *block)
{
    for (const unsigned char *place = block->start + block->bytes; place < block->end; place++)
        if (*place != MARK)
            return false;
    return true;
}

bool tki_worker_heap_is_damaged(void)
{
    const unsigned count = atomic_load(&block_count);
    pthread_mutex_lock(&freeing);
    for (unsigned i = 0; i < count && i < MOST_BLOCKS && !damaged; i++) {
        const about *block = blocks[i];
        if (block && !block->freed && !is_intact(block))
            damaged = true;
    }
    pthread_mutex_unlock(&freeing);
    return damaged;
}

/* ------------------------------------------------------------------------------------------------------------
 * In libc's place
 * ------------------------------------------------------------------------------------------------------------ */

/* Neither zeros nor the same everywhere. */
static void make_noise(unsigned char *block, size_t bytes)
{
    uint32_t state = 0x9e3779b9u ^ (uint32_t)bytes;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525u + 1013904223u;
        block[i] = (unsigned char)(state >> 24);
    }
}

void *malloc(size_t bytes)
{
    unsigned char *block = take(bytes, ALIGNMENT);
    if (!block)
        return __libc_malloc(bytes);
    make_noise(block, bytes);
    return block;
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    unsigned char *block = __builtin_mul_overflow(count, bytes, &all) ? NULL : take(all, ALIGNMENT);
    return block ? block : __libc_calloc(count, bytes); /* pages are new, and so zero */
}

void free(void *block)
{
    if (!tki_worker_heap_owns(block)) {
        __libc_free(block);
        return;
    }
    about *known = about_of(block);
    const int error = errno;
    pthread_mutex_lock(&freeing);
    if (block != known->start || known->freed || !is_intact(known)) {
        damaged = true; /* never given, freed twice, or written behind its end */
    } else {
        unsigned char *page = region + (size_t)(known - abouts) * PAGE;
        madvise(page, (size_t)(known->end - page), MADV_DONTNEED);
        mprotect(page, (size_t)(known->end - page), PROT_NONE);
        known->freed = true;
    }
    pthread_mutex_unlock(&freeing);
    errno = error;
}

void *realloc(void *block, size_t bytes)
{
    if (!block)
        return malloc(bytes);
    if (!tki_worker_heap_owns(block))
        return __libc_realloc(block, bytes);
    const size_t before = about_of(block)->bytes;
    void *moved = malloc(bytes);
    if (moved) {
        memcpy(moved, block, before < bytes ? before : bytes);
        free(block);
    }
    return moved;
}

static void *allocate_aligned(size_t alignment, size_t bytes)
{
    unsigned char *block = take(bytes, alignment > ALIGNMENT ? alignment : ALIGNMENT);
    if (!block)
        return __libc_memalign(alignment, bytes);
    make_noise(block, bytes);
    return block;
}

static bool is_power_of_two(size_t n)
{
    return n && !(n & (n - 1));
}

void *memalign(size_t alignment, size_t bytes)
{
    return is_power_of_two(alignment) ? allocate_aligned(alignment, bytes) : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!is_power_of_two(alignment) || alignment % sizeof(void *))
        return EINVAL;
    const int error = errno;
    void *made = allocate_aligned(alignment, bytes);
    errno = error;
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

void *valloc(size_t bytes)
{
    return allocate_aligned(PAGE, bytes);
}

size_t malloc_usable_size(void *block)
{
    static size_t (*libcs)(void *);
    if (tki_worker_heap_owns(block))
        return about_of(block)->bytes;
    if (!libcs)
        *(void **)&libcs = dlsym(RTLD_NEXT, "malloc_usable_size");
    return libcs ? libcs(block) : 0;
}
