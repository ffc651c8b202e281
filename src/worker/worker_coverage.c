/* CHOOSES. The worker's end of coverage: finds, in the library of an instrumented kernel, the hook of isolate/coverage_runtime.c, and has gcov's
 * counters written. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isolate/coverage.h"
#include "worker/worker_program.h"

static const tki_coverage_hook *hook; /* NULL: nobody watches */
static const char *counters_folder;
static tki_coverage_memory *memory;

/* The one hook in what the library may write, if there is one. */
typedef struct search {
    uintptr_t base;
    const unsigned char *found;
    int count;
} search;

static int look_through(struct dl_phdr_info *library, size_t size, void *data)
{
    static const unsigned char mark[] = TKI_COVERAGE_MARK;
    search *s = data;
    (void)size;
    if (library->dlpi_addr != s->base)
        return 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        const unsigned char *at = (const unsigned char *)s->base + part->p_vaddr, *end = at + part->p_filesz;
        for (; (at = memmem(at, (size_t)(end - at), mark, sizeof mark)); at++) {
            s->found = at;
            s->count++;
        }
    }
    return 1;
}

/* A library with several has one of its own making: then there is none. */
static const tki_coverage_hook *find_hook(uintptr_t base)
{
    search s = {.base = base};
    dl_iterate_phdr(look_through, &s);
    return s.count == 1 && (uintptr_t)s.found % _Alignof(tki_coverage_hook) == 0
               ? (const tki_coverage_hook *)(const void *)s.found
               : NULL;
}

bool tki_worker_watch(const tki_worker_settings *settings, int file, void *function)
{
    Dl_info about;
    void *mapped = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED || !dladdr(function, &about))
        return false;
    memory = mapped;
    counters_folder = settings->sandbox.scratch;
    hook = find_hook((uintptr_t)about.dli_fbase);
    if (hook)
        hook->attach(memory, (uintptr_t)about.dli_fbase);
    return true;
}

void tki_worker_watch_call(int threads)
{
    if (hook)
        hook->begin_call(threads);
}

void tki_worker_watch_pause(void)
{
    if (hook)
        hook->pause();
}

/* The largest file of counters in the folder: nvcc makes a second, small one. */
static int open_counters(void)
{
    DIR *folder = opendir(counters_folder);
    int file = -1;
    off_t largest = -1;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        struct stat about;
        if (length < 5 || strcmp(entry->d_name + length - 5, ".gcda") != 0 ||
            fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) || about.st_size <= largest)
            continue;
        if (file >= 0)
            close(file);
        largest = about.st_size;
        file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (folder)
        closedir(folder);
    return file;
}

/* Where gcov writes, whatever the compiler has noted, is said by its environment, which is there for no call. */
static bool write_counters(void)
{
    static const char *const names[] = {"GCOV_PREFIX", "GCOV_PREFIX_STRIP"};
    setenv(names[0], counters_folder, 1);
    setenv(names[1], "99", 1);
    const bool written = hook->write();
    unsetenv(names[0]);
    unsetenv(names[1]);
    return written;
}

void tki_worker_watch_end(void)
{
    if (!hook || !write_counters())
        return;
    int file = open_counters();
    size_t used = 0;
    ssize_t got = 0;
    while (file >= 0 && used < TKI_COVERAGE_COUNTERS &&
           (got = read(file, memory->counters + used, TKI_COVERAGE_COUNTERS - used)) > 0)
        used += (size_t)got;
    if (file >= 0)
        close(file);
    memory->counter_bytes = used < TKI_COVERAGE_COUNTERS ? (uint32_t)used : 0;
}
