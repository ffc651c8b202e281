/* Plain loops: what stands in a definition, line by line, as loops over the axes. A reduction is computed as soon as the loops around it have
 * all the indices that it depends on. */
#include "generate/plain.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "generate/plain_helpers.h"

enum { MOST_BYTES = 1 << 20, MOST_TENSORS = TKI_MOST_LINES + TK_MAX_PARAMS };

typedef struct generating {
    FILE *out;
    const tki_definition *d;
    int indent;
    bool bound[TKI_MOST_INDICES]; /* by a loop around */
    int ready[TKI_MOST_NODES];    /* reductions that have been computed in the loops around */
    int ready_count;
    bool kept[MOST_TENSORS]; /* tensors that lines read */
} generating;

/* What is written is a tree of what may be shared, so that its size has to be watched. */
static bool is_too_large(const generating *g)
{
    return ftell(g->out) > MOST_BYTES;
}

__attribute__((format(printf, 2, 3))) static void put(generating *g, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(g->out, format, values);
    va_end(values);
}

static void begin(generating *g)
{
    put(g, "%*s", 4 * g->indent, "");
}

/* A line of its own. */
__attribute__((format(printf, 2, 3))) static void say(generating *g, const char *format, ...)
{
    va_list values;
    begin(g);
    va_start(values, format);
    vfprintf(g->out, format, values);
    va_end(values);
    fputc('\n', g->out);
}

/* -- Integers ------------------------------------------------------------------------------------------------------------- */

static void put_int(generating *g, int i);

static void put_index(generating *g, int index)
{
    put(g, "%s_%d", g->d->indices[index].name, index);
}

static void put_offset(generating *g, const tki_def_tensor *t, const tki_subscript *subscripts)
{
    if (t->rank == 0)
        put(g, "0");
    for (int axis = 0; axis < t->rank - 2; axis++)
        put(g, "(");
    for (int axis = 0; axis < t->rank; axis++) {
        if (axis > 0) {
            put(g, axis > 1 ? ") * " : " * ");
            put_int(g, t->extent[axis]);
            put(g, " + ");
        }
        put_int(g, subscripts[axis].value);
    }
}

/* Which functions read and write it. */
static const char *numbers_of(const tki_def_tensor *t)
{
    const bool small = t->dtype == TK_F8_E4M3 || t->dtype == TK_F8_E5M2;
    return t->integer ? "integer" : t->type == TKI_TYPE_FIXED && small ? "small" : "real";
}

static void put_element(generating *g, int tensor, const tki_subscript *subscripts)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    if (t->role == TKI_TENSOR_INPUT)
        put(g, "%s_at(t_%s, ", numbers_of(t), t->name);
    else
        put(g, "v_%s[", t->name);
    put_offset(g, t, subscripts);
    put(g, t->role == TKI_TENSOR_INPUT ? ")" : "]");
}

static void put_value(generating *g, int node);

static void put_pair(generating *g, const char *before, int a, const char *between, int b)
{
    put(g, "%s", before);
    put_int(g, a);
    put(g, "%s", between);
    put_int(g, b);
    put(g, ")");
}

static void put_int(generating *g, int i)
{
    const tki_def_int *n = &g->d->ints[i];
    if (is_too_large(g))
        return;
    switch (n->kind) {
    case TKI_INT_LITERAL: put(g, n->literal < 0 ? "(%lld)" : "%lld", (long long)n->literal); break;
    case TKI_INT_SIZE: put(g, "n_%s", g->d->sizes[n->which].name); break;
    case TKI_INT_ATTRIBUTE: put(g, "a_%s", g->d->attributes[n->which].name); break;
    case TKI_INT_INDEX: put_index(g, n->which); break;
    case TKI_INT_ELEMENT: put_element(g, n->tensor, n->subscripts); break;
    case TKI_INT_FLOOR:
        put(g, "(int64_t)floor(");
        put_value(g, n->which);
        put(g, ")");
        break;
    case TKI_INT_PHILOX: put_pair(g, "philox((uint64_t)(", n->a, "), (uint64_t)(", n->b), put(g, ")"); break;
    case TKI_INT_ADD: put_pair(g, "(", n->a, " + ", n->b); break;
    case TKI_INT_SUBTRACT: put_pair(g, "(", n->a, " - ", n->b); break;
    case TKI_INT_MULTIPLY: put_pair(g, "(", n->a, " * ", n->b); break;
    case TKI_INT_DIVIDE: put_pair(g, "quotient(", n->a, ", ", n->b); break;
    case TKI_INT_MODULO: put_pair(g, "rest(", n->a, ", ", n->b); break;
    case TKI_INT_MIN: put_pair(g, "least(", n->a, ", ", n->b); break;
    case TKI_INT_MAX: put_pair(g, "most(", n->a, ", ", n->b); break;
    }
}

