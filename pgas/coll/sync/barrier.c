/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - see barrier.h.  Uses: core/team, core/block, rma/rma, rma/order, active,
 * internode, select.
 *
 * n = PEs of the team.  Teams over several nodes: internode.c.
 * - Dissemination (Hensgen, Finkel, Manber 1988), if each PE has a processor:
 *   ceil(log2 n) rounds, one store per PE and round.
 * - Central counter, with more PEs than processors or by SHMEM_BARRIER_ALGORITHM: n
 *   atomic increments of one word and one release store, so that each PE is scheduled
 *   once per barrier.  The last PE to arrive on a processor spins, because no other PE
 *   there can use the time; the others yield at once.
 * - Tree, for many PEs with a processor each: a counter for each group of PEs that share
 *   a cache (groups.h), then dissemination between the groups, then a release word for
 *   each group.  The last PE to arrive in a group acts for it.  Of n PEs in N groups, n
 *   and not n log n PEs read a line of another one, and most of these lines are in the
 *   same cache; no line is read or written by more PEs than a group has members.
 */
#include "config.h"

#include <sched.h>

#include "pgas/coll/api/active.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/groups/groups.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/log.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/base/stress.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum { EVEN_OUT_EVERY = 256 }; /* barriers */

struct goal {
    const uint64_t *word; /* local mapping */
    uint64_t epoch;
    const struct shmem_team *team;
    const char *fn;
};

/* A word is the epoch of an older barrier, 0 if it has never been used, or up to one
 * ahead. */
static bool barrier_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->epoch;
}

void barrier_report_departed(int pe, const char *fn)
{
    if (ft_may_have_failed())
        return;
    log_misuse(
        "PE %d has exited or called shmem_finalize while other PEs wait in %s; all PEs "
        "must take part",
        pe, fn);
}

/* A PE that has entered the awaited barrier before it departed is not an error: its
 * signal may still be in flight. */
void barrier_check_departed(const struct shmem_team *team, int i, uint64_t departed,
                            const char *fn)
{
    if (departed != 0 && departed - 1 < team->coll->barrier.epoch)
        barrier_report_departed(team_world_pe(team, i), fn);
}

static void barrier_wait_on_stall(const void *arg)
{
    const struct goal *g = arg;

    if (atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) == 0)
        return;
    for (int i = 0; i < g->team->npes; i++)
        barrier_check_departed(g->team, i,
                               load_acquire_u64(&team_words(g->team, i)->departure.epoch),
                               g->fn);
}

static void barrier_wait_for(const struct goal *g, const void *word)
{
    block_until(&(struct block_wait){.ready = barrier_reached,
                                     .arg = g,
                                     .word = word,
                                     .what = g->fn,
                                     .team = g->team,
                                     .on_stall = barrier_wait_on_stall});
}

/*
 * Invariant: while this PE is in barrier e, round[k].epoch is e - 1, e or e + 1.  The
 * k-th partner cannot reach e + 2, because that requires that this PE has entered e + 1.
 * So one word per round is enough.  The release store of the signal orders all stores of
 * this PE before the barrier.
 */
static void barrier_disseminate(struct shmem_team *team, const char *fn)
{
    const struct node_words *mine = node_words(team, team->me);
    uint64_t epoch = team->coll->barrier.epoch;

    for (int k = 0, step = 1; step < team->npes; k++, step *= 2) {
        int to = (team->me + step) % team->npes;
        stress_point();
        store_release_u64(&node_words(team, to)->round[k].epoch, epoch);
        const void *word = &mine->round[k].epoch;
        rma_changed(word, sizeof(uint64_t), team_world_pe(team, to));
        struct goal g = {word, epoch, team, fn};
        barrier_wait_for(&g, word);
    }
}

/* Residency hints need a team of all PEs, so that no other PE uses its processors; their
 * words exist only in jobs on one node. */
static bool barrier_has_cpu_hints(const struct shmem_team *team)
{
    return team->npes == (int)pgas_self.npes && pgas_self.net == NULL;
}

static void barrier_set_cpu(struct barrier_state *state, struct node_words *root, int cpu)
{
    if (state->cpu >= 0)
        fetch_add_acq_rel_u32(&root->cpu[state->cpu].residents, UINT32_MAX); /* -1 */
    fetch_add_acq_rel_u32(&root->cpu[cpu].residents, 1);
    state->cpu = cpu;
}

/* Record this PE's arrival on its processor. True if it is the last resident PE to arrive
 * there. This is a hint: PEs may migrate, and a wrong result only costs time. */
static bool barrier_last_on_cpu(struct barrier_state *state, struct node_words *root)
{
    int cpu = sched_getcpu();
    uint32_t tag = (uint32_t)state->epoch << 16, seen, next;

    if (cpu < 0 || cpu >= BARRIER_CPUS)
        return false;
    if (cpu != state->cpu)
        barrier_set_cpu(state, root, cpu);
    do {
        seen = load_relaxed_u32(&root->cpu[cpu].called);
        next = seen >> 16 == tag >> 16 ? seen + 1 : tag + 1;
    } while (cas_acq_rel_u32(&root->cpu[cpu].called, seen, next) != seen);
    return next - tag == load_relaxed_u32(&root->cpu[cpu].residents);
}

