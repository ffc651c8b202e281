/* UNTRUSTED. Where groups of rows begin and end, on any GPU. */
#ifndef TKI_OPS_GROUPED_KERNEL_GROUPS_H
#define TKI_OPS_GROUPED_KERNEL_GROUPS_H

#include "kernels/device.h"
#include "ops/product/params.h"

/* Where group i - 1 ends: where group i begins. */
DEVICE int64_t begin_of(const tki_grouped_groups &of, int64_t i)
{
    if (i == 0)
        return 0;
    return of.wide_index ? ((const int64_t *)of.ends)[i - 1] : (int64_t)((const int32_t *)of.ends)[i - 1];
}

/* Group g, of the rows of no group, ends with the rows. */
DEVICE int64_t end_of(const tki_grouped_groups &of, int64_t i)
{
    return i < of.groups ? begin_of(of, i + 1) : of.rows;
}

/* The group that has that tile of rows: the last one of those that begin there, since all others are empty. */
DEVICE int64_t group_with(const tki_grouped_groups &of, int64_t tile)
{
    const int64_t *first = of.table + TKI_GROUPED_FIRST;
    int64_t low = 0, high = of.groups;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (first[middle] <= tile)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* One block: looks at all ends, and numbers the tiles of the groups. */
KERNEL(TKI_GROUPED_THREADS, 1, find_groups, tki_grouped_groups)
{
    SHARED int64_t sums[2][TKI_GROUPED_THREADS];
    SHARED int64_t carried;
    SHARED int bad;
    const int t = (int)thread_index();
    int64_t *first = p.table + TKI_GROUPED_FIRST;
#ifdef TKI_KERNELS_DEVICE_HOPPER_H
    let_next_kernel_in(); /* it has barriers to create, and waits for the table by itself */
#endif
    if (t == 0) {
        carried = 0;
        bad = 0;
    }
    block_barrier();
    for (int64_t base = 0; base <= p.groups; base += TKI_GROUPED_THREADS) {
        const int64_t i = base + t;
        int64_t tiles = 0;
        if (i < p.groups && (end_of(p, i) < begin_of(p, i) || end_of(p, i) > p.rows)) {
            report_bad_index(p.fault_word, i);
            bad = 1;
        }
        if (i <= p.groups && p.tile > 0)
            tiles = (end_of(p, i) - begin_of(p, i) + p.tile - 1) / p.tile;
        int from = 0;
        sums[0][t] = tiles;
        block_barrier();
        for (int distance = 1; distance < TKI_GROUPED_THREADS && p.tile > 0; distance *= 2, from ^= 1) {
            sums[from ^ 1][t] = sums[from][t] + (t >= distance ? sums[from][t - distance] : 0);
            block_barrier();
        }
        const int64_t before = carried;
        if (i <= p.groups && p.tile > 0)
            first[i] = before + sums[from][t] - tiles;
        block_barrier();
        if (t == TKI_GROUPED_THREADS - 1)
            carried = before + sums[from][t];
        block_barrier();
    }
    if (p.tile == 0) /* the longest sums first, so that no block is left with one at the end */
        for (int64_t i = t; i < p.groups; i += TKI_GROUPED_THREADS) {
            int64_t place = i;
            if (p.groups <= TKI_GROUPED_MOST_SORTED) {
                const int64_t own = end_of(p, i) - begin_of(p, i);
                place = 0;
                for (int64_t j = 0; j < p.groups; j++) {
                    const int64_t other = end_of(p, j) - begin_of(p, j);
                    place += other > own || (other == own && j < i);
                }
            }
            first[place] = i;
        }
    if (t == 0) {
        const int64_t total = p.tile > 0 ? carried : p.groups;
        p.table[TKI_GROUPED_GOOD] = !bad;
        p.table[TKI_GROUPED_TOTAL] = bad ? 0 : total;
        if (p.tile > 0)
            first[p.groups + 1] = total;
    }
}

KERNEL(256, 4, clear, tki_grouped_clear)
{
    if (!p.table[TKI_GROUPED_GOOD])
        return;
    const int64_t threads = (int64_t)block_count() * thread_count();
    for (int64_t i = (int64_t)block_index() * thread_count() + thread_index(); i < p.count; i += threads)
        ((result_element *)p.out)[i] = to_result(0.0f);
}

#endif
