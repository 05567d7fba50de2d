/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ending.c - PE 0 exits with status 3; the others first access its memory while the
 * kernel is tearing its process down (/proc/PID/exe is already unreadable).
 */
#include "config.h"

#include <signal.h>

#include "tests/api/multi/check.h"

static long pid_of_first, word;

int main(void)
{
    char path[64], target[8];

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == 0) {
        for (int pe = 1; pe < npes; pe++)
            shmem_long_p(&pid_of_first, getpid(), pe);
        _exit(3);
    }
    signal(SIGTERM, SIG_IGN);
    shmem_long_wait_until(&pid_of_first, SHMEM_CMP_NE, 0);
    snprintf(path, sizeof path, "/proc/%ld/exe", pid_of_first);
    while (readlink(path, target, sizeof target) >= 0)
        ;
    shmem_long_p(&word, 1, 0);
    return 0;
}
