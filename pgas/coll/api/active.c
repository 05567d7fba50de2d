/* SPDX-License-Identifier: BSD-3-Clause */
/* active.c - see active.h.  Uses: core/team, core/slot, core/block, core/net, rma/rma,
 * rma/order, rma/amo_at, probe, barrier. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/api/active.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/slot.h"
#include "pgas/core/base/stress.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

#define STATE coll_self.active

/*
 * Words of pSync in use, a cache line apart independent of the alignment of the array.
 * All are SHMEM_SYNC_VALUE (0) between calls.
 */
enum {
    ARRIVED = 0,  /* on the first PE of the set: number of other PEs that have arrived */
    RELEASED = 8, /* on each other PE: 1 = all PEs have arrived */
    PART = 16,    /* on each PE: its struct descriptor during a collect, or its vote */
    LOG_STRIDE_MAX = 30,
};
_Static_assert(PART + sizeof(struct descriptor) / sizeof(long) <= SHMEM_SYNC_SIZE / 2 &&
                   SHMEM_BARRIER_SYNC_SIZE == SHMEM_SYNC_SIZE &&
                   SHMEM_COLLECT_SYNC_SIZE == SHMEM_SYNC_SIZE && SHMEM_SYNC_VALUE == 0,
               "the words fit every pSync array, and are initially 0");

static bool active_is_set(int start, int log_stride, int size)
{
    if (start < 0 || log_stride < 0 || size < 1)
        return false;
    if (size > 1 && log_stride > LOG_STRIDE_MAX)
        return false;
    int64_t last = size > 1 ? start + ((int64_t)(size - 1) << log_stride) : start;
    return last < pgas_self.npes;
}

static _Noreturn void active_die_not_set(int start, int log_stride, int size,
                                         const char *fn)
{
    log_misuse(
        "%s: arguments 'PE_start' = %d, 'logPE_stride' = %d, 'PE_size' = %d are not "
        "an active set of the PEs 0..%u",
        fn, start, log_stride, size, pgas_self.npes - 1);
}

struct shmem_team active_set(int start, int log_stride, int size, long *psync,
                             const char *fn)
{
    if (!active_is_set(start, log_stride, size))
        active_die_not_set(start, log_stride, size, fn);
    int stride = size > 1 ? 1 << log_stride : 1;
    int away = pgas_self.me - start;
    if (away < 0 || away % stride != 0 || away / stride >= size)
        log_misuse(
            "%s: arguments 'PE_start' = %d, 'logPE_stride' = %d, 'PE_size' = %d are an "
            "active set without the calling PE %d",
            fn, start, log_stride, size, pgas_self.me);
    struct shmem_team set = {.npes = size,
                             .me = away / stride,
                             .start = start,
                             .stride = stride,
                             .psync = psync};
    set.remote = team_has_remote(&set);
    return set;
}

static uint64_t *active_word_of(const struct shmem_team *set, int word, int i,
                                const char *fn)
{
    return peer_at(set->psync + word, sizeof(uint64_t), team_world_pe(set, i), fn);
}

struct descriptor *active_part(const struct shmem_team *set, int i, const char *fn)
{
    return peer_at(set->psync + PART, sizeof(struct descriptor), team_world_pe(set, i),
                   fn);
}

/* Wait condition: *word >= goal, where word is in this PE's pSync. */
struct goal {
    const uint64_t *word;
    uint64_t goal;
    const struct shmem_team *set;
    const char *fn;
    struct probe_timer *timer;
};

static bool active_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->goal;
}

/* True if PE `pe` of the world has departed (finalized). */
static bool active_has_departed(int pe, const char *fn)
{
    const struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    if (net_remote(pe))
        return probe_pe(team_here(world, offsetof(struct team_words, departure.epoch)),
                        pe, fn) != 0;
    return atomic_load_explicit(&pgas_self.peer[pe].node->last_barrier,
                                memory_order_acquire) != 0;
}

