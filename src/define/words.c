/* DECIDES. The words of the language: primitives, reductions, keywords. */
#include <string.h>

#include "define/syntax.h"

static const struct {
    const char *name;
    int operands;
} primitives[TKI_PRIMITIVE_COUNT] = {
    [TKI_ADD] = {"+", 2},
    [TKI_SUBTRACT] = {"-", 2},
    [TKI_MULTIPLY] = {"*", 2},
    [TKI_DIVIDE] = {"/", 2},
    [TKI_NEGATE] = {"- ", 1},
    [TKI_FMA] = {"fma", 3},
    [TKI_SQUARE] = {"square", 1},
    [TKI_SQRT] = {"sqrt", 1},
    [TKI_RSQRT] = {"rsqrt", 1},
    [TKI_EXP] = {"exp", 1},
    [TKI_EXP2] = {"exp2", 1},
    [TKI_LOG] = {"log", 1},
    [TKI_LOG1P] = {"log1p", 1},
    [TKI_EXPM1] = {"expm1", 1},
    [TKI_TANH] = {"tanh", 1},
    [TKI_ERF] = {"erf", 1},
    [TKI_SIGMOID] = {"sigmoid", 1},
    [TKI_ABS] = {"abs", 1},
    [TKI_MIN] = {"min", 2},
    [TKI_MAX] = {"max", 2},
    [TKI_POW] = {"pow", 2},
    [TKI_SILU] = {"silu", 1},
    [TKI_SOFTPLUS] = {"softplus", 1},
    [TKI_MISH] = {"mish", 1},
    [TKI_GELU] = {"gelu", 1},
    [TKI_GELU_TANH] = {"gelu_tanh", 1},
    [TKI_NORMAL_CDF] = {"normal_cdf", 1},
    [TKI_ONE_MINUS_SIGMOID] = {"one_minus_sigmoid", 1},
    [TKI_LOG_SIGMOID] = {"log_sigmoid", 1},
};

static const char *const overs[TKI_OVER_COUNT] = {
    [TKI_SUM] = "sum",
    [TKI_PROD] = "prod",
    [TKI_MEAN] = "mean",
    [TKI_MAXIMUM] = "max",
    [TKI_MINIMUM] = "min",
    [TKI_VAR] = "var",
    [TKI_LOG_SUM_EXP] = "log_sum_exp",
    [TKI_ARGMAX] = "argmax",
    [TKI_ARGMIN] = "argmin",
    [TKI_TOPK] = "topk",
    [TKI_SOFTMAX] = "softmax",
    [TKI_LOG_SOFTMAX] = "log_softmax",
    [TKI_STANDARDIZE] = "standardize",
    [TKI_CUMSUM] = "cumsum",
    [TKI_CUMPROD] = "cumprod",
    [TKI_CUMMAX] = "cummax",
    [TKI_CUMMIN] = "cummin",
    [TKI_ROTATE_HALF] = "rotate_half",
};

static const char *const others[] = {"op",      "where", "if",    "and",   "or",       "else",   "in",     "over",
                                     "special", "by",    "of",    "bound", "gradient", "ties",   "size",   "inf",
                                     "nan",     "cast",  "floor", "relu",  "clamp",    "select", "pieces", "philox"};

const char *tki_primitive_name(tki_primitive primitive)
{
    return primitives[primitive].name;
}

int tki_primitive_operands(tki_primitive primitive)
{
    return primitives[primitive].operands;
}

const char *tki_over_name(tki_over over)
{
    return overs[over];
}

bool tki_over_keeps_axes(tki_over over)
{
    return over >= TKI_SOFTMAX;
}

const char *tki_node_name(const tki_def_node *n)
{
    switch (n->kind) {
    case TKI_NODE_PRIMITIVE: return tki_primitive_name(n->primitive);
    case TKI_NODE_OVER: return tki_over_name(n->over);
    case TKI_NODE_CAST: return "cast";
    case TKI_NODE_SELECT: return "select";
    case TKI_NODE_COMPARE: return "a comparison";
    case TKI_NODE_AND: return "and";
    case TKI_NODE_PIECES: return "pieces";
    case TKI_NODE_READ: return "an element";
    case TKI_NODE_INTEGER: return "an integer";
    case TKI_NODE_LITERAL:
    case TKI_NODE_ATTRIBUTE: return "a constant";
    case TKI_NODE_CHOICE: return "a choice";
    }
    return "";
}

int tki_primitive_find(const char *word)
{
    for (int i = 0; i < TKI_PRIMITIVE_COUNT; i++)
        if (!strcmp(primitives[i].name, word))
            return i;
    return -1;
}

int tki_over_find(const char *word)
{
    for (int i = 0; i < TKI_OVER_COUNT; i++)
        if (!strcmp(overs[i], word))
            return i;
    return -1;
}

bool tki_word_is_reserved(const char *word)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i], word))
            return true;
    return tki_primitive_find(word) >= 0 || tki_over_find(word) >= 0;
}
