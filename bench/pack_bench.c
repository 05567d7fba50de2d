/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_bench.c - measures each pack kernel, the selected one, a loop with a memcpy of
 * variable length per block (`generic`), and memcpy of the packed bytes.  The contestants
 * of a cell take turns.  `again` is the selected kernel a second time, so that the
 * difference between the two is the noise of the measurement.  Uses: pack_cells,
 * pgas/datatype.
 */
#include "config.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pack_cells.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/datatype/pack/pack_choice.h"

enum { MEMCPY = PACK_KERNELS, GENERIC, CHOSEN, AGAIN, CONTESTANTS, LEARN_CALLS = 500 };

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

static void bench_cell(const struct pack_cells *cells, const struct pack_cell *c,
                       const struct vector_copy *v)
{
    double best[CONTESTANTS];
    long n[CONTESTANTS];

    for (int k = 0; k < CONTESTANTS; k++) {
        struct turn t = {k, *v};
        best[k] = DBL_MAX;
        n[k] = 0;
        if (k < PACK_KERNELS && !pack_kernel_can((enum pack_kernel)k, v))
            continue;
        for (int i = 0; k == CHOSEN && i < LEARN_CALLS && (size_t)i * c->bytes < 64 << 20;
             i++)
            bench_call(&t);
        n[k] = pack_cells_repetitions(bench_call, &t, cells->seconds);
    }
    for (int r = 0; r < cells->rounds; r++)
        for (int k = 0; k < CONTESTANTS; k++) {
            struct turn t = {k, *v};
            double seconds = n[k] > 0 ? pack_cells_time(bench_call, &t, n[k]) : DBL_MAX;
            best[k] = seconds < best[k] ? seconds : best[k];
        }
    for (int k = 0; k < CONTESTANTS; k++)
        if (n[k] > 0)
            pack_cells_print(c, bench_name(k), best[k]);
    enum pack_kernel found = pack_choice_found(v);
    if (found != PACK_KERNELS) {
        pack_cells_print(c, "found", best[found]);
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
