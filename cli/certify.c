/* tokitai certify: judge kernels against an exact oracle and write certificates. First every argument is turned into a
 * list of jobs, then the jobs are run; an argument error is found before anything is run. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/parse.h"

/* ------------------------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------------------------ */

enum {
    KEY_BACKEND = 256,
    KEY_LOWERING,
    KEY_DTYPE,
    KEY_INDEX,
    KEY_MUTANT,
    KEY_VARIANT,
    KEY_LEVEL,
    KEY_SEED,
    KEY_SHAPE,
    KEY_FAMILY,
    KEY_INPUT,
    KEY_LABEL_SMOOTHING,
    KEY_SCALE,
    KEY_IGNORE_INDEX,
    KEY_SKIP_MUTANTS,
    KEY_THREADS,
    KEY_OUT,
    KEY_SIGN,
    KEY_JSON,
    KEY_END /* keys from KEY_BACKEND up to here index arguments.text */
};

enum { TEXTS = KEY_END - KEY_BACKEND };

typedef struct arguments {
    const char *who;
    char **ops; /* [op_count], into argv */
    int op_count;
    const char *text[TEXTS]; /* the argument of each option, NULL if it was not given */
    const char *inputs[TK_MAX_PARAMS];
    int input_count;
    bool skip_mutants;
    bool json;
    bool quiet;
} arguments;

static const char *given(const arguments *a, int key)
{
    return a->text[key - KEY_BACKEND];
}

static const struct argp_option option_list[] = {
    {NULL, 0, NULL, 0, "What is judged:", 1},
    {"backend", KEY_BACKEND, "NAME", 0, "Where it runs: cpu (the default), cuda, hip; cuda:1 is the second device",
     1},
    {"lowering", KEY_LOWERING, "ID", 0,
     "This implementation, such as cpu.gelu_bwd.f16.scalar; best: the first that the machine takes; all: every one. "
     "The "
     "default is all, and best at level exhaustive",
     1},
    {"dtype", KEY_DTYPE, "TYPE", 0, "f16, bf16 or all (the default)", 1},
    {"index", KEY_INDEX, "TYPE", 0,
     "i32, i64 or all, for ops that take an index; all is the default, i32 with --shape", 1},
    {"mutant", KEY_MUTANT, "NAME", 0, "A planted wrong kernel of the op instead of a real one", 1},
    {"variant", KEY_VARIANT, "NAME", 0, "A planted correct kernel that computes in another way than ours", 1},

    {NULL, 0, NULL, 0, "How hard:", 2},
    {"level", KEY_LEVEL, "LEVEL", 0, "quick (the default), full, or exhaustive: every input where that can be done",
     2},
    {"seed", KEY_SEED, "NUMBER", 0, "Of all that is drawn; decimal or 0x", 2},
    {"skip-mutants", KEY_SKIP_MUTANTS, NULL, 0, "Do not show that the planted wrong kernels are rejected", 2},
    {"threads", KEY_THREADS, "COUNT", 0, "Of the kernels; 0, the default, takes all there are", 2},

    {NULL, 0, NULL, 0, "Only this case:", 3},
    {"shape", KEY_SHAPE, "SIZES", 0, "Such as n=257, m=3,n=4,k=5 or 16x33", 3},
    {"family", KEY_FAMILY, "NAME", 0, "One family of inputs; 'tokitai ops --families' lists them", 3},
    {"input", KEY_INPUT, "NAME=BITS,...", 0,
     "One input element by element, as 0x3c00; with --shape, once for each input", 3},
    {"label-smoothing", KEY_LABEL_SMOOTHING, "NUMBER", 0, "xent: from 0 to 1", 3},
    {"scale", KEY_SCALE, "NUMBER", 0, "xent: of the gradient", 3},
    {"ignore-index", KEY_IGNORE_INDEX, "NUMBER", 0, "xent: the target of rows that do not count", 3},

    {NULL, 0, NULL, 0, "Output:", 4},
    {"out", KEY_OUT, "DIR", 0, "Write certificates (JSON and Markdown) to DIR instead of the state directory", 4},
    {"sign", KEY_SIGN, "KEY", 0,
     "Also write each as a signed envelope, NAME.dsse.json; KEY is a private key that 'tokitai keygen' made", 4},
    {"json", KEY_JSON, NULL, 0, "Print the certificates as a JSON array instead of the table", 4},
    {"quiet", 'q', NULL, 0, "Print only what does not hold", 4},
    {NULL, 0, NULL, 0, "Help:", -1},
    {0},
};

