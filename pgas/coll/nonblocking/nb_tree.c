/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_tree.c - steps of nonblocking collectives: binomial tree.  Numbered cyclically from
 * the root, PE v has the children v + 2^k for all 2^k below the lowest set bit of v; the
 * subtree of the k-th child is the next 2^k PEs.  So a PE that combines its own elements
 * first and then those of its children by ascending k combines neighbouring ranges.
 * ceil(log2 n) rounds, n - 1 gets of m bytes per direction.
 *
 * Sync words of a PE.
 * - up[k]: the k-th child has a partial result at this encoded address (WHERE_* or a heap
 *   offset), or has completed its get.  Reset to 0 before anything that lets the child
 *   write it again.
 * - down: this PE may get from its parent (broadcast, also after a reduction to all), or
 *   the parent has completed its get (reduction to one PE).
 *
 * Uses: nb_int, core/stress, rma, datatype/copy.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum { WHERE_SOURCE = 1, WHERE_DEST = 2 }; /* never heap offsets, which are aligned */

/* ---- tree ------------------------------------------------------------------------- */

static int nb_tree_vrank_of(const struct nb *r)
{
    int npes = r->team->npes;

    return (int)(((int64_t)r->team->me - r->root + npes) % npes);
}

static int nb_tree_pe_at(const struct nb *r, int64_t vrank)
{
    return (int)((vrank + r->root) % r->team->npes);
}

static bool nb_tree_is_root(const struct nb *r)
{
    return r->team->me == r->root;
}

/* The k for which this PE is the k-th child of its parent. */
static int nb_tree_own_k(const struct nb *r)
{
    return __builtin_ctz((unsigned)nb_tree_vrank_of(r));
}

static int nb_tree_parent(const struct nb *r)
{
    int vrank = nb_tree_vrank_of(r);

    return nb_tree_pe_at(r, vrank & (vrank - 1));
}

/* The k-th child, or -1 if there are at most k. */
static int nb_tree_child(const struct nb *r, int k)
{
    int64_t vrank = nb_tree_vrank_of(r), of = vrank + ((int64_t)1 << k);
    bool below = vrank == 0 || (vrank & -vrank) > (int64_t)1 << k;

    return below && of < r->team->npes ? nb_tree_pe_at(r, of) : -1;
}

static int nb_tree_children(const struct nb *r)
{
    int n = 0;

    while (n < BARRIER_ROUNDS && nb_tree_child(r, n) >= 0)
        n++;
    return n;
}

bool nb_has_children(const struct nb *r)
{
    return nb_tree_child(r, 0) >= 0;
}

/* ---- words ------------------------------------------------------------------------ */

static bool nb_tree_tell_down(const struct nb *r, int i)
{
    return nb_tell(r, i, offsetof(struct nb_slot, down), r->call);
}

static bool nb_tree_tell_up(const struct nb *r, uint64_t value)
{
    size_t word =
        offsetof(struct nb_slot, up) + (size_t)nb_tree_own_k(r) * sizeof(uint64_t);

    return nb_tell(r, nb_tree_parent(r), word, value);
}

static bool nb_tree_told_down(const struct nb *r)
{
    return load_acquire_u64(&nb_words(r)->down) >= r->call;
}

/* Consume a word: returns its value and resets it; 0 = not written yet. */
static uint64_t nb_tree_take_word(uint64_t *word)
{
    uint64_t value = load_acquire_u64(word);

    if (value != 0)
        store_relaxed_u64(word, 0);
    stress_point();
    return value;
}

/* ---- broadcast -------------------------------------------------------------------- */

/* The root has the data in source (broadcast) or in dest (reduction). */
static const char *nb_tree_from_parent(const struct nb *r)
{
    return r->op == NULL && nb_tree_parent(r) == r->root ? r->source : r->dest;
}

static struct nb_piece nb_tree_parents(const struct nb *r, int k)
{
    (void)k;
    return (struct nb_piece){nb_tree_parent(r), r->dest, nb_tree_from_parent(r),
                             r->bytes};
}

bool nb_take(struct nb *r)
{
    return nb_tree_is_root(r) ||
           (nb_tree_told_down(r) && nb_pull(r, 1, nb_tree_parents) &&
            nb_tree_tell_up(r, WHERE_SOURCE));
}

/* Signal the largest subtrees first; then wait until all children have got the data. */
bool nb_pass(struct nb *r)
{
    int n = nb_tree_children(r);

    for (; r->s.k < n; r->s.k++)
        if (!nb_tree_tell_down(r, nb_tree_child(r, n - 1 - r->s.k)))
            return false;
    for (; r->s.part < n; r->s.part++)
        if (nb_tree_take_word(&nb_words(r)->up[n - 1 - r->s.part]) == 0)
            return false;
    return true;
}

