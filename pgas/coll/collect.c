/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect.c - see collect.h.  Uses: core/team, active, barrier, stage, rma,
 * datatype/copy.
 *
 * Every PE copies all sources to its own dest.  It begins with its own one, so that the
 * PEs do not all read the same one at a time.
 */
#include "config.h"

#include "pgas/coll/active.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/collect.h"
#include "pgas/coll/stage.h"
#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

static void take(const struct shmem_team *team, int i, char *to, const void *source,
                 size_t bytes, const char *fn)
{
    if (bytes > 0)
        copy_bytes(to, peer_at(source, bytes, team_world_pe(team, i), fn), bytes);
}

int fcollect(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn)
{
    size_t each = rma_bytes(n, size, fn);
    size_t all = rma_bytes((size_t)team->npes, each, fn);
    char *to = stage_open(dest, all, source, each, all, fn);

    barrier(team, fn); /* all sources are ready */
    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        take(team, i, to + (size_t)i * each, source, each, fn);
    }
    barrier(team, fn); /* all sources have been read */
    stage_close(to, dest, all);
    return 0;
}

/*
 * Where PE i says how many elements it brings.  Invariant: PE i alone writes it, before
 * the barrier that begins a collect; the others read it between that barrier and the one
 * that ends the collect.
 */
static uint64_t *count_of(const struct shmem_team *team, int i, const char *fn)
{
    return team->psync != NULL ? active_count(team, i, fn) : &team_words(team, i)->count;
}

static size_t sum_before(const struct shmem_team *team, int end, const char *fn)
{
    size_t sum = 0;

    for (int i = 0; i < end; i++)
        if (__builtin_add_overflow(sum, load_relaxed_u64(count_of(team, i, fn)), &sum))
            log_die("%s: argument 'nelems': the sum over the PEs does not fit a size_t",
                    fn);
    return sum;
}

int collect(struct shmem_team *team, void *dest, const void *source, size_t n,
            size_t size, const char *fn)
{
    size_t mine = rma_bytes(n, size, fn);

    store_relaxed_u64(count_of(team, team->me, fn), n);
    barrier(team, fn); /* all sources and counts are ready */
    size_t all = rma_bytes(sum_before(team, team->npes, fn), size, fn);
    if (all > 0) /* nobody but us knows how long dest must be: check it here */
        (void)peer_at(dest, all, pgas_self.me, fn);
    char *to = stage_open(dest, all, source, mine, all, fn);
    size_t at = sum_before(team, team->me, fn) * size;
    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        size_t bytes = load_relaxed_u64(count_of(team, i, fn)) * size;
        at = i == 0 ? 0 : at;
        take(team, i, to + at, source, bytes, fn);
        at += bytes;
    }
    barrier(team, fn); /* all sources and counts have been read */
    stage_close(to, dest, all);
    if (team->psync != NULL)
        store_relaxed_u64(count_of(team, team->me, fn), SHMEM_SYNC_VALUE);
    return 0;
}