static const char *option_name(int key)
{
    for (const struct argp_option *o = option_list; o->name || o->doc; o++)
        if (o->key == key)
            return o->name;
    return "option";
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'q': a->quiet = true; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_SKIP_MUTANTS: a->skip_mutants = true; return 0;
    case KEY_INPUT:
        if (a->input_count == TK_MAX_PARAMS)
            argp_error(state, "--input is given more often than any op has inputs");
        else
            a->inputs[a->input_count++] = argument;
        return 0;
    case ARGP_KEY_ARGS:
        a->ops = state->argv + state->next;
        a->op_count = state->argc - state->next;
        return 0;
    default:
        if (key < KEY_BACKEND || key >= KEY_END)
            return ARGP_ERR_UNKNOWN;
        if (given(a, key))
            argp_error(state, "--%s is given twice", option_name(key));
        a->text[key - KEY_BACKEND] = argument;
        return 0;
    }
}

static const struct argp command = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[OP...]",
    .doc =
        "Runs kernels on inputs chosen to find mistakes, judges every output element against the exact result, and "
        "writes a certificate for each. Without OP, every op is certified, and without --lowering every lowering "
        "that this machine can run."
        "\vCertificates of a planted wrong kernel or of a single case are written only with --out.\n\n"
        "Exit status: 0 everything held, 1 a contract is refuted, 2 wrong usage, bad input or output that could not "
        "be written, 3 something could not be decided.",
};

/* ------------------------------------------------------------------------------------------------------------
 * From arguments to jobs. A function that returns false has said why.
 * ------------------------------------------------------------------------------------------------------------ */

enum { MANY = 64 /* ops; names of one kind */, MOST_IDS = 16 * MANY };

typedef struct job {
    const tk_contract *contract;
    tk_dtype dtype;
    tk_dtype index_dtype;
    int64_t dims[TK_MAX_DIMS]; /* with --shape */
    char lowering[128];        /* its id; "" for the first that accepts, or a mutant */
} job;

typedef struct plan {
    const tk_contract *ops[MANY];
    int op_count;
    unsigned dtypes; /* one bit per type */
    unsigned index_dtypes;
    bool has_shape;
    cli_shape shape;
    int threads;
    tk_xent_options xent;
    cli_input inputs[TK_MAX_PARAMS];
    tk_given_input given[TK_MAX_PARAMS];
    bool keep;      /* write certificates */
    tk_key *signer; /* NULL: do not sign */
    tk_certify_options options;
    bool best; /* only the first lowering that accepts */
    job jobs[MOST_IDS];
    int job_count;
} plan;

static bool plan_ops(const arguments *a, plan *p)
{
    for (int i = 0; i < a->op_count; i++) {
        const tk_contract *op = cli_find_op(a->who, a->ops[i]);
        bool known = false;
        if (!op)
            return false;
        for (int j = 0; j < p->op_count; j++)
            known |= p->ops[j] == op;
        if (!known && p->op_count < MANY)
            p->ops[p->op_count++] = op;
    }
    for (int i = 0; a->op_count == 0 && p->op_count < MANY && tk_contract_at(i); i++)
        p->ops[p->op_count++] = tk_contract_at(i);
    return true;
}

