/* What is compared of kernels' index maps and those of the proofs; see tie.py, which fills in the lines //@. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "proofs/index/traced.h"

/* -- The proofs' side --------------------------------------------------------------------------------------------- */

struct list {
    enum { MOST = 64 };
    Z item[MOST];
    unsigned count = 0;
    list(std::initializer_list<Z> items)
    {
        for (Z x : items)
            item[count++] = x;
    }
    bool has(Z x) const
    {
        for (unsigned i = 0; i < count; i++)
            if (item[i] == x)
                return true;
        return false;
    }
};

namespace coq {
inline Z divided(Z a, Z b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline Z remainder(Z a, Z b)
{
    return b == 0 ? a : a - divided(a, b) * b;
}
inline Z power(Z a, Z b)
{
    Z result = 1;
    for (; b > 0; b--)
        result *= a;
    return result;
}
inline Z Z_min(Z a, Z b)
{
    return a < b ? a : b;
}
inline Z Z_max(Z a, Z b)
{
    return a > b ? a : b;
}
inline Z Z_lxor(Z a, Z b)
{
    return a ^ b;
}
inline Z Z_land(Z a, Z b)
{
    return a & b;
}
inline Z Z_lor(Z a, Z b)
{
    return a | b;
}
inline Z Z_shiftr(Z a, Z b)
{
    return a >> (int)b;
}
inline Z Z_shiftl(Z a, Z b)
{
    return a * power(2, b);
}
inline bool negb(bool a)
{
    return !a;
}
//@proofs
} // namespace coq

/* -- Comparing ----------------------------------------------------------------------------------------------------- */

static uint64_t random_state = 20261116;

static uint64_t draw()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* From 0 up to before `count`. */
static long long draw_below(Z count)
{
    return (long long)(draw() % (uint64_t)count);
}

/* A size of up to `most`, of any magnitude, often beside a multiple of `tile`. */
static long long draw_size(long long most, long long tile)
{
    const long long bound = draw_below(4) == 0 ? most : 1LL << draw_below(32);
    long long size = 1 + draw_below(bound < most ? bound : most);
    if (draw_below(2))
        size = size / tile * tile + draw_below(3) - 1;
    return size < 1 ? 1 : size > most ? most : size;
}

static long long points, wanted_points = 20000;
static int failed_maps;

/* Agreement of one map; the first difference is told. */
struct map {
    const char *name;
    long long count = 0, wrong = 0;

