/* Certificates, of libtokitai-verify. Read tokitai.h first: its rules hold here too.
 *
 * tk_certify() runs a kernel on inputs chosen to expose errors, compares every output element with the exact
 * result, checks that nothing else was written or changed, and returns a certificate: what was run, on what, the
 * outcome, and what is not claimed.
 */
#ifndef TOKITAI_VERIFY_H
#define TOKITAI_VERIFY_H

#include "tokitai.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tk_verdict {
    TK_PROVED,  /* every input of a finite domain was tried, and it held */
    TK_HELD,    /* it held on everything tried */
    TK_REFUTED, /* it failed; the certificate gives a one-line command that reproduces it */
    TK_UNKNOWN  /* it could not be decided; the certificate gives the reason */
} tk_verdict;

const char *tk_verdict_name(tk_verdict verdict); /* "PROVED", "HELD", "REFUTED", "UNKNOWN" */

typedef enum tk_level {
    TK_QUICK = 0, /* seconds; edge cases of shape and value, every mutant rejected */
    TK_FULL, /* minutes; 33 million elements and more, of ops with more than four sizes 5 million where outputs allow it */
    TK_EXHAUSTIVE /* every input where the contract's domain is finite, otherwise as TK_FULL */
} tk_level;

/* Each with its name, and `between` between them. */
#define TK_LEVELS(level, between) \
    level(TK_QUICK, "quick") between level(TK_FULL, "full") between level(TK_EXHAUSTIVE, "exhaustive")

const char *tk_level_name(tk_level level);

/* What is right for one output element of a registered op. It is accepted if one of its flags accepts it. Of TK_BY_ORDER they
 * are about the key that an index selects, but for TK_ADMIT_RAW_BITS; of TK_BY_INTEGER those of bits are needed. */
enum {
    TK_ADMIT_INTERVAL = 1, /* the rounding of some value within `bound` of the exact one, which is in [lo, hi] */
    TK_ADMIT_NAN = 2,
    TK_ADMIT_PLUS_INF = 4,
    TK_ADMIT_MINUS_INF = 8,
    TK_ADMIT_ZERO = 16,       /* of either sign */
    TK_ADMIT_BITS = 32,       /* exactly `bits`, all NaNs being equal; of integers the number, sign-extended */
    TK_ADMIT_RAW_BITS = 64,   /* exactly `bits`, NaN payload included; of TK_BY_ORDER this very index */
    TK_ADMIT_UNDEFINED = 128, /* the contract says nothing of it: the verdict is then UNKNOWN */
    TK_ADMIT_ANY = 255
};

typedef struct tk_enclosure {
    double lo, hi;   /* of the exact value; finite, where an interval is admitted */
    double bound;    /* B, rounded up */
    double promised; /* the same of implementations that promise a smaller one; 0: there is none */
    uint64_t bits;
    unsigned admits; /* TK_ADMIT_... */
    int clause;      /* position of the clause that decides */
} tk_enclosure;

/* Encloses `count` elements of an output, row-major, from `first` on. `buffers` are in contract order, outputs NULL. It is
 * called by several threads at once. Anything but TK_OK ends the judgement, and so does an enclosure that is none:
 * without a flag, of no clause, or of no interval. */
typedef tk_status (*tk_enclose)(const tk_case *c, const void *const buffers[], int output, int64_t first,
                                int64_t count, tk_enclosure *out, void *user_data);

/* The exact value of one element, more closely: each end is the sum of its doubles. */
enum { TK_REFINED_PARTS = 16 };
typedef struct tk_refined {
    double lo[TK_REFINED_PARTS], hi[TK_REFINED_PARTS]; /* come as zeros */
} tk_refined;

/* Encloses one element for which tk_enclose admitted an interval, with about so many bits relative to its size, or exactly. It is
 * called by several threads at once, with rising precision, until the rounding is decided. */
typedef tk_status (*tk_refine)(const tk_case *c, const void *const buffers[], int output, int64_t element,
                               int precision, tk_refined *out, void *user_data);

/* A kernel of a program that runs on purpose: a mutant is wrong and must be refuted, a variant is right and must be held. */
typedef struct tk_planted {
    const char *name; /* lower-case letters, digits and _ */
    const char *what; /* what is wrong with it, or different, in a line */
    tk_kernel kernel;
    void *user_data;
    tk_level level; /* mutants: the level whose trials reject it */
} tk_planted;

