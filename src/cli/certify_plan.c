/* SHOWS. From the arguments of tokitai certify to jobs. A function that returns false has said why. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/random.h>

#include "cli/command_certify.h"

static bool plan_work(const certify_arguments *a, certify_plan *p)
{
    const bool single = a->shape || a->inputs.count > 0;
    const char *types = a->dtype;
    p->first_types = types && !strcmp(types, "first");
    p->all_types = types && !strcmp(types, "all");
    p->index_dtypes = cli_index_dtypes(a->index, single ? 1u << TK_I32 : 1u << TK_I32 | 1u << TK_I64);
    p->op_count = cli_choose_ops(a->who, a->ops.list, a->ops.count, p->ops);
    return p->op_count && cli_choose_types(a->who, p->first_types ? NULL : types, p->ops, p->op_count, &p->types);
}

/* "0x4242,7" */
static bool plan_values(const certify_arguments *a, certify_plan *p)
{
    const char *text = a->plant;
    if (!text)
        return true;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long long value = strtoll(at, &end, 0);
        if (end == at || errno || (*end && *end != ',') || p->options.planted_count == TK_MAX_PLANTED) {
            cli_complain(a->who, "--plant must be a list of up to %d numbers, not '%.80s'", TK_MAX_PLANTED, text);
            return false;
        }
        p->planted[p->options.planted_count++] = value;
        at = end;
        if (!*at)
            break;
    }
    p->options.planted = p->planted;
    return true;
}

static bool plan_numbers(const certify_arguments *a, certify_plan *p)
{
    p->options.level = (tk_level)a->level;
    return cli_choose_seed(a->who, a->seed, &p->options.seed) &&
           cli_choose_alignment(a->who, a->alignment, &p->options.alignment) && plan_values(a, p);
}

/* The ids that may have been meant. */
typedef struct id_list {
    char (*ids)[CLI_ID_SIZE]; /* [MOST_IDS] */
    int count;
} id_list;

static void add_id(const char *id, void *data)
{
    id_list *list = data;
    if (list->count < MOST_IDS)
        snprintf(list->ids[list->count++], CLI_ID_SIZE, "%s", id);
}

static void complain_of_lowering(const certify_arguments *a, const certify_plan *p, const char *wanted)
{
    id_list list = {.ids = calloc(MOST_IDS, sizeof *list.ids)};
    const char *texts[MOST_IDS];
    tk_lowering_info info;
    for (int i = 0; list.ids && i < p->op_count; i++)
        for (int l = 0; tk_lowering_at(p->ops[i], l, &info); l++)
            cli_each_id(p->ops[i], l, add_id, &list);
    for (int i = 0; i < list.count; i++)
        texts[i] = list.ids[i];
    const char *nearest = cli_nearest(wanted, texts, list.count);
    if (nearest)
        cli_complain(a->who, "unknown lowering '%.100s'; did you mean '%s'?", wanted, nearest);
    else
        cli_complain(a->who, "unknown lowering '%.100s'; 'tokitai ops OP' lists those of an op", wanted);
    free(list.ids);
}

/* The id names its op and types. */
static bool narrow_to_lowering(const certify_arguments *a, certify_plan *p, const tk_case *named)
{
    const char *id = a->lowering;
    bool index_differs = a->index >= 0 && tk_contract_takes_index(named->contract) &&
                         !(p->index_dtypes & 1u << named->index_dtype);
    const tk_types types = {named->dtype, named->result_dtype};
    if (!cli_types_have(&p->types, types) || index_differs) {
        cli_complain(a->who, "--dtype and --index must be those of %s", id);
        return false;
    }
    p->ops[0] = named->contract;
    p->op_count = 1;
    p->types = (cli_types){.one = true, .types = types};
    p->index_dtypes = 1u << named->index_dtype;
    p->options.lowering = id;
    return true;
}

