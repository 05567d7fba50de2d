/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect.c - see collect.h.  Uses: core/team, core/check, active, barrier, stage, rma,
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
#include "pgas/core/check.h"
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

    barrier(team, fn);                                /* all sources are ready */
    for (int k = 0; k < team->npes && all > 0; k++) { /* else `to` may be NULL */
        int i = (team->me + k) % team->npes;
        take(team, i, to + (size_t)i * each, source, each, fn);
    }
    barrier(team, fn); /* all sources have been read */
    stage_close(to, dest, all);
    return 0;
}

/*
 * What PE i says that it brings.  Invariant: PE i alone writes it, before the barrier
 * that begins a collect; the others read it between that barrier and the one that ends
 * the collect.  Everybody says where its source is, as who brings nothing need not know
 * where the others have theirs.
 */
static struct team_part *part_of(const struct shmem_team *team, int i, const char *fn)
{
    return team->psync != NULL ? active_part(team, i, fn) : &team_words(team, i)->part;
}

static void say(const struct shmem_team *team, struct team_part part, const char *fn)
{
    struct team_part *mine = part_of(team, team->me, fn);

    store_relaxed_u64(&mine->count, part.count);
    store_relaxed_u64(&mine->place, part.place);
}

static size_t sum_before(const struct shmem_team *team, int end, const char *fn)
{
    size_t sum = 0;

    for (int i = 0; i < end; i++)
        if (__builtin_add_overflow(sum, load_relaxed_u64(&part_of(team, i, fn)->count),
                                   &sum))
            log_die("%s: argument 'nelems': the sum over the PEs does not fit a size_t",
                    fn);
    return sum;
}

/* The bytes of all PEs; only now it is known how long dest must be. */
static size_t sum_bytes(const struct shmem_team *team, const void *dest, size_t size,
                        const char *fn)
{
    size_t all = rma_bytes(sum_before(team, team->npes, fn), size, fn);

    if (all == 0)
        return 0;
    if (pgas_self.checks)
        check_inside(dest, all, fn,
                     "argument 'dest', for the sum over the PEs of 'nelems'");
    (void)peer_at(dest, all, pgas_self.me, fn);
    return all;
}

static void take_all(const struct shmem_team *team, char *to, size_t size, const char *fn)
{
    size_t at = sum_before(team, team->me, fn) * size;

    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        const struct team_part *part = part_of(team, i, fn);
        size_t bytes = load_relaxed_u64(&part->count) * size;
        at = i == 0 ? 0 : at;
        take(team, i, to + at, check_address(load_relaxed_u64(&part->place)), bytes, fn);
        at += bytes;
    }
}

int collect(struct shmem_team *team, void *dest, const void *source, size_t n,
            size_t size, const char *fn)
{
    size_t mine = rma_bytes(n, size, fn);

    if (mine > 0) /* else the others would be blamed for it */
        (void)peer_at(source, mine, pgas_self.me, fn);
    say(team, (struct team_part){n, check_place((uintptr_t)source)}, fn);
    barrier(team, fn); /* all sources and parts are ready */
    size_t all = sum_bytes(team, dest, size, fn);
    char *to = stage_open(dest, all, source, mine, all, fn);
    if (all > 0) /* else `to` may be NULL */
        take_all(team, to, size, fn);
    barrier(team, fn); /* all sources and parts have been read */
    stage_close(to, dest, all);
    if (team->psync != NULL)
        say(team, (struct team_part){SHMEM_SYNC_VALUE, SHMEM_SYNC_VALUE}, fn);
    return 0;
}
