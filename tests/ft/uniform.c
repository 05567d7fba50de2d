/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uniform.c - SHMEM_FT=continue: a PE is killed while all PEs repeat a synchronizing
 * call; the call must succeed on all survivors or on none.
 *
 *     uniform [-s seed] [-c case] [-a] [-N] [-l]
 *
 * In each round all live PEs call the routine of a case until it returns an error, which
 * happens because one of them, the victim, is killed by a timer.  The survivors count the
 * calls that have succeeded, and compare the counts after the shrink.  The job ends when
 * one PE is left.  -c: one case; -a: with the collectives that move data; -N: in every
 * other round the victim kills the daemon of its virtual node, if there is another node;
 * -l: prints the cases.  Prints the number of rounds, and each difference; status 1:
 * there was one.
 */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ELEMENTS = 40, PES_MOST = 64, KILL_MOST_NS = 400000, CALLS_MOST = 1000000 };

static long source[ELEMENTS * PES_MOST], dest[ELEMENTS * PES_MOST], count, least, most;

/* ---- cases: true if the call has succeeded ------------------------------------------
 */

static bool uniform_sync(shmem_team_t team)
{
    return shmem_team_sync(team) == 0;
}

static bool uniform_malloc(shmem_team_t team)
{
    void *block = shmem_malloc(100);

    (void)team;
    shmem_free(block);
    return block != NULL;
}

static bool uniform_calloc(shmem_team_t team)
{
    void *block = shmem_calloc(10, 10);

    (void)team;
    shmem_free(block);
    return block != NULL;
}

/* An error leaves the old block as it was. */
static bool uniform_realloc(shmem_team_t team)
{
    char *block = shmem_malloc(100), *moved;

    (void)team;
    if (block == NULL)
        return false;
    memset(block, 7, 100);
    moved = shmem_realloc(block, 300);
    for (int i = 0; i < 100; i++)
        if ((moved != NULL ? moved : block)[i] != 7) {
            printf("PE %d: shmem_realloc has lost data\n", shmem_my_pe());
            exit(1);
        }
    shmem_free(moved != NULL ? moved : block);
    return moved != NULL;
}

static bool uniform_drop(shmem_team_t *made, int rc)
{
    if ((rc != 0) != (*made == SHMEM_TEAM_INVALID)) {
        printf("PE %d: result %d, with the wrong handle\n", shmem_my_pe(), rc);
        exit(1);
    }
    if (rc == 0)
        shmem_team_destroy(*made);
    return rc == 0;
}

static bool uniform_split(shmem_team_t team)
{
    shmem_team_t made;
    int rc = shmem_team_split_strided(team, 0, 1, shmem_team_n_pes(team), NULL, 0, &made);

    return uniform_drop(&made, rc);
}

static bool uniform_split_2d(shmem_team_t team)
{
    shmem_team_t x, y;
    int rc = shmem_team_split_2d(team, 2, NULL, 0, &x, NULL, 0, &y);

    uniform_drop(&x, rc);
    return uniform_drop(&y, rc);
}

static bool uniform_create(shmem_team_t team)
{
    int list[PES_MOST], n = shmem_team_n_pes(team);
    shmem_team_t made;

    for (int i = 0; i < n; i++)
        list[i] = n - 1 - i;
    return uniform_drop(&made, shmemx_team_create(team, list, n, &made));
}

static bool uniform_shared(shmem_team_t team)
{
    shmemx_shared_t shared;
    int rc = shmemx_shared_create(team, 1000, &shared);

    shmemx_shared_destroy(&shared);
    return rc == 0;
}

static bool uniform_reduce(shmem_team_t team)
{
    return shmem_long_sum_reduce(team, dest, source, ELEMENTS) == 0;
}

static bool uniform_broadcast(shmem_team_t team)
{
    return shmem_long_broadcast(team, dest, source, ELEMENTS, 0) == 0;
}

static bool uniform_collect(shmem_team_t team)
{
    return shmem_long_collect(team, dest, source, ELEMENTS) == 0;
}

static bool uniform_fcollect(shmem_team_t team)
{
    return shmem_long_fcollect(team, dest, source, ELEMENTS) == 0;
}

static bool uniform_alltoall(shmem_team_t team)
{
    return shmem_long_alltoall(team, dest, source, ELEMENTS) == 0;
}

static bool uniform_alltoalls(shmem_team_t team)
{
    return shmem_long_alltoalls(team, dest, source, 1, 1, ELEMENTS) == 0;
}

