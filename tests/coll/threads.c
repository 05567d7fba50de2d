/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - a random mix of collectives, puts, gets, atomics, signals and locks on one
 * node with threads of one process as PEs, for the thread sanitizer: a store of one PE
 * and a load of another that are not ordered are reported as a race even if the result is
 * right.
 *
 *     threads [PEs [calls [seed]]]
 *
 * The library's sources are compiled into it with PGAS_INSTANCES: each thread has its own
 * runtime instance, with its heap, its record in the node segment and its peer table. All
 * threads make the same random calls on two teams; results are checked.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/algorithms/collect.h"
#include "pgas/coll/nonblocking/nb.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/coll/algorithms/scan.h"
#include "pgas/coll/shared/shared_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/memory/alloc.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/memory/heap.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/lock.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/signal.h"
#include "pgas/rma/wait.h"

enum { PES_MAX = 16, TEAMS = 2, MOST = 20000, BURST = 20, ADAPTING = 60 };
enum { PES = 4, CALLS = 300, SEED = 1 };
enum { NB = 5, NB_MOST = 4000 }; /* outstanding nonblocking collectives; elements */
#define ARRAY_BYTES ((size_t)PES_MAX * MOST * sizeof(int64_t))
#define SHARED      (HEAP_RESERVED + 2 * ARRAY_BYTES) /* where node-shared results are */
#define OWN         (SHARED + TEAMS * (sizeof(struct shared_head) + ARRAY_BYTES))
#define OWN_BYTES   ((size_t)2 << 20) /* of a PE's heap, for partial results */
#define ONE_SIDED   (OWN + OWN_BYTES) /* the words of one-sided operations */
#define HEAP_BYTES  ((ONE_SIDED + sizeof(struct one_sided) + 4095) / 4096 * 4096)

enum { MAIL = 40 };

/* Symmetric.  Counters and `guarded` are used on PE 0. */
struct one_sided {
    uint64_t mail[MAIL], signal, flag, counters[2], guarded;
    long lock;
};

static char *heaps[PES_MAX];
static struct node *node;
static struct env settings;
static int npes = PES, wrong;
static long calls = CALLS;
static uint64_t seed = SEED;

/* ---- a PE ------------------------------------------------------------------------ */

static void be_pe(int me)
{
    struct pgas *g = pgas_thread.instance = pgas_instance_new(coll_state_new());
    struct peer *peers = calloc((size_t)npes, sizeof *peers);

    for (int i = 0; i < npes; i++)
        peers[i] = (struct peer){.heap = heaps[i], .node = &node->pe[i]};
    g->heap_base = (uintptr_t)heaps[me];
    g->heap_len = g->heap_user = HEAP_BYTES;
    g->peer = peers;
    g->peers = (uint32_t)npes;
    g->npes = g->local_size = (uint32_t)npes;
    g->me = g->local_rank = me;
    g->node = node;
    g->nnodes = 1;
    g->checks = 0;
    g->life = LIFE_UP;
    g->oversubscribed = npes > 2;
    g->env = settings;
    block_init();
    select_init();
    g->results = alloc_new((OWN + 4095) / 4096 * 4096, HEAP_BYTES);
}

/* Team 0: all PEs in order; team 1: in reverse order. */
static struct shmem_team team_number(int k, int me)
{
    return (struct shmem_team){.npes = npes,
                               .me = k == 0 ? me : npes - 1 - me,
                               .start = k == 0 ? 0 : npes - 1,
                               .stride = k == 0 ? 1 : -1,
                               .words_offset = (size_t)k * (sizeof(struct node_words) +
                                                            sizeof(struct team_extent))};
}