static bool plan_types(const arguments *a, plan *p)
{
    bool single = given(a, KEY_SHAPE) || a->input_count > 0;
    p->dtypes = 1u << TK_F16 | 1u << TK_BF16;
    p->index_dtypes = single ? 1u << TK_I32 : 1u << TK_I32 | 1u << TK_I64;
    const char *dtype = given(a, KEY_DTYPE);
    const char *index = given(a, KEY_INDEX);
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

static bool plan_numbers(const arguments *a, plan *p)
{
    const char *level = given(a, KEY_LEVEL);
    const char *seed = given(a, KEY_SEED);
    const char *threads = given(a, KEY_THREADS);
    if (level && !cli_parse_level(level, &p->options.level)) {
        const char *const levels[] = {"quick", "full", "exhaustive"};
        cli_complain_unknown(a->who, "level", level, levels, 3);
        return false;
    }
    if (seed && !cli_parse_unsigned(seed, &p->options.seed)) {
        cli_complain(a->who, "--seed '%.80s' is not a number from 0 to 2^64 - 1, decimal or 0x", seed);
        return false;
    }
    if (threads && !cli_parse_count(threads, 0, 65536, &p->threads)) {
        cli_complain(a->who, "--threads '%.80s' is not a number from 0 to 65536", threads);
        return false;
    }
    return true;
}

static void format_id(const tk_contract *op, const tk_lowering_info *info, tk_dtype dtype, tk_dtype index_dtype,
                      char *id, size_t size)
{
    bool wide = tk_contract_takes_index(op) && index_dtype == TK_I64;
    snprintf(id, size, "%s.%s.%s.%s%s", info->backend, op->name, tk_dtype_name(dtype), info->variant,
             wide ? ".i64" : "");
}

typedef struct lowering_id {
    const tk_contract *op;
    tk_dtype dtype;
    tk_dtype index_dtype;
    char text[128];
} lowering_id;

/* Every id of the ops chosen. */
static int list_ids(const plan *p, lowering_id ids[MOST_IDS])
{
    int count = 0;
    tk_lowering_info info;
    for (int i = 0; i < p->op_count; i++) {
        tk_dtype widest = tk_contract_takes_index(p->ops[i]) ? TK_I64 : TK_I32;
        for (int l = 0; tk_lowering_at(p->ops[i], l, &info); l++) {
            for (tk_dtype dtype = TK_F16; dtype <= TK_BF16; dtype++) {
                for (tk_dtype index = TK_I32; index <= widest && count < MOST_IDS; index++) {
                    lowering_id *id = &ids[count++];
                    *id = (lowering_id){.op = p->ops[i], .dtype = dtype, .index_dtype = index};
                    format_id(id->op, &info, dtype, index, id->text, sizeof id->text);
                }
            }
        }
    }
    return count;
}

/* The id names its op and types. */
static bool narrow_to_lowering(const arguments *a, plan *p, const lowering_id *id)
{
    bool index_differs = given(a, KEY_INDEX) && tk_contract_takes_index(id->op) &&
                         !(p->index_dtypes & 1u << id->index_dtype);
    if (!(p->dtypes & 1u << id->dtype) || index_differs) {
        cli_complain(a->who, "--dtype or --index is not that of %s", id->text);
        return false;
    }
    p->ops[0] = id->op;
    p->op_count = 1;
    p->dtypes = 1u << id->dtype;
    p->index_dtypes = 1u << id->index_dtype;
    p->options.lowering = given(a, KEY_LOWERING);
    return true;
}

static bool plan_lowering(const arguments *a, plan *p)
{
    const char *wanted = given(a, KEY_LOWERING);
    bool all = wanted && !strcmp(wanted, "all");
    /* An exhaustive run takes minutes for each. */
    p->best = wanted ? !strcmp(wanted, "best") : p->options.level == TK_EXHAUSTIVE;
    bool planted = given(a, KEY_MUTANT) || given(a, KEY_VARIANT);
    if (!wanted || ((p->best || all) && !planted))
        return true;
    if (planted || a->op_count > 1) {
        cli_complain(a->who, "--lowering goes with one op and without --mutant or --variant");
        return false;
    }
    lowering_id *ids = calloc(MOST_IDS, sizeof *ids);
    const char *texts[MOST_IDS];
    int count = ids ? list_ids(p, ids) : 0;
    bool found = false;
    bool good = false;
    for (int i = 0; i < count && !found; i++) {
        texts[i] = ids[i].text;
        found = !strcmp(ids[i].text, wanted);
        good = found && narrow_to_lowering(a, p, &ids[i]);
    }
    const char *nearest = found ? NULL : cli_nearest(wanted, texts, count);
    if (nearest)
        cli_complain(a->who, "unknown lowering '%.100s'; did you mean '%s'?", wanted, nearest);
    else if (!found)
        cli_complain(a->who, "unknown lowering '%.100s'; 'tokitai ops OP' lists those of an op", wanted);
    free(ids);
    return good;
}

static bool has_backend(const plan *p, const char *backend)
{
    tk_lowering_info info;
    for (int i = 0; i < p->op_count; i++)
        for (int l = 0; tk_lowering_at(p->ops[i], l, &info); l++)
            if (!strcmp(info.backend, backend))
                return true;
    return false;
}

/* The backend of a device ("cuda" of "cuda:1") or of a lowering's id ("cuda" of "cuda.gelu_fwd.f16.shared"); NULL if none. */
static const char *backend_of(const char *text, char separator)
{
    static const char *const backends[] = {"cpu", "cuda", "hip", "emu"};
    for (size_t i = 0; text && i < sizeof backends / sizeof *backends; i++) {
        size_t length = strlen(backends[i]);
        if (!strncmp(text, backends[i], length) && (!text[length] || text[length] == separator))
            return backends[i];
    }
    return NULL;
}

static cli_exit plan_backend(const arguments *a, plan *p, tk_ctx *ctx)
{
    static const char *const backends[] = {"cpu", "cuda", "hip", "emu"};
    const char *device = given(a, KEY_BACKEND);
    const char *id = given(a, KEY_LOWERING);
    const char *backend_of_id = backend_of(id, '.');
    if (!device)
        device = backend_of_id;
    if (!device)
        return CLI_HOLDS;
    const char *backend = backend_of(device, ':');
    if (!backend) {
        cli_complain_unknown(a->who, "backend", device, backends, sizeof backends / sizeof *backends);
        return CLI_BAD;
    }
    if (backend_of_id && backend_of_id != backend) {
        cli_complain(a->who, "--lowering %.100s is not of backend '%s'", id, backend);
        return CLI_BAD;
    }
    if (!has_backend(p, backend)) {
        cli_complain(a->who, "backend '%s' has no kernels in this version", backend);
        return CLI_UNKNOWN;
    }
    p->options.backend = backend;
    tk_status status = strcmp(device, "cpu") != 0 ? tk_ctx_use_device(ctx, device) : TK_OK;
    if (status != TK_OK)
        cli_complain(a->who, "%s", tk_ctx_message(ctx));
    return cli_exit_of(status, CLI_BAD);
}

static bool plan_shape(const arguments *a, plan *p)
{
    const char *text = given(a, KEY_SHAPE);
    cli_error error;
    if (!text)
        return true;
    p->has_shape = true;
    bool good = cli_parse_shape(text, &p->shape, &error);
    for (int i = 0; i < p->op_count && good; i++) {
        tk_case c = tk_case_init(p->ops[i], TK_F16);
        c.index_dtype = TK_I64;
        good = cli_shape_fit(&p->shape, p->ops[i], c.dims, &error);
        for (int k = 0; k < p->ops[i]->param_count && good; k++)
            if (tk_case_elements(&c, k) < 0)
                good = cli_error_set(&error, "makes %s too large to be addressed", p->ops[i]->params[k].name);
    }
    if (!good)
        cli_complain(a->who, "--shape '%.80s' %s", text, error.text);
    return good;
}

/* --mutant or --variant. */
static bool plan_planted(const arguments *a, plan *p, int key)
{
    bool wrong = key == KEY_MUTANT;
    const char *wanted = given(a, key);
    const char **chosen = wrong ? &p->options.mutant : &p->options.variant;
    const char *names[MANY];
    const char *what;
    int count = 0;
    if (!wanted)
        return true;
    if (p->op_count != 1) {
        cli_complain(a->who, "--%s goes with one op", option_name(key));
        return false;
    }
    if (given(a, KEY_MUTANT) && given(a, KEY_VARIANT)) {
        cli_complain(a->who, "give --mutant or --variant, not both");
        return false;
    }
    for (; count < MANY && (wrong ? tk_mutant_at : tk_variant_at)(p->ops[0], count, &names[count], &what); count++)
        if (!strcmp(names[count], wanted))
            *chosen = wanted;
    if (*chosen)
        return true;
    char kind[96];
    snprintf(kind, sizeof kind, "planted %s kernel of %s:", wrong ? "wrong" : "correct", p->ops[0]->name);
    cli_complain_unknown(a->who, kind, wanted, names, count);
    return false;
}

/* The planted kernel that was asked for; NULL if none was. */
static const char *planted_name(const plan *p)
{
    return p->options.mutant ? p->options.mutant : p->options.variant;
}

static bool plan_family(const arguments *a, plan *p)
{
    const char *wanted = given(a, KEY_FAMILY);
    const char *names[MANY];
    int count = 0;
    if (!wanted)
        return true;
    if (a->input_count > 0) {
        cli_complain(a->who, "give --family or --input, not both");
        return false;
    }
    for (; count < MANY && (names[count] = tk_family_at(count, NULL)); count++)
        if (!strcmp(names[count], wanted))
            p->options.family = wanted;
    if (!p->options.family)
        cli_complain_unknown(a->who, "input family", wanted, names, count);
    return p->options.family != NULL;
}

static bool plan_xent(const arguments *a, plan *p)
{
    const char *smoothing = given(a, KEY_LABEL_SMOOTHING);
    const char *scale = given(a, KEY_SCALE);
    const char *ignore = given(a, KEY_IGNORE_INDEX);
    if (!smoothing && !scale && !ignore)
        return true;
    for (int i = 0; i < p->op_count; i++) {
        if (p->ops[i]->takes_xent_options)
            continue;
        cli_complain(a->who, "%s does not take --label-smoothing, --scale or --ignore-index", p->ops[i]->name);
        return false;
    }
    p->xent = TK_XENT_DEFAULTS;
    p->options.xent = &p->xent;
    if (smoothing && (!cli_parse_float(smoothing, &p->xent.label_smoothing) || p->xent.label_smoothing < 0 ||
                      p->xent.label_smoothing > 1)) {
        cli_complain(a->who, "--label-smoothing '%.80s' is not a number from 0 to 1", smoothing);
        return false;
    }
    if (scale && !cli_parse_float(scale, &p->xent.scale)) {
        cli_complain(a->who, "--scale '%.80s' is not a finite number", scale);
        return false;
    }
    if (ignore && !cli_parse_signed(ignore, &p->xent.ignore_index)) {
        cli_complain(a->who, "--ignore-index '%.80s' is not a 64-bit number", ignore);
        return false;
    }
    return true;
}

/* The parameter that an --input is for; -1, having said why, if the op has no such input. */
static int find_input(const arguments *a, const tk_contract *op, const char *name)
{
    const char *names[TK_MAX_PARAMS];
    int count = 0;
    for (int k = 0; k < op->param_count; k++) {
        if (op->params[k].output)
            continue;
        if (!strcmp(op->params[k].name, name))
            return k;
        names[count++] = op->params[k].name;
    }
    char kind[96];
    snprintf(kind, sizeof kind, "input of %s:", op->name);
    cli_complain_unknown(a->who, kind, name, names, count);
    return -1;
}

static bool plan_input(const arguments *a, plan *p, const tk_case *c, int i, bool seen[TK_MAX_PARAMS])
{
    cli_error error;
    cli_input *input = &p->inputs[i];
    bool good = cli_parse_input(a->inputs[i], input, &error);
    int k = good ? find_input(a, c->contract, input->name) : -1;
    if (good && k < 0)
        return false;
    if (good && seen[k])
        good = cli_error_set(&error, "gives '%s' a second time", input->name);
    else if (good && input->count != tk_case_elements(c, k))
        good = cli_error_set(&error, "has %lld elements, but the shape asks for %lld", (long long)input->count,
                             (long long)tk_case_elements(c, k));
    else if (good)
        good = cli_input_fit(input, tk_case_param_dtype(c, k), &error);
    if (!good) {
        cli_complain(a->who, "--input '%.60s%s' %s", a->inputs[i], strlen(a->inputs[i]) > 60 ? "..." : "",
                     error.text);
        return false;
    }
    seen[k] = true;
    p->given[i] = (tk_given_input){input->name, input->bits, input->count};
    return true;
}

static bool is_single(unsigned set)
{
    return (set & (set - 1)) == 0;
}

static bool plan_inputs(const arguments *a, plan *p)
{
    if (a->input_count == 0)
        return true;
    if (p->op_count != 1 || !p->has_shape || !is_single(p->dtypes) || !is_single(p->index_dtypes)) {
        cli_complain(a->who,
                     "--input goes with one op, --shape, and one --dtype, since bits mean other values in another");
        return false;
    }
    tk_case c = tk_case_init(p->ops[0], p->dtypes & 1u << TK_F16 ? TK_F16 : TK_BF16);
    c.index_dtype = p->index_dtypes & 1u << TK_I32 ? TK_I32 : TK_I64;
    cli_error error;
    if (!cli_shape_fit(&p->shape, p->ops[0], c.dims, &error))
        return false;
    bool seen[TK_MAX_PARAMS] = {false};
    for (int i = 0; i < a->input_count; i++)
        if (!plan_input(a, p, &c, i, seen))
            return false;
    for (int k = 0; k < p->ops[0]->param_count; k++) {
        if (seen[k] || p->ops[0]->params[k].output || tk_case_elements(&c, k) == 0)
            continue;
        cli_complain(a->who, "--input %s=... is missing: give all inputs of %s or none", p->ops[0]->params[k].name,
                     p->ops[0]->name);
        return false;
    }
    p->options.inputs = p->given;
    p->options.input_count = a->input_count;
    return true;
}

/* Makes the folder now, so that a bad --out is found before an hour's work. */
static bool plan_out(const arguments *a, plan *p)
{
    bool restricted = p->has_shape || p->options.family || p->options.xent || planted_name(p);
    const char *out = given(a, KEY_OUT);
    p->keep = out || !restricted;
    if (!out || cli_make_folder(out))
        return true;
    cli_complain(a->who, "cannot write to --out '%.200s': %s", out, strerror(errno));
    return false;
}

static bool plan_sign(const arguments *a, plan *p, tk_ctx *ctx)
{
    const char *file = given(a, KEY_SIGN);
    if (!file)
        return true;
    if (!p->keep) {
        cli_complain(a->who, "--sign goes with certificates that are kept: give --out");
        return false;
    }
    if (tk_key_read(ctx, file, &p->signer) != TK_OK) {
        cli_complain(a->who, "--sign: %s", tk_ctx_message(ctx));
        return false;
    }
    if (!tk_key_can_sign(p->signer))
        cli_complain(a->who, "--sign '%.200s' is a public key; a private one is needed", file);
    return tk_key_can_sign(p->signer);
}

/* Some families say nothing to some ops: an index family to an op without an index. Asked with an empty shape. */
static bool family_applies(tk_ctx *ctx, const tk_contract *op, const char *family)
{
    const int64_t none[TK_MAX_DIMS] = {0};
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.family = family;
    options.dims = none;
    options.skip_mutants = true;
    tk_certificate *certificate = NULL;
    tk_status status = tk_certify(ctx, op, TK_F16, TK_I32, &options, &certificate);
    tk_certificate_destroy(certificate);
    return status != TK_BAD_ARGUMENT;
}

/* One job for each lowering that this machine takes, or a single one where that is settled otherwise. */
static void add_jobs(plan *p, const tk_ctx *ctx, const job *like)
{
    tk_lowering_info info;
    tk_case c = tk_case_init(like->contract, like->dtype);
    c.index_dtype = like->index_dtype;
    bool single = p->options.lowering || planted_name(p) || p->best;
    int before = p->job_count;
    for (int l = 0; !single && tk_lowering_at(like->contract, l, &info) && p->job_count < MOST_IDS; l++) {
        bool other = p->options.backend && strcmp(info.backend, p->options.backend) != 0;
        if (other || tk_lowering_refusal(ctx, &c, l))
            continue;
        job *j = &p->jobs[p->job_count++];
        *j = *like;
        format_id(j->contract, &info, j->dtype, j->index_dtype, j->lowering, sizeof j->lowering);
    }
    /* None takes it: tk_certify() will say why. */
    if (p->job_count == before && p->job_count < MOST_IDS)
        p->jobs[p->job_count++] = *like;
}

static bool plan_jobs(const arguments *a, plan *p, tk_ctx *ctx)
{
    for (int i = 0; i < p->op_count; i++) {
        const tk_contract *op = p->ops[i];
        if (p->options.family && !family_applies(ctx, op, p->options.family)) {
            if (a->op_count == 0)
                continue;
            cli_complain(a->who, "the input family '%s' does not apply to %s", p->options.family, op->name);
            return false;
        }
        for (tk_dtype dtype = TK_F16; dtype <= TK_BF16; dtype++) {
            for (tk_dtype index = TK_I32; index <= TK_I64; index++) {
                bool wanted = tk_contract_takes_index(op) ? (p->index_dtypes & 1u << index) != 0 : index == TK_I32;
                if (!wanted || !(p->dtypes & 1u << dtype))
                    continue;
                job j = {.contract = op, .dtype = dtype, .index_dtype = index};
                cli_error error;
                if (p->has_shape && !cli_shape_fit(&p->shape, op, j.dims, &error))
                    return false;
                add_jobs(p, ctx, &j);
            }
        }
    }
    if (p->job_count == 0)
        cli_complain(a->who, "the input family '%s' applies to no op", p->options.family);
    return p->job_count > 0;
}

static cli_exit plan_make(const arguments *a, plan *p, tk_ctx *ctx)
{
    p->options = TK_CERTIFY_DEFAULTS;
    p->options.skip_mutants = a->skip_mutants;
    if (!plan_ops(a, p) || !plan_types(a, p) || !plan_numbers(a, p))
        return CLI_BAD;
    cli_exit result = plan_backend(a, p, ctx);
    if (result != CLI_HOLDS)
        return result;
    bool good = plan_lowering(a, p) && plan_shape(a, p) && plan_planted(a, p, KEY_MUTANT) &&
                plan_planted(a, p, KEY_VARIANT) && plan_family(a, p) && plan_xent(a, p) && plan_inputs(a, p) &&
                plan_jobs(a, p, ctx) && plan_out(a, p) && plan_sign(a, p, ctx);
    if (good && tk_ctx_set_threads(ctx, p->threads) != TK_OK) {
        cli_complain(a->who, "%s", tk_ctx_message(ctx));
        good = false;
    }
    return good ? CLI_HOLDS : CLI_BAD;
}

static void plan_free(plan *p)
{
    for (int i = 0; i < TK_MAX_PARAMS; i++)
        cli_input_free(&p->inputs[i]);
    tk_key_destroy(p->signer);
    free(p);
}

/* ------------------------------------------------------------------------------------------------------------
 * Running the jobs
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct session {
    const arguments *a;
    const plan *p;
    tk_ctx *ctx;
    cli_table table;
    cli_progress progress;
    int count; /* certificates made */
    int verdicts[TK_UNKNOWN + 1];
    int written;
    char *where; /* the folder that the last one was written to, or NULL */
} session;

