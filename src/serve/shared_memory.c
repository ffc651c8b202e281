/* SHOWS. Mapping what a client passed. */
#include "serve/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/context.h"

static void unmap(tki_shared *shared)
{
    if (shared->data)
        munmap(shared->data, shared->bytes);
    *shared = (tki_shared){0};
}

void tki_shared_unmap(tki_shared_set *set)
{
    for (int i = 0; i < TKI_SHARED_KEPT; i++)
        unmap(&set->kept[i]);
}

/* A mapping keeps its file alive, so the file's number is not given to another meanwhile. One that has grown since is mapped
 * anew. */
static tki_shared *find(tki_shared_set *set, const struct stat *info, bool writable)
{
    for (int i = 0; i < TKI_SHARED_KEPT; i++) {
        tki_shared *kept = &set->kept[i];
        if (kept->data && kept->device == info->st_dev && kept->inode == info->st_ino &&
            kept->bytes == (size_t)info->st_size && (kept->writable || !writable))
            return kept;
    }
    return NULL;
}

static tki_shared *least_recently_used(tki_shared_set *set)
{
    tki_shared *oldest = &set->kept[0];
    for (int i = 1; i < TKI_SHARED_KEPT; i++)
        if (set->kept[i].used < oldest->used)
            oldest = &set->kept[i];
    return oldest;
}

tk_status tki_shared_map(tk_ctx *ctx, tki_shared_set *set, int file, bool writable, const tki_shared **shared)
{
    struct stat info;
    int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the descriptor is not a memfd");
    if (!(seals & F_SEAL_SHRINK))
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the memfd is not sealed against shrinking (F_SEAL_SHRINK)");
    /* Only after the seal is known to be there does the size tell anything. */
    if (fstat(file, &info) != 0 || info.st_size <= 0 || (uint64_t)info.st_size > SIZE_MAX)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "the memfd is empty or has no valid size");
    tki_shared *kept = find(set, &info, writable);
    if (kept) {
        kept->used = ++set->uses;
        *shared = kept;
        return TK_OK;
    }
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "cannot map the memfd for %s: %s", writable ? "writing" : "reading",
                        strerror(errno));
    kept = least_recently_used(set);
    unmap(kept);
    *kept = (tki_shared){data, (size_t)info.st_size, writable, info.st_dev, info.st_ino, ++set->uses};
    *shared = kept;
    return TK_OK;
}
