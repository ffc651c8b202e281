/* RECORDS. All sentences about definitions: what is wrong with one, why one refuses a case, and those of the contract that it makes. */
#include <stdio.h>
#include <string.h>

#include "define/syntax.h"
#include "model/contract_parts.h"

/* $1 is the first name, #1 the first number, @ the phrase. */
static const char *const sentences[TKI_WRONG_KINDS] = {
    [TKI_WRONG_NOTHING] = "",
    /* The parser. */
    [TKI_WRONG_EXPECTED] = "expected @, but there is $1",
    [TKI_WRONG_EXPECTED_AT_END] = "expected @, but there is the end of the text",
    [TKI_WRONG_EXPECTED_AT_LINE_END] = "expected @, but there is the end of the line",
    [TKI_WRONG_EXPECTED_NO_WORD] = "expected @, but $1 is a word of the language",
    [TKI_WRONG_NO_DIGIT] = "expected a digit of the number that begins with $1",
    [TKI_WRONG_NUMBER_TOO_LARGE] = "$1 is too large: a number is below 2^1024",
    [TKI_WRONG_NUMBER_TOO_SMALL] = "$1 is too small: a number is 0 or at least 2^-1022",
    [TKI_WRONG_TOO_MANY_HEX_DIGITS] = "$1 has more than 13 hexadecimal digits",
    [TKI_WRONG_NO_HEX_EXPONENT] = "expected p and an exponent behind the hexadecimal number $1",
    [TKI_WRONG_NUMBER_RUNS_ON] = "expected a sign or a space behind the number $1",
    [TKI_WRONG_TOO_MANY_WORDS] = "the definition has more than #1 words and signs",
    [TKI_WRONG_NO_NAME] = "$1 is no name: lower-case letters, digits and _, a letter first, #1 bytes at most",
    [TKI_WRONG_TOO_DEEP] = "more than #1 brackets and signs are nested",
    [TKI_WRONG_TOO_MANY_LINES] = "the definition has more than #1 lines",
    [TKI_WRONG_TOO_LONG] = "the text has #1 bytes; at most #2 are read",
    [TKI_WRONG_TOO_MANY_OPS] = "the text has more than #1 definitions",
    [TKI_WRONG_DEFINED_TWICE] = "there is a definition of $1 already, in line #1",
    [TKI_WRONG_LONG_NAME] = "the name is longer than #1 bytes",
    [TKI_WRONG_LONG_NUMBER] = "the number is longer than #1 bytes",
    [TKI_WRONG_CHARACTER] = "the language has no character $1",
    [TKI_WRONG_BYTE] = "the language has no byte 0x$1",
    /* The head. */
    [TKI_WRONG_TOO_MANY_SIZES] = "the definition has more than #1 sizes",
    [TKI_WRONG_NO_SIZE_LEFT] = "what stands left of = is the name of a size",
    [TKI_WRONG_SIZE_TWICE] = "two lines say what the size $1 is",
    [TKI_WRONG_SIZE_OF_NOTHING] = "the size $1 follows from no input: write where $1 = and what it is",
    [TKI_WRONG_SIZE_NAME_TAKEN] = "$1 is the name of a size already",
    [TKI_WRONG_ATTRIBUTE_NAME_TAKEN] = "$1 is the name of an attribute already",
    [TKI_WRONG_TENSOR_NAME_TAKEN] = "$1 is the name of a tensor already",
    [TKI_WRONG_NO_NUMBER] = "expected a number, but there is $1",
    [TKI_WRONG_NO_INT64] = "expected an integer below 2^63, but there is $1",
    [TKI_WRONG_NO_INTEGER] = "expected an integer, but there is $1",
    [TKI_WRONG_EMPTY_RANGE_OF] = "the range of $1 is empty",
    [TKI_WRONG_DEFAULT_OUTSIDE] = "the default of $1 is outside its range",
    [TKI_WRONG_EMPTY_RANGE] = "the range is empty",
    [TKI_WRONG_CHOICE_TWICE] = "$1 has the choice $2 twice",
    [TKI_WRONG_TOO_MANY_CHOICES] = "$1 has more than #1 choices",
    [TKI_WRONG_NO_CHOICE] = "$1 has no choice $2",
    [TKI_WRONG_TOO_MANY_COMBINATIONS] = "the choices of all attributes have more than #1 combinations",
    [TKI_WRONG_JUDGES_ATTRIBUTE] = "no attribute of a definition is named $1: the judge has one of that name",
    [TKI_WRONG_TOO_MANY_ATTRIBUTES] = "the definition has more than #1 attributes",
    [TKI_WRONG_CONDITION_OF_NO_CHOICE] = "a condition is about an attribute that is a choice, and $1 is none",
    [TKI_WRONG_CONDITION_NEVER] = "the condition holds in no case",
    [TKI_WRONG_TOO_MANY_AXES] = "$1 has more than #1 axes",
    [TKI_WRONG_NO_TYPE] = "$1 is no type: f16, bf16, f32, e4m3, e5m2, int, i32, i64, u8 or bool",
    [TKI_WRONG_PRESENT_BY_SEVERAL] = "whether $1 is there depends on one attribute alone",
    [TKI_WRONG_RANGE_OF_NO_INT] = "only tensors of the type int have a range of integers",
    [TKI_WRONG_INT_RANGE] = "the range of an int is [0, SIZE)",
    [TKI_WRONG_RANGE_INFINITE] = "the ends of a tensor's range are finite",
    [TKI_WRONG_RANGE_OF_ONE] = "the range is empty, or one number",
    [TKI_WRONG_TOO_MANY_TENSORS] = "the definition has more than #1 tensors in its head",
    [TKI_WRONG_NO_CHOICE_YES] = "$1 has no choice $2: write == and one of its choices",
    /* Lines. */
    [TKI_WRONG_OTHER_RANK] = "$1 has #1 axes in the head, and #2 here",
    [TKI_WRONG_OTHER_AXES] = "the lines of $1 have different axes",
    [TKI_WRONG_HOLDS_INTEGERS] = "$1 holds integers, and its value is a real number",
    [TKI_WRONG_HOLDS_REALS] = "$1 holds real numbers, and its value is an index: give it the type int",
    [TKI_WRONG_BOUND] = "$1 is bound",
    [TKI_WRONG_LINES_APART] = "the lines of $1 do not follow each other",
    [TKI_WRONG_TWO_VALUES] = "two lines give $1 a value with the same choices",
    [TKI_WRONG_ABSENT_HERE] = "$1 is absent wherever this line applies",
    [TKI_WRONG_NO_MEMORY_OF] = "$1 is no input, whose memory $2 could have",
    [TKI_WRONG_UNLIKE_MEMORY] = "$1 and $2 have different axes or types, so that they cannot have the same memory",
    [TKI_WRONG_NO_VALUE] = "no line gives the output $1 a value",
    [TKI_WRONG_NO_VALUE_WITH] = "with some choices no line gives the output $1 a value",
    [TKI_WRONG_NO_OUTPUT] = "every output is absent with some choices",
    [TKI_WRONG_VALUE_TWICE] = "the value is named twice",
    [TKI_WRONG_NO_REAL_OUTPUT] = "$1 is no output of real numbers with a line before this one",
    [TKI_WRONG_NO_REAL_INPUT] = "$1 is no input of real numbers",
    [TKI_WRONG_NAMED_TWICE] = "$1 is named twice",
    [TKI_WRONG_GRADIENT_TWICE] = "there is a line `gradient of` already",
    [TKI_WRONG_BOUND_OF_WHICH] = "there are several outputs: write bound ERR and the name of one",
    [TKI_WRONG_BOUND_OF_TWICE] = "there is a bound of $1 already",
    [TKI_WRONG_TOO_LONG_PRINTED] = "in its normal form it has #1 bytes; at most #2 are read",
    [TKI_WRONG_FEWER_AXES] = "$1 has fewer axes in the head",
    [TKI_WRONG_SIZE_AGAIN] = "the axes of $1 have the sizes that the head states",
    [TKI_WRONG_AXIS_TWICE_IN_HEAD] = "an axis $1 occurs twice in the head: write [ ] with a name for each axis",
    [TKI_WRONG_VALUE_OF_INPUT] = "$1 is the name of an input, which no line gives a value",
    [TKI_WRONG_VALUE_OF_SIZE] = "$1 is the name of a size, which no line gives a value",
    [TKI_WRONG_VALUE_OF_ATTRIBUTE] = "$1 is the name of an attribute, which no line gives a value",
    [TKI_WRONG_SPECIAL_WITHOUT_AXIS] = "$1 has no axis $2, so that no one element of $3 belongs to an element of $1",
    [TKI_WRONG_SPECIAL_AXES] =
        "$1 has more than one axis $2, so that no one element of $3 belongs to an element of $1",
    [TKI_WRONG_UNKNOWN_INPUT] = "there is no input $1",
    [TKI_WRONG_UNKNOWN_OUTPUT] = "there is no output $1",
    /* Indices. */
    [TKI_WRONG_NO_INDEX_NAME] = "$1 cannot be an index: it is the name of a tensor or an attribute",
    [TKI_WRONG_TOO_MANY_INDICES] = "the definition has more than #1 indices",
    [TKI_WRONG_TOO_MANY_SCOPES] = "more than #1 indices are bound",
    [TKI_WRONG_TWO_RANGES] =
        "$1 subscripts axes of different sizes, $2 of $3 and $4 of $5: write $1 < and what it is to stay below",
    [TKI_WRONG_NO_RANGE] = "nothing says over what $1 ranges, since it subscripts no axis alone: write $1 < and what "
                           "it is to stay below",
    [TKI_WRONG_RANGE_NO_CONSTANT] = "$1 is to stay below an integer of sizes, integer attributes and numbers",
    [TKI_WRONG_TOO_MANY_BOUND] = "more than #1 indices are bound together",
    [TKI_WRONG_BOUND_TWICE] = "$1 is bound twice",
    [TKI_WRONG_TOO_MANY_LINE_AXES] = "the line has more than #1 axes",
    /* Integers. */
    [TKI_WRONG_TOO_MANY_INTEGERS] = "the definition has more than #1 integers",
    [TKI_WRONG_DIVISOR_NO_CONSTANT] = "what $1 divides by is made of sizes, integer attributes and numbers alone",
    [TKI_WRONG_DIVISOR_NOT_POSITIVE] = "what $1 divides by is positive, and not #1",
    [TKI_WRONG_SIZE_OF_ITSELF] = "the size $1 follows from itself",
    [TKI_WRONG_SIZE_OF_NO_INTEGER] =
        "the attribute $1 is no integer: sizes follow from sizes, integer attributes and numbers",
    [TKI_WRONG_TOO_LARGE_FOR_INT64] = "$1 is no integer below 2^63",
    [TKI_WRONG_NO_SIZE_VALUE] =
        "sizes are made of sizes, integer attributes and numbers by + - * // % and min(a, b), max(a, b)",
    [TKI_WRONG_TOO_MANY_CONSTRAINTS] = "the definition has more than #1 constraints",
    [TKI_WRONG_UNKNOWN_INTEGER] = "there is no size or integer attribute $1",
    [TKI_WRONG_NOT_AFFINE] =
        "@ is a sum of indices, each times a constant of sizes and attributes; here two are multiplied",
    /* Values. */
    [TKI_WRONG_TOO_MANY_VALUES] = "the definition has more than #1 values",
    [TKI_WRONG_READS_ITSELF] = "$1 is read in the line that gives it a value",
    [TKI_WRONG_ABSENT_SOMEWHERE] =
        "$1 is absent in some cases: put `if` before the line, or have $1 as an operand of + - * alone",
    [TKI_WRONG_OTHER_RANGE] = "$1 does not range over the axis $2 of $3: the sizes are different ones, so write $1 < "
                              "and what it is to stay below",
    [TKI_WRONG_AXIS_TWICE] = "$1 has the axis $2 twice: write its subscripts",
    [TKI_WRONG_AXIS_UNBOUND] =
        "$1 has the axis $2, which nothing binds here: write its subscripts, or reduce over $2",
    [TKI_WRONG_SUBSCRIPT_UNKNOWN] =
        "nothing says which values the subscript has: give the integers a range (int in [0, SIZE)), or write else",
    [TKI_WRONG_ELSE_OF_INTEGERS] = "$1 is a tensor of integers, which have no `else`",
    [TKI_WRONG_ELSE_NO_CONSTANT] = "what stands behind `else` is made of numbers, sizes and attributes alone",
    [TKI_WRONG_CHOICE_HAS_NO_VALUE] = "$1 is a choice, which has no value: put `if $1 == ...:` before the line",
    [TKI_WRONG_SIZE_UNBOUND] = "$1 is not bound here; the size is size($1)",
    [TKI_WRONG_OUTPUT_READ_EARLY] = "the output $1 is read before the line that gives it a value",
    [TKI_WRONG_UNKNOWN_NAME] = "there is no input, earlier line, attribute or index $1",
    [TKI_WRONG_UNKNOWN_SIZE] = "there is no size $1",
    [TKI_WRONG_SIZE_OF_WHICH_AXIS] = "$1 has #1 axes: name the one whose size is meant",
    [TKI_WRONG_BOTH_ABSENT] = "$1 and $2 are both absent in some cases: put `if` before the line",
    [TKI_WRONG_OPERAND_IS_REAL] = "$1 is of integers, and one of its operands is a real number",
    [TKI_WRONG_NO_FORMAT] = "$1 is no format to round to: f16, bf16, f32, e4m3 or e5m2",
    [TKI_WRONG_FLOOR_NO_CONSTANT] = "floor is of numbers, sizes and attributes, and + - * / of these",
    [TKI_WRONG_LAST_PIECE_UNMOVED] =
        "the last of the pieces has no subscript that is an index less the size of those before it: b[i - size(a)]",
    [TKI_WRONG_PIECE_UNMOVED] = "no subscript of this piece is $1 less a constant",
    [TKI_WRONG_NO_PIECE] = "a piece is a tensor of real numbers with its subscripts, without `else`: a[i]",
    [TKI_WRONG_TOO_MANY_PIECES] = "there are more than #1 pieces",
    [TKI_WRONG_OVER_ONE_AXIS] = "$1 is over one axis",
    [TKI_WRONG_ROTATE_WITH_PREDICATE] = "rotate_half takes no predicate",
    [TKI_WRONG_TIES_OF_OTHER] = "`ties lower` is for argmax, argmin and topk",
    [TKI_WRONG_KEEPS_UNBOUND] = "$1 keeps its axes, and nothing around it binds $2",
    [TKI_WRONG_KEEPS_OTHER] = "$1 keeps its axes, and $2 ranges over another size around it",
    [TKI_WRONG_POSITION_UNKNOWN] = "nothing says which values the position in topk has",
    [TKI_WRONG_SECOND_NO_CONSTANT] = "the second value of $1 is made of numbers, sizes and attributes alone",
    [TKI_WRONG_OWN_LINE] = "$1 is a line of its own: i[...] = $1[...](...), and then i[...] is a subscript",
    [TKI_WRONG_INDEX_AS_NUMBER] = "$1 is an index here: the size is size($1); if the index is meant as a number, "
                                  "name the axes on the left, as in y[$1] = ...",
    [TKI_WRONG_IS_REAL] = "@ is an integer, and this is a real number",
    [TKI_WRONG_AXES] = "$1 has #1 axes, not #2",
    [TKI_WRONG_ONE_AXIS] = "$1 has 1 axis, not #2",
    [TKI_WRONG_UNKNOWN_TENSOR] = "there is no tensor $1, neither an input nor an earlier line",
    [TKI_WRONG_TAKES] = "$1 takes #1 values, not #2",
    [TKI_WRONG_TAKES_ONE] = "$1 takes 1 value, not #2",
    [TKI_WRONG_STANDARDIZE_TAKES] = "$1 takes two values: standardize[axes](x, eps)",
    [TKI_WRONG_TOPK_TAKES] = "$1 takes two values: topk[axis](x, position)",
    [TKI_WRONG_VAR_TAKES] = "$1 takes one value, or two: var[axes](x, correction)",
    [TKI_WRONG_OVER_TAKES] = "$1 takes one value",
    /* Why a case is refused. #1 is a line. */
    [TKI_REFUSED_INTEGER] = "an integer of the definition leaves 64 bits, is divided by what is not positive, or is "
                            "the floor of what no double holds",
    [TKI_REFUSED_SIZE] = "a size that follows from others is negative",
    [TKI_REFUSED_EXTENT] = "an index is to stay below a negative number",
    [TKI_REFUSED_TENSOR_CORE] = "numerics tensor_core is for products of 16-bit numbers; of f32 it is tf32",
    [TKI_REFUSED_TF32] = "numerics tf32 is for f32: of 16-bit numbers nothing is truncated, and it is tensor_core",
    [TKI_REFUSED_FACT] = "$1 does not hold",
    [TKI_REFUSED_PIECE] = "the piece $1 does not begin where the one before it ends (line #1)",
    [TKI_REFUSED_PIECES_END] = "the pieces do not end where $1 does (line #1)",
    [TKI_REFUSED_ODD] = "$1 is of an odd number of elements (line #1)",
    [TKI_REFUSED_NOTHING] = "$1 is over nothing (line #1)",
    [TKI_REFUSED_TOPK] = "$1 is of more elements than there are (line #1)",
    [TKI_REFUSED_SUBSCRIPT] = "the subscript $1 of $2 can be out of range (line #1)",
};

