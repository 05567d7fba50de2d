/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * irregular.c - kernels with small operations on random PEs, in the plain style (an
 * operation per element) and aggregated by hand: elements are collected for each target
 * PE, exchanged between two barriers, and applied by the target, as bale's exstack does.
 *
 *   oshrun -n 2 --vnodes 2 bench/irregular [-n ELEMENTS] [-r ROUNDS] [-q] [-w] [KERNEL..]
 *
 *   gups       xors random words of a distributed table (atomic_xor)
 *   histogram  increments random words (atomic_inc)
 *   gather     reads random words (get_nbi)
 *   transpose  transposes a sparse matrix: histogram of the columns, positions by
 *              nonblocking fetching increments (compiled with -DFETCH_BLOCKING, for
 *              libraries without them: blocking ones), puts
 *
 * -n N: elements of each PE, a multiple of 8192 (262144); -r N: rounds, in which both
 * styles take turns (5); -q: 8192 elements, 1 round; -w: corrupts a word, which must be
 * detected.  For each kernel PE 0 prints millions of elements in a second of all PEs in
 * both styles, medians over the rounds, and the median of the ratios plain / aggregated.
 * Each result is checked; the status is 1 if one is wrong.  Uses: shmem.h only.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    WORDS = 1 << 16, /* of the table of a PE */
    BATCH = 4096,    /* elements of a PE between two exchanges */
    ROUNDS_MAX = 99,
    ROW_ELEMENTS = 8, /* nonzeros of a row of the matrix */
};

struct element {
    uint64_t index, value;
};

static int me, npes;
static size_t elements = 1 << 18;
static int rounds = 5;
static bool corrupt;

static uint64_t *table;  /* symmetric, WORDS */
static uint64_t *result; /* of gather: `elements` words */
static uint64_t state;   /* of the random numbers */

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "irregular: %s (PE %d of %d)\n", what, me, npes);
    shmem_global_exit(1);
    exit(1);
}

static void *allocate(size_t n, size_t size, bool symmetric)
{
    void *p = symmetric ? shmem_calloc(n, size) : calloc(n, size);

    if (p == NULL)
        fail("no memory; use fewer elements or a larger SHMEM_SYMMETRIC_SIZE");
    return p;
}

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* All PEs draw other numbers, and the same ones each time. */
static void begin_random(void)
{
    state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(me + 1);
}

static int pe_of(uint64_t r)
{
    return (int)(r / WORDS % (uint64_t)npes);
}

