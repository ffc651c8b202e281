/* All that differs between CUDA and HIP, for device code. Kernels include this and their params.h; no #if of a vendor stands in a
 * kernel.
 *
 * A kernel file is compiled once per dtype (TKI_DTYPE is 0 for fp16, 1 for bf16, 2 for fp32), so that `element` is one format in it; and once
 * more where results are of another type (TKI_RESULT_DTYPE is 2 then). No header of a toolkit is needed: NVRTC alone will do, or clang with -nogpuinc -nogpulib. No multiply-add is fused that the source does
 * not ask for (--fmad=false, -ffp-contract=off); fma_f32() is by name. Nothing flushes subnormals unless its name says so. */
#ifndef TKI_KERNELS_DEVICE_H
#define TKI_KERNELS_DEVICE_H

#if defined(__HIP__) || defined(__HIPCC_RTC__)
#define TKI_HIP 1
#else
#define TKI_HIP 0
#endif

#if defined(__CUDACC_RTC__) || TKI_HIP
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
#if TKI_HIP
typedef long int64_t;
typedef unsigned long uint64_t;
#else
typedef long long int64_t;
typedef unsigned long long uint64_t;
#endif
typedef uint64_t uintptr_t;
#else
#include <stdint.h>
#endif

#if TKI_HIP
#define DEVICE static __inline__ __attribute__((device, always_inline))
#define SHARED __attribute__((shared))
/* The second number means something else there, and the compiler chooses well by itself. */
#define ENTRY(most_threads, least_blocks) \
    extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, most_threads))) void
#else
#define DEVICE static __device__ __forceinline__
#define SHARED __shared__
#define ENTRY(most_threads, least_blocks) extern "C" __global__ void __launch_bounds__(most_threads, least_blocks)
#endif

/* From Hopper on a kernel may be launched while the last one of its stream still finishes, so that starting it costs less (gpu.c asks for
 * that). Nothing may be read or written before this has returned: only then is what earlier kernels wrote there. Kernels with more blocks
 * than multiprocessors do not let the next one in before their blocks are done (let_next_kernel_in(), device_hopper.h): on an H200 that
 * costs 1.2 ns a block, one block after the other, and gains nothing. */
DEVICE void await_earlier_kernels()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* KERNEL(256, 2, softmax, softmax_params) { ... p.rows ... }: at most 256 threads a block, registers for at least 2 blocks on a
 * multiprocessor. */
#define KERNEL(most_threads, least_blocks, name, params) \
    DEVICE void name##_body(const params &p);            \
    ENTRY(most_threads, least_blocks) name(params p)     \
    {                                                    \
        await_earlier_kernels();                         \
        name##_body(p);                                  \
    }                                                    \
    DEVICE void name##_body(const params &p)

/* ------------------------------------------------------------------------------------------------------------
 * Where a thread is. Blocks are one-dimensional; grids may have three axes.
 * ------------------------------------------------------------------------------------------------------------ */

#if TKI_HIP
#if defined(__GFX9__)
enum { warp_lanes = 64 };
#else
enum { warp_lanes = 32 };
#endif
DEVICE unsigned thread_index()
{
    return __builtin_amdgcn_workitem_id_x();
}
DEVICE unsigned thread_count()
{
    return __builtin_amdgcn_workgroup_size_x();
}
DEVICE unsigned block_index()
{
    return __builtin_amdgcn_workgroup_id_x();
}
DEVICE unsigned block_index_y()
{
    return __builtin_amdgcn_workgroup_id_y();
}
DEVICE unsigned block_count()
{
    return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
}
#else
enum { warp_lanes = 32 };
DEVICE unsigned thread_index()
{
    return threadIdx.x;
}
DEVICE unsigned thread_count()
{
    return blockDim.x;
}
DEVICE unsigned block_index()
{
    return blockIdx.x;
}
DEVICE unsigned block_index_y()
{
    return blockIdx.y;
}
DEVICE unsigned block_count()
{
    return gridDim.x;
}
#endif
DEVICE unsigned lane_index()
{
    return thread_index() % warp_lanes;
}
DEVICE unsigned warp_index()
{
    return thread_index() / warp_lanes;
}

/* ------------------------------------------------------------------------------------------------------------
 * Barriers, shuffles, votes, atomics
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE void block_barrier()
{
#if TKI_HIP
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#else
    __syncthreads();
#endif
}

/* Orders a warp's own accesses to shared memory. */
DEVICE void warp_barrier()
{
#if TKI_HIP
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
#else
    __syncwarp();
#endif
}

