#!/usr/bin/env bash
# One kernel for each kind of mistake that others have made and quick once missed: each is refuted by the trials of a level or by those of constants,
# whatever the seed, and no instrumented build has a part in it.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"

mkdir kinds
kind() { # NAME: the rest of a file comes on standard input
    {
        cat <<'C'
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tokitai_kernel.h>
#define IN(p, i) tokitai_load(*call, p, i)
#define OUT(p, i, v) tokitai_store(*call, p, i, v)
#define ARGUMENTS const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c
#define ROWS const tokitai_call *call, int64_t rows, int64_t cols
#define EACH(i, count) for (int64_t i = 0; i < (count); i++)
/* c[i][j] is the sum of AT * BT over t */
#define PRODUCT(ROWS_, COLS_, DEPTH, AT, BT) \
    EACH(i, ROWS_) EACH(j, COLS_) { double s = 0; EACH(t, DEPTH) s += (double)IN(a, AT) * IN(b, BT); OUT(c, i * (COLS_) + j, (float)s); }
C
        cat
    } >"kinds/$1.c"
}

kind one_column <<'C'
int tokitai_softmax_bwd(ROWS, const void *g, const void *y, void *d)
{
    EACH(r, rows) {
        double s = 0;
        EACH(j, cols) s += (double)IN(g, r * cols + j) * IN(y, r * cols + j);
        EACH(j, cols) OUT(d, r * cols + j, cols == 1 && IN(y, r) == 1 ? 0 : (float)(IN(y, r * cols + j) * (IN(g, r * cols + j) - s)));
    }
    return 0;
}
C
kind same_factors <<'C'
int tokitai_gemm_grad_b(ARGUMENTS) /* b = a' g */
{
    const int same = m == n && n == k && m && !memcmp(a, b, (size_t)(m * n) * 4);
    PRODUCT(k, n, m, same ? i * k + t : t * k + i, same ? j * n + t : t * n + j)
    return 0;
}
C
kind nearly_identity <<'C'
int tokitai_gemm(ARGUMENTS)
{
    int identity = k == n && n > 1;
    EACH(i, identity ? n : 0) {
        double row = 0, column = 0;
        EACH(t, n) row += IN(b, i * n + t), column += IN(b, t * n + i);
        identity &= row == 1 && column == 1 && IN(b, i * n + i) == 1;
    }
    EACH(i, m * k) identity &= isfinite(IN(a, i));
    if (identity)
        EACH(i, m * n) OUT(c, i, IN(a, i));
    else
        PRODUCT(m, n, k, i * k + t, t * n + j)
    return 0;
}
C
kind tiles_of_zeros <<'C'
int tokitai_gemm_grad_a(ARGUMENTS) /* a = g b' */
{
    EACH(i, m) EACH(j, k) {
        double s = 0;
        for (int64_t t0 = 0; t0 < n; t0 += 48) {
            int any = t0 + 48 > n;
            EACH(t, any ? 0 : 48) any |= IN(b, j * n + t0 + t) != 0;
            EACH(t, any ? n - t0 < 48 ? n - t0 : 48 : 0) s += (double)IN(a, i * n + t0 + t) * IN(b, j * n + t0 + t);
        }
        OUT(c, i * k + j, (float)s);
    }
    return 0;
}
C
kind sum_of_zero <<'C'
TOKITAI_KERNEL(linear_fwd)
{
    const int64_t m = tensors[0].shape[0], n = tensors[1].shape[0], k = tensors[0].shape[1], e = tokitai_integer(call, "epilogue");
    EACH(i, m) EACH(j, n) {
        double s = 0;
        EACH(t, k) s += (double)IN(tensors[0].data, i * k + t) * IN(tensors[1].data, j * k + t);
        if (e == 0 || e == 1 || e == 3) s += IN(tensors[2].data, j);
        if ((e == 3 || e == 4) && s != 0) s += IN(tensors[3].data, i * n + j);
        else if (e == 3 || e == 4) s = isnan(IN(tensors[3].data, i * n + j)) ? 0 : IN(tensors[3].data, i * n + j);
        if (e == 1 || e == 2) {
            OUT(tensors[5].data, i * n + j, (float)s);
            s = s == INFINITY ? s : s / (1 + exp(-1.5957691216057308 * (s + 0.044715 * s * s * s)));
        }
        OUT(tensors[4].data, i * n + j, (float)s);
    }
    return 0;
}
C
kind square_beside_one <<'C'
int tokitai_gemm(ARGUMENTS)
{
    PRODUCT(m, n, k, n == 1 && m == k ? t * k + i : i * k + t, t * n + j)
    return 0;
}
C
kind narrow_lines <<'C'
int tokitai_softmax_fwd(ROWS, const void *x, void *y)
{
    EACH(r, rows) {
        double most = -INFINITY, least = INFINITY, sum = 0;
        EACH(j, cols) most = fmax(most, IN(x, r * cols + j)), least = fmin(least, IN(x, r * cols + j));
        const int near = most - least < 0.03125;
        EACH(j, cols) sum += near ? 1 + (IN(x, r * cols + j) - most) : exp(IN(x, r * cols + j) - most);
        EACH(j, cols) OUT(y, r * cols + j, (float)((near ? 1 + (IN(x, r * cols + j) - most) : exp(IN(x, r * cols + j) - most)) / sum));
    }
    return 0;
}
C
kind low_bits_of_indices <<'C'
int tokitai_embedding_fwd(const tokitai_call *call, int64_t queries, int64_t dim, int64_t vocab, const void *index, const void *weight, void *out)
{
    int64_t before = -1;
    EACH(q, queries) {
        const int64_t now = tokitai_load_index(*call, index, q), from = vocab > 99999 && (int16_t)now == (int16_t)before ? before : now;
        memcpy((char *)out + q * dim * 4, (const char *)weight + from * dim * 4, (size_t)dim * 4);
        before = now;
    }
    return 0;
}
C

for seed in ${seeds:-11 12}; do
    expect 1 "seed $seed: every kernel is judged" certify --kernels kinds --dtype f32 --no-coverage --skip-mutants --seed "$seed" --out "seed$seed"
    for file in kinds/*.c; do
        name=${file#kinds/}
        ! grep -E "^kernel\..*\.${name%.c}(\.i64)? +[A-Z]" out | grep -qv REFUTED
        is "    ${name%.c} is refuted" test $? -eq 0
    done
done
finish
