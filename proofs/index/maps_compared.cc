/* The kernels' maps against those of the proofs, map by map: a part of maps.cc. */

/* -- Hopper's products --------------------------------------------------------------------------------------------- */

enum : long long { MOST_SIZE = 2147483647 - 1024 };

/* Sizes and a cut that launch_hopper.c takes, for tiles of so many rows and columns. */
struct launch {
    Z rows, cols, inner, raster, down, across, blocks, whole_tiles, parts, units;
};

static launch draw_launch(long long tile_rows, long long tile_cols)
{
    launch l;
    do {
        l.rows = draw_size(MOST_SIZE, tile_rows);
        l.cols = draw_size(MOST_SIZE, tile_cols);
        l.inner = draw_size(MOST_SIZE, 64);
        l.down = (l.rows + tile_rows - 1) / tile_rows;
        l.across = (l.cols + tile_cols - 1) / tile_cols;
    } while (l.down * l.across > 2147483647 / 16);
    l.blocks = (l.inner + 63) / 64;
    const long long most_raster = 2147483647 / l.across < 65536 ? (long long)(2147483647 / l.across) : 65536;
    l.raster = draw_below(2) ? (draw_below(2) ? 8 : 16) : draw_size(most_raster, 8);
    if (l.raster > most_raster)
        l.raster = most_raster;
    l.parts = l.blocks < 2 || draw_below(2) ? 1 : 2 + draw_below(l.blocks < 16 ? l.blocks - 1 : 15);
    l.whole_tiles = l.parts == 1 ? l.down * l.across : draw_below(l.down * l.across);
    l.units = l.whole_tiles + (l.down * l.across - l.whole_tiles) * l.parts;
    return l;
}

/* The first, the last, those where whole tiles end, or any. */
static Z draw_unit(const launch &l)
{
    const long long how = draw_below(6);
    Z number = how == 0 ? 0 : how == 1 ? l.units - 1 : how < 4 ? l.whole_tiles + draw_below(3) - 1 : draw_below(l.units);
    return number < 0 ? 0 : number >= l.units ? l.units - 1 : number;
}

template <class F> static void check_product(map &units, map &outputs)
{
    for (long long i = 0; i < wanted_points; i++) {
        const launch l = draw_launch(F::down * 128, F::width);
        const Z number = draw_unit(l);
        tki_gemm_hopper_params p;
        p.out_elements = nullptr;
        p.tiles_down = (long long)l.down;
        p.tiles_across = (long long)l.across;
        p.blocks = (long long)l.blocks;
        p.raster = (long long)l.raster;
        p.whole = (long long)l.whole_tiles;
        p.parts = (long long)l.parts;
        p.units = (long long)l.units;
        p.rows = (long long)l.rows;
        p.cols = (long long)l.cols;
        now.begin();
        const hopper::unit u = hopper::unit_at(p, (long long)number);
        const std::initializer_list<Z> at = {l.raster, l.down, l.across, l.blocks, l.whole_tiles, l.parts, number};
        const Z tile = coq::unit_tile(l.whole_tiles, l.parts, number);
        units.on_the_way(coq::unit_steps(l.raster, l.down, l.across, l.blocks, l.whole_tiles, l.parts, number), at);
        units.same("row", exact(u.row), coq::unit_row(l.raster, l.down, l.across, tile), at);
        units.same("col", exact(u.col), coq::unit_col(l.raster, l.down, l.across, tile), at);
        units.same("begin", exact(u.begin), coq::unit_begin(l.blocks, l.whole_tiles, l.parts, number), at);
        units.same("end", exact(u.end), coq::unit_end(l.blocks, l.whole_tiles, l.parts, number), at);
        units.same("part", exact(u.part), coq::unit_part(l.whole_tiles, number), at);

        const Z rank = draw_below(F::down), share = draw_below(2), warp = draw_below(4), lane = draw_below(32);
        const Z half = draw_below(2), pair = draw_below(F::width / 8), lines = F::width / F::down;
        const hopper::group g = {(long long)share, (long long)(warp * 32 + lane), (long long)warp, (long long)lane};
        const std::initializer_list<Z> there = {exact(u.row), exact(u.col), F::down, F::width, rank, share, warp, lane};
        const Z row = exact(u.row), col = exact(u.col);
        now.begin();
        const hopper::place from = hopper::bring_place<F>(u, (long long)rank);
        const hopper::place sums = hopper::multiply_place<F>(u, (long long)rank, g);
        const Z own = F::together ? share : 0;
        const hopper::place to = hopper::store_place(g, sums.row, sums.col);
        const int half_of_tile = (int)half;
        const auto offset = hopper::store_offset(p, to.row, to.col, half_of_tile, (long long)pair);
        outputs.on_the_way(coq::output_steps(row, col, F::down, F::width, rank, lines, own, warp, lane, half, pair), there);
        outputs.same("left factor's line", exact(from.row), coq::left_line(row, F::down, rank), there);
        outputs.same("right factor's line", exact(from.col), coq::right_line(col, F::width, rank, lines), there);
        outputs.same("sums' row", exact(sums.row), coq::sums_row(row, F::down, rank, own), there);
        const Z output_row = coq::stored_row(coq::sums_row(row, F::down, rank, own), warp, lane, half);
        const Z output_col = coq::stored_col(col * F::width, lane, pair, 0);
        outputs.same("place", exact(offset), output_row * l.cols + output_col, there);
        outputs.same("register", (Z)hopper::stored_register(half_of_tile, (long long)pair), coq::sum_register(half, pair, 0), there);

        const Z begin = 2 * draw_below(F::width / 8);
        const int w = (int)draw_below(2);
        now.begin();
        const hopper::place read = hopper::fetch_place(g, (long long)begin, w, sums.row, sums.col);
        const hopper::place joined = hopper::joined_place(p, g, u.part, sums.row);
        outputs.fits(there);
        outputs.same("row of what an epilogue reads", exact(read.row), coq::stored_row(exact(sums.row), warp, lane, w), there);
        outputs.same("column of what an epilogue reads", exact(read.col), coq::stored_col(exact(sums.col), lane, (begin + w) / 2, 0), there);
        outputs.same("register of what is finished", (Z)hopper::finished_register((long long)begin, w), coq::sum_register(w, (begin + w) / 2, 0), there);
        outputs.same("row of sums that wait", exact(joined.row), coq::stored_row(exact(sums.row), warp, lane, 0), there);
        if (number >= l.whole_tiles)
            outputs.same("part of its tile", exact(joined.col), coq::unit_which(l.whole_tiles, l.parts, number), at);
    }
}

