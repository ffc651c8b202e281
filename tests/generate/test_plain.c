/* Plain loops of definitions: compiled by the system's compiler and called; what they give is compared with other formulas, which stand
 * here. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/random.h"
#include "define/definition.h"
#include "model/case.h"
#include "tests/unit_test.h"
#include "tests/work_folder.h"
#include "tokitai_kernel.h"

enum { MOST = 4096, MOST_TENSORS = 12 };

static tk_ctx *ctx;
static tki_random draws;

/* -- A kernel, and a call of it ----------------------------------------------------------------------------------------------- */

typedef struct kernel {
    const tk_contract *contract;
    tk_case c;
    void *library;
    int (*run)(const tokitai_call3 *call);
    double real[MOST_TENSORS][MOST]; /* of inputs and outputs of real numbers, which are fp32 here */
    int64_t integer[MOST_TENSORS][MOST];
} kernel;

static kernel k;

static void run_program(char *const arguments[])
{
    const pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void compile(const char *source, const char *library)
{
    char include[4200], headers[4200];
    snprintf(include, sizeof include, "-I%s/include", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    snprintf(headers, sizeof headers, "-I%s/include", getenv("BUILD_DIR") ? getenv("BUILD_DIR") : "build");
    run_program((char *[]){(char[]){"cc"}, (char[]){"-std=gnu11"}, (char[]){"-O1"}, (char[]){"-Wall"},
                           (char[]){"-Wextra"}, (char[]){"-Werror"}, (char[]){"-shared"}, (char[]){"-fPIC"}, include,
                           headers, (char[]){"-o"}, (char *)(uintptr_t)library, (char *)(uintptr_t)source,
                           (char[]){"-lm"}, NULL});
}

static void load(const char *text, const char *name)
{
    char path[4300], library[4300], symbol[128], *source = NULL;
    memset(&k, 0, sizeof k);
    if (tk_op_define(ctx, text, strlen(text), name, &k.contract) != TK_OK ||
        tk_op_plain_kernel(ctx, k.contract, NULL, &source) != TK_OK)
        fail_msg("%s\n%s", tk_ctx_message(ctx), text);
    snprintf(path, sizeof path, "%s/%s.c", work, k.contract->name);
    snprintf(library, sizeof library, "%s/%s.so", work, k.contract->name);
    FILE *out = fopen(path, "w");
    assert_true(out && fputs(source, out) >= 0 && fclose(out) == 0);
    free(source);
    compile(path, library);
    k.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    snprintf(symbol, sizeof symbol, "tokitai_%s_v3", k.contract->name);
    if (!k.library)
        fail_msg("%s", dlerror());
    *(void **)&k.run = dlsym(k.library, symbol);
    assert_non_null((void *)k.run);
    k.c = tk_case_init(k.contract, TK_F32);
    k.c.index_dtype = TK_I64;
}

/* Sizes and attributes of the case; inputs are drawn, integers below `below`. */
static void set(const int64_t dims[], int64_t below)
{
    memcpy(k.c.dims, dims, (size_t)k.contract->dim_count * sizeof *dims);
    if (k.contract->derive)
        k.contract->derive(&k.c);
    if (tki_case_check_shape(ctx, &k.c) != TK_OK)
        fail_msg("%s", tk_ctx_message(ctx));
    for (int p = 0; p < k.contract->param_count; p++)
        for (int64_t i = 0; i < tk_case_elements(&k.c, p); i++) {
            k.real[p][i] = (double)(float)tki_random_normal(&draws);
            k.integer[p][i] = (int64_t)tki_random_below(&draws, (uint64_t)below);
            if (k.contract->params[p].least != 0 || k.contract->params[p].most != 0)
                k.real[p][i] = fabs(k.real[p][i]) + 0.1;
        }
}

static bool is_real(int p)
{
    return k.contract->params[p].kind == TK_KIND_VALUE || k.contract->params[p].dtype == TK_F32;
}

static void call(void)
{
    static float real[MOST_TENSORS][MOST];
    static int64_t integer[MOST_TENSORS][MOST], shapes[MOST_TENSORS][TK_MAX_RANK];
    tokitai_tensor3 tensors[MOST_TENSORS] = {{0}};
    tokitai_attribute attributes[TK_MAX_ATTRIBUTES];
    for (int p = 0; p < k.contract->param_count; p++) {
        const tk_param *param = &k.contract->params[p];
        const bool there = tk_case_has(&k.c, p);
        for (int axis = 0; axis < param->rank; axis++)
            shapes[p][axis] = there ? k.c.dims[param->dim[axis]] : 0;
        for (int i = 0; i < MOST; i++) {
            real[p][i] = param->output ? -12345 : (float)k.real[p][i];
            integer[p][i] = param->output ? -12345 : k.integer[p][i];
        }
        tensors[p] = (tokitai_tensor3){.name = param->name,
                                       .data = !there       ? NULL
                                               : is_real(p) ? (void *)real[p]
                                                            : (void *)integer[p],
                                       .dtype = is_real(p) ? TOKITAI_F32 : TOKITAI_I64,
                                       .output = param->output,
                                       .rank = param->rank,
                                       .shape = shapes[p]};
    }
    for (int i = 0; i < k.contract->attribute_count; i++) {
        const tk_attribute *a = &k.contract->attributes[i];
        attributes[i] = (tokitai_attribute){.name = a->name,
                                            .type = a->type == TK_ATTRIBUTE_REAL     ? TOKITAI_REAL
                                                    : a->type == TK_ATTRIBUTE_CHOICE ? TOKITAI_CHOICE
                                                                                     : TOKITAI_INTEGER,
                                            .real = a->type == TK_ATTRIBUTE_REAL ? k.c.attributes[i].real : 0,
                                            .integer = a->type == TK_ATTRIBUTE_REAL ? 0 : k.c.attributes[i].integer};
    }
    const tokitai_call3 of = {sizeof of, 1,         NULL, k.contract->param_count, k.contract->attribute_count,
                              tensors,   attributes};
    assert_int_equal(k.run(&of), 0);
    for (int p = 0; p < k.contract->param_count; p++)
        for (int i = 0; i < MOST && k.contract->params[p].output; i++) {
            k.real[p][i] = (double)real[p][i];
            k.integer[p][i] = integer[p][i];
        }
}

/* An element of an output; what is behind the last one is as it was. */
static void check(int p, int64_t i, double expected)
{
    const double found = k.real[p][i];
    if (!(fabs(found - expected) <= 1e-6 * (1 + fabs(expected))) && !(isnan(found) && isnan(expected)))
        fail_msg("%s: %s[%lld] is %.9g, expected %.9g", k.contract->name, k.contract->params[p].name, (long long)i,
                 found, expected);
}

static void finish(void)
{
    for (int p = 0; p < k.contract->param_count; p++)
        if (k.contract->params[p].output)
            assert_true(is_real(p) ? k.real[p][tk_case_elements(&k.c, p)] == -12345
                                   : k.integer[p][tk_case_elements(&k.c, p)] == -12345);
    dlclose(k.library);
    tk_ctx_destroy(ctx);
}

static void load_ours(const char *file, const char *name)
{
    char path[4300], text[8192];
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    snprintf(path, sizeof path, "%s/src/ops/definitions/%s.op", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".",
             file);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    load(text, name);
}
#define DIMS(...) ((const int64_t[TK_MAX_DIMS]){__VA_ARGS__})

/* -- Element by element -------------------------------------------------------------------------------------------------------- */

static double relu_of(double x)
{
    return x > 0 ? x : 0;
}

static double softplus_of(double x)
{
    return log(1 + exp(x));
}

static double silu_of(double x)
{
    return x * 0.5 * (1 + tanh(x / 2));
}

static double mish_of(double x)
{
    const double n = exp(x) * (exp(x) + 2);
    return x * n / (n + 2);
}

static double gelu_of(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double gelu_tanh_of(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * pow(x, 3))));
}

