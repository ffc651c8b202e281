/* Fuzz target: what comes out of an instrumented kernel's process. The bytes as the beginning of the shared memory; as what gcov prints;
 * as a source. Whatever comes, counts stay within their tables and what is read is in order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "certify/missed_lines.h"
#include "isolate/coverage.h"
#include "kernel_file/covered_lines.h"
#include "kernel_file/source_constants.h"

static void try_memory(const uint8_t *data, size_t size)
{
    static tki_coverage_memory memory;
    static tki_coverage_report report;
    memset(&memory, 0, sizeof memory);
    memcpy(&memory, data, size < sizeof memory ? size : sizeof memory);
    assert(!tki_coverage_read(&memory, offsetof(tki_coverage_memory, sites), &report));
    if (!tki_coverage_read(&memory, sizeof memory, &report)) {
        assert(memory.magic != TKI_COVERAGE_MAGIC);
        return;
    }
    assert(report.block_count <= TKI_COVERAGE_BLOCKS && report.edge_count <= TKI_COVERAGE_EDGES);
    assert(report.site_count >= 0 && report.site_count <= TKI_COVERAGE_SITES);
    for (int i = 0; i < report.site_count; i++) {
        const tki_site *site = &report.sites[i];
        assert(site->key && site->kind < TKI_SITE_KINDS && site->outcomes <= TKI_OUTCOMES);
        assert(i == 0 || report.sites[i - 1].key <= site->key);
    }
    tki_coverage coverage = {.file = -1, .memory = &memory};
    size_t bytes;
    unsigned char *counters = tki_coverage_counters(&coverage, &bytes);
    assert(bytes <= TKI_COVERAGE_COUNTERS && (counters || !bytes));
    free(counters);
}

static void try_lines(const char *text)
{
    tki_lines lines;
    char printed[48];
    if (!tki_lines_read(text, "/", "k.c", &lines))
        return;
    assert(lines.run >= 0 && lines.run <= lines.count);
    int64_t last = -1;
    int file = 0;
    for (int i = 0; i < lines.missed_count; i++) {
        const tki_line_range *r = &lines.missed[i];
        assert(r->file >= file && r->file < lines.file_count);
        last = r->file == file ? last : -1;
        file = r->file;
        assert(r->first > last && r->last >= r->first);
        last = r->last;
    }
    assert((lines.missed_count > 0) == (lines.run < lines.count));
    json_t *ranges = tki_lines_json(&lines);
    tki_ranges_print(ranges, SIZE_MAX, printed, sizeof printed);
    json_decref(ranges);
    assert(strlen(printed) < sizeof printed);
    tki_lines_free(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tki_dictionary dictionary;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    try_memory(data, size);
    try_lines(text);
    tki_dictionary_scan((const char *)data, size, &dictionary);
    tki_dictionary_scan_code((const char *)data, size, &dictionary);
    assert(dictionary.integer_count <= TKI_MOST_INTEGERS && dictionary.float_count <= TKI_MOST_FLOATS);
    free(text);
    return 0;
}
