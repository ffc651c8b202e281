/* Tokitai: deep-learning training kernels that carry their proof.
 *
 * This header is the whole public interface and is meant to be read from top to bottom:
 *
 *   1. Status and context        every call takes a context and returns a status
 *   2. The operations            one typed call per op: tk_gelu_fwd(), tk_gemm(), ...
 *   3. Contracts and cases       the same ops through one general call, tk_run()
 *   4. Certificates              judge a kernel, ours or yours, against an exact oracle
 *   5. Devices                   what this machine can run on
 *   6. GPUs                      the same calls on device memory and a stream
 *   7. The kernel cache          GPU kernels, compiled at first use and kept
 *   8. Kernel servers            programs that answer requests, kept running
 *
 * Parts 1, 2, 3 and 5 to 8 are in libtokitai, which needs libc and an OpenMP run-time only. Part 4 is in
 * libtokitai-verify, which brings GMP, MPFR, OpenBLAS, libcrypto and Jansson.
 *
 * A first program:
 *
 *     tk_ctx *ctx;
 *     if (tk_ctx_create(&ctx) != TK_OK) return 1;
 *     if (tk_gelu_fwd(ctx, TK_F16, n, x, y) != TK_OK)
 *         fprintf(stderr, "%s\n", tk_ctx_message(ctx));
 *     tk_ctx_destroy(ctx);
 *
 * Rules that hold everywhere:
 *   - Tensors are row-major, dense, and belong to the caller. Any alignment that the element type has will do.
 *   - fp16 and bf16 elements are passed as their 16-bit patterns (uint16_t).
 *   - Sizes are element counts in int64_t. Zero sizes are allowed and write nothing, except that a sum over
 *     nothing is zero (tk_gemm with k == 0 writes zeros).
 *   - Inputs are never written. An output may not overlap another argument; the one exception is named at
 *     tk_xent(). When a call fails, nothing was written to the outputs.
 *   - The library never prints and never exits. A context serves one thread at a time; several contexts run side
 *     by side. For the whole process are kept only: a mark that stale scratch folders were removed; libraries that
 *     were loaded and stay (drivers, compilers), and the threads of the OpenMP run-time; in libtokitai-verify tables
 *     of exact values, and what came of the planted wrong kernels, filled at first use and only read afterwards.
 *     Several threads may use all of it at once, and what a call computes or a certificate says does not depend on
 *     who used it before.
 */
#ifndef TOKITAI_H
#define TOKITAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TK_VERSION_MAJOR 0
#define TK_VERSION_MINOR 1
#define TK_VERSION_PATCH 0

/* "0.1.0" */
const char *tk_version(void);

/* ------------------------------------------------------------------------------------------------------------
 * 1. Status and context
 * ------------------------------------------------------------------------------------------------------------ */

/* What a call came to. A kernel that fails its contract is not an error: tk_certify() then returns TK_OK and a
 * certificate whose verdict is TK_REFUTED. */
typedef enum tk_status {
    TK_OK = 0,
    TK_BAD_ARGUMENT, /* a size, pointer, type or option that the op does not take */
    TK_BAD_INDEX,    /* an index or target out of range; the message names the first bad position */
    TK_BAD_FILE,     /* a file that is not what it should be: malformed, truncated, edited */
    TK_UNSUPPORTED,  /* no lowering takes this case; the message gives each refusal */
    TK_UNAVAILABLE,  /* needs a device, library or compiler that is not here */
    TK_NO_MEMORY,
    TK_IO,           /* the operating system refused a read or a write; the message says which and why */
    TK_KERNEL_FAULT, /* a kernel in a worker crashed, ended its process or broke the protocol; the message says how */
    TK_TIMEOUT,      /* a kernel in a worker did not end in time, and was ended */
    TK_INTERNAL      /* a defect of this library */
} tk_status;

/* "bad argument", "input or output error", ... */
const char *tk_status_text(tk_status status);

#if defined(__GNUC__)
#define TK_MUST_USE __attribute__((warn_unused_result))
#else
#define TK_MUST_USE
#endif

typedef struct tk_ctx tk_ctx;

TK_MUST_USE tk_status tk_ctx_create(tk_ctx **ctx);
void tk_ctx_destroy(tk_ctx *ctx); /* NULL is fine */

/* The text of the last failure in this context, "" if none. Valid until the next call with this context. */
const char *tk_ctx_message(const tk_ctx *ctx);

/* Notes are what made no call fail, but should be known: a file of the kernel cache that was damaged and was built again, a kernel that
 * could not be kept there and why, one that the driver has yet to finish compiling, one whose compiler did not tell what it uses. From now
 * on `listener` gets each text, in the words of a message, once in the life of the context, from within the call that met it; it must not
 * call anything with the context. NULL, the default: notes are dropped. */
typedef void (*tk_note_listener)(const char *note, void *user_data);
TK_MUST_USE tk_status tk_ctx_set_note_listener(tk_ctx *ctx, tk_note_listener listener, void *user_data);

/* Threads that CPU kernels may use; 0, the default, takes as many as the machine has. The result has the same
 * bits for every number of threads. */
TK_MUST_USE tk_status tk_ctx_set_threads(tk_ctx *ctx, int threads);

/* Some ops need scratch memory; tk_scratch_size() says how much (device memory, 256-byte aligned, if the context works on a GPU). By default the context keeps a block of its own
 * and grows it when a call needs more. A caller that wants no allocation at all hands over a block (64-byte
 * aligned, at least the size asked for); a call that needs more than that then fails with TK_NO_MEMORY.
 * Passing NULL goes back to the default. */
TK_MUST_USE tk_status tk_ctx_set_scratch(tk_ctx *ctx, void *memory, size_t bytes);

/* ------------------------------------------------------------------------------------------------------------
 * 2. The operations
 *
 * `dtype` is TK_F16 or TK_BF16 and holds for every tensor whose element type is not said. Sums and
 * transcendental functions are computed in fp32 and rounded once. `tokitai ops OP` prints each contract in full:
 * the error bound, what becomes of NaN and infinity, and how repeatable the result is.
 * ------------------------------------------------------------------------------------------------------------ */

