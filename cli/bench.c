/* tokitai bench: time certified lowerings against the machine's limits and the peers found here. First the arguments, then
 * the certificates of everything that is to be timed, then the clock. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/parse.h"

/* ------------------------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------------------------ */

enum {
    KEY_LOWERING = 256,
    KEY_DTYPE,
    KEY_INDEX,
    KEY_SHAPE,
    KEY_THREADS,
    KEY_SECONDS,
    KEY_PEERS,
    KEY_CHART,
    KEY_END, /* keys up to here index arguments.text */
    KEY_GROWTH,
    KEY_CERTIFY,
    KEY_JSON
};

typedef struct arguments {
    const char *who;
    char **ops; /* [op_count], into argv */
    int op_count;
    const char *text[KEY_END - KEY_LOWERING]; /* NULL if it was not given */
    bool growth, certify, json;
} arguments;

static const char *given(const arguments *a, int key)
{
    return a->text[key - KEY_LOWERING];
}

static const struct argp_option option_list[] = {
    {NULL, 0, NULL, 0, "What is timed:", 1},
    {"lowering", KEY_LOWERING, "ID", 0,
     "This implementation, or best: the fastest that the machine takes; the default is every one, best with --growth",
     1},
    {"dtype", KEY_DTYPE, "TYPE", 0, "f16, bf16 or all (the default)", 1},
    {"index", KEY_INDEX, "TYPE", 0, "i32 (the default), i64 or all, for ops that take an index", 1},
    {"shape", KEY_SHAPE, "SIZES", 0, "Such as n=1048576 or 4096x1024, instead of a few usual ones", 1},
    {"growth", KEY_GROWTH, NULL, 0, "Sizes from 2^10 to 2^28 elements, products from 16 to 4096", 1},
    {"peers", KEY_PEERS, "LIST", 0, "none, or names with commas; the default is every one that is found", 1},
    {"certify", KEY_CERTIFY, NULL, 0, "Certify first what has no certificate yet", 1},

    {NULL, 0, NULL, 0, "How:", 2},
    {"threads", KEY_THREADS, "COUNT", 0, "Of kernels and peers; 1 is the default, 0 takes all there are", 2},
    {"seconds", KEY_SECONDS, "NUMBER", 0, "For each case, shared by its arms; 1 is the default", 2},

    {NULL, 0, NULL, 0, "Output:", 3},
    {"chart", KEY_CHART, "FILE", 0, "Draw the results to FILE, as SVG", 3},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of the table", 3},
    {NULL, 0, NULL, 0, "Help:", -1},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_GROWTH: a->growth = true; return 0;
    case KEY_CERTIFY: a->certify = true; return 0;
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_ARGS:
        a->ops = state->argv + state->next;
        a->op_count = state->argc - state->next;
        return 0;
    default:
        if (key < KEY_LOWERING || key >= KEY_END)
            return ARGP_ERR_UNKNOWN;
        if (given(a, key))
            argp_error(state, "an option is given twice, the second time as '%.80s'", argument);
        a->text[key - KEY_LOWERING] = argument;
        return 0;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[OP...]",
    .doc =
        "Times certified kernels against what the machine can do at most and against the libraries found here, on "
        "the same work, one after the other in turn. Without OP, every op is timed. A lowering without a "
        "certificate of this build on this machine is not timed."
        "\vTimes are of a single call with its conversions: the best and the median of many. The limit of an op is "
        "its least traffic without any arithmetic, by ordinary or non-temporal stores, whichever is faster; of a "
        "product it is its multiply-adds. Peers compute what they compute: they are not judged.\n\n"
        "Exit status: 0 everything was timed, 1 a contract was refuted by --certify, 2 wrong usage or output that "
        "could not be written, 3 a certificate or memory is missing.",
};

/* ------------------------------------------------------------------------------------------------------------
 * From arguments to jobs. A function that returns false has said why.
 * ------------------------------------------------------------------------------------------------------------ */

enum { MANY = 64, MOST_LOWERINGS = 8, MOST_JOBS = 4096 };