/* -- Values --------------------------------------------------------------------------------------------------------------- */

static const char *relation_text(tki_relation relation)
{
    static const char *const texts[] = {"==", "!=", "<", "<=", ">", ">="};
    return texts[relation];
}

static void put_condition(generating *g, const tki_condition *condition)
{
    for (int i = 0; i < condition->count; i++)
        put(g, "%s(UINT64_C(0x%llx) >> a_%s & 1)", i ? " && " : "", (unsigned long long)condition->terms[i].choices,
            g->d->attributes[condition->terms[i].attribute].name);
}

static void put_operands(generating *g, const tki_def_node *n, const char *before, const char *between)
{
    put(g, "%s", before);
    for (int i = 0; i < 3 && n->operand[i] >= 0; i++) {
        put(g, "%s", i ? between : "");
        put_value(g, n->operand[i]);
    }
    put(g, ")");
}

static void put_primitive(generating *g, const tki_def_node *n)
{
    static const char *const calls[TKI_PRIMITIVE_COUNT] = {[TKI_NEGATE] = "(-",
                                                           [TKI_FMA] = "fma(",
                                                           [TKI_SQUARE] = "square(",
                                                           [TKI_SQRT] = "sqrt(",
                                                           [TKI_RSQRT] = "1 / sqrt(",
                                                           [TKI_EXP] = "exp(",
                                                           [TKI_EXP2] = "exp2(",
                                                           [TKI_LOG] = "log(",
                                                           [TKI_LOG1P] = "log1p(",
                                                           [TKI_EXPM1] = "expm1(",
                                                           [TKI_TANH] = "tanh(",
                                                           [TKI_ERF] = "erf(",
                                                           [TKI_SIGMOID] = "sigmoid(",
                                                           [TKI_ABS] = "fabs(",
                                                           [TKI_MIN] = "smaller(",
                                                           [TKI_MAX] = "larger(",
                                                           [TKI_POW] = "pow(",
                                                           [TKI_SILU] = "silu(",
                                                           [TKI_SOFTPLUS] = "softplus(",
                                                           [TKI_MISH] = "mish(",
                                                           [TKI_GELU] = "gelu(",
                                                           [TKI_GELU_TANH] = "gelu_tanh(",
                                                           [TKI_NORMAL_CDF] = "normal_cdf(",
                                                           [TKI_ONE_MINUS_SIGMOID] = "sigmoid(-",
                                                           [TKI_LOG_SIGMOID] = "-softplus(-"};
    static const char *const signs[] = {" + ", " - ", " * ", " / (double)"};
    const bool sign = n->primitive <= TKI_DIVIDE;
    put(g, sign ? "" : "(");
    put_operands(g, n, sign ? "(" : calls[n->primitive], sign ? signs[n->primitive] : ", ");
    put(g, sign ? "" : ")");
}

/* With `else`: whether all subscripts are in range. */
static void put_read(generating *g, const tki_def_node *n)
{
    const tki_def_tensor *t = &g->d->tensors[n->tensor];
    if (n->operand[0] < 0) {
        put_element(g, n->tensor, n->subscripts);
        return;
    }
    put(g, "(");
    for (int axis = 0; axis < t->rank; axis++) {
        put(g, "%s", axis ? " && " : "");
        put_int(g, n->subscripts[axis].value);
        put(g, " >= 0 && ");
        put_int(g, n->subscripts[axis].value);
        put(g, " < ");
        put_int(g, t->extent[axis]);
    }
    put(g, " ? ");
    put_element(g, n->tensor, n->subscripts);
    put(g, " : ");
    put_value(g, n->operand[0]);
    put(g, ")");
}

