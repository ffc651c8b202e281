/* UNTRUSTED. What `tokitai new-kernel` writes: plain and correct. ITEM(op, i) becomes the head of the function that computes the i-th row of the last
 * output. */

/* One row of c. Sums are reduced at each step; a modulus of 2^64 has the pattern 0. */
ITEM(padic_gemm, row)
{
    const uint64_t *left = (const uint64_t *)a, *right = (const uint64_t *)b;
    unsigned __int128 modulus = 1;
    (void)call;
    (void)m;
    for (int64_t i = 0; i < precision; i++)
        modulus *= (uint64_t)prime;
    for (int64_t j = 0; j < n; j++) {
        unsigned __int128 sum = 0;
        for (int64_t t = 0; t < k; t++)
            sum = (sum + (unsigned __int128)left[row * k + t] * right[t * n + j] % modulus) % modulus;
        ((uint64_t *)c)[row * n + j] = (uint64_t)sum;
    }
}
