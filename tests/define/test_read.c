/* What parser and checker refuse: each text with the line and the column, and all that is said. */
#include <stdio.h>
#include <string.h>

#include "define/definition.h"
#include "tests/definition_error.h"
#include "tests/unit_test.h"

#define HEAD "op f(x[n]) -> y[n]\n"
#define WIDE                                                                                                 \
    "op f(x[r, c], w[c]; a: real = 1, k: int = 2, m: choice(no, yes) = yes, mode: choice(one, two, three)) " \
    "-> y[r, c]\n"

/* clang-format off */ /* one row below the other */
static const struct {
    const char *text;
    int line, column;
    const char *message;
} wrong[] = {
    {"", 1, 1, "expected op, but there is the end of the text"},
    {"\n\n", 3, 1, "expected op, but there is the end of the text"},
    {"# only a comment", 1, 17, "expected op, but there is the end of the text"},
    {"x", 1, 1, "expected op, but there is x"},
    {"op", 1, 3, "expected the name of the op, but there is the end of the text"},
    {"op F(x[n]) -> y[n]", 1, 4, "F is no name: lower-case letters, digits and _, a letter first, 63 bytes at most"},
    {"op f", 1, 5, "expected ( and the inputs, but there is the end of the text"},
    {"op f(", 1, 6, "expected the name of an input, but there is the end of the text"},
    {"op f()", 1, 6, "expected the name of an input, but there is )"},
    {"op f(x", 1, 7, "expected [ and the axes, but there is the end of the text"},
    {"op f(x)", 1, 7, "expected [ and the axes, but there is )"},
    {"op f(x[", 1, 8, "expected the name of an axis, but there is the end of the text"},
    {"op f(x[])", 1, 8, "expected the name of an axis, but there is ]"},
    {"op f(x[n", 1, 9, "expected a comma or ], but there is the end of the text"},
    {"op f(x[n]", 1, 10, "expected a comma, ; or ), but there is the end of the text"},
    {"op f(x[n],", 1, 11, "expected the name of an input, but there is the end of the text"},
    {"op f(x[n];", 1, 11, "expected the name of an attribute, but there is the end of the text"},
    {"op f(x[n]; a", 1, 13, "expected : and the attribute's type, but there is the end of the text"},
    {"op f(x[n]; a:", 1, 14, "expected real, int or choice, but there is the end of the text"},
    {"op f(x[n]; a: float)", 1, 15, "expected real, int or choice, but there is float"},
    {"op f(x[n]; a: choice", 1, 21, "expected ( and the choices, but there is the end of the text"},
    {"op f(x[n]; a: choice()", 1, 22, "expected the name of a choice, but there is )"},
    {"op f(x[n]; a: choice(b", 1, 23, "expected a comma or ), but there is the end of the text"},
    {"op f(x[n]; a: real = b)", 1, 22, "expected a number, but there is b"},
    {"op f(x[n]; a: real = -", 1, 23, "expected a number, but there is the end of the text"},
    {"op f(x[n]; a: real in 3", 1, 23, "expected a range: [ or (, but there is 3"},
    {"op f(x[n]; a: real in [3", 1, 25, "expected a comma, but there is the end of the text"},
    {"op f(x[n]; a: real in [3, 4", 1, 28, "expected ] or ), but there is the end of the text"},
    {"op f(x[n]; a: real in [3, +)", 1, 27, "expected a number, inf or the name of a size, but there is +"},
    {"op f(x[n]; a: choice(b, c) = 1)", 1, 30, "expected the name of a choice, but there is 1"},
    {"op f(x[n]; a: int = 1 in [0, 2])", 1, 23, "expected a comma or ), but there is in"},
    {"op f(x[n])", 1, 11, "expected ->, but there is the end of the text"},
    {"op f(x[n]) ->", 1, 14, "expected the name of an output, but there is the end of the text"},
    {"op f(x[n]) -> y", 1, 16, "expected [ and the axes, but there is the end of the text"},
    {"op f(x[n]) -> y[n] z", 1, 20, "expected a comma or the end of the line, but there is z"},
    {"op f(x[n]: ) -> y[n]", 1, 12, "expected a type, but there is )"},
    {"op f(x[n]) -> y[n] over", 1, 24, "expected the name of an input, but there is the end of the text"},
    {"op f(x[n] if) -> y[n]", 1, 13, "expected the name of an attribute, but there is )"},
    {"op f(x[n] if a ==) -> y[n]", 1, 18, "expected the name of a choice, but there is )"},
    {"op f(x[n] in 0, 1) -> y[n]", 1, 14, "expected a range: [ or (, but there is 0"},
    {"op f(exp[n]) -> y[n]", 1, 6, "expected the name of an input, but exp is a word of the language"},
    {"op f(X[n]) -> y[n]", 1, 6, "X is no name: lower-case letters, digits and _, a letter first, 31 bytes at most"},
    {"op f(x_[n], _x[n]) -> y[n]", 1, 13, "_x is no name: lower-case letters, digits and _, a letter first, 31 bytes at most"},
    {"op f(a2345678901234567890123456789012[n]) -> y[n]", 1, 6, "a2345678901234567890123456789012 is no name: lower-case letters, digits and _, a letter first, 31 bytes at most"},
    {"op f(x[n]) -> y[n] op g(x[n]) -> y[n]", 1, 20, "expected a comma or the end of the line, but there is op"},
    {HEAD "    y\n", 2, 6, "expected [ or =, but there is the end of the line"},
    {HEAD "    y =\n", 2, 8, "expected a value: a number, a name, a function or (, but there is the end of the line"},
    {HEAD "    y = \n", 2, 9, "expected a value: a number, a name, a function or (, but there is the end of the line"},
    {HEAD "    y == x\n", 2, 7, "expected [ or =, but there is =="},
    {HEAD "    y = x x\n", 2, 11, "expected an operator or the end of the line, but there is x"},
    {HEAD "    y = x +\n", 2, 12, "expected a value: a number, a name, a function or (, but there is the end of the line"},
    {HEAD "    y = + x\n", 2, 9, "expected a value: a number, a name, a function or (, but there is +"},
    {HEAD "    y = (x\n", 3, 1, "expected an operator or ), but there is the end of the text"},
    {HEAD "    y = x)\n", 2, 10, "expected an operator or the end of the line, but there is )"},
    {HEAD "    y = (x]\n", 2, 11, "expected an operator or ), but there is ]"},
    {HEAD "    y = x[n\n", 3, 1, "expected an operator, a comma, else or ], but there is the end of the text"},
    {HEAD "    y = x[]\n", 2, 11, "expected a value: a number, a name, a function or (, but there is ]"},
    {HEAD "    y = x[n else]\n", 2, 17, "expected a value: a number, a name, a function or (, but there is ]"},
    {HEAD "    y = x[else 0]\n", 2, 11, "expected a value: a number, a name, a function or (, but else is a word of the language"},
    {HEAD "    y = x[n else 0, n]\n", 2, 19, "expected an operator or ], but there is ,"},
    {HEAD "    y = exp\n", 2, 12, "expected (, but there is the end of the line"},
    {HEAD "    y = exp x\n", 2, 13, "expected (, but there is x"},
    {HEAD "    y = exp()\n", 2, 13, "expected a value: a number, a name, a function or (, but there is )"},
    {HEAD "    y = exp(x\n", 3, 1, "expected an operator, a comma or ), but there is the end of the text"},
    {HEAD "    y = max\n", 2, 12, "expected ( or [, but there is the end of the line"},
    {HEAD "    y = max x\n", 2, 13, "expected ( or [, but there is x"},
    {HEAD "    y = sum(x)\n", 2, 12, "expected [ and the axes, but there is ("},
    {HEAD "    y = sum[](x)\n", 2, 13, "expected the name of an index, but there is ]"},
    {HEAD "    y = sum[n\n", 3, 1, "expected , | ties lower or ], but there is the end of the text"},
    {HEAD "    y = sum[n](x\n", 3, 1, "expected an operator, a comma or ), but there is the end of the text"},
    {HEAD "    y = sum[n]\n", 2, 15, "expected ( and what is reduced, but there is the end of the line"},
    {HEAD "    y = sum[n | ](x)\n", 2, 17, "expected a value: a number, a name, a function or (, but there is ]"},
    {HEAD "    y = sum[n | n](x)\n", 2, 18, "expected a relation: == != < <= > >=, but there is ]"},
    {HEAD "    y = sum[n | n = 1](x)\n", 2, 19, "expected a relation: == != < <= > >=, but there is ="},
    {HEAD "    y = sum[n | n < 1 or n > 2](x)\n", 2, 23, "expected an operator, a relation, and, ties lower or ], but there is or"},
    {HEAD "    y = sum[2](x)\n", 2, 13, "expected the name of an index, but there is 2"},
    {HEAD "    y = sum[n <](x)\n", 2, 16, "expected a value: a number, a name, a function or (, but there is ]"},
    {HEAD "    y = argmax[n ties](x)\n", 2, 22, "expected lower, but there is ]"},
    {HEAD "    y = argmax[n ties upper](x)\n", 2, 23, "expected lower, but there is upper"},
    {HEAD "    y = argmax[n ties lower, m](x)\n", 2, 28, "expected ], but there is ,"},
    {HEAD "    y = select(x, 1, 2)\n", 2, 17, "expected a relation: == != < <= > >=, but there is ,"},
    {HEAD "    y = select(x > 0)\n", 2, 21, "expected an operator, and, or a comma, but there is )"},
    {HEAD "    y = select(x > 0, 1)\n", 2, 24, "expected an operator or a comma, but there is )"},
    {HEAD "    y = select(x > 0, 1, 2, 3)\n", 2, 27, "expected an operator or ), but there is ,"},
    {HEAD "    y = select(x > 0 and, 1, 2)\n", 2, 25, "expected a value: a number, a name, a function or (, but there is ,"},
    {HEAD "    y = cast(x)\n", 2, 15, "expected a comma, but there is )"},
    {HEAD "    y = cast(3, x)\n", 2, 14, "expected a format, but there is 3"},
    {HEAD "    y = cast(f16 x)\n", 2, 18, "expected a comma, but there is x"},
    {HEAD "    y = size(3)\n", 2, 14, "expected the name of a size, or of a tensor with one axis, but there is 3"},
    {HEAD "    y = size(n\n", 3, 1, "expected ), but there is the end of the text"},
    {HEAD "    y = size(sum)\n", 2, 14, "expected the name of a size, or of a tensor with one axis, but sum is a word of the language"},
    {HEAD "    y = if\n", 2, 9, "expected a value: a number, a name, a function or (, but if is a word of the language"},
    {HEAD "    y = nan\n", 2, 9, "expected a value: a number, a name, a function or (, but nan is a word of the language"},
    {HEAD "    y = where\n", 2, 9, "expected a value: a number, a name, a function or (, but where is a word of the language"},
    {HEAD "    y = 1 < 2\n", 2, 11, "expected an operator or the end of the line, but there is <"},
    {HEAD "    y = x ! 2\n", 2, 11, "the language has no character !"},
    {HEAD "    y = x $ 2\n", 2, 11, "the language has no character $"},
    {HEAD "    y = x \x01 2\n", 2, 11, "the language has no byte 0x01"},
    {HEAD "    y = x & 2\n", 2, 11, "the language has no character &"},
    {HEAD "    y[ = x\n", 2, 8, "expected the name of an index, but there is ="},
    {HEAD "    y[n = x\n", 2, 9, "expected a comma or ], but there is ="},
    {HEAD "    y[1] = x\n", 2, 7, "expected the name of an index, but there is 1"},
    {HEAD "    [n] = x\n", 2, 5, "expected a line: a name, if, where, special, gradient, bound, or the next op, but there is ["},
    {HEAD "    3 = x\n", 2, 5, "expected a line: a name, if, where, special, gradient, bound, or the next op, but there is 3"},
    {HEAD "    if y = x\n", 2, 10, "expected == != and, or :, but there is ="},
    {HEAD "    if m: \n", 2, 11, "expected a name, but there is the end of the line"},
    {HEAD "    if m y = x\n", 2, 10, "expected == != and, or :, but there is y"},
    {HEAD "    if 3: y = x\n", 2, 8, "expected the name of an attribute, but there is 3"},
    {HEAD "    where\n", 2, 10, "expected a value: a number, a name, a function or (, but there is the end of the line"},
    {HEAD "    where q\n", 2, 12, "expected = or a relation: == != < <= > >=, but there is the end of the line"},
    {HEAD "    where q = \n", 2, 15, "expected a value: a number, a name, a function or (, but there is the end of the line"},
    {HEAD "    where q = 1 2\n", 2, 17, "expected an operator, a comma or the end of the line, but there is 2"},
    {HEAD "    where q + 1 <\n", 2, 18, "expected a value: a number, a name, a function or (, but there is the end of the line"},
    {HEAD "    special\n", 2, 12, "expected the name of a tensor, but there is the end of the line"},
    {HEAD "    special x\n", 2, 14, "expected =, but there is the end of the line"},
    {HEAD "    special x =\n", 2, 16, "expected nan, inf, -inf or 0, but there is the end of the line"},
    {HEAD "    special x = 1\n", 2, 17, "expected nan, inf, -inf or 0, but there is 1"},
    {HEAD "    special x = inf\n", 2, 20, "expected or, and, or :, but there is the end of the line"},
    {HEAD "    special x = - nan: y = 0\n", 2, 19, "expected inf, but there is nan"},
    {HEAD "    special x = inf: y\n", 2, 23, "expected =, but there is the end of the line"},
    {HEAD "    special x = inf or: y = 0\n", 2, 23, "expected nan, inf, -inf or 0, but there is :"},
    {HEAD "    gradient f(y by x)\n", 2, 14, "expected of, but there is f"},
    {HEAD "    gradient of (y by x)\n", 2, 17, "expected the name of an op, but there is ("},
    {HEAD "    gradient of f y by x\n", 2, 19, "expected (, but there is y"},
    {HEAD "    gradient of f(y)\n", 2, 20, "expected a comma or by, but there is )"},
    {HEAD "    gradient of f(y by x\n", 3, 1, "expected a comma or ), but there is the end of the text"},
    {HEAD "    bound = x\n", 2, 11, "expected ERR, but there is ="},
    {HEAD "    bound ERR\n", 2, 14, "expected = or the name of an output, but there is the end of the line"},
    {HEAD "    bound ERR 3 = x\n", 2, 15, "expected = or the name of an output, but there is 3"},
    {HEAD "    bound NAN = x\n", 2, 11, "expected ERR, but there is NAN"},
    {HEAD "    y = 1.\n", 2, 11, "expected a digit of the number that begins with 1."},
    {HEAD "    y = 1.e5\n", 2, 11, "expected a digit of the number that begins with 1."},
    {HEAD "    y = 1e\n", 2, 11, "expected a digit of the number that begins with 1e"},
    {HEAD "    y = 1e+\n", 2, 12, "expected a digit of the number that begins with 1e+"},
    {HEAD "    y = 1x\n", 2, 10, "expected a sign or a space behind the number 1"},
    {HEAD "    y = 0x\n", 2, 11, "expected a digit of the number that begins with 0x"},
    {HEAD "    y = 0x1\n", 2, 12, "expected p and an exponent behind the hexadecimal number 0x1"},
    {HEAD "    y = 0x1p\n", 2, 13, "expected a digit of the number that begins with 0x1p"},
    {HEAD "    y = 0x1.p3\n", 2, 13, "expected a digit of the number that begins with 0x1."},
    {HEAD "    y = 0xg\n", 2, 11, "expected a digit of the number that begins with 0x"},
    {HEAD "    y = .5\n", 2, 9, "the language has no character ."},
    {HEAD "    y = 1e400\n", 2, 9, "1e400 is too large: a number is below 2^1024"},
    {HEAD "    y = 1e-320\n", 2, 9, "1e-320 is too small: a number is 0 or at least 2^-1022"},
    {HEAD "    y = 0x1.23456789abcdefp0\n", 2, 9, "0x1.23456789abcdefp0 has more than 13 hexadecimal digits"},
    {HEAD "    y = 10000000000000000000000000000000000000000000000000000000000000000000000\n", 2, 9, "the number is longer than 63 bytes"},
    {HEAD " y = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 2, 6, "the name is longer than 63 bytes"},
    {HEAD " y = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))", 2, 134, "more than 128 brackets and signs are nested"},
    {HEAD " y = ----------------------------------------------------------------------------------------------------------------------------------x", 2, 134, "more than 128 brackets and signs are nested"},
    {HEAD "    y = x\x0d + 1\n", 2, 10, "the language has no byte 0x0d"},
    {HEAD " y = \xff", 2, 6, "the language has no byte 0xff"},
    {"op f(x[n], x[n]) -> y[n]", 1, 12, "x is the name of a tensor already"},
    {"op f(x[n], n[n]) -> y[n]", 1, 12, "n is the name of a size already"},
    {"op f(x[n]; x: real) -> y[n]", 1, 6, "x is the name of an attribute already"},
    {"op f(x[n]; n: real) -> y[n]", 1, 12, "n is the name of a size already"},
    {"op f(x[n]; a: real, a: int) -> y[n]", 1, 21, "a is the name of an attribute already"},
    {"op f(x[n]) -> x[n]", 1, 15, "x is the name of a tensor already"},
    {"op f(x[n]) -> y[n], y[n]", 1, 21, "y is the name of a tensor already"},
    {"op f(x[n]) -> n[n]", 1, 15, "n is the name of a size already"},
    {"op f(x[n]) -> y[m]", 1, 17, "the size m follows from no input: write where m = and what it is"},
    {"op f(x[n]) -> y[n]", 1, 15, "no line gives the output y a value"},
    {"op f(x[n]: f64) -> y[n]", 1, 12, "f64 is no type: f16, bf16, f32, e4m3, e5m2, int, i32, i64, u8 or bool"},
    {"op f(x[n]: real) -> y[n]", 1, 12, "real is no type: f16, bf16, f32, e4m3, e5m2, int, i32, i64, u8 or bool"},
    {"op f(x[n]: int in [1, n)) -> y[n]", 1, 19, "the range of an int is [0, SIZE)"},
    {"op f(x[n]: int in [0, n]) -> y[n]", 1, 19, "the range of an int is [0, SIZE)"},
    {"op f(x[n]: int in [0, 5)) -> y[n]", 1, 19, "the range of an int is [0, SIZE)"},
    {"op f(x[n]: i32 in [0, n)) -> y[n]", 1, 19, "only tensors of the type int have a range of integers"},
    {"op f(x[n] in (0, inf)) -> y[n]", 1, 14, "the ends of a tensor's range are finite"},
    {"op f(x[n] in (1, 0)) -> y[n]", 1, 14, "the range is empty, or one number"},
    {"op f(x[n] in (0, n)) -> y[n]", 1, 18, "expected a number, but there is n"},
    {"op f(x[a, b, c, d, e, g, h, i, j]) -> y[a]", 1, 32, "x has more than 8 axes"},
    {"op f(x[n]; domain: choice(all, normal)) -> y[n]", 1, 12, "no attribute of a definition is named domain: the judge has one of that name"},
    {"op f(x[n]; a: choice(b, b)) -> y[n]", 1, 25, "a has the choice b twice"},
    {"op f(x[n]; a: choice(b, c) = d) -> y[n]", 1, 30, "a has no choice d"},
    {"op f(x[n]; a: int = 1.5) -> y[n]", 1, 21, "expected an integer below 2^63, but there is 1.5"},
    {"op f(x[n]; a: int = 9223372036854775808) -> y[n]", 1, 21, "expected an integer below 2^63, but there is 9223372036854775808"},
    {"op f(x[n]; a: int in [0, 3] = 4) -> y[n]", 1, 31, "the default of a is outside its range"},
    {"op f(x[n]; a: int in (0, 1)) -> y[n]", 1, 22, "the range of a is empty"},
    {"op f(x[n]; a: real in [1, 0]) -> y[n]", 1, 23, "the range is empty"},
    {"op f(x[n]; a: real in [0, 1) = 1) -> y[n]", 1, 32, "the default of a is outside its range"},
    {"op f(x[n]; a: real in [n, 1]) -> y[n]", 1, 24, "expected a number, but there is n"},
    {"op f(x[n]; a: int in [n, 1]) -> y[n]", 1, 23, "expected an integer, but there is n"},
    {"op f(x[n], b[n] if a) -> y[n]", 1, 20, "a condition is about an attribute that is a choice, and a is none"},
    {"op f(x[n], b[n] if a; a: real) -> y[n]", 1, 20, "a condition is about an attribute that is a choice, and a is none"},
    {"op f(x[n], b[n] if a; a: choice(p, q)) -> y[n]", 1, 20, "a has no choice yes: write == and one of its choices"},
    {"op f(x[n], b[n] if a == r; a: choice(p, q)) -> y[n]", 1, 25, "a has no choice r"},
    {"op f(x[n], b[n] if a == p and a == q; a: choice(p, q)) -> y[n]", 1, 31, "the condition holds in no case"},
    {"op f(x[n], b[n] if a == p and d == p; a: choice(p, q), d: choice(p, q)) -> y[n]", 1, 20, "whether b is there depends on one attribute alone"},
    {"op f(x[n]; a0: choice(p, q, r, s), a1: choice(p, q, r, s), a2: choice(p, q, r, s), a3: choice(p, q, r, s), a4: choice(p, q, r, s), a5: choice(p, q, r, s), a6: choice(p, q, r, s)) -> y[n]", 1, 156, "the choices of all attributes have more than 4096 combinations"},
    {HEAD "    where n = 3\n    where n = 4\n", 3, 11, "two lines say what the size n is"},
    {HEAD "    where q = q + 1\n", 2, 15, "the size q follows from itself"},
    {HEAD "    where p = q, q = p\n", 2, 22, "the size p follows from itself"},
    {HEAD "    where q = z\n", 2, 15, "there is no size or integer attribute z"},
    {HEAD "    where q = x\n", 2, 15, "there is no size or integer attribute x"},
    {HEAD "    where q = 1.5\n", 2, 15, "1.5 is no integer below 2^63"},
    {HEAD "    where q = 1 / 2\n", 2, 17, "sizes are made of sizes, integer attributes and numbers by + - * // % and min(a, b), max(a, b)"},
    {HEAD "    where q = exp(2)\n", 2, 15, "sizes are made of sizes, integer attributes and numbers by + - * // % and min(a, b), max(a, b)"},
    {HEAD "    where q = n // 0\n", 2, 17, "what // divides by is positive, and not 0"},
    {HEAD "    where q = n % (0 - 1)\n", 2, 17, "what % divides by is positive, and not -1"},
    {HEAD "    where 2 * q = n\n", 2, 13, "what stands left of = is the name of a size"},
    {HEAD "    where q < n\n", 2, 11, "there is no size or integer attribute q"},
    {WIDE "    where q = a\n", 2, 15, "the attribute a is no integer: sizes follow from sizes, integer attributes and numbers"},
    {WIDE "    where q = m\n", 2, 15, "the attribute m is no integer: sizes follow from sizes, integer attributes and numbers"},
    {WIDE "    where q = size(k)\n", 2, 15, "there is no size k"},
    {WIDE "    where q = 9223372036854775808\n", 2, 15, "9223372036854775808 is no integer below 2^63"},
    {HEAD "    y = z\n", 2, 9, "there is no input, earlier line, attribute or index z"},
    {HEAD "    y = z[n]\n", 2, 9, "there is no tensor z, neither an input nor an earlier line"},
    {HEAD "    y = n[n]\n", 2, 9, "there is no tensor n, neither an input nor an earlier line"},
    {HEAD "    y = y\n", 2, 9, "the output y is read before the line that gives it a value"},
    {HEAD "    y = x[n, n]\n", 2, 9, "x has 1 axis, not 2"},
    {HEAD "    y = x[0.5]\n", 2, 11, "a subscript is an integer, and this is a real number"},
    {HEAD "    y = x[x]\n", 2, 11, "a subscript is an integer, and this is a real number"},
    {HEAD "    y = x[n * n]\n", 2, 13, "a subscript is a sum of indices, each times a constant of sizes and attributes; here two are multiplied"},
    {HEAD "    y = x[n // n]\n", 2, 13, "what // divides by is made of sizes, integer attributes and numbers alone"},
    {HEAD "    y = x[n // 0]\n", 2, 13, "what // divides by is positive, and not 0"},
    {HEAD "    y = x[n] // 2\n", 2, 14, "// is of integers, and one of its operands is a real number"},
    {HEAD "    y = exp(x, x)\n", 2, 9, "exp takes 1 value, not 2"},
    {HEAD "    y = fma(x, x)\n", 2, 9, "fma takes 3 values, not 2"},
    {HEAD "    y = pow(x)\n", 2, 9, "pow takes 2 values, not 1"},
    {HEAD "    y = relu(x, 0)\n", 2, 9, "relu takes 1 value, not 2"},
    {HEAD "    y = clamp(x, 0)\n", 2, 9, "clamp takes 3 values, not 2"},
    {HEAD "    y = floor(x)\n", 2, 15, "floor is of numbers, sizes and attributes, and + - * / of these"},
    {HEAD "    y = floor(exp(2))\n", 2, 15, "floor is of numbers, sizes and attributes, and + - * / of these"},
    {HEAD "    y = philox(1)\n", 2, 9, "philox takes 2 values, not 1"},
    {HEAD "    y = philox(0.5, n)\n", 2, 16, "the seed of philox is an integer, and this is a real number"},
    {HEAD "    y = philox(1, x)\n", 2, 19, "the position in philox is an integer, and this is a real number"},
    {HEAD "    y = cast(i32, x)\n", 2, 9, "i32 is no format to round to: f16, bf16, f32, e4m3 or e5m2"},
    {HEAD "    y = cast(f64, x)\n", 2, 9, "f64 is no format to round to: f16, bf16, f32, e4m3 or e5m2"},
    {HEAD "    y = sum[x](x)\n", 2, 13, "x cannot be an index: it is the name of a tensor or an attribute"},
    {HEAD "    y = sum[n, n](x)\n", 2, 16, "n is bound twice"},
    {HEAD "    y = sum[j](x)\n", 2, 13, "nothing says over what j ranges, since it subscripts no axis alone: write j < and what it is to stay below"},
    {HEAD "    y = sum[j < x](x)\n", 2, 17, "j is to stay below an integer of sizes, integer attributes and numbers"},
    {HEAD "    y = sum[j < n](x)\n", 2, 17, "j is to stay below an integer of sizes, integer attributes and numbers"},
    {HEAD "    y = sum[n | x < 3](x)\n", 2, 17, "a side of a predicate is an integer, and this is a real number"},
    {HEAD "    y = sum[n | n * n < 3](x)\n", 2, 19, "a side of a predicate is a sum of indices, each times a constant of sizes and attributes; here two are multiplied"},
    {HEAD "    y = sum[n](x, x)\n", 2, 9, "sum takes one value"},
    {HEAD "    y = var[n](x, x)\n", 2, 19, "the second value of var is made of numbers, sizes and attributes alone"},
    {HEAD "    y = var[n](x, 1, 2)\n", 2, 9, "var takes one value, or two: var[axes](x, correction)"},
    {HEAD "    y = standardize[n](x)\n", 2, 9, "standardize takes two values: standardize[axes](x, eps)"},
    {HEAD "    y = standardize[n](x, x)\n", 2, 27, "the second value of standardize is made of numbers, sizes and attributes alone"},
    {HEAD "    y = topk[n](x)\n", 2, 9, "topk takes two values: topk[axis](x, position)"},
    {HEAD "    y = argmax[n](x)\n", 2, 9, "y holds real numbers, and its value is an index: give it the type int"},
    {HEAD "    y = sum[n ties lower](x)\n", 2, 9, "`ties lower` is for argmax, argmin and topk"},
    {HEAD "    y = 1 + argmax[n](x)\n", 2, 13, "argmax is a line of its own: i[...] = argmax[...](...), and then i[...] is a subscript"},
    {HEAD "    y = softmax[q < 3](x)\n", 2, 17, "softmax keeps its axes, and nothing around it binds q"},
    {HEAD "    y = softmax[n < 3](x)\n", 2, 17, "softmax keeps its axes, and n ranges over another size around it"},
    {HEAD "    y = rotate_half[n | n < 2](x)\n", 2, 27, "rotate_half takes no predicate"},
    {HEAD "    y = x[n else x]\n", 2, 18, "what stands behind `else` is made of numbers, sizes and attributes alone"},
    {HEAD "    y = size(z)\n", 2, 9, "there is no size z"},
    {HEAD "    y = sum[a, b, c, d, e, g, h, i, j](x)\n", 2, 13, "nothing says over what a ranges, since it subscripts no axis alone: write a < and what it is to stay below"},
    {HEAD "    y = x\n    y = x\n", 3, 5, "two lines give y a value with the same choices"},
    {HEAD "    z = x\n    y = z\n    z = x\n", 4, 5, "the lines of z do not follow each other"},
    {HEAD "    x = 1\n", 2, 5, "x is the name of an input, which no line gives a value"},
    {HEAD "    n = 1\n", 2, 5, "n is the name of a size, which no line gives a value"},
    {HEAD "    y[n, m] = x\n", 2, 10, "y has fewer axes in the head"},
    {HEAD "    y[] = x\n", 2, 7, "expected the name of an index, but there is ]"},
    {HEAD "    y[m < 3] = x\n", 2, 7, "the axes of y have the sizes that the head states"},
    {HEAD "    y[x] = 1\n", 2, 7, "x cannot be an index: it is the name of a tensor or an attribute"},
    {HEAD "    y[m] = x\n", 2, 12, "x has the axis n, which nothing binds here: write its subscripts, or reduce over n"},
    {HEAD "    y[m] = x[m]\n    y = 3\n", 3, 5, "two lines give y a value with the same choices"},
    {HEAD "    z[m] = 1\n    y = x\n", 2, 7, "nothing says over what m ranges, since it subscripts no axis alone: write m < and what it is to stay below"},
    {HEAD "    z[m, m] = x[m] * x[m]\n    y = x\n", 2, 10, "m is bound twice"},
    {HEAD "    z = 1\n", 1, 15, "no line gives the output y a value"},
    {HEAD "    q = x\n    y = q[n, n]\n", 3, 9, "q has 1 axis, not 2"},
    {WIDE "    y = x\n    z = m\n", 3, 9, "m is a choice, which has no value: put `if m == ...:` before the line"},
    {WIDE "    y = k[r]\n", 2, 9, "there is no tensor k, neither an input nor an earlier line"},
    {WIDE "    y = x + w[r]\n", 2, 15, "r does not range over the axis c of w: the sizes are different ones, so write r < and what it is to stay below"},
    {WIDE "    y = x[c, r]\n", 2, 11, "c does not range over the axis r of x: the sizes are different ones, so write c < and what it is to stay below"},
    {WIDE "    y = x[r, c + 1]\n    z = x[r]\n", 3, 9, "x has 2 axes, not 1"},
    {WIDE "    y = sum[j](x[r, j] * x[j, c])\n", 2, 13, "j subscripts axes of different sizes, c of x and r of x: write j < and what it is to stay below"},
    {WIDE "    if a: y = x\n", 2, 8, "a condition is about an attribute that is a choice, and a is none"},
    {WIDE "    if k == 2: y = x\n", 2, 13, "expected the name of a choice, but there is 2"},
    {WIDE "    if m: y = x\n", 1, 106, "with some choices no line gives the output y a value"},
    {WIDE "    if m: y = x\n    if mode == one: y = x\n", 3, 21, "two lines give y a value with the same choices"},
    {WIDE "    if mode == four: y = x\n", 2, 16, "mode has no choice four"},
    {WIDE "    if mode: y = x\n", 2, 8, "mode has no choice yes: write == and one of its choices"},
    {WIDE "    if m: z = x\n    y = z\n", 3, 9, "z is absent in some cases: put `if` before the line, or have z as an operand of + - * alone"},
    {WIDE "    if m: z = x\n    if m != yes: z[c, r] = x\n    y = z\n", 3, 20, "the lines of z have different axes"},
    {WIDE "    if m: z = argmax[c](x)\n    if m != yes: z = 0.5\n    y = z\n", 3, 22, "z holds integers, and its value is a real number"},
    {WIDE "    if m: z = 1\n    if m != yes: z = z\n    y = z\n", 3, 22, "z is read in the line that gives it a value"},
    {"op f(x[n, n]) -> y[n]\n y = x", 2, 6, "x has the axis n twice: write its subscripts"},
    {"op f(x[n]) -> y[n, n]\n y = 1", 2, 2, "an axis n occurs twice in the head: write [ ] with a name for each axis"},
    {"op f(x[n, m]) -> y[n] over x\n y = sum[m](x)", 1, 28, "y and x have different axes or types, so that they cannot have the same memory"},
    {"op f(x[n]) -> y[n] over z\n y = x", 1, 25, "z is no input, whose memory y could have"},
    {"op f(x[n]: f32) -> y[n] over x\n y = x", 1, 30, "y and x have different axes or types, so that they cannot have the same memory"},
    {"op f(x[n]; a: choice(p, q)) -> y[n] if a == p\n if a == p: y = x", 1, 32, "every output is absent with some choices"},
    {"op f(x[n]; a: choice(p, q)) -> z[n], y[n] if a == p\n z = x\n if a == q: y = x", 3, 13, "y is absent wherever this line applies"},
    {"op f(x[n], b[n] if a, d[n] if a; a: choice(no, yes)) -> y[n]\n y = b + d", 2, 8, "b and d are both absent in some cases: put `if` before the line"},
    {"op f(x[n], b[n] if a; a: choice(no, yes)) -> y[n]\n y = x / b", 2, 10, "b is absent in some cases: put `if` before the line, or have b as an operand of + - * alone"},
    {"op f(x[n], b[n] if a; a: choice(no, yes)) -> y[n]\n y = exp(b) + x", 2, 10, "b is absent in some cases: put `if` before the line, or have b as an operand of + - * alone"},
    {"op f(x[n]) -> y[n]: int\n y = x", 2, 6, "y holds integers, and its value is a real number"},
    {HEAD " i = argmax[n](x)\n y = x\n y = 1", 4, 2, "two lines give y a value with the same choices"},
    {"op f(x[n], i[n]: int) -> y[n]\n y = x[i[n]]", 2, 8, "nothing says which values the subscript has: give the integers a range (int in [0, SIZE)), or write else"},
    {"op f(x[n], i[n]: int) -> y[n]\n y = x[i[n else 0]]", 2, 17, "i is a tensor of integers, which have no `else`"},
    {"op f(x[n], i[n]: int in [0, n)) -> y[n]\n y = x[i + 0 * i[i]]\n z = x[i[n else 0]]", 3, 17, "i is a tensor of integers, which have no `else`"},
    {"op f(x[n], i[n]: int in [0, n)) -> y[n]\n y = topk[n](x, i)", 2, 6, "y holds real numbers, and its value is an index: give it the type int"},
    {"op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], b[i])", 3, 9, "the last of the pieces has no subscript that is an index less the size of those before it: b[i - size(a)]"},
    {"op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i], 2 * b[i - size(a)])", 3, 24, "a piece is a tensor of real numbers with its subscripts, without `else`: a[i]"},
    {"op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[0], b[i - size(a)])", 3, 16, "no subscript of this piece is i less a constant"},
    {"op f(a[n], b[m]) -> y[p]\n where p = n + m\n y[i] = pieces(a[i else 0], b[i - size(a)])", 3, 16, "a piece is a tensor of real numbers with its subscripts, without `else`: a[i]"},
    {"op f(x[n], s[n, n]) -> y[n]\n y = x * size(s)", 2, 10, "s has 2 axes: name the one whose size is meant"},
    {HEAD "    y = x\n    special z = inf: y = 0\n", 3, 13, "z is no input of real numbers"},
    {HEAD "    y = x\n    special x = inf: z = 0\n", 3, 22, "z is no output of real numbers with a line before this one"},
    {HEAD "    special x = inf: y = 0\n", 2, 22, "y is no output of real numbers with a line before this one"},
    {HEAD "    y = x\n    special x = inf and x = 0: y = 0\n", 3, 25, "x is named twice"},
    {HEAD "    y = x\n    special x = inf or inf: y = 0\n", 3, 24, "the value is named twice"},
    {"op f(x[n, m]) -> y[n]\n y = sum[m](x)\n special x = inf: y = 0", 3, 10, "y has no axis m, so that no one element of x belongs to an element of y"},
    {"op f(x[n]) -> y[n, n]\n y[i, j] = x[i]\n special x = inf: y = 0", 3, 10, "y has more than one axis n, so that no one element of x belongs to an element of y"},
    {HEAD "    y = x\n    gradient of g(y by x)\n", 3, 19, "there is no input grad_y"},
    {"op f(grad_y[n]) -> grad_x[n]\n grad_x = grad_y\n gradient of g(y by w)", 3, 21, "there is no output grad_w"},
    {"op f(grad_y[n]) -> grad_x[n]\n grad_x = grad_y\n gradient of g(y by x)\n gradient of g(y by x)", 4, 2, "there is a line `gradient of` already"},
    {"op f(grad_y[n]) -> grad_x[n]\n grad_x = grad_y\n gradient of g(y, y by x)", 3, 19, "y is named twice"},
    {HEAD "    bound ERR = 1\n    y = x\n", 2, 5, "y is no output of real numbers with a line before this one"},
    {HEAD "    y = x\n    bound ERR z = 1\n", 3, 5, "z is no output of real numbers with a line before this one"},
    {HEAD "    y = x\n    bound ERR = 1\n    bound ERR y = 1\n", 4, 5, "there is a bound of y already"},
    {"op f(x[n]) -> y[n], z[n]\n y = x\n z = x\n bound ERR = 1", 4, 2, "there are several outputs: write bound ERR and the name of one"},
    {HEAD "    y = x\n    bound ERR = w\n", 3, 17, "there is no input, earlier line, attribute or index w"},
    {HEAD " y = x\nop f(x[n]) -> y[n]\n y = x\n", 3, 4, "there is a definition of f already, in line 1"},
    {HEAD "    y = 1 % x\n", 2, 11, "% is of integers, and one of its operands is a real number"},
    {HEAD "    y = x % 2\n", 2, 11, "% is of integers, and one of its operands is a real number"},
    {HEAD "    y = select(1 < 2, x, i)\n", 2, 26, "there is no input, earlier line, attribute or index i"},
    {HEAD "    y = min(x)\n", 2, 9, "min takes 2 values, not 1"},
    {HEAD "    y = x * n\n", 2, 13, "n is an index here: the size is size(n); if the index is meant as a number, name the axes on the left, as in y[n] = ..."},
    {HEAD "    y = x / (n + 1)\n", 2, 16, "n is an index here: the size is size(n); if the index is meant as a number, name the axes on the left, as in y[n] = ..."},
    {HEAD "    y = n\n", 2, 9, "n is an index here: the size is size(n); if the index is meant as a number, name the axes on the left, as in y[n] = ..."},
    {HEAD "    t = x + n\n    y = t\n", 2, 13, "n is an index here: the size is size(n); if the index is meant as a number, name the axes on the left, as in y[n] = ..."},
    {HEAD "    y = max(1, 2, 3)\n", 2, 9, "max takes 2 values, not 3"},
    {HEAD " y = x[m, m]", 2, 8, "there is no input, earlier line, attribute or index m"},
    {"op f(x[a, b, c, d, e, g, h, i, j], y[n]) -> z[n]\n z = y", 1, 32, "x has more than 8 axes"},
    {"op f(x[a, b, c, d, e, g, h, i], v[k, l]) -> z[a]\n t = x * v\n z = 1", 2, 10, "the line has more than 8 axes"},
};
/* clang-format on */

static void check_refused(const char *text, size_t size, int line, int column, const char *message)
{
    tki_definitions made;
    tki_definition_error error;
    const tk_status status = tki_definitions_read(text, size, &made, &error);
    if (status != TK_BAD_ARGUMENT || error.position.line != line || error.position.column != column ||
        strcmp(said(&error), message) != 0)
        fail_msg("%.200s\n  is refused at %d:%d: %s\n  expected at %d:%d: %s", text, error.position.line,
                 error.position.column, said(&error), line, column, message);
    assert_null(made.arena);
    assert_int_equal(made.count, 0);
}

TEST(wrong_texts_are_refused_where_they_are_wrong)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(wrong[i].text, strlen(wrong[i].text), wrong[i].line, wrong[i].column, wrong[i].message);
}

