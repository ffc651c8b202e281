/* SHOWS. tokitai padic: exact products modulo p^N, and exact answers about integer matrices by p-adic lifting. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common_arguments.h"
#include "padic/freivalds.h"
#include "padic/solve.h"

enum { REASON = 512 };

static const char who[] = "tokitai padic";

typedef struct arguments {
    cli_words words;
    const char *const *files; /* what follows the action */
    const char *output;
    int64_t prime; /* 0: not given */
    int precision, threads;
    bool digits, check, report;
} arguments;

static const cli_option option_list[] = {
    CLI_ROW(CLI_INT64, "prime", "P", prime, "The prime P", .letter = 'p', .least = 2, .with = "precision"),
    CLI_ROW(CLI_INT, "precision", "N", precision, "Number of digits to base P; P^N is at most 2^64", .letter = 'N',
            .least = 1, .most = PADIC_MOST_PRECISION, .with = "prime"),
    CLI_OUTPUT("FILE", "gemm: file for the product, as .npy if the name ends so; - is standard output"),
    CLI_ROW(CLI_FLAG, "digits", NULL, digits, "Print residues digit by digit: 4 + 2*7 + O(7^16)"),
    CLI_ROW(CLI_FLAG, "check", NULL, check,
            "gemm: check the product by Freivalds' method, with so many vectors that a wrong one passes with a "
            "probability below 2^-64. A wrong product is not printed, and the exit status is 1"),
    CLI_ROW(CLI_FLAG, "report", NULL, report,
            "gemm: report on standard error at how many places of the inner size every term vanishes"),
    CLI_THREADS(4096, ". 0, the default, uses all processors"),
    {0},
};

static bool read_matrix(const char *path, const padic_ring *ring, padic_matrix *matrix)
{
    char reason[REASON];
    const char *failed = padic_matrix_read(path, ring, matrix, reason, sizeof reason);
    if (failed)
        cli_complain(who, "%s: %s", path, failed);
    return !failed;
}

static void print_residue(const padic_ring *ring, uint64_t x, bool digits)
{
    char text[8192];
    padic_print(ring, x, text, sizeof text);
    if (digits)
        fputs(text, stdout);
    else
        printf("%llu", (unsigned long long)x);
}

static cli_exit print_product(const arguments *a, const padic_ring *ring, const padic_matrix *c)
{
    const char *path = a->output ? a->output : "-";
    const size_t length = strlen(path);
    const bool npy = length > 4 && !strcmp(path + length - 4, ".npy");
    if (a->digits && !strcmp(path, "-")) {
        for (int64_t i = 0; i < c->rows * c->cols; i++) {
            print_residue(ring, c->values[i], true);
            putchar('\n');
        }
        return CLI_HOLDS;
    }
    FILE *out = strcmp(path, "-") ? cli_create(path) : stdout;
    bool good = out && (npy ? padic_matrix_write_npy(out, c) : padic_matrix_write_text(out, c));
    if (out && out != stdout)
        good &= fclose(out) == 0;
    if (!good)
        cli_complain(who, "%s: %s", path, strerror(errno));
    return good ? CLI_HOLDS : CLI_BAD;
}

static bool passes_check(const padic_ring *ring, const padic_matrix *a, const padic_matrix *b, const padic_matrix *c)
{
    const int vectors = padic_check_vectors(ring);
    const bool good = padic_check_product(ring, a, b, c, TK_SEED_DEFAULT, vectors);
    if (good)
        fprintf(stderr,
                "checked with %d vectors (Freivalds): a wrong product passes with probability %llu^-%d < 2^-64\n",
                vectors, (unsigned long long)ring->prime, vectors);
    else
        cli_complain(who, "the product is wrong; this is a bug of tokitai");
    return good;
}

static cli_exit multiply(const arguments *a, tk_ctx *ctx, const padic_ring *ring, const padic_matrix *left,
                         const padic_matrix *right)
{
    const tk_padic_gemm_options options = {.prime = (int64_t)ring->prime, .precision = ring->precision};
    if (left->cols != right->rows) {
        cli_complain(who, "%s has %lld columns, %s has %lld rows", a->files[0], (long long)left->cols, a->files[1],
                     (long long)right->rows);
        return CLI_BAD;
    }
    padic_matrix c = {.rows = left->rows, .cols = right->cols};
    c.values = malloc((size_t)(c.rows * c.cols) * sizeof *c.values + 1);
    cli_exit status = CLI_BAD;
    if (!c.values)
        cli_complain(who, "out of memory");
    else if (tk_padic_gemm(ctx, TK_U64, c.rows, c.cols, left->cols, left->values, right->values, &options,
                           c.values) != TK_OK)
        cli_complain(who, "%s", tk_ctx_message(ctx));
    else if (a->check && !passes_check(ring, left, right, &c))
        status = CLI_REFUTED;
    else
        status = print_product(a, ring, &c);
    if (status == CLI_HOLDS && a->report)
        fprintf(stderr, "%lld of %lld slices vanish: their valuations add up to %d or more\n",
                (long long)padic_vanishing_slices(ring, left, right), (long long)left->cols, ring->precision);
    padic_matrix_free(&c);
    return status;
}

static cli_exit run_gemm(const arguments *a, tk_ctx *ctx, const padic_ring *ring)
{
    padic_matrix left = {0}, right = {0};
    cli_exit status = CLI_BAD;
    if (!ring)
        cli_complain(who, "gemm needs -p and -N");
    else if (a->output && strcmp(a->output, "-") != 0 && !cli_can_write(who, "--output", a->output))
        status = CLI_BAD;
    else if (read_matrix(a->files[0], ring, &left) && read_matrix(a->files[1], ring, &right))
        status = multiply(a, ctx, ring, &left, &right);
    padic_matrix_free(&left);
    padic_matrix_free(&right);
    return status;
}

