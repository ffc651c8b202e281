/* p-adic integers against GMP, and their laws. */
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "padic/freivalds.h"
#include "padic/matrix.h"
#include "tests/unit_test.h"

static const uint64_t primes[] = {2, 3, 5, 7, 65537, 2147483647, 4294967291, UINT64_C(9223372036854775783)};
enum { PRIMES = sizeof primes / sizeof *primes, DRAWS = 40 };

/* Every ring of these primes. */
static bool ring_at(int i, padic_ring *ring)
{
    for (int p = 0; p < PRIMES; p++)
        for (int64_t n = 1; n <= 64 && !padic_ring_make(ring, primes[p], n); n++)
            if (i-- == 0)
                return true;
    return false;
}

static void set_modulus(const padic_ring *ring, mpz_t modulus)
{
    mpz_ui_pow_ui(modulus, ring->prime, (unsigned long)ring->precision);
}

TEST(rings)
{
    padic_ring ring;
    assert_null(padic_ring_make(&ring, 2, 64));
    assert_true(ring.modulus == 0);
    assert_string_equal(padic_ring_make(&ring, 1, 1), "p must be a prime");
    assert_string_equal(padic_ring_make(&ring, 91, 1), "p must be a prime");
    assert_string_equal(padic_ring_make(&ring, 7, 0), "N must be a number from 1 to 64");
    assert_string_equal(padic_ring_make(&ring, 7, 65), "N must be a number from 1 to 64");
    assert_string_equal(padic_ring_make(&ring, 7, 23), "p^N must be at most 2^64");
    assert_null(padic_ring_make(&ring, 7, 22));
}

TEST(against_gmp)
{
    padic_ring ring;
    tki_random random = tki_random_stream(3, 1);
    mpz_t modulus, x, y, z;
    mpz_inits(modulus, x, y, z, NULL);
    for (int i = 0; ring_at(i, &ring); i++)
        for (int d = 0; d < effort(DRAWS); d++) {
            const uint64_t a = padic_reduce(&ring, tki_random_u64(&random));
            const uint64_t b = padic_reduce(&ring, tki_random_u64(&random) >> d);
            uint64_t inverse;
            set_modulus(&ring, modulus);
            mpz_set_ui(x, a);
            mpz_set_ui(y, b);
            mpz_add(z, x, y);
            assert_true(padic_add(&ring, a, b) == padic_from_integer(&ring, z));
            mpz_mul(z, x, y);
            assert_true(padic_multiply(&ring, a, b) == padic_from_integer(&ring, z));
            mpz_neg(z, x);
            assert_true(padic_negate(&ring, a) == padic_from_integer(&ring, z));
            if (mpz_invert(z, x, modulus)) {
                assert_null(padic_inverse(&ring, a, &inverse));
                assert_true(inverse == mpz_get_ui(z));
            } else {
                assert_non_null(padic_inverse(&ring, a, &inverse));
            }
        }
    mpz_clears(modulus, x, y, z, NULL);
}

/* v(a b) = v(a) + v(b), up to N; v(a + b) >= the smaller; x = p^v unit; digits add up to x. */
TEST(laws)
{
    padic_ring ring;
    tki_random random = tki_random_stream(3, 2);
    for (int i = 0; ring_at(i, &ring); i++)
        for (int d = 0; d < effort(DRAWS); d++) {
            uint64_t power = 1;
            for (int k = (int)tki_random_below(&random, (uint64_t)ring.precision); k > 0; k--)
                power = padic_multiply(&ring, power, ring.prime);
            const uint64_t a = padic_multiply(&ring, power, tki_random_u64(&random));
            const uint64_t b = padic_multiply(&ring, d % 2 ? power : 1, tki_random_u64(&random));
            uint64_t unit, digits[PADIC_MOST_PRECISION];
            const int v = padic_split(&ring, a, &unit);
            const int w = padic_valuation(&ring, b);
            const int sum = v + w < ring.precision ? v + w : ring.precision;
            assert_int_equal(padic_valuation(&ring, padic_multiply(&ring, a, b)), sum);
            assert_true(padic_valuation(&ring, padic_add(&ring, a, b)) >= (v < w ? v : w));
            for (int k = 0; k < v; k++)
                unit = padic_multiply(&ring, unit, ring.prime);
            assert_true(unit == a);
            padic_digits(&ring, a, digits);
            uint64_t back = 0;
            for (int k = ring.precision - 1; k >= 0; k--) {
                assert_true(digits[k] < ring.prime);
                back = padic_add(&ring, padic_multiply(&ring, back, ring.prime), digits[k]);
            }
            assert_true(back == a);
        }
}

