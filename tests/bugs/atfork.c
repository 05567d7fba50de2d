/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atfork.c - a pthread_atfork child handler that was registered before shmem_init writes
 * to the globals of the child, not to those of the PE, which are shared memory.
 */
#include "config.h"

#include <pthread.h>
#include <sys/wait.h>

#include "tests/api/multi/check.h"

static int in_child;

static void mark_child(void)
{
    in_child = 1;
}

int main(void)
{
    int status = -1;
    CHECK(pthread_atfork(NULL, NULL, mark_child) == 0);
    shmem_init();
    pid_t child = fork();
    if (child == 0)
        _exit(in_child == 1 ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_NAMED(status == 0,
                "the child does not have the value that its handler stored: status %d",
                status);
    CHECK_NAMED(in_child == 0, "the child's handler wrote the parent's global");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
