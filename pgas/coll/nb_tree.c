/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_tree.c - steps of nonblocking collectives: binomial trees.  Counted from the root
 * on, PE v has the children v + 2^k, for all 2^k below the lowest bit of v; the k-th
 * child's tree is the next 2^k PEs.  So in a reduction, where each PE combines first its
 * own elements, then those of its children in the order of k, those of neighbours come
 * together.
 *
 * Words.  up[k]: the k-th child has something to take, and where (WHERE_*, or an offset
 * in the heap), or has taken ours; made 0 again before anything that lets the child write
 * it anew.  down: ours may be taken from the parent, or the parent has taken it; the
 * first in a broadcast, also one that follows a reduction to all, the second else. Uses:
 * nb_int, core/stress, rma, datatype/copy.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/nb_int.h"
#include "pgas/core/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum { WHERE_SOURCE = 1, WHERE_DEST = 2 }; /* no offsets: there begins no page */

/* ---- who is who ------------------------------------------------------------------- */

static int place_of(const struct nb *r)
{
    int npes = r->team->npes;

    return (int)(((int64_t)r->team->me - r->root + npes) % npes);
}

static int pe_at(const struct nb *r, int64_t place)
{
    return (int)((place + r->root) % r->team->npes);
}

static bool is_root(const struct nb *r)
{
    return r->team->me == r->root;
}

/* Which child of its parent. */
static int own_k(const struct nb *r)
{
    return __builtin_ctz((unsigned)place_of(r));
}

static int parent(const struct nb *r)
{
    int place = place_of(r);

    return pe_at(r, place & (place - 1));
}

/* The k-th child, or -1: then there is no further one. */
static int child(const struct nb *r, int k)
{
    int64_t place = place_of(r), of = place + ((int64_t)1 << k);
    bool below = place == 0 || (place & -place) > (int64_t)1 << k;

    return below && of < r->team->npes ? pe_at(r, of) : -1;
}

static int children(const struct nb *r)
{
    int n = 0;

    while (n < TEAM_ROUNDS && child(r, n) >= 0)
        n++;
    return n;
}

bool nb_has_children(const struct nb *r)
{
    return child(r, 0) >= 0;
}

/* ---- words ------------------------------------------------------------------------ */

static bool tell_down(const struct nb *r, int i)
{
    return nb_tell(r, i, offsetof(struct team_nb, down), r->call);
}

static bool tell_up(const struct nb *r, uint64_t value)
{
    size_t word = offsetof(struct team_nb, up) + (size_t)own_k(r) * sizeof(uint64_t);

    return nb_tell(r, parent(r), word, value);
}

static bool told_down(const struct nb *r)
{
    return load_acquire_u64(&nb_words(r)->down) >= r->call;
}

/* The word, which is 0 again if it was not; 0: not yet. */
static uint64_t take_word(uint64_t *word)
{
    uint64_t value = load_acquire_u64(word);

    if (value != 0)
        store_relaxed_u64(word, 0);
    stress_point();
    return value;
}

/* ---- down ------------------------------------------------------------------------- */

/* The root of a broadcast has it in source, that of a reduction in dest. */
static const char *from_parent(const struct nb *r)
{
    return r->op == NULL && parent(r) == r->root ? r->source : r->dest;
}

static struct nb_piece parents(const struct nb *r, int k)
{
    (void)k;
    return (struct nb_piece){parent(r), r->dest, from_parent(r), r->bytes};
}

bool nb_take(struct nb *r)
{
    return is_root(r) ||
           (told_down(r) && nb_pull(r, 1, parents) && tell_up(r, WHERE_SOURCE));
}

/* Those with large trees first; then all must have taken it. */
bool nb_pass(struct nb *r)
{
    int n = children(r);

    for (; r->s.k < n; r->s.k++)
        if (!tell_down(r, child(r, n - 1 - r->s.k)))
            return false;
    for (; r->s.part < n; r->s.part++)
        if (take_word(&nb_words(r)->up[n - 1 - r->s.part]) == 0)
            return false;
    return true;
}

bool nb_keep(struct nb *r)
{
    if (is_root(r) && r->dest != r->source)
        memmove(r->dest, r->source, r->bytes);
    return true;
}

/* ---- up --------------------------------------------------------------------------- */

static const char *childs_at(const struct nb *r)
{
    const char *at = r->childs == WHERE_SOURCE ? r->source
                     : r->childs == WHERE_DEST ? r->dest
                                               : (char *)pgas_self.heap_base + r->childs;

    return at + r->s.done * r->size;
}

static size_t elements_now(const struct nb *r)
{
    size_t left = r->n - r->s.done;

    return net_far(team_world_pe(r->team, child(r, r->s.k))) && left > r->chunk ? r->chunk
                                                                                : left;
}

static struct nb_piece childs(const struct nb *r, int k)
{
    (void)k;
    return (struct nb_piece){child(r, r->s.k), nb_chunk(r, 0), childs_at(r),
                             elements_now(r) * r->size};
}

/* What the child has, of a far one chunk by chunk, is combined with ours. */
static bool fold_child(struct nb *r)
{
    int pe = team_world_pe(r->team, child(r, r->s.k));
    bool far = net_far(pe);

    while (r->s.done < r->n) {
        size_t n = elements_now(r), at = r->s.done * r->size;
        if (far && !nb_pull(r, 1, childs))
            return false;
        const void *in =
            far ? nb_chunk(r, 0) : peer_at(childs_at(r), n * r->size, pe, r->fn);
        r->op->three(r->sum + at, (r->s.k == 0 ? r->source : r->sum) + at, in, n);
        r->s.done += n;
        r->s.next = 0;
    }
    return true;
}

/* A child of a reduction to all learns by the broadcast that follows that it is done. */
static bool gather_child(struct nb *r)
{
    if (r->s.part == 0) {
        r->childs = take_word(&nb_words(r)->up[r->s.k]);
        r->s.part = r->childs != 0;
    }
    return r->s.part != 0 && fold_child(r) &&
           (r->to == NB_ALL || tell_down(r, child(r, r->s.k)));
}

bool nb_gather(struct nb *r)
{
    for (; child(r, r->s.k) >= 0; r->s = (struct nb_state){.k = r->s.k + 1})
        if (!gather_child(r))
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

    if (is_root(r))
        return true;
    if (r->s.part == 0 && !tell_up(r, where))
        return false;
    r->s.part = 1;
    return r->to == NB_ALL || told_down(r);
}

/* ---- from the tree's root --------------------------------------------------------- */

static struct nb_piece roots(const struct nb *r, int k)
{
    (void)k;
    return (struct nb_piece){r->root, r->dest, (char *)pgas_self.heap_base + r->childs,
                             r->bytes};
}

static bool tell_hop(const struct nb *r, int i, uint64_t value)
{
    return nb_tell(r, i, offsetof(struct team_nb, hop), value);
}

/* The root of the tree says where it is, the other one that it has taken it. */
bool nb_hop(struct nb *r)
{
    uint64_t *word = &nb_words(r)->hop;

    if (r->root == r->to || (!is_root(r) && r->team->me != r->to))
        return true;
    if (is_root(r)) {
        if (r->s.part == 0 && !tell_hop(r, r->to, r->memory))
            return false;
        r->s.part = 1;
        return take_word(word) != 0;
    }
    if (r->s.part == 0) {
        r->childs = take_word(word);
        r->s.part = r->childs != 0;
    }
    return r->s.part != 0 && nb_pull(r, 1, roots) && tell_hop(r, r->root, WHERE_SOURCE);
}
