/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - see barrier.h.  Uses: core/team, core/block, rma/rma, rma/order, active,
 * internode, select.
 *
 * Over nodes: see internode.c.  On a node:
 * With a processor for each PE: dissemination (Hensgen, Finkel, Manber 1988), log2 n
 * one-way latencies.  With more PEs than processors (or SHMEM_BARRIER_ALGORITHM): a
 * counter, so that each PE has to be scheduled just once per barrier.  Whoever finds that
 * all PEs of its own processor have called spins, as there is nobody to yield to; the
 * others yield at once.
 */
#include "config.h"

#include <sched.h>

#include "pgas/coll/api/active.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/log.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum { EVEN_OUT_EVERY = 256 }; /* barriers */

struct goal {
    const uint32_t *word; /* where it is mapped here */
    uint32_t epoch;
    const struct shmem_team *team;
    const char *fn;
};

/* Epochs wrap around: compare them by their distance.  What is behind, also the 0 of a
 * word that was never used, is far away. */
static bool barrier_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u32(g->word) - g->epoch <= 1; /* a partner may be one ahead */
}

_Noreturn void barrier_on_stall(int pe, const char *fn)
{
    log_die("PE %d has exited or called shmem_finalize while PE %d waits in %s; all PEs "
            "must take "
            "part",
            pe, pgas_self.me, fn);
}

/* A PE that is in shmem_finalize begins no more barriers.  (If it had begun ours, it may
 * have passed while the news is still on its way to us.) */
void barrier_check_left(const struct shmem_team *team, int i, uint32_t left,
                        const char *fn)
{
    if (left != 0 && (int32_t)(left - 1 - team->epoch) < 0)
        barrier_on_stall(team_world_pe(team, i), fn);
}

static void barrier_wait_on_stall(const void *arg)
{
    const struct goal *g = arg;

    if (atomic_load_explicit(&pgas_self.node->left, memory_order_acquire) == 0)
        return;
    for (int i = 0; i < g->team->npes; i++)
        barrier_check_left(g->team, i, load_acquire_u32(&team_words(g->team, i)->left),
                           g->fn);
}

static void barrier_wait_for(const struct goal *g, const void *word)
{
    block_until(&(struct block_wait){.ready = barrier_reached,
                                     .arg = g,
                                     .word = word,
                                     .what = g->fn,
                                     .on_stall = barrier_wait_on_stall});
}

/*
 * Invariant: round[k].epoch of PE i is the barrier that its k-th partner is in, or behind
 * it by at most one.  A partner can't be two ahead: it would have passed a barrier that
 * needs us.  So one word per round is enough, and the release store of the signal orders
 * all that this PE stored before the barrier.
 */
static void barrier_disseminate(struct shmem_team *team, const char *fn)
{
    const struct team_words *mine = team_words(team, team->me);

    for (int k = 0, step = 1; step < team->npes; k++, step *= 2) {
        int to = (team->me + step) % team->npes;
        stress_point();
        store_release_u32(&team_words(team, to)->round[k].epoch, team->epoch);
        const void *word = &mine->round[k].epoch;
        rma_changed(word, sizeof(uint32_t), team_world_pe(team, to));
        struct goal g = {word, team->epoch, team, fn};
        barrier_wait_for(&g, word);
    }
}

/* Do its PEs share the processors with no others?  Else a PE that finds all of its team
 * on its processor waiting may still have to make space there. */
static bool barrier_is_everybody(const struct shmem_team *team)
{
    return team->npes == (int)pgas_self.npes;
}

/* This PE calls on its processor.  True if it is the last one there: a guess, as PEs may
 * move; a wrong one costs time and nothing else. */
static bool barrier_last_on_cpu(struct shmem_team *team, struct team_words *root)
{
    int cpu = sched_getcpu();
    uint32_t tag = team->epoch << 16, seen, next;

    if (cpu < 0 || cpu >= TEAM_CPUS)
        return false;
    if (cpu != team->cpu) {
        if (team->cpu >= 0)
            fetch_add_acq_rel_u32(&root->cpu[team->cpu].residents, UINT32_MAX); /* - 1 */
        fetch_add_acq_rel_u32(&root->cpu[cpu].residents, 1);
        team->cpu = cpu;
    }
    do {
        seen = load_relaxed_u32(&root->cpu[cpu].called);
        next = seen >> 16 == tag >> 16 ? seen + 1 : tag + 1;
    } while (cas_acq_rel_u32(&root->cpu[cpu].called, seen, next) != seen);
    return next - tag == load_relaxed_u32(&root->cpu[cpu].residents);
}

/* Where at least two more PEs live on our processor than on another, go there: the kernel
 * may leave it so for seconds.  Seldom, as it costs as much as some barriers. */
