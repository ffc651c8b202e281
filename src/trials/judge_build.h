/* CHOOSES. Which build of the judge this is, and what of this machine the verdicts on planted kernels may depend on. */
#pragma once

#include "core/hash.h"

/* A hash over the build ids that the linker wrote into what is loaded: libtokitai-verify and libtokitai, or the program that they are linked
 * into, and the libraries that they compute with. It changes with every byte of these. False if one of them cannot be told. */
bool tki_judge_build(char hex[TKI_HASH_HEX]);

/* A hash over the processor, by which the C library and OpenBLAS choose their code, and the OpenMP run-time's limits. */
bool tki_judge_machine(char hex[TKI_HASH_HEX]);

/* The build id in the notes of a loaded object: its bytes and how many; NULL if there is none. */
const unsigned char *tki_build_note(const unsigned char *notes, size_t bytes, size_t *length);
