/* CHOOSES. One artifact as a file: lines of text that say what it is, then the image.
 *
 *     tokitai artifact 1
 *     key 5f1c...                      of the fields below, see tki_entry_key()
 *     image 0a77...                    SHA-256 of the image
 *     bytes 18328
 *     backend cuda
 *     source ops/gelu/kernel.cu
 *     source_hash 77be...
 *     dtype f16                        f16-f32 where the results are of another type
 *     architecture sm_90
 *     options --gpu-architecture=sm_90 ...
 *     compiler NVRTC 13.0
 *     identity NVRTC 13.0; 109338064 bytes of ...
 *     warnings
 *     note
 *     kernels 1
 *     kernel gelu_fwd 32 0 0 0 0       registers, shared, stack, spill stores, spill loads
 *     header 9c01...                   SHA-256 of all lines above
 *
 * and an empty line. Nothing else is taken: no other order, no further line, no byte too many. */
#pragma once

#include "compile/digest.h"

/* The key of what the artifact's fields say: backend, source and its hash, dtype, architecture, options, compiler. */
bool tki_entry_key(tki_digest *digest, const tki_compiled_kernel *artifact, char key[TKI_DIGEST_HEX]);

/* The file's bytes; free() them. NULL without memory or if the digest failed. */
char *tki_entry_encode(tki_digest *digest, const tki_compiled_kernel *artifact, size_t *bytes);

/* Reads a file's bytes and checks every hash, the image's only with `whole`. `key`, if not NULL, is the one it must have. On success
 * the artifact's image is a copy (`whole`) or NULL. On failure nothing has to be freed and `problem` says what is wrong. */
bool tki_entry_decode(tki_digest *digest, const char *data, size_t bytes, const char *key, bool whole,
                      tki_compiled_kernel *artifact, char *problem, size_t problem_size);