/* A clause of the contract, and a theorem of this version (tk_theorem_at()) that is a step of its derivation, by the program's word. */
typedef struct tk_support {
    const char *clause;         /* "DOT.ERR" */
    const char *file, *theorem; /* "proofs/sums.v", "any_order" */
} tk_support;

/* What the inputs of a trial are like, for which attributes are drawn. */
typedef struct tk_draw {
    bool sharp;    /* small mistakes should show */
    bool infinite; /* there are infinities, and this trial is for the limits of attributes */
} tk_draw;

/* What an input of integers should be like. */
typedef enum tk_drawn {
    TK_DRAW_BITS,    /* every pattern equally likely */
    TK_DRAW_LARGEST, /* the largest ones */
    TK_DRAW_PLAIN,   /* every value equally likely */
    TK_DRAW_SPARSE,  /* zeros, and others among them */
    TK_DRAW_CANCEL,  /* terms that cancel, so that results are at the ends of what they can be */
    TK_DRAW_TELLING  /* those at which the op's own mistakes show */
} tk_drawn;

/* How kernels of a registered op are judged: it is what a certificate of it trusts. Start from TK_REFERENCE_DEFAULTS. */
typedef struct tk_reference {
    size_t size; /* of this struct, set by the defaults */
    tk_enclose enclose;
    tk_refine refine; /* NULL: where tk_enclose leaves the rounding open, it is not decided */
    void *user_data;
    int mutant_count;
    const tk_planted *mutants;
    int variant_count;
    const tk_planted *variants;
    /* Hints for trials; without them, trials go by the contract alone. What is random follows from `seed`. Attributes that come out of
     * their range, and those that kernels do not see, stay as they were. */
    /* What the exact values of a case cost, in additions, say: trials are cut to 2^24 of them at quick and 2^30 at full. NULL: not
     * more than the elements of its tensors, or the product of its sizes. */
    double (*work)(const tk_case *c, void *user_data);
    /* Sets the attributes of a case whose sizes are set. */
    void (*draw)(tk_case *c, const tk_draw *how, uint64_t seed, void *user_data);
    /* Further trials: sets sizes and attributes of the i-th. Where exponentials are added, its rows have one element far above the
     * others; where numbers are, they are the largest for an even i, and for an odd one terms cancel. */
    int further_count;
    void (*further)(tk_case *c, int i, uint64_t seed, void *user_data);
    /* Fills an input of integers that are no indices, where what matters depends on the attributes. */
    void (*fill)(const tk_case *c, int param, tk_drawn how, void *data, uint64_t seed, void *user_data);
    /* Few sets of attributes, for which kernels have code of their own: each meets every kind of size and value. */
    int set_count;
    void (*set)(tk_case *c, int i, void *user_data);
    /* Certificates cite these theorems for these clauses. */
    int support_count;
    const tk_support *supports;
} tk_reference;

#define TK_REFERENCE_DEFAULTS ((tk_reference){.size = sizeof(tk_reference)})

/* From now on, and once for an op. All that is pointed to, but user_data, is copied. */
TK_MUST_USE tk_status tk_contract_judge_by(tk_ctx *ctx, const tk_contract *contract, const tk_reference *reference);

/* A kernel file: C, C++, CUDA or HIP source (.c .cpp .cc .cu .hip) or a shared library (.so) that defines functions
 * of tokitai_kernel.h; or a directory in which kernel.c (.cpp, .cc, .cu, .hip), or the only such file, includes the
 * others. It is copied when it is opened, without following links, and the copy is hashed and judged. It is
 * compiled and run in sandboxed processes; whatever it does there, the caller continues.
 * docs/bring-your-own-kernel.md describes how tricks are detected. */
typedef struct tk_kernel_file tk_kernel_file;

enum {
    TK_LEAST_MEMORY = 1 << 24, /* bytes */
    TK_LEAST_OUTPUT = 1 << 12,
    TK_MOST_TASKS = 1 << 22,
    TK_MOST_FOLDER_DEPTH = 64
};

/* The limits of a kernel file, and of the compilers and tools that process it. Zero stands for the default. */
typedef struct tk_limits {
    int64_t memory_bytes; /* three quarters of the machine's; never more than the machine has */
    int64_t output_bytes; /* of each file that is written; 1 GiB */
    int tasks;            /* threads and processes; 1024 */
    int folder_depth;     /* nesting of its directories, and of those of headers; 16 */
} tk_limits;

