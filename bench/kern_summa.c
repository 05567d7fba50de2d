/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_summa.c - SUMMA: C = A B, n x n doubles on a grid of PEs, each with a block of A,
 * B and C.  Step k: in each row of the grid the PE of column k broadcasts its block of A;
 * in each column the PE that has rows k * width.. of B broadcasts these rows; each PE
 * adds the product of the two panels to its block of C.
 * The elements of A and B are small integers, so that C is exact in any order of
 * summation.  Each PE verifies its block after each run: C x = A (B x) for an x without
 * zeros; the model is the plain triple loop.  No BLAS is used.
 */
#include <stdlib.h>
#include <string.h>

#include "kern.h"

enum { LANES = 8, MODEL_MAX = 256 };

/* A GNU C vector, which the compiler maps to the vector registers of the target. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

static struct kern_job job;
static size_t height, width; /* of a block of A and C; width: of the panel of A, too */
static size_t top, left, b_rows; /* of the own block; rows of a block of B */
static double *a, *b, *c;
static struct kern_result row, column;

static double a_at(size_t i, size_t j)
{
    return (double)((i * 5 + j * 3 + i * j % 7) % 8);
}

static double b_at(size_t i, size_t j)
{
    return (double)((i * 3 + j * 7 + i * j % 5) % 8);
}

static double x_at(size_t j)
{
    return (double)(1 + (j * j + 3 * j) % 11);
}

static size_t usual(const struct kern_job *j)
{
    return 256 * (size_t)j->columns;
}

static void check_size(const struct kern_job *j)
{
    if (j->n % (LANES * (size_t)j->columns) != 0)
        coll_wrong("summa: with %d PEs the order %zu should be a multiple of %d", j->npes,
                   j->n, LANES * j->columns);
}

static void open_blocks(const struct kern_job *j)
{
    job = *j;
    size_t columns = (size_t)job.columns, rows = (size_t)job.npes / columns;
    height = b_rows = job.n / rows;
    width = job.n / columns;
    top = (size_t)job.me / columns * height;
    left = (size_t)job.me % columns * width;
    a = coll_need("kern_bench", height * width * sizeof(double));
    b = coll_need("kern_bench", b_rows * width * sizeof(double));
    c = kern_memory(height * width * sizeof(double));
    for (size_t i = 0; i < height; i++)
        for (size_t k = 0; k < width; k++) {
            a[i * width + k] = a_at(top + i, left + k);
            b[i * width + k] = b_at(top + i, left + k);
        }
    kern_open(&row, KERN_ROW, height * width * sizeof(double));
    kern_open(&column, KERN_COLUMN, width * width * sizeof(double));
}

/* One row of C, LANES columns: to += x[0..k) y, whose rows are `width` apart. */
static void multiply_strip(double *to, const double *x, const double *y)
{
    lanes sum = *(const lanes *)(const void *)to;
    for (size_t k = 0; k < width; k++)
        sum += x[k] * *(const lanes *)(const void *)(y + k * width);
    *(lanes *)(void *)to = sum;
}

/* C += X Y: a strip of Y stays in the caches for all rows of X. */
static void multiply_add(const double *x, const double *y)
{
    for (size_t j = 0; j < width; j += LANES)
        for (size_t i = 0; i < height; i++)
            multiply_strip(c + i * width + j, x + i * width, y + j);
}

static void begin(void)
{
    memset(c, 0, height * width * sizeof(double));
}

static void run(void)
{
    for (int k = 0; k < job.columns; k++) {
        size_t first = (size_t)k * width; /* first row of the panel of B */
        const double *x = kern_broadcast(&row, a, height * width * sizeof(double), k);
        const double *y =
            kern_broadcast(&column, b + first % b_rows * width,
                           width * width * sizeof(double), (int)(first / b_rows));
        multiply_add(x, y);
    }
}

/* y = B x, restricted to the columns of this PE's block of C. */
static double *times_x(void)
{
    double *y = kern_memory(job.n * sizeof(double));
    for (size_t k = 0; k < job.n; k++)
        for (size_t j = 0; j < width; j++)
            y[k] += b_at(k, left + j) * x_at(left + j);
    return y;
}

static void verify(double *answers)
{
    double *y = times_x(), sum = 0;
    for (size_t i = 0; i < height; i++) {
        double is = 0, should = 0;
        for (size_t k = 0; k < job.n; k++)
            should += a_at(top + i, k) * y[k];
        for (size_t j = 0; j < width; j++) {
            is += c[i * width + j] * x_at(left + j);
            sum += c[i * width + j];
        }
        if (is != should)
            kern_fail("summa: row %zu of the product is wrong on PE %d of %d", top + i,
                      job.me, job.npes);
    }
    free(y);
    answers[0] = sum;
}

static void model(const double *answers)
{
    (void)answers;
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++) {
            double should = 0;
            for (size_t k = 0; k < job.n; k++)
                should += a_at(top + i, k) * b_at(k, left + j);
            if (c[i * width + j] != should)
                kern_fail("summa: element %zu, %zu is %g instead of %g on PE %d of %d",
                          top + i, left + j, c[i * width + j], should, job.me, job.npes);
        }
}

static bool small(const struct kern_job *j)
{
    return j->n <= MODEL_MAX;
}

static void close_blocks(void)
{
    kern_lib.close(&row);
    kern_lib.close(&column);
    free(c);
    coll_lib.free(a);
    coll_lib.free(b);
}

const struct kernel kern_summa = {
    .name = "summa",
    .answers = {"sum"},
    .usual = usual,
    .check_size = check_size,
    .open = open_blocks,
    .begin = begin,
    .run = run,
    .verify = verify,
    .model = model,
    .small = small,
    .close = close_blocks,
};
