/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams_many.c - more than a thousand teams at a time, destroyed in random order and
 * created again; then random splits of random teams with random delays, checked against a
 * model of all teams that every PE has.  Some teams are left to shmem_finalize.
 */
#include "config.h"

#include <shmemx.h>

#include "tests/api/multi/teams.h"

enum { MANY = 1200, EACH = 7, ROUNDS = 3, ALIVE_MAX = 40, STEPS = 400 };

static int me, npes;
static uint64_t mine, ours; /* random state: different on each PE, the same on all */

static int random_below(int n)
{
    return (int)(check_random(&ours) >> 33) % n;
}

static void shuffle(int *list, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = random_below(i + 1), other = list[k];
        list[k] = list[i];
        list[i] = other;
    }
}

/* Team i has the PEs from i % npes on, in ascending or descending order. */
static struct model nth(int i)
{
    struct model world = model_world();
    int start = i % npes, size = npes - start;
    int first = i % 2 == 0 ? start : npes - 1, stride = i % 2 == 0 ? 1 : -1;
    struct model m = model_strided(&world, first, stride, size);
    CHECK_EQ(
        shmem_team_split_strided(SHMEM_TEAM_WORLD, first, stride, size, NULL, 0, &m.team),
        0);
    return m;
}

static void test_many(void)
{
    static struct model m[MANY];
    static int order[MANY];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) {
            m[i] = nth(i);
            order[i] = i;
            check_delay(&mine);
        }
        for (int i = 0; i < MANY; i += EACH) {
            model_check(&m[i]);
            model_barrier(&m[i]);
        }
        shuffle(order, MANY);
        for (int i = 0; i < MANY; i++)
            shmem_team_destroy(m[order[i]].team);
    }
}

/* ---- random splits --------------------------------------------------------------- */

static struct model alive[ALIVE_MAX];
static int count;

static bool space(int n)
{
    return count + n <= ALIVE_MAX;
}

static void split_strided(const struct model *parent)
{
    int n = parent->n, start = random_below(n), stride = random_below(2 * n + 1) - n,
        size = random_below(n + 1);
    int last = start + stride * (size - 1);
    bool valid = size > 0 && last >= 0 && last < n && (stride != 0 || size == 1);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    if (model_has_me(parent)) {
        int status =
            shmem_team_split_strided(parent->team, start, stride, size, NULL, 0, &team);
        CHECK_EQ(status == 0, valid);
    }
    if (!valid)
        return;
    alive[count] = model_strided(parent, start, stride, size);
    alive[count++].team = team;
}

static void split_list(const struct model *parent)
{
    int list[TEAMS_MAX_PES], n = random_below(parent->n) + 1;
    struct model *m = &alive[count++];
    for (int i = 0; i < parent->n; i++)
        list[i] = i;
    shuffle(list, parent->n);
    *m = (struct model){.n = n};
    for (int i = 0; i < n; i++)
        m->pe[i] = parent->pe[list[i]];
    if (model_has_me(parent))
        CHECK_EQ(shmemx_team_create(parent->team, list, n, &m->team), 0);
}

static void split_2d(const struct model *parent)
{
    int n = parent->n, x = random_below(n) + 1, rows = (n + x - 1) / x;
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    if (!space(rows + x))
        return;
    if (model_has_me(parent))
        CHECK_EQ(shmem_team_split_2d(parent->team, x, NULL, 0, &row, NULL, 0, &column),
                 0);
    for (int i = 0; i < rows + x; i++) {
        bool is_row = i < rows;
        int start = is_row ? i * x : i - rows;
        int length = n - start < x ? n - start : x, height = (n - start + x - 1) / x;
        struct model *m = &alive[count++];
        *m = model_strided(parent, start, is_row ? 1 : x, is_row ? length : height);
        m->team = !model_has_me(m) ? SHMEM_TEAM_INVALID : is_row ? row : column;
    }
}

static void destroy(int i)
{
    shmem_team_destroy(alive[i].team);
    alive[i] = alive[--count];
}

static void test_random(void)
{
    alive[count++] = model_world();
    for (int step = 0; step < STEPS; step++) {
        struct model parent = alive[random_below(count)];
        int before = count, way = random_below(3);
        check_delay(&mine);
        if (space(1) && way == 0)
            split_strided(&parent);
        else if (space(1) && way == 1)
            split_list(&parent);
        else
            split_2d(&parent);
        for (int i = before; i < count; i++) {
            model_check(&alive[i]);
            check_delay(&mine);
            model_barrier(&alive[i]);
        }
        model_barrier(&alive[random_below(count)]);
        while (count > 1 && (!space(8) || random_below(3) == 0))
            destroy(1 + random_below(count - 1));
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    mine = check_seed(me);
    ours = check_seed(-1);
    test_many();
    test_random();
    shmem_finalize();
    return 0;
}
