/* SHOWS. tokitai judge: outputs that were computed elsewhere, in files, against the exact values of their inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attribute_options.h"
#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "cli/verdict.h"
#include "core/escape.h"
#include "tensors/array_files.h"

enum { INPUTS, OUTPUTS, SIDES };

typedef struct arguments {
    cli_words words;
    const char *who, *dtype, *out, *sign;
    cli_texts files[SIDES]; /* "x.npy", "x=x.npy", "tensors.safetensors" */
    cli_attributes attributes;
    bool json;
} arguments;

static const cli_option option_list[] = {
    CLI_ROW(CLI_TEXTS, "inputs", "[NAME=]FILE", files[INPUTS],
            "Inputs of the op: a safetensors file with tensors by their names, or one tensor as .npy, which is NAME "
            "or the next one of the op. May be repeated",
            .most = TK_MAX_PARAMS),
    CLI_ROW(CLI_TEXTS, "outputs", "[NAME=]FILE", files[OUTPUTS],
            "Outputs to judge, given likewise; one file may have both. May be repeated", .most = TK_MAX_PARAMS,
            .required = true),
    CLI_DTYPE(
        "", ". Tensors of other types are refused; the default is the type of the files. 16-bit elements "
            "without a type (uint16, V2) are bf16, and refused beside fp16 tensors; those of 8 bits (uint8, V1) are "
            "what --dtype says"),
    CLI_ROW(CLI_TEXT, "out", "DIR", out,
            "Write the certificate to DIR as given.OP.TYPE.HASH.json and .md; HASH is the beginning of a hash of all "
            "tensors"),
    CLI_SIGN(": also write NAME.dsse.json, a DSSE envelope", .with = "out"),
    CLI_JSON,
    {.kind = CLI_ATTRIBUTES, .place = offsetof(arguments, attributes)},
    {0},
};

/* What was read, in contract order. */
typedef struct tensors {
    tki_arrays *open[SIDES * TK_MAX_PARAMS];
    int open_count;
    const tki_array *of[TK_MAX_PARAMS]; /* NULL: not given */
} tensors;

/* -- Which tensor is which ------------------------------------------------------------------------------------ */

static int find_param(const tk_contract *op, const char *name, size_t length)
{
    for (int p = 0; p < op->param_count; p++)
        if (strlen(op->params[p].name) == length && !memcmp(op->params[p].name, name, length))
            return p;
    return -1;
}

static bool complain_name(const char *who, const tk_contract *op, int side, const char *name)
{
    const char *names[TK_MAX_PARAMS];
    int count = 0;
    for (int p = 0; p < op->param_count; p++)
        if (op->params[p].output == (side == OUTPUTS))
            names[count++] = op->params[p].name;
    cli_complain_unknown(who, side == OUTPUTS ? "output" : "input", name, names, count);
    return false;
}

static bool place(const char *who, const tk_contract *op, int p, const tki_array *array, tensors *t)
{
    if (t->of[p]) {
        cli_complain(who, "%s is given twice", op->params[p].name);
        return false;
    }
    t->of[p] = array;
    return true;
}

/* Tensors of a file with names; those of the other side are left to its option. */
static bool place_named(const char *who, const tk_contract *op, int side, const tki_arrays *arrays, tensors *t)
{
    const tki_array *array;
    for (size_t i = 0; (array = tki_arrays_at(arrays, i)); i++) {
        const int p = find_param(op, array->name, strlen(array->name));
        if (p < 0)
            return complain_name(who, op, side, array->name);
        if (op->params[p].output == (side == OUTPUTS) && !place(who, op, p, array, t))
            return false;
    }
    return true;
}

/* One without a name is the next that nobody has given yet. */
static int next_param(const tk_contract *op, int side, const tensors *t)
{
    for (int p = 0; p < op->param_count; p++)
        if (op->params[p].output == (side == OUTPUTS) && !t->of[p])
            return p;
    return -1;
}