/* The node-shared result of team k, in the heap of its first PE. */
static struct shmemx_shared shared_number(struct shmem_team *team, int k,
                                          uint64_t *offset)
{
    *offset = SHARED + (size_t)k * (sizeof(struct shared_head) + ARRAY_BYTES);
    void *head = heaps[team_world_pe(team, 0)] + *offset;

    return (struct shmemx_shared){.team = team,
                                  .bytes = ARRAY_BYTES,
                                  .local_pes = npes,
                                  .rank = team->me,
                                  .head = head,
                                  .copy = (char *)head + sizeof(struct shared_head),
                                  .offset = offset};
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* ---- calls ----------------------------------------------------------------------- */

struct call {
    struct shmem_team *team;
    struct shmemx_shared *shared;
    int64_t *source, *dest;
    size_t n;
    long number;
};

static int64_t value(const struct call *c, int i, size_t e)
{
    return (c->number * 131 + i * 17 + (int64_t)e) % 1009;
}

static void expect(const struct call *c, size_t e, int64_t should)
{
    if (c->dest[e] == should)
        return;
    __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    fprintf(stderr, "PE %d, call %ld: element %zu is %lld, should be %lld\n",
            pgas_self.me, c->number, e, (long long)c->dest[e], (long long)should);
}

static int64_t sum(const struct call *c, int end, size_t e)
{
    int64_t all = 0;

    for (int i = 0; i < end; i++)
        all += value(c, i, e);
    return all;
}

static void try_reduce(const struct call *c)
{
    const int64_t *from = c->number % 2 != 0 ? c->dest : c->source;

    if (from == c->dest)
        memcpy(c->dest, c->source, c->n * sizeof *c->dest);
    reduce(c->team, c->dest, from, c->n, 8, op_find(OP_SUM, OP_SINT, 8), "reduce");
    for (size_t e = 0; e < c->n; e++)
        expect(c, e, sum(c, npes, e));
}

/* Enough consecutive calls for the team to try other algorithms and to select one. */
static void try_adapting(const struct call *c)
{
    struct call one = *c;

    for (int k = 0; k < ADAPTING; k++) {
        one.n = c->n / 2 + (size_t)k % 3 * c->n / 4 + 1;
        one.number += npes;
        for (size_t e = 0; e < one.n; e++)
            one.source[e] = value(&one, c->team->me, e);
        try_reduce(&one);
    }
}

/* Consecutive calls, in which no PE waits for the root. */
static void try_rooted(const struct call *c)
{
    struct call one = *c;

    for (int k = 0; k < BURST; k++) {
        int root = (int)((c->number + k / 2) % npes);
        one.number += npes;
        for (size_t e = 0; e < c->n; e++)
            c->source[e] = value(&one, c->team->me, e);
        reduce_to(c->team, root, c->dest, c->source, c->n, 8, op_find(OP_SUM, OP_SINT, 8),
                  "rooted reduce");
        for (size_t e = 0; c->team->me == root && e < c->n; e++)
            expect(&one, e, sum(&one, npes, e));
    }
}

static void try_scan(const struct call *c)
{
    scan_inclusive(c->team, c->dest, c->source, c->n, 8, op_find(OP_SUM, OP_SINT, 8),
                   "scan");
    for (size_t e = 0; e < c->n; e++)
        expect(c, e, sum(c, c->team->me + 1, e));
}

static void try_bcast(const struct call *c)
{
    int root = (int)(c->number % npes);

    bcast(c->team, c->dest, c->source, c->n, 8, root, "bcast");
    for (size_t e = 0; e < c->n; e++)
        expect(c, e, value(c, root, e));
}

/* Calls in which the root does not wait for the readers, and so runs ahead of them. */
static void try_burst(const struct call *c)
{
    struct call one = *c;

    for (int k = 0; k < BURST; k++) {
        one.number += npes;
        for (size_t e = 0; e < c->n; e++)
            c->source[e] = value(&one, c->team->me, e);
        try_bcast(&one);
    }
}

static void try_collect(const struct call *c)
{
    size_t mine = c->number % 2 != 0 ? c->n : c->n * (size_t)(c->team->me % 2), at = 0;

    if (c->number % 2 != 0)
        fcollect(c->team, c->dest, c->source, c->n, 8, "fcollect");
    else
        collect(c->team, c->dest, c->source, mine, 8, "collect");
    for (int i = 0; i < npes; i++)
        for (size_t e = 0; e < c->n && (c->number % 2 != 0 || i % 2 != 0); e++)
            expect(c, at++, value(c, i, e));
}

/* dest with stride 2. */
static void try_alltoalls(const struct call *c)
{
    size_t n = c->n / (size_t)npes / 2;

    alltoalls(c->team, c->dest, c->source, (struct strides){2, 1, n, 8}, "alltoalls");
    for (size_t e = 0; e < n * (size_t)npes; e++)
        expect(c, 2 * e, value(c, (int)(e / n), (size_t)c->team->me * n + e % n));
}

static void try_alltoall(const struct call *c)
{
    size_t n = c->n / (size_t)npes;

    alltoall(c->team, c->dest, c->source, n, 8, "alltoall");
    for (size_t e = 0; e < n * (size_t)npes; e++)
        expect(c, e, value(c, (int)(e / n), (size_t)c->team->me * n + e % n));
}

/* The result is read while other PEs may be in the next call. */
static void try_shared(const struct call *c)
{
    struct shmemx_shared *s = c->shared;
    struct shared_sum job = {s, (const char *)c->source,     c->n,
                             8, op_find(OP_SUM, OP_SINT, 8), "shared_reduce"};
    struct call seen = *c;

    seen.dest = (int64_t *)s->copy;
    shared_enter(s, "shared");
    switch (c->number % 3) {
    case 0:
        shared_node_broadcast(s, c->source, c->n * 8, (int)(c->number % npes),
                              "shared_broadcast");
        break;
    case 1:
        shared_node_fcollect(s, c->source, c->n * 8, "shared_fcollect");
        break;
    default:
        shared_node_reduce(&job);
    }
    for (size_t e = 0; e < c->n; e++)
        expect(&seen, e,
               c->number % 3 == 0   ? value(c, (int)(c->number % npes), e)
               : c->number % 3 == 1 ? value(c, 0, e)
                                    : sum(c, npes, e));
}

static struct nb *nb_begin(const struct call *c, int k)
{
    const struct op_fns *fns = op_find(OP_SUM, OP_SINT, 8);

    switch (k) {
    case 0:
        return nb_bcast(c->team, c->dest, c->source, c->n * 8, (int)(c->number % npes),
                        "nb_bcast");
    case 1:
        return nb_reduce(c->team, 1 % npes, c->dest, c->source, c->n, 8, fns,
                         "nb_reduce");
    case 2:
        return nb_reduce(c->team, NB_ALL, c->dest, c->source, c->n, 8, fns, "nb_reduce");
    case 3:
        return nb_scan(c->team, c->dest, c->source, c->n, 8, fns, false, "nb_scan");
    default:
        return nb_fcollect(c->team, c->dest, c->source, c->n * 8, "nb_fcollect");
    }
}

static void nb_expect(const struct call *c, int k)
{
    int me = c->team->me, root = (int)(c->number % npes);

    for (size_t e = 0; e < c->n && (k != 1 || me == 1 % npes); e++)
        expect(c, e,
               k == 0   ? value(c, root, e)
               : k == 3 ? sum(c, me + 1, e)
               : k == 4 ? value(c, 0, e)
                        : sum(c, npes, e));
}

/* Several requests at a time and a blocking call in between; each PE completes them in
 * its own order. */
static void try_nb(const struct call *c)
{
    struct call one[NB];
    struct nb *request[NB];

    for (int k = 0; k < NB; k++) {
        one[k] = *c;
        one[k].n = c->n < NB_MOST / 2 ? c->n : NB_MOST / 2;
        one[k].dest = c->dest + (size_t)k * NB_MOST * PES_MAX / 4;
        request[k] = nb_begin(&one[k], k);
        if (k == 2)
            barrier_sync(c->team, "barrier");
    }
    for (int k = 0; k < NB; k++) {
        int i = (k + pgas_self.me) % NB;
        while (k % 2 != 0 && !nb_test(&request[i]))
            sched_yield();
        nb_wait(&request[i]);
        nb_expect(&one[i], i);
    }
}

/* ---- one-sided calls, whose result other PEs read without a barrier ---------------- */

static struct one_sided *one_sided(void)
{
    return (struct one_sided *)(heaps[pgas_self.me] + ONE_SIDED);
}

static void equal(const struct call *c, const char *what, uint64_t is, uint64_t should)
{
    if (is == should)
        return;
    __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    fprintf(stderr, "PE %d, call %ld: %s is %llu, should be %llu\n", pgas_self.me,
            c->number, what, (unsigned long long)is, (unsigned long long)should);
}

/* The word increases with the calls, which are the same on all PEs. */
static void await(const uint64_t *word, long number)
{
    wait_until(word, sizeof *word, WAIT_UINT, SHMEM_CMP_GE, (uint64_t)number, "wait");
}

/* To the next PE: a put with a signal, or a put, a fence and a flag */
static void try_put(const struct call *c)
{
    struct one_sided *mine = one_sided();
    const int me = pgas_self.me, next_pe = (me + 1) % npes;
    uint64_t values[MAIL];
    const struct signal_put put = {mine->mail, values, MAIL, sizeof values[0], false};

    for (int i = 0; i < MAIL; i++)
        values[i] = (uint64_t)(c->number * 1000 + me * 50 + i);
    if (c->n % 2 != 0) {
        signal_put(SHMEM_CTX_DEFAULT, &put, &mine->signal, (uint64_t)c->number,
                   SHMEM_SIGNAL_SET, next_pe, "put_signal");
        await(&mine->signal, c->number);
    } else {
        rma_put(SHMEM_CTX_DEFAULT, mine->mail, values, sizeof values, next_pe, "put");
        order_fence(SHMEM_CTX_DEFAULT, "fence");
        amo_at(TRANSPORT_AMO_SET, &mine->flag, 8, (uint64_t)c->number, next_pe, "set");
        await(&mine->flag, c->number);
    }
    for (int i = 0; i < MAIL; i++)
        equal(c, "mail", mine->mail[i],
              (uint64_t)(c->number * 1000 + (me + npes - 1) % npes * 50 + i));
    barrier_sync(c->team, "barrier"); /* the mail has been read */
}

/* Each PE adds to counters of PE 0, by fetch-and-add and by compare-and-swap; in between
 * all PEs read them. */
static void try_atomics(const struct call *c)
{
    struct one_sided *mine = one_sided();
    uint64_t *counter = &mine->counters[c->n % 2], seen, now[2];

    rma_get(SHMEM_CTX_DEFAULT, &now[0], counter, 8, 0, "get");
    barrier_sync(c->team, "barrier");
    for (int k = 0; k < BURST; k++)
        if (k % 2 == 0)
            amo_at(TRANSPORT_AMO_ADD, counter, 8, 1, 0, "add");
        else
            do
                seen = amo_at(TRANSPORT_AMO_FETCH, counter, 8, 0, 0, "fetch");
            while (amo_compare_swap_at(counter, 8, seen, seen + 1, 0, "swap") != seen);
    barrier_sync(c->team, "barrier");
    rma_get(SHMEM_CTX_DEFAULT, &now[1], counter, 8, 0, "get");
    equal(c, "counter", now[1] - now[0], (uint64_t)BURST * (uint64_t)npes);
    barrier_sync(c->team, "barrier");
}

/* A word of PE 0 is incremented by a get and a put under the lock. */
static void try_lock(const struct call *c)
{
    struct one_sided *mine = one_sided();
    uint64_t before, seen;

    rma_get(SHMEM_CTX_DEFAULT, &before, &mine->guarded, 8, 0, "get");
    barrier_sync(c->team, "barrier");
    for (int k = 0; k < 3; k++) {
        if (k == 0)
            while (!lock_try(&mine->lock, "test_lock"))
                sched_yield();
        else
            lock_set(&mine->lock, "set_lock");
        rma_get(SHMEM_CTX_DEFAULT, &seen, &mine->guarded, 8, 0, "get");
        seen++;
        rma_put(SHMEM_CTX_DEFAULT, &mine->guarded, &seen, 8, 0, "put");
        lock_clear(&mine->lock, "clear_lock");
    }
    barrier_sync(c->team, "barrier");
    rma_get(SHMEM_CTX_DEFAULT, &seen, &mine->guarded, 8, 0, "get");
    equal(c, "guarded", seen - before, 3 * (uint64_t)npes);
    barrier_sync(c->team, "barrier");
}

static void try_barrier(const struct call *c)
{
    barrier_sync(c->team, "barrier");
}

static void (*const tries[])(const struct call *) = {
    try_reduce, try_bcast,  try_collect,  try_burst,    try_shared,
    try_rooted, try_nb,     try_alltoall, try_scan,     try_barrier,
    try_shared, try_reduce, try_nb,       try_adapting, try_alltoalls,
    try_put,    try_put,    try_atomics,  try_lock};

static void *pe(void *arg)
{
    struct shmem_team teams[TEAMS];
    struct shmemx_shared results[TEAMS];
    uint64_t places[TEAMS];
    uint64_t random = seed * 0x9e3779b97f4a7c15u;
    struct call c;

    be_pe((int)(intptr_t)arg);
    for (int k = 0; k < TEAMS; k++) {
        teams[k] = team_number(k, pgas_self.me);
        if (!team_coll_attach(&teams[k]))
            abort();
        counter_start_team(&teams[k]);
        results[k] = shared_number(&teams[k], k, &places[k]);
    }
    c.source = (int64_t *)(heaps[pgas_self.me] + HEAP_RESERVED);
    c.dest = c.source + MOST * PES_MAX;
    for (c.number = 1; c.number <= calls; c.number++) {
        uint64_t r = next(&random) >> 8;
        c.team = &teams[r % TEAMS];
        c.shared = &results[r % TEAMS];
        c.n = r / 16 % 8 == 0 ? r / 256 % MOST + 1 : r / 256 % 64 + 1;
        for (size_t e = 0; e < c.n; e++)
            c.source[e] = value(&c, c.team->me, e);
        tries[r / 4096 % (sizeof tries / sizeof tries[0])](&c);
    }
    free(pgas_self.peer);
    alloc_delete(pgas_self.results);
    free(pgas_self.coll);
    pgas_instance_free(pgas_thread.instance);
    return NULL;
}

/* ---- all ------------------------------------------------------------------------- */

static void make_node(void)
{
    size_t bytes = (node_bytes((uint32_t)npes) + NODE_LINE - 1) / NODE_LINE * NODE_LINE;

    node = aligned_alloc(NODE_LINE, bytes);
    memset(node, 0, bytes);
    node->npes = (uint32_t)npes;
    for (int i = 0; i < npes; i++) {
        heaps[i] = aligned_alloc(4096, (HEAP_BYTES + 4095) / 4096 * 4096);
        memset(heaps[i], 0, HEAP_BYTES);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread[PES_MAX];
    char error[ENV_ERROR_MAX];

    npes = argc > 1 ? atoi(argv[1]) : PES;
    calls = argc > 2 ? atol(argv[2]) : CALLS;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : SEED;
    if (npes < 1 || npes > PES_MAX || env_load(&settings, error) != 0)
        return 2;
    make_node();
    for (intptr_t i = 0; i < npes; i++)
        pthread_create(&thread[i], NULL, pe, (void *)i);
    for (int i = 0; i < npes; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < npes; i++)
        free(heaps[i]);
    free(node);
    return wrong;
}
