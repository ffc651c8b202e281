/* Loops in which blocks take tiles and rows in turn, elementwise kernels, patches of sums and p-adic products: a part of maps.cc. */
#define int traced_int
#define unsigned traced_unsigned
#define int32_t traced_int
#define uint32_t traced_unsigned
#define int64_t traced_long

#include "ops/gelu/params.h"
#include "ops/padic/params.h"

namespace turns {
static unsigned given_blocks, given_threads;
DEVICE unsigned block_count()
{
    return given_blocks;
}
DEVICE unsigned thread_count()
{
    return given_threads;
}

/* Where a loop begins for this block, and how far it is to the block's next turn. */
struct loop {
    int64_t first, step;
};
static loop gemm_tiles(int64_t rows_here)
{
    return {//=first ops/product/kernel_gemm.cu multiply tile
            , //=step ops/product/kernel_gemm.cu multiply tile
    };
}
static loop tensor_tiles(int64_t rows_here)
{
    return {//=first ops/product/kernel_tensor.cu multiply tile
            , //=step ops/product/kernel_tensor.cu multiply tile
    };
}
static loop linear_tiles(int64_t rows_here)
{
    return {//=first ops/product/kernel_linear.cu layer tile
            , //=step ops/product/kernel_linear.cu layer tile
    };
}
static loop grouped_tiles(int64_t rows_here)
{
    return {//=first ops/product/kernel_grouped.cu multiply_groups tile
            , //=step ops/product/kernel_grouped.cu multiply_groups tile
    };
}
static loop padic_tiles(int64_t rows_here)
{
    return {//=first ops/padic/kernel.cu all_tiles tile
            , //=step ops/padic/kernel.cu all_tiles tile
    };
}
static loop windows(int64_t rows_here)
{
    return {//=first ops/embedding/kernel.cu embedding_bwd_combine window
            , //=step ops/embedding/kernel.cu embedding_bwd_combine window
    };
}
static loop fwd_rows(int64_t rows_here)
{
    return {//=first ops/softmax/kernel_fwd.cu fwd_block row
            , //=step ops/softmax/kernel_fwd.cu fwd_block row
    };
}
static loop bwd_rows(int64_t rows_here)
{
    return {//=first ops/softmax/kernel_bwd.cu bwd_block row
            , //=step ops/softmax/kernel_bwd.cu bwd_block row
    };
}
static loop xent_rows(int64_t rows_here)
{
    return {//=first ops/xent/kernel.cu run_block row
            , //=step ops/xent/kernel.cu run_block row
    };
}
static loop fwd_narrow(int64_t rows_here)
{
    return {//=first ops/softmax/kernel_fwd.cu fwd_narrow first
            , //=step ops/softmax/kernel_fwd.cu fwd_narrow first
    };
}
static loop bwd_narrow(int64_t rows_here)
{
    return {//=first ops/softmax/kernel_bwd.cu bwd_narrow first
            , //=step ops/softmax/kernel_bwd.cu bwd_narrow first
    };
}
static loop xent_narrow(int64_t rows_here)
{
    return {//=first ops/xent/kernel.cu run_narrow first
            , //=step ops/xent/kernel.cu run_narrow first
    };
}

/* -- ops/gelu/kernel.cu, for elements of 16 bits */
typedef short element;
struct vector {
    plain_byte bytes[16];
};
struct split {
    int64_t head, whole, tail;
};
static split split_of(const tki_gelu_params &p)
{
    typedef vector vector16;
    //@declaration ops/gelu/kernel.cu run_vectors head
    //@assignment ops/gelu/kernel.cu run_vectors head
    //@declaration ops/gelu/kernel.cu run_vectors whole
    //@declaration ops/gelu/kernel.cu run_vectors tail
    return {head, whole, tail};
}
static loop vector_turn(int vectors)
{
    //@declaration ops/gelu/kernel.cu run_vectors threads
    //@declaration ops/gelu/kernel.cu run_vectors tile
    return {//=first ops/gelu/kernel.cu run_vectors first
            , //=step ops/gelu/kernel.cu run_vectors first
    };
}
static loop element_turn(const tki_gelu_params &p)
{
    //@declaration ops/gelu/kernel.cu run_elements threads
    //@declaration ops/gelu/kernel.cu run_elements tile
    return {//=first ops/gelu/kernel.cu run_elements first
            , //=step ops/gelu/kernel.cu run_elements first
    };
}
static Z vector_place(int64_t first, int k)
{
    const char *const out = nullptr;
    //@declaration ops/gelu/kernel.cu run_vectors threads
    //@declaration ops/gelu/kernel.cu run_vectors begin
    return (//=value ops/gelu/kernel.cu run_vectors store16_once 0
            ) - out;
}
/* In a tile that is cut off: the first of the thread, and how far it is to its next. */
static loop cut_off(int64_t first)
{
    //@declaration ops/gelu/kernel.cu run_vectors threads
    //@declaration ops/gelu/kernel.cu run_vectors begin
    return {//=first ops/gelu/kernel.cu run_vectors i
            , //=step ops/gelu/kernel.cu run_vectors i
    };
}
static int64_t element_place(int64_t begin, int k, int64_t step)
{
    //@declaration ops/gelu/kernel.cu run_elements_from i
    return i;
}
/* What the ends' elements begin with, how far it is to the next, and where they end. */
static split head_of(const tki_gelu_params &p, int64_t head, int64_t tail, unsigned threads)
{
    return {//=value ops/gelu/kernel.cu run_vectors run_elements_from#1 1
            , //=value ops/gelu/kernel.cu run_vectors run_elements_from#1 2
            , //=value ops/gelu/kernel.cu run_vectors run_elements_from#1 3
    };
}
static split tail_of(const tki_gelu_params &p, int64_t head, int64_t tail, unsigned threads)
{
    return {//=value ops/gelu/kernel.cu run_vectors run_elements_from#2 1
            , //=value ops/gelu/kernel.cu run_vectors run_elements_from#2 2
            , //=value ops/gelu/kernel.cu run_vectors run_elements_from#2 3
    };
}
static int64_t element_begin(const tki_gelu_params &p, int64_t first, unsigned threads)
{
    return //=value ops/gelu/kernel.cu run_elements run_elements_from 1
        ;
}

/* -- The patch of a warp in ops/product/kernel_tensor.cu */
struct place {
    int row, col;
};
static place patch_place(int i, plain_int COLS)
{
    //@steps ops/product/kernel_tensor.cu const int row = i ... const int row = i
    return {row, col};
}
static place patch_piece(int i, int lane, plain_int PIECES, plain_int RESULTS)
{
    //@steps ops/product/kernel_tensor.cu const int row = (i * warp_lanes + lane) ... const int row = (i * warp_lanes + lane)
    return {row, col};
}

/* -- ops/padic/kernel.cu */
//@enumeration ops/padic/kernel.cu SIDE
static place padic_sum(int thread, int64_t row, int64_t col, int i, int j)
{
    //@declaration ops/padic/kernel.cu compute_tile i0
    //@steps ops/padic/kernel.cu const int64_t r = row + i0 ... const int64_t r = row + i0
    return {r, c};
}
static place padic_left(int64_t row, int64_t begin, int at)
{
    //@steps ops/padic/kernel.cu const int64_t r = row + at ... const int64_t r = row + at
    return {r, t};
}
static place padic_right(int64_t col, int64_t begin, int at)
{
    //@steps ops/padic/kernel.cu const int64_t t = begin + at ... const int64_t t = begin + at
    return {t, c};
}
static place padic_tile(const tki_padic_gpu_params &p, int64_t tile)
{
    return {//=value ops/padic/kernel.cu all_tiles compute_tile 1
            , //=value ops/padic/kernel.cu all_tiles compute_tile 2
    };
}
//@enumeration ops/padic/kernel.cu PLACES
static place padic_share(int thread, bool right)
{
    //@steps ops/padic/kernel.cu const int place = right ... const int place = right
    return {place, share};
}
static loop padic_bring(int thread)
{
    return {//=first ops/padic/kernel.cu compute_tile at
            , //=step ops/padic/kernel.cu compute_tile at
    };
}
} // namespace turns