static const char *const phrases[TKI_PHRASES] = {
    [TKI_PHRASE_NONE] = "",
    [TKI_PHRASE_SUBSCRIPT] = "a subscript",
    [TKI_PHRASE_SIDE] = "a side of a predicate",
    [TKI_PHRASE_SEED] = "the seed of philox",
    [TKI_PHRASE_PHILOX_POSITION] = "the position in philox",
    [TKI_PHRASE_TOPK_POSITION] = "the position in topk",
    [TKI_EXPECTED_SIGN] = "$2",
    [TKI_EXPECTED_OPERATOR_COMMA_CLOSE] = "an operator, a comma or )",
    [TKI_EXPECTED_OPERATOR_CLOSE] = "an operator or )",
    [TKI_EXPECTED_OPERATOR_COMMA] = "an operator or a comma",
    [TKI_EXPECTED_OPERATOR_AND_COMMA] = "an operator, and, or a comma",
    [TKI_EXPECTED_SUBSCRIPT_OR_ELSE] = "an operator, a comma, else or ]",
    [TKI_EXPECTED_OPERATOR_END] = "an operator or ]",
    [TKI_EXPECTED_AFTER_BINDERS] = ", | ties lower or ]",
    [TKI_EXPECTED_AFTER_PREDICATE] = "an operator, a relation, and, ties lower or ]",
    [TKI_EXPECTED_REDUCED] = "( and what is reduced",
    [TKI_EXPECTED_AXES] = "[ and the axes",
    [TKI_EXPECTED_OPEN] = "( or [",
    [TKI_EXPECTED_VALUE] = "a value: a number, a name, a function or (",
    [TKI_EXPECTED_RELATION] = "a relation: == != < <= > >=",
    [TKI_EXPECTED_FACT] = "= or a relation: == != < <= > >=",
    [TKI_EXPECTED_INDEX] = "the name of an index",
    [TKI_EXPECTED_SIZE] = "the name of a size, or of a tensor with one axis",
    [TKI_EXPECTED_FORMAT] = "a format",
    [TKI_EXPECTED_TYPE] = "a type",
    [TKI_EXPECTED_COMMA] = "a comma",
    [TKI_EXPECTED_COMMA_CLOSE] = "a comma or )",
    [TKI_EXPECTED_COMMA_END] = "a comma or ]",
    [TKI_EXPECTED_CHOICE] = "the name of a choice",
    [TKI_EXPECTED_CHOICES] = "( and the choices",
    [TKI_EXPECTED_ATTRIBUTE] = "the name of an attribute",
    [TKI_EXPECTED_ATTRIBUTE_TYPE] = ": and the attribute's type",
    [TKI_EXPECTED_KIND_OF_ATTRIBUTE] = "real, int or choice",
    [TKI_EXPECTED_RANGE] = "a range: [ or (",
    [TKI_EXPECTED_RANGE_NUMBER] = "a number, inf or the name of a size",
    [TKI_EXPECTED_RANGE_CLOSE] = "] or )",
    [TKI_EXPECTED_AXIS] = "the name of an axis",
    [TKI_EXPECTED_INPUT] = "the name of an input",
    [TKI_EXPECTED_OUTPUT] = "the name of an output",
    [TKI_EXPECTED_NUMBER] = "a number",
    [TKI_EXPECTED_LINE] = "a line: a name, if, where, special, gradient, bound, or the next op",
    [TKI_EXPECTED_NAME] = "a name",
    [TKI_EXPECTED_INDICES_OR_VALUE] = "[ or =",
    [TKI_EXPECTED_SPECIAL_VALUE] = "nan, inf, -inf or 0",
    [TKI_EXPECTED_TENSOR] = "the name of a tensor",
    [TKI_EXPECTED_AFTER_SPECIAL] = "or, and, or :",
    [TKI_EXPECTED_COMMA_BY] = "a comma or by",
    [TKI_EXPECTED_OP] = "the name of an op",
    [TKI_EXPECTED_BOUND] = "= or the name of an output",
    [TKI_EXPECTED_AFTER_CONDITION] = "== != and, or :",
    [TKI_EXPECTED_THE_OP] = "the name of the op",
    [TKI_EXPECTED_INPUTS] = "( and the inputs",
    [TKI_EXPECTED_INPUTS_END] = "a comma, ; or )",
    [TKI_EXPECTED_OUTPUTS_END] = "a comma or the end of the line",
    [TKI_EXPECTED_FACTS_END] = "an operator, a comma or the end of the line",
    [TKI_EXPECTED_LINE_END] = "an operator or the end of the line",
};

