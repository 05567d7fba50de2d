/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gups.c - random access, after the rules of the HPC Challenge benchmark (P. Luszczek, J.
 * Dongarra et al., "Introduction to the HPC Challenge Benchmark Suite", 2005).  A table
 * T[i] = i of 2^n words is distributed over the PEs; 4 * 2^n values a(k), the powers of x
 * modulo x^64 + x^2 + x + 1 over GF(2), are xored into the words that their low bits
 * select.  The rules allow 1 % of lost updates; here each update is a compare-and-swap,
 * and none may be lost: the table must equal that of a serial run, and repeating all
 * updates must restore it.
 */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_SIZE 11
#define SIZE     (1L << LOG_SIZE)
#define UPDATES  (4 * SIZE)
#define POLY     7ULL

typedef unsigned long long word;

static int me, npes;
static long long *table; /* symmetric: words first(me) .. first(me + 1) */
static long errors, errors_all;
static long pSync[_SHMEM_REDUCE_SYNC_SIZE];
static long pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static word times_x(word a)
{
    return a << 1 ^ (a >> 63 ? POLY : 0);
}

/* Product of two polynomials. */
static word times(word a, word b)
{
    word product = 0;
    for (; b != 0; b >>= 1, a = times_x(a))
        if (b & 1)
            product ^= a;
    return product;
}

/* a(k) = x^k, in O(log k): the first value of a PE. */
static word power(long k)
{
    word result = 1, square = 2;
    for (; k != 0; k >>= 1, square = times(square, square))
        if (k & 1)
            result = times(result, square);
    return result;
}

static long first(long of, int pe)
{
    return of * pe / npes;
}

static int owner_of(long index)
{
    int pe = (int)(index * npes / SIZE);
    while (first(SIZE, pe + 1) <= index)
        pe++;
    return pe;
}

static void xor_word(long index, word value)
{
    int pe = owner_of(index);
    long long *at = &table[index - first(SIZE, pe)];
    long long seen = shmem_longlong_g(at, pe), was;
    while ((was = shmem_longlong_cswap(at, seen, (long long)((word)seen ^ value), pe)) !=
           seen)
        seen = was;
}

/* My share of all updates. */
static void update(void)
{
    long k = first(UPDATES, me), end = first(UPDATES, me + 1);
    word a = power(k);
    for (; k < end; k++, a = times_x(a))
        xor_word((long)(a & (SIZE - 1)), a);
    shmem_barrier_all();
}

/* The number of words of this PE that differ from a serial run. */
static long count_wrong(void)
{
    word *serial = malloc(SIZE * sizeof(word)), a = 1;
    long i, k, wrong = 0;
    for (i = 0; i < SIZE; i++)
        serial[i] = (word)i;
    for (k = 0; k < UPDATES; k++, a = times_x(a))
        serial[a & (SIZE - 1)] ^= a;
    wrong += a != power(UPDATES);
    for (i = first(SIZE, me); i < first(SIZE, me + 1); i++)
        wrong += (word)table[i - first(SIZE, me)] != serial[i];
    free(serial);
    return wrong;
}

int main(void)
{
    long i;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    table = shmalloc((size_t)(SIZE / npes + 1) * sizeof(*table));
    for (i = first(SIZE, me); i < first(SIZE, me + 1); i++)
        table[i - first(SIZE, me)] = i;
    shmem_barrier_all();

    update();
    errors = count_wrong();
    shmem_barrier_all();
    update();
    for (i = first(SIZE, me); i < first(SIZE, me + 1); i++)
        errors += table[i - first(SIZE, me)] != i;

    shmem_long_sum_to_all(&errors_all, &errors, 1, 0, 0, npes, pWrk, pSync);
    if (me == 0 && errors_all != 0)
        fprintf(stderr, "gups: %d PEs: %ld words are wrong\n", npes, errors_all);
    shfree(table);
    return errors_all != 0;
}