TEST(functions_of_one_element)
{
    static const struct {
        const char *file, *name;
        double (*of)(double x);
    } all[] = {{"relu", "relu", relu_of}, {"softplus", "softplus", softplus_of},
               {"silu", "silu", silu_of}, {"mish", "mish", mish_of},
               {"gelu", "gelu", gelu_of}, {"gelu", "gelu_tanh", gelu_tanh_of}};
    for (size_t f = 0; f < sizeof all / sizeof *all; f++) {
        load_ours(all[f].file, all[f].name);
        set(DIMS(100), 1);
        k.real[0][3] = NAN;
        call();
        for (int i = 0; i < 100; i++)
            check(1, i, i == 3 ? NAN : all[f].of(k.real[0][i]));
        finish();
    }
}

/* -- Norms ------------------------------------------------------------------------------------------------------------------------ */

enum { ROWS = 3, COLS = 7 };

/* (x - mean) / sqrt(var + eps), or without the mean. */
static double normalised(const double *x, bool centred, double eps, int i, double *scale)
{
    double mean = 0, square = 0;
    for (int c = 0; c < COLS && centred; c++)
        mean += x[c] / COLS;
    for (int c = 0; c < COLS; c++)
        square += (x[c] - mean) * (x[c] - mean) / COLS;
    *scale = 1 / sqrt(square + eps);
    return (x[i] - mean) * *scale;
}