/* Start from TK_KERNEL_FILE_DEFAULTS. Zero or NULL stands for the default. */
typedef struct tk_kernel_file_options {
    size_t size;          /* of this struct, set by the defaults */
    const char *backend;  /* "cpu", "cuda", "cuda:1", "hip"; the default is cuda for .cu, hip for .hip, else cpu */
    const char *compiler; /* a path or a name on the PATH; the default is cc, c++, nvcc or hipcc */
    /* Separated by blanks; -O2, and for nvcc -lineinfo. The flags for a shared library are always added, and the
     * device's architecture for nvcc unless they name one. */
    const char *flags;
    const char *include;    /* directories of headers, separated by colons; copied with the kernel */
    double compile_seconds; /* 300 */
    double call_seconds;    /* deadline of one call; 60 */
    tk_limits limits;
    bool allow_weak_sandbox; /* run it even if its access to files and system calls cannot be restricted */
    /* Of the only accepted file: another is refused, with TK_UNAVAILABLE, before it is compiled. NULL: any. */
    const char *sha256;
    /* The same for all files, if there are several; "" for a single file. NULL: any. */
    const char *tree_sha256;
    /* Not 0: the library that is made here is what is judged and used, and its source may ask where, when and how it is compiled. Otherwise a kernel
     * whose source does that is not HELD: compiled elsewhere it may be another one. */
    int64_t library_alone;
} tk_kernel_file_options;

#define TK_KERNEL_FILE_DEFAULTS ((tk_kernel_file_options){.size = sizeof(tk_kernel_file_options)})

/* Whether a path has the ending of a kernel file. Nothing is read. */
bool tk_kernel_file_named(const char *path);

/* Compiles the file, once for everything that follows. A file that does not compile is not an error: tk_certify()
 * then returns UNKNOWN with the reason. Once open, it may be used by several contexts at once. */
TK_MUST_USE tk_status tk_kernel_file_open(tk_ctx *ctx, const char *path, const tk_kernel_file_options *options,
                                          tk_kernel_file **kernel);
void tk_kernel_file_close(tk_kernel_file *kernel); /* NULL is allowed */

/* The same of the plain loops of an op that was made from a definition (tk_op_plain_kernel()), for the backend of the options or the CPU: the op's
 * first kernel, which tk_certify() judges where no other one is named. Its certificates are those of plain.BACKEND.OP.DTYPE. */
TK_MUST_USE tk_status tk_kernel_file_plain(tk_ctx *ctx, const tk_contract *contract,
                                           const tk_kernel_file_options *options, tk_kernel_file **kernel);

const char *tk_kernel_file_problem(const tk_kernel_file *kernel); /* why there is nothing to run; "" if there is */
const char *tk_kernel_file_log(const tk_kernel_file *kernel);     /* the compiler's output, truncated */
const char *tk_kernel_file_backend(const tk_kernel_file *kernel); /* "cpu", "cuda", "hip" */
bool tk_kernel_file_defines(const tk_kernel_file *kernel, const tk_contract *contract);

/* Writes the library that is judged, whose SHA-256 certificates have: what was judged is this file, and no other that the
 * source is compiled to. A file that is there already is replaced. TK_UNAVAILABLE: there is none. */
TK_MUST_USE tk_status tk_kernel_file_write_artifact(tk_ctx *ctx, const tk_kernel_file *kernel, const char *path);

/* Called from time to time: `done` in [0, 1], and the current activity. */
typedef void (*tk_progress)(double done, const char *what, void *user_data);

enum { TK_SEED_DEFAULT = 20261115 };

/* One input tensor given bit by bit instead of drawn: "grad_output" = {0x7bff, ...}. */
typedef struct tk_given_input {
    const char *name;
    const uint64_t *bits; /* [count], the bit patterns of the elements */
    int64_t count;
} tk_given_input;

/* An attribute of the op and its value: {"domain", "normal"}, {"scale", "0.5"}. */
typedef struct tk_setting {
    const char *attribute;
    const char *value;
} tk_setting;

/* Whether small trials of a CUDA kernel file also run under the tools of compute-sanitizer, if it is found. */
typedef enum tk_sanitize {
    TK_SANITIZE_BY_LEVEL, /* at full and exhaustive */
    TK_SANITIZE_ALWAYS,
    TK_SANITIZE_NEVER
} tk_sanitize;

enum { TK_MAX_PLANTED = 8 };