/* Wide enough for every subject that can come, since rows are printed one by one. */
static cli_table make_table(const plan *p)
{
    cli_table table = {.count = 7,
                       .columns = {{"SUBJECT", false, 0},
                                   {"VERDICT", false, 7},
                                   {"ELEMENTS", true, 11},
                                   {"WORST ULP", true, 0},
                                   {"OF BOUND", true, 0},
                                   {"MUTANTS", true, 0},
                                   {"SECONDS", true, 0}}};
    for (int i = 0; i < p->job_count; i++) {
        const job *j = &p->jobs[i];
        char id[160];
        tk_lowering_info info;
        for (int l = 0; !planted_name(p) && tk_lowering_at(j->contract, l, &info); l++) {
            format_id(j->contract, &info, j->dtype, j->index_dtype, id, sizeof id);
            cli_table_fit(&table, 0, id);
        }
        if (planted_name(p)) {
            snprintf(id, sizeof id, "%s.%s.%s.%s", p->options.mutant ? "mutant" : "variant", j->contract->name,
                     tk_dtype_name(j->dtype), planted_name(p));
            cli_table_fit(&table, 0, id);
        }
    }
    return table;
}

static void print_why(const tk_certificate *certificate)
{
    if (tk_certificate_reason(certificate)[0]) {
        fputs("    why        ", stdout);
        cli_wrap(15, 15, tk_certificate_reason(certificate));
    }
    /* In one piece, to be copied. */
    if (tk_certificate_reproduce(certificate)[0]) {
        fputs("    reproduce  ", stdout);
        cli_print(CLI_PLAIN, tk_certificate_reproduce(certificate));
        putchar('\n');
    }
}

