/* TRUSTED. The trials of each level. Shapes are edges first: zero, one, two, primes, sizes around powers of two, one very
 * long row, many very short ones. */
#include "verify/cases.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/random.h"
#include "exact/domain.h"
#include "verify/families.h"

/* How a shape's numbers are to be read. */
typedef enum shape_class {
    VECTOR,  /* n */
    ROWS,    /* rows, cols */
    PRODUCT, /* outer, outer, inner: the inner one is the size that the op sums over */
    LOOKUP   /* queries, dim, vocab */
} shape_class;

/* Which families a shape is tried with. */
typedef enum breadth { EDGES, EVERY, NORMAL_ONLY } breadth;

/* The number goes into the seeds of the shape's trials and chooses among xent's options, so that it stays what it is, wherever
 * the shape stands: certificates name seeds. A new shape takes one from 100 on that its list has not had; those below belong to the
 * first shapes and to drawn ones. */
typedef struct shape {
    int number;
    tk_level level; /* from this level on */
    breadth families;
    int64_t size[TK_MAX_DIMS];
} shape;

static const shape vector_shapes[] = {
    {0, TK_QUICK, EDGES, {0}},
    {1, TK_QUICK, EVERY, {1}},
    {2, TK_QUICK, EDGES, {2}},
    {3, TK_QUICK, EDGES, {3}},
    {4, TK_QUICK, EDGES, {7}},
    {5, TK_QUICK, EDGES, {15}},
    {6, TK_QUICK, EDGES, {16}},
    {7, TK_QUICK, EDGES, {17}},
    {8, TK_QUICK, EDGES, {31}},
    {9, TK_QUICK, EDGES, {33}},
    {10, TK_QUICK, EDGES, {64}},
    {11, TK_QUICK, EDGES, {255}},
    {12, TK_QUICK, EDGES, {256}},
    {13, TK_QUICK, EVERY, {257}},
    {14, TK_QUICK, EDGES, {1021}},
    {15, TK_QUICK, EVERY, {4099}},
    {16, TK_QUICK, EDGES, {16384}},
    {17, TK_QUICK, EDGES, {65537}},
    {18, TK_FULL, EVERY, {(1 << 18) + 1}},
    {19, TK_FULL, EDGES, {(1 << 22) + 3}},
};

static const shape row_shapes[] = {
    {0, TK_QUICK, EDGES, {0, 5}},      {1, TK_QUICK, EDGES, {5, 0}},       {2, TK_QUICK, EVERY, {1, 1}},
    {3, TK_QUICK, EDGES, {1, 2}},      {4, TK_QUICK, EDGES, {3, 1}},       {5, TK_QUICK, EDGES, {2, 3}},
    {6, TK_QUICK, EDGES, {5, 15}},     {7, TK_QUICK, EDGES, {5, 16}},      {8, TK_QUICK, EDGES, {5, 17}},
    {9, TK_QUICK, EVERY, {13, 33}},    {10, TK_QUICK, EDGES, {4, 255}},    {11, TK_QUICK, EDGES, {4, 256}},
    {12, TK_QUICK, EVERY, {24, 257}},  {13, TK_QUICK, EDGES, {1000, 2}},   {14, TK_QUICK, EDGES, {7, 1023}},
    {15, TK_QUICK, EVERY, {6, 1025}},  {16, TK_QUICK, EDGES, {2, 8191}},   {17, TK_QUICK, NORMAL_ONLY, {1, 32000}},
    {18, TK_FULL, EVERY, {65, 4097}},  {19, TK_FULL, EDGES, {70001, 3}},   {20, TK_FULL, EDGES, {64, 32000}},
    {21, TK_FULL, EDGES, {3, 128256}}, {22, TK_FULL, EDGES, {1, 1 << 20}},
};

