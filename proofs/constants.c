/* Prints what the proofs have of the C code. `constants`: proofs/constants.v, the numbers with which bounds are written, by the very names and
 * from the very headers that the bounds use. `points`: bound_points.v, what the functions of the bounds return at some hundred points;
 * proofs/check.sh makes it, and proofs/bound_agreement.v compares it with the formulas that the theorems are about.
 * tests/proofs_constants.sh compares the numbers with what this program prints, and the points by their hashes, proofs/bound_points.sha256:
 * a number or a formula that changes here alone fails there, one that changes in both fails the proofs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact/domain.h"
#include "exact/exact_sum.h"
#include "exact/floats.h"
#include "exact/fp32.h"
#include "exact/gelu_bound.h"
#include "exact/product_bound.h"
#include "exact/exp_over_sum_bound.h"
#include "kernels/cpu_polynomials.h"
#include "model/format.h"
#include "ops/embedding/contract.h"
#include "ops/softmax/contract.h"
#include "ops/xent/contract.h"

/* -- Numbers ------------------------------------------------------------------------------------------------------- */

/* A finite double is an odd integer times a power of two. */
static void print_dyadic(double value)
{
    int exponent = 0;
    int64_t mantissa = (int64_t)ldexp(frexp(value, &exponent), 53);
    exponent = mantissa ? exponent - 53 : 0;
    for (; mantissa && mantissa % 2 == 0; exponent++)
        mantissa /= 2;
    printf(mantissa < 0 ? "(Dyadic (%" PRId64 ")" : "(Dyadic %" PRId64, mantissa);
    printf(exponent < 0 ? " (%d))" : " %d)", exponent);
}

static void number(const char *name, double value)
{
    printf("Definition %s := ", name);
    print_dyadic(value);
    printf(".\n");
}

static void integer(const char *name, int64_t value)
{
    printf(value < 0 ? "Definition %s := (%" PRId64 ")%%Z.\n" : "Definition %s := %" PRId64 "%%Z.\n", name, value);
}

#define NUMBER(constant) number(#constant, constant)
#define INTEGER(constant) integer(#constant, constant)

static void heading(const char *header)
{
    printf("\n(* %s *)\n", header);
}

/* -- constants ----------------------------------------------------------------------------------------------------- */

static void print_format(const char *name, tk_dtype dtype)
{
    const tki_format f = tki_format_of(dtype);
    const struct {
        const char *member;
        int64_t value;
    } members[] = {{"precision", f.precision},
                   {"exponent_min", f.exponent_min},
                   {"exponent_max", tki_format_exponent_max(f)},
                   {"exponent_lowest", tki_format_exponent_lowest(f)},
                   {"sign", f.sign},
                   {"largest", f.largest},
                   {"infinity", f.infinity},
                   {"nan", f.nan}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s_%s", name, members[i].member);
        integer(full, members[i].value);
    }
}

static void print_unit(const char *name, int matrix_unit)
{
    const tki_matrix_unit unit = tki_matrix_unit_of(matrix_unit);
    char full[64];
    snprintf(full, sizeof full, "%s_block", name);
    integer(full, (int64_t)unit.block);
    snprintf(full, sizeof full, "%s_truncation", name);
    number(full, unit.truncation);
}

/* What arithmetic does after tki_floats_begin(), whatever the caller asked for. */
static void print_floats(void)
{
    fesetround(FE_UPWARD);
    const tki_floats floats = tki_floats_begin();
    volatile double smallest_normal = 0x1p-1022;
    const bool nearest = fegetround() == FE_TONEAREST;
    const bool gradual = smallest_normal / 2 > 0;
    tki_floats_end(&floats);
    fesetround(FE_TONEAREST);
    integer("floats_round_to_nearest", nearest);
    integer("floats_keep_subnormal", gradual);
}

/* A definition for each coefficient, that of f^0 first. */
static void print_coefficient(const char *table, int power, double value)
{
    char full[64];
    snprintf(full, sizeof full, "%s_%d", table, power);
    number(full, value);
}

static void print_polynomials(void)
{
    NUMBER(LOG2_E);
    NUMBER(GELU_A);
    NUMBER(GELU_B);
    number("GELU_BY_K", (float)GELU_BY_K);
    NUMBER(GELU_THREE_BY_K);
    for (int power = 0; power < 6; power++)
        print_coefficient("EXP2_RAISED", power, EXP2_RAISED[power]);
    for (int power = 0; power < 6; power++)
        print_coefficient("GELU_EXP2", power, (float)GELU_EXP2[power]);
    for (int power = 0; power < 6; power++) /* for the derivative: by k, and rounded */
        print_coefficient("GELU_EXP2_BY_K", power, (float)(GELU_EXP2[power] * GELU_BY_K));
}