#if TKI_HIP
DEVICE uint32_t bits_of(float value)
{
    return __builtin_bit_cast(uint32_t, value);
}
DEVICE float float_of(uint32_t bits)
{
    return __builtin_bit_cast(float, bits);
}
#else
DEVICE uint32_t bits_of(float value)
{
    return __float_as_uint(value);
}
DEVICE float float_of(uint32_t bits)
{
    return __uint_as_float(bits);
}
#endif

/* The lower word of high:low shifted down by `bits` < 32. */
DEVICE uint32_t funnel_shift(uint32_t low, uint32_t high, unsigned bits)
{
#if TKI_HIP
    return __builtin_amdgcn_alignbit(high, low, bits);
#else
    return __funnelshift_r(low, high, bits);
#endif
}

/* Hides where a word comes from: what is made of it afterwards is computed again rather than kept in registers. Only in grids
 * without a second axis: the index along it is a zero that the assembler does not know. */
DEVICE void forget_origin(uint32_t &word)
{
#if TKI_HIP
    asm volatile("" : "+v"(word));
#else
    word ^= blockIdx.y;
#endif
}

/* An address that is not computed again from what it is made of. */
template <class type> DEVICE type *hold_address(type *address)
{
#if TKI_HIP
    asm volatile("" : "+v"(address));
#else
    asm volatile("" : "+l"(address));
#endif
    return address;
}

/* The value of lane `lane`. All lanes of the warp take part in every shuffle and vote. */
DEVICE uint32_t shuffle_u32(uint32_t value, unsigned lane)
{
#if TKI_HIP
    return (uint32_t)__builtin_amdgcn_ds_bpermute((int)(lane * 4), (int)value);
#else
    return __shfl_sync(0xffffffffu, value, (int)lane);
#endif
}

DEVICE float shuffle(float value, unsigned lane)
{
    return float_of(shuffle_u32(bits_of(value), lane));
}

DEVICE float shuffle_xor(float value, unsigned mask)
{
#if TKI_HIP
    return shuffle(value, lane_index() ^ mask);
#else
    return __shfl_xor_sync(0xffffffffu, value, (int)mask);
#endif
}

/* The lanes for which `condition` holds, one bit each. */
DEVICE uint64_t warp_vote(bool condition)
{
#if TKI_HIP
#if defined(__GFX9__)
    return __builtin_amdgcn_ballot_w64(condition);
#else
    return __builtin_amdgcn_ballot_w32(condition);
#endif
#else
    return __ballot_sync(0xffffffffu, condition);
#endif
}

DEVICE unsigned count_bits(uint64_t bits)
{
#if TKI_HIP
    return (unsigned)__builtin_popcountll(bits);
#else
    return (unsigned)__popcll(bits);
#endif
}

/* -1 if none is set. */
DEVICE int lowest_bit(uint64_t bits)
{
#if TKI_HIP
    return __builtin_ffsll((long long)bits) - 1;
#else
    return __ffsll((long long)bits) - 1;
#endif
}

DEVICE uint32_t atomic_add(uint32_t *place, uint32_t value)
{
#if TKI_HIP
    return __hip_atomic_fetch_add(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    return atomicAdd(place, value);
#endif
}

/* `place` becomes the smallest of its value and `value`. */
DEVICE void atomic_least(uint64_t *place, uint64_t value)
{
#if TKI_HIP
    __hip_atomic_fetch_min(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    atomicMin((unsigned long long *)place, (unsigned long long)value);
#endif
}

/* Index errors: the word starts as all ones, and the host reads it at the next synchronisation. */
DEVICE void report_bad_index(uint64_t *fault_word, int64_t position)
{
    atomic_least(fault_word, (uint64_t)position);
}

/* ------------------------------------------------------------------------------------------------------------
 * Memory: 16 bytes at a time. "Once": data that nobody reads again soon; it need not stay in the caches.
 * ------------------------------------------------------------------------------------------------------------ */

struct alignas(16) vector16 {
    uint32_t word[4];
};

DEVICE vector16 load16(const void *from)
{
#if TKI_HIP
    typedef uint32_t words __attribute__((ext_vector_type(4)));
    words w = *(const words *)from;
    return {{w.x, w.y, w.z, w.w}};
#else
    vector16 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(from));
    return v;
#endif
}

/* Only for memory that nothing writes while the kernel runs. Where one thread has several loads of a stream in flight this was measured 5 to
 * 9 percent slower than load16(); where rows are gathered, a tenth faster. */
DEVICE vector16 load16_once(const void *from)
{
#if TKI_HIP
    typedef uint32_t words __attribute__((ext_vector_type(4)));
    words w = __builtin_nontemporal_load((const words *)from);
    return {{w.x, w.y, w.z, w.w}};
#else
    vector16 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(from));
    return v;
#endif
}

