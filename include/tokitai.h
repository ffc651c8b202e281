/* Tokitai: verified deep-learning training kernels, and a verifier for kernels.
 *
 * This header is all that a program needs to compute. Read it from top to bottom:
 *
 *   1. Status and context        every call takes a context and returns a status
 *   2. The operations            one typed call per op: tk_gelu_fwd(), tk_gemm(), ...
 *   3. Contracts and cases       the same ops through one general call, tk_run()
 *   4. Devices                   what this machine can run on
 *   5. GPUs                      the same calls on device memory and a stream
 *
 * The other parts have headers of their own, each of which includes this one:
 *
 *   tokitai_verify.h             judge a kernel, ours or yours, against an exact oracle
 *   tokitai_cache.h              the cache of GPU kernels, which are compiled on first use
 *   tokitai_serve.h              kernel servers: start them, call them, restart them
 *
 * This header and the cache are in libtokitai, which needs only libc and an OpenMP run-time. libtokitai-verify also
 * needs GMP, MPFR, OpenBLAS, libcrypto and Jansson. libtokitai-serve is optional and needs nothing more.
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
 *   - Tensors are row-major, dense, and belong to the caller. The alignment of the element type is sufficient.
 *   - fp16 and bf16 elements are passed as their 16-bit patterns (uint16_t), fp32 elements as float.
 *   - Sizes are element counts in int64_t. Zero sizes are allowed and write nothing, except that an empty sum
 *     is zero (tk_gemm with k == 0 writes zeros).
 *   - Inputs are never written. An output may not overlap another argument, unless the op says that it may be the
 *     same buffer. When a call fails, nothing was written to the outputs.
 *   - The library never prints and never exits. A context serves one thread at a time; several contexts can be used
 *     concurrently. Process-wide state is limited to: a flag that stale scratch directories were removed; loaded
 *     libraries (drivers, compilers), which stay loaded; the threads of the OpenMP run-time; and in libtokitai-verify
 *     tables of exact values and the verdicts on the mutants. All of it is thread-safe, and neither results nor
 *     verdicts depend on earlier use.
 */
#ifndef TOKITAI_H
#define TOKITAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokitai_types.h" /* tk_dtype: TK_F16, TK_BF16, ... */

/* What is declared here is what the library exports. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TK_VERSION_MAJOR 0
#define TK_VERSION_MINOR 2
#define TK_VERSION_PATCH 0

/* "0.2.0" */
const char *tk_version(void);

/* ------------------------------------------------------------------------------------------------------------
 * 1. Status and context
 * ------------------------------------------------------------------------------------------------------------ */

/* The result of a call. A kernel that fails its contract is not an error: tk_certify() then returns TK_OK and a
 * certificate whose verdict is TK_REFUTED. */
