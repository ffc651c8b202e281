/* CHOOSES. The build of the judge. What is loaded is asked, not the file that it came from, which may have been replaced since. */
#include "trials/judge_build.h"

#include <elf.h>
#include <link.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A hash of this many bytes or more; a shorter id may be a number that somebody chose. */
enum { LEAST_ID = 16 };

const unsigned char *tki_build_note(const unsigned char *notes, size_t bytes, size_t *length)
{
    enum { ALIGNMENT = 4 };
    static const char owner[] = "GNU";
    ElfW(Nhdr) note;
    for (size_t at = 0; bytes - at >= sizeof note;) {
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        const size_t name = ((size_t)note.n_namesz + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        const size_t text = ((size_t)note.n_descsz + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (name > bytes - at || note.n_descsz > bytes - at - name)
            return NULL;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner &&
            !memcmp(notes + at, owner, sizeof owner)) {
            *length = note.n_descsz;
            return notes + at + name;
        }
        at += name;
        at += text < bytes - at ? text : bytes - at;
    }
    return NULL;
}

/* One loaded object is looked for: the one that holds an address or, without one, the one of that name. */
typedef struct search {
    uintptr_t address;
    const char *name;
    tki_hash *hash;
    bool found;
    bool known; /* its bytes are in the hash */
} search;

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - object->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

/* "libm.so" of "/lib/x86_64-linux-gnu/libm.so.6" */
static bool is_named(const struct dl_phdr_info *object, const char *name)
{
    const char *slash = strrchr(object->dlpi_name, '/'), *file = slash ? slash + 1 : object->dlpi_name;
    return !strncmp(file, name, strlen(name));
}

static bool add_note(const struct dl_phdr_info *object, tki_hash *hash)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        size_t length = 0;
        if (part->p_type != PT_NOTE || !holds(object, object->dlpi_addr + part->p_vaddr))
            continue;
        /* The loader's own way from a segment to its bytes. */
        const unsigned char *notes = (const unsigned char *)(object->dlpi_addr + part->p_vaddr);
        const unsigned char *id = tki_build_note(notes, part->p_memsz, &length);
        if (!id || length < LEAST_ID)
            continue;
        tki_hash_add(hash, &length, sizeof length);
        tki_hash_add(hash, id, length);
        return true;
    }
    return false;
}

/* Not every distribution's linker writes an id; then the file counts. */
static bool add_file(const struct dl_phdr_info *object, tki_hash *hash)
{
    char hex[TKI_HASH_HEX];
    if (!tki_hash_file(object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe", hex))
        return false;
    tki_hash_add_text(hash, hex);
    return true;
}

static int visit(struct dl_phdr_info *object, size_t size, void *data)
{
    search *s = data;
    (void)size;
    if (s->address ? !holds(object, s->address) : !is_named(object, s->name))
        return 0;
    s->found = true;
    s->known = add_note(object, s->hash) || add_file(object, s->hash);
    return 1;
}

/* What is loaded stays, and files are read where there are no ids: once is enough. */
static struct {
    pthread_once_t once;
    char hex[TKI_HASH_HEX];
} build = {.once = PTHREAD_ONCE_INIT};

static void find_build(void)
{
    /* One that is not loaded is inside of the program. */
    static const char *const libraries[] = {"libmpfr.so",     "libgmp.so",  "libm.so",    "libc.so",
                                            "libopenblas.so", "libblas.so", "libgomp.so", "libomp.so"};
    const uintptr_t own[] = {(uintptr_t)&tki_judge_build, (uintptr_t)&tk_version};
    tki_hash hash;
    bool known = true;
    tki_hash_begin(&hash);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        search s = {.address = own[i], .hash = &hash};
        dl_iterate_phdr(visit, &s);
        known = known && s.known;
    }
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        search s = {.name = libraries[i], .hash = &hash};
        dl_iterate_phdr(visit, &s);
        tki_hash_add_text(&hash, s.found ? libraries[i] : "");
        known = known && s.known == s.found;
    }
    if (!tki_hash_finish(&hash, build.hex) || !known)
        build.hex[0] = 0;
}

bool tki_judge_build(char hex[TKI_HASH_HEX])
{
    pthread_once(&build.once, find_build);
    memcpy(hex, build.hex, sizeof build.hex);
    return hex[0] != 0;
}

bool tki_judge_machine(char hex[TKI_HASH_HEX])
{
    tk_device device;
    tki_hash hash;
    char limits[64];
    hex[0] = 0;
    if (!tk_device_at(0, &device))
        return false;
    snprintf(limits, sizeof limits, "%d threads, dynamic %d", omp_get_thread_limit(), omp_get_dynamic());
    tki_hash_begin(&hash);
    tki_hash_add_text(&hash, device.name);
    tki_hash_add_text(&hash, device.detail);
    tki_hash_add_text(&hash, limits);
    return tki_hash_finish(&hash, hex);
}
