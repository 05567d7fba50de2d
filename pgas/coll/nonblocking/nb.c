/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb.c - see nb.h: what goes on when.  Uses: nb_int, barrier, probe, core/block,
 * core/heap, core/log, core/net.
 *
 * A request is a program of steps, each of which goes on as far as it can and is called
 * again later; so nobody waits here but in nb_wait.  All requests of this PE that have
 * not ended hang on their teams, those on a list, under one lock; any thread that comes
 * by moves all of them on: in nb_test, and in block_until (block_set_work).  A PE that
 * sleeps there is woken by every store to it meanwhile.
 *
 * Each call has words of its own (struct team_nb), that with number c the slot c modulo
 * TEAM_NB_SLOTS.  Invariant: a PE begins call c, and may write for it to others' words,
 * only when all PEs have ended call c - TEAM_NB_SLOTS, for which these were used before.
 * For it begins c when it has ended all calls up to c - TEAM_NB_OUT.  Among the last
 * TEAM_NB_MEET of those is one with a number that is a multiple of TEAM_NB_MEET, which
 * nobody has ended before all have begun it (they meet, if its program does not let
 * them); and who has begun call b has ended all up to b - TEAM_NB_OUT. What is written
 * for a call is waited for by its reader before that ends it: so nothing comes later, in
 * another call or another team.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/rma.h"

