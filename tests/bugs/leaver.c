/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaver.c - PE 1 exits or finalizes (selected by the argument) while the others wait in
 * a barrier; leaver.sh checks that the job ends.
 */
#include "config.h"

#include <signal.h>

#include "tests/api/multi/check.h"

enum { BARRIERS = 3, LEAVER = 1, ALARM_US = 200000, LATE_US = 600000 };

static void leave(int sig)
{
    (void)sig;
    exit(0); /* not async-signal-safe, but programs do it */
}

/* PE 0 is late, so PE 1 waits in the barrier when the signal arrives. */
static void leave_from_barrier(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = ALARM_US * 1000L}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    CHECK(signal(SIGALRM, leave) != SIG_ERR);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &once, NULL) == 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    if (me == LEAVER && strcmp(way, "exit") == 0)
        exit(0);
    if (me == LEAVER && strcmp(way, "finalize") == 0) {
        shmem_finalize();
        return 0;
    }
    if (strcmp(way, "alarm") == 0 && me == LEAVER)
        leave_from_barrier();
    if (strcmp(way, "alarm") == 0 && me == 0)
        check_sleep_us(LATE_US);
    for (int i = 0; i < BARRIERS; i++)
        shmem_barrier_all();
    shmem_finalize();
    return 0;
}
