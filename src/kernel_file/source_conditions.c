/* CHOOSES. By what macros a source chooses what it is: those of the processor and the language are the subject's own; those that tell options,
 * versions, headers, lines or what stood before would make it another kernel by another command. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_file/source_tokens.h"
#include "kernel_file/source_uses.h"

#define BIT(use) (1u << TKI_USE_##use)

static const char *const processors[] = {
    "__x86_64__",   "__x86_64",   "__amd64__", "__amd64",  "__i386__",      "__aarch64__",
    "__arm__",      "__riscv",    "__s390x__", "__VSX__",  "__ALTIVEC__",   "__LP64__",
    "_LP64",        "__FMA__",    "__FMA4__",  "__F16C__", "__BMI__",       "__BMI2__",
    "__LZCNT__",    "__POPCNT__", "__AES__",   "__VAES__", "__PCLMUL__",    "__VPCLMULQDQ__",
    "__GFNI__",     "__SHA__",    "__ADX__",   "__MMX__",  "_M_X64",        "_M_ARM64",
    "__linux__",    "__unix__",   "__APPLE__", "_WIN32",   "__CUDA_ARCH__", "__BYTE_ORDER__",
    "__CHAR_BIT__", NULL};
static const char *const processor_prefixes[] = {"__AVX",       "__SSE",     "__SSSE",    "__AMX_",   "__ARM_",
                                                 "__riscv_",    "__powerpc", "__SIZEOF_", "__ORDER_", "__HIP_DEVICE",
                                                 "__HIP_ARCH_", "__gfx",     NULL};
/* Whether they are there says which compiler reads it; their values say of which version it is. */
static const char *const readers[] = {"__cplusplus",      "__GNUC__",  "__clang__", "__CUDACC__",
                                      "__NVCC__",         "__HIPCC__", "__HIP__",   "__INTEL_LLVM_COMPILER",
                                      "__INTEL_COMPILER", "_MSC_VER",  NULL};
/* Not of the shape __NAME__, and __NAME__ that begin as types do. */
static const char *const telling[] = {"__pie__",
                                      "__pic__",
                                      "NDEBUG",
                                      "_OPENMP",
                                      "_OPENACC",
                                      "_REENTRANT",
                                      "_FORTIFY_SOURCE",
                                      "LINUX_VERSION_CODE",
                                      "__FLT_EVAL_METHOD__",
                                      "FLT_EVAL_METHOD",
                                      "__clang_major__",
                                      "__clang_minor__",
                                      "__clang_patchlevel__",
                                      "__clang_version__",
                                      "_GLIBCXX_RELEASE",
                                      NULL};
/* Values of types, and what other words are for. */
static const char *const plain_prefixes[] = {"__FLT",     "__DBL",  "__LDBL", "__BFLT16",      "__DEC",
                                             "__ATOMIC_", "__VA_",  "__FUNC", "__PRETTY_FUNC", "__BIGGEST_ALIGN",
                                             "__INT",     "__UINT", NULL};
static const char *const plain_endings[] = {"_MAX__", "_MIN__", "_TYPE__", "_WIDTH__", NULL};
static const char *const plain[] = {"__FILE__",      "__BASE_FILE__",        "__DATE__", "__TIME__",
                                    "__TIMESTAMP__", "__GNUC_STDC_INLINE__", NULL};
static const char *const guard_endings[] = {"_H",        "_H_",        "_H__", "_HPP",  "_HPP_", "_HPP__",
                                            "_INCLUDED", "_INCLUDED_", "_CUH", "_CUH_", NULL};
/* Looked for where ## may have made them. */
static const char *const pasted[] = {"__PIE__",           "__pie__",
                                     "__PIC__",           "__OPTIMIZE__",
                                     "__OPTIMIZE_SIZE__", "__NO_INLINE__",
                                     "__FAST_MATH__",     "__FINITE_MATH_ONLY__",
                                     "__STRICT_ANSI__",   "__STDC_VERSION__",
                                     "__VERSION__",       "__GNUC_MINOR__",
                                     "__COUNTER__",       "__INCLUDE_LEVEL__",
                                     "__LINE__",          "NDEBUG",
                                     "_OPENMP",           NULL};

