/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog.c - a PE that, after some calls, does nothing for 3 s ("idle") or waits in the
 * library for so long ("wait"). */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6 };
static int flag;

static void *set_later(void *arg)
{
    sleep(SECONDS);
    shmem_int_atomic_set(&flag, 1, 0);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    shmem_barrier_all();
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        pthread_create(&thread, NULL, set_later, NULL);
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        pthread_join(thread, NULL);
    } else {
        sleep(SECONDS);
    }
    shmem_finalize();
    puts("done");
    return 0;
}
