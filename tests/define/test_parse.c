/* The grammar in docs/definitions.md against the parser: the test reads it, sees that it is LL(1), draws texts from it that the parser has
 * to take, and changes them, so that grammar and parser have to agree on what they refuse. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "define/lexer.h"
#include "tests/definition_error.h"
#include "tests/unit_test.h"

/* -- The grammar --------------------------------------------------------------------------------------------------------- */

enum { MOST_RULES = 64, MOST_PARTS = 1024, MOST_TERMINALS = 192 };

typedef struct part {
    enum { TERMINAL, RULE, SEQUENCE, ALTERNATIVES, REPEATED, OPTIONAL } kind;
    int which;     /* terminal or rule */
    int parts[32]; /* of SEQUENCE and ALTERNATIVES; one of REPEATED and OPTIONAL */
    int count;
    bool nullable;
    bool first[MOST_TERMINALS], follow[MOST_TERMINALS];
} part;

static part parts[MOST_PARTS];
static int part_count;
static char terminals[MOST_TERMINALS][32];
static int terminal_count;
static struct {
    char name[32];
    int part;
} rules[MOST_RULES];
static int rule_count;
static char grammar[16384], *at;

static int terminal_of(const char *text)
{
    int i = 0;
    while (i < terminal_count && strcmp(terminals[i], text) != 0)
        i++;
    assert_true(i < MOST_TERMINALS && strlen(text) < sizeof terminals[0]);
    if (i == terminal_count)
        strcpy(terminals[terminal_count++], text);
    return i;
}

static int rule_of(const char *name)
{
    int i = 0;
    while (i < rule_count && strcmp(rules[i].name, name) != 0)
        i++;
    assert_true(i < MOST_RULES);
    if (i == rule_count) {
        strcpy(rules[rule_count].name, name);
        rules[rule_count++].part = -1;
    }
    return i;
}

static int add_part(int kind)
{
    assert_true(part_count < MOST_PARTS);
    parts[part_count].kind = (unsigned)kind;
    return part_count++;
}

static void skip_blanks(void)
{
    at += strspn(at, " \n");
}

static void take_text(char *text, size_t length)
{
    assert_true(length > 0 && length < 32);
    memcpy(text, at, length);
    text[length] = 0;
    at += length;
}

static int read_alternatives(void);