/*
 * This check has no false positives.  The first PE waits for arrivals, and a PE that has
 * arrived cannot depart before it is released.  The others wait for the first PE only,
 * which releases them before it departs.  So if the awaited PE has departed, and the
 * condition, tested again after that, is still false, it will never become true.
 */
static void active_check_departed(const struct goal *g, int i)
{
    int pe = team_world_pe(g->set, i);

    if (active_has_departed(pe, g->fn) && !active_reached(g))
        barrier_report_departed(pe, g->fn);
}

/* Remote PEs are probed one at a time, because each probe costs a round trip. */
static void active_on_stall(const void *arg)
{
    const struct goal *g = arg;
    int first = g->set->me == 0 ? 1 : 0, end = g->set->me == 0 ? g->set->npes : 1;
    bool departed =
        atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) != 0;

    for (int i = first; departed && i < end; i++)
        if (!net_remote(team_world_pe(g->set, i)))
            active_check_departed(g, i);
    if (g->set->remote && probe_due(g->timer))
        active_check_departed(g,
                              first + (int)(g->timer->probes % (uint32_t)(end - first)));
}

static _Noreturn void active_die_bad_word(const struct shmem_team *set, int word,
                                          uint64_t value, const char *fn)
{
    log_misuse(
        "%s: argument 'pSync' = %p: word %d is %ld during the call; all words must be "
        "SHMEM_SYNC_VALUE (%ld) before the call, and no other routine may use them",
        fn, (void *)set->psync, word, (long)value, SHMEM_SYNC_VALUE);
}

/* Wait until a word of this PE is at least `least`, and reset it to SHMEM_SYNC_VALUE.
 * Returns the value before the reset. */
static uint64_t active_wait_and_reset(const struct shmem_team *set, int word,
                                      uint64_t least, const char *fn)
{
    uint64_t *mine = active_word_of(set, word, set->me, fn);
    struct probe_timer timer = {0};
    struct goal g = {mine, least, set, fn, &timer};

    block_until(&(struct block_wait){.ready = active_reached,
                                     .arg = &g,
                                     .word = set->psync + word,
                                     .what = fn,
                                     .team = set,
                                     .on_stall = active_on_stall});
    uint64_t value = load_relaxed_u64(mine);
    store_relaxed_u64(mine, SHMEM_SYNC_VALUE);
    return value;
}

static void active_wait_value(const struct shmem_team *set, int word, uint64_t value,
                              const char *fn)
{
    uint64_t seen = active_wait_and_reset(set, word, value, fn);

    if (seen != value)
        active_die_bad_word(set, word, seen, fn);
}

/* Notify the first PE of this PE's arrival. */
static void active_arrive(const struct shmem_team *set, const char *fn)
{
    int pe = team_world_pe(set, 0);

    if (unlikely(net_remote(pe))) {
        amo_post(CTX_LIBRARY, TRANSPORT_AMO_ADD, set->psync + ARRIVED, sizeof(long), 1,
                 pe, fn);
        return;
    }
    stress_point();
    fetch_add_acq_rel_u64(active_word_of(set, ARRIVED, 0, fn), 1);
    rma_changed(set->psync + ARRIVED, sizeof(long), pe);
}

static void active_release(const struct shmem_team *set, int i, uint64_t value,
                           const char *fn)
{
    int pe = team_world_pe(set, i);

    if (unlikely(net_remote(pe))) {
        amo_post(CTX_LIBRARY, TRANSPORT_AMO_SET, set->psync + RELEASED, sizeof(long),
                 value, pe, fn);
        return;
    }
    stress_point();
    store_release_u64(active_word_of(set, RELEASED, i, fn), value);
    rma_changed(set->psync + RELEASED, sizeof(long), pe);
}

/*
 * Central-counter barrier: the first PE counts the arrivals of the others, and then
 * releases each of them.
 *
 * Invariants for consecutive barriers of the same set.  ARRIVED is reset to 0 before any
 * PE is released, so the arrivals of the next barrier are counted from 0.  RELEASED of a
 * PE is reset to 0 before that PE arrives at the next barrier (the fetch-and-add has
 * release semantics and so orders the store), and no PE is released from that barrier
 * before it has arrived.  So a release is never lost and never attributed to another
 * barrier.
 */