    explicit map(const char *of) : name(of)
    {
    }
    void same(const char *what, Z kernel, Z proof, std::initializer_list<Z> at)
    {
        count++;
        if (kernel != proof && wrong++ == 0) {
            tell(what, kernel, at);
            printf("    and in the proof %lld\n", (long long)proof);
        }
    }
    void tell(const char *what, Z kernel, std::initializer_list<Z> at)
    {
        printf("FAILED %s: %s is in the kernel %lld, at", name, what, (long long)kernel);
        for (Z x : at)
            printf(" %lld", (long long)x);
        printf("\n");
    }
    /* What the kernel has computed since now.begin() fits its types, and the proof lists every value of 32 bits. */
    void on_the_way(const list &steps, std::initializer_list<Z> at)
    {
        same("wrapping", now.wrapped, 0, at);
        for (unsigned i = 0; i < now.count; i++) {
            count++;
            if (!steps.has(now.step[i]) && wrong++ == 0)
                tell("a value on the way, which no list of the proof has,", now.step[i], at);
        }
    }
    void fits(std::initializer_list<Z> at)
    {
        same("wrapping", now.wrapped, 0, at);
    }
    ~map()
    {
        printf("%-24s %10lld values%s\n", name, count, wrong ? ", DIFFERENT" : "");
        points += count;
        failed_maps += wrong > 0 || count == 0;
    }
};

/* -- The kernels' side --------------------------------------------------------------------------------------------- */

#define DEVICE static inline
#define MEMBER inline
typedef int plain_int;
typedef unsigned char plain_byte;
typedef char result_element;
enum { line_bytes = 128, LEFT_ACROSS = 0, RIGHT_ACROSS = 1 };

template <class P, class T> P *operator+(P *at, traced<T> places)
{
    return at + places.value;
}
template <class P, class T> P *&operator+=(P *&at, traced<T> places)
{
    return at = at + places.value;
}

template <class N> constexpr long long place_at(N n)
{
    if constexpr (is_traced<N>)
        return n.value;
    else
        return (long long)n;
}

static uint32_t given_thread, given_lanes = 32;

typedef traced<int> traced_int;
typedef traced<unsigned> traced_unsigned;
typedef traced<long long> traced_long;
#define int traced_int
#define unsigned traced_unsigned
#define int32_t traced_int
#define uint32_t traced_unsigned
#define int64_t traced_long

#include "ops/product/params.h"
#include "ops/product/params_hopper.h"

DEVICE unsigned thread_index()
{
    return given_thread;
}
DEVICE unsigned lane_index()
{
    return given_thread % given_lanes;
}

namespace hopper {
//@enumeration ops/product/kernel_hopper.h GROUP_THREADS
struct as_it_is {
    struct pair {
    };
};
//@region ops/product/kernel_hopper.h template <bool left_across_, ... };
//@region ops/product/kernel_hopper.h struct unit { ... };
//@region ops/product/kernel_hopper.h struct group { ... };
//@function ops/product/kernel_hopper.h unit_at

struct place {
    int row, col;
};

template <class F> static place bring_place(const unit &u, unsigned rank)
{
    enum { LINES = F::width / F::down };
    //@declaration ops/product/kernel_hopper.h bring row
    return {row, col};
}

template <class F> static place multiply_place(const unit &done, unsigned rank, const group &g)
{
    //@declaration ops/product/kernel_hopper.h multiply row
    //@declaration ops/product/kernel_hopper.h multiply col
    return {row, col};
}

static place store_place(const group &g, int first_row, int first_col)
{
    //@declaration ops/product/kernel_hopper.h store_sums row
    return {row, col};
}

/* What an epilogue reads for pair w from pair `begin` on, and where a part's rows begin that waits for others. */
static place fetch_place(const group &g, int begin, int w, int first_row, int first_col)
{
    tki_gemm_hopper_params p;
    //@declaration ops/product/kernel_hopper.h fetch_pairs row
    return {//=value ops/product/kernel_hopper.h fetch_pairs fetch 1
            , //=value ops/product/kernel_hopper.h fetch_pairs fetch 2
    };
}
static place joined_place(const tki_gemm_hopper_params &p, const group &g, int part, int first_row)
{
    //@declaration ops/product/kernel_hopper.h join_parts which
    //@declaration ops/product/kernel_hopper.h join_parts row
    return {row, which};
}

/* The registers whose sums are stored: `sum` says which one is asked for. */
struct register_numbers {
    float operator[](long long number) const
    {
        return (float)number;
    }
};
static float stored_register(int half, int i)
{
    const register_numbers sum;
    //@steps ops/product/kernel_hopper.h float value[2] = {sum[4 ... float value[2] = {sum[4
    return value[0];
}
static float finished_register(int begin, int w)
{
    const register_numbers sum;
    //@steps ops/product/kernel_hopper.h float value[2] = {sum[2 ... float value[2] = {sum[2
    return value[0];
}

static int64_t store_offset(const tki_gemm_hopper_params &p, int row, int col, int half, int i)
{
    //@declaration ops/product/kernel_hopper.h store_sums place
    return (int64_t)(long long)(//=value ops/product/kernel_hopper.h store_sums store_result_pair 0
    );
}
} // namespace hopper

/* Products with few tiles. */
static uint32_t given_block, given_address;
DEVICE unsigned block_index()
{
    return given_block;
}
namespace hopper {
template <bool left_across_, bool right_across_, plain_int groups_, plain_int stages_> struct few_form {
    enum { groups = groups_, rows = 64 * groups, width = TKI_GEMM_FEW_WIDTH, stages = stages_ };
};
//@region ops/product/kernel_hopper_few.h struct few_place { ... };
//@function ops/product/kernel_hopper_few.h rank_at

struct few_block {
    few_place me;
    int row, col, begin, end;
    unsigned rank;
};

template <class F> static few_block few_block_of(const tki_gemm_hopper_params &p, int blocks, int rank, int deep)
{
    //@declaration ops/product/kernel_hopper_few.h few_product me
    //@declaration ops/product/kernel_hopper_few.h few_product cluster
    //@declaration ops/product/kernel_hopper_few.h few_product row
    //@declaration ops/product/kernel_hopper_few.h few_product col
    //@declaration ops/product/kernel_hopper_few.h few_product begin
    return {me, row, col, begin, end, rank_at(me, me.stretch, me.tile)};
}

struct four_place {
    int line, place, fours;
};

template <class F> static four_place four_of(const few_place &me, int i)
{
    //@declaration ops/product/kernel_hopper_few.h add_and_store blocks
    const tki_gemm_hopper_params p = {};
    const int row = 0;
    //@declaration ops/product/kernel_hopper_few.h add_and_store fours
    //@declaration ops/product/kernel_hopper_few.h add_and_store line
    return {line, place, fours};
}

/* Parts, shared memory, copies. */
DEVICE uint32_t shared_address(const void *)
{
    return given_address;
}
//@region ops/product/kernel_hopper.h struct places { ... };
//@function ops/product/kernel_hopper.h places_of

template <class F> static uint32_t slot_of(int part, unsigned rank, const group &g)
{
    //@declaration ops/product/kernel_hopper.h join_parts slot
    return slot;
}

template <class F> static uint32_t slot_before(uint32_t slot, int before)
{
    //@declaration ops/product/kernel_hopper.h join_parts there
    return there;
}

template <class F> static int64_t four_at(int t, int first, int j)
{
    const char *from = nullptr; /* of so many fours */
    return (long long)(//=value ops/product/kernel_hopper.h join_parts __ldcg 0
    );
}

struct realign_place {
    uint32_t row, piece;
};

static realign_place realign_begin(uint32_t thread, uint32_t pieces)
{
    //@declaration ops/product/kernel_hopper.h realign row
    return {row, piece};
}

static realign_place realign_next(uint32_t threads, uint32_t pieces, uint32_t row, uint32_t piece)
{
    //@declaration ops/product/kernel_hopper.h realign row_step
    //@steps ops/product/kernel_hopper.h row += row_step; ... }
    return {row, piece};
}

static int64_t hand_first(int64_t i, int shift)
{
    //@declaration ops/product/kernel_hopper.h hand_over first
    return first;
}
} // namespace hopper

/* The lines and pieces of boxes of results. */
namespace boxes {
struct lanes {
    int index, thread, warp, lane;
};

static uint32_t line_of(const lanes &g)
{
    //@declaration ops/product/kernel_hopper.h store_box_of line
    return line;
}

static uint32_t piece_of(const lanes &g, int i)
{
    //@declaration ops/product/kernel_hopper.h store_box_of piece
    return piece;
}

template <class F> static uint32_t place_of(uint32_t line, uint32_t piece)
{
    //@declaration ops/product/kernel_hopper.h store_box_of place
    return place;
}

static uint32_t place_in_group(uint32_t line, uint32_t piece)
{
    const uint32_t to = 0;
    return //=value ops/product/kernel_hopper_grouped.h store_box_of_group store_matrices 0
        ;
}

template <plain_int cols> struct of {
    enum { box_cols = cols };
};
} // namespace boxes

/* kernel_tiles.h for elements of 16 bits and of 32. What a thread brings are numbers, which are to be found again. */
typedef char element;
struct quad {
    float value[4];
};
struct vector16 {
    unsigned word[4];
};
DEVICE void from_word(uint32_t word, float *value)
{
    value[0] = (float)(word.value & 65535);
    if (word.value >> 16)
        value[1] = (float)(word.value >> 16);
}
namespace tiles_16 {
enum { PIECE = 8, DEPTH = 2 * PIECE, word_elements = 2 };
//@region ops/product/kernel_tiles.h struct piece { ... };
//@function ops/product/kernel_tiles.h swapped
//@function ops/product/kernel_tiles.h piece_of
//@function ops/product/kernel_tiles.h stash
template <plain_int TILE> static float read_left(const quad (*left)[DEPTH][TILE / 4], plain_int down, plain_int d, plain_int sum)
{
    enum { HALF = TILE / 2 };
    const int stage = 0;
    quad a[2];
    plain_int i = sum / 4;
    //@assignment ops/product/kernel_tiles.h multiply_tile a[i]
    i = sum;
    return //=value ops/product/kernel_tiles.h multiply_tile fma_f32 0
        ;
}
template <plain_int TILE> static float read_right(const quad (*right)[DEPTH][TILE / 4], plain_int across, plain_int d, plain_int sum)
{
    enum { HALF = TILE / 2 };
    const int stage = 0;
    quad b[2];
    plain_int j = sum / 4;
    //@assignment ops/product/kernel_tiles.h multiply_tile b[j]
    j = sum;
    return //=value ops/product/kernel_tiles.h multiply_tile fma_f32 1
        ;
}
} // namespace tiles_16
namespace tiles_32 {
enum { PIECE = 4, DEPTH = 2 * PIECE, word_elements = 1 };
//@region ops/product/kernel_tiles.h struct piece { ... };
//@function ops/product/kernel_tiles.h swapped
//@function ops/product/kernel_tiles.h piece_of
//@function ops/product/kernel_tiles.h stash
template <plain_int TILE> static float read_left(const quad (*left)[DEPTH][TILE / 4], plain_int down, plain_int d, plain_int sum)
{
    enum { HALF = TILE / 2 };
    const int stage = 0;
    quad a[2];
    plain_int i = sum / 4;
    //@assignment ops/product/kernel_tiles.h multiply_tile a[i]
    i = sum;
    return //=value ops/product/kernel_tiles.h multiply_tile fma_f32 0
        ;
}
template <plain_int TILE> static float read_right(const quad (*right)[DEPTH][TILE / 4], plain_int across, plain_int d, plain_int sum)
{
    enum { HALF = TILE / 2 };
    const int stage = 0;
    quad b[2];
    plain_int j = sum / 4;
    //@assignment ops/product/kernel_tiles.h multiply_tile b[j]
    j = sum;
    return //=value ops/product/kernel_tiles.h multiply_tile fma_f32 1
        ;
}
} // namespace tiles_32

namespace tiles {
enum { ROWS = 8, ACROSS = 16 };
struct place {
    int64_t row, col;
};

static int down_of(int t)
{
    //@declaration ops/product/kernel_tiles.h multiply_tile down
    return down;
}

static int across_of(int t)
{
    //@declaration ops/product/kernel_tiles.h multiply_tile across
    return across;
}

template <plain_int TILE> static place place_of(int64_t first_row, int64_t first_col, int t, int i, int j)
{
    enum { HALF = TILE / 2 };
    const int down = down_of(t), across = across_of(t);
    //@declaration ops/product/kernel_tiles.h multiply_tile row
    //@declaration ops/product/kernel_tiles.h multiply_tile col
    return {row, col};
}

template <plain_int TILE> static place tile_of(const tki_gemm_params &p, int64_t tile, int64_t *count)
{
    //@declaration ops/product/kernel_gemm.cu multiply tiles_across
    //@declaration ops/product/kernel_gemm.cu multiply tiles
    *count = tiles;
    return {//=value ops/product/kernel_gemm.cu multiply multiply_tile 1
            , //=value ops/product/kernel_gemm.cu multiply multiply_tile 2
    };
}

static place layer_tile_of(const tki_gemm_params &p, int64_t tile, int64_t *count)
{
    enum { TKI_LINEAR_TILE = 64 };
    //@declaration ops/product/kernel_linear.cu layer tiles_across
    //@declaration ops/product/kernel_linear.cu layer tiles
    *count = tiles;
    return {//=value ops/product/kernel_linear.cu layer multiply_tile 1
            , //=value ops/product/kernel_linear.cu layer multiply_tile 2
    };
}
} // namespace tiles

/* Matrix units, by device. */
enum { vector_elements = 8 };
#define private public
#define warp_lanes 32
static bool waits_in_registers;
DEVICE vector16 load16(const void *)
{
    return {};
}
DEVICE void copy16_async(vector16 *, const void *, bool)
{
}
DEVICE const element *hold_address(const element *at)
{
    return at;
}
#define TKI_HIP 0
#define TKI_MFMA 0
namespace cuda {
enum { can_copy_async = 1, loads_wait = 1 };
//@enumeration kernels/device_mma.h rows_alike
//@function kernels/device_mma.h chunk_at
//@function kernels/device_mma.h sum_row
//@function kernels/device_mma.h sum_col
enum { PIECE = 8 };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH> struct panel_shape ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int DEPTH> struct source ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH, int THREADS> struct piece_feed ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH, int THREADS> struct pair_feed ... };
} // namespace cuda
#undef TKI_HIP
#define TKI_HIP 1
namespace wmma {
enum { can_copy_async = 0, loads_wait = 0 };
//@enumeration kernels/device_mma.h rows_alike
//@function kernels/device_mma.h chunk_at
//@function kernels/device_mma.h sum_row
//@function kernels/device_mma.h sum_col
enum { PIECE = 8 };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH> struct panel_shape ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int DEPTH> struct source ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH, int THREADS> struct piece_feed ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH, int THREADS> struct pair_feed ... };
} // namespace wmma
#undef TKI_MFMA
#define TKI_MFMA 1
namespace mfma {
enum { can_copy_async = 0, loads_wait = 0 };
//@enumeration kernels/device_mma.h rows_alike
//@function kernels/device_mma.h chunk_at
//@function kernels/device_mma.h sum_row
//@function kernels/device_mma.h sum_col
enum { PIECE = 8 };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH> struct panel_shape ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int DEPTH> struct source ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH, int THREADS> struct piece_feed ... };
//@region ops/product/kernel_tensor.cu template <bool ALONG, int LINES, int DEPTH, int THREADS> struct pair_feed ... };
} // namespace mfma