/* Start from TK_CERTIFY_DEFAULTS. */
typedef struct tk_certify_options {
    size_t size; /* of this struct, set by the defaults */
    tk_level level;
    uint64_t seed;
    const char *backend;  /* NULL for "cpu" */
    const char *lowering; /* a full id, or NULL for the first lowering that accepts */
    const char *mutant;   /* judge this mutant instead of a lowering */
    const char *variant;  /* judge this variant instead of a lowering */
    tk_kernel kernel;     /* judge this function instead of a lowering */
    void *kernel_data;    /* passed to it */
    const char *kernel_name;
    const char *kernel_program; /* the command of the program that the function passes its cases to, or NULL */
    const tk_kernel_file
        *kernel_file;    /* judge the function of this file; use a random seed, so that it cannot know the trials */
    const int64_t *dims; /* [dim_count]: this shape only; NULL for the level's own */
    const char *family;  /* this input family only; NULL for the level's own */
    const tk_given_input *inputs; /* exactly these inputs, with `dims`; all inputs of the op or none */
    int input_count;
    /* Of the op's attributes. The others have their defaults; but of those that kernels see several values are tried,
     * if none of them is set. */
    const tk_setting *settings;
    int setting_count;
    int call_threads; /* every call with this many threads; 0: 1, 2, 3, 4, 5, 8 and 16 in turn */
    /* Every array at an odd multiple of this power of two, or at a multiple of 256; 0: all kinds of addresses in
     * turn. */
    int alignment;
    const int64_t *planted; /* bit patterns and indices planted among the inputs, with `dims`; NULL: none */
    int planted_count;      /* up to TK_MAX_PLANTED */
    bool skip_mutants;      /* without mutants; the certificate then says so */
    bool skip_coverage;     /* no coverage-guided trials of a kernel file; as above */
    bool keep_going;        /* after a failed trial run the others too, to grade the kernel */
    tk_sanitize sanitize;   /* kernel files */
    /* Of the whole judgement, which is UNKNOWN if they expire before it is refuted; 0: 3600 for kernel files and
     * programs, no limit for others. */
    double total_seconds;
    tk_progress progress; /* may be NULL */
    void *progress_data;
    const tk_dtype *result_dtype; /* of the results; NULL: the same as the dtype */
    /* Why the last call of `kernel` returned another number than 0, in words for the certificate; it gets kernel_data,
     * and its text is copied. NULL: the certificate has the number. */
    const char *(*kernel_problem)(void *kernel_data);
    /* The device that `kernel` computes on, in words. The certificate has it as the caller's claim. NULL: none is
     * named. */
    const char *kernel_device;
    /* Not 0: run the mutants also where this build's verdicts on them are kept from an earlier process. Without it the
     * certificate says since when they are. */
    int64_t fresh_mutants;
} tk_certify_options;

#define TK_CERTIFY_DEFAULTS \
    ((tk_certify_options){.size = sizeof(tk_certify_options), .level = TK_QUICK, .seed = TK_SEED_DEFAULT})

typedef struct tk_certificate tk_certificate;

/* Certifies one op for one dtype, with results of it or of options->result_dtype (and one index type, ignored if the op takes no index). Kernels run, and are
 * judged, in the default floating-point environment (rounding to nearest, nothing flushed), whatever the caller's
 * is and whatever a kernel changes; the caller's is restored. */
TK_MUST_USE tk_status tk_certify(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                                 const tk_certify_options *options, tk_certificate **certificate);

/* Judges outputs that were computed elsewhere, element by element; no kernel runs. `inputs` and `outputs` are the contract's inputs
 * and its outputs, each in contract order, with NULL for those that the case does not have or that have no elements. On a context
 * that works on a GPU they are device memory. The certificate says that inputs and outputs were given, and has the SHA-256 of each;
 * what a contract says of writing, shapes and repetition is not judged. Of matrix products, numerics `any` are `ieee`. TK_BAD_INDEX:
 * an index among the inputs is out of range, so that the op has no result. TK_BAD_ARGUMENT: also for an input that lies outside of
 * the case's domain. */
TK_MUST_USE tk_status tk_judge(tk_ctx *ctx, const tk_case *c, const void *const inputs[], const void *const outputs[],
                               tk_certificate **certificate);
void tk_certificate_destroy(tk_certificate *certificate); /* NULL is allowed */

tk_verdict tk_certificate_verdict(const tk_certificate *certificate);
/* The verdict in one line with all its restrictions: "HELD", "HELD for one case: n=1". Show this rather than the
 * bare verdict. */
