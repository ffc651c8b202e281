/* CHOOSES. Images of arrays in memory files. */
#include "isolate/array_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/random.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* since Linux 5.1 */
#endif

enum { GPU_ZONE = 4096, GPU_ALIGNMENT = 256, ARENA_ZONE = 512 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static int create_file(void)
{
    enum { NOEXEC_SEAL = 8 }; /* some systems insist on it, those before Linux 6.3 do not know it */
    int file = memfd_create("array", MFD_CLOEXEC | MFD_ALLOW_SEALING | NOEXEC_SEAL);
    return file < 0 && errno == EINVAL ? memfd_create("array", MFD_CLOEXEC | MFD_ALLOW_SEALING) : file;
}

/* -- The arena --------------------------------------------------------------------------------------------- */

bool tki_arena_open(tki_arena *arena, int slots)
{
    const size_t bytes = (size_t)slots * TKI_WIRE_SLOT;
    *arena = (tki_arena){.file = create_file(), .slots = slots};
    if (arena->file >= 0 && !ftruncate(arena->file, (off_t)bytes)) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->file, 0);
        arena->memory = memory == MAP_FAILED ? NULL : memory;
    }
    const int seals = F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (arena->memory && !fcntl(arena->file, F_ADD_SEALS, seals))
        return true;
    tki_arena_close(arena);
    return false;
}

void tki_arena_close(tki_arena *arena)
{
    if (arena->memory) {
        munmap(arena->memory, (size_t)arena->slots * TKI_WIRE_SLOT);
        close(arena->file);
    } else if (arena->file > 0) {
        close(arena->file);
    }
    *arena = (tki_arena){.file = -1};
}

/* In its slot: at the end or the beginning if it ends or begins with a page, where nothing accessible is beyond; else on the
 * second page and after. */
static size_t place_in_slot(size_t place, size_t bytes, size_t page)
{
    if ((place + bytes) % page == 0)
        return TKI_WIRE_SLOT - bytes;
    return place == 0 ? 0 : page + place;
}

/* -- Layout ------------------------------------------------------------------------------------------------ */

bool tki_images_lay_out(const tk_case *c, void *const buffers[], bool gpu, const tki_arena *arena,
                        tki_image images[TK_MAX_PARAMS])
{
    const size_t page = page_size();
    for (int p = 0; p < c->contract->param_count; p++) {
        tki_image *image = &images[p];
        *image = (tki_image){.file = -1, .same_as = -1, .written = gpu || c->contract->params[p].output};
        image->bytes = (size_t)tk_case_elements(c, p) * tk_dtype_size(tk_case_param_dtype(c, p));
        if (image->bytes > SIZE_MAX / 2)
            return false;
        if (gpu) { /* there are no inaccessible pages on a device, so that both zones have a size of their own */
            image->place = GPU_ZONE + (uintptr_t)buffers[p] % GPU_ALIGNMENT;
            image->image_bytes = round_up(image->place + image->bytes + GPU_ZONE, page);
        } else {
            image->place = image->bytes ? (uintptr_t)buffers[p] % page : 0;
            image->image_bytes = round_up(image->place + image->bytes, page);
        }
        for (int q = 0; q < p && image->bytes && image->same_as < 0; q++)
            if (buffers[p] == buffers[q] && images[q].bytes)
                image->same_as = q;
        if (image->same_as >= 0)
            images[image->same_as].written |= image->written;
    }
    for (int p = 0; p < c->contract->param_count && arena && arena->memory; p++) {
        tki_image *image = &images[p];
        if (image->written || image->same_as >= 0 || !image->bytes || image->bytes > TKI_WIRE_SLOT - 3 * page)
            continue;
        image->in_arena = true;
        image->place = (size_t)p * TKI_WIRE_SLOT + place_in_slot(image->place, image->bytes, page);
    }
    return true;
}

/* -- Zones ------------------------------------------------------------------------------------------------- */

/* Random, so that nobody can tell them from what lies beside any other array; each array's are its own, so that a kernel that copies
 * too much does not copy what was there. */
static void paint(uint64_t salt, bool behind, unsigned char *out, size_t bytes)
{
    tki_random random = tki_random_stream(salt, behind);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t bits = tki_random_u64(&random);
        memcpy(out + i, &bits, bytes - i < sizeof bits ? bytes - i : sizeof bits);
    }
}

/* The zones of an image, front and back, in memory of this process. */
typedef struct zones {
    unsigned char *front, *back;
    size_t front_bytes, back_bytes;
} zones;

static bool zones_open(const tki_image *image, zones *z)
{
    *z = (zones){.front_bytes = image->place, .back_bytes = image->image_bytes - image->place - image->bytes};
    z->front = malloc(2 * (z->front_bytes + z->back_bytes) + 1); /* as painted; as seen behind that */
    z->back = z->front + z->front_bytes;
    return z->front != NULL;
}

