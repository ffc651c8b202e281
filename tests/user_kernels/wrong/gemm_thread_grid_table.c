/* WRONG op=gemm kind=thread_grid_table narrow=yes expect=REFUTED : the grid of tiles for 12 threads is listed as 4 x 4, so tiles 12 to 15 are nobody's and are not written */
#include "elements.h"
#include "threads.h"
/* tiles down and across for 1 to 16 threads */
static const unsigned char grid[17][2] = {
    {1, 1}, {1, 1}, {2, 1},  {3, 1}, {2, 2},  {5, 1}, {3, 2}, {7, 1}, {4, 2},
    {3, 3}, {5, 2}, {11, 1}, {4, 4}, {13, 1}, {7, 2}, {5, 3}, {4, 4},
};
struct work {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t m, n, k;
    int dt, down, across;
};
static void tile_body(void *arg, int id, int count) {
    struct work *w = arg;
    const int ti = id / w->across, tj = id % w->across;
    const int64_t i0 = w->m * ti / w->down, i1 = w->m * (ti + 1) / w->down;
    const int64_t j0 = w->n * tj / w->across, j1 = w->n * (tj + 1) / w->across;
    (void)count;
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++) {
            float s = 0;
            for (int64_t t = 0; t < w->k; t++) s += up(w->a[i * w->k + t], w->dt) * up(w->b[t * w->n + j], w->dt);
            w->c[i * w->n + j] = down(s, w->dt);
        }
}
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    const int threads = call->threads > 16 ? 16 : call->threads;
    struct work w = {a, b, c, m, n, k, call->dtype, grid[threads][0], grid[threads][1]};
    team_run(threads, tile_body, &w);
    return 0;
}