TEST(norms_forward)
{
    double scale;
    load_ours("rmsnorm", "rmsnorm_fwd");
    set(DIMS(ROWS, COLS), 1);
    call();
    for (int i = 0; i < ROWS * COLS; i++) {
        check(2, i, normalised(k.real[0] + i / COLS * COLS, false, 1e-6, i % COLS, &scale) * k.real[1][i % COLS]);
        check(3, i / COLS, scale);
    }
    finish();
    load_ours("layernorm", "layernorm_fwd");
    set(DIMS(ROWS, COLS), 1);
    call();
    for (int i = 0; i < ROWS * COLS; i++) {
        check(3, i,
              normalised(k.real[0] + i / COLS * COLS, true, 1e-5, i % COLS, &scale) * k.real[1][i % COLS] +
                  k.real[2][i % COLS]);
        check(5, i / COLS, scale);
    }
    finish();
}

/* The gradient by differences of the forward function in doubles. */
static double weighted_norm(const double *x, const double *w, const double *grad, bool centred)
{
    double sum = 0, scale;
    for (int c = 0; c < COLS; c++)
        sum += grad[c] * w[c] * normalised(x, centred, 0, c, &scale);
    return sum;
}

static double slope(const double *x, const double *w, const double *grad, bool centred, int at)
{
    double moved[COLS];
    memcpy(moved, x, sizeof moved);
    moved[at] = x[at] + 1e-5;
    const double up = weighted_norm(moved, w, grad, centred);
    moved[at] = x[at] - 1e-5;
    return (up - weighted_norm(moved, w, grad, centred)) / 2e-5;
}

static void check_norm_backward(const char *file, const char *name, bool centred)
{
    load_ours(file, name);
    set(DIMS(ROWS, COLS), 1);
    const int rstd = centred ? 4 : 3, grad_x = rstd + 1;
    for (int r = 0; r < ROWS; r++) {
        const double *x = k.real[1] + r * COLS;
        double mean = 0, scale;
        for (int c = 0; c < COLS; c++)
            mean += x[c] / COLS;
        normalised(x, centred, 0, 0, &scale);
        k.real[rstd][r] = scale;
        if (centred)
            k.real[3][r] = mean;
    }
    call();
    for (int c = 0; c < COLS; c++) {
        double weight = 0, bias = 0, scale;
        for (int r = 0; r < ROWS; r++) {
            const double *grad = k.real[0] + r * COLS, *x = k.real[1] + r * COLS;
            weight += grad[c] * normalised(x, centred, 0, c, &scale);
            bias += grad[c];
            assert_true(fabs(k.real[grad_x][r * COLS + c] - slope(x, k.real[2], grad, centred, c)) < 1e-5);
        }
        check(grad_x + 1, c, weight);
        if (centred)
            check(grad_x + 2, c, bias);
    }
    finish();
}

