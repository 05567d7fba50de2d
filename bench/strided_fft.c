/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided_fft.c - a 2-D FFT of n x n complex numbers, of which each PE has n / npes
 * rows: FFTs of the rows, transposition over all PEs, FFTs of the rows again.  The result
 * remains transposed.  The FFT is the textbook's: bit reversal, which also reads the
 * blocks of a blocked transposition, then log2(n) passes of butterflies.
 * The result is compared with a serial FFT of the whole matrix, and one of its elements
 * with the sum that defines it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

enum { FFT_SIZE_MAX = 1 << 13 };

static struct strided_matrix matrix;
static struct strided_complex *input;  /* rows of this PE */
static struct strided_complex *result; /* likewise, transposed */
static struct strided_complex *root;   /* exp(-2 pi i k / n) for k < n / 2 */
static size_t *reversed;
static int turn;

static struct strided_complex fft_initial(size_t row, size_t column)
{
    return (struct strided_complex){coll_uniform(2, (int)row, column),
                                    coll_uniform(3, (int)row, column)};
}

static void fft_check_size(size_t n, int npes)
{
    if (n < 8 || n > FFT_SIZE_MAX || (n & (n - 1)) != 0 || n % (size_t)npes != 0)
        coll_wrong("fft: with %d PEs the order %zu should be a power of two up to %d and "
                   "a multiple of the number of PEs",
                   npes, n, FFT_SIZE_MAX);
}

static void fft_tables(size_t n)
{
    root = strided_memory(n / 2 * sizeof(*root));
    reversed = strided_memory(n * sizeof(*reversed));
    for (size_t k = 0; k < n / 2; k++) {
        double angle = -2 * 3.14159265358979323846 * (double)k / (double)n;
        root[k] = (struct strided_complex){cos(angle), sin(angle)};
    }
    for (size_t k = 1; k < n; k++)
        reversed[k] = reversed[k / 2] / 2 + (k % 2) * (n / 2);
}

static void fft_butterflies(struct strided_complex *x, size_t n)
{
    for (size_t half = 1; half < n; half *= 2)
        for (size_t block = 0; block < n; block += 2 * half)
            for (size_t k = 0; k < half; k++) {
                struct strided_complex *a = &x[block + k], *b = a + half;
                const struct strided_complex w = root[k * (n / 2 / half)];
                double re = b->re * w.re - b->im * w.im;
                double im = b->re * w.im + b->im * w.re;
                *b = (struct strided_complex){a->re - re, a->im - im};
                *a = (struct strided_complex){a->re + re, a->im + im};
            }
}

/* Transforms n elements at `in` to `out`.  Each run of `length` elements is contiguous,
 * and runs are `distance` elements apart. */
static void fft_row(struct strided_complex *out, const struct strided_complex *in,
                    size_t n, size_t length, size_t distance)
{
    for (size_t k = 0; k < n; k++) {
        size_t from = reversed[k];
        out[k] = in[from / length * distance + from % length];
    }
    fft_butterflies(out, n);
}

static void fft_open(size_t n, size_t variant, int me, int npes)
{
    (void)variant;
    matrix =
        (struct strided_matrix){.me = me, .npes = npes, .n = n, .rows = n / (size_t)npes};
    size_t bytes = matrix.rows * n * sizeof(*input);
    matrix.source = coll_need("strided_bench", bytes);
    matrix.dest[0] = coll_need("strided_bench", bytes);
    matrix.dest[1] = coll_need("strided_bench", bytes);
    input = strided_memory(bytes);
    result = strided_memory(bytes);
    fft_tables(n);
    for (size_t i = 0; i < matrix.rows; i++)
        for (size_t j = 0; j < n; j++)
            input[i * n + j] = fft_initial((size_t)me * matrix.rows + i, j);
}

static void fft_begin(const struct strided_form *form)
{
    turn = 0;
    form->matrix_open(&matrix);
}

static void fft_run(const struct strided_form *form, long steps)
{
    const size_t n = matrix.n, rows = matrix.rows;

    for (long step = 0; step < steps; step++) {
        for (size_t i = 0; i < rows; i++)
            fft_row(matrix.source + i * n, input + i * n, n, n, 0);
        double start = coll_now();
        form->transpose(&matrix, turn);
        strided_waited += coll_now() - start;
        for (size_t i = 0; i < rows; i++)
            if (form->blocked)
                fft_row(result + i * n, matrix.dest[turn] + i * rows, n, rows,
                        rows * rows);
            else
                fft_row(result + i * n, matrix.dest[turn] + i * n, n, n, 0);
        turn = 1 - turn;
    }
}

/* The whole matrix, transformed by one process; transposed */
static struct strided_complex *fft_serial(size_t n)
{
    struct strided_complex *a = strided_memory(n * n * sizeof(*a));
    struct strided_complex *b = strided_memory(n * n * sizeof(*b));

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            a[j] = fft_initial(i, j);
        fft_row(b + i * n, a, n, n, 0);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[j * n + i] = b[i * n + j];
    for (size_t j = 0; j < n; j++)
        fft_row(b + j * n, a + j * n, n, n, 0);
    free(a);
    return b;
}

/* Element (u, v) of the result by its definition */
static void fft_check_definition(const struct strided_complex *all, size_t n, size_t u,
                                 size_t v)
{
    double re = 0, im = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const struct strided_complex x = fft_initial(i, j);
            double angle =
                -2 * 3.14159265358979323846 * (double)((u * i + v * j) % n) / (double)n;
            re += x.re * cos(angle) - x.im * sin(angle);
            im += x.re * sin(angle) + x.im * cos(angle);
        }
    const struct strided_complex got = all[v * n + u];
    if (hypot(got.re - re, got.im - im) > 1e-9 * (double)(n * n))
        strided_fail("fft: the serial result (%zu, %zu) is %g %+gi instead of %g %+gi", u,
                     v, got.re, got.im, re, im);
}

static void fft_verify(const struct strided_form *form, bool spoil)
{
    const size_t n = matrix.n;
    struct strided_complex *all = fft_serial(n);

    fft_check_definition(all, n, 1, 3 % n);
    fft_run(form, 3); /* both destinations */
    if (spoil && matrix.me == 0)
        result[n + 1].re += 1e-6;
    for (size_t k = 0; k < matrix.rows * n; k++) {
        const struct strided_complex want = all[(size_t)matrix.me * matrix.rows * n + k];
        if (hypot(result[k].re - want.re, result[k].im - want.im) > 1e-9)
            strided_fail("fft, %s: element %zu of PE %d of %d is %g %+gi instead of "
                         "%g %+gi",
                         form->name, k, matrix.me, matrix.npes, result[k].re,
                         result[k].im, want.re, want.im);
    }
    free(all);
}

static void fft_close(void)
{
    coll_lib.free(matrix.dest[1]);
    coll_lib.free(matrix.dest[0]);
    coll_lib.free(matrix.source);
    free(input);
    free(result);
    free(root);
    free(reversed);
}

const struct strided_app strided_fft = {.name = "fft",
                                        .variants = 1,
                                        .check_size = fft_check_size,
                                        .open = fft_open,
                                        .begin = fft_begin,
                                        .run = fft_run,
                                        .verify = fft_verify,
                                        .close = fft_close};
