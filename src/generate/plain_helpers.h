/* UNTRUSTED. What generated kernels compute with, as text: functions, each of which calls only those before it. */
#pragma once

static const struct {
    const char *name, *text; /* "larger(" */
} tki_plain_helpers[] = {
    {"quotient(", "static int64_t quotient(int64_t a, int64_t b)\n"
                  "{\n"
                  "    return a / b - (a % b < 0);\n"
                  "}\n"},
    {"rest(", "static int64_t rest(int64_t a, int64_t b)\n"
              "{\n"
              "    return a - quotient(a, b) * b;\n"
              "}\n"},
    {"least(", "static int64_t least(int64_t a, int64_t b)\n"
               "{\n"
               "    return a < b ? a : b;\n"
               "}\n"},
    {"most(", "static int64_t most(int64_t a, int64_t b)\n"
              "{\n"
              "    return a > b ? a : b;\n"
              "}\n"},
    {"square(", "static double square(double x)\n"
                "{\n"
                "    return x * x;\n"
                "}\n"},
    {"larger(", "/* With a NaN of either. */\n"
                "static double larger(double a, double b)\n"
                "{\n"
                "    return a != a || a > b ? a : b;\n"
                "}\n"},
    {"smaller(", "static double smaller(double a, double b)\n"
                 "{\n"
                 "    return a != a || a < b ? a : b;\n"
                 "}\n"},
    {"sigmoid(", "static double sigmoid(double x)\n"
                 "{\n"
                 "    return 1 / (1 + exp(-x));\n"
                 "}\n"},
    {"softplus(", "static double softplus(double x)\n"
                  "{\n"
                  "    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));\n"
                  "}\n"},
    {"silu(", "static double silu(double x)\n"
              "{\n"
              "    return x / (1 + exp(-x));\n"
              "}\n"},
    {"mish(", "static double mish(double x)\n"
              "{\n"
              "    return x * tanh(softplus(x));\n"
              "}\n"},
    {"normal_cdf(", "static double normal_cdf(double x)\n"
                    "{\n"
                    "    return 0.5 * erfc(-0.70710678118654752440 * x);\n"
                    "}\n"},
    {"gelu(", "static double gelu(double x)\n"
              "{\n"
              "    return x * normal_cdf(x);\n"
              "}\n"},
    {"gelu_tanh(", "static double gelu_tanh(double x)\n"
                   "{\n"
                   "    return x * sigmoid(1.59576912160573071176 * (x + 0.044715 * x * x * x));\n"
                   "}\n"},
    {"comes_before(", "/* Does the element a at i come before b at k, in descending order? */\n"
                      "static int comes_before(double a, int64_t i, double b, int64_t k)\n"
                      "{\n"
                      "    if (a != a || b != b)\n"
                      "        return a != a && (b == b || i < k);\n"
                      "    return a > b || (a == b && i < k);\n"
                      "}\n"},
    {"philox(", "/* Philox4x32-10. */\n"
                "static int64_t philox(uint64_t seed, uint64_t i)\n"
                "{\n"
                "    uint32_t c[4] = {(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), 0, 0};\n"
                "    for (uint32_t r = 0; r < 10; r++) {\n"
                "        const uint64_t x = UINT64_C(0xd2511f53) * c[0], y = UINT64_C(0xcd9e8d57) * c[2];\n"
                "        const uint32_t low = c[1], high = c[3];\n"
                "        c[0] = (uint32_t)(y >> 32) ^ low ^ ((uint32_t)seed + r * UINT32_C(0x9e3779b9));\n"
                "        c[1] = (uint32_t)y;\n"
                "        c[2] = (uint32_t)(x >> 32) ^ high ^ ((uint32_t)(seed >> 32) + r * UINT32_C(0xbb67ae85));\n"
                "        c[3] = (uint32_t)x;\n"
                "    }\n"
                "    return c[i % 4];\n"
                "}\n"},
    {"small_number(",
     "/* A number of 8 bits. */\n"
     "static double small_number(int32_t dtype, unsigned pattern)\n"
     "{\n"
     "    const int bits = dtype == TOKITAI_F8_E4M3 ? 3 : 2, bias = dtype == TOKITAI_F8_E4M3 ? 7 : 15;\n"
     "    const int exponent = (int)(pattern & 0x7f) >> bits, fraction = (int)pattern & ((1 << bits) - 1);\n"
     "    double size = exponent ? ldexp((1 << bits) + fraction, exponent - bias - bits) : ldexp(fraction, 1 - bias "
     "- bits);\n"
     "    if (dtype == TOKITAI_F8_E4M3 ? (pattern & 0x7f) == 0x7f : exponent == 31)\n"
     "        size = dtype == TOKITAI_F8_E5M2 && fraction == 0 ? INFINITY : NAN;\n"
     "    return pattern & 0x80 ? -size : size;\n"
     "}\n"},
    {"small_pattern(",
     "/* The pattern next to a number, the even one of two; too large ones are as what follows the largest. */\n"
     "static unsigned small_pattern(int32_t dtype, double value)\n"
     "{\n"
     "    const unsigned largest = dtype == TOKITAI_F8_E4M3 ? 0x7e : 0x7b;\n"
     "    const double limit = small_number(dtype, largest) * (dtype == TOKITAI_F8_E4M3 ? 464.0 / 448 : 61440.0 / "
     "57344);\n"
     "    unsigned best = 0;\n"
     "    if (value != value)\n"
     "        return 0x7f;\n"
     "    for (unsigned p = 0; p <= largest; p++) {\n"
     "        const double off = fabs(fabs(value) - small_number(dtype, p)), least = fabs(fabs(value) - "
     "small_number(dtype, best));\n"
     "        if (off < least || (off == least && p % 2 == 0))\n"
     "            best = p;\n"
     "    }\n"
     "    if (fabs(value) > limit || (fabs(value) == limit && largest % 2))\n"
     "        best = largest + 1;\n"
     "    return best | (signbit(value) ? 0x80u : 0);\n"
     "}\n"},
    {"rounded(",
     "static double rounded(int32_t dtype, double value)\n"
     "{\n"
     "    if (dtype == TOKITAI_F16)\n"
     "        return tokitai_from_f16(tokitai_to_f16((float)value));\n"
     "    return dtype == TOKITAI_BF16 ? tokitai_from_bf16(tokitai_to_bf16((float)value)) : (float)value;\n"
     "}\n"},
    {"rounded_to_8_bits(", "static double rounded_to_8_bits(int32_t dtype, double value)\n"
                           "{\n"
                           "    return small_number(dtype, small_pattern(dtype, value));\n"
                           "}\n"},
    {"real_at(", "static double real_at(const tokitai_tensor3 *t, int64_t i)\n"
                 "{\n"
                 "    return tokitai_load_as(t->dtype, t->data, i);\n"
                 "}\n"},
    {"small_at(", "static double small_at(const tokitai_tensor3 *t, int64_t i)\n"
                  "{\n"
                  "    return small_number(t->dtype, ((const uint8_t *)t->data)[i]);\n"
                  "}\n"},
    {"put_real(", "static void put_real(const tokitai_tensor3 *t, int64_t i, double value)\n"
                  "{\n"
                  "    tokitai_store_as(t->dtype, t->data, i, (float)value);\n"
                  "}\n"},
    {"put_small(", "static void put_small(const tokitai_tensor3 *t, int64_t i, double value)\n"
                   "{\n"
                   "    ((uint8_t *)t->data)[i] = (uint8_t)small_pattern(t->dtype, value);\n"
                   "}\n"},
    {"integer_at(",
     "static int64_t integer_at(const tokitai_tensor3 *t, int64_t i)\n"
     "{\n"
     "    if (t->dtype == TOKITAI_I64)\n"
     "        return ((const int64_t *)t->data)[i];\n"
     "    return t->dtype == TOKITAI_I32 ? ((const int32_t *)t->data)[i] : ((const uint8_t *)t->data)[i];\n"
     "}\n"},
    {"put_integer(", "static void put_integer(const tokitai_tensor3 *t, int64_t i, int64_t value)\n"
                     "{\n"
                     "    if (t->dtype == TOKITAI_I64)\n"
                     "        ((int64_t *)t->data)[i] = value;\n"
                     "    else if (t->dtype == TOKITAI_I32)\n"
                     "        ((int32_t *)t->data)[i] = (int32_t)value;\n"
                     "    else\n"
                     "        ((uint8_t *)t->data)[i] = (uint8_t)value;\n"
                     "}\n"},
};
