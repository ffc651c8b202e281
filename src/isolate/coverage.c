/* CHOOSES. The parent's side of coverage: shared memory, and what is read out of it. */
#include "isolate/coverage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool tki_coverage_open(tki_coverage *coverage)
{
    const size_t bytes = sizeof(tki_coverage_memory);
    *coverage = (tki_coverage){.file = memfd_create("array", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (coverage->file < 0)
        return false;
    /* A file that shrinks would end the process that reads it. */
    bool good = !ftruncate(coverage->file, (off_t)bytes) &&
                !fcntl(coverage->file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    void *memory = good ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, coverage->file, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) {
        tki_coverage_close(coverage);
        return false;
    }
    coverage->memory = memory;
    coverage->memory->magic = TKI_COVERAGE_MAGIC;
    return true;
}

void tki_coverage_close(tki_coverage *coverage)
{
    if (coverage->memory)
        munmap(coverage->memory, sizeof *coverage->memory);
    if (coverage->memory || coverage->file > 0)
        close(coverage->file);
    *coverage = (tki_coverage){.file = -1};
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const tki_site *)a)->key, y = ((const tki_site *)b)->key;
    return (x > y) - (x < y);
}

static bool is_sound(const tki_site *site)
{
    return site->key && site->met && site->kind < TKI_SITE_KINDS &&
           (site->bytes == 1 || site->bytes == 2 || site->bytes == 4 || site->bytes == 8);
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

bool tki_coverage_read(const void *memory, size_t bytes, tki_coverage_report *report)
{
    tki_coverage_memory head; /* but its tables */
    const size_t head_bytes = offsetof(tki_coverage_memory, sites);
    report->site_count = 0;
    if (bytes < offsetof(tki_coverage_memory, blocks))
        return false;
    memcpy(&head, memory, head_bytes);
    if (head.magic != TKI_COVERAGE_MAGIC)
        return false;
    report->block_count = at_most(head.block_count, TKI_COVERAGE_BLOCKS);
    report->edge_count = at_most(head.edge_count, TKI_COVERAGE_EDGES);
    report->outcome_count = at_most(head.outcome_count, 4 * TKI_COVERAGE_SITES);
    report->steps = head.steps;
    report->lost = head.lost != 0;
    for (size_t i = 0; i < TKI_COVERAGE_SITES; i++) {
        tki_site *site = &report->sites[report->site_count];
        memcpy(site, (const char *)memory + head_bytes + i * sizeof *site, sizeof *site);
        site->outcomes &= TKI_OUTCOMES;
        site->met &= TKI_OUTCOMES;
        report->site_count += is_sound(site);
    }
    qsort(report->sites, (size_t)report->site_count, sizeof *report->sites, by_key);
    return true;
}

unsigned char *tki_coverage_counters(const tki_coverage *coverage, size_t *bytes)
{
    uint32_t count = *(volatile uint32_t *)&coverage->memory->counter_bytes;
    *bytes = 0;
    if (!count || count > TKI_COVERAGE_COUNTERS)
        return NULL;
    unsigned char *copy = malloc(count);
    if (copy)
        memcpy(copy, coverage->memory->counters, count);
    *bytes = copy ? count : 0;
    return copy;
}
