/* An op of a program that uses all that a contract can say: six axes, three inputs of indices, five attributes, a size that follows from
 * others, tensors of three formats, one of them there by choice, two implementations, mutants and a variant. It is an op as ours are. */
#include <jansson.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/dtype.h"
#include "tests/attribute_tools.h"
#include "tests/op_test.h"

/* y[i, j, k, g, h, p] = scale gain[g, h] sum_r x[a[i], b[j], c[k], p stride + r] + shift (+ bias[h]), or with the other sign. */
enum { I, J, K, G, H, P, U, V, T, W, R };
enum { X, A, B, C, GAIN, BIAS, Y };
enum { SCALE, SHIFT, STRIDE, BIASED, SIGN };
enum { BY_BOUND, BY_VALUE };

static void derive(tk_case *c)
{
    const int64_t left = c->dims[W] - c->dims[R], stride = c->attributes[STRIDE].integer;
    c->dims[P] = left < 0 ? -1 : left / stride + 1;
}

static const tk_contract windows = {
    .name = "windows",
    .summary = "sums of windows of selected lines",
    .formula = "y = sign (scale gain sum_r x[a, b, c, p stride + r] + shift + bias)",
    .bound = "B = (r + 8) u (|scale| gain sum |x| + |shift| + |bias|) + 2^-149",
    .dim_count = 11,
    .dim_names = (const char *const[]){"i", "j", "k", "g", "h", "p", "u", "v", "t", "w", "r"},
    .derived = (const char *const[]){[P] = "(w - r) // stride + 1", [R] = NULL},
    .derive = derive,
    .param_count = 7,
    .params =
        (const tk_param[]){
            [X] = {.name = "x", .rank = 4, .dim = (const int[]){U, V, T, W}, .inner_axis = 3, .may_alias = -1},
            [A] = {.name = "a", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){I}, .indexed_dim = U, APART},
            [B] = {.name = "b", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){J}, .indexed_dim = V, APART},
            [C] = {.name = "c", .kind = TK_KIND_INDEX, .rank = 1, .dim = (const int[]){K}, .indexed_dim = T, APART},
            [GAIN] = {.name = "gain",
                      .kind = TK_KIND_FIXED,
                      .dtype = TK_F32,
                      .rank = 2,
                      .dim = (const int[]){G, H},
                      APART,
                      .least = 0.25,
                      .most = 1},
            [BIAS] = {.name = "bias",
                      .kind = TK_KIND_FIXED,
                      .dtype = TK_BF16,
                      .rank = 1,
                      .dim = (const int[]){H},
                      APART,
                      .when_attribute = BIASED,
                      .when_choices = 1 << 1},
            [Y] = {.name = "y",
                   .output = true,
                   .kind = TK_KIND_RESULT,
                   .rank = 6,
                   .dim = (const int[]){I, J, K, G, H, P},
                   APART},
        },
    .type_count = 2,
    .types = (const tk_types[]){{TK_F16, TK_F32}, {TK_F16, TK_F16}},
    .attribute_count = 5,
    .attributes =
        (const tk_attribute[]){
            [SCALE] = {.name = "scale",
                       .text = "a factor, no fp32 number by default",
                       .type = TK_ATTRIBUTE_REAL,
                       .initial = {.real = 0.1},
                       .least = {.real = -16},
                       .most = {.real = 16},
                       .tried_count = 2,
                       .tried = (const tk_value[]){{.real = -1}, {.real = 0x1.00000008p0}},
                       .seen_by_kernel = true},
            [SHIFT] = {.name = "shift",
                       .text = "is added",
                       .type = TK_ATTRIBUTE_REAL,
                       .least = {.real = -100},
                       .most = {.real = 100},
                       .tried_count = 1,
                       .tried = (const tk_value[]){{.real = 3}},
                       .seen_by_kernel = true},
            [STRIDE] = {.name = "stride",
                        .text = "from one window to the next",
                        .type = TK_ATTRIBUTE_INTEGER,
                        .initial = {.integer = 1},
                        .least = {.integer = 1},
                        .most = {.integer = 7},
                        .tried_count = 2,
                        .tried = (const tk_value[]){{.integer = 2}, {.integer = 3}},
                        .seen_by_kernel = true},
            [BIASED] = {.name = "biased",
                        .text = "is there a bias?",
                        .choice_count = 2,
                        .choices = (const tk_choice[]){{"no", "none"}, {"yes", "it is added"}},
                        .seen_by_kernel = true},
            [SIGN] = {.name = "sign",
                      .text = "of the whole",
                      .choice_count = 2,
                      .choices = (const tk_choice[]){{"plus", "as it is"}, {"minus", "negated"}},
                      .seen_by_kernel = true},
        },
    .clause_count = 6,
    .clauses =
        (const tk_clause[]){
            [BY_BOUND] = {TK_CLAUSE_ERROR, "WINDOWS.ERR", "every y is the rounding of some value within B"},
            [BY_VALUE] = {TK_CLAUSE_VALUE, "WINDOWS.SPECIAL", "with a NaN or an infinity in its window: anything"},
            {TK_CLAUSE_WRITE, "WINDOWS.WRITE", "every y is written, and nothing else"},
            {TK_CLAUSE_SHAPE, "WINDOWS.SHAPE", "any sizes"},
            {TK_CLAUSE_REPEAT, "WINDOWS.REPEAT", "the same inputs, the same bits"},
            {TK_CLAUSE_INDEX, "WINDOWS.INDEX", "a bad index is refused"},
        },
};