typedef enum tk_dtype {
    TK_F16 = 0, /* IEEE binary16 */
    TK_BF16,    /* the upper half of IEEE binary32 */
    TK_F32,     /* IEEE binary32; only the loss of tk_xent() has this type */
    TK_I32,     /* indices and targets */
    TK_I64
} tk_dtype;

size_t tk_dtype_size(tk_dtype dtype);      /* bytes of one element */
const char *tk_dtype_name(tk_dtype dtype); /* "f16", "bf16", "f32", "i32", "i64" */

/* clang-format off */ /* one tensor a line, its shape beside it */

/* y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
TK_MUST_USE tk_status tk_gelu_fwd(tk_ctx *ctx, tk_dtype dtype, int64_t n,
                                  const void *x, /* [n] */
                                  void *y /* [n] */);

/* grad_input = grad_output times the derivative of that function at x. */
TK_MUST_USE tk_status tk_gelu_bwd(tk_ctx *ctx, tk_dtype dtype, int64_t n,
                                  const void *grad_output, /* [n] */
                                  const void *x,           /* [n] */
                                  void *grad_input /* [n] */);

/* Softmax of each row. A row with a NaN, a +inf or nothing but -inf becomes NaN. */
TK_MUST_USE tk_status tk_softmax_fwd(tk_ctx *ctx, tk_dtype dtype, int64_t rows, int64_t cols,
                                     const void *x, /* [rows, cols] */
                                     void *y /* [rows, cols] */);

/* grad_input = y (grad_output - sum over the row of grad_output y), y being the output of tk_softmax_fwd(). */
TK_MUST_USE tk_status tk_softmax_bwd(tk_ctx *ctx, tk_dtype dtype, int64_t rows, int64_t cols,
                                     const void *grad_output, /* [rows, cols] */
                                     const void *y,           /* [rows, cols] */
                                     void *grad_input /* [rows, cols] */);

/* Options of tk_xent(). Start from TK_XENT_DEFAULTS. */
typedef struct tk_xent_options {
    float label_smoothing; /* in [0, 1]; the target distribution is (1 - s) one-hot + s / cols */
    float scale;           /* finite; multiplies the gradient, not the loss */
    int64_t ignore_index;  /* rows with this target get loss 0 and gradient 0, whatever their logits are */
} tk_xent_options;

#define TK_XENT_DEFAULTS ((tk_xent_options){.label_smoothing = 0.0f, .scale = 1.0f, .ignore_index = -100})

/* Softmax and cross-entropy, loss and gradient in one call. grad_logits may be the very buffer of logits.
 * A target outside [0, cols) that is not ignore_index: TK_BAD_INDEX. `options` may be NULL for the defaults. */
TK_MUST_USE tk_status tk_xent(tk_ctx *ctx, tk_dtype dtype, tk_dtype index_dtype, int64_t rows, int64_t cols,
                              const void *logits, /* [rows, cols] */
                              const void *target, /* [rows], index_dtype */
                              const tk_xent_options *options,
                              float *loss, /* [rows], fp32 */
                              void *grad_logits /* [rows, cols] */);

/* c = a b. */
TK_MUST_USE tk_status tk_gemm(tk_ctx *ctx, tk_dtype dtype, int64_t m, int64_t n, int64_t k,
                              const void *a, /* [m, k] */
                              const void *b, /* [k, n] */
                              void *c /* [m, n] */);

/* grad_a = grad_c b^T, the gradient of tk_gemm() by a. This is also the forward pass of a linear layer whose weight
 * is stored [out, in]: pass the activations [m, in] as grad_c with n = in, the weight as b with k = out. */
TK_MUST_USE tk_status tk_gemm_grad_a(tk_ctx *ctx, tk_dtype dtype, int64_t m, int64_t n, int64_t k,
                                     const void *grad_c, /* [m, n] */
                                     const void *b,      /* [k, n] */
                                     void *grad_a /* [m, k] */);

/* grad_b = a^T grad_c, the gradient of tk_gemm() by b. */
TK_MUST_USE tk_status tk_gemm_grad_b(tk_ctx *ctx, tk_dtype dtype, int64_t m, int64_t n, int64_t k,
                                     const void *grad_c, /* [m, n] */
                                     const void *a,      /* [m, k] */
                                     void *grad_b /* [k, n] */);

/* out[i] = weight[index[i]], bit for bit. An index outside [0, vocab): TK_BAD_INDEX, nothing written. */
TK_MUST_USE tk_status tk_embedding_fwd(tk_ctx *ctx, tk_dtype dtype, tk_dtype index_dtype, int64_t queries,
                                       int64_t dim, int64_t vocab,
                                       const void *index,  /* [queries], index_dtype */
                                       const void *weight, /* [vocab, dim] */
                                       void *out /* [queries, dim] */);

/* grad_weight[v] = sum of grad_output[i] over all i with index[i] == v, in a fixed order, so that the bits are the
 * same on every run and every backend; rows without a hit become +0. Every row is written. */
TK_MUST_USE tk_status tk_embedding_bwd(tk_ctx *ctx, tk_dtype dtype, tk_dtype index_dtype, int64_t queries,
                                       int64_t dim, int64_t vocab,
                                       const void *grad_output, /* [queries, dim] */
                                       const void *index,       /* [queries], index_dtype */
                                       void *grad_weight /* [vocab, dim] */);

/* clang-format on */

/* ------------------------------------------------------------------------------------------------------------
 * 3. Contracts and cases
 *
 * A contract describes an op to a program: its sizes, its parameters in call order, and its clauses. A case fixes
 * everything but the data. tk_run() runs any case; the typed calls above are thin wrappers around it.
 * ------------------------------------------------------------------------------------------------------------ */

enum { TK_MAX_DIMS = 3, TK_MAX_PARAMS = 4, TK_MAX_CLAUSES = 12, TK_MAX_ATTRIBUTES = 4, TK_MAX_CHOICES = 4 };

