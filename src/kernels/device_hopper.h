/* What Hopper has and no other device: clusters of blocks, barriers in shared memory that count bytes, the engine that copies boxes of
 * tensors, and the matrix units that take their factors from shared memory. CUDA only, compiled for sm_90a. */
#ifndef TKI_KERNELS_DEVICE_HOPPER_H
#define TKI_KERNELS_DEVICE_HOPPER_H

#include "kernels/device.h"

/* ------------------------------------------------------------------------------------------------------------
 * Clusters
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE unsigned cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE unsigned cluster_blocks()
{
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

/* Each arrival is followed by a wait, or by the end of the thread. */
DEVICE void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

DEVICE void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* All threads of all blocks; what they wrote before is seen by all after. Threads of a warp may come one by one. */
DEVICE void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

DEVICE uint32_t shared_address(const void *place)
{
    return (uint32_t)__cvta_generic_to_shared(place);
}

/* Where block `rank` has what lies at `address` here. */
DEVICE uint32_t cluster_address(uint32_t address, unsigned rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

/* ------------------------------------------------------------------------------------------------------------
 * Barriers in shared memory. A phase ends when all arrivals have come and all bytes that they announced; bytes may come before
 * their announcement.
 * ------------------------------------------------------------------------------------------------------------ */

DEVICE void barrier_create(uint32_t barrier, unsigned arrivals = 1)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* Lets the other blocks and the copies find barriers that were created. */
DEVICE void barrier_publish()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Arrives, and announces bytes. */
DEVICE void barrier_announce(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

DEVICE void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* At the same barrier of block `rank`. It does not release this thread's writes: that would put a fence of the whole device into
 * every step of a product. Only for saying that shared memory has been read. */
DEVICE void barrier_arrive_there(uint32_t barrier, unsigned rank)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address(barrier, rank)) : "memory");
}

/* For the end of the phase with this parity: 0 for the first, and with it what this block's copies have brought. */
DEVICE void barrier_wait(uint32_t barrier, uint32_t parity = 0)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

/* The same for what other blocks have written. */
DEVICE void barrier_wait_cluster(uint32_t barrier, uint32_t parity = 0)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

/* A word into a block of the cluster, counted by that block's barrier. */
DEVICE void cluster_send_word(uint32_t to, uint32_t word, uint32_t barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to), "r"(word),
                 "r"(barrier)
                 : "memory");
}

/* Some warps of a block: `threads` of them, by the same number. */
DEVICE void warps_barrier(int number, int threads)
{
    __syncwarp(); /* a warp arrives as one */
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Counts for such a barrier, and goes on. */
DEVICE void warps_arrive(int number, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* What this thread wrote into shared memory is seen by copies and matrix units that start after the next barrier. */
DEVICE void publish_to_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ------------------------------------------------------------------------------------------------------------
 * Registers and kernels that follow each other
 * ------------------------------------------------------------------------------------------------------------ */

/* For all 4 warps of a group. */
template <int count> DEVICE void give_registers_up()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

template <int count> DEVICE void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/* The stream's next kernel may take multiprocessors as they fall free. It waits by itself for this one's end before it reads or
 * writes. Pays in kernels that have a block to a multiprocessor; costs 1.2 ns for each block. */
DEVICE void let_next_kernel_in()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* ------------------------------------------------------------------------------------------------------------
 * Boxes of tensors
 * ------------------------------------------------------------------------------------------------------------ */

/* Laid out by the driver; a kernel gets it in parameters that are __grid_constant__. */
struct alignas(64) tensor_map {
    uint64_t word[16];
};

DEVICE void prefetch_map(const tensor_map &map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/* The box at (x, y) into shared memory; x counts elements within a row. What lies outside the tensor becomes 0. */
DEVICE void load_box(uint32_t to, const tensor_map &map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(x), "r"(y)
                 : "memory");
}

/* The same into all blocks of the cluster whose bits are set, at the same place, each counted by its own barrier. */
DEVICE void load_box_to(uint16_t blocks, uint32_t to, const tensor_map &map, int x, int y, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
                 : "memory");
}

/* Of a tensor of three axes: (x, y) of its matrix z. What lies outside that matrix becomes 0. */
DEVICE void load_box_of(uint32_t to, const tensor_map &map, int x, int y, int z, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* What lies outside the tensor is not stored. */
DEVICE void store_box(const tensor_map &map, uint32_t from, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
                 "r"(from), "r"(x), "r"(y)
                 : "memory");
}

/* Into matrix z; what lies outside of it is not stored. */
DEVICE void store_box_into(const tensor_map &map, uint32_t from, int x, int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
                 "r"(from), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* Closes a group of this thread's stores. */
DEVICE void close_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until all but the last `left` groups have read their shared memory. */
template <int left> DEVICE void wait_stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}

/* Four 8 x 8 matrices of 16-bit elements, one row to each lane's address. */
DEVICE void store_matrices(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
                 "r"(d)
                 : "memory");
}

