/* Fuzz target: a text of definitions. What is refused is refused at a place in the text, in a line of visible ASCII. What is taken is
 * printed, and what is printed is taken and printed alike; small cases of it are settled without leaving the arrays. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "define/definition.h"

static void check_error(const char *text, size_t size, const tki_definition_error *error)
{
    int line = 1, longest = 0, column = 0;
    for (size_t i = 0; i < size; i++) {
        column = text[i] == '\n' ? 0 : column + 1;
        line += text[i] == '\n';
        longest = column > longest ? column : longest;
    }
    assert(error->position.line >= 1 && error->position.line <= line);
    assert(error->position.column >= 1 && error->position.column <= longest + 1);
    char text_of_error[256];
    assert(tki_definition_error_text(error, text_of_error, sizeof text_of_error)[0]);
    for (const char *p = text_of_error; *p; p++)
        assert(*p >= ' ' && *p < 0x7f);
}

static void try_case(const tki_definition *d, int64_t size, int64_t step)
{
    tk_case c = {0};
    int64_t *values = calloc((size_t)d->int_count + 1, sizeof *values);
    if (!values)
        abort();
    for (int i = 0; i < d->size_count; i++)
        c.dims[i] = size + i * step;
    for (int i = 0; i < d->attribute_count; i++)
        c.attributes[i] = d->attributes[i].type == TK_ATTRIBUTE_CHOICE
                              ? (tk_value){.integer = size % d->attributes[i].choice_count}
                              : d->attributes[i].initial;
    tki_definition_derive(d, &c);
    const int refusal = tki_definition_settle(d, &c, values);
    assert(refusal == TKI_NONE || (refusal >= 0 && refusal < d->refusal_count && d->refusal_texts[refusal][0]));
    for (int i = 0; refusal == TKI_NONE && i < d->derived_count; i++)
        assert(c.dims[d->derivation[i]] == values[d->sizes[d->derivation[i]].derived] &&
               c.dims[d->derivation[i]] >= 0);
    free(values);
}

static void check_taken(const tki_definition *d)
{
    tki_definitions again;
    tki_definition_error error;
    for (const char *p = d->text; *p; p++)
        assert(*p == '\n' || (*p >= ' ' && *p < 0x7f && *p != '#'));
    const tk_status status = tki_definitions_read(d->text, strlen(d->text), &again, &error);
    if (status == TK_BAD_ARGUMENT &&
        (error.what.kind == TKI_WRONG_TOO_LONG || error.what.kind == TKI_WRONG_TOO_LONG_PRINTED))
        return; /* spaces have been added */
    assert(status == TK_OK && again.count == 1 && !strcmp(again.list[0].text, d->text));
    assert(again.list[0].node_count == d->node_count && again.list[0].int_count == d->int_count);
    tki_definitions_free(&again);
    for (int64_t size = 0; size < 6; size++) {
        try_case(d, size, 0);
        try_case(d, size, 1);
    }
    try_case(d, INT64_MAX - 64, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tki_definitions made;
    tki_definition_error error;
    const char *text = (const char *)data;
    if (tki_definitions_read(text, size, &made, &error) != TK_OK) {
        assert(!made.arena);
        check_error(text, size, &error);
        return 0;
    }
    if (tki_definitions_say(&made) != TK_OK)
        abort();
    for (int i = 0; i < made.count; i++)
        check_taken(&made.list[i]);
    tki_definitions_free(&made);
    return 0;
}