typedef enum tk_kind {
    TK_KIND_VALUE, /* elements of the case's dtype */
    TK_KIND_INDEX, /* elements of the case's index_dtype */
    TK_KIND_F32    /* fp32 whatever the case's dtype is */
} tk_kind;

typedef struct tk_param {
    const char *name;
    bool output;
    tk_kind kind;
    int rank;            /* 1 or 2 */
    int dim[2];          /* which of the contract's sizes give its shape */
    int indexed_dim;     /* TK_KIND_INDEX: its values lie in [0, that size) */
    int inner_axis;      /* inputs: the axis that the op sums over, or -1 */
    int may_alias;       /* outputs: the parameter whose very buffer it may share, or -1 */
    bool low_background; /* inputs: an element that does not matter is very negative rather than zero */
    bool sums_to_one;    /* outputs: so should each row, and a certificate reports how far off it is */
} tk_param;

typedef struct tk_clause {
    const char *id;   /* "GELU_BWD.ERR" */
    const char *text; /* what must hold */
} tk_clause;

/* What a case says about how it is meant beyond sizes and types: one of a few named choices, the first being the default. Kernels are not
 * told; it decides which inputs are drawn and by which bound outputs are judged. */
typedef struct tk_attribute {
    const char *name; /* "domain" */
    const char *text; /* what it decides */
    int choice_count;
    tk_clause choices[TK_MAX_CHOICES]; /* each choice's name and what it means */
    bool from_device;                  /* known by the device that a kernel runs on; nobody is asked for it */
} tk_attribute;

typedef struct tk_contract {
    const char *name;      /* "gelu_bwd" */
    const char *summary;   /* one line */
    const char *formula;   /* the exact value, as text */
    const char *bound;     /* the error bound B before the final rounding, as text */
    const char *signature; /* the C declaration of its typed call */
    int dim_count;
    const char *dim_names[TK_MAX_DIMS];
    int param_count;
    tk_param params[TK_MAX_PARAMS];
    bool takes_xent_options;
    bool finite_domain; /* few enough inputs to try every one: --level exhaustive */
    int attribute_count;
    tk_attribute attributes[TK_MAX_ATTRIBUTES];
    int clause_count;
    tk_clause clauses[TK_MAX_CLAUSES];
} tk_contract;

int tk_contract_count(void);
const tk_contract *tk_contract_at(int i);              /* in the order of the manual; NULL past the end */
const tk_contract *tk_contract_find(const char *name); /* NULL if there is no such op */
bool tk_contract_takes_index(const tk_contract *contract);

/* Places in the contract's attributes, and in an attribute's choices; -1 if there is none of that name. */
int tk_attribute_find(const tk_contract *contract, const char *name);
int tk_choice_find(const tk_attribute *attribute, const char *name);

typedef struct tk_case {
    const tk_contract *contract;
    tk_dtype dtype;                        /* TK_F16 or TK_BF16 */
    tk_dtype index_dtype;                  /* TK_I32 or TK_I64; read only if the contract takes an index */
    int64_t dims[TK_MAX_DIMS];             /* as named in contract->dim_names */
    tk_xent_options xent;                  /* read only if contract->takes_xent_options */
    uint8_t attributes[TK_MAX_ATTRIBUTES]; /* the choice of each of the contract's attributes */
} tk_case;

/* A case of that op with all sizes zero and default options. */
tk_case tk_case_init(const tk_contract *contract, tk_dtype dtype);

/* Elements of one parameter; -1 if the sizes are negative or their product in bytes does not fit in an int64_t. */
int64_t tk_case_elements(const tk_case *c, int param);
tk_dtype tk_case_param_dtype(const tk_case *c, int param);

/* Checks sizes, types, options, alignment and overlap without running anything. `buffers` are the parameters in
 * contract order; a parameter without elements may be NULL. */
TK_MUST_USE tk_status tk_case_check(tk_ctx *ctx, const tk_case *c, void *const buffers[]);

/* Scratch bytes that tk_run() needs for this case with this context's number of threads. */
TK_MUST_USE tk_status tk_scratch_size(tk_ctx *ctx, const tk_case *c, size_t *bytes);

/* Runs the case with the first lowering that accepts it. Inputs are not written, whatever the pointer type says. On the CPU contracts hold in
 * the default floating-point environment; a caller who rounds otherwise or flushes subnormal numbers gets what that gives. */
TK_MUST_USE tk_status tk_run(tk_ctx *ctx, const tk_case *c, void *const buffers[]);

/* A lowering is one implementation of an op. Its id is BACKEND.OP.DTYPE.VARIANT, with ".i64" appended when it takes
 * 64-bit indices: "cpu.embedding_bwd.f16.scalar.i64". */
typedef enum tk_determinism {
    TK_DETERMINISM_NONE,
    TK_RUN_TO_RUN,      /* same device, same bits */
    TK_BATCH_INVARIANT, /* and a row's bits do not depend on the other rows */
    TK_CROSS_DEVICE     /* and every backend gives the same bits */
} tk_determinism;

const char *tk_determinism_name(tk_determinism level);

typedef struct tk_lowering_info {
    const char *backend; /* "cpu" */
    const char *variant; /* "scalar" */
    tk_determinism determinism;
    const char *promise; /* what it promises beyond the contract, or NULL */
} tk_lowering_info;

/* The i-th lowering of an op, fastest first; false past the end. */
bool tk_lowering_at(const tk_contract *contract, int i, tk_lowering_info *info);

/* NULL if the i-th lowering takes this case on this machine, else the reason why not. A lowering for a GPU runs on the device
 * that the context has opened; `ctx` may be NULL if there is none. */
const char *tk_lowering_refusal(const tk_ctx *ctx, const tk_case *c, int i);

