/* DECIDES. The attributes that several contracts have, each written down once. */
#pragma once

#include "core/export.h"
#include "model/format.h"
#include "tokitai.h"

/* Which attribute of a contract has the role; -1: none. */
TKI_EXPORT int tki_attribute_of_role(const tk_contract *contract, tk_role role);

/* The choice that a case has of the role; without such an attribute the first. */
TKI_EXPORT int tki_choice_of_role(const tk_contract *contract, const tk_value attributes[], tk_role role);
TKI_EXPORT void tki_set_role(const tk_contract *contract, tk_value attributes[], tk_role role, int choice);

enum { TKI_DOMAIN_ALL, TKI_DOMAIN_NORMAL };
enum { TKI_NUMERICS_IEEE, TKI_NUMERICS_TENSOR_CORE, TKI_NUMERICS_ANY, TKI_NUMERICS_TF32 };
enum { TKI_UNIT_UNKNOWN, TKI_UNIT_SM_80, TKI_UNIT_SM_90 };
enum { TKI_OVERFLOW_NAN, TKI_OVERFLOW_SATURATE };

/* Does the case have results that the attribute `overflow` speaks of? */
TKI_EXPORT bool tki_case_may_saturate(const tk_case *c);

/* clang-format off */ /* text, a line each */

/* The types that ops take: 16-bit ones, all of floating point, and with them those of sums, which can be kept in fp32. */
#define TKI_TYPES_16_BITS .type_count = 2, .types = (const tk_types[]){{TK_F16, TK_F16}, {TK_BF16, TK_BF16}}
#define TKI_TYPES_FLOAT   .type_count = 3, .types = (const tk_types[]){{TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32}}
#define TKI_TYPES_FLOAT_AND_8_BITS                                                                                        \
    .type_count = 5, .types = (const tk_types[]){{TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32},                  \
                                                 {TK_F8_E4M3, TK_F8_E4M3}, {TK_F8_E5M2, TK_F8_E5M2}}
#define TKI_TYPES_SUM                                                                                                     \
    .type_count = 5, .types = (const tk_types[]){{TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32},                  \
                                                 {TK_F16, TK_F32}, {TK_BF16, TK_F32}}

/* Each with the types of the left factor, the right one, the bias and the result. Factors of different types name their assignment, whose
 * results are of fp32. */
#define TKI_TYPES_SUM_AND_8_BITS(ROW)                                                                                     \
    .type_count = 11, .types = (const tk_types[]){{TK_F16, TK_F16}, {TK_BF16, TK_BF16}, {TK_F32, TK_F32},                 \
                                                  {TK_F16, TK_F32}, {TK_BF16, TK_F32},                                   \
                                                  {TK_F8_E4M3, TK_F8_E4M3}, {TK_F8_E5M2, TK_F8_E5M2},                    \
                                                  {TK_F8_E4M3, TK_F32}, {TK_F8_E5M2, TK_F32},                            \
                                                  {TK_F8_E4M3, TK_F8_E5M2}, {TK_F8_E5M2, TK_F8_E4M3}},                   \
    .tensor_types = (const tk_dtype[]){ROW(TK_F16, TK_F16, TK_F16, TK_F16), ROW(TK_BF16, TK_BF16, TK_BF16, TK_BF16),      \
                                       ROW(TK_F32, TK_F32, TK_F32, TK_F32), ROW(TK_F16, TK_F16, TK_F16, TK_F32),          \
                                       ROW(TK_BF16, TK_BF16, TK_BF16, TK_F32),                                           \
                                       ROW(TK_F8_E4M3, TK_F8_E4M3, TK_F8_E4M3, TK_F8_E4M3),                              \
                                       ROW(TK_F8_E5M2, TK_F8_E5M2, TK_F8_E5M2, TK_F8_E5M2),                              \
                                       ROW(TK_F8_E4M3, TK_F8_E4M3, TK_F8_E4M3, TK_F32),                                  \
                                       ROW(TK_F8_E5M2, TK_F8_E5M2, TK_F8_E5M2, TK_F32),                                  \
                                       ROW(TK_F8_E4M3, TK_F8_E5M2, TK_F32, TK_F32),                                      \
                                       ROW(TK_F8_E5M2, TK_F8_E4M3, TK_F32, TK_F32)}