static void barrier_even_out(const struct shmem_team *team, const struct team_words *root)
{
    uint32_t here = load_relaxed_u32(&root->cpu[team->cpu].residents);

    for (int cpu = 0; cpu < TEAM_CPUS; cpu++) {
        if (!binding_allowed(cpu) ||
            load_relaxed_u32(&root->cpu[cpu].residents) + 1 >= here)
            continue;
        binding_move(cpu);
        return;
    }
}

/* Invariant: `arrived` on the first PE is the number of calls so far, modulo 2^32, in
 * barriers that count; the call that makes it a multiple of npes is the last one of that
 * barrier. */
static void barrier_count(struct shmem_team *team, const char *fn)
{
    struct team_words *root = team_words(team, 0);
    uint32_t all = ++team->counted * (uint32_t)team->npes;
    const void *word = team_here(team, offsetof(struct team_words, epoch));
    bool last_here = barrier_is_everybody(team) && barrier_last_on_cpu(team, root);
    if (last_here && team->epoch % EVEN_OUT_EVERY == 0)
        barrier_even_out(team, root);

    stress_point();
    if (fetch_add_acq_rel_u32(&root->arrived, 1) + 1 == all) {
        stress_point();
        store_release_u32(&root->epoch, team->epoch);
        for (int i = 0; i < team->npes; i++)
            rma_changed(word, sizeof(uint32_t), team_world_pe(team, i));
        return;
    }
    struct goal g = {&root->epoch, team->epoch, team, fn};
    if (!last_here || !block_spin(barrier_reached, &g))
        barrier_wait_for(&g, word);
}

static _Noreturn void barrier_two_threads(const char *fn)
{
    log_die("%s: two threads of this PE are in collectives of one team, or of the same "
            "PEs, at the same time; the collectives of a team must be called one after "
            "the other",
            fn);
}

/* An active set of all PEs is the world, whose team must not be in a collective at the
 * same time (annex "Undefined Behavior"); two such sets may, with a pSync each. */
static void barrier_enter_set(const struct shmem_team *set, uint64_t me, const char *fn)
{
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    if (set->npes != world->npes)
        return;
    fetch_add_acq_rel_u32(&world->sets_inside, 1);
    uint64_t owner = load_acquire_u64(&world->inside);
    if (owner != 0 && owner != me)
        barrier_two_threads(fn);
}

static void barrier_leave_set(const struct shmem_team *set, const char *fn)
{
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    if (set->npes == world->npes)
        fetch_add_acq_rel_u32(&world->sets_inside, UINT32_MAX); /* - 1 */
}

void barrier_enter(struct shmem_team *team, const char *fn)
{
    static _Thread_local char here; /* its address is the thread's name */
    uint64_t me = (uintptr_t)&here;

    if (team->psync != NULL) {
        barrier_enter_set(team, me, fn);
        return;
    }
    uint64_t owner = cas_acq_rel_u64(&team->inside, 0, me);
    if ((owner != 0 && owner != me) || load_acquire_u32(&team->sets_inside) != 0)
        barrier_two_threads(fn);
    team->inside_depth++;
}

void barrier_leave(struct shmem_team *team, const char *fn)
{
    if (team->psync != NULL)
        barrier_leave_set(team, fn);
    else if (--team->inside_depth == 0)
        store_release_u64(&team->inside, 0);
}

static void barrier_all_pes(struct shmem_team *team, const char *fn)
{
    if (team->psync != NULL) {
        active_barrier(team, fn);
        return;
    }
    if (unlikely(team->far)) {
        internode_cross(team, fn);
        return;
    }
    team->epoch++;
    if (select_algorithm(team, SELECT_BARRIER, 0) == BARRIER_COUNTER)
        barrier_count(team, fn);
    else
        barrier_disseminate(team, fn);
    team->known =
        team->calls; /* of those with a mailbox (mailbox.c): all have ended them */
}

void barrier(struct shmem_team *team, const char *fn)
{
    if (unlikely(pgas_self.net != NULL))
        order_quiet(SHMEM_CTX_DEFAULT, fn);
    barrier_sync(team, fn);
}

void barrier_sync(struct shmem_team *team, const char *fn)
{
    if (team->npes == 1)
        return;
    if (likely(!pgas_self.checks)) {
        barrier_all_pes(team, fn);
        return;
    }
    barrier_enter(team, fn);
    barrier_all_pes(team, fn);
    barrier_leave(team, fn);
}

void barrier_last(struct shmem_team *team, const char *fn)
{
    if (team->npes == 1)
        return;
    if (pgas_self.checks)
        barrier_enter(team, fn); /* and never leave: there is no team after this */
    if (team->far) {
        internode_cross_last(team, fn);
        return;
    }
    team->epoch++;
    /* When counting, the last ones still look at the first PE's words. */
    barrier_disseminate(team, fn);
}
