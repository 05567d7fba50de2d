/* SPDX-License-Identifier: BSD-3-Clause */
/* ft.c - see ft.h.  Uses: core/team, core/net, ft_map, ft_handler, ft_watch.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/shmemx.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/boot/boot.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_handler.h"
#include "pgas/ft/ft_types.h"
#include "pgas/ft/ft_watch.h"

#define STATE core_self.ft

/* ---- what this PE knows ----------------------------------------------------------- */

static void ft_on_launcher_event(uint32_t pe)
{
    ft_map_fail(pgas_self.node, &pe, 1);
}

void ft_start(void)
{
    size_t words = ft_map_set_words(pgas_self.ft);

    STATE.net_notified = calloc(words, sizeof(uint64_t));
    STATE.handled = calloc(words, sizeof(uint64_t));
    STATE.acknowledged = calloc(words, sizeof(uint64_t));
    ft_map_rank(pgas_self.ft)[pgas_self.local_rank] = (uint32_t)pgas_self.me;
    if (STATE.net_notified == NULL || STATE.handled == NULL || STATE.acknowledged == NULL)
        log_die("shmem_init: no memory for sets of %u PEs", pgas_self.npes);
    if (!ft_watch_start())
        log_die("shmem_init: cannot start the thread that watches the PEs of the node: "
                "%s; raise `ulimit -u`, or set SHMEM_FT=abort",
                strerror(errno));
    boot_events_open(ft_on_launcher_event);
}

void ft_stop(bool exiting)
{
    if (pgas_self.ft == NULL)
        return;
    boot_events_close();
    ft_watch_stop();
    ft_handler_stop();
    if (exiting)
        return; /* other threads may still use the rest */
    free(STATE.net_notified);
    free(STATE.handled);
    free(STATE.acknowledged);
    STATE.net_notified = STATE.handled = STATE.acknowledged = NULL;
    STATE.handler = NULL;
    STATE.processed = 0;
    pgas_self.ft_acknowledged = 0;
    pgas_self.ft = NULL;
}

/* Appends to `pes` the failed PEs that are not in the set, and adds them to it. */
static int ft_collect_new(uint64_t *set, int *pes)
{
    const struct ft_map *map = pgas_self.ft;
    int n = 0;

    for (uint32_t i = 0; i < ft_map_set_words(map); i++) {
        uint64_t fresh =
            atomic_load_explicit(&ft_map_failed(map)[i], memory_order_acquire) & ~set[i];
        for (uint64_t rest = fresh; rest != 0; rest &= rest - 1)
            pes[n++] = (int)(i * 64) + __builtin_ctzll(rest);
        set[i] |= fresh;
    }
    return n;
}

/* A list of all PEs of the job. */
static int *ft_list(void)
{
    int *pes = malloc(pgas_self.npes * sizeof *pes);

    if (pes == NULL)
        log_die("no memory for a list of %u PEs", pgas_self.npes);
    return pes;
}

void ft_process(void)
{
    uint32_t failures =
        atomic_load_explicit(&pgas_self.ft->failures, memory_order_acquire);

    if (failures == load_acquire_u32(&STATE.processed))
        return;
    int *pes = ft_list();

    pthread_mutex_lock(&STATE.lock);
    int n = ft_collect_new(STATE.net_notified, pes);
    pthread_mutex_unlock(&STATE.lock);
    for (int i = 0; i < n && pgas_self.net != NULL; i++)
        net_pe_failed(pes[i]);
    free(pes);
    store_release_u32(&STATE.processed, failures);
}

int ft_set_handler(void (*fn)(const int *pes, int n, void *arg), void *arg)
{
    bool called;

    pthread_mutex_lock(&STATE.lock);
    STATE.handler = fn;
    STATE.handler_arg = arg;
    called = fn == NULL || pgas_self.ft == NULL || ft_handler_wake();
    if (!called)
        STATE.handler = NULL;
    pthread_mutex_unlock(&STATE.lock);
    return called ? 0 : -1;
}

void ft_call_handler(void)
{
    int *pes = ft_list();

    pthread_mutex_lock(&STATE.lock);
    void (*fn)(const int *, int, void *) = STATE.handler;
    void *arg = STATE.handler_arg;
    pthread_mutex_unlock(&STATE.lock);
    int n = fn != NULL ? ft_collect_new(STATE.handled, pes) : 0;
    if (n > 0)
        fn(pes, n, arg);
    free(pes);
}

/* ---- teams ------------------------------------------------------------------------ */

/* An active set has no ID, and nobody can revoke it. */
static bool ft_is_revoked(const struct shmem_team *team)
{
    return ft_map_is_revoked(pgas_self.ft, (uint32_t)pgas_self.local_rank,
                             team_slot(team), team->uid);
}

static int ft_compute_status(const struct shmem_team *team)
{
    if (ft_is_revoked(team))
        return SHMEMX_ERR_REVOKED;
    for (int i = 0; i < team->npes; i++)
        if (ft_pe_failed(team_world_pe(team, i)))
            return SHMEMX_ERR_PE_FAILED;
    return 0;
}

/* The result is cached for the epoch that was loaded before it was computed.  A status
 * other than 0 is final. */