/* Lowerings of one op and its types, and what their certificates say. */
typedef struct group {
    const tk_contract *contract;
    tk_dtype dtype, index_dtype;
    int count;
    char ids[MOST_LOWERINGS][128];
    const char *verdicts[MOST_LOWERINGS];
} group;

typedef struct job {
    const group *group;
    int64_t dims[TK_MAX_DIMS];
} job;

typedef struct plan {
    const tk_contract *ops[MANY];
    int op_count;
    unsigned dtypes, index_dtypes;
    bool has_shape;
    cli_shape shape;
    bench_options options;
    group groups[4 * MANY];
    int group_count;
    job jobs[MOST_JOBS];
    int job_count;
} plan;

static bool plan_ops(const arguments *a, plan *p)
{
    for (int i = 0; i < a->op_count && p->op_count < MANY; i++) {
        const tk_contract *op = cli_find_op(a->who, a->ops[i]);
        if (!op)
            return false;
        p->ops[p->op_count++] = op;
    }
    for (int i = 0; a->op_count == 0 && p->op_count < MANY && tk_contract_at(i); i++)
        p->ops[p->op_count++] = tk_contract_at(i);
    return true;
}

static bool plan_types(const arguments *a, plan *p)
{
    const char *dtype = given(a, KEY_DTYPE);
    const char *index = given(a, KEY_INDEX);
    p->dtypes = 1u << TK_F16 | 1u << TK_BF16;
    p->index_dtypes = 1u << TK_I32;
    if (dtype && !cli_parse_dtypes(dtype, &p->dtypes)) {
        cli_complain_unknown(a->who, "dtype", dtype, (const char *[]){"f16", "bf16", "all"}, 3);
        return false;
    }
    if (index && !cli_parse_index_dtypes(index, &p->index_dtypes)) {
        cli_complain_unknown(a->who, "index type", index, (const char *[]){"i32", "i64", "all"}, 3);
        return false;
    }
    return true;
}

static bool plan_peers(const arguments *a, plan *p)
{
    const char *names[MANY];
    const char *found;
    bool present;
    int count = 0;
    const char *list = given(a, KEY_PEERS);
    p->options.peers = list;
    if (!list || !strcmp(list, "none"))
        return true;
    while (count < MANY && bench_peer_at(count, &names[count], &found, &present))
        count++;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        bool known = false;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        for (int i = 0; i < count; i++)
            known |= !strcmp(name, names[i]);
        if (!known) {
            cli_complain_unknown(a->who, "peer", name, names, count);
            return false;
        }
    }
    return true;
}

static bool plan_numbers(const arguments *a, plan *p)
{
    const char *threads = given(a, KEY_THREADS);
    const char *seconds = given(a, KEY_SECONDS);
    float value = 1;
    p->options.threads = 1;
    if (threads && !cli_parse_count(threads, 0, 1024, &p->options.threads)) {
        cli_complain(a->who, "--threads '%.80s' is not a number from 0 to 1024", threads);
        return false;
    }
    if (p->options.threads == 0)
        p->options.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (seconds && (!cli_parse_float(seconds, &value) || value <= 0 || value > 3600)) {
        cli_complain(a->who, "--seconds '%.80s' is not a number above 0, up to 3600", seconds);
        return false;
    }
    p->options.seconds = (double)value;
    return true;
}

static bool plan_shape(const arguments *a, plan *p)
{
    const char *text = given(a, KEY_SHAPE);
    cli_error error;
    if (!text)
        return true;
    if (a->growth) {
        cli_complain(a->who, "give --shape or --growth, not both");
        return false;
    }
    p->has_shape = true;
    bool good = cli_parse_shape(text, &p->shape, &error);
    for (int i = 0; i < p->op_count && good; i++) {
        tk_case c = tk_case_init(p->ops[i], TK_F16);
        good = cli_shape_fit(&p->shape, p->ops[i], c.dims, &error);
        for (int k = 0; k < p->ops[i]->param_count && good; k++)
            if (tk_case_elements(&c, k) <= 0)
                good = cli_error_set(&error, "leaves %s without elements, or too large", p->ops[i]->params[k].name);
    }
    if (!good)
        cli_complain(a->who, "--shape '%.80s' %s", text, error.text);
    return good;
}

