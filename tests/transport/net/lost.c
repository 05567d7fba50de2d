/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost.c - the last PE is lost while the others access its memory or wait for it.
 *   lost kill|stop|leave|stay OPERATION
 * After every PE has run the operation once and passed a barrier, the last PE kills or
 * stops itself, or exits without shmem_finalize; stay: it sleeps until the test cuts it
 * off.  The others repeat the operation until the job ends.
 */
#include "config.h"

#include <signal.h>

#include "tests/api/multi/check.h"

enum { BLOCK = 1 << 16, BURST = 64, GIVE_UP_S = 40, PAUSE_US = 1000 };

static long word, never;
static unsigned char block[BLOCK], source[BLOCK];
static int me, last;

static void put(void)
{
    shmem_putmem(block, source, BLOCK, last);
}

static void quiet(void)
{
    shmem_long_p(&word, me, last);
    shmem_quiet();
}

static void get(void)
{
    CHECK(shmem_long_g(&word, last) <= last);
}

static void amo(void)
{
    shmem_long_atomic_fetch(&word, last);
}

static void add(void)
{
    shmem_long_atomic_inc(&never, last);
    shmem_quiet();
}

static void flood(void)
{
    static long from[BURST];

    for (int i = 0; i < BURST; i++)
        shmem_long_get_nbi(&from[i], &word, 1, last);
    shmem_putmem_nbi(block, source, BLOCK, last);
    shmem_quiet();
}

static void fence(void)
{
    shmem_long_p(&word, me, last);
    shmem_fence();
}

static void barrier(void)
{
    shmem_barrier_all();
}

/* The first call, while all PEs are alive, returns at once. */
static void wait_word(void)
{
    static int calls;

    if (calls++ > 0)
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, -1);
}

static void reduce(void)
{
    static long from = 1, to;

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &to, &from, 1);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool all; /* the last PE takes part */
} operations[] = {
    {"put", put, false},      {"quiet", quiet, false},    {"get", get, false},
    {"amo", amo, false},      {"add", add, false},        {"flood", flood, false},
    {"fence", fence, false},  {"barrier", barrier, true}, {"wait", wait_word, false},
    {"reduce", reduce, true},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void lose_self(const char *how)
{
    check_sleep_us(100 * PAUSE_US);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "stop") == 0)
        raise(SIGSTOP);
    if (strcmp(how, "leave") == 0)
        _exit(0);
    check_sleep_us(GIVE_UP_S * 1000000L);
}

int main(int argc, char **argv)
{
    int which = 0;

    if (argc < 3)
        return 2;
    while (which < OPERATIONS && strcmp(operations[which].name, argv[2]) != 0)
        which++;
    if (which == OPERATIONS)
        return 2;
    shmem_init();
    me = shmem_my_pe();
    last = shmem_n_pes() - 1;
    if (me != last || operations[which].all)
        operations[which].run();
    shmem_barrier_all();
    printf("PE %d is running\n", me);
    fflush(stdout);
    if (me == last)
        lose_self(argv[1]);
    for (double end = check_now() + GIVE_UP_S; check_now() < end;) {
        operations[which].run();
        check_sleep_us(PAUSE_US);
    }
    fprintf(stderr, "PE %d: nothing ended the job\n", me);
    _exit(99);
}