/* Square roots of squares, by x^2 - s; and roots that are none, or not simple. */
TEST(roots)
{
    padic_ring ring;
    tki_random random = tki_random_stream(3, 3);
    uint64_t root;
    for (int i = 0; ring_at(i, &ring); i++)
        for (int d = 0; d < effort(DRAWS) && ring.prime != 2; d++) {
            const uint64_t x = padic_reduce(&ring, tki_random_u64(&random));
            const uint64_t square[] = {padic_negate(&ring, padic_multiply(&ring, x, x)), 0, 1};
            if (x % ring.prime == 0)
                continue;
            assert_null(padic_lift_root(&ring, square, 2, x, &root));
            assert_true(root == x);
        }
    assert_null(padic_ring_make(&ring, 7, 20));
    const uint64_t two[] = {padic_negate(&ring, 2), 0, 1}, one[] = {1, padic_negate(&ring, 2), 1};
    assert_null(padic_lift_root(&ring, two, 2, 3, &root)); /* a square root of 2: 3 + 7 + 2*7^2 + ... */
    assert_true(padic_multiply(&ring, root, root) == 2 && root % 343 == 3 + 7 + 2 * 49);
    assert_non_null(strstr(padic_lift_root(&ring, two, 2, 1, &root), "not a root"));
    assert_non_null(strstr(padic_lift_root(&ring, one, 2, 1, &root), "not simple"));
}

TEST(text)
{
    padic_ring ring;
    uint64_t x, y;
    char printed[256];
    assert_null(padic_ring_make(&ring, 7, 4));
    assert_null(padic_from_text(&ring, "-1", &x));
    assert_true(x == 2400);
    assert_null(padic_from_text(&ring, "0.125", &x));
    assert_null(padic_from_text(&ring, "1/8", &y));
    assert_true(x == y && padic_multiply(&ring, x, 8) == 1);
    assert_null(padic_from_text(&ring, "123456789012345678901234567890", &x));
    assert_true(x == 476); /* 123456789012345678901234567890 mod 2401 */
    assert_string_equal(padic_from_text(&ring, "3/14", &x), "p divides the denominator");
    assert_null(padic_from_text(&ring, "7/14", &x)); /* 1/2 */
    static const char *const bad[] = {"",    "-",  ".",  "1/0",   "1/",  "/2",  "1e3",
                                      "0x1", "1 ", " 1", "1.2.3", "--1", "1/-2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!padic_from_text(&ring, bad[i], &x))
            fail_msg("'%s' was taken", bad[i]);
    padic_print(&ring, 4 + 2 * 7 + 343, printed, sizeof printed);
    assert_string_equal(printed, "4 + 2*7 + 7^3 + O(7^4)");
    padic_print(&ring, 0, printed, sizeof printed);
    assert_string_equal(printed, "O(7^4)");
    padic_print(&ring, 1, printed, 6);
    assert_string_equal(printed, "1 + O");
}

static padic_matrix parsed(const char *source, const padic_ring *ring)
{
    char reason[256];
    padic_matrix m;
    const char *failed = padic_matrix_parse(source, strlen(source), ring, &m, reason, sizeof reason);
    if (failed)
        fail_msg("%s", failed);
    return m;
}

static void assert_bad_matrix(const char *source, const padic_ring *ring, const char *why)
{
    char reason[256] = "";
    padic_matrix m;
    assert_non_null(padic_matrix_parse(source, strlen(source), ring, &m, reason, sizeof reason));
    if (!strstr(reason, why))
        fail_msg("'%s' does not mention '%s'", reason, why);
    assert_null(m.values);
}

TEST(matrices)
{
    padic_ring ring;
    assert_null(padic_ring_make(&ring, 7, 4));
    padic_matrix m = parsed("# two rows\n1, 2 -1\n\n[1/2; 3 4]\r\n", &ring);
    assert_true(m.rows == 2 && m.cols == 3 && m.values[2] == 2400 && m.values[3] == 1201);
    char *data = NULL;
    size_t size;
    FILE *out = open_memstream(&data, &size);
    assert_true(padic_matrix_write_npy(out, &m) && fclose(out) == 0);
    assert_int_equal(size, 128 + 6 * 8);
    padic_matrix again;
    char reason[256];
    assert_null(padic_matrix_parse(data, size, &ring, &again, reason, sizeof reason));
    assert_true(again.rows == 2 && again.cols == 3);
    assert_memory_equal(m.values, again.values, 6 * sizeof *m.values);
    padic_matrix_free(&again);
    assert_non_null(padic_matrix_parse(data, size - 1, &ring, &again, reason, sizeof reason));
    free(data);
    padic_matrix_free(&m);
    assert_bad_matrix("1 2\n3\n", &ring, "line 2 has 1 numbers, the lines before it have 2");
    assert_bad_matrix("1 x\n", &ring, "line 1, number 2: 'x'");
    assert_bad_matrix("1/7\n", &ring, "p divides the denominator");
    assert_bad_matrix("\n# nothing\n", &ring, "no number");
    assert_bad_matrix("1/2\n", NULL, "not an integer");
    assert_bad_matrix("9223372036854775808\n", NULL, "64 bits");
    assert_bad_matrix("\x93NUMPY", &ring, "header");
    m = parsed("-9223372036854775808\n", NULL);
    assert_true((int64_t)m.values[0] == INT64_MIN);
    padic_matrix_free(&m);
}

/* A header as NumPy writes it, and so many bytes 1, 2, 3, ... behind it. */
static const char *parsed_npy(char version, const char *header, int bytes, padic_matrix *m, char *reason, size_t size)
{
    static const padic_ring ring = {.prime = 7, .precision = 2, .modulus = 49};
    char file[512] = "\x93NUMPY";
    const size_t length = strlen(header);
    file[6] = version;
    file[8] = (char)length;
    memcpy(file + 10, header, length);
    for (int i = 0; i < bytes; i++)
        file[10 + length + (size_t)i] = (char)(i + 1);
    return padic_matrix_parse(file, 10 + length + (size_t)bytes, &ring, m, reason, size);
}

TEST(numpy_headers)
{
    static const struct {
        char version;
        const char *header;
        int bytes;
        const char *why; /* NULL: it is taken */
    } files[] = {
        {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", 6, NULL},
        {1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 6, NULL},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 3), }\n", 0, NULL},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (9223372036854775807, 0), }\n", 0, NULL},
        {1, "{'descr': '|u1', 'fortran_order': Maybe, 'shape': (2, 3), }\n", 6, "neither True nor False"},
        {9, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", 6, "version is not"},
        {0, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", 6, "version is not"},
        {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", 5, "does not match the size"},
        {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", 7, "does not match the size"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", 0,
         "does not match the size"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2305843009213693952, 1), }\n", 0,
         "does not match the size"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (-1, 4), }\n", 0, "not a tuple"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8, "one or two sizes"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1, 1), }\n", 8, "one or two sizes"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n", 8, "(descr '<f8')"},
        {1, "{'descr': '>i8', 'fortran_order': False, 'shape': (1, 1), }\n", 8, "(descr '>i8')"},
        {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1), }\n", 1, "(descr '|b1')"},
        {1, "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }\n", 8, "not a simple type"},
        {1, "{'descr': '|u1', 'shape': (2, 3), }\n", 6, "lacks"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char reason[256] = "";
        padic_matrix m;
        const char *failed = parsed_npy(files[i].version, files[i].header, files[i].bytes, &m, reason, sizeof reason);
        if ((failed == NULL) != (files[i].why == NULL) || (failed && !strstr(failed, files[i].why)))
            fail_msg("%s: %s", files[i].header, failed ? failed : "it was taken");
        for (int64_t e = 0; !failed && e < m.rows * m.cols; e++)
            assert_true(m.values[e] == (uint64_t)(i == 1 ? 1 + e / 3 + e % 3 * 2 : e + 1));
        padic_matrix_free(&m);
    }
}