static size_t put(char *text, size_t size, const char *sentence, const tki_complaint *what)
{
    size_t used = 0;
    if (size > 0)
        text[0] = 0;
    for (; *sentence; sentence++) {
        char *to = text + (used < size ? used : size);
        const size_t room = used < size ? size - used : 0;
        switch (*sentence) {
        case '$': used += (size_t)snprintf(to, room, "%s", what->names[*++sentence - '1']); break;
        case '#': used += (size_t)snprintf(to, room, "%lld", what->numbers[*++sentence - '1']); break;
        case '@': used += put(to, room, phrases[what->phrase], what); break;
        default: used += (size_t)snprintf(to, room, "%c", *sentence); break;
        }
    }
    return used;
}

const char *tki_definition_error_text(const tki_definition_error *error, char *text, size_t size)
{
    tki_complaint what = error->what;
    for (int i = 0; i < TKI_WRONG_NAMES; i++)
        what.names[i] = error->names[i];
    put(text, size, sentences[what.kind], &what);
    return text;
}

tk_status tki_definitions_say(const tki_definitions *made)
{
    for (int i = 0; i < made->count; i++)
        for (int k = 0; k < made->list[i].refusal_count; k++) {
            const tki_complaint *what = &made->list[i].refusals[k];
            char none[1];
            const size_t size = put(none, sizeof none, sentences[what->kind], what) + 1;
            char *text = tki_arena_take(made->arena, size);
            if (!text)
                return TK_NO_MEMORY;
            put(text, size, sentences[what->kind], what);
            made->list[i].refusal_texts[k] = text;
        }
    return TK_OK;
}