/* -- The exact value ---------------------------------------------------------------------------------------------- */

static double of_f16(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return bits & 0x3ff ? (double)NAN : sign * (double)INFINITY;
    return exponent ? sign * ldexp(1024 + (bits & 0x3ff), exponent - 25) : sign * ldexp(bits & 0x3ff, -24);
}

static double of_bf16(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* Where an element's window is, and what goes with it. */
typedef struct window {
    const uint16_t *x;
    double gain, bias;
} window;

static window window_of(const tk_case *c, const void *const buffers[], int64_t at)
{
    int64_t place[6];
    for (int axis = 5; axis >= 0; axis--) {
        place[axis] = at % c->dims[axis];
        at /= c->dims[axis];
    }
    const int64_t a = tki_index_at(tk_case_param_dtype(c, A), buffers[A], place[I]),
                  b = tki_index_at(tk_case_param_dtype(c, B), buffers[B], place[J]),
                  k = tki_index_at(tk_case_param_dtype(c, C), buffers[C], place[K]);
    const int64_t line = (a * c->dims[V] + b) * c->dims[T] + k;
    return (window){.x = (const uint16_t *)buffers[X] + line * c->dims[W] + place[P] * c->attributes[STRIDE].integer,
                    .gain = (double)((const float *)buffers[GAIN])[place[G] * c->dims[H] + place[H]],
                    .bias = c->attributes[BIASED].integer ? of_bf16(((const uint16_t *)buffers[BIAS])[place[H]]) : 0};
}

/* Sums of so few 16-bit numbers are exact in double. */
static tk_enclosure exact_value(const tk_case *c, const window *w)
{
    const double scale = c->attributes[SCALE].real, shift = c->attributes[SHIFT].real;
    double sum = 0, size = 0;
    for (int64_t r = 0; r < c->dims[R]; r++) {
        sum += of_f16(w->x[r]);
        size += fabs(of_f16(w->x[r]));
    }
    const double magnitude = fabs(scale) * w->gain * size + fabs(shift) + fabs(w->bias);
    const unsigned special = TK_ADMIT_NAN | TK_ADMIT_PLUS_INF | TK_ADMIT_MINUS_INF;
    if (!isfinite(magnitude))
        return (tk_enclosure){.admits = special, .clause = BY_VALUE};
    const double value = (scale * w->gain * sum + shift + w->bias) * (c->attributes[SIGN].integer ? -1 : 1);
    const double error = magnitude * 0x1p-48;
    return (tk_enclosure){.lo = value - error,
                          .hi = value + error,
                          .bound = (double)(c->dims[R] + 8) * 0x1p-24 * magnitude * 1.0001 + 0x1p-149,
                          .admits = TK_ADMIT_INTERVAL | (magnitude < 0x1p126 ? 0 : special),
                          .clause = BY_BOUND};
}

static tk_status enclose(const tk_case *c, const void *const buffers[], int output, int64_t first, int64_t count,
                         tk_enclosure *out, void *data)
{
    (void)output;
    (void)data;
    for (int64_t i = 0; i < count; i++) {
        const window w = window_of(c, buffers, first + i);
        out[i] = exact_value(c, &w);
    }
    return TK_OK;
}

/* -- Kernels ------------------------------------------------------------------------------------------------------ */

typedef enum way { PLAIN, WIDE, BACKWARDS, SHORT, NO_BIAS, SWAPPED, NO_STRIDE, ONE_SIGN, SCALE_IN_F16, WAYS } way;

static float compute(const tk_case *c, const window *w, way how)
{
    const int64_t count = c->dims[R] - (how == SHORT && c->dims[R] > 1);
    const double scale = how == SCALE_IN_F16 ? (double)(float)rint(c->attributes[SCALE].real * 1024) / 1024
                                             : c->attributes[SCALE].real;
    double wide = 0;
    float sum = 0;
    for (int64_t r = 0; r < count; r++) {
        const int64_t at = how == BACKWARDS ? count - 1 - r : r;
        wide += of_f16(w->x[at]);
        sum += (float)of_f16(w->x[at]);
    }
    const double bias = how == NO_BIAS ? 0 : w->bias;
    const double sign = c->attributes[SIGN].integer && how != ONE_SIGN ? -1 : 1;
    if (how == WIDE)
        return (float)(sign * (scale * w->gain * wide + c->attributes[SHIFT].real + bias));
    return (float)sign * ((float)scale * (float)w->gain * sum + (float)c->attributes[SHIFT].real + (float)bias);
}

static int run(const tk_case *given, void *const buffers[], void *data)
{
    const way how = (way)(intptr_t)data;
    const void *inputs[Y + 1];
    tk_case c = *given;
    memcpy(inputs, buffers, sizeof inputs);
    if (how == NO_STRIDE)
        c.attributes[STRIDE].integer = 1;
    if (how == SWAPPED && c.dims[U] == c.dims[V] && c.dims[I] == c.dims[J]) {
        inputs[A] = buffers[B];
        inputs[B] = buffers[A];
    }
    for (int64_t i = 0; i < tk_case_elements(given, Y); i++) {
        const window w = window_of(&c, inputs, i);
        const float y = compute(given, &w, how);
        if (given->result_dtype == TK_F32)
            ((float *)buffers[Y])[i] = y;
        else
            ((uint16_t *)buffers[Y])[i] = tki_f32_to_f16(y);
    }
    return 0;
}

#define WAY(how) ((void *)(intptr_t)(how))

static const tk_implementation implementations[] = {
    {.name = "plain",
     .run = run,
     .user_data = WAY(PLAIN),
     .source = "/proc/self/exe",
     .compiler = __VERSION__,
     .options = "-O2"},
    {.name = "wide", .run = run, .user_data = WAY(WIDE), .determinism = TK_RUN_TO_RUN, .promise = "sums in double"},
};

static const tk_planted mutants[] = {
    {"short_window", "leaves the last term out", run, WAY(SHORT), TK_QUICK},
    {"no_bias", "forgets the bias", run, WAY(NO_BIAS), TK_QUICK},
    {"no_stride", "takes windows one after the other", run, WAY(NO_STRIDE), TK_QUICK},
    {"one_sign", "never negates", run, WAY(ONE_SIGN), TK_QUICK},
    {"scale_in_f16", "rounds the scale", run, WAY(SCALE_IN_F16), TK_QUICK},
};

static const tk_planted variants[] = {{"backwards", "adds from the end", run, WAY(BACKWARDS), TK_QUICK}};

static const tk_contract *register_windows(tk_ctx *ctx)
{
    const tk_contract *op = NULL;
    tk_reference reference = TK_REFERENCE_DEFAULTS;
    reference.enclose = enclose;
    reference.mutant_count = sizeof mutants / sizeof *mutants;
    reference.mutants = mutants;
    reference.variant_count = 1;
    reference.variants = variants;
    assert_ok(ctx, tk_contract_register(ctx, &windows, 2, implementations, &op));
    assert_ok(ctx, tk_contract_judge_by(ctx, op, &reference));
    return op;
}

/* -- Tests -------------------------------------------------------------------------------------------------------- */

static tk_case small_case(const tk_contract *op)
{
    static const int64_t dims[] = {1, 2, 1, 1, 1, 2, 2, 2, 1, 5, 3};
    tk_case c = tk_case_init(op, TK_F16);
    memcpy(c.dims, dims, sizeof dims);
    c.result_dtype = TK_F32;
    c.attributes[STRIDE].integer = 2;
    c.attributes[SCALE].real = 1;
    return c;
}

TEST_WITH_CONTEXT(runs_and_checks)
{
    const tk_contract *op = register_windows(ctx);
    tk_case c = small_case(op);
    uint16_t x[20];
    int32_t a[] = {1}, b[] = {0, 1}, k[] = {0};
    float gain[] = {0.5f}, y[4];
    for (int i = 0; i < 20; i++)
        x[i] = tki_f32_to_f16((float)i);
    void *const buffers[] = {x, a, b, k, gain, NULL, y};
    assert_ok(ctx, tk_run(ctx, &c, buffers));
    assert_true(y[0] == 16.5f && y[1] == 19.5f && y[2] == 24 && y[3] == 27);
    b[1] = 2;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_INDEX, "b[1] = 2 is outside [0, 2)");
    k[0] = -1, b[1] = 1;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_INDEX, "c[0] = -1 is outside [0, 1)");
    k[0] = 0;
    c.dims[P] = 3;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_ARGUMENT, "p is 3; it must be (w - r) // stride + 1");
    c.dims[P] = 2;
    c.dims[R] = 6;
    assert_refused(ctx, tk_run(ctx, &c, buffers), TK_BAD_ARGUMENT, "must be (w - r)");
}

