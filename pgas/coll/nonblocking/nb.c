/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb.c - see nb.h: progress of the requests.  Uses: nb_int, barrier, probe, core/block,
 * core/heap, core/log, core/net.
 *
 * A request is a sequence of schedules.  The executor does what it can without waiting
 * and is called again until they have ended; only nb_wait waits.  Incomplete requests are
 * queued at their team, and these teams are in a list, all under one lock.  Any thread
 * advances all requests of its PE, in nb_test and in block_until (block_set_work); a PE
 * that sleeps there is woken by every store to it meanwhile.
 *
 * Call c uses sync slot c % NB_SLOTS (struct nb_slot).  Invariant: a PE begins call
 * c, and may write to other PEs' slots for it, only when all PEs have ended the last
 * user of the slot, call c - NB_SLOTS.  Proof: the PE has ended all calls up to
 * c - NB_OUT.  One of the last NB_SYNC_EVERY of them, b, is a multiple of
 * NB_SYNC_EVERY, and no PE ends such a call before all PEs have begun it (it ends with a
 * barrier unless its schedules imply one).  A PE that has begun b has ended all calls up
 * to b - NB_OUT >= c - NB_SLOTS.  Each signal of a call is received before
 * the receiver ends the call, and then its word is 0; so no write arrives in a later call
 * or team.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/rma.h"

#define STATE coll_self.nb

_Static_assert(NB_SLOTS >= 2 * NB_OUT + NB_SYNC_EVERY - 1, "the invariant at the top");

/* ---- progress --------------------------------------------------------------------- */

/* Publish completion to waiters; afterwards the request may be freed at any time. */
static void nb_end(struct nb *r)
{
    const void *any = team_here(r->team, 0);

    stress_point();
    store_release_u32(&r->ended, 1);
    rma_changed(any, sizeof(uint64_t), pgas_self.me);
}