/* Where the elements of a reduction's array are: row-major over the indices that it binds. */
static void put_place(generating *g, const tki_def_node *n, const int *at)
{
    for (int i = 0; i < n->bound_count - 2; i++)
        put(g, "(");
    for (int i = 0; i < n->bound_count; i++) {
        if (i > 0) {
            put(g, i > 1 ? ") * " : " * ");
            put_int(g, g->d->indices[n->bound[i]].extent);
            put(g, " + ");
        }
        put_index(g, at[i]);
    }
}

static void put_over(generating *g, int node, const tki_def_node *n)
{
    const int last = n->bound_count - 1;
    if (!n->at) {
        put(g, "v%d", node);
        return;
    }
    if (n->over == TKI_ROTATE_HALF) { /* its last axis is its only one, or the ones before it are as they were */
        put(g, "(");
        put_index(g, n->at[last]);
        put(g, " < h%d ? -w%d[", node, node);
        put_place(g, n, n->at);
        put(g, " + h%d] : w%d[", node, node);
        put_place(g, n, n->at);
        put(g, " - h%d])", node);
        return;
    }
    put(g, "w%d[", node);
    put_place(g, n, n->at);
    put(g, "]");
}

static void put_pieces(generating *g, const tki_def_node *n)
{
    for (int i = 0; i < n->piece_count; i++) {
        if (i < n->piece_count - 1) {
            put(g, "(");
            put_index(g, n->which);
            put(g, " < ");
            put_int(g, n->pieces[i + 1].start);
            put(g, " ? ");
        }
        put_value(g, n->pieces[i].read);
        put(g, "%s", i < n->piece_count - 1 ? " : " : "");
    }
    for (int i = 0; i < n->piece_count - 1; i++)
        put(g, ")");
}

static void put_choice(generating *g, const tki_def_node *n)
{
    put(g, "(");
    put_condition(g, &n->condition);
    put(g, " ? ");
    put_value(g, n->operand[0]);
    put(g, " : ");
    put_value(g, n->operand[1]);
    put(g, ")");
}

static const char *dtype_text(tk_dtype dtype)
{
    return dtype == TK_F16       ? "TOKITAI_F16"
           : dtype == TK_BF16    ? "TOKITAI_BF16"
           : dtype == TK_F32     ? "TOKITAI_F32"
           : dtype == TK_F8_E4M3 ? "TOKITAI_F8_E4M3"
                                 : "TOKITAI_F8_E5M2";
}

static void put_literal(generating *g, const tki_def_node *n)
{
    if (n->text[0] == 'i')
        put(g, "INFINITY");
    else
        put(g, "%s%s", n->text, n->text[strspn(n->text, "0123456789")] ? "" : ".0");
}

static void put_value(generating *g, int node)
{
    const tki_def_node *n = &g->d->nodes[node];
    if (is_too_large(g))
        return;
    switch (n->kind) {
    case TKI_NODE_LITERAL: put_literal(g, n); break;
    case TKI_NODE_ATTRIBUTE: put(g, "a_%s", g->d->attributes[n->which].name); break;
    case TKI_NODE_INTEGER: put_int(g, n->integer); break;
    case TKI_NODE_READ: put_read(g, n); break;
    case TKI_NODE_PRIMITIVE: put_primitive(g, n); break;
    case TKI_NODE_CAST:
        put(g, "rounded%s(%s, ", n->dtype == TK_F8_E4M3 || n->dtype == TK_F8_E5M2 ? "_to_8_bits" : "",
            dtype_text(n->dtype));
        put_operands(g, n, "", "");
        break;
    case TKI_NODE_SELECT:
        put(g, "(");
        put_value(g, n->operand[0]);
        put(g, " ? ");
        put_value(g, n->operand[1]);
        put(g, " : ");
        put_value(g, n->operand[2]);
        put(g, ")");
        break;
    case TKI_NODE_COMPARE:
        put_operands(g, n, "(", (const char *[]){" == ", " != ", " < ", " <= ", " > ", " >= "}[n->relation]);
        break;
    case TKI_NODE_AND: put_operands(g, n, "(", " && "); break;
    case TKI_NODE_OVER: put_over(g, node, n); break;
    case TKI_NODE_PIECES: put_pieces(g, n); break;
    case TKI_NODE_CHOICE: put_choice(g, n); break;
    }
}

/* -- Reductions ---------------------------------------------------------------------------------------------------------- */

static void compute_ready(generating *g, int node);

