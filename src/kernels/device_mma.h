/* Matrix units for device code: 16 x 16 x 16 products of 16-bit numbers with fp32 sums, by mma.sync (from sm_80), MFMA (gfx90a, gfx942)
 * and WMMA (gfx1100, gfx1101). A warp works as one on fragments, squares of 16 lines by 16 places along the sum, and on squares of
 * 16 x 16 sums. Every sum adds its 16 products by one instruction, so that a chain of
 * these is a sum in a fixed order. The lanes of MFMA and WMMA are as documented; nothing here has run on an AMD device. */
#ifndef TKI_KERNELS_DEVICE_MMA_H
#define TKI_KERNELS_DEVICE_MMA_H

#include "kernels/device.h"

/* A function of a struct. */
#if TKI_HIP
#define MEMBER __inline__ __attribute__((device, always_inline))
#else
#define MEMBER __device__ __forceinline__
#endif

#if TKI_HIP && (defined(__gfx90a__) || defined(__gfx942__))
#define TKI_MFMA 1
#else
#define TKI_MFMA 0
#endif

/* What a device affords: copies into shared memory that go on by themselves; loads that wait in registers while fragments are multiplied;
 * a second set of fragments, loaded meanwhile. And what one lane has: words of a fragment, sums of a square, and how many of these are
 * neighbours in a row. */
#if TKI_MFMA
enum { can_copy_async = 0, loads_wait = 0, fragment_sets = 2, fragment_words = 2, square_sums = 4, sum_run = 1 };
#elif TKI_HIP
enum { can_copy_async = 0, loads_wait = 0, fragment_sets = 1, fragment_words = 8, square_sums = 8, sum_run = 1 };
#else
enum { can_copy_async = 1, loads_wait = 1, fragment_sets = 2, fragment_words = 4, square_sums = 8, sum_run = 2 };
#endif

struct fragment {
    uint32_t word[fragment_words];
};

struct square {
    float sum[square_sums];
};

/* ------------------------------------------------------------------------------------------------------------
 * Where things lie
 * ------------------------------------------------------------------------------------------------------------ */

/* A panel in shared memory: rows of CHUNKS times 16 bytes, lines along the sum (ALONG) or places of it. The chunks of a row are exchanged
 * so that what the lanes of a warp read at once lies in different banks: along the sum, and for ldmatrix either way, a chunk of one number
 * in eight neighbouring rows; across it, for MFMA, two chunks in four rows four apart. Rows that
 * are rows_alike apart are exchanged alike. */
enum { rows_alike = TKI_HIP ? 16 : 8 };
template <bool ALONG, int CHUNKS> DEVICE int chunk_at(int row, int chunk)
{
    static_assert(CHUNKS % 4 == 0 && (CHUNKS & (CHUNKS - 1)) == 0, "");
    int exchange = CHUNKS == 4 ? row / 2 % 4 : row % 8;
    if (TKI_HIP && !ALONG)
        exchange = TKI_MFMA ? row / 4 % 4 * 2 : 0;
    return row * CHUNKS + (chunk ^ exchange);
}

/* The row and the column within the square of sum i of this lane. */
DEVICE int sum_row(int i)
{
    const int lane = (int)lane_index();
#if TKI_MFMA
    return lane / 16 * 4 + i;
#elif TKI_HIP
    return 2 * i + lane / 16;
#else
    return lane / 4 + i % 4 / 2 * 8;
#endif
}

DEVICE int sum_col(int i)
{
    const int lane = (int)lane_index();
#if TKI_HIP
    return (void)i, lane % 16;
#else
    return i / 4 * 8 + lane % 4 * 2 + i % 2;
#endif
}

/* ------------------------------------------------------------------------------------------------------------
 * Products
 * ------------------------------------------------------------------------------------------------------------ */

#if TKI_HIP
#if TKI_DTYPE == 0
typedef _Float16 unit_element;
#else
typedef short unit_element;
#endif
typedef unit_element unit_vector __attribute__((ext_vector_type(2 * fragment_words)));
typedef float unit_sums __attribute__((ext_vector_type(square_sums)));

/* sums += left right */
DEVICE void multiply_add(square &sums, const fragment &left, const fragment &right)
{
    const unit_vector a = __builtin_bit_cast(unit_vector, left), b = __builtin_bit_cast(unit_vector, right);
    unit_sums c = __builtin_bit_cast(unit_sums, sums);
#if TKI_MFMA && TKI_DTYPE == 0
    c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
#elif TKI_MFMA
    c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
#elif TKI_DTYPE == 0
    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
#else
    c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c);
#endif
    sums = __builtin_bit_cast(square, c);
}
#else
/* 16 x 8 sums: the instruction has half of a square. */
DEVICE void multiply_add_half(float *sum, const fragment &left, uint32_t first, uint32_t second)
{
#if TKI_DTYPE == 0
#define TKI_MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
#define TKI_MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#endif
    asm volatile(TKI_MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), "r"(first),
                   "r"(second));