#include "ops/product/params_hopper_grouped.h"
namespace grouped {
using hopper::DEPTH;
using hopper::ROWS;
//@enumeration ops/product/kernel_hopper_grouped.h BAND
//@function ops/product/kernel_groups.h begin_of
//@function ops/product/kernel_groups.h end_of
//@function ops/product/kernel_groups.h group_with
//@region ops/product/kernel_hopper_grouped.h struct task { ... };
//@function ops/product/kernel_hopper_grouped.h task_count
//@function ops/product/kernel_hopper_grouped.h is_narrow
//@function ops/product/kernel_hopper_grouped.h task_at

static int64_t middle_of(int64_t low, int64_t high)
{
    //@declaration ops/product/kernel_groups.h group_with middle
    return middle;
}

static int64_t tiles_of(const tki_grouped_groups &p, int64_t i)
{
    int64_t tiles;
    //@assignment ops/product/kernel_groups.h find_groups tiles
    return tiles;
}

/* kernel.cu: the line of a tile, its group and where it begins. */
struct any_tile {
    int64_t line, group, row, col;
};

static any_tile any_tile_at(const tki_grouped_params &p, int64_t tile, int64_t across, int64_t down)
{
    enum { TILE = TKI_GROUPED_TILE };
    int64_t first_row, first_col;
    //@declaration ops/product/kernel_grouped.cu multiply_groups line
    //@declaration ops/product/kernel_grouped.cu multiply_groups group
    //@assignment ops/product/kernel_grouped.cu multiply_groups first_row
    //@assignment ops/product/kernel_grouped.cu multiply_groups first_col
    return {line, group, first_row, first_col};
}
} // namespace grouped