TEST(norms_backward)
{
    check_norm_backward("rmsnorm", "rmsnorm_bwd", false);
    check_norm_backward("layernorm", "layernorm_bwd", true);
}

/* -- Rows --------------------------------------------------------------------------------------------------------------------------- */

static double sum_of_exp(const double *x, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += exp(x[i]);
    return sum;
}

TEST(rows)
{
    static const char *const names[] = {"softmax", "log_softmax"};
    for (int f = 0; f < 2; f++) {
        load_ours("softmax", names[f]);
        set(DIMS(ROWS, COLS), 1);
        call();
        for (int i = 0; i < ROWS * COLS; i++) {
            const double y = exp(k.real[0][i]) / sum_of_exp(k.real[0] + i / COLS * COLS, COLS);
            check(1, i, f ? log(y) : y);
        }
        finish();
    }
    load_ours("cumsum", "cumsum");
    set(DIMS(ROWS, COLS), 1);
    call();
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++)
        check(1, i, sum = (i % COLS ? sum : 0) + k.real[0][i]);
    finish();
}

TEST(cross_entropy)
{
    load_ours("cross_entropy", "cross_entropy");
    set(DIMS(ROWS, COLS), COLS);
    call();
    for (int r = 0; r < ROWS; r++)
        check(2, r, log(sum_of_exp(k.real[0] + r * COLS, COLS)) - k.real[0][r * COLS + k.integer[1][r]]);
    finish();
    load_ours("cross_entropy", "cross_entropy_bwd");
    set(DIMS(ROWS, COLS), COLS);
    call();
    for (int i = 0; i < ROWS * COLS; i++)
        check(3, i,
              k.real[0][i / COLS] * (exp(k.real[1][i]) / sum_of_exp(k.real[1] + i / COLS * COLS, COLS) -
                                     (k.integer[2][i / COLS] == i % COLS)));
    finish();
    for (int total = 0; total < 2; total++) {
        load_ours("cross_entropy", "cross_entropy_all");
        k.c.attributes[0].integer = total;
        set(DIMS(ROWS, COLS), COLS);
        call();
        double sum = 0;
        for (int r = 0; r < ROWS; r++)
            sum += log(sum_of_exp(k.real[0] + r * COLS, COLS)) - k.real[0][r * COLS + k.integer[1][r]];
        check(2, 0, total ? sum : sum / ROWS);
        finish();
    }
}

/* -- Indices -------------------------------------------------------------------------------------------------------------------------- */

TEST(indices)
{
    load_ours("embedding", "embedding");
    set(DIMS(5, 4, 3), 4);
    call();
    for (int i = 0; i < 15; i++)
        check(2, i, k.real[1][k.integer[0][i / 3] * 3 + i % 3]);
    finish();
    load_ours("embedding", "embedding_grad");
    set(DIMS(5, 3, 4), 4);
    call();
    for (int i = 0; i < 12; i++) {
        double sum = 0;
        for (int q = 0; q < 5; q++)
            sum += k.integer[1][q] == i / 3 ? k.real[0][q * 3 + i % 3] : 0;
        check(2, i, sum);
    }
    finish();
    load_ours("topk", "topk");
    set(DIMS(ROWS, COLS), 1);
    k.real[0][4] = k.real[0][2];
    call();
    for (int i = 0; i < ROWS * 4; i++) {
        const double *x = k.real[0] + i / 4 * COLS, value = k.real[1][i];
        int before = 0;
        for (int c = 0; c < COLS; c++)
            before += x[c] > value || (x[c] == value && c < k.integer[2][i]);
        assert_int_equal(before, i % 4);
        check(1, i, x[k.integer[2][i]]);
    }
    finish();
}