/* ------------------------------------------------------------------------------------------------------------
 * 4. Certificates (libtokitai-verify)
 *
 * tk_certify() runs a kernel on inputs chosen to find mistakes, judges every output element against the exact
 * result, checks that nothing else was written or changed, and returns a certificate: what was run, on what, what
 * came out, and what is not claimed.
 * ------------------------------------------------------------------------------------------------------------ */

typedef enum tk_verdict {
    TK_PROVED,  /* every input of a finite domain was tried, and it held */
    TK_HELD,    /* it held on everything tried */
    TK_REFUTED, /* it failed; the certificate gives a one-line command that shows it */
    TK_UNKNOWN  /* it could not be decided; the certificate gives the reason */
} tk_verdict;

const char *tk_verdict_name(tk_verdict verdict); /* "PROVED", "HELD", "REFUTED", "UNKNOWN" */

typedef enum tk_level {
    TK_QUICK = 0, /* seconds; edge cases of shape and value, every planted wrong kernel rejected */
    TK_FULL,      /* minutes; at least 4.6 million elements judged */
    TK_EXHAUSTIVE /* every input where the contract's domain is finite, else as TK_FULL */
} tk_level;

const char *tk_level_name(tk_level level);

/* A kernel that a program brings. `buffers` are the parameters in contract order; inputs must not be written.
 * Return 0, or any other number if the case cannot be run. */
typedef int (*tk_kernel)(const tk_case *c, void *const buffers[], void *user_data);

/* A kernel that comes as a file: C, C++, CUDA or HIP source (.c .cpp .cc .cu .hip) or a shared library (.so) that defines
 * functions of tokitai_kernel.h; or as a folder, in which kernel.c (.cpp, .cc, .cu, .hip), or the only such file, includes the others. It is
 * copied when it is opened, without following links, and the copy is what is hashed and judged. It is compiled, and it runs, in processes of its own that are shut in; whatever it does there,
 * the caller goes on. docs/bring-your-own-kernel.md tells what is done to see through it. */
typedef struct tk_kernel_file tk_kernel_file;

enum {
    TK_LEAST_MEMORY = 1 << 24, /* bytes */
    TK_LEAST_OUTPUT = 1 << 12,
    TK_MOST_TASKS = 1 << 22,
    TK_MOST_FOLDER_DEPTH = 64
};

/* What a kernel file may have at most, and the compilers and tools that work on it. Zero stands for the default. */
typedef struct tk_limits {
    int64_t memory_bytes; /* three quarters of the machine's; never more than the machine has */
    int64_t output_bytes; /* of each file that is written; 1 GiB */
    int tasks;            /* threads and processes; 1024 */
    int folder_depth;     /* of its folders, and those of headers, that lie in each other; 16 */
} tk_limits;

/* Zero or NULL stands for the default. */
typedef struct tk_kernel_file_options {
    const char *backend;  /* "cpu", "cuda", "cuda:1", "hip"; the default is cuda for .cu, hip for .hip, else cpu */
    const char *compiler; /* a path or a name on the PATH; the default is cc, c++, nvcc or hipcc */
    const char
        *flags; /* separated by blanks; -O2, and for nvcc -lineinfo. What makes a shared library is added in any
                             * case, and the device's architecture for nvcc unless they name one */
    const char *include;    /* folders of headers, separated by colons; copied with the kernel */
    double compile_seconds; /* 300 */
    double call_seconds;    /* deadline of one call; 60 */
    tk_limits limits;
    const char *
        sha256; /* of the only file that is taken: another is refused, with TK_UNAVAILABLE, before it is compiled. NULL: any */
    const char *tree_sha256; /* the same of all files, where there are several; "" for a file alone. NULL: any */
    bool allow_weak_sandbox; /* run it even where files and system calls cannot be kept from it */
} tk_kernel_file_options;

/* Compiles the file, once for everything that follows. A file that does not compile is no failure: tk_certify() then gives an
 * UNKNOWN with the reason. Once open, it may be used by several contexts at once. */
TK_MUST_USE tk_status tk_kernel_file_open(tk_ctx *ctx, const char *path, const tk_kernel_file_options *options,
                                          tk_kernel_file **kernel);
void tk_kernel_file_close(tk_kernel_file *kernel); /* NULL is fine */

const char *tk_kernel_file_problem(const tk_kernel_file *kernel); /* why there is nothing to run; "" if there is */
const char *tk_kernel_file_log(const tk_kernel_file *kernel);     /* what the compiler said, cut after a while */
const char *tk_kernel_file_backend(const tk_kernel_file *kernel); /* "cpu", "cuda", "hip" */
bool tk_kernel_file_defines(const tk_kernel_file *kernel, const tk_contract *contract);

/* Told now and then: `done` in [0, 1], what is going on. */
typedef void (*tk_progress)(double done, const char *what, void *user_data);

enum { TK_SEED_DEFAULT = 20261115 };

/* One input tensor given bit by bit instead of drawn: "grad_output" = {0x7bff, ...}. */
typedef struct tk_given_input {
    const char *name;
    const uint64_t *bits; /* [count], the patterns of the elements */
    int64_t count;
} tk_given_input;

/* An attribute of the op and the choice for it: {"domain", "normal"}. */
typedef struct tk_setting {
    const char *attribute;
    const char *choice;
} tk_setting;

/* Whether small trials of a kernel file for CUDA also run under the tools of compute-sanitizer, where that is found. */
typedef enum tk_sanitize {
    TK_SANITIZE_BY_LEVEL, /* at full and exhaustive */
    TK_SANITIZE_ALWAYS,
    TK_SANITIZE_NEVER
} tk_sanitize;

enum { TK_MAX_PLANTED = 8 };

