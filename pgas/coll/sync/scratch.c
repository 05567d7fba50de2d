/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c - see scratch.h.  Uses: core/team, core/heap, core/log, mailbox, internode.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/stress.h"
#include "pgas/core/memory/heap.h"
#include "pgas/datatype/copy.h"
#include "pgas/threads/atomic.h"

/* Offset of a new block, or SCRATCH_NONE. */
static uint64_t scratch_alloc(size_t bytes)
{
    size_t offset;

    stress_point();
    return heap_alloc_result(bytes, &offset) ? offset : SCRATCH_NONE;
}

void scratch_free(struct scratch *s, int owner)
{
    if (s->offset != NULL && owner >= 0 && s->offset[owner] != SCRATCH_NONE)
        heap_free_result(s->offset[owner]);
    free(s->offset);
    s->offset = NULL;
}

static void scratch_begin(struct scratch *s, int owners, const char *fn)
{
    s->offset = malloc((size_t)owners * sizeof *s->offset);
    if (s->offset == NULL)
        log_die("%s: no memory for the offsets of %d scratch buffers", fn, owners);
    for (int i = 0; i < owners; i++)
        s->offset[i] = SCRATCH_NONE; /* a failure may end the exchange */
}

/* Called when the offsets of all owners are known: frees this PE's block if any owner has
 * none. `owner`: as for scratch_free. */
static bool scratch_end(struct scratch *s, int owners, int owner, size_t bytes,
                        const char *fn)
{
    bool all = true;

    for (int i = 0; i < owners; i++)
        all = all && s->offset[i] != SCRATCH_NONE;
    s->exchanged = true;
    if (all)
        return true;
    scratch_free(s, owner);
    log_debug("%s: a PE has no memory for %zu bytes of scratch buffer; large collectives "
              "are slower. Increase SHMEM_SHARED_SIZE.",
              fn, bytes);
    return false;
}

bool scratch_of_pes(struct shmem_team *team, struct scratch *s, size_t words,
                    size_t bytes, const char *fn)
{
    if (likely(s->exchanged))
        return s->offset != NULL;
    struct mailbox b = mailbox_open(team, 0, fn);
    uint64_t mine = scratch_alloc(bytes);
    scratch_begin(s, team->npes, fn);
    stress_point();
    store_release_u64((uint64_t *)((char *)team_words(team, team->me) + words), mine);
    mailbox_wake(&b, words);
    for (int i = 0; i < team->npes; i++) {
        mailbox_wait(&b, words, i, 1);
        s->offset[i] = load_relaxed_u64(
            (const uint64_t *)((const char *)team_words(team, i) + words));
    }
    mailbox_close(&b);
    return scratch_end(s, team->npes, team->me, bytes, fn);
}

/* Gathers the offsets of all leaders, in rounds of as many bytes of each as fit a small
 * buffer.
 */
static void scratch_gather(struct shmem_team *team, const uint64_t *mine,
                           uint64_t *offset, const char *fn)
{
    size_t nodes = (size_t)team->nodes->leaders, most = internode_small_bytes() / nodes,
           n;

    PGAS_ASSERT(most > 0);
    for (size_t at = 0; at < sizeof *mine; at += n) {
        n = sizeof *mine - at < most ? sizeof *mine - at : most;
        const char *buffer =
            internode_gather_leaders(team, (const char *)mine + at, n, fn);
        for (size_t node = 0; node < nodes; node++)
            copy_bytes((char *)&offset[node] + at, buffer + node * n, n);
    }
}

bool scratch_of_leaders(struct shmem_team *team, struct scratch *s, size_t bytes,
                        const char *fn)
{
    int nodes = team->nodes->leaders;

    if (likely(s->exchanged))
        return s->offset != NULL;
    int owner = internode_is_leader(team) ? team->nodes->me : -1;
    uint64_t mine = owner >= 0 ? scratch_alloc(bytes) : SCRATCH_NONE;
    scratch_begin(s, nodes, fn);
    scratch_gather(team, &mine, s->offset, fn);
    return scratch_end(s, nodes, owner, bytes, fn);
}

bool scratch_get(struct shmem_team *team, const char *fn)
{
    return scratch_of_leaders(team, &team->coll->scratch, SCRATCH_ALL, fn);
}

char *scratch_at(const struct scratch *s, int owner, size_t at)
{
    return (char *)pgas_self.heap_base + s->offset[owner] + at;
}