#undef TKI_MMA
}

/* sums += left right */
DEVICE void multiply_add(square &sums, const fragment &left, const fragment &right)
{
    multiply_add_half(&sums.sum[0], left, right.word[0], right.word[1]);
    multiply_add_half(&sums.sum[4], left, right.word[2], right.word[3]);
}
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Fragments out of shared memory
 * ------------------------------------------------------------------------------------------------------------ */

/* What a warp reads of a panel of the left or the RIGHT factor, from line `first` on, a multiple of the lines that it reads. ALONG: the rows
 * of the panel are lines, else they are places along the sum. load() gives the 16 lines from 16 * block on at the places from 16 * step on. */
#if TKI_HIP
template <bool RIGHT, bool ALONG, int CHUNKS> struct fragment_reader {
    int first;

    MEMBER void begin(int first_line)
    {
        first = first_line;
    }

    MEMBER fragment load(const vector16 *panel, int block, int step) const
    {
        enum { RUN = 2 * fragment_words }; /* places that a lane has; of WMMA both halves of a warp have all 16 */
        const int lane = (int)lane_index();
        const int line = first + block * 16 + lane % 16;
        const int place = step * 16 + (RUN < 16 ? lane / 16 * RUN : 0);
        fragment f = {};
        if (ALONG) {
#pragma unroll
            for (int i = 0; i < fragment_words; i++)
                f.word[i] = panel[chunk_at<ALONG, CHUNKS>(line, (place + 2 * i) / 8)].word[(place / 2 + i) % 4];
        } else {
#pragma unroll
            for (int i = 0; i < RUN; i++) {
                const uint32_t pair = panel[chunk_at<ALONG, CHUNKS>(place + i, line / 8)].word[line % 8 / 2];
                f.word[i / 2] |= (pair >> 16 * (line % 2) & 0xffffu) << 16 * (i % 2);
            }
        }
        return f;
    }
};
#else
DEVICE uint32_t shared_address(const void *place)
{
    return (uint32_t)__cvta_generic_to_shared(place);
}

/* Four squares of 8 x 8, whose rows are named by eight lanes each. */
template <bool TRANSPOSED> DEVICE fragment load_squares(uint32_t row)
{
    fragment f;
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
                     : "r"(row)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
                     : "r"(row)
                     : "memory");
    return f;
}

template <bool RIGHT, bool ALONG, int CHUNKS> struct fragment_reader {
    uint32_t own; /* in bytes, where the row lies that this lane names of block 0 and step 0 */

    /* The squares, of left: lines 0 to 7 at places 0 to 7, lines 8 to 15 there, and both again at places 8 to 15. Of right: lines 0 to 7 at
     * places 0 to 7, the same lines at places 8 to 15, and lines 8 to 15 likewise: an instruction takes one half of the lines, in
     * neighbouring registers. */
    MEMBER void begin(int first_line)
    {
        const int lane = (int)lane_index();
        const int line_half = RIGHT ? lane / 16 : lane / 8 % 2, place_half = RIGHT ? lane / 8 % 2 : lane / 16;
        const int row = lane % 8 + (ALONG ? first_line + line_half * 8 : place_half * 8);
        const int chunk = ALONG ? place_half : first_line / 8 + line_half;
        own = (uint32_t)chunk_at<ALONG, CHUNKS>(row, chunk) * 16;
    }

    MEMBER fragment load(const vector16 *panel, int block, int step) const
    {
        /* Two chunks further within a row is an exclusive or, however its chunks are exchanged; 16 rows further they are exchanged alike. */
        const int chunks = 2 * (ALONG ? step : block), rows = 16 * (ALONG ? block : step);
        return load_squares<!ALONG>(shared_address(panel) + (own ^ (uint32_t)chunks * 16) +
                                    (uint32_t)(rows * CHUNKS) * 16);
    }
};
#endif

/* ------------------------------------------------------------------------------------------------------------
 * Copies into shared memory that go on while the thread computes, in groups
 * ------------------------------------------------------------------------------------------------------------ */

#if TKI_HIP
DEVICE void copy16_async(vector16 *, const void *, bool)
{
}
DEVICE void close_copies()
{
}
template <int MOST> DEVICE void await_copies()
{
}
#else
/* 16 bytes, or as many zeros if there is nothing to copy; `from` need not be readable then. */
DEVICE void copy16_async(vector16 *to, const void *from, bool exists)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(exists ? 16 : 0)
                 : "memory");
}

/* Ends this thread's group of copies, which may be empty. */
DEVICE void close_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until at most so many of this thread's groups, the last ones, are under way. A barrier makes the others visible to the block. */
template <int MOST> DEVICE void await_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(MOST) : "memory");
}
#endif

#endif
