/* SHOWS. tokitai bench: time certified lowerings against the machine's limits and the peers found here. First the arguments, then
 * the certificates of everything that is to be timed, then the clock. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "cli/attribute_options.h"
#include "cli/bench_gpu.h"
#include "cli/bench_report.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/parse.h"

typedef struct arguments {
    cli_words ops;
    const char *who, *backend, *lowering, *dtype, *shape, *peers, *chart, *from;
    int index, indices, threads; /* negative: not given */
    double seconds;              /* 0: not given */
    bool growth, sweep, scaling, startup, cpu_time, certify, json;
    cli_attributes attributes;
} arguments;

static const cli_option option_list[] = {
    CLI_HEADING("What is timed:"),
    CLI_BACKEND("BACKEND", ": cpu, cuda or hip; cuda:1 is the second device. Default: that of --lowering, or cpu"),
    CLI_LOWERING("|best", "; or best, the fastest that this machine runs. Default: every one; with --growth, --sweep "
                          "and --scaling, best"),
    CLI_DTYPE("|all", ". Default: all"),
    CLI_INDEX(". Default: i32"),
    CLI_ROW(CLI_CHOICE, "indices", "uniform|zipf|equal|all", indices,
            "Distribution of an embedding's indices: uniform, zipf (the k-th row in proportion to 1/k, as words "
            "occur in text), equal (a single row) or all, each separately. Default: uniform and zipf; on a GPU all; "
            "with --growth uniform"),
    CLI_SHAPE(", instead of the default ones"),
    CLI_ROW(CLI_FLAG, "growth", NULL, growth,
            "Sizes from 2^10 to 2^28 elements, matrix products from 16 to 4096, as far as memory allows. At the end, "
            "the cliffs: sizes at which a kernel's time per element (or multiply-add) grows over 1.5 times as much "
            "as that of the limit",
            .excludes = "shape sweep scaling"),
    CLI_ROW(CLI_FLAG, "sweep", NULL, sweep,
            "A hundred shapes of at least 2^24 elements, drawn from a fixed seed, for ops on rows. At the end, the "
            "median, the lowest tenth and the least of our speed relative to the copy and to each peer",
            .excludes = "shape scaling"),
    CLI_ROW(CLI_FLAG, "scaling", NULL, scaling,
            "Every kernel and limit with one thread and with all (or --threads), in turn, each thread bound to a "
            "processor; no peers"),
    CLI_ROW(CLI_FLAG, "startup", NULL, startup,
            "On a GPU: time instead the first use of each kernel with an empty and with a full cache, in a directory "
            "under TMPDIR, and the overhead of a small call over a bare launch"),
    CLI_ROW(CLI_TEXT, "peers", "none|PEER,...", peers,
            "Names separated by commas: plain (built-in baselines), sleef, openblas, blis, onednn, libxsmm, flint, "
            "pytorch; on a GPU pytorch, torch.compile, triton, cublaslt; or none. Default: every one found; with "
            "--growth all but PyTorch. Peers are loaded at run time. On the CPU, PyTorch runs in a separate process "
            "and is not interleaved with the others"),
    CLI_ROW(CLI_FLAG, "certify", NULL, certify,
            "First certify, at level quick, lowerings that have no certificate yet"),
    CLI_HEADING("How:"),
    CLI_THREADS(1024, " of kernels, limits and peers. Default: 1; 0 uses all processors"),
    CLI_SECONDS_EACH(", shared by its arms. Default: 1; with --growth 0.3; with --sweep 0.05"),
    CLI_ROW(CLI_FLAG, "cpu-time", NULL, cpu_time,
            "Measure the processor time of one thread instead of wall-clock time: for a machine that is not idle. "
            "Medians count instead of best times, and PyTorch is left out"),
    CLI_HEADING("Output:"),
    CLI_CHART(": shares of the limit and a roofline of matrix products, or time against size with --growth"),
    CLI_JSON,
    CLI_ROW(CLI_TEXT, "from", "FILE.json", from,
            "Measure nothing: show the table of what --json wrote to FILE, and draw it with --chart",
            .excludes = "!chart"),
    {.kind = CLI_ATTRIBUTES, .place = offsetof(arguments, attributes)},
    {0},
};