/* If this processor has at least two residents more than another one, move there: the
 * kernel may keep an imbalance for seconds.  Costs as much as several barriers.  The move
 * is counted at once, so that another PE does not choose the same processor. */
static void barrier_even_out(struct barrier_state *state, struct node_words *root)
{
    uint32_t here = load_relaxed_u32(&root->cpu[state->cpu].residents);

    for (int cpu = 0; cpu < BARRIER_CPUS; cpu++) {
        if (!binding_allowed(cpu) ||
            load_relaxed_u32(&root->cpu[cpu].residents) + 1 >= here)
            continue;
        barrier_set_cpu(state, root, cpu);
        binding_move(cpu);
        return;
    }
}

/* Invariant: `arrived` of team PE 0 is the number of arrivals in all barriers with the
 * counter; the arrival that makes it counted * npes is the last one of
 * a barrier. */
static void barrier_count(struct shmem_team *team, const char *fn)
{
    struct node_words *root = node_words(team, 0);
    struct barrier_words *words = &root->team.barrier;
    struct barrier_state *state = &team->coll->barrier;
    uint64_t all = ++state->counted * (uint64_t)team->npes;
    const void *word = team_here(team, offsetof(struct team_words, barrier.epoch));
    bool last_here = barrier_has_cpu_hints(team) && barrier_last_on_cpu(state, root);
    if (last_here && state->epoch % EVEN_OUT_EVERY == 0)
        barrier_even_out(state, root);

    stress_point();
    if (fetch_add_acq_rel_u64(&words->arrived, 1) + 1 == all) {
        stress_point();
        store_release_u64(&words->epoch, state->epoch);
        for (int i = 0; i < team->npes; i++)
            rma_changed(word, sizeof(uint64_t), team_world_pe(team, i));
        return;
    }
    struct goal g = {&words->epoch, state->epoch, team, fn};
    if (!last_here || !block_spin(barrier_reached, &g))
        barrier_wait_for(&g, word);
}

/* ---- tree ------------------------------------------------------------------------- */

/* Wakes the PEs of the positions begin .. end - 1 that wait for the word: at a level
 * above 0 those that act for a member, which may be any of it. */
static void barrier_wake_group(const struct shmem_team *team, const struct groups *g,
                               int begin, int end, size_t offset)
{
    for (int i = begin; i < end; i++)
        if (g->order[i] != team->me)
            rma_changed(team_here(team, offset), sizeof(uint64_t),
                        team_world_pe(team, g->order[i]));
}

static struct barrier_group *barrier_group_of(struct shmem_team *team,
                                              const struct groups *g, int level)
{
    const struct groups_level *l = &g->level[level];

    return &node_words(team, g->order[l->begin[l->mine]])->tree.level[level];
}

static size_t barrier_group_offset(int level)
{
    return offsetof(struct node_words, tree.level) +
           (size_t)level * sizeof(struct barrier_group) +
           offsetof(struct barrier_group, epoch);
}

/* Invariant: `arrived` of a group is the number of arrivals of its members in all
 * barriers by tree; the arrival that makes it trees * members is the last one of a
 * barrier, since no PE begins the next one before all have arrived in this one.  Returns
 * the first level at which this PE is not the last to arrive.  acq_rel: the last arrival
 * acquires what the others have released, and releases it with its own arrival at the
 * next level. */
static int barrier_tree_arrive(struct shmem_team *team, const struct groups *g)
{
    int level = 0;

    for (; level < g->own; level++) {
        uint64_t members = (uint64_t)g->level[level].members;
        uint64_t all = team->coll->barrier.trees * members;
        stress_point();
        if (members > 1 &&
            fetch_add_acq_rel_u64(&barrier_group_of(team, g, level)->arrived, 1) + 1 !=
                all)
            break;
    }
    return level;
}

/* As barrier_disseminate, between the groups of the last level; each group's words are on
 * its first PE.  Its invariant holds with "group" for "PE", since the PE that acts for a
 * group in a barrier has acquired what the one of the barrier before did. */
static void barrier_tree_disseminate(struct shmem_team *team, const struct groups *g,
                                     const char *fn)
{
    const struct groups_level *top = &g->level[g->own - 1];
    struct node_words *mine = node_words(team, g->order[top->begin[top->mine]]);
    uint64_t epoch = team->coll->barrier.epoch;

    for (int k = 0, step = 1; step < top->n; k++, step *= 2) {
        int to = (top->mine + step) % top->n;
        size_t offset = offsetof(struct node_words, tree.round) +
                        (size_t)k * sizeof(struct barrier_round);
        stress_point();
        store_release_u64(
            &node_words(team, g->order[top->begin[to]])->tree.round[k].epoch, epoch);
        barrier_wake_group(team, g, top->begin[to], top->begin[to + 1], offset);
        struct goal goal = {&mine->tree.round[k].epoch, epoch, team, fn};
        barrier_wait_for(&goal, team_here(team, offset));
    }
}

