/* CHOOSES. tki_gpu_launch_words(): whose launches have which words. Between gpu.c, which owns the device, and gpu_words.c. */
#pragma once

#include "drivers/driver.h"
#include "runtime/gpu.h"

typedef struct tki_word_user tki_word_user;

typedef struct tki_gpu_words {
    tki_word_user *users; /* [count], of `room` */
    int count, room;
    uint32_t **chunks; /* in device memory, each for some users */
} tki_gpu_words;

tki_gpu_words *tki_gpu_words_of(tki_gpu *gpu);
const tki_driver *tki_gpu_driver_of(const tki_gpu *gpu);

/* Frees all of it. Graphs that use words must not be launched any more, but may still exist. */
void tki_gpu_words_free(tki_gpu *gpu);