static tk_certificate *certify(tk_ctx *ctx, const tk_contract *op, tk_dtype index, const char *lowering,
                               const char *variant, const tk_kernel_file *file)
{
    static const tk_dtype f32 = TK_F32;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.result_dtype = &f32;
    options.lowering = lowering;
    options.variant = variant;
    options.kernel_file = file;
    options.skip_coverage = true;
    return certify_one(ctx, op, TK_F16, index, options);
}

TEST_WITH_CONTEXT(both_implementations_are_held)
{
    const tk_contract *op = register_windows(ctx);
    const char *ids[] = {"cpu.windows.f16-f32.plain", "cpu.windows.f16-f32.wide.i64"};
    for (int i = 0; i < 2; i++) {
        int rejected = 0;
        tk_certificate *certificate = certify(ctx, op, i ? TK_I64 : TK_I32, ids[i], NULL, NULL);
        assert_held(certificate);
        assert_string_equal(tk_certificate_subject(certificate), ids[i]);
        assert_int_equal(tk_certificate_mutants(certificate, &rejected), sizeof mutants / sizeof *mutants);
        if (rejected != sizeof mutants / sizeof *mutants)
            fail_msg("%s", tk_certificate_markdown(certificate));
        tk_certificate_destroy(certificate);
    }
    tk_certificate *certificate = certify(ctx, op, TK_I32, NULL, "backwards", NULL);
    assert_held(certificate);
    tk_certificate_destroy(certificate);
}