static void print_constants(void)
{
    printf("(* Made from the C code by proofs/constants.c; tests/proofs_constants.sh --write makes it anew. *)\n"
           "From Coq Require Import ZArith.\n"
           "From Tokitai Require Import dyadic.\n");
    heading("exact/fp32.h");
    NUMBER(TKI_U);
    NUMBER(TKI_FP32_SMALLEST_NORMAL);
    NUMBER(TKI_FP32_SMALLEST);
    NUMBER(TKI_FP32_UNDERFLOW);
    NUMBER(TKI_FP32_OVERFLOW);
    heading("model/format.h");
    print_format("F16", TK_F16);
    print_format("BF16", TK_BF16);
    print_format("F32", TK_F32);
    heading("exact/floats.h");
    print_floats();
    heading("exact/product_bound.h");
    NUMBER(TKI_PRODUCT_ROUND_UP);
    NUMBER(TKI_MATRIX_UNIT_STORE);
    NUMBER(TKI_PRODUCT_GROWTH);
    NUMBER(TKI_PRODUCT_F16_EXTRAS);
    print_unit("TKI_UNIT_UNKNOWN", TKI_UNIT_UNKNOWN);
    print_unit("TKI_UNIT_SM_80", TKI_UNIT_SM_80);
    print_unit("TKI_UNIT_SM_90", TKI_UNIT_SM_90);
    heading("exact/exact_sum.h");
    NUMBER(TKI_EXACT_UNITS);
    NUMBER(TKI_EXACT_LARGEST_UNIT);
    heading("exact/domain.h");
    INTEGER(TKI_DOMAIN_LOWEST_EXPONENT);
    INTEGER(TKI_DOMAIN_HIGHEST_EXPONENT);
    heading("exact/exp_over_sum_bound.h");
    NUMBER(TKI_SOFTMAX_FAR);
    NUMBER(TKI_SOFTMAX_RESCALINGS);
    NUMBER(TKI_SOFTMAX_PLATEAU);
    NUMBER(TKI_SOFTMAX_PER_DISTANCE);
    NUMBER(TKI_SOFTMAX_CONSTANT);
    NUMBER(TKI_SOFTMAX_PER_RESCALING);
    NUMBER(TKI_SOFTMAX_SLACK);
    NUMBER(TKI_SOFTMAX_LARGEST_W);
    NUMBER(TKI_SOFTMAX_PLATEAU_DEPTH);
    NUMBER(TKI_SOFTMAX_PLATEAU_PER_MAXIMUM);
    INTEGER(TKI_SOFTMAX_BLOCK);
    INTEGER(TKI_SOFTMAX_JOINED);
    heading("exact/gelu_bound.h");
    NUMBER(TKI_GELU_ROUND_UP);
    NUMBER(TKI_GELU_UNDERFLOW_CAP);
    NUMBER(TKI_GELU_BWD_UNDERFLOW);
    NUMBER(TKI_GELU_STEEPEST);
    NUMBER(TKI_GELU_CONSTANT);
    NUMBER(TKI_GELU_PER_ARGUMENT);
    heading("kernels/cpu_polynomials.h");
    print_polynomials();
}

/* -- points -------------------------------------------------------------------------------------------------------- */

static uint64_t state = 16; /* of the sequence of points, which is the same everywhere */

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static double draw_magnitude(int lowest, int highest)
{
    const double fraction = 1 + (double)draw(UINT64_C(1) << 30) * 0x1p-30;
    return ldexp(fraction, lowest + (int)draw((uint64_t)(highest - lowest + 1)));
}

/* A number of things: few, or many. */
static double draw_count(void)
{
    return (double)(draw(3) ? draw(20) : draw(UINT64_C(1) << 24));
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void begin_list(const char *name, const char *type)
{
    printf("\nDefinition %s : list %s :=\n", name, type);
}

static void end_list(void)
{
    printf("  nil.\n");
}

static const tk_dtype float_types[] = {TK_F16, TK_BF16, TK_F32};
static const char *const type_names[] = {[TK_F16] = "f16", [TK_BF16] = "bf16", [TK_F32] = "f32"};

/* What a point ends with: `count` numbers, each behind a comma. */
static void print_dyadics(const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        printf(", ");
        print_dyadic(values[i]);
    }
}