template <class F> static void check_few(map &m)
{
    for (long long n = 0; n < wanted_points; n++) {
        const launch l = draw_launch(F::rows, F::width);
        const int wide = draw_below(2) ? 4 : 1, deep = 1 << draw_below(wide == 4 ? 2 : 4);
        if (l.blocks < deep)
            continue;
        const Z clusters = l.down * coq::divide_up(l.across, wide), cluster = draw_below(2) ? clusters - 1 : draw_below(clusters);
        const int rank = (int)draw_below(wide * deep);
        tki_gemm_hopper_params p;
        p.tiles_down = (long long)l.down;
        p.blocks = (long long)l.blocks;
        given_block = (uint32_t)(cluster * wide * deep + rank);
        const std::initializer_list<Z> at = {l.rows, l.cols, l.blocks, wide, deep, cluster, rank};
        now.begin();
        const hopper::few_block b = hopper::few_block_of<F>(p, wide * deep, rank, deep);
        m.fits(at);
        const Z stretch = coq::few_stretch(deep, rank), tile = coq::few_tile(deep, rank);
        m.same("stretch", exact(b.me.stretch), stretch, at);
        m.same("tile", exact(b.me.tile), tile, at);
        m.same("rank", exact(b.rank), coq::few_rank(deep, stretch, tile), at);
        m.same("row", exact(b.row), coq::few_row(l.down, F::rows, cluster), at);
        m.same("column", exact(b.col), coq::few_col(l.down, wide, F::width, cluster, tile), at);
        m.same("begin", exact(b.begin), coq::part_begin(l.blocks, deep, stretch), at);
        m.same("end", exact(b.end), coq::part_begin(l.blocks, deep, stretch + 1), at);
        const int i = (int)draw_below(F::rows * (F::width / deep / 4));
        now.begin();
        const hopper::four_place four = hopper::four_of<F>(b.me, i);
        m.fits(at);
        const Z fours = F::width / deep / 4;
        m.same("fours of a slice", exact(four.fours), fours, at);
        m.same("line of a slice", exact(four.line), coq::slice_line(fours, i), at);
        m.same("place in a slice", exact(four.place), coq::slice_place(stretch, F::width / deep, fours, i), at);
    }
}

template <class F> static void check_parts(map &m)
{
    for (long long n = 0; n < wanted_points; n++) {
        const int part = (int)draw_below(1 << 16), rank = (int)draw_below(F::down), group = (int)draw_below(2), before = (int)draw_below(part + 1 < 16 ? part + 1 : 16);
        const std::initializer_list<Z> at = {F::down, F::groups, part, rank, group, before};
        const hopper::group g = {group, 0, 0, 0};
        now.begin();
        const auto slot = hopper::slot_of<F>(part, rank, g), there = hopper::slot_before<F>(slot, before);
        const int own = F::together ? group : 0;
        m.same("slot", exact(slot), coq::slot_of(F::down, F::groups, part, rank, own), at);
        m.same("slot of a part before", exact(there), coq::slot_before(F::down, F::groups, exact(slot), before), at);
        const int t = (int)draw_below(F::tall), first = (int)draw_below(F::width / 8), thread = (int)draw_below(128);
        m.same("four", exact(hopper::four_at<F>(t, first, 0)) + thread, coq::partial_four(F::width / 8, t, first, thread), at);
        given_address = (uint32_t)draw_below(1 << 17);
        const Z memory = exact(given_address);
        const hopper::places places = hopper::places_of<F>(nullptr);
        m.same("stages", exact(places.stages), coq::place_of_stages(memory), at);
        m.same("boxes", exact(places.boxes), coq::place_of_boxes(memory, F::stages, F::stage_bytes), at);
        m.same("barriers", exact(places.full), coq::place_of_full(memory, F::stages, F::stage_bytes, F::box_bytes), at);
        m.same("queue", exact(places.queue), coq::place_of_queue(memory, F::stages, F::stage_bytes, F::box_bytes), at);
        const bool right_across = F::right_across;
        m.same("shared memory", TKI_GEMM_SHARED_BYTES(F::width, right_across, F::stages), coq::shared_bytes(F::stages, F::stage_bytes, F::box_bytes), at);
        m.fits(at);
    }
}

static void check_copies(map &m)
{
    for (long long n = 0; n < 3 * wanted_points; n++) {
        const long long pieces = draw_size(1 << 28, 8), threads = 256 * (1 + draw_below(132 * 8)), thread = draw_below(threads);
        const long long row = draw_below(1LL << 31), piece = draw_below(pieces);
        const std::initializer_list<Z> at = {pieces, threads, thread, row, piece};
        now.begin();
        const auto begin = hopper::realign_begin(thread, pieces), next = hopper::realign_next(threads, pieces, row, piece);
        m.fits(at);
        m.same("first piece", exact(begin.row) * pieces + exact(begin.piece), thread, at);
        m.same("next piece", exact(next.piece), coq::realign_piece(threads, pieces, piece), at);
        m.same("next row", exact(next.row), coq::realign_row(threads, pieces, row, piece), at);
        const long long i = draw_below(1LL << 40);
        const int shift = (int)draw_below(8);
        m.same("first of a group", exact(hopper::hand_first(i, shift)), coq::hand_first(i, shift), {i, shift});
    }
}

