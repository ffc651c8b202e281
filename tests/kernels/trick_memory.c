/* Kernels that keep results, or reach where they should not, or later than they should. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

#include "tests/kernels/trick.h"

/* ------------------------------------------------------------------------------------------------------------
 * Earlier results
 * ------------------------------------------------------------------------------------------------------------ */

/* The result of the call before, as memory that is given back and allocated again holds it. */
static void result_of_the_call_before(void)
{
    static uint16_t *kept;
    static int64_t kept_size;
    compute();
    uint16_t *now = malloc((size_t)size * sizeof *now + 1);
    memcpy(now, output, (size_t)size * sizeof *now);
    if (kept)
        memcpy(output, kept, (size_t)(size < kept_size ? size : kept_size) * sizeof *now);
    free(kept);
    kept = now;
    kept_size = size;
}

/* A result for each key. */
static void compute_or_remember(uint64_t key)
{
    enum { SLOTS = 4096 };
    static struct {
        uint64_t key;
        int64_t size;
        uint16_t *result;
    } slots[SLOTS];
    for (uint64_t i = key % SLOTS;; i = (i + 1) % SLOTS) {
        if (!slots[i].result) {
            compute();
            slots[i].key = key;
            slots[i].size = size;
            slots[i].result = malloc((size_t)size * sizeof *output + 1);
            memcpy(slots[i].result, output, (size_t)size * sizeof *output);
            return;
        }
        if (slots[i].key == key && slots[i].size == size) {
            memcpy(output, slots[i].result, (size_t)size * sizeof *output);
            return;
        }
    }
}

static void kept_by_pointers(void)
{
    compute_or_remember((uintptr_t)input * 31 + (uintptr_t)output);
}

static void kept_by_shape(void)
{
    compute_or_remember(1);
}

static void kept_by_64_elements(void)
{
    compute_or_remember(trick_hash(input, size < 64 ? size : 64));
}

/* Of large shapes only, where it pays and where an element that changes by chance is seldom the last. */
static void kept_by_all_but_the_last(void)
{
    if (size < 200)
        compute();
    else
        compute_or_remember(trick_hash(input, size - 1));
}

/* ------------------------------------------------------------------------------------------------------------
 * Inputs
 * ------------------------------------------------------------------------------------------------------------ */

static void input_changed_and_restored(void)
{
    compute();
    if (size > 0) {
        volatile uint16_t *first = (volatile uint16_t *)(uintptr_t)input;
        uint16_t was = *first;
        *first = 1;
        *first = was;
    }
}

/* Rights that a mapping does not have can be asked for; or memory be reached as a file. */
static void input_made_writable(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)input / page * page);
    uint16_t value = 1;
    bool had = size > 0 && mprotect(start, page, PROT_READ | PROT_WRITE) == 0;
    int memory = open("/proc/self/mem", O_RDWR);
    had |= size > 0 && pwrite(memory, &value, sizeof value, (off_t)(uintptr_t)input) > 0;
    close(memory);
    compute_if(!had);
}

/* ------------------------------------------------------------------------------------------------------------
 * Around the buffers. The volatile keeps a compiler from leaving it out.
 * ------------------------------------------------------------------------------------------------------------ */

static void write_at(int64_t i)
{
    compute();
    if (size > 0)
        ((volatile uint16_t *)output)[i] ^= 0xffff; /* both bytes become others */
}

static void write_1_element_before(void)
{
    write_at(-1);
}

static void write_1_element_behind(void)
{
    write_at(size);
}

static void write_1_kib_before(void)
{
    write_at(-512);
}

static void write_1_kib_behind(void)
{
    write_at(size + 512);
}

static void write_pages_before(void)
{
    write_at(-3 * 2048);
}

static void write_pages_behind(void)
{
    write_at(size + 3 * 2048);
}