static bool place_single(const char *who, const tk_contract *op, int side, const char *file, const tki_arrays *arrays,
                         const char *name, size_t length, tensors *t)
{
    const tki_array *array = tki_arrays_at(arrays, 0);
    if (!array || tki_arrays_at(arrays, 1)) {
        cli_complain(who, "'%s' must have one tensor, or tensors with the names that the op gives them", file);
        return false;
    }
    const int p = name ? find_param(op, name, length) : next_param(op, side, t);
    if (p >= 0 && op->params[p].output == (side == OUTPUTS))
        return place(who, op, p, array, t);
    if (!name) {
        cli_complain(who, "'%s': %s has no further %s", file, op->name, side == OUTPUTS ? "output" : "input");
        return false;
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
    return complain_name(who, op, side, word);
}

/* "x=x.npy" where x is a tensor of the op; a file's own name may have an = in it. */
static bool read_file(tk_ctx *ctx, const char *who, const tk_contract *op, int side, const char *text, tensors *t)
{
    const char *equals = strchr(text, '=');
    const bool named = equals && !memchr(text, '/', (size_t)(equals - text));
    const char *file = named ? equals + 1 : text;
    tki_arrays *arrays = NULL;
    if (tki_arrays_open(ctx, file, &arrays) != TK_OK) {
        cli_complain(who, "%s", tk_ctx_message(ctx));
        return false;
    }
    t->open[t->open_count++] = arrays;
    const tki_array *first = tki_arrays_at(arrays, 0);
    if (!named && (!first || first->name[0]))
        return place_named(who, op, side, arrays, t);
    return place_single(who, op, side, file, arrays, named ? text : NULL, named ? (size_t)(equals - text) : 0, t);
}

/* -- Types and sizes ------------------------------------------------------------------------------------------ */

/* NumPy has neither bf16 nor 8-bit numbers: patterns of that size stand for them. */
static bool type_fits(const tki_array *array, tk_dtype dtype)
{
    return array->type == dtype || (array->type == TKI_U16 && dtype == TK_BF16) ||
           (array->type == TK_U8 && tk_dtype_size(dtype) == 1);
}

static bool case_fits(const tk_case *c, const tensors *t)
{
    for (int p = 0; p < c->contract->param_count; p++)
        if (t->of[p] && !type_fits(t->of[p], tk_case_param_dtype(c, p)))
            return false;
    return true;
}

static bool complain_types(const char *who, const tk_contract *op, const tensors *t, int fitting)
{
    char text[512] = "";
    for (int p = 0; p < op->param_count; p++)
        if (t->of[p])
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", text[0] ? ", " : "",
                     op->params[p].name, tki_array_type_name(t->of[p]));
    if (fitting)
        cli_complain(who, "%s takes several types that these tensors may have (%s); give --dtype", op->name, text);
    else
        cli_complain(who, "%s does not take these types: %s; 'tokitai ops %s' lists those that it takes", op->name,
                     text, op->name);
    return false;
}

/* The one of the op's types that all tensors have. */
static bool find_types(const char *who, const tk_contract *op, const cli_types *wanted, const tensors *t, tk_case *c)
{
    int fitting = 0;
    for (int i = 0; i < op->type_count; i++)
        for (int wide = 0; wide <= tk_contract_takes_index(op); wide++) {
            const tk_case candidate = cli_case_of(op, op->types[i], wide ? TK_I64 : TK_I32);
            if (!cli_types_have(wanted, op->types[i]) || !case_fits(&candidate, t))
                continue;
            fitting++;
            *c = candidate;
        }
    return fitting == 1 || complain_types(who, op, t, fitting);
}

static bool take_shape(const char *who, tk_case *c, int p, const tki_array *array, bool known[TK_MAX_DIMS])
{
    const tk_param *param = &c->contract->params[p];
    if (array->rank != param->rank) {
        cli_complain(who, "%s has %d axes, not %d", param->name, array->rank, param->rank);
        return false;
    }
    for (int axis = 0; axis < param->rank; axis++) {
        const int d = param->dim[axis];
        if (known[d] && c->dims[d] != array->shape[axis]) {
            cli_complain(who, "%s has size %lld along axis %d; %s is %lld in the other tensors", param->name,
                         (long long)array->shape[axis], axis, c->contract->dim_names[d], (long long)c->dims[d]);
            return false;
        }
        known[d] = true;
        c->dims[d] = array->shape[axis];
    }
    return true;
}

/* Every tensor that the case has is there, and no other. */
static bool find_sizes(const char *who, const tensors *t, tk_case *c)
{
    bool known[TK_MAX_DIMS] = {false};
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        char condition[256];
        tk_contract_condition(c->contract, p, condition, sizeof condition);
        if (t->of[p] && !tk_case_has(c, p)) {
            cli_complain(who, "%s is given, but exists only %s", param->name, condition);
            return false;
        }
        if (!t->of[p] && tk_case_has(c, p)) {
            cli_complain(who, "the %s %s of %s is missing%s%s", param->output ? "output" : "input", param->name,
                         c->contract->name, condition[0] ? "; it exists " : "", condition);
            return false;
        }
        if (t->of[p] && !take_shape(who, c, p, t->of[p], known))
            return false;
    }
    return true;
}