const char *tk_certificate_headline(const tk_certificate *certificate);
/* The restriction of the verdict, if it is not on the whole check: "for one case: n=1"; otherwise "". */
const char *tk_certificate_scope(const tk_certificate *certificate);
const char *tk_certificate_subject(const tk_certificate *certificate); /* "cpu.gelu_bwd.f16.scalar" */
int64_t tk_certificate_elements(const tk_certificate *certificate);    /* judged */
/* The largest distance from the correctly rounded exact value, even where an ulp has no meaning: infinite where
 * exactly one of the two is infinite, huge where the exact value is far below the bound. */
double tk_certificate_worst_ulp(const tk_certificate *certificate);
/* The same for accepted elements for which it has a meaning: both values are finite, and the exact value is larger
 * than the bound. */
double tk_certificate_accepted_ulp(const tk_certificate *certificate);
double tk_certificate_bound_used(const tk_certificate *certificate); /* share of the bound, over all elements */
int tk_certificate_mutants(const tk_certificate *certificate, int *rejected); /* run; how many were rejected */
/* When this build ran them, if not for this certificate: "2026-11-18T05:42:33Z"; otherwise "". */
const char *tk_certificate_mutants_kept(const tk_certificate *certificate);
double tk_certificate_seconds(const tk_certificate *certificate);
/* For a kernel file: the lines of its source that contain code, and how many of them ran in judged calls; -1 if
 * that is not known. */
int64_t tk_certificate_lines(const tk_certificate *certificate, int64_t *run);
const char *tk_certificate_reason(const tk_certificate *certificate);    /* why refuted or unknown, otherwise "" */
const char *tk_certificate_reproduce(const tk_certificate *certificate); /* the one-line command, otherwise "" */

/* How wrong a refuted kernel is; docs/certificate.md says what each grade means. */
typedef struct tk_refutation {
    const char *grade; /* "slight", "inexact", "gross", "structural" */
    int64_t elements;  /* wrong */
    int64_t judged;    /* in the trials that failed */
    int64_t nan;       /* wrong and NaN */
    /* An upper limit of the median distance of wrong elements from the nearest admissible value; infinite beyond
     * 1024. */
    double median_ulp;
    double worst_ulp; /* infinite if a distance is undefined: it is NaN, or no number is admissible */
} tk_refutation;

/* False if the certificate does not refute, or is of a version without these figures. */
bool tk_certificate_refutation(const tk_certificate *certificate, tk_refutation *refutation);

/* The certificate as an in-toto Statement in canonical JSON, and as Markdown. NULL if memory ran out. Valid as long
 * as the certificate. */
const char *tk_certificate_json(tk_certificate *certificate);
const char *tk_certificate_markdown(tk_certificate *certificate);

/* Writes DIR/NAME.json and DIR/NAME.md, each atomically, and DIR/NAME.dsse.json if the certificate is signed. NAME is
 * the subject, the attributes that are not at their defaults and, of outputs that were given, a hash of the tensors. With
 * `dir` NULL they go to the user's state directory, named by the certificate's key and level. `path`, if not NULL,
 * receives the JSON file's path; free() it. */
TK_MUST_USE tk_status tk_certificate_write(tk_ctx *ctx, tk_certificate *certificate, const char *dir, char **path);

/* Reads a certificate, a Statement or one in an envelope, and checks that every byte of the Statement is as it was
 * written, and that it agrees with itself (tk_certificate_agrees()): TK_BAD_FILE otherwise. Signatures are read, not verified: tk_certificate_verify() does that. */
TK_MUST_USE tk_status tk_certificate_read(tk_ctx *ctx, const char *path, tk_certificate **certificate);
TK_MUST_USE tk_status tk_certificate_parse(tk_ctx *ctx, const char *text, size_t length,
                                           tk_certificate **certificate);

/* TK_OK if every member of a certificate has its type and range, and what follows from other members (verdict, headline,
 * reason, command, sentences, counts, trials of its level, contract, key) is what they give in this context;
 * TK_BAD_FILE otherwise. Every certificate that was read agrees in the context that read it. It can still be forged: nothing
 * is run here. */
TK_MUST_USE tk_status tk_certificate_agrees(tk_ctx *ctx, const tk_certificate *certificate);

/* Remarks to show beside the headline of an intact certificate, which may be of another version, or forged:
 * "written in an earlier form, of another contract", "lists 1 of the 57 trials that this version makes for it".
 * NULL in `remarks` if there are none; free() it. Nothing is run. */
TK_MUST_USE tk_status tk_certificate_remarks(tk_ctx *ctx, const tk_certificate *certificate, char **remarks);