#undef int
#undef unsigned
#undef int32_t
#undef uint32_t
#undef int64_t

static void check_turns(map &m)
{
    using namespace turns;
    const struct {
        const char *name;
        loop (*of)(traced_long rows_here);
        bool rows_of_teams;
    } loops[] = {{"gemm's tiles", gemm_tiles, false},          {"tensor's tiles", tensor_tiles, false},
                 {"linear's tiles", linear_tiles, false},      {"grouped's tiles", grouped_tiles, false},
                 {"padic's tiles", padic_tiles, false},        {"embedding's windows", windows, false},
                 {"softmax_fwd's rows", fwd_rows, false}, {"softmax_bwd's rows", bwd_rows, false},
                 {"xent's rows", xent_rows, false},      {"softmax_fwd's narrow rows", fwd_narrow, true},
                 {"softmax_bwd's narrow rows", bwd_narrow, true}, {"xent's narrow rows", xent_narrow, true}};
    for (long long n = 0; n < wanted_points; n++) {
        const long long blocks = 1 + draw_below(1 << 16), block = draw_below(blocks), rows = 1 << draw_below(6);
        given_blocks = blocks;
        given_block = (uint32_t)block;
        for (const auto &each : loops) {
            const long long unit = each.rows_of_teams ? rows : 1, turn = draw_below(1 << 20);
            now.begin();
            const loop l = each.of(rows);
            m.fits({blocks, block, rows});
            m.same(each.name, exact(l.first) + turn * exact(l.step), unit * coq::taken_in_turn(blocks, block, turn), {blocks, block, rows, turn});
        }
    }
}