static bool make_case(const arguments *a, const tk_contract *op, const tensors *t, tk_case *c)
{
    cli_types types = {0};
    if (!cli_choose_types(a->who, a->dtype, &op, 1, &types) || !find_types(a->who, op, &types, t, c))
        return false;
    for (int i = 0; i < a->attributes.count; i++)
        if (!cli_setting_fit(a->who, &a->attributes.given[i], &op, 1, true))
            return false;
    cli_settings_apply(a->attributes.given, a->attributes.count, c);
    return find_sizes(a->who, t, c);
}

/* -- The verdict ---------------------------------------------------------------------------------------------- */

static cli_exit write_certificate(const arguments *a, tk_ctx *ctx, tk_certificate *certificate, const tk_key *key)
{
    char *path = NULL;
    tk_status status = key ? tk_certificate_sign(ctx, certificate, key) : TK_OK;
    if (status == TK_OK)
        status = tk_certificate_write(ctx, certificate, a->out, &path);
    if (status != TK_OK) {
        cli_complain(a->who, "the certificate was not written: %s", tk_ctx_message(ctx));
    } else if (!a->json) {
        fputs("\nwritten to ", stdout);
        cli_print(CLI_PLAIN, path);
        putchar('\n');
    }
    free(path);
    return status == TK_OK ? CLI_HOLDS : CLI_BAD;
}

static cli_exit show(const arguments *a, tk_ctx *ctx, tk_certificate *certificate, const tk_key *key)
{
    cli_exit result = cli_exit_of_verdict(tk_certificate_verdict(certificate));
    const char *text = a->json ? tk_certificate_json(certificate) : NULL;
    if (text) {
        tki_put_json(stdout, text, strlen(text));
    } else if (!a->json) {
        cli_table table = cli_verdict_table(false);
        cli_table_fit(&table, 0, tk_certificate_subject(certificate));
        cli_table_head(&table);
        cli_verdict_row(&table, certificate);
    } else {
        cli_complain(a->who, "out of memory");
        result = CLI_UNKNOWN;
    }
    return a->out ? cli_worse(result, write_certificate(a, ctx, certificate, key)) : result;
}

static cli_exit judge(const arguments *a, tk_ctx *ctx, const tk_contract *op, tensors *t, const tk_key *key)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < a->files[side].count; i++)
            if (!read_file(ctx, a->who, op, side, a->files[side].list[i], t))
                return CLI_BAD;
    tk_case c;
    if (!make_case(a, op, t, &c))
        return CLI_BAD;
    const void *sides[SIDES][TK_MAX_PARAMS] = {0};
    int count[SIDES] = {0};
    for (int p = 0; p < op->param_count; p++) {
        const int side = op->params[p].output ? OUTPUTS : INPUTS;
        sides[side][count[side]++] = t->of[p] ? t->of[p]->data : NULL;
    }
    tk_certificate *certificate = NULL;
    tk_status status = tk_judge(ctx, &c, sides[INPUTS], sides[OUTPUTS], &certificate);
    if (status != TK_OK)
        return cli_exit_with(a->who, ctx, status);
    cli_exit result = show(a, ctx, certificate, key);
    tk_certificate_destroy(certificate);
    return result;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {.who = argv[0]};
    tensors t = {0};
    cli_parse(&cli_judge, argc, argv, &a);
    const tk_contract *op = cli_find_op(a.who, a.words.list[0]);
    tk_ctx *ctx = op ? cli_open(a.who) : NULL;
    if (ctx)
        op = cli_op_in(a.who, ctx, op);
    if (!ctx || !op)
        return op ? CLI_UNKNOWN : CLI_BAD;
    tk_key *key = NULL;
    cli_exit result = CLI_BAD;
    if (cli_read_signer(a.who, ctx, a.sign, &key) && (!a.out || cli_make_out(a.who, a.out)))
        result = judge(&a, ctx, op, &t, key);
    tk_key_destroy(key);
    for (int i = 0; i < t.open_count; i++)
        tki_arrays_close(t.open[i]);
    tk_ctx_destroy(ctx);
    return result;
}

const cli_command cli_judge = {
    .name = "judge",
    .summary = "judge outputs that were computed elsewhere, from .npy and safetensors files",
    .arguments = "OP",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "Judges given outputs of an op, element by element, against the exact values of the given inputs. No "
           "kernel is run, and the certificate says so: it has the SHA-256 of every tensor, and clauses about "
           "writing, shapes and repetition are not judged. Sizes and types are those of the tensors. With "
           "--domain=normal an input outside of that domain is refused."
           "\vExit status: 0 the outputs hold; 1 they are refuted; 2 wrong usage, or files that do not fit the op; 3 "
           "undecided.",
};
