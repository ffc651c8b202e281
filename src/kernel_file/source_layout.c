/* CHOOSES. */
#include "kernel_file/source_layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_file/source_uses.h"

#define BIT(use) (1u << TKI_USE_##use)

/* ------------------------------------------------------------------------------------------------------------
 * Assembler
 * ------------------------------------------------------------------------------------------------------------ */

/* Does an assembler do more there than to translate instructions? A directive stands where a statement does; those that align or give bytes are
 * anybody's. */
static bool directs_assembler(tki_span s)
{
    static const char *const harmless[] = {"align", "balign", "p2align", "byte", "text", "previous", NULL};
    bool begins = true;
    for (const char *p = s.at; p < s.end; p++) {
        if (*p == '.' && begins && s.end - p > 1 && isalpha((unsigned char)p[1])) {
            tki_span name = {p + 1, p + 1};
            while (name.end < s.end && tki_is_word(*name.end))
                name.end++;
            if (!tki_span_is_any(name, harmless))
                return true;
        }
        begins = strchr("\n;:{|", *p) || (begins && isspace((unsigned char)*p));
    }
    return false;
}

static bool in_symbol(char letter)
{
    return tki_is_word(letter) || letter == '.';
}

/* 1f, 2b: the next or the last label of that number. */
static bool is_local(tki_span word)
{
    const char *p = word.at;
    while (p < word.end && isdigit((unsigned char)*p))
        p++;
    return p > word.at && word.end - p == 1 && (*p == 'f' || *p == 'b');
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

static tki_span trimmed(tki_span s)
{
    while (s.at < s.end && is_blank(*s.at))
        s.at++;
    return s;
}

static tki_span symbol_at(const char *at, const char *end)
{
    tki_span word = {at, at};
    while (word.end < end && in_symbol(*word.end))
        word.end++;
    return word;
}

/* One statement: its labels are taken off. */
typedef struct statement {
    tki_span label, name, operands;
} statement;

/* Statements end with a line, a ; or a dialect's choice. */
static bool next_statement(tki_span *rest, statement *s)
{
    *s = (statement){0};
    if (rest->at == rest->end)
        return false;
    tki_span line = {rest->at, rest->at};
    while (line.end < rest->end && !strchr("\n;{|}", *line.end))
        line.end++;
    rest->at = line.end + (line.end < rest->end);
    for (;;) {
        line = trimmed(line);
        s->name = symbol_at(line.at, line.end);
        tki_span behind = trimmed((tki_span){s->name.end, line.end});
        if (behind.end - behind.at > 1 && behind.at[0] == '%' && behind.at[1] == '=')
            behind.at += 2; /* a number of the compiler's */
        if (behind.at == behind.end || *behind.at != ':' || s->name.at == s->name.end)
            break;
        s->label = s->name;
        line.at = behind.at + 1;
        if (behind.at > s->name.end || isdigit((unsigned char)*s->name.at) || *s->name.at == '.') {
            s->label = (tki_span){0}; /* only a name that others can have is one */
            continue;
        }
        rest->at = line.at; /* the rest of the line is a statement of its own */
        s->name = s->operands = (tki_span){line.at, line.at};
        return true;
    }
    s->operands = trimmed((tki_span){s->name.end, line.end});
    return true;
}

static bool jumps(tki_span name)
{
    static const char *const begins[] = {"j", "b", "loop", "cb", "tb", "xbegin", NULL};
    return tki_span_begins_any(name, begins);
}

/* Behind a sign: a symbol, no number and no register. */
static bool subtracts_symbol(const char *p, const char *end)
{
    while (p < end && (is_blank(*p) || *p == '(' || *p == '$'))
        p++;
    const tki_span word = symbol_at(p, end);
    return word.at < word.end && (!isdigit((unsigned char)*word.at) || is_local(word));
}

/* A number, or nothing, before a register: the place is one of the stack below it, or of the code. */
static bool looks_beside(tki_span operands, const char *reg, bool below)
{
    for (const char *p = operands.at; (p = memmem(p, (size_t)(operands.end - p), reg, strlen(reg))); p++) {
        const char *q = p;
        while (q > operands.at && strchr("%(", q[-1]))
            q--;
        const char *number = q;
        while (number > operands.at && isalnum((unsigned char)number[-1]))
            number--;
        const bool minus = number < q && number > operands.at && number[-1] == '-';
        const bool plain = number == q || isdigit((unsigned char)*number);
        if (q < p && q[q[0] == '%'] != 0 && memchr(q, '(', (size_t)(p - q)) && (below ? minus : plain))
            return true;
        const char *behind = p + strlen(reg);
        if (below && operands.end - behind > 1 && *trimmed((tki_span){behind, operands.end - 1}).at == '-')
            return true;
    }
    return false;
}

static unsigned of_statement(const statement *s, const tki_names *labels)
{
    static const char *const moves[] = {"mov", "push", "lea", NULL}, *const leas[] = {"lea", NULL};
    static const char *const stack[] = {"%rsp", "%%rsp", NULL};
    static const char *const pointers[] = {"rsp", "esp", "sp", NULL};
    const tki_span o = s->operands;
    if (o.at < o.end && *o.at == '=' && s->name.at < s->name.end)
        return BIT(ASSEMBLER);
    if (o.at == o.end)
        return tki_span_is_any(s->name, pointers) ? BIT(LAYOUT) : 0;
    const bool moves_stack = tki_span_begins_any(s->name, leas) && tki_span_ends_any(o, stack);
    if (tki_span_begins_any(s->name, moves) && tki_span_begins_any(o, stack))
        return BIT(LAYOUT);
    if (!moves_stack && (looks_beside(o, "rsp", true) || looks_beside(o, "rip", false)))
        return BIT(LAYOUT);
    for (const char *p = o.at; p < o.end; p++) {
        if ((*p == '-' || *p == '~') && subtracts_symbol(p + 1, o.end))
            return BIT(LAYOUT);
        if (!in_symbol(*p) || (p > o.at && (in_symbol(p[-1]) || p[-1] == '%')))
            continue;
        tki_span word = symbol_at(p, o.end);
        word.at += *word.at == '$';
        if (!jumps(s->name) && (is_local(word) || tki_names_have(labels, word)))
            return BIT(LAYOUT);
    }
    return 0;
}

unsigned tki_uses_of_assembler(tki_span assembler, tki_span code)
{
    tki_names labels = {0};
    statement s;
    unsigned uses = directs_assembler(assembler) ? BIT(ASSEMBLER) : 0;
    for (tki_span rest = assembler; next_statement(&rest, &s);)
        if (s.label.at)
            tki_names_add(&labels, s.label);
    tki_names_sort(&labels);
    uses |= labels.failed ? BIT(LAYOUT) : 0;
    for (tki_span rest = assembler; next_statement(&rest, &s);)
        uses |= of_statement(&s, &labels);
    tki_span token;
    for (tki_token k; labels.count && (k = tki_next_token(&code, &token)) != TKI_NO_MORE;)
        uses |= k == TKI_WORD && tki_names_have(&labels, token) ? BIT(LAYOUT) : 0;
    free(labels.items);
    return uses;
}

/* ------------------------------------------------------------------------------------------------------------
 * Labels
 * ------------------------------------------------------------------------------------------------------------ */

/* Is it the name of a label of the text? A : that a ? waits for is of a choice. */
static bool is_label(tki_span all, tki_span name)
{
    tki_span rest = all, token;
    bool fits = false, begins = true;
    int choices = 0;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        if (k == TKI_LINE_END)
            continue;
        const char sign = k == TKI_SIGN ? *token.at : 0;
        if (fits && sign == ':' && choices == 0)
            return true;
        choices += sign == '?' ? 1 : sign == ':' && choices > 0 ? -1 : 0;
        choices = sign && strchr(";{}", sign) ? 0 : choices;
        fits = k == TKI_WORD && begins && (size_t)(token.end - token.at) == (size_t)(name.end - name.at) &&
               !memcmp(token.at, name.at, (size_t)(name.end - name.at));
        begins = sign && strchr(";{}:)", sign);
    }
    return false;
}