static void open_loop(generating *g, int index)
{
    begin(g);
    put(g, "for (int64_t ");
    put_index(g, index);
    put(g, " = 0; ");
    put_index(g, index);
    put(g, " < ");
    put_int(g, g->d->indices[index].extent);
    put(g, "; ");
    put_index(g, index);
    put(g, "++) {\n");
    g->indent++;
    g->bound[index] = true;
}

static void close_loop(generating *g, int index)
{
    g->indent--;
    say(g, "}");
    g->bound[index] = false;
}

static void open_loops(generating *g, const tki_def_node *n)
{
    for (int i = 0; i < n->bound_count; i++)
        open_loop(g, n->bound[i]);
}

static void close_loops(generating *g, const tki_def_node *n)
{
    for (int i = n->bound_count - 1; i >= 0; i--)
        close_loop(g, n->bound[i]);
}

/* Terms whose predicate is false are left out; with that done before, if anything. */
static void skip_absent(generating *g, const tki_def_node *n, const char *before)
{
    if (n->test_count == 0)
        return;
    begin(g);
    put(g, "if (!(");
    for (int i = 0; i < n->test_count; i++) {
        put(g, "%s", i ? " && " : "");
        put_int(g, n->tests[i].a);
        put(g, " %s ", relation_text(n->tests[i].relation));
        put_int(g, n->tests[i].b);
    }
    put(g, ")) {\n");
    if (before[0])
        say(g, "    %s", before);
    say(g, "    continue;");
    say(g, "}");
}

/* The loops with e, the term, in them. */
static int open_terms(generating *g, int node, const tki_def_node *n)
{
    const int ready = g->ready_count;
    open_loops(g, n);
    skip_absent(g, n, "");
    compute_ready(g, n->operand[0]);
    begin(g);
    put(g, "const double e%d = ", node);
    put_value(g, n->operand[0]);
    put(g, ";\n");
    return ready;
}

static void close_terms(generating *g, const tki_def_node *n, int ready)
{
    close_loops(g, n);
    g->ready_count = ready;
}

/* One statement for each term. */
__attribute__((format(printf, 4, 5))) static void over_terms(generating *g, int node, const tki_def_node *n,
                                                             const char *statement, ...)
{
    va_list values;
    const int ready = open_terms(g, node, n);
    begin(g);
    va_start(values, statement);
    vfprintf(g->out, statement, values);
    va_end(values);
    put(g, "\n");
    close_terms(g, n, ready);
}

static void compute_largest(generating *g, int node, const tki_def_node *n, const char *first, const char *sign)
{
    say(g, "double m%d = %s;", node, first);
    over_terms(g, node, n, "m%d = m%d != m%d || e%d %s m%d ? m%d : e%d;", node, node, node, node, sign, node, node,
               node);
}

static void compute_variance(generating *g, int node, const tki_def_node *n)
{
    say(g, "double s%d = 0, c%d = 0;", node, node);
    over_terms(g, node, n, "s%d += e%d, c%d++;", node, node, node);
    say(g, "double v%d = 0;", node);
    over_terms(g, node, n, "v%d += (e%d - s%d / c%d) * (e%d - s%d / c%d);", node, node, node, node, node, node, node);
    begin(g);
    put(g, "v%d /= c%d - ", node, node);
    if (n->operand[1] >= 0)
        put_value(g, n->operand[1]);
    else
        put(g, "0");
    put(g, ";\n");
}

static void compute_plain(generating *g, int node, const tki_def_node *n)
{
    switch (n->over) {
    case TKI_SUM:
        say(g, "double v%d = 0;", node);
        over_terms(g, node, n, "v%d += e%d;", node, node);
        break;
    case TKI_PROD:
        say(g, "double v%d = 1;", node);
        over_terms(g, node, n, "v%d *= e%d;", node, node);
        break;
    case TKI_MEAN:
        say(g, "double v%d = 0, c%d = 0;", node, node);
        over_terms(g, node, n, "v%d += e%d, c%d++;", node, node, node);
        say(g, "v%d /= c%d;", node, node);
        break;
    case TKI_VAR: compute_variance(g, node, n); break;
    case TKI_LOG_SUM_EXP:
        compute_largest(g, node, n, "-INFINITY", "<=");
        say(g, "double v%d = 0, c%d = 0;", node, node);
        over_terms(g, node, n, "v%d += exp(e%d - m%d), c%d++;", node, node, node, node);
        say(g, "v%d = c%d == 0 ? -INFINITY : m%d + log(v%d);", node, node, node, node);
        break;
    default:
        compute_largest(g, node, n, n->over == TKI_MAXIMUM ? "-INFINITY" : "INFINITY",
                        n->over == TKI_MAXIMUM ? "<=" : ">=");
        say(g, "const double v%d = m%d;", node, node);
        break;
    }
}