static void check_gelu(map &m)
{
    using namespace turns;
    for (long long n = 0; n < 3 * wanted_points; n++) {
        tki_gelu_params p;
        const long long count = draw_size(1LL << 40, 1024), address = 2 * draw_below(8);
        p.out = (void *)address;
        p.n = count;
        const long long threads = 32 << draw_below(5), blocks = 1 + draw_below(4096), block = draw_below(blocks);
        const long long thread = draw_below(threads), vectors = 1 + draw_below(4), turn = draw_below(1 << 20), k = draw_below(vectors);
        given_threads = threads;
        given_blocks = blocks;
        given_block = (uint32_t)block;
        given_thread = (uint32_t)thread;
        const std::initializer_list<Z> at = {count, address, threads, blocks, block, thread, vectors, turn, k};
        now.begin();
        const split s = split_of(p);
        const Z to_whole = (16 - address) % 16 / 2, head = to_whole < count ? to_whole : count;
        m.same("head", exact(s.head), head, at);
        m.same("whole vectors", exact(s.whole), coq::whole_vectors(count, head, 8), at);
        m.same("tail", exact(s.tail), coq::tail_begin(count, head, 8), at);
        const loop own = vector_turn(vectors), one_by_one = element_turn(p);
        const Z first = exact(own.first) + turn * exact(own.step);
        m.same("a turn's first vector", first, coq::turn_begin(blocks, threads, vectors, block, turn), at);
        m.same("a turn's first element", exact(one_by_one.first) + turn * exact(one_by_one.step),
               coq::turn_begin(blocks, threads, TKI_GELU_ELEMENTS, block, turn), at);
        m.same("a vector", vector_place((long long)first, k), coq::own_vector(threads, first, thread, k), at);
        const loop cut = cut_off((long long)first);
        m.same("a vector of a tile that is cut off", exact(cut.first) + k * exact(cut.step), coq::own_vector(threads, first, thread, k), at);
        const auto begin = element_begin(p, (long long)first, threads);
        m.same("an element", exact(element_place(begin, k, threads)), coq::own_vector(threads, first, thread, k), at);
        const split before = head_of(p, s.head, s.tail, threads), behind = tail_of(p, s.head, s.tail, threads);
        m.same("an element of the head", exact(before.head) + turn * exact(before.whole), coq::taken_in_turn(threads, thread, turn), at);
        m.same("the head's end", exact(before.tail), head, at);
        m.same("an element of the tail", exact(behind.head) + turn * exact(behind.whole),
               exact(s.tail) + coq::taken_in_turn(threads, thread, turn), at);
        m.same("the tail's end", exact(behind.tail), count, at);
        m.fits(at);
    }
}

