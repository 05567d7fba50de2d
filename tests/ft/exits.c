/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exits.c - PE 1 ends in the way that the first argument names; the others wait for that
 * and finalize.  With SHMEM_FT=continue they have a barrier of the survivors before.
 */
#include "tests/api/multi/check.h"

#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <sys/types.h>

enum { PE = 1, STATUS = 3, EXIT_STATUS = 9, DELAY_US = 20000 };

static const char *exits_way;

static void *exits_thread(void *arg)
{
    (void)arg;
    shmem_global_exit(STATUS);
    return NULL;
}

static void exits_on_signal(int sig)
{
    (void)sig;
    shmem_global_exit(STATUS);
}

static void exits_by_thread(void)
{
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, exits_thread, NULL), 0);
    pthread_join(thread, NULL);
}

static void exits_by_handler(void)
{
    signal(SIGUSR1, exits_on_signal);
    raise(SIGUSR1);
}

static void exits_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void *exits_killer(void *arg)
{
    check_sleep_us((long)(intptr_t)arg);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void exits_kill_after(long us)
{
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, exits_killer, (void *)(intptr_t)us), 0);
}

static bool exits_is(const char *way)
{
    return strcmp(exits_way, way) == 0;
}

/* Ends PE 1. */
static void exits_end(long delay_us)
{
    if (exits_is("exit0"))
        exit(0);
    if (exits_is("exit"))
        exit(EXIT_STATUS);
    if (exits_is("_exit"))
        _exit(EXIT_STATUS);
    if (exits_is("abort"))
        abort();
    if (exits_is("segv"))
        raise(SIGSEGV);
    if (exits_is("kill"))
        raise(SIGKILL);
    if (exits_is("thread"))
        exits_by_thread();
    if (exits_is("handler"))
        exits_by_handler();
    if (exits_is("exec"))
        exits_exec();
    if (exits_is("finalize")) {
        exits_kill_after(delay_us);
        shmem_finalize();
        for (;;)
            check_sleep_us(DELAY_US);
    }
}

static void exits_survive(void)
{
    shmem_team_t team;

    if (getenv("EXITS_NORMAL") == NULL) {
        shmem_barrier_all();
        CHECK_EQ(shmemx_team_status(SHMEM_TEAM_WORLD), SHMEMX_ERR_PE_FAILED);
        CHECK(shmemx_pe_failed(PE));
        CHECK_EQ(shmemx_team_shrink(SHMEM_TEAM_WORLD, &team), 0);
        CHECK_EQ(shmem_team_n_pes(team), shmem_n_pes() - 1);
        shmem_barrier_all();
        CHECK_EQ(shmemx_team_status(SHMEM_TEAM_WORLD), 0);
    }
    shmem_finalize();
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMIX_RANK");
    long delay_us = argc > 2 ? atol(argv[2]) : 0;
    int provided;

    exits_way = argc > 1 ? argv[1] : "";
    if (exits_is("init") && rank != NULL && atoi(rank) == PE)
        exits_kill_after(delay_us);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (exits_is("sleep"))
        for (;;)
            check_sleep_us(DELAY_US);
    if (shmem_my_pe() != PE) {
        exits_survive();
        return 0;
    }
    while (exits_is("init"))
        check_sleep_us(DELAY_US);
    exits_end(delay_us);
    return exits_is("return") ? EXIT_STATUS : 0;
}
