/* CHOOSES. A scanner of tokens for C and its relatives, before and after preprocessing. Dates and paths are known by what they became, however
 * the source spelt them. */
#include "kernel_file/source_uses.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/worker_process.h"
#include "kernel_file/source_layout.h"
#include "kernel_file/source_tokens.h"

static const struct {
    const char *name, *meaning;
} words[TKI_USES] = {
    [TKI_USE_DATE] = {"date", "asks for the date or time of its compilation"},
    [TKI_USE_PATH] = {"path", "has the path of its file in it (__FILE__)"},
    [TKI_USE_PRESENCE] = {"has_include", "asks which files there are (__has_include)"},
    [TKI_USE_INCLUDE] = {"include", "includes a file by an absolute or computed path"},
    [TKI_USE_PARENT] = {"parent", "includes a file through a folder above its own"},
    [TKI_USE_DATA] = {"data", "takes in other files as data (#embed, .incbin)"},
    [TKI_USE_ASSEMBLER] = {"assembler", "has the assembler choose, repeat or compute"},
    [TKI_USE_FOLDING] = {"folding", "asks what the optimiser knows (__builtin_constant_p)"},
    [TKI_USE_WEAK] = {"weak", "refers to symbols that a program may have or not have"},
    [TKI_USE_BUILD] = {"build", "names what instrumented builds call, or is not to be instrumented"},
    [TKI_USE_LAYOUT] = {"layout", "looks at its own code, or at what the linker lays out"},
    [TKI_USE_OPTIONS] = {"options", "asks with which options, versions or headers it is compiled (__PIE__, NDEBUG)"},
    [TKI_USE_TARGET] = {"target", "asks for which processor, or as which language, it is compiled"},
    [TKI_USE_EXPORTS] = {"exports", "reaches what it exports by name, which a program may define too"},
};

const char *tki_use_name(tki_use use)
{
    return words[use].name;
}

static int use_named(const char *name)
{
    int use = 0;
    while (use < TKI_USES && strcmp(words[use].name, name) != 0)
        use++;
    return use;
}

const char *tki_use_meaning(const char *name)
{
    const int use = use_named(name);
    return use < TKI_USES ? words[use].meaning : NULL;
}

bool tki_use_is_of(unsigned uses, const char *name)
{
    return uses >> use_named(name) & 1;
}

/* ------------------------------------------------------------------------------------------------------------
 * As it was written
 * ------------------------------------------------------------------------------------------------------------ */

static const char *const presence[] = {"__has_include", "__has_include_next", "__has_embed", NULL};

/* Behind #include, #include_next, #import or #embed. */
static void look_at_path(tki_span rest, bool next, unsigned *uses)
{
    tki_span token;
    const tki_token k = tki_next_token(&rest, &token);
    const bool angle = k == TKI_SIGN && *token.at == '<';
    if (angle) {
        token.at++;
        const char *close = memchr(token.at, '>', (size_t)(rest.end - token.at));
        token.end = close ? close : rest.end;
    } else if (k != TKI_STRING) {
        *uses |= 1u << TKI_USE_INCLUDE;
        return;
    }
    const bool above = tki_span_has(token, "..");
    if (token.at < token.end && (*token.at == '/' || (above && (angle || next))))
        *uses |= 1u << TKI_USE_INCLUDE; /* with .. from a folder of the compiler's */
    else if (above)
        *uses |= 1u << TKI_USE_PARENT;
}