static bool plan_lowering(const certify_arguments *a, certify_plan *p)
{
    const char *wanted = a->lowering;
    p->slowest = wanted && !strcmp(wanted, "slowest");
    /* An exhaustive run takes minutes for each. */
    p->best = wanted ? !strcmp(wanted, "best") : p->options.level == TK_EXHAUSTIVE;
    if (!wanted || p->best || p->slowest || !strcmp(wanted, "all"))
        return true;
    if (a->ops.count > 1) {
        cli_complain(a->who, "--lowering needs one OP");
        return false;
    }
    tk_case named;
    int lowering;
    bool found = tk_lowering_find(wanted, &named, &lowering), chosen = false;
    for (int i = 0; i < p->op_count && found; i++)
        chosen |= p->ops[i] == named.contract;
    if (!chosen)
        complain_of_lowering(a, p, wanted);
    return chosen && narrow_to_lowering(a, p, &named);
}

/* ------------------------------------------------------------------------------------------------------------
 * Kernel files
 * ------------------------------------------------------------------------------------------------------------ */

static bool is_kernel_file(const char *name)
{
    return name[0] != '.' && tk_kernel_file_named(name);
}

static int is_not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A folder that holds kernel.c or its like is a kernel, too. */
static bool is_kernel_folder(const char *path)
{
    struct dirent **entries = NULL;
    bool found = false;
    int count = scandir(path, &entries, is_not_hidden, NULL);
    for (int i = 0; i < count; i++) {
        found |= !strncmp(entries[i]->d_name, "kernel.", 7) && is_kernel_file(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return found;
}

static bool list_folder(const certify_arguments *a, certify_plan *p, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_not_hidden, alphasort);
    bool good = count >= 0;
    const char *problem = good ? "no .c, .cpp, .cc, .cu, .hip or .so file is in it" : strerror(errno);
    p->files = calloc((size_t)(count > 0 ? count : 1), sizeof *p->files);
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    bool memory = p->files != NULL;
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        memory = memory && asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) >= 0;
        if (memory && (is_kernel_file(entries[i]->d_name) || is_kernel_folder(path)))
            p->files[p->file_count++] = path;
        else if (memory)
            free(path);
        free(entries[i]);
    }
    free(entries);
    if (!memory)
        cli_complain(a->who, "out of memory");
    else if (!p->file_count)
        cli_complain(a->who, "--kernels '%.200s': %s", folder, problem);
    return memory && p->file_count > 0;
}

/* One that no kernel can know beforehand; short enough to be typed. */
static bool draw_seed(const certify_arguments *a, certify_plan *p)
{
    uint64_t drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn) {
        cli_complain(a->who, "cannot draw a seed: %s; give --seed", strerror(errno));
        return false;
    }
    p->options.seed = drawn >> 24;
    return true;
}

static bool plan_files(const certify_arguments *a, certify_plan *p)
{
    const char *file = a->kernel;
    const char *folder = a->kernels;
    const char *program = a->program;
    if (!file && !folder && !program)
        return true;
    if (a->json_lines && !strcmp(a->json_lines, "-") && a->json) {
        cli_complain(a->who, "--json and --json-lines=- exclude each other");
        return false;
    }
    p->file_options = (tk_kernel_file_options){.size = sizeof(tk_kernel_file_options),
                                               .backend = a->backend,
                                               .compiler = a->compiler,
                                               .flags = a->flags,
                                               .include = a->include,
                                               .allow_weak_sandbox = a->limits.allow_weak_sandbox,
                                               .limits = a->limits.limits,
                                               .call_seconds = a->timeout,
                                               .library_alone = a->keep_artifact};
    p->options.total_seconds = a->total_seconds;
    if (!a->seed && !draw_seed(a, p))
        return false;
    if (program)
        return certify_program_open(a->who, program, a->timeout, &p->program, &p->options);
    if (folder) {
        p->options.skip_mutants = true;
        return list_folder(a, p, folder);
    }
    struct stat about;
    bool is_folder = stat(file, &about) == 0 && S_ISDIR(about.st_mode);
    if (!is_folder && !is_kernel_file(basename(file))) {
        cli_complain(a->who, "--kernel must be a directory or end in .c, .cpp, .cc, .cu, .hip or .so, not '%.200s'",
                     file);
        return false;
    }
    p->files = calloc(1, sizeof *p->files);
    if (p->files && (p->files[0] = strdup(file)))
        p->file_count = 1;
    else
        cli_complain(a->who, "out of memory");
    return p->file_count == 1;
}