/* Rows in registers. */
namespace rows {
static int given_shift;
struct tensor_row {
    int64_t cols;
};
struct team {
    unsigned member, members;
};
DEVICE unsigned team_member(const team &t)
{
    return t.member;
}
DEVICE unsigned team_members(const team &t)
{
    return t.members;
}
DEVICE const element *first_of(const tensor_row &)
{
    return nullptr;
}
DEVICE int shift_of(const element *)
{
    return given_shift;
}
static unsigned given_rank, given_cluster, given_threads;
DEVICE unsigned cluster_rank()
{
    return given_rank;
}
DEVICE unsigned cluster_blocks()
{
    return given_cluster;
}
DEVICE unsigned thread_count()
{
    return given_threads;
}
struct cluster_team {
};
//@region kernels/device_rows.h struct row_part { ... };
//@region kernels/device_rows.h struct row_span { ... };
//@region kernels/device_rows.h struct places { ... };
template <plain_int columns> struct of {
    enum { pack_columns = columns };
    //@function kernels/device_rows.h span_of
    //@function kernels/device_rows.h span_has
    //@function kernels/device_rows.h places_of
    //@function kernels/device_cluster.h stretch_packs
    //@function kernels/device_cluster.h part_of
};
} // namespace rows

#include "ops/embedding/params.h"
namespace embedding {
typedef tki_embedding_gpu_params params;
typedef tki_embedding_hit hit;
typedef tki_embedding_range range;
enum { RUN = TKI_EMBEDDING_HITS_IN_RUN };
static unsigned given_threads, given_blocks, given_y;
DEVICE unsigned thread_count()
{
    return given_threads;
}
DEVICE unsigned block_count()
{
    return given_blocks;
}
DEVICE unsigned block_index_y()
{
    return given_y;
}
//@function ops/embedding/kernel.cu least
//@region ops/embedding/kernel.cu struct group { ... };
//@function ops/embedding/kernel.cu this_group
//@function ops/embedding/kernel.cu run_at

struct unit_loop {
    int64_t first, step;
};

template <plain_int count> static unit_loop gather_loop(const params &p, const group &g)
{
    //@declaration ops/embedding/kernel.cu gather tile
    return {//=first ops/embedding/kernel.cu gather unit
            , //=step ops/embedding/kernel.cu gather unit
    };
}

template <plain_int count> static unit_loop sum_loop(const params &p, const group &g)
{
    //@declaration ops/embedding/kernel.cu sum_rows tile
    return {//=first ops/embedding/kernel.cu sum_rows unit
            , //=step ops/embedding/kernel.cu sum_rows unit
    };
}

template <plain_int count> static unit_loop few_loop(const params &p, const group &g)
{
    //@declaration ops/embedding/kernel.cu sum_few tile
    return {//=first ops/embedding/kernel.cu sum_few unit
            , //=step ops/embedding/kernel.cu sum_few unit
    };
}

/* In rows of one column, so that a place is a window's. */
static int64_t later_place(const params &p, const range &hits, int64_t run)
{
    const int64_t column = 0;
    //@declaration ops/embedding/kernel.cu embedding_bwd_combine later
    return (long long)(later - p.partials) + run * 2 * p.dim;
}
} // namespace embedding