/* -- Products --------------------------------------------------------------------------------------------------------------------- */

TEST(matrices)
{
    load_ours("matmul", "matmul");
    set(DIMS(3, 4, 5), 1);
    call();
    for (int i = 0; i < 15; i++) {
        double sum = 0;
        for (int j = 0; j < 4; j++)
            sum += k.real[0][i / 5 * 4 + j] * k.real[1][j * 5 + i % 5];
        check(2, i, sum);
    }
    finish();
}

TEST(causal_attention)
{
    enum { B = 2, T = 3, D = 4, E = 5 };
    load_ours("attention", "attention_causal");
    set(DIMS(B, T, D, T, E), 1);
    call();
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int e = 0; e < E; e++) {
                double above = 0, below = 0;
                for (int u = 0; u <= t; u++) {
                    double dot = 0;
                    for (int d = 0; d < D; d++)
                        dot += k.real[0][(b * T + t) * D + d] * k.real[1][(b * T + u) * D + d];
                    above += exp(0.125 * dot) * k.real[2][(b * T + u) * E + e];
                    below += exp(0.125 * dot);
                }
                check(3, (b * T + t) * E + e, above / below);
            }
    finish();
}

/* Every input element goes to the outputs that it reaches. */
static void check_convolution(int stride, int pad, int dilation, int groups, bool bias)
{
    enum { N = 2, C = 4, H = 5, W = 6, O = 4, R = 3, S = 2 };
    static double sums[MOST];
    const int64_t values[] = {stride, pad, dilation, groups, bias};
    load_ours("conv2d", "conv2d");
    for (int i = 0; i < 5; i++)
        k.c.attributes[i].integer = values[i];
    set(DIMS(N, C, H, W, O, 0, R, S), 1);
    call();
    const int P = (int)k.c.dims[8], Q = (int)k.c.dims[9], D = C / groups;
    for (int i = 0; i < N * O * P * Q; i++)
        sums[i] = bias ? k.real[2][i / (P * Q) % O] : 0;
    for (int64_t i = 0; i < (int64_t)N * C * H * W; i++)
        for (int j = 0; j < O * R * S; j++) {
            const int n = (int)(i / (C * H * W)), c = (int)(i / (H * W) % C), h = (int)(i / W % H), w = (int)(i % W);
            const int o = j / (R * S), r = j / S % R, s = j % S;
            const int p = h + pad - r * dilation, q = w + pad - s * dilation;
            if (c / D == o / (O / groups) && p >= 0 && q >= 0 && p % stride == 0 && q % stride == 0 &&
                p / stride < P && q / stride < Q)
                sums[((n * O + o) * P + p / stride) * Q + q / stride] += k.real[0][i] *
                                                                         k.real[1][((o * D + c % D) * R + r) * S + s];
        }
    for (int i = 0; i < N * O * P * Q; i++)
        check(3, i, sums[i]);
    finish();
}

TEST(convolutions)
{
    check_convolution(1, 0, 1, 1, true);
    check_convolution(2, 1, 1, 2, false);
    check_convolution(1, 2, 2, 4, true);
}

TEST(pooling)
{
    enum { H = 5, W = 7 };
    load_ours("max_pool2d", "max_pool2d");
    k.c.attributes[0].integer = 3;
    k.c.attributes[2].integer = 1;
    set(DIMS(1, 2, H, W), 1);
    call();
    const int P = (int)k.c.dims[4], Q = (int)k.c.dims[5];
    for (int i = 0; i < 2 * P * Q; i++) {
        double largest = -INFINITY;
        for (int j = 0; j < H * W; j++)
            if (abs(j / W - i / Q % P * 2) <= 1 && abs(j % W - i % Q * 2) <= 1)
                largest = fmax(largest, k.real[0][i / (P * Q) * H * W + j]);
        check(1, i, largest);
    }
    finish();
}

