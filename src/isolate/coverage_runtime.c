/* CHOOSES. What an instrumented kernel calls: this object is linked into its library, under hidden names, so that neither a weak reference nor
 * dlsym() tells that library from the one that is judged. It runs in the kernel's process and may be called, forged or written over by it;
 * isolate/coverage.h says what that can lead to. Any thread may call it at any time. It needs no library. */
#include "isolate/coverage.h"

#define CALLED_FROM ((uintptr_t)__builtin_return_address(0))

enum { MOST_PROBES = 8 };

/* With one thread; then the rest of the call goes unseen, but for its lines. */
static const uint64_t most_steps = 1 << 22;

static tki_coverage_memory *memory;  /* NULL: nobody watches */
static tki_coverage_memory *watched; /* the same during a call of which the callbacks are to tell */
static uintptr_t base;               /* of the library */
static bool one_thread;              /* the call at hand was given one: then blocks follow each other in an order */
static _Thread_local uint32_t previous __attribute__((tls_model("initial-exec")));

static void count_step(void)
{
    if (++memory->steps == most_steps && one_thread)
        watched = NULL;
}

static uint32_t offset_of(uintptr_t address)
{
    return (uint32_t)(address - base) + 1;
}

/* Most libraries are small enough that every block has a place to itself. */
static size_t scatter(uint64_t key, size_t places)
{
    return (size_t)(key ^ (key >> 32) * 0x9e5) & (places - 1);
}

static void lose(void)
{
    __atomic_store_n(&memory->lost, 1, __ATOMIC_RELAXED);
}

/* The places of a table are taken one by one and never given up. */
#define PUT(name, type)                                                                                    \
    static void name(type *table, size_t places, uint32_t *count, type key)                                \
    {                                                                                                      \
        size_t place = scatter(key, places);                                                               \
        for (int i = 0; i < MOST_PROBES; i++, place = (place + 1) & (places - 1)) {                        \
            type there = __atomic_load_n(&table[place], __ATOMIC_RELAXED);                                 \
            if (there == key)                                                                              \
                return;                                                                                    \
            if (!there && __atomic_compare_exchange_n(&table[place], &there, key, false, __ATOMIC_RELAXED, \
                                                      __ATOMIC_RELAXED)) {                                 \
                __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);                                            \
                return;                                                                                    \
            }                                                                                              \
            if (there == key)                                                                              \
                return;                                                                                    \
        }                                                                                                  \
        lose();                                                                                            \
    }
PUT(put_block, uint32_t)
PUT(put_edge, uint64_t)

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (!watched)
        return;
    uint32_t block = offset_of(CALLED_FROM);
    count_step();
    put_block(memory->blocks, TKI_COVERAGE_BLOCKS, &memory->block_count, block);
    if (!one_thread)
        return;
    put_edge(memory->edges, TKI_COVERAGE_EDGES, &memory->edge_count, (uint64_t)previous << 32 | block);
    previous = block;
}

/* ------------------------------------------------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------------------------------------------------ */

static uint32_t taken[TKI_COVERAGE_SITES]; /* the places of sites in use */
static uint32_t taken_count;

