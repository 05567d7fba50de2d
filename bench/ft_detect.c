/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_detect.c - measures how long after the failure of PEs or nodes all survivors know
 * it. Each round kills PEs or nodes at a time that all PEs have agreed on, while the
 * others wait in a barrier; then the survivors shrink and go on.  For each round it
 * prints kill SURVIVORS KNOWN RETURNED: the time in us until the failure handler of the
 * last survivor had been called for all failed PEs, and until the barrier of the last
 * survivor had returned.  All PEs must be on one host, whose monotonic clock they
 * compare.
 *
 *     ft_detect [-k kills] [-m MiB] [-n nodes] [-r seed] [-w ms] [-s] [-c] [-l command]
 *     ft_detect -i seconds
 *
 * -k N: rounds at most (as many as possible); -m N: writes N MiB of symmetric memory
 * first; -n N: kills the daemons of N nodes at a time, by default one PE; -s: stops nodes
 * with all their PEs instead of killing them, so that nothing is closed; -c: nodes with
 * consecutive numbers, not random ones; -l COMMAND: nodes run on; the shell command,
 * which one PE of each executes, cuts their links; -w MS: waits before the first round;
 * -r N: seed.  FT_DETECT_DIR: a directory that all PEs share (/dev/shm).
 *
 * -i: nothing is killed.  The PEs wait in barriers, each of which PE 0 enters 10 ms after
 * the last one.  Prints idle SECONDS BARRIERS FAILED; each failed PE was declared failed
 * although it ran, and the barriers go on without it.
 */
#include <fcntl.h>
#include <sched.h>
#include <shmemx.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    PES_MAX = 1024,
    DELAY_NS = 3000000, /* from the agreement on the time of death to that time */
    SPIN_NS = 200000,
    IDLE_US = 10000 /* between two barriers of -i */
};

static struct {
    long kills, wait_ms, idle_s;
    int nodes;
    size_t mib;
    uint64_t seed;
    bool stop, consecutive;
    const char *cut;
} option = {.kills = 1000000, .seed = 1};

static shmem_team_t team;
static int me, npes;
static int first_here, first_of[PES_MAX]; /* lowest PE of the node of each PE */
static bool doomed[PES_MAX];              /* in this round; equal on all PEs */
static uint64_t death, death_chosen;      /* when the victims of this round die */
static _Atomic uint64_t *killed;          /* when they did; all PEs map it */
static uint64_t times[2], last[2];        /* known, returned */
static _Atomic int known, expected;       /* PEs that have failed so far; by this round */
static _Atomic uint64_t known_at;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t random_below(uint64_t n)
{
    option.seed += 0x9e3779b97f4a7c15u;
    uint64_t z = option.seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
}

static void on_failure(const int *pes, int n, void *arg)
{
    (void)pes, (void)arg;
    if (atomic_fetch_add(&known, n) + n == atomic_load(&expected))
        atomic_store(&known_at, now_ns());
}

/* ---- victims ---------------------------------------------------------------------- */

/* The leaders of the live nodes except that of PE 0, which hosts oshrun. */
static int list_nodes(int *leader)
{
    int n = 0;

    for (int pe = 0; pe < npes; pe++)
        if (first_of[pe] == pe && first_of[pe] != 0 && !shmemx_pe_failed(pe))
            leader[n++] = pe;
    return n;
}

/* Chooses the victims of a round; returns the number of PEs, 0: not enough are left. */
static int choose_nodes(void)
{
    int leader[PES_MAX], n = list_nodes(leader), count = 0;

    if (n < option.nodes)
        return 0;
    int first = (int)random_below((uint64_t)n);
    for (int i = 0; i < option.nodes; i++) {
        int k = option.consecutive ? (first + i) % n
                                   : i + (int)random_below((uint64_t)(n - i));
        int victim = leader[k];
        if (!option.consecutive) {
            leader[k] = leader[i];
            leader[i] = victim;
        }
        for (int pe = 0; pe < npes; pe++)
            doomed[pe] = doomed[pe] || first_of[pe] == victim;
    }
    for (int pe = 0; pe < npes; pe++)
        count += doomed[pe];
    return count;
}

static int choose(void)
{
    int size = shmem_team_n_pes(team);

    memset(doomed, 0, sizeof doomed);
    if (option.nodes > 0)
        return choose_nodes();
    if (size < 2)
        return 0;
    int victim = (int)random_below((uint64_t)size);
    doomed[shmem_team_translate_pe(team, victim, SHMEM_TEAM_WORLD)] = true;
    return 1;
}

/* A put would delay the death by the time until the survivor has the value. */
static void share_times(void)
{
    const char *job = getenv("PMIX_NAMESPACE"), *dir = getenv("FT_DETECT_DIR");
    char path[512];

    snprintf(path, sizeof path, "%s/ft_detect.%s", dir != NULL ? dir : "/dev/shm",
             job != NULL ? job : "");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, PES_MAX * sizeof *killed) != 0)
        shmem_global_exit(1);
    killed =
        mmap(NULL, PES_MAX * sizeof *killed, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (killed == MAP_FAILED)
        shmem_global_exit(1);
    close(fd);
    shmem_barrier_all();
    if (me == 0)
        unlink(path);
}