/* -- The rest of the language --------------------------------------------------------------------------------------------------------- */

TEST(dropout_keeps_by_philox)
{
    /* The published vectors for key 0 and counter 0 of Philox4x32-10. */
    static const uint32_t words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    load("op words(x[n]) -> y[n]: int\n    y = philox(0, n)\n", NULL);
    set(DIMS(4), 1);
    call();
    for (int i = 0; i < 4; i++)
        assert_int_equal(k.integer[1][i], words[i]);
    finish();
    load_ours("dropout", "dropout");
    set(DIMS(100), 1);
    call();
    int kept = 0;
    for (int i = 0; i < 100; i++) {
        kept += k.real[1][i] != 0;
        check(1, i, k.real[1][i] == 0 ? 0 : 2 * k.real[0][i]);
    }
    assert_in_range(kept, 25, 75);
    finish();
}

TEST(what_keeps_its_axes)
{
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    load("op kept(x[n, m], a[k], b[j]) -> p[n, m], q[n, m], r[n, m], s[i], t[n], u[n]\n"
         "    where i = k + j\n"
         "    p = cumprod[m | m != 1](x)\n"
         "    q = cummin[m](x)\n"
         "    r = rotate_half[m](x)\n"
         "    s[l] = pieces(a[l], b[l - size(a)])\n"
         "    t = var[m](x, 1)\n"
         "    u = prod[m](clamp(x, -1, 0.5)) + log_sum_exp[m | m > 0](x)\n",
         NULL);
    set(DIMS(2, 4, 2, 3), 1);
    call();
    for (int n = 0; n < 2; n++) {
        const double *x = k.real[0] + 4 * n;
        double product = 1, least = INFINITY, mean = 0, square = 0, clamped = 1;
        for (int m = 0; m < 4; m++) {
            product *= m == 1 ? 1 : x[m];
            least = fmin(least, x[m]);
            mean += x[m] / 4;
            clamped *= fmin(fmax(x[m], -1), 0.5);
            check(3, 4 * n + m, product);
            check(4, 4 * n + m, least);
            check(5, 4 * n + m, m < 2 ? -x[m + 2] : x[m - 2]);
        }
        for (int m = 0; m < 4; m++)
            square += (x[m] - mean) * (x[m] - mean);
        check(7, n, square / 3);
        check(8, n, clamped + log(sum_of_exp(x + 1, 3)));
    }
    for (int i = 0; i < 5; i++)
        check(6, i, i < 2 ? k.real[1][i] : k.real[2][i - 2]);
    finish();
}