static void add_group(const arguments *a, plan *p, const tk_contract *op, tk_dtype dtype, tk_dtype index)
{
    const char *wanted = given(a, KEY_LOWERING);
    const bool best = wanted ? !strcmp(wanted, "best") : a->growth;
    tk_lowering_info info;
    group *g = &p->groups[p->group_count];
    *g = (group){.contract = op, .dtype = dtype, .index_dtype = index};
    tk_case c = tk_case_init(op, dtype);
    c.index_dtype = index;
    for (int l = 0; tk_lowering_at(op, l, &info) && g->count < MOST_LOWERINGS; l++) {
        char *id = g->ids[g->count];
        bool wide = tk_contract_takes_index(op) && index == TK_I64;
        snprintf(id, sizeof *g->ids, "%s.%s.%s.%s%s", info.backend, op->name, tk_dtype_name(dtype), info.variant,
                 wide ? ".i64" : "");
        bool named = wanted && !best;
        if ((named && strcmp(id, wanted) != 0) || tk_lowering_refusal(NULL, &c, l) || (best && g->count == 1))
            continue;
        g->count++;
    }
    p->group_count += g->count > 0;
}

static bool plan_groups(const arguments *a, plan *p)
{
    const char *wanted = given(a, KEY_LOWERING);
    const size_t length = wanted ? strlen(wanted) : 0;
    if (length > 4 && !strcmp(wanted + length - 4, ".i64"))
        p->index_dtypes = 1u << TK_I64;
    for (int i = 0; i < p->op_count; i++) {
        for (tk_dtype dtype = TK_F16; dtype <= TK_BF16; dtype++) {
            for (tk_dtype index = TK_I32; index <= TK_I64; index++) {
                bool takes = tk_contract_takes_index(p->ops[i]);
                if ((p->dtypes & 1u << dtype) && (takes ? (p->index_dtypes & 1u << index) != 0 : index == TK_I32))
                    add_group(a, p, p->ops[i], dtype, index);
            }
        }
    }
    if (p->group_count == 0)
        cli_complain(a->who, "no lowering '%.100s' of these ops and types runs on this machine",
                     wanted ? wanted : "");
    return p->group_count > 0;
}

static bool plan_jobs(const arguments *a, plan *p)
{
    cli_error error;
    for (int i = 0; i < p->group_count; i++) {
        int64_t dims[TK_MAX_DIMS] = {0};
        for (int s = 0; p->job_count < MOST_JOBS; s++) {
            bool more = p->has_shape ? s == 0 && cli_shape_fit(&p->shape, p->groups[i].contract, dims, &error)
                                     : bench_shape_at(p->groups[i].contract, a->growth, s, dims);
            if (!more)
                break;
            job *j = &p->jobs[p->job_count++];
            j->group = &p->groups[i];
            memcpy(j->dims, dims, sizeof dims);
        }
    }
    return p->job_count > 0;
}

static bool plan_chart(const arguments *a)
{
    const char *path = given(a, KEY_CHART);
    FILE *file = path ? fopen(path, "a") : NULL;
    if (path && !file)
        cli_complain(a->who, "cannot write to --chart '%.200s': %s", path, strerror(errno));
    return !path || (file && fclose(file) == 0);
}

/* ------------------------------------------------------------------------------------------------------------
 * Certificates
 * ------------------------------------------------------------------------------------------------------------ */