void tki_uses_of_source(const char *text, size_t bytes, unsigned *uses)
{
    static const char *const includes[] = {"include", "include_next", "import", NULL};
    char *joined = malloc(bytes + 1);
    if (!joined) { /* the more is said */
        *uses |= 1u << TKI_USE_PRESENCE;
        return;
    }
    tki_span all = {joined, joined + tki_join_lines(text, bytes, joined)}, rest = all, token;
    bool line_begins = true, directive = false;
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;) {
        if (k == TKI_WORD && tki_span_is_any(token, presence))
            *uses |= 1u << TKI_USE_PRESENCE;
        if (directive && k == TKI_WORD && tki_span_is(token, "embed"))
            *uses |= 1u << TKI_USE_DATA;
        if (directive && k == TKI_WORD && tki_span_is_any(token, includes))
            look_at_path(rest, tki_span_is(token, "include_next"), uses);
        directive = k == TKI_SIGN && line_begins && *token.at == '#';
        line_begins = k == TKI_LINE_END;
    }
    if (tki_span_has(all, "##"))
        for (int i = 0; presence[i]; i++)
            *uses |= tki_is_pasted(all, presence[i]) ? 1u << TKI_USE_PRESENCE : 0;
    free(joined);
}

/* ------------------------------------------------------------------------------------------------------------
 * Preprocessed
 * ------------------------------------------------------------------------------------------------------------ */

/* # 12 "source/kernel/file.c" 2 or, from some compilers, #line 12 "..." *file: of the kernel's own; empty if it is none. */
static bool is_marker(const char *line, const char *end, tki_span *file)
{
    static const char *const folders[] = {TKI_SOURCE_LINK "/kernel/", TKI_SOURCE_LINK "/include"};
    const char *p = line + 1;
    if (*line != '#')
        return false;
    while (p < end && *p == ' ')
        p++;
    if (end - p > 5 && !memcmp(p, "line ", 5))
        p += 5;
    if (p == end || !isdigit((unsigned char)*p))
        return false;
    const char *name = memchr(p, '"', (size_t)(end - p));
    const char *close = name ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    *file = (tki_span){end, end};
    for (size_t i = 0; i < sizeof folders / sizeof *folders && close; i++)
        if ((size_t)(close - name - 1) > strlen(folders[i]) && !memcmp(name + 1, folders[i], strlen(folders[i])))
            *file = (tki_span){name + 1, close};
    return true;
}

/* The next line; its end is behind it. */
static const char *line_end(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return newline ? newline + 1 : end;
}

bool tki_text_next_file(const char **at, const char *end, char *name, size_t size)
{
    while (*at < end) {
        tki_span file = {0};
        const char *line = *at;
        *at = line_end(line, end);
        const int length = is_marker(line, *at, &file) ? (int)(file.end - file.at) : 0;
        if (length && (size_t)length < size) {
            snprintf(name, size, "%.*s", length - (int)strlen(TKI_SOURCE_LINK) - 1,
                     file.at + strlen(TKI_SOURCE_LINK) + 1);
            return true;
        }
    }
    return false;
}

size_t tki_text_own_parts(char *text, size_t bytes)
{
    size_t used = 0;
    tki_span file = {0};
    for (const char *line = text, *next, *end = text + bytes; line < end; line = next) {
        next = line_end(line, end);
        if (is_marker(line, next, &file) || file.at == file.end)
            continue;
        memmove(text + used, line, (size_t)(next - line));
        used += (size_t)(next - line);
    }
    return used;
}

/* What is called by code that a compiler has inserted. */
static const char *const build_names[] = {"__sanitizer_", "__gcov", "llvm_gc", "__llvm_profile", "__llvm_prf",
                                          /* attributes of code that is not to be instrumented */
                                          "no_sanitize", "no_profile_instrument", "no_instrument_function",
                                          /* and options of it, as optimize() has them */
                                          "profile-", "-coverage", "sanitize-", "branch-prob", NULL};

/* What linkers define, and what finds the parts of a library that is loaded. */
static const char *const layout_names[] = {"_end",
                                           "_etext",
                                           "_edata",
                                           "__bss_start",
                                           "__executable_start",
                                           "__ehdr_start",
                                           "__dso_handle",
                                           "_DYNAMIC",
                                           "_GLOBAL_OFFSET_TABLE_",
                                           "__GNU_EH_FRAME_HDR",
                                           "_r_debug",
                                           "dl_iterate_phdr",
                                           "dladdr",
                                           "dladdr1",
                                           "dlinfo",
                                           "_dl_find_object",
                                           "_Unwind_Find_FDE",
                                           "__builtin_return_address",
                                           "__builtin_frame_address",
                                           NULL};