/* ------------------------------------------------------------------------------------------------------------
 * From arguments to jobs. A function that returns false has said why.
 * ------------------------------------------------------------------------------------------------------------ */

enum { MANY = 64, MOST_JOBS = 4096 };

typedef struct job {
    const cli_bench_group *group;
    int64_t dims[TK_MAX_DIMS];
    bench_indices indices;
} job;

typedef struct plan {
    const tk_contract *ops[CLI_MOST_OPS];
    int op_count;
    cli_types types;
    unsigned index_dtypes, indices; /* a bit for each that is wanted */
    tk_backend_info backend;
    const char *device; /* NULL for the CPU */
    cli_shape shape;
    bench_options options;
    cli_bench_group groups[4 * CLI_MOST_OPS];
    int group_count;
    job jobs[MOST_JOBS];
    int job_count;
} plan;

static bool plan_work(const arguments *a, plan *p)
{
    p->index_dtypes = cli_index_dtypes(a->index, 1u << TK_I32);
    p->op_count = cli_choose_ops(a->who, a->ops.list, a->ops.count, p->ops);
    for (int i = 0; p->op_count && i < a->attributes.count; i++)
        if (!cli_setting_fit(a->who, &a->attributes.given[i], p->ops, p->op_count, a->ops.count > 0))
            return false;
    return p->op_count && cli_choose_types(a->who, a->dtype, p->ops, p->op_count, &p->types);
}

/* Opens the device. */
static cli_exit plan_backend(const arguments *a, plan *p, tk_ctx *ctx)
{
    const char *device;
    if (!cli_choose_backend(a->who, a->backend, a->lowering, &device, &p->backend))
        return CLI_BAD;
    if (!p->backend.is_gpu && a->startup) {
        cli_complain(a->who, "--startup needs a GPU: --backend cuda or hip");
        return CLI_BAD;
    }
    if (p->backend.is_gpu && (a->scaling || a->threads >= 0)) {
        cli_complain(a->who, "--threads and --scaling need --backend cpu");
        return CLI_BAD;
    }
    p->device = p->backend.is_gpu ? device : NULL;
    return cli_exit_with(a->who, ctx, tk_ctx_use_device(ctx, device));
}

static void plan_indices(const arguments *a, plan *p)
{
    const unsigned all = 1u << BENCH_UNIFORM | 1u << BENCH_ZIPF | 1u << BENCH_EQUAL;
    const unsigned sets[] = {1u << BENCH_UNIFORM, 1u << BENCH_ZIPF, 1u << BENCH_EQUAL, all};
    const unsigned usual = a->growth ? sets[0] : p->device ? all : sets[0] | sets[1];
    p->indices = a->indices >= 0 ? sets[a->indices] : usual;
}

static bool plan_peers(const arguments *a, plan *p)
{
    const char *names[MANY];
    const char *found;
    bool present;
    int count = 0;
    const char *list = a->peers;
    p->options.peers = list;
    p->options.in_turn = (a->growth && !list) || a->cpu_time;
    if (!list || !strcmp(list, "none"))
        return true;
    while (count < MANY && (p->device ? (names[count] = bench_gpu_peer_at(count)) != NULL
                                      : bench_peer_at(count, &names[count], &found, &present)))
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
    p->options.seconds = a->seconds > 0 ? a->seconds : a->growth ? 0.3 : a->sweep ? 0.05 : 1;
    p->options.scaling = a->scaling;
    p->options.threads = a->threads >= 0 ? a->threads : a->scaling ? 0 : 1;
    if (p->options.threads == 0)
        p->options.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (a->scaling && p->options.threads == 1) {
        cli_complain(a->who, "--scaling needs more than one thread");
        return false;
    }
    p->options.processor_time = a->cpu_time;
    if (a->cpu_time && (p->options.threads > 1 || p->device)) {
        cli_complain(a->who, "--cpu-time needs --backend cpu and --threads 1");
        return false;
    }
    return true;
}