/* All terms, absent ones too, in the array. */
static void fill_array(generating *g, int node, const tki_def_node *n)
{
    const int ready = g->ready_count;
    open_loops(g, n);
    compute_ready(g, n->operand[0]);
    begin(g);
    put(g, "w%d[", node);
    put_place(g, n, n->bound);
    put(g, n->over == TKI_ARGMIN ? "] = -(" : "] = (");
    put_value(g, n->operand[0]);
    put(g, ");\n");
    close_loops(g, n);
    g->ready_count = ready;
}

/* The loops again, with *e the element of the array, which the statement may change; `absent` is for those whose predicate is false. */
__attribute__((format(printf, 5, 6))) static void over_array(generating *g, int node, const tki_def_node *n,
                                                             const char *absent, const char *statement, ...)
{
    va_list values;
    open_loops(g, n);
    begin(g);
    put(g, "double *const e = &w%d[", node);
    put_place(g, n, n->bound);
    put(g, "];\n");
    skip_absent(g, n, absent);
    begin(g);
    va_start(values, statement);
    vfprintf(g->out, statement, values);
    va_end(values);
    put(g, "\n");
    close_loops(g, n);
}

static void compute_softmax(generating *g, int node, const tki_def_node *n)
{
    say(g, "double m%d = -INFINITY, s%d = 0;", node, node);
    over_array(g, node, n, "", "m%d = m%d != m%d || *e <= m%d ? m%d : *e;", node, node, node, node, node);
    over_array(g, node, n, "", "s%d += exp(*e - m%d);", node, node);
    if (n->over == TKI_LOG_SOFTMAX)
        over_array(g, node, n, "*e = -INFINITY;", "*e = *e - m%d - log(s%d);", node, node);
    else
        over_array(g, node, n, "*e = 0;", "*e = exp(*e - m%d) / s%d;", node, node);
}

static void compute_standardized(generating *g, int node, const tki_def_node *n)
{
    say(g, "double s%d = 0, c%d = 0, q%d = 0;", node, node, node);
    over_array(g, node, n, "", "s%d += *e, c%d++;", node, node);
    over_array(g, node, n, "", "q%d += (*e - s%d / c%d) * (*e - s%d / c%d);", node, node, node, node, node);
    begin(g);
    put(g, "const double r%d = 1 / sqrt(q%d / c%d + ", node, node, node);
    put_value(g, n->operand[1]);
    put(g, ");\n");
    char absent[96];
    snprintf(absent, sizeof absent, "*e = (*e - s%d / c%d) * r%d;", node, node, node);
    over_array(g, node, n, absent, "%s", absent);
}

static void compute_running(generating *g, int node, const tki_def_node *n)
{
    char absent[32];
    snprintf(absent, sizeof absent, "*e = r%d;", node);
    say(g, "double r%d = %s;", node,
        n->over == TKI_CUMSUM    ? "0"
        : n->over == TKI_CUMPROD ? "1"
        : n->over == TKI_CUMMAX  ? "-INFINITY"
                                 : "INFINITY");
    if (n->over == TKI_CUMSUM || n->over == TKI_CUMPROD)
        over_array(g, node, n, absent, "*e = r%d = r%d %s *e;", node, node, n->over == TKI_CUMSUM ? "+" : "*");
    else
        over_array(g, node, n, absent, "*e = r%d = %s(r%d, *e);", node, n->over == TKI_CUMMAX ? "larger" : "smaller",
                   node);
}