/* A mistake that is no mutant of the contract is found, too. */
TEST_WITH_CONTEXT(swapped_indices_are_refuted)
{
    const tk_contract *op = register_windows(ctx);
    static const tk_dtype f32 = TK_F32;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.kernel = run;
    options.kernel_data = WAY(SWAPPED);
    options.result_dtype = &f32;
    tk_certificate *certificate = certify_one(ctx, op, TK_F16, TK_I32, options);
    assert_int_equal(tk_certificate_verdict(certificate), TK_REFUTED);
    tk_certificate_destroy(certificate);
}

static json_t *predicate_of(tk_certificate *certificate)
{
    json_t *statement = json_loads(tk_certificate_json(certificate), 0, NULL);
    json_t *predicate = json_incref(json_object_get(statement, "predicate"));
    assert_non_null(predicate);
    json_decref(statement);
    return predicate;
}

/* What has names of the op's own as members; what an elementwise op alone has, by its input; and whose exact values these are. */
static bool is_of_the_op(const char *path)
{
    static const char *const own[] = {".rests_on",
                                      ".run.shape",
                                      ".run.index_dtype",
                                      ".run.tensor_types",
                                      ".run.trials[].shape",
                                      ".run.trials[].options",
                                      ".run.trials[].alignment",
                                      ".result.worst.trial.shape",
                                      ".result.worst.trial.options",
                                      ".result.worst.input_bits",
                                      ".result.by_magnitude.input",
                                      ".result.by_magnitude.negative",
                                      ".contract.exact_values"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(path, own[i]))
            return true;
    return false;
}