typedef struct tk_certify_options {
    tk_level level;
    uint64_t seed;
    const char *backend;  /* NULL for "cpu" */
    const char *lowering; /* a full id, or NULL for the first lowering that accepts */
    const char *mutant;   /* judge this planted wrong kernel instead of a lowering */
    const char *variant;  /* judge this planted correct kernel instead of a lowering */
    tk_kernel kernel;     /* judge this function instead of a lowering */
    void *kernel_data;    /* handed to it */
    const char *kernel_name;
    const char *kernel_program;        /* the command of the program that the function hands its cases to, or NULL */
    const tk_kernel_file *kernel_file; /* judge the function of this file; draw the seed, lest it know the trials */
    const int64_t *dims;               /* [dim_count]: this shape only; NULL for the level's own */
    const char *family;                /* this input family only; NULL for the level's own */
    const tk_given_input *inputs;      /* exactly these inputs, with `dims`; all inputs of the op or none */
    int input_count;
    const tk_xent_options *xent; /* these options only; NULL for several */
    const tk_setting *settings;  /* of attributes that the op has; the others are at their defaults */
    int setting_count;
    int call_threads; /* every call with this many threads; 0: 1, 2, 3, 4, 5, 8 and 16 in turn */
    int alignment; /* every array at an odd multiple of this power of two, or at a multiple of 256; 0: all kinds of places in turn */
    const int64_t *planted; /* patterns and indices put among the inputs, with `dims`; NULL: none */
    int planted_count;      /* up to TK_MAX_PLANTED */
    bool skip_mutants;      /* do not run the planted wrong kernels; the certificate then says so */
    bool skip_coverage;     /* do not let what a kernel file executes decide what else is tried; as above */
    bool keep_going;        /* run the other trials too when one has failed, to tell how wrong a kernel is */
    tk_sanitize sanitize;   /* kernel files */
    double
        total_seconds; /* of the whole judgement, which is UNKNOWN when they are over before it is refuted; 0: 3600 for kernel files
                             * and programs, no limit for others */
    tk_progress progress; /* may be NULL */
    void *progress_data;
} tk_certify_options;

#define TK_CERTIFY_DEFAULTS ((tk_certify_options){.level = TK_QUICK, .seed = TK_SEED_DEFAULT})

typedef struct tk_certificate tk_certificate;

/* Certifies one op for one dtype (and one index type, ignored where there is no index). Kernels run, and are judged, in the default
 * floating-point environment (rounding to nearest, nothing flushed), whatever the caller's is and whatever a kernel leaves behind; the
 * caller's is put back. */
TK_MUST_USE tk_status tk_certify(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype, tk_dtype index_dtype,
                                 const tk_certify_options *options, tk_certificate **certificate);
void tk_certificate_destroy(tk_certificate *certificate); /* NULL is fine */

tk_verdict tk_certificate_verdict(const tk_certificate *certificate);
/* The verdict in one line with all that it is subject to: "HELD", "HELD for one case: n=1". Show this rather than the bare verdict. */
const char *tk_certificate_headline(const tk_certificate *certificate);
/* What the verdict is about where that is not the whole check: "for one case: n=1"; else "". */
const char *tk_certificate_scope(const tk_certificate *certificate);
const char *tk_certificate_subject(const tk_certificate *certificate); /* "cpu.gelu_bwd.f16.scalar" */
int64_t tk_certificate_elements(const tk_certificate *certificate);    /* judged */
/* The largest distance from the correctly rounded exact value, whatever it means there: infinite where one is infinite and the other is
 * not, huge where the exact value is far below the bound. */
double tk_certificate_worst_ulp(const tk_certificate *certificate);
/* That of accepted elements where it means something: both are finite, and the exact value is larger than the bound. */
double tk_certificate_accepted_ulp(const tk_certificate *certificate);
double tk_certificate_bound_used(const tk_certificate *certificate); /* share of the bound, over all elements */
int tk_certificate_mutants(const tk_certificate *certificate, int *rejected); /* planted; how many were rejected */
double tk_certificate_seconds(const tk_certificate *certificate);
/* Of a kernel file: lines of its source that hold code, and how many of them ran under judgement; -1 if that is not known. */
int64_t tk_certificate_lines(const tk_certificate *certificate, int64_t *run);
const char *tk_certificate_reason(const tk_certificate *certificate);    /* why refuted or unknown, else "" */
const char *tk_certificate_reproduce(const tk_certificate *certificate); /* the one-line command, else "" */

/* How wrong a refuted kernel is; docs/certificate.md says what each grade means. */
typedef struct tk_refutation {
    const char *grade; /* "slight", "inexact", "gross", "structural" */
    int64_t elements;  /* wrong */
    int64_t judged;    /* in the trials that failed */
    int64_t nan;       /* wrong and NaN */
    double
        median_ulp; /* half of the wrong ones are at most so far from the nearest admissible value; infinite beyond 1024 */
    double worst_ulp; /* infinite if one has no distance: it is NaN, or no number is admissible */
} tk_refutation;

/* False if the certificate does not refute, or is of a version that did not tell. */
bool tk_certificate_refutation(const tk_certificate *certificate, tk_refutation *refutation);

/* The certificate as an in-toto Statement in canonical JSON, and as Markdown. NULL when memory ran out. Valid as long as
 * the certificate. */
const char *tk_certificate_json(tk_certificate *certificate);
const char *tk_certificate_markdown(tk_certificate *certificate);

/* Writes DIR/NAME.json and DIR/NAME.md, each complete or not at all, and DIR/NAME.dsse.json if the certificate is
 * signed. With `dir` NULL they go to the user's state directory, named by the certificate's key and level. `path`, if not
 * NULL, receives the JSON file's path; free() it. */
TK_MUST_USE tk_status tk_certificate_write(tk_ctx *ctx, tk_certificate *certificate, const char *dir, char **path);

/* Reads a certificate, a Statement or one in an envelope, and checks that every byte of the Statement is as it was
 * written: TK_BAD_FILE otherwise. Signatures are read, not verified: tk_certificate_verify() does that. */
TK_MUST_USE tk_status tk_certificate_read(tk_ctx *ctx, const char *path, tk_certificate **certificate);
TK_MUST_USE tk_status tk_certificate_parse(tk_ctx *ctx, const char *text, size_t length,
                                           tk_certificate **certificate);

/* TK_OK if what a certificate says in several places agrees: verdict, headline, clauses, trials, restriction, counts, errors, and the texts of
 * its contract with those of this version; TK_BAD_FILE otherwise. A certificate can be intact and still be forged: nothing is run here. */
