/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided_stencil.c - Jacobi steps of a star-shaped stencil with radius 1 to 3 on a grid
 * that is periodic from east to west and 0 beyond its northern and southern edges.  Each
 * PE has a tile of n x n points; the halos are columns, so that all data that PEs
 * exchange is non-contiguous.  The result is compared with a serial run of all tiles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

enum { VERIFY_STEPS = 5 };

static struct strided_halo halo;
static int stencil_me, stencil_npes;
static int parity; /* of the tile with the current state */

static double stencil_initial(size_t row, size_t column)
{
    return coll_uniform(1, (int)row, column);
}

static size_t stencil_bytes(const struct strided_halo *h)
{
    return (h->rows + 2 * h->radius) * h->pitch * sizeof(double);
}

/* Sets the current state; column 0 of the tile is column `first` of the grid. */
static void stencil_fill(const struct strided_halo *h, size_t first)
{
    memset(h->tile[0], 0, stencil_bytes(h));
    memset(h->tile[1], 0, stencil_bytes(h));
    for (size_t i = 0; i < h->rows; i++)
        for (size_t j = 0; j < h->columns; j++)
            strided_first_row(h, 0)[i * h->pitch + h->radius + j] =
                stencil_initial(i, first + j);
}

/* `radius` is a constant where this is inlined. */
static inline void stencil_rows(const struct strided_halo *h, int from, size_t radius)
{
    static const double weight[] = {0, 0.0625, 0.03125, 0.03125};
    /* All weights add up to 1, because a state that decays to denormal numbers is slow.
     */
    static const double centre[] = {1, 0.75, 0.625, 0.5};
    const size_t pitch = h->pitch;

    for (size_t i = 0; i < h->rows; i++) {
        const double *in = strided_first_row(h, from) + i * pitch + radius;
        double *restrict out = strided_first_row(h, 1 - from) + i * pitch + radius;
        for (size_t j = 0; j < h->columns; j++) {
            double sum = centre[radius] * in[j];
            for (size_t k = 1; k <= radius; k++)
                sum += weight[k] *
                       (in[j - k] + in[j + k] + (in - k * pitch)[j] + in[j + k * pitch]);
            out[j] = sum;
        }
    }
}

static void stencil_sweep(const struct strided_halo *h, int from)
{
    if (h->radius == 1)
        stencil_rows(h, from, 1);
    else if (h->radius == 2)
        stencil_rows(h, from, 2);
    else
        stencil_rows(h, from, 3);
}

static void stencil_check_size(size_t n, int npes)
{
    (void)npes;
    if (n < 2 * STRIDED_RADIUS_MAX || n > 1 << 14)
        coll_wrong("stencil: a side of %zu points should be from 8 to 16384", n);
}

static void stencil_open(size_t n, size_t variant, int me, int npes)
{
    stencil_me = me;
    stencil_npes = npes;
    halo = (struct strided_halo){.west = (me + npes - 1) % npes,
                                 .east = (me + 1) % npes,
                                 .rows = n,
                                 .columns = n,
                                 .radius = variant + 1,
                                 .pitch = n + 2 * (variant + 1)};
    halo.tile[0] = coll_need("strided_bench", stencil_bytes(&halo));
    halo.tile[1] = coll_need("strided_bench", stencil_bytes(&halo));
}

static void stencil_begin(const struct strided_form *form)
{
    stencil_fill(&halo, (size_t)stencil_me * halo.columns);
    parity = 0;
    form->halo_open(&halo);
}

static void stencil_run(const struct strided_form *form, long steps)
{
    for (long step = 0; step < steps; step++) {
        double start = coll_now();
        form->halo(&halo, parity);
        strided_waited += coll_now() - start;
        stencil_sweep(&halo, parity);
        parity = 1 - parity;
    }
}

/* The halos of the serial grid, which is its own neighbour */
static void stencil_wrap(const struct strided_halo *h, int which)
{
    double *row = strided_first_row(h, which);

    for (size_t i = 0; i < h->rows; i++, row += h->pitch)
        for (size_t k = 0; k < h->radius; k++) {
            row[k] = row[h->columns + k];
            row[h->columns + h->radius + k] = row[h->radius + k];
        }
}

static void stencil_verify(const struct strided_form *form, bool spoil)
{
    struct strided_halo all = halo;

    stencil_run(form, VERIFY_STEPS);
    if (spoil && stencil_me == 0)
        strided_first_row(&halo, parity)[halo.radius] += 1e-9;
    all.columns = halo.columns * (size_t)stencil_npes;
    all.pitch = all.columns + 2 * all.radius;
    all.tile[0] = strided_memory(stencil_bytes(&all));
    all.tile[1] = strided_memory(stencil_bytes(&all));
    stencil_fill(&all, 0);
    for (int step = 0; step < VERIFY_STEPS; step++) {
        stencil_wrap(&all, step & 1);
        stencil_sweep(&all, step & 1);
    }
    for (size_t i = 0; i < halo.rows; i++)
        for (size_t j = 0; j < halo.columns; j++) {
            double got =
                strided_first_row(&halo, parity)[i * halo.pitch + halo.radius + j];
            double want = strided_first_row(
                &all, VERIFY_STEPS & 1)[i * all.pitch + all.radius +
                                        (size_t)stencil_me * halo.columns + j];
            if (fabs(got - want) > 1e-12)
                strided_fail("stencil, radius %zu, %s: point (%zu, %zu) of PE %d of %d "
                             "is %.17g instead of %.17g",
                             halo.radius, form->name, i, j, stencil_me, stencil_npes, got,
                             want);
        }
    free(all.tile[0]);
    free(all.tile[1]);
}

static void stencil_close(void)
{
    coll_lib.free(halo.tile[1]);
    coll_lib.free(halo.tile[0]);
}

const struct strided_app strided_stencil = {.name = "stencil",
                                            .variants = STRIDED_RADIUS_MAX,
                                            .check_size = stencil_check_size,
                                            .open = stencil_open,
                                            .begin = stencil_begin,
                                            .run = stencil_run,
                                            .verify = stencil_verify,
                                            .close = stencil_close};