static void add_group(const arguments *a, plan *p, const tk_ctx *ctx, const tk_contract *op, tk_types types,
                      tk_dtype index)
{
    const char *wanted = a->lowering;
    const bool best = wanted ? !strcmp(wanted, "best") : a->growth || a->sweep || a->scaling;
    tk_lowering_info info;
    cli_bench_group *g = &p->groups[p->group_count];
    *g = (cli_bench_group){.contract = op, .types = types, .index_dtype = index};
    tk_case c = cli_case_of(op, types, index);
    cli_settings_apply(a->attributes.given, a->attributes.count, &c);
    if (tk_contract_definition(op) && !p->backend.is_gpu && (!wanted || best)) {
        const cli_types_text text = cli_name_types(types);
        snprintf(g->ids[g->count++], sizeof *g->ids, "plain.cpu.%s.%s%s", op->name, text.text,
                 tk_contract_takes_index(op) && index == TK_I64 ? ".i64" : "");
    }
    for (int l = 0; tk_lowering_at(op, l, &info) && g->count < CLI_BENCH_LOWERINGS; l++) {
        char *id = g->ids[g->count];
        bool named = wanted && !best;
        (void)tk_lowering_id(&c, l, id, sizeof *g->ids);
        if (strcmp(info.backend, p->backend.name) != 0 || (named && strcmp(id, wanted) != 0) ||
            tk_lowering_refusal(ctx, &c, l) || (best && g->count == 1))
            continue;
        g->count++;
    }
    p->group_count += g->count > 0;
}

static bool plan_groups(const arguments *a, plan *p, const tk_ctx *ctx)
{
    const char *wanted = a->lowering;
    tk_case named;
    int lowering;
    if (tk_lowering_find(wanted, &named, &lowering) && named.index_dtype == TK_I64)
        p->index_dtypes = 1u << TK_I64;
    for (int i = 0; i < p->op_count; i++) {
        for (int t = 0; t < p->ops[i]->type_count; t++) {
            for (tk_dtype index = TK_I32; index <= TK_I64; index++) {
                bool takes = tk_contract_takes_index(p->ops[i]);
                if (cli_types_have(&p->types, p->ops[i]->types[t]) &&
                    (takes ? (p->index_dtypes & 1u << index) != 0 : index == TK_I32))
                    add_group(a, p, ctx, p->ops[i], p->ops[i]->types[t], index);
            }
        }
    }
    if (p->group_count == 0 && tk_contract_definition(p->ops[0]))
        cli_complain(a->who, "of a definition plain loops in C are timed: --backend cpu, without --lowering");
    else if (p->group_count == 0)
        cli_complain(a->who, "no lowering%s%.100s%s of these ops and types runs on this machine", wanted ? " '" : "",
                     wanted ? wanted : "", wanted ? "'" : "");
    return p->group_count > 0;
}

static void add_jobs(plan *p, const cli_bench_group *g, const int64_t dims[TK_MAX_DIMS])
{
    const unsigned wanted = bench_heeds_indices(g->contract) ? p->indices : 1u << BENCH_UNIFORM;
    for (bench_indices indices = BENCH_UNIFORM; indices <= BENCH_EQUAL && p->job_count < MOST_JOBS; indices++) {
        if (!(wanted & 1u << indices))
            continue;
        job *j = &p->jobs[p->job_count++];
        *j = (job){.group = g, .indices = indices};
        memcpy(j->dims, dims, sizeof j->dims);
    }
}

