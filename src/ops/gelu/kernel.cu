/* UNTRUSTED. GELU and its gradient on a GPU. Bound by memory: 16-byte accesses, several in flight per thread, results not kept in the
 * caches. Elementwise, so no bit depends on how elements are shared out. */
#include "kernels/device_gelu.h"
#include "ops/gelu/params.h"

#ifndef GELU_BLOCKS
#define GELU_BLOCKS 12 /* on one multiprocessor, at least; leaves 40 registers a thread */
#endif

template <bool backward> DEVICE float result_of(float grad_output, float x)
{
    return backward ? grad_output * gelu_derivative_of(x) : gelu_of(x);
}

template <bool backward> DEVICE vector16 results_of(vector16 grad_output, vector16 x)
{
    vector16 out;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float g[word_elements], v[word_elements];
        from_word(grad_output.word[k], g);
        from_word(x.word[k], v);
#pragma unroll
        for (int i = 0; i < word_elements; i++)
            v[i] = result_of<backward>(g[i], v[i]);
        out.word[k] = to_word(v);
    }
    return out;
}

/* `count` elements, `step` apart, as far as there are any before `end`; all are loaded before the first is stored. */
template <bool backward, int count>
DEVICE void run_elements_from(const tki_gelu_params &p, int64_t begin, int64_t step, int64_t end)
{
    element g[count], v[count];
#pragma unroll
    for (int k = 0; k < count; k++) {
        const int64_t i = begin + k * step;
        v[k] = i < end ? ((const element *)p.x)[i] : (element)0;
        g[k] = backward && i < end ? ((const element *)p.grad_output)[i] : (element)0;
    }
#pragma unroll
    for (int k = 0; k < count; k++)
        if (begin + k * step < end)
            ((element *)p.out)[begin + k * step] = to_element(
                result_of<backward>(from_element(g[k]), from_element(v[k])));
}

/* For pointers that lie alike within 16 bytes. The first block also takes what stands before and after the whole vectors. */
template <bool backward, int vectors> DEVICE void run_vectors(const tki_gelu_params &p)
{
    int64_t head = (int64_t)((0 - (uintptr_t)p.out) % sizeof(vector16) / sizeof(element));
    head = head < p.n ? head : p.n;
    const int64_t whole = (p.n - head) / vector_elements;
    const vector16 *grad_output = (const vector16 *)((const element *)p.grad_output + head);
    const vector16 *x = (const vector16 *)((const element *)p.x + head);
    vector16 *out = (vector16 *)((element *)p.out + head);

    const unsigned threads = thread_count();
    const int64_t tile = (int64_t)threads * vectors;
    for (int64_t first = block_index() * tile; first < whole; first += block_count() * tile) {
        const int64_t begin = first + thread_index();
        vector16 g[vectors], v[vectors];
        if (first + tile <= whole) {
#pragma unroll
            for (int k = 0; k < vectors; k++) {
                v[k] = load16(x + begin + k * threads);
                g[k] = backward ? load16(grad_output + begin + k * threads) : v[k];
            }
#pragma unroll
            for (int k = 0; k < vectors; k++)
                store16_once(out + begin + k * threads, results_of<backward>(g[k], v[k]));
        } else {
            for (int64_t i = begin; i < whole; i += threads) {
                vector16 v_one = load16(x + i);
                vector16 g_one = backward ? load16(grad_output + i) : v_one;
                store16_once(out + i, results_of<backward>(g_one, v_one));
            }
        }
    }
    /* A small call is over before code that it does not need could have been fetched. */
    const int64_t tail = head + whole * vector_elements;
    if (block_index() == 0 && (head > 0 || tail < p.n)) {
        run_elements_from<backward, 1>(p, thread_index(), threads, head);
        run_elements_from<backward, 1>(p, tail + thread_index(), threads, p.n);
    }
}

/* For any pointers. */
template <bool backward> DEVICE void run_elements(const tki_gelu_params &p)
{
    const unsigned threads = thread_count();
    const int64_t tile = (int64_t)threads * TKI_GELU_ELEMENTS;
    for (int64_t first = block_index() * tile; first < p.n; first += block_count() * tile)
        run_elements_from<backward, TKI_GELU_ELEMENTS>(p, first + thread_index(), threads, p.n);
}

KERNEL(TKI_GELU_THREADS, GELU_BLOCKS, gelu_fwd, tki_gelu_params)
{
    run_vectors<false, TKI_GELU_FWD_VECTORS>(p);
}

KERNEL(TKI_GELU_THREADS, GELU_BLOCKS, gelu_bwd, tki_gelu_params)
{
    run_vectors<true, TKI_GELU_BWD_VECTORS>(p);
}

KERNEL(TKI_GELU_THREADS, GELU_BLOCKS, gelu_fwd_elements, tki_gelu_params)
{
    run_elements<false>(p);
}

KERNEL(TKI_GELU_THREADS, GELU_BLOCKS, gelu_bwd_elements, tki_gelu_params)
{
    run_elements<true>(p);
}