TK_MUST_USE tk_status tk_certificate_agrees(tk_ctx *ctx, const tk_certificate *certificate);

/* What has to be said beside the headline of one that reads as whole, for it may be of another version, or forged: "written in an earlier form, of
 * another contract", "lists 1 of the 57 trials that this version makes for it". NULL in `remarks` if nothing; free() it. Nothing is run. */
TK_MUST_USE tk_status tk_certificate_remarks(tk_ctx *ctx, const tk_certificate *certificate, char **remarks);

/* Ed25519 keys: a pair, or the public half alone. */
typedef struct tk_key tk_key;

TK_MUST_USE tk_status tk_key_generate(tk_ctx *ctx, tk_key **key);
TK_MUST_USE tk_status tk_key_read(tk_ctx *ctx, const char *path, tk_key **key); /* either half, in PEM */
void tk_key_destroy(tk_key *key);                                               /* NULL is fine */
const char *tk_key_id(
    const tk_key *key); /* SHA-256 of the public half as SubjectPublicKeyInfo in DER, in hexadecimal */
bool tk_key_can_sign(const tk_key *key); /* it is a pair */

/* Writes a pair in PEM: PATH, PKCS#8 and readable by its owner only, and PATH.pub, SubjectPublicKeyInfo. Unless `replace`,
 * files that are there already are left as they are, and the call fails with TK_IO. */
TK_MUST_USE tk_status tk_key_write(tk_ctx *ctx, const tk_key *key, const char *path, bool replace);

/* Adds the signature of a pair of keys; an earlier one by the same keys is replaced. */
TK_MUST_USE tk_status tk_certificate_sign(tk_ctx *ctx, tk_certificate *certificate, const tk_key *key);

/* TK_OK if one of the signatures is by this key; TK_BAD_FILE if none is, or there are none. */
TK_MUST_USE tk_status tk_certificate_verify(tk_ctx *ctx, const tk_certificate *certificate, const tk_key *key);

/* Signatures on the certificate, and the key id that the i-th claims: a hint, "" if it has none, NULL past the end. */
int tk_certificate_signatures(const tk_certificate *certificate);
const char *tk_certificate_signer(const tk_certificate *certificate, int i);

/* The DSSE envelope: JSON with the Statement and all signatures; free() it. NULL if there are no signatures or memory ran
 * out. */
char *tk_certificate_envelope(tk_certificate *certificate);

/* Finds the certificate of a lowering that tk_certificate_write() left in the state directory, the most thorough level
 * first. It counts only if it is of this very build on this very machine, intact, of the whole check rather than one
 * case, and HELD or PROVED. TK_UNAVAILABLE if there is none; the message says so. `lowering` is a full id. */
TK_MUST_USE tk_status tk_certificate_find(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                          tk_dtype index_dtype, const char *lowering, tk_certificate **certificate);

/* What the reader of a certificate decides, and not the certificate, which may be a stranger's. Zero or NULL stands for the default. */
typedef struct tk_replay_options {
    /* A kernel file: one's own copy. The default is the file at the path that the certificate names. In both cases nothing is compiled, or
     * shown, of what has another SHA-256 than the one recorded. */
    const char *kernel;
    /* Its folders of headers, where it has some. There is no default: a certificate names no folders of its reader's. */
    const char *include;
    /* A path or a name on the PATH. The default is the one that the certificate names, if that is the plain name of a compiler in a system
     * folder. */
    const char *compiler;
    const char *flags;   /* the certificate's, repeated: where it has some that could do more than compile */
    double call_seconds; /* the most that one call may take, whatever the certificate says; 60 */
    double
        total_seconds; /* the most that all of it may take, compiling too; 3600 for a kernel file, no limit for others */
    tk_limits limits;        /* the most that a kernel file may have, whatever the certificate says */
    double memory_gib;       /* the most that one trial may need; half of what is available */
    bool allow_weak_sandbox; /* run a kernel file even where files and system calls cannot be kept from it */
    tk_progress progress;
    void *progress_data;
} tk_replay_options;

/* Runs on this machine, again, all trials that this version makes for what a certificate says was run (level, seed, restriction to a
 * case); those of a kernel file, from the file that it names if that is unchanged. `same` tells whether all that a repetition can tell came
 * out as recorded: every output hash, the verdict and its reason, contract, clauses, counts and errors; `difference` (may be NULL) receives a
 * description of the first difference, or NULL; free() it. A listed trial
 * that this version does not make is a difference, and then nothing is run. One that the certificate does not list must not fail;
 * `not_listed` (may be NULL) receives how many such there were, if the outcome is the same and did not stop at a failure. `options` may be
 * NULL. TK_UNAVAILABLE: the certificate asks for what is not here, or for more than the options allow. TK_TIMEOUT: total_seconds were over. */
TK_MUST_USE tk_status tk_certificate_replay(tk_ctx *ctx, const tk_certificate *certificate,
                                            const tk_replay_options *options, bool *same, int64_t *not_listed,
                                            char **difference);

/* The planted wrong kernels of an op: name and what is wrong with it; false past the end. */
bool tk_mutant_at(const tk_contract *contract, int i, const char **name, const char **what);

/* The level whose trials reject it: TK_QUICK, or TK_FULL for one that needs large shapes. */
tk_level tk_mutant_level(const tk_contract *contract, const char *name);

/* The planted correct kernels of an op: name and what it does differently from ours; false past the end. */
bool tk_variant_at(const tk_contract *contract, int i, const char **name, const char **what);

/* The usual check of kernel benchmarks, to compare with: inputs of normal numbers at one shape, and every output element within
 * atol + rtol |reference| of the reference, atol = rtol. */
enum { TK_USUAL_INPUTS = 5, TK_USUAL_TOLERANCES = 2 };
extern const double tk_usual_tolerances[TK_USUAL_TOLERANCES]; /* 1e-2, 1e-3 */
tk_case tk_usual_case(const tk_contract *contract, tk_dtype dtype);