TEST(a_text_need_not_end)
{
    /* A block of exactly the size, so that a read past its end is seen. */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const size_t size = strlen(wrong[i].text);
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, wrong[i].text, size);
        check_refused(copy, size, wrong[i].line, wrong[i].column, wrong[i].message);
        free(copy);
    }
}

TEST(a_byte_0_is_no_end)
{
    static const char text[] = HEAD "    y = x\0 + 1\n";
    check_refused(text, sizeof text - 1, 2, 10, "the language has no byte 0x00");
}

/* -- Limits: the text one beyond is refused, and the one that reaches the limit is not ------------------------------- */

typedef struct text {
    char *text;
    size_t size;
    FILE *file;
} text;

static FILE *begin(text *t)
{
    t->file = open_memstream(&t->text, &t->size);
    assert_non_null(t->file);
    return t->file;
}

static void end(text *t, const char *message)
{
    tki_definitions made;
    tki_definition_error error;
    assert_int_equal(fclose(t->file), 0);
    const tk_status status = tki_definitions_read(t->text, t->size, &made, &error);
    assert_string_equal(said(&error), message);
    assert_int_equal(status, message[0] ? TK_BAD_ARGUMENT : TK_OK);
    tki_definitions_free(&made);
    free(t->text);
}

/* The format, with the number for each @. */
static void put_numbered(FILE *out, const char *format, int number)
{
    for (; *format; format++)
        if (*format == '@')
            fprintf(out, "%d", number);
        else
            fputc(*format, out);
}