static bool shape_at(const arguments *a, const plan *p, const tk_contract *contract, int i, int64_t dims[TK_MAX_DIMS])
{
    if (a->shape) {
        cli_error error;
        tk_case c = tk_case_init(contract, contract->types[0].dtype);
        cli_settings_apply(a->attributes.given, a->attributes.count, &c);
        const bool good = i == 0 && cli_shape_fit(&p->shape, &c, &error);
        memcpy(dims, c.dims, sizeof c.dims);
        return good;
    }
    if (a->sweep)
        return bench_sweep_shape_at(contract, i, dims);
    return p->device && !a->growth ? bench_gpu_shape_at(contract, i, dims)
                                   : bench_shape_at(contract, a->growth, i, dims);
}

static bool plan_jobs(const arguments *a, plan *p)
{
    for (int i = 0; i < p->group_count; i++) {
        int64_t dims[TK_MAX_DIMS] = {0};
        for (int s = 0; shape_at(a, p, p->groups[i].contract, s, dims); s++)
            add_jobs(p, &p->groups[i], dims);
    }
    if (p->job_count == 0)
        cli_complain(a->who, "--sweep needs an op on rows");
    return p->job_count > 0;
}

/* ------------------------------------------------------------------------------------------------------------
 * Certificates
 * ------------------------------------------------------------------------------------------------------------ */