static bool has_shape(tki_span name)
{
    static const char *const begins[] = {"__", NULL}, *const ends[] = {"__", NULL};
    if (name.end - name.at < 5 || !tki_span_begins_any(name, begins) || !tki_span_ends_any(name, ends))
        return false;
    for (const char *p = name.at; p < name.end; p++)
        if (islower((unsigned char)*p))
            return false;
    return true;
}

static bool is_processor(tki_span name)
{
    return tki_span_is_any(name, processors) || tki_span_begins_any(name, processor_prefixes);
}

static bool is_plain(tki_span name)
{
    return tki_span_is_any(name, plain) || tki_span_begins_any(name, plain_prefixes) ||
           tki_span_ends_any(name, plain_endings);
}

/* A name in a condition that may make no difference to what it is asked for. */
static unsigned of_condition(tki_span name, bool is_there, const tki_names *own)
{
    const bool predefined = tki_span_is_any(name, telling) || has_shape(name);
    if (tki_names_have(own, name) && (!predefined || tki_span_ends_any(name, guard_endings)))
        return 0;
    if (is_processor(name) || (is_plain(name) && !tki_span_is_any(name, telling)) ||
        (is_there && tki_span_is_any(name, readers)))
        return BIT(TARGET);
    return BIT(OPTIONS);
}

/* Behind #if, #ifdef and their relatives. */
static unsigned look_at_condition(tki_span rest, bool is_there, const tki_names *own, bool pastes)
{
    static const char *const presence[] = {"__has_include", "__has_include_next", "__has_embed", NULL};
    static const char *const operators[] = {"true", "false", "and", "or", "not", NULL};
    unsigned uses = 0;
    tki_span token, before = {0};
    bool asked = is_there;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE && k != TKI_LINE_END; before = token) {
        if (k == TKI_SIGN && token.at[-1] == '\'')
            uses |= BIT(OPTIONS); /* whether char is signed */
        if (k == TKI_SIGN && *token.at == '(' && pastes && before.at && tki_is_word(*before.at) &&
            !tki_span_is(before, "defined"))
            uses |= BIT(OPTIONS);
        if (k != TKI_WORD) {
            asked &= is_there || (k == TKI_SIGN && *token.at == '(');
            continue;
        }
        if (tki_span_is_any(token, presence))
            return uses;
        if (tki_span_is(token, "defined"))
            asked = true;
        else if (!isdigit((unsigned char)*token.at) && !tki_span_is_any(token, operators)) {
            uses |= of_condition(token, asked, own);
            asked = is_there;
        }
    }
    return uses;
}

/* What an assert() does beside asking: it is not there in other builds. */
static bool assert_acts(tki_span rest)
{
    tki_span token, before = {0};
    int depth = 0;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE; before = token) {
        const char sign = k == TKI_SIGN ? *token.at : 0, next = token.end < rest.end ? *token.end : 0;
        depth += sign == '(' ? 1 : sign == ')' ? -1 : 0;
        if (depth <= 0)
            return false;
        if (sign == '=' && next != '=' && !strchr("=!<>", *before.at))
            return true;
        if ((sign == '+' || sign == '-') && next == sign)
            return true;
    }
    return false;
}

/* Beside the name of its file, in what is said of errors. */
static bool is_place(tki_span rest, const tki_span before[2])
{
    tki_span token;
    if (before[0].at && *before[0].at == ',' && before[1].at && tki_span_is(before[1], "__FILE__"))
        return true;
    tki_next_token(&rest, &token);
    return token.at < token.end && *token.at == ',' && tki_next_token(&rest, &token) == TKI_WORD &&
           tki_span_is(token, "__FILE__");
}