/* Of these only where they are declared from outside: the names are anybody's. */
static const char *const plain_layout_names[] = {"end", "etext", "edata", NULL};
static const char *const layout_prefixes[] = {
    "__start_", "__stop_", "__init_array_", "__fini_array_", "__preinit_array_", "__rela_iplt_", NULL};

/* An escape like \x2e or \056; returns how many letters it took. */
static size_t unescape(const char *at, const char *end, char *letter)
{
    char digits[4] = "";
    size_t i = 2;
    if (end - at > 2 && at[1] == 'x') {
        for (; at + i < end && i < 4 && isxdigit((unsigned char)at[i]); i++)
            digits[i - 2] = at[i];
        *letter = (char)strtol(digits, NULL, 16);
        return i;
    }
    for (i = 1; at + i < end && i < 4 && at[i] >= '0' && at[i] < '8'; i++)
        digits[i - 1] = at[i];
    *letter = i > 1 ? (char)strtol(digits, NULL, 8) : at[1] == 'n' ? '\n' : strchr("tvfr", at[1]) ? ' ' : at[1];
    return i > 1 ? i : 2;
}

static bool is_layout(tki_span s)
{
    return tki_span_is_any(s, layout_names) || tki_span_begins_any(s, layout_prefixes);
}

static void look_at_string(tki_span s, unsigned *uses)
{
    static const char *const dates[] = {TKI_FIXED_DATE, TKI_FIXED_TIME, TKI_FIXED_STAMP, NULL};
    static const char *const paths[] = {TKI_SOURCE_LINK "/kernel/", TKI_SOURCE_LINK "/include", NULL};
    static const char *const data[] = {"incbin", ".include", NULL};
    static const char *const choices[] = {".if", ".macro", ".irp", ".rept", ".altmacro", NULL};
    *uses |= tki_span_has_any(s, dates) ? 1u << TKI_USE_DATE : 0;
    *uses |= tki_span_has_any(s, paths) ? 1u << TKI_USE_PATH : 0;
    *uses |= tki_span_has_any(s, data) ? 1u << TKI_USE_DATA : 0;
    *uses |= tki_span_has_any(s, choices) ? 1u << TKI_USE_ASSEMBLER : 0;
    *uses |= tki_span_has_any(s, build_names) ? 1u << TKI_USE_BUILD : 0;
    tki_span rest = s, token; /* of an assembler */
    for (tki_token k; (k = tki_next_token(&rest, &token)) != TKI_NO_MORE;)
        *uses |= k == TKI_WORD && is_layout(token) ? 1u << TKI_USE_LAYOUT : 0;
}

/* assert() becomes `... : __assert_fail("n > 0", "its path", 12, ...)`: passes over it. */
static bool pass_assert(tki_span token, tki_span before, tki_span *rest)
{
    static const char *const fails[] = {"__assert_fail", "__assert_rtn", "__assert", NULL};
    const bool behind_choice = before.at && (*before.at == ':' || tki_span_is(before, "else"));
    tki_span inside = *rest, next;
    int depth = 0;
    if (!tki_span_is_any(token, fails) || !behind_choice)
        return false;
    for (tki_token k; (k = tki_next_token(&inside, &next)) != TKI_NO_MORE;) {
        depth += k == TKI_SIGN && *next.at == '(' ? 1 : k == TKI_SIGN && *next.at == ')' ? -1 : 0;
        if (depth == 0 && k == TKI_SIGN && *next.at == ')')
            break;
        if (depth == 0 && k != TKI_LINE_END)
            return false;
    }
    *rest = inside;
    return true;
}

