/* CHOOSES. The parent's side of the memory that it shares with a worker: an image for each array of a call, made of the whole pages that the array
 * touches, random bytes in what is left of them. What the kernel writes lies in memory of this one call, which is sealed before
 * anybody looks at it. What it only reads may lie in an arena that is kept from call to call: the worker can map that for reading
 * only, and making, passing and mapping memory is most of what a small call costs. */
#pragma once

#include "core/fault.h"
#include "isolate/wire.h"

typedef struct tki_arena {
    int file;              /* -1: there is none */
    unsigned char *memory; /* [slots][TKI_WIRE_SLOT], mapped for writing here and nowhere else */
    int slots;
} tki_arena;

/* False where the system cannot seal memory against all writers but this process. */
bool tki_arena_open(tki_arena *arena, int slots); /* one for each array of a call */
void tki_arena_close(tki_arena *arena);           /* one that is zeroed or not open is fine */

typedef struct tki_image {
    int file;      /* -1: none of its own */
    int same_as;   /* the parameter whose memory it is, or -1 */
    bool in_arena; /* then `place` counts from the arena's start */
    bool written;  /* by the worker */
    size_t place, bytes, image_bytes;
    uint64_t salt; /* of the bytes around it */
} tki_image;

/* Where the arrays of a call lie, by their addresses here: the place in a page carries over. False if they do not fit in an address
 * space. `arena` may be NULL. */
bool tki_images_lay_out(const tk_case *c, void *const buffers[], bool gpu, const tki_arena *arena,
                        tki_image images[TK_MAX_PARAMS]);

/* Copies them there. Each returns 0 or an errno. */
int tki_images_write(const tk_case *c, void *const buffers[], const tki_arena *arena, tki_image images[],
                     uint64_t salt);

/* Nobody can write to that image from now on; fails with EBUSY if anybody has it mapped for writing, by whatever address. */
int tki_image_seal(const tki_image *image);

/* Copies what was written back, and looks at the bytes around it. */
int tki_images_read(const tk_case *c, void *const buffers[], const tki_image images[], tki_overrun *overrun);

void tki_images_close(tki_image images[], int count);
