/* What is printed is what was read: printed again it is the same text, and it has the same tree. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "define/syntax.h"
#include "tests/definition_error.h"
#include "tests/unit_test.h"

/* -- Trees --------------------------------------------------------------------------------------------------------- */

static bool same_list(const tki_syntax *a, const tki_syntax *b);

static bool same_tree(const tki_syntax *a, const tki_syntax *b)
{
    return a->kind == b->kind && a->marked == b->marked && !strcmp(a->text, b->text) && same_list(a->a, b->a) &&
           same_list(a->b, b->b) && same_list(a->c, b->c) && same_list(a->d, b->d);
}

static bool same_list(const tki_syntax *a, const tki_syntax *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (!same_tree(a, b))
            return false;
    return a == b;
}

static tki_syntax *parsed;

/* The tree is in the arena, which the caller destroys. */
static tki_arena *parse(const char *text)
{
    static tki_definition_error error;
    static tki_reading r;
    r = (tki_reading){.arena = tki_arena_create(), .error = &error, .locale = newlocale(LC_NUMERIC_MASK, "C", NULL)};
    if (setjmp(r.failed))
        fail_msg("%d:%d: %s\n%s", error.position.line, error.position.column, said(&error), text);
    parsed = tki_parse(&r, text, strlen(text));
    freelocale(r.locale);
    return r.arena;
}

static const char *print(tki_arena *arena, const tki_syntax *s)
{
    static tki_definition_error error;
    static tki_reading r;
    r = (tki_reading){.arena = arena, .error = &error};
    if (setjmp(r.failed))
        fail_msg("%s", said(&error));
    return tki_print_definition(&r, s);
}

static void check_round(const char *text)
{
    tki_arena *arena = parse(text);
    for (const tki_syntax *s = parsed; s; s = s->next) {
        const tki_syntax *first = s;
        const char *printed = print(arena, first);
        tki_arena *other = parse(printed);
        if (!same_tree(first, parsed) || strcmp(printed, print(other, parsed)) != 0)
            fail_msg("printed and read again it is another one:\n%s", printed);
        assert_null(parsed->next);
        tki_arena_destroy(other);
    }
    tki_arena_destroy(arena);
}

/* -- What is printed ------------------------------------------------------------------------------------------------- */

static void check_printed(const char *text, const char *expected)
{
    tki_arena *arena = parse(text);
    assert_string_equal(print(arena, parsed), expected);
    tki_arena_destroy(arena);
    check_round(text);
}

#define HEAD "op f(x[n]) -> y[n]\n"

TEST(brackets_are_those_that_are_needed)
{
    static const char *const values[][2] = {
        {"((x))", "x"},
        {"(x + 1) + 2", "x + 1 + 2"},
        {"x + (1 + 2)", "x + (1 + 2)"},
        {"x - (1 - 2)", "x - (1 - 2)"},
        {"(x * 2) + 1", "x * 2 + 1"},
        {"x * (2 + 1)", "x * (2 + 1)"},
        {"(x / 2) / 3", "x / 2 / 3"},
        {"x / (2 / 3)", "x / (2 / 3)"},
        {"x * (2 // 3)", "x * (2 // 3)"},
        {"-(x + 1)", "-(x + 1)"},
        {"-(x * 2)", "-(x * 2)"},
        {"(-x) * 2", "-x * 2"},
        {"x * (-2)", "x * -2"},
        {"x - -2", "x - -2"},
        {"--x", "--x"},
        {"exp((x))", "exp(x)"},
        {"max[ n |(n)<3 and n%2==1]( (x) )", "max[n | n < 3 and n % 2 == 1](x)"},
        {"argmax[n ties   lower](x)", "argmax[n ties lower](x)"},
        {"sum[i<3,j<size(n)-1](x[(i)+j else -inf])", "sum[i < 3, j < size(n) - 1](x[i + j else -inf])"},
        {"select(x>0 and x!=2,1E5,0X1P-3)", "select(x > 0 and x != 2, 1e5, 0x1p-3)"},
        {"cast(f16,\n  x)", "cast(f16, x)"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[256], expected[256];
        snprintf(text, sizeof text, HEAD "y=%s", values[i][0]);
        snprintf(expected, sizeof expected, HEAD "    y = %s\n", values[i][1]);
        check_printed(text, expected);
    }
}

TEST(heads_and_lines_are_spaced_alike)
{
    check_printed(
        "op f(x [ n,\n m ] : f32 in(0,1],b[n]if e and g!=p ,i[n]:int in[0,m);\n"
        "a:real in[-1,inf)=-5E-1, e:choice(no,yes)=no,g:choice(p,q)) ->y[n]over x if e==no,z[n]: i32",
        "op f(x[n, m]: f32 in (0, 1], b[n] if e and g != p, i[n]: int in [0, m); a: real in [-1, inf) = -5e-1, "
        "e: choice(no, yes) = no, g: choice(p, q)) -> y[n] over x if e == no, z[n]: i32\n");
    check_printed(HEAD "where a=n//2,a%2==0\nif m==one:y[i,j<2]=x[i]\nspecial x=inf or -inf and w=0:y=0 or nan\n"
                       "gradient of g(a,b by c)\nbound ERR=x\nbound ERR y=x",
                  HEAD "    where a = n // 2, a % 2 == 0\n    if m == one: y[i, j < 2] = x[i]\n"
                       "    special x = inf or -inf and w = 0: y = 0 or nan\n    gradient of g(a, b by c)\n"
                       "    bound ERR = x\n    bound ERR y = x\n");
}

TEST(comments_and_blank_lines_leave_nothing)
{
    check_printed("# a\n\n" HEAD "\n\n  # b\n\ty = x # c\r\n\n", HEAD "    y = x\n");
    check_printed(HEAD "  y = (x # inside\n\n + 1)", HEAD "    y = x + 1\n");
}

/* -- Drawn texts --------------------------------------------------------------------------------------------------------- */

static tki_random draws;

static uint64_t draw(uint64_t count)
{
    return tki_random_below(&draws, count);
}

static const char *one_of(const char *const list[], size_t count)
{
    return list[draw(count)];
}
#define ONE_OF(...) \
    one_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void draw_value(FILE *out, int depth);

static void draw_list(FILE *out, int depth, int count)
{
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        draw_value(out, depth);
    }
}

