/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_stencil.c - heat in a plate, a 2-D Jacobi iteration that survives the failure of PEs
 * and nodes.
 *
 * The rows of the plate form one part for each initial PE.  Every EVERY steps a PE saves
 * its parts in its own memory and in that of its buddy, a PE on another node if there is
 * one.  After a failure the buddies of the dead take over their parts, and all survivors
 * go back to the last save.  If both copies of a part are lost, they start again.
 *
 * Every PE has memory for the whole plate, of which it uses its parts and their halo.
 *
 *   SHMEM_FT=continue oshrun -n 4 ./ft_stencil --kill 2@50 --kill 0@120
 *   SHMEM_FT=continue oshrun -n 6 --vnodes 3 ./ft_stencil --kill-node 3@77 */
#include <shmemx.h>

#include "ft_kill.h"

enum { ROWS = 240, COLS = 128, STEPS = 200, EVERY = 10, PES_MAX = ROWS };
typedef double row[COLS], plate[ROWS + 2][COLS];

static plate *grid;  /* [step % 2]: old and new by turns */
static plate *saved; /* [save % 2]: the last save, and the one before or in progress */
static shmem_team_t team;
static int node[PES_MAX];         /* the first PE on the node of each PE */
static int owner[PES_MAX];        /* of each part */
static int holder[2][2][PES_MAX]; /* [save % 2]: owner and buddy of each part */
static bool alive[PES_MAX];       /* PEs in the team; all arrays equal on all PEs */
static int save, save_step;       /* number and step of the last save */

static int part_first(int part)
{
    return 1 + ROWS * part / shmem_n_pes();
}

/* Two plates at the beginning: cold, except for a hot spot and a hot edge. */
static void fill(plate *p)
{
    memset(p, 0, 2 * sizeof *p);
    for (int i = 0; i < 2 * (ROWS + 2); i++)
        p[i % 2][i / 2][0] = 100.0;
    p[0][ROWS / 2][COLS / 3] = 1000.0;
}

static void relax(plate new, plate old, int first, int end)
{
    for (int i = first; i < end; i++)
        for (int j = 1; j < COLS - 1; j++)
            new[i][j] =
                (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4;
}

/* Sends row i to the owner of the part, which is next to the row. */
static void send_row(plate p, int i, int part)
{
    if (part >= 0 && part < shmem_n_pes() && owner[part] != shmem_my_pe())
        shmem_double_put(p[i], p[i], COLS, owner[part]);
}

/* Step t of this PE's parts.  False if a PE has failed. */
static bool advance(int t)
{
    double(*new)[COLS] = grid[t % 2];

    for (int part = 0; part < shmem_n_pes(); part++)
        if (owner[part] == shmem_my_pe()) {
            relax(new, grid[(t + 1) % 2], part_first(part), part_first(part + 1));
            send_row(new, part_first(part), part - 1);
            send_row(new, part_first(part + 1) - 1, part + 1);
        }
    shmem_barrier_all();
    return shmemx_team_status(SHMEM_TEAM_WORLD) == 0;
}

/* The next live PE after pe that is on another node; if there is none, the next one. */
static int buddy_of(int pe)
{
    int npes = shmem_n_pes(), next = pe;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 1; i < npes && next == pe; i++)
            if (alive[(pe + i) % npes] && (pass || node[(pe + i) % npes] != node[pe]))
                next = (pe + i) % npes;
    return next;
}

/* Saves this PE's parts with their halo rows as save number n. */
static void save_parts(int n, int t)
{
    for (int part = 0; part < shmem_n_pes(); part++) {
        int first = part_first(part) - 1, rows = part_first(part + 1) - first + 1;
        holder[n % 2][0][part] = owner[part];
        holder[n % 2][1][part] = buddy_of(owner[part]);
        for (int k = 0; k < 2 && owner[part] == shmem_my_pe(); k++)
            shmem_double_put(saved[n % 2][first], grid[t % 2][first], (size_t)rows * COLS,
                             holder[n % 2][k][part]);
    }
    shmem_quiet();
}