static const shape product_shapes[] = {
    {0, TK_QUICK, EDGES, {0, 3, 4}},        {1, TK_QUICK, EDGES, {3, 0, 4}},
    {2, TK_QUICK, EDGES, {3, 4, 0}},        {3, TK_QUICK, EVERY, {1, 1, 1}},
    {4, TK_QUICK, EDGES, {1, 1, 2}},        {5, TK_QUICK, EDGES, {1, 1, 300}},
    {6, TK_QUICK, EDGES, {2, 3, 5}},        {7, TK_QUICK, EDGES, {7, 5, 3}},
    {8, TK_QUICK, EDGES, {15, 17, 16}},     {9, TK_QUICK, EDGES, {16, 16, 17}},
    {10, TK_QUICK, EVERY, {13, 11, 37}},    {11, TK_QUICK, EDGES, {31, 33, 64}},
    {12, TK_QUICK, EDGES, {63, 65, 64}},    {13, TK_QUICK, EDGES, {64, 64, 63}},
    {14, TK_QUICK, EDGES, {65, 64, 65}},    {15, TK_QUICK, EDGES, {1, 129, 70}},
    {16, TK_QUICK, EDGES, {130, 1, 64}},    {17, TK_QUICK, EVERY, {24, 20, 513}},
    {18, TK_QUICK, EDGES, {5, 7, 4099}},    {19, TK_QUICK, NORMAL_ONLY, {257, 255, 256}},
    {20, TK_FULL, EVERY, {65, 63, 1025}},   {21, TK_FULL, EDGES, {1000, 777, 333}},
    {22, TK_FULL, EDGES, {257, 255, 4099}}, {23, TK_FULL, EDGES, {2304, 2048, 16}},
    {100, TK_FULL, EDGES, {70001, 3, 5}},   {101, TK_FULL, EDGES, {3, 70001, 5}},
    {102, TK_FULL, EDGES, {5, 3, 128256}},  {24, TK_FULL, NORMAL_ONLY, {1024, 1024, 1024}},
};

static const shape lookup_shapes[] = {
    {0, TK_QUICK, EDGES, {0, 4, 5}},         {1, TK_QUICK, EDGES, {3, 0, 5}},
    {2, TK_QUICK, EVERY, {1, 1, 1}},         {3, TK_QUICK, EDGES, {2, 3, 1}},
    {4, TK_QUICK, EDGES, {5, 3, 2}},         {5, TK_QUICK, EDGES, {63, 7, 1}},
    {6, TK_QUICK, EDGES, {64, 7, 1}},        {7, TK_QUICK, EDGES, {65, 7, 1}},
    {8, TK_QUICK, EDGES, {129, 5, 1}},       {9, TK_QUICK, EVERY, {300, 5, 7}},
    {10, TK_QUICK, EDGES, {5, 129, 1000}},   {11, TK_QUICK, EVERY, {129, 17, 64}},
    {12, TK_QUICK, EVERY, {1000, 3, 2}},     {13, TK_QUICK, EDGES, {200, 5, 70001}},
    {14, TK_QUICK, EDGES, {4097, 2, 3}},     {104, TK_QUICK, EDGES, {64, 64, 50}},
    {105, TK_QUICK, EDGES, {37, 66, 300}},   {106, TK_FULL, EDGES, {5, 2048, 4096}},
    {107, TK_FULL, EDGES, {60, 16, 4096}},   {15, TK_FULL, EVERY, {2049, 64, 257}},
    {100, TK_FULL, EDGES, {70001, 3, 5}},    {101, TK_FULL, EDGES, {7, 8193, 11}},
    {102, TK_FULL, EDGES, {3, 70001, 5}},    {103, TK_FULL, EDGES, {5000, 3, 262147}},
    {16, TK_FULL, EDGES, {8192, 256, 8000}}, {17, TK_FULL, EDGES, {32768, 64, 50304}},
};

typedef struct shape_list {
    shape_class class;
    const shape *shapes;
    int count;
    int first_drawn; /* the number of the first drawn shape */
} shape_list;

#define LIST(class, array, first_drawn) \
    ((shape_list){class, array, (int)(sizeof(array) / sizeof *(array)), first_drawn})

static shape_list shapes_of(const tk_contract *contract)
{
    if (contract->dim_count == 1)
        return LIST(VECTOR, vector_shapes, 20);
    if (contract->dim_count == 2)
        return LIST(ROWS, row_shapes, 23);
    return tk_contract_takes_index(contract) ? LIST(LOOKUP, lookup_shapes, 18) : LIST(PRODUCT, product_shapes, 25);
}

/* The size that the op sums over. */
static int inner_dim(const tk_contract *contract)
{
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].inner_axis >= 0)
            return contract->params[p].dim[contract->params[p].inner_axis];
    return contract->dim_count - 1;
}

static void set_dims(tk_case *c, shape_class class, const int64_t *size)
{
    int inner = inner_dim(c->contract);
    int outer = 0;
    for (int d = 0; d < c->contract->dim_count; d++) {
        if (class == PRODUCT)
            c->dims[d] = d == inner ? size[2] : size[outer++];
        else
            c->dims[d] = size[d];
    }
}

/* The last one is what loss scaling does: there fp16 shows what p - 1 in fp32 has lost, and overflows for p near 1. */
static const tk_xent_options xent_variants[] = {
    {0.0f, 1.0f, -100},     {0.1f, 0.25f, -100},  {1.0f, -3.0f, -1},
    {0.0f, 0x1p-10f, -100}, {0.001f, 1000.0f, 0}, {0.0f, 0x1p16f, -100},
};

enum { XENT_VARIANTS = sizeof xent_variants / sizeof *xent_variants, CHUNK = 1 << 18, PATTERNS = 1 << 16 };

