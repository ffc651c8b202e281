/* RECORDS. The one-line command that shows a failure again. */
#include "certify/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/subject.h"
#include "core/escape.h"
#include "judge/judge_exact.h"
#include "model/attributes.h"
#include "model/case.h"
#include "model/format.h"
#include "trials/attribute_settings.h"

/* Up to this many input elements a failing case is written out bit by bit. */
enum { MOST_GIVEN = 96 };

static void print_given_inputs(FILE *out, const tki_trial *trial, const tki_inputs *inputs)
{
    for (int p = 0; p < trial->c.contract->param_count; p++) {
        const tk_param *param = &trial->c.contract->params[p];
        const tk_dtype dtype = tk_case_param_dtype(&trial->c, p);
        int64_t count = tk_case_elements(&trial->c, p);
        for (int64_t i = 0; !param->output && i < count; i++) {
            fprintf(out, i ? "," : " --input %s=", param->name);
            if (param->kind != TK_KIND_INDEX)
                fprintf(out, "0x%0*llx", tki_format_of(dtype).bits / 4,
                        (unsigned long long)tki_pattern_at(dtype, inputs->data[p], i));
            else
                fprintf(out, "%lld", (long long)tki_index_at(dtype, inputs->data[p], i));
        }
    }
}

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
static void print_subject(FILE *out, const tki_outcome *o)
{
    if (o->kind == &tki_subject_function && !o->options->kernel_program)
        fprintf(out, "# the function '%s' with: ", o->subject);
    char types[TKI_TYPES_TEXT];
    tki_outcome_types(o, types);
    fprintf(out, "tokitai certify %s --dtype %s", o->contract->name, types);
    if (tk_contract_takes_index(o->contract))
        fprintf(out, " --index %s", tk_dtype_name(o->index_dtype));
    o->kind->reproduce(o, out);
    for (int i = 0; i < o->contract->attribute_count; i++)
        if (tki_settings_is_restriction(o->contract, o->attributes, i))
            print_attribute(out, &o->contract->attributes[i], o->attributes[i]);
}

char *tki_reproduce_trial(const tki_outcome *o, const tki_trial *original, const tki_trial *shrunk,
                          const tki_inputs *inputs, bool fails_by_default)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const tk_contract *contract = o->contract;
    int64_t elements = 0;
    for (int p = 0; p < contract->param_count; p++)
        elements += contract->params[p].output ? 0 : tk_case_elements(&shrunk->c, p);
    bool given = elements <= MOST_GIVEN;
    const tki_trial *shown = given ? shrunk : original;
    print_subject(out, o);
    for (int d = 0; d < contract->dim_count; d++)
        fprintf(out, "%s%s=%lld", d ? "," : " --shape ", contract->dim_names[d], (long long)shown->c.dims[d]);
    for (int i = 0; i < contract->attribute_count; i++)
        if (contract->attributes[i].seen_by_kernel)
            print_attribute(out, &contract->attributes[i], shown->c.attributes[i]);
    if (given)
        print_given_inputs(out, shrunk, inputs);
    else
        fprintf(out, " --family %s", tki_trial_family_name(original));
    for (int i = 0; i < original->planted_count && !given; i++)
        fprintf(out, "%s%lld", i ? "," : " --plant ", (long long)original->planted[i]);
    if (shown->threads)
        fprintf(out, " --threads %d", shown->threads);
    if (shown->alignment)
        fprintf(out, " --alignment %d", shown->alignment);
    /* Of a stranger's kernel it is drawn anew where it is not given. */
    if (!given || !fails_by_default || o->kind->stranger)
        fprintf(out, " --seed %llu", (unsigned long long)shown->seed);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

char *tki_reproduce_all(const tki_outcome *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_subject(out, o);
    if (o->kind->stranger)
        fprintf(out, " --level %s --seed %llu", tk_level_name(o->level), (unsigned long long)o->options->seed);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
