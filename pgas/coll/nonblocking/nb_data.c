/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_data.c - steps of nonblocking collectives: barrier and data.  Data are moved by gets
 * only: a copy from a mapped PE, up to NB_GETS outstanding gets from remote PEs.
 * Uses: nb_int, core/net, core/stress, rma, slice, datatype/copy.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

/* ---- words ----------------------------------------------------------------------- */

static size_t nb_data_words_at(const struct nb *r)
{
    return r->team->coll->extent + offsetof(struct team_extent, nb) +
           r->call % NB_SLOTS * sizeof(struct nb_slot);
}

struct nb_slot *nb_words(const struct nb *r)
{
    return (struct nb_slot *)((char *)team_words(r->team, r->team->me) +
                              nb_data_words_at(r));
}

/* A word in the sync slot of this PE; it has the same symmetric address on all PEs. */
static const void *nb_data_word_here(const struct nb *r, size_t offset)
{
    return team_here(r->team, nb_data_words_at(r) + offset);
}

bool nb_tell(const struct nb *r, int i, size_t offset, uint64_t value)
{
    int pe = team_world_pe(r->team, i);
    const void *here = nb_data_word_here(r, offset);

    stress_point();
    if (net_remote(pe))
        return net_start_set(net_ctx_default(),
                             peer_symaddr(here, sizeof value, pe, r->fn), value,
                             sizeof value, r->fn);
    store_release_u64(peer_at(here, sizeof value, pe, r->fn), value);
    rma_changed(here, sizeof value, pe);
    return true;
}

/* As nb_tell, to a word of a barrier. */
static bool nb_data_tell_meet(const struct nb *r, int i, int row, int round,
                              uint32_t value)
{
    size_t word = (size_t)(row * BARRIER_ROUNDS + round) * sizeof value;
    int pe = team_world_pe(r->team, i);
    const void *here = nb_data_word_here(r, offsetof(struct nb_slot, meet) + word);

    stress_point();
    if (net_remote(pe))
        return net_start_set(net_ctx_default(),
                             peer_symaddr(here, sizeof value, pe, r->fn), value,
                             sizeof value, r->fn);
    store_release_u32(peer_at(here, sizeof value, pe, r->fn), value);
    rma_changed(here, sizeof value, pe);
    return true;
}

/*
 * Dissemination as in barrier.c.  The word of a round is always written by the same PE.
 *
 * The network may deliver two stores of a PE in either order.  Therefore consecutive
 * barriers of a call use different words: a PE begins barrier b + 2 only after every PE
 * has begun b + 1, and so has received the stores of b.  For the same reason a word keeps
 * the value of b until its reader has seen it.  An old value equals the new one only if
 * the same slot had its last barrier a multiple of 2^29 calls ago.
 */
bool nb_barrier_step(struct nb *r)
{
    int npes = r->team->npes, row = r->step / 2 % 2; /* barriers are every other step */
    uint32_t value = (uint32_t)(r->call << NB_STEP_BITS) | (uint32_t)(r->step + 1);

    _Static_assert(NB_STEPS < 1 << NB_STEP_BITS, "a step fits");
    for (; r->s.k < BARRIER_ROUNDS - 1 && 1 << r->s.k < npes; r->s.k++, r->s.part = 0) {
        int to = (int)(((int64_t)r->team->me + ((int64_t)1 << r->s.k)) % npes);
        if (r->s.part == 0 && !nb_data_tell_meet(r, to, row, r->s.k, value))
            return false;
        r->s.part = 1;
        if (load_acquire_u32(&nb_words(r)->meet[row][r->s.k]) != value)
            return false;
    }
    stress_point();
    return true;
}

/* ---- gets ------------------------------------------------------------------------- */

/* Retire completed gets; returns a free record or NULL. */
static struct nb_get *nb_data_free_get(struct nb *r)
{
    struct nb_get *unused = NULL;

    for (int i = 0; i < NB_GETS; i++) {
        struct nb_get *g = &r->get[i];
        if (g->busy && load_acquire_u32(&g->done.pending) == 0) {
            net_check_done(&g->done, g->pe, r->fn);
            g->busy = false;
        }
        if (!g->busy)
            unused = g;
    }
    return unused;
}

static bool nb_data_all_here(struct nb *r)
{
    (void)nb_data_free_get(r);
    for (int i = 0; i < NB_GETS; i++)
        if (r->get[i].busy)
            return false;
    return true;
}

/* False: the network has no resources now; call again. */
static bool nb_data_pull_remote(struct nb *r, const struct nb_piece *p, int pe)
{
    struct nb_get *g = nb_data_free_get(r);

    if (g == NULL)
        return false;
    g->pe = pe;
    g->busy = net_start_get(net_ctx_default(), p->to,
                            peer_symaddr(p->from, p->bytes, pe, r->fn), p->bytes,
                            &g->done, r->fn);
    return g->busy;
}