void tki_uses_of_text(const char *text, size_t bytes, unsigned *uses)
{
    static const char *const folding[] = {"__builtin_constant_p", "__builtin_object_size",
                                          "__builtin_dynamic_object_size", NULL};
    static const char *const assembler[] = {"asm", "__asm", "__asm__", NULL};
    char *own = malloc(bytes + 1), *joined = malloc(bytes + 1); /* of neighbouring strings */
    if (!own || !joined) {
        *uses |= 1u << TKI_USE_BUILD;
        free(own);
        free(joined);
        return;
    }
    memcpy(own, text, bytes);
    const tki_span all = {own, own + tki_text_own_parts(own, bytes)};
    tki_span rest = all, token, before = {0};
    size_t from = 0, used = 0; /* before `from` is what an assembler gets */
    bool outside = false;      /* in a declaration of what is defined elsewhere */
    bool of_assembler = false;
    *uses |= tki_looks_at_code(all) ? 1u << TKI_USE_LAYOUT : 0;
    for (bool more = true; more;) {
        const tki_token k = tki_next_token(&rest, &token);
        more = k != TKI_NO_MORE;
        if (k == TKI_STRING) {
            for (const char *p = token.at; p < token.end;)
                if (*p == '\\' && token.end - p > 1)
                    p += unescape(p, token.end, &joined[used++]);
                else
                    joined[used++] = *p++;
        } else if (k != TKI_LINE_END && used > from) {
            look_at_string((tki_span){joined + from, joined + used}, uses);
            if (of_assembler)
                joined[used++] = '\n';
            used = from = of_assembler ? used : from;
        }
        if (k == TKI_WORD && pass_assert(token, before, &rest))
            continue;
        before = k == TKI_LINE_END ? before : token;
        outside = k == TKI_WORD && tki_span_is(token, "extern") ? true
                  : k == TKI_SIGN && *token.at == ';'           ? false
                                                                : outside;
        of_assembler = k == TKI_WORD && tki_span_is_any(token, assembler) ? true
                       : k == TKI_SIGN && *token.at == ';'                ? false
                                                                          : of_assembler;
        if (k != TKI_WORD)
            continue;
        *uses |= is_layout(token) || (outside && tki_span_is_any(token, plain_layout_names)) ? 1u << TKI_USE_LAYOUT
                                                                                             : 0;
        *uses |= tki_span_is(token, "__builtin_FILE") ? 1u << TKI_USE_PATH : 0;
        *uses |= tki_span_is_any(token, folding) ? 1u << TKI_USE_FOLDING : 0;
        *uses |= tki_span_has_any(token, build_names) ? 1u << TKI_USE_BUILD : 0;
    }
    *uses |= tki_uses_of_assembler((tki_span){joined, joined + from}, all);
    free(own);
    free(joined);
}

/* ------------------------------------------------------------------------------------------------------------
 * The library
 * ------------------------------------------------------------------------------------------------------------ */

void tki_uses_of_symbol(const char *name, bool weak_and_undefined, unsigned *uses)
{
    /* Of every library, and of every C++ one. */
    static const char *const usual[] = {"__gmon_start__", "_ITM_", "__cxa_", "_ZGT", "pthread_", "__pthread_", NULL};
    const tki_span s = {name, name + strlen(name)};
    bool known = false;
    for (int i = 0; usual[i]; i++)
        known |= !strncmp(name, usual[i], strlen(usual[i]));
    *uses |= weak_and_undefined && !known ? 1u << TKI_USE_WEAK : 0;
    *uses |= tki_span_has_any(s, build_names) ? 1u << TKI_USE_BUILD : 0;
}

bool tki_symbol_is_own(const char *name)
{
    /* Ops, and what each C++ library has a copy of. */
    static const char *const others[] = {"tokitai_", "_ZSt",   "_ZNSt",         "_ZNKSt", "_ZTVSt",
                                         "_ZTISt",   "_ZTSSt", "_ZN9__gnu_cxx", "_ZGV",   NULL};
    return !tki_span_begins_any((tki_span){name, name + strlen(name)}, others);
}