/* -- Contracts ------------------------------------------------------------------------------------------------------- */

/* The lines behind the head, one behind the other. */
static const char *formula(tki_reading *r, const tki_definition *d)
{
    const char *lines = strchr(d->text, '\n');
    char *text = tki_reading_print(r, "%s", lines + (lines[1] ? 5 : 1));
    for (char *from = text, *to = text;; from++) {
        if (!strncmp(from, "\n    ", 5)) {
            *to++ = ';';
            from += 3;
            continue;
        }
        *to = *from == '\n' ? 0 : *from;
        if (!*to++)
            break;
    }
    return text;
}

static const char *joined(tki_reading *r, const char *before, const char *separator, const char *more)
{
    return tki_reading_print(r, "%s%s%s", before, separator, more);
}

static const char *refusal(const tki_definition *d, int i)
{
    return d->refusal_texts[i < d->constraint_count ? d->constraints[i].refusal
                                                    : d->checks[i - d->constraint_count].refusal];
}

/* What a line `where` states, as printed; NULL. */
static const char *fact(const tki_definition *d, int i)
{
    const tki_complaint *what = i < d->constraint_count ? &d->refusals[d->constraints[i].refusal] : NULL;
    return what && what->kind == TKI_REFUSED_FACT ? what->names[0] : NULL;
}