/* For rows that are read while others are written: what was written leaves the L2 cache before what was read. Worth 1 to 4 percent of the
 * time of such kernels, and costs one that reads their result 1 microsecond or two, since less of it is still cached. */
#if !TKI_HIP
DEVICE uint64_t policy_read_first()
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
#endif

DEVICE vector16 load16_first(const void *from)
{
#if TKI_HIP
    return load16(from);
#else
    vector16 v;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(from), "l"(policy_read_first()));
    return v;
#endif
}

DEVICE void store16(void *to, vector16 v)
{
#if TKI_HIP
    typedef uint32_t words __attribute__((ext_vector_type(4)));
    *(words *)to = words{v.word[0], v.word[1], v.word[2], v.word[3]};
#else
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.word[0]), "r"(v.word[1]), "r"(v.word[2]),
                 "r"(v.word[3])
                 : "memory");
#endif
}

DEVICE void store16_once(void *to, vector16 v)
{
#if TKI_HIP
    typedef uint32_t words __attribute__((ext_vector_type(4)));
    __builtin_nontemporal_store(words{v.word[0], v.word[1], v.word[2], v.word[3]}, (words *)to);
#else
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.word[0]), "r"(v.word[1]),
                 "r"(v.word[2]), "r"(v.word[3])
                 : "memory");
#endif
}

DEVICE void store8(void *to, uint32_t low, uint32_t high)
{
#if TKI_HIP
    typedef uint32_t words __attribute__((ext_vector_type(2)));
    *(words *)to = words{low, high};
#else
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(low), "r"(high) : "memory");
#endif
}

/* ------------------------------------------------------------------------------------------------------------
 * The element type: its bits in memory, fp32 in registers
 * ------------------------------------------------------------------------------------------------------------ */

#ifndef TKI_RESULT_DTYPE
#define TKI_RESULT_DTYPE TKI_DTYPE
#endif

#if TKI_DTYPE == 2
typedef uint32_t element;

DEVICE float from_element(element bits)
{
    return float_of(bits);
}
DEVICE element to_element(float value)
{
    return bits_of(value);
}
#else /* 16 bits; two neighbours are a pair in one word */
typedef uint16_t element;

struct float_pair {
    float low, high;
};