static uint64_t sum_of_all(uint64_t mine)
{
    static uint64_t part, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    static long sync[SHMEM_REDUCE_SYNC_SIZE];
    static bool ready;

    for (size_t i = 0; !ready && i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync[i] = SHMEM_SYNC_VALUE;
    ready = true;
    part = mine;
    shmem_barrier_all();
    shmem_longlong_sum_to_all((long long *)&sum, (long long *)&part, 1, 0, 0, npes,
                              (long long *)work, sync);
    shmem_barrier_all();
    return sum;
}

/* ---- aggregation by hand ----------------------------------------------------------- */

/* What this PE has for others and got from them.  Two parities: a PE may get elements of
 * the next exchange while it applies those of this one. */
static struct {
    struct element *out, *in[2]; /* npes x BATCH */
    size_t *fill;
    long *count[2];
    int parity;
} exchange;

static void exchange_init(void)
{
    size_t n = (size_t)npes * BATCH;

    exchange.out = allocate(n, sizeof *exchange.out, false);
    exchange.fill = allocate((size_t)npes, sizeof *exchange.fill, false);
    for (int i = 0; i < 2; i++) {
        exchange.in[i] = allocate(n, sizeof **exchange.in, true);
        exchange.count[i] = allocate((size_t)npes, sizeof **exchange.count, true);
    }
}

static void exchange_add(int pe, uint64_t index, uint64_t value)
{
    size_t at = (size_t)pe * BATCH + exchange.fill[pe]++;

    exchange.out[at] = (struct element){index, value};
}

/* Calls apply for the elements that each PE has for this one. */
static void exchange_run(void (*apply)(int pe, const struct element *e, size_t n))
{
    int k = exchange.parity;

    for (int i = 0; i < npes; i++) {
        int pe = (me + i) % npes;
        size_t n = exchange.fill[pe];
        shmem_putmem_nbi(exchange.in[k] + (size_t)me * BATCH,
                         exchange.out + (size_t)pe * BATCH, n * sizeof *exchange.out, pe);
        shmem_long_p(&exchange.count[k][me], (long)n, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        apply(pe, exchange.in[k] + (size_t)pe * BATCH, (size_t)exchange.count[k][pe]);
    exchange.parity = 1 - k;
    memset(exchange.fill, 0, (size_t)npes * sizeof *exchange.fill);
}

/* ---- gups -------------------------------------------------------------------------- */

/* Both passes together leave the table as it was. */
static void gups_plain(void)
{
    for (int pass = 0; pass < 2; pass++) {
        begin_random();
        for (size_t i = 0; i < elements / 2; i++) {
            uint64_t r = next_random();
            shmem_uint64_atomic_xor(&table[r % WORDS], r, pe_of(r));
        }
    }
}

static void gups_apply(int pe, const struct element *e, size_t n)
{
    (void)pe;
    for (size_t i = 0; i < n; i++)
        table[e[i].index] ^= e[i].value;
}

static void gups_aggregated(void)
{
    for (int pass = 0; pass < 2; pass++) {
        begin_random();
        for (size_t i = 0; i < elements / 2; i += BATCH) {
            for (size_t k = 0; k < BATCH; k++) {
                uint64_t r = next_random();
                exchange_add(pe_of(r), r % WORDS, r);
            }
            exchange_run(gups_apply);
        }
    }
}

static bool gups_is_right(void)
{
    uint64_t any = 0;

    for (size_t i = 0; i < WORDS; i++)
        any |= table[i];
    return any == 0;
}

/* ---- histogram --------------------------------------------------------------------- */

static void histogram_plain(void)
{
    begin_random();
    for (size_t i = 0; i < elements; i++) {
        uint64_t r = next_random();
        shmem_uint64_atomic_inc(&table[r % WORDS], pe_of(r));
    }
}

static void histogram_apply(int pe, const struct element *e, size_t n)
{
    (void)pe;
    for (size_t i = 0; i < n; i++)
        table[e[i].index]++;
}

static void histogram_aggregated(void)
{
    begin_random();
    for (size_t i = 0; i < elements; i += BATCH) {
        for (size_t k = 0; k < BATCH; k++) {
            uint64_t r = next_random();
            exchange_add(pe_of(r), r % WORDS, 0);
        }
        exchange_run(histogram_apply);
    }
}

static bool histogram_is_right(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < WORDS; i++)
        sum += table[i];
    memset(table, 0, WORDS * sizeof *table);
    return sum_of_all(sum) == (uint64_t)elements * (uint64_t)npes;
}

/* ---- gather ------------------------------------------------------------------------ */

static uint64_t *answers; /* symmetric: npes x BATCH */

static uint64_t word_of(int pe, uint64_t index)
{
    return (uint64_t)pe * WORDS + index + 1;
}

static void gather_begin(void)
{
    for (size_t i = 0; i < WORDS; i++)
        table[i] = word_of(me, i);
    memset(result, 0, elements * sizeof *result);
}

static void gather_plain(void)
{
    begin_random();
    for (size_t i = 0; i < elements; i++) {
        uint64_t r = next_random();
        shmem_uint64_get_nbi(&result[i], &table[r % WORDS], 1, pe_of(r));
    }
    shmem_quiet();
}

static void gather_answer(int pe, const struct element *e, size_t n)
{
    static uint64_t words[BATCH];

    for (size_t i = 0; i < n; i++)
        words[i] = table[e[i].index];
    shmem_put64(answers + (size_t)me * BATCH, words, n, pe);
}

static void gather_aggregated(void)
{
    size_t *asked = allocate((size_t)npes, sizeof *asked, false);

    begin_random();
    for (size_t i = 0; i < elements; i += BATCH) {
        for (size_t k = 0; k < BATCH; k++) {
            uint64_t r = next_random();
            exchange_add(pe_of(r), r % WORDS, i + k);
        }
        memcpy(asked, exchange.fill, (size_t)npes * sizeof *asked);
        exchange_run(gather_answer);
        shmem_barrier_all();
        for (int pe = 0; pe < npes; pe++)
            for (size_t k = 0; k < asked[pe]; k++)
                result[exchange.out[(size_t)pe * BATCH + k].value] =
                    answers[(size_t)pe * BATCH + k];
    }
    free(asked);
}

static bool gather_is_right(void)
{
    bool right = true;

    begin_random();
    for (size_t i = 0; i < elements; i++) {
        uint64_t r = next_random();
        right = right && result[i] == word_of(pe_of(r), r % WORDS);
    }
    memset(table, 0, WORDS * sizeof *table);
    return right;
}

/* ---- transpose --------------------------------------------------------------------- */

/* Element i of this PE is in row i / ROW_ELEMENTS of its rows and in column
 * next_random(), which is index % rows of PE pe_of(..) in the transposed matrix. */
static uint64_t *starts;     /* symmetric: of the columns of this PE; then the ends */
static uint64_t *transposed; /* symmetric: the row of each element, by columns */
static uint64_t *positions;
static struct element *received;
static size_t nreceived, capacity;

static uint64_t row_of(size_t i)
{
    return ((uint64_t)me * elements + i) / ROW_ELEMENTS;
}

static size_t columns(void)
{
    return WORDS < elements / ROW_ELEMENTS ? WORDS : elements / ROW_ELEMENTS;
}

static uint64_t mixed(uint64_t row, uint64_t column)
{
    uint64_t z = (row * UINT64_C(0xbf58476d1ce4e5b9)) ^ (column + 1);

    return (z ^ (z >> 31)) * UINT64_C(0x94d049bb133111eb);
}

/* Counts become the positions of the first element of each column. */
static void transpose_prefix(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < columns(); i++) {
        uint64_t n = starts[i];
        starts[i] = sum;
        sum += n;
    }
    if (sum > capacity)
        fail("transpose: a PE has too many elements");
}

#ifndef FETCH_BLOCKING
#define FETCH_INC(to, at, pe) shmem_uint64_atomic_fetch_inc_nbi(to, at, pe)
#else
#define FETCH_INC(to, at, pe) (*(to) = shmem_uint64_atomic_fetch_inc(at, pe))
#endif

static void transpose_begin(void)
{
    memset(starts, 0, columns() * sizeof *starts);
    memset(transposed, 0, capacity * sizeof *transposed);
    nreceived = 0;
}

static void transpose_plain(void)
{
    begin_random();
    for (size_t i = 0; i < elements; i++) {
        uint64_t r = next_random();
        shmem_uint64_atomic_inc(&starts[r % columns()], pe_of(r));
    }
    shmem_barrier_all();
    transpose_prefix();
    shmem_barrier_all();
    begin_random();
    for (size_t i = 0; i < elements; i++) {
        uint64_t r = next_random();
        FETCH_INC(&positions[i], &starts[r % columns()], pe_of(r));
    }
    shmem_quiet();
    begin_random();
    for (size_t i = 0; i < elements; i++)
        shmem_uint64_p(&transposed[positions[i]], row_of(i), pe_of(next_random()));
}

static void transpose_apply(int pe, const struct element *e, size_t n)
{
    (void)pe;
    if (nreceived + n > capacity)
        fail("transpose: a PE has too many elements");
    memcpy(received + nreceived, e, n * sizeof *e);
    nreceived += n;
    for (size_t i = 0; i < n; i++)
        starts[e[i].index]++;
}

static void transpose_aggregated(void)
{
    begin_random();
    for (size_t i = 0; i < elements; i += BATCH) {
        for (size_t k = 0; k < BATCH; k++) {
            uint64_t r = next_random();
            exchange_add(pe_of(r), r % columns(), row_of(i + k));
        }
        exchange_run(transpose_apply);
    }
    transpose_prefix();
    for (size_t i = 0; i < nreceived; i++)
        transposed[starts[received[i].index]++] = received[i].value;
}

/* The sum over all elements of the matrix and over those of the transposed one. */
static bool transpose_is_right(void)
{
    uint64_t there = 0, here = 0, at = 0;

    begin_random();
    for (size_t i = 0; i < elements; i++) {
        uint64_t r = next_random();
        there += mixed(row_of(i), (uint64_t)pe_of(r) * WORDS + r % columns());
    }
    for (size_t c = 0; c < columns(); c++)
        for (; at < starts[c]; at++)
            here += mixed(transposed[at], (uint64_t)me * WORDS + c);
    return sum_of_all(there) == sum_of_all(here) &&
           sum_of_all(at) == (uint64_t)elements * (uint64_t)npes;
}

/* ---- measurement ------------------------------------------------------------------- */

static void nothing(void) {}

static const struct kernel {
    const char *name;
    void (*begin)(void), (*style[2])(void); /* plain, aggregated */
    bool (*is_right)(void);
} kernels[] = {
    {"gups", nothing, {gups_plain, gups_aggregated}, gups_is_right},
    {"histogram", nothing, {histogram_plain, histogram_aggregated}, histogram_is_right},
    {"gather", gather_begin, {gather_plain, gather_aggregated}, gather_is_right},
    {"transpose",
     transpose_begin,
     {transpose_plain, transpose_aggregated},
     transpose_is_right},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *of)
{
    qsort(of, (size_t)rounds, sizeof *of, compare);
    return of[rounds / 2];
}

/* Millions of elements of all PEs in a second. */
static double run(const struct kernel *k, int style)
{
    k->begin();
    shmem_barrier_all();
    double begin = now_s();
    k->style[style]();
    shmem_barrier_all();
    double seconds = now_s() - begin;
    if (corrupt && me == npes - 1) {
        table[1]++;
        transposed[0]++;
        result[0]++;
    }
    if (sum_of_all(!k->is_right()) != 0) {
        if (me == 0)
            fprintf(stderr, "irregular: %s, %s: the result is wrong\n", k->name,
                    style == 0 ? "plain" : "aggregated");
        shmem_barrier_all(); /* the message comes first */
        shmem_global_exit(1);
    }
    return (double)elements * npes / seconds * 1e-6;
}

static void measure(const struct kernel *k)
{
    double rate[2][ROUNDS_MAX], ratio[ROUNDS_MAX];

    for (int i = 0; i < rounds; i++) {
        for (int style = 0; style < 2; style++)
            rate[style][i] = run(k, style);
        ratio[i] = rate[0][i] / rate[1][i];
    }
    double plain = median(rate[0]), aggregated = median(rate[1]);
    if (me == 0)
        printf("%-9s %zu elements: plain %.3f, aggregated %.3f M/s, ratio %.2f\n",
               k->name, elements, plain, aggregated, median(ratio));
}

static bool is_wanted(const char *name, int n, char **names)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return n == 0;
}

