/* CHOOSES. The constants of a kernel: those of its own files as they were preprocessed, and those of the code that is judged, where
 * enumerations, macros and expressions have their values. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "isolate/worker_process.h"
#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"

enum { MOST_SOURCE_BYTES = 1 << 28, TOOL_SECONDS = 60 };

static void scan_source(tk_ctx *ctx, const tk_kernel_file *kernel, tki_dictionary *dictionary)
{
    char *text;
    size_t bytes;
    if (kernel->is_library || tki_file_read(ctx, kernel->text ? kernel->text : kernel->copy.file, MOST_SOURCE_BYTES,
                                            &text, &bytes) != TK_OK)
        return;
    tki_dictionary_scan(text, kernel->text ? tki_text_own_parts(text, bytes) : bytes, dictionary);
    free(text);
}

/* Without objdump, which is where a linker is, the source alone will do. */
static void scan_code(tk_ctx *ctx, const tk_kernel_file *kernel, tki_dictionary *dictionary)
{
    char objdump[PATH_MAX], *listing;
    tki_scratch folder;
    if (!tki_language_compiler("objdump", objdump, sizeof objdump) || tki_scratch_make(ctx, &folder) != TK_OK)
        return;
    const char *command[] = {objdump, "-d", "--no-show-raw-insn", "-j", ".text", kernel->artifact, NULL};
    if (tki_worker_tool(ctx, &folder, command, (const char *const[]){kernel->artifact, NULL}, TOOL_SECONDS,
                        &kernel->terms, &listing) == TK_OK) {
        tki_dictionary_scan_code(listing, strlen(listing), dictionary);
        free(listing);
    }
    tki_scratch_remove(&folder);
}

const tki_dictionary *tki_kernel_file_constants(tk_ctx *ctx, const tk_kernel_file *kernel)
{
    tki_instrumented *made = kernel->instrumented;
    pthread_mutex_lock(&made->lock);
    if (!made->scanned && kernel->artifact) {
        scan_source(ctx, kernel, &made->dictionary);
        made->dictionary.own_integers = made->dictionary.integer_count;
        scan_code(ctx, kernel, &made->dictionary);
    }
    made->scanned = true;
    pthread_mutex_unlock(&made->lock);
    return &made->dictionary;
}