bool nb_keep(struct nb *r)
{
    if (nb_tree_is_root(r) && r->dest != r->source)
        memmove(r->dest, r->source, r->bytes);
    return true;
}

/* ---- reduction -------------------------------------------------------------------- */

static const char *nb_tree_childs_at(const struct nb *r)
{
    const char *at = r->childs == WHERE_SOURCE ? r->source
                     : r->childs == WHERE_DEST ? r->dest
                                               : (char *)pgas_self.heap_base + r->childs;

    return at + r->s.done * r->size;
}

static size_t nb_tree_elements_now(const struct nb *r)
{
    size_t left = r->n - r->s.done;

    return net_remote(team_world_pe(r->team, nb_tree_child(r, r->s.k))) && left > r->chunk
               ? r->chunk
               : left;
}

static struct nb_piece nb_tree_childs(const struct nb *r, int k)
{
    (void)k;
    return (struct nb_piece){nb_tree_child(r, r->s.k), nb_chunk(r, 0),
                             nb_tree_childs_at(r), nb_tree_elements_now(r) * r->size};
}

/* Combine the child's partial result into this PE's; from a remote child in chunks. */
static bool nb_tree_fold_child(struct nb *r)
{
    int pe = team_world_pe(r->team, nb_tree_child(r, r->s.k));
    bool remote = net_remote(pe);

    while (r->s.done < r->n) {
        size_t n = nb_tree_elements_now(r), at = r->s.done * r->size;
        if (remote && !nb_pull(r, 1, nb_tree_childs))
            return false;
        const void *in = remote ? nb_chunk(r, 0)
                                : peer_at(nb_tree_childs_at(r), n * r->size, pe, r->fn);
        r->op->three(r->sum + at, (r->s.k == 0 ? r->source : r->sum) + at, in, n);
        r->s.done += n;
        r->s.next = 0;
    }
    return true;
}

/* In a reduction to all the broadcast that follows serves as acknowledgement. */
static bool nb_tree_gather_child(struct nb *r)
{
    if (r->s.part == 0) {
        r->childs = nb_tree_take_word(&nb_words(r)->up[r->s.k]);
        r->s.part = r->childs != 0;
    }
    return r->s.part != 0 && nb_tree_fold_child(r) &&
           (r->to == NB_ALL || nb_tree_tell_down(r, nb_tree_child(r, r->s.k)));
}

bool nb_gather(struct nb *r)
{
    for (; nb_tree_child(r, r->s.k) >= 0; r->s = (struct nb_state){.k = r->s.k + 1})
        if (!nb_tree_gather_child(r))
            return false;
    if (r->team->npes == 1 && r->dest != r->source)
        copy_bytes(r->dest, r->source, r->bytes);
    return true;
}

bool nb_give(struct nb *r)
{
    uint64_t where = !nb_has_children(r) ? WHERE_SOURCE
                     : r->memory == 0    ? WHERE_DEST
                                         : r->memory;

    if (nb_tree_is_root(r))
        return true;
    if (r->s.part == 0 && !nb_tree_tell_up(r, where))
        return false;
    r->s.part = 1;
    return r->to == NB_ALL || nb_tree_told_down(r);
}

/* ---- from the root of the tree to `to` --------------------------------------------- */

static struct nb_piece nb_tree_roots(const struct nb *r, int k)
{
    (void)k;
    return (struct nb_piece){r->root, r->dest, (char *)pgas_self.heap_base + r->childs,
                             r->bytes};
}

static bool nb_tree_tell_step(const struct nb *r, int i, uint64_t value)
{
    return nb_tell(r, i, offsetof(struct nb_slot, root), value);
}

/* The tree's root publishes the address; `to` acknowledges after its get. */
bool nb_tree_step(struct nb *r)
{
    uint64_t *word = &nb_words(r)->root;

    if (r->root == r->to || (!nb_tree_is_root(r) && r->team->me != r->to))
        return true;
    if (nb_tree_is_root(r)) {
        if (r->s.part == 0 && !nb_tree_tell_step(r, r->to, r->memory))
            return false;
        r->s.part = 1;
        return nb_tree_take_word(word) != 0;
    }
    if (r->s.part == 0) {
        r->childs = nb_tree_take_word(word);
        r->s.part = r->childs != 0;
    }
    return r->s.part != 0 && nb_pull(r, 1, nb_tree_roots) &&
           nb_tree_tell_step(r, r->root, WHERE_SOURCE);
}
