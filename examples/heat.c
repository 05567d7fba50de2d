/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.c - heat in a plate: a 2-D stencil with the rows distributed over the PEs.  Before
 * each step a PE puts its edge rows into the halo rows of its neighbours, with a signal
 * that carries the step number.  At the end it compares its rows with a serial run.
 *
 * A fence keeps the signals of two steps in order: without it the later number may arrive
 * first, and then tells of halo rows that have not arrived.  Two grids are enough: a
 * neighbour is at most one step ahead, because it needs this PE's rows for each step.
 *   oshrun -n 4 ./heat [steps] */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLS = 128, ROWS_MIN = 128, STEPS = 200 };
typedef double row[COLS];

static int wrong, wrong_anywhere;
static uint64_t from_above, from_below; /* last step whose halo rows have arrived */

/* One Jacobi step over rows 1..rows; rows 0 and rows + 1 are halo, edge columns stay. */
static void step(row *new, row *old, int rows)
{
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < COLS - 1; j++)
            new[i][j] =
                (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4;
}

/* The plate is cold except for a hot spot and one hot edge. */
static void fill(row *grid, int first, int rows, int all)
{
    if (grid == NULL)
        shmem_global_exit(1);
    memset(grid, 0, (size_t)(rows + 2) * sizeof(row));
    for (int i = 0; i < rows + 2; i++) {
        grid[i][0] = 100.0;
        grid[i][COLS / 3] = first + i == all / 2 ? 1000.0 : 0.0;
    }
}

/* Row `mine` becomes row `theirs` of pe. */
static void send(row *grid, int mine, int theirs, uint64_t *signal, uint64_t t, int pe)
{
    if (pe >= 0 && pe < shmem_n_pes())
        shmem_double_put_signal(grid[theirs], grid[mine], COLS, signal, t,
                                SHMEM_SIGNAL_SET, pe);
}

int main(int argc, char **argv)
{
    uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : STEPS;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int all = npes > ROWS_MIN ? npes : ROWS_MIN;
    int first = all * me / npes, rows = all * (me + 1) / npes - first;
    int above = me > 0 ? all * me / npes - all * (me - 1) / npes : 0;
    size_t most = (size_t)(all / npes) + 3;
    row *grid[2], *serial[2]; /* old and new by turns */
    for (int k = 0; k < 2; k++) {
        fill(grid[k] = shmem_malloc(most * sizeof(row)), first, rows, all);
        fill(serial[k] = malloc((size_t)(all + 2) * sizeof(row)), 0, all, all);
    }
    shmem_barrier_all();
    for (uint64_t t = 1; t <= steps; t++) {
        row *old = grid[(t + 1) % 2], *new = grid[t % 2];
        shmem_fence(); /* orders the signals of this step behind the previous ones */
        send(old, 1, above + 1, &from_below, t, me - 1);
        send(old, rows, 0, &from_above, t, me + 1);
        if (me > 0)
            shmem_signal_wait_until(&from_above, SHMEM_CMP_GE, t);
        if (me < npes - 1)
            shmem_signal_wait_until(&from_below, SHMEM_CMP_GE, t);
        step(new, old, rows);
        step(serial[t % 2], serial[(t + 1) % 2], all);
    }
    wrong = memcmp(grid[steps % 2][1], serial[steps % 2][first + 1],
                   (size_t)rows * sizeof(row)) != 0;
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, &wrong_anywhere, &wrong, 1);
    if (me == 0)
        printf("heat: %d x %d, %d steps on %d PEs, %s the serial run\n", all, (int)COLS,
               (int)steps, npes, wrong_anywhere ? "DIFFERS from" : "same as");
    shmem_finalize();
    return wrong_anywhere;
}