static bool uniform_scan(shmem_team_t team)
{
    return shmem_long_sum_inscan(team, dest, source, ELEMENTS) == 0;
}

static const struct uniform_case {
    const char *name;
    bool (*call)(shmem_team_t team);
    bool data; /* only with -a */
} cases[] = {
    {"sync", uniform_sync, false},        {"malloc", uniform_malloc, false},
    {"calloc", uniform_calloc, false},    {"realloc", uniform_realloc, false},
    {"split", uniform_split, false},      {"split_2d", uniform_split_2d, false},
    {"create", uniform_create, false},    {"shared", uniform_shared, false},
    {"reduce", uniform_reduce, true},     {"broadcast", uniform_broadcast, true},
    {"collect", uniform_collect, true},   {"fcollect", uniform_fcollect, true},
    {"alltoall", uniform_alltoall, true}, {"alltoalls", uniform_alltoalls, true},
    {"scan", uniform_scan, true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- rounds ----------------------------------------------------------------------- */

static uint64_t uniform_mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
    return x ^ x >> 33;
}

struct uniform_death {
    uint64_t ns;
    bool node;
};

static void *uniform_kill(void *arg)
{
    const struct uniform_death *d = arg;
    struct timespec t = {.tv_nsec = (long)d->ns};

    nanosleep(&t, NULL);
    if (d->node)
        kill(getppid(), SIGKILL);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void uniform_die(struct uniform_death death)
{
    static struct uniform_death d;
    pthread_t thread;

    d = death;
    if (pthread_create(&thread, NULL, uniform_kill, &d) != 0)
        abort();
}

static bool uniform_has_remote(shmem_team_t team)
{
    for (int i = 0; i < shmem_team_n_pes(team); i++)
        if (shmem_team_ptr(team, &count, i) == NULL)
            return true;
    return false;
}

/* False: the survivors have different counts. */
static bool uniform_compare(shmem_team_t team, const char *name, int round)
{
    if (shmem_long_min_reduce(team, &least, &count, 1) != 0 ||
        shmem_long_max_reduce(team, &most, &count, 1) != 0) {
        printf("PE %d: an error after the shrink\n", shmem_my_pe());
        return false;
    }
    if (least == most)
        return true;
    if (shmem_team_my_pe(team) == 0)
        printf("%s, round %d: %ld calls have succeeded on a PE, %ld on another one\n",
               name, round, least, most);
    return false;
}

static bool uniform_round(shmem_team_t *team, const struct uniform_case *c, int round,
                          uint64_t random, bool nodes)
{
    int victim = (int)(random % (uint64_t)shmem_team_n_pes(*team));

    shmem_barrier_all();
    if (victim == shmem_team_my_pe(*team))
        uniform_die((struct uniform_death){.ns = (random >> 16) % KILL_MOST_NS,
                                           .node = nodes && round % 2 == 0 &&
                                                   uniform_has_remote(*team)});
    for (count = 0; c->call(*team) && count < CALLS_MOST;)
        count++;
    if (*team != SHMEM_TEAM_WORLD)
        shmem_team_destroy(*team);
    if (shmemx_team_shrink(SHMEM_TEAM_WORLD, team) != 0)
        shmem_global_exit(1);
    return uniform_compare(*team, c->name, round);
}

static const struct uniform_case *uniform_choose(const char *name, bool data, int n)
{
    for (int i = 0; name != NULL && i < CASES; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    for (int i = n;; i++)
        if (data || !cases[i % CASES].data)
            return &cases[i % CASES];
}

static void uniform_list(void)
{
    for (int i = 0; i < CASES; i++)
        puts(cases[i].name);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    const char *name = NULL;
    bool data = false, nodes = false, right = true;
    int round = 0;

    for (int o; (o = getopt(argc, argv, "s:c:aNl")) != -1;)
        switch (o) {
        case 's':
            seed = strtoull(optarg, NULL, 0);
            break;
        case 'c':
            name = optarg;
            break;
        case 'a':
            data = true;
            break;
        case 'N':
            nodes = true;
            break;
        case 'l':
            uniform_list();
            return 0;
        default:
            return 2;
        }
    shmem_init();
    shmem_team_t team = SHMEM_TEAM_WORLD;
    for (; shmem_team_n_pes(team) > 1; round++) {
        uint64_t random = uniform_mix(seed * 1000 + (uint64_t)round);
        const struct uniform_case *c = uniform_choose(name, data, (int)(random >> 40));
        right = uniform_round(&team, c, round, random, nodes) && right;
    }
    printf("%d rounds\n", round);
    shmem_finalize();
    return !right;
}