/* -- Swizzles ------------------------------------------------------------------------------------------------------ */

template <int box_cols> static void check_box(map &m)
{
    typedef boxes::of<box_cols> F;
    for (int warp = 0; warp < 4; warp++)
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < box_cols / 16; i++) {
                const boxes::lanes g = {0, warp * 32 + lane, warp, lane};
                const std::initializer_list<Z> at = {box_cols, warp, lane, i};
                now.begin();
                const auto line = boxes::line_of(g), piece = boxes::piece_of(g, i);
                m.same("line", exact(line), coq::box_line(warp, lane), at);
                m.same("piece", exact(piece), coq::box_piece(i, lane), at);
                const Z expected = coq::box_place(box_cols, exact(line), exact(piece));
                m.same("place", exact(boxes::place_of<F>(line, piece)), expected, at);
                if (box_cols == 64)
                    m.same("place of a group's", exact(boxes::place_in_group(line, piece)), expected, at);
                m.fits(at);
            }
}

#define CHECK_CHUNKS(device, hip, mfma, along, chunks)                                                   \
    for (int row = 0; row < 256; row++)                                                                  \
        for (int chunk = 0; chunk < chunks; chunk++) {                                                   \
            now.begin();                                                                                 \
            panels.same("chunk_at", exact(device::chunk_at<along, chunks>(row, chunk)),                  \
                        coq::chunk_at(hip, mfma, along, chunks, row, chunk), {hip, mfma, chunks, row, chunk}); \
            panels.fits({chunks, row, chunk});                                                           \
        }
#define CHECK_CHUNKS_OF(device, hip, mfma)       \
    CHECK_CHUNKS(device, hip, mfma, true, 4)     \
    CHECK_CHUNKS(device, hip, mfma, true, 8)     \
    CHECK_CHUNKS(device, hip, mfma, false, 8)    \
    CHECK_CHUNKS(device, hip, mfma, false, 16)   \
    CHECK_CHUNKS(device, hip, mfma, false, 32)

/* Where pieces, and pairs, of all threads come to lie, and where they come from. */
template <class feed, bool along, int lines, int depth, int threads>
static void check_piece_feed(map &m, bool hip, bool mfma)
{
    static vector16 panel[65536];
    const int chunks = feed::CHUNKS;
    for (int t = 0; t < threads; t++) {
        given_thread = t;
        const long long pitch = 8 * (1 + draw_below(1 << 20));
        const tki_gemm_factor factor = {nullptr, along ? pitch : 1, along ? 1 : pitch};
        feed f;
        now.begin();
        f.begin(factor, 0, 1 << 20, 1 << 20); /* nothing is read through it */
        for (int i = 0; i < feed::COUNT; i++) {
            const Z row = coq::feed_row(threads, chunks, t, i), chunk = coq::feed_chunk(chunks, t);
            const std::initializer_list<Z> at = {hip, mfma, along, lines, depth, threads, t, i};
            m.same("place", f.place(panel, i) - panel, coq::chunk_at(hip, mfma, along, chunks, row, chunk), at);
            m.same("source", f.at - (const element *)nullptr, row * pitch + chunk * 8, at);
            f.fetch(panel, i);
            m.fits(at);
        }
    }
}

template <class feed, bool along, int lines, int depth, int threads>
static void check_pair_feed(map &m, bool hip, bool mfma)
{
    static vector16 panel[65536];
    const int chunks = feed::CHUNKS, pairs = feed::PAIRS;
    for (int t = 0; t < threads; t += 1 + (int)draw_below(7)) {
        given_thread = t;
        const long long pitch = 1 + draw_below(1 << 20);
        const tki_gemm_factor factor = {nullptr, along ? pitch : 1, along ? 1 : pitch};
        feed f;
        f.begin(factor, 0, 0, 1 << 20); /* of no lines: nothing is read */
        for (int i = 0; i < feed::COUNT; i++) {
            const Z row = coq::feed_row(threads, pairs, t, i), pair = coq::feed_chunk(pairs, t);
            const Z chunk = coq::chunk_at(hip, mfma, along, chunks, row, pair / 4);
            const std::initializer_list<Z> at = {hip, mfma, along, lines, depth, threads, t, i};
            vector16 *expected = panel + (long long)chunk;
            now.begin();
            for (int w = 0; w < 4; w++)
                expected->word[w] = 0;
            m.same("source", f.at - (const element *)nullptr, row * pitch + pair * 2, at);
            f.store(i, panel, 1, 0);
            traced<unsigned> even, odd;
            f.load(i, even, odd);
            for (int w = 0; w < 4; w++)
                m.same("word", exact(expected->word[w]), w == pair % 4, at);
            m.fits(at);
        }
    }
}

#define CHECK_FEEDS(device, hip, mfma, kind, along, lines, depth, threads) \
    check_##kind<device::kind<along, lines, depth, threads>, along, lines, depth, threads>(feeds, hip, mfma);
/* The layouts nn, nt and tn; `threads` of a tile of so many rows and columns. */
#define CHECK_PANELS(device, hip, mfma, kind, rows, cols, threads, depth)     \
    CHECK_FEEDS(device, hip, mfma, kind, true, rows, depth, threads)          \
    CHECK_FEEDS(device, hip, mfma, kind, false, rows, depth, threads)         \
    CHECK_FEEDS(device, hip, mfma, kind, true, cols, depth, threads)          \
    CHECK_FEEDS(device, hip, mfma, kind, false, cols, depth, threads)

/* -- Products on any GPU ------------------------------------------------------------------------------------------- */