static void print_product_point(tki_product_sum sum)
{
    static const char *const units[] = {
        [TKI_UNIT_UNKNOWN] = "unit_unknown", [TKI_UNIT_SM_80] = "unit_sm_80", [TKI_UNIT_SM_90] = "unit_sm_90"};
    printf("  (ProductSum %s ", type_names[sum.dtype]);
    printf(sum.numerics == TKI_NUMERICS_TENSOR_CORE ? "(tensor_core %s)" : "ieee", units[sum.matrix_unit]);
    printf(" %s %.0f %.0f ", truth(sum.exact), sum.products, sum.nonzero);
    print_dyadic(sum.magnitude);
    printf(" %.0f ", sum.extras);
    print_dyadic(sum.extra_magnitude);
    printf(", ");
    print_dyadic(tki_product_bound(sum));
    printf(", %s) ::\n", truth(tki_product_may_overflow(sum)));
}

static void print_product_points(void)
{
    begin_list("product_points", "(product_sum * dyadic * bool)");
    for (int i = 0; i < 360; i++) {
        tki_product_sum sum = {.dtype = float_types[i % 3], .exact = draw(16) == 0};
        if (i % 2 && sum.dtype != TK_F32) {
            sum.numerics = TKI_NUMERICS_TENSOR_CORE;
            sum.matrix_unit = (int)draw(3);
        }
        sum.products = draw_count();
        sum.nonzero = draw(4) ? (double)draw((uint64_t)sum.products + 1) : sum.products;
        const bool large = draw(3) == 0;
        const double magnitude = draw(8) == 0 ? draw_magnitude(-260, -120) : draw_magnitude(-30, 40);
        sum.magnitude = sum.nonzero == 0 ? 0 : large ? draw_magnitude(125, 129) : magnitude;
        for (uint64_t extras = draw(3); extras > 0; extras--)
            tki_product_sum_add(&sum, draw(3) == 0 ? 0 : large ? draw_magnitude(96, 127) : draw_magnitude(-60, 40));
        print_product_point(sum);
    }
    end_list();
}

/* A number of which (1 + passed u) times it is a few u below or above what overflows. */
static double draw_near_overflow(double passed)
{
    return TKI_FP32_OVERFLOW * (1 + ((double)draw(9) - 4) * (TKI_U / 2)) / (1 + passed * TKI_U);
}

/* Where one term or product more or less that is passed decides. */
static void print_near_overflow_points(void)
{
    begin_list("near_overflow_points", "(product_sum * dyadic * bool)");
    for (int i = 0; i < 90; i++) {
        tki_product_sum sum = {.dtype = float_types[1 + i % 2], .products = 1 + draw_count()};
        sum.nonzero = sum.products;
        for (uint64_t extras = draw(3); extras > 0; extras--)
            tki_product_sum_add(&sum, 1);
        sum.magnitude = draw_near_overflow(sum.products + sum.extras);
        print_product_point(sum);
    }
    end_list();
}

static void print_embedding_points(void)
{
    begin_list("embedding_bwd_points", "(Z * dyadic * bool * dyadic * bool)");
    for (int i = 0; i < 60; i++) {
        const double hits = draw_count();
        const double magnitude = hits == 0 ? 0 : i % 3 ? draw_magnitude(-140, 40) : draw_magnitude(124, 129);
        const bool exact = draw(8) == 0;
        printf("  (%.0f%%Z, ", hits);
        print_dyadic(magnitude);
        printf(", %s, ", truth(exact));
        print_dyadic(tki_embedding_bwd_bound((int64_t)hits, magnitude, exact));
        printf(", %s) ::\n", truth(tki_embedding_bwd_may_overflow((int64_t)hits, magnitude)));
    }
    end_list();
}

static void print_exact_points(void)
{
    begin_list("exact_sum_points", "(dyadic * dyadic * bool)");
    for (int i = 0; i < 60; i++) {
        static const int edges[] = {-128, -127, -126, -125, 0, 102, 103, 104};
        const double unit = ldexp(1, i % 2 ? edges[draw(8)] : (int)draw(300) - 150);
        const double magnitude = unit * (double)(draw(2) ? draw(4) * (1 << 23) : draw(1 << 25));
        printf("  (");
        print_dyadic(magnitude);
        printf(", ");
        print_dyadic(unit);
        printf(", %s) ::\n", truth(tki_sum_is_exact(magnitude, unit)));
    }
    end_list();
}