/* What changed from the first certificate to the second, as JSON: {"same": whether nothing did, "differences": [{"what",
 * "first", "second"}], "trials": how many have the "same" output bits, "different" ones, are "only_first" or "only_second";
 * "examples" of those that differ: [{"trial", "first", "second"}]}. A member that one does not have is null. Dates, times and
 * paths are not compared. free() it. */
TK_MUST_USE tk_status tk_certificate_diff(tk_ctx *ctx, const tk_certificate *first, const tk_certificate *second,
                                          char **json);

/* A certificate in a report, or a file that is none. */
typedef struct tk_report_entry {
    const char *name;            /* where it comes from, to be shown; NULL: not known */
    tk_certificate *certificate; /* NULL: only `problem` is shown */
    const char *problem;         /* what is to be said instead of, or beside, the certificate; NULL: nothing */
} tk_report_entry;

/* A page for people about these certificates, HTML that needs nothing else: an overview, each certificate with its charts,
 * and what changed between those of one subject, each compared with the one before it. A certificate that contradicts itself is
 * shown as such. Nothing is run. free() it. */
TK_MUST_USE tk_status tk_report_html(tk_ctx *ctx, const tk_report_entry entries[], int count, char **html);

/* A machine-checked theorem that contracts rest on; docs/proofs.md says what is proved and what is not. */
typedef struct tk_theorem {
    const char *file;      /* "proofs/sums.v" */
    const char *name;      /* "any_order" */
    const char *supports;  /* "GEMM.ERR LINEAR_FWD.ERR": clauses, or names of what no clause is about */
    const char *says;      /* a sentence */
    const char *statement; /* in Coq */
    char sha256[65];       /* of the file and of all of proofs/ that it imports, in the order in which they are met */
} tk_theorem;

/* The theorems of this version, file by file; false past the end. */
bool tk_theorem_at(int i, tk_theorem *theorem);
bool tk_theorem_supports(const tk_theorem *theorem, const char *id);
const char *tk_proof_topic_at(int i, const char **what); /* what theorems support beside clauses; NULL past the end */
const char *tk_axiom_at(int i); /* that theorems may rest on, by its whole name in Coq's library; NULL past the end */

/* A theorem that a certificate cites. */
typedef struct tk_citation {
    const char *file, *theorem, *sha256;
    /* "same"; "changed": this version has another text of the proof or of what it imports; "unknown": it has no such
     * theorem. */
    const char *state;
} tk_citation;

bool tk_certificate_cites(const tk_certificate *certificate, int i, tk_citation *citation); /* false past the end */

/* What a clause rests on. A theorem is about the contract: a bound, in the arithmetic that it assumes. That a kernel
 * keeps to it is never shown by a theorem. */
typedef struct tk_basis {
    const char *clause;  /* "GEMM.ERR" */
    const char *verdict; /* "HELD" */
    /* The kernel: "exhaustion": every input value was tried; "trials"; "given_outputs": there is none, outputs were
     * given and judged; "counterexample": it is refuted; "nothing": it was not judged. */
    const char *kernel;
    int theorems; /* that the certificate cites for its derivation; -1 if it was written without proofs */
} tk_basis;

/* The clauses in the order of the certificate; false past the end. */
bool tk_certificate_rests_on(const tk_certificate *certificate, int i, tk_basis *basis);

/* Ed25519 keys: a pair, or only the public half. */
typedef struct tk_key tk_key;

TK_MUST_USE tk_status tk_key_generate(tk_ctx *ctx, tk_key **key);
TK_MUST_USE tk_status tk_key_read(tk_ctx *ctx, const char *path, tk_key **key); /* either half, in PEM */
void tk_key_destroy(tk_key *key);                                               /* NULL is allowed */
/* SHA-256 of the public half as SubjectPublicKeyInfo in DER, in hexadecimal. */
const char *tk_key_id(const tk_key *key);
bool tk_key_can_sign(const tk_key *key); /* it is a pair */

/* Writes a pair in PEM: PATH, PKCS#8 and readable only by its owner, and PATH.pub, SubjectPublicKeyInfo. Unless
 * `replace` is set, existing files are not changed, and the call fails with TK_IO. */
TK_MUST_USE tk_status tk_key_write(tk_ctx *ctx, const tk_key *key, const char *path, bool replace);

/* Adds the signature of a pair of keys; an earlier one by the same keys is replaced. */
TK_MUST_USE tk_status tk_certificate_sign(tk_ctx *ctx, tk_certificate *certificate, const tk_key *key);

/* TK_OK if one of the signatures is by this key; TK_BAD_FILE if none is, or there are none. */
TK_MUST_USE tk_status tk_certificate_verify(tk_ctx *ctx, const tk_certificate *certificate, const tk_key *key);