void active_barrier(const struct shmem_team *set, const char *fn)
{
    uint64_t others = (uint64_t)set->npes - 1;

    if (set->me > 0) {
        active_arrive(set, fn);
        active_wait_value(set, RELEASED, 1, fn);
        return;
    }
    active_wait_value(set, ARRIVED, others, fn);
    for (int i = 1; i < set->npes; i++)
        active_release(set, i, 1, fn);
}

/* ---- cached teams ------------------------------------------------------------------ */

enum {
    TEAMS_MAX = 256, /* maximum number of teams of active sets, */
    TEAMS_PART = 4,  /* and the reciprocal of their maximum share of all team slots */
};

static bool active_multiple(void)
{
    return pgas_self.thread_level == SHMEM_THREAD_MULTIPLE;
}

static bool active_record_is(const struct active_record *r,
                             const struct active_record *key)
{
    return r->start == key->start && r->log_stride == key->log_stride &&
           r->size == key->size && r->psync == key->psync;
}

static struct active_record **active_record_bucket(const struct active_record *key)
{
    uint64_t set = (uint64_t)(uint32_t)key->start << 32 ^ (uint32_t)key->size * 31u ^
                   (uint64_t)(uint32_t)key->log_stride << 25;
    uint64_t mixed = (set ^ (uintptr_t)key->psync >> 3) * 0x9e3779b97f4a7c15u;

    return &STATE.bucket[mixed >> 56];
}
_Static_assert((int)ACTIVE_BUCKETS == 256,
               "a bucket for each value of the hash's upper byte");

static struct active_record *active_record_find(const struct active_record *key)
{
    pthread_mutex_lock(&STATE.lock);
    struct active_record *r = *active_record_bucket(key);
    while (r != NULL && !active_record_is(r, key))
        r = r->next;
    pthread_mutex_unlock(&STATE.lock);
    return r;
}

static struct active_record *active_record_add(struct active_record key, const char *fn)
{
    struct active_record *r = malloc(sizeof *r), **at = active_record_bucket(&key);

    if (r == NULL)
        log_die("%s: no memory for the record of an active set", fn);
    pthread_mutex_lock(&STATE.lock);
    *r = key;
    r->next = *at;
    *at = r;
    pthread_mutex_unlock(&STATE.lock);
    return r;
}

/* ---- the first call of a set ------------------------------------------------------- */

/*
 * Vote: each member stores its value in its pSync and notifies the first PE, which
 * combines the values and sends the result to all members.  The words are reset to
 * SHMEM_SYNC_VALUE afterwards.
 */
#define VOTE_IS       ((uint64_t)1)      /* value and result: makes them nonzero */
#define VOTE_MULTIPLE ((uint64_t)1 << 1) /* SHMEM_THREAD_MULTIPLE (any member) */
#define VOTE_EQUAL    ((uint64_t)1 << 2) /* result: all members have the same slot */
#define VOTE_SLOT     32                 /* shift of the slot; result: the highest */
#define VOTE_ALL      (UINT32_MAX & ~(VOTE_MULTIPLE | VOTE_EQUAL))

static uint64_t active_vote_merge(uint64_t result, uint64_t value)
{
    uint64_t slot = result >> VOTE_SLOT, other = value >> VOTE_SLOT;
    uint64_t flags =
        (result & (VOTE_IS | VOTE_EQUAL)) | ((result | value) & VOTE_MULTIPLE);

    if (slot != other)
        flags &= ~VOTE_EQUAL;
    return (slot > other ? slot : other) << VOTE_SLOT | flags;
}

