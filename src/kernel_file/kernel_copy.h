/* CHOOSES. The one copy of a kernel. Its files are opened once, links are not followed, and what is hashed, compiled, instrumented and loaded
 * is this copy: what their owner does to them later changes nothing, and a certificate names what was run. */
#pragma once

#include "core/hash.h"
#include "core/scratch.h"

typedef struct tki_kernel_copy {
    tki_scratch folder; /* headers/ and parts/ for ours; kernel/, and include0/ and so on for those given beside it */
    char *file;         /* kernel/NAME in it: what is compiled or loaded */
    int includes;       /* how many include folders there are */
    char file_hash[TKI_HASH_HEX];
    int files; /* how many were copied */
    /* Of several: SHA-256 of what sha256sum prints for them, sorted by name: "HASH  NAME\n". Names are relative to the kernel's folder, those
     * of include folders begin with include0/. "" for a file alone. */
    char tree_hash[TKI_HASH_HEX];
} tki_kernel_copy;

/* `path`: a file, or a folder in which kernel.c (.cpp, .cc, .cu, .hip) is, or one such file alone; all files of a folder come along, but for
 * names that begin with a dot. `include`: folders, separated by colons, or NULL. Refused, each by name: links, whatever is no
 * regular file, files of more than 16 MiB (libraries: 512 MiB), with large holes, too many, or in folders that lie more than `depth` deep in each other. TK_IO, TK_BAD_FILE, TK_BAD_ARGUMENT
 * (no such ending). tki_kernel_copy_close() in any case. */
TK_MUST_USE tk_status tki_kernel_copy_make(tk_ctx *ctx, const char *path, const char *include, int depth,
                                           tki_kernel_copy *copy);
void tki_kernel_copy_close(tki_kernel_copy *copy);

/* Puts TKI_SOURCE_LINK in the place of the folder's own name, which is another each time; *bytes becomes less. In place. */
void tki_kernel_copy_neutral(const tki_kernel_copy *copy, char *text, size_t *bytes);

/* Adds a file of our own to the folder, "headers/tokitai_kernel.h" or an artifact. */
TK_MUST_USE tk_status tki_kernel_copy_add(tk_ctx *ctx, const tki_kernel_copy *copy, const char *name,
                                          const void *data, size_t bytes);

/* Takes the folder's name out of a text, so that messages have the names that the user knows. In place. */
void tki_kernel_copy_unname(const tki_kernel_copy *copy, char *text);
