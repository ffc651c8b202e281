/* UNTRUSTED. Plain loops: what stands in a definition, line by line, as loops over the axes, or for one element of a GPU's thread. A reduction is
 * computed as soon as the loops around it have all the indices that it depends on. */
#include "generate/plain_parts.h"

/* -- Reductions ---------------------------------------------------------------------------------------------------------- */

static void compute_ready(generating *g, int node);

static void open_loop(generating *g, int index)
{
    begin(g);
    put(g, "for (int64_t ");
    tki_put_index(g, index);
    put(g, " = 0; ");
    tki_put_index(g, index);
    put(g, " < ");
    tki_put_int(g, g->d->indices[index].extent);
    put(g, "; ");
    tki_put_index(g, index);
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
static void put_tests(generating *g, const tki_def_node *n, const char *first)
{
    for (int i = 0; i < n->test_count; i++) {
        put(g, "%s", i ? " && " : first);
        tki_put_int(g, n->tests[i].a);
        put(g, " %s ", tki_relation_text(n->tests[i].relation));
        tki_put_int(g, n->tests[i].b);
    }
}

static void skip_absent(generating *g, const tki_def_node *n, const char *before)
{
    if (n->test_count == 0)
        return;
    begin(g);
    put(g, "if (!(");
    put_tests(g, n, "");
    put(g, ")) {\n");
    if (before[0])
        say(g, "    %s", before);
    say(g, "    continue;");
    say(g, "}");
}

static bool accumulates(const tki_def_node *n)
{
    return n->over == TKI_CUMSUM || n->over == TKI_CUMPROD || n->over == TKI_CUMMAX || n->over == TKI_CUMMIN;
}

/* The loops with e, the term, in them. */
static int open_terms(generating *g, int node, const tki_def_node *n)
{
    const int ready = g->ready_count;
    open_loops(g, n);
    if (accumulates(n)) {
        begin(g);
        put(g, "if (");
        tki_put_index(g, n->bound[0]);
        put(g, " > ");
        tki_put_index(g, n->at[0]);
        put(g, ")\n");
        say(g, "    break;");
    }
    skip_absent(g, n, "");
    compute_ready(g, n->operand[0]);
    begin(g);
    put(g, "const double e%d = ", node);
    tki_put_value(g, n->operand[0]);
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
        tki_put_value(g, n->operand[1]);
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
    tki_put_place(g, n, n->bound);
    put(g, n->over == TKI_ARGMIN ? "] = -(" : "] = (");
    tki_put_value(g, n->operand[0]);
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
    tki_put_place(g, n, n->bound);
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
    tki_put_value(g, n->operand[1]);
    put(g, ");\n");
    over_array(g, node, n, "*e = 0;", "*e = (*e - s%d / c%d) * r%d;", node, node, node);
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
static void open_passes(generating *g, int node, const tki_def_node *n)
{
    begin(g);
    put(g, "for (int64_t pass%d = 0; pass%d <= ", node, node);
    if (n->over == TKI_TOPK)
        tki_put_int(g, n->integer);
    else
        put(g, "0");
    put(g, "; pass%d++) {\n", node);
    g->indent++;
    say(g, "int64_t best%d = -1;", node);
}

static void compute_place(generating *g, int node, const tki_def_node *n)
{
    const char *name = g->d->indices[n->bound[0]].name;
    const int i = n->bound[0];
    say(g, "int64_t v%d = -1;", node);
    open_passes(g, node, n);
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

bool tki_has_array(const generating *g, const tki_def_node *n)
{
    return !g->gpu && n->kind == TKI_NODE_OVER && (n->at || n->type == TKI_INTEGER);
}

/* -- Without arrays --------------------------------------------------------------------------------------------------------- */

/* A block with e, the term at the element's own place, or half an extent away. */
static int open_own(generating *g, int node, const tki_def_node *n)
{
    const int ready = g->ready_count;
    say(g, "{");
    g->indent++;
    for (int i = 0; i < n->bound_count; i++) {
        begin(g);
        put(g, "TOKITAI_UNUSED const int64_t ");
        tki_put_index(g, n->bound[i]);
        put(g, " = ");
        tki_put_index(g, n->at[i]);
        if (n->over == TKI_ROTATE_HALF) {
            put(g, " < h%d ? ", node);
            tki_put_index(g, n->at[i]);
            put(g, " + h%d : ", node);
            tki_put_index(g, n->at[i]);
            put(g, " - h%d", node);
        }
        put(g, ";\n");
        g->bound[n->bound[i]] = true;
    }
    if (n->test_count > 0) {
        begin(g);
        put(g, "if (");
        put_tests(g, n, "");
        put(g, ") {\n");
        g->indent++;
    }
    compute_ready(g, n->operand[0]);
    begin(g);
    put(g, "const double e%d = ", node);
    tki_put_value(g, n->operand[0]);
    put(g, ";\n");
    return ready;
}

static void close_own(generating *g, const tki_def_node *n, int ready)
{
    for (int i = n->test_count > 0 ? 0 : 1; i < 2; i++) {
        g->indent--;
        say(g, "}");
    }
    for (int i = 0; i < n->bound_count; i++)
        g->bound[n->bound[i]] = false;
    g->ready_count = ready;
}

static void own_softmax(generating *g, int node, const tki_def_node *n)
{
    const bool logarithm = n->over == TKI_LOG_SOFTMAX;
    compute_largest(g, node, n, "-INFINITY", "<=");
    say(g, "double s%d = 0, v%d = %s;", node, node, logarithm ? "-INFINITY" : "0");
    over_terms(g, node, n, "s%d += exp(e%d - m%d);", node, node, node);
    const int ready = open_own(g, node, n);
    say(g, logarithm ? "v%d = e%d - m%d - log(s%d);" : "v%d = exp(e%d - m%d) / s%d;", node, node, node, node);
    close_own(g, n, ready);
}

static void own_standardized(generating *g, int node, const tki_def_node *n)
{
    say(g, "double s%d = 0, c%d = 0, q%d = 0, v%d = 0;", node, node, node, node);
    over_terms(g, node, n, "s%d += e%d, c%d++;", node, node, node);
    over_terms(g, node, n, "q%d += (e%d - s%d / c%d) * (e%d - s%d / c%d);", node, node, node, node, node, node, node);
    const int ready = open_own(g, node, n);
    begin(g);
    put(g, "v%d = (e%d - s%d / c%d) / sqrt(q%d / c%d + ", node, node, node, node, node, node);
    tki_put_value(g, n->operand[1]);
    put(g, ");\n");
    close_own(g, n, ready);
}

static void own_running(generating *g, int node, const tki_def_node *n)
{
    const bool sum = n->over == TKI_CUMSUM, product = n->over == TKI_CUMPROD, most = n->over == TKI_CUMMAX;
    say(g, "double v%d = %s;", node, sum ? "0" : product ? "1" : most ? "-INFINITY" : "INFINITY");
    if (sum || product)
        over_terms(g, node, n, "v%d %s= e%d;", node, sum ? "+" : "*", node);
    else
        over_terms(g, node, n, "v%d = %s(v%d, e%d);", node, most ? "larger" : "smaller", node, node);
}

/* One pass for each place; the key of the last one is kept. */
static void own_place(generating *g, int node, const tki_def_node *n)
{
    const char *name = g->d->indices[n->bound[0]].name, *minus = n->over == TKI_ARGMIN ? "-" : "";
    const int i = n->bound[0];
    say(g, "int64_t v%d = -1;", node);
    say(g, "double k%d = 0;", node);
    open_passes(g, node, n);
    say(g, "double b%d = 0;", node);
    const int ready = open_terms(g, node, n);
    say(g, "if (v%d >= 0 && !comes_before(k%d, v%d, %se%d, %s_%d))", node, node, node, minus, node, name, i);
    say(g, "    continue;");
    say(g, "if (best%d < 0 || comes_before(%se%d, %s_%d, b%d, best%d)) {", node, minus, node, name, i, node, node);
    say(g, "    best%d = %s_%d;", node, name, i);
    say(g, "    b%d = %se%d;", node, minus, node);
    say(g, "}");
    close_terms(g, n, ready);
    say(g, "v%d = best%d < 0 ? 0 : best%d;", node, node, node);
    say(g, "k%d = b%d;", node, node);
    g->indent--;
    say(g, "}");
}

/* What keeps its axes, and places, for one element: all terms are computed again. */
static void compute_own(generating *g, int node, const tki_def_node *n)
{
    if (n->type == TKI_INTEGER) {
        own_place(g, node, n);
    } else if (n->over == TKI_SOFTMAX || n->over == TKI_LOG_SOFTMAX) {
        own_softmax(g, node, n);
    } else if (n->over == TKI_STANDARDIZE) {
        own_standardized(g, node, n);
    } else if (n->over == TKI_ROTATE_HALF) {
        begin(g);
        put(g, "const int64_t h%d = ", node);
        tki_put_int(g, g->d->indices[n->bound[0]].extent);
        put(g, " / 2;\n");
        say(g, "double v%d;", node);
        const int ready = open_own(g, node, n);
        begin(g);
        put(g, "v%d = ", node);
        tki_put_index(g, n->at[0]);
        put(g, " < h%d ? -e%d : e%d;\n", node, node, node);
        close_own(g, n, ready);
    } else {
        own_running(g, node, n);
    }
}

static void compute(generating *g, int node)
{
    const tki_def_node *n = &g->d->nodes[node];
    if (g->gpu && (n->at || n->type == TKI_INTEGER)) {
        compute_own(g, node, n);
        return;
    }
    if (!tki_has_array(g, n)) {
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
        tki_put_int(g, g->d->indices[n->bound[0]].extent);
        put(g, " / 2;\n");
    }
}

/* Do the loops around have what the reduction depends on? Where the element is that is taken from its array does not matter. */
static bool is_bound(const generating *g, const tki_def_node *n)
{
    for (int i = 0; i < n->index_count; i++) {
        bool place = false;
        for (int k = 0; tki_has_array(g, n) && n->at && k < n->bound_count; k++)
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
            tki_put_int(g, t->extent[axis]);
            put(g, " + ");
        }
        tki_put_index(g, t->own[axis]);
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
        tki_put_value(g, value);
        put(g, ";\n");
    }
    if (t->role != TKI_TENSOR_OUTPUT)
        return;
    begin(g);
    put(g, "put_%s(t_%s, ", tki_numbers_of(t), t->name);
    put_own_offset(g, t);
    put(g, ", ");
    if (g->kept[tensor]) {
        put(g, "v_%s[", t->name);
        put_own_offset(g, t);
        put(g, "]");
    } else {
        tki_put_value(g, value);
    }
    put(g, ");\n");
}

static void compute_tensor(generating *g, int tensor, int value)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    const int ready = g->ready_count;
    compute_ready(g, value);
    for (int axis = 0; axis < t->rank && !g->gpu; axis++) {
        open_loop(g, t->own[axis]);
        compute_ready(g, value);
    }
    store(g, tensor, value);
    for (int axis = t->rank - 1; axis >= 0 && !g->gpu; axis--)
        close_loop(g, t->own[axis]);
    g->ready_count = ready;
}

void tki_write_tensor(generating *g, int tensor)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    int value = t->value;
    int open = 0;
    begin(g);
    if (t->present.count > 0 && !g->gpu) {
        put(g, "if (");
        tki_put_condition(g, &t->present);
        put(g, ") ");
    }
    put(g, "{ /* %s */\n", t->name);
    g->indent++;
    while (value >= 0 && g->d->nodes[value].kind == TKI_NODE_CHOICE) {
        const tki_def_node *n = &g->d->nodes[value];
        begin(g);
        put(g, "if (");
        tki_put_condition(g, &n->condition);
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