/* Which element is at a position in descending order: one pass for each place. */
static void compute_place(generating *g, int node, const tki_def_node *n)
{
    const char *name = g->d->indices[n->bound[0]].name;
    const int i = n->bound[0];
    say(g, "int64_t v%d = -1;", node);
    begin(g);
    put(g, "for (int64_t pass%d = 0; pass%d <= ", node, node);
    if (n->over == TKI_TOPK)
        put_int(g, n->integer);
    else
        put(g, "0");
    put(g, "; pass%d++) {\n", node);
    g->indent++;
    say(g, "int64_t best%d = -1;", node);
    open_loops(g, n);
    skip_absent(g, n, "");
    say(g, "if (v%d >= 0 && !comes_before(w%d[v%d], v%d, w%d[%s_%d], %s_%d))", node, node, node, node, node, name, i,
        name, i);
    say(g, "    continue;");
    say(g, "if (best%d < 0 || comes_before(w%d[%s_%d], %s_%d, w%d[best%d], best%d))", node, node, name, i, name, i,
        node, node, node);
    say(g, "    best%d = %s_%d;", node, name, i);
    close_loops(g, n);
    say(g, "v%d = best%d < 0 ? 0 : best%d;", node, node, node);
    g->indent--;
    say(g, "}");
}

static bool has_array(const tki_def_node *n)
{
    return n->kind == TKI_NODE_OVER && (n->at || n->type == TKI_INTEGER);
}

static void compute(generating *g, int node)
{
    const tki_def_node *n = &g->d->nodes[node];
    if (!has_array(n)) {
        compute_plain(g, node, n);
        return;
    }
    fill_array(g, node, n);
    if (n->type == TKI_INTEGER)
        compute_place(g, node, n);
    else if (n->over == TKI_SOFTMAX || n->over == TKI_LOG_SOFTMAX)
        compute_softmax(g, node, n);
    else if (n->over == TKI_STANDARDIZE)
        compute_standardized(g, node, n);
    else if (n->over != TKI_ROTATE_HALF)
        compute_running(g, node, n);
    else {
        begin(g);
        put(g, "const int64_t h%d = ", node);
        put_int(g, g->d->indices[n->bound[0]].extent);
        put(g, " / 2;\n");
    }
}

/* Do the loops around have what the reduction depends on? Where the element is that is taken from its array does not matter. */
static bool is_bound(const generating *g, const tki_def_node *n)
{
    for (int i = 0; i < n->index_count; i++) {
        bool place = false;
        for (int k = 0; n->at && k < n->bound_count; k++)
            place |= n->at[k] == n->indices[i];
        if (!g->bound[n->indices[i]] && !place)
            return false;
    }
    return true;
}

static bool is_ready(const generating *g, int node)
{
    for (int i = 0; i < g->ready_count; i++)
        if (g->ready[i] == node)
            return true;
    return false;
}

/* The reductions below a node, those within others included, that can be computed here and have not been. */
static void compute_ready(generating *g, int node)
{
    bool below[TKI_MOST_NODES] = {false};
    below[node] = true;
    for (int i = node; i >= 0; i--)
        for (int k = 0; k < 3 && below[i]; k++)
            if (g->d->nodes[i].operand[k] >= 0)
                below[g->d->nodes[i].operand[k]] = true;
    for (int i = 0; i <= node; i++) {
        const tki_def_node *n = &g->d->nodes[i];
        if (!below[i] || n->kind != TKI_NODE_OVER || !is_bound(g, n) || is_ready(g, i) || is_too_large(g))
            continue;
        compute(g, i);
        g->ready[g->ready_count++] = i;
    }
}

/* -- Lines ---------------------------------------------------------------------------------------------------------------- */

static void put_own_offset(generating *g, const tki_def_tensor *t)
{
    put(g, "%s", t->rank == 0 ? "0" : "");
    for (int axis = 0; axis < t->rank - 2; axis++)
        put(g, "(");
    for (int axis = 0; axis < t->rank; axis++) {
        if (axis > 0) {
            put(g, axis > 1 ? ") * " : " * ");
            put_int(g, t->extent[axis]);
            put(g, " + ");
        }
        put_index(g, t->own[axis]);
    }
}

static void store(generating *g, int tensor, int value)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    if (g->kept[tensor]) {
        begin(g);
        put(g, "v_%s[", t->name);
        put_own_offset(g, t);
        put(g, "] = ");
        put_value(g, value);
        put(g, ";\n");
    }
    if (t->role != TKI_TENSOR_OUTPUT)
        return;
    begin(g);
    put(g, "put_%s(t_%s, ", numbers_of(t), t->name);
    put_own_offset(g, t);
    put(g, ", ");
    if (g->kept[tensor]) {
        put(g, "v_%s[", t->name);
        put_own_offset(g, t);
        put(g, "]");
    } else {
        put_value(g, value);
    }
    put(g, ");\n");
}

