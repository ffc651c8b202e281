/* RECORDS. The CPU backend: which instruction sets this processor has, and the lowerings that every op's lowering.c lists for them. */
#pragma once

#include "core/export.h"
#include "drivers/backend.h"
#include "model/lowering.h"

/* NULL, or what the processor lacks. */
TKI_EXPORT const char *tki_cpu_accept_avx512(const tk_case *c, const tki_gpu_info *device);
const char *tki_cpu_accept_avx512bf16(const tk_case *c, const tki_gpu_info *device); /* takes bf16 only */
const char *tki_cpu_accept_avx512ifma(const tk_case *c, const tki_gpu_info *device);
TKI_EXPORT const char *tki_cpu_accept_avx2(const tk_case *c, const tki_gpu_info *device);
#ifdef __aarch64__
TKI_EXPORT
#endif
const char *tki_cpu_accept_neon(const tk_case *c, const tki_gpu_info *device);
const char *tki_cpu_accept_any(const tk_case *c, const tki_gpu_info *device);

bool tki_cpu_has_f16c(void);

/* The lowerings of an op whose kernel_cpu.c is compiled once per instruction set, fastest first. `table` is the stem of the
 * exported tables (tki_gelu_cpu for tki_gelu_cpu_avx2, ...); the rest are further members of each. */
#define TKI_CPU_LOWERING(isa, accept_isa, table, launch_function, ...)                                       \
    {                                                                                                        \
        .backend = &tki_backends[TKI_CPU], .variant = #isa, .accept = accept_isa, .launch = launch_function, \
        .kernels = &table##_##isa, __VA_ARGS__                                                               \
    }

#if defined(__x86_64__)
#define TKI_CPU_LOWERINGS(table, launch_function, ...)                                    \
    TKI_CPU_LOWERING(avx512, tki_cpu_accept_avx512, table, launch_function, __VA_ARGS__), \
        TKI_CPU_LOWERING(avx2, tki_cpu_accept_avx2, table, launch_function, __VA_ARGS__), \
        TKI_CPU_LOWERING(scalar, tki_cpu_accept_any, table, launch_function, __VA_ARGS__)
#define TKI_CPU_TABLES(type) extern const type type##_avx512, type##_avx2, type##_scalar
/* The same for an op with a unit more, for the bf16 dot product. */
#define TKI_CPU_LOWERINGS_WITH_DOT(table, launch_function, ...)                                   \
    TKI_CPU_LOWERING(avx512bf16, tki_cpu_accept_avx512bf16, table, launch_function, __VA_ARGS__), \
        TKI_CPU_LOWERINGS(table, launch_function, __VA_ARGS__)
#define TKI_CPU_TABLES_WITH_DOT(type)    \
    extern const type type##_avx512bf16; \
    TKI_CPU_TABLES(type)
/* And with one for products of 52-bit integers. */
#define TKI_CPU_LOWERINGS_WITH_IFMA(table, launch_function, ...)                                  \
    TKI_CPU_LOWERING(avx512ifma, tki_cpu_accept_avx512ifma, table, launch_function, __VA_ARGS__), \
        TKI_CPU_LOWERINGS(table, launch_function, __VA_ARGS__)
#define TKI_CPU_TABLES_WITH_IFMA(type)   \
    extern const type type##_avx512ifma; \
    TKI_CPU_TABLES(type)
#elif defined(__aarch64__)
#define TKI_CPU_LOWERINGS(table, launch_function, ...)                                \
    TKI_CPU_LOWERING(neon, tki_cpu_accept_neon, table, launch_function, __VA_ARGS__), \
        TKI_CPU_LOWERING(scalar, tki_cpu_accept_any, table, launch_function, __VA_ARGS__)
#define TKI_CPU_TABLES(type) extern const type type##_neon, type##_scalar
#else
#define TKI_CPU_LOWERINGS(table, launch_function, ...) \
    TKI_CPU_LOWERING(scalar, tki_cpu_accept_any, table, launch_function, __VA_ARGS__)
#define TKI_CPU_TABLES(type) extern const type type##_scalar
#endif

#if !defined(TKI_CPU_LOWERINGS_WITH_DOT)
#define TKI_CPU_LOWERINGS_WITH_DOT TKI_CPU_LOWERINGS
#define TKI_CPU_TABLES_WITH_DOT TKI_CPU_TABLES
#define TKI_CPU_LOWERINGS_WITH_IFMA TKI_CPU_LOWERINGS
#define TKI_CPU_TABLES_WITH_IFMA TKI_CPU_TABLES
#endif
