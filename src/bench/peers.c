/* SHOWS. The peers, and what their adapters share. */
#include "bench/peers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/cpu.h"

/* -- The processor ------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
extern const bench_machine bench_machine_avx512, bench_machine_avx2;
#elif defined(__aarch64__)
extern const bench_machine bench_machine_neon;
#endif
extern const bench_machine bench_machine_scalar;

const bench_machine *bench_machine_here(void)
{
#if defined(__x86_64__)
    if (!tki_cpu_accept_avx512(NULL, NULL))
        return &bench_machine_avx512;
    if (!tki_cpu_accept_avx2(NULL, NULL))
        return &bench_machine_avx2;
#elif defined(__aarch64__)
    if (!tki_cpu_accept_neon(NULL, NULL))
        return &bench_machine_neon;
#endif
    return &bench_machine_scalar;
}

/* -- Libraries ---------------------------------------------------------------------------------------------------- */

void *bench_load(const char *const names[], const char **name)
{
    for (int i = 0; names[i]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) {
            *name = names[i];
            return library;
        }
    }
    return NULL;
}

const char *bench_library(const char *const names[])
{
    const char *name;
    return bench_load(names, &name) ? name : NULL;
}

void bench_symbol(void *library, const char *symbol, void *function)
{
    void *address = library ? dlsym(library, symbol) : NULL;
    memcpy(function, &address, sizeof address);
}

/* -- Work --------------------------------------------------------------------------------------------------------- */

bool bench_is(const bench_work *work, const char *op)
{
    return !strcmp(work->c.contract->name, op);
}

bool bench_product_of(const bench_work *work, bench_product *p)
{
    const int64_t m = work->c.dims[0];
    const int64_t n = work->c.dims[1];
    const int64_t k = work->c.dims[2];
    void *const *data = work->buffers;
    if (bench_is(work, "gemm"))
        *p = (bench_product){.rows = m, .cols = n, .inner = k, .a = data[0], .b = data[1], .c = data[2]};
    else if (bench_is(work, "gemm_grad_a"))
        *p = (bench_product){
            .rows = m, .cols = k, .inner = n, .a = data[0], .b = data[1], .c = data[2], .b_transposed = true};
    else if (bench_is(work, "gemm_grad_b"))
        *p = (bench_product){
            .rows = k, .cols = n, .inner = m, .a = data[1], .b = data[0], .c = data[2], .a_transposed = true};
    else
        return false;
    return true;
}

/* The tensor of that name, if the case has it. */
static void *tensor(const bench_work *work, const char *name)
{
    for (int p = 0; p < work->c.contract->param_count; p++)
        if (!strcmp(work->c.contract->params[p].name, name) && tk_case_has(&work->c, p))
            return work->buffers[p];
    return NULL;
}

/* Is it set to that, of the attributes that kernels see? */
static bool is_set(const tk_case *c, const char *attribute, const char *choice)
{
    const int at = tk_attribute_find(c->contract, attribute);
    return at >= 0 && c->attributes[at].integer == tk_choice_find(&c->contract->attributes[at], choice);
}

bool bench_layer_of(const bench_work *work, bench_product *p)
{
    const int64_t m = work->c.dims[0];
    const int64_t n = work->c.dims[1];
    const int64_t k = work->c.dims[2];
    if (bench_is(work, "linear_fwd"))
        *p = (bench_product){.rows = m,
                             .cols = n,
                             .inner = k,
                             .a = tensor(work, "x"),
                             .b = tensor(work, "w"),
                             .c = tensor(work, "y"),
                             .b_transposed = true,
                             .bias = tensor(work, "bias"),
                             .residual = tensor(work, "residual"),
                             .pre = tensor(work, "pre")};
    else if (bench_is(work, "linear_grad_x"))
        *p = (bench_product){.rows = m,
                             .cols = k,
                             .inner = n,
                             .a = tensor(work, "grad_y"),
                             .b = tensor(work, "w"),
                             .c = tensor(work, "grad_x"),
                             .slope_at = tensor(work, "pre")};
    else if (bench_is(work, "linear_grad_w") && is_set(&work->c, "accumulate", "no"))
        *p = (bench_product){.rows = n,
                             .cols = k,
                             .inner = m,
                             .a = tensor(work, "grad_y"),
                             .b = tensor(work, "x"),
                             .c = tensor(work, "grad_w"),
                             .a_transposed = true};
    else
        return bench_product_of(work, p);
    return true;
}

bool bench_wide_product_open(const bench_work *work, bench_wide_product *product)
{
    bench_product *p = &product->p;
    if (!bench_product_of(work, p))
        return false;
    product->a = bench_alloc(p->rows * p->inner * (int64_t)sizeof(float));
    product->b = bench_alloc(p->inner * p->cols * (int64_t)sizeof(float));
    product->c = bench_alloc(p->rows * p->cols * (int64_t)sizeof(float));
    return product->a && product->b && product->c;
}

void bench_wide_product_close(bench_wide_product *product)
{
    free(product->a);
    free(product->b);
    free(product->c);
}

enum { CHUNK = 1 << 15 };

void bench_widen(const bench_work *work, const uint16_t *from, float *to, int64_t count)
{
    const bench_machine *machine = bench_machine_here();
    const tk_dtype dtype = work->c.dtype;
#pragma omp parallel for schedule(static) num_threads(work->threads) if (work->threads > 1)
    for (int64_t i = 0; i < count; i += CHUNK)
        machine->widen[dtype](from + i, to + i, count - i < CHUNK ? count - i : CHUNK);
}

void bench_narrow(const bench_work *work, const float *from, uint16_t *to, int64_t count)
{
    const bench_machine *machine = bench_machine_here();
    const tk_dtype dtype = work->c.dtype;
#pragma omp parallel for schedule(static) num_threads(work->threads) if (work->threads > 1)
    for (int64_t i = 0; i < count; i += CHUNK)
        machine->narrow[dtype](from + i, to + i, count - i < CHUNK ? count - i : CHUNK);
}

void *bench_alloc(int64_t bytes)
{
    size_t rounded = ((size_t)bytes + 64) / 64 * 64;
    void *memory = aligned_alloc(64, rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

/* -- The list ----------------------------------------------------------------------------------------------------- */

const bench_peer *const bench_peers[] = {
    &bench_peer_plain,  &bench_peer_sleef,   &bench_peer_openblas, &bench_peer_blis,
    &bench_peer_onednn, &bench_peer_libxsmm, &bench_peer_flint,    NULL};

bool bench_peer_at(int i, const char **name, const char **found, bool *present)
{
    enum { PEERS = sizeof bench_peers / sizeof *bench_peers - 1 };
    const char *missing = "";
    if (i > PEERS)
        return false;
    *name = i < PEERS ? bench_peers[i]->name : "pytorch";
    *found = i < PEERS ? bench_peers[i]->find(&missing) : bench_pytorch_find(&missing);
    *present = *found != NULL;
    if (!*found)
        *found = missing;
    return true;
}
