/* RECORDS. Compilers and flags that a certificate may ask for without its reader having to look at them. */
#include "certify/vetted_flags.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FLAGS_BYTES = 4096, MOST_WORDS = 256 };

#define SMALL "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define NAME SMALL "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_"

/* TARGET-cc-VERSION, the first and the last of which may be missing: any other program would take the source for what it likes, a
 * script to be run, say. */
static bool is_named_as_compiler(const char *name)
{
    static const char *const compilers[] = {"cc",      "c++", "gcc",  "g++",  "clang",
                                            "clang++", "icx", "icpx", "nvcc", "hipcc"};
    const char *end = name + strlen(name), *begin = strrchr(name, '-');
    if (begin && begin[1] && !begin[1 + strspn(begin + 1, DIGITS ".")])
        end = begin;
    for (begin = end; begin > name && begin[-1] != '-';)
        begin--;
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        if ((size_t)(end - begin) == strlen(compilers[i]) && !strncmp(begin, compilers[i], (size_t)(end - begin)))
            return true;
    return false;
}

bool tki_vetted_compiler(const char *name, char *path, size_t size)
{
    static const char *const folders[] = {"/usr/bin", "/usr/local/bin", "/usr/local/cuda/bin", "/opt/rocm/bin"};
    if (name[0] == '.' || name[0] == '-' || name[strspn(name, NAME "+-.")] || !is_named_as_compiler(name))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct stat about;
        int length = snprintf(path, size, "%s/%s", folders[i], name);
        if (length > 0 && (size_t)length < size && stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* How a flag goes on behind what it begins with. */
typedef enum rest {
    NOTHING,
    VALUE,      /* letters of `set` */
    NEXT,       /* nothing, and the next word is letters of `set` */
    FOR_ANOTHER /* nothing, and the next word is flags, separated by commas, for a program that this one starts */
} rest;

typedef struct pattern {
    const char *begin;
    rest rest;
    const char *set;
} pattern;

#define ARCHITECTURES NAME "=,-[]"

static const pattern patterns[] = {
    {"-O", VALUE, SMALL DIGITS},
    {"-g", VALUE, DIGITS},
    {"-ggdb", VALUE, DIGITS},
    {"-std=", VALUE, SMALL DIGITS "+:"},
    {"--std=", VALUE, SMALL DIGITS "+:"},
    {"-W", VALUE, SMALL DIGITS "+=-"}, /* without commas: -Wl, -Wa and -Wp hand on flags */
    {"-w", NOTHING, NULL},
    {"-pedantic", NOTHING, NULL},
    {"-ansi", NOTHING, NULL},
    {"-pipe", NOTHING, NULL},
    {"-pthread", NOTHING, NULL},
    {"-shared", NOTHING, NULL},
    {"-D", VALUE, NAME "=+-.()"},
    {"-U", VALUE, NAME},
    {"-l", VALUE, NAME "+-."},
    {"-m", VALUE, NAME "=+-.,"},
    /* nvcc */
    {"-lineinfo", NOTHING, NULL},
    {"--generate-line-info", NOTHING, NULL},
    {"-arch=", VALUE, ARCHITECTURES},
    {"-arch", NEXT, ARCHITECTURES},
    {"--gpu-architecture=", VALUE, ARCHITECTURES},
    {"--gpu-architecture", NEXT, ARCHITECTURES},
    {"-gencode=", VALUE, ARCHITECTURES},
    {"-gencode", NEXT, ARCHITECTURES},
    {"--generate-code=", VALUE, ARCHITECTURES},
    {"--generate-code", NEXT, ARCHITECTURES},
    {"-code=", VALUE, ARCHITECTURES},
    {"--gpu-code=", VALUE, ARCHITECTURES},
    {"-use_fast_math", NOTHING, NULL},
    {"--use_fast_math", NOTHING, NULL},
    {"-fmad=", VALUE, SMALL},
    {"--fmad=", VALUE, SMALL},
    {"-ftz=", VALUE, SMALL},
    {"--ftz=", VALUE, SMALL},
    {"-prec-div=", VALUE, SMALL},
    {"--prec-div=", VALUE, SMALL},
    {"-prec-sqrt=", VALUE, SMALL},
    {"--prec-sqrt=", VALUE, SMALL},
    {"-maxrregcount=", VALUE, DIGITS},
    {"--maxrregcount=", VALUE, DIGITS},
    {"-rdc=", VALUE, SMALL},
    {"-extended-lambda", NOTHING, NULL},
    {"--extended-lambda", NOTHING, NULL},
    {"--expt-extended-lambda", NOTHING, NULL},
    {"--expt-relaxed-constexpr", NOTHING, NULL},
    {"-Xcompiler", FOR_ANOTHER, NULL},
    {"--compiler-options", FOR_ANOTHER, NULL},
    {"-Xptxas", FOR_ANOTHER, NULL},
    {"--ptxas-options", FOR_ANOTHER, NULL},
    {"-v", NOTHING, NULL},
    {"-dlcm=", VALUE, SMALL},
    {"-warn-spills", NOTHING, NULL},
    /* hipcc */
    {"--offload-arch=", VALUE, NAME ":+-"},
};

/* -fNAME, -fno-NAME and -fNAME=VALUE: among the others are plugins, files to be read and written, and programs. */
static const char *const features[] = {
    "PIC",
    "pic",
    "associative-math",
    "builtin",
    "cx-limited-range",
    "exceptions",
    "excess-precision",
    "fast-math",
    "finite-math-only",
    "fp-contract",
    "gpu-flush-denormals-to-zero",
    "gpu-rdc",
    "inline-functions",
    "ipa-pta",
    "math-errno",
    "omit-frame-pointer",
    "openmp",
    "openmp-simd",
    "plt",
    "reciprocal-math",
    "rounding-math",
    "rtti",
    "semantic-interposition",
    "signaling-nans",
    "signed-char",
    "signed-zeros",
    "slp-vectorize",
    "stack-protector",
    "strict-aliasing",
    "trapping-math",
    "tree-slp-vectorize",
    "tree-vectorize",
    "unroll-loops",
    "unsafe-math-optimizations",
    "unsigned-char",
    "vect-cost-model",
    "vectorize",
    "visibility",
    "wrapv",
};

static bool is_feature(const char *word)
{
    if (strncmp(word, "-f", 2) != 0)
        return false;
    word += strncmp(word, "-fno-", 5) != 0 ? 2 : 5;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        size_t length = strlen(features[i]);
        if (!strncmp(word, features[i], length) &&
            (!word[length] ||
             (word[length] == '=' && !word[length + 1 + strspn(word + length + 1, SMALL DIGITS "-")])))
            return true;
    }
    return false;
}

/* *next: how the next word has to be; unchanged if it stands for itself. */
static bool is_taken(const char *word, const pattern **next)
{
    if (!strncmp(word, "-mllvm", 6)) /* clang hands the next word on */
        return false;
    if (is_feature(word))
        return true;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const pattern *p = &patterns[i];
        size_t length = strlen(p->begin);
        if (strncmp(word, p->begin, length) != 0 || (p->rest != VALUE && word[length]))
            continue;
        if (p->rest == VALUE && word[length + strspn(word + length, p->set)])
            continue;
        if (p->rest == NEXT || p->rest == FOR_ANOTHER)
            *next = p;
        return true;
    }
    return false;
}

static bool are_taken_by_another(char *words)
{
    const pattern *next = NULL;
    char *left = NULL;
    for (const char *word = strtok_r(words, ",", &left); word; word = strtok_r(NULL, ",", &left))
        if (!is_taken(word, &next) || next)
            return false;
    return true;
}

bool tki_vetted_flags(const char *flags, char *refused, size_t size)
{
    char copy[MOST_FLAGS_BYTES], *left = NULL;
    const pattern *expected = NULL;
    int count = 0;
    snprintf(refused, size, "(too long)");
    if (strlen(flags) >= sizeof copy)
        return false;
    memcpy(copy, flags, strlen(flags) + 1);
    for (char *word = strtok_r(copy, " \t\n", &left); word; word = strtok_r(NULL, " \t\n", &left)) {
        const pattern *now = expected;
        expected = NULL;
        snprintf(refused, size, "%s", word);
        if (++count > MOST_WORDS)
            return false;
        bool good = !now                ? is_taken(word, &expected)
                    : now->rest == NEXT ? !word[strspn(word, now->set)] && word[0] != '-'
                                        : are_taken_by_another(word);
        if (!good)
            return false;
    }
    refused[0] = 0;
    return true;
}