/* Is what has the name used for anything but to go to what is in it? */
static bool is_read(tki_span all, tki_span table)
{
    tki_span rest = all, token, before[2] = {0};
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        if (k == TKI_LINE_END)
            continue;
        const bool same = k == TKI_WORD && token.end - token.at == table.end - table.at && token.at != table.at &&
                          !memcmp(token.at, table.at, (size_t)(table.end - table.at));
        if (same && !(before[0].at && *before[0].at == '*' && before[1].at && tki_span_is(before[1], "goto")))
            return true;
        before[1] = before[0];
        before[0] = token;
    }
    return false;
}

/* Addresses of labels that are more than where to go: &&a - &&b, copied, or in a table that is read. */
static bool reads_labels(tki_span all)
{
    tki_span rest = all, token, word = {0}, assigned = {0};
    int ampersands = 0, brackets = 0;
    bool goes = false, minus = false, label = false;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        if (k == TKI_LINE_END)
            continue;
        const char sign = k == TKI_SIGN ? *token.at : 0;
        if (k == TKI_WORD && ampersands == 2 && is_label(all, token)) {
            label = true;
            if (!goes && (!assigned.at || is_read(all, assigned)))
                return true;
        }
        minus |= sign == '-';
        if (minus && label)
            return true;
        if (sign && strchr(";,{}", sign))
            minus = label = false;
        brackets += sign == '[' ? 1 : sign == ']' ? -1 : 0;
        goes = k == TKI_WORD && tki_span_is(token, "goto") ? true : sign == ';' ? false : goes;
        word = k == TKI_WORD && brackets == 0 ? token : word;
        assigned = sign == '=' ? word : sign == ';' ? (tki_span){0} : assigned;
        ampersands = sign == '&' ? ampersands + 1 : 0;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------------------------------------------ */

static const char *const integers[] = {"char",      "short",    "int",      "long",    "unsigned",  "signed",
                                       "uintptr_t", "intptr_t", "size_t",   "ssize_t", "ptrdiff_t", "int64_t",
                                       "uint64_t",  "int32_t",  "uint32_t", "uint8_t", "int8_t",    "uint16_t",
                                       "int16_t",   "__int128", "byte",     NULL};
static const char *const qualifiers[] = {"const", "volatile", "void", "std", NULL};

/* What is declared outside of all braces and has parameters. */
static void collect_functions(tki_span rest, tki_names *names)
{
    tki_span token, before[2] = {0};
    tki_token last = TKI_SIGN;
    int depth = 0, open = 0;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        if (k == TKI_LINE_END)
            continue;
        const char sign = k == TKI_SIGN ? *token.at : 0;
        const bool of_names = last == TKI_STRING || (before[0].at && tki_span_is(before[0], "namespace")) ||
                              (before[1].at && tki_span_is(before[1], "namespace"));
        if (sign == '(' && last == TKI_WORD && depth == 0 && open == 0 && !tki_span_is_any(before[0], integers) &&
            !tki_span_is_any(before[0], qualifiers))
            tki_names_add(names, before[0]);
        open += sign == '(' ? 1 : sign == ')' ? -1 : 0;
        depth += sign == '{' && !of_names ? 1 : sign == '}' && depth > 0 ? -1 : 0;
        before[1] = before[0];
        before[0] = token;
        last = k;
    }
    tki_names_sort(names);
}

