/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-misuse.c - an OpenSHMEM program with the error that its argument names.  Used by
 * oshrun-misuse.sh, which compiles it and finds the lines by their comments.
 * With WRAPPER: the library of a profiling tool.
 */
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Keeps the call before it from becoming a jump. */
#define END_OF_CALL() __asm__ volatile("")

#ifdef WRAPPER

#include <pshmem.h>

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    pshmem_long_put(dest, source, nelems, pe);
    END_OF_CALL();
}

#else

enum { NO_PE = 64, N = 2 };

static long array[N];

__attribute__((noinline)) static void put(int pe)
{
    long value[N] = {0};
    shmem_put(array, value, N, pe); /* line: put */
    END_OF_CALL();
}

__attribute__((noinline)) static void get(int pe)
{
    long value[N];
    shmem_get(value, array, N, pe); /* line: get */
    END_OF_CALL();
}

static void *run(void *arg)
{
    put(*(const int *)arg);
    return NULL;
}

static void put_in_thread(void)
{
    pthread_t thread;
    int pe = NO_PE;
    pthread_create(&thread, NULL, run, &pe);
    pthread_join(thread, NULL);
}

/* oshrun ends the job at the first error: here, the other PEs continue to theirs. */
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int provided;
    signal(SIGTERM, SIG_IGN);
    if (strcmp(how, "early") == 0)
        shmem_barrier_all(); /* line: early */
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe();
    long local[N] = {0};
    /* A PE that exits immediately after the first barrier may not have connected to
     * others, which wait for its signal; in the second barrier all are connected. */
    shmem_barrier_all();
    shmem_barrier_all();
    if (strcmp(how, "put") == 0)
        put(NO_PE);
    else if (strcmp(how, "thread") == 0)
        put_in_thread();
    else if (strcmp(how, "two") == 0)
        me % 2 == 0 ? put(NO_PE) : get(NO_PE);
    else if (strcmp(how, "local") == 0)
        shmem_put(local, array, N, 0); /* line: local */
    else if (strcmp(how, "root") == 0)
        shmem_broadcast(SHMEM_TEAM_WORLD, array, array, N, me > 0); /* line: root */
    shmem_finalize();
    return 0;
}

#endif
