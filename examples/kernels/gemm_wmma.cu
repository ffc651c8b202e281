/* gemm on tensor cores, the plain way: a warp to a tile of 16 x 16, fp32 accumulators. Tiles are padded with zeros in shared memory, so that any
 * shape and alignment will do. Tensor cores do not add as fp32 arithmetic does: it holds under --numerics tensor_core. */
#include <mma.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <tokitai_kernel.h>

enum { TILE = 16, LANES = 32, MOST_BLOCKS = 1 << 20 };

template <typename T> static __device__ T nothing();
template <> __device__ __half nothing<__half>()
{
    return __ushort_as_half(0);
}
template <> __device__ __nv_bfloat16 nothing<__nv_bfloat16>()
{
    return __ushort_as_bfloat16(0);
}

static __device__ void store(__half *to, float value)
{
    *to = __float2half_rn(value);
}

static __device__ void store(__nv_bfloat16 *to, float value)
{
    *to = __float2bfloat16_rn(value);
}

/* The part of a matrix of rows x cols that begins at (row, col). */
template <typename T>
static __device__ void load_tile(T *tile, const T *matrix, int64_t rows, int64_t cols, int64_t row, int64_t col)
{
    for (int i = threadIdx.x; i < TILE * TILE; i += LANES) {
        const int64_t r = row + i / TILE, c = col + i % TILE;
        tile[i] = r < rows && c < cols ? matrix[r * cols + c] : nothing<T>();
    }
}

template <typename T>
static __global__ void gemm_kernel(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) T a_tile[TILE * TILE], b_tile[TILE * TILE];
    __shared__ __align__(32) float c_tile[TILE * TILE];
    const int64_t across = (n + TILE - 1) / TILE, tiles = across * ((m + TILE - 1) / TILE);
    for (int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
        const int64_t row = at / across * TILE, col = at % across * TILE;
        fragment<accumulator, TILE, TILE, TILE, float> sum;
        fill_fragment(sum, 0.0f);
        for (int64_t t = 0; t < k; t += TILE) {
            fragment<matrix_a, TILE, TILE, TILE, T, row_major> left;
            fragment<matrix_b, TILE, TILE, TILE, T, row_major> right;
            load_tile(a_tile, a, m, k, row, t);
            load_tile(b_tile, b, k, n, t, col);
            __syncwarp();
            load_matrix_sync(left, a_tile, TILE);
            load_matrix_sync(right, b_tile, TILE);
            __syncwarp();
            mma_sync(sum, left, right, sum);
        }
        store_matrix_sync(c_tile, sum, TILE, mem_row_major);
        __syncwarp();
        for (int i = threadIdx.x; i < TILE * TILE; i += LANES)
            if (row + i / TILE < m && col + i % TILE < n)
                store(&c[(row + i / TILE) * n + col + i % TILE], c_tile[i]);
        __syncwarp();
    }
}

int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    if (m == 0 || n == 0)
        return 0;
    const int64_t tiles = ((m + TILE - 1) / TILE) * ((n + TILE - 1) / TILE);
    const unsigned blocks = tiles < MOST_BLOCKS ? (unsigned)tiles : MOST_BLOCKS;
    const cudaStream_t stream = (cudaStream_t)call->stream;
    if (call->dtype == TOKITAI_F16)
        gemm_kernel<<<blocks, LANES, 0, stream>>>(m, n, k, (const __half *)a, (const __half *)b, (__half *)c);
    else
        gemm_kernel<<<blocks, LANES, 0, stream>>>(m, n, k, (const __nv_bfloat16 *)a, (const __nv_bfloat16 *)b,
                                                  (__nv_bfloat16 *)c);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