static void print_softmax_points(void)
{
    begin_list("softmax_points", "(Z * Z * dyadic * Z * Z * dyadic * dyadic * dyadic * dyadic)");
    for (int i = 0; i < 60; i++) {
        const double sums = (double)(1 + draw(2));
        const double cols = draw_count() + 1;
        const double ln_cols = tki_softmax_ln((int64_t)cols);
        const double depth = (double)draw((uint64_t)cols);
        const double rescalings = (double)draw(33);
        const double d = draw_magnitude(-10, 5);
        const tki_softmax_w w = tki_softmax_w_of_row(sums, cols, ln_cols, depth, rescalings);
        const double y = (double)draw(1 << 20) * 0x1p-20;
        const double values[] = {d, tki_softmax_relative_bound(w, d), y, tki_softmax_fwd_bound(w, d, y)};
        if (isinf(values[1]))
            continue;
        printf("  (%.0f%%Z, %.0f%%Z, ", sums, cols);
        print_dyadic(ln_cols);
        printf(", %.0f%%Z, %.0f%%Z", depth, rescalings);
        print_dyadics(values, 4);
        printf(") ::\n");
    }
    end_list();
}

static void print_gelu_points(void)
{
    begin_list("gelu_points", "(dyadic * dyadic * dyadic * dyadic * dyadic * dyadic)");
    for (int i = 0; i < 60; i++) {
        const double x = draw_magnitude(-40, 20);
        const double two_z = draw_magnitude(-40, 8);
        const double sigma = (double)draw(1 << 20) * 0x1p-20;
        const double h = draw_magnitude(-40, 20);
        const double values[] = {x,
                                 two_z,
                                 sigma,
                                 h,
                                 tki_gelu_fwd_bound(x, two_z, 1 - sigma, x * sigma),
                                 tki_gelu_bwd_bound(two_z, sigma, 1 - sigma, h)};
        printf("  (");
        print_dyadic(values[0]);
        print_dyadics(values + 1, 5);
        printf(") ::\n");
    }
    end_list();
}

static void print_softmax_bwd_points(void)
{
    begin_list("softmax_bwd_points", "(dtype * bool * Z * Z * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic)");
    for (int i = 0; i < 60; i++) {
        const tk_dtype dtype = float_types[i % 3];
        const bool exact = draw(8) == 0;
        const double cols = draw_count() + 1;
        const double nonzero = (double)draw((uint64_t)cols + 1);
        const double magnitude = nonzero == 0 ? 0 : draw_magnitude(-140, 40);
        const double y = draw_magnitude(-30, 0);
        const double difference = draw_magnitude(-30, 40);
        const double sum = draw_magnitude(-30, 40);
        const double sum_bound = tki_softmax_bwd_sum_bound(dtype, (int64_t)cols, (int64_t)nonzero, magnitude, exact);
        const double values[] = {magnitude, y,         difference,
                                 sum,       sum_bound, tki_softmax_bwd_bound(dtype, y, difference, sum, sum_bound)};
        printf("  (%s, %s, %.0f%%Z, %.0f%%Z", type_names[dtype], truth(exact), cols, nonzero);
        print_dyadics(values, 6);
        printf(") ::\n");
    }
    end_list();
}

static void print_xent_points(void)
{
    begin_list("xent_points", "(xent_row * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic)");
    for (int i = 0; i < 90; i++) {
        tki_xent_row row = {.cols = (double)(2 + draw(i % 3 ? 40 : 200000)), .promised = draw(2)};
        row.ln_cols = tki_softmax_ln((int64_t)row.cols);
        row.label_smoothing = draw(2) ? (double)draw(65) * 0x1p-6 : 0;
        row.scale = (draw(2) ? -1 : 1) * draw_magnitude(-12, 12);
        row.ln_z = row.ln_cols * (double)draw(65) * 0x1p-6;
        row.target_d = draw_magnitude(-8, 6);
        row.second_d = draw_magnitude(-8, 8);
        row.other_d = draw_magnitude(-8, 8);
        row.sum_d = draw_magnitude(0, 20);
        row.depth = (double)draw(1000);
        row.depth_d = (double)draw(1000);
        row.rescalings = (double)draw(33);
        const double d = draw_magnitude(-8, 8);
        const double p = (double)draw(1 << 20) * 0x1p-20;
        const double q = (double)draw(1 << 20) * 0x1p-20;
        const double numbers[] = {row.ln_cols,  row.label_smoothing, fabs(row.scale), row.ln_z,
                                  row.target_d, row.second_d,        row.other_d,     row.sum_d};
        const double values[] = {d,
                                 p,
                                 q,
                                 fabs(p - q),
                                 tki_xent_grad_bound(&row, d, p, q, fabs(p - q)),
                                 tki_xent_target_grad_bound(&row, p, q, fabs(p - q)),
                                 tki_xent_loss_bound(&row)};
        printf("  (XentRow %.0f %.0f %.0f %.0f %s", row.cols, row.depth, row.depth_d, row.rescalings,
               truth(row.promised));
        for (int k = 0; k < 8; k++) {
            printf(" ");
            print_dyadic(numbers[k]);
        }
        print_dyadics(values, 7);
        printf(") ::\n");
    }
    end_list();
}