#if TKI_DTYPE == 1
DEVICE float from_element(element bits)
{
    return float_of((uint32_t)bits << 16);
}
DEVICE float_pair from_pair(uint32_t bits)
{
    return {float_of(bits << 16), float_of(bits & 0xffff0000u)};
}
#elif TKI_HIP
DEVICE float from_element(element bits)
{
    return (float)__builtin_bit_cast(_Float16, bits);
}
DEVICE float_pair from_pair(uint32_t bits)
{
    return {from_element((element)(bits & 0xffff)), from_element((element)(bits >> 16))};
}
#else
DEVICE float from_element(element bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
DEVICE float_pair from_pair(uint32_t bits)
{
    return {from_element((element)(bits & 0xffff)), from_element((element)(bits >> 16))};
}
#endif

/* To nearest, ties to even; overflow gives infinity; a NaN stays one. */
#if TKI_DTYPE == 1 && TKI_HIP
DEVICE element to_element(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (element)(value == value ? rounded : 0x7fff);
}
DEVICE uint32_t to_pair(float low, float high)
{
    return to_element(low) | (uint32_t)to_element(high) << 16;
}
#elif TKI_DTYPE == 1
DEVICE element to_element(float value)
{
    element bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
DEVICE uint32_t to_pair(float low, float high)
{
    uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}
#elif TKI_HIP
DEVICE element to_element(float value)
{
    return __builtin_bit_cast(element, (_Float16)value);
}
DEVICE uint32_t to_pair(float low, float high)
{
    return to_element(low) | (uint32_t)to_element(high) << 16;
}
#else
DEVICE element to_element(float value)
{
    element bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
DEVICE uint32_t to_pair(float low, float high)
{
    uint32_t bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}
#endif

/* The larger of two pairs of elements, each beside its own; a NaN beside a number is not seen. */
DEVICE uint32_t larger_pair(uint32_t a, uint32_t b)
{
#if TKI_HIP && TKI_DTYPE == 1
    float_pair x = from_pair(a), y = from_pair(b);
    return bits_of(__builtin_fmaxf(x.low, y.low)) >> 16 | (bits_of(__builtin_fmaxf(x.high, y.high)) & 0xffff0000u);
#elif TKI_HIP
    typedef _Float16 halves __attribute__((ext_vector_type(2)));
    return __builtin_bit_cast(
        uint32_t, __builtin_elementwise_max(__builtin_bit_cast(halves, a), __builtin_bit_cast(halves, b)));
#else
    uint32_t pair;
#if TKI_DTYPE == 1
    asm("max.bf16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
#else
    asm("max.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
#endif
    return pair;
#endif
}

/* All bits of a half set where the two elements are equal; a NaN equals nothing. */
DEVICE uint32_t equal_pair(uint32_t a, uint32_t b)
{
#if TKI_HIP || (TKI_DTYPE == 1 && __CUDA_ARCH__ < 900)
    float_pair x = from_pair(a), y = from_pair(b);
    return (x.low == y.low ? 0xffffu : 0u) | (x.high == y.high ? 0xffff0000u : 0u);
#else
    uint32_t mask;
#if TKI_DTYPE == 1
    asm("set.eq.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
#else
    asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
#endif
    return mask;
#endif
}

#endif /* 16 bits */

/* The elements of a word, in order: one of fp32, or a pair. */
enum { word_elements = sizeof(uint32_t) / sizeof(element), vector_elements = 4 * word_elements };

DEVICE void from_word(uint32_t word, float values[word_elements])
{
#if TKI_DTYPE == 2
    values[0] = float_of(word);
#else
    float_pair pair = from_pair(word);
    values[0] = pair.low;
    values[1] = pair.high;
#endif
}

DEVICE uint32_t to_word(const float values[word_elements])
{
#if TKI_DTYPE == 2
    return bits_of(values[0]);
#else
    return to_pair(values[0], values[1]);
#endif
}

/* What results are stored as. */
#if TKI_RESULT_DTYPE == TKI_DTYPE
typedef element result_element;

DEVICE result_element to_result(float value)
{
    return to_element(value);
}
#else
typedef float result_element;

DEVICE result_element to_result(float value)
{
    return value;
}
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Arithmetic
 * ------------------------------------------------------------------------------------------------------------ */

/* float_infinity() and the like: no <math.h> here. */
DEVICE float float_infinity()
{
    return float_of(0x7f800000u);
}
DEVICE float float_nan()
{
    return float_of(0x7fffffffu);
}

#if TKI_HIP
DEVICE float fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
DEVICE float abs_f32(float a)
{
    return __builtin_fabsf(a);
}
/* The larger; a NaN beside a number is not seen. */
DEVICE float larger(float a, float b)
{
    return __builtin_fmaxf(a, b);
}
DEVICE float smaller(float a, float b)
{
    return __builtin_fminf(a, b);
}
/* 2^x within 2 ulp; a result below 2^-126 becomes 0. */
DEVICE float exp2_flush(float x)
{
    return __builtin_amdgcn_exp2f(x);
}
/* 2^x for x <= 0, within 2 ulp down to 2^-126 and 4 ulp below; no subnormal result is flushed. */
DEVICE float exp2_gradual(float x)
{
    return __builtin_exp2f(x);
}
/* 1/x within 1 ulp; a subnormal x counts as 0 and a subnormal result becomes 0. */
DEVICE float reciprocal_flush(float x)
{
    return __builtin_amdgcn_rcpf(x);
}
#else
DEVICE float fma_f32(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
DEVICE float abs_f32(float a)
{
    return fabsf(a);
}
/* The larger; a NaN beside a number is not seen. */
DEVICE float larger(float a, float b)
{
    return fmaxf(a, b);
}
DEVICE float smaller(float a, float b)
{
    return fminf(a, b);
}
/* 2^x within 2 ulp; a result below 2^-126 becomes 0. */
DEVICE float exp2_flush(float x)
{
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}
/* 2^x for x <= 0, within 2 ulp down to 2^-126 and 4 ulp below; no subnormal result is flushed. */
DEVICE float exp2_gradual(float x)
{
    float value;
    asm("ex2.approx.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}
/* 1/x within 1 ulp; a subnormal x counts as 0 and a subnormal result becomes 0. */
DEVICE float reciprocal_flush(float x)
{
    float value;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}
#endif

#endif