static void compute_tensor(generating *g, int tensor, int value)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    const int ready = g->ready_count;
    compute_ready(g, value);
    for (int axis = 0; axis < t->rank; axis++) {
        open_loop(g, t->own[axis]);
        compute_ready(g, value);
    }
    store(g, tensor, value);
    for (int axis = t->rank - 1; axis >= 0; axis--)
        close_loop(g, t->own[axis]);
    g->ready_count = ready;
}

/* The lines of a tensor, each where its condition holds. */
static void write_tensor(generating *g, int tensor)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    int value = t->value;
    begin(g);
    if (t->present.count > 0) {
        put(g, "if (");
        put_condition(g, &t->present);
        put(g, ") ");
    }
    put(g, "{ /* %s */\n", t->name);
    g->indent++;
    int open = 0;
    while (value >= 0 && g->d->nodes[value].kind == TKI_NODE_CHOICE) {
        const tki_def_node *n = &g->d->nodes[value];
        begin(g);
        put(g, "if (");
        put_condition(g, &n->condition);
        put(g, ") {\n");
        g->indent++;
        compute_tensor(g, tensor, n->operand[0]);
        g->indent--;
        say(g, "} else {");
        g->indent++;
        open++;
        value = n->operand[1];
    }
    if (value >= 0)
        compute_tensor(g, tensor, value);
    while (open-- > 0) {
        g->indent--;
        say(g, "}");
    }
    g->indent--;
    say(g, "}");
}

/* -- The file ------------------------------------------------------------------------------------------------------------- */

/* A tensor of the kernel that has the size, always there if possible; TKI_NONE. */
static int tensor_with(const tki_definition *d, int size, int *axis)
{
    for (int conditional = 0; conditional < 2; conditional++)
        for (int i = 0; i < d->param_count; i++) {
            const tki_def_tensor *t = &d->tensors[d->params[i]];
            for (*axis = 0; *axis < t->rank; ++*axis)
                if (t->size[*axis] == size && (t->present.count > 0) == conditional)
                    return i;
        }
    return TKI_NONE;
}

static void write_sizes(generating *g, const char **why)
{
    for (int i = 0; i < g->d->size_count; i++) {
        int axis = 0;
        const int param = tensor_with(g->d, i, &axis);
        if (g->d->sizes[i].derived >= 0)
            continue;
        if (param < 0)
            *why = "a size is that of no tensor, so that a kernel does not get it";
        say(g, "TOKITAI_UNUSED const int64_t n_%s = call->tensors[%d].shape[%d];", g->d->sizes[i].name, param, axis);
    }
    for (int i = 0; i < g->d->derived_count; i++) {
        const tki_def_size *s = &g->d->sizes[g->d->derivation[i]];
        begin(g);
        put(g, "TOKITAI_UNUSED const int64_t n_%s = ", s->name);
        put_int(g, s->derived);
        put(g, ";\n");
    }
}

static void write_arguments(generating *g)
{
    for (int i = 0; i < g->d->attribute_count; i++) {
        const bool real = g->d->attributes[i].type == TK_ATTRIBUTE_REAL;
        say(g, "TOKITAI_UNUSED const %s a_%s = tokitai_%s3(call, \"%s\");", real ? "double" : "int64_t",
            g->d->attributes[i].name, real ? "real" : "integer", g->d->attributes[i].name);
    }
    for (int i = 0; i < g->d->param_count; i++)
        say(g, "TOKITAI_UNUSED const tokitai_tensor3 *const t_%s = &call->tensors[%d];",
            g->d->tensors[g->d->params[i]].name, i);
}

/* Arrays of what is kept; their number. */
static int write_arrays(generating *g)
{
    int count = 0;
    for (int i = g->d->input_count; i < g->d->tensor_count; i++) {
        const tki_def_tensor *t = &g->d->tensors[i];
        if (!g->kept[i])
            continue;
        begin(g);
        put(g, "%s *const v_%s = blocks[%d] = calloc((size_t)(1", t->integer ? "int64_t" : "double", t->name,
            count++);
        for (int axis = 0; axis < t->rank; axis++) {
            put(g, " * ");
            put_int(g, t->extent[axis]);
        }
        put(g, ") + 1, 8);\n");
    }
    for (int i = 0; i < g->d->node_count; i++) {
        const tki_def_node *n = &g->d->nodes[i];
        if (!has_array(n))
            continue;
        begin(g);
        put(g, "TOKITAI_UNUSED double *const w%d = blocks[%d] = calloc((size_t)(1", i, count++);
        for (int k = 0; k < n->bound_count; k++) {
            put(g, " * ");
            put_int(g, g->d->indices[n->bound[k]].extent);
        }
        put(g, ") + 1, 8);\n");
    }
    return count;
}