static void repeat(FILE *out, int count, const char *before, const char *format, const char *behind)
{
    fputs(before, out);
    for (int i = 0; i < count; i++)
        put_numbered(out, format, i);
    fputs(behind, out);
}

static void check_limit(int most, const char *before, const char *format, const char *behind, const char *message)
{
    for (int over = 0; over < 2; over++) {
        text t;
        repeat(begin(&t), most + over, before, format, behind);
        end(&t, over ? message : "");
    }
}

TEST(limits_are_reached_and_not_passed)
{
    check_limit(TKI_MOST_OPS, "", "op f@(x[n]) -> y[n]\n y = x\n", "", "the text has more than 64 definitions");
    check_limit(TKI_MOST_LINES - 1, HEAD, " t@ = x\n", " y = x\n", "the definition has more than 256 lines");
    check_limit(TK_MAX_PARAMS - 2, "op f(x[n]", ", x@[n]", ") -> y[n]\n y = x",
                "the definition has more than 64 tensors in its head");
    check_limit(TK_MAX_DIMS - 2, HEAD " where a = 1", ", a@ = 1", "\n y = x",
                "the definition has more than 64 sizes");
    check_limit(TK_MAX_ATTRIBUTES - 1, "op f(x[n]; a: int", ", a@: int", ") -> y[n]\n y = x",
                "the definition has more than 32 attributes");
    check_limit(TK_MAX_CHOICES - 1, "op f(x[n]; a: choice(c", ", c@", ")) -> y[n]\n y = x",
                "a has more than 64 choices");
    check_limit(TK_MAX_RANK - 1, "op f(x[n", ", n@", "]) -> y[n]\n y = 1", "x has more than 8 axes");
    check_limit(TK_MAX_RANK - 1, HEAD " y = sum[j < 2", ", j@ < 2", "](x)", "more than 8 indices are bound together");
    check_limit(TKI_MOST_NESTING - 1, HEAD " y = ", "-", "x", "more than 128 brackets and signs are nested");
    check_limit(TKI_MOST_PIECES - 1, HEAD " y[i] = pieces(", "x[i + @], ", "x[i - 1])",
                "there are more than 64 pieces");
}

