/* RECORDS. The one-line command that shows a failure again. */
#include "certify/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certificate.h"
#include "certify/replay_recipe.h"
#include "certify/subject.h"
#include "core/escape.h"
#include "judge/judge_exact.h"
#include "model/attributes.h"
#include "model/case.h"
#include "model/format.h"
#include "model/op.h"
#include "trials/attribute_settings.h"

/* Up to this many input elements a failing case is written out bit by bit. */
enum { MOST_GIVEN = 96 };

/* -- Written ---------------------------------------------------------------------------------------------------- */

static json_t *inputs_json(const tk_case *c, const tki_inputs *inputs)
{
    json_t *json = json_object();
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        if (param->output || !tk_case_has(c, p))
            continue;
        json_t *values = json_array();
        for (int64_t i = 0; i < tk_case_elements(c, p); i++)
            json_array_append_new(
                values,
                json_integer(param->kind == TK_KIND_INDEX
                                 ? tki_index_at(tk_case_param_dtype(c, p), inputs->data[p], i)
                                 : (json_int_t)tki_pattern_at(tk_case_param_dtype(c, p), inputs->data[p], i)));
        json_object_set_new(json, param->name, values);
    }
    return json;
}

json_t *tki_case_json(const tki_outcome *o, const tki_trial *original, const tki_trial *shrunk,
                      const tki_inputs *inputs, bool fails_by_default)
{
    int64_t elements = 0;
    for (int p = 0; p < o->contract->param_count; p++)
        elements += o->contract->params[p].output ? 0 : tk_case_elements(&shrunk->c, p);
    const bool given = elements <= MOST_GIVEN;
    json_t *json = json_pack("{s:o}", "trial", tki_trial_json(given ? shrunk : original));
    /* Of a kernel file it is drawn anew where it is not given. */
    if (json && given && (!fails_by_default || o->kind->is_kernel_file))
        json_object_set_new(json, "seed", json_integer((json_int_t)shrunk->seed));
    if (json && given)
        json_object_set_new(json, "inputs", inputs_json(&shrunk->c, inputs));
    return json;
}

/* -- Read ------------------------------------------------------------------------------------------------------- */

void tki_print_option(FILE *out, const char *option, const char *word)
{
    fprintf(out, " --%s ", option);
    tki_put_shell_word(out, word);
}

/* " --label-smoothing 0.1" */
static void print_attribute(FILE *out, const tk_attribute *attribute, tk_value value)
{
    char text[32];
    tk_attribute_print(attribute, value, text, sizeof text);
    fputs(" --", out);
    for (const char *name = attribute->name; *name; name++)
        fputc(*name == '_' ? '-' : *name, out);
    fprintf(out, " %s", text);
}

/* The kind's own options, between those of the op and those that are chosen. */
static void print_subject(FILE *out, const json_t *predicate, const tk_contract *contract,
                          const tki_subject_kind *kind)
{
    const json_t *run = json_object_get(predicate, "run");
    tk_value attributes[TK_MAX_ATTRIBUTES] = {{0}};
    char name[512];
    tki_escape_line(tki_text(run, "subject"), strlen(tki_text(run, "subject")), name, sizeof name);
    if (kind == &tki_subject_function && !json_object_get(run, "program"))
        fprintf(out, "# the function '%s' with: ", name);
    const bool is_in_a_file = tk_contract_definition(contract) && !tki_definition_comes_along(contract);
    fprintf(out, "tokitai certify %s%s --dtype %s", contract->name, is_in_a_file ? ".op" : "",
            tki_text(run, "dtype"));
    if (json_object_get(run, "index_dtype"))
        fprintf(out, " --index %s", tki_text(run, "index_dtype"));
    kind->reproduce(predicate, out);
    tki_recipe_settings(run, contract, attributes);
    for (int i = 0; i < contract->attribute_count; i++)
        if (tki_settings_is_restriction(contract, attributes, i))
            print_attribute(out, &contract->attributes[i], attributes[i]);
}

