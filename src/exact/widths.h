/* DECIDES. Loops for the widest vectors of the processor: a function as it is written, plain_NAME, and again for wider vectors. Both round alike:
 * nothing is contracted. Who defines plain_NAME makes NAME of it. */
#pragma once

#define TKI_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__) && defined(__GNUC__)
#define TKI_WIDE __attribute__((target("avx2")))
#define TKI_IS_WIDE __builtin_cpu_supports("avx2")
#else
#define TKI_WIDE
#define TKI_IS_WIDE 0
#endif

/* `linkage` is static, or nothing; `give` is return, or nothing where the type is void. */
#define TKI_FOR_WIDTHS(linkage, type, give, name, parameters, arguments)   \
    TKI_WIDE static type wide_##name parameters                            \
    {                                                                      \
        give plain_##name arguments;                                       \
    }                                                                      \
    linkage type name parameters                                           \
    {                                                                      \
        give TKI_IS_WIDE ? wide_##name arguments : plain_##name arguments; \
    }
