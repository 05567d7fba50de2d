/* SPDX-License-Identifier: BSD-3-Clause */
/* os.c - pgas/core/base/os.h for a simulated job, with the faults of waits, and the
 * memory of seal.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/seal.h"
#include "pgas/core/progress/net.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/job_int.h"

#define EARLY_NS 2000 /* most of a wait that ends early */

uint64_t clock_ns(void)
{
    return JOB_FIRST_NS + sim_now_ns();
}

static bool os_chance(int one_in)
{
    return one_in > 0 && random_below(&job_running->random, (uint64_t)one_in) == 0;
}

/* The time limit of a wait of ns that may end early. */
static uint64_t os_limit_ns(uint64_t ns)
{
    uint64_t early = os_chance(job_running->config.early)
                         ? random_below(&job_running->random, EARLY_NS)
                         : ns;

    return early < ns ? early : ns;
}

/* After a wait: the PE may be stopped; then acts as the progress thread. */
static void os_resumed(void)
{
    if (os_chance(job_running->config.stops))
        sim_sleep_ns(random_below(&job_running->random, job_running->config.stop_ns));
    net_poll();
}

/* Time passes, so that a loop of yields ends. */
void os_yield(void)
{
    sim_sleep_ns(1);
}

void os_spin(uint64_t turns)
{
    sim_sleep_ns(turns);
}

void os_sleep(uint64_t ns)
{
    sim_sleep_ns(ns);
}

/* The address that identifies a word: that of a word of the node segment in the mapping
 * of the node's first PE, since each PE has a mapping of its own; itself if it is
 * private. */
static _Atomic uint32_t *os_word_of_node(_Atomic uint32_t *word)
{
    const struct job_config *c = &job_running->config;
    int first_pe = job_pe_of_node(c, job_node(c, pgas_self.me), 0);
    const struct pgas *first = job_running->instance[first_pe];
    size_t offset = (size_t)((char *)word - (char *)pgas_self.node);

    if (offset >= node_bytes(pgas_self.node->npes))
        return word;
    return (_Atomic uint32_t *)((char *)first->node + offset);
}

void os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    sim_futex_wait(os_word_of_node(word), seen, os_limit_ns(ns));
    os_resumed();
}

void os_futex_wake(_Atomic uint32_t *word)
{
    sim_futex_wake(os_word_of_node(word));
    failure_woken(word);
}

int os_membarrier(int command)
{
    (void)command;
    return 0;
}

/* No descriptor is ever ready: waits for a completion or for the time limit. */
int os_poll(struct pollfd *fds, nfds_t n, int ms)
{
    (void)fds;
    (void)n;
    sim_wait_ns(os_limit_ns((uint64_t)ms * UINT64_C(1000000)));
    os_resumed();
    return 0;
}

void os_exit(int status)
{
    if (job_running == NULL)
        _exit(status);
    sim_exit(status);
}

/* ---- memory of secrets: there are none -----------------------------------------------
 */

void *seal_memory_alloc(size_t n)
{
    return calloc(1, n);
}

void seal_memory_free(void *p, size_t n)
{
    (void)n;
    free(p);
}

void seal_erase(void *p, size_t n)
{
    memset(p, 0, n);
}