/* "any c, h and w, zero included, ..., where p = h // 2, c % 2 == 0; not where topk is of more elements than there are". */
static const char *text_of_shapes(tki_reading *r, const tki_definition *d)
{
    const char *text = "", *separator = ", where ", *sizes = "";
    for (int i = 0, left = d->size_count - d->derived_count; i < d->size_count; i++)
        if (d->sizes[i].derived == TKI_NONE)
            sizes = joined(r, sizes, d->sizes[i].name, --left == 0 ? "" : left == 1 ? " and " : ", ");
    for (int i = 0; i < d->derived_count; i++, separator = ", ") {
        const tki_def_size *size = &d->sizes[d->derivation[i]];
        text = joined(r, text, separator, tki_reading_print(r, "%s = %s", size->name, size->text));
    }
    for (int i = 0; i < d->constraint_count; i++)
        if (fact(d, i)) {
            text = joined(r, text, separator, fact(d, i));
            separator = ", ";
        }
    separator = "; not where ";
    for (int i = 0; i < d->constraint_count + d->check_count; i++)
        if (!fact(d, i)) {
            text = joined(r, text, separator, refusal(d, i));
            separator = ", or where ";
        }
    return tki_reading_print(r, TKI_SHAPE_TEXT("%s") "%s", sizes, text);
}