/* The CPU, for each instruction set's vectors. */
#define TKI_INLINE static inline
template <plain_int VEC, plain_int VEC_REGISTERS> struct cpu {
    //@enumeration kernels/cpu_product.h STRIP_ROWS
    struct tile {
        int64_t row, col, rows, cols;
    };
    struct sizes {
        int64_t rows, cols;
    };
    struct cut {
        sizes p;
        int workers_across;
        int64_t share_rows, share_cols, tile_rows, tile_cols, panel_rows, left_stride;
        bool totals;
    };
    struct workspace {
        float *totals;
    };
    struct left_strip {
        const float *first;
        int64_t row_stride, cell_stride;
    };
    //@function kernels/cpu_product.h least
    //@function kernels/cpu_product.h parts_of
    //@function kernels/cpu_product.h round_up
    //@function kernels/cpu_product.h even_part
    //@function kernels/cpu_product.h strip_at

    static int64_t share_rows(const cut *w, int down)
    {
        //@declaration kernels/cpu_product.h share_out rows
        return rows;
    }
    static int64_t share_cols(const cut *w, int down, int workers)
    {
        //@declaration kernels/cpu_product.h share_out cols
        return cols;
    }
    static tile share(const cut *w, int worker)
    {
        //@declaration kernels/cpu_product.h multiply_share first_row
        //@declaration kernels/cpu_product.h multiply_share first_col
        //@declaration kernels/cpu_product.h multiply_share end_row
        //@declaration kernels/cpu_product.h multiply_share end_col
        return {first_row, first_col, end_row, end_col};
    }
    static tile tile_at(const cut *w, int64_t row, int64_t col, int64_t end_row, int64_t end_col)
    {
        //@declaration kernels/cpu_product.h multiply_share t
        return t;
    }
    /* The first tile, and how far it is to the next. */
    static tile walk_of(const cut *w, int64_t first_row, int64_t first_col)
    {
        return {//=first kernels/cpu_product.h multiply_share row
                , //=first kernels/cpu_product.h multiply_share col
                , //=step kernels/cpu_product.h multiply_share row
                , //=step kernels/cpu_product.h multiply_share col
        };
    }
    static tile panel_at(const cut *w, const tile *t, int64_t row, int64_t col)
    {
        //@declaration kernels/cpu_product.h multiply_panel rows
        //@declaration kernels/cpu_product.h multiply_panel at
        return at;
    }
    static tile strip(const tile *at, int64_t r)
    {
        //@declaration kernels/cpu_product.h multiply_strip to
        return to;
    }
    /* Where sum [r][v] of the strip at row `row` of the tile and `inner_row` of the panel waits. */
    static int64_t waiting_place(const cut *w, int64_t row, int64_t col, int64_t inner_row, int lane_row, int v)
    {
        float *const start = nullptr;
        const workspace scratch = {start}, *space = &scratch;
        //@declaration kernels/cpu_product.h multiply_panel totals
        const bool first = false, last = false;
        float *of_strip;
        {
            int64_t r = inner_row;
            //@declaration kernels/cpu_product.h multiply_strip waiting
            of_strip = waiting;
        }
        int r = lane_row;
        //@declaration kernels/cpu_product.h sum_run at
        return (long long)(of_strip - start) + at;
    }
};

