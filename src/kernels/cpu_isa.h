/* UNTRUSTED. What every unit that is compiled once per instruction set needs. */
#ifndef TKI_KERNELS_CPU_ISA_H
#define TKI_KERNELS_CPU_ISA_H

#define TKI_INLINE static inline __attribute__((always_inline))

/* The table that a unit exports: TKI_ISA_TABLE(tki_gelu_cpu) is tki_gelu_cpu_avx2 in the unit built with TKI_ISA=avx2.
 * Everything else in such a unit is static, so that no function built for one processor is linked in on another. */
#define TKI_ISA_PASTE_(name, isa) name##_##isa
#define TKI_ISA_PASTE(name, isa) TKI_ISA_PASTE_(name, isa)
#define TKI_ISA_TABLE(name) TKI_ISA_PASTE(name, TKI_ISA)

#endif