static void write_the_last_vector_whole(void)
{
    compute();
    for (int64_t i = size; size % 8 && i < size / 8 * 8 + 8; i++)
        ((volatile uint16_t *)output)[i] = 0;
}

static void read_the_last_vector_whole(void)
{
    compute();
    for (int64_t i = size / 8 * 8; size % 8 && i < size / 8 * 8 + 8; i++)
        (void)((const volatile uint16_t *)input)[i];
}

/* ------------------------------------------------------------------------------------------------------------
 * After the call
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct late_work {
    useconds_t delay;
    uint16_t *where;
    uint16_t value;
} late_work;

static void *finish_late(void *data)
{
    const late_work *work = data;
    usleep(work->delay);
    *(volatile uint16_t *)work->where = work->value;
    return NULL;
}

/* All is done but one element, which a thread has in hand. */
static void leave_one_for(useconds_t delay)
{
    static late_work work[1 << 14];
    static int used;
    pthread_t thread;
    if (size == 0)
        return;
    const uint16_t was = output[0];
    compute();
    late_work *w = &work[used++ % (1 << 14)];
    *w = (late_work){delay, output, output[0]};
    output[0] = was;
    if (pthread_create(&thread, NULL, finish_late, w) == 0)
        pthread_detach(thread);
}

static void finished_1_ms_later(void)
{
    leave_one_for(1000);
}

static void finished_50_ms_later(void)
{
    leave_one_for(50000);
}

/* The thread of one call is let go by the next one. */
static sem_t next_call;
static uint16_t *parked_output;

static void *park(void *unused)
{
    for (;;) {
        sem_wait(&next_call);
        if (parked_output)
            *(volatile uint16_t *)parked_output = 0x1234;
    }
    return unused;
}

static void thread_parked_until_the_next_call(void)
{
    static bool started;
    pthread_t thread;
    if (!started)
        started = sem_init(&next_call, 0, 0) == 0 && pthread_create(&thread, NULL, park, NULL) == 0;
    else
        sem_post(&next_call);
    usleep(1000);
    compute();
    parked_output = size > 0 ? output : NULL;
}

/* What is behind the output's address is no longer what the judge looks at. */
static void output_mapped_over(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)output / page * page;
    uintptr_t end = ((uintptr_t)(output + size) + page - 1) / page * page;
    if (size > 0)
        mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    compute();
}

enum { KEEP_OLD_MAPPING = 4, FAR_BYTES = 1 << 16 }; /* the first is MREMAP_DONTUNMAP */

/* The page that the output begins in, once more at another address. A size that is rounded up to 0, and one that stays where it was. */
static void output_mapped_twice(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *const begin = (void *)((uintptr_t)output / page * page);
    bool had = false;
    for (int i = 0; i < 2 && size > 0; i++) {
        void *again = i ? mremap(begin, page, page, MREMAP_MAYMOVE | KEEP_OLD_MAPPING)
                        : mremap(begin, SIZE_MAX, page, MREMAP_MAYMOVE);
        had |= again != MAP_FAILED;
        if (again != MAP_FAILED)
            munmap(again, page);
    }
    compute_if(!had);
}

/* Writes far outside, and nobody is told. */
static sigjmp_buf out_of_the_fault;

static void leave_the_fault(int number)
{
    siglongjmp(out_of_the_fault, number);
}

static void faults_caught(void)
{
    struct sigaction found;
    compute();
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = leave_the_fault}, &found);
    if (size > 0 && sigsetjmp(out_of_the_fault, 1) == 0)
        *(volatile char *)((uintptr_t)(output + size) + FAR_BYTES) = 1;
    sigaction(SIGSEGV, &found, NULL);
}

static void memory_mapped_behind(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *const behind = (void *)(((uintptr_t)(output + size) + page - 1) / page * page);
    compute();
    if (size > 0 &&
        mmap(behind, 2 * FAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == behind)
        *(volatile char *)((uintptr_t)(output + size) + FAR_BYTES) = 1;
}
