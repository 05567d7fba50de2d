/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fft.c - six-step Fourier transform, after D. H. Bailey, "FFTs in External or
 * Hierarchical Memory", 1990.  The R * R values are a matrix whose rows are distributed
 * over the PEs: transpose, transform the rows, multiply by the twiddle factors,
 * transpose, transform the rows, transpose.  A transposition puts parts of rows as
 * columns with shmem_iput128.  Checked against the definition of the transform and by
 * Parseval's theorem.
 */
#include <complex.h>
#include <math.h>
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define R     24 /* 8 * 3: neither a power of two nor a multiple of most numbers of PEs */
#define SIZE  (R * R)
#define LIMIT 1e-9

typedef double _Complex cplx;

static int me, npes;
static cplx root[SIZE]; /* root[k] = exp(-2 pi i k / SIZE) */
static cplx *from, *to; /* symmetric: my rows; those of the transposed matrix */
static double energy[2], energy_all[2];
static long pSync[_SHMEM_REDUCE_SYNC_SIZE];
static double pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static int first(int pe)
{
    return R * pe / npes;
}

static cplx value_at(int n)
{
    return (n * 37 % 101) / 101.0 - 0.5 + ((n * n % 89) / 89.0 - 0.3) * I;
}

/* Puts rows of `from` as columns into `to` of all PEs, then swaps the two pointers. */
static void transpose(void)
{
    int i, pe;
    cplx *was;
    shmem_barrier_all();
    for (i = first(me); i < first(me + 1); i++)
        for (pe = 0; pe < npes; pe++)
            shmem_iput128(&to[i], &from[(i - first(me)) * R + first(pe)], R, 1,
                          (size_t)(first(pe + 1) - first(pe)), pe);
    shmem_barrier_all();
    was = from;
    from = to;
    to = was;
}

/* Mixed-radix Cooley-Tukey: split off the smallest factor of n. */
static void transform(cplx *v, int n, cplx *spare)
{
    int p = n % 2 == 0 ? 2 : 3, m = n / p, i, j, k;
    if (n == 1)
        return;
    for (j = 0; j < p; j++)
        for (i = 0; i < m; i++)
            spare[j * m + i] = v[i * p + j];
    for (j = 0; j < p; j++)
        transform(&spare[j * m], m, v);
    for (k = 0; k < n; k++) {
        v[k] = 0;
        for (j = 0; j < p; j++)
            v[k] += root[j * k % n * (SIZE / n)] * spare[j * m + k % m];
    }
}

static void transform_rows(void)
{
    cplx spare[R];
    int i;
    for (i = first(me); i < first(me + 1); i++)
        transform(&from[(i - first(me)) * R], R, spare);
}

static void twiddle(void)
{
    int i, j;
    for (i = first(me); i < first(me + 1); i++)
        for (j = 0; j < R; j++)
            from[(i - first(me)) * R + j] *= root[i * j];
}

static int count_wrong(void)
{
    int i, k, n, wrong = 0;
    for (i = first(me) * R; i < first(me + 1) * R; i++) {
        cplx sum = 0, is = from[i - first(me) * R];
        for (k = 0, n = 0; n < SIZE; n++, k = (k + i) % SIZE)
            sum += value_at(n) * root[k];
        wrong += !(cabs(sum - is) < LIMIT);
        energy[0] += creal(is * conj(is)) / SIZE;
        energy[1] += creal(value_at(i) * conj(value_at(i)));
    }
    shmem_double_sum_to_all(energy_all, energy, 2, 0, 0, npes, pWrk, pSync);
    wrong += !(fabs(energy_all[0] - energy_all[1]) < LIMIT * energy_all[1]);
    return wrong;
}

int main(void)
{
    const double pi = 3.14159265358979323846;
    cplx *blocks[2];
    int i, k, wrong;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    for (k = 0; k < SIZE; k++)
        root[k] = cos(2 * pi * k / SIZE) - sin(2 * pi * k / SIZE) * I;
    for (i = 0; i < 2; i++)
        blocks[i] = shmalloc((size_t)((R / npes + 1) * R) * sizeof(cplx));
    from = blocks[0];
    to = blocks[1];
    for (i = first(me) * R; i < first(me + 1) * R; i++)
        from[i - first(me) * R] = value_at(i);
    transpose();
    transform_rows();
    twiddle();
    transpose();
    transform_rows();
    transpose();
    wrong = count_wrong();
    if (wrong != 0)
        fprintf(stderr, "fft: PE %d of %d: %d wrong\n", me, npes, wrong);
    shfree(blocks[1]);
    shfree(blocks[0]);
    return wrong != 0;
}