/* Fills node[], or leaves 0 in it if a PE fails already: one node. */
static void find_nodes(void)
{
    static int mine;

    while (mine < shmem_my_pe() && shmem_ptr(grid, mine) == NULL)
        mine++;
    uint64_t good = shmem_int_fcollect(SHMEM_TEAM_WORLD, node, &mine, 1) == 0;
    shmemx_team_agree(SHMEM_TEAM_WORLD, &good);
    if (!good)
        memset(node, 0, sizeof node);
}

static void list_alive(void)
{
    memset(alive, 0, sizeof alive);
    for (int i = 0; i < shmem_team_n_pes(team); i++)
        alive[shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD)] = true;
}

/* Makes a team of the survivors, who return to the last save. */
static void recover(void)
{
    const int *first = holder[save % 2][0], *second = holder[save % 2][1];
    int npes = shmem_n_pes();
    bool lost = save == 0;

    if (team != SHMEM_TEAM_WORLD)
        shmem_team_destroy(team);
    if (shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) != 0)
        shmem_global_exit(1);
    list_alive();
    for (int part = 0; part < npes; part++)
        lost = lost || (!alive[first[part]] && !alive[second[part]]);
    for (int part = 0; part < npes; part++)
        if (lost)
            owner[part] = alive[part] ? part : buddy_of(part);
        else
            owner[part] = alive[first[part]] ? first[part] : second[part];
    if (lost) {
        save = save_step = 0;
        fill(grid);
    }
    for (int part = 0; part < npes && save > 0; part++) {
        int top = part_first(part) - 1, rows = part_first(part + 1) - top + 1;
        if (owner[part] == shmem_my_pe())
            memcpy(grid[save_step % 2][top], saved[save % 2][top],
                   (size_t)rows * sizeof(row));
    }
    shmem_barrier_all(); /* all have done so before the first put of the next step */
}

/* True if this PE's parts are those of a serial run. */
static bool same_as_serial(void)
{
    plate *serial = malloc(2 * sizeof(plate));
    bool same = serial != NULL;

    fill(serial);
    for (int t = 1; t <= STEPS; t++)
        relax(serial[t % 2], serial[(t + 1) % 2], 1, ROWS + 1);
    for (int part = 0; part < shmem_n_pes(); part++)
        for (int i = part_first(part); i < part_first(part + 1); i++)
            same = same &&
                   (owner[part] != shmem_my_pe() ||
                    memcmp(grid[STEPS % 2][i], serial[STEPS % 2][i], sizeof(row)) == 0);
    free(serial);
    return same;
}

int main(int argc, char **argv)
{
    if (!kill_options(argc, argv))
        return 2;
    shmem_init();
    team = SHMEM_TEAM_WORLD;
    int me = shmem_my_pe(), npes = shmem_n_pes(), recoveries = 0;
    grid = shmem_malloc(2 * sizeof(plate));
    saved = shmem_malloc(2 * sizeof(plate));
    if (npes > PES_MAX || grid == NULL || saved == NULL)
        shmem_global_exit(1);
    list_alive();
    fill(grid);
    for (int part = 0; part < npes; part++)
        owner[part] = part;
    find_nodes();
    while (save_step < STEPS) {
        uint64_t good = 1;
        for (int t = save_step + 1; good && t <= save_step + EVERY; t++) {
            kill_at(me, t, false);
            good = advance(t);
        }
        if (good)
            save_parts(save + 1, save_step + EVERY);
        if (shmemx_team_agree(team, &good) == 0 && good) {
            save++;
            save_step += EVERY;
        } else {
            recover();
            recoveries++;
        }
    }
    uint64_t same = same_as_serial();
    shmemx_team_agree(team, &same);
    if (shmem_team_my_pe(team) == 0)
        printf("ft_stencil: %d of %d PEs, %d recoveries, %s the serial run\n",
               shmem_team_n_pes(team), npes, recoveries,
               same ? "same as" : "DIFFERS from");
    shmem_finalize();
    return !same;
}