static tki_site *find_site(uint64_t key)
{
    size_t place = scatter(key, TKI_COVERAGE_SITES);
    for (int i = 0; i < MOST_PROBES; i++, place = (place + 1) & (TKI_COVERAGE_SITES - 1)) {
        tki_site *site = &memory->sites[place];
        uint64_t there = __atomic_load_n(&site->key, __ATOMIC_RELAXED);
        if (there == key)
            return site;
        if (!there &&
            __atomic_compare_exchange_n(&site->key, &there, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            uint32_t number = __atomic_fetch_add(&taken_count, 1, __ATOMIC_RELAXED);
            taken[number & (TKI_COVERAGE_SITES - 1)] = (uint32_t)place;
            return site;
        }
        if (there == key)
            return site;
    }
    lose();
    return NULL;
}

static void widen(int64_t *place, int64_t value, bool upwards)
{
    int64_t there = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (upwards ? value > there : value < there)
        if (__atomic_compare_exchange_n(place, &there, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
}

static void note(uint64_t key, uint32_t kind, uint32_t bytes, const int64_t operands[2], uint32_t outcome)
{
    tki_site *site = find_site(key);
    if (!site)
        return;
    site->kind = kind;
    site->bytes = bytes;
    if (!(__atomic_load_n(&site->met, __ATOMIC_RELAXED) & outcome))
        __atomic_fetch_or(&site->met, outcome, __ATOMIC_RELAXED);
    if (!(__atomic_load_n(&site->outcomes, __ATOMIC_RELAXED) & outcome) &&
        !(__atomic_fetch_or(&site->outcomes, outcome, __ATOMIC_RELAXED) & outcome))
        __atomic_fetch_add(&memory->outcome_count, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2 && outcome != TKI_UNORDERED; i++) {
        widen(&site->low[i], operands[i], false);
        widen(&site->high[i], operands[i], true);
    }
}

/* An address is elsewhere each time: how it compares is no outcome. */
static bool is_address(uint32_t bytes, uint64_t operand)
{
    return bytes == 8 && operand >> 40 && operand >> 47 == 0;
}

static void compare(uintptr_t from, uint64_t number, uint32_t kind, uint32_t bytes, uint64_t a, uint64_t b)
{
    if (!watched || is_address(bytes, a) || is_address(bytes, b))
        return;
    count_step();
    const unsigned unused = 64 - 8 * bytes;
    const int64_t x = (int64_t)(a << unused) >> unused, y = (int64_t)(b << unused) >> unused;
    note(offset_of(from) | number << 40, kind, bytes, (int64_t[]){x, y},
         x < y    ? TKI_LESS
         : x == y ? TKI_EQUAL
                  : TKI_GREATER);
}

static void compare_floats(uintptr_t from, uint32_t bytes, double x, double y)
{
    if (!watched)
        return;
    count_step();
    note(offset_of(from), TKI_SITE_FLOATS, bytes, (int64_t[]){tki_site_rank(x), tki_site_rank(y)},
         x < y    ? TKI_LESS
         : x == y ? TKI_EQUAL
         : x > y  ? TKI_GREATER
                  : TKI_UNORDERED);
}

#define COMPARISON(bits)                                                \
    void __sanitizer_cov_trace_cmp##bits(uint64_t a, uint64_t b);       \
    void __sanitizer_cov_trace_cmp##bits(uint64_t a, uint64_t b)        \
    {                                                                   \
        compare(CALLED_FROM, 0, TKI_SITE_INTEGERS, bits, a, b);         \
    }                                                                   \
    void __sanitizer_cov_trace_const_cmp##bits(uint64_t a, uint64_t b); \
    void __sanitizer_cov_trace_const_cmp##bits(uint64_t a, uint64_t b)  \
    {                                                                   \
        compare(CALLED_FROM, 0, TKI_SITE_CONSTANT, bits, a, b);         \
    }
COMPARISON(1)
COMPARISON(2)
COMPARISON(4)
COMPARISON(8)

void __sanitizer_cov_trace_cmpf(float a, float b);
void __sanitizer_cov_trace_cmpf(float a, float b)
{
    compare_floats(CALLED_FROM, 4, (double)a, (double)b);
}

void __sanitizer_cov_trace_cmpd(double a, double b);
void __sanitizer_cov_trace_cmpd(double a, double b)
{
    compare_floats(CALLED_FROM, 8, a, b);
}

/* `cases`: how many, of how many bits, then the values. */
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
    enum { MOST_CASES = 64 };
    const uint64_t bits = cases[1];
    const uint32_t bytes = bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
    for (uint64_t i = 0; i < cases[0] && i < MOST_CASES; i++)
        compare(CALLED_FROM, i + 1, TKI_SITE_CONSTANT, bytes, cases[2 + i], value);
}

/* ------------------------------------------------------------------------------------------------------------
 * What the worker calls
 * ------------------------------------------------------------------------------------------------------------ */

/* Whatever is compared first will set all limits. */
static void forget_operands(tki_site *site)
{
    site->met = 0;
    for (int k = 0; k < 2; k++) {
        site->low[k] = INT64_MAX;
        site->high[k] = INT64_MIN;
    }
}

static void attach(tki_coverage_memory *shared, uintptr_t library)
{
    memory = shared;
    base = library;
    /* Sites of an earlier process, whose call has ended it, are in use. */
    for (size_t i = 0; i < TKI_COVERAGE_SITES; i++) {
        forget_operands(&memory->sites[i]);
        if (memory->sites[i].key)
            taken[taken_count++ & (TKI_COVERAGE_SITES - 1)] = (uint32_t)i;
    }
}

static void begin_call(int threads)
{
    one_thread = threads == 1;
    previous = 0;
    memory->steps = 0;
    watched = memory->quiet ? NULL : memory;
    for (uint32_t i = 0; i < taken_count && i < TKI_COVERAGE_SITES; i++)
        forget_operands(&memory->sites[taken[i] & (TKI_COVERAGE_SITES - 1)]);
}

static void pause_watch(void)
{
    watched = NULL;
}

/* There with gcov's part alone. Only code of this library reaches its counters. */
void __gcov_dump(void) __attribute__((weak));

static bool write_counters(void)
{
    if (!__gcov_dump)
        return false;
    __gcov_dump();
    return true;
}

/* The worker knows it by its mark: it has no name. */
__attribute__((used)) static tki_coverage_hook hook = {TKI_COVERAGE_MARK, attach, begin_call, pause_watch,
                                                       write_counters};
