/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_bench.c - measures each pack kernel, the selected one, a loop with a memcpy of
 * variable length per block (`generic`), and memcpy of the packed bytes.  The contestants
 * of a cell take turns.  `again` is the selected kernel a second time, so that the
 * difference between the two is the noise of the measurement.
 *
 * The fastest of many noisy figures is better than its kernel.  So where the selected
 * kernel seems to miss the fastest one by more than 5 %, the two are measured again, in
 * pairs of blocks, and the median of the ratios of the pairs counts: vs_best is the speed
 * of the selected kernel over the fastest, with the selection (chosen) and without
 * (found_vs_best: the kernel is called directly); vs_generic is the same against generic.
 * Uses: pack_cells, pgas/datatype.
 */
#include "config.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pack_cells.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/datatype/pack/pack_choice.h"

enum { MEMCPY = PACK_KERNELS, GENERIC, CHOSEN, AGAIN, CONTESTANTS };
enum {
    LEARN_CALLS = 500,
    PAIRS = 31, /* of blocks, in which two contestants are compared again */
};

static const char *bench_name(int contestant)
{
    static const char *const others[] = {"memcpy", "generic", "chosen", "again"};

    return contestant < PACK_KERNELS ? pack_kernel_name((enum pack_kernel)contestant)
                                     : others[contestant - PACK_KERNELS];
}

struct turn {
    int contestant;
    struct vector_copy v;
};

/* As a datatype engine does: the compiler must not know the length of the block. */
__attribute__((noinline)) static void bench_generic(const struct vector_copy *v)
{
    char *to = v->to;
    const char *from = v->from;

    for (size_t i = v->count; i > 0; i--) {
        memcpy(to, from, v->block);
        to += v->to_stride;
        from += v->from_stride;
    }
}

static void bench_call(const void *arg)
{
    const struct turn *t = arg;

    if (t->contestant == MEMCPY)
        memcpy(t->v.to, t->v.from, t->v.block * t->v.count);
    else if (t->contestant == GENERIC)
        bench_generic(&t->v);
    else if (t->contestant == CHOSEN || t->contestant == AGAIN)
        pack_vector(&t->v);
    else
        pack_kernel_run((enum pack_kernel)t->contestant, &t->v);
    __asm__ __volatile__("" ::: "memory");
}

static struct vector_copy bench_vector(const struct pack_cell *c, char *packed,
                                       char *strided)
{
    packed += c->packed_at;
    strided += c->strided_at;
    struct vector_copy v = {packed,
                            strided,
                            (ptrdiff_t)c->block,
                            (ptrdiff_t)c->stride,
                            c->block,
                            c->bytes / c->block};

    if (c->unpack)
        v = (struct vector_copy){strided,     packed,   v.from_stride,
                                 v.to_stride, c->block, v.count};
    return v;
}

/* The least seconds of a call of each contestant, and the calls of a block; 0 calls: it
 * cannot copy the vector */
struct cell_times {
    double seconds[CONTESTANTS];
    long n[CONTESTANTS];
};

static void bench_times(const struct pack_cells *cells, const struct pack_cell *c,
                        const struct vector_copy *v, struct cell_times *times)
{
    for (int k = 0; k < CONTESTANTS; k++) {
        struct turn t = {k, *v};
        times->seconds[k] = DBL_MAX;
        times->n[k] = 0;
        if (k < PACK_KERNELS && !pack_kernel_can((enum pack_kernel)k, v))
            continue;
        for (int i = 0; k == CHOSEN && i < LEARN_CALLS && (size_t)i * c->bytes < 64 << 20;
             i++)
            bench_call(&t);
        times->n[k] = pack_cells_repetitions(bench_call, &t, cells->seconds);
    }
    for (int r = 0; r < cells->rounds; r++)
        for (int k = 0; k < CONTESTANTS; k++) {
            struct turn t = {k, *v};
            double seconds =
                times->n[k] > 0 ? pack_cells_time(bench_call, &t, times->n[k]) : DBL_MAX;
            times->seconds[k] = seconds < times->seconds[k] ? seconds : times->seconds[k];
        }
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Prints the speed of contestant a over that of b: the ratio of the least times if it is
 * at least `enough`, else the median over pairs of blocks, of which each begins half. */
static void bench_versus(const struct pack_cell *c, const struct vector_copy *v,
                         const struct cell_times *times, int a, int b, double enough,
                         const char *name)
{
    const struct turn turn[] = {{a, *v}, {b, *v}};
    double ratio = times->seconds[b] / times->seconds[a], ratios[PAIRS], seconds[2];

    if (a != b && ratio < enough) {
        for (int r = 0; r < PAIRS; r++) {
            for (int i = 0; i < 2; i++) {
                const int x = (i + r) % 2;
                seconds[x] =
                    pack_cells_time(bench_call, &turn[x], times->n[turn[x].contestant]);
            }
            ratios[r] = seconds[1] / seconds[0];
        }
        qsort(ratios, PAIRS, sizeof ratios[0], bench_compare);
        ratio = ratios[PAIRS / 2];
    }
    pack_cells_print_value(c, name, ratio);
}

static void bench_cell(const struct pack_cells *cells, const struct pack_cell *c,
                       const struct vector_copy *v)
{
    struct cell_times times;
    int best = PACK_SCALAR;

    bench_times(cells, c, v, &times);
    for (int k = 0; k < CONTESTANTS; k++) {
        if (times.n[k] > 0)
            pack_cells_print(c, bench_name(k), times.seconds[k]);
        if (k < PACK_KERNELS && times.seconds[k] < times.seconds[best])
            best = k;
    }
    bench_versus(c, v, &times, CHOSEN, best, 0.95, "vs_best");
    bench_versus(c, v, &times, CHOSEN, GENERIC, 1, "vs_generic");
    enum pack_kernel found = pack_choice_found(v);
    if (found != PACK_KERNELS) {
        pack_cells_print(c, "found", times.seconds[found]);
        bench_versus(c, v, &times, (int)found, best, 0.95, "found_vs_best");
        printf("# %s\n", pack_kernel_name(found));
    }
}

static enum isa bench_isa(void)
{
    const char *text = getenv("SHMEM_ISA");
    char error[256];
    enum isa isa;

    if (isa_read(text != NULL ? text : "auto", &isa, error, sizeof error) == 0)
        return isa;
    fprintf(stderr, "SHMEM_ISA=%s: %s\n", text, error);
    exit(2);
}

int main(int argc, char **argv)
{
    static struct pack_cells cells;

    pack_cells_read(&cells, argc, argv);
    pack_choice_init(bench_isa(), PACK_KERNELS);
    char *packed = pack_cells_buffer(cells.most_packed);
    char *strided = pack_cells_buffer(cells.most_strided);
    for (size_t i = 0; i < cells.n; i++) {
        struct vector_copy v = bench_vector(&cells.cell[i], packed, strided);
        bench_cell(&cells, &cells.cell[i], &v);
    }
    return 0;
}