static void print_row(const session *s, const tk_certificate *certificate)
{
    char elements[32];
    char ulp[32];
    char used[32];
    char mutants[32] = "-";
    char seconds[32];
    tk_verdict verdict = tk_certificate_verdict(certificate);
    int rejected = 0;
    int planted = tk_certificate_mutants(certificate, &rejected);
    cli_format_count(tk_certificate_elements(certificate), elements, sizeof elements);
    snprintf(ulp, sizeof ulp, "%.4g", tk_certificate_worst_ulp(certificate));
    snprintf(used, sizeof used, "%.1f%%", 100 * tk_certificate_bound_used(certificate));
    if (planted > 0)
        snprintf(mutants, sizeof mutants, "%d/%d", rejected, planted);
    snprintf(seconds, sizeof seconds, "%.1f", tk_certificate_seconds(certificate));
    cli_table_row(&s->table, (cli_cell[]){{tk_certificate_subject(certificate), CLI_PLAIN},
                                          {tk_verdict_name(verdict), cli_style_of(verdict)},
                                          {elements, CLI_PLAIN},
                                          {ulp, CLI_PLAIN},
                                          {used, CLI_PLAIN},
                                          {mutants, rejected < planted ? CLI_WRONG : CLI_PLAIN},
                                          {seconds, CLI_PLAIN}});
    if (verdict == TK_REFUTED || verdict == TK_UNKNOWN)
        print_why(certificate);
}