/* On the first PE, after all others have arrived: combine their values. */
static uint64_t active_vote_count(const struct shmem_team *set, uint64_t mine,
                                  const char *fn)
{
    uint64_t *vote = ft_temp_alloc((size_t)set->npes * sizeof *vote),
             result = mine | VOTE_EQUAL;

    if (vote == NULL)
        log_die("%s: no memory for the votes of %d PEs", fn, set->npes);
    for (int i = 1; i < set->npes; i++) {
        int pe = team_world_pe(set, i);
        if (unlikely(net_remote(pe)))
            rma_get_nbi(CTX_LIBRARY, &vote[i], set->psync + PART, sizeof vote[i], pe, fn);
        else
            vote[i] = load_relaxed_u64(active_word_of(set, PART, i, fn));
    }
    if (set->remote)
        order_quiet(CTX_LIBRARY, fn);
    for (int i = 1; i < set->npes; i++)
        result = active_vote_merge(result, vote[i]);
    ft_temp_free(vote);
    return result;
}

static uint64_t active_vote(const struct shmem_team *set, uint32_t slot, const char *fn)
{
    uint64_t mine =
        (uint64_t)slot << VOTE_SLOT | VOTE_IS | (active_multiple() ? VOTE_MULTIPLE : 0);
    uint64_t *word = active_word_of(set, PART, set->me, fn);

    if (set->me > 0) {
        store_release_u64(word, mine);
        active_arrive(set, fn);
        uint64_t result = active_wait_and_reset(set, RELEASED, VOTE_IS, fn);
        store_relaxed_u64(word, SHMEM_SYNC_VALUE);
        if ((result & VOTE_ALL) != VOTE_IS)
            active_die_bad_word(set, RELEASED, result, fn);
        return result;
    }
    active_wait_value(set, ARRIVED, (uint64_t)set->npes - 1, fn);
    uint64_t result = active_vote_count(set, mine, fn);
    for (int i = 1; i < set->npes; i++)
        active_release(set, i, result, fn);
    return result;
}

/* Reserve one team of an active set on this PE; false if the limit is reached. */
static bool active_reserve_team(void)
{
    size_t slot_bytes = team_slot_offset(SLOT_USER + 1) - team_slot_offset(SLOT_USER);
    size_t most = pgas_self.env.team_size / slot_bytes / TEAMS_PART;

    pthread_mutex_lock(&STATE.lock);
    bool may = STATE.teams_made < (most < TEAMS_MAX ? most : TEAMS_MAX);
    STATE.teams_made += may;
    pthread_mutex_unlock(&STATE.lock);
    return may;
}

static void active_unreserve_team(void)
{
    pthread_mutex_lock(&STATE.lock);
    STATE.teams_made--;
    pthread_mutex_unlock(&STATE.lock);
}

/*
 * Agree on a team slot that is free on all members, as in a split (split.c): each member
 * proposes its lowest free slot; members below the maximum of all proposals then propose
 * their lowest free slot >= that maximum.  SLOT_NONE is greater than all slots.  A set of
 * all PEs proposes the world's slot first.  Returns the slot; *by_psync is set if the
 * result is valid for this pSync only.
 */
static uint32_t active_agree_on_slot(const struct shmem_team *set, bool able,
                                     bool *by_psync, const char *fn)
{
    bool world = set->npes == (int)pgas_self.npes;
    uint32_t mine = world ? SLOT_WORLD : able ? slot_alloc(SLOT_USER) : SLOT_NONE;

    for (;;) {
        uint64_t result = active_vote(set, mine, fn);
        uint32_t most = (uint32_t)(result >> VOTE_SLOT);
        *by_psync = (result & VOTE_MULTIPLE) != 0;
        if ((result & VOTE_EQUAL) != 0 && !(mine == SLOT_WORLD && *by_psync))
            return mine;
        if (mine == most && mine != SLOT_WORLD)
            continue;
        if (mine != SLOT_NONE && mine != SLOT_WORLD)
            slot_free(mine);
        mine = most == SLOT_NONE || !able
                   ? SLOT_NONE
                   : slot_alloc(most > SLOT_USER ? most : SLOT_USER);
    }
}