static bool read_options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "n:r:qw")) != -1)
        switch (c) {
        case 'n':
            elements = (size_t)atol(optarg);
            break;
        case 'r':
            rounds = atoi(optarg);
            break;
        case 'q':
            elements = 2 * BATCH;
            rounds = 1;
            break;
        case 'w':
            corrupt = true;
            break;
        default:
            return false;
        }
    for (int i = optind; i < argc; i++) {
        bool known = false;
        for (int k = 0; k < KERNELS; k++)
            known = known || strcmp(argv[i], kernels[k].name) == 0;
        if (!known)
            return false;
    }
    return elements > 0 && elements % (2 * BATCH) == 0 && rounds > 0 &&
           rounds <= ROUNDS_MAX;
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv)) {
        fprintf(stderr,
                "usage: irregular [-n elements] [-r rounds] [-q] [-w] [kernel..]\n"
                "elements: a multiple of 8192; rounds: 1 to 99; kernels: gups "
                "histogram gather transpose\n");
        return 2;
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    capacity = 2 * elements;
    table = allocate(WORDS, sizeof *table, true);
    starts = allocate(columns(), sizeof *starts, true);
    transposed = allocate(capacity, sizeof *transposed, true);
    answers = allocate((size_t)npes * BATCH, sizeof *answers, true);
    result = allocate(elements, sizeof *result, false);
    positions = allocate(elements, sizeof *positions, false);
    received = allocate(capacity, sizeof *received, false);
    exchange_init();
    for (int k = 0; k < KERNELS; k++)
        if (is_wanted(kernels[k].name, argc - optind, argv + optind))
            measure(&kernels[k]);
    shmem_finalize();
    return 0;
}