void tki_say_contract(tki_reading *r, const tki_definition *d, tk_contract *contract)
{
    static const char *const texts[TKI_DEFINED_COUNT] = {
        [TKI_DEFINED_ERR] = "for finite inputs every element of real numbers is the rounding of some value within B "
                            "of the exact one",
        [TKI_DEFINED_NAN] =
            "NaN where the lines as written, evaluated by the rules of IEEE 754, give it, and only there",
        [TKI_DEFINED_INF] =
            "where infinities take part, what the lines as written, evaluated by the rules of IEEE 754, give",
        [TKI_DEFINED_OVERFLOW] =
            "where a value on the way can reach 2^128 (1 - 2^-25), infinities and NaN that follow from it are "
            "admitted too",
        [TKI_DEFINED_SPECIAL] = "the values that the lines `special` of the definition name",
        [TKI_DEFINED_INTEGER] =
            "integers are exact; an index is that of an element which a choice between equal ones may take"};
    tk_clause *clauses = tki_reading_take(r, (size_t)contract->clause_count * sizeof *clauses);
    for (tki_defined_clause which = 0; which < TKI_DEFINED_COUNT; which++) {
        const int i = tki_definition_clause(d, which);
        if (i != TKI_NONE)
            clauses[i] = (tk_clause){contract->clauses[i].kind, contract->clauses[i].id, texts[which]};
    }
    for (int i = 0; i < contract->clause_count; i++)
        if (contract->clauses[i].kind == TK_CLAUSE_SHAPE)
            clauses[i] = (tk_clause){.kind = TK_CLAUSE_SHAPE, .text = text_of_shapes(r, d)};
    tk_attribute *attributes = tki_reading_take(r, (size_t)contract->attribute_count * sizeof *attributes);
    for (int i = 0; i < contract->attribute_count; i++) {
        attributes[i] = contract->attributes[i];
        if (i < d->attribute_count)
            attributes[i].text = "as the definition says";
    }
    contract->clauses = clauses;
    contract->attributes = attributes;
    contract->summary = tki_reading_print(r, "%s, as it is defined", d->name);
    contract->formula = formula(r, d);
    contract->bound = tki_definition_clause(d, TKI_DEFINED_ERR) == TKI_NONE
                          ? "0: all outputs are integers"
                          : "derived from the definition at each element, by running error analysis";
}