typedef enum tk_status {
    TK_OK = 0,
    TK_BAD_ARGUMENT, /* a size, pointer, type or option that the op does not support */
    TK_BAD_INDEX,    /* an index or target out of range; the message names the first bad position */
    TK_BAD_FILE,     /* a file that is not what it should be: malformed, truncated, edited */
    TK_UNSUPPORTED,  /* no lowering supports this case; the message gives each reason */
    TK_UNAVAILABLE,  /* needs a device, library or compiler that is not present */
    TK_NO_MEMORY,
    TK_IO,           /* the operating system refused a read or a write; the message says which and why */
    TK_KERNEL_FAULT, /* a kernel in a worker crashed, ended its process or broke the protocol; the message says how */
    TK_TIMEOUT,      /* a kernel in a worker exceeded its deadline and was ended */
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
void tk_ctx_destroy(tk_ctx *ctx); /* NULL is allowed */

/* The text of the last failure in this context, "" if none. Valid until the next call with this context. */
const char *tk_ctx_message(const tk_ctx *ctx);

/* Notes report events that did not make a call fail: a damaged file of the kernel cache that was built again, a
 * kernel that could not be stored there and why, a kernel that the driver has yet to finish compiling, a kernel
 * whose compiler did not report its resources. From now on `listener` receives each text once in the life of the
 * context, from within the call that caused it; it must not call anything with the context. NULL, the default:
 * notes are dropped. */
typedef void (*tk_note_listener)(const char *note, void *user_data);
TK_MUST_USE tk_status tk_ctx_set_note_listener(tk_ctx *ctx, tk_note_listener listener, void *user_data);

/* The number of threads that CPU kernels may use; 0, the default, uses all processors of the machine. The result
 * has the same bits for every number of threads. */
TK_MUST_USE tk_status tk_ctx_set_threads(tk_ctx *ctx, int threads);

/* Some ops need scratch memory; tk_scratch_size() returns how much (device memory, 256-byte aligned, if the context
 * works on a GPU). By default the context owns a block and grows it when a call needs more. A caller that wants no
 * allocation can provide a block (64-byte aligned, at least the required size); a call that needs more than that
 * then fails with TK_NO_MEMORY. NULL restores the default. */
TK_MUST_USE tk_status tk_ctx_set_scratch(tk_ctx *ctx, void *memory, size_t bytes);

/* ------------------------------------------------------------------------------------------------------------
 * 2. The operations
 *
 * `dtype` applies to every tensor without a stated element type. Sums and transcendental functions are computed in
 * fp32 and rounded once. `tokitai ops OP` prints each contract in full: the error bound, the behaviour for NaN and
 * infinity, and the reproducibility of the result.
 * ------------------------------------------------------------------------------------------------------------ */

size_t tk_dtype_size(tk_dtype dtype);      /* bytes of one element */
const char *tk_dtype_name(tk_dtype dtype); /* "f16", "bf16", "f32", "f8_e4m3", "i32", ... */

#ifndef TOKITAI_WITHOUT_OPS /* the program that writes it */
#include "tokitai_ops.h"    /* tk_gelu_fwd(), tk_gemm(), ... */
#endif

/* ------------------------------------------------------------------------------------------------------------
 * 3. Contracts and cases
 *
 * A contract describes an op to a program: its sizes, its parameters in call order, and its clauses. A case fixes
 * everything but the data. tk_run() runs any case; the typed calls above are thin wrappers around it.
 * ------------------------------------------------------------------------------------------------------------ */

/* The most that a contract may have of each; a case is a value of fixed size, which programs copy. */
enum {
    TK_MAX_RANK = 8,
    TK_MAX_DIMS = 64,
    TK_MAX_PARAMS = 64,
    TK_MAX_CLAUSES = 64,
    TK_MAX_ATTRIBUTES = 32,
    TK_MAX_CHOICES = 64,
    TK_MAX_IMPLEMENTATIONS = 64
};

/* The rule that gives a tensor its element type. */
typedef enum tk_kind {
    TK_KIND_VALUE,  /* the case's dtype */
    TK_KIND_INDEX,  /* the case's index_dtype */
    TK_KIND_RESULT, /* the case's result_dtype: its dtype, or a wider one that sums are kept in */
    TK_KIND_FIXED   /* the parameter's own dtype, whatever the case's are */
} tk_kind;

/* What the elements of an output are judged by. */
typedef enum tk_judged_by {
    TK_BY_INTERVAL, /* the rounding of some real value within B of the exact one */
    TK_BY_BITS,     /* given bits */
    TK_BY_INTEGER,  /* an exact integer */
    /* An index into a row of another input, its keys: the key that it selects is one that belongs there, and no index occurs
     * twice in a row. The keys have the output's shape but for the last size, or are one row for all. */
    TK_BY_ORDER
} tk_judged_by;

/* What an element of an input is that does not matter. */
typedef enum tk_neutral {
    TK_NEUTRAL_ZERO,
    TK_NEUTRAL_LOW /* very negative: exponentials are added */
} tk_neutral;

/* What an input of indices may hold beside the rule that each is in range. */
typedef enum tk_index_rule {
    TK_INDICES_ANY,
    TK_INDICES_ENDS /* where groups end: ascending, from 0 up to the size itself */
} tk_index_rule;

typedef struct tk_param {
    const char *name;
    bool output;
    tk_kind kind;
    tk_dtype dtype;      /* TK_KIND_FIXED */
    tk_judged_by judged; /* outputs */
    int rank;            /* 1 to TK_MAX_RANK */
    const int *dim;      /* [rank] indices of the contract's sizes that give its shape */
    int indexed_dim;     /* TK_KIND_INDEX: its values are in [0, that size) */
    int inner_axis;      /* inputs: the axis that the op sums over, or -1 */
    int may_alias;       /* outputs: the parameter whose buffer it may share, or -1 */
    tk_neutral neutral;  /* inputs */
    int ordered_by;      /* TK_BY_ORDER: the input that the indices select from, row by row */
    double
        sums_to; /* outputs: what each row should sum to; a certificate reports the deviation. 0: nothing is known */
    /* Not 0: the tensor is there only with some choices of an attribute, bit i standing for choice i. Elsewhere it has no
     * elements, its pointer may be NULL, and nothing is read or written. */
    uint64_t when_choices;
    int when_attribute; /* the attribute's position; read only with when_choices */
    tk_index_rule rule; /* TK_KIND_INDEX */
    const char *
        also; /* TK_KIND_INDEX: the integer attribute whose value is a valid index too, beside those in range; or NULL */
    double least,
        most; /* inputs but those of indices: trials draw from that range, and others are refused; both 0: no range */
} tk_param;

/* What a clause is about. An oracle decides those of elements; the judge itself decides the others, by their kind. */
typedef enum tk_clause_kind {
    TK_CLAUSE_VALUE,    /* elements: NaN, infinities, zeros and other values of their own */
    TK_CLAUSE_ERROR,    /* elements: the error bound */
    TK_CLAUSE_PROMISE,  /* elements: a smaller bound, of kernels that promise it */
    TK_CLAUSE_BITS,     /* elements: given bits, of kernels that promise them */
    TK_CLAUSE_WRITE,    /* every output is written, and nothing else */
    TK_CLAUSE_SHAPE,    /* which sizes and placements are taken */
    TK_CLAUSE_REPEAT,   /* the same inputs, the same bits */
    TK_CLAUSE_IN_PLACE, /* an output that shares an input's memory */
    TK_CLAUSE_INDEX     /* an index out of range is refused */
} tk_clause_kind;

typedef struct tk_clause {
    tk_clause_kind kind;
    const char *id;   /* "GELU_BWD.ERR"; NULL, from TK_CLAUSE_WRITE on: the usual one */
    const char *text; /* what must hold; NULL, from TK_CLAUSE_WRITE on: what follows from sizes and tensors */
} tk_clause;

typedef struct tk_choice {
    const char *id;   /* "normal" */
    const char *text; /* what it means */
} tk_choice;

typedef enum tk_attribute_type {
    TK_ATTRIBUTE_CHOICE, /* one of a few names */
    TK_ATTRIBUTE_REAL,   /* a finite number */
    TK_ATTRIBUTE_INTEGER
} tk_attribute_type;

/* What the judge itself makes of an attribute. Each is a choice, and its choices are those of our ops, in their order
 * ("tokitai ops gemm" prints them). */
typedef enum tk_role {
    TK_ROLE_NONE,        /* nothing: it is for kernels and exact values */
    TK_ROLE_DOMAIN,      /* which inputs are drawn: all, normal */
    TK_ROLE_NUMERICS,    /* whose arithmetic the bound is derived for: ieee, tensor_core, any */
    TK_ROLE_MATRIX_UNIT, /* of numerics tensor_core; the device that a kernel runs on determines it, not the user */
    TK_ROLE_OVERFLOW     /* what a result of f8_e4m3 or f8_e5m2 is where it is too large: nan, saturate */
} tk_role;

/* The value of an attribute: `real` of a TK_ATTRIBUTE_REAL, else `integer`, which of a choice is its position. */
typedef union tk_value {
    int64_t integer;
    double real;
} tk_value;

/* A property of a case beyond sizes and types. Kernels see some of them, and trials take several values of each. The
 * others determine which inputs are drawn and which bound applies to the outputs: one value for a whole certificate. */
typedef struct tk_attribute {
    const char *name; /* "domain" */
    const char *text; /* what it determines */
    tk_attribute_type type;
    tk_value initial; /* the default */
    tk_value least;   /* numbers: the range, both ends included */
    tk_value most;
    int tried_count; /* numbers that kernels see: what trials take beside the default; up to TK_MAX_CHOICES */
    const tk_value *tried;
    int choice_count;
    const tk_choice *choices;
    bool seen_by_kernel;
    bool fp32; /* reals: fp32 numbers only */
    tk_role role;
    int abi_1_offset; /* where tokitai_call of kernel ABI 1 has it, which is fixed for ever; 0: nowhere */
} tk_attribute;

/* The element types of a case: of its values, and of its results. They differ where sums of numbers of 8 or 16 bits are kept in fp32. The pair
 * is also the name of an assignment of types (tensor_types of tk_contract). */
typedef struct tk_types {
    tk_dtype dtype;
    tk_dtype result_dtype;
} tk_types;

/* "f16", or "f16-f32" where the results are of another type; cut to fit. And back; false if it names no types. */
void tk_types_name(tk_types types, char *text, size_t size);
bool tk_types_parse(const char *text, tk_types *types);

struct tk_case;

/* An op, as data. Ours are tables; a program can fill in others and register them. */
typedef struct tk_contract {
    const char *name;    /* "gelu_bwd" */
    const char *summary; /* one line */
    const char *formula; /* the exact value, as text */
    const char *bound;   /* the error bound B before the final rounding, as text */
    const char *notes;   /* what a caller should know beside these, in sentences; NULL: nothing */
    int dim_count;
    const char *const *dim_names;
    /* [dim_count] or NULL: how a size follows from other sizes and from attributes, as text: "(h - r) // stride + 1". NULL for
     * one that is free. */
    const char *const *derived;
    int param_count;
    const tk_param *params;
    int type_count;
    const tk_types *types; /* which it takes */
    /* [type_count][param_count]: the type of each tensor under each of `types`, which then only name these assignments. Tensors of
     * indices have TK_I32 or TK_I64, and the index_dtype of a case is not read. NULL: the type follows from the kind. */
    const tk_dtype *tensor_types;
    bool elementwise; /* an element of the outputs depends on those at its place in the inputs alone */
    int attribute_count;
    const tk_attribute *attributes;
    /* Sets the sizes that follow from others; those may come out negative, and the case is then refused. Needed with `derived`. */
    void (*derive)(struct tk_case *c);
    /* Why a case cannot have these types, sizes and attributes, each of which is in its range: one line, or NULL if it can. NULL:
     * all go together. */
    const char *(*refusal)(const struct tk_case *c);
    /* Those that follow from sizes and tensors, of kinds from TK_CLAUSE_WRITE on, are added if they are left out. */
    int clause_count;
    const tk_clause *clauses;
    const struct tki_op *op; /* set by the library: by tk_contract_register() */
} tk_contract;

/* Our own ops. */
int tk_contract_count(void);
const tk_contract *tk_contract_at(int i);                  /* in the order of the list of ops; NULL past the end */
const tk_contract *tk_contract_find(const char *name);     /* NULL if there is no such op */
bool tk_contract_takes_index(const tk_contract *contract); /* whether a tensor has the type index_dtype of a case */

/* The C declarations of an op's typed call, and of a user kernel of it (tokitai_kernel.h); cut to fit. An op with an
 * attribute that ABI 1 has no place for takes the general form alone: TOKITAI_KERNEL(op). */
void tk_contract_signature(const tk_contract *contract, char *text, size_t size);
void tk_contract_kernel_signature(const tk_contract *contract, char *text, size_t size);

/* When a tensor is there: "with epilogue bias or bias_gelu"; "" if always. Cut to fit. */
void tk_contract_condition(const tk_contract *contract, int param, char *text, size_t size);

/* Positions in the contract's attributes, and in an attribute's choices; -1 if there is none of that name. */
int tk_attribute_find(const tk_contract *contract, const char *name);
int tk_choice_find(const tk_attribute *attribute, const char *name);

/* A value in text, and back: the name of a choice, or a number. tk_attribute_parse() returns false for what is no
 * value of the attribute's type, or outside its range. */
void tk_attribute_print(const tk_attribute *attribute, tk_value value, char *text, size_t size);
bool tk_attribute_parse(const tk_attribute *attribute, const char *text, tk_value *value);

typedef struct tk_case {
    const tk_contract *contract;
    tk_dtype dtype; /* one of contract->types, together with the next */
    tk_dtype result_dtype;
    tk_dtype index_dtype;                   /* TK_I32 or TK_I64; read only if tk_contract_takes_index() */
    int64_t dims[TK_MAX_DIMS];              /* as named in contract->dim_names */
    tk_value attributes[TK_MAX_ATTRIBUTES]; /* of each of the contract's attributes */
} tk_case;

/* A case of that op with all sizes zero, results of the same type, and default attributes. */
tk_case tk_case_init(const tk_contract *contract, tk_dtype dtype);

/* Whether a parameter is there, with the attributes of this case. */
bool tk_case_has(const tk_case *c, int param);

/* Elements of one parameter, 0 if it is not there; -1 if the sizes are negative or their product in bytes does not fit in an int64_t. */
int64_t tk_case_elements(const tk_case *c, int param);
tk_dtype tk_case_param_dtype(const tk_case *c, int param);

/* Whether every input can be tried, at --level exhaustive: the op is elementwise, kernels see no attribute that is a
 * number, and inputs and choices make at most 2^32 combinations at each place. Depends on the types of the case, not on
 * its sizes. */
bool tk_case_is_finite(const tk_case *c);

/* Checks sizes, types, options, alignment and overlap without running anything. `buffers` are the parameters in
 * contract order; a parameter without elements may be NULL. */
TK_MUST_USE tk_status tk_case_check(tk_ctx *ctx, const tk_case *c, void *const buffers[]);

/* Scratch bytes that tk_run() needs for this case with this context's number of threads. On a GPU: for tensors at
 * multiples of 16 bytes; products of others may need copies of them, and tk_run() says how much that is. */
TK_MUST_USE tk_status tk_scratch_size(tk_ctx *ctx, const tk_case *c, size_t *bytes);

/* Runs the case with the first lowering that accepts it. Inputs are not written, although the pointer type allows
 * it. On the CPU, contracts hold in the default floating-point environment; in another rounding mode, or with
 * subnormal numbers flushed, they are not guaranteed. */
TK_MUST_USE tk_status tk_run(tk_ctx *ctx, const tk_case *c, void *const buffers[]);

/* A kernel supplied by a program. `buffers` are the parameters in contract order; inputs must not be written.
 * Return 0, or any other number if the case cannot be run. */
typedef int (*tk_kernel)(const tk_case *c, void *const buffers[], void *user_data);

/* How alike results are. */
typedef enum tk_determinism {
    TK_DETERMINISM_NONE,
    TK_RUN_TO_RUN,      /* same device, same bits */
    TK_BATCH_INVARIANT, /* and a row's bits do not depend on the other rows */
    TK_CROSS_DEVICE     /* and every backend gives the same bits */
} tk_determinism;

/* One way to compute an op. */
typedef struct tk_implementation {
    const char *name; /* the variant in its id: lower-case letters, digits and _ */
    tk_kernel run;
    void *user_data;
    const char *(*refusal)(
        const tk_case *c); /* why it does not take a case, or NULL if it does; NULL: it takes all */
    tk_determinism determinism;
    const char *promise; /* what it promises beyond the contract, in words, or NULL */
    bool promises_bound; /* it is judged by the smaller bounds of tk_enclosure */
    /* For certificates, all of them or none: the path of its source, whose hash is taken when it is judged; its compiler's name and
     * version; what that was called with. */
    const char *source, *compiler, *options;
} tk_implementation;

/* Adds an op of the program's own to a context; it then is an op as ours are. tk_run() runs it with the first implementation
 * that takes the case, tk_certify() judges kernels against it, and certificates of it can be read and replayed with this
 * context. The contract, the implementations and all that they point to are checked and copied; *registered is the copy
 * to make cases of, which lives as long as the context. It is taken by its address: no copy of it, and none of another
 * context, is. Names are of lower-case letters, digits and _. Kernel files define tokitai_NAME_v3.
 * tk_contract_judge_by() of tokitai_verify.h gives it exact values, mutants and variants. */
TK_MUST_USE tk_status tk_contract_register(tk_ctx *ctx, const tk_contract *contract, int count,
                                           const tk_implementation implementations[], const tk_contract **registered);

/* The same from a definition: the op's mathematics as text (docs/definitions.md), from which the contract is made; of a text with
 * several, the one of that name. TK_BAD_ARGUMENT: the message has the line and the column, and what was expected there. A text
 * that has been defined in this context already gives the op that it gave. */
TK_MUST_USE tk_status tk_op_define(tk_ctx *ctx, const char *text, size_t size, const char *name,
                                   const tk_contract **contract);

/* The ops that come with the library as definitions, and not as contracts of their own: a name, and a text for tk_op_define() that has
 * it. NULL past the end. */
const char *tk_definition_at(int i, const char **text);
const char *tk_definition_find(const char *name); /* such a text; NULL if none has that name */

/* The normal form of the definition that a contract was made from; NULL if it was not made from one. */
const char *tk_contract_definition(const tk_contract *contract);

/* A kernel file for an op that was made from a definition (tokitai_kernel.h): plain loops, slow and right; for the backend "cpu" (NULL) in C,
 * for "cuda" and "hip" with a thread for each element. *source is to be freed with free(). */
TK_MUST_USE tk_status tk_op_plain_kernel(tk_ctx *ctx, const tk_contract *contract, const char *backend,
                                         char **source);

/* An op that is registered with the context, or one of ours; NULL if there is none of that name. */
const tk_contract *tk_ctx_contract_find(const tk_ctx *ctx, const char *name);

/* A lowering is one implementation of an op. Its id is BACKEND.OP.DTYPE.VARIANT, with ".i64" appended for
 * 64-bit indices: "cpu.embedding_bwd.f16.scalar.i64". */
const char *tk_determinism_name(tk_determinism level);

typedef struct tk_lowering_info {
    const char *backend; /* "cpu" */
    const char *variant; /* "scalar" */
    tk_determinism determinism;
    const char *promise; /* what it promises beyond the contract, or NULL */
} tk_lowering_info;

/* The i-th lowering of an op, fastest first; false past the end. */
bool tk_lowering_at(const tk_contract *contract, int i, tk_lowering_info *info);

/* The id of the i-th lowering for the op and the types of a case, truncated to fit; false past the end. */
bool tk_lowering_id(const tk_case *c, int i, char *text, size_t size);

/* The opposite: a case of the op and the types that the id names, with all sizes zero, and the position of the
 * lowering. False, and nothing is written, if there is no lowering of that id. */
bool tk_lowering_find(const char *id, tk_case *c, int *i);

/* NULL if the i-th lowering supports this case on this machine, otherwise the reason why not. A lowering for a GPU
 * runs on the device that the context has opened; `ctx` may be NULL if there is none. */
const char *tk_lowering_refusal(const tk_ctx *ctx, const tk_case *c, int i);

/* ------------------------------------------------------------------------------------------------------------
 * 4. Devices
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct tk_backend_info {
    const char *name; /* "cpu", "cuda", "hip" */
    bool is_gpu;
    const char *kernel_ending; /* of a kernel file in its usual language: ".c", ".cu", ".hip" */
    const char *kernel_header; /* that such a file includes for its run-time library; NULL: none is needed */
} tk_backend_info;