static void print_softmax_depth_points(void)
{
    begin_list("softmax_depth_points", "(Z * Z * Z * dyadic * bool * bool * dyadic * dyadic)");
    for (int i = 0; i < 90; i++) {
        tki_softmax_terms row = {.cols = (int64_t)draw_count() + 1};
        row.near = 1 + (int64_t)draw((uint64_t)row.cols);
        row.top = draw(2) ? row.near : 1 + (int64_t)draw((uint64_t)row.near);
        row.max = (draw(2) ? -1 : 1) * draw_magnitude(-4, 6);
        if (i % 9 == 0) { /* beside the most elements of which a plateau is claimed */
            row.cols = 1 << 25;
            row.near = row.top = (1 << 24) - 1 + (int64_t)draw(3);
        }
        const bool promised = draw(2), unit = draw(2);
        const double values[] = {tki_softmax_sum_depth(&row, promised, unit), tki_softmax_rescalings(&row)};
        printf("  (%" PRId64 "%%Z, %" PRId64 "%%Z, %" PRId64 "%%Z, ", row.cols, row.near, row.top);
        print_dyadic(fabs(row.max));
        printf(", %s, %s", truth(promised), truth(unit));
        print_dyadics(values, 2);
        printf(") ::\n");
    }
    end_list();
}

static void print_overflow_points(void)
{
    begin_list("softmax_overflow_points", "(dtype * Z * dyadic * dyadic * dyadic * dyadic * bool * bool)");
    for (int i = 0; i < 90; i++) {
        const tk_dtype dtype = float_types[i % 3];
        const double cols = draw_count() + 1;
        const bool near = draw(2);
        const double sum = draw_magnitude(120, 134), sum_bound = draw_magnitude(120, 126);
        const double rest = 1.0001 * (sum_bound + TKI_U * sum);
        const double values[] = {near ? draw_near_overflow(cols) : draw_magnitude(126, 128),
                                 near ? draw_near_overflow(0) - rest : draw_magnitude(126, 128), sum, sum_bound};
        printf("  (%s, %.0f%%Z", type_names[dtype], cols);
        print_dyadics(values, 4);
        printf(", %s, %s) ::\n", truth(tki_softmax_bwd_sum_overflows(dtype, (int64_t)cols, values[0])),
               truth(tki_softmax_bwd_overflow(dtype, 1, values[1], values[2], values[3]) != 0));
    }
    end_list();
    begin_list("xent_overflow_points", "(bool * Z * dyadic * bool)");
    for (int i = 0; i < 60; i++) {
        tki_xent_row row = {.label_smoothing = draw(4) ? 0.125 : 0, .depth_d = draw_count()};
        row.sum_d = draw(2) ? draw_near_overflow(row.depth_d + 4) : draw_magnitude(126, 128);
        printf("  (%s, %.0f%%Z, ", truth(row.label_smoothing > 0), row.depth_d);
        print_dyadic(row.sum_d);
        printf(", %s) ::\n", truth(tki_xent_loss_may_overflow(&row)));
    }
    end_list();
}

static void print_points(void)
{
    printf("(* Made from the C code by proofs/constants.c. Each line has the arguments of a function and what it "
           "returns. *)\n"
           "From Coq Require Import ZArith List.\n"
           "From Tokitai Require Import dyadic bounds.\n"
           "Import ListNotations.\n");
    print_product_points();
    print_embedding_points();
    print_exact_points();
    print_softmax_points();
    print_gelu_points();
    print_softmax_bwd_points();
    print_xent_points();
    print_near_overflow_points();
    print_softmax_depth_points();
    print_overflow_points();
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "constants"))
        print_constants();
    else if (argc == 2 && !strcmp(argv[1], "points"))
        print_points();
    else
        return fprintf(stderr, "usage: proof_constants constants|points\n"), 2;
    return 0;
}