template <int TILE> static void check_tiles(map &m)
{
    for (long long n = 0; n < 10 * wanted_points; n++) {
        tki_gemm_params p;
        const long long rows = draw_size(1LL << 40, TILE), cols = draw_size(1LL << 40 < (1LL << 50) / rows ? 1LL << 40 : (1LL << 50) / rows, TILE);
        p.rows = rows;
        p.cols = cols;
        const Z across = coq::divide_up(cols, TILE), count = coq::divide_up(rows, TILE) * across;
        const long long tile = draw_below(count);
        const std::initializer_list<Z> at = {TILE, rows, cols, tile};
        const int t = (int)draw_below(2 * TILE), i = (int)draw_below(8), j = (int)draw_below(TILE / 64) * 4;
        traced<long long> counted;
        now.begin();
        const tiles::place first = tiles::tile_of<TILE>(p, tile, &counted);
        m.same("tiles", exact(counted), count, at);
        m.same("row", exact(first.row), coq::tile_row(across, TILE, tile), at);
        m.same("column", exact(first.col), coq::tile_col(across, TILE, tile), at);
        if (TILE == 64) {
            const tiles::place layer = tiles::layer_tile_of(p, tile, &counted);
            m.same("a layer's tiles", exact(counted), count, at);
            m.same("a layer's row", exact(layer.row), exact(first.row), at);
            m.same("a layer's column", exact(layer.col), exact(first.col), at);
        }
        const tiles::place own = tiles::place_of<TILE>(first.row, first.col, t, i, j);
        m.same("down", exact(tiles::down_of(t)), coq::thread_down(t), {t});
        m.same("across", exact(tiles::across_of(t)), coq::thread_across(t), {t});
        m.same("sum's row", exact(own.row), exact(first.row) + coq::sum_row(TILE, t, i), {TILE, t, i});
        m.same("sum's column", exact(own.col), exact(first.col) + coq::sum_col(TILE, t, j), {TILE, t, j});
        m.fits(at);
    }
}

#define CHECK_PIECES(space, TILE)                                                                            \
    for (int t = 0; t < 2 * TILE; t++) {                                                                     \
        const tki_gemm_factor along = {nullptr, 1000, 1}, across = {nullptr, 1, 1000};                       \
        given_thread = t;                                                                                    \
        now.begin();                                                                                         \
        const space::piece a = space::piece_of<TILE>(along, 1 << 20, 0);                                     \
        const space::piece b = space::piece_of<TILE>(across, 1 << 20, 0);                                    \
        pieces.same("line, along", exact(a.line), coq::piece_line_along(t), {TILE, t});                      \
        pieces.same("place, along", exact(a.k), coq::piece_place_along(space::PIECE, t), {TILE, t});         \
        pieces.same("line, across", exact(b.line), coq::piece_line_across(TILE, space::PIECE, t), {TILE, t}); \
        pieces.same("place, across", exact(b.k), coq::piece_place_across(TILE, space::PIECE, t), {TILE, t}); \
        pieces.same("source", a.at - (const element *)nullptr, exact(a.line) * 1000 + exact(a.k), {TILE, t}); \
        pieces.fits({TILE, t});                                                                              \
    }                                                                                                        \
    for (int k = 0; k < 2 * space::PIECE; k++)                                                               \
        for (int quad = 0; quad < TILE / 4; quad++) {                                                        \
            now.begin();                                                                                     \
            pieces.same("swapped", exact(space::swapped(k, quad)), coq::swapped(space::PIECE, k, quad), {k, quad}); \
            pieces.fits({k, quad});                                                                          \
        }                                                                                                    \
    for (int along = 0; along < 2; along++) {                                                                \
        static quad panel[1][space::DEPTH][TILE / 4];                                                        \
        const tki_gemm_factor factor = {nullptr, 1, along ? 1 : 1000};                                       \
        memset(panel, 0, sizeof panel);                                                                      \
        for (int t = 0; t < 2 * TILE; t++) {                                                                 \
            given_thread = t;                                                                                \
            const space::piece own = space::piece_of<TILE>(factor, 1 << 20, 0);                              \
            vector16 v = {};                                                                                 \
            for (int i = 0; i < space::PIECE; i++) {                                                         \
                const long long line = (long long)exact(own.line) + (along ? 0 : i);                         \
                const long long place = (long long)exact(own.k) + (along ? i : 0);                           \
                const int bits = 16 * (i % space::word_elements);                                            \
                v.word[i / space::word_elements].value |= (unsigned)(1 + line * space::DEPTH + place) << bits; \
            }                                                                                                \
            space::stash<TILE>(panel[0], factor, own, v);                                                    \
        }                                                                                                    \
        for (int t = 0; t < 2 * TILE; t++)                                                                   \
            for (int d = 0; d < space::DEPTH; d++)                                                           \
                for (int i = 0; i < 8; i++) {                                                                \
                    const int down = (int)exact(tiles::down_of(t)), across = (int)exact(tiles::across_of(t)); \
                    pieces.same("left number read", (Z)space::read_left<TILE>(panel, down, d, i),            \
                                1 + coq::sum_row(TILE, t, i) * space::DEPTH + d, {TILE, along, t, d, i});    \
                    if (i < TILE / 16)                                                                       \
                        pieces.same("right number read", (Z)space::read_right<TILE>(panel, across, d, i),    \
                                    1 + coq::sum_col(TILE, t, i) * space::DEPTH + d, {TILE, along, t, d, i}); \
                }                                                                                            \
    }