/* TK_OK if the file is the artifact that was judged, by its SHA-256; TK_BAD_FILE if it is another; TK_IO. */
TK_MUST_USE tk_status tk_certificate_names_artifact(tk_ctx *ctx, const tk_certificate *certificate, const char *path);

/* Signatures on the certificate, and the key id that the i-th claims: a hint, "" if it has none, NULL past the end. */
int tk_certificate_signatures(const tk_certificate *certificate);
const char *tk_certificate_signer(const tk_certificate *certificate, int i);

/* The DSSE envelope: JSON with the Statement and all signatures; free() it. NULL if there are no signatures or
 * memory ran out. */
char *tk_certificate_envelope(tk_certificate *certificate);

/* Finds the certificate of a lowering that tk_certificate_write() stored in the state directory, the most thorough
 * level first. It counts only if it is of this build on this machine, intact, of the whole check rather than one
 * case, and HELD or PROVED. TK_UNAVAILABLE if there is none; the message says so. `lowering` is a full id. */
TK_MUST_USE tk_status tk_certificate_find(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                          tk_dtype index_dtype, const char *lowering, tk_certificate **certificate);

/* What the reader decides, not the certificate, which may be untrusted. Start from TK_REPLAY_DEFAULTS. Zero or NULL
 * stands for the default. */
typedef struct tk_replay_options {
    size_t size; /* of this struct, set by the defaults */
    /* A kernel file: a copy of it. The default is the file at the path that the certificate names. In both cases a file
     * whose SHA-256 is not the one recorded is neither compiled nor shown. */
    const char *kernel;
    /* Its directories of headers, if any. There is no default: a certificate cannot name directories of the reader. */
    const char *include;
    /* A path or a name on the PATH. The default is the one that the certificate names, if that is the plain name of a
     * compiler in a system directory. */
    const char *compiler;
    const char *flags;   /* the certificate's, repeated: needed if some of them could do more than compile */
    double call_seconds; /* limit of one call, whatever the certificate says; 60 */
    /* Limit of the whole replay, compilation included; 3600 for a kernel file, no limit for others. */
    double total_seconds;
    tk_limits limits;        /* limits of a kernel file, whatever the certificate says */
    double memory_gib;       /* memory limit of one trial; half of what is available */
    bool allow_weak_sandbox; /* run a kernel file even if its access to files and system calls cannot be restricted */
    tk_progress progress;
    void *progress_data;
} tk_replay_options;

#define TK_REPLAY_DEFAULTS ((tk_replay_options){.size = sizeof(tk_replay_options)})

/* Repeats on this machine all trials that this version makes for what a certificate says was run (level, seed,
 * restriction to a case); for a kernel file, from the file that it names if that is unchanged. `same` receives
 * whether everything that a repetition can show is as recorded: every output hash, the verdict and its reason,
 * contract, clauses, counts and errors. `difference` (may be NULL) receives a description of the first difference,
 * or NULL; free() it. A listed trial that this version does not make is a difference, and then nothing is run. A
 * trial that the certificate does not list must not fail; `not_listed` (may be NULL) receives the number of these,
 * if the outcome is the same and did not stop at a failure. `options` may be NULL. TK_UNAVAILABLE: the certificate
 * asks for something that is not present, or for more than the options allow. TK_TIMEOUT: total_seconds expired. */
TK_MUST_USE tk_status tk_certificate_replay(tk_ctx *ctx, const tk_certificate *certificate,
                                            const tk_replay_options *options, bool *same, int64_t *not_listed,
                                            char **difference);

/* The mutants of an op, kernels that are wrong on purpose: name, and what is wrong; false past the end. */
bool tk_mutant_at(const tk_contract *contract, int i, const char **name, const char **what);

/* The verdicts of one build on the mutants of an op and its types, as the cache directory keeps them. */
typedef struct tk_kept_mutants {
    char key[65];
    char path[4096];
    int64_t bytes;
    int64_t last_used; /* seconds since 1970 */
    char damage[256];  /* the defect, for which they are not used; then nothing below is set. "" if it is intact */
    char op[64];
    char types[16];     /* "f16", "f16-f32" */
    char index_type[8]; /* "i32", "i64"; "" if the op takes no index */
    uint64_t seed;
    char date[24];
    int count, rejected;
    bool is_current; /* of this build, on this machine; those of another are not used */
} tk_kept_mutants;