/* The certificate that a lowering needs, made on the spot if that was asked for. */
static cli_exit ensure_certificate(const arguments *a, const plan *p, tk_ctx *ctx, cli_bench_group *g, int i,
                                   cli_progress *progress)
{
    tk_certificate *certificate = NULL;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    const tk_contract *op = cli_op_in(a->who, ctx, g->contract);
    tk_status status = op ? tk_certificate_find(ctx, op, g->types.dtype, g->index_dtype, g->ids[i], &certificate)
                          : TK_NO_MEMORY;
    g->contract = op ? op : g->contract; /* that of the context, in which a definition is another one */
    if (status == TK_UNAVAILABLE && a->certify) {
        options.backend = p->backend.name;
        options.lowering = tk_contract_definition(g->contract) ? NULL : g->ids[i]; /* or plain loops */
        options.result_dtype = &g->types.result_dtype;
        options.progress = cli_progress_update;
        options.progress_data = progress;
        snprintf(progress->label, sizeof progress->label, "certify %.50s ", g->ids[i]);
        status = tk_certify(ctx, op, g->types.dtype, g->index_dtype, &options, &certificate);
        if (status == TK_OK)
            status = tk_certificate_write(ctx, certificate, NULL, NULL);
        cli_progress_clear(progress);
    }
    if (status != TK_OK) {
        cli_complain(a->who, "%s%s", tk_ctx_message(ctx),
                     status == TK_UNAVAILABLE ? "; --certify or 'tokitai certify' makes one" : "");
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
            result = cli_worse(result, ensure_certificate(a, p, ctx, &p->groups[i], l, &progress));
    }
    return result;
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

static cli_exit time_job(const arguments *a, const plan *p, tk_ctx *ctx, bench_gpu *gpu, const job *j,
                         bench_result *r)
{
    const char *ids[CLI_BENCH_LOWERINGS];
    char title[256];
    tk_case c = cli_case_of(j->group->contract, j->group->types, j->group->index_dtype);
    memcpy(c.dims, j->dims, sizeof c.dims);
    cli_settings_apply(a->attributes.given, a->attributes.count, &c);
    if (c.contract->derive)
        c.contract->derive(&c);
    cli_bench_format_case(&c, j->indices, title, sizeof title);
    for (int l = 0; l < j->group->count; l++)
        ids[l] = j->group->ids[l];
    if (!gpu && !fits_in_memory(&c)) {
        cli_complain(a->who, "%s is not timed: not enough free memory", title);
        return CLI_UNKNOWN;
    }
    bench_options options = p->options;
    options.indices = j->indices;
    if (gpu ? bench_gpu_measure(gpu, &c, ids, j->group->count, &options, r)
            : bench_measure(ctx, &c, ids, j->group->count, &options, r))
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

/* What was timed: results[i] of the lowerings of groups[i]. */
typedef struct outcome {
    bench_gpu *gpu; /* NULL for the CPU */
    json_t *machine;
    bench_result *results;
    const cli_bench_group **groups;
    int count;
} outcome;

static cli_exit time_jobs(const arguments *a, const plan *p, tk_ctx *ctx, outcome *o)
{
    cli_exit result = CLI_HOLDS;
    cli_progress progress = cli_progress_begin(p->job_count);
    for (int i = 0; i < p->job_count; i++) {
        progress.job = i;
        cli_progress_update(0, p->jobs[i].group->contract->name, &progress);
        cli_exit timed = time_job(a, p, ctx, o->gpu, &p->jobs[i], &o->results[o->count]);
        cli_progress_clear(&progress);
        result = cli_worse(result, timed);
        if (timed != CLI_HOLDS)
            continue;
        if (!a->json)
            cli_bench_print_result(&o->results[o->count], a->scaling);
        o->groups[o->count++] = p->jobs[i].group;
    }
    return result;
}

static cli_exit print_json(const arguments *a, const outcome *o)
{
    json_t *list = json_array();
    for (int i = 0; i < o->count; i++)
        json_array_append_new(list, cli_bench_result_json(o->groups[i], &o->results[i]));
    json_t *all = json_pack("{s:O, s:o, s:o}", "machine", o->machine, "results", list, "summary",
                            cli_bench_summary_json(o->results, o->count));
    if (a->scaling)
        json_object_set_new(all, "scaling", json_true());
    if (a->growth)
        json_object_set_new(all, "cliffs", cli_bench_cliffs_json(o->results, o->count));
    if (a->sweep)
        json_object_set_new(all, "sweep_seed", json_integer(BENCH_SWEEP_SEED));
    return cli_print_json(all);
}

static cli_exit conclude(const arguments *a, const outcome *o)
{
    cli_exit result = CLI_HOLDS;
    const char *chart = a->chart;
    if (a->json)
        result = print_json(a, o);
    else if (a->growth)
        cli_bench_print_cliffs(o->results, o->count);
    else if (a->sweep)
        cli_bench_print_sweep(o->results, o->count, BENCH_SWEEP_SEED);
    else
        cli_bench_print_summary(o->results, o->count, a->scaling);
    const bench_chart kind = a->growth ? BENCH_CURVES : a->sweep ? BENCH_MAP : BENCH_BARS;
    if (chart && !bench_chart_write(chart, o->results, o->count, kind)) {
        cli_complain(a->who, "cannot write --chart '%.200s': %s", chart, strerror(errno));
        result = CLI_BAD;
    }
    return result;
}

/* The machine or the device by itself; false, with a complaint, if it cannot be measured. */
static bool begin(const arguments *a, const plan *p, tk_ctx *ctx, outcome *o)
{
    bench_limits limits;
    bench_gpu_limits gpu_limits;
    if (p->device) {
        o->gpu = bench_gpu_open(ctx, &p->options);
        if (o->gpu && bench_gpu_limits_measure(o->gpu, &gpu_limits))
            o->machine = cli_bench_gpu_machine_json(o->gpu, &gpu_limits);
    } else {
        tell_threads(p->options.threads);
        if (bench_limits_measure(&p->options, fmin(1, p->options.seconds), &limits))
            o->machine = cli_bench_machine_json(&p->options, &limits);
    }
    const char *message = tk_ctx_message(ctx);
    if (!o->machine)
        cli_complain(a->who, "%s", *message ? message : "out of memory");
    else if (!a->json)
        cli_bench_print_machine(o->machine);
    return o->machine != NULL;
}

static cli_exit time_all(const arguments *a, const plan *p, tk_ctx *ctx)
{
    outcome o = {.results = calloc((size_t)p->job_count, sizeof *o.results),
                 .groups = calloc((size_t)p->job_count, sizeof *o.groups)};
    cli_exit result = CLI_UNKNOWN;
    if (!o.results || !o.groups) {
        cli_complain(a->who, "out of memory");
    } else if (begin(a, p, ctx, &o)) {
        result = time_jobs(a, p, ctx, &o);
        result = cli_worse(result, conclude(a, &o));
    }
    bench_gpu_close(o.gpu);
    json_decref(o.machine);
    free(o.results);
    free(o.groups);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {.who = argv[0], .index = -1, .indices = -1, .threads = -1};
    cli_parse(&cli_bench, argc, argv, &a);
    if (a.from && a.ops.count) {
        cli_complain(a.who, "--from excludes OP");
        return CLI_BAD;
    }
    if (a.from)
        return cli_bench_show_kept(a.who, a.from, a.chart);
    static plan all, *const p = &all;
    tk_ctx *ctx = cli_open(a.who);
    if (!ctx)
        return CLI_UNKNOWN;
    cli_show_notes(ctx, a.who);
    cli_exit result = CLI_BAD;
    if (plan_work(&a, p))
        result = plan_backend(&a, p, ctx);
    if (result == CLI_HOLDS && !a.startup) {
        plan_indices(&a, p);
        bool good = plan_numbers(&a, p) && plan_peers(&a, p) &&
                    cli_choose_shape(a.who, a.shape, p->ops, p->op_count, &a.attributes, 1, &p->shape) &&
                    plan_groups(&a, p, ctx) && plan_jobs(&a, p) && cli_can_write(a.who, "--chart", a.chart);
        result = good ? ensure_certificates(&a, p, ctx) : CLI_BAD;
        if (result == CLI_HOLDS)
            result = time_all(&a, p, ctx);
    } else if (result == CLI_HOLDS) {
        result = cli_bench_gpu_startup(a.who, ctx, p->device, p->ops, p->op_count, &p->types, a.json);
    }
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_bench = {
    .name = "bench",
    .summary = "time certified kernels against the machine's limits and other libraries",
    .arguments = "[OP...]",
    .words = offsetof(arguments, ops),
    .options = option_list,
    .run = run,
    .doc = "Times the lowerings of each OP, or of every op, and compares them with the limits of this machine and "
           "with other libraries that are found (peers), all on the same tensors. A lowering is timed only if it has "
           "a certificate of this build on this machine that says HELD or PROVED, of any level. Every arm runs once, "
           "then every arm again, and so on; the best and the median of many such runs are printed. A peer's time "
           "includes the conversions that it needs. Its first result is compared coarsely with ours; a peer with a "
           "different result is shown as 'differs' and not timed. Peers are not judged by the contract."
           "\vAt the end, a line for each lowering has the geometric mean over its cases of the best peer's time "
           "by its own, the smallest of these ratios, and the mean share of the limit. Times that differ by less "
           "than 3 % are called 'level'.\n\n"
           "The limit of an op is the time to read its inputs and write its outputs without arithmetic, by "
           "ordinary or by non-temporal stores, whichever is faster; that of a matrix product is the time of its "
           "fp32 multiply-adds on registers, if that is longer.\n\n"
           "On a GPU, times are measured by the device's events, ratios are of medians, calls cycle through copies "
           "of the tensors that exceed the L2 cache, and the limit is a copy within the device of as many bytes as "
           "the op must move; a matrix product has none. cuBLASLt takes part in products of 16-bit factors on a CUDA "
           "device, with the fastest of up to 32 algorithms that it offers; for linear layers with its fused "
           "epilogues, and where there is gelu in them also with our gelu behind its product.\n\n"
           "Exit status: 0 everything was timed; 1 a contract was refuted by --certify; 2 wrong usage, or output "
           "that could not be written; 3 a certificate, a device or memory is missing.",
};
