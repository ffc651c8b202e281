#!/usr/bin/env bash
# The index maps of the kernels' sources are those that the proofs are about: proofs/index/tie.py takes the formulas out of both and evaluates
# them side by side. --self-test changes a formula of either side in a copy, for each map, and sees that map named. Skipped (77) where
# there is no python3 or g++.
# A function of: proofs src/kernels src/ops; g++ python3
set -euo pipefail
source_dir=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}
cd "$source_dir"

for command in python3 "${CXX:-g++}"; do
    if ! command -v "$command" >/dev/null; then
        echo "skipped: there is no $command"
        exit 77
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${1-}" != --self-test ]; then
    python3 proofs/index/tie.py . "$work"
    exit
fi

# Each line: the map that has to be named, the file, what stands there, and what comes in its place in a copy. A round makes one change of
# every map, since each is named by itself.
changes=$(
    cat <<'CHANGES'
unit_at | src/ops/product/kernel_hopper.h | min(p.raster, p.tiles_down - first) | p.raster
unit_at | src/ops/product/kernel_hopper.h | p.blocks * (which + 1) | p.blocks * which + p.parts
unit_at | src/ops/product/kernel_hopper.h | tile - band * per | tile % per + per - per
unit_at | proofs/tiles_hopper.v | blocks * unit_which whole parts number / parts | (blocks * unit_which whole parts number + 1) / parts
unit_at | proofs/tiling.v | Z.min raster (down - band_first raster across tile) | raster
product outputs | src/ops/product/kernel_hopper.h | * ROWS + (F::together ? g.index * 64 : 0) | * ROWS + (F::together ? g.index * 32 : 0)
product outputs | src/ops/product/kernel_hopper.h | col = first_col + 2 * (g.lane & 3) | col = first_col + 2 * (g.lane & 1)
product outputs | proofs/tiles_hopper.v | warp * 16 + lane / 4 | warp * 16 + lane / 8
product outputs | src/ops/product/kernel_hopper.h | col + 8 * ((begin + w) >> 1) | col + 8 * ((begin + w) >> 2)
product outputs | src/ops/product/kernel_hopper.h | const int which = part % p.parts | const int which = part / p.parts
product outputs | src/ops/product/kernel_hopper.h | {sum[4 * i + 2 * half], | {sum[4 * i + half],
product outputs | src/ops/product/kernel_hopper.h | {sum[2 * (begin + w)], | {sum[2 * begin + w],
product outputs | proofs/tiles_hopper.v | 4 * i + 2 * half + e | 4 * i + half + 2 * e
boxes of results | src/ops/product/kernel_hopper.h | (piece ^ (line & 7)) << 4) | (piece ^ (line & 3)) << 4)
boxes of results | src/ops/product/kernel_hopper.h | line >> 1 & 3 | line & 3
boxes of results | src/ops/product/kernel_hopper_grouped.h | to + line * 128 + ((piece ^ (line & 7)) << 4) | to + line * 128 + (piece << 4)
boxes of results | proofs/tiles_swizzle.v | line * 64 + Z.lxor piece (line / 2 mod 4) * 16 | line * 64 + piece * 16
tiles on any GPU | src/ops/product/kernel_gemm.cu | tile % tiles_across * TILE | tile / tiles_across * TILE
tiles on any GPU | src/ops/product/kernel_linear.cu | tile / tiles_across * TKI_LINEAR_TILE | tile % tiles_across * TKI_LINEAR_TILE
tiles on any GPU | src/ops/product/kernel_tiles.h | t / 64 * 4 + t % 32 / 8 | t / 64 * 4 + t % 32 / 4
tiles on any GPU | src/ops/product/kernel_tiles.h | first_row + i / 4 * HALF + down * 4 + i % 4 | first_row + i / 4 * HALF + down * 4 + i % 2
tiles on any GPU | proofs/tiles_gpu.v | t / 32 mod 2 * 8 + t mod 8. | t / 32 mod 2 * 8 + t mod 4.
pieces of panels | src/ops/product/kernel_tiles.h | quad_index ^ (k & PIECE) / (PIECE / 4) | quad_index ^ (k & PIECE) / (PIECE / 2)
pieces of panels | src/ops/product/kernel_tiles.h | own.k = t / (TILE / PIECE) | own.k = t / (TILE / 8)
pieces of panels | src/ops/product/kernel_tiles.h | .value[own.line % 4] | .value[own.line % 2]
pieces of panels | src/ops/product/kernel_tiles.h | swapped(d, j * HALF / 4 + across) | swapped(0, j * HALF / 4 + across)
pieces of panels | proofs/tiles_gpu.v | t mod (tile / piece) * piece | t mod piece * (tile / piece)
panels' chunks | src/kernels/device_mma.h | row / 2 % 4 : row % 8 | row % 4 : row % 8
panels' chunks | src/kernels/device_mma.h | row / 4 % 4 * 2 : 0 | row / 2 % 4 * 2 : 0
panels' chunks | proofs/tiles_swizzle.v | row / 2 mod 4 else row mod 8 | row / 2 mod 4 else row mod 4
squares of sums | src/kernels/device_mma.h | lane / 4 + i % 4 / 2 * 8 | lane / 4 + i % 4 * 8
squares of sums | src/kernels/device_mma.h | 2 * i + lane / 16 | i + lane / 16 * 8
squares of sums | proofs/tiles_gpu.v | lane / 16 * 4 + s | lane / 16 + s * 4
tensor tiles | src/ops/product/kernel_tensor.cu | within % group_rows | within % GROUP
tensor tiles | src/ops/product/kernel_tensor.cu | warp / ACROSS * WARP_ROWS | warp % ACROSS * WARP_ROWS
tensor tiles | src/ops/product/kernel_tensor.cu | i * shares / ALL != share | (i * shares + 1) / ALL != share
feeds of panels | src/ops/product/kernel_tensor.cu | i * ROW_STEP * shape::CHUNKS | i * ROW_STEP * 8
feeds of panels | src/ops/product/kernel_tensor.cu | row() + i % CYCLE * ROW_STEP | row() + i * ROW_STEP
feeds of panels | proofs/tiles_gpu.v | t / width + i * (threads / width) | t / width + i
tasks of groups | src/ops/product/kernel_hopper_grouped.h | min((int)BAND, total - band * BAND) | (int)BAND
tasks of groups | src/ops/product/kernel_hopper_grouped.h | const int across = tile / p.tiles_down; | const int across = tile % p.tiles_across;
tasks of groups | src/ops/product/kernel_groups.h | (low + high + 1) / 2 | (low + high) / 2 + 1
tasks of groups | src/ops/product/kernel_groups.h | begin_of(p, i) + p.tile - 1) / p.tile | begin_of(p, i) + p.tile) / p.tile
tasks of groups | src/ops/product/kernel_grouped.cu | line % down : line | line / down : line
tasks of groups | proofs/tiles_grouped.v | begin + (line - first) * tile | begin + line * tile
blocks on the CPU | src/kernels/cpu_product.h | worker % w->workers_across * w->share_cols | worker / w->workers_across * w->share_cols
blocks on the CPU | src/kernels/cpu_product.h | parts_of(size, parts_of(size, limit)), multiple | limit, multiple
blocks on the CPU | src/kernels/cpu_product.h | least(STRIP_ROWS, at->rows - r) | (int64_t)STRIP_ROWS
blocks on the CPU | src/kernels/cpu_product.h | row * w->tile_cols + col * STRIP_ROWS | row * w->tile_cols + col
blocks on the CPU | src/kernels/cpu_product.h | row / LEFT_WIDTH * LEFT_WIDTH * depth + row % LEFT_WIDTH | row * depth + row % LEFT_WIDTH
blocks on the CPU | src/kernels/cpu_product.h | row += w->tile_rows) | row += w->tile_cols)
blocks on the CPU | proofs/tiles_cpu.v | Z.min size (share_first number share + share) | share_first number share + share
few tiles | src/ops/product/kernel_hopper_few.h | cluster / p.tiles_down * me.wide + me.tile | cluster / p.tiles_down + me.tile
few tiles | src/ops/product/kernel_hopper_few.h | p.blocks * (me.stretch + 1) / deep | p.blocks * me.stretch / deep + 1
few tiles | src/ops/product/kernel_hopper_few.h | place = rank * slice + 4 * four | place = rank * slice + four
few tiles | proofs/tiles_few.v | cluster mod down * height | cluster / down * height
parts and memory | src/ops/product/kernel_hopper.h | ((uint32_t)part * F::down + rank) * F::groups | ((uint32_t)part + rank * F::down) * F::groups
parts and memory | src/ops/product/kernel_hopper.h | slot - (uint32_t)before * F::down * F::groups | slot - (uint32_t)before * F::groups
parts and memory | src/ops/product/kernel_hopper.h | at.full = at.boxes + 4 * F::box_bytes | at.full = at.boxes + 2 * F::box_bytes
parts and memory | src/ops/product/kernel_hopper.h | piece -= pieces; | piece = 0;
parts and memory | src/ops/product/params_hopper.h | TKI_GEMM_QUEUE * 12) | TKI_GEMM_QUEUE * 8)
parts and memory | proofs/tiles_few.v | (t * fours + j) * 128 + thread | (t * fours + j) * 64 + thread
rows in registers | src/kernels/device_rows.h | (int)row.cols + shift - first : 0 | (int)row.cols - first : 0
rows in registers | src/kernels/device_rows.h | k == 0 ? span.shift - span.first : 0 | span.shift
rows in registers | proofs/tiles_rows.v | cols + shift - span_first pack m | cols - span_first pack m
rows in registers | src/kernels/device_cluster.h | (packs + cluster_blocks() - 1) / cluster_blocks() | packs / cluster_blocks() + 1
embedding's groups | src/ops/embedding/kernel.cu | thread_index() & (g.lanes - 1) | thread_index() % groups
embedding's groups | src/ops/embedding/kernel.cu | block_index_y() * tile + g.lane; unit < units; unit += p.column_parts * tile | block_index_y() * tile + g.lane; unit < units; unit += tile
embedding's groups | proofs/tiles_rows.v | block * (threads / lanes) + thread / lanes | block * threads + thread / lanes
embedding's runs | src/ops/embedding/kernel.cu | (before + RUN - 1) / RUN * RUN | before / RUN * RUN
embedding's runs | src/ops/embedding/kernel.cu | hits.begin / RUN * 2 * p.dim + column | (hits.begin + RUN - 1) / RUN * 2 * p.dim + column
embedding's runs | proofs/tiles_rows.v | b / run + q | b / run + q + 1
turns of blocks | src/ops/product/kernel_gemm.cu | tile += block_count() | tile += 2 * block_count()
turns of blocks | src/ops/softmax/kernel_fwd.cu | first += block_count() * rows_here | first += block_count()
turns of blocks | src/ops/xent/kernel.cu | row = block_index() | row = block_index() + 1
turns of blocks | proofs/tiles_elements.v | one + turn * count | one * count + turn
elements and vectors | src/ops/gelu/kernel.cu | (p.n - head) / vector_elements | (p.n - head + 1) / vector_elements
elements and vectors | src/ops/gelu/kernel.cu | store16_once(out + begin + k * threads | store16_once(out + begin + k
elements and vectors | src/ops/gelu/kernel.cu | (p, tail + thread_index(), threads, p.n) | (p, tail + 1 + thread_index(), threads, p.n)
elements and vectors | proofs/tiles_elements.v | begin + thread + k * threads | begin + thread * 2 + k
patches of sums | src/ops/product/kernel_tensor.cu | row = i / COLS, col = i % COLS | row = i % COLS, col = i / COLS
patches of sums | src/ops/product/kernel_tensor.cu | (i * warp_lanes + lane) % PIECES * RESULTS | (i * warp_lanes + lane) % PIECES
patches of sums | proofs/tiles_elements.v | Z := i mod width | Z := i / width
p-adic tiles | src/ops/padic/kernel.cu | const int i0 = thread / ACROSS | const int i0 = thread % ACROSS
p-adic tiles | src/ops/padic/kernel.cu | c = col + at % TILE | c = col + at % DEPTH
p-adic tiles | src/ops/padic/kernel.cu | const int place = right ? thread / SHARES | const int place = right ? thread / PLACES
p-adic tiles | src/ops/padic/kernel.cu | share = right ? thread % SHARES : thread / PLACES | share = right ? thread % SHARES : thread % SHARES
p-adic tiles | proofs/tiles_elements.v | thread / across + i * across | thread / across * across + i
CHANGES
)
SELF_TEST_CHANGES=$changes python3 - "$work" <<'PYTHON'
import os
import shutil
import subprocess
import sys

work = sys.argv[1]
waiting = [line.split(" | ") for line in os.environ["SELF_TEST_CHANGES"].split("\n")]
failures = total = 0
while waiting:
    copy, maps, rest = os.path.join(work, "copy"), {}, []
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("proofs", "src"):
        shutil.copytree(folder, os.path.join(copy, folder), ignore=shutil.ignore_patterns("*.vo*", "*.glob"))
    for change in waiting:
        name, file, old, new = change
        if name in maps:
            rest.append(change)
            continue
        maps[name] = change
        path = os.path.join(copy, file)
        text = open(path, encoding="utf-8").read()
        if old not in text:
            sys.exit(f"{file} has no '{old}'")
        open(path, "w", encoding="utf-8").write(text.replace(old, new, 1))
    result = subprocess.run([sys.executable, "proofs/index/tie.py", copy, os.path.join(work, "built"), "2000"],
                            capture_output=True, text=True, check=False)
    told = {line.split(":")[0][len("FAILED "):]: line for line in result.stdout.split("\n") if line.startswith("FAILED ")}
    for name, (_, file, old, new) in maps.items():
        total += 1
        if name in told and result.returncode:
            print("noticed:", told[name])
        else:
            failures += 1
            print(f"not noticed: {name}: {file}, '{old}' changed to '{new}'")
    if not told:
        print(result.stdout, result.stderr)
    waiting = rest
print(f"{total} changes, {failures} not noticed as they should be")
sys.exit(failures > 0)
PYTHON
