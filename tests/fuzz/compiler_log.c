/* Fuzz target: the output of a compiler, read for what kernels use and for warnings, and as it is shown; the same as a log of
 * compute-sanitizer. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/kernel_resources.h"
#include "isolate/sanitizer.h"
#include "tests/fuzz/escape.h"

enum { MOST = 3 };

static void check(const tki_kernel_resources *kernels, int count)
{
    assert(count >= 0 && count <= MOST);
    for (int i = 0; i < count; i++) {
        const tki_kernel_resources *k = &kernels[i];
        size_t length = strnlen(k->name, sizeof k->name);
        assert(length > 0 && length < sizeof k->name);
        /* It goes into a line of the cache entry, between blanks. */
        for (size_t c = 0; c < length; c++)
            assert((unsigned char)k->name[c] > ' ' && k->name[c] != 127);
        assert(k->registers >= 0 && k->shared_bytes >= 0 && k->stack_bytes >= 0 && k->spill_store_bytes >= 0 &&
               k->spill_load_bytes >= 0);
    }
}

static void try_sanitizer(const char *text)
{
    tki_sanitizer_report report;
    tki_sanitizer_read(text, &report);
    tki_escape_in_place(report.text, sizeof report.text);
    tki_escape_in_place(report.problem, sizeof report.problem);
    assert(is_visible(report.text, "") && is_visible(report.problem, ""));
    assert(report.kind == TKI_SANITIZER_NOTHING || report.text[0]);
}

/* As a certificate, a terminal and JUnit have it. */
static void try_shown(const char *text)
{
    char *place = malloc(strlen(text) + 1);
    if (!place)
        return;
    tki_escape_lines(text, strlen(text), place, strlen(text) + 1);
    assert(is_visible(place, "\n\t"));
    free(place);
    char *xml = written(tki_put_xml, text, 200);
    assert(is_xml_text(xml));
    free(xml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tki_kernel_resources kernels[MOST];
    char warnings[64];
    char *text = calloc(size + 1, 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    check(kernels, tki_resources_of_ptxas(text, kernels, MOST));
    check(kernels, tki_resources_of_clang(text, kernels, MOST));
    tki_log_warnings(text, warnings, sizeof warnings);
    assert(is_visible(warnings, ""));
    try_sanitizer(text);
    try_shown(text);
    free(text);
    return 0;
}