/* A PE that is not the last to arrive waits for the release word of that group.  Each PE
 * releases the groups below it, for which it has acted.  The words only increase, so
 * that nothing is reset. */
static void barrier_tree(struct shmem_team *team, const char *fn)
{
    const struct groups *g = groups_of(team);

    team->coll->barrier.trees++;
    int level = barrier_tree_arrive(team, g);
    if (level == g->own) {
        barrier_tree_disseminate(team, g, fn);
    } else {
        struct goal goal = {&barrier_group_of(team, g, level)->epoch,
                            team->coll->barrier.epoch, team, fn};
        barrier_wait_for(&goal, team_here(team, barrier_group_offset(level)));
    }
    while (--level >= 0) {
        const struct groups_level *l = &g->level[level];
        if (l->members == 1)
            continue;
        stress_point();
        store_release_u64(&barrier_group_of(team, g, level)->epoch,
                          team->coll->barrier.epoch);
        barrier_wake_group(team, g, l->begin[l->mine], l->begin[l->mine + 1],
                           barrier_group_offset(level));
    }
}

/* ---- all --------------------------------------------------------------------------- */

static _Noreturn void barrier_die_two_threads(const char *fn)
{
    log_misuse(
        "%s: two threads of this PE are in collectives of one team, or of the same "
        "PEs, at the same time; the collectives of a team must be called one after "
        "the other",
        fn);
}

/* An active set of all PEs and the world team must not be in collectives concurrently
 * (annex "Undefined Behavior"); two such sets may, because each has its own pSync. */
static void barrier_enter_set(const struct shmem_team *set, uint64_t me, const char *fn)
{
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    if (set->npes != world->npes)
        return;
    fetch_add_acq_rel_u32(&world->coll->barrier.sets_inside, 1);
    uint64_t owner = load_acquire_u64(&world->coll->barrier.inside);
    if (owner != 0 && owner != me)
        barrier_die_two_threads(fn);
}

static void barrier_leave_set(const struct shmem_team *set, const char *fn)
{
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    if (set->npes == world->npes)
        fetch_add_acq_rel_u32(&world->coll->barrier.sets_inside, UINT32_MAX); /* - 1 */
}

void barrier_enter(struct shmem_team *team, const char *fn)
{
    static _Thread_local char here; /* its address identifies the thread */
    uint64_t me = (uintptr_t)&here;

    if (team->psync != NULL) {
        barrier_enter_set(team, me, fn);
        return;
    }
    struct barrier_state *state = &team->coll->barrier;
    uint64_t owner = cas_acq_rel_u64(&state->inside, 0, me);
    if ((owner != 0 && owner != me) || load_acquire_u32(&state->sets_inside) != 0)
        barrier_die_two_threads(fn);
    state->inside_depth++;
}

void barrier_leave(struct shmem_team *team, const char *fn)
{
    if (team->psync != NULL)
        barrier_leave_set(team, fn);
    else if (--team->coll->barrier.inside_depth == 0)
        store_release_u64(&team->coll->barrier.inside, 0);
}

static void barrier_all_pes(struct shmem_team *team, const char *fn)
{
    if (team->psync != NULL) {
        active_barrier(team, fn);
        return;
    }
    if (unlikely(team->remote)) {
        internode_barrier_sync(team, fn);
        return;
    }
    team->coll->barrier.epoch++;
    switch (select_algorithm(team, SELECT_BARRIER, 0)) {
    case BARRIER_COUNTER:
        barrier_count(team, fn);
        break;
    case BARRIER_TREE:
        barrier_tree(team, fn);
        break;
    default:
        barrier_disseminate(team, fn);
    }
    mailbox_note_barrier(team);
}

void barrier(struct shmem_team *team, const char *fn)
{
    if (unlikely(pgas_self.net != NULL))
        order_quiet(SHMEM_CTX_DEFAULT, fn);
    barrier_commit(team, fn);
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

__attribute__((noinline)) int barrier_commit_guarded(struct shmem_team *team,
                                                     const char *fn)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, team), guard.status);
    barrier_commit(team, fn);
    return 0;
}

void barrier_commit_handle(shmem_team_t handle, const char *fn)
{
    barrier_commit(team_of(handle, fn), fn);
}

void barrier_last(struct shmem_team *team, const char *fn)
{
    if (team->npes == 1)
        return;
    if (pgas_self.checks)
        barrier_enter(team, fn); /* without barrier_leave: the team ends here */
    if (team->remote) {
        internode_barrier_last(team, fn);
        return;
    }
    team->coll->barrier.epoch++;
    /* Dissemination, because waiters of the counter read the words of team PE 0 after the
     * last arrival. */
    barrier_disseminate(team, fn);
}