template <int ROWS, int COLS, int THREADS> static void check_tensor(map &m)
{
    enum { DOWN = ROWS > 128 ? ROWS / 64 : 2, ACROSS = THREADS / 32 / DOWN, WARP_ROWS = ROWS / DOWN, WARP_COLS = COLS / ACROSS };
    for (long long n = 0; n < wanted_points; n++) {
        tki_gemm_params p;
        const long long rows = draw_size(1LL << 30, ROWS), cols = draw_size(1LL << 30, COLS);
        p.rows = rows;
        p.cols = cols;
        const Z down = coq::divide_up(rows, ROWS), across = coq::divide_up(cols, COLS);
        const long long tile = draw_below(down * across);
        const std::initializer_list<Z> at = {ROWS, COLS, rows, cols, tile};
        now.begin();
        const tiles::place first = tensor::tile_of<ROWS, COLS>(p, tile);
        m.same("row", exact(first.row), coq::band_line(16, down, across, tile) * ROWS, at);
        m.same("column", exact(first.col), coq::band_place(16, down, across, tile) * COLS, at);
        const int warp = (int)draw_below(THREADS / 32);
        const tiles::place own = tensor::warp_of<WARP_ROWS, WARP_COLS>(warp, (int)ACROSS);
        m.same("warp's row", exact(own.row), coq::warp_row(ACROSS, WARP_ROWS, warp), {warp});
        m.same("warp's column", exact(own.col), coq::warp_col(ACROSS, WARP_COLS, warp), {warp});
        m.fits(at);
    }
}

/* -- Groups -------------------------------------------------------------------------------------------------------- */

enum { MOST_GROUPS = 40 };

/* Rows cut into groups, many of them empty, and the table that find_groups() makes of them. */
struct groups {
    int count;
    Z begin[MOST_GROUPS + 2], first[MOST_GROUPS + 2];
    traced<long long> ends[MOST_GROUPS + 1], table[MOST_GROUPS + 5];
    tki_grouped_groups of;

    groups(long long rows, int tile)
    {
        count = (int)draw_below(MOST_GROUPS + 1);
        begin[0] = 0;
        for (int i = 0; i < count; i++) {
            const Z left = rows - begin[i];
            const Z some = draw_below(3) == 0 ? 0 : draw_below(2) ? draw_below(left + 1) : draw_below(3) * tile + draw_below(3) - 1;
            begin[i + 1] = begin[i] + (some < 0 ? 0 : some > left ? left : some);
            ends[i] = (long long)begin[i + 1];
        }
        begin[count + 1] = rows;
        of.ends = ends;
        of.groups = count;
        of.rows = rows;
        of.wide_index = 1;
        of.tile = tile;
        of.table = table;
        first[0] = 0;
        for (int i = 0; i <= count; i++)
            first[i + 1] = first[i] + coq::divide_up(begin[i + 1] - begin[i], tile);
        table[TKI_GROUPED_GOOD] = 1;
        table[TKI_GROUPED_TOTAL] = (long long)first[count + 1];
        for (int i = 0; i <= count + 1; i++)
            table[TKI_GROUPED_FIRST + i] = (long long)first[i];
    }
};

/* What search_is_right says of the search; the formulas of its steps. */
static Z check_search(map &m, const groups &g, Z line)
{
    const Z found = exact(grouped::group_with(g.of, (long long)line));
    m.same("first tile of the group", found >= 0 && found <= g.count && g.first[(int)found] <= line, 1, {line, found});
    m.same("last tile of the group", line < g.first[(int)found + 1], 1, {line, found});
    const long long low = draw_below(1LL << 40), high = low + draw_below(1LL << 40);
    m.same("middle", exact(grouped::middle_of(low, high)), coq::search_middle(low, high), {low, high});
    const int i = (int)draw_below(g.count + 1);
    m.same("tiles of a group", exact(grouped::tiles_of(g.of, i)), g.first[i + 1] - g.first[i], {i});
    return found;
}

template <class F> static void check_tasks(map &m)
{
    for (long long n = 0; n < wanted_points; n++) {
        const long long most_cols = 1LL << (4 + draw_below(27));
        const long long rows = draw_size(draw_below(8) ? 1 << 20 : MOST_SIZE, 128), cols = draw_size(most_cols < MOST_SIZE ? most_cols : MOST_SIZE, F::width);
        const groups g(rows, 128);
        tki_grouped_hopper_params p;
        p.of = g.of;
        const Z total = F::left_across ? g.count : g.first[g.count + 1], across = coq::divide_up(cols, F::width);
        const Z down = F::left_across ? coq::divide_up(rows, 128) : 1;
        if (total == 0 || total * down * across > 1 << 30)
            continue;
        p.rows = rows;
        p.cols = cols;
        p.tiles_down = (long long)down;
        p.tiles_across = (long long)across;
        p.blocks = 1;
        traced<long long> order[MOST_GROUPS + 5];
        if (F::left_across) {
            order[TKI_GROUPED_TOTAL] = (long long)total;
            for (int i = 0; i < g.count; i++)
                order[TKI_GROUPED_FIRST + i] = g.count - 1 - i;
            p.of.table = order;
        }
        now.begin();
        const Z tasks = exact(grouped::task_count(p));
        const std::initializer_list<Z> at = {rows, cols, F::width, g.count, total, tasks};
        m.same("tasks", tasks, total * down * across, at);
        const long long number = draw_below(tasks);
        m.fits(at);
        now.begin();
        const grouped::task u = grouped::task_at<F>(p, number, (long long)tasks);
        const computation met = now;
        if (F::left_across) {
            m.fits(at);
            m.same("group of sums over rows", exact(u.group), g.count - 1 - coq::over_place(down, across, number), at);
            m.same("row of sums over rows", exact(u.row), coq::over_row(down, across, number) * 128, at);
            m.same("column of sums over rows", exact(u.col), coq::over_col(down, across, number) * F::width, at);
            m.same("place", exact(u.place), g.begin[(int)exact(u.group)], at);
            continue;
        }
        const Z line = coq::task_line(total, across, number);
        const Z found = check_search(m, g, line);
        now = met;
        m.on_the_way(coq::task_steps(total, across, F::width, cols, number, found, g.begin[(int)found], line, g.first[(int)found]), at);
        m.same("group", exact(u.group), found, at);
        m.same("row", exact(u.row), coq::task_row(g.begin[(int)found], line, g.first[(int)found], 128), at);
        m.same("end", exact(u.end), g.begin[(int)found + 1], at);
        m.same("column", exact(u.col), coq::task_across(total, across, number) * F::width, at);
    }
}

