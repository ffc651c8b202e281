/* SHOWS. Binary frames of a kernel program: a call and its reply as isolate/wire.h has them, arrays in the frame or in shared memory. */
#pragma once

#include "isolate/wire.h"
#include "serve/service.h"
#include "serve/shared_memory.h"

/* The reply: a struct, records of arrays, a text with its padding, an array that stays where it is. */
typedef struct tki_binary_reply {
    tki_wire_reply fixed;
    tki_wire_buffer buffers[TKI_WIRE_BUFFERS]; /* [fixed.buffer_count] */
    char text[TKI_WIRE_TEXT + 8];
    size_t text_bytes; /* with padding */
    const void *array; /* the output, if it goes back in the frame */
    size_t array_bytes;
} tki_binary_reply;

/* Serves one frame (8-byte aligned) that came with these descriptors. Returns an exit status; the reply is made in any case, and
 * its array is valid until the next call. */
TK_MUST_USE int tki_service_binary(tki_service *service, const void *frame, size_t bytes, const int files[],
                                   int file_count, tki_shared_set *shared, tki_binary_reply *reply);