static bool has_backend(const certify_plan *p, const char *backend)
{
    tk_lowering_info info;
    for (int i = 0; i < p->op_count; i++) {
        if (tk_contract_definition(p->ops[i])) /* plain loops */
            return true;
        for (int l = 0; tk_lowering_at(p->ops[i], l, &info); l++)
            if (!strcmp(info.backend, backend))
                return true;
    }
    return false;
}

static cli_exit plan_backend(const certify_arguments *a, certify_plan *p, tk_ctx *ctx)
{
    const char *device;
    tk_backend_info backend;
    if (!cli_choose_backend(a->who, a->backend, a->lowering, &device, &backend))
        return CLI_BAD;
    if (!has_backend(p, backend.name)) {
        cli_complain(a->who, "backend '%s' has no kernels in this version", backend.name);
        return CLI_UNKNOWN;
    }
    p->options.backend = backend.name;
    return cli_exit_with(a->who, ctx, tk_ctx_use_device(ctx, device));
}

/* --mutant or --variant. */
static bool plan_planted(const certify_arguments *a, certify_plan *p, bool wrong)
{
    const char *wanted = wrong ? a->mutant : a->variant;
    const char **chosen = wrong ? &p->options.mutant : &p->options.variant;
    const char *names[MANY];
    const char *what;
    int count = 0;
    if (!wanted)
        return true;
    if (p->op_count != 1) {
        cli_complain(a->who, "--%s needs one OP", wrong ? "mutant" : "variant");
        return false;
    }
    for (; count < MANY && (wrong ? tk_mutant_at : tk_variant_at)(p->ops[0], count, &names[count], &what); count++)
        if (!strcmp(names[count], wanted))
            *chosen = wanted;
    if (*chosen)
        return true;
    char kind[96];
    snprintf(kind, sizeof kind, "%s of %s:", wrong ? "mutant" : "variant", p->ops[0]->name);
    cli_complain_unknown(a->who, kind, wanted, names, count);
    return false;
}

static bool plan_family(const certify_arguments *a, certify_plan *p)
{
    const char *wanted = a->family;
    const char *names[MOST_FAMILIES];
    int count = 0;
    if (!wanted)
        return true;
    for (; count < MOST_FAMILIES && (names[count] = tk_family_at(count, NULL)); count++)
        if (!strcmp(names[count], wanted)) {
            p->options.family = wanted;
            p->family = count;
        }
    if (!p->options.family)
        cli_complain_unknown(a->who, "family", wanted, names, count);
    return p->options.family != NULL;
}

static bool plan_settings(const certify_arguments *a, certify_plan *p)
{
    for (int i = 0; i < a->attributes.count; i++) {
        const tk_setting *setting = &a->attributes.given[i];
        const tk_attribute *attribute = cli_setting_fit(a->who, setting, p->ops, p->op_count, a->ops.count > 0);
        if (!attribute)
            return false;
        p->has_seen_settings |= attribute->seen_by_kernel;
        p->settings[p->setting_count++] = *setting;
    }
    return true;
}

void certify_settings_of(const certify_plan *p, const tk_contract *op, tk_setting kept[TK_MAX_ATTRIBUTES],
                         tk_certify_options *options)
{
    options->settings = kept;
    options->setting_count = 0;
    for (int i = 0; i < p->setting_count; i++)
        if (tk_attribute_find(op, p->settings[i].attribute) >= 0)
            kept[options->setting_count++] = p->settings[i];
}

/* The parameter that an --input is for; -1, having said why, if the op has no such input. */
static int find_input(const certify_arguments *a, const tk_contract *op, const char *name)
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

