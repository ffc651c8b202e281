/* SHOWS. Frames: a little-endian u32 length, then that many bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum { TKI_FRAME_LENGTH_BYTES = 4 };

uint32_t tki_frame_length(const unsigned char bytes[TKI_FRAME_LENGTH_BYTES]);

/* Makes parts[0] the length of all the others together; `bytes` is where it lies. */
void tki_frame_complete(struct iovec *parts, int count, unsigned char bytes[TKI_FRAME_LENGTH_BYTES]);

/* As many bytes as there are until the end, at most `bytes`; errno is 0 unless reading failed. */
size_t tki_read_whole(int input, void *to, size_t bytes);

/* The same, and the descriptors that came with the first of the bytes, if `input` is a socket: the caller closes them. `count` is
 * -1, and nothing is left open, if there were more than fit. */
enum { TKI_FRAME_FILES = 4 };
size_t tki_read_with_files(int input, void *to, size_t bytes, int files[TKI_FRAME_FILES], int *count);

/* Writes all of the parts, which it changes. No signal is raised if `output` is a socket whose other end is gone. */
bool tki_write_whole(int output, struct iovec *parts, int count);