static void check_patches(map &m)
{
    for (int squares = 1; squares <= 8; squares++)
        for (int results = 4; results <= 8; results += 4)
            for (int lane = 0; lane < 32; lane++) {
                const int cols = squares * 16, pieces = cols / results;
                for (int turn = 0; turn < 16 * cols / 32; turn++) {
                    const int i = turn * 32 + lane;
                    const turns::place one = turns::patch_place(i, cols);
                    m.same("row of a patch", exact(one.row), coq::line_of(cols, coq::taken_in_turn(32, lane, turn)), {cols, i});
                    m.same("column of a patch", exact(one.col), coq::place_of(cols, coq::taken_in_turn(32, lane, turn)), {cols, i});
                }
                for (int turn = 0; turn < 16 * pieces / 32; turn++) {
                    const Z i = coq::taken_in_turn(32, lane, turn);
                    const turns::place one = turns::patch_piece(turn, lane, pieces, results);
                    m.same("row of a piece", exact(one.row), coq::line_of(pieces, i), {cols, results, i});
                    m.same("column of a piece", exact(one.col), coq::place_of(pieces, i) * results, {cols, results, i});
                }
            }
}

static void check_padic(map &m)
{
    using namespace turns;
    const int across = turns::ACROSS, tile_lines = turns::TILE, depth = turns::DEPTH, threads = turns::THREADS;
    m.same("threads of a tile", threads, across * across, {});
    m.same("sums of a thread", turns::SIDE * across, tile_lines, {});
    m.same("threads of valuations", turns::PLACES * turns::SHARES, threads, {});
    m.same("lines of valuations", turns::LINES * turns::SHARES, tile_lines, {});
    for (long long n = 0; n < wanted_points; n++) {
        tki_padic_gpu_params p;
        const long long tiles_across = draw_size(1 << 24, 1), tile = draw_below(tiles_across << 20);
        const long long row = draw_below(1 << 28) * tile_lines, begin = draw_below(1 << 28) * depth;
        const int thread = (int)draw_below(threads), i = (int)draw_below(turns::SIDE), j = (int)draw_below(turns::SIDE);
        const std::initializer_list<Z> at = {tiles_across, tile, row, begin, thread, i, j};
        p.tiles_across = tiles_across;
        now.begin();
        const place first = padic_tile(p, tile % 1024), sum = padic_sum(thread, 0, 0, i, j);
        m.same("a tile's row", exact(first.row), coq::tile_row(tiles_across, tile_lines, tile % 1024), at);
        m.same("a tile's column", exact(first.col), coq::tile_col(tiles_across, tile_lines, tile % 1024), at);
        m.same("a sum's row", exact(sum.row), coq::sparse_row(across, thread, i), at);
        m.same("a sum's column", exact(sum.col), coq::sparse_col(across, thread, j), at);
        const place across_k = padic_share(thread, false), across_n = padic_share(thread, true);
        m.same("place of a row's valuation", exact(across_k.row), coq::place_of(turns::PLACES, thread), at);
        m.same("share of a row's valuation", exact(across_k.col), coq::line_of(turns::PLACES, thread), at);
        m.same("place of a column's valuation", exact(across_n.row), coq::line_of(turns::SHARES, thread), at);
        m.same("share of a column's valuation", exact(across_n.col), coq::place_of(turns::SHARES, thread), at);
        const loop bring = padic_bring(thread);
        const long long turn = draw_below(tile_lines * depth / threads);
        const Z which = exact(bring.first) + turn * exact(bring.step);
        m.same("what a thread brings", which, coq::taken_in_turn(threads, thread, turn), at);
        const place left = padic_left(0, 0, (long long)which), right = padic_right(0, 0, (long long)which);
        m.same("line of left", exact(left.row), coq::line_of(depth, which), at);
        m.same("place of left", exact(left.col), coq::place_of(depth, which), at);
        m.same("place of right", exact(right.row), coq::line_of(tile_lines, which), at);
        m.same("line of right", exact(right.col), coq::place_of(tile_lines, which), at);
        m.fits(at);
    }
}

static void check_elements()
{
    {
        map turns_of_blocks("turns of blocks");
        check_turns(turns_of_blocks);
    }
    {
        map elements("elements and vectors");
        check_gelu(elements);
    }
    {
        map patches("patches of sums");
        check_patches(patches);
    }
    map padic("p-adic tiles");
    check_padic(padic);
}