static cli_exit exit_of_verdict(tk_verdict verdict)
{
    switch (verdict) {
    case TK_PROVED:
    case TK_HELD: return CLI_HOLDS;
    case TK_REFUTED: return CLI_REFUTED;
    case TK_UNKNOWN: return CLI_UNKNOWN;
    }
    return CLI_UNKNOWN;
}

static cli_exit print_certificate(session *s, tk_certificate *certificate)
{
    tk_verdict verdict = tk_certificate_verdict(certificate);
    cli_progress_clear(&s->progress);
    if (s->a->json) {
        const char *text = tk_certificate_json(certificate);
        if (!text) {
            cli_complain(s->a->who, "no memory for the certificate's text");
            return CLI_UNKNOWN;
        }
        fputs(s->count > 0 ? ",\n" : "", stdout);
        fwrite(text, 1, strlen(text) - (text[0] && text[strlen(text) - 1] == '\n'), stdout);
    } else if (!s->a->quiet || exit_of_verdict(verdict) != CLI_HOLDS) {
        print_row(s, certificate);
    }
    fflush(stdout);
    s->count++;
    s->verdicts[verdict]++;
    return exit_of_verdict(verdict);
}

static cli_exit write_certificate(session *s, tk_certificate *certificate)
{
    char *path = NULL;
    tk_status status = s->p->signer ? tk_certificate_sign(s->ctx, certificate, s->p->signer) : TK_OK;
    if (status == TK_OK)
        status = tk_certificate_write(s->ctx, certificate, given(s->a, KEY_OUT), &path);
    if (status != TK_OK) {
        cli_complain(s->a->who, "%s: the certificate was not written: %s", tk_certificate_subject(certificate),
                     tk_ctx_message(s->ctx));
        return CLI_BAD;
    }
    s->written++;
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    free(s->where);
    s->where = path;
    return CLI_HOLDS;
}