static int count_arrays(const generating *g)
{
    int count = 0;
    for (int i = 0; i < g->d->tensor_count; i++)
        count += g->kept[i];
    for (int i = 0; i < g->d->node_count; i++)
        count += has_array(&g->d->nodes[i]);
    return count;
}

static void find_kept(generating *g)
{
    for (int i = g->d->input_count; i < g->d->tensor_count; i++)
        g->kept[i] = g->d->tensors[i].role == TKI_TENSOR_BETWEEN;
    for (int i = 0; i < g->d->node_count; i++)
        if (g->d->nodes[i].kind == TKI_NODE_READ && g->d->nodes[i].tensor >= g->d->input_count)
            g->kept[g->d->nodes[i].tensor] = true;
    for (int i = 0; i < g->d->int_count; i++)
        if (g->d->ints[i].kind == TKI_INT_ELEMENT && g->d->ints[i].tensor >= g->d->input_count)
            g->kept[g->d->ints[i].tensor] = true;
}

static void write_body(generating *g, const char **why)
{
    put(g, "TOKITAI_KERNEL3(%s)\n{\n", g->d->name);
    g->indent = 1;
    write_arguments(g);
    write_sizes(g, why);
    const int blocks = count_arrays(g);
    if (blocks > 0) {
        say(g, "void *blocks[%d];", blocks);
        write_arrays(g);
        say(g, "int failed = 0;");
        say(g, "for (int i = 0; i < %d; i++)", blocks);
        say(g, "    failed |= !blocks[i];");
        say(g, "if (!failed) {");
        g->indent++;
    }
    for (int i = g->d->input_count; i < g->d->tensor_count; i++)
        write_tensor(g, i);
    if (blocks > 0) {
        g->indent--;
        say(g, "}");
        say(g, "for (int i = 0; i < %d; i++)", blocks);
        say(g, "    free(blocks[i]);");
    }
    say(g, blocks > 0 ? "return failed;" : "return 0;");
    put(g, "}\n");
    if (is_too_large(g))
        *why = "the kernel would be longer than a megabyte";
}

/* Those that the body, or one of them, calls. */
static void write_helpers(FILE *out, const char *body)
{
    enum { COUNT = sizeof tki_plain_helpers / sizeof *tki_plain_helpers };
    bool called[COUNT];
    for (int i = COUNT - 1; i >= 0; i--) {
        called[i] = strstr(body, tki_plain_helpers[i].name);
        for (int k = i + 1; k < COUNT; k++)
            called[i] |= called[k] && strstr(tki_plain_helpers[k].text, tki_plain_helpers[i].name);
    }
    for (int i = 0; i < COUNT; i++)
        if (called[i])
            fprintf(out, "%s\n", tki_plain_helpers[i].text);
}

static void write_file(FILE *out, const tki_definition *d, const char *body)
{
    fprintf(out, "/* Plain loops, slow and right, of the definition\n *\n");
    for (const char *line = d->text; *line; line = strchr(line, '\n') + 1)
        fprintf(out, " *   %.*s\n", (int)strcspn(line, "\n"), line);
    fprintf(out,
            " */\n#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n#include <tokitai_kernel.h>\n\n");
    write_helpers(out, body);
    fputs(body, out);
}

bool tki_write_plain_loops(FILE *out, const tki_definition *definition, const char **why)
{
    char *body = NULL;
    size_t size;
    generating *g = calloc(1, sizeof *g);
    FILE *memory = g ? open_memstream(&body, &size) : NULL;
    *why = memory ? NULL : "no memory";
    if (memory) {
        g->out = memory;
        g->d = definition;
        find_kept(g);
        write_body(g, why);
        if (fclose(memory) != 0 && !*why)
            *why = "no memory";
    }
    if (!*why)
        write_file(out, definition, body);
    free(body);
    free(g);
    return !*why;
}