#include "ops/product/params_tensor.h"
namespace tensor {
//@enumeration ops/product/kernel_tensor.cu GROUP
template <plain_int ROWS, plain_int COLS> static tiles::place tile_of(const tki_gemm_params &p, int64_t tile)
{
    //@declaration ops/product/kernel_tensor.cu multiply tiles_down
    //@declaration ops/product/kernel_tensor.cu multiply group
    //@declaration ops/product/kernel_tensor.cu multiply group_rows
    //@declaration ops/product/kernel_tensor.cu multiply first_row
    //@declaration ops/product/kernel_tensor.cu multiply first_col
    return {first_row, first_col};
}

template <plain_int WARP_ROWS, plain_int WARP_COLS> static tiles::place warp_of(int warp, int ACROSS)
{
    //@declaration ops/product/kernel_tensor.cu multiply warp_row
    return {warp_row, warp_col};
}

static int share_of(int i, int shares, int ALL)
{
    int found = -1;
    for (int share = 0; share < shares; share++) {
        if (!(//=condition ops/product/kernel_tensor.cu fetch_share
              ))
            found = share;
    }
    return found;
}
} // namespace tensor

#undef int
#undef unsigned
#undef int32_t
#undef uint32_t
#undef int64_t

//@include proofs/index/maps_compared.cc
//@include proofs/index/maps_elements.cc