typedef bool (*tk_kept_mutants_visitor)(const tk_kept_mutants *kept, void *user_data); /* return false to stop */

/* Visits all of them, the most recently used first. tk_cache_clear() removes them. */
TK_MUST_USE tk_status tk_kept_mutants_each(tk_ctx *ctx, tk_kept_mutants_visitor visitor, void *user_data);

/* The level whose trials reject it: TK_QUICK, or TK_FULL for a mutant that needs large shapes. */
tk_level tk_mutant_level(const tk_contract *contract, const char *name);

/* Is what it does a mistake only where results are fp32 numbers? */
bool tk_mutant_is_of_f32(const tk_contract *contract, const char *name);

/* The variants of an op, correct kernels that compute in other ways than ours: name, and what is different; false
 * past the end. */
bool tk_variant_at(const tk_contract *contract, int i, const char **name, const char **what);

/* -- Definitions ----------------------------------------------------------------------------------------------------- */

/* What the author of a definition (tk_op_define()) should look at. */
typedef enum tk_lint_kind {
    TK_LINT_CANCELS,  /* a form that loses much of what its inputs have */
    TK_LINT_RANGE,    /* a primitive that is asked outside of where it is defined */
    TK_LINT_BLIND,    /* a bound so wide that wrong kernels pass */
    TK_LINT_UNUSED,   /* an input, an axis, an attribute or an index on which nothing depends */
    TK_LINT_GRADIENT, /* not the derivative that a line `gradient of` says it is */
    TK_LINT_INDEX     /* an index that stands as a number, named like a size */
} tk_lint_kind;

typedef struct tk_lint {
    tk_lint_kind kind;
    int line, column; /* of the text, from 1 on; columns in bytes */
    char text[240];
} tk_lint;

/* On small drawn inputs, always the same ones. free() what is found, in the order of the text; NULL if that is nothing. */
TK_MUST_USE tk_status tk_op_lint(tk_ctx *ctx, const tk_contract *contract, tk_lint **found, int *count);

/* How an op with a line `gradient of` compares with derivatives of the op that is named there, which stands in the same text or
 * is an op of the context that is made of a definition; on small drawn inputs, always the same ones. All 0 without such a line. */
typedef struct tk_gradient_counts {
    int64_t agree, differ; /* directions: <grad, d> and <w, J d> are the same to 2^-150 of their magnitudes, or not */
    int64_t kinks,
        undefined; /* elements of the op's outputs that were left out: two branches meet there; no derivative */
} tk_gradient_counts;

TK_MUST_USE tk_status tk_op_gradient(tk_ctx *ctx, const tk_contract *contract, tk_gradient_counts *counts);

/* The graph of its values as SVG, each with its share of the error bound on such inputs. free() it. */
TK_MUST_USE tk_status tk_op_graph(tk_ctx *ctx, const tk_contract *contract, char **svg);

/* The usual check of kernel benchmarks, for comparison: normally distributed inputs at one shape, and every output
 * element within atol + rtol |reference| of the reference, atol = rtol. */
enum { TK_USUAL_INPUTS = 5, TK_USUAL_TOLERANCES = 2 };
extern const double tk_usual_tolerances[TK_USUAL_TOLERANCES]; /* 1e-2, 1e-3 */
tk_case tk_usual_case(const tk_contract *contract, tk_dtype dtype);

/* The outcome of both checks for a mutant or variant. */
typedef struct tk_corpus_entry {
    const char *name;
    const char *what;   /* what is wrong with it, or what it does differently */
    bool wrong;         /* must be REFUTED; otherwise must be HELD */
    tk_verdict verdict; /* of the level's trials */
    char reason[576];   /* the clause that failed and how, or why it could not be decided; otherwise "" */
    int64_t elements;   /* judged */
    bool usual[TK_USUAL_TOLERANCES]; /* whether it passes the usual check */
} tk_corpus_entry;

/* Runs the mutants that the level's trials must reject and the variants that they must hold. Level (TK_QUICK or
 * TK_FULL), seed, type of the results and progress are taken from `options`, which may be NULL. The usual check draws its inputs from
 * seed, seed + 1 and so on. free() the entries. */
TK_MUST_USE tk_status tk_corpus_run(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                    const tk_certify_options *options, tk_corpus_entry **entries, int *count);

/* The input families, in the order in which they are tried; NULL past the end. */
const char *tk_family_at(int i, const char **what);

/* Whether the i-th family is of use to an op: a family of indices is not, to an op without an index. False past the
 * end. */
bool tk_family_applies(int i, const tk_contract *contract);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