static void die(void)
{
    while (now_ns() + SPIN_NS < death)
        usleep(100);
    while (now_ns() < death) {
    }
    if (option.cut != NULL && first_of[me] == me && system(option.cut) != 0) {
        fprintf(stderr, "ft_detect: failed: %s\n", option.cut);
        shmem_global_exit(1);
    }
    atomic_store(&killed[me], now_ns());
    if (option.nodes == 0)
        kill(getpid(), SIGKILL);
    if (first_of[me] == me && option.cut == NULL)
        kill(getppid(), option.stop ? SIGSTOP : SIGKILL);
    if (option.stop)
        raise(SIGSTOP);
    sleep(60); /* the daemon ends, and that kills this PE */
}

/* ---- rounds ----------------------------------------------------------------------- */

/* After the barrier all PEs know it. */
static void agree_on_time(void)
{
    death_chosen = now_ns() + DELAY_NS + random_below(SPIN_NS);
    if (shmem_broadcast(team, &death, &death_chosen, 1, 0) != 0)
        shmem_global_exit(1);
    if (shmem_team_my_pe(team) == 0)
        death = death_chosen;
    shmem_barrier_all();
}

static uint64_t last_killed(void)
{
    uint64_t t = 0;

    for (int pe = 0; pe < npes; pe++)
        if (doomed[pe] && atomic_load(&killed[pe]) > t)
            t = atomic_load(&killed[pe]);
    return t;
}

static double us_after(uint64_t t, uint64_t start)
{
    return t > start ? (double)(t - start) / 1e3 : 0;
}

static void round_run(int victims)
{
    atomic_store(&expected, atomic_load(&known) + victims);
    atomic_store(&known_at, 0);
    agree_on_time();
    if (doomed[me])
        die();
    shmem_barrier_all();
    times[1] = now_ns();
    while ((times[0] = atomic_load(&known_at)) == 0)
        sched_yield();
    if (team != SHMEM_TEAM_WORLD)
        shmem_team_destroy(team);
    if (shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) != 0 ||
        shmem_max_reduce(team, last, times, 2) != 0)
        shmem_global_exit(1);
    if (shmem_team_my_pe(team) == 0) {
        uint64_t start = last_killed();
        printf("kill %d %.1f %.1f\n", shmem_team_n_pes(team), us_after(last[0], start),
               us_after(last[1], start));
        fflush(stdout);
    }
}

static void idle_failure(const int *pes, int n, void *arg)
{
    (void)arg;
    for (int i = 0; i < n; i++)
        fprintf(stderr, "ft_detect: PE %d learns at %.3f s that PE %d has failed\n", me,
                (double)now_ns() / 1e9, pes[i]);
}

/* The largest time of all PEs ends the run, so that all end it after the same barrier. */
static void idle_run(void)
{
    uint64_t begin = now_ns();
    long barriers = 0;

    shmemx_failure_handler(idle_failure, NULL);
    for (last[0] = 0; last[0] < (uint64_t)option.idle_s * 1000000000; barriers++) {
        if (shmem_team_my_pe(team) == 0)
            usleep(IDLE_US);
        times[0] = now_ns() - begin;
        if (shmem_team_sync(team) == 0 && shmem_max_reduce(team, last, times, 1) == 0)
            continue;
        if (team != SHMEM_TEAM_WORLD)
            shmem_team_destroy(team);
        if (shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) != 0)
            shmem_global_exit(1);
    }
    if (shmem_team_my_pe(team) == 0)
        printf("idle %.1f %ld %d\n", (double)last[0] / 1e9, barriers,
               npes - shmem_team_n_pes(team));
}

static bool read_options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "i:k:l:m:n:r:w:sc")) != -1)
        switch (c) {
        case 'i':
            option.idle_s = atol(optarg);
            break;
        case 'k':
            option.kills = atol(optarg);
            break;
        case 'l':
            option.cut = optarg;
            break;
        case 'm':
            option.mib = (size_t)atol(optarg);
            break;
        case 'n':
            option.nodes = atoi(optarg);
            break;
        case 'r':
            option.seed = (uint64_t)atol(optarg);
            break;
        case 'w':
            option.wait_ms = atol(optarg);
            break;
        case 's':
            option.stop = true;
            break;
        case 'c':
            option.consecutive = true;
            break;
        default:
            return false;
        }
    return optind == argc;
}

static void measure(void)
{
    share_times();
    shmemx_failure_handler(on_failure, NULL);
    shmem_barrier_all();
    for (long i = 0; i < option.kills; i++) {
        int victims = choose();
        if (victims == 0)
            break;
        if (i == 0)
            usleep((useconds_t)option.wait_ms * 1000);
        round_run(victims);
    }
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv)) {
        fprintf(stderr,
                "usage: ft_detect [-k kills] [-m MiB] [-n nodes] [-r seed] [-w ms] "
                "[-s] [-c] [-l command]\n       ft_detect -i seconds\n");
        return 2;
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    team = SHMEM_TEAM_WORLD;
    char *memory = shmem_malloc(option.mib << 20);
    if (npes > PES_MAX || (option.mib > 0 && memory == NULL))
        shmem_global_exit(1);
    if (option.mib > 0)
        memset(memory, 1, option.mib << 20);
    while (first_here < me && shmem_ptr(&first_here, first_here) == NULL)
        first_here++;
    shmem_fcollect(SHMEM_TEAM_WORLD, first_of, &first_here, 1);
    if (option.idle_s > 0)
        idle_run();
    else
        measure();
    shmem_finalize();
    return 0;
}