/* Each number of 8 bits is what it was, and what lies between two is the nearer one, or the even one. */
TEST(formats_of_8_and_16_bits)
{
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    load("op round(x[n]) -> a[n], b[n], c[n], d[n], e[n]\n"
         "    a = cast(e4m3, x)\n    b = cast(e5m2, x)\n    c = cast(f16, x)\n    d = cast(bf16, x)\n    e = "
         "cast(f32, x)\n",
         NULL);
    static const struct {
        double x, rounded[5];
    } numbers[] = {
        {1, {1, 1, 1, 1, 1}},
        {1.0625, {1, 1, 1.0625, 1.0625, 1.0625}},
        {1.1875, {1.25, 1.25, 1.1875, 1.1875, 1.1875}},
        {-1.125, {-1.125, -1, -1.125, -1.125, -1.125}},
        {448, {448, 448, 448, 448, 448}},
        {464, {448, 448, 464, 464, 464}},
        {465, {NAN, 448, 465, 464, 465}},
        {0x1p-9, {0x1p-9, 0x1p-9, 0x1p-9, 0x1p-9, 0x1p-9}},
        {0x1p-10, {0, 0x1p-10, 0x1p-10, 0x1p-10, 0x1p-10}},
        {0x1.8p-17, {0, 0x1p-16, 0x1.8p-17, 0x1.8p-17, 0x1.8p-17}},
        {61439, {NAN, 57344, 61440, 61440, 61439}},
        {61440, {NAN, INFINITY, 61440, 61440, 61440}},
        {-INFINITY, {NAN, -INFINITY, -INFINITY, -INFINITY, -INFINITY}},
        {NAN, {NAN, NAN, NAN, NAN, NAN}},
    };
    const int count = sizeof numbers / sizeof *numbers;
    set(DIMS(count), 1);
    for (int i = 0; i < count; i++)
        k.real[0][i] = numbers[i].x;
    call();
    for (int i = 0; i < count; i++)
        for (int p = 0; p < 5; p++)
            if (isinf(numbers[i].rounded[p]))
                assert_true(k.real[p + 1][i] == numbers[i].rounded[p]);
            else
                check(p + 1, i, numbers[i].rounded[p]);
    finish();
}

/* Nothing of a definition gets out of its comment, and no name is one of C's. */
TEST(names_of_c_are_names_like_others)
{
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    load("op int(double[for], while[for]; return: real = 2, if_2: choice(no, yes)) -> static[for], main[for]\n"
         "    volatile = double * return\n    static = volatile - while\n    main = static * static\n",
         NULL);
    set(DIMS(5), 1);
    call();
    for (int i = 0; i < 5; i++) {
        const double y = 2 * k.real[0][i] - k.real[1][i];
        check(2, i, y);
        check(3, i, y * y);
    }
    finish();
}

TEST(what_has_no_kernel_is_said)
{
    char *source;
    const tk_contract *contract;
    char text[8192] = "op f(x[n]";
    assert_int_equal(tk_ctx_create(&ctx), TK_OK);
    assert_int_equal(tk_op_plain_kernel(ctx, tk_contract_find("gelu_fwd"), NULL, &source), TK_BAD_ARGUMENT);
    /* Each of them doubles what is written. */
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", b%d[n] if c%d == p", i, i % 8);
    snprintf(text + strlen(text), sizeof text - strlen(text), "; ");
    for (int i = 0; i < 8; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sc%d: choice(p, q)", i ? ", " : "", i);
    snprintf(text + strlen(text), sizeof text - strlen(text), ") -> y[n]\n    y = ");
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "b%d + (", i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "x%s\n", "))))))))))))))))))))))))))))))");
    if (tk_op_define(ctx, text, strlen(text), NULL, &contract) != TK_OK)
        fail_msg("%s\n%s", tk_ctx_message(ctx), text);
    assert_int_equal(tk_op_plain_kernel(ctx, contract, NULL, &source), TK_UNSUPPORTED);
    assert_string_equal(tk_ctx_message(ctx), "no plain loops of f: the kernel would be longer than a megabyte");
    assert_null(source);
    tk_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTERED(functions_of_one_element),
        ENTERED(norms_forward),
        ENTERED(norms_backward),
        ENTERED(rows),
        ENTERED(cross_entropy),
        ENTERED(indices),
        ENTERED(matrices),
        ENTERED(causal_attention),
        ENTERED(convolutions),
        ENTERED(pooling),
        ENTERED(dropout_keeps_by_philox),
        ENTERED(what_keeps_its_axes),
        ENTERED(formats_of_8_and_16_bits),
        ENTERED(names_of_c_are_names_like_others),
        ENTERED(what_has_no_kernel_is_said),
    };
    printf("seed 4\n");
    int failed = 0;
    for (int i = 0; i < effort(1) && !failed; i++) {
        draws = tki_random_stream(4, (uint64_t)i);
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