/* The i-th backend, whether or not this machine has a device of it; false past the end. */
bool tk_backend_at(int i, tk_backend_info *info);

/* The position of the backend whose name `text` has up to its end or to the first of the characters in `end`: that
 * of a device, tk_backend_find("cuda:1", ":"), or of an id, with "."; -1 if there is none. `text` may be NULL. */
int tk_backend_find(const char *text, const char *end);

typedef struct tk_device {
    const char *backend;  /* "cpu", "cuda", "hip" */
    bool usable;          /* ops can run on it */
    char name[128];       /* "AMD EPYC", "NVIDIA H200"; "" if none was found */
    char detail[1024];    /* CPU features; or the reason why it cannot be used */
    int units;            /* cores or multiprocessors */
    int64_t memory_bytes; /* 0 if unknown */
    /* GPUs only, "" otherwise */
    char uuid[48];         /* "GPU-1e2d3c4b-..." */
    char architecture[32]; /* "sm_90", "gfx942" */
    char driver[64];       /* "580.82.07, CUDA 13.0" */
    /* The compiler of its kernels, with or without a device: "NVRTC 13.0 (PATH)", or "none: " and the reason. */
    char compiler[4864];
} tk_device;

/* The i-th device, or backend without one; false past the end. */
bool tk_device_at(int i, tk_device *device);