static void zones_paint(const tki_image *image, const zones *z)
{
    paint(image->salt, false, z->front, z->front_bytes);
    paint(image->salt, true, z->back, z->back_bytes);
}

/* -- Transfer ---------------------------------------------------------------------------------------------- */

/* All of the parts, one behind the other from the file's start; returns 0 or an errno. */
static int transfer(int file, struct iovec parts[3], bool write)
{
    off_t offset = 0;
    for (int i = 0; parts[0].iov_len + parts[1].iov_len + parts[2].iov_len > 0;) {
        ssize_t n = write ? pwritev(file, parts + i, 3 - i, offset) : preadv(file, parts + i, 3 - i, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        offset += n;
        for (; i < 3 && (size_t)n >= parts[i].iov_len; i++) {
            n -= (ssize_t)parts[i].iov_len;
            parts[i].iov_len = 0;
        }
        if (i < 3) {
            parts[i].iov_base = (char *)parts[i].iov_base + n;
            parts[i].iov_len -= (size_t)n;
        }
    }
    return 0;
}

static int write_file(tki_image *image, const void *data)
{
    zones z;
    image->file = create_file();
    if (image->file < 0)
        return errno;
    if (!zones_open(image, &z))
        return ENOMEM;
    zones_paint(image, &z);
    struct iovec parts[] = {
        {z.front, z.front_bytes}, {(void *)(uintptr_t)data, image->bytes}, {z.back, z.back_bytes}};
    int error = transfer(image->file, parts, true);
    free(z.front);
    int seals = F_SEAL_GROW | F_SEAL_SHRINK | (image->written ? 0 : F_SEAL_WRITE | F_SEAL_SEAL);
    if (!error && fcntl(image->file, F_ADD_SEALS, seals))
        error = errno;
    return error;
}

/* Beyond the zones there is what earlier calls left. */
static void write_slot(const tki_image *image, const tki_arena *arena, int p, const void *data)
{
    const size_t slot = (size_t)p * TKI_WIRE_SLOT, end = slot + TKI_WIRE_SLOT;
    const size_t behind = image->place + image->bytes;
    const size_t front = image->place - slot < ARENA_ZONE ? image->place - slot : ARENA_ZONE;
    paint(image->salt, false, arena->memory + image->place - front, front);
    memcpy(arena->memory + image->place, data, image->bytes);
    paint(image->salt, true, arena->memory + behind, end - behind < ARENA_ZONE ? end - behind : ARENA_ZONE);
}

int tki_images_write(const tk_case *c, void *const buffers[], const tki_arena *arena, tki_image images[],
                     uint64_t salt)
{
    int error = 0;
    for (int p = 0; p < c->contract->param_count && !error; p++) {
        images[p].salt = salt + (uint64_t)p;
        if (images[p].in_arena)
            write_slot(&images[p], arena, p, buffers[p]);
        else if (images[p].same_as < 0 && images[p].image_bytes)
            error = write_file(&images[p], buffers[p]);
    }
    return error;
}

int tki_image_seal(const tki_image *image)
{
    return fcntl(image->file, F_ADD_SEALS, F_SEAL_WRITE) ? errno : 0;
}

/* The first byte that is not as it was painted. */
static void compare(const unsigned char *painted, const unsigned char *seen, size_t bytes, int param, int64_t offset,
                    tki_overrun *overrun)
{
    if (overrun->param >= 0 || !memcmp(painted, seen, bytes))
        return;
    size_t i = 0;
    while (painted[i] == seen[i])
        i++;
    overrun->param = param;
    overrun->offset = offset + (int64_t)i;
}

static int read_file(const tki_image *image, void *data, int param, tki_overrun *overrun)
{
    zones z;
    if (!zones_open(image, &z))
        return ENOMEM;
    unsigned char *seen = z.back + z.back_bytes;
    struct iovec parts[] = {{seen, z.front_bytes}, {data, image->bytes}, {seen + z.front_bytes, z.back_bytes}};
    zones_paint(image, &z);
    int error = transfer(image->file, parts, false);
    if (!error) {
        compare(z.front, seen, z.front_bytes, param, -(int64_t)z.front_bytes, overrun);
        compare(z.back, seen + z.front_bytes, z.back_bytes, param, (int64_t)image->bytes, overrun);
    }
    free(z.front);
    return error;
}

int tki_images_read(const tk_case *c, void *const buffers[], const tki_image images[], tki_overrun *overrun)
{
    int error = 0;
    for (int p = 0; p < c->contract->param_count && !error; p++)
        if (images[p].file >= 0 && images[p].written)
            error = read_file(&images[p], buffers[p], p, overrun);
    return error;
}

void tki_images_close(tki_image images[], int count)
{
    for (int p = 0; p < count; p++)
        if (images[p].file >= 0)
            close(images[p].file);
}