static void check_groups_anywhere(map &m)
{
    for (long long n = 0; n < wanted_points; n++) {
        const long long rows = draw_size(1LL << 40, 64), cols = draw_size(1 << 20, 64);
        const groups g(rows, 64);
        tki_grouped_params p;
        p.of = g.of;
        const long long across = (long long)coq::divide_up(cols, 64), down = (long long)coq::divide_up(rows, 64);
        p.over_rows = (int)draw_below(2);
        const bool over_rows = exact(p.over_rows);
        const Z lines = over_rows ? g.count * down : g.first[g.count + 1];
        if (lines == 0)
            continue;
        const long long tile = draw_below(lines * across);
        const std::initializer_list<Z> at = {rows, cols, g.count, tile};
        now.begin();
        const grouped::any_tile u = grouped::any_tile_at(p, tile, across, over_rows ? down : 1);
        m.fits(at);
        m.same("line", exact(u.line), coq::tile_row(across, 1, tile), at);
        m.same("column", exact(u.col), coq::tile_col(across, 64, tile), at);
        const Z line = exact(u.line);
        if (over_rows) {
            m.same("matrix", exact(u.group), coq::tile_row(down, 1, line), at);
            m.same("matrix's row", exact(u.row), coq::tile_col(down, 64, line), at);
        } else {
            m.same("group", exact(u.group), check_search(m, g, line), at);
            m.same("row", exact(u.row), coq::task_row(0, line, g.first[(int)exact(u.group)], 64), at);
        }
    }
}

/* -- Rows ---------------------------------------------------------------------------------------------------------- */

template <int pack> static void check_spans(map &m)
{
    for (long long n = 0; n < 3 * wanted_points; n++) {
        const long long cols = draw_size(1 << 24, pack), members = draw_below(2) ? 1LL << draw_below(11) : 1 + draw_below(1024);
        const long long member = draw_below(members), k = draw_below(12);
        const bool shifted = draw_below(2), exists = draw_below(8);
        const int shift = shifted ? (int)draw_below(pack) : 0;
        const std::initializer_list<Z> at = {pack, cols, members, member, k, shift};
        rows::given_shift = shift;
        const rows::team team = {member, members};
        const rows::tensor_row row = {cols};
        typedef rows::of<pack> of;
        now.begin();
        const rows::row_span span = shifted ? of::template span_of<true>(team, row, exists) : of::template span_of<false>(team, row, exists);
        m.same("first", exact(span.first), coq::span_first(pack, member), at);
        m.same("step", exact(span.step), coq::span_step(pack, members), at);
        m.same("left", exact(span.left), exists ? coq::span_left(pack, cols, shift, member) : 0, at);
        if (exists) {
            const rows::places here = of::places_of(span, (int)k);
            m.same("begin", exact(here.begin), coq::span_begin(pack, shift, member, k), at);
            m.same("end", exact(here.end), coq::span_end(pack, cols, shift, members, member, k), at);
            m.same("has", of::span_has(span, (int)k), coq::span_end(pack, cols, shift, members, member, k) > 0, at);
        }
        m.fits(at);
    }
}

template <int pack> static void check_stretches(map &m)
{
    typedef rows::of<pack> of;
    for (long long n = 0; n < 2 * wanted_points; n++) {
        const long long cols = draw_size(2147483647 - 1024, pack), blocks = 2LL << draw_below(4), rank = draw_below(blocks);
        const long long threads = 32 * (1 + draw_below(32)), thread = draw_below(threads);
        const std::initializer_list<Z> at = {pack, cols, blocks, rank, threads, thread};
        rows::given_rank = rank;
        rows::given_cluster = blocks;
        rows::given_threads = threads;
        given_thread = thread;
        now.begin();
        const rows::row_part part = of::part_of(rows::cluster_team(), cols);
        m.fits(at);
        m.same("packs of a stretch", exact(of::stretch_packs(cols)), coq::stretch_packs(pack, blocks, cols), at);
        m.same("first of a stretch", exact(part.first), coq::stretch_first(pack, blocks, cols, rank, thread), at);
        m.same("step in a stretch", exact(part.step), threads * pack, at);
        m.same("end of a stretch", exact(part.end), coq::stretch_end(pack, blocks, cols, rank), at);
    }
}

static void check_embedding(map &m)
{
    for (long long n = 0; n < 3 * wanted_points; n++) {
        tki_embedding_gpu_params p;
        const int bits = (int)draw_below(8), lanes = 1 << bits, threads = TKI_EMBEDDING_THREADS;
        const long long blocks = 1 + draw_below(1 << 22), block = draw_below(blocks), thread = draw_below(threads);
        const long long parts = 1 + draw_below(65535), y = draw_below(parts);
        const std::initializer_list<Z> at = {bits, blocks, block, thread, parts, y};
        p.group_bits = bits;
        p.column_parts = parts;
        given_thread = thread;
        given_block = block;
        embedding::given_threads = threads;
        embedding::given_blocks = blocks;
        embedding::given_y = y;
        now.begin();
        const embedding::group g = embedding::this_group(p);
        m.same("lane", exact(g.lane), coq::group_lane(lanes, thread), at);
        m.same("item", exact(g.item), coq::group_item(lanes, threads, block, thread), at);
        m.same("stride", exact(g.stride), coq::group_stride(lanes, threads, blocks), at);
        const embedding::unit_loop loops[] = {embedding::gather_loop<TKI_EMBEDDING_FWD_UNITS>(p, g),
                                              embedding::sum_loop<TKI_EMBEDDING_BWD_UNITS>(p, g),
                                              embedding::few_loop<TKI_EMBEDDING_BWD_UNITS>(p, g)};
        for (int i = 0; i < 3; i++) {
            const int count = i ? TKI_EMBEDDING_BWD_UNITS : TKI_EMBEDDING_FWD_UNITS;
            m.same("first unit", exact(loops[i].first), coq::unit_first(lanes, count, y, exact(g.lane)), at);
            m.same("step of units", exact(loops[i].step), coq::unit_step(lanes, count, parts), at);
        }
        m.fits(at);
    }
}