static char next_sign(tki_span rest)
{
    tki_span token;
    tki_token k;
    do
        k = tki_next_token(&rest, &token);
    while (k == TKI_LINE_END);
    return k == TKI_SIGN ? *token.at : 0;
}

/* Variables that have the names of functions, while they are in sight. */
typedef struct scopes {
    struct {
        tki_span name;
        int depth;
    } hides[64];
    int count, depth;
} scopes;

static bool is_hidden(const scopes *s, tki_span name)
{
    for (int i = 0; i < s->count; i++)
        if (s->hides[i].name.end - s->hides[i].name.at == name.end - name.at &&
            !memcmp(s->hides[i].name.at, name.at, (size_t)(name.end - name.at)))
            return true;
    return false;
}

static bool is_assigned(tki_span behind)
{
    tki_span token;
    tki_token k;
    do
        k = tki_next_token(&behind, &token);
    while (k == TKI_LINE_END);
    return k == TKI_SIGN && *token.at == '=' && token.end < behind.end && *token.end != '=';
}

/* A word before a name, which is no operator, is its type; so is one before a * in parameters, and what is assigned behind a * is no function.
 * `type`: the last word, if only * came since; `last`: the sign before, 0 if it was a word. Parameters are in the braces behind them. */
static bool is_declared(scopes *s, tki_span type, char last, tki_span name, tki_span behind)
{
    static const char *const floats[] = {"float", "double", NULL}, *const types[] = {"_t", NULL};
    static const char *const operators[] = {
        "return",        "case",     "goto",      "else",     "do",       "sizeof",     "typeof",
        "alignof",       "_Alignof", "throw",     "new",      "delete",   "and",        "or",
        "not",           "xor",      "bitand",    "bitor",    "compl",    "and_eq",     "or_eq",
        "xor_eq",        "not_eq",   "co_return", "co_await", "co_yield", "__typeof__", "__alignof__",
        "__extension__", "__real__", "__imag__",  NULL};
    const bool known = type.at && (tki_span_is_any(type, integers) || tki_span_is_any(type, floats) ||
                                   tki_span_ends_any(type, types));
    const bool behind_word = !last && type.at && !tki_span_is_any(type, operators);
    const bool behind_star = last == '*' && ((type.at && s->depth == 0) || is_assigned(behind));
    if (!known && !behind_word && !behind_star)
        return false;
    if (s->count < (int)(sizeof s->hides / sizeof *s->hides)) {
        s->hides[s->count].name = name;
        s->hides[s->count++].depth = s->depth > 0 ? s->depth : 1;
    }
    return true;
}

