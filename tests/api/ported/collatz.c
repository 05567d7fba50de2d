/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collatz.c - self-scheduling, after P. Tang and P.-C. Yew, "Processor Self-Scheduling
 * for Multiple-Nested Parallel Loops", 1986: an idle PE gets the next chunk of work from
 * a shared counter (fetch-and-increment on PE 0).  The work is L. Collatz's problem, as
 * described by J. C. Lagarias ("The 3x+1 Problem and its Generalizations", 1985): which
 * number below a limit takes the most steps to reach 1?  The best result is on PE 0,
 * protected by a lock.  Below 100000 the answer is 77031, with 350 steps.
 */
#include <mpp/shmem.h>
#include <sched.h>
#include <stdio.h>

#define LIMIT  100000L
#define CHUNK  500L
#define CHUNKS (LIMIT / CHUNK)
#define ANSWER 77031L
#define STEPS  350L

static int next_chunk;    /* on PE 0: the next chunk to be assigned */
static int taken[CHUNKS]; /* on PE 0: how often each chunk was assigned */
static int winner = -1;   /* on PE 0: the first PE that found no chunk left */
static int winners;       /* on PE 0: number of PEs whose compare-and-swap won */
static int tail = -1;     /* on PE 0: the last PE to swap; `followed`: the one before */
static int followed;
static long best[2];     /* on PE 0, under the lock: steps and number */
static long chunks_done; /* on PE 0, under the lock */
static long lock;
static long sum; /* on PE 0, under the lock: of 1 .. npes */
static long pSync[_SHMEM_BCAST_SYNC_SIZE];

static long steps_of(long number)
{
    long steps = 0;
    for (; number != 1; steps++)
        number = number % 2 == 0 ? number / 2 : 3 * number + 1;
    return steps;
}

static void search(int chunk, long found[2])
{
    long number = chunk * CHUNK + 1;
    for (; number <= (chunk + 1) * CHUNK && number < LIMIT; number++) {
        long steps = steps_of(number);
        if (steps > found[0]) {
            found[0] = steps;
            found[1] = number;
        }
    }
}

/* Read, compare and write on PE 0 with the lock held; the yield in between makes lost
 * updates likely if the lock fails. */
static void merge(const long found[2])
{
    long there[2], done;
    shmem_set_lock(&lock);
    shmem_long_get(there, best, 2, 0);
    done = shmem_long_g(&chunks_done, 0);
    sched_yield();
    if (found[0] > there[0])
        shmem_long_put(best, found, 2, 0);
    shmem_long_p(&chunks_done, done + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock);
}

/* The same with shmem_test_lock. */
static void add_to_sum(void)
{
    while (shmem_test_lock(&lock) != 0)
        sched_yield();
    shmem_long_p(&sum, shmem_long_g(&sum, 0) + _my_pe() + 1, 0);
    shmem_clear_lock(&lock);
}

/* On PE 0: returns the number of errors. */
static int count_wrong(int npes)
{
    int wrong = 0, i, pe;
    for (i = 0; i < CHUNKS; i++)
        wrong += taken[i] != 1;
    wrong += next_chunk != CHUNKS + npes; /* each PE found no chunk once */
    wrong += chunks_done != CHUNKS;
    wrong += best[0] != STEPS || best[1] != ANSWER;
    wrong += winner < 0 || winner >= npes || winners != 1;
    /* The chain of swapped values contains every PE once. */
    for (i = 0, pe = tail; i < npes && pe >= 0; i++)
        pe = shmem_int_g(&followed, pe);
    wrong += i != npes || pe != -1;
    wrong += sum != (long)npes * (npes + 1) / 2;
    return wrong;
}

int main(void)
{
    static int verdict[2];
    long found[2] = {0, 0};
    int chunk, i, me, npes;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    for (i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    while ((chunk = shmem_int_finc(&next_chunk, 0)) < CHUNKS) {
        shmem_int_inc(&taken[chunk], 0);
        search(chunk, found);
        merge(found);
    }
    if (shmem_int_cswap(&winner, -1, me, 0) == -1)
        shmem_int_add(&winners, 1, 0);
    followed = shmem_int_swap(&tail, me, 0);
    add_to_sum();
    shmem_barrier_all();
    if (me == 0)
        verdict[0] = count_wrong(npes);
    shmem_broadcast32(&verdict[1], &verdict[0], 1, 0, 0, 0, npes, pSync);
    if (me == 0 && verdict[0] != 0)
        fprintf(stderr, "collatz: %d PEs: %d wrong; best is %ld with %ld steps\n", npes,
                verdict[0], best[1], best[0]);
    return verdict[me == 0 ? 0 : 1] != 0;
}