static cli_exit run_job(session *s, const job *j)
{
    tk_certify_options options = s->p->options;
    snprintf(s->progress.label, sizeof s->progress.label, "%s %s ", j->contract->name, tk_dtype_name(j->dtype));
    options.dims = s->p->has_shape ? j->dims : NULL;
    if (j->lowering[0])
        options.lowering = j->lowering;
    options.progress = cli_progress_update;
    options.progress_data = &s->progress;
    tk_certificate *certificate = NULL;
    tk_status status = tk_certify(s->ctx, j->contract, j->dtype, j->index_dtype, &options, &certificate);
    if (status != TK_OK) {
        cli_progress_clear(&s->progress);
        cli_complain(s->a->who, "%s %s: %s: %s", j->contract->name, tk_dtype_name(j->dtype), tk_status_text(status),
                     tk_ctx_message(s->ctx));
        return cli_exit_of(status, CLI_BAD);
    }
    cli_exit result = print_certificate(s, certificate);
    if (s->p->keep)
        result = cli_worse(result, write_certificate(s, certificate));
    tk_certificate_destroy(certificate);
    return result;
}

/* "26 certificates: 24 HELD, 2 PROVED; written to DIR" */
static void print_closing(const session *s)
{
    static const tk_verdict order[] = {TK_REFUTED, TK_UNKNOWN, TK_HELD, TK_PROVED};
    const char *separator = ": ";
    printf("\n%d certificate%s", s->count, s->count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (s->verdicts[order[i]] == 0)
            continue;
        char text[48];
        snprintf(text, sizeof text, "%d %s", s->verdicts[order[i]], tk_verdict_name(order[i]));
        fputs(separator, stdout);
        cli_print(cli_style_of(order[i]), text);
        separator = ", ";
    }
    if (s->where) {
        fputs("; written to ", stdout);
        cli_print(CLI_PLAIN, s->where);
    } else if (!s->p->keep) {
        fputs("; not kept, since this was not the whole check (--out DIR keeps them)", stdout);
    }
    putchar('\n');
}

static cli_exit run_jobs(const arguments *a, const plan *p, tk_ctx *ctx)
{
    session s = {.a = a, .p = p, .ctx = ctx, .table = make_table(p), .progress = cli_progress_begin(p->job_count)};
    cli_exit result = CLI_HOLDS;
    bool table = !a->json && !a->quiet;
    if (a->json)
        fputs("[\n", stdout);
    if (table)
        cli_table_head(&s.table);
    for (int i = 0; i < p->job_count; i++) {
        s.progress.job = i;
        result = cli_worse(result, run_job(&s, &p->jobs[i]));
    }
    cli_progress_clear(&s.progress);
    if (a->json)
        fputs("\n]\n", stdout);
    if (table && s.count > 0)
        print_closing(&s);
    free(s.where);
    return result;
}

cli_exit cli_certify(int argc, char **argv)
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
    cli_exit result = plan_make(&a, p, ctx);
    if (result == CLI_HOLDS)
        result = run_jobs(&a, p, ctx);
    plan_free(p);
    tk_ctx_destroy(ctx);
    return result;
}
