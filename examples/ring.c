/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - a token goes around the ring of PEs; every PE adds its number to it.
 * Data and notification are sent in one call: put with signal.
 *   oshrun -n 4 ./ring [laps] */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAPS = 1000 };

/* Global and static variables are symmetric: every PE has them, at an address that the
 * others may use. */
static int64_t token;
static uint64_t arrivals;

int main(int argc, char **argv)
{
    uint64_t laps = argc > 1 ? strtoull(argv[1], NULL, 10) : LAPS;

    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    int next = (me + 1) % npes;

    for (uint64_t lap = 1; lap <= laps; lap++) {
        if (me != 0)
            shmem_signal_wait_until(&arrivals, SHMEM_CMP_EQ, lap);
        int64_t value = token + me;
        shmem_int64_put_signal(&token, &value, 1, &arrivals, 1, SHMEM_SIGNAL_ADD, next);
        if (me == 0)
            shmem_signal_wait_until(&arrivals, SHMEM_CMP_EQ, lap);
    }

    /* PE 0 holds the token; each lap added 0 + 1 + ... + (npes - 1). */
    int64_t expected = (int64_t)laps * npes * (npes - 1) / 2;
    int wrong = me == 0 && token != expected;
    if (me == 0)
        printf("ring: %" PRIu64 " laps of %d PEs, token %" PRId64 ", %s\n", laps, npes,
               token, wrong ? "WRONG" : "correct");
    shmem_finalize();
    return wrong;
}