/* The certificate that a lowering needs, made on the spot if that was asked for. */
static cli_exit ensure_certificate(const arguments *a, tk_ctx *ctx, group *g, int i, cli_progress *progress)
{
    tk_certificate *certificate = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    tk_status status = tk_certificate_find(ctx, g->contract, g->dtype, g->index_dtype, g->ids[i], &certificate);
    if (status == TK_UNAVAILABLE && a->certify) {
        options.lowering = g->ids[i];
        options.progress = cli_progress_update;
        options.progress_data = progress;
        snprintf(progress->label, sizeof progress->label, "certify %.50s ", g->ids[i]);
        status = tk_certify(ctx, g->contract, g->dtype, g->index_dtype, &options, &certificate);
        if (status == TK_OK)
            status = tk_certificate_write(ctx, certificate, NULL, NULL);
        cli_progress_clear(progress);
    }
    if (status != TK_OK) {
        cli_complain(a->who, "%s%s", tk_ctx_message(ctx),
                     status == TK_UNAVAILABLE ? "; --certify, or 'tokitai certify', makes one" : "");
        tk_certificate_destroy(certificate);
        return status == TK_UNAVAILABLE ? CLI_UNKNOWN : cli_exit_of(status, CLI_BAD);
    }
    tk_verdict verdict = tk_certificate_verdict(certificate);
    g->verdicts[i] = tk_verdict_name(verdict);
    if (verdict != TK_HELD && verdict != TK_PROVED)
        cli_complain(a->who, "%s is %s and is not timed: %s", g->ids[i], g->verdicts[i],
                     tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    return verdict == TK_REFUTED ? CLI_REFUTED : verdict == TK_UNKNOWN ? CLI_UNKNOWN : CLI_HOLDS;
}

static cli_exit ensure_certificates(const arguments *a, plan *p, tk_ctx *ctx)
{
    cli_exit result = CLI_HOLDS;
    cli_progress progress = cli_progress_begin(p->group_count);
    for (int i = 0; i < p->group_count; i++) {
        progress.job = i;
        for (int l = 0; l < p->groups[i].count; l++)
            result = cli_worse(result, ensure_certificate(a, ctx, &p->groups[i], l, &progress));
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------
 * Output
 * ------------------------------------------------------------------------------------------------------------ */

static void format_time(double seconds, char *text, size_t size)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.4g us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, size, "%.4g ms", 1e3 * seconds);
    else
        snprintf(text, size, "%.4g s", seconds);
}

static void print_machine(const bench_options *options, const bench_limits *limits)
{
    tk_device device;
    const char *name;
    const char *found;
    bool present;
    if (tk_device_at(0, &device))
        printf("%s, %d thread%s\n", device.name, options->threads, options->threads == 1 ? "" : "s");
    printf("limits   copy %.1f GB/s, non-temporal copy %.1f GB/s (read and written), multiply-add %.0f GFLOP/s\n",
           1e-9 * limits->copy, 1e-9 * limits->stream_copy, 1e-9 * limits->multiply_add);
    for (int i = 0; bench_peer_at(i, &name, &found, &present); i++)
        printf("%s %-9s %s%s\n", i ? "        " : "peers   ", name, present ? "" : "not here: ", found);
}

static void print_arm(const cli_table *table, const bench_result *r, const bench_arm *arm)
{
    char best[32];
    char median[32];
    char per[32];
    char rate[32];
    char share[32] = "";
    char ratio[32] = "";
    format_time(arm->best, best, sizeof best);
    format_time(arm->median, median, sizeof median);
    snprintf(per, sizeof per, "%.3f ns", 1e9 * arm->best / r->elements);
    if (r->work_flops > 0)
        snprintf(rate, sizeof rate, "%.1f GFLOP/s", 1e-9 * r->work_flops / arm->best);
    else
        snprintf(rate, sizeof rate, "%.2f GB/s", 1e-9 * r->work_bytes / arm->best);
    if (arm->kind != BENCH_LIMIT && r->limit > 0)
        snprintf(share, sizeof share, "%.0f%%", 100 * r->limit / arm->best);
    if (arm->kind == BENCH_LOWERING && r->best_peer > 0)
        snprintf(ratio, sizeof ratio, "%.2fx", r->best_peer / arm->best);
    cli_style style = arm->kind == BENCH_LOWERING ? CLI_BOLD : arm->kind == BENCH_LIMIT ? CLI_FAINT : CLI_PLAIN;
    bool slower = r->best_peer > 0 && arm->best > r->best_peer;
    cli_table_row(table, (cli_cell[]){{arm->name, style},
                                      {arm->differs ? "differs" : best, CLI_PLAIN},
                                      {arm->differs ? "-" : median, CLI_PLAIN},
                                      {arm->differs ? "-" : per, CLI_PLAIN},
                                      {arm->differs ? "-" : rate, CLI_PLAIN},
                                      {arm->differs ? "-" : share, CLI_PLAIN},
                                      {ratio, slower ? CLI_DOUBTFUL : CLI_GOOD}});
}

static void format_case(const tk_case *c, char *text, size_t size)
{
    int length = snprintf(text, size, "%s %s%s", c->contract->name, tk_dtype_name(c->dtype),
                          tk_contract_takes_index(c->contract) && c->index_dtype == TK_I64 ? " i64" : "");
    for (int d = 0; d < c->contract->dim_count; d++)
        length += snprintf(text + length, size - (size_t)length, "%s%s=%lld", d ? "," : " ",
                           c->contract->dim_names[d], (long long)c->dims[d]);
}

static void print_result(const bench_result *r)
{
    char title[256];
    cli_table table = {.count = 7,
                       .columns = {{"ARM", false, 34},
                                   {"BEST", true, 9},
                                   {"MEDIAN", true, 9},
                                   {"PER ELEMENT", true, 0},
                                   {"RATE", true, 15},
                                   {"OF LIMIT", true, 0},
                                   {"TO BEST PEER", true, 0}}};
    format_case(&r->c, title, sizeof title);
    cli_heading(title);
    for (int i = 0; i < r->arm_count; i++)
        cli_table_fit(&table, 0, r->arms[i].name);
    cli_table_head(&table);
    for (int i = 0; i < r->arm_count; i++)
        print_arm(&table, r, &r->arms[i]);
    fflush(stdout);
}

static json_t *arm_json(const group *g, const bench_arm *arm)
{
    static const char *const kinds[] = {"lowering", "peer", "limit"};
    json_t *json = json_pack("{s:s, s:s, s:b, s:b}", "name", arm->name, "kind", kinds[arm->kind], "same_work",
                             !arm->differs, "in_turn", !arm->separate);
    if (!arm->differs) {
        json_object_set_new(json, "best_seconds", json_real(arm->best));
        json_object_set_new(json, "median_seconds", json_real(arm->median));
        json_object_set_new(json, "samples", json_integer(arm->samples));
    }
    for (int l = 0; arm->kind == BENCH_LOWERING && l < g->count; l++)
        if (!strcmp(g->ids[l], arm->name))
            json_object_set_new(json, "verdict", json_string(g->verdicts[l]));
    return json;
}

static json_t *result_json(const group *g, const bench_result *r)
{
    json_t *shape = json_object();
    json_t *arms = json_array();
    for (int d = 0; d < r->c.contract->dim_count; d++)
        json_object_set_new(shape, r->c.contract->dim_names[d], json_integer(r->c.dims[d]));
    for (int i = 0; i < r->arm_count; i++)
        json_array_append_new(arms, arm_json(g, &r->arms[i]));
    json_t *json = json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:f, s:o}", "op", r->c.contract->name, "dtype",
                             tk_dtype_name(r->c.dtype), "shape", shape, "bytes", r->work_bytes, "flops",
                             r->work_flops, "elements", r->elements, "limit_seconds", r->limit, "arms", arms);
    if (tk_contract_takes_index(r->c.contract))
        json_object_set_new(json, "index_dtype", json_string(tk_dtype_name(r->c.index_dtype)));
    if (r->best_peer > 0)
        json_object_set_new(json, "best_peer", json_string(r->best_peer_name));
    return json;
}