/* All members that elements of an array have. A new reference. */
static json_t *members_of_elements(const json_t *array)
{
    json_t *all = json_object(), *element;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)array, i, element) if (json_is_object(element))
        assert_int_equal(json_object_update_missing(all, element), 0);
    return all;
}

/* Members of one, at any depth, that the other does not have. Of an array each element is compared with all of the other. */
static void assert_has_members(const json_t *one, const json_t *other, const char *path)
{
    char longer[512];
    const char *name;
    size_t i;
    json_t *value;
    if (is_of_the_op(path))
        return;
    json_object_foreach((json_t *)(uintptr_t)one, name, value)
    {
        snprintf(longer, sizeof longer, "%s.%s", path, name);
        if (!json_object_get(other, name) && !is_of_the_op(longer))
            fail_msg("%s is in one alone", longer);
        assert_has_members(value, json_object_get(other, name), longer);
    }
    snprintf(longer, sizeof longer, "%s[]", path);
    if (json_array_size(one) && !json_array_size(other))
        fail_msg("%s is empty in one", longer);
    json_t *all = members_of_elements(other);
    json_array_foreach((json_t *)(uintptr_t)one, i, value) if (json_is_object(value))
        assert_has_members(value, all, longer);
    json_decref(all);
}

TEST_WITH_CONTEXT(the_certificate_has_the_members_of_others)
{
    static const tk_dtype f16 = TK_F16;
    tk_certify_options options = TK_CERTIFY_DEFAULTS;
    options.result_dtype = &f16;
    options.fresh_mutants = true; /* whether some are kept depends on earlier runs */
    const tk_contract *op = register_windows(ctx);
    tk_certificate *own = certify_one(ctx, op, TK_F16, TK_I32, options),
                   *gelu = certify_one(ctx, tk_contract_find("gelu_fwd"), TK_F16, TK_I32, options);
    json_t *ours = predicate_of(own), *theirs = predicate_of(gelu);
    assert_held(own);
    assert_string_equal(json_string_value(json_object_get(json_object_get(ours, "built"), "source")),
                        "/proc/self/exe");
    assert_int_equal(json_object_size(json_object_get(ours, "rests_on")), op->clause_count);
    for (int i = 0; i < op->clause_count; i++)
        assert_non_null(json_object_get(json_object_get(ours, "rests_on"), op->clauses[i].id));
    assert_true(json_array_size(json_object_get(json_object_get(ours, "run"), "trials")) > 100);
    assert_has_members(ours, theirs, "");
    assert_has_members(theirs, ours, "");
    json_decref(ours);
    json_decref(theirs);
    tk_certificate_destroy(own);
    tk_certificate_destroy(gelu);
}