/* A planted kernel before both judges. */
typedef struct tk_corpus_entry {
    const char *name;
    const char *what;                /* what is wrong with it, or what it does differently */
    bool wrong;                      /* to be REFUTED; else to be HELD */
    tk_verdict verdict;              /* of the level's trials */
    char reason[576];                /* the clause that failed and how, or why it could not be decided; else "" */
    int64_t elements;                /* judged */
    bool usual[TK_USUAL_TOLERANCES]; /* does it pass the usual check? */
} tk_corpus_entry;

/* Runs the planted kernels of an op, those that the level's trials are to reject and those that they are to hold; level (TK_QUICK or
 * TK_FULL), seed and progress are taken from `options`, which may be NULL. The usual check draws its inputs from seed, seed + 1 and
 * so on. free() the entries. */
TK_MUST_USE tk_status tk_corpus_run(tk_ctx *ctx, const tk_contract *contract, tk_dtype dtype,
                                    const tk_certify_options *options, tk_corpus_entry **entries, int *count);

/* The input families, in the order in which they are tried; NULL past the end. */
const char *tk_family_at(int i, const char **what);

/* ------------------------------------------------------------------------------------------------------------
 * 5. Devices
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct tk_device {
    const char *backend;  /* "cpu", "cuda", "hip" */
    bool usable;          /* ops can run on it */
    char name[128];       /* "AMD EPYC", "NVIDIA H200"; "" if none was found */
    char detail[1024];    /* CPU features; or why it cannot be used */
    int units;            /* cores or multiprocessors */
    int64_t memory_bytes; /* 0 if unknown */
    /* GPUs only, "" otherwise */
    char uuid[48];         /* "GPU-1e2d3c4b-..." */
    char architecture[32]; /* "sm_90", "gfx942" */
    char driver[64];       /* "580.82.07, CUDA 13.0" */
    /* What will compile the kernels, device or not: "NVRTC 13.0 (PATH)", or "none: " and why nothing can. */
    char compiler[4864];
} tk_device;

/* The i-th device, or backend without one; false past the end. */
bool tk_device_at(int i, tk_device *device);

/* ------------------------------------------------------------------------------------------------------------
 * 6. GPUs
 *
 * A context works on the CPU until it is told otherwise. Once it works on a GPU, every pointer that tk_run() and the typed
 * calls take is device memory, work is queued on the context's stream, and a call returns before it is done:
 *
 *     tk_ctx_use_device(ctx, "cuda");
 *     tk_ctx_set_stream(ctx, stream);               // a CUstream, cudaStream_t or hipStream_t
 *     tk_gelu_fwd(ctx, TK_F16, n, x, y);            // x and y lie on the device
 *     tk_ctx_synchronize(ctx);
 *
 * The device's primary context is used, the one that CUDA's run-time library and PyTorch use, so memory and streams made by them
 * will do. Kernels are compiled on first use and kept in the user's cache directory.
 *
 * Inside the capture of a CUDA graph nothing may be compiled, loaded or allocated: call tk_prepare() with the same case before
 * the capture begins.
 * ------------------------------------------------------------------------------------------------------------ */

/* "cpu", "cuda", "cuda:1", "hip", "hip:1". Closes the device that was open. TK_UNAVAILABLE, with the reason, if it cannot be used;
 * the context then works on the CPU. */
TK_MUST_USE tk_status tk_ctx_use_device(tk_ctx *ctx, const char *device);

/* The stream that work is queued on; NULL, the default, is the default stream. Scratch memory belongs to the context: work on
 * two streams of one context must not overlap. */
TK_MUST_USE tk_status tk_ctx_set_stream(tk_ctx *ctx, void *stream);

/* Loads whatever tk_run() would load for this case and reserves its scratch memory, so that tk_run() only launches. */
TK_MUST_USE tk_status tk_prepare(tk_ctx *ctx, const tk_case *c);

/* Waits for the stream. TK_BAD_INDEX if a call since the last synchronisation met an index out of range: the message names the op
 * and the first such position. What belongs to that position was not written. Where several ops met one, each wait names one op, and the next
 * wait the next: TK_OK says that none is left. On the CPU there is nothing to wait for. */
TK_MUST_USE tk_status tk_ctx_synchronize(tk_ctx *ctx);

/* Device memory for programs that have no other way to it; 256-byte aligned. Writing and reading wait until the copy is done. On
 * the CPU this is ordinary memory. */
TK_MUST_USE tk_status tk_memory_alloc(tk_ctx *ctx, size_t bytes, void **memory);
void tk_memory_free(tk_ctx *ctx, void *memory);
TK_MUST_USE tk_status tk_memory_write(tk_ctx *ctx, void *device, const void *host, size_t bytes);
TK_MUST_USE tk_status tk_memory_read(tk_ctx *ctx, void *host, const void *device, size_t bytes);

/* ------------------------------------------------------------------------------------------------------------
 * 7. The kernel cache
 *
 * The library carries its GPU kernels as source and compiles each when it is first used, through NVRTC or HIPRTC, else nvcc, hipcc
 * or clang. What comes out is kept in a folder of the user's, one file each, named by the SHA-256 of all that it depends on, and
 * checked again before every load. Nothing here needs a GPU.
 * ------------------------------------------------------------------------------------------------------------ */

enum { TK_MAX_KERNELS = 48 };

/* What the compiler says that one kernel uses. */
typedef struct tk_kernel_resources {
    char name[64];
    int registers;    /* of one thread */
    int shared_bytes; /* of one block, static */
    int stack_bytes;
    int spill_store_bytes;
    int spill_load_bytes;
} tk_kernel_resources;