/* ------------------------------------------------------------------------------------------------------------
 * 5. GPUs
 *
 * A context works on the CPU by default. On a GPU, every pointer that tk_run() and the typed calls take is device
 * memory, work is queued on the context's stream, and a call returns before the work is done:
 *
 *     tk_ctx_use_device(ctx, "cuda");
 *     tk_ctx_set_stream(ctx, stream);               // a CUstream, cudaStream_t or hipStream_t
 *     tk_gelu_fwd(ctx, TK_F16, n, x, y);            // x and y are on the device
 *     tk_ctx_synchronize(ctx);
 *
 * The device's primary context is used, the one that CUDA's run-time library and PyTorch use, so their memory and
 * streams can be used. Kernels are compiled on first use and stored in the user's cache directory.
 *
 * During the capture of a CUDA graph nothing may be compiled, loaded or allocated: call tk_prepare() with the same
 * case before the capture begins.
 * ------------------------------------------------------------------------------------------------------------ */

/* "cpu", "cuda", "cuda:1", "hip", "hip:1". Closes the device that was open. TK_UNAVAILABLE, with the reason, if it
 * cannot be used; the context then works on the CPU. */
TK_MUST_USE tk_status tk_ctx_use_device(tk_ctx *ctx, const char *device);

/* The stream that work is queued on; NULL, the default, is the default stream. Scratch memory belongs to the
 * context: work on two streams of one context must not overlap. */