static int run_program(const char *arguments, char *text, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "'%s' %s 2>&1", getenv("TOKITAI"), arguments);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    text[fread(text, 1, size - 1, out)] = 0;
    const int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_WITH_CONTEXT(replayed_where_it_is_registered)
{
    char folder[] = "/tmp/tokitai_record_XXXXXX", command[256], text[4096], *written = NULL, *difference = NULL;
    const tk_contract *op = register_windows(ctx);
    tk_ctx *other = new_context();
    tk_certificate *certificate = certify(ctx, op, TK_I32, "cpu.windows.f16-f32.wide", NULL, NULL), *read = NULL;
    bool same = false;
    int64_t not_listed = -1;
    assert_non_null(mkdtemp(folder));
    assert_ok(ctx, tk_certificate_write(ctx, certificate, folder, &written));
    assert_ok(ctx, tk_certificate_read(ctx, written, &read));
    assert_ok(ctx, tk_certificate_agrees(ctx, read));
    assert_ok(ctx, tk_certificate_replay(ctx, read, NULL, &same, &not_listed, &difference));
    if (!same)
        fail_msg("%s", difference ? difference : "no difference was told");
    assert_int_equal(tk_certificate_replay(other, read, NULL, &same, &not_listed, &difference), TK_UNAVAILABLE);
    snprintf(command, sizeof command, "replay '%s'", written);
    assert_int_equal(run_program(command, text, sizeof text), 3);
    if (!strstr(text, "UNKNOWN") || !strstr(text, "unknown op 'windows'"))
        fail_msg("%s", text);
    tk_certificate_destroy(read);
    tk_certificate_destroy(certificate);
    tk_ctx_destroy(other);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    free(written);
}

/* -- Kernel files ------------------------------------------------------------------------------------------------- */

static const char abi_3[] =
    "#include <tokitai_kernel.h>\n"
    "TOKITAI_KERNEL3(windows)\n"
    "{\n"
    "    const tokitai_tensor3 *y = tokitai_tensor_named(call, \"y\");\n"
    "    const int64_t *n = y->shape;\n"
    "    const double scale = tokitai_real3(call, \"scale\");\n"
    "    if (scale != 0.1 && scale != -1 && scale != 0x1.00000008p0)\n"
    "        return 1;\n"
    "    if (y->rank != 6 || call->tensor_count != 7 || call->attribute_count != 5 || y->dtype != TOKITAI_F32 ||\n"
    "        tokitai_integer3(call, \"stride\") < 1 || tokitai_tensor_named(call, \"none\"))\n"
    "        return 1;\n"
    "    for (int64_t i = 0; i < n[0] * n[1] * n[2] * n[3] * n[4] * n[5]; i++)\n"
    "        ((float *)y->data)[i] = (float)tokitai_real3(call, \"shift\");\n"
    "    return 0;\n"
    "}\n";

static const char abi_2[] = "#include <tokitai_kernel.h>\n"
                            "TOKITAI_KERNEL(windows) { return 0; }\n";

static tk_certificate *certify_source(tk_ctx *ctx, const tk_contract *op, const char *source)
{
    char folder[] = "/tmp/tokitai_record_XXXXXX", path[128];
    tk_kernel_file *kernel = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/windows.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, tk_kernel_file_open(ctx, path, NULL, &kernel));
    assert_string_equal(tk_kernel_file_problem(kernel), "");
    tk_certificate *certificate = certify(ctx, op, TK_I32, NULL, NULL, kernel);
    tk_kernel_file_close(kernel);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return certificate;
}

TEST_WITH_CONTEXT(kernel_files_of_abi_3_alone_reach_it)
{
    const tk_contract *op = register_windows(ctx);
    tk_certificate *certificate = certify_source(ctx, op, abi_2);
    assert_int_equal(tk_certificate_verdict(certificate), TK_UNKNOWN);
    if (!strstr(tk_certificate_reason(certificate), "ABI 2"))
        fail_msg("%s", tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
    certificate = certify_source(ctx, op, abi_3);
    assert_int_equal(tk_certificate_verdict(certificate),
                     TK_REFUTED); /* it was called, and what it wrote was judged */
    if (!strstr(tk_certificate_reason(certificate), "WINDOWS.ERR"))
        fail_msg("%s", tk_certificate_reason(certificate));
    tk_certificate_destroy(certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_checks),
        cmocka_unit_test(both_implementations_are_held),
        cmocka_unit_test(swapped_indices_are_refuted),
        cmocka_unit_test(the_certificate_has_the_members_of_others),
        cmocka_unit_test(replayed_where_it_is_registered),
        cmocka_unit_test(kernel_files_of_abi_3_alone_reach_it),
    };
    return cmocka_run_group_tests_name("op_record", tests, NULL, NULL);
}
