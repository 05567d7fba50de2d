/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handler.c - shmemx_failure_handler: while the function of PE 0 blocks, PE 0 learns of
 * another failure, and its wait returns; the function is called for PEs that failed
 * before it was set, once for each, one call after the other.  3 PEs; run by handler.sh.
 *
 * The node daemon, which would mark the second PE as failed, is stopped meanwhile, so
 * that only the watch of PE 0 can.
 */
#include <semaphore.h>
#include <shmemx.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEEPER, FIRST, SECOND, PES };

static sem_t entered, leave;
static _Atomic int inside, calls, told[PES];
static long die, never;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "handler: PE %d: %s\n", shmem_my_pe(), what);
    kill(getppid(), SIGCONT);
    shmem_global_exit(1);
}

static void on_failure(const int *pes, int n, void *arg)
{
    check(arg == &entered, "wrong argument");
    check(atomic_fetch_add(&inside, 1) == 0, "two calls overlap");
    atomic_fetch_add(&calls, 1);
    for (int i = 0; i < n; i++)
        atomic_fetch_add(&told[pes[i]], 1);
    sem_post(&entered);
    while (sem_wait(&leave) != 0)
        ;
    atomic_fetch_sub(&inside, 1);
}

static void await(sem_t *event)
{
    while (sem_wait(event) != 0)
        ;
}

static void too_many(const int *pes, int n, void *arg)
{
    (void)n;
    (void)arg;
    fprintf(stderr, "handler: PE %d is reported to the next function, too\n", pes[0]);
    _exit(1);
}

static void keep(void)
{
    check(shmemx_failure_handler(on_failure, &entered) == 0, "no thread");
    await(&entered);
    check(told[FIRST] == 1 && told[SECOND] == 0, "the first failure is not reported");

    kill(getppid(), SIGSTOP);
    shmem_long_p(&die, 1, SECOND);
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    check(shmemx_pe_failed(SECOND) == 1, "the wait ended without a failure");
    check(shmemx_team_failed(SHMEM_TEAM_WORLD, NULL, 0) == 2, "not two failures");
    kill(getppid(), SIGCONT);

    check(calls == 1, "called before the first call has returned");
    sem_post(&leave);
    await(&entered);
    check(told[FIRST] == 1 && told[SECOND] == 1, "not once for each PE");
    check(shmemx_failure_handler(too_many, NULL) == 0, "no second function");
    sem_post(&leave);
}

int main(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;

    shmem_init();
    sem_init(&entered, 0, 0);
    sem_init(&leave, 0, 0);
    if (shmem_n_pes() != PES)
        shmem_global_exit(2);
    if (shmem_my_pe() == FIRST)
        raise(SIGKILL);
    while (shmemx_pe_failed(FIRST) == 0)
        shmem_barrier_all();
    while (shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) != 0)
        ;
    check(shmem_team_n_pes(team) == PES - 1, "the shrink has not removed the first PE");
    if (shmem_my_pe() == SECOND) {
        shmem_long_wait_until(&die, SHMEM_CMP_NE, 0);
        raise(SIGKILL);
    }
    keep();
    shmem_finalize();
    puts("passed");
    return 0;
}
