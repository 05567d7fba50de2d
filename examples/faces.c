/* SPDX-License-Identifier: BSD-3-Clause */
/* faces.c - halo exchange of a 3-D box with layouts.  Each PE has a box of N^3 cells; the
 * boxes form a ring in x.  The cells of a face x = const lie far apart in memory: a
 * layout describes them, shmemx_pack collects them in a message, shmemx_unpack stores
 * them. oshrun -n 4 ./faces [steps] */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 24, X = N + 2, FACE = N * N, STEPS = 20 };
typedef double box[N][N][X]; /* [z][y][x]; x = 0 and x = N + 1 are halo */

/* Two messages of each neighbour, by turns: one may arrive while the other is unpacked.
 * No third one can: a neighbour is at most one step ahead, because it waits for this PE's
 * message of each step. */
static double to_send[FACE], from_west[2][FACE], from_east[2][FACE];
static uint64_t west_arrived, east_arrived; /* steps */
static int wrong, wrong_anywhere;

/* The face x = 0 of a box: N rows of N cells, X cells apart.  Other faces are the same
 * layout at another address. */
static shmemx_layout_t face_layout(void)
{
    const size_t count[] = {N, N};
    const ptrdiff_t stride[] = {X * sizeof(double), N * X * sizeof(double)};
    shmemx_layout_t face;

    if (shmemx_layout_nested(sizeof(double), 2, count, stride, &face) != 0)
        shmem_global_exit(1);
    return face;
}

static void send_face(shmemx_layout_t face, box cells, int x, double *to,
                      uint64_t *signal, uint64_t step, int pe)
{
    shmemx_pack(face, &cells[0][0][x], 0, to_send, sizeof(to_send));
    shmem_double_put_signal(to, to_send, FACE, signal, step, SHMEM_SIGNAL_SET, pe);
}

/* What a cell has in a step: its number in the ring of boxes, and the step */
static double value(int pe, int z, int y, int x, uint64_t step)
{
    return (double)((pe * N + x) * FACE + z * N + y) + 0.001 * (double)step;
}

static void compute(box cells, int me, uint64_t step)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 1; x <= N; x++)
                cells[z][y][x] = value(me, z, y, x, step);
}

static void check_halo(box cells, int west, int east, uint64_t step)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            wrong += cells[z][y][0] != value(west, z, y, N, step) ||
                     cells[z][y][N + 1] != value(east, z, y, 1, step);
}

int main(int argc, char **argv)
{
    static box cells;
    uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : STEPS;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int west = (me + npes - 1) % npes, east = (me + 1) % npes;
    shmemx_layout_t face = face_layout();

    for (uint64_t step = 1; step <= steps; step++) {
        compute(cells, me, step);
        shmem_fence(); /* orders the signals of this step behind the previous ones */
        send_face(face, cells, 1, from_east[step % 2], &east_arrived, step, west);
        send_face(face, cells, N, from_west[step % 2], &west_arrived, step, east);
        shmem_signal_wait_until(&west_arrived, SHMEM_CMP_GE, step);
        shmemx_unpack(face, &cells[0][0][0], 0, from_west[step % 2], sizeof(to_send));
        shmem_signal_wait_until(&east_arrived, SHMEM_CMP_GE, step);
        shmemx_unpack(face, &cells[0][0][N + 1], 0, from_east[step % 2], sizeof(to_send));
        check_halo(cells, west, east, step);
    }
    shmemx_layout_free(&face);
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &wrong_anywhere, &wrong, 1);
    if (me == 0)
        printf("%d PEs, %llu steps: %d wrong cells\n", npes, (unsigned long long)steps,
               wrong_anywhere);
    shmem_finalize();
    return wrong_anywhere != 0;
}
