/* UNTRUSTED. Plain loops: the expressions of values and integers, as C. */
#include <string.h>

#include "generate/plain_parts.h"

/* -- Integers ------------------------------------------------------------------------------------------------------------- */

void tki_put_index(generating *g, int index)
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
            tki_put_int(g, t->extent[axis]);
            put(g, " + ");
        }
        tki_put_int(g, subscripts[axis].value);
    }
}

const char *tki_numbers_of(const tki_def_tensor *t)
{
    const bool small = t->dtype == TK_F8_E4M3 || t->dtype == TK_F8_E5M2;
    return t->integer ? "integer" : t->type == TKI_TYPE_FIXED && small ? "small" : "real";
}

static void put_element(generating *g, int tensor, const tki_subscript *subscripts)
{
    const tki_def_tensor *t = &g->d->tensors[tensor];
    if (t->role == TKI_TENSOR_INPUT)
        put(g, "%s_at(t_%s, ", tki_numbers_of(t), t->name);
    else
        put(g, "v_%s[", t->name);
    put_offset(g, t, subscripts);
    put(g, t->role == TKI_TENSOR_INPUT ? ")" : "]");
}

static void put_pair(generating *g, const char *before, int a, const char *between, int b)
{
    put(g, "%s", before);
    tki_put_int(g, a);
    put(g, "%s", between);
    tki_put_int(g, b);
    put(g, ")");
}

void tki_put_int(generating *g, int i)
{
    const tki_def_int *n = &g->d->ints[i];
    if (is_too_large(g))
        return;
    switch (n->kind) {
    case TKI_INT_LITERAL: put(g, n->literal < 0 ? "(%lld)" : "%lld", (long long)n->literal); break;
    case TKI_INT_SIZE: put(g, "n_%s", g->d->sizes[n->which].name); break;
    case TKI_INT_ATTRIBUTE: put(g, "a_%s", g->d->attributes[n->which].name); break;
    case TKI_INT_INDEX: tki_put_index(g, n->which); break;
    case TKI_INT_ELEMENT: put_element(g, n->tensor, n->subscripts); break;
    case TKI_INT_FLOOR:
        put(g, "(int64_t)floor(");
        tki_put_value(g, n->which);
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

const char *tki_relation_text(tki_relation relation)
{
    static const char *const texts[] = {"==", "!=", "<", "<=", ">", ">="};
    return texts[relation];
}

void tki_put_condition(generating *g, const tki_condition *condition)
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
        tki_put_value(g, n->operand[i]);
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
        tki_put_int(g, n->subscripts[axis].value);
        put(g, " >= 0 && ");
        tki_put_int(g, n->subscripts[axis].value);
        put(g, " < ");
        tki_put_int(g, t->extent[axis]);
    }
    put(g, " ? ");
    put_element(g, n->tensor, n->subscripts);
    put(g, " : ");
    tki_put_value(g, n->operand[0]);
    put(g, ")");
}

void tki_put_place(generating *g, const tki_def_node *n, const int *at)
{
    for (int i = 0; i < n->bound_count - 2; i++)
        put(g, "(");
    for (int i = 0; i < n->bound_count; i++) {
        if (i > 0) {
            put(g, i > 1 ? ") * " : " * ");
            tki_put_int(g, g->d->indices[n->bound[i]].extent);
            put(g, " + ");
        }
        tki_put_index(g, at[i]);
    }
}

static void put_over(generating *g, int node, const tki_def_node *n)
{
    const int last = n->bound_count - 1;
    if (!n->at || g->gpu) {
        put(g, "v%d", node);
        return;
    }
    if (n->over == TKI_ROTATE_HALF) { /* its last axis is its only one, or the ones before it are as they were */
        put(g, "(");
        tki_put_index(g, n->at[last]);
        put(g, " < h%d ? -w%d[", node, node);
        tki_put_place(g, n, n->at);
        put(g, " + h%d] : w%d[", node, node);
        tki_put_place(g, n, n->at);
        put(g, " - h%d])", node);
        return;
    }
    put(g, "w%d[", node);
    tki_put_place(g, n, n->at);
    put(g, "]");
}

static void put_pieces(generating *g, const tki_def_node *n)
{
    for (int i = 0; i < n->piece_count; i++) {
        if (i < n->piece_count - 1) {
            put(g, "(");
            tki_put_index(g, n->which);
            put(g, " < ");
            tki_put_int(g, n->pieces[i + 1].start);
            put(g, " ? ");
        }
        tki_put_value(g, n->pieces[i].read);
        put(g, "%s", i < n->piece_count - 1 ? " : " : "");
    }
    for (int i = 0; i < n->piece_count - 1; i++)
        put(g, ")");
}

static void put_choice(generating *g, const tki_def_node *n)
{
    put(g, "(");
    tki_put_condition(g, &n->condition);
    put(g, " ? ");
    tki_put_value(g, n->operand[0]);
    put(g, " : ");
    tki_put_value(g, n->operand[1]);
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

void tki_put_value(generating *g, int node)
{
    const tki_def_node *n = &g->d->nodes[node];
    if (is_too_large(g))
        return;
    switch (n->kind) {
    case TKI_NODE_LITERAL: put_literal(g, n); break;
    case TKI_NODE_ATTRIBUTE: put(g, "a_%s", g->d->attributes[n->which].name); break;
    case TKI_NODE_INTEGER: tki_put_int(g, n->integer); break;
    case TKI_NODE_READ: put_read(g, n); break;
    case TKI_NODE_PRIMITIVE: put_primitive(g, n); break;
    case TKI_NODE_CAST:
        put(g, "rounded%s(%s, ", n->dtype == TK_F8_E4M3 || n->dtype == TK_F8_E5M2 ? "_to_8_bits" : "",
            dtype_text(n->dtype));
        put_operands(g, n, "", "");
        break;
    case TKI_NODE_SELECT:
        put(g, "(");
        tki_put_value(g, n->operand[0]);
        put(g, " ? ");
        tki_put_value(g, n->operand[1]);
        put(g, " : ");
        tki_put_value(g, n->operand[2]);
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