/* Freivalds' check takes what is right, and refuses a product that is wrong in one digit of one entry. */
TEST(checks)
{
    padic_ring ring;
    assert_null(padic_ring_make(&ring, 2, 40));
    assert_int_equal(padic_check_vectors(&ring), 65);
    assert_null(padic_ring_make(&ring, 7, 4));
    assert_int_equal(padic_check_vectors(&ring), 23);
    padic_matrix a = parsed("1 2\n3 4\n", &ring), b = parsed("5 6\n7 49\n", &ring),
                 c = parsed("19 104\n43 214\n", &ring);
    assert_true(padic_check_product(&ring, &a, &b, &c, 1, 23));
    for (int i = 0; i < 4; i++)
        for (uint64_t power = 1; power < ring.modulus; power *= 7) {
            const uint64_t right = c.values[i];
            c.values[i] = padic_add(&ring, right, power);
            assert_false(padic_check_product(&ring, &a, &b, &c, 1, 23));
            c.values[i] = right;
        }
    assert_int_equal(padic_vanishing_slices(&ring, &a, &b), 0);
    padic_matrix left = parsed("7 343 0\n49 343 1\n", &ring), right = parsed("49 343\n7 14\n2401 0\n", &ring);
    assert_int_equal(padic_vanishing_slices(&ring, &left, &right), 2); /* 1 + 2 < 4, 3 + 1, 0 + 4 */
    padic_matrix_free(&a);
    padic_matrix_free(&b);
    padic_matrix_free(&c);
    padic_matrix_free(&left);
    padic_matrix_free(&right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings),         cmocka_unit_test(against_gmp), cmocka_unit_test(laws),
        cmocka_unit_test(roots),         cmocka_unit_test(text),        cmocka_unit_test(matrices),
        cmocka_unit_test(numpy_headers), cmocka_unit_test(checks),
    };
    return cmocka_run_group_tests_name("padic.padic", tests, NULL, NULL);
}