static int read_item(void)
{
    char text[32];
    const char c = *at;
    if (c == '"') {
        at++;
        take_text(text, strcspn(at, "\""));
        at++;
        const int made = add_part(TERMINAL);
        parts[made].which = terminal_of(text);
        return made;
    }
    if (strchr("([{", c)) {
        at++;
        const int inner = read_alternatives();
        assert_int_equal(*at, c == '(' ? ')' : c == '[' ? ']' : '}');
        at++;
        if (c == '(')
            return inner;
        const int made = add_part(c == '[' ? OPTIONAL : REPEATED);
        parts[made].parts[0] = inner;
        parts[made].count = 1;
        return made;
    }
    take_text(text, strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"));
    const int made = add_part(isupper((unsigned char)text[0]) ? TERMINAL : RULE);
    parts[made].which = parts[made].kind == TERMINAL ? terminal_of(text) : rule_of(text);
    return made;
}

/* A rule ends where the next one begins: at a name in the first column. */
static bool at_end(void)
{
    skip_blanks();
    return !*at || strchr(")]}|", *at) || (at[-1] == '\n' && islower((unsigned char)*at));
}

static int read_sequence(void)
{
    const int made = add_part(SEQUENCE);
    while (!at_end()) {
        const int item = read_item();
        assert_true(parts[made].count < 32);
        parts[made].parts[parts[made].count++] = item;
    }
    return made;
}

static int read_alternatives(void)
{
    const int made = add_part(ALTERNATIVES);
    do {
        at += *at == '|' || strchr("([{", *at) ? *at == '|' : 0;
        const int sequence = read_sequence();
        assert_true(parts[made].count < 32);
        parts[made].parts[parts[made].count++] = sequence;
    } while (*at == '|');
    return made;
}

static void read_grammar(void)
{
    char path[4096], line[512];
    snprintf(path, sizeof path, "%s/docs/definitions.md", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    bool inside = false;
    size_t length = 1;
    grammar[0] = '\n';
    while (fgets(line, sizeof line, in)) {
        if (inside && !strncmp(line, "```", 3))
            inside = false;
        if (inside) {
            assert_true(length + strlen(line) < sizeof grammar);
            strcpy(grammar + length, line);
            length += strlen(line);
        }
        inside |= !strcmp(line, "```grammar\n");
    }
    fclose(in);
    assert_true(length > 1000);
    for (at = grammar + 1; *at;) {
        char name[32];
        take_text(name, strspn(at, "abcdefghijklmnopqrstuvwxyz"));
        skip_blanks();
        assert_int_equal(*at, '=');
        at++;
        const int rule = rule_of(name);
        assert_int_equal(rules[rule].part, -1);
        const int value = read_alternatives();
        rules[rule].part = value;
    }
    for (int i = 0; i < rule_count; i++)
        if (rules[i].part < 0)
            fail_msg("the grammar has no rule %s", rules[i].name);
}

/* -- Is it LL(1)? ------------------------------------------------------------------------------------------------------------ */

static bool changed;

static void set(bool *to)
{
    changed |= !*to;
    *to = true;
}

static void add_all(bool to[], const bool from[])
{
    for (int i = 0; i < terminal_count; i++)
        if (from[i])
            set(&to[i]);
}

static void derive_first(part *p)
{
    bool nullable = p->kind == SEQUENCE || p->kind == REPEATED || p->kind == OPTIONAL;
    if (p->kind == TERMINAL)
        set(&p->first[p->which]);
    if (p->kind == RULE) {
        add_all(p->first, parts[rules[p->which].part].first);
        nullable = parts[rules[p->which].part].nullable;
    }
    bool open = true; /* all before it can be nothing */
    for (int i = 0; i < p->count; i++) {
        const part *inner = &parts[p->parts[i]];
        if (open || p->kind != SEQUENCE)
            add_all(p->first, inner->first);
        open &= inner->nullable;
        nullable |= p->kind == ALTERNATIVES && inner->nullable;
    }
    if (p->kind == SEQUENCE)
        nullable = open;
    if (nullable)
        set(&p->nullable);
}

static void derive_follow(part *p)
{
    if (p->kind == RULE)
        add_all(parts[rules[p->which].part].follow, p->follow);
    for (int i = 0; i < p->count; i++) {
        part *inner = &parts[p->parts[i]];
        if (p->kind == REPEATED)
            add_all(inner->follow, inner->first);
        bool open = true;
        for (int k = i + 1; k < p->count && p->kind == SEQUENCE && open; k++) {
            add_all(inner->follow, parts[p->parts[k]].first);
            open = parts[p->parts[k]].nullable;
        }
        if (open)
            add_all(inner->follow, p->follow);
    }
}

static bool is_class(const char *terminal)
{
    return !strcmp(terminal, "LINE") || !strcmp(terminal, "END") || !strcmp(terminal, "NUMBER");
}

/* Could one token be both? */
static bool overlap(int a, int b)
{
    const char *x = terminals[a], *y = terminals[b];
    const bool word = isalpha((unsigned char)x[0]) && isalpha((unsigned char)y[0]);
    if (a == b)
        return true;
    if (!word)
        return (!strcmp(x, "0") && !strcmp(y, "NUMBER")) || (!strcmp(x, "NUMBER") && !strcmp(y, "0"));
    if (!strcmp(x, "WORD") || !strcmp(y, "WORD"))
        return strcmp(x, "LINE") != 0 && strcmp(y, "LINE") != 0 && strcmp(x, "NUMBER") != 0 &&
               strcmp(y, "NUMBER") != 0;
    const char *other = !strcmp(x, "NAME") ? y : !strcmp(y, "NAME") ? x : NULL;
    return other && !is_class(other) && !tki_word_is_reserved(other);
}

static void check_apart(const bool a[], const bool b[], const char *what)
{
    for (int i = 0; i < terminal_count; i++)
        for (int k = 0; k < terminal_count; k++)
            if (a[i] && b[k] && overlap(i, k))
                fail_msg("%s: %s and %s cannot be told apart", what, terminals[i], terminals[k]);
}

static void derive_sets(void)
{
    parts[rules[rule_of("file")].part].follow[terminal_of("END")] = true;
    do {
        changed = false;
        for (int i = 0; i < part_count; i++)
            derive_first(&parts[i]);
        for (int i = 0; i < part_count; i++)
            derive_follow(&parts[i]);
    } while (changed);
}

TEST(the_grammar_is_ll_1)
{
    for (int i = 0; i < part_count; i++) {
        const part *p = &parts[i];
        for (int a = 0; p->kind == ALTERNATIVES && a < p->count; a++)
            for (int b = 0; b < a; b++) {
                check_apart(parts[p->parts[a]].first, parts[p->parts[b]].first, "alternatives");
                assert_false(parts[p->parts[a]].nullable && parts[p->parts[b]].nullable);
            }
        if (p->kind == REPEATED || p->kind == OPTIONAL) {
            assert_false(parts[p->parts[0]].nullable);
            check_apart(parts[p->parts[0]].first, p->follow, "the end of a repetition");
        }
    }
}

static bool is_in_grammar(const char *word)
{
    for (int i = 0; i < terminal_count; i++)
        if (!strcmp(terminals[i], word))
            return true;
    return false;
}

TEST(the_grammar_has_the_words_of_the_language)
{
    static const char *const free_words[] = {"real", "int", "choice", "lower", "ERR"}; /* can be names elsewhere */
    for (int i = 0; i < TKI_OVER_COUNT; i++)
        assert_true(is_in_grammar(tki_over_name((tki_over)i)));
    for (int i = TKI_NEGATE + 1; i < TKI_PRIMITIVE_COUNT; i++)
        assert_true(is_in_grammar(tki_primitive_name((tki_primitive)i)));
    for (int i = 0; i < terminal_count; i++) {
        bool is_free = !islower((unsigned char)terminals[i][0]);
        for (size_t k = 0; k < sizeof free_words / sizeof *free_words; k++)
            is_free |= !strcmp(terminals[i], free_words[k]);
        if (isalpha((unsigned char)terminals[i][0]) && tki_word_is_reserved(terminals[i]) == is_free)
            fail_msg("%s is%s reserved", terminals[i], is_free ? "" : " not");
    }
}

/* -- What it takes ----------------------------------------------------------------------------------------------------------- */

static tki_token tokens[4096];
static int token_count, position;

static bool is_kind(const tki_token *t, int terminal)
{
    const char *name = terminals[terminal];
    if (t->kind == TKI_TOKEN_END || t->kind == TKI_TOKEN_LINE_END)
        return !strcmp(name, "LINE") || (t->kind == TKI_TOKEN_END && !strcmp(name, "END"));
    if (!strcmp(name, "NUMBER"))
        return t->kind == TKI_TOKEN_NUMBER;
    if (!strcmp(name, "WORD"))
        return t->kind == TKI_TOKEN_WORD;
    if (!strcmp(name, "NAME"))
        return t->kind == TKI_TOKEN_WORD && !tki_word_is_reserved(t->text) && strcmp(t->text, "ERR") != 0;
    return strcmp(name, "LINE") != 0 && strcmp(name, "END") != 0 && !strcmp(t->text, name);
}

static bool begins(const part *p)
{
    for (int i = 0; i < terminal_count; i++)
        if (p->first[i] && is_kind(&tokens[position], i))
            return true;
    return false;
}

static bool take_part(const part *p)
{
    switch (p->kind) {
    case TERMINAL:
        if (!is_kind(&tokens[position], p->which))
            return false;
        if (!strcmp(terminals[p->which], "LINE"))
            while (tokens[position].kind == TKI_TOKEN_LINE_END)
                position++;
        else
            position++;
        return true;
    case RULE: return take_part(&parts[rules[p->which].part]);
    case SEQUENCE:
        for (int i = 0; i < p->count; i++)
            if (!take_part(&parts[p->parts[i]]))
                return false;
        return true;
    case ALTERNATIVES:
        for (int i = 0; i < p->count; i++)
            if (begins(&parts[p->parts[i]]))
                return take_part(&parts[p->parts[i]]);
        return p->nullable;
    case REPEATED:
        while (begins(&parts[p->parts[0]]))
            if (!take_part(&parts[p->parts[0]]))
                return false;
        return true;
    case OPTIONAL: return !begins(&parts[p->parts[0]]) || take_part(&parts[p->parts[0]]);
    }
    return false;
}

typedef struct outcome {
    bool taken;
    int line, column;
    char text[256];
} outcome;

static outcome by_parser(const char *text)
{
    static tki_definition_error error;
    static tki_reading r;
    static outcome result;
    r = (tki_reading){.arena = tki_arena_create(), .error = &error, .locale = newlocale(LC_NUMERIC_MASK, "C", NULL)};
    result = (outcome){.taken = true};
    if (setjmp(r.failed)) {
        result = (outcome){.line = error.position.line, .column = error.position.column};
        strcpy(result.text, said(&error));
    } else {
        tki_parse(&r, text, strlen(text));
    }
    freelocale(r.locale);
    tki_arena_destroy(r.arena);
    return result;
}

/* The same by the grammar: where it fails is the token at which it fails. */
static outcome by_grammar(const char *text)
{
    static tki_definition_error error;
    static tki_reading r;
    r = (tki_reading){.arena = tki_arena_create(), .error = &error, .locale = newlocale(LC_NUMERIC_MASK, "C", NULL)};
    tki_lexer lexer = {&r, text, text + strlen(text), {1, 1}, 0};
    if (setjmp(r.failed))
        fail_msg("%s", said(&error));
    token_count = 0;
    do {
        assert_true(token_count < 4096);
        tki_lexer_next(&lexer, &tokens[token_count]);
    } while (tokens[token_count++].kind != TKI_TOKEN_END);
    freelocale(r.locale);
    tki_arena_destroy(r.arena);
    position = 0;
    while (tokens[position].kind == TKI_TOKEN_LINE_END)
        position++;
    const bool taken = take_part(&parts[rules[rule_of("file")].part]) && tokens[position].kind == TKI_TOKEN_END;
    return (outcome){taken, tokens[position].position.line, tokens[position].position.column, ""};
}

static int compare(const char *text)
{
    const outcome grammar_says = by_grammar(text), parser_says = by_parser(text);
    if (grammar_says.taken != parser_says.taken ||
        (!parser_says.taken && (grammar_says.line != parser_says.line || grammar_says.column != parser_says.column)))
        fail_msg("the grammar %s it (%d:%d), the parser %s it (%d:%d: %s):\n%s",
                 grammar_says.taken ? "takes" : "refuses", grammar_says.line, grammar_says.column,
                 parser_says.taken ? "takes" : "refuses", parser_says.line, parser_says.column, parser_says.text,
                 text);
    return parser_says.taken;
}

/* -- Drawn texts --------------------------------------------------------------------------------------------------------- */

static tki_random draws;
static char words[512][TKI_MOST_TOKEN + 1];
static int word_count;

static int draw(int count)
{
    return (int)tki_random_below(&draws, (uint64_t)count);
}

static void add_word(const char *word)
{
    if (word_count < 512)
        strcpy(words[word_count++], word);
}

static void draw_terminal(int terminal)
{
    static const char *const names[] = {"x", "rows", "n_2", "real", "lower", "f32", "choice", "mean", "sum"};
    static const char *const numbers[] = {"0", "1", "2.5", "1e-6", "0x1p-3"};
    const char *name = terminals[terminal];
    if (!strcmp(name, "NAME") || !strcmp(name, "WORD")) /* the last two are words of the language */
        add_word(names[draw(!strcmp(name, "NAME") ? 7 : 9)]);
    else if (!strcmp(name, "NUMBER"))
        add_word(numbers[draw(5)]);
    else
        add_word(!strcmp(name, "LINE") ? "\n" : name);
}

/* How deep the shallowest text of each part is, so that drawing comes to an end. */
static int depth_of(const part *p, int budget)
{
    if (p->kind == TERMINAL || p->kind == REPEATED || p->kind == OPTIONAL)
        return 0;
    if (budget == 0)
        return 1000;
    if (p->kind == RULE)
        return 1 + depth_of(&parts[rules[p->which].part], budget - 1);
    int result = p->kind == ALTERNATIVES ? 1000 : 0;
    for (int i = 0; i < p->count; i++) {
        const int depth = depth_of(&parts[p->parts[i]], budget - 1);
        if (p->kind == ALTERNATIVES ? depth < result : depth > result)
            result = depth;
    }
    return result;
}

static void draw_part(const part *p, int depth)
{
    int chosen = 0;
    switch (p->kind) {
    case TERMINAL: draw_terminal(p->which); break;
    case RULE: draw_part(&parts[rules[p->which].part], depth - 1); break;
    case SEQUENCE:
        for (int i = 0; i < p->count; i++)
            draw_part(&parts[p->parts[i]], depth);
        break;
    case ALTERNATIVES:
        chosen = draw(p->count);
        for (int i = 0; i < p->count && depth <= 0; i++)
            if (depth_of(&parts[p->parts[i]], 12) < depth_of(&parts[p->parts[chosen]], 12))
                chosen = i;
        draw_part(&parts[p->parts[chosen]], depth);
        break;
    case REPEATED:
    case OPTIONAL:
        for (int i = depth > 0 ? draw(p->kind == OPTIONAL ? 2 : 3) : 0; i > 0; i--)
            draw_part(&parts[p->parts[0]], depth - 1);
        break;
    }
}

static char *join(void)
{
    static char text[512 * (TKI_MOST_TOKEN + 2)];
    size_t length = 0;
    for (int i = 0; i < word_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s ", words[i]);
    text[length] = 0;
    return text;
}

/* One word is left out, doubled, or replaced by another one of the language. */
static void change(void)
{
    static const char *const others[] = {"x",  "1", "0",  "(",  ")",    "[",   "]",   ",", "=",
                                         "==", "-", "op", "if", "else", "and", "sum", "\n"};
    const int i = draw(word_count), kind = draw(3);
    if (kind == 0) {
        memmove(words[i], words[i + 1], (size_t)(word_count - i - 1) * sizeof words[0]);
        word_count--;
    } else if (kind == 1 && word_count < 511) {
        memmove(words[i + 1], words[i], (size_t)(word_count - i) * sizeof words[0]);
        word_count++;
    } else {
        const char *word = draw(2) ? others[draw(17)] : words[draw(word_count)];
        memmove(words[i], word, strlen(word) + 1); /* which may be the same one */
    }
}

TEST(grammar_and_parser_take_the_same)
{
    printf("seed 3\n");
    draws = tki_random_stream(3, 0);
    int taken = 0, refused = 0;
    for (int i = 0; i < effort(4000); i++) {
        word_count = 0;
        draw_part(&parts[rules[rule_of("file")].part], 8 + draw(20));
        if (word_count >= 500)
            continue;
        if (!compare(join()))
            fail_msg("a text of the grammar is refused:\n%s", join());
        taken++;
        for (int changes = draw(3); changes >= 0 && word_count > 1; changes--) {
            change();
            refused += !compare(join());
        }
    }
    assert_true(taken > 1000 && refused > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grammar_is_ll_1),
        cmocka_unit_test(the_grammar_has_the_words_of_the_language),
        cmocka_unit_test(grammar_and_parser_take_the_same),
    };
    read_grammar();
    derive_sets();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