/* Lines with so many terms each, which are numbered on. */
static void check_together(int lines, int terms, const char *before, const char *format, const char *message)
{
    text t;
    FILE *out = begin(&t);
    fputs(HEAD " y = x\n", out);
    for (int line = 0; line < lines; line++) {
        fprintf(out, " t%d%s", line, before);
        for (int i = 0; i < terms; i++)
            put_numbered(out, format, line * terms + i);
        fputs("\n", out);
    }
    end(&t, message);
}

TEST(what_is_counted_together_has_limits)
{
    check_together(60, 10, " = 0", "+sum[j<@](0)", "the definition has more than 512 indices");
    check_together(50, 10, " = 0", "+sum[j<@](0)", "");
    check_together(250, 9, " = x", "+@.5", "the definition has more than 4096 values");
    check_together(200, 9, " = x", "+@.5", "");
    check_together(130, 10, "[i < 9] = 0", "+i*@", "the definition has more than 4096 integers");
    check_together(90, 10, "[i < 9] = 0", "+i*@", "");
    check_together(200, 24, " = 0", "+n", "the definition has more than 8192 words and signs");
}

TEST(a_text_of_65536_bytes_is_read)
{
    for (int over = 0; over < 2; over++) {
        text t;
        FILE *out = begin(&t);
        fputs(HEAD " y = x\n", out);
        while (ftell(out) < TKI_MOST_TEXT + over)
            fputc('#', out);
        end(&t, over ? "the text has 65537 bytes; at most 65536 are read" : "");
    }
}

/* A sign between two names takes one byte, and three in the normal form. */
TEST(a_normal_form_can_be_read)
{
    for (int over = 0; over < 2; over++) {
        text t;
        FILE *out = begin(&t);
        fputs(HEAD "a_name_with_exactly_31_bytes_oo=x\ny=x\n", out);
        for (int line = 10; line < 32; line++) {
            fprintf(out, "t%d=a_name_with_exactly_31_bytes_oo", line);
            for (int i = 0; i < (line < 31 ? 88 : 50 + over); i++)
                fputs("+a_name_with_exactly_31_bytes_oo", out);
            fputs("\n", out);
        }
        end(&t, over ? "in its normal form it has 65559 bytes; at most 65536 are read" : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_texts_are_refused_where_they_are_wrong),
        cmocka_unit_test(a_text_need_not_end),
        cmocka_unit_test(a_byte_0_is_no_end),
        cmocka_unit_test(limits_are_reached_and_not_passed),
        cmocka_unit_test(what_is_counted_together_has_limits),
        cmocka_unit_test(a_text_of_65536_bytes_is_read),
        cmocka_unit_test(a_normal_form_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