static json_t *machine_json(const bench_options *options, const bench_limits *limits)
{
    tk_device device;
    const char *name;
    const char *found;
    bool present;
    json_t *peers = json_object();
    for (int i = 0; bench_peer_at(i, &name, &found, &present); i++)
        json_object_set_new(peers, name, json_pack("{s:b, s:s}", "found", (int)present, "detail", found));
    return json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:o}", "device", tk_device_at(0, &device) ? device.name : "",
                     "features", device.detail, "threads", options->threads, "copy_bytes_per_second", limits->copy,
                     "non_temporal_copy_bytes_per_second", limits->stream_copy, "multiply_add_per_second",
                     limits->multiply_add, "peers", peers);
}

/* ------------------------------------------------------------------------------------------------------------
 * Timing
 * ------------------------------------------------------------------------------------------------------------ */

/* What can be had without swapping; peers and the comparison may need as much again as the case itself. */
static bool fits_in_memory(const tk_case *c)
{
    long long available = -1;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && available < 0 && fgets(line, sizeof line, file))
        (void)sscanf(line, "MemAvailable: %lld", &available);
    if (file)
        fclose(file);
    return available < 0 || 3 * (bench_case_bytes(c) / 1024) < available;
}

static cli_exit time_job(const arguments *a, const plan *p, tk_ctx *ctx, const job *j, bench_result *r)
{
    const char *ids[MOST_LOWERINGS];
    char title[256];
    tk_case c = tk_case_init(j->group->contract, j->group->dtype);
    c.index_dtype = j->group->index_dtype;
    memcpy(c.dims, j->dims, sizeof c.dims);
    format_case(&c, title, sizeof title);
    for (int l = 0; l < j->group->count; l++)
        ids[l] = j->group->ids[l];
    if (!fits_in_memory(&c)) {
        cli_complain(a->who, "%s is left out: there is not enough free memory", title);
        return CLI_UNKNOWN;
    }
    if (bench_measure(ctx, &c, ids, j->group->count, &p->options, r))
        return CLI_HOLDS;
    cli_complain(a->who, "%s: %s", title, tk_ctx_message(ctx));
    return CLI_UNKNOWN;
}