int main(int count, char **arguments)
{
    using namespace hopper;
    if (count > 1)
        wanted_points = atoll(arguments[1]);
    {
        map units("unit_at"), outputs("product outputs");
#define PRODUCT(name, ...) check_product<form<__VA_ARGS__>>(units, outputs);
        //@lines ops/product/kernel_hopper.h PRODUCT(
#undef PRODUCT
    }
    {
        map few("few tiles");
#define FEW_PRODUCT(name, ...) check_few<few_form<LEFT_ACROSS, RIGHT_ACROSS, __VA_ARGS__>>(few);
        //@lines ops/product/kernel_hopper.h FEW_PRODUCT(
#undef FEW_PRODUCT
    }
    {
        map parts("parts and memory");
#define PRODUCT(name, ...) check_parts<form<__VA_ARGS__>>(parts);
        //@lines ops/product/kernel_hopper.h PRODUCT(
#undef PRODUCT
        check_copies(parts);
    }
    {
        map places("boxes of results");
        check_box<64>(places);
        check_box<32>(places);
    }
    {
        map any("tiles on any GPU");
        check_tiles<128>(any);
        check_tiles<64>(any);
    }
    {
        map pieces("pieces of panels");
        CHECK_PIECES(tiles_16, 128)
        CHECK_PIECES(tiles_16, 64)
        CHECK_PIECES(tiles_32, 128)
        CHECK_PIECES(tiles_32, 64)
    }
    check_matrix_units();
    {
        map spans("rows in registers");
        check_spans<8>(spans);
        check_spans<4>(spans);
        check_stretches<8>(spans);
        check_stretches<4>(spans);
    }
    {
        map groups("embedding's groups"), runs("embedding's runs");
        check_embedding(groups);
        check_runs(runs);
    }
    {
        map blocks("blocks on the CPU");
        check_cpu<16, 32>(blocks);
        check_cpu<8, 16>(blocks);
        check_cpu<4, 32>(blocks);
        check_cpu<4, 16>(blocks);
    }
    {
        map tasks("tasks of groups");
#define GROUPS(name, left, right, ...)                    \
    check_tasks<form<false, right, __VA_ARGS__>>(tasks);  \
    check_tasks<form<true, right, __VA_ARGS__>>(tasks);
        //@lines ops/product/kernel_hopper_grouped.h GROUPS(
#undef GROUPS
        check_groups_anywhere(tasks);
    }
    check_elements();
    printf("%lld points, %d maps differ\n", points, failed_maps);
    return failed_maps > 0;
}