static void leave(scopes *s)
{
    s->depth -= s->depth > 0;
    while (s->count > 0 && s->hides[s->count - 1].depth > s->depth)
        s->count--;
}

/* (uintptr_t)f, (char *)&f, f - g, f < g: the address of a function as a number. */
static bool reads_functions(tki_span all)
{
    tki_names functions = {0};
    tki_span rest = all, token;
    bool inside = false, integer = false, cast = false; /* (char *) */
    bool found = false, function = false, relates = false;
    char last = 0;
    tki_span type = {0};
    scopes s = {0};
    collect_functions(all, &functions);
    for (tki_token k; !found && (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        if (k == TKI_LINE_END)
            continue;
        const char sign = k == TKI_SIGN ? *token.at : 0;
        const bool member = last == '.' || (last == '>' && token.at[-2] == '-');
        const bool named = k == TKI_WORD && !member && tki_names_have(&functions, token) && next_sign(rest) != '(';
        const bool is_function = named && !is_declared(&s, type, last, token, rest) && !is_hidden(&s, token);
        s.depth += sign == '{';
        s.count = sign == ';' && s.depth == 0 ? 0 : s.count; /* parameters of no function */
        if (sign == '}')
            leave(&s);
        type = k == TKI_WORD ? token : sign == '*' ? type : (tki_span){0};
        found = is_function && (cast || relates);
        relates = function && sign && strchr("-<>", sign);
        function = is_function;
        if (sign == '(') {
            inside = true;
            integer = false;
        } else if (sign == ')') {
            cast |= inside && integer;
            inside = false;
        } else if (k == TKI_WORD && tki_span_is_any(token, integers)) {
            integer = true;
            cast &= inside;
        } else if (k == TKI_WORD ? !tki_span_is_any(token, qualifiers) : !sign || !strchr("&*:", sign)) {
            cast = inside = false;
        }
        last = sign;
    }
    free(functions.items);
    return found || functions.failed;
}

bool tki_looks_at_code(tki_span code)
{
    return reads_labels(code) || reads_functions(code);
}
