/* Definitions that are drawn: a text made of forms that have others in them, with every construct of the language. */
#ifndef TKI_TESTS_DRAWING_H
#define TKI_TESTS_DRAWING_H

#include <stdio.h>

#include "tests/interpret/instance.h"

enum { MOST_LINES = 4, MOST_REDUCTIONS = 3 };

/* Forms, and how often each was drawn. `@` stands for an expression; behind a bracket it is over r and c. */
enum { MOST_FORMS = 64 };
typedef struct forms {
    const char *const *texts;
    size_t count;
    int drawn[MOST_FORMS];
} forms;
#define FORMS(name, ...)                                     \
    static const char *const name##_texts[] = {__VA_ARGS__}; \
    static forms name = {.texts = name##_texts, .count = sizeof name##_texts / sizeof *name##_texts}

/* What a line is over: its name begins with a letter that says so. */
typedef enum breadth { NARROW, WIDE } breadth; /* r; r and c */

/* A text that grows. */
typedef struct drawing {
    char text[1 << 14];
    size_t length;
    int lines, reductions;
    breadth of[MOST_LINES];
    bool integer[MOST_LINES]; /* an index below size(c) */
} drawing;

FORMS(unary, "exp(0.1 * @)", "exp(@)", "tanh(@)", "sigmoid(@)", "silu(@)", "gelu(@)", "gelu_tanh(@)", "softplus(@)",
      "mish(@)", "erf(@)", "normal_cdf(@)", "log_sigmoid(@)", "one_minus_sigmoid(@)", "abs(@)", "square(@)",
      "sqrt(abs(@))", "rsqrt(square(@) + 0.5)", "log(square(@) + 1)", "log(abs(@) + 0.001)", "log1p(square(@))",
      "expm1(0.1 * @)", "pow(@, 2)", "pow(@, 3)", "pow(@, 5)", "pow(abs(@) + 0.25, 0.7)", "pow(abs(@) + 0.25, -1.5)",
      "relu(@)", "clamp(@, -1, 2)", "exp2(0.1 * @)", "cast(f16, tanh(@))", "cast(bf16, @)", "cast(f32, @)",
      "cast(e4m3, @)", "cast(e5m2, @)", "(p * @)", "(@ / size(c))", "(@ - 0.5 * r)", "(@ * sqrt(size(r) + 0.5))",
      "(-@)");
FORMS(binary, "(@ + @)", "(@ - @)", "(@ * @)", "(@ / (abs(@) + 1))", "(@ / @)", "min(@, @)", "max(@, @)",
      "fma(@, @, @)", "select(@ < @, @, @)", "select(@ <= 0 and @ != 1, @, @)", "select(@ == @, @, @)",
      "select(philox(7, 3 * r + 1) % 2 == 0, @, @)", "select(r < n, @, @)", "pow(abs(@) + 0.5, clamp(@, -2, 2))",
      "(0.5 * @ + @)", "(@ + g * @)");
FORMS(collapsing, "sum[c < size(c)](@)", "sum[c < size(c)](@ * @)", "(@ + sum[c < size(c)](@ * @))",
      "(v - sum[c < size(c)](@))", "mean[c < size(c)](@)", "mean[c < size(c)](@ * @)", "max[c < size(c)](@)",
      "min[c < size(c)](@)", "prod[c < size(c)](@)", "var[c < size(c)](@)", "var[c < size(c) | c != 1](@, 1)",
      "log_sum_exp[c < size(c)](@)", "log_sum_exp[c < size(c) | c >= r](@)", "sum[c < size(c) | c > r](@)",
      "sum[c < size(c) | c == r](@)", "sum[c < size(c) | i[r] == c](@)", "sum[c < size(c) | j[c] == r](@)",
      "sum[c < size(c) | 2 * c - 1 == r](@ * @)", "sum[c < size(c) | r <= c and c < r + n](@ * @)",
      "max[c < size(c) | c + 1 == r](@)", "min[c < size(c) | c % 2 == 0](@)",
      "mean[c < size(c) | c + r < 4 and c != 2](@)", "prod[c < size(c) | c <= r](0.5 * @)",
      "sum[r < size(r), c < size(c)](@)", "mean[r < size(r), c < size(c) | r + c != 2](@)");
FORMS(keeping, "softmax[c < size(c)](@)", "softmax[c < size(c) | c >= r](@)", "softmax[r < size(r), c < size(c)](@)",
      "log_softmax[c < size(c)](@)", "log_softmax[c < size(c) | c != r](@)", "standardize[c < size(c)](@, 1e-3)",
      "(standardize[c < size(c)](@, p * p + 1e-5) * w + @)", "standardize[r < size(r), c < size(c) | c != 1](@, 0.1)",
      "cumsum[c < size(c)](@)", "cumsum[r < size(r)](@ * @)", "cumsum[c < size(c) | c != 1](@)",
      "cummax[c < size(c)](@)", "cummin[r < size(r)](@)", "cumprod[c < size(c)](0.5 * @)",
      "cumprod[c < size(c) | c > 0](@)", "rotate_half[c < size(c)](@)", "sum[r < size(r)](@)",
      "max[r < size(r) | r != c](@)", "sum[k < 3](x[r, c + k - 1 else 0] * w[2 * k else 0.5])",
      "max[k < 2](x[r, 2 * c + k else -inf])", "sum[k < n](@ * z[r, (c + k) % size(c)])",
      "mean[k < 2](x[k, c - 1 else 0.3])");
/* What has no expression in it; those of NARROW first. */
FORMS(atoms, "v", "p", "0.1", "2", "r", "g", "x[r, 0]", "x[r, i[r]]", "v[(r + 1) % size(r)]",
      "w[min(r, size(c) - 1)]", "x", "z", "w", "h", "(x + b)", "(b * z)", "x[r, c - 1 else 0]",
      "x[r + 1, 2 * c else 1]", "x[r, (c + n) % size(c)]", "z[(r * 2 + c) % size(r), c // 2]", "z[j[c], c]",
      "w[i[r]]", "c");
enum { NARROW_ATOMS = 10 };

static inline void add(drawing *to, const char *text)
{
    const size_t length = strlen(text);
    assert_true(to->length + length < sizeof to->text);
    memcpy(to->text + to->length, text, length + 1);
    to->length += length;
}

static inline const char *digit(int i)
{
    return (const char *const[]){"0", "1", "2", "3"}[i];
}

static inline const char *draw_form(forms *of, size_t count)
{
    const uint64_t which = below(count);
    of->drawn[which]++;
    return of->texts[which];
}

static inline void draw_atom(drawing *to, breadth over)
{
    const int line = (int)below(MOST_LINES);
    if (line >= to->lines || (over == NARROW && to->of[line] == WIDE)) {
        add(to, draw_form(&atoms, over == WIDE ? atoms.count : NARROW_ATOMS));
        return;
    }
    add(to, to->integer[line] ? "x[r, a" : "a");
    add(to, digit(line));
    if (to->integer[line])
        add(to, "[r]]");
}

static inline void draw_expression(drawing *to, breadth over, int depth)
{
    const uint64_t kind = below(10);
    const char *text;
    if (depth == 0 || kind < 2) {
        draw_atom(to, over);
        return;
    }
    if (kind < 5 && to->reductions < MOST_REDUCTIONS) {
        to->reductions++;
        text = over == WIDE && below(2) ? draw_form(&keeping, keeping.count)
                                        : draw_form(&collapsing, collapsing.count);
    } else {
        text = kind < 7 ? draw_form(&unary, unary.count) : draw_form(&binary, binary.count);
    }
    for (; *text; text++) {
        over = *text == '[' ? WIDE : over;
        if (*text == '@')
            draw_expression(to, over, depth - 1);
        else
            add(to, (const char[]){*text, 0});
    }
}

FORMS(integers, "argmax[c < size(c)](@)", "argmin[c < size(c) ties lower](@)", "topk[c < size(c)](@, size(c) // 2)",
      "(3 * r + i[r]) % size(c)", "max(i[r] - r, philox(n, r) % size(c))");

static inline void draw_line(drawing *to)
{
    const int line = to->lines;
    const uint64_t kind = below(8);
    to->integer[line] = kind == 0;
    to->of[line] = kind < 3 ? NARROW : WIDE;
    const int alternatives = kind == 4 ? 2 : 1;
    for (int i = 0; i < alternatives; i++) {
        add(to, alternatives == 1 ? "    a" : i ? "    if mode == mean: a" : "    if mode == sum: a");
        add(to, digit(line));
        if (i == 0) /* the lines of a tensor have the same axes */
            add(to, to->of[line] == WIDE ? "[r < size(r), c < size(c)] = " : "[r < size(r)] = ");
        else
            add(to, to->of[line] == WIDE ? "[r, c] = " : "[r] = ");
        if (alternatives > 1) /* none holds integers */
            add(to, "0.5 * ");
        if (!to->integer[line]) {
            draw_expression(to, to->of[line], 3);
        } else {
            for (const char *text = draw_form(&integers, integers.count); *text; text++)
                if (*text == '@')
                    draw_expression(to, WIDE, 1);
                else
                    add(to, (const char[]){*text, 0});
        }
        add(to, "\n");
    }
    to->lines++;
}

/* Outputs beside y[r, c], with the line that gives them a value; `@` stands for an expression over r. */
static const struct {
    const char *head, *lines;
} further[] = {
    {"", ""},
    {", s[r]: f32", "    s[r] = @\n"},
    {", s[l]", "    where l = r * c\n    s[t] = x[t // size(c), t % size(c)] - z[t // size(c), t % size(c)] * w[t % "
               "size(c)]\n"},
    {", s[l]", "    where l = r + c\n    s[t] = pieces(v[t], w[t - size(v)])\n"},
    {", s[r], s2[c] if bias", "    s[r] = @\n    s2[c] = b * w[c] - sum[r < size(r)](x)\n"},
};

static inline void draw_definition(drawing *to)
{
    const size_t which = below(sizeof further / sizeof *further);
    *to = (drawing){.length = 0};
    add(to, "op a(x[r, c], z[r, c], w[c], v[r], h[r, c]: f16, g[r]: bf16, b[c] if bias, i[r]: int in [0, c), j[c]: "
            "int in "
            "[0, r); p: real in [-4, 4] = 0.3, n: int in [1, 3] = 2, bias: choice(no, yes) = yes, mode: choice(sum, "
            "mean)) -> y[r, c]");
    add(to, further[which].head);
    add(to, "\n");
    for (int lines = (int)below(MOST_LINES + 1); lines > 0; lines--)
        draw_line(to);
    add(to, "    y[r, c] = ");
    draw_expression(to, WIDE, 3);
    add(to, "\n");
    for (const char *text = further[which].lines; *text; text++)
        if (*text == '@')
            draw_expression(to, NARROW, 2);
        else
            add(to, (const char[]){*text, 0});
}

/* Each form is among 500 definitions. */
static inline void check_drawn(int definitions)
{
    forms *const all[] = {&unary, &binary, &collapsing, &keeping, &atoms, &integers};
    size_t count = 0;
    int least = INT32_MAX;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        count += all[i]->count;
        for (size_t k = 0; k < all[i]->count; k++) {
            least = all[i]->drawn[k] < least ? all[i]->drawn[k] : least;
            if (definitions >= 500 && all[i]->drawn[k] == 0)
                fail_msg("%s is never drawn", all[i]->texts[k]);
        }
    }
    printf("%d definitions of %zu forms, each drawn %d times or more\n", definitions, count, least);
}

#endif