static void draw_tests(FILE *out, int depth)
{
    for (uint64_t i = 0, count = 1 + draw(2); i < count; i++) {
        fputs(i ? " and " : "", out);
        draw_value(out, depth);
        fputs(ONE_OF("==", "!=", "<", "<=", ">", ">="), out);
        draw_value(out, depth);
    }
}

static void draw_over(FILE *out, int depth)
{
    fprintf(out, "%s[i", ONE_OF("sum", "mean", "max", "min", "prod", "softmax", "cumsum", "topk", "standardize"));
    if (draw(2)) {
        fputs("<", out);
        draw_value(out, depth);
    }
    fputs(draw(2) ? ",j" : "", out);
    if (draw(2)) {
        fputs("|", out);
        draw_tests(out, depth);
    }
    fputs(draw(4) ? "](" : " ties lower](", out);
    draw_list(out, depth, 1 + (int)draw(2));
    fputs(")", out);
}

static void draw_leaf(FILE *out)
{
    fputs(ONE_OF("x", "inf", "1", "0.5", "2e3", "0x1p-24", "size(n)", "alpha"), out);
}

static void draw_value(FILE *out, int depth)
{
    const uint64_t kind = depth > 0 ? draw(9) : 8;
    switch (kind) {
    case 0:
    case 1:
        draw_value(out, depth - 1);
        fputs(ONE_OF("+", "-", "*", "/", "//", "%"), out);
        draw_value(out, depth - 1);
        break;
    case 2:
        fputs("(", out);
        draw_value(out, depth - 1);
        fputs(")", out);
        break;
    case 3:
        fputs("-", out);
        draw_value(out, depth - 1);
        break;
    case 4:
        fprintf(out, "%s(", ONE_OF("exp", "max", "fma", "relu", "pieces", "philox", "gelu", "cast(f16,1)+exp"));
        draw_list(out, depth - 1, 1 + (int)draw(3));
        fputs(")", out);
        break;
    case 5: draw_over(out, depth - 1); break;
    case 6:
        fputs("select(", out);
        draw_tests(out, depth - 1);
        fputs(",", out);
        draw_list(out, depth - 1, 2);
        fputs(")", out);
        break;
    case 7:
        fputs("x[", out);
        draw_list(out, depth - 1, 1 + (int)draw(3));
        if (draw(2)) {
            fputs(" else ", out);
            draw_value(out, depth - 1);
        }
        fputs("]", out);
        break;
    default: draw_leaf(out); break;
    }
}

TEST(drawn_values_keep_their_trees)
{
    printf("seed 1\n");
    draws = tki_random_stream(1, 0);
    for (int i = 0; i < effort(3000); i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        fputs(HEAD "y=", out);
        draw_value(out, 1 + (int)draw(6));
        assert_int_equal(fclose(out), 0);
        check_round(text);
        free(text);
    }
}

/* -- Ours ---------------------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *text = calloc(1, TKI_MOST_TEXT + 1);
    assert_true(in && text);
    *size = fread(text, 1, TKI_MOST_TEXT, in);
    fclose(in);
    return text;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

TEST(our_definitions_are_read_and_printed)
{
    struct dirent **entries;
    const char *source = getenv("SOURCE_DIR");
    char folder[4096], path[4096 + 300];
    snprintf(folder, sizeof folder, "%s/src/ops/definitions", source ? source : ".");
    const int count = scandir(folder, &entries, not_hidden, alphasort);
    assert_true(count >= 15);
    for (int i = 0; i < count; i++) {
        tki_definitions made, again;
        tki_definition_error error;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        char *text = read_file(path, &size);
        check_round(text);
        if (tki_definitions_read(text, size, &made, &error) != TK_OK)
            fail_msg("%s:%d:%d: %s", path, error.position.line, error.position.column, said(&error));
        for (int k = 0; k < made.count; k++) {
            assert_int_equal(tki_definitions_read(made.list[k].text, strlen(made.list[k].text), &again, &error),
                             TK_OK);
            assert_string_equal(again.list[0].text, made.list[k].text);
            tki_definitions_free(&again);
        }
        tki_definitions_free(&made);
        free(text);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_are_those_that_are_needed),     cmocka_unit_test(heads_and_lines_are_spaced_alike),
        cmocka_unit_test(comments_and_blank_lines_leave_nothing), cmocka_unit_test(drawn_values_keep_their_trees),
        cmocka_unit_test(our_definitions_are_read_and_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