static unsigned of_code(tki_span word, tki_span rest, const tki_span before[2], const tki_names *own)
{
    if (tki_span_is(word, "__FILE_NAME__"))
        return BIT(PATH);
    if (tki_span_is(word, "assert"))
        return assert_acts(rest) ? BIT(OPTIONS) : 0;
    const bool listed = tki_span_is_any(word, telling) && !islower((unsigned char)*word.at);
    if (tki_names_have(own, word) || !(listed || has_shape(word)))
        return 0;
    if (is_processor(word))
        return BIT(TARGET);
    if (is_plain(word) && !listed)
        return 0;
    return tki_span_is(word, "__LINE__") && is_place(rest, before) ? 0 : BIT(OPTIONS);
}

static void collect_own(tki_span rest, tki_names *own)
{
    tki_span token;
    bool line_begins = true;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE; line_begins = k == TKI_LINE_END)
        if (k == TKI_SIGN && line_begins && *token.at == '#' && tki_next_token(&rest, &token) == TKI_WORD &&
            tki_span_is(token, "define") && tki_next_token(&rest, &token) == TKI_WORD)
            tki_names_add(own, token);
    tki_names_sort(own);
}

static void pass_line(tki_span *rest)
{
    tki_span ahead = *rest, token;
    for (tki_token k; (k = tki_next_token(&ahead, &token)) != TKI_NO_MORE && k != TKI_LINE_END;)
        *rest = ahead;
}

/* A line that begins with #; what it defines is looked at as code is. */
static unsigned look_at_directive(tki_span *rest, const tki_names *own, bool pastes)
{
    static const char *const conditions[] = {"if", "elif", NULL};
    static const char *const presences[] = {"ifdef", "ifndef", "elifdef", "elifndef", NULL};
    static const char *const names[] = {"define", "undef", NULL};
    static const char *const texts[] = {"error", "warning", "include", "include_next", "import", "line", NULL};
    tki_span ahead = *rest, token;
    unsigned uses = 0;
    if (tki_next_token(&ahead, &token) != TKI_WORD)
        return 0;
    *rest = ahead;
    const bool is_there = tki_span_is_any(token, presences);
    if (is_there || tki_span_is_any(token, conditions)) {
        uses = look_at_condition(ahead, is_there, own, pastes);
        pass_line(rest);
    } else if (tki_span_is_any(token, texts)) {
        pass_line(rest);
    } else if (tki_span_is_any(token, names) && tki_next_token(&ahead, &token) == TKI_WORD) {
        *rest = ahead;
    }
    return uses;
}

void tki_uses_of_conditions(const char *text, size_t bytes, unsigned *uses)
{
    char *joined = malloc(bytes + 1);
    if (!joined) { /* the more is said */
        *uses |= BIT(OPTIONS);
        return;
    }
    const tki_span all = {joined, joined + tki_join_lines(text, bytes, joined)};
    tki_span rest = all, token, before[2] = {0};
    tki_names own = {0};
    const bool pastes = tki_span_has(all, "##");
    collect_own(all, &own);
    *uses |= own.failed ? BIT(OPTIONS) : 0;
    bool line_begins = true;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE; line_begins = k == TKI_LINE_END) {
        if (k == TKI_SIGN && line_begins && *token.at == '#')
            *uses |= look_at_directive(&rest, &own, pastes);
        else if (k == TKI_WORD)
            *uses |= of_code(token, rest, before, &own);
        before[1] = before[0];
        before[0] = token;
    }
    for (int i = 0; pastes && pasted[i]; i++)
        *uses |= tki_is_pasted(all, pasted[i]) ? BIT(OPTIONS) : 0;
    *uses |= pastes && tki_is_pasted(all, "__FILE_NAME__") ? BIT(PATH) : 0;
    free(own.items);
    free(joined);
}