static bool plan_input(const certify_arguments *a, certify_plan *p, const tk_case *c, int i, bool seen[TK_MAX_PARAMS])
{
    cli_error error;
    cli_input *input = &p->inputs[i];
    bool good = cli_parse_input(a->inputs.list[i], input, &error);
    int k = good ? find_input(a, c->contract, input->name) : -1;
    if (good && k < 0)
        return false;
    if (good && seen[k])
        good = cli_error_set(&error, "gives '%s' twice", input->name);
    else if (good && input->count != tk_case_elements(c, k))
        good = cli_error_set(&error, "has %lld elements, and the shape %lld", (long long)input->count,
                             (long long)tk_case_elements(c, k));
    else if (good)
        good = cli_input_fit(input, tk_case_param_dtype(c, k), &error);
    if (!good) {
        cli_complain(a->who, "--input '%.60s%s' %s", a->inputs.list[i], strlen(a->inputs.list[i]) > 60 ? "..." : "",
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

static bool plan_inputs(const certify_arguments *a, certify_plan *p)
{
    if (a->inputs.count == 0)
        return true;
    if (p->op_count != 1 || !a->shape || !p->types.one || !is_single(p->index_dtypes)) {
        cli_complain(a->who, "--input needs one OP, one --dtype and one --index");
        return false;
    }
    tk_case c = cli_case_of(p->ops[0], p->types.types, p->index_dtypes & 1u << TK_I32 ? TK_I32 : TK_I64);
    cli_settings_apply(p->settings, p->setting_count, &c); /* which tensors there are may follow from them */
    cli_error error;
    if (!cli_shape_fit(&p->shape, &c, &error))
        return false;
    bool seen[TK_MAX_PARAMS] = {false};
    for (int i = 0; i < a->inputs.count; i++)
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
    p->options.input_count = a->inputs.count;
    return true;
}

static bool plan_out(const certify_arguments *a, certify_plan *p)
{
    bool restricted = a->shape || p->options.family || p->has_seen_settings || certify_planted(p);
    const char *out = a->out;
    p->keep = out || !(restricted || a->kernels);
    return !out || cli_make_out(a->who, out);
}

static bool plan_sign(const certify_arguments *a, certify_plan *p, tk_ctx *ctx)
{
    const char *file = a->sign;
    if (!file)
        return true;
    if (!p->keep) {
        cli_complain(a->who, "--sign needs --out: without it these certificates are not written");
        return false;
    }
    return cli_read_signer(a->who, ctx, file, &p->signer);
}

/* One job for each lowering that this machine takes, fastest first, or a single one where that is settled otherwise. */
static void add_jobs(certify_plan *p, const tk_ctx *ctx, const certify_job *like)
{
    tk_lowering_info info;
    tk_case c = cli_case_of(like->contract, like->types, like->index_dtype);
    cli_settings_apply(p->settings, p->setting_count, &c); /* a lowering may refuse what they ask for */
    bool single = p->options.lowering || certify_planted(p) || p->best || p->file_count || p->program.server;
    int before = p->job_count;
    for (int l = 0; !single && tk_lowering_at(like->contract, l, &info) && p->job_count < MOST_IDS; l++) {
        bool other = p->options.backend && strcmp(info.backend, p->options.backend) != 0;
        if (other || tk_lowering_refusal(ctx, &c, l))
            continue;
        if (!p->slowest || p->job_count == before)
            p->job_count++;
        certify_job *j = &p->jobs[p->job_count - 1];
        *j = *like;
        (void)tk_lowering_id(&c, l, j->lowering, sizeof j->lowering);
    }
    /* None takes it: tk_certify() will say why. */
    if (p->job_count == before && p->job_count < MOST_IDS)
        p->jobs[p->job_count++] = *like;
}

/* Whether the settings are refused for these types. Where sizes of 0 are refused without them, it is the trials that tell. */
static bool has_objection(const certify_plan *p, const tk_contract *op, tk_types types)
{
    tk_case c = cli_case_of(op, types, TK_I32);
    if (!op->refusal || op->refusal(&c))
        return false;
    cli_settings_apply(p->settings, p->setting_count, &c);
    return op->refusal(&c);
}

static bool asks_for(const certify_plan *p, const char *attribute)
{
    for (int i = 0; i < p->setting_count; i++)
        if (!strcmp(p->settings[i].attribute, attribute))
            return true;
    return false;
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

/* Unless types are asked for, user kernels are judged in 16 bits, which every one was written for. */
static bool leaves_out(certify_plan *p, tk_types types)
{
    if (!(p->file_count || p->program.server) || p->all_types || p->first_types || types.result_dtype != TK_F32)
        return false;
    const cli_types_text name = cli_name_types(types);
    if (!has_word(p->left_out, name.text))
        snprintf(p->left_out + strlen(p->left_out), sizeof p->left_out - strlen(p->left_out), "%s%s",
                 p->left_out[0] ? ", " : "", name.text);
    return true;
}

/* What is asked for by name is tried in any case. Else settings are in the types that have them; and 8 bits, which none of our kernels has,
 * where it is said what overflows become. */
static bool wants_types(certify_plan *p, const tk_contract *op, tk_types types)
{
    if (p->types.one)
        return cli_types_have(&p->types, types);
    return (tk_dtype_size(types.dtype) == 1) == asks_for(p, "overflow") && !has_objection(p, op, types) &&
           !leaves_out(p, types);
}

static bool shape_of_job(const certify_plan *p, certify_job *j)
{
    cli_error error;
    tk_case c = cli_case_of(j->contract, j->types, j->index_dtype);
    cli_settings_apply(p->settings, p->setting_count, &c);
    const bool good = cli_shape_fit(&p->shape, &c, &error);
    memcpy(j->dims, c.dims, sizeof j->dims);
    return good;
}

static bool plan_jobs(const certify_arguments *a, certify_plan *p, tk_ctx *ctx)
{
    for (int i = 0; i < p->op_count; i++) {
        const tk_contract *op = p->ops[i];
        if (p->options.family && !tk_family_applies(p->family, op)) {
            if (a->ops.count == 0)
                continue;
            cli_complain(a->who, "family '%s' does not apply to %s", p->options.family, op->name);
            return false;
        }
        for (int t = 0; t < (p->first_types ? 1 : op->type_count); t++) {
            for (tk_dtype index = TK_I32; index <= TK_I64; index++) {
                bool wanted = tk_contract_takes_index(op) ? (p->index_dtypes & 1u << index) != 0 : index == TK_I32;
                if (!wanted || !wants_types(p, op, op->types[t]))
                    continue;
                certify_job j = {.contract = op, .types = op->types[t], .index_dtype = index};
                if (a->shape && !shape_of_job(p, &j))
                    return false;
                add_jobs(p, ctx, &j);
            }
        }
    }
    if (p->job_count == 0 && p->options.family)
        cli_complain(a->who, "family '%s' applies to none of the ops", p->options.family);
    else if (p->job_count == 0)
        cli_complain(a->who, "none of the ops has these types and settings");
    return p->job_count > 0;
}

cli_exit certify_plan_make(const certify_arguments *a, certify_plan *p, tk_ctx *ctx)
{
    p->options = TK_CERTIFY_DEFAULTS;
    p->options.call_threads = a->threads;
    p->options.skip_mutants = a->skip_mutants;
    p->options.fresh_mutants = a->fresh_mutants;
    p->options.keep_going = a->keep_going;
    p->options.sanitize = a->sanitize      ? TK_SANITIZE_ALWAYS
                          : a->no_sanitize ? TK_SANITIZE_NEVER
                                           : TK_SANITIZE_BY_LEVEL;
    p->options.skip_coverage = a->no_coverage;
    if (!plan_work(a, p) || !plan_numbers(a, p) || !plan_files(a, p))
        return CLI_BAD;
    cli_exit result = p->file_count || p->program.server
                          ? CLI_HOLDS
                          : plan_backend(a, p, ctx); /* a worker opens the device of its kernel */
    if (result != CLI_HOLDS)
        return result;
    bool good = plan_lowering(a, p) && plan_settings(a, p) &&
                cli_choose_shape(a->who, a->shape, p->ops, p->op_count, &a->attributes, 0, &p->shape) &&
                plan_planted(a, p, true) && plan_planted(a, p, false) && plan_family(a, p) && plan_inputs(a, p) &&
                plan_jobs(a, p, ctx) && plan_out(a, p) && plan_sign(a, p, ctx);
    return good ? CLI_HOLDS : CLI_BAD;
}

void certify_plan_free(certify_plan *p)
{
    for (int i = 0; i < TK_MAX_PARAMS; i++)
        cli_input_free(&p->inputs[i]);
    for (int i = 0; i < p->file_count; i++)
        free(p->files[i]);
    free(p->files);
    tk_key_destroy(p->signer);
    certify_program_close(&p->program);
}