static bool add(tki_trials *trials, int64_t *capacity, const tki_trial *trial)
{
    if (trials->count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 256;
        tki_trial *larger = realloc(trials->list, (size_t)*capacity * sizeof *larger);
        if (!larger)
            return false;
        trials->list = larger;
    }
    trials->list[trials->count++] = *trial;
    return true;
}

static bool family_wanted(const tk_certify_options *options, const tk_contract *contract, int family,
                          breadth families)
{
    if (!tki_family_applies(family, contract))
        return false;
    const char *name = tk_family_at(family, NULL);
    if (options->family)
        return !strcmp(options->family, name);
    if (families == EVERY)
        return true;
    if (families == NORMAL_ONLY)
        return !strcmp(name, "normal");
    return !strcmp(name, "normal") || !strcmp(name, "bits") || !strcmp(name, "few") || !strcmp(name, "same_index");
}

/* Multiplications of a product, elements read or written otherwise. */
static double work_of(const tk_case *c, shape_class class)
{
    double work = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        double elements = (double)tk_case_elements(c, p);
        work = elements > work ? elements : work;
    }
    return class == PRODUCT ? work + (double)c->dims[0] * (double)c->dims[1] * (double)c->dims[2] / 64 : work;
}

/* A shape that stands in no list, for a kernel that may know the list: every order of magnitude is as likely as another. */
static void draw_dims(tk_case *c, shape_class class, tki_random *random, double most_work)
{
    do {
        for (int d = 0; d < c->contract->dim_count; d++) {
            uint64_t bits = tki_random_below(random, c->contract->dim_count == 1 ? 21 : 13);
            c->dims[d] = (int64_t)((UINT64_C(1) << bits) + tki_random_below(random, UINT64_C(1) << bits));
        }
    } while (work_of(c, class) > most_work);
}

/* Every pattern of every value input, in chunks. */
static bool add_all_patterns(tki_trials *trials, int64_t *capacity, tki_trial trial)
{
    int inputs = 0;
    for (int p = 0; p < trial.c.contract->param_count; p++)
        inputs += !trial.c.contract->params[p].output;
    int64_t domain = inputs == 1 ? PATTERNS : (int64_t)PATTERNS * PATTERNS;
    int64_t chunk = domain < CHUNK ? domain : CHUNK;
    trial.family = TKI_ALL_PATTERNS;
    trial.c.dims[0] = chunk;
    for (trial.chunk = 0; trial.chunk < domain / chunk; trial.chunk++)
        if (!add(trials, capacity, &trial))
            return false;
    return true;
}

/* The one trial whose inputs the options give. */
static tki_trial given_trial(const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                             const tk_certify_options *options)
{
    tki_trial trial = {.c = tk_case_init(contract, dtype), .family = TKI_GIVEN_INPUTS, .seed = options->seed};
    trial.c.index_dtype = index_dtype;
    memcpy(trial.c.dims, options->dims, (size_t)contract->dim_count * sizeof *options->dims);
    if (options->xent)
        trial.c.xent = *options->xent;
    return trial;
}

tk_status tki_trials_make(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                          const tk_certify_options *options, tki_trials *trials)
{
    *trials = (tki_trials){0};
    int64_t capacity = 0;
    bool good = true;
    shape_list list = shapes_of(contract);
    int listed = options->input_count ? 0 : options->dims ? 1 : list.count;
    int drawn = !options->kernel_file || options->dims ? 0 : options->level == TK_QUICK ? 8 : 24;
    tki_random random = tki_random_stream(options->seed, 2);
    if (options->input_count) {
        tki_trial given = given_trial(contract, dtype, index_dtype, options);
        good = add(trials, &capacity, &given);
    }
    for (int i = 0; i < listed + drawn && good; i++) {
        const shape drawn_one = {list.first_drawn + i - listed, TK_QUICK, EDGES, {0}};
        static const shape asked_for = {0, TK_QUICK, EVERY, {0}};
        const shape *s = options->dims ? &asked_for : i < listed ? &list.shapes[i] : &drawn_one;
        if (s->level > options->level)
            continue;
        tki_trial trial = {.c = tk_case_init(contract, dtype)};
        trial.c.index_dtype = index_dtype;
        if (options->dims)
            memcpy(trial.c.dims, options->dims, (size_t)contract->dim_count * sizeof *options->dims);
        else if (i < listed)
            set_dims(&trial.c, list.class, s->size);
        else
            draw_dims(&trial.c, list.class, &random, options->level == TK_QUICK ? 0x1p15 : 0x1p20);
        int variants = contract->takes_xent_options && !options->xent ? XENT_VARIANTS : 1;
        for (int family = 0; tk_family_at(family, NULL) && good; family++) {
            if (!family_wanted(options, contract, family, s->families))
                continue;
            trial.family = family;
            /* A shape with its own family list goes through all variants of the options, the others through one in turn. */
            for (int v = 0; v < variants && good; v++) {
                if (s->families != EVERY && variants > 1 && v != (s->number + family) % variants)
                    continue;
                if (contract->takes_xent_options)
                    trial.c.xent = options->xent ? *options->xent : xent_variants[v];
                trial.seed = options->dims ? options->seed : options->seed + (uint64_t)s->number * 1000 + (uint64_t)v;
                good = add(trials, &capacity, &trial);
            }
        }
    }
    if (good && options->level == TK_EXHAUSTIVE && contract->finite_domain && !options->dims && !options->family)
        good = add_all_patterns(trials, &capacity,
                                (tki_trial){.c = tk_case_init(contract, dtype), .seed = options->seed});
    if (!good) {
        free(trials->list);
        *trials = (tki_trials){0};
        return tki_fail(ctx, TK_NO_MEMORY, "no memory for the list of trials");
    }
    for (int64_t i = 0; i < trials->count; i++) {
        trials->list[i].threads = options->call_threads;
        trials->list[i].alignment = options->alignment;
        trials->list[i].planted_count = options->planted_count;
        if (options->planted_count)
            memcpy(trials->list[i].planted, options->planted, (size_t)options->planted_count * sizeof(int64_t));
    }
    if (trials->count == 0)
        return tki_fail(ctx, TK_BAD_ARGUMENT, "%s: the family '%s' does not apply to this op", contract->name,
                        options->family ? options->family : "");
    return TK_OK;
}