/* A fraction, or its residue. */
static cli_exit print_fraction(const arguments *a, const padic_ring *ring, const mpz_t numerator,
                               const mpz_t denominator)
{
    cli_exit status = CLI_HOLDS;
    mpq_t x;
    mpq_init(x);
    mpz_set(mpq_numref(x), numerator);
    mpz_set(mpq_denref(x), denominator);
    mpq_canonicalize(x);
    uint64_t residue;
    const char *reason = ring ? padic_from_rational(ring, x, &residue) : NULL;
    if (reason) {
        cli_complain(who, "%s (p is %llu)", reason, (unsigned long long)ring->prime);
        status = CLI_BAD;
    } else if (ring) {
        print_residue(ring, residue, a->digits);
    } else {
        mpq_out_str(stdout, 10, x);
    }
    mpq_clear(x);
    return status;
}

static cli_exit print_solution(const arguments *a, const padic_ring *ring, const padic_solution *s)
{
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            if (print_fraction(a, ring, s->numerators[i * s->cols + j], s->denominators[j]) != CLI_HOLDS)
                return CLI_BAD;
            putchar(j + 1 < s->cols ? ' ' : '\n');
        }
    return CLI_HOLDS;
}

static cli_exit exit_of(padic_outcome outcome, const char *reason)
{
    if (outcome != PADIC_SOLVED)
        cli_complain(who, "%s", reason);
    return outcome == PADIC_SOLVED ? CLI_HOLDS : outcome == PADIC_SINGULAR ? CLI_REFUTED : CLI_BAD;
}

static cli_exit run_solve(const arguments *a, tk_ctx *ctx, const padic_ring *ring)
{
    char reason[REASON];
    padic_matrix left = {0}, right = {0};
    padic_solution solution = {0};
    cli_exit status = CLI_BAD;
    if (read_matrix(a->files[0], NULL, &left) && read_matrix(a->files[1], NULL, &right))
        status = exit_of(padic_solve(ctx, &left, &right, &solution, reason, sizeof reason), reason);
    if (status == CLI_HOLDS)
        status = print_solution(a, ring, &solution);
    padic_solution_free(&solution);
    padic_matrix_free(&left);
    padic_matrix_free(&right);
    return status;
}

static cli_exit run_det(const arguments *a, tk_ctx *ctx, const padic_ring *ring)
{
    char reason[REASON];
    padic_matrix matrix = {0};
    cli_exit status = CLI_BAD;
    mpz_t determinant, one;
    mpz_inits(determinant, one, NULL);
    mpz_set_ui(one, 1);
    if (read_matrix(a->files[0], NULL, &matrix))
        status = exit_of(padic_determinant(ctx, &matrix, determinant, reason, sizeof reason), reason);
    if (status == CLI_HOLDS) {
        status = print_fraction(a, ring, determinant, one);
        putchar('\n');
    }
    mpz_clears(determinant, one, NULL);
    padic_matrix_free(&matrix);
    return status;
}

static const struct {
    const char *name;
    cli_exit (*run)(const arguments *a, tk_ctx *ctx, const padic_ring *ring);
} actions[] = {{"gemm", run_gemm}, {"solve", run_solve}, {"det", run_det}};

enum { ACTIONS = sizeof actions / sizeof *actions };

static int find_action(const char *name)
{
    const char *names[ACTIONS];
    for (int i = 0; i < ACTIONS; i++) {
        if (!strcmp(name, actions[i].name))
            return i;
        names[i] = actions[i].name;
    }
    cli_complain_unknown(who, "action", name, names, ACTIONS);
    return -1;
}

static cli_exit run(int argc, char **argv)
{
    arguments a = {0};
    padic_ring ring;
    cli_parse(&cli_padic, argc, argv, &a);
    a.files = (const char *const *)a.words.list + 1;
    const int action = find_action(a.words.list[0]);
    if (action < 0)
        return CLI_BAD;
    const char *reason = a.prime ? padic_ring_make(&ring, (uint64_t)a.prime, a.precision) : NULL;
    if (reason) {
        cli_complain(who, "p = %lld, N = %d: %s", (long long)a.prime, a.precision, reason);
        return CLI_BAD;
    }
    tk_ctx *ctx = cli_open(who);
    if (!ctx)
        return CLI_BAD;
    cli_exit status = CLI_BAD;
    if (tk_ctx_set_threads(ctx, a.threads) == TK_OK)
        status = actions[action].run(&a, ctx, a.prime ? &ring : NULL);
    tk_ctx_destroy(ctx);
    return status;
}

const cli_command cli_padic = {
    .name = "padic",
    .summary = "exact products modulo p^N, rational solutions and determinants by p-adic lifting",
    .arguments = "gemm A B\nsolve A B\ndet A",
    .words = offsetof(arguments, words),
    .options = option_list,
    .run = run,
    .doc = "gemm multiplies two matrices modulo P^N and needs -p and -N. solve finds the exact rational solution of "
           "A x = B for an integer matrix A by p-adic lifting, and substitutes it into the system before it prints "
           "it; a vector that A maps to zero shows that A is singular. det finds the exact determinant. With -p and "
           "-N, solve and det print residues modulo P^N; a denominator that P divides is an error."
           "\vA matrix is a text file, a row of numbers in each line (12, -3/4, 0.125; # begins a comment), or an "
           ".npy file of integers; - is standard input. solve and det take integers of 64 bits with a sign, and at "
           "most 2048 rows.\n\n"
           "Exit status: 0 done; 1 the matrix of solve is singular, or the check failed; 2 wrong usage or bad input.",
};