#define TKI_DOMAIN_ATTRIBUTE                                                                                              \
    {.name = "domain", .role = TK_ROLE_DOMAIN,                                                                            \
                    .text = "which inputs the contract speaks of",                                                        \
                    .choice_count = 2,                                                                                    \
                    .choices = (const tk_choice[]){{"all", "every pattern"},                                                                 \
                                {"normal", "elements that are 0 or of a magnitude from 2^-40 to 2^20; where some value "  \
                                           "within B of the exact one is below 2^-126 in magnitude, 0 is admitted too: "  \
                                           "what flushes subnormal numbers can be right here"}}}

#define TKI_NUMERICS_CHOICES                                                                                              \
    {"ieee", "fp32 accumulation in any order, FMA or not"},                                                               \
        {"tensor_core", "matrix units, which align the products of a block and the accumulator to the largest of them "   \
                        "and truncate"},                                                                                  \
        {"any", "those that the lowering promises; ieee for kernels that promise none"}

#define TKI_NUMERICS_ATTRIBUTE                                                                                            \
    {.name = "numerics", .role = TK_ROLE_NUMERICS,                                                                        \
                      .text = "whose arithmetic the bound is derived for",                                                \
                      .initial = {.integer = TKI_NUMERICS_ANY},                                                           \
                      .choice_count = 3,                                                                                  \
                      .choices = (const tk_choice[]){TKI_NUMERICS_CHOICES}}

/* Of definitions, whose bounds follow from rules: those speak of truncated factors, too. */
#define TKI_DEFINED_NUMERICS_ATTRIBUTE                                                                                    \
    {.name = "numerics", .role = TK_ROLE_NUMERICS,                                                                        \
                      .text = "whose arithmetic the bound of sums of products is derived for",                            \
                      .initial = {.integer = TKI_NUMERICS_ANY},                                                           \
                      .choice_count = 4,                                                                                  \
                      .choices = (const tk_choice[]){TKI_NUMERICS_CHOICES,                                                \
                                {"tf32", "matrix units, or fp32 accumulation, of factors that are truncated to the 10 "   \
                                         "fraction bits of TF32 first"}}}

#define TKI_MATRIX_UNIT_ATTRIBUTE                                                                                         \
    {.name = "matrix_unit", .role = TK_ROLE_MATRIX_UNIT,                                                                  \
                         .text = "the unit of numerics tensor_core: L products a block, F fraction bits",                 \
                         .choice_count = 3,                                                                               \
                         .choices = (const tk_choice[]){{"unknown", "L = 4, F = 23: Volta, and where the device is not known"},              \
                                     {"sm_80", "L = 8, F = 24"},                                                          \
                                     {"sm_90", "L = 8, F = 25: from sm_90 on"}}}

/* `saturate` is what products and casts with a scale begin with, `nan` what all else does. */
#define TKI_OVERFLOW_ATTRIBUTE(initially)                                                                                 \
    {.name = "overflow", .role = TK_ROLE_OVERFLOW,                                                                        \
                      .text = "what a result in 8 bits is where it is too large for them",                                \
                      .initial = {.integer = initially},                                                                  \
                      .choice_count = 2,                                                                                  \
                      .choices = (const tk_choice[]){{"nan", "NaN in f8_e4m3, which has no infinity, and infinity in f8_e5m2"},             \
                                  {"saturate", "the largest finite number of that sign, for infinities too"}}}

/* clang-format on */

/* Why a contract of sums of products refuses a case. */
static inline const char *tki_numerics_refusal(const tk_case *c)
{
    const bool matrix_unit = tki_choice_of_role(c->contract, c->attributes, TK_ROLE_NUMERICS) ==
                             TKI_NUMERICS_TENSOR_CORE;
    if (!matrix_unit || tki_has_matrix_unit_bounds(c->dtype))
        return NULL;
    return tki_products_fit_fp32(c->dtype) ? "numerics tensor_core is not for 8 bits: matrix units may keep sums of "
                                             "such products with fewer bits than "
                                             "fp32, which no bound of this contract covers"
                                           : "numerics tensor_core is not for f32: matrix units truncate fp32 values "
                                             "to TF32 before they multiply, "
                                             "which no bound of this contract covers";
}