static bool nb_data_pull_one(struct nb *r, const struct nb_piece *p)
{
    int pe = team_world_pe(r->team, p->i);

    if (net_remote(pe))
        return nb_data_pull_remote(r, p, pe);
    const void *from = peer_at(p->from, p->bytes, pe, r->fn);
    if (from != p->to)
        copy_bytes(p->to, from, p->bytes);
    return true;
}

bool nb_pull(struct nb *r, int count, nb_piece piece)
{
    for (; r->s.next < count; r->s.next++) {
        struct nb_piece p = piece(r, r->s.next);
        if (p.bytes > 0 && !nb_data_pull_one(r, &p))
            return false;
    }
    return nb_data_all_here(r);
}

/* ---- blocks ----------------------------------------------------------------------- */

/* The k-th other PE in cyclic order; this PE is the last. */
static int nb_data_other(const struct nb *r, int k)
{
    return (int)(((int64_t)r->team->me + 1 + k) % r->team->npes);
}

static char *nb_data_result_of(const struct nb *r)
{
    return r->stage != NULL ? r->stage : r->dest;
}

static struct nb_piece nb_data_collected(const struct nb *r, int k)
{
    int i = nb_data_other(r, k);
    char *to = nb_data_result_of(r) + (size_t)i * r->bytes;

    return (struct nb_piece){i, to, r->source != NULL ? r->source : to, r->bytes};
}

bool nb_collect(struct nb *r)
{
    return nb_pull(r, r->team->npes, nb_data_collected);
}

static struct nb_piece nb_data_exchanged(const struct nb *r, int k)
{
    int i = nb_data_other(r, k);

    return (struct nb_piece){i, nb_data_result_of(r) + (size_t)i * r->bytes,
                             r->source + (size_t)r->team->me * r->bytes, r->bytes};
}

bool nb_exchange(struct nb *r)
{
    return nb_pull(r, r->team->npes, nb_data_exchanged);
}

/* The slice that PE i has combined, from its dest. */
static struct nb_piece nb_data_combined(const struct nb *r, int k)
{
    int i = nb_data_other(r, k);
    struct slice slice = slice_of(r->n, r->size, i, r->team->npes);
    char *at = r->dest + slice.first * r->size;

    return (struct nb_piece){i, at, at, (slice.end - slice.first) * r->size};
}

bool nb_slices(struct nb *r)
{
    return nb_pull(r, r->team->npes - 1, nb_data_combined);
}

bool nb_deliver(struct nb *r)
{
    if (r->stage != NULL)
        copy_bytes(r->dest, r->stage, r->stage_bytes);
    return true;
}

/* ---- combining -------------------------------------------------------------------- */

char *nb_chunk(const struct nb *r, int k)
{
    return r->chunks + (size_t)k * r->chunk * r->size;
}

static size_t nb_data_chunk_now(const struct nb *r)
{
    size_t left = r->count - r->s.done;

    return left < r->chunk ? left : r->chunk;
}

static const char *nb_data_sources_at(const struct nb *r)
{
    return r->source + (r->first + r->s.done) * r->size;
}

/* The elements of PE k in this chunk; nothing if it is local. */
static struct nb_piece nb_data_remote_part(const struct nb *r, int k)
{
    size_t bytes =
        net_remote(team_world_pe(r->team, k)) ? nb_data_chunk_now(r) * r->size : 0;

    return (struct nb_piece){k, nb_chunk(r, k + 1), nb_data_sources_at(r), bytes};
}

static const void *nb_data_part(const struct nb *r, int k)
{
    int pe = team_world_pe(r->team, k);

    return net_remote(pe) ? nb_chunk(r, k + 1)
                          : peer_at(nb_data_sources_at(r), nb_data_chunk_now(r) * r->size,
                                    pe, r->fn);
}

/* Combine in private memory: the result may overlap this PE's source. */
static void nb_data_combine_chunk(const struct nb *r)
{
    size_t n = nb_data_chunk_now(r);
    char *sum = nb_chunk(r, 0), *to = r->result + r->s.done * r->size;

    if (r->pes == 1) {
        if (to != nb_data_part(r, 0))
            copy_bytes(to, nb_data_part(r, 0), n * r->size);
        return;
    }
    r->op->three(sum, nb_data_part(r, 0), nb_data_part(r, 1), n);
    for (int k = 2; k < r->pes; k++)
        r->op->two(sum, nb_data_part(r, k), n);
    copy_bytes(to, sum, n * r->size);
}

bool nb_combine(struct nb *r)
{
    if (r->pes == 0) {
        memset(r->result, 0, r->count * r->size);
        return true;
    }
    while (r->s.done < r->count) {
        if (!nb_pull(r, r->pes, nb_data_remote_part))
            return false;
        nb_data_combine_chunk(r);
        r->s.done += nb_data_chunk_now(r);
        r->s.next = 0;
    }
    return true;
}