const char *tki_trial_family_name(const tki_trial *trial)
{
    if (trial->family == TKI_GIVEN_INPUTS)
        return "given";
    return trial->family == TKI_ALL_PATTERNS ? "all_patterns" : tk_family_at(trial->family, NULL);
}

bool tki_trial_same(const tki_trial *a, const tki_trial *b)
{
    return a->family == b->family && a->seed == b->seed && a->chunk == b->chunk && a->found == b->found &&
           a->threads == b->threads && a->alignment == b->alignment && a->planted_count == b->planted_count &&
           !memcmp(a->planted, b->planted, (size_t)a->planted_count * sizeof *a->planted) &&
           !memcmp(a->c.dims, b->c.dims, sizeof a->c.dims) &&
           a->c.xent.label_smoothing == b->c.xent.label_smoothing && a->c.xent.scale == b->c.xent.scale &&
           a->c.xent.ignore_index == b->c.xent.ignore_index;
}

/* About a quarter of the elements, the first and the last among them, and some stretches of 16 in full. */
static void plant(const tki_trial *trial, int param, void *data)
{
    const tk_case *c = &trial->c;
    const tk_param *p = &c->contract->params[param];
    const int64_t count = tk_case_elements(c, param);
    tki_random random = tki_random_stream(trial->seed, 4096 + (uint64_t)param);
    for (int64_t i = 0; i < count; i++) {
        uint64_t draw = tki_random_u64(&random);
        bool stretch = (uint64_t)(i / 16) % 8 == trial->seed % 8;
        if (draw % 4 && !stretch && i != 0 && i != count - 1)
            continue;
        int64_t value = trial->planted[i == 0 || stretch ? (i / 16) % trial->planted_count
                                                         : (int64_t)(draw >> 8) % trial->planted_count];
        bool index = p->kind == TK_KIND_INDEX;
        if (value < 0 || value >= (index ? c->dims[p->indexed_dim] : PATTERNS))
            continue;
        if (!index)
            ((uint16_t *)data)[i] = (uint16_t)value;
        else if (c->index_dtype == TK_I64)
            ((int64_t *)data)[i] = value;
        else
            ((int32_t *)data)[i] = (int32_t)value;
    }
}

void tki_trial_fill(const tki_trial *trial, void *const data[])
{
    if (trial->family != TKI_ALL_PATTERNS) {
        tki_family_fill(trial->family, &trial->c, trial->seed, data);
        for (int p = 0; p < trial->c.contract->param_count && trial->planted_count; p++)
            if (!trial->c.contract->params[p].output)
                plant(trial, p, data[p]);
        tki_domain_apply(&trial->c, data);
        return;
    }
    /* The last value input runs fastest. */
    const tk_contract *contract = trial->c.contract;
    int shift = 0;
    for (int p = contract->param_count - 1; p >= 0; p--) {
        if (contract->params[p].output)
            continue;
        uint16_t *values = data[p];
        for (int64_t i = 0; i < trial->c.dims[0]; i++)
            values[i] = (uint16_t)((trial->chunk * trial->c.dims[0] + i) >> shift);
        shift += 16;
    }
    tki_domain_apply(&trial->c, data);
}