/* False if an input is not one of this case. */
static bool print_given_inputs(FILE *out, const tk_case *c, const json_t *inputs)
{
    size_t count = 0;
    for (int p = 0; p < c->contract->param_count; p++) {
        const tk_param *param = &c->contract->params[p];
        const json_t *values = json_object_get(inputs, param->name);
        const int bits = tki_format_of(tk_case_param_dtype(c, p)).bits;
        if (!values)
            continue;
        count++;
        if (param->output || (int64_t)json_array_size(values) != tk_case_elements(c, p))
            return false;
        for (size_t i = 0; i < json_array_size(values); i++) {
            const json_int_t value = json_integer_value(json_array_get(values, i));
            fprintf(out, i ? "," : " --input %s=", param->name);
            if (param->kind == TK_KIND_INDEX)
                fprintf(out, "%lld", (long long)value);
            else
                fprintf(out, "0x%0*llx", bits / 4, (unsigned long long)value & (UINT64_MAX >> (64 - bits)));
        }
    }
    return count == json_object_size(inputs);
}

/* The trial's sizes and attributes; false if they are none of the contract's. */
static bool read_case(const json_t *run, const json_t *trial, const tk_contract *contract, tk_case *c)
{
    const json_t *shape = json_object_get(trial, "shape"), *options = json_object_get(trial, "options");
    tk_types types;
    if (!tk_types_parse(tki_text(run, "dtype"), &types) || json_object_size(shape) != (size_t)contract->dim_count)
        return false;
    *c = tk_case_init(contract, types.dtype);
    c->result_dtype = types.result_dtype;
    c->index_dtype = !strcmp(tki_text(run, "index_dtype"), tk_dtype_name(TK_I64)) ? TK_I64 : TK_I32;
    for (int d = 0; d < contract->dim_count; d++) {
        if (!json_object_get(shape, contract->dim_names[d]))
            return false;
        c->dims[d] = tki_integer(shape, contract->dim_names[d]);
    }
    tki_recipe_settings(run, contract, c->attributes);
    for (int i = 0; i < contract->attribute_count; i++) {
        const tk_attribute *attribute = &contract->attributes[i];
        const json_t *value = json_object_get(options, attribute->name);
        if (attribute->seen_by_kernel)
            c->attributes[i] = tki_recipe_value(attribute, value);
        if (attribute->seen_by_kernel && (!value || !tki_attribute_allows(attribute, c->attributes[i])))
            return false;
    }
    return true;
}

static bool print_case(FILE *out, const json_t *predicate, const tk_contract *contract, const json_t *json)
{
    const json_t *trial = json_object_get(json, "trial"), *planted = json_object_get(trial, "planted");
    const json_t *inputs = json_object_get(json, "inputs"), *seed = json_object_get(inputs ? json : trial, "seed");
    const char *family = tki_text(trial, "family");
    tk_case c;
    if (!read_case(json_object_get(predicate, "run"), trial, contract, &c) || !inputs != !!strcmp(family, "given"))
        return false;
    for (int d = 0; d < contract->dim_count; d++)
        fprintf(out, "%s%s=%lld", d ? "," : " --shape ", contract->dim_names[d], (long long)c.dims[d]);
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel)
            print_attribute(out, &contract->attributes[i], c.attributes[i]);
    if (inputs && !print_given_inputs(out, &c, inputs))
        return false;
    if (!inputs)
        tki_print_option(out, "family", family);
    for (size_t i = 0; i < json_array_size(planted) && !inputs; i++)
        fprintf(out, "%s%lld", i ? "," : " --plant ", (long long)json_integer_value(json_array_get(planted, i)));
    if (json_object_get(trial, "threads"))
        fprintf(out, " --threads %lld", (long long)tki_integer(trial, "threads"));
    if (json_object_get(trial, "alignment"))
        fprintf(out, " --alignment %lld", (long long)tki_integer(trial, "alignment"));
    if (seed)
        fprintf(out, " --seed %llu", (unsigned long long)json_integer_value(seed));
    return true;
}

char *tki_reproduce(const json_t *predicate, const tk_contract *contract)
{
    const json_t *run = json_object_get(predicate, "run"), *failing = json_object_get(predicate, "failing_case");
    const tki_subject_kind *kind = tki_subject_kind_named(tki_text(run, "kind"));
    char *text = NULL;
    size_t size;
    if (!kind || kind == &tki_subject_given ||
        strcmp(tki_text(predicate, "verdict"), tk_verdict_name(TK_REFUTED)) != 0)
        return failing ? NULL : strdup("");
    FILE *out = contract ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    print_subject(out, predicate, contract, kind);
    const bool good = !failing || print_case(out, predicate, contract, failing);
    if (!failing && kind->is_kernel_file)
        fprintf(out, " --level %s --seed %llu", tki_text(run, "level"), (unsigned long long)tki_integer(run, "seed"));
    if (fclose(out) || !good) {
        free(text);
        return NULL;
    }
    return text;
}