typedef struct tk_cache_entry {
    char key[65];
    char path[4096];   /* its file; "" if it could not be kept */
    int64_t bytes;     /* of the file; tk_cache_build(): of the image */
    int64_t last_used; /* seconds since 1970 */
    char damage[256];  /* what is wrong with it; then nothing below is set. "" if it is as it was written */
    char backend[8];   /* "cuda", "hip" */
    char source[128];  /* "ops/gelu/kernel.cu" */
    tk_dtype dtype;
    char architecture[32]; /* "sm_90", "gfx942" */
    char compiler[256];    /* "NVRTC 13.0" */
    char options[1024];
    char warnings[512]; /* of the compiler; "" if none */
    char note[512];     /* what else is to be known about it; "" if nothing */
    int kernel_count;
    tk_kernel_resources kernels[TK_MAX_KERNELS];
    bool was_cached; /* tk_cache_build(): it was there already */
    double seconds;  /* tk_cache_build(): to find or build it */
} tk_cache_entry;

/* The folder, whether it is there or not. */
TK_MUST_USE tk_status tk_cache_folder(tk_ctx *ctx, char *path, size_t size);

/* Return false to see no more. */
typedef bool (*tk_cache_visitor)(const tk_cache_entry *entry, void *user_data);

/* Shows every entry, those used last first. Headers are checked always, images with `whole` only. An entry is damaged if a load would
 * not take it: also one that is a symbolic link, or lies in a folder that another user owns or everybody may write to. */
TK_MUST_USE tk_status tk_cache_each(tk_ctx *ctx, bool whole, tk_cache_visitor visitor, void *user_data);

/* Removes the entries whose key begins with `key`, or all if it is NULL, and what builds of theirs that were ended have left; a file half
 * written goes when it is ten minutes old, for until then another machine may be writing it. Programs that have loaded an entry go on with
 * it. TK_IO if some cannot be removed: the others are, each that stays is a note, and the message has the first. */
TK_MUST_USE tk_status tk_cache_clear(tk_ctx *ctx, const char *key, int *removed, int64_t *bytes);

/* The i-th kernel source; NULL past the end. */
const char *tk_cache_source_at(int i);

/* Compiles a source for an architecture, or finds it compiled. TK_UNAVAILABLE without a compiler, TK_UNSUPPORTED if the source is
 * for other architectures, TK_INTERNAL with the compiler's output if it does not compile. */
TK_MUST_USE tk_status tk_cache_build(tk_ctx *ctx, const char *backend, const char *source, const char *architecture,
                                     tk_dtype dtype, tk_cache_entry *entry);

/* ------------------------------------------------------------------------------------------------------------
 * 8. Kernel servers
 *
 * A kernel server is a program that answers requests on its standard input and output, in frames (docs/protocol.md): `tokitai kernel
 * gelu-bwd --server`, or any other that speaks the same protocol. A tk_server starts one, restarts it when it ended or broke, and gives
 * every call a deadline:
 *
 *     char *const program[] = {"tokitai", "kernel", "gelu-bwd", "--server", NULL};
 *     tk_server_open(ctx, program, NULL, &server);
 *     tk_server_call(ctx, server, "1 15360 0", 9, &reply, &reply_bytes);
 *     tk_server_close(server);
 *
 * A reply is never taken for that of another request: a program that missed a deadline, broke the protocol or spoke unasked is killed,
 * its descendants in its process group too, and nothing more is read from it. A request is sent once and not repeated. No signal is raised
 * in the caller. A server serves one thread at a time; several run side by side.
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct tk_server tk_server;

/* Start from TK_SERVER_DEFAULTS. */
typedef struct tk_server_options {
    double call_seconds;    /* deadline of a call; a restart and the pause before it count */
    double restart_seconds; /* pause before the restart after a failure; doubles with each further one in a row */
    double restart_most_seconds; /* up to this */
    size_t reply_bytes;          /* the longest reply that is taken */
    bool binary;                 /* frames are binary calls and replies; else text */
} tk_server_options;

#define TK_SERVER_DEFAULTS \
    ((tk_server_options){  \
        .call_seconds = 60, .restart_seconds = 0.1, .restart_most_seconds = 10, .reply_bytes = (size_t)1 << 30})

/* `argv` as for execvp(), NULL behind the last; it is copied, as the options are (NULL: the defaults). The program gets the caller's
 * environment and working directory, but no descriptors beyond 0, 1 and 2. TK_UNAVAILABLE if it cannot be started. */
TK_MUST_USE tk_status tk_server_open(tk_ctx *ctx, char *const argv[], const tk_server_options *options,
                                     tk_server **server);
/* Ends the input, waits a moment, kills; leaves no process behind. NULL is fine. */
void tk_server_close(tk_server *server);

/* Sends one frame and waits for the answer, which is valid until the next call. `reply` and `reply_bytes` may be NULL.
 *   TK_BAD_ARGUMENT, TK_BAD_INDEX, TK_UNAVAILABLE   the program refused the request, and its message is the context's: a text without a
 *                     line of elements, a binary status, or exit status 22
 *   TK_TIMEOUT        no whole answer within the deadline
 *   TK_KERNEL_FAULT   it ended without an answer, or answered what is no answer
 *   TK_UNAVAILABLE    it broke too often: the pause before the next start would outlast the deadline, or it cannot be started
 * The next call starts it again. */
TK_MUST_USE tk_status tk_server_call(tk_ctx *ctx, tk_server *server, const void *request, size_t request_bytes,
                                     const void **reply, size_t *reply_bytes);

/* The same for a case, with a program that speaks binary: host buffers in contract order, as for tk_run(). What is large goes through
 * shared memory. `seconds` (may be NULL): the kernel's time as the program took it. A call that fails has written nothing. */
TK_MUST_USE tk_status tk_server_run(tk_ctx *ctx, tk_server *server, const tk_case *c, void *const buffers[],
                                    double *seconds);

/* How often the program has been started, and the wait status (as of waitpid()) of the last one that ended, -1 if none did. */
int tk_server_starts(const tk_server *server);
int tk_server_wait_status(const tk_server *server);

/* The last 16 KiB that the programs wrote to standard error. Valid until the next call. */
const char *tk_server_errors(const tk_server *server);

#ifdef __cplusplus
}
#endif

#endif
