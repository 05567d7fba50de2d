/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stdin_lock.c - shmem_global_exit ends the job even if a thread of the same PE blocks in
 * getchar, which holds the lock of stdin.
 */
#include "config.h"

#include <pthread.h>

#include "tests/api/multi/check.h"

enum { STATUS = 3, POLL_US = 1000, POLLS_MAX = 5000 };
static long never;

static void *read_on(void *arg)
{
    (void)arg;
    getchar();
    return NULL;
}

/* Makes stdin a pipe into which nothing is ever written. */
static void replace_stdin(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
}

static void wait_for_reader(void)
{
    for (int i = 0; i < POLLS_MAX && ftrylockfile(stdin) == 0; i++) {
        funlockfile(stdin);
        check_sleep_us(POLL_US);
    }
}

int main(void)
{
    int provided;
    pthread_t reader;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (shmem_my_pe() == 0) {
        replace_stdin();
        CHECK(pthread_create(&reader, NULL, read_on, NULL) == 0);
        wait_for_reader();
        shmem_global_exit(STATUS);
    }
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    return 0;
}