static PGAS_PE_LOCAL struct {
    pthread_mutex_t lock;
    struct shmem_team *teams; /* with requests that have not ended; read without, too */
    size_t open;              /* requests that have not been freed */
    const char *last;         /* which routine has started the last one */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool inside; /* of go_on: what waits in there comes here again */

_Static_assert(TEAM_NB_SLOTS >= 2 * TEAM_NB_OUT + TEAM_NB_MEET - 1,
               "the invariant above");

/* ---- going on --------------------------------------------------------------------- */

/* The step after the last one where all must meet. */
static bool nb_waits_last(const struct nb *r)
{
    return !r->program->meets && r->call % TEAM_NB_MEET == 0;
}

/* Do what can be done of a request: has it ended? */
static bool nb_advance(struct nb *r)
{
    const nb_step *step = r->program->step;

    for (; step[r->step] != NULL; r->step++, r->s = (struct nb_state){0})
        if (!step[r->step](r))
            return false;
    return !nb_waits_last(r) || nb_barrier_step(r);
}

/* Who waits for the request must see it.  The request is not ours any more then. */
static void nb_end(struct nb *r)
{
    const void *any = team_here(r->team, 0);

    stress_point();
    store_release_u32(&r->ended, 1);
    rma_changed(any, sizeof(uint64_t), pgas_self.me);
}

/* Move on those of a team whose turn it is.  Has one ended? */
static bool nb_advance_team(struct shmem_team *team)
{
    uint64_t end_call = team->nb->call + TEAM_NB_OUT;
    bool ended = false;

    for (struct nb **at = &team->nb; *at != NULL && (*at)->call < end_call;) {
        struct nb *r = *at;
        if (!nb_advance(r)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (r->next == NULL)
            team->nb_end = at;
        nb_end(r);
        ended = true;
    }
    team->nbs_ended = team->nb != NULL ? team->nb->call - 1 : team->nbs;
    return ended;
}

/* The same for all teams: those without requests leave the list. */
static bool nb_advance_all(void)
{
    bool ended = false;

    for (struct shmem_team **at = &all.teams, *team; (team = *at) != NULL;) {
        ended = nb_advance_team(team) || ended;
        if (team->nb != NULL)
            at = &team->nb_next;
        else
            __atomic_store_n(at, team->nb_next, __ATOMIC_RELAXED);
    }
    return ended;
}

/* When one ends it may be another one's turn.  block_set_work */
static void nb_go_on(void)
{
    if (inside || __atomic_load_n(&all.teams, __ATOMIC_RELAXED) == NULL)
        return;
    inside = true;
    pthread_mutex_lock(&all.lock);
    while (nb_advance_all())
        ;
    if (all.teams == NULL)
        block_set_work(NULL);
    pthread_mutex_unlock(&all.lock);
    inside = false;
}

/* ---- begin and end ---------------------------------------------------------------- */

static void nb_enlist(struct nb *r)
{
    struct shmem_team *team = r->team;

    if (team->nb == NULL) {
        team->nb_next = all.teams;
        team->nb_end = &team->nb;
        __atomic_store_n(&all.teams, team, __ATOMIC_RELAXED);
    }
    *team->nb_end = r;
    team->nb_end = &r->next;
    block_set_work(nb_go_on);
}

struct nb *nb_start(const struct nb *what)
{
    struct nb *r = malloc(sizeof *r);

    if (r == NULL)
        log_die("%s: no memory for a nonblocking collective", what->fn);
    *r = *what;
    barrier_guard(r->team, r->fn);
    pthread_mutex_lock(&all.lock);
    r->call = ++r->team->nbs;
    all.open++;
    all.last = r->fn;
    nb_enlist(r);
    pthread_mutex_unlock(&all.lock);
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
    free(r->chunks);
    free(r);
    pthread_mutex_lock(&all.lock);
    all.open--;
    pthread_mutex_unlock(&all.lock);
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
        net_poll(); /* the program asks again and again */
        if (!nb_has_ended(*request))
            return false;
    }
    nb_finish(request);
    return true;
}

/* ---- waiting ---------------------------------------------------------------------- */

struct goal {
    const struct nb *request; /* first: has_ended looks at it */
    struct look look;
};

static bool nb_reached(const void *arg)
{
    return nb_has_ended(((const struct goal *)arg)->request);
}

/* PE i of the team has left, after it had ended `ended` - 1 calls. */
static void nb_judge(const struct nb *r, int i, uint64_t ended)
{
    if (ended - 1 < r->call)
        barrier_on_stall(team_world_pe(r->team, i), r->fn);
}

static void nb_probe_local(const struct nb *r, int i)
{
    const struct team_words *words = team_words(r->team, i);

    if (load_acquire_u32(&words->left) != 0)
        nb_judge(r, i, load_relaxed_u64(&words->left_nb));
}

static void nb_probe_remote(const struct nb *r, int i)
{
    int pe = team_world_pe(r->team, i);
    const void *left = team_here(r->team, offsetof(struct team_words, left));
    const void *calls = team_here(r->team, offsetof(struct team_words, left_nb));
    uint64_t ended;

    if (probe_pe(left, pe, r->fn) == 0)
        return;
    rma_get(SHMEM_CTX_DEFAULT, &ended, calls, sizeof ended, pe, r->fn);
    nb_judge(r, i, ended);
}

/* Near PEs at each call, one far PE in turn now and then. */
static void nb_on_stall(const void *arg)
{
    struct goal *g = (struct goal *)arg; /* nb_wait's */
    const struct shmem_team *team = g->request->team;
    bool left = atomic_load_explicit(&pgas_self.node->left, memory_order_acquire) != 0;

    for (int i = 0; left && i < team->npes; i++)
        if (!net_remote(team_world_pe(team, i)))
            nb_probe_local(g->request, i);
    if (!team->far || !probe_due(&g->look))
        return;
    int i = (int)(g->look.looks % (uint32_t)team->npes);
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
                                         .far = (*request)->team->far,
                                         .what = (*request)->fn,
                                         .on_stall = nb_on_stall});
    }
    nb_finish(request);
}

/* ---- at the end of a team, and of all --------------------------------------------- */

static _Noreturn void nb_not_ended(size_t n, const char *one, const char *fn)
{
    log_die("%s: %zu nonblocking collectives have been started and not completed, one of "
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
    pthread_mutex_lock(&all.lock);
    size_t n = team != NULL ? nb_count(team->nb) : all.open;
    const char *one = team != NULL && n > 0 ? team->nb->fn : all.last;
    pthread_mutex_unlock(&all.lock);
    if (n > 0)
        nb_not_ended(n, one, fn);
}
