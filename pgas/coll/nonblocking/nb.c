/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb.c - see nb.h: progress of the requests.  Uses: nb_int, barrier, probe, core/block,
 * core/heap, core/log, core/net.
 *
 * A request is a sequence of schedules.  The executor does what it can without waiting
 * and is called again until they have ended; only nb_wait waits.  Incomplete requests are
 * queued at their team, under its lock, and these teams are in a list.  Any thread
 * advances all requests of its PE, in nb_test and in block_until (block_set_work); a PE
 * that sleeps there is woken by every store to it meanwhile.  Threads that advance
 * different teams do not wait for each other: they hold the lock of the list for reading,
 * and skip a team that another thread advances, which does so again for them.
 *
 * A team is listed with its first request and removed when a thread that has advanced all
 * finds it without requests, or before it is destroyed.  Order of locks: that of the
 * list, then that of a team.  Invariants: a team with requests is listed, except while
 * nb_start adds it; block_set_work is set if and only if the list is not empty.
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

enum { NB_TURNS = 4 }; /* in which a thread advances a team, once for itself */

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
static bool nb_advance_active(struct nb_queue *q)
{
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

/* Repeated, as a completed request lets a queued one start. */
static bool nb_advance_locked(struct nb_queue *q)
{
    store_relaxed_u32(&q->again, 0);
    fence_full();
    while (q->first != NULL && nb_advance_active(q))
        ;
    return q->first == NULL;
}

/*
 * True if the team has no requests.  Dekker's pattern: a thread that cannot get the lock
 * has set `again` before it tries; the owner reads it after the release.  So a thread may
 * sleep after a skipped team: the owner sees what that thread was woken for.  An owner
 * for which others keep setting it wakes the sleepers instead, and leaves.
 */
static bool nb_advance_team(struct nb_queue *q)
{
    bool idle = false;

    store_relaxed_u32(&q->again, 1);
    fence_full();
    for (int turns = 0; load_relaxed_u32(&q->again) != 0; turns++) {
        if (turns == NB_TURNS) {
            block_wake_own();
            break;
        }
        if (!adaptive_try_acquire(&q->lock))
            break;
        idle = nb_advance_locked(q);
        adaptive_release(&q->lock);
        fence_full();
    }
    return idle;
}

/* True if there is a team without requests. */
static bool nb_advance_all(void)
{
    bool idle = false;

    pthread_rwlock_rdlock(&STATE.lock);
    for (struct shmem_team *team = STATE.teams; team != NULL; team = team->coll->nb.next)
        idle = nb_advance_team(&team->coll->nb) || idle;
    pthread_rwlock_unlock(&STATE.lock);
    return idle;
}

static void nb_go_on(void);

static void nb_set_teams(struct shmem_team *first)
{
    bool was_empty = STATE.teams == NULL;

    __atomic_store_n(&STATE.teams, first, __ATOMIC_RELAXED);
    if (was_empty != (first == NULL))
        block_set_work(first != NULL ? nb_go_on : NULL);
}

/* Lists the team, unless other threads have completed its requests or listed it. */
static void nb_list(struct shmem_team *team)
{
    struct nb_queue *q = &team->coll->nb;

    pthread_rwlock_wrlock(&STATE.lock);
    adaptive_acquire(&q->lock);
    if (q->first != NULL && !q->listed) {
        q->listed = true;
        q->next = STATE.teams;
        nb_set_teams(team);
    }
    adaptive_release(&q->lock);
    pthread_rwlock_unlock(&STATE.lock);
}

/* Removes the teams without requests from the list. */
static void nb_unlist_idle(void)
{
    struct shmem_team *kept = NULL;

    pthread_rwlock_wrlock(&STATE.lock);
    for (struct shmem_team *team = STATE.teams, *next; team != NULL; team = next) {
        struct nb_queue *q = &team->coll->nb;
        next = q->next;
        adaptive_acquire(&q->lock);
        q->listed = q->first != NULL;
        if (q->listed) {
            q->next = kept;
            kept = team;
        }
        adaptive_release(&q->lock);
    }
    nb_set_teams(kept);
    pthread_rwlock_unlock(&STATE.lock);
}

/* block_set_work callback. */
static void nb_go_on(void)
{
    if (pgas_thread.in_nb || __atomic_load_n(&STATE.teams, __ATOMIC_RELAXED) == NULL)
        return;
    pgas_thread.in_nb = true;
    if (nb_advance_all())
        nb_unlist_idle();
    pgas_thread.in_nb = false;
}

/* ---- begin and end ---------------------------------------------------------------- */

/* Returns whether the team is to be listed. */
static bool nb_enqueue(struct nb *r)
{
    struct nb_queue *q = &r->team->coll->nb;

    adaptive_acquire(&q->lock);
    r->call = credit_begin(&q->calls);
    if (r->call % NB_SYNC_EVERY == 0 && !r->synchronizes)
        nb_phase_add(r, &(struct nb_phase){.name = SCHEDULE_DISSEMINATION,
                                           .nodes = r->team->npes,
                                           .rank = r->team->me,
                                           .stride = 1});
    if (q->first == NULL)
        q->end = &q->first;
    *q->end = r;
    q->end = &r->next;
    bool listed = q->listed;
    adaptive_release(&q->lock);
    return !listed;
}

struct nb *nb_start(const struct nb *what)
{
    struct nb *r = malloc(sizeof *r);

    if (r == NULL)
        log_die("%s: no memory for a nonblocking collective", what->fn);
    *r = *what;
    barrier_guard(r->team, r->fn);
    fetch_add_acq_rel_u64(&STATE.open, 1);
    __atomic_store_n(&STATE.last, r->fn, __ATOMIC_RELAXED);
    if (nb_enqueue(r)) /* from now on other threads may complete it */
        nb_list(what->team);
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
    fetch_add_acq_rel_u64(&STATE.open, UINT64_MAX);
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

    if (load_acquire_u64(&words->epoch) != 0)
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
    size_t n = load_relaxed_u64(&STATE.open);
    const char *one = __atomic_load_n(&STATE.last, __ATOMIC_RELAXED);

    if (team != NULL) {
        struct nb_queue *q = &team->coll->nb;
        adaptive_acquire(&q->lock);
        n = nb_count(q->first);
        one = n > 0 ? q->first->fn : NULL;
        adaptive_release(&q->lock);
    }
    if (n > 0)
        nb_not_ended(n, one, fn);
    nb_unlist_idle(); /* the team may be destroyed */
    nb_go_on();       /* a thread may have skipped the team while it was locked here */
}

void nb_abandon(struct shmem_team *team)
{
    struct nb_queue *q = &team->coll->nb;

    adaptive_acquire(&q->lock);
    q->first = NULL;
    adaptive_release(&q->lock);
    nb_unlist_idle();
}