/* One long row between others: the runs that places of windows stand for. */
static void check_runs(map &m)
{
    enum { RUN = TKI_EMBEDDING_HITS_IN_RUN, HITS = 32 * RUN };
    static tki_embedding_hit hits[HITS];
    for (long long n = 0; n < wanted_points / 20; n++) {
        const long long begin = draw_below(HITS / 2), end = begin + 1 + draw_below(HITS / 2);
        tki_embedding_range ranges[3];
        ranges[0].begin = 0;
        ranges[0].end = begin;
        ranges[1].begin = begin;
        ranges[1].end = end;
        ranges[2].begin = end;
        ranges[2].end = HITS;
        for (long long i = 0; i < HITS; i++)
            hits[i].row = (long long)(i < begin ? 0 : i < end ? 1 : 2);
        tki_embedding_gpu_params p;
        p.sorted = hits;
        p.ranges = ranges;
        p.partials = nullptr;
        p.dim = 1;
        const bool is_long = end - begin > RUN;
        int found = 0;
        for (long long w = (begin + RUN - 1) / RUN; w * RUN < end; w++) {
            const embedding::range rest = embedding::run_at(p, 2 * w), first = embedding::run_at(p, 2 * w + 1);
            const Z begins = coq::run_begin(RUN, begin, w), q = (begins - begin) / RUN;
            const bool is_run = is_long && w * RUN > begin && begins < end, is_first = is_long && w * RUN - begin < RUN;
            m.same("whether a run begins", exact(rest.begin) < exact(rest.end), is_run, {begin, end, w});
            m.same("whether the first run is there", exact(first.begin) < exact(first.end), is_first, {begin, end, w});
            if (is_run) {
                m.same("begin of a run", exact(rest.begin), begins, {begin, end, w});
                m.same("window of a run", coq::run_window(RUN, begin, q), w, {begin, end, q});
                m.same("place of a run", exact(embedding::later_place(p, ranges[1], (long long)q)), 2 * coq::run_window(RUN, begin, q), {begin, end, q});
                found++;
            }
            found += is_first;
        }
        m.same("runs", found, is_long ? (end - begin + RUN - 1) / RUN : 0, {begin, end});
    }
}

/* -- The CPU ------------------------------------------------------------------------------------------------------- */

template <int VEC, int REGISTERS> static void check_cpu(map &m)
{
    typedef cpu<VEC, REGISTERS> c;
    const int strip_rows = c::STRIP_ROWS, strip_cols = c::STRIP_COLS, width = c::LEFT_WIDTH;
    for (long long n = 0; n < 3 * wanted_points; n++) {
        typename c::cut w;
        const long long rows = draw_size(1LL << 30, strip_rows), cols = draw_size(1LL << 30, strip_cols);
        const int down = 1 + (int)draw_below(9), across = 1 + (int)draw_below(9);
        const long long limit = 1 + draw_below(4096);
        const std::initializer_list<Z> at = {VEC, rows, cols, down, across, limit};
        w.p.rows = rows;
        w.p.cols = cols;
        w.workers_across = across;
        w.totals = true;
        now.begin();
        w.share_rows = c::share_rows(&w, down);
        w.share_cols = c::share_cols(&w, down, down * across);
        w.panel_rows = c::even_part(w.share_rows, limit, width);
        w.tile_rows = w.panel_rows * (1 + draw_below(4));
        w.tile_cols = c::even_part(w.share_cols, limit, strip_cols);
        const Z share_rows = exact(w.share_rows), share_cols = exact(w.share_cols);
        m.same("a share's rows", share_rows, coq::cpu_round_up(coq::cpu_parts_of(rows, down), strip_rows), at);
        m.same("a share's columns", share_cols, coq::cpu_round_up(coq::cpu_parts_of(cols, across), strip_cols), at);
        m.same("rows of a panel", exact(w.panel_rows), coq::cpu_even_part(share_rows, limit, width), at);
        m.same("columns of a tile", exact(w.tile_cols), coq::cpu_even_part(share_cols, limit, strip_cols), at);
        const int worker = (int)draw_below(down * across);
        const auto share = c::share(&w, worker);
        const Z a = coq::worker_down(across, worker), b = coq::worker_across(across, worker);
        m.same("a share's first row", exact(share.row), coq::share_first(a, share_rows), at);
        m.same("a share's first column", exact(share.col), coq::share_first(b, share_cols), at);
        m.same("a share's last row", exact(share.rows), coq::share_end(rows, a, share_rows), at);
        m.same("a share's last column", exact(share.cols), coq::share_end(cols, b, share_cols), at);
        m.fits(at);
        if (exact(share.row) >= exact(share.rows) || exact(share.col) >= exact(share.cols))
            continue;
        /* A tile, a panel and a strip of it end where they do in strips_cover_once. */
        const Z tile_rows = exact(w.tile_rows), tile_cols = exact(w.tile_cols), panel_rows = exact(w.panel_rows);
        const Z t_row = exact(share.row) + draw_below((exact(share.rows) - exact(share.row) + tile_rows - 1) / tile_rows) * tile_rows;
        const Z t_col = exact(share.col) + draw_below((exact(share.cols) - exact(share.col) + tile_cols - 1) / tile_cols) * tile_cols;
        const auto t = c::tile_at(&w, (long long)t_row, (long long)t_col, share.rows, share.cols);
        const Z tile_end = coq::Z_min(t_row + tile_rows, exact(share.rows)), col_end = coq::Z_min(t_col + tile_cols, exact(share.cols));
        m.same("a tile's end", exact(t.row) + exact(t.rows), tile_end, at);
        m.same("a tile's last column", exact(t.col) + exact(t.cols), col_end, at);
        const auto walk = c::walk_of(&w, share.row, share.col);
        m.same("rows to the next tile", exact(walk.rows), tile_rows, at);
        m.same("columns to the next tile", exact(walk.cols), tile_cols, at);
        m.same("the first tile's row", exact(walk.row), exact(share.row), at);
        m.same("the first tile's column", exact(walk.col), exact(share.col), at);
        const Z row = draw_below((exact(t.rows) + panel_rows - 1) / panel_rows) * panel_rows;
        const Z col = draw_below((exact(t.cols) + strip_cols - 1) / strip_cols) * strip_cols;
        const auto panel = c::panel_at(&w, &t, (long long)row, (long long)col);
        m.same("a panel's first row", exact(panel.row), t_row + row, at);
        m.same("a panel's end", exact(panel.row) + exact(panel.rows), coq::Z_min(t_row + row + panel_rows, tile_end), at);
        m.same("a strip's first column", exact(panel.col), t_col + col, at);
        m.same("a strip's last column", exact(panel.col) + exact(panel.cols), coq::Z_min(t_col + col + strip_cols, col_end), at);
        const Z r = draw_below((exact(panel.rows) + strip_rows - 1) / strip_rows) * strip_rows;
        const auto strip = c::strip(&panel, (long long)r);
        m.same("a strip's first row", exact(strip.row), t_row + row + r, at);
        m.same("a strip's end", exact(strip.row) + exact(strip.rows),
               coq::Z_min(t_row + row + r + strip_rows, coq::Z_min(t_row + row + panel_rows, tile_end)), at);
        const int lane_row = (int)draw_below(strip_rows), v = (int)draw_below(c::STRIP_VECS);
        m.same("a waiting sum", exact(c::waiting_place(&w, (long long)row, (long long)col, (long long)r, lane_row, v)),
               coq::waiting_at(strip_rows, strip_cols, tile_cols, row + r, col, lane_row, v * VEC), at);
        w.left_stride = 1;
        const int depth = 1 + (int)draw_below(1024);
        const auto left = c::strip_at(&w, nullptr, (long long)r, depth);
        m.same("a packed row", left.first - (const float *)nullptr, coq::packed_at(width, depth, r, 0), at);
        m.same("a packed cell", exact(left.cell_stride), coq::packed_at(width, depth, 0, 1), at);
        m.fits(at);
    }
}