/* ------------------------------------------------------------------------------------------------------------
 * Matrix units: 4 warps multiply 64 x 16 by 16 x WIDTH, both in shared memory, and add to 64 x WIDTH in registers. Warp w has rows 16 w
 * to 16 w + 15; its lane l has, of every 8 columns j, columns 2 (l % 4) and the next of row l / 4 in sums [4 j] and [4 j + 1], of row
 * l / 4 + 8 in the next two.
 * ------------------------------------------------------------------------------------------------------------ */

/* Bytes of a line of a factor in shared memory: 64 elements, whose 16-byte pieces the copy engine permutes by the line's number. */
enum { line_bytes = 128, line_elements = 64, eight_lines = 8 * line_bytes };

/* Where a factor lies. Along the sum: a line for each row or column, 64 deep. Across it: a line for each place of the sum, 64 rows or
 * columns wide; `group` bytes further on are the next 64. */
template <bool across> DEVICE uint64_t factor_at(uint32_t address, uint32_t group)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(across ? group >> 4 : 1) << 16 |
           (uint64_t)(eight_lines >> 4) << 32 | (uint64_t)1 << 62;
}

/* What the next 16 places of the sum add to it. */
template <bool across> DEVICE constexpr uint32_t factor_step()
{
    return (across ? 16 * line_bytes : 16 * 2) >> 4;
}

/* clang-format off */ /* lists of registers */
#define TKI_SUMS_8(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), \
    "+f"(sum[i + 4]), "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define TKI_SUMS_32(i) TKI_SUMS_8(i), TKI_SUMS_8(i + 8), TKI_SUMS_8(i + 16), TKI_SUMS_8(i + 24)
#define TKI_SUMS_64 TKI_SUMS_32(0), TKI_SUMS_32(32)
#define TKI_SUMS_80 TKI_SUMS_64, TKI_SUMS_8(64), TKI_SUMS_8(72)
#define TKI_SUMS_128 TKI_SUMS_64, TKI_SUMS_32(64), TKI_SUMS_32(96)
#define TKI_NAMES_64 \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
    "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define TKI_NAMES_80 TKI_NAMES_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define TKI_NAMES_128 TKI_NAMES_80 \
    ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107," \
    "%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
/* clang-format on */

#if TKI_DTYPE == 1
#define TKI_WGMMA_TYPES "f32.bf16.bf16 "
#else
#define TKI_WGMMA_TYPES "f32.f16.f16 "
#endif
/* With the numbers of the operands behind the sums. */
#define TKI_WGMMA(width, count, left_operand, right_operand, keep, left_across_operand, right_across_operand)      \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " keep ", 0;\n\t"                                           \
                 "wgmma.mma_async.sync.aligned.m64n" #width "k16." TKI_WGMMA_TYPES "{" TKI_NAMES_##count           \
                 "}, " left_operand ", " right_operand ", p, 1, 1, " left_across_operand ", " right_across_operand \
                 ";\n\t}"                                                                                          \
                 : TKI_SUMS_##count                                                                                \
                 : "l"(left), "l"(right), "r"(keeps), "n"(left_across), "n"(right_across))

/* Issues the product; `keeps` is 0 where the sums begin with it. The registers are the units' own until finish_products(). */
template <bool left_across, bool right_across>
DEVICE void issue_product(float (&sum)[64], uint64_t left, uint64_t right, int keeps)
{
    TKI_WGMMA(128, 64, "%64", "%65", "%66", "%67", "%68");
}

template <bool left_across, bool right_across>
DEVICE void issue_product(float (&sum)[80], uint64_t left, uint64_t right, int keeps)
{
    TKI_WGMMA(160, 80, "%80", "%81", "%82", "%83", "%84");
}

template <bool left_across, bool right_across>
DEVICE void issue_product(float (&sum)[128], uint64_t left, uint64_t right, int keeps)
{
    TKI_WGMMA(256, 128, "%128", "%129", "%130", "%131", "%132");
}

/* The first 128 columns of a product that may have more. */
template <bool left_across, bool right_across, int count>
DEVICE void issue_narrow_product(float (&sum)[count], uint64_t left, uint64_t right, int keeps)
{
    TKI_WGMMA(128, 64, "%64", "%65", "%66", "%67", "%68");
}

/* Before the first product of a group: the registers are as the threads left them. */
DEVICE void begin_products()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void close_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until all but the last `left` groups are done. */
template <int left> DEVICE void finish_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/* Keeps the compiler from reading sums before finish_products(). */
DEVICE void hold_sums(float (&sum)[64])
{
    asm volatile("" : TKI_SUMS_64::"memory");
}

DEVICE void hold_sums(float (&sum)[80])
{
    asm volatile("" : TKI_SUMS_80::"memory");
}

DEVICE void hold_sums(float (&sum)[128])
{
    asm volatile("" : TKI_SUMS_128::"memory");
}

#endif