/* Advance the active requests of a team; true if one has completed. */
static bool nb_advance_team(struct shmem_team *team)
{
    struct nb_queue *q = &team->coll->nb;
    uint64_t end_call = q->first->call + NB_OUT;
    bool ended = false;

    for (struct nb **at = &q->first; *at != NULL && (*at)->call < end_call;) {
        struct nb *r = *at;
        if (!nb_advance(r)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (r->next == NULL)
            q->end = at;
        nb_end(r);
        ended = true;
    }
    credit_return(&q->calls, q->first != NULL ? q->first->call - 1 : q->calls.seq);
    return ended;
}

/* Advance all teams, and remove those without requests; true if one has completed. */
static bool nb_advance_all(void)
{
    bool ended = false;

    for (struct shmem_team **at = &STATE.teams, *team; (team = *at) != NULL;) {
        ended = nb_advance_team(team) || ended;
        struct nb_queue *q = &team->coll->nb;
        if (q->first != NULL)
            at = &q->next;
        else
            __atomic_store_n(at, q->next, __ATOMIC_RELAXED);
    }
    return ended;
}

/* block_set_work callback.  Repeated, as a completed request lets a queued one start. */
static void nb_go_on(void)
{
    if (pgas_thread.in_nb || __atomic_load_n(&STATE.teams, __ATOMIC_RELAXED) == NULL)
        return;
    pgas_thread.in_nb = true;
    pthread_mutex_lock(&STATE.lock);
    while (nb_advance_all())
        ;
    if (STATE.teams == NULL)
        block_set_work(NULL);
    pthread_mutex_unlock(&STATE.lock);
    pgas_thread.in_nb = false;
}

/* ---- begin and end ---------------------------------------------------------------- */

static void nb_enlist(struct nb *r)
{
    struct nb_queue *q = &r->team->coll->nb;

    if (q->first == NULL) {
        q->next = STATE.teams;
        q->end = &q->first;
        __atomic_store_n(&STATE.teams, r->team, __ATOMIC_RELAXED);
    }
    *q->end = r;
    q->end = &r->next;
    block_set_work(nb_go_on);
}

struct nb *nb_start(const struct nb *what)
{
    struct nb *r = malloc(sizeof *r);

    if (r == NULL)
        log_die("%s: no memory for a nonblocking collective", what->fn);
    *r = *what;
    barrier_guard(r->team, r->fn);
    pthread_mutex_lock(&STATE.lock);
    r->call = credit_begin(&r->team->coll->nb.calls);
    if (r->call % NB_SYNC_EVERY == 0 && !r->synchronizes)
        nb_phase_add(r, &(struct nb_phase){.name = SCHEDULE_DISSEMINATION,
                                           .nodes = r->team->npes,
                                           .rank = r->team->me,
                                           .stride = 1});
    STATE.open++;
    STATE.last = r->fn;
    nb_enlist(r);
    pthread_mutex_unlock(&STATE.lock);
    nb_go_on();
    barrier_unguard(what->team, what->fn);
    return r;
}

static void nb_finish(struct nb **request)
{
    struct nb *r = *request;

    if (r->memory != 0)
        heap_free_result(r->memory);
    free(r->stage);
    free(r->inbox);
    free(r->part);
    free(r);
    pthread_mutex_lock(&STATE.lock);
    STATE.open--;
    pthread_mutex_unlock(&STATE.lock);
    *request = NULL;
}

static bool nb_has_ended(const void *arg)
{
    const struct nb *r = arg;

    if (load_acquire_u32(&r->ended) != 0)
        return true;
    nb_go_on();
    return load_acquire_u32(&r->ended) != 0;
}

bool nb_test(struct nb **request)
{
    if (*request == NULL)
        return true;
    if (!nb_has_ended(*request)) {
        net_poll(); /* the caller polls with nb_test */
        if (!nb_has_ended(*request))
            return false;
    }
    nb_finish(request);
    return true;
}

/* ---- waiting ---------------------------------------------------------------------- */

struct goal {
    const struct nb *request;
    struct probe_timer timer;
};

static bool nb_reached(const void *arg)
{
    return nb_has_ended(((const struct goal *)arg)->request);
}

/* PE i of the team has departed after it had ended `ended` - 1 calls. */
static void nb_judge(const struct nb *r, int i, uint64_t ended)
{
    if (ended - 1 < r->call)
        barrier_report_departed(team_world_pe(r->team, i), r->fn);
}

static void nb_probe_local(const struct nb *r, int i)
{
    const struct departure_words *words = &team_words(r->team, i)->departure;

    if (load_acquire_u32(&words->epoch) != 0)
        nb_judge(r, i, load_relaxed_u64(&words->nb_calls));
}

static void nb_probe_remote(const struct nb *r, int i)
{
    int pe = team_world_pe(r->team, i);
    const void *left = team_here(r->team, offsetof(struct team_words, departure.epoch));
    const void *calls =
        team_here(r->team, offsetof(struct team_words, departure.nb_calls));
    uint64_t ended;

    if (probe_pe(left, pe, r->fn) == 0)
        return;
    rma_get(CTX_LIBRARY, &ended, calls, sizeof ended, pe, r->fn);
    nb_judge(r, i, ended);
}

/* Local PEs at each call; one remote PE in turn at each probe interval. */
static void nb_on_stall(const void *arg)
{
    struct goal *g = (struct goal *)arg; /* nb_wait's */
    const struct shmem_team *team = g->request->team;
    bool departed =
        atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) != 0;

    for (int i = 0; departed && i < team->npes; i++)
        if (!net_remote(team_world_pe(team, i)))
            nb_probe_local(g->request, i);
    if (!team->remote || !probe_due(&g->timer))
        return;
    int i = (int)(g->timer.probes % (uint32_t)team->npes);
    if (net_remote(team_world_pe(team, i)))
        nb_probe_remote(g->request, i);
}

void nb_wait(struct nb **request)
{
    if (*request == NULL)
        return;
    if (!nb_has_ended(*request)) {
        struct goal g = {.request = *request};
        block_until(&(struct block_wait){.ready = nb_reached,
                                         .arg = &g,
                                         .remote = (*request)->team->remote,
                                         .what = (*request)->fn,
                                         .team = (*request)->team,
                                         .on_stall = nb_on_stall});
    }
    nb_finish(request);
}

/* ---- end of a team and of the job -------------------------------------------------- */

static _Noreturn void nb_not_ended(size_t n, const char *one, const char *fn)
{
    log_misuse(
        "%s: %zu nonblocking collectives have been started and not completed, one of "
        "them by %s; test or wait for each before",
        fn, n, one);
}

static size_t nb_count(const struct nb *r)
{
    size_t n = 0;

    for (; r != NULL; r = r->next)
        n++;
    return n;
}

void nb_check_ended(const struct shmem_team *team, const char *fn)
{
    pthread_mutex_lock(&STATE.lock);
    size_t n = team != NULL ? nb_count(team->coll->nb.first) : STATE.open;
    const char *one = team != NULL && n > 0 ? team->coll->nb.first->fn : STATE.last;
    pthread_mutex_unlock(&STATE.lock);
    if (n > 0)
        nb_not_ended(n, one, fn);
}