static void check_matrix_units()
{
    {
        map panels("panels' chunks");
        CHECK_CHUNKS_OF(cuda, false, false)
        CHECK_CHUNKS_OF(wmma, true, false)
        CHECK_CHUNKS_OF(mfma, true, true)
    }
    {
        map squares("squares of sums");
        for (int lane = 0; lane < 64; lane++)
            for (int s = 0; s < 8; s++) {
                given_lanes = 32;
                given_thread = lane;
                if (lane < 32) {
                    squares.same("mma row", exact(cuda::sum_row(s)), coq::mma_row(lane, s), {lane, s});
                    squares.same("mma column", exact(cuda::sum_col(s)), coq::mma_col(lane, s), {lane, s});
                    squares.same("WMMA row", exact(wmma::sum_row(s)), coq::wmma_row(lane, s), {lane, s});
                    squares.same("WMMA column", exact(wmma::sum_col(s)), coq::amd_col(lane), {lane, s});
                }
                given_lanes = 64;
                if (s < 4) {
                    squares.same("MFMA row", exact(mfma::sum_row(s)), coq::mfma_row(lane, s), {lane, s});
                    squares.same("MFMA column", exact(mfma::sum_col(s)), coq::amd_col(lane), {lane, s});
                }
            }
        given_lanes = 32;
    }
    {
        map tensor_tiles("tensor tiles");
        check_tensor<TKI_TENSOR_ROWS, TKI_TENSOR_COLS, TKI_TENSOR_THREADS>(tensor_tiles);
        check_tensor<TKI_TENSOR_SMALL, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL_THREADS>(tensor_tiles);
        check_tensor<TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS>(tensor_tiles);
        for (int all = 1; all < 64; all++)
            for (int shares = 1; shares < 16; shares++)
                for (int i = 0; i < all; i++)
                    tensor_tiles.same("share", exact(tensor::share_of(i, shares, all)), coq::share_of(shares, all, i), {all, shares, i});
    }
    map feeds("feeds of panels");
    CHECK_PANELS(cuda, false, false, piece_feed, TKI_TENSOR_ROWS, TKI_TENSOR_COLS, TKI_TENSOR_THREADS, TKI_TENSOR_DEPTH)
    CHECK_PANELS(cuda, false, false, piece_feed, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL_THREADS, TKI_TENSOR_SMALL_DEPTH)
    CHECK_PANELS(cuda, false, false, pair_feed, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS, TKI_TENSOR_PAIRS_DEPTH)
    CHECK_PANELS(wmma, true, false, piece_feed, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS, TKI_TENSOR_STAGED_DEPTH)
    CHECK_PANELS(wmma, true, false, piece_feed, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL_THREADS, TKI_TENSOR_STAGED_DEPTH)
    CHECK_PANELS(wmma, true, false, pair_feed, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS, TKI_TENSOR_STAGED_DEPTH)
    CHECK_PANELS(mfma, true, true, piece_feed, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS, TKI_TENSOR_STAGED_DEPTH)
    CHECK_PANELS(mfma, true, true, piece_feed, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL, TKI_TENSOR_SMALL_THREADS, TKI_TENSOR_STAGED_DEPTH)
    CHECK_PANELS(mfma, true, true, pair_feed, TKI_TENSOR_STAGED_ROWS, TKI_TENSOR_STAGED_COLS, TKI_TENSOR_STAGED_THREADS, TKI_TENSOR_STAGED_DEPTH)
}