/* Libraries read these when they are loaded. */
static void tell_threads(int threads)
{
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    setenv("OMP_NUM_THREADS", text, 1);
    setenv("BLIS_NUM_THREADS", text, 1);
}

static cli_exit time_jobs(const arguments *a, const plan *p, tk_ctx *ctx)
{
    bench_limits limits;
    cli_exit result = CLI_HOLDS;
    int count = 0;
    tell_threads(p->options.threads);
    bench_result *results = calloc((size_t)p->job_count, sizeof *results);
    json_t *list = json_array();
    if (!results || !list || !bench_limits_measure(p->options.threads, fmin(1, p->options.seconds), &limits)) {
        cli_complain(a->who, "no memory to measure with");
        free(results);
        json_decref(list);
        return CLI_UNKNOWN;
    }
    if (!a->json)
        print_machine(&p->options, &limits);
    cli_progress progress = cli_progress_begin(p->job_count);
    for (int i = 0; i < p->job_count; i++) {
        progress.job = i;
        cli_progress_update(0, p->jobs[i].group->contract->name, &progress);
        cli_exit outcome = time_job(a, p, ctx, &p->jobs[i], &results[count]);
        cli_progress_clear(&progress);
        result = cli_worse(result, outcome);
        if (outcome != CLI_HOLDS)
            continue;
        if (a->json)
            json_array_append_new(list, result_json(p->jobs[i].group, &results[count]));
        else
            print_result(&results[count]);
        count++;
    }
    if (a->json)
        result = cli_worse(result, cli_print_json(json_pack("{s:o, s:O}", "machine",
                                                            machine_json(&p->options, &limits), "results", list)));
    const char *chart = given(a, KEY_CHART);
    if (chart && !bench_chart_write(chart, results, count, a->growth)) {
        cli_complain(a->who, "the chart was not written to '%.200s': %s", chart, strerror(errno));
        result = CLI_BAD;
    }
    json_decref(list);
    free(results);
    return result;
}

cli_exit cli_bench(int argc, char **argv)
{
    arguments a = {.who = argv[0]};
    if (argp_parse(&command, argc, argv, 0, NULL, &a) != 0)
        return CLI_BAD;
    tk_ctx *ctx = NULL;
    plan *p = calloc(1, sizeof *p);
    if (!p || tk_ctx_create(&ctx) != TK_OK) {
        cli_complain(a.who, "out of memory");
        free(p);
        return CLI_UNKNOWN;
    }
    cli_exit result = CLI_BAD;
    if (plan_ops(&a, p) && plan_types(&a, p) && plan_numbers(&a, p) && plan_peers(&a, p) && plan_shape(&a, p) &&
        plan_groups(&a, p) && plan_jobs(&a, p) && plan_chart(&a))
        result = ensure_certificates(&a, p, ctx);
    if (result == CLI_HOLDS)
        result = time_jobs(&a, p, ctx);
    free(p);
    tk_ctx_destroy(ctx);
    return result;
}