int ft_team_status(struct shmem_team *team)
{
    if (likely(pgas_self.ft == NULL))
        return 0;
    uint64_t epoch = atomic_load_explicit(&pgas_self.ft->epoch, memory_order_acquire);
    uint64_t cached = load_acquire_u64(&team->ft_cache);
    int known = (int)(uint32_t)cached;

    if (likely(cached >> 32 == epoch && known != FT_CACHED_NONE))
        return known == FT_CACHED_INTACT ? 0 : known;
    if (team->psync == NULL && known == SHMEMX_ERR_REVOKED)
        return SHMEMX_ERR_REVOKED;
    int status = ft_compute_status(team);
    known = status == 0 ? FT_CACHED_INTACT : status;
    store_release_u64(&team->ft_cache, epoch << 32 | (uint32_t)known);
    return status;
}

int ft_team_status_now(struct shmem_team *team)
{
    int status = ft_team_status(team);

    return status != 0 || pgas_self.ft == NULL ? status : ft_compute_status(team);
}

int ft_team_failed(const struct shmem_team *team, int *pes, int max)
{
    int n = 0;

    for (int i = 0; i < team->npes && pgas_self.ft != NULL; i++) {
        if (!ft_pe_failed(team_world_pe(team, i)))
            continue;
        if (n < max)
            pes[n] = i;
        n++;
    }
    return n;
}

/* The counts that ft_unacknowledged compares are equal only if each acknowledged PE is
 * marked as failed. */
void ft_acknowledge(const uint64_t *set)
{
    const struct ft_map *map = pgas_self.ft;
    uint32_t n = 0;

    for (uint32_t pe = 0; pe < pgas_self.npes; pe++)
        if (ft_set_has(set, pe))
            ft_map_fail(pgas_self.node, &pe, 1);
    pthread_mutex_lock(&STATE.lock);
    for (uint32_t i = 0; i < ft_map_set_words(map); i++) {
        STATE.acknowledged[i] |= set[i];
        n += (uint32_t)__builtin_popcountll(STATE.acknowledged[i]);
    }
    store_relaxed_u32(&pgas_self.ft_acknowledged, n);
    pthread_mutex_unlock(&STATE.lock);
}

/* ---- requests to the agent -------------------------------------------------------- */

static bool ft_mailbox_done(const void *arg)
{
    const struct ft_mailbox *box = arg;

    return atomic_load_explicit(&box->state, memory_order_acquire) == FT_DONE;
}

/* Claims a mailbox of this PE: 0 <= slot < FT_SLOTS. */
static bool ft_mailbox_try_claim(const void *arg)
{
    int *slot = (int *)(uintptr_t)arg;
    bool found = false;

    pthread_mutex_lock(&STATE.lock);
    for (int i = 0; i < FT_SLOTS && !found; i++)
        if (!STATE.slot_used[i]) {
            STATE.slot_used[i] = true;
            *slot = i;
            found = true;
        }
    pthread_mutex_unlock(&STATE.lock);
    return found;
}

static void ft_mailbox_release(int slot)
{
    pthread_mutex_lock(&STATE.lock);
    STATE.slot_used[slot] = false;
    pthread_mutex_unlock(&STATE.lock);
    block_wake_own(); /* a thread may wait for a mailbox */
}

/* Posts the request in the mailbox and waits until the agent has completed it. */
static void ft_request(struct ft_mailbox *box, const char *fn)
{
    atomic_store_explicit(&box->state, FT_POSTED, memory_order_release);
    ft_map_notify_agent(pgas_self.ft);
    block_until(&(struct block_wait){.ready = ft_mailbox_done, .arg = box, .what = fn});
}

void ft_agree(struct shmem_team *team, struct ft_vote *vote, const char *fn)
{
    const struct ft_map *map = pgas_self.ft;
    size_t set = ft_map_set_words(map) * sizeof(uint64_t);
    uint32_t local = (uint32_t)pgas_self.local_rank;
    int slot;

    PGAS_ASSERT(vote->ands + vote->maxs <= FT_WORDS);
    block_until(
        &(struct block_wait){.ready = ft_mailbox_try_claim, .arg = &slot, .what = fn});
    struct ft_mailbox *box = ft_map_mailbox(map, local, slot);
    uint64_t *members = ft_map_members(map, local, slot);
    memset(members, 0, set);
    for (int i = 0; i < team->npes; i++)
        ft_set_add(members, (uint32_t)team_world_pe(team, i));
    box->request = FT_AGREE;
    box->team = team->uid;
    if (unlikely(++team->agreements == 0)) /* FT_COMMIT_SEQ */
        team->agreements = 1;
    box->seq = team->agreements;
    box->ands = (uint16_t)vote->ands;
    box->maxs = (uint16_t)vote->maxs;
    memcpy(box->word, vote->word, sizeof box->word);
    ft_request(box, fn);
    memcpy(vote->word, box->word, sizeof box->word);
    if (vote->failed != NULL)
        memcpy(vote->failed, ft_map_agreed(map, local, slot), set);
    ft_mailbox_release(slot);
}

void ft_revoke(struct shmem_team *team, const char *fn)
{
    int slot;

    block_until(
        &(struct block_wait){.ready = ft_mailbox_try_claim, .arg = &slot, .what = fn});
    struct ft_mailbox *box =
        ft_map_mailbox(pgas_self.ft, (uint32_t)pgas_self.local_rank, slot);
    box->request = FT_REVOKE;
    box->team = team->uid;
    box->slot = team_slot(team);
    ft_request(box, fn);
    ft_mailbox_release(slot);
}