TK_MUST_USE tk_status tk_ctx_set_stream(tk_ctx *ctx, void *stream);

/* 'tokitai tune' measures which of a kernel's choices is the fastest for a case and keeps it in the cache directory
 * for this device; a context that works on it uses what is kept, as it was when the case first came. The choice may
 * change the order of a sum, and so the bits, but no error bound. false: what is kept is ignored, as it is if
 * TOKITAI_TUNING is "off" in the environment, so that the bits depend on nothing outside of the program. */
TK_MUST_USE tk_status tk_ctx_use_tuning(tk_ctx *ctx, bool use);

/* Loads whatever tk_run() would load for this case and reserves its scratch memory, so that tk_run() only launches;
 * for tensors at multiples of 16 bytes, as in tk_scratch_size(). Scratch memory that a captured graph uses is kept
 * until the device is closed; a block of the caller's own must be kept by the caller. */
TK_MUST_USE tk_status tk_prepare(tk_ctx *ctx, const tk_case *c);

/* Waits for the stream. TK_BAD_INDEX if a call since the last synchronisation had an index out of range: the
 * message names the op and the first such position. Nothing was written for that position. If several ops had one,
 * each synchronisation names one op: TK_OK says that none is left. On the CPU there is nothing to wait for. */
TK_MUST_USE tk_status tk_ctx_synchronize(tk_ctx *ctx);

/* Device memory for programs that cannot allocate it otherwise; 256-byte aligned. Writing and reading wait until
 * the copy is done. On the CPU this is ordinary memory. */
TK_MUST_USE tk_status tk_memory_alloc(tk_ctx *ctx, size_t bytes, void **memory);
void tk_memory_free(tk_ctx *ctx, void *memory);
TK_MUST_USE tk_status tk_memory_write(tk_ctx *ctx, void *device, const void *host, size_t bytes);
TK_MUST_USE tk_status tk_memory_read(tk_ctx *ctx, void *host, const void *device, size_t bytes);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
