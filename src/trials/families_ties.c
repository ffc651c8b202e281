/* CHOOSES. Inputs of elementwise ops whose results lie near rounding midpoints, found by asking the oracle. */
#include "trials/families_lines.h"

#include "trials/op_registry.h"

/* How far a value lies from the nearest rounding midpoint, in units of the last place. */
static double from_midpoint(tk_dtype dtype, double value)
{
    double places = fabs(value) / tki_ulp(dtype, value);
    return fabs(places - floor(places) - 0.5);
}

/* Of so many first inputs the one whose result, `slope` times as large, comes nearest to a midpoint. */
static double near_tie(tk_dtype dtype, tk_dtype result, double slope, int candidates, tki_random *random)
{
    const tki_format format = tki_format_of(dtype);
    const int lowest = tki_format_exponent_lowest(format);
    const int highest = tki_format_exponent_max(format);
    const uint64_t significands = UINT64_C(1) << (format.precision - 1);
    /* Mostly of moderate size; results among the subnormal numbers and near the largest ones, too. */
    int exponent = (int)tki_random_below(random, 8) - 4;
    if (tki_random_below(random, 4) == 0)
        exponent = lowest + (int)tki_random_below(random, (uint64_t)(highest - lowest + 1));
    const double size = ldexp(tki_with_sign(random, 1) / (double)significands, exponent);
    double best = 0;
    double least = 1;
    for (int k = 0; k < candidates; k++) {
        /* What is too small for so many bits is cut down to those it has. */
        double drawn = size * (double)(significands + tki_random_below(random, significands));
        double value = exponent < format.exponent_min ? tki_decode(dtype, tki_round_double(dtype, drawn)) : drawn;
        double distance = from_midpoint(result, value * slope);
        if (distance < least) {
            least = distance;
            best = value;
        }
    }
    return best;
}

enum { BLOCK = 256, MOST_BYTES = 8 };

/* The case of so many elements in one line. */
static tk_case line_of(const tk_case *c, int64_t count)
{
    tk_case line = *c;
    const tk_param *first = &c->contract->params[0];
    for (int d = 0; d < c->contract->dim_count; d++)
        line.dims[d] = 1;
    line.dims[first->dim[first->rank - 1]] = count;
    return line;
}

/* Elements of one input, as many as are asked about at a time. */
typedef struct block {
    _Alignas(MOST_BYTES) unsigned char data[BLOCK * MOST_BYTES];
} block;

static tk_status enclose_line(const tki_oracle *oracle, tki_oracle_job job, int64_t count, tki_enclosure *results)
{
    void *prepared = NULL;
    tk_status status = oracle->prepare ? oracle->prepare(&job, &prepared) : TK_OK;
    job.prepared = prepared;
    if (status == TK_OK)
        status = oracle->enclose(&job, &(tki_box){0, 1, 0, count}, results);
    if (oracle->release)
        oracle->release(prepared);
    return status;
}

void tki_choose_near_ties(const tk_case *c, void *const data[], int candidates, bool all, tki_random *random)
{
    const tki_oracle *oracle = tki_oracle_of(c->contract);
    const tk_dtype dtype = tk_case_param_dtype(c, 0), result = tk_case_param_dtype(c, 2);
    const size_t second_bytes = tk_dtype_size(tk_case_param_dtype(c, 1));
    const int64_t elements = tk_case_elements(c, 0);
    block ones;
    tki_enclosure slopes[BLOCK];
    void *tables = NULL;
    if (!oracle || (oracle->open && oracle->open(c->dtype, &tables) != TK_OK))
        return;
    for (int i = 0; i < BLOCK; i++)
        tki_put_bits(dtype, ones.data, i, tki_round_double(dtype, 1));
    for (int64_t begin = 0; begin < elements; begin += BLOCK) {
        const void *buffers[TK_MAX_PARAMS] = {ones.data, (const char *)data[1] + (size_t)begin * second_bytes};
        const int64_t count = elements - begin < BLOCK ? elements - begin : BLOCK;
        const tk_case part = line_of(c, count);
        const tki_oracle_job job = {.c = &part, .buffers = buffers, .output = 2, .tables = tables};
        if (enclose_line(oracle, job, count, slopes) != TK_OK)
            return;
        for (int64_t i = 0; i < count; i++) {
            if (slopes[i].admits != TKI_ADMIT_INTERVAL || (!all && tki_random_below(random, 4) == 0))
                continue;
            const double value = near_tie(dtype, result, slopes[i].lo, candidates, random);
            tki_put_bits(dtype, data[0], begin + i, tki_round_double(dtype, value));
        }
    }
}

/* The patterns whose results came nearest to a midpoint so far, nearest first. */
enum { KEPT = 64 };
typedef struct nearest {
    int count;
    uint32_t patterns[KEPT];
    double distances[KEPT];
} nearest;

static void keep_if_near(nearest *kept, uint32_t pattern, double distance)
{
    if (distance >= (kept->count < KEPT ? 0.5 : kept->distances[kept->count - 1]))
        return;
    int place = kept->count < KEPT ? kept->count++ : KEPT - 1;
    for (; place > 0 && kept->distances[place - 1] > distance; place--) {
        kept->distances[place] = kept->distances[place - 1];
        kept->patterns[place] = kept->patterns[place - 1];
    }
    kept->distances[place] = distance;
    kept->patterns[place] = pattern;
}

/* Of so many bits that not all can be tried: one of moderate size as a rule. */
static uint32_t candidate(tk_dtype dtype, tki_random *random)
{
    const uint32_t any = tki_any_pattern(tki_format_of(dtype), random);
    const double moderate = 2 * tki_random_normal(random);
    return tki_random_below(random, 4) ? tki_round_double(dtype, moderate) : any;
}

void tki_choose_nearest_ties(const tk_case *c, void *data, tki_random *random)
{
    const tki_oracle *oracle = tki_oracle_of(c->contract);
    const tk_dtype dtype = tk_case_param_dtype(c, 0), result = tk_case_param_dtype(c, 1);
    const bool all = tki_format_of(dtype).bits <= 16;
    const uint32_t tried = all ? UINT32_C(1) << tki_format_of(dtype).bits : 1 << 15;
    uint32_t patterns[BLOCK];
    block inputs;
    tki_enclosure results[BLOCK];
    void *tables = NULL;
    nearest kept = {0};
    if (!oracle || (oracle->open && oracle->open(c->dtype, &tables) != TK_OK))
        return;
    for (uint32_t begin = 0; begin < tried; begin += BLOCK) {
        const tk_case part = line_of(c, BLOCK);
        const void *buffers[TK_MAX_PARAMS] = {inputs.data};
        for (uint32_t i = 0; i < BLOCK; i++) {
            patterns[i] = all ? begin + i : candidate(dtype, random);
            tki_put_bits(dtype, inputs.data, i, patterns[i]);
        }
        const tki_oracle_job job = {.c = &part, .buffers = buffers, .output = 1, .tables = tables};
        if (enclose_line(oracle, job, BLOCK, results) != TK_OK)
            return;
        for (int i = 0; i < BLOCK; i++)
            if (results[i].admits == TKI_ADMIT_INTERVAL)
                keep_if_near(&kept, patterns[i], from_midpoint(result, results[i].lo));
    }
    for (int64_t t = 0; t < tk_case_elements(c, 0) && kept.count > 0; t++)
        tki_put_bits(dtype, data, t, kept.patterns[tki_random_below(random, (uint64_t)kept.count)]);
}