/* A team without a synchronisation area: its collectives use barriers over pSync. */
static struct shmem_team *active_make_psync_team(const struct shmem_team *set,
                                                 const char *fn)
{
    struct shmem_team *team = malloc(sizeof *team);

    if (team == NULL)
        log_die("%s: no memory for an active set", fn);
    *team = *set;
    return team;
}

/* Create the team of a set in the first call; collective over the members. */
static struct shmem_team *active_make_team(const struct shmem_team *set, bool *by_psync,
                                           const char *fn)
{
    struct team_set members = {set->npes, set->start, set->stride, NULL};
    bool may = active_reserve_team();
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);
    struct shmem_team *team = may ? team_coll_new(world, &members) : NULL;
    uint32_t slot = active_agree_on_slot(set, team != NULL, by_psync, fn);

    if (slot == SLOT_WORLD || slot == SLOT_NONE) {
        if (team != NULL)
            team_coll_free(team);
        if (may)
            active_unreserve_team();
        return slot == SLOT_WORLD ? world : active_make_psync_team(set, fn);
    }
    team_coll_begin(team, slot);
    active_barrier(set, fn); /* all synchronisation areas are cleared */
    return team;
}

/* Create the record in the first call of the set (or of the set and this pSync). */
static struct active_record *active_first_call(const struct active_record *key,
                                               long *psync, const char *fn)
{
    struct shmem_team set = active_set(key->start, key->log_stride, key->size, psync, fn);
    struct active_record r = *key;
    bool by_psync = false;

    r.team = set.npes > 1 ? active_make_team(&set, &by_psync, fn)
                          : active_make_psync_team(&set, fn);
    r.psync = by_psync ? psync : NULL;
    if (by_psync && !active_multiple()) {
        struct active_record any = *key;
        any.psync = NULL;
        any.by_psync = true;
        if (active_record_find(&any) == NULL)
            active_record_add(any, fn);
    }
    return active_record_add(r, fn);
}

/* True if this PE is in the set.  Ends the job with an error message if the arguments do
 * not describe an active set. */
static bool active_is_member(const struct active_record *key, const char *fn)
{
    if (!active_is_set(key->start, key->log_stride, key->size))
        active_die_not_set(key->start, key->log_stride, key->size, fn);
    int64_t stride = key->size > 1 ? (int64_t)1 << key->log_stride : 1;
    int64_t away = (int64_t)pgas_self.me - key->start;
    return away >= 0 && away % stride == 0 && away / stride < key->size;
}

static struct active_record *active_record_of(struct active_record *key, long *psync,
                                              const char *fn)
{
    struct active_record *r = active_multiple() ? NULL : active_record_find(key);

    if (r != NULL && !r->by_psync)
        return r;
    key->psync = psync;
    r = active_record_find(key);
    return r != NULL ? r : active_first_call(key, psync, fn);
}

struct shmem_team *active_team(int start, int log_stride, int size, long *psync,
                               const char *fn)
{
    struct active_record key = {
        .start = start, .log_stride = size > 1 ? log_stride : 0, .size = size};
    struct active_record *r = active_multiple() ? NULL : STATE.last_used;

    if (r == NULL || r->psync != NULL || !active_record_is(r, &key)) {
        if (!active_is_member(&key, fn))
            return NULL;
        r = active_record_of(&key, psync, fn);
        if (!active_multiple())
            STATE.last_used = r;
    }
    if (r->team->psync != NULL) {
        r->team->psync = psync;
        return r->team;
    }
    return team_of(r->team->name != NULL ? SHMEM_TEAM_WORLD : (shmem_team_t)r->team, fn);
}

void active_fini(void)
{
    for (int i = 0; i < ACTIVE_BUCKETS; i++)
        while (STATE.bucket[i] != NULL) {
            struct active_record *r = STATE.bucket[i];
            STATE.bucket[i] = r->next;
            if (r->team != NULL && r->team->psync != NULL)
                free(r->team);
            free(r);
        }
    STATE.last_used = NULL;
    STATE.teams_made = 0;
}
